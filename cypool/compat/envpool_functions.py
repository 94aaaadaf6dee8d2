"""The functions of EnvPool's interface, from which its modules are built."""
from __future__ import annotations

import math
import os
from types import ModuleType
from typing import Any

import gymnasium
import numpy as np

import cypool
from cypool.compat.envpool_pools import EnvPool, EnvSpec, GymnasiumEnvPool, LegacyEnvPool
from cypool.making.assembly import make_pool
from cypool.util.arguments import check_float, check_int, check_list

INT32_MAX = np.iinfo(np.int32).max
# arguments of every environment of EnvPool in addition to max_episode_steps, in the order of its config
COMMON = {"num_envs": 1, "batch_size": 0, "num_threads": 0, "max_num_players": 1, "thread_affinity_offset": -1,
          "base_path": "", "seed": 42, "env_seed": (), "gym_reset_return_info": True}
# arguments that may be given, but only with EnvPool's default
FIXED = {"max_num_players": 1, "from_pixels": False}
# arguments that say what `render` draws
RENDER = {"render_env_id": 0, "render_width": 0, "render_height": 0, "render_camera_id": -1}


class EnvRegistry:
    """EnvPool's `registration.registry`: the functions of this module as methods."""

    def __init__(self, module: ModuleType):
        for name in _OF_REGISTRY:
            setattr(self, name, getattr(module, name))


def __getattr__(name: str) -> Any:
    # needs dm_env, which is optional
    if name == "DMEnvPool":
        from cypool.compat.envpool_dm import DMEnvPool
        return DMEnvPool
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def make(task_id: str, env_type: str, *, legacy: bool = False, **kwargs: Any) -> Any:
    """Makes a batch of environments with EnvPool's interface.

    Args:
        task_id: An id of `list_all_envs()`, such as "Pong-v5".
        env_type: "gym" or "gymnasium", which are equivalent, or "dm".
        legacy: Whether a batch is a 4-tuple as in EnvPool 0.4 to 0.6, and `reset` returns only observations.
        **kwargs: EnvPool's, with its defaults. `num_envs`: 1. `batch_size`: 0, which, like None, means `num_envs`.
            `num_threads`: 0, which means one for each CPU, but not more than `batch_size`. `seed`: 42, so environment i
            gets `42 + i`; or a sequence of one int per environment, which may also be passed as `env_seed`.
            `max_episode_steps`: the id's. `reward_threshold`: the one in `spec`. `base_path`: ignored.
            `thread_affinity_offset`: the CPU of the first thread; -1: any. `render_mode`: None or "rgb_array", which
            are equivalent. `render_env_id`: 0, the environment that `render` draws. `render_width`, `render_height`:
            the picture's size in pixels; 0 or -1: the environment's own. `render_camera_id`: MuJoCo's camera; -1: the
            default one. `max_num_players`, `gym_reset_return_info` and some others only accept EnvPool's defaults.
            Options of the environment and `cypool.make`'s `env_options` are also accepted.

    Returns:
        A `GymnasiumEnvPool`, a `LegacyEnvPool` or a `DMEnvPool`.

    Raises:
        ValueError: An unknown id, argument or option, or a value out of range.
        TypeError: A value of the wrong type.
        ImportError: "dm" needs dm_env, which is not installed.
    """
    if env_type not in ("gym", "gymnasium", "dm") or (legacy and env_type == "dm"):
        raise ValueError(f"env_type: expected 'gym', 'gymnasium' or, without legacy, 'dm', got {env_type!r}")
    common, limits, render, options = _split(task_id, kwargs, legacy)
    pool, env_spec, chosen = make_pool(
        task_id, num_envs=common["num_envs"], batch_size=common["batch_size"],
        num_threads=common["num_threads"] or None, seed=common["env_seed"] or common["seed"],
        max_episode_steps=limits.get("max_episode_steps"), autoreset="next_step",
        env_options=options.pop("env_options", None), options=options,
        thread_affinity=_affinity(common["thread_affinity_offset"]))
    api: Any
    if env_type == "dm":
        from cypool.compat.envpool_dm import DMEnvPool

        api = DMEnvPool
    else:
        api = LegacyEnvPool if legacy else GymnasiumEnvPool
    env = api(pool, env_spec, _config(env_spec, common, limits))
    env.render_mode, env._render = kwargs.get("render_mode"), render
    # for pickle, with options that were drawn; the seeds as they were given, for `config`
    env._make_again = _make_again
    env._seeds[:] = chosen.pop("seed")
    asked = {name: value for name, value in kwargs.items() if name not in options}
    env._recipe = dict(task_id=task_id, env_type=env_type, legacy=legacy, **{**asked, **chosen})
    return env


def _make_again(recipe: Any) -> Any:
    return make(**recipe)


def make_gymnasium(task_id: str, **kwargs: Any) -> Any:
    """Makes a batch of environments as a `gymnasium.vector.VectorEnv`; arguments as in `make`."""
    return make(task_id, "gymnasium", **kwargs)


def make_gym(task_id: str, **kwargs: Any) -> Any:
    """The same as `make_gymnasium`, as in EnvPool."""
    return make(task_id, "gym", **kwargs)


def make_dm(task_id: str, **kwargs: Any) -> Any:
    """Makes a batch of environments as a `dm_env.Environment`; arguments as in `make`."""
    return make(task_id, "dm", **kwargs)


def make_spec(task_id: str, **kwargs: Any) -> EnvSpec:
    """Returns the `EnvSpec` of the pool that `make` would create with the same arguments."""
    common, limits, _, options = _split(task_id, kwargs, False)
    env_spec = cypool.make_spec(task_id, max_episode_steps=limits.get("max_episode_steps"), **options)
    return EnvSpec(env_spec, _config(env_spec, common, limits))


