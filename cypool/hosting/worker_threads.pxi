# Workers that are threads of the pool's process.
import _thread
import threading

from libc.stdint cimport int64_t

from cypool.hosting import forkserver
from cypool.util.warn import warn_caller

from cypool.util.park cimport now_ns
from cypool.hosting.worker cimport RUNNING, SharedMemory, WorkerLoop

# by WorkerTask
cdef tuple TASK_NAMES = ("step", "reset", "a call")


cdef class WorkerThreads:
    """The worker threads of a pool.

    Args:
        memory: Where the mailboxes are.
        answers: As in `WorkerLoop`. An error of a factory is the answer of the worker's first environment.
    """
    cdef SharedMemory memory
    cdef list answers
    cdef list threads                # of threading.Thread, one for each worker that was started
    cdef object starting             # a lock: held while threads are started
    cdef object starter              # the thread that starts them; later, another one may have its number

    def __init__(self, SharedMemory memory, list answers):
        self.memory = memory
        self.answers = answers
        self.threads = []
        self.starting = _thread.allocate_lock()
        self.starter = 0

    def start(self, list factories, preload):
        """Starts the threads, which create the environments.

        Args:
            factories: A function for each environment.
            preload: Names of modules to import first.
        """
        forkserver.import_modules(preload)
        for worker in range(self.memory.num_workers):
            self.memory.begin(worker)
        self.starting.acquire()
        try:
            # Ctrl-C is raised in the main thread. Within `Thread.start` it leaves locks as they should not be
            _thread.start_new_thread(self._start, (factories,))
        except BaseException:
            self.starting.release()
            raise

    def _start(self, list factories):
        cdef int worker = 0
        self.starter = threading.get_ident()
        try:
            unwrapped = [None] * len(factories)
            for worker in range(self.memory.num_workers):
                if self.memory.control.closing.load():
                    return
                own = [factories[i] for i in self.memory.envs_of(worker)]
                # daemons: the process may end while an environment does not return
                thread = threading.Thread(target=_run, args=(self.memory, worker, own, self.answers, unwrapped),
                                          name=f"cypool-envs-{self.memory.envs_of(worker)[0]}", daemon=True)
                thread.start()
                self.threads.append(thread)
        except BaseException as error:
            self.answers[self.memory.envs_of(worker)[0]] = error
            self.memory.ended(worker, 0)
        finally:
            self.starting.release()

    def close(self):
        """Makes the threads close their environments and end; warns of those that do not."""
        self.memory.close_all()
        end = now_ns() + <int64_t>(forkserver.GRACE * 1e9)
        # the garbage collector may have found the pool in one of them, or as they are started
        here = threading.get_ident()
        if here != self.starter and self.starting.acquire(timeout=forkserver.GRACE):
            self.starting.release()
        others = [(worker, thread) for worker, thread in enumerate(self.threads) if thread.ident != here]
        for _, thread in others:
            thread.join(max(end - now_ns(), 0) / 1e9)
        stuck = [self._place_of(worker) for worker, thread in others if thread.is_alive()]
        self.threads = []
        if stuck:
            warn_caller(f"close: expected environments to return within {forkserver.GRACE:g} s, but {', '.join(stuck)} "
                        "did not; each thread will end when its environment returns", RuntimeWarning)

    def _place_of(self, int worker):
        """Names the environment that a worker is running, and its task."""
        cdef int i
        for i in self.memory.envs_of(worker):
            if self.memory.mailboxes[i].state.load() == RUNNING:
                return f"env {i} in {TASK_NAMES[self.memory.mailboxes[i].task]}"
        return f"env {' or '.join(map(str, self.memory.envs_of(worker)))} while being created or closed"


def _run(SharedMemory memory, int worker, list factories, list answers, list unwrapped):
    """Makes a worker's environments and steps them until the pool is closed; runs on the worker's thread."""
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
