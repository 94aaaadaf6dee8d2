"""Declarations of the engine's parts, for each other and for the layers above, in the order of `engine.pyx`."""
cimport cython
from cpython.ref cimport PyObject
from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t, uint8_t
from libcpp cimport bool as cbool
from libcpp.atomic cimport atomic
from libcpp.memory cimport unique_ptr
from libcpp.vector cimport vector

cimport numpy as cnp

from cypool.backend cimport StepBackend
from cypool.env cimport Agents, Env, Slot
from cypool.policies cimport Decision, Policy


# The bounds of actions: of those that users pass, and of those that policies write.

cdef extern from "cypool/engine/action_check.h" namespace "cypool" nogil:
    cdef enum class Number(int):
        pass

    cdef cppclass ActionPart:
        Number number
        size_t offset
        size_t count
        vector[char] low
        vector[char] high

    size_t first_outside(const char* action, const ActionPart& part) noexcept
    bint take_actions(const void* given, Number number, size_t rows, const ActionPart& part, char* out,
                      size_t stride) noexcept


cdef bint is_checkable(description)
cdef ActionPart part_of(description, size_t offset) except *
cdef bint take_array(cnp.ndarray given, const ActionPart& part, void* out, size_t stride) noexcept


# Batches: aligned memory with one array per column, used again once nobody holds an array of it.

cdef extern from "cypool/engine/open_batch.h" namespace "cypool" nogil:
    enum:
        MAX_COLUMNS

    cdef enum RowKind:           # what a row is of
        ROW_STEP
        ROW_RESET                # the row begins an episode
        ROW_NO_STEP              # the environment was only observed again, stays at its end, or has failed

    cdef struct Column:
        char* data               # row 0; the block owns the memory
        size_t row_bytes

    cdef struct AgentColumns:    # of a group of agents; each row has `count` of a kind
        uint32_t count
        int num_obs              # observation columns that are the group's, behind those of the groups before
        double* reward
        uint8_t* terminated
        uint8_t* truncated
        uint8_t* acted           # NULL if all always act and stay
        uint8_t* alive           # likewise
        double* episode_return   # where statistics are kept
        int64_t* episode_length

    cdef cppclass OpenBatch:     # a batch that is being filled; workers write to distinct rows of it
        OpenBatch() except +
        Column* columns          # observations, then infos
        Column* finals           # the same of episodes that end here; NULL unless the layout has them
        int num_columns          # observations and infos
        int num_obs
        double* reward
        uint8_t* terminated
        uint8_t* truncated
        uint8_t* kind            # RowKind
        int32_t* env_id
        int32_t* elapsed_step
        int32_t* final_step
        double* episode_return
        int64_t* episode_length
        double* episode_time
        const AgentColumns* agents    # of each group
        int num_groups
        atomic[uint32_t] finished
        atomic[uint32_t] wanted


@cython.final
cdef class GroupColumns:
    """Which columns of a batch are those of a group of agents; -1: there is none."""
    cdef readonly str name
    cdef readonly int count              # of agents
    cdef readonly int num_obs            # observation columns of the group
    cdef readonly int reward, terminated, truncated, acted, alive, episode_return, episode_length


cdef class Layout:
    cdef readonly int num_rows
    cdef readonly int num_obs            # observation columns come first, then infos, then the engine's
    cdef readonly int num_columns        # observations and infos
    cdef readonly bint has_finals        # then the columns of final observations and infos, and their steps
    cdef readonly bint has_statistics    # then return, length and time of episodes
    cdef readonly int first_final, first_statistic
    cdef readonly list groups            # of agents: their columns come last
    cdef list dtypes
    cdef list shapes                     # of one row
    cdef vector[vector[cnp.npy_intp]] dims   # the same with the rows in front
    cdef vector[size_t] row_bytes
    cdef vector[size_t] offsets          # of each column from the start of the block
    cdef size_t kinds_offset             # of the rows' kinds, which have no array
    cdef size_t nbytes
    cdef tuple _arguments

    cdef GroupColumns add_group(self, spec, str name, group)
    cdef int add_column(self, dtype, tuple shape) except -1
    cdef Layout of(self, int num_rows)
    cdef int check_out(self, tuple out, uint32_t num_rows) except -1


