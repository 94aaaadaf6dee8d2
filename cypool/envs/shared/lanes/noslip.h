// Friction that does not creep: after the solver, a Gauss-Seidel method for the forces of friction alone.
//
// It takes one environment after another. A vector has the numbers of several rows.

#include <algorithm>
#include <cmath>

#include "cypool/envs/shared/lanes/target.h"

namespace cypool::lanes::CYPOOL_LANES {

class NoSlip {
public:
    explicit NoSlip(const Description& m)
        : m_(m),
          arrays_([&](const auto& add) { add(Y_, m.nv * MOST_BLOCKS), add(A_, int{MAX_ROWS} * MOST_BLOCKS); }) {}

    // Takes an environment, whose rows have the forces of the solver.
    void begin(const Group& d, int l) {
        num_rows_ = d.num_own_rows[l];
        std::copy_n(d.own_rows[l], num_rows_, rows_);
        // in MuJoCo's order, not by island
        std::sort(rows_, rows_ + num_rows_);
        num_blocks_ = (num_rows_ + WIDTH - 1) / WIDTH;
        std::fill_n(Y_, m_.nv * num_blocks_, all(0));
        double smooth[MAX_DOFS];
        for (int i = 0; i < m_.nv; ++i) smooth[i] = lane(d.smooth_acc[i], l);
        for (int k = 0; k < num_rows_; ++k) {
            const int r = rows_[k];
            const Row& row = d.rows[r];
            place_[r] = k, force_[k] = lane(row.force, l), R_[k] = lane(row.R, l);
            double J[MAX_DOFS] = {};
            for (Dofs left = row.dofs; left; left &= left - 1) {
                const int i = __builtin_ctzll(left);
                J[i] = row.dof < 0 ? lane(d.J[r * m_.nv + i], l) : row.is_negative ? -1 : 1;
                lanes_of(Y_[i * num_blocks_])[k] = J[i];
            }
            b_[k] = dot_of(J, smooth, m_.nv) - lane(row.aref, l);
        }
        make_Y(d, l);
        for (int k = 0; k < num_rows_; ++k)
            if (const Row& row = d.rows[rows_[k]]; row.is_edge || is_friction(rows_[k])) make_A(k, row.dofs);
    }

    // mj_solNoSlip for rows of an island of it. Returns a number for the branches that it took.
    uint64_t solve(const Group& d, int l, const int* rows, int count, double scale) {
        uint64_t branches = 0;
        for (int iteration = 0; iteration < m_.noslip_iterations; ++iteration) {
            double improvement = 0;
            int took = 0;
            for (int k = 0; k < count && !iteration; ++k) {
                const int at = place_[rows[k]];
                improvement += 0.5 * force_[at] * force_[at] * R_[at];
            }
            for (int k = 0; k < count; ++k) {
                if (!is_friction(rows[k])) continue;
                const int number = rows[k] - m_.num_equality_rows;
                const Real most = own_or(d, m_.own_of_friction(number) + 1, m_.frictions[number].force);
                improvement -= stick(place_[rows[k]], lane(most, l), took);
            }
            for (int k = 0; k < count; ++k)
                if (d.rows[rows[k]].is_edge) improvement -= slide(place_[rows[k++]], took);
            branches = (branches + static_cast<uint64_t>(took) + 1) * 0x9e3779b97f4a7c15;
            if (improvement * scale < m_.noslip_tolerance) break;
        }
        return branches;
    }

    void end(Group& d, int l) const {
        for (int k = 0; k < num_rows_; ++k) lane(d.rows[rows_[k]].force, l) = force_[k];
    }

private:
    static constexpr int MOST_BLOCKS = MAX_ROWS / WIDTH;
    enum Took { STICKS_LOW = 1, STICKS_HIGH = 2, SLIDES_LOW = 4, SLIDES_HIGH = 8, IS_STUCK = 16, STAYS = 32 };
    using Four = double __attribute__((vector_size(32), aligned(8), may_alias));

    bool is_friction(int row) const {
        return row >= m_.num_equality_rows && row < m_.num_equality_rows + m_.num_frictions;
    }
    double* row_of_A(int k) { return lanes_of(A_[k * num_blocks_]); }

    // mju_dot
    static double dot_of(const double* a, const double* b, int n) {
        const auto four = [](const double* x) { return *reinterpret_cast<const Four*>(x); };
        double sum = 0;
        int k = 0;
        if (n >= 4) {
            Four s = four(a) * four(b);
            for (k = 4; k <= n - 4; k += 4) s = s + four(a + k) * four(b + k);
            sum = (s[0] + s[2]) + (s[1] + s[3]);
        }
        if (n - k == 3) return sum + ((a[k] * b[k] + a[k + 1] * b[k + 1]) + a[k + 2] * b[k + 2]);
        if (n - k == 2) return sum + (a[k] * b[k] + a[k + 1] * b[k + 1]);
        return n - k == 1 ? sum + a[k] * b[k] : sum;
    }

