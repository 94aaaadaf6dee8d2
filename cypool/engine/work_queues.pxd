"""Who is to be stepped: a ring of ids where rows come as they finish, shares of rows where they are in order."""
from libc.stdint cimport int32_t, uint32_t, uint64_t
from libcpp cimport bool as cbool


cdef extern from "cypool/engine/ready_queue.h" namespace "cypool" nogil:
    cdef cppclass ReadyQueue:
        ReadyQueue(uint32_t num_ids) except +
        void push(const int32_t* ids, uint32_t count) noexcept
        cbool empty() noexcept
        uint32_t claim(int32_t* ids, uint32_t max_rows, uint32_t share) noexcept

cdef extern from "cypool/engine/work_shares.h" namespace "cypool" nogil:
    cdef cppclass WorkShares:
        WorkShares(uint32_t num_shares) except +
        void publish(uint64_t first, uint64_t count) noexcept
        uint64_t published() noexcept
        uint32_t claim(uint32_t own, uint32_t min_rows, uint32_t max_rows, uint64_t* first) noexcept
