"""NetHack in a terminal: its screen as text, and its keys."""
from __future__ import annotations

import os
import select
import termios
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

import numpy as np
from numpy.typing import NDArray

CLEAR, HOME = "\033[2J", "\033[H"
META = 128


def screen_text(chars: NDArray[np.uint8], colors: NDArray[np.int8], cursor: Any = None) -> str:
    """Returns a screen as colored text, which a terminal displays as NetHack does.

    Args:
        chars: `tty_chars` of one environment.
        colors: Its `tty_colors`.
        cursor: Its `tty_cursor`, shown in reverse; None: not shown.
    """
    at = None if cursor is None else (int(cursor[0]), int(cursor[1]))
    lines = []
    for y, (letters, line) in enumerate(zip(chars.tolist(), colors.tolist(), strict=True)):
        text, last = "", None
        for x, (letter, color) in enumerate(zip(letters, line, strict=True)):
            if letter > 32 or (y, x) == at or last is None or ";7" in last:
                style = f"\033[0;{color >> 3 & 1};3{color & 7}{';7' * ((y, x) == at)}m"
                text += style * (style != last)
                last = style
            text += chr(max(letter, 32))
        lines.append(text + "\033[0m")
    return "\r\n".join(lines)


@contextmanager
def keys_as_they_come(terminal: int) -> Iterator[None]:
    """Makes a terminal return each key at once, including control keys except Ctrl-C."""
    old = termios.tcgetattr(terminal)
    new = termios.tcgetattr(terminal)
    new[0] &= ~(termios.IXON | termios.ICRNL)
    new[3] &= ~(termios.ICANON | termios.ECHO | termios.IEXTEN)
    termios.tcsetattr(terminal, termios.TCSADRAIN, new)
    try:
        yield
    finally:
        termios.tcsetattr(terminal, termios.TCSADRAIN, old)


def pressed(terminal: int) -> int | None:
    """Returns the next key; None if the terminal was closed. Meta and a letter arrive as escape and that letter."""
    typed = os.read(terminal, 1)
    if typed == b"\033" and select.select([terminal], [], [], 0)[0]:
        typed = os.read(terminal, 1)
        return META | typed[0] if typed else None
    return typed[0] if typed else None


def play(env: Any, write: Callable[[str], Any], terminal: int = 0, steps: int | None = None,
         choose: Callable[[Any], Any] | None = None) -> tuple[int, float]:
    """Plays from the keyboard of a terminal until Ctrl-C or the end of input.

    Args:
        env: A pool of one environment.
        write: Writes to the terminal.
        terminal: The descriptor to read keys from.
        steps: Ends after this number of steps.
        choose: Takes the observations and returns the actions; None: the keys are the actions.

    Returns:
        The number of steps, and the sum of rewards.

    Raises:
        ValueError: The environment does not observe its screen.
    """
    options = env.env_spec.options
    missing = {"tty_chars", "tty_colors", "tty_cursor"}.difference(options["observation_keys"])
    if missing:
        raise ValueError(f"observation_keys: expected {', '.join(sorted(missing))} as well (needed by the terminal)")
    actions = {key: number for number, key in reversed([*enumerate(options["actions"])])}
    done, total, said = 0, 0.0, ""
    with keys_as_they_come(terminal) if choose is None else nullcontext():
        try:
            obs, _ = env.reset()
            write(CLEAR)
            while steps is None or done < steps:
                parts = (obs[name][0] for name in ("tty_chars", "tty_colors", "tty_cursor"))
                write(f"{HOME}{screen_text(*parts)}\r\n{done} steps, rewards {total:g}{said}; Ctrl-C quits\033[K")
                if choose is None:
                    key = pressed(terminal)
                    if key is None:
                        break
                    if key not in actions:
                        said = ", no action for this key"
                        continue
                obs, reward, terminated, truncated, _ = env.step([actions[key]] if choose is None else choose(obs))
                done += 1
                total += float(reward[0])
                said = ", episode over: any key starts a new one" if terminated[0] or truncated[0] else ""
        except KeyboardInterrupt:
            pass
    write("\r\n")
    return done, total
