"""The packages that Atari's presets follow, as vector environments for `cypool.testing.check_parity`."""
from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from cypool.envs.atari import roms
from cypool.envs.atari.specs import INFOS

if TYPE_CHECKING:
    from cypool.util.typing import Batch, Bools, Seed

# the names of our options there
_ENVPOOL = {name: name for name in (
    "stack_num", "frame_skip", "noop_max", "episodic_life", "zero_discount_on_life_loss", "reward_clip",
    "use_fire_reset", "img_height", "img_width", "gray_scale", "repeat_action_probability", "full_action_space", "mode",
    "difficulty", "use_inter_area_resize", "max_episode_steps")}
_VECTOR_ENV = {
    "stack_num": "stack_num", "frame_skip": "frameskip", "noop_max": "noop_max", "episodic_life": "episodic_life",
    "reward_clip": "reward_clipping", "use_fire_reset": "use_fire_reset", "img_height": "img_height",
    "img_width": "img_width", "gray_scale": "grayscale", "repeat_action_probability": "repeat_action_probability",
    "full_action_space": "full_action_space", "continuous": "continuous",
    "continuous_action_threshold": "continuous_action_threshold",
    "max_num_frames_per_episode": "max_num_frames_per_episode"}
_ENV = {name: name for name in (
    "repeat_action_probability", "full_action_space", "continuous", "continuous_action_threshold", "mode", "difficulty",
    "max_num_frames_per_episode")}
_PREPROCESSING = {"noop_max": "noop_max", "frame_skip": "frame_skip", "episodic_life": "terminal_on_life_loss",
                  "gray_scale": "grayscale_obs"}
# infos by the option that switches them off
_INFOS = {option: INFOS[option] for option in ("lives", "raw_reward", "game_over", "ram", "frame_numbers")}


