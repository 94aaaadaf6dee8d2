"""Many steps with one call: the memory for them, and the two ways to take them."""
from __future__ import annotations

import functools
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol

import numpy as np

from cypool.arguments.action_readers import neutral, pack_parts, parts_of, reader_of, rollout_reader_of, unpack
from cypool.engine.engine import normalized
from cypool.errors import EnvError
from cypool.policies import Policy, policy_of
from cypool.state import State
from cypool.util.arguments import check_array, check_float, check_int, shown, shown_shape

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from cypool.spec import Array, Discrete, EnvSpec
    from cypool.util.typing import Batch, Bools, EnvIds, Floats


class RolloutBuffers:
    """Memory for T steps of a synchronous pool of N environments.

    Row t of each array belongs to step t: `action[t]` was chosen from `obs[t]` and led to `reward[t]`, `terminated[t]`,
    `truncated[t]` and `next_obs[t]`. `rollout(actions, out=buffers)` fills everything. `step(actions, out=buffers[t])`
    fills row t, including `next_obs[t]`; you must then write `obs[0]` yourself. `len(buffers)` is T.

    Attributes:
        reward: float64, (T, N).
        terminated, truncated: bool, (T, N).
        action: After a rollout with a policy: the actions, (T, N, ...) in the dtype of the action; a dict of these if
            actions are dicts. Otherwise None.
        raw_action, log_prob, entropy, value: After a rollout with a `cypool.MLP` that has them, float32, (T, N, ...):
            its other outputs for `obs[t]`, as in a `cypool.Choice`. Otherwise None.
    """

    _make_info: Callable[[], dict[str, Any]] | None = None
    _info: dict[str, Any] | None = None
    _masks: NDArray[Any] | None = None
    _stepped: Bools | None = None
    action: Any = None
    raw_action: NDArray[Any] | None = None
    log_prob: NDArray[Any] | None = None
    entropy: NDArray[Any] | None = None
    value: NDArray[Any] | None = None

    def __init__(self, spec: EnvSpec, num_steps: int, num_envs: int):
        def zeros(part: Array | Discrete) -> NDArray[Any]:
            return np.zeros((num_steps + 1, num_envs, *part.shape), part.dtype)

        self._spec = spec
        self._all_obs = spec.pack([zeros(part) for _, part in spec.observations])
        self.reward = np.zeros((num_steps, num_envs))
        self.terminated = np.zeros((num_steps, num_envs), np.bool_)
        self.truncated = np.zeros((num_steps, num_envs), np.bool_)

    @classmethod
    def from_arrays(cls, spec: EnvSpec, all_obs: Any, reward: Floats, terminated: Bools,
                    truncated: Bools) -> RolloutBuffers:
        """Returns buffers over these arrays; `all_obs` is `obs` followed by `last_obs`."""
        buffers = cls.__new__(cls)
        buffers._spec, buffers._all_obs, buffers.reward = spec, all_obs, reward
        buffers.terminated, buffers.truncated = terminated, truncated
        return buffers

    @property
    def obs(self) -> Any:
        """The observations that the actions were chosen from: (T, N, ...) in the dtype of the observation, or a dict or
        tuple of such arrays. After `rollout(..., observe=k)`, only those of steps 0, k, 2 k, ...
        """
        return self._rows(slice(None, -1))

    @property
    def next_obs(self) -> Any:
        """The observations after the steps, in the shape of `obs`: the same memory, shifted by one row. If the next
        episode starts within the step (SameStep), its first observation; `info["final_obs"]` has the last one of the
        finished episode.
        """
        return self._rows(slice(1, None))

    @property
    def last_obs(self) -> Any:
        """(N, ...): the observation after the last step."""
        return self._rows(-1)

    @property
    def valid(self) -> Bools | None:
        """After a rollout: bool, (T, N): False if row t is not a transition, because the step starts an episode and
        ignores its action (NextStep), or the environment is at the end of its episode (Disabled) or has failed.
        Otherwise None.
        """
        return None if self._stepped is None else self._stepped.reshape(self.reward.shape)

    @property
    def action_mask(self) -> NDArray[Any] | None:
        """After a rollout of environments with the info `action_mask`: the masks for `obs`. Otherwise None."""
        return None if self._masks is None else self._masks[:-1]

    @property
    def info(self) -> dict[str, Any]:
        """After a rollout: a dict of arrays (T, N, ...), the numeric infos of the steps. Those of the environment
        belong to `next_obs`. Otherwise empty.
        """
        # half the time of a short rollout, and few look at it
        if self._info is None:
            self._info = {} if self._make_info is None else self._make_info()
        return self._info

    def __getstate__(self) -> dict[str, Any]:
        # infos are made once
        return {**self.__dict__, "_info": self.info, "_make_info": None}

    def set_choices(self, action: Any, outputs: Mapping[str, NDArray[Any]]) -> None:
        """Sets the actions that a policy chose, and its other outputs."""
        self.action = action
        self.raw_action, self.log_prob = outputs.get("raw_action"), outputs.get("log_prob")
        self.entropy, self.value = outputs.get("entropy"), outputs.get("value")

    def set_info(self, make: Callable[[], dict[str, Any]], masks: NDArray[Any] | None) -> None:
        """Sets the function that creates the infos when they are first read, and the masks with one more row."""
        self._make_info, self._masks, self._info = make, masks, None

    def take_over(self, other: RolloutBuffers, make_info: Callable[[], dict[str, Any]]) -> None:
        """Sets everything except `arrays()` and infos, which are created when they are first read."""
        self._stepped, self.action, self.raw_action, self.log_prob = (
            other._stepped, other.action, other.raw_action, other.log_prob)
        self.entropy, self.value = other.entropy, other.value
        self.set_info(make_info, other._masks)

    def _rows(self, which: Any) -> Any:
        if type(self._all_obs) is np.ndarray:
            return self._all_obs[which]
        return self._spec.pack([part[which] for part in self._spec.unpack(self._all_obs)])

    def __len__(self) -> int:
        return len(self.reward)

    def __getitem__(self, t: int) -> tuple[Any, Floats, Bools, Bools]:
        obs = self._spec.pack([part[1:][t] for part in self._spec.unpack(self._all_obs)])
        return obs, self.reward[t], self.terminated[t], self.truncated[t]

    def arrays(self) -> tuple[NDArray[Any], ...]:
        """Returns all arrays except infos: the parts of the observation, with one more row, reward and flags."""
        return (*self._spec.unpack(self._all_obs), self.reward, self.terminated, self.truncated)


