"""Registered environments, and the way from an id to a spec and to `Env` objects."""
from __future__ import annotations

import functools
import importlib
import inspect
import re
import sys
import threading
import warnings
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple, TypeGuard

from cypool.util.arguments import LONGEST, check_int, check_list, shown, suggestion

if TYPE_CHECKING:
    from cypool.spec import EnvSpec

_ID = re.compile(r"([\w.:-]+/)?[\w.:-]+-v\d+")
_EXPANDED_ID = re.compile(r"([\w.:-]+/)?[\w.:-]+")
# many ids have the same
_is_entry_point = functools.cache(re.compile(r"[\w.]+:\w+").fullmatch)
_is_reference = functools.cache(re.compile(r"gymnasium:\S+|[\w.]+:\w+").fullmatch)
_entries: dict[str, Entry] = {}
_patterns: list[Pattern] = []
_matched: dict[str, Entry] = {}  # ids that matched a pattern, the last ones
_MOST_MATCHED = 1024
_absent: dict[str, str] = {}  # ids that others have, and why cypool has not
# modules that register ids when they are imported, and have not been; a dict for its order
_sources: dict[str, None] = {}
_loading: set[int] = set()  # threads that import them
_observers: list[Callable[[Entry], None]] = []  # called with each new entry
_reserved: list[str] = []  # arguments of cypool.make, which are no options
NAMES_ALL = "`cypool list` or list_all_envs() shows all ids"  # where messages send those whose id is unknown
PETTINGZOO_PREFIX = "pettingzoo:"  # of ids whose environments are PettingZoo's
GYMNASIUM_PREFIX = "gymnasium:"  # of ids whose environments Gymnasium's `make` makes, and of such references
# an option's names in cypool's families, Gymnasium and other libraries
_STACKS = ("stack_num", "frame_stack", "num_stack", "stack_size", "n_stack")
_PLUGINS = "cypool.envs"  # the group of entry points; a plug-in's is called as the namespace of its ids
_HEAP_TYPE = 1 << 9  # Py_TPFLAGS_HEAPTYPE: made by Python


class Entry(NamedTuple):
    """The registration of an id."""

    id: str
    entry_point: str
    max_episode_steps: int | None
    reference: str | None
    options: dict[str, Any]
    expand: str | None = None


class Pattern(NamedTuple):
    """The registration of all ids that match a pattern."""

    regex: re.Pattern[str]
    parse: Callable[..., dict[str, Any]]
    entry_point: str
    reference: str | None

    def entry(self, id: str) -> Entry | None:
        """Returns the entry of an id; None if it does not match; raises the exceptions of `parse`."""
        match = self.regex.fullmatch(id)
        if match is None:
            return None
        options = self.parse(**match.groupdict())
        if not isinstance(options, dict):
            raise TypeError(f"parse: expected a function that returns a dict of options, got {shown(options)}")
        options = dict(options)
        return Entry(id, self.entry_point, _limit(options.pop("max_episode_steps", None)), self.reference, options)


class Expansion(NamedTuple):
    """The environments that an id stands for.

    Attributes:
        options: Options of each environment.
        seeds: A seed for each environment.
    """

    options: list[dict[str, Any]]
    seeds: list[int]


def register(id: str, entry_point: str, *, max_episode_steps: int | None = None, reference: str | None = None,
             expand: str | None = None, **options: Any) -> None:
    """Registers an environment for `make`.

    Args:
        id: A name and a version, optionally with a namespace: "Walk-v0", "mine/Walk-v0".
        entry_point: "module:Class" of a subclass of `cypool.env.Env`; imported on first use.
        max_episode_steps: Truncates episodes after this number of steps; None: no limit.
        reference: The reference for `cypool.testing.check_parity`: "gymnasium:<id>"; or "module:function", which takes
            the pool, its seed and its options, and returns a Gymnasium vector environment, whose `np_random` may be
            None, and its name and version.
        expand: "module:function" that makes the id stand for several environments with different options, such as a
            benchmark of many tasks; the id then needs no version. The function takes `num_envs`, where None means the
            minimum, and `seed`, an int; and, as keywords, these `options` and those given to `make`. It returns a list
            of dicts, the options of each environment, and a list of their seeds.
        **options: Values for options of the environment, or of `expand`, instead of the defaults.

    Raises:
        ValueError: The id is malformed or already taken, or the entry point, the limit or the reference is malformed.
        TypeError: An option of the class has the same name as an argument of `make`, or has no value; raised on first
            use if the module has not been imported yet.
    """
    pattern, expected = (_ID, "'<name>-v<number>'") if expand is None else (_EXPANDED_ID, "a name")
    if not isinstance(id, str) or not pattern.fullmatch(id):
        raise ValueError(f"id: expected {expected}, got {shown(id)}")
    _check_references(entry_point, reference)
    if expand is not None and not (isinstance(expand, str) and _is_entry_point(expand)):
        raise ValueError(f"expand: expected 'module:function' or None, got {shown(expand)}")
    _add(Entry(id, entry_point, _limit(max_episode_steps), reference, options, expand))


