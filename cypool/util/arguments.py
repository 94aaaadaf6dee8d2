"""Checks of single arguments, with messages that name the argument, the expected value and the given one.

Only the result of a check may be used: an object may give a different answer the next time.
"""
from __future__ import annotations

import itertools
import operator
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from cypool.util.typing import Seed

LONGEST = 200  # characters of a value in a message
MAX_ENVS = 2**20  # of a pool
MAX_RANGE = 2**27  # numbers of a `range`, which takes no memory itself


def shown(value: object) -> str:
    """Returns how a message shows a value, whatever the value's `__repr__` does: shortened, or only its type."""
    try:
        # a repr may fail: that of an int with thousands of digits does
        text = repr(value)
    except Exception:
        return f"a value of type {type(value).__name__} that cannot be printed"
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}..."


def shown_shape(*dimensions: int | str) -> str:
    """Returns how a message shows a shape some of whose dimensions are names: "(k, 3)"."""
    return f"({', '.join(map(str, dimensions))}{',' * (len(dimensions) == 1)})"


def shown_numbers(array: NDArray[Any]) -> str:
    """Returns how a message shows an array of the wrong dtype: the dtype of numbers, the values of anything else."""
    if array.dtype.kind in "biufc":
        return str(array.dtype)
    return shown(array.item() if array.ndim == 0 else array)


def suggestion(word: str, known: Iterable[str], shown_as: Callable[[str], Any] = str, cutoff: float = 0.6) -> str:
    """Returns " (did you mean ...?)" with the known words that are closest, or "" if none is.

    Args:
        shown_as: Returns the text for a known word.
        cutoff: How similar they have to be: 0 not at all, 1 equal.
    """
    import difflib  # importing cypool does without

    close = [shown_as(each) for each in difflib.get_close_matches(word, known, n=3, cutoff=cutoff)]
    return f" (did you mean {' or '.join(close)}?)" if close else ""


def check_int(name: str, value: Any, minimum: int, maximum: int) -> int:
    """Returns `value` as an int if it is an integer in [minimum, maximum].

    Raises:
        TypeError: It is not an integer; a bool does not count as one.
        ValueError: It is out of range.
    """
    if type(value) is int:
        # in no block that would take a signal handler's exception for the value's
        number = value
    elif isinstance(value, bool) or not hasattr(type(value), "__index__"):
        raise TypeError(f"{name}: expected an int, got {shown(value)}")
    else:
        try:
            number = operator.index(value)
        except Exception as error:
            # an array has an __index__, too
            raise TypeError(f"{name}: expected an int, got {shown(value)}") from error
    if not minimum <= number <= maximum:
        raise ValueError(f"{name}: expected {minimum} to {maximum}, got {shown(number)}")
    return number


class NoOptionsError(ValueError):
    """An environment without reset options was given some."""


def check_reset_options(options: dict[Any, Any], known: tuple[str, ...]) -> None:
    """Raises a ValueError if `options` of a reset has a name that is not in `known`."""
    if not options.keys() <= set(known):
        raise ValueError(f"options: expected {', '.join(known)} or reset_mask, got {shown(list(options))}")


def check_float(name: str, value: Any, minimum: float, maximum: float) -> float:
    """Returns `value` as a float if it is a real number in [minimum, maximum]; raises as `check_int` does."""
    if type(value) is float:
        # as in `check_int`
        number = value
    elif isinstance(value, (bool, str, bytes)) or not hasattr(type(value), "__float__"):
        raise TypeError(f"{name}: expected a number, got {shown(value)}")
    else:
        try:
            number = float(value)
        except OverflowError as error:
            raise ValueError(f"{name}: expected {minimum} to {maximum}, got {shown(value)}") from error
        except Exception as error:
            raise TypeError(f"{name}: expected a number, got {shown(value)}") from error
    if not minimum <= number <= maximum:
        raise ValueError(f"{name}: expected {minimum} to {maximum}, got {number}")
    return number


def check_bool(name: str, value: object) -> bool:
    """Returns `value` as a bool if it is one, NumPy's included.

    Raises:
        TypeError: It is not one.
    """
    # as nearly always, and `recv` of EnvPool's interface asks each time
    if isinstance(value, bool):
        return value
    import numpy as np  # importing cypool does without

    if not isinstance(value, np.bool_):
        raise TypeError(f"{name}: expected True or False, got {shown(value)}")
    return bool(value)


def check_choice(name: str, value: object, choices: Iterable[str]) -> str:
    """Returns `value` if it is one of the strings `choices`.

    Raises:
        ValueError: It is not one of them.
    """
    if not isinstance(value, str) or value not in choices:
        raise ValueError(f"{name}: expected one of {', '.join(map(repr, choices))}, got {shown(value)}")
    return str(value)