cdef class Memory:
    cdef void* _raw                      # owned
    cdef char* data                      # aligned, inside of _raw


cdef class Block:
    cdef Layout layout
    cdef Memory memory
    cdef list arrays                     # one per column
    cdef char* data                      # borrowed from memory
    cdef vector[Column] columns
    cdef vector[Column] finals
    cdef vector[AgentColumns] agents

    cdef int add_group(self, GroupColumns group) except -1
    cdef char* column(self, int k) noexcept
    cdef bint idle(self) except -1
    cdef void open_on(self, OpenBatch* batch) noexcept
    cdef uint8_t* kinds(self) noexcept


cdef class Blocks:
    cdef Layout layout
    cdef list out                        # blocks that were handed out, the oldest first
    cdef int watched

    cdef Block take(self)
    cdef int lend(self, Block block) except -1


# Several agents in one environment: their part of a step, of a row and of a state.

# in each step, and therefore inline
cdef extern from "cypool/engine/agents.h" namespace "cypool" nogil:
    cdef struct StepEnd:         # what the agents make of the end of a step: the environment's
        double reward
        bint terminated, truncated

    void clear_step(Agents& agents) noexcept
    void begin_step(Agents& agents) noexcept
    StepEnd end_step(Agents& agents, double reward, bint terminated, bint truncated, bint statistics) noexcept
    void write_step(const Agents& agents, const OpenBatch& batch, uint32_t row) noexcept
    void end_step_of_row(Agents& agents, const OpenBatch& batch, uint32_t row, bint statistics) noexcept

cdef void begin_episode(PyObject* env) noexcept nogil
cdef void end_reset(PyObject* env) noexcept nogil
cdef void write_no_step(PyObject* env, OpenBatch* batch, uint32_t row) noexcept nogil
cdef void write_alive(PyObject* env, OpenBatch* batch, uint32_t row) noexcept nogil
cdef void write_agent_stats(PyObject* env, OpenBatch* batch, uint32_t row, bint ended) noexcept nogil
cdef void write_failed_agents(PyObject* env, OpenBatch* batch, uint32_t row) noexcept nogil
cdef void hide_absent(PyObject* env, OpenBatch* batch, const Column* columns, uint32_t row) noexcept nogil
cdef void copy_agents(PyObject* target, PyObject* source) noexcept nogil
cdef object save_agents(Env env)
cdef object check_agents(Env env, object state)
cdef int load_agents(Env env, object state) except -1


# A policy in C during a rollout: calls it, and checks what it writes.

cdef extern from "cypool/cfunctions/decisions.h" namespace "cypool" nogil:
    cdef struct Decisions:
        const void* obs
        void* actions
        const void* parameters
        int64_t step
        uint32_t env_id
        uint32_t count

    ctypedef int (*ManyPolicy)(const Decisions*) noexcept


cdef class RolloutPolicy:
    cdef object owner                # keeps the policy's code and memory alive
    cdef Policy call
    cdef ManyPolicy many             # for neighbouring environments; NULL: for one at a time
    cdef const void* parameters
    cdef char* state                 # of environment 0; NULL: none
    cdef size_t state_bytes          # of one environment
    cdef size_t action_bytes
    cdef vector[ActionPart] parts
    cdef list described              # (name, spec) of each
    cdef vector[char] memory         # where the policy writes, for each thread: a zone, the action, a zone
    cdef char* actions               # that of thread 0
    cdef size_t stride               # to that of the next thread
    # what environments show before the first step
    cdef Block block
    cdef unique_ptr[OpenBatch] first

    # without the GIL, on the threads
    cdef int choose(self, Decision* decision, char* action, int thread) except -1 nogil
    cdef int choose_many(self, Decisions* decisions) except -1 nogil
    cdef bint accepts(self, const char* action) noexcept nogil
    cdef int check(self, const char* action) except -1 nogil
    cdef int fail(self, int code) except -1
    cdef int complain(self, size_t k, size_t number, const char* action) except -1


