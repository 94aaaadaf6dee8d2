"""The contract of environments, in cypool and in other packages. See docs/tutorials/own_environment.md."""
from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t

from cypool.random cimport Rng

cdef extern from "cypool/slot.h" nogil:
    enum: CYPOOL_ABI

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
        uint8_t* terminated     # or STEP_ALONE: not stepped; the engine runs `step` or `reset` for this row
        uint8_t* truncated

    enum: STEP_ALONE

    cdef struct Agents:         # of one environment, in the order of the spec: group by group; the engine's memory
        uint32_t count
        # set by step; all zero when step or reset begins
        double* reward
        uint8_t* terminated     # this agent's part is over
        uint8_t* truncated
        # who is in the game. All 1 when reset begins, which may clear those that come later; step may set those that
        # come. After step the engine clears those that terminated or were truncated
        uint8_t* alive
        uint8_t* turn           # whose actions the next step takes, where the spec says `turns`, else NULL
        # kept by the engine
        uint8_t* acted          # who acts in this step, or did in the last one
        uint8_t* present        # who was in the game when it began
        # in pools with `episode_statistics`, else 0
        double* episode_return
        int64_t* episode_length

    cdef struct Turn:           # who moves in a game, for tree search; all zero when `turn` begins
        int32_t num_players     # the same in all states; 1: no game, or that of one player
        int32_t player          # who moves now; not read at an end
        uint64_t outcome        # of chance in the last step: states that differ by chance alone have different ones
        double* reward          # of the last step, for each player

cdef extern from "cypool/access.h" namespace "cypool" nogil:
    # typed access to actions and rows; T is the C type of the dtype in the spec
    int64_t discrete_action(const void* action) noexcept     # a Discrete
    const T* action_data[T](const void* action) noexcept     # the elements of an Array
    T* obs_row[T](const Slot* out, int k) noexcept           # this row of the k-th observation array
    T* info_row[T](const Slot* out, int k) noexcept          # this row of the k-th info array


cdef class Env:
    """One environment, called from one thread at a time. The order of fields and methods is part of the ABI."""
    cdef readonly int env_id
    cdef int episode_length              # kept by the engine; here it fills a gap that alignment would leave
    cdef readonly object spec            # the EnvSpec it was made from
    # set by step, read by the engine; zero when `step` begins. Not used by step_many, unless it prepares steps
    cdef double reward                   # with agents NaN when step begins; if it stays so: the sum of theirs
    cdef bint terminated, truncated      # with agents: of all that are alive
    cdef double raw_reward               # counts for the episode's return in place of the reward, unless it is NaN
    # kept by the engine
    cdef int elapsed_step                # 0 before reset, one more before each step; reset may overwrite it
    cdef int max_episode_steps           # the engine truncates there
    cdef bint needs_reset                # the next step starts a new episode
    cdef bint reset_requested            # the user asked for this reset; no episode ended
    cdef bint observe_only               # a reset of other environments: this one is only observed again
    cdef double episode_return
    cdef int64_t episode_began           # ns
    cdef const Rng* rng                  # the stream of Gymnasium's np_random; borrowed from _bit_generator
    cdef object _bit_generator
    cdef Agents* agents                  # NULL in an environment with one agent; owned
    # required: run on a pool thread or the caller's, without the GIL except for brief work
    cdef int reset(self) except -1 nogil                       # starts an episode
    cdef int step(self, const void* action) except -1 nogil    # advances by one step
    cdef int observe(self, const Slot* out) except -1 nogil    # writes observation and info to a row
    # optional: run with the GIL on the caller's thread; by the default `copy_from` also on a pool thread
    cdef int seed(self, object seed) except -1                 # restarts the random stream; a reset follows
    cdef object save(self)                                     # plain values: all that the methods above depend on
    cdef int load(self, object state) except -1                # takes them; check them first: cypool.state.check_state
    cdef object render(self)                                   # a picture: uint8 (height, width, 3)
    # optional, both or none: for steps that are faster together, as in SIMD lanes or with an engine process for each
    cdef bint prepare_pool(self, list envs) except -1          # all of a pool, before the first reset; True: step_many
    # steps and observes the environments of these rows; or, with `prepares_steps`, only prepares their `step`. Raises
    # only before it has stepped any
    cdef int step_many(self, const Rows* rows) except -1 nogil
    # optional: runs on a pool thread or the caller's. Takes over all that `save` returns of another one with the same
    # spec, which is only read, by several threads at once; by default through save and load, with the GIL
    cdef int copy_from(self, Env other) except -1 nogil
    # optional: with the GIL, on the caller's thread. Takes the options of `reset(options=...)`, a dict, for the reset
    # that follows; checks them first
    cdef int take_reset_options(self, dict options) except -1
    # optional: where the spec says `illegal`. Writes 1 for each action that may be taken now, else 0; with agents a row
    # for each, all 0 of those that do not act
    cdef int legal(self, uint8_t* mask) except -1 nogil
    # optional: for tree search, of games of several players, or with chance; by default one player and no chance
    cdef void turn(self, Turn* out) noexcept nogil


cdef inline int import_cypool() except -1:
    """Compiled into the plug-in: compares the ABI it was built for with the one that runs."""
    from cypool import env
    if env.ABI != CYPOOL_ABI:
        raise ImportError(f"built for cypool ABI {CYPOOL_ABI}, running {env.ABI}: rebuild this package against the "
                          "installed cypool")
    # for check_env: of the module that this is compiled into
    globals()["_cypool_abi"] = CYPOOL_ABI
    return 0
