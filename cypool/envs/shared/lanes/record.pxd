"""One environment's share of a step in lanes."""
from libc.stdint cimport uint64_t
from libcpp cimport bool as cbool
from libcpp.string cimport string
from libcpp.vector cimport vector

from cypool.envs.shared.mujoco.libmujoco cimport mjData, mjModel

cdef extern from "cypool/envs/shared/lanes/record.h" nogil:
    # what an environment reads of mjData after a step: bits
    enum:
        NO_OUTPUTS "cypool::lanes::NO_OUTPUTS"
        XPOS "cypool::lanes::XPOS"
        XQUAT "cypool::lanes::XQUAT"
        XMAT "cypool::lanes::XMAT"
        XIPOS "cypool::lanes::XIPOS"
        CINERT "cypool::lanes::CINERT"
        CVEL "cypool::lanes::CVEL"
        CFRC_EXT "cypool::lanes::CFRC_EXT"
        QFRC_ACTUATOR "cypool::lanes::QFRC_ACTUATOR"
        QFRC_CONSTRAINT "cypool::lanes::QFRC_CONSTRAINT"
        SITE_XPOS "cypool::lanes::SITE_XPOS"
        TEN_LENGTH "cypool::lanes::TEN_LENGTH"
        TEN_VELOCITY "cypool::lanes::TEN_VELOCITY"
        ACTUATOR_FORCE "cypool::lanes::ACTUATOR_FORCE"
        SENSED_MOTION "cypool::lanes::SENSED_MOTION"
        SENSED_FORCES "cypool::lanes::SENSED_FORCES"

    cdef cppclass Backoff "cypool::lanes::Backoff":
        cbool is_due() noexcept

    cdef cppclass Record "cypool::lanes::Record":
        Record(const mjModel* m, mjData* d, int reads, cbool ends_with_step1) except + nogil
        cbool is_ready, is_stale
        uint64_t whose_own
        Backoff backoff
        vector[double] drawn
        string written
        cbool prepare() noexcept
        cbool take(int frames) noexcept
        string repeat(cbool has_callback) except +
        void copy_from(const Record& other) noexcept
