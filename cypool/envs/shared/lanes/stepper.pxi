# The lanes of a model for other modules, which hold records of their own.
from cpython.pycapsule cimport PyCapsule_GetPointer

cdef extern from "cypool/envs/shared/lanes/stepper.h" nogil:
    cdef cppclass Stepper "cypool::lanes::Stepper":
        void* lanes
        int fewest
        int (*step)(void* lanes, Record** records, int count, int frames) noexcept
        int (*read_own)(void* lanes, const mjModel* m, Record* record) noexcept
        cbool (*is_usable)(void* lanes) noexcept
        void (*report)(void* lanes, const char* differing) noexcept

    int read_own "cypool::lanes::read_own"(Engine& engine, const mjModel* m, Record& record) noexcept

ctypedef int (*StepRecords)(void* lanes, Record** records, int count, int frames) noexcept nogil


cdef int _step_records(void* lanes, Record** records, int count, int frames) except -1 nogil:
    return (<Lanes>lanes).step(records, count, frames)


cdef int _read_own(void* lanes, const mjModel* m, Record* record) noexcept nogil:
    return read_own((<Lanes>lanes).engine[0], m, record[0])


cdef cbool _is_usable(void* lanes) noexcept nogil:
    return (<Lanes>lanes).is_usable()


cdef void _report(void* lanes, const char* differing) noexcept nogil:
    (<Lanes>lanes).report(string(differing))


def set_up_stepper(Lanes lanes not None, capsule):
    """Sets up the `Stepper` that a capsule points to; its owner keeps the lanes alive."""
    cdef Stepper* stepper = <Stepper*>PyCapsule_GetPointer(capsule, "cypool.lanes.Stepper")
    stepper.lanes = <void*>lanes
    stepper.fewest = lanes.engine.fewest()
    stepper.step, stepper.read_own = <StepRecords>_step_records, _read_own
    stepper.is_usable, stepper.report = _is_usable, _report


def may_vary_in_lanes(str name):
    """Returns whether a field of the model may differ between environments in lanes."""
    return may_vary(name.encode())
