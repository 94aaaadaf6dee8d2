"""The fork server: a process that starts a pool's workers and ends them with the pool.

It is a fresh interpreter with one thread, so it can fork safely whatever the pool's process is doing. It replaces
workers on demand, reports those that end to the pool, and ends all of them when the pool is closed or its process has
ended for any reason.
"""
from __future__ import annotations

import contextlib
import ctypes
import os
import pickle
import selectors
import signal
import socket
import sys
import time
import traceback
from collections.abc import Iterator
from typing import Any

from cypool.hosting.file_descriptors import CHANNEL, MEMORY, SETUP, move_fd_up

# how long workers may take to close their environments, s
GRACE = 5.0
# it takes the parent's sys.path before it imports anything of it, and no file that a library has left open to children
_LAUNCH = """
import io, os, pickle, sys
for fd in os.listdir("/proc/self/fd"):
    if int(fd) > {kept}:
        try:
            os.close(int(fd))
        except OSError:
            pass
setup = io.BytesIO(os.pread({setup}, os.fstat({setup}).st_size, 0))
sys.path[:] = pickle.load(setup)
from cypool.hosting import forkserver
forkserver.{function}(setup, {arguments})
"""
_PR_SET_PDEATHSIG = 1
# a terminal sends these to all processes of a job; the fork server outlives the pool's process to end the workers
_OF_THE_JOB = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
# whether this process imports modules for its workers' factories: a pool that one of them makes would start processes
# that import the module, and so on
_imports_for_factories = False


def prepare(setup: str, memory: Any, num_envs: int, num_workers: int) -> Any:
    """Prepares the start of a fork server, which then starts the workers.

    Args:
        setup: File descriptor of the file that `write_setup` wrote.
        memory: File descriptor of the `SharedMemory`.

    Returns:
        Our end of a socket to it, its own end, and the arguments of `os.posix_spawn`, by position and by name. A byte
        "s" and a worker's number starts that worker, "k" kills it; closing the socket ends them all.
    """
    ours, theirs = (socket.socket(fileno=move_fd_up(end.detach()))
                    for end in socket.socketpair(type=socket.SOCK_SEQPACKET))
    code = _LAUNCH.format(setup=SETUP, function="main", kept=MEMORY, arguments=(
        f"{SETUP}, {CHANNEL}, {MEMORY}, {num_envs}, {num_workers}, {os.getpid()}"))
    actions: list[tuple[Any, ...]] = [(os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0)]
    actions += [(os.POSIX_SPAWN_OPEN, fd, os.devnull, os.O_WRONLY, 0) for fd in (1, 2) if not _inherits(fd)]
    actions += [(os.POSIX_SPAWN_DUP2, fd, target)
                for fd, target in ((setup, SETUP), (theirs.fileno(), CHANNEL), (memory, MEMORY))]
    # until the fork server ignores them, they are blocked; those of setsigdef Python ignores
    blocked = {*signal.pthread_sigmask(signal.SIG_BLOCK, ()), *_OF_THE_JOB}
    options = {"file_actions": actions, "setsigdef": [signal.SIGPIPE, signal.SIGXFSZ], "setsigmask": blocked}
    return ours, theirs, (sys.executable, [sys.executable, "-c", code], os.environ), options


def _inherits(fd: int) -> bool:
    """Whether a child process inherits the file descriptor."""
    try:
        return os.get_inheritable(fd)
    except OSError:
        # closed
        return False


def write_setup(factories: Any, preload: Any, fresh: bool) -> Any:
    """Writes the setup of the fork server and the workers to a file in memory; returns its file descriptor.

    Args:
        factories: For each worker a list of functions that make environments, pickled.
        preload: Names of modules to import before workers are forked.
        fresh: Whether each worker is a fresh interpreter.

    Raises:
        RuntimeError: A module that a worker imports makes the pool.
    """
    if _imports_for_factories:
        raise RuntimeError("a worker imports a module that, at its top level, makes a pool with worker processes: make "
                           "the pool in a function, or below if __name__ == '__main__'")
    fd = move_fd_up(os.memfd_create("cypool-setup"))
    with open(os.dup(fd), "wb") as file:
        pickle.dump(sys.path, file)
        pickle.dump((factories, preload, fresh), file)
    return fd


def main(setup: Any, setup_fd: int, channel: int, memory_fd: int, num_envs: int, num_workers: int, pool: int) -> None:
    """Runs the fork server: starts workers and replaces them until the pool ends."""
    for number in _OF_THE_JOB:
        signal.signal(number, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _OF_THE_JOB)
    for fd in (setup_fd, channel, memory_fd):
        os.set_inheritable(fd, False)
    factories, preload, fresh = pickle.load(setup)
    from cypool.hosting.worker import SharedMemory

    memory = SharedMemory(num_envs, num_workers, memory_fd)
    with socket.socket(fileno=channel) as commands:
        _ForkServer(memory, factories, fresh, commands, setup_fd).run(preload, pool)
    # skips the interpreter's own shutdown: the pool waits
    _flush()
    os._exit(0)


def import_modules(names: Any) -> None:
    """Imports modules that workers need."""
    for name in names:
        # the worker reports it
        with contextlib.suppress(Exception):
            __import__(name)


