// What follows from positions, velocities and controls without constraints, stage by stage as in MuJoCo.

#include "cypool/envs/shared/lanes/target.h"

namespace cypool::lanes::CYPOOL_LANES {

CYPOOL_LANES_INLINE void copy3(Real* to, const Real* from) {
    for (int k = 0; k < 3; ++k) to[k] = from[k];
}

// mj_local2Global
template <class Place>
CYPOOL_LANES_INLINE void place_frame(Group& d, int body, const Place* pos, const double* quat, int same, Real* xpos,
                                     Real* xmat) {
    if (same == SAME_BODY)
        copy3(xpos, d.xpos[body]);
    else if (same == SAME_INERTIA)
        copy3(xpos, d.xipos[body]);
    else {
        multiply_matrix(xpos, d.xmat[body], pos);
        for (int k = 0; k < 3; ++k) xpos[k] = xpos[k] + d.xpos[body][k];
    }
    if (same == SAME_NONE) {
        Real q[4];
        multiply_quaternions(q, d.xquat[body], quat);
        rotation_matrix(xmat, q);
    } else {
        const Real* const from = same == SAME_BODY || same == SAME_BODY_ROTATION ? d.xmat[body] : d.ximat[body];
        for (int k = 0; k < 9; ++k) xmat[k] = from[k];
    }
}

// of mj_kinematics, for spatial tendons, or after a step for those who read it
inline __attribute__((noinline)) void place_sites(const Description& m, Group& d) {
    for (int k = 0; k < m.num_sites; ++k) {
        const Site& site = m.sites[k];
        if (site.frame == SAME_BODY)
            copy3(d.site_pos[k], d.xpos[site.body]);
        else if (site.frame == SAME_INERTIA)
            copy3(d.site_pos[k], d.xipos[site.body]);
        else {
            Real place[3];
            for (int i = 0; i < 3; ++i) place[i] = own_or(d, site.own + i, site.pos[i]);
            multiply_matrix(d.site_pos[k], d.xmat[site.body], place);
            for (int i = 0; i < 3; ++i) d.site_pos[k][i] = d.site_pos[k][i] + d.xpos[site.body][i];
        }
    }
}

CYPOOL_LANES_INLINE void place_joint(const Joint& j, Group& d, int number, Real* pos, Real* q) {
    Real axis[3], anchor[3];
    rotate(axis, j.axis, q);
    if (j.is_centered)
        copy3(anchor, pos);
    else {
        rotate(anchor, j.pos, q);
        for (int k = 0; k < 3; ++k) anchor[k] = anchor[k] + pos[k];
    }
    const Real x = d.qpos[j.qpos] - j.qpos0;
    if (j.type == mjJNT_SLIDE) {
        for (int k = 0; k < 3; ++k) pos[k] = pos[k] + axis[k] * x;
    } else {
        Real turn[4];
        if (j.type == mjJNT_BALL) {
            for (int k = 0; k < 4; ++k) turn[k] = d.qpos[j.qpos + k];
            normalize_quaternion(turn);
        } else {
            Real s, c;
            sincos(x * 0.5, s, c);
            turn[0] = c;
            for (int k = 0; k < 3; ++k) turn[1 + k] = j.axis[k] * s;
            // positive zeros, also for a negative axis
            if (__builtin_expect(any(x == 0.0), 0))
                for (int k = 1; k < 4; ++k) turn[k] = where(x != 0.0, turn[k]);
        }
        multiply_quaternions(q, q, turn);
        if (!j.is_centered) {
            Real arm[3];
            rotate(arm, j.pos, q);
            for (int k = 0; k < 3; ++k) pos[k] = anchor[k] - arm[k];
        }
    }
    copy3(d.xanchor[number], anchor);
    copy3(d.xaxis[number], axis);
}

// mj_kinematics
inline __attribute__((noinline)) void kinematics(const Description& m, Group& d) {
    for (int b = 1; b < m.num_bodies; ++b) {
        const Body& body = m.bodies[b];
        Real pos[3], q[4], place[3];
        const int p = body.parent, first = body.first_joint;
        for (int k = 0; k < 3; ++k) place[k] = own_or(d, m.own_of_body(b) + 6 + k, body.pos[k]);
        if (body.num_joints == 1 && m.joints[first].type == mjJNT_FREE) {
            const Joint& j = m.joints[first];
            copy3(pos, d.qpos + j.qpos);
            for (int k = 0; k < 4; ++k) q[k] = d.qpos[j.qpos + 3 + k];
            normalize_quaternion(q);
            copy3(d.xanchor[first], pos);
            for (int k = 0; k < 3; ++k) d.xaxis[first][k] = all(j.axis[k]);
        } else {
            if (body.mocap >= 0) {
                copy3(pos, d.mocap_pos + 3 * body.mocap);
                for (int k = 0; k < 4; ++k) q[k] = d.mocap_quat[4 * body.mocap + k];
                normalize_quaternion(q);
            } else if (p) {
                multiply_matrix(pos, d.xmat[p], place);
                for (int k = 0; k < 3; ++k) pos[k] = pos[k] + d.xpos[p][k];
                // also by one, which makes zeros positive
                if (d.has_own)
                    multiply_quaternions(q, d.xquat[p], d.own + m.own_of_body(b) + 9);
                else
                    multiply_quaternions(q, d.xquat[p], body.quat);
            } else {
                copy3(pos, place);
                for (int k = 0; k < 4; ++k) q[k] = own_or(d, m.own_of_body(b) + 9 + k, body.quat[k]);
            }
            for (int j = first; j < first + body.num_joints; ++j) place_joint(m.joints[j], d, j, pos, q);
        }
        normalize_quaternion(q);
        for (int k = 0; k < 4; ++k) d.xquat[b][k] = q[k];
        copy3(d.xpos[b], pos);
        rotation_matrix(d.xmat[b], q);
    }
    for (int b = 1; b < m.num_bodies; ++b) {
        const Body& body = m.bodies[b];
        place_frame(d, b, body.inertial_pos, body.inertial_quat, body.inertial_frame, d.xipos[b], d.ximat[b]);
    }
}

// the inertia of a body around the centre of mass of all
CYPOOL_LANES_INLINE void spatial_inertia(const Real& mass, const Real* I, const Real* a, const Real* f, Real* r) {
    const Real t[9] = {a[0] * I[0], a[3] * I[0], a[6] * I[0], a[1] * I[1], a[4] * I[1],
                       a[7] * I[1], a[2] * I[2], a[5] * I[2], a[8] * I[2]};
    r[0] = a[0] * t[0] + a[1] * t[3] + a[2] * t[6];
    r[1] = a[3] * t[1] + a[4] * t[4] + a[5] * t[7];
    r[2] = a[6] * t[2] + a[7] * t[5] + a[8] * t[8];
    r[3] = a[0] * t[1] + a[1] * t[4] + a[2] * t[7];
    r[4] = a[0] * t[2] + a[1] * t[5] + a[2] * t[8];
    r[5] = a[3] * t[2] + a[4] * t[5] + a[5] * t[8];
    const Real f00 = f[0] * f[0], f11 = f[1] * f[1], f22 = f[2] * f[2];
    r[0] = r[0] + mass * (f11 + f22);
    r[1] = r[1] + mass * (f00 + f22);
    r[2] = r[2] + mass * (f00 + f11);
    const Real m0 = mass * f[0], m1 = mass * f[1], m2 = mass * f[2];
    r[3] = r[3] - m0 * f[1];
    r[4] = r[4] - m0 * f[2];
    r[5] = r[5] - m1 * f[2];
    r[6] = m0;
    r[7] = m1;
    r[8] = m2;
    r[9] = mass;
}

// mj_comPos: the centre of mass, inertias and axes of motion around it
inline __attribute__((noinline)) void center_of_mass(const Description& m, Group& d) {
    Real moment[MAX_BODIES][3];
    for (int b = 1; b < m.num_bodies; ++b) {
        const Real mass = own_or(d, m.own_of_body(b), m.bodies[b].mass);
        for (int k = 0; k < 3; ++k) moment[b][k] = d.xipos[b][k] * mass;
    }
    for (int b = m.num_bodies - 1; b > 1; --b) {
        const int p = m.bodies[b].parent;
        if (p)
            for (int k = 0; k < 3; ++k) moment[p][k] = moment[p][k] + moment[b][k];
    }
    for (size_t root = 0; root < m.roots.size(); ++root) {
        const int b = m.roots[root];
        const Real inverse_mass = own_or(d, m.own_of_body(b) + 1, m.bodies[b].inverse_subtree_mass);
        for (int k = 0; k < 3; ++k)
            d.com[root][k] = m.bodies[b].is_massless ? d.xipos[b][k] : moment[b][k] * inverse_mass;
    }
    for (int b = 1; b < m.num_bodies; ++b) {
        Real arm[3], inertia[3];
        const Real* const com = com_of(m, d, b);
        for (int k = 0; k < 3; ++k) {
            arm[k] = d.xipos[b][k] - com[k];
            inertia[k] = own_or(d, m.own_of_body(b) + 3 + k, m.bodies[b].inertia[k]);
        }
        spatial_inertia(own_or(d, m.own_of_body(b), m.bodies[b].mass), inertia, d.ximat[b], arm, d.cinert[b]);
    }
    for (int b = 1; b < m.num_bodies; ++b)
        for (int j = m.bodies[b].first_joint; j < m.bodies[b].first_joint + m.bodies[b].num_joints; ++j) {
            Real arm[3];
            const Real* const com = com_of(m, d, b);
            for (int k = 0; k < 3; ++k) arm[k] = com[k] - d.xanchor[j][k];
            int dof = m.joints[j].dof;
            if (m.joints[j].type == mjJNT_FREE)
                for (int r = 0; r < 3; ++r, ++dof)
                    for (int k = 0; k < 6; ++k) d.cdof[dof][k] = all(k == 3 + r);
            if (m.joints[j].type == mjJNT_FREE || m.joints[j].type == mjJNT_BALL) {
                for (int r = 0; r < 3; ++r, ++dof) {
                    const Real axis[3] = {d.xmat[b][r], d.xmat[b][r + 3], d.xmat[b][r + 6]};
                    copy3(d.cdof[dof], axis);
                    cross(d.cdof[dof] + 3, axis, arm);
                }
            } else if (m.joints[j].type == mjJNT_SLIDE) {
                for (int k = 0; k < 3; ++k) d.cdof[dof][k] = all(0);
                copy3(d.cdof[dof] + 3, d.xaxis[j]);
            } else {
                copy3(d.cdof[dof], d.xaxis[j]);
                cross(d.cdof[dof] + 3, d.xaxis[j], arm);
            }
        }
}

// mj_factorI: L'DL of a sparse matrix, in place
CYPOOL_LANES_INLINE void factorize(const Island& m, Real* A, Real* inverse_diagonal) {
    for (int k = m.nv - 1; k >= 0; --k) {
        const int begin = m.dofs[k].row_begin, below = m.dofs[k].row_size - 1, diagonal = begin + below;
        const Real inverse = 1 / A[diagonal];
        inverse_diagonal[k] = inverse;
        Real* const from = A + begin;
        for (int at = below - 1; at >= 0; --at) {
            const Dof& dof = m.dofs[m.columns[begin + at]];
            const Real factor = -from[at] * inverse;
            Real* const row = A + dof.row_begin;
            const int size = dof.row_size;
            for (int t = 0; t < size; ++t) row[t] = row[t] + from[t] * factor;
        }
        for (int t = 0; t < below; ++t) from[t] = from[t] * inverse;
    }
}

// mju_dotSparse, of the numbers of x in these columns
template <class A> CYPOOL_LANES_INLINE Real dot_sparse(const A* a, const Real* x, const int* columns, int n) {
    Real sum = all(0);
    int t = 0;
    if (n >= 4) {
        Real s[4];
        for (int k = 0; k < 4; ++k) s[k] = a[k] * x[columns[k]];
        for (t = 4; t <= n - 4; t += 4)
            for (int k = 0; k < 4; ++k) s[k] = s[k] + a[t + k] * x[columns[t + k]];
        sum = (s[0] + s[2]) + (s[1] + s[3]);
    }
    for (; t < n; ++t) sum = sum + a[t] * x[columns[t]];
    return sum;
}

// mj_solveLD
CYPOOL_LANES_INLINE void solve_factorized(const Island& m, Real* x, const Real* A, const Real* inverse_diagonal) {
    for (int k = m.nv - 1; k >= 0; --k) {
        const int begin = m.dofs[k].row_begin, below = m.dofs[k].row_size - 1;
        const int* const columns = m.columns + begin;
        const Real* const row = A + begin;
        const Real value = x[k];
        for (int t = 0; t < below; ++t) x[columns[t]] = x[columns[t]] - row[t] * value;
    }
    for (int k = 0; k < m.nv; ++k) x[k] = x[k] * inverse_diagonal[k];
    for (int k = 0; k < m.nv; ++k) {
        const int below = m.dofs[k].row_size - 1;
        if (!below) continue;
        x[k] = x[k] - dot_sparse(A + m.dofs[k].row_begin, x, m.columns + m.dofs[k].row_begin, below);
    }
}

// Finds the lanes in which MuJoCo warns of this factor.
CYPOOL_LANES_INLINE void find_singular(const Description& m, Group& d, const Real* A) {
    for (int k = 0; k < m.nv; ++k) d.bad = d.bad | ~(A[m.dofs[k].row_begin + m.dofs[k].row_size - 1] >= TINY);
}

// mj_crb and mj_factorM: composite inertia, the inertia matrix, its factorization
inline __attribute__((noinline)) void composite_inertia(const Description& m, Group& d) {
    for (int b = 1; b < m.num_bodies; ++b)
        for (int k = 0; k < 10; ++k) d.crb[b][k] = d.cinert[b][k];
    for (int b = m.num_bodies - 1; b > 0; --b) {
        const int p = m.bodies[b].parent;
        if (p > 0)
            for (int k = 0; k < 10; ++k) d.crb[p][k] = d.crb[p][k] + d.crb[b][k];
    }
    for (int k = 0; k < m.nv; ++k) {
        const Dof& dof = m.dofs[k];
        if (dof.is_simple) {
            d.M[dof.row_begin] = own_or(d, m.own_of_dof(k), dof.armature);
            continue;
        }
        Real force[6];
        multiply_inertia(force, d.crb[dof.body], d.cdof[k]);
        int at = dof.row_begin + dof.row_size - 1;
        d.M[at] = own_or(d, m.own_of_dof(k), dof.armature) + dot6(d.cdof[k], force);
        for (int j = dof.parent; j >= 0; j = m.dofs[j].parent) d.M[--at] = dot6(d.cdof[j], force);
    }
    for (int k = 0; k < m.num_inertia; ++k) d.LD[k] = d.M[k];
    factorize(m, d.LD, d.LD_inverse);
    find_singular(m, d, d.LD);
}

// mj_comVel
inline __attribute__((noinline)) void velocities(const Description& m, Group& d) {
    for (int k = 0; k < 6; ++k) d.cvel[0][k] = all(0);
    for (int b = 1; b < m.num_bodies; ++b) {
        Real velocity[6];
        for (int k = 0; k < 6; ++k) velocity[k] = d.cvel[m.bodies[b].parent][k];
        const int first = m.bodies[b].first_dof;
        for (int j = first; j < first + m.bodies[b].num_dofs; ++j) {
            const int type = m.joints[m.dofs[j].joint].type;
            if (type == mjJNT_FREE || type == mjJNT_BALL) {
                const auto add_three = [&](int from) {
                    for (int k = 0; k < 6; ++k)
                        velocity[k] = velocity[k]
                                      + (d.cdof[from][k] * d.qvel[from] + d.cdof[from + 1][k] * d.qvel[from + 1]
                                         + d.cdof[from + 2][k] * d.qvel[from + 2]);
                };
                if (type == mjJNT_FREE) {
                    for (int r = 0; r < 3; ++r)
                        for (int k = 0; k < 6; ++k) d.cdof_dot[j + r][k] = all(0);
                    add_three(j);
                    j += 3;
                }
                for (int r = 0; r < 3; ++r) cross_motion(d.cdof_dot[j + r], velocity, d.cdof[j + r]);
                add_three(j);
                j += 2;
            } else {
                cross_motion(d.cdof_dot[j], velocity, d.cdof[j]);
                for (int k = 0; k < 6; ++k) velocity[k] = velocity[k] + d.cdof[j][k] * d.qvel[j];
            }
        }
        for (int k = 0; k < 6; ++k) d.cvel[b][k] = velocity[k];
    }
}

// mj_tendon, of one through sites
inline __attribute__((noinline)) Real stretch(const Description& m, Group& d, const Tendon& tendon) {
    Real length = all(0);
    Real* const J = d.tendon_J + tendon.first_number;
    for (int j = 0; j < tendon.num_dofs; ++j) J[j] = all(0);
    for (const Segment& s : tendon.segments) {
        Real way[3], arms[2][3];
        for (int k = 0; k < 3; ++k) {
            way[k] = d.site_pos[s.sites[1]][k] - d.site_pos[s.sites[0]][k];
            for (int end = 0; end < 2; ++end)
                arms[end][k] = d.site_pos[s.sites[end]][k] - com_of(m, d, s.bodies[end])[k];
        }
        length = length + normalize(way) / s.divisor;
        for (int j = 0; j < tendon.num_dofs; ++j) {
            const int dof = tendon.dofs[j];
            if (!((s.dofs[0] | s.dofs[1]) >> dof & 1)) continue;
            Real moves[2][3] = {}, sum = all(0);
            for (int end = 0; end < 2; ++end) {
                if (!(s.dofs[end] >> dof & 1)) continue;
                cross(moves[end], d.cdof[dof], arms[end]);
                for (int k = 0; k < 3; ++k) moves[end][k] = d.cdof[dof][3 + k] + moves[end][k];
            }
            for (int k = 0; k < 3; ++k) sum = sum + (moves[1][k] - moves[0][k]) * way[k];
            J[j] = J[j] + 1 / s.divisor * sum;
        }
    }
    return length;
}

// lengths of tendons, and their velocities
CYPOOL_LANES_INLINE void tendons(const Description& m, Group& d) {
    if (m.has_spatial_tendons) place_sites(m, d);
    for (int k = 0; k < m.num_tendons; ++k) {
        const Tendon& tendon = m.tendons[k];
        Real length = tendon.segments.empty() ? all(0) : stretch(m, d, tendon);
        for (int j = 0; j < tendon.num_joints; ++j)
            length = length + tendon.coefficients[j] * d.qpos[m.joints[tendon.joints[j]].qpos];
        d.tendon_length[k] = length;
        d.tendon_velocity[k] = dot_sparse(d.tendon_J + tendon.first_number, d.qvel, tendon.dofs, tendon.num_dofs);
    }
}

// mj_gravcomp
inline __attribute__((noinline)) void compensate_gravity(const Description& m, Group& d) {
    Real gravity[3];
    for (int k = 0; k < 3; ++k) gravity[k] = own_or(d, k, m.at_rest[k]) * -1.0;
    for (int k = 0; k < m.nv; ++k) d.gravcomp[k] = all(0);
    for (int b = 1; b < m.num_bodies; ++b) {
        const Body& body = m.bodies[b];
        if (body.gravcomp == 0) continue;
        const Real scale = -(own_or(d, m.own_of_body(b), body.mass) * body.gravcomp);
        Real arm[3];
        for (int k = 0; k < 3; ++k) arm[k] = d.xipos[b][k] - com_of(m, d, b)[k];
        for (Dofs left = body.dofs; left; left &= left - 1) {
            const int dof = __builtin_ctzll(left);
            Real turn[3], force = all(0);
            cross(turn, d.cdof[dof], arm);
            for (int k = 0; k < 3; ++k) force = force + (d.cdof[dof][3 + k] + turn[k]) * (gravity[k] * scale);
            d.gravcomp[dof] = d.gravcomp[dof] + force;
        }
    }
    const Mask is_none = (gravity[0] == 0.0) & (gravity[1] == 0.0) & (gravity[2] == 0.0);
    // it is not added then, and minus zero stays what it is
    for (int k = 0; k < m.nv; ++k) d.gravcomp[k] = choose(is_none, all(-0.0), d.gravcomp[k]);
}

CYPOOL_LANES_INLINE Real spring_force(const Tendon& t, const Real& length) {
    return choose(length > t.spring_high, t.stiffness * (t.spring_high - length),
                  where(length < t.spring_low, t.stiffness * (t.spring_low - length)));
}

// mj_passive
CYPOOL_LANES_INLINE void passive_forces(const Description& m, Group& d) {
    Real spring[MAX_DOFS];
    for (int k = 0; k < m.nv; ++k) spring[k] = all(0);
    for (int j = 0; j < m.num_joints; ++j) {
        const Joint& joint = m.joints[j];
        if (joint.type == mjJNT_FREE || joint.type == mjJNT_BALL) continue;
        const Real stiffness = own_or(d, m.own_of_joint(j), joint.stiffness);
        const Mask has_spring = stiffness != 0.0;
        if (any(has_spring))
            spring[joint.dof] = choose(has_spring, -(d.qpos[joint.qpos] - joint.qpos_spring) * stiffness, all(0));
    }
    for (int k = 0; k < m.num_tendons; ++k) {
        const Tendon& t = m.tendons[k];
        if (t.stiffness == 0) continue;
        const Real length = d.tendon_length[k], force = spring_force(t, length);
        note_unseen(d, d.coverage->tendon_spring(k), PULLS, length > t.spring_high);
        note_unseen(d, d.coverage->tendon_spring(k), PUSHES, length < t.spring_low);
        for (int j = 0; j < t.num_dofs; ++j)
            spring[t.dofs[j]] = spring[t.dofs[j]] + d.tendon_J[t.first_number + j] * force;
    }
    for (int k = 0; k < m.nv; ++k) {
        const Real damping = own_or(d, m.own_of_dof(k) + 1, m.dofs[k].damping);
        d.passive[k] = choose(damping != 0.0, spring[k] + (-d.qvel[k] * damping), spring[k]);
    }
    if (m.has_fluid) add_fluid_forces(m, d);
    if (!m.has_gravcomp) return;
    compensate_gravity(m, d);
    for (int k = 0; k < m.nv; ++k)
        if (!m.joints[m.dofs[k].joint].acts_gravcomp) d.passive[k] = d.passive[k] + d.gravcomp[k];
}

// mju_mulDofVec: a product of one degree of freedom is not added to a zero, so it keeps the sign of its own
inline void multiply_dofs(Real* sum, const Body& body, const Real (*dofs)[6], const Real* values) {
    for (int k = 0; k < 6; ++k) sum[k] = all(body.num_dofs == 1 ? -0.0 : 0.0);
    for (int j = body.first_dof; j < body.first_dof + body.num_dofs; ++j)
        for (int k = 0; k < 6; ++k) sum[k] = sum[k] + dofs[j][k] * values[j];
}

// mj_rne: the recursive Newton-Euler algorithm, without accelerations
inline __attribute__((noinline)) void bias_forces(const Description& m, Group& d) {
    Real acc[MAX_BODIES][6], force[MAX_BODIES][6];
    for (int k = 0; k < 6; ++k) acc[0][k] = k < 3 ? all(0) : own_or(d, k - 3, m.at_rest[k - 3]);
    for (int b = 1; b < m.num_bodies; ++b) {
        multiply_dofs(acc[b], m.bodies[b], d.cdof_dot, d.qvel);
        for (int k = 0; k < 6; ++k) acc[b][k] = acc[m.bodies[b].parent][k] + acc[b][k];
        Real momentum[6], gyroscopic[6];
        multiply_inertia(force[b], d.cinert[b], acc[b]);
        multiply_inertia(momentum, d.cinert[b], d.cvel[b]);
        cross_force(gyroscopic, d.cvel[b], momentum);
        for (int k = 0; k < 6; ++k) force[b][k] = force[b][k] + gyroscopic[k];
    }
    for (int b = m.num_bodies - 1; b > 0; --b) {
        const int p = m.bodies[b].parent;
        if (p)
            for (int k = 0; k < 6; ++k) force[p][k] = force[p][k] + force[b][k];
    }
    for (int k = 0; k < m.nv; ++k) d.bias[k] = dot6(d.cdof[k], force[m.dofs[k].body]);
}

}  // namespace cypool::lanes::CYPOOL_LANES

#pragma GCC pop_options
