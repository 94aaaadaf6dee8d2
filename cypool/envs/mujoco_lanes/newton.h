// Newton's method for the constraint forces, for four environments with constraints at a time, from any groups.
//
// A row that an environment does not have is zero in its lane: it adds plus or minus zero to sums.
#pragma once

#include "cypool/envs/mujoco_lanes/constraint.h"

#pragma GCC push_options
#pragma GCC target("avx2,no-fma")

namespace cypool::lanes {

// The exact line search of one lane: which step lengths are evaluated depends on what came out before.
class LineSearch {
public:
    struct Point {
        double alpha, cost, slope, curvature;
    };

    // Returns where to evaluate first; the search has no result until `next` returns nullptr.
    Point* begin(double tolerance) {
        tolerance_ = tolerance;
        start_.alpha = 0;
        return &start_;
    }
    double alpha() const { return alpha_; }
    double improvement() const { return improvement_; }

    // The last point has been evaluated. Returns the next one, or nullptr at the end.
    Point* next(int most) {
        ++evaluations_;
        for (;;) switch (phase_) {
                case START:
                    newton_from(start_, low_);
                    phase_ = FIRST;
                    return &low_;
                case FIRST:
                    if (std::fabs(low_.slope) < tolerance_ && (low_.alpha == 0 || low_.cost < 0)) return finish(low_);
                    direction_ = low_.slope < 0 ? 1 : -1;
                    high_ = start_;
                    phase_ = ONE_SIDED;
                    break;
                case ONE_SIDED:
                    if (low_.slope * direction_ <= -tolerance_ && evaluations_ < most) {
                        high_ = low_;
                        low_.alpha -= low_.slope / low_.curvature;
                        phase_ = MOVED;
                        return &low_;
                    }
                    if (evaluations_ >= most) return finish(low_);
                    high_next_ = low_;
                    newton_from(low_, low_next_);
                    phase_ = BRACKET;
                    return &low_next_;
                case MOVED:
                    if (std::fabs(low_.slope) < tolerance_ && low_.cost < 0) return finish(low_);
                    phase_ = ONE_SIDED;
                    break;
                case BRACKET:
                    if (evaluations_ < most) {
                        middle_.alpha = 0.5 * (low_.alpha + high_.alpha);
                        phase_ = MIDDLE;
                        return &middle_;
                    }
                    if (low_.cost <= high_.cost && low_.cost < 0) return finish(low_);
                    if (high_.cost <= low_.cost && high_.cost < 0) return finish(high_);
                    return nullptr;
                case MIDDLE: {
                    const Point* best = nullptr;
                    for (const Point* each : {&low_next_, &high_next_, &middle_})
                        if (std::fabs(each->slope) < tolerance_ && (!best || each->cost < best->cost)) best = each;
                    if (best) return finish(*best);
                    candidates_[0] = low_next_, candidates_[1] = high_next_, candidates_[2] = middle_;
                    low_moved_ = narrow(low_);
                    phase_ = LOW_DONE;
                    if (!low_moved_) break;
                    newton_from(low_, low_next_);
                    return &low_next_;
                }
                case LOW_DONE:
                    high_moved_ = narrow(high_);
                    phase_ = HIGH_DONE;
                    if (!high_moved_) break;
                    newton_from(high_, high_next_);
                    return &high_next_;
                case HIGH_DONE:
                    if (!low_moved_ && !high_moved_) return finish(middle_);
                    phase_ = BRACKET;
                    break;
            }
    }

private:
    enum Phase { START, FIRST, ONE_SIDED, MOVED, BRACKET, MIDDLE, LOW_DONE, HIGH_DONE };

    static void newton_from(const Point& from, Point& to) { to.alpha = from.alpha - from.slope / from.curvature; }
    Point* finish(const Point& point) {
        alpha_ = point.alpha;
        improvement_ = -point.cost;
        return nullptr;
    }
    // moves an end of the bracket to a candidate on its side that is flatter
    bool narrow(Point& end) const {
        bool moved = false;
        for (const Point& each : candidates_) {
            const bool is_better = (end.slope < 0 && each.slope < 0 && end.slope < each.slope)
                                   || (end.slope > 0 && each.slope > 0 && end.slope > each.slope);
            if (!is_better) continue;
            end = each;
            moved = true;
        }
        return moved;
    }

