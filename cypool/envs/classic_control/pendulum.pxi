# Pendulum: to be swung up and kept upright.
import numpy as np

from cypool.envs.shared.pixels.pictures import draw
from cypool.envs.classic_control import specs
from cypool.state import check_state

from libc.math cimport M_PI

from cypool.env cimport Env, Slot
from cypool.envs.shared.numerics.numpy_math cimport remainder, sincos, square, squaref
from cypool.random cimport uniform

cdef double PENDULUM_MAX_SPEED = 8
cdef double PENDULUM_DT = 0.05


cdef class Pendulum(Env):
    """Swing up a pendulum with a motor too weak to lift it directly.

    Follows `gymnasium.envs.classic_control.PendulumEnv` of Gymnasium 1.4, operation by operation: the same seed and
    float32 actions give bit-identical results.

    Observation: float32 (3,): cosine and sine of the angle, which is 0 upright; angular velocity.
    Action: float32 (1,) in [-2, 2]: the torque.
    Reward: Minus the sum of the squared angle, a tenth of the squared velocity, and a thousandth of the squared torque.
    Terminated: Never.
    """
    describe = staticmethod(specs.pendulum)

    cdef double theta, theta_dot
    cdef double s, c                # sine and cosine of theta
    cdef float torque
    cdef bint moved
    cdef double lift                # 3 g / 2
    cdef bint limit_first

    def __init__(self, spec, env_id):
        self.lift = 3 * spec.options["g"] / 2.0
        self.limit_first = spec.options["version"] == 1

    cdef int reset(self) except -1 nogil:
        self.theta = uniform(self.rng, -M_PI, M_PI)
        self.theta_dot = uniform(self.rng, -1, 1)
        self.moved = False
        sincos(self.theta, &self.s, &self.c)
        return 0

    cdef int step(self, const void* action) except -1 nogil:
        cdef float u = (<const float*>action)[0]
        cdef double angle = remainder(self.theta + M_PI, 2 * M_PI) - M_PI
        # the square of the torque is of single precision, as is three times the torque
        cdef double effort = <float>0.001 * squaref(u)
        cdef double faster = self.theta_dot + (self.lift * self.s + <double>(<float>3 * u)) * PENDULUM_DT
        cdef double limited = min(max(faster, -PENDULUM_MAX_SPEED), PENDULUM_MAX_SPEED)
        self.reward = -(square(angle) + 0.1 * square(self.theta_dot) + effort)
        self.theta += (limited if self.limit_first else faster) * PENDULUM_DT
        self.theta_dot = limited
        self.torque = u
        self.moved = True
        sincos(self.theta, &self.s, &self.c)
        return 0

    cdef int observe(self, const Slot* out) except -1 nogil:
        cdef float* obs = <float*>out.obs[0]
        obs[0] = <float>self.c
        obs[1] = <float>self.s
        obs[2] = <float>self.theta_dot
        return 0

    cdef object save(self):
        return self.theta, self.theta_dot, self.torque, self.moved

    cdef int load(self, object state) except -1:
        self.theta, self.theta_dot, self.torque, self.moved = check_state(state, float, float, float, bool)
        sincos(self.theta, &self.s, &self.c)
        return 0

    cdef int copy_from(self, Env other) except -1 nogil:
        (self.theta, self.theta_dot, self.s, self.c) = (
            (<Pendulum>other).theta, (<Pendulum>other).theta_dot, (<Pendulum>other).s, (<Pendulum>other).c)
        self.torque, self.moved = (<Pendulum>other).torque, (<Pendulum>other).moved
        return 0

    cdef object render(self):
        # the arrow shows the torque of the last step
        state = {"state": (self.theta, self.theta_dot), "last_u": np.float32(self.torque) if self.moved else None}
        return draw("gymnasium.envs.classic_control.pendulum:PendulumEnv", {}, state)
