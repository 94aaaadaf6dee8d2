# The base class of environments that lanes may step. The `.pxd` lists what a subclass has, and what it calls.
from cpython.object cimport PyObject
from libc.stdint cimport uint32_t
from libcpp.memory cimport make_shared, shared_ptr
from libcpp.string cimport string

from cypool.env cimport STEP_ALONE, Rows
from cypool.envs.mujoco_common.mujoco_common cimport Simulation
from cypool.envs.mujoco_lanes.record cimport Record

cdef enum:
    MANY = 64                            # environments that lanes step at once
    FEW = 2                              # fewer are quicker with mj_step
    CHECK_EVERY = 997                    # of MuJoCo's steps in lanes, mj_step repeats one


cdef class SimulationInLanes(Simulation):
    """Base of the families some of whose environments step in lanes.

    Lanes step all environments of a call before each takes its result, in its own `step`, where it would simulate.
    """

    def __dealloc__(self):
        cdef Record* record = record_of(self)
        del record

    cdef bint prepare_pool(self, list envs) except -1:
        cdef SimulationInLanes env
        # with one spec, all environments have one model and as many of its steps
        if (len(envs) < FEW or any(each.spec is not self.spec for each in envs)
                or self.why_mj_step() is not None):
            return False
        lanes = make_lanes(self.loaded)
        cdef shared_ptr[EnvList] pool = make_shared[EnvList]()
        for k, env in enumerate(envs):
            pool.get().push_back(<PyObject*>env)
            env.pool = pool
            env.lanes = lanes
            if env.record == NULL:
                env.record = new Record(env.model, env.data, env.reads, env.ends_with_step1)
            # not all at once
            env.until_check = 1 + 131 * k % CHECK_EVERY
        return True

    cdef object why_mj_step(self):
        if self.spec.options.get("physics") == "mj_step":
            return 'physics="mj_step"'
        if not type(self).__module__.startswith("cypool.envs."):
            return "a class outside of cypool may read anything"
        if self.reads == READS_UNKNOWN:
            return "lanes do not have all that the environment reads"
        if self.model != self.loaded.mj:
            return "the model varies"
        if self.from_pixels or self.camera.sees_contacts:
            return "pictures are observed, or show contacts"
        try:
            make_lanes(self.loaded)
        except ValueError as error:
            return str(error)
        return None

    def physics(self):
        """Returns what steps environments of this spec, in words for people."""
        why = self.why_mj_step()
        if why is not None:
            return f"mj_step: {why}"
        return "lanes, where a synchronous pool steps two or more on a thread; else mj_step"

    cdef int step_many(self, const Rows* rows) except -1 nogil:
        # lanes simulate; then the engine calls `step` for each, which takes the result
        cdef Record* records[MANY]
        cdef PyObject* env
        cdef int count = 0
        cdef uint32_t k
        cdef bint usable = (<Lanes>self.lanes).is_usable()
        cdef size_t action_bytes = self.model.nu * (sizeof(float) if self.action_is_single else sizeof(double))
        for k in range(rows.count):
            rows.terminated[k] = STEP_ALONE
            env = self.pool.get()[0][rows.ids[k]]
            if usable and not (<SimulationInLanes>env).needs_reset and not (<SimulationInLanes>env).observe_only:
                (<SimulationInLanes>env).set_controls(rows.actions + <size_t>rows.ids[k] * action_bytes)
                if record_of(<SimulationInLanes>env).prepare():
                    records[count] = record_of(<SimulationInLanes>env)
                    count += 1
            if count >= FEW and (count == MANY or k + 1 == rows.count):
                (<Lanes>self.lanes).step(records, count, self.num_mj_steps)
                count = 0
        return 0

    cdef bint take_result(self) except -1 nogil:
        if self.record == NULL or not record_of(self).take(self.num_mj_steps):
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

    cdef object render(self):
        self.materialize()
        return Simulation.render(self)

    cdef object save(self):
        self.materialize()
        return Simulation.save(self)


cdef inline Record* record_of(SimulationInLanes env) noexcept nogil:
    return <Record*>env.record
