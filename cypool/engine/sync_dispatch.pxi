# Synchronous: one batch at a time, its rows in the order of send, distributed in shares.
cimport cython
from libc.stdint cimport int32_t, uint8_t, uint32_t
from libcpp.vector cimport vector

cimport numpy as cnp


from cypool.env cimport Env

cnp.import_array()


@cython.final
cdef class SyncDispatch(Dispatch):
    """Deals the rows of a batch out to threads in shares, or leaves them to the caller.

    Args:
        distributor: Does this.
    """
    cdef Distributor distributor
    cdef vector[int32_t] sent_ids    # of the send that is not received yet, if it named them
    cdef tuple out                   # the user's arrays for the batch in the making: observations, reward, flags
    cdef vector[Column] out_columns
    cdef Blocks rollout_blocks       # of the last rollout, whose blocks serve others of its length
    cdef uint32_t rollout_rows
    cdef Block first_block           # what a policy sees before the first step

    def __init__(self, scheduler, threads, blocks, results, ids, Distributor distributor):
        self.distributor = distributor
        self.sent_ids.reserve(self.ids.num_envs)

    cdef int send(self, const int32_t* ids, uint32_t count, tuple out) except -1:
        cdef Scheduler scheduler = self.scheduler
        # the batch: memory, and whose rows they are
        cdef Block block = scheduler.filling[0]
        if block is None:
            block = scheduler.filling[0] = self.blocks.take()
        block.open_on(scheduler.open[0])
        self.out = out
        if out is not None:
            self.redirect(block, scheduler.open[0])
        if ids != self.ids.all_ids.data():
            # the next call names others before the threads are done
            self.sent_ids.assign(ids, ids + count)
            ids = self.sent_ids.data()
        scheduler.list, scheduler.list_size = ids, count
        self.ids.pending = count
        self.distributor.distribute(&self.claim, count)
        return 0

    cdef RolloutPolicy prepare_policy(self, policy):
        """Returns what calls a `cypool.policies.Policy`."""
        if self.first_block is None:
            self.first_block = Block(self.results.layout)
        spec = (<Env>self.scheduler.owner[0]).spec
        return RolloutPolicy(policy, spec, <int>self.scheduler.claims.size() + 1, self.first_block)

    cdef int send_rollout(self, const char* actions, uint32_t num_steps, uint32_t observe_every, tuple out,
                          RolloutPolicy policy) except -1:
        """Has all environments make many steps: a batch whose rows are those of the first step, then of the next.

        Args:
            actions: (num_steps, num_envs) of them, which stay there until the rollout is received or ended. A policy
                writes them.
            num_steps, observe_every: As the scheduler has them.
            out: The user's arrays, or None.
            policy: Chooses the actions; or None.
        """
        cdef Scheduler scheduler = self.scheduler
        cdef uint32_t num_envs = <uint32_t>self.ids.num_envs
        cdef Block block
        if self.rollout_blocks is None or self.rollout_rows != num_steps * num_envs:
            self.rollout_blocks = Blocks(self.results.layout.of(num_steps * num_envs), 2)
            self.rollout_rows = num_steps * num_envs
        block = scheduler.filling[0] = self.rollout_blocks.take()
        block.open_on(scheduler.open[0])
        self.out = out
        if out is not None:
            self.redirect(block, scheduler.open[0])
        scheduler.list, scheduler.list_size = self.ids.all_ids.data(), num_envs
        scheduler.first_actions = actions
        scheduler.last_step.store(num_steps - 1)
        scheduler.observe_every = observe_every
        if policy is not None:
            scheduler.policy, scheduler.task = policy, STEP_BY_POLICY
        scheduler.cancelled.store(0)
        self.ids.pending = self.rollout_rows
        self.distributor.distribute(&self.claim, num_envs, num_steps)
        return 0

    cdef int send_copies(self, const int32_t* targets, const int32_t* sources, uint32_t count) except -1:
        """Makes environments copies of others; `end_copies` follows once as many are finished."""
        cdef Scheduler scheduler = self.scheduler
        scheduler.open[0].finished.store(0)
        scheduler.task = COPY
        scheduler.list, scheduler.list_size, scheduler.sources = targets, count, sources
        self.ids.pending = count
        self.distributor.distribute(&self.claim, count)
        return 0

    cdef void end_copies(self) noexcept:
        self.scheduler.task = STEP_EACH
        self.ids.pending = 0
        self.distributor.received()

    cdef tuple receive_rollout(self):
        """The rollout that was collected."""
        cdef Block block = self.scheduler.filling[0]
        result = self.results.of(block, self.rollout_rows, self.out)
        self.rollout_blocks.lend(block)
        return result

    cdef void end_rollout(self) noexcept:
        """Goes back to batches of one step, once all rows are finished."""
        cdef Scheduler scheduler = self.scheduler
        self.out = None
        scheduler.filling[0] = None
        scheduler.first_actions = scheduler.actions.data()
        scheduler.last_step.store(0)
        scheduler.observe_every = 1
        if scheduler.policy is not None:
            scheduler.policy, scheduler.task = None, STEP_EACH
        self.ids.pending = 0
        self.distributor.received()

    cdef tuple receive(self, uint32_t count):
        cdef Block block = self.scheduler.filling[0]
        # first all that may fail for want of memory, then all that changes the pool
        result = self.results.of(block, count, self.out)
        self.out = None
        self.blocks.lend(block)
        self.scheduler.filling[0] = None
        self.ids.pending = 0
        self.distributor.received()
        return result

    cdef void step_done(self) noexcept:
        self.distributor.step_done()

    cdef int redirect(self, Block block, OpenBatch* batch) except -1:
        """Has a batch filled into the user's arrays instead of the block's."""
        cdef int k, n = batch.num_obs
        # plain assignment makes a copy first
        self.out_columns.assign(block.columns.begin(), block.columns.end())
        for k in range(n):
            self.out_columns[k].data = cnp.PyArray_BYTES(self.out[k])
        batch.columns = self.out_columns.data()
        batch.reward = <double*>cnp.PyArray_DATA(self.out[n])
        batch.terminated = <uint8_t*>cnp.PyArray_DATA(self.out[n + 1])
        batch.truncated = <uint8_t*>cnp.PyArray_DATA(self.out[n + 2])
        return 0
