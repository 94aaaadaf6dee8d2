"""The history of a pool, for returning to any step: actions, resets, and exact states at intervals."""
from __future__ import annotations

import copy
import functools
import json
import zlib
from collections.abc import Callable, Mapping
from contextlib import suppress
from threading import get_ident
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from cypool.api.base import VectorAPI
from cypool.arguments.action_readers import reader_of, unpack
from cypool.engine.observer import Observer
from cypool.errors import ClosedError, EnvError
from cypool.state import State, decoded, encoded, opened, verified, with_checksum
from cypool.state import unpack as unpack_zlib
from cypool.util.arguments import check_int, check_path, shown
from cypool.util.replacing import replacing
from cypool.util.version import version

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from cypool.util.typing import Batch, Bools, EnvIds, Pathlike

# as that of states; the JSON is of the object of `History._contents`
MAGIC = b"cypool history 1\n"
EXPECTED = "path: expected a history written by save()"
# limits of the size to which a damaged or hostile file may unpack: the actions of a segment, or all results; and of
# JSON, which takes many times as much when it is read
MOST_BYTES, MOST_TEXT = 2**31, 2**27
ARRAY_BYTES = 128  # of an array of NumPy's, without its numbers


class Difference(NamedTuple):
    """The point at which two runs diverge.

    Attributes:
        step: The first step with different results, counted from 0.
        env_id: The environment; the lowest id if there are several.
    """

    step: int
    env_id: int


class Repeated(NamedTuple):
    """A repeated reset or step.

    Attributes:
        batch: The engine's batch.
        starts, stepped: bool: the rows that belong to a reset, or to a step.
        actions: In the users' format, one for each row of the batch; None for a reset.
        seeds: Seeds of environments that were reset with one.
    """

    batch: Batch
    starts: NDArray[np.bool_]
    stepped: NDArray[np.bool_]
    actions: Any
    seeds: dict[int, int]


