# Poles and masses that swing: acrobot, cartpole, pendulum, and the linear system of lqr.
import re

import numpy as np

from cypool.envs.dm_control import specs
from cypool.envs.dm_control.models import text_of

from libc.math cimport M_PI, sqrt
from libc.stdint cimport int64_t
from libc.string cimport memcpy
from libcpp.vector cimport vector

from cypool.envs.shared.numerics.numpy_math cimport dot, norm, sum as numpy_sum
from cypool.envs.shared.mujoco.mujoco_common cimport Simulation
from cypool.envs.shared.mujoco.obs_writer cimport ObsWriter
from cypool.envs.shared.lanes.record cimport SITE_XPOS, XMAT


cdef class Acrobot(ControlTask):
    """Two links, driven only at the joint between them, swing their tip to a target above.

    Follows `dm_control.suite.acrobot` 1.0.50.

    Observation: float64 `orientations` (4,), `velocity` (2,).
    Action: float64 (1,) in [-1, 1]: the torque.
    Reward: In [0, 1]: how close the tip is to the target; with "sparse", whether it is in the target.
    Terminated: Never.
    """
    describe = staticmethod(specs.describer("acrobot"))

    cdef int[2] links, joints
    cdef int target, tip
    cdef bint is_sparse

    def __init__(self, spec, env_id):
        super().__init__(spec, env_id, "acrobot")
        self.reads = 1 << XMAT | 1 << SITE_XPOS
        self.is_sparse = spec.options["task"] == "swingup_sparse"
        self.links = [self.body("upper_arm"), self.body("lower_arm")]
        self.joints = [self.qpos_of("shoulder"), self.qpos_of("elbow")]
        self.target, self.tip = self.site("target"), self.site("tip")

    cdef int begin_episode(self) except -1 nogil:
        cdef int k
        for k in range(2):
            self.data.qpos[self.joints[k]] = self.random.uniform(-M_PI, M_PI)
        return 0

    cdef int get_obs(self, ObsWriter* obs) except -1 nogil:
        cdef int k
        for k in range(2):
            obs.put(self.data.xmat[9 * self.links[k] + 2])
        for k in range(2):
            obs.put(self.data.xmat[9 * self.links[k] + 8])
        obs.put(self.data.qvel, self.model.nv)
        return 0

    cdef double get_reward(self) except? -1 nogil:
        cdef double radius = self.model.site_size[3 * self.target]
        cdef double distance = apart(self.data.site_xpos + 3 * self.target, self.data.site_xpos + 3 * self.tip, 3)
        return within(distance, 0, radius) if self.is_sparse else gaussian(distance, 0, radius, 1)


cdef class Cartpole(ControlTask):
    """A cart on a rail balances one to three poles.

    Follows `dm_control.suite.cartpole` 1.0.50.

    Observation: float64 `position` (1 + 2 * poles,), `velocity` (1 + poles,).
    Action: float64 (1,) in [-1, 1]: the force on the cart.
    Reward: In [0, 1]: for upright poles near the middle with small controls and velocities; 0 or 1 if "sparse".
    Terminated: Never.
    """
    describe = staticmethod(specs.describer("cartpole"))

    cdef bint balances, is_sparse

    def __init__(self, spec, env_id):
        super().__init__(spec, env_id, "cartpole")
        self.reads = 1 << XMAT
        task = spec.options["task"]
        self.balances, self.is_sparse = task.startswith("balance"), task.endswith("sparse")

    cdef int begin_episode(self) except -1 nogil:
        cdef double* qpos = self.data.qpos
        cdef int64_t k
        if self.balances:
            qpos[0] = self.random.uniform(-0.1, 0.1)
            for k in range(1, self.model.nq):
                qpos[k] = self.random.uniform(-0.034, 0.034)
        else:
            qpos[0] = 0.01 * self.random.normal()
            qpos[1] = M_PI + 0.01 * self.random.normal()
            for k in range(2, self.model.nq):
                qpos[k] = 0.1 * self.random.normal()
        for k in range(self.model.nv):
            self.data.qvel[k] = 0.01 * self.random.normal()
        return 0

    cdef int get_obs(self, ObsWriter* obs) except -1 nogil:
        cdef int64_t pole
        obs.put(self.data.qpos[0])
        for pole in range(2, self.model.nbody):
            obs.put(self.data.xmat[9 * pole + 8])
            obs.put(self.data.xmat[9 * pole + 2])
        obs.put(self.data.qvel, self.model.nv)
        return 0

    cdef double get_reward(self) except? -1 nogil:
        cdef double cart = self.data.qpos[0], product = 1, centered, slow, control
        cdef double[3] upright
        cdef int64_t k, poles = self.model.nbody - 2
        for k in range(poles):
            upright[k] = self.data.xmat[9 * (2 + k) + 8]
        if self.is_sparse:
            for k in range(poles):
                product *= within(upright[k], 0.995, 1)
            return within(cart, -0.25, 0.25) * product
        for k in range(poles):
            upright[k] = (upright[k] + 1) / 2
        centered = (1 + gaussian(cart, 0, 0, 2)) / 2
        control = (4 + small_control(self.data.ctrl, 1)) / 5
        slow = gaussian_of_element(self.data.qvel[1], 5)
        for k in range(2, self.model.nv):
            slow = min(slow, gaussian_of_element(self.data.qvel[k], 5))
        return numpy_sum(&upright[0], poles) / poles * control * ((1 + slow) / 2) * centered


