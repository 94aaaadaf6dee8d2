"""cypool: batches of reinforcement-learning environments, stepped in C++ threads without the GIL.

The way of the data, and where to read about each station:

     actions (NumPy / list)                                    observations, rewards, flags, info
          |                                                                 ^
          v                                                                 |
     faces/: checks and converts (face.py; gymnasium.py, gym.py, dm.py) --- |
          |                                                                 |
          v                                                                 |
     engine/pool.pyx  send --> engine/ready  --> engine/crew    --> engine/batch --> recv
                               ring of ids       by engine/threads  rows and blocks
                                                    |    ^
                                                    v    |
                                 env.pxd: Env.reset / Env.step, then Env.observe
                                                    ^
                                 envs/: one family each

`make` joins them: registry.py finds the environment, spec.py describes it.
"""
from collections.abc import Iterable
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

if find_spec("cypool.env") is None:
    raise ImportError(f"{Path(__file__).parent} is cypool's source, not compiled: leave this folder to import the "
                      'installed cypool, or compile in place with: pip install -e .')

from cypool.errors import ClosedError, EnvError
from cypool.gymnasium_ids import announce_all
from cypool.registry import list_all_envs, make_spec, register

__version__ = "0.1.0"
__all__ = [
    "ClosedError", "EnvError", "ThreadPool", "get_include", "list_all_envs", "make", "make_dm", "make_gym",
    "make_gymnasium", "make_spec", "register",
]

announce_all()


def make(id, env_type="gymnasium", *, num_envs=1, batch_size=None, num_threads=None, seed=None,
         max_episode_steps=None, autoreset_mode="NextStep", episode_statistics=False, render_mode=None,
         thread_pool=None, thread_affinity=None, env_options=None, **options):
    """Makes a batch of environments.

    Args:
        id: An id of `list_all_envs()`, such as "Pong-v5".
        env_type: The API of the result: "gymnasium"; "gym", the classic one of Gym before 0.26; or "dm", dm_env's.
        num_envs: How many environments, 1 to 1,048,576.
        batch_size: Environments that one `recv` returns. By default `num_envs`: synchronous. With less the
            pool is asynchronous and returns those that finish first.
        num_threads: Threads that step environments, 0 to 4096. By default as many as there are CPUs for this
            process, but not more than `batch_size`. A synchronous caller is one of them, so 0 and 1 run
            everything on the caller's thread; an asynchronous pool does so with 0 only.
        seed: An int, and environment i gets `seed + i`; or a sequence of one int per environment.
            By default seeds are drawn from the operating system.
        max_episode_steps: Overrides the step limit of the id.
        autoreset_mode: "NextStep", "SameStep" or "Disabled", or a `gymnasium.vector.AutoresetMode`: when an
            environment whose episode has ended starts the next one. The env_types "gym" and "dm" know "NextStep" only.
        episode_statistics: Whether infos tell return, length and time of episodes that end: `info["episode"]`, as
            Gymnasium's RecordEpisodeStatistics has it. Not with env_type "dm".
        render_mode: "rgb_array" or None, which are the same: `render()` always works where the environment has it.
        thread_pool: A `cypool.ThreadPool`, whose threads the pool shares with others, instead of `num_threads`.
        thread_affinity: Which CPUs the threads run on: a sequence of CPU numbers, dealt out in turn, one to a thread;
            or "numa", which spreads them over the memory nodes. A synchronous caller, which is one of the threads,
            stays where it is. By default the operating system decides.
        env_options: A sequence of one dict per environment: options in which they differ, on top of `options`. What
            they observe and take has to be the same.
        **options: Options of the environment; `make_spec(id).options` lists them with their defaults.

    Returns:
        For "gymnasium" a `cypool.faces.gymnasium.GymnasiumPool`, which is a `gymnasium.vector.VectorEnv`; for "gym" a
        `cypool.faces.gym.GymPool`; for "dm" a `cypool.faces.dm.DmPool`, which is a `dm_env.Environment`.

    Raises:
        ValueError: An unknown id or option, or a value out of range.
        TypeError: A value of the wrong type.
        ImportError: The API's library is not installed.
    """
    from cypool.arguments import check_bool

    face = _face(env_type)
    # an AutoresetMode is known by its value
    mode = getattr(autoreset_mode, "value", autoreset_mode)
    if not isinstance(mode, str) or mode not in face.autoreset_modes:
        known = ", ".join(map(repr, face.autoreset_modes))
        raise ValueError(f"autoreset_mode: expected one of {known} for env_type {env_type!r}, got {autoreset_mode!r}")
    statistics = check_bool("episode_statistics", episode_statistics)
    if statistics and not face.has_statistics:
        raise ValueError(f"episode_statistics: expected False for env_type {env_type!r}, which has no place for them")
    if render_mode not in (None, "rgb_array"):
        raise ValueError(f"render_mode: expected None or 'rgb_array', got {render_mode!r}")
    if thread_affinity is not None and not isinstance(thread_affinity, str) and isinstance(thread_affinity, Iterable):
        # the recipe reads it again
        thread_affinity = list(thread_affinity)
    pool, spec, chosen = _make_pool(id, num_envs, batch_size, num_threads, seed, max_episode_steps,
                                   face.autoreset_modes[mode], env_options, options, statistics=statistics,
                                   thread_pool=thread_pool, thread_affinity=thread_affinity)
    env = face(pool, spec, mode)
    # what pickle takes along: the way to fresh environments, with the same seeds and what chance chose of options
    env.recipe = dict(id=id, env_type=env_type, num_envs=env.num_envs, batch_size=env.batch_size,
                      num_threads=env.num_threads, max_episode_steps=spec.max_episode_steps,
                      autoreset_mode=mode, episode_statistics=statistics, thread_affinity=thread_affinity, **chosen)
    return env


