"""Adapters to training libraries: one module per library, which must be installed."""
from __future__ import annotations

import importlib
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from packaging.specifiers import SpecifierSet

if TYPE_CHECKING:
    from types import ModuleType

    from cypool.api.gymnasium import GymnasiumPool


def require(module: str, package: str, minimum: str, below: str, extra: str = "",
            install: str = "") -> ModuleType:
    """Imports a module of a library; if that fails, the error names the package to install.

    Args:
        module: The module to import.
        package: The name of the package for pip.
        minimum, below: The supported versions: `minimum` or later, and earlier than `below`.
        extra: The name of the extra, if it differs from the package's.
        install: The command that installs the package, if no extra can.

    Returns:
        The module.

    Raises:
        ImportError: The library is missing, or its version is not supported.
    """
    wanted = f"{package} {minimum} or later, below {below}"
    install = install or f'pip install "cypool[{extra or package}]"'
    try:
        found = importlib.import_module(module)
    except ImportError as error:
        raise ImportError(f"{module}: importing {wanted} failed ({error}): {install}") from error
    have = version(package)
    if not SpecifierSet(f">={minimum},<{below}").contains(have, prereleases=True):
        raise ImportError(f"{module}: expected {wanted}, got {have}: {install}")
    return found


def make_same_step(id: str, library: str, **kwargs: Any) -> GymnasiumPool:
    """Makes a pool with the Gymnasium API that starts new episodes within a step.

    Args:
        id: As in `cypool.make`.
        library: The library that needs such a pool.
        **kwargs: As in `cypool.make`, except `env_type` and `autoreset_mode`.

    Raises:
        TypeError: `env_type` or `autoreset_mode` is given.
    """
    import cypool

    for name, value in (("env_type", "gymnasium"), ("autoreset_mode", "SameStep")):
        if name in kwargs:
            raise TypeError(f"{name}: expected no argument ({library} always uses {value!r}), got "
                            f"{kwargs[name]!r}")
    env: GymnasiumPool = cypool.make(id, "gymnasium", autoreset_mode="SameStep", **kwargs)
    return env


def same_step(env: GymnasiumPool, several_agents: bool = False) -> GymnasiumPool:
    """Returns `env` if it is a pool with the Gymnasium API that starts new episodes within a step.

    Args:
        env: The pool to check.
        several_agents: Whether several agents may act in its environments.

    Raises:
        TypeError, ValueError: `env` is not such a pool.
    """
    from cypool.api.gymnasium import GymnasiumPool

    if not isinstance(env, GymnasiumPool):
        raise TypeError(f"env: expected a pool from cypool.make(..., env_type='gymnasium'), got {env!r}")
    mode = env.metadata["autoreset_mode"].value
    if mode != "SameStep":
        raise ValueError(f"env: expected autoreset_mode='SameStep', got {mode!r}")
    if env.env_spec.agents and not several_agents:
        raise ValueError(f"env: expected environments with one agent, got {env.env_spec.id}, which has several")
    return env


def synchronous(env: GymnasiumPool) -> GymnasiumPool:
    """Returns `env` if it is a synchronous pool.

    Raises:
        ValueError: `env` is not synchronous.
    """
    if env.is_async:
        raise ValueError(f"env: expected batch_size=num_envs, got {env.batch_size} and {env.num_envs}")
    return env
