"""The part of `cypool.compat.envpool` that needs dm_env."""
from collections import namedtuple

import numpy as np
from dm_env import specs

from cypool.compat.envpool import EnvPool, beside, int32
from cypool.faces import dm
from cypool.faces.dm import DmPool, observed_info, tuple_type
from cypool.faces.face import players_of
from cypool.spec import Array, Discrete

Players = namedtuple("players", ["env_id"])


def spec_of(description, name):
    """Returns the dm_env spec of a description. Where all elements have the same bounds, these are scalars."""
    return _with_scalars(dm.spec_of(description, name))


def _with_scalars(spec):
    if isinstance(spec, dict):
        return {key: _with_scalars(part) for key, part in spec.items()}
    if isinstance(spec, specs.DiscreteArray) or not isinstance(spec, specs.BoundedArray):
        return spec
    low, high = spec.minimum.flat[0], spec.maximum.flat[0]
    if (spec.minimum != low).any() or (spec.maximum != high).any():
        return spec
    return specs.BoundedArray(spec.shape, spec.dtype, low, high, spec.name)


def state_type(env_spec):
    """Returns the named tuple that EnvPool's dm observations are."""
    return tuple_type("State", "env_id", "players", "obs", *observed_info(env_spec))


def state_spec(env_spec, num_envs):
    """Returns the specs of a single environment's row, in the named tuple that `observation` is."""
    observed = env_spec.observation
    if isinstance(observed, Discrete):
        observed = specs.DiscreteArray(observed.n, np.int32, "obs")
    else:
        observed = spec_of(beside(observed), "obs")
    ids = spec_of(Array((), np.int32, 0, num_envs - 1), "env_id")
    return state_type(env_spec)(ids, Players(ids), observed,
                                *(spec_of(description, name)
                                  for name, description in observed_info(env_spec).items()))


class DMEnvPool(EnvPool, DmPool):
    """A batch of environments as EnvPool gives it to dm_env's users.

    A batch is a time step as of `cypool.faces.dm.DmPool`, but `reward` and `discount` are float32, and `observation`
    is a named tuple of `env_id`, `players`, `obs` and the environment's own info.

    Args:
        pool, env_spec, config: See `EnvPool`.

    Threads: one at a time.
    """

    def __init__(self, pool, env_spec, config):
        super().__init__(pool, env_spec, config)
        self._state = state_type(env_spec)

    def observation_spec(self):
        """Returns the specs of a single environment's row, in the named tuple that `observation` is."""
        return self.spec.observation_spec()

    def action_spec(self):
        """Returns the spec of a single environment's action."""
        return self.spec.action_spec()

    def reward_spec(self):
        """Returns the spec of a single reward."""
        return specs.Array((), np.float32, "reward")

    def discount_spec(self):
        """Returns the spec of a single discount."""
        return specs.BoundedArray((), np.float32, 0, 1, "discount")

    def _laid_out(self, batch):
        step = super()._laid_out(batch)
        obs, ids, _, *own = step.observation
        return step._replace(reward=step.reward.astype(np.float32), discount=step.discount.astype(np.float32),
                             observation=self._state(ids, Players(**players_of(self.env_spec, ids)), int32(obs), *own))
