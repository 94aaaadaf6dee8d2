"""Checks of single arguments, with messages that name the argument, what was expected and what came.

Only what a check returns may be used: an object may say something else when it is asked again.
"""
import operator


def check_int(name, value, least, most):
    """Returns `value` as an int if it is an integer in [least, most].

    Raises:
        TypeError: It is no integer; a bool is none.
        ValueError: It is out of range.
    """
    if isinstance(value, bool) or not hasattr(type(value), "__index__"):
        raise TypeError(f"{name}: expected an int, got {value!r}")
    value = operator.index(value)
    if not least <= value <= most:
        raise ValueError(f"{name}: expected {least} to {most}, got {value}")
    return value


def check_float(name, value, least, most):
    """Returns `value` as a float if it is a real number in [least, most]; raises as `check_int` does."""
    if isinstance(value, (bool, str, bytes)) or not hasattr(type(value), "__float__"):
        raise TypeError(f"{name}: expected a number, got {value!r}")
    value = float(value)
    if not least <= value <= most:
        raise ValueError(f"{name}: expected {least} to {most}, got {value}")
    return value


def check_bool(name, value):
    """Returns `value` as a bool if it is one, NumPy's included.

    Raises:
        TypeError: It is none.
    """
    import numpy as np  # importing cypool does without

    if not isinstance(value, (bool, np.bool_)):
        raise TypeError(f"{name}: expected True or False, got {value!r}")
    return bool(value)


def check_choice(name, value, choices):
    """Returns `value` if it is one of the strings `choices`.

    Raises:
        ValueError: It is none of them.
    """
    if not isinstance(value, str) or value not in choices:
        raise ValueError(f"{name}: expected one of {', '.join(map(repr, choices))}, got {value!r}")
    return str(value)
