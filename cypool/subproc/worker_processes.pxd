"""Workers that are processes, which a fork server starts."""
from libc.stdint cimport int64_t, uint32_t
from libcpp.vector cimport vector

from cypool.subproc.shared_memory cimport SharedMemory


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