def _check_references(entry_point: Any, reference: Any) -> None:
    if not isinstance(entry_point, str) or not _is_entry_point(entry_point):
        raise ValueError(f"entry_point: expected 'module:Class', got {shown(entry_point)}")
    if reference is not None and not (isinstance(reference, str) and _is_reference(reference)):
        raise ValueError(f"reference: expected 'gymnasium:<id>', 'module:function' or None, got {shown(reference)}")


def _add(entry: Entry) -> None:
    _check_at_hand(entry)
    # the same once more does no harm: an import that failed half way is repeated
    if _load().setdefault(entry.id, entry) != entry:
        raise ValueError(f"id: {entry.id!r} is already registered")
    _notify(entry)


def register_pattern(pattern: str, parse: Callable[..., dict[str, Any]], *, entry_point: str, examples: Iterable[str],
                     reference: str | None = None) -> None:
    """Registers all ids that match a pattern, for `make`, when there are too many to list.

    Gymnasium's `make` knows the examples; it knows other ids once `cypool.make_spec` or `cypool.make` has used them.

    Args:
        pattern: A regular expression that matches a whole id, with named groups:
            r"Foraging-(?P<size>\\d+)x(?P=size)-v3".
        parse: Takes the groups as keywords, str or None; returns the options of the environment as a dict, which may
            contain `max_episode_steps`. Raises a ValueError for ids that do not exist.
        entry_point, reference: As in `register`.
        examples: Matching ids, to be listed, suggested, tested and counted.

    Raises:
        ValueError: The pattern is not a regular expression, an example does not match or is taken, or another argument
            is malformed.
        TypeError: `parse` does not return a dict.
    """
    try:
        regex = re.compile(pattern)
    except (TypeError, re.error) as error:
        raise ValueError(f"pattern: expected a regular expression, got {shown(pattern)}: {error}") from None
    if not callable(parse):
        raise TypeError(f"parse: expected a function, got {shown(parse)}")
    _check_references(entry_point, reference)
    new = Pattern(regex, parse, entry_point, reference)
    entries = []
    for id in check_list("examples", examples, "ids that match the pattern"):
        entry = new.entry(id) if isinstance(id, str) and _ID.fullmatch(id) else None
        if entry is None:
            raise ValueError(f"examples: expected ids that match {pattern!r}, got {shown(id)}")
        entries.append(entry)
    for entry in entries:
        _add(entry)
    if new not in _patterns:
        _patterns.append(new)


def unregister(package: str, reason: str) -> None:
    """Removes the ids of a package, for a family that a build left out.

    Args:
        package: The common prefix of the entry points.
        reason: The error message for these ids.
    """
    _patterns[:] = [each for each in _patterns if not each.entry_point.startswith(package)]
    _matched.clear()
    ids = [id for id, entry in _entries.items() if entry.entry_point.startswith(package)]
    for id in ids:
        del _entries[id]
    register_absent(ids, reason)


def register_absent(ids: Iterable[str], reason: str) -> None:
    """Sets the reason that the error about unknown ids gives for some that cypool lacks."""
    _absent.update(dict.fromkeys(ids, reason))


def register_again(id: str, entry_point: str, max_episode_steps: int | None, options: dict[str, Any]) -> None:
    """Registers an environment or replaces the one with its id, for environments that are compiled again."""
    entry = Entry(id, entry_point, _limit(max_episode_steps), None, options)
    _check_at_hand(entry)
    _load()[id] = entry
    _notify(entry)


def add_source(module: str) -> None:
    """Adds the name of a module that registers ids; it is imported when ids are first needed."""
    _sources[module] = None


def reserve(make: Callable[..., Any]) -> None:
    """Sets the arguments of `make` itself, for the error about unknown options."""
    own = inspect.signature(make).parameters.values()
    _reserved[:] = [each.name for each in own if each.kind is not each.VAR_KEYWORD]


