"""From arguments to environments with a face: registry, engine and face are joined here."""
from enum import Enum

from cypool.arguments import check_bool, check_int, check_list, shown


def make(id, env_type="gymnasium", *, num_envs=1, batch_size=None, num_threads=None, seed=None,
         max_episode_steps=None, autoreset_mode="NextStep", episode_statistics=False, normalize_obs=False,
         normalize_reward=False, render_mode=None, thread_pool=None, thread_affinity=None, env_options=None,
         reward_hook=None, observation_hook=None, debug=False, **options):
    """Makes a batch of environments.

    Args:
        id: An id of `list_all_envs()`, such as "Pong-v5"; or "gymnasium:" and an id of Gymnasium's, which then makes
            the environments, in processes of their own, as `from_factories` does.
        env_type: The API of the result: "gymnasium"; "gym", the classic one of Gym before 0.26; or "dm", dm_env's.
        num_envs: How many environments, 1 to 1,048,576.
        batch_size: Environments that one `recv` returns. By default `num_envs`: synchronous. With less the
            pool is asynchronous and returns those that finish first.
        num_threads: Threads that step environments, 0 to 4096. By default as many as there are CPUs for this
            process, several for each where a step mostly waits, but not more than `batch_size`. A synchronous
            caller is one of them, so 0 and 1 run everything on the caller's thread; an asynchronous pool does so with
            0 only. Of Gymnasium's environments: `num_workers`.
        seed: An int, and environment i gets `seed + i`; or a sequence of one int per environment.
            By default seeds are drawn from the operating system; Gymnasium's environments are then reset without one.
        max_episode_steps: Overrides the step limit of the id.
        autoreset_mode: "NextStep", "SameStep" or "Disabled", or a `gymnasium.vector.AutoresetMode`: when an
            environment whose episode has ended starts the next one. The env_types "gym" and "dm" know "NextStep" only.
        episode_statistics: Whether infos tell return, length and time of episodes that end: `info["episode"]`, as
            Gymnasium's RecordEpisodeStatistics has it. Not with env_type "dm".
        normalize_obs, normalize_reward: Whether observations and rewards are normalized, by statistics kept as it goes:
            see `cypool.faces.normalized.NormalizedPool`. Only with env_type "gymnasium".
        render_mode: "rgb_array" or None, which are the same: `render()` always works where the environment has it.
            Gymnasium's environments have to be told "rgb_array" to be drawn.
        thread_pool: A `cypool.ThreadPool`, whose threads the pool shares with others, instead of `num_threads`.
        thread_affinity: Which CPUs the threads run on: a sequence of CPU numbers, dealt out in turn, one to a thread;
            or "numa", which spreads them over the memory nodes. A synchronous caller, which is one of the threads,
            stays where it is. By default the operating system decides.
        env_options: A sequence of one dict per environment: options in which they differ, on top of `options`. What
            they observe and take has to be the same.
        reward_hook: A function that makes the reward: a C function, which the threads call for each environment, or a
            Python function, which is called for each batch. See `cypool.hooks`.
        observation_hook: The same for the observation; or a pair of it and what it makes, an `Array` or `Discrete` of
            `cypool.spec`, or a dict or tuple of them, where that is not what the environment describes.
        debug: Whether rows are watched: an environment that writes other bytes than it describes gets an `EnvError`
            that says what it did. Slow.
        **options: Options of the environment; `make_spec(id).options` lists them with their defaults. Of Gymnasium's
            environments: arguments of `gymnasium.make`, and `num_workers`, `start_method` and `worker_timeout`, as in
            `from_factories`.

    Returns:
        For "gymnasium" a `cypool.faces.gymnasium.GymnasiumPool`, which is a `gymnasium.vector.VectorEnv`; for "gym" a
        `cypool.faces.gym.GymPool`; for "dm" a `cypool.faces.dm.DmPool`, which is a `dm_env.Environment`.

    Raises:
        ValueError: An unknown id or option, or a value out of range.
        TypeError: A value of the wrong type.
        ImportError: The API's library is not installed.
    """
    if not isinstance(id, str):
        raise ValueError(f"id: no environment {shown(id)}; list_all_envs() names all")
    return _make(id, env_type, num_envs=num_envs, batch_size=batch_size, num_threads=num_threads, seed=seed,
                 max_episode_steps=max_episode_steps, autoreset_mode=autoreset_mode,
                 episode_statistics=episode_statistics, normalize_obs=normalize_obs, normalize_reward=normalize_reward,
                 render_mode=render_mode, thread_pool=thread_pool, thread_affinity=thread_affinity,
                 env_options=env_options, reward_hook=reward_hook, observation_hook=observation_hook, debug=debug,
                 options=options)


