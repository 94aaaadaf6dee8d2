# Mazes: a ball or an ant that is to find a place.
import os
from weakref import WeakKeyDictionary

import numpy as np

from cypool.util.arguments import check_bool, check_float, check_int, check_reset_options, shown
from cypool.envs.mujoco_common.assets import asset_path as gymnasium_path, check_asset, stamps_of
from cypool.envs.robotics.goals import MazeGoal
from cypool.envs.robotics.models import SIZES, asset_path, centre, make_maze

from libc.math cimport isfinite
from libc.stdint cimport int64_t
from libc.string cimport memcpy
from libcpp.vector cimport vector

from cypool.envs.common.numpy_math cimport clip, exp, norm, sum_of_squares
from cypool.envs.mujoco_common cimport guard
from cypool.envs.mujoco_common.mujoco_common cimport Model, check_sizes, load_model, load_model_text
from cypool.envs.mujoco_common.obs_writer cimport ObsWriter
from cypool.random cimport integers

# the reference tries for ever
cdef enum: MAZE_MOST_ATTEMPTS = 10_000
# centres of cells and goals are apart by this times the width of a cell, at most
cdef double NOISE = 0.25
# what is near a goal
cdef double MAZE_NEAR = 0.45
MOST_CELLS = 100
U_MAZE = ((1, 1, 1, 1, 1), (1, 0, 0, 0, 1), (1, 1, 1, 0, 1), (1, 0, 0, 0, 1), (1, 1, 1, 1, 1))
# by robot: the file, the width of a cell, and the height of walls
ROBOTS = {"point": (1.0, 0.4), "ant": (4.0, 0.5)}
# the goals and starts of a model
_mazes = WeakKeyDictionary()

# where the info of an ant has what
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

INFO = ("x_position", "y_position", "distance_from_origin", "x_velocity", "y_velocity", "reward_forward", "reward_ctrl",
        "reward_survive")


cdef Model load_maze(str robot, tuple maze_map, bint is_v3, object xml_file):
    cdef Model model
    scale, height = ROBOTS[robot]
    if robot == "point":
        path = asset_path("point/point.xml")
    elif xml_file is not None:
        # without walls, so that messages are of what the file has
        model = load_model(xml_file)
        if model.mj.nq < 3:
            raise ValueError(f"xml_file: expected a robot that moves in space, with at least 3 positions, found "
                             f"{model.mj.nq} in {model.path}")
        path = model.path
    else:
        path = gymnasium_path("ant.xml")
        check_asset(path)
    maze = make_maze(path, maze_map, scale, height, not is_v3)
    try:
        # what the user's robot includes is not in the text
        beside = () if xml_file is None else stamps_of(os.path.abspath(path))
        model = load_model_text(("maze", maze.text, beside), "the maze", maze.text, {})
    except ValueError as error:
        if xml_file is not None:
            raise ValueError(f"xml_file: with walls, {error}") from error
        raise
    if robot == "point":
        check_sizes(model, SIZES["point/point.xml"], path)
    _mazes[model] = maze.goals, maze.starts
    return model


cdef tuple check_map(object maze_map):
    """Returns the map of a maze as tuples."""
    if not isinstance(maze_map, (tuple, list)) or not all(isinstance(row, (tuple, list)) for row in maze_map):
        raise TypeError(f"maze_map: expected a list of rows, which are lists of cells, got {shown(maze_map)}")
    rows = tuple(map(tuple, maze_map))
    if not 1 <= len(rows) <= MOST_CELLS or any(len(row) != len(rows[0]) for row in rows):
        raise ValueError(f"maze_map: expected 1 to {MOST_CELLS} rows of the same length, got {shown(maze_map)}")
    if not 1 <= len(rows[0]) <= MOST_CELLS:
        raise ValueError(f"maze_map: expected rows of 1 to {MOST_CELLS} cells, got {len(rows[0])}")
    for cell in (cell for row in rows for cell in row):
        if not (isinstance(cell, int) and cell in (0, 1)) and not (isinstance(cell, str) and cell in ("r", "g", "c")):
            raise ValueError(f"maze_map: expected cells that are 0, 1, 'r', 'g' or 'c', got {shown(cell)}")
    return tuple(tuple(int(cell) if isinstance(cell, int) else cell for cell in row) for row in rows)


