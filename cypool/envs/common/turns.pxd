from libc.stddef cimport size_t
from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t

from cypool.envs.common.archived_env cimport ArchivedEnv
from cypool.random cimport Rng


cdef extern from "cypool/envs/common/turn_game.h" namespace "cypool" nogil:
    enum:
        OVER

    cdef cppclass TurnGame:
        int num_players
        size_t num_actions, tensor_size
        int32_t current, last, seat, num_matches
        const double* reward
        uint64_t outcome
        void reset(const Rng* rng) except +
        void play(int64_t action, const Rng* rng) except +
        void play_random(const Rng* rng) except +
        bint is_legal(int64_t action) except +
        void lose() noexcept
        void legal(uint8_t* mask) except +
        void observe(int player, float* tensor) except +

cdef extern from "cypool/envs/common/turn_search.h" namespace "cypool" nogil:
    cdef cppclass SearchPlayer:
        int64_t choose(const TurnGame& game, int32_t simulations, const Rng* rng) except +


cdef enum View:
    MOVER
    PLAYERS
    SINGLE


cdef class TurnEnv(ArchivedEnv):
    cdef TurnGame* game              # what the subclass has; its __init__ sets this
    cdef View view
    cdef bint loses                  # whether an illegal action loses
    cdef int32_t simulations         # of an opponent who searches; 0: it plays at random
    cdef SearchPlayer opponent
    cdef int seat                    # of the learner in the view "single"; or RANDOM_SEAT or NEXT_SEAT

    cdef int take(self, int64_t action) except -1 nogil
    cdef int let_opponents_play(self) except -1 nogil
    cdef int write_turns(self) except -1 nogil
