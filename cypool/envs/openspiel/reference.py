"""OpenSpiel's own games, played from Python."""
from __future__ import annotations

from typing import Any

from cypool.envs.openspiel.library import INSTALL
from cypool.envs.openspiel.openspiel import games
from cypool.envs.openspiel.specs import given_parameters
from cypool.envs.shared.turns.turn_reference import make_references


def make_reference(ours: Any, seed: int, options: dict[str, Any]) -> tuple[Any, str]:
    """Returns OpenSpiel games as a vector environment, and their name and version."""
    given = given_parameters(games(), ours.env_spec.options)

    def load() -> Any:
        import pyspiel

        # a game among the parameters is a tuple of its text
        parameters = {name: pyspiel.game_parameters_from_string(value[0]) if isinstance(value, tuple) else value
                      for name, value in given.items()}
        return pyspiel.load_game(ours.env_spec.options["short_name"], parameters)

    return make_references(ours, load, INSTALL)
