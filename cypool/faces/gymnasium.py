"""The Gymnasium face: a pool as a `gymnasium.vector.VectorEnv`."""
import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from cypool.faces.face import Face, ids_of
from cypool.spec import Discrete


def space_of(description):
    """Returns the Gymnasium space of an `Array`, a `Discrete`, or a dict of them."""
    if isinstance(description, Discrete):
        return spaces.Discrete(description.n)
    if isinstance(description, dict):
        return spaces.Dict({key: space_of(part) for key, part in description.items()})
    return spaces.Box(description.low, description.high, dtype=description.dtype.type)


class GymnasiumPool(Face, VectorEnv):
    """A batch of environments with Gymnasium's vector API, and `send` / `recv` besides.

    A batch, as `step` and `recv` return it, is a tuple (observation, reward, terminated, truncated, info):

    * observation: (batch_size, ...) array, or a dict of them.
    * reward: float64, (batch_size,).
    * terminated, truncated: bool, (batch_size,).
    * info: Arrays of `batch_size` rows: `env_id` int32, `elapsed_step` int32 and the environment's own.

    Which rows a batch holds, and the other attributes: see `Face`.

    Args:
        pool: The engine. The face owns it.
        spec: What the environments are.
        autoreset_mode: What becomes of an environment whose episode has ended. NEXT_STEP: its next step ignores
            the action and starts an episode, with reward 0. SAME_STEP: the next episode starts at once, the last
            observation and info are in `info["final_obs"]` and `info["final_info"]`. DISABLED: nothing; it has
            to be reset before its next step.

    Attributes:
        batch_size: Rows of a batch; also the batch axis of `observation_space` and `action_space`.

    Threads: one at a time.
    """

    autoreset_modes = {mode.value: mode.name.lower() for mode in AutoresetMode}

    def __init__(self, pool, spec, autoreset_mode):
        super().__init__(pool, spec)
        mode = AutoresetMode(autoreset_mode)
        self._same_step = mode == AutoresetMode.SAME_STEP
        self.metadata = {"autoreset_mode": mode, "render_modes": []}
        self.single_observation_space = space_of(spec.observation)
        self.single_action_space = space_of(spec.action)
        self.observation_space = batch_space(self.single_observation_space, self.batch_size)
        self.action_space = batch_space(self.single_action_space, self.batch_size)

    def reset(self, env_id=None, *, seed=None, options=None):
        """Starts new episodes.

        Args:
            env_id: Integers, shape (k,): the environments to reset; all by default, and then whatever is in flight
                is thrown away.
            seed: An int, and environment i gets `seed + i`; or a sequence with one int (or None) for each environment
                (of `env_id`, if given). None leaves the random streams where they are.
            options: `{"reset_mask": mask}`, a bool array of shape (num_envs,), resets the environments that are True
                there, in a synchronous pool.

        Returns:
            Observation and info: of all environments; with `env_id` of those; in an asynchronous pool of the first
            batch. With a mask the environments that are not reset show what they showed before.
        """
        ids, mask = ids_of(env_id), None
        if options:
            if set(options) != {"reset_mask"}:
                raise ValueError(f"options: expected none but reset_mask, got {sorted(options)}")
            mask = self._mask(options["reset_mask"], env_id)
        self._start(ids, seed, mask)
        obs, _, _, _, info = self._received(self._pool.recv)
        return obs, info

    def _mask(self, mask, env_id):
        if not isinstance(mask, np.ndarray) or mask.dtype != np.bool_:
            raise TypeError(f"reset_mask: expected a NumPy array of bools, got {mask!r}")
        if mask.shape != (self.num_envs,):
            raise ValueError(f"reset_mask: expected shape ({self.num_envs},), got {mask.shape}")
        if not mask.any():
            raise ValueError("reset_mask: expected at least one True, got none")
        if env_id is not None or self.is_async:
            raise ValueError("reset_mask: expected no env_id beside it, and a synchronous pool")
        return mask

    def step(self, actions, env_id=None):
        """Steps environments and waits for a batch: `send`, then `recv`."""
        if self._same_step:
            return super().step(actions, env_id)
        # the engine's batch is laid out already: the shortest way, as it is gone the most often
        return self._pool.step(self._read(actions), None if env_id is None else ids_of(env_id))

    def _laid_out(self, batch):
        if not self._same_step:
            return batch
        obs, reward, terminated, truncated, info = batch
        final_obs, final_info = info.pop("final")
        ended = terminated | truncated
        if ended.any():
            rows = np.flatnonzero(ended)
            info["final_obs"] = np.full(len(ended), None, object)
            for row in rows:
                if isinstance(final_obs, dict):
                    info["final_obs"][row] = {key: part[row] for key, part in final_obs.items()}
                else:
                    info["final_obs"][row] = final_obs[row]
            info["final_info"] = {}
            for key, values in final_info.items():
                info["final_info"][key] = np.zeros_like(values)
                info["final_info"][key][rows] = values[rows]
                info["final_info"][f"_{key}"] = ended.copy()
            info["_final_obs"], info["_final_info"] = ended.copy(), ended
        return batch

    # Gymnasium's own, which passes what wrappers pass on to close_extras
    close = VectorEnv.close

    def close_extras(self, **kwargs):
        """Ends the threads; called by `close`, which may be called twice."""
        self._pool.close()
