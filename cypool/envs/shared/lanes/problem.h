// Constraint forces to be found, of several environments, for Newton's method.

#include "cypool/envs/shared/lanes/target.h"

namespace cypool::lanes::CYPOOL_LANES {

// bits of `Problem::branches`
inline constexpr uint64_t REMOVES_ROW = uint64_t{1} << LineSearch::NUM_BRANCHES, ADDS_ROW = 2 * REMOVES_ROW;
// of `Problem::did`; the last ones are the number of iterations
inline constexpr long IS_COLD = 1, IS_FLAT = 2, LOSES_FACTOR = 4, IMPROVES_LITTLE = 8, IS_LEVEL = 16, IS_NEAR = 32,
                      HAS_MOMENTUM = 64, IS_WORSE = 128, RESTARTS = 256, STAYS_STUCK = 512, STAYS_LOW = 1024,
                      STAYS_HIGH = 2048, SLIPS = 4096, CONE = 8192, ITERATION = CONE << 9;

// four problems
struct Problem {
    Real *M, *LD, *LD_inverse, *smooth, *smooth_acc, *friction;
    Real *warmstart, *qacc, *constraint, *Ma, *Mv, *gradient, *newton_step, *direction;
    int num_rows, num_equalities;  // those are the first ones
    Mask bad;                      // lanes that mj_step has to step
    // what the solver did, for `Coverage`
    Mask did;
    uint64_t branches[WIDTH];
    bool has_start = false;  // whether it is cold was decided for all islands
    Mask is_cold;
    // a number for all of it; next to none have the same
    uint64_t branches_of(int l) const { return branches[l] ^ (static_cast<uint64_t>(did[l]) * 0x9e3779b97f4a7c15); }
    Dofs dofs[MAX_ROWS];
    Real *J, R[MAX_ROWS], D[MAX_ROWS], aref[MAX_ROWS], force[MAX_ROWS], residual[MAX_ROWS], Jv[MAX_ROWS];
    // of the line search: the cost at its start, and the polynomial that a row adds to it where it is active
    Real start[MAX_ROWS], quad0[MAX_ROWS], quad1[MAX_ROWS], quad2[MAX_ROWS];
    Mask active[MAX_ROWS], before[MAX_ROWS];
    Real *H, *other_H;
    // contacts with elliptic cones, in the order of their rows, and H with those whose force is on the cone
    int num_cones = 0;
    Cone* cones;
    Real* cone_H;
    // of a lane that is left over, or of a row with one number
    const Row no_row = {none(), all(0), all(0), all(0), all(0), -1, false, false, 0, -1};
    Real* nothing;
    Real* changes;  // of the Hessian: rows times the roots of their weights

    // Adds the contact that begins with a row in some lanes.
    void add_cone(const Description& m, int row, const Row* const* rows, const Group* const* groups, const int* lanes) {
        Cone* c = nullptr;
        for (int l = 0; l < WIDTH; ++l) {
            if (rows[l]->contact < 0) continue;
            const Contact& contact = groups[l]->contacts[rows[l]->contact];
            const Pair& p = m.pairs[static_cast<size_t>(contact.pair)];
            if (p.condim == 1) return;
            if (!c) {
                c = &cones[num_cones++];
                c->row = row, c->dim = p.condim, c->mu = all(1);
                for (Real& each : c->friction) each = all(1);
            }
            lane(c->mu, l) = lane(contact.mu, lanes[l]);
            for (int j = 0; j < p.condim - 1; ++j)
                lane(c->friction[j], l) = lane(own_or(*groups[l], p.own + 1 + j, p.friction[j]), lanes[l]);
        }
    }
    explicit Problem(const Description& m)
        : arrays_([&](const auto& add) {
              for (Real** each : {&M, &LD}) add(*each, m.num_inertia);
              for (Real** each : {&LD_inverse, &smooth, &smooth_acc, &warmstart, &qacc, &constraint, &Ma, &Mv,
                                  &gradient, &newton_step, &direction, &nothing})
                  add(*each, m.nv);
              for (Real** each : {&H, &other_H}) add(*each, m.nv * m.nv);
              if (m.is_elliptic) add(cone_H, m.nv * m.nv), add(cones, MAX_ROWS / 3);
              add(friction, m.num_frictions), add(J, MAX_ROWS * m.nv), add(changes, MAX_ROWS * m.nv);
          }) {
        num_equalities = m.num_equality_rows;
        for (int r = 0; r < m.num_frictions; ++r) set_friction(m, r);
    }
    void set_friction(const Island& m, int number) {
        const int row = num_equalities + number, dof = m.frictions[number].dof;
        for (int i = 0; i < m.nv; ++i) J[row * m.nv + i] = all(i == dof);
        dofs[row] = Dofs{1} << dof;
    }

private:
    Arrays arrays_;
};

// mj_mulM
CYPOOL_LANES_INLINE void multiply_inertia_matrix(const Island& m, Real* result, const Real* M, const Real* v) {
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

// The force of a row of friction. Up to the friction's own it sticks, and is as other rows are.
CYPOOL_LANES_INLINE Real friction_force(const Real& most, const Real& residual, const Real& R, const Real& D,
                                        Mask& sticks) {
    const Real bound = R * most;
    const Mask is_low = residual <= -bound, is_high = residual >= bound;
    sticks = ~(is_low | is_high);
    return choose(is_low, most, choose(is_high, -most, -D * residual));
}

// The cost of a row of friction.
CYPOOL_LANES_INLINE Real friction_cost(const Real& most, const Real& residual, const Real& R, const Real& D) {
    const Real bound = R * most, constant = -0.5 * R * most * most;
    return choose(residual <= -bound, constant - most * residual,
                  choose(residual >= bound, constant + most * residual, 0.5 * D * residual * residual));
}

}  // namespace cypool::lanes::CYPOOL_LANES

#pragma GCC pop_options