cdef list check_cell(str name, object cell, tuple maze_map, double scale):
    """Returns the centre of a cell that an option of a reset names; empty: it names none."""
    if cell is None:
        return []
    if not isinstance(cell, (tuple, list, np.ndarray)) or len(np.shape(cell)) != 1 or len(cell) != 2:
        raise TypeError(f"{name}: expected a row and a column, got {shown(cell)}")
    row = check_int(name, cell[0], 0, len(maze_map) - 1)
    column = check_int(name, cell[1], 0, len(maze_map[0]) - 1)
    if maze_map[row][column] == 1:
        raise ValueError(f"{name}: expected a cell that is no wall, got {shown(cell)}")
    return list(centre(row, column, maze_map, scale))


def describe_maze(robot, version, maze_map, continuing_task, reset_target, *, obs_size, num_actions, info, frame_skip,
                  camera, options, common):
    """Returns the `EnvSpec` of a maze.

    Args:
        camera: A function of the map.
        obs_size, num_actions: As `describe_robot` has them; None: those of the model, with or without contact forces
            as `options` has them.
        others: See `describe_robot`.
    """
    cdef Model model
    maze_map = check_map(maze_map)
    model = load_maze(robot, maze_map, version == 3, options.get("xml_file"))
    goals, starts = _mazes[model]
    if not goals or not starts:
        raise ValueError(f"maze_map: expected cells for goals and for starts, got {shown(maze_map)}")
    # a goal in a cell is never far enough from a start there
    if version != 3 and any(all(start == goal for start in starts) for goal in goals):
        raise ValueError(f"maze_map: expected for each goal a start in another cell, got {shown(maze_map)}")
    options = {"maze_map": maze_map, "continuing_task": check_bool("continuing_task", continuing_task),
               "reset_target": check_bool("reset_target", reset_target), **options}
    bounds = -1, 1
    if obs_size is None:
        obs_size = model.mj.nq - 2 + model.mj.nv
        obs_size += 6 * (model.mj.nbody - 1) * options["include_cfrc_ext_in_observation"]
        bounds = model.control_range(np.inf).astype(np.float32)
        num_actions = model.mj.nu
        check_body(model, options["main_body"])
    return describe_robot(
        model, obs_size=obs_size, goal_size=2, num_actions=num_actions, info=info, frame_skip=frame_skip,
        camera=camera(maze_map), options=options, common=common, render_fps=50, action_bounds=bounds,
        goals=MazeGoal(common.get("reward_type", "sparse"), continuing_task))


cdef int check_body(Model model, object name) except -1:
    try:
        model.body(name)
    except ValueError as error:
        raise ValueError(f"main_body: {error}") from error
    return 0


