"""The base class of both kinds of Doom."""
from cpython.ref cimport PyObject
from libc.stdint cimport uint32_t, uint8_t
from libcpp.memory cimport shared_ptr
from libcpp.string cimport string
from libcpp.vector cimport vector

from cypool.env cimport Env, Rows, Slot


# The base class of both interfaces. Code that compiles against it needs nothing of ViZDoom's.

ctypedef vector[PyObject*] EnvList


cdef extern from *:
    """
    namespace cypool::doom { class Match; }
    """
    cdef cppclass Match "cypool::doom::Match":
        pass


# the kinds of visible data
cdef enum Source:
    SCREEN
    DEPTH
    LABELS
    AUTOMAP
    AUDIO
    NOTIFICATIONS
    VARIABLES_


cdef class Doom(Env):
    cdef Match* match                    # owned
    cdef readonly size_t num_players
    cdef size_t num_buttons
    cdef uint32_t frame_skip
    cdef size_t action_bytes
    cdef vector[double] values           # of the buttons, a row for each player
    cdef vector[double] player_rewards
    cdef bint restarted                  # the last call found an engine that had failed
    cdef bint reports_pid
    cdef object config                   # Config
    cdef shared_ptr[EnvList] pool        # all games of it, so that one can request the steps of others

    # turns an action into `values`
    cdef void press(self, const void* action) noexcept nogil

    # starts an episode; if an engine fails, with new ones
    cdef int begin(self, bint seeded, uint32_t seed, const string& recording) except -1 nogil
    # has `values` pressed for `frame_skip` tics; False if an engine failed, which truncates the episode
    cdef bint play(self) noexcept nogil
    # the players' rewards, for the engine, where they are several agents
    cdef void give_rewards(self) noexcept nogil
    # infos that both interfaces have, the last ones
    cdef void write_infos(self, const Slot* out, size_t first) noexcept nogil

    # of the match: engines are there; the episode has ended, there is nothing to see; by the game's own time limit
    cdef bint running(self) noexcept nogil
    cdef bint finished(self) noexcept nogil
    cdef bint timed_out(self) noexcept nogil
    # of a player, while engines are running
    cdef bint dead(self, size_t player) noexcept nogil
    cdef double variable(self, size_t player, int which) noexcept nogil
    cdef double last_reward(self, size_t player) noexcept nogil
    # the memory that the engine writes to; NULL if the config does not have it
    cdef const uint8_t* buffer(self, size_t player, Source source) noexcept nogil
    # text, zeros behind it
    cdef void notifications(self, size_t player, uint8_t* out, size_t size) noexcept nogil
