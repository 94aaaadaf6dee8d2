# CoupledHalfCheetah: two animals whose backs a tendon joins.
from cypool.envs.shared.packages import mujoco_version
from cypool.envs.shared.mujoco import layout

from libc.stdint cimport int64_t
from libcpp.vector cimport vector

from cypool.envs.shared.numerics.numpy_math cimport sum_of_squares
from cypool.envs.mujoco.mujoco cimport MujocoEnv
from cypool.envs.shared.mujoco.libmujoco cimport mjData, mjModel
from cypool.envs.shared.mujoco.obs_writer cimport ObsWriter

cdef extern from *:
    """
    #include "cypool/mujoco.h"

    // an array of MuJoCo's that no other robot reads
    template <class T, class Struct> const T* array_at(const Struct* from, int64_t offset) {
        return *reinterpret_cast<const T* const*>(reinterpret_cast<const char*>(from->raw) + offset);
    }
    """
    const T* array_at[T, Struct](const Struct* holder, int64_t offset) noexcept nogil

# indices of info
cdef enum:
    COUPLED_X_POSITION
    COUPLED_X_VELOCITY = 2
    COUPLED_REWARD_RUN = 4
    COUPLED_REWARD_CTRL


cdef class CoupledHalfCheetahRobot(MujocoEnv):
    """Two coupled half cheetahs, a robot that Gymnasium lacks."""
    describe = staticmethod(specs.coupled_half_cheetah)

    cdef vector[double] jacobian            # of the tendon: a number for each degree of freedom
    # of MuJoCo's: where the numbers of the tendon's row are, and their columns; NULL: the row has all
    cdef const double* row
    cdef const int* count
    cdef const int* columns

    def __init__(self, spec, env_id):
        super().__init__(spec, env_id)
        fields = layout.read(mujoco_version.find()[0]).fields
        self.row = array_at[double, mjData](self.data, fields["mjData.ten_J"].offset)
        # of a version whose models have columns, the row is sparse
        if "mjModel.ten_J_rownnz" in fields:
            self.count = array_at[int, mjModel](self.model, fields["mjModel.ten_J_rownnz"].offset)
            self.columns = array_at[int, mjModel](self.model, fields["mjModel.ten_J_colind"].offset)
        self.jacobian.resize(self.model.nv)

    cdef int reset_model(self) except -1 nogil:
        self.add_uniform(0.1, self.init_qpos.data(), self.data.qpos, self.model.nq)
        self.add_normal(0.1, self.init_qvel.data(), self.data.qvel, self.model.nv)
        return 0

    cdef int step_model(self) except -1 nogil:
        cdef double before[2]
        cdef double forward
        cdef int which
        for which in range(2):
            before[which] = self.data.qpos[9 * which]
        self.simulate()
        for which in range(2):
            self.info[COUPLED_X_POSITION + which] = self.data.qpos[9 * which]
            self.info[COUPLED_X_VELOCITY + which] = (self.data.qpos[9 * which] - before[which]) / self.dt
            self.info[COUPLED_REWARD_CTRL + which] = self.cost(6 * which)
        forward = (self.info[COUPLED_X_VELOCITY] + self.info[COUPLED_X_VELOCITY + 1]) / 2
        self.info[COUPLED_REWARD_RUN] = forward
        if self.action_is_single:
            self.reward = forward - (<float>self.info[COUPLED_REWARD_CTRL]
                                     + <float>self.info[COUPLED_REWARD_CTRL + 1]) / 2
        else:
            self.reward = forward - (self.info[COUPLED_REWARD_CTRL] + self.info[COUPLED_REWARD_CTRL + 1]) / 2
        return 0

    cdef double cost(self, int first) noexcept nogil:
        # of float32 all of it has single precision
        if self.action_is_single:
            return <float>0.1 * sum_of_squares(<const float*>self.action + first, 6)
        return 0.1 * sum_of_squares(<const double*>self.action + first, 6)

    cdef int get_obs(self, ObsWriter* obs) except -1 nogil:
        self.read_jacobian()
        obs.put(self.data.qpos + 1, 8)
        obs.put(self.data.qpos + 10, 8)
        obs.put(self.data.qvel, self.model.nv)
        obs.put(self.jacobian.data(), 2)
        obs.put(self.jacobian.data() + 9, 2)
        obs.put(self.data.ten_length, 1)
        obs.put(self.data.ten_velocity, 1)
        return 0

    cdef void read_jacobian(self) noexcept nogil:
        cdef int k
        self.jacobian.assign(self.model.nv, 0)
        for k in range(self.count[0] if self.count != NULL else <int>self.model.nv):
            self.jacobian[self.columns[k] if self.count != NULL else k] = self.row[k]
