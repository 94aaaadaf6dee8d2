"""Checks and converts what a user passes as actions, once per call, so that no environment has to."""
from libc.stdint cimport int64_t
from libc.string cimport memcpy

cimport numpy as cnp

import math
from collections.abc import Mapping

import numpy as np

from cypool.arguments import check_array, shown
from cypool.spec import Discrete

cnp.import_array()


def reader_of(spec, int num_envs):
    """Returns what turns actions of an `EnvSpec` into the array that the engine takes, called with them."""
    if isinstance(spec.action, Mapping):
        return DictReader(spec.action, spec.action_bytes, num_envs)
    return ActionReader(spec.action, num_envs)


def unpack(spec, rows):
    """Returns what a reader of this spec returned, or rows of it, as users pass it.

    Returns:
        `rows`, or, where actions are dicts, a dict of arrays of their own.
    """
    if not isinstance(spec.action, Mapping):
        return rows
    parts, at = {}, 0
    for name, part in spec.action.items():
        end = at + part.dtype.itemsize * math.prod(part.shape)
        parts[name] = rows[:, at:end].copy().view(part.dtype).reshape(len(rows), *part.shape)
        at = end
    return parts


class DictReader:
    """An `ActionReader` for each part of actions that are dicts.

    Args:
        parts: Names and descriptions of the parts.
        action_bytes: What they take together.
        num_envs: The most rows there can be.
    """

    def __init__(self, parts, action_bytes, num_envs):
        self.readers = {name: ActionReader(part, num_envs) for name, part in parts.items()}
        self.action_bytes = action_bytes

    def __call__(self, actions):
        """As `ActionReader`, for a dict of actions.

        Returns:
            uint8, (k, action_bytes): in each row the parts, one behind the other.
        """
        if not isinstance(actions, Mapping) or set(actions) != set(self.readers):
            raise TypeError(f"actions: expected a dict of {', '.join(self.readers)}, got {shown(actions)}")
        parts = []
        for name, reader in self.readers.items():
            part = reader(actions[name])
            parts.append(part.reshape(len(part), -1).view(np.uint8))
        if len({len(part) for part in parts}) > 1:
            rows = ", ".join(f"{name} {len(part)}" for name, part in zip(self.readers, parts, strict=True))
            raise ValueError(f"actions: expected as many rows of each part, got {rows}")
        return np.concatenate(parts, axis=1)


