"""The common base of all APIs, which check arguments and format the engine's batches."""
from __future__ import annotations

import re
from collections.abc import Callable
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, Self, overload

import numpy as np
from numpy.typing import NDArray

from cypool.arguments.action_readers import reader_of
from cypool.arguments.env_ids import ids_of
from cypool.errors import EnvError
from cypool.features.conversions import JaxFunctions, convert
from cypool.features.frames import FrameBuffers
from cypool.features.goals import of_goals
from cypool.features.rollouts import RolloutBuffers, SearchResult, reader_of_rollouts, rollout, search
from cypool.spec import FrozenDict, copied
from cypool.state import State
from cypool.util.arguments import check_float, check_int, seeds_of, shown
from cypool.util.fixed import fixed

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from cypool.engine.engine import Pool
    from cypool.spec import EnvSpec
    from cypool.util.typing import Batch, Bools, EnvIds, Floats, Seed

# arguments of `make` that a state does not depend on, but the steps that follow do
OF_A_RUN = ("env_type", "autoreset_mode", "max_episode_steps", "normalize_obs", "normalize_reward")


class VectorAPI:
    """One API over the engine's pool. A subclass formats batches in `_format_batch`.

    It is synchronous if `batch_size` equals `num_envs`: row i belongs to environment i. It is asynchronous if
    `batch_size` is less: `recv` and `step` return the first `batch_size` environments to finish, and `env_id`
    identifies them.

    Args:
        pool: The engine's pool. The API owns it.
        spec: The spec of the environments.

    Attributes:
        num_envs: Number of environments.
        batch_size: Number of rows of a batch.
        is_async: Whether `batch_size` is less than `num_envs`.
        num_threads: Threads that step environments; the caller of a synchronous pool is one of them.
        all_env_ids: int32, (num_envs,), read-only: 0, 1, 2, ...
        closed: Whether `close` was called.

    Thread safety: one thread at a time.
    """

    # the argument of `make`, and the engine's word for it
    autoreset_modes = MappingProxyType({"NextStep": "next_step"})
    has_statistics = True
    # whether `reset` takes `options={"reset_mask": mask}` as Gymnasium has it, and returns (observation, info)
    has_reset_mask = False
    # whether an environment whose episode has ended waits for a reset
    stays_at_end = False
    closed = False
    # whether a rollout from Python has left a step in flight
    ended_early = False
    _last: Any = None
    _recipe: dict[str, Any]
    num_envs: int = fixed()
    batch_size: int = fixed()
    is_async: bool = fixed()
    all_env_ids: EnvIds = fixed()
    # makes a pool of a recipe; set, as the recipe is, by the code that makes the API
    _make_again: Callable[[dict[str, Any]], Any]

    def __init__(self, pool: Pool, spec: EnvSpec):
        self._pool = pool
        self._read: Any = reader_of(spec, pool.num_envs)
        self._read_rollout = reader_of_rollouts(spec, pool.num_envs)
        self._has_absent_agents = spec.has_absent_agents
        # of the engine's batches, which an API may change
        self._env_spec = self._batch_spec = spec
        self.num_envs = pool.num_envs
        self.batch_size = pool.batch_size
        self.is_async = pool.is_async
        self.num_threads = pool.num_threads
        self.all_env_ids = np.arange(pool.num_envs, dtype=np.int32)
        self.all_env_ids.flags.writeable = False
        # of random streams; the maker of the API fills in those that it has drawn
        self._seeds = [-1] * pool.num_envs
        # whether the engine makes many steps without a return to Python
        self.engine_rollouts = pool.hooks is None and not pool.is_hosted

    @property
    def recipe(self) -> dict[str, Any]:
        """A copy of the `cypool.make` arguments that create such a pool; pickle and deepcopy use them."""
        return FrozenDict(copied(self._recipe))

    @property
    def env_spec(self) -> EnvSpec:
        """The `cypool.spec.EnvSpec` of the environments as this pool presents them."""
        return self._env_spec

    @property
    def stepped_by(self) -> str | None:
        """How MuJoCo's robots are stepped: "lanes ...", or "mj_step: " and the reason; None for other environments."""
        return getattr(self._pool.environments()[0], "stepped_by", None)

    @property
    def task(self) -> Any:
        """The `cypool.mujoco.Task` that steps the environments, or None. You may change its attributes."""
        return getattr(self._pool.environments()[0], "task", None)

    def _format_batch(self, batch: Batch) -> Any:
        """Returns the engine's batch (observation, reward, terminated, truncated, info) in the format of this API."""
        raise NotImplementedError

    def _empty_batch(self) -> Batch:
        """Returns an empty batch of the engine."""
        def none(description: Any) -> NDArray[Any]:
            return np.zeros((0, *description.shape), description.dtype)

        spec, ids = self.env_spec, np.zeros(0, np.int32)
        obs = [none(part) for _, part in spec.observations]
        info: dict[str, Any] = {"env_id": ids, "elapsed_step": ids.copy(),
                                **{key: none(part) for key, part in spec.info.items()}}
        if spec.agents:
            info["agents"] = {name: {key: none(part) for key, part in columns.items()}
                              for name, columns in spec.agent_columns.items()}
        flags = np.zeros(0, np.bool_)
        return spec.pack(obs), np.zeros(0), flags, flags.copy(), info

    def _received(self, call: Callable[..., Batch], *args: Any) -> Any:
        """Returns the formatted batch from `call(*args)` of the engine; also formats the batch of an EnvError."""
        try:
            batch = call(*args)
        except EnvError as error:
            error.batch = self._format_batch(error.batch)
            raise
        except ValueError as error:
            self._explain(error)
            raise
        return self._format_batch(batch)

    def _explain(self, error: ValueError) -> None:
        """Adds the expected actions to the message about a wrong number of them."""
        if found := re.fullmatch(r"actions: expected \d+ rows, got (\d+)", str(error)):
            if self.is_async:
                error.args = (f"{error}: in an asynchronous pool, pass one for each id in env_id or, by default, for "
                              "each environment in the last received batch (at most batch_size)",)
            elif found[1] == "1":
                error.args = (f"{error}: pass one for each environment, even if all are the same",)

    def _start(self, ids: EnvIds | None, seed: Seed, mask: Bools | None = None,
               options: Any = None) -> None:
        """Checks everything, then seeds, then sends resets."""
        self._drop_early_end()
        masked = None if mask is None else np.flatnonzero(mask).astype(np.int32)
        max_seed = self.env_spec.max_seed
        if ids is None:
            seeded = list(range(self.num_envs))
            seeds = seeds_of(seed, self.num_envs, max_seed)
            if seeds is not None and masked is not None:
                seeded, seeds = masked.tolist(), [seeds[i] for i in masked]
        else:
            # a copy: the caller may change it between both checks
            ids = ids.copy()
            seeded = ids.tolist()
            seeds = seeds_of(seed, len(seeded), max_seed)
            if seeds is not None and not np.iterable(seed):
                seeds = seeds_of([seed + i for i in seeded], len(seeded), max_seed)
        pairs = [] if seeds is None else [(i, s) for i, s in zip(seeded, seeds, strict=True) if s is not None]
        self._pool.send_reset(masked if ids is None else ids, mask is not None, pairs, options, ids is None)
        for i, s in pairs:
            self._seeds[i] = s

    def _start_instead(self, actions: Any, env_id: ArrayLike | None) -> bool:
        """Resets environments instead of stepping them if none was ever reset; returns whether it did."""
        if not self._pool.num_unstarted:
            return False
        ids = ids_of(env_id)
        named = range(self.num_envs) if ids is None else ids.tolist()
        if not self._pool.unstarted().issuperset(named):
            return False
        if len(self._read(actions)) != len(named):
            raise ValueError(f"actions: expected {len(named)} rows, got shape {np.shape(actions)}")
        self._start(ids, None)
        return True

    def _drop_early_end(self) -> None:
        """Waits for a step left in flight by a rollout, and discards it."""
        if self.ended_early:
            self._pool.discard()
            self.ended_early = False

    def reset(self, env_id: ArrayLike | None = None, *, seed: Seed = None) -> Any:
        """Starts new episodes and waits for a batch: `async_reset`, then `recv`.

        Raises:
            TypeError, ValueError: Wrong ids or seeds.
            RuntimeError: With `env_id`, other environments are in flight, and their results would be returned instead.
        """
        ids = ids_of(env_id)
        self._check_reset(ids)
        self._start(ids, seed)
        return self._received(self._pool.recv)

    def _check_reset(self, ids: EnvIds | None) -> None:
        """Raises a RuntimeError if the batch after a reset could contain other environments."""
        self._drop_early_end()
        if ids is not None and self._pool.num_pending:
            raise RuntimeError(f"reset: expected no environments in flight, got {self._pool.num_pending}, which the "
                               "next batch could contain: call async_reset(env_id), then recv()")

    def async_reset(self, env_id: ArrayLike | None = None, *, seed: Seed = None) -> None:
        """Starts new episodes without waiting; `recv` returns the observations.

        Args:
            env_id: Integers, shape (k,): the environments to reset; by default all, which discards results in flight.
            seed: An int: environment i gets `seed + i`; or a sequence with one int (or None) for each environment (of
                `env_id`, if given). With None, the random streams continue.
        """
        self._start(ids_of(env_id), seed)

    def step(self, actions: Any, env_id: ArrayLike | None = None) -> Any:
        """Steps environments and waits for a batch: `send`, then `recv`."""
        ids = ids_of(env_id)
        return self._received(self._pool.step, self._read_actions(actions, ids), ids)

    def _read_actions(self, actions: Any, ids: EnvIds | None) -> NDArray[Any]:
        """Returns actions in the engine's format; those of agents that do not act may be anything."""
        acting = (self._pool.acting(ids),) if self._has_absent_agents else ()
        rows: NDArray[Any] = self._read(actions, *acting)
        return rows

    def send(self, actions: Any, env_id: ArrayLike | None = None) -> None:
        """Sends actions to environments, without waiting.

        Args:
            actions: Shape (k, *action shape), one row for each id.
            env_id: Integers, shape (k,). By default, all environments; in an asynchronous pool, those of the last
                received batch.

        Raises:
            TypeError, ValueError: Wrong actions or ids; nothing was sent.
            RuntimeError: An environment is in flight, or was never reset; nothing was sent.
        """
        ids = ids_of(env_id)
        try:
            self._pool.send(self._read_actions(actions, ids), ids)
        except ValueError as error:
            self._explain(error)
            raise

    def recv(self, timeout: float | None = None) -> Any:
        """Waits for a batch.

        Args:
            timeout: Maximum seconds to wait; by default unlimited. Ctrl-C interrupts the wait.

        Returns:
            The result of `step`, with fewer rows than `batch_size` if fewer environments are pending.

        Raises:
            RuntimeError: Nothing is pending.
            TimeoutError: Not enough environments finished in time; call again.
            EnvError: An environment raised an exception.
        """
        return self._received(self._pool.recv, None if timeout is None else check_float("timeout", timeout, 0, 1e9))

    @overload
    def rollout_buffers(self, num_steps: int) -> RolloutBuffers: ...
    @overload
    def rollout_buffers(self, num_steps: int, frames: Literal["stacked"]) -> RolloutBuffers: ...
    @overload
    def rollout_buffers(self, num_steps: int, frames: Literal["once"]) -> FrameBuffers: ...

    def rollout_buffers(self, num_steps: int,
                        frames: Literal["stacked", "once"] = "stacked") -> RolloutBuffers | FrameBuffers:
        """Allocates memory for `num_steps` steps of all environments.

        Args:
            num_steps: T.
            frames: "stacked": `RolloutBuffers`, which `rollout(actions, out=buffers)` fills, or, with Gymnasium's API,
                `step(actions, out=buffers[t])` after you have written `obs[0]`. "once": `FrameBuffers`, only for
                observations, which store each frame of a stack once; you add the results of steps to them.

        Raises:
            TypeError, ValueError: `num_steps` is not a positive int, `frames` is neither of these, or the pool is
                asynchronous.
        """
        if frames not in ("stacked", "once"):
            raise ValueError(f"frames: expected 'stacked' or 'once', got {shown(frames)}")
        if self.is_async:
            raise ValueError("rollout_buffers: expected a synchronous pool, because the rows of an asynchronous pool "
                             "are unordered")
        num_steps = check_int("num_steps", num_steps, 1, 2**31 - 1)
        try:
            made = RolloutBuffers if frames == "stacked" else FrameBuffers
            return made(self.env_spec, num_steps, self.num_envs)
        except (MemoryError, ValueError) as error:
            raise ValueError(f"num_steps: expected a rollout that fits in memory, got {num_steps}: {error}") from error

    def rollout(self, actions: Any, out: RolloutBuffers | None = None, *, policy: Any = None,
                observe: int | Literal["all", "last"] = "all", timeout: float | None = None) -> RolloutBuffers:
        """Steps all environments T times. Each environment takes its steps on one thread without returning to Python.

        The result is the same as from T calls of `step`. In autoreset mode Disabled, an environment whose episode ends
        stays as it is: its later rows repeat the last observation, with reward 0, neither terminated nor truncated.
        Python environments and pools with Python hooks are stepped T times from Python.

        A policy chooses each action from the observation after the previous step, or after the reset before the
        rollout. A C policy runs on the threads. A Python function is called T times with the observation of all
        environments, and returns actions as for `step`. If only some actions are legal, its second argument is the info
        `action_mask`.

        Args:
            actions: Shape (T, num_envs, *action shape), with steps as the first axis; a dict of such arrays if actions
                are dicts. With a policy: T, an int.
            out: Buffers from `rollout_buffers(T)` or an earlier rollout, to fill and return.
            observe: The observations, and infos of the environment (those of `next_obs`), to keep: "all"; "last",
                those before step 0 and after the last step; or an int k, those before steps 0, k, 2 k, ..., and after
                the last step.
            policy: Chooses the actions: a C function, a `cypool.Policy` such as `cypool.MLP`, or a Python function; see
                docs/how_to/policies.md. It does not choose for an environment whose episode is over (Disabled).
            timeout: Maximum seconds to wait; by default unlimited.

        Returns:
            `RolloutBuffers` with T steps, and fewer observations if `observe` is given. `action[t]` was chosen from
            `obs[t]`; the observation after the last step is `last_obs`. In autoreset mode SameStep, if all observations
            are kept, `info["final_obs"]` and `info["final_info"]` hold the last observation and info of each episode,
            in the rows where `terminated` or `truncated` is True.

        Raises:
            TypeError, ValueError: Wrong arguments; nothing was stepped.
            RuntimeError: An environment is in flight, was never reset, or needs a reset.
            TimeoutError, KeyboardInterrupt: The rollout ended early, and environments have taken different numbers of
                steps: call `reset` or `load` next. Both wait until Python environments have finished their current
                step.
            EnvError: An environment failed, or the C policy failed or chose an action out of bounds. The row of that
                environment is zero and truncated, and its next step starts an episode. `batch` holds the rollout,
                `steps` the step in which each environment first failed.
        """
        # the batch that `state` is of
        self._last = None
        try:
            made = rollout(self, actions, out, observe, timeout, policy)
        except EnvError as error:
            self._keep(error.batch)
            raise
        self._keep(made)
        return made

    def _normal_for_policy(self) -> tuple[EnvSpec, Floats, Floats, NDArray[np.float32]] | None:
        """Returns the argument `normal` of `Pool.rollout`: what the policy sees instead of the observation."""
        return None

    def _of_rollout(self, made: RolloutBuffers, out: RolloutBuffers | None) -> RolloutBuffers:
        """Returns the engine's rollout in the format of this API: in `out`, if given."""
        return made

    def _keep(self, last: Batch | RolloutBuffers) -> None:
        """Keeps the last batch if `state` is available."""
        if self._env_spec.state is not None:
            self._last = last

    def search(self, state: State, actions: Any, *, timeout: float | None = None) -> SearchResult:
        """Tries K action sequences from one state, for planners.

        This changes the pool's environments: each stays where its last sequence led. A planner therefore needs its own
        pool, and gets states from the `save` method of the pool in which it acts. With fewer environments than
        sequences, the sequences are tried in several rounds.

        Args:
            state: A `State` of one environment with the same id and options as the pool's.
            actions: Shape (K, T, *action shape), with sequences as the first axis, unlike `rollout`; or a dict of such
                arrays.
            timeout: Maximum seconds for each round; by default unlimited.

        Returns:
            A `SearchResult` of K rows. A sequence ends when its episode ends.

        Raises:
            TypeError, ValueError: Wrong arguments, or the pool's autoreset mode is not Disabled.
            TimeoutError, KeyboardInterrupt, EnvError: As in `rollout`.
        """
        return search(self, state, actions, timeout)

    def save(self, env_id: ArrayLike | None = None) -> State:
        """Saves everything that the next steps of environments depend on, including random streams.

        Args:
            env_id: Integers, shape (k,): the environments; all by default.

        Returns:
            A `cypool.State`; `state.save(path)` writes it to a file, `cypool.load_state(path)` reads it.

        Raises:
            TypeError, ValueError: Wrong ids.
            RuntimeError: An environment is in flight, or was never reset.
            NotImplementedError: The environment does not implement `save`.
        """
        return State(*self._pool.save(ids_of(env_id)))

    def load(self, state: State, env_id: ArrayLike | None = None) -> Any:
        """Restores environments to a saved state: the same actions then have the same results, bit for bit.

        Args:
            state: A `State` of environments with the same id and options, from this pool or another one.
            env_id: Integers, shape (k,): the environment for each row; by default the one it came from.

        Returns:
            The result of `reset(env_id)`: the observations of these environments.

        Raises:
            TypeError, ValueError: Wrong ids or state. The engine's part of all rows is checked before anything changes;
                an environment that rejects its own part starts an episode with its next step.
            RuntimeError: An environment is in flight.
            NotImplementedError: The environment does not implement `load`.
        """
        return self._format_batch(self._load(state, env_id))

    def _load(self, state: State, env_id: ArrayLike | None) -> Batch:
        """Loads, and returns the observations as a batch of the engine."""
        if not isinstance(state, State):
            raise TypeError(f"state: expected a state returned by save(), got {shown(state)}")
        # it may have been unpickled, or edited
        rows, saved_ids = getattr(state, "rows", None), getattr(state, "env_id", None)
        if not isinstance(rows, (list, tuple)):
            raise TypeError(f"state: expected a list of rows, got {shown(rows)}")
        if env_id is None and saved_ids is None:
            raise ValueError("state: expected a state with env_id, got None")
        ids = ids_of(saved_ids if env_id is None else env_id)
        assert ids is not None
        if env_id is None and len(set(ids.tolist())) < len(ids):
            raise ValueError("state: expected rows from distinct environments, or an env_id for each row, got rows "
                             f"from {ids.tolist()}")
        if env_id is None and len(ids) and not 0 <= ids.min() <= ids.max() < self.num_envs:
            raise ValueError(f"state: expected rows from environments in [0, {self.num_envs}), or an env_id for each "
                             f"row, got rows from {shown(ids.tolist())}")
        self._drop_early_end()
        obs, info = self._pool.load(ids, list(rows))
        # a state says where a random stream is, not how it began
        for i in ids.tolist():
            self._seeds[i] = -1
        none = np.zeros(len(ids), np.bool_)
        return obs, np.zeros(len(ids)), none, none, info

    def _to_checkpoint(self) -> dict[str, Any]:
        """Returns everything that the pool needs to continue, as plain data and arrays."""
        # observers, which may be saved next, know of all that happened
        self._pool.catch_up()
        return {"recipe": {name: self._recipe.get(name) for name in OF_A_RUN}, "state": self.save().to_bytes(),
                "seeds": list(self._seeds)}

    def _from_checkpoint(self, saved: dict[str, Any]) -> Callable[[], Any]:
        """Returns a function that restores the result of `_to_checkpoint`, and returns the result of `load`.

        Checks everything first, except the environments' own part of their states.

        Raises:
            TypeError, ValueError: It is from a different pool.
        """
        state = State.from_bytes(saved["state"])
        seeds = [check_int("seeds", seed, -1, 2**256) for seed in saved["seeds"]]
        if len(state) != self.num_envs or len(seeds) != self.num_envs:
            raise ValueError(f"expected a pool with {len(state)} environments, got one with {self.num_envs}")
        for name in OF_A_RUN:
            if saved["recipe"][name] != self._recipe.get(name):
                raise ValueError(f"expected a pool with {name}={shown(saved['recipe'][name])}, got one with "
                                 f"{shown(self._recipe.get(name))}")
        self._drop_early_end()
        self._pool.check_states(ids_of(state.env_id), list(state.rows))

        def take() -> Any:
            loaded = self.load(state)
            self._seeds = seeds
            return loaded

        return take

    def copy(self, source: ArrayLike, target: ArrayLike) -> None:
        """Makes environments exact copies of others, like `load(save(source), target)` but without going through
        Python.

        The same actions then have the same results, bit for bit: random streams, step counts and episode statistics are
        copied, too. Data of the pool as a whole, such as normalization statistics, is unchanged.

        Args:
            source: An int, the source of all targets; or integers, shape (k,), one for each target, which may repeat.
            target: An int, or integers, shape (k,): the environments that become copies; each once, and not a source.

        Raises:
            TypeError, ValueError: Wrong ids, or the options of a target and its source differ; nothing has changed.
            RuntimeError: An environment is in flight, or a source was never reset; nothing has changed.
            NotImplementedError: The environment cannot be copied, as in Doom; nothing has changed.
            Exception: An environment's error; its next step starts an episode, and all others have been copied.
        """
        sources, targets = (ids_of(np.reshape(ids, 1) if np.ndim(ids) == 0 else ids, name)
                            for ids, name in ((source, "source"), (target, "target")))
        assert sources is not None and targets is not None
        self._copy(sources, targets)

    def _copy(self, sources: EnvIds, targets: EnvIds) -> None:
        """Copies; a subclass also copies the data that it keeps for each environment."""
        # a copy: the caller may change it between its two uses
        targets = targets.copy()
        self._pool.copy(sources, targets)
        for i in targets.tolist():
            self._seeds[i] = -1

    def render(self, env_id: ArrayLike | None = None) -> Any:
        """Renders environments.

        Args:
            env_id: Integers, shape (k,): the environments; all by default.

        Returns:
            uint8, (k, height, width, 3); with render mode "ansi", a tuple of k strings.

        Raises:
            TypeError, ValueError: Wrong ids, or the pictures differ in size.
            RuntimeError: An environment is in flight, or was never reset.
            NotImplementedError: The environment cannot be rendered.
        """
        frames = self._pool.render(ids_of(env_id))
        if self.env_spec.render_mode == "ansi":
            return tuple(frames)
        for frame in frames:
            # an environment of Python may return anything
            if not isinstance(frame, np.ndarray):
                raise TypeError(f"render: expected an array for each image, got {shown(frame)}")
        sizes = {frame.shape for frame in frames}
        if len(sizes) > 1:
            raise ValueError(f"env_id: expected environments whose images have the same size, got {sorted(sizes)}")
        return np.stack(frames)

    def compute_reward(self, achieved_goal: ArrayLike, desired_goal: ArrayLike, info: Any = None) -> Any:
        """Returns the rewards for given goals, independently of the environments' states: for hindsight experience
        replay.

        Args:
            achieved_goal, desired_goal: Goals in the format of observations, with any leading dimensions, the same
                for both.
            info: Ignored; for compatibility with Gymnasium-Robotics.

        Returns:
            An array with the leading dimensions; a number for a single goal.

        Raises:
            NotImplementedError: The environment has no goals, or its rewards also depend on something else.
            TypeError, ValueError: The goals are invalid.
        """
        return of_goals(self.env_spec, "compute_reward", achieved_goal, desired_goal)

    def compute_terminated(self, achieved_goal: ArrayLike, desired_goal: ArrayLike, info: Any = None) -> Any:
        """Returns whether an episode terminates with these goals. Arguments and errors: see `compute_reward`."""
        return of_goals(self.env_spec, "compute_terminated", achieved_goal, desired_goal)

    def compute_truncated(self, achieved_goal: ArrayLike, desired_goal: ArrayLike, info: Any = None) -> Any:
        """Returns False for each pair of goals: goals never truncate an episode. Arguments: see `compute_reward`."""
        return of_goals(self.env_spec, "compute_truncated", achieved_goal, desired_goal)

    def xla(self) -> JaxFunctions:
        """Returns functions for use in JAX-compiled code: `handle, recv, send, step = env.xla()`.

        See `cypool.adapters.jax.Functions`.

        Raises:
            ImportError: JAX is missing, or its version is not supported.
        """
        functions: JaxFunctions = convert("xla", self)
        return functions

    def close(self) -> None:
        """Ends the threads. A second call does nothing."""
        self._pool.close()
        self.closed = True

    def __reduce__(self) -> tuple[Any, ...]:
        # threads and emulators do not travel; a copy is made from the recipe and starts where this one started
        return self._make_again, (self._recipe,)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __len__(self) -> int:
        return self.num_envs

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.env_spec.id}, num_envs={self.num_envs}, batch_size={self.batch_size})"