class _Segment:
    """An exact state of the pool, and the events since then.

    Attributes:
        first: Number of steps before it.
        state: The bytes of `State.to_bytes`.
        events: The events after it, each a tuple of plain values; the first value is the kind of event.
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
        return zlib.compress(with_checksum(b"", text, blobs), 1)

    @property
    def is_empty(self) -> bool:
        """Whether there are no events."""
        return not self.events and self._packed is None

    def pack(self) -> None:
        """Keeps only the compressed events."""
        self._packed, self.events = self.packed(), []

    def unpack(self) -> None:
        """Restores `events`."""
        if self._packed is not None:
            self.events, self._packed = _events(self._packed), None


def _events(packed: bytes) -> list[tuple[Any, ...]]:
    """Returns the events packed by `_Segment.packed`; their values are checked when they are repeated."""
    reader = zlib.decompressobj()
    try:
        data = reader.decompress(packed, MOST_BYTES)
    except zlib.error as error:
        raise ValueError(f"a segment is damaged: {error}") from error
    if not reader.eof or reader.unused_data:
        raise ValueError("a segment is cut off, or has extra bytes at the end")
    text, blobs = verified(b"", data, "a segment with a checksum")
    if len(text) > MOST_TEXT:
        raise ValueError(f"expected segments with at most {MOST_TEXT} bytes of text, got one with {len(text)}")
    events = decoded(json.loads(text), blobs)
    blobs.end()
    if type(events) is not list or not all(type(event) is tuple and event for event in events):
        raise ValueError("a segment is not a list of events")
    return events


class History(Observer):
    """The steps of a synchronous pool since `cypool.history(env)`.

    It records the pool's calls, and an exact state every `every` steps. `len(history)` is the number of steps; a
    rollout of T steps counts as T. In memory and in a file, a step takes the space of its actions and a 4-byte checksum
    of the results per environment, both compressed with zlib; a state takes as much as in `State.save`.

    Args:
        env: The pool; all of its environments must have been reset.
        every: The number of steps between exact states.

    Attributes:
        env: The pool.
        every: The argument.
        position: The pool's position: `len(history)`, unless `seek` has moved it back.

    Thread safety: as for the pool.
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
        self._sent: int | None = None  # the step that is in flight; None: a reset is
        # the next event begins with an exact state, as the way there is not recorded
        self._gap = False
        self._paused = self._closed = False
        self._thread = 0  # that has paused the recording
        self._readers: dict[int, Any] = {}

    def __len__(self) -> int:
        return self._length

    def seek(self, step: int) -> Any:
        """Returns the pool to just before a step, bit for bit: loads an exact state, and repeats actions from there.

        The history keeps the later steps until the pool is stepped, reset or loaded again.

        Args:
            step: From 0 to `len(history)`, which is the end of the recorded steps.

        Returns:
            The result of `env.load`: the observations of the environments.

        Raises:
            TypeError, ValueError: `step` is out of this range.
            RuntimeError: Steps are in flight; the history is closed; or the results of a step differ from the recorded
                ones, which can happen on a different machine. The pool and the history are then unchanged.
        """
        step = check_int("step", step, 0, self._length)
        self._at_rest("seek")
        index = max(k for k, segment in enumerate(self._segments) if segment.first <= step)
        segment = self._segments[index]
        segment.unpack()
        try:
            before = self.env.save()
        except RuntimeError:
            # of a file, and the environments were never reset
            before = None
        self._thread, self._paused = get_ident(), True
        try:
            self.env._load(State.from_bytes(segment.state), None)
            count, position, part = self._replay(segment, step)
            shown_now = self.env.load(self.env.save())
            # both at once, wherever a signal raises
            self._behind, self.position = (index, count, part), position
            return shown_now
        except BaseException:
            self._put_back(before)
            raise
        finally:
            self._paused = False

    def repeat(self, begin: Callable[[Any, dict[str, Any]], None], visit: Callable[[Repeated], None]) -> None:
        """Repeats everything that was recorded; afterwards, the pool and the history are unchanged.

        Args:
            begin: Called with observations and infos of all environments at the start of the recorded steps and after
                each gap, such as a `load`.
            visit: Called with each reset and step after that.

        Raises:
            ValueError, RuntimeError: As in `seek`.
        """
        self._at_rest("repeat")
        before = self.env.save()
        ends = [segment.first for segment in self._segments[1:]] + [len(self)]
        self._thread, self._paused = get_ident(), True
        try:
            there: bytes | None = None
            for segment, end in zip(self._segments, ends, strict=True):
                state = State.from_bytes(segment.state)
                if there != _without_times(state):
                    obs, *_, info = self.env._load(state, None)
                    begin(obs, info)
                # the segment stays as it is
                own = _Segment(segment.first, segment.state)
                own.events = segment.events if segment._packed is None else _events(segment._packed)
                self._replay(own, end, visit)
                there = _without_times(self.env.save())
        finally:
            try:
                self._put_back(before)
            finally:
                self._paused = False

    def save(self, path: Pathlike) -> None:
        """Writes the history to a file: plain data, compressed, with a checksum and cypool's version.

        A history with more than 2 GB of checksums, such as 15 million steps of 3 environments, cannot be loaded.

        Raises:
            TypeError, ValueError: `path` is not a path.
            OSError: The file cannot be written.
        """
        path = check_path("path", path)
        blobs: list[bytes] = []
        contents = {"cypool": version(), **self._contents()}
        data = with_checksum(MAGIC, json.dumps(encoded(contents, blobs), separators=(",", ":")), blobs)
        with replacing(path) as file:
            file.write(data)

    def _contents(self) -> dict[str, Any]:
        """Returns everything recorded as plain data, including steps after the pool's present position."""
        with suppress(ClosedError):
            self._settle()
        segments = [(segment.first, segment.state, segment.packed()) for segment in self._segments]
        sums = np.array(self._sums, "<u4").reshape(self._length, self.env.num_envs)
        return {"num_envs": self.env.num_envs, "every": self.every, "length": self._length, "segments": segments,
                "sums": zlib.compress(sums.tobytes(), 1), "seen": zlib.compress(bytes(self._seen), 1)}

    def _to_checkpoint(self) -> dict[str, Any]:
        """Returns everything that the history needs to continue, as plain data."""
        self._at_rest("save_checkpoint")
        return {**self._contents(), "position": self.position, "behind": self._behind}

    def close(self) -> None:
        """Stops recording; the pool can still be used. A second call does nothing."""
        self.env._pool.observers.detach(self)
        self._closed = True

    def __enter__(self) -> History:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"History({self.env.env_spec.id}, {len(self)} steps of {self.env.num_envs} envs)"

    def _at_rest(self, name: str) -> None:
        """Raises a RuntimeError unless the history is open and the pool is idle."""
        if self._closed:
            raise RuntimeError("the history is closed")
        if self._paused:
            raise RuntimeError(f"{name}: another call is using the history: use it from one thread at a time")
        if self.env._pool.num_pending:
            raise RuntimeError(f"{name}: steps are in flight: call recv() first")
        self._settle()

    def _settle(self) -> None:
        """Records an exact state after a gap, once the pool is idle."""
        self.env._pool.catch_up()
        if self._gap and not self._closed and not self.env._pool.num_pending:
            self._take_state()

    def _put_back(self, state: State | None) -> None:
        """Loads a state into the pool, also if Ctrl-C has left a step in flight."""
        # until it is there: Ctrl-C may come again
        gap, self._gap = self._gap, True
        self.env._pool.discard()
        if state is not None:
            self.env._load(state, None)
        self._gap = gap

    def _record(self, *event: Any) -> None:
        """Records an event without a step."""
        self._forget_the_rest()
        self._segments[-1].events.append(event)

    def _record_steps(self, num_steps: int, *event: Any) -> None:
        self._forget_the_rest()
        self._sums += [np.zeros(self.env.num_envs, np.uint32) for _ in range(num_steps)]
        self._seen += [True] * num_steps
        self._segments[-1].events.append(event)
        self._length += num_steps
        self.position = self._length

    def _take_state(self) -> None:
        """Begins a segment."""
        state = self.env.save().to_bytes()
        self._forget_the_rest()
        if self._segments and self._segments[-1].is_empty:
            # no event followed that state before the gap
            self._segments[-1] = _Segment(self._length, state)
        else:
            if self._segments:
                self._segments[-1].pack()
            self._segments.append(_Segment(self._length, state))
        self._gap = False

    def _forget_the_rest(self) -> None:
        """Drops the steps after the pool's present position."""
        if self._behind is not None:
            index, count, part = self._behind
            del self._segments[index + 1:]
            self._segments[index].unpack()
            self._segments[index].events[count:] = [] if part is None else [part]
            del self._sums[self.position:], self._seen[self.position:]
            self._length, self._behind = self.position, None

    def _before(self, options: Any) -> None:
        if self._paused:
            if self._thread != get_ident():
                raise RuntimeError("another call is using the pool's history: use both from one thread at a time")
            return
        try:
            encoded(options, [])
        except TypeError as error:
            raise ValueError(f"options: expected plain data, because the pool has a history: {error}") from error
        self._settle()
        if self._behind is None and len(self) - self._segments[-1].first >= self.every and (
                not self.env._pool.num_pending):
            self._take_state()

    def _on_sent(self, actions: NDArray[Any], env_ids: EnvIds | None) -> None:
        if not self._paused:
            self._sent = self.position
            self._record_steps(1, "step", None if env_ids is None else env_ids.tolist(), actions.tobytes())

    def _on_reset(self, env_ids: EnvIds | None, others: bool, seeds: list[tuple[int, int]] | None,
                  options: Any) -> None:
        # behind a gap the next exact state includes it
        if not self._paused and not self._gap:
            # the caller's may change
            self._record("reset", None if env_ids is None else env_ids.tolist(), others,
                         None if seeds is None else [tuple(map(int, pair)) for pair in seeds], copy.deepcopy(options))
            self._sent = None

    def _on_received(self, batch: Batch, stepped: Bools, starts: Bools) -> Batch:
        if self._sent is not None and not self._paused:
            self._sums[self._sent][batch[4]["env_id"]] = _sums(batch, True)
            self._sent = None
        return batch

    def _on_rollout(self, actions: NDArray[Any], num_steps: int, observe_every: int, batch: Batch) -> None:
        if not self._paused:
            seen = observe_every == 1
            sums = _sums(batch, seen).reshape(num_steps, -1)
            self._record_steps(num_steps, "rollout", num_steps, actions.tobytes())
            self._sums[-num_steps:], self._seen[-num_steps:] = list(sums), [seen] * num_steps

    def _on_gap(self) -> None:
        if not self._paused:
            self._forget_the_rest()
            # Ctrl-C may have come while a step was taken down
            del self._sums[self._length:], self._seen[self._length:]
            self._sent, self._gap = None, True

    def _replay(self, segment: _Segment, end: int,
               visit: Callable[[Repeated], None] | None = None) -> tuple[int, int, tuple[Any, ...] | None]:
        """Repeats the events of a segment until just before step `end`.

        Args:
            visit: Called with each reset and step, also with those of rollouts.

        Returns:
            The number of repeated events; the next step; the part of one more event that was repeated.
        """
        at = segment.first
        try:
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
                    raise ValueError(f"{shown(kind)} is not a known kind of event")
        except (LookupError, TypeError, ValueError, OverflowError) as error:
            # of a file that `save` did not write
            raise ValueError(f"history: expected valid events: {error}") from error
        return len(segment.events), at, None

    def _repeat_reset(self, visit: Callable[[Repeated], None] | None, ids: Any, others: Any, seeds: Any,
                      options: Any) -> None:
        if ids is None and others is not False:
            raise ValueError(f"expected others to be False without ids, got {shown(others)}")
        num_envs = self.env.num_envs
        max_seed = 2**256 if self.env.env_spec.max_seed is None else self.env.env_spec.max_seed
        pairs = [(check_int("env_id", i, 0, num_envs - 1), check_int("seed", seed, 0, max_seed))
                 for i, seed in seeds or ()]
        pool = self.env._pool
        pool.send_reset(None if ids is None else np.array(ids, np.int32).reshape(-1), bool(others), pairs, options)
        try:
            batch = pool.recv()
        except EnvError as error:
            # as it did then
            batch = error.batch
        if visit is not None:
            visit(Repeated(batch, pool.starts(), pool.stepped(), None, dict(pairs)))

    def _repeat_step(self, visit: Callable[[Repeated], None] | None, at: int, ids: Any, data: bytes) -> None:
        env_ids = None if ids is None else np.array(ids, np.int32).reshape(-1)
        actions = self._actions(data, self.env.num_envs if env_ids is None else len(env_ids))
        pool = self.env._pool
        try:
            batch = pool.step(actions, env_ids)
        except EnvError as error:
            batch = error.batch
        self._check(at, _sums(batch, self._seen[at]), batch[4]["env_id"])
        if visit is not None:
            visit(Repeated(batch, pool.starts(), pool.stepped(), unpack(self.env.env_spec, actions), {}))

    def _repeat_rollout_by_steps(self, visit: Callable[[Repeated], None], at: int, whole: Any, data: bytes) -> None:
        num_envs = self.env.num_envs
        rows = self._actions(data, check_int("steps", whole, 1, 2**31 - 1) * num_envs)
        over = np.zeros(num_envs, np.bool_)

        def note_ends(made: Repeated) -> None:
            _, _, terminated, truncated, info = made.batch
            over[info["env_id"]] = terminated | truncated
            visit(made)

        for t in range(whole):
            # a rollout leaves environments where their episodes ended
            ids = np.flatnonzero(~over) if self.env.stays_at_end else np.arange(num_envs)
            if len(ids):
                self._repeat_step(note_ends, at + t, ids, rows[t * num_envs:(t + 1) * num_envs][ids].tobytes())

    def _repeat_rollout(self, at: int, num_steps: int, data: bytes) -> None:
        num_envs = self.env.num_envs
        actions = self._actions(data, num_steps * num_envs)
        try:
            batch, _ = self.env._pool.rollout(actions, num_steps, 1)
        except EnvError as error:
            batch, _ = error.batch
        sums = {seen: _sums(batch, seen).reshape(num_steps, num_envs) for seen in (True, False)}
        for k in range(num_steps):
            self._check(at + k, sums[self._seen[at + k]][k], np.arange(num_envs))

    def _actions(self, data: bytes, count: int) -> NDArray[Any]:
        """Returns actions in the engine's format; checks them, because a file may contain anything."""
        spec = self.env.env_spec
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
        """Raises a RuntimeError if the results of a step differ from the recorded ones."""
        wanted = self._sums[step][ids]
        differ = ids[wanted != sums]
        # results that a reset threw away were not received
        if len(differ) and wanted.any():
            raise RuntimeError(f"seek: expected the recorded results of step {step}, got different ones for env "
                               f"{differ.min()}: is this a different machine, or a different version of a library?")