def from_factories(factories, env_type="gymnasium", *, batch_size=None, seed=None, max_episode_steps=None,
                   autoreset_mode="NextStep", episode_statistics=False, num_workers=None, start_method="forkserver",
                   worker_timeout=None):
    """Makes a batch of environments that are written in Python, one for each function, in processes of their own.

    Args:
        factories: A sequence of functions without arguments; each returns a `gymnasium.Env`. All have the same spaces:
            Box, Discrete, MultiDiscrete or MultiBinary, and a Dict or Tuple of these for observations.
        env_type, batch_size, autoreset_mode, episode_statistics: As in `make`.
        seed: An int, and the first reset of environment i gets `seed + i`; or a sequence of one int, or None, per
            environment. By default none gets a seed, as in Gymnasium.
        max_episode_steps: Truncates episodes after so many steps, if the environments do not do so earlier.
        num_workers: How many processes, 0 to 4096; by default one for each environment. With fewer, one steps several
            environments in turn. 0: none, they are stepped in this one.
        start_method: "forkserver": processes are forked from a fresh interpreter, which imports what they need once;
            "spawn": each is a fresh interpreter.
        worker_timeout: Seconds that a step or a reset may take, or a process be stopped; then it is ended and
            another one takes its place. By default any time; `recv(timeout=...)` and Ctrl-C always end the waiting.

    Returns:
        What `make` returns.

    Raises:
        ValueError, TypeError: As `make`; environments whose spaces differ, or are none of those above.
        Exception: What a factory raises.
        WorkerError: A process ended before it was ready.
    """
    factories = check_list("factories", factories, "a sequence of functions")
    if not factories or not all(map(callable, factories)):
        raise TypeError(f"factories: expected at least one function, and nothing else, got {shown(factories)}")
    ways = {"num_workers": num_workers, "start_method": start_method, "worker_timeout": worker_timeout}
    return _make(factories, env_type, num_envs=len(factories), batch_size=batch_size, seed=seed,
                 max_episode_steps=max_episode_steps, autoreset_mode=autoreset_mode,
                 episode_statistics=episode_statistics, options=ways)


def make_gymnasium(id, **kwargs):
    """Makes a batch of environments as a `gymnasium.vector.VectorEnv`; arguments as in `make`."""
    return make(id, "gymnasium", **kwargs)


def make_gym(id, **kwargs):
    """Makes a batch of environments with the API of Gym before 0.26; arguments as in `make`."""
    return make(id, "gym", **kwargs)


def make_dm(id, **kwargs):
    """Makes a batch of environments as a `dm_env.Environment`; arguments as in `make`."""
    return make(id, "dm", **kwargs)


