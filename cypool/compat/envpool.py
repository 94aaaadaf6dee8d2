"""The interface of EnvPool 1.2.5 on cypool: `import cypool.compat.envpool as envpool`.

Names, arguments, spaces and infos match EnvPool's, but its bugs are left out: see docs/how_to/envpool.md.
"""
from __future__ import annotations

import sys
from importlib.util import find_spec
from typing import Any

from cypool import list_all_envs
from cypool.compat import envpool_functions, envpool_legacy
from cypool.compat.envpool_functions import (
    make,
    make_dm,
    make_gym,
    make_gymnasium,
    make_spec,
    modules_of,
    register,
)
from cypool.compat.envpool_pools import EnvPool, EnvSpec, GymnasiumEnvPool, LegacyEnvPool

__version__ = "1.2.5"  # whose interface this is; some libraries ask
__all__ = [
    "EnvPool", "EnvSpec", "GymnasiumEnvPool", "LegacyEnvPool", "install_as_envpool", "list_all_envs", "make",
    "make_dm", "make_gym", "make_gymnasium", "make_spec", "register", "registration",
]
if find_spec("dm_env") is not None:
    # __getattr__ imports it
    __all__ += ["DMEnvPool"]  # noqa: F822


def __getattr__(name: str) -> Any:
    return envpool_functions.__getattr__(name)


def install_as_envpool(legacy: bool = False) -> None:
    """Makes `import envpool` return this module, for libraries that import it themselves.

    This also provides `envpool.registration`, `envpool.python.envpool.EnvPoolMixin` and `envpool.python.protocol`,
    which some of those libraries use.

    Args:
        legacy: Whether to return `cypool.compat.envpool_legacy` instead, for scripts written for EnvPool 0.4 to 0.6.

    Raises:
        RuntimeError: The real EnvPool was already imported, or the other of these two modules was installed.
    """
    here = envpool_legacy if legacy else sys.modules[__name__]
    if sys.modules.get("envpool", here) is not here:
        other = sys.modules["envpool"].__name__
        raise RuntimeError(f"install_as_envpool: {other} was already imported as envpool: call this first")
    if "envpool" in sys.modules:
        return
    sys.modules["envpool"] = here
    sys.modules.update({module.__name__: module for module in (
        here.registration, here.python, here.python.envpool, here.python.protocol)})


registration, python = modules_of(sys.modules[__name__])
