// Bodies, joints and degrees of freedom of a model, as lanes need them.
#pragma once

namespace cypool::lanes {

inline void Describer::sizes(Description& o) const {
    o.nq = static_cast<int>(m_->nq);
    o.nv = static_cast<int>(m_->nv);
    o.nu = static_cast<int>(m_->nu);
    o.num_acts = static_cast<int>(m_->na);
    o.num_mocap = static_cast<int>(m_->nmocap);
    o.num_sensed = static_cast<int>(m_->nsensordata);
    o.num_bodies = static_cast<int>(m_->nbody);
    o.num_joints = static_cast<int>(m_->njnt);
    o.num_geoms = 0;
    o.num_inertia = static_cast<int>(size("nC"));
    o.timestep = m_->opt.timestep;
    o.tolerance = option<double>("opt.tolerance");
    o.search_tolerance = option<double>("opt.ls_tolerance");
    o.collision_tolerance = option<double>("opt.ccd_tolerance");
    o.has_bounds = option<int>("opt.ccd_iterations") <= 500;
    o.iterations = option<int>("opt.iterations");
    o.search_iterations = option<int>("opt.ls_iterations");
    o.is_gauss_seidel = option<int>("opt.solver") == GAUSS_SEIDEL;
    o.is_runge_kutta = m_->opt.integrator == RUNGE_KUTTA;
    o.is_implicit_fast = m_->opt.integrator == IMPLICIT_FAST;
    o.has_warmstart = !(disabled_ & NO_WARMSTART);
    o.is_elliptic = option<int>("opt.cone") != 0;
    o.impratio = std::max(mjMINVAL, option<double>("opt.impratio"));
    o.noslip_iterations = option<int>("opt.noslip_iterations");
    o.noslip_tolerance = option<double>("opt.noslip_tolerance");
    for (int k = 0; k < 3; ++k) o.at_rest[k] = at_rest(k);
    std::memcpy(o.columns, array<int>("M_colind"), static_cast<size_t>(o.num_inertia) * sizeof(int));
}

inline void Describer::tree(Description& o) const {
    const auto* const frame = array<unsigned char>("body_sameframe");
    for (int k = 0; k < o.num_bodies; ++k) {
        Body& b = o.bodies[k];
        b = {};
        b.parent = array<int>("body_parentid")[k];
        b.first_joint = array<int>("body_jntadr")[k];
        b.mocap = m_->body_mocapid[k];
        b.num_joints = array<int>("body_jntnum")[k];
        b.first_dof = array<int>("body_dofadr")[k];
        b.num_dofs = array<int>("body_dofnum")[k];
        b.inertial_frame = frame[k];
        b.mass = m_->body_mass[k];
        b.inverse_subtree_mass = inverse_subtree_mass(k);
        b.subtree_mass = m_->body_subtreemass[k];
        b.is_massless = b.subtree_mass < mjMINVAL;
        b.is_fixed = array<int>("body_dofnum")[array<int>("body_weldid")[k]] == 0;
        copy(b.pos, m_->body_pos, k);
        copy(b.quat, m_->body_quat, k);
        copy(b.inertial_pos, array<double>("body_ipos"), k);
        copy(b.inertial_quat, array<double>("body_iquat"), k);
        copy(b.inertia, array<double>("body_inertia"), k);
        const int root = array<int>("body_rootid")[k];
        if (root == k && k) o.roots.push_back(k);
        b.root = k ? static_cast<int>(std::find(o.roots.begin(), o.roots.end(), root) - o.roots.begin()) : 0;
    }
    o.has_islands = m_->ntree > 1;
}

inline void Describer::gravcomp(Description& o) const {
    o.has_gravcomp = false;
    // MuJoCo computes it with springs and dampers
    if ((disabled_ & NO_SPRING && disabled_ & NO_DAMPER) || disabled_ & NO_GRAVITY) return;
    for (int k = 0; k < o.num_bodies; ++k) {
        o.bodies[k].gravcomp = array<double>("body_gravcomp")[k];
        refuse_if(o.bodies[k].gravcomp < 0, BODIES, k, "has a negative gravcomp");
        o.has_gravcomp |= o.bodies[k].gravcomp != 0;
    }
}

inline void Describer::fluid(Description& o) const {
    o.density = option<double>("opt.density"), o.viscosity = option<double>("opt.viscosity");
    // MuJoCo computes it with springs and dampers
    o.has_fluid = (o.density != 0 || o.viscosity != 0) && !(disabled_ & NO_SPRING && disabled_ & NO_DAMPER);
    if (!o.has_fluid) return;
    refuse_if(o.is_implicit_fast, "the model is in a fluid, and the integrator is implicitfast");
    o.wind = option<std::array<double, 3>>("opt.wind");
    for (int k = 0; k < static_cast<int>(m_->ngeom); ++k)
        refuse_if(array<double>("geom_fluid")[columns("geom_fluid") * k] > 0, GEOMS, k, "is an ellipsoid in a fluid");
}

inline double Describer::friction_of(int dof) const {
    return disabled_ & (NO_FRICTIONLOSS | NO_CONSTRAINT) ? 0 : array<double>("dof_frictionloss")[dof];
}

inline void Describer::joints(Description& o) const {
    refuse_any<double>("jnt_stiffnesspoly", NUM_COEFFICIENTS * m_->njnt);
    for (int k = 0; k < o.num_joints; ++k) {
        Joint& j = o.joints[k];
        j = {};
        j.type = m_->jnt_type[k];
        refuse_if(array<int>("jnt_actuatorid")[k] != -1, ALL_JOINTS, k, "has an actuator with damping or armature");
        j.qpos = m_->jnt_qposadr[k];
        j.dof = m_->jnt_dofadr[k];
        j.is_limited = m_->jnt_limited[k] && !(disabled_ & (NO_LIMIT | NO_CONSTRAINT));
        j.is_force_limited = array<unsigned char>("jnt_actfrclimited")[k];
        j.acts_gravcomp = array<unsigned char>("jnt_actgravcomp")[k];
        j.lowest_force = array<double>("jnt_actfrcrange")[2 * k];
        j.highest_force = array<double>("jnt_actfrcrange")[2 * k + 1];
        copy(j.axis, array<double>("jnt_axis"), k);
        copy(j.pos, array<double>("jnt_pos"), k);
        for (int i = 0; i < 3; ++i)
            refuse_if((j.axis[i] == 0 && std::signbit(j.axis[i])) || (j.pos[i] == 0 && std::signbit(j.pos[i])),
                      ALL_JOINTS, k, "has a negative zero in its axis or pos");
        j.low = m_->jnt_range[2 * k];
        j.high = m_->jnt_range[2 * k + 1];
        j.margin = array<double>("jnt_margin")[k];
        j.stiffness = stiffness(k);
        j.qpos0 = m_->qpos0[j.qpos];
        j.qpos_spring = array<double>("qpos_spring")[j.qpos];
        j.is_centered = j.pos[0] == 0 && j.pos[1] == 0 && j.pos[2] == 0;
        refuse_if(
            (j.type == mjJNT_BALL || j.type == mjJNT_FREE) && (j.is_limited || j.is_force_limited || j.stiffness != 0),
            ALL_JOINTS, k, "is a ball or free joint with a limit, a spring or a force limit");
        refuse_if(j.type == mjJNT_FREE && o.bodies[array<int>("jnt_bodyid")[k]].num_joints != 1, ALL_JOINTS, k,
                  "is free, and its body has other joints");
        if (j.is_limited) {
            j.limit =
                impedance(array<double>("jnt_solref") + 2 * k, array<double>("jnt_solimp") + 5 * k, ALL_JOINTS, k);
            j.limit.inverse_weight = array<double>("dof_invweight0")[j.dof];
        }
    }
}

// mj_isFreeBody
inline bool Describer::is_free(const Description& o, int body) const {
    const Body& b = o.bodies[body];
    return o.is_implicit_fast && b.num_joints == 1 && o.joints[b.first_joint].type == mjJNT_FREE
           && __builtin_popcountll(o.dofs[b.first_dof].tree) == 6;
}

inline void Describer::dofs(Description& o) const {
    refuse_any<double>("dof_dampingpoly", NUM_COEFFICIENTS * m_->nv);
    o.has_damping = false;
    for (int k = 0; k < o.nv; ++k) {
        o.dofs[k] = {array<int>("dof_bodyid")[k],
                     array<int>("dof_parentid")[k],
                     array<int>("dof_jntid")[k],
                     array<int>("M_rownnz")[k],
                     array<int>("M_rowadr")[k],
                     array<int>("dof_simplenum")[k] > 0,
                     array<double>("dof_armature")[k],
                     damping(k),
                     Dofs{1} << k,
                     0};
        Dof& dof = o.dofs[k];
        if (dof.parent >= 0) dof.chain |= o.dofs[dof.parent].chain;
        if (dof.is_simple) dof.armature = array<double>("dof_M0")[k];
        const int tree = array<int>("dof_treeid")[k];
        for (int i = 0; i < o.nv; ++i) dof.tree |= Dofs{array<int>("dof_treeid")[i] == tree} << i;
        // implicit Euler's matrix could be singular
        refuse_if(m_->dof_damping[k] < 0, ALL_JOINTS, dof.joint, "has a negative damping");
        o.has_damping |= o.dofs[k].damping > 0 && !(disabled_ & NO_EULERDAMP);
        friction(o, k);
    }
    for (int k = 0; k < o.num_bodies; ++k) {
        o.bodies[k].dofs = moving(o, k);
        o.bodies[k].is_free = is_free(o, k);
    }
}

inline void Describer::friction(Description& o, int dof) const {
    const double force = friction_of(dof);
    refuse_if(force < 0, ALL_JOINTS, o.dofs[dof].joint, "has a negative frictionloss");
    if (force == 0) return;
    const Impedance s = impedance(array<double>("dof_solref") + 2 * dof, array<double>("dof_solimp") + 5 * dof,
                                  ALL_JOINTS, o.dofs[dof].joint);
    const double r = s.is_flat ? s.flat : s.low;
    o.frictions[o.num_frictions++] = {dof, force, r, friction_R(r, array<double>("dof_invweight0")[dof]), s.damping};
}

}  // namespace cypool::lanes
