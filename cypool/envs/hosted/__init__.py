"""Environments of Gymnasium, or anybody's with its API, in worker processes behind a pool.

`hosted.pyx` is the pool's side, `stage.pyx` the worker's, `nursery.py` the process that starts workers; `spaces.py`
knows Gymnasium's spaces.
"""
import functools
import importlib

import gymnasium

from cypool.arguments import check_choice, check_float, check_int
from cypool.envs.hosted.hosted import Workers
from cypool.envs.hosted.spaces import described
from cypool.spec import EnvSpec

PREFIX = "gymnasium:"


def is_hosted(id):
    """Whether an id says that Gymnasium's `make` makes the environment."""
    return isinstance(id, str) and id.startswith(PREFIX)


def host_id(id, num_envs, max_episode_steps, render_mode, env_options, options):
    """Starts workers with environments that `gymnasium.make` makes.

    Args:
        id: "gymnasium:" and what `gymnasium.make` takes.
        num_envs, max_episode_steps, render_mode: As in `cypool.make`.
        env_options: None, or a dict for each environment.
        options: Keyword arguments of `gymnasium.make`, and those of `host`.

    Returns:
        What `host` does.
    """
    env_spec = _find(id.removeprefix(PREFIX))
    ways = {name: options[name] for name in ("num_workers", "start_method", "worker_timeout") if name in options}
    common = {name: value for name, value in options.items() if name not in ways}
    limit = None if max_episode_steps is None else check_int("max_episode_steps", max_episode_steps, 1, 2**31 - 2)
    each = [{**common, **own} for own in env_options or [{}] * num_envs]
    fixed = {} if render_mode is None else {"render_mode": render_mode}
    if limit is not None:
        fixed["max_episode_steps"] = limit
    factories = [functools.partial(gymnasium.make, env_spec, **own, **fixed) for own in each]
    entry_point = env_spec.entry_point
    preload = [entry_point.split(":")[0]] if isinstance(entry_point, str) else []
    envs, workers, chosen = host(factories, id, each, limit, preload, own_limit=True, **ways)
    if env_options is None:
        chosen.update(common)
    else:
        chosen["env_options"] = each
    return envs, workers, {**chosen, "render_mode": render_mode}


def host_factories(factories, max_episode_steps, num_workers, start_method, worker_timeout):
    """Starts workers with environments that functions make; returns what `host` does."""
    limit = None if max_episode_steps is None else check_int("max_episode_steps", max_episode_steps, 1, 2**31 - 2)
    modules = {getattr(factory, "__module__", None) for factory in factories} - {None, "__main__"}
    return host(factories, "factories", [{}] * len(factories), limit, sorted(modules), num_workers=num_workers,
                start_method=start_method, worker_timeout=worker_timeout)


def host(factories, id, options, limit, preload, *, own_limit=False, num_workers=None, start_method="forkserver",
         worker_timeout=None):
    """Starts workers with environments.

    Args:
        factories: A function for each environment.
        id: What the specs call it.
        options: What the specs say of each environment's options.
        limit: Steps of an episode at most, or None.
        preload: Modules that workers are likely to need.
        own_limit: Whether the step limit that the environments tell is one they keep.
        num_workers, start_method, worker_timeout: As in `cypool.from_factories`.

    Returns:
        The `Env` objects, the `Workers`, and these last three arguments, as they are now, as a dict.
    """
    num_envs = len(factories)
    num_workers = num_envs if num_workers is None else min(check_int("num_workers", num_workers, 0, 4096), num_envs)
    start_method = check_choice("start_method", start_method, ("forkserver", "spawn"))
    if worker_timeout is not None:
        worker_timeout = check_float("worker_timeout", worker_timeout, 0.001, 1e6)
    workers = Workers(factories, num_workers, start_method, worker_timeout, preload)
    try:
        told = workers.introduction
        spaces = told["observation_space"], told["action_space"]
        observation, action = described(*spaces)
        if own_limit and limit is None:
            limit = told["max_episode_steps"]
        specs = [EnvSpec(observation, action, max_seed=2**64 - 1, render_fps=told["render_fps"], id=id,
                         max_episode_steps=limit, options=own, spaces=spaces) for own in options]
        envs = workers.environments(specs)
    except BaseException:
        workers.close()
        raise
    ways = {"num_workers": num_workers, "start_method": start_method, "worker_timeout": worker_timeout}
    return envs, workers, ways


def _find(name):
    """Returns what Gymnasium knows of an id; "module:id" imports the module first."""
    module, _, known = name.rpartition(":")
    if module:
        importlib.import_module(module)
    try:
        return gymnasium.spec(known)
    except gymnasium.error.Error as error:
        raise ValueError(f"id: {error}") from error
