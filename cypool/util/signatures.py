"""Functions in C that users pass: an address, a capsule of Cython's, a ctypes function pointer or a Numba `cfunc`."""
from __future__ import annotations

import ctypes
from dataclasses import dataclass
from typing import Any

import numpy as np

from cypool.util.arguments import shown

# the base class of ctypes' function pointers
_FUNCTION_POINTER = vars(ctypes)["_CFuncPtr"]
# in messages
C_FUNCTION = "a C function (an address, a Cython capsule, a ctypes function pointer or a Numba cfunc)"


class Agents(ctypes.Structure):
    """`cypool::Agents`, for ctypes; see `cypool/slot.h`."""

    _fields_ = [
        ("count", ctypes.c_uint32),
        ("reward", ctypes.POINTER(ctypes.c_double)),
        ("terminated", ctypes.POINTER(ctypes.c_uint8)),
        ("truncated", ctypes.POINTER(ctypes.c_uint8)),
        ("alive", ctypes.POINTER(ctypes.c_uint8)),
        ("turn", ctypes.POINTER(ctypes.c_uint8)),
        ("acted", ctypes.POINTER(ctypes.c_uint8)),
        ("present", ctypes.POINTER(ctypes.c_uint8)),
        ("episode_return", ctypes.POINTER(ctypes.c_double)),
        ("episode_length", ctypes.POINTER(ctypes.c_int64)),
    ]


def dtype_of(struct: type[ctypes.Structure]) -> np.dtype[Any]:
    """Returns a struct for NumPy and Numba, with addresses as integers."""
    return np.dtype([(name, np.uintp if kind is ctypes.c_void_p or hasattr(kind, "contents") else kind)
                     for name, kind, *_ in struct._fields_], align=True)


@dataclass(frozen=True)
class Signature:
    """The signature of a C function that takes a pointer to a struct.

    Attributes:
        struct: The struct, for ctypes.
        capsule: Cython's name of the function's type.
        cython: How the function is declared in Cython.
        returns: Its result, for ctypes; None for void.
        numba: The name of the signature in `cypool.numba`, and its declaration there.
    """

    struct: type[ctypes.Structure]
    capsule: str
    cython: str
    returns: Any
    numba: tuple[str, str]


def address_of(name: str, function: Any, signature: Signature, expected: str) -> int | None:
    """Returns the address of a C function, checked as far as its kind allows; None for a function of a different kind.

    Args:
        name: The name of the argument.
        expected: The expected value, for the message about a wrong address.

    Raises:
        TypeError: It has a different signature.
        ValueError: The address is 0 or below.
    """
    if isinstance(function, int) and not isinstance(function, bool):
        # the first page of memory has no functions
        if not 4096 <= function < 2**64:
            raise ValueError(f"{name}: expected {expected}, got {shown(function)}, which is not an address")
        return function
    kind = type(function)
    if kind.__name__ == "PyCapsule":
        return _in_capsule(name, function, signature)
    if isinstance(function, _FUNCTION_POINTER):
        return _of_ctypes(name, function, signature)
    if kind.__module__.partition(".")[0] == "numba" and hasattr(function, "address"):
        return _of_numba(name, function, signature)
    return None


def _in_capsule(name: str, capsule: object, signature: Signature) -> int:
    get_name = ctypes.pythonapi.PyCapsule_GetName
    get_name.restype, get_name.argtypes = ctypes.c_char_p, [ctypes.py_object]
    said = get_name(capsule)
    found = (said or b"").decode(errors="replace")
    if found != signature.capsule:
        raise TypeError(f"{name}: expected a capsule for a C function {signature.capsule!r}, as in a Cython module's "
                        f"__pyx_capi__ for a {signature.cython!r}, got one for {found!r}")
    get_pointer = ctypes.pythonapi.PyCapsule_GetPointer
    get_pointer.restype, get_pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    result: int = get_pointer(capsule, said)
    return result


def _of_ctypes(name: str, function: Any, signature: Signature) -> int:
    takes = function.argtypes
    fits = takes is not None and len(takes) == 1 and takes[0] in (ctypes.c_void_p, ctypes.POINTER(signature.struct))
    if function.restype is not signature.returns or not fits:
        returns = None if signature.returns is None else signature.returns.__name__
        raise TypeError(f"{name}: expected a ctypes function with restype {returns} and argtypes "
                        f"[POINTER({signature.struct.__name__})] or [c_void_p], got restype {function.restype!r} and "
                        f"argtypes {takes!r}")
    address = ctypes.cast(function, ctypes.c_void_p).value
    if not address:
        raise ValueError(f"{name}: expected the address of a function, got a null pointer")
    return address


def _of_numba(name: str, function: Any, signature: Signature) -> int:
    from numba import types

    found = function._sig
    fits = len(found.args) == 1 and isinstance(found.args[0], types.RawPointer | types.CPointer)
    wanted = types.void if signature.returns is None else types.int32
    if found.return_type != wanted or not fits:
        called, reads = signature.numba
        raise TypeError(f"{name}: expected a Numba cfunc with cypool.numba.{called}, {reads}, got one with {found}")
    result: int = function.address
    return result
