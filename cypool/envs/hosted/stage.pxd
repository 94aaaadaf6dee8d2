"""Environments of Python and the memory through which they are told what to do."""
from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t
from libcpp cimport bool as cbool
from libcpp.atomic cimport atomic
from libcpp.vector cimport vector

cdef extern from "cypool/desk.h" namespace "cypool" nogil:
    enum Task:
        STEP
        RESET
        CALL

    enum DeskState:
        IDLE
        POSTED
        AT_WORK
        ANSWERED

    enum Life:
        STARTING
        READY
        ENDED

    cdef struct Bell:                # of a pool
        atomic[uint32_t] answers
        atomic[uint32_t] target
        atomic[uint32_t] sleeping
        atomic[uint32_t] deaths
        atomic[uint32_t] closing
        atomic[uint32_t] layout

    cdef struct Post:                # of a worker
        atomic[uint32_t] rings
        atomic[uint32_t] sleeping
        atomic[uint32_t] life
        atomic[uint32_t] made
        int32_t status
        uint64_t letter_bytes
        atomic[int64_t] since

    cdef struct Desk:                # of an environment
        atomic[uint32_t] state
        uint32_t task
        uint64_t seed
        uint64_t letter_bytes
        double reward
        atomic[int64_t] since
        cbool seeded
        cbool resets
        cbool last
        cbool terminated
        cbool truncated
        cbool began_anew
        cbool failed

cdef enum:
    AREA_BYTES = 1 << 24             # of an environment: letter, action, two observations; untouched pages cost nothing


cdef class Area:
    """The memory that a pool shares with its workers."""
    cdef readonly int fd
    cdef readonly int num_envs
    cdef readonly int num_workers
    cdef char* _data                 # owned
    cdef size_t _nbytes
    cdef char* _letters
    cdef Bell* bell
    cdef Post* posts
    cdef Desk* desks

    cdef char* at(self, int env_id) noexcept nogil
    cdef int worker_of(self, int env_id) noexcept nogil
    cdef void ring(self, int worker) noexcept nogil
    cdef void answered(self) noexcept nogil
    cdef bytes letter(self, int env_id, uint64_t nbytes)
    cdef uint64_t write_letter(self, int env_id, bytes letter, size_t most) except? 0


cdef class Places:
    """Where in an environment's part of the area its action and its observations lie."""
    cdef list dtypes
    cdef list shapes
    cdef vector[size_t] sizes        # of each part of an observation
    cdef vector[size_t] offsets      # in the first observation
    cdef size_t second               # how far behind it the second one lies: the last of an episode
    cdef size_t action_at
    cdef size_t action_bytes
    cdef readonly size_t letter_bytes    # at most
    cdef readonly uint32_t checksum      # not 0


cdef class Stage:
    """Environments, made here, and stepped as their desks say."""
    cdef Area area
    cdef Post* post                  # of the worker; borrowed from the area
    cdef int first                   # env id
    cdef int num
    cdef list envs
    cdef Places places
    cdef list actions                # arrays over the area
    cdef list parts                  # of the observation: keys, None for one that has no parts
    cdef bint in_pool                # this is the pool's own process
    cdef readonly dict raised        # env id -> what its last task raised, there
    cdef int turn

    cdef int perform(self, int k) except -1
    cdef int carry_out(self, int k, Desk* desk) except -1
    cdef int next_posted(self) noexcept nogil
    cdef int _step(self, int k, Desk* desk) except -1
    cdef int _show(self, int k, int which, object observation) except -1
    cdef int _tell(self, int k, Desk* desk, object info, object final_info) except -1
    cdef int _write(self, int k, Desk* desk, str name, object letter) except -1
