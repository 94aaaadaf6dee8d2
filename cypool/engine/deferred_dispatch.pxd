"""Asynchronous, for brief steps: they are deferred to recv, which makes batches in the order of send."""
from libc.stdint cimport int32_t, uint32_t
from libcpp.vector cimport vector

from cypool.engine.dispatch cimport Dispatch
from cypool.engine.distributor cimport Distributor
from cypool.engine.queue_dispatch cimport QueueDispatch


cdef class DeferredDispatch(Dispatch):
    cdef Distributor distributor
    cdef QueueDispatch threaded      # takes over if batches take long; None: there are no threads
    cdef vector[int32_t] batch_ids   # of the rows of the batch in the making
    cdef uint32_t num_begun          # how many they are
    cdef int num_slow                # batches, one after another, that took longer than threads may

    cdef int begin(self, uint32_t wanted) except -1
    cdef int use_threads(self) except -1
