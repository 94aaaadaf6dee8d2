// The projected Gauss-Seidel method for the constraint forces, for four environments with equally many rows.
//
// MuJoCo visits the rows in an order that it shuffles, which depends on their number alone.

#include <utility>

#include "cypool/envs/shared/lanes/target.h"

namespace cypool::lanes::CYPOOL_LANES {

// four problems in terms of forces: half of f'Af + f'b is to be least, with all f >= 0
struct Dual {
    Real A[MAX_DUAL_ROWS * MAX_DUAL_ROWS], b[MAX_DUAL_ROWS], inverse_diagonal[MAX_DUAL_ROWS], diagonal[MAX_DUAL_ROWS];
    Real before[MAX_DUAL_ROWS], start[MAX_DUAL_ROWS];  // forces of the last iteration, and at the begin of this one
    Real Y[MAX_DUAL_ROWS * MAX_DOFS];
};

// PCG32, from the same state in each call of the solver
class RowShuffle {
public:
    explicit RowShuffle(int num_rows) : num_rows_(num_rows) {
        for (int r = 0; r < num_rows; ++r) order_[r] = r;
        draw();
    }
    const int* next() {
        for (int r = num_rows_ - 1; r > 0; --r) std::swap(order_[r], order_[draw() % static_cast<uint32_t>(r + 1)]);
        return order_;
    }

private:
    uint32_t draw() {
        const uint64_t before = state_;
        state_ = before * 6364136223846793005u + 1u;
        const auto shifted = static_cast<uint32_t>(((before >> 18) ^ before) >> 27);
        const auto turn = static_cast<uint32_t>(before >> 59);
        return (shifted >> turn) | (shifted << ((32 - turn) & 31));
    }