class SearchResult(NamedTuple):
    """The results of K action sequences.

    Attributes:
        reward: float64, (K,): the sum of the rewards.
        obs: (K, ...), or a dict or tuple of such arrays: the last observation.
        terminated, truncated: bool, (K,): how the episode ended, if it did.
        length: int64, (K,): number of steps until the end of the episode, or T.
    """

    reward: Floats
    obs: Any
    terminated: Bools
    truncated: Bools
    length: NDArray[np.int64]

    def __repr__(self) -> str:
        # not all numbers of hundreds of sequences
        best = int(np.argmax(self.reward))
        return f"SearchResult({len(self.reward)} sequences, best reward {self.reward[best]:g} in sequence {best})"


class RolloutEnv(Protocol):
    """The part of a pool that rollouts and searches use; `VectorAPI` implements it."""

    is_async: bool
    engine_rollouts: bool
    stays_at_end: bool
    ended_early: bool
    all_env_ids: EnvIds
    _pool: Any
    _batch_spec: EnvSpec
    _read_rollout: Callable[[Any], NDArray[Any]]

    @property
    def env_spec(self) -> EnvSpec: ...
    @property
    def recipe(self) -> dict[str, Any]: ...
    def _normal_for_policy(self) -> tuple[EnvSpec, Floats, Floats, NDArray[np.float32]] | None: ...
    def _of_rollout(self, made: RolloutBuffers, out: RolloutBuffers | None) -> RolloutBuffers: ...
    def _load(self, state: State, env_id: Any) -> Batch: ...
    def _copy(self, sources: EnvIds, targets: EnvIds) -> None: ...


