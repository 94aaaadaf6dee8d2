"""Draws like numpy.random.RandomState, without the GIL."""
from libc.stdint cimport uint32_t
from libcpp cimport bool as cbool

from cypool.random cimport Rng

cdef extern from "cypool/envs/dm_control/random_state.h" nogil:
    cdef cppclass RandomState "cypool::RandomState":
        const Rng* rng
        cbool has_spare
        double spare
        double rand() noexcept
        double uniform(double low, double high) noexcept
        double normal() noexcept
        uint32_t integer(uint32_t n) noexcept
        int choice(const double* sums) noexcept
