# A claim: the environments that a thread steps.
from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t
from libcpp cimport bool as cbool
from libcpp.atomic cimport atomic

from cypool.env cimport Slot


cdef extern from "cypool/engine/id_ring.h" namespace "cypool" nogil:
    cdef cppclass IdRing:
        IdRing(uint32_t num_ids) except +
        void push(const int32_t* ids, uint32_t count) noexcept
        cbool empty() noexcept
        uint32_t claim(int32_t* ids, uint32_t min_rows, uint32_t max_rows, uint32_t divisor) noexcept

cdef extern from "cypool/engine/work_shares.h" namespace "cypool" nogil:
    cdef cppclass WorkShares:
        WorkShares(uint32_t num_shares) except +
        void publish(uint64_t first, uint64_t count) noexcept
        uint64_t published() noexcept
        uint32_t claim(uint32_t own, uint32_t min_rows, uint32_t max_rows, uint64_t* first) noexcept

cdef extern from "cypool/engine/counters.h" namespace "cypool" nogil:
    enum:
        CACHE_LINE

    cdef cppclass SchedulerCounters:  # each on a separate cache line
        SchedulerCounters() except +
        atomic[uint64_t] rows     # rows claimed so far, where they come as they finish
        atomic[uint32_t] cost_ns  # of one step, running mean; 0: unknown

cdef enum:
    SPIN_NS = 20_000             # how long to look for work, or for the last row, before going to sleep, at least ...
    MAX_SPIN_NS = 100_000        # ... and at most: a wake takes up to this long, as the core sleeps, too
    MAX_RING_IDS = 32            # ids that are claimed from the ring at a time

cdef enum Autoreset:             # when an environment whose episode has ended starts the next one
    NEXT_STEP                    # with its next step, which ignores the action
    SAME_STEP                    # at once: the row holds the first observation, the last one is in other columns
    DISABLED                     # when the user resets it


cdef enum BatchTask:             # the work on the environments of a batch
    STEP_EACH
    STEP_TOGETHER                # with `step_many`
    STEP_AHEAD                   # with `step_many`, which prepares the `step` of each
    COPY                         # each becomes a copy of its source
    ROLLOUT                      # many steps of each; a policy may choose the actions


cdef struct RolloutStep:         # where a claim is in a rollout; zero in other batches
    uint32_t step                # the one in work
    int32_t obs_shift            # from a row to that of its observation: the first rows are from before step 0
    bint unobserved              # the observation of this step is not wanted
    uint32_t num_observed        # environments of the claim that were observed before the first step
    bint one_by_one              # one of them failed to: each is observed just before it makes its first step
    uint32_t num_chosen          # environments whose actions a policy has chosen, one at a time
    bint choosing                # the policy is choosing one now
    bint failed                  # it failed to choose for the environment after those, which make their steps first
    bint chosen                  # a policy has chosen the actions of the claim
    bint accepted                # they are all within their bounds


cdef struct CallerSlice:         # used in the caller's claim only: limits how long it works between checks for signals
    uint32_t inline_count        # rows at the end of the batch that only the caller steps: threads cannot claim them
    uint32_t num_claims          # since it came, looks between steps of a rollout included
    int64_t until                # the time when it must return; before its second claim: the time that it may take
    bint cut                     # it returned before all was done


cdef struct Claim:               # the rows that one thread works on
    char[64] gap                 # padding against false sharing
    bint is_caller
    uint32_t thread              # which share is its own; the caller is 0
    const int32_t* ids           # borrowed, from Scheduler.batch_ids where rows are in order; else ring_ids
    int32_t[MAX_RING_IDS] ring_ids
    uint32_t count               # of ids
    uint32_t at                  # the one in work
    const char* actions          # of environment 0, for the step in work; those of the others follow it
    bint stepped                 # the rest of the claim was stepped together, or ahead, and is not recorded yet
    # rows
    uint32_t first_row           # of ids[0], where rows are in order
    int64_t position             # of ids[0] among all rows, else; -1: not claimed yet
    int64_t batch_position       # of the batch's row 0
    OpenBatch* batch             # holds the rows that are written and not yet published
    uint32_t unpublished         # how many they are
    RolloutStep rollout
    CallerSlice caller
    # how long a thread stays
    int64_t quota                # ids it may still take from the ring; below 0: no limit
    int64_t turn_end             # when a thread that other pools have, too, looks at these; 0: never
    uint64_t seen                # the value of WorkShares.published when it last looked
    # every so often the cost of a step is measured
    uint32_t num_claims
    int64_t measured_from        # 0: this claim is not measured
    char[64] gap_behind


cdef struct RowPointers:         # where an environment observes to
    Slot slot
    void* columns[MAX_COLUMNS]   # the targets of the slot's pointers


cdef inline void set_row_pointers(RowPointers* target, OpenBatch* batch, Column* columns, uint32_t row) noexcept nogil:
    """Finds the place of a row in each of these columns."""
    cdef int k
    for k in range(batch.num_columns):
        target.columns[k] = columns[k].data + row * columns[k].row_bytes
    target.slot.obs, target.slot.info = target.columns, target.columns + batch.num_obs
