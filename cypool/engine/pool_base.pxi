# The base of a pool: its parts, its calls one at a time, and its end.
from libc.stdint cimport int64_t
from libcpp.atomic cimport atomic

import atexit
import time
import weakref

from cypool.engine import cpus
from cypool.errors import ClosedError

from cypool.env_methods cimport seed_env
from cypool.util.forks cimport num_forks
from cypool.util.park cimport now_ns
from cypool.backend cimport StepBackend
from cypool.env cimport Env

cdef extern from "cypool/engine/gate.h" namespace "cypool" nogil:
    cdef enum GateState:
        GATE_OPEN
        GATE_BUSY
        GATE_CLOSED

    cdef cppclass Gate:
        GateState enter() noexcept
        void open() noexcept
        void close() noexcept
        bint is_closed() noexcept

    cdef cppclass GateGuard:
        void hold(Gate& gate) noexcept

cdef enum:
    PATIENCE_NS = 10_000_000_000  # how long `close` waits for calls of child pools
    WATCHED = 8                  # batches in a user's hands that are looked at for reuse


# closed at exit, while threads can still be joined
pools = weakref.WeakSet()


@atexit.register
def _close_pools():
    cdef PoolBase pool
    first = None
    for pool in list(pools):
        try:
            # unless a daemon thread is still in a call
            pool.try_close()
        except BaseException as error:
            first = first or error
    if first is not None:
        raise first


