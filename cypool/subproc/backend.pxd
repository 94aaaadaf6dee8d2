"""The pool's side of environments that are stepped in other processes, or in threads of this one."""
from libc.stdint cimport int32_t, int64_t, uint32_t
from libcpp.vector cimport vector

from cypool.backend cimport StepBackend
from cypool.env cimport Env
from cypool.subproc.shared_memory cimport EnvMailbox, SharedMemory, SlotLayout
from cypool.subproc.worker cimport WorkerLoop


cdef class SubprocEnv(Env):
    """An environment whose steps a `SubprocBackend` has made."""
    cdef SubprocBackend workers
    cdef EnvMailbox* mailbox         # borrowed from the memory, as is the next
    cdef char* memory_slot
    cdef SlotLayout layout
    cdef int observed_slot           # which of its two observations
    cdef size_t num_obs              # parts of the observation; what the agents got comes behind them
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


cdef class SubprocBackend(StepBackend):
    """The processes, or threads of this one, that step the environments of a pool."""
    cdef readonly SharedMemory memory
    cdef SlotLayout layout
    cdef WorkerLoop worker_loop      # without workers: where environments are stepped
    cdef list threads                # workers that are threads
    cdef list answers                # in this process: see WorkerLoop; None of processes
    cdef int forkserver              # the process that starts them; 0: there is none, or it has ended
    cdef int forkserver_status       # with which it did, as os.waitpid has it
    cdef object channel              # socket to it
    cdef int setup_fd
    cdef int64_t timeout_ns          # 0: none
    cdef list envs                   # SubprocEnv
    cdef list env_descriptions
    cdef vector[int32_t] sent        # ids of tasks that are not taken
    cdef vector[int32_t] called      # workers to notify
    cdef uint32_t deaths             # as the control had them last
    # where tasks have a time limit
    cdef int64_t checked_at          # when workers were last looked at, ns
    cdef vector[int64_t] overdue_since  # of each worker when it was first found to take too long; 0: it was not
    cdef list kill_reasons           # of each worker the error for which it is being ended, or None
    cdef vector[int64_t] kill_requested_at  # and since when
    cdef int num_forks               # when the workers were started
    cdef bint closed

    cdef int submit_task(self, int env_id) except -1
    cdef int notify_workers(self) except -1
    cdef int count_done(self, int most) except -1
    cdef int collect_done(self, int32_t* ids, int most) except -1
    cdef int64_t slice_ns(self) noexcept nogil
    cdef int check_workers(self, bint thoroughly) except -1
    cdef bint forkserver_ended(self, int64_t timeout_ns) noexcept nogil
    cdef void kill_forkserver(self) noexcept nogil
    cdef int kill_overdue(self) except -1
    cdef object kill_reason(self, int worker, int64_t now)
    cdef int fail_worker_tasks(self, int worker) except -1
    cdef int fail_env(self, SubprocEnv env, object error) except -1
    cdef bint sleep(self, uint32_t seen, uint32_t missing, int64_t timeout_ns) noexcept nogil
