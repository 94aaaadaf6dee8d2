// What contacts do to bodies, for those who read it.

#include "cypool/envs/shared/lanes/target.h"

namespace cypool::lanes::CYPOOL_LANES {

// the normal force of a contact
CYPOOL_LANES_INLINE Real normal_force(const Description& m, const Pair& p, const Row* rows) {
    if (p.condim == 1 || m.is_elliptic) return rows[0].force;
    Real sum = rows[0].force;
    for (int r = 1; r < 2 * (p.condim - 1); ++r) sum = sum + rows[r].force;
    return sum;
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
}

}  // namespace cypool::lanes::CYPOOL_LANES

#pragma GCC pop_options
