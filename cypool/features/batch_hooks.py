"""Python hooks, which change whole batches between the engine and an API."""
from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cypool.arguments.action_readers import unpack
from cypool.engine.observer import Observer
from cypool.errors import EnvError
from cypool.hooks import Batch
from cypool.util.arguments import shown

if TYPE_CHECKING:
    from cypool.engine.engine import Pool
    from cypool.spec import EnvSpec
    from cypool.util.typing import Batch as EngineBatch
    from cypool.util.typing import Bools, EnvIds


class BatchHooks(Observer):
    """Python hooks, called for each batch of a pool.

    Args:
        num_envs: Number of environments of the pool.
        spec: The environments' own spec.
        reward: A function of a `cypool.hooks.Batch`, or None.
        observation: A function of an observation, or None.
        described: An `EnvSpec` with the resulting observation.
        debug: Whether rewards must be finite.

    Thread safety: one thread at a time.
    """

    def __init__(self, num_envs: int, spec: EnvSpec, reward: Callable[..., Any] | None,
                 observation: Callable[..., Any] | None, described: EnvSpec, debug: bool):
        self._spec, self._described, self._debug = spec, described, debug
        self._reward: Any = reward
        self._observation: Any = observation
        # by env id, as the engine takes them
        shape: tuple[int, ...] = (spec.action_bytes,)
        dtype: Any = np.uint8
        if not isinstance(spec.action, Mapping):
            shape, dtype = spec.action.shape, spec.action.dtype
        self._actions = np.zeros((num_envs, *shape), dtype)

    def note_actions(self, actions: NDArray[Any], env_ids: EnvIds | None) -> None:
        """Notes actions that are about to be sent; arguments as for `_on_sent`."""
        self._actions[slice(None) if env_ids is None else env_ids] = actions

    def step_to(self, pool: Pool, actions: NDArray[Any], env_ids: EnvIds | None,
                out: tuple[NDArray[Any], ...]) -> EngineBatch:
        """Steps the pool, and writes the batch to the user's arrays."""
        if len(out[-1]) != len(actions):
            raise ValueError(f"out: expected arrays of {len(actions)} rows, got {len(out[-1])}")
        try:
            batch = pool.step(actions, env_ids)
        except EnvError as error:
            error.batch = self._written(error.batch, out)
            raise
        return self._written(batch, out)

    def _on_received(self, batch: EngineBatch, stepped: Bools, starts: Bools) -> EngineBatch:
        obs, reward, terminated, truncated, info = batch
        ended = np.flatnonzero(terminated | truncated) if "final" in info else ()
        if self._reward is not None:
            led_to = obs
            if len(ended):
                final = self._spec.unpack(info["final"][0])
                parts = [part.copy() for part in self._spec.unpack(obs)]
                for part, last in zip(parts, final, strict=True):
                    part[ended] = last[ended]
                led_to = self._spec.pack(parts)
            ids = info["env_id"].copy()
            made = np.asarray(self._reward(Batch(ids, unpack(self._spec, self._actions[ids]), led_to, reward.copy(),
                                                 terminated, truncated, info, starts)))
            if made.shape != reward.shape or made.dtype.kind not in "fiub":
                raise ValueError(f"reward_hook: expected numbers of shape {reward.shape}, got {made.dtype} of shape "
                                 f"{made.shape}")
            reward[:] = made
            # those that are only observed again have none either
            reward[~stepped] = 0
            if self._debug and not np.isfinite(reward).all():
                row = int(np.isfinite(reward).argmin())
                raise ValueError(f"reward_hook: expected finite numbers, got {reward[row]} for env {ids[row]}")
        if self._observation is not None:
            obs = self.observed(obs)
            if "final" in info:
                info["final"] = self._finals(info["final"][0], ended, len(reward)), info["final"][1]
        return obs, reward, terminated, truncated, info

    def _finals(self, final: Any, ended: Any, count: int) -> Any:
        """Last observations as the hook returns them, in the rows where an episode ended."""
        parts = [np.zeros((count, *part.shape), part.dtype) for _, part in self._described.observations]
        if len(ended):
            last = self.observed(self._spec.pack([part[ended] for part in self._spec.unpack(final)]))
            for part, values in zip(parts, self._described.unpack(last), strict=True):
                part[ended] = values
        return self._described.pack(parts)

    def observed(self, obs: Any) -> Any:
        """Returns the hook's result for an observation; the observation itself without such a hook."""
        if self._observation is None:
            return obs
        count = len(self._spec.unpack(obs)[0])
        made = self._observation(obs)
        wanted = self._described.observation
        if isinstance(wanted, Mapping) and not (isinstance(made, Mapping) and made.keys() == wanted.keys()):
            raise ValueError(f"observation_hook: expected a dict with the keys {list(wanted)}, got {shown(made)}")
        if isinstance(wanted, tuple) and not (isinstance(made, tuple) and len(made) == len(wanted)):
            raise ValueError(f"observation_hook: expected a tuple of {len(wanted)} arrays, got {shown(made)}")
        parts = []
        try:
            given = self._described.unpack(made)
        except (KeyError, TypeError, IndexError) as error:
            raise ValueError(f"observation_hook: expected {wanted}, got {shown(made)}") from error
        for (name, part), values in zip(self._described.observations, given, strict=True):
            array = np.asarray(values)
            if array.shape != (count, *part.shape) or array.dtype != part.dtype:
                which = "" if name is None else f" as {name}"
                raise ValueError(f"observation_hook: expected an array of {part.dtype}, shape {(count, *part.shape)}"
                                 f"{which}, got {array.dtype}, {array.shape}")
            parts.append(array)
        return self._described.pack(parts)

    def _written(self, batch: EngineBatch, out: tuple[NDArray[Any], ...]) -> EngineBatch:
        """The batch, in the user's arrays."""
        obs, reward, terminated, truncated, info = batch
        *parts, reward_out, terminated_out, truncated_out = out
        for target, source in zip(out, (*self._described.unpack(obs), reward, terminated, truncated), strict=True):
            np.copyto(target, source)
        return self._described.pack(parts), reward_out, terminated_out, truncated_out, info