# Who is to be stepped: a ring of ids where rows come as they finish, shares of rows where they are in order.

cdef extern from "cypool/engine/ready_queue.h" namespace "cypool" nogil:
    cdef cppclass ReadyQueue:
        ReadyQueue(uint32_t num_ids) except +
        void push(const int32_t* ids, uint32_t count) noexcept
        cbool empty() noexcept
        uint32_t claim(int32_t* ids, uint32_t max_rows, uint32_t share) noexcept

cdef extern from "cypool/engine/work_shares.h" namespace "cypool" nogil:
    cdef cppclass WorkShares:
        WorkShares(uint32_t num_shares) except +
        void publish(uint64_t first, uint64_t count) noexcept
        uint64_t published() noexcept
        uint32_t claim(uint32_t own, uint32_t min_rows, uint32_t max_rows, uint64_t* first) noexcept


# The saved state of an environment: its own state, and the engine's data on it.

cdef dict save_state(Env env)
cdef dict check_state(Env env, object state)
cdef int load_state(Env env, dict row) except -1

# both of one class and spec, not the same
cdef int copy_env(PyObject* target, PyObject* source) except -1 nogil
# has an environment start over whose copy failed half way
cdef void note_failed_copy(PyObject* env, object error)


# Which environment a thread steps next, and the row of which batch that fills: what the threads do.

cdef extern from "cypool/engine/counters.h" namespace "cypool" nogil:
    enum:
        CACHE_LINE

    cdef cppclass SchedulerCounters:  # each on a cache line of its own
        SchedulerCounters() except +
        atomic[uint64_t] rows     # rows claimed so far, where not ordered
        atomic[uint32_t] cost_ns  # of one step, running mean; 0: unknown

cdef enum:
    SPIN_NS = 20_000             # how long to look for work, or for the last row, before going to sleep
    MAX_READY = 32               # ids that are claimed from the ring at a time

cdef enum Autoreset:             # when an environment whose episode has ended starts the next one
    NEXT_STEP                    # with its next step, which ignores the action
    SAME_STEP                    # at once: the row holds the first observation, the last one is in other columns
    DISABLED                     # when the user resets it


cdef enum Task:                  # what is done with the environments of a batch
    STEP_EACH
    STEP_TOGETHER                # with `step_many`
    COPY                         # each becomes a copy of its source
    STEP_BY_POLICY               # a policy chooses the action before each step of a rollout


cdef struct Claim:               # what one thread holds at the moment
    char[64] gap                 # what lies next to a claim may be written by another thread: no line holds both
    uint32_t thread              # which share is its own; the caller is 0
    const int32_t* ids           # borrowed, from the scheduler's list where rows are in order; else &ready
    int32_t[MAX_READY] ready
    uint32_t count               # of ids
    uint32_t at                  # the one in work
    uint32_t first_row           # of ids[0], where rows are in order
    int64_t position             # of ids[0] among all rows, else; -1: not claimed yet
    int64_t batch_position       # of the batch's row 0
    OpenBatch* batch             # holds the rows that are written and not yet counted
    uint32_t uncounted           # how many they are
    bint stepped                 # the rest of the chunk was stepped together and is not recorded yet
    bint chosen                  # a policy has chosen the actions of the chunk
    bint accepted                # they are all within their bounds
    const char* actions          # of environment 0, for the step in work; those of the others follow it
    # in a rollout
    uint32_t step                # the one in work; 0 in other batches
    uint32_t obs_offset          # rows of observations that were not wanted: how far their rows are ahead
    bint unobserved              # the observation of this step is not wanted
    uint32_t inline_count        # rows at the end of the list that only this thread steps: they are not published
    int64_t quota                # ids it may still take from the ring; below 0: no limit
    int64_t turn_end             # when a thread that other pools have, too, looks at these; 0: never
    # the caller comes back to look for signals
    bint is_caller
    uint32_t chunks              # taken since it came
    int64_t until                # when to come back
    bint cut                     # it came back before all was done
    uint64_t seen                # what WorkShares.published was when it last looked
    # every so often the cost of a step is measured
    uint32_t turn
    int64_t started              # 0: this chunk is not measured
    char[64] gap_behind


