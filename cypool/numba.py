"""What a Numba function needs to be a hook: `numba.cfunc(cypool.numba.SIGNATURE)`. See docs/hooks.md."""
import numpy as np
from numba import carray, from_dtype, types
from numba.extending import intrinsic, overload

# cypool::Transition, with addresses as integers
TRANSITION = from_dtype(np.dtype([
    ("obs", np.uintp), ("info", np.uintp), ("before", np.uintp), ("action", np.uintp), ("out", np.uintp),
    ("reward", np.float64), ("terminated", np.uint8), ("truncated", np.uint8), ("env_id", np.int32),
    ("elapsed_step", np.int32)], align=True))
SIGNATURE = types.void(types.CPointer(TRANSITION))


@intrinsic
def _pointer(typing_context, address):
    def generate(context, builder, signature, arguments):
        return builder.inttoptr(arguments[0], context.get_value_type(types.voidptr))

    return types.voidptr(types.uintp), generate


def transition(pointer):
    """Returns what a hook is called with: its fields are read, and some written, by name. In a Numba function."""
    raise NotImplementedError("to be called in a function that Numba compiles")


def array(address, shape, dtype):
    """Returns an array over the memory at an address, such as `transition.action`. In a Numba function."""
    raise NotImplementedError("to be called in a function that Numba compiles")


def part(addresses, k, shape, dtype):
    """Returns an array over the k-th part of `transition.obs`, `info`, `before` or `out`. In a Numba function."""
    raise NotImplementedError("to be called in a function that Numba compiles")


@overload(transition, inline="always")
def _transition(pointer):
    return lambda pointer: carray(pointer, 1)[0]


@overload(array, inline="always")
def _array(address, shape, dtype):
    return lambda address, shape, dtype: carray(_pointer(address), shape, dtype)


@overload(part, inline="always")
def _part(addresses, k, shape, dtype):
    return lambda addresses, k, shape, dtype: carray(
        _pointer(carray(_pointer(addresses), k + 1, np.uintp)[k]), shape, dtype)
