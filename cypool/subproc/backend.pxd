"""The pool's side of environments that are stepped in other processes, or in threads of this one."""
from libc.stdint cimport int32_t, int64_t, uint32_t
from libcpp.vector cimport vector

from cypool.backend cimport StepBackend
from cypool.env cimport Env
from cypool.subproc.shared_memory cimport EnvMailbox, SharedMemory, SlotLayout
from cypool.subproc.worker cimport WorkerLoop
from cypool.subproc.worker_processes cimport WorkerProcesses
from cypool.subproc.worker_threads cimport WorkerThreads


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
    cdef WorkerThreads threads       # workers that are threads, or None
    cdef WorkerProcesses processes   # workers that are processes, or None
    cdef list answers                # in this process: see WorkerLoop; None of processes
    cdef int64_t timeout_ns          # 0: none
    cdef int64_t slice_ns            # how long to sleep at most
    cdef list envs                   # SubprocEnv
    cdef list env_descriptions
    cdef vector[int32_t] sent        # ids of tasks that are not taken
    cdef vector[int32_t] called      # workers to notify
    cdef int num_forks               # when the workers were started
    cdef bint closed

    cdef int submit_task(self, int env_id) except -1
    cdef int notify_workers(self) except -1
    cdef int count_done(self, int most) except -1
    cdef int collect_done(self, int32_t* ids, int most) except -1
    cdef int await_call(self, SubprocEnv env) except -1
    cdef int check_workers(self, bint thoroughly) except -1
    cdef int fail_worker_tasks(self, int worker, object error) except -1
    cdef int fail_env(self, SubprocEnv env, object error) except -1
    cdef bint sleep(self, uint32_t seen, uint32_t missing, int64_t timeout_ns) noexcept nogil
