"""Kernels that make images of frames."""
from libc.stdint cimport uint8_t
from libcpp.memory cimport unique_ptr
from libcpp.vector cimport vector

from cypool.envs.shared.pixels.resize cimport Resize


# Image kernels for Atari frames: palette lookup and maximum.
#
# Objects are const once built: threads may share one. The calls allocate nothing.

cdef extern from "cypool/envs/atari/palette.h" namespace "cypool" nogil:
    cdef cppclass PaletteMax:
        # table: 256 bytes, copied
        PaletteMax(const uint8_t* table) noexcept
        PaletteMax(const uint8_t* table, int simd) noexcept
        # out[i] = max(table[a[i]], table[b[i]]); out may be a or b
        void pool "operator()"(const uint8_t* a, const uint8_t* b, size_t count, uint8_t* out) noexcept


# The part of an observation that comes from the screen.

cdef class Picture:
    """Turns screens, which are palette indices, into frames. Const once made: all envs that show the same share one."""
    cdef readonly size_t frame_bytes
    cdef readonly size_t num_planes      # 1, or 3 in colour
    cdef size_t screen_bytes
    cdef size_t plane_bytes
    cdef bint interleaved                # the planes of a reduced frame, pixel by pixel
    cdef vector[PaletteMax] palettes     # one per plane: gray, or red, green and blue
    cdef unique_ptr[Resize] resize
    cdef uint8_t[4 * 256] colours        # of each palette index its red, green, blue, and a byte that is not used

    # the maximum of two screens, reduced. The maximum itself goes to `pooled`, a screen for each plane; NULL: nowhere
    cdef void shrink(self, const uint8_t* a, const uint8_t* b, uint8_t* frame, uint8_t* pooled) noexcept nogil
    # the maximum of `pooled` and a screen, likewise
    cdef void merge(self, const uint8_t* screen, uint8_t* frame, uint8_t* pooled) noexcept nogil
    cdef void _reduce(self, const uint8_t* plane, uint8_t* frame, size_t k) noexcept nogil
    # a whole screen
    cdef void copy(self, const uint8_t* screen, uint8_t* frame) noexcept nogil
