# The base class of environments that lanes may step. The `.pxd` lists what a subclass has, and what it calls.
import math

from cpython.object cimport PyObject
from libc.stdint cimport uint32_t
from libc.string cimport memcmp
from libcpp.memory cimport make_shared, shared_ptr
from libcpp.string cimport string

from cypool.env cimport Rows
from cypool.envs.shared.mujoco.mujoco_common cimport Simulation
from cypool.envs.shared.lanes.record cimport (ACTUATOR_FORCE, CFRC_EXT, CINERT, CVEL, QFRC_ACTUATOR, QFRC_CONSTRAINT,
                                              SENSED_FORCES, SENSED_MOTION, SITE_XPOS, TEN_LENGTH, TEN_VELOCITY,
                                              XIPOS, XMAT, XPOS, XQUAT, Record)

cdef enum:
    MANY = 64                            # environments that lanes step at once
    CHECK_EVERY = 997                    # of MuJoCo's steps in lanes, mj_step repeats one


# fields of mjData that lanes write, next to positions and velocities of joints
FIELDS = {"xpos": 1 << XPOS, "xquat": 1 << XQUAT, "xmat": 1 << XMAT, "xipos": 1 << XIPOS, "cinert": 1 << CINERT,
          "cvel": 1 << CVEL, "cfrc_ext": 1 << CFRC_EXT, "qfrc_actuator": 1 << QFRC_ACTUATOR,
          "qfrc_constraint": 1 << QFRC_CONSTRAINT, "site_xpos": 1 << SITE_XPOS, "ten_length": 1 << TEN_LENGTH,
          "ten_velocity": 1 << TEN_VELOCITY, "actuator_force": 1 << ACTUATOR_FORCE,
          "sensordata": 1 << SENSED_MOTION | 1 << SENSED_FORCES}


