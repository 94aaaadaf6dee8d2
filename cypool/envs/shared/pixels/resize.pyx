# distutils: extra_compile_args = -O2
# distutils: language = c++
"""Resizing of gray images, callable on arrays.

The environments call the same C++ code; this module is for tests, and for recordings made elsewhere.
"""

import operator

import numpy as np

cimport numpy as cnp
from libcpp.memory cimport make_unique, unique_ptr

cnp.import_array()


def shrink(plane, height, width, *, simd=True):
    """Shrinks a gray image, pixel for pixel like OpenCV's `resize` with `INTER_AREA`.

    Args:
        plane: The image: a C-contiguous uint8 array of shape (rows, columns).
        height: Rows of the result, at most those of `plane`.
        width: Columns of the result, at most those of `plane`.
        simd: Whether to use vector instructions if the CPU has them. The pixels are the same either way.

    Returns:
        A new uint8 array of shape (height, width).

    Raises:
        TypeError: An argument has the wrong type.
        ValueError: `plane` has the wrong shape or layout, or a size would enlarge it.
    """
    return _resized(plane, height, width, True, simd)


def shrink_linear(plane, height, width, *, simd=True):
    """Shrinks a gray image, pixel for pixel like OpenCV's `resize` with `INTER_LINEAR`; otherwise as `shrink`."""
    return _resized(plane, height, width, False, simd)


cdef object _resized(plane, height, width, bint by_area, simd):
    out = _result(plane, height, width)
    cdef const uint8_t* pixels = <const uint8_t*>cnp.PyArray_DATA(plane)
    cdef uint8_t* target = <uint8_t*>cnp.PyArray_DATA(out)
    cdef unique_ptr[Resize] resize = make_unique[Resize](
        by_area, <int>plane.shape[0], <int>plane.shape[1], <int>out.shape[0], <int>out.shape[1], <bint>bool(simd))
    with nogil:
        resize.get().run(pixels, target)
    return out


cdef object _result(plane, height, width):
    """Checks the arguments; returns the array for the result."""
    check_bytes("plane", plane)
    if plane.ndim != 2 or plane.size == 0:
        raise ValueError(f"plane: expected shape (rows, columns), both at least 1, got {plane.shape}")
    if plane.size > 1 << 23:
        raise ValueError(f"plane: expected at most {1 << 23} pixels, got {plane.size}")
    return np.empty((_size("height", height, plane.shape[0]), _size("width", width, plane.shape[1])), np.uint8)


cdef int check_bytes(str name, value) except -1:
    if not isinstance(value, np.ndarray):
        raise TypeError(f"{name}: expected a numpy array, got {type(value).__name__}")
    if value.dtype != np.uint8:
        raise TypeError(f"{name}: expected dtype uint8, got {value.dtype}")
    if not value.flags.c_contiguous:
        raise ValueError(f"{name}: expected a C-contiguous array, got strides {value.strides}")
    return 0


cdef int _size(str name, value, limit) except -1:
    try:
        size = operator.index(value)
    except TypeError:
        raise TypeError(f"{name}: expected an int, got {type(value).__name__}") from None
    if not 1 <= size <= limit:
        raise ValueError(f"{name}: expected 1 to {limit}, got {size}")
    return size
