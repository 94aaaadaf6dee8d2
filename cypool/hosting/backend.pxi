# The pool's side of environments that are stepped in other processes, or in threads of this one.
#
# `HostingBackend.submit` puts a task into the environment's mailbox and notifies its worker. `HostingBackend.wait`
# waits for answers on the caller's thread. Then the engine steps the environment, which copies the results of the
# worker.
import pickle
from contextlib import suppress

from cpython.exc cimport PyErr_CheckSignals
from libc.stdint cimport int32_t, int64_t, uint32_t
from libc.string cimport memcpy
from libcpp.vector cimport vector

from cypool.util.arguments import check_int, shown as shown_value
from cypool.errors import WorkerError
from cypool.state import Pickled
from cypool.hosting import spaces
from cypool.hosting.remote_errors import unpickle_error, wrap_error

from cypool.backend cimport StepBackend
from cypool.util.constants cimport SLICE_NS
from cypool.env cimport Env, Slot
from cypool.util.forks cimport num_forks
from cypool.util.park cimport now_ns, park
from cypool.hosting.worker cimport (CALL, DONE, ENDED, IDLE, POSTED, READY, RESET, RUNNING, STARTING, STEP, AreaLayout,
                                    EnvMailbox, SharedMemory, WorkerLoop)

# forward declaration
cdef class HostingBackend(StepBackend)


