// Vectors, quaternions, and spatial vectors of six numbers (rotation, then translation), in lanes.

#include "cypool/envs/shared/lanes/target.h"

namespace cypool::lanes::CYPOOL_LANES {

inline constexpr double TINY = 1e-15;  // mjMINVAL

// mju_dot: four sums, then the rest
CYPOOL_LANES_INLINE Real dot(const Real* a, const Real* b, int n) {
    Real sum = all(0);
    int k = 0;
    if (n >= 4) {
        Real s0 = a[0] * b[0], s1 = a[1] * b[1], s2 = a[2] * b[2], s3 = a[3] * b[3];
        for (k = 4; k <= n - 4; k += 4) {
            s0 = s0 + a[k] * b[k];
            s1 = s1 + a[k + 1] * b[k + 1];
            s2 = s2 + a[k + 2] * b[k + 2];
            s3 = s3 + a[k + 3] * b[k + 3];
        }
        sum = (s0 + s2) + (s1 + s3);
    }
    if (n - k == 3) return sum + ((a[k] * b[k] + a[k + 1] * b[k + 1]) + a[k + 2] * b[k + 2]);
    if (n - k == 2) return sum + (a[k] * b[k] + a[k + 1] * b[k + 1]);
    if (n - k == 1) return sum + a[k] * b[k];
    return sum;
}
CYPOOL_LANES_INLINE Real dot6(const Real* a, const Real* b) {
    return ((a[0] * b[0] + a[2] * b[2]) + (a[1] * b[1] + a[3] * b[3])) + (a[4] * b[4] + a[5] * b[5]);
}
template <class A, class B> CYPOOL_LANES_INLINE Real dot3(const A* a, const B* b) {
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}
template <class A, class B> CYPOOL_LANES_INLINE void cross(Real* r, const A* a, const B* b) {
    const Real x = a[1] * b[2] - a[2] * b[1], y = a[2] * b[0] - a[0] * b[2], z = a[0] * b[1] - a[1] * b[0];
    r[0] = x;
    r[1] = y;
    r[2] = z;
}
template <class A> CYPOOL_LANES_INLINE void rotate(Real* r, const A* v, const Real* q) {
    const Real t0 = q[0] * v[0] + q[2] * v[2] - q[3] * v[1], t1 = q[0] * v[1] + q[3] * v[0] - q[1] * v[2],
               t2 = q[0] * v[2] + q[1] * v[1] - q[2] * v[0];
    r[0] = v[0] + 2 * (q[2] * t2 - q[3] * t1);
    r[1] = v[1] + 2 * (q[3] * t0 - q[1] * t2);
    r[2] = v[2] + 2 * (q[1] * t1 - q[2] * t0);
}
template <class B> CYPOOL_LANES_INLINE void multiply_quaternions(Real* r, const Real* a, const B* b) {
    const Real a0 = a[0], a1 = a[1], a2 = a[2], a3 = a[3];
    const auto b0 = b[0], b1 = b[1], b2 = b[2], b3 = b[3];
    if (is_mujoco_4) {
        r[0] = (a0 * b0 - a1 * b1) + (-(a2 * b2) - a3 * b3);
        r[1] = (a0 * b1 + a1 * b0) + (a2 * b3 - a3 * b2);
        r[2] = (a0 * b2 - a1 * b3) + (a2 * b0 + a3 * b1);
        r[3] = (a0 * b3 + a1 * b2) + (-(a2 * b1) + a3 * b0);
    } else {
        r[0] = a0 * b0 - a1 * b1 - a2 * b2 - a3 * b3;
        r[1] = a0 * b1 + a1 * b0 + a2 * b3 - a3 * b2;
        r[2] = a0 * b2 - a1 * b3 + a2 * b0 + a3 * b1;
        r[3] = a0 * b3 + a1 * b2 - a2 * b1 + a3 * b0;
    }
}
CYPOOL_LANES_INLINE void normalize_quaternion(Real* q) {
    const Real first = q[0] * q[0] + q[1] * q[1];
    const Real norm = sqrt(is_mujoco_4 ? first + (q[2] * q[2] + q[3] * q[3]) : first + q[2] * q[2] + q[3] * q[3]);
    const Mask tiny = norm<TINY, differs = abs(norm - 1)> TINY;
    if (any(differs)) {
        const Real inverse = choose(differs, 1 / norm, all(1));
        for (int k = 0; k < 4; ++k) q[k] = q[k] * inverse;
    }
    if (__builtin_expect(any(tiny), 0))
        for (int k = 0; k < 4; ++k) q[k] = choose(tiny, all(k == 0), q[k]);
}
CYPOOL_LANES_INLINE Real normalize(Real* v) {
    const Real norm = sqrt(dot3(v, v));
    const Mask tiny = norm < TINY;
    const Real inverse = 1 / norm;
    for (int k = 0; k < 3; ++k) v[k] = v[k] * inverse;
    if (__builtin_expect(any(tiny), 0))
        for (int k = 0; k < 3; ++k) v[k] = choose(tiny, all(k == 0), v[k]);
    return norm;
}
CYPOOL_LANES_INLINE void rotation_matrix(Real* r, const Real* q) {
    const Real q00 = q[0] * q[0], q01 = q[0] * q[1], q02 = q[0] * q[2], q03 = q[0] * q[3], q11 = q[1] * q[1],
               q12 = q[1] * q[2], q13 = q[1] * q[3], q22 = q[2] * q[2], q23 = q[2] * q[3], q33 = q[3] * q[3];
    if (is_mujoco_4) {
        r[0] = (q00 - q22) + (q11 - q33);
        r[4] = (q00 + q22) - (q11 + q33);
        r[8] = (q00 - q22) - (q11 - q33);
    } else {
        r[0] = q00 + q11 - q22 - q33;
        r[4] = q00 - q11 + q22 - q33;
        r[8] = q00 - q11 - q22 + q33;
    }
    r[1] = 2 * (q12 - q03);
    r[2] = 2 * (q13 + q02);
    r[3] = 2 * (q12 + q03);
    r[5] = 2 * (q23 - q01);
    r[6] = 2 * (q13 - q02);
    r[7] = 2 * (q23 + q01);
    // where it turns nothing, the zeros are positive
    const Mask is_one = q[0] == 1.0;
    if (__builtin_expect(any(is_one), 0)) {
        const Mask null = is_one & (q[1] == 0.0) & (q[2] == 0.0) & (q[3] == 0.0);
        for (int k = 0; k < 9; ++k) r[k] = choose(null, all(k % 4 == 0), r[k]);
    }
}
template <class B> CYPOOL_LANES_INLINE void multiply_matrix(Real* r, const Real* m, const B* v) {
    const Real x = m[0] * v[0] + m[1] * v[1] + m[2] * v[2], y = m[3] * v[0] + m[4] * v[1] + m[5] * v[2],
               z = m[6] * v[0] + m[7] * v[1] + m[8] * v[2];
    r[0] = x;
    r[1] = y;
    r[2] = z;
}
// a vector in the axes of a matrix
CYPOOL_LANES_INLINE void multiply_transposed(Real* r, const Real* m, const Real* v) {
    for (int k = 0; k < 3; ++k) r[k] = m[k] * v[0] + m[3 + k] * v[1] + m[6 + k] * v[2];
}
// the inertia of a body, ten numbers, times a motion
CYPOOL_LANES_INLINE void multiply_inertia(Real* r, const Real* i, const Real* v) {
    r[0] = i[0] * v[0] + i[3] * v[1] + i[4] * v[2] - i[8] * v[4] + i[7] * v[5];
    r[1] = i[3] * v[0] + i[1] * v[1] + i[5] * v[2] + i[8] * v[3] - i[6] * v[5];
    r[2] = i[4] * v[0] + i[5] * v[1] + i[2] * v[2] - i[7] * v[3] + i[6] * v[4];
    r[3] = i[8] * v[1] - i[7] * v[2] + i[9] * v[3];
    r[4] = i[6] * v[2] - i[8] * v[0] + i[9] * v[4];
    r[5] = i[7] * v[0] - i[6] * v[1] + i[9] * v[5];
}
CYPOOL_LANES_INLINE void cross_motion(Real* r, const Real* a, const Real* v) {
    r[0] = a[1] * v[2] - a[2] * v[1];
    r[1] = a[2] * v[0] - a[0] * v[2];
    r[2] = a[0] * v[1] - a[1] * v[0];
    const Real r3 = a[1] * v[5] - a[2] * v[4], r4 = a[2] * v[3] - a[0] * v[5], r5 = a[0] * v[4] - a[1] * v[3];
    r[3] = r3 + (a[4] * v[2] - a[5] * v[1]);
    r[4] = r4 + (a[5] * v[0] - a[3] * v[2]);
    r[5] = r5 + (a[3] * v[1] - a[4] * v[0]);
}
CYPOOL_LANES_INLINE void cross_force(Real* r, const Real* a, const Real* f) {
    const Real r0 = a[1] * f[2] - a[2] * f[1], r1 = a[2] * f[0] - a[0] * f[2], r2 = a[0] * f[1] - a[1] * f[0];
    r[3] = a[1] * f[5] - a[2] * f[4];
    r[4] = a[2] * f[3] - a[0] * f[5];
    r[5] = a[0] * f[4] - a[1] * f[3];
    r[0] = r0 + (a[4] * f[5] - a[5] * f[4]);
    r[1] = r1 + (a[5] * f[3] - a[3] * f[5]);
    r[2] = r2 + (a[3] * f[4] - a[4] * f[3]);
}

}  // namespace cypool::lanes::CYPOOL_LANES

#pragma GCC pop_options
