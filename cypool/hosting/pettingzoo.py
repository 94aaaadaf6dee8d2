"""PettingZoo environments in Gymnasium's form, for a worker: groups of agents, and the results of each agent.

The observation is a dict: the parts of each group, then `AGENT_COLUMNS`, of all agents, group by group. The action is
the bytes that the engine has for `step`.
"""
from __future__ import annotations

import importlib.util
from collections import OrderedDict
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from gymnasium import spaces

from cypool.hosting.spaces import group_of
from cypool.registration.registry import PETTINGZOO_PREFIX
from cypool.spec import Array, Discrete, EnvSpec
from cypool.util.arguments import shown

if TYPE_CHECKING:
    from numpy.typing import NDArray

# the columns that a pool reads of the agents, in this order
AGENT_COLUMNS = {"reward": np.float64, "terminated": np.uint8, "truncated": np.uint8, "alive": np.uint8,
                 "turn": np.uint8}


def is_of_pettingzoo(env: Any) -> bool:
    """Whether this is an environment of PettingZoo, which has spaces for each agent."""
    return callable(getattr(env, "observation_space", None)) and callable(getattr(env, "action_space", None))


def make_pettingzoo(name: str, **options: Any) -> Any:
    """Makes an environment of PettingZoo.

    Args:
        name: "family/module", such as "butterfly/pistonball_v6"; or "package/module" of another package, such as
            "mpe2/simple_spread_v3". The module has `parallel_env` or `env`.
        **options: For that function.

    Raises:
        ValueError: The module does not exist.
        TypeError: The function does not accept these options or values.
    """
    module = module_of(name)
    function = getattr(module, "parallel_env", None) or module.env
    try:
        return function(**options)
    except TypeError as error:
        if not options:
            raise
        raise TypeError(f"{', '.join(options)}: expected options that {PETTINGZOO_PREFIX}{name} accepts, got "
                        f"{shown(options)}: {error}") from error


def module_of(name: str) -> Any:
    """Imports and returns the module of an environment; see `make_pettingzoo`."""
    path, has_package = name.replace("/", "."), importlib.util.find_spec("pettingzoo") is not None
    if all(part.isidentifier() for part in path.split(".")) and "." in path:
        for each in (f"pettingzoo.{path}", path):
            try:
                module = importlib.import_module(each)
            except ModuleNotFoundError as error:
                if error.name is None or not (each + ".").startswith(error.name + "."):
                    # something else is missing there
                    raise
                continue
            if hasattr(module, "parallel_env") or hasattr(module, "env"):
                return module
    raise ValueError(f"id: expected 'pettingzoo:family/module', or 'pettingzoo:package/module', such as "
                     f"'pettingzoo:butterfly/pistonball_v6', got {shown(PETTINGZOO_PREFIX + name)}"
                     + ("" if has_package else '; PettingZoo is not installed: pip install "cypool[pettingzoo]"'))


