# Observations that are normalized, for the policies of rollouts and for the API.
cimport cython
from libc.stdint cimport uint32_t
from libcpp.vector cimport vector

cimport numpy as cnp

import numpy as np

cnp.import_array()

cdef extern from "cypool/engine/normalize.h" namespace "cypool" nogil:
    bint normalize(char kind, size_t size, const void* data, size_t rows, size_t count, const double* mean,
                   const double* std, float* out) noexcept
    bint moments(char kind, size_t size, const void* data, size_t rows, size_t count, double* mean,
                 double* var) noexcept


cdef int check_normal(spec, int num_envs, seen, mean, std, first) except -1:
    """Checks the argument `normal` of `Pool.rollout`."""
    check_parameters(spec.observation.shape, mean, std)
    wanted = num_envs, *spec.observation.shape
    if first.shape != wanted or first.dtype != np.float32 or not first.flags.c_contiguous:
        raise ValueError(f"normal: expected C-contiguous float32 of shape {wanted}, got {first.dtype} of shape "
                         f"{first.shape}")
    if seen.observation.shape != wanted[1:] or seen.observation.dtype != np.float32:
        raise ValueError(f"normal: expected float32 of shape {wanted[1:]}, got {seen.observation}")
    return 0


cdef int check_parameters(tuple shape, mean, std) except -1:
    for array in (mean, std):
        if array.dtype != np.float64 or array.shape != shape or not array.flags.c_contiguous:
            raise ValueError(f"expected C-contiguous float64 of shape {shape}, got {array.dtype} of shape "
                             f"{array.shape}")
    return 0


cdef int check_rows(rows, mean, std) except -1:
    check_parameters(rows.shape[rows.ndim - mean.ndim:], mean, std)
    if rows.size == 0 or rows.ndim == mean.ndim or not rows.flags.c_contiguous:
        raise ValueError(f"rows: expected one or more C-contiguous rows, got shape {rows.shape}")
    return 0


@cython.final
cdef class NormalRows:
    """The normalized observation of each environment, float32.

    Args:
        spec: The spec of the environments, which observe one array.
        mean, std, first: As in `Pool.rollout`.
    """
    cdef tuple owners                    # of the next three
    cdef const double* mean
    cdef const double* std
    cdef float* first
    cdef char kind
    cdef size_t size, count              # bytes of a number, and how many an observation has
    cdef vector[float] rows

    def __init__(self, spec, cnp.ndarray mean, cnp.ndarray std, cnp.ndarray first):
        dtype = spec.observation.dtype
        self.owners, self.kind, self.size = (mean, std, first), ord(dtype.kind), dtype.itemsize
        self.mean, self.std = <const double*>cnp.PyArray_DATA(mean), <const double*>cnp.PyArray_DATA(std)
        self.first, self.count = <float*>cnp.PyArray_DATA(first), cnp.PyArray_SIZE(mean)
        self.rows.resize(cnp.PyArray_SIZE(first))

    cdef void* rows_before(self, const void* obs, uint32_t step, uint32_t env_id, uint32_t num_rows) noexcept nogil:
        """Normalizes the observations of neighbouring environments before a step; returns their address."""
        cdef float* out = self.rows.data() + env_id * self.count
        if step == 0:
            return self.first + env_id * self.count
        normalize(self.kind, self.size, obs, num_rows, self.count, self.mean, self.std, out)
        return out


def normalized(cnp.ndarray rows, cnp.ndarray mean, cnp.ndarray std):
    """Returns (rows - mean) / std in float32.

    Args:
        rows: Numbers, C-contiguous, shape (k, ...) or (k, n, ...), at least one.
        mean, std: float64, C-contiguous, of the shape of a row.
    """
    check_rows(rows, mean, std)
    cdef cnp.ndarray result = np.empty((<object>rows).shape, np.float32)
    cdef char kind = ord((<object>rows).dtype.kind)
    cdef size_t size = cnp.PyArray_ITEMSIZE(rows), count = cnp.PyArray_SIZE(mean)
    cdef size_t num_rows = cnp.PyArray_SIZE(rows) // count
    cdef bint known
    with nogil:
        known = normalize(kind, size, cnp.PyArray_DATA(rows), num_rows, count, <const double*>cnp.PyArray_DATA(mean),
                          <const double*>cnp.PyArray_DATA(std), <float*>cnp.PyArray_DATA(result))
    if not known:
        raise TypeError(f"rows: expected numbers, got {(<object>rows).dtype}")
    return result


def moments_of(cnp.ndarray rows):
    """Returns the means and variances of rows, float64.

    Args:
        rows: Numbers, C-contiguous, shape (k, ...), at least one.
    """
    shape = (<object>rows).shape[1:]
    cdef cnp.ndarray mean = np.empty(shape), var = np.empty(shape)
    cdef char kind = ord((<object>rows).dtype.kind)
    cdef size_t size = cnp.PyArray_ITEMSIZE(rows), count = cnp.PyArray_SIZE(mean)
    cdef size_t num_rows = cnp.PyArray_SIZE(rows) // count
    cdef bint known
    check_rows(rows, mean, var)
    with nogil:
        known = moments(kind, size, cnp.PyArray_DATA(rows), num_rows, count, <double*>cnp.PyArray_DATA(mean),
                        <double*>cnp.PyArray_DATA(var))
    if not known:
        raise TypeError(f"rows: expected numbers, got {(<object>rows).dtype}")
    return mean, var