    Phase phase_ = START;
    int evaluations_ = 0, direction_ = 0;
    bool low_moved_ = false, high_moved_ = false;
    double tolerance_ = 0, alpha_ = 0, improvement_ = 0;
    // written before they are read
    Point start_, low_, high_, middle_, low_next_, high_next_, candidates_[3];
};

// four problems
struct Problem {
    Real M[MAX_INERTIA], LD[MAX_INERTIA], LD_inverse[MAX_DOFS], smooth[MAX_DOFS], smooth_acc[MAX_DOFS];
    Real warmstart[MAX_DOFS], qacc[MAX_DOFS], constraint[MAX_DOFS], Ma[MAX_DOFS], Mv[MAX_DOFS], gradient[MAX_DOFS];
    Real newton_step[MAX_DOFS], direction[MAX_DOFS];
    int num_rows;
    Mask bad;  // lanes that mj_step has to step
    uint32_t dofs[MAX_ROWS];
    Real J[MAX_ROWS * MAX_DOFS], R[MAX_ROWS], D[MAX_ROWS], aref[MAX_ROWS], force[MAX_ROWS], residual[MAX_ROWS],
        Jv[MAX_ROWS];
    Real quad0[MAX_ROWS], quad1[MAX_ROWS], quad2[MAX_ROWS];
    Mask active[MAX_ROWS], before[MAX_ROWS];
    Real H[MAX_DOFS * MAX_DOFS], other_H[MAX_DOFS * MAX_DOFS];
};

// mj_mulM
CYPOOL_LANES_INLINE void multiply_inertia_matrix(const Description& m, Real* result, const Real* M, const Real* v) {
    for (int i = 0; i < m.nv; ++i) {
        const Real* const row = M + m.dofs[i].row_begin;
        const int* const columns = m.columns + m.dofs[i].row_begin;
        const int diagonal = m.dofs[i].row_size - 1;
        Real sum = row[diagonal] * v[i];
        for (int k = diagonal - 1; k >= 0; --k) {
            const int j = columns[k];
            sum = sum + row[k] * v[j];
            result[j] = result[j] + row[k] * v[i];
        }
        result[i] = sum;
    }
}

class Newton {
public:
    // Solves the problems of these lanes. `load_factor` fills LD, which few need.
    template <class LoadFactor>
    static __attribute__((noinline)) void solve(const Description& m, Problem& p, Mask running,
                                                const LoadFactor& load_factor) {
        const int n = m.nv;
        warmstart(m, p);
        update_constraint(m, p);
        gradient(m, p);
        Real trace = all(0);
        for (int i = 0; i < n; ++i) trace = trace + p.M[m.dofs[i].row_begin + m.dofs[i].row_size - 1];
        const Real scale = 1 / trace;
        const Mask flat = scale * sqrt(dot(p.gradient, p.gradient, n)) < m.tolerance;
        if (any(flat & running)) {
            load_factor();
            for (int i = 0; i < n; ++i) p.newton_step[i] = p.gradient[i];
            solve_factorized(m, p.newton_step, p.LD, p.LD_inverse);
            running = running & ~((decrement(m, p, scale) < m.tolerance) & flat);
            if (!any(running)) return;
        }
        factorize_hessian(m, p, p.H);
        solve_cholesky(m, p);
        if (any(flat & running)) running = running & ~(flat & (decrement(m, p, scale) < m.tolerance));
        descend(m, p);
        for (int iteration = 0; iteration < m.iterations && any(running); ++iteration) {
            Real improvement;
            Real alpha = search(m, p, scale, running, improvement);
            running = running & (alpha != 0.0);
            alpha = where(running, alpha);
            if (!any(running)) break;
            move(m, p, alpha);
            update_constraint(m, p);
            gradient(m, p);
            improvement = scale * improvement;
            const Real slope = scale * sqrt(dot(p.gradient, p.gradient, n));
            running = running & ~(((improvement > 0.0) & (improvement < m.tolerance)) | (slope < m.tolerance));
            // the factor is for lanes that continue
            if (!any(running)) break;
            update_hessian(m, p, running);
            solve_cholesky(m, p);
            running = running & ~(decrement(m, p, scale) < m.tolerance);
            descend(m, p);
        }
    }

private:
    CYPOOL_LANES_INLINE Real decrement(const Description& m, const Problem& p, const Real& scale) {
        const int n = m.nv;
        return max(0.5 * scale * dot(p.gradient, p.newton_step, n), all(0));
    }
    CYPOOL_LANES_INLINE void gradient(const Description& m, Problem& p) {
        const int n = m.nv;
        for (int i = 0; i < n; ++i) p.gradient[i] = p.Ma[i] - p.smooth[i] - p.constraint[i];
    }
    CYPOOL_LANES_INLINE void descend(const Description& m, Problem& p) {
        const int n = m.nv;
        for (int i = 0; i < n; ++i) p.direction[i] = p.newton_step[i] * -1.0;
    }
    CYPOOL_LANES_INLINE void move(const Description& m, Problem& p, const Real& alpha) {
        const int n = m.nv;
        for (int i = 0; i < n; ++i) {
            p.qacc[i] = p.qacc[i] + p.direction[i] * alpha;
            p.Ma[i] = p.Ma[i] + p.Mv[i] * alpha;
        }
        for (int r = 0; r < p.num_rows; ++r) {
            p.residual[r] = p.residual[r] + p.Jv[r] * alpha;
            p.before[r] = p.active[r];
        }
    }

