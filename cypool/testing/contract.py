"""`cypool.testing.check_env`: does an environment follow the contract that users and the engine rely on?"""
from __future__ import annotations

import copy
import itertools
import math
import pickle
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

import cypool
from cypool.errors import EnvError, RowError
from cypool.registration.registry import entry_of, is_task, make_spec, resolve
from cypool.state import State
from cypool.util.arguments import check_bool, check_int, shown

if TYPE_CHECKING:
    from cypool.env import Env
    from cypool.spec import EnvSpec
    from cypool.testing.faults import Faulty
    from cypool.util.typing import Seed

THREADS = (1, 2, 5)
MODES = ("NextStep", "SameStep", "Disabled")
MOMENTS = 6  # at which environments are copied
# seconds that one step may take, at most: some, and more where steps take long
LEAST_PATIENCE, MOST_PATIENCE = 2, 60


class ContractError(AssertionError):
    """An environment breaks the contract; the message describes the first violation."""


@dataclass(frozen=True)
class Contract:
    """The checks that `check_env` passed.

    Attributes:
        id: The environment.
        options: Its options.
        num_envs, num_steps: Size of each run.
        num_episodes: Number of episodes that ended in one of the runs.
        passed: The checks that passed.
        skipped: Checks that could not run, and why.
    """

    id: str
    options: dict[str, Any]
    num_envs: int
    num_steps: int
    num_episodes: int
    passed: tuple[Any, ...]
    skipped: tuple[Any, ...]

    def __str__(self) -> str:
        options = "".join(f", {name}={value!r}" for name, value in self.options.items())
        lines = [f"{self.id}{options} follows the contract, in runs of {self.num_envs} envs x {self.num_steps} steps "
                 f"({self.num_episodes} episodes):"]
        lines += [f"  passed: {each}" for each in self.passed]
        lines += [f"  skipped: {each}" for each in self.skipped]
        return "\n".join(lines)


def check_env(id: Any, *, num_envs: int = 3, num_steps: int = 100, seed: Seed = 0, without_gil: bool = True,
              report: Callable[[str], object] | None = None, **options: Any) -> Contract:
    """Checks, with random legal actions, that an environment keeps the promises cypool makes for all environments.

    * It writes its whole row and nothing else (`cypool.make(debug=True)`).
    * Observations are in their spaces, and those declared as stacks are stacks; rewards are finite.
    * The same seed and actions give bit-identical results with any number of threads, in synchronous and asynchronous
      pools, and after a reset with that seed.
    * `save` is complete: `load` restores the state in this pool, in another one, and after pickling. `load` rejects
      missing values, extra values and wrong types; it is up to the environment to check ranges.
    * `copy` has the same result as `save` and `load`.
    * All autoreset modes give the same episodes.
    * A failing step only affects its own row.
    * Steps and resets run without the GIL.
    * Its module calls `import_cypool()`.

    A task in Python has no compiled code and no asynchronous pools. Instead of the checks for these, a pool of one
    environment must give the same bytes as the first row of a larger pool.

    Args:
        id: A registered id; or a subclass of `cypool.mujoco.Task`, or an instance of one.
        num_envs: Environments in the batch, at least 2.
        num_steps: Steps of each run.
        seed: Random seed for the environments and the actions.
        without_gil: Whether the environment claims to run without the GIL, as compiled ones do.
        report: Called with the name of each check as soon as it has passed.
        **options: Options of the environment, and `max_episode_steps`; by default a fifth of `num_steps`, or the id's
            own limit if that is lower, so that episodes end.

    Returns:
        A `Contract`, which can be printed.

    Raises:
        ContractError: The environment breaks a promise; the message names the promise and the first violation.
        EnvError: The environment raised an exception.
        ValueError, TypeError, ImportError: As in `cypool.make` and `cypool.make_spec`; or the id stands for several
            environments.
    """
    if not is_task(id) and entry_of(id).expand is not None:
        raise ValueError(f"id: expected the id of a single environment, got {shown(id)}, which expands to several")
    num_envs = check_int("num_envs", num_envs, 2, 2**20)
    num_steps = check_int("num_steps", num_steps, 10, 2**31 - 1)
    seed = check_int("seed", seed, 0, 2**31 - 1 - num_envs)
    without_gil = check_bool("without_gil", without_gil)
    if report is not None and not callable(report):
        raise TypeError(f"report: expected a function or None, got {shown(report)}")
    return _Check(id, num_envs, num_steps, seed, report, options).go(without_gil)


