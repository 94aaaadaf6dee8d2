// Rewards of the fifty tasks in version 1 of the package's: for reaching, picking up, and then placing.
#pragma once

#include <cmath>
#include <limits>
#include <numbers>
#include <string>
#include <vector>

#include "cypool/envs/metaworld/sawyer.h"

namespace cypool::metaworld {

inline double apart(Vec3 a, Vec3 b, Along along) {
    if (along == XY) return norm(a[0] - b[0], a[1] - b[1]);
    return along == XYZ ? norm(a - b) : std::fabs(a[along] - b[along]);
}
// the part of a reward that two bells around 0 add
inline double bells(double d, double wide, double narrow, double height = 1000) {
    const double near = -square(d);
    return height * (numpy_functions.exp(near / wide) + numpy_functions.exp(near / narrow));
}
inline double closer(double limit, double d, double wide = 0.01, double narrow = 0.001) {
    return 1000 * (limit - d) + bells(d, wide, narrow);
}
// max(x, 0) of Python
inline double floored(double x) { return 0 > x ? 0 : x; }
// max(action[-1], 0) / 50
inline double closing_fingers(const Arm& e) { return ((0 > e.grip.v ? Number(0) : e.grip) / 50).v; }
inline void give_first(Arm& e, double reward, bool success, double near_object, double grasp, double far) {
    e.give(reward, success, near_object, grasp, 0.0, 0.0, far);
}

// ---- measured at the beginning

inline void limit_of_goal(Arm& e, const FirstReward& r) { e.limit = apart(e.target, e.obj_init, r.along); }
inline void limit_of_object(Arm& e, const FirstReward& r) { e.limit = apart(e.object(), e.target, r.along); }
inline void limit_of_extra(Arm& e, const FirstReward& r) {
    e.limit = apart(at(e.d->site_xpos + 3 * e.extra), e.target, r.along);
}
inline void limit_of_button(Arm& e, const FirstReward&) { e.limit = e.margin; }
// the package compares heights
inline void limit_of_wall(Arm& e, const FirstReward&) { e.limit = std::fabs(e.site(1)[2] - e.target[2]); }
inline void limit_of_hand(Arm& e, const FirstReward&) { e.limit = norm(e.init_tcp - e.target); }
inline void limit_of_insert(Arm& e, const FirstReward&) { e.limit = std::fabs(e.n.hand[2] - e.target[2]); }
inline void limit_of_drawer_close(Arm& e, const FirstReward&) { e.limit = 0.15; }
inline void limit_of_a_fifth(Arm& e, const FirstReward&) { e.limit = 0.2; }
inline void limit_of_pull(Arm& e, const FirstReward&) {
    e.limit = std::fabs(e.m->site_pos[3 * e.extra + 2] - e.target[2]);
}

inline void lift_from(Arm& e, const FirstReward& r, double height, Vec3 init, Vec3 goal) {
    const double target = height + r.lift;
    e.height = height;
    e.limit = norm(Vec3{init[0], init[1], target} - goal) + target;
}
inline void lift_of_geom(Arm& e, const FirstReward& r) {
    lift_from(e, r, e.d->geom_xpos[3 * e.extra + 2], e.obj_init, e.target);
}
inline void lift_of_body(Arm& e, const FirstReward& r) {
    lift_from(e, r, e.d->xpos[3 * e.extra + 2], e.obj_init, e.target);
}
inline void lift_of_nut(Arm& e, const FirstReward& r) { lift_from(e, r, e.object()[2], e.obj_init, e.target); }
inline void lift_of_stick(Arm& e, const FirstReward& r) {
    lift_from(e, r, e.d->xpos[3 * e.extra + 2], e.obj_init, e.aux);
}
inline void lift_of_bin(Arm& e, const FirstReward& r) {
    e.height = e.d->xpos[3 * e.extra + 2];
    e.limit = apart(e.obj_init, e.target, XY) + (e.height + r.lift);
}
inline void lift_of_hammer(Arm& e, const FirstReward& r) {
    lift_from(e, r, e.object()[2], e.obj_init, e.obj_init);
    e.limit = e.limit + std::fabs(e.obj_init[1] - e.target[1]);
}

// ---- tasks that only move something

inline double moved(Arm& e, const FirstReward& r, double far, double wide = 0.01, double narrow = 0.001) {
    const Vec3 finger = r.left ? e.left_end_place() : e.tcp();
    const double near = norm(e.object_seen() - finger);
    return -near + (near < 0.05 ? floored(closer(e.limit, far, wide, narrow)) : 0);
}
template <bool Dial = false> void move(Arm& e, const FirstReward& r) {
    const double far = apart(e.object_seen(), e.target, r.along);
    const double reward = Dial ? moved(e, r, far, 0.001, 0.0001) : moved(e, r, far);
    give_first(e, reward, far <= r.radius, 1.0, r.grasped, far);
}
inline void move_window(Arm& e, const FirstReward& r) {
    const double far = apart(e.object_seen(), e.target, r.along), near = norm(e.object_seen() - e.tcp());
    give_first(e, -near + (near < 0.05 ? closer(e.limit, far) : 0), far <= r.radius, 1.0, r.grasped, far);
}
inline void move_door(Arm& e, const FirstReward& r) {
    const double reward = moved(e, r, apart(e.object_seen(), e.target, r.along));
    give_first(e, reward, std::fabs(e.seen[4] - e.target[0]) <= r.radius, 0.0, 0.0, 0.0);
}
inline void close_door(Arm& e, const FirstReward& r) {
    const double far = apart(e.object_seen(), e.target, r.along);
    e.give(moved(e, r, far), far <= r.radius, 0.0, 1.0, 1.0, 0.0, far);
}
inline void move_lever(Arm& e, const FirstReward& r) {
    const double far = apart(e.object_seen(), e.target, r.along);
    give_first(e, moved(e, r, far), far <= r.radius, 1.0, r.grasped, 0.0);
}
inline void push_mug(Arm& e, const FirstReward& r) {
    const double far = norm(e.object_seen() - e.target);
    give_first(e, moved(e, r, apart(e.object_seen(), e.target, XY)), far <= r.radius, 1.0, r.grasped, far);
}
inline void pull_mug(Arm& e, const FirstReward& r) {
    const Vec3 obj = e.object_seen();
    const double near = norm(e.tcp() - obj), far = norm(obj - e.target);
    // the package takes the mug's distance from the origin
    const double origin = norm(Vec3{obj[0], obj[1], e.init_tcp[2]});
    double reach = -origin;
    if (origin < 0.05) {
        reach = -near + 0.1;
        if (near < 0.05) reach += closing_fingers(e);
    }
    const double pull = near < 0.05 ? floored(closer(e.limit, apart(obj, e.target, XY))) : 0;
    give_first(e, reach + pull, far <= r.radius, 1.0, r.grasped, far);
}
template <bool Into> void sweep_first(Arm& e, const FirstReward& r) {
    const Vec3 obj = e.object_seen();
    const double near = norm(e.tcp() - obj);
    double far = apart(obj, e.target, r.along), reach = -near;
    if (obj[2] < e.obj_init[2] - 0.05 && (!Into || (0.4 < obj[1] && obj[1] < 1.0))) reach = far = 0;
    const double push = near < 0.05 ? floored(closer(e.limit, far)) : 0;
    give_first(e, reach + push, far <= r.radius, 1.0, r.grasped, far);
}
template <bool Wall> void reach_first(Arm& e, const FirstReward& r) {
    const double far = norm(e.tcp() - e.target), reward = floored(closer(e.limit, far));
    if (Wall)
        give_first(e, reward, far <= r.radius, 0.0, 0.0, far);
    else
        e.give(reward, far <= r.radius, far, 1.0, far, 0.0, far);
}
inline void insert_hand(Arm& e, const FirstReward& r) {
    const Vec3 hand = e.tcp();
    const double near = apart(hand, e.target, XY), far = norm(e.obj_init - e.target);
    const double inside = near < 0.05 ? floored(closer(e.limit, std::fabs(hand[2] - e.target[2]))) : 0;
    give_first(e, -near + inside, far <= r.radius, 1.0, 0.0, far);
}

// ---- tasks that lift something first

// how the hand comes near; `near` is where fingers begin to close
inline double reached(Arm& e, Vec3 obj, double reach, double wide, double zs, double height, double near = 0.05) {
    const Vec3 hand = e.tcp();
    double reward = -reach;
    if (wide > 0) {
        const double xy = apart(obj, hand, XY);
        if (!(xy < wide)) reward = -xy - zs * norm(hand[2] - height);
    }
    return reach < near ? -reach + closing_fingers(e) : reward;
}
struct Lifted {
    double target, reward;
    bool held;  // lifted, and not dropped
};
// `grasp`: from where on lifting counts, `most`: how near the hand has to be in the end
inline Lifted lifted(Arm& e, const FirstReward& r, double z, double reach, double far, double grasp = 0.1,
                     double most = std::numeric_limits<double>::infinity(), bool placed = false, bool hole = false) {
    const double target = e.height + r.lift;
    const bool done = z >= target - 0.01 && reach < most;
    const bool dropped = z < e.height + 0.005 && far > 0.02 && reach > 0.02;
    const auto counted = [&](double x) { return 100 * (hole ? x - e.height + 0.02 : x); };
    double reward = 0;
    if (placed || (done && !dropped))
        reward = counted(target);
    else if (reach < grasp && z > e.height + 0.005)
        reward = counted(std::min(target, z));
    return {target, reward, done && !dropped};
}
template <bool Hole = false> double picked(Arm& e, const FirstReward& r, double far) {
    const Vec3 obj = e.object_seen();
    const double reach = norm(obj - e.tcp());
    const Lifted up = lifted(e, r, obj[2], reach, far, 0.1, std::numeric_limits<double>::infinity(), false, Hole);
    const double place = up.held && reach < 0.1 ? floored(closer(e.limit, far)) : 0;
    return reached(e, obj, reach, 0.05, r.zs, e.init_tcp[2]) + up.reward + place;
}
template <bool Hole> void pick(Arm& e, const FirstReward& r) {
    const double far = norm(e.object_seen() - e.target);
    give_first(e, picked<Hole>(e, r, far), far <= r.radius, 1.0, r.grasped, far);
}
inline void pick_lid(Arm& e, const FirstReward& r) {
    const double far = norm(e.object_seen() - e.target);
    give_first(e, picked(e, r, far), far < r.radius, 0.0, 0.0, 0.0);
}
inline void pick_peg(Arm& e, const FirstReward& r) {
    const Vec3 obj = e.object_seen();
    const double reach = norm(obj - e.tcp()), far = norm(obj - e.target), head = norm(e.site(1) - e.target);
    const Lifted up = lifted(e, r, obj[2], reach, far);
    const double place = up.held && reach < 0.1 ? floored(closer(e.limit, head <= 0.05 ? far : head)) : 0;
    give_first(e, reached(e, obj, reach, 0.05, r.zs, e.init_tcp[2]) + up.reward + place, far <= r.radius, 1.0, 0.0,
               far);
}
inline void unplug_peg(Arm& e, const FirstReward& r) {
    const Vec3 obj = e.object_seen();
    const double reach = norm(obj - e.tcp()), far = apart(obj, e.target, XY);
    const double place = reach < 0.05 ? floored(closer(e.limit, far)) : 0;
    give_first(e, reached(e, obj, reach, 0.05, r.zs, e.n.hand[2]) + place, far <= r.radius, 1.0, 0.0, far);
}
inline void pick_for_bin(Arm& e, const FirstReward& r) {
    const Vec3 obj = e.object_seen();
    const double reach = norm(obj - e.tcp()), far = apart(obj, e.target, XY);
    const bool above = std::fabs(obj[0] - e.target[0]) < 0.05 && std::fabs(obj[1] - e.target[1]) < 0.05;
    const bool placed = above && obj[2] < e.height + 0.05;
    const Lifted up = lifted(e, r, obj[2], reach, far);
    const double near = floored(closer(e.limit, far));
    // fingers are to open
    const double let_go = (Number(-200) * e.grip).v + near;
    const double place = up.held && reach < 0.1 ? (above ? let_go : near) : 0;
    const double reward = reached(e, obj, reach, 0.06, r.zs, e.init_tcp[2]) + up.reward + place;
    give_first(e, placed ? let_go : reward, far <= r.radius, 0.0, 0.0, far);
}
inline void assemble(Arm& e, const FirstReward& r) {
    const Vec3 wrench = e.object_seen(), nut = e.body(0);
    const double reach = norm(wrench - e.tcp()), far = apart(nut, e.target, XY), above = std::fabs(nut[2] - e.height);
    const bool placed = std::fabs(nut[0] - e.target[0]) < 0.03 && std::fabs(nut[1] - e.target[1]) < 0.03;
    const Lifted up = lifted(e, r, nut[2], reach, far, 0.04, 0.03, placed);
    double place = closer(e.limit, far);
    if (placed) place += 2000 * (up.target - above) + bells(above, 0.003, 0.0003, 2000);
    place = placed || (up.held && reach < 0.04) ? floored(place) : 0;
    give_first(e, reached(e, wrench, reach, 0.04, r.zs, e.init_tcp[2], 0.04) + up.reward + place,
               placed && above <= 0.04, 0.0, 0.0, 0.0);
}
inline void take_apart(Arm& e, const FirstReward& r) {
    const Vec3 obj = e.object_seen(), nut = e.body(0), peg = at(e.m->body_pos + 3 * e.id[1]);
    const double reach = norm(obj - e.tcp()), far = norm(obj - e.target);
    const Lifted up = lifted(e, r, obj[2], reach, far, 0.04, 0.04);
    const double place = up.held && reach < 0.03 ? floored(closer(e.limit, far)) : 0;
    const bool is_off = std::fabs(nut[0] - peg[0]) > 0.05 || std::fabs(nut[1] - peg[1]) > 0.05;
    const double before = reached(e, obj, reach, 0.04, r.zs, e.init_tcp[2], 0.04) + up.reward;
    give_first(e, (is_off ? up.target * 100 : before) + place, e.seen[6] > e.target[2], 0.0, 0.0, 0.0);
}
inline void strike(Arm& e, const FirstReward& r) {
    const Vec3 obj = e.object_seen(), nail = at(e.d->site_xpos + 3 * e.extra);
    const double hit = norm(nail - at(e.d->geom_xpos + 3 * e.extra2)), driven = std::fabs(nail[1] - e.target[1]);
    const double reach = norm(obj - e.tcp());
    const Lifted up = lifted(e, r, obj[2], reach, hit);
    const double place =
        up.held && reach < 0.1 ? floored(1000 * (e.limit - hit - driven) + bells(hit + driven, 0.01, 0.001)) : 0;
    give_first(e, reached(e, obj, reach, 0, r.zs, 0) + up.reward + place, e.d->qpos[e.id[4]] > 0.09, 0.0, 0.0, 0.0);
}
template <bool Pull> void use_stick(Arm& e, const FirstReward& r) {
    // the package reads the object's place two numbers too early
    const Vec3 stick = e.object_seen(), obj = at(e.seen + 6);
    const double far = apart(obj, e.target, XY), place = norm(stick - obj), reach = norm(stick - e.tcp());
    const Lifted up = lifted(e, r, stick[2], reach, far);
    double moves = 0;
    if (up.held && reach < 0.1) {
        moves = closer(e.limit, place);
        if (place < 0.05)
            moves += 1000 * (apart(e.obj_init, e.target, XY) - far)
                     + (Pull ? bells(far, 0.01, 0.001, 2000) : bells(far, 0.001, 0.0001, 2000));
        moves = floored(moves);
    }
    const Vec3 handle = at(e.seen + 11), end = e.site(1);
    // pushing needs a grasp, which no reward of this version has
    const bool success = Pull && norm(handle - e.target) <= 0.12 && end[0] >= handle[0]
                         && std::fabs(end[1] - handle[1]) <= 0.04 && std::fabs(end[2] - handle[2]) <= 0.06;
    give_first(e, reached(e, stick, reach, 0, r.zs, 0) + up.reward + moves, success, 1.0, 0.0, far);
}

inline const std::vector<FirstReward> FIRST_REWARDS = {
    {"assembly-v3", lift_of_nut, assemble, XYZ, 0, false, false, 0.1, 1},
    {"basketball-v3", lift_of_geom, pick<false>, XYZ, 0.08, false, false, 0.3, 2, "g:objGeom"},
    {"bin-picking-v3", lift_of_bin, pick_for_bin, XY, 0.05, false, false, 0.1, 1, "b:obj"},
    {"box-close-v3", lift_of_geom, pick_lid, XYZ, 0.08, false, false, 0.12, 2, "g:BoxHandleGeom"},
    {"button-press-topdown-v3", limit_of_button, move<>, Z, 0.024},
    {"button-press-topdown-wall-v3", limit_of_button, move<>, Z, 0.024},
    {"button-press-v3", limit_of_button, move<>, Y, 0.02, true},
    {"button-press-wall-v3", limit_of_wall, move<>, Y, 0.03, true},
    {"coffee-button-v3", limit_of_object, move<>, Y, 0.02, true},
    {"coffee-pull-v3", limit_of_goal, pull_mug, XY, 0.07},
    {"coffee-push-v3", limit_of_goal, push_mug, XY, 0.07},
    {"dial-turn-v3", limit_of_goal, move<true>, Y, 0.07, false, true},
    {"disassemble-v3", lift_of_body, take_apart, XYZ, 0, false, false, 0.05, 2, "b:RoundNut"},
    {"door-close-v3", limit_of_object, close_door, XY, 0.08},
    {"door-lock-v3", limit_of_goal, move<>, XYZ, 0.02},
    {"door-open-v3", limit_of_object, move_door, XY, 0.08},
    {"door-unlock-v3", limit_of_goal, move<>, XYZ, 0.02},
    {"hand-insert-v3", limit_of_insert, insert_hand},
    {"drawer-close-v3", limit_of_drawer_close, move<>, Y, 0.05 + 0.015, false, true},
    {"drawer-open-v3", limit_of_a_fifth, move<>, Y, 0.03},
    {"faucet-open-v3", limit_of_goal, move<>, XYZ, 0.07, false, true},
    {"faucet-close-v3", limit_of_goal, move<>, XYZ, 0.07, false, true},
    {"hammer-v3", lift_of_hammer, strike, XYZ, 0, false, false, 0.09, 1, "s:nailHead", "g:HammerHead"},
    {"handle-press-side-v3", limit_of_object, move<>, Z, 0.02, true, true},
    {"handle-press-v3", limit_of_object, move<>, Z, 0.02, true, true},
    {"handle-pull-side-v3", limit_of_extra, move<>, Z, 0.08, true, false, 0, 1, "s:handleStart"},
    {"handle-pull-v3", limit_of_pull, move<>, Z, 0.05, true, false, 0, 1, "s:handleStart"},
    {"lever-pull-v3", limit_of_goal, move_lever, XYZ, std::numbers::pi / 24},
    {"pick-place-wall-v3", lift_of_geom, pick<false>, XYZ, 0.07, false, false, 0.04, 2, "g:objGeom"},
    {"pick-out-of-hole-v3", lift_of_geom, pick<true>, XYZ, 0.07, false, false, 0.11, 2, "g:objGeom"},
    {"pick-place-v3", lift_of_geom, pick<false>, XYZ, 0.07, false, false, 0.04, 2, "g:objGeom"},
    {"plate-slide-v3", limit_of_goal, move<>, XY, 0.07},
    {"plate-slide-side-v3", limit_of_goal, move<>, XY, 0.07},
    {"plate-slide-back-v3", limit_of_object, move<>, XY, 0.07},
    {"plate-slide-back-side-v3", limit_of_object, move<>, XY, 0.07},
    {"peg-insert-side-v3", lift_of_body, pick_peg, XYZ, 0.07, false, false, 0.11, 1, "b:peg"},
    {"peg-unplug-side-v3", limit_of_goal, unplug_peg, XYZ, 0.07, false, false, 0, 2},
    {"soccer-v3", limit_of_goal, move<>, XY, 0.07},
    {"stick-push-v3", lift_of_stick, use_stick<false>, XY, 0, false, false, 0.04, 1, "b:stick"},
    {"stick-pull-v3", lift_of_stick, use_stick<true>, XY, 0, false, false, 0.04, 1, "b:stick"},
    {"push-v3", limit_of_goal, move<>, XY, 0.05},
    {"push-wall-v3", limit_of_goal, move<>, XY, 0.07},
    {"push-back-v3", limit_of_goal, move<>, XY, 0.07},
    {"reach-v3", limit_of_hand, reach_first<false>},
    {"reach-wall-v3", limit_of_hand, reach_first<true>},
    {"shelf-place-v3", lift_of_geom, pick<false>, XYZ, 0.07, false, false, 0.04, 2, "g:objGeom"},
    {"sweep-into-v3", limit_of_goal, sweep_first<true>, XY},
    {"sweep-v3", limit_of_goal, sweep_first<false>, XY},
    {"window-open-v3", limit_of_a_fifth, move_window, X, 0.05, false, true},
    {"window-close-v3", limit_of_a_fifth, move_window, X, 0.05, false, true},
};

inline const FirstReward* find_first_reward(const std::string& task) {
    for (const FirstReward& first : FIRST_REWARDS)
        if (task == first.name) return &first;
    return nullptr;
}

}  // namespace cypool::metaworld
