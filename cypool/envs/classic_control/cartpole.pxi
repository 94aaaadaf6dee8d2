# CartPole: the environment to read first; specs.py has its options and spaces.
import math

from cypool.envs.shared.pixels.pictures import draw
from cypool.envs.classic_control import specs
from cypool.state import check_state

from libc.stdint cimport int64_t

from cypool.env cimport Env, Slot
from cypool.envs.shared.numerics.numpy_math cimport sincos
from cypool.random cimport uniform

cdef double X_LIMIT = 2.4
cdef double THETA_LIMIT = 12 * 2 * math.pi / 360


cdef class CartPole(Env):
    """Keep a pole upright on a cart by pushing the cart left (0) or right (1).

    Follows `gymnasium.envs.classic_control.CartPoleEnv` of Gymnasium 1.4, operation by operation: the same seed and
    actions give bit-identical results.

    Observation: float32 (4,): cart position (m), cart velocity, pole angle (rad), angular velocity.
    Reward: 1 per step; with `sutton_barto_reward`, -1 on termination, otherwise 0.
    Terminated: When the cart is more than 2.4 m from the center or the pole more than 12 degrees from upright.
    """
    describe = staticmethod(specs.cartpole)

    cdef double x, x_dot, theta, theta_dot
    cdef bint sutton_barto_reward

    def __init__(self, spec, env_id):
        self.sutton_barto_reward = spec.options["sutton_barto_reward"]

    cdef int reset(self) except -1 nogil:
        self.x = uniform(self.rng, -0.05, 0.05)
        self.x_dot = uniform(self.rng, -0.05, 0.05)
        self.theta = uniform(self.rng, -0.05, 0.05)
        self.theta_dot = uniform(self.rng, -0.05, 0.05)
        return 0

    cdef int step(self, const void* action) except -1 nogil:
        cdef double force = 10.0 if (<const int64_t*>action)[0] == 1 else -10.0
        cdef double s, c
        sincos(self.theta, &s, &c)
        # 1.1 is the mass of cart and pole, 0.05 the pole's mass times half its length
        cdef double push = (force + 0.05 * (self.theta_dot * self.theta_dot) * s) / 1.1
        cdef double theta_acc = (9.8 * s - c * push) / (0.5 * (4.0 / 3.0 - 0.1 * (c * c) / 1.1))
        cdef double x_acc = push - 0.05 * theta_acc * c / 1.1
        self.x += 0.02 * self.x_dot
        self.x_dot += 0.02 * x_acc
        self.theta += 0.02 * self.theta_dot
        self.theta_dot += 0.02 * theta_acc
        self.terminated = (self.x < -X_LIMIT or self.x > X_LIMIT
                           or self.theta < -THETA_LIMIT or self.theta > THETA_LIMIT)
        if self.sutton_barto_reward:
            self.reward = -1.0 if self.terminated else 0.0
        else:
            self.reward = 1.0
        return 0

    cdef object save(self):
        return self.x, self.x_dot, self.theta, self.theta_dot

    cdef int load(self, object state) except -1:
        self.x, self.x_dot, self.theta, self.theta_dot = check_state(state, *[float] * 4)
        return 0

    cdef int copy_from(self, Env other) except -1 nogil:
        (self.x, self.x_dot, self.theta, self.theta_dot) = (
            (<CartPole>other).x, (<CartPole>other).x_dot, (<CartPole>other).theta, (<CartPole>other).theta_dot)
        return 0

    cdef int observe(self, const Slot* out) except -1 nogil:
        cdef float* obs = <float*>out.obs[0]
        obs[0] = <float>self.x
        obs[1] = <float>self.x_dot
        obs[2] = <float>self.theta
        obs[3] = <float>self.theta_dot
        return 0

    cdef object render(self):
        return draw("gymnasium.envs.classic_control.cartpole:CartPoleEnv", {}, {"state": self.save()})
