"""PettingZoo's AEC API: one game with turns, whose players are asked one after another."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from pettingzoo import AECEnv as _AECEnv

from cypool.api.gymnasium import space_of
from cypool.spec import Discrete
from cypool.util.arguments import check_array, shown

if TYPE_CHECKING:
    from gymnasium import spaces
    from numpy.typing import NDArray

    from cypool.api.gymnasium import GymnasiumPool


class AECEnv(_AECEnv):
    """A game with turns, with PettingZoo's AEC API.

    The player who moves is `agent_selection`. When the game ends, each player steps once more, with None, and leaves.

    Args:
        pool: A pool of one environment with one group of agents and `turns`, which waits for a reset where its episode
            ended. This class owns it.

    Attributes:
        possible_agents: The names of all players.
        agents: The names of those that are in the game.
        agent_selection: Who steps next.
        rewards, terminations, truncations, infos: By name.
        metadata, render_mode: As PettingZoo has them.
        pool: The pool.

    Thread safety: one thread at a time.
    """

    def __init__(self, pool: GymnasiumPool):
        super().__init__()
        spec = pool.env_spec
        if len(spec.agents) != 1 or not spec.turns or not isinstance(spec.one_action, Discrete):
            pool.close()
            raise ValueError(f"id: expected a game with turns and one group of players, got {spec.id}")
        (group,) = spec.agents.values()
        self.pool, self.possible_agents, self.render_mode = pool, spec.agent_names, pool.render_mode
        self.metadata = {**pool.metadata, "name": spec.id, "is_parallelizable": False}
        # of each player its own: users seed them one by one
        self.observation_spaces = {agent: space_of(group.observation) for agent in self.possible_agents}
        self.action_spaces = {agent: space_of(group.action) for agent in self.possible_agents}
        self.agents: list[str] = []

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        """Returns the space of a player's observation: always the same object."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Space[Any]:
        """Returns the space of a player's action: always the same object."""
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Starts a game.

        Args:
            seed: Restarts the random stream; None leaves it where it is.
            options: Not read.
        """
        obs, info = self.pool.reset(seed=seed)
        self.agents = list(self.possible_agents)
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict(self.rewards)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict(self.terminations)
        self._show(obs, info)
        self.agent_selection = self._mover()

    def step(self, action: Any) -> None:
        """Plays the action of `agent_selection`; None if the game is over for it.

        Raises:
            TypeError, ValueError: The action is something else, or not legal; nothing has changed.
            RuntimeError: It was never reset, or no player is left.
        """
        if not self.agents:
            raise RuntimeError("step: expected a reset before, got none since the last game")
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        if action is None:
            raise TypeError(f"action: expected one of {agent}, got None")
        given = check_array("action", action, "an integer")
        if given.shape != ():
            raise ValueError(f"action: expected an integer, got {shown(action)}")
        actions = np.zeros((1, len(self.possible_agents)), given.dtype)
        actions[0, self.possible_agents.index(agent)] = given
        obs, _, terminated, truncated, info = self.pool.step(actions)
        (columns,) = info["agents"].values()
        self._cumulative_rewards[agent] = 0.0
        for k, name in enumerate(self.possible_agents):
            self.rewards[name] = float(columns["reward"][0, k])
            self.terminations[name], self.truncations[name] = bool(terminated[0]), bool(truncated[0])
        self._show(obs, info)
        self._accumulate_rewards()
        if not terminated[0] and not truncated[0]:
            self.agent_selection = self._mover()

    def _mover(self) -> str:
        """Returns who moves."""
        return self.possible_agents[int(self.pool._pool.acting().argmax())]

    def _show(self, obs: Any, info: dict[str, Any]) -> None:
        """Keeps observations and infos."""
        self._obs = self.pool.by_agent(obs)
        own = {name: info[name][0] for name in self.pool.env_spec.info}
        self.infos = {agent: dict(own) for agent in self.possible_agents}

    def observe(self, agent: str) -> Any:
        """Returns what a player sees: a dict of `observation` and `action_mask` in cypool's own games."""
        seen = self._obs[agent]
        return {name: part[0] for name, part in seen.items()} if isinstance(seen, dict) else seen[0]

    def render(self) -> NDArray[np.uint8] | None:
        """Returns a picture, uint8 (height, width, 3)."""
        picture: NDArray[np.uint8] = self.pool.render()[0]
        return picture

    def close(self) -> None:
        """Lets go of the environment. A second call does nothing."""
        self.pool.close()
