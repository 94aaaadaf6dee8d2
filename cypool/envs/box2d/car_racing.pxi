# CarRacing: a car on a track, seen from above.
import threading

from cypool.envs.box2d import specs
from cypool.envs.box2d.pictures import draw_car_racing, draw_numbers

from libc.stdint cimport uint32_t
from libcpp cimport bool as cbool
from libcpp.string cimport string
from libcpp.vector cimport vector

from cypool.envs.shared.rules.rules_env cimport Options, Rules, RulesEnv, RulesOf


cdef extern from "cypool/envs/box2d/car_picture.h" namespace "cypool::box2d" nogil:
    cdef struct Shape:
        int kind
        uint32_t color
        vector[Point] points

    cdef cppclass Recorder:
        vector[Shape] shapes
        size_t num_flipped

    cdef cppclass CarWorld "cypool::box2d::CarRacing":
        cbool ready() noexcept
        double total

    Recorder shapes_of(const CarWorld& car) except +

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
        cdef Recorder recorder = shapes_of(world[0])
        shapes = [(shape.kind, shape.color, [(point.x, point.y) for point in shape.points])
                  for shape in recorder.shapes]
        return draw_car_racing(shapes, recorder.num_flipped, world.total)


def _prepare_texts():
    """Makes pygame draw the numbers that pictures can show, only once."""
    with _lock:
        if texts().levels.empty():
            first, numbers = draw_numbers()
            texts().first = first
            texts().height = len(numbers[0])
            for levels in numbers:
                add_text(levels.shape[1], <bytes>levels.tobytes())
