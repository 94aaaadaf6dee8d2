"""The classic Gym face: the API of Gym before 0.26, which scripts for EnvPool 0.4 to 0.6 expect."""
import sys

import numpy as np
from gymnasium import spaces

from cypool.faces.face import Face, add_info, players_of
from cypool.faces.gymnasium import metadata_of, spaces_of


def gyms(space):
    """Returns a space of Gymnasium's as one of Gym's, if the program has imported that; else as it is.

    Programs for Gym ask whether a space is, say, a `gym.spaces.Discrete`.
    """
    theirs = getattr(sys.modules.get("gym"), "spaces", None)
    if theirs is None:
        return space
    if isinstance(space, spaces.Discrete):
        return theirs.Discrete(int(space.n))
    if isinstance(space, spaces.Dict):
        return theirs.Dict({key: gyms(part) for key, part in space.items()})
    if isinstance(space, spaces.Tuple):
        return theirs.Tuple([gyms(part) for part in space])
    if isinstance(space, spaces.MultiBinary):
        return theirs.MultiBinary(space.n)
    if isinstance(space, spaces.MultiDiscrete):
        return theirs.MultiDiscrete(space.nvec, dtype=space.dtype.type)
    return theirs.Box(space.low, space.high, dtype=space.dtype.type)


class GymPool(Face):
    """A batch of environments with the classic API: `reset` returns observations only, `step` four things.

    A batch, as `step` and `recv` return it, is a tuple (observation, reward, done, info):

    * observation: (batch_size, ...) array, or a dict or tuple of them.
    * reward: float32, (batch_size,).
    * done: bool, (batch_size,): the episode has ended, in whichever way.
    * info: Arrays of `batch_size` rows: `env_id` int32, `elapsed_step` int32, `TimeLimit.truncated` bool (the episode
      was cut, it did not terminate) and the environment's own; `players` as in `GymnasiumPool`.

    Autoreset is NEXT_STEP and nothing else: the step after `done` ignores the action and starts an episode, with
    reward 0.

    Which rows a batch holds, and the other attributes: see `Face`. All attributes may be assigned.

    It is no subclass of `gym.Env`: Gym need not be installed. If it was imported before, the spaces are Gym's, else
    Gymnasium's.

    Args:
        pool: The engine. The face owns it.
        spec: What the environments are.
        autoreset_mode: "NextStep".

    Attributes:
        observation_space, action_space: The spaces of a single environment, as in EnvPool.
        single_observation_space, single_action_space: The same.
        is_vector_env: True.

    Threads: one at a time.
    """

    def __init__(self, pool, spec, autoreset_mode):
        super().__init__(pool, spec)
        self.observation_space, self.action_space = map(gyms, spaces_of(spec))
        self.single_observation_space, self.single_action_space = self.observation_space, self.action_space
        self.is_vector_env = True
        # these two are what Gym's wrappers read of any environment
        self.metadata = metadata_of(spec)
        self.reward_range = (-np.inf, np.inf)

    def reset(self, env_id=None, *, seed=None):
        """Starts new episodes.

        Args:
            env_id, seed: As in `async_reset`.

        Returns:
            Observations: of all environments; with `env_id` of those; in an asynchronous pool of the first batch.
        """
        return super().reset(env_id, seed=seed)[0]

    def load(self, state, env_id=None):
        """Puts environments where `save` found them; returns their observations. See `Face.load`."""
        return super().load(state, env_id)[0]

    def _laid_out(self, batch):
        obs, reward, terminated, truncated, info = batch
        for row, own, _ in info.pop("told", ()):
            add_info(info, own, row, len(reward))
        if self.env_spec.num_players > 1:
            info["players"] = players_of(self.env_spec, info["env_id"])
        info["TimeLimit.truncated"] = truncated & ~terminated
        return obs, reward.astype(np.float32), terminated | truncated, info
