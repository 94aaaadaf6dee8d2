"""Rotations as `gymnasium_robotics.utils.rotations` computes them, bit for bit: matrices, Euler angles, quaternions."""

cdef void mat2euler(const double* mat, double* euler) noexcept nogil
cdef void quat2euler(const double* quat, double* euler) noexcept nogil
cdef void euler2quat(const double* euler, double* quat) noexcept nogil
cdef void quat_mul(const double* a, const double* b, double* out) noexcept nogil     # out may be one of the two
cdef void quat_of(double angle, const double* axis, double* quat) noexcept nogil     # around an axis of any length
cdef double angle_between(const double* a, const double* b) noexcept nogil           # of two quaternions
cdef void normalize(double* vector, int n) noexcept nogil