def _make(source, env_type, *, autoreset_mode, episode_statistics, normalize_obs=False, normalize_reward=False,
          render_mode=None, thread_affinity=None, **arguments):
    """Makes what `make` and `from_factories` return; `source` is an id or a list of functions."""
    face = _face(env_type)
    # an AutoresetMode is known by its value
    mode = autoreset_mode.value if isinstance(autoreset_mode, Enum) else autoreset_mode
    if not isinstance(mode, str) or mode not in face.autoreset_modes:
        known = ", ".join(map(repr, face.autoreset_modes))
        raise ValueError(f"autoreset_mode: expected one of {known} for env_type {env_type!r}, got "
                         f"{shown(autoreset_mode)}")
    statistics = check_bool("episode_statistics", episode_statistics)
    if statistics and not face.has_statistics:
        raise ValueError(f"episode_statistics: expected False for env_type {env_type!r}, which has no place for them")
    normal = {"normalize_obs": check_bool("normalize_obs", normalize_obs),
              "normalize_reward": check_bool("normalize_reward", normalize_reward)}
    for name, wanted in normal.items():
        if wanted and env_type != "gymnasium":
            raise ValueError(f"{name}: expected False for env_type {env_type!r}")
    if render_mode is not None and not (isinstance(render_mode, str) and render_mode == "rgb_array"):
        raise ValueError(f"render_mode: expected None or 'rgb_array', got {shown(render_mode)}")
    if thread_affinity is not None and not isinstance(thread_affinity, str):
        # the recipe reads it again
        thread_affinity = check_list("thread_affinity", thread_affinity, "'numa' or a sequence of CPU numbers")
    pool, spec, chosen = make_pool(source, autoreset=face.autoreset_modes[mode], statistics=statistics, hosts=True,
                                   render_mode=render_mode, thread_affinity=thread_affinity, **arguments)
    if any(normal.values()):
        from cypool.faces.normalized import NormalizedPool

        env = NormalizedPool(pool, spec, mode, *normal.values())
    else:
        env = face(pool, spec, mode)
    # environments of Gymnasium know their own
    if not pool.tells:
        env._seeds[:] = chosen["seed"]
    # what pickle takes along: the way to fresh environments, with the same seeds and what chance chose of options
    env.recipe = dict(env_type=env_type, batch_size=env.batch_size, max_episode_steps=spec.max_episode_steps,
                      autoreset_mode=mode, episode_statistics=statistics, **chosen)
    if isinstance(source, list):
        env.recipe.update(factories=source)
    else:
        env.recipe.update(id=source, num_envs=env.num_envs, num_threads=env.num_threads,
                          thread_affinity=thread_affinity, **normal)
    return env


def _face(env_type):
    """Returns the class that has the API; imports only that."""
    if not isinstance(env_type, str):
        hint = " (num_envs is passed by name)" if isinstance(env_type, int) else ""
        raise ValueError(f"env_type: expected 'gymnasium', 'gym' or 'dm', got {shown(env_type)}{hint}")
    if env_type == "gymnasium":
        from cypool.faces.gymnasium import GymnasiumPool
        return GymnasiumPool
    if env_type == "gym":
        from cypool.faces.gym import GymPool
        return GymPool
    if env_type == "dm":
        from cypool.faces.dm import DmPool
        return DmPool
    raise ValueError(f"env_type: expected 'gymnasium', 'gym' or 'dm', got {shown(env_type)}")