@cython.final
cdef class Scheduler:
    # the caller changes the object's reference count, in front of these, while threads are at work
    cdef list owner                      # owns the references that envs borrows
    cdef list filling                    # the Block under each open batch: lives as long as a thread may write
    cdef dict errors                     # env id -> exception, the first one of a rollout; with the GIL only
    cdef dict error_steps                # env id -> the step of the rollout that raised it
    # what follows is read by all threads, for each environment, and written between batches only: on other cache lines
    cdef char[CACHE_LINE] gap
    cdef unique_ptr[SchedulerCounters] counters  # what threads write for each environment
    cdef vector[PyObject*] envs          # index = env id
    cdef vector[char] actions            # one row per env, copied at send
    cdef const char* first_actions       # of the batch's first step: those copies, or the user's array for a rollout
    cdef size_t action_bytes
    cdef unique_ptr[ReadyQueue] ready_queue  # where rows come as they finish
    cdef unique_ptr[WorkShares] work_shares  # where rows are in order
    cdef const int32_t* list             # borrowed: env ids of the batch's rows, where they are in order
    cdef uint32_t list_size
    cdef uint64_t base                   # position of row 0 of the batch, where rows are in order
    # batches in the order of their rows: row r lies in open[r / batch_rows % open.size()]
    cdef vector[OpenBatch*] open         # owned
    cdef uint32_t batch_rows
    cdef Autoreset autoreset
    cdef atomic[uint32_t] ordered        # rows come in the order of send, not of finishing; in one open batch
    cdef int num_steppers                # threads that step envs, a caller that takes part included
    cdef vector[Claim] claims            # one per thread that serves this scheduler
    cdef atomic[uint32_t] last_step      # of the rollout; 0 in other batches
    cdef uint32_t observe_every          # the observations of this number of steps share a row
    cdef atomic[uint32_t] cancelled      # nobody wants the rest of the rollout
    cdef atomic[uint32_t] stopping
    cdef bint statistics                 # of episodes are kept
    cdef bint has_row_ends               # rows are more than what was stepped: statistics, or SAME_STEP
    cdef bint has_agents                 # several agents act in each environment
    cdef bint agents_leave               # not all of them are always there, and act
    cdef bint supports_step_many         # environments can step many at once
    cdef const int32_t* sources          # borrowed: whose copies the environments of the list become
    cdef Task task                       # of this batch
    cdef RolloutPolicy policy            # of this rollout, or None
    cdef char[CACHE_LINE] gap_behind     # the next object in memory is another's

    # with the GIL, on the caller's thread
    cdef int expect(self, uint32_t num_threads) except -1
    cdef bint collect(self, Claim* claim, OpenBatch* batch, uint32_t wanted, int64_t timeout_ns) except -1
    cdef int fail(self, Claim* claim, object error) except -1
    # without the GIL
    cdef void limit(self, Claim* claim, int64_t ns, bint shared) noexcept nogil
    cdef int drain(self, Claim* claim) except -1 nogil
    cdef bint take(self, Claim* claim) noexcept nogil
    cdef bint next_step(self, Claim* claim) noexcept nogil
    cdef void observe_in(self, Claim* claim) noexcept nogil
    cdef bint pauses(self, Claim* claim) noexcept nogil
    cdef bint slice_expired(self, Claim* claim) noexcept nogil
    cdef void publish_finished(self, Claim* claim) noexcept nogil
    cdef void measure(self, Claim* claim) noexcept nogil
    cdef bint has_work(self, Claim* claim) noexcept nogil
    cdef bint await_rows(self, OpenBatch* batch, uint32_t wanted, int64_t timeout_ns) noexcept nogil


