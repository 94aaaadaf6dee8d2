// Geoms of a model that may touch, as lanes need them.
#pragma once

namespace cypool::lanes {

// where lanes keep the place of a geom
inline int Describer::place(Description& o, int number) const {
    for (int k = 0; k < o.num_geoms; ++k)
        if (o.geoms[k].number == number) return k;
    refuse_if(o.num_geoms == MAX_GEOMS, "the model has too many geoms that may touch");
    Geom& g = o.geoms[o.num_geoms];
    g = {};
    g.number = number;
    g.body = m_->geom_bodyid[number];
    g.frame = array<unsigned char>("geom_sameframe")[number];
    g.type = array<int>("geom_type")[number];
    g.has_axis = g.type == CAPSULE;
    g.bound = m_->geom_rbound[number];
    copy(g.size, m_->geom_size, number);
    copy(g.box_center, array<double>("geom_aabb"), 2 * number);
    copy(g.box_half, array<double>("geom_aabb"), 2 * number + 1);
    copy(g.pos, m_->geom_pos, number);
    copy(g.quat, array<double>("geom_quat"), number);
    return o.num_geoms++;
}

inline bool Describer::is_wall(int geom) const {
    const double* const matrix = d_->geom_xmat + 9 * geom;
    return array<int>("geom_type")[geom] == BOX && m_->geom_bodyid[geom] == 0 && matrix[0] == 1 && matrix[4] == 1
           && matrix[8] == 1;
}

inline bool Describer::is_floor(int geom) const {
    const double* const matrix = d_->geom_xmat + 9 * geom;
    return array<int>("geom_type")[geom] == PLANE && m_->geom_bodyid[geom] == 0 && matrix[2] == 0 && matrix[5] == 0
           && matrix[8] == 1;
}

inline bool Describer::is_round(int geom) const {
    return array<int>("geom_type")[geom] == SPHERE || array<int>("geom_type")[geom] == CAPSULE;
}

inline int Describer::box(Description& o, int geom) const {
    for (size_t k = 0; k < o.boxes.size(); ++k)
        if (o.boxes[k].geom == geom) return static_cast<int>(k);
    refuse_if(o.boxes.size() == MAX_BOXES, "the world has too many boxes");
    Box& added = o.boxes.emplace_back();
    added.geom = geom;
    copy(added.center, d_->geom_xpos, geom);
    copy(added.half, m_->geom_size, geom);
    return static_cast<int>(o.boxes.size()) - 1;
}

inline bool Describer::may_collide(int type1, int affinity1, int type2, int affinity2) const {
    return (type1 & affinity2) || (type2 & affinity1);
}

inline bool Describer::is_excluded(int body1, int body2) const {
    const auto* const contype = array<int>("body_contype");
    const auto* const affinity = array<int>("body_conaffinity");
    const auto* const weld = array<int>("body_weldid");
    const auto* const parent = array<int>("body_parentid");
    const int weld1 = weld[body1], weld2 = weld[body2];
    if (weld1 == weld2 || !may_collide(contype[body1], affinity[body1], contype[body2], affinity[body2])) return true;
    for (int64_t k = 0; k < size("nexclude"); ++k)
        if (array<int>("exclude_signature")[k] == (body1 << 16) + body2) return true;
    return !(disabled_ & NO_FILTERPARENT) && weld1 && weld2
           && (weld1 == weld[parent[weld2]] || weld2 == weld[parent[weld1]]);
}

inline void Describer::pairs(Description& o) const {
    o.num_own = o.own_of_equality(static_cast<int>(o.equalities.size()));
    for (size_t k = 0; k < o.sensors.size(); ++k)
        for (int side = 0; side < 2; ++side)
            if (Anchor& a = o.anchors[k][static_cast<size_t>(side)]; sensed_geom(o.sensors[k], side) >= 0)
                a.own = o.num_own, o.num_own += 3;
    if (disabled_ & (NO_CONTACT | NO_CONSTRAINT)) return;
    const auto* const first = array<int>("body_geomadr");
    const auto* const count = array<int>("body_geomnum");
    int64_t num_given = 0;
    for (int body1 = 0; body1 < o.num_bodies; ++body1)
        for (int body2 = body1 + 1; body2 < o.num_bodies; ++body2) {
            const std::vector<std::pair<int, int>> given = given_pairs(o, body1, body2);
            num_given += static_cast<int64_t>(given.size());
            if (is_excluded(body1, body2)) continue;
            const auto begin = o.pairs.size();
            for (int a = first[body1]; a < first[body1] + count[body1]; ++a)
                for (int b = first[body2]; b < first[body2] + count[body2]; ++b)
                    if (may_collide(m_->geom_contype[a], m_->geom_conaffinity[a], m_->geom_contype[b],
                                    m_->geom_conaffinity[b])
                        && std::find(given.begin(), given.end(), std::pair<int, int>(std::minmax(a, b))) == given.end())
                        add_pair(o, a, b);
            // where a body has several geoms, MuJoCo finds pairs in a tree, and sorts them
            if ((count[body1] == 1 && count[body2] == 1) || disabled_ & NO_MIDPHASE) continue;
            std::stable_sort(o.pairs.begin() + static_cast<std::ptrdiff_t>(begin), o.pairs.end(),
                             [](const Pair& p, const Pair& q) {
                                 return p.geom1 != q.geom1 ? p.geom1 < q.geom1 : p.geom2 < q.geom2;
                             });
        }
    refuse_if(num_given != size("npair"), "a contact pair lists two geoms of the same body");
    std::vector<Pair> joined;
    for (const Pair& p : o.pairs) {
        if (joined.empty() || !continues(joined.back(), p))
            joined.push_back(p);
        else
            ++joined.back().num_boxes;
    }
    refuse_if(joined.size() > MAX_PAIRS, "the model has too many geoms that may touch");
    o.pairs.swap(joined);
    o.num_pairs = static_cast<int>(o.pairs.size());
    for (Pair& p : o.pairs) p.own = o.num_own, o.num_own += p.condim;
}

// Adds the pairs that the model itself lists. Returns their geoms, which may touch only so.
inline std::vector<std::pair<int, int>> Describer::given_pairs(Description& o, int body1, int body2) const {
    std::vector<std::pair<int, int>> given;
    for (int k = 0; k < static_cast<int>(size("npair")); ++k) {
        if (array<int>("pair_signature")[k] != (body1 << 16) + body2) continue;
        const int a = array<int>("pair_geom1")[k], b = array<int>("pair_geom2")[k];
        add_pair(o, a, b, k);
        given.emplace_back(std::minmax(a, b));
    }
    return given;
}

// `given`: which of those that the model lists, -1: none
inline void Describer::add_pair(Description& o, int a, int b, int given) const {
    const auto* const type = array<int>("geom_type");
    const int geom1 = type[a] > type[b] ? b : a, geom2 = type[a] > type[b] ? a : b;
    if (type[geom1] == PLANE && type[geom2] == PLANE) return;
    refuse_if(o.pairs.size() >= MAX_PAIRS + MAX_GEOMS * MAX_BOXES, "the model has too many geoms that may touch");
    Pair p = {};
    p.geom1 = geom1, p.geom2 = geom2, p.type1 = type[geom1], p.type2 = type[geom2];
    p.body1 = m_->geom_bodyid[geom1], p.body2 = m_->geom_bodyid[geom2], p.given = given;
    refuse_if(p.type2 > MESH, GEOMS, geom2, "has a shape defined by a plugin, and may touch others");
    p.is_on_floor = is_floor(geom1);
    p.is_general = !(is_round(geom2) && (is_round(geom1) || is_floor(geom1))) && !(is_round(geom1) && is_wall(geom2));
    p.radius1 = m_->geom_size[3 * geom1], p.length1 = m_->geom_size[3 * geom1 + 1];
    p.radius2 = m_->geom_size[3 * geom2], p.length2 = m_->geom_size[3 * geom2 + 1];
    const auto* const gap = array<double>("geom_gap");
    p.margin = given >= 0 ? array<double>("pair_margin")[given] : m_->geom_margin[a] + m_->geom_margin[b];
    // MuJoCo's search for what is near may then leave out more
    refuse_if(p.margin < 0 || m_->geom_margin[a] < 0 || m_->geom_margin[b] < 0, p, "have a negative margin");
    refuse_if((given >= 0 ? array<double>("pair_gap")[given] : gap[a] + gap[b]) != 0, p, "have a gap");
    p.certain = p.type1 == HFIELD ? -1e-9 : p.margin - (p.is_general && p.type1 == PLANE ? 1e-9 : 1e-11);
    if (given < 0 && is_near_plane(p)) p.certain -= 1e-5;
    const double bound1 = m_->geom_rbound[geom1], bound2 = m_->geom_rbound[geom2];
    p.bound = bound1 + bound2 + p.margin;
    if (p.type1 == PLANE) p.floor = d_->geom_xpos[3 * geom1 + 2];
    p.place1 = p.type1 == PLANE && !p.is_general ? -1 : place(o, geom1);
    p.place2 = p.type2 == BOX && !p.is_general ? -1 : place(o, geom2);
    if (p.is_general)
        o.geoms[p.place1].has_matrix = o.geoms[p.place2].has_matrix = true;
    else if (p.type2 == BOX)
        p.first_box = box(o, geom2), p.num_boxes = 1;
    const Dofs first = moving(o, p.body1);
    p.dofs = first ^ moving(o, p.body2);
    p.negative_dofs = p.dofs & first;
    // MuJoCo leaves out rows without numbers
    if (!p.dofs) return;
    if (given >= 0)
        take_parameters(p);
    else
        mix_parameters(p);
    set_friction(p);
    o.pairs.push_back(p);
}

// Whether MuJoCo finds a pair in trees of boxes, and one of these is that of a plane: it reaches so far down that
// its top is rounded to a millionth. Of a level plane at zero without a margin, nothing is rounded.
inline bool Describer::is_near_plane(const Pair& p) const {
    const auto* const first = array<int>("body_geomadr");
    const auto* const count = array<int>("body_geomnum");
    const auto* const type = array<int>("geom_type");
    if (disabled_ & NO_MIDPHASE || (count[p.body1] == 1 && count[p.body2] == 1)) return false;
    if (p.is_on_floor && d_->geom_xpos[3 * p.geom1 + 2] == 0 && p.margin == 0) return false;
    const auto has_plane = [&](int body) {
        const int* const begin = type + first[body];
        return std::find(begin, begin + count[body], PLANE) != begin + count[body];
    };
    return has_plane(p.body1) || has_plane(p.body2);
}

// mj_contactParam
inline void Describer::mix_parameters(Pair& p) const {
    const auto* const condim = array<int>("geom_condim");
    const auto* const solmix = array<double>("geom_solmix");
    const auto* const solref = array<double>("geom_solref");
    const auto* const solimp = array<double>("geom_solimp");
    const auto [g1, g2] = deciding(p);
    p.condim = std::max(condim[g1], condim[g2]);
    // MuJoCo mixes no others
    for (const int geom : {g1, g2}) refuse_if(!(solref[2 * geom] > 0), GEOMS, geom, NO_RATIO);
    if (priority_[p.geom1] != priority_[p.geom2]) {
        p.impedance = impedance(solref + 2 * g1, solimp + 5 * g1, GEOMS, g1);
        return;
    }
    const double mix1 = solmix[g1], mix2 = solmix[g2];
    refuse_if(mix1 < mjMINVAL || mix2 < mjMINVAL, p, "have a solmix of zero");
    const double mix = mix1 / (mix1 + mix2);
    double ref[2], imp[5];
    for (int k = 0; k < 2; ++k) ref[k] = mix * solref[2 * g1 + k] + (1 - mix) * solref[2 * g2 + k];
    for (int k = 0; k < 5; ++k) imp[k] = mix * solimp[5 * g1 + k] + (1 - mix) * solimp[5 * g2 + k];
    p.impedance = impedance(ref, imp, GEOMS, g1);
}

inline void Describer::take_parameters(Pair& p) const {
    p.condim = array<int>("pair_dim")[p.given];
    const auto* const along = array<double>("pair_solreffriction") + 2 * p.given;
    refuse_if(option<int>("opt.cone") != 0 && (along[0] != 0 || along[1] != 0), LISTED_PAIRS, p.given,
              "has a solreffriction, and friction cones are elliptic");
    p.impedance = impedance(array<double>("pair_solref") + 2 * p.given, array<double>("pair_solimp") + 5 * p.given,
                            LISTED_PAIRS, p.given);
}

// the geoms whose parameters a pair has; where one of them decides alone, it is both
inline std::pair<int, int> Describer::deciding(const Pair& p) const {
    const int more = priority_[p.geom1] - priority_[p.geom2];
    return {more < 0 ? p.geom2 : p.geom1, more > 0 ? p.geom1 : p.geom2};
}

inline void Describer::set_friction(Pair& p) const {
    const auto [g1, g2] = deciding(p);
    for (int k = 0; k < 5; ++k) {
        const int kind = k < 2 ? 0 : k < 3 ? 1 : 2;
        const double mixed = std::max(friction_[3 * g1 + kind], friction_[3 * g2 + kind]);
        p.friction[k] = std::max(MIN_FRICTION, p.given < 0 ? mixed : pair_friction_[5 * p.given + k]);
    }
    double translation = 0;
    translation += weight_[2 * p.body1];
    translation += weight_[2 * p.body2];
    const double first = p.friction[0];
    const bool is_normal = p.condim == 1 || option<int>("opt.cone") != 0;
    p.impedance.inverse_weight = is_normal ? translation : translation + first * first * translation;
}

}  // namespace cypool::lanes
