"""The Gymnasium face: a pool as a `gymnasium.vector.VectorEnv`."""
import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from cypool.arguments import check_float
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

    An environment whose episode has ended starts the next one with its next step, which ignores the
    action and has reward 0 (`AutoresetMode.NEXT_STEP`).

    Args:
        pool: The engine. The face owns it.
        spec: What the environments are.

    Attributes:
        env_spec: The `cypool.spec.EnvSpec`.
        batch_size: Rows of a batch; also the batch axis of `observation_space` and `action_space`.

    Threads: one at a time.
    """

    metadata = {"autoreset_mode": AutoresetMode.NEXT_STEP, "render_modes": []}

    def __init__(self, pool, spec):
        self._pool = pool
        self._read = ActionReader(spec.action)
        self.env_spec = spec
        self.num_envs = pool.num_envs
        self.batch_size = pool.batch_size
        self.is_async = pool.is_async
        self.num_threads = pool.num_threads
        self.single_observation_space = space_of(spec.observation)
        self.single_action_space = space_of(spec.action)
        self.observation_space = batch_space(self.single_observation_space, self.batch_size)
        self.action_space = batch_space(self.single_action_space, self.batch_size)

    def reset(self, *, seed=None, options=None):
        """Starts a new episode in every environment; whatever is in flight is thrown away.

        Args:
            seed: An int, and environment i gets `seed + i`; or a sequence with one int (or None) for each
                environment. None leaves the random streams where they are.
            options: None; there are none.

        Returns:
            Observation and info: of all environments, in an asynchronous pool of the first batch.
        """
        if options:
            raise ValueError(f"options: expected none, got {sorted(options)}")
        seeds = seeds_of(seed, self.num_envs, self.env_spec.max_seed)
        self._pool.drain()
        if seeds is not None:
            pairs = [(i, s) for i, s in enumerate(seeds) if s is not None]
            self._pool.seed([i for i, _ in pairs], [s for _, s in pairs])
        self._pool.send_reset()
        obs, _, _, _, info = self._pool.recv()
        return obs, info

    def async_reset(self):
        """Starts a new episode in every environment without waiting; `recv` brings the observations."""
        self._pool.drain()
        self._pool.send_reset()

    def step(self, actions, env_id=None):
        """Steps environments and waits for a batch: `send`, then `recv`."""
        return self._pool.step(self._read(actions), None if env_id is None else _env_ids(env_id))

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
        return self._pool.recv(None if timeout is None else check_float("timeout", timeout, 0, 1e9))

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
