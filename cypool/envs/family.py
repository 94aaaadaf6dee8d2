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
    """A family of environments: a folder in `cypool/envs` whose `ids.py` defines one of these as `FAMILY`.

    `tests/envs/FAMILY/cases.py` holds what tests, CI, benchmarks and fuzzers need; `docs/reference/FAMILY.md` is its
    page.

    "By class" means keyed by the name of the `Env` subclass; "*" stands for all others. Patterns use `fnmatch` syntax.

    Attributes:
        name: The name of its folder and extension module.
        title: The display name.
        description: A phrase describing its environments, for a table.
        smoke_ids: One or two ids for a smoke test that takes less than a second.
        licence: The license of its data and library, if not cypool's.
        package: The Python package that its environments import or need to run.
        download: The module with which `cypool get` downloads its library if no current package contains it. It has
            `is_there`, `is_valid`, `find`, `checked`, `check_machine`, `download` and `LICENCES`.
        distribution: The wheel that contains its module, if not cypool's own; `extra` installs it.
        extra: The extra in `pyproject.toml` that installs the package or, if there is none, packages for pictures and
            `check_parity`.
        command: The command that installs the package, if an extra would install too much.
        reference: The packages that it matches, with versions, or a phrase if there are none.
        reference_package: Import name of the package that `check_parity` needs in addition to `package` and Gymnasium.
        parity_mode: The autoreset mode that `cypool check` and sweeps use.
        parity_options: Options that `cypool check` replaces if they are None, because the defaults have no reference.
        fidelity: What matches the reference: a phrase for a table.
        data: "module:function" that checks its data for `cypool doctor`: yields statuses, texts and advice.
        groups: Names of groups of ids that `cypool bench` measures together.
        loop: "module:function" that steps the package's own environments one by one, for `cypool bench`, if Gymnasium
            does not have the ids: takes an id, the number of environments and options; returns the action space, and a
            function that takes actions and returns how many environments it stepped.
        peers: By class: the peers that `cypool bench` measures if they have the id, named as in `--peers`.
        peer_options: Options with which cypool and its peers do the same work.
        gymnasium_module: The module that registers its ids with Gymnasium when it is imported.
        keys: By class: the action of each key in `cypool play`; "" is the action while no key is held, by default 0.
        keyboard: "module:function" instead of `keys`: takes a spec; returns a function that maps the names of the held
            keys to an action, and a line that lists the keys.
        turns: Classes of turn-based games, in which each key press is a step.
        terminal: "module:function" that plays with a keyboard in the terminal instead of a window: takes a pool of one
            environment, a write function, the terminal's descriptor, a number of steps or None, and a function that
            maps observations to actions, or None to use the keys; returns the number of steps and the sum of rewards.
            Turn-based games default to the view "single".
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
        """Whether the build includes the family; `CYPOOL_WITHOUT` may leave it out."""
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
        """Returns the `parity_options` that an environment with these options accepts."""
        return {name: value for name, value in self.parity_options.items() if options.get(name, value) is None}

    @property
    def needs(self) -> str:
        """The name of the package or download that its environments need; "" if they need nothing."""
        return self.package or self.name * bool(self.download)

    @property
    def install(self) -> str:
        """The command that installs what its environments or their pictures need; "" if they need nothing."""
        if self.download:
            return f"cypool get {self.name}"
        return self.command or (f'pip install "cypool[{self.extra}]"' if self.extra else "")

    @property
    def build(self) -> str:
        """How to add the family to an installation that lacks it."""
        from_source = "reinstall without CYPOOL_WITHOUT"
        return f"{self.install}, or from source {from_source}" if self.distribution else from_source

    def entries(self, patterns: tuple[str, ...]) -> list[Entry]:
        """Returns the registered ids that match one of the patterns."""
        return [each for each in known_entries() if self.has(each.entry_point) and matches(each.id, patterns)]

    def has(self, entry_point: str) -> bool:
        """Whether the class registered for an id belongs to the family."""
        return entry_point.startswith(f"cypool.envs.{self.name}.")

    def of_class(self, by_class: Mapping[str, Any], entry_point: str, default: Any = None) -> Any:
        """Looks up an entry point's class in one of the by-class mappings."""
        return by_class.get(entry_point.partition(":")[2], by_class.get("*", default))


def matches(id: str, patterns: tuple[str, ...]) -> bool:
    """Whether an id matches one of the patterns."""
    from fnmatch import fnmatchcase  # registering ids does without

    return any(fnmatchcase(id, pattern) for pattern in patterns)
