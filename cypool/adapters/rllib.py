"""RLlib: a pool in each of its environment runners. See docs/how_to/training_libraries.md."""
from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Any

import gymnasium
import numpy as np

import cypool
from cypool.adapters import require
from cypool.util.arguments import shown

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from cypool.api.gymnasium import GymnasiumPool
    from cypool.spec import EnvSpec

require("ray.rllib.env.single_agent_env_runner", "ray", "2.60.0", "3", "rllib")

from gymnasium.vector import VectorWrapper  # noqa: E402
from gymnasium.vector.utils import batch_space  # noqa: E402
from gymnasium.wrappers import TransformObservation  # noqa: E402
from ray.rllib.algorithms.algorithm_config import AlgorithmConfig  # noqa: E402
from ray.rllib.callbacks.callbacks import RLlibCallback  # noqa: E402
from ray.rllib.connectors.module_to_env import GetActions  # noqa: E402
from ray.rllib.core.columns import Columns  # noqa: E402
from ray.rllib.env.env_runner import ENV_STEP_FAILURE  # noqa: E402
from ray.rllib.env.single_agent_env_runner import SingleAgentEnvRunner  # noqa: E402
from ray.rllib.env.single_agent_episode import SingleAgentEpisode  # noqa: E402
from ray.rllib.env.utils.infinite_lookback_buffer import InfiniteLookbackBuffer  # noqa: E402
from ray.rllib.env.wrappers.pettingzoo_env import PettingZooEnv  # noqa: E402
from ray.rllib.utils.numpy import convert_to_numpy  # noqa: E402
from ray.rllib.utils.spaces.space_utils import clip_action, get_base_struct_from_space, unsquash_action  # noqa: E402
from ray.rllib.utils.torch_utils import convert_to_torch_tensor  # noqa: E402
from ray.tune.registry import register_env  # noqa: E402

# parts of RLlib's runner and configuration that are used here, but not promised
USED = {SingleAgentEnvRunner: ("_sample", "_try_env_reset", "_try_env_step", "_increase_sampled_metrics",
                               "_log_env_steps"),
        AlgorithmConfig: ("_env_to_module_connector", "_module_to_env_connector", "callbacks_on_episode_created",
                          "callbacks_on_episode_start", "callbacks_on_episode_step", "callbacks_on_episode_end")}
for _class, _names in USED.items():
    _having = AlgorithmConfig() if _class is AlgorithmConfig else _class
    for _name in _names:
        if not hasattr(_having, _name):
            raise ImportError(f"ray: expected a version of RLlib with {_class.__name__}.{_name}: use ray 2.60")


def register(name: str = "cypool") -> None:
    """Registers `name` with RLlib, for `config.environment(name, env_config={"id": ..., ...})`.

    `env_config` takes the `id` of the environment and arguments of `cypool.make`, except `env_type`, `num_envs`,
    `batch_size` and `autoreset_mode`. With `gym_env_vectorize_mode="vector_entry_point"`, each environment runner has
    one pool of `num_envs_per_env_runner` environments.
    """
    register_env(name, make)


def make(config: Mapping[str, Any]) -> Any:
    """Makes the vector environment of an RLlib environment runner.

    Args:
        config: The `env_config` as in `register`; for a batch, also `num_envs`.

    Returns:
        A `PoolVectorEnv` of `num_envs` environments, or a `gymnasium.Env`; for a game with the view "players", a
        `MultiAgentEnv`. If the infos have an action mask, observations have the format of `masked`.

    Raises:
        ValueError: `id` is missing.
    """
    options = dict(config)
    if "id" not in options:
        raise ValueError(f"env_config: expected an 'id', got {shown(options)}")
    id = options.pop("id")
    if "num_envs" not in options:
        from cypool.adapters.single import SingleEnv

        env: Any = SingleEnv(id, **options)
        spec = env.pool.env_spec
        if spec.turns:
            env.close()
            return TurnEnv(id, **options)
        space, observe = observed(env.observation_space)
        if observe is not None:
            env = TransformObservation(env, observe, space)
        return MaskedEnv(env, spec) if has_mask(spec) else env
    pool = cypool.make(id, "gymnasium", **options)
    if pool.env_spec.agents:
        pool.close()
        raise ValueError(f"id: expected an environment with one agent, got {id!r}: use cypool.parallel_env with "
                         "RLlib's ParallelPettingZooEnv")
    return PoolVectorEnv(pool)


