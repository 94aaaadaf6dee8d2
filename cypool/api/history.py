"""The history of a pool, which puts it back to any step: actions, resets, and exact states now and then."""
from __future__ import annotations

import functools
import json
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from cypool.api.actions import reader_of, unpack
from cypool.api.base import VectorAPI
from cypool.errors import EnvError
from cypool.state import State, decoded, encoded, sealed, unpack as unpack_zlib, unsealed
from cypool.util.arguments import check_int, check_path, shown
from cypool.util.version import version

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from cypool.api.batch_hooks import HookedPool
    from cypool.engine.engine import Pool
    from cypool.policies import Policy
    from cypool.spec import EnvSpec
    from cypool.util.typing import Batch, EnvIds, Pathlike

# as that of states; the JSON is of the object of `History._contents`
MAGIC = b"cypool history 1\n"
EXPECTED = "path: expected a history as save() wrote it"
# of what a damaged or hostile file may unpack to
MOST_BYTES = 2**31


class Difference(NamedTuple):
    """Where two runs part.

    Attributes:
        step: The first step whose results differ, counted from 0.
        env_id: The environment; the lowest id if they are several.
    """

    step: int
    env_id: int


class Repeated(NamedTuple):
    """A reset or a step that was repeated.

    Attributes:
        batch: The engine's.
        starts, stepped: bool: which rows are of a reset, and which of a step.
        actions: As a user passes them, a row for each of the batch; None: a reset.
        seeds: Of environments that were reset with one.
    """

    batch: Batch
    starts: NDArray[np.bool_]
    stepped: NDArray[np.bool_]
    actions: Any
    seeds: dict[int, int]


class _Segment:
    """An exact state of the pool, and what it did from there.

    Attributes:
        first: How many steps were made before.
        state: What `State.to_bytes` returns.
        events: What came then, each a tuple of plain values; the first one says what it was.
    """

    def __init__(self, first: int, state: bytes, packed: bytes | None = None):
        self.first = first
        self.state = state
        self.events: list[tuple[Any, ...]] = []
        self._packed = packed

    def packed(self) -> bytes:
        """Returns the events, compressed."""
        if self._packed is not None:
            return self._packed
        blobs: list[bytes] = []
        text = json.dumps(encoded(self.events, blobs), separators=(",", ":"))
        return zlib.compress(sealed(b"", text, blobs), 1)

    def pack(self) -> None:
        """Keeps only the compressed events."""
        self._packed, self.events = self.packed(), []

    def unpack(self) -> None:
        """Makes `events` what they were."""
        if self._packed is not None:
            self.events, self._packed = _events(self._packed), None


def _events(packed: bytes) -> list[tuple[Any, ...]]:
    """Returns what `_Segment.packed` gave, if it may be that: what the events are is seen when they are repeated."""
    reader = zlib.decompressobj()
    try:
        data = reader.decompress(packed, MOST_BYTES)
    except zlib.error as error:
        raise ValueError(f"a segment is damaged: {error}") from error
    if not reader.eof or reader.unused_data:
        raise ValueError("a segment has no end, or something behind it")
    text, blobs = unsealed(b"", data, "a segment with a checksum")
    events = decoded(json.loads(text), blobs)
    blobs.end()
    if type(events) is not list or not all(type(event) is tuple and event for event in events):
        raise ValueError("a segment is no list of events")
    return events


