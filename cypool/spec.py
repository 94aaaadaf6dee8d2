"""Observation, action and info specs: plain descriptions that are independent of any RL library."""
from __future__ import annotations

import functools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, NoReturn, Protocol

import numpy as np

from cypool.util.arguments import shown

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, DTypeLike, NDArray

# names of infos that the engine, the APIs and the adapters give themselves
OWN_INFO = ("env_id", "elapsed_step", "final", "final_obs", "final_info", "episode", "extra_infos", "players", "agents",
            "TimeLimit.truncated", "terminal_observation")


class _Frozen:
    """Refuses changes once it is made: pools take sizes and bounds from their specs."""

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"{type(self).__name__}.{name}: cannot be assigned, because specs are immutable")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"{type(self).__name__}.{name}: cannot be deleted, because specs are immutable")

    def _set(self, **attributes: Any) -> None:
        self.__dict__.update(attributes)


class FrozenDict(dict[str, Any]):
    """An immutable dict."""

    def _refuse(self, *_: Any, **__: Any) -> NoReturn:
        raise TypeError("cannot change a dict in a spec or recipe, because specs and recipes are immutable: make a "
                        "new one")

    __setitem__ = __delitem__ = __ior__ = _refuse
    clear = pop = popitem = setdefault = update = _refuse

    def __reduce__(self) -> tuple[Any, ...]:
        return FrozenDict, (dict(self),)


def copied(value: Any) -> Any:
    """Returns a value with its dicts and lists copied, so that users may change those that they passed or received."""
    if type(value) is dict:
        return {key: copied(each) for key, each in value.items()}
    return [copied(each) for each in value] if type(value) is list else value


def _frozen(given: Any) -> Any:
    """Returns an immutable copy of a mapping; anything else unchanged."""
    return FrozenDict(given) if isinstance(given, Mapping) else given


class Array(_Frozen):
    """An array of fixed shape with elements in `[low, high]`. Immutable.

    Args:
        shape: Shape of one row, without the batch.
        dtype: Anything that `np.dtype` accepts.
        low: Lowest values, broadcast to `shape`; by default the lowest value of the dtype.
        high: Highest values, broadcast to `shape`; by default the highest value of the dtype.
        stack: (axis, count): this axis holds the frames of the last `count` observations, with the newest last. A step
            drops the oldest frame and adds one; a reset may write all of them. A `ReplayBuffer` then stores each frame
            once. None: the array is not a stack.

    Raises:
        ValueError: The dtype is not numeric, a dimension is below 1, `low` exceeds `high`, the bounds do not broadcast
            to `shape`, the axis does not exist, or `count` does not divide its length.
    """

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    stack: tuple[int, int] | None = None
    _low: NDArray[Any]
    _high: NDArray[Any]

    def __init__(self, shape: Sequence[int], dtype: DTypeLike, low: ArrayLike | None = None,
                 high: ArrayLike | None = None, stack: tuple[int, int] | None = None):
        # the dtype in this machine's byte order
        self._set(shape=tuple(int(n) for n in shape), dtype=np.dtype(np.dtype(dtype).type))
        if len(self.shape) > 8 or min(self.shape, default=1) < 1:
            raise ValueError(f"shape: expected at most 8 dimensions, each at least 1, got {self.shape}")
        if self.dtype.kind == "f":
            least, greatest = -np.inf, np.inf
        elif self.dtype.kind in "iu":
            least, greatest = np.iinfo(self.dtype).min, np.iinfo(self.dtype).max
        elif self.dtype.kind == "b":
            least, greatest = False, True
        else:
            raise ValueError(f"dtype: expected a float, integer or bool dtype, got {self.dtype}")
        self._set(_low=self._bound(least if low is None else low),
                  _high=self._bound(greatest if high is None else high))
        if not (self.low <= self.high).all():
            raise ValueError(f"low: expected values no greater than high, got {self.low} and {self.high}")
        if stack is not None:
            axis, count = map(int, stack)
            if not (0 <= axis < len(self.shape) and 1 <= count and self.shape[axis] % count == 0):
                raise ValueError(f"stack: expected (axis, count), where count divides the length of that axis of "
                                 f"{self.shape}, got {stack}")
            # one frame is an array like any other
            if count > 1:
                self._set(stack=(axis, count))

    # views, as the shape and dtype of an array can be assigned
    @property
    def low(self) -> NDArray[Any]:
        """Lowest values."""
        return self._low.view()

    @property
    def high(self) -> NDArray[Any]:
        """Highest values."""
        return self._high.view()

    def _bound(self, given: ArrayLike) -> NDArray[Any]:
        values = np.broadcast_to(np.asarray(given, self.dtype), self.shape)
        # memory that cannot be made writeable again
        return np.frombuffer(values.tobytes(), self.dtype).reshape(self.shape)

    def __eq__(self, other: object) -> bool:
        return (isinstance(other, Array) and self.shape == other.shape and self.dtype == other.dtype
                and (self.low == other.low).all() and (self.high == other.high).all() and self.stack == other.stack)

    __hash__ = None  # type: ignore[assignment]  # two of the same values are equal, and that is all anybody asks

    def __repr__(self) -> str:
        return f"Array({self.shape}, {self.dtype}, {self.low.min()}, {self.high.max()})"


