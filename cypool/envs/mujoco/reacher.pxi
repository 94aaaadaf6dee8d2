# Reacher and Pusher: arms that are to bring something to a place.
from cypool.envs.mujoco import specs

from libc.string cimport memcpy

from cypool.envs.shared.mujoco.obs_writer cimport ObsWriter
from cypool.envs.shared.numerics.numpy_math cimport cos, norm, sin
from cypool.envs.shared.lanes.record cimport XPOS


cdef class _Arm(MujocoEnv):
    """A base class that measures distances between bodies."""

    def __init__(self, spec, env_id):
        super().__init__(spec, env_id)
        self.reads = 1 << XPOS

    cdef double distance(self, int body, int other) noexcept nogil:
        cdef double[3] difference
        self.subtract(body, other, difference)
        return norm(difference, 3)

    cdef void subtract(self, int body, int other, double* difference) noexcept nogil:
        cdef int k
        for k in range(3):
            difference[k] = self.data.xpos[3 * body + k] - self.data.xpos[3 * other + k]


# indices of Reacher's info
cdef enum:
    REACHER_DIST
    REACHER_CTRL


cdef class _Reacher(_Arm):
    """The common part of both versions."""
    cdef double reward_dist_weight, reward_control_weight
    cdef int fingertip, target
    cdef int seen_dimensions             # of the way to the target

    def __init__(self, spec, env_id):
        super().__init__(spec, env_id)
        self.fingertip, self.target = self.loaded.body("fingertip"), self.loaded.body("target")

    cdef int reset_model(self) except -1 nogil:
        cdef double* goal = self.data.qpos + self.model.nq - 2
        self.add_uniform(0.1, self.init_qpos.data(), self.data.qpos, self.model.nq)
        while True:
            goal[0] = self.uniform(-0.2, 0.2)
            goal[1] = self.uniform(-0.2, 0.2)
            if norm(goal, 2) < 0.2:
                break
        self.add_uniform(0.005, self.init_qvel.data(), self.data.qvel, self.model.nv)
        self.data.qvel[self.model.nv - 2] = self.data.qvel[self.model.nv - 1] = 0
        return 0

    cdef void reward_arm(self) noexcept nogil:
        cdef double near = -self.distance(self.fingertip, self.target) * self.reward_dist_weight
        cdef double effort = -self.control_cost(self.reward_control_weight)
        self.reward = near + effort
        self.info[REACHER_DIST] = near
        self.info[REACHER_CTRL] = effort

    cdef int get_obs(self, ObsWriter* obs) except -1 nogil:
        cdef double[3] way
        obs.put(cos(self.data.qpos[0]))
        obs.put(cos(self.data.qpos[1]))
        obs.put(sin(self.data.qpos[0]))
        obs.put(sin(self.data.qpos[1]))
        obs.put(self.data.qpos + 2, self.model.nq - 2)
        obs.put(self.data.qvel, 2)
        self.subtract(self.fingertip, self.target, way)
        obs.put(way, self.seen_dimensions)
        return 0


cdef class Reacher(_Reacher):
    """A planar arm with two joints moves its tip to a target.

    Follows `gymnasium.envs.mujoco.reacher_v5.ReacherEnv` of Gymnasium 1.4, operation by operation.

    Observation: float64 (10,): cosines of the angles, then sines; the target; angular velocities; vector to the target.
    Action: float32 (2,) in [-1, 1]: the torques.
    Reward: Minus the distance and the sum of squares of the action, each with its weight.
    Terminated: Never.
    Info: `reward_dist` float64; `reward_ctrl` of the action's dtype.
    """
    describe = staticmethod(specs.reacher)

    def __init__(self, spec, env_id):
        super().__init__(spec, env_id)
        self.reward_dist_weight = spec.options["reward_dist_weight"]
        self.reward_control_weight = spec.options["reward_control_weight"]
        self.seen_dimensions = 2

    cdef int step_model(self) except -1 nogil:
        self.simulate()
        self.reward_arm()
        return 0


