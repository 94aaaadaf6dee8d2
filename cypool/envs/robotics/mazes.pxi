# Mazes: a ball or an ant that is to find a place.
from cypool.envs.robotics import specs
from cypool.envs.robotics.mazes import ROBOTS, check_cell, load_maze
from cypool.util.arguments import check_reset_options

from libc.math cimport isfinite
from libc.stdint cimport int64_t
from libc.string cimport memcpy
from libcpp.vector cimport vector

from cypool.envs.shared.numerics.numpy_math cimport clip, exp, norm, sum_of_squares
from cypool.envs.shared.mujoco cimport guard
from cypool.envs.shared.mujoco.mujoco_common cimport Model
from cypool.envs.shared.mujoco.obs_writer cimport ObsWriter
from cypool.envs.shared.lanes.record cimport CFRC_EXT, NO_OUTPUTS, XPOS
from cypool.random cimport integers

# the reference tries for ever
cdef enum: MAZE_MOST_ATTEMPTS = 10_000
# centres of cells and goals are apart by this times the width of a cell, at most
cdef double NOISE = 0.25
# a distance that is near a goal
cdef double MAZE_NEAR = 0.45
# indices of an ant's info
cdef enum:
    X_POSITION
    Y_POSITION
    DISTANCE
    X_VELOCITY
    Y_VELOCITY
    REWARD_FORWARD
    REWARD_CTRL
    REWARD_SURVIVE
    REWARD_CONTACT                       # v5
    FORWARD_REWARD = REWARD_CONTACT      # v3, v4


