"""The argument of cypool's own policies, which choose for neighbouring environments at once."""
from libc.stdint cimport int64_t, uint8_t, uint32_t

cdef extern from "cypool/policies/decisions.h" namespace "cypool" nogil:
    cdef struct Decisions:
        const void* obs
        const uint8_t* mask
        void* actions
        const void* parameters
        int64_t step
        uint32_t env_id
        uint32_t count

    ctypedef int (*ManyPolicy)(const Decisions*) noexcept
