// Actuators, sites, sensors and tendons of a model, as lanes need them.
#pragma once

namespace cypool::lanes {

inline void Describer::actuators(Description& o) const {
    o.num_actuators = disabled_ & NO_ACTUATION ? 0 : o.nu;
    for (int k = 0; k < o.nu; ++k) {
        const int transmission = array<int>("actuator_trntype")[k], acts_on = m_->actuator_trnid[2 * k];
        refuse_if(transmission != AT_JOINT && transmission != AT_TENDON, ACTUATORS, k,
                  "does not act on a joint or tendon");
        const int dynamics = array<int>("actuator_dyntype")[k];
        refuse_if(dynamics > FILTEREXACT, ACTUATORS, k,
                  "has a dyntype other than none, integrator, filter and filterexact");
        refuse_if(array<int>("actuator_actnum")[k] != (dynamics != NO_DYNAMICS), ACTUATORS, k,
                  "has several activations");
        refuse_if(array<int>("actuator_gaintype")[k] != 0, ACTUATORS, k, "has a gaintype other than fixed");
        const int bias_type = array<int>("actuator_biastype")[k];
        refuse_if(bias_type != 0 && bias_type != AFFINE, ACTUATORS, k, "has a biastype other than none and affine");
        Actuator& a = o.actuators[k];
        a = {};
        a.tendon = transmission == AT_TENDON ? acts_on : -1;
        if (a.tendon < 0) {
            const Joint& joint = o.joints[acts_on];
            refuse_if(joint.type != mjJNT_HINGE && joint.type != mjJNT_SLIDE, ACTUATORS, k,
                      "does not act on a hinge or slide");
            a.dof = joint.dof, a.qpos = joint.qpos;
        } else {
            // so much as a damping couples the joints
            refuse_if(bias_type == AFFINE && m_->opt.integrator == IMPLICIT_FAST, ACTUATORS, k,
                      "has a bias and acts on a tendon, and the integrator is implicitfast");
            refuse_if(array<unsigned char>("tendon_actfrclimited")[a.tendon], ALL_TENDONS, a.tendon,
                      "limits the forces of its actuators");
        }
        a.is_limited = m_->actuator_ctrllimited[k] && !(disabled_ & NO_CLAMPCTRL);
        a.is_affine = bias_type == AFFINE;
        a.is_force_limited = array<unsigned char>("actuator_forcelimited")[k];
        a.gear = array<double>("actuator_gear")[6 * k];
        a.gain = m_->actuator_gainprm[library().mjNGAIN * k];
        a.low = m_->actuator_ctrlrange[2 * k], a.high = m_->actuator_ctrlrange[2 * k + 1];
        std::copy_n(array<double>("actuator_biasprm") + library().mjNGAIN * k, 3, a.bias);
        a.lowest_force = array<double>("actuator_forcerange")[2 * k];
        a.highest_force = array<double>("actuator_forcerange")[2 * k + 1];
        a.act = array<int>("actuator_actadr")[k], a.dynamics = dynamics;
        a.is_act_limited = array<unsigned char>("actuator_actlimited")[k];
        a.is_early = array<unsigned char>("actuator_actearly")[k];
        a.lowest_act = array<double>("actuator_actrange")[2 * k];
        a.highest_act = array<double>("actuator_actrange")[2 * k + 1];
        a.time = std::max(mjMINVAL, array<double>("actuator_dynprm")[columns("actuator_dynprm") * k]);
        a.share = 1 - std::exp(-m_->opt.timestep / a.time);
    }
}

inline void Describer::sites(Description& o) const {
    o.num_sites = static_cast<int>(m_->nsite);
    for (int k = 0; k < o.num_sites; ++k) o.sites[k] = {anchor(o, SITE, k), array<int>("site_type")[k]};
}

// `number`: below zero, there is none
inline Anchor Describer::anchor(const Description& o, int type, int number) const {
    Anchor a = {};
    a.own = -1;
    if (number < 0) return a;
    const auto take = [&](const char* body, const char* frame, const char* pos, const char* quat) {
        a.body = body ? array<int>(body)[number] : number;
        if (frame) a.frame = array<unsigned char>(frame)[number];
        copy(a.pos, array<double>(pos), number);
        copy(a.quat, array<double>(quat), number);
    };
    if (type == SITE)
        take("site_bodyid", "site_sameframe", "site_pos", "site_quat"), a.own = o.own_of_site(number);
    else if (type == GEOM)
        take("geom_bodyid", "geom_sameframe", "geom_pos", "geom_quat");
    else {
        take(nullptr, nullptr, "body_ipos", "body_iquat");
        a.frame = type == BODY ? SAME_BODY : SAME_INERTIA, a.is_body = type == BODY;
    }
    a.is_fixed = o.bodies[a.body].is_fixed;
    return a;
}

// the geom of which a sensor senses the frame, or to which it refers; -1: none
inline int Describer::sensed_geom(const Sensor& s, int side) {
    if (s.type < FRAMEPOS || s.type > FRAMEANGACC) return -1;
    if (side) return s.reference_type == GEOM ? s.reference : -1;
    return s.object_type == GEOM ? s.object : -1;
}

inline void Describer::sensors(Description& o) const {
    o.sensors = known_sensors(m_);
    for (const Sensor& s : o.sensors) {
        const bool is_frame = s.type < JOINTPOS || (s.type >= FRAMEPOS && s.type <= FRAMEANGACC);
        o.anchors.push_back({anchor(o, s.object_type, is_frame ? s.object : -1),
                             anchor(o, s.reference_type, is_frame ? s.reference : -1)});
    }
}

inline void Describer::tendons(Description& o) const {
    o.num_tendons = static_cast<int>(m_->ntendon);
    for (int k = 0; k < o.num_tendons; ++k) {
        Tendon& t = o.tendons[k];
        t = {};
        const int adr = array<int>("tendon_adr")[k], num_parts = array<int>("tendon_num")[k];
        const int *const kinds = array<int>("wrap_type") + adr, *const numbers = array<int>("wrap_objid") + adr;
        const double* const prm = array<double>("wrap_prm") + adr;
        refuse_if(array<int>("tendon_actuatorid")[k] != -1, ALL_TENDONS, k, "has an actuator with damping or armature");
        t.num_dofs = array<int>("ten_J_rownnz")[k], t.first_number = array<int>("ten_J_rowadr")[k];
        for (int j = 0; j < t.num_dofs; ++j) {
            t.dofs[j] = array<int>("ten_J_colind")[t.first_number + j];
            refuse_if(j && t.dofs[j] == t.dofs[j - 1], ALL_TENDONS, k, "lists a joint twice");
            t.dof_set |= Dofs{1} << t.dofs[j];
        }
        o.num_tendon_numbers = std::max(o.num_tendon_numbers, t.first_number + t.num_dofs);
        double divisor = 1;
        for (int j = 0; j < num_parts; ++j) {
            if (kinds[j] == JOINT_WRAP) {
                refuse_if(num_parts > MAX_TENDON_JOINTS, ALL_TENDONS, k, "has too many joints");
                t.joints[t.num_joints] = numbers[j], t.coefficients[t.num_joints++] = prm[j];
                t.jacobian[std::find(t.dofs, t.dofs + t.num_dofs, o.joints[numbers[j]].dof) - t.dofs] = prm[j];
            } else if (kinds[j] == PULLEY_WRAP)
                divisor = prm[j];
            else {
                refuse_if(kinds[j] != SITE_WRAP, ALL_TENDONS, k, "wraps around a geom");
                o.has_spatial_tendons = true;
                if (j + 1 == num_parts || kinds[j + 1] != SITE_WRAP) continue;
                Segment s = {{numbers[j], numbers[j + 1]}, {}, {}, divisor};
                for (int end = 0; end < 2; ++end) s.bodies[end] = o.sites[s.sites[end]].body;
                for (int end = 0; end < 2 && s.bodies[0] != s.bodies[1]; ++end) s.dofs[end] = moving(o, s.bodies[end]);
                t.segments.push_back(s);
            }
        }
        t.stiffness = disabled_ & NO_SPRING ? 0 : array<double>("tendon_stiffness")[k];
        t.spring_low = array<double>("tendon_lengthspring")[2 * k];
        t.spring_high = array<double>("tendon_lengthspring")[2 * k + 1];
        // MuJoCo leaves out rows without numbers
        const bool is_moved = t.num_joints || std::any_of(t.segments.begin(), t.segments.end(), [](const Segment& s) {
                                  return s.dofs[0] || s.dofs[1];
                              });
        t.is_limited =
            is_moved && array<unsigned char>("tendon_limited")[k] && !(disabled_ & (NO_LIMIT | NO_CONSTRAINT));
        if (!t.is_limited) continue;
        t.low = array<double>("tendon_range")[2 * k], t.high = array<double>("tendon_range")[2 * k + 1];
        t.margin = array<double>("tendon_margin")[k];
        t.limit = impedance(array<double>("tendon_solref_lim") + 2 * k, array<double>("tendon_solimp_lim") + 5 * k,
                            ALL_TENDONS, k);
        t.limit.inverse_weight = array<double>("tendon_invweight0")[k];
    }
}

}  // namespace cypool::lanes