class AgentsEnv:
    """A parallel environment of PettingZoo with the methods of a Gymnasium environment.

    An environment whose agents take turns (`AECEnv`) becomes a parallel one by PettingZoo's own conversions.

    Args:
        env: The environment; its `possible_agents` are known.

    Raises:
        ValueError: It does not list its possible agents, or its spaces are not supported.
    """

    spec = None

    def __init__(self, env: Any):
        if not getattr(env, "possible_agents", None):
            raise ValueError(f"factories: expected a PettingZoo environment with possible_agents, got {shown(env)}")
        self.takes_turns = False
        if hasattr(env, "agent_iter"):
            env, self.takes_turns = _parallel(env)
        self.env = env
        agents = self._groups(env)
        self.agents_description = {"groups": agents, "turns": self.takes_turns}
        # of the engine's: how its parts lie
        self._spec = EnvSpec(agents=agents, agents_leave=True, turns=self.takes_turns)
        self._names = self._spec.agent_names
        count = len(self._names)
        self._parts = [self._key(name) for name, _ in self._spec.observations]
        described = dict(zip(self._parts, (part for _, part in self._spec.observations), strict=True))
        boxes = {key: _box(part) for key, part in described.items()}
        for name, dtype in AGENT_COLUMNS.items():
            low, high = (-np.inf, np.inf) if name == "reward" else (0, 1)
            boxes[name] = _box(Array((count,), dtype, low, high))
        # of a plain dict it sorts the keys
        self.observation_space = spaces.Dict(OrderedDict(boxes))
        self.action_space = spaces.Box(0, 255, (self._spec.action_bytes,), np.uint8)
        # the base class has neither
        self.render_mode, self.metadata = getattr(env, "render_mode", None), getattr(env, "metadata", {})

    @staticmethod
    def _groups(env: Any) -> dict[str, Any]:
        """Returns the groups of agents: those with one name before the number, and the same spaces."""
        members: dict[str, tuple[list[str], Any]] = {}
        for agent in env.possible_agents:
            if not isinstance(agent, str):
                raise ValueError(f"possible_agents: expected strings, got {shown(agent)}")
            each = env.observation_space(agent), env.action_space(agent)
            base, _, number = agent.rpartition("_")
            base = name = base if base and number.isdigit() else agent
            distinct = 1
            while name in members and members[name][1] != each:
                distinct += 1
                name = f"{base}_{distinct}"
            members.setdefault(name, ([], each))[0].append(agent)
        return {name: group_of(observation, action, tuple(names))
                for name, (names, (observation, action)) in members.items()}

    @staticmethod
    def _key(name: Any) -> str:
        # of one group its parts alone, of several pairs: apart from the columns in any case
        return "part " + (" ".join(name) if isinstance(name, tuple) else str(name))

    @property
    def unwrapped(self) -> Any:
        """The environment itself, without wrappers."""
        return self.env.unwrapped

    def get_wrapper_attr(self, name: str) -> Any:
        """Returns an attribute of the environment."""
        return getattr(self.env, name)

    def reset(self, **arguments: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        """Starts an episode, as Gymnasium's environments do."""
        observations, infos = self.env.reset(**arguments)
        return self._row(observations), self._infos(infos)

    def step(self, action: NDArray[np.uint8]) -> tuple[dict[str, Any], float, bool, bool, dict[str, Any]]:
        """Takes a step, as Gymnasium's environments do."""
        was = list(self.env.agents)
        if not was:
            raise RuntimeError("step: expected agents in the environment until its episode ends, got none")
        observations, reward, terminated, truncated, infos = self.env.step(self._actions(action, set(was)))
        now = set(self.env.agents)
        for agent in was:
            if (agent in now) == bool(terminated[agent] or truncated[agent]):
                raise ValueError(f"agents: expected exactly the terminated or truncated agents to leave, but {agent} "
                                 f"is {'still' if agent in now else 'not'} in {sorted(now)} (terminated "
                                 f"{terminated[agent]}, truncated {truncated[agent]})")
        row = self._row(observations, reward, terminated, truncated)
        ended = not now
        cut = ended and bool(row["truncated"].any())
        return row, float(row["reward"].sum()), ended and not cut, cut, self._infos(infos)

    def _actions(self, data: NDArray[np.uint8], was: set[str]) -> dict[str, Any]:
        """Decodes the actions of the agents in the game from the engine's bytes."""
        actions, at = {}, 0
        for group in self._spec.agents.values():
            part: Any = group.action
            whole: Any = group.of_all("action")
            end = at + whole.dtype.itemsize * whole.low.size
            values = np.frombuffer(data[at:end].tobytes(), whole.dtype).reshape(whole.shape)
            at = end
            for k, agent in enumerate(group.names or ()):
                if agent in was:
                    # as a space's `sample` has it: an environment may keep it
                    actions[agent] = values[k].copy() if part.shape else values.dtype.type(values[k])
                    if isinstance(part, Discrete):
                        actions[agent] = np.int64(values[k])
        return actions

    def _row(self, observations: Mapping[str, Any], reward: Mapping[str, Any] | None = None,
             terminated: Mapping[str, Any] | None = None,
             truncated: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """Returns the row that a worker writes: the groups' observations, and the results of the agents."""
        row: dict[str, Any] = {key: np.zeros(part.shape, part.dtype)
                               for key, (_, part) in zip(self._parts, self._spec.observations, strict=True)}
        parts = iter(self._parts)
        for group in self._spec.agents.values():
            own = group.observation
            keys: list[Any] = list(own) if isinstance(own, Mapping) else [None]
            arrays = [row[next(parts)] for _ in keys]
            for k, agent in enumerate(group.names or ()):
                if agent in observations:
                    for array, key in zip(arrays, keys, strict=True):
                        seen = observations[agent] if key is None else observations[agent][key]
                        _write(array, k, seen, agent)
        alive = set(self.env.agents)
        for name, values in (("reward", reward), ("terminated", terminated), ("truncated", truncated)):
            given = values or {}
            each = [given.get(agent, 0) for agent in self._names]
            try:
                row[name] = np.array(each).astype(AGENT_COLUMNS[name])
            except Exception as error:
                raise TypeError(f"{name}: expected a number for each agent, got {shown(given)}") from error
        row["alive"] = np.array([agent in alive for agent in self._names], np.uint8)
        row["turn"] = np.ones(len(self._names), np.uint8)
        if self.takes_turns:
            row["turn"] = np.array([agent == self.env.aec_env.agent_selection for agent in self._names], np.uint8)
        return row

    @staticmethod
    def _infos(infos: Mapping[str, Any]) -> dict[str, Any]:
        """Returns the infos of the agents that have some, by name."""
        return {agent: dict(own) for agent, own in infos.items() if own}

    def render(self) -> Any:
        """Returns the picture."""
        return self.env.render()

    def close(self) -> None:
        """Closes the environment."""
        self.env.close()


def _parallel(env: Any) -> tuple[Any, bool]:
    """Returns an environment with turns as a parallel one, and whether its agents still take turns."""
    from pettingzoo.utils.conversions import aec_to_parallel, turn_based_aec_to_parallel

    if env.metadata.get("is_parallelizable", False):
        return aec_to_parallel(env), False
    return turn_based_aec_to_parallel(env), True


def _box(part: Any) -> spaces.Box:
    return spaces.Box(part.low, part.high, dtype=part.dtype.type)


def _write(array: NDArray[Any], k: int, seen: Any, agent: str) -> None:
    """Writes an agent's observation to its place."""
    values = np.asarray(seen)
    if values.shape != array.shape[1:]:
        raise ValueError(f"observation of {agent}: expected shape {array.shape[1:]}, as in the observation space, got "
                         f"{values.shape}")
    if not np.can_cast(values.dtype, array.dtype, "same_kind") and not (
            values.dtype.kind in "iub" and (values.astype(array.dtype) == values).all()):
        raise ValueError(f"observation of {agent}: expected {array.dtype}, as in the observation space, got "
                         f"{values.dtype}")
    array[k] = values
