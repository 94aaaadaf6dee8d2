# Threads that serve the schedulers of one pool and its child pools, or of several pools.
#
# A thread serves one scheduler at a time and publishes which. A caller that closes a pool takes its scheduler off the
# list and waits until no thread serves it. A thread that finds nothing to do spins for a moment, then sleeps.
cimport cython
from cpython.ref cimport Py_DECREF, Py_INCREF
from libc.limits cimport INT_MAX
from libc.stdint cimport int64_t, uint32_t
from libcpp cimport bool as cbool
from libcpp.atomic cimport atomic
from libcpp.memory cimport unique_ptr
from libcpp.vector cimport vector

import atexit
import gc
import os
import weakref

from cypool.util.arguments import check_int
from cypool.engine import cpus

from cypool.util.finalizing cimport Py_IsFinalizing
from cypool.util.forks cimport num_forks
from cypool.util.park cimport now_ns, park, relax, wake

cdef extern from "<thread>" namespace "std" nogil:
    cdef cppclass thread:
        # the constructor is a template in C++; one concrete form of it is all Cython can read
        thread(void (*body)(void*) noexcept nogil, void* arg) except +
        void join() except +
        void detach() except +

cdef extern from "cypool/engine/thread.h" namespace "cypool" nogil:
    cdef cppclass ThreadState:
        ThreadState() except +
        atomic[uint32_t] serves      # 1 + the index of the scheduler that the thread serves; 0: none
        void* scheduler
        cbool owns
        uint32_t next

    cbool on_thread(thread* other) noexcept
    cbool on_thread(ThreadState* state) noexcept
    void bind_thread(ThreadState* state) noexcept
    void block_signals() noexcept


cdef extern from "cypool/engine/counters.h" namespace "cypool" nogil:
    cdef cppclass Sleepers:      # on a separate cache line
        Sleepers() except +
        atomic[uint32_t] signal  # idle threads sleep on it
        atomic[uint32_t] count   # how many do

cdef enum:
    MAX_SCHEDULERS = 64
    TURN_NS = 1_000_000          # how long a thread stays with a scheduler before it looks at the others

# closed at exit, while they can still be joined
thread_pools = weakref.WeakSet()


@atexit.register
def _close_thread_pools():
    # after the pools: these import this module, and atexit calls the first function last
    cdef ThreadPool pool
    for pool in list(thread_pools):
        # unless a daemon thread is still in a call of a pool
        if pool.threads.retire():
            pool.threads.stop()


