"""The Gymnasium face: a pool as a `gymnasium.vector.VectorEnv`."""
import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from cypool.arguments import check_float
from cypool.errors import EnvError
from cypool.faces.actions import ActionReader
from cypool.spec import Discrete


def space_of(description):
    """Returns the Gymnasium space of an `Array`, a `Discrete`, or a dict of them."""
    if isinstance(description, Discrete):
        return spaces.Discrete(description.n)
    if isinstance(description, dict):
        return spaces.Dict({key: space_of(part) for key, part in description.items()})
    return spaces.Box(description.low, description.high, dtype=description.dtype.type)


class GymnasiumPool(VectorEnv):
    """A batch of environments with Gymnasium's vector API, and `send` / `recv` besides.

    Synchronous if `batch_size` equals `num_envs`: row i belongs to environment i. Asynchronous if it is
    less: `recv` and `step` return the `batch_size` environments that finish first, `info["env_id"]`
    says which they are.

    Args:
        pool: The engine. The face owns it.
        spec: What the environments are.
        autoreset_mode: What becomes of an environment whose episode has ended. NEXT_STEP: its next step ignores
            the action and starts an episode, with reward 0. SAME_STEP: the next episode starts at once, the last
            observation and info are in `info["final_obs"]` and `info["final_info"]`. DISABLED: nothing; it has
            to be reset before its next step.

    Attributes:
        env_spec: The `cypool.spec.EnvSpec`.
        batch_size: Rows of a batch; also the batch axis of `observation_space` and `action_space`.

    Threads: one at a time.
    """

    def __init__(self, pool, spec, autoreset_mode):
        self._pool = pool
        self._read = ActionReader(spec.action)
        self._same_step = autoreset_mode == AutoresetMode.SAME_STEP
        self.env_spec = spec
        self.metadata = {"autoreset_mode": autoreset_mode, "render_modes": []}
        self.num_envs = pool.num_envs
        self.batch_size = pool.batch_size
        self.is_async = pool.is_async
        self.num_threads = pool.num_threads
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
        ids, mask = None if env_id is None else _env_ids(env_id), None
        if options:
            if set(options) != {"reset_mask"}:
                raise ValueError(f"options: expected none but reset_mask, got {sorted(options)}")
            mask = self._mask(options["reset_mask"], env_id)
        self._start(ids, mask, seed)
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

    def _start(self, ids, mask, seed):
        """Checks all, then seeds, then sends resets."""
        masked = None if mask is None else np.flatnonzero(mask).astype(np.int32)
        max_seed = self.env_spec.max_seed
        if ids is None:
            seeded, seeds = range(self.num_envs), seeds_of(seed, self.num_envs, max_seed)
            if seeds is not None and mask is not None:
                seeded, seeds = masked.tolist(), [seeds[i] for i in masked]
            self._pool.drain()
        else:
            seeded = ids.tolist()
            seeds = seeds_of(seed, len(seeded), max_seed)
            if seeds is not None and not np.iterable(seed):
                seeds = seeds_of([seed + i for i in seeded], len(seeded), max_seed)
        pairs = [] if seeds is None else [(i, s) for i, s in zip(seeded, seeds, strict=True) if s is not None]
        self._pool.send_reset(masked if ids is None else ids, mask is not None, pairs)

    def async_reset(self, env_id=None, *, seed=None):
        """Starts new episodes without waiting; `recv` brings the observations. Arguments as in `reset`."""
        self._start(None if env_id is None else _env_ids(env_id), None, seed)

    def _received(self, call):
        """Returns the batch that `call` receives, in Gymnasium's layout."""
        if not self._same_step:
            return call()
        try:
            return self._with_finals(call())
        except EnvError as error:
            error.batch = self._with_finals(error.batch)
            raise

    def _with_finals(self, batch):
        obs, reward, terminated, truncated, info = batch
        final_obs, final_info = info.pop("final")
        ended = terminated | truncated
        if ended.any():
            rows = np.flatnonzero(ended)
            info["final_obs"] = np.full(len(ended), None, object)
            for row in rows:
                info["final_obs"][row] = (
                    {key: part[row] for key, part in final_obs.items()} if isinstance(final_obs, dict) else final_obs[row])
            info["final_info"] = {}
            for key, values in final_info.items():
                info["final_info"][key] = np.zeros_like(values)
                info["final_info"][key][rows] = values[rows]
                info["final_info"][f"_{key}"] = ended.copy()
            info["_final_obs"], info["_final_info"] = ended.copy(), ended
        return batch

    def step(self, actions, env_id=None):
        """Steps environments and waits for a batch: `send`, then `recv`."""
        actions, ids = self._read(actions), None if env_id is None else _env_ids(env_id)
        if self._same_step:
            return self._received(lambda: self._pool.step(actions, ids))
        return self._pool.step(actions, ids)

    def send(self, actions, env_id=None):
        """Has environments stepped, without waiting.

        Args:
            actions: Shape (k, *action shape), one row for each id.
            env_id: Integers, shape (k,). By default all environments, in an asynchronous pool those of the
                batch received last.

        Raises:
            TypeError, ValueError: Wrong actions or ids; nothing was sent.
            RuntimeError: An environment is in flight, or was never reset; nothing was sent.
        """
        self._pool.send(self._read(actions), None if env_id is None else _env_ids(env_id))

    def recv(self, timeout=None):
        """Waits for a batch.

        Args:
            timeout: Seconds to wait at most; by default without limit. Ctrl-C interrupts.

        Returns:
            observation: (batch_size, ...) array, or a dict of them.
            reward: float64, (batch_size,).
            terminated, truncated: bool, (batch_size,).
            info: Arrays of `batch_size` rows: `env_id` int32, `elapsed_step` int32 and the environment's own.
            There are fewer rows if fewer environments are pending.

        Raises:
            RuntimeError: Nothing is pending.
            TimeoutError: Not enough environments finished in time; call again.
            EnvError: An environment raised.
        """
        timeout = None if timeout is None else check_float("timeout", timeout, 0, 1e9)
        return self._received(lambda: self._pool.recv(timeout))

    def close_extras(self, **kwargs):
        """Ends the threads; called by `close`, which may be called twice."""
        self._pool.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def __len__(self):
        return self.num_envs

    def __repr__(self):
        return f"{type(self).__name__}({self.env_spec.id}, num_envs={self.num_envs}, batch_size={self.batch_size})"


