"""Checks and converts what a user passes as actions, once per call, so that no environment has to."""
cimport numpy as cnp

import math
from collections.abc import Mapping

import numpy as np

from cypool.util.arguments import check_array, shown
from cypool.spec import Discrete

from cypool.engine.action_check cimport ActionPart, is_checkable, part_of, take_array

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
    cdef int num_envs
    cdef object space
    cdef tuple shape
    cdef Py_ssize_t count            # numbers of an action
    cdef bint has_part               # as `part`; not of float16, say
    cdef ActionPart part
    # of num_envs discrete actions; nobody else has it, and it never holds one that was not checked
    cdef cnp.ndarray checked

    def __init__(self, space, int num_envs):
        self.num_envs = num_envs
        self.discrete = isinstance(space, Discrete)
        self.space, self.shape = space, space.shape
        self.count = math.prod(space.shape)
        # bools are numbers for the engine, but users pass no others
        self.has_part = is_checkable(space) and space.dtype.kind != "b"
        if self.has_part:
            self.part = part_of(space, 0)
        self.checked = np.zeros(num_envs if self.discrete else 0, np.int64)

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
        if type(actions) is not cnp.ndarray:
            kind = "integers" if self.discrete else self.space.dtype
            actions = check_array("actions", actions, f"{kind} of shape {('k', *self.shape)}")
        return self._discrete(actions) if self.discrete else self._box(actions)

    cdef object _discrete(self, cnp.ndarray array):
        cdef Py_ssize_t rows = cnp.PyArray_SIZE(array)
        # a view of one number may say that it has millions of rows
        if cnp.PyArray_NDIM(array) > 1 or rows > self.num_envs:
            raise ValueError(f"actions: expected shape (k,), at most {self.num_envs} rows, got {(<object>array).shape}")
        if not cnp.PyTypeNum_ISINTEGER(cnp.PyArray_TYPE(array)):
            raise TypeError(f"actions: expected integers, got {array.dtype}")
        if not cnp.PyArray_ISCARRAY_RO(array):
            array = np.array(array, array.dtype.newbyteorder("="), order="C")
        if not take_array(array, self.part, cnp.PyArray_DATA(self.checked)):
            # what was written last was not checked
            self.checked.fill(0)
            # another thread may change the user's array meanwhile
            array = np.array(array)
            row = np.argmax((array < 0) | (array >= self.space.n))
            raise ValueError(f"actions: expected integers in [0, {self.space.n}), got {array.flat[row]} in row {row}")
        return self.checked if rows == self.num_envs else self.checked[:rows]

    cdef object _box(self, cnp.ndarray array):
        cdef cnp.ndarray taken
        wanted = self.space.dtype
        # a view of one number may say that it has millions of rows
        if cnp.PyArray_SIZE(array) > self.num_envs * self.count:
            raise ValueError(f"actions: expected shape {('k', *self.shape)}, at most {self.num_envs} rows, got "
                             f"{(<object>array).shape}")
        if array.dtype.kind not in "iuf" and (array.dtype.kind, wanted.kind) != ("b", "b"):
            raise TypeError(f"actions: expected {wanted}, got {array.dtype}")
        if (<object>array).shape == self.shape:
            array = array[None]
        if (<object>array).shape[1:] != self.shape or cnp.PyArray_NDIM(array) == 0:
            raise ValueError(f"actions: expected shape {('k', *self.shape)}, got {(<object>array).shape}")
        taken = np.empty((<object>array).shape, wanted)
        if self.has_part and take_array(array, self.part, cnp.PyArray_DATA(taken)):
            return taken
        # another thread may change the user's array meanwhile
        return self._converted(np.array(array))

    cdef object _converted(self, cnp.ndarray given):
        """Returns actions in an order or of a dtype that `take_array` does not know; raises if they are wrong."""
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
