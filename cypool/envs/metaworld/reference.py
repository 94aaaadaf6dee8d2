"""metaworld itself: the reference for `cypool.testing.check_parity`."""
from __future__ import annotations

import warnings
from functools import partial
from typing import Any

import numpy as np

from cypool.registration.registry import expand, resolve

# options that the package has, too
_SHARED = ("reward_function_version", "terminate_on_success", "use_one_hot", "recurrent_info_in_obs",
           "normalize_reward_in_recurrent_info", "reward_normalization_method", "reward_alpha",
           "normalize_observations", "width", "height", "camera_name", "camera_id")


def load() -> Any:
    """Returns the package, able to run with this MuJoCo.

    Since mujoco 3.17, an equality of a model has more numbers than the eleven that the package writes. With older
    versions, the package is unchanged.
    """
    with warnings.catch_warnings():
        # the package's warnings, when it is imported
        warnings.simplefilter("ignore")
        import metaworld
        import mujoco
        from metaworld.sawyer_xyz_env import SawyerMocapBase

    def reset_mocap_welds(self: Any) -> None:
        for k in range(self.model.neq):
            if self.model.eq_type[k] == mujoco.mjtEq.mjEQ_WELD:
                self.model.eq_data[k, :11] = [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, -1.0, 0.0, 0.0, 0.0, 5.0]

    if mujoco.mjNEQDATA != 11:
        SawyerMocapBase.reset_mocap_welds = reset_mocap_welds
    return metaworld


def make(spec: Any, seed: int) -> Any:
    """Returns the environment of our spec as the package makes it, but with our infos and dtypes."""
    import gymnasium

    from cypool.envs.metaworld.tasks import draw_goals

    metaworld = load()
    from metaworld.env_dict import ALL_V3_ENVIRONMENTS

    chosen = spec.options
    task = chosen["task"]
    cls = ALL_V3_ENVIRONMENTS[task]
    goals = chosen["goals"] or draw_goals([task], seed, chosen["num_goals"])[task]
    common = {"env_cls": cls, "partially_observable": chosen["partially_observable"]}
    tasks = [metaworld._encode_task(task, {"rand_vec": np.array(goal), **common}) for goal in goals]
    is_fresh, samples = chosen["task_select"] == "fresh", chosen["sample_tasks_on_reset"]
    with warnings.catch_warnings():
        # that a float32 has less precision
        warnings.simplefilter("ignore")
        env = metaworld._init_each_env(
            cls, tasks, seed=seed, max_episode_steps=spec.max_episode_steps, env_id=chosen["task_index"],
            num_tasks=chosen["num_tasks"], task_select="pseudorandom" if is_fresh else chosen["task_select"],
            render_mode="rgb_array", **{name: chosen[name] for name in _SHARED})
    if is_fresh:
        # as scripts do that want a new goal each time
        env.unwrapped.set_task(tasks[0])
        env.unwrapped._freeze_rand_vec, env.unwrapped.seeded_rand_vec = False, True
    else:
        env.get_wrapper_attr("toggle_sample_tasks_on_reset")(samples)

    class Plain(gymnasium.Wrapper[Any, Any, Any, Any]):
        """Uses our spaces, in which an observed goal has no bounds, and our infos, which are float64."""

        def __init__(self) -> None:
            super().__init__(env)
            seen = spec.observation
            self.observation_space = gymnasium.spaces.Box(seen.low, seen.high, seen.shape, seen.dtype.type)
            self.samples_first = not (is_fresh or samples)

        def reset(self, **given: Any) -> Any:
            # where a first reset of the package raises an error, ours chooses
            first, self.samples_first = self.samples_first, False
            obs, info = (self.env.get_wrapper_attr("sample_tasks") if first else self.env.reset)(**given)
            return obs.astype(self.observation_space.dtype), info

        def step(self, action: Any) -> Any:
            obs, *rest, info = self.env.step(action)
            info.pop("episode", None)
            return (obs.astype(self.observation_space.dtype), *rest,
                    {name: np.float64(value) for name, value in info.items()})

    return Plain()


class Players:
    """Plays the tasks of a batch with noisy scripted policies, and with random actions that are held for a while.

    Random actions grasp nothing, so without the policies most of each reward would never be computed.
    """

    def __init__(self, envs: list[Any], tasks: list[str], seed: int):
        load()
        from metaworld.policies import ENV_POLICY_MAP

        self.envs = envs
        self.policies = [ENV_POLICY_MAP[task]() for task in tasks]
        self.rng = np.random.default_rng(seed)
        self.steps = 0
        self.held: Any = None

    def act(self, actions: Any) -> Any:
        """Returns actions that replace random ones; the environments cycle through the three kinds of actions."""
        if self.steps % 10 == 0:
            self.held = actions
        self.steps += 1
        chosen = actions.copy()
        for k, (env, policy) in enumerate(zip(self.envs, self.policies, strict=True)):
            base = env.unwrapped
            # policies look at the frame of now and at the goal, which may be hidden
            obs = np.concatenate([base._prev_obs, base._prev_obs, base._target_pos])
            with warnings.catch_warnings():
                # that an action will be clipped
                warnings.simplefilter("ignore")
                action = policy.get_action(obs)
            # beyond 1, the package clips them itself
            chosen[k] = np.clip((action, action + self.rng.normal(0, 0.3, 4), self.held[k])[k % 3], -1, 1)
        return chosen


def make_reference(ours: Any, seed: int, options: dict[str, Any]) -> tuple[Any, str]:
    """Returns a batch of the package's environments that plays its tasks, and its name and version."""
    from importlib.metadata import version

    from gymnasium.vector import SyncVectorEnv

    options = {name: value for name, value in options.items() if name != "max_episode_steps"}
    id = ours.env_spec.id
    expansion = expand(id, ours.num_envs, seed, options)
    if expansion is None:
        specs, seeds = [ours.env_spec] * ours.num_envs, [seed + i for i in range(ours.num_envs)]
    else:
        specs = [resolve(id, ours.env_spec.max_episode_steps, each)[1] for each in expansion.options]
        seeds = expansion.seeds
    theirs = SyncVectorEnv([partial(make, spec, seed) for spec, seed in zip(specs, seeds, strict=True)],
                           autoreset_mode=ours.metadata["autoreset_mode"])
    players = Players(theirs.envs, [spec.options["task"] for spec in specs], seed)
    theirs.choose = players.act  # type: ignore[attr-defined]
    return theirs, f"{id} of metaworld {version('metaworld')}"
