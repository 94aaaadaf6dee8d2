# distutils: extra_compile_args = -O2
"""Steps of environments that MuJoCo simulates, several at once, with the bits of mj_step.

docs/explanation/mujoco_lanes.md explains it.
"""
import weakref

from cypool.util.warn import warn_caller

from libc.stdint cimport int64_t, uint64_t

cdef extern from "cypool/envs/mujoco_lanes/engine.h" nogil:
    cdef cppclass Engine "cypool::lanes::Engine":
        Engine(const mjModel* m) except +
        cbool is_usable() noexcept
        void step(Record** records, int count, int frames) except +
        string compare(int steps, int every, uint64_t seed, double noise, double ctrl) except +
        int64_t get_compared "num_compared.load"() noexcept
        cbool swap_wrong "is_wrong.exchange"(cbool value) noexcept

# of the comparison when a model is first used: steps of each of seven environments
cdef enum:
    FIRST_STEPS = 64
    FIRST_EVERY = 32

# those in use, by the identity of their model, which they keep
_lanes = weakref.WeakValueDictionary()


cdef class Lanes:
    """See the `.pxd`. Only `make_lanes` makes one."""

    def __dealloc__(self):
        cdef Engine* engine = <Engine*>self.engine
        # NULL: there is none
        del engine

    cdef bint is_usable(self) noexcept nogil:
        return (<Engine*>self.engine).is_usable()

    cdef int step(self, Record** records, int count, int frames) except -1 nogil:
        (<Engine*>self.engine).step(records, count, frames)
        return 0

    cdef int report(self, const string& differing) except -1 nogil:
        if not (<Engine*>self.engine).swap_wrong(True):
            with gil:
                warn_caller(f"{self.loaded.path}: lanes and mj_step differ in {differing.decode()}. From now on, "
                            'mj_step steps this model. Please report it; physics="mj_step" switches lanes off')
        return 0

    def compare(self, int steps, int every, uint64_t seed, double noise, double ctrl):
        """Returns what differs first from mj_step, "" if nothing does.

        Args:
            steps: Of each of seven environments.
            every: How many of them follow a reset.
            seed: Of the random numbers.
            noise: How far positions and velocities are from the model's own after a reset.
            ctrl: The largest control.
        """
        return (<Engine*>self.engine).compare(steps, every, seed, noise, ctrl).decode()

    def num_compared(self):
        """Returns how many of mj_step's steps were compared."""
        return (<Engine*>self.engine).get_compared()


def make_lanes(Model model):
    """Returns the `Lanes` of a model.

    Raises:
        ValueError: Lanes cannot step it. The text says why.
    """
    cdef Lanes made = _lanes.get(<size_t><void*>model)
    if made is not None:
        return made
    made = Lanes()
    made.loaded = model
    made.engine = new Engine(model.mj)
    for noise in (0.1, 1.0):
        differing = made.compare(FIRST_STEPS, FIRST_EVERY, 1, noise, 1)
        if differing:
            raise ValueError(f"differs from mj_step in {differing}")
    _lanes[<size_t><void*>model] = made
    return made


cdef Lanes lanes_of(Model model):
    try:
        return make_lanes(model)
    except ValueError:
        return None