def rollout(env: RolloutEnv, actions: Any, out: RolloutBuffers | None, observe: int | Literal["all", "last"],
            timeout: float | None, policy: Any = None, as_seen: bool = True) -> RolloutBuffers:
    """Implements `VectorAPI.rollout`; without `as_seen`, the result is in the engine's format."""
    if env.is_async:
        raise ValueError("rollout: expected a synchronous pool, because the rows of an asynchronous pool are unordered")
    if policy is None:
        rows = env._read_rollout(actions)
        num_steps = len(rows) // env._pool.num_envs
    else:
        policy = policy_of(policy)
        if isinstance(policy, Policy):
            policy = policy._for_rollout()
        num_steps = check_int("actions", actions, 1, (2**31 - 1) // env._pool.num_envs)
        rows = _unchosen(env, num_steps)
    every = 1 if isinstance(observe, str) and observe == "all" else _every(observe, num_steps)
    if timeout is not None:
        timeout = check_float("timeout", timeout, 0, 1e9)
    if out is not None:
        _check_out(env, out, num_steps)
        if every > 1:
            raise ValueError(f"out: expected None with observe={shown(observe)}, because buffers hold all observations")
    in_engine = env.engine_rollouts and (policy is None or isinstance(policy, Policy))
    if not in_engine and isinstance(policy, Policy) and not callable(policy):
        raise ValueError("policy: expected a Python function for a pool with Python environments or Python hooks, "
                         "got a C function")
    at_rest = env._pool.num_pending == 0
    # others are written to in the end
    filled = out if out is None or env._batch_spec is env.env_spec else None
    try:
        made = (_in_engine if in_engine else _step_by_step)(env, rows, num_steps, every, filled, timeout, policy)
    except EnvError as error:
        if as_seen:
            error.batch = env._of_rollout(error.batch, out)
        raise
    except BaseException:
        # the next reset or load throws away the rest, which is in flight
        env.ended_early = at_rest and env._pool.num_pending > 0
        raise
    return env._of_rollout(made, out) if as_seen else made


def _every(observe: Any, num_steps: int) -> int:
    """Returns the interval at which steps are observed."""
    if isinstance(observe, str):
        if observe != "last":
            raise ValueError(f"observe: expected 'all', 'last' or an int, got {shown(observe)}")
        return num_steps
    return min(check_int("observe", observe, 1, 2**31 - 1), num_steps)


def search(env: RolloutEnv, state: State, actions: Any, timeout: float | None) -> SearchResult:
    """Implements `VectorAPI.search`."""
    if not env.stays_at_end or env.is_async:
        kind = "an asynchronous" if env.is_async else "a synchronous"
        raise ValueError(f"search: expected a synchronous pool with autoreset_mode='Disabled', got {kind} one with "
                         f"{env.recipe['autoreset_mode']!r}")
    if not isinstance(state, State):
        raise TypeError(f"state: expected a state returned by save(), got {shown(state)}")
    if len(state) != 1:
        raise ValueError(f"state: expected the state of one environment, got {len(state)}")
    spec, num_envs = env._batch_spec, env._pool.num_envs
    arrays: list[NDArray[Any]] = []
    lengths: set[int] = set()
    for given, (name, described) in zip(parts_of(spec, actions), spec.actions, strict=True):
        what = "" if name is None else f" as {name}"
        wanted = f"shape {shown_shape('K', 'T', *described.shape)}{what} for K >= 1 sequences of T >= 1 steps"
        array = check_array("actions", given, wanted)
        if array.ndim < 2 or array.shape[2:] != described.shape or 0 in array.shape[:2]:
            raise ValueError(f"actions: expected {wanted}, got {array.shape}")
        arrays.append(array)
        lengths.add(len(array))
    if len(lengths) > 1:
        raise ValueError(f"actions: expected the same number of sequences for each part, got {sorted(lengths)}")
    (count,) = lengths
    results: list[SearchResult] = []
    for first in range(0, count, num_envs):
        # the last sequence also fills the environments that the last turn leaves over
        chosen = np.minimum(np.arange(first, first + num_envs), count - 1)
        turn = pack_parts(spec.action, iter([np.swapaxes(array[chosen], 0, 1) for array in arrays]))
        env._load(state, env.all_env_ids[:1])
        if num_envs > 1:
            env._copy(env.all_env_ids[:1], env.all_env_ids[1:])
        made = rollout(env, turn, None, "last", timeout, as_seen=False)
        ended = made.terminated | made.truncated
        length = np.where(ended.any(axis=0), ended.argmax(axis=0) + 1, len(made))
        results.append(SearchResult(made.reward.sum(axis=0), spec.unpack(made.last_obs),
                               np.any(made.terminated, axis=0), np.any(made.truncated, axis=0), length))
    obs = [np.concatenate(parts)[:count] for parts in zip(*(each.obs for each in results), strict=True)]
    reward, terminated, truncated, length = (np.concatenate(parts)[:count] for parts in zip(
        *((each.reward, each.terminated, each.truncated, each.length) for each in results), strict=True))
    return SearchResult(reward, spec.pack(obs), terminated, truncated, length)


def reader_of_rollouts(spec: EnvSpec, num_envs: int) -> Callable[[Any], NDArray[Any]]:
    """Returns a function that turns the actions of all steps into the engine's format, in the order of steps."""
    return rollout_reader_of(spec, num_envs, functools.partial(_actions, spec, num_envs))


def _actions(spec: EnvSpec, num_envs: int, actions: Any) -> NDArray[Any]:
    """Returns arbitrary actions of all steps in the engine's format; raises if they are wrong."""
    given = zip(parts_of(spec, actions), spec.actions, strict=True)
    flat = [_flat(part, described, num_envs) for part, (_, described) in given]
    lengths = {num_steps for _, num_steps in flat}
    if len(lengths) > 1:
        raise ValueError(f"actions: expected the same number of steps for each part, got {sorted(lengths)}")
    rows: NDArray[Any] = reader_of(spec, lengths.pop() * num_envs)(
        pack_parts(spec.action, iter([rows for rows, _ in flat])))
    return rows


def _unchosen(env: RolloutEnv, num_steps: int) -> NDArray[Any]:
    """Returns memory for the actions of all steps in the engine's format, filled with valid actions."""
    spec = env.env_spec
    parts = [neutral(part) for _, part in spec.actions]
    row = parts[0]
    if isinstance(spec.action, Mapping):
        row = np.frombuffer(b"".join(part.tobytes() for part in parts), np.uint8)
    try:
        rows = np.zeros((num_steps * env._pool.num_envs, *row.shape), row.dtype)
    except (MemoryError, ValueError) as error:
        raise ValueError(f"actions: expected a rollout that fits in memory, got {num_steps} steps: "
                         f"{error}") from error
    if row.any():
        rows[:] = row
    return rows


def _chosen(env: RolloutEnv, rows: NDArray[Any], num_steps: int) -> Any:
    """Returns actions of all steps in the users' format."""
    spec = env.env_spec
    parts = [part.reshape(num_steps, env._pool.num_envs, *part.shape[1:])
             for part in parts_of(spec, unpack(spec, rows))]
    return pack_parts(spec.action, iter(parts))


def _flat(actions: Any, part: Any, num_envs: int) -> tuple[NDArray[Any], int]:
    """Returns actions (T, num_envs, ...) with the first two axes merged, and T."""
    shape = num_envs, *part.shape
    wanted = f"shape {shown_shape('T', *shape)} for T >= 1 steps of {num_envs} envs"
    array = actions
    if type(array) is not np.ndarray:
        array = check_array("actions", actions, f"{part.dtype} of {wanted}")
    if array.ndim == 0:
        raise ValueError(f"actions: expected {wanted}, or just T with policy=, got {shown(array.item())}")
    if array.shape[1:] != shape or len(array) == 0:
        raise ValueError(f"actions: expected {wanted}, got {array.shape}")
    if array.shape[0] * num_envs >= 2**31:
        raise ValueError(f"actions: expected fewer than 2**31 rows, got {len(array)} steps of {num_envs} envs")
    # a view of one number may have a shape of millions of rows; only the shape was checked
    return array.reshape(len(array) * num_envs, *part.shape), len(array)


def _check_out(env: RolloutEnv, out: RolloutBuffers, num_steps: int) -> None:
    if not isinstance(out, RolloutBuffers):
        raise TypeError(f"out: expected RolloutBuffers from rollout_buffers(T) or rollout(), got {shown(out)}")
    wanted: list[tuple[tuple[int, ...], Any]] = [(part.shape, part.dtype) for _, part in env.env_spec.observations]
    wanted += [((), np.float64), ((), np.bool_), ((), np.bool_)]
    try:
        arrays = out.arrays()
    except Exception as error:
        raise ValueError(f"out: expected buffers for {env.env_spec.id}: {error}") from error
    if len(arrays) != len(wanted):
        raise ValueError(f"out: expected buffers for {env.env_spec.id}, got different ones")
    for k, (array, (shape, dtype)) in enumerate(zip(arrays, wanted, strict=True)):
        # observations have that before the first step, too
        shape = num_steps + (k < len(wanted) - 3), env._pool.num_envs, *shape
        # attributes can be assigned
        if (not isinstance(array, np.ndarray) or array.dtype != dtype or not array.flags.carray
                or array.shape != shape):
            got = f"{array.dtype}, shape {array.shape}" if isinstance(array, np.ndarray) else type(array).__name__
            raise ValueError(f"out: expected a writeable C-contiguous array of {np.dtype(dtype)}, shape {shape}, at "
                             f"index {k}, got {got}")


def _in_engine(env: RolloutEnv, rows: NDArray[Any], num_steps: int, every: int, out: RolloutBuffers | None,
               timeout: float | None, policy: Policy | None) -> RolloutBuffers:
    """All steps of an environment on the same thread, one after the other."""
    arrays = None
    if out is not None:
        arrays = tuple(array.reshape(len(array) * array.shape[1], *array.shape[2:]) for array in out.arrays())
    normal = None if policy is None else env._normal_for_policy()
    try:
        batch, stepped = env._pool.rollout(rows, num_steps, every, arrays, timeout, policy, normal)
    except EnvError as error:
        batch, stepped = error.batch
        error.batch = _formatted(env, batch, stepped, rows, num_steps, every, out, policy)
        raise
    return _formatted(env, batch, stepped, rows, num_steps, every, out, policy)


def _formatted(env: RolloutEnv, batch: Any, stepped: NDArray[np.bool_], rows: NDArray[Any], num_steps: int,
               every: int, buffers: RolloutBuffers | None, policy: Policy | None) -> RolloutBuffers:
    """Returns the engine's batch as buffers: those that it was written to, if any."""
    obs, reward, terminated, truncated, info = batch
    spec, shape = env._batch_spec, (num_steps, env._pool.num_envs)
    observed = -(-num_steps // every) + 1, shape[1]
    if buffers is None:
        # in most environments it has no parts
        obs = _shaped(obs, observed) if type(obs) is np.ndarray else spec.pack(
            [_shaped(part, observed) for part in spec.unpack(obs)])
        buffers = RolloutBuffers.from_arrays(spec, obs, reward.reshape(shape), terminated.reshape(shape),
                                             truncated.reshape(shape))
    else:
        buffers.set_choices(None, {})
    if policy is not None:
        buffers.set_choices(_chosen(env, rows, num_steps), policy._outputs)
    buffers._stepped = stepped
    masks = _shaped(info["action_mask"], observed) if "action_mask" in spec.info else None
    buffers.set_info(functools.partial(_formatted_info, spec, info, shape, every), masks)
    return buffers


def _shaped(array: NDArray[Any], shape: tuple[int, int]) -> NDArray[Any]:
    """Returns rows reshaped to steps and environments; drops extra rows, which are empty."""
    count = shape[0] * shape[1]
    return (array if len(array) == count else array[:count]).reshape(shape + array.shape[1:])


def _formatted_info(spec: EnvSpec, info: dict[str, Any], shape: tuple[int, int], every: int) -> dict[str, Any]:
    """Returns the infos of the engine's batch in the format of buffers."""
    def shaped_all(values: dict[str, Any]) -> dict[str, Any]:
        return {name: shaped_all(each) if isinstance(each, dict) else _shaped(each, shape)
                for name, each in values.items()}

    infos: dict[str, Any] = {}
    final = info.pop("final", None)
    if every == 1 and final is not None:
        infos["final_obs"] = spec.pack([_shaped(part, shape) for part in spec.unpack(final[0])])
        infos["final_info"] = shaped_all(final[1])
    observed = -(-shape[0] // every) + 1, shape[1]
    for key, values in info.items():
        if isinstance(values, dict):
            infos[key] = shaped_all(values)
        else:
            infos[key] = _shaped(values, observed)[1:] if key in spec.info else _shaped(values, shape)
    return infos


def _step_by_step(env: RolloutEnv, rows: NDArray[Any], num_steps: int, every: int, out: RolloutBuffers | None,
                  timeout: float | None, policy: Callable[..., Any] | None) -> RolloutBuffers:
    """Rollouts with Python code in each step: hooks, policies, and environments in other processes."""
    spec, num_envs, normal = env._batch_spec, env._pool.num_envs, env._normal_for_policy()
    read = reader_of(spec, num_envs)
    buffers = RolloutBuffers(spec, num_steps, num_envs) if out is None else out
    info: dict[str, Any] = {}
    causes: dict[int, BaseException] = {}
    steps: dict[int, int] = {}
    over = np.zeros(num_envs, np.bool_)
    end = None if timeout is None else time.monotonic() + timeout
    outputs: Mapping[str, NDArray[Any]] = {}
    has_mask = spec.illegal is not None and "action_mask" in spec.info
    valid = np.zeros((num_steps, num_envs), np.bool_)
    if isinstance(policy, Policy):
        policy.check(env.env_spec, num_envs)
        policy._begin(num_steps, num_envs)
        outputs = policy._outputs
    for t in range(num_steps):
        if end is not None and time.monotonic() > end:
            raise TimeoutError(f"rollout: did not finish within {timeout} s")
        if t == 0:
            try:
                first, *_, own = _shown(env)
            except EnvError as error:
                # they begin an episode with the first step
                first, *_, own = error.batch
                causes, steps = dict(error.causes), dict.fromkeys(error.causes, 0)
            for part, each in zip(spec.unpack(buffers._all_obs), spec.unpack(first), strict=True):
                part[0] = each
        ids = np.flatnonzero(~over).astype(np.int32)
        obs, reward, terminated, truncated = buffers[t]
        if len(ids) < num_envs and t > 0:
            # they stay where their episodes ended; the row of one that failed is zero and does not show where this is
            for part, before in zip(spec.unpack(obs), spec.unpack(buffers[t - 1][0]), strict=True):
                part[over] = before[over]
            reward[over], terminated[over], truncated[over] = 0, False, False
            for key in ("env_id", "elapsed_step", *spec.info):
                info[key][t, over] = info[key][t - 1, over]
            just_failed = [i for i, step in steps.items() if step == t - 1]
            if just_failed:
                seen, *_, now = _shown(env)
                for part, each in zip(spec.unpack(obs), spec.unpack(seen), strict=True):
                    part[just_failed] = each[just_failed]
                for key in spec.info:
                    info[key][t, just_failed] = now[key][just_failed]
        if len(ids) == 0:
            continue
        actions = rows[t * num_envs:(t + 1) * num_envs]
        if policy is not None:
            mask = None if not has_mask else own["action_mask"] if t == 0 else info["action_mask"][t - 1]
            seen = buffers._rows(t)
            if normal is not None:
                seen = normal[3] if t == 0 else normalized(seen, *normal[1:3])
            actions[ids] = _choice(env, policy, seen, mask, read, ids)[ids]
            for output in outputs.values():
                output[t, over] = 0
        try:
            if end is None:
                batch = env._pool.step(actions[ids], ids)
            else:
                env._pool.send(actions[ids], ids)
                batch = env._pool.recv(max(end - time.monotonic(), 0))
        except EnvError as error:
            batch = error.batch
            for i, cause in error.causes.items():
                causes.setdefault(i, cause)
                steps.setdefault(i, t)
        except TimeoutError as error:
            raise TimeoutError(f"rollout: did not finish within {timeout} s; in step {t}, {error}") from error
        for target, source in zip((*spec.unpack(obs), reward, terminated, truncated),
                                  (*spec.unpack(batch[0]), *batch[1:4]), strict=True):
            target[ids] = source
        valid[t, ids] = env._pool.stepped()
        _add_info(info, batch[4], t, ids, (num_steps, num_envs), spec)
        if env.stays_at_end:
            over |= terminated | truncated
    # not before the steps, of which there may be more than there is time for
    observed = np.union1d(np.arange(every - 1, num_steps, every), num_steps - 1)
    for key in info.keys() & spec.info.keys():
        info[key] = info[key][observed]
    masks = np.concatenate([own["action_mask"][None], info["action_mask"]]) if "action_mask" in spec.info else None
    if "final_obs" in info:
        info["final_obs"] = spec.pack(list(info["final_obs"].values()))
    if len(observed) < num_steps:
        info.pop("final_obs", None), info.pop("final_info", None)
        buffers._all_obs = buffers._rows(np.append(0, observed + 1))
    buffers.set_choices(None if policy is None else _chosen(env, rows, num_steps), outputs)
    buffers._stepped = valid
    buffers.set_info(lambda: info, masks)
    if causes:
        failed = EnvError(causes, buffers, steps)
        raise failed from causes[failed.env_id]
    return buffers


def _shown(env: RolloutEnv) -> Any:
    """Returns a batch with the current state of all environments."""
    env._pool.send_reset(np.zeros(0, np.int32), True)
    return env._pool.recv()


def _choice(env: RolloutEnv, policy: Callable[..., Any], obs: Any, mask: Any, read: Callable[..., NDArray[Any]],
            ids: EnvIds) -> NDArray[Any]:
    """Returns the actions of a Python policy in the engine's format; only those of `ids` count."""
    chosen = env._pool.call_user(policy if mask is None else lambda seen: policy(seen, mask), obs)
    num_envs, acting = env._pool.num_envs, None
    if env.env_spec.has_absent_agents:
        acting = np.zeros((num_envs, env.env_spec.num_agents), np.bool_)
        acting[ids] = env._pool.acting(ids)
    try:
        rows = read(chosen) if acting is None else read(chosen, acting)
        if len(rows) != num_envs:
            raise ValueError(f"actions: expected {num_envs} rows, got {len(rows)}")
    except (TypeError, ValueError) as error:
        raise type(error)(f"policy: {error}") from error
    return rows


def _add_info(info: dict[str, Any], batch: dict[str, Any], t: int, ids: EnvIds, shape: tuple[int, int],
              spec: EnvSpec) -> None:
    """Copies the arrays of a step's infos to the rollout. Other infos are dropped."""
    def write(target: dict[str, Any], key: str, values: NDArray[Any]) -> None:
        if key not in target:
            target[key] = np.zeros((*shape, *values.shape[1:]), values.dtype)
        target[key][t, ids] = values

    def write_all(target: dict[str, Any], values: dict[str, Any]) -> None:
        for name, each in values.items():
            if isinstance(each, dict):
                write_all(target.setdefault(name, {}), each)
            else:
                write(target, name, each)

    for key, values in batch.items():
        if key == "final":
            for k, part in enumerate(spec.unpack(values[0])):
                write(info.setdefault("final_obs", {}), str(k), part)
            for name, each in values[1].items():
                write(info.setdefault("final_info", {}), name, each)
        elif isinstance(values, dict):
            write_all(info.setdefault(key, {}), values)
        elif isinstance(values, np.ndarray):
            write(info, key, values)
