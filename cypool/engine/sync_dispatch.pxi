# Synchronous: one batch at a time, its rows in the order of send, distributed in shares.
cimport cython
from cpython.exc cimport PyErr_CheckSignals
from libc.stdint cimport int32_t, uint8_t, uint32_t
from libcpp.vector cimport vector

cimport numpy as cnp


from cypool.env cimport Env

cnp.import_array()


@cython.final
cdef class SyncDispatch(Dispatch):
    """A synchronous pool's batches, from send to recv; whole rollouts and copies.

    Args:
        distributor: Decides whether threads step, and divides the rows into shares.
    """
    cdef Distributor distributor
    cdef vector[int32_t] sent_ids    # of the send that is not received yet, if it named them
    cdef tuple out                   # the user's arrays for the batch in the making: observations, reward, flags
    cdef vector[Column] out_columns
    cdef Blocks rollout_blocks       # of the last rollout, whose blocks serve others of its length
    cdef uint32_t rollout_rows

    def __init__(self, scheduler, threads, blocks, results, ids, Distributor distributor):
        self.distributor = distributor
        self.sent_ids.reserve(self.ids.num_envs)

    cdef int send(self, const int32_t* ids, uint32_t count, tuple out) except -1:
        cdef Scheduler scheduler = self.scheduler
        self.begin(self.blocks, out)
        if ids != self.ids.all_ids.data():
            # the next call names others before the threads are done
            self.sent_ids.assign(ids, ids + count)
            ids = self.sent_ids.data()
        scheduler.batch_ids, scheduler.num_batch_ids = ids, count
        self.ids.pending = count
        self.distributor.distribute(&self.claim, count)
        return 0

    cdef Block begin(self, Blocks blocks, tuple out):
        """Opens a batch; returns its memory."""
        cdef Scheduler scheduler = self.scheduler
        # not None after a call that failed before its batch ended
        cdef Block block = scheduler.filling[0]
        if block is None or block.layout is not blocks.layout:
            block = scheduler.filling[0] = blocks.take()
        block.open_on(scheduler.open[0])
        self.out = out
        if out is not None:
            self.redirect(block, scheduler.open[0])
        return block

    cdef void end(self) noexcept:
        """Ends a batch whose rows are all finished: the caller may send the next one."""
        self.out = None
        self.scheduler.filling[0] = None
        self.ids.pending = 0
        self.distributor.received()

    cdef RolloutPolicy prepare_policy(self, policy, tuple normal):
        """Returns a `RolloutPolicy` for a `cypool.policies.Policy`; `normal` as in `Pool.rollout`."""
        spec = (<Env>self.scheduler.env_objects[0]).spec
        return RolloutPolicy(policy, spec, <int>self.scheduler.claims.size() + 1, normal)

    cdef tuple rollout(self, cnp.ndarray actions, uint32_t num_steps, uint32_t observe_every, tuple out, timeout,
                       RolloutPolicy policy):
        """Makes all environments take many steps: a batch whose rows are those of the first step, then of the next.

        Args:
            actions: Of all steps. A policy writes them.
            num_steps, observe_every: As in the scheduler.
            out: The user's arrays, or None.
            timeout: Seconds, or None.
            policy: Chooses the actions; or None.

        Returns:
            The batch. The scheduler has the errors.

        Raises:
            TimeoutError, KeyboardInterrupt: Each environment has made some of the steps.
        """
        cdef Scheduler scheduler = self.scheduler
        cdef uint32_t num_envs = <uint32_t>self.ids.num_envs, rows = num_steps * num_envs
        cdef bint finished = False
        cdef Block block
        if self.rollout_blocks is None or self.rollout_rows != rows:
            self.rollout_blocks, self.rollout_rows = Blocks(self.results.layout.with_rows(rows, num_envs), 2), rows
        block = self.begin(self.rollout_blocks, out)
        scheduler.batch_ids, scheduler.num_batch_ids = self.ids.all_ids.data(), num_envs
        scheduler.first_actions = cnp.PyArray_BYTES(actions)
        scheduler.last_step.store(num_steps - 1)
        scheduler.observe_every, scheduler.rows_before = observe_every, num_envs
        scheduler.policy, scheduler.task = policy, ROLLOUT
        scheduler.cancelled.store(0)
        self.ids.pending = rows
        self.distributor.distribute(&self.claim, num_envs, num_steps)
        try:
            finished = self.wait(rows, timeout)
            if not finished:
                raise TimeoutError(f"rollout: did not finish within {timeout} s")
            result = self.results.assemble(block, rows, self.out)
            self.rollout_blocks.lend(block)
            return result
        except BaseException:
            scheduler.cancelled.store(1)
            if not finished:
                self.wait_all(rows)
            scheduler.errors.clear()
            raise
        finally:
            # `Pool._send` sets another task where environments are stepped together
            scheduler.first_actions = scheduler.actions.data()
            scheduler.last_step.store(0)
            scheduler.observe_every, scheduler.rows_before = 1, 0
            scheduler.policy, scheduler.task = None, STEP_EACH
            self.end()

    cdef dict copy(self, const int32_t* targets, const int32_t* sources, uint32_t count):
        """Makes environments copies of others; returns the errors."""
        cdef Scheduler scheduler = self.scheduler
        scheduler.open[0].finished.store(0)
        scheduler.task = COPY
        scheduler.batch_ids, scheduler.num_batch_ids, scheduler.sources = targets, count, sources
        self.ids.pending = count
        self.distributor.distribute(&self.claim, count)
        interrupt = self.wait_all(count)
        scheduler.task = STEP_EACH
        self.end()
        errors = dict(scheduler.errors)
        scheduler.errors.clear()
        if interrupt is not None:
            raise interrupt
        PyErr_CheckSignals()
        return errors

    cdef tuple receive(self, uint32_t count):
        cdef Block block = self.scheduler.filling[0]
        # first all that may fail for want of memory, then all that changes the pool
        result = self.results.assemble(block, count, self.out)
        self.blocks.lend(block)
        self.end()
        return result

    cdef void step_done(self) noexcept:
        self.distributor.step_done()

    cdef int redirect(self, Block block, OpenBatch* batch) except -1:
        """Lets a batch fill the user's arrays instead of the block's."""
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
