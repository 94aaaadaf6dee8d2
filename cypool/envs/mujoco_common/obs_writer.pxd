"""Puts an observation together, number after number; writes nothing behind its end."""
from libc.stdint cimport int64_t
from libcpp cimport bool as cbool

cdef extern from "cypool/envs/mujoco_common/obs_writer.h" nogil:
    cdef cppclass ObsWriter "cypool::ObsWriter":
        ObsWriter() noexcept
        ObsWriter(double* out, size_t size) noexcept
        void put(double number) noexcept
        # of a count that does not fit, or is negative, nothing is written; the observation is then an error
        void put(const double* numbers, int64_t count) noexcept
        cbool is_complete() noexcept
        size_t left() noexcept
        int64_t refused() noexcept