cdef class HostedEnv(Env):
    """An environment of Gymnasium or PettingZoo whose steps a `HostingBackend` has made."""
    cdef HostingBackend workers
    cdef EnvMailbox* mailbox         # borrowed from the memory, as is the next
    cdef char* memory_area
    cdef AreaLayout layout
    cdef int observation_index       # which of its two observations
    cdef size_t num_obs              # parts of the observation; the agents' columns come behind them
    cdef bint sent                   # there is, or will be, an answer that was not taken
    cdef bint calling                # it is the answer to a call
    cdef bint failed
    cdef object error                # why it failed
    cdef bint lost                   # its process ended since its last reset
    cdef object next_seed
    cdef object extra_infos          # (info, final info), or None

    cdef int reset(self) except -1 nogil:
        # the worker has reset it already: in the same step (SAME_STEP), or because a reset was sent
        self.observation_index = 0
        if self.failed:
            raise self.error
        if self.agents != NULL:
            self.read_agents(False)
        return 0

    cdef int step(self, const void* action) except -1 nogil:
        if self.failed:
            raise self.error
        self.observation_index = 1 if self.mailbox.was_reset else 0
        if self.agents != NULL:
            # the engine computes reward and ends from those of the agents
            self.read_agents(True)
            return 0
        self.reward = self.mailbox.reward
        self.terminated, self.truncated = self.mailbox.terminated, self.mailbox.truncated
        return 0

    cdef void read_agents(self, bint stepped) noexcept nogil:
        """Copies the agents' columns from the worker: `spaces.AGENT_COLUMNS`."""
        cdef const char* area = self.memory_area + self.observation_index * self.layout.second
        cdef const size_t* offsets = &self.layout.offsets[self.num_obs]
        cdef uint32_t count = self.agents.count
        memcpy(self.agents.alive, area + offsets[3], count)
        if self.agents.turn != NULL:
            memcpy(self.agents.turn, area + offsets[4], count)
        if stepped:
            memcpy(self.agents.reward, area + offsets[0], count * sizeof(double))
            memcpy(self.agents.terminated, area + offsets[1], count)
            memcpy(self.agents.truncated, area + offsets[2], count)

    cdef int observe(self, const Slot* out) except -1 nogil:
        cdef const char* source = self.memory_area + self.observation_index * self.layout.second
        cdef size_t k
        for k in range(self.num_obs):
            memcpy(out.obs[k], source + self.layout.offsets[k], self.layout.sizes[k])
        return 0

    cdef int seed(self, object seed) except -1:
        self.next_seed = seed
        return 0

    cdef object save(self):
        own = Pickled(self.call("save"))
        first, last = self.layout.payload_bytes, self.layout.payload_bytes + self.layout.second
        return own, (<bytes>self.memory_area[first:last]), self.next_seed

    cdef int load(self, object state) except -1:
        if not isinstance(state, (tuple, list)) or len(state) != 3:
            raise ValueError(f"expected a hosted environment's state, got {shown_value(state)}")
        own, shown, seed = state
        # plain bytes may come from a file that promises to run no code
        if type(own) is not Pickled or type(shown) is not bytes or <size_t>len(shown) != self.layout.second:
            raise ValueError("expected a hosted environment's state from save() or pickle")
        if seed is not None:
            seed = check_int("seed", seed, 0, 2**64 - 1)
        self.call("load", (bytes(own),))
        memcpy(self.memory_area + self.layout.payload_bytes, <const char*>(<bytes>shown), len(shown))
        self.next_seed = seed
        self.lost = self.failed = False
        self.error = self.extra_infos = None
        self.observation_index = 0
        return 0

    cdef object render(self):
        if self.spec.render_fps is None:
            raise NotImplementedError("render: expected an environment created with render_mode='rgb_array' or 'ansi'")
        try:
            return self.call("render")
        except NotImplementedError as error:
            # Gymnasium's own says nothing
            raise NotImplementedError(f"render: not supported by env {self.env_id}: "
                                      f"{error or 'NotImplementedError'}") from error

    def ask(self, function, *args, **kwargs):
        """Calls a function with the environment in its worker; returns the result."""
        return self.call("ask", (function, *args), kwargs)

    cdef int read_answer(self) except -1:
        """Reads the error or the infos of an answer."""
        cdef list answers = self.workers.answers
        extra_infos = problem = None
        # first all that may run Python code, and so be interrupted: then the answer is there next time
        if self.mailbox.failed:
            if answers is not None:
                problem = answers[self.env_id]
            else:
                problem = unpickle_error(self.workers.memory.payload(self.env_id, self.mailbox.payload_bytes))
            if isinstance(problem, KeyboardInterrupt):
                # the engine would take it for another Ctrl-C
                problem = wrap_error(problem)
        elif self.mailbox.payload_bytes > 0:
            try:
                extra_infos = pickle.loads(self.workers.memory.payload(self.env_id, self.mailbox.payload_bytes))
            except Exception as error:
                problem = RuntimeError(f"its info cannot be unpickled: {error}")
        elif answers is not None:
            extra_infos = answers[self.env_id]
        if answers is not None:
            answers[self.env_id] = None
        self.sent = False
        self.error = None
        self.mailbox.state.store(IDLE)
        if problem is not None:
            self.workers.fail_env(self, problem)
        else:
            self.extra_infos = extra_infos
        return 0

    cdef object call(self, str name, tuple args=(), dict kwargs=None):
        """Calls a method of the environment in its worker, and waits for the result."""
        cdef bint loads = name == "load"
        cdef HostingBackend workers = self.workers
        workers.await_call(self)
        if self.lost and not loads:
            raise WorkerError(f"env {self.env_id} lost its episode when its process ended: reset it first")
        payload = pickle.dumps((name, args, kwargs or {}), pickle.HIGHEST_PROTOCOL)
        self.mailbox.payload_bytes = workers.memory.write_payload(self.env_id, payload, self.layout.payload_bytes)
        self.mailbox.task = CALL
        self.error = self.extra_infos = None
        self.failed = False
        self.calling = True
        workers.submit_task(self.env_id)
        workers.notify_workers()
        workers.await_call(self)
        error, extra_infos = self.error, self.extra_infos
        self.failed = False
        self.error = self.extra_infos = None
        if error is not None:
            if name == "save" and not isinstance(error, WorkerError):
                raise NotImplementedError(f"save: env {self.env_id} cannot be pickled: {error}") from error
            if loads and not isinstance(error, WorkerError):
                raise ValueError(f"the pickle cannot be loaded: {type(error).__name__}: {error}") from error
            raise error
        return extra_infos[0]


