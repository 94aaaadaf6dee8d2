"""An environment that says it is Gymnasium's MountainCar, and is not quite."""
import numpy as np
from cypool.spec import Array, Discrete, EnvSpec

from libc.math cimport cos
from libc.stdint cimport int64_t

from cypool.env cimport Env, Slot, import_cypool
from cypool.random cimport uniform

import_cypool()


cdef class Pretender(Env):
    """Differs in what `fault` says."""
    cdef double position, velocity, gravity
    cdef bint starts_off, pays_more, ends_early, draws_more

    @staticmethod
    def describe(fault="nothing"):
        speed = 0.08 if fault == "space" else 0.07
        return EnvSpec(observation=Array((2,), np.float32, [-1.2, -speed], [0.6, speed]), action=Discrete(3))

    def __init__(self, spec, env_id):
        fault = spec.options["fault"]
        self.gravity = 0.0025 * (1 + 1e-7) if fault == "gravity" else 0.0025
        self.starts_off = fault == "start"
        self.pays_more = fault == "reward"
        self.ends_early = fault == "end"
        self.draws_more = fault == "stream"

    cdef int reset(self) except -1 nogil:
        self.position = uniform(self.rng, -0.6, -0.4)
        # the sign of a zero is a bit too
        self.velocity = -0.0 if self.starts_off and self.env_id == 1 else 0.0
        return 0

    cdef int step(self, const void* action) except -1 nogil:
        self.velocity += <double>((<const int64_t*>action)[0] - 1) * 0.001 - cos(3 * self.position) * self.gravity
        self.velocity = min(max(self.velocity, -0.07), 0.07)
        self.position = min(max(self.position + self.velocity, -1.2), 0.6)
        if self.position == -1.2 and self.velocity < 0:
            self.velocity = 0
        self.terminated = self.position >= 0.5 or (self.ends_early and self.elapsed_step == 30 and self.env_id == 1)
        self.reward = -2 if self.pays_more and self.env_id == 2 and self.elapsed_step == 50 else -1
        if self.draws_more and self.env_id == 3 and self.elapsed_step == 60:
            uniform(self.rng, 0, 1)
        return 0

    cdef int observe(self, const Slot* out) except -1 nogil:
        (<float*>out.obs[0])[0] = <float>self.position
        (<float*>out.obs[0])[1] = <float>self.velocity
        return 0

    cdef object save(self):
        return self.position, self.velocity