class MultiBinary(Array):
    """An int8 array of zeros and ones: buttons that can be pressed at the same time.

    Args:
        shape: Shape of one row, without the batch.
    """

    def __init__(self, shape: Sequence[int]):
        super().__init__(shape, np.int8, 0, 1)


class Text(Array):
    """A text of at most `length` bytes in UTF-8, padded with zeros. `cypool.text` decodes it.

    Args:
        length: Number of bytes of the longest text.
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
    """Rewards and ends as functions of goals, over arrays of shape (n, *shape of a goal).

    A pool uses one of these for all its environments; their `goals` must be equal.
    """

    def compute_reward(self, achieved: NDArray[Any], desired: NDArray[Any], /) -> Any:
        """Returns the rewards; for a goal without a leading dimension, a single reward."""

    def compute_terminated(self, achieved: NDArray[Any], desired: NDArray[Any], /) -> Any:
        """Returns whether episodes terminate with these goals; shapes as in `compute_reward`."""


# of an observation or an action
Description = Array | Discrete | Mapping[str, Array | Discrete] | tuple[Array | Discrete, ...]


@dataclass(frozen=True)
class Group:
    """Agents of one environment with the same kinds of observations and actions.

    Attributes:
        count: Number of agents; if agents can leave or join, the maximum.
        observation: The observation of one agent: an `Array` or `Discrete`, or a dict of them.
        action: The action of one agent: an `Array` or `Discrete`, or a dict of them.
        names: Names of the agents, in order; None: `<name of the group>_0`, `<name of the group>_1` and so on.

    Raises:
        TypeError, ValueError: An attribute is invalid.
    """

    count: int
    observation: Array | Discrete | Mapping[str, Array | Discrete]
    action: Array | Discrete | Mapping[str, Array | Discrete]
    names: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        if type(self.count) is not int or self.count < 1:
            raise ValueError(f"count: expected an int of at least 1, got {shown(self.count)}")
        for name in ("observation", "action"):
            given = getattr(self, name)
            parts = list(given.values()) if isinstance(given, Mapping) else [given]
            if not parts or not all(isinstance(part, Array | Discrete) for part in parts):
                raise TypeError(f"{name}: expected an Array or Discrete, or a dict of them, got {shown(given)}")
            if isinstance(given, Mapping) and not all(isinstance(key, str) for key in given):
                raise TypeError(f"{name}: expected strings as names, got {list(given)}")
            object.__setattr__(self, name, _frozen(given))
        if self.names is not None and (not isinstance(self.names, tuple) or len(set(self.names)) != self.count):
            raise ValueError(f"names: expected a tuple of {self.count} names, got {shown(self.names)}")

    def of_all(self, name: Literal["observation", "action"]) -> Any:
        """Returns the description of all agents' observations or actions, with the agents as the first dimension."""
        given = getattr(self, name)
        if isinstance(given, Mapping):
            return FrozenDict({key: _repeated(part, self.count) for key, part in given.items()})
        return _repeated(given, self.count)


def _repeated(part: Array | Discrete, count: int) -> Array:
    """Returns an array of `count` of these."""
    if isinstance(part, MultiBinary):
        return MultiBinary((count, *part.shape))
    if isinstance(part, Discrete):
        return Array((count,), part.dtype, 0, part.n - 1)
    stack = None if part.stack is None else (part.stack[0] + 1, part.stack[1])
    return Array((count, *part.shape), part.dtype, part.low, part.high, stack)


