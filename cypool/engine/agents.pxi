# Several agents in one environment: their part of a step, of a row and of a state.
#
# An environment sets the agents' rewards, and says which parts are over: of single agents, or of all that are alive
# with `terminated` and `truncated`. The engine makes the rest of it: who acted, who is alive, and the end of the
# episode.
from cpython.ref cimport PyObject
from libc.limits cimport INT_MAX
from libc.stdint cimport int64_t, uint8_t, uint32_t
from libc.string cimport memcpy, memset

from cypool.env cimport Agents, Env

from cypool.util.arguments import check_int, shown

# in each step, and therefore inline
cdef extern from "cypool/engine/agents.h" namespace "cypool" nogil:
    cdef struct StepEnd:         # the environment's result, computed from those of its agents
        double reward
        bint terminated, truncated

    void clear_step(Agents& agents) noexcept
    void begin_step(Agents& agents) noexcept
    StepEnd end_step(Agents& agents, double reward, bint terminated, bint truncated, bint statistics) noexcept
    void write_step(const Agents& agents, const OpenBatch& batch, uint32_t row) noexcept
    void end_step_of_row(Agents& agents, const OpenBatch& batch, uint32_t row, bint statistics) noexcept

# the part of a state for each agent
FLAGS = ("alive", "present", "turn")


cdef void begin_episode(PyObject* env) noexcept nogil:
    """Before `reset`: all are alive, and no agent has acted."""
    cdef Agents* agents = (<Env>env).agents
    clear_step(agents[0])
    memset(agents.acted, 0, agents.count)
    memset(agents.present, 0, agents.count)
    memset(agents.alive, 1, agents.count)
    if agents.turn != NULL:
        memset(agents.turn, 1, agents.count)
    memset(agents.episode_return, 0, agents.count * sizeof(double))
    memset(agents.episode_length, 0, agents.count * sizeof(int64_t))


cdef void end_reset(PyObject* env) noexcept nogil:
    """After `reset`, which may have set flags to any number."""
    cdef Agents* agents = (<Env>env).agents
    cdef uint32_t k
    for k in range(agents.count):
        agents.alive[k] = agents.alive[k] != 0


cdef void write_no_step(PyObject* env, OpenBatch* batch, uint32_t row) noexcept nogil:
    """Writes a row of all groups that belongs to no step."""
    cdef Agents* agents = (<Env>env).agents
    cdef const AgentColumns* group
    cdef size_t n, at, first = 0
    cdef int g
    for g in range(batch.num_groups):
        group = &batch.agents[g]
        n = group.count
        at = row * n
        memset(group.reward + at, 0, n * sizeof(double))
        memset(group.terminated + at, 0, n)
        memset(group.truncated + at, 0, n)
        if group.acted != NULL:
            memset(group.acted + at, 0, n)
            memcpy(group.alive + at, agents.alive + first, n)
        first += n


cdef void write_alive(PyObject* env, OpenBatch* batch, uint32_t row) noexcept nogil:
    """Rewrites which agents are alive, because the next episode has begun."""
    cdef const AgentColumns* group
    cdef size_t first = 0
    cdef int g
    for g in range(batch.num_groups):
        group = &batch.agents[g]
        if group.alive != NULL:
            memcpy(group.alive + row * group.count, (<Env>env).agents.alive + first, group.count)
        first += group.count


cdef void write_agent_stats(PyObject* env, OpenBatch* batch, uint32_t row, bint ended) noexcept nogil:
    """Writes return and length of each agent's part of an episode that has ended; otherwise 0."""
    cdef Agents* agents = (<Env>env).agents
    cdef const AgentColumns* group
    cdef size_t n, at, first = 0
    cdef int g
    for g in range(batch.num_groups):
        group = &batch.agents[g]
        n = group.count
        at = row * n
        if ended:
            memcpy(group.episode_return + at, agents.episode_return + first, n * sizeof(double))
            memcpy(group.episode_length + at, agents.episode_length + first, n * sizeof(int64_t))
        else:
            memset(group.episode_return + at, 0, n * sizeof(double))
            memset(group.episode_length + at, 0, n * sizeof(int64_t))
        first += n


