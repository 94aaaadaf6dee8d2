"""`Family`: everything that the package needs to know about a family of environments, declared in its `ids.py`."""
from __future__ import annotations

import os
from collections.abc import Mapping
from importlib import import_module
from importlib.machinery import PathFinder
from importlib.util import find_spec
from types import MappingProxyType
from typing import Any, NamedTuple

from cypool.registration.registry import Entry, known_entries

_NOTHING: Mapping[str, Any] = MappingProxyType({})


# a NamedTuple: importing cypool with Gymnasium makes this class, and a dataclass takes ten times as long
class Family(NamedTuple):
    """A family of environments: a folder below `cypool/envs` with an `ids.py` that has one of these as `FAMILY`.

    `tests/envs/FAMILY/cases.py` has the part for tests, CI, benchmarks and fuzzers, and `docs/reference/FAMILY.md` is
    its page.

    "By class" means by the name of the `Env` subclass; "*" stands for all others. Patterns are those of `fnmatch`.

    Attributes:
        name: The folder, and its extension module.
        title: The name as people write it.
        description: A phrase about its environments, for a table.
        smoke_ids: One or two ids that show that it works, within a second.
        licence: The licence of its data and its library, if not cypool's.
        package: The Python package that its environments import, or need to run.
        download: The module that downloads the library of its environments if no current package contains it, for
            `cypool get`. It has `is_there`, `is_valid`, `find`, `checked`, `check_machine`, `download` and `LICENCES`.
        distribution: The wheel that contains its module, if not cypool's own; `extra` installs it.
        extra: The extra of `pyproject.toml` that installs the package, or without one the package that draws pictures.
        command: The command that installs the package, if an extra would install too much.
        reference: The packages that it matches, with versions; or a phrase for your own model.
        reference_package: Import name of the package that `check_parity` needs in addition to `package` and Gymnasium.
        parity_mode: The autoreset mode in which `cypool check` and sweeps compare with them.
        parity_options: Options that `cypool check` replaces if they are None, because the defaults have no reference.
        fidelity: The parts that match them: a phrase for a table.
        data: "module:function" that checks its data for `cypool doctor`: yields a status, a text and advice.
        groups: Names of groups of ids that `cypool bench` measures together.
        loop: "module:function" that steps the package's own environments one by one, for `cypool bench`, if Gymnasium
            does not have the ids: takes an id, their number and options; returns the space of actions, and a function
            of actions that returns the number of environments that it stepped.
        peers: By class: the peers of `cypool bench`, with the names of `--peers`, if they have the id.
        peer_options: Options with which cypool and its peers do the same work.
        gymnasium_module: The module that registers its ids with Gymnasium when it is imported.
        keys: By class: the action of each key of `cypool play`; "" is the action without a key, by default action 0.
        keyboard: "module:function" instead of `keys`: takes a spec; returns a function from the names of the held keys
            to an action, and a line that lists the keys.
        turns: Classes of turn-based games, where each key is a step.
        terminal: "module:function" that plays with a keyboard in the terminal instead of a window: takes a pool of one
            environment, a function that writes, the descriptor of the terminal, a number of steps or None, and None or
            a function that takes the observations and returns the actions, instead of keys; returns the number of
            steps and the sum of rewards. A game with turns has the view "single" by default.
    """

    name: str
    title: str
    description: str
    smoke_ids: tuple[str, ...]
    licence: str = ""
    package: str = ""
    download: str = ""
    distribution: str = ""
    extra: str = ""
    command: str = ""
    reference: str = ""
    reference_package: str = ""
    parity_mode: str = "NextStep"
    parity_options: Mapping[str, Any] = _NOTHING
    fidelity: str = ""
    data: str = ""
    groups: Mapping[str, tuple[str, ...]] = _NOTHING
    loop: str = ""
    peers: Mapping[str, tuple[str, ...]] = _NOTHING
    peer_options: Mapping[str, Any] = _NOTHING
    gymnasium_module: str = ""
    keys: Mapping[str, Mapping[str, int]] = _NOTHING
    keyboard: str = ""
    turns: tuple[str, ...] = ()
    terminal: str = ""

    @property
    def is_built(self) -> bool:
        """Whether the build has the family: `CYPOOL_WITHOUT` may leave it out."""
        folder = os.path.join(os.path.dirname(__file__), self.name)
        # find_spec would import the package first
        return PathFinder.find_spec(self.name, [folder]) is not None

    @property
    def is_installed(self) -> bool:
        """Whether the package or download that its environments need is installed."""
        if self.download:
            found: bool = import_module(self.download).is_there()
            return found
        return not self.package or find_spec(self.package) is not None

    @property
    def has_reference(self) -> bool:
        """Whether its reference packages are installed."""
        return self.is_installed and (not self.reference_package or find_spec(self.reference_package) is not None)

    def compared(self, options: Mapping[str, Any]) -> dict[str, Any]:
        """Returns those of `parity_options` that an environment with such options takes."""
        return {name: value for name, value in self.parity_options.items() if options.get(name, value) is None}

    @property
    def needs(self) -> str:
        """The name of the package, or of the download, that its environments need; "": they need nothing."""
        return self.package or self.name * bool(self.download)

    @property
    def install(self) -> str:
        """The command that installs the needs of its environments or their pictures; "": they have none."""
        if self.download:
            return f"cypool get {self.name}"
        return self.command or (f'pip install "cypool[{self.extra}]"' if self.extra else "")

    @property
    def build(self) -> str:
        """How to get the family in an installation that is without it."""
        from_source = "reinstall without CYPOOL_WITHOUT"
        return f"{self.install}, or from source {from_source}" if self.distribution else from_source

    def entries(self, patterns: tuple[str, ...]) -> list[Entry]:
        """Returns the registered ids that match one of the patterns."""
        return [each for each in known_entries() if self.has(each.entry_point) and matches(each.id, patterns)]

    def has(self, entry_point: str) -> bool:
        """Whether a class that an id is registered with is one of the family."""
        return entry_point.startswith(f"cypool.envs.{self.name}.")

    def of_class(self, by_class: Mapping[str, Any], entry_point: str, default: Any = None) -> Any:
        """Returns the value of one of the mappings by class for the class of an entry point."""
        return by_class.get(entry_point.partition(":")[2], by_class.get("*", default))


def matches(id: str, patterns: tuple[str, ...]) -> bool:
    """Whether an id matches one of the patterns."""
    from fnmatch import fnmatchcase  # registering ids does without

    return any(fnmatchcase(id, pattern) for pattern in patterns)
