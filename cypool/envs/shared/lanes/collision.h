// Collisions, in MuJoCo's order with all other rows.

#include "cypool/envs/shared/lanes/target.h"

namespace cypool::lanes::CYPOOL_LANES {

// the default of the first tangent
CYPOOL_LANES_INLINE void begin_tangent(const Real* normal, Real* tangent) {
    const Mask is_flat = (normal[1] < 0.5) & (normal[1] > -0.5);
    tangent[0] = all(0);
    tangent[1] = choose(is_flat, all(1), all(0));
    tangent[2] = choose(is_flat, all(0), all(1));
}

// mjc_PlaneSphere, mjc_PlaneCapsule
CYPOOL_LANES_INLINE void collide_with_plane(const Description& m, Group& d, int number) {
    const Pair& p = m.pairs[static_cast<size_t>(number)];
    const Real* const center = d.geom_pos[p.place2];
    const Real* const axis = d.geom_axis[p.place2];
    const Mask near = center[2] - p.floor <= p.bound;
    if (!any(near)) return;
    const bool is_capsule = p.type2 == CAPSULE;
    for (int end = 0; end < (is_capsule ? 2 : 1); ++end) {
        Real point[3], pos[3], normal[3], tangent[3];
        for (int k = 0; k < 3; ++k) {
            normal[k] = all(k == 2);
            point[k] = center[k];
            if (is_capsule) point[k] = end ? center[k] - p.length2 * axis[k] : center[k] + p.length2 * axis[k];
        }
        const Real above = point[2] - p.floor, dist = above - p.radius2;
        const Mask active = near & (above <= p.margin + p.radius2) & (dist < p.margin);
        if (!any(active)) continue;
        doubt_if_far(d, p, active, dist);
        copy3(pos, point);
        pos[2] = pos[2] + (-dist / 2 - p.radius2);
        if (is_capsule)
            copy3(tangent, axis);
        else
            begin_tangent(normal, tangent);
        add_contact(m, d, number, active, dist, pos, normal, tangent);
    }
}

// Moves a point into the box and the sphere around a geom, less a slack, with which MuJoCo searches. Returns whether it
// is there.
inline bool move_into_bounds(const Description& m, const Group& d, int place, int l, double slack, double* point) {
    const Geom& g = m.geoms[place];
    double arm[3], moved[3] = {}, squared = 0;
    bool has_middle = true;
    for (int k = 0; k < 3; ++k) arm[k] = point[k] - lane(d.geom_pos[place][k], l);
    for (int axis = 0; axis < 3; ++axis) {
        double at = -g.box_center[axis];
        for (int k = 0; k < 3; ++k) at += lane(d.geom_mat[place][3 * k + axis], l) * arm[k];
        const double most = std::max(g.box_half[axis] - slack, 0.0);
        at = std::clamp(at, -most, most) + g.box_center[axis];
        has_middle &= std::fabs(g.box_center[axis]) <= most;
        for (int k = 0; k < 3; ++k) moved[k] += lane(d.geom_mat[place][3 * k + axis], l) * at;
    }
    for (const double each : moved) squared += each * each;
    const double radius = g.bound - slack;
    // edges may be on the sphere; the way from there to its middle is in the box
    const double scale = squared > radius * radius ? radius / std::sqrt(squared) : 1;
    for (int k = 0; k < 3; ++k) point[k] = moved[k] * scale + lane(d.geom_pos[place][k], l);
    return scale == 1 || has_middle;
}
// Whether MuJoCo's search finds the geoms of a contact. Its distance may be too small: of boxes that do not overlap,
// and of shapes of which iterations find it.
inline bool is_found(const Description& m, const Group& d, const Pair& p, int l, const PreContact& contact) {
    if (!p.is_general || p.type1 == PLANE || p.type1 == HFIELD) return true;
    const auto is_exact = [](int type) { return type == SPHERE || type == CAPSULE || type == BOX; };
    const double deep = is_exact(p.type1) && is_exact(p.type2) ? 1e-9 : CLEARANCE + 10 * m.collision_tolerance;
    if (contact.dist <= -deep) return true;
    constexpr double SLACK = 1e-12;  // of rounding
    // as near as a margin, or one point in both
    double points[2][3], squared = 0;
    const double half = std::max(contact.dist, 0.0) / 2;
    for (int k = 0; k < 3; ++k) {
        points[0][k] = contact.pos[k] - half * contact.normal[k];
        points[1][k] = contact.pos[k] + half * contact.normal[k];
    }
    if (!move_into_bounds(m, d, p.place1, l, SLACK, points[0])) return false;
    if (p.margin == 0) std::copy_n(points[0], 3, points[1]);
    if (!move_into_bounds(m, d, p.place2, l, SLACK, points[1])) return false;
    for (int k = 0; k < 3; ++k) squared += (points[0][k] - points[1][k]) * (points[0][k] - points[1][k]);
    const double most = p.margin == 0 ? SLACK / 2 : p.margin - 1e-11;
    return squared <= most * most;
}

// MuJoCo's own function, for lanes where two geoms may be closer than they must be
inline __attribute__((noinline)) void collide_exactly(const Description& m, Group& d, int number, int geom2,
                                                      int candidates, const Collider& collider) {
    constexpr int most = 50;  // mjMAXCONPAIR
    const Pair& p = m.pairs[static_cast<size_t>(number)];
    const Collider::Function function = collider.functions[p.type1 * NUM_SHAPES + p.type2];
    if (!function) return;
    PreContact contacts[WIDTH][most];
    int counts[WIDTH] = {}, num_contacts = 0;
    for (int l = 0; l < WIDTH; ++l) {
        if (!(candidates >> l & 1)) continue;
        for (const int place : {p.place1, p.place2}) {
            if (place < 0 || m.geoms[place].body == 0) continue;
            double* const pos = collider.d->geom_xpos + 3 * m.geoms[place].number;
            double* const matrix = collider.d->geom_xmat + 9 * m.geoms[place].number;
            for (int k = 0; k < 3; ++k) pos[k] = lane(d.geom_pos[place][k], l);
            if (p.is_general)
                for (int k = 0; k < 9; ++k) matrix[k] = lane(d.geom_mat[place][k], l);
            else
                for (int k = 0; k < 3; ++k) matrix[2 + 3 * k] = lane(d.geom_axis[place][k], l);
        }
        // not all functions write a tangent
        if (p.is_general) std::memset(contacts[l], 0, sizeof contacts[l]);
        counts[l] = function(collider.m->raw, collider.d->raw, contacts[l], p.geom1, geom2, p.margin);
        num_contacts = std::max(num_contacts, counts[l]);
        const int found = d.coverage->found(number), branch = Coverage::branch_of(counts[l]);
        if (d.coverage->unseen(found) & branch) d.unseen.push_back({l, {found, static_cast<uint64_t>(branch)}});
    }
    Real least_dist = all(0);
    for (int l = 0; l < WIDTH; ++l)
        for (int c = 0; c < counts[l]; ++c) {
            const double dist = is_found(m, d, p, l, contacts[l][c]) ? contacts[l][c].dist : p.margin;
            if (!c || dist < lane(least_dist, l)) lane(least_dist, l) = dist;
        }
    for (int c = 0; c < num_contacts; ++c) {
        Real dist = all(0), found = all(0), pos[3], normal[3], given[3], tangent[3];
        for (int k = 0; k < 3; ++k) pos[k] = given[k] = all(0), normal[k] = all(k == 2);
        for (int l = 0; l < WIDTH; ++l) {
            if (c >= counts[l]) continue;
            const PreContact& contact = contacts[l][c];
            lane(found, l) = 1;
            lane(dist, l) = contact.dist;
            for (int k = 0; k < 3; ++k) {
                lane(pos[k], l) = contact.pos[k];
                lane(normal[k], l) = contact.normal[k];
                if (p.is_general) lane(given[k], l) = contact.tangent[k];
            }
        }
        const Mask active = (found > 0.0) & (dist < p.margin);
        if (!any(active)) continue;
        doubt_if_far(d, p, active, least_dist);
        normalize(normal);
        begin_tangent(normal, tangent);
        if (p.is_general) {
            const Mask is_given = sqrt(dot3(given, given)) >= 0.5;
            for (int k = 0; k < 3; ++k) tangent[k] = choose(is_given, given[k], tangent[k]);
        }
        add_contact(m, d, number, active, dist, pos, normal, tangent);
    }
}

// how far a shape reaches from its centre along a direction, at most
CYPOOL_LANES_INLINE Real reach_along(const Description& m, const Group& d, int place, const Real* direction) {
    const Geom& g = m.geoms[place];
    const Real* const matrix = d.geom_mat[place];
    const auto along = [&](int k) {
        const Real axis[3] = {matrix[k], matrix[3 + k], matrix[6 + k]};
        return abs(dot3(axis, direction)) * g.size[k == 2 && g.type != BOX ? 1 : k];
    };
    if (g.type == BOX) return along(0) + along(1) + along(2);
    return g.type == CAPSULE || g.type == CYLINDER ? along(2) + g.size[0] : all(g.bound);
}

// Returns the lanes in which a box is not apart from a geom along one of the box's axes.
CYPOOL_LANES_INLINE Mask near_box(const Description& m, const Group& d, int box, int other, const Real* diff,
                                  double margin, Mask near) {
    for (int k = 0; k < 3 && any(near); ++k) {
        const Real axis[3] = {d.geom_mat[box][k], d.geom_mat[box][3 + k], d.geom_mat[box][6 + k]};
        near =
            near
            & (abs(dot3(diff, axis)) <= reach_along(m, d, other, axis) + (m.geoms[box].size[k] + margin + CLEARANCE));
    }
    return near;
}

// The same of boxes around any two shapes, whose distance MuJoCo finds up to a tolerance; `diff`: to the other one.
CYPOOL_LANES_INLINE Mask near_bounds(const Description& m, const Group& d, int place, int other, const Real* diff,
                                     double margin, Mask near) {
    const Geom &g = m.geoms[place], &o = m.geoms[other];
    const double clearance = margin + CLEARANCE + 10 * m.collision_tolerance;
    for (int k = 0; k < 3 && any(near); ++k) {
        const Real axis[3] = {d.geom_mat[place][k], d.geom_mat[place][3 + k], d.geom_mat[place][6 + k]};
        Real apart = dot3(diff, axis) - g.box_center[k], reach = all(g.box_half[k] + clearance);
        for (int j = 0; j < 3; ++j) {
            const Real others[3] = {d.geom_mat[other][j], d.geom_mat[other][3 + j], d.geom_mat[other][6 + j]};
            const Real along = dot3(axis, others);
            apart = apart + along * o.box_center[j];
            reach = reach + abs(along) * o.box_half[j];
        }
        near = near & (abs(apart) <= reach);
    }
    return near;
}

// any two shapes
CYPOOL_LANES_INLINE void collide_generally(const Description& m, Group& d, int number, const Collider& collider) {
    const Pair& p = m.pairs[static_cast<size_t>(number)];
    const Real* const center1 = d.geom_pos[p.place1];
    const Real* const center2 = d.geom_pos[p.place2];
    const Real diff[3] = {center2[0] - center1[0], center2[1] - center1[1], center2[2] - center1[2]};
    Mask near;
    if (p.type1 == PLANE) {
        const Real* const matrix = d.geom_mat[p.place1];
        const Real normal[3] = {matrix[2], matrix[5], matrix[8]};
        near = dot3(diff, normal) <= p.bound;
        if (!any(near)) return;
        near = near & (dot3(diff, normal) <= reach_along(m, d, p.place2, normal) + (p.margin + CLEARANCE));
    } else {
        near = dot3(diff, diff) <= p.bound * p.bound;
        if (!any(near)) return;
        if (p.type2 == BOX && (p.type1 == SPHERE || p.type1 == CAPSULE || p.type1 == BOX)) {
            near = near_box(m, d, p.place2, p.place1, diff, p.margin, near);
            if (p.type1 == BOX) near = near_box(m, d, p.place1, p.place2, diff, p.margin, near);
        } else if (p.type1 != HFIELD && m.has_bounds) {
            const Real back[3] = {-diff[0], -diff[1], -diff[2]};
            near = near_bounds(m, d, p.place1, p.place2, diff, p.margin, near);
            near = near_bounds(m, d, p.place2, p.place1, back, p.margin, near);
        }
    }
    if (any(near)) collide_exactly(m, d, number, p.geom2, bits(near), collider);
}

// the nearest points of two segments, but for rounding; parallel ones are always candidates
CYPOOL_LANES_INLINE int close_capsules(const Pair& p, const Group& d, const Mask& near, const Real* diff) {
    const Real* const center1 = d.geom_pos[p.place1];
    const Real* const center2 = d.geom_pos[p.place2];
    Real a1[3], a2[3];
    for (int k = 0; k < 3; ++k) {
        a1[k] = d.geom_axis[p.place1][k] * p.length1;
        a2[k] = d.geom_axis[p.place2][k] * p.length2;
    }
    const Real ma = dot3(a1, a1), mb = -dot3(a1, a2), mc = dot3(a2, a2), u = -dot3(a1, diff), v = dot3(a2, diff);
    const Real det = ma * mc - mb * mb;
    const Mask parallel = abs(det) < 1e-9 * ma * mc;
    const auto clipped = [](const Real& x) { return choose(x < -1.0, all(-1), choose(x > 1.0, all(1), x)); };
    Real x1 = (mc * u - mb * v) / det, x2 = (ma * v - mb * u) / det;
    const Mask high1 = x1 > 1.0, low1 = x1 < -1.0;
    x2 = choose(high1, (v - mb) / mc, choose(low1, (v + mb) / mc, x2));
    x1 = clipped(x1);
    const Mask high2 = x2 > 1.0, low2 = x2 < -1.0;
    x1 = choose(high2, clipped((u - mb) / ma), choose(low2, clipped((u + mb) / ma), x1));
    x2 = clipped(x2);
    Real apart[3];
    for (int k = 0; k < 3; ++k) apart[k] = (a1[k] * x1 + center1[k]) - (a2[k] * x2 + center2[k]);
    const double least = p.margin + p.radius1 + p.radius2 + CLEARANCE;
    return bits(near & ((dot3(apart, apart) <= least * least) | parallel));
}

// mjc_SphereSphere, mjc_SphereCapsule, mjc_CapsuleCapsule
CYPOOL_LANES_INLINE void collide_round(const Description& m, Group& d, int number, const Collider& collider) {
    const Pair& p = m.pairs[static_cast<size_t>(number)];
    const Real* const center1 = d.geom_pos[p.place1];
    const Real* const center2 = d.geom_pos[p.place2];
    const Real diff[3] = {center1[0] - center2[0], center1[1] - center2[1], center1[2] - center2[2]};
    const Mask near = dot3(diff, diff) <= p.bound * p.bound;
    if (!any(near)) return;
    Real point[3];
    copy3(point, center2);
    if (p.type1 == CAPSULE) {
        const int candidates = close_capsules(p, d, near, diff);
        if (candidates) collide_exactly(m, d, number, p.geom2, candidates, collider);
        return;
    }
    if (p.type2 == CAPSULE) {
        const Real* const axis = d.geom_axis[p.place2];
        Real x = dot3(axis, diff);
        x = choose(x < -p.length2, all(-p.length2), choose(x > p.length2, all(p.length2), x));
        for (int k = 0; k < 3; ++k) point[k] = axis[k] * x + center2[k];
    }
    const Real apart[3] = {center1[0] - point[0], center1[1] - point[1], center1[2] - point[2]};
    const Real squared = dot3(apart, apart);
    const double least = p.margin + p.radius1 + p.radius2;
    const Mask hit = near & (squared <= least * least);
    if (!any(hit)) return;
    const Real dist = sqrt(squared) - p.radius1 - p.radius2;
    const Mask active = hit & (dist < p.margin);
    if (!any(active)) return;
    Real normal[3] = {point[0] - center1[0], point[1] - center1[1], point[2] - center1[2]}, pos[3], tangent[3];
    // at one place: their axes decide, which lanes do not do
    d.bad = d.bad | (active & (normalize(normal) < TINY));
    const Real depth = p.radius1 + dist / 2;
    for (int k = 0; k < 3; ++k) pos[k] = normal[k] * depth + center1[k];
    normalize(normal);
    begin_tangent(normal, tangent);
    doubt_if_far(d, p, active, dist);
    add_contact(m, d, number, active, dist, pos, normal, tangent);
}

// how far a sphere or capsule reaches along the axes, with its margin and errors of rounding
CYPOOL_LANES_INLINE void reach_of(const Pair& p, const Group& d, Real* reach) {
    for (int k = 0; k < 3; ++k) {
        reach[k] = all(p.radius1 + p.margin + 1e-9);
        if (p.type1 == CAPSULE) reach[k] = reach[k] + abs(d.geom_axis[p.place1][k]) * p.length1;
    }
}

// Finds the boxes that one of the geoms may touch in one of the lanes.
inline __attribute__((noinline)) void find_near_boxes(const Description& m, Group& d) {
    Real low[3], high[3], reach[3];
    for (int k = 0; k < 3; ++k) low[k] = all(1e300), high[k] = all(-1e300);
    for (const Pair& p : m.pairs) {
        if (!p.num_boxes) continue;
        reach_of(p, d, reach);
        for (int k = 0; k < 3; ++k) {
            const Real center = d.geom_pos[p.place1][k], below = center - reach[k];
            low[k] = choose(below < low[k], below, low[k]);
            high[k] = max(high[k], center + reach[k]);
        }
    }
    d.near_boxes.clear();
    for (size_t b = 0; b < m.boxes.size(); ++b) {
        const Box& box = m.boxes[b];
        Mask near = (low[0] <= box.center[0] + box.half[0]) & (high[0] >= box.center[0] - box.half[0]);
        for (int k = 1; k < 3; ++k)
            near = near & (low[k] <= box.center[k] + box.half[k]) & (high[k] >= box.center[k] - box.half[k]);
        if (any(near)) d.near_boxes.push_back(static_cast<int>(b));
    }
}

// mjc_SphereBox, mjc_CapsuleBox
CYPOOL_LANES_INLINE void collide_with_boxes(const Description& m, Group& d, int number, const Collider& collider) {
    const Pair& p = m.pairs[static_cast<size_t>(number)];
    const Real* const center = d.geom_pos[p.place1];
    Real reach[3];
    reach_of(p, d, reach);
    for (const int b : d.near_boxes) {
        if (b < p.first_box || b >= p.first_box + p.num_boxes) continue;
        const Box& box = m.boxes[static_cast<size_t>(b)];
        Mask near = abs(center[0] - box.center[0]) <= reach[0] + box.half[0];
        for (int k = 1; k < 3; ++k) near = near & (abs(center[k] - box.center[k]) <= reach[k] + box.half[k]);
        if (!any(near)) continue;
        const int before = d.num_contacts;
        collide_exactly(m, d, number, box.geom, bits(near), collider);
        if (d.num_contacts > before) note_unseen(d, d.coverage->box(b), 1, d.contacts[before].active);
    }
}

CYPOOL_LANES_INLINE void place_geoms(const Description& m, Group& d) {
    for (int g = 0; g < m.num_geoms; ++g) {
        const Geom& geom = m.geoms[g];
        const int b = geom.body;
        if (b == 0 && d.has_fixed) continue;
        Real* const pos = d.geom_pos[g];
        Real* const axis = d.geom_axis[g];
        if (geom.frame == SAME_BODY)
            copy3(pos, d.xpos[b]);
        else if (geom.frame == SAME_INERTIA)
            copy3(pos, d.xipos[b]);
        else {
            multiply_matrix(pos, d.xmat[b], geom.pos);
            for (int k = 0; k < 3; ++k) pos[k] = pos[k] + d.xpos[b][k];
        }
        if (geom.has_matrix) {
            Real same[3];
            place_frame(d, b, geom.pos, geom.quat, geom.frame, same, d.geom_mat[g]);
        }
        if (!geom.has_axis) continue;
        if (geom.frame == SAME_NONE) {
            Real q[4];
            multiply_quaternions(q, d.xquat[b], geom.quat);
            axis[0] = 2 * (q[1] * q[3] + q[0] * q[2]);
            axis[1] = 2 * (q[2] * q[3] - q[0] * q[1]);
            axis[2] = is_mujoco_4 ? (q[0] * q[0] - q[2] * q[2]) - (q[1] * q[1] - q[3] * q[3])
                                  : q[0] * q[0] - q[1] * q[1] - q[2] * q[2] + q[3] * q[3];
        } else {
            const bool is_body = geom.frame == SAME_BODY || geom.frame == SAME_BODY_ROTATION;
            const Real* const matrix = is_body ? d.xmat[b] : d.ximat[b];
            for (int k = 0; k < 3; ++k) axis[k] = matrix[2 + 3 * k];
        }
    }
    d.has_fixed = true;
}

// mj_collision and mj_makeConstraint: rows in MuJoCo's order, each in the lanes where it is active
inline __attribute__((noinline)) void make_constraints(const Description& m, Group& d, const Collider& collider) {
    d.num_rows = d.num_contacts = d.has_unseen = 0;
    if (!m.equalities.empty()) equalities(m, d);
    joint_friction(m, d);
    joint_limits(m, d);
    tendon_limits(m, d);
    place_geoms(m, d);
    if (!m.boxes.empty()) find_near_boxes(m, d);
    for (int p = 0; p < m.num_pairs; ++p) {
        const Pair& pair = m.pairs[static_cast<size_t>(p)];
        if (pair.is_general)
            collide_generally(m, d, p, collider);
        else if (pair.type1 == PLANE)
            collide_with_plane(m, d, p);
        else if (pair.type2 == BOX)
            collide_with_boxes(m, d, p, collider);
        else
            collide_round(m, d, p, collider);
    }
    if (__builtin_expect(d.has_unseen, 0)) note_constraints(m, d);
}

}  // namespace cypool::lanes::CYPOOL_LANES

#pragma GCC pop_options
