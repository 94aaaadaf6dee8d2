# distutils: extra_compile_args = -O2
"""Rotations as `gymnasium_robotics.utils.rotations` computes them, bit for bit: matrices, Euler angles, quaternions."""
from libc.math cimport sqrt
from libc.string cimport memcpy

cimport numpy as cnp

from cypool.envs.shared.numerics.numpy_math cimport (
    arccos,
    arctan2,
    arctan2_of,
    clip,
    cos,
    norm,
    sin,
    sincos,
    sum_of_squares,
)

import numpy as np

cnp.import_array()

cdef enum:
    # numbers of a goal, and those of its place, before the quaternion
    GOAL = 7
    PLACE = 3
    # goals whose Euler angles are found at once
    BLOCK = 64

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
    cdef double si, sj, sk, ci, cj, ck, cc, cs, sc, ss
    sincos(ai, &si, &ci)
    sincos(aj, &sj, &cj)
    sincos(ak, &sk, &ck)
    cc, cs, sc, ss = ci * ck, ci * sk, si * ck, si * sk
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


cdef double cosine(const double* a, const double* b) noexcept nogil:
    # the real part of the product with the conjugate
    return clip(a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3], -1.0, 1.0)


cdef double angle_between(const double* a, const double* b) noexcept nogil:
    return 2 * arccos(cosine(a, b))


def angles_of_pens(achieved, desired):
    """Returns the angles between goals of pens, for one pair or a batch, as gymnasium-robotics computes them.

    For one pair, the third Euler angle is ignored. For a batch, the third rotation is: the package sets a row instead
    of an angle.

    Args:
        achieved, desired: Positions and quaternions, of shape (7,) or (n, 7) with n of at least 3.

    Returns:
        Radians, of shape () or (n,).
    """
    cdef cnp.ndarray goals = np.ascontiguousarray(achieved, np.float64)
    cdef cnp.ndarray wanted = np.ascontiguousarray(desired, np.float64)
    cdef cnp.ndarray cosines = np.empty(achieved.shape[:achieved.ndim - 1])
    cdef Py_ssize_t n = cosines.size
    cdef bint batch = cosines.ndim > 0
    find_cosines(<const double*>cnp.PyArray_DATA(goals), <const double*>cnp.PyArray_DATA(wanted),
                 <double*>cnp.PyArray_DATA(cosines), n, batch)
    return 2 * np.arccos(cosines)


cdef void find_cosines(const double* goals, const double* wanted, double* out, Py_ssize_t n, bint batch) noexcept nogil:
    cdef double[BLOCK][3] eulers
    cdef double[3] other
    cdef double[4] quat
    cdef Py_ssize_t first = 0
    cdef int k, size
    quat2euler(&wanted[GOAL * 2 + PLACE if batch else PLACE], other)
    while first < n:
        size = <int>min(<Py_ssize_t>BLOCK, n - first)
        find_eulers(goals + GOAL * first, eulers, size)
        if not batch:
            eulers[0][2] = other[2]
        elif first == 0:
            memcpy(eulers[2], other, sizeof(other))
        for k in range(size):
            euler2quat(eulers[k], quat)
            out[first + k] = cosine(quat, wanted + GOAL * (first + k) + PLACE)
        first += BLOCK


cdef void find_eulers(const double* goals, double[3]* eulers, int n) noexcept nogil:
    """`quat2euler` of up to BLOCK goals."""
    # longer than their use, so that none touches the next
    cdef double[3][BLOCK + 1] ys, xs
    cdef double[BLOCK + 1] angles
    cdef double[9] mat
    cdef double cy
    cdef int axis, k
    for k in range(n):
        quat2mat(goals + GOAL * k + PLACE, mat)
        cy = sqrt(mat[8] * mat[8] + mat[5] * mat[5])
        # a special rotation's first angle is 0: minus the angle of (-0.0, 1)
        ys[0][k], xs[0][k] = (mat[5], mat[8]) if cy > EPS4 else (-0.0, 1.0)
        ys[1][k], xs[1][k] = -mat[2], cy
        ys[2][k], xs[2][k] = (mat[1], mat[0]) if cy > EPS4 else (-mat[3], mat[4])
    for axis in range(3):
        arctan2_of(ys[axis], xs[axis], angles, n)
        for k in range(n):
            eulers[k][axis] = -angles[k]


cdef void normalize(double* vector, int n) noexcept nogil:
    cdef double length = norm(vector, n)
    cdef int k
    for k in range(n):
        vector[k] /= length