def observed(space: Any) -> tuple[Any, Callable[[Any], Any] | None]:
    """Returns a space for RLlib's networks and a function that converts observations, or None if none is needed.

    Pictures become float32 from -1 to 1 with the channels last, as in RLlib's own `NormalizedImageEnv`.
    """
    if not isinstance(space, gymnasium.spaces.Box) or space.dtype != np.uint8 or len(space.shape) != 3:
        return space, None
    first = space.shape[0] < space.shape[-1]
    shape = (*space.shape[1:], space.shape[0]) if first else space.shape

    def observe(obs: Any) -> Any:
        made = (np.moveaxis(obs, -3, -1) if first else obs).astype(np.float32, order="C")
        # in place: a batch of pictures takes megabytes
        made /= 128
        made -= 1
        return made

    return gymnasium.spaces.Box(-1, 1, shape, np.float32), observe


def has_mask(spec: EnvSpec) -> bool:
    """Whether the infos of an environment have a mask of legal actions."""
    return spec.illegal is not None and "action_mask" in spec.info


def masked(observations: Any, mask: Any) -> dict[str, Any]:
    """Returns an observation with its mask, or their spaces, in the format of RLlib's `ActionMaskingTorchRLModule`."""
    return {"observations": observations, "action_mask": mask}


def masked_space(space: Any, spec: EnvSpec) -> gymnasium.spaces.Dict:
    """Returns the space of observations with masks."""
    return gymnasium.spaces.Dict(masked(space, gymnasium.spaces.Box(0, 1, spec.info["action_mask"].shape, np.int8)))


class MaskedEnv(gymnasium.Wrapper):
    """A `gymnasium.Env` whose observations include the action masks."""

    def __init__(self, env: gymnasium.Env, spec: EnvSpec):
        super().__init__(env)
        self.observation_space = masked_space(env.observation_space, spec)

    def reset(self, **kwargs: Any) -> tuple[Any, dict[str, Any]]:
        obs, info = self.env.reset(**kwargs)
        return masked(obs, info["action_mask"]), info

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        obs, reward, terminated, truncated, info = self.env.step(action)
        return masked(obs, info["action_mask"]), reward, terminated, truncated, info


class TurnEnv(PettingZooEnv):
    """A turn-based game as a `MultiAgentEnv`: the observation of the player to move, with its mask.

    Args:
        id: The environment.
        **options: As in `cypool.aec_env`.
    """

    def __init__(self, id: str, **options: Any):
        env = cypool.aec_env(id, **options)
        super().__init__(env)
        spaces: dict[str, Any] = {agent: gymnasium.spaces.Dict(self._masked(env.observation_space(agent)))
                                  for agent in env.possible_agents}
        self.observation_spaces, self.observation_space = spaces, gymnasium.spaces.Dict(spaces)

    @staticmethod
    def _masked(seen: Any) -> dict[str, Any]:
        return masked(seen["observation"], seen["action_mask"])

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[dict[str, Any], dict[str, Any]]:
        obs, infos = super().reset(seed=seed, options=options)
        return {agent: self._masked(seen) for agent, seen in obs.items()}, infos

    def step(self, action: dict[str, Any]) -> Any:
        obs, *results = super().step(action)
        return ({agent: self._masked(seen) for agent, seen in obs.items()}, *results)


