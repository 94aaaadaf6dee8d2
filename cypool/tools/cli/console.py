"""Shared parts of the verbs: refusals, JSON, the argument parser, and common arguments."""
from __future__ import annotations

import argparse
import ast
import json
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NoReturn


class Refusal(Exception):
    """The command is refused; the message gives the remedy. Exit status 2."""


class Parser(argparse.ArgumentParser):
    """The parser of a verb, with refusals as errors and completions for the shell."""

    def __init__(self, prog: str, **settings: Any) -> None:
        super().__init__(prog, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False, **settings)
        self.words: dict[str, Callable[[], Iterable[str]]] = {}  # by argument: those that it can be

    def error(self, message: str) -> NoReturn:
        """Raises a Refusal."""
        raise Refusal(f"{message.removeprefix('argument ')}; see {self.prog} --help")

    def add(self, *names: str, words: Callable[[], Iterable[str]] | None = None, **settings: Any) -> None:
        """Adds an argument with a fixed set of words, as `add_argument` does."""
        action = self.add_argument(*names, **settings)
        if words is not None:
            self.words[action.dest] = words

    def add_id(self) -> None:
        """Adds the id of an environment, for verbs that need one."""
        self.add("id", metavar="ID", words=all_ids,
                 help="an environment, such as Pong-v5; see `cypool list`")

    def add_options(self) -> None:
        """Adds the options of the environment."""
        self.add("-o", "--option", metavar="NAME=VALUE", action="append", default=[],
                 help="an option of the environment; can be repeated")

    def add_json(self) -> None:
        """Adds the argument --json."""
        self.add("--json", dest="as_json", action="store_true", help="print JSON, for scripts")


def number(kind: type[int] | type[float], low: float, high: float = float("inf")) -> Callable[[str], Any]:
    """Returns a function that parses a word as a number between two bounds."""
    expected = f"a number from {low:g} to {high:g}" if high < float("inf") else f"a number of at least {low:g}"

    def read(word: str) -> Any:
        try:
            value = kind(word)
        except ValueError:
            value = kind(low) - 1
        if not low <= value <= high:
            raise argparse.ArgumentTypeError(f"expected {expected}, got {word!r}")
        return value

    return read


def all_ids() -> list[str]:
    """Returns the ids for completion in the shell."""
    from cypool.registration.registry import known_ids

    return known_ids()


def print_json(value: Any) -> None:
    """Prints a value as JSON on stdout; values that JSON lacks appear as Python shows them."""
    print(json.dumps(value, indent=1, default=plain))


def plain(value: Any) -> Any:
    """Returns an equivalent in JSON for an array, a tuple-like or any other object."""
    if hasattr(value, "tolist"):
        return value.tolist()
    return list(value) if isinstance(value, (set, frozenset, tuple)) else repr(value)


def options_of(words: Sequence[str]) -> dict[str, Any]:
    """Returns the options given by "name=value" words; a value is a Python literal, or otherwise a string."""
    options: dict[str, Any] = {}
    for word in words:
        name, equals, text = word.partition("=")
        if not equals or not name.isidentifier():
            raise Refusal(f"--option: expected name=value, such as frame_skip=2, got {word!r}")
        try:
            options[name] = ast.literal_eval(text)
        except (ValueError, SyntaxError):
            options[name] = text
    return options
