# The pool: sends environments to the threads and hands out batches.
import atexit
import sys
import threading
import time
import warnings
import weakref

from cpython.exc cimport PyErr_CheckSignals
from cpython.ref cimport PyObject
from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t
from libc.string cimport memcpy, memset
from libcpp.atomic cimport atomic
from libcpp.memory cimport make_unique, unique_ptr

cimport numpy as cnp

import numpy as np

from cypool.engine.observer import Observer
from cypool.errors import ClosedError, EnvError
from cypool.util.arguments import shown

from cypool.backend cimport StepBackend
from cypool.cfunctions.env_methods cimport observe_env, seed_env
from cypool.util.constants cimport SLICE_NS
from cypool.util.forks cimport num_forks
from cypool.util.park cimport now_ns
from cypool.util.immortal cimport can_make_immortal, make_immortal
from cypool.env cimport Agents, Env

cnp.import_array()

cdef extern from "cypool/engine/gate.h" namespace "cypool" nogil:
    cdef enum GateState:
        GATE_OPEN
        GATE_BUSY
        GATE_CLOSED

    cdef cppclass Gate:
        GateState enter() noexcept
        void leave() noexcept
        void close() noexcept
        bint is_closed() noexcept

    cdef cppclass Call:
        void hold(Gate& gate) noexcept

cdef extern from "numpy/arrayobject.h":
    PyObject* PyDataMem_DefaultHandler   # borrowed

cdef enum:
    PATIENCE_NS = 10_000_000_000  # how long `close` waits for calls of companions
    WATCHED = 8                  # batches in a user's hands that are looked at for reuse


# closed at exit, while threads can still be joined
pools = weakref.WeakSet()
# of those who attach observers at the same time, where Python has no GIL
_attaching = threading.Lock()


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


cdef int check_same(Env source, Env target) except -1:
    """Raises a ValueError if one cannot become a copy of the other."""
    if type(source) is not type(target) or source.spec.id != target.spec.id or (
            source.spec.saved_options != target.spec.saved_options):
        raise ValueError(f"source: expected an environment with the id and options of env {target.env_id}, got env "
                         f"{source.env_id}: {source.spec.id} with {shown(source.spec.saved_options)}")
    return 0


