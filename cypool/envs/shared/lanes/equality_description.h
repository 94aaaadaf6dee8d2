// Equality constraints of a model, as lanes need them.
#pragma once

namespace cypool::lanes {

inline void Describer::equalities(Description& o) const {
    o.num_equality_rows = 0;
    if (disabled_ & (NO_EQUALITY | NO_CONSTRAINT)) return;
    for (int k = 0; k < static_cast<int>(size("neq")); ++k) {
        if (!array<unsigned char>("eq_active0")[k]) continue;
        const double* const numbers = held_numbers(k);
        Equality e = {};
        e.number = k;
        e.type = array<int>("eq_type")[k];
        refuse_if(e.type > TENDONS, EQUALITIES, k, "constrains flexes");
        e.first = array<int>("eq_obj1id")[k], e.second = array<int>("eq_obj2id")[k];
        e.num_rows = e.type == CONNECT ? 3 : e.type == WELD ? 6 : 1;
        e.impedance = impedance(array<double>("eq_solref") + 2 * k, array<double>("eq_solimp") + 5 * k, EQUALITIES, k);
        if (e.num_rows == 1)
            refuse_if(!couple(o, e, numbers), EQUALITIES, k, "couples two trees by a polynomial");
        else
            hold(o, e, numbers, array<int>("eq_objtype")[k] == SITE);
        inverse_weights(e);
        // MuJoCo leaves out rows without numbers
        if (!e.dofs) continue;
        for (int side = 0; side < 2; ++side)
            e.bodies[side].own = o.own_of_equality(static_cast<int>(o.equalities.size())) + 2 + 7 * side;
        o.num_equality_rows += e.num_rows;
        o.equalities.push_back(e);
    }
}

inline const double* Describer::held_numbers(int number) const {
    return array<double>("eq_data") + columns("eq_data") * number;
}

inline bool Describer::couple(const Description& o, Equality& e, const double* numbers) const {
    std::copy_n(numbers, 5, e.polynomial);
    const auto* const length = array<double>("tendon_length0");
    const int sides[2] = {e.first, e.second};
    bool has_second = false;
    for (int k = 1; k < 5 && e.second >= 0; ++k) has_second |= e.polynomial[k] != 0;
    Dofs dofs[2] = {};
    for (int side = 0; side < (e.second < 0 ? 1 : 2); ++side) {
        if (e.type == TENDONS)
            e.reference[side] = length[sides[side]], dofs[side] = o.tendons[sides[side]].dof_set;
        else {
            const Joint& joint = o.joints[sides[side]];
            e.reference[side] = joint.qpos0, dofs[side] = Dofs{1} << joint.dof;
        }
    }
    e.dofs = dofs[0] | (has_second ? dofs[1] : 0);
    // where its slope is zero, it joins no trees
    const auto is_of = [&](Dofs of) {
        return of && dofs[0] && o.dofs[__builtin_ctzll(of)].tree == o.dofs[__builtin_ctzll(dofs[0])].tree;
    };
    return !(has_second && o.has_islands && (e.polynomial[2] != 0 || e.polynomial[3] != 0 || e.polynomial[4] != 0)
             && !is_of(dofs[1]));
}

inline void Describer::hold(const Description& o, Equality& e, const double* numbers, bool has_sites) const {
    e.has_sites = has_sites;
    e.torque_scale = numbers[10];
    const int sides[2] = {e.first, e.second};
    for (int side = 0; side < 2; ++side) {
        HeldBody& b = e.bodies[side];
        if (has_sites) {
            const Anchor a = anchor(o, SITE, sides[side]);
            b.body = a.body, b.frame = a.frame;
            std::copy_n(a.pos, 3, b.pos);
            std::copy_n(a.quat, 4, b.quat);
        } else {
            b.body = sides[side], b.frame = SAME_NONE;
            std::copy_n(numbers + 3 * (e.type == CONNECT ? side : 1 - side), 3, b.pos);
            if (e.type == WELD && !side) std::copy_n(numbers + 6, 4, b.quat);
        }
        b.dofs = moving(o, b.body);
    }
    e.dofs = e.bodies[0].dofs | e.bodies[1].dofs;
}

// mj_diagApprox
inline void Describer::inverse_weights(Equality& e) const {
    const auto* const dof = array<double>("dof_invweight0");
    const auto* const tendon = array<double>("tendon_invweight0");
    const int sides[2] = {e.first, e.second};
    const auto weight = [&](int side, int kind) {
        if (e.type == TENDONS) return tendon[sides[side]];
        if (e.type == JOINTS) return dof[m_->jnt_dofadr[sides[side]]];
        return weight_[2 * e.bodies[side].body + kind];
    };
    for (int kind = 0; kind < 2; ++kind) {
        e.inverse_weights[kind] = weight(0, kind);
        if (e.second >= 0) e.inverse_weights[kind] += weight(1, kind);
    }
}

}  // namespace cypool::lanes
