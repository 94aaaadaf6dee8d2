"""Whether this process is a child of the one that something was made in."""


cdef extern from "cypool/util/forks.h" namespace "cypool" nogil:
    int num_forks() noexcept
