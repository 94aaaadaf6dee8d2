"""Image kernels for Atari frames: palette lookup and maximum.

Objects are const once built: threads may share one. The calls allocate nothing.
"""

from libc.stdint cimport uint8_t


cdef extern from "cypool/envs/atari/palette.h" namespace "cypool" nogil:
    cdef cppclass PaletteMax:
        # table: 256 bytes, copied
        PaletteMax(const uint8_t* table) noexcept
        PaletteMax(const uint8_t* table, bint simd) noexcept
        # out[i] = max(table[a[i]], table[b[i]]); out may be a or b
        void pool "operator()"(const uint8_t* a, const uint8_t* b, size_t count, uint8_t* out) noexcept
