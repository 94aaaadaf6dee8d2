"""Threads as the engine needs them: start, join, sleep on a word, wake; Cython itself declares none of it."""
from libc.stdint cimport int64_t, uint32_t
from libcpp cimport bool as cbool
from libcpp.atomic cimport atomic


cdef extern from "<thread>" namespace "std" nogil:
    cdef cppclass thread:
        # the constructor is a template in C++; one concrete form of it is all Cython can read
        thread(void (*body)(void*) noexcept nogil, void* arg) except +
        void join() except +
        void detach() except +

cdef extern from "cypool/park.h" namespace "cypool" nogil:
    cbool park(atomic[uint32_t]& word, uint32_t expected, int64_t timeout_ns) noexcept
    void wake(atomic[uint32_t]& word, int count) noexcept
    void relax() noexcept
    int64_t now_ns() noexcept
    cbool on_thread(thread* other) noexcept
    void block_signals() noexcept
