"""Whether this process is a child of the one in which something was made."""


cdef extern from "cypool/util/forks.h" namespace "cypool" nogil:
    int num_forks() noexcept