    int num_rows_, order_[MAX_DUAL_ROWS];
    uint64_t state_ = 0;
};

// A = J inv(M) J' + R, by way of Y = J inv(L) / sqrt(D)
inline __attribute__((noinline)) void make_dual(const Description& m, const Problem& p, Dual& dual) {
    const int n = m.nv;
    Real scale[MAX_DOFS];
    for (int i = 0; i < n; ++i) scale[i] = 1 / sqrt(p.LD[m.dofs[i].row_begin + m.dofs[i].row_size - 1]);
    for (int r = 0; r < p.num_rows; ++r) {
        Real* const y = dual.Y + r * n;
        for (int i = 0; i < n; ++i) y[i] = p.J[r * n + i];
        // the others stay zero
        Dofs chains = 0;
        for (Dofs left = p.dofs[r]; left; left &= left - 1) chains |= m.dofs[__builtin_ctzll(left)].chain;
        int dofs[MAX_DOFS], count = 0;
        for (Dofs left = chains; left; left &= left - 1) dofs[count++] = __builtin_ctzll(left);
        for (int k = count - 1; k >= 0; --k) {
            const int begin = m.dofs[dofs[k]].row_begin, below = m.dofs[dofs[k]].row_size - 1;
            const int* const columns = m.columns + begin;
            const Real* const row = p.LD + begin;
            const Real value = y[dofs[k]];
            for (int t = 0; t < below; ++t) y[columns[t]] = y[columns[t]] - row[t] * value;
        }
        Real own[MAX_DOFS];
        for (int k = 0; k < count; ++k) own[k] = y[dofs[k]] = y[dofs[k]] * scale[dofs[k]];
        for (int c = 0; c <= r; ++c) {
            Real sum = all(0);
            const Real* const other = dual.Y + c * n;
            for (int k = 0; k < count; ++k) sum = sum + other[dofs[k]] * own[k];
            dual.A[r * p.num_rows + c] = dual.A[c * p.num_rows + r] = sum;
        }
        Real& diagonal = dual.A[r * (p.num_rows + 1)];
        diagonal = diagonal + p.R[r];
        dual.inverse_diagonal[r] = 1 / diagonal;
        dual.diagonal[r] = 1 / dual.inverse_diagonal[r];
    }
}

// the forces that belong to qacc_warmstart, unless zero is better
inline __attribute__((noinline)) void warmstart_forces(const Description& m, Problem& p, Dual& dual) {
    const int n = m.nv, num_rows = p.num_rows;
    for (int r = 0; r < num_rows; ++r) {
        const Real* const J = p.J + r * n;
        dual.b[r] = dot(J, p.smooth_acc, n) - p.aref[r];
        const Real residual = dot(J, p.warmstart, n) - p.aref[r];
        Mask sticks;
        const int friction = r - p.num_equalities;
        p.force[r] = friction < 0 ? -p.D[r] * residual
                     : friction < m.num_frictions
                         ? friction_force(p.friction[friction], residual, p.R[r], p.D[r], sticks)
                         : where(residual < 0.0, -p.D[r] * residual);
    }
    Real Af[MAX_DUAL_ROWS];
    for (int r = 0; r < num_rows; ++r) Af[r] = dot(dual.A + r * num_rows, p.force, num_rows);
    const Mask is_cold =
        m.has_warmstart ? dot(p.force, dual.b, num_rows) + 0.5 * dot(p.force, Af, num_rows) > 0.0 : ~none();
    p.did = is_cold & IS_COLD;
    for (int r = 0; r < num_rows; ++r) p.force[r] = choose(is_cold, all(0), p.force[r]);
}

// the nearest force that a row can have
CYPOOL_LANES_INLINE Real possible_force(const Description& m, const Problem& p, int row, const Real& force) {
    const int friction = row - p.num_equalities;
    if (friction < 0) return force;
    return friction < m.num_frictions ? clip(force, -p.friction[friction], p.friction[friction])
                                      : choose(force < 0.0, all(0), force);
}

// One visit of each row. Returns how much lower the cost is.
inline __attribute__((noinline)) Real visit_rows(const Description& m, Problem& p, const Dual& dual, const int* order,
                                                 const Mask& running) {
    constexpr double most_worse = 1e-10;
    const int num_rows = p.num_rows;
    Real improvement = all(0);
    for (int k = 0; k < num_rows; ++k) {
        const int r = order[k];
        const Real residual = dual.b[r] + dot(dual.A + r * num_rows, p.force, num_rows);
        const Real old = p.force[r];
        Real force = possible_force(m, p, r, old - residual * dual.inverse_diagonal[r]);
        const Real step = force - old;
        Real change = 0.5 * step * step * dual.diagonal[r] + step * residual;
        const Mask is_worse = change > most_worse;
        p.did = p.did | (is_worse & running & IS_WORSE);
        force = choose(is_worse, old, force);
        change = choose(is_worse, all(0), change);
        p.force[r] = choose(running, force, old);
        improvement = improvement - change;
    }
    return improvement;
}

// mj_solPGS, with Nesterov's acceleration, which starts over where it leads uphill
inline __attribute__((noinline)) void solve_gauss_seidel(const Description& m, Problem& p, Dual& dual, Mask running) {
    const int n = m.nv, num_rows = p.num_rows;
    make_dual(m, p, dual);
    warmstart_forces(m, p, dual);
    Real trace = all(0);
    for (int i = 0; i < n; ++i) trace = trace + p.M[i];
    const Real scale = 1 / trace;
    for (int r = 0; r < num_rows; ++r) dual.before[r] = p.force[r];
    RowShuffle shuffle(num_rows);
    Real count = all(0);  // of iterations since the acceleration began
    for (int iteration = 0; iteration < m.iterations && any(running); ++iteration) {
        const Real momentum = iteration ? (count - 1) / (count + 2) : all(0);
        const Mask is_moved = (momentum > 0.0) & running;
        p.did = (p.did + (running & ITERATION)) | (is_moved & HAS_MOMENTUM);
        for (int r = 0; r < num_rows; ++r) {
            const Real force = p.force[r];
            const Real moved = possible_force(m, p, r, force + momentum * (force - dual.before[r]));
            p.force[r] = dual.start[r] = choose(is_moved, moved, force);
            dual.before[r] = choose(running, force, dual.before[r]);
        }
        const Real improvement = visit_rows(m, p, dual, shuffle.next(), running) * scale;
        Real along = all(0);
        if (iteration)
            for (int r = 0; r < num_rows; ++r)
                along = along + (p.force[r] - dual.start[r]) * (dual.start[r] - dual.before[r]);
        p.did = p.did | ((along < 0.0) & running & RESTARTS);
        count = choose(along < 0.0, all(0), count + 1);
        running = running & ~(improvement < m.tolerance);
    }
    for (int i = 0; i < n; ++i) p.constraint[i] = all(0);
    for (int r = 0; r < num_rows; ++r)
        for (Dofs left = p.dofs[r]; left; left &= left - 1) {
            const int i = __builtin_ctzll(left);
            p.constraint[i] = p.constraint[i] + p.J[r * n + i] * p.force[r];
        }
    for (int i = 0; i < n; ++i) p.qacc[i] = p.constraint[i];
    solve_factorized(m, p.qacc, p.LD, p.LD_inverse);
    for (int i = 0; i < n; ++i) p.qacc[i] = p.qacc[i] + p.smooth_acc[i];
}

}  // namespace cypool::lanes::CYPOOL_LANES

#pragma GCC pop_options
