// The fifty tasks: the observation, the part of a reset after the hand has moved, and the reward, version 2 of
// the package's.
#pragma once

#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include "cypool/envs/metaworld/sawyer.h"

namespace cypool::metaworld {

inline void nothing(Arm&, const double*) {}
template <int K = 0, int From = 0> void put_body(Arm& e, const double* r) { e.write_body(K, at(r + From)); }

// ---- resets --------------------------------------------------------------------------------------------------------

inline void finish(Arm& e, Vec3 init, Vec3 target) { e.obj_init = init, e.target = target; }
// an object that is placed
inline void place_both(Arm& e, Vec3 init, Vec3 target, int q = 9) {
    finish(e, init, target);
    e.set_object(e.obj_init, q);
}
// both drawn, the object's height that of the draw
template <int Q = 9> void drawn_both(Arm& e, const double* r) { place_both(e, at(r), at(r + 3), Q); }
// the heights those where the object lies after the hand has moved
inline void push_reset(Arm& e, const double* r) {
    const double z = e.object()[2];
    place_both(e, {r[0], r[1], z}, {r[3], r[4], z});
}
inline void basketball_reset(Arm& e, const double* r) {
    e.obj_init = {r[0], r[1], 0.029999999329447746};  // float32(0.03)
    e.set_object(e.obj_init);
    e.target = e.site(0);  // to write it is without effect: the compiler found this site in its body's frame
}
inline void assembly_place(Arm& e, const double* r) { e.write_body(1, at(r + 3) - Vec3{0.0, 0.0, 0.05}); }
inline void disassemble_place(Arm& e, const double* r) { e.write_body(1, at(r) + Vec3{0.0, 0.0, 0.03}); }
inline void disassemble_reset(Arm& e, const double* r) {
    finish(e, at(r), at(r) + Vec3{0, 0, 0.15});
    e.write_site(2, at(r) + Vec3{0.0, 0.0, 0.08});
    e.forward();  // seen in warm starts where forward changes these: MuJoCo 3.3.0
    e.set_object(e.obj_init);
}
inline void bin_reset(Arm& e, const double* r) {
    e.obj_init = {r[0], r[1], e.body(0)[2]};
    e.set_object(e.obj_init);
    e.target = e.body(1);
}
inline void box_place(Arm& e, const double* r) { e.write_body(1, {r[3], r[4], e.m->body_pos[3 * e.id[1] + 2]}); }
inline void box_reset(Arm& e, const double* r) {
    finish(e, {r[0], r[1], 0.019999999552965164}, at(r + 3));  // float32(0.02)
    e.run(5);
    e.set_object(e.obj_init);
}
template <int Axis>
void button_reset(Arm& e, const double* r) {  // topdown: mj_forward, else the button's joint is set to 0
    e.obj_init = at(r);
    if (Axis == 1)
        e.set(9, {0.0}, 9, 1);
    else
        e.forward();
    e.target = e.site(0);
    e.margin = std::fabs(e.target[Axis] - e.site(1)[Axis]);
}
inline void coffee_button_reset(Arm& e, const double* r) {
    e.obj_init = at(r);
    e.set_object(e.obj_init + Vec3{0.0, -0.22, 0.0}, 0);
    e.target = e.obj_init + Vec3{0.0, -0.22, 0.3} + Vec3{0.0, 0.03, 0.0};
}
template <int Machine>
void coffee_place(Arm& e, const double* r) {  // the machine stands behind the mug's place or its goal
    e.write_body(1, at(r + Machine) + Vec3{0.0, 0.22, 0.0});
}
inline void dial_reset(Arm& e, const double* r) {
    finish(e, at(r), at(r) + Vec3{0, 0.03, 0.03});
    e.aux = e.object() + Vec3{0.05, 0.02, 0.09};  // the dial where it was before it was placed
}
inline void door_reset(Arm& e, const double* r, Vec3 way, double angle) {
    finish(e, at(r), at(r) + way);
    e.set(e.id[1], {angle}, e.id[2], 1);
}
inline void door_close_reset(Arm& e, const double* r) { door_reset(e, r, {0.2, -0.2, 0.0}, -1.5708); }
inline void door_open_reset(Arm& e, const double* r) { door_reset(e, r, {-0.3, -0.45, 0.0}, 0.0); }
inline void door_lock_reset(Arm& e, const double*) {
    e.run(5);
    finish(e, e.body(1), e.body(1) + Vec3{0.0, -0.04, -0.1});
}
inline void door_unlock_reset(Arm& e, const double*) {
    e.set(9, {1.5708}, 9, 1);
    finish(e, e.body(1), e.body(1) + Vec3{0.1, -0.04, 0.0});
}
inline void drawer_close_reset(Arm& e, const double* r) {
    e.target = at(r) + Vec3{0.0, -0.16, 0.09};
    e.set(9, {-0.15}, 9, 0);  // no velocity is cleared
    e.obj_init = e.object();
}
// no forward: the first frame is that of the last step
inline void drawer_open_reset(Arm& e, const double* r) { finish(e, at(r), at(r) + Vec3{0.0, -0.16 - 0.2, 0.09}); }
template <int Sign> void faucet_reset(Arm& e, const double* r) {
    finish(e, at(r), at(r) + Vec3{Sign * 0.175, 0.0, 0.125});
    if (Sign < 0) e.forward();
}
inline void hammer_place(Arm& e, const double*) { e.write_body(2, {0.24, 0.85, 0.0}); }
inline void hammer_reset(Arm& e, const double* r) {
    finish(e, at(r), e.site(3));
    e.set_object(e.obj_init);
}
inline void hand_insert_reset(Arm& e, const double* r) { place_both(e, {r[0], r[1], 0.05}, at(r + 3)); }
template <int Tenths> void handle_reset(Arm& e, const double* r) {
    e.obj_init = at(r);
    e.set(9, {Tenths ? -0.1 : -0.001}, 9, 1);
    e.target = e.site(1);
    e.aux = e.object();
    if (Tenths == 2) e.obj_init = e.aux;  // handle-pull-side
}
inline void lever_reset(Arm& e, const double* r) {
    finish(e, at(r), at(r) + Vec3{0.12, 0.0, 0.25 + 0.2});
    e.aux = e.obj_init + Vec3{0.12, -0.2, 0.25};
}
inline void peg_insert_reset(Arm& e, const double* r) {
    e.aux = e.site(1);  // the peg's head where it lies before it is placed
    place_both(e, at(r), at(r + 3) + Vec3{0.03, 0.0, 0.13});
}
inline void peg_unplug_reset(Arm& e, const double* r) {
    const Vec3 plug = at(r) + Vec3{0.044, 0.0, 0.131};
    e.set(9, {plug[0], plug[1], plug[2], 1, 0, 0, 0}, 9, 3);  // the turning velocity stays
    finish(e, e.object(), plug + Vec3{0.15, 0.0, 0.0});
}
inline void slide(Arm& e, const double* r, double x, double y) {
    finish(e, at(r), at(r + 3));
    e.set(9, {x, y}, 9, 0);
}
inline void plate_reset(Arm& e, const double* r) { slide(e, r, 0, 0); }
inline void plate_back_reset(Arm& e, const double* r) { slide(e, r, 0, 0.15); }
inline void plate_back_side_reset(Arm& e, const double* r) { slide(e, r, -0.15, 0); }
inline void shelf_place(Arm& e, const double* r) { e.write_body(1, at(r + 3) - Vec3{0, 0, 0.3}); }
inline void shelf_reset(Arm& e, const double* r) {
    e.obj_init = {r[0], r[1], e.body(0)[2]};
    e.forward();  // as above
    e.target = at(e.m->site_pos + 3 * e.id[2]) + (at(r + 3) - Vec3{0, 0, 0.3});
    e.set_object(e.obj_init);
}
inline void soccer_reset(Arm& e, const double* r) { place_both(e, {r[0], r[1], 0.03}, at(r + 3)); }
template <bool Pull> void stick_reset(Arm& e, const double* r) {
    const Vec3 stick{r[0], r[1], 0.02};
    e.target = {r[3], r[4], Pull ? 0.02 : e.site(1)[2]};
    e.set_object(stick);
    e.set(16, {0.0, Pull ? 0.09 : 0.0}, 16, 2);
    e.aux = stick;
    e.obj_init = e.body(0);
}
inline void sweep_into_reset(Arm& e, const double* r) { place_both(e, {r[0], r[1], e.body(1)[2]}, {0.0, 0.84, 0.02}); }
inline void sweep_reset(Arm& e, const double* r) { place_both(e, {r[0], r[1], 0.02}, {0.5, r[1], 0.01}); }
template <bool Close> void window_reset(Arm& e, const double* r) {  // no forward: the handle as the last step left it
    e.obj_init = at(r);
    e.target = Close ? e.obj_init : e.obj_init + Vec3{0.2, 0.0, 0.0};
    e.aux = Close ? e.object() + Vec3{0.2, 0.0, 0.0} : e.object();
    e.d->qpos[e.id[1]] = Close ? 0.2 : 0.0;
}

// ---- rewards -------------------------------------------------------------------------------------------------------

template <bool Wall> void reach(Arm& e) {
    const double far = norm(e.tcp() - e.target);
    const double place = tolerance(far, 0, 0.05, norm(e.n.hand - e.target));
    if (Wall)
        e.give(10 * place, far <= 0.05, 0.0, 0.0, 0.0, place, far);
    else
        e.give(10 * place, far <= 0.05, far, 1.0, far, place, far);
}
// the object, its distances from the hand and the goal, and the part of the reward for the latter
struct Measures {
    Vec3 obj;
    double near, far, place;
};
inline Measures measure(Arm& e, Vec3 target, double radius = 0.05, Vec3 scale = {1, 1, 1}) {
    const Vec3 obj = e.object_seen();
    const double far = norm((obj - target) * scale);
    return {obj, norm(obj - e.tcp()), far, tolerance(far, 0, radius, norm((e.obj_init - target) * scale))};
}
inline Measures measure(Arm& e) { return measure(e, e.target); }
inline void push(Arm& e) {
    const auto [obj, near, far, place] = measure(e);
    const Number held = e.caging(obj, 0.015, 0.05, 0.01, 0.005);
    Number reward = Number(2) * held;
    if (near < 0.02 && e.opening() > 0) reward = reward + (Number(1.0) + reward + 5.0 * place);
    e.give(far < 0.05 ? 10.0 : reward, far <= 0.05, near <= 0.03, e.grasps(0.02), held, place, far);
}
inline void pick_place(Arm& e) {
    const auto [obj, near, far, place] = measure(e);
    const Arm::Cage c = e.cage(obj, 0.015, 0, 0.005, true);
    const Number cage = hamacher(c.y, c.xz);
    const Number held = (hamacher(cage, cage.v > 0.97 ? e.closing(1) : Number(0.0)) + cage) / 2;
    Number reward = hamacher(held, place);
    if (near < 0.02 && e.opening() > 0 && obj[2] - 0.01 > e.obj_init[2]) reward = reward + (1.0 + 5.0 * place);
    e.give(far < 0.05 ? 10.0 : reward, far <= 0.07, near <= 0.03, e.grasps(0.02), held, place, far);
}
inline void pick_place_wall(Arm& e) {
    const auto [obj, near, far, two] = measure(e);
    const Vec3 middle{e.target[0], 0.77, 0.25}, scale{1.0, 1.0, 3.0};
    const double one = tolerance(norm((obj - middle) * scale), 0, 0.05, norm((e.obj_init - middle) * scale));
    const Number held = e.caging(obj, 0.015, 0.05, 0.01, 0.005, LOW);
    const Number both = hamacher(held, one);
    Number reward = both;
    if (near < 0.02 && e.opening() > 0 && obj[2] - 0.015 > e.obj_init[2]) {
        reward = both + 1.0 + 4.0 * one;
        if (obj[1] > 0.75) reward = both + 1.0 + 4.0 + 3.0 * two;
    }
    e.give(far < 0.05 ? 10.0 : reward, far <= 0.07, near <= 0.03, e.grasps(0.02), held, two, far);
}
inline void push_wall(Arm& e) {
    const auto [obj, near, far, two] = measure(e);
    const Vec3 middle{-0.05, 0.77, obj[2]}, scale{3.0, 1.0, 1.0};
    const double one = tolerance(norm((obj - middle) * scale), 0, 0.05, norm((e.obj_init - middle) * scale));
    const Number held = e.caging(obj, 0.015, 0.05, 0.01, 0.005);
    Number reward = Number(2) * held;
    if (near < 0.02 && e.opening() > 0) {
        reward = Number(2.0) * held + 1.0 + 4.0 * one;
        if (obj[1] > 0.75) reward = Number(2) * held + 1.0 + 4.0 + 3.0 * two;
    }
    e.give(far < 0.05 ? 10.0 : reward, far <= 0.07, near <= 0.03, e.grasps(0.02), held, two, far);
}
inline void push_back(Arm& e) {
    const auto [obj, near, far, place] = measure(e);
    const double held = e.squeeze(obj, 0.007, 0.003, 0.01);
    Number reward = hamacher(held, place);
    if (near < 0.01 && 0 < e.opening() && e.opening() < 0.55 && norm(e.obj_init - e.target) - far > 0.01)
        reward = reward + (1.0 + 5.0 * place);
    e.give(far < 0.05 ? 10.0 : reward, far <= 0.07, near <= 0.03, e.grasps(0.02), held, place, far);
}
template <bool Into> void sweep(Arm& e) {
    const Vec3 target{e.target[0], e.target[1], Into ? e.object_seen()[2] : e.target[2]};
    const auto [obj, near, far, place] = measure(e, target);
    const double held = Into ? e.squeeze(obj, 0.02, 0.005, 0.01) : e.squeeze(obj, 0.02, 0.01, 0.005);
    Number reward = Number(2 * held) + Number(6) * hamacher(held, place);
    e.give(far < 0.05 ? 10.0 : reward, far <= 0.05, near <= 0.03, e.opening() > 0 && e.touches(), held, place, far);
}
inline void soccer(Arm& e) {
    const Vec3 obj = e.object_seen(), scale{3.0, 1.0, 1.0};
    const double near = norm(obj - e.tcp()), far = norm((obj - e.target) * scale);
    double place = tolerance(far, 0, 0.07, norm((obj - e.obj_init) * scale));
    const double line = e.target[1] - 0.1;
    if (obj[1] > line && std::fabs(obj[0] - e.target[0]) > 0.1)
        place = clip(place - 2 * ((obj[1] - line) / (1 - line)), 0.0, 1.0);
    const double held = e.squeeze(obj, 0.013, 0.01, 0.005);
    const double reward = far < 0.07 ? 10.0 : 3 * held + 6.5 * place, distance = norm(obj - e.target);
    e.give(reward, distance <= 0.07, near <= 0.03, e.grasps(0.02), held, place, distance);
}
inline void coffee_mug(Arm& e) {
    const auto [obj, near, far, place] = measure(e, e.target, 0.05, {2.0, 2.0, 1.0});
    const Number held = e.caging(obj, 0.02, 0.05, 0.04, 0.05, MEDIUM, 0.7);
    Number reward = hamacher(held, place);
    if (near < 0.04 && e.opening() > 0) reward = reward + (1.0 + 5.0 * place);
    if (far < 0.05) reward = 10.0;
    const double distance = norm(obj - e.target);
    e.give(reward, distance <= 0.07, near <= 0.03, e.opening() > 0 && e.touches(), held, place, distance);
}
inline void basketball(Arm& e) {
    const auto [obj, near, far, place] = measure(e, {e.target[0], e.target[1], 0.3}, 0.08, {1.0, 1.0, 2.0});
    Number held = e.caging(obj, 0.025, 0.06, 0.01, 0.005);
    const bool lifted = near < 0.035 && e.opening() > 0 && obj[2] - 0.01 > e.obj_init[2];
    if (lifted) held = 1.0;
    Number reward = hamacher(held, place);
    if (lifted) reward = reward + (1.0 + 5.0 * place);
    e.give(far < 0.08 ? 10.0 : reward, far <= 0.08, near <= 0.05, e.opening() > 0 && obj[2] - 0.03 > e.obj_init[2],
           held, place, far);
}
inline void bin_picking(Arm& e) {
    const Vec3 hand = e.hand_seen(), obj = e.object_seen();
    const double far = norm(obj - e.target);
    if (!e.margin_known) e.margin = far, e.margin_known = true;
    const double place = tolerance(far, 0, 0.05, e.margin);
    const double radii[] = {norm(hand[0] - e.obj_init[0], hand[1] - e.obj_init[1]),
                            norm(hand[0] - e.target[0], hand[1] - e.target[1])};
    double floors[2];
    for (int k = 0; k < 2; ++k) floors[k] = radii[k] > 0.03 ? 0.02 * numpy_functions.log(radii[k] - 0.03) + 0.2 : 0.0;
    const double floor = std::min(floors[0], floors[1]);
    const double above = hand[2] >= floor ? 1.0 : tolerance(std::max(floor - hand[2], 0.0), 0.0, 0.01, 0.05);
    const Number held = e.caging(obj, 0.015, 0.05, 0.01, 0.01, HIGH, 0.7);
    Number reward = hamacher(held, place);
    const bool near = norm(obj - hand) < 0.04, grasp = near && obj[2] - 0.02 > e.obj_init[2] && !(e.opening() < 0.43);
    if (grasp) reward = reward + (Number(1.0) + Number(5.0) * hamacher(above, place));
    e.give(far < 0.05 ? 10.0 : reward, far <= 0.05, near, grasp, held, place, far);
}
inline double upright(Arm& e, const double* ideal, double scale) {
    double q[4];
    for (int k = 0; k < 4; ++k) q[k] = e.seen[7 + k] - ideal[k];
    return std::max(1.0 - std::sqrt(numpy_functions.dot(q, q, 4)) / scale, 0.0);
}
inline const double LYING[] = {0.707, 0, 0, 0.707}, STANDING[] = {1.0, 0.0, 0.0, 0.0};
inline Vec3 along_x(Arm& e, Vec3 p, double threshold) {  // a handle is a sphere below the hand
    if (std::fabs(p[0] - e.seen[0]) < threshold) p[0] = e.seen[0];
    return p;
}
inline void assembly(Arm& e) {
    const Vec3 center = e.site(3), wrench = along_x(e, e.object_seen(), 0.02 / 2.0);
    const double quat = upright(e, LYING, 0.4);
    const Number grab = e.caging(wrench, 0.015, 0.02, 0.01, 0.01, MEDIUM);
    Vec3 error = e.target - center;
    const double radius = norm(error[0], error[1]);
    const bool success = radius < 0.02 && error[2] > 0.0;
    const double threshold = success ? 0.02 : 0.01;
    const double height = radius > threshold ? 0.02 * numpy_functions.log(radius - threshold) + 0.2 : 0.0;
    error[2] = height - center[2];
    const double place = 0.1 * (center[2] > 0.02 || radius < threshold)
                         + 0.9 * tolerance(norm(error * Vec3{1.0, 1.0, 3.0}), 0, 0.02, 0.4);
    e.give(success ? 10.0 : (Number(2.0) * grab + 6.0 * place) * quat, success, quat, grab.v >= 0.5, grab, place, 0);
}
inline void disassemble(Arm& e) {
    const Vec3 center = e.site(3), wrench = along_x(e, e.object_seen(), 0.02 / 2.0);
    const double quat = upright(e, LYING, 0.4);
    const Number grab = e.caging(wrench, 0.015, 0.02, 0.01, 0.01);
    const double place =
        0.1 * (center[2] > 0.02) + 0.9 * tolerance(norm(e.target + Vec3{0.0, 0.0, 0.1} - center), 0, 0.02, 0.2);
    const bool success = e.seen[6] > e.target[2];
    e.give(success ? 10.0 : (Number(2.0) * grab + 6.0 * place) * quat, success, quat, grab.v >= 0.5, grab, place, 0);
}
inline void hammer(Arm& e) {
    const Vec3 obj = e.object_seen(), head = obj + Vec3{0.16, 0.06, 0.0};
    const double quat = upright(e, STANDING, 0.4);
    const Number grab = e.caging(along_x(e, obj, 0.14 / 2.0), 0.015, 0.02, 0.01, 0.01);
    const double place = 0.1 * (head[2] > 0.02) + 0.9 * tolerance(norm(e.target - head), 0, 0.02, 0.2);
    const Number reward = (Number(2.0) * grab + 6.0 * place) * quat;
    const bool success = e.d->qpos[e.id[4]] > 0.09;
    e.give(success && reward.v > 5.0 ? 10.0 : reward, success, quat, grab.v >= 0.5, grab, place, 0);
}
// float((np.clip(action[3], -1, 1) + 1.0) / 2.0)
inline double effort(Arm& e) { return ((Number(clip(e.grip.v, -1, 1), e.grip.kind) + 1.0) / 2.0).v; }
inline void box_close(Arm& e) {
    const double grab = clip(effort(e), 0.0, 1.0), quat = upright(e, LYING, 0.2);
    const Vec3 hand = e.hand_seen(), lid = e.object_seen() + Vec3{0.0, 0.0, 0.02};
    const double radius = norm(hand[0] - lid[0], hand[1] - lid[1]);
    const double floor = radius <= 0.02 ? 0.0 : 0.04 * numpy_functions.log(radius - 0.02) + 0.4;
    const double above = hand[2] >= floor ? 1.0 : tolerance(floor - hand[2], 0.0, 0.01, floor / 2.0);
    const double ready = hamacher(above, tolerance(norm(hand - lid), 0, 0.02, 0.5)).v;
    const double lifted =
        0.2 * (lid[2] > 0.04) + 0.8 * tolerance(norm((e.target - lid) * Vec3{1.0, 1.0, 3.0}), 0, 0.05, 0.25);
    double reward = 2.0 * hamacher(grab, ready).v + 8.0 * lifted;
    const bool success = norm(e.object_seen() - e.target) < 0.08;
    if (success) reward = 10.0;
    e.give(reward * quat, success, ready, grab >= 0.5, grab, lifted, 0);
}
inline void door_open(Arm& e) {
    const double theta = e.d->qpos[e.id[1]], grab = effort(e);
    const Vec3 hand = e.hand_seen(), door = e.object_seen() + Vec3{-0.05, 0, 0};
    const double radius = norm(hand[0] - door[0], hand[1] - door[1]);
    const double floor = radius <= 0.12 ? 0.0 : 0.04 * numpy_functions.log(radius - 0.12) + 0.4;
    const double above = hand[2] >= floor ? 1.0 : tolerance(floor - hand[2], 0.0, 0.01, floor / 2.0);
    const double place = tolerance(norm(hand - door - Vec3{0.05, 0.03, -0.01}), 0, 0.12 / 2.0, 0.5);
    const double ready = hamacher(above, place).v;
    const double opened =
        0.2 * (theta < -std::numbers::pi / 90.0)
        + 0.8 * tolerance(std::numbers::pi / 2.0 + std::numbers::pi / 6 - -theta, 0, 0.5, std::numbers::pi / 3.0);
    const bool success = std::fabs(e.seen[4] - e.target[0]) <= 0.08;
    e.give(success ? 10.0 : 2.0 * hamacher(ready, grab).v + 8.0 * opened, success, ready, grab >= 0.5, grab, opened, 0);
}
inline void door_close(Arm& e) {
    const double far = norm(e.object_seen() - e.target), hand = norm(e.tcp() - e.target);
    const double place = tolerance(far, 0, 0.05, norm(e.obj_init - e.target), GAUSSIAN);
    const double hand_place = tolerance(hand, 0, 0.25 * 0.05, norm(e.n.hand - e.object_seen()) + 0.1, GAUSSIAN);
    e.give(far < 0.05 ? 10 : 3 * hand_place + 6 * place, far <= 0.08, 0.0, 1.0, 1.0, hand_place, far);
}
inline void door_lock(Arm& e) {
    const Vec3 obj = e.object_seen(), scale{0.25, 1.0, 0.5};
    const double near = norm((obj - e.left_pad_place()) * scale);  // its margin: init_left_pad is a view, so the same
    const double far = std::fabs(e.target[2] - obj[2]);
    const double at_lock = tolerance(near, 0, 0.01, near), pressed = tolerance(far, 0, 0.005, 0.1);
    e.give(Number(2) * hamacher(std::max(e.opening(), 0.0), at_lock) + 8 * pressed, far <= 0.02, near <= 0.05,
           e.opening() > 0, at_lock, pressed, far);
}
inline void door_unlock(Arm& e) {
    const Vec3 hand = e.hand_seen(), lock = e.object_seen(), offset{0.0, 0.055, 0.07}, scale{0.25, 1.0, 0.5};
    const double near = norm((hand + offset - lock) * scale);
    const double ready = tolerance(near, 0, 0.02, norm((e.init_tcp + offset - e.obj_init) * scale));
    const double far = std::fabs(e.target[0] - lock[0]), pushed = tolerance(far, 0, 0.005, 0.1);
    e.give(2 * ready + 8 * pushed, far <= 0.02, near <= 0.05, e.opening() > 0, ready, pushed, far);
}
inline void drawer_close(Arm& e) {
    const Vec3 obj = e.object_seen();
    const double far = norm(obj - e.target), near = norm(obj - e.tcp());
    const double place = tolerance(far, 0, 0.05, std::fabs(norm(e.obj_init - e.target) - 0.05));
    const double close = tolerance(near, 0, 0.005, std::fabs(norm(e.obj_init - e.init_tcp) - 0.005), GAUSSIAN);
    const Number reach = hamacher(close, e.closing(1));
    const Number reward = hamacher(reach, place);
    e.give((far <= 0.05 + 0.015 ? 1.0 : reward) * 10, far <= 0.05 + 0.015, near <= 0.01, 1.0, reach, place, far);
}
inline void drawer_open(Arm& e) {
    const Vec3 hand = e.hand_seen(), handle = e.object_seen(), scale{3.0, 3.0, 1.0};
    const double far = norm(handle - e.target), opening = tolerance(far, 0, 0.02, 0.2);
    const double caging =
        tolerance(norm((handle - hand) * scale), 0, 0.01, norm((e.target + Vec3{0.0, 0.2, 0.0} - e.init_tcp) * scale));
    e.give((caging + opening) * 5.0, far <= 0.03, norm(handle - hand) <= 0.03, e.opening() > 0, caging, opening, far);
}
// all buttons but button-press-wall
template <int Axis>
void button(Arm& e, double success, double radius, double tcp_closed, int weight, double close, double margin) {
    const Vec3 obj = e.object_seen();
    const double near = norm(obj - e.tcp()), far = std::fabs(e.target[Axis] - obj[Axis]);
    const double at_button = tolerance(near, 0, radius, norm(obj - e.init_tcp)),
                 pressed = tolerance(far, 0, 0.005, margin);
    Number reward = Number(weight) * hamacher(tcp_closed, at_button);
    if (near <= close) reward = reward + (10 - weight) * pressed;
    e.give(reward, far <= success, near <= 0.05, e.opening() > 0, at_button, pressed, far);
}
inline void button_press(Arm& e) { button<1>(e, 0.02, 0.05, std::max(e.opening(), 0.0), 2, 0.05, e.margin); }
inline void button_topdown(Arm& e) { button<2>(e, 0.024, 0.01, 1 - e.opening(), 5, 0.03, e.margin); }
inline void button_topdown_wall(Arm& e) { button<2>(e, 0.024, 0.01, std::max(e.opening(), 0.0), 5, 0.03, e.margin); }
inline void coffee_button(Arm& e) { button<1>(e, 0.02, 0.05, std::max(e.opening(), 0.0), 2, 0.05, 0.03); }
inline void button_wall(Arm& e) {
    const Vec3 obj = e.object_seen();
    const double near = norm(obj - e.tcp()), far = std::fabs(e.target[1] - obj[1]);
    const double at_button = tolerance(near, 0, 0.01, norm(obj - e.init_tcp)),
                 pressed = tolerance(far, 0, 0.005, e.margin);
    Number reward = near > 0.07 ? Number(2) * hamacher((1 - e.opening()) / 2.0, at_button)
                                : Number(2 + 2 * (1 + e.opening()) + 4 * square(pressed));
    e.give(reward, far <= 0.03, near <= 0.05, e.opening() > 0, at_button, pressed, far);
}
inline void dial_turn(Arm& e) {
    const Vec3 obj = e.object(), push = obj + Vec3{0.05, 0.02, 0.09};
    const double far = norm(obj - e.target), near = norm(push - e.tcp());
    const double place = tolerance(far, 0, 0.07, std::fabs(norm(e.aux - e.target) - 0.07));
    const double close = tolerance(near, 0, 0.005, std::fabs(norm(e.aux - e.init_tcp) - 0.005), GAUSSIAN);
    const Number reach = hamacher(close, e.closing(1));
    e.give(Number(10) * hamacher(reach, place), far <= 0.07, near <= 0.01, 1.0, reach, place, far);
}
template <bool Open> void faucet(Arm& e) {
    const Vec3 obj = Open ? e.object_seen() + Vec3{-0.04, 0.0, 0.03} : e.object_seen();
    const double far = norm(obj - e.target), near = norm(obj - e.tcp());
    const double place = tolerance(far, 0, 0.07, std::fabs(norm(e.obj_init - e.target) - 0.07));
    const double reach = tolerance(near, 0, 0.01, std::fabs(norm(e.obj_init - e.init_tcp) - 0.01), GAUSSIAN);
    e.give(far <= 0.07 ? 10 : (2 * reach + 3 * place) * 2, far <= 0.07, near <= 0.01, 1.0, reach, place, far);
}
inline void hand_insert(Arm& e) {
    const auto [obj, near, far, place] = measure(e);
    const Number held = e.caging(obj, 0.015, 0.05, 0.01, 0.005);
    Number reward = hamacher(held, place);
    if (near < 0.02 && e.opening() > 0) reward = reward + (1.0 + 7.0 * place);
    e.give(far < 0.05 ? 10.0 : reward, far <= 0.05, near <= 0.03, e.grasps(0.02), held, place, far);
}
inline void handle_press(Arm& e) {
    const Vec3 obj = e.object();
    const double far = norm(obj[2] - e.target[2]), near = norm(obj - e.tcp());
    const double place = tolerance(far, 0, 0.02, std::fabs(norm(e.aux[2] - e.target[2]) - 0.02));
    const double reach = tolerance(near, 0, 0.02, std::fabs(norm(e.aux - e.init_tcp) - 0.02));
    e.give((far <= 0.02 ? 1.0 : hamacher(reach, place).v) * 10, far <= 0.02, near <= 0.05, 1.0, reach, place, far);
}
template <bool Side> void handle_pull(Arm& e) {
    const Vec3 obj = e.object_seen();
    const double far = Side ? norm(obj - e.target) : std::fabs(e.target[2] - obj[2]), near = norm(obj - e.tcp());
    const double before = Side ? norm(e.obj_init - e.target) : std::fabs(e.target[2] - e.obj_init[2]);
    const double place = tolerance(far, 0, 0.05, before);
    const Number held = Side ? e.caging(obj, 0.032, 0.06, 0.01, 0.01) : e.caging(obj, 0.022, 0.05, 0.01, 0.01);
    Number reward = hamacher(held, place);
    // handle-pull compares y with a height
    if (near < 0.035 && e.opening() > 0 && obj[Side ? 2 : 1] - 0.01 > e.obj_init[2])
        reward = reward + (1.0 + 5.0 * place);
    e.give(far < 0.05 ? 10.0 : reward, far <= (Side ? 0.08 : 0.05), near <= 0.05,
           e.opening() > 0 && obj[2] - 0.03 > e.obj_init[2], held, place, far);
}
inline void lever_pull(Arm& e) {
    const Vec3 hand = e.hand_seen(), lever = e.object_seen(), scale{4.0, 1.0, 4.0}, offset{0.0, 0.055, 0.07};
    const double near = norm((hand + offset - lever) * scale);
    const double ready = tolerance(near, 0, 0.02, norm((e.init_tcp + offset - e.aux) * scale));
    const double error = std::fabs(-e.d->qpos[e.id[1]] - std::numbers::pi / 2.0);
    const double engaged =
        tolerance(error, 0, std::numbers::pi / 48.0, std::numbers::pi / 2.0 - std::numbers::pi / 12.0);
    const double place = tolerance(norm(lever - e.target), 0, 0.04, norm(e.aux - e.target));
    e.give(Number(10.0) * hamacher(ready, place), error <= std::numbers::pi / 24, near < 0.03, ready > 0.9, ready,
           engaged, near);
}
inline void peg_insert(Arm& e) {
    const Vec3 obj = e.object_seen(), head = e.site(1), scale{1.0, 2.0, 2.0};
    const double near = norm(obj - e.tcp()), far = norm((head - e.target) * scale);
    const Number boxes = hamacher(prism(head, e.site(5), e.site(6)), prism(head, e.site(3), e.site(4)));
    const Number place = hamacher(tolerance(far, 0, 0.07, norm((e.aux - e.target) * scale)), boxes);
    Number held = e.caging(obj, 0.0075, 0.03, 0.01, 0.005);
    const bool open = e.opening() > 0, lifted = obj[2] - 0.01 > e.obj_init[2], grasp = near < 0.08 && open && lifted;
    if (grasp) held = 1.0;
    Number reward = hamacher(held, place);
    if (grasp) reward = reward + (Number(1.0) + Number(5) * place);
    e.give(far <= 0.07 ? 10.0 : reward, far <= 0.07, near <= 0.03, near < 0.02 && open && lifted, held, place, far);
}
inline void peg_unplug(Arm& e) {
    const auto [obj, near, far, place] = measure(e);
    const Number held = e.caging(obj, 0.025, 0.05, 0.01, 0.005, HIGH, 0.8);
    const bool grasp = e.opening() > 0.5 && obj[0] - e.obj_init[0] > 0.015;
    Number reward = Number(2) * held;
    if (grasp && near < 0.035) reward = Number(1) + Number(2) * held + 5 * place;
    e.give(far <= 0.05 ? 10.0 : reward, far <= 0.07, near <= 0.03, grasp, held, place, far);
}
inline void pick_out(Arm& e) {
    const auto [obj, near, far, place] = measure(e, e.target, 0.02);
    const Vec3 hand = e.tcp();
    const double radius = norm(hand[0] - e.obj_init[0], hand[1] - e.obj_init[1]);
    const double floor = radius <= 0.03 ? 0.0 : 0.015 * numpy_functions.log(radius - 0.03) + 0.15;
    const double above = hand[2] >= floor ? 1.0 : tolerance(std::max(floor - hand[2], 0.0), 0.0, 0.01, 0.02);
    const Number held = e.caging(obj, 0.015, 0.02, 0.01, 0.03, HIGH, 0.1);
    Number reward = hamacher(held, place);
    const bool grasp = near < 0.04 && obj[2] - 0.02 > e.obj_init[2] && !(e.opening() < 0.33);
    if (grasp) reward = reward + (Number(1.0) + Number(5.0) * hamacher(place, above));
    e.give(far < 0.05 ? 10.0 : reward, far <= 0.07, near <= 0.03, grasp, held, place, far);
}
template <bool Plain> void plate(Arm& e) {
    const Vec3 obj = e.object_seen(), tcp = e.tcp();
    const double far = norm(obj - e.target), near = norm(tcp - obj), less = Plain ? 0 : 0.05;
    const double place = tolerance(far, 0, 0.05, norm(e.obj_init - e.target) - less);
    const double held = tolerance(near, 0, 0.05, norm(e.init_tcp - e.obj_init) - less);
    double reward = Plain ? 8 * hamacher(held, place).v : 1.5 * held;
    if (!Plain && tcp[2] <= 0.03 && near < 0.07) reward = 2 + 7 * place;
    e.give(far < 0.05 ? 10.0 : reward, far <= 0.07, near <= 0.03, 0.0, held, place, far);
}
inline void shelf(Arm& e) {
    const auto [obj, near, far, before] = measure(e);
    const Vec3 target = e.target;
    Number place = before;
    const Number held = e.caging(obj, 0.02, 0.05, 0.01, 0.01, LOW);
    Number reward = hamacher(held, place);
    const bool under = 0.0 < obj[2] && obj[2] < 0.24 && target[0] - 0.15 < obj[0] && obj[0] < target[0] + 0.15;
    if (under && target[1] - 3 * 0.05 < obj[1] && obj[1] < target[1]) {
        const double z = (0.24 - obj[2]) / 0.24, y = (obj[1] - (target[1] - 3 * 0.05)) / (3 * 0.05);
        place = Number(clip(place.v - hamacher(y, z).v, 0.0, 1.0), Number::FLOAT64);
    }
    if (under && obj[1] > target[1]) place = 0.0;
    if (near < 0.025 && e.opening() > 0 && obj[2] - 0.01 > e.obj_init[2])
        reward = reward + (Number(1.0) + Number(5.0) * place);
    e.give(far < 0.05 ? 10.0 : reward, far <= 0.07, near <= 0.03, e.grasps(0.02), held, place, far);
}
inline void stick_pull(Arm& e) {
    const Vec3 stick = e.object_seen(), handle = at(e.seen + 11), end = e.site(1), more{0.05, 0.0, 0.0},
               scale{1.0, 1.0, 2.0};
    const Vec3 container = handle + more;
    const double near = norm(stick - e.tcp()), far = norm(handle - e.target);
    const double place =
        tolerance(norm((stick - container) * scale), 0, 0.05, norm((e.aux - (e.obj_init + more)) * scale));
    const double place2 = tolerance(norm(stick - e.target), 0, 0.05, norm(e.aux - e.target));
    const double box = tolerance(norm(container - e.target), 0, 0.05, norm(e.obj_init - e.target));
    Number held = e.caging(stick, 0.014, 0.05, 0.01, 0.01);
    const bool grasp = near < 0.02 && e.opening() > 0 && stick[2] - 0.01 > e.aux[2];
    if (grasp) held = 1;
    const Number both = hamacher(held, place);
    const bool inserted =
        end[0] >= handle[0] && std::fabs(end[1] - handle[1]) <= 0.04 && std::fabs(end[2] - handle[2]) <= 0.06;
    Number reward = both;
    if (grasp) {
        reward = Number(1.0) + both + 5.0 * place;
        if (inserted) reward = far <= 0.12 ? Number(10.0) : Number(1.0) + both + 5.0 + 2.0 * place2 + 1.0 * box;
    }
    e.give(reward, far <= 0.12 && inserted, near <= 0.03, e.grasps(0.02), held, place, far);
}
inline void stick_push(Arm& e) {
    const Vec3 stick = e.object_seen() + Vec3{0.015, 0.0, 0.0}, container = at(e.seen + 11);
    const double near = norm(stick - e.tcp()), far = norm(container - e.target);
    const double place = tolerance(norm(stick - e.target), 0, 0.12, norm(e.aux - e.target) - 0.12);
    const double box = tolerance(far, 0, 0.12, norm(e.obj_init - e.target) - 0.12);
    Number held = e.caging(stick, 0.04, 0.05, 0.01, 0.01, HIGH, 1, e.aux), reward = held;
    if (near < 0.02 && e.opening() > 0 && stick[2] - 0.01 > e.aux[2]) {
        held = 1;
        reward = far <= 0.12 ? 10.0 : 2.0 + 5.0 * place + 3.0 * box;
    }
    const bool grasp = e.opening() > 0 && e.object_seen()[2] - 0.01 > e.aux[2] && e.touches();
    e.give(reward, grasp && far <= 0.12, near <= 0.03, grasp, held, place, far);
}
template <bool Close> void window(Arm& e) {
    const Vec3 obj = e.object();
    const double far = norm(obj[0] - e.target[0]), near = norm(obj - e.tcp());
    const double before = norm((Close ? e.aux[0] : e.obj_init[0]) - e.target[0]);
    const double place = tolerance(far, 0, 0.05, std::fabs(before - 0.05));
    const double reach =
        tolerance(near, 0, 0.02, std::fabs(norm(e.aux - e.init_tcp) - 0.02), Close ? GAUSSIAN : LONG_TAIL);
    e.give(Number(10) * hamacher(reach, place), far <= 0.05, near <= 0.05, 1.0, reach, place, far);
}

// ---- the table -----------------------------------------------------------------------------------------------------

inline const Source none{NONE}, obj_body{BODY, "obj"}, obj_geom{GEOM, "objGeom"}, obj_mat{GEOM_MATRIX, "objGeom"},
    puck{GEOM, "puck"}, puck_mat{GEOM_MATRIX, "puck"};
inline Source shifted(From from, const char* name, double x, double y, double z) {
    return {from, name, {x, y, z}, true};
}
inline const std::vector<Task> TASKS = {
    Task("assembly-v3", {SITE, "RoundNut-8"}, {BODY, "RoundNut"}, {"b:RoundNut", "b:peg", "t:pegTop", "s:RoundNut"},
         assembly_place, drawn_both<>, assembly, nullptr, {}, {}, NO_VIEW, true),
    Task("basketball-v3", {BODY, "bsktball"}, {BODY, "bsktball"}, {"t:goal", "b:basket_goal"}, put_body<1, 3>,
         basketball_reset, basketball, nullptr, {}, {}, TARGET_IS_SITE_0),
    Task("bin-picking-v3", obj_body, obj_body, {"b:obj", "b:bin_goal"}, nothing, bin_reset, bin_picking),
    Task("box-close-v3", {BODY, "top_link"}, {BODY, "top_link"}, {"t:goal", "b:boxbody"}, box_place, box_reset,
         box_close),
    Task("button-press-topdown-v3", shifted(BODY, "button", 0.0, 0.0, 0.193), {BODY, "button"},
         {"s:hole", "s:buttonStart", "b:box"}, put_body<2>, button_reset<2>, button_topdown),
    Task("button-press-topdown-wall-v3", shifted(BODY, "button", 0.0, 0.0, 0.193), {BODY, "button"},
         {"s:hole", "s:buttonStart", "b:box"}, put_body<2>, button_reset<2>, button_topdown_wall),
    Task("button-press-v3", shifted(BODY, "button", 0.0, -0.193, 0.0), {BODY, "button"},
         {"s:hole", "s:buttonStart", "b:box"}, put_body<2>, button_reset<1>, button_press),
    Task("button-press-wall-v3", shifted(BODY, "button", 0.0, -0.193, 0.0), {BODY, "button"},
         {"s:hole", "s:buttonStart", "b:box"}, put_body<2>, button_reset<1>, button_wall),
    Task("coffee-button-v3", {SITE, "buttonStart"}, {UNIT}, {"b:coffee_machine"}, put_body<>, coffee_button_reset,
         coffee_button),
    Task("coffee-pull-v3", obj_body, {GEOM_MATRIX, "mug"}, {"t:mug_goal", "b:coffee_machine"}, coffee_place<0>,
         drawn_both<0>, coffee_mug, "mug", {}, {}, NO_VIEW, true),
    Task("coffee-push-v3", obj_body, {GEOM_MATRIX, "mug"}, {"t:mug_goal", "b:coffee_machine"}, coffee_place<3>,
         drawn_both<0>, coffee_mug, "mug", {}, {}, NO_VIEW, true),
    Task("dial-turn-v3", none, {BODY, "dial"}, {"b:dial", "j:knob_Joint_1", "t:goal"}, put_body<>, dial_reset,
         dial_turn),
    Task("disassemble-v3", {SITE, "RoundNut-8"}, {BODY, "RoundNut"}, {"b:RoundNut", "b:peg", "s:pegTop", "s:RoundNut"},
         disassemble_place, disassemble_reset, disassemble),
    Task("door-close-v3", {GEOM, "handle"}, {GEOM_MATRIX, "handle"}, {"b:door", "j:doorjoint", "v:doorjoint", "t:goal"},
         put_body<>, door_close_reset, door_close),
    Task("door-lock-v3", {SITE, "lockStartLock"}, {BODY, "door_link"}, {"b:door", "b:lock_link"}, put_body<>,
         door_lock_reset, door_lock, nullptr, {}, {}, START_IS_BODY_1),
    Task("door-open-v3", {GEOM, "handle"}, {GEOM_MATRIX, "handle"}, {"b:door", "j:doorjoint", "v:doorjoint", "t:goal"},
         put_body<>, door_open_reset, door_open),
    Task("door-unlock-v3", {SITE, "lockStartUnlock"}, {BODY, "door_link"}, {"b:door", "b:lock_link"}, put_body<>,
         door_unlock_reset, door_unlock, nullptr, {}, {}, START_IS_BODY_1),
    Task("hand-insert-v3", obj_body, obj_body, {"t:goal"}, nothing, hand_insert_reset, hand_insert, "objGeom"),
    Task("drawer-close-v3", shifted(BODY, "drawer_link", 0.0, -0.16, 0.05), none, {"b:drawer", "t:goal"}, put_body<>,
         drawer_close_reset, drawer_close),
    Task("drawer-open-v3", shifted(BODY, "drawer_link", 0.0, -0.16, 0.0), {BODY, "drawer_link"}, {"b:drawer", "t:goal"},
         put_body<>, drawer_open_reset, drawer_open),
    Task("faucet-open-v3", shifted(SITE, "handleStartOpen", 0.0, 0.0, -0.01), {BODY, "faucetBase"},
         {"b:faucetBase", "t:goal_open"}, put_body<>, faucet_reset<1>, faucet<true>),
    Task("faucet-close-v3", shifted(SITE, "handleStartClose", 0.0, 0.0, -0.01), {BODY, "faucetBase"},
         {"b:faucetBase", "t:goal_close"}, put_body<>, faucet_reset<-1>, faucet<false>),
    Task("hammer-v3", {BODY, "hammer"}, {BODY, "hammer"},
         {"b:hammer", "b:nail_link", "b:box", "s:goal", "j:NailSlideJoint"}, hammer_place, hammer_reset, hammer,
         nullptr, {BODY, "nail_link"}, {BODY, "nail_link"}),
    Task("handle-press-side-v3", {SITE, "handleStart"}, none, {"b:box", "s:goalPress"}, put_body<>, handle_reset<0>,
         handle_press),
    Task("handle-press-v3", {SITE, "handleStart"}, none, {"b:box", "s:goalPress"}, put_body<>, handle_reset<0>,
         handle_press),
    Task("handle-pull-side-v3", {SITE, "handleCenter"}, none, {"b:box", "s:goalPull"}, put_body<>, handle_reset<2>,
         handle_pull<true>),
    Task("handle-pull-v3", {SITE, "handleRight"}, none, {"b:box", "s:goalPull"}, put_body<>, handle_reset<1>,
         handle_pull<false>),
    Task("lever-pull-v3", {SITE, "leverStart"}, obj_mat, {"b:lever", "j:LeverAxis", "t:goal"}, put_body<>, lever_reset,
         lever_pull),
    Task("pick-place-wall-v3", obj_geom, obj_mat, {"t:goal"}, nothing, drawn_both<>, pick_place_wall, "objGeom"),
    Task("pick-out-of-hole-v3", obj_body, obj_body, {"t:goal"}, nothing, drawn_both<>, pick_out),
    Task("pick-place-v3", obj_body, obj_mat, {"t:goal"}, nothing, drawn_both<>, pick_place, "objGeom"),
    Task("plate-slide-v3", puck, puck_mat, {"b:puck_goal", "t:goal"}, put_body<0, 3>, plate_reset, plate<true>),
    Task("plate-slide-side-v3", puck, puck_mat, {"b:puck_goal", "t:goal"}, nothing, plate_reset, plate<false>),
    Task("plate-slide-back-v3", puck, puck_mat, {"b:puck_goal", "t:goal"}, nothing, plate_back_reset, plate<false>),
    Task("plate-slide-back-side-v3", puck, puck_mat, {"b:puck_goal", "t:goal"}, put_body<>, plate_back_side_reset,
         plate<false>),
    Task("peg-insert-side-v3", {SITE, "pegGrasp"}, {SITE_MATRIX, "pegGrasp"},
         {"b:box", "s:pegHead", "t:goal", "s:bottom_right_corner_collision_box_1", "s:top_left_corner_collision_box_1",
          "s:bottom_right_corner_collision_box_2", "s:top_left_corner_collision_box_2"},
         put_body<0, 3>, peg_insert_reset, peg_insert, nullptr, {}, {}, NO_VIEW, true),
    Task("peg-unplug-side-v3", {SITE, "pegEnd"}, {BODY, "plug1"}, {"b:box", "t:goal"}, put_body<>, peg_unplug_reset,
         peg_unplug),
    Task("soccer-v3", {BODY, "soccer_ball"}, {BODY_MATRIX, "soccer_ball"}, {"b:goal_whole", "t:goal"}, put_body<0, 3>,
         soccer_reset, soccer, "objGeom"),
    Task("stick-push-v3", {BODY, "stick"}, {BODY_MATRIX, "stick"}, {"b:object", "s:insertion", "t:goal"}, nothing,
         stick_reset<false>, stick_push, "objGeom", shifted(SITE, "insertion", 0.0, 0.09, 0.0), none),
    Task("stick-pull-v3", {BODY, "stick"}, {BODY_MATRIX, "stick"}, {"b:object", "s:stick_end", "t:goal"}, nothing,
         stick_reset<true>, stick_pull, "objGeom", {SITE, "insertion"}, none),
    Task("push-v3", obj_body, obj_mat, {"t:goal"}, nothing, push_reset, push, "objGeom"),
    Task("push-wall-v3", obj_geom, obj_mat, {"t:goal"}, nothing, push_reset, push_wall, "objGeom"),
    Task("push-back-v3", obj_geom, obj_mat, {"t:goal"}, nothing, push_reset, push_back, "objGeom"),
    Task("reach-v3", obj_body, obj_mat, {"t:goal"}, nothing, drawn_both<>, reach<false>),
    Task("reach-wall-v3", obj_body, obj_mat, {"t:goal"}, nothing, drawn_both<>, reach<true>),
    Task("shelf-place-v3", obj_body, obj_mat, {"b:obj", "b:shelf", "s:goal"}, shelf_place, shelf_reset, shelf,
         "objGeom"),
    Task("sweep-into-v3", obj_body, obj_mat, {"t:goal", "b:obj"}, nothing, sweep_into_reset, sweep<true>, "objGeom"),
    Task("sweep-v3", obj_body, obj_body, {"t:goal"}, nothing, sweep_reset, sweep<false>, "objGeom"),
    Task("window-open-v3", {SITE, "handleOpenStart"}, none, {"b:window", "j:window_slide", "t:goal"}, put_body<>,
         window_reset<false>, window<false>),
    Task("window-close-v3", {SITE, "handleCloseStart"}, none, {"b:window", "j:window_slide", "t:goal"}, put_body<>,
         window_reset<true>, window<true>),
};

inline const Task* find_task(const std::string& name) {
    for (const Task& task : TASKS)
        if (name == task.name) return &task;
    return nullptr;
}

}  // namespace cypool::metaworld
