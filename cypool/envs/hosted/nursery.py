"""The process that starts a pool's workers, and sees that none outlives the pool.

A fresh interpreter with one thread, so that it can be forked whatever the pool's process is busy with. It replaces
workers on demand, tells the pool of those that end, and ends them all when the pool is closed or its process is gone,
in whichever way.
"""
import ctypes
import fcntl
import os
import pickle
import selectors
import signal
import socket
import sys
import time
import traceback

# how long workers may take to close their environments, s
GRACE = 5.0
# file descriptors of a nursery
SETUP, CHANNEL, AREA = 3, 4, 5
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
from cypool.envs.hosted import nursery
nursery.{function}(setup, {arguments})
"""
_PR_SET_PDEATHSIG = 1


def out_of_the_way(fd):
    """Moves a file descriptor above those that have a meaning in a nursery."""
    if fd > AREA:
        return fd
    try:
        return fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, AREA + 1)
    finally:
        os.close(fd)


def prepare(setup, area, num_envs, num_workers):
    """Makes what it takes to start a nursery, which then starts the workers.

    Args:
        setup: File descriptor of what `write_setup` has written.
        area: File descriptor of the `Area`.

    Returns:
        Our end of a socket to it, its own end, and the arguments of `os.posix_spawn`, by position and by name. A byte
        "s" and a worker's number starts that worker, "k" kills it; closing the socket ends them all.
    """
    ours, theirs = (socket.socket(fileno=out_of_the_way(end.detach()))
                    for end in socket.socketpair(type=socket.SOCK_SEQPACKET))
    code = _LAUNCH.format(setup=SETUP, function="tend", kept=AREA, arguments=(
        f"{SETUP}, {CHANNEL}, {AREA}, {num_envs}, {num_workers}, {os.getpid()}"))
    actions = [(os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0)]
    actions += [(os.POSIX_SPAWN_OPEN, fd, os.devnull, os.O_WRONLY, 0) for fd in (1, 2) if not _inherits(fd)]
    actions += [(os.POSIX_SPAWN_DUP2, fd, target)
                for fd, target in ((setup, SETUP), (theirs.fileno(), CHANNEL), (area, AREA))]
    # those that Python ignores
    options = {"file_actions": actions, "setsigdef": [signal.SIGPIPE, signal.SIGXFSZ]}
    return ours, theirs, (sys.executable, [sys.executable, "-c", code], os.environ), options


def _inherits(fd):
    """Whether a child process has what we have there."""
    try:
        return os.get_inheritable(fd)
    except OSError:
        # closed
        return False


def write_setup(factories, preload, fresh):
    """Writes down, in memory, what nursery and workers need to know; returns a file descriptor.

    Args:
        factories: For each worker a list of functions that make environments, pickled.
        preload: Names of modules to import before workers are forked.
        fresh: Whether each worker is to be an interpreter of its own.
    """
    fd = out_of_the_way(os.memfd_create("cypool-setup"))
    with open(os.dup(fd), "wb") as file:
        pickle.dump(sys.path, file)
        pickle.dump((factories, preload, fresh), file)
    return fd


def tend(setup, setup_fd, channel, area_fd, num_envs, num_workers, pool):
    """The nursery: starts workers and looks after them until the pool ends."""
    # sent to all processes of a terminal or a job: it lives as long as the pool's, and tidies up behind it
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    for fd in (setup_fd, channel, area_fd):
        os.set_inheritable(fd, False)
    factories, preload, fresh = pickle.load(setup)
    from cypool.envs.hosted.stage import Area

    area = Area(num_envs, num_workers, area_fd)
    with socket.socket(fileno=channel) as orders:
        _Nursery(area, factories, fresh, orders, setup_fd).run(preload, pool)
    # there is nothing to take apart, and somebody waits
    _flush()
    os._exit(0)


def _flush():
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (AttributeError, OSError, ValueError):
            # there is none, nobody reads it any more, or it is closed
            pass


class _Nursery:
    def __init__(self, area, factories, fresh, orders, setup_fd):
        self.area, self.factories, self.fresh, self.orders, self.setup_fd = area, factories, fresh, orders, setup_fd
        self.workers = {}

    def run(self, preload, pool):
        signal.signal(signal.SIGCHLD, lambda *_: None)
        deaths, wakeup = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        signal.set_wakeup_fd(wakeup, warn_on_full_buffer=False)
        selector = selectors.DefaultSelector()
        selector.register(self.orders, selectors.EVENT_READ)
        selector.register(deaths, selectors.EVENT_READ)
        if not self.fresh:
            for name in preload:
                try:
                    __import__(name)
                except Exception:
                    # the worker says so
                    pass
        for worker in range(self.area.num_workers):
            self.start(worker)
        # now and then it looks by itself: a child of the pool's process may hold the other end of the socket open
        while os.getppid() == pool:
            ready = [key.fd for key, _ in selector.select(1.0)]
            if deaths in ready:
                os.read(deaths, 4096)
                self.reap()
            if self.orders.fileno() in ready and not self.obey():
                break
        selector.unregister(self.orders)
        self.area.close_all()
        end = time.monotonic() + GRACE
        while self.workers and time.monotonic() < end:
            if selector.select(end - time.monotonic()):
                os.read(deaths, 4096)
                self.reap()
        for pid in self.workers:
            _kill_group(pid)
        while self.workers:
            self.reap(block=True)

    def obey(self):
        """Does what the pool says; returns whether there is one."""
        order = self.orders.recv(5)
        if not order:
            return False
        worker = int.from_bytes(order[1:], "little")
        if order[:1] == b"s":
            self.start(worker)
        else:
            for pid, which in self.workers.items():
                if which == worker:
                    _kill_group(pid)
        return True

    def start(self, worker):
        nursery = os.getpid()
        _flush()
        pid = os.fork()
        if pid == 0:
            _be_worker(self, worker, nursery)
        # both do it: whoever is first
        _own_group(pid)
        self.workers[pid] = worker

    def reap(self, block=False):
        """Books workers that have ended."""
        while self.workers:
            found = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOWAIT | (0 if block else os.WNOHANG))
            if found is None:
                return
            pid = found.si_pid
            if pid in self.workers:
                # what it has started, while its number cannot be another's
                _kill_group(pid)
            _, status = os.waitpid(pid, 0)
            if pid in self.workers:
                self.area.ended(self.workers.pop(pid), status)


def _kill_group(pid):
    try:
        os.killpg(pid, signal.SIGKILL)
    except OSError:
        # none of it is left, or an environment has made it another user's
        pass


def _own_group(pid):
    # signals of the terminal are the pool's, and a group can be ended as a whole
    try:
        os.setpgid(pid, pid)
    except OSError:
        pass


def _be_worker(nursery, worker, parent):
    """In the forked child: works, and never returns."""
    status = 1
    try:
        signal.set_wakeup_fd(-1)
        for number in (signal.SIGCHLD, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_DFL)
        nursery.orders.close()
        _own_group(0)
        area = nursery.area
        if nursery.fresh:
            for fd in (nursery.setup_fd, area.fd):
                os.set_inheritable(fd, True)
            code = _LAUNCH.format(setup=nursery.setup_fd, function="start_afresh", kept=AREA, arguments=(
                f"{nursery.setup_fd}, {area.fd}, {area.num_envs}, {area.num_workers}, {worker}, {parent}"))
            os.execv(sys.executable, [sys.executable, "-c", code])
        np = sys.modules.get("numpy")
        if np is not None:
            # all workers were forked with the same
            np.random.seed()
        status = work(area, nursery.factories[worker], worker, parent)
    except BaseException:
        traceback.print_exc()
    finally:
        _flush()
        os._exit(status)


def start_afresh(setup, setup_fd, area_fd, num_envs, num_workers, worker, parent):
    """A worker that is an interpreter of its own."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for fd in (setup_fd, area_fd):
        os.set_inheritable(fd, False)
    factories, _, _ = pickle.load(setup)
    from cypool.envs.hosted.stage import Area

    sys.exit(work(Area(num_envs, num_workers, area_fd), factories[worker], worker, parent))


def work(area, factories, worker, parent):
    """Makes a worker's environments and steps them until the pool is closed; returns an exit status."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        return 1
    try:
        import cloudpickle

        from cypool.envs.hosted.stage import Stage

        stage = Stage(area, area.envs_of(worker)[0], cloudpickle.loads(factories))
    except BaseException as error:
        area.excuse(worker, error)
        return 1
    area.ready(worker)
    stage.serve()
    stage.close()
    return 0
