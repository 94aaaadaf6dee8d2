"""The replay buffer: takes what a pool does into a ring, and samples from it."""
from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from cypool.api.base import VectorAPI
from cypool.api.normalize import NormalizedPool
from cypool.errors import EnvError
from cypool.replay.layout import Layout, Sample
from cypool.replay.ring import Ring, SampledRow
from cypool.util.arguments import MAX_ENVS, check_array, check_float, check_int, shown

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from cypool.util.typing import Batch, EnvIds

# added to priorities: every row keeps a chance
LEAST_PRIORITY = 1e-6


class ReplayBuffer:
    """Stores what a pool does, and samples from it.

    `step`, `reset`, `send` and `recv` are those of the pool; what comes back is stored. What else happens to the pool,
    such as a step of its own or `load`, is a gap: the next row of each environment is the first one after it.

    Each environment has a ring of `capacity // num_envs` rows. An episode of T steps takes T + 1 rows, for its last
    observation is stored, too. Of observations that are declared as stacks (`Array.stack`) only the newest frame is
    stored; an episode then takes a row more for each older frame of its first observation.

    Args:
        env: A pool of any API; one that does not normalize.
        capacity: Rows of all environments together.
        n_step: How many steps count as one in a sample. There are fewer where an episode, or the part of an agent,
            ends, and in front of the newest row.
        gamma: Discount of a step, 0 to 1.
        sequence_length: How many rows, one after the other, a sample has in each of its rows: sequences that go on
            in the next episode. None: single steps.
        alpha: Exponent of priorities, 0 to 1; 0: all rows are drawn with the same probability.
        n_sampled_goal: For each row with the goal it had, how many have one that was achieved later in the episode, on
            average (HER). For environments with goals.
        seed: Of the random numbers that rows are drawn with; an int, or None.

    Raises:
        TypeError, ValueError: Wrong arguments, or they do not go together.

    Threads: any. A sample waits for a batch that is being stored, but not for steps.
    """

    def __init__(self, env: VectorAPI, capacity: int, *, n_step: int = 1, gamma: float = 0.99,
                 sequence_length: int | None = None, alpha: float = 0.0, n_sampled_goal: int = 0,
                 seed: int | None = None):
        if not isinstance(env, VectorAPI):
            raise TypeError(f"env: expected a pool, got {shown(env)}")
        if isinstance(env, NormalizedPool):
            raise ValueError("env: expected a pool that does not normalize, as what is stored would be of old "
                             "statistics: normalize samples")
        spec = env.env_spec
        self.env = env
        self.n_step = check_int("n_step", n_step, 1, 2**16)
        self.gamma = check_float("gamma", gamma, 0, 1)
        self.sequence_length = None
        length = 0
        if sequence_length is not None:
            length = self.sequence_length = check_int("sequence_length", sequence_length, 1, 2**16)
        self.alpha = check_float("alpha", alpha, 0, 1)
        self.n_sampled_goal = check_int("n_sampled_goal", n_sampled_goal, 0, 2**16)
        if length and self.n_step > 1:
            raise ValueError(f"n_step: expected 1 with sequences, got {n_step}")
        if self.n_sampled_goal and (spec.goals is None or length or self.n_step > 1):
            raise ValueError(f"n_sampled_goal: expected 0 for {spec.id}, as it has no goals" if spec.goals is None else
                             "n_sampled_goal: expected 0 with sequences or several steps, whose rewards are not of one "
                             "goal")
        # what a hook returns need not be a stack, whatever its description says
        self._layout = Layout(spec, length, env.recipe.get("observation_hook") is None)
        least = (self._layout.padding + max(length, 1) + 1) * env.num_envs
        self.capacity = check_int("capacity", capacity, least, 2**48)
        rows = self.capacity // env.num_envs
        try:
            memory = {name: np.zeros(shape, dtype)
                      for name, (shape, dtype) in self._layout.memory(env.num_envs, rows).items()}
        except (MemoryError, ValueError) as error:
            raise ValueError(f"capacity: expected as many rows as memory can hold, got {capacity}: {error}") from error
        self._ring = Ring(env.num_envs, rows, memory, self._layout.parts, self._layout.columns,
                          self._layout.action_parts, self._layout.groups, self.n_step, self.gamma, length, self.alpha,
                          self._layout.goals if self.n_sampled_goal else None)
        self._nbytes = sum(array.nbytes for array in memory.values())
        self._bits = np.random.PCG64(None if seed is None else check_int("seed", seed, 0, 2**128 - 1))
        self._lock = threading.Lock()
        self._gatherers: Any = None
        self._tap = _Tap(env, self._store)

    def reset(self, *args: Any, **kwargs: Any) -> Any:
        """Does what `reset` of the pool does, and stores the first observations."""
        return self._through(self.env.reset, *args, **kwargs)

    def async_reset(self, *args: Any, **kwargs: Any) -> None:
        """Does what `async_reset` of the pool does; `recv` stores the first observations."""
        self._through(self.env.async_reset, *args, **kwargs)

    def step(self, *args: Any, **kwargs: Any) -> Any:
        """Does what `step` of the pool does, and stores the steps, also where it raises an `EnvError`."""
        return self._through(self.env.step, *args, **kwargs)

    def send(self, *args: Any, **kwargs: Any) -> None:
        """Does what `send` of the pool does; `recv` stores the steps."""
        self._through(self.env.send, *args, **kwargs)

    def recv(self, *args: Any, **kwargs: Any) -> Any:
        """Does what `recv` of the pool does, and stores the steps, also where it raises an `EnvError`."""
        return self._through(self.env.recv, *args, **kwargs)

    def _through(self, call: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """Calls a method of the pool, whose calls of the engine are seen."""
        self._tap.pool = self.env._replace_pool(self._tap)
        if self._tap.missed():
            with self._lock:
                self._ring.cut()
        try:
            return call(*args, **kwargs)
        finally:
            self.env._replace_pool(self._tap.pool)
            self._tap.see()

    def _store(self, batch: Batch, sent: list[tuple[NDArray[Any], EnvIds]]) -> None:
        """Takes in a batch of the engine's, and the actions that were sent before it."""
        obs, reward, terminated, truncated, info = batch
        spec, pool = self.env.env_spec, self._tap.pool
        final = spec.unpack(info["final"][0]) if "final" in info else None
        agents = [values[key] for values in info.get("agents", {}).values() for key in self._layout.agent_keys]
        # a hook may return arrays in any order
        obs = [np.ascontiguousarray(part) for part in spec.unpack(obs)]
        with self._lock:
            for actions, ids in sent:
                self._ring.note_actions(actions, ids)
            self._ring.add(info["env_id"], pool.stepped(), pool.starts(), obs, reward, terminated, truncated, agents,
                           final)

    def __len__(self) -> int:
        """Returns how many rows can be sampled."""
        return self._ring.num_eligible

    @property
    def nbytes(self) -> int:
        """Bytes of what is stored; memory that was not written to yet is not taken."""
        return self._nbytes

    def sample(self, n: int, *, beta: float = 0.4) -> Sample:
        """Draws rows, with replacement, and gathers them on the threads of the pool.

        Args:
            n: How many.
            beta: Exponent of the importance of rows, 0 to 1, for priorities.

        Returns:
            A `Sample`. Its memory is used again when nobody holds its arrays.

        Raises:
            TypeError, ValueError: Wrong arguments.
            RuntimeError: There is no row yet that can be sampled.
        """
        n = check_int("n", n, 1, MAX_ENVS)
        beta = check_float("beta", beta, 0, 1)
        index, weight, goal = np.empty(n, np.int64), np.empty(n, np.float32), None
        with self._lock:
            if len(self) == 0:
                raise RuntimeError("sample: expected a buffer with rows, got an empty one")
            self._ring.draw(self._bits, index, weight, beta)
            if self.n_sampled_goal:
                goal = np.empty(n, np.int64)
                self._ring.draw_goals(self._bits, index, goal, self.n_sampled_goal / (self.n_sampled_goal + 1))
            return self._gather(index, weight, goal)

    def gather(self, index: ArrayLike) -> Sample:
        """Returns rows of your choice, with the goals that they had.

        Args:
            index: Integers, (n,): of earlier samples, or of `indices`.

        Raises:
            TypeError, ValueError: Wrong arguments, or a row is there no more.
        """
        rows = self._checked(index)
        with self._lock:
            there = self._ring.is_eligible(rows)
            if not there.all():
                raise ValueError(f"index: expected rows that are there, got {rows[~there][0]}")
            return self._gather(rows, np.ones(len(rows), np.float32), None)

    def indices(self) -> NDArray[np.int64]:
        """Returns the index of every row that can be sampled: int64. It ends with `num_envs * row + env_id`."""
        with self._lock:
            result: NDArray[np.int64] = self._ring.all_eligible()
            return result

    def _checked(self, index: ArrayLike) -> NDArray[np.int64]:
        rows = check_array("index", index, "integers of shape (n,)")
        if rows.ndim != 1 or rows.dtype.kind not in "iu" or not 1 <= len(rows) <= MAX_ENVS:
            raise ValueError(f"index: expected 1 to {MAX_ENVS} integers in one dimension, got {rows.dtype}, shape "
                             f"{rows.shape}")
        if rows.dtype == np.uint64 and (rows > np.iinfo(np.int64).max).any():
            raise ValueError("index: expected rows that are there, got one beyond int64")
        # a copy: the caller's may change
        return rows.astype(np.int64)

    def _gather(self, index: NDArray[np.int64], weight: NDArray[np.float32],
                goal: NDArray[np.int64] | None) -> Sample:
        n = len(index)
        if self._gatherers is None or self._gatherers.num_envs < n:
            spec = self._layout.sampled()
            rows = [SampledRow(spec, k, self._ring) for k in range(n)]
            self._gatherers = self.env._pool.companion(rows)
            # an environment begins with a reset, and gathers then, too
            self._ring.request(index, goal)
            self._gatherers.send_reset()
            self._gatherers.recv()
        self._ring.request(index, goal)
        ids = None if n == self._gatherers.num_envs else np.arange(n, dtype=np.int32)
        arrays, *_ = self._gatherers.step(np.zeros(n, np.int64), ids)
        sample = self._layout.sample_of(list(arrays.values()), index, weight)
        if goal is not None:
            self._relabel(sample, goal >= 0)
        return sample

    def _relabel(self, sample: Sample, rows: NDArray[np.bool_]) -> None:
        """Computes what depends on the goal, in rows with another one."""
        goals = sample.next_obs["achieved_goal"][rows], sample.next_obs["desired_goal"][rows]
        if len(goals[0]) == 0:
            return
        sample.reward[rows] = self.env.compute_reward(*goals)
        sample.terminated[rows] = self.env.compute_terminated(*goals)
        sample.discount[rows] = np.where(sample.terminated[rows], 0, np.float32(self.gamma))

    def update_priorities(self, index: ArrayLike, priority: ArrayLike) -> None:
        """Sets the priorities of rows, as the paper on prioritized replay does after each update.

        New rows have the greatest priority so far. Rows that are there no more are left out.

        Args:
            index: Integers, (n,): of earlier samples.
            priority: Numbers, (n,), not below 0, such as the absolute TD errors.

        Raises:
            TypeError, ValueError: Wrong arguments, or a buffer without priorities; nothing has changed.
        """
        if self.alpha == 0:
            raise ValueError("update_priorities: expected a buffer with priorities, got one with alpha=0")
        rows = self._checked(index)
        values = check_array("priority", priority, "numbers of shape (n,)")
        if values.dtype.kind not in "fiu" or values.shape != rows.shape:
            raise ValueError(f"priority: expected {len(rows)} numbers, got {values.dtype}, shape {values.shape}")
        values = values.astype(np.float64)
        if not ((values >= 0) & (values <= 1e100)).all():
            raise ValueError(f"priority: expected numbers of 0 to 1e100, got {shown(priority)}")
        with self._lock:
            self._ring.set_priorities(rows, values + LEAST_PRIORITY)

    def __repr__(self) -> str:
        return f"ReplayBuffer({self.env.env_spec.id}, capacity={self.capacity}, {len(self)} rows)"


class _Tap:
    """The engine's pool, or what is around it, during a call through a buffer; what it does not name is the pool's own.

    Args:
        env: The pool of an API.
        store: Called with each batch, and what was sent since the last one: pairs of actions and ids.
    """

    def __init__(self, env: VectorAPI, store: Callable[[Batch, list[tuple[NDArray[Any], EnvIds]]], None]):
        self.pool: Any = env._pool
        self._env = env
        self._store = store
        self._sent: list[tuple[NDArray[Any], EnvIds]] = []
        # whose rows the last batch had: an asynchronous pool sends to these by default
        self._received: EnvIds | None = None
        self._num_changes = self.pool.num_changes

    def __getattr__(self, name: str) -> Any:
        return getattr(self.pool, name)

    def missed(self) -> bool:
        """Returns whether the pool has done something that was not seen, once."""
        if self.pool.num_changes == self._num_changes:
            return False
        # what is in flight belongs to no step that is known
        self._sent, self._received = [], None
        return True

    def see(self) -> None:
        """Notes that all until now was seen."""
        self._num_changes = self.pool.num_changes

    def send(self, actions: NDArray[Any], env_ids: EnvIds | None = None) -> None:
        received = self._received
        self.pool.send(actions, env_ids)
        self._note_sent(actions, env_ids, received)

    def recv(self, timeout: float | None = None) -> Batch:
        return self._received_from(self.pool.recv, timeout)

    def step(self, actions: NDArray[Any], env_ids: EnvIds | None = None, *out: Any) -> Batch:
        num_changes = self.pool.num_changes
        received = self._received

        def step() -> Batch:
            try:
                batch: Batch = self.pool.step(actions, env_ids, *out)
            finally:
                # also if it ends early, as it does after a signal: the actions are sent
                if self.pool.num_changes > num_changes:
                    self._note_sent(actions, env_ids, received)
            return batch

        return self._received_from(step)

    def _note_sent(self, actions: NDArray[Any], env_ids: EnvIds | None, received: EnvIds | None) -> None:
        if env_ids is None:
            env_ids = received if self._env.is_async else self._env.all_env_ids
        if env_ids is not None:
            self._sent.append((actions.copy(), env_ids.copy()))

    def _received_from(self, call: Callable[..., Batch], *args: Any) -> Batch:
        try:
            batch = call(*args)
        except EnvError as error:
            self._take(error.batch)
            raise
        self._take(batch)
        return batch

    def _take(self, batch: Batch) -> None:
        self._received = batch[4]["env_id"].copy()
        sent, self._sent = self._sent, []
        self._store(batch, sent)