    CYPOOL_LANES_INLINE Real cost(const Problem& p, const Real* residual) {
        Real sum = all(0);
        for (int r = 0; r < p.num_rows; ++r)
            sum = sum + where(residual[r] < 0.0, 0.5 * p.D[r] * residual[r] * residual[r]);
        return sum;
    }

    // the better one of qacc_warmstart and qacc_smooth
    static __attribute__((noinline)) void warmstart(const Description& m, Problem& p) {
        const int n = m.nv;
        Real smooth[MAX_ROWS], warm[MAX_ROWS];
        for (int r = 0; r < p.num_rows; ++r) {
            smooth[r] = dot(p.J + r * n, p.smooth_acc, n) - p.aref[r];
            warm[r] = dot(p.J + r * n, p.warmstart, n) - p.aref[r];
        }
        Real force[MAX_DOFS], step[MAX_DOFS];
        for (int i = 0; i < n; ++i) step[i] = p.warmstart[i] - p.smooth_acc[i];
        multiply_inertia_matrix(m, force, p.M, step);
        const Real warm_cost = cost(p, warm) + 0.5 * dot(force, step, n);
        const Mask is_cold = warm_cost > cost(p, smooth);
        for (int i = 0; i < n; ++i) p.qacc[i] = choose(is_cold, p.smooth_acc[i], p.warmstart[i]);
        multiply_inertia_matrix(m, p.Ma, p.M, p.qacc);
        for (int r = 0; r < p.num_rows; ++r) p.residual[r] = choose(is_cold, smooth[r], warm[r]);
    }

    // mj_constraintUpdate
    CYPOOL_LANES_INLINE void update_constraint(const Description& m, Problem& p) {
        const int n = m.nv;
        Real sum[MAX_DOFS];
        for (int i = 0; i < n; ++i) sum[i] = all(0);
        for (int r = 0; r < p.num_rows; ++r) {
            p.active[r] = p.residual[r] < 0.0;
            p.force[r] = where(p.active[r], -p.D[r] * p.residual[r]);
            if (!any(p.active[r])) continue;
            const Real* const J = p.J + r * n;
            for (uint32_t left = p.dofs[r]; left; left &= left - 1) {
                const int i = __builtin_ctz(left);
                sum[i] = sum[i] + J[i] * p.force[r];
            }
        }
        for (int i = 0; i < n; ++i) p.constraint[i] = sum[i];
    }

