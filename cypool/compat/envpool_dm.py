"""The part of `cypool.compat.envpool` that needs dm_env."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from dm_env import specs

from cypool.api.dm import DmPool
from cypool.arguments.env_ids import players_of
from cypool.compat.envpool_arrays import int32
from cypool.compat.envpool_dm_specs import Players, state_type
from cypool.compat.envpool_pools import EnvPool

if TYPE_CHECKING:
    from cypool.util.typing import Batch


class DMEnvPool(EnvPool, DmPool):
    """A batch of environments as EnvPool presents it to dm_env users.

    A batch is a time step as in `cypool.api.dm.DmPool`, but `reward` and `discount` are float32, and `observation` is a
    named tuple of `env_id`, `players`, `obs` (or the parts of a dict) and the environment's own info.

    Args:
        pool, env_spec, config: See `EnvPool`.

    Thread safety: one thread at a time.
    """

    def __init__(self, pool: Any, env_spec: Any, config: Any):
        super().__init__(pool, env_spec, config)
        self._state = state_type(env_spec)

    def observation_spec(self) -> Any:
        """Returns the specs of a single environment's row, as a named tuple like `observation`."""
        return self.spec.observation_spec()

    def action_spec(self) -> Any:
        """Returns the spec of a single environment's action."""
        return self.spec.action_spec()

    def reward_spec(self) -> Any:
        """Returns the spec of a single reward."""
        return specs.Array((), np.float32, "reward")

    def discount_spec(self) -> Any:
        """Returns the spec of a single discount."""
        return specs.BoundedArray((), np.float32, 0, 1, "discount")

    def _format_batch(self, batch: Batch) -> Any:
        step = super()._format_batch(batch)
        obs, ids, _, *own = step.observation
        obs = int32(obs, self.env_spec.observation)
        state = self._state(ids, Players(**players_of(self.env_spec, ids)),
                            *(obs.values() if isinstance(obs, dict) else (obs,)), *own)
        return step._replace(reward=step.reward.astype(np.float32), discount=step.discount.astype(np.float32),
                             observation=state)