def add_observer(observer: Callable[[Entry], None]) -> None:
    """Calls a function with the entry of each id that is registered from now on."""
    if observer not in _observers:
        _observers.append(observer)


def list_all_envs() -> list[str]:
    """Returns the sorted ids of all registered environments: cypool's and those of installed plug-ins.

    A plug-in that cannot be imported causes a RuntimeWarning; only its ids are missing.
    """
    _, failed = _import_plugins(None)
    for error in failed:
        warnings.warn(f"{error}; all other environments are available", RuntimeWarning, stacklevel=2)
    return known_ids()


def known_ids() -> list[str]:
    """Returns the sorted ids of cypool's environments and of plug-ins that were imported."""
    return sorted(_load())


def known_entries() -> list[Entry]:
    """Returns the entries of these environments, in the order of their ids."""
    entries = _load()
    return [entries[id] for id in sorted(entries)]


def is_task(source: Any) -> bool:
    """Whether this is a `cypool.mujoco.Task`, or a subclass: something that makes its own environments."""
    return hasattr(source if isinstance(source, type) else type(source), "make_envs")


def make_spec(id: Any, *, max_episode_steps: int | None = None, **options: Any) -> EnvSpec:
    """Describes an environment without creating it.

    Args:
        id: A registered id; or a subclass of `cypool.mujoco.Task`, or an instance of one, which this call sets up.
        max_episode_steps: Overrides the limit of the id or the task.
        **options: Options of the environment.

    Returns:
        The `cypool.spec.EnvSpec`; if the id stands for several environments, the first one's.

    Raises:
        ValueError: The id is unknown, or an option is unknown or out of range.
        ImportError: The entry point cannot be imported.
    """
    if is_task(id):
        envs, backend = id.make_envs(id, 1, 0, max_episode_steps, options)
        backend.close()
        result: EnvSpec = envs[0].spec
        return result
    expansion = expand(id, None, 0, options)
    result = resolve(id, max_episode_steps, options if expansion is None else expansion.options[0])[1]
    return result


def expand(id: str, num_envs: int | None, seed: int, options: dict[str, Any]) -> Expansion | None:
    """Returns the environments of an id that was registered with `expand`, else None; raises the errors of its
    function."""
    entry = entry_of(id)
    if entry.expand is None:
        return None
    import pkgutil  # few ids need it

    each, seeds = pkgutil.resolve_name(entry.expand)(num_envs, seed, **{**entry.options, **options})
    if len(each) != len(seeds) or len(each) != (max(len(each), 1) if num_envs is None else num_envs):
        raise ValueError(f"{entry.expand}: expected options and a seed for each of {num_envs or 'its'} envs, got "
                         f"{len(each)} and {len(seeds)}")
    return Expansion(each, seeds)


def resolve(id: str, max_episode_steps: int | None, options: dict[str, Any]) -> Any:
    """Returns the `Env` subclass and the spec of an id with options; raises as `make_spec` does.

    If the id stands for several environments, the options are all of those of one environment.
    """
    from cypool.spec import EnvSpec

    entry = entry_of(id)
    registered = entry.options if entry.expand is None else {}
    module, name = entry.entry_point.split(":")
    try:
        cls = getattr(importlib.import_module(module), name, None)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{module}.".startswith(f"{error.name}."):
            # a module that it imports
            raise
        raise ModuleNotFoundError(f"{entry.entry_point}, registered as {id}: no module {error.name}",
                                  name=error.name) from error
    if cls is None:
        raise ImportError(f"{entry.entry_point}, registered as {id}: {module} has no {name}")
    if not is_env(cls):
        hint = "; pass a task itself to cypool.make" if is_task(cls) else ""
        raise TypeError(f"{entry.entry_point}: expected a cdef class that derives from cypool.env.Env, got "
                        f"{shown(cls)}{hint}")
    if not callable(getattr(cls, "describe", None)):
        raise TypeError(f"{entry.entry_point}: expected a class with a static method describe, got {shown(cls)}")
    defaults, takes_more = options_of_class(cls)
    for given in (registered, options):
        for option in given:
            if option not in defaults and not takes_more:
                known = [*defaults, *_reserved]
                if option in _reserved:
                    hint = ", but an argument of cypool.make"
                elif stacks := [name for name in _STACKS if option in _STACKS and name in defaults]:
                    hint = f" (did you mean {stacks[0]}?)"
                else:
                    hint = suggestion(option, known)
                if not hint and "randomize" in defaults:
                    hint = " (randomize= changes values in its model)"
                raise ValueError(f"{option}: not an option of {id}{hint}; options: {', '.join(defaults) or 'none'}")
    _check_defaults(f"{entry.entry_point}.describe", defaults, registered)
    chosen = {**defaults, **registered, **options}
    spec = _described(cls, id, chosen, {**registered, **options})
    if not isinstance(spec, EnvSpec):
        raise TypeError(f"{entry.entry_point}.describe: expected an EnvSpec, got {type(spec).__name__}")
    if spec.implementation is not None:
        if not is_env(spec.implementation):
            raise TypeError(f"{entry.entry_point}.describe: expected a cdef class that derives from cypool.env.Env as "
                            f"its implementation, got {shown(spec.implementation)}")
        cls = spec.implementation
    limit = _limit(max_episode_steps)
    if limit is None:
        limit = spec.max_episode_steps if entry.max_episode_steps is None else entry.max_episode_steps
    # only the options that describe returns are checked
    return cls, replace(spec, id=id, options={**chosen, **spec.options}, max_episode_steps=limit)


