"""What an observation shows of the screen, and the last few such frames."""
from libc.stdint cimport uint8_t
from libcpp.memory cimport unique_ptr
from libcpp.vector cimport vector

from cypool.envs.atari.image cimport AreaShrink, LinearShrink, PaletteMax


cdef class Picture:
    """Turns screens, which are palette indices, into frames. Const once made: all envs that show the same share one."""
    cdef readonly size_t frame_bytes
    cdef readonly size_t num_planes      # 1, or 3 in colour
    cdef size_t screen_bytes
    cdef size_t plane_bytes
    cdef bint interleaved                # the planes of a reduced frame, pixel by pixel
    cdef vector[PaletteMax] palettes     # one per plane: gray, or red, green and blue
    cdef unique_ptr[AreaShrink] area
    cdef unique_ptr[LinearShrink] linear  # instead of it
    cdef uint8_t[4 * 256] colours        # of each palette index its red, green, blue, and a byte that is not used

    # the maximum of two screens, reduced. The maximum itself goes to `pooled`, a screen for each plane; NULL: nowhere
    cdef void shrink(self, const uint8_t* a, const uint8_t* b, uint8_t* frame, uint8_t* pooled) noexcept nogil
    # the maximum of `pooled` and a screen, likewise
    cdef void merge(self, const uint8_t* screen, uint8_t* frame, uint8_t* pooled) noexcept nogil
    cdef void _reduce(self, const uint8_t* plane, uint8_t* frame, size_t k) noexcept nogil
    # a whole screen
    cdef void copy(self, const uint8_t* screen, uint8_t* frame) noexcept nogil


cdef class FrameStack:
    """The last frames, a ring."""
    cdef size_t frame_bytes
    cdef int num_frames
    cdef int newest                      # index of the last frame in the ring
    cdef vector[uint8_t] frames

    cdef uint8_t* push(self) noexcept nogil              # where to write the next frame, in place of the oldest
    cdef void fill(self) noexcept nogil                  # makes all frames the newest one
    cdef void repeat(self) noexcept nogil                # pushes the newest one again
    cdef void clear(self) noexcept nogil                 # makes all frames black
    cdef void write(self, void* out) noexcept nogil      # all of them, the newest last
    cdef bytes save(self)
    cdef int load(self, bytes frames, int newest) except -1
