"""Hooks in C."""
from libc.math cimport fabs
from libc.stdint cimport int32_t, int64_t, uint8_t
from posix.time cimport CLOCK_MONOTONIC, clock_gettime, timespec

from cypool.env cimport discrete_action, action_data
from cypool.hooks cimport Transition


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
    """Of Pong's memory what a player goes by: the ball, the two paddles; and the lives, of info."""
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