    // J'DJ + M of active rows, and its Cholesky factor
    static __attribute__((noinline)) void factorize_hessian(const Description& m, Problem& p, Real* H) {
        const int n = m.nv;
        for (int i = 0; i < n * n; ++i) H[i] = all(0);
        for (int r = 0; r < p.num_rows; ++r) {
            if (!any(p.active[r])) continue;
            const Real D = where(p.active[r], p.D[r]);
            const Real* const J = p.J + r * n;
            int dofs[MAX_DOFS], count = 0;
            for (uint32_t left = p.dofs[r]; left; left &= left - 1) dofs[count++] = __builtin_ctz(left);
            for (int a = 0; a < count; ++a) {
                const Real scaled = J[dofs[a]] * D;
                Real* const row = H + dofs[a] * n;
                for (int b = 0; b <= a; ++b) row[dofs[b]] = row[dofs[b]] + J[dofs[b]] * scaled;
            }
        }
        for (int i = 0; i < n; ++i)
            for (int k = m.dofs[i].row_begin; k < m.dofs[i].row_begin + m.dofs[i].row_size; ++k) {
                const int j = m.columns[k];
                H[i * n + j] = H[i * n + j] + p.M[k];
            }
        Mask bad = none();
        for (int j = 0; j < n; ++j) {
            Real diagonal = H[j * n + j];
            if (j) diagonal = diagonal - dot(H + j * n, H + j * n, j);
            bad = bad | ~(diagonal >= TINY);
            diagonal = sqrt(diagonal);
            H[j * n + j] = diagonal;
            const Real inverse = 1 / diagonal;
            for (int i = j + 1; i < n; ++i) H[i * n + j] = (H[i * n + j] - dot(H + i * n, H + j * n, j)) * inverse;
        }
        p.bad = p.bad | bad;
    }

    // mju_cholSolve
    static __attribute__((noinline)) void solve_cholesky(const Description& m, Problem& p) {
        const int n = m.nv;
        Real* const x = p.newton_step;
        const Real* const H = p.H;
        for (int i = 0; i < n; ++i) {
            Real sum = p.gradient[i];
            if (i) sum = sum - dot(H + i * n, x, i);
            x[i] = sum / H[i * (n + 1)];
        }
        for (int i = n - 1; i >= 0; --i) {
            Real sum = x[i];
            for (int j = i + 1; j < n; ++j) sum = sum - H[j * n + i] * x[j];
            x[i] = sum / H[i * (n + 1)];
        }
    }

    // mju_cholUpdate for rows that have become active or inactive
    static __attribute__((noinline)) void update_hessian(const Description& m, Problem& p, const Mask& running) {
        const int n = m.nv;
        // the next one of each lane together
        int rows[WIDTH][MAX_ROWS], counts[WIDTH] = {}, most = 0;
        for (int r = 0; r < p.num_rows; ++r)
            for (int left = bits((p.before[r] != p.active[r]) & running); left; left &= left - 1) {
                const int l = __builtin_ctz(static_cast<unsigned>(left));
                rows[l][counts[l]++] = r;
                most = std::max(most, counts[l]);
            }
        Mask lost = none();
        for (int next = 0; next < most; ++next) {
            Real D = all(0), sign = all(1), x[MAX_DOFS];
            for (int i = 0; i < n; ++i) x[i] = all(0);
            for (int l = 0; l < WIDTH; ++l) {
                if (next >= counts[l]) continue;
                const int r = rows[l][next];
                lane(D, l) = lane(p.D[r], l);
                if (!(bits(p.active[r]) >> l & 1)) lane(sign, l) = -1;
                for (int i = 0; i < n; ++i) lane(x[i], l) = lane(p.J[r * n + i], l);
            }
            const Real root = sqrt(D);
            for (int i = 0; i < n; ++i) x[i] = x[i] * root;
            for (int k = 0; k < n; ++k) {
                const Mask there = x[k] != 0.0;
                if (!any(there)) continue;
                const Real old = p.H[k * n + k];
                Real squared = old * old + sign * (x[k] * x[k]);
                const Mask bad = (squared < TINY) & there;
                if (__builtin_expect(any(bad), 0)) {
                    lost = lost | bad;
                    squared = choose(bad, all(TINY), squared);
                }
                const Real fresh = sqrt(squared), c = fresh / old, inverse = 1 / c, s = x[k] / old;
                p.H[k * n + k] = choose(there, fresh, old);
                const Real signed_s = sign * s;
                for (int i = k + 1; i < n; ++i) {
                    const Real h = p.H[i * n + k], updated = (h + signed_s * x[i]) * inverse;
                    p.H[i * n + k] = choose(there, updated, h);
                    x[i] = choose(there, c * x[i] - s * updated, x[i]);
                }
            }
        }
        if (__builtin_expect(any(lost), 0)) {
            factorize_hessian(m, p, p.other_H);
            for (int i = 0; i < n; ++i)
                for (int k = 0; k <= i; ++k) p.H[i * n + k] = choose(lost, p.other_H[i * n + k], p.H[i * n + k]);
        }
    }