@contextlib.contextmanager
def _importing_for_factories() -> Iterator[None]:
    global _imports_for_factories
    _imports_for_factories = True
    try:
        yield
    finally:
        _imports_for_factories = False


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        # no stream, no reader any more, or closed
        with contextlib.suppress(AttributeError, OSError, ValueError):
            stream.flush()


class _ForkServer:
    def __init__(self, memory: Any, factories: Any, fresh: bool, commands: Any, setup_fd: int):
        self.memory, self.factories, self.fresh = memory, factories, fresh
        self.commands, self.setup_fd = commands, setup_fd
        self.workers: dict[int, int] = {}

    def run(self, preload: Any, pool: int) -> None:
        signal.signal(signal.SIGCHLD, lambda *_: None)
        deaths, wakeup = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        signal.set_wakeup_fd(wakeup, warn_on_full_buffer=False)
        selector = selectors.DefaultSelector()
        selector.register(self.commands, selectors.EVENT_READ)
        selector.register(deaths, selectors.EVENT_READ)
        if not self.fresh:
            with _importing_for_factories():
                import_modules(preload)
        for worker in range(self.memory.num_workers):
            self.start(worker)
        # polls once a second: a child of the pool's process may hold the other end of the socket open
        while os.getppid() == pool:
            ready = [key.fd for key, _ in selector.select(1.0)]
            if deaths in ready:
                os.read(deaths, 4096)
                self.reap()
            if self.commands.fileno() in ready and not self.handle_command():
                break
        selector.unregister(self.commands)
        self.memory.close_all()
        end = time.monotonic() + GRACE
        while self.workers and time.monotonic() < end:
            if selector.select(end - time.monotonic()):
                os.read(deaths, 4096)
                self.reap()
        for pid in self.workers:
            _kill_group(pid)
        while self.workers:
            self.reap(block=True)

    def handle_command(self) -> bool:
        """Carries out one command of the pool; returns whether the pool still exists."""
        command = self.commands.recv(5)
        if not command:
            return False
        worker = int.from_bytes(command[1:], "little")
        if command[:1] == b"s":
            self.start(worker)
        else:
            for pid, which in self.workers.items():
                if which == worker:
                    _kill_group(pid)
        return True

    def start(self, worker: int) -> None:
        forkserver = os.getpid()
        _flush()
        pid = os.fork()
        if pid == 0:
            _forked_worker_main(self, worker, forkserver)
        # parent and child both set the group: either may come first
        _own_group(pid)
        self.workers[pid] = worker

    def reap(self, block: bool = False) -> None:
        """Records workers that have ended."""
        while self.workers:
            found = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOWAIT | (0 if block else os.WNOHANG))
            if found is None:
                return
            pid = found.si_pid
            if pid in self.workers:
                # also the processes it started, before its pid can be reused
                _kill_group(pid)
            _, status = os.waitpid(pid, 0)
            if pid in self.workers:
                self.memory.ended(self.workers.pop(pid), status)


def _kill_group(pid: int) -> None:
    # no process is left, or an environment has changed its user
    with contextlib.suppress(OSError):
        os.killpg(pid, signal.SIGKILL)


def _own_group(pid: int) -> None:
    # the terminal's signals go to the pool's group only, and a group can be killed as a whole
    with contextlib.suppress(OSError):
        os.setpgid(pid, pid)


def _forked_worker_main(forkserver: Any, worker: int, parent: int) -> None:
    """Runs a worker in the forked child; never returns."""
    status = 1
    try:
        signal.set_wakeup_fd(-1)
        for number in (signal.SIGCHLD, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_DFL)
        forkserver.commands.close()
        _own_group(0)
        memory = forkserver.memory
        if forkserver.fresh:
            for fd in (forkserver.setup_fd, memory.fd):
                os.set_inheritable(fd, True)
            code = _LAUNCH.format(setup=forkserver.setup_fd, function="spawned_worker_main", kept=MEMORY, arguments=(
                f"{forkserver.setup_fd}, {memory.fd}, {memory.num_envs}, {memory.num_workers}, {worker}, {parent}"))
            os.execv(sys.executable, [sys.executable, "-c", code])
        np = sys.modules.get("numpy")
        if np is not None:
            # all workers inherit the same global state
            np.random.seed()
        status = worker_main(memory, forkserver.factories[worker], worker, parent)
    except BaseException:
        traceback.print_exc()
    finally:
        _flush()
        os._exit(status)


def spawned_worker_main(setup: Any, setup_fd: int, memory_fd: int, num_envs: int, num_workers: int, worker: int,
                 parent: int) -> None:
    """Runs a worker in a new interpreter."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for fd in (setup_fd, memory_fd):
        os.set_inheritable(fd, False)
    factories, _, _ = pickle.load(setup)
    from cypool.hosting.worker import SharedMemory

    sys.exit(worker_main(SharedMemory(num_envs, num_workers, memory_fd), factories[worker], worker, parent))


def worker_main(memory: Any, factories: Any, worker: int, parent: int) -> Any:
    """Makes a worker's environments and steps them until the pool is closed; returns an exit status."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        return 1
    try:
        import cloudpickle

        from cypool.hosting.worker import WorkerLoop

        with _importing_for_factories():
            factories = cloudpickle.loads(factories)
        worker_loop = WorkerLoop(memory, memory.envs_of(worker)[0], factories)
    except BaseException as error:
        memory.report_startup_error(worker, error)
        return 1
    memory.ready(worker)
    worker_loop.run()
    worker_loop.close()
    return 0
