"""The last few frames of an environment, or of each of its players."""
from libc.stdint cimport uint8_t
from libcpp.vector cimport vector


cdef class FrameStack:
    """Rings of frames that advance together."""
    cdef readonly int num_frames
    cdef size_t frame_bytes
    cdef size_t num_stacks
    cdef int newest                      # index of the newest frame in each ring
    cdef vector[uint8_t] frames          # ring after ring

    cdef void advance(self) noexcept nogil                              # the oldest frames become the newest ones
    cdef uint8_t* newest_frame(self, size_t stack) noexcept nogil       # where to write that of a ring
    cdef uint8_t* push(self) noexcept nogil                             # advances; that of the first ring
    cdef const uint8_t* frame(self, size_t stack, int k) noexcept nogil  # the k-th frame, the oldest first
    cdef void fill(self, size_t stack) noexcept nogil                   # makes all frames of a ring the newest one
    cdef void repeat(self) noexcept nogil                               # pushes the newest frame again
    cdef void clear(self) noexcept nogil                                # makes all frames zero
    cdef void write(self, size_t stack, void* out) noexcept nogil       # all frames of a ring, the newest last
    cdef bytes save(self)
    cdef int load(self, bytes frames, int newest) except -1
    cdef void copy_from(self, FrameStack other) noexcept nogil          # another one of the same size