    // Returns how far to go; improvement: of the cost.
    static __attribute__((noinline)) Real search(const Description& m, Problem& p, const Real& scale,
                                                 const Mask& running, Real& improvement) {
        const int n = m.nv;
        const Real length = sqrt(dot(p.direction, p.direction, n));
        multiply_inertia_matrix(m, p.Mv, p.M, p.direction);
        for (int r = 0; r < p.num_rows; ++r) {
            p.Jv[r] = dot(p.J + r * n, p.direction, n);
            const Real force = p.D[r] * p.residual[r];
            p.quad0[r] = p.residual[r] * force * 0.5;
            p.quad1[r] = p.Jv[r] * force;
            p.quad2[r] = p.Jv[r] * p.D[r] * p.Jv[r] * 0.5;
        }
        const Real smooth1 = dot(p.direction, p.Ma, n) - dot(p.smooth, p.direction, n);
        const Real smooth2 = 0.5 * dot(p.direction, p.Mv, n);
        const Real tolerance = (m.tolerance * m.search_tolerance) * length / scale;
        LineSearch searches[WIDTH];
        LineSearch::Point* points[WIDTH] = {};
        int num_left = 0;
        for (int l = 0; l < WIDTH; ++l) {
            if (!(bits(running) >> l & 1) || lane(length, l) < TINY) continue;
            points[l] = searches[l].begin(lane(tolerance, l));
            ++num_left;
        }
        Real alpha = all(0);
        while (num_left) {
            for (int l = 0; l < WIDTH; ++l)
                if (points[l]) lane(alpha, l) = points[l]->alpha;
            Real cost, slope, curvature;
            evaluate(p, alpha, smooth1, smooth2, cost, slope, curvature);
            for (int l = 0; l < WIDTH; ++l) {
                if (!points[l]) continue;
                points[l]->cost = lane(cost, l);
                points[l]->slope = lane(slope, l);
                points[l]->curvature = lane(curvature, l);
                points[l] = searches[l].next(m.search_iterations);
                num_left -= !points[l];
            }
        }
        for (int l = 0; l < WIDTH; ++l) {
            lane(alpha, l) = searches[l].alpha();
            lane(improvement, l) = searches[l].improvement();
        }
        return alpha;
    }

    CYPOOL_LANES_INLINE void evaluate(const Problem& p, const Real& alpha, const Real& smooth1, const Real& smooth2,
                                      Real& cost, Real& slope, Real& curvature) {
        Real total = all(0), q0 = all(0), q1 = smooth1, q2 = smooth2;
        for (int r = 0; r < p.num_rows; ++r) {
            const Real residual = p.residual[r] + alpha * p.Jv[r];
            const Real start = where(p.residual[r] < 0.0, p.quad0[r]);
            const Mask active = residual < 0.0;
            q0 = q0 + where(active, p.quad0[r] - start);
            q1 = q1 + where(active, p.quad1[r]);
            q2 = q2 + where(active, p.quad2[r]);
            total = total - where(~active, start);
        }
        cost = total + ((alpha * alpha * q2 + alpha * q1) + q0);
        slope = 2 * alpha * q2 + q1;
        curvature = 2 * q2;
        curvature = choose(curvature <= 0.0, all(TINY), curvature);
    }
};

}  // namespace cypool::lanes

#pragma GCC pop_options
