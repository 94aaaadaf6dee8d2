"""Output of the command: colors, tables, wrapped text and progress, if there is a terminal."""
from __future__ import annotations

import os
import shutil
import sys
import textwrap
import time
from collections.abc import Iterator, Sequence
from typing import Any, TextIO, TypeVar

Item = TypeVar("Item")
Cell = str | tuple[str, str]  # a text, or one with a style
_STYLES = {"bold": "1", "dim": "2", "italic": "3", "red": "31", "green": "32", "yellow": "33", "cyan": "36"}


def is_terminal(stream: TextIO | None = None) -> bool:
    """Whether a stream, stdout by default, is a terminal."""
    stream = sys.stdout if stream is None else stream
    return stream is not None and stream.isatty()


def has_colours() -> bool:
    """Whether stdout shows colors: decided by the usual environment variables, or by whether it is a terminal."""
    if os.environ.get("NO_COLOR"):
        return False
    return bool(os.environ.get("FORCE_COLOR")) or (is_terminal() and os.environ.get("TERM") != "dumb")


def width() -> int:
    """Returns the number of characters in a line: 80 without a terminal."""
    return shutil.get_terminal_size().columns


def styled(text: str, style: str) -> str:
    """Returns a text in "bold", "dim", "italic" or a color; unchanged if colors are not shown."""
    return f"\x1b[{_STYLES[style]}m{text}\x1b[0m" if style and text and has_colours() else text


def print_text(text: str, indent: int = 0) -> None:
    """Prints a text wrapped to the width of the terminal, with indented lines."""
    for line in text.splitlines():
        # a line's indentation stays before all lines that it is wrapped to
        before = " " * indent + line[:len(line) - len(line.lstrip())]
        print(textwrap.fill(line.strip(), width(), initial_indent=before, subsequent_indent=before,
                            break_on_hyphens=False) if line.strip() else "")


def print_table(rows: Sequence[Sequence[Cell]], *, heading: Sequence[str] = (), right: Sequence[int] = (),
                styles: Sequence[str] = ()) -> None:
    """Prints rows in columns; the text of the last column wraps.

    Args:
        rows: The cells of each row; "" for an empty one.
        heading: The names of the columns, which may have several lines.
        right: The indexes of right-aligned columns.
        styles: The style of each column, for cells without their own; the rest have none.
    """
    above = max((name.count("\n") + 1 for name in heading), default=0)
    named = [name.split("\n") + [""] * above for name in heading]
    table = [[(column[line], "italic") for column in named] for line in range(above)]
    styles = [*styles, *[""] * max(map(len, [*rows, heading]))]
    table += [[cell if isinstance(cell, tuple) else (cell, styles[k]) for k, cell in enumerate(row)] for row in rows]
    sizes = [max(len(row[k][0]) for row in table if k < len(row)) for k in range(max(map(len, table)))]
    left = sum(sizes[:-1]) + 2 * (len(sizes) - 1)
    for row in table:
        padded = [(text.rjust(sizes[k]) if k in right else text.ljust(sizes[k]), style)
                  for k, (text, style) in enumerate(row[:-1])]
        text, style = row[-1]
        if len(row) - 1 in right:
            text = text.rjust(sizes[len(row) - 1])
        # where there is hardly room for it, it is not wrapped
        elif len(row) == len(sizes) and width() - left >= 20:
            text = textwrap.fill(text, width() - left, break_on_hyphens=False)
        first, *others = text.split("\n")
        line = "  ".join(styled(part, of) for part, of in [*padded, (first, style)])
        print(line if "\x1b" in line else line.rstrip())
        for other in others:
            print(" " * left + styled(other, style))


def in_half_blocks(image: Any, columns: int) -> str:
    """Returns a picture, uint8 (height, width, 3), as lines of this number of characters, two pixels each."""
    rows = 2 * max(1, round(columns * image.shape[0] / image.shape[1] / 2))
    small = area_mean(image, rows, columns)
    lines = []
    for upper, lower in zip(small[::2].tolist(), small[1::2].tolist(), strict=True):
        blocks = ["\x1b[38;2;{};{};{};48;2;{};{};{}m▀".format(*above, *below) if has_colours() else "▀"
                  for above, below in zip(upper, lower, strict=True)]
        lines.append("".join(blocks) + "\x1b[0m" * has_colours())
    return "\n".join(lines)


def area_mean(image: Any, rows: int, columns: int) -> Any:
    """Returns a resized picture, uint8 (rows, columns, 3), by averaging pixels."""
    import numpy as np

    def means(values: Any, count: int) -> Any:
        edges = np.arange(count) * len(values) // count
        # a picture smaller than that has some pixels twice
        return np.stack([values[low:max(high, low + 1)].mean(0)
                         for low, high in zip(edges, [*edges[1:], len(values)], strict=True)])

    across = means(means(np.asarray(image, np.float64), rows).swapaxes(0, 1), columns)
    return across.swapaxes(0, 1).round().astype(np.uint8)


class Progress:
    """A progress line on stderr for the duration of the context; only in a terminal."""

    def __init__(self, what: str = "") -> None:
        self._is_shown = is_terminal(sys.stderr) and os.environ.get("TERM") != "dumb"
        self._what, self._began = "", time.monotonic()
        if what:
            self.show(what)

    def show(self, what: str, done: int = 0, total: int = 0) -> None:
        """Shows the name of the work, its progress and its total; a total of 0 means unknown."""
        if what != self._what:
            self._what, self._began = what, time.monotonic()
        if not self._is_shown:
            return
        line = what
        if total:
            full = 30 * done // total
            line += f" {'━' * full}{'─' * (30 - full)} {done}/{total}"
        if 0 < done < total:
            left = round((time.monotonic() - self._began) / done * (total - done))
            line += f" {left // 60}:{left % 60:02}"
        print(f"\r\x1b[K{line[:width() - 1]}", end="", file=sys.stderr, flush=True)

    def over(self, items: Sequence[Item], what: str) -> Iterator[Item]:
        """Yields the items, and shows how many are done."""
        for k, item in enumerate(items):
            self.show(what, k, len(items))
            yield item

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *_: Any) -> None:
        if self._is_shown:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)
