"""Rotations as `gymnasium_robotics.utils.rotations` computes them, bit for bit: matrices, Euler angles, quaternions."""
from libc.math cimport sqrt
from libc.string cimport memcpy

from cypool.envs.common.numpy_math cimport arccos, arctan2, clip, cos, norm, sin, sum_of_squares

cdef double EPS4 = 2.220446049250313e-16 * 4.0


cdef void mat2euler(const double* mat, double* euler) noexcept nogil:
    cdef double cy = sqrt(mat[8] * mat[8] + mat[5] * mat[5])
    cdef bint regular = cy > EPS4
    euler[2] = -arctan2(mat[1], mat[0]) if regular else -arctan2(-mat[3], mat[4])
    euler[1] = -arctan2(-mat[2], cy)
    euler[0] = -arctan2(mat[5], mat[8]) if regular else 0.0


cdef void quat2mat(const double* quat, double* mat) noexcept nogil:
    cdef double w = quat[0], x = quat[1], y = quat[2], z = quat[3]
    cdef double square = sum_of_squares(quat, 4), s = 2.0 / square
    cdef double sx = x * s, sy = y * s, sz = z * s
    cdef double wx = w * sx, wy = w * sy, wz = w * sz
    cdef double xx = x * sx, xy = x * sy, xz = x * sz, yy = y * sy, yz = y * sz, zz = z * sz
    cdef double[9] unit = [1, 0, 0, 0, 1, 0, 0, 0, 1]
    cdef double[9] turned = [1.0 - (yy + zz), xy - wz, xz + wy, xy + wz, 1.0 - (xx + zz), yz - wx, xz - wy, yz + wx,
                             1.0 - (xx + yy)]
    cdef const double* found = unit
    if square > EPS4 / 4.0:
        found = turned
    memcpy(mat, found, sizeof(unit))


cdef void quat2euler(const double* quat, double* euler) noexcept nogil:
    cdef double[9] mat
    quat2mat(quat, mat)
    mat2euler(mat, euler)


cdef void euler2quat(const double* euler, double* quat) noexcept nogil:
    cdef double ai = euler[2] / 2, aj = -euler[1] / 2, ak = euler[0] / 2
    cdef double si = sin(ai), sj = sin(aj), sk = sin(ak)
    cdef double ci = cos(ai), cj = cos(aj), ck = cos(ak)
    cdef double cc = ci * ck, cs = ci * sk, sc = si * ck, ss = si * sk
    quat[0] = cj * cc + sj * ss
    quat[3] = cj * sc - sj * cs
    quat[2] = -(cj * ss + sj * cc)
    quat[1] = cj * cs - sj * sc


cdef void quat_mul(const double* a, const double* b, double* out) noexcept nogil:
    cdef double[4] product = [
        a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3],
        a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2],
        a[0] * b[2] + a[2] * b[0] + a[3] * b[1] - a[1] * b[3],
        a[0] * b[3] + a[3] * b[0] + a[1] * b[2] - a[2] * b[1]]
    memcpy(out, product, sizeof(product))


cdef void quat_of(double angle, const double* axis, double* quat) noexcept nogil:
    cdef double[3] unit = [axis[0], axis[1], axis[2]]
    cdef double s = sin(angle / 2.0)
    cdef int k
    normalize(unit, 3)
    quat[0] = cos(angle / 2.0)
    for k in range(3):
        quat[k + 1] = s * unit[k]
    normalize(quat, 4)


cdef double angle_between(const double* a, const double* b) noexcept nogil:
    cdef double[4] conjugate = [b[0], -b[1], -b[2], -b[3]]
    cdef double[4] difference
    quat_mul(a, conjugate, difference)
    return 2 * arccos(clip(difference[0], -1.0, 1.0))


cdef void normalize(double* vector, int n) noexcept nogil:
    cdef double length = norm(vector, n)
    cdef int k
    for k in range(n):
        vector[k] /= length