def _check_part(name: str, part: object, kinds: Any) -> None:
    """Raises a TypeError unless a part of a description is of one of these classes."""
    if not isinstance(part, kinds):
        wanted = "cypool.spec.Array" if kinds is Array else "cypool.spec.Array or cypool.spec.Discrete"
        cls = type(part)
        raise TypeError(f"{name}: expected {wanted}, got {shown(part)} of type {cls.__module__}.{cls.__qualname__}")


def _parts(description: Any, outer: tuple[str, ...] = ()) -> Iterator[tuple[Any, Array | Discrete]]:
    """Yields (name, description) of the parts; a name within a group is a pair."""
    if isinstance(description, Mapping):
        for key, part in description.items():
            yield from _parts(part, (*outer, key))
    elif isinstance(description, tuple):
        yield from enumerate(description)
    else:
        yield (outer if len(outer) > 1 else outer[0] if outer else None), description


def _has_goals(observation: Any) -> bool:
    """Returns whether an observation has an achieved and a desired goal of the same description."""
    goals = [observation.get(f"{which}_goal") for which in ("achieved", "desired")] if isinstance(
        observation, Mapping) else [None]
    first = goals[0]
    return isinstance(first, Array) and all(
        isinstance(goal, Array) and (goal.shape, goal.dtype) == (first.shape, first.dtype) for goal in goals)


