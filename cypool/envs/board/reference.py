"""The games of OpenSpiel that board games match."""
from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import gymnasium
import numpy as np

from cypool.envs.shared.turns.turn_reference import Reference, make_references
from cypool.registration.registry import make_spec
from cypool.spec import EnvSpec


def _parameters(options: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the options that OpenSpiel has, too."""
    return {name: value for name, value in options.items()
            if name not in ("view", "seat", "opponent", "simulations", "illegal")}


def _loader(spec: EnvSpec) -> Callable[[], Any]:
    """Returns a function that makes the game."""
    def load() -> Any:
        import pyspiel

        return pyspiel.load_game(spec.id.removeprefix("board/").removesuffix("-v0"), _parameters(spec.options))

    return load


def make_reference(ours: Any, seed: int, options: dict[str, Any]) -> tuple[Any, str]:
    """Returns OpenSpiel games as a vector environment, and their name and version."""
    return make_references(ours, _loader(ours.env_spec), 'pip install "cypool[board]"')


def loop(id: str, num_envs: int, **options: Any) -> tuple[Any, Callable[[Any], int]]:
    """Returns the action space, and a function that steps OpenSpiel games one by one, for `cypool bench`.

    It draws legal actions itself, and a step is a move in any view.
    """
    spec = make_spec(id, **_parameters(options))
    spaces = gymnasium.spaces.Box(-np.inf, np.inf, spec.observation.shape), gymnasium.spaces.Discrete(spec.action.n)
    envs = [Reference(spec, spaces, _loader(spec)) for _ in range(num_envs)]
    random, masks = np.random.default_rng(0), [env.reset(seed=k)[1]["action_mask"] for k, env in enumerate(envs)]

    def step(actions: Any) -> int:
        for k, env in enumerate(envs):
            legal = np.flatnonzero(masks[k])
            _, _, is_over, _, info = env.step(legal[int(random.random() * len(legal))])
            masks[k] = (env.reset()[1] if is_over else info)["action_mask"]
        return num_envs

    return spaces[1], step