cdef class ReacherV4(_Reacher):
    """The same arm as in `gymnasium.envs.mujoco.reacher_v4.ReacherEnv`: the reward uses the distance before the step,
    and the vector to the target has three dimensions; observations are float64 (11,).
    """
    describe = staticmethod(specs.reacher_v4)

    def __init__(self, spec, env_id):
        super().__init__(spec, env_id)
        self.reward_dist_weight = self.reward_control_weight = 1
        self.seen_dimensions = 3

    cdef int step_model(self) except -1 nogil:
        self.reward_arm()
        self.simulate()
        return 0


# indices of Pusher's info
cdef enum:
    PUSHER_DIST
    PUSHER_CTRL
    PUSHER_NEAR


cdef class _Pusher(_Arm):
    """The common part of both versions."""
    cdef int thing, tip, goal

    def __init__(self, spec, env_id):
        super().__init__(spec, env_id)
        self.thing, self.tip = self.loaded.body("object"), self.loaded.body("tips_arm")
        self.goal = self.loaded.body("goal")

    cdef int reset_model(self) except -1 nogil:
        cdef double* place = self.data.qpos + self.model.nq - 4
        cdef int k
        memcpy(self.data.qpos, self.init_qpos.data(), self.model.nq * sizeof(double))
        while True:
            place[0] = self.uniform(-0.3, 0)
            place[1] = self.uniform(-0.2, 0.2)
            if norm(place, 2) > 0.17:
                break
        place[2] = place[3] = 0
        self.add_uniform(0.005, self.init_qvel.data(), self.data.qvel, self.model.nv)
        for k in range(4):
            self.data.qvel[self.model.nv - 4 + k] = 0
        return 0

    cdef int get_obs(self, ObsWriter* obs) except -1 nogil:
        obs.put(self.data.qpos, 7)
        obs.put(self.data.qvel, 7)
        obs.put(self.data.xpos + 3 * self.tip, 3)
        obs.put(self.data.xpos + 3 * self.thing, 3)
        obs.put(self.data.xpos + 3 * self.goal, 3)
        return 0


cdef class Pusher(_Pusher):
    """An arm with seven joints pushes a cylinder to a goal.

    Follows `gymnasium.envs.mujoco.pusher_v5.PusherEnv` of Gymnasium 1.4, operation by operation.

    Observation: float64 (23,): angles of the arm, and their velocities; positions of the arm's tip, the cylinder and
        the goal.
    Action: float32 (7,) in [-2, 2]: the torques.
    Reward: Minus the distances from the cylinder to the goal and to the tip, and the sum of squares of the action, each
        with its weight.
    Terminated: Never.
    Info: `reward_dist`, `reward_near` float64; `reward_ctrl` of the action's dtype.
    """
    describe = staticmethod(specs.pusher)

    cdef double reward_near_weight, reward_dist_weight, reward_control_weight

    def __init__(self, spec, env_id):
        super().__init__(spec, env_id)
        self.reward_near_weight = spec.options["reward_near_weight"]
        self.reward_dist_weight = spec.options["reward_dist_weight"]
        self.reward_control_weight = spec.options["reward_control_weight"]

    cdef int step_model(self) except -1 nogil:
        cdef double near, dist, ctrl
        self.simulate()
        near = -self.distance(self.thing, self.tip) * self.reward_near_weight
        dist = -self.distance(self.thing, self.goal) * self.reward_dist_weight
        ctrl = -self.control_cost(self.reward_control_weight)
        self.reward = dist + ctrl + near
        self.info[PUSHER_DIST] = dist
        self.info[PUSHER_CTRL] = ctrl
        self.info[PUSHER_NEAR] = near
        return 0


cdef class PusherV4(_Pusher):
    """The same arm as in `gymnasium.envs.mujoco.pusher_v4.PusherEnv`: the reward uses the distances before the step,
    and the info contains the reward's unweighted parts. Gymnasium itself cannot create this version with MuJoCo 3.
    """
    describe = staticmethod(specs.pusher_v4)

    cdef int step_model(self) except -1 nogil:
        cdef double near = -self.distance(self.thing, self.tip), dist = -self.distance(self.thing, self.goal)
        self.reward = dist + -self.control_cost(0.1) + 0.5 * near
        self.info[PUSHER_DIST] = dist
        self.info[PUSHER_CTRL] = -self.control_cost(1)
        self.info[PUSHER_NEAR] = near
        self.simulate()
        return 0
