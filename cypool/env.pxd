"""THE contract: what every environment, ours or a stranger's, subclasses."""
from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t


cdef extern from "cypool/slot.h" namespace "cypool" nogil:
    cdef struct Slot:           # one row of the batch; the pool owns the memory
        void** obs              # obs[k]: this row of the k-th observation array of the spec
        void** info             # info[k]: this row of the k-th info array of the spec

    cdef struct Rows:           # neighbouring rows of the batch, for step_many
        uint32_t count
        const int32_t* ids      # whose they are
        const char* actions     # of environment 0; those of the others follow it
        void** obs              # obs[k]: the first of the rows in the k-th observation array
        void** info
        double* reward
        uint8_t* terminated
        uint8_t* truncated

cdef extern from "cypool/slot.h" nogil:
    enum:
        CYPOOL_ABI

cdef extern from "cypool/transition.h" namespace "cypool" nogil:
    cdef struct Transition:     # what a hook sees
        const void** obs        # obs[k]: the k-th observation array of the environment's own spec
        const void** info
        const void** before     # obs before the step; NULL for an observation hook
        const void* action      # as step gets it; NULL for an observation hook
        void** out              # out[k]: where an observation hook writes; NULL for a reward hook
        double reward           # a reward hook may change this, and the two below
        uint8_t terminated
        uint8_t truncated
        int32_t env_id
        int32_t elapsed_step

cdef extern from "cypool/rng.h" namespace "cypool" nogil:
    cdef struct Rng:
        pass
    double uniform(const Rng* rng, double low, double high) noexcept
    int64_t integers(const Rng* rng, int64_t low, int64_t high) noexcept
    int categorical(const Rng* rng, const double* sums, int n) noexcept

cdef extern from "cypool/access.h" namespace "cypool" nogil:
    # the action as step gets it, and parts of a row as observe does; T is the C type of the dtype that describe tells
    int64_t choice(const void* action) noexcept             # a Discrete
    const T* numbers[T](const void* action) noexcept        # the elements of an Array
    T* obs_row[T](const Slot* out, int k) noexcept          # this row of the k-th observation array
    T* info_row[T](const Slot* out, int k) noexcept         # this row of the k-th info array

# one double as Generator.normal(mean, deviation) draws it
cdef double normal(const Rng* rng, double mean, double deviation) noexcept nogil


cdef class Env:
    """One environment. Never two calls at once on one Env."""
    cdef readonly int env_id
    cdef readonly object spec            # the EnvSpec it was made from
    # set by reset and step, read by the engine; all zero when step or reset begins
    cdef double reward
    cdef bint terminated
    cdef bint truncated
    cdef double raw_reward               # what counts for the episode's return, where it is not the reward; else NaN
    # kept by the engine: 0 before reset, one more before each step; reset may overwrite it
    cdef int elapsed_step
    cdef int max_episode_steps           # the engine truncates there
    cdef bint over                       # the next step starts a new episode
    cdef bint forced                     # the user asked for this reset; no episode ended
    cdef bint unmoved                    # the user asked for others only: observe again, do nothing
    cdef double episode_return
    cdef int episode_length
    cdef int64_t episode_began           # ns
    # the random stream, the same as Gymnasium's np_random of that seed
    cdef const Rng* rng                  # borrowed from _bit_generator
    cdef object _bit_generator

    # have to be implemented: run on a pool thread, without the GIL. The order is part of the ABI
    cdef int reset(self) except -1 nogil                      # starts an episode
    cdef int step(self, const void* action) except -1 nogil   # advances by one step
    cdef int observe(self, const Slot* out) except -1 nogil   # writes observation and info to a row
    # can be implemented: run on the caller's thread, with the GIL
    cdef int seed(self, object seed) except -1                # restarts the random stream; a reset follows
    cdef object save(self)                                    # all that reset, step and observe go by: plain values
    # takes what save gave, of an env with the same options; anybody may have edited it: see cypool.state.check_state
    cdef int load(self, object state) except -1
    cdef object render(self)                                  # a picture: uint8 (height, width, 3)
    # can be implemented together, for environments so cheap that calling each costs more than its step
    cdef bint gather(self, list envs) except -1               # all of a pool, before the first reset; True: step_many
    cdef int step_many(self, const Rows* rows) except -1 nogil    # step and observe, for all whose rows these are


cdef class Elsewhere:
    """Where the environments of a pool are stepped, if not by its threads. All methods run on the caller's thread."""
    cdef public object options           # of resets that the user asks for; passed on as they are

    # begins a step, or where `over` a reset, or where `unmoved` nothing, of each; it may not raise half way
    cdef int begin(self, const int32_t* ids, uint32_t count, const char* actions, bint same_step) except -1
    # waits until `wanted` of those begun are done, then notes their ids and returns how many they are: fewer after the
    # timeout or a signal. Now they are stepped (or reset), which waits for nothing, and observed by the engine
    cdef int finished(self, int32_t* ids, int wanted, int64_t timeout_ns) except -1
    cdef object tell(self, object env_ids)    # what they tell besides arrays: a list of (row, info, final info)
    cdef bint forked(self) noexcept           # whether this process is another one than that it was made in


cdef inline int import_cypool() except -1:
    # compiled into the plug-in: compares the ABI it was built for with the one that runs
    from cypool import env
    if env.ABI != CYPOOL_ABI:
        raise ImportError(
            f"built for cypool ABI {CYPOOL_ABI}, running {env.ABI}: rebuild this package against "
            "the installed cypool")
    return 0