cdef class SimulationInLanes(Simulation):
    """Base of families with environments that can step in lanes.

    Lanes step all environments of a call first; each then picks up its result in its own `step`, where it would
    otherwise simulate.
    """

    prepares_steps = True

    def __dealloc__(self):
        cdef Record* record = record_of(self)
        del record

    cdef object why_pool_cannot(self, list envs):
        """Returns why lanes do not step these environments; None if they do."""
        cdef SimulationInLanes env
        why = self.why_mj_step()
        if why is None and len(envs) < (<Lanes>make_lanes(self.loaded)).engine.fewest():
            return "with the PGS solver or elliptic cones, a single environment takes longer in lanes"
        for each in envs:
            if why is None and each.spec is not self.spec:
                if type(each) is not type(self):
                    return "the environments have different classes"
                env = each
                # others may take long to compare
                why = env.why_mj_step() if env.loaded is self.loaded else None
                if why is None and (env.loaded is not self.loaded or env.reads != self.reads
                                    or (env.model == env.loaded.mj) != (self.model == self.loaded.mj)
                                    or env.num_mj_steps != self.num_mj_steps
                                    or env.ends_with_step1 != self.ends_with_step1):
                    why = "the environments differ in their model or frame_skip, or only some use randomize"
        return why

    cdef bint prepare_pool(self, list envs) except -1:
        cdef SimulationInLanes env
        self.why_not = self.why_pool_cannot(envs)
        if self.why_not is not None:
            return False
        lanes = make_lanes(self.loaded)
        cdef shared_ptr[EnvList] pool = make_shared[EnvList]()
        for k, env in enumerate(envs):
            pool.get().push_back(<PyObject*>env)
            env.pool = pool
            env.lanes, env.reads = lanes, self.reads
            if env.record == NULL:
                env.record = new Record(env.model, env.data, env.reads, env.ends_with_step1)
            env.action_bytes = math.prod(env.spec.action.shape) * env.spec.action.dtype.itemsize
            # not all at once
            env.until_check = 1 + 131 * k % CHECK_EVERY
        return True

    cdef object why_mj_step(self):
        if self.spec.options.get("physics") == "mj_step":
            return 'physics="mj_step"'
        if not type(self).__module__.startswith("cypool.envs."):
            # those of a base class are not all that this one reads
            fields = vars(type(self)).get("read_fields")
            if fields is None:
                return f"{type(self).__name__} has no read_fields, the names of the mjData fields that it reads"
            if not isinstance(fields, tuple) or not set(fields) <= FIELDS.keys():
                return f"lanes only compute {', '.join(FIELDS)}, but {type(self).__name__}.read_fields is {fields!r}"
            self.reads = 0
            for name in fields:
                self.reads |= <int>FIELDS[name]
        if self.reads == READS_UNKNOWN:
            return "lanes do not compute everything that the environment reads"
        if self.reads & 1 << SENSED_MOTION and not knows_all_sensors(self.loaded.mj):
            return "lanes do not support all sensors of the robot"
        if self.model != self.loaded.mj:
            randomize = self.spec.options["randomize"] or ()
            if not randomize and not self.keeps_model and not self.writes_model:
                return "the environment changes its model"
            for name in randomize:
                name = name.partition(":")[0]
                if not may_vary(name.encode()):
                    return f"randomize varies {name}, but lanes read it from the shared model"
        if self.camera.sees_contacts:
            return "pictures show contacts"
        try:
            self.made = make_lanes(self.loaded)
        except ValueError as error:
            return str(error)
        return None

    @property
    def stepped_by(self):
        """How environments of this pool, or else of this spec, are stepped: see `stepped_by` of pools."""
        why = self.why_not
        if self.lanes is None and why is None:
            why = self.why_mj_step()
        elif self.lanes is not None and not (<Lanes>self.lanes).is_usable():
            why = "lanes differed from mj_step, or a MuJoCo callback is set"
        if why is not None:
            return f"mj_step: {why}"
        text = "lanes"
        if (<Lanes>make_lanes(self.loaded)).engine.fewest() > 1:
            text = "lanes if a thread takes two or more environments at a time, else mj_step"
        cdef PyObject* env
        cdef Record* record
        cdef size_t count = 0
        if self.lanes is not None:
            for env in self.pool.get()[0]:
                record = record_of(<SimulationInLanes>env)
                count += not (record.drawn.empty() and record.written.empty()) and not record.whose_own
        if count:
            text += f"; {count} of {self.pool.get().size()} by mj_step, because lanes do not support their variation"
        return text

    cdef int step_many(self, const Rows* rows) except -1 nogil:
        # lanes simulate; then the engine calls `step` for each, which takes the result
        cdef Record* records[MANY]
        cdef PyObject* env
        cdef int count = 0
        cdef uint32_t k
        cdef bint usable = (<Lanes>self.lanes).is_usable()
        cdef int fewest = (<Lanes>self.lanes).engine.fewest()
        for k in range(rows.count):
            env = self.pool.get()[0][rows.ids[k]]
            if (usable and not (<SimulationInLanes>env).needs_reset and not (<SimulationInLanes>env).observe_only
                    and (<SimulationInLanes>env).knows_model() and record_of(<SimulationInLanes>env).backoff.is_due()):
                (<SimulationInLanes>env).set_inputs(rows.actions + <size_t>rows.ids[k] * self.action_bytes)
                if record_of(<SimulationInLanes>env).prepare():
                    records[count] = record_of(<SimulationInLanes>env)
                    count += 1
            if count >= fewest and (count == MANY or k + 1 == rows.count):
                (<Lanes>self.lanes).step(records, count, self.num_mj_steps)
                count = 0
        return 0

    cdef void set_inputs(self, const void* action) noexcept nogil:
        self.set_controls(action)

    cdef bint knows_model(self) except -1 nogil:
        """Returns whether lanes hold this environment's model values."""
        cdef Record* record = record_of(self)
        cdef size_t count
        cdef bint is_known
        if not self.writes_model and (self.variation is None or self.variation.ranges.empty()):
            return True
        count = self.variation.drawn.size()
        is_known = (record.drawn.size() == count
                    and memcmp(record.drawn.data(), self.variation.drawn.data(), count * sizeof(double)) == 0)
        if self.writes_model and not self.variation.model.has_contents(record.written):
            is_known = False
        if not is_known:
            record.drawn = self.variation.drawn
            (<Lanes>self.lanes).engine.read_own(self.model, record[0])
        return record.whose_own > 0

    cdef bint take_result(self) except -1 nogil:
        if self.record == NULL or not take(record_of(self)[0], self.num_mj_steps):
            return False
        self.until_check -= self.num_mj_steps
        if self.until_check <= 0:
            self.until_check = CHECK_EVERY
            self.materialize()
        return True

    cdef int materialize(self) except -1 nogil:
        cdef string differing
        if self.record != NULL:
            differing = record_of(self).repeat(
                self.lanes is not None and (<Lanes>self.lanes).engine.has_callback())
            if not differing.empty() and self.lanes is not None:
                (<Lanes>self.lanes).report(differing)
        return 0

    cdef void leave_lanes(self) noexcept nogil:
        if self.record != NULL:
            record_of(self).is_ready = record_of(self).is_stale = False

    cdef int copy_lanes(self, SimulationInLanes other) except -1 nogil:
        cdef Record* record = record_of(other)
        if self.record == NULL and record != NULL and record.is_stale:
            self.record = new Record(self.model, self.data, self.reads, self.ends_with_step1)
        self.leave_lanes()
        if self.record != NULL and record != NULL:
            record_of(self).copy_from(record[0])
        return 0

    cdef int draw(self, unsigned char* out) except -1 nogil:
        # MuJoCo draws from all of its data
        self.materialize()
        return Simulation.draw(self, out)

    cdef object render(self):
        self.materialize()
        return Simulation.render(self)

    cdef object save(self):
        self.materialize()
        return Simulation.save(self)


cdef inline Record* record_of(SimulationInLanes env) noexcept nogil:
    return <Record*>env.record
