# distutils: extra_compile_args = -O2
"""MaMuJoCo: MuJoCo's robots, split into agents."""
from cypool.envs.mamujoco import specs
from cypool.envs.mujoco import mujoco

from cpython.ref cimport PyObject
from libc.math cimport NAN
from libc.stdint cimport uint32_t
from libcpp.memory cimport make_shared, shared_ptr
from libcpp.vector cimport vector

from cypool.env cimport Env, Rows, Slot, obs_row
from cypool.envs.shared.numerics.numpy_math cimport clip, cos, sin
from cypool.envs.mujoco.mujoco cimport MujocoEnv
from cypool.envs.shared.mujoco.libmujoco cimport mjData
from cypool.envs.shared.mujoco.mujoco_common cimport load_model
from cypool.envs.shared.lanes.mujoco_lanes cimport READS_UNKNOWN, EnvList
from cypool.envs.shared.lanes.record cimport (CFRC_EXT, CINERT, CVEL, QFRC_ACTUATOR, TEN_LENGTH, TEN_VELOCITY, XPOS)

include "coupled_half_cheetah.pxi"

cdef enum How:
    COPY
    CLIP
    SIN
    COS
    SUBTRACT

# fields of MuJoCo's data, in the order of `find_fields`
cdef enum:
    NUM_FIELDS = 10
_FIELDS = ("qpos", "qvel", "qfrc_actuator", "cinert", "cvel", "cfrc_ext", "xpos", "ten_J", "ten_length", "ten_velocity")
# those that lanes write, too, as parts; they write "qpos" and "qvel" in any case
_PARTS = {"qfrc_actuator": QFRC_ACTUATOR, "cinert": CINERT, "cvel": CVEL, "cfrc_ext": CFRC_EXT, "xpos": XPOS,
          "ten_length": TEN_LENGTH, "ten_velocity": TEN_VELOCITY}
_HOW = {"copy": COPY, "clip": CLIP, "sin": SIN, "cos": COS}

# a number of an observation
cdef struct Entry:
    int field, place, less
    How how
    double limit

ctypedef vector[Entry] Seen


cdef class Table:
    """The agents' observations and motors, shared by all environments of a pool."""
    cdef vector[Seen] groups                # an entry for each number that one of a group sees, agent after agent
    cdef vector[int] motors                 # of each number of the agents' actions
    cdef readonly object robot, fields      # the spec of the robot; names of the fields that are seen
    cdef readonly bint is_cut               # else a single agent is the robot

    def __init__(self, division, model):
        cdef Entry entry
        self.robot, self.is_cut, self.fields = division.robot, division.agents is not None, set()
        for members in division.groups.values() if self.is_cut else ():
            self.groups.push_back(Seen())
            for k in members:
                for given in division.agents[k].entries:
                    self.fields.add(given.field)
                    entry.field, entry.place = _FIELDS.index(given.field), given.place
                    entry.how, entry.limit, entry.less = _HOW[given.how], given.limit, 0
                    if given.body:
                        entry.place += 3 * model.body(given.body)
                    if given.less:
                        entry.how, entry.less = SUBTRACT, 3 * model.body(given.less) + given.place
                    self.groups.back().push_back(entry)
                for motor in division.agents[k].motors:
                    self.motors.push_back(motor)


# of the last spec, which all environments of a pool have. One name, as several threads may set it at once
_latest = None, None


cdef Table table_of(object scenario, object spec):
    global _latest
    known, table = _latest
    if known is not spec:
        division = specs.division_of(scenario, dict(spec.options))
        table = Table(division, load_model(division.robot.options["xml_file"]))
        _latest = spec, table
    return table


cdef class MaMujoco(Env):
    """Base of the environments, which own a robot.

    Follows gymnasium-robotics 1.4.2: the same seed and actions give bit-identical results.
    """
    cdef MujocoEnv robot
    cdef Table table
    cdef const double* fields[NUM_FIELDS]   # of MuJoCo's data, whose arrays stay where they are
    cdef vector[double] joined              # the robot's action
    cdef bint is_cut                        # as of `table`
    cdef bint has_tendon                    # whether the robot is a CoupledHalfCheetahRobot
    cdef bint in_lanes                      # whether lanes write all that is seen
    # of the pool: its environments, and the robots' actions, for lanes
    cdef shared_ptr[EnvList] pool
    cdef shared_ptr[vector[double]] pool_actions

    prepares_steps = True

    def __init__(self, spec, env_id):
        scenario = specs.SCENARIOS[type(self).__name__]
        self.table = table_of(scenario, spec)
        # of the two modules
        cls = getattr(mujoco, scenario.robot, CoupledHalfCheetahRobot)
        self.robot = cls(self.table.robot, env_id)
        self.has_tendon = isinstance(self.robot, CoupledHalfCheetahRobot)
        self.is_cut = self.table.is_cut
        self.joined.resize(self.robot.model.nu)
        find_fields(self.robot, self.fields)
        if "cfrc_ext" in self.table.fields:
            self.robot.contact_forces = True
        seen = self.table.fields - {"qpos", "qvel"}
        self.in_lanes = self.robot.reads != READS_UNKNOWN and seen <= _PARTS.keys()
        if self.in_lanes:
            for name in seen:
                self.robot.reads |= 1 << <int>_PARTS[name]

    cdef void join(self, const float* actions, double* joined) noexcept nogil:
        cdef size_t k
        for k in range(self.table.motors.size()):
            joined[self.table.motors[k]] = actions[k]

    cdef void lend(self) noexcept nogil:
        """Gives the robot the engine's counters."""
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
        for g in range(self.table.groups.size()):
            write_entries(self.table.groups[g], self.fields, obs_row[double](out, <int>g))
        return 0

    @property
    def stepped_by(self):
        """How environments of this pool, or else of this spec, are stepped: see `stepped_by` of pools."""
        if not self.in_lanes:
            return "mj_step: lanes do not compute everything that agents observe"
        return self.robot.stepped_by

    cdef bint prepare_pool(self, list envs) except -1:
        cdef MaMujoco env
        if not self.in_lanes:
            return False
        if any(type(each) is not type(self) or each.spec.options != self.spec.options for each in envs):
            self.robot.why_not = "environments have different options"
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
        cdef size_t count = self.joined.size(), id
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


