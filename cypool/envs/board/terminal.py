"""Board games in a terminal: boards as text, and names of moves."""
from __future__ import annotations

from collections.abc import Callable
from functools import partial
from string import ascii_lowercase
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cypool.envs.board.pictures import checkers_of, stones_of
from cypool.envs.board.specs import DIRECTIONS
from cypool.envs.shared.turns import turn_terminal
from cypool.envs.shared.turns.turn_terminal import Chooser, Shown

_PLAYERS = ("X", "O")
_SIGNS = ".XO"
# places of backgammon that are no points
_PLACES, _NAMES = 26, {24: "bar", 25: "none"}
# the position before: what was seen, and who saw it
Before = tuple[NDArray[Any], int] | None


def play(env: Any, write: Callable[[str], Any], terminal: int = 0, steps: int | None = None,
         choose: Chooser | None = None) -> tuple[int, float]:
    """Plays with lines typed in a terminal: see `cypool.envs.shared.turns.turn_terminal.play`."""
    game = env.env_spec.id.removeprefix("board/").removesuffix("-v0")
    show = {"2048": _show_tiles, "backgammon": _show_points}.get(game) or partial(_show_cells, game)
    return turn_terminal.play(env, write, terminal, steps, choose, show, _PLAYERS)


# ---- boards of cells


def _show_cells(game: str, obs: NDArray[Any], legal: NDArray[Any], player: int, before: Before) -> Shown:
    cells = _cells(game, obs, player)
    moves = {_move(game, action, cells.shape): action for action in np.flatnonzero(legal).tolist()}
    draw = _drawn_columns if game == "connect_four" else partial(_drawn_squares, game == "hex")
    done = "" if before is None else _done(game, _cells(game, *before), cells, 2 - player)
    # a game that is over has ended with a move of either player
    if before is not None and not done and legal.any() and _passes(game, _cells(game, *before), cells, 1 + player):
        done = "pass"
    return Shown(draw(cells), moves, news=f"{_SIGNS[2 - player]} plays {done}.\n" if done else "")


def _cells(game: str, obs: NDArray[Any], player: int) -> NDArray[np.int64]:
    """Returns 1 where player 0 has a stone, 2 where player 1 has one, and else 0."""
    first, second = stones_of(game, obs)
    # the planes of Othello are of the player who sees them
    if game == "othello" and player == 1:
        first, second = second, first
    cells: NDArray[np.int64] = (first > 0) + 2 * (second > 0).astype(np.int64)
    return cells


def _square(row: int, column: int) -> str:
    return f"{ascii_lowercase[column]}{row + 1}"


def _move(game: str, action: int, shape: tuple[int, ...]) -> str:
    rows, columns = shape
    if game == "connect_four":
        return str(action + 1)
    if game == "breakthrough":
        cell, direction = divmod(action // 2, DIRECTIONS)
        row, column = divmod(cell, columns)
        return _square(row, column) + _square(row + (1 if direction < 3 else -1), column + direction % 3 - 1)
    return "pass" if action == rows * columns else _square(*divmod(action, columns))


def _done(game: str, before: NDArray[Any], cells: NDArray[Any], other: int) -> str:
    """Returns the other player's move between two positions; "" if it is not known."""
    is_new = (cells == other) & ((before != other) if game == "breakthrough" else (before == 0))
    to = np.argwhere(is_new).tolist()
    if len(to) != 1:
        return ""
    if game == "connect_four":
        return str(to[0][1] + 1)
    if game == "breakthrough":
        left = np.argwhere((before == other) & (cells == 0)).tolist()
        return _square(*left[0]) + _square(*to[0]) if len(left) == 1 else ""
    return _square(*to[0])


def _passes(game: str, before: NDArray[Any], cells: NDArray[Any], own: int) -> bool:
    """Whether the other player, who has no new stone, passed between two positions."""
    # a stone that is put where one was captured is not new; it captures
    return game == "othello" or (game == "go" and bool((cells == own).sum() > (before == own).sum()))


def _drawn_columns(cells: NDArray[Any]) -> str:
    lines = [" ".join(_SIGNS[cell] for cell in row) for row in cells[::-1].tolist()]
    return "\n".join([*lines, " ".join(str(c + 1) for c in range(cells.shape[1]))])


def _drawn_squares(is_hex: bool, cells: NDArray[Any]) -> str:
    lines = ["   " + " ".join(ascii_lowercase[:cells.shape[1]])]
    for r, row in enumerate(cells.tolist()):
        # a row of hexagons is half a cell to the right of the one above
        lines.append(" " * (r * is_hex) + f"{r + 1:2} " + " ".join(_SIGNS[cell] for cell in row))
    if is_hex:
        lines.append("X connects top and bottom, O left and right.")
    return "\n".join(lines)


# ---- others


def _show_tiles(obs: NDArray[Any], legal: NDArray[Any], player: int, before: Before) -> Shown:
    text = "\n".join(" ".join(f"{int(tile) or '.':>5}" for tile in row) for row in obs)
    return Shown(text, {("up", "right", "down", "left")[action]: action for action in np.flatnonzero(legal).tolist()})


def _show_points(obs: NDArray[Any], legal: NDArray[Any], player: int, before: Before) -> Shown:
    # X is player 0
    seen = (0, 1) if player == 0 else (1, 0)
    counts = [checkers_of(obs, who) for who in seen]
    points = [next((f"{sign}{of[k]}" for sign, of in zip("XO", counts, strict=True) if of[k]), ".") for k in range(24)]
    low, high = obs[198:200].astype(int).tolist()
    lines = []
    for numbers in (range(12, 24), range(11, -1, -1)):
        lines += ["".join(f"{text:>4}" for text in row) for row in (
            [str(k + 1) for k in numbers], [points[k] for k in numbers])]
    lines += [f"{sign}: {int(obs[192 + 3 * who])} on the bar, {int(obs[193 + 3 * who])} off the board"
              for sign, who in zip("XO", seen, strict=True)]
    moves = {}
    for action in np.flatnonzero(legal).tolist():
        # the first checker takes the higher die, unless the action says otherwise
        dice = (low, high) if action >= _PLACES**2 else (high, low)
        places = action % _PLACES, action // _PLACES % _PLACES
        moves[", ".join(f"{_NAMES.get(place, place + 1)} by {die}"
                        for place, die in zip(places, dice, strict=True))] = action
    lines.append(f"Dice: {high} and {low}. X moves toward higher points, O toward lower ones."
                 if legal.any() else "")
    return Shown("\n".join(lines), moves, is_listed=True)
