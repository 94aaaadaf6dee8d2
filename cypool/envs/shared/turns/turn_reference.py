"""OpenSpiel games as a Gymnasium vector environment, in the view "mover"."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gymnasium
import numpy as np
from gymnasium.vector import SyncVectorEnv
from gymnasium.wrappers import TimeLimit

from cypool.spec import EnvSpec
from cypool.util.packages import require_version

VERSION = "2.0.2"


class Reference(gymnasium.Env[Any, Any]):
    """An OpenSpiel game with the spec and spaces of ours, whose chance events are drawn with Gymnasium's generator."""

    def __init__(self, spec: EnvSpec, spaces: tuple[Any, Any], load: Callable[[], Any]):
        self.game = load()
        self.loses = spec.options["illegal"] == "lose"
        self.tensor = f"{spec.options.get('tensor', 'observation')}_tensor"
        self.observation_space, self.action_space = spaces
        self.has_lost = False

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.state, self.has_lost, self.last = self.game.new_initial_state(), False, 0
        self.rewards = np.zeros(self.game.num_players())
        self._draw()
        return self._seen(), self._info()

    def _draw(self) -> None:
        while self.state.is_chance_node():
            outcomes, p = zip(*self.state.chance_outcomes(), strict=True)
            self.state.apply_action(self.np_random.choice(outcomes, p=p))

    @property
    def current(self) -> int:
        """The player to move; -1 after the end."""
        return -1 if self.has_lost or self.state.is_terminal() else self.state.current_player()

    def _seen(self) -> Any:
        tensor = getattr(self.state, self.tensor)(self.last if self.current < 0 else self.current)
        return np.array(tensor, np.float32).reshape(self.observation_space.shape)

    def _info(self) -> dict[str, Any]:
        mask = np.zeros(self.game.num_distinct_actions(), np.int8)
        if self.current >= 0:
            mask[self.state.legal_actions()] = 1
        info: dict[str, Any] = {"action_mask": mask}
        if self.game.num_players() > 1:
            info |= {"current_player": np.int32(self.current), "rewards": self.rewards.copy()}
        return info

    def step(self, action: Any) -> Any:
        self.last = self.current
        if self.loses and action not in self.state.legal_actions():
            self.has_lost = True
            self.rewards[:] = 0
            self.rewards[self.last] = -1
        else:
            self.state.apply_action(action)
            self._draw()
            self.rewards = np.array(self.state.rewards())
        return self._seen(), float(self.rewards[self.last]), self.current < 0, False, self._info()


def make_references(ours: Any, load: Callable[[], Any], install: str) -> tuple[Any, str]:
    """Returns OpenSpiel games as a vector environment, and their name and version."""
    require_version("check_parity needs", "open_spiel", (VERSION,), install)
    spec = ours.env_spec
    if spec.options.get("view", "mover") != "mover":
        raise ValueError(f"view: expected 'mover', the reference's only view, got {spec.options['view']!r}")
    if spec.options.get("chance_stream", "np_random") != "np_random":
        raise ValueError("chance_stream: expected 'np_random', the reference's only stream, got "
                         f"{spec.options['chance_stream']!r}")
    spaces = ours.single_observation_space, ours.single_action_space

    def make() -> Any:
        game = Reference(spec, spaces, load)
        return game if spec.max_episode_steps is None else TimeLimit(game, spec.max_episode_steps)

    theirs = SyncVectorEnv([make] * ours.num_envs, autoreset_mode=ours.metadata["autoreset_mode"])
    return theirs, f"OpenSpiel {VERSION}"
