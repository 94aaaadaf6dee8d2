"""Declarations of the parts of `hosting.pyx`."""
from libc.stdint cimport int32_t, int64_t, uint32_t
from libcpp.vector cimport vector

from cypool.backend cimport StepBackend
from cypool.env cimport Env
from cypool.hosting.worker cimport AreaLayout, EnvMailbox, SharedMemory, WorkerLoop


# Workers that are processes, which a fork server starts.

cdef class WorkerProcesses:
    """The workers of a pool that are processes."""
    cdef SharedMemory memory
    cdef int forkserver              # the process that starts them; 0: there is none, or it has ended
    cdef int forkserver_status       # with which it did, as os.waitpid has it
    cdef object channel              # socket to it
    cdef int setup_fd
    cdef uint32_t deaths             # as the control had them when all that had ended were replaced
    cdef uint32_t deaths_found       # and when they were last looked for
    # where tasks have a time limit
    cdef int64_t timeout_ns          # 0: none
    cdef int64_t slice_ns            # how often to look for processes that take too long
    cdef int64_t checked_at          # when that was last done, ns
    cdef vector[int64_t] overdue_since  # of each worker when it was first found to take too long; 0: it was not
    cdef list kill_reasons           # of each worker the error for which it is being ended, or None
    cdef vector[int64_t] kill_requested_at  # and since when

    cdef bint have_ended(self, bint thoroughly) except -1
    cdef int replace(self, int worker) except -1
    cdef int all_replaced(self) except -1
    cdef bint forkserver_ended(self, int64_t timeout_ns) noexcept nogil
    cdef void kill_forkserver(self) noexcept nogil
    cdef int kill_overdue(self) except -1
    cdef object kill_reason(self, int worker, int64_t now)


# Workers that are threads of the pool's process.

cdef class WorkerThreads:
    """The workers of a pool that are threads of its process."""
    cdef SharedMemory memory
    cdef list answers
    cdef list threads                # of threading.Thread, one for each worker that was started
    cdef object starting             # a lock: held while threads are started
    cdef object starter              # the thread that starts them; later, another one may have its number


# The pool's side of environments that are stepped in other processes, or in threads of this one.

cdef class HostedEnv(Env):
    """An environment whose steps a `HostingBackend` has made."""
    cdef HostingBackend workers
    cdef EnvMailbox* mailbox         # borrowed from the memory, as is the next
    cdef char* memory_area
    cdef AreaLayout layout
    cdef int observation_index       # which of its two observations
    cdef size_t num_obs              # parts of the observation; the agents' columns come behind them
    cdef bint sent                   # there is, or will be, an answer that was not taken
    cdef bint calling                # it is the answer to a call
    cdef bint failed
    cdef object error                # why it failed
    cdef bint lost                   # its process ended since its last reset
    cdef object next_seed
    cdef object extra_infos          # (info, final info), or None

    cdef void read_agents(self, bint stepped) noexcept nogil
    cdef int read_answer(self) except -1
    cdef object call(self, str name, tuple args=*, dict kwargs=*)


cdef class HostingBackend(StepBackend):
    """The processes, or threads of this one, that step the environments of a pool."""
    cdef readonly SharedMemory memory
    cdef AreaLayout layout
    cdef WorkerLoop worker_loop      # without workers: where environments are stepped
    cdef WorkerThreads threads       # workers that are threads, or None
    cdef WorkerProcesses processes   # workers that are processes, or None
    cdef list answers                # in this process: see WorkerLoop; None of processes
    cdef int64_t timeout_ns          # 0: none
    cdef int64_t slice_ns            # how long to sleep at most
    cdef list envs                   # HostedEnv
    cdef list env_descriptions
    cdef vector[int32_t] sent        # ids of tasks that are not taken
    cdef vector[int32_t] called      # workers to notify
    cdef int num_forks               # when the workers were started
    cdef bint closed

    cdef int submit_task(self, int env_id) except -1
    cdef int notify_workers(self) except -1
    cdef int count_done(self, int most) except -1
    cdef int collect_done(self, int32_t* ids, int most) except -1
    cdef int await_call(self, HostedEnv env) except -1
    cdef int check_workers(self, bint thoroughly) except -1
    cdef int fail_worker_tasks(self, int worker, object error) except -1
    cdef int fail_env(self, HostedEnv env, object error) except -1
    cdef bint sleep(self, uint32_t seen, uint32_t missing, int64_t timeout_ns) noexcept nogil