cdef class ActionReader:
    """Turns actions into the array that the engine takes.

    Args:
        space: The `Discrete` or `Array` that describes one action.
        num_envs: The most rows there can be.
    """
    cdef bint discrete
    cdef int64_t n
    cdef int num_envs
    cdef object dtype
    cdef tuple shape
    cdef cnp.ndarray low
    cdef cnp.ndarray high
    # of num_envs discrete actions; nobody else has it, and it never holds one that was not checked
    cdef cnp.ndarray checked

    def __init__(self, space, int num_envs):
        self.num_envs = num_envs
        self.discrete = isinstance(space, Discrete)
        self.dtype = space.dtype
        self.shape = space.shape
        if self.discrete:
            self.n = space.n
            self.checked = np.zeros(num_envs, np.int64)
        else:
            self.low, self.high = np.ascontiguousarray(space.low), np.ascontiguousarray(space.high)

    def __call__(self, actions):
        """Checks actions, one per row.

        Args:
            actions: Array, list or anything `np.asarray` takes, shape (k, *action shape). For discrete
                actions of any integer dtype, else of any real one, or of bool if the actions are. A single action
                without the first axis counts as one row.

        Returns:
            A private copy, C-contiguous, in the dtype of the action space; valid until the next call.

        Raises:
            TypeError: The dtype is of the wrong kind.
            ValueError: A shape, a value out of range, or NaN.
        """
        if self.discrete:
            return self._discrete(actions)
        if type(actions) is not cnp.ndarray:
            actions = check_array("actions", actions, f"{self.dtype} of shape {('k', *self.shape)}")
        # a view of one number may say that it has millions of rows
        if cnp.PyArray_SIZE(actions) > self.num_envs * cnp.PyArray_SIZE(self.low):
            raise ValueError(f"actions: expected shape {('k', *self.shape)}, at most {self.num_envs} rows, got "
                             f"{actions.shape}")
        return self._box(np.array(actions))

    cdef object _discrete(self, object actions):
        cdef cnp.ndarray array
        cdef const int64_t* data
        cdef Py_ssize_t k, rows
        if type(actions) is cnp.ndarray:
            array = actions
        else:
            array = check_array("actions", actions, "integers of shape (k,)")
        if cnp.PyArray_TYPE(array) != cnp.NPY_INT64 or not cnp.PyArray_ISCARRAY_RO(array):
            if array.dtype.kind not in "iu":
                raise TypeError(f"actions: expected integers, got {array.dtype}")
            # a view of one number may say that it has millions of rows
            if array.size > cnp.PyArray_SIZE(self.checked):
                raise ValueError(f"actions: expected at most {cnp.PyArray_SIZE(self.checked)} rows, got shape "
                                 f"{(<object>array).shape}")
            if array.dtype.kind == "u" and array.size and array.max() > np.iinfo(np.int64).max:
                raise ValueError(f"actions: expected integers in [0, {self.n}), got {array.max()}")
            array = array.astype(np.int64, order="C")
        if cnp.PyArray_NDIM(array) > 1:
            raise ValueError(f"actions: expected shape (k,), got {(<object>array).shape}")
        # from here to the end no Python code runs, so nobody can change the array in between
        data = <const int64_t*>cnp.PyArray_DATA(array)
        rows = cnp.PyArray_SIZE(array)
        if rows > cnp.PyArray_SIZE(self.checked):
            raise ValueError(f"actions: expected at most {cnp.PyArray_SIZE(self.checked)} rows, got {rows}")
        for k in range(rows):
            if not 0 <= data[k] < self.n:
                raise ValueError(f"actions: expected integers in [0, {self.n}), got {data[k]} in row {k}")
        memcpy(cnp.PyArray_DATA(self.checked), data, rows * sizeof(int64_t))
        return self.checked if rows == cnp.PyArray_SIZE(self.checked) else self.checked[:rows]

    cdef object _box(self, cnp.ndarray given):
        if given.dtype.kind not in "iuf" and (given.dtype.kind, self.dtype.kind) != ("b", "b"):
            raise TypeError(f"actions: expected {self.dtype}, got {given.dtype}")
        if (<object>given).shape == self.shape:
            given = given[None]
        if (<object>given).shape[1:] != self.shape or given.ndim == 0:
            raise ValueError(f"actions: expected shape {('k', *self.shape)}, got {(<object>given).shape}")
        if cnp.PyArray_ISCARRAY_RO(given):
            taken = self._floats(given)
            if taken is not None:
                return taken
        with np.errstate(invalid="ignore", over="ignore"):
            taken = np.ascontiguousarray(given, self.dtype)
        # as given, because the cast wraps integers; and as taken, because it rounds. NaN fails all comparisons
        within = (given >= self.low) & (given <= self.high) & (taken >= self.low) & (taken <= self.high)
        if self.dtype.kind != "f":
            # not a fraction, nor a bound that is a whole number only as a float
            within &= taken == given
        if not within.all():
            row = tuple(np.argwhere(~within)[0].tolist())
            raise ValueError(f"actions: expected values in [{self.low.min()}, {self.high.max()}], "
                             f"got {given[row]} in row {row[0]}")
        return taken

    cdef object _floats(self, cnp.ndarray given):
        """Returns float32 or float64 actions in the space's dtype, or None if the space has none, or not these."""
        cdef int own = cnp.PyArray_TYPE(given), wanted = cnp.PyArray_TYPE(self.low)
        if own not in (cnp.NPY_FLOAT, cnp.NPY_DOUBLE) or wanted not in (cnp.NPY_FLOAT, cnp.NPY_DOUBLE):
            return None
        cdef cnp.ndarray taken = given if own == wanted else np.empty((<object>given).shape, self.dtype)
        cdef const void* low = cnp.PyArray_DATA(self.low)
        cdef const void* high = cnp.PyArray_DATA(self.high)
        cdef const void* data = cnp.PyArray_DATA(given)
        cdef void* out = cnp.PyArray_DATA(taken)
        cdef Py_ssize_t width = cnp.PyArray_SIZE(self.low), rows = len(given)
        cdef bint within
        if wanted == cnp.NPY_FLOAT:
            if own == cnp.NPY_FLOAT:
                within = _take(<const float*>data, rows, width, <const float*>low, <const float*>high, <float*>out)
            else:
                within = _take(<const double*>data, rows, width, <const float*>low, <const float*>high, <float*>out)
        elif own == cnp.NPY_FLOAT:
            within = _take(<const float*>data, rows, width, <const double*>low, <const double*>high, <double*>out)
        else:
            within = _take(<const double*>data, rows, width, <const double*>low, <const double*>high, <double*>out)
        return taken if within else None


ctypedef fused Given:
    float
    double

ctypedef fused Taken:
    float
    double


cdef bint _take(const Given* data, Py_ssize_t rows, Py_ssize_t width, const Taken* low, const Taken* high,
                Taken* out) noexcept:
    """Copies numbers to out, and returns whether all are within bounds: one pass instead of NumPy's dozen."""
    cdef Py_ssize_t _row, k
    cdef bint within = True
    for _row in range(rows):
        for k in range(width):
            out[k] = <Taken>data[k]
            # as given and as taken, because that rounds; false for NaN; no branches
            within &= (data[k] >= low[k]) & (data[k] <= high[k]) & (out[k] >= low[k]) & (out[k] <= high[k])
        data += width
        out += width
    return within
