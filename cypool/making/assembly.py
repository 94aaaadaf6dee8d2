"""Builds the engine's pool from arguments: environments, seeds, threads, wrappers."""
from __future__ import annotations

import secrets
from collections.abc import Callable, Sized
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from cypool.engine import cpus
from cypool.engine.engine import Pool, ThreadPool
from cypool.registration.registry import entry_of, expand, is_hosted_id, is_task, resolve
from cypool.spec import copied
from cypool.util.arguments import MAX_ENVS, check_bool, check_int, check_list, seeds_of, shown

if TYPE_CHECKING:
    from cypool.env import Env
    from cypool.registration.registry import Expansion
    from cypool.spec import EnvSpec
    from cypool.util.typing import Seed

_MAX_THREADS = 4096


@dataclass
class _Parts:
    """The parts of a pool.

    Attributes:
        envs: The environments.
        spec: The spec for the API.
        chosen: The options and hooks, for a recipe.
        num_threads: Number of threads that step environments.
        seeds: A seed or None for each environment.
        affinity: The CPUs of the threads, or None.
        workers: The processes or threads that step Python environments, or None.
        batch_hooks: The arguments of the pool's `BatchHooks`, or None.
    """

    envs: list[Env]
    spec: EnvSpec
    chosen: dict[str, Any]
    num_threads: int
    seeds: list[Any]
    affinity: Any = None
    workers: Any = None
    batch_hooks: dict[str, Any] | None = None


def make_pool(source: str | list[Callable[[], Any]], *, num_envs: int | None, autoreset: str, options: dict[str, Any],
              batch_size: int | None = None, num_threads: int | None = None, seed: Seed = None,
              max_episode_steps: int | None = None, env_options: Any = None, statistics: bool = False,
              thread_pool: ThreadPool | None = None, thread_affinity: Any = None, allow_python_envs: bool = False,
              render_mode: str | None = None, reward_hook: Any = None, observation_hook: Any = None,
              debug: bool = False, wrap: Callable[[EnvSpec, int, Env], Env] | None = None,
              ) -> tuple[Any, EnvSpec, dict[str, Any]]:
    """Makes the engine's pool from the arguments that all APIs share.

    Args:
        source: An id; or, with `allow_python_envs`, a list of functions that make environments, or a task.
        allow_python_envs: Whether Gymnasium environments and tasks are accepted.
        wrap: A function of an environment's spec, its id and the environment; returns a replacement.

    Returns:
        The pool, the spec of its environments, and the choices: the arguments `seed` and `env_options`, or the options
        if all have the same, and hooks.
    """
    if num_envs is not None:
        num_envs = check_int("num_envs", num_envs, 1, MAX_ENVS)
    of_task = allow_python_envs and is_task(source)
    is_hosted = of_task or (allow_python_envs and (isinstance(source, list) or is_hosted_id(source)))
    expansion = None if is_hosted else _expanded(source, num_envs, seed, options)
    given: dict[str, Any] = {}
    if expansion is not None:
        num_envs = len(expansion.options)
        # those that are given one by one count
        seed = seed if isinstance(seed, Sized) else expansion.seeds
        given, options = options, {}
    num_envs = num_envs or 1
    batch_size = num_envs if batch_size is None else check_int("batch_size", batch_size, 1, num_envs)
    is_hooked = reward_hook is not None or observation_hook is not None or check_bool("debug", debug)
    env_options = _checked_env_options(env_options, num_envs)
    own_options = env_options or [{}] * num_envs
    if expansion is not None:
        env_options = [{**each, **more} for each, more in zip(expansion.options, own_options, strict=True)]
    if is_hosted:
        if thread_pool is not None or thread_affinity is not None:
            raise ValueError("thread_pool, thread_affinity: expected neither for Gymnasium environments or tasks, "
                             "which have their own workers")
        if is_hooked:
            raise ValueError("reward_hook, observation_hook, debug: expected none of these for Gymnasium environments "
                             "or tasks; use Gymnasium's wrappers or the task's methods instead")
    if of_task:
        if batch_size < num_envs:
            raise ValueError(f"batch_size: expected {num_envs} (a task steps all its environments together), "
                             f"got {batch_size}")
        if env_options is not None:
            raise ValueError("env_options: expected None, because all environments in a task have the same options")
        parts = _of_task(source, num_envs, num_threads, seed, max_episode_steps, render_mode, options)
    elif is_hosted:
        parts = _in_workers(source, num_envs, num_threads, seed, max_episode_steps, render_mode, env_options, options)
    else:
        num_threads = _threads_of(thread_pool, num_threads, thread_affinity)
        parts = _in_threads(source, num_envs, batch_size, num_threads, thread_affinity, seed, max_episode_steps,
                            render_mode, env_options, own_options, options)
        # an id may set an option of this name; in a recipe it is the argument above
        parts.chosen.pop("debug", None)
        if wrap is not None:
            parts.envs = [wrap(env.spec, i, env) for i, env in enumerate(parts.envs)]
        if is_hooked:
            from cypool.wrappers import wrap_envs

            parts.envs, parts.spec, parts.batch_hooks, given = wrap_envs(
                parts.envs, parts.spec, reward_hook, observation_hook, debug)
            parts.chosen.update(given)
    try:
        pool = Pool(parts.envs, parts.seeds, batch_size, parts.num_threads, autoreset, statistics, thread_pool,
                         parts.affinity, parts.workers)
    except BaseException:
        if parts.workers is not None:
            parts.workers.close()
        raise
    if parts.batch_hooks is not None:
        from cypool.features.batch_hooks import BatchHooks

        pool.use_hooks(BatchHooks(pool.num_envs, **parts.batch_hooks))
    return pool, parts.spec, copied({**given, **parts.chosen, "seed": parts.seeds})


