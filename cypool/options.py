"""The options of an environment, each declared once with name, default, check and meaning.

The declaration provides the signature of `describe`, its checks and its docstring, and with it the texts of
`cypool info`, the documentation and the error about an unknown option:

    @describes(height=integer(10, 2, 1000, "Number of rows."), width=integer(5, 1, 1000, "Number of columns."))
    def describe_catch(options):
        shape = (options["height"], options["width"])
        return EnvSpec(observation=Array(shape, np.float32, 0, 1), action=Discrete(3), options=options)

    cdef class Catch(Env):
        describe = staticmethod(describe_catch)
"""
from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from cypool.util.arguments import check_bool, check_choice, check_float, check_int

_LINE = 120  # characters of a line in a docstring


class Option(NamedTuple):
    """An option of an environment.

    Attributes:
        default: Its default value, which is also checked.
        check: Takes the option's name and a value; returns the value for the spec, or raises a TypeError or a
            ValueError that names the option, the expected values and the given one.
        meaning: A description for users.
        edges: Values at the ends of the accepted range, and some outside it, for fuzzers to try.
    """

    default: Any
    check: Callable[[str, Any], Any]
    meaning: str
    edges: tuple[Any, ...] = ()

    def with_default(self, default: Any, meaning: str | None = None) -> Option:
        """Returns the same option with a different default."""
        return self._replace(default=default, meaning=self.meaning if meaning is None else meaning)


def boolean(default: bool | None, meaning: str) -> Option:
    """Returns an option that is True or False; or None, if that is the default."""
    return _or_none(default, check_bool, meaning, (False, True, 2))


def integer(default: int | None, minimum: int, maximum: int, meaning: str) -> Option:
    """Returns an option that is an integer in [minimum, maximum]; or None, if that is the default."""
    return _or_none(default, lambda name, value: check_int(name, value, minimum, maximum), meaning,
                    (minimum, maximum, minimum - 1, maximum + 1))


def number(default: float | None, minimum: float, maximum: float, meaning: str) -> Option:
    """Returns an option that is a number in [minimum, maximum]; or None, if that is the default."""
    return _or_none(default, lambda name, value: check_float(name, value, minimum, maximum), meaning,
                    (minimum, maximum, minimum - 1, maximum + 1, float("nan")))


def choice(default: str | None, choices: Iterable[str], meaning: str) -> Option:
    """Returns an option that is one of several strings; or None, if that is the default."""
    choices = tuple(choices)
    return _or_none(default, lambda name, value: check_choice(name, value, choices), meaning, (*choices, ""))


def unchecked(default: Any, meaning: str) -> Option:
    """Returns an option that the decorated function checks itself, because the check depends on other options."""
    return Option(default, lambda name, value: value, meaning)


def optional(check: Callable[[str, Any], Any], meaning: str) -> Option:
    """Returns an option that is None by default; `check` checks other values."""
    return _or_none(None, check, meaning)


def _or_none(default: Any, check: Callable[[str, Any], Any], meaning: str, edges: tuple[Any, ...] = ()) -> Option:
    if default is None:
        return Option(default, lambda name, value: None if value is None else check(name, value), meaning, edges)
    return Option(default, check, meaning, edges)


def check_options(declared: Mapping[str, Option], given: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the checked value of each option, which is its default if none is given.

    Raises:
        TypeError: An undeclared option is given.
    """
    if not given.keys() <= declared.keys():
        unknown = next(name for name in given if name not in declared)
        raise TypeError(f"describe() got an unexpected keyword argument {unknown!r}")
    return {name: option.check(name, given.get(name, option.default)) for name, option in declared.items()}


def describes(rest: str = "", /, **declared: Option) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Returns a decorator that turns a function of the checked options into `describe`.

    Args:
        rest: A reference to the options of a base class, such as "See `Simulation.describe`."; the function then gets
            those options as a second dict. "": no other options.
        **declared: The options, in the order of the signature.
    """
    parameters = [inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=option.default)
                  for name, option in declared.items()]
    meanings = {name: option.meaning for name, option in declared.items()}
    if rest:
        parameters.append(inspect.Parameter("common", inspect.Parameter.VAR_KEYWORD))
        meanings["**common"] = rest

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def describe(**given: Any) -> Any:
            if not rest:
                return function(check_options(declared, given))
            own = {name: given.pop(name) for name in declared if name in given}
            return function(check_options(declared, own), given)

        describe.__doc__ = _docstring(function.__doc__ or "Returns the spec.", meanings)
        describe.declared = declared  # type: ignore[attr-defined]
        describe.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        return describe

    return decorate


def _docstring(summary: str, meanings: Mapping[str, str]) -> str:
    if not meanings:
        return summary
    import textwrap  # not where levels declare their options

    items = (textwrap.fill(f"{name}: {meaning}", _LINE, initial_indent="    ", subsequent_indent="        ",
                           break_long_words=False, break_on_hyphens=False)
             for name, meaning in meanings.items() if meaning)
    return "\n".join([f"{summary.rstrip()}\n", "Args:", *items])
