"""The pool's side of environments that are stepped in other processes."""
from libc.stdint cimport int32_t, int64_t, uint32_t
from libcpp.vector cimport vector

from cypool.env cimport Elsewhere, Env
from cypool.envs.hosted.stage cimport Area, Desk, Places, Stage


cdef class Hosted(Env):
    """An environment whose steps a `Workers` has made."""
    cdef Workers workers
    cdef Desk* desk                  # borrowed from the area, as is the next
    cdef char* place
    cdef Places places
    cdef int shown                   # which of its two observations
    cdef bint sent                   # there is, or will be, an answer that was not taken
    cdef bint calling                # it is the answer to a call
    cdef bint failed
    cdef object error                # why it failed
    cdef bint lost                   # its process ended since its last reset
    cdef object seed_to_come
    cdef object told                 # (info, final info), or None

    cdef int take(self) except -1
    cdef object call(self, str name, tuple args=*, dict kwargs=*)


cdef class Workers(Elsewhere):
    """The processes that step the environments of a pool."""
    cdef readonly Area area
    cdef Places places
    cdef Stage stage                 # without processes: where environments are stepped
    cdef int nursery                 # the process that starts them; 0: there is none, or it has ended
    cdef int nursery_status          # with which it did, as os.waitpid has it
    cdef object channel              # socket to it
    cdef int setup_fd
    cdef int64_t timeout_ns          # 0: none
    cdef list envs                   # Hosted
    cdef list introductions
    cdef vector[int32_t] sent        # ids of tasks that are not taken
    cdef vector[int32_t] called      # workers to be told
    cdef uint32_t deaths             # as the bell had them last
    # where tasks have a time limit
    cdef int64_t looked_at           # when workers were last looked at, ns
    cdef vector[int64_t] suspected   # of each worker when it was first found to take too long; 0: it was not
    cdef list verdicts               # of each worker the error for which it is being ended, or None
    cdef vector[int64_t] condemned   # and since when
    cdef int pid
    cdef bint closed

    cdef int post(self, int env_id) except -1
    cdef int ring_all(self) except -1
    cdef int count_finished(self, int most) except -1
    cdef int take_finished(self, int32_t* ids, int most) except -1
    cdef int64_t slice_ns(self) noexcept nogil
    cdef int look_after(self, bint thoroughly) except -1
    cdef bint nursery_ended(self, int64_t timeout_ns) noexcept nogil
    cdef void kill_nursery(self) noexcept nogil
    cdef int judge(self) except -1
    cdef object verdict(self, int worker, int64_t now)
    cdef int bury(self, int worker) except -1
    cdef int give_up(self, Hosted env, object error) except -1
    cdef bint sleep(self, uint32_t seen, uint32_t missing, int64_t timeout_ns) noexcept nogil