class History:
    """The steps of a synchronous pool since `cypool.history(env)`.

    It records calls of the pool, and every `every` steps an exact state. `len(history)` is the number of steps;
    a rollout of T steps counts as T. In memory, and in a file, a step takes what zlib leaves of its actions and of 4
    bytes for each environment, a sum over the bytes of the results; a state takes what it takes in `State.save`.

    Args:
        env: The pool, whose environments have all been reset.
        every: Steps between two exact states.

    Attributes:
        env: The pool.
        every: As given.
        position: Where the pool is: `len(history)`, unless `seek` has put it back.

    Threads: that of the pool.
    """

    def __init__(self, env: VectorAPI, every: int):
        self.env = env
        self.every = every
        self.position = 0
        self._length = 0
        self._segments: list[_Segment] = []
        # where in the last segment in use the pool is, if `seek` has put it back
        self._behind: tuple[int, int, tuple[Any, ...] | None] | None = None
        self._sums: list[NDArray[np.uint32]] = []  # of each step, by env id
        self._seen: list[bool] = []  # whether that is of observations, too
        self._recorder: _Recorder | None = None

    def __len__(self) -> int:
        return self._length

    def seek(self, step: int) -> Any:
        """Puts the pool where it was before a step, bit for bit: to an exact state, and from there by its actions.

        The history stays as it is until the pool is stepped, reset or loaded again: it then forgets what came behind.

        Args:
            step: 0 to `len(history)`, which is where the recorded steps have led to.

        Returns:
            What `env.load` returns: what the environments show.

        Raises:
            TypeError, ValueError: `step` is no such number.
            RuntimeError: Steps are in flight; the history is closed; or a step has other results than when it was
                recorded, as on another machine it may.
                The pool, and the history, are then as they were before.
        """
        step = check_int("step", step, 0, self._length)
        recorder = self._open()
        if recorder.num_pending:
            raise RuntimeError("seek: steps are in flight: call recv() first")
        index = max(k for k, segment in enumerate(self._segments) if segment.first <= step)
        segment = self._segments[index]
        segment.unpack()
        try:
            before = self.env.save()
        except RuntimeError:
            # of a file, and the environments were never reset
            before = None
        with recorder.paused():
            try:
                self.env._load(State.from_bytes(segment.state), None)
                try:
                    count, position, part = recorder.replay(segment, step)
                except (LookupError, TypeError, ValueError, OverflowError) as error:
                    # of a file that somebody made
                    raise ValueError(f"history: expected events as they are recorded, got others: {error}") from error
                shown_now = self.env.load(self.env.save())
            except BaseException:
                # Ctrl-C may come in a step
                recorder.pool.drain()
                if before is not None:
                    self.env._load(before, None)
                raise
        self._behind, self.position = (index, count, part), position
        return shown_now

    def repeat(self, begin: Callable[[Any, dict[str, Any]], None], visit: Callable[[Repeated], None]) -> None:
        """Repeats all that was recorded; the pool, and the history, are then as they were before.

        Args:
            begin: Gets observations and infos of all environments, where the recorded steps begin and after each gap,
                such as a `load`.
            visit: Gets each reset and step since then.

        Raises:
            ValueError, RuntimeError: As `seek`.
        """
        recorder = self._open()
        if recorder.num_pending:
            raise RuntimeError("repeat: steps are in flight: call recv() first")
        before = self.env.save()
        with recorder.paused():
            try:
                there: bytes | None = None
                for segment in self._segments:
                    state = State.from_bytes(segment.state)
                    if there != _without_times(state):
                        obs, *_, info = self.env._load(state, None)
                        begin(obs, info)
                    # the segment stays as it is
                    events = segment.events if segment._packed is None else _events(segment._packed)
                    own = _Segment(segment.first, segment.state)
                    own.events = events
                    try:
                        recorder.replay(own, len(self), visit)
                    except (LookupError, TypeError, OverflowError) as error:
                        raise ValueError(f"history: expected events as they are recorded, got others: {error}"
                                         ) from error
                    there = _without_times(State(*recorder.pool.save()))
            finally:
                # Ctrl-C may come in a step
                recorder.pool.drain()
                self.env._load(before, None)

    def save(self, path: Pathlike) -> None:
        """Writes the history to a file: plain data, compressed, with a checksum and cypool's version.

        Raises:
            TypeError, ValueError: `path` is no path.
            OSError: The file cannot be written.
        """
        path = check_path("path", path)
        # of the history as it is, also behind the step that the pool was put back to
        blobs: list[bytes] = []
        segments = []
        for segment in self._segments:
            segments.append((segment.first, segment.state, segment.packed()))
        sums = np.array(self._sums, "<u4").reshape(self._length, self.env.num_envs)
        contents = {"cypool": version(), "num_envs": self.env.num_envs, "every": self.every, "length": self._length,
                    "segments": segments, "sums": zlib.compress(sums.tobytes(), 1),
                    "seen": zlib.compress(bytes(self._seen), 1)}
        data = sealed(MAGIC, json.dumps(encoded(contents, blobs), separators=(",", ":")), blobs)
        with open(path, "wb") as file:
            file.write(data)

    def close(self) -> None:
        """Ends the recording; the pool continues without it. A second call does nothing."""
        if self._recorder is not None:
            self.env._replace_pool(self._recorder.pool)
            self._recorder = None

    def __enter__(self) -> History:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"History({self.env.env_spec.id}, {len(self)} steps of {self.env.num_envs} envs)"

    def _open(self) -> _Recorder:
        if self._recorder is None:
            raise RuntimeError("the history is closed")
        return self._recorder

    def _record(self, *event: Any) -> None:
        """Takes down an event that has no step."""
        self._forget_the_rest()
        self._segments[-1].events.append(event)

    def _record_steps(self, num_steps: int, *event: Any) -> None:
        self._record(*event)
        self._length += num_steps
        self.position = self._length
        self._sums += [np.zeros(self.env.num_envs, np.uint32) for _ in range(num_steps)]
        self._seen += [True] * num_steps

    def _begin_segment(self, state: bytes) -> None:
        self._forget_the_rest()
        if self._segments:
            self._segments[-1].pack()
        self._segments.append(_Segment(self._length, state))

    def _forget_the_rest(self) -> None:
        """Drops what came behind the step that the pool was put back to."""
        if self._behind is not None:
            index, count, part = self._behind
            del self._segments[index + 1:]
            self._segments[index].unpack()
            self._segments[index].events[count:] = [] if part is None else [part]
            del self._sums[self.position:], self._seen[self.position:]
            self._length, self._behind = self.position, None


