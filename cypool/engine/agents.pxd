"""Several agents in one environment: their part of a step, of a row and of a state."""
from libc.stdint cimport uint32_t

from cpython.ref cimport PyObject

from cypool.engine.batch cimport Column, OpenBatch
from cypool.env cimport Agents, Env


cdef void begin_episode(PyObject* env) noexcept nogil
cdef void end_reset(PyObject* env) noexcept nogil
cdef void begin_step(PyObject* env) noexcept nogil
cdef void end_step(PyObject* env) noexcept nogil
cdef void write_agents(PyObject* env, OpenBatch* batch, uint32_t row, bint stepped) noexcept nogil
cdef void write_alive(PyObject* env, OpenBatch* batch, uint32_t row) noexcept nogil
cdef void write_agent_stats(PyObject* env, OpenBatch* batch, uint32_t row, bint ended) noexcept nogil
cdef void write_failed_agents(PyObject* env, OpenBatch* batch, uint32_t row) noexcept nogil
cdef void hide_absent(PyObject* env, OpenBatch* batch, const Column* columns, uint32_t row) noexcept nogil
cdef void copy_agents(PyObject* target, PyObject* source) noexcept nogil
cdef object save_agents(Env env)
cdef object check_agents(Env env, object state)
cdef int load_agents(Env env, object state) except -1
