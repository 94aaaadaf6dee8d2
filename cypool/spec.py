"""Observation, action and info specs: plain descriptions that are independent of any RL library."""
from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NoReturn, Protocol

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, DTypeLike, NDArray

# names of infos that the engine, the APIs and the adapters give themselves
OWN_INFO = ("env_id", "elapsed_step", "final", "final_obs", "final_info", "episode", "extra_infos", "players",
            "TimeLimit.truncated", "terminal_observation")


class _Frozen:
    """Refuses changes once it is made: pools take sizes and bounds from their specs."""

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"{type(self).__name__}.{name}: expected no assignment, as specs never change")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"{type(self).__name__}.{name}: expected no deletion, as specs never change")

    def _set(self, **attributes: Any) -> None:
        self.__dict__.update(attributes)


class _FrozenDict(dict[str, Any]):
    """A dict that refuses changes."""

    def _refuse(self, *_: Any, **__: Any) -> NoReturn:
        raise TypeError("expected no change of a spec's dict, as specs never change: make a new one")

    __setitem__ = __delitem__ = __ior__ = _refuse
    clear = pop = popitem = setdefault = update = _refuse

    def __reduce__(self) -> tuple[Any, ...]:
        return _FrozenDict, (dict(self),)


def _frozen(given: Any) -> Any:
    """Returns a mapping as one that never changes; anything else as it is."""
    return _FrozenDict(given) if isinstance(given, Mapping) else given


class Array(_Frozen):
    """An array of fixed shape whose elements lie in `[low, high]`. It never changes.

    Args:
        shape: Shape of one row, without the batch.
        dtype: Anything `np.dtype` takes.
        low: Least values, broadcast to `shape`; the dtype's own least value by default.
        high: Greatest values, broadcast to `shape`; the dtype's own greatest value by default.

    Raises:
        ValueError: The dtype is not a number's, a dimension is below 1, `low` exceeds `high`, or they do not
            broadcast to `shape`.
    """

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    low: NDArray[Any]
    high: NDArray[Any]

    def __init__(self, shape: Sequence[int], dtype: DTypeLike, low: ArrayLike | None = None,
                 high: ArrayLike | None = None):
        # the dtype in this machine's byte order
        self._set(shape=tuple(int(n) for n in shape), dtype=np.dtype(np.dtype(dtype).type))
        if len(self.shape) > 8 or min(self.shape, default=1) < 1:
            raise ValueError(f"shape: expected at most 8 dimensions, none below 1, got {self.shape}")
        if self.dtype.kind == "f":
            least, greatest = -np.inf, np.inf
        elif self.dtype.kind in "iu":
            least, greatest = np.iinfo(self.dtype).min, np.iinfo(self.dtype).max
        elif self.dtype.kind == "b":
            least, greatest = False, True
        else:
            raise ValueError(f"dtype: expected a float, integer or bool dtype, got {self.dtype}")
        self._set(low=self._bound(least if low is None else low), high=self._bound(greatest if high is None else high))
        if not (self.low <= self.high).all():
            raise ValueError(f"low: expected values not above high, got {self.low} and {self.high}")

    def _bound(self, given: ArrayLike) -> NDArray[Any]:
        values = np.broadcast_to(np.asarray(given, self.dtype), self.shape)
        # memory that nobody can make writeable again
        return np.frombuffer(values.tobytes(), self.dtype).reshape(self.shape)

    def __eq__(self, other: object) -> bool:
        return (isinstance(other, Array) and self.shape == other.shape and self.dtype == other.dtype
                and (self.low == other.low).all() and (self.high == other.high).all())

    __hash__ = None  # type: ignore[assignment]  # two of the same values are equal, and that is all anybody asks

    def __repr__(self) -> str:
        return f"Array({self.shape}, {self.dtype}, {self.low.min()}, {self.high.max()})"


class MultiBinary(Array):
    """An array of int8, each 0 or 1: buttons that can be pressed together.

    Args:
        shape: Shape of one row, without the batch.
    """

    def __init__(self, shape: Sequence[int]):
        super().__init__(shape, np.int8, 0, 1)


class Text(Array):
    """A text of at most `length` characters: its UTF-8 bytes, with zeros behind them. `cypool.text` decodes it.

    Args:
        length: Bytes of the longest text.
    """

    def __init__(self, length: int):
        super().__init__((length,), np.uint8)


class Discrete(_Frozen):
    """One of `n` choices, as an int64 in `[0, n)`.

    Args:
        n: Number of choices.
    """

    shape = ()
    dtype = np.dtype(np.int64)
    n: int

    def __init__(self, n: int):
        if n < 1:
            raise ValueError(f"n: expected at least 1, got {n}")
        self._set(n=int(n))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Discrete) and self.n == other.n

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Discrete({self.n})"