cdef class Threads:
    """Threads that serve the schedulers of one pool and its child pools, or of several pools.

    Args:
        count: Number of threads; 0 is allowed.
        affinity: For each thread the set of CPUs it may run on, or None.
        takes_turns: Whether each leaves a scheduler after a while, for those of other pools.

    Thread safety: any caller with the GIL may call `add_scheduler`, `remove_scheduler`, `retire` and `stop`. Without a
        GIL, a critical section of this object takes its place.
    """
    cdef readonly int count
    cdef bint takes_turns                  # those of a ThreadPool; others serve one pool and its child pools
    cdef bint closed
    cdef object affinity                   # per thread a set of CPUs, or None
    cdef vector[thread*] threads           # owned until joined
    cdef vector[ThreadState*] thread_states  # owned; one per thread
    # borrowed: a scheduler is taken off, and waited for, before it goes away
    cdef atomic[void*] schedulers[MAX_SCHEDULERS]
    cdef bint taken[MAX_SCHEDULERS]        # until no thread is with the scheduler any more; in critical sections only
    cdef atomic[uint32_t] num_indices      # how many of them have been in use
    cdef atomic[uint32_t] num_schedulers
    cdef atomic[uint32_t] leaving          # callers that wait for threads to leave a scheduler
    cdef atomic[uint32_t] num_numbered     # threads that have taken their number ...
    cdef atomic[uint32_t] num_begun        # ... and have begun: others find their states
    cdef unique_ptr[Sleepers] sleepers
    cdef atomic[uint32_t] stopping
    cdef int num_forks                     # when the threads were started; they do not survive one

    def __cinit__(self, int count, affinity=None, bint takes_turns=False):
        self.count = count
        self.takes_turns = takes_turns
        self.affinity = affinity
        self.sleepers.reset(new Sleepers())
        self.start()

    def __dealloc__(self):
        cdef ThreadState* state
        for state in self.thread_states:
            del state

    cdef int start(self) except -1:
        self.num_forks = num_forks()
        if self.count > 0 and Py_IsFinalizing():
            # they would never begin
            raise RuntimeError("num_threads: expected 0 while Python is shutting down, because no thread can start")
        for _ in range(self.count):
            self.thread_states.push_back(new ThreadState())
        # a thread that has begun is never lost for want of memory
        self.threads.reserve(self.count)
        try:
            for _ in range(self.count):
                self.threads.push_back(new thread(work, <void*>self))
        except BaseException:
            self.stop()
            raise
        self.await_begun()
        return 0

    cdef void await_begun(self) noexcept:
        """Waits until Python knows all threads, because Python ends the process if a thread starts without memory."""
        cdef uint32_t begun
        with nogil:
            while True:
                begun = self.num_begun.load()
                if begun == <uint32_t>self.count:
                    return
                park(self.num_begun, begun, -1)

    cdef void stop(self):
        """Ends the threads as soon as each has finished its current step."""
        cdef thread* ended
        cdef vector[thread*] ending
        cdef bint held = Py_IsFinalizing()
        with cython.critical_section(self):
            self.closed = True
            if self.forked():
                # the threads are the parent's; there is nothing here to join
                self.threads.clear()
                return
            # another caller may come while this one waits: it finds nothing to join
            ending.swap(self.threads)
        self.stopping.store(1)
        self.sleepers.get().signal.fetch_add(1)
        wake(self.sleepers.get().signal, INT_MAX)
        if held:
            # Python is ending, and holds threads that come back to it: they have this object for ever
            Py_INCREF(self)
        with nogil:
            for ended in ending:
                # or the garbage collector ran here, in an env's error path, and found the pool
                if held or on_thread(ended):
                    ended.detach()
                else:
                    ended.join()
                del ended

    cdef bint forked(self) noexcept:
        """Whether the threads stayed behind in the parent process."""
        # not how many there are now: another caller may be about to end them
        return self.count > 0 and self.num_forks != num_forks()

    cdef int add_scheduler(self, Scheduler scheduler) except -1:
        """Lets the threads serve a scheduler."""
        if not self.take_index(scheduler):
            # pools in reference cycles keep their indices until the garbage collector finds them
            gc.collect()
            if not self.take_index(scheduler):
                raise RuntimeError(f"thread_pool: expected at most {MAX_SCHEDULERS} pools at a time")
        return 0

    cdef bint take_index(self, Scheduler scheduler) except -1:
        """Assigns a scheduler the first free index; False if there is none."""
        cdef uint32_t scheduler_index
        with cython.critical_section(self):
            if self.closed or self.forked():
                raise RuntimeError("thread_pool: its threads have ended: create a new ThreadPool")
            for scheduler_index in range(<uint32_t>MAX_SCHEDULERS):
                if not self.taken[scheduler_index]:
                    scheduler.prepare_threads(self.count)
                    self.taken[scheduler_index] = True
                    self.num_indices.store(max(self.num_indices.load(), scheduler_index + 1))
                    self.num_schedulers.fetch_add(1)
                    self.schedulers[scheduler_index].store(<void*>scheduler)
                    return True
        return False

    cdef void remove_scheduler(self, Scheduler scheduler):
        """Ends a scheduler's work and waits until no thread serves it; does nothing if it was not attached."""
        cdef uint32_t scheduler_index
        cdef ThreadState* state
        cdef ThreadState* own = NULL
        scheduler.stopping.store(1)
        for scheduler_index in range(self.num_indices.load()):
            if self.schedulers[scheduler_index].load() == <void*>scheduler:
                self.schedulers[scheduler_index].store(NULL)
                break
        else:
            return
        if Py_IsFinalizing():
            # a thread that Python holds may be with it for ever
            Py_INCREF(scheduler)
            return
        if not self.forked():
            for state in self.thread_states:
                if on_thread(state):
                    own = state
            if own != NULL and own.serves.load() == scheduler_index + 1:
                # the garbage collector has found the pool in this very thread, in an env's error path
                Py_INCREF(scheduler)
                own.owns = True
            with nogil:
                self.leaving.fetch_add(1)
                for state in self.thread_states:
                    if state != own:
                        while state.serves.load() == scheduler_index + 1:
                            park(state.serves, scheduler_index + 1, -1)
                self.leaving.fetch_sub(1)
        # only now: the next scheduler of this index would be waited for as well
        with cython.critical_section(self):
            self.taken[scheduler_index] = False
            self.num_schedulers.fetch_sub(1)

    cdef bint retire(self) noexcept:
        """Refuses further schedulers, before `stop`; False, without a change, if there is one."""
        with cython.critical_section(self):
            if self.num_schedulers.load() == 0:
                self.closed = True
                return True
        return False

    cdef inline uint32_t num_sleeping(self) noexcept nogil:
        return self.sleepers.get().count.load()

    cdef void notify(self, uint32_t wanted) noexcept nogil:
        """Wakes up to `wanted` threads, if any sleep, for the rows that were published."""
        if self.num_sleeping() > 0:
            self.sleepers.get().signal.fetch_add(1)
            wake(self.sleepers.get().signal, wanted)

    cdef int run(self, uint32_t index) except -1 nogil:
        cdef ThreadState* state = self.thread_states[index]
        cdef int64_t spin_ns = SPIN_NS
        while True:
            # still with a scheduler: an env of it has raised
            if state.serves.load() == 0 and not self.attach(index) and not self.await_work(index, spin_ns):
                return 0
            (<Scheduler>state.scheduler).run_claims(&(<Scheduler>state.scheduler).claims[index])
            if state.owns:
                return 0
            spin_ns = (<Scheduler>state.scheduler).spin_ns()
            self.detach(index)

    cdef bint attach(self, uint32_t index) noexcept nogil:
        """Moves on to the next scheduler with work; False if there is none."""
        cdef ThreadState* state = self.thread_states[index]
        cdef uint32_t num_indices = self.num_indices.load(), scheduler_index, _k
        cdef void* scheduler
        for _k in range(num_indices):
            scheduler_index = state.next if state.next < num_indices else 0
            state.next = scheduler_index + 1
            scheduler = self.schedulers[scheduler_index].load()
            if scheduler == NULL:
                continue
            # published first, checked again afterwards: a caller that takes the scheduler off in between waits for us
            state.serves.store(scheduler_index + 1)
            if (self.schedulers[scheduler_index].load() == scheduler
                    and (<Scheduler>scheduler).has_work(&(<Scheduler>scheduler).claims[index])):
                state.scheduler = scheduler
                # also if it is the only one now: another may come before this one is out of work
                (<Scheduler>scheduler).begin_turn(&(<Scheduler>scheduler).claims[index], TURN_NS, self.takes_turns)
                return True
            self.detach(index)
        return False

    cdef void detach(self, uint32_t index) noexcept nogil:
        self.thread_states[index].serves.store(0)
        if self.leaving.load() > 0:
            wake(self.thread_states[index].serves, INT_MAX)

    cdef bint await_work(self, uint32_t index, int64_t spin_ns) noexcept nogil:
        """Spins, then sleeps, until it serves a scheduler; False when the threads should end."""
        cdef int64_t start = now_ns()
        cdef uint32_t seen, _k
        while True:
            for _k in range(16):
                if self.stopping.load() != 0:
                    return False
                if self.attach(index):
                    return True
                relax()
            if now_ns() - start < spin_ns:
                continue
            seen = self.sleepers.get().signal.load()
            # count first, look afterwards: a thread that publishes in between sees a sleeper and signals
            self.sleepers.get().count.fetch_add(1)
            if self.stopping.load() == 0:
                if self.attach(index):
                    self.sleepers.get().count.fetch_sub(1)
                    return True
                park(self.sleepers.get().signal, seen, -1)
            self.sleepers.get().count.fetch_sub(1)
            start = now_ns()