cdef void write_failed_agents(PyObject* env, OpenBatch* batch, uint32_t row) noexcept nogil:
    """Writes a row of an environment that has failed: those in the game are truncated, no agent is alive."""
    cdef Agents* agents = (<Env>env).agents
    clear_step(agents[0])
    memcpy(agents.truncated, agents.present, agents.count)
    memset(agents.alive, 0, agents.count)
    write_step(agents[0], batch[0], row)


cdef void hide_absent(PyObject* env, OpenBatch* batch, const Column* columns, uint32_t row) noexcept nogil:
    """Zeroes the observations of agents that neither were in the game when the step began nor are alive."""
    cdef Agents* agents = (<Env>env).agents
    cdef const AgentColumns* group
    cdef size_t size
    cdef uint32_t k, first = 0
    cdef int g, column = 0, end
    for g in range(batch.num_groups):
        group = &batch.agents[g]
        end = column + group.num_obs
        if group.acted != NULL:
            for k in range(group.count):
                if not (agents.present[first + k] or agents.alive[first + k]):
                    for column in range(end - group.num_obs, end):
                        size = columns[column].row_bytes // group.count
                        memset(columns[column].data + row * columns[column].row_bytes + k * size, 0, size)
        column = end
        first += group.count


cdef void copy_agents(PyObject* target, PyObject* source) noexcept nogil:
    """Copies the state of another environment's agents."""
    cdef Agents* to = (<Env>target).agents
    cdef const Agents* agents = (<Env>source).agents
    memcpy(to.alive, agents.alive, to.count)
    memcpy(to.present, agents.present, to.count)
    if to.turn != NULL:
        memcpy(to.turn, agents.turn, to.count)
    memcpy(to.episode_return, agents.episode_return, to.count * sizeof(double))
    memcpy(to.episode_length, agents.episode_length, to.count * sizeof(int64_t))


cdef list flags_of(const uint8_t* flags, uint32_t count):
    cdef uint32_t k
    return None if flags == NULL else [bool(flags[k]) for k in range(count)]


cdef object save_agents(Env env):
    """Returns the agents' part of a state, or None."""
    cdef Agents* agents = env.agents
    cdef uint32_t k, n
    if agents == NULL:
        return None
    n = agents.count
    return dict(alive=flags_of(agents.alive, n), present=flags_of(agents.present, n), turn=flags_of(agents.turn, n),
                episode_return=[agents.episode_return[k] for k in range(n)],
                episode_length=[agents.episode_length[k] for k in range(n)])


cdef object check_agents(Env env, object state):
    """Returns a checked copy of a result of `save_agents`.

    Raises:
        TypeError, ValueError: It is not such a result.
    """
    cdef Py_ssize_t n
    if env.agents == NULL:
        if state is not None:
            raise ValueError(f"agents: expected None, got {shown(state)}")
        return None
    n = env.agents.count
    if type(state) is not dict or state.keys() != {*FLAGS, "episode_return", "episode_length"}:
        raise ValueError(f"agents: expected a dict with keys {', '.join(FLAGS)}, episode_return and episode_length, "
                         f"got {shown(state)}")
    result = {}
    for name, values in state.items():
        if name == "turn" and env.agents.turn == NULL:
            if values is not None:
                raise ValueError(f"turn: expected None, got {shown(values)}")
        elif type(values) is not list or len(values) != n:
            raise ValueError(f"{name}: expected a list of {n} values, got {shown(values)}")
        elif name == "episode_length":
            values = [check_int(name, value, 0, INT_MAX) for value in values]
        elif name == "episode_return":
            if not all([type(value) in (float, int) for value in values]):
                raise TypeError(f"{name}: expected numbers, got {shown(values)}")
            values = [float(value) for value in values]
        elif not all([type(value) is bool for value in values]):
            raise TypeError(f"{name}: expected bools, got {shown(values)}")
        result[name] = values
    return result


cdef int load_agents(Env env, object state) except -1:
    """Applies a result of `check_agents`."""
    cdef Agents* agents = env.agents
    cdef uint32_t k
    if agents == NULL:
        return 0
    for k in range(agents.count):
        agents.alive[k], agents.present[k] = state["alive"][k], state["present"][k]
        if agents.turn != NULL:
            agents.turn[k] = state["turn"][k]
        agents.episode_return[k] = state["episode_return"][k]
        agents.episode_length[k] = state["episode_length"][k]
    return 0
