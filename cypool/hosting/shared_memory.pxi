# The memory that a pool shares with its workers (or threads): control words, mailboxes, payloads and observations.
import os
import zlib

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize
from libc.stdint cimport int32_t, uint32_t, uint64_t
from libc.string cimport memcpy
from posix.mman cimport MAP_FAILED, MAP_SHARED, PROT_READ, PROT_WRITE, mmap, munmap
from posix.unistd cimport close

from cypool.spec import EnvSpec
from cypool.hosting.file_descriptors import move_fd_up
from cypool.hosting.remote_errors import pickle_error

from cypool.util.constants cimport ALIGNMENT
from cypool.util.park cimport now_ns, wake


cdef class SharedMemory:
    """The memory that a pool shares with its workers.

    Args:
        num_envs: Number of environments of the pool.
        num_workers: Number of workers; environments are distributed to them in blocks.
        fd: Descriptor of a memory block to open, which this object then owns; by default a new one is created.

    Raises:
        OSError: There is no memory.
    """

    def __cinit__(self, int num_envs, int num_workers, fd=None):
        cdef size_t words = sizeof(PoolControl) + num_workers * sizeof(WorkerControl) + num_envs * sizeof(EnvMailbox)
        # whole pages
        cdef size_t head = (words + 4095) // 4096 * 4096
        self.fd = -1
        self.num_envs = num_envs
        self.num_workers = num_workers
        self._nbytes = head + <size_t>num_envs * BYTES_PER_ENV
        if fd is None:
            self.fd = move_fd_up(os.memfd_create("cypool"))
            os.ftruncate(self.fd, self._nbytes)
        else:
            self.fd = fd
        cdef void* data = mmap(NULL, self._nbytes, PROT_READ | PROT_WRITE, MAP_SHARED, self.fd, 0)
        if data == MAP_FAILED:
            raise OSError(f"not enough address space for the {self._nbytes} bytes of {num_envs} environments")
        self._data = <char*>data
        self.control = <PoolControl*>self._data
        self.worker_controls = <WorkerControl*>(self._data + sizeof(PoolControl))
        self.mailboxes = <EnvMailbox*>(self._data + sizeof(PoolControl) + num_workers * sizeof(WorkerControl))
        self._payloads = self._data + head

    def __dealloc__(self):
        if self._data != NULL:
            munmap(self._data, self._nbytes)
        if self.fd >= 0:
            close(self.fd)

    def envs_of(self, int worker):
        """Returns the ids of a worker's environments, a range."""
        return range(worker * self.num_envs // self.num_workers, (worker + 1) * self.num_envs // self.num_workers)

    def begin(self, int worker):
        """Marks a worker as starting."""
        self.worker_controls[worker].payload_bytes = 0
        self.worker_controls[worker].made.store(0)
        self.worker_controls[worker].since.store(now_ns())
        self.worker_controls[worker].life.store(STARTING)

    def ready(self, int worker):
        """Marks a worker as ready: it has created its environments."""
        self.worker_controls[worker].made.store(1)
        self.worker_controls[worker].since.store(now_ns())
        self.worker_controls[worker].life.store(READY)
        self.answered()

    def report_startup_error(self, int worker, error):
        """Writes the error that keeps a worker from starting."""
        payload = pickle_error(error, BYTES_PER_ENV)
        first = self.envs_of(worker)[0]
        self.worker_controls[worker].payload_bytes = self.write_payload(first, payload, BYTES_PER_ENV)

    def ended(self, int worker, int status):
        """Marks a worker as ended, with its status as `os.waitpid` returns it; wakes the pool."""
        self.worker_controls[worker].status = status
        self.worker_controls[worker].life.store(ENDED)
        self.control.deaths.fetch_add(1)
        self.control.answers.fetch_add(1)
        wake(self.control.answers, 1, True)

    def close_all(self):
        """Makes all workers end after their current task."""
        cdef int worker
        self.control.closing.store(1)
        for worker in range(self.num_workers):
            self.notify(worker)

    cdef char* at(self, int env_id) noexcept nogil:
        """Returns the address of an environment's part of the memory."""
        return self._payloads + <size_t>env_id * BYTES_PER_ENV

    cdef int worker_of(self, int env_id) noexcept nogil:
        # of the blocks that envs_of has, the last that does not begin behind it
        return (<int64_t>(env_id + 1) * self.num_workers - 1) // self.num_envs

    cdef void notify(self, int worker) noexcept nogil:
        """Wakes a worker, if it sleeps, for tasks in its mailboxes."""
        self.worker_controls[worker].doorbell.fetch_add(1)
        if self.worker_controls[worker].sleeping.load() != 0:
            wake(self.worker_controls[worker].doorbell, 1, True)

    cdef void answered(self) noexcept nogil:
        """Counts a task as done; wakes the pool if this was the last one that it waits for."""
        cdef uint32_t answers = self.control.answers.fetch_add(1) + 1
        if self.control.sleeping.load() != 0 and <int32_t>(answers - self.control.target.load()) >= 0:
            wake(self.control.answers, 1, True)

    cdef bytes payload(self, int env_id, uint64_t nbytes):
        return PyBytes_FromStringAndSize(self.at(env_id), nbytes)

    cdef uint64_t write_payload(self, int env_id, bytes payload, size_t most) except? 0:
        if <size_t>len(payload) > most:
            raise ValueError(f"expected at most {most} bytes when pickled, got {len(payload)}")
        memcpy(self.at(env_id), PyBytes_AS_STRING(payload), len(payload))
        return len(payload)


cdef class AreaLayout:
    """The layout of an environment's area of the memory: its action and its observations.

    Args:
        observation: Its description, as in `EnvSpec`.
        action: Likewise.

    Raises:
        ValueError: They are too large.
    """

    def __init__(self, observation, action):
        cdef size_t nbytes, at = 0
        self.dtypes, self.shapes = [], []
        for _, part in EnvSpec(observation, action).observations:
            nbytes = part.dtype.itemsize
            for n in part.shape:
                nbytes *= n
            self.dtypes.append(part.dtype)
            self.shapes.append(part.shape)
            self.sizes.push_back(nbytes)
            self.offsets.push_back(at)
            at += (nbytes + ALIGNMENT - 1) // ALIGNMENT * ALIGNMENT
        self.second = at
        self.action_bytes = action.dtype.itemsize
        for n in action.shape:
            self.action_bytes *= n
        nbytes = 2 * at + (self.action_bytes + ALIGNMENT - 1) // ALIGNMENT * ALIGNMENT
        if nbytes > BYTES_PER_ENV // 2:
            raise ValueError("observation_space: expected two observations and an action to take at most "
                             f"{BYTES_PER_ENV // 2} bytes, got {nbytes}")
        # behind the payload
        self.payload_bytes = BYTES_PER_ENV - nbytes
        for k in range(<int>self.offsets.size()):
            self.offsets[k] += self.payload_bytes
        self.action_at = self.payload_bytes + 2 * at
        self.checksum = zlib.crc32(repr((self.dtypes, self.shapes, action.dtype, action.shape)).encode()) | 1