def _check_at_hand(entry: Entry) -> None:
    """Checks the options of a class that has been imported; `resolve` checks those of others."""
    module, name = entry.entry_point.split(":")
    cls = getattr(sys.modules.get(module), name, None)
    # `is_env` imports NumPy
    if cls is not None and entry.expand is None and is_env(cls) and callable(getattr(cls, "describe", None)):
        _check_defaults(f"{entry.entry_point}.describe", options_of_class(cls)[0], entry.options)


def _check_defaults(describe: str, defaults: dict[str, Any], registered: dict[str, Any]) -> None:
    """Raises a TypeError if an option can never be set, or has no value."""
    for name, value in defaults.items():
        # users cannot set options that an id was registered with
        if name in _reserved and name not in registered:
            raise TypeError(f"{describe}: expected options with names that differ from the arguments of cypool.make, "
                            f"got {name}")
        if value is inspect.Parameter.empty and name not in registered:
            raise TypeError(f"{describe}: expected a default for each option, got none for {name}")


def _described(cls: Any, id: str, chosen: dict[str, Any], given: dict[str, Any]) -> Any:
    """Returns the spec of an environment with options; an error about a value's type names the options."""
    try:
        return cls.describe(**chosen)
    except (TypeError, AttributeError) as error:
        # an environment that checks its options says which one it is
        if not given or any(str(error).startswith(option) for option in chosen):
            raise
        raise TypeError(f"{', '.join(given)}: expected values that {id} accepts, got {shown(given)}: "
                        f"{type(error).__name__}: {error}") from error


def is_hosted_id(id: object) -> TypeGuard[str]:
    """Whether this is an id of Python environments, of Gymnasium or of PettingZoo."""
    return isinstance(id, str) and id.startswith((GYMNASIUM_PREFIX, PETTINGZOO_PREFIX))


def is_gymnasium_id(id: object) -> TypeGuard[str]:
    """Whether an id requests an environment of Gymnasium's `make`."""
    return isinstance(id, str) and id.startswith(GYMNASIUM_PREFIX)


def entry_of(id: str) -> Entry:
    """Returns the registration of an id; raises ValueError if the id is unknown."""
    entries = _load()
    hint = f"; {NAMES_ALL}"
    if not isinstance(id, str):
        raise ValueError(f"id: no environment {shown(id)}{hint}")
    if is_hosted_id(id):
        raise ValueError(f"id: expected a cypool environment, got {shown(id)}: only make, the adapters and "
                         "ClusterEnv run Python environments")
    if id not in entries and (matched := _entry_by_pattern(id)):
        return matched
    if id not in entries and "/" in id:
        namespace = id.split("/")[0]
        found, failed = _import_plugins(namespace)
        if failed and id not in entries:
            raise failed[0]
        # of cypool's own, or of a plug-in's that has been imported
        if not any(other.startswith(f"{namespace}/") for other in entries):
            hint = "; install the package that provides it, or import it first if it has no entry point"
        if found:
            hint = f"; the plug-in {namespace!r} was imported, but did not register it"
        if matched := _entry_by_pattern(id):
            return matched
    if id in _absent:
        raise ValueError(f"id: no environment {shown(id)}: {_absent[id]}")
    if id not in entries:
        import gymnasium

        if id.removeprefix("cypool/") in entries:
            hint = "; only Gymnasium's make and make_vec need the prefix"
        # Gymnasium registers a function of gymnasium.envs for environments that it refuses to make
        elif id in gymnasium.registry and (
                getattr(gymnasium.registry[id].entry_point, "__module__", None) != "gymnasium.envs"):
            hint = f"; {GYMNASIUM_PREFIX + id!r} is Gymnasium's"
        raise ValueError(f"id: no environment {shown(id)}{suggest_id(id[:LONGEST], entries)}{hint}")
    return entries[id]


