# Acrobot: two links, a motor in the joint between them.
import numpy as np

from cypool.envs.shared.pixels.pictures import draw
from cypool.envs.classic_control import specs
from cypool.state import check_state

from libc.math cimport M_PI
from libc.stdint cimport int64_t

from cypool.env cimport Env, Slot
from cypool.envs.shared.numerics.numpy_math cimport cos, cosf, sincos, sinf, square
from cypool.random cimport uniform

cdef double MAX_VELOCITY_1 = 4 * M_PI
cdef double MAX_VELOCITY_2 = 9 * M_PI
cdef double ACROBOT_DT = 0.2

cdef struct State:
    double theta1, theta2, velocity1, velocity2


cdef inline State go_on(const State* y, double dt, const State* slope) noexcept nogil:
    cdef State result
    result.theta1 = y.theta1 + dt * slope.theta1
    result.theta2 = y.theta2 + dt * slope.theta2
    result.velocity1 = y.velocity1 + dt * slope.velocity1
    result.velocity2 = y.velocity2 + dt * slope.velocity2
    return result


cdef inline double mean(double k1, double k2, double k3, double k4) noexcept nogil:
    # six times the slope of the fourth-order Runge-Kutta method
    return k1 + 2 * k2 + 2 * k3 + k4


cdef inline double wrapped(double angle) noexcept nogil:
    while angle > M_PI:
        angle -= 2 * M_PI
    while angle < -M_PI:
        angle += 2 * M_PI
    return angle


cdef State slope_at(const State* y, double torque) noexcept nogil:
    """The derivative: masses, lengths and moments of inertia are 1, centers of mass are halfway, and g is 9.8."""
    cdef State slope
    cdef double s2, c2, d1, d2, phi1, phi2
    sincos(y.theta2, &s2, &c2)
    d1 = 0.25 + (1.25 + c2) + 1.0 + 1.0
    d2 = 0.25 + 0.5 * c2 + 1.0
    phi2 = 0.5 * 9.8 * cos(y.theta1 + y.theta2 - M_PI / 2)
    phi1 = (-0.5 * square(y.velocity2) * s2 - y.velocity2 * y.velocity1 * s2 + 1.5 * 9.8 * cos(y.theta1 - M_PI / 2)
            + phi2)
    slope.theta1 = y.velocity1
    slope.theta2 = y.velocity2
    slope.velocity2 = (torque + d2 / d1 * phi1 - 0.5 * square(y.velocity1) * s2 - phi2) / (1.25 - square(d2) / d1)
    slope.velocity1 = -(d2 * slope.velocity2 + phi1) / d1
    return slope