cdef struct RowPointers:              # where an environment observes to
    Slot slot
    void* columns[MAX_COLUMNS]   # what the slot's pointers point to


cdef inline void set_row_pointers(RowPointers* target, OpenBatch* batch, Column* columns, uint32_t row) noexcept nogil:
    """Finds where a row lies in each of some columns."""
    cdef int k
    for k in range(batch.num_columns):
        target.columns[k] = columns[k].data + row * columns[k].row_bytes
    target.slot.obs, target.slot.info = target.columns, target.columns + batch.num_obs


# Which environments a call names, and which of them are in flight.

cdef enum Purpose:                   # what a call wants with the environments it names
    STEP
    RESET
    INSPECT                             # between steps: save, load, render
    REPLACE                             # by copies


cdef class IdTracker:
    """Checks ids and knows the state of each environment. Used by the pool's caller only."""
    cdef int num_envs
    cdef bint is_async
    cdef uint32_t pending            # rows sent and not received
    cdef vector[int32_t] all_ids     # 0, 1, 2, ...
    cdef vector[int32_t] named_ids   # of the call under way
    cdef vector[int32_t] source_ids  # of the call under way
    cdef vector[int32_t] last_ids    # of the last batch received, in an asynchronous pool
    cdef vector[uint8_t] in_flight   # in an asynchronous pool
    cdef vector[uint8_t] started     # 1: has been reset at least once
    cdef int num_unstarted
    cdef vector[uint64_t] stamps     # the last call that named this env
    cdef uint64_t stamp

    # the ids of a call, valid until the next one; raises, and changes nothing, if the call is not allowed
    cdef const int32_t* check(self, Scheduler scheduler, cnp.ndarray env_ids, Purpose purpose,
                              uint32_t* count, bint discards=*) except NULL
    # the source of each environment that was named last; valid until the next call
    cdef const int32_t* check_sources(self, cnp.ndarray sources, uint32_t count) except NULL
    cdef void start(self, int32_t env_id) noexcept                              # is about to be reset, or was loaded
    cdef void send(self, const int32_t* ids, uint32_t count) noexcept
    cdef void receive(self, const int32_t* ids, uint32_t count) noexcept


# The result of a finished batch: its arrays, in the structure of the spec.

cdef class Results:
    cdef Layout layout
    cdef list obs_keys                   # None for an observation that has no parts
    cdef bint obs_is_tuple
    cdef list info_keys
    cdef bint has_agents                 # several act in each environment
    cdef object spec                     # where it has to pack the observation, else None
    cdef StepBackend backend             # steps the environments, or None
    cdef Block last                      # of the batch put together last, or None
    cdef uint32_t last_count             # rows of it that count

    cdef tuple of(self, Block block, uint32_t count, tuple out)
    cdef dict of_group(self, GroupColumns group, list arrays)
    cdef object rows_of(self, RowKind kind)
    cdef object observation(self, list arrays, int first)
    cdef tuple finals(self, list arrays)


# Threads that serve the schedulers of one pool, or of several.

cdef enum:
    MAX_SCHEDULERS = 64

cdef extern from "<thread>" namespace "std" nogil:
    cdef cppclass thread:
        # the constructor is a template in C++; one concrete form of it is all Cython can read
        thread(void (*body)(void*) noexcept nogil, void* arg) except +
        void join() except +
        void detach() except +

cdef extern from "cypool/engine/thread.h" namespace "cypool" nogil:
    cdef cppclass WorkerState:
        WorkerState() except +
        atomic[uint32_t] place       # 1 + the place of the scheduler it is with; 0: with none
        void* scheduler
        cbool owns
        uint32_t next

    cbool on_thread(thread* other) noexcept
    cbool on_thread(WorkerState* state) noexcept
    void bind_thread(WorkerState* state) noexcept
    void block_signals() noexcept


