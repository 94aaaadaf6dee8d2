"""Samples of a replay buffer, gathered from its ring: observations from frames, one or several steps as one."""
from libc.stdint cimport int64_t
from libcpp.vector cimport vector

from cypool.replay.ring cimport Part, Ring

cdef struct Request:             # of rows that are to be gathered
    const int64_t* index
    const int64_t* goal          # instead of whose desired goal that of ... is shown; -1: its own; NULL: all their own


cdef class Gatherer:
    """Gathers rows of a ring."""
    cdef Ring ring
    cdef int n_step
    cdef int64_t length                    # of sequences; 0: single steps
    cdef double gamma
    cdef vector[size_t] action_parts       # their sizes
    cdef size_t num_step_arrays            # of a sample
    cdef Request requested
    cdef object owners                     # of what was requested

    cdef void write_observation(self, const Part* part, int64_t env, int64_t row, char* out) noexcept nogil
    cdef void write_observation_parts(self, int64_t env, int64_t row, int64_t goal, void* const* out,
                                      size_t k) noexcept nogil
    cdef int num_steps(self, int64_t env, int64_t row) noexcept nogil
    cdef double discounted(self, const double* reward, size_t count, size_t j, int64_t env, int64_t row,
                           int steps) noexcept nogil
    cdef int64_t write_steps(self, int64_t env, int64_t row, void* const* out, size_t k) noexcept nogil
    cdef void gather(self, size_t k, void* const* out) noexcept nogil
