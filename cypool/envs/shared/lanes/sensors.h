// What sensors measure, stage by stage as in MuJoCo.

#include <algorithm>

#include "cypool/envs/shared/lanes/target.h"

namespace cypool::lanes::CYPOOL_LANES {

inline __attribute__((noinline)) void place_anchor(Group& d, const Anchor& a, Real* pos, Real* matrix) {
    if (d.has_own && a.own >= 0)
        place_frame(d, a.body, d.own + a.own, a.quat, a.frame, pos, matrix);
    else
        place_frame(d, a.body, a.pos, a.quat, a.frame, pos, matrix);
}
CYPOOL_LANES_INLINE void turn_of(const Group& d, const Anchor& a, Real* quat) {
    if (a.is_body)
        for (int k = 0; k < 4; ++k) quat[k] = d.xquat[a.body][k];
    else
        multiply_quaternions(quat, d.xquat[a.body], a.quat);
}

// mju_transformSpatial: a motion around the centre of mass as one around a point
inline __attribute__((noinline)) void motion_at(const Description& m, const Group& d, const Anchor& a,
                                                const Real* motion, const Real* pos, Real* result) {
    Real arm[3], turn[3];
    for (int k = 0; k < 3; ++k) arm[k] = pos[k] - com_of(m, d, a.body)[k];
    cross(turn, arm, motion);
    for (int k = 0; k < 3; ++k) {
        result[k] = a.is_fixed ? all(0) : motion[k];
        result[3 + k] = a.is_fixed ? all(0) : motion[3 + k] - turn[k];
    }
}

// mj_comPos and mj_subtreeVel: of each body with all that it carries
struct Subtrees {
    Real com[MAX_BODIES][3], velocity[MAX_BODIES][3], momentum[MAX_BODIES][3];
};
inline __attribute__((noinline)) void find_subtrees(const Description& m, const Group& d, Subtrees& s,
                                                    bool has_momentum) {
    Real velocities[MAX_BODIES][3];
    for (int b = 0; b < m.num_bodies; ++b) {
        const Real mass = own_or(d, m.own_of_body(b), m.bodies[b].mass);
        Real arm[3], turn[3];
        for (int k = 0; k < 3; ++k) arm[k] = d.xipos[b][k] - com_of(m, d, b)[k];
        cross(turn, arm, d.cvel[b]);
        for (int k = 0; k < 3; ++k) {
            velocities[b][k] = m.bodies[b].is_fixed ? all(0) : d.cvel[b][3 + k] - turn[k];
            s.velocity[b][k] = velocities[b][k] * mass;
            s.com[b][k] = d.xipos[b][k] * mass;
        }
    }
    for (int b = m.num_bodies - 1; b >= 0; --b) {
        const int p = m.bodies[b].parent;
        const Real inverse_mass = own_or(d, m.own_of_body(b) + 1, m.bodies[b].inverse_subtree_mass);
        for (int k = 0; k < 3; ++k) {
            if (b) s.com[p][k] = s.com[p][k] + s.com[b][k], s.velocity[p][k] = s.velocity[p][k] + s.velocity[b][k];
            s.com[b][k] = m.bodies[b].is_massless ? d.xipos[b][k] : s.com[b][k] * inverse_mass;
            s.velocity[b][k] = s.velocity[b][k] * inverse_mass;
        }
    }
    if (!has_momentum) return;
    for (int b = 0; b < m.num_bodies; ++b) {
        Real turn[3] = {all(0), all(0), all(0)};
        if (!m.bodies[b].is_fixed) multiply_transposed(turn, d.ximat[b], d.cvel[b]);
        for (int k = 0; k < 3; ++k) turn[k] = turn[k] * own_or(d, m.own_of_body(b) + 3 + k, m.bodies[b].inertia[k]);
        multiply_matrix(s.momentum[b], d.ximat[b], turn);
    }
    for (int b = m.num_bodies - 1; b > 0; --b) {
        const int p = m.bodies[b].parent;
        Real arm[3], moved[3], turn[3];
        for (int k = 0; k < 3; ++k) {
            arm[k] = d.xipos[b][k] - s.com[b][k];
            moved[k] = (velocities[b][k] - s.velocity[b][k]) * own_or(d, m.own_of_body(b), m.bodies[b].mass);
        }
        cross(turn, arm, moved);
        for (int k = 0; k < 3; ++k) {
            s.momentum[b][k] = s.momentum[b][k] + turn[k];
            s.momentum[p][k] = s.momentum[p][k] + s.momentum[b][k];
            arm[k] = s.com[b][k] - s.com[p][k];
            moved[k] =
                (s.velocity[b][k] - s.velocity[p][k]) * own_or(d, m.own_of_body(b) + 2, m.bodies[b].subtree_mass);
        }
        cross(turn, arm, moved);
        for (int k = 0; k < 3; ++k) s.momentum[p][k] = s.momentum[p][k] + turn[k];
    }
}

// The limit at which a joint is: how far beyond its margin, how fast and how strongly it is pushed back; else zero.
inline __attribute__((noinline)) Real sense_limit(const Description& m, const Group& d, const Sensor& s) {
    const Joint& j = m.joints[s.object];
    Real found = all(0);
    // of both at once, MuJoCo takes the first
    for (const bool is_upper : {true, false}) {
        const Real q = d.qpos[j.qpos], dist = is_upper ? j.high - q : -(j.low - q);
        Real value = dist - j.margin;
        if (s.type == JOINTLIMITVEL) {
            Real J[MAX_DOFS];
            for (int k = 0; k < m.nv; ++k) J[k] = all(k != j.dof ? 0 : is_upper ? -1 : 1);
            value = dot(J, d.qvel, m.nv);
        }
        for (int r = m.num_equality_rows + m.num_frictions; s.type == JOINTLIMITFRC && r < d.num_rows; ++r)
            if (d.rows[r].dof == j.dof && d.rows[r].is_negative == is_upper) value = d.rows[r].force;
        if (j.is_limited) found = choose(dist < j.margin, value, found);
    }
    return found;
}

// mj_sensorPos and mj_sensorVel
inline __attribute__((noinline)) void sense_motion(const Description& m, Group& d) {
    bool has_subtrees = false;
    const bool has_momentum =
        std::any_of(m.sensors.begin(), m.sensors.end(), [](const Sensor& s) { return s.type == SUBTREEANGMOM; });
    Subtrees subtrees;
    for (size_t number = 0; number < m.sensors.size(); ++number) {
        const Sensor& s = m.sensors[number];
        const auto& [at, base] = m.anchors[number];
        Real* const out = d.sensed + s.address;
        Real pos[3], matrix[9], motion[6], base_pos[3], axes[9], vector[3];
        switch (s.type) {
            case JOINTPOS: out[0] = d.qpos[m.joints[s.object].qpos]; continue;
            case JOINTVEL: out[0] = d.qvel[m.joints[s.object].dof]; continue;
            case BALLQUAT:
                for (int k = 0; k < 4; ++k) out[k] = d.qpos[m.joints[s.object].qpos + k];
                normalize_quaternion(out);
                continue;
            case BALLANGVEL: copy3(out, d.qvel + m.joints[s.object].dof); continue;
            case JOINTLIMITPOS:
            case JOINTLIMITVEL: out[0] = sense_limit(m, d, s); continue;
            case TENDONPOS: out[0] = d.tendon_length[s.object]; continue;
            case TENDONVEL: out[0] = d.tendon_velocity[s.object]; continue;
            case ACTUATORPOS:
            case ACTUATORVEL: {
                const Actuator& a = m.actuators[s.object];
                const Real gear = own_or(d, m.own_of_actuator(s.object) + 1, a.gear);
                out[0] = s.type == ACTUATORPOS ? length_of(d, a, gear) : velocity_of(m, d, a, gear);
                continue;
            }
            case SUBTREECOM:
            case SUBTREELINVEL:
            case SUBTREEANGMOM:
                if (!has_subtrees) find_subtrees(m, d, subtrees, has_momentum);
                has_subtrees = true;
                copy3(out, s.type == SUBTREECOM      ? subtrees.com[s.object]
                           : s.type == SUBTREELINVEL ? subtrees.velocity[s.object]
                                                     : subtrees.momentum[s.object]);
                continue;
            case FRAMEQUAT: {
                Real quat[4];
                turn_of(d, at, quat);
                if (s.reference >= 0) {
                    Real other[4];
                    turn_of(d, base, other);
                    for (int k = 1; k < 4; ++k) other[k] = -other[k];
                    multiply_quaternions(out, other, quat);
                } else
                    for (int k = 0; k < 4; ++k) out[k] = quat[k];
                continue;
            }
            default:
                if (is_of_forces(s.type)) continue;
        }
        place_anchor(d, at, pos, matrix);
        // that of the world, if there is none
        place_anchor(d, base, base_pos, axes);
        if (s.type >= FRAMEPOS && s.type <= FRAMEZAXIS) {
            for (int k = 0; k < 3; ++k)
                vector[k] = s.type != FRAMEPOS ? matrix[3 * k + s.type - FRAMEXAXIS]
                            : s.reference >= 0 ? pos[k] - base_pos[k]
                                               : pos[k];
        } else {
            motion_at(m, d, at, d.cvel[at.body], pos, motion);
            if (s.reference >= 0) {
                Real others[6], arm[3], turn[3];
                motion_at(m, d, base, d.cvel[base.body], base_pos, others);
                for (int k = 0; k < 6; ++k) motion[k] = motion[k] - others[k];
                for (int k = 0; k < 3; ++k) arm[k] = pos[k] - base_pos[k];
                cross(turn, arm, others);
                for (int k = 0; k < 3; ++k) motion[3 + k] = motion[3 + k] + turn[k];
            }
            copy3(vector, s.type == GYRO || s.type == FRAMEANGVEL ? motion : motion + 3);
        }
        if (s.type == GYRO || s.type == VELOCIMETER)
            multiply_transposed(out, matrix, vector);
        else if (s.reference >= 0)
            multiply_transposed(out, axes, vector);
        else
            copy3(out, vector);
    }
}

// The sensor `touch`: forces of contacts of a body that push through a site.
inline __attribute__((noinline)) void touch_force(const Description& m, Group& d, const Sensor& s, const Anchor& at,
                                                  const Collider& collider) {
    Real place[3], matrix[9];
    place_anchor(d, at, place, matrix);
    Real& out = d.sensed[s.address];
    out = all(0);
    for (int c = 0; c < d.num_contacts; ++c) {
        const Contact& contact = d.contacts[c];
        const Pair& p = m.pairs[static_cast<size_t>(contact.pair)];
        if (p.body1 != at.body && p.body2 != at.body) continue;
        const Real force = normal_force(m, p, d.rows + contact.first_row);
        Real ray[3];
        for (int k = 0; k < 3; ++k) ray[k] = contact.frame[k] * force;
        normalize(ray);
        if (p.body2 == at.body)
            for (int k = 0; k < 3; ++k) ray[k] = ray[k] * -1.0;
        for (int left = bits(contact.active & (force > 0.0)); left; left &= left - 1) {
            const int l = __builtin_ctz(static_cast<unsigned>(left));
            double site[3], axes[9], pos[3], direction[3];
            for (int k = 0; k < 9; ++k) axes[k] = lane(matrix[k], l);
            for (int k = 0; k < 3; ++k) {
                site[k] = lane(place[k], l);
                pos[k] = lane(contact.pos[k], l);
                direction[k] = lane(ray[k], l);
            }
            const double* const size = collider.m->site_size + 3 * s.object;
            const int shape = m.sites[s.object].shape;
            if (collider.ray(site, axes, size, pos, direction, shape, nullptr) >= 0) lane(out, l) += lane(force, l);
        }
    }
}

// mj_rnePostConstraint: accelerations of bodies, and the forces between them and their parents
inline __attribute__((noinline)) void find_forces(const Description& m, const Group& d, Real (*acc)[6],
                                                  Real (*force)[6]) {
    contact_forces(m, d, force);
    for (int k = 0; k < 6; ++k) acc[0][k] = k < 3 ? all(0) : own_or(d, k - 3, m.at_rest[k - 3]);
    for (int b = 1; b < m.num_bodies; ++b) {
        Real moved[6], pushed[6];
        multiply_dofs(moved, m.bodies[b], d.cdof_dot, d.qvel);
        multiply_dofs(pushed, m.bodies[b], d.cdof, d.qacc);
        for (int k = 0; k < 6; ++k) acc[b][k] = (acc[m.bodies[b].parent][k] + moved[k]) + pushed[k];
        Real own[6], momentum[6], gyroscopic[6];
        multiply_inertia(own, d.cinert[b], acc[b]);
        multiply_inertia(momentum, d.cinert[b], d.cvel[b]);
        cross_force(gyroscopic, d.cvel[b], momentum);
        for (int k = 0; k < 6; ++k) force[b][k] = (own[k] + gyroscopic[k]) - force[b][k];
    }
    for (int b = m.num_bodies - 1; b > 0; --b)
        for (int k = 0; k < 6; ++k) force[m.bodies[b].parent][k] = force[m.bodies[b].parent][k] + force[b][k];
}

// mj_sensorAcc
inline __attribute__((noinline)) void sense_forces(const Description& m, Group& d, const Collider& collider) {
    Real acc[MAX_BODIES][6], force[MAX_BODIES][6];
    bool has_forces = false;
    for (size_t number = 0; number < m.sensors.size(); ++number) {
        const Sensor& s = m.sensors[number];
        const Anchor& at = m.anchors[number][0];
        Real* const out = d.sensed + s.address;
        switch (s.type) {
            case TOUCH: touch_force(m, d, s, at, collider); continue;
            case ACTUATORFRC: out[0] = d.actuator_force[s.object]; continue;
            case JOINTACTFRC: out[0] = d.actuator[m.joints[s.object].dof]; continue;
            case JOINTLIMITFRC: out[0] = sense_limit(m, d, s); continue;
            default:
                if (!is_of_forces(s.type)) continue;
        }
        if (!has_forces) find_forces(m, d, acc, force);
        has_forces = true;
        Real pos[3], matrix[9], arm[3], turn[3], vector[3];
        place_anchor(d, at, pos, matrix);
        if (s.type == FORCE || s.type == TORQUE) {
            for (int k = 0; k < 3; ++k) arm[k] = pos[k] - com_of(m, d, at.body)[k];
            cross(turn, arm, force[at.body] + 3);
            for (int k = 0; k < 3; ++k)
                vector[k] = s.type == FORCE ? force[at.body][3 + k] : force[at.body][k] - turn[k];
        } else {
            // mj_objectAcceleration
            Real pushed[6], motion[6];
            // since MuJoCo 4, gravity seems to push what nothing moves
            Anchor pushed_at = at;
            pushed_at.is_fixed &= !is_mujoco_4;
            motion_at(m, d, pushed_at, acc[at.body], pos, pushed);
            motion_at(m, d, at, d.cvel[at.body], pos, motion);
            if (s.type == ACCELEROMETER)
                for (Real* each : {pushed, pushed + 3, motion, motion + 3})
                    multiply_transposed(vector, matrix, each), copy3(each, vector);
            cross(turn, motion, motion + 3);
            for (int k = 0; k < 3; ++k)
                vector[k] = s.type == FRAMEANGACC ? pushed[k] : at.is_fixed ? pushed[3 + k] : pushed[3 + k] + turn[k];
        }
        if (s.type == FORCE || s.type == TORQUE)
            multiply_transposed(out, matrix, vector);
        else
            copy3(out, vector);
    }
}

}  // namespace cypool::lanes::CYPOOL_LANES

#pragma GCC pop_options
