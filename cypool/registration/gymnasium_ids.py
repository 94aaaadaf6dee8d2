"""Makes our environments available to `gymnasium.make_vec("cypool/Pong-v5")` and `gymnasium.make`.

The two packages can be imported in either order.

Gymnasium has no entry points for plug-ins: its `register` must be called. But importing cypool must not import
Gymnasium, so we wait for that import. Nor must it spend time on thousands of ids, so the registry is filled when it is
first read.
"""
from __future__ import annotations

import functools
import importlib.util
import sys
import threading
from collections.abc import Callable, Iterable
from types import ModuleType
from typing import TYPE_CHECKING, Any

from cypool.registration.registry import GYMNASIUM_PREFIX, add_observer, is_gymnasium_id, known_entries
from cypool.util.lock_guard import LockGuard

if TYPE_CHECKING:
    from cypool.registration.registry import Entry

# functions that make vectors of environments for Gymnasium, and single environments
ENTRY_POINT = "cypool.adapters.single:make_vector"
_SINGLE_ENTRY_POINT = "cypool.adapters.single:UnlimitedEnv"


def name_of(id: str) -> str:
    """Returns Gymnasium's name for one of our environments."""
    return id if "/" in id else f"cypool/{id}"


class Registry(dict[str, Any]):
    """Gymnasium's registry, to which our new environments are added when it is read.

    Methods that read behave as those of a dict and call `fill` first.
    """

    def __init__(self, content: dict[str, Any]) -> None:
        super().__init__(content)
        # those that are not added yet; None: all, as none was
        self._pending: list[Entry] | None = None
        self._lock, self._is_filling = threading.RLock(), False

    def add(self, entry: Entry) -> None:
        """Records an environment that was registered."""
        if self._pending is not None:
            self._pending.append(entry)

    def fill(self) -> None:
        """Adds the environments that are still missing."""
        if self._pending == [] and not self._is_filling:
            return
        with LockGuard(self._lock):
            # filling reads the registry, too
            if self._is_filling:
                return
            self._is_filling = True
            try:
                known_entries()
                while self._pending != []:
                    pending, self._pending = self._pending, []
                    announce(self, known_entries() if pending is None else pending)
            finally:
                self._is_filling = False

    def __reduce__(self) -> Any:
        self.fill()
        return dict, (dict(self),)


def _filled(method: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(method)
    def read(self: Registry, *args: Any, **kwargs: Any) -> Any:
        self.fill()
        return method(self, *args, **kwargs)

    return read


for _name in ("__contains__", "__getitem__", "__delitem__", "__iter__", "__reversed__", "__len__", "__eq__", "__ne__",
              "__or__", "__ror__", "__repr__", "get", "keys", "values", "items", "copy", "pop", "popitem",
              "setdefault"):
    setattr(Registry, _name, _filled(getattr(dict, _name)))


def announce(registry: dict[str, Any], entries: Iterable[Entry]) -> None:
    """Registers environments with Gymnasium.

    Those without a namespace get ours, "cypool/Pong-v5"; an id that Gymnasium already knows stays as it is, and the
    namespace "ALE" is left to ale_py, which may be imported later.

    Args:
        registry: Gymnasium's.
        entries: Our registry's entries: id, step limit and reference of each environment.
    """
    gymnasium: Any = sys.modules["gymnasium"]
    make_spec = gymnasium.envs.registration.EnvSpec
    # gymnasium.register compares each new id with all others, a tenth of a second for ours: here they are compared
    # with all at once. It refuses a version next to an id of the same name without one
    unversioned = {(spec.namespace, spec.name) for spec in registry.values() if spec.version is None}
    for entry in entries:
        # a benchmark is no environment that Gymnasium could make, and may be called as another package calls its own
        if entry.expand is not None:
            continue
        name, threshold = name_of(entry.id), None
        # environments that Gymnasium itself cannot make any more are no reference, but registered there
        reference = registry.get(entry.reference.removeprefix(GYMNASIUM_PREFIX) if is_gymnasium_id(entry.reference)
                                 else entry.id)
        if reference is not None:
            threshold = reference.reward_threshold
        if name in registry:
            known = registry[name]
            # an environment that was compiled again may have another limit
            if known.vector_entry_point == ENTRY_POINT:
                known.max_episode_steps = entry.max_episode_steps
        elif not name.startswith("ALE/"):
            try:
                spec = make_spec(name, _SINGLE_ENTRY_POINT, reward_threshold=threshold,
                                 max_episode_steps=entry.max_episode_steps, vector_entry_point=ENTRY_POINT,
                                 kwargs={"cypool_id": entry.id})
            except gymnasium.error.Error:
                # it is stricter about names; ours are for cypool.make in the first place
                continue
            if (spec.namespace, spec.name) not in unversioned:
                registry[name] = spec


def announce_all() -> None:
    """Adds all present and future environments to Gymnasium's registry, now or when Gymnasium is imported."""
    gymnasium: Any = sys.modules.get("gymnasium")
    if gymnasium is None:
        sys.meta_path.insert(0, _Wait())
        return
    # half imported it is in sys.modules already, without its functions
    if not hasattr(gymnasium, "register"):
        return
    former = gymnasium.envs.registration.registry
    if not isinstance(former, Registry):
        registry = Registry(former)
        # gymnasium has it three times, and others may have imported it
        for module in list(sys.modules.values()):
            # vars() would import a lazy one
            names = object.__getattribute__(module, "__dict__") if isinstance(module, ModuleType) else {}
            if names.get("registry") is former:
                names["registry"] = registry
        add_observer(registry.add)


class _Wait:
    """A finder that finds nothing, and only serves to notice the import of Gymnasium."""

    def __init__(self) -> None:
        self.searching = False

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        # not in the search that follows
        if name != "gymnasium" or self.searching:
            return None
        self.searching = True
        try:
            spec = importlib.util.find_spec(name)
        finally:
            self.searching = False
        # a mere folder of that name has no loader
        if spec is not None and spec.loader is not None:
            execute = spec.loader.exec_module

            def execute_and_announce(module: ModuleType) -> None:
                execute(module)
                announce_all()

            spec.loader.exec_module = execute_and_announce  # type: ignore[method-assign]
        return spec
