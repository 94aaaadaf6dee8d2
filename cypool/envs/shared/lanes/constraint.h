// The rows that contacts, friction and limits of joints and tendons give the solver.

#include <algorithm>
#include <cstring>

#include "cypool/envs/shared/lanes/target.h"

namespace cypool::lanes::CYPOOL_LANES {

inline constexpr double CLEARANCE = 1e-5;  // of shapes that are apart, whatever colliders round

inline void note_curve(Group& d, int number, const Impedance& s, const Real& pos, double margin, const Mask& active) {
    const Real x = s.is_flat ? all(0) : abs((pos - margin) / s.width);
    const Mask is_full = x >= 1.0, is_falling = x > s.middle;
    note_unseen(d, number, RISING, active & ~is_falling & ~is_full);
    note_unseen(d, number, FALLING, active & is_falling & ~is_full);
    note_unseen(d, number, FULL, active & is_full);
}
// Notes what no compared step had, where a limit or a contact is that has not had all of its branches.
inline __attribute__((noinline, cold)) void note_constraints(const Description& m, Group& d) {
    for (int k = 0; k < m.num_joints; ++k) {
        const Joint& j = m.joints[k];
        if (!j.is_limited) continue;
        for (const bool is_upper : {false, true}) {
            const Real q = d.qpos[j.qpos], dist = is_upper ? j.high - q : -(j.low - q);
            note_curve(d, d.coverage->limit(k, is_upper), j.limit, dist, j.margin, dist < j.margin);
        }
    }
    for (int k = 0; k < m.num_tendons; ++k) {
        const Tendon& t = m.tendons[k];
        if (!t.is_limited) continue;
        for (const bool is_upper : {false, true}) {
            const Real dist = is_upper ? t.high - d.tendon_length[k] : -(t.low - d.tendon_length[k]);
            note_curve(d, d.coverage->tendon_limit(k, is_upper), t.limit, dist, t.margin, dist < t.margin);
        }
    }
    for (size_t k = 0; k < m.equalities.size(); ++k)
        note_curve(d, d.coverage->equality(static_cast<int>(k)), m.equalities[k].impedance, d.distances[k], 0, ~none());
    for (int k = 0; k < d.num_contacts; ++k) {
        const Contact& c = d.contacts[k];
        if (k && d.contacts[k - 1].pair == c.pair) note_unseen(d, d.coverage->more_contacts(c.pair), 1, c.active);
        if (!d.coverage->unseen(c.pair)) continue;
        const Pair& p = m.pairs[static_cast<size_t>(c.pair)];
        note_curve(d, c.pair, p.impedance, c.dist, p.margin, c.active);
        if (!p.is_on_floor) note_unseen(d, c.pair, STEEP, c.active & (abs(c.frame[1]) >= 0.5));
    }
}

// of a single degree of freedom
CYPOOL_LANES_INLINE void add_row(Group& d, const Mask& active, const Real& R, const Real& aref, int dof,
                                 bool is_negative) {
    Row& row = add_row(d, active, R, aref);
    row.dof = dof;
    row.is_negative = is_negative;
    row.dofs = Dofs{1} << dof;
}

// mj_instantiateFriction
CYPOOL_LANES_INLINE void joint_friction(const Description& m, Group& d) {
    for (int k = 0; k < m.num_frictions; ++k) {
        const Friction& f = m.frictions[k];
        add_row(d, ~none(), own_or(d, m.own_of_friction(k), f.R), -f.damping * d.qvel[f.dof], f.dof, false);
    }
}

// mj_instantiateLimit
CYPOOL_LANES_INLINE void joint_limits(const Description& m, Group& d) {
    for (int k = 0; k < m.num_joints; ++k) {
        const Joint& j = m.joints[k];
        if (!j.is_limited) continue;
        const Real q = d.qpos[j.qpos];
        for (const bool is_upper : {false, true}) {
            const Real dist = is_upper ? j.high - q : -(j.low - q);
            const Mask active = dist < j.margin;
            if (!any(active)) continue;
            d.has_unseen |= d.coverage->unseen(d.coverage->limit(k, is_upper));
            const Real impedance = impedance_at(j.limit, dist, j.margin);
            const Real weight = own_or(d, m.own_of_joint(k) + 1, j.limit.inverse_weight);
            const Real R = max((1 - impedance) * weight / impedance, all(TINY));
            const Real velocity = is_upper ? -d.qvel[j.dof] : d.qvel[j.dof];
            add_row(d, active, R, -j.limit.damping * velocity - j.limit.stiffness * impedance * (dist - j.margin),
                    j.dof, is_upper);
        }
    }
}

CYPOOL_LANES_INLINE void tendon_limits(const Description& m, Group& d) {
    for (int k = 0; k < m.num_tendons; ++k) {
        const Tendon& t = m.tendons[k];
        if (!t.is_limited) continue;
        const Real length = d.tendon_length[k];
        for (const bool is_upper : {false, true}) {
            const Real dist = is_upper ? t.high - length : -(t.low - length);
            const Mask active = dist < t.margin;
            if (!any(active)) continue;
            d.has_unseen |= d.coverage->unseen(d.coverage->tendon_limit(k, is_upper));
            Real* const J = d.J + d.num_rows * m.nv;
            for (int i = 0; i < m.nv; ++i) J[i] = all(0);
            for (int j = 0; j < t.num_dofs; ++j) {
                const Real number = d.tendon_J[t.first_number + j];
                J[t.dofs[j]] = where(active, is_upper ? -number : number);
            }
            if (m.has_spatial_tendons) d.bad = d.bad | (active & ~joins_trees(m, J, t.dof_set));
            const Real impedance = impedance_at(t.limit, dist, t.margin);
            const Real weight = own_or(d, m.own_of_tendon(k), t.limit.inverse_weight);
            const Real R = max((1 - impedance) * weight / impedance, all(TINY));
            const Real velocity = dot(J, d.qvel, m.nv);
            Row& row =
                add_row(d, active, R, -t.limit.damping * velocity - t.limit.stiffness * impedance * (dist - t.margin));
            row.dofs = t.dof_set, row.tendon = k, row.is_negative = is_upper;
        }
    }
}

// mju_makeFrame, mj_instantiateContact; `tangent` is where the first tangent begins
template <bool IS_GENERAL>
inline __attribute__((noinline)) void add_contact_rows(const Description& m, Group& d, int number, const Mask& active,
                                                       const Real& dist, const Real* pos, const Real* normal,
                                                       Real* tangent) {
    const Pair& p = m.pairs[static_cast<size_t>(number)];
    const bool is_cone = IS_GENERAL && m.is_elliptic && p.condim > 1;
    const int num_rows = is_cone ? p.condim : p.condim == 1 ? 1 : 2 * (p.condim - 1);
    if (d.num_rows + num_rows > m.max_rows) {
        d.bad = d.bad | active;
        return;
    }
    Real other[3];
    if (p.condim != 1) {
        const Real along = dot3(normal, tangent);
        for (int k = 0; k < 3; ++k) tangent[k] = tangent[k] - normal[k] * along;
        normalize(tangent);
        cross(other, normal, tangent);
    }
    Contact& c = d.contacts[d.num_contacts++];
    c.pair = number, c.first_row = d.num_rows, c.active = active, c.dist = dist;
    copy3(c.pos, pos);
    copy3(c.frame, normal);
    if (p.condim != 1) copy3(c.frame + 3, tangent), copy3(c.frame + 6, other);
    // from where each body's own tree has its centre
    Real arms[2][3];
    const Real* const second_com = com_of(m, d, IS_GENERAL || !p.negative_dofs ? p.body2 : p.body1);
    for (int k = 0; k < 3; ++k) arms[0][k] = pos[k] - second_com[k];
    if (IS_GENERAL && p.negative_dofs)
        for (int k = 0; k < 3; ++k) arms[1][k] = pos[k] - com_of(m, d, p.body1)[k];
    const Impedance& s = p.impedance;
    const Real impedance = impedance_at(s, dist, p.margin);
    const Real weight = own_or(d, p.own, s.inverse_weight);
    std::array<Real, 5> friction;
    for (int k = 0; k < p.condim - 1; ++k) friction[k] = own_or(d, p.own + 1 + k, p.friction[k]);
    Real R = max((1 - impedance) * weight / impedance, all(TINY));
    const Real normal_R = R;
    Real mu = friction[0];
    if constexpr (IS_GENERAL) {
        if (p.condim != 1 && m.impratio != 1) mu = friction[0] * sqrt(R / m.impratio / R);
        c.mu = mu;
    }
    if (p.condim != 1 && !is_cone) R = 2 * mu * mu * R;
    const Real position_term = s.stiffness * impedance * (dist - p.margin);
    Real* const J = d.J + d.num_rows * m.nv;
    for (int k = 0; k < num_rows * m.nv; ++k) J[k] = all(0);
    for (Dofs left = p.dofs; left; left &= left - 1) {
        const int dof = __builtin_ctzll(left);
        Real turn[3], jacobian[3];
        cross(turn, d.cdof[dof], arms[IS_GENERAL ? p.negative_dofs >> dof & 1 : 0]);
        for (int i = 0; i < 3; ++i) jacobian[i] = d.cdof[dof][3 + i] + turn[i];
        if (p.negative_dofs >> dof & 1)
            for (int i = 0; i < 3; ++i) jacobian[i] = -jacobian[i];
        const Real along = p.type1 == PLANE && !p.is_general ? jacobian[2] : dot3(normal, jacobian);
        if (num_rows == 1) {
            J[dof] = where(active, along);
            continue;
        }
        const Real first = dot3(tangent, jacobian), second = dot3(other, jacobian);
        if (is_cone) {
            const Real moves[] = {along, first, second};
            for (int i = 0; i < p.condim; ++i) {
                Real turning = i < 3 ? moves[i] : dot3(i == 3 ? normal : i == 4 ? tangent : other, d.cdof[dof]);
                if (i > 2 && p.negative_dofs >> dof & 1) turning = -turning;
                J[i * m.nv + dof] = where(active, turning);
            }
            continue;
        }
        J[dof] = where(active, along + first * friction[0]);
        J[m.nv + dof] = where(active, along + first * -friction[0]);
        J[2 * m.nv + dof] = where(active, along + second * friction[1]);
        J[3 * m.nv + dof] = where(active, along + second * -friction[1]);
        for (int i = 3; i < p.condim; ++i) {
            Real turning = dot3(i == 3 ? normal : i == 4 ? tangent : other, d.cdof[dof]);
            if (p.negative_dofs >> dof & 1) turning = -turning;
            J[(2 * i - 2) * m.nv + dof] = where(active, along + turning * friction[i - 1]);
            J[(2 * i - 1) * m.nv + dof] = where(active, along + turning * -friction[i - 1]);
        }
    }
    for (int r = 0; r < num_rows; ++r) {
        const Real velocity_term = -s.damping * dot(J + r * m.nv, d.qvel, m.nv);
        if (is_cone && r) {
            R = normal_R / m.impratio;
            if (r > 1) R = R * friction[0] * friction[0] / (friction[r - 1] * friction[r - 1]);
        }
        Row& row = add_row(d, active, R, is_cone && r ? velocity_term : velocity_term - position_term);
        row.dofs = p.dofs;
        row.is_edge = !is_cone && num_rows > 1;
    }
    if constexpr (IS_GENERAL) d.rows[c.first_row].contact = d.num_contacts - 1;
    d.has_unseen |= d.coverage->unseen(number);
    if (d.num_contacts > 1 && (&c)[-1].pair == number)
        d.has_unseen |= d.coverage->unseen(d.coverage->more_contacts(number));
}

// MuJoCo's search for what is near may leave out geoms that just touch, or of which a margin just reaches the other
CYPOOL_LANES_INLINE void doubt_if_far(Group& d, const Pair& p, const Mask& active, const Real& least_dist) {
    d.bad = d.bad | (active & (least_dist > p.certain));
}

CYPOOL_LANES_INLINE void add_contact(const Description& m, Group& d, int number, const Mask& active, const Real& dist,
                                     const Real* pos, const Real* normal, Real* tangent) {
    if (m.is_general)
        add_contact_rows<true>(m, d, number, active, dist, pos, normal, tangent);
    else
        add_contact_rows<false>(m, d, number, active, dist, pos, normal, tangent);
}

}  // namespace cypool::lanes::CYPOOL_LANES

#pragma GCC pop_options