cdef class Maze(RoboticsEnv):
    """Base of the mazes.

    Observation: float64 `observation`, of the robot; `achieved_goal`, `desired_goal` (2,): x and y.
    Reward: 1 within 45 cm of the goal, else 0; "dense": exp(-distance).
    Terminated: At the goal, without `continuing_task`; else never.
    """
    cdef double scale, height            # of a cell, and of the goal's site
    cdef double least                    # how far a start is from the goal
    cdef bint is_v3, continuing_task, reset_target
    cdef vector[double] goals, starts    # x, y
    cdef vector[double] given_goal, given_start  # what the next reset begins with instead; empty: draws
    cdef int target                      # a site
    cdef int success                     # its place in the info; -1: it has none

    def __init__(self, spec, env_id, robot, version, frame_skip):
        cdef Model model = load_maze(robot, spec.options["maze_map"], version == 3, spec.options.get("xml_file"))
        goals, starts = _mazes[model]
        # a model that is not the package's reads and writes elsewhere
        if model.mj.nq < 2 or robot == "point" and (model.mj.nq != 2 or model.mj.nv != 2):
            raise ValueError(f"{model.path}: expected {'two joints' if robot == 'point' else 'a place in the plane'}, "
                             f"got {model.mj.nq} positions and {model.mj.nv} velocities")
        super().__init__(spec, env_id, model, None, frame_skip)
        self.is_v3 = version == 3
        self.scale, height = ROBOTS[robot]
        self.height = height / 2 * self.scale
        self.least = 0.5 if self.is_v3 else 0.5 * self.scale
        self.continuing_task, self.reset_target = spec.options["continuing_task"], spec.options["reset_target"]
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
                    raise RuntimeError(f"expected another goal, found none in {MAZE_MOST_ATTEMPTS} attempts")
                attempts += 1
                self.draw_goal()
        return 0

    cdef int draw(self, unsigned char* out) except -1 nogil:
        cdef double* place = self.data.site_xpos + 3 * self.target
        # a site of the world, that nothing else depends on
        memcpy(place, self.desired_goal.data(), 2 * sizeof(double))
        place[2] = self.height
        return self.camera.render_into(self.model, self.data, out)


cdef class PointMaze(Maze):
    """A ball in a maze.

    Follows `gymnasium_robotics.envs.maze.point_maze` 1.4.2.

    Observation: As `Maze`; `observation` (4,): place and velocity.
    Action: float32 (2,) in [-1, 1]: the force.
    Reward, Terminated: As `Maze`.
    Info: `success` bool.
    """

    @staticmethod
    def describe(maze_map=U_MAZE, continuing_task=True, reset_target=False, **common):
        """Returns the spec.

        Args:
            maze_map: Rows of cells: 1 is a wall, 0 is empty, "g" is for goals, "r" for starts, "c" for both.
            continuing_task: Whether an episode continues at the goal.
            reset_target: Whether there is then another goal.
            **common: See `RoboticsEnv.describe`.
        """
        return describe_maze(
            "point", 4, maze_map, continuing_task, reset_target, obs_size=4, num_actions=2, info={"success": "bool"},
            frame_skip=1, camera=lambda rows: {"distance": 12.5 if len(rows) > 8 else 8.8}, options={}, common=common)

    def __init__(self, spec, env_id):
        super().__init__(spec, env_id, "point", 4, 1)

    cdef int step_robot(self, const void* action) except -1 nogil:
        cdef double[2] force = [self.element(action, 0), self.element(action, 1)]
        cdef int64_t k
        for k in range(self.model.nv):
            self.data.qvel[k] = clip(self.data.qvel[k], -5.0, 5.0)
        self.info[1] += guard.forward_and_step(self.model, self.data, force)
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

    cdef int run(self, const void* action) except -1 nogil:
        """Applies the action; info contains the velocity."""
        cdef const double* position = self.data.xpos + 3 * self.torso
        cdef double x = position[0], y = position[1]
        self.set_controls(action)
        self.info[self.info.size() - 1] += guard.simulate(self.model, self.data, self.frame_skip, self.first_force >= 0)
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
        if first >= 0:
            obs.put(self.forces.data() + first, self.forces.size() - first)
        return 0


def check_ant(weights, bools, ranges):
    """Returns options of an ant, checked."""
    options = {name: check_float(name, value, -np.inf, np.inf) for name, value in weights.items()}
    options |= {name: check_bool(name, value) for name, value in bools.items()}
    for name, value in ranges.items():
        if not isinstance(value, (tuple, list, np.ndarray)) or len(value) != 2:
            raise TypeError(f"{name}: expected two numbers, got {shown(value)}")
        options[name] = tuple(check_float(name, number, -np.inf, np.inf) for number in value)
    return options


