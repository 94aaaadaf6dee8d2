"""EnvPool's interface, that of version 1.2.5, on cypool: `import cypool.compat.envpool as envpool`.

Names, arguments, spaces and info are EnvPool's, its defects are not copied: see docs/envpool.md.
"""
import os
import sys
import warnings
from collections import namedtuple
from collections.abc import Mapping
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType

import gymnasium
import numpy as np

import cypool
from cypool import list_all_envs
from cypool.arguments import check_array, check_int, check_list
from cypool.faces.face import Face, ids_of, players_of
from cypool.faces.gym import GymPool, gyms
from cypool.faces.gymnasium import GymnasiumPool, space_of
from cypool.making import make_pool
from cypool.spec import Array, Discrete

__version__ = "1.2.5"  # whose interface this is; some libraries ask
__all__ = [
    "EnvPool", "EnvSpec", "GymnasiumEnvPool", "LegacyEnvPool", "install_as_envpool", "list_all_envs", "make",
    "make_dm", "make_gym", "make_gymnasium", "make_spec", "register", "registration",
]
if find_spec("dm_env") is not None:
    # __getattr__ imports it
    __all__ += ["DMEnvPool"]  # noqa: F822

INT32_MAX = np.iinfo(np.int32).max
# what every environment of EnvPool takes besides max_episode_steps, in the order of its config
COMMON = {"num_envs": 1, "batch_size": 0, "num_threads": 0, "max_num_players": 1, "thread_affinity_offset": -1,
          "base_path": "", "seed": 42, "env_seed": (), "gym_reset_return_info": True}
# arguments that may be given, but only as what EnvPool has by default
FIXED = {"max_num_players": 1, "from_pixels": False}


class EnvSpec:
    """What EnvPool's `spec` is: the configuration and what environments observe and take.

    Args:
        env_spec: The `cypool.spec.EnvSpec`.
        config: Names and values of the configuration.

    Attributes:
        id: The task; may be assigned, as all attributes.
        config: A named tuple.
        reward_threshold: The return at which Gymnasium counts the task as solved, or None.
        observation_space, action_space: The spaces of a single environment.
        gymnasium_observation_space, gymnasium_action_space: The same.
    """

    def __init__(self, env_spec, config):
        self._env_spec = env_spec
        self.id = env_spec.id
        self.config = namedtuple("Config", config)(**config)
        self.reward_threshold = config.get("reward_threshold")
        self.observation_space = self.gymnasium_observation_space = space_of(beside(env_spec.observation))
        self.action_space = self.gymnasium_action_space = space_of(env_spec.action)

    def observation_spec(self):
        """Returns the dm_env specs of a single row: a named tuple of `env_id`, `players`, `obs` and the info."""
        from cypool.compat.envpool_dm import state_spec
        return state_spec(self._env_spec, self.config.num_envs)

    def action_spec(self):
        """Returns the dm_env spec of a single action."""
        from cypool.compat.envpool_dm import spec_of
        return spec_of(self._env_spec.action, "action")

    def __repr__(self):
        return f"EnvSpec{str(self.config).removeprefix('Config')}"


