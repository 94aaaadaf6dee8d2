"""PettingZoo's AEC API: one turn-based game whose players act one after another."""
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
    """A turn-based game with PettingZoo's AEC API.

    The player to move is `agent_selection`. Players who move simultaneously are asked one after another, and the game
    continues when all have chosen. When the game ends, each player takes one more step, with None, and leaves.

    Args:
        pool: A pool of one environment with one group of agents and `turns`, in autoreset mode Disabled. This class
            owns it.

    Attributes:
        possible_agents: The names of all players.
        agents: The names of the players still in the game.
        agent_selection: The player who steps next.
        rewards, terminations, truncations, infos: By name.
        metadata, render_mode: As in PettingZoo.
        pool: The pool.

    Thread safety: one thread at a time.
    """

    def __init__(self, pool: GymnasiumPool):
        super().__init__()
        spec = pool.env_spec
        if len(spec.agents) != 1 or not spec.turns or not isinstance(spec.one_action, Discrete):
            pool.close()
            raise ValueError(f"id: expected a turn-based game with one group of players, got {spec.id}; if agents "
                             "act simultaneously, use cypool.parallel_env")
        (group,) = spec.agents.values()
        self.pool, self.possible_agents, self.render_mode = pool, spec.agent_names, pool.render_mode
        self.metadata = {**pool.metadata, "name": spec.id, "is_parallelizable": False}
        # of each player its own: users seed them one by one
        self.observation_spaces = {agent: space_of(group.observation) for agent in self.possible_agents}
        self.action_spaces = {agent: space_of(group.action) for agent in self.possible_agents}
        self.agents: list[str] = []
        self.agent_selection = self.possible_agents[0]
        self._obs: dict[str, Any] | None = None
        # the players that move now, and those of them that have chosen
        self._movers: list[str] = []
        self._chosen: dict[str, NDArray[Any]] = {}

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        """Returns the space of a player's observation, always the same object."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Space[Any]:
        """Returns the space of a player's action, always the same object."""
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Starts a game.

        Args:
            seed: Restarts the random stream; with None, the stream continues.
            options: Ignored.
        """
        obs, info = self.pool.reset(seed=seed)
        self.agents = list(self.possible_agents)
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict(self.rewards)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict(self.terminations)
        self._show(obs, info)
        self._ask()

    def step(self, action: Any) -> None:
        """Plays the action of `agent_selection`; None if the game is over for this player.

        Raises:
            TypeError, ValueError: The action is invalid or illegal; the game is unchanged. Players who move
                simultaneously are all asked again.
            RuntimeError: The game was never reset, or no player is left.
        """
        if not self.agents:
            raise RuntimeError("step: expected a reset first, because the last game is over")
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        if action is None:
            raise TypeError(f"action: expected an action for {agent}, got None")
        given = check_array("action", action, "an integer")
        if given.shape != ():
            raise ValueError(f"action: expected an integer, got {shown(action)}")
        self._chosen[agent] = given
        if waiting := [each for each in self._movers if each not in self._chosen]:
            self.agent_selection = waiting[0]
            self.rewards = dict.fromkeys(self.rewards, 0.0)
            self._cumulative_rewards[agent] = 0.0
            return
        actions = np.zeros((1, len(self.possible_agents)), np.result_type(*self._chosen.values()))
        for name, each in self._chosen.items():
            actions[0, self.possible_agents.index(name)] = each
        try:
            obs, _, terminated, truncated, info = self.pool.step(actions)
        except BaseException:
            self._chosen, self.agent_selection = {}, self._movers[0]
            raise
        (columns,) = info["agents"].values()
        self._cumulative_rewards[agent] = 0.0
        for k, name in enumerate(self.possible_agents):
            self.rewards[name] = float(columns["reward"][0, k])
            self.terminations[name], self.truncations[name] = bool(terminated[0]), bool(truncated[0])
        self._show(obs, info)
        self._accumulate_rewards()
        if not terminated[0] and not truncated[0]:
            self._ask()

    def _ask(self) -> None:
        """Selects the first of the players who move."""
        acting = self.pool._pool.acting()[0]
        movers = [name for name, acts in zip(self.possible_agents, acting, strict=True) if acts]
        # an environment may name none
        self._movers, self._chosen = movers or self.possible_agents[:1], {}
        self.agent_selection = self._movers[0]

    def _show(self, obs: Any, info: dict[str, Any]) -> None:
        """Stores observations and infos."""
        self._obs = self.pool.by_agent(obs)
        own = {name: info[name][0] for name in self.pool.env_spec.info}
        self.infos = {agent: dict(own) for agent in self.possible_agents}

    def observe(self, agent: str) -> Any:
        """Returns a player's observation: in cypool's own games, a dict of `observation` and `action_mask`."""
        if self._obs is None:
            raise RuntimeError("observe: expected a reset before the first observation")
        seen = self._obs[agent]
        return {name: part[0] for name, part in seen.items()} if isinstance(seen, dict) else seen[0]

    def render(self) -> NDArray[np.uint8] | None:
        """Returns a picture, uint8 (height, width, 3)."""
        picture: NDArray[np.uint8] = self.pool.render()[0]
        return picture

    def close(self) -> None:
        """Releases the environment. A second call does nothing."""
        self.pool.close()
