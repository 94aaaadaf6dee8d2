# distutils: extra_compile_args = -O3
"""Steps MuJoCo environments several at a time, bit-identical to mj_step.

docs/explanation/mujoco_lanes.md explains it.
"""
import weakref

from cypool.util.warn import warn_caller

from libc.stdint cimport int64_t, uint64_t
from libcpp cimport bool as cbool
from libcpp.atomic cimport atomic
from libcpp.string cimport string

from cypool.envs.shared.mujoco.libmujoco cimport mjModel
from cypool.envs.shared.mujoco.mujoco_common cimport Model
from cypool.envs.shared.lanes.record cimport Record

cdef extern from "cypool/envs/shared/lanes/engine.h" nogil:
    int check_lanes "cypool::lanes::check_lanes"() except +
    cbool may_vary "cypool::lanes::may_vary"(const string& name) except +
    cbool knows_all_sensors "cypool::lanes::knows_all_sensors"(const mjModel* m) noexcept
    cbool take "cypool::lanes::take"(Record& record, int frames) noexcept
    cdef cppclass Engine "cypool::lanes::Engine":
        Engine(const mjModel* m) except +
        cbool is_usable() noexcept
        cbool has_callback() noexcept
        int fewest() noexcept
        cbool read_own(const mjModel* m, Record& record) except +
        string step(Record** records, int count, int frames) except +
        string compare_contacts() except +
        string compare(int steps, int every, uint64_t seed, double noise, double ctrl, cbool ends_with_step1,
                       int frames) except +
        int64_t get_compared "num_compared.load"() noexcept
        int64_t get_by_mujoco "num_by_mujoco.load"() noexcept
        cbool swap_wrong "is_wrong.exchange"(cbool value) noexcept

# of the comparison when a model is first used: steps of each of seven environments
cdef enum:
    LEAST_COMPARED = 100                 # of the 896; where lanes give up, mj_step steps

# those in use, by the identity of their model, which they keep
_lanes = weakref.WeakValueDictionary()
# why a model is not stepped in lanes, "" if it is, by the hash of its key, which may hold its text: models are loaded
# again, and the comparison takes longer than all else in `make`
_verdicts = {}


cdef class Lanes:
    """The lanes of one model, shared by environments; any number of threads may step. Only `make_lanes` creates one."""
    cdef Model loaded                    # kept alive
    cdef Engine* engine                  # owned
    cdef atomic[int64_t] steps           # of environments of pools
    cdef object __weakref__

    def __dealloc__(self):
        # NULL: there is none
        del self.engine

    cdef bint is_usable(self) noexcept nogil:
        return self.engine.is_usable()

    cdef int step(self, Record** records, int count, int frames) except -1 nogil:
        # results are in the records, but for those that mj_step has to step
        cdef string differing = self.engine.step(records, count, frames)
        self.steps.fetch_add(count)
        if not differing.empty():
            self.report(differing)
        return 0

    cdef void report(self, const string& differing) noexcept nogil:
        # lanes were wrong: they are not used any more. Where the warning is an error, it costs no environment its row
        if not self.engine.swap_wrong(True):
            with gil:
                _verdicts[hash(self.loaded.key)] = f"differed from mj_step in {differing.decode()}"
                warn_caller(f"{self.loaded.path}: lanes and mj_step differ in {differing.decode()}. From now on, "
                            'mj_step steps this model. Please report this; physics="mj_step" switches lanes off')

    cdef int compare_first(self) except -1:
        # in a long run, many robots lie on the ground
        for noise, steps, every, ends_with_step1 in ((0.1, 24, 24, False), (1.0, 24, 24, True), (0.1, 80, 80, False)):
            differing = self.compare(steps, every, 1, noise, 1, ends_with_step1)
            if differing:
                raise ValueError(f"differs from mj_step in {differing}")
        differing = self.engine.compare_contacts().decode()
        if differing:
            raise ValueError(f"differs from mj_step in {differing}, after geoms were moved until they touched")
        if self.num_compared() < LEAST_COMPARED:
            raise ValueError(f"only {self.num_compared()} of its first steps could be compared with mj_step")
        return 0

    def compare(self, int steps, int every, uint64_t seed, double noise, double ctrl, bint ends_with_step1=False,
                int frames=1):
        """Returns the first thing that differs from mj_step; "" if nothing does.

        Args:
            steps: Steps of each of seven environments.
            every: Number of steps between resets.
            seed: Seed of the random numbers.
            noise: How far positions and velocities deviate from the model's own after a reset.
            ctrl: The largest control.
            ends_with_step1: Whether mj_step1 follows each step.
            frames: MuJoCo steps per step.
        """
        return self.engine.compare(steps, every, seed, noise, ctrl, ends_with_step1, frames).decode()

    def num_steps(self):
        """Returns how many steps of pools' environments were taken in lanes."""
        return self.steps.load()

    def num_compared(self):
        """Returns how many steps were compared with mj_step."""
        return self.engine.get_compared()

    def num_by_mujoco(self):
        """Returns how many MuJoCo steps mj_step took for environments in lanes."""
        return self.engine.get_by_mujoco()


def check_machine():
    """Returns how many robots are stepped at once on this machine.

    Raises:
        ValueError: Lanes cannot be used here; the text says why.
    """
    return check_lanes()


def make_lanes(Model model):
    """Returns the `Lanes` of a model.

    Raises:
        ValueError: Lanes cannot step it; the text says why.
    """
    cdef Lanes made = _lanes.get(<size_t><void*>model)
    if made is not None:
        return made
    made = Lanes()
    made.loaded = model
    verdict = _verdicts.get(hash(model.key))
    try:
        if verdict:
            raise ValueError(verdict)
        made.engine = new Engine(model.mj)
        if verdict is None:
            made.compare_first()
    # a RuntimeError is a warning of MuJoCo, of which an environment hears when it steps
    except (ValueError, RuntimeError) as error:
        _verdicts[hash(model.key)] = str(error)
        raise ValueError(str(error)) from error
    # unless another thread has found that they are wrong
    _verdicts.setdefault(hash(model.key), "")
    _lanes[<size_t><void*>model] = made
    return made


include "simulation_in_lanes.pxi"
include "stepper.pxi"
