"""EnvPool's interface as it was in versions 0.4 to 0.6: `import cypool.compat.envpool_legacy as envpool`.

Like `cypool.compat.envpool`, but `env_type="gym"` has the API of Gym before 0.26: `reset` returns only observations,
and `step` four values. CleanRL's and PufferLib's scripts are written for it.
"""
from __future__ import annotations

import sys
from typing import Any

from cypool import list_all_envs
from cypool.compat import envpool_functions
from cypool.compat.envpool_functions import make_dm, make_gymnasium, make_spec, modules_of, register
from cypool.compat.envpool_pools import EnvPool, EnvSpec, GymnasiumEnvPool, LegacyEnvPool

__version__ = "0.6.6"  # whose interface this is
__all__ = [
    "EnvPool", "EnvSpec", "GymnasiumEnvPool", "LegacyEnvPool", "list_all_envs", "make", "make_dm", "make_gym",
    "make_gymnasium", "make_spec", "register", "registration",
]


def make(task_id: str, env_type: str, **kwargs: Any) -> Any:
    """Makes a batch of environments like `cypool.compat.envpool.make`, with `legacy=True` for `env_type="gym"`."""
    return envpool_functions.make(task_id, env_type, legacy=env_type == "gym", **kwargs)


def make_gym(task_id: str, **kwargs: Any) -> Any:
    """Makes a batch of environments with the API of Gym before 0.26; arguments as in `make`."""
    return make(task_id, "gym", **kwargs)


registration, python = modules_of(sys.modules[__name__])