cdef class HostingBackend(StepBackend):
    """The processes, or threads of this process, that step the environments of a pool.

    Args:
        factories: A function for each environment, which creates it.
        num_workers: Number of workers; environments are distributed in blocks. 0: the thread that waits for the
            environments steps them, one after the other.
        in_threads: Whether workers are threads of this process.
        start_method: Of processes: "forkserver" or "spawn".
        timeout: Seconds that a process may take for a step or a reset; None: any time.
        preload: Names of modules to import before workers start.

    Raises:
        Exception: An environment cannot be created.
        WorkerError: A process ended, or took too long.
        ValueError: The environments differ, or their spaces are not supported.
    """
    cdef readonly SharedMemory memory
    cdef AreaLayout layout
    cdef WorkerLoop worker_loop      # without workers: where environments are stepped
    cdef WorkerThreads threads       # workers that are threads, or None
    cdef WorkerProcesses processes   # workers that are processes, or None
    cdef list answers                # in this process: see WorkerLoop; None of processes
    cdef int64_t timeout_ns          # 0: none
    cdef int64_t slice_ns            # how long to sleep at most
    cdef list envs                   # HostedEnv
    cdef list env_descriptions
    cdef vector[int32_t] sent        # ids of tasks that are not taken
    cdef vector[int32_t] called      # workers to notify
    cdef int num_forks               # when the workers were started
    cdef bint closed

    def __init__(self, list factories, int num_workers, bint in_threads, str start_method, timeout, list preload):
        self.closed = False
        self.num_forks = num_forks()
        self.timeout_ns = 0 if timeout is None else <int64_t>(timeout * 1e9)
        # so that an environment is not much longer at work than it may be
        self.slice_ns = min(<int64_t>SLICE_NS, self.timeout_ns // 4) if self.timeout_ns > 0 else SLICE_NS
        self.memory = SharedMemory(len(factories), max(num_workers, 1))
        if num_workers == 0 or in_threads:
            self.answers = [None] * len(factories)
        try:
            if num_workers == 0:
                self.worker_loop = WorkerLoop(self.memory, 0, factories, self.answers)
                self.memory.worker_controls[0].life.store(READY)
            elif in_threads:
                self.threads = WorkerThreads(self.memory, self.answers)
                self.threads.start(factories, preload)
                self._await_start()
            else:
                self.processes = WorkerProcesses(self.memory, self.timeout_ns, self.slice_ns)
                self.processes.start(factories, preload, start_method)
                self._await_start()
                self.processes.started()
            self._read_descriptions()
        except BaseException:
            # where warnings are errors, the first error counts
            with suppress(Warning):
                self.close()
            raise

    def __cinit__(self):
        self.closed = True

    def __del__(self):
        self.close()

    def _await_start(self):
        """Waits until all workers have created their environments."""
        cdef uint32_t seen, starting
        cdef int worker
        while True:
            seen = self.memory.control.answers.load()
            starting = 0
            for worker in range(self.memory.num_workers):
                starting += self.memory.worker_controls[worker].life.load() == STARTING
                if self.memory.worker_controls[worker].life.load() == ENDED:
                    raise (self.processes.exit_error(worker) if self.processes is not None
                           else self.answers[self.memory.envs_of(worker)[0]])
            if starting == 0:
                return
            with nogil:
                self.sleep(seen, starting, SLICE_NS)
            PyErr_CheckSignals()
            if self.processes is not None:
                self.processes.check_start()

    def _read_descriptions(self):
        """Reads the descriptions of the environments, which must have the same spaces."""
        cdef int i
        self.env_descriptions = [pickle.loads(self.memory.payload(i, self.memory.mailboxes[i].payload_bytes))
                                 for i in range(self.memory.num_envs)]
        for i, each in enumerate(self.env_descriptions):
            for part in ("observation_space", "action_space", "agents"):
                if each[part] != self.env_descriptions[0][part]:
                    raise ValueError(f"expected the same {part} in all environments, but env 0 has "
                                     f"{self.env_descriptions[0][part]} and env {i} has {each[part]}")
        first = self.env_descriptions[0]
        self.layout = AreaLayout(*spaces.described(first["observation_space"], first["action_space"]))
        self.memory.control.layout.store(self.layout.checksum)

    @property
    def env_description(self):
        """The description of the first environment: spaces, step limit, frames per second."""
        return self.env_descriptions[0]

    @property
    def count(self):
        """Number of workers."""
        return 0 if self.worker_loop is not None else self.memory.num_workers

    def environments(self, list specs):
        """Makes the `Env` objects, one for each spec."""
        cdef HostedEnv env
        cdef int i
        self.envs = [HostedEnv(spec, i) for i, spec in enumerate(specs)]
        for i, env in enumerate(self.envs):
            env.workers = self
            env.layout = self.layout
            env.num_obs = len(env.spec.observations)
            env.mailbox = &self.memory.mailboxes[i]
            env.memory_area = self.memory.at(i)
        return self.envs

    def pack_options(self, options):
        """Returns options as a pickle."""
        try:
            packed = pickle.dumps(options, pickle.HIGHEST_PROTOCOL)
        except Exception as error:
            raise TypeError(f"options: expected options that can be pickled, got {shown_value(options)}: "
                            f"{error}") from error
        if <size_t>len(packed) > self.layout.payload_bytes:
            raise ValueError(f"options: expected at most {self.layout.payload_bytes} bytes when pickled, got "
                             f"{len(packed)}")
        return packed

    cdef int submit(self, const int32_t* ids, uint32_t count, const char* actions, bint same_step) except -1:
        cdef HostedEnv env
        cdef EnvMailbox* mailbox
        cdef uint32_t k
        # all that waits, or may raise, first
        for k in range(count):
            self.await_call(self.envs[ids[k]])
        self.check_workers(False)
        self.sent.reserve(self.sent.size() + count)
        for k in range(count):
            env = self.envs[ids[k]]
            mailbox = env.mailbox
            env.extra_infos = None
            self.sent.push_back(ids[k])
            if env.observe_only:
                continue
            env.failed = False
            env.error = None
            if not env.needs_reset and env.lost:
                self.fail_env(env, WorkerError("the episode was lost when the environment's process ended"))
                continue
            mailbox.task = RESET if env.needs_reset else STEP
            if env.needs_reset:
                mailbox.requested = env.reset_requested
                mailbox.seeded = env.next_seed is not None
                if mailbox.seeded:
                    mailbox.seed = env.next_seed
                    env.next_seed = None
                mailbox.payload_bytes = 0
                options = self.options.get(env.env_id) if env.reset_requested and self.options is not None else None
                if options is not None:
                    mailbox.payload_bytes = self.memory.write_payload(
                        env.env_id, options, self.layout.payload_bytes)
                env.lost = False
            else:
                memcpy(env.memory_area + self.layout.action_at, actions + ids[k] * self.layout.action_bytes,
                       self.layout.action_bytes)
                mailbox.resets = same_step
                mailbox.last = env.elapsed_step + 1 >= env.max_episode_steps
            self.submit_task(env.env_id)
        self.notify_workers()
        return 0

    cdef int submit_task(self, int env_id) except -1:
        """Marks an environment's task as ready; `notify_workers` then wakes its worker."""
        cdef int worker = self.memory.worker_of(env_id)
        (<HostedEnv>self.envs[env_id]).sent = True
        if self.timeout_ns > 0:
            self.memory.mailboxes[env_id].since.store(now_ns())
        self.memory.mailboxes[env_id].state.store(POSTED)
        if self.called.empty() or self.called.back() != worker:
            self.called.push_back(worker)
        return 0

    cdef int notify_workers(self) except -1:
        cdef int worker
        if self.worker_loop is None:
            # threads that wake here want the GIL
            with nogil:
                for worker in self.called:
                    self.memory.notify(worker)
        self.called.clear()
        return 0

    cdef int wait(self, int32_t* ids, int wanted, int64_t timeout_ns) except -1:
        cdef int64_t end = now_ns() + timeout_ns
        cdef uint32_t seen
        cdef int count
        cdef bint again = True
        while True:
            seen = self.memory.control.answers.load()
            self.check_workers(False)
            count = self.count_done(wanted)
            if count == wanted or not again:
                break
            if self.worker_loop is not None:
                self.worker_loop.run_next()
                again = now_ns() < end
            else:
                # after a signal, too, the caller wants to look
                with nogil:
                    again = self.sleep(seen, wanted - count, max(min(end - now_ns(), self.slice_ns), <int64_t>0))
                if not again:
                    self.check_workers(True)
        return self.collect_done(ids, count)

    cdef int count_done(self, int most) except -1:
        """Number of finished tasks, up to `most`."""
        cdef HostedEnv env
        cdef int count = 0
        cdef int32_t i
        for i in self.sent:
            env = self.envs[i]
            count += not env.sent or env.mailbox.state.load() == DONE
            if count == most:
                break
        return count

    cdef int collect_done(self, int32_t* ids, int most) except -1:
        """Takes up to `most` answers of finished tasks; the others stay on the list."""
        cdef HostedEnv env
        cdef int count = 0
        cdef int32_t i
        cdef size_t k, left = 0
        # an interrupt comes before the list is changed
        for i in self.sent:
            if count == most:
                break
            env = self.envs[i]
            if env.sent and env.mailbox.state.load() == DONE:
                env.read_answer()
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
        """Sleeps until this number of answers have come since `seen`; False after the timeout or a signal."""
        cdef uint32_t answers
        cdef bint awake = True
        self.memory.control.target.store(seen + missing)
        # announce first, look afterwards: a worker that answers in between sees a sleeper
        self.memory.control.sleeping.store(1)
        answers = self.memory.control.answers.load()
        while awake and answers - seen < missing:
            awake = park(self.memory.control.answers, answers, timeout_ns, True)
            answers = self.memory.control.answers.load()
        self.memory.control.sleeping.store(0)
        return awake

    cdef int await_call(self, HostedEnv env) except -1:
        """Waits for the end of the call that an environment is running, if any."""
        cdef uint32_t seen
        while env.calling:
            if self.worker_loop is not None:
                self.worker_loop.run_next()
            seen = self.memory.control.answers.load()
            self.check_workers(False)
            if not env.sent or env.mailbox.state.load() == DONE:
                env.calling = False
                if env.sent:
                    env.read_answer()
                return 0
            with nogil:
                if self.sleep(seen, 1, self.slice_ns):
                    continue
            PyErr_CheckSignals()
            self.check_workers(True)
        return 0

    cdef int check_workers(self, bint thoroughly) except -1:
        """Replaces processes that have ended; `thoroughly`: also looks for those that hang."""
        cdef int worker
        if self.processes is None or not self.processes.have_ended(thoroughly):
            return 0
        for worker in range(self.memory.num_workers):
            if self.memory.worker_controls[worker].life.load() == ENDED:
                # first: the next process is not to find its tasks
                self.fail_worker_tasks(worker, self.processes.exit_error(worker))
                self.processes.replace(worker)
        self.processes.all_replaced()
        return 0

    cdef int fail_worker_tasks(self, int worker, object error) except -1:
        """Fails the tasks of a worker that has ended."""
        cdef HostedEnv env
        cdef uint32_t state
        for i in self.memory.envs_of(worker):
            env = self.envs[i]
            state = env.mailbox.state.load()
            # a reset that it has not begun the next one can do, unless even the start is too much
            if env.sent and (state == RUNNING or (state == POSTED and (
                    env.mailbox.task != RESET or self.memory.worker_controls[worker].made.load() == 0))):
                # the next process is not to find it: that has an environment that was never reset
                env.mailbox.state.store(IDLE)
                self.fail_env(env, error)
            env.lost = not (env.sent and state == POSTED)
        return 0

    cdef int fail_env(self, HostedEnv env, object error) except -1:
        """Makes an environment raise `error` when the engine steps it next."""
        env.sent = False
        env.failed = True
        env.error = error
        env.extra_infos = None
        return 0

    cdef object extra_infos(self, object env_ids):
        cdef HostedEnv env
        extra_infos = []
        for row, env_id in enumerate(env_ids.tolist()):
            env = self.envs[env_id]
            if env.extra_infos is not None:
                extra_infos.append((row, *env.extra_infos))
        return extra_infos

    cdef bint forked(self) noexcept:
        return num_forks() != self.num_forks

    def close(self):
        if self.closed:
            return
        self.closed = True
        self.envs = None
        if self.worker_loop is not None:
            self.worker_loop.close()
        if self.threads is not None and not self.forked():
            self.threads.close()
        if self.processes is not None:
            self.processes.close(self.forked())
