"""Another backend steps the environments; the caller of recv then makes rows of them."""
from libc.stdint cimport int32_t, uint32_t
from libcpp.vector cimport vector

from cypool.backend cimport StepBackend
from cypool.engine.dispatch cimport Dispatch


cdef class BackendDispatch(Dispatch):
    cdef StepBackend backend
    cdef Dispatch inner              # SyncDispatch or DeferredDispatch
    cdef bint is_async
    cdef vector[int32_t] completed_ids        # ids that came back with one call
    cdef uint32_t num_completed           # environments that came back and were not received