cdef class Pendulum(ControlTask):
    """A weak motor swings up a pole.

    Follows `dm_control.suite.pendulum` 1.0.50.

    Observation: float64 `orientation` (2,), `velocity` (1,).
    Action: float64 (1,) in [-1, 1]: the torque.
    Reward: 1 while the pole is within 8 degrees of upright, else 0.
    Terminated: Never.
    """
    describe = staticmethod(specs.describer("pendulum"))

    cdef int pole
    cdef double min_upright

    def __init__(self, spec, env_id):
        super().__init__(spec, env_id, "pendulum")
        self.reads = 1 << XMAT
        self.pole, self.min_upright = self.body("pole"), np.cos(np.deg2rad(8))

    cdef int begin_episode(self) except -1 nogil:
        self.data.qpos[0] = self.random.uniform(-M_PI, M_PI)
        return 0

    cdef int get_obs(self, ObsWriter* obs) except -1 nogil:
        obs.put(self.data.xmat[9 * self.pole + 8])
        obs.put(self.data.xmat[9 * self.pole + 2])
        obs.put(self.data.qvel[0])
        return 0

    cdef double get_reward(self) except? -1 nogil:
        return within(self.data.xmat[9 * self.pole + 8], self.min_upright, 1)


cdef class LQR(ControlTask):
    """Masses in a row are connected by springs; the driven masses bring all of them to rest.

    Follows `dm_control.suite.lqr` 1.0.50. The springs are drawn once from the seed, for all episodes.

    Observation: float64 `position` (n,), `velocity` (n,): n is 2 or 6.
    Action: float64 (1,) or (2,) in [-1e10, 1e10]: the forces.
    Reward: 1 minus half the sum of squared positions, minus a twentieth of the sum of squared actions.
    Terminated: When the norm of positions and velocities is below 1e-6.
    """
    describe = staticmethod(specs.describer("lqr"))

    cdef vector[double] stiffness

    def __init__(self, spec, env_id):
        super().__init__(spec, env_id, "lqr", ("jnt_stiffness",))
        self.reads, self.writes_model = 0, True

    cdef int seed(self, object seed) except -1:
        random = np.random.RandomState(seed)
        # of the model, only this differs: damping is drawn from [0, 0]
        text, _ = text_of("lqr", self.spec.options["task"], random)
        stiffness = [float(number) for number in re.findall(rb'<joint[^>]* stiffness="([^"]+)"', text)]
        if len(stiffness) != self.model.njnt:
            raise RuntimeError(f"expected a stiffness for each of the {self.model.njnt} joints, found {stiffness}")
        self.stiffness = stiffness
        return self.draw_from(random)

    cdef int prepare_model(self) except -1 nogil:
        memcpy(self.own.jnt_stiffness, self.stiffness.data(), self.model.njnt * sizeof(double))
        return 0

    cdef int begin_episode(self) except -1 nogil:
        cdef double[6] direction
        cdef double length
        cdef int64_t k
        for k in range(self.model.nq):
            direction[k] = self.random.normal()
        length = norm(direction, self.model.nq)
        for k in range(self.model.nq):
            self.data.qpos[k] = sqrt(2.0) * direction[k] / length
        return 0

    cdef double get_reward(self) except? -1 nogil:
        cdef double state_cost = 0.5 * dot(self.data.qpos, self.data.qpos, self.model.nq)
        cdef double control_cost = 0.5 * dot(self.data.ctrl, self.data.ctrl, self.model.nu)
        return 1 - (state_cost + control_cost * 0.1)

    cdef bint is_terminated(self) noexcept nogil:
        cdef double[12] state
        memcpy(state, self.data.qpos, self.model.nq * sizeof(double))
        memcpy(state + self.model.nq, self.data.qvel, self.model.nv * sizeof(double))
        return norm(state, self.model.nq + self.model.nv) < 1e-6

    cdef int load_own(self, object checked) except -1:
        ControlTask.load_own(self, checked)
        self.stiffness.assign(self.own.jnt_stiffness, self.own.jnt_stiffness + self.model.njnt)
        return 0

    cdef int copy_own(self, Simulation other) except -1 nogil:
        ControlTask.copy_own(self, other)
        self.stiffness.assign(self.own.jnt_stiffness, self.own.jnt_stiffness + self.model.njnt)
        return 0
