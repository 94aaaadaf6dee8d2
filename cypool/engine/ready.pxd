"""The ring of env ids that wait for a thread."""
from libc.stdint cimport int32_t, uint32_t, uint64_t


cdef extern from "cypool/ready.h" namespace "cypool" nogil:
    cdef cppclass Ready:
        Ready(uint32_t num_ids) except +
        void push(int32_t id) noexcept
        void publish() noexcept
        uint64_t pushed() noexcept
        uint64_t left() noexcept
        uint32_t claim(uint32_t share, uint32_t least, uint32_t most, int32_t* out, uint64_t* first) noexcept
