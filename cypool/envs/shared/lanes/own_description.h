// The numbers in which the model of an environment differs from that of others.
#pragma once

namespace cypool::lanes {

inline void Describer::describe_own(const Description& o, const mjModel* described, std::vector<double>& own) const {
    for (const ArrayField& each : library().model) {
        const Place place{each.offset, 0};
        const void *mine = at<const void*>(m_->raw, place), *others = at<const void*>(described->raw, place);
        if (each.is_option) mine = &at<char>(m_->raw, place), others = &at<char>(described->raw, place);
        // of what holds bodies, the numbers are compared below
        if (mine == others || may_vary(each.name) || each.name == "eq_data") continue;
        if (is_unread(o, each.name, described)) continue;
        const size_t bytes = rows_of(m_, each) * columns_of(m_, each) * static_cast<size_t>(each.item_bytes);
        if (std::memcmp(mine, others, bytes)) throw std::invalid_argument(each.name + " varies");
    }
    own.resize(static_cast<size_t>(o.num_own));
    double* next = own.data();
    for (int k = 0; k < 3; ++k) *next++ = at_rest(k);
    const auto* const inertia = array<double>("body_inertia");
    for (int k = 0; k < o.num_bodies; ++k) {
        refuse_if((m_->body_subtreemass[k] < mjMINVAL) != o.bodies[k].is_massless,
                  "some environments have massless bodies where others do not");
        *next++ = m_->body_mass[k];
        *next++ = inverse_subtree_mass(k);
        *next++ = m_->body_subtreemass[k];
        next = std::copy_n(inertia + 3 * k, 3, next);
        next = std::copy_n(m_->body_pos + 3 * k, 3, next);
        next = std::copy_n(m_->body_quat + 4 * k, 4, next);
    }
    next = std::copy_n(array<double>("site_pos"), 3 * o.num_sites, next);
    const auto* const armature = array<double>("dof_armature");
    const auto* const simple_inertia = array<double>("dof_M0");
    const auto* const dof_weight = array<double>("dof_invweight0");
    bool has_damping = false;
    for (int k = 0; k < o.nv; ++k) {
        refuse_if(m_->dof_damping[k] < 0, "a damping is negative");
        has_damping |= damping(k) > 0 && !(disabled_ & NO_EULERDAMP);
        *next++ = o.dofs[k].is_simple ? simple_inertia[k] : armature[k];
        *next++ = damping(k);
    }
    refuse_if(has_damping != o.has_damping, "only some environments have damping in their joints");
    for (int k = 0; k < o.num_joints; ++k) {
        const int type = o.joints[k].type;
        refuse_if((type == mjJNT_FREE || type == mjJNT_BALL) && stiffness(k) != 0, "a ball or free joint has a spring");
        *next++ = stiffness(k);
        *next++ = dof_weight[o.joints[k].dof];
    }
    const auto* const gear = array<double>("actuator_gear");
    const auto* const bias = array<double>("actuator_biasprm");
    for (int k = 0; k < o.nu; ++k) {
        *next++ = m_->actuator_gainprm[library().mjNGAIN * k];
        *next++ = gear[6 * k];
        next = std::copy_n(bias + library().mjNGAIN * k, 3, next);
    }
    for (int k = 0; k < o.num_frictions; ++k) {
        const Friction& f = o.frictions[k];
        refuse_if(!(friction_of(f.dof) > 0), "different joints have friction");
        *next++ = friction_R(f.impedance, dof_weight[f.dof]);
        *next++ = friction_of(f.dof);
    }
    int num_frictions = 0;
    for (int k = 0; k < o.nv; ++k) num_frictions += friction_of(k) != 0;
    refuse_if(num_frictions != o.num_frictions, "different joints have friction");
    next = std::copy_n(array<double>("tendon_invweight0"), o.num_tendons, next);
    for (Equality e : o.equalities) {
        const Equality before = e;
        inverse_weights(e);
        if (e.num_rows == 1)
            std::copy_n(held_numbers(e.number), 5, e.polynomial);
        else
            hold(o, e, held_numbers(e.number), e.has_sites);
        refuse_if(
            e.torque_scale != before.torque_scale || !std::equal(e.polynomial, e.polynomial + 5, before.polynomial),
            "eq_data varies");
        next = std::copy_n(e.inverse_weights, 2, next);
        for (const HeldBody& b : e.bodies) next = std::copy_n(b.quat, 4, std::copy_n(b.pos, 3, next));
    }
    for (const Sensor& s : o.sensors)
        for (int side = 0; side < 2; ++side)
            if (const int geom = sensed_geom(s, side); geom >= 0) next = std::copy_n(m_->geom_pos + 3 * geom, 3, next);
    for (Pair p : o.pairs) {
        set_friction(p);
        *next++ = p.impedance.inverse_weight;
        next = std::copy_n(p.friction.data(), p.condim - 1, next);
        Pair wall = p;
        for (int k = 1; k < p.num_boxes; ++k) {
            wall.geom2 = o.boxes[static_cast<size_t>(p.first_box + k)].geom;
            set_friction(wall);
            refuse_if(wall.friction != p.friction, "identical walls have different friction");
        }
    }
    refuse_if(!std::all_of(own.begin(), own.end(), [](double x) { return std::isfinite(x); }),
              "a number is not finite");
}

// Whether what lanes read of an array, which environments may write to, is that of another model.
inline bool Describer::is_unread(const Description& o, const std::string& name, const mjModel* other) const {
    const auto is_same = [&](const char* array_name, int number) {
        const double* const others = array_of<double>(other->raw, library().model, array_name);
        return !std::memcmp(array<double>(array_name) + 3 * number, others + 3 * number, 3 * sizeof(double));
    };
    if (name == "site_size")
        return std::all_of(o.sensors.begin(), o.sensors.end(),
                           [&](const Sensor& s) { return s.type != TOUCH || is_same("site_size", s.object); });
    if (name == "tendon_length0")
        return std::none_of(o.equalities.begin(), o.equalities.end(),
                            [](const Equality& e) { return e.type == TENDONS; });
    if (name != "geom_pos") return false;
    return std::all_of(o.pairs.begin(), o.pairs.end(), [&](const Pair& p) {
        bool is_unread = is_same("geom_pos", p.geom1);
        for (int k = 0; k < std::max(1, p.num_boxes); ++k)
            is_unread &=
                is_same("geom_pos", p.num_boxes ? o.boxes[static_cast<size_t>(p.first_box + k)].geom : p.geom2);
        return is_unread;
    });
}

}  // namespace cypool::lanes