class _Recorder:
    """The engine's pool, or what hooks make of it; records calls. What it does not name is the pool's own.

    Args:
        pool: The pool.
        history: Where to.
    """

    def __init__(self, pool: Pool | HookedPool, history: History):
        self.pool = pool
        self._history = history
        self._spec: EnvSpec = history.env.env_spec
        self._sent: int | None = None  # the step that is in flight; None: a reset is
        self._paused = False
        self._readers: dict[int, Any] = {}

    def __getattr__(self, name: str) -> Any:
        return getattr(self.pool, name)

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Records nothing in a with statement."""
        self._paused = True
        try:
            yield
        finally:
            self._paused = False

    def _next_step(self) -> int:
        """Takes an exact state, where the next step is far enough from the last one; returns that step's number."""
        history = self._history
        if history._behind is None and len(history) - history._segments[-1].first >= history.every:
            self._take_state()
        return history.position

    def _take_state(self) -> None:
        self._history._begin_segment(State(*self.pool.save()).to_bytes())

    def send(self, actions: NDArray[Any], env_ids: EnvIds | None = None) -> None:
        if self._paused:
            self.pool.send(actions, env_ids)
            return
        step = self._next_step() if self.pool.num_pending == 0 else 0
        self.pool.send(actions, env_ids)
        self._note_sent(step, actions, env_ids)

    def _note_sent(self, step: int, actions: NDArray[Any], env_ids: EnvIds | None) -> None:
        ids = None if env_ids is None else env_ids.tolist()
        self._history._record_steps(1, "step", ids, actions.tobytes())
        self._sent = step

    def send_reset(self, env_ids: EnvIds | None = None, others: bool = False,
                   seeds: list[tuple[int, int]] | None = None, options: Any = None) -> None:
        ids = None if env_ids is None else env_ids.tolist()
        event = ("reset", ids, others, None if seeds is None else [tuple(map(int, pair)) for pair in seeds], options)
        try:
            encoded(event, [])
        except TypeError as error:
            raise ValueError(f"options: expected plain data in a pool with a history: {error}") from error
        self.pool.send_reset(env_ids, others, seeds, options)
        if not self._paused:
            self._history._record(*event)
            self._sent = None

    def recv(self, timeout: float | None = None) -> Batch:
        try:
            batch = self.pool.recv(timeout)
        except EnvError as error:
            self._note_sums(error.batch)
            raise
        self._note_sums(batch)
        return batch

    def step(self, actions: NDArray[Any], env_ids: EnvIds | None = None, out: Any = None) -> Batch:
        if self._paused or self.pool.num_pending:
            return self.pool.step(actions, env_ids, out)
        step, done = self._next_step(), False
        try:
            batch = self.pool.step(actions, env_ids, out)
            done = True
        except EnvError as error:
            done, batch = True, error.batch
            raise
        finally:
            # after Ctrl-C the batch may still come
            if done or self.pool.num_pending:
                self._note_sent(step, actions, env_ids)
            if done:
                self._note_sums(batch)
        return batch

    def _note_sums(self, batch: Batch) -> None:
        if self._sent is not None and not self._paused:
            self._history._sums[self._sent][batch[4]["env_id"]] = _sums(batch, True)
            self._sent = None

    def rollout(self, actions: NDArray[Any], num_steps: int, observe_every: int, out: Any = None,
                timeout: float | None = None, policy: Policy | None = None) -> Batch:
        if self._paused:
            return self.pool.rollout(actions, num_steps, observe_every, out, timeout, policy)
        self._next_step()
        try:
            batch = self.pool.rollout(actions, num_steps, observe_every, out, timeout, policy)
        except EnvError as error:
            if policy is not None:
                # it may be the policy that failed, and it is not there when the actions are repeated
                self._take_state()
                raise
            self._note_rollout(actions, num_steps, observe_every, error.batch)
            raise
        except (TimeoutError, KeyboardInterrupt):
            # nobody knows which steps were made
            self._take_state()
            raise
        self._note_rollout(actions, num_steps, observe_every, batch)
        return batch

    def _note_rollout(self, actions: NDArray[Any], num_steps: int, observe_every: int, batch: Batch) -> None:
        history = self._history
        history._record_steps(num_steps, "rollout", num_steps, actions.tobytes())
        seen = observe_every == 1
        history._sums[-num_steps:] = list(_sums(batch, seen).reshape(num_steps, -1))
        history._seen[-num_steps:] = [seen] * num_steps

    def load(self, env_ids: EnvIds, states: list[dict[str, Any]]) -> tuple[Any, dict[str, Any]]:
        with self._state_afterwards():
            return self.pool.load(env_ids, states)

    def copy(self, sources: EnvIds, targets: EnvIds) -> None:
        with self._state_afterwards():
            self.pool.copy(sources, targets)

    @contextmanager
    def _state_afterwards(self) -> Iterator[None]:
        try:
            yield
        finally:
            # also if it has failed, as some environments may have changed
            if not self._paused and not self.pool.num_pending:
                self._take_state()

    def replay(self, segment: _Segment, end: int,
               visit: Callable[[Repeated], None] | None = None) -> tuple[int, int, tuple[Any, ...] | None]:
        """Repeats the events of a segment until the pool is where it was before step `end`.

        Args:
            visit: Gets each reset and step, those of rollouts one by one.

        Returns:
            How many events were repeated; the step that comes next; the part of one more event that was repeated.
        """
        at = segment.first
        for count, (kind, *content) in enumerate(segment.events):
            if kind == "reset":
                self._repeat_reset(visit, *content)
            elif at >= end:
                return count, at, None
            elif kind == "step":
                self._repeat_step(visit, at, *content)
                at += 1
            elif kind == "rollout" and visit is not None:
                self._repeat_rollout_by_steps(visit, at, *content)
                at += content[0]
            elif kind == "rollout":
                whole, data = content
                num_steps = min(check_int("steps", whole, 1, 2**31 - 1), end - at)
                part = data[:len(data) // whole * num_steps]
                self._repeat_rollout(at, num_steps, part)
                at += num_steps
                if num_steps < whole:
                    return count, at, ("rollout", num_steps, part)
            else:
                raise ValueError(f"{shown(kind)} is no kind of event")
        return len(segment.events), at, None

    def _repeat_reset(self, visit: Callable[[Repeated], None] | None, ids: Any, others: Any, seeds: Any,
                      options: Any) -> None:
        if ids is None and others is not False:
            raise ValueError(f"expected ids where others are observed, or False, got {shown(others)}")
        num_envs = self._history.env.num_envs
        max_seed = 2**256 if self._spec.max_seed is None else self._spec.max_seed
        pairs = [(check_int("env_id", i, 0, num_envs - 1), check_int("seed", seed, 0, max_seed))
                 for i, seed in seeds or ()]
        self.pool.send_reset(None if ids is None else np.array(ids, np.int32).reshape(-1), bool(others), pairs, options)
        try:
            batch = self.pool.recv()
        except EnvError as error:
            # as it did then
            batch = error.batch
        if visit is not None:
            visit(Repeated(batch, self.pool.starts(), self.pool.stepped(), None, dict(pairs)))

    def _repeat_step(self, visit: Callable[[Repeated], None] | None, at: int, ids: Any, data: bytes) -> None:
        env_ids = None if ids is None else np.array(ids, np.int32).reshape(-1)
        actions = self._actions(data, self._history.env.num_envs if env_ids is None else len(env_ids))
        try:
            batch = self.pool.step(actions, env_ids)
        except EnvError as error:
            batch = error.batch
        self._check(at, _sums(batch, self._history._seen[at]), batch[4]["env_id"])
        if visit is not None:
            visit(Repeated(batch, self.pool.starts(), self.pool.stepped(), unpack(self._spec, actions), {}))

    def _repeat_rollout_by_steps(self, visit: Callable[[Repeated], None], at: int, whole: Any, data: bytes) -> None:
        num_envs = self._history.env.num_envs
        rows = self._actions(data, check_int("steps", whole, 1, 2**31 - 1) * num_envs)
        over = np.zeros(num_envs, np.bool_)

        def note_ends(made: Repeated) -> None:
            _, _, terminated, truncated, info = made.batch
            over[info["env_id"]] = terminated | truncated
            visit(made)

        for t in range(whole):
            # a rollout leaves environments where their episodes ended
            ids = np.flatnonzero(~over) if self._history.env.stays_at_end else np.arange(num_envs)
            if len(ids):
                self._repeat_step(note_ends, at + t, ids, rows[t * num_envs:(t + 1) * num_envs][ids].tobytes())

    def _repeat_rollout(self, at: int, num_steps: int, data: bytes) -> None:
        num_envs = self._history.env.num_envs
        actions = self._actions(data, num_steps * num_envs)
        try:
            batch = self.pool.rollout(actions, num_steps, 1)
        except EnvError as error:
            batch = error.batch
        sums = {seen: _sums(batch, seen).reshape(num_steps, num_envs) for seen in (True, False)}
        for k in range(num_steps):
            self._check(at + k, sums[self._history._seen[at + k]][k], np.arange(num_envs))

    def _actions(self, data: bytes, count: int) -> NDArray[Any]:
        """Returns actions as the engine takes them; checks them, as a file may hold any."""
        spec = self._spec
        dtype: np.dtype[Any] = np.dtype(np.uint8)
        shape: tuple[int, ...] = (spec.action_bytes,)
        if not isinstance(spec.action, Mapping):
            dtype, shape = spec.action.dtype, spec.action.shape
        rows = np.frombuffer(data, dtype).reshape(count, *shape)
        if count not in self._readers:
            self._readers[count] = reader_of(spec, count)
        actions: NDArray[Any] = self._readers[count](unpack(spec, rows))
        return actions

    def _check(self, step: int, sums: NDArray[np.uint32], ids: NDArray[Any]) -> None:
        """Raises a RuntimeError if a step has other results than it had."""
        wanted = self._history._sums[step][ids]
        differ = ids[wanted != sums]
        # nobody has received what was thrown away by a reset
        if len(differ) and wanted.any():
            raise RuntimeError(f"seek: expected the results of step {step} that were recorded, got others for env "
                               f"{differ.min()}: another machine, or another version of a library")


def _without_times(state: State) -> bytes:
    """Returns the bytes of a state, without how long its episodes have taken."""
    return State(state.env_id, [{**row, "episode_ns": 0} for row in state.rows]).to_bytes()


def _sums(batch: Batch, with_obs: bool) -> NDArray[np.uint32]:
    """Returns a hash of each row of a batch: rows that differ have the same one with a probability of 2**-32."""
    obs, reward, terminated, truncated, _ = batch
    parts = [reward, terminated, truncated]
    if with_obs:
        parts += obs.values() if isinstance(obs, dict) else obs if isinstance(obs, tuple) else [obs]
    total = np.zeros(len(reward), np.uint64)
    for k, part in enumerate(parts):
        size = part.nbytes // len(reward)
        data = np.ascontiguousarray(part).view(np.uint8).reshape(len(reward), size)
        if size % 8:
            data = np.pad(data, ((0, 0), (0, -size % 8)))
        if size:
            total += data.view("<u8") @ _weights(k, data.shape[1] // 8)
    return (total ^ (total >> np.uint64(32))).astype(np.uint32)


@functools.lru_cache(maxsize=64)
def _weights(part: int, count: int) -> NDArray[np.uint64]:
    """Returns odd numbers with nothing in common."""
    numbers = np.arange(1, count + 1, dtype=np.uint64) + np.uint64(part << 40)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB), (31, 0x9E3779B97F4A7C15)):
        numbers = (numbers ^ (numbers >> np.uint64(shift))) * np.uint64(factor)
    return numbers | np.uint64(1)


