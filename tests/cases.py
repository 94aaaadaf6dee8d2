"""`Cases`: all that tests, CI, benchmarks, fuzzers and the gallery need of a family, declared in its `cases.py`."""
from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib import import_module
from types import MappingProxyType
from typing import Any, NamedTuple

from cypool.envs import FAMILIES
from cypool.envs.family import matches
from cypool.registration.registry import entry_of

_NOTHING: Mapping[str, Any] = MappingProxyType({})


class Sanitizer(NamedTuple):
    """How `.ci/sanitize` runs the C++ of a family.

    Attributes:
        target: The library that the run compiles, as `CYPOOL_WITHOUT` calls it; or the family's name: none.
        tests: Files and folders of tests, from the family's folder of tests.
        without: Tests that pytest leaves out: an expression for `-k`.
    """

    target: str
    tests: tuple[str, ...]
    without: str = ""


class Cases(NamedTuple):
    """The cases of a family, in `tests/envs/FAMILY/cases.py` as `CASES`. `Family` has what the package reads.

    "By class" means by the name of the `Env` subclass; "*" stands for all others. Patterns are those of `fnmatch`.

    Attributes:
        quick_ids: Patterns of the ids that tests compare with their references and look at with `check_env`.
        slow_ids: Patterns of those among them that take seconds.
        contract_options: By class: options for `check_env`, and for tests of all that is small.
        short_episode: Options of both, with which every episode ends within twenty steps.
        in_engine_tests: Whether it is needed by the engine's tests that `.ci/sanitize thread` and `address` run.
        is_small: Whether it has no native library, and environments that are quick to make: tests also save,
            load and copy its quick ids.
        saves: Whether they have `save` and `load`.
        fuzz_ids: Patterns of the ids that `fuzz_api.py` makes: those whose files are always there.
        unlisted_ids: Returns the ids that it makes, too, where only some of them are registered as examples.
        fuzz_variants: Ids with options that have separate code, which it makes, too.
        draws_quickly: Whether it may draw them: pictures need no OpenGL, and take milliseconds.
        sanitizer: How `.ci/sanitize` runs its C++; None: only with that of all.
        engine_tests: Tests from its folder that `.ci/sanitize thread` and `address` run with those of the engine.
        lowest_tests: Those that `.ci/run lowest` runs with the lowest versions of all packages.
        widely_packaged: Whether its package has wheels for all systems: smoke tests install the extra of its name.
        packaged_tests: Those that import packages without a wheel for a Python without the GIL.
        measured: Ids on the page of measurements, each with a number of environments.
        first_make: Ids whose first `make` is measured, and the package that it imports, or "".
        pictures: Five ids for the gallery; none: it has no row there.
        observations: By class: the parts of an observation, for its table on the site. A part is the name of a number,
            a name and a count of numbers, or a slice of a field of MuJoCo's data.
    """

    quick_ids: tuple[str, ...] = ("*",)
    slow_ids: tuple[str, ...] = ()
    contract_options: Mapping[str, Mapping[str, Any]] = _NOTHING
    short_episode: Mapping[str, Any] = MappingProxyType({"max_episode_steps": 9})
    in_engine_tests: bool = False
    is_small: bool = False
    saves: bool = True
    fuzz_ids: tuple[str, ...] = ("*",)
    unlisted_ids: Callable[[], Iterable[str]] = tuple
    fuzz_variants: tuple[tuple[str, Mapping[str, Any]], ...] = ()
    draws_quickly: bool = True
    sanitizer: Sanitizer | None = None
    engine_tests: tuple[str, ...] = ()
    lowest_tests: tuple[str, ...] = ()
    widely_packaged: bool = False
    packaged_tests: tuple[str, ...] = ()
    measured: tuple[tuple[str, int], ...] = ()
    first_make: Mapping[str, str] = _NOTHING
    pictures: tuple[str, ...] = ()
    observations: Mapping[str, Sequence[str | tuple[str, int]]] = _NOTHING


CASES: dict[str, Cases] = {family.name: import_module(f"envs.{family.name}.cases").CASES for family in FAMILIES}


def contract_options_of(id: str) -> Mapping[str, Any]:
    """Returns the `contract_options` of an id of cypool's."""
    entry_point = entry_of(id).entry_point
    family = next(each for each in FAMILIES if each.has(entry_point))
    options: Mapping[str, Any] = family.of_class(CASES[family.name].contract_options, entry_point, {})
    return options


def chosen(names: Iterable[str], patterns: Iterable[str]) -> list[str]:
    """Returns the names that match one of the patterns: all of them if there are none."""
    wanted = tuple(patterns) or ("*",)
    return [name for name in names if matches(name, wanted)]
