"""Image kernels for Atari frames: palette lookup and maximum, then OpenCV's INTER_AREA or INTER_LINEAR.

Objects of all classes are const once built: threads may share one. The calls allocate nothing.
"""

from libc.stdint cimport uint8_t


cdef extern from "cypool/area.h" namespace "cypool" nogil:
    cdef cppclass AreaShrink:
        # height, width, out_height, out_width; ValueError on sizes below 1 and on enlarging
        AreaShrink(int, int, int, int) except +
        AreaShrink(int, int, int, int, bint simd) except +
        # plane: height * width bytes, out: out_height * out_width bytes; they must not overlap
        void shrink "operator()"(const uint8_t* plane, uint8_t* out) noexcept


cdef extern from "cypool/linear.h" namespace "cypool" nogil:
    cdef cppclass LinearShrink:
        # as AreaShrink
        LinearShrink(int, int, int, int) except +
        LinearShrink(int, int, int, int, bint simd) except +
        void shrink "operator()"(const uint8_t* plane, uint8_t* out) noexcept


cdef extern from "cypool/palette.h" namespace "cypool" nogil:
    cdef cppclass PaletteMax:
        # table: 256 bytes, copied
        PaletteMax(const uint8_t* table) noexcept
        PaletteMax(const uint8_t* table, bint simd) noexcept
        # out[i] = max(table[a[i]], table[b[i]]); out may be a or b
        void pool "operator()"(const uint8_t* a, const uint8_t* b, size_t count, uint8_t* out) noexcept
