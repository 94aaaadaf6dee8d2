"""Whether a saved mjData is safe to continue with: MuJoCo takes the indices in it as they are."""
from libc.stdint cimport int64_t

from cypool.envs.shared.mujoco.libmujoco cimport mjData, mjModel

cdef extern from "cypool/envs/shared/mujoco/saved.h":
    void check_saved "cypool::check_saved"(const mjModel* m, const mjData* d, const char* buffer) except +

    # how many are awake, which is not in the buffer of mjData
    cdef cppclass Awake "cypool::Awake":
        int64_t trees, bodies, parents, dofs
    Awake get_awake "cypool::get_awake"(const mjData* d) noexcept nogil
    void set_awake "cypool::set_awake"(mjData* d, const Awake& awake) noexcept nogil