def history(env: VectorAPI, every: int = 1000) -> History:
    """Begins to take down what a pool does: see `History`.

    Args:
        env: A synchronous pool, all of whose environments have been reset and can be saved to a file.
        every: Steps between two exact states: `seek` repeats at most that many.

    Raises:
        TypeError, ValueError: `env` is no such pool, or `every` no positive int.
        RuntimeError: An environment is in flight, or was never reset; or the pool has a history.
        NotImplementedError: Its environments cannot be saved.
    """
    every = check_int("every", every, 1, 2**31 - 1)
    made = _attached(env, every)
    made._open()._take_state()
    return made


def load_history(path: Pathlike, env: VectorAPI) -> History:
    """Returns the `History` that `History.save` wrote to a file, for a pool like the one that it was of.

    The pool is put where the recorded steps have led to, and what it does next is recorded. No code of the file runs.

    Args:
        path: The file.
        env: A synchronous pool with as many environments of the same id and options.

    Raises:
        TypeError: `path` is no path, or `env` no pool.
        ValueError: The file is damaged, something else, of another version of cypool, or of another pool.
        RuntimeError: The pool has a history; or as `History.seek`.
        OSError: The file cannot be read.
    """
    path = check_path("path", path)
    with open(path, "rb") as file:
        data = file.read()
    text, blobs = unsealed(MAGIC, data, EXPECTED)
    saved_by: Any = None
    made = _attached(env, 1)
    try:
        contents = decoded(json.loads(text), blobs)
        saved_by = contents["cypool"]
        if saved_by == version():
            blobs.end()
            _fill(made, contents)
    # with the right checksum: somebody made it so
    except (AttributeError, LookupError, TypeError, ValueError, OverflowError, RecursionError, zlib.error) as error:
        made.close()
        raise ValueError(f"{EXPECTED}, got one that cannot be read: {type(error).__name__}: {error}") from error
    if saved_by != version():
        made.close()
        raise ValueError(f"path: expected a history of cypool {version()}, got one of {shown(saved_by)}")
    try:
        made.seek(len(made))
    except BaseException:
        made.close()
        raise
    return made


