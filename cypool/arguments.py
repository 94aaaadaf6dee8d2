"""Checks of single arguments, with messages that name the argument, what was expected and what came."""


def check_int(name, value, least, most):
    """Returns `value` as an int if it is an integer in [least, most].

    Raises:
        TypeError: It is no integer; a bool is none.
        ValueError: It is out of range.
    """
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise TypeError(f"{name}: expected an int, got {value!r}")
    value = value.__index__()
    if not least <= value <= most:
        raise ValueError(f"{name}: expected {least} to {most}, got {value}")
    return value


def check_float(name, value, least, most):
    """Returns `value` as a float if it is a real number in [least, most]; raises as `check_int` does."""
    if isinstance(value, (bool, str, bytes)) or not hasattr(value, "__float__"):
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
    if type(value).__name__ not in ("bool", "bool_"):
        raise TypeError(f"{name}: expected True or False, got {value!r}")
    return bool(value)