class EnvPool:
    """What EnvPool's classes have in common: mixed into a face, it takes and gives what EnvPool does.

    Args:
        pool: The engine. The face owns it.
        env_spec: What the environments are.
        config: Names and values of the configuration.

    Attributes:
        spec: The `EnvSpec`.
        config: The configuration as a dict.
        recipe: What to pass to `make` for the same again; what pickle and deepcopy do.
        is_async, num_envs, all_env_ids: See `cypool.faces.face.Face`.

    Threads: one at a time.
    """

    def __init__(self, pool, env_spec, config):
        super().__init__(pool, env_spec, "NextStep")
        self.spec = EnvSpec(env_spec, config)
        self.config = config
        self._never_reset = set(range(self.num_envs))

    def _start(self, ids, seed, mask=None, options=None):
        super()._start(ids, seed, mask, options)
        self._never_reset.difference_update(range(self.num_envs) if ids is None else ids.tolist())

    def _load(self, state, env_id):
        batch = super()._load(state, env_id)
        self._never_reset.difference_update(batch[-1]["env_id"].tolist())
        return batch

    def _without_info(self, batch):
        """Returns what `reset` does of what `step` would return."""
        return batch

    def _with_players(self, info):
        """Returns info with what EnvPool tells of players; in most environments there is one."""
        return {**info, "players": players_of(self.env_spec, info["env_id"])}

    def reset(self, env_id=None, *, seed=None, options=None):
        """Starts new episodes and waits for a batch.

        Args:
            env_id: Integers, shape (k,), which may be empty: the environments to reset; all by default.
            seed: Unlike EnvPool, which ignores it: see `cypool.faces.face.Face.async_reset`.
            options: `{"reset_mask": mask}`, bools of shape (num_envs,), names environments as `env_id` does.

        Returns:
            The rows of those environments; in an asynchronous pool the first batch. For Gymnasium observation and
            info, with `legacy` the observation, for dm a time step.
        """
        if options:
            if not isinstance(options, Mapping):
                raise TypeError(f"options: expected a dict or None, got {options!r}")
            if set(options) != {"reset_mask"}:
                raise ValueError(f"options: expected none but reset_mask, got {sorted(options)}")
            mask = np.asarray(options["reset_mask"], np.bool_)
            if mask.shape != (self.num_envs,) or not mask.any() or env_id is not None:
                raise ValueError(f"reset_mask: expected shape ({self.num_envs},), at least one True, and no env_id "
                                 f"beside it, got {mask}")
            env_id = np.flatnonzero(mask)
        ids = ids_of(env_id)
        if ids is not None and not ids.size:
            return self._without_info(self._laid_out(self._no_rows()))
        self.async_reset(ids, seed=seed)
        return self.recv(reset=True)

    def send(self, action, env_id=None):
        """Has environments stepped, without waiting.

        Environments that were never reset are reset instead, and their actions are ignored.

        Args:
            action: Shape (k, *action shape), or a dict of `action` and `env_id`. Floats and bools for discrete actions
                are taken in an array, if they are whole numbers.
            env_id: Integers, shape (k,). By default all environments, in an asynchronous pool those of the
                batch received last.
        """
        action, env_id = self._unpacked(action, env_id)
        if self._never_reset:
            ids = ids_of(env_id)
            named = range(self.num_envs) if ids is None else ids.tolist()
            if self._never_reset.issuperset(named):
                if len(self._read(action)) != len(named):
                    raise ValueError(f"action: expected {len(named)} rows, got shape {np.shape(action)}")
                self._start(ids, None)
                return
        super().send(action, env_id)

    def recv(self, reset=False, return_info=True, *, timeout=None):
        """Waits for a batch.

        Args:
            reset: Whether to return what `reset` returns, not what `step` does.
            return_info: Ignored, as by EnvPool.
            timeout: Seconds to wait at most; by default without limit.
        """
        batch = super().recv(timeout)
        return self._without_info(batch) if reset else batch

    def step(self, action, env_id=None):
        """Steps environments and waits for a batch: `send`, then `recv`."""
        if self._never_reset:
            self.send(action, env_id)
            return self.recv()
        # not the face's own step, which may leave out _laid_out
        return Face.step(self, *self._unpacked(action, env_id))

    def _unpacked(self, action, env_id):
        """Returns actions and ids where both may be in a dict; ids given beside it count."""
        if isinstance(action, dict):
            if "action" not in action or action.keys() - {"action", "env_id", "players", "players.env_id"}:
                raise ValueError(f"action: expected a dict of 'action' and 'env_id', got one of {sorted(action)}")
            env_id = action.get("env_id") if env_id is None else env_id
            action = action["action"]
        if isinstance(action, np.ndarray) and action.dtype.kind in "fb" and isinstance(self.env_spec.action, Discrete):
            action = _whole(action)
        return action, env_id

    def render(self, env_ids=None, camera_id=None):
        """Draws environments: see `cypool.faces.face.Face.render`.

        Args:
            env_ids: Which ones, an integer or several; by default 0.
            camera_id: None.
        """
        if camera_id is not None:
            raise ValueError(f"camera_id: expected None, got {camera_id!r}")
        ids = check_array("env_id", 0 if env_ids is None else env_ids, "an integer or several")
        return Face.render(self, np.atleast_1d(ids))

    def seed(self, seed=None):
        """Does nothing but warn, as EnvPool's."""
        warnings.warn("seed() does nothing: pass seed to make() or to reset()", stacklevel=2)

    def __reduce__(self):
        return _make_again, (self.recipe,)


class GymnasiumEnvPool(EnvPool, GymnasiumPool, gymnasium.Env):
    """A batch of environments as EnvPool gives it to Gymnasium's users.

    A batch, as `step` and `recv` return it, is a tuple (observation, reward, terminated, truncated, info) as of
    `cypool.faces.gymnasium.GymnasiumPool`, but `reward` is float32 and `info` has `players`, a dict of `env_id`.

    It is a `gymnasium.vector.VectorEnv`, whose autoreset mode is NEXT_STEP, and a `gymnasium.Env`.

    Args:
        pool, env_spec, config: See `EnvPool`.

    Attributes:
        observation_space, action_space: The spaces of a single environment, unlike Gymnasium's.
        single_observation_space, single_action_space: The same.
        is_vector_env: True.
        spec, config: See `EnvPool`.

    Threads: one at a time.
    """

    def __init__(self, pool, env_spec, config):
        super().__init__(pool, env_spec, config)
        self.observation_space = self.single_observation_space = self.spec.observation_space
        self.action_space = self.single_action_space
        self.is_vector_env = True

    def _laid_out(self, batch):
        obs, reward, terminated, truncated, info = super()._laid_out(batch)
        return int32(obs), reward.astype(np.float32), terminated, truncated, self._with_players(info)

    def _without_info(self, batch):
        return batch[0], batch[4]


