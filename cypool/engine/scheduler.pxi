# Which environment a thread steps next, and the row of which batch that fills: what the threads do.
#
# The way of one environment: `take` claims its id, alone or with others; `advance` steps it, claims a
# row once the step is done and has it observed there; `publish_finished` adds the row to those finished and wakes
# the caller when the batch is full. An exception passes through the thread's
# shell, which has `fail` complete the row.
cimport cython
from libc.math cimport NAN, isnan, round as round_double
from libc.string cimport memset

from cypool.util.park cimport now_ns, park, relax, wake
from cypool.cfunctions.env_methods cimport observe_env, reset_env, step_env, step_envs
from cypool.env cimport STEP_ALONE, Env, Rows
from cypool.policies cimport Decision

cdef extern from *:
    # keeps code for several agents away from the way of one
    bint unlikely(bint condition) noexcept nogil

cdef enum:
    MIN_NS = 1_000               # a claim is worth at least this much work, as it costs about 0.1 us ...
    MAX_NS = 20_000              # ... and no more, so that threads finish together
    TOGETHER = 16                # environments that `step_many` gets at least, where there are enough
    NEIGHBOURS = 256             # light environments that take turns in a rollout: their rows share cache lines
    LOOK_STEPS = 16              # of a rollout, between two looks at the clock, if they take less than ...
    LOOK_NS = 20_000             # ... this


cdef inline bint turn_over(Claim* claim) noexcept nogil:
    """Whether other pools may wait for this thread."""
    return claim.turn_end > 0 and now_ns() >= claim.turn_end


