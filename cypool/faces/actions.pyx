"""Checks and converts what a user passes as actions, once per call, so that no environment has to."""
from libc.stdint cimport int64_t

cimport numpy as cnp

import numpy as np

from cypool.spec import Discrete

cnp.import_array()


cdef class ActionReader:
    """Turns actions into the array that the engine takes.

    Args:
        space: The `Discrete` or `Array` that describes one action.
    """
    cdef bint discrete
    cdef int64_t n
    cdef object dtype
    cdef tuple shape
    cdef object low
    cdef object high

    def __init__(self, space):
        self.discrete = isinstance(space, Discrete)
        self.dtype = space.dtype
        self.shape = space.shape
        if self.discrete:
            self.n = space.n
        else:
            self.low, self.high = space.low, space.high

    def __call__(self, actions):
        """Checks actions, one per row.

        Args:
            actions: Array, list or anything `np.asarray` takes, shape (k, *action shape). For discrete
                actions of any integer dtype, else of any real one. A single action without the first
                axis counts as one row.

        Returns:
            The same values, C-contiguous, in the dtype of the action space; `actions` itself if it is that.

        Raises:
            TypeError: The dtype is of the wrong kind.
            ValueError: A shape, a value out of range, or NaN.
        """
        if self.discrete:
            return self._discrete(actions)
        return self._box(np.asarray(actions))

    cdef object _discrete(self, object actions):
        cdef cnp.ndarray array
        cdef const int64_t* data
        cdef Py_ssize_t k, rows
        if type(actions) is cnp.ndarray:
            array = actions
        else:
            array = np.asarray(actions)
        if cnp.PyArray_TYPE(array) != cnp.NPY_INT64 or not cnp.PyArray_ISCARRAY_RO(array):
            if array.dtype.kind not in "iu":
                raise TypeError(f"actions: expected integers, got {array.dtype}")
            if array.dtype.kind == "u" and array.size and array.max() > np.iinfo(np.int64).max:
                raise ValueError(f"actions: expected integers in [0, {self.n}), got {array.max()}")
            array = array.astype(np.int64, order="C")
        if cnp.PyArray_NDIM(array) != 1:
            if cnp.PyArray_NDIM(array) != 0:
                raise ValueError(f"actions: expected shape (k,), got {(<object>array).shape}")
            array = array.reshape(1)
        data = <const int64_t*>cnp.PyArray_DATA(array)
        rows = cnp.PyArray_SIZE(array)
        for k in range(rows):
            if not 0 <= data[k] < self.n:
                raise ValueError(f"actions: expected integers in [0, {self.n}), got {data[k]} in row {k}")
        return array

    cdef object _box(self, cnp.ndarray given):
        if given.dtype.kind not in "iuf":
            raise TypeError(f"actions: expected {self.dtype}, got {given.dtype}")
        if (<object>given).shape == self.shape:
            given = given[None]
        if (<object>given).shape[1:] != self.shape or given.ndim == 0:
            raise ValueError(f"actions: expected shape {('k', *self.shape)}, got {(<object>given).shape}")
        # compared before the cast, which wraps integers and rounds floats; NaN fails both comparisons
        within = (given >= self.low) & (given <= self.high)
        if not within.all():
            row = tuple(np.argwhere(~within)[0].tolist())
            raise ValueError(f"actions: expected values in [{self.low.min()}, {self.high.max()}], "
                             f"got {given[row]} in row {row[0]}")
        return np.ascontiguousarray(given, self.dtype)