class LegacyEnvPool(EnvPool, GymPool):
    """A batch of environments as EnvPool 0.4 to 0.6 gave it to Gym's users: see `cypool.faces.gym.GymPool`.

    Args:
        pool, env_spec, config: See `EnvPool`.

    Threads: one at a time.
    """

    def __init__(self, pool, env_spec, config):
        super().__init__(pool, env_spec, config)
        self.observation_space = self.single_observation_space = gyms(self.spec.observation_space)

    def _laid_out(self, batch):
        obs, reward, done, info = super()._laid_out(batch)
        return int32(obs), reward, done, self._with_players(info)

    def _without_info(self, batch):
        return batch[0]


class EnvRegistry:
    """What EnvPool's `registration.registry` is: the functions of this module as methods."""

    def __init__(self, module):
        for name in _OF_REGISTRY:
            setattr(self, name, getattr(module, name))


def __getattr__(name):
    # needs dm_env, which is optional
    if name == "DMEnvPool":
        from cypool.compat.envpool_dm import DMEnvPool
        return DMEnvPool
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def make(task_id, env_type, *, legacy=False, **kwargs):
    """Makes a batch of environments with EnvPool's interface.

    Args:
        task_id: An id of `list_all_envs()`, such as "Pong-v5".
        env_type: "gym" or "gymnasium", which are the same, or "dm".
        legacy: Whether a batch is the tuple of four of EnvPool 0.4 to 0.6, and `reset` returns observations only.
        **kwargs: EnvPool's, with its defaults. `num_envs`: 1. `batch_size`: 0, which means `num_envs`, as None does.
            `num_threads`: 0, which means one for each CPU, but not more than `batch_size`. `seed`: 42, so environment
            i gets `42 + i`; or a sequence of one int per environment, which may be called `env_seed` too.
            `max_episode_steps`: that of the id. `reward_threshold`: what `spec` shall have. `base_path`: ignored.
            `thread_affinity_offset`: the CPU of the first thread; -1: any. `render_mode`: None or "rgb_array", which
            are the same. `max_num_players`, `gym_reset_return_info` and some more: only as EnvPool has them by default.
            And the options of the environment, and `cypool.make`'s `env_options`.

    Returns:
        A `GymnasiumEnvPool`, a `LegacyEnvPool` or a `DMEnvPool`.

    Raises:
        ValueError: An unknown id, argument or option, or a value out of range.
        TypeError: A value of the wrong type.
        ImportError: "dm" needs dm_env, which is not installed.
    """
    if env_type not in ("gym", "gymnasium", "dm") or (legacy and env_type == "dm"):
        raise ValueError(f"env_type: expected 'gym', 'gymnasium' or, without legacy, 'dm', got {env_type!r}")
    common, limits, options = _split(task_id, kwargs, legacy)
    pool, env_spec, chosen = make_pool(
        task_id, num_envs=common["num_envs"], batch_size=common["batch_size"],
        num_threads=common["num_threads"] or None, seed=common["env_seed"] or common["seed"],
        max_episode_steps=limits.get("max_episode_steps"), autoreset="next_step",
        env_options=options.pop("env_options", None), options=options,
        thread_affinity=_affinity(common["thread_affinity_offset"]))
    if env_type == "dm":
        from cypool.compat.envpool_dm import DMEnvPool as face
    else:
        face = LegacyEnvPool if legacy else GymnasiumEnvPool
    env = face(pool, env_spec, _config(env_spec, common, limits))
    env.render_mode = kwargs.get("render_mode")
    # what pickle takes along, with what chance chose of options; the seeds as they were given, config tells them
    env._seeds[:] = chosen.pop("seed")
    asked = {name: value for name, value in kwargs.items() if name not in options}
    env.recipe = dict(task_id=task_id, env_type=env_type, legacy=legacy, **{**asked, **chosen})
    return env


def beside(observation):
    """Returns the description of an observation, with `Discrete`s of a tuple side by side in one `Array`."""
    if isinstance(observation, tuple):
        return Array((len(observation),), np.int32, 0, max(part.n for part in observation) - 1)
    return observation


def int32(obs):
    """Returns an observation as EnvPool has it: int64 is int32 there, and a tuple is one array."""
    if isinstance(obs, tuple):
        return np.stack(obs, axis=1, dtype=np.int32)
    return obs.astype(np.int32) if isinstance(obs, np.ndarray) and obs.dtype == np.int64 else obs


