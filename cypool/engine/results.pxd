"""What a user gets of a finished batch: its arrays, put together as the spec has them."""
from libc.stdint cimport uint32_t

from cypool.engine.batch cimport Block, Layout
from cypool.env cimport Elsewhere


cdef class Results:
    """Puts the arrays of batches together."""
    cdef Layout layout
    cdef list obs_keys                   # None for an observation that has no parts
    cdef bint obs_is_tuple
    cdef list info_keys

    cdef tuple of(self, Block block, uint32_t count, tuple out, Elsewhere elsewhere)
    cdef object observation(self, list arrays, int first)
    cdef tuple finals(self, list arrays)
