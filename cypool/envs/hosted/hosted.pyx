"""The pool's side of environments that are stepped in other processes.

A task is posted on the environment's desk, and its worker is told (`Workers.begin`); answers are waited for on the
caller's thread (`Workers.finished`), and only then does the engine step the environment, which copies what is there.
"""
import os
import pickle
import socket

from cpython.exc cimport PyErr_CheckSignals
from libc.errno cimport ECHILD, errno
from libc.signal cimport SIGKILL
from libc.stdint cimport int32_t, int64_t, uint32_t
from libc.string cimport memcpy
from posix.signal cimport kill
from posix.unistd cimport getpid, usleep
from posix.wait cimport WNOHANG, waitpid

from cypool.arguments import check_int
from cypool.arguments import shown as shown_value
from cypool.envs.hosted import nursery, spaces
from cypool.errors import WorkerError
from cypool.state import Pickled

from cypool.engine.park cimport now_ns, park
from cypool.env cimport Elsewhere, Env, Slot
from cypool.envs.hosted.stage cimport ANSWERED, AT_WORK, CALL, ENDED, IDLE, POSTED, READY, RESET, STARTING, STEP
from cypool.envs.hosted.stage cimport Area, Desk, Places, Post, Stage

cdef enum:
    SLICE_NS = 100_000_000           # how long to sleep before looking after the workers, and for signals

cdef int64_t SECOND = 1_000_000_000  # in ns

# what a start may take at least, with a timeout, s
cdef double START = 60


cdef class Hosted(Env):
    """An environment of Gymnasium whose steps a `Workers` has made."""

    cdef int reset(self) except -1 nogil:
        # of a step that was followed by a reset, the second half; else that is what was asked for
        self.shown = 0
        if self.failed:
            raise self.error
        return 0

    cdef int step(self, const void* action) except -1 nogil:
        if self.failed:
            raise self.error
        self.reward = self.desk.reward
        self.terminated, self.truncated = self.desk.terminated, self.desk.truncated
        self.shown = 1 if self.desk.began_anew else 0
        return 0

    cdef int observe(self, const Slot* out) except -1 nogil:
        cdef const char* source = self.place + self.shown * self.places.second
        cdef size_t k
        for k in range(self.places.sizes.size()):
            memcpy(out.obs[k], source + self.places.offsets[k], self.places.sizes[k])
        return 0

    cdef int seed(self, object seed) except -1:
        self.seed_to_come = seed
        return 0

    cdef object save(self):
        own = Pickled(self.call("save"))
        first, last = self.places.letter_bytes, self.places.letter_bytes + self.places.second
        return own, (<bytes>self.place[first:last]), self.seed_to_come

    cdef int load(self, object state) except -1:
        if not isinstance(state, (tuple, list)) or len(state) != 3:
            raise ValueError(f"expected a state of a hosted environment, got {shown_value(state)}")
        own, shown, seed = state
        # plain bytes may come from a file that promises to run no code
        if type(own) is not Pickled or type(shown) is not bytes or <size_t>len(shown) != self.places.second:
            raise ValueError("expected a state of a hosted environment, as it was saved or unpickled")
        if seed is not None:
            seed = check_int("seed", seed, 0, 2**64 - 1)
        self.call("load", (bytes(own),))
        memcpy(self.place + self.places.letter_bytes, <const char*>(<bytes>shown), len(shown))
        self.seed_to_come = seed
        self.lost = self.failed = False
        self.error = self.told = None
        self.shown = 0
        return 0

    cdef object render(self):
        if self.spec.render_fps is None:
            raise NotImplementedError("render: expected an environment made with render_mode='rgb_array'")
        return self.call("render")

    def ask(self, function, *args, **kwargs):
        """Calls a function with the environment, where that is; returns what it returns."""
        return self.call("ask", (function, *args), kwargs)

    cdef int take(self) except -1:
        """Reads what the answer says besides numbers."""
        told = problem = None
        # first all that may run Python code, and so be interrupted: then the answer is there next time
        if self.desk.failed:
            if self.workers.stage is not None:
                # there was no memory to keep it
                problem = self.workers.stage.raised.get(self.env_id, MemoryError())
            else:
                problem = _read(self.workers.area.letter(self.env_id, self.desk.letter_bytes))
            if isinstance(problem, KeyboardInterrupt):
                # the engine would take it for another Ctrl-C
                problem = _caused(problem)
        elif self.desk.letter_bytes > 0:
            try:
                told = pickle.loads(self.workers.area.letter(self.env_id, self.desk.letter_bytes))
            except Exception as error:
                problem = RuntimeError(f"what it told does not unpickle: {error}")
        if self.workers.stage is not None:
            self.workers.stage.raised.pop(self.env_id, None)
        self.sent = False
        self.error = None
        self.desk.state.store(IDLE)
        if problem is not None:
            self.workers.give_up(self, problem)
        else:
            self.told = told
        return 0

    cdef object call(self, str name, tuple args=(), dict kwargs=None):
        """Has a method of the environment called, and waits."""
        cdef bint loads = name == "load"
        cdef Workers workers = self.workers
        workers.settle(self)
        if self.lost and not loads:
            raise WorkerError(f"env {self.env_id} has lost its episode with its process: reset it first")
        letter = pickle.dumps((name, args, kwargs or {}), pickle.HIGHEST_PROTOCOL)
        self.desk.letter_bytes = workers.area.write_letter(self.env_id, letter, self.places.letter_bytes)
        self.desk.task = CALL
        self.error = self.told = None
        self.failed = False
        self.calling = True
        workers.post(self.env_id)
        workers.ring_all()
        workers.settle(self)
        error, told = self.error, self.told
        self.failed = False
        self.error = self.told = None
        if error is not None:
            if name == "save" and not isinstance(error, WorkerError):
                raise NotImplementedError(f"save: env {self.env_id} does not pickle: {error}") from error
            if loads and not isinstance(error, WorkerError):
                raise ValueError(f"its pickle cannot be loaded: {type(error).__name__}: {error}") from error
            raise error
        return told[0]


