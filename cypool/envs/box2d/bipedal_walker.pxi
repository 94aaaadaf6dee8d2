# BipedalWalker: a robot with two legs that is to walk over rough ground.
from cypool.envs.box2d import specs
from cypool.envs.box2d.pictures import draw_bipedal_walker

from libc.stdint cimport int32_t
from libc.string cimport memcpy
from libcpp cimport bool as cbool
from libcpp.vector cimport vector

from cypool.env cimport Slot
from cypool.envs.box2d.engine cimport Point, b2Vec2, initialize
from cypool.envs.shared.rules.archived_env cimport Archived, ArchivedEnv
from cypool.random cimport Rng


cdef extern from "cypool/envs/box2d/bipedal_walker.h" namespace "cypool::box2d" nogil:
    cdef cppclass BipedalWorld "cypool::box2d::BipedalWalker":
        BipedalWorld(cbool hardcore, cbool fresh_world) except +
        void reset(const Rng* rng) except +
        void step[Float](const Float* action) except +
        cbool ready() noexcept
        int num_outlines()
        vector[b2Vec2] outline(int k) except +
        double scroll()
        Point[200] ground
        Point[10][5] clouds
        double[2] ray_from
        Point[10] ray_to
        int32_t renders
        float[24] obs
        double reward
        cbool terminated

initialize()


cdef class BipedalWalker(ArchivedEnv):
    """A robot with a hull, two legs, motors at the hips and knees, and ten lidar rays that sense the ground.

    Follows `gymnasium.envs.box2d.BipedalWalker` of Gymnasium 1.4 with box2d 2.3.10: the same seed and actions give
    bit-identical results. As in Gymnasium, Box2D's world persists across resets, so earlier episodes change the last
    bits of later ones, unless `fresh_world` is True; two environments match if all their seeds, actions and resets do.

    Observation: float32 (24,): the hull's angle (rad), its angular velocity, forward and upward velocity; for each leg,
        angle and velocity of hip and knee, and whether it touches the ground, 0 or 1; the lengths of the rays, from 0
        to 1.
    Action: float32 (4,) in [-1, 1]: the torques of hip and knee for each leg.
    Reward: For moving forward (300 in total) and keeping the hull upright, minus 0.028 per motor at full torque; -100
        for a fall.
    Terminated: When the hull touches the ground, or the robot is left of the start or at the far end.
    """
    describe = staticmethod(specs.bipedal_walker)

    cdef Archived[BipedalWorld] world
    cdef bint action_is_single

    def __init__(self, spec, env_id):
        self.action_is_single = spec.options["action_dtype"] == "float32"
        self.world.hold(new BipedalWorld(spec.options["hardcore"], spec.options["fresh_world"]))
        self.archived = &self.world

    cdef int reset(self) except -1 nogil:
        self.world.get().reset(self.rng)
        return 0

    cdef int step(self, const void* action) except -1 nogil:
        cdef BipedalWorld* world = self.world.get()
        if self.action_is_single:
            world.step[float](<const float*>action)
        else:
            world.step[double](<const double*>action)
        self.reward = world.reward
        self.terminated = world.terminated
        return 0

    cdef int observe(self, const Slot* out) except -1 nogil:
        memcpy(out.obs[0], self.world.get().obs, sizeof(self.world.get().obs))
        return 0

    cdef object render(self):
        cdef BipedalWorld* world = self.world.get()
        if not world.ready():
            raise RuntimeError("render: expected a reset first")
        world.renders = (world.renders + 1) % 100
        return draw_bipedal_walker(
            world.scroll(), [(point.x, point.y) for point in world.ground[:200]],
            [[(world.clouds[k][a].x, world.clouds[k][a].y) for a in range(5)] for k in range(10)],
            world.renders, (world.ray_from[0], world.ray_from[1]),
            [(point.x, point.y) for point in world.ray_to[:10]],
            [[(point.x, point.y) for point in world.outline(k)] for k in range(world.num_outlines())])