cdef class Maze(RoboticsEnv):
    """Base of the mazes.

    Observation: float64 `observation`, the robot's; `achieved_goal`, `desired_goal` (2,): x and y.
    Reward: 1 within 45 cm of the goal, else 0; "dense": exp(-distance).
    Terminated: At the goal; never with `continuing_task`.
    """
    cdef double scale, height            # of a cell, and of the goal's site
    cdef double least                    # how far a start is from the goal
    cdef bint is_v3, continuing_task, reset_target
    cdef vector[double] goals, starts    # x, y
    cdef vector[double] given_goal, given_start  # the next reset begins with these instead; empty: draws
    cdef int target                      # a site
    cdef int success                     # its place in the info; -1: it has none

    def __init__(self, spec, env_id, robot, version, frame_skip):
        cdef Model model
        options = spec.options
        model, goals, starts = load_maze(robot, options["maze_map"], version == 3, options.get("xml_file"))
        if options.get("xml_file") is not None:
            model.check(spec, type(self).describe)
        # a model that is not the package's reads and writes elsewhere
        if model.mj.nq < 2 or robot == "point" and (model.mj.nq != 2 or model.mj.nv != 2):
            expected = "two positions and two velocities" if robot == "point" else "at least two positions"
            raise ValueError(f"{model.path}: expected {expected}, got {model.mj.nq} positions and {model.mj.nv} "
                             "velocities")
        super().__init__(spec, env_id, model, None, frame_skip)
        self.is_v3 = version == 3
        self.scale, height = ROBOTS[robot]
        self.height = height / 2 * self.scale
        self.least = 0.5 if self.is_v3 else 0.5 * self.scale
        self.continuing_task, self.reset_target = options["continuing_task"], options["reset_target"]
        self.goals, self.starts = [x for xy in goals for x in xy], [x for xy in starts for x in xy]
        self.target = self.site("target")
        self.success = list(spec.info).index("success") if "success" in spec.info else -1

    cdef void find_goals(self) noexcept nogil:
        memcpy(self.achieved_goal.data(), self.data.qpos, 2 * sizeof(double))
        self.desired_goal = self.goal

    cdef bint is_near(self) noexcept nogil:
        return distance_blas(self.achieved_goal.data(), self.goal.data(), 2) <= MAZE_NEAR

    cdef void add_noise(self, double* place) noexcept nogil:
        place[0] += self.uniform(-NOISE, NOISE) * self.scale
        place[1] += self.uniform(-NOISE, NOISE) * self.scale

    cdef void draw_goal(self) noexcept nogil:
        cdef int64_t k = integers(self.rng, 0, self.goals.size() // 2)
        memcpy(self.goal.data(), self.goals.data() + 2 * k, 2 * sizeof(double))
        self.add_noise(self.goal.data())

    cdef int begin_episode(self) except -1 nogil:
        cdef vector[double] given_goal, given_start
        cdef double[2] start
        cdef int attempts = 0
        cdef int64_t k
        # they are for one reset, also if it fails
        given_goal.swap(self.given_goal)
        given_start.swap(self.given_start)
        if given_goal.empty():
            self.draw_goal()
        else:
            memcpy(self.goal.data(), given_goal.data(), 2 * sizeof(double))
            self.add_noise(self.goal.data())
        memcpy(start, self.goal.data(), sizeof(start))
        if not given_start.empty():
            memcpy(start, given_start.data(), sizeof(start))
        # a start that is given may be near
        while given_start.empty() and distance_blas(start, self.goal.data(), 2) <= self.least:
            if attempts == MAZE_MOST_ATTEMPTS:
                raise RuntimeError(f"expected a start far from the goal, found none in {MAZE_MOST_ATTEMPTS} attempts")
            attempts += 1
            k = integers(self.rng, 0, self.starts.size() // 2)
            memcpy(start, self.starts.data() + 2 * k, sizeof(start))
        self.add_noise(start)
        self.reset_data()
        self.set_initial()
        memcpy(self.data.qpos, start, sizeof(start))
        self.forward()
        self.find_goals()
        if self.success >= 0:
            self.info[self.success] = self.is_near()
        return 0

    cdef int take_reset_options(self, dict options) except -1:
        check_reset_options(options, ("goal_cell", "reset_cell"))
        maze_map = self.spec.options["maze_map"]
        goal, start = (check_cell(name, options.get(name), maze_map, self.scale)
                       for name in ("goal_cell", "reset_cell"))
        self.given_goal, self.given_start = goal, start
        return 0

    cdef int judge(self) except -1 nogil:
        """Sets goals, reward, terminated and success; may choose another goal."""
        cdef double far
        cdef int attempts = 0
        self.find_goals()
        if self.is_v3:
            # before the reward
            if not self.continuing_task:
                self.terminated = self.is_near()
            elif self.goals.size() > 2 and self.is_near():
                self.draw_goal()
        far = distance(self.achieved_goal.data(), self.goal.data(), 2)
        self.reward = exp(-far) if self.dense else far <= MAZE_NEAR
        if self.is_v3:
            return 0
        self.info[self.success] = self.is_near()
        self.terminated = not self.continuing_task and self.is_near()
        if self.continuing_task and self.reset_target and self.goals.size() > 2:
            while self.is_near():
                if attempts == MAZE_MOST_ATTEMPTS:
                    raise RuntimeError(f"expected a different goal, found none in {MAZE_MOST_ATTEMPTS} attempts")
                attempts += 1
                self.draw_goal()
        return 0

    cdef int draw(self, unsigned char* out) except -1 nogil:
        cdef double* place = self.data.site_xpos + 3 * self.target
        self.materialize()
        # a site of the world, that nothing else depends on
        memcpy(place, self.desired_goal.data(), 2 * sizeof(double))
        place[2] = self.height
        return self.camera.render_into(self.model, self.data, out)


cdef class PointMaze(Maze):
    """A ball in a maze.

    Follows `gymnasium_robotics.envs.maze.point_maze` 1.4.2.

    Observation: As in `Maze`; `observation` (4,): position and velocity.
    Action: float32 (2,) in [-1, 1]: the force.
    Reward, Terminated: As in `Maze`.
    Info: `success` bool.
    """
    describe = staticmethod(specs.point_maze)

    cdef double[2] last_force            # that mj_forward has, before the one of a step
    cdef bint has_last_force             # the data has that of the step already

    def __init__(self, spec, env_id):
        super().__init__(spec, env_id, "point", 4, 1)
        self.reads = NO_OUTPUTS
        # where the model has sensors, steps leave them out
        self.keeps_model = True

    cdef void set_inputs(self, const void* action) noexcept nogil:
        cdef double* force = self.data.ctrl
        cdef int k
        # of one that is not finite MuJoCo warns, and lanes do not begin
        if isfinite(force[0]) and isfinite(force[1]):
            memcpy(self.last_force, force, sizeof(self.last_force))
            self.has_last_force = True
            for k in range(2):
                force[k] = self.element(action, k)
        self.slow_down()

    cdef void slow_down(self) noexcept nogil:
        cdef int64_t k
        for k in range(self.model.nv):
            self.data.qvel[k] = clip(self.data.qvel[k], -5.0, 5.0)

    cdef int step_robot(self, const void* action) except -1 nogil:
        cdef double[2] force = [self.element(action, 0), self.element(action, 1)]
        if not self.take_result():
            self.leave_lanes()
            self.slow_down()
            if self.has_last_force:
                memcpy(self.data.ctrl, self.last_force, sizeof(self.last_force))
            self.info[1] += guard.forward_and_step(self.model, self.data, force)
        self.has_last_force = False
        return self.judge()

    cdef int get_obs(self, ObsWriter* obs) except -1 nogil:
        obs.put(self.data.qpos, 2)
        obs.put(self.data.qvel, 2)
        return 0


cdef class _AntMaze(Maze):
    """The common part of all versions."""
    cdef double ctrl_cost_weight, contact_cost_weight, healthy_reward
    cdef bint terminate_when_unhealthy
    cdef double least_z, most_z, least_force, most_force
    cdef int first_force                 # the first body whose contact forces are observed; -1: none are
    cdef vector[double] forces           # on all bodies, clipped
    cdef int torso                       # whose velocity is measured

    def __init__(self, spec, env_id, version, frame_skip):
        super().__init__(spec, env_id, "ant", version, frame_skip)
        options = spec.options
        self.ctrl_cost_weight, self.contact_cost_weight = options["ctrl_cost_weight"], options["contact_cost_weight"]
        self.healthy_reward = options["healthy_reward"]
        self.terminate_when_unhealthy = options["terminate_when_unhealthy"]
        self.least_z, self.most_z = options["healthy_z_range"]
        self.least_force, self.most_force = options["contact_force_range"]
        self.forces.resize(6 * self.model.nbody)

    cdef int begin_episode(self) except -1 nogil:
        Maze.begin_episode(self)
        self.clip_forces()
        return 0

    cdef int run(self, const void* action) except -1 nogil:
        """Applies the action; info contains the velocity."""
        cdef const double* position = self.data.xpos + 3 * self.torso
        cdef double x = position[0], y = position[1]
        self.set_controls(action)
        if not self.take_result():
            self.leave_lanes()
            self.info[self.info.size() - 1] += guard.simulate(self.model, self.data, self.frame_skip,
                                                              self.first_force >= 0)
        self.clip_forces()
        self.judge()
        self.info[X_VELOCITY] = (position[0] - x) / self.dt
        self.info[Y_VELOCITY] = (position[1] - y) / self.dt
        return 0

    cdef void clip_forces(self) noexcept nogil:
        cdef size_t k
        if self.first_force >= 0:
            for k in range(self.forces.size()):
                self.forces[k] = clip(self.data.cfrc_ext[k], self.least_force, self.most_force)

    cdef void write_position_info(self, const double* position) noexcept nogil:
        self.info[X_POSITION], self.info[Y_POSITION] = position[0], position[1]
        self.info[DISTANCE] = norm(position, 2)

    cdef bint is_healthy(self) noexcept nogil:
        cdef bint finite = True
        cdef int64_t k
        for k in range(self.model.nq):
            finite &= isfinite(self.data.qpos[k])
        for k in range(self.model.nv):
            finite &= isfinite(self.data.qvel[k])
        return finite and self.least_z <= self.data.qpos[2] <= self.most_z

    cdef double control_cost(self, const void* action) noexcept nogil:
        # of float32 all of it has single precision
        if self.action_is_single:
            return <float>self.ctrl_cost_weight * sum_of_squares(<const float*>action, self.model.nu)
        return self.ctrl_cost_weight * sum_of_squares(<const double*>action, self.model.nu)

    cdef double contact_cost(self) noexcept nogil:
        return self.contact_cost_weight * sum_of_squares(self.forces.data(), self.forces.size())

    cdef int get_obs(self, ObsWriter* obs) except -1 nogil:
        cdef int first = 6 * self.first_force
        obs.put(self.data.qpos + 2, self.model.nq - 2)
        obs.put(self.data.qvel, self.model.nv)
        if obs.left() > 0:
            obs.put(self.forces.data() + first, self.forces.size() - first)
        return 0


cdef class AntMaze(_AntMaze):
    """An ant in a maze.

    Follows `gymnasium_robotics.envs.maze.ant_maze_v5` 1.4.2. The ant's own reward and termination are ignored, but
    infos contain the parts of that reward.

    Observation: As in `Maze`; `observation` (105,): positions of torso and joints, without x and y; velocities; clipped
        contact forces on each body except the world.
    Action: float32 (8,) in [-1, 1]: the torques.
    Reward, Terminated: As in `Maze`.
    Info: Those of Gymnasium's `Ant-v5`, and `success` bool.
    """
    describe = staticmethod(specs.ant_maze)

    cdef double forward_reward_weight

    def __init__(self, spec, env_id):
        super().__init__(spec, env_id, 5, spec.options["frame_skip"])
        self.torso = self.loaded.body(spec.options["main_body"])
        self.forward_reward_weight = spec.options["forward_reward_weight"]
        # infos have their cost, whatever is observed
        self.first_force = 1
        self.reads = 1 << XPOS | 1 << CFRC_EXT

    cdef int begin_episode(self) except -1 nogil:
        _AntMaze.begin_episode(self)
        self.write_position_info(self.data.qpos)
        return 0

    cdef int step_robot(self, const void* action) except -1 nogil:
        self.run(action)
        self.write_position_info(self.data.qpos)
        self.info[REWARD_FORWARD] = self.info[X_VELOCITY] * self.forward_reward_weight
        self.info[REWARD_CTRL] = -self.control_cost(action)
        self.info[REWARD_SURVIVE] = self.is_healthy() * self.healthy_reward
        self.info[REWARD_CONTACT] = -self.contact_cost()
        return 0


cdef class AntMazeV4(_AntMaze):
    """The earlier version of the ant.

    Follows `gymnasium_robotics.envs.maze.ant_maze_v4` 1.4.2.

    Observation: As in `AntMaze`; `observation` (27,), without contact forces; with `use_contact_forces`, (111,),
        including the contact forces on all bodies.
    Action, Reward, Terminated: As in `AntMaze`.
    Info: Those of Gymnasium's `Ant-v4`, and `success` bool.
    """
    describe = staticmethod(specs.ant_maze_v4)

    cdef bint use_contact_forces

    def __init__(self, spec, env_id, version=4):
        super().__init__(spec, env_id, version, 5)
        self.torso = self.body("torso")
        self.use_contact_forces = spec.options["use_contact_forces"]
        self.first_force = 0 if self.use_contact_forces else -1
        self.reads = 1 << XPOS | self.use_contact_forces << CFRC_EXT

    cdef int step_robot(self, const void* action) except -1 nogil:
        self.run(action)
        self.write_position_info(self.data.xpos + 3 * self.torso)
        self.info[REWARD_FORWARD] = self.info[FORWARD_REWARD] = self.info[X_VELOCITY]
        self.info[REWARD_CTRL] = -self.contact_cost() if self.use_contact_forces else -self.control_cost(action)
        self.info[REWARD_SURVIVE] = (self.is_healthy() or self.terminate_when_unhealthy) * self.healthy_reward
        return 0


cdef class AntMazeV3(AntMazeV4):
    """The same maze, but a reached goal is replaced before the reward is computed.

    Follows `gymnasium_robotics.envs.maze.ant_maze_v3` 1.4.2.

    Observation, Action: As in `AntMazeV4`.
    Reward: As in `Maze`; when a goal is reached, the reward is computed for the next goal.
    Terminated: As in `Maze`.
    Info: Those of Gymnasium's `Ant-v4`.
    """
    describe = staticmethod(specs.ant_maze_v3)

    def __init__(self, spec, env_id):
        super().__init__(spec, env_id, 3)