cdef extern from "cypool/engine/counters.h" namespace "cypool" nogil:
    cdef cppclass Sleepers:      # on a cache line of their own
        Sleepers() except +
        atomic[uint32_t] signal  # idle threads sleep on it
        atomic[uint32_t] count   # how many do


cdef class Threads:
    cdef readonly int count
    cdef bint shared                       # may serve several schedulers
    cdef bint closed
    cdef object affinity                   # per thread a set of CPUs, or None
    cdef vector[thread*] threads           # owned until joined
    cdef vector[WorkerState*] worker_states  # owned; one per thread
    # borrowed: a scheduler is taken off, and waited for, before it goes away
    cdef atomic[void*] schedulers[MAX_SCHEDULERS]
    cdef bint taken[MAX_SCHEDULERS]        # until no thread is with the scheduler any more; in critical sections only
    cdef atomic[uint32_t] num_places       # how many of them have been in use
    cdef atomic[uint32_t] num_schedulers
    cdef atomic[uint32_t] leaving          # callers that wait for threads to leave a scheduler
    cdef atomic[uint32_t] num_numbered     # threads that have taken their number ...
    cdef atomic[uint32_t] num_begun        # ... and have begun: others find their states
    cdef unique_ptr[Sleepers] sleepers
    cdef atomic[uint32_t] stopping
    cdef int num_forks                     # when the threads were started; they do not survive one

    # with the GIL
    cdef int start(self) except -1
    cdef void await_begun(self) noexcept
    cdef void stop(self)
    cdef bint forked(self) noexcept
    cdef int add_scheduler(self, Scheduler scheduler) except -1
    cdef bint take_place(self, Scheduler scheduler) except -1
    cdef void remove_scheduler(self, Scheduler scheduler)
    cdef bint retire(self) noexcept
    # without it
    cdef inline uint32_t num_sleeping(self) noexcept nogil:
        return self.sleepers.get().count.load()
    cdef void notify(self, uint32_t wanted) noexcept nogil
    cdef int run(self, uint32_t index) except -1 nogil
    cdef bint attach(self, uint32_t index) noexcept nogil
    cdef void detach(self, uint32_t index) noexcept nogil
    cdef bint await_work(self, uint32_t index) noexcept nogil


cdef class ThreadPool:
    cdef Threads threads
    cdef object __weakref__


# Routes a batch from send() to those who step its environments, and its rows back to recv().
#
# There are four ways: `SyncDispatch`; `QueueDispatch` and `DeferredDispatch`, which are asynchronous; and
# `BackendDispatch` around another one.

cdef class Dispatch:
    """A way from send to recv. The pool calls all methods on the caller's thread, with the GIL."""
    cdef Scheduler scheduler
    cdef Threads threads
    cdef Blocks blocks
    cdef Results results
    cdef IdTracker ids
    cdef Claim claim                 # the caller's own
    cdef Dispatch successor          # takes the place of this one from the next batch on; None: nobody does

    # gives checked ids to those who step them; `out`: the user's arrays for this batch, or None
    cdef int send(self, const int32_t* ids, uint32_t count, tuple out) except -1
    # works or waits until `wanted` rows of the next batch are finished; whether they are. Call again if not
    cdef bint collect(self, uint32_t wanted, int64_t timeout_ns) except -1
    # works or waits until all that is in flight is at rest, to be received later; whether it is. Call again if not
    cdef bint finish(self, int64_t timeout_ns) except -1
    cdef uint32_t num_finished(self) noexcept          # rows of the next batch
    cdef tuple receive(self, uint32_t count)           # the batch that was collected; the next one takes its place
    cdef tuple take_batch(self, Py_ssize_t place, uint32_t count)
    cdef void step_done(self) noexcept                 # one call has sent and received
    cdef OpenBatch* batch(self) noexcept               # the one that is received next
    cdef bint forked(self) noexcept                    # whether those who step environments are another process's


# Another backend steps the environments; the caller of recv then makes rows of them.

cdef class BackendDispatch(Dispatch):
    cdef StepBackend backend
    cdef Dispatch inner              # SyncDispatch or DeferredDispatch
    cdef bint is_async
    cdef vector[int32_t] completed_ids        # ids that came back with one call
    cdef uint32_t num_completed           # environments that came back and were not received


