"""Which environment a thread steps next, and the row of which batch that fills: what the threads do."""
cimport cython
from cpython.ref cimport PyObject
from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libcpp.atomic cimport atomic
from libcpp.memory cimport unique_ptr
from libcpp.vector cimport vector

from cypool.engine.batch cimport MAX_COLUMNS, Column, OpenBatch
from cypool.engine.rollout_policy cimport RolloutPolicy
from cypool.engine.work_queues cimport ReadyQueue, WorkShares
from cypool.env cimport Slot

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