cdef class Pool:
    """Steps environments on threads.

    This is the engine under the APIs: it assumes that actions are valid, but checks all that could
    make two threads step one environment, or a caller wait for nothing.

    Args:
        envs: `Env` objects of one spec, in the order of their ids.
        seeds: One for each.
        batch_size: Rows of a batch. With fewer rows than envs the pool is asynchronous: `recv` returns
            whichever environments finish first.
        num_threads: Threads that step environments. A synchronous caller is one of them, so 0 and 1
            start none; an asynchronous caller is not, and only with 0 everything happens in `recv`.
        autoreset: "next_step", "same_step" or "disabled": when an environment whose episode has ended
            starts the next one.
        statistics: Whether infos hold "episode": return, length and time of episodes that ended.
        thread_pool: Threads to use, instead of own ones.
        affinity: For each thread that is started the set of its CPUs, or None.
        backend: Steps the environments instead of threads; then none are started. The pool owns it.
        companion_of: Another pool, whose threads are used; if it is closed, the caller steps alone.

    Attributes:
        spec: The `EnvSpec` of the environments: those above take sizes and bounds from here.
        num_envs, batch_size: As many as there are environments, and as given.
        is_async: Whether `batch_size` is less than `num_envs`.
        hooks: The `cypool.api.batch_hooks.BatchHooks` that change batches, or None; it is an observer, too.

    Threads: one caller at a time, a second one gets a RuntimeError.
    Memory: a batch once handed out never changes; its memory is used again when its last array dies.
    """
    cdef Scheduler scheduler
    cdef Threads threads             # own, or shared with other pools
    cdef ThreadPool shared           # whose they are; None: own
    cdef StepBackend backend         # steps the environments, or None
    cdef Dispatch dispatch           # how a batch gets from send to recv
    cdef IdTracker ids
    cdef Layout layout
    cdef Results results
    cdef readonly object spec
    cdef readonly int num_envs
    cdef readonly int batch_size
    cdef readonly bint is_async
    cdef readonly object hooks
    cdef tuple observers             # weak references to who is notified of what it does, in this order; None: nobody
    cdef bint is_asked               # whether one wants to be asked before something is sent
    cdef bint unreported             # whether it has done something that they do not know of
    cdef Pool parent                 # whose threads a companion uses; None: nobody's
    cdef atomic[int] num_unfinished  # companions that are being made
    cdef bint is_companion
    cdef bint shares_threads
    cdef bint has_workers            # threads or processes, which a fork leaves behind
    cdef int num_forks               # when the pool was made
    cdef object companions           # pools that use the threads, too
    cdef Gate gate                   # one call at a time; closed before the pool is made, and at its end
    cdef size_t action_bytes
    cdef int _num_threads
    cdef object __weakref__

    def __init__(self, list envs, list seeds, int batch_size, int num_threads, str autoreset, bint statistics,
                 ThreadPool thread_pool, list affinity, StepBackend backend=None, Pool companion_of=None):
        cdef int num_open, num_workers
        cdef Env env
        if self.scheduler is not None:
            raise RuntimeError("the pool is made already")
        self.spec = spec = (<Env>envs[0]).spec
        for env, seed in zip(envs, seeds, strict=True):
            seed_env(env, seed)
        self.num_envs = len(envs)
        self.batch_size = batch_size
        self.is_async = batch_size < self.num_envs
        self.action_bytes = spec.action_bytes
        mode = {"next_step": NEXT_STEP, "same_step": SAME_STEP, "disabled": DISABLED}[autoreset]
        self.companions = weakref.WeakSet()
        self.layout = Layout(batch_size, spec, mode == SAME_STEP, statistics)
        # this number of batches can hold rows at once, as each env has one row at most
        num_open = self.num_envs // batch_size + 2 if self.is_async else 1
        self.results = Results(spec, self.layout, backend)
        self.ids = IdTracker(self.num_envs, self.is_async)
        self.scheduler = Scheduler(envs, batch_size, num_open, self.action_bytes, not self.is_async, mode,
                                   statistics)
        self.scheduler.filling = [None] * num_open
        # only neighbouring rows can be stepped together
        self.scheduler.supports_step_many = (<Env>envs[0]).prepare_pool(envs) and not self.is_async
        self.shared = thread_pool
        self.backend = backend
        if backend is not None:
            self.threads = Threads(0)
            self._num_threads = backend.count
        elif self.shared is not None:
            self.threads = thread_pool.threads
            self._num_threads = self.threads.count
        elif companion_of is not None and not companion_of.gate.is_closed():
            self.parent, self.threads = companion_of, companion_of.threads
            self._num_threads = companion_of._num_threads if self.threads.count > 0 else 1
        else:
            num_workers = num_threads if self.is_async else num_threads - 1
            self.threads = Threads(max(num_workers, 0), affinity)
            self._num_threads = max(num_threads, 1)
        self.shares_threads = self.shared is not None or companion_of is not None
        self.scheduler.num_steppers = max(self._num_threads, 1)
        self.threads.add_scheduler(self.scheduler)
        self.dispatch = self._make_dispatch()
        self.has_workers = self.threads.count > 0 or backend is not None
        self.num_forks = num_forks()
        self.gate.leave()
        pools.add(self)

    def _make_dispatch(self):
        """Chooses the way of a batch."""
        cdef Blocks blocks = Blocks(self.layout, WATCHED)
        cdef Block block
        cdef size_t k
        parts = self.scheduler, self.threads, blocks, self.results, self.ids
        heuristic = InlineHeuristic(self._num_threads)
        distributor = Distributor(self.scheduler, self.threads, heuristic, self.shares_threads)
        if not self.is_async:
            way = SyncDispatch(*parts, distributor)
        else:
            for k in range(self.scheduler.open.size()):
                block = self.scheduler.filling[k] = blocks.take()
                block.open_on(self.scheduler.open[k])
            way = QueueDispatch(*parts) if self.threads.count > 0 else None
            if way is None or all([(<Env>env).spec.brief_steps for env in self.scheduler.owner]):
                way = DeferredDispatch(*parts, distributor, way)
        return way if self.backend is None else BackendDispatch(*parts, self.backend, way)

    def __del__(self):
        # before the garbage collector takes apart what the threads work with
        self.gate.close()
        if self.threads is not None and self.scheduler is not None:
            self._end()

    cdef void _end(self):
        self.threads.remove_scheduler(self.scheduler)
        if not self.shares_threads:
            self.threads.stop()
        if self.backend is not None:
            self.backend.close()

    def companion(self, list envs):
        """Returns a synchronous pool of other environments on the same threads, which is closed with this one.

        These need no reset. A call waits for their steps also where Ctrl-C comes: nothing of it stays in flight. If
        this pool is closed, the caller steps them alone.
        """
        cdef Pool pool
        cdef Env env
        # `close` waits for it, so that no companion keeps the threads
        self.num_unfinished.fetch_add(1)
        try:
            pool = Pool(envs, [0] * len(envs), len(envs), 0, "next_step", False, None, None, None, self)
            if pool.parent is not None:
                self.companions.add(pool)
        finally:
            self.num_unfinished.fetch_sub(1)
        pool.is_companion = True
        for env in envs:
            env.needs_reset = False
            pool.ids.start(env.env_id)
        return pool

    def attach(self, observer):
        """Has an observer notified of what the pool does, behind those that are attached, until nobody else holds it.

        Args:
            observer: A `cypool.engine.observer.Observer`.
        """
        with _attaching:
            if any([ref() is observer for ref in self.observers or ()]):
                # its owner was interrupted before it could note that
                return
            self.is_asked = self.is_asked or type(observer)._before is not Observer._before
            self.observers = tuple([*(self.observers or ()), weakref.ref(observer)])

    def detach(self, observer):
        """Notifies an observer no more."""
        with _attaching:
            left = [ref for ref in self.observers or () if ref() is not None and ref() is not observer]
            self.observers = tuple(left) if left else None

    def use_hooks(self, hooks):
        """Has hooks change what the pool hands out, before other observers see it; called before there are any."""
        self.hooks = hooks
        self.attach(hooks)

    def observed_by(self, cls):
        """Returns whether an object of a class is attached."""
        return any([isinstance(observer, cls) for observer in self._observers()])

    def catch_up(self):
        """Notifies observers of a gap, if the pool has done something that they do not know of."""
        cdef Call call
        if self.unreported:
            self._enter(call)
            self._report_gap()

    cdef int _report_gap(self) except -1:
        if self.unreported:
            for ref in self.observers or ():
                observer = ref()
                if observer is not None:
                    observer._on_gap()
            self.unreported = False
        return 0

    cdef list _observers(self):
        return [observer for observer in [ref() for ref in self.observers or ()] if observer is not None]

    cdef int _announce(self, options) except -1:
        """Notifies observers that something will be sent. Before the gate, as they may ask the pool."""
        if self.unreported:
            self.catch_up()
        if self.is_asked:
            for observer in self._observers():
                observer._before(options)
        return 0

    @property
    def num_threads(self):
        """Threads that step environments; a synchronous caller is one of them. Processes, where these do."""
        return self._num_threads

    @property
    def has_extra_infos(self):
        """Whether `info["extra_infos"]` may contain infos other than arrays."""
        return self.backend is not None

    @property
    def num_pending(self):
        """Environments sent and not received yet."""
        return self.ids.pending

    @property
    def num_unstarted(self):
        """Environments that were never reset, loaded or made a copy."""
        return self.ids.num_unstarted

    def unstarted(self):
        """Returns their ids: a set."""
        return {i for i in range(self.num_envs) if not self.ids.started[i]}

    def in_flight(self):
        """Returns the ids of environments that an asynchronous pool was sent, and has not handed out: a list."""
        return [i for i in range(self.num_envs) if self.ids.in_flight[i]]

    def close(self):
        """Ends the threads and lets go of environments and memory. A second call does nothing."""
        if not self.try_close():
            raise RuntimeError("close: another thread is in a call of this pool, or one of its own hooks and policies "
                               "closes it")

    cdef bint try_close(self) except -1:
        """Does what `close` does; False if another thread is in a call."""
        cdef GateState found = self.gate.enter()
        cdef bint alone = False
        if found != GATE_OPEN:
            return found == GATE_CLOSED
        # first: from now on nobody makes a companion on the threads, or begins a call of one
        self.gate.close()
        try:
            alone = self._close_companions()
        finally:
            if not alone:
                self.gate.leave()
        if not alone:
            return False
        try:
            self._end()
        finally:
            # a thread that found its own pool in the garbage still holds the scheduler, and with it the blocks. The
            # threads have ended, but another caller may be about to look at them
            self.scheduler = None
            self.shared = None
            self.backend = None
            self.dispatch = self.results = None
        return True

    cdef bint _close_companions(self) except -1:
        """Closes what uses the threads, too, once its calls have ended; False if one takes too long."""
        cdef Pool companion
        cdef int64_t deadline = now_ns() + PATIENCE_NS
        cdef bint waits = True
        while waits:
            # a fork leaves their calls behind
            waits = self.num_unfinished.load() > 0 and self.num_forks == num_forks()
            if not waits:
                for companion in list(self.companions):
                    if not companion.try_close() and self.num_forks == num_forks():
                        waits = True
            if waits:
                if now_ns() > deadline:
                    return False
                time.sleep(1e-4)
        return True

    def send(self, cnp.ndarray actions, cnp.ndarray env_ids=None):
        """Sends actions to environments; does not wait.

        Args:
            actions: C-contiguous, of the spec's dtype and shape behind the first axis, one row for
                each id. Copied.
            env_ids: int32, C-contiguous, shape (k,); all environments if None, and in an asynchronous
                pool those of the last batch received.

        Raises:
            ValueError: An id is out of range or comes twice, or the number of actions is wrong.
            RuntimeError: An environment is in flight or was never reset.
        """
        cdef Call call
        if self.observers is not None:
            self._announce(None)
        self._enter(call)
        self._send(actions, env_ids, None)

    def send_reset(self, cnp.ndarray env_ids=None, bint others=False, list seeds=None, options=None,
                   bint discard=False):
        """Starts to reset environments; does not wait.

        Args:
            env_ids: int32, C-contiguous, shape (k,); all environments if None.
            others: Whether the batch holds all environments: those not named, maybe all, are only observed again.
            seeds: Pairs (env id, seed) for environments that are named.
            options: A dict for all environments that are named, or a list with a dict or None for each.
            discard: Whether what is in flight is thrown away, rather than in the way.

        Raises:
            ValueError, RuntimeError: As `send`, but it does not matter whether an environment was reset before.
            TypeError, ValueError: The options are wrong, or the backend cannot pass them on. Nothing was reset.
        """
        cdef Call call
        cdef uint32_t count
        cdef const int32_t* ids
        cdef uint32_t k
        cdef Env env
        cdef bint observed = self.observers is not None
        if observed:
            self._announce(options)
        self._enter(call)
        if others and env_ids is None:
            raise ValueError("env_id: expected those to reset where the others are observed, got None")
        if others and cnp.PyArray_SIZE(env_ids) == 0:
            ids = self.ids.check(self.scheduler, None, INSPECT, &count, discard)
            count = 0
        else:
            ids = self.ids.check(self.scheduler, env_ids, RESET, &count, discard)
        if others and self.ids.num_unstarted > 0 and count < <uint32_t>self.num_envs:
            raise RuntimeError("reset: the first reset has to be one of all envs")
        packed = None
        if options is not None:
            if discard and self.ids.pending > 0 and self.backend is None:
                # environments at rest take options. If one refuses them, what is in flight can still be received
                while not self.dispatch.finish(SLICE_NS):
                    PyErr_CheckSignals()
            packed = give_reset_options(self.scheduler.owner, self.backend, ids, count, options)
        if discard:
            self._drain()
        taken = None
        if observed:
            self._report_gap()
            self.unreported = True
            taken = None if env_ids is None else self._taken(ids, count)
        for env_id, seed in seeds or ():
            env = self.scheduler.owner[env_id]
            seed_env(env, seed)
        if others:
            for k in range(<uint32_t>self.num_envs):
                (<Env>self.scheduler.envs[k]).observe_only = True
        for k in range(count):
            (<Env>self.scheduler.envs[ids[k]]).observe_only = False
            (<Env>self.scheduler.envs[ids[k]]).needs_reset = True
            (<Env>self.scheduler.envs[ids[k]]).reset_requested = True
            self.ids.start(ids[k])
        if others:
            ids, count = self.ids.all_ids.data(), <uint32_t>self.num_envs
        # in an asynchronous pool it never changes, and threads read it
        if self.scheduler.task != STEP_EACH:
            self.scheduler.task = STEP_EACH
        if self.backend is not None:
            self.backend.options = packed
        try:
            self.dispatch.send(ids, count, None)
        finally:
            if self.backend is not None:
                # they are for this reset only
                self.backend.options = None
        if observed:
            for observer in self._observers():
                observer._on_reset(taken, others, seeds, options)
            self.unreported = False

    def recv(self, timeout=None):
        """Waits for a batch.

        Args:
            timeout: Seconds to wait at most.

        Returns:
            Observation (an array, or a dict or tuple of arrays), reward, terminated, truncated, info: `batch_size`
            rows, or as many as are pending if those are fewer. In the order of `send` if synchronous.
            With autoreset "same_step" `info["final"]` is (observation, info) of the episodes that ended,
            valid in the rows that are terminated or truncated.

        Raises:
            RuntimeError: Nothing is pending.
            TimeoutError: The time is over; the batch can still be received later.
            EnvError: An environment failed.
        """
        cdef Call call
        self._enter(call)
        return self._recv(timeout)

    def step(self, cnp.ndarray actions, cnp.ndarray env_ids=None, tuple out=None):
        """`send`, then `recv`.

        Args:
            actions, env_ids: As in `send`.
            out: Arrays that take the place of the pool's own in this step: for each part of the observation,
                reward, terminated, truncated. C-contiguous and writeable, of the spec's dtypes and shapes, a row for
                each id. For synchronous pools only.
        """
        cdef Call call
        if out is not None and self.hooks is not None:
            # these make arrays of their own
            return self.hooks.step_to(self, actions, env_ids, out)
        if self.observers is not None:
            self._announce(None)
        self._enter(call)
        self._send(actions, env_ids, out)
        result = self._recv(None)
        self.dispatch.step_done()
        return result

    def rollout(self, cnp.ndarray actions, uint32_t num_steps, uint32_t observe_every, tuple out=None, timeout=None,
                policy=None):
        """Steps all environments many times. For synchronous pools without a backend only.

        Args:
            actions: C-contiguous, of the spec's dtype, `num_steps * num_envs` rows: those of the first step come first.
                They must not change meanwhile. With a policy it writes them here, so they are writeable.
            num_steps: How many steps, at least 1.
            observe_every: Of how many steps only the last one is observed; the last step of all is in any case.
            out: As in `step`, with a row for each step of each environment. Observations have fewer rows if
                `observe_every` is more than 1.
            timeout: Seconds to wait at most.
            policy: A `cypool.policies.Policy` that fits the spec and the number of environments, or None.

        Returns:
            What `recv` returns, with rows in the order of the actions; observations and the environment's infos are in
            the first rows of their arrays if `observe_every` is more than 1.

        Raises:
            TimeoutError, KeyboardInterrupt: The rollout has ended early: each environment has made some of the steps.
            EnvError: An environment failed, in a step that `steps` names.
            ValueError, RuntimeError: As `step`, or the arrays or the policy do not fit the pool.
        """
        cdef Call call
        cdef uint32_t count
        cdef bint finished = False, together
        cdef SyncDispatch dispatch
        cdef Scheduler scheduler
        cdef bint observed = self.observers is not None
        if observed:
            self._announce(None)
        self._enter(call)
        scheduler = self.scheduler
        self.ids.check(scheduler, None, STEP, &count)
        self._check_rollout(actions, num_steps, observe_every, out, policy)
        dispatch = self.dispatch
        # a kernel for many environments has no regard for those whose episode is over
        together = scheduler.supports_step_many and scheduler.autoreset != DISABLED
        scheduler.task = STEP_TOGETHER if together else STEP_EACH
        count = num_steps * <uint32_t>self.num_envs
        if timeout is not None and timeout <= 0:
            raise TimeoutError(f"rollout: not done in {timeout} s")
        by_policy = None if policy is None else dispatch.prepare_policy(policy)
        self.unreported = observed
        dispatch.send_rollout(cnp.PyArray_BYTES(actions), num_steps, observe_every, out, by_policy)
        try:
            finished = self._collect(count, timeout)
            if not finished:
                raise TimeoutError(f"rollout: not done in {timeout} s")
            result = dispatch.receive_rollout()
        except BaseException:
            scheduler.cancelled.store(1)
            if not finished:
                self._collect_all(count)
            scheduler.errors.clear()
            raise
        finally:
            dispatch.end_rollout()
        causes = steps = None
        if scheduler.errors:
            causes, steps = dict(scheduler.errors), {i: scheduler.error_steps[i] for i in scheduler.errors}
            scheduler.errors.clear()
        if observed:
            for observer in self._observers():
                # a policy that has failed is not there if the actions are repeated
                if causes and policy is not None:
                    observer._on_gap()
                else:
                    observer._on_rollout(actions, num_steps, observe_every, result)
            self.unreported = False
        if causes:
            error = EnvError(causes, result, steps)
            raise error from causes[error.env_id]
        return result

    cdef int _check_rollout(self, cnp.ndarray actions, uint32_t num_steps, uint32_t observe_every, tuple out,
                            policy) except -1:
        """Checks what threads read and write without a look at its size."""
        cdef int64_t rows = <int64_t>num_steps * self.num_envs
        if self.is_async or self.backend is not None:
            raise ValueError("rollout: expected a synchronous pool without a backend")
        if not 0 < rows < 2**31 or observe_every == 0:
            raise ValueError(f"rollout: expected 1 to {2**31 - 1} rows, got {num_steps} steps of {self.num_envs} envs")
        if (cnp.PyArray_NBYTES(actions) != rows * <int64_t>self.action_bytes or not cnp.PyArray_ISCARRAY_RO(actions)
                or policy is not None and not cnp.PyArray_ISWRITEABLE(actions)):
            raise self._wrong_actions(actions, rows)
        if out is not None:
            if observe_every > 1:
                raise ValueError("out: expected None where not every step is observed")
            self.layout.check_out(out, <uint32_t>rows)
        if policy is not None:
            policy.check(self.spec, self.num_envs)
            policy._begin(num_steps, self.num_envs)
        return 0

    def starts(self):
        """Returns which rows of the batch received last begin an episode, as they are of a reset: bool."""
        return self._rows_of(ROW_RESET)

    def stepped(self):
        """Returns which rows of the batch received last are of a step: bool.

        The others begin an episode, or their environment was only observed, stays at its end, or has failed.
        """
        return self._rows_of(ROW_STEP)

    cdef object _rows_of(self, RowKind kind):
        cdef Call call
        self._enter(call)
        return self.results.rows_of(kind)

    def save(self, cnp.ndarray env_ids=None):
        """Saves all that the next steps of environments depend on.

        Args:
            env_ids: As in `send_reset`.

        Returns:
            (ids, states): a list of ints, and for each of them a dict that pickles.

        Raises:
            ValueError: An id is out of range or comes twice.
            RuntimeError: An environment is in flight or was never reset.
            NotImplementedError: The environment cannot.
        """
        cdef Call call
        cdef uint32_t count, k
        cdef const int32_t* ids
        self._enter(call)
        ids = self.ids.check(self.scheduler, env_ids, INSPECT, &count)
        states = [save_state(<Env>self.scheduler.envs[ids[k]]) for k in range(count)]
        return [ids[k] for k in range(count)], states

    def load(self, cnp.ndarray env_ids, list states):
        """Puts environments back to where `save` found these, or others with the same options.

        Args:
            env_ids: As in `send_reset`.
            states: One for each.

        Returns:
            Observation and info of these environments.

        Raises:
            ValueError, RuntimeError: As `save`, but it does not matter whether an environment was reset before; or
                a row is not one of `save`'s. What the engine keeps of all rows is checked before anything changes. An
                environment that refuses its own part of a row starts an episode with its next step.
        """
        cdef Call call
        cdef uint32_t count, k
        cdef const int32_t* ids
        self._enter(call)
        ids = self.ids.check(self.scheduler, env_ids, RESET, &count)
        if <Py_ssize_t>count != len(states):
            raise ValueError(f"state: expected {count} rows, one for each env, got {len(states)}")
        rows = [check_state(<Env>self.scheduler.envs[ids[k]], states[k]) for k in range(count)]
        self.unreported = self.observers is not None
        for k in range(count):
            load_state(<Env>self.scheduler.envs[ids[k]], rows[k])
            self.ids.start(ids[k])
        obs, info = self._observe_now(ids, count)
        self._report_gap()
        return (obs if self.hooks is None else self.hooks.observed(obs)), info

    def copy(self, cnp.ndarray sources, cnp.ndarray targets):
        """Makes environments exact copies of others, random streams and counts of steps included.

        Args:
            sources: int32, C-contiguous, shape (k,): whose copies they become; or one id, shape (1,), for all.
            targets: As `env_ids` in `send_reset`.

        Raises:
            ValueError: An id is out of range, a target comes twice or is a source too, or it has another spec than its
                source; nothing has changed.
            RuntimeError: An environment is in flight, or a source was never reset; nothing has changed.
            Exception: What `copy_from` of an environment raised, that with the lowest id. It starts an episode with its
                next step, unless this is a NotImplementedError: then it is as it was. All others have been copied.
        """
        cdef Call call
        cdef uint32_t count, k
        cdef const int32_t* ids
        cdef const int32_t* from_ids
        cdef Scheduler scheduler
        cdef Env source, target
        self._enter(call)
        scheduler = self.scheduler
        ids = self.ids.check(scheduler, targets, REPLACE, &count)
        from_ids = self.ids.check_sources(sources, count)
        for k in range(count):
            source, target = <Env>scheduler.envs[from_ids[k]], <Env>scheduler.envs[ids[k]]
            if source.spec is not target.spec or type(source) is not type(target):
                check_same(source, target)
        self.unreported = self.observers is not None
        if self.is_async or self.backend is not None:
            errors = self._copy_here(ids, from_ids, count)
        else:
            errors = self._copy_on_threads(ids, from_ids, count)
        for k in range(count):
            if ids[k] not in errors:
                self.ids.start(ids[k])
        self._report_gap()
        if errors:
            raise errors[min(errors)]

    cdef dict _copy_here(self, const int32_t* ids, const int32_t* sources, uint32_t count):
        """Copies on the caller's thread, where others take what they step from a queue; returns the errors."""
        cdef uint32_t k = 0
        cdef Scheduler scheduler = self.scheduler
        # the scheduler's are of rows that nobody has received yet
        cdef dict errors = {}
        while k < count:
            try:
                with nogil:
                    while k < count:
                        copy_env(scheduler.envs[ids[k]], scheduler.envs[sources[k]])
                        k += 1
            except BaseException as error:
                note_failed_copy(scheduler.envs[ids[k]], error)
                if not isinstance(error, Exception):
                    raise
                errors[ids[k]] = error
                k += 1
        return errors

    cdef dict _copy_on_threads(self, const int32_t* ids, const int32_t* sources, uint32_t count):
        """Returns the errors."""
        cdef SyncDispatch dispatch = self.dispatch
        dispatch.send_copies(ids, sources, count)
        interrupt = self._collect_all(count)
        dispatch.end_copies()
        errors = dict(self.scheduler.errors)
        self.scheduler.errors.clear()
        if interrupt is not None:
            raise interrupt
        PyErr_CheckSignals()
        return errors

    cdef tuple _observe_now(self, const int32_t* ids, uint32_t count):
        """Observes environments on the caller's thread, into fresh memory."""
        cdef Block block = Block(self.layout.of(count))
        cdef unique_ptr[OpenBatch] batch = make_unique[OpenBatch]()
        cdef RowPointers target
        cdef PyObject* env
        cdef uint32_t k
        block.open_on(batch.get())
        memset(batch.get().kind, ROW_NO_STEP, count)
        for k in range(count):
            env = self.scheduler.envs[ids[k]]
            set_row_pointers(&target, batch.get(), batch.get().columns, k)
            observe_env(env, &target.slot)
            if self.scheduler.agents_leave:
                hide_absent(env, batch.get(), batch.get().columns, k)
            if self.scheduler.has_agents:
                write_no_step(env, batch.get(), k)
            batch.get().env_id[k] = ids[k]
            batch.get().elapsed_step[k] = (<Env>env).elapsed_step
        obs, _, _, _, info = self.results.of(block, count, None)
        return obs, info

    def acting(self, cnp.ndarray env_ids=None):
        """Returns which agents act in the next step: bool, (k, agents), group by group.

        Args:
            env_ids: As in `send`.

        Raises:
            ValueError, RuntimeError: As `send`.
        """
        cdef Call call
        cdef uint32_t count, k, j, n
        cdef const int32_t* ids
        cdef const Agents* agents
        cdef PyObject* env
        cdef uint8_t* acting
        self._enter(call)
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

    def render(self, cnp.ndarray env_ids=None):
        """Draws environments.

        Args:
            env_ids: As in `send_reset`.

        Returns:
            A list of pictures, uint8 (height, width, 3).

        Raises:
            ValueError: An id is out of range or comes twice.
            RuntimeError: An environment is in flight or was never reset. One that a backend steps says itself whether
                it can be drawn before.
            NotImplementedError: The environment cannot be drawn.
        """
        cdef Call call
        cdef uint32_t count, k
        cdef const int32_t* ids
        self._enter(call)
        ids = self.ids.check(self.scheduler, env_ids, INSPECT if self.backend is None else RESET, &count)
        return [(<Env>self.scheduler.envs[ids[k]]).render() for k in range(count)]

    def streams(self):
        """Returns the states of the environments' random streams: a list, None where there is no stream.

        Raises:
            RuntimeError: An environment is in flight.
        """
        cdef Call call
        cdef Env env
        cdef uint32_t count
        self._enter(call)
        # whether an environment was reset before does not matter
        self.ids.check(self.scheduler, None, RESET, &count)
        return [None if env._bit_generator is None else env._bit_generator.state for env in self.scheduler.owner]

    def ask(self, cnp.ndarray env_ids, function, *args, **kwargs):
        """Calls a function with environments that are stepped by a backend, where they are.

        Args:
            env_ids: As in `send_reset`.
            function: Is called with an environment, `args` and `kwargs`; all have to pickle.

        Returns:
            What it returns, a list.

        Raises:
            ValueError, RuntimeError: As `send`, but it does not matter whether an environment was reset before.
            Exception: What the function raises.
        """
        cdef Call call
        cdef uint32_t count, k
        cdef const int32_t* ids
        self._enter(call)
        ids = self.ids.check(self.scheduler, env_ids, RESET, &count)
        return [self.scheduler.owner[ids[k]].ask(function, *args, **kwargs) for k in range(count)]

    def call_user(self, function, argument):
        """Calls a hook or a policy in Python. Until it returns, the pool takes no other call.

        Returns:
            What it returns.

        Raises:
            RuntimeError: Another thread is in a call.
            Exception: What the function raises.
        """
        cdef Call call
        self._enter(call)
        return function(argument)

    def await_holding_gil(self, double timeout):
        """Waits for the batch that `recv` is to bring, with the GIL held all the time: for tests.

        Returns:
            Whether it finished within this number of seconds: no environment asked for the GIL then.
        """
        cdef OpenBatch* batch
        if not self.is_async or self.threads.count == 0:
            raise RuntimeError("nobody steps environments while the caller waits")
        if isinstance(self.dispatch, DeferredDispatch):
            (<DeferredDispatch>self.dispatch).use_threads()
            self.dispatch = self.dispatch.successor
        batch = self.dispatch.batch()
        wanted = min(self.ids.pending, <uint32_t>self.batch_size)
        return self.scheduler.await_rows(batch, wanted, <int64_t>(timeout * 1e9))

    def drain(self):
        """Waits for everything in flight and throws it away."""
        cdef Call call
        self._enter(call)
        self._drain()

    cdef int _drain(self) except -1:
        while self.ids.pending:
            try:
                self._recv(None, False)
            except EnvError:
                # a caller that discards the rows does not want the errors
                pass
        return 0

    cdef bint _collect(self, uint32_t wanted, timeout) except -1:
        """Waits for rows in slices of time, between which Python looks for signals; False if the time is over."""
        cdef int64_t slice_ns = SLICE_NS, deadline = 0
        cdef bint finished = False
        if timeout is not None:
            deadline = now_ns() + <int64_t>(timeout * 1e9)
        while not finished:
            if timeout is not None:
                slice_ns = max(min(<int64_t>SLICE_NS, deadline - now_ns()), <int64_t>0)
            finished = self.dispatch.collect(wanted, slice_ns)
            # also at the end: a batch that was handed out would be lost with the interpreter's own look
            PyErr_CheckSignals()
            if not finished and timeout is not None and now_ns() >= deadline:
                return False
        return True

    cdef object _collect_all(self, uint32_t wanted):
        """Waits for rows that nobody can take back; returns a KeyboardInterrupt that came meanwhile, or None."""
        interrupt = None
        while True:
            try:
                if self.dispatch.collect(wanted, SLICE_NS):
                    return interrupt
            except KeyboardInterrupt as error:
                # an environment of Python's saw it, and has failed; the threads are at the others
                interrupt = error

    cdef int _enter(self, Call& call) except -1:
        """Begins a call, which ends with its function. Before it, another thread may be in one, or close the pool."""
        cdef GateState found = self.gate.enter()
        if found == GATE_OPEN:
            call.hold(self.gate)
            if self.parent is not None and self.parent.gate.is_closed():
                raise ClosedError("the pool whose threads this one uses is closed")
        elif found == GATE_CLOSED:
            raise ClosedError("the pool is closed")
        # in a forked process nobody is in there any more. Else it may let go of the dispatch at this moment
        elif not self.has_workers or self.num_forks == num_forks():
            raise RuntimeError("the pool is in a call already: use it from one thread at a time, and not from its "
                               "own hooks and policies")
        if self.dispatch.forked():
            raise RuntimeError("the pool was made before fork(): its threads, or processes, are the parent's, make a "
                               "new one")
        return 0

    cdef object _wrong_actions(self, cnp.ndarray actions, int64_t rows):
        """Returns the error of actions that are no such rows, or not as they lie in memory."""
        if cnp.PyArray_NDIM(actions) > 0 and cnp.PyArray_DIM(actions, 0) != rows:
            return ValueError(f"actions: expected {rows} rows, got {cnp.PyArray_DIM(actions, 0)}")
        return ValueError(f"actions: expected {rows} C-contiguous rows of {self.action_bytes} bytes, got "
                          f"{actions.dtype} of shape {(<object>actions).shape}")

    cdef int _send(self, cnp.ndarray actions, cnp.ndarray env_ids, tuple out) except -1:
        cdef uint32_t count, k
        cdef const int32_t* ids = self.ids.check(self.scheduler, env_ids, STEP, &count)
        cdef const char* source = cnp.PyArray_BYTES(actions)
        cdef char* target = self.scheduler.actions.data()
        cdef bint observed = self.observers is not None
        if <size_t>cnp.PyArray_NBYTES(actions) != count * self.action_bytes or not cnp.PyArray_ISCARRAY_RO(actions):
            raise self._wrong_actions(actions, count)
        if out is not None:
            self.layout.check_out(out, count)
        if self.scheduler.supports_step_many:
            self.scheduler.task = STEP_TOGETHER
        if ids == self.ids.all_ids.data():
            memcpy(target, source, count * self.action_bytes)
        elif self.action_bytes == 8:
            # no call: the compiler knows the size
            for k in range(count):
                memcpy(target + <size_t>ids[k] * 8, source + <size_t>k * 8, 8)
        else:
            for k in range(count):
                memcpy(target + ids[k] * self.action_bytes, source + k * self.action_bytes, self.action_bytes)
        if not observed:
            self.dispatch.send(ids, count, out)
            return 0
        taken = None if env_ids is None and not self.is_async else self._taken(ids, count)
        self._report_gap()
        if self.hooks is not None:
            # before: whatever interrupts the rest, the batch comes, and with it the hooks are called
            self.hooks.note_actions(actions, taken)
        self.unreported = True
        self.dispatch.send(ids, count, out)
        for ref in self.observers or ():
            observer = ref()
            if observer is not None:
                observer._on_sent(actions, taken)
        self.unreported = False
        return 0

    cdef object _taken(self, const int32_t* ids, uint32_t count):
        """Returns env ids as an array."""
        cdef cnp.npy_intp size = count
        cdef cnp.ndarray array = cnp.PyArray_SimpleNew(1, &size, cnp.NPY_INT32)
        memcpy(cnp.PyArray_DATA(array), ids, count * sizeof(int32_t))
        return array

    cdef object _recv(self, timeout, bint report=True):
        cdef Scheduler scheduler = self.scheduler
        cdef uint32_t wanted = min(self.ids.pending, <uint32_t>self.batch_size)
        if wanted == 0:
            raise RuntimeError("nothing is pending: call send() or reset() first")
        if self.is_companion:
            # what its environments point to may be gone afterwards
            self._collect_all(wanted)
        elif not self._collect(wanted, timeout):
            raise TimeoutError(f"recv: {self.dispatch.num_finished()} of {wanted} envs finished in {timeout} s")
        if self.observers is not None:
            self._report_gap()
            self.unreported = True
        result = self.dispatch.receive(wanted)
        if self.dispatch.successor is not None:
            self.dispatch = self.dispatch.successor
        causes = None
        if scheduler.errors:
            causes = {i: scheduler.errors.pop(i) for i in result[4]["env_id"].tolist() if i in scheduler.errors}
        if report and self.unreported:
            stepped, starts = self.results.rows_of(ROW_STEP), self.results.rows_of(ROW_RESET)
            for ref in self.observers or ():
                observer = ref()
                if observer is not None:
                    result = observer._on_received(result, stepped, starts)
            self.unreported = False
        if causes:
            error = EnvError(causes, result)
            raise error from causes[error.env_id]
        return result


cdef int _make_shared_objects_immortal() except -1:
    """Spares threads with a pool each the counts of what they share: methods, and what allocates NumPy's arrays."""
    if not can_make_immortal():
        warnings.warn(f"cypool cannot make objects immortal in Python {sys.version.split()[0]}, as it can in 3.13 and "
                      "3.14: threads with a pool each may wait for each other at reference counts", RuntimeWarning)
        return 0
    for attribute in vars(Pool).values():
        make_immortal(<PyObject*>attribute)
    make_immortal(PyDataMem_DefaultHandler)
    return 0


_make_shared_objects_immortal()
