"""Stable-Baselines3: cypool's `ReplayBuffer` instead of SB3's. See docs/how_to/training_libraries.md."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from cypool.adapters import require
from cypool.api.gymnasium import GymnasiumPool
from cypool.api.normalized import NormalizedPool
from cypool.replay.buffer import ReplayBuffer, some
from cypool.spec import Array
from cypool.util.arguments import shown

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from cypool.adapters.sb3 import SB3VecEnv

require("stable_baselines3", "stable-baselines3", "2.7", "3")

from gymnasium import spaces  # noqa: E402
from stable_baselines3.common import buffers, type_aliases  # noqa: E402
from stable_baselines3.common.vec_env import VecNormalize, VecTransposeImage  # noqa: E402


class SB3ReplayBuffer(buffers.ReplayBuffer):
    """A replay buffer for SB3's off-policy algorithms that stores each frame of a stack once.

        model = DQN("CnnPolicy", env, replay_buffer_class=SB3ReplayBuffer, replay_buffer_kwargs={"env": env})

    With the same seed, it returns the same samples as SB3's own buffer. Like that buffer, it holds `buffer_size` steps
    if episodes have at least `1 / spare` steps on average; with shorter episodes, the oldest steps are overwritten
    earlier.

    A model's `save_replay_buffer` and `load_replay_buffer` work. A loaded buffer has a new pool, which is never
    stepped. An episode continues if the next step starts from the last observation; otherwise a new one begins.

    Args:
        buffer_size, observation_space, action_space, device, n_envs: SB3's arguments.
        optimize_memory_usage: False.
        handle_timeout_termination: Whether to bootstrap from the next value after truncation.
        env: The `SB3VecEnv`, possibly inside SB3's wrappers.
        spare: Extra rows for the last observations of episodes and for first stacks, as a fraction of `buffer_size` for
            each frame of a stack.

    Raises:
        TypeError, ValueError: Wrong arguments, or `env` does not belong to the model.
    """

    def __init__(self, buffer_size: int, observation_space: spaces.Space[Any], action_space: spaces.Space[Any],
                 device: Any = "auto", n_envs: int = 1, optimize_memory_usage: bool = False,
                 handle_timeout_termination: bool = True, *, env: SB3VecEnv | None = None,
                 spare: float = 0.02):
        # not SB3's own, which makes the arrays
        buffers.BaseBuffer.__init__(self, buffer_size, observation_space, action_space, device, n_envs)
        if optimize_memory_usage:
            raise ValueError("optimize_memory_usage: expected False, because each frame is always stored only once")
        self.optimize_memory_usage = False
        self.buffer_size = max(buffer_size // n_envs, 1)
        self.pos = 0
        self.handle_timeout_termination = handle_timeout_termination
        pool = getattr(env, "pool", None)
        if not isinstance(pool, GymnasiumPool):
            raise TypeError("env: expected environments from cypool.adapters.sb3, passed as replay_buffer_kwargs="
                            f"{{'env': env}}, got {shown(env)}")
        if isinstance(pool, NormalizedPool):
            raise ValueError("env: expected environments without normalize_obs and normalize_reward, because stored "
                             "values are not normalized; use SB3's VecNormalize")
        transposed = _transposed(pool.single_observation_space, observation_space)
        if pool.num_envs != n_envs or transposed is None:
            raise ValueError(f"env: expected the model's environments, with {n_envs} rows of {observation_space}, got "
                             f"{pool}")
        stack = max([part.stack[1] for _, part in pool.env_spec.observations if isinstance(part, Array) and part.stack],
                    default=1)
        rows = self.buffer_size + int(spare * stack * self.buffer_size) + 2 * stack + 2
        self.replay = ReplayBuffer(pool, rows * n_envs)
        # which parts of the observation SB3 has with the channels first
        self._transposed = transposed
        # which step is where SB3 has it
        self.index = np.full((self.buffer_size, n_envs), -1, np.int64)
        # as SB3 has them: scaled, in float32
        self.actions = np.zeros((self.buffer_size, n_envs, self.action_dim), self._maybe_cast_dtype(action_space.dtype))

    def add(self, obs: Any, next_obs: Any, action: NDArray[Any], reward: NDArray[Any],
            done: NDArray[Any], infos: list[dict[str, Any]]) -> None:
        done = np.asarray(done, np.bool_)
        cut = np.zeros(self.n_envs, np.bool_)
        if self.handle_timeout_termination:
            cut[:] = [info.get("TimeLimit.truncated", False) for info in infos]
        obs, next_obs = self._moved(obs, -3, -1), self._moved(next_obs, -3, -1)
        # nothing is there while it changes: a signal may raise in between
        self.index[self.pos] = -1
        self.actions[self.pos] = np.reshape(action, (self.n_envs, self.action_dim))
        self.index[self.pos] = self.replay.add(obs, self._unscaled(action), reward, next_obs, done & ~cut, done & cut)
        self.pos += 1
        if self.pos == self.buffer_size:
            self.full, self.pos = True, 0

    def _unscaled(self, action: NDArray[Any]) -> NDArray[Any]:
        """Returns actions in the environment's range: SB3 stores those of a `Box` scaled to [-1, 1]."""
        space = self.action_space
        action = np.reshape(action, (self.n_envs, *(space.shape or ())))
        if not isinstance(space, spaces.Box):
            return action
        low, high = space.low, space.high
        unscaled = np.clip(low + 0.5 * (action + 1.0) * (high - low), low, high)
        result: NDArray[Any] = np.where(np.isfinite(unscaled), unscaled, np.clip(0, low, high)).astype(space.dtype)
        return result

    def _moved(self, obs: Any, source: int, destination: int) -> Any:
        """Returns observations with the channel axis moved, if SB3 has it first."""
        def moved(part: NDArray[Any]) -> NDArray[Any]:
            # of others torch's convolutions have other bits
            return np.ascontiguousarray(np.moveaxis(part, source, destination))

        transposed = self._transposed or set()
        if isinstance(obs, dict):
            return {name: moved(part) if name in transposed else part for name, part in obs.items()}
        return moved(obs) if transposed else obs

    def __getstate__(self) -> dict[str, Any]:
        # of the pool, a pickle has how to make it
        return {**self.__dict__, "replay": (self.replay.env, self.replay.capacity, self.replay._to_checkpoint())}

    def __setstate__(self, state: dict[str, Any]) -> None:
        pool, capacity, contents = state["replay"]
        replay = ReplayBuffer(pool, capacity)
        replay._from_checkpoint(contents, False)()
        self.__dict__.update(state, replay=replay)

    def _has(self, places: Any) -> NDArray[np.bool_]:
        """Returns which of these places still have a step in the replay buffer."""
        index = self.index.reshape(-1)[places]
        # in the others there was none yet
        there: NDArray[np.bool_] = (index >= 0) & self.replay.has(np.maximum(index, 0))
        return there

    def _get_samples(self, batch_inds: NDArray[Any], env: VecNormalize | None = None) -> Any:
        # the same draws as SB3's
        env_indices = np.random.randint(0, high=self.n_envs, size=(len(batch_inds),))
        places = batch_inds * self.n_envs + env_indices
        lost = ~self._has(places)
        if lost.any():
            places[lost] = np.random.choice(some(self._has(slice(None))), int(lost.sum()))
        index = self.index.reshape(-1)[places]
        sample = self.replay.gather(index)
        obs, next_obs = (self._normalize_obs(self._moved(part, -1, -3), env) for part in (sample.obs, sample.next_obs))
        action = self.actions.reshape(-1, self.action_dim)[places]
        done = sample.terminated.astype(np.float32).reshape(-1, 1)
        reward = self._normalize_reward(sample.reward.reshape(-1, 1), env)
        made = type_aliases.ReplayBufferSamples
        if isinstance(obs, dict):
            made = type_aliases.DictReplayBufferSamples
            obs, next_obs = ({name: self.to_torch(part) for name, part in each.items()} for each in (obs, next_obs))
        else:
            obs, next_obs = self.to_torch(obs), self.to_torch(next_obs)
        return made(obs, self.to_torch(action), next_obs, self.to_torch(done), self.to_torch(reward))


def _transposed(ours: spaces.Space[Any], theirs: spaces.Space[Any]) -> set[str | None] | None:
    """Returns the names of the parts of an observation whose axes SB3 has reordered; None for an array.

    Returns None instead of the set if the spaces differ.
    """
    if isinstance(ours, spaces.Dict):
        if not isinstance(theirs, spaces.Dict) or ours.keys() != theirs.keys():
            return None
        found: set[str | None] = set()
        for name, part in ours.items():
            moved = _transposed(part, theirs[name])
            if moved is None:
                return None
            found |= {name} if moved else set()
        return found
    if ours == theirs:
        return set()
    if isinstance(ours, spaces.Box) and len(ours.shape) == 3 and VecTransposeImage.transpose_space(ours) == theirs:
        return {None}
    return None
