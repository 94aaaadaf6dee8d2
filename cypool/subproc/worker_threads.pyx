"""Workers that are threads of the pool's process."""
import threading
import time

from libc.stdint cimport int64_t

from cypool.subproc import forkserver
from cypool.util.warn import warn_caller

from cypool.util.park cimport now_ns
from cypool.subproc.shared_memory cimport RUNNING, SharedMemory
from cypool.subproc.worker cimport WorkerLoop

# by Task
cdef tuple TASK_NAMES = ("step", "reset", "a call")


cdef class WorkerThreads:
    """The workers of a pool that are threads of its process.

    Args:
        memory: Where the mailboxes are.
        answers: As in `WorkerLoop`. An error of a factory is the answer of the worker's first environment.
    """

    def __init__(self, SharedMemory memory, list answers):
        self.memory = memory
        self.answers = answers
        self.threads = []

    def start(self, list factories, preload):
        """Starts the threads, which make the environments.

        Args:
            factories: A function for each environment.
            preload: Names of modules to import first.
        """
        forkserver.import_modules(preload)
        unwrapped = [None] * len(factories)
        for worker in range(self.memory.num_workers):
            self.memory.begin(worker)
            own = [factories[i] for i in self.memory.envs_of(worker)]
            # daemons: the process may end while an environment does not return
            thread = threading.Thread(target=_run, args=(self.memory, worker, own, self.answers, unwrapped),
                                      name=f"cypool-envs-{self.memory.envs_of(worker)[0]}", daemon=True)
            # first: Ctrl-C may come in `start`, when the thread runs already
            self.threads.append(thread)
            try:
                thread.start()
            except RuntimeError as error:
                # Ctrl-C within Python's own waiting for the thread becomes "release unlocked lock"
                raise error.__context__ if isinstance(error.__context__, KeyboardInterrupt) else error

    def close(self):
        """Has the threads close their environments and end; warns of those that do not."""
        self.memory.close_all()
        end = now_ns() + <int64_t>(forkserver.GRACE * 1e9)
        # the garbage collector may have found the pool in one of them
        others = [(worker, thread) for worker, thread in enumerate(self.threads)
                  if thread is not threading.current_thread() and thread.ident is not None]
        for _, thread in others:
            _join(thread, end)
        stuck = [self._place_of(worker) for worker, thread in others if thread.is_alive()]
        self.threads = []
        if stuck:
            warn_caller(f"close: expected environments that return within {forkserver.GRACE:g} s, but "
                        f"{', '.join(stuck)} did not: these threads end when they return", RuntimeWarning)

    def _place_of(self, int worker):
        """Says which environment of a worker is at work, and what it does."""
        cdef int i
        for i in self.memory.envs_of(worker):
            if self.memory.mailboxes[i].state.load() == RUNNING:
                return f"env {i} in {TASK_NAMES[self.memory.mailboxes[i].task]}"
        return f"env {' or '.join(map(str, self.memory.envs_of(worker)))} as it is made or closed"


cdef int _join(object thread, int64_t end) except -1:
    """Waits until a thread has ended, or until a time."""
    while True:
        try:
            thread.join(max(end - now_ns(), 0) / 1e9)
            return 0
        except RuntimeError:
            # Ctrl-C came in `start`, and the thread has not yet said that it runs
            if now_ns() >= end:
                return 0
            time.sleep(0.001)


def _run(SharedMemory memory, int worker, list factories, list answers, list unwrapped):
    """Makes a worker's environments and steps them until the pool is closed: what its thread runs."""
    cdef int first = memory.envs_of(worker)[0]
    try:
        worker_loop = WorkerLoop(memory, first, factories, answers, unwrapped)
    except BaseException as error:
        answers[first] = error
        memory.ended(worker, 0)
        return
    memory.ready(worker)
    worker_loop.run()
    worker_loop.close()