cdef void find_fields(MujocoEnv robot, const double** fields) noexcept:
    cdef mjData* data = robot.data
    fields[0], fields[1], fields[2], fields[3] = data.qpos, data.qvel, data.qfrc_actuator, data.cinert
    fields[4], fields[5], fields[6] = data.cvel, data.cfrc_ext, data.xpos
    fields[7] = (<CoupledHalfCheetahRobot>robot).jacobian.data() if isinstance(robot, CoupledHalfCheetahRobot) else NULL
    fields[8], fields[9] = data.ten_length, data.ten_velocity


cdef void write_entries(const Seen& entries, const double** fields, double* out) noexcept nogil:
    cdef const Entry* entry = entries.data()
    cdef double value
    cdef size_t k
    for k in range(entries.size()):
        value = fields[entry[k].field][entry[k].place]
        if entry[k].how == CLIP:
            value = clip(value, -entry[k].limit, entry[k].limit)
        elif entry[k].how == SIN:
            value = sin(value)
        elif entry[k].how == COS:
            value = cos(value)
        elif entry[k].how == SUBTRACT:
            value -= fields[entry[k].field][entry[k].less]
        out[k] = value


class Ant(MaMujoco):
    __doc__ = specs.SCENARIOS["Ant"].text
    describe = staticmethod(specs.describer("Ant"))


class HalfCheetah(MaMujoco):
    __doc__ = specs.SCENARIOS["HalfCheetah"].text
    describe = staticmethod(specs.describer("HalfCheetah"))


class Hopper(MaMujoco):
    __doc__ = specs.SCENARIOS["Hopper"].text
    describe = staticmethod(specs.describer("Hopper"))


class Humanoid(MaMujoco):
    __doc__ = specs.SCENARIOS["Humanoid"].text
    describe = staticmethod(specs.describer("Humanoid"))


class HumanoidStandup(MaMujoco):
    __doc__ = specs.SCENARIOS["HumanoidStandup"].text
    describe = staticmethod(specs.describer("HumanoidStandup"))


class Walker2d(MaMujoco):
    __doc__ = specs.SCENARIOS["Walker2d"].text
    describe = staticmethod(specs.describer("Walker2d"))


class Reacher(MaMujoco):
    __doc__ = specs.SCENARIOS["Reacher"].text
    describe = staticmethod(specs.describer("Reacher"))


class Swimmer(MaMujoco):
    __doc__ = specs.SCENARIOS["Swimmer"].text
    describe = staticmethod(specs.describer("Swimmer"))


class Pusher(MaMujoco):
    __doc__ = specs.SCENARIOS["Pusher"].text
    describe = staticmethod(specs.describer("Pusher"))


class InvertedPendulum(MaMujoco):
    __doc__ = specs.SCENARIOS["InvertedPendulum"].text
    describe = staticmethod(specs.describer("InvertedPendulum"))


class InvertedDoublePendulum(MaMujoco):
    __doc__ = specs.SCENARIOS["InvertedDoublePendulum"].text
    describe = staticmethod(specs.describer("InvertedDoublePendulum"))


class CoupledHalfCheetah(MaMujoco):
    __doc__ = specs.SCENARIOS["CoupledHalfCheetah"].text
    describe = staticmethod(specs.describer("CoupledHalfCheetah"))


class ManySegmentAnt(MaMujoco):
    __doc__ = specs.SCENARIOS["ManySegmentAnt"].text
    describe = staticmethod(specs.describer("ManySegmentAnt"))


class ManySegmentSwimmer(MaMujoco):
    __doc__ = specs.SCENARIOS["ManySegmentSwimmer"].text
    describe = staticmethod(specs.describer("ManySegmentSwimmer"))
