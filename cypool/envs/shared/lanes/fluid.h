// Forces of a fluid on bodies, each of which is a box with its inertia.

#include "cypool/envs/shared/lanes/target.h"

namespace cypool::lanes::CYPOOL_LANES {

// mj_inertiaBoxFluidModel without its last step: the torque and the force on a body, in its axes
CYPOOL_LANES_INLINE void fluid_forces(const Description& m, const Real* velocity, const Real& mass, const Real* inertia,
                                      Real* forces) {
    Real box[3];
    for (int k = 0; k < 3; ++k) {
        // of both other axes, in the order of their numbers
        const int i = k == 0 ? 1 : 0, j = k == 2 ? 1 : 2;
        box[k] = sqrt(max(inertia[i] + inertia[j] - inertia[k], all(TINY)) / mass * 6.0);
    }
    for (int k = 0; k < 6; ++k) forces[k] = all(0);
    if (m.viscosity > 0) {
        const Real diameter = (box[0] + box[1] + box[2]) / 3.0;
        const Real turning = -M_PI * diameter * diameter * diameter * m.viscosity;
        const Real moving = -3.0 * M_PI * diameter * m.viscosity;
        for (int k = 0; k < 3; ++k) {
            forces[k] = velocity[k] * turning;
            forces[3 + k] = velocity[3 + k] * moving;
        }
    }
    if (!(m.density > 0)) return;
    const auto fourth_power = [](const Real& x) { return x * x * x * x; };
    for (int k = 0; k < 3; ++k) {
        const int i = k == 0 ? 1 : 0, j = k == 2 ? 1 : 2;
        const Real &turn = velocity[k], &move = velocity[3 + k];
        forces[3 + k] = forces[3 + k] - 0.5 * m.density * box[i] * box[j] * abs(move) * move;
        forces[k] =
            forces[k] - m.density * box[k] * (fourth_power(box[i]) + fourth_power(box[j])) * abs(turn) * turn / 64.0;
    }
}

// mj_fluid
inline __attribute__((noinline)) void add_fluid_forces(const Description& m, Group& d) {
    Real sum[MAX_DOFS];
    for (int k = 0; k < m.nv; ++k) sum[k] = all(0);
    for (int b = 1; b < m.num_bodies; ++b) {
        const Body& body = m.bodies[b];
        const Real mass = own_or(d, m.own_of_body(b), body.mass);
        const Mask has_mass = mass >= TINY;
        if (body.is_fixed || !any(has_mass)) continue;
        Real arm[3], turn[3], moved[3], inertia[3], velocity[6], wind[3], local[6], torque[3], force[3];
        for (int k = 0; k < 3; ++k) {
            arm[k] = d.xipos[b][k] - com_of(m, d, b)[k];
            inertia[k] = own_or(d, m.own_of_body(b) + 3 + k, body.inertia[k]);
            wind[k] = all(m.wind[static_cast<size_t>(k)]);
        }
        cross(turn, arm, d.cvel[b]);
        for (int k = 0; k < 3; ++k) moved[k] = d.cvel[b][3 + k] - turn[k];
        multiply_transposed(velocity, d.ximat[b], d.cvel[b]);
        multiply_transposed(velocity + 3, d.ximat[b], moved);
        multiply_transposed(moved, d.ximat[b], wind);
        for (int k = 0; k < 3; ++k) velocity[3 + k] = velocity[3 + k] - moved[k];
        fluid_forces(m, velocity, mass, inertia, local);
        multiply_matrix(torque, d.ximat[b], local);
        multiply_matrix(force, d.ximat[b], local + 3);
        // mj_applyFT
        for (Dofs left = body.dofs; left; left &= left - 1) {
            const int dof = __builtin_ctzll(left);
            Real jacobian[3];
            cross(turn, d.cdof[dof], arm);
            for (int k = 0; k < 3; ++k) jacobian[k] = d.cdof[dof][3 + k] + turn[k];
            sum[dof] = sum[dof] + where(has_mass, dot3(jacobian, force));
            sum[dof] = sum[dof] + where(has_mass, dot3(d.cdof[dof], torque));
        }
    }
    for (int k = 0; k < m.nv; ++k) d.passive[k] = d.passive[k] + sum[k];
}

}  // namespace cypool::lanes::CYPOOL_LANES

#pragma GCC pop_options
