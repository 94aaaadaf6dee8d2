"""Lets `gymnasium.make_vec("cypool/Pong-v5")` find our environments, whichever of the two is imported first.

Gymnasium has no entry points for plug-ins: somebody has to call its `register`. But importing cypool is not to import
Gymnasium, so if it is not there yet, we wait for its import.
"""
import importlib.util
import sys

# what makes vectors of environments for Gymnasium
ENTRY_POINT = "cypool:make_gymnasium"
# of a reference that Gymnasium makes
_PREFIX = "gymnasium:"


def name_of(id):
    """Returns what Gymnasium calls an environment of ours."""
    return id if "/" in id else f"cypool/{id}"


def announce(entries):
    """Registers environments with Gymnasium, if that is loaded; else they are when it is.

    Those without a namespace get ours, "cypool/Pong-v5"; an id that Gymnasium knows already stays what it is, and
    those in the namespace "ALE" are left to ale_py, which may come later.

    Args:
        entries: Of the registry: id, step limit and reference of each environment.
    """
    # half imported it is in sys.modules already, without its functions
    gymnasium = sys.modules.get("gymnasium")
    if not hasattr(gymnasium, "register"):
        return
    registry = gymnasium.registry
    for entry in entries:
        name, threshold = name_of(entry.id), None
        if entry.reference is not None and entry.reference.startswith(_PREFIX):
            reference = registry.get(entry.reference[len(_PREFIX):])
            threshold = None if reference is None else reference.reward_threshold
        if name in registry:
            known = registry[name]
            # what was compiled once more may have another limit
            if known.vector_entry_point == ENTRY_POINT:
                known.max_episode_steps = entry.max_episode_steps
        elif not name.startswith("ALE/"):
            try:
                gymnasium.register(name, reward_threshold=threshold, max_episode_steps=entry.max_episode_steps,
                                   vector_entry_point=ENTRY_POINT, kwargs={"id": entry.id})
            except gymnasium.error.Error:
                # it is stricter about names; ours are for cypool.make in the first place
                pass


def announce_all():
    """Registers all environments with Gymnasium, now or when it is imported."""
    if "gymnasium" not in sys.modules:
        sys.meta_path.insert(0, _Wait())
    else:
        from cypool.registry import known_entries

        announce(known_entries())


class _Wait:
    """A finder that finds nothing, but learns in this way that Gymnasium is being imported."""

    def __init__(self):
        self.searching = False

    def find_spec(self, name, path=None, target=None):
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

            def execute_and_announce(module):
                execute(module)
                announce_all()

            spec.loader.exec_module = execute_and_announce
        return spec
