from libcpp.string cimport string
from libcpp.vector cimport vector

from cypool.env cimport Env


cdef extern from "cypool/envs/shared/rules/state_archive.h" namespace "cypool" nogil:
    cdef struct StateField:
        string path
        char format
        size_t offset
        double low, high

    cdef cppclass ArchivedState:
        string save() except +
        vector[StateField] list() except +
        void load(const string& saved) except +
        void copy_from(const ArchivedState& other) except +

    cdef cppclass Archived[T](ArchivedState):
        T* get() noexcept
        void hold(T* object)


cdef class ArchivedEnv(Env):
    # the state of the subclass, whose __init__ sets this
    cdef ArchivedState* archived
