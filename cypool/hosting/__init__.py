"""Gymnasium environments, and others with its API, in worker processes or threads behind a pool.

`backend.pxi` is the pool's side, `worker.pyx` the worker's, `shared_memory.pxi` the memory between them.
`worker_processes.pxi` and `worker_threads.pxi` start and end the workers, and `spaces.py` translates Gymnasium's
spaces.
"""
from __future__ import annotations

import functools
import importlib
from collections.abc import Callable
from typing import Any

import gymnasium

from cypool.hosting.hosting import HostingBackend
from cypool.hosting.pettingzoo import make_pettingzoo, module_of
from cypool.hosting.spaces import described, without_texts
from cypool.registration.registry import GYMNASIUM_PREFIX, PETTINGZOO_PREFIX
from cypool.spec import EnvSpec
from cypool.util.arguments import check_choice, check_float, check_int, shown

WORKER_OPTIONS = ("workers", "num_workers", "start_method", "worker_timeout")


def make_gymnasium_envs(id: str, num_envs: int, max_episode_steps: int | None, render_mode: str | None,
                        env_options: Any, options: dict[str, Any]) -> Any:
    """Starts workers with environments that `gymnasium.make` makes, or PettingZoo's.

    Args:
        id: "gymnasium:" and an argument of `gymnasium.make`; or "pettingzoo:" and one of `make_pettingzoo`.
        num_envs, max_episode_steps, render_mode: As in `cypool.make`.
        env_options: None, or a dict for each environment.
        options: Keyword arguments of `gymnasium.make`, or of PettingZoo's function, and those of `start_workers`.

    Returns:
        The result of `start_workers`.
    """
    worker_options = {name: options[name] for name in WORKER_OPTIONS if name in options}
    common = {name: value for name, value in options.items() if name not in worker_options}
    limit = None if max_episode_steps is None else check_int("max_episode_steps", max_episode_steps, 1, 2**31 - 2)
    each = [{**common, **own} for own in env_options or [{}] * num_envs]
    fixed: dict[str, Any] = {} if render_mode is None else {"render_mode": render_mode}
    make, preload, own_limit = _maker(id)
    if limit is not None and own_limit:
        fixed["max_episode_steps"] = limit
    factories = [functools.partial(make, **own, **fixed) for own in each]
    envs, backend, chosen = start_workers(factories, id, each, limit, preload, own_limit=own_limit, **worker_options)
    if env_options is None:
        chosen.update(common)
    else:
        chosen["env_options"] = each
    return envs, backend, chosen


def make_factory_envs(factories: Any, max_episode_steps: int | None, **worker_options: Any) -> Any:
    """Starts workers with environments that functions make; returns the result of `start_workers`."""
    limit = None if max_episode_steps is None else check_int("max_episode_steps", max_episode_steps, 1, 2**31 - 2)
    modules = {getattr(factory, "__module__", None) for factory in factories} - {None, "__main__"}
    return start_workers(factories, "factories", [{}] * len(factories), limit, sorted(modules), **worker_options)


def start_workers(factories: Any, id: str, options: Any, limit: Any, preload: Any, *, own_limit: bool = False,
                  workers: str = "auto", num_workers: int | None = None,
                  start_method: str | None = "forkserver", worker_timeout: float | None = None) -> Any:
    """Starts workers with environments.

    Args:
        factories: A function for each environment.
        id: The environments' id in the specs.
        options: Options of each environment, for the specs.
        limit: Maximum steps of an episode, or None.
        preload: Modules that workers are likely to need.
        own_limit: Whether the environments apply the step limit that they report.
        workers, num_workers, start_method, worker_timeout: As in `cypool.from_factories`.

    Returns:
        The `Env` objects, the `HostingBackend`, and a dict of these last four arguments, with their final values.
    """
    num_envs = len(factories)
    num_workers = num_envs if num_workers is None else min(check_int("num_workers", num_workers, 0, 4096), num_envs)
    if start_method is None:
        start_method = "forkserver"
    start_method = check_choice("start_method", start_method, ("forkserver", "spawn"))
    if worker_timeout is not None:
        worker_timeout = check_float("worker_timeout", worker_timeout, 0.001, 1e6)
    in_threads = check_choice("workers", workers, ("auto", "processes", "threads")) == "threads"
    if in_threads and start_method != "forkserver":
        raise ValueError(f"start_method: expected None with workers='threads', got {shown(start_method)}")
    if in_threads and worker_timeout is not None:
        raise ValueError("worker_timeout: expected None with workers='threads' (threads cannot be killed), got "
                         f"{shown(worker_timeout)}")
    worker_options = {"workers": workers, "num_workers": num_workers, "start_method": start_method,
                      "worker_timeout": worker_timeout}
    backend = HostingBackend(factories, num_workers, in_threads, start_method, worker_timeout, preload)
    try:
        description = backend.env_description
        parts: dict[str, Any]
        if description["agents"] is not None:
            parts = {"agents": description["agents"]["groups"], "turns": description["agents"]["turns"],
                     "agents_leave": True}
        else:
            observation, action = described(description["observation_space"], description["action_space"])
            spaces = without_texts(description["observation_space"]), description["action_space"]
            parts = {"observation": observation, "action": action, "spaces": spaces}
        if own_limit and limit is None:
            limit = description["max_episode_steps"]
        specs = [EnvSpec(**parts, **description["rendering"], max_seed=2**64 - 1, id=id, max_episode_steps=limit,
                         options=own) for own in options]
        envs = backend.environments(specs)
    except BaseException:
        backend.close()
        raise
    return envs, backend, worker_options


def _maker(id: str) -> tuple[Callable[..., Any], list[str], bool]:
    """Returns a function that makes an environment, modules that it needs, and whether it takes a step limit."""
    if id.startswith(PETTINGZOO_PREFIX):
        name = id.removeprefix(PETTINGZOO_PREFIX)
        return functools.partial(make_pettingzoo, name), [module_of(name).__name__], False
    env_spec = _find(id.removeprefix(GYMNASIUM_PREFIX))
    entry_point = env_spec.entry_point
    preload = [entry_point.split(":")[0]] if isinstance(entry_point, str) else []
    return functools.partial(gymnasium.make, env_spec), preload, True


def _find(name: str) -> Any:
    """Returns Gymnasium's spec of an id; "module:id" imports the module first."""
    module, _, known = name.rpartition(":")
    if module:
        importlib.import_module(module)
    try:
        return gymnasium.spec(known)
    except gymnasium.error.Error as error:
        raise ValueError(f"id: {error}") from error
