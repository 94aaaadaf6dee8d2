"""The pool: sends environments to the threads and hands out batches."""
import atexit
import weakref

from cpython.exc cimport PyErr_CheckSignals
from cpython.ref cimport PyObject
from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libc.string cimport memcpy, memset
from libcpp.memory cimport make_unique, unique_ptr
from libcpp.vector cimport vector

cimport numpy as cnp

from cypool.engine import cpus
from cypool.errors import ClosedError, EnvError

from cypool.engine.batch cimport Block, Blocks, Column, Layout, OpenBatch
from cypool.engine.crew cimport DISABLED, NEXT_STEP, SAME_STEP, Claim, Crew, Target, aim
from cypool.engine.park cimport now_ns
from cypool.engine.results cimport Results
from cypool.engine.states cimport check_state, load_state, save_state
from cypool.engine.threads cimport Threads, ThreadPool
from cypool.env cimport Elsewhere, Env

cnp.import_array()

cdef enum:
    INLINE_NS = 8_000            # less work than this is done sooner than a thread takes it up
    WORTH_WAKING_NS = 100_000    # so much work is worth a futex call
    WAKE_NS = 20_000             # of work for each thread that is woken: a wake costs the caller a microsecond or two
    HOT_NS = 20_000              # workers still spin so long after the last call
    SLICE_NS = 100_000_000       # how long to wait or work at a time before looking for signals
    ALONE_FOR = 1000             # steps without threads after they were found not to pay
    WATCHED = 8                  # batches in a user's hands that are looked at for reuse

# what a call wants with the environments it names
cdef enum Purpose:
    STEP
    RESET
    LOOK                         # between steps: save, load, render