class Goals(Protocol):
    """Functions of goals alone, for arrays of them: a leading dimension, and the dimensions of one goal."""

    def compute_reward(self, achieved: NDArray[Any], desired: NDArray[Any], /) -> Any:
        """Returns the rewards, or that of one goal without a leading dimension."""

    def compute_terminated(self, achieved: NDArray[Any], desired: NDArray[Any], /) -> Any:
        """Returns whether an episode ends there, likewise."""


# of an observation or an action
Description = Array | Discrete | Mapping[str, Array | Discrete] | tuple[Array | Discrete, ...]


@dataclass(frozen=True)
class EnvSpec:
    """All that is known of an environment before it is made.

    Attributes:
        observation: What `observe` writes: an `Array` or `Discrete`, or a dict or tuple of them.
        action: What `step` takes: an `Array` or `Discrete`; or a dict of them, which lie one behind the other in what
            `step` gets, without gaps.
        info: What else `observe` writes: names and their `Array`s, in the order of `Slot.info`.
        max_seed: The greatest seed an environment takes; None: any.
        render_fps: Steps per second of an episode that is watched; None: the environment cannot be drawn.
        implementation: The subclass of `Env` to make; None: the one that describes.
        threads_per_cpu: How many threads to have for each CPU by default: more than one where a step mostly waits for
            something else, such as another process.
        sync_threads_per_cpu: The same for a synchronous pool, where `step_many` may begin several steps before it waits
            for one; None: as `threads_per_cpu`.
        brief_steps: Whether every step takes well below a microsecond, and every reset at most a few, whatever the
            state. An asynchronous pool then makes a batch when `recv` asks for it, of those that were sent first, which
            is faster than the order of finishing. It does so as long as it measures that this is true.
        num_players: How many play in one environment; with more than one, observation and action have the players in
            their first dimension.
        id: The id it is registered under; filled in by `make_spec`, as are the next two.
        max_episode_steps: The engine truncates an episode after this number of steps; None: never. What `describe` says
            here counts if neither `make` nor the id has a limit.
        options: Every option of the environment with the value it has here; `describe` returns those that it
            has converted.
        spaces: Gymnasium's spaces of observation and action, where they are not what follows from these two.
        goals: Computes rewards and ends of any goals, where the observation has `achieved_goal` and `desired_goal`.
    """

    observation: Array | Discrete | Mapping[str, Array | Discrete] | tuple[Array | Discrete, ...]
    action: Array | Discrete | Mapping[str, Array | Discrete]
    info: Mapping[str, Array] = field(default_factory=dict)
    max_seed: int | None = None
    render_fps: int | None = None
    implementation: type | None = None
    threads_per_cpu: int = 1
    sync_threads_per_cpu: int | None = None
    brief_steps: bool = False
    num_players: int = 1
    id: str = ""
    max_episode_steps: int | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    spaces: tuple[Any, Any] | None = None
    goals: Goals | None = None

    def __post_init__(self) -> None:
        for name in ("observation", "action", "info"):
            object.__setattr__(self, name, _frozen(getattr(self, name)))
        if isinstance(self.observation, Mapping | tuple) and not self.observation:
            raise ValueError(f"observation: expected at least one array, got {self.observation!r}")
        for name in self.info:
            if not isinstance(name, str):
                raise TypeError(f"info: expected names that are texts, got {name!r}")
            if name in OWN_INFO or name.startswith("_"):
                raise ValueError(f"info: expected a name that cypool does not use itself, without an underscore in "
                                 f"front, got {name!r}; {', '.join(OWN_INFO)} are taken")

    @property
    def observations(self) -> list[tuple[Any, Array | Discrete]]:
        """The observation's parts as a list of (name, description), in the order of `Slot.obs`.

        Parts of a tuple are called 0, 1, 2, ...; an observation that has no parts is one, called None.
        """
        if isinstance(self.observation, Mapping):
            return list(self.observation.items())
        if isinstance(self.observation, tuple):
            return list(enumerate(self.observation))
        return [(None, self.observation)]

    @property
    def action_bytes(self) -> int:
        """The size of what `step` gets."""
        parts = self.action.values() if isinstance(self.action, Mapping) else [self.action]
        return sum(part.dtype.itemsize * math.prod(part.shape) for part in parts)

    def default_threads(self, cpus: int, *, sync: bool) -> int:
        """Returns how many threads a pool has by default on this number of CPUs."""
        if sync and self.sync_threads_per_cpu is not None:
            return cpus * self.sync_threads_per_cpu
        return cpus * self.threads_per_cpu

    def pack(self, parts: Sequence[Any]) -> Any:
        """Returns a list, with an item for each part of the observation, as a dict or tuple where that is one."""
        if isinstance(self.observation, Mapping):
            return dict(zip(self.observation, parts, strict=True))
        return tuple(parts) if isinstance(self.observation, tuple) else parts[0]

    def unpack(self, observation: Any) -> list[Any]:
        """Returns what `pack` was given."""
        if isinstance(self.observation, Mapping):
            return [observation[name] for name in self.observation]
        return list(observation) if isinstance(self.observation, tuple) else [observation]
