"""Functions in C: hooks, policies, and draws from a random stream."""
from cpython.pycapsule cimport PyCapsule_GetPointer
from libc.math cimport fabs
from libc.stdint cimport int8_t, int32_t, int64_t, uint8_t
from libcpp.vector cimport vector
from posix.time cimport CLOCK_MONOTONIC, clock_gettime, timespec

from cypool.env cimport action_data, discrete_action, import_cypool
from cypool.hooks cimport Transition
from cypool.policies cimport Decision
from cypool.random cimport Rng, categorical, copy_stream, integers, normal, shuffle, uniform

import_cypool()

# hooks


cdef api void upright(Transition* t) noexcept nogil:
    """How far the pole of a CartPole is from falling, before and after the step; ends when the cart is half way out."""
    cdef const float* obs = action_data[float](t.obs[0])
    cdef double angle = obs[2], before = action_data[float](t.before[0])[2]
    t.reward += 100 * t.elapsed_step + 10 * discrete_action(t.action) - fabs(angle) - fabs(before)
    t.terminated = t.terminated or fabs(obs[0]) > 0.2


cdef api void two_of_four(Transition* t) noexcept nogil:
    """Position and angle, as doubles; and the step."""
    cdef const float* obs = action_data[float](t.obs[0])
    cdef double* out = <double*>t.out[0]
    out[0], out[1], out[2] = obs[0], obs[2], t.elapsed_step


cdef api void too_much(Transition* t) noexcept nogil:
    two_of_four(t)
    (<double*>t.out[0])[3] = 1


cdef api void pong(Transition* t) noexcept nogil:
    """The bytes of Pong's memory that a player needs: the ball, the two paddles; and the lives, of info."""
    cdef const uint8_t* ram = action_data[uint8_t](t.obs[0])
    cdef float* out = <float*>t.out[0]
    out[0], out[1], out[2], out[3] = ram[49], ram[54], ram[51], ram[50]
    (<int64_t*>t.out[1])[0] = action_data[int32_t](t.info[0])[0]


cdef api int returns_something(Transition* t) noexcept nogil:
    return t.env_id


cdef api void takes_something_else(double* reward) noexcept nogil:
    reward[0] = 0


cdef api void slow(Transition* t) noexcept nogil:
    """Takes 3 us, and leaves the reward as it is."""
    cdef timespec begun, now
    clock_gettime(CLOCK_MONOTONIC, &begun)
    now = begun
    while (now.tv_sec - begun.tv_sec) * 1_000_000_000 + now.tv_nsec - begun.tv_nsec < 3_000:
        clock_gettime(CLOCK_MONOTONIC, &now)


# policies


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
    """Action 0, but for one environment and step: these are the parameters, and the action then."""
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


cdef api int takes_a_number(double* action) noexcept nogil:
    return 0


# draws


cdef const Rng* stream_of(object bit_generator) except NULL:
    return <const Rng*>PyCapsule_GetPointer(bit_generator.capsule, "BitGenerator")


def draw_integers(bit_generator, int64_t low, int64_t high, int count):
    """Draws integers in [low, high)."""
    cdef const Rng* rng = stream_of(bit_generator)
    return [integers(rng, low, high) for _ in range(count)]


def draw_categories(bit_generator, sums, int count):
    """Draws indices by the sums of probabilities."""
    cdef const Rng* rng = stream_of(bit_generator)
    cdef vector[double] values = sums
    return [categorical(rng, values.data(), <int>values.size()) for _ in range(count)]


def draw_doubles(bit_generator, double low, double high, int count):
    """Draws doubles in [low, high)."""
    cdef const Rng* rng = stream_of(bit_generator)
    return [uniform(rng, low, high) for _ in range(count)]


def draw_normals(bit_generator, double mean, double deviation, int count):
    """Draws doubles of a normal distribution."""
    cdef const Rng* rng = stream_of(bit_generator)
    return [normal(rng, mean, deviation) for _ in range(count)]


def draw_shuffled(bit_generator, items):
    """The items of a list of ints in another order."""
    cdef const Rng* rng = stream_of(bit_generator)
    cdef vector[int64_t] values = items
    shuffle(rng, values.data(), <int>values.size())
    return list(values)


def copy_streams(target, source):
    """Has a stream continue as another one does; whether these are of a kind that is known."""
    return bool(copy_stream(stream_of(target), stream_of(source)))
