# From when a pool is made until it is closed: its threads, one call at a time, and the child pools that end with it.
cimport cython
from libc.stdint cimport int64_t
from libcpp.atomic cimport atomic

import time
import weakref

from cypool.errors import ClosedError

from cypool.util.forks cimport num_forks
from cypool.util.park cimport now_ns
from cypool.backend cimport StepBackend

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


@cython.final
cdef class Lifetime:
    """The threads or backend of a pool, from `begin` to `end`; between them `enter` begins each call of the pool."""
    cdef Threads threads             # own, or shared with other pools
    cdef ThreadPool thread_pool      # whose they are, or None
    cdef StepBackend backend         # steps the environments, or None
    cdef Lifetime parent
    cdef object children             # pools that use the threads, too
    cdef atomic[int] num_unfinished  # child pools that are being made
    cdef bint shares_threads
    cdef bint has_workers            # threads or processes, which a fork leaves behind
    cdef int num_threads             # or processes; a synchronous caller counts
    cdef int num_forks               # when the pool was made
    cdef Gate gate                   # one call at a time; closed before the pool is made, and at its end

    cdef int begin(self, int num_threads, bint is_async, ThreadPool thread_pool, list affinity, StepBackend backend,
                   Lifetime parent) except -1:
        """Starts threads, or uses those of others; the arguments are those of `Pool`. Calls begin when `gate` opens."""
        self.thread_pool, self.backend = thread_pool, backend
        self.children = weakref.WeakSet()
        if backend is not None:
            self.threads = Threads(0)
            self.num_threads = backend.count
        elif thread_pool is not None:
            self.threads = thread_pool.threads
            self.num_threads = self.threads.count
        elif parent is not None and not parent.gate.is_closed():
            self.parent, self.threads = parent, parent.threads
            self.num_threads = parent.num_threads if self.threads.count > 0 else 1
        else:
            self.threads = Threads(max(num_threads if is_async else num_threads - 1, 0), affinity)
            self.num_threads = max(num_threads, 1)
        self.shares_threads = thread_pool is not None or parent is not None
        self.has_workers = self.threads.count > 0 or backend is not None
        self.num_forks = num_forks()
        return 0

    cdef int enter(self, GateGuard& guard) except -1:
        """Begins a call, which ends with the guard. Before this returns, another thread may call or close the pool."""
        cdef GateState found = self.gate.enter()
        if found == GATE_OPEN:
            guard.hold(self.gate)
            if self.parent is not None and self.parent.gate.is_closed():
                raise ClosedError("this pool uses the threads of another pool, which is closed")
        elif found == GATE_CLOSED:
            raise ClosedError("the pool is closed")
        # busy: another thread is in a call, and may be closing the backend, which `forked` below reads. In a forked
        # child, that thread does not exist, and the check below reports the fork
        elif not self.has_workers or self.num_forks == num_forks():
            raise RuntimeError("another call is using the pool: use the pool from one thread at a time, and not from "
                               "its own hooks or policies")
        if self.forked():
            raise RuntimeError("the pool was made before fork(), so its threads or processes belong to the parent: "
                               "make a new one")
        return 0

    cdef bint forked(self) noexcept:
        """Whether the threads or processes stayed behind in the parent process."""
        return self.threads.forked() if self.backend is None else self.backend.forked()

    cdef GateState close_gate(self) except *:
        """Lets no more calls in; returns GATE_OPEN if `end` is to follow. GATE_BUSY: the pool stays open."""
        cdef GateState found = self.gate.enter()
        cdef bint alone = False
        if found != GATE_OPEN:
            return found
        # first: from now on no child pool is made on the threads, and no call of one begins
        self.gate.close()
        try:
            alone = self.close_children()
        finally:
            if not alone:
                self.gate.open()
        return GATE_OPEN if alone else GATE_BUSY

    cdef int end(self, Scheduler scheduler) except -1:
        """Ends the threads, unless others use them too, and their work for the pool."""
        self.threads.remove_scheduler(scheduler)
        if not self.shares_threads:
            self.threads.stop()
        if self.backend is not None:
            self.backend.close()
        return 0

    cdef bint close_children(self) except -1:
        """Closes each child pool once its calls have ended; False if one takes too long."""
        cdef Pool child
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
