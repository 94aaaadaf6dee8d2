"""Turn-based games, played in a terminal by typing a line for each move."""
from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

END = "Ctrl-C quits"
Chooser = Callable[[Any], Any]


class Shown(NamedTuple):
    """A position as shown to players.

    Attributes:
        text: The board.
        moves: The legal actions by name.
        is_listed: Whether to always list the moves with numbers, because their names are hard to guess.
        news: The other players' moves since the last position; "" if none are known.
    """

    text: str
    moves: Mapping[str, int]
    is_listed: bool = False
    news: str = ""


def play(env: Any, write: Callable[[str], Any], terminal: int, steps: int | None, choose: Chooser | None,
         show: Callable[[Any, Any, int, Any], Shown], players: tuple[str, ...]) -> tuple[int, float]:
    """Plays until Ctrl-C, the end of input, or a number of steps.

    Args:
        env: A pool of one environment, with the view of one player or of the player to move.
        write: Writes to the terminal.
        terminal: The descriptor to read lines from.
        steps: Ends after this number of steps.
        choose: Takes the observations and returns the actions; None: they are typed in the terminal.
        show: Takes an observation, a mask of legal actions, the player who sees it, and the observation and player of
            the previous position, or None.
        players: Names of the players.

    Returns:
        The number of steps, and the sum of rewards.

    Raises:
        ValueError: The environment has another view.
    """
    # a game of one player has none
    view = env.env_spec.options.get("view") if "current_player" in env.env_spec.info else None
    if view == "players":
        raise ValueError("view: expected 'single' or 'mover' for the terminal, got 'players'")
    done, total = 0, 0.0
    try:
        while steps is None or done < steps:
            obs, info = env.reset()
            player, match, is_over, before = 0, 0.0, False, None
            rewards = np.zeros(len(players))
            while not is_over and (steps is None or done < steps):
                player = int(info["current_player"][0]) if view else 0
                shown = show(obs[0], info["action_mask"][0], player, before)
                write(f"\n{shown.text}\n{shown.news}")
                before = obs[0].copy(), player
                name = players[player] if view else ""
                if choose is None:
                    action = _asked(shown, name, write, terminal)
                    if action is None:
                        return done, total
                    actions = np.array([action])
                else:
                    actions = np.asarray(choose(obs))
                    # the next player hears of it
                    if view != "mover":
                        move = next((move for move, action in shown.moves.items() if action == actions[0]), "")
                        write(f"{name or 'The player'} plays {move}.\n")
                obs, reward, terminated, truncated, info = env.step(actions)
                done += 1
                match += float(reward[0])
                rewards += info["rewards"][0] if view == "mover" else 0
                is_over = bool(terminated[0] or truncated[0])
            total += match
            if is_over:
                shown = show(obs[0], info["action_mask"][0], player, before)
                write(f"\n{shown.text}\n{shown.news}{_result(match, view, rewards, players)}\n")
                if choose is None and (steps is None or done < steps):
                    write(f"Enter starts another game, {END}: ")
                    if _line(terminal) is None:
                        break
    except KeyboardInterrupt:
        pass
    write("\n")
    return done, total


def _result(reward: float, view: str | None, rewards: NDArray[Any], players: tuple[str, ...]) -> str:
    if view is None:
        return f"Game over: {reward:g} points."
    if view == "mover":
        for sign, verbs in ((1, ("wins", "win")), (-1, ("loses", "lose"))):
            names = [name for name, each in zip(players, rewards, strict=True) if sign * each > 0]
            if names:
                return f"{' and '.join(names)} {verbs[len(names) > 1]}."
        reward = 0
    return "Game over without a winner." if reward == 0 else "You win." if reward > 0 else "You lose."


def _asked(shown: Shown, name: str, write: Callable[[str], Any], terminal: int) -> int | None:
    """Asks for a move until it is legal; returns None at the end of input."""
    listed = _in_columns([f"{k + 1}: {move}" if shown.is_listed else move for k, move in enumerate(shown.moves)])
    if shown.is_listed:
        write(f"{listed}\n")
    prompt = f"Your move{f' as {name}' if name else ''} (? lists all, {END}): "
    while True:
        write(prompt)
        line = _line(terminal)
        if line is None:
            write("\n")
            return None
        word = line.strip()
        if word == "?":
            write(f"{listed}\n")
            continue
        # in chess, names may differ in capitals alone
        if word in shown.moves:
            return shown.moves[word]
        word = word.lower()
        by_name = {move.lower(): action for move, action in shown.moves.items()}
        if shown.is_listed and word.isdecimal() and 1 <= int(word) <= len(shown.moves):
            return list(shown.moves.values())[int(word) - 1]
        # the first letters are enough where they are clear
        found = [by_name[word]] if word in by_name else [
            action for move, action in by_name.items() if word and move.startswith(word)]
        if len(found) == 1:
            return found[0]
        write(f"expected one of the {len(shown.moves)} legal moves, got {word!r}\n")


def _in_columns(words: list[str]) -> str:
    size = max(map(len, words), default=0) + 2
    count = max(1, 78 // size)
    rows = [words[k:k + count] for k in range(0, len(words), count)]
    return "\n".join("".join(word.ljust(size) for word in row).rstrip() for row in rows)


def _line(terminal: int) -> str | None:
    """Returns the next line; None at the end of input."""
    typed = b""
    while not typed.endswith(b"\n"):
        try:
            one = os.read(terminal, 1)
        except OSError:  # the terminal is gone
            return None
        if not one:
            return None
        typed += one
    return typed.decode(errors="replace")
