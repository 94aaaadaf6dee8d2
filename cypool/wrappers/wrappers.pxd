"""The base class of environments that contain another one."""
from cpython.object cimport PyObject
from libcpp.memory cimport shared_ptr
from libcpp.vector cimport vector

from cypool.env cimport Env, Rows, Slot, Turn

ctypedef vector[PyObject*] EnvList      # borrowed


# An environment around another one, and memory for its observation.

cdef class Wrapper(Env):
    """Contains another environment and behaves like it, except where a subclass changes that."""
    cdef Env inner
    cdef shared_ptr[EnvList] pool            # all of the pool, where the inner ones prepare steps

    cdef void lend(self) noexcept nogil      # passes the engine's fields to the inner environment
    cdef void fetch(self) noexcept nogil     # passes the inner environment's fields to the engine


cdef class Scratch:
    """One row outside of any batch, with zones around its parts."""
    cdef Slot slot                           # observe writes to it
    cdef vector[size_t] offsets              # of each part; before and behind it lies a zone
    cdef vector[size_t] sizes
    cdef vector[size_t] zones                # bytes before the part, and as many behind it
    cdef vector[char] memory
    cdef vector[void*] parts                 # of observation and info: where slot points
    cdef size_t first                        # byte of memory where the first zone begins: aligned
    cdef int num_obs

    cdef void fill(self, char value) noexcept nogil
    # between rows of this spec
    cdef void copy_obs(self, const Slot* row, const Slot* out) noexcept nogil
    cdef void copy_info(self, const Slot* row, const Slot* out) noexcept nogil
