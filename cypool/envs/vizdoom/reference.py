"""ViZDoom's own Gymnasium wrapper: the reference for `cypool.testing.check_parity`."""
from __future__ import annotations

import warnings
from functools import partial
from typing import Any

import gymnasium
from gymnasium.vector import SyncVectorEnv

from cypool.util.packages import require_version

VERSION = "1.3.2"


class Reference(SyncVectorEnv):
    """Environments of the wrapper. Its streams, which seed episodes, are not compared: ours have no states."""

    np_random = None  # type: ignore[assignment]


def make_reference(ours: Any, seed: int, options: dict[str, Any]) -> tuple[Any, str]:
    """Returns the wrapper's environments as a vector environment, and its name and version.

    ViZDoom leaves files behind in the current folder.
    """
    require_version("check_parity needs", "vizdoom", (VERSION,), 'pip install "cypool[vizdoom]"')
    given = {name: value for name, value in options.items() if name != "config"} | (options.get("config") or {})
    with warnings.catch_warnings():
        # of packages that it imports
        warnings.simplefilter("ignore")
        import vizdoom.gymnasium_wrapper  # noqa: F401

        make = partial(gymnasium.make, ours.env_spec.id, disable_env_checker=True, **given)
        theirs = Reference([make] * ours.num_envs, autoreset_mode=ours.metadata["autoreset_mode"])
    return theirs, f"vizdoom {VERSION}"
