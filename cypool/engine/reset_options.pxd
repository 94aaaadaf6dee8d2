"""Options of a reset, on their way to the environments."""
from libc.stdint cimport int32_t, uint32_t

from cypool.backend cimport StepBackend


cdef object give_reset_options(list envs, StepBackend backend, const int32_t* ids, uint32_t count, object options)
