# CarRacing: a car on a track, seen from above.
import threading

from cypool.envs.box2d import specs
from cypool.envs.box2d.pictures import CarView, draw_car_racing, draw_numbers

from libcpp cimport bool as cbool
from libcpp.deque cimport deque
from libcpp.string cimport string
from libcpp.vector cimport vector

from cypool.envs.shared.rules.rules_env cimport Options, Rules, RulesEnv, RulesOf


cdef extern from "cypool/envs/box2d/car_picture.h" namespace "cypool::box2d" nogil:
    cdef struct Color "cypool::box2d::CarRacing::Color":
        double[3] rgb

    cdef struct Quad "cypool::box2d::CarRacing::Quad":
        Point[4] corners

    cdef struct Skid "cypool::box2d::CarRacing::Skid":
        cbool grass
        vector[Point] points

    cdef struct Wheel "cypool::box2d::CarRacing::Wheel":
        double omega, phase

    cdef struct Pose "cypool::box2d::CarRacing::Pose":
        double x, y, angle, speed, spin, steer

    cdef cppclass CarWorld "cypool::box2d::CarRacing":
        cbool ready() noexcept
        Color background, grass
        vector[Quad] quads
        Color color_of(const Quad& quad)
        deque[Skid] skids
        Wheel[4] wheels
        double time, total
        Pose pose()
        vector[b2Vec2] outline(int wheel, int part) except +

    cdef struct Texts:
        int first, height
        vector[string] levels

    Texts& texts() noexcept
    void add_text(int width, const string& levels) except +

_lock = threading.Lock()


cdef class CarRacing(RulesEnv):
    """Drive a rear-wheel-drive car around a new track in each episode.

    Follows `gymnasium.envs.box2d.CarRacing` of Gymnasium 1.4 with box2d 2.3.10 and pygame-ce: the same seed and actions
    give bit-identical results, including pixels. As in `BipedalWalker`, the world persists across resets, unless
    `fresh_world` is True.

    Observation: uint8 (96, 96, 3): the car from above; at the bottom, the total reward (before this step's -0.1), the
        car's speed, the wheels' speeds, steering and rotation.
    Action: float32 (3,): steering in [-1, 1], gas and brake in [0, 1]; or, without `continuous`, nothing (0), right
        (1), left (2), gas (3) or brake (4).
    Reward: 1000, divided equally among the track's tiles; -0.1 per step; -100 for leaving the field.
    Terminated: When all tiles have been visited, when the car passes the start again after visiting most tiles, or when
        it leaves the field.
    Info: `lap_finished` bool, whether the episode ended with a complete lap.
    """
    describe = staticmethod(specs.car_racing)

    cdef Rules* make(self, const Options& options) except NULL:
        _prepare_texts()
        return new RulesOf[CarWorld](options)

    cdef object render(self):
        cdef CarWorld* world = (<RulesOf[CarWorld]*>self.rules.get()).get()
        if not world.ready():
            raise RuntimeError("render: expected a reset first")
        cdef Pose pose = world.pose()
        view = CarView(time=world.time, x=pose.x, y=pose.y, angle=pose.angle, speed=pose.speed, spin=pose.spin,
                       steer=pose.steer, reward=world.total, omegas=[world.wheels[k].omega for k in range(4)])
        quads = [([(point.x, point.y) for point in quad.corners], _rgb(world.color_of(quad)))
                 for quad in world.quads]
        skids = [((102, 102, 0) if skid.grass else (0, 0, 0), [(point.x, point.y) for point in skid.points])
                 for skid in world.skids]
        # tyres and the marks on them, then the parts of the hull
        shapes = [(color, [(point.x, point.y) for point in world.outline(wheel, part)])
                  for wheel in range(4) for part, color in enumerate(((0, 0, 0), (77, 77, 77)))]
        shapes += [((204, 0, 0), [(point.x, point.y) for point in world.outline(-1, part)]) for part in range(4)]
        return draw_car_racing(view, _rgb(world.background), _rgb(world.grass), quads, skids,
                               [shape for shape in shapes if shape[1]])


cdef tuple _rgb(Color color):
    return int(color.rgb[0]), int(color.rgb[1]), int(color.rgb[2])


def _prepare_texts():
    """Makes pygame draw the numbers that pictures can show, only once."""
    with _lock:
        if texts().levels.empty():
            first, numbers = draw_numbers()
            texts().first = first
            texts().height = len(numbers[0])
            for levels in numbers:
                add_text(levels.shape[1], <bytes>levels.tobytes())