cdef class Workers(Elsewhere):
    """The processes that step the environments of a pool.

    Args:
        factories: A function for each environment, which makes it.
        num_workers: How many processes; environments are dealt out in blocks. 0: none, the environments are stepped
            here, one after the other, by whoever waits for them.
        start_method: "forkserver" or "spawn".
        timeout: Seconds that a worker may take for a step or a reset; None: any time.
        preload: Names of modules to import before processes are forked.

    Raises:
        Exception: What making an environment raises.
        WorkerError: A process ended, or took too long.
        ValueError: The environments do not fit together, or their spaces are none of ours.
    """

    def __init__(self, list factories, int num_workers, str start_method, timeout, list preload):
        cdef int worker
        self.closed = False
        self.pid = getpid()
        self.setup_fd = -1
        self.timeout_ns = 0 if timeout is None else <int64_t>(timeout * 1e9)
        self.area = Area(len(factories), max(num_workers, 1))
        self.verdicts = [None] * self.area.num_workers
        self.suspected.resize(self.area.num_workers)
        self.condemned.resize(self.area.num_workers)
        try:
            if num_workers == 0:
                self.stage = Stage(self.area, 0, factories, in_pool=True)
                self.area.posts[0].life.store(READY)
            else:
                import cloudpickle

                pickled = [cloudpickle.dumps([factories[i] for i in self.area.envs_of(worker)])
                           for worker in range(num_workers)]
                self.setup_fd = nursery.write_setup(pickled, preload, start_method == "spawn")
                self._launch()
                self._await_start()
            self._introduce()
        except BaseException:
            self.close()
            raise

    def __cinit__(self):
        self.closed = True

    def __del__(self):
        self.close()

    def _launch(self):
        for worker in range(self.area.num_workers):
            self.area.begin(worker)
        self.channel, theirs, arguments, options = nursery.prepare(
            self.setup_fd, self.area.fd, self.area.num_envs, self.area.num_workers)
        # no Python code between its start and the note of it: Ctrl-C comes before or afterwards
        self.nursery = os.posix_spawn(*arguments, **options)
        theirs.close()

    cdef bint nursery_ended(self, int64_t timeout_ns) noexcept nogil:
        """Whether the nursery has ended; waits for that for so long, whatever signals come."""
        cdef int64_t end = now_ns() + timeout_ns
        cdef int found
        while self.nursery > 0:
            found = waitpid(self.nursery, &self.nursery_status, WNOHANG)
            if found == self.nursery:
                self.nursery = 0
            elif found < 0 and errno == ECHILD:
                # somebody else in this process waits for all children
                self.nursery = self.nursery_status = 0
            elif now_ns() >= end:
                return False
            else:
                usleep(1000)
        return True

    cdef void kill_nursery(self) noexcept nogil:
        if self.nursery > 0:
            kill(self.nursery, SIGKILL)

    def _await_start(self):
        """Waits until all workers have made their environments."""
        cdef uint32_t seen, starting
        cdef int worker
        while True:
            seen = self.area.bell.answers.load()
            starting = 0
            for worker in range(self.area.num_workers):
                starting += self.area.posts[worker].life.load() == STARTING
                if self.area.posts[worker].life.load() == ENDED:
                    raise self._obituary(worker)
            if starting == 0:
                return
            with nogil:
                self.sleep(seen, starting, SLICE_NS)
            PyErr_CheckSignals()
            if self.nursery_ended(0):
                manner = _manner(os.waitstatus_to_exitcode(self.nursery_status))
                raise WorkerError(f"the process that starts workers ended: {manner}")
            for worker in range(self.area.num_workers):
                if self._overdue(worker):
                    raise WorkerError(f"a worker process took longer than {self._patience()} s to start")

    def _introduce(self):
        """Reads what the environments are; they have to be alike."""
        cdef int i
        self.introductions = [pickle.loads(self.area.letter(i, self.area.desks[i].letter_bytes))
                              for i in range(self.area.num_envs)]
        for i, each in enumerate(self.introductions):
            for part in ("observation_space", "action_space"):
                if each[part] != self.introductions[0][part]:
                    raise ValueError(f"expected the same {part} everywhere, but env 0 has "
                                     f"{self.introductions[0][part]}, env {i} {each[part]}")
        first = self.introductions[0]
        self.places = Places(*spaces.described(first["observation_space"], first["action_space"]))
        self.area.bell.layout.store(self.places.checksum)
        self.deaths = self.area.bell.deaths.load()

    @property
    def introduction(self):
        """What the first environment told of itself: spaces, step limit, pictures per second."""
        return self.introductions[0]

    @property
    def count(self):
        """How many processes there are."""
        return 0 if self.stage is not None else self.area.num_workers

    def environments(self, list specs):
        """Makes the `Env` objects, one for each spec."""
        cdef Hosted env
        cdef int i
        self.envs = [Hosted(spec, i) for i, spec in enumerate(specs)]
        for i, env in enumerate(self.envs):
            env.workers = self
            env.places = self.places
            env.desk = &self.area.desks[i]
            env.place = self.area.at(i)
        return self.envs

    cdef int begin(self, const int32_t* ids, uint32_t count, const char* actions, bint same_step) except -1:
        cdef Hosted env
        cdef Desk* desk
        cdef uint32_t k
        options = b""
        if self.options is not None:
            options = pickle.dumps(self.options, pickle.HIGHEST_PROTOCOL)
            if <size_t>len(options) > self.places.letter_bytes:
                raise ValueError(f"options: expected at most {self.places.letter_bytes} bytes when pickled, got "
                                 f"{len(options)}")
        # all that waits, or may raise, first
        for k in range(count):
            self.settle(self.envs[ids[k]])
        self.look_after(False)
        self.sent.reserve(self.sent.size() + count)
        for k in range(count):
            env = self.envs[ids[k]]
            desk = env.desk
            env.told = None
            self.sent.push_back(ids[k])
            if env.unmoved:
                continue
            env.failed = False
            env.error = None
            if not env.over and env.lost:
                self.give_up(env, WorkerError("the episode was lost with the process it was in"))
                continue
            desk.task = RESET if env.over else STEP
            if env.over:
                desk.seeded = env.seed_to_come is not None
                if desk.seeded:
                    desk.seed = env.seed_to_come
                    env.seed_to_come = None
                desk.letter_bytes = 0
                if env.forced and options:
                    desk.letter_bytes = self.area.write_letter(env.env_id, options, self.places.letter_bytes)
                env.lost = False
            else:
                memcpy(env.place + self.places.action_at, actions + ids[k] * self.places.action_bytes,
                       self.places.action_bytes)
                desk.resets = same_step
                desk.last = env.elapsed_step + 1 >= env.max_episode_steps
            self.post(env.env_id)
        self.ring_all()
        return 0

    cdef int post(self, int env_id) except -1:
        """Puts a task on an environment's desk; `ring_all` tells its worker."""
        cdef int worker = self.area.worker_of(env_id)
        (<Hosted>self.envs[env_id]).sent = True
        if self.timeout_ns > 0:
            self.area.desks[env_id].since.store(now_ns())
        self.area.desks[env_id].state.store(POSTED)
        if self.called.empty() or self.called.back() != worker:
            self.called.push_back(worker)
        return 0

    cdef int ring_all(self) except -1:
        cdef int worker
        for worker in self.called:
            if self.stage is None:
                self.area.ring(worker)
        self.called.clear()
        return 0

    cdef int finished(self, int32_t* ids, int wanted, int64_t timeout_ns) except -1:
        cdef int64_t end = now_ns() + timeout_ns
        cdef uint32_t seen
        cdef int count
        cdef bint again = True
        while True:
            seen = self.area.bell.answers.load()
            self.look_after(False)
            count = self.count_finished(wanted)
            if count == wanted or not again:
                break
            if self.stage is not None:
                self.stage.perform_next()
                again = now_ns() < end
            else:
                # after a signal, too, the caller wants to look
                with nogil:
                    again = self.sleep(seen, wanted - count, max(min(end - now_ns(), self.slice_ns()), <int64_t>0))
                if not again:
                    self.look_after(True)
        return self.take_finished(ids, count)

    cdef int count_finished(self, int most) except -1:
        """How many tasks are done, up to `most`."""
        cdef Hosted env
        cdef int count = 0
        cdef int32_t i
        for i in self.sent:
            env = self.envs[i]
            count += not env.sent or env.desk.state.load() == ANSWERED
            if count == most:
                break
        return count

    cdef int take_finished(self, int32_t* ids, int most) except -1:
        """Takes the answers of tasks that are done, up to `most`; the others stay on the list."""
        cdef Hosted env
        cdef int count = 0
        cdef int32_t i
        cdef size_t k, left = 0
        # an interrupt comes before the list is changed
        for i in self.sent:
            if count == most:
                break
            env = self.envs[i]
            if env.sent and env.desk.state.load() == ANSWERED:
                env.take()
            count += not env.sent
        count = 0
        for k in range(self.sent.size()):
            env = self.envs[self.sent[k]]
            if count < most and not env.sent:
                ids[count] = self.sent[k]
                count += 1
            else:
                self.sent[left] = self.sent[k]
                left += 1
        self.sent.resize(left)
        return count

    cdef bint sleep(self, uint32_t seen, uint32_t missing, int64_t timeout_ns) noexcept nogil:
        """Sleeps until there were so many answers since `seen`; False after the timeout or a signal."""
        cdef uint32_t answers
        cdef bint awake = True
        self.area.bell.target.store(seen + missing)
        # said first, looked afterwards: whoever answers in between sees a sleeper
        self.area.bell.sleeping.store(1)
        answers = self.area.bell.answers.load()
        while awake and answers - seen < missing:
            awake = park(self.area.bell.answers, answers, timeout_ns, True)
            answers = self.area.bell.answers.load()
        self.area.bell.sleeping.store(0)
        return awake

    cdef int64_t slice_ns(self) noexcept nogil:
        """How long to sleep at most, so that an environment is not much longer at work than it may be."""
        return min(<int64_t>SLICE_NS, self.timeout_ns // 4) if self.timeout_ns > 0 else SLICE_NS

    def settle(self, Hosted env):
        """Waits for the call that an environment is at, if there is one."""
        cdef uint32_t seen
        while env.calling:
            if self.stage is not None:
                self.stage.perform_next()
            seen = self.area.bell.answers.load()
            self.look_after(False)
            if not env.sent or env.desk.state.load() == ANSWERED:
                env.calling = False
                if env.sent:
                    env.take()
                return
            with nogil:
                if self.sleep(seen, 1, self.slice_ns()):
                    continue
            PyErr_CheckSignals()
            self.look_after(True)

    cdef int look_after(self, bint thoroughly) except -1:
        """Sees which workers have ended, and replaces them; thoroughly: also whether any is hung."""
        cdef Post* posts = self.area.posts
        cdef int worker
        cdef uint32_t deaths
        if self.stage is not None:
            return 0
        if self.timeout_ns > 0 and now_ns() - self.looked_at >= self.slice_ns():
            # others that answer all the time hide the one that does not
            thoroughly = True
        if thoroughly:
            if self.nursery_ended(0):
                # then it has taken all workers along
                self.channel.close()
                for worker in range(self.area.num_workers):
                    self.area.ended(worker, self.nursery_status)
                    self.bury(worker)
                self.deaths = self.area.bell.deaths.load()
                self._launch()
                return 0
            if self.timeout_ns > 0:
                self.judge()
        deaths = self.area.bell.deaths.load()
        if deaths != self.deaths:
            for worker in range(self.area.num_workers):
                if posts[worker].life.load() == ENDED:
                    self.bury(worker)
                    self.area.begin(worker)
                    self._order(b"s", worker)
            # last: if this is interrupted, it is done next time
            self.deaths = deaths
        return 0

    cdef int judge(self) except -1:
        """Has workers ended that take too long."""
        cdef int64_t now = now_ns()
        cdef int worker
        self.looked_at = now
        for worker in range(self.area.num_workers):
            if self.verdicts[worker] is not None:
                if now - self.condemned[worker] > <int64_t>(START * 1e9):
                    # the nursery, which was to end it, hangs itself. The kernel ends its workers with it
                    self.kill_nursery()
                continue
            verdict = self.verdict(worker, now)
            if verdict is None:
                self.suspected[worker] = 0
            elif self.suspected[worker] == 0:
                # all processes may have been stopped together, and this one is the first to go on
                self.suspected[worker] = now
            elif now - self.suspected[worker] >= self.slice_ns():
                self.verdicts[worker] = verdict
                self.condemned[worker] = now
                self._order(b"k", worker)
        return 0

    cdef object verdict(self, int worker, int64_t now):
        """Returns the error of a worker that takes too long, or None.

        It does so if it has neither begun nor finished anything for too long while it had something to do, be it
        that a step hangs or that the process is stopped.
        """
        cdef Post* post = &self.area.posts[worker]
        cdef int64_t since = post.since.load()
        cdef uint32_t state
        cdef Hosted env
        if post.life.load() == ENDED:
            return None
        if post.life.load() == STARTING:
            if not self._overdue(worker):
                return None
            return WorkerError(f"its process took longer than {self._patience():g} s to start: it was ended")
        for i in self.area.envs_of(worker):
            env = self.envs[i]
            state = env.desk.state.load()
            if (env.sent and (state == POSTED or state == AT_WORK)
                    and now - max(since, env.desk.since.load()) > self.timeout_ns):
                return WorkerError(f"not done within worker_timeout={self.timeout_ns / 1e9:g} s: its process was ended")
        return None

    cdef int bury(self, int worker) except -1:
        """Gives up what a worker that has ended was to do."""
        cdef Hosted env
        cdef uint32_t state
        error = self.verdicts[worker]
        if error is None:
            error = self._obituary(worker)
        for i in self.area.envs_of(worker):
            env = self.envs[i]
            state = env.desk.state.load()
            # a reset that it has not begun the next one can do, unless even the start is too much
            if env.sent and (state == AT_WORK or (state == POSTED and (
                    env.desk.task != RESET or self.area.posts[worker].made.load() == 0))):
                # the next process is not to find it: that has an environment that was never reset
                env.desk.state.store(IDLE)
                self.give_up(env, error)
            env.lost = not (env.sent and state == POSTED)
        self.verdicts[worker] = None
        self.suspected[worker] = 0
        return 0

    cdef int give_up(self, Hosted env, object error) except -1:
        """Has an environment fail instead of being stepped."""
        env.sent = False
        env.failed = True
        env.error = error
        env.told = None
        return 0

    def _order(self, bytes what, int worker):
        try:
            # a nursery that is stopped takes nothing
            self.channel.send(what + worker.to_bytes(4, "little"), socket.MSG_DONTWAIT)
        except OSError:
            # it is gone, or hangs: the next thorough looks find out
            pass

    def _obituary(self, int worker):
        """Returns the error that tells why a worker has ended."""
        cdef Post* post = &self.area.posts[worker]
        if post.letter_bytes > 0:
            return _read(self.area.letter(self.area.envs_of(worker)[0], post.letter_bytes))
        return WorkerError(f"its process ended: {_manner(os.waitstatus_to_exitcode(post.status))}")

    def _overdue(self, int worker):
        return (self.timeout_ns > 0 and self.area.posts[worker].life.load() == STARTING
                and now_ns() - self.area.posts[worker].since.load() > self._patience() * 1e9)

    def _patience(self):
        return max(self.timeout_ns / 1e9, START)

    cdef object tell(self, object env_ids):
        cdef Hosted env
        told = []
        for row, env_id in enumerate(env_ids.tolist()):
            env = self.envs[env_id]
            if env.told is not None:
                told.append((row, *env.told))
        return told

    cdef bint forked(self) noexcept:
        return getpid() != self.pid

    def close(self):
        if self.closed:
            return
        self.closed = True
        self.envs = None
        if self.stage is not None:
            self.stage.close()
        if self.setup_fd >= 0:
            os.close(self.setup_fd)
        if self.channel is None:
            return
        try:
            if self.nursery > 0 and not self.forked():
                # its end is what the nursery waits for, and we for its end
                self.channel.shutdown(socket.SHUT_WR)
                self.channel.settimeout(nursery.GRACE + 5)
                while self.channel.recv(1):
                    pass
        except OSError:
            # it is late
            self.kill_nursery()
        except BaseException:
            # Ctrl-C: so is it
            self.kill_nursery()
            raise
        finally:
            if not self.forked():
                with nogil:
                    if not self.nursery_ended(5 * SECOND):
                        self.kill_nursery()
                        self.nursery_ended(60 * SECOND)
            self.channel.close()


def _read(letter):
    """Returns the exception of a letter, with the traceback from over there as its cause."""
    try:
        error, text = pickle.loads(letter)
        error.__cause__ = WorkerError(f"raised in a worker process:\n\n{text}")
    except Exception as problem:
        return WorkerError(f"it raised something that does not unpickle: {problem}")
    return error


def _caused(error):
    """Returns an error that another one is the cause of."""
    new = WorkerError(f"it raised {type(error).__name__}")
    new.__cause__ = error
    return new


def _manner(status):
    """How a process ended, by its exit code, in words."""
    import signal

    if status >= 0:
        return f"exit status {status}"
    try:
        return f"killed by {signal.Signals(-status).name}"
    except ValueError:
        return f"killed by signal {-status}"
