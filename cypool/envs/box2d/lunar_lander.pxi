# LunarLander: to be landed between two flags.
from cypool.envs.box2d import specs
from cypool.util.arguments import check_bool
from cypool.envs.box2d.pictures import draw_lunar_lander

from cpython.ref cimport PyObject
from libc.stdint cimport uint32_t
from libc.string cimport memcpy
from libcpp cimport bool as cbool
from libcpp.deque cimport deque
from libcpp.memory cimport make_shared, shared_ptr
from libcpp.vector cimport vector

from cypool.env cimport STEP_ALONE, Rows, Slot
from cypool.envs.box2d.engine cimport b2Vec2, initialize, read_action
from cypool.envs.shared.rules.archived_env cimport Archived, ArchivedEnv
from cypool.random cimport Rng


cdef extern from "cypool/envs/box2d/lunar_lander.h" namespace "cypool::box2d" nogil:
    cdef struct Particle "cypool::box2d::LunarLander::Particle":
        double ttl

    cdef cppclass LanderWorld "cypool::box2d::LunarLander":
        LanderWorld(cbool continuous, double gravity, cbool wind, double wind_power, double turbulence_power) except +
        void reset(const Rng* rng) except +
        void step(const Rng* rng, const double* action) except +
        cbool is_free() noexcept
        @staticmethod
        void step_together(LanderWorld** worlds, const Rng** streams, const double[2]* actions, int count) noexcept
        cbool ready() noexcept
        vector[b2Vec2] age_particles() except +
        vector[b2Vec2] outline(int k) except +
        double[11] smooth_y
        deque[Particle] particles
        float[8] obs
        double reward
        cbool terminated

    void set_simd "cypool::box2d::use_simd"(cbool on) noexcept

cdef extern from "cypool/envs/box2d/lunar_lander.h" namespace "cypool::box2d::lanes" nogil:
    enum: MAX_LANES                       # worlds that are stepped together

initialize()

ctypedef vector[PyObject*] EnvList

cdef enum:
    WORTHWHILE = 2                   # worlds that take less time together than alone


def use_simd(on):
    """Sets whether worlds and pictures use wide vector instructions, if the CPU has them. The results do not change.

    For tests; call it only while no environment is running.
    """
    set_simd(check_bool("on", on))


cdef class LunarLander(ArchivedEnv):
    """After a random push, land a rocket on a pad, using its main engine and two side engines.

    Follows `gymnasium.envs.box2d.LunarLander` of Gymnasium 1.4 with box2d 2.3.10: the same seed and actions give
    bit-identical results.

    Observation: float32 (8,): position relative to the pad, velocity, angle (rad), angular velocity, and for each leg
        whether it touches the ground, 0 or 1. All values except the angle are scaled, as in Gymnasium.
    Action: Nothing (0), left engine (1), main engine (2) or right engine (3); or, with `continuous`, float32 (2,) in
        [-1, 1]: the power of the main engine (off below 0, half at 0), and the power of the left engine (below -0.5) or
        right engine (above 0.5).
    Reward: For getting closer, slower and more upright, and for each leg on the ground; -0.3 per step for the main
        engine and -0.03 for a side engine; -100 for a crash, 100 for coming to rest.
    Terminated: When the body touches the ground, or the rocket is out of sight or at rest.
    """
    describe = staticmethod(specs.lunar_lander)

    cdef Archived[LanderWorld] world
    cdef char action_type
    cdef size_t action_bytes
    cdef shared_ptr[EnvList] pool                # its environments, which it keeps

    def __init__(self, spec, env_id):
        self.action_type = ord(spec.action.dtype.char)
        self.action_bytes = spec.action_bytes
        self.world.hold(new LanderWorld(spec.options["continuous"], spec.options["gravity"],
                                        spec.options["enable_wind"], spec.options["wind_power"],
                                        spec.options["turbulence_power"]))
        self.archived = &self.world

    cdef int reset(self) except -1 nogil:
        self.world.get().reset(self.rng)
        return 0

    cdef int step(self, const void* action) except -1 nogil:
        cdef double[2] numbers
        read_action(self.action_type, action, 2, numbers)
        self.world.get().step(self.rng, numbers)
        self.reward = self.world.get().reward
        self.terminated = self.world.get().terminated
        return 0

    cdef int observe(self, const Slot* out) except -1 nogil:
        memcpy(out.obs[0], self.world.get().obs, sizeof(self.world.get().obs))
        return 0

    cdef bint prepare_pool(self, list envs) except -1:
        cdef LunarLander env
        if any(type(each) is not LunarLander for each in envs):
            return False
        cdef shared_ptr[EnvList] pool = make_shared[EnvList]()
        for env in envs:
            pool.get().push_back(<PyObject*>env)
            env.pool = pool
        return True

    cdef int step_many(self, const Rows* rows) except -1 nogil:
        # those that touch nothing go together
        cdef int places[MAX_LANES]
        cdef LanderWorld* worlds[MAX_LANES]
        cdef const Rng* streams[MAX_LANES]
        cdef double actions[MAX_LANES][2]
        cdef PyObject* env
        cdef int count = 0
        cdef uint32_t k
        for k in range(rows.count):
            env = self.pool.get()[0][rows.ids[k]]
            rows.terminated[k] = STEP_ALONE
            if not (<LunarLander>env).needs_reset and (<LunarLander>env).world.get().is_free():
                read_action(self.action_type, rows.actions + rows.ids[k] * self.action_bytes, 2, actions[count])
                places[count], worlds[count], streams[count] = k, (<LunarLander>env).world.get(), (<LunarLander>env).rng
                count += 1
            if count == MAX_LANES or (k + 1 == rows.count and count >= WORTHWHILE):
                LanderWorld.step_together(worlds, streams, actions, count)
                while count > 0:
                    count -= 1
                    if worlds[count].ready():
                        write_row(worlds[count], rows, places[count])
        return 0

    cdef object render(self):
        cdef LanderWorld* world = self.world.get()
        if not world.ready():
            raise RuntimeError("render: expected a reset first")
        cdef vector[b2Vec2] places = world.age_particles()
        # newer flames than the last step's are not there
        particles = [(places[k].x, places[k].y, world.particles[k].ttl) for k in range(places.size())]
        return draw_lunar_lander([world.smooth_y[k] for k in range(11)], particles,
                                 [[(point.x, point.y) for point in world.outline(k)] for k in range(3)])


cdef void write_row(LanderWorld* world, const Rows* rows, int k) noexcept nogil:
    memcpy(<float*>rows.obs[0] + 8 * k, world.obs, sizeof(world.obs))
    rows.reward[k] = world.reward
    rows.terminated[k] = world.terminated