def _without_times(state: State) -> bytes:
    """Returns the bytes of a state without the duration of its episodes."""
    return State(state.env_id, [{**row, "episode_ns": 0} for row in state.rows]).to_bytes()


def _sums(batch: Batch, with_obs: bool) -> NDArray[np.uint32]:
    """Returns a hash of each row of a batch; different rows collide with a probability of 2**-32."""
    obs, reward, terminated, truncated, _ = batch
    parts = [reward, terminated, truncated]
    if with_obs:
        seen = obs.values() if isinstance(obs, dict) else obs if isinstance(obs, tuple) else [obs]
        # those of a rollout have in front the observations before its first step
        parts += [part[len(part) - len(reward):] for part in seen]
    total = np.zeros(len(reward), np.uint64)
    for k, part in enumerate(parts):
        size = part.nbytes // len(reward)
        data = np.ascontiguousarray(part).view(np.uint8).reshape(len(reward), size)
        if size % 8:
            # `np.pad` takes 40 us
            padded = np.zeros((len(reward), size + -size % 8), np.uint8)
            padded[:, :size] = data
            data = padded
        if size:
            total += data.view("<u8") @ _weights(k, data.shape[1] // 8)
    return (total ^ (total >> np.uint64(32))).astype(np.uint32)


@functools.lru_cache(maxsize=64)
def _weights(part: int, count: int) -> NDArray[np.uint64]:
    """Returns pseudorandom odd 64-bit hash multipliers."""
    numbers = np.arange(1, count + 1, dtype=np.uint64) + np.uint64(part << 40)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB), (31, 0x9E3779B97F4A7C15)):
        numbers = (numbers ^ (numbers >> np.uint64(shift))) * np.uint64(factor)
    return numbers | np.uint64(1)