class Reference:
    """Another package's vector environment. Rewards are float64, integers in info int32; info has Gymnasium's masks.

    Args:
        env: The environment.
        unseen: Names of infos to leave out.
        seeded: Whether it was seeded at creation and takes no seed later.
    """

    def __init__(self, env: Any, unseen: Any, seeded: bool = False):
        self._env, self._unseen, self._seeded = env, unseen, seeded
        self.single_observation_space = env.single_observation_space
        self.single_action_space = env.single_action_space

    @property
    def np_random(self) -> tuple[np.random.Generator, ...] | None:
        """The random generators; None if they are not NumPy's."""
        from gymnasium.vector import SyncVectorEnv

        return self._env.np_random if isinstance(self._env, SyncVectorEnv) else None

    def reset(self, *, seed: Seed = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Returns observation and info."""
        given = {} if options is None else {"options": options}
        obs, info = self._env.reset(**given) if self._seeded else self._env.reset(seed=seed, **given)
        return obs, self._masked(info, np.zeros(len(obs), np.bool_))

    def step(self, actions: Any) -> Batch:
        """Returns observation, reward, terminated, truncated and info."""
        obs, reward, terminated, truncated, info = self._env.step(actions)
        return obs, reward.astype(np.float64), terminated, truncated, self._masked(info, terminated | truncated)

    def close(self) -> None:
        """Closes the environment."""
        self._env.close()

    def _masked(self, info: dict[str, Any], ended: Bools) -> dict[str, Any]:
        info = {key: value for key, value in info.items() if key.removeprefix("_") not in self._unseen}
        if isinstance(info.get("final_obs"), np.ndarray) and info["final_obs"].dtype != object:
            # rows of episodes that continue are not initialised
            rows = np.full(len(ended), None, object)
            for k in np.flatnonzero(ended):
                rows[k] = info["final_obs"][k]
            info |= {"final_obs": rows, "_final_obs": ended}
        for key in [key for key in info if not key.startswith("_")]:
            info.setdefault(f"_{key}", np.ones(len(ended), np.bool_))
        return _narrowed(info)


def _narrowed(info: dict[str, Any]) -> dict[str, Any]:
    """Returns an info whose 64-bit integers, such as Python's, are converted to 32 bits."""
    return {key: _narrowed(value) if isinstance(value, dict) else
            value.astype(np.int32) if value.dtype == np.int64 else value for key, value in info.items()}


def make(ours: Any, seed: int, options: dict[str, Any]) -> tuple[Reference, str]:
    """Returns the `Reference` of a pool of Atari games, and its name and version.

    Raises:
        ValueError: The pool has no preset, or the reference has no such option or autoreset mode.
        ImportError: The reference is not installed.
    """
    preset = ours.env_spec.options["preset"]
    if preset is None:
        raise ValueError("preset: expected 'envpool', 'ale' or 'gymnasium', because only these have a reference")
    # players are of EnvPool, seeds of Gymnasium's reset
    unseen = {"players", "seeds"}.union(*(_INFOS[name] for name in _INFOS if not options.get(name, True)))
    options = {name: value for name, value in options.items() if name != "preset" and name not in _INFOS}
    makers = {"envpool": _make_envpool, "ale": _make_vector_env, "gymnasium": _make_gymnasium}
    return makers[preset](ours, seed, options, unseen)


def _make_envpool(ours: Any, seed: int, options: dict[str, Any], unseen: Any) -> tuple[Reference, str]:
    _check_mode(ours, ["NextStep"], "EnvPool")
    import envpool

    task = ours.env_spec.options["task"]
    env = envpool.make_gymnasium(f"{roms.title(task)}-v5", num_envs=ours.num_envs, seed=seed,
                                 **_renamed(options, _ENVPOOL, "EnvPool"))
    return Reference(env, unseen, seeded=True), f"EnvPool {envpool.__version__}"


def _make_vector_env(ours: Any, seed: int, options: dict[str, Any], unseen: Any) -> tuple[Reference, str]:
    import ale_py
    from ale_py.vector_env import AtariVectorEnv

    _check_mode(ours, ["NextStep", "SameStep"], "AtariVectorEnv")
    task = ours.env_spec.options["task"]
    env = AtariVectorEnv(task, ours.num_envs, autoreset_mode=ours.metadata["autoreset_mode"],
                         **_renamed(options, _VECTOR_ENV, "AtariVectorEnv"))
    return Reference(env, unseen), f"AtariVectorEnv of ale_py {ale_py.__version__}"


def _make_gymnasium(ours: Any, seed: int, options: dict[str, Any], unseen: Any) -> tuple[Reference, str]:
    import ale_py
    import gymnasium
    from gymnasium.vector import SyncVectorEnv
    from gymnasium.wrappers import AtariPreprocessing, FrameStackObservation, TimeLimit

    gymnasium.register_envs(ale_py)
    ale_py.ALEInterface.setLoggerMode(ale_py.LoggerMode.Error)
    chosen = ours.env_spec.options
    if chosen["obs_type"] == "image":
        name, id = "AtariPreprocessing", f"ALE/{roms.ale_title(chosen['task'])}-v5"
        own = {name: options[name] for name in options if name not in _ENV}
        ale = {**_renamed({name: options[name] for name in options if name in _ENV}, _ENV, name), "frameskip": 1}
        size = chosen["img_width"], chosen["img_height"]
        others = {"stack_num", "img_height", "img_width", "max_episode_steps"}
        wrapped = _renamed({name: own[name] for name in own if name not in others}, _PREPROCESSING, name)
    else:
        name, id = "AtariEnv", _id_of_gymnasium(ours.env_spec.id)
        kind = "ram" if chosen["obs_type"] == "ram" else "grayscale" if chosen["gray_scale"] else "rgb"
        others = {"stack_num", "obs_type", "gray_scale", "max_episode_steps"}
        ale = _renamed({name: options[name] for name in options if name not in others},
                       {**_ENV, "frame_skip": "frameskip"}, name)
        ale |= {"obs_type": kind, "game": chosen["task"]}

    def make_one() -> Any:
        with warnings.catch_warnings():
            # that there is a newer version of the environment
            warnings.simplefilter("ignore", DeprecationWarning)
            env = gymnasium.make(id, disable_env_checker=True, **ale)
        if name == "AtariPreprocessing":
            env = AtariPreprocessing(env, screen_size=size, **wrapped)
        if "max_episode_steps" in options:
            env = TimeLimit(env, options["max_episode_steps"])
        return env if name == "AtariEnv" and chosen["stack_num"] == 1 else FrameStackObservation(
            env, chosen["stack_num"])

    env = SyncVectorEnv([make_one] * ours.num_envs, autoreset_mode=ours.metadata["autoreset_mode"])
    return Reference(env, unseen), f"{name} of Gymnasium {gymnasium.__version__} and ale_py {ale_py.__version__}"


def _id_of_gymnasium(id: str) -> str:
    """Returns Gymnasium's id, or Pong's if Gymnasium has no id of this kind for the game."""
    import gymnasium

    if id in gymnasium.registry:
        return id
    kind = "NoFrameskip-" if "NoFrameskip-" in id else "-"
    return f"Pong{kind}{id.rsplit('-', 1)[1]}"


def _check_mode(ours: Any, modes: Any, package: str) -> None:
    mode = ours.metadata["autoreset_mode"].value
    if mode not in modes:
        raise ValueError(f"autoreset_mode: expected {' or '.join(map(repr, modes))} ({package} supports no "
                         f"other mode), got {mode!r}")


def _renamed(options: dict[str, Any], names: Mapping[str, str], package: str) -> dict[str, Any]:
    """Returns options under a package's names for them."""
    for name in options:
        if name not in names:
            raise ValueError(f"{name}: not an option of the reference, {package}; options: {', '.join(names)}")
    if options.get("full_action_space") == "all":
        raise ValueError(f"full_action_space: expected a bool ({package} does not support 'all'), got 'all'")
    return {names[name]: value for name, value in options.items()}