cpdef uint32_t worth_waking(int64_t work_ns, uint32_t wanted) noexcept:
    """Returns how many of `wanted` sleeping threads a synchronous call wakes.

    One call wakes them one after another, before the caller begins its own share. Threads stay awake from call to call
    if these follow each other closely; then each call wakes some more, until all that are wanted are awake.

    Args:
        work_ns: What one thread would need for all of the work; 0: nobody knows.
        wanted: How many threads could take part and are asleep.
    """
    if work_ns <= 0:
        return wanted
    return <uint32_t>min(<int64_t>wanted, max(work_ns // WAKE_NS, <int64_t>1))


# closed at exit, while threads can still be joined
pools = weakref.WeakSet()


@atexit.register
def _close_pools():
    cdef Pool pool
    for pool in list(pools):
        # a daemon thread may still be in a call
        if not pool.busy:
            pool.close()


cdef class Pool:
    """Steps environments on threads.

    This is the engine under the faces: it assumes that actions are valid, but checks all that could
    make two threads step one environment, or a caller wait for nothing.

    Args:
        envs: `Env` objects of one spec, in the order of their ids.
        seeds: One for each.
        batch_size: Rows of a batch. With fewer rows than envs the pool is asynchronous: `recv` returns
            whichever environments finish first.
        num_threads: Threads that step environments. A synchronous caller is one of them, so 0 and 1
            start none; an asynchronous caller is not, and only with 0 everything happens in `recv`.
        autoreset: "next_step", "same_step" or "disabled": when an environment whose episode has ended
            starts the next one.
        statistics: Whether infos hold "episode": return, length and time of episodes that ended.
        thread_pool: Threads to use, instead of own ones.
        affinity: For each thread that is started the set of its CPUs, or None.
        elsewhere: Where the environments are stepped, if not by threads; then none are started. The pool owns it.

    Threads: one caller at a time, a second one gets a RuntimeError.
    Memory: a batch once handed out never changes; its memory is used again when its last array dies.
    """
    cdef Crew crew
    cdef Threads threads             # own, or shared with other pools
    cdef ThreadPool shared           # whose they are; None: own
    cdef Layout layout
    cdef Blocks blocks
    cdef Results results
    cdef Elsewhere elsewhere         # where environments are stepped, or None
    cdef vector[int32_t] back        # ids that came back from there
    cdef uint32_t num_back           # rows that did, of those not handed out
    cdef list filling                # Block under each of the crew's open batches
    cdef readonly int num_envs
    cdef readonly int batch_size
    cdef readonly bint is_async
    cdef bint closed
    cdef bint busy                   # a call is under way
    cdef tuple out                   # the user's arrays for the batch in the making: observations, reward, flags
    cdef vector[Column] out_columns
    cdef size_t action_bytes
    cdef int num_cpus
    cdef int _num_threads
    cdef uint32_t pending            # rows sent for and not handed out
    cdef uint64_t taken              # rows handed out or skipped, where not ordered
    cdef vector[int32_t] all_ids     # 0, 1, 2, ...
    cdef vector[int32_t] named_ids   # of the call under way
    cdef vector[int32_t] sent_ids    # of the send that is not received yet, where ordered
    cdef vector[int32_t] last_ids    # of the last batch handed out, where not ordered
    cdef vector[uint8_t] in_flight   # where not ordered
    cdef vector[uint8_t] started     # 1: has been reset at least once
    cdef int num_unstarted
    cdef vector[uint64_t] stamps     # the last send that named this env
    cdef uint64_t stamp
    cdef uint64_t dealt              # rows of the last batch that was dealt out to threads
    cdef Claim claim                 # the caller's own
    cdef int64_t idle_since          # when the last recv ended
    # of steps with so little work that threads may not pay
    cdef int64_t dealt_at            # when the last one was dealt out to threads; 0: it was not
    cdef int64_t dealt_ns            # what it should take one thread
    cdef double mean_share           # running mean: time it took, in units of that
    cdef int alone_for               # steps that the caller is to do without threads
    cdef object __weakref__

    def __init__(self, list envs, list seeds, int batch_size, int num_threads, str autoreset, bint statistics,
                 ThreadPool thread_pool, list affinity, Elsewhere elsewhere=None):
        cdef int k, num_open, num_workers
        cdef Env env
        cdef Block block
        if self.crew is not None:
            raise RuntimeError("the pool is made already")
        spec = (<Env>envs[0]).spec
        for env, seed in zip(envs, seeds, strict=True):
            env.seed(seed)
        self.num_envs = len(envs)
        self.batch_size = batch_size
        self.is_async = batch_size < self.num_envs
        self.num_cpus = cpus.available()
        self.action_bytes = spec.action_bytes
        mode = {"next_step": NEXT_STEP, "same_step": SAME_STEP, "disabled": DISABLED}[autoreset]
        self.layout = Layout(batch_size, [part for _, part in spec.observations], list(spec.info.values()),
                             mode == SAME_STEP, statistics)
        # so many batches can hold rows at once, as each env has one row at most
        num_open = self.num_envs // batch_size + 2 if self.is_async else 1
        self.blocks = Blocks(self.layout, WATCHED)
        self.results = Results(spec, self.layout)
        self.filling = [None] * num_open
        self.in_flight.resize(self.num_envs)
        self.started.resize(self.num_envs)
        self.stamps.resize(self.num_envs)
        self.num_unstarted = self.num_envs
        for k in range(self.num_envs):
            self.all_ids.push_back(k)
        self.named_ids.reserve(self.num_envs)
        self.sent_ids.reserve(self.num_envs)
        self.last_ids.reserve(self.num_envs)
        memset(&self.claim, 0, sizeof(Claim))
        self.claim.is_caller = True
        self.mean_share = 0.5
        self.crew = Crew(envs, batch_size, num_open, self.action_bytes, not self.is_async, mode,
                         statistics)
        self.crew.filling = self.filling
        # only neighbouring rows can be stepped together
        self.crew.gathered = (<Env>envs[0]).gather(envs) and not self.is_async
        if self.is_async:
            for k in range(num_open):
                block = Block(self.layout)
                self.filling[k] = block
                block.open_on(self.crew.open[k])
        self.shared = thread_pool
        self.elsewhere = elsewhere
        if elsewhere is not None:
            self.back.resize(self.num_envs)
            self.threads = Threads(0)
            self._num_threads = elsewhere.count
        elif self.shared is not None:
            self.threads = thread_pool.threads
            self._num_threads = self.threads.count
        else:
            num_workers = num_threads if self.is_async else num_threads - 1
            self.threads = Threads(max(num_workers, 0), affinity)
            self._num_threads = max(num_threads, 1)
        self.crew.num_steppers = max(self._num_threads, 1)
        self.threads.attach(self.crew)
        self.closed = False
        pools.add(self)

    def __cinit__(self):
        self.closed = True

    def __del__(self):
        # before the garbage collector takes apart what the threads work with
        self.closed = True
        if self.threads is not None and self.crew is not None:
            self._end()

    cdef void _end(self):
        self.threads.detach(self.crew)
        if self.shared is None:
            self.threads.stop()
        if self.elsewhere is not None:
            self.elsewhere.close()

    @property
    def num_threads(self):
        """Threads that step environments; a synchronous caller is one of them. Processes, where these do."""
        return self._num_threads

    @property
    def tells(self):
        """Whether `info["told"]` may say what environments tell besides arrays."""
        return self.elsewhere is not None

    @property
    def num_pending(self):
        """Environments sent and not received yet."""
        return self.pending

    def close(self):
        """Ends the threads and lets go of environments and memory. A second call does nothing."""
        if self.closed:
            return
        if self.busy:
            raise RuntimeError("close: another thread is in a call of this pool")
        self.closed = True
        self._end()
        # a thread that found its own pool in the garbage still holds the crew, and with it the blocks
        self.crew = None
        self.threads = self.shared = None
        self.elsewhere = None
        self.blocks = None
        self.filling = None

    def send(self, cnp.ndarray actions, cnp.ndarray env_ids=None):
        """Has environments stepped; does not wait.

        Args:
            actions: C-contiguous, of the spec's dtype and shape behind the first axis, one row for
                each id. Copied.
            env_ids: int32, C-contiguous, shape (k,); all environments if None, and in an asynchronous
                pool those of the last batch received.

        Raises:
            ValueError: An id is out of range or comes twice, or the number of actions is wrong.
            RuntimeError: An environment is in flight or was never reset.
        """
        self._enter()
        try:
            self._send(actions, env_ids, None)
        finally:
            self.busy = False

    def send_reset(self, cnp.ndarray env_ids=None, bint others=False, list seeds=None, options=None):
        """Has environments reset; does not wait.

        Args:
            env_ids: int32, C-contiguous, shape (k,); all environments if None.
            others: Whether the batch holds all environments: those not named, maybe all, are only observed again.
            seeds: Pairs (env id, seed) for environments that are named.
            options: For environments that are named, if they are stepped elsewhere.

        Raises:
            ValueError, RuntimeError: As `send`, but it does not matter whether an environment was reset before.
        """
        cdef uint32_t count
        cdef const int32_t* ids
        cdef uint32_t k
        cdef Env env
        self._enter()
        try:
            if others and cnp.PyArray_SIZE(env_ids) == 0:
                ids = self._ids(None, LOOK, &count)
                count = 0
            else:
                ids = self._ids(env_ids, RESET, &count)
            if others and self.num_unstarted > 0 and count < <uint32_t>self.num_envs:
                raise RuntimeError("reset: the first reset has to be one of all envs")
            for env_id, seed in seeds or ():
                env = self.crew.owner[env_id]
                env.seed(seed)
            if others:
                for k in range(<uint32_t>self.num_envs):
                    (<Env>self.crew.envs[k]).unmoved = True
            for k in range(count):
                (<Env>self.crew.envs[ids[k]]).unmoved = False
                (<Env>self.crew.envs[ids[k]]).over = True
                (<Env>self.crew.envs[ids[k]]).forced = True
                if not self.started[ids[k]]:
                    self.started[ids[k]] = True
                    self.num_unstarted -= 1
            if others:
                ids, count = self.all_ids.data(), <uint32_t>self.num_envs
            self.out = None
            if self.crew.gathered:
                self.crew.together = False
            if self.elsewhere is not None:
                self.elsewhere.options = options
            self._dispatch(ids, count)
        finally:
            self.busy = False

    def recv(self, timeout=None):
        """Waits for a batch.

        Args:
            timeout: Seconds to wait at most.

        Returns:
            Observation (an array, or a dict or tuple of arrays), reward, terminated, truncated, info: `batch_size`
            rows, or as many as are pending if those are fewer. In the order of `send` if synchronous.
            With autoreset "same_step" `info["final"]` is (observation, info) of the episodes that ended,
            valid in the rows that are terminated or truncated.

        Raises:
            RuntimeError: Nothing is pending.
            TimeoutError: The time is over; the batch can still be received later.
            EnvError: An environment failed.
        """
        self._enter()
        try:
            return self._recv(timeout)
        finally:
            self.busy = False

    def step(self, cnp.ndarray actions, cnp.ndarray env_ids=None, tuple out=None):
        """`send`, then `recv`.

        Args:
            actions, env_ids: As in `send`.
            out: Arrays that take the place of the pool's own in this step: for each part of the observation,
                reward, terminated, truncated. C-contiguous and writeable, of the spec's dtypes and shapes, a row for
                each id. For synchronous pools only.
        """
        self._enter()
        try:
            self.dealt_at = 0
            self._send(actions, env_ids, out)
            result = self._recv(None)
            if self.dealt_at != 0:
                self._judge()
            return result
        finally:
            self.busy = False

    def save(self, cnp.ndarray env_ids=None):
        """Takes down all that the next steps of environments depend on.

        Args:
            env_ids: As in `send_reset`.

        Returns:
            (ids, states): a list of ints, and for each of them a dict that pickles.

        Raises:
            ValueError: An id is out of range or comes twice.
            RuntimeError: An environment is in flight or was never reset.
            NotImplementedError: The environment cannot.
        """
        cdef uint32_t count, k
        cdef const int32_t* ids
        self._enter()
        try:
            ids = self._ids(env_ids, LOOK, &count)
            states = [save_state(<Env>self.crew.envs[ids[k]]) for k in range(count)]
            return [ids[k] for k in range(count)], states
        finally:
            self.busy = False

    def load(self, cnp.ndarray env_ids, list states):
        """Puts environments back to where `save` found these, or others with the same options.

        Args:
            env_ids: As in `send_reset`.
            states: One for each.

        Returns:
            Observation and info of these environments.

        Raises:
            ValueError, RuntimeError: As `save`, but it does not matter whether an environment was reset before; or
                a row is none of `save`'s. What the engine keeps of all rows is checked before anything changes. An
                environment that refuses its own part of a row starts an episode with its next step.
        """
        cdef uint32_t count, k
        cdef const int32_t* ids
        self._enter()
        try:
            ids = self._ids(env_ids, RESET, &count)
            if <Py_ssize_t>count != len(states):
                raise ValueError(f"state: expected {count} rows, one for each env, got {len(states)}")
            rows = [check_state(<Env>self.crew.envs[ids[k]], states[k]) for k in range(count)]
            for k in range(count):
                load_state(<Env>self.crew.envs[ids[k]], rows[k])
                if not self.started[ids[k]]:
                    self.started[ids[k]] = True
                    self.num_unstarted -= 1
            return self._look(ids, count)
        finally:
            self.busy = False

    def tell_over(self, cnp.ndarray over):
        """Tells of all environments that are not in flight whether their next step starts an episode.

        Args:
            over: bool, (num_envs,), C-contiguous: is written to.
        """
        cdef uint8_t* flags = <uint8_t*>cnp.PyArray_DATA(over)
        cdef uint32_t k
        self._enter()
        try:
            if self.pending == 0 or self.is_async:
                for k in range(<uint32_t>self.num_envs):
                    if not self.in_flight[k]:
                        flags[k] = (<Env>self.crew.envs[k]).over
        finally:
            self.busy = False

    cdef tuple _look(self, const int32_t* ids, uint32_t count):
        """Observes environments on the caller's thread, into fresh memory."""
        cdef Block block = Block(self.layout.of(count))
        cdef unique_ptr[OpenBatch] batch = make_unique[OpenBatch]()
        cdef Target target
        cdef PyObject* env
        cdef uint32_t k
        block.open_on(batch.get())
        for k in range(count):
            env = self.crew.envs[ids[k]]
            aim(&target, batch.get(), batch.get().columns, k)
            (<Env>env).observe(&target.slot)
            batch.get().env_id[k] = ids[k]
            batch.get().elapsed_step[k] = (<Env>env).elapsed_step
        obs, _, _, _, info = self.results.of(block, count, None, self.elsewhere)
        return obs, info

    def render(self, cnp.ndarray env_ids=None):
        """Draws environments.

        Args:
            env_ids: As in `send_reset`.

        Returns:
            A list of pictures, uint8 (height, width, 3).

        Raises:
            ValueError: An id is out of range or comes twice.
            RuntimeError: An environment is in flight or was never reset.
            NotImplementedError: The environment cannot be drawn.
        """
        cdef uint32_t count, k
        cdef const int32_t* ids
        self._enter()
        try:
            ids = self._ids(env_ids, LOOK, &count)
            return [(<Env>self.crew.envs[ids[k]]).render() for k in range(count)]
        finally:
            self.busy = False

    def streams(self):
        """Returns the states of the environments' random streams: a list, None where there is no stream.

        Raises:
            RuntimeError: An environment is in flight.
        """
        cdef Env env
        cdef uint32_t count
        self._enter()
        try:
            # whether an environment was reset before does not matter
            self._ids(None, RESET, &count)
            return [None if env._bit_generator is None else env._bit_generator.state for env in self.crew.owner]
        finally:
            self.busy = False

    def ask(self, cnp.ndarray env_ids, function, *args, **kwargs):
        """Calls a function with environments that are stepped elsewhere, where they are.

        Args:
            env_ids: As in `send_reset`.
            function: Is called with an environment, `args` and `kwargs`; all have to pickle.

        Returns:
            What it returns, a list.

        Raises:
            ValueError, RuntimeError: As `send`, but it does not matter whether an environment was reset before.
            Exception: What the function raises.
        """
        cdef uint32_t count, k
        cdef const int32_t* ids
        self._enter()
        try:
            ids = self._ids(env_ids, RESET, &count)
            return [self.crew.owner[ids[k]].ask(function, *args, **kwargs) for k in range(count)]
        finally:
            self.busy = False

    def await_holding_gil(self, double timeout):
        """Waits for the batch that `recv` is to bring, with the GIL held all the time: for tests.

        Returns:
            Whether it was finished in so many seconds: no environment asked for the GIL then.
        """
        cdef OpenBatch* batch
        if not self.is_async or self.threads.count == 0:
            raise RuntimeError("nobody steps environments while the caller waits")
        batch = self.crew.open[<int>(self.taken // self.batch_size % self.crew.open.size())]
        return self.crew.await_rows(batch, min(self.pending, <uint32_t>self.batch_size), <int64_t>(timeout * 1e9))

    def drain(self):
        """Waits for everything in flight and throws it away."""
        self._enter()
        try:
            while self.pending:
                try:
                    self._recv(None)
                except EnvError:
                    # whoever throws the rows away does not want to know
                    pass
        finally:
            self.busy = False

    cdef void _judge(self) noexcept:
        """Sees whether threads made a step with little work faster, and does without them for a while if not."""
        cdef double share = <double>(self.idle_since - self.dealt_at) / self.dealt_ns
        self.mean_share += (share - self.mean_share) / 16
        if self.mean_share > 1:
            # say, because other programs need the cores
            self.alone_for = ALONE_FOR
            self.mean_share = 0.5

    cdef int _enter(self) except -1:
        if self.closed:
            raise ClosedError("the pool is closed")
        if self.threads.forked() or (self.elsewhere is not None and self.elsewhere.forked()):
            raise RuntimeError("the pool was made before fork(): its threads, or processes, are the parent's, make a "
                               "new one")
        if self.busy:
            raise RuntimeError("the pool is in a call of another thread: use it from one thread at a time")
        self.busy = True
        return 0

    cdef int _send(self, cnp.ndarray actions, cnp.ndarray env_ids, tuple out) except -1:
        cdef uint32_t count, k
        cdef const int32_t* ids = self._ids(env_ids, STEP, &count)
        cdef const char* source = cnp.PyArray_BYTES(actions)
        cdef char* target = self.crew.actions.data()
        if <size_t>cnp.PyArray_NBYTES(actions) != count * self.action_bytes:
            raise ValueError(f"actions: expected {count} rows, got shape {(<object>actions).shape}")
        if out is not None:
            if len(out[len(out) - 1]) != <Py_ssize_t>count:
                raise ValueError(f"out: expected arrays of {count} rows, got {len(out[len(out) - 1])}")
            self._check_apart(out)
        self.out = out
        if self.crew.gathered:
            self.crew.together = True
        if ids == self.all_ids.data():
            memcpy(target, source, count * self.action_bytes)
        else:
            for k in range(count):
                memcpy(target + ids[k] * self.action_bytes, source + k * self.action_bytes, self.action_bytes)
        self._dispatch(ids, count)
        return 0

    cdef const int32_t* _ids(self, cnp.ndarray env_ids, Purpose purpose, uint32_t* count) except NULL:
        """Checks which environments a call names; changes nothing. Valid until the next call."""
        cdef const int32_t* ids
        cdef int32_t env_id
        cdef uint32_t k
        if env_ids is None:
            if self.is_async and purpose == STEP:
                ids, count[0] = self.last_ids.data(), <uint32_t>self.last_ids.size()
                if count[0] == 0:
                    raise RuntimeError("no batch was received since the last send: name the env_id")
            else:
                ids, count[0] = self.all_ids.data(), <uint32_t>self.num_envs
        else:
            ids = <const int32_t*>cnp.PyArray_DATA(env_ids)
            if cnp.PyArray_SIZE(env_ids) == 0:
                raise ValueError("env_id: expected at least one id, got none")
            self.stamp += 1
            self.named_ids.clear()
            for k in range(<uint32_t>cnp.PyArray_SIZE(env_ids)):
                env_id = ids[k]
                if not 0 <= env_id < self.num_envs:
                    raise ValueError(f"env_id: expected ids in [0, {self.num_envs}), got {env_id}")
                if self.stamps[env_id] == self.stamp:
                    raise ValueError(f"env_id: expected each id once, got {env_id} twice")
                self.stamps[env_id] = self.stamp
                self.named_ids.push_back(env_id)
            # the caller's array may change at any time, this is what was checked
            ids, count[0] = self.named_ids.data(), <uint32_t>self.named_ids.size()
        if self.pending > 0:
            if not self.is_async:
                raise RuntimeError(f"{self.pending} envs are in flight: call recv() first")
            for k in range(count[0]):
                if self.in_flight[ids[k]]:
                    raise RuntimeError(f"env {ids[k]} is in flight: call recv() until it comes back")
        if self.crew.autoreset == DISABLED and purpose == STEP:
            for k in range(count[0]):
                if (<Env>self.crew.envs[ids[k]]).over and self.started[ids[k]]:
                    raise RuntimeError(f"the episode of env {ids[k]} is over: reset it first")
        if self.num_unstarted > 0 and purpose != RESET:
            for k in range(count[0]):
                if not self.started[ids[k]]:
                    raise RuntimeError(f"env {ids[k]} was never reset: call reset() first")
        return ids

    cdef int _dispatch(self, const int32_t* ids, uint32_t count) except -1:
        """Gives checked ids to the threads, or keeps them for the caller."""
        cdef Crew crew = self.crew
        cdef int64_t work_ns
        cdef bint little
        cdef uint32_t k, awake, helpers = <uint32_t>self.threads.count
        cdef Block block
        if self.elsewhere is not None:
            try:
                self.elsewhere.begin(ids, count, crew.actions.data(), crew.autoreset == SAME_STEP)
            except BaseException:
                for k in range(count):
                    (<Env>crew.envs[ids[k]]).unmoved = False
                raise
        if self.is_async:
            for k in range(count):
                self.in_flight[ids[k]] = True
            self.last_ids.clear()
            self.pending += count
            # from elsewhere they have to come back first
            if self.elsewhere is None:
                self._push(ids, count)
            # however little work: one slow environment must not keep the others waiting
            self.threads.rouse(min(helpers, count))
            return 0
        block = self.filling[0]
        if block is None:
            block = self.filling[0] = self.blocks.take()
        block.open_on(crew.open[0])
        if self.out is not None:
            self._redirect(block, crew.open[0])
        if ids != self.all_ids.data():
            # the next call names others before the threads are done
            self.sent_ids.assign(ids, ids + count)
            ids = self.sent_ids.data()
        crew.list, crew.list_size = ids, count
        self.pending = count
        work_ns = <int64_t>crew.counters.get().cost_ns.load() * count
        little = 0 < work_ns < WORTH_WAKING_NS
        if little and self.alone_for > 0:
            self.alone_for -= 1
            helpers = 0
        if helpers == 0 or 0 < work_ns < INLINE_NS:
            self.claim.alone = count
            return 0
        crew.base += self.dealt
        self.dealt = count
        crew.shares.get().publish(crew.base, count)
        helpers = min(min(helpers, count - 1), <uint32_t>max(self._num_threads - 1, 0))
        if little:
            # little work, but call after call: threads pay if they find a core to spin on
            self.dealt_at, self.dealt_ns = now_ns(), work_ns
            if self.dealt_at - self.idle_since >= HOT_NS:
                return 0
            helpers = min(helpers, <uint32_t>max(self.num_cpus - 1, 0))
        # between batches a thread that does not sleep is at hand, unless it is with another pool
        awake = 0 if self.shared is not None else <uint32_t>self.threads.count - self.threads.num_sleeping()
        if helpers > awake:
            self.threads.rouse(worth_waking(work_ns, helpers - awake))
        return 0

    cdef void _push(self, const int32_t* ids, uint32_t count) noexcept:
        """Puts environments on the ring."""
        cdef uint32_t k
        for k in range(count):
            self.crew.ready.get().push(ids[k])
        self.crew.ready.get().publish()

    cdef bint _are_back(self, uint32_t wanted, int64_t timeout_ns) except -1:
        """Waits for environments that are stepped elsewhere; whether as many as are wanted came back."""
        cdef int count
        if self.elsewhere is None:
            return True
        if self.num_back < wanted:
            count = self.elsewhere.finished(self.back.data(), wanted - self.num_back, timeout_ns)
            self.num_back += count
            if self.is_async:
                self._push(self.back.data(), count)
        return self.num_back >= wanted

    cdef int _check_apart(self, tuple out) except -1:
        """Raises a ValueError if two arrays share memory: one would overwrite the other."""
        cdef int j, k
        cdef const char* first
        cdef const char* second
        for k in range(len(out)):
            first = cnp.PyArray_BYTES(out[k])
            for j in range(k):
                second = cnp.PyArray_BYTES(out[j])
                if first < second + cnp.PyArray_NBYTES(out[j]) and second < first + cnp.PyArray_NBYTES(out[k]):
                    raise ValueError(f"out: expected arrays that share no memory, got number {j} and {k} that do")
        return 0

    cdef int _redirect(self, Block block, OpenBatch* batch) except -1:
        """Has a batch filled into the user's arrays instead of the block's."""
        cdef int k, n = self.layout.num_obs
        # plain assignment makes a copy first
        self.out_columns.assign(block.columns.begin(), block.columns.end())
        for k in range(n):
            self.out_columns[k].data = cnp.PyArray_BYTES(self.out[k])
        batch.columns = self.out_columns.data()
        batch.reward = <double*>cnp.PyArray_DATA(self.out[n])
        batch.terminated = <uint8_t*>cnp.PyArray_DATA(self.out[n + 1])
        batch.truncated = <uint8_t*>cnp.PyArray_DATA(self.out[n + 2])
        return 0

    cdef object _recv(self, timeout):
        cdef Crew crew = self.crew
        cdef int slot = <int>(self.taken // self.batch_size % crew.open.size()) if self.is_async else 0
        cdef OpenBatch* batch = crew.open[slot]
        cdef uint32_t wanted = min(self.pending, <uint32_t>self.batch_size)
        cdef int64_t slice_ns = SLICE_NS, deadline = 0
        cdef Block following
        cdef bint finished = False
        if wanted == 0:
            raise RuntimeError("nothing is pending: call send() or reset() first")
        if timeout is not None:
            deadline = now_ns() + <int64_t>(timeout * 1e9)
            slice_ns = max(<int64_t>0, min(slice_ns, deadline - now_ns()))
        # an asynchronous caller steps environments only if there is nobody else
        if self.is_async and self.threads.count == 0:
            self.claim.quota = wanted - batch.finished.load()
        while not finished:
            if self._are_back(wanted, slice_ns):
                finished = crew.collect(&self.claim, batch, wanted, slice_ns)
            # also at the end: a batch that was handed out would be lost with the interpreter's own look
            PyErr_CheckSignals()
            if not finished and timeout is not None:
                slice_ns = min(<int64_t>SLICE_NS, deadline - now_ns())
                if slice_ns <= 0:
                    raise TimeoutError(f"recv: {max(batch.finished.load(), self.num_back)} of {wanted} envs finished "
                                       f"in {timeout} s")
        # first all that may fail for want of memory, then all that changes the pool
        following = self.blocks.take() if self.is_async else None
        result = self.results.of(self.filling[slot], wanted, self.out, self.elsewhere)
        self.out = None
        self.blocks.lend(self.filling[slot])
        self._hand_over(slot, wanted, following)
        self.idle_since = now_ns()
        if crew.errors:
            causes = {i: crew.errors.pop(i) for i in result[4]["env_id"].tolist() if i in crew.errors}
            if causes:
                error = EnvError(causes, result)
                raise error from causes[error.env_id]
        return result

    cdef int _hand_over(self, int slot, uint32_t count, Block following) except -1:
        """Books a batch as received; an asynchronous pool fills another block in its place."""
        cdef const int32_t* ids
        cdef uint32_t k
        self.pending -= count
        self.num_back -= min(count, self.num_back)
        self.filling[slot] = following
        if self.is_async:
            ids = self.crew.open[slot].env_id
            self.last_ids.assign(ids, ids + count)
            for k in range(count):
                self.in_flight[ids[k]] = False
            # a short batch was the last: nobody is at work, so the next row can begin a new batch
            self.taken += self.batch_size
            if count < <uint32_t>self.batch_size:
                self.crew.counters.get().rows.store(self.taken)
            following.open_on(self.crew.open[slot])
        return 0