cdef class AntMaze(_AntMaze):
    """An ant in a maze.

    Follows `gymnasium_robotics.envs.maze.ant_maze_v5` 1.4.2. The ant's own reward and end do not count, but infos have
    the reward's parts.

    Observation: As `Maze`; `observation` (105,): positions of ball and joints, but for x and y; velocities; contact
        forces on each body but the world, clipped.
    Action: float32 (8,) in [-1, 1]: the torques.
    Reward, Terminated: As `Maze`.
    Info: Those of Gymnasium's `Ant-v5`, and `success` bool.
    """
    cdef double forward_reward_weight

    @staticmethod
    def describe(maze_map=U_MAZE, continuing_task=True, reset_target=False, xml_file=None, frame_skip=5,
                 forward_reward_weight=1.0, ctrl_cost_weight=0.5, contact_cost_weight=5e-4, healthy_reward=1.0,
                 main_body=1, terminate_when_unhealthy=True, healthy_z_range=(0.2, 1.0),
                 contact_force_range=(-1.0, 1.0), include_cfrc_ext_in_observation=True, **common):
        """Returns the spec.

        Args:
            maze_map, continuing_task, reset_target: As `PointMaze.describe`.
            xml_file: The robot: a path, or the name of one of Gymnasium's files; None: Gymnasium's ant.
            others: As Gymnasium's `Ant-v5`.
        """
        options = check_ant(
            {"forward_reward_weight": forward_reward_weight, "ctrl_cost_weight": ctrl_cost_weight,
             "contact_cost_weight": contact_cost_weight, "healthy_reward": healthy_reward},
            {"terminate_when_unhealthy": terminate_when_unhealthy,
             "include_cfrc_ext_in_observation": include_cfrc_ext_in_observation},
            {"healthy_z_range": healthy_z_range, "contact_force_range": contact_force_range})
        options["frame_skip"] = check_int("frame_skip", frame_skip, 1, 1_000_000)
        options["xml_file"] = xml_file
        options["main_body"] = main_body if isinstance(main_body, str) else check_int("main_body", main_body, 0, 10**9)
        info = dict.fromkeys(INFO, "float64")
        info |= {"reward_ctrl": common.get("action_dtype", "float32"), "reward_contact": "float64", "success": "bool"}
        return describe_maze(
            "ant", 5, maze_map, continuing_task, reset_target, obs_size=None, num_actions=None, info=info,
            frame_skip=frame_skip, camera=lambda rows: {"distance": 4.0}, options=options,
            common=common)

    def __init__(self, spec, env_id):
        if spec.options["xml_file"] is not None:
            # the file may be another one by now, and nobody checks sizes later
            now = type(self).describe(**spec.options)
            if (now.observation, now.action, now.info) != (spec.observation, spec.action, spec.info):
                raise ValueError(f"xml_file: {spec.options['xml_file']} has changed since it was described")
        super().__init__(spec, env_id, 5, spec.options["frame_skip"])
        self.torso = self.loaded.body(spec.options["main_body"])
        self.forward_reward_weight = spec.options["forward_reward_weight"]
        # infos have their cost, whatever is observed
        self.first_force = 1

    cdef int begin_episode(self) except -1 nogil:
        Maze.begin_episode(self)
        self.clip_forces()
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

    cdef int get_obs(self, ObsWriter* obs) except -1 nogil:
        obs.put(self.data.qpos + 2, self.model.nq - 2)
        obs.put(self.data.qvel, self.model.nv)
        if obs.left() > 0:
            obs.put(self.forces.data() + 6, self.forces.size() - 6)
        return 0


