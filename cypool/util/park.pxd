"""Sleeping on a word, waking those that sleep on it, and the clock."""
from libc.stdint cimport int64_t, uint32_t
from libcpp cimport bool as cbool
from libcpp.atomic cimport atomic


cdef extern from "cypool/util/park.h" namespace "cypool" nogil:
    cbool park(atomic[uint32_t]& word, uint32_t expected, int64_t timeout_ns) noexcept
    cbool park(atomic[uint32_t]& word, uint32_t expected, int64_t timeout_ns, cbool shared) noexcept
    void wake(atomic[uint32_t]& word, int count) noexcept
    void wake(atomic[uint32_t]& word, int count, cbool shared) noexcept
    void relax() noexcept
    int64_t now_ns() noexcept
