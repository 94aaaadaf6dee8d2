"""Pools in the terms of other libraries, `pool.torch()` and `pool.xla()`: the classes that do so are added here.

Adapters know the APIs, so the APIs do not know the adapters.
"""
from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal, Protocol, Self

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cypool.util.typing import ResetOptions, Seed

_entry_points: dict[str, str] = {}


class TorchEnv(Protocol):
    """A pool with tensors in the place of arrays, as `pool.torch()` returns it; it has the pool's attributes, too."""

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
    """Functions for code that JAX compiles, as `pool.xla()` returns them: `handle, recv, send, step`."""

    handle: Any
    pool: Any

    def recv(self, handle: Any) -> Any: ...
    def send(self, handle: Any, actions: Any, env_id: Any = None) -> Any: ...
    def step(self, handle: Any, actions: Any, env_id: Any = None) -> Any: ...
    def reset(self, handle: Any, mask: Any = None) -> Any: ...
    def __iter__(self) -> Iterator[Any]: ...


def add_conversion(name: str, entry_point: str) -> None:
    """Adds a class that is called with a pool, as "module:Class"; it is imported at the first use."""
    _entry_points[name] = entry_point


def convert(name: str, pool: object, *args: object) -> Any:
    """Returns the pool as this class presents it."""
    module, _, function = _entry_points[name].partition(":")
    return getattr(import_module(module), function)(pool, *args)
