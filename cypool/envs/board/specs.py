"""The specs of board games: their options and spaces."""
from __future__ import annotations

from typing import Any

import numpy as np

from cypool.envs.shared.turns.turn_specs import planes, turn_options, turn_settings, turn_spec
from cypool.options import Option, choice, describes, integer, number
from cypool.spec import Array, EnvSpec
from cypool.util.arguments import check_int

_TWO, _ONE = turn_options(2), turn_options(1)
_FPS = 2
# as in hex.h and breakthrough.h
HEX_PLANES, DIRECTIONS = 9, 6
# in the order of the enum
SCORING = ("winloss_scoring", "enable_gammons", "full_scoring")


def _check_tile(name: str, value: Any) -> int:
    tile = check_int(name, value, 8, 2**15)
    if tile & (tile - 1):
        raise ValueError(f"{name}: expected a power of 2, got {tile}")
    return tile


def _spec(options: dict[str, Any], tensor: Array, num_actions: int, num_players: int = 2) -> EnvSpec:
    return turn_spec(options, tensor, num_actions, num_players, render_fps=_FPS, brief_steps=tensor.low.size <= 1000)


def settings_of(options: dict[str, Any]) -> dict[str, Any]:
    """Returns the settings that the games and turn_rules.h read."""
    own = {**options, **turn_settings(options)}
    return own | {"scoring_type": SCORING.index(own["scoring_type"])} if "scoring_type" in own else own


@describes(**_TWO)
def tic_tac_toe(options: dict[str, Any]) -> EnvSpec:
    return _spec(options, planes(3, 3, 3), 9)


@describes(**_TWO)
def connect_four(options: dict[str, Any]) -> EnvSpec:
    return _spec(options, planes(3, 6, 7), 7)


@describes(**_TWO)
def othello(options: dict[str, Any]) -> EnvSpec:
    return _spec(options, planes(3, 8, 8), 65)


@describes(rows=integer(8, 2, 8, "Number of rows."), columns=integer(8, 2, 8, "Number of columns."), **_TWO)
def breakthrough(options: dict[str, Any]) -> EnvSpec:
    rows, columns = options["rows"], options["columns"]
    return _spec(options, planes(3, rows, columns), rows * columns * DIRECTIONS * 2)


@describes(board_size=integer(11, 2, 19, "Rows and columns of the board."), **_TWO)
def hexagons(options: dict[str, Any]) -> EnvSpec:
    size = options["board_size"]
    return _spec(options, planes(HEX_PLANES, size, size), size * size)


@describes(board_size=integer(19, 2, 19, "Rows and columns of the board."),
           komi=number(7.5, -361, 361, "Extra points for white, because black moves first."), **_TWO)
def go(options: dict[str, Any]) -> EnvSpec:
    size = options["board_size"]
    return _spec(options, planes(4, size, size), size * size + 1)


@describes(scoring_type=choice("winloss_scoring", SCORING, 'Value of a win: 1; with "enable_gammons", 2 if the loser '
                                                           'has not borne off any checkers; with "full_scoring", 3 if '
                                                           "the loser also has a checker on the bar or in the winner's "
                                                           "home."),
           max_player_turns=integer(500, 1, 2**20, "Maximum number of turns; a longer game has no winner."), **_TWO)
def backgammon(options: dict[str, Any]) -> EnvSpec:
    return _spec(options, Array((200,), np.float32, 0, 15), 1352)


@describes(max_tile=Option(2048, _check_tile, "The tile that ends the game.", (8, 2**15, 4, 2**16, 9)), **_ONE)
def game_2048(options: dict[str, Any]) -> EnvSpec:
    return _spec(options, Array((4, 4), np.float32, 0, options["max_tile"]), 4, 1)
