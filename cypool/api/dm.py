"""The dm API: a pool as a `dm_env.Environment` whose time steps hold batches."""
from __future__ import annotations

import functools
from collections import namedtuple
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from cypool.engine.engine import Pool
    from cypool.spec import EnvSpec
    from cypool.state import State
    from cypool.util.typing import Batch

try:
    import dm_env
    from dm_env import StepType, specs
except ImportError as error:
    raise ImportError('env_type "dm" needs dm_env: pip install "cypool[dm]"') from error

from cypool.api.base import VectorAPI
from cypool.spec import Array, Discrete

INT32_MAX = np.iinfo(np.int32).max
# of a row, by whether it begins an episode, + 2 if it ends one
STEP_TYPES = np.array([StepType.MID, StepType.FIRST, StepType.LAST, StepType.LAST], np.int32)


def dm_spec_of(description: Any, name: str) -> Any:
    """Returns the dm_env spec of an `Array`, a `Discrete`, or a dict or tuple of specs for one of them."""
    if isinstance(description, Discrete):
        return specs.DiscreteArray(description.n, description.dtype, name)
    if isinstance(description, dict):
        return {key: dm_spec_of(part, key) for key, part in description.items()}
    if isinstance(description, tuple):
        return tuple(dm_spec_of(part, f"{name}_{k}") for k, part in enumerate(description))
    return specs.BoundedArray(description.shape, description.dtype, description.low, description.high, name)


@functools.cache
def tuple_type(name: str, *fields: str) -> type[Any]:
    """Returns a named tuple class, the same for the same fields, so that JAX sees batches of two pools as one type."""
    return namedtuple(name, fields, rename=True)


def observed_info(spec: EnvSpec) -> dict[str, Any]:
    """Returns the names and descriptions of an environment's info without `discount`, which time steps already have."""
    info: dict[str, Any] = {name: description for name, description in spec.info.items() if name != "discount"}
    return info | {"agents": spec.agent_columns} if spec.agents else info


class DmPool(VectorAPI, dm_env.Environment):
    """A batch of environments with dm_env's API, and with `send` / `recv`.

    `reset`, `step` and `recv` return a batch: a `dm_env.TimeStep` of arrays, whose `first()`, `mid()` and `last()` are
    bool arrays:

    * step_type: int32, (batch_size,), values of `dm_env.StepType`. FIRST: the row belongs to a reset. LAST: the episode
      has ended, or the environment failed, even in a reset.
    * reward: float64, (batch_size,). 0 where `first()`; dm_env has None there, which an array cannot hold.
    * discount: float64, (batch_size,). 0 where the episode terminated; 1 elsewhere, also after truncation and where
      `first()`. If the environment's info has a `discount`, that value is used.
    * observation: A named tuple: `obs`, an array of shape (batch_size, ...), or a dict or tuple of them; `env_id`
      int32; `elapsed_step` int32; the environment's own info; and `agents`, if several agents act: a dict of groups
      with `reward`, `terminated` and `truncated` of shape (batch_size, agents). Info names that are not valid field
      names become `_3` and so on, by position.

    Autoreset is always NEXT_STEP, as in dm_env: the step after `last()`, and the first step of an environment that was
    never reset, ignore the action and start an episode.

    For the rows of a batch, and the attributes, see `VectorAPI`.

    Args:
        pool: The engine's pool. The API owns it.
        spec: The spec of the environments.
        autoreset_mode: "NextStep".

    Thread safety: one thread at a time.
    """

    # time steps have fixed fields
    has_statistics = False

    def __init__(self, pool: Pool, spec: EnvSpec, autoreset_mode: str):
        if len(spec.agents) > 1 or spec.has_absent_agents:
            raise ValueError(f"env_type: expected 'gymnasium', got 'dm': {spec.id} has several kinds of agents, or "
                             "agents that leave; for PettingZoo's API, use cypool.parallel_env")
        super().__init__(pool, spec)
        self._observation = tuple_type("Observation", "obs", "env_id", "elapsed_step", *observed_info(spec))

    def observation_spec(self) -> Any:
        """Returns the specs of a single environment's row, in the named tuple of `observation`."""
        steps = self.env_spec.max_episode_steps or INT32_MAX
        return self._observation(
            dm_spec_of(self.env_spec.observation, "obs"),
            dm_spec_of(Array((), np.int32, 0, self.num_envs - 1), "env_id"),
            dm_spec_of(Array((), np.int32, 0, steps), "elapsed_step"),
            *(dm_spec_of(description, name) for name, description in observed_info(self.env_spec).items()))

    def action_spec(self) -> Any:
        """Returns the spec of a single environment's action."""
        return dm_spec_of(self.env_spec.action, "action")

    def reward_spec(self) -> Any:
        """Returns the spec of a single reward."""
        return specs.Array((), np.float64, "reward")

    def discount_spec(self) -> Any:
        """Returns the spec of a single discount."""
        return specs.BoundedArray((), np.float64, 0, 1, "discount")

    def step(self, action: Any, env_id: ArrayLike | None = None) -> Any:
        """Steps environments and waits for a batch: `send`, then `recv`."""
        if self._pool.num_unstarted:
            self.send(action, env_id)
            return self.recv()
        return super().step(action, env_id)

    def send(self, action: Any, env_id: ArrayLike | None = None) -> None:
        """Sends actions to environments, without waiting; see `VectorAPI.send`.

        Environments that were never reset are reset instead, and their actions are ignored.
        """
        if not self._start_instead(action, env_id):
            super().send(action, env_id)

    def load(self, state: State, env_id: ArrayLike | None = None) -> Any:
        """Restores environments to a saved state; returns a time step that is `mid()`. See `VectorAPI.load`."""
        return super().load(state, env_id)

    def _format_batch(self, batch: Batch) -> Any:
        obs, reward, terminated, truncated, info = batch
        # elapsed_step does not show where an episode begins: Atari's continues after a lost life
        # a batch without rows comes from no pool
        starts = self._pool.starts() if len(reward) else np.zeros(0, np.bool_)
        step_type = STEP_TYPES[starts + 2 * (terminated | truncated)]
        # fields are fixed: there is no place for infos that an environment reports only now and then
        info.pop("extra_infos", None)
        discount = info.pop("discount").astype(np.float64) if "discount" in info else 1.0 - terminated
        # info is in the order of the fields
        return dm_env.TimeStep(step_type, reward, discount, self._observation(obs, *info.values()))