cdef inline OpenBatch* claim_row(Scheduler scheduler, Claim* claim, uint32_t* row) noexcept nogil:
    """The batch and row for the environment in work; the same ones if asked again."""
    cdef int64_t position
    if scheduler.ordered.load():
        row[0] = claim.first_row + claim.at
        if claim.batch != scheduler.open[0]:
            scheduler.publish_finished(claim)
            claim.batch = scheduler.open[0]
        return claim.batch
    if claim.position < 0:
        # once the first environment is done: if it was slow, it has held no row
        claim.position = <int64_t>scheduler.counters.get().rows.fetch_add(claim.count)
    position = claim.position + claim.at
    if claim.batch == NULL or not 0 <= position - claim.batch_position < scheduler.batch_rows:
        scheduler.publish_finished(claim)
        claim.batch_position = position - position % scheduler.batch_rows
        claim.batch = scheduler.open[<size_t>(position // scheduler.batch_rows) % scheduler.open.size()]
    row[0] = <uint32_t>(position - claim.batch_position)
    return claim.batch


cdef int reset(Scheduler scheduler, PyObject* env) except -1 nogil:
    (<Env>env).elapsed_step = 0
    if scheduler.statistics:
        (<Env>env).episode_return = 0
        (<Env>env).episode_length = 0
        (<Env>env).episode_began = now_ns()
    if scheduler.has_agents:
        begin_episode(env)
    reset_env(env)
    if scheduler.has_agents:
        end_reset(env)
    (<Env>env).reset_requested = (<Env>env).needs_reset = False
    return 0


cdef void record_step(PyObject* env) noexcept nogil:
    """Adds a step to the statistics of its episode."""
    cdef double gain = (<Env>env).raw_reward
    (<Env>env).episode_return = (<Env>env).episode_return + ((<Env>env).reward if isnan(gain) else gain)
    (<Env>env).episode_length = (<Env>env).episode_length + 1


cdef void write_episode_stats(PyObject* env, OpenBatch* batch, uint32_t row, bint ended) noexcept nogil:
    """Writes the statistics of an episode that has ended; 0 else."""
    batch.episode_return[row] = (<Env>env).episode_return if ended else 0
    batch.episode_length[row] = (<Env>env).episode_length if ended else 0
    # in seconds, with six digits, as Gymnasium has them
    batch.episode_time[row] = round_double((now_ns() - (<Env>env).episode_began) / 1e3) / 1e6 if ended else 0
    if batch.num_groups > 0:
        write_agent_stats(env, batch, row, ended)


cdef int observe(Scheduler scheduler, PyObject* env, OpenBatch* batch, Column* columns, uint32_t row) except -1 nogil:
    """Writes the observation and infos of an environment to a row of some columns."""
    cdef RowPointers target
    set_row_pointers(&target, batch, columns, row)
    observe_env(env, &target.slot)
    if scheduler.agents_leave:
        hide_absent(env, batch, columns, row)
    return 0


cdef int autoreset_same_step(Scheduler scheduler, PyObject* env, OpenBatch* batch, uint32_t row) except -1 nogil:
    """Keeps the last observation of an episode and starts the next one."""
    observe(scheduler, env, batch, batch.finals, row)
    batch.final_step[row] = (<Env>env).elapsed_step
    (<Env>env).reward = 0
    (<Env>env).terminated = (<Env>env).truncated = False
    reset(scheduler, env)
    if scheduler.has_agents:
        write_alive(env, batch, row)
    return 0


cdef bint end_row(Scheduler scheduler, PyObject* env, OpenBatch* batch, uint32_t row) except -1 nogil:
    """Does what statistics and SAME_STEP ask of a row whose reward, terminated and truncated are written.

    Returns:
        Whether the next episode has begun: the environment is to be observed once more.
    """
    cdef bint ended = batch.terminated[row] or batch.truncated[row]
    if scheduler.statistics:
        write_episode_stats(env, batch, row, ended)
    if scheduler.autoreset == SAME_STEP and ended:
        autoreset_same_step(scheduler, env, batch, row)
        return True
    return False


cdef inline void count_row(Claim* claim, PyObject* env, OpenBatch* batch, uint32_t row, RowKind kind) noexcept nogil:
    """Completes the row of the environment in work, and goes to the next one."""
    # a byte may be a part of anything: to write each would have the compiler read all pointers again
    if kind != ROW_STEP:
        batch.kind[row] = kind
    batch.env_id[row] = claim.ids[claim.at]
    batch.elapsed_step[row] = (<Env>env).elapsed_step
    claim.uncounted += 1
    claim.at += 1


cdef int advance(Scheduler scheduler, Claim* claim) except -1 nogil:
    """Steps the environments of a chunk and writes their rows, one after another."""
    cdef int32_t env_id
    cdef PyObject* env
    cdef OpenBatch* batch
    cdef uint32_t row
    cdef double reward
    cdef bint terminated, truncated
    cdef RowKind kind
    cdef RowPointers target
    cdef StepEnd end
    # in a register: environments of one agent pay for no look at memory
    cdef bint has_agents = scheduler.has_agents
    while claim.at < claim.count:
        env_id = claim.ids[claim.at]
        env = scheduler.envs[env_id]
        reward, terminated, truncated, kind = 0, False, False, ROW_NO_STEP
        (<Env>env).reward = 0
        (<Env>env).terminated = (<Env>env).truncated = False
        (<Env>env).raw_reward = NAN
        if (<Env>env).observe_only:
            (<Env>env).observe_only = False
        elif (<Env>env).needs_reset:
            # within a rollout nobody can ask for the reset of an environment: it stays where its episode ended
            if claim.step == 0 or scheduler.autoreset != DISABLED:
                reset(scheduler, env)
                kind = ROW_RESET
        else:
            kind = ROW_STEP
            (<Env>env).elapsed_step = (<Env>env).elapsed_step + 1
            if unlikely(has_agents):
                (<Env>env).reward = NAN
                begin_step((<Env>env).agents[0])
            step_env(env, claim.actions + env_id * scheduler.action_bytes)
            reward, terminated, truncated = (<Env>env).reward, (<Env>env).terminated, (<Env>env).truncated
            if (<Env>env).elapsed_step >= (<Env>env).max_episode_steps:
                truncated = True
            if unlikely(has_agents):
                end = end_step((<Env>env).agents[0], reward, terminated, truncated, scheduler.statistics)
                reward, terminated, truncated = end.reward, end.terminated, end.truncated
                (<Env>env).reward, (<Env>env).terminated, (<Env>env).truncated = reward, terminated, truncated
            (<Env>env).needs_reset = terminated or truncated
            if scheduler.statistics:
                record_step(env)
        # only now is a row needed: a slow env has held none
        batch = claim_row(scheduler, claim, &row)
        batch.reward[row] = reward
        batch.terminated[row] = terminated
        batch.truncated[row] = truncated
        if unlikely(has_agents):
            if kind == ROW_STEP:
                write_step((<Env>env).agents[0], batch[0], row)
            else:
                write_no_step(env, batch, row)
        if scheduler.has_row_ends:
            end_row(scheduler, env, batch, row)
        if not claim.unobserved:
            set_row_pointers(&target, batch, batch.columns, row - claim.obs_offset)
            observe_env(env, &target.slot)
            if unlikely(has_agents) and scheduler.agents_leave:
                hide_absent(env, batch, batch.columns, row - claim.obs_offset)
        count_row(claim, env, batch, row, kind)
    return 0


cdef int advance_alone(Scheduler scheduler, Claim* claim) except -1 nogil:
    """Does what `advance` does for one environment of a chunk."""
    cdef uint32_t count = claim.count
    claim.count = claim.at + 1
    try:
        advance(scheduler, claim)
    finally:
        claim.count = count
    return 0


cdef void begin_steps(Scheduler scheduler, Claim* claim) noexcept nogil:
    """Prepares the agents of a chunk for `step_many`, which writes their rewards."""
    cdef PyObject* env
    cdef uint32_t k
    for k in range(claim.at, claim.count):
        env = scheduler.envs[claim.ids[k]]
        if not (<Env>env).needs_reset:
            begin_step((<Env>env).agents[0])


cdef int advance_many(Scheduler scheduler, Claim* claim) except -1 nogil:
    """Steps a chunk with one call, then does the rest of `advance` for each environment."""
    cdef OpenBatch* batch
    cdef RowPointers target
    cdef Rows rows
    cdef PyObject* env
    cdef uint32_t row
    cdef RowKind kind
    cdef bint begins, has_agents = scheduler.has_agents
    batch = claim_row(scheduler, claim, &row)
    if not claim.stepped:
        set_row_pointers(&target, batch, batch.columns, row - claim.obs_offset)
        rows.count, rows.ids, rows.actions = claim.count - claim.at, claim.ids + claim.at, claim.actions
        rows.obs, rows.info = target.columns, target.columns + batch.num_obs
        rows.reward = batch.reward + row
        rows.terminated, rows.truncated = batch.terminated + row, batch.truncated + row
        memset(rows.truncated, 0, rows.count)
        if scheduler.has_agents:
            begin_steps(scheduler, claim)
        step_envs(scheduler.envs[rows.ids[0]], &rows)
        claim.stepped = True
    while claim.at < claim.count:
        claim_row(scheduler, claim, &row)
        if batch.terminated[row] == STEP_ALONE:
            advance_alone(scheduler, claim)
            continue
        env = scheduler.envs[claim.ids[claim.at]]
        (<Env>env).raw_reward = NAN
        kind = ROW_RESET if (<Env>env).needs_reset else ROW_STEP
        if kind == ROW_RESET:
            reset(scheduler, env)
            batch.reward[row] = 0
            batch.terminated[row] = batch.truncated[row] = False
            if unlikely(has_agents):
                write_no_step(env, batch, row)
        else:
            (<Env>env).elapsed_step = (<Env>env).elapsed_step + 1
            if (<Env>env).elapsed_step >= (<Env>env).max_episode_steps:
                batch.truncated[row] = True
            if unlikely(has_agents):
                end_step_of_row((<Env>env).agents[0], batch[0], row, scheduler.statistics)
            (<Env>env).needs_reset = batch.terminated[row] or batch.truncated[row]
            if scheduler.statistics:
                (<Env>env).reward = batch.reward[row]
                record_step(env)
        # the kernel has observed those that it has stepped
        begins = kind == ROW_RESET
        if scheduler.has_row_ends and end_row(scheduler, env, batch, row):
            begins = True
        if begins:
            observe(scheduler, env, batch, batch.columns, row - claim.obs_offset)
        elif unlikely(has_agents) and scheduler.agents_leave:
            hide_absent(env, batch, batch.columns, row - claim.obs_offset)
        count_row(claim, env, batch, row, kind)
    return 0


cdef int choose_action(Scheduler scheduler, Claim* claim) except -1 nogil:
    """Has the policy choose the action of the environment in work, from what the last step or reset led to."""
    cdef int32_t env_id = claim.ids[claim.at]
    cdef uint32_t last, row
    cdef PyObject* env = scheduler.envs[env_id]
    cdef RowPointers shown
    cdef Decision decision
    cdef OpenBatch* batch = scheduler.open[0]
    if claim.step == 0:
        batch = scheduler.policy.first.get()
        set_row_pointers(&shown, batch, batch.columns, env_id)
        observe(scheduler, env, batch, batch.columns, env_id)
    elif (<Env>env).needs_reset and scheduler.autoreset == DISABLED:
        # it stays where its episode ended
        return 0
    else:
        last = claim.step - 1
        row = last // scheduler.observe_every * <uint32_t>scheduler.envs.size() + (
            claim.first_row - claim.step * <uint32_t>scheduler.envs.size()) + claim.at
        set_row_pointers(&shown, batch, batch.columns, row)
    decision.obs, decision.info = <const void**>shown.slot.obs, <const void**>shown.slot.info
    decision.step, decision.env_id = claim.step, env_id
    decision.elapsed_step, decision.ended = (<Env>env).elapsed_step, (<Env>env).needs_reset
    decision.agents = (<Env>env).agents
    scheduler.policy.choose(&decision, <char*>claim.actions + env_id * scheduler.action_bytes, claim.thread)
    return 0


cdef int choose_actions(Scheduler scheduler, Claim* claim, uint32_t at, uint32_t end) except -1 nogil:
    """Has a policy of cypool's own choose the actions of neighbouring environments of a chunk, from `at` to `end`."""
    cdef uint32_t num_envs = <uint32_t>scheduler.envs.size(), last, row
    cdef RowPointers shown
    cdef Decisions decisions
    cdef OpenBatch* batch = scheduler.open[0]
    decisions.env_id, decisions.count = <uint32_t>claim.ids[at], end - at
    if claim.step == 0:
        batch = scheduler.policy.first.get()
        row = decisions.env_id
    else:
        last = claim.step - 1
        row = last // scheduler.observe_every * num_envs + (claim.first_row - claim.step * num_envs) + at
    set_row_pointers(&shown, batch, batch.columns, row)
    decisions.obs = shown.columns[0]
    decisions.actions = <char*>claim.actions + decisions.env_id * scheduler.action_bytes
    decisions.step = claim.step
    scheduler.policy.choose_many(&decisions)
    return 0


cdef inline bint is_over(Scheduler scheduler, Claim* claim, uint32_t at) noexcept nogil:
    """Whether an environment of a chunk stays where its episode has ended."""
    return (<Env>scheduler.envs[claim.ids[at]]).needs_reset and scheduler.autoreset == DISABLED and claim.step > 0


cdef int choose_chunk(Scheduler scheduler, Claim* claim) except -1 nogil:
    """Has a policy of cypool's own choose the actions of a chunk."""
    cdef uint32_t at = claim.at, end
    cdef bint accepted = True
    while at < claim.count:
        end = at + 1
        if not is_over(scheduler, claim, at):
            while end < claim.count and not is_over(scheduler, claim, end):
                end += 1
            choose_actions(scheduler, claim, at, end)
        at = end
    for at in range(claim.at, claim.count):
        accepted &= scheduler.policy.accepts(claim.actions + claim.ids[at] * scheduler.action_bytes)
    claim.chosen, claim.accepted = True, accepted
    return 0


cdef int advance_by_many(Scheduler scheduler, Claim* claim) except -1 nogil:
    """Does what `advance_by_policy` does, with a policy that chooses for neighbouring environments together."""
    cdef PyObject* env
    cdef int32_t env_id
    if claim.step == 0:
        # one by one: each may fail to observe
        while claim.at < claim.count:
            env_id = claim.ids[claim.at]
            env = scheduler.envs[env_id]
            observe(scheduler, env, scheduler.policy.first.get(), scheduler.policy.first.get().columns, env_id)
            choose_actions(scheduler, claim, claim.at, claim.at + 1)
            scheduler.policy.check(claim.actions + env_id * scheduler.action_bytes)
            advance_alone(scheduler, claim)
        return 0
    if not claim.chosen:
        choose_chunk(scheduler, claim)
    if claim.accepted:
        # a kernel for many environments has no regard for those whose episode is over
        if scheduler.supports_step_many and scheduler.autoreset != DISABLED:
            return advance_many(scheduler, claim)
        return advance(scheduler, claim)
    while claim.at < claim.count:
        scheduler.policy.check(claim.actions + claim.ids[claim.at] * scheduler.action_bytes)
        advance_alone(scheduler, claim)
    return 0


cdef int advance_by_policy(Scheduler scheduler, Claim* claim) except -1 nogil:
    """Does what `advance` does, with actions that the policy chooses."""
    if scheduler.policy.many != NULL:
        return advance_by_many(scheduler, claim)
    while claim.at < claim.count:
        choose_action(scheduler, claim)
        advance_alone(scheduler, claim)
    return 0


cdef int copy_each(Scheduler scheduler, Claim* claim) except -1 nogil:
    """Makes the environments of a chunk copies of others. No row is written, but each counts as one."""
    cdef uint32_t row
    # says nothing about a step
    claim.started = 0
    while claim.at < claim.count:
        claim_row(scheduler, claim, &row)
        copy_env(scheduler.envs[claim.ids[claim.at]], scheduler.envs[scheduler.sources[row]])
        claim.uncounted += 1
        claim.at += 1
    return 0


cdef void write_failed_row(Scheduler scheduler, Claim* claim) noexcept nogil:
    """Completes the row of an environment that could not: zero, truncated."""
    cdef int32_t env_id = claim.ids[claim.at]
    cdef PyObject* env = scheduler.envs[env_id]
    cdef uint32_t row
    cdef OpenBatch* batch = claim_row(scheduler, claim, &row)
    cdef int k
    for k in range(batch.num_columns):
        memset(batch.columns[k].data + (row - claim.obs_offset) * batch.columns[k].row_bytes, 0,
               batch.columns[k].row_bytes)
    batch.reward[row] = 0
    batch.terminated[row] = False
    batch.truncated[row] = True
    batch.kind[row] = ROW_NO_STEP
    batch.env_id[row] = env_id
    batch.elapsed_step[row] = (<Env>env).elapsed_step
    if scheduler.autoreset == SAME_STEP:
        for k in range(batch.num_columns):
            memset(batch.finals[k].data + row * batch.finals[k].row_bytes, 0, batch.finals[k].row_bytes)
        batch.final_step[row] = (<Env>env).elapsed_step
    if scheduler.has_agents:
        write_failed_agents(env, batch, row)
    if scheduler.statistics:
        write_episode_stats(env, batch, row, True)
    (<Env>env).needs_reset = True
    claim.uncounted += 1


@cython.final
cdef class Scheduler:
    """Hands environments out to the threads that step them, and rows of open batches to what they return.

    Args:
        envs: `Env` objects, in the order of their ids.
        batch_rows: Rows of a batch.
        num_open: Batches that can be in the making at once.
        action_bytes: Size of one action.
        ordered: Whether row k of a batch belongs to the k-th id of its send.
        autoreset: When an environment whose episode has ended starts the next one.
        statistics: Whether to keep returns and lengths of episodes.

    Threads: all methods but those marked in the `.pxd` belong to the pool's caller.
    """

    def __cinit__(self, list envs, uint32_t batch_rows, int num_open, size_t action_bytes, bint ordered,
                  Autoreset autoreset, bint statistics):
        cdef Env env
        # known to the compiler: no instructions
        if <char*>&self.counters - <char*>self.gap < CACHE_LINE or <char*>self.gap_behind < <char*>&self.task:
            raise SystemError("scheduler: expected what threads read on cache lines of their own")
        self.counters.reset(new SchedulerCounters())
        self.owner = envs
        for env in envs:
            self.envs.push_back(<PyObject*>env)
        self.actions.resize(len(envs) * action_bytes)
        self.first_actions = self.actions.data()
        self.action_bytes = action_bytes
        if not ordered:
            self.ready_queue.reset(new ReadyQueue(len(envs)))
        for _ in range(num_open):
            self.open.push_back(new OpenBatch())
        self.batch_rows = batch_rows
        self.ordered.store(ordered)
        self.autoreset = autoreset
        self.statistics = statistics
        self.has_row_ends = statistics or autoreset == SAME_STEP
        spec = envs[0].spec
        self.has_agents = spec.num_agents > 0
        self.agents_leave = spec.has_absent_agents
        self.errors = {}
        self.error_steps = {}
        self.num_steppers = 1

    def __dealloc__(self):
        cdef OpenBatch* batch
        for batch in self.open:
            del batch

    cdef int expect(self, uint32_t num_threads) except -1:
        """Prepares for this number of threads in addition to the caller."""
        cdef Claim claim
        cdef uint32_t k, num_shares
        memset(&claim, 0, sizeof(Claim))
        claim.quota = -1
        for k in range(num_threads):
            claim.thread = k + 1
            self.claims.push_back(claim)
        # in an asynchronous pool the caller takes the place of one of them
        num_shares = num_threads + 1 if self.ordered.load() else max(num_threads, <uint32_t>1)
        self.work_shares.reset(new WorkShares(num_shares))
        return 0

    cdef bint collect(self, Claim* claim, OpenBatch* batch, uint32_t wanted, int64_t timeout_ns) except -1:
        """Does what the claim allows, then waits for `wanted` finished rows.

        Returns:
            Whether they are there; False after `timeout_ns`, or earlier on a signal.

        Raises:
            KeyboardInterrupt: Ctrl-C reached an environment, which fails. Call again.
        """
        cdef bint finished
        claim.chunks, claim.until = 0, timeout_ns
        while True:
            try:
                with nogil:
                    self.drain(claim)
                    # what was cut short is waited for by nobody else
                    finished = self.await_rows(batch, wanted, 0 if claim.cut else timeout_ns)
                return finished
            except BaseException as error:
                self.fail(claim, error)
                if isinstance(error, KeyboardInterrupt):
                    # an environment ran Python code, which saw it; what is left is done at the next call
                    self.publish_finished(claim)
                    raise

    cdef int fail(self, Claim* claim, object error) except -1:
        # store the error before the row counts, so that the receiver of the row finds it
        try:
            if claim.step == 0 or claim.ids[claim.at] not in self.errors:
                self.errors[claim.ids[claim.at]] = error
                self.error_steps[claim.ids[claim.at]] = claim.step
        except MemoryError:
            # the row shows this: it is truncated
            pass
        if self.task == COPY:
            note_failed_copy(self.envs[claim.ids[claim.at]], error)
            claim.uncounted += 1
        else:
            write_failed_row(self, claim)
        claim.at += 1
        claim.started = 0
        return 0

    cdef void limit(self, Claim* claim, int64_t ns, bint shared) noexcept nogil:
        """Limits how long a thread stays.

        Args:
            ns: For about how long it takes ids from the ring.
            shared: Whether other pools have the same threads: then it leaves shares and rollouts after this time, too.
        """
        cdef int64_t cost = self.counters.get().cost_ns.load()
        claim.turn_end = now_ns() + ns if shared else 0
        # a step of unknown cost may take long
        claim.quota = max(ns // cost, <int64_t>1) if cost > 0 else 1

    cdef int drain(self, Claim* claim) except -1 nogil:
        # the hot loop: no Python, no lock
        while True:
            # only with a claim in hand: the caller changes it between batches
            if claim.count > 0 and self.task != STEP_EACH:
                if self.task == STEP_TOGETHER:
                    advance_many(self, claim)
                elif self.task == STEP_BY_POLICY:
                    advance_by_policy(self, claim)
                else:
                    copy_each(self, claim)
            else:
                advance(self, claim)
            if claim.count > 0 and claim.step < self.last_step.load() and self.next_step(claim):
                if self.pauses(claim):
                    return 0
                continue
            self.publish_finished(claim)
            if not self.take(claim):
                return 0

    cdef bint take(self, Claim* claim) noexcept nogil:
        """Claims the next ids; False if there are none, or if the caller has to come back."""
        cdef uint32_t cost = self.counters.get().cost_ns.load(), min_rows, max_rows, last_step, share
        cdef uint64_t first
        if claim.started != 0:
            self.measure(claim)
        claim.at = claim.count = 0
        claim.stepped = claim.chosen = False
        claim.started = 0
        if self.stopping.load() != 0:
            return False
        if turn_over(claim):
            # it comes back to what is left of this batch
            claim.seen = 0
            return False
        # a step of unknown cost may take long: alone
        max_rows = max(MAX_NS // cost, <uint32_t>1) if cost > 0 else 1
        min_rows = MIN_NS // max(cost, <uint32_t>1)
        # without a claim in hand this may be of the last batch, or of the next one
        last_step = self.last_step.load()
        if last_step > 0:
            # all steps of the rollout; but the rows of neighbours share cache lines
            max_rows = max(max_rows // (last_step + 1), min(max_rows, <uint32_t>NEIGHBOURS))
        if self.supports_step_many:
            # of all environments: which ones the batch has is not to be asked without a claim
            share = max(<uint32_t>(self.envs.size() // <size_t>self.num_steppers), <uint32_t>1)
            share = TOGETHER if cost < MAX_NS else share
            min_rows, max_rows = max(min_rows, share), max(max_rows, share)
        if claim.is_caller and self.slice_expired(claim):
            return False
        if claim.inline_count > 0:
            claim.first_row = self.list_size - claim.inline_count
            claim.ids, claim.count = self.list + claim.first_row, min(claim.inline_count, max_rows)
            claim.inline_count -= claim.count
        elif self.ordered.load():
            claim.count = self.work_shares.get().claim(
                claim.thread, min(max(min_rows, <uint32_t>1), max_rows), max_rows, &first)
            if claim.count > 0:
                claim.first_row = <uint32_t>(first - self.base)
                claim.ids = self.list + claim.first_row
        elif claim.quota != 0:
            # all rows are claimed with the first one: what is done late keeps a batch waiting, so it is little
            max_rows = min(max(min_rows, <uint32_t>1), <uint32_t>MAX_READY) if cost > 0 else 1
            if claim.quota > 0:
                max_rows = min(max_rows, <uint32_t>min(claim.quota, <int64_t>MAX_READY))
            claim.ids, claim.position = claim.ready, -1
            claim.count = self.ready_queue.get().claim(claim.ready, max_rows, 2 * self.num_steppers)
            if claim.quota > 0:
                claim.quota -= claim.count
        claim.turn += 1
        if claim.count == 0:
            return False
        # only now is it known which batch this is
        claim.step = 0
        claim.actions = self.first_actions
        self.observe_in(claim)
        if claim.turn % 16 == 1:
            claim.started = now_ns()
        return True

    cdef bint next_step(self, Claim* claim) noexcept nogil:
        """Continues with the next step of a rollout with the same environments; False if nobody wants it any more."""
        cdef uint32_t num_envs = <uint32_t>self.envs.size()
        if self.cancelled.load() != 0:
            # the caller waits for their rows
            claim.uncounted += (self.last_step.load() - claim.step) * claim.count
            return False
        claim.step += 1
        claim.first_row += num_envs
        claim.actions += num_envs * self.action_bytes
        claim.at = 0
        claim.stepped = claim.chosen = False
        self.observe_in(claim)
        return True

    cdef void observe_in(self, Claim* claim) noexcept nogil:
        """Finds whether a step of a rollout is observed, and in which row."""
        cdef uint32_t kept
        claim.obs_offset, claim.unobserved = 0, False
        if self.observe_every > 1:
            kept = claim.step // self.observe_every
            claim.obs_offset = (claim.step - kept) * <uint32_t>self.envs.size()
            # a policy looks at every observation: the next one takes its place
            claim.unobserved = (self.task != STEP_BY_POLICY and (claim.step + 1) % self.observe_every != 0
                                and claim.step < self.last_step.load())

    cdef bint pauses(self, Claim* claim) noexcept nogil:
        """Whether to leave a rollout between two of its steps; the claim stays in hand."""
        cdef int64_t cost = <int64_t>self.counters.get().cost_ns.load() * claim.count
        if cost < LOOK_NS and claim.step % LOOK_STEPS != 0:
            return False
        return self.slice_expired(claim) if claim.is_caller else turn_over(claim)

    cdef bint slice_expired(self, Claim* claim) noexcept nogil:
        """Whether the caller has been at work for a slice of time; looks at the clock from the second chunk on."""
        claim.chunks += 1
        if claim.chunks == 2:
            claim.until += now_ns()
        claim.cut = claim.chunks > 2 and now_ns() >= claim.until
        return claim.cut

    cdef void publish_finished(self, Claim* claim) noexcept nogil:
        """Adds the written rows to those finished; wakes the caller if it waits for them."""
        cdef uint32_t finished, wanted
        if claim.uncounted == 0:
            return
        finished = claim.batch.finished.fetch_add(claim.uncounted) + claim.uncounted
        claim.uncounted = 0
        wanted = claim.batch.wanted.load()
        if wanted > 0 and finished >= wanted:
            wake(claim.batch.finished, 1)

    cdef void measure(self, Claim* claim) noexcept nogil:
        """Puts the chunk just done into the running mean of the cost."""
        cdef int64_t cost = max((now_ns() - claim.started) // (claim.count * (<int64_t>claim.step + 1)), <int64_t>1)
        cdef int64_t mean = self.counters.get().cost_ns.load()
        if mean > 0:
            # a thread that lost its core in the middle says nothing about the environment
            cost = mean + (min(cost, 8 * mean) - mean) // 8
        self.counters.get().cost_ns.store(<uint32_t>min(cost, <int64_t>1_000_000_000))

    cdef bint has_work(self, Claim* claim) noexcept nogil:
        """Whether there is something to continue, or may be something to claim.

        Says so of a synchronous batch once only, if the thread does not leave before all of it is claimed.
        """
        cdef uint64_t published
        if claim.count > 0:
            return True
        if not self.ordered.load():
            return not self.ready_queue.get().empty()
        published = self.work_shares.get().published()
        if published == claim.seen:
            return False
        claim.seen = published
        return True

    cdef bint await_rows(self, OpenBatch* batch, uint32_t wanted, int64_t timeout_ns) noexcept nogil:
        """Spins, then sleeps, until `wanted` rows are finished; False after the timeout or a signal."""
        cdef int64_t start, left_ns
        cdef uint32_t seen = batch.finished.load(), _k
        if seen >= wanted:
            return True
        if timeout_ns <= 0:
            return False
        left_ns = <int64_t>(wanted - seen) * self.counters.get().cost_ns.load() // self.num_steppers
        if left_ns < SPIN_NS:
            start = now_ns()
            while now_ns() - start < SPIN_NS:
                for _k in range(16):
                    if batch.finished.load() >= wanted:
                        return True
                    relax()
        # announce first, look afterwards: a thread that finishes the last row in between sees it and wakes us
        batch.wanted.store(wanted)
        seen = batch.finished.load()
        while seen < wanted and park(batch.finished, seen, timeout_ns):
            seen = batch.finished.load()
        batch.wanted.store(0)
        return batch.finished.load() >= wanted