def _attached(env: VectorAPI, every: int) -> History:
    """Returns an empty history of a pool, which reports its calls to it."""
    if not isinstance(env, VectorAPI):
        raise TypeError(f"env: expected a pool, got {shown(env)}")
    if env.is_async:
        raise ValueError("env: expected a synchronous pool, as the results of others are in no fixed order")
    if isinstance(env._pool, _Recorder):
        raise RuntimeError("env: the pool has a history: close it first")
    if env._pool.has_extra_infos:
        raise ValueError("env: expected environments of cypool's contract, as the state of Python environments is a "
                         "pickle")
    if env._pool.num_pending:
        raise RuntimeError("env: steps are in flight: call recv() first")
    made = History(env, every)
    made._recorder = _Recorder(env._pool, made)
    env._replace_pool(made._recorder)
    return made


def _fill(made: History, contents: dict[str, Any]) -> None:
    """Takes over what `History.save` wrote."""
    num_envs = made.env.num_envs
    if contents["num_envs"] != num_envs:
        raise ValueError(f"expected {num_envs} environments, got {shown(contents['num_envs'])}")
    made.every = check_int("every", contents["every"], 1, 2**31 - 1)
    length = check_int("length", contents["length"], 0, 2**31 - 1)
    sums = np.frombuffer(unpack_zlib(contents["sums"], 4 * length * num_envs), "<u4").reshape(length, num_envs)
    seen = unpack_zlib(contents["seen"], length)
    at = 0
    for first, state, packed in contents["segments"]:
        at = check_int("first", first, at, length if made._segments else 0)
        if len(State.from_bytes(state)) != num_envs:
            raise ValueError(f"expected states of {num_envs} environments")
        _events(packed)
        made._segments.append(_Segment(at, state, packed))
    if not made._segments or len(seen) != length:
        raise ValueError("expected at least one state, and a result of each step")
    made._length = made.position = length
    made._sums, made._seen = [row.astype(np.uint32) for row in sums], [bool(flag) for flag in seen]


def first_difference(a: History, b: History) -> Difference | None:
    """Returns at which step, and in which environment, the results of two runs part; None if they do not.

    Results are observations, rewards, terminated and truncated. Steps that only one of the two has are no difference,
    nor are observations that a rollout did not keep.

    Raises:
        TypeError: One is no `History`.
        ValueError: They have different numbers of environments.
    """
    for name, each in (("a", a), ("b", b)):
        if not isinstance(each, History):
            raise TypeError(f"{name}: expected a History, got {shown(each)}")
    if a.env.num_envs != b.env.num_envs:
        raise ValueError(f"b: expected a history of {a.env.num_envs} environments, got one of {b.env.num_envs}")
    for step in range(min(len(a), len(b))):
        differ = np.flatnonzero(a._sums[step] != b._sums[step])
        if len(differ) and a._seen[step] == b._seen[step]:
            return Difference(step, int(differ[0]))
    return None