cdef class Acrobot(Env):
    """Two links hang in a chain; a motor between them pulls one way (0), not at all (1) or the other way (2).

    Follows `gymnasium.envs.classic_control.AcrobotEnv` of Gymnasium 1.4, operation by operation: the same seed and
    actions give bit-identical results.

    Observation: float32 (6,): cosine and sine of the first angle, which is 0 when the link hangs down; cosine and sine
        of the second angle, relative to the first; both angular velocities.
    Reward: -1 per step, 0 on termination.
    Terminated: When the free end is more than one link's length above the pivot.
    """
    describe = staticmethod(specs.acrobot)

    cdef State y
    cdef float[4] trigonometry      # cosine and sine of the first angle, then of the second
    cdef bint moved

    cdef int reset(self) except -1 nogil:
        # a start is of single precision, and so are its sines
        self.y.theta1 = <float>uniform(self.rng, -0.1, 0.1)
        self.y.theta2 = <float>uniform(self.rng, -0.1, 0.1)
        self.y.velocity1 = <float>uniform(self.rng, -0.1, 0.1)
        self.y.velocity2 = <float>uniform(self.rng, -0.1, 0.1)
        self.moved = False
        self.trigonometry[0] = cosf(<float>self.y.theta1)
        self.trigonometry[1] = sinf(<float>self.y.theta1)
        self.trigonometry[2] = cosf(<float>self.y.theta2)
        self.trigonometry[3] = sinf(<float>self.y.theta2)
        return 0

    cdef int step(self, const void* action) except -1 nogil:
        cdef double torque = <double>((<const int64_t*>action)[0] - 1)
        cdef double s1, c1, s2, c2
        cdef State* y = &self.y
        cdef State k1 = slope_at(y, torque)
        cdef State at = go_on(y, ACROBOT_DT / 2, &k1)
        cdef State k2 = slope_at(&at, torque)
        at = go_on(y, ACROBOT_DT / 2, &k2)
        cdef State k3 = slope_at(&at, torque)
        at = go_on(y, ACROBOT_DT, &k3)
        cdef State k4 = slope_at(&at, torque)
        y.theta1 += ACROBOT_DT / 6 * mean(k1.theta1, k2.theta1, k3.theta1, k4.theta1)
        y.theta2 += ACROBOT_DT / 6 * mean(k1.theta2, k2.theta2, k3.theta2, k4.theta2)
        y.velocity1 += ACROBOT_DT / 6 * mean(k1.velocity1, k2.velocity1, k3.velocity1, k4.velocity1)
        y.velocity2 += ACROBOT_DT / 6 * mean(k1.velocity2, k2.velocity2, k3.velocity2, k4.velocity2)
        y.theta1 = wrapped(y.theta1)
        y.theta2 = wrapped(y.theta2)
        y.velocity1 = min(max(y.velocity1, -MAX_VELOCITY_1), MAX_VELOCITY_1)
        y.velocity2 = min(max(y.velocity2, -MAX_VELOCITY_2), MAX_VELOCITY_2)
        sincos(y.theta1, &s1, &c1)
        sincos(y.theta2, &s2, &c2)
        self.trigonometry[0], self.trigonometry[1] = <float>c1, <float>s1
        self.trigonometry[2], self.trigonometry[3] = <float>c2, <float>s2
        self.moved = True
        self.terminated = -c1 - cos(y.theta2 + y.theta1) > 1
        self.reward = 0 if self.terminated else -1
        return 0

    cdef int observe(self, const Slot* out) except -1 nogil:
        cdef float* obs = <float*>out.obs[0]
        cdef int k
        for k in range(4):
            obs[k] = self.trigonometry[k]
        obs[4] = <float>self.y.velocity1
        obs[5] = <float>self.y.velocity2
        return 0

    cdef object save(self):
        return (self.y.theta1, self.y.theta2, self.y.velocity1, self.y.velocity2, self.trigonometry[0],
                self.trigonometry[1], self.trigonometry[2], self.trigonometry[3], self.moved)

    cdef int load(self, object state) except -1:
        # an angle far out would take for ever to wrap
        angle = -M_PI, M_PI
        velocity1, velocity2 = (-MAX_VELOCITY_1, MAX_VELOCITY_1), (-MAX_VELOCITY_2, MAX_VELOCITY_2)
        (self.y.theta1, self.y.theta2, self.y.velocity1, self.y.velocity2, *trigonometry, self.moved) = check_state(
            state, angle, angle, velocity1, velocity2, *[(-1.0, 1.0)] * 4, bool)
        for k, value in enumerate(trigonometry):
            self.trigonometry[k] = value
        return 0

    cdef int copy_from(self, Env other) except -1 nogil:
        (self.y, self.trigonometry, self.moved) = (
            (<Acrobot>other).y, (<Acrobot>other).trigonometry, (<Acrobot>other).moved)
        return 0

    cdef object render(self):
        y = self.y
        angles = np.array([y.theta1, y.theta2, y.velocity1, y.velocity2], np.float64 if self.moved else np.float32)
        return draw("gymnasium.envs.classic_control.acrobot:AcrobotEnv", {}, {"state": angles})
