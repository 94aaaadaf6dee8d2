"""Synchronous: one batch at a time, its rows in the order of send, distributed in shares."""
from libc.stdint cimport int32_t, int64_t, uint32_t
from libcpp.vector cimport vector

from cypool.engine.batch cimport Block, Blocks, Column, OpenBatch
from cypool.engine.dispatch cimport Dispatch
from cypool.engine.distributor cimport Distributor
from cypool.engine.rollout_policy cimport RolloutPolicy


cdef class SyncDispatch(Dispatch):
    cdef Distributor distributor
    cdef vector[int32_t] sent_ids    # of the send that is not received yet, if it named them
    cdef tuple out                   # the user's arrays for the batch in the making: observations, reward, flags
    cdef vector[Column] out_columns
    cdef Blocks rollout_blocks       # of the last rollout, whose blocks serve others of its length
    cdef uint32_t rollout_rows
    cdef Block first_block           # what a policy sees before the first step

    cdef int send_rollout(self, const char* actions, uint32_t num_steps, uint32_t observe_every, tuple out,
                          RolloutPolicy policy) except -1
    cdef RolloutPolicy prepare_policy(self, policy)
    cdef int send_copies(self, const int32_t* targets, const int32_t* sources, uint32_t count) except -1
    cdef void end_copies(self) noexcept
    cdef tuple receive_rollout(self)
    cdef void end_rollout(self) noexcept
    cdef int redirect(self, Block block, OpenBatch* batch) except -1
