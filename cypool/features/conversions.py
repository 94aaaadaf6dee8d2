"""Conversions of pools for other libraries, `pool.torch()` and `pool.xla()`: their classes are registered here.

Adapters import the APIs, so the APIs do not import adapters.
"""
from __future__ import annotations

from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any, Literal, Protocol, Self

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cypool.util.typing import ResetOptions, Seed

_entry_points: dict[str, str] = {}


class TorchEnv(Protocol):
    """A pool with tensors instead of arrays, as returned by `pool.torch()`; it also has the pool's attributes."""

    pool: Any
    device: Any

    def reset(self, env_id: Any = None, *, seed: Seed = None,
              options: ResetOptions = None) -> tuple[Any, dict[str, Any]]: ...
    def step(self, actions: Any, env_id: Any = None) -> tuple[Any, Any, Any, Any, dict[str, Any]]: ...
    def send(self, actions: Any, env_id: Any = None) -> None: ...
    def recv(self, timeout: float | None = None) -> tuple[Any, Any, Any, Any, dict[str, Any]]: ...
    def rollout_buffers(self, num_steps: int, frames: Literal["stacked", "once"] = "stacked") -> Any: ...
    def close(self) -> None: ...
    def __getattr__(self, name: str) -> Any: ...
    def __enter__(self) -> Self: ...
    def __exit__(self, *_: object) -> None: ...


class JaxFunctions(Protocol):
    """Functions for JAX-compiled code, as returned by `pool.xla()`: `handle, recv, send, step`."""

    handle: Any
    pool: Any

    def recv(self, handle: Any) -> Any: ...
    def send(self, handle: Any, actions: Any, env_id: Any = None) -> Any: ...
    def step(self, handle: Any, actions: Any, env_id: Any = None) -> Any: ...
    def reset(self, handle: Any, mask: Any = None) -> Any: ...
    def __iter__(self) -> Iterator[Any]: ...


def add_conversion(name: str, entry_point: str) -> None:
    """Registers a class that takes a pool, as "module:Class"; it is imported on first use."""
    _entry_points[name] = entry_point


def convert(name: str, pool: object, *args: object) -> Any:
    """Returns an object of the class for the pool."""
    return resolve_name(_entry_points[name])(pool, *args)
