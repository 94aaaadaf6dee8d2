# The palette lookup of the Atari environments, callable on arrays.
#
# The environments call the same C++ code; this module is for tests, and for recordings made elsewhere.
# distutils: language = c++

import numpy as np

cimport numpy as cnp
from libc.stdint cimport uint8_t
from libcpp.memory cimport make_unique, unique_ptr

from cypool.envs.shared.pixels.resize cimport check_bytes

cnp.import_array()

# const once built: threads may share one
cdef extern from "cypool/envs/atari/palette.h" namespace "cypool" nogil:
    cdef cppclass PaletteMax:
        # table: 256 bytes, copied
        PaletteMax(const uint8_t* table) noexcept
        PaletteMax(const uint8_t* table, int simd) noexcept
        # out[i] = max(table[a[i]], table[b[i]]); out may be a or b
        void pool "operator()"(const uint8_t* a, const uint8_t* b, size_t count, uint8_t* out) noexcept


def pool_frames(a, b, table, *, simd=2):
    """Looks up two frames of palette bytes and takes the larger value of each pixel.

    Args:
        a: The palette bytes of one frame: a C-contiguous uint8 array of any shape.
        b: The other frame, of the same shape.
        table: The value of each palette byte: a uint8 array of shape (256,).
        simd: Which vector instructions to use where the CPU has them: 0, none; 1, AVX2; 2, all. The pixels are the
            same.

    Returns:
        A new uint8 array with the shape of `a`: `maximum(table[a], table[b])`.

    Raises:
        TypeError: An argument is of the wrong type.
        ValueError: An argument has the wrong shape or layout.
    """
    check_bytes("a", a)
    check_bytes("b", b)
    check_bytes("table", table)
    if b.shape != a.shape:
        raise ValueError(f"b: expected the same shape as a, {a.shape}, got {b.shape}")
    if table.shape != (256,):
        raise ValueError(f"table: expected shape (256,), got {table.shape}")
    out = np.empty(a.shape, np.uint8)
    if a.size == 0:
        return out
    cdef const uint8_t* first = <const uint8_t*>cnp.PyArray_DATA(a)
    cdef const uint8_t* second = <const uint8_t*>cnp.PyArray_DATA(b)
    cdef uint8_t* target = <uint8_t*>cnp.PyArray_DATA(out)
    cdef size_t size = a.size
    cdef unique_ptr[PaletteMax] kernel = make_unique[PaletteMax](
        <const uint8_t*>cnp.PyArray_DATA(table), <int>simd)
    with nogil:
        kernel.get().pool(first, second, size, target)
    return out
