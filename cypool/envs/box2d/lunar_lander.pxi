# LunarLander: to be landed between two flags.
from cypool.envs.box2d import specs
from cypool.util.arguments import check_bool
from cypool.envs.box2d.pictures import draw_lunar_lander

from libcpp cimport bool as cbool
from libcpp.deque cimport deque
from libcpp.vector cimport vector

from cypool.envs.shared.rules.rules_env cimport Options, Rules, RulesEnv, RulesOf


cdef extern from "cypool/envs/box2d/lunar_lander.h" namespace "cypool::box2d" nogil:
    cdef struct Particle "cypool::box2d::LunarLander::Particle":
        double ttl

    cdef cppclass LanderWorld "cypool::box2d::LunarLander":
        cbool ready() noexcept
        vector[b2Vec2] age_particles() except +
        vector[b2Vec2] outline(int k) except +
        double[11] smooth_y
        deque[Particle] particles

    void set_simd "cypool::box2d::use_simd"(cbool on) noexcept


def use_simd(on):
    """Sets whether worlds and pictures use wide vector instructions, if the CPU has them. The results do not change.

    For tests; call it only while no environment is running.
    """
    set_simd(check_bool("on", on))


cdef class LunarLander(RulesEnv):
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

    cdef Rules* make(self, const Options& options) except NULL:
        return new RulesOf[LanderWorld](options)

    cdef object render(self):
        cdef LanderWorld* world = (<RulesOf[LanderWorld]*>self.rules.get()).get()
        if not world.ready():
            raise RuntimeError("render: expected a reset first")
        cdef vector[b2Vec2] places = world.age_particles()
        # newer flames than the last step's are not there
        particles = [(places[k].x, places[k].y, world.particles[k].ttl) for k in range(places.size())]
        return draw_lunar_lander([world.smooth_y[k] for k in range(11)], particles,
                                 [[(point.x, point.y) for point in world.outline(k)] for k in range(3)])
