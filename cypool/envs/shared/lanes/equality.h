// Rows of equality constraints: of joints, of tendons, and of bodies that are connected or welded.

#include <algorithm>

#include "cypool/envs/shared/lanes/target.h"

namespace cypool::lanes::CYPOOL_LANES {

// mj_makeImpedance of one constraint
CYPOOL_LANES_INLINE Real impedance_at(const Impedance& s, const Real& pos, double margin) {
    if (s.is_flat) return all(s.flat);
    const Real x = abs((pos - margin) / s.width);
    Real y;
    if (s.power == 1)
        y = x;
    else {
        const double a = 1 / s.middle, b = 1 / (1 - s.middle);
        const Real rest = 1 - x;
        y = choose(x <= s.middle, a * (x * x), 1 - b * (rest * rest));
    }
    Real r = s.low + y * (s.high - s.low);
    r = choose(x >= 1.0, all(s.high), r);
    return choose(x <= 0.0, all(s.low), r);
}

CYPOOL_LANES_INLINE Row& add_row(Group& d, const Mask& active, const Real& R, const Real& aref) {
    Row& row = d.rows[d.num_rows++];
    row.active = active;
    row.R = R;
    row.D = where(active, 1 / R);
    row.aref = where(active, aref);
    row.dof = row.contact = row.tendon = -1;
    row.is_edge = false;
    return row;
}

CYPOOL_LANES_INLINE void negate_quaternion(Real* r, const Real* q) {
    r[0] = q[0];
    for (int k = 1; k < 4; ++k) r[k] = -q[k];
}
// mju_mulQuatAxis
CYPOOL_LANES_INLINE void multiply_axis(Real* r, const Real* q, const Real* a) {
    r[0] = -(q[1] * a[0]) - q[2] * a[1] - q[3] * a[2];
    r[2] = q[0] * a[1] + q[3] * a[0] - q[1] * a[2];
    if (is_mujoco_4) {
        r[1] = q[0] * a[0] - q[3] * a[1] + q[2] * a[2];
        r[3] = q[1] * a[1] - q[2] * a[0] + q[0] * a[2];
    } else {
        r[1] = q[0] * a[0] + q[2] * a[2] - q[3] * a[1];
        r[3] = q[0] * a[2] + q[1] * a[1] - q[2] * a[0];
    }
}
// mju_derivQuat
CYPOOL_LANES_INLINE void change_of_quaternion(Real* r, const Real* q, const Real* w) {
    r[0] = 0.5 * (-(w[0] * q[1]) - w[1] * q[2] - w[2] * q[3]);
    r[1] = 0.5 * (w[0] * q[0] + w[1] * q[3] - w[2] * q[2]);
    r[2] = 0.5 * (-(w[0] * q[3]) + w[1] * q[0] + w[2] * q[1]);
    r[3] = 0.5 * (w[0] * q[2] - w[1] * q[1] + w[2] * q[0]);
}

// one of the two bodies of a constraint, at the point that is held
struct Held {
    Real pos[3];
    Real moved[3], turned[3];  // the change of its Jacobian times the velocity
};

// mj_jacDot times the velocity
inline __attribute__((noinline)) void find_change(const Description& m, const Group& d, const HeldBody& body, Held& at,
                                                  bool has_rotation) {
    Real translation[3][MAX_DOFS], rotation[3][MAX_DOFS], arm[3], turn[3], velocity[3];
    for (int i = 0; i < 3; ++i) {
        at.moved[i] = at.turned[i] = all(0);
        arm[i] = at.pos[i] - com_of(m, d, body.body)[i];
        for (int k = 0; k < m.nv; ++k) translation[i][k] = rotation[i][k] = all(0);
    }
    if (!body.dofs) return;
    cross(turn, arm, d.cvel[body.body]);
    for (int i = 0; i < 3; ++i) velocity[i] = d.cvel[body.body][3 + i] - turn[i];
    for (Dofs left = body.dofs; left; left &= left - 1) {
        const int k = __builtin_ctzll(left);
        const Joint& joint = m.joints[m.dofs[k].joint];
        Real change[6], first[3], second[3];
        // of rotations that are quaternions, that of the body as it moves now
        if (joint.type == mjJNT_BALL || (joint.type == mjJNT_FREE && k >= joint.dof + 3))
            cross_motion(change, d.cvel[m.dofs[k].body], d.cdof[k]);
        else
            for (int i = 0; i < 6; ++i) change[i] = d.cdof_dot[k][i];
        cross(first, change, arm);
        cross(second, d.cdof[k], velocity);
        for (int i = 0; i < 3; ++i) {
            translation[i][k] = change[3 + i] + first[i] + second[i];
            rotation[i][k] = change[i];
        }
    }
    for (int i = 0; i < 3; ++i) {
        at.moved[i] = dot(translation[i], d.qvel, m.nv);
        if (has_rotation) at.turned[i] = dot(rotation[i], d.qvel, m.nv);
    }
}

// the difference of what a degree of freedom does to both bodies
CYPOOL_LANES_INLINE void add_difference(Real* sum, const Real* change, bool is_second) {
    for (int i = 0; i < 3; ++i) sum[i] = is_second ? sum[i] - change[i] : sum[i] + change[i];
}

// where a body is held
CYPOOL_LANES_INLINE void held_place(const Group& d, const HeldBody& b, Real* place) {
    for (int k = 0; k < 3; ++k) place[k] = own_or(d, b.own + k, b.pos[k]);
}
CYPOOL_LANES_INLINE void held_turn(const Group& d, const HeldBody& b, Real* turn) {
    for (int k = 0; k < 4; ++k) turn[k] = own_or(d, b.own + 3 + k, b.quat[k]);
}

// of a weld: the rotation that the second body should have, and the one that it has
inline __attribute__((noinline)) void welded_rotations(const Group& d, const Equality& e, Real* first, Real* second) {
    Real turn[4];
    held_turn(d, e.bodies[0], turn);
    multiply_quaternions(first, d.xquat[e.bodies[0].body], turn);
    if (e.has_sites) {
        held_turn(d, e.bodies[1], turn);
        multiply_quaternions(second, d.xquat[e.bodies[1].body], turn);
    } else
        std::copy_n(d.xquat[e.bodies[1].body], 4, second);
}

// Connects or welds two bodies. Writes J and the positions of the rows, and what is subtracted from aref.
inline __attribute__((noinline)) void hold_bodies(const Description& m, Group& d, const Equality& e, Real* J, Real* pos,
                                                  Real* bias) {
    const bool is_weld = e.type == WELD;
    Held held[2];
    for (int side = 0; side < 2; ++side) {
        const HeldBody& b = e.bodies[side];
        Real* const at = held[side].pos;
        if (b.frame == SAME_BODY)
            copy3(at, d.xpos[b.body]);
        else if (b.frame == SAME_INERTIA)
            copy3(at, d.xipos[b.body]);
        else {
            held_place(d, b, at);
            multiply_matrix(at, d.xmat[b.body], at);
            for (int i = 0; i < 3; ++i) at[i] = at[i] + d.xpos[b.body][i];
        }
        find_change(m, d, b, held[side], is_weld);
    }
    Real first[4], second[4], away[4];
    if (is_weld) {
        welded_rotations(d, e, first, second);
        negate_quaternion(away, second);
        Real apart[4];
        multiply_quaternions(apart, away, first);
        for (int i = 0; i < 3; ++i) pos[3 + i] = apart[1 + i] * e.torque_scale;
    }
    for (int i = 0; i < 3; ++i) {
        pos[i] = held[0].pos[i] - held[1].pos[i];
        bias[i] = held[0].moved[i] - held[1].moved[i];
    }
    Mask has_numbers = none();
    for (Dofs left = e.dofs; left; left &= left - 1) {
        const int k = __builtin_ctzll(left);
        Real move[3] = {all(0), all(0), all(0)}, axis[3] = {all(0), all(0), all(0)};
        for (int side = 0; side < 2; ++side) {
            if (!(e.bodies[side].dofs >> k & 1)) continue;
            Real arm[3], turn[3];
            for (int i = 0; i < 3; ++i) arm[i] = held[side].pos[i] - com_of(m, d, e.bodies[side].body)[i];
            cross(turn, d.cdof[k], arm);
            for (int i = 0; i < 3; ++i) turn[i] = d.cdof[k][3 + i] + turn[i];
            add_difference(move, turn, side);
            add_difference(axis, d.cdof[k], side);
        }
        for (int i = 0; i < 3; ++i) J[i * m.nv + k] = move[i], has_numbers = has_numbers | (move[i] != 0.0);
        if (!is_weld) continue;
        Real turned[4], corrected[4];
        multiply_axis(turned, away, axis);
        multiply_quaternions(corrected, turned, first);
        for (int i = 0; i < 3; ++i) {
            const Real number = 0.5 * corrected[1 + i] * e.torque_scale;
            J[(3 + i) * m.nv + k] = number, has_numbers = has_numbers | (number != 0.0);
        }
    }
    // MuJoCo leaves out a constraint without numbers
    d.bad = d.bad | ~has_numbers;
    if (!is_weld) return;
    Real apart[3], changes[3], first_change[4], second_change[4], sum[4], turned[4], term[4];
    const Real *const spin1 = d.cvel[e.bodies[0].body], *const spin2 = d.cvel[e.bodies[1].body];
    for (int i = 0; i < 3; ++i) {
        apart[i] = spin1[i] - spin2[i];
        changes[i] = held[0].turned[i] - held[1].turned[i];
    }
    if (e.has_sites)
        change_of_quaternion(first_change, first, spin1);
    else {
        Real change[4], turn[4];
        held_turn(d, e.bodies[0], turn);
        change_of_quaternion(change, d.xquat[e.bodies[0].body], spin1);
        multiply_quaternions(first_change, change, turn);
    }
    change_of_quaternion(turned, second, spin2);
    negate_quaternion(second_change, turned);
    multiply_axis(turned, second_change, apart);
    multiply_quaternions(sum, turned, first);
    multiply_axis(turned, away, changes);
    multiply_quaternions(term, turned, first);
    for (int i = 1; i < 4; ++i) sum[i] = sum[i] + term[i];
    multiply_axis(turned, away, apart);
    multiply_quaternions(term, turned, first_change);
    for (int i = 0; i < 3; ++i) bias[3 + i] = 0.5 * (sum[1 + i] + term[1 + i]) * e.torque_scale;
}

// Whether a row has a number for each of its trees: MuJoCo sees no connection between them otherwise, and leaves out a
// row without numbers.
CYPOOL_LANES_INLINE Mask joins_trees(const Description& m, const Real* J, Dofs dofs) {
    Mask joins = ~none();
    while (dofs) {
        const Dofs tree = m.dofs[__builtin_ctzll(dofs)].tree;
        Mask has_numbers = none();
        for (Dofs left = dofs & tree; left; left &= left - 1)
            has_numbers = has_numbers | (J[__builtin_ctzll(left)] != 0.0);
        joins = joins & has_numbers;
        dofs &= ~tree;
    }
    return joins;
}

// of the polynomial that couples two joints or tendons
CYPOOL_LANES_INLINE Real slope_at(const double* c, const Real& x) {
    return c[1] + 2 * c[2] * x + 3 * c[3] * x * x + 4 * c[4] * x * x * x;
}

// Couples the positions of two joints, or the lengths of two tendons, by a polynomial.
CYPOOL_LANES_INLINE void couple(const Description& m, Group& d, const Equality& e, Real* J, Real* pos) {
    Real at[2] = {all(0), all(0)};
    const double* const c = e.polynomial;
    const int count = e.second < 0 ? 1 : 2, numbers[2] = {e.first, e.second};
    for (int side = 0; side < count; ++side)
        at[side] = e.type == JOINTS ? d.qpos[m.joints[numbers[side]].qpos] : d.tendon_length[numbers[side]];
    const Real x = at[1] - e.reference[1];
    pos[0] = at[0] - e.reference[0] - c[0];
    Real slope = all(0);
    if (count == 2) {
        pos[0] = pos[0] - (c[1] * x + c[2] * x * x + c[3] * x * x * x + c[4] * x * x * x * x);
        slope = slope_at(c, x);
    }
    for (int side = 0; side < count; ++side) {
        const auto add = [&](int dof, const Real& number) { J[dof] = side ? J[dof] + number * -slope : number; };
        if (e.type == JOINTS)
            add(m.joints[numbers[side]].dof, all(1));
        else {
            const Tendon& t = m.tendons[numbers[side]];
            for (int j = 0; j < t.num_dofs; ++j) add(t.dofs[j], d.tendon_J[t.first_number + j]);
        }
    }
    if (m.has_spatial_tendons) d.bad = d.bad | ~joins_trees(m, J, e.dofs);
}

// mj_instantiateEquality
inline __attribute__((noinline)) void equalities(const Description& m, Group& d) {
    for (size_t number = 0; number < m.equalities.size(); ++number) {
        const Equality& e = m.equalities[number];
        Real* const J = d.J + d.num_rows * m.nv;
        Real pos[6], bias[6];
        for (int k = 0; k < e.num_rows * m.nv; ++k) J[k] = all(0);
        if (e.num_rows == 1)
            couple(m, d, e, J, pos);
        else
            hold_bodies(m, d, e, J, pos, bias);
        const Impedance& s = e.impedance;
        const Real distance = e.num_rows == 1 ? pos[0] : sqrt(e.num_rows == 3 ? dot(pos, pos, 3) : dot6(pos, pos));
        const Real impedance = impedance_at(s, distance, 0);
        d.has_unseen |= d.coverage->unseen(d.coverage->equality(static_cast<int>(number)));
        const int own = m.own_of_equality(static_cast<int>(number));
        for (int r = 0; r < e.num_rows; ++r) {
            const Real weight = own_or(d, own + r / 3, e.inverse_weights[r / 3]);
            const Real R = max((1 - impedance) * weight / impedance, all(TINY));
            Real aref = -s.damping * dot(J + r * m.nv, d.qvel, m.nv) - s.stiffness * impedance * pos[r];
            if (e.num_rows > 1) aref = aref - bias[r];
            add_row(d, ~none(), R, aref).dofs = e.dofs;
        }
        d.distances[number] = distance;
    }
}

// mj_rnePostConstraint's part of cfrc_ext
inline __attribute__((noinline)) void add_holding_forces(const Description& m, const Group& d, Real (*force)[6]) {
    const Row* row = d.rows;
    for (const Equality& e : m.equalities) {
        Real twist[3] = {all(0), all(0), all(0)};
        if (e.type == WELD) {
            Real first[4], second[4], back[4], turned[4], spin[3] = {row[3].force, row[4].force, row[5].force};
            welded_rotations(d, e, first, second);
            multiply_axis(turned, second, spin);
            negate_quaternion(back, first);
            multiply_quaternions(turned, turned, back);
            for (int k = 0; k < 3; ++k) twist[k] = 0.5 * turned[1 + k] * e.torque_scale;
        }
        for (int side = 0; side < 2 && e.num_rows > 1; ++side) {
            const HeldBody& b = e.bodies[side];
            if (!b.body) continue;
            Real pos[3], arm[3], push[3], torque[3];
            held_place(d, b, pos);
            multiply_matrix(pos, d.xmat[b.body], pos);
            for (int k = 0; k < 3; ++k) {
                arm[k] = com_of(m, d, b.body)[k] - (pos[k] + d.xpos[b.body][k]);
                push[k] = row[k].force;
            }
            cross(torque, arm, push);
            for (int k = 0; k < 3; ++k) {
                torque[k] = twist[k] - torque[k];
                Real *const turn = force[b.body] + k, *const move = force[b.body] + 3 + k;
                *turn = side ? *turn - torque[k] : *turn + torque[k];
                *move = side ? *move - push[k] : *move + push[k];
            }
        }
        row += e.num_rows;
    }
}

}  // namespace cypool::lanes::CYPOOL_LANES

#pragma GCC pop_options