@dataclass
class _Event:
    """The output of one environment at a time: the start of an episode, or a step of one."""

    values: dict[str, Any]  # name -> array, or number
    ended: bool

    def difference(self, other: _Event) -> str | None:
        """The first name whose value differs, or None."""
        for name, value in self.values.items():
            if name not in other.values or np.asarray(value).tobytes() != np.asarray(other.values[name]).tobytes():
                return name
        return None


# by environment
Events = list[list[_Event]]


class _Check:
    def __init__(self, id: Any, num_envs: int, num_steps: int, seed: int, report: Callable[[str], object] | None,
                 options: dict[str, Any]):
        self.report = report
        self.source, self.num_envs, self.num_steps, self.seed = id, num_envs, num_steps, seed
        own = {name: value for name, value in options.items() if name != "max_episode_steps"}
        self.is_task, limit = is_task(id), options.get("max_episode_steps")
        self.cls: Any
        self.cls, spec = (type(id), make_spec(id, **options)) if self.is_task else resolve(id, limit, own)
        self.id = spec.id
        self.options = options
        if "max_episode_steps" not in options:
            limit = max(num_steps // 5, 2)
            self.options = {**options, "max_episode_steps": min(limit, spec.max_episode_steps or limit)}
        self.slowest = 0.0  # step or reset of all, in seconds
        self.passed: list[str] = []
        self.skipped: list[str] = []
        self.all_ids = np.arange(num_envs, dtype=np.int32)
        with self.make() as env:
            self.spec = env.env_spec
            env.action_space.seed(seed)
            samples = [env.action_space.sample() for _ in range(num_steps)]
        # by step and environment
        if isinstance(self.spec.action, Mapping):
            self.actions: Any = {name: np.array([each[name] for each in samples]) for name in self.spec.action}
        else:
            self.actions = np.array(samples)

    def make(self, **arguments: Any) -> Any:
        return cypool.make(self.source, **{"num_envs": self.num_envs, "seed": self.seed, "num_threads": 0, **arguments,
                                       **self.options})

    def actions_of(self, env: Any, steps: Any, ids: Any) -> Any:
        """Returns a batch of actions for a pool: those of some steps, of some environments."""
        if self.spec.illegal is not None:
            # each depends on nothing but the position, these numbers and the seed
            return np.concatenate([
                env._pool.sample_legal(np.random.PCG64([self.seed, step, env_id]), np.array([env_id], np.int32))
                for step, env_id in zip(np.broadcast_to(steps, ids.shape).tolist(), ids.tolist(), strict=True)])
        if isinstance(self.actions, dict):
            return {name: part[steps, ids] for name, part in self.actions.items()}
        return self.actions[steps, ids]

    def go(self, without_gil: bool) -> Contract:
        if not self.is_task:
            # before it can do harm
            self.look_at_module()
            self.watch_rows()
        with self.make() as env:
            events = self.play(env)
            self.look_at_spaces(events)
            self.look_at_stacks(events)
            again = self.play(env, seed=self.seed)
        self.hold("observations are in their spaces, and rewards are finite")
        self.compare(events, again, "after reset(seed) of the same pool")
        for count in THREADS:
            with self.make(num_threads=count) as env:
                self.compare(events, self.play(env), f"with {count} threads")
        for count in () if self.is_task else (0, *THREADS):
            with self.make(num_threads=count, batch_size=self.num_envs // 2) as env:
                self.compare(events, self.play_asynchronously(env), f"in an asynchronous pool with {count} threads")
        pools = "" if self.is_task else ", in synchronous and asynchronous pools"
        self.hold("the same seeds and actions give the same bytes with 0, 1, 2 and 5 threads"
                  f"{pools}, and after reset(seed)")
        if self.is_task:
            self.play_alone(events)
        if self.save_and_load():
            self.copy()
        for mode in MODES[1:]:
            with self.make(autoreset_mode=mode) as env:
                self.compare(events, self.play(env), f"in autoreset mode {mode}")
        self.hold("all autoreset modes give the same episodes")
        if not self.is_task:
            self.fail(events)
        if without_gil and not self.is_task:
            self.hold_the_gil()
        else:
            self.skipped.append("runs without the GIL: not declared")
        episodes = sum(event.ended for each in events for event in each)
        return Contract(self.id, self.options, self.num_envs, self.num_steps, episodes, tuple(self.passed),
                        tuple(self.skipped))

    def play(self, env: Any, seed: int | None = None, num_steps: int | None = None) -> Events:
        """Plays `num_steps` steps; returns the events of each environment.

        An environment takes its own k-th action in its own k-th step, so that runs compare in which resets take
        steps and in which they do not.
        """
        events: Events = [[] for _ in range(self.num_envs)]
        taken = np.zeros(self.num_envs, np.int64)
        mode = env.metadata["autoreset_mode"].value
        obs, info = self.timed(env.reset, seed=seed)
        for i in range(self.num_envs):
            events[i].append(self.event(obs, info, i))
        starting = np.zeros(self.num_envs, np.bool_)
        for _ in range(num_steps or self.num_steps):
            obs, reward, terminated, truncated, info = self.timed(
                env.step, self.actions_of(env, taken, self.all_ids))
            ended = terminated | truncated
            for i in range(self.num_envs):
                flags = (reward[i], terminated[i], truncated[i])
                if starting[i]:
                    self.expect_nothing(i, *flags)
                    events[i].append(self.event(obs, info, i))
                elif ended[i] and mode == "SameStep":
                    final = {name: values[i] for name, values in info["final_info"].items() if name[0] != "_"}
                    events[i].append(self.event_of(self.spec.unpack(info["final_obs"][i]), final, *flags))
                    events[i].append(self.event(obs, info, i))
                else:
                    events[i].append(self.event(obs, info, i, *flags))
            taken += ~starting
            taken %= self.num_steps
            starting = ended if mode == "NextStep" else np.zeros(self.num_envs, np.bool_)
            if mode == "Disabled" and ended.any():
                obs, info = env.reset(options={"reset_mask": ended})
                for i in np.flatnonzero(ended).tolist():
                    events[i].append(self.event(obs, info, i))
        return events

    def play_alone(self, events: Events) -> None:
        """Checks that the first environment does the same without others."""
        alone = copy.copy(self)
        alone.num_envs, alone.all_ids = 1, self.all_ids[:1]
        with alone.make() as env:
            self.compare(events[:1], alone.play(env), "in a pool of one environment", f"next to {self.num_envs - 1}")
        self.hold("environments do not depend on each other")

    def timed(self, call: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        began = time.monotonic()
        result = call(*args, **kwargs)
        self.slowest = max(self.slowest, time.monotonic() - began)
        return result

    def play_asynchronously(self, env: Any) -> Events:
        events: Events = [[] for _ in range(self.num_envs)]
        taken = np.zeros(self.num_envs, np.int64)
        starting = np.ones(self.num_envs, np.bool_)
        env.async_reset()
        for _ in range(self.num_steps):
            obs, reward, terminated, truncated, info = env.recv()
            ids = info["env_id"]
            for row, i in enumerate(ids):
                flags = () if starting[i] else (reward[row], terminated[row], truncated[row])
                events[i].append(self.event(obs, info, row, *flags))
                taken[i] += not starting[i]
                starting[i] = terminated[row] or truncated[row]
            env.send(self.actions_of(env, taken[ids] % self.num_steps, ids), ids)
        return events

    def event(self, obs: Any, info: dict[str, Any], row: int, *flags: Any) -> _Event:
        parts = [part[row] for part in self.spec.unpack(obs)]
        return self.event_of(parts, {name: info[name][row] for name in (*self.spec.info, "elapsed_step")}, *flags)

    def event_of(self, parts: Sequence[Any], info: Mapping[str, Any], reward: float = 0.0, terminated: bool = False,
                 truncated: bool = False) -> _Event:
        values: dict[str, Any] = {"observation" if name is None else f"observation {name}": np.array(part)
                  for (name, _), part in zip(self.spec.observations, parts, strict=True)}
        values.update({f"info {name}": np.array(value) for name, value in info.items()})
        values.update(reward=float(reward), terminated=bool(terminated), truncated=bool(truncated))
        return _Event(values, bool(terminated or truncated))

    def expect_nothing(self, i: int, reward: Any, terminated: Any, truncated: Any) -> None:
        if reward != 0 or terminated or truncated:
            self.complain(f"env {i}: the step that starts an episode has reward {reward}, terminated {terminated}, "
                          f"truncated {truncated}, expected 0, False, False")

    def compare(self, expected: Events, got: Events, where: str,
                otherwise: str = "in a synchronous pool without threads") -> None:
        for i, (first, second) in enumerate(zip(expected, got, strict=True)):
            for at, (a, b) in enumerate(zip(first, second, strict=False)):
                name = a.difference(b)
                if name is not None:
                    self.complain(f"env {i}, event {at}: {name} is {b.values.get(name)!r} {where}, but was "
                                  f"{a.values[name]!r} {otherwise}")

    def look_at_spaces(self, events: Events) -> None:
        for i, each in enumerate(events):
            for at, event in enumerate(each):
                for name, part in self.spec.observations:
                    key = "observation" if name is None else f"observation {name}"
                    value = event.values[key]
                    low, high = (0, part.n - 1) if isinstance(part, cypool.spec.Discrete) else (part.low, part.high)
                    if not ((value >= low) & (value <= high)).all():
                        self.complain(f"env {i}, event {at}: {key} {value} is not in {part}")
                if not np.isfinite(event.values["reward"]):
                    self.complain(f"env {i}, event {at}: the reward is {event.values['reward']}")

    def look_at_stacks(self, events: Events) -> None:
        """Checks that a step drops the oldest frame of each stack and adds one."""
        stacks = [("observation" if name is None else f"observation {name}", part.shape, part.stack)
                  for name, part in self.spec.observations if isinstance(part, cypool.spec.Array) and part.stack]
        for i, each in enumerate(events):
            for at, (before, event) in enumerate(itertools.pairwise(each), 1):
                # a reset may write any frames
                if event.values["info elapsed_step"] == 0 or self.spec.has_absent_agents:
                    continue
                for key, shape, (axis, count) in stacks:
                    old, new = (one.values[key].reshape(math.prod(shape[:axis]), count, -1) for one in (before, event))
                    if old[:, 1:].tobytes() != new[:, :-1].tobytes():
                        self.complain(f"env {i}, event {at}: {key} is declared as a stack of {count} frames, but does "
                                      "not begin with the last frames of the previous observation")

    def look_at_module(self) -> None:
        """Checks that the module of a plug-in compares its ABI with the running one."""
        module = self.cls.__module__
        if module.split(".")[0] != "cypool" and not hasattr(sys.modules[module], "_cypool_abi"):
            self.complain(f"expected the module {module} to check which version of cypool it was built for: "
                          "call import_cypool() in it, or rebuild it")

    def watch_rows(self) -> None:
        try:
            with self.make(debug=True) as env:
                self.play(env, num_steps=min(self.num_steps, 30))
        except EnvError as error:
            if not isinstance(error.__cause__, RowError):
                raise
            self.complain(str(error), error)
        self.hold("an environment writes its whole row and nothing else")

    def save_and_load(self) -> bool:
        """Returns whether it has `save` and `load`."""
        half = self.num_steps // 2
        with self.make() as env, self.make(seed=self.seed + 1) as other:
            self.play(env, num_steps=half)
            try:
                state = env.save()
            except NotImplementedError:
                self.skipped.append("save and load: not implemented")
                return False
            rest = self.go_on(env)
            for where, pool, loaded in (
                    ("after load into the same pool", env, state),
                    ("after load into another pool", other, state),
                    ("after loading a pickled state", env, pickle.loads(pickle.dumps(state)))):
                pool.reset()
                obs, info = pool.load(loaded)
                self.compare(rest, self.go_on(pool), where)
            # as plain values
            row = pickle.loads(pickle.dumps(state)).rows[0]
            for what, own in _damaged(row["own"]):
                try:
                    env.load(State([0], [{**row, "own": own}]))
                except Exception:
                    continue
                # bytes may be of any length, such as a list of actions
                if what.endswith("longer") and env.save().rows[0]["own"] == own:
                    continue
                self.complain(f"load accepted a state {what}, instead of raising an exception as check_state does")
        self.hold("save and load: the following steps give the same bytes")
        return True

    def copy(self) -> None:
        """Checks that copies of the first and the last environment are in the same state, and continue equally."""
        half = self.num_steps // 2
        with self.make() as env, self.make(seed=self.seed + 1) as other:
            other.reset()
            for moment in range(MOMENTS):
                source = moment % 2 * (self.num_envs - 1)
                targets = [i for i in range(self.num_envs) if i != source]
                # the first moment is inside of any episode of several steps
                self.play(env, num_steps=1 + half * moment // MOMENTS)
                # they have to differ in all that a copy takes over, also in where they are in their episodes: either
                # the targets begin one, or the source
                env.reset(options={"reset_mask": (self.all_ids == source) == (moment % 3 == 2)})
                state = env.save()
                try:
                    env.copy(source, targets)
                except NotImplementedError:
                    self.skipped.append("copy: not implemented")
                    return
                own, *copies = (_values(row["own"]) for row in env.save([source, *targets]).rows)
                for i, copied in zip(targets, copies, strict=True):
                    for key in own | copied:
                        if repr(got := copied.get(key)) != repr(expected := own.get(key)):
                            self.complain(f"env {i}: value {key!r} of its state is {shown(got)} after copy from env "
                                          f"{source}, whose value is {shown(expected)}")
                other.load(state[[source] * self.num_envs], range(self.num_envs))
                self.compare(self.go_on(other), self.go_on(env), f"after copy from env {source}",
                             "after loading the state that it was copied from")
        self.hold("copies continue like their originals")

    def go_on(self, env: Any) -> Events:
        events: Events = [[] for _ in range(self.num_envs)]
        for t in range(self.num_steps // 2, self.num_steps):
            obs, reward, terminated, truncated, info = env.step(self.actions_of(env, t, self.all_ids))
            for i in range(self.num_envs):
                events[i].append(self.event(obs, info, i, reward[i], terminated[i], truncated[i]))
        return events

    def fail(self, undisturbed: Events) -> None:
        """Makes a step of the last environment fail."""
        from cypool.api.gymnasium import GymnasiumPool
        from cypool.making.assembly import make_pool
        from cypool.testing.faults import Faulty

        bad, at = self.num_envs - 1, 3

        def wrap(spec: EnvSpec, i: int, env: Env) -> Faulty:
            return Faulty(spec, i, env, at if i == bad else 0)

        options = dict(self.options)
        limit = options.pop("max_episode_steps")
        for count in (0, *THREADS):
            # never by truncation before the failure
            pool, spec, _ = make_pool(self.id, num_envs=self.num_envs, num_threads=count, seed=self.seed,
                                      max_episode_steps=limit, autoreset="next_step", options=options, wrap=wrap)
            with GymnasiumPool(pool, spec, "NextStep") as env:
                failures: list[EnvError] = []
                events = self.play(_Catching(env, failures))
            if len(failures) != 1 or failures[0].causes.keys() != {bad}:
                self.complain(f"expected one failure of env {bad} with {count} threads, got {failures}")
            self.compare(undisturbed[:bad], events[:bad], f"next to an env whose step failed, with {count} threads")
            self.look_at_spaces([[event for event in events[bad] if not event.ended]])
        self.hold("a failing step affects only its own row")

    def hold_the_gil(self) -> None:
        patience = min(LEAST_PATIENCE + 10 * self.slowest, MOST_PATIENCE)
        with self.make(num_threads=1, batch_size=1) as env:
            # the thread needs the GIL to begin
            env.async_reset()
            for _ in range(self.num_envs):
                env.recv()
            interval = sys.getswitchinterval()
            try:
                # another thread gets the GIL only while this one waits
                sys.setswitchinterval(1e6)
                for t in range(self.num_steps):
                    # one step in flight: with more, `recv` could let go of the GIL for a step that asks for it
                    env_id = np.array([t % self.num_envs], np.int32)
                    env.send(self.actions_of(env, t, env_id), env_id)
                    if not env._pool.await_holding_gil(patience):
                        self.complain(f"a step or reset acquired the GIL, or took longer than {patience:.1f} s")
                    env.recv()
            finally:
                sys.setswitchinterval(interval)
        self.hold("steps and resets run without the GIL")

    def hold(self, what: str) -> None:
        self.passed.append(what)
        if self.report is not None:
            self.report(what)

    def complain(self, what: str, cause: BaseException | None = None) -> NoReturn:
        raise ContractError(f"{self.id}: {what}") from cause


def _values(own: Any) -> dict[Any, Any]:
    """Returns the values of a state by key or index."""
    return own if isinstance(own, dict) else dict(enumerate(own if isinstance(own, tuple | list) else [own]))


def _damaged(own: Any) -> Iterator[tuple[str, Any]]:
    """Yields damaged states, each with a text that names the damage."""
    yield "that is None", None
    if isinstance(own, dict):
        for key in own:
            yield f"without {key!r}", {name: value for name, value in own.items() if name != key}
            yield f"with {key!r} of a different kind", {**own, key: _other(own[key])}
    elif isinstance(own, (tuple, list)):
        if own:
            yield "without its last value", own[:-1]
        yield "with an extra value", type(own)([*own, 0])
        for k in range(len(own)):
            yield f"with value {k} of a different kind", type(own)([*own[:k], _other(own[k]), *own[k + 1:]])
            if isinstance(own[k], bytes):
                # longer ones, which cannot be read beyond their end
                yield f"with value {k} one byte longer", type(own)([*own[:k], own[k] + b"\0", *own[k + 1:]])
    elif isinstance(own, bytes):
        yield "one byte longer", own + b"\0"


def _other(value: Any) -> Any:
    """Returns a value of a different kind, not None, which many accept."""
    return 0.5 if isinstance(value, str) else "?"


class _Catching:
    """An environment whose failures are kept instead of raised."""

    def __init__(self, env: Any, failures: list[EnvError]):
        self._env, self._failures = env, failures
        self.metadata, self._pool = env.metadata, env._pool

    def reset(self, **arguments: Any) -> Any:
        return self._env.reset(**arguments)

    def step(self, actions: Any) -> Any:
        try:
            return self._env.step(actions)
        except EnvError as error:
            self._failures.append(error)
            return error.batch
