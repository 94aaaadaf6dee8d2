"""The common base of all APIs: they check arguments and format the batches of the engine."""
from __future__ import annotations

import re
from collections.abc import Callable
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, Self, overload

import numpy as np
from numpy.typing import NDArray

from cypool.api.action_readers import reader_of
from cypool.api.conversions import JaxFunctions, convert
from cypool.api.env_ids import ids_of
from cypool.api.frames import FrameBuffers
from cypool.api.goals import of_goals
from cypool.api.rollouts import RolloutBuffers, SearchResult, reader_of_rollouts, rollout, search
from cypool.errors import EnvError
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
    """One API over the engine's pool. A subclass makes its batches in `_format_batch`.

    Synchronous if `batch_size` equals `num_envs`: row i belongs to environment i. Asynchronous if it is
    less: `recv` and `step` return the `batch_size` environments that finish first, `env_id` says which they are.

    Args:
        pool: The engine. The API owns it.
        spec: Describes the environments.

    Attributes:
        num_envs: How many environments there are.
        batch_size: Rows of a batch.
        is_async: Whether `batch_size` is less than `num_envs`.
        num_threads: Threads that step environments; a synchronous caller is one of them.
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
    # makes a pool of a recipe; set, as the recipe is, by who makes the API
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
        """Arguments of `cypool.make` for the same pool, a copy: pickle and deepcopy use them."""
        return FrozenDict(copied(self._recipe))

    @property
    def env_spec(self) -> EnvSpec:
        """The `cypool.spec.EnvSpec` of the environments, as they are seen here."""
        return self._env_spec

    @property
    def stepped_by(self) -> str | None:
        """How MuJoCo's robots are stepped: a text that begins with "lanes" or "mj_step: ", and the reason; or None."""
        physics = getattr(self._pool.environments()[0], "physics", None)
        return None if physics is None else physics()

    def _format_batch(self, batch: Batch) -> Any:
        """Returns the engine's batch (observation, reward, terminated, truncated, info) as the user gets it."""
        raise NotImplementedError

    def _empty_batch(self) -> Batch:
        """Returns a batch of the engine without rows."""
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
        """Returns the batch that `call(*args)` of the engine brings, laid out, also if it comes in an error."""
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
        """Adds to the message about another number of actions which there have to be."""
        if found := re.fullmatch(r"actions: expected \d+ rows, got (\d+)", str(error)):
            if self.is_async:
                error.args = (f"{error}: in an asynchronous pool, one for each environment of the batch that recv "
                              "returned last, which has at most batch_size, or for each of env_id",)
            elif found[1] == "1":
                error.args = (f"{error}: one for each environment, also if all are the same",)

    def _start(self, ids: EnvIds | None, seed: Seed, mask: Bools | None = None,
               options: Any = None) -> None:
        """Checks all, then seeds, then sends resets."""
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
        """Resets environments instead of stepping them, if none of them was ever reset; returns whether it did."""
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
        """Waits for the step that a rollout has left in flight, and throws it away."""
        if self.ended_early:
            self._pool.discard()
            self.ended_early = False

    def reset(self, env_id: ArrayLike | None = None, *, seed: Seed = None) -> Any:
        """Starts new episodes and waits for a batch: `async_reset`, then `recv`.

        Raises:
            TypeError, ValueError: Wrong ids or seeds.
            RuntimeError: With `env_id`, environments are in flight, whose results would be returned instead.
        """
        ids = ids_of(env_id)
        self._check_reset(ids)
        self._start(ids, seed)
        return self._received(self._pool.recv)

    def _check_reset(self, ids: EnvIds | None) -> None:
        """Raises a RuntimeError if the batch that comes after a reset may be of other environments."""
        self._drop_early_end()
        if ids is not None and self._pool.num_pending:
            raise RuntimeError("reset: expected that no environment is in flight, as the next batch may be theirs, got "
                               f"{self._pool.num_pending} that are: call async_reset(env_id), then recv()")

    def async_reset(self, env_id: ArrayLike | None = None, *, seed: Seed = None) -> None:
        """Starts new episodes without waiting; `recv` brings the observations.

        Args:
            env_id: Integers, shape (k,): the environments to reset; all by default, and then whatever is in flight
                is thrown away.
            seed: An int, and environment i gets `seed + i`; or a sequence with one int (or None) for each environment
                (of `env_id`, if given). None leaves the random streams where they are.
        """
        self._start(ids_of(env_id), seed)

    def step(self, actions: Any, env_id: ArrayLike | None = None) -> Any:
        """Steps environments and waits for a batch: `send`, then `recv`."""
        ids = ids_of(env_id)
        return self._received(self._pool.step, self._read_actions(actions, ids), ids)

    def _read_actions(self, actions: Any, ids: EnvIds | None) -> NDArray[Any]:
        """Returns actions as the engine takes them; those of agents that do not act may be anything."""
        acting = (self._pool.acting(ids),) if self._has_absent_agents else ()
        rows: NDArray[Any] = self._read(actions, *acting)
        return rows

    def send(self, actions: Any, env_id: ArrayLike | None = None) -> None:
        """Sends actions to environments, without waiting.

        Args:
            actions: Shape (k, *action shape), one row for each id.
            env_id: Integers, shape (k,). By default all environments, in an asynchronous pool those of the
                batch received last.

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
            timeout: Seconds to wait at most; by default without limit. Ctrl-C interrupts.

        Returns:
            The result of `step`. There are fewer rows than `batch_size` if fewer environments are pending.

        Raises:
            RuntimeError: Nothing is pending.
            TimeoutError: Not enough environments finished in time; call again.
            EnvError: An environment raised.
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
        """Makes memory for `num_steps` steps of all environments.

        Args:
            num_steps: T.
            frames: "stacked": `RolloutBuffers`, which `rollout(actions, out=buffers)` fills, or, with Gymnasium's API,
                `step(actions, out=buffers[t])` after you have written `obs[0]`. "once": `FrameBuffers` for observations
                alone, which have each frame of a stack once; you add the results of steps to them.

        Raises:
            TypeError, ValueError: `num_steps` is no positive int, `frames` is something else, or the pool is
                asynchronous.
        """
        if frames not in ("stacked", "once"):
            raise ValueError(f"frames: expected 'stacked' or 'once', got {shown(frames)}")
        if self.is_async:
            raise ValueError("rollout_buffers: expected a synchronous pool, as rows of others are in no fixed order")
        num_steps = check_int("num_steps", num_steps, 1, 2**31 - 1)
        try:
            made = RolloutBuffers if frames == "stacked" else FrameBuffers
            return made(self.env_spec, num_steps, self.num_envs)
        except (MemoryError, ValueError) as error:
            raise ValueError(f"num_steps: expected as many as memory can hold, got {num_steps}: {error}") from error

    def rollout(self, actions: Any, out: RolloutBuffers | None = None, *, policy: Any = None,
                observe: int | Literal["all", "last"] = "all", timeout: float | None = None) -> RolloutBuffers:
        """Steps all environments T times. Each environment makes its steps on one thread, with no return to Python.

        The result is that of T calls of `step`. In a pool with Disabled autoreset, an environment whose episode ends
        stays where it is: the later rows repeat its last observation, with reward 0, not terminated and not truncated.
        Hooks in Python, and Python environments, are stepped T times from Python.

        A policy chooses each action from the observation after the last step, or after the reset before the rollout. A
        policy in C runs on the threads. A Python function is called T times with the observation of all environments,
        and returns actions as `step` takes them. Where only some actions are legal, it gets the info `action_mask`,
        too.

        Args:
            actions: Shape (T, num_envs, *action shape), the steps first, or a dict of such arrays where actions are
                dicts. With a policy: T, an int.
            out: Buffers that `rollout_buffers(T)`, or an earlier rollout, returned: they are written to and returned.
            observe: Which observations are kept, and infos of the environment, which are of `next_obs`: "all"; "last",
                that before step 0 and that after the last one; or an int k, those before the steps 0, k, 2 k, ..., and
                that after the last one.
            policy: Chooses the actions: a function in C, a `cypool.Policy` such as `cypool.MLP`, or a Python function;
                see docs/how_to/policies.md. It is not asked about an environment that stays where it is.
            timeout: Seconds to wait at most; by default without limit.

        Returns:
            `RolloutBuffers` with T steps; with `observe` fewer observations. `obs[t]` is the observation from which
            `action[t]` was chosen; the one after the last step is `last_obs`. Of an environment that ends its episode
            in a pool with SameStep autoreset, `info["final_obs"]` and `info["final_info"]` have the last observation
            and info, where `terminated` or `truncated` is True, if all observations are kept.

        Raises:
            TypeError, ValueError: Wrong arguments; nothing was stepped.
            RuntimeError: An environment is in flight, was never reset, or has to be reset.
            TimeoutError, KeyboardInterrupt: The rollout ended early. Every environment has made some of the steps:
                `reset` or `load` comes next. Both wait for the end of a step that Python environments are still at.
            EnvError: An environment raised, or the policy in C failed or chose an action out of bounds. The row of that
                environment is zero and truncated, and its next step starts an episode.
                `batch` holds the rollout, `steps` says in which step an environment raised first.
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
        """Returns what the policy of a rollout sees in the place of the observation, as `Pool.rollout` takes it."""
        return None

    def _of_rollout(self, made: RolloutBuffers, out: RolloutBuffers | None) -> RolloutBuffers:
        """Returns a rollout of the engine's batches as the user gets it: in `out`, if given."""
        return made

    def _keep(self, last: Batch | RolloutBuffers) -> None:
        """Keeps the last batch where `state` is available."""
        if self._env_spec.state is not None:
            self._last = last

    def search(self, state: State, actions: Any, *, timeout: float | None = None) -> SearchResult:
        """Tries K sequences of actions from one state, for planners.

        The environments of the pool are used up: each is left where its last sequence led to. A planner has a pool of
        its own, and takes states by `save` from the pool it acts in. With fewer environments than sequences, these are
        tried in turns.

        Args:
            state: A `State` of one environment, with the id and options of the pool's.
            actions: Shape (K, T, *action shape), the sequences first and not the steps, as in `rollout`; or a dict of
                such arrays.
            timeout: Seconds that each turn may take; by default without limit.

        Returns:
            `SearchResult` of K rows. A sequence ends where its episode ends.

        Raises:
            TypeError, ValueError: Wrong arguments, or a pool whose autoreset mode is not Disabled.
            TimeoutError, KeyboardInterrupt, EnvError: As `rollout`.
        """
        return search(self, state, actions, timeout)

    def save(self, env_id: ArrayLike | None = None) -> State:
        """Saves all that the next steps of environments depend on, random streams included.

        Args:
            env_id: Integers, shape (k,): which environments; all by default.

        Returns:
            A `cypool.State`; `state.save(path)` and `cypool.load_state(path)` are its way to a file and back.

        Raises:
            TypeError, ValueError: Wrong ids.
            RuntimeError: An environment is in flight, or was never reset.
            NotImplementedError: The environment has no `save`.
        """
        return State(*self._pool.save(ids_of(env_id)))

    def load(self, state: State, env_id: ArrayLike | None = None) -> Any:
        """Puts environments where `save` found them: the same actions then have the same results, bit for bit.

        Args:
            state: A `State`; of environments with the same id and options, in this pool or another one.
            env_id: Integers, shape (k,): which environment each row goes to; by default the one it came from.

        Returns:
            The result of `reset(env_id)`: the observations of these environments.

        Raises:
            TypeError, ValueError: Wrong ids or state. The engine's part of all rows is checked before anything changes;
                an environment that refuses its own part starts an episode with its next step.
            RuntimeError: An environment is in flight.
            NotImplementedError: The environment has no `load`.
        """
        return self._format_batch(self._load(state, env_id))

    def _load(self, state: State, env_id: ArrayLike | None) -> Batch:
        """Loads, and returns the observations as a batch of the engine's."""
        if not isinstance(state, State):
            raise TypeError(f"state: expected what save() returned, got {shown(state)}")
        # it may have been unpickled, or edited
        rows, saved_ids = getattr(state, "rows", None), getattr(state, "env_id", None)
        if not isinstance(rows, (list, tuple)):
            raise TypeError(f"state: expected a list of rows, got {shown(rows)}")
        if env_id is None and saved_ids is None:
            raise ValueError("state: expected one with env_id, got None")
        ids = ids_of(saved_ids if env_id is None else env_id)
        assert ids is not None
        if env_id is None and len(set(ids.tolist())) < len(ids):
            raise ValueError("state: expected rows of different environments, or env_id to say where each row goes, "
                             f"got rows of {ids.tolist()}")
        if env_id is None and len(ids) and not 0 <= ids.min() <= ids.max() < self.num_envs:
            raise ValueError(f"state: expected rows of environments in [0, {self.num_envs}), or env_id to say where "
                             f"each row goes, got rows of {shown(ids.tolist())}")
        self._drop_early_end()
        obs, info = self._pool.load(ids, list(rows))
        # a state says where a random stream is, not how it began
        for i in ids.tolist():
            self._seeds[i] = -1
        none = np.zeros(len(ids), np.bool_)
        return obs, np.zeros(len(ids)), none, none, info

    def _to_checkpoint(self) -> dict[str, Any]:
        """Returns all that the pool continues with, as plain data and arrays."""
        # observers, which may be saved next, know of all that happened
        self._pool.catch_up()
        return {"recipe": {name: self._recipe.get(name) for name in OF_A_RUN}, "state": self.save().to_bytes(),
                "seeds": list(self._seeds)}

    def _from_checkpoint(self, saved: dict[str, Any]) -> Callable[[], Any]:
        """Returns a function that takes over what `_to_checkpoint` returned, and returns the result of `load`.

        All of it is checked before but the environments' own part of their states.

        Raises:
            TypeError, ValueError: It is of another pool.
        """
        state = State.from_bytes(saved["state"])
        seeds = [check_int("seeds", seed, -1, 2**256) for seed in saved["seeds"]]
        if len(state) != self.num_envs or len(seeds) != self.num_envs:
            raise ValueError(f"expected a pool of {len(state)} environments, got one of {self.num_envs}")
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
        """Makes environments exact copies of others: `load(save(source), target)` without the way through Python.

        The same actions then have the same results, bit for bit: random streams, counts of steps and statistics of
        episodes are copied, too. Data of the whole pool, as the moments of a normalization, stay as they are.

        Args:
            source: An int, whose copies all become; or integers, shape (k,), one for each target, also the same ones.
            target: An int, or integers, shape (k,): which environments become copies; each once, and no source.

        Raises:
            TypeError, ValueError: Wrong ids, or a target has other options than its source; nothing has changed.
            RuntimeError: An environment is in flight, or a source was never reset; nothing has changed.
            NotImplementedError: The environment cannot be copied, as Doom's; nothing has changed.
            Exception: The error of an environment. It starts an episode with its next step; the others are copies.
        """
        sources, targets = (ids_of(np.reshape(ids, 1) if np.ndim(ids) == 0 else ids, name)
                            for ids, name in ((source, "source"), (target, "target")))
        assert sources is not None and targets is not None
        self._copy(sources, targets)

    def _copy(self, sources: EnvIds, targets: EnvIds) -> None:
        """Copies; a subclass that keeps data of each environment copies these, too."""
        # read twice, here and by the engine
        targets = targets.copy()
        self._pool.copy(sources, targets)
        for i in targets.tolist():
            self._seeds[i] = -1

    def render(self, env_id: ArrayLike | None = None) -> Any:
        """Draws environments.

        Args:
            env_id: Integers, shape (k,): which environments; all by default.

        Returns:
            uint8, (k, height, width, 3); with the render mode "ansi" a tuple of k texts.

        Raises:
            TypeError, ValueError: Wrong ids, or the pictures differ in size.
            RuntimeError: An environment is in flight, or was never reset.
            NotImplementedError: The environment cannot be drawn.
        """
        frames = self._pool.render(ids_of(env_id))
        if self.env_spec.render_mode == "ansi":
            return tuple(frames)
        for frame in frames:
            # an environment of Python may return anything
            if not isinstance(frame, np.ndarray):
                raise TypeError(f"render: expected pictures that are arrays, got {shown(frame)}")
        sizes = {frame.shape for frame in frames}
        if len(sizes) > 1:
            raise ValueError(f"env_id: expected environments with pictures of one size, got {sorted(sizes)}")
        return np.stack(frames)

    def compute_reward(self, achieved_goal: ArrayLike, desired_goal: ArrayLike, info: Any = None) -> Any:
        """Returns the rewards of goals, wherever the environments are: for hindsight experience replay.

        Args:
            achieved_goal, desired_goal: Goals as they are observed, with any leading dimensions, the same for both.
            info: Ignored. Gymnasium-Robotics' method has it.

        Returns:
            An array with the leading dimensions; one number for one goal.

        Raises:
            NotImplementedError: The environment has no goals, or its rewards depend on more.
            TypeError, ValueError: These are no such goals.
        """
        return of_goals(self.env_spec, "compute_reward", achieved_goal, desired_goal)

    def compute_terminated(self, achieved_goal: ArrayLike, desired_goal: ArrayLike, info: Any = None) -> Any:
        """Returns whether an episode ends with these goals. Arguments and errors: see `compute_reward`."""
        return of_goals(self.env_spec, "compute_terminated", achieved_goal, desired_goal)

    def compute_truncated(self, achieved_goal: ArrayLike, desired_goal: ArrayLike, info: Any = None) -> Any:
        """Returns False for each pair of goals: they truncate no episode. Arguments: see `compute_reward`."""
        return of_goals(self.env_spec, "compute_truncated", achieved_goal, desired_goal)

    def xla(self) -> JaxFunctions:
        """Returns functions for code that JAX compiles: `handle, recv, send, step = env.xla()`.

        See `cypool.adapters.jax.Functions`.

        Raises:
            ImportError: JAX is not there, or in a version that is not supported.
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
