"""An argument that cannot be looked at."""
from collections.abc import Mapping


class Raising(Mapping):
    """Raises whatever it is asked."""

    def __getattr__(self, name):
        raise ArithmeticError("on purpose")

    def __iter__(self):
        raise ArithmeticError("on purpose")

    __len__ = __getitem__ = __iter__