@dataclass(frozen=True)
class EnvSpec:
    """Everything known about an environment before it is created.

    Attributes:
        observation: The arrays that `observe` writes: an `Array` or `Discrete`, or a dict or tuple of them. With agents
            it is derived from their groups: for a single group, the observations of its agents, with the agents as the
            first dimension; for several groups, a dict of these.
        action: The argument of `step`: an `Array` or `Discrete`; or a dict of them, stored one after the other without
            gaps. With agents it is derived from their groups, like the observation.
        info: The other arrays that `observe` writes: names and their `Array`s, in the order of `Slot.info`.
        max_seed: The highest seed that an environment accepts; None: any.
        render_fps: Steps per second when an episode is shown; None: the environment cannot be rendered.
        render_modes: Results that `Env.render` supports: "rgb_array" is a picture, "ansi" a text.
        render_mode: The mode in use; filled in by `make`.
        implementation: The subclass of `Env` to create; None: the one with the `describe` that returned this spec.
        threads_per_cpu: Default number of threads for each CPU: more than one if a step mostly waits, for example for
            another process.
        sync_threads_per_cpu: The same for a synchronous pool, where `step_many` may start several steps before it waits
            for one; None: the same as `threads_per_cpu`.
        brief_steps: Whether every step takes well below a microsecond and every reset at most a few, in any state,
            without waiting for another thread. A small pool then keeps the GIL while it steps environments, because
            releasing it takes longer. An asynchronous pool then steps a batch when `recv` asks for it, in the order of
            sending, because that is faster than the order of finishing. It does so only as long as its measurements
            confirm that steps are brief.
        num_players: Number of players in one environment; if there are several, they are the first dimension of
            observation and action.
        id: The registered id; filled in by `make_spec`, like the next two.
        max_episode_steps: The engine truncates an episode after this number of steps; None: no limit. A value
            from `describe` applies if neither `make` nor the id has a limit.
        options: Every option of the environment with its value; `describe` returns those that it has converted.
        unsaved_options: Names of options that states do not depend on: a state can be loaded with different values.
        spaces: Gymnasium's spaces of observation and action, if they differ from those derived from the two
            descriptions.
        goals: Computes rewards and ends for arbitrary goals, if the observation has `achieved_goal` and `desired_goal`.
        agents: Groups of agents, by name. By default, agents are called `<group>_0`, `<group>_1` and so on. Empty: an
            environment with one agent.
        agents_leave: Whether an agent may leave before the others, or join later.
        turns: Whether only some of the agents act in each step: those in `Agents.turn`.
        state: The input of a centralized critic: "observations" (of all agents); an `Array`, which the environment
            writes as its first info, called `state`; or None.
        illegal: The effect of an illegal action, if `Env.legal` restricts actions. "error": the call raises a
            ValueError before anything is stepped; "lose": `step` gets the action and decides its effect, such as a
            loss. The action must be a `Discrete`, at least for one group of agents. `action_mask`, an int8 info or
            part of the observation, shows which actions are legal. None: all actions are legal.
        has_hidden_information: Whether some moves or random events are hidden from players. A search that copies the
            environment would see these.
        has_own_chance: Whether steps draw random numbers from the environment's own stream instead of the engine's
            (`Env.rng`). A search that copies the environment cannot redraw these.
    """

    observation: Any = ()
    action: Any = field(default_factory=dict)
    info: Mapping[str, Array] = field(default_factory=dict)
    max_seed: int | None = None
    render_fps: int | None = None
    render_modes: tuple[str, ...] = ("rgb_array",)
    render_mode: str = "rgb_array"
    implementation: type | None = None
    threads_per_cpu: int = 1
    sync_threads_per_cpu: int | None = None
    brief_steps: bool = False
    num_players: int = 1
    id: str = ""
    max_episode_steps: int | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    unsaved_options: tuple[str, ...] = ()
    spaces: tuple[Any, Any] | None = None
    goals: Goals | None = None
    agents: Mapping[str, Group] = field(default_factory=dict)
    agents_leave: bool = False
    turns: bool = False
    state: Array | Literal["observations"] | None = None
    illegal: Literal["error", "lose"] | None = None
    has_hidden_information: bool = False
    has_own_chance: bool = False

    def __post_init__(self) -> None:
        if self.agents:
            self._take_agents()
        elif self.agents_leave or self.turns or self.state is not None:
            raise ValueError("agents: expected groups of agents together with agents_leave, turns or state, got none")
        for name in ("observation", "action", "info", "agents"):
            object.__setattr__(self, name, _frozen(getattr(self, name)))
        for name in ("observation", "action"):
            given = getattr(self, name)
            if isinstance(given, Mapping | tuple) and not given:
                raise ValueError(f"{name}: expected at least one array, got {shown(given)}")
            for _, part in _parts(given):
                _check_part(name, part, Array | Discrete)
        for name, part in self.info.items():
            if not isinstance(name, str):
                raise TypeError(f"info: expected strings as names, got {shown(name)}")
            if name in OWN_INFO or name.startswith("_"):
                raise ValueError("info: expected a name that is not reserved and has no leading underscore, got "
                                 f"{shown(name)}; {', '.join(OWN_INFO)} are reserved")
            _check_part(f"info[{name!r}]", part, Array)
        if self.illegal not in (None, "error", "lose"):
            raise ValueError(f"illegal: expected 'error', 'lose' or None, got {shown(self.illegal)}")
        if self.illegal is not None and not isinstance(self.one_action, Discrete):
            raise ValueError(f"illegal: expected None unless the action space is Discrete, got {shown(self.illegal)}")
        if self.goals is not None and not _has_goals(self.observation):
            raise ValueError("goals: expected an observation whose achieved_goal and desired_goal have the same dtype "
                             f"and shape, got {shown(self.observation)}")

    def _take_agents(self) -> None:
        """Derives observation, action and the `state` info from the groups of agents."""
        if not isinstance(self.agents, Mapping) or not all(
                isinstance(name, str) and name and isinstance(group, Group) for name, group in self.agents.items()):
            raise TypeError(f"agents: expected a dict that maps names to Groups, got {shown(self.agents)}")
        if len(set(self.agent_names)) < self.num_agents:
            raise ValueError(f"agents: expected unique names, got {self.agent_names}")
        for name in ("observation", "action"):
            whole: Any = {key: group.of_all(name) for key, group in self.agents.items()}
            if len(whole) == 1:
                (whole,) = whole.values()
            given = getattr(self, name)
            if given and given != whole:
                raise ValueError(f"{name}: expected None if agents is given, got {shown(given)}")
            object.__setattr__(self, name, whole)
        if isinstance(self.state, Array):
            if self.info.get("state", self.state) != self.state:
                raise ValueError("info: expected no 'state' in addition to the agents' state, got "
                                 f"{shown(self.info['state'])}")
            object.__setattr__(self, "info", {"state": self.state, **self.info})
        elif self.state not in (None, "observations"):
            raise ValueError(f"state: expected 'observations', an Array or None, got {shown(self.state)}")

    @property
    def observations(self) -> list[tuple[Any, Array | Discrete]]:
        """The observation's parts as a list of (name, description), in the order of `Slot.obs`.

        Parts of a tuple are called 0, 1, 2, ...; an observation without parts counts as a single one, called None. With
        several groups, the name of a part is a pair.
        """
        return list(_parts(self.observation))

    @property
    def actions(self) -> list[tuple[Any, Array | Discrete]]:
        """The action's parts in the same format, in their order in the argument of `step`."""
        return list(_parts(self.action))

    @property
    def one_action(self) -> Any:
        """The action of an environment with one agent, or of one agent of the only group."""
        return next(iter(self.agents.values())).action if len(self.agents) == 1 else self.action

    @property
    def mask_column(self) -> int | None:
        """The index of `action_mask` among the arrays that `observe` writes, those of the observation first; None: no
        mask."""
        if self.illegal is None:
            return None
        names = [name for name, _ in self.observations] + list(self.info)
        return names.index("action_mask") if "action_mask" in names else None

    @property
    def action_bytes(self) -> int:
        """The size of the argument of `step`."""
        return sum(part.dtype.itemsize * math.prod(part.shape) for _, part in self.actions)

    @functools.cached_property
    def saved_options(self) -> Mapping[str, Any]:
        """The options that a state depends on and contains."""
        if not self.unsaved_options:
            return self.options
        return {name: value for name, value in self.options.items() if name not in self.unsaved_options}

    @property
    def num_agents(self) -> int:
        """The number of agents in all groups; 0 for an environment with one agent."""
        return sum(group.count for group in self.agents.values())

    @property
    def has_absent_agents(self) -> bool:
        """Whether some agents may not act in a step."""
        return self.agents_leave or self.turns

    @property
    def agent_columns(self) -> dict[str, dict[str, Array]]:
        """Descriptions of the columns of `info["agents"]` by group, for one environment."""
        flags = ["terminated", "truncated", *(["acted", "alive"] if self.has_absent_agents else [])]
        return {name: {"reward": Array((group.count,), np.float64),
                       **{flag: Array((group.count,), np.bool_) for flag in flags}}
                for name, group in self.agents.items()}

    @property
    def agent_names(self) -> list[str]:
        """The names of all agents, group by group: by default `<group>_0`, `<group>_1` and so on."""
        return [agent for name, group in self.agents.items()
                for agent in group.names or [f"{name}_{k}" for k in range(group.count)]]

    def with_observation(self, observation: Any) -> EnvSpec:
        """Returns a copy with a different observation; with agents, a dict with one agent's observation per group.

        With a single group, its observation may be given without a dict.
        """
        if not self.agents:
            return replace(self, observation=observation, goals=self.goals if _has_goals(observation) else None)
        is_by_group = isinstance(observation, Mapping) and observation.keys() == self.agents.keys()
        if len(self.agents) == 1 and not is_by_group:
            observation = dict.fromkeys(self.agents, observation)
        elif not is_by_group:
            raise ValueError(f"observation: expected one observation for each group of {list(self.agents)}, got "
                             f"{shown(observation)}")
        groups = {name: replace(group, observation=observation[name]) for name, group in self.agents.items()}
        return replace(self, observation=(), agents=groups)

    def default_threads(self, cpus: int, *, sync: bool) -> int:
        """Returns the default number of threads of a pool on this number of CPUs."""
        if sync and self.sync_threads_per_cpu is not None:
            return cpus * self.sync_threads_per_cpu
        return cpus * self.threads_per_cpu

    def pack(self, parts: Sequence[Any]) -> Any:
        """Converts a list with one item for each part of the observation to a dict or tuple, if the observation
        is one."""
        if self.has_nested_observation:
            left = iter(parts)
            return {name: {key: next(left) for key in part} if isinstance(part, Mapping) else next(left)
                    for name, part in self.observation.items()}
        if isinstance(self.observation, Mapping):
            return dict(zip(self.observation, parts, strict=True))
        return tuple(parts) if isinstance(self.observation, tuple) else parts[0]

    def unpack(self, observation: Any) -> list[Any]:
        """Undoes `pack`."""
        if self.has_nested_observation:
            return [observation[name[0]][name[1]] if isinstance(name, tuple) else observation[name]
                    for name, _ in self.observations]
        if isinstance(self.observation, Mapping):
            return [observation[name] for name in self.observation]
        return list(observation) if isinstance(self.observation, tuple) else [observation]

    @property
    def has_nested_observation(self) -> bool:
        """Whether there are several groups and one of them observes a dict."""
        return len(self.agents) > 1 and any(isinstance(group.observation, Mapping) for group in self.agents.values())
