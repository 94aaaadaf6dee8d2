"""The result of a finished batch: its arrays, in the structure of the spec."""
from libc.stdint cimport uint32_t

from cypool.backend cimport StepBackend
from cypool.engine.batch cimport Block, GroupColumns, Layout, RowKind


cdef class Results:
    cdef Layout layout
    cdef list obs_keys                   # None for an observation that has no parts
    cdef bint obs_is_tuple
    cdef list info_keys
    cdef bint has_agents                 # several act in each environment
    cdef object spec                     # where it has to pack the observation, else None
    cdef StepBackend backend             # steps the environments, or None
    cdef Block last                      # of the batch put together last, or None
    cdef uint32_t last_count             # rows of it that count

    cdef tuple of(self, Block block, uint32_t count, tuple out)
    cdef dict of_group(self, GroupColumns group, list arrays)
    cdef object rows_of(self, RowKind kind)
    cdef object observation(self, list arrays, int first)
    cdef tuple finals(self, list arrays)
