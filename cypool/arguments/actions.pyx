"""Checks and converts actions that are single arrays, and arrays of several parts in one pass."""
cimport cython
from cpython.object cimport PyObject
from libc.stdint cimport int64_t
from libcpp.vector cimport vector

cimport numpy as cnp

import math
from collections.abc import Mapping

import numpy as np

from cypool.util.arguments import check_array, shown_numbers, shown_shape
from cypool.spec import Discrete

from cypool.engine.engine cimport ActionPart, is_checkable, part_of, copy_checked_array

cnp.import_array()

cdef extern from "cypool/engine/uniquely_referenced.h":
    bint is_uniquely_referenced "CYPOOL_IS_UNIQUELY_REFERENCED"(PyObject* object) noexcept


cdef bint has_dims(cnp.ndarray array, const vector[cnp.npy_intp]& dims) noexcept:
    """Returns whether these are rows of actions of this shape."""
    cdef size_t k
    if cnp.PyArray_NDIM(array) != <int>dims.size() + 1:
        return False
    for k in range(dims.size()):
        if cnp.PyArray_DIM(array, <int>k + 1) != dims[k]:
            return False
    return True


cdef class ArraysReader:
    """Copies actions in one pass if they are arrays of the usual shape, and leaves others to a reader.

    Args:
        action: Describes the actions of a row: an array, or a dict of arrays.
        most: How long the first axis can be.
        reader: Accepts any valid actions, and reports the fault in invalid ones.
        axes: Lengths of the axes between the first one and those of an action, which are merged in the result.
    """
    cdef readonly object reader
    cdef list names                         # of the parts; None: actions are one array
    cdef vector[vector[cnp.npy_intp]] dims  # of the actions of each, but for the first axis
    cdef vector[ActionPart] parts
    cdef vector[cnp.npy_intp] taken_dims    # of the result, with a place for the rows
    cdef int taken_type                     # NumPy's number of its dtype
    cdef Py_ssize_t most, rows_each, row_bytes

    def __init__(self, action, most, reader, axes=()):
        self.reader, self.most, self.row_bytes, self.rows_each = reader, most, 0, math.prod(axes)
        self.names = list(action) if isinstance(action, Mapping) else None
        described = [action] if self.names is None else list(action.values())
        self.dims = [(*axes, *part.shape) for part in described]
        # bools are numbers for the engine, but users pass no others
        takes_all = all([is_checkable(part) and part.dtype.kind != "b" for part in described])
        for part in described if takes_all else []:
            self.parts.push_back(part_of(part, self.row_bytes))
            self.row_bytes += part.dtype.itemsize * math.prod(part.shape)
        shape, dtype = ((self.row_bytes,), np.dtype(np.uint8)) if self.names else (action.shape, action.dtype)
        self.taken_dims, self.taken_type = [0, *shape], dtype.num

    def __call__(self, actions, *acting):
        """For `GroupReader`, or a `DictReader` of these."""
        taken = None if acting else self.take(actions)
        return self.reader(actions, *acting) if taken is None else taken

    cdef object take(self, actions):
        """Returns the rows; None if the arrays are unsupported or invalid."""
        cdef Py_ssize_t rows = 0
        cdef size_t k, n = self.parts.size()
        cdef cnp.ndarray part, taken = None
        cdef vector[cnp.npy_intp] dims = self.taken_dims
        if self.names is not None and (type(actions) is not dict or <size_t>len(actions) != n):
            return None
        for k in range(n):
            given = actions if self.names is None else (<dict>actions).get(self.names[k])
            if type(given) is not cnp.ndarray:
                return None
            part = given
            # a view of one number may say that it has millions of rows
            if not has_dims(part, self.dims[k]) or not cnp.PyArray_ISCARRAY_RO(part):
                return None
            if taken is None:
                rows = cnp.PyArray_DIM(part, 0)
                if not 0 < rows <= self.most:
                    return None
                dims[0] = rows * self.rows_each
                taken = cnp.PyArray_EMPTY(<int>dims.size(), dims.data(), self.taken_type, 0)
            if cnp.PyArray_DIM(part, 0) != rows or not copy_checked_array(
                    part, self.parts[k], cnp.PyArray_BYTES(taken) + self.parts[k].offset, self.row_bytes):
                return None
        return taken