def _expanded(id: Any, num_envs: int | None, seed: Seed, options: dict[str, Any]) -> Expansion | None:
    """Returns the environments that an id stands for, if there are several."""
    if entry_of(id).expand is None:
        return None
    # of several seeds the first one decides
    seeds = seeds_of(secrets.randbits(30) if seed is None else seed, len(seed) if isinstance(seed, Sized) else 1, None)
    first = seeds[0] if seeds else None
    return expand(id, num_envs, secrets.randbits(30) if first is None else first, options)


def _checked_env_options(env_options: Any, num_envs: int) -> list[dict[str, Any]] | None:
    if env_options is None:
        return None
    each = check_list("env_options", env_options, f"a dict for each of {num_envs} envs")
    if len(each) != num_envs or not all(isinstance(one, dict) for one in each):
        raise ValueError(f"env_options: expected a dict for each of {num_envs} envs, got {shown(each)}")
    return each


def _threads_of(thread_pool: Any, num_threads: int | None, thread_affinity: Any) -> int | None:
    """Returns the requested number of threads: that of the `ThreadPool`, if one is given."""
    if thread_pool is None:
        return num_threads
    if not isinstance(thread_pool, ThreadPool):
        raise TypeError(f"thread_pool: expected a cypool.ThreadPool, got {shown(thread_pool)}")
    if num_threads is not None or thread_affinity is not None:
        raise ValueError("thread_pool: expected None with num_threads or thread_affinity")
    return thread_pool.num_threads


def _in_workers(source: Any, num_envs: int, num_threads: int | None, seed: Seed, max_episode_steps: int | None,
                render_mode: str | None, env_options: list[dict[str, Any]] | None, options: dict[str, Any]) -> _Parts:
    """Starts Gymnasium environments in workers: processes, or threads of this process."""
    from cypool.hosting import make_factory_envs, make_gymnasium_envs

    _check_render_mode(render_mode, ("rgb_array", "ansi"))
    if isinstance(source, list):
        envs, workers, chosen = make_factory_envs(source, max_episode_steps, **options)
    else:
        # as many at a time
        if num_threads is not None:
            options = {"num_workers": check_int("num_threads", num_threads, 0, _MAX_THREADS), **options}
        envs, workers, chosen = make_gymnasium_envs(source, num_envs, max_episode_steps, render_mode, env_options,
                                                    options)
    spec = envs[0].spec
    try:
        # without a seed an environment of Gymnasium is not seeded: it may do so itself
        seeds = seeds_of(seed, num_envs, spec.max_seed) or [None] * num_envs
    except BaseException:
        workers.close()
        raise
    return _Parts(envs, spec, chosen, 0, seeds, workers=workers)


