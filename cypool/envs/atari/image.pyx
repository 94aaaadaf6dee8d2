# distutils: language = c++
"""The palette lookup of the Atari environments, callable on arrays.

The environments call the same C++ code; this module is for tests, and for recordings made elsewhere.
"""

import numpy as np

from libcpp.memory cimport make_unique, unique_ptr

from cypool.envs.common.resize cimport check_bytes


def pool_frames(a, b, table, *, simd=True):
    """Looks up two frames of palette bytes and takes the larger value of each pixel.

    Args:
        a: The palette bytes of one frame: a C-contiguous uint8 array of any shape.
        b: The other frame, of the same shape.
        table: The value of each palette byte: a uint8 array of shape (256,).
        simd: Whether vector instructions are used where the CPU has them. The pixels are the same.

    Returns:
        A new uint8 array of the shape of `a`: `maximum(table[a], table[b])`.

    Raises:
        TypeError: An argument is of the wrong type.
        ValueError: An argument has the wrong shape or layout.
    """
    check_bytes("a", a)
    check_bytes("b", b)
    check_bytes("table", table)
    if b.shape != a.shape:
        raise ValueError(f"b: expected shape {a.shape} as a has, got {b.shape}")
    if table.shape != (256,):
        raise ValueError(f"table: expected shape (256,), got {table.shape}")
    out = np.empty(a.shape, np.uint8)
    if a.size == 0:
        return out
    cdef const uint8_t[::1] first = a.reshape(-1)
    cdef const uint8_t[::1] second = b.reshape(-1)
    cdef const uint8_t[::1] values = table
    cdef uint8_t[::1] target = out.reshape(-1)
    cdef unique_ptr[PaletteMax] kernel = make_unique[PaletteMax](&values[0], <bint>bool(simd))
    with nogil:
        kernel.get().pool(&first[0], &second[0], <size_t>first.shape[0], &target[0])
    return out
