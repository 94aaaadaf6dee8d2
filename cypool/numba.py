"""Support for Numba functions as hooks: `numba.cfunc(cypool.numba.SIGNATURE)`; and as policies: POLICY_SIGNATURE.

See docs/how_to/hooks.md and docs/how_to/policies.md.
"""
from __future__ import annotations

from typing import Any

import numpy as np

try:
    from numba import carray, from_dtype, types
    from numba.extending import intrinsic, overload
except ImportError as error:
    raise ImportError(f"cypool.numba: importing Numba failed ({error}): pip install numba") from error

from cypool.hooks import TRANSITION_DTYPE
from cypool.policies import DECISION_DTYPE

TRANSITION = from_dtype(TRANSITION_DTYPE)
SIGNATURE = types.void(types.CPointer(TRANSITION))
DECISION = from_dtype(DECISION_DTYPE)
POLICY_SIGNATURE = types.int32(types.CPointer(DECISION))


@intrinsic
def _pointer(typing_context: Any, address: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.inttoptr(arguments[0], context.get_value_type(types.voidptr))

    return types.voidptr(types.uintp), generate


def transition(pointer: Any) -> Any:
    """Returns the argument of a hook; its fields can be read, and some also written, by name. For Numba functions."""
    raise NotImplementedError("can only be called in a function that Numba compiles")


def decision(pointer: Any) -> Any:
    """Returns the argument of a policy; its fields can be read by name. For Numba functions."""
    raise NotImplementedError("can only be called in a function that Numba compiles")


def array(address: Any, shape: Any, dtype: Any) -> Any:
    """Returns an array over the memory at an address, such as `transition.action`. For Numba functions."""
    raise NotImplementedError("can only be called in a function that Numba compiles")


def part(addresses: Any, k: int, shape: Any, dtype: Any) -> Any:
    """Returns an array over the k-th part of `transition.obs`, `info`, `before` or `out`. For Numba functions."""
    raise NotImplementedError("can only be called in a function that Numba compiles")


# Numba compares these signatures with those of the lambdas: no annotations
@overload(transition, inline="always")
def _transition(pointer):  # type: ignore[no-untyped-def]
    return lambda pointer: carray(pointer, 1)[0]


@overload(decision, inline="always")
def _decision(pointer):  # type: ignore[no-untyped-def]
    return lambda pointer: carray(pointer, 1)[0]


@overload(array, inline="always")
def _array(address, shape, dtype):  # type: ignore[no-untyped-def]
    return lambda address, shape, dtype: carray(_pointer(address), shape, dtype)


@overload(part, inline="always")
def _part(addresses, k, shape, dtype):  # type: ignore[no-untyped-def]
    return lambda addresses, k, shape, dtype: carray(
        _pointer(carray(_pointer(addresses), k + 1, np.uintp)[k]), shape, dtype)