def make_pool(source, *, num_envs, autoreset, options, batch_size=None, num_threads=None, seed=None,
              max_episode_steps=None, env_options=None, statistics=False, thread_pool=None, thread_affinity=None,
              hosts=False, render_mode=None, reward_hook=None, observation_hook=None, debug=False, wrap=None):
    """Makes the engine's pool, from what all faces have in common.

    Args:
        source: An id; or, as the next, where `hosts`: a list of functions that make environments.
        hosts: Whether environments of Gymnasium are taken as well.
        wrap: Is called with an environment's spec, id and itself, and returns what takes its place.

    Returns:
        The pool, the spec of its environments, and what was chosen: the arguments `seed` and `env_options`, or the
        options if all have the same, and hooks.
    """
    from cypool.engine import cpus
    from cypool.engine.pool import Pool
    from cypool.engine.threads import ThreadPool
    from cypool.faces.face import seeds_of

    num_envs = check_int("num_envs", num_envs, 1, 2**20)
    batch_size = num_envs if batch_size is None else check_int("batch_size", batch_size, 1, num_envs)
    hooked = reward_hook is not None or observation_hook is not None or check_bool("debug", debug)
    if env_options is not None:
        env_options = check_list("env_options", env_options, f"a dict for each of {num_envs} envs")
        if len(env_options) != num_envs or not all(isinstance(each, dict) for each in env_options):
            raise ValueError(f"env_options: expected a dict for each of {num_envs} envs, got {shown(env_options)}")
    workers = affinity = finish = None
    if hosts and (isinstance(source, list) or (isinstance(source, str) and source.startswith("gymnasium:"))):
        from cypool.envs.hosted import host_factories, host_id

        if thread_pool is not None or thread_affinity is not None:
            raise ValueError("thread_pool, thread_affinity: expected neither for environments of Gymnasium, which are "
                             "stepped in processes")
        if hooked:
            raise ValueError("reward_hook, observation_hook, debug: expected none for environments of Gymnasium, for "
                             "which there are its wrappers")
        if isinstance(source, list):
            envs, workers, chosen = host_factories(source, max_episode_steps, **options)
        else:
            # as many at a time
            ways = {} if num_threads is None else {"num_workers": check_int("num_threads", num_threads, 0, 4096)}
            envs, workers, chosen = host_id(source, num_envs, max_episode_steps, render_mode, env_options,
                                            {**ways, **options})
        num_threads = 0
        spec = envs[0].spec
    else:
        if thread_pool is not None:
            if not isinstance(thread_pool, ThreadPool):
                raise TypeError(f"thread_pool: expected a cypool.ThreadPool, got {shown(thread_pool)}")
            if num_threads is not None or thread_affinity is not None:
                raise ValueError("thread_pool: expected neither num_threads nor thread_affinity beside it")
            num_threads = thread_pool.num_threads
        found, chosen = _resolve(source, num_envs, max_episode_steps, env_options, options)
        _, spec = found[0]
        if num_threads is None:
            num_threads = min(cpus.available() * spec.threads_per_cpu, batch_size)
        # more threads than environments have nothing to do
        num_threads = min(check_int("num_threads", num_threads, 0, 4096), num_envs)
        affinity = cpus.affinity(thread_affinity, num_threads)
        seeds = _draw_seeds(seed, num_envs, spec)
        envs = [cls(each, i) for i, (cls, each) in enumerate(found)]
        if wrap is not None:
            envs = [wrap(env.spec, i, env) for i, env in enumerate(envs)]
        if hooked:
            from cypool.wrappers import put_around

            envs, spec, finish, given = put_around(envs, spec, reward_hook, observation_hook, debug)
            chosen.update(given)
    try:
        if workers is not None:
            # an environment of Gymnasium without a seed is one that nobody seeds: it may do so itself
            seeds = seeds_of(seed, num_envs, spec.max_seed) or [None] * num_envs
        pool = Pool(envs, seeds, batch_size, num_threads, autoreset, statistics, thread_pool, affinity, workers)
    except BaseException:
        if workers is not None:
            workers.close()
        raise
    return pool if finish is None else finish(pool), spec, {**chosen, "seed": seeds}


def _resolve(id, num_envs, max_episode_steps, env_options, options):
    """Returns the class and the spec of each environment, and what was chosen of their options, for a recipe."""
    from cypool.registry import resolve

    if env_options is None:
        cls, spec = resolve(id, max_episode_steps, options)
        return [(cls, spec)] * num_envs, dict(spec.options)
    found = [resolve(id, max_episode_steps, {**options, **each}) for each in env_options]
    _, spec = found[0]
    for i, (_, each) in enumerate(found):
        for part in ("observation", "action", "info"):
            if getattr(each, part) != getattr(spec, part):
                raise ValueError(f"env_options: expected the same {part} everywhere, but env 0 has "
                                 f"{getattr(spec, part)}, env {i} {getattr(each, part)}")
    return found, {"env_options": [dict(each.options) for _, each in found]}


def _draw_seeds(seed, num_envs, spec):
    """Returns a seed for each environment, as `make` takes them, or drawn from the operating system."""
    import secrets

    from cypool.faces.face import seeds_of

    # 30 bits: every family takes them
    seeds = seeds_of(secrets.randbits(30) if seed is None else seed, num_envs, spec.max_seed)
    return [secrets.randbits(30) if s is None else s for s in seeds]