def history(env: VectorAPI, every: int = 1000) -> History:
    """Starts recording a pool: see `History`.

    Args:
        env: A synchronous pool whose environments have all been reset and can be saved to a file.
        every: The number of steps between exact states: `seek` repeats at most this many.

    Raises:
        TypeError, ValueError: `env` is not such a pool, or `every` is not a positive int.
        RuntimeError: An environment is in flight, or was never reset; or the pool already has a history.
        NotImplementedError: The environments cannot be saved.
    """
    every = check_int("every", every, 1, 2**31 - 1)
    made = _history_of(env, every)
    try:
        env._pool.observers.attach(made)
        made._take_state()
    except BaseException:
        # the exception holds it, and so the pool would keep it
        made.close()
        raise
    return made


def load_history(path: Pathlike, env: VectorAPI) -> History:
    """Returns the `History` that `History.save` wrote to a file, for a pool like the recorded one.

    The pool takes the state after the recorded steps, and its next calls are recorded. Never executes code from the
    file.

    Args:
        path: The file.
        env: A synchronous pool with the same number of environments, id and options.

    Raises:
        TypeError: `path` is not a path, or `env` is not a pool.
        ValueError: The file is damaged, not a history, from another version of cypool, or from a different pool.
        RuntimeError: The pool already has a history; or as in `History.seek`.
        OSError: The file cannot be read.
    """
    path = check_path("path", path)
    with opened(path, EXPECTED) as file:
        data = file.read()
    text, blobs = verified(MAGIC, data, EXPECTED)
    saved_by: Any = None
    made = _history_of(env, 1)
    try:
        contents = decoded(json.loads(text), blobs)
        saved_by = contents["cypool"]
        if saved_by == version():
            blobs.end()
            _fill(made, contents)
    # with the right checksum: `save` did not write it
    except (AttributeError, LookupError, TypeError, ValueError, OverflowError, RecursionError, zlib.error) as error:
        raise ValueError(f"{EXPECTED}, got one that cannot be read: {type(error).__name__}: {error}") from error
    if saved_by != version():
        raise ValueError(f"path: expected a history from cypool {version()}, got one from {shown(saved_by)}")
    try:
        env._pool.observers.attach(made)
        made.seek(len(made))
    except BaseException:
        made.close()
        raise
    return made