# Whether the caller of a synchronous pool steps all environments itself, and how many threads it wakes if not.

cdef class InlineHeuristic:
    """Decides for each batch between threads and the caller's own work. Used by the pool's caller only."""
    cdef uint32_t num_threads        # that may step the pool's environments, the caller included
    cdef uint32_t num_cpus
    cdef int64_t idle_since          # when the last batch was received
    # of batches with so little work that threads may not pay
    cdef int64_t published_at        # when this one was distributed to threads; 0: it was not
    cdef int64_t published_work_ns   # what it should take one thread
    cdef double mean_share           # running mean: time it took, in units of that
    cdef int inline_steps_left       # batches that the caller is to step without threads

    cdef bint is_inline(self, int64_t work_ns, uint32_t helpers) noexcept
    cdef uint32_t useful_helpers(self, int64_t work_ns, uint32_t helpers, uint32_t count) noexcept
    cdef void update(self) noexcept

cpdef uint32_t worth_waking(int64_t work_ns, uint32_t wanted) noexcept


# Who steps the rows of a batch: threads in shares, or the caller.

cdef class Distributor:
    cdef Scheduler scheduler
    cdef Threads threads
    cdef InlineHeuristic heuristic
    cdef bint shares_threads         # with other pools
    cdef uint64_t published_rows     # of the last batch that was distributed to threads

    # puts rows of the scheduler's list up for claims, the last `count` of it; they come to `work_ns` of work. All rows
    # before these are finished
    cdef void distribute(self, Claim* caller, uint32_t count, int64_t work_ns)
    cdef void received(self) noexcept    # the caller has got the batch


# Asynchronous: threads take ids from the ready queue, rows come in the order of finishing, in several open batches.

cdef class QueueDispatch(Dispatch):
    cdef uint64_t num_taken          # rows received or skipped

    cdef void start(self) noexcept
    cdef Py_ssize_t place(self) noexcept


# Asynchronous, for brief steps: they are deferred to recv, which makes batches in the order of send.

cdef class DeferredDispatch(Dispatch):
    cdef Distributor distributor
    cdef QueueDispatch threaded      # takes over if batches take long; None: there are no threads
    cdef vector[int32_t] batch_ids   # of the rows of the batch in the making
    cdef uint32_t num_begun          # how many they are
    cdef list ahead                  # blocks of batches that `finish` has made: those that are received next
    cdef int num_slow                # batches, one after another, that took longer than threads may

    cdef bint make(self, uint32_t wanted, int64_t timeout_ns) except -1
    cdef int begin(self, uint32_t wanted) except -1
    cdef int use_threads(self) except -1


# Options of a reset, on their way to the environments.

cdef object give_reset_options(list envs, StepBackend backend, const int32_t* ids, uint32_t count, object options)


# Synchronous: one batch at a time, its rows in the order of send, distributed in shares.

cdef class SyncDispatch(Dispatch):
    cdef Distributor distributor
    cdef vector[int32_t] sent_ids    # of the send that is not received yet, if it named them
    cdef tuple out                   # the user's arrays for the batch in the making: observations, reward, flags
    cdef vector[Column] out_columns
    cdef Blocks rollout_blocks       # of the last rollout, whose blocks serve others of its length
    cdef uint32_t rollout_rows
    cdef Block first_block           # what a policy sees before the first step

    cdef int send_rollout(self, const char* actions, uint32_t num_steps, uint32_t observe_every, tuple out,
                          RolloutPolicy policy) except -1
    cdef RolloutPolicy prepare_policy(self, policy)
    cdef int send_copies(self, const int32_t* targets, const int32_t* sources, uint32_t count) except -1
    cdef void end_copies(self) noexcept
    cdef tuple receive_rollout(self)
    cdef void end_rollout(self) noexcept
    cdef int redirect(self, Block block, OpenBatch* batch) except -1