cdef void work(void* arg) noexcept with gil:
    """Thread entry: catches exceptions of environments, as `Scheduler.work_until` does on the caller's thread."""
    cdef Threads threads = <Threads>arg
    cdef uint32_t index = threads.num_numbered.fetch_add(1)
    cdef ThreadState* state = threads.thread_states[index]
    cdef Scheduler scheduler
    bind_thread(state)
    threads.num_begun.fetch_add(1)
    wake(threads.num_begun, 1)
    block_signals()
    if threads.affinity is not None:
        try:
            os.sched_setaffinity(0, threads.affinity[index])
        except OSError:
            # a CPU was taken away since it was checked
            pass
    while True:
        try:
            with nogil:
                threads.run(index)
            if not state.owns:
                return
        except BaseException as error:
            # if this thread owns the scheduler, its pool is gone, and nobody receives the row
            if not state.owns:
                scheduler = <Scheduler>state.scheduler
                scheduler.fail(&scheduler.claims[index], error)
                scheduler = None
        if state.owns:
            state.owns = False
            threads.detach(index)
            Py_DECREF(<Scheduler>state.scheduler)


cdef class ThreadPool:
    """Threads shared by several pools: `cypool.make(..., thread_pool=...)`.

    Pools used in turn, or at the same time from several Python threads, share these threads instead of each having its
    own. The caller of a synchronous pool also steps environments, and wakes at most `num_threads - 1` threads to help
    it. While another pool has work, a thread stays with one pool for a millisecond at a time, even in a rollout.

    Args:
        num_threads: Number of threads, 1 to 4096; by default one for each CPU available to this process.
        thread_affinity: As in `cypool.make`.

    Raises:
        TypeError, ValueError: An argument has the wrong type or is out of range.
    """
    cdef Threads threads
    cdef object __weakref__

    def __init__(self, num_threads=None, thread_affinity=None):
        if self.threads is not None:
            raise RuntimeError("the thread pool is already initialized")
        count = cpus.available() if num_threads is None else check_int("num_threads", num_threads, 1, 4096)
        self.threads = Threads(count, cpus.affinity(thread_affinity, count), True)
        thread_pools.add(self)

    def __del__(self):
        # a pool keeps this object alive. Before the garbage collector takes garbage apart
        if self.threads is not None:
            self.threads.stop()

    @property
    def num_threads(self):
        """Number of threads."""
        return self.threads.count

    @property
    def num_pools(self):
        """Number of pools that currently use the threads."""
        return self.threads.num_schedulers.load()

    def close(self):
        """Ends the threads. A second call does nothing.

        Raises:
            RuntimeError: A pool still uses them.
        """
        if not self.threads.retire():
            raise RuntimeError(f"close: {self.num_pools} pools still use these threads: close the pools first")
        self.threads.stop()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def __repr__(self):
        return f"ThreadPool(num_threads={self.num_threads}, num_pools={self.num_pools})"
