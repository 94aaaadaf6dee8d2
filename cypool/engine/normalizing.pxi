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


cdef int check_normal(spec, seen, mean, std) except -1:
    """Checks the argument `normal` of `Pool.rollout`."""
    check_parameters(spec.observation.shape, mean, std)
    if seen.observation.shape != spec.observation.shape or seen.observation.dtype != np.float32:
        raise ValueError(f"normal: expected float32 of shape {spec.observation.shape}, got {seen.observation}")
    return 0


cdef int check_parameters(tuple shape, mean, std) except -1:
    for array in (mean, std):
        if array.dtype != np.float64 or array.shape != shape or not array.flags.carray:
            raise ValueError(f"expected C-contiguous float64 of shape {shape}, got {array.dtype} of shape "
                             f"{array.shape}")
    return 0


cdef int check_rows(rows, mean, std) except -1:
    check_parameters(rows.shape[1:], mean, std)
    if len(rows) == 0 or not rows.flags.c_contiguous:
        raise ValueError(f"rows: expected at least one, C-contiguous, got shape {rows.shape}")
    return 0


@cython.final
cdef class NormalRows:
    """The normalized observation of each environment, float32.

    Args:
        spec: Of the environments, which observe one array.
        mean, std: As in `Pool.rollout`.
        num_envs: How many environments there are.
    """
    cdef tuple owners                    # of the next two
    cdef const double* mean
    cdef const double* std
    cdef char kind
    cdef size_t size, count              # bytes of a number, and how many an observation has
    cdef vector[float] rows

    def __init__(self, spec, cnp.ndarray mean, cnp.ndarray std, uint32_t num_envs):
        dtype = spec.observation.dtype
        self.owners, self.kind, self.size = (mean, std), ord(dtype.kind), dtype.itemsize
        self.mean, self.std = <const double*>cnp.PyArray_DATA(mean), <const double*>cnp.PyArray_DATA(std)
        self.count = cnp.PyArray_SIZE(mean)
        self.rows.resize(num_envs * self.count)

    cdef void* of(self, const void* obs, uint32_t env_id, uint32_t num_rows) noexcept nogil:
        """Normalizes the observations of neighbouring environments, and returns where they are then."""
        cdef float* out = self.rows.data() + env_id * self.count
        normalize(self.kind, self.size, obs, num_rows, self.count, self.mean, self.std, out)
        return out


def normalized(cnp.ndarray rows, cnp.ndarray mean, cnp.ndarray std):
    """Returns (rows - mean) / std in float32.

    Args:
        rows: Numbers, C-contiguous, shape (k, ...), at least one.
        mean, std: float64, C-contiguous, of the shape of a row.
    """
    check_rows(rows, mean, std)
    cdef cnp.ndarray result = np.empty((<object>rows).shape, np.float32)
    cdef char kind = ord((<object>rows).dtype.kind)
    cdef size_t size = cnp.PyArray_ITEMSIZE(rows), count = cnp.PyArray_SIZE(mean), num_rows = len(rows)
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
    cdef size_t size = cnp.PyArray_ITEMSIZE(rows), count = cnp.PyArray_SIZE(mean), num_rows = len(rows)
    cdef bint known
    check_rows(rows, mean, var)
    with nogil:
        known = moments(kind, size, cnp.PyArray_DATA(rows), num_rows, count, <double*>cnp.PyArray_DATA(mean),
                        <double*>cnp.PyArray_DATA(var))
    if not known:
        raise TypeError(f"rows: expected numbers, got {(<object>rows).dtype}")
    return mean, var