def _from_checkpoint(env: VectorAPI, saved: dict[str, Any]) -> tuple[History, Callable[[], None]]:
    """Returns the history that `History._to_checkpoint` described, and a function that makes it record `env`.

    The pool must be at the same position at that time.

    Raises:
        TypeError, ValueError, RuntimeError: As in `load_history`; the pool is unchanged.
    """
    made = _history_of(env, 1)
    _fill(made, saved)
    made.position = check_int("position", saved["position"], 0, len(made))
    if saved["behind"] is not None:
        index, count, part = saved["behind"]
        if part is not None and (type(part) is not tuple or len(part) != 3):
            raise ValueError(f"expected a part of a rollout, got {shown(part)}")
        made._behind = (check_int("segment", index, 0, len(made._segments) - 1), check_int("events", count, 0, 2**62),
                        part)
    elif made.position != len(made):
        raise ValueError(f"expected position {len(made)}, the end of the history, got {made.position}")
    return made, lambda: env._pool.observers.attach(made)


def _history_of(env: VectorAPI, every: int) -> History:
    """Returns an empty history of a pool, which does not receive the pool's calls yet."""
    if not isinstance(env, VectorAPI):
        raise TypeError(f"env: expected a pool, got {shown(env)}")
    if env.is_async:
        raise ValueError("env: expected a synchronous pool, because the results of an asynchronous pool are unordered")
    if env._pool.observers.includes(History):
        raise RuntimeError("env: the pool already has a history: close that history first")
    if env._pool.is_hosted and env.task is None:
        raise ValueError("env: expected no Python environments, because their state is a pickle")
    if env._pool.num_pending:
        raise RuntimeError("env: steps are in flight: call recv() first")
    return History(env, every)


