"""C policies: user functions that choose the actions of a rollout on the threads of the environments.

A policy is called once for each environment and step, without the GIL: `int (*)(cypool::Decision*)`, see
`cypool/policy.h` and docs/how_to/policies.md.
"""
from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from cypool.util.arguments import shown
from cypool.util.signatures import C_FUNCTION, Agents, Signature, address_of, dtype_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from cypool.spec import EnvSpec


class Decision(ctypes.Structure):
    """`cypool::Decision`, for ctypes; see `cypool/policy.h`."""

    _fields_ = [
        ("obs", ctypes.POINTER(ctypes.c_void_p)),
        ("info", ctypes.POINTER(ctypes.c_void_p)),
        ("action", ctypes.c_void_p),
        ("state", ctypes.c_void_p),
        ("parameters", ctypes.c_void_p),
        ("step", ctypes.c_int64),
        ("env_id", ctypes.c_int32),
        ("elapsed_step", ctypes.c_int32),
        ("ended", ctypes.c_uint8),
        ("agents", ctypes.POINTER(Agents)),
    ]


DECISION_DTYPE = dtype_of(Decision)

_SIGNATURE = Signature(Decision, "int (struct cypool::Decision *)", "cdef api int f(Decision* d) noexcept nogil",
                       ctypes.c_int, ("POLICY_SIGNATURE", "int32(CPointer(Decision))"))


class Policy:
    """A C policy together with its memory. A function without memory can be passed directly.

    Args:
        function: An address (int), a Cython capsule, a ctypes function pointer, or a Numba `cfunc`.
        state: Array of any dtype, shape (num_envs, ...), C-contiguous and writeable: the function gets its
            environment's row and may change it. Values persist between rollouts.
        parameters: C-contiguous array of any dtype and shape for the function to read, such as weights.

    Attributes:
        state, parameters: These arrays.

    Raises:
        TypeError, ValueError: The function is of the wrong kind or has the wrong signature, or the arrays are invalid.
    """

    # of cypool's own policies: a function for neighbouring environments, and arrays that it fills with the actions
    _many_address = _address = 0
    _state: NDArray[Any] | None = None
    _outputs: Mapping[str, NDArray[Any]] = MappingProxyType({})

    def __init__(self, function: Any, *, state: NDArray[Any] | None = None, parameters: NDArray[Any] | None = None):
        if "_state" in self.__dict__:
            # a rollout in another thread may be using it
            raise RuntimeError("the policy is already initialized")
        address = address_of("function", function, _SIGNATURE, C_FUNCTION)
        if address is None:
            raise TypeError(f"function: expected {C_FUNCTION}, got {shown(function)}")
        for name, array in (("state", state), ("parameters", parameters)):
            if array is not None and not (isinstance(array, np.ndarray) and array.flags.c_contiguous
                                          and not array.dtype.hasobject):
                raise TypeError(f"{name}: expected a C-contiguous array of numbers, got {shown(array)}")
        if state is not None and (state.ndim == 0 or not state.flags.writeable):
            raise ValueError("state: expected a writeable array of shape (num_envs, ...), got "
                             + ("a scalar" if state.ndim == 0 else "a read-only one"))
        self.state, self.parameters = state, parameters
        self._address = address
        self._parameters_address = 0 if parameters is None else parameters.ctypes.data
        # keep the code and the arrays alive, whatever the attributes become
        self._state, self._owners = state, (function, parameters)

    def __reduce__(self) -> NoReturn:
        raise TypeError("a C function used as a policy is an address in this process: it cannot be pickled or copied")

    def _to_checkpoint(self) -> dict[str, Any]:
        """Returns everything that changes in a policy, as plain data and arrays."""
        return {"state": self._state}

    def _from_checkpoint(self, saved: dict[str, Any]) -> Callable[[], None]:
        """Returns a function that restores the checked result of `_to_checkpoint`.

        Raises:
            TypeError, ValueError: It is from a different policy.
        """
        own, state = self._state, saved["state"]
        if own is None or state is None:
            if own is not state:
                raise ValueError(f"state: expected {described(state)}, got {described(own)}")
            return lambda: None
        if (own.shape, own.dtype.str) != (state.shape, state.dtype.str):
            raise ValueError(f"state: expected {described(state)}, got {described(own)}")

        def take() -> None:
            own[...] = state

        return take

    def check(self, spec: EnvSpec, num_envs: int) -> None:
        """Raises a ValueError if the policy does not fit a pool."""
        if self._state is not None and len(self._state) != num_envs:
            raise ValueError(f"policy: expected a state with {num_envs} rows, one for each env, got {len(self._state)}")

    def _for_rollout(self) -> Policy:
        """Returns the policy of one rollout."""
        return self

    def _begin(self, num_steps: int, num_envs: int) -> None:
        """Prepares for a rollout."""


def described(array: NDArray[Any] | None) -> str:
    """Returns how a message shows an array or None."""
    return "None" if array is None else f"{array.dtype} of shape {array.shape}"


def policy_of(given: Any, name: str = "policy") -> Any:
    """Returns a `Policy`, or a Python function.

    Raises:
        TypeError, ValueError: It is neither, nor a C function.
    """
    if isinstance(given, Policy):
        return given
    expected = f"{C_FUNCTION}, a cypool.Policy or a Python function"
    if address_of(name, given, _SIGNATURE, expected) is not None:
        return Policy(given)
    if not callable(given):
        raise TypeError(f"{name}: expected {expected}, got {shown(given)}")
    return given