def _entry_by_pattern(id: str) -> Entry | None:
    """Returns the entry of an id from the first pattern that it matches."""
    if id not in _matched:
        for pattern in _patterns:
            if entry := pattern.entry(id):
                if len(_matched) >= _MOST_MATCHED:
                    _matched.clear()
                _matched[id] = entry
                _notify(entry)
                break
    return _matched.get(id)


def _limit(max_episode_steps: Any) -> int | None:
    if max_episode_steps is None:
        return None
    return check_int("max_episode_steps", max_episode_steps, 1, 2**31 - 2)


def _load() -> dict[str, Entry]:
    # such a module calls register, which comes here again: another thread waits for the import, this one does not
    me = threading.get_ident()
    if _sources and me not in _loading:
        _loading.add(me)
        try:
            for module in list(_sources):
                importlib.import_module(module)
                _sources.pop(module, None)
        finally:
            _loading.discard(me)
    return _entries


def _notify(entry: Entry) -> None:
    for observer in _observers:
        observer(entry)


def is_env(cls: Any) -> bool:
    """Whether this is a compiled subclass of `Env`, or a subclass of one in the same module."""
    from cypool.env import Env

    if not isinstance(cls, type) or not issubclass(cls, Env):
        return False
    # a Python subclass could describe other arrays than the compiled methods write, but not one that their module makes
    compiled = next(each for each in cls.__mro__ if not each.__flags__ & _HEAP_TYPE)
    return compiled.__module__ == cls.__module__


def _import_plugins(namespace: str | None) -> tuple[int, list[ImportError]]:
    """Imports the plug-ins with this name of the entry point, or all.

    Returns their number, and an ImportError for each that failed.
    """
    from importlib.metadata import entry_points

    found, failed = 0, []
    named: dict[str, Any] = {} if namespace is None else {"name": namespace}
    for plugin in entry_points(group=_PLUGINS, **named):
        found += 1
        try:
            plugin.load()
        # a stranger's module may raise anything
        except Exception as error:
            package = plugin.dist.name if plugin.dist else "?"
            wrapped = ImportError(f"plug-in {plugin.name!r} from the package {package!r} cannot be imported: "
                                  f"{type(error).__name__}: {error}")
            wrapped.__cause__ = error
            failed.append(wrapped)
    return found, failed


def options_of_class(cls: Any) -> tuple[dict[str, Any], bool]:
    """Returns the options of a class, and whether its `describe` also takes and checks others."""
    # a describe with ** has the options of its base class's too
    options: dict[str, Any] = {}
    for each in cls.__mro__:
        if "describe" in vars(each):
            parameters = inspect.signature(each.describe).parameters.values()
            options = {p.name: p.default for p in parameters if p.kind != p.VAR_KEYWORD} | options
            if all(p.kind != p.VAR_KEYWORD for p in parameters):
                return options, False
    # no class below has the others
    return options, bool(options)


def suggest_id(id: str, known: Iterable[str]) -> str:
    """Returns " (did you mean ...?)" with the closest known ids, or "" if none is close."""
    # other packages' names for the same thing: ALE/Pong-v5, PongNoFrameskip-v4, pong
    def name_of(id: str) -> str:
        return re.sub(r"^.*/|NoFrameskip|Deterministic|-ram|-v\d+$", "", id).lower()

    same = [other for other in known if name_of(other) == name_of(id)]
    if same:
        # the same but for capital letters is the first
        same.sort(key=lambda other: other.lower() != id.lower())
        return f" (did you mean {' or '.join(same)}?)"
    # a slip in the name weighs more without the parts that ids have in common
    names = {name_of(other): other for other in sorted(known, reverse=True)}
    return suggestion(id, known, cutoff=0.75) or suggestion(name_of(id), names, names.get, cutoff=0.75)