def _make_again(recipe):
    return make(**recipe)


def make_gymnasium(task_id, **kwargs):
    """Makes a batch of environments as a `gymnasium.vector.VectorEnv`; arguments as in `make`."""
    return make(task_id, "gymnasium", **kwargs)


def make_gym(task_id, **kwargs):
    """The same as `make_gymnasium`, as in EnvPool."""
    return make(task_id, "gym", **kwargs)


def make_dm(task_id, **kwargs):
    """Makes a batch of environments as a `dm_env.Environment`; arguments as in `make`."""
    return make(task_id, "dm", **kwargs)


def make_spec(task_id, **kwargs):
    """Returns the `EnvSpec` of what `make` would make; arguments as there."""
    common, limits, options = _split(task_id, kwargs, False)
    env_spec = cypool.make_spec(task_id, max_episode_steps=limits.get("max_episode_steps"), **options)
    return EnvSpec(env_spec, _config(env_spec, common, limits))


def register(task_id, entry_point=None, *class_names, **options):
    """Makes an environment known: see `cypool.register`.

    Raises:
        TypeError: The arguments are those of EnvPool's own `register`, which names compiled classes of EnvPool.
    """
    if entry_point is None or class_names:
        raise TypeError("register: expected register(task_id, 'module:Class', max_episode_steps=..., **options), where "
                        "Class derives from cypool.env.Env; EnvPool's form with the names of its compiled classes "
                        "cannot work")
    cypool.register(task_id, entry_point, **options)


def install_as_envpool(legacy=False):
    """Makes `import envpool` give this module, for libraries that import it themselves.

    There are also `envpool.registration`, `envpool.python.envpool.EnvPoolMixin` and `envpool.python.protocol`, which
    some of them look at.

    Args:
        legacy: Whether to give `cypool.compat.envpool_legacy` instead, for scripts written for EnvPool 0.4 to 0.6.

    Raises:
        RuntimeError: The real EnvPool is imported already, or the other one of these two was installed.
    """
    here = import_module("cypool.compat.envpool_legacy") if legacy else sys.modules[__name__]
    if sys.modules.get("envpool", here) is not here:
        other = sys.modules["envpool"].__name__
        raise RuntimeError(f"install_as_envpool: {other} is imported as envpool already: call this before")
    if "envpool" in sys.modules:
        return
    sys.modules["envpool"] = here
    sys.modules.update({module.__name__: module for module in (
        here.registration, here.python, here.python.envpool, here.python.protocol)})


def _split(task_id, kwargs, legacy):
    """Checks and returns the common configuration, what else is no option, and the options."""
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
            raise ValueError("env_seed: expected none beside a sequence as seed")
        common["env_seed"], common["seed"] = check_list("seed", common["seed"], "an int or a sequence of ints"), 0
    options = {name: value for name, value in kwargs.items()
               if not (name in common or name in limits or name in FIXED or name == "render_mode")}
    # EnvPool's Atari always tells it
    if "ram" in cypool.make_spec(task_id).options:
        options.setdefault("ram", True)
    return common, limits, options


def _affinity(offset):
    """Returns the CPUs of the threads in turn, for EnvPool's offset."""
    if check_int("thread_affinity_offset", offset, -1, 2**16) < 0:
        return None
    cpus = sorted(os.sched_getaffinity(0))
    return [cpus[(offset + k) % len(cpus)] for k in range(len(cpus))]


def _config(env_spec, common, limits):
    """Returns names and values of the configuration, in EnvPool's order."""
    limits = {"reward_threshold": getattr(gymnasium.registry.get(env_spec.id), "reward_threshold", None), **limits,
              "max_episode_steps": env_spec.max_episode_steps or INT32_MAX}
    if limits["reward_threshold"] is None:
        del limits["reward_threshold"]
    return {**common, **dict(sorted(limits.items())), **env_spec.options}


def _whole(actions):
    """Returns an array of floats or bools as integers, as EnvPool casts them.

    Raises:
        ValueError: A value is no whole number.
    """
    with np.errstate(invalid="ignore"):
        whole = actions.astype(np.int64)
    wrong = whole != actions
    if wrong.any():
        raise ValueError(f"actions: expected whole numbers, got {actions[wrong].flat[0]}")
    return whole


def modules_of(module):
    """Returns what is `registration` and `python` of EnvPool, for this module or the legacy one."""
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
    registration.__getattr__ = python.__getattr__ = python.protocol.__getattr__ = __getattr__
    return registration, python


_OF_REGISTRY = ("list_all_envs", "make", "make_dm", "make_gymnasium", "make_spec", "register")
registration, python = modules_of(sys.modules[__name__])
