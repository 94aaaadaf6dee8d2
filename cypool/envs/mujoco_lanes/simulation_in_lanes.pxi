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
        # a class outside may do anything; with one spec, all environments have one model and as many of its steps
        if (self.reads == READS_UNKNOWN or self.spec.options["physics"] != "lanes" or self.model != self.loaded.mj
                or self.from_pixels or self.camera.sees_contacts or len(envs) < FEW
                or any(each.spec is not self.spec for each in envs)
                or not type(self).__module__.startswith("cypool.envs.")):
            return False
        lanes = lanes_of(self.loaded)
        if lanes is None:
            return False
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
            differing = record_of(self).repeat()
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
