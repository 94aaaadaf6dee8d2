// What actuators do, and the acceleration without constraints.

#include "cypool/envs/shared/lanes/target.h"

namespace cypool::lanes::CYPOOL_LANES {

CYPOOL_LANES_INLINE Real length_of(const Group& d, const Actuator& a, const Real& gear) {
    return (a.tendon < 0 ? d.qpos[a.qpos] : d.tendon_length[a.tendon]) * gear;
}
CYPOOL_LANES_INLINE Real velocity_of(const Description& m, const Group& d, const Actuator& a, const Real& gear) {
    if (a.tendon < 0) return gear * d.qvel[a.dof];
    const Tendon& t = m.tendons[a.tendon];
    Real moment[MAX_DOFS];
    for (int j = 0; j < t.num_dofs; ++j) moment[j] = d.tendon_J[t.first_number + j] * gear;
    return dot_sparse(moment, d.qvel, t.dofs, t.num_dofs);
}

// mj_nextActivation
CYPOOL_LANES_INLINE Real next_act(const Description& m, Group& d, int actuator, const Real& speed) {
    const Actuator& a = m.actuators[actuator];
    Real act = d.act[a.act] + (a.dynamics == FILTEREXACT ? speed * a.time * a.share : speed * m.timestep);
    if (a.is_act_limited) {
        note_clip(d, d.coverage->actuator(actuator), act, a.lowest_act, a.highest_act, ACT_LOW, ACT_HIGH);
        act = clip(act, all(a.lowest_act), all(a.highest_act));
    }
    return act;
}
// Returns what a gain multiplies, and finds how fast it changes.
CYPOOL_LANES_INLINE Real activate(const Description& m, Group& d, int actuator, const Real& ctrl) {
    const Actuator& a = m.actuators[actuator];
    const Real speed = a.dynamics == INTEGRATOR ? ctrl : (ctrl - d.act[a.act]) / a.time;
    d.act_dot[a.act] = speed;
    return a.is_early ? next_act(m, d, actuator, speed) : d.act[a.act];
}
// of mj_advance
CYPOOL_LANES_INLINE void integrate_activations(const Description& m, Group& d) {
    for (int k = 0; k < m.num_actuators; ++k)
        if (const int act = m.actuators[k].act; act >= 0) d.act[act] = next_act(m, d, k, d.act_dot[act]);
}

// mj_fwdActuation and mj_fwdAcceleration
inline __attribute__((noinline)) void smooth_acceleration(const Description& m, Group& d) {
    for (int k = 0; k < m.nv; ++k) d.actuator[k] = d.actuator_damping[k] = all(0);
    for (int k = 0; k < m.num_actuators; ++k) {
        const Actuator& a = m.actuators[k];
        Real ctrl = d.ctrl[k];
        if (a.is_limited) ctrl = clip(ctrl, all(a.low), all(a.high));
        const int own = m.own_of_actuator(k);
        const Real gear = own_or(d, own + 1, a.gear);
        Real force = own_or(d, own, a.gain) * (a.act < 0 ? ctrl : activate(m, d, k, ctrl));
        if (a.is_affine)
            force = force
                    + (own_or(d, own + 2, a.bias[0]) + own_or(d, own + 3, a.bias[1]) * length_of(d, a, gear)
                       + own_or(d, own + 4, a.bias[2]) * velocity_of(m, d, a, gear));
        else
            force = force + all(0);  // of minus zero
        if (a.is_force_limited) {
            note_clip(d, d.coverage->actuator(k), force, a.lowest_force, a.highest_force, FORCE_LOW, FORCE_HIGH);
            force = clip(force, all(a.lowest_force), all(a.highest_force));
        }
        d.actuator_force[k] = force;
        if (a.tendon >= 0) {
            const Tendon& t = m.tendons[a.tendon];
            for (int j = 0; j < t.num_dofs; ++j)
                d.actuator[t.dofs[j]] = d.actuator[t.dofs[j]] + (d.tendon_J[t.first_number + j] * gear) * force;
            continue;
        }
        d.actuator[a.dof] = d.actuator[a.dof] + gear * force;
        if (!m.is_implicit_fast || !a.is_affine) continue;
        // mjd_actuator_vel
        Real& damping = d.actuator_damping[a.dof];
        const Mask is_held = a.is_force_limited ? (force <= a.lowest_force) | (force >= a.highest_force) : none();
        damping = choose(is_held, damping, damping + gear * (gear * own_or(d, own + 4, a.bias[2])));
    }
    for (int k = 0; k < m.nv && m.has_gravcomp && m.num_actuators; ++k)
        if (m.joints[m.dofs[k].joint].acts_gravcomp) d.actuator[k] = d.actuator[k] + d.gravcomp[k];
    for (int k = 0; k < m.num_joints && m.num_actuators; ++k) {
        const Joint& j = m.joints[k];
        if (!j.is_force_limited) continue;
        note_clip(d, d.coverage->joint_force(k), d.actuator[j.dof], j.lowest_force, j.highest_force, FORCE_LOW,
                  FORCE_HIGH);
        const Real force = d.actuator[j.dof] = clip(d.actuator[j.dof], all(j.lowest_force), all(j.highest_force));
        // since MuJoCo 4
        if (is_mujoco_4)
            d.actuator_damping[j.dof] =
                where((force > j.lowest_force) & (force < j.highest_force), d.actuator_damping[j.dof]);
    }
    for (int k = 0; k < m.nv; ++k) d.smooth_acc[k] = d.smooth[k] = (d.passive[k] - d.bias[k]) + d.actuator[k];
    solve_factorized(m, d.smooth_acc, d.LD, d.LD_inverse);
}

}  // namespace cypool::lanes::CYPOOL_LANES

#pragma GCC pop_options
