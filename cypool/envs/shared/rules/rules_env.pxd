from libc.stdint cimport uint8_t
from libcpp cimport bool as cbool
from libcpp.memory cimport shared_ptr, unique_ptr
from libcpp.string cimport string
from libcpp.vector cimport vector

from cypool.env cimport Agents, Rows, Slot, Turn
from cypool.envs.shared.rules.archived_env cimport ArchivedEnv, ArchivedState
from cypool.random cimport Rng


cdef extern from "cypool/envs/shared/rules/rules.h" namespace "cypool" nogil:
    cdef cppclass OptionValue:
        OptionValue()
        OptionValue(string text)
        OptionValue(vector[double] numbers)

    cdef cppclass Options:
        void set(const string& name, OptionValue value) except +
        vector[string] unread() except +

    cdef cppclass Step:
        const Rng* rng
        const Rng* second_rng
        Agents* agents
        double reward
        cbool terminated, truncated

    cdef cppclass Member "cypool::RulesPool::Member":
        Member(Rules* rules, const bint* needs_reset)

    const size_t MAX_PARTS "cypool::RulesPool::MAX_PARTS"

    cdef cppclass RulesPool:
        vector[Member] members
        vector[size_t] obs_bytes, info_bytes
        size_t action_bytes

    cdef cppclass Rules(ArchivedState):
        Step last
        unique_ptr[Rules] another() except +
        cbool can_step_many()
        void step_many(const Rows& rows, const RulesPool& pool) noexcept
        void reset() except +
        void step(const void* action) except +
        void observe(const Slot& out) except +
        void legal(uint8_t* mask) except +
        cbool turn(Turn& out)
        void seed(int env_id) except +
        void picture(void* out) except +

    cdef cppclass RulesOf[T](Rules):
        RulesOf(const Options& options) except +
        RulesOf(T rules) except +
        T* get()


cdef Options options_of(dict values) except *


cdef class Prototype:
    # what environments of one spec have in common
    cdef object __weakref__
    cdef object spec
    cdef unique_ptr[Rules] rules


cdef class RulesEnv(ArchivedEnv):
    cdef unique_ptr[Rules] rules
    cdef Prototype prototype
    cdef shared_ptr[RulesPool] pool     # all environments of the pool, which live as long as this one

    cdef object second_stream           # a bit generator that is saved and copied with the state, or None

    cdef int take_rules(self, Rules* rules) except -1
    cdef int draw_from(self, object second_stream) except -1
    # what a subclass has to have
    cdef Rules* make(self, const Options& options) except NULL
    # optional
    cdef object draw(self, dict state)
