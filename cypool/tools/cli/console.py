"""Parts that the verbs share: output, refusals, and common arguments."""
from __future__ import annotations

import ast
import functools
import json
import sys
from collections.abc import Callable, Sequence
from enum import Enum
from typing import Annotated, Any, TypeVar

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeRemainingColumn

from cypool.util.arguments import check_choice

Member = TypeVar("Member", bound=Enum)

out = Console()
err = Console(stderr=True)


class Refusal(Exception):
    """The command cannot do what it was asked: the text says what to do. Exit status 2."""


def guarded(verb: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """Returns a verb that turns errors into one line on stderr and an exit status."""
    from cypool.errors import CompileError
    from cypool.util.cache import UnsafeCache

    @functools.wraps(function)
    def run(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except KeyboardInterrupt:
            raise typer.Exit(130) from None
        # what cypool raises of arguments and of what is not installed; a text of several lines begins with the matter
        except (Refusal, ValueError, TypeError, ImportError, NotImplementedError, OSError, CompileError,
                UnsafeCache) as error:
            if isinstance(error, BrokenPipeError):
                raise
            said = " ".join(str(error).split())
            print(f"cypool {verb}: {said}", file=sys.stderr)
            raise typer.Exit(2) from None

    return run


def print_json(value: Any) -> None:
    """Prints a value as JSON on stdout; what JSON does not have is printed as Python shows it."""
    print(json.dumps(value, indent=1, default=plain))


def plain(value: Any) -> Any:
    """Returns something that JSON has in place of an array, a tuple's like or any other object."""
    if hasattr(value, "tolist"):
        return value.tolist()
    return list(value) if isinstance(value, (set, frozenset, tuple)) else repr(value)


def progress(*, transient: bool = True) -> Progress:
    """Returns a progress bar on stderr, which shows only in a terminal."""
    return Progress(SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(),
                    TimeRemainingColumn(), console=err, transient=transient, disable=not err.is_terminal)


def complete_id(incomplete: str) -> list[str]:
    """Returns the ids that begin so, for the shell."""
    from cypool.making.registry import known_ids

    return [id for id in known_ids() if id.startswith(incomplete)]


def choice_option(flag: str, kind: type[Enum], help: str) -> Any:
    """Returns the option of a verb that takes one of the words of an enumeration; `member_of` reads it."""
    words = [str(each.value) for each in kind]
    return typer.Option(flag, metavar=f"[{'|'.join(words)}]", help=help,
                        autocompletion=lambda incomplete: [word for word in words if word.startswith(incomplete)])


def member_of(kind: type[Member], flag: str, word: str) -> Member:
    """Returns the member of an enumeration that a word stands for."""
    return kind(check_choice(flag, word, [str(each.value) for each in kind]))


def options_of(words: Sequence[str]) -> dict[str, Any]:
    """Returns the options that "name=value" words stand for; a value is a Python literal, or else a text."""
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


Id = Annotated[str, typer.Argument(metavar="ID", autocompletion=complete_id, show_default=False,
                                   help="An environment, such as Pong-v5; `cypool list` has them all.")]
Options = Annotated[list[str], typer.Option("--option", "-o", metavar="NAME=VALUE", show_default=False,
                                            help="An option of the environment; may be given several times.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON, for scripts.")]
