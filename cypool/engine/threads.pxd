"""Threads that serve the schedulers of one pool, or of several."""
from libc.stdint cimport int64_t, uint32_t
from libcpp cimport bool as cbool
from libcpp.atomic cimport atomic
from libcpp.memory cimport unique_ptr
from libcpp.vector cimport vector

from cypool.engine.scheduler cimport Scheduler

cdef enum:
    MAX_SCHEDULERS = 64

cdef extern from "<thread>" namespace "std" nogil:
    cdef cppclass thread:
        # the constructor is a template in C++; one concrete form of it is all Cython can read
        thread(void (*body)(void*) noexcept nogil, void* arg) except +
        void join() except +
        void detach() except +

cdef extern from "cypool/engine/thread.h" namespace "cypool" nogil:
    cdef cppclass WorkerState:
        WorkerState() except +
        atomic[uint32_t] place       # 1 + the place of the scheduler it is with; 0: with none
        void* scheduler
        cbool owns
        uint32_t next

    cbool on_thread(thread* other) noexcept
    cbool on_thread(WorkerState* state) noexcept
    void bind_thread(WorkerState* state) noexcept
    void block_signals() noexcept


cdef extern from "cypool/engine/counters.h" namespace "cypool" nogil:
    cdef cppclass Sleepers:      # on a cache line of their own
        Sleepers() except +
        atomic[uint32_t] signal  # idle threads sleep on it
        atomic[uint32_t] count   # how many do


cdef class Threads:
    cdef readonly int count
    cdef bint shared                       # may serve several schedulers
    cdef bint closed
    cdef object affinity                   # per thread a set of CPUs, or None
    cdef vector[thread*] threads           # owned until joined
    cdef vector[WorkerState*] worker_states  # owned; one per thread
    # borrowed: a scheduler is taken off, and waited for, before it goes away
    cdef atomic[void*] schedulers[MAX_SCHEDULERS]
    cdef bint taken[MAX_SCHEDULERS]        # until no thread is with the scheduler any more; in critical sections only
    cdef atomic[uint32_t] num_places       # how many of them have been in use
    cdef atomic[uint32_t] num_schedulers
    cdef atomic[uint32_t] leaving          # callers that wait for threads to leave a scheduler
    cdef atomic[uint32_t] num_numbered     # threads that have taken their number ...
    cdef atomic[uint32_t] num_begun        # ... and have begun: others find their states
    cdef unique_ptr[Sleepers] sleepers
    cdef atomic[uint32_t] stopping
    cdef int num_forks                     # when the threads were started; they do not survive one

    # with the GIL
    cdef int start(self) except -1
    cdef void await_begun(self) noexcept
    cdef void stop(self)
    cdef bint forked(self) noexcept
    cdef int add_scheduler(self, Scheduler scheduler) except -1
    cdef bint take_place(self, Scheduler scheduler) except -1
    cdef void remove_scheduler(self, Scheduler scheduler)
    cdef bint retire(self) noexcept
    # without it
    cdef inline uint32_t num_sleeping(self) noexcept nogil:
        return self.sleepers.get().count.load()
    cdef void notify(self, uint32_t wanted) noexcept nogil
    cdef int run(self, uint32_t index) except -1 nogil
    cdef bint attach(self, uint32_t index) noexcept nogil
    cdef void detach(self, uint32_t index) noexcept nogil
    cdef bint await_work(self, uint32_t index) noexcept nogil


cdef class ThreadPool:
    cdef Threads threads
    cdef object __weakref__
