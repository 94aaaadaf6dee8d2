// Newton's method for the constraint forces, for four environments with constraints at a time, from any groups.
//
// A row that an environment does not have is zero in its lane: it adds plus or minus zero to sums.

#include "cypool/envs/shared/lanes/target.h"

namespace cypool::lanes::CYPOOL_LANES {

// `IS_GENERAL`: there may be equality constraints and elliptic cones.
template <bool IS_GENERAL> class Newton {
public:
    // Solves the problems of these lanes. `load_factor` fills LD, which few need.
    template <class LoadFactor>
    static __attribute__((noinline)) void solve(const Island& m, Problem& p, Mask running,
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
            const Mask near = (decrement(m, p, scale) < m.tolerance) & flat;
            p.did = p.did | (flat & IS_FLAT) | (near & IS_NEAR);
            running = running & ~near;
            if (!any(running)) return;
        }
        factorize_hessian(m, p, p.H);
        solve_cholesky(m, p, with_cones(m, p));
        if (any(flat & running)) running = running & ~(flat & (decrement(m, p, scale) < m.tolerance));
        descend(m, p);
        for (int iteration = 0; iteration < m.iterations && any(running); ++iteration) {
            Real improvement;
            p.did = p.did + (running & ITERATION);
            Real alpha = search(m, p, scale, running, improvement);
            running = running & (alpha != 0.0);
            alpha = where(running, alpha);
            if (!any(running)) break;
            move(m, p, alpha);
            update_constraint(m, p);
            gradient(m, p);
            improvement = scale * improvement;
            const Real slope = scale * sqrt(dot(p.gradient, p.gradient, n));
            const Mask little = (improvement > 0.0) & (improvement < m.tolerance), level = slope < m.tolerance;
            p.did = p.did | (running & ((little & IMPROVES_LITTLE) | (level & IS_LEVEL)));
            running = running & ~(little | level);
            // the factor is for lanes that continue
            if (!any(running) || iteration + 1 == m.iterations) break;
            update_hessian(m, p, running);
            solve_cholesky(m, p, with_cones(m, p));
            const Mask near = decrement(m, p, scale) < m.tolerance;
            p.did = p.did | (running & near & IS_NEAR);
            running = running & ~near;
            descend(m, p);
        }
    }

private:
    CYPOOL_LANES_INLINE int num_equalities(const Problem& p) { return IS_GENERAL ? p.num_equalities : 0; }
    CYPOOL_LANES_INLINE int num_cones(const Problem& p) { return IS_GENERAL ? p.num_cones : 0; }
    // the row where the scalar rows before a cone end
    CYPOOL_LANES_INLINE int next_cone(const Problem& p, int number) {
        return number < num_cones(p) ? p.cones[number].row : p.num_rows;
    }
    // a row of J times a vector
    CYPOOL_LANES_INLINE Real along(const Island& m, const Problem& p, int row, const Real* x) {
        const auto friction = static_cast<unsigned>(row - num_equalities(p));
        return friction < static_cast<unsigned>(m.num_frictions) ? x[m.frictions[friction].dof]
                                                                 : dot(p.J + row * m.nv, x, m.nv);
    }
    CYPOOL_LANES_INLINE Real decrement(const Island& m, const Problem& p, const Real& scale) {
        const int n = m.nv;
        return max(0.5 * scale * dot(p.gradient, p.newton_step, n), all(0));
    }
    CYPOOL_LANES_INLINE void gradient(const Island& m, Problem& p) {
        const int n = m.nv;
        for (int i = 0; i < n; ++i) p.gradient[i] = p.Ma[i] - p.smooth[i] - p.constraint[i];
    }
    CYPOOL_LANES_INLINE void descend(const Island& m, Problem& p) {
        const int n = m.nv;
        for (int i = 0; i < n; ++i) p.direction[i] = p.newton_step[i] * -1.0;
    }
    CYPOOL_LANES_INLINE void move(const Island& m, Problem& p, const Real& alpha) {
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

    CYPOOL_LANES_INLINE Real cost(const Island& m, const Problem& p, const Real* residual) {
        Real sum = all(0);
        const int first = num_equalities(p), end = first + m.num_frictions;
        for (int r = 0; r < first; ++r) sum = sum + 0.5 * p.D[r] * residual[r] * residual[r];
        for (int r = first; r < end; ++r) sum = sum + friction_cost(p.friction[r - first], residual[r], p.R[r], p.D[r]);
        int r = end;
        for (int k = 0;; ++k) {
            for (const int stop = next_cone(p, k); r < stop; ++r)
                sum = sum + where(residual[r] < 0.0, 0.5 * p.D[r] * residual[r] * residual[r]);
            if (k == num_cones(p)) return sum;
            const Cone& c = p.cones[k];
            add_cone_cost(sum, c, residual + r, p.D + r);
            r += c.dim;
        }
    }

    // the better one of qacc_warmstart and qacc_smooth
    static __attribute__((noinline)) void warmstart(const Island& m, Problem& p) {
        const int n = m.nv;
        Real smooth[MAX_ROWS], warm[MAX_ROWS];
        for (int r = 0; r < p.num_rows; ++r) {
            smooth[r] = along(m, p, r, p.smooth_acc) - p.aref[r];
            warm[r] = along(m, p, r, p.warmstart) - p.aref[r];
        }
        Real step[MAX_DOFS], force[MAX_DOFS];
        for (int i = 0; i < n; ++i) step[i] = p.warmstart[i] - p.smooth_acc[i];
        multiply_inertia_matrix(m, force, p.M, step);
        const Real warm_cost = cost(m, p, warm) + 0.5 * dot(force, step, n);
        Mask is_cold = m.has_warmstart ? warm_cost > cost(m, p, smooth) : ~none();
        if (IS_GENERAL && p.has_start) is_cold = p.is_cold;
        p.did = is_cold & IS_COLD;
        for (int i = 0; i < n; ++i) p.qacc[i] = choose(is_cold, p.smooth_acc[i], p.warmstart[i]);
        multiply_inertia_matrix(m, p.Ma, p.M, p.qacc);
        for (int r = 0; r < p.num_rows; ++r) p.residual[r] = choose(is_cold, smooth[r], warm[r]);
    }

    // mj_constraintUpdate
    CYPOOL_LANES_INLINE void update_constraint(const Island& m, Problem& p) {
        const int n = m.nv;
        Real sum[MAX_DOFS];
        for (int i = 0; i < n; ++i) sum[i] = all(0);
        const auto add = [&](int r) __attribute__((always_inline)) {
            const Real* const J = p.J + r * n;
            for (Dofs left = p.dofs[r]; left; left &= left - 1) {
                const int i = __builtin_ctzll(left);
                sum[i] = sum[i] + J[i] * p.force[r];
            }
        };
        int r = 0;
        for (; r < num_equalities(p); ++r) {
            p.active[r] = ~none();
            p.force[r] = -p.D[r] * p.residual[r];
            add(r);
        }
        for (int k = 0; k < m.num_frictions; ++k, ++r) {
            p.force[r] = friction_force(p.friction[k], p.residual[r], p.R[r], p.D[r], p.active[r]);
            add(r);
        }
        for (int k = 0;; ++k) {
            for (const int stop = next_cone(p, k); r < stop; ++r) {
                p.active[r] = p.residual[r] < 0.0;
                p.force[r] = where(p.active[r], -p.D[r] * p.residual[r]);
                if (any(p.active[r])) add(r);
            }
            if (k == num_cones(p)) break;
            Cone& c = p.cones[k];
            update_cone(c, p.residual + r, p.D + r, p.force + r, p.active + r);
            for (const int end = r + c.dim; r < end; ++r) add(r);
        }
        for (int i = 0; i < n; ++i) p.constraint[i] = sum[i];
    }

    // J'DJ + M of active rows, and its Cholesky factor
    static __attribute__((noinline)) void factorize_hessian(const Island& m, Problem& p, Real* H) {
        const int n = m.nv;
        for (int i = 0; i < n; ++i)
            for (int j = 0; j <= i; ++j) H[i * n + j] = all(0);
        for (int r = 0; r < p.num_rows; ++r) {
            if (!any(p.active[r])) continue;
            // two rows at once, where they have the same degrees of freedom
            const bool is_pair = r + 1 < p.num_rows && p.dofs[r + 1] == p.dofs[r];
            const Real* const J = p.J + r * n;
            const Real* const next = is_pair ? J + n : J;
            const Real D = where(p.active[r], p.D[r]);
            const Real next_D = is_pair ? where(p.active[r + 1], p.D[r + 1]) : all(0);
            int dofs[MAX_DOFS], count = 0;
            for (Dofs left = p.dofs[r]; left; left &= left - 1) dofs[count++] = __builtin_ctzll(left);
            for (int a = 0; a < count; ++a) {
                const int i = dofs[a];
                const Real scaled = J[i] * D, next_scaled = next[i] * next_D;
                Real* const row = H + i * n;
                for (int b = 0; b <= a; ++b) {
                    const int j = dofs[b];
                    row[j] = (row[j] + J[j] * scaled) + next[j] * next_scaled;
                }
            }
            r += is_pair;
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
    static __attribute__((noinline)) void solve_cholesky(const Island& m, Problem& p, const Real* H) {
        const int n = m.nv;
        Real* const x = p.newton_step;
        for (int i = 0; i < n; ++i) {
            Real sum = p.gradient[i];
            if (i) sum = sum - dot(H + i * n, x, i);
            x[i] = sum / H[i * (n + 1)];
        }
        for (int i = n - 1; i >= 0; --i) {
            if (is_mujoco_4) {
                x[i] = x[i] / H[i * (n + 1)];
                for (int j = 0; j < i; ++j) x[j] = x[j] - H[i * n + j] * x[i];
                continue;
            }
            Real sum = x[i];
            for (int j = i + 1; j < n; ++j) sum = sum - H[j * n + i] * x[j];
            x[i] = sum / H[i * (n + 1)];
        }
    }

    // mju_cholUpdate for rows that have become active or inactive
    static __attribute__((noinline)) void update_hessian(const Island& m, Problem& p, const Mask& running) {
        const int n = m.nv;
        // the next one of each lane together
        int rows[WIDTH][MAX_ROWS], counts[WIDTH] = {}, most = 0;
        for (int r = 0; r < p.num_rows; ++r)
            for (int left = bits((p.before[r] != p.active[r]) & running); left; left &= left - 1) {
                const int l = __builtin_ctz(static_cast<unsigned>(left));
                rows[l][counts[l]++] = r;
                most = std::max(most, counts[l]);
            }
        Real signs[MAX_ROWS];
        for (int next = 0; next < most; ++next) {
            Real D = all(0), sign = all(1);
            const double* from[WIDTH];
            for (int l = 0; l < WIDTH; ++l) {
                // that of others is nothing
                from[l] = &lanes_of(p.J[0])[l];
                if (next >= counts[l]) continue;
                const int r = rows[l][next];
                from[l] = &lanes_of(p.J[r * n])[l];
                lane(D, l) = lane(p.D[r], l);
                const bool is_removed = !(bits(p.active[r]) >> l & 1);
                if (is_removed) lane(sign, l) = -1;
                p.branches[l] |= is_removed ? REMOVES_ROW : ADDS_ROW;
            }
            const Real root = sqrt(D);
            Real* const x = p.changes + next * n;
            for (int i = 0, at = 0; i < n; ++i, at += WIDTH) x[i] = gather([&](int l) { return from[l][at]; }) * root;
            signs[next] = sign;
        }
        const Mask lost = apply_changes(n, p.H, p.changes, signs, most);
        if (__builtin_expect(any(lost), 0)) {
            p.did = p.did | (lost & LOSES_FACTOR);
            factorize_hessian(m, p, p.other_H);
            for (int i = 0; i < n; ++i)
                for (int k = 0; k <= i; ++k) p.H[i * n + k] = choose(lost, p.other_H[i * n + k], p.H[i * n + k]);
        }
    }

    // The Cholesky factor with contacts whose force is on the cone.
    static __attribute__((noinline)) const Real* with_cones(const Island& m, Problem& p) {
        if constexpr (!IS_GENERAL) return p.H;
        const int n = m.nv;
        int count = 0;
        Real signs[MAX_ROWS];
        for (int k = 0; k < num_cones(p); ++k) {
            const Cone& c = p.cones[k];
            if (!any(c.is_inside)) continue;
            cone_changes(c, p.residual + c.row, p.D + c.row, p.J + c.row * n, n, p.changes + count * n);
            for (int j = 0; j < c.dim; ++j) signs[count++] = all(1);
        }
        if (!count) return p.H;
        for (int i = 0; i < n; ++i)
            for (int k = 0; k <= i; ++k) p.cone_H[i * n + k] = p.H[i * n + k];
        apply_changes(n, p.cone_H, p.changes, signs, count);
        return p.cone_H;
    }

    // Adds changes, each with a sign, to a Cholesky factor. Returns the lanes in which it has lost its rank.
    CYPOOL_LANES_INLINE Mask apply_changes(int n, Real* H, Real* changes, const Real* signs, int count) {
        Mask lost = none();
        // column by column, so that changes do not wait for each other
        for (int k = 0; k < n; ++k)
            for (int next = 0; next < count; ++next) {
                Real* const x = changes + next * n;
                const Mask there = x[k] != 0.0;
                if (!any(there)) continue;
                const Real sign = signs[next], old = H[k * (n + 1)];
                Real squared = old * old + sign * (x[k] * x[k]);
                const Mask bad = (squared < TINY) & there;
                if (__builtin_expect(any(bad), 0)) {
                    lost = lost | bad;
                    squared = choose(bad, all(TINY), squared);
                }
                const Real fresh = sqrt(squared);
                H[k * (n + 1)] = choose(there, fresh, old);
                // elsewhere they change nothing
                const Real c = choose(there, fresh / old, all(1)), inverse = 1 / c, s = where(there, x[k] / old);
                const Real signed_s = sign * s;
                Real* column = H + k * (n + 1);
                for (int i = k + 1; i < n; ++i) {
                    column += n;
                    *column = (*column + signed_s * x[i]) * inverse;
                    x[i] = c * x[i] - s * *column;
                }
            }
        return lost;
    }

    // of PrimalPrepare: the polynomial of a row
    CYPOOL_LANES_INLINE void prepare_row(const Island& m, Problem& p, int r) {
        p.Jv[r] = dot(p.J + r * m.nv, p.direction, m.nv);
        const Real force = p.D[r] * p.residual[r];
        const Real quad0 = p.residual[r] * force * 0.5;
        p.start[r] = where(p.residual[r] < 0.0, quad0);
        p.quad0[r] = quad0 - p.start[r];
        p.quad1[r] = p.Jv[r] * force;
        p.quad2[r] = p.Jv[r] * p.D[r] * p.Jv[r] * 0.5;
    }

    // Returns how far to go; improvement: of the cost.
    static __attribute__((noinline)) Real search(const Island& m, Problem& p, const Real& scale, const Mask& running,
                                                 Real& improvement) {
        const int n = m.nv;
        const Real length = sqrt(dot(p.direction, p.direction, n));
        multiply_inertia_matrix(m, p.Mv, p.M, p.direction);
        const int first = num_equalities(p);
        for (int r = first; r < first + m.num_frictions; ++r) {
            const Real force = p.friction[r - first];
            p.Jv[r] = along(m, p, r, p.direction);
            p.start[r] = searched_cost(p.residual[r], force, p.R[r] * force, p.D[r]);
        }
        for (int r = 0; r < first; ++r) prepare_row(m, p, r);
        for (int r = first + m.num_frictions; r < p.num_rows; ++r) prepare_row(m, p, r);
        Real smooth1 = dot(p.direction, p.Ma, n) - dot(p.smooth, p.direction, n);
        Real smooth2 = 0.5 * dot(p.direction, p.Mv, n);
        for (int r = 0; r < num_equalities(p); ++r) smooth1 = smooth1 + p.quad1[r], smooth2 = smooth2 + p.quad2[r];
        const Real tolerance = (m.tolerance * m.search_tolerance) * length / scale;
        for (int k = 0; k < num_cones(p); ++k) {
            Cone& c = p.cones[k];
            prepare_cone(c, p.residual + c.row, p.Jv + c.row, p.D + c.row);
        }
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
            Mask looking = none();
            for (int l = 0; l < WIDTH; ++l)
                if (points[l]) lane(alpha, l) = points[l]->alpha, looking[l] = -1;
            Real cost, slope, curvature;
            evaluate(m, p, looking, alpha, smooth1, smooth2, cost, slope, curvature);
            const Mask concave = curvature <= 0.0;
            if (__builtin_expect(any(concave), 0)) {
                // of which MuJoCo warns, where it looks
                for (int l = 0; l < WIDTH; ++l)
                    if (points[l]) p.bad[l] |= concave[l];
                curvature = choose(concave, all(TINY), curvature);
            }
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
            if (bits(running) >> l & 1) p.branches[l] |= searches[l].branches();
            lane(alpha, l) = searches[l].alpha();
            lane(improvement, l) = searches[l].improvement();
        }
        return alpha;
    }

    CYPOOL_LANES_INLINE Real searched_cost(const Real& x, const Real& force, const Real& bound, const Real& D) {
        return choose((-bound < x) & (x < bound), 0.5 * D * x * x,
                      choose(x <= -bound, force * (-0.5 * bound - x), force * (-0.5 * bound + x)));
    }
    CYPOOL_LANES_INLINE void evaluate(const Island& m, Problem& p, const Mask& looking, const Real& alpha,
                                      const Real& smooth1, const Real& smooth2, Real& cost, Real& slope,
                                      Real& curvature) {
        Real total = all(0), q0 = all(0), q1 = smooth1, q2 = smooth2, friction1 = all(0), friction2 = all(0);
        Mask some_stick = none(), some_low = none(), some_high = none(), some_slip = none();
        const int first = num_equalities(p), end = first + m.num_frictions;
        for (int r = first; r < end; ++r) {
            const Real force = p.friction[r - first];
            const Real bound = p.R[r] * force, start = p.residual[r], along = p.Jv[r], D = p.D[r],
                       x = start + alpha * along;
            const Mask stuck = (-bound < start) & (start < bound), sticks = (-bound < x) & (x < bound);
            const Mask was_low = start <= -bound, is_low = x <= -bound;
            Real change = searched_cost(x, force, bound, D) - p.start[r];
            // in one of its three parts, the difference itself
            const Mask both_stick = stuck & sticks, both_low = was_low & is_low;
            const Mask both_high = ~(stuck | was_low | sticks | is_low);
            change = choose(both_stick, 0.5 * D * (x - start) * (x + start), change);
            change = choose(both_low, force * (start - x), change);
            change = choose(both_high, force * (x - start), change);
            some_stick = some_stick | both_stick, some_low = some_low | both_low, some_high = some_high | both_high;
            some_slip = some_slip | ~(both_stick | both_low | both_high);
            total = total + change;
            friction1 = friction1 + choose(sticks, D * x * along, choose(is_low, -force * along, force * along));
            friction2 = friction2 + where(sticks, D * along * along);
        }
        p.did = p.did
                | (looking
                   & ((some_stick & STAYS_STUCK) | (some_low & STAYS_LOW) | (some_high & STAYS_HIGH)
                      | (some_slip & SLIPS)));
        int r = end;
        for (int k = 0;; ++k) {
            for (const int stop = next_cone(p, k); r < stop; ++r) {
                const Real residual = p.residual[r] + alpha * p.Jv[r];
                const Mask active = residual < 0.0;
                q0 = q0 + where(active, p.quad0[r]);
                q1 = q1 + where(active, p.quad1[r]);
                q2 = q2 + where(active, p.quad2[r]);
                total = total - where(~active, p.start[r]);
            }
            if (k == num_cones(p)) break;
            const Cone& c = p.cones[k];
            const Searched so_far = {total, friction1, friction2, none()};
            const Searched searched = is_mujoco_4 ? search_cone<true>(c, p.residual + r, p.Jv + r, alpha, so_far)
                                                  : search_cone<false>(c, p.residual + r, p.Jv + r, alpha, so_far);
            total = searched.total, friction1 = searched.slope, friction2 = searched.curvature;
            p.did = p.did | (looking & (searched.zones * CONE));
            r += c.dim;
        }
        cost = total + ((alpha * alpha * q2 + alpha * q1) + q0);
        slope = friction1 + (2 * alpha * q2 + q1);
        curvature = friction2 + 2 * q2;
    }
};

}  // namespace cypool::lanes::CYPOOL_LANES

#pragma GCC pop_options