    // from J: J inv(L) / sqrt(D), for several rows in each vector
    void make_Y(const Group& d, int l) {
        for (int i = m_.nv - 1; i >= 0; --i) {
            const Dof& dof = m_.dofs[i];
            Real* const own = Y_ + i * num_blocks_;
            for (int t = dof.row_begin; t < dof.row_begin + dof.row_size - 1; ++t) {
                const Real factor = all(lane(d.LD[t], l));
                Real* const other = Y_ + m_.columns[t] * num_blocks_;
                for (int k = 0; k < num_blocks_; ++k) other[k] = other[k] - factor * own[k];
            }
        }
        for (int i = 0; i < m_.nv; ++i) {
            const double diagonal = lane(d.LD[m_.dofs[i].row_begin + m_.dofs[i].row_size - 1], l);
            const Real scale = all(1 / std::sqrt(diagonal));
            for (int k = 0; k < num_blocks_; ++k) Y_[i * num_blocks_ + k] = Y_[i * num_blocks_ + k] * scale;
        }
    }

    // a row of Y Y' + R
    void make_A(int row, Dofs dofs) {
        Dofs chains = 0;
        for (; dofs; dofs &= dofs - 1) chains |= m_.dofs[__builtin_ctzll(dofs)].chain;
        Real* const A = A_ + row * num_blocks_;
        std::fill_n(A, num_blocks_, all(0));
        for (; chains; chains &= chains - 1) {
            const Real* const Y = Y_ + __builtin_ctzll(chains) * num_blocks_;
            const Real own = all(reinterpret_cast<const double*>(Y)[row]);
            for (int k = 0; k < num_blocks_; ++k) A[k] = A[k] + Y[k] * own;
        }
        row_of_A(row)[row] += R_[row];
    }

    // without R
    double residual(int k) { return b_[k] + dot_of(row_of_A(k), force_, num_rows_) - R_[k] * force_[k]; }

    // The force of a degree of freedom's friction. Returns how much the cost grows.
    double stick(int k, double most, int& took) {
        const double residual_now = residual(k), old = force_[k];
        const double inverse = 1 / std::max(TINY, row_of_A(k)[k] - R_[k]), force = old - residual_now * inverse;
        took |= force < -most ? STICKS_LOW : force > most ? STICKS_HIGH : 0;
        force_[k] = force < -most ? -most : force > most ? most : force;
        const double step = force_[k] - old;
        return 0.5 * step * step / inverse + step * residual_now;
    }

    // Two opposing edges of a pyramid, whose sum stays. Returns how much the cost grows.
    double slide(int k, int& took) {
        const double residuals[2] = {residual(k), residual(k + 1)}, old[2] = {force_[k], force_[k + 1]};
        const double A[4] = {std::max(1e-10, row_of_A(k)[k] - R_[k]), row_of_A(k)[k + 1], row_of_A(k + 1)[k],
                             std::max(1e-10, row_of_A(k + 1)[k + 1] - R_[k + 1])};
        const double b[2] = {residuals[0] - (A[0] * old[0] + A[1] * old[1]),
                             residuals[1] - (A[2] * old[0] + A[3] * old[1])};
        const double middle = 0.5 * (old[0] + old[1]);
        const double curvature = A[0] + A[3] - A[1] - A[2], slope = middle * (A[0] - A[3]) + b[0] - b[1];
        const bool is_stuck = curvature < TINY;
        const double y = is_stuck ? 0 : -slope / curvature;
        took |= is_stuck ? IS_STUCK : y < -middle ? SLIDES_LOW : y > middle ? SLIDES_HIGH : 0;
        force_[k] = y < -middle ? 0 : y > middle ? 2 * middle : middle + y;
        force_[k + 1] = y < -middle ? 2 * middle : y > middle ? 0 : middle - y;
        if (is_stuck) force_[k] = force_[k + 1] = middle;
        const double step[2] = {force_[k] - old[0], force_[k + 1] - old[1]};
        const double curve = step[0] * (A[0] * step[0] + A[1] * step[1]) + step[1] * (A[2] * step[0] + A[3] * step[1]);
        const double change = 0.5 * curve + (step[0] * residuals[0] + step[1] * residuals[1]);
        if (!(change > 1e-10)) return change;
        took |= STAYS;
        force_[k] = old[0], force_[k + 1] = old[1];
        return 0;
    }

    const Description& m_;
    int num_rows_ = 0, num_blocks_ = 0;  // of vectors that have a number of each row
    int rows_[MAX_ROWS], place_[MAX_ROWS];
    double force_[MAX_ROWS], R_[MAX_ROWS], b_[MAX_ROWS];
    Real *Y_, *A_;
    Arrays arrays_;
};

// mj_dualFinish, in lanes with rows
inline __attribute__((noinline)) void finish_noslip(const Description& m, Group& d) {
    Real acc[MAX_DOFS];
    for (int i = 0; i < m.nv; ++i) d.constraint[i] = all(0);
    Mask has_rows = none();
    for (int r = 0; r < d.num_rows; ++r) {
        const Row& row = d.rows[r];
        const Real force = where(row.active, row.force);
        has_rows = has_rows | row.active;
        for (Dofs left = row.dofs; left; left &= left - 1) {
            const int i = __builtin_ctzll(left);
            const Real J = row.dof < 0 ? d.J[r * m.nv + i] : all(row.is_negative ? -1 : 1);
            d.constraint[i] = d.constraint[i] + J * force;
        }
    }
    for (int i = 0; i < m.nv; ++i) acc[i] = d.constraint[i];
    solve_factorized(m, acc, d.LD, d.LD_inverse);
    for (int i = 0; i < m.nv; ++i) d.qacc[i] = choose(has_rows, acc[i] + d.smooth_acc[i], d.qacc[i]);
}

}  // namespace cypool::lanes::CYPOOL_LANES

#pragma GCC pop_options
