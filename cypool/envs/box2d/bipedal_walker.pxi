# BipedalWalker: a robot with two legs that is to walk over rough ground.
from cypool.envs.box2d import specs
from cypool.envs.box2d.pictures import draw_bipedal_walker

from libc.stdint cimport int32_t
from libcpp cimport bool as cbool
from libcpp.vector cimport vector

from cypool.envs.shared.rules.rules_env cimport Options, Rules, RulesEnv, RulesOf


cdef extern from "cypool/envs/box2d/bipedal_walker.h" namespace "cypool::box2d" nogil:
    cdef cppclass BipedalWorld "cypool::box2d::BipedalWalker":
        cbool ready() noexcept
        int num_outlines()
        vector[b2Vec2] outline(int k) except +
        double scroll()
        Point[200] ground
        Point[10][5] clouds
        double[2] ray_from
        Point[10] ray_to
        int32_t renders


cdef class BipedalWalker(RulesEnv):
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

    cdef Rules* make(self, const Options& options) except NULL:
        return new RulesOf[BipedalWorld](options)

    cdef object render(self):
        cdef BipedalWorld* world = (<RulesOf[BipedalWorld]*>self.rules.get()).get()
        if not world.ready():
            raise RuntimeError("render: expected a reset first")
        world.renders = (world.renders + 1) % 100
        return draw_bipedal_walker(
            world.scroll(), [(point.x, point.y) for point in world.ground[:200]],
            [[(world.clouds[k][a].x, world.clouds[k][a].y) for a in range(5)] for k in range(10)],
            world.renders, (world.ray_from[0], world.ray_from[1]),
            [(point.x, point.y) for point in world.ray_to[:10]],
            [[(point.x, point.y) for point in world.outline(k)] for k in range(world.num_outlines())])
