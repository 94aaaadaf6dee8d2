"""PettingZoo's parallel API: one environment, with named agents."""
from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from gymnasium import spaces
from pettingzoo import ParallelEnv as _ParallelEnv

from cypool.api.gymnasium import space_of
from cypool.arguments.action_readers import neutral
from cypool.arguments.actions import ActionReader
from cypool.arguments.agents import action_of, state_of
from cypool.spec import Array
from cypool.util.arguments import NoOptionsError, shown

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from cypool.api.gymnasium import GymnasiumPool

# observations, rewards, terminated, truncated and infos, by agent
Step = tuple[dict[str, Any], dict[str, float], dict[str, bool], dict[str, bool], dict[str, dict[str, Any]]]


class ParallelEnv(_ParallelEnv):
    """One environment with several agents, with PettingZoo's parallel API.

    The agents' names are those of `EnvSpec.agent_names`; `agents` lists those still in the game. An agent that leaves
    is terminated or truncated in one step, and absent afterwards. There is no autoreset.

    Args:
        pool: A pool of one environment, in autoreset mode Disabled. This class owns it.

    Attributes:
        possible_agents: The names of all agents.
        agents: The names of the agents in the game.
        metadata, render_mode: As in PettingZoo.
        np_random: A generator for wrappers. The environment uses a separate stream with the same seed.
        pool: The pool.

    Thread safety: one thread at a time.
    """

    def __init__(self, pool: GymnasiumPool):
        spec = pool.env_spec
        if not spec.agents:
            pool.close()
            raise ValueError(f"id: expected an environment with several agents, got {spec.id}; for turn-based games, "
                             "use cypool.aec_env")
        self.pool = pool
        self.possible_agents = spec.agent_names
        self.agents: list[str] = []
        self._was_reset = False
        self._seed_np_random(pool.recipe["seed"][0])
        self.metadata = {**pool.metadata, "name": spec.id, "is_parallelizable": True}
        self.render_mode = pool.render_mode
        # of each agent its own: users seed them one by one, and compare them by identity
        self._observation_spaces = {}
        self._action_spaces = {}
        names = iter(self.possible_agents)
        # the names of each group
        self._names = {name: [next(names) for _ in range(group.count)] for name, group in spec.agents.items()}
        for name, group in spec.agents.items():
            for agent in self._names[name]:
                self._observation_spaces[agent] = space_of(group.observation)
                self._action_spaces[agent] = space_of(group.action)

    @property
    def observation_spaces(self) -> dict[str, spaces.Space[Any]]:
        """The space of each agent's observation, by name."""
        return self._observation_spaces

    @property
    def action_spaces(self) -> dict[str, spaces.Space[Any]]:
        """The space of each agent's action, by name."""
        return self._action_spaces

    @property
    def state_space(self) -> spaces.Space[Any]:
        """The space of `state`.

        Raises:
            AttributeError: The environment has no state. PettingZoo's conversions check for this error.
        """
        described = self.pool.env_spec.state
        if described is None:
            raise AttributeError(f"state_space: {self.pool.env_spec.id} has no state")
        if isinstance(described, Array):
            return space_of(described)
        spec = self.pool.env_spec
        parts = [np.zeros((1, *part.shape), part.dtype) for _, part in spec.observations]
        row = state_of(spec, spec.pack(parts))[0]
        if row.dtype.kind == "f":
            return spaces.Box(-np.inf, np.inf, row.shape, row.dtype.type)
        limits = np.iinfo(row.dtype)
        return spaces.Box(limits.min, limits.max, row.shape, row.dtype.type)

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        """Returns the space of an agent's observation, always the same object."""
        return self._observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Space[Any]:
        """Returns the space of an agent's action, always the same object."""
        return self._action_spaces[agent]

    def reset(self, seed: int | None = None,
              options: dict[str, Any] | None = None) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
        """Starts an episode.

        Args:
            seed: Restarts the random stream; with None, the stream continues.
            options: A dict for the environment, as in a pool's reset; ignored if the environment has no options.

        Returns:
            Observations and infos of the agents in the game, by name.
        """
        if not isinstance(options, Mapping | None):
            raise TypeError(f"options: expected a dict or None, got {shown(options)}")
        try:
            obs, info = self.pool.reset(seed=seed, options=options)
        except NoOptionsError:
            # PettingZoo's own tests pass some
            obs, info = self.pool.reset(seed=seed)
        if seed is not None:
            self._seed_np_random(seed)
        self.agents, self._was_reset = self._alive(info), True
        return self._values(obs, self.agents), self._infos(info, self.agents)

    def _seed_np_random(self, seed: int | None) -> None:
        (own,) = np.random.SeedSequence(seed).spawn(1)
        self.np_random = np.random.default_rng(own)

    def step(self, actions: Mapping[str, Any]) -> Step:
        """Steps the environment.

        Args:
            actions: The actions of the agents in the game, by name; those of other agents are ignored.

        Returns:
            Observations, rewards, terminated, truncated and infos of the agents that acted or are now in the game.

        Raises:
            TypeError, ValueError: `actions` is not a dict, an agent does not exist, or an action is missing or wrong.
            RuntimeError: The environment was never reset.
        """
        if not isinstance(actions, Mapping):
            raise TypeError(f"actions: expected a dict with keys {', '.join(self.agents)}, got {shown(actions)}")
        unknown = [agent for agent in actions if agent not in self._action_spaces]
        if unknown:
            raise ValueError(f"actions: expected keys from {', '.join(self.possible_agents)}, got {shown(unknown[0])}")
        if not self.agents:
            if not self._was_reset:
                raise RuntimeError("step: expected a reset before the first step")
            return {}, {}, {}, {}, {}
        spec = self.pool.env_spec
        # whose turn it is not, need not choose
        acting = dict(zip(self.possible_agents, self.pool._pool.acting()[0].tolist(), strict=True))
        missing = [agent for agent in self.agents if acting[agent] and agent not in actions]
        if missing:
            raise ValueError(f"actions: expected an action for each of {', '.join(self.agents)}, got none for "
                             f"{', '.join(missing)}")
        groups = {name: self._of_group(name, group, actions) for name, group in spec.agents.items()}
        given = groups if len(groups) > 1 else groups.popitem()[1]
        try:
            obs, _, _, _, info = self.pool.step(given)
        except (TypeError, ValueError):
            self._refuse(actions)
            raise
        was, self.agents = self.agents, self._alive(info)
        agents = [agent for agent in self.possible_agents if agent in was or agent in self.agents]
        columns = {name: self.pool.by_agent({group: each[name] for group, each in info["agents"].items()})
                   for name in ("reward", "terminated", "truncated")}
        return (self._values(obs, agents), {agent: float(columns["reward"][agent][0]) for agent in agents},
                {agent: bool(columns["terminated"][agent][0]) for agent in agents},
                {agent: bool(columns["truncated"][agent][0]) for agent in agents}, self._infos(info, agents))

    def _refuse(self, actions: Mapping[str, Any]) -> None:
        """Raises an exception that names the agent with the wrong action."""
        for name, group in self.pool.env_spec.agents.items():
            parts = group.action if isinstance(group.action, Mapping) else {None: group.action}
            for agent in self._names[name]:
                for key, part in parts.items():
                    try:
                        ActionReader(part, 1).read(self._row(part, agent, actions, key)[None])
                    except (TypeError, ValueError) as error:
                        what = f"actions[{agent!r}]" + ("" if key is None else f"[{key!r}]")
                        text = str(error).removeprefix("actions").removesuffix(" in row 0")
                        raise type(error)(what + text) from None

    def _of_group(self, name: str, group: Any, actions: Mapping[str, Any]) -> Any:
        """Returns the actions of a group for the pool, with arbitrary ones for agents that do not act."""
        if isinstance(group.action, Mapping):
            return {key: self._stacked(name, part, actions, key) for key, part in group.action.items()}
        return self._stacked(name, group.action, actions, None)

    def _stacked(self, name: str, part: Any, actions: Mapping[str, Any], key: str | None) -> NDArray[Any]:
        return np.stack([self._row(part, agent, actions, key) for agent in self._names[name]])[None]

    def _row(self, part: Any, agent: str, actions: Mapping[str, Any], key: str | None) -> NDArray[Any]:
        """Returns an agent's action, or a part of it; an arbitrary one if the agent does not act."""
        if agent not in self.agents or agent not in actions:
            return neutral(part)
        return action_of(part, agent, actions[agent], key)

    def _alive(self, info: dict[str, Any]) -> list[str]:
        """Returns the names of the agents in the game."""
        if not self.pool.env_spec.has_absent_agents:
            ended = any((each["terminated"] | each["truncated"]).any() for each in info["agents"].values())
            return [] if ended else list(self.possible_agents)
        alive = self.pool.by_agent({group: each["alive"] for group, each in info["agents"].items()})
        return [agent for agent in self.possible_agents if alive[agent][0]]

    def _values(self, obs: Any, agents: list[str]) -> dict[str, Any]:
        """Returns observations by name."""
        each = self.pool.by_agent(obs)
        return {agent: _first(each[agent]) for agent in agents}

    def _infos(self, info: dict[str, Any], agents: list[str]) -> dict[str, dict[str, Any]]:
        """Returns infos by name: for each agent a new dict with the environment's infos."""
        own = {name: info[name][0] for name in self.pool.env_spec.info}
        return {agent: dict(own) for agent in agents}

    def state(self) -> NDArray[Any]:
        """Returns the state for a centralized critic.

        Raises:
            NotImplementedError: The environment has no state.
            RuntimeError: The environment was never reset.
        """
        state: NDArray[Any] = self.pool.state()[0]
        return state

    def render(self) -> NDArray[np.uint8] | None:
        """Returns a picture, uint8 (height, width, 3)."""
        picture: NDArray[np.uint8] = self.pool.render()[0]
        return picture

    def close(self) -> None:
        """Releases the environment. A second call does nothing."""
        self.pool.close()


def _first(values: Any) -> Any:
    """Returns the first row: an array, a number, or a dict of these."""
    if isinstance(values, dict):
        return {name: _first(part) for name, part in values.items()}
    return values[0]
