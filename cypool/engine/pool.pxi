# The pool: sends environments to the threads and hands out batches.
from cpython.exc cimport PyErr_CheckSignals
from cpython.ref cimport PyObject
from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t
from libc.string cimport memcpy

import atexit
import weakref

cimport numpy as cnp

import numpy as np

from cypool.engine import cpus
from cypool.errors import EnvError

from cypool.env_methods cimport seed_env
from cypool.util.constants cimport SLICE_NS
from cypool.backend cimport StepBackend
from cypool.env cimport Agents, Env

cnp.import_array()

cdef enum:
    WATCHED = 8                  # batches in a user's hands that are looked at for reuse


# closed at exit, while threads can still be joined
pools = weakref.WeakSet()


@atexit.register
def _close_pools():
    cdef Pool pool
    first = None
    for pool in list(pools):
        try:
            # unless a daemon thread is still in a call
            pool.try_close()
        except BaseException as error:
            first = first or error
    if first is not None:
        raise first


@cython.final
cdef class Pool:
    """Steps environments on threads.

    This is the engine under the APIs: it assumes that actions are valid, but checks everything that could let two
    threads step the same environment, or a caller wait forever.

    Args:
        envs: `Env` objects of one spec, in the order of their ids.
        seeds: A seed for each.
        batch_size: Number of rows of a batch. With fewer rows than envs, the pool is asynchronous: `recv` returns the
            environments that finish first, or, if `recv` steps them, those that were sent first.
        num_threads: Threads that step environments. The caller of a synchronous pool is one of them, so 0 and 1 start
            none; that of an asynchronous pool is not, and only with 0 does everything happen in `recv`.
        autoreset: "next_step", "same_step" or "disabled": when an environment whose episode has ended
            starts the next one.
        statistics: Whether infos hold "episode": return, length and time of episodes that ended.
        thread_pool: Threads to use instead of the pool's own.
        affinity: A set of CPUs for each started thread, or None.
        backend: Steps the environments instead of threads, which are then not started. The pool owns it.
        parent: Another pool whose threads to use; if it is closed, the caller steps alone.

    Attributes:
        spec: The `EnvSpec` of the environments: those above take sizes and bounds from here.
        num_envs, batch_size: Number of environments, and the argument.
        is_async: Whether `batch_size` is less than `num_envs`.
        observers: The observers, which are notified of the pool's calls.
        hooks: The `cypool.features.batch_hooks.BatchHooks` that change batches, or None; it is an observer, too.

    Thread safety: one caller at a time; a second one gets a RuntimeError.
    Memory: a returned batch never changes; its memory is reused once none of its arrays is referenced.
    """
    cdef Lifetime lifetime           # its threads, and one call at a time
    cdef Scheduler scheduler         # the environments, and what threads need to step them
    cdef Dispatch dispatch           # how a batch gets from send to recv
    cdef IdTracker ids               # which environments are in flight
    cdef BatchLayout layout          # the columns of batches
    cdef Results results             # puts batches together
    cdef readonly Observers observers
    cdef LegalActions legal_actions  # None: all are legal
    cdef readonly object spec
    cdef readonly int num_envs
    cdef readonly int batch_size
    cdef readonly bint is_async
    cdef readonly object hooks
    cdef bint is_child
    cdef size_t action_bytes
    cdef object __weakref__

    def __cinit__(self, *_, **__):
        self.lifetime, self.observers = Lifetime(), Observers()

    def __init__(self, list envs, list seeds, int batch_size, int num_threads, str autoreset, bint statistics,
                 ThreadPool thread_pool, list affinity, StepBackend backend=None, Pool parent=None):
        # the slowest part of construction: read once
        cdef int num_open, num_cpus = max(<int>cpus.available(), 1)
        cdef Env env
        if self.scheduler is not None:
            raise RuntimeError("the pool is already initialized")
        self.spec = spec = (<Env>envs[0]).spec
        for env, seed in zip(envs, seeds, strict=True):
            seed_env(env, seed)
        self.num_envs = len(envs)
        self.batch_size = batch_size
        self.is_async = batch_size < self.num_envs
        self.action_bytes = spec.action_bytes
        mode = {"next_step": NEXT_STEP, "same_step": SAME_STEP, "disabled": DISABLED}[autoreset]
        self.legal_actions = None if spec.illegal is None else LegalActions(spec)
        self.layout = BatchLayout(batch_size, spec, mode == SAME_STEP, statistics)
        # num_envs rows that were not received span so many batches, as the first and the last may be partial
        num_open = self.num_envs // batch_size + 2 if self.is_async else 1
        self.results = Results(spec, self.layout, backend)
        self.ids = IdTracker(self.num_envs, self.is_async)
        self.scheduler = Scheduler(envs, batch_size, num_open, self.action_bytes, not self.is_async, mode,
                                   statistics)
        self.scheduler.filling = [None] * num_open
        if (<Env>envs[0]).prepare_pool(envs):
            if envs[0].prepares_steps:
                self.scheduler.step_task = STEP_AHEAD
            elif not self.is_async:
                # only neighbouring rows can be stepped together
                self.scheduler.step_task = STEP_TOGETHER
        self.scheduler.task = self.scheduler.step_task
        self.lifetime.begin(num_threads, self.is_async, thread_pool, affinity, backend,
                            None if parent is None else parent.lifetime)
        self.scheduler.num_steppers = max(self.lifetime.num_threads, 1)
        if not self.is_async and self.scheduler.num_steppers <= num_cpus:
            # each has a core
            self.scheduler.max_spin_ns = MAX_SPIN_NS
        self.lifetime.threads.add_scheduler(self.scheduler)
        self.dispatch = self._make_dispatch(num_cpus)
        self.lifetime.gate.open()
        pools.add(self)

    def _make_dispatch(self, int num_cpus):
        """Chooses the dispatch."""
        cdef Blocks blocks = Blocks(self.layout, WATCHED)
        cdef Block block
        cdef size_t k
        cdef Threads threads = self.lifetime.threads
        parts = self.scheduler, threads, blocks, self.results, self.ids
        distributor = Distributor(self.scheduler, threads, self.lifetime.num_threads, num_cpus,
                                  self.lifetime.shares_threads)
        if not self.is_async:
            dispatch = SyncDispatch(*parts, distributor)
        else:
            for k in range(self.scheduler.open.size()):
                block = self.scheduler.filling[k] = blocks.take()
                block.open_on(self.scheduler.open[k])
            dispatch = QueueDispatch(*parts) if threads.count > 0 else None
            if dispatch is None or all([(<Env>env).spec.brief_steps for env in self.scheduler.env_objects]):
                dispatch = DeferredDispatch(*parts, distributor, dispatch)
        backend = self.lifetime.backend
        return dispatch if backend is None else BackendDispatch(*parts, backend, dispatch)

    def __del__(self):
        # before the garbage collector takes apart objects that the threads use
        if self.lifetime.threads is not None and self.scheduler is not None:
            self.lifetime.gate.close()
            self.lifetime.end(self.scheduler)

    def child_pool(self, list envs):
        """Returns a synchronous pool of other environments on the same threads, which is closed with this one.

        These need no reset. A call waits for their steps even after Ctrl-C, so nothing stays in flight. If
        this pool is closed, the caller steps them alone.
        """
        cdef Pool pool
        cdef Env env
        # `close` waits for it, so that no child pool keeps the threads
        self.lifetime.num_unfinished.fetch_add(1)
        try:
            pool = type(self)(envs, [0] * len(envs), len(envs), 0, "next_step", False, None, None, None, self)
            if pool.lifetime.parent is not None:
                self.lifetime.children.add(pool)
        finally:
            self.lifetime.num_unfinished.fetch_sub(1)
        pool.is_child = True
        for env in envs:
            env.needs_reset = False
            pool.ids.mark_started(env.env_id)
        return pool

    def environments(self):
        """Returns the `Env` objects, in the order of their ids; they must not be stepped while the pool is open."""
        cdef GateGuard guard
        self.lifetime.enter(guard)
        return list(self.scheduler.env_objects)

    def use_hooks(self, hooks):
        """Lets hooks change the batches before other observers see them; to be called before there are any."""
        self.hooks = hooks
        self.observers.attach(hooks)

    def catch_up(self):
        """Notifies observers of a gap, if the pool has done something unreported."""
        cdef GateGuard guard
        if self.observers.unreported:
            self.lifetime.enter(guard)
            self.observers.report_gap()

    @property
    def num_threads(self):
        """Number of threads, or processes, that step environments; the caller of a synchronous pool is one."""
        return self.lifetime.num_threads

    @property
    def is_hosted(self):
        """Whether a backend steps the environments: `info["extra_infos"]` may then contain infos other than arrays."""
        return self.lifetime.backend is not None

    @property
    def num_pending(self):
        """Number of environments that were sent and not received yet."""
        return self.ids.pending

    @property
    def num_unstarted(self):
        """Number of environments that were never reset, loaded or made copies of others."""
        return self.ids.num_unstarted

    def unstarted(self):
        """Returns their ids: a set."""
        return {i for i in range(self.num_envs) if not self.ids.is_started[i]}

    def in_flight(self):
        """Returns the ids of environments that were sent to an asynchronous pool and not returned yet: a list."""
        return [i for i in range(self.num_envs) if self.ids.in_flight[i]]

    def close(self):
        """Ends the threads, and releases environments and memory. A second call does nothing."""
        if not self.try_close():
            raise RuntimeError("close: another thread is using the pool, or one of the pool's hooks or policies "
                               "called close")

    cdef bint try_close(self) except -1:
        """Closes the pool; False if another thread is in a call."""
        cdef GateState found = self.lifetime.close_gate()
        if found != GATE_OPEN:
            return found == GATE_CLOSED
        try:
            self.lifetime.end(self.scheduler)
        finally:
            # now, not with the pool. If the garbage collector closed it on one of its threads, that thread still holds
            # the scheduler, and so the blocks. `threads` stays: another caller may be about to read it
            self.scheduler = None
            self.lifetime.thread_pool = None
            self.lifetime.backend = None
            self.dispatch = self.results = None
        return True

    def send(self, cnp.ndarray actions, cnp.ndarray env_ids=None):
        """Sends actions to environments; does not wait.

        Args:
            actions: C-contiguous, with the spec's dtype, and its shape after the first axis: one row for each id. A
                synchronous pool reads an array for all environments until the batch is received, so the array must not
                change until then; other arrays are copied.
            env_ids: int32, C-contiguous, shape (k,); all environments if None, and in an asynchronous
                pool those of the last batch received.

        Raises:
            ValueError: An id is out of range or repeated, or the number of actions is wrong.
            RuntimeError: An environment is in flight or was never reset.
        """
        cdef GateGuard guard
        if self.observers.refs is not None:
            self._announce(None)
        self.lifetime.enter(guard)
        self._send(actions, env_ids, None)

    def send_reset(self, cnp.ndarray env_ids=None, bint others=False, list seeds=None, options=None,
                   bint discard=False):
        """Starts to reset environments; does not wait.

        Args:
            env_ids: int32, C-contiguous, shape (k,); all environments if None.
            others: Whether the batch holds all environments: those not named, possibly all, are only observed again.
            seeds: Pairs (env id, seed) for environments that are named.
            options: A dict for all environments that are named, or a list with a dict or None for each.
            discard: Whether to discard results of environments in flight; otherwise they cause an error.

        Raises:
            ValueError, RuntimeError: As in `send`, except that environments need not have been reset.
            TypeError, ValueError: The options are wrong, or the backend cannot pass them on. Nothing was reset.
        """
        cdef GateGuard guard
        cdef uint32_t count
        cdef const int32_t* ids
        cdef uint32_t k
        cdef Env env
        cdef bint has_observers = self.observers.refs is not None
        if has_observers:
            self._announce(options)
        self.lifetime.enter(guard)
        if others and env_ids is None:
            raise ValueError("env_id: expected the ids to reset with others=True, got None")
        if others and cnp.PyArray_SIZE(env_ids) == 0:
            ids = self.ids.check(self.scheduler, None, INSPECT, &count, discard)
            count = 0
        else:
            ids = self.ids.check(self.scheduler, env_ids, ANY, &count, discard)
        if others and self.ids.num_unstarted > 0 and count < <uint32_t>self.num_envs:
            raise RuntimeError("reset: the first reset must include all envs")
        packed = None
        if options is not None:
            if discard and self.ids.pending > 0 and self.lifetime.backend is None:
                # environments at rest take options. If one refuses them, those in flight can still be received
                while not self.dispatch.finish(SLICE_NS):
                    PyErr_CheckSignals()
            packed = give_reset_options(self.scheduler.env_objects, self.lifetime.backend, ids, count, options)
        if discard:
            self._discard()
        reset_ids = None
        if has_observers:
            self.observers.begin()
            reset_ids = None if env_ids is None else self._ids_array(ids, count)
        for env_id, seed in seeds or ():
            env = self.scheduler.env_objects[env_id]
            seed_env(env, seed)
        if others:
            for k in range(<uint32_t>self.num_envs):
                (<Env>self.scheduler.envs[k]).observe_only = True
        for k in range(count):
            (<Env>self.scheduler.envs[ids[k]]).observe_only = False
            (<Env>self.scheduler.envs[ids[k]]).needs_reset = True
            (<Env>self.scheduler.envs[ids[k]]).reset_requested = True
            self.ids.mark_started(ids[k])
        if others:
            ids, count = self.ids.all_ids.data(), <uint32_t>self.num_envs
        # in an asynchronous pool `task` never changes, as threads read it. Else resets go one by one: kernels do not
        # know `observe_only`
        if not self.is_async:
            self.scheduler.task = STEP_EACH
        if self.lifetime.backend is not None:
            self.lifetime.backend.options = packed
        try:
            self.dispatch.send(ids, count, None)
        finally:
            if self.lifetime.backend is not None:
                # they are for this reset only
                self.lifetime.backend.options = None
        if has_observers:
            self.observers.report_reset(reset_ids, others, seeds, options)

    def recv(self, timeout=None):
        """Waits for a batch.

        Args:
            timeout: Maximum seconds to wait.

        Returns:
            Observation (an array, or a dict or tuple of arrays), reward, terminated, truncated, info: `batch_size`
            rows, or as many as are pending if those are fewer. In a synchronous pool, in the order of `send`. With
            autoreset "same_step", `info["final"]` is (observation, info) of the episodes that ended, valid in the rows
            that are terminated or truncated.

        Raises:
            RuntimeError: Nothing is pending.
            TimeoutError: The batch was not finished in time; it can still be received later.
            EnvError: An environment failed.
        """
        cdef GateGuard guard
        self.lifetime.enter(guard)
        return self._recv(timeout)

    def step(self, cnp.ndarray actions, cnp.ndarray env_ids=None, tuple out=None):
        """`send`, then `recv`.

        Args:
            actions, env_ids: As in `send`.
            out: Arrays that take the place of the pool's own in this step: for each part of the observation,
                reward, terminated, truncated. C-contiguous and writeable, of the spec's dtypes and shapes, a row for
                each id. For synchronous pools only.
        """
        cdef GateGuard guard
        if out is not None and self.hooks is not None:
            # these make new arrays
            return self.hooks.step_to(self, actions, env_ids, out)
        if self.observers.refs is not None:
            self._announce(None)
        self.lifetime.enter(guard)
        self._send(actions, env_ids, out)
        result = self._recv(None)
        self.dispatch.step_done()
        return result

    def rollout(self, cnp.ndarray actions, uint32_t num_steps, uint32_t observe_every, tuple out=None, timeout=None,
                policy=None, tuple normal=None):
        """Steps all environments many times. For synchronous pools without a backend only.

        Args:
            actions: C-contiguous, of the spec's dtype, `num_steps * num_envs` rows: those of the first step come first.
                They must not change meanwhile. With a policy it writes them here, so they are writeable.
            num_steps: Number of steps, at least 1.
            observe_every: Observes only every `observe_every`-th step, and always the last one.
            out: As in `step`, with a row for each step of each environment; observations begin with an extra row for
                each environment.
            timeout: Maximum seconds to wait.
            policy: A `cypool.policies.Policy` that fits the spec and the number of environments, or None.
            normal: What the policy sees instead of an observation that is one array: an `EnvSpec` with float32 of
                the same shape; float64 arrays, the means to subtract and the deviations to divide by;
                and float32, (num_envs, ...), what it sees before the first step.

        Returns:
            A pair: the result of `recv`, with rows in the order of the actions, and `stepped()`. Observations and the
            environment's infos begin with those before the first step; if `observe_every` is more than 1, they end with
            empty rows.

        Raises:
            TimeoutError, KeyboardInterrupt: The rollout has ended early: each environment has made some of the steps.
            EnvError: An environment failed, in a step that `steps` names; `batch` is the pair.
            ValueError, RuntimeError: As `step`, or the arrays or the policy do not fit the pool.
        """
        cdef GateGuard guard
        cdef uint32_t count
        cdef SyncDispatch dispatch
        cdef Scheduler scheduler
        cdef bint observed = self.observers.refs is not None
        if observed:
            self._announce(None)
        self.lifetime.enter(guard)
        scheduler = self.scheduler
        self.ids.check(scheduler, None, STEP, &count)
        self._check_rollout(actions, num_steps, observe_every, out, policy, normal)
        if timeout is not None and timeout <= 0:
            raise TimeoutError(f"rollout: did not finish within {timeout} s")
        dispatch = self.dispatch
        by_policy = None if policy is None else dispatch.prepare_policy(policy, normal)
        self.observers.unreported = observed
        result = dispatch.rollout(actions, num_steps, observe_every, out, timeout, by_policy)
        causes = steps = None
        if scheduler.errors:
            causes, steps = dict(scheduler.errors), {i: scheduler.error_steps[i] for i in scheduler.errors}
            scheduler.errors.clear()
        if observed:
            # a policy that has failed is not there if the actions are repeated
            self.observers.report_rollout(actions, num_steps, observe_every, result, not causes or policy is None)
        # after this call another thread may have the next batch
        result = result, self.results.rows_of(ROW_STEP)
        if causes:
            error = EnvError(causes, result, steps)
            raise error from causes[error.env_id]
        return result

    def starts(self):
        """Returns which rows last received, or returned by `load`, begin an episode (they belong to a reset): bool."""
        return self._rows_of(ROW_RESET)

    def stepped(self):
        """Returns which rows last received, or returned by `load`, belong to a step: bool.

        The others begin an episode, or their environment was only observed, stays at its end, or has failed.
        """
        return self._rows_of(ROW_STEP)

    def discard(self):
        """Waits for everything in flight and discards it."""
        cdef GateGuard guard
        self.lifetime.enter(guard)
        self._discard()

    def await_holding_gil(self, double timeout):
        """Waits for the batch that `recv` will return, while holding the GIL: for tests.

        Returns:
            Whether it finished within this number of seconds; if so, no environment asked for the GIL.
        """
        cdef OpenBatch* batch
        if not self.is_async or self.lifetime.threads.count == 0:
            raise RuntimeError("no thread steps environments while the caller waits")
        if isinstance(self.dispatch, DeferredDispatch):
            (<DeferredDispatch>self.dispatch).use_threads()
            self.dispatch = self.dispatch.successor
        batch = self.dispatch.batch()
        wanted = min(self.ids.pending, <uint32_t>self.batch_size)
        return self.scheduler.await_rows(batch, wanted, <int64_t>(timeout * 1e9))

    def save(self, cnp.ndarray env_ids=None):
        """Saves everything that the next steps of environments depend on.

        Args:
            env_ids: As in `send_reset`.

        Returns:
            (ids, states): a list of ints, and for each of them a dict that can be pickled.

        Raises:
            ValueError: An id is out of range or repeated.
            RuntimeError: An environment is in flight or was never reset.
            NotImplementedError: The environment cannot be saved.
        """
        cdef GateGuard guard
        cdef uint32_t count, k
        cdef const int32_t* ids
        self.lifetime.enter(guard)
        ids = self.ids.check(self.scheduler, env_ids, INSPECT, &count)
        states = [save_state(<Env>self.scheduler.envs[ids[k]]) for k in range(count)]
        return [ids[k] for k in range(count)], states

    def load(self, cnp.ndarray env_ids, list states):
        """Restores environments to states from `save`, of these environments or others with the same options.

        Args:
            env_ids: As in `send_reset`.
            states: One for each.

        Returns:
            Observation and info of these environments.

        Raises:
            ValueError, RuntimeError: As in `save`, except that an environment need not have been reset; or a row is not
                from `save`. The engine's part of all rows is checked before anything changes. An environment that
                rejects its own part of a row starts an episode with its next step.
        """
        cdef GateGuard guard
        cdef uint32_t count, k
        cdef const int32_t* ids
        self.lifetime.enter(guard)
        ids = self.ids.check(self.scheduler, env_ids, ANY, &count)
        rows = check_states(self.scheduler, ids, count, states)
        self.observers.begin()
        for k in range(count):
            load_state(<Env>self.scheduler.envs[ids[k]], rows[k])
            self.ids.mark_started(ids[k])
        obs, info = self.results.observe(self.scheduler, ids, count)
        self.observers.report_gap()
        return (obs if self.hooks is None else self.hooks.observed(obs)), info

    def check_states(self, cnp.ndarray env_ids, list states):
        """Raises what `load` would raise before it changes anything."""
        cdef GateGuard guard
        cdef uint32_t count
        cdef const int32_t* ids
        self.lifetime.enter(guard)
        ids = self.ids.check(self.scheduler, env_ids, ANY, &count)
        check_states(self.scheduler, ids, count, states)

    def copy(self, cnp.ndarray sources, cnp.ndarray targets):
        """Makes environments exact copies of others, including random streams and step counts.

        Args:
            sources: int32, C-contiguous, shape (k,): the environments to copy; or one id, shape (1,), for all.
            targets: As `env_ids` in `send_reset`.

        Raises:
            ValueError: An id is out of range, a target is repeated or also a source, or its spec differs from its
                source's; nothing has changed.
            RuntimeError: An environment is in flight, or a source was never reset; nothing has changed.
            Exception: The error of `copy_from` of the failed environment with the lowest id. It starts an episode with
                its next step, or is unchanged in case of a NotImplementedError. All others have been copied.
        """
        cdef GateGuard guard
        cdef uint32_t count, k
        cdef const int32_t* ids
        cdef const int32_t* from_ids
        cdef Scheduler scheduler
        self.lifetime.enter(guard)
        scheduler = self.scheduler
        ids = self.ids.check(scheduler, targets, REPLACE, &count)
        from_ids = self.ids.check_sources(sources, count)
        check_copies(scheduler, from_ids, ids, count)
        self.observers.begin()
        if self.is_async or self.lifetime.backend is not None:
            # an asynchronous pool has no shares, and a hosted one no threads: the caller copies
            errors = copy_on_caller(scheduler, ids, from_ids, count)
        else:
            errors = (<SyncDispatch>self.dispatch).copy(ids, from_ids, count)
        for k in range(count):
            if ids[k] not in errors:
                self.ids.mark_started(ids[k])
        self.observers.report_gap()
        if errors:
            raise errors[min(errors)]

    def acting(self, cnp.ndarray env_ids=None):
        """Returns which agents act in the next step: bool, (k, agents), group by group.

        Args:
            env_ids: As in `send`.

        Raises:
            ValueError, RuntimeError: As `send`.
        """
        cdef GateGuard guard
        cdef uint32_t count, k, j, n
        cdef const int32_t* ids
        cdef const Agents* agents
        cdef PyObject* env
        cdef uint8_t* acting
        self.lifetime.enter(guard)
        ids = self.ids.check(self.scheduler, env_ids, STEP, &count)
        n = self.spec.num_agents
        result = np.zeros((count, n), np.bool_)
        acting = <uint8_t*>cnp.PyArray_DATA(result)
        for k in range(count):
            env = self.scheduler.envs[ids[k]]
            agents = (<Env>env).agents
            if not (<Env>env).needs_reset:
                for j in range(n):
                    acting[k * n + j] = agents.alive[j] and (agents.turn == NULL or agents.turn[j])
        return result

    def sample_legal(self, bit_generator, cnp.ndarray env_ids=None):
        """Draws a legal action uniformly for each environment or agent, in environments with `illegal`.

        Args:
            bit_generator: The NumPy bit generator to draw from.
            env_ids: As in `send`.

        Returns:
            int64, (k,) or (k, agents), for those whose actions `send` takes; 0 where no action is legal.

        Raises:
            ValueError, RuntimeError: As `send`.
        """
        cdef GateGuard guard
        cdef uint32_t count
        cdef const int32_t* ids
        self.lifetime.enter(guard)
        # in an asynchronous pool those of the last batch; of episodes that are over, too
        ids = self.ids.check(self.scheduler, env_ids, STEP if self.is_async else INSPECT, &count)
        return self.legal_actions.sample(self.scheduler, ids, count, bit_generator)

    def render(self, cnp.ndarray env_ids=None):
        """Renders environments.

        Args:
            env_ids: As in `send_reset`.

        Returns:
            A list of pictures, uint8 (height, width, 3).

        Raises:
            ValueError: An id is out of range or repeated.
            RuntimeError: An environment is in flight or was never reset. Environments of a backend decide themselves
                whether they can be rendered before a reset.
            NotImplementedError: The environment cannot be rendered.
        """
        cdef GateGuard guard
        cdef uint32_t count, k
        cdef const int32_t* ids
        self.lifetime.enter(guard)
        ids = self.ids.check(self.scheduler, env_ids, INSPECT if self.lifetime.backend is None else ANY, &count)
        return [(<Env>self.scheduler.envs[ids[k]]).render() for k in range(count)]

    def streams(self):
        """Returns the states of the environments' random streams: a list, None where there is no stream.

        Raises:
            RuntimeError: An environment is in flight.
        """
        cdef GateGuard guard
        cdef Env env
        cdef uint32_t count
        self.lifetime.enter(guard)
        # whether an environment was reset before does not matter
        self.ids.check(self.scheduler, None, ANY, &count)
        return [None if env._bit_generator is None else env._bit_generator.state for env in self.scheduler.env_objects]

    def ask(self, cnp.ndarray env_ids, function, *args, **kwargs):
        """Calls a function with environments of a backend, where they run.

        Args:
            env_ids: As in `send_reset`.
            function: Called with an environment, `args` and `kwargs`; all must be picklable.

        Returns:
            Its result, a list.

        Raises:
            ValueError, RuntimeError: As `send`, but it does not matter whether an environment was reset before.
            Exception: The exception of the function.
        """
        cdef GateGuard guard
        cdef uint32_t count, k
        cdef const int32_t* ids
        self.lifetime.enter(guard)
        ids = self.ids.check(self.scheduler, env_ids, ANY, &count)
        return [self.scheduler.env_objects[ids[k]].ask(function, *args, **kwargs) for k in range(count)]

    def call_user(self, function, argument):
        """Calls a Python hook or policy. Until it returns, the pool accepts no other call.

        Returns:
            Its result.

        Raises:
            RuntimeError: Another thread is in a call.
            Exception: The exception of the function.
        """
        cdef GateGuard guard
        self.lifetime.enter(guard)
        return function(argument)

    cdef int _announce(self, options) except -1:
        """Notifies observers that something will be sent. Before the gate, because they may query the pool."""
        self.catch_up()
        return self.observers.ask(options)

    cdef int _send(self, cnp.ndarray actions, cnp.ndarray env_ids, tuple out) except -1:
        cdef uint32_t count, k
        cdef const int32_t* ids = self.ids.check(self.scheduler, env_ids, STEP, &count)
        cdef const char* source = cnp.PyArray_BYTES(actions)
        cdef char* target = self.scheduler.actions.data()
        if <size_t>cnp.PyArray_NBYTES(actions) != count * self.action_bytes or not cnp.PyArray_ISCARRAY_RO(actions):
            raise self._wrong_actions(actions, count)
        if self.legal_actions is not None and self.legal_actions.checks:
            self.legal_actions.check(self.scheduler, ids, count, <const int64_t*>source)
        if out is not None:
            self.layout.check_out(out, count)
        if self.scheduler.task != self.scheduler.step_task:
            self.scheduler.task = self.scheduler.step_task
        if ids == self.ids.all_ids.data():
            # in the order of the environments: they read it where it is
            self.scheduler.held_actions, self.scheduler.first_actions = actions, source
        else:
            if not self.is_async:
                self.scheduler.first_actions = target
            for k in range(count):
                memcpy(target + ids[k] * self.action_bytes, source + k * self.action_bytes, self.action_bytes)
        if self.observers.refs is None:
            self.dispatch.send(ids, count, out)
            return 0
        sent_ids = None if env_ids is None and not self.is_async else self._ids_array(ids, count)
        self.observers.report_gap()
        if self.hooks is not None:
            # before the send: if an exception interrupts what follows it, the batch still arrives, and hooks see it
            self.hooks.note_actions(actions, sent_ids)
        self.observers.begin()
        self.dispatch.send(ids, count, out)
        self.observers.report_sent(actions, sent_ids)
        return 0

    cdef object _ids_array(self, const int32_t* ids, uint32_t count):
        """Returns env ids as an array."""
        cdef cnp.npy_intp size = count
        cdef cnp.ndarray array = cnp.PyArray_SimpleNew(1, &size, cnp.NPY_INT32)
        memcpy(cnp.PyArray_DATA(array), ids, count * sizeof(int32_t))
        return array

    cdef object _wrong_actions(self, cnp.ndarray actions, int64_t rows):
        """Returns the error for actions that are not such rows, or have the wrong memory layout."""
        if cnp.PyArray_NDIM(actions) > 0 and cnp.PyArray_DIM(actions, 0) != rows:
            return ValueError(f"actions: expected {rows} rows, got {cnp.PyArray_DIM(actions, 0)}")
        return ValueError(f"actions: expected {rows} C-contiguous rows of {self.action_bytes} bytes, got "
                          f"{actions.dtype} of shape {(<object>actions).shape}")

    cdef int _check_rollout(self, cnp.ndarray actions, uint32_t num_steps, uint32_t observe_every, tuple out,
                            policy, tuple normal) except -1:
        """Checks the arrays that threads read and write without checking their size."""
        cdef int64_t rows = <int64_t>num_steps * self.num_envs
        if self.is_async or self.lifetime.backend is not None:
            raise ValueError("rollout: expected a synchronous pool without a backend")
        if not 0 < rows < 2**31 or observe_every == 0:
            raise ValueError(f"rollout: expected 1 to {2**31 - 1} rows, got {num_steps} steps of {self.num_envs} envs")
        if (cnp.PyArray_NBYTES(actions) != rows * <int64_t>self.action_bytes or not cnp.PyArray_ISCARRAY_RO(actions)
                or policy is not None and not cnp.PyArray_ISWRITEABLE(actions)):
            raise self._wrong_actions(actions, rows)
        if out is not None:
            if observe_every > 1:
                raise ValueError("out: expected None, because not every step is observed")
            self.layout.check_out(out, <uint32_t>rows, <uint32_t>self.num_envs)
        if policy is not None:
            if normal is not None:
                check_normal(self.spec, self.num_envs, normal[0], normal[1], normal[2], normal[3])
            policy.check(self.spec if normal is None else normal[0], self.num_envs)
            policy._begin(num_steps, self.num_envs)
        return 0

    cdef object _recv(self, timeout, bint report=True):
        cdef Scheduler scheduler = self.scheduler
        cdef uint32_t wanted = min(self.ids.pending, <uint32_t>self.batch_size)
        if wanted == 0:
            raise RuntimeError("nothing is pending: call send() or reset() first")
        if self.is_child:
            # its environments point to memory of the call, so it cannot time out
            self.dispatch.wait_all(wanted)
        elif not self.dispatch.wait(wanted, timeout):
            raise TimeoutError(f"recv: {self.dispatch.num_finished()} of {wanted} envs finished within {timeout} s")
        if self.observers.refs is not None:
            self.observers.begin()
        result = self.dispatch.receive(wanted)
        if not self.is_async:
            scheduler.held_actions, scheduler.first_actions = None, scheduler.actions.data()
        if self.dispatch.successor is not None:
            self.dispatch = self.dispatch.successor
        causes = None
        if scheduler.errors:
            causes = {i: scheduler.errors.pop(i) for i in result[4]["env_id"].tolist() if i in scheduler.errors}
        if report and self.observers.unreported:
            result = self.observers.report_received(result, self.results.rows_of(ROW_STEP),
                                                    self.results.rows_of(ROW_RESET))
        if causes:
            error = EnvError(causes, result)
            raise error from causes[error.env_id]
        return result

    cdef int _discard(self) except -1:
        while self.ids.pending:
            try:
                self._recv(None, False)
            except EnvError:
                # a caller that discards the rows does not want the errors
                pass
        return 0

    cdef object _rows_of(self, RowKind kind):
        cdef GateGuard guard
        self.lifetime.enter(guard)
        return self.results.rows_of(kind)
