"""Steps of environments that MuJoCo simulates, several at once, with the bits of mj_step."""
from libcpp cimport bool as cbool
from libcpp.string cimport string

from cypool.envs.mujoco_common.libmujoco cimport mjData, mjModel
from cypool.envs.mujoco_common.mujoco_common cimport Model

cdef extern from "cypool/envs/mujoco_lanes/record.h" nogil:
    # what an environment reads of mjData after a step: bits
    enum:
        NO_PARTS "cypool::lanes::NO_PARTS"
        XPOS "cypool::lanes::XPOS"
        XIPOS "cypool::lanes::XIPOS"
        CINERT "cypool::lanes::CINERT"
        CVEL "cypool::lanes::CVEL"
        CFRC_EXT "cypool::lanes::CFRC_EXT"
        QFRC_ACTUATOR "cypool::lanes::QFRC_ACTUATOR"
        QFRC_CONSTRAINT "cypool::lanes::QFRC_CONSTRAINT"
        SITE_XPOS "cypool::lanes::SITE_XPOS"
        TEN_LENGTH "cypool::lanes::TEN_LENGTH"
        TEN_VELOCITY "cypool::lanes::TEN_VELOCITY"

    cdef cppclass Record "cypool::lanes::Record":
        Record(const mjModel* m, mjData* d, int reads) except + nogil
        cbool is_ready, is_stale
        cbool prepare() noexcept
        cbool take(int frames) noexcept
        string repeat() except +
        void copy_from(const Record& other) noexcept


cdef class Lanes:
    """The lanes of one model. Shared by environments; any number of threads may step."""
    cdef Model loaded                    # kept alive
    cdef void* engine                    # owned; lanes::Engine
    cdef object __weakref__

    cdef bint is_usable(self) noexcept nogil
    # results are in the records, but for those that mj_step has to step
    cdef int step(self, Record** records, int count, int frames) except -1 nogil
    cdef int report(self, const string& differing) except -1 nogil   # lanes were wrong: they are not used any more


cdef Lanes lanes_of(Model model)         # None: mj_step has to step this model
