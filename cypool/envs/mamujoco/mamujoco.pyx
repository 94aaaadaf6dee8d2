"""MaMuJoCo: MuJoCo's robots, cut into agents."""
from cypool.envs.mamujoco import specs
from cypool.envs.mujoco import mujoco

from cpython.ref cimport PyObject
from libc.math cimport NAN
from libc.stdint cimport uint32_t
from libcpp.memory cimport make_shared, shared_ptr
from libcpp.vector cimport vector

from cypool.env cimport Env, Rows, Slot, obs_row
from cypool.envs.common.numpy_math cimport clip, cos, sin
from cypool.envs.mujoco.mujoco cimport EnvList, MujocoEnv
from cypool.envs.mujoco_common.libmujoco cimport mjData
from cypool.envs.mujoco_lanes.mujoco_lanes cimport READS_CONTACT_FORCES, READS_POSITIONS

include "coupled_half_cheetah.pxi"

cdef enum How:
    COPY
    CLIP
    SIN
    COS
    SUBTRACT

# a number of an observation; the pointers are into MuJoCo's data, whose arrays stay where they are
cdef struct Entry:
    const double* value
    const double* less
    double limit
    How how

# with the same spaces: an entry for each number that one of them sees, agent after agent
ctypedef vector[Entry] Seen

# what those of a division are
_HOW = {"copy": COPY, "clip": CLIP, "sin": SIN, "cos": COS}
# of the last spec, which all environments of a pool have. One name, as several threads may set it at once
_latest = None, None


cdef object _division(object scenario, object spec):
    global _latest
    known, division = _latest
    if known is not spec:
        division = specs.division_of(scenario, dict(spec.options))
        _latest = spec, division
    return division