cdef class PoolBase:
    """A pool from the moment it is created until it is closed: its parts, and one call at a time.

    The arguments and attributes are those of `Pool`.
    """
    cdef Scheduler scheduler
    cdef Threads threads             # own, or shared with other pools
    cdef ThreadPool thread_pool      # whose they are, or None
    cdef StepBackend backend         # steps the environments, or None
    cdef Dispatch dispatch           # how a batch gets from send to recv
    cdef IdTracker ids
    cdef BatchLayout layout
    cdef Results results
    cdef readonly object spec
    cdef readonly int num_envs
    cdef readonly int batch_size
    cdef readonly bint is_async
    cdef readonly object hooks
    cdef Observers observers
    cdef LegalActions legal_actions  # None: all are legal
    cdef PoolBase parent              # the pool whose threads a child pool uses; else None
    cdef atomic[int] num_unfinished  # child pools that are being made
    cdef bint is_child
    cdef bint shares_threads
    cdef bint has_workers            # threads or processes, which a fork leaves behind
    cdef int num_forks               # when the pool was made
    cdef object children              # pools that use the threads, too
    cdef Gate gate                   # one call at a time; closed before the pool is made, and at its end
    cdef size_t action_bytes
    cdef int _num_threads
    cdef object __weakref__

    def __init__(self, list envs, list seeds, int batch_size, int num_threads, str autoreset, bint statistics,
                 ThreadPool thread_pool, list affinity, StepBackend backend=None, PoolBase parent=None):
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
        self.children = weakref.WeakSet()
        self.observers = Observers()
        self.legal_actions = None if spec.illegal is None else LegalActions(spec)
        self.layout = BatchLayout(batch_size, spec, mode == SAME_STEP, statistics)
        # this number of batches can hold rows at once, as each env has one row at most
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
        self.thread_pool = thread_pool
        self.backend = backend
        if backend is not None:
            self.threads = Threads(0)
            self._num_threads = backend.count
        elif thread_pool is not None:
            self.threads = thread_pool.threads
            self._num_threads = self.threads.count
        elif parent is not None and not parent.gate.is_closed():
            self.parent, self.threads = parent, parent.threads
            self._num_threads = parent._num_threads if self.threads.count > 0 else 1
        else:
            self.threads = Threads(max(num_threads if self.is_async else num_threads - 1, 0), affinity)
            self._num_threads = max(num_threads, 1)
        self.shares_threads = thread_pool is not None or parent is not None
        self.scheduler.num_steppers = max(self._num_threads, 1)
        if not self.is_async and self.scheduler.num_steppers <= num_cpus:
            # each has a core
            self.scheduler.max_spin_ns = MAX_SPIN_NS
        self.threads.add_scheduler(self.scheduler)
        self.dispatch = self._make_dispatch(num_cpus)
        self.has_workers = self.threads.count > 0 or backend is not None
        self.num_forks = num_forks()
        self.gate.open()
        pools.add(self)

    def _make_dispatch(self, int num_cpus):
        """Chooses the dispatch."""
        cdef Blocks blocks = Blocks(self.layout, WATCHED)
        cdef Block block
        cdef size_t k
        parts = self.scheduler, self.threads, blocks, self.results, self.ids
        distributor = Distributor(self.scheduler, self.threads, self._num_threads, num_cpus, self.shares_threads)
        if not self.is_async:
            dispatch = SyncDispatch(*parts, distributor)
        else:
            for k in range(self.scheduler.open.size()):
                block = self.scheduler.filling[k] = blocks.take()
                block.open_on(self.scheduler.open[k])
            dispatch = QueueDispatch(*parts) if self.threads.count > 0 else None
            if dispatch is None or all([(<Env>env).spec.brief_steps for env in self.scheduler.env_objects]):
                dispatch = DeferredDispatch(*parts, distributor, dispatch)
        return dispatch if self.backend is None else BackendDispatch(*parts, self.backend, dispatch)

    def __del__(self):
        # before the garbage collector takes apart objects that the threads use
        self.gate.close()
        if self.threads is not None and self.scheduler is not None:
            self._end()

    cdef void _end(self):
        self.threads.remove_scheduler(self.scheduler)
        if not self.shares_threads:
            self.threads.stop()
        if self.backend is not None:
            self.backend.close()

    def child_pool(self, list envs):
        """Returns a synchronous pool of other environments on the same threads, which is closed with this one.

        These need no reset. A call waits for their steps even after Ctrl-C, so nothing stays in flight. If
        this pool is closed, the caller steps them alone.
        """
        cdef PoolBase pool
        cdef Env env
        # `close` waits for it, so that no child pool keeps the threads
        self.num_unfinished.fetch_add(1)
        try:
            pool = type(self)(envs, [0] * len(envs), len(envs), 0, "next_step", False, None, None, None, self)
            if pool.parent is not None:
                self.children.add(pool)
        finally:
            self.num_unfinished.fetch_sub(1)
        pool.is_child = True
        for env in envs:
            env.needs_reset = False
            pool.ids.mark_started(env.env_id)
        return pool

    def environments(self):
        """Returns the `Env` objects, in the order of their ids: not to be stepped while the pool is open."""
        cdef GateGuard guard
        self._enter(guard)
        return list(self.scheduler.env_objects)

    def attach(self, observer):
        """Notifies an observer of the pool's calls, after those already attached, as long as something else holds it.

        Args:
            observer: A `cypool.engine.observer.Observer`.
        """
        self.observers.attach(observer)

    def detach(self, observer):
        """Stops notifying an observer."""
        self.observers.detach(observer)

    def use_hooks(self, hooks):
        """Lets hooks change the batches before other observers see them; to be called before there are any."""
        self.hooks = hooks
        self.attach(hooks)

    def observed_by(self, cls):
        """Returns whether an object of a class is attached."""
        return any([isinstance(observer, cls) for observer in self.observers.living()])

    def catch_up(self):
        """Notifies observers of a gap, if the pool has done something unreported."""
        cdef GateGuard guard
        if self.observers.unreported:
            self._enter(guard)
            self.observers.report_gap()

    @property
    def num_threads(self):
        """Number of threads, or processes, that step environments; a synchronous caller is one of the threads."""
        return self._num_threads

    @property
    def is_hosted(self):
        """Whether `info["extra_infos"]` may contain infos other than arrays."""
        return self.backend is not None

    @property
    def num_pending(self):
        """Number of environments sent and not received yet."""
        return self.ids.pending

    @property
    def num_unstarted(self):
        """Number of environments that were never reset, loaded or turned into a copy."""
        return self.ids.num_unstarted

    def unstarted(self):
        """Returns their ids: a set."""
        return {i for i in range(self.num_envs) if not self.ids.was_reset[i]}

    def in_flight(self):
        """Returns the ids of environments sent to an asynchronous pool and not returned yet: a list."""
        return [i for i in range(self.num_envs) if self.ids.in_flight[i]]

    def close(self):
        """Ends the threads, and releases environments and memory. A second call does nothing."""
        if not self.try_close():
            raise RuntimeError("close: another thread is in a call of this pool, or it is closed from one of its own "
                               "hooks or policies")

    cdef bint try_close(self) except -1:
        """Closes the pool; False if another thread is in a call."""
        cdef GateState found = self.gate.enter()
        cdef bint alone = False
        if found != GATE_OPEN:
            return found == GATE_CLOSED
        # first: from now on no child pool is made on the threads, and no call of one begins
        self.gate.close()
        try:
            alone = self._close_children()
        finally:
            if not alone:
                self.gate.open()
        if not alone:
            return False
        try:
            self._end()
        finally:
            # now, not with the pool. If the garbage collector closed it on one of its threads, that thread still holds
            # the scheduler, and so the blocks. `threads` stays: another caller may be about to read it
            self.scheduler = None
            self.thread_pool = None
            self.backend = None
            self.dispatch = self.results = None
        return True

    cdef bint _close_children(self) except -1:
        """Closes each child pool once its calls have ended; False if one takes too long."""
        cdef PoolBase child
        cdef int64_t deadline = now_ns() + PATIENCE_NS
        cdef bint waits = True
        while waits:
            # a fork leaves their calls behind
            waits = self.num_unfinished.load() > 0 and self.num_forks == num_forks()
            if not waits:
                for child in list(self.children):
                    if not child.try_close() and self.num_forks == num_forks():
                        waits = True
            if waits:
                if now_ns() > deadline:
                    return False
                time.sleep(1e-4)
        return True

    cdef int _enter(self, GateGuard& guard) except -1:
        """Begins a call, which ends when its function returns. Before it, another thread may call or close the pool."""
        cdef GateState found = self.gate.enter()
        if found == GATE_OPEN:
            guard.hold(self.gate)
            if self.parent is not None and self.parent.gate.is_closed():
                raise ClosedError("the pool whose threads this one uses is closed")
        elif found == GATE_CLOSED:
            raise ClosedError("the pool is closed")
        # in a forked process no thread is in there any more. Else it may let go of the dispatch at this moment
        elif not self.has_workers or self.num_forks == num_forks():
            raise RuntimeError("the pool is already in a call: use it from one thread at a time, and not from its own "
                               "hooks or policies")
        if self.dispatch.forked():
            raise RuntimeError("the pool was made before fork(): its threads or processes belong to the parent: make "
                               "a new one")
        return 0
