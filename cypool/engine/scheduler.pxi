# Which environments a thread steps next, and in which batch: the loop of the threads.
#
# `take` claims ids, `run_claims` does the batch's task with them, which writes their rows (`stepping.pxi`), and
# `publish_finished` counts these rows and wakes the caller when the batch is full. An exception ends the loop in its
# thread's outermost function, which has `fail` complete the row and begins the loop again.
cimport cython
from cpython.ref cimport PyObject
from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t
from libc.string cimport memset
from libcpp.atomic cimport atomic
from libcpp.memory cimport unique_ptr
from libcpp.vector cimport vector

from cypool.util.park cimport now_ns, park, relax, wake
from cypool.env cimport Env

cdef enum:
    MIN_NS = 1_000               # a claim is worth at least this much work, as it costs about 0.1 us ...
    MAX_NS = 20_000              # ... and no more, so that threads finish together
    TOGETHER = 16                # environments that `step_many` gets at least, where there are enough ...
    SLOW_TOGETHER = 8            # ... of steps of more than MAX_NS, so that threads finish together
    LEAST_AHEAD = 4              # those that a thread takes from the ring, where steps are prepared together
    WAIT_NS = 100_000            # a longer step may be one that waits: all of a thread's share are begun at once
    NEIGHBOURS = 256             # light environments that take turns in a rollout: their rows share cache lines
    LOOK_STEPS = 16              # of a rollout, between two looks at the clock, if they take less than ...
    LOOK_NS = 20_000             # ... this
    BRIEF_NS = 1_000             # to let go of the GIL, and to get it back, costs about a tenth of this


cdef inline bint turn_over(Claim* claim) noexcept nogil:
    """Whether other pools may wait for this thread."""
    return claim.turn_end > 0 and now_ns() >= claim.turn_end