class PoolVectorEnv(VectorWrapper):
    """A pool for RLlib: without infos, because RLlib would create a dict for each environment in each step.

    Args:
        pool: A synchronous pool from `cypool.make`, with one agent per environment.
    """

    def __init__(self, pool: GymnasiumPool):
        super().__init__(pool)
        space, self._observe = observed(pool.single_observation_space)
        self._has_mask = has_mask(pool.env_spec)
        if self._has_mask:
            space = masked_space(space, pool.env_spec)
        if self._has_mask or self._observe is not None:
            self.single_observation_space = space
            self.observation_space = batch_space(space, pool.num_envs)

    def reset(self, *, seed: Any = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        obs, info = self.env.reset(seed=seed, options=options)
        return self._seen(obs, info), {}

    def step(self, actions: Any) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        obs, *results, info = self.env.step(actions)
        return (self._seen(obs, info), *results, {})

    def _seen(self, obs: Any, info: dict[str, Any]) -> Any:
        if self._observe is not None:
            obs = self._observe(obs)
        return masked(obs, info["action_mask"]) if self._has_mask else obs


class PoolEnvRunner(SingleAgentEnvRunner):
    """An environment runner that builds episodes from whole batches instead of single steps.

    RLlib's own runner appends each step to the episode of each environment and runs its connectors on them, which takes
    far longer than the steps. This runner keeps the arrays of all steps and cuts them into episodes at the end. With
    the same seeds, both give bit-identical results. If a setting needs individual environments' steps (your own
    connectors or callbacks, stateful modules, random actions, complete episodes, observations that are not arrays), it
    works like RLlib's runner.

    Use it with `config.env_runners(env_runner_cls=PoolEnvRunner, gym_env_vectorize_mode="vector_entry_point")`.
    """

    _needs_initial_reset: bool
    _obs: Any = None        # the last observations, if the pool is in the middle of episodes that begin here

    def _sample(self, *, num_timesteps: int | None = None, num_episodes: int | None = None, explore: bool,
                random_actions: bool = False, force_reset: bool = False) -> list[Any]:
        if num_timesteps is None or random_actions or not self._whole_batches():
            # each way starts afresh after the other one
            self._obs = None
            result: list[Any] = super()._sample(num_timesteps=num_timesteps, num_episodes=num_episodes, explore=explore,
                                                random_actions=random_actions, force_reset=force_reset)
            return result
        if force_reset or self._obs is None:
            self._reset_all()
        steps = self._collect(num_timesteps, explore)
        if steps is None:
            # the environments failed and were made again
            self._obs = None
            return self._sample(num_timesteps=num_timesteps, explore=explore)
        return self._cut(steps)

    def _whole_batches(self) -> bool:
        """Whether no setting needs the steps of single environments."""
        config, space = self.config, self.env.single_observation_space
        callbacks = config.callbacks_class if isinstance(config.callbacks_class, list) else [config.callbacks_class]
        return (isinstance(space, gymnasium.spaces.Box) and self.module is not None and not self.module.is_stateful()
                and config.framework_str == "torch" and config.episodes_to_numpy
                and config._env_to_module_connector is None and config._module_to_env_connector is None
                and config.add_default_connectors_to_env_to_module_pipeline
                and config.add_default_connectors_to_module_to_env_pipeline
                and all(each is RLlibCallback for each in callbacks)
                and not any(getattr(config, f"callbacks_on_episode_{when}")
                            for when in ("created", "start", "step", "end")))

    def _reset_all(self) -> None:
        self._ongoing_episodes_for_metrics.clear()
        self._obs = self._try_env_reset(seed=self._seed if self._needs_initial_reset else None)[0]
        # RLlib's own way would have to reset them once more
        self._needs_initial_reset = True
        self._over = np.zeros(self.num_envs, np.bool_)
        self._ids = [uuid.uuid4().hex for _ in range(self.num_envs)]
        self._began = np.zeros(self.num_envs, np.int64)

    def _collect(self, num_timesteps: int, explore: bool) -> dict[str, Any] | None:
        """Takes steps; returns the arrays of each column: (steps, num_envs, ...), with one more row for
        observations."""
        over, count = self._over, 0
        columns: dict[str, list[Any]] = {"obs": [self._obs], "over": [over]}
        forward = self.module.forward_exploration if explore else self.module.forward_inference
        struct = get_base_struct_from_space(self.env.single_action_space)
        runners = self.config.num_env_runners or 1
        while count < num_timesteps:
            given = {Columns.OBS: convert_to_torch_tensor(columns["obs"][-1], device=self._device)}
            lifetime = {"t": (self.num_env_steps_sampled_lifetime // runners + count) * runners} if explore else {}
            chosen = convert_to_numpy(GetActions()(rl_module=self.module, batch=forward(given, **lifetime),
                                                   episodes=[None], explore=explore))
            actions = chosen.pop(Columns.ACTIONS)
            if self.config.normalize_actions:
                for_env = unsquash_action(actions, struct)
            else:
                for_env = clip_action(actions, struct) if self.config.clip_actions else actions
            results = self._try_env_step(for_env)
            if results == ENV_STEP_FAILURE:
                return None
            obs, reward, terminated, truncated, _ = results
            # the step after an end starts an episode and does not count
            count += self.num_envs - int(np.count_nonzero(over))
            over = terminated | truncated
            for name, values in (("obs", obs), ("action", actions), ("reward", reward), ("terminated", terminated),
                                 ("truncated", truncated), ("over", over), *chosen.items()):
                columns.setdefault(name, []).append(values)
        self._obs, self._over = columns["obs"][-1], over
        self._log_env_steps(metric=self._metrics_num_env_steps_sampled, num_steps=count)
        return {"count": count, "outputs": list(chosen), **{name: np.stack(each) for name, each in columns.items()}}

    def _cut(self, steps: dict[str, Any]) -> list[Any]:
        """Returns the episodes of some steps: the finished ones, then the parts of those that continue."""
        ended: list[Any] = []
        ongoing: list[Any] = []
        last = len(steps["action"])
        for i in range(self.num_envs):
            # over[k]: the episode was over before step k
            ends = np.flatnonzero(steps["over"][:, i]).tolist()
            first = 0
            for end in [*ends, last + 1]:
                is_over = end <= last
                stop = end if is_over else last
                if stop > first:
                    part = self._episode(steps, i, first, stop, is_over)
                    (ended if is_over else ongoing).append(part)
                if is_over:
                    self._ids[i], self._began[i], first = uuid.uuid4().hex, 0, end + 1
                elif stop > first:
                    self._began[i] += stop - first
        self._done_episodes_for_metrics.extend(ended)
        for part in ongoing:
            self._ongoing_episodes_for_metrics[part.id_].append(part)
        self._increase_sampled_metrics(steps["count"], len(ended))
        return ended + ongoing

    def _episode(self, steps: dict[str, Any], i: int, first: int, stop: int, is_over: bool) -> Any:
        """Returns the episode of an environment that contains the steps `first` to `stop`."""
        env = self.env

        def column(values: NDArray[Any], more: int = 0, space: Any = None) -> InfiniteLookbackBuffer:
            return InfiniteLookbackBuffer(values[first:stop + more, i], lookback=0, space=space)

        outputs = {name: column(steps[name]) for name in steps["outputs"]}
        outputs["weights_seq_no"] = InfiniteLookbackBuffer(np.full(stop - first, self._weights_seq_no), lookback=0)
        return SingleAgentEpisode(
            self._ids[i], observations=column(steps["obs"], 1, env.single_observation_space),
            observation_space=env.single_observation_space,
            infos=InfiniteLookbackBuffer([{} for _ in range(stop - first + 1)], lookback=0),
            actions=column(steps["action"], space=env.single_action_space), action_space=env.single_action_space,
            rewards=column(steps["reward"]), terminated=is_over and bool(steps["terminated"][stop - 1, i]),
            truncated=is_over and bool(steps["truncated"][stop - 1, i]), extra_model_outputs=outputs,
            t_started=int(self._began[i]), len_lookback_buffer=0)