cdef class AntMazeV4(_AntMaze):
    """The same ant, as it was before.

    Follows `gymnasium_robotics.envs.maze.ant_maze_v4` 1.4.2.

    Observation: As `AntMaze`; `observation` (27,), without contact forces; (111,) with those of all bodies if
        `use_contact_forces`.
    Action, Reward, Terminated: As `AntMaze`.
    Info: Those of Gymnasium's `Ant-v4`, and `success` bool.
    """
    cdef bint use_contact_forces

    @staticmethod
    def describe(maze_map=U_MAZE, continuing_task=True, reset_target=False, ctrl_cost_weight=0.5,
                 use_contact_forces=False, contact_cost_weight=5e-4, healthy_reward=1.0, terminate_when_unhealthy=True,
                 healthy_z_range=(0.2, 1.0), contact_force_range=(-1.0, 1.0), **common):
        """Returns the spec.

        Args:
            maze_map, continuing_task, reset_target: As `PointMaze.describe`.
            others: As Gymnasium's `Ant-v4`.
        """
        return AntMazeV4._describe(4, maze_map, continuing_task, reset_target, ctrl_cost_weight, use_contact_forces,
                                   contact_cost_weight, healthy_reward, terminate_when_unhealthy, healthy_z_range,
                                   contact_force_range, common)

    @staticmethod
    def _describe(version, maze_map, continuing_task, reset_target, ctrl_cost_weight, use_contact_forces,
                  contact_cost_weight, healthy_reward, terminate_when_unhealthy, healthy_z_range, contact_force_range,
                  common):
        """Returns the spec of this version, or of an older one."""
        options = check_ant(
            {"ctrl_cost_weight": ctrl_cost_weight, "contact_cost_weight": contact_cost_weight,
             "healthy_reward": healthy_reward},
            {"terminate_when_unhealthy": terminate_when_unhealthy, "use_contact_forces": use_contact_forces},
            {"healthy_z_range": healthy_z_range, "contact_force_range": contact_force_range})
        kind = "float64" if use_contact_forces else common.get("action_dtype", "float32")
        info = dict.fromkeys(INFO, "float64") | {"reward_ctrl": kind, "forward_reward": "float64"}
        if version != 3:
            info["success"] = "bool"
        return describe_maze(
            "ant", version, maze_map, continuing_task, reset_target, obs_size=27 + 84 * use_contact_forces,
            num_actions=8, info=info, frame_skip=5, camera=lambda rows: {"distance": 4.0}, options=options,
            common=common)

    def __init__(self, spec, env_id, version=4):
        super().__init__(spec, env_id, version, 5)
        self.torso = self.body("torso")
        self.use_contact_forces = spec.options["use_contact_forces"]
        self.first_force = 0 if self.use_contact_forces else -1

    cdef int begin_episode(self) except -1 nogil:
        Maze.begin_episode(self)
        self.clip_forces()
        return 0

    cdef int step_robot(self, const void* action) except -1 nogil:
        self.run(action)
        self.write_position_info(self.data.xpos + 3 * self.torso)
        self.info[REWARD_FORWARD] = self.info[FORWARD_REWARD] = self.info[X_VELOCITY]
        self.info[REWARD_CTRL] = -self.contact_cost() if self.use_contact_forces else -self.control_cost(action)
        self.info[REWARD_SURVIVE] = (self.is_healthy() or self.terminate_when_unhealthy) * self.healthy_reward
        return 0


cdef class AntMazeV3(AntMazeV4):
    """The same, and a goal that is reached is replaced before the reward.

    Follows `gymnasium_robotics.envs.maze.ant_maze_v3` 1.4.2.

    Observation, Action: As `AntMazeV4`.
    Reward: As `Maze`, of the next goal when one is reached.
    Terminated: As `Maze`.
    Info: Those of Gymnasium's `Ant-v4`.
    """

    @staticmethod
    def describe(maze_map=U_MAZE, continuing_task=True, reset_target=False, ctrl_cost_weight=0.5,
                 use_contact_forces=False, contact_cost_weight=5e-4, healthy_reward=1.0, terminate_when_unhealthy=True,
                 healthy_z_range=(0.2, 1.0), contact_force_range=(-1.0, 1.0), **common):
        """Returns the spec.

        Args:
            reset_target: Ignored; the reference has no such option.
            others: As `AntMazeV4.describe`.
        """
        return AntMazeV4._describe(3, maze_map, continuing_task, reset_target, ctrl_cost_weight, use_contact_forces,
                                   contact_cost_weight, healthy_reward, terminate_when_unhealthy, healthy_z_range,
                                   contact_force_range, common)

    def __init__(self, spec, env_id):
        super().__init__(spec, env_id, 3)