def check_list(name: str, value: Any, expected: str) -> list[Any]:
    """Returns the items of an iterable as a list; a str does not count as one.

    Args:
        expected: The expected value, for the message.

    Raises:
        TypeError: It is not one, or raises while it is read.
    """
    if type(value) in (list, tuple):
        # as in `check_int`
        return list(value)
    if isinstance(value, (str, bytes)) or not hasattr(type(value), "__iter__"):
        raise TypeError(f"{name}: expected {expected}, got {shown(value)}")
    try:
        return list(value)
    except Exception as error:
        raise TypeError(f"{name}: expected {expected}, got {shown(value)}: {error}") from error


def check_dict(name: str, value: Any, keys: Iterable[str] | None, expected: str) -> dict[str, Any]:
    """Returns the items of a mapping that has these keys and no others, as a dict.

    Args:
        keys: None: any strings.
        expected: The expected value, for the message.

    Raises:
        TypeError: It is not one, or raises while it is read.
    """
    cause, got = None, ""
    try:
        if isinstance(value, Mapping):
            items = dict(value)
            if all(isinstance(key, str) for key in items) if keys is None else items.keys() == set(keys):
                return items
            # the values may be large arrays
            got = f"the keys {shown(list(items))}"
    except Exception as error:
        cause = error
    why = "" if cause is None else f": {cause}"
    raise TypeError(f"{name}: expected {expected}, got {got or shown(value)}{why}") from cause


def check_array(name: str, value: Any, expected: str) -> NDArray[Any]:
    """Returns a value as an array, by `numpy.asarray`.

    Args:
        expected: The expected value, for the message.

    Raises:
        ValueError, TypeError: NumPy cannot convert it: rows differ in length, or the object raises.
    """
    import numpy as np

    if type(value) is np.ndarray:
        # as in `check_int`
        return value
    if type(value) in (list, tuple) and set(map(type, value)) in ({int}, {float}):
        # NumPy takes any of these
        return np.asarray(value)
    try:
        if isinstance(value, range) and len(value) > MAX_RANGE:
            raise ValueError(f"at most {MAX_RANGE} numbers")
        if isinstance(value, Mapping):
            # NumPy makes an array of one object of it
            raise TypeError("an array or numbers, not a dict")
        if isinstance(value, range):
            # NumPy would make a list of it first, and a Python without the GIL takes more memory for that than there is
            return np.arange(value.start, value.stop, value.step)
        return np.asarray(value)
    except Exception as error:
        kind = ValueError if isinstance(error, (ValueError, MemoryError)) else TypeError
        raise kind(f"{name}: expected {expected}, got {shown(value)}: {error}") from error


def check_path(name: str, value: Any) -> str:
    """Returns `value` as a str if it is a path: a str, bytes or `os.PathLike`.

    Raises:
        TypeError: It is not one; a number, which `open` takes for an open file, does not count.
        ValueError: It cannot be the name of a file.
    """
    try:
        path = os.fsdecode(value)
        os.fsencode(path)
    except Exception as error:
        raise TypeError(f"{name}: expected a path, got {shown(value)}") from error
    if "\0" in path:
        raise ValueError(f"{name}: expected a path, got {shown(value)}")
    return path


def seeds_of(seed: Seed, num_envs: int, max_seed: int | None) -> list[int | None] | None:
    """Returns one seed per environment, or None for None.

    Raises:
        TypeError: A seed is not an integer.
        ValueError: A seed is negative or above `max_seed`, or their number differs from that of environments.
    """
    import numpy as np

    if seed is None:
        return None
    if isinstance(seed, (int, np.integer)) and not isinstance(seed, bool):
        seeds: list[int | None] = [int(seed) + i for i in range(num_envs)]
    elif (isinstance(seed, Sequence) and not isinstance(seed, (str, bytes, bytearray, memoryview))) or (
            isinstance(seed, np.ndarray) and seed.ndim > 0):
        # one more than there are shows that they are too many
        given = itertools.islice(iter(seed), num_envs + 1)
        seeds = [None if s is None else s.item() if isinstance(s, np.generic) else s for s in given]
        if len(seeds) != num_envs:
            raise ValueError(f"seed: expected one seed for each of {num_envs} envs, got {shown(seed)}")
    else:
        raise TypeError(f"seed: expected an int or a sequence of ints, got {shown(seed)}")
    for s in seeds:
        if s is None:
            continue
        if not isinstance(s, int) or isinstance(s, bool):
            raise TypeError(f"seed: expected ints, got {shown(s)}")
        if s < 0 or (max_seed is not None and s > max_seed):
            most = "" if max_seed is None else f" and at most {max_seed}"
            raise ValueError(f"seed: expected at least 0{most} for every env, got {shown(s)}")
    return seeds