cdef class MaMujoco(Env):
    """Base of the environments, which own a robot.

    Follows gymnasium-robotics 1.4.2: the same seed and actions give the same bits.
    """
    cdef MujocoEnv robot
    cdef vector[Seen] groups
    cdef vector[int] motors                 # of each number of the agents' actions
    cdef vector[double] joined              # the robot's action
    cdef bint is_cut                        # else a single agent is the robot
    cdef bint has_tendon                    # whether the robot is a CoupledHalfCheetahRobot
    cdef bint in_lanes                      # whether lanes write all that is seen
    # of the pool: its environments, and the robots' actions, for lanes
    cdef shared_ptr[EnvList] pool
    cdef shared_ptr[vector[double]] pool_actions

    scenario = None

    def __init__(self, spec, env_id):
        division = _division(self.scenario, spec)
        # of the two modules
        cls = getattr(mujoco, self.scenario.robot, CoupledHalfCheetahRobot)
        self.robot = cls(division.robot, env_id)
        self.is_cut = division.agents is not None
        self.has_tendon = isinstance(self.robot, CoupledHalfCheetahRobot)
        self.in_lanes = True
        if not self.is_cut:
            return
        self.joined.resize(self.robot.model.nu)
        for members in division.groups.values():
            self.groups.push_back(Seen())
            for k in members:
                for entry in division.agents[k].entries:
                    self.groups.back().push_back(self._entry(entry))
                for motor in division.agents[k].motors:
                    self.motors.push_back(motor)

    cdef Entry _entry(self, object given) except *:
        cdef Entry entry
        cdef const double* field = field_of(self.robot, given.field)
        entry.how, entry.limit = _HOW[given.how], given.limit
        entry.less = NULL
        entry.value = field + <int>given.place
        if given.field == "xpos":
            entry.value += 3 * self.robot.loaded.body(given.body)
            if given.less:
                entry.how, entry.less = SUBTRACT, field + 3 * self.robot.loaded.body(given.less) + <int>given.place
        if given.field == "cfrc_ext":
            self.robot.contact_forces = True
        reads = {"xpos": READS_POSITIONS, "cfrc_ext": READS_CONTACT_FORCES}.get(given.field)
        if given.field not in ("qpos", "qvel") and (reads is None or self.robot.reads < 0
                                                    or not self.robot.reads & <int>reads):
            self.in_lanes = False
        return entry

    cdef void join(self, const float* actions, double* joined) noexcept nogil:
        cdef size_t k
        for k in range(self.motors.size()):
            joined[self.motors[k]] = actions[k]

    cdef void lend(self) noexcept nogil:
        """Gives the robot what the engine keeps."""
        self.robot.elapsed_step, self.robot.needs_reset = self.elapsed_step, self.needs_reset
        self.robot.reset_requested, self.robot.observe_only = self.reset_requested, self.observe_only
        self.robot.reward, self.robot.raw_reward = 0, NAN
        self.robot.terminated = self.robot.truncated = False

    cdef int reset(self) except -1 nogil:
        self.lend()
        self.robot.reset()
        return 0

    cdef int step(self, const void* action) except -1 nogil:
        cdef uint32_t k
        self.lend()
        if self.is_cut:
            self.join(<const float*>action, self.joined.data())
            action = self.joined.data()
        self.robot.step(action)
        self.reward = self.robot.reward
        for k in range(self.agents.count):
            self.agents.reward[k] = self.reward
        self.terminated, self.truncated = self.robot.terminated, self.robot.truncated
        return 0

    cdef int observe(self, const Slot* out) except -1 nogil:
        cdef Slot infos
        cdef size_t g
        if self.has_tendon:
            # another state may have been loaded
            (<CoupledHalfCheetahRobot>self.robot).read_jacobian()
        # the first is the state
        infos.info = out.info + 1
        self.robot.write_infos(&infos)
        self.robot.write_numbers(0, self.robot.obs_size, out.info[0])
        if not self.is_cut:
            self.robot.write_numbers(0, self.robot.obs_size, out.obs[0])
        for g in range(self.groups.size()):
            write_entries(self.groups[g], obs_row[double](out, <int>g))
        return 0

    cdef bint prepare_pool(self, list envs) except -1:
        cdef MaMujoco env
        if not self.in_lanes or any(type(each) is not type(self) or each.spec.options != self.spec.options
                                    for each in envs):
            return False
        robots = []
        for env in envs:
            robots.append(env.robot)
        if not self.robot.prepare_pool(robots):
            return False
        cdef shared_ptr[EnvList] pool = make_shared[EnvList]()
        self.pool_actions = make_shared[vector[double]](<size_t>len(envs) * self.joined.size())
        for env in envs:
            pool.get().push_back(<PyObject*>env)
            env.pool, env.pool_actions = pool, self.pool_actions
        return True

    cdef int step_many(self, const Rows* rows) except -1 nogil:
        # the robots' lanes simulate; then the engine calls `step` for each
        cdef Rows joined = rows[0]
        cdef double* actions = self.pool_actions.get().data()
        cdef size_t count = self.motors.size(), id
        cdef PyObject* env
        cdef uint32_t k
        for k in range(rows.count):
            id = <size_t>rows.ids[k]
            env = self.pool.get()[0][id]
            (<MaMujoco>env).lend()
            if self.is_cut:
                self.join(<const float*>rows.actions + id * count, actions + id * count)
        if self.is_cut:
            joined.actions = <const char*>actions
        return self.robot.step_many(&joined)

    cdef int seed(self, object seed) except -1:
        Env.seed(self, seed)
        self.robot._bit_generator, self.robot.rng = self._bit_generator, self.rng
        return 0

    cdef object save(self):
        return self.robot.save()

    cdef int load(self, object state) except -1:
        return self.robot.load(state)

    cdef int copy_from(self, Env other) except -1 nogil:
        return self.robot.copy_from((<MaMujoco>other).robot)

    cdef object render(self):
        return self.robot.render()


cdef const double* field_of(MujocoEnv robot, object name) except NULL:
    cdef mjData* data = robot.data
    if name == "qpos":
        return data.qpos
    if name == "qvel":
        return data.qvel
    if name == "qfrc_actuator":
        return data.qfrc_actuator
    if name == "cinert":
        return data.cinert
    if name == "cvel":
        return data.cvel
    if name == "cfrc_ext":
        return data.cfrc_ext
    if name == "xpos":
        return data.xpos
    if name == "ten_length":
        return data.ten_length
    if name == "ten_velocity":
        return data.ten_velocity
    return (<CoupledHalfCheetahRobot?>robot).jacobian.data()


cdef void write_entries(const Seen& entries, double* out) noexcept nogil:
    cdef size_t k
    for k in range(entries.size()):
        if entries[k].how == COPY:
            out[k] = entries[k].value[0]
        elif entries[k].how == CLIP:
            out[k] = clip(entries[k].value[0], -entries[k].limit, entries[k].limit)
        elif entries[k].how == SIN:
            out[k] = sin(entries[k].value[0])
        elif entries[k].how == COS:
            out[k] = cos(entries[k].value[0])
        else:
            out[k] = entries[k].value[0] - entries[k].less[0]


for _scenario in specs.SCENARIOS.values():
    globals()[_scenario.name] = type(_scenario.name, (MaMujoco,), {
        "__doc__": _scenario.text, "__module__": __name__, "scenario": _scenario,
        "describe": staticmethod(specs.describes_scenario(_scenario))})