def _of_task(source: Any, num_envs: int, num_threads: int | None, seed: Seed, max_episode_steps: int | None,
             render_mode: str | None, options: dict[str, Any]) -> _Parts:
    """Makes environments that Python functions over all of them step."""
    envs, backend = source.make_envs(source, num_envs, num_threads, max_episode_steps, options)
    try:
        _check_render_mode(render_mode, envs[0].spec.render_modes)
        return _Parts(envs, envs[0].spec, dict(options), 0, _drawn_seeds(seed, num_envs, envs[0].spec), workers=backend)
    except BaseException:
        backend.close()
        raise


def _in_threads(id: Any, num_envs: int, batch_size: int, num_threads: int | None, thread_affinity: Any, seed: Seed,
                max_episode_steps: int | None, render_mode: str | None, env_options: list[dict[str, Any]] | None,
                own_options: list[dict[str, Any]], options: dict[str, Any]) -> _Parts:
    """Makes environments for the pool's threads."""
    found, chosen = _resolve(id, num_envs, max_episode_steps, render_mode, env_options, own_options, options)
    _, spec = found[0]
    if num_threads is None:
        num_threads = min(spec.default_threads(cpus.available(), sync=batch_size == num_envs), batch_size)
    # more threads than environments have nothing to do
    num_threads = min(check_int("num_threads", num_threads, 0, _MAX_THREADS), num_envs)
    affinity = cpus.affinity(thread_affinity, num_threads)
    seeds = _drawn_seeds(seed, num_envs, spec)
    envs = [cls(each, i) for i, (cls, each) in enumerate(found)]
    return _Parts(envs, spec, chosen, num_threads, seeds, affinity)


def _check_render_mode(render_mode: Any, modes: tuple[str, ...]) -> None:
    if render_mode is None or (isinstance(render_mode, str) and render_mode in modes):
        return
    *others, last = map(repr, (None, *modes))
    got = shown(render_mode)
    instead = "; use cypool play for a window or cypool.record for a video" if got == "'human'" else ""
    raise ValueError(f"render_mode: expected {', '.join(others)} or {last}, got {got}{instead}")


def _resolve(id: Any, num_envs: int, max_episode_steps: int | None, render_mode: str | None,
             env_options: list[dict[str, Any]] | None, own_options: list[dict[str, Any]],
             options: dict[str, Any]) -> tuple[list[tuple[type[Env], EnvSpec]], dict[str, Any]]:
    """Returns the class and the spec of each environment, and their options for a recipe.

    Args:
        own_options: The part of `env_options` that the user gave, for errors.
    """
    def one(options: dict[str, Any]) -> tuple[type[Env], EnvSpec]:
        cls, spec = resolve(id, max_episode_steps, options)
        _check_render_mode(render_mode, spec.render_modes)
        return cls, spec if render_mode in (None, spec.render_mode) else replace(spec, render_mode=render_mode)

    if env_options is None:
        cls, spec = one(options)
        return [(cls, spec)] * num_envs, dict(spec.options)
    found = []
    for i, (each, own) in enumerate(zip(env_options, own_options, strict=True)):
        try:
            found.append(one({**options, **each}))
        except (TypeError, ValueError) as error:
            if not str(error).startswith(tuple(map(str, own))):
                raise
            kind = ValueError if isinstance(error, ValueError) else TypeError
            raise kind(f"env_options[{i}]: {error}") from error
    _, spec = found[0]
    for i, (_, other) in enumerate(found):
        for part in ("observation", "action", "info", "agents", "agents_leave", "turns", "illegal", "state",
                     "goals"):
            if getattr(other, part) != getattr(spec, part):
                raise ValueError(f"env_options: expected the same {part} in all environments, but env 0 has "
                                 f"{getattr(spec, part)} and env {i} has {getattr(other, part)}")
    return found, {"env_options": [dict(other.options) for _, other in found]}


def _drawn_seeds(seed: Seed, num_envs: int, spec: EnvSpec) -> list[int]:
    """Returns a seed for each environment, from the argument of `make` or from the operating system."""
    # 30 bits: every family takes them
    seeds = seeds_of(secrets.randbits(30) if seed is None else seed, num_envs, spec.max_seed)
    return [secrets.randbits(30) if s is None else s for s in seeds or ()]