def _fill(made: History, contents: dict[str, Any]) -> None:
    """Restores the contents of a file that `History.save` wrote."""
    num_envs = made.env.num_envs
    if contents["num_envs"] != num_envs:
        raise ValueError(f"expected {num_envs} environments, got {shown(contents['num_envs'])}")
    made.every = check_int("every", contents["every"], 1, 2**31 - 1)
    # before anything of that size is unpacked
    length = check_int("length", contents["length"], 0, MOST_BYTES // (4 * num_envs + ARRAY_BYTES))
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
        raise ValueError("expected at least one state, and a result for each step")
    made._length = made.position = length
    made._sums, made._seen = [row.astype(np.uint32) for row in sums], [bool(flag) for flag in seen]


def first_difference(a: History, b: History) -> Difference | None:
    """Returns the step and the environment at which the results of two runs diverge; None if they do not.

    Results are observations, rewards, terminated and truncated. Steps in only one of the two do not count as a
    difference, nor do observations that a rollout did not keep.

    Raises:
        TypeError: An argument is not a `History`.
        ValueError: The histories have different numbers of environments.
    """
    for name, each in (("a", a), ("b", b)):
        if not isinstance(each, History):
            raise TypeError(f"{name}: expected a History, got {shown(each)}")
    if a.env.num_envs != b.env.num_envs:
        raise ValueError(f"b: expected a history with {a.env.num_envs} environments, got one with {b.env.num_envs}")
    for step in range(min(len(a), len(b))):
        differ = np.flatnonzero(a._sums[step] != b._sums[step])
        if len(differ) and a._seen[step] == b._seen[step]:
            return Difference(step, int(differ[0]))
    return None
