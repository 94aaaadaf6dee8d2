# Workers that are processes, which a fork server starts. They are replaced when they end, and ended when they hang.
import os
import socket

from libc.errno cimport ECHILD, errno
from libc.signal cimport SIGKILL
from libc.stdint cimport int64_t, uint32_t
from posix.signal cimport kill
from posix.unistd cimport usleep
from posix.wait cimport WNOHANG, waitpid
from libcpp.vector cimport vector

from cypool.errors import WorkerError
from cypool.hosting import forkserver
from cypool.hosting.remote_errors import describe_exit, unpickle_error

from cypool.util.park cimport now_ns
from cypool.hosting.worker cimport ENDED, POSTED, RUNNING, STARTING, SharedMemory, WorkerControl

cdef int64_t SECOND = 1_000_000_000  # in ns

# with a timeout, a start may take at least so long, s
cdef double MIN_START_TIMEOUT = 60


cdef class WorkerProcesses:
    """The worker processes of a pool.

    Args:
        memory: Where the mailboxes are.
        timeout_ns: How long a process may take for a step or a reset; 0: any time.
        slice_ns: How often to look for those that take longer.
    """
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

    def __init__(self, SharedMemory memory, int64_t timeout_ns, int64_t slice_ns):
        self.memory = memory
        self.setup_fd = -1
        self.timeout_ns, self.slice_ns = timeout_ns, slice_ns
        self.kill_reasons = [None] * memory.num_workers
        self.overdue_since.resize(memory.num_workers)
        self.kill_requested_at.resize(memory.num_workers)

    def start(self, list factories, preload, str start_method):
        """Starts the processes, which create the environments.

        Args:
            factories: A function for each environment.
            preload: Names of modules to import first.
            start_method: "forkserver" or "spawn".
        """
        import cloudpickle

        pickled = [cloudpickle.dumps([factories[i] for i in self.memory.envs_of(worker)])
                   for worker in range(self.memory.num_workers)]
        self.setup_fd = forkserver.write_setup(pickled, preload, start_method == "spawn")
        self._launch()

    def _launch(self):
        for worker in range(self.memory.num_workers):
            self.memory.begin(worker)
        self.channel, theirs, arguments, options = forkserver.prepare(
            self.setup_fd, self.memory.fd, self.memory.num_envs, self.memory.num_workers)
        # no Python code between its start and the note of it: Ctrl-C comes before or afterwards
        self.forkserver = os.posix_spawn(*arguments, **options)
        theirs.close()

    def check_start(self):
        """Raises a WorkerError if the processes cannot start, or take too long."""
        cdef int worker
        if self.forkserver_ended(0):
            manner = describe_exit(os.waitstatus_to_exitcode(self.forkserver_status))
            raise WorkerError(f"the process that starts workers ended: {manner}")
        for worker in range(self.memory.num_workers):
            if self._overdue(worker):
                raise WorkerError(f"a worker process took longer than {self._start_timeout()} s to start")

    def started(self):
        """Records that all workers have created their environments."""
        self.deaths = self.memory.control.deaths.load()

    cdef bint have_ended(self, bint thoroughly) except -1:
        """Whether any workers have ended and were not replaced; `thoroughly`: also looks for those that hang.

        If so, the caller fails the tasks of each of them, calls `replace` for it, and finally `all_replaced`. If that
        is interrupted, the next call finds the same workers.
        """
        cdef int worker
        if self.timeout_ns > 0 and now_ns() - self.checked_at >= self.slice_ns:
            # others that answer all the time hide the one that does not
            thoroughly = True
        if thoroughly:
            if self.forkserver_ended(0):
                # then it has taken all workers along
                for worker in range(self.memory.num_workers):
                    self.memory.ended(worker, self.forkserver_status)
            elif self.timeout_ns > 0:
                self.kill_overdue()
        self.deaths_found = self.memory.control.deaths.load()
        return self.deaths_found != self.deaths

    cdef int replace(self, int worker) except -1:
        """Restarts a worker that has ended."""
        self.kill_reasons[worker] = None
        self.overdue_since[worker] = 0
        if self.forkserver > 0:
            self.memory.begin(worker)
            self._send_command(b"s", worker)
        return 0

    cdef int all_replaced(self) except -1:
        """Restarts the fork server and all workers if it has ended."""
        if self.forkserver == 0:
            self.channel.close()
            self._launch()
        self.deaths = self.deaths_found
        return 0

    def exit_error(self, int worker):
        """Returns the error that explains the end of a worker."""
        cdef WorkerControl* control = &self.memory.worker_controls[worker]
        if self.kill_reasons[worker] is not None:
            return self.kill_reasons[worker]
        if control.payload_bytes > 0:
            return unpickle_error(self.memory.payload(self.memory.envs_of(worker)[0], control.payload_bytes))
        return WorkerError(f"its process ended: {describe_exit(os.waitstatus_to_exitcode(control.status))}")

    cdef int kill_overdue(self) except -1:
        """Requests the end of workers that take too long."""
        cdef int64_t now = now_ns()
        cdef int worker
        self.checked_at = now
        for worker in range(self.memory.num_workers):
            if self.kill_reasons[worker] is not None:
                if now - self.kill_requested_at[worker] > <int64_t>(MIN_START_TIMEOUT * 1e9):
                    # the forkserver, which was to end it, hangs itself. The kernel ends its workers with it
                    self.kill_forkserver()
                continue
            kill_reason = self.kill_reason(worker, now)
            if kill_reason is None:
                self.overdue_since[worker] = 0
            elif self.overdue_since[worker] == 0:
                # all processes may have been stopped together, and this one is the first to continue
                self.overdue_since[worker] = now
            elif now - self.overdue_since[worker] >= self.slice_ns:
                self.kill_reasons[worker] = kill_reason
                self.kill_requested_at[worker] = now
                self._send_command(b"k", worker)
        return 0

    cdef object kill_reason(self, int worker, int64_t now):
        """Returns the error of a worker that takes too long, or None.

        A worker takes too long if it had a task and has neither begun nor finished one within the timeout: its step
        hangs, or its process is stopped.
        """
        cdef WorkerControl* control = &self.memory.worker_controls[worker]
        cdef int64_t since = control.since.load()
        cdef uint32_t state
        cdef int i
        if control.life.load() == ENDED:
            return None
        if control.life.load() == STARTING:
            if not self._overdue(worker):
                return None
            return WorkerError(f"its process took longer than {self._start_timeout():g} s to start and was killed")
        for i in self.memory.envs_of(worker):
            state = self.memory.mailboxes[i].state.load()
            if ((state == POSTED or state == RUNNING)
                    and now - max(since, self.memory.mailboxes[i].since.load()) > self.timeout_ns):
                return WorkerError(f"not finished within worker_timeout={self.timeout_ns / 1e9:g} s: its process was "
                                   "killed")
        return None

    def _overdue(self, int worker):
        return (self.timeout_ns > 0 and self.memory.worker_controls[worker].life.load() == STARTING
                and now_ns() - self.memory.worker_controls[worker].since.load() > self._start_timeout() * 1e9)

    def _start_timeout(self):
        return max(self.timeout_ns / 1e9, MIN_START_TIMEOUT)

    def _send_command(self, bytes what, int worker):
        try:
            # a forkserver that is stopped takes nothing
            self.channel.send(what + worker.to_bytes(4, "little"), socket.MSG_DONTWAIT)
        except OSError:
            # it is gone, or hangs: the next thorough looks find out
            pass

    cdef bint forkserver_ended(self, int64_t timeout_ns) noexcept nogil:
        """Whether the fork server has ended; waits for its end until the timeout, despite signals."""
        cdef int64_t end = now_ns() + timeout_ns
        cdef int found
        while self.forkserver > 0:
            found = waitpid(self.forkserver, &self.forkserver_status, WNOHANG)
            if found == self.forkserver:
                self.forkserver = 0
            elif found < 0 and errno == ECHILD:
                # other code in this process waits for all children
                self.forkserver = self.forkserver_status = 0
            elif now_ns() >= end:
                return False
            else:
                usleep(1000)
        return True

    cdef void kill_forkserver(self) noexcept nogil:
        if self.forkserver > 0:
            kill(self.forkserver, SIGKILL)

    def close(self, bint forked):
        """Ends the processes.

        Args:
            forked: Whether this process is a fork of the one that started them, and only releases them.
        """
        if self.setup_fd >= 0:
            os.close(self.setup_fd)
            self.setup_fd = -1
        if self.channel is None:
            return
        try:
            if self.forkserver > 0 and not forked:
                # the forkserver waits for the end of the channel, and we for that of the forkserver
                self.channel.shutdown(socket.SHUT_WR)
                self.channel.settimeout(forkserver.GRACE + 5)
                while self.channel.recv(1):
                    pass
        except OSError:
            # it is late
            self.kill_forkserver()
        except BaseException:
            # Ctrl-C: so is it
            self.kill_forkserver()
            raise
        finally:
            if not forked:
                with nogil:
                    if not self.forkserver_ended(5 * SECOND):
                        self.kill_forkserver()
                        self.forkserver_ended(60 * SECOND)
            self.channel.close()