@cython.final
cdef class Scheduler:
    """Decides which environments each thread steps, and in which rows of open batches it writes their results.

    Args:
        envs: `Env` objects, in the order of their ids.
        batch_rows: Rows of a batch.
        num_open: Number of batches that can be filled at once.
        action_bytes: Size of one action.
        rows_in_send_order: Whether row k of a batch belongs to `batch_ids[k]`; else rows follow the order of finishing.
        autoreset: When an environment whose episode has ended starts the next one.
        statistics: Whether to keep returns and lengths of episodes.

    Thread safety: methods without `nogil` are for the pool's caller, with the GIL.
    """
    # ob_refcnt precedes these fields, and changes while threads read
    cdef list env_objects                # owns the references that envs borrows
    cdef list filling                    # the Block under each open batch: lives as long as a thread may write
    cdef object held_actions             # the array under first_actions, of a step of all environments; or None
    cdef dict errors                     # env id -> exception, the first one of a rollout; with the GIL only
    cdef dict error_steps                # env id -> the step of the rollout that raised it
    # read by all threads for each environment, written between batches only: padded against false sharing
    cdef char[CACHE_LINE] gap
    cdef unique_ptr[SchedulerCounters] counters  # written by threads for each environment
    cdef vector[PyObject*] envs          # index = env id
    cdef vector[char] actions            # one row per env, where a send names environments; a second copy
    cdef const char* first_actions       # of the batch's first step: `actions`, or what the action reader returned
    cdef size_t action_bytes
    cdef unique_ptr[IdRing] id_ring      # where rows come as they finish
    cdef unique_ptr[WorkShares] work_shares  # where rows are in order
    cdef const int32_t* batch_ids        # borrowed: env ids of the batch's rows, where they are in order
    cdef uint32_t num_batch_ids
    cdef uint64_t base                   # position of row 0 of the batch, where rows are in order
    # batches in the order of their rows: row r lies in open[r / batch_rows % open.size()]
    cdef vector[OpenBatch*] open         # owned
    cdef uint32_t batch_rows
    cdef Autoreset autoreset
    cdef atomic[uint32_t] rows_in_send_order  # else in the order of finishing, and in several open batches
    cdef int num_steppers                # threads that step envs, a caller that takes part included
    cdef int64_t max_spin_ns             # how long a thread without work looks for some at most
    cdef vector[Claim] claims            # one per thread that serves this scheduler
    cdef atomic[uint32_t] last_step      # of the rollout; 0 in other batches
    cdef uint32_t observe_every          # the observations of this number of steps share a row
    cdef uint32_t rows_before            # rows of observations before the first step: as many as envs in a rollout
    cdef atomic[uint32_t] cancelled      # the rest of the rollout is not wanted
    cdef atomic[uint32_t] stopping
    cdef bint statistics                 # of episodes are kept
    cdef bint has_row_ends               # `end_row` has something to do: statistics, or SAME_STEP
    cdef bint has_agents                 # several agents act in each environment
    cdef bint agents_leave               # not all of them are always there, and act
    cdef BatchTask step_task             # of batches of steps: whether environments can step many at once
    cdef bint keeps_gil                  # the environments promise steps of less than a microsecond
    cdef const int32_t* sources          # borrowed: whose copies the environments of the batch become
    cdef BatchTask task                  # of this batch
    cdef RolloutPolicy policy            # of this rollout, or None
    cdef char[CACHE_LINE] gap_behind     # padding against false sharing with the next object

    def __cinit__(self, list envs, uint32_t batch_rows, int num_open, size_t action_bytes,
                  bint rows_in_send_order, Autoreset autoreset, bint statistics):
        cdef Env env
        # the compiler evaluates this condition
        if <char*>&self.counters - <char*>self.gap < CACHE_LINE or <char*>self.gap_behind < <char*>&self.task:
            raise SystemError("scheduler: expected separate cache lines for data that threads read")
        self.counters.reset(new SchedulerCounters())
        self.env_objects = envs
        for env in envs:
            self.envs.push_back(<PyObject*>env)
        self.actions.resize(len(envs) * action_bytes)
        self.first_actions = self.actions.data()
        self.action_bytes = action_bytes
        if not rows_in_send_order:
            self.id_ring.reset(new IdRing(len(envs)))
        for _ in range(num_open):
            self.open.push_back(new OpenBatch())
        self.batch_rows = batch_rows
        self.rows_in_send_order.store(rows_in_send_order)
        self.autoreset = autoreset
        self.statistics = statistics
        self.has_row_ends = statistics or autoreset == SAME_STEP
        spec = envs[0].spec
        self.keeps_gil = all([each.spec.brief_steps and not each.calls_user_code for each in envs])
        self.has_agents = spec.num_agents > 0
        self.agents_leave = spec.has_absent_agents
        self.errors = {}
        self.error_steps = {}
        self.num_steppers = 1
        self.max_spin_ns = SPIN_NS

    def __dealloc__(self):
        cdef OpenBatch* batch
        for batch in self.open:
            del batch

    cdef int prepare_threads(self, uint32_t num_threads) except -1:
        """Prepares for this number of threads in addition to the caller."""
        cdef Claim claim
        cdef uint32_t k, num_shares
        memset(&claim, 0, sizeof(Claim))
        claim.quota = -1
        for k in range(num_threads):
            claim.thread = k + 1
            self.claims.push_back(claim)
        # in an asynchronous pool the caller takes the place of one of them
        num_shares = num_threads + 1 if self.rows_in_send_order.load() else max(num_threads, <uint32_t>1)
        self.work_shares.reset(new WorkShares(num_shares))
        return 0

    cdef bint work_until(self, Claim* claim, OpenBatch* batch, uint32_t wanted, int64_t timeout_ns) except -1:
        """Does the work of the claim, then waits for `wanted` finished rows.

        Returns:
            Whether they are finished; False after `timeout_ns`, or earlier on a signal.

        Raises:
            KeyboardInterrupt: Ctrl-C reached an environment, which fails. Call again.
        """
        cdef bint finished
        claim.caller.num_claims, claim.caller.until = 0, timeout_ns
        while True:
            try:
                if self.is_brief(claim, wanted):
                    self.run_claims(claim)
                    if batch.finished.load() >= wanted:
                        return True
                with nogil:
                    self.run_claims(claim)
                    # if the call was cut short to look for signals, the caller calls again
                    finished = self.await_rows(batch, wanted, 0 if claim.caller.cut else timeout_ns)
                return finished
            except BaseException as error:
                self.fail(claim, error)
                if isinstance(error, KeyboardInterrupt):
                    # raised in an environment's Python code; the next call continues with the rest of the claim
                    self.publish_finished(claim)
                    raise

    cdef bint is_brief(self, Claim* claim, uint32_t wanted) noexcept:
        """Whether the caller steps all rows alone, in so little time that it may keep the GIL."""
        cdef int64_t cost = self.counters.get().cost_ns.load()
        return (self.keeps_gil and cost > 0 and self.policy is None
                and claim.caller.inline_count == wanted
                and cost * wanted * (<int64_t>self.last_step.load() + 1) <= BRIEF_NS)

    cdef int fail(self, Claim* claim, object error) except -1:
        """Stores the exception of the claim's current environment, and completes its row; the next one is current."""
        if self.task == ROLLOUT and claim.rollout.step == 0 and recover_from_failed_observation(self, claim):
            return 0
        cdef int32_t env_id = claim.ids[claim.rollout.num_chosen if claim.rollout.choosing else claim.at]
        # store the error before the row counts, so that the receiver of the row finds it
        try:
            if claim.rollout.step == 0 or env_id not in self.errors:
                self.errors[env_id] = error
                self.error_steps[env_id] = claim.rollout.step
        except MemoryError:
            # the row shows this: it is truncated
            pass
        claim.measured_from = 0
        if claim.rollout.choosing:
            claim.rollout.choosing, claim.rollout.failed = False, True
            return 0
        if self.task == COPY:
            note_failed_copy(self.envs[claim.ids[claim.at]], error)
            claim.unpublished += 1
        else:
            write_failed_row(self, claim)
        claim.at += 1
        return 0

    cdef void begin_turn(self, Claim* claim, int64_t ns, bint takes_turns) noexcept nogil:
        """Limits how long a thread stays.

        Args:
            ns: For about how long it takes ids from the ring.
            takes_turns: Whether it leaves shares and rollouts after this time, too, as other pools have its thread.
        """
        cdef int64_t cost = self.counters.get().cost_ns.load()
        claim.turn_end = now_ns() + ns if takes_turns else 0
        # a step of unknown cost may take long
        claim.quota = max(ns // cost, <int64_t>1) if cost > 0 else 1

    cdef int run_claims(self, Claim* claim) except -1 nogil:
        # the hot loop: no Python, no lock. First the rest of a claim that an exception or a pause interrupted
        while True:
            # `task` is stable only while a claim is held
            if claim.count > 0 and self.task != STEP_EACH:
                if self.task == STEP_TOGETHER:
                    advance_together(self, claim)
                elif self.task == STEP_AHEAD:
                    advance_ahead(self, claim)
                elif self.task == ROLLOUT:
                    advance_rollout(self, claim)
                else:
                    copy_each(self, claim)
            else:
                advance(self, claim)
            if claim.count > 0 and claim.rollout.step < self.last_step.load() and self.next_rollout_step(claim):
                if self.pauses(claim):
                    return 0
                continue
            self.publish_finished(claim)
            if not self.take(claim):
                return 0

    cdef bint take(self, Claim* claim) noexcept nogil:
        """Claims the next ids; False if there are none, or if the caller has to return."""
        cdef uint32_t cost = self.counters.get().cost_ns.load(), min_rows, max_rows, last_step, rows_together
        cdef uint64_t first
        if claim.measured_from != 0:
            self.measure(claim)
        claim.at = claim.count = 0
        claim.stepped = claim.rollout.chosen = claim.rollout.one_by_one = False
        claim.rollout.num_observed = claim.rollout.num_chosen = 0
        claim.measured_from = 0
        if self.stopping.load() != 0:
            return False
        if turn_over(claim):
            # it comes back to the rest of this batch
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
        if self.step_task != STEP_EACH:
            # of all environments: a thread without a claim must not ask which ones the batch has
            rows_together = TOGETHER if cost < MAX_NS else SLOW_TOGETHER if cost < WAIT_NS else max(
                <uint32_t>(self.envs.size() // <size_t>self.num_steppers), <uint32_t>1)
            min_rows, max_rows = max(min_rows, rows_together), max(max_rows, rows_together)
        if claim.is_caller and self.slice_expired(claim):
            return False
        if claim.caller.inline_count > 0:
            claim.first_row = self.num_batch_ids - claim.caller.inline_count
            claim.ids, claim.count = self.batch_ids + claim.first_row, min(claim.caller.inline_count, max_rows)
            claim.caller.inline_count -= claim.count
        elif self.rows_in_send_order.load():
            claim.count = self.work_shares.get().claim(
                claim.thread, min(max(min_rows, <uint32_t>1), max_rows), max_rows, &first)
            if claim.count > 0:
                claim.first_row = <uint32_t>(first - self.base)
                claim.ids = self.batch_ids + claim.first_row
        elif claim.quota != 0:
            # rows of all these ids are claimed as soon as the first one is done, and the batch waits for the last:
            # so the thread takes few ids
            max_rows = min(max(min_rows, <uint32_t>1), <uint32_t>MAX_RING_IDS) if cost > 0 else 1
            if claim.quota > 0:
                max_rows = min(max_rows, <uint32_t>min(claim.quota, <int64_t>MAX_RING_IDS))
            claim.ids, claim.position = claim.ring_ids, -1
            claim.count = self.id_ring.get().claim(
                claim.ring_ids, min(max_rows, <uint32_t>LEAST_AHEAD) if self.step_task == STEP_AHEAD else 1, max_rows,
                self.num_steppers if self.step_task == STEP_AHEAD else 2 * self.num_steppers)
            if claim.quota > 0:
                claim.quota -= claim.count
        claim.num_claims += 1
        if claim.count == 0:
            return False
        # only now is it known which batch this is
        claim.rollout.step = 0
        claim.actions = self.first_actions
        self.observe_in(claim)
        if claim.num_claims % 16 == 1:
            claim.measured_from = now_ns()
        return True

    cdef bint next_rollout_step(self, Claim* claim) noexcept nogil:
        """Continues with the next step of a rollout with the same environments; False if it is no longer wanted."""
        cdef uint32_t num_envs = <uint32_t>self.envs.size()
        if self.cancelled.load() != 0:
            # the caller waits for their rows
            claim.unpublished += (self.last_step.load() - claim.rollout.step) * claim.count
            return False
        claim.rollout.step += 1
        claim.first_row += num_envs
        claim.actions += num_envs * self.action_bytes
        claim.at = 0
        claim.stepped = claim.rollout.chosen = False
        claim.rollout.num_chosen = 0
        self.observe_in(claim)
        return True

    cdef void observe_in(self, Claim* claim) noexcept nogil:
        """Finds whether a step of a rollout is observed, and in which row."""
        cdef uint32_t kept
        claim.rollout.obs_shift, claim.rollout.unobserved = <int32_t>self.rows_before, False
        if self.observe_every > 1:
            kept = claim.rollout.step // self.observe_every
            claim.rollout.obs_shift -= <int32_t>((claim.rollout.step - kept) * <uint32_t>self.envs.size())
            # a policy looks at every observation: the next one takes its place
            claim.rollout.unobserved = (
                self.policy is None and (claim.rollout.step + 1) % self.observe_every != 0
                and claim.rollout.step < self.last_step.load())

    cdef bint pauses(self, Claim* claim) noexcept nogil:
        """Whether to leave a rollout between two of its steps; the claim is kept."""
        cdef int64_t cost = <int64_t>self.counters.get().cost_ns.load() * claim.count
        if cost < LOOK_NS and claim.rollout.step % LOOK_STEPS != 0:
            return False
        return self.slice_expired(claim) if claim.is_caller else turn_over(claim)

    cdef bint slice_expired(self, Claim* claim) noexcept nogil:
        """Whether the caller has worked for a slice of time; looks at the clock from the second claim on."""
        claim.caller.num_claims += 1
        if claim.caller.num_claims == 2:
            claim.caller.until += now_ns()
        claim.caller.cut = claim.caller.num_claims > 2 and now_ns() >= claim.caller.until
        return claim.caller.cut

    cdef void publish_finished(self, Claim* claim) noexcept nogil:
        """Adds the written rows to those finished; wakes the caller if it waits for them."""
        cdef uint32_t finished, wanted
        if claim.unpublished == 0:
            return
        finished = claim.batch.finished.fetch_add(claim.unpublished) + claim.unpublished
        claim.unpublished = 0
        wanted = claim.batch.wanted.load()
        if wanted > 0 and finished >= wanted:
            wake(claim.batch.finished, 1)

    cdef void measure(self, Claim* claim) noexcept nogil:
        """Adds the claim just done to the running mean of the cost."""
        cdef int64_t num_steps = claim.count * (<int64_t>claim.rollout.step + 1)
        cdef int64_t cost = max((now_ns() - claim.measured_from) // num_steps, <int64_t>1)
        cdef int64_t mean = self.counters.get().cost_ns.load()
        if mean > 0:
            # a thread that lost its core in the middle says nothing about the environment
            cost = mean + (min(cost, 8 * mean) - mean) // 8
        self.counters.get().cost_ns.store(<uint32_t>min(cost, <int64_t>1_000_000_000))

    cdef bint has_work(self, Claim* claim) noexcept nogil:
        """Whether there is work to continue, or perhaps to claim.

        Reports a synchronous batch only once, if the thread does not leave before all of it is claimed.
        """
        cdef uint64_t published
        if claim.count > 0:
            return True
        if not self.rows_in_send_order.load():
            return not self.id_ring.get().empty()
        published = self.work_shares.get().published()
        if published == claim.seen:
            return False
        claim.seen = published
        return True

    cdef int64_t spin_ns(self) noexcept nogil:
        """How long an idle thread looks for work before it sleeps: half its working time on a batch, within limits."""
        cdef int64_t work_ns = self.counters.get().cost_ns.load() * <int64_t>self.envs.size() // self.num_steppers
        return min(max(work_ns // 2, <int64_t>SPIN_NS), self.max_spin_ns)

    cdef bint await_rows(self, OpenBatch* batch, uint32_t wanted, int64_t timeout_ns) noexcept nogil:
        """Spins, then sleeps, until `wanted` rows are finished; False after the timeout or a signal."""
        cdef int64_t start, left_ns, spin_ns = self.spin_ns()
        cdef uint32_t seen = batch.finished.load(), _k
        if seen >= wanted:
            return True
        if timeout_ns <= 0:
            return False
        left_ns = <int64_t>(wanted - seen) * self.counters.get().cost_ns.load() // self.num_steppers
        if left_ns < spin_ns:
            start = now_ns()
            while now_ns() - start < spin_ns:
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
