"""Hooks: user functions that compute an environment's reward or observation.

A C function is called for each environment, on the thread that steps it, without the GIL:
`void (*)(cypool::Transition*)`, see `cypool/transition.h`. A Python function is called for each batch when the batch
is received; a reward hook gets a `Batch`, an observation hook the observation.
"""
from __future__ import annotations

import ctypes
import inspect
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn

from numpy.typing import NDArray

from cypool.spec import Array, Discrete
from cypool.util.arguments import shown
from cypool.util.signatures import C_FUNCTION, Agents, Signature, address_of, dtype_of

if TYPE_CHECKING:
    from cypool.spec import EnvSpec


class Transition(ctypes.Structure):
    """`cypool::Transition`, for ctypes; see `cypool/transition.h`."""

    _fields_ = [
        ("obs", ctypes.POINTER(ctypes.c_void_p)),
        ("info", ctypes.POINTER(ctypes.c_void_p)),
        ("before", ctypes.POINTER(ctypes.c_void_p)),
        ("action", ctypes.c_void_p),
        ("out", ctypes.POINTER(ctypes.c_void_p)),
        ("reward", ctypes.c_double),
        ("terminated", ctypes.c_uint8),
        ("truncated", ctypes.c_uint8),
        ("env_id", ctypes.c_int32),
        ("elapsed_step", ctypes.c_int32),
        ("agents", ctypes.POINTER(Agents)),
    ]


TRANSITION_DTYPE = dtype_of(Transition)

_SIGNATURE = Signature(Transition, "void (struct cypool::Transition *)",
                       "cdef api void f(Transition* t) noexcept nogil", None,
                       ("SIGNATURE", "void(CPointer(Transition))"))


@dataclass(frozen=True)
class Batch:
    """The argument of a Python reward hook: k rows.

    Attributes:
        env_id: int32, (k,): the environment of each row.
        action: (k, ...): the actions; a dict of arrays if actions are dicts.
        observation: The observation after the action; at the end of an episode, its last observation, even in autoreset
            mode SameStep. A C observation hook has already changed it; a Python observation hook has not.
        reward: float64, (k,): the environment's own reward.
        terminated, truncated: bool, (k,).
        info: The info, as returned by `step`.
        starts: bool, (k,): rows that begin an episode; their reward stays 0, whatever the hook returns.
    """

    env_id: NDArray[Any]
    action: NDArray[Any] | dict[str, Any]
    observation: Any
    reward: NDArray[Any]
    terminated: NDArray[Any]
    truncated: NDArray[Any]
    info: dict[str, Any]
    starts: NDArray[Any]


def own_observation(spec: EnvSpec) -> Any:
    """Returns the description of an observation as users write it: with agents, a dict with one agent of each group."""
    return {name: group.observation for name, group in spec.agents.items()} if spec.agents else spec.observation


def _leaves(described: Any) -> list[Any]:
    if isinstance(described, dict):
        return [leaf for part in described.values() for leaf in _leaves(part)]
    return list(described) if isinstance(described, tuple) else [described]


class CHook:
    """A C function, checked as far as its kind allows.

    Attributes:
        address: Its address.
    """

    def __init__(self, address: int, owner: object):
        self.address = address
        self._owner = owner  # keeps the code alive

    def __reduce__(self) -> NoReturn:
        raise TypeError("a C function used as a hook is an address in this process: neither it nor a pool that uses it "
                        "can be pickled or copied")


def hook_of(name: str, function: Any) -> Any:
    """Returns a `CHook`, a Python function, or None for None.

    Args:
        name: The name of the argument.
        function: An address (int), a Cython capsule, a ctypes function pointer, a Numba `cfunc`; or a
            Python function of one argument.

    Raises:
        TypeError: `function` is not one of these, or has a different signature.
        ValueError: The address is 0 or below.
    """
    if function is None or isinstance(function, CHook):
        return function
    expected = f"{C_FUNCTION} or a Python function"
    address = address_of(name, function, _SIGNATURE, expected)
    if address is not None:
        return CHook(address, function)
    if not callable(function):
        raise TypeError(f"{name}: expected {expected}, got {shown(function)}")
    try:
        signature = inspect.signature(function)
    except ValueError:
        # a function in C without a signature
        return function
    try:
        signature.bind(None)
    except TypeError:
        raise TypeError(f"{name}: expected a Python function with one argument, got signature {signature}") from None
    return function


def observation_hook_of(given: Any, spec: EnvSpec) -> tuple[Any, Any]:
    """Returns the hook and the description of its result.

    Args:
        given: A function; a pair of a function and a description like `EnvSpec.observation`; or None. With agents, the
            description is a dict of the observations of one agent of each group.
        spec: The environment's spec; its observation is the default description.

    Raises:
        TypeError, ValueError: As in `hook_of`, or the description is invalid.
    """
    function, described = given if isinstance(given, tuple) and len(given) == 2 else (given, own_observation(spec))
    leaves = _leaves(described)
    if not leaves or not all(isinstance(part, Array | Discrete) for part in leaves):
        raise TypeError("observation_hook: expected a function, or (function, description) with a cypool.spec.Array or "
                        f"Discrete, or a dict or tuple of these, got {shown(given)}")
    try:
        spec.with_observation(described)
    except (TypeError, ValueError) as error:
        raise type(error)(f"observation_hook: {error}") from error
    return hook_of("observation_hook", function), described
