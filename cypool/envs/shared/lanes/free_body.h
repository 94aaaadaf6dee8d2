// Bodies that move alone and freely, whose rotation implicitfast solves with the derivative of the gyroscopic forces.

#include "cypool/envs/shared/lanes/target.h"

namespace cypool::lanes::CYPOOL_LANES {

CYPOOL_LANES_INLINE void multiply_matrices(Real (*r)[3], const Real (*a)[3], const Real (*b)[3]) {
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) r[i][j] = a[i][0] * b[0][j] + a[i][1] * b[1][j] + a[i][2] * b[2][j];
}

// mjd_freeBias_vel: how the bias force changes with the angular velocity, and the bias torque
CYPOOL_LANES_INLINE void bias_derivative(const Description& m, const Group& d, int b, Real (*force)[3],
                                         Real (*torque)[3]) {
    Real R[3][3], transposed[3][3], I[3][3], K[3][3], C[3][3], product[3][3], w[3], s[3], speed[3], momentum[3];
    for (int i = 0; i < 3; ++i) {
        s[i] = com_of(m, d, b)[i] - d.xpos[b][i];
        for (int j = 0; j < 3; ++j) {
            R[i][j] = transposed[j][i] = d.xmat[b][3 * i + j];
            I[i][j] = d.crb[b][i == j ? i : i + j + 2];
        }
    }
    const Real mass = d.crb[b][9], *const turn = d.qvel + m.bodies[b].first_dof + 3;
    for (int i = 0; i < 3; ++i) w[i] = dot3(R[i], turn);
    cross(speed, w, s);
    for (int i = 0; i < 3; ++i) momentum[i] = dot3(I[i], w);
    const Real along = dot3(w, s);
    for (int i = 0; i < 3; ++i) {
        const int next = (i + 1) % 3, last = (i + 2) % 3;
        K[i][i] = s[i] * w[i] - along;
        K[i][next] = s[i] * w[next] - speed[last];
        K[i][last] = s[i] * w[last] + speed[next];
    }
    multiply_matrices(force, K, R);
    for (int k = 0; k < 9; ++k) force[k / 3][k % 3] = -mass * force[k / 3][k % 3];
    for (int j = 0; j < 3; ++j)
        for (int i = 0; i < 3; ++i) {
            const int next = (i + 1) % 3, last = (i + 2) % 3;
            const Real of_mass = s[next] * K[last][j] - s[last] * K[next][j];
            const Real of_inertia = w[next] * I[last][j] - w[last] * I[next][j];
            C[i][j] = -mass * of_mass + of_inertia
                      + (j == next   ? momentum[last]
                         : j == last ? -momentum[next]
                                     : all(0));
        }
    multiply_matrices(product, transposed, C);
    multiply_matrices(torque, product, R);
}

// mju_factorLU6 and mju_solveLU6. Returns the lanes in which the matrix is not singular.
inline __attribute__((noinline)) Mask solve_with_pivots(Real (*A)[6], Real* x) {
    Mask is_regular = ~none();
    for (int k = 0; k < 6; ++k) {
        Real most = abs(A[k][k]);
        Mask is_most[6];
        for (int i = k + 1; i < 6; ++i) {
            const Real size = abs(A[i][k]);
            is_most[i] = size > most;
            most = choose(is_most[i], size, most);
            for (int j = k + 1; j < i; ++j) is_most[j] = is_most[j] & ~is_most[i];
        }
        is_regular = is_regular & ~(most < TINY);
        const auto swap = [](const Mask& swaps, Real& a, Real& b) {
            const Real before = a;
            a = choose(swaps, b, a), b = choose(swaps, before, b);
        };
        for (int i = k + 1; i < 6; ++i) {
            for (int j = 0; j < 6; ++j) swap(is_most[i], A[k][j], A[i][j]);
            swap(is_most[i], x[k], x[i]);
        }
        const Real inverse = 1 / A[k][k];
        for (int i = k + 1; i < 6; ++i) {
            A[i][k] = A[i][k] * inverse;
            for (int j = k + 1; j < 6; ++j) A[i][j] = A[i][j] - A[i][k] * A[k][j];
        }
    }
    for (int i = 0; i < 6; ++i)
        for (int j = 0; j < i; ++j) x[i] = x[i] - A[i][j] * x[j];
    for (int i = 5; i >= 0; --i) {
        for (int j = i + 1; j < 6; ++j) x[i] = x[i] - A[i][j] * x[j];
        x[i] = x[i] / A[i][i];
    }
    return is_regular;
}

// of mj_implicit: the acceleration of a free body
inline __attribute__((noinline)) void accelerate_free_body(const Description& m, const Group& d, int b, Real* acc) {
    const int first = m.bodies[b].first_dof;
    const double h = m.timestep;
    Real A[6][6], x[6], force[3][3], torque[3][3];
    for (auto& row : A)
        for (Real& each : row) each = all(0);
    for (int r = 0; r < 6; ++r) {
        const Dof& dof = m.dofs[first + r];
        for (int t = dof.row_begin; t < dof.row_begin + dof.row_size; ++t) {
            const int c = m.columns[t] - first;
            A[r][c] = A[c][r] = d.M[t];
        }
    }
    for (int r = 0; r < 6; ++r)
        A[r][r] = A[r][r] + h * own_or(d, m.own_of_dof(first + r) + 1, m.dofs[first + r].damping);
    bias_derivative(m, d, b, force, torque);
    for (int r = 0; r < 3; ++r)
        for (int c = 0; c < 3; ++c) {
            A[r][3 + c] = A[r][3 + c] + h * force[r][c];
            A[3 + r][3 + c] = A[3 + r][3 + c] + h * torque[r][c];
        }
    for (int r = 0; r < 6; ++r) x[r] = d.smooth[first + r] + d.constraint[first + r];
    const Mask is_regular = solve_with_pivots(A, x);
    for (int r = 0; r < 6; ++r) acc[first + r] = choose(is_regular, x[r], acc[first + r]);
}

}  // namespace cypool::lanes::CYPOOL_LANES

#pragma GCC pop_options
