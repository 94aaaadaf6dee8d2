"""The loop of a worker, and the memory that a pool shares with its workers."""
from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t
from libcpp cimport bool as cbool
from libcpp.atomic cimport atomic
from libcpp.vector cimport vector


# The memory that a pool shares with its worker processes: control words, mailboxes, payloads and observations.

cdef extern from "cypool/hosting/shared_memory.h" namespace "cypool" nogil:
    enum WorkerTask:
        STEP
        RESET
        CALL

    enum TaskState:
        IDLE
        POSTED
        RUNNING
        DONE

    enum Life:
        STARTING
        READY
        ENDED

    cdef struct PoolControl:           # of a pool
        atomic[uint32_t] answers
        atomic[uint32_t] target
        atomic[uint32_t] sleeping
        atomic[uint32_t] deaths
        atomic[uint32_t] closing
        atomic[uint32_t] layout

    cdef struct WorkerControl:         # of a worker
        atomic[uint32_t] doorbell
        atomic[uint32_t] sleeping
        atomic[uint32_t] life
        atomic[uint32_t] made
        int32_t status
        uint64_t payload_bytes
        atomic[int64_t] since

    cdef struct EnvMailbox:            # of an environment
        atomic[uint32_t] state
        uint32_t task
        uint64_t seed
        uint64_t payload_bytes
        double reward
        atomic[int64_t] since
        cbool requested
        cbool seeded
        cbool resets
        cbool last
        cbool terminated
        cbool truncated
        cbool was_reset
        cbool failed

cdef enum:
    BYTES_PER_ENV = 1 << 24          # payload, action, two observations; untouched pages cost nothing


cdef class SharedMemory:
    """The memory that a pool shares with its workers."""
    cdef readonly int fd
    cdef readonly int num_envs
    cdef readonly int num_workers
    cdef char* _data                 # owned
    cdef size_t _nbytes
    cdef char* _payloads
    cdef PoolControl* control
    cdef WorkerControl* worker_controls
    cdef EnvMailbox* mailboxes

    cdef char* at(self, int env_id) noexcept nogil
    cdef int worker_of(self, int env_id) noexcept nogil
    cdef void notify(self, int worker) noexcept nogil
    cdef void answered(self) noexcept nogil
    cdef bytes payload(self, int env_id, uint64_t nbytes)
    cdef uint64_t write_payload(self, int env_id, bytes payload, size_t most) except? 0


cdef class AreaLayout:
    """Where in an environment's area of the memory its action and its observations lie."""
    cdef list dtypes
    cdef list shapes
    cdef vector[size_t] sizes        # of each part of an observation
    cdef vector[size_t] offsets      # in the first observation
    cdef size_t second               # how far behind it the second one lies: the last of an episode
    cdef size_t action_at
    cdef size_t action_bytes
    cdef readonly size_t payload_bytes  # at most
    cdef readonly uint32_t checksum  # not 0


# The worker's side: makes environments and runs the tasks in their mailboxes.

cdef class WorkerLoop:
    """Makes environments, and runs the tasks that come into their mailboxes."""
    cdef SharedMemory memory
    cdef WorkerControl* control      # of the worker; borrowed from the memory
    cdef int first                   # env id
    cdef int num
    cdef list factories
    cdef list envs
    cdef list is_open                # of each environment whether it is to be closed
    cdef list unwrapped              # of all rows in this process the environments without wrappers; shared with others
    cdef list answers                # in the pool's process, of all rows: (info, final info), an exception or None
    cdef list is_loaded              # of each environment whether it came from a state
    cdef list is_broken              # whether to make it again: it has raised since, or Ctrl-C came in its code
    cdef AreaLayout layout
    cdef list actions                # arrays over the memory
    cdef list parts                  # of the observation: keys, None for one that has no parts
    cdef list text_bytes             # of each part; 0: it is not a text
    cdef int turn

    cdef bint run_next(self) except -1
    cdef int run_one(self, int k) except -1
    cdef int run_task(self, int k, EnvMailbox* mailbox) except -1
    cdef int next_posted(self) noexcept nogil
    cdef int _step(self, int k, EnvMailbox* mailbox) except -1
    cdef int _write_observation(self, int k, int which, object observation) except -1
    cdef int _write_infos(self, int k, EnvMailbox* mailbox, object info, object final_info) except -1
    cdef int _write(self, int k, EnvMailbox* mailbox, str name, object payload) except -1
