// From accelerations to the next state: Euler, implicitfast and Runge-Kutta.

#include "cypool/envs/shared/lanes/target.h"

namespace cypool::lanes::CYPOOL_LANES {

// mj_integratePos
CYPOOL_LANES_INLINE void integrate_position(const Description& m, Real* q, const Real* v, double h) {
    for (int k = 0; k < m.num_joints; ++k) {
        int a = m.joints[k].qpos, b = m.joints[k].dof;
        if (m.joints[k].type != mjJNT_FREE && m.joints[k].type != mjJNT_BALL) {
            q[a] = q[a] + h * v[b];
            continue;
        }
        if (m.joints[k].type == mjJNT_FREE)
            for (int i = 0; i < 3; ++i, ++a, ++b) q[a] = q[a] + h * v[b];
        Real axis[3] = {v[b], v[b + 1], v[b + 2]}, s, c, turn[4];
        const Real angle = h * normalize(axis);
        sincos(angle * 0.5, s, c);
        turn[0] = c;
        for (int i = 0; i < 3; ++i) turn[1 + i] = axis[i] * s;
        normalize_quaternion(q + a);
        multiply_quaternions(q + a, q + a, turn);
    }
}

CYPOOL_LANES_INLINE void copy_many(Real* to, const Real* from, int n) {
    for (int k = 0; k < n; ++k) to[k] = from[k];
}

// mj_Euler, implicit in the damping of joints, and mj_implicit without Coriolis forces, in that of actuators, too
inline __attribute__((noinline)) void integrate_euler(const Description& m, Group& d) {
    Real acc[MAX_DOFS];
    const double h = m.timestep;
    if (m.has_damping || m.is_implicit_fast) {
        Real A[MAX_INERTIA], inverse[MAX_DOFS];
        copy_many(A, d.M, m.num_inertia);
        for (int k = 0; k < m.nv; ++k) {
            const int diagonal = m.dofs[k].row_begin + m.dofs[k].row_size - 1;
            if (m.bodies[m.dofs[k].body].is_free) continue;
            const Real damping = own_or(d, m.own_of_dof(k) + 1, m.dofs[k].damping);
            A[diagonal] = A[diagonal] + (m.is_implicit_fast ? (d.actuator_damping[k] - damping) * -h : h * damping);
        }
        factorize(m, A, inverse);
        // actuators may push what moves
        if (m.is_implicit_fast) find_singular(m, d, A);
        for (int k = 0; k < m.nv; ++k) acc[k] = d.smooth[k] + d.constraint[k];
        solve_factorized(m, acc, A, inverse);
        for (int b = 1; b < m.num_bodies; ++b)
            if (m.bodies[b].is_free) accelerate_free_body(m, d, b, acc);
    } else
        copy_many(acc, d.qacc, m.nv);
    for (int k = 0; k < m.nv; ++k) d.qvel[k] = d.qvel[k] + acc[k] * h;
    integrate_activations(m, d);
    integrate_position(m, d.qpos, d.qvel, h);
    copy_many(d.warmstart, d.qacc, m.nv);
}

// mj_RungeKutta, of order four: between its stages lies a forward
inline __attribute__((noinline)) void begin_runge_kutta(const Description& m, Group& d) {
    copy_many(d.first_qpos, d.qpos, m.nq);
    copy_many(d.stage_vel[0], d.qvel, m.nv);
    copy_many(d.stage_acc[0], d.qacc, m.nv);
    copy_many(d.first_act, d.act, m.num_acts);
    copy_many(d.stage_act_dot[0], d.act_dot, m.num_acts);
}
// Since MuJoCo 4, mj_RungeKutta takes the angular velocity of a later stage to where its rotations are added up:
// w + c / 2 + (1 - t / tan(t)) / (4 t^2) u x c, where u is the turn so far, 2 t its angle, and c = u x w.
inline __attribute__((noinline)) void correct_rotation(Group& g, Real* w, const Real* turn, double h) {
    constexpr double TWO_PI = 6.283185307179586, SQUARED_PI = 9.869604401089358, MOST_OF_SERIES = 3.0625;
    constexpr double SERIES[] = {1.230313397310169e-14, 3.161551550077822e-13,  1.3455485951057888e-11,
                                 5.282849430384459e-10, 2.0876900642039142e-08, 8.267194907152073e-07,
                                 3.30687830944332e-05,  0.0013888888888859755,  0.08333333333333338};
    Real u[3];
    for (int k = 0; k < 3; ++k) u[k] = h * turn[k];
    Real squared = dot3(u, u);
    note_unseen(g, g.coverage->turns(), OVER, squared > SQUARED_PI);
    for (int left = bits(squared > SQUARED_PI); left; left &= left - 1) {
        // the same rotation, by less than half a turn
        const int l = __builtin_ctz(static_cast<unsigned>(left));
        const double angle = std::sqrt(lane(squared, l));
        const double scale = (std::floor(angle / TWO_PI + 0.5) * -TWO_PI + angle) / angle;
        for (int k = 0; k < 3; ++k) lane(u[k], l) *= scale;
        lane(squared, l) =
            lane(u[0], l) * lane(u[0], l) + lane(u[1], l) * lane(u[1], l) + lane(u[2], l) * lane(u[2], l);
    }
    note_unseen(g, g.coverage->turns(), FAR, ~(squared < MOST_OF_SERIES));
    Real factor = all(SERIES[0]);
    for (int k = 1; k < 9; ++k) factor = factor * squared + SERIES[k];
    for (int left = bits(~(squared < MOST_OF_SERIES)); left; left &= left - 1) {
        const int l = __builtin_ctz(static_cast<unsigned>(left));
        const double half = 0.5 * std::sqrt(lane(squared, l));
        lane(factor, l) = (1 - half / std::tan(half)) / lane(squared, l);
    }
    Real c[3], d[3];
    cross(c, u, w);
    cross(d, u, c);
    for (int k = 0; k < 3; ++k) w[k] = (c[k] * 0.5 + w[k]) + factor * d[k];
}
inline __attribute__((noinline)) void begin_stage(const Description& m, Group& d, int stage) {
    static constexpr double A[] = {0.5, 0.5, 1.0};
    Real velocity[MAX_DOFS];
    for (int k = 0; k < m.nv; ++k) velocity[k] = d.stage_vel[stage - 1][k] * A[stage - 1];
    copy_many(d.qpos, d.first_qpos, m.nq);
    integrate_position(m, d.qpos, velocity, m.timestep);
    // sums begin with a positive zero
    for (int k = 0; k < m.num_acts; ++k)
        d.act[k] = d.first_act[k] + (all(0) + d.stage_act_dot[stage - 1][k] * A[stage - 1]) * m.timestep;
    for (int k = 0; k < m.nv; ++k)
        d.qvel[k] = d.stage_vel[stage][k] = d.stage_vel[0][k] + (d.stage_acc[stage - 1][k] * A[stage - 1]) * m.timestep;
    for (int j = 0; is_mujoco_4 && j < m.num_joints; ++j) {
        const int type = m.joints[j].type, dof = m.joints[j].dof + (type == mjJNT_FREE ? 3 : 0);
        if (type == mjJNT_FREE || type == mjJNT_BALL)
            correct_rotation(d, d.stage_vel[stage] + dof, velocity + dof, m.timestep);
    }
}
inline __attribute__((noinline)) void end_runge_kutta(const Description& m, Group& d) {
    static constexpr double B[] = {1.0 / 6.0, 1.0 / 3.0, 1.0 / 3.0, 1.0 / 6.0};
    Real velocity[MAX_DOFS];
    for (int k = 0; k < m.nv; ++k) {
        Real v = d.stage_vel[0][k] * B[0], a = d.stage_acc[0][k] * B[0];
        for (int stage = 1; stage < 4; ++stage) {
            v = v + d.stage_vel[stage][k] * B[stage];
            a = a + d.stage_acc[stage][k] * B[stage];
        }
        velocity[k] = v;
        d.qvel[k] = d.stage_vel[0][k] + a * m.timestep;
    }
    copy_many(d.qpos, d.first_qpos, m.nq);
    copy_many(d.act, d.first_act, m.num_acts);
    for (int k = 0; k < m.num_acts; ++k) {
        d.act_dot[k] = all(0);
        for (int stage = 0; stage < 4; ++stage) d.act_dot[k] = d.act_dot[k] + d.stage_act_dot[stage][k] * B[stage];
    }
    integrate_activations(m, d);
    integrate_position(m, d.qpos, velocity, m.timestep);
    copy_many(d.warmstart, d.qacc, m.nv);
}

}  // namespace cypool::lanes::CYPOOL_LANES

#pragma GCC pop_options