def register(task_id: str, entry_point: Any = None, *class_names: Any, **options: Any) -> Any:
    """Registers an environment: see `cypool.register`.

    Raises:
        TypeError: The arguments are those of EnvPool's own `register`, which names EnvPool's compiled classes.
    """
    if entry_point is None or class_names:
        raise TypeError("register: expected register(task_id, 'module:Class', max_episode_steps=..., **options), where "
                        "Class derives from cypool.env.Env; EnvPool's own form, with names of compiled classes, "
                        "is not supported")
    cypool.register(task_id, entry_point, **options)


def _split(task_id: str, kwargs: dict[str, Any], legacy: bool) -> tuple[Any, ...]:
    """Checks and returns the common configuration, limits, what `render` draws, and options."""
    for name, value in FIXED.items():
        if kwargs.get(name, value) != value:
            raise ValueError(f"{name}: {kwargs[name]!r} is not supported, only {value!r}")
    if kwargs.get("render_mode") not in (None, "rgb_array"):
        raise ValueError(f"render_mode: expected None or 'rgb_array', got {kwargs['render_mode']!r}")
    limits = {name: kwargs[name] for name in ("max_episode_steps", "reward_threshold") if name in kwargs}
    common = {**COMMON, "gym_reset_return_info": not legacy}
    common.update((name, value) for name, value in kwargs.items() if name in common)
    if common["gym_reset_return_info"] == legacy:
        raise ValueError("gym_reset_return_info: expected True, or False with legacy=True, "
                         f"got {common['gym_reset_return_info']!r}")
    num_envs = common["num_envs"] = check_int("num_envs", common["num_envs"], 1, 2**20)
    size = 0 if common["batch_size"] is None else check_int("batch_size", common["batch_size"], 0, num_envs)
    common["batch_size"] = size or num_envs
    if common["num_threads"] is not None:
        check_int("num_threads", common["num_threads"], 0, 4096)
    if not np.iterable(common["env_seed"]):
        raise TypeError(f"env_seed: expected a sequence of ints, got {common['env_seed']!r}")
    common["env_seed"] = check_list("env_seed", common["env_seed"], "a sequence of ints")
    if hasattr(type(common["seed"]), "__iter__"):
        if common["env_seed"]:
            raise ValueError("env_seed: expected None if seed is a sequence")
        common["env_seed"], common["seed"] = check_list("seed", common["seed"], "an int or a sequence of ints"), 0
    render = {name: check_int(name, kwargs.get(name, value), -1, 2**13) for name, value in RENDER.items()}
    if not 0 <= render["render_env_id"] < num_envs:
        raise ValueError(f"render_env_id: expected 0 to {num_envs - 1}, got {render['render_env_id']}")
    options = {name: value for name, value in kwargs.items()
               if name not in {*common, *limits, *FIXED, *render, "render_mode"}}
    known = cypool.make_spec(task_id).options
    # EnvPool's Atari always reports it
    if "ram" in known:
        options.setdefault("ram", True)
    if "camera_id" in known:
        # drawn like that, not resized
        options.update((name, render[f"render_{name}"]) for name in ("width", "height") if render[f"render_{name}"] > 0)
        if render["render_camera_id"] >= 0:
            options["camera_id"] = render["render_camera_id"]
    return common, limits, render, options


def _affinity(offset: int) -> list[int] | None:
    """Returns the CPUs of the threads in turn, for EnvPool's offset."""
    if check_int("thread_affinity_offset", offset, -1, 2**16) < 0:
        return None
    cpus = sorted(os.sched_getaffinity(0))
    return [cpus[(offset + k) % len(cpus)] for k in range(len(cpus))]


def _config(env_spec: Any, common: dict[str, Any], limits: Any) -> dict[str, Any]:
    """Returns names and values of the configuration, in EnvPool's order."""
    limits = {"reward_threshold": getattr(gymnasium.registry.get(env_spec.id), "reward_threshold", None), **limits,
              "max_episode_steps": env_spec.max_episode_steps or INT32_MAX}
    if limits["reward_threshold"] is None:
        del limits["reward_threshold"]
    else:
        limits["reward_threshold"] = check_float("reward_threshold", limits["reward_threshold"], -math.inf, math.inf)
    return {**common, **dict(sorted(limits.items())), **env_spec.options}


def modules_of(module: ModuleType) -> Any:
    """Returns the modules `registration` and `python` of EnvPool, for this module or the legacy one."""
    registration = ModuleType("envpool.registration")
    for name in (*_OF_REGISTRY, "make_gym", "EnvSpec", "GymnasiumEnvPool"):
        setattr(registration, name, getattr(module, name))
    registration.EnvRegistry, registration.registry = EnvRegistry, EnvRegistry(module)
    python = ModuleType("envpool.python")
    python.__path__ = []
    python.envpool = ModuleType("envpool.python.envpool")
    python.envpool.EnvPoolMixin = EnvPool
    python.protocol = ModuleType("envpool.python.protocol")
    for name in ("EnvPool", "EnvSpec", "GymnasiumEnvPool"):
        setattr(python.protocol, name, globals()[name])
        setattr(python, name, globals()[name])
    # it needs dm_env
    for module in (registration, python, python.protocol):
        vars(module)["__getattr__"] = __getattr__
    return registration, python


_OF_REGISTRY = ("list_all_envs", "make", "make_dm", "make_gymnasium", "make_spec", "register")
