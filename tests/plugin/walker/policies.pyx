"""Policies in C."""
from libc.stdint cimport int8_t, int64_t, uint8_t

from cypool.env cimport action_data
from cypool.policies cimport Decision


cdef api int lean(Decision* d) noexcept nogil:
    """Pushes a CartPole's cart to where the pole falls; in three of five steps to the other side."""
    cdef const float* obs = action_data[float](d.obs[0])
    cdef bint right = obs[2] + obs[3] > 0
    (<int64_t*>d.action)[0] = right != (d.step % 5 > 1)
    return 0


cdef api int lagging(Decision* d) noexcept nogil:
    """Of state: calls, and the last angle; takes a parameter for a bound. Counts from 0 in each episode."""
    cdef double* state = <double*>d.state
    cdef double bound = (<const double*>d.parameters)[0]
    if d.elapsed_step == 0:
        state[1] = 0
    (<int64_t*>d.action)[0] = state[1] > bound
    state[0] += 1 + 100 * d.ended
    state[1] = action_data[float](d.obs[0])[2]
    return 0


cdef api int by_mask(Decision* d) noexcept nogil:
    """For Taxi: one of the actions that do something, which the infos name."""
    cdef const int8_t* mask = action_data[int8_t](d.info[1])
    cdef int64_t k = (d.elapsed_step * 5 + d.env_id) % 6
    while mask[k] == 0:
        k = (k + 1) % 6
    (<int64_t*>d.action)[0] = k
    return 0


cdef api int walk_by_parts(Decision* d) noexcept nogil:
    """For Doom's observations and actions that are dicts: walks and turns, as a pixel of the screen says."""
    cdef const uint8_t* screen = action_data[uint8_t](d.obs[0])
    (<int64_t*>d.action)[0] = screen[777] % 2
    (<float*>(<char*>d.action + sizeof(int64_t)))[0] = screen[999]
    return 0


cdef api int misbehave(Decision* d) except -1 nogil:
    """Action 0, but for one environment and step: these are the parameters, and what to do then."""
    cdef const int64_t* parameters = <const int64_t*>d.parameters
    cdef int64_t* action = <int64_t*>d.action
    if d.env_id != parameters[0] or d.step != parameters[1]:
        return 0
    if parameters[2] == 0:
        return 3
    if parameters[2] == 1:
        raise KeyError("of the policy")
    if parameters[2] == 2:
        action[1] = 0
    if parameters[2] == 3:
        action[-1] = 0
    action[0] = parameters[3]
    return 0


cdef api int by_count(Decision* d) noexcept nogil:
    """For Trouble: the action that a table of four, the parameters, has for its count."""
    cdef int64_t count = <int64_t>action_data[double](d.obs[0])[0]
    (<int64_t*>d.action)[0] = (<const int64_t*>d.parameters)[count % 4]
    return 0


cdef api int push(Decision* d) noexcept nogil:
    """The parameter, for a Pendulum."""
    (<float*>d.action)[0] = (<const float*>d.parameters)[0]
    return 0


cdef api void returns_nothing(Decision* d) noexcept nogil:
    pass


cdef api int takes_something_else(double* action) noexcept nogil:
    return 0