def seeds_of(seed, num_envs, max_seed):
    """Returns one seed per environment, or None for None.

    Raises:
        TypeError: A seed is no integer.
        ValueError: A seed is negative or above `max_seed`, or there are not as many as environments.
    """
    if seed is None:
        return None
    if isinstance(seed, (int, np.integer)) and not isinstance(seed, bool):
        seeds = [int(seed) + i for i in range(num_envs)]
    elif isinstance(seed, (list, tuple, np.ndarray)):
        if len(seed) != num_envs:
            raise ValueError(f"seed: expected one for each of {num_envs} envs, got {len(seed)}")
        seeds = [None if s is None else s.item() if isinstance(s, np.generic) else s for s in seed]
    else:
        raise TypeError(f"seed: expected an int or a sequence of ints, got {seed!r}")
    for s in seeds:
        if s is None:
            continue
        if not isinstance(s, int) or isinstance(s, bool):
            raise TypeError(f"seed: expected ints, got {s!r}")
        if s < 0 or (max_seed is not None and s > max_seed):
            most = "" if max_seed is None else f", at most {max_seed}"
            raise ValueError(f"seed: expected at least 0{most} for every env, got {s}")
    return seeds


def _env_ids(env_id):
    ids = np.asarray(env_id)
    if ids.dtype.kind not in "iu" and ids.size:
        raise TypeError(f"env_id: expected integers, got {ids.dtype}")
    if ids.ndim != 1:
        raise ValueError(f"env_id: expected shape (k,), got {ids.shape}")
    # beyond int32 nothing is an id; clipping keeps it out of range
    return np.ascontiguousarray(np.clip(ids, -1, np.iinfo(np.int32).max), np.int32)