def make_gymnasium(id, **kwargs):
    """Makes a batch of environments as a `gymnasium.vector.VectorEnv`; arguments as in `make`."""
    return make(id, "gymnasium", **kwargs)


def make_gym(id, **kwargs):
    """Makes a batch of environments with the API of Gym before 0.26; arguments as in `make`."""
    return make(id, "gym", **kwargs)


def make_dm(id, **kwargs):
    """Makes a batch of environments as a `dm_env.Environment`; arguments as in `make`."""
    return make(id, "dm", **kwargs)


def get_include():
    """Returns the folder with cypool's C++ headers, for a plug-in's `include_dirs`."""
    here = Path(__file__).resolve().parent
    # inside the package when installed, beside it in a checkout
    for folder in (here / "include", here.parent / "include"):
        if (folder / "cypool" / "slot.h").is_file():
            return str(folder)
    raise RuntimeError(f"cypool: the headers are neither in {here} nor beside it")


def __getattr__(name):
    # they come with NumPy: only for those who want them
    if name == "ThreadPool":
        from cypool.engine.threads import ThreadPool
        return ThreadPool
    if name == "testing":
        return import_module("cypool.testing")
    raise AttributeError(f"module 'cypool' has no attribute {name!r}")


def _face(env_type):
    """Returns the class that has the API; imports only that."""
    if env_type == "gymnasium":
        from cypool.faces.gymnasium import GymnasiumPool
        return GymnasiumPool
    if env_type == "gym":
        from cypool.faces.gym import GymPool
        return GymPool
    if env_type == "dm":
        from cypool.faces.dm import DmPool
        return DmPool
    hint = " (num_envs is passed by name)" if isinstance(env_type, int) else ""
    raise ValueError(f"env_type: expected 'gymnasium', 'gym' or 'dm', got {env_type!r}{hint}")


def _make_pool(id, num_envs, batch_size, num_threads, seed, max_episode_steps, autoreset, env_options, options, *,
               statistics=False, thread_pool=None, thread_affinity=None):
    """Checks what all faces have in common.

    Returns the engine's pool, the spec of its envs, and what was chosen: the arguments `seed` and `env_options`, or the
    options if all have the same.
    """
    import secrets

    from cypool.arguments import check_int
    from cypool.engine import cpus
    from cypool.engine.pool import Pool
    from cypool.engine.threads import ThreadPool
    from cypool.faces.face import seeds_of
    from cypool.registry import resolve

    num_envs = check_int("num_envs", num_envs, 1, 2**20)
    batch_size = num_envs if batch_size is None else check_int("batch_size", batch_size, 1, num_envs)
    if thread_pool is not None:
        if not isinstance(thread_pool, ThreadPool):
            raise TypeError(f"thread_pool: expected a cypool.ThreadPool, got {thread_pool!r}")
        if num_threads is not None or thread_affinity is not None:
            raise ValueError("thread_pool: expected neither num_threads nor thread_affinity beside it")
        num_threads = thread_pool.num_threads
    elif num_threads is None:
        num_threads = min(cpus.available(), batch_size)
    # more threads than environments have nothing to do
    num_threads = min(check_int("num_threads", num_threads, 0, 4096), num_envs)
    affinity = cpus.affinity(thread_affinity, num_threads)
    if env_options is None:
        cls, spec = resolve(id, max_episode_steps, options)
        found = [(cls, spec)] * num_envs
        chosen = dict(spec.options)
    else:
        if not isinstance(env_options, Iterable):
            raise TypeError(f"env_options: expected a dict for each of {num_envs} envs, got {env_options!r}")
        own = list(env_options)
        if len(own) != num_envs or not all(isinstance(each, dict) for each in own):
            raise ValueError(f"env_options: expected a dict for each of {num_envs} envs, got {env_options!r}")
        found = [resolve(id, max_episode_steps, {**options, **each}) for each in own]
        _, spec = found[0]
        for i, (_, each) in enumerate(found):
            for part in ("observation", "action", "info"):
                if getattr(each, part) != getattr(spec, part):
                    raise ValueError(f"env_options: expected the same {part} everywhere, but env 0 has "
                                     f"{getattr(spec, part)}, env {i} {getattr(each, part)}")
        chosen = {"env_options": [dict(each.options) for _, each in found]}
    # 30 bits: every family takes them
    seeds = seeds_of(secrets.randbits(30) if seed is None else seed, num_envs, spec.max_seed)
    seeds = [secrets.randbits(30) if s is None else s for s in seeds]
    envs = [cls(each, i) for i, (cls, each) in enumerate(found)]
    pool = Pool(envs, seeds, batch_size, num_threads, autoreset, statistics, thread_pool, affinity)
    return pool, spec, {**chosen, "seed": seeds}
