# A car in a valley, too weak to drive straight up the hill.
import numpy as np

from cypool.envs.shared.pixels.pictures import draw
from cypool.envs.classic_control import specs
from cypool.state import check_state

from libc.math cimport cos as libc_cos
from libc.stdint cimport int64_t

from cypool.env cimport Env, Slot
from cypool.random cimport uniform

cdef double LEFT = -1.2
cdef double RIGHT = 0.6
cdef double CAR_MAX_SPEED = 0.07


cdef class MountainCar(Env):
    """Drive a car out of a valley, up the hill on the right, by pushing it left (0), not at all (1) or right (2).

    Follows `gymnasium.envs.classic_control.MountainCarEnv` of Gymnasium 1.4, operation by operation: the same seed and
    actions give bit-identical results.

    Observation: float32 (2,): position, velocity.
    Reward: -1 per step.
    Terminated: When the car is at 0.5 or beyond, with a velocity of at least `goal_velocity`.
    """
    describe = staticmethod(specs.mountain_car)

    cdef double position, velocity, goal_velocity

    def __init__(self, spec, env_id):
        self.goal_velocity = spec.options["goal_velocity"]

    cdef int reset(self) except -1 nogil:
        self.position = uniform(self.rng, -0.6, -0.4)
        self.velocity = 0
        return 0

    cdef int step(self, const void* action) except -1 nogil:
        cdef int64_t push = (<const int64_t*>action)[0] - 1
        self.velocity += <double>push * 0.001 + libc_cos(3 * self.position) * -0.0025
        self.velocity = min(max(self.velocity, -CAR_MAX_SPEED), CAR_MAX_SPEED)
        self.position = min(max(self.position + self.velocity, LEFT), RIGHT)
        if self.position == LEFT and self.velocity < 0:
            self.velocity = 0
        self.terminated = self.position >= 0.5 and self.velocity >= self.goal_velocity
        self.reward = -1
        return 0

    cdef int observe(self, const Slot* out) except -1 nogil:
        cdef float* obs = <float*>out.obs[0]
        obs[0] = <float>self.position
        obs[1] = <float>self.velocity
        return 0

    cdef object save(self):
        return self.position, self.velocity

    cdef int load(self, object state) except -1:
        self.position, self.velocity = check_state(state, float, float)
        return 0

    cdef int copy_from(self, Env other) except -1 nogil:
        self.position, self.velocity = (<MountainCar>other).position, (<MountainCar>other).velocity
        return 0

    cdef object render(self):
        return draw("gymnasium.envs.classic_control.mountain_car:MountainCarEnv", {}, {"state": self.save()})


cdef class MountainCarContinuous(Env):
    """The car from `MountainCar`, pushed with a variable force.

    Follows `gymnasium.envs.classic_control.Continuous_MountainCarEnv` of Gymnasium 1.4, operation by operation,
    including single precision: the same seed and float32 actions give bit-identical results.

    Observation: float32 (2,): position, velocity.
    Action: float32 (1,) in [-1, 1]: the push.
    Reward: Minus a tenth of the squared action, plus 100 at the goal.
    Terminated: When the car is at 0.45 or beyond, with a velocity of at least `goal_velocity`.
    """
    describe = staticmethod(specs.mountain_car_continuous)

    cdef double start       # where the episode began: the one position of double precision
    cdef float position, velocity
    cdef bint moved
    cdef double goal_velocity

    def __init__(self, spec, env_id):
        self.goal_velocity = spec.options["goal_velocity"]

    cdef int reset(self) except -1 nogil:
        self.start = uniform(self.rng, -0.6, -0.4)
        self.position = <float>self.start
        self.velocity = 0
        self.moved = False
        return 0

    cdef int step(self, const void* action) except -1 nogil:
        cdef float force = (<const float*>action)[0]
        cdef double place = 3 * self.start if not self.moved else <double>(<float>3 * self.position)
        cdef float push = force * <float>0.0015 - <float>(0.0025 * libc_cos(place))
        cdef bint fast_enough
        if not self.moved:
            # far from all limits
            self.velocity = push
            self.position = <float>(self.start + <double>push)
            self.moved = True
        else:
            self.velocity += push
            fast_enough = self.velocity >= <float>self.goal_velocity
            # a limit takes the place of the velocity in double precision
            if self.velocity > <float>CAR_MAX_SPEED:
                self.velocity = <float>CAR_MAX_SPEED
                fast_enough = CAR_MAX_SPEED >= self.goal_velocity
            if self.velocity < -<float>CAR_MAX_SPEED:
                self.velocity = -<float>CAR_MAX_SPEED
                fast_enough = -CAR_MAX_SPEED >= self.goal_velocity
            self.position = min(max(self.position + self.velocity, <float>LEFT), <float>RIGHT)
            if self.position == <float>LEFT and self.velocity < 0:
                self.velocity = 0
            self.terminated = self.position >= <float>0.45 and fast_enough
        self.reward = (100.0 if self.terminated else 0.0) - <double>force * <double>force * 0.1
        return 0

    cdef int observe(self, const Slot* out) except -1 nogil:
        cdef float* obs = <float*>out.obs[0]
        obs[0] = self.position
        obs[1] = self.velocity
        return 0

    cdef object save(self):
        return self.start, self.position, self.velocity, self.moved

    cdef int load(self, object state) except -1:
        self.start, self.position, self.velocity, self.moved = check_state(state, float, float, float, bool)
        return 0

    cdef int copy_from(self, Env other) except -1 nogil:
        self.start, self.position = (<MountainCarContinuous>other).start, (<MountainCarContinuous>other).position
        self.velocity, self.moved = (<MountainCarContinuous>other).velocity, (<MountainCarContinuous>other).moved
        return 0

    cdef object render(self):
        state = np.array([self.position, self.velocity], np.float32) if self.moved else np.array([self.start, 0])
        return draw("gymnasium.envs.classic_control.continuous_mountain_car:Continuous_MountainCarEnv", {},
                    {"state": state})
