"""The replay buffer: stores the steps of a pool in a ring, and samples from it."""
from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from cypool.api.base import VectorAPI
from cypool.api.normalized import NormalizedPool
from cypool.arguments.action_readers import reader_of
from cypool.arguments.env_ids import ids_of
from cypool.engine.observer import Observer
from cypool.errors import ClosedError
from cypool.replay import files
from cypool.replay.layout import Episode, RingLayout, Sample
from cypool.replay.replay import Gatherer, Ring, SampledRow
from cypool.state import check_stream, opened
from cypool.util.arguments import MAX_ENVS, check_array, check_float, check_int, check_path, shown
from cypool.util.fixed import fixed
from cypool.util.lock_guard import LockGuard

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from cypool.util.typing import Batch, Bools, EnvIds, Pathlike

# added to priorities: every row keeps a chance
LEAST_PRIORITY = 1e-6
# they are stored as float32
MOST_PRIORITY = 1e37
# arrays that only files have
SUMS = ("obs_sums", "step_sums")
POOL = 1  # in `Ring.writers`: a row that waits for a step of the pool
EMPTY = "sample: expected a buffer with rows, got an empty one"


class ReplayBuffer(Observer):
    """Stores the steps of a pool, and samples from them.

    `step`, `reset`, `send` and `recv` call the pool and store the results. Any other call to the pool, such as
    `env.step` or `env.load`, causes a gap: the next row of each environment is the first one after the gap.

    Each environment has a ring of `capacity // num_envs` rows. An episode of T steps takes T + 1 rows, because its last
    observation is also stored. For observations declared as stacks (`Array.stack`), only the newest frame is stored; an
    episode then takes one more row for each older frame of its first observation.

    If the pool normalizes, observations and rewards are stored unnormalized, and samples are normalized with the pool's
    current statistics, so that the values of an old row change over time.

    Args:
        env: A pool, with any API.
        capacity: Total number of rows, over all environments.
        n_step: Number of steps combined into one in a sample. Fewer are combined where an episode, or an agent's part
            in it, ends, and just before the newest row.
        gamma: Discount per step, 0 to 1.
        sequence_length: Number of consecutive rows in each row of a sample; sequences continue across episodes. None:
            single steps.
        alpha: Exponent of priorities, 0 to 1; 0: rows are drawn uniformly.
        n_sampled_goal: Hindsight experience replay (HER): for each row with its original goal, the average number of
            rows with a goal that was achieved later in the episode. For environments with goals.
        seed: Seed for drawing rows; an int or None.
        path: A memory-mapped file for all rows and their priorities. If it exists, the buffer continues with its rows,
            with a gap in each environment. It contains everything stored until the process ended or was killed.

    Raises:
        TypeError, ValueError: Wrong or incompatible arguments; or the file belongs to a different buffer, is damaged,
            or is open in another buffer.
        OSError: The file cannot be read or written, or the disk is full.

    Thread safety: any thread. A sample waits for a batch that is being stored, but not for steps.
    """

    env: VectorAPI = fixed()
    capacity: int = fixed()
    n_step: int = fixed()
    gamma: float = fixed()
    sequence_length: int | None = fixed()
    alpha: float = fixed()
    n_sampled_goal: int = fixed()
    _attached = _closed = False
    _file: Any = None
    # the observations after the last steps of `add`; None: unknown
    _led_to: list[NDArray[Any]] | None = None
    _map: Any = None

    def __init__(self, env: VectorAPI, capacity: int, *, n_step: int = 1, gamma: float = 0.99,
                 sequence_length: int | None = None, alpha: float = 0.0, n_sampled_goal: int = 0,
                 seed: int | None = None, path: Pathlike | None = None):
        if not isinstance(env, VectorAPI):
            raise TypeError(f"env: expected a pool, got {shown(env)}")
        spec = env._batch_spec
        self.env = env
        self._lock, self._pid = threading.Lock(), os.getpid()
        self.n_step = check_int("n_step", n_step, 1, 2**16)
        self.gamma = check_float("gamma", gamma, 0, 1)
        length = 0 if sequence_length is None else check_int("sequence_length", sequence_length, 1, 2**16)
        self.sequence_length = length or None
        self.alpha = check_float("alpha", alpha, 0, 1)
        self.n_sampled_goal = check_int("n_sampled_goal", n_sampled_goal, 0, 2**16)
        if length and self.n_step > 1:
            raise ValueError(f"n_step: expected 1 with sequences, got {n_step}")
        if self.n_sampled_goal and (spec.goals is None or length or self.n_step > 1):
            raise ValueError(f"n_sampled_goal: expected 0 for {spec.id}, which has no goals" if spec.goals is None else
                             "n_sampled_goal: expected 0 with sequences or n_step above 1, because one reward would "
                             "then belong to several goals")
        # the result of a hook need not be a stack, whatever its description says
        self._layout = RingLayout(spec, length, env.recipe.get("observation_hook") is None, self.alpha > 0)
        least = (self._layout.padding + max(length, 1) + 1) * env.num_envs
        self.capacity = check_int("capacity", capacity, least, 2**48)
        rows = self.capacity // env.num_envs
        self._sampled = self._layout.sampled()
        self._header = files.header_of(self._layout.contents(env.num_envs, rows))
        self._shapes = self._layout.memory(env.num_envs, rows)
        self._memory = self._make_memory(capacity, path)
        self._ring = self._make_ring(rows, self._memory)
        self._gatherer = Gatherer(self._ring, self._layout.action_parts, self.n_step, self.gamma)
        if path is not None and not self._ring.restore(self._memory["obs_sums"], self._memory["step_sums"]):
            self.close()
            raise ValueError(f"{files.EXPECTED}, got a damaged one: {path!r}")
        self._bits = np.random.PCG64(None if seed is None else check_int("seed", seed, 0, 2**128 - 1))
        self._gatherers: Any = None
        # threads that are in a call of the buffer: only then the pool's steps are stored
        self._callers: set[int] = set()

    def _make_memory(self, capacity: int, path: Pathlike | None) -> dict[str, NDArray[Any]]:
        """Returns the arrays of the ring."""
        if path is not None:
            self._file, self._map = files.mapped(check_path("path", path), self._header, self._shapes)
            return files.arrays_of(self._map, self._header, self._shapes)
        try:
            return {name: np.zeros(*shape) for name, shape in self._shapes.items() if name not in SUMS}
        except (MemoryError, ValueError) as error:
            raise ValueError(f"capacity: expected a buffer that fits in memory, got {capacity} rows: "
                             f"{error}") from error

    def _make_ring(self, rows: int, memory: dict[str, NDArray[Any]]) -> Ring:
        goals = self._layout.goals if self.n_sampled_goal else None
        return Ring(self.env.num_envs, rows, memory, self._layout.parts, self._layout.columns, self._layout.groups,
                    self.sequence_length or 0, self.alpha, goals)

    def reset(self, *args: Any, **kwargs: Any) -> Any:
        """Calls the pool's `reset`, and stores the first observations."""
        return self._through(self.env.reset, *args, **kwargs)

    def async_reset(self, *args: Any, **kwargs: Any) -> None:
        """Calls the pool's `async_reset`; `recv` stores the first observations."""
        self._through(self.env.async_reset, *args, **kwargs)

    def step(self, *args: Any, **kwargs: Any) -> Any:
        """Calls the pool's `step` and stores the steps, even if it raises an `EnvError`."""
        return self._through(self.env.step, *args, **kwargs)

    def send(self, *args: Any, **kwargs: Any) -> None:
        """Calls the pool's `send`; `recv` stores the steps."""
        self._through(self.env.send, *args, **kwargs)

    def recv(self, *args: Any, **kwargs: Any) -> Any:
        """Calls the pool's `recv` and stores the steps, even if it raises an `EnvError`."""
        return self._through(self.env.recv, *args, **kwargs)

    def _through(self, call: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """Calls a method of the pool, and stores the calls of the engine that it makes on this thread."""
        if not self._attached or self._closed or self._file is not None:
            self._check_open()
            self._attach()
        thread = threading.get_ident()
        try:
            self._callers.add(thread)
            return call(*args, **kwargs)
        finally:
            self._callers.discard(thread)

    def _attach(self) -> None:
        """Makes the pool report its calls, starting with the first one that is stored."""
        if not self._attached:
            self.env._pool.observers.attach(self)
            self._attached = True

    def _on_sent(self, actions: NDArray[Any], env_ids: EnvIds | None) -> None:
        if not self._callers:
            self._on_gap()
            return
        with LockGuard(self._lock):
            self._ring.note_actions(actions, self.env.all_env_ids if env_ids is None else env_ids)

    def _on_received(self, batch: Batch, stepped: Bools, starts: Bools) -> Batch:
        if not self._callers:
            self._on_gap()
            return batch
        obs, reward, terminated, truncated, info = batch
        final = None
        agents: list[NDArray[Any]] = []
        if "final" in info:
            final = self._layout.unpack(info["final"][0])
        if "agents" in info:
            agents = [values[key] for values in info["agents"].values() for key in self._layout.agent_keys]
        with LockGuard(self._lock):
            if not self._closed:
                self._ring.add(info["env_id"], stepped, starts, self._layout.unpack(obs), reward, terminated, truncated,
                               agents, final)
        return batch

    def _on_gap(self) -> None:
        with LockGuard(self._lock):
            self._ring.cut_pool()

    def add(self, obs: Any, action: Any, reward: ArrayLike, next_obs: Any, terminated: ArrayLike, truncated: ArrayLike,
            env_id: ArrayLike | None = None) -> NDArray[np.int64]:
        """Stores a step of each environment from another source, such as a training library or a data set.

        Args:
            obs: The observations before the actions. Stored only if no step of the same episode led to them. If the
                last step of an unfinished episode led elsewhere, a new episode begins.
            action, reward, terminated, truncated: The results of the step.
            next_obs: The observations after the step; at the end of an episode, its last observation.
            env_id: Integers, shape (k,): the environments of the steps; all by default.

        Returns:
            The index of each step.

        Raises:
            TypeError, ValueError: Wrong arguments; nothing was stored.
        """
        spec = self.env.env_spec
        if isinstance(self.env, NormalizedPool):
            raise ValueError("add: expected a pool without normalization, because stored values are not normalized")
        if spec.agents:
            raise ValueError(f"add: expected an environment with one agent, got {spec.id}")
        ids = ids_of(env_id)
        ids = self.env.all_env_ids if ids is None else ids.copy()
        if len(ids) == 0 or len(np.unique(ids)) < len(ids) or ids.min() < 0 or ids.max() >= self.env.num_envs:
            raise ValueError(f"env_id: expected distinct ids in [0, {self.env.num_envs}), got {shown(ids)}")
        rows = reader_of(spec, len(ids))(action)
        if len(rows) != len(ids):
            raise ValueError(f"action: expected {len(ids)} rows, got {len(rows)}")
        parts = [self._parts_of(name, given, len(ids)) for name, given in (("obs", obs), ("next_obs", next_obs))]
        rewards = _column("reward", reward, np.float64, len(ids))
        terminal = _column("terminated", terminated, np.bool_, len(ids))
        cut = _column("truncated", truncated, np.bool_, len(ids))
        yes, no = np.ones(len(ids), np.bool_), np.zeros(len(ids), np.bool_)
        with LockGuard(self._lock):
            self._check_open()
            # unknown while it changes: a signal may raise in between
            led_to, self._led_to = self._led_to, None
            begin = np.arange(len(ids))
            if led_to is None:
                led_to = [np.zeros((self.env.num_envs, *part.shape[1:]), part.dtype) for part in parts[1]]
            else:
                # the others begin an episode: the caller may have reset them before the end
                begin = np.flatnonzero(~self._ring.continues(ids, led_to, parts[0]))
            if len(begin):
                first = [part[begin] for part in parts[0]]
                self._ring.add(ids[begin], no[begin], yes[begin], first, rewards[begin], no[begin], no[begin], [],
                               of_caller=True)
            self._ring.note_actions(rows, ids)
            self._ring.add(ids, yes, no, parts[1], rewards, terminal, cut, [], of_caller=True)
            for kept, part in zip(led_to, parts[1], strict=True):
                kept[ids] = part
            self._led_to = led_to
            result: NDArray[np.int64] = self._ring.newest(ids)
            return result

    def _parts_of(self, name: str, obs: Any, count: int) -> list[NDArray[Any]]:
        """Returns the parts of observations, checked."""
        spec = self.env.env_spec
        try:
            given = [np.asarray(part) for part in spec.unpack(obs)]
        except Exception as error:
            raise TypeError(f"{name}: expected {spec.observation}, got {shown(obs)}: {error}") from error
        for part, (key, described) in zip(given, spec.observations, strict=True):
            if part.shape != (count, *described.shape) or part.dtype != described.dtype:
                which = "" if key is None else f" as {key}"
                raise ValueError(f"{name}: expected {described.dtype} of shape {(count, *described.shape)}{which}, got "
                                 f"{part.dtype}, {part.shape}")
        return [np.ascontiguousarray(part) for part in given]

    def _check_open(self) -> None:
        if self._closed:
            raise ClosedError("the buffer is closed")
        if self._file is not None and self._pid != os.getpid():
            raise RuntimeError("the buffer was made before fork(), so its file belongs to the parent: make a new one")

    def __len__(self) -> int:
        """Returns the number of rows that can be sampled."""
        return self._ring.num_eligible

    @property
    def nbytes(self) -> int:
        """Size of all rows in bytes; memory is only allocated when it is first written."""
        return sum(array.nbytes for array in self._memory.values())

    def sample(self, n: int, *, beta: float = 0.4) -> Sample:
        """Draws rows with replacement, and gathers them on the pool's threads.

        Args:
            n: Number of rows.
            beta: Exponent of the importance weights, 0 to 1; used with priorities.

        Returns:
            A `Sample`. Its memory is reused once its arrays are no longer referenced.

        Raises:
            TypeError, ValueError: Wrong arguments.
            RuntimeError: No row can be sampled yet.
        """
        n = check_int("n", n, 1, MAX_ENVS)
        beta = check_float("beta", beta, 0, 1)
        index, weight, goal = np.empty(n, np.int64), np.empty(n, np.float32), None
        with LockGuard(self._lock):
            self._check_open()
            if len(self) == 0:
                raise RuntimeError(EMPTY)
            self._ring.draw(self._bits, index, weight, beta)
            if self.n_sampled_goal:
                goal = np.empty(n, np.int64)
                self._ring.draw_goals(self._bits, index, goal, self.n_sampled_goal / (self.n_sampled_goal + 1))
            return self._as_seen(self._gather(index, weight, goal))

    def gather(self, index: ArrayLike) -> Sample:
        """Returns the rows at these indexes, with their original goals.

        Args:
            index: Integers, (n,), from earlier samples or `indices`.

        Raises:
            TypeError, ValueError: Wrong arguments, or a row no longer exists.
        """
        rows = self._checked(index)
        with LockGuard(self._lock):
            self._check_open()
            self._check_there(rows)
            return self._as_seen(self._gather(rows, np.ones(len(rows), np.float32), None))

    def _as_seen(self, sample: Sample) -> Sample:
        """Returns a sample, normalized if the pool normalizes."""
        if isinstance(self.env, NormalizedPool):
            sample.obs, sample.reward = self.env.normalized(sample.obs, sample.reward)
            if sample.next_obs is not None:
                sample.next_obs, _ = self.env.normalized(sample.next_obs, sample.reward)
        return sample

    def _check_there(self, rows: NDArray[np.int64]) -> None:
        there = self._ring.is_eligible(rows)
        if not there.all():
            raise ValueError(f"index: expected existing rows, got {rows[~there][0]}")

    def has(self, index: ArrayLike) -> NDArray[np.bool_]:
        """Returns which rows can be sampled: bool, (n,). Arguments and errors: see `gather`."""
        rows = self._checked(index)
        with LockGuard(self._lock):
            self._check_open()
            result: NDArray[np.bool_] = self._ring.is_eligible(rows)
            return result

    def indices(self) -> NDArray[np.int64]:
        """Returns the indexes of all rows that can be sampled: int64, `num_envs * row + env_id`, where rows are counted
        from the first one ever stored."""
        with LockGuard(self._lock):
            self._check_open()
            result: NDArray[np.int64] = self._ring.all_eligible()
            return result

    def episodes(self) -> Iterator[Episode]:
        """Yields each complete stored episode, environment by environment; after a gap, the rest of the episode.

        Values are not normalized.

        Raises:
            ValueError: The buffer stores sequences, or there are several agents.
        """
        if self.sequence_length is not None or self.env.env_spec.agents:
            raise ValueError("episodes: expected a single-agent buffer that stores single steps")
        rows, spec = self._ring.rows, self.env._batch_spec
        with LockGuard(self._lock):
            self._check_open()
            found = self._ring.episodes()
        for env, first, last in found:
            index = np.arange(first, last) * self.env.num_envs + env
            with LockGuard(self._lock):
                self._check_open()
                if not self._ring.is_eligible(index).all():
                    # others have taken its place since
                    continue
                steps = self._gather(index, np.ones(len(index), np.float32), None)
                reward = self._memory["reward"][env, np.arange(first, last) % rows]
            flags = {name: np.zeros(last - first, np.bool_) for name in ("terminated", "truncated")}
            flags["terminated"][-1], flags["truncated"][-1] = steps.terminated[-1], steps.truncated[-1]
            obs = spec.pack([np.concatenate([part, after[-1:]]) for part, after in zip(
                spec.unpack(steps.obs), spec.unpack(steps.next_obs), strict=True)])
            yield Episode(env, obs, steps.action, reward, **flags)

    def _checked(self, index: ArrayLike) -> NDArray[np.int64]:
        rows = check_array("index", index, "integers of shape (n,)")
        if rows.ndim != 1 or rows.dtype.kind not in "iu" or not 1 <= len(rows) <= MAX_ENVS:
            raise ValueError(f"index: expected 1 to {MAX_ENVS} integers in one dimension, got {rows.dtype}, shape "
                             f"{rows.shape}")
        if rows.dtype == np.uint64 and (rows > np.iinfo(np.int64).max).any():
            raise ValueError("index: expected existing rows, got a row number that does not fit in int64")
        # a copy: the caller's may change
        return rows.astype(np.int64)

    def _gather(self, index: NDArray[np.int64], weight: NDArray[np.float32],
                goal: NDArray[np.int64] | None) -> Sample:
        self._gatherer.request(index, goal)
        try:
            arrays = self._gathered(len(index))
        except ClosedError:
            # the pool was closed: without its threads
            self._gatherers = None
            arrays = self._gathered(len(index))
        except BaseException:
            # the next one begins with nothing in flight
            self._gatherers = None
            raise
        sample = self._layout.sample_of(arrays, index, weight)
        if goal is not None:
            self._relabel(sample, goal >= 0)
        return sample

    def _gathered(self, n: int) -> list[NDArray[Any]]:
        """Returns the arrays of the n rows that were requested."""
        if self._gatherers is None or self._gatherers.num_envs < n:
            self._gatherers = self.env._pool.child_pool(
                [SampledRow(self._sampled, k, self._gatherer) for k in range(n)])
        ids = None if n == self._gatherers.num_envs else np.arange(n, dtype=np.int32)
        obs, *_ = self._gatherers.step(np.zeros(n, np.int64), ids)
        return list(obs.values())

    def _relabel(self, sample: Sample, rows: NDArray[np.bool_]) -> None:
        """Recomputes the values that depend on the goal, in rows with a different one."""
        goals = sample.next_obs["achieved_goal"][rows], sample.next_obs["desired_goal"][rows]
        if len(goals[0]) == 0:
            return
        sample.reward[rows] = self.env.compute_reward(*goals)
        sample.terminated[rows] = self.env.compute_terminated(*goals)
        sample.discount[rows] = np.where(sample.terminated[rows], 0, np.float32(self.gamma))

    def update_priorities(self, index: ArrayLike, priority: ArrayLike) -> None:
        """Sets the priorities of rows; prioritized replay calls this after each update.

        New rows get the highest priority so far. Rows that no longer exist are ignored.

        Args:
            index: Integers, (n,), from earlier samples.
            priority: Numbers, (n,), of at least 0, such as absolute TD errors.

        Raises:
            TypeError, ValueError: Wrong arguments, or the buffer has no priorities; nothing has changed.
        """
        if self.alpha == 0:
            raise ValueError("update_priorities: expected a buffer with priorities, got one with alpha=0")
        rows = self._checked(index)
        values = check_array("priority", priority, "numbers of shape (n,)")
        if values.dtype.kind not in "fiu" or values.shape != rows.shape:
            raise ValueError(f"priority: expected {len(rows)} numbers, got {values.dtype}, shape {values.shape}")
        values = values.astype(np.float64)
        if not ((values >= 0) & (values <= MOST_PRIORITY)).all():
            raise ValueError(f"priority: expected numbers from 0 to {MOST_PRIORITY}, got {shown(priority)}")
        with LockGuard(self._lock):
            self._check_open()
            self._ring.set_priorities(rows, values + LEAST_PRIORITY)

    def priorities(self, index: ArrayLike) -> NDArray[np.float64]:
        """Returns the priorities of rows, without the exponent: float64, (n,), rounded to float32.

        Args:
            index: Integers, (n,), from earlier samples or `indices`.

        Raises:
            TypeError, ValueError: Wrong arguments, a row no longer exists, or the buffer has no priorities.
        """
        if self.alpha == 0:
            raise ValueError("priorities: expected a buffer with priorities, got one with alpha=0")
        rows = self._checked(index)
        with LockGuard(self._lock):
            self._check_open()
            self._check_there(rows)
            result: NDArray[np.float64] = self._ring.priorities(rows)
            return result

    def save(self, path: Pathlike) -> None:
        """Writes all rows and their priorities to a file, completely or not at all.

        Raises:
            TypeError: `path` is not a path.
            OSError: The file cannot be written.
        """
        path = check_path("path", path)
        with LockGuard(self._lock):
            self._check_open()
            files.create(path, self._header, self._shapes, self._contents())

    def load(self, path: Pathlike) -> None:
        """Replaces all rows with those in a file. Each environment continues after a gap.

        Args:
            path: A file from `save`, or the `path` of a buffer, with the same capacity and environments, and with
                priorities if this buffer has them.

        Raises:
            TypeError: `path` is not a path.
            ValueError: The file belongs to a different buffer, and nothing has changed; or it is damaged, and the
                buffer is now empty.
            OSError: The file cannot be read.
        """
        path = check_path("path", path)
        with LockGuard(self._lock), opened(path, files.EXPECTED) as file:
            self._check_open()
            if self._file is not None and os.path.sameopenfile(file.fileno(), self._file.fileno()):
                raise ValueError(f"path: expected a file other than the buffer's own, got {path}")
            files.check(file, self._header, self._shapes)
            self._refill(lambda: files.read(file, self._header, self._shapes, self._memory),
                         f"{files.EXPECTED}, got a damaged one: {path}")

    def _refill(self, read: Callable[[], Mapping[str, NDArray[Any]]], damaged: str,
                writers: NDArray[np.uint8] | None = None) -> None:
        """Replaces the rows: `read` loads them into memory, and returns the arrays that are not kept there."""
        self._ring.clear()
        intact = False
        try:
            arrays = {**self._memory, **read()}
            intact = self._ring.restore(arrays["obs_sums"], arrays["step_sums"], writers)
        finally:
            if not intact:
                self._ring.clear()
        if not intact:
            raise ValueError(damaged)

    def _contents(self) -> dict[str, NDArray[Any]]:
        """Returns the arrays of a file: the memory itself, and its checksums."""
        return {**self._memory, **dict(zip(SUMS, self._ring.sums(), strict=True))}

    def _settings(self) -> dict[str, Any]:
        """Returns the properties that must match for a buffer to continue another one."""
        return {**self._layout.contents(self.env.num_envs, self._ring.rows), "n_step": self.n_step,
                "gamma": self.gamma, "sequence_length": self.sequence_length, "alpha": self.alpha,
                "n_sampled_goal": self.n_sampled_goal}

    def _to_checkpoint(self) -> dict[str, Any]:
        """Returns everything that the buffer needs to continue; add no rows until it is written or pickled."""
        with LockGuard(self._lock):
            self._check_open()
            arrays = self._contents()
            used = min(max(int(arrays["begun"].max()), 1), self._ring.rows)
            return {"settings": self._settings(), "sampler": self._bits.state, "writers": self._ring.writers(),
                    "led_to": self._led_to,
                    "arrays": {name: array if array.ndim < 2 else array[:, :used] for name, array in arrays.items()}}

    def _from_checkpoint(self, saved: dict[str, Any], continues: bool) -> Callable[[], None]:
        """Returns a function that restores the checked result of `_to_checkpoint`.

        Args:
            continues: Whether the pool is at the same position as then; otherwise its next row follows a gap.

        Raises:
            ValueError: It is from a different buffer, or damaged.
        """
        self._check_open()
        settings, given = self._settings(), saved["settings"]
        if given != settings:
            names = [name for name in settings if given.get(name, False) != settings[name]]
            expected, has = (", ".join(f"{name} {shown(each.get(name, False))}" for name in names)
                             for each in (settings, given))
            raise ValueError(f"expected a buffer with {has}, got one with {expected}")
        arrays, writers = dict(saved["arrays"]), np.array(saved["writers"], np.uint8)
        used = arrays["flags"].shape[1]
        shapes = {name: ((*shape[:1], used, *shape[2:]) if len(shape) > 1 else shape, np.dtype(dtype))
                  for name, (shape, dtype) in self._shapes.items()}
        if {name: (array.shape, array.dtype) for name, array in arrays.items()} != shapes or not (
                0 < used <= self._ring.rows) or used < min(arrays["begun"].max(), self._ring.rows):
            raise ValueError("expected arrays that fit this buffer, got different ones")
        arrays = {name: np.require(array, None, ["C", "A", "W"]) for name, array in arrays.items()}
        if not continues:
            writers[writers == POOL] = 0
        led_to = saved["led_to"]
        if led_to is not None:
            led_to = [np.require(part, None, ["C", "A", "W"]) for part in led_to]
            parts = [((self.env.num_envs, *part.shape), part.dtype) for _, part in self.env.env_spec.observations]
            if [(part.shape, part.dtype) for part in led_to] != parts:
                raise ValueError("expected observations that fit this buffer, got different ones")
        sampler: Any = check_stream("sampler", saved["sampler"], np.random.PCG64)
        damaged = "expected rows of a replay buffer, got damaged ones"
        ring = self._make_ring(used, {name: array for name, array in arrays.items() if name not in SUMS})
        if not ring.restore(arrays["obs_sums"], arrays["step_sums"], writers):
            raise ValueError(damaged)

        def read() -> Mapping[str, NDArray[Any]]:
            sums = {name: np.zeros(*self._shapes[name]) for name in SUMS if name not in self._memory}
            # first what a row is, last how many there are: a killed process leaves no rows that are not
            for name in reversed(self._shapes):
                array = arrays.pop(name)
                target = {**self._memory, **sums}[name]
                (target if array.ndim < 2 else target[:, :used])[...] = array
            return sums

        def take() -> None:
            if (writers == POOL).any():
                self._attach()
            with LockGuard(self._lock):
                self._refill(read, damaged, writers)
                self._led_to, self._bits.state = led_to, sampler

        return take

    def __getstate__(self) -> None:
        raise TypeError("a ReplayBuffer cannot be pickled or copied: use save(path) and load(path)")

    def flush(self) -> None:
        """Flushes the buffer's memory to the file at `path`, so that it survives a power failure."""
        if self._map is not None:
            self._map.flush()

    def close(self) -> None:
        """Flushes the file at `path` and closes it, so that other buffers can open it; the pool stays open.

        The buffer cannot be used afterwards. A second call does nothing.
        """
        with LockGuard(self._lock):
            self._closed = True
            self.env._pool.observers.detach(self)
            if self._file is not None:
                is_own = self._pid == os.getpid()
                if is_own:
                    self.flush()
                files.close(self._file, is_own)
                self._file = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"ReplayBuffer({self.env.env_spec.id}, capacity={self.capacity}, {len(self)} rows)"


def some(there: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Returns the places of existing rows, for libraries that draw samples themselves.

    Raises:
        RuntimeError: There are no rows.
    """
    found: NDArray[np.int64] = np.flatnonzero(there)
    if not len(found):
        raise RuntimeError(EMPTY)
    return found


def _column(name: str, given: ArrayLike, dtype: type[np.generic], count: int) -> NDArray[Any]:
    """Returns a number, or flag, of each row."""
    array = check_array(name, given, f"{count} values")
    if array.shape != (count,) or array.dtype.kind not in ("b" if dtype == np.bool_ else "fiub"):
        raise ValueError(f"{name}: expected {count} {np.dtype(dtype)} values, got {array.dtype}, shape "
                         f"{array.shape}")
    return np.ascontiguousarray(array, dtype)
