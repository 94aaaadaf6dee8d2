// What contacts and spatial tendons do to bodies, for those who read it.

#include "cypool/envs/shared/lanes/target.h"

namespace cypool::lanes::CYPOOL_LANES {

// the normal force of a contact
CYPOOL_LANES_INLINE Real normal_force(const Description& m, const Pair& p, const Row* rows) {
    if (p.condim == 1 || m.is_elliptic) return rows[0].force;
    Real sum = rows[0].force;
    for (int r = 1; r < 2 * (p.condim - 1); ++r) sum = sum + rows[r].force;
    return sum;
}

// what the tensions of spatial tendons do to each body
inline __attribute__((noinline)) void add_tensions(const Description& m, const Group& d, Real (*force)[6]) {
    Real tensions[MAX_TENDONS];
    for (int k = 0; k < m.num_tendons; ++k) tensions[k] = all(0);
    const Row* row = d.rows;
    for (const Equality& e : m.equalities) {
        if (e.type == TENDONS) {
            tensions[e.first] = tensions[e.first] + row->force;
            if (e.second >= 0) {
                const Real slope = slope_at(e.polynomial, d.tendon_length[e.second] - e.reference[1]);
                tensions[e.second] = tensions[e.second] - slope * row->force;
            }
        }
        row += e.num_rows;
    }
    for (; row < d.rows + d.num_rows; ++row)
        if (row->tendon >= 0) {
            const Real pull = where(row->active, row->is_negative ? -row->force : row->force);
            tensions[row->tendon] = tensions[row->tendon] + pull;
        }
    for (int k = 0; k < m.num_actuators; ++k)
        if (const int tendon = m.actuators[k].tendon; tendon >= 0)
            tensions[tendon] =
                tensions[tendon] + own_or(d, m.own_of_actuator(k) + 1, m.actuators[k].gear) * d.actuator_force[k];
    for (int k = 0; k < m.num_tendons; ++k) {
        const Tendon& t = m.tendons[k];
        const Real tension = t.stiffness == 0 ? tensions[k] : tensions[k] + spring_force(t, d.tendon_length[k]);
        for (const Segment& s : t.segments) {
            if (s.bodies[0] == s.bodies[1]) continue;
            Real way[3], push[3];
            for (int i = 0; i < 3; ++i) way[i] = d.site_pos[s.sites[1]][i] - d.site_pos[s.sites[0]][i];
            normalize(way);
            for (int i = 0; i < 3; ++i) push[i] = way[i] * (tension / s.divisor);
            for (int end = 0; end < 2; ++end) {
                if (!s.bodies[end]) continue;
                Real arm[3], torque[3];
                for (int i = 0; i < 3; ++i) arm[i] = com_of(m, d, s.bodies[end])[i] - d.site_pos[s.sites[end]][i];
                cross(torque, arm, push);
                Real* const sum = force[s.bodies[end]];
                for (int i = 0; i < 3; ++i) {
                    sum[i] = end ? sum[i] - torque[i] : sum[i] + torque[i];
                    sum[3 + i] = end ? sum[3 + i] + push[i] : sum[3 + i] - push[i];
                }
            }
        }
    }
}

// mj_rnePostConstraint's cfrc_ext: what contacts do to each body
inline __attribute__((noinline)) void contact_forces(const Description& m, const Group& d, Real (*force)[6]) {
    for (int b = 0; b < m.num_bodies; ++b)
        for (int k = 0; k < 6; ++k) force[b][k] = all(0);
    for (int c = 0; c < d.num_contacts; ++c) {
        const Contact& contact = d.contacts[c];
        const Pair& p = m.pairs[static_cast<size_t>(contact.pair)];
        const Row* const rows = d.rows + contact.first_row;
        const Real* const frame = contact.frame;
        Real push[3], torque[3], arm[3];
        if (p.condim == 1) {
            for (int k = 0; k < 3; ++k) push[k] = frame[k] * rows[0].force;
        } else if (m.is_elliptic) {
            for (int k = 0; k < 3; ++k)
                push[k] = frame[k] * rows[0].force + frame[3 + k] * rows[1].force + frame[6 + k] * rows[2].force;
        } else {
            const Real along = normal_force(m, p, rows);
            const Real first = (rows[0].force - rows[1].force) * own_or(d, p.own + 1, p.friction[0]);
            const Real second = (rows[2].force - rows[3].force) * own_or(d, p.own + 2, p.friction[1]);
            for (int k = 0; k < 3; ++k) push[k] = frame[k] * along + frame[3 + k] * first + frame[6 + k] * second;
        }
        Real spin[3] = {all(0), all(0), all(0)};
        if (p.condim > 3) {
            Real turn[3] = {all(0), all(0), all(0)};
            for (int i = 0; i < p.condim - 3; ++i)
                turn[i] = m.is_elliptic ? rows[3 + i].force
                                        : (rows[4 + 2 * i].force - rows[5 + 2 * i].force)
                                              * own_or(d, p.own + 3 + i, p.friction[2 + i]);
            for (int k = 0; k < 3; ++k) spin[k] = frame[k] * turn[0] + frame[3 + k] * turn[1] + frame[6 + k] * turn[2];
        }
        for (const int body : {p.body1, p.body2}) {
            if (!body) continue;
            for (int k = 0; k < 3; ++k) arm[k] = com_of(m, d, body)[k] - contact.pos[k];
            cross(torque, arm, push);
            for (int k = 0; k < 3; ++k) {
                if (p.condim > 3) torque[k] = torque[k] - spin[k];
                const Real x = where(contact.active, torque[k]), y = where(contact.active, push[k]);
                force[body][k] = body == p.body1 ? force[body][k] + x : force[body][k] - x;
                force[body][3 + k] = body == p.body1 ? force[body][3 + k] - y : force[body][3 + k] + y;
            }
        }
    }
    if (!m.equalities.empty()) add_holding_forces(m, d, force);
    if (m.has_spatial_tendons) add_tensions(m, d, force);
}

}  // namespace cypool::lanes::CYPOOL_LANES

#pragma GCC pop_options
