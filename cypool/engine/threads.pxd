"""Threads that look for crews with something to do; of one pool, or shared by several."""
from libc.stdint cimport int64_t, uint32_t
from libcpp cimport bool as cbool
from libcpp.atomic cimport atomic
from libcpp.memory cimport unique_ptr
from libcpp.vector cimport vector

from cypool.engine.crew cimport Crew

cdef enum:
    MAX_CREWS = 64

cdef extern from "<thread>" namespace "std" nogil:
    cdef cppclass thread:
        # the constructor is a template in C++; one concrete form of it is all Cython can read
        thread(void (*body)(void*) noexcept nogil, void* arg) except +
        void join() except +
        void detach() except +

cdef extern from "cypool/thread.h" namespace "cypool" nogil:
    cdef cppclass Visit:
        Visit() except +
        atomic[uint32_t] place       # 1 + the place of the crew it is with; 0: with none
        void* crew
        cbool owns
        uint32_t next

    cbool on_thread(thread* other) noexcept
    cbool on_thread(Visit* visit) noexcept
    void settle(Visit* visit) noexcept
    void block_signals() noexcept


cdef extern from "cypool/counters.h" namespace "cypool" nogil:
    cdef cppclass Sleepers:      # on a cache line of their own
        Sleepers() except +
        atomic[uint32_t] signal  # idle threads sleep on it
        atomic[uint32_t] count   # how many do


cdef class Threads:
    """Threads that serve the crews of one pool, or of several."""
    cdef readonly int count
    cdef bint closed
    cdef object affinity                   # per thread a set of CPUs, or None
    cdef vector[thread*] threads           # owned until joined
    cdef vector[Visit*] visits             # owned; one per thread
    # borrowed: a crew is taken off, and waited for, before it goes away
    cdef atomic[void*] crews[MAX_CREWS]
    cdef bint taken[MAX_CREWS]             # until no thread is with the crew any more; with the GIL only
    cdef atomic[uint32_t] num_places       # so many of them have been in use
    cdef atomic[uint32_t] num_crews
    cdef atomic[uint32_t] leaving          # callers that wait for threads to leave a crew
    cdef atomic[uint32_t] num_begun        # threads that have taken their number
    cdef unique_ptr[Sleepers] sleepers
    cdef atomic[uint32_t] stopping
    cdef int forks                         # of this process when the threads were started

    # with the GIL
    cdef int start(self) except -1
    cdef void await_begun(self) noexcept
    cdef void stop(self)
    cdef bint forked(self) noexcept
    cdef int attach(self, Crew crew) except -1
    cdef void detach(self, Crew crew)
    # without it
    cdef inline uint32_t num_sleeping(self) noexcept nogil:
        return self.sleepers.get().count.load()
    cdef void rouse(self, uint32_t wanted) noexcept nogil
    cdef int serve(self, uint32_t index) except -1 nogil
    cdef bint enter(self, uint32_t index) noexcept nogil
    cdef void leave(self, uint32_t index) noexcept nogil
    cdef bint await_work(self, uint32_t index) noexcept nogil


cdef class ThreadPool:
    """Threads for several pools."""
    cdef Threads threads
    cdef object __weakref__
