"""OpenSpiel games in a terminal, with OpenSpiel's texts for positions and names for moves."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cypool.envs.openspiel.openspiel import OpenSpiel, texts_of
from cypool.envs.shared.turns import turn_terminal
from cypool.envs.shared.turns.turn_terminal import Chooser, Shown

# more moves are listed only when they are asked for
_FEW = 40


def play(env: Any, write: Callable[[str], Any], terminal: int = 0, steps: int | None = None,
         choose: Chooser | None = None) -> tuple[int, float]:
    """Plays with lines typed in a terminal: see `cypool.envs.shared.turns.turn_terminal.play`.

    Raises:
        ValueError: All players move at once; also as in `turn_terminal.play`.
    """
    spec = env.env_spec
    num_players = 1
    if "current_player" in spec.info:
        low, high = (int(bound) for bound in (spec.info["current_player"].low, spec.info["current_player"].high))
        if low < -1:
            raise ValueError(f"id: expected a turn-based game, got {spec.id}, which has simultaneous moves")
        num_players = high + 1
    num_known, reader = 0, OpenSpiel(spec, 0)

    def show(obs: NDArray[Any], legal: NDArray[Any], player: int, before: Any) -> Shown:
        nonlocal num_known
        actions = np.flatnonzero(legal).tolist()
        # a new match has another history
        num_known *= before is not None
        text, names, moves = texts_of(reader, env.save().rows[0]["own"], player, actions, num_known)
        num_known += len(moves)
        news = "".join(f"{'Chance' if who < 0 else players[who]} plays {name}.\n" for who, name in moves)
        return Shown(text.rstrip("\n"), dict(zip(names, actions, strict=True)),
                     is_listed=len(names) <= _FEW and not any(map(str.isdecimal, names)),
                     # others' moves may be hidden
                     news="" if spec.has_hidden_information else news)

    players = tuple(f"Player {k}" for k in range(num_players))
    return turn_terminal.play(env, write, terminal, steps, choose, show, players)
