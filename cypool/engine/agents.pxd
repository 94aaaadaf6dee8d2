"""Several agents in one environment: their part of a step, of a row and of a state."""
from libc.stdint cimport uint32_t

from cpython.ref cimport PyObject

from cypool.engine.batch cimport Column, OpenBatch
from cypool.env cimport Agents, Env


# in each step, and therefore inline
cdef extern from "cypool/engine/agents.h" namespace "cypool" nogil:
    cdef struct StepEnd:         # what the agents make of the end of a step: the environment's
        double reward
        bint terminated, truncated

    void clear_step(Agents& agents) noexcept
    void begin_step(Agents& agents) noexcept
    StepEnd end_step(Agents& agents, double reward, bint terminated, bint truncated, bint statistics) noexcept
    void write_step(const Agents& agents, const OpenBatch& batch, uint32_t row) noexcept
    void end_step_of_row(Agents& agents, const OpenBatch& batch, uint32_t row, bint statistics) noexcept

cdef void begin_episode(PyObject* env) noexcept nogil
cdef void end_reset(PyObject* env) noexcept nogil
cdef void write_no_step(PyObject* env, OpenBatch* batch, uint32_t row) noexcept nogil
cdef void write_alive(PyObject* env, OpenBatch* batch, uint32_t row) noexcept nogil
cdef void write_agent_stats(PyObject* env, OpenBatch* batch, uint32_t row, bint ended) noexcept nogil
cdef void write_failed_agents(PyObject* env, OpenBatch* batch, uint32_t row) noexcept nogil
cdef void hide_absent(PyObject* env, OpenBatch* batch, const Column* columns, uint32_t row) noexcept nogil
cdef void copy_agents(PyObject* target, PyObject* source) noexcept nogil
cdef object save_agents(Env env)
cdef object check_agents(Env env, object state)
cdef int load_agents(Env env, object state) except -1