cdef class ActionReader:
    """Turns actions into the engine's array.

    Args:
        space: The `Discrete` or `Array` that describes one action.
        num_envs: The maximum number of rows.
    """
    cdef bint discrete
    cdef int num_envs
    cdef object space, expected      # the second in messages: which shape
    cdef tuple shape
    cdef vector[cnp.npy_intp] dims   # the same
    cdef Py_ssize_t count            # numbers of an action
    cdef bint has_part               # as `part`; not of float16, say
    cdef ActionPart part
    # memory for num_envs discrete actions; None while a call writes to it, as a second thread, which the gate will turn
    # away, may call at any time
    cdef cnp.ndarray checked

    def __init__(self, space, int num_envs):
        self.num_envs = num_envs
        self.discrete = isinstance(space, Discrete)
        self.space, self.shape, self.dims = space, space.shape, space.shape
        self.expected = f"shape {shown_shape('k', *space.shape)} with k from 1 to {num_envs}"
        self.count = math.prod(space.shape)
        # bools are numbers for the engine, but users pass no others
        self.has_part = is_checkable(space) and space.dtype.kind != "b"
        if self.has_part:
            self.part = part_of(space, 0)
        self.checked = np.zeros(num_envs if self.discrete else 0, np.int64)

    def read(self, actions):
        """Checks actions, one per row.

        Args:
            actions: An array, a list or anything else that `np.asarray` accepts, shape (k, *action shape). For discrete
                actions any integer dtype, otherwise any real dtype, or bool for bool actions. A single action without
                the first axis counts as one row.

        Returns:
            A private copy, C-contiguous, in the dtype of the action space. Later calls do not change it while it is
            referenced elsewhere.

        Raises:
            TypeError: The dtype is of the wrong kind.
            ValueError: The shape is wrong, a value is out of range, or NaN.
        """
        if type(actions) is not cnp.ndarray:
            kind = "integers" if self.discrete else self.space.dtype
            actions = check_array("actions", actions, f"{kind} of {self.expected}")
        return self._discrete(actions) if self.discrete else self._box(actions)

    cdef object _discrete(self, cnp.ndarray array):
        cdef cnp.npy_intp rows = cnp.PyArray_SIZE(array)
        cdef cnp.ndarray checked
        # a view of one number may say that it has millions of rows
        if cnp.PyArray_NDIM(array) > 1 or not 0 < rows <= self.num_envs:
            raise self._wrong(array)
        if not cnp.PyTypeNum_ISINTEGER(cnp.PyArray_TYPE(array)):
            raise TypeError(f"actions: expected integers, got {shown_numbers(array)}")
        if not cnp.PyArray_ISCARRAY_RO(array):
            array = np.array(array, array.dtype.newbyteorder("="), order="C")
        checked = self._reusable_buffer()
        if not copy_checked_array(array, self.part, cnp.PyArray_DATA(checked), sizeof(int64_t)):
            # another thread may change the user's array meanwhile
            array = np.array(array)
            row = np.argmax((array < 0) | (array >= self.space.n))
            raise ValueError(f"actions: expected integers in [0, {self.space.n}), got {array.flat[row]} in row {row}")
        with cython.critical_section(self):
            self.checked = checked
        return checked if rows == cnp.PyArray_SIZE(checked) else checked[:rows]

    cdef cnp.ndarray _reusable_buffer(self):
        """Returns `checked`, which is None then; or a new array if another thread, or a step in flight, uses it."""
        cdef cnp.npy_intp num_envs = self.num_envs
        cdef cnp.ndarray checked
        with cython.critical_section(self):
            checked, self.checked = self.checked, None
        # a new array in each call would cost more: NumPy counts references to its allocator, and threads wait for each
        # other's counts
        if checked is None or not is_uniquely_referenced(<PyObject*>checked):
            checked = cnp.PyArray_SimpleNew(1, &num_envs, cnp.NPY_INT64)
        return checked

    cdef object _box(self, cnp.ndarray array):
        cdef cnp.ndarray taken
        wanted = self.space.dtype
        # a view of one number may say that it has millions of rows
        if not 0 < cnp.PyArray_SIZE(array) <= self.num_envs * self.count:
            raise self._wrong(array)
        given = array.dtype
        if given is not wanted and given.kind not in "iuf" and (given.kind, wanted.kind) != ("b", "b"):
            raise TypeError(f"actions: expected {wanted}, got {shown_numbers(array)}")
        if cnp.PyArray_NDIM(array) == <int>self.dims.size() and (<object>array).shape == self.shape:
            array = array[None]
        if not has_dims(array, self.dims):
            raise self._wrong(array)
        taken = cnp.PyArray_EMPTY(cnp.PyArray_NDIM(array), cnp.PyArray_DIMS(array), wanted.num, 0)
        if self.has_part and copy_checked_array(
                array, self.part, cnp.PyArray_DATA(taken), self.count * cnp.PyArray_ITEMSIZE(taken)):
            return taken
        # another thread may change the user's array meanwhile
        return self._converted(np.array(array))

    cdef object _wrong(self, cnp.ndarray array):
        return ValueError(f"actions: expected {self.expected}, got {(<object>array).shape}")

    cdef object _converted(self, cnp.ndarray given):
        """Returns actions in an order or a dtype that `copy_checked_array` does not know; raises if they are wrong."""
        wanted, low, high = self.space.dtype, self.space.low, self.space.high
        with np.errstate(invalid="ignore", over="ignore"):
            taken = np.ascontiguousarray(given, wanted)
        # as given, because the cast wraps integers; and as taken, because it rounds. NaN fails all comparisons
        within = (given >= low) & (given <= high) & (taken >= low) & (taken <= high)
        if wanted.kind != "f":
            # not a fraction, nor a bound that is a whole number only as a float
            within &= taken == given
        if not within.all():
            row = tuple(np.argwhere(~within)[0].tolist())
            raise ValueError(f"actions: expected values in [{low.min()}, {high.max()}], got {given[row]} in row "
                             f"{row[0]}")
        return taken
