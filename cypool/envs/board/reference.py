"""The games of OpenSpiel that board games equal."""
from __future__ import annotations

from typing import Any

from cypool.envs.common.turn_reference import make_references


def make_reference(ours: Any, seed: int, options: dict[str, Any]) -> tuple[Any, str]:
    """Returns OpenSpiel's games as a vector environment, and their name and version."""
    spec = ours.env_spec
    parameters = {name: value for name, value in spec.options.items()
                  if name not in ("view", "seat", "opponent", "simulations", "illegal")}

    def load() -> Any:
        import pyspiel

        return pyspiel.load_game(spec.id.removeprefix("board/").removesuffix("-v0"), parameters)

    return make_references(ours, load, 'pip install "cypool[board]"')
