# Franka's kitchen: an arm among things that are to be opened, turned and moved.
import math

from cypool.envs.robotics import specs
from cypool.envs.robotics.models import kitchen_limits
from cypool.envs.robotics.tables import KITCHEN_QPOS, KITCHEN_TASKS
from cypool.state import check_state
from cypool.util.arguments import shown

from libc.string cimport memcpy
from libcpp.vector cimport vector

from cypool.envs.shared.numerics.numpy_math cimport clip
from cypool.envs.shared.mujoco.mujoco_common cimport Model
from cypool.envs.shared.mujoco.obs_writer cimport ObsWriter
from cypool.envs.shared.lanes.record cimport NO_OUTPUTS

cdef double KITCHEN_NEAR = 0.3
cdef enum:
    ROBOT = 9                            # joints of the robot
    # in `episode`, behind the last observed positions of the robot: tasks as bits
    TODO = ROBOT
    DONE
    EPISODE


cdef class FrankaKitchen(RoboticsEnv):
    """An arm performs up to seven tasks in a kitchen.

    Follows `gymnasium_robotics.envs.franka_kitchen.kitchen_env` 1.4.2.

    Observation: float64 `observation` (59,): positions and velocities of the robot, then of objects, with noise;
        `achieved_goal`, `desired_goal` (17,): the positions that count, without noise, task by task in the order of
        `tasks_to_complete`.
    Action: float64 (9,) in [-1, 1]: velocities of the joints.
    Reward: The number of tasks completed in this step.
    Terminated: When all tasks are completed, with `terminate_on_tasks_completed`.
    Info: `tasks_to_complete`, `step_task_completions`, `episode_task_completions`: int32 with a bit for each task: bit
        k for the k-th task in `TASKS`.
    """
    describe = staticmethod(specs.franka_kitchen(load_robot))

    cdef vector[int] tasks               # as numbers of `TASKS`
    cdef int[7] firsts, counts
    cdef double[17] wanted
    cdef int chosen                      # bits
    cdef bint terminates, removes
    cdef double robot_noise, object_noise
    cdef double[29] pos_amplitude, vel_amplitude
    cdef double[18] pos_bound, vel_bound
    cdef vector[double] noisy            # as observed

    def __init__(self, spec, env_id):
        options = spec.options
        cdef Model model = load_robot(specs.KITCHEN)
        cdef int k
        super().__init__(spec, env_id, model, (0.0, KITCHEN_QPOS, (0.0,) * 29), specs.KITCHEN_FRAME_SKIP)
        self.reads = NO_OUTPUTS
        names = list(KITCHEN_TASKS)
        for task in options["tasks_to_complete"]:
            k = names.index(task)
            self.tasks.push_back(k)
            self.chosen |= 1 << k
        self.goal = [number for task in options["tasks_to_complete"] for number in KITCHEN_TASKS[task][1]]
        self.desired_goal = self.goal
        self.firsts = [first for first, _ in KITCHEN_TASKS.values()]
        self.counts = [len(goal) for _, goal in KITCHEN_TASKS.values()]
        self.terminates = options["terminate_on_tasks_completed"]
        self.removes = options["remove_task_when_completed"]
        self.robot_noise, self.object_noise = options["robot_noise_ratio"], options["object_noise_ratio"]
        limits = kitchen_limits()
        self.pos_amplitude = limits["pos_noise_amp"]
        self.vel_amplitude = limits["vel_noise_amp"]
        self.pos_bound = limits["pos_bound"][:18]
        self.vel_bound = limits["vel_bound"][:18]
        self.episode.assign(EPISODE, 0.0)
        self.noisy.resize(59)

    cdef int begin_episode(self) except -1 nogil:
        self.reset_data()
        self.set_initial()
        self.forward()
        self.episode[TODO], self.episode[DONE] = self.chosen, 0
        self.observe_noisily()
        self.tell(0)
        return 0

    cdef void set_inputs(self, const void* action) noexcept nogil:
        cdef double velocity
        cdef int k
        for k in range(ROBOT):
            velocity = clip(0.0 + self.element(action, k) * 2.0, self.vel_bound[2 * k], self.vel_bound[2 * k + 1])
            # from where it was observed, with noise
            self.data.ctrl[k] = clip(self.episode[k] + velocity * self.dt, self.pos_bound[2 * k],
                                     self.pos_bound[2 * k + 1])

    cdef int step_robot(self, const void* action) except -1 nogil:
        cdef int completed = 0, todo = <int>self.episode[TODO], k
        cdef size_t t, first = 0
        self.set_inputs(action)
        self.simulate()
        self.observe_noisily()
        for t in range(self.tasks.size()):
            k = self.tasks[t]
            if todo >> k & 1 and distance_blas(self.achieved_goal.data() + first, self.goal.data() + first,
                                               self.counts[k]) < KITCHEN_NEAR:
                completed |= 1 << k
                self.reward += 1
            first += self.counts[k]
        if self.removes:
            self.episode[TODO] = todo & ~completed
        self.episode[DONE] = <int>self.episode[DONE] | completed
        self.terminated = self.terminates and self.episode[DONE] == self.chosen
        self.tell(completed)
        return 0

    cdef void tell(self, int completed) noexcept nogil:
        self.info[0], self.info[1], self.info[2] = self.episode[TODO], completed, self.episode[DONE]

    cdef void observe_noisily(self) noexcept nogil:
        """Observes with noise, but goals without."""
        cdef double* out = self.noisy.data()
        cdef size_t t, first = 0
        cdef int k
        self.add_noise(out, self.data.qpos, ROBOT, self.robot_noise, self.pos_amplitude)
        self.add_noise(out + 9, self.data.qvel, ROBOT, self.robot_noise, self.vel_amplitude)
        # the reference's amplitudes of positions are those of the thing before
        self.add_noise(out + 18, self.data.qpos + 9, 21, self.object_noise, self.pos_amplitude + 8)
        self.add_noise(out + 39, self.data.qvel + 9, 20, self.object_noise, self.vel_amplitude + 9)
        memcpy(self.episode.data(), out, ROBOT * sizeof(double))
        for t in range(self.tasks.size()):
            k = self.tasks[t]
            memcpy(self.achieved_goal.data() + first, self.data.qpos + self.firsts[k], self.counts[k] * sizeof(double))
            first += self.counts[k]

    cdef void add_noise(self, double* out, const double* x, int n, double ratio,
                        const double* amplitude) noexcept nogil:
        cdef int k
        for k in range(n):
            out[k] = x[k] + ratio * amplitude[k] * self.uniform(-1.0, 1.0)

    cdef int get_obs(self, ObsWriter* obs) except -1 nogil:
        obs.put(self.noisy.data(), self.noisy.size())
        return 0

    cdef object check_episode(self, object values):
        values = check_state(values, *[float] * ROBOT, (0.0, 127.0), (0.0, 127.0))
        for bits in values[TODO:]:
            if not math.isfinite(bits) or bits != int(bits) or int(bits) & ~self.chosen:
                raise ValueError(f"state: expected task bits, got {shown(bits)}")
        return values
