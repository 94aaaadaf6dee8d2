import numpy as np
from cypool.options import describes, number
from cypool.spec import Array, Discrete, EnvSpec
from cypool.state import check_state

from libc.math cimport fabs, sin

from cypool.env cimport Env, Slot, discrete_action, import_cypool, info_row, obs_row
from cypool.random cimport normal, uniform

import_cypool()


@describes(half_length=number(1.0, 0.01, 1000, "Half of the beam's length (m)."))
def describe_my_env(options):
    high = np.array([np.inf, np.inf, 0.3], np.float32)
    return EnvSpec(observation=Array((3,), np.float32, -high, high), action=Discrete(3),
                   info={"gust": Array((), np.float64)}, options=options)


cdef class MyEnv(Env):
    """A ball on a beam in gusty air: tilt the beam left (0), not (1) or right (2), and keep the ball on it.

    Observation: float32 (3,): where the ball is (m), its velocity (m/s), the beam's angle (rad).
    Reward: 1 a step. Terminated: the ball has rolled off.
    """
    describe = staticmethod(describe_my_env)

    cdef double half_length, position, velocity, angle, gust

    def __init__(self, spec, env_id):
        self.half_length = spec.options["half_length"]

    cdef int reset(self) except -1 nogil:
        self.position = uniform(self.rng, -0.1, 0.1)
        self.velocity = self.angle = self.gust = 0
        return 0

    cdef int step(self, const void* action) except -1 nogil:
        self.angle = min(max(self.angle + 0.03 * (discrete_action(action) - 1), -0.3), 0.3)
        self.gust = normal(self.rng, 0, 0.5)
        self.velocity += 0.02 * (9.8 * sin(self.angle) + self.gust)
        self.position += 0.02 * self.velocity
        self.reward = 1
        self.terminated = fabs(self.position) > self.half_length
        return 0

    cdef int observe(self, const Slot* out) except -1 nogil:
        cdef float* obs = obs_row[float](out, 0)
        obs[0], obs[1], obs[2] = <float>self.position, <float>self.velocity, <float>self.angle
        info_row[double](out, 0)[0] = self.gust
        return 0

    cdef object save(self):
        return self.position, self.velocity, self.angle, self.gust

    cdef int load(self, object state) except -1:
        self.position, self.velocity, self.angle, self.gust = check_state(state, float, float, (-0.3, 0.3), float)
        return 0

    cdef int copy_from(self, Env other) except -1 nogil:
        self.position, self.velocity = (<MyEnv>other).position, (<MyEnv>other).velocity
        self.angle, self.gust = (<MyEnv>other).angle, (<MyEnv>other).gust
        return 0
