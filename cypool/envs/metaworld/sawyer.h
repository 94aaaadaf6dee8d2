// A Sawyer arm over MuJoCo's functions: the observation, a step, a reset, and the shared code of several tasks. No
// Python.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <vector>

#include "cypool/envs/metaworld/numbers.h"
#include "cypool/envs/shared/mujoco/guard.h"

namespace cypool::metaworld {

class Arm;

// where a position or an orientation is read; NONE: zeros, UNIT: 1 0 0 0
enum From : uint8_t { NONE, UNIT, BODY, GEOM, SITE, BODY_MATRIX, GEOM_MATRIX, SITE_MATRIX };
struct Source {
    From from = NONE;
    const char* name = nullptr;
    Vec3 offset;
    bool shifted = false;
};

// the part of a task that the package keeps as a view of MuJoCo's memory
enum View { NO_VIEW, TARGET_IS_SITE_0, START_IS_BODY_1 };

struct Task {
    const char* name;
    Source position, rotation;
    // names of the items of `id`: the kind is b(ody), g(eom), s(ite) or t, the site that a reset moves to the target;
    // or of a joint the place in qpos or in qvel, j or v
    std::vector<const char*> names;
    void (*place)(Arm&, const double*);  // a reset's writing to the model, before the hand moves and then again
    void (*reset)(Arm&, const double*);  // the rest of the package's reset_model
    void (*reward)(Arm&);
    const char* touched = nullptr;  // the geom that both pads must touch
    Source position2 = {}, rotation2 = {};
    View view = NO_VIEW;
    bool places_last = false;  // the second time, only the next step sees it
};
inline const Task* find_task(const std::string& name);  // or null

// which numbers of two places are compared
enum Along { X, Y, Z, XY, XYZ };

// a task's reward in version 1 of the package's
struct FirstReward {
    const char* name;
    void (*begin)(Arm&, const FirstReward&);  // after a reset: sets `limit`, and `height`
    void (*reward)(Arm&, const FirstReward&);
    Along along = XYZ;                               // between the object and the goal
    double radius = 0.05;                            // of success
    bool left = false;                               // whether the left finger counts, not the middle of both
    bool grasped = false;                            // the info
    double lift = 0;                                 // how much higher than at first the object is to be
    double zs = 1;                                   // how often the height of the hand counts
    const char *extra = nullptr, *extra2 = nullptr;  // the arm's `extra` and `extra2`, as in `Task::names`
};
inline const FirstReward* find_first_reward(const std::string& task);

// how much of a cage the reward is
enum Density { LOW, MEDIUM, HIGH };

enum { STEPS = 5, FRAME = 18, SEEN = 2 * FRAME + 3, INFOS = 7, REMEMBERED = FRAME + 4 * 3 + 4 };

// the package's numbers of a task
struct Numbers {
    Vec3 hand, low, high;      // where the hand begins, and where it can move
    Vec3 goal_low, goal_high;  // bounds of an observed goal
};

// the state of an episode, other than MuJoCo's data
struct Episode {
    double frame[FRAME]{};
    Vec3 init_tcp, target, obj_init, aux;
    double margin = 0;        // of a distance that a task measures once
    double margin_known = 0;  // 0 or 1
    double height = 0;        // for version 1 of the rewards: the object's at first,
    double limit = 0;         // and how far it was, or may be, from the goal
};
static_assert(sizeof(Episode) == REMEMBERED * sizeof(double), "it is saved as doubles: no other members");

class Arm : public Episode {
public:
    Arm(const std::string& task, const Numbers& numbers, bool has_first_reward)
        : t(find_task(task)),
          first(has_first_reward ? find_first_reward(task) : nullptr),
          n(numbers) {
        if (!t || (has_first_reward && !first)) throw std::invalid_argument("task: " + task);
    }

    // Takes a model and data without owning them; only body_pos and site_pos of the model are written.
    void use(mjModel* model, mjData* data) {
        m = model, d = data;
        if (m->nmocap != 1 || m->nu != 2 || m->nq < 10)
            throw std::invalid_argument(std::string(t->name)
                                        + ": expected a model of an arm with a mocap body and an object");
        hand = body_id("hand"), right_claw = body_id("rightclaw"), left_claw = body_id("leftclaw");
        left_pad = body_id("leftpad"), right_pad = body_id("rightpad");
        right_end = find(mjOBJ_SITE, "rightEndEffector"), left_end = find(mjOBJ_SITE, "leftEndEffector");
        left_geom = find(mjOBJ_GEOM, "leftpad_geom"), right_geom = find(mjOBJ_GEOM, "rightpad_geom");
        for (const char* name : t->names) {
            if (name[0] == 't') goal_site = static_cast<int>(id.size());
            id.push_back(named(name));
        }
        if (first && first->extra) extra = named(first->extra);
        if (first && first->extra2) extra2 = named(first->extra2);
        touched = asks_for_touch() ? find(mjOBJ_GEOM, t->touched) : -1;
        splits_steps = can_split && needs_contacts() && only_constraints_see_mocap();
        position_id = source_id(t->position), rotation_id = source_id(t->rotation);
        position2_id = source_id(t->position2), rotation2_id = source_id(t->rotation2);
    }

    // Starts an episode. The package resets the model twice; of the first time only the
    // changes of the model remain, for which it draws `before`.
    void reset(const double* before, const double* drawn) {
        unstable = 0;
        margin = margin_known = height = limit = 0;
        t->place(*this, before);
        reset_data(m, d);
        move_hand();
        if (!t->places_last) t->place(*this, drawn);
        t->reset(*this, drawn);
        if (t->places_last) t->place(*this, drawn);
        if (goal_site >= 0) write_site(goal_site, target);
        if (first) first->begin(*this, *first);
        forget();
        look_around();
        std::memcpy(seen, frame, sizeof frame);  // not clipped, unlike after a step
        std::memcpy(seen + FRAME, frame, sizeof frame);
        for (int k = 0; k < 3; ++k) seen[2 * FRAME + k] = hides_goal ? 0 : target[k];
    }

    // Sets what a step begins with; again, until it was taken.
    void act(const double* action, bool is_single) {
        unstable = 0;
        for (int k = 0; k < 3; ++k) {
            const double way = clip(action[k], -1, 1);
            const double delta = is_single ? static_cast<float>(way) * 0.01f : way * (1.0 / 100);
            d->mocap_pos[k] = clip(start[k] + delta, n.low[k], n.high[k]);
        }
        grip = Number(action[3], is_single ? Number::FLOAT32 : Number::FLOAT64);
        turn_hand();
        d->ctrl[0] = action[3], d->ctrl[1] = -action[3];
    }
    // The five steps of MuJoCo.
    void run_step() {
        const Known before = known;
        forget();
        if (!splits_steps || whole || before == NOTHING || *library().mjcb_control) return run(STEPS);
        unstable += warned(m, d, [this, before] {
            split_step(before);
            for (int k = 1; k < STEPS; ++k) mj_step(m, d);
        });
    }
    // Follows these steps; the reward and the infos are then set.
    void end_step() {
        forward();
        double last[FRAME];
        std::memcpy(last, frame, sizeof last);
        look_around();
        static constexpr double low[] = {-0.525, 0.348, -0.0525, -1}, high[] = {0.525, 1.025, 0.7, 1};
        for (int k = 0; k < FRAME; ++k) {
            seen[k] = k < 4 ? clip(frame[k], low[k], high[k]) : frame[k];
            seen[FRAME + k] = k < 4 ? clip(last[k], low[k], high[k]) : last[k];
        }
        for (int k = 0; k < 3; ++k)
            seen[2 * FRAME + k] = hides_goal ? 0 : clip(target[k], n.goal_low[k], n.goal_high[k]);
        if (first)
            first->reward(*this, *first);
        else
            t->reward(*this);
    }

    // the saved part of an episode
    void get_episode(double* out) const { std::memcpy(out, static_cast<const Episode*>(this), sizeof(Episode)); }
    void set_episode(const double* values) {
        forget();
        std::memcpy(static_cast<void*>(static_cast<Episode*>(this)), values, sizeof(Episode));
    }

    // Whether the data needs separate working memory: contacts stay there from one step to the next.
    bool needs_contacts() const { return asks_for_touch() && !forward_warms; }
    // To be called when the data was changed elsewhere.
    void forget() { known = NOTHING, start = at(d->mocap_pos); }
    // The same, where it is to have what a step leaves.
    void restore() {
        const bool has_velocities = known == VELOCITIES;
        forward();
        if (has_velocities) forward_velocities();
    }

    // set from outside
    bool hides_goal = false;
    bool keeps_starts = true;  // where the hand is after its 250 steps, for each place of the bodies
    bool whole = false;        // computes all that the package computes, for contacts that are drawn

    int unstable = 0;  // how often MuJoCo started over in the last call
    double seen[SEEN]{};
    double reward = 0;
    int reward_kind = Number::WEAK;  // its type in the package
    double info[INFOS]{};            // as `give` has them

    // ---- for tasks

    const Task* const t;
    const FirstReward* const first;  // null: the reward is that of version 2
    const Numbers n;
    mjModel* m = nullptr;
    mjData* d = nullptr;
    std::vector<int> id;
    int extra = 0, extra2 = 0;
    Number grip = 0.0;  // the last number of the action

    Vec3 body(int k) const { return at(d->xpos + 3 * id[k]); }
    Vec3 site(int k) const { return at(d->site_xpos + 3 * id[k]); }
    Vec3 left_pad_place() const { return at(d->xpos + 3 * left_pad); }
    Vec3 left_end_place() const { return at(d->site_xpos + 3 * left_end); }
    Vec3 hand_seen() const { return at(seen); }
    Vec3 object_seen() const { return at(seen + 4); }
    double opening() const { return seen[3]; }
    Vec3 tcp() const {
        const Vec3 sum = at(d->site_xpos + 3 * right_end) + at(d->site_xpos + 3 * left_end);
        return {sum[0] / 2.0, sum[1] / 2.0, sum[2] / 2.0};
    }
    Vec3 object() const {
        Vec3 p;
        if (t->position.from == NONE) {  // dial-turn: a point of the dial
            const double angle = d->qpos[id[1]];
            return body(0) + Vec3{numpy_functions.sin(angle) * 0.05, -numpy_functions.cos(angle) * 0.05, 0.0 * 0.05};
        }
        read_position(t->position, position_id, p.v);
        return p;
    }
    void write_body(int k, Vec3 p) { std::memcpy(m->body_pos + 3 * id[k], p.v, sizeof p.v); }
    // and has pictures show it there: the package, which resets twice, has it there before anything moves
    void write_site(int k, Vec3 p) {
        const int s = id[k];
        std::memcpy(m->site_pos + 3 * s, p.v, sizeof p.v);
        mj_local2Global(d, d->site_xpos + 3 * s, d->site_xmat + 9 * s, m->site_pos + 3 * s, m->site_quat + 4 * s,
                        m->site_bodyid[s], m->site_sameframe[s]);
    }

    void run(int steps) { unstable += simulate(m, d, steps, false); }
    // The package calls mj_forward; nothing else of it is read, and no warm start depends on it, but in old MuJoCo.
    void forward() {
        forget();
        warned(m, d, [this] {
            if (whole || forward_warms) return mj_forward(m, d);
            if (touched >= 0) return mj_fwdPosition(m, d);
            mj_kinematics(m, d);
            mj_camlight(m, d);
        });
        known = whole || forward_warms ? ALL : touched >= 0 ? POSITIONS : NOTHING;
    }
    // Sets positions from qpos[q] on, and clears velocities from qvel[v] on.
    void set(int q, std::initializer_list<double> values, int v, int zeros) {
        if (q + static_cast<int64_t>(values.size()) > m->nq)
            throw std::invalid_argument(std::string(t->name) + ": expected a model with more positions");
        for (const double value : values) d->qpos[q++] = value;
        // a slice of NumPy's: stick-* have only one of the two velocities
        for (int k = v; k < v + zeros && k < m->nv; ++k) d->qvel[k] = 0;
        forward();
    }
    void set_object(Vec3 p, int q = 9) { set(q, {p[0], p[1], p[2]}, 9, 6); }

    void give(Number value, double success, Number near_object, Number grasp_success, Number grasp_reward,
              Number in_place_reward, double obj_to_target) {
        reward = value.v;
        reward_kind = value.kind;
        const double given[] = {success,           near_object.v, grasp_success.v, grasp_reward.v,
                                in_place_reward.v, obj_to_target, value.v};
        std::memcpy(info, given, sizeof info);
    }

    // Whether both pads press on the object.
    bool touches() {
        for (const int pad : {left_geom, right_geom}) {  // bounding spheres apart
            const Vec3 gap = at(d->geom_xpos + 3 * pad) - at(d->geom_xpos + 3 * touched);
            const double reach =
                m->geom_rbound[pad] + m->geom_rbound[touched] + m->geom_margin[pad] + m->geom_margin[touched];
            if (gap[0] * gap[0] + gap[1] * gap[1] + gap[2] * gap[2] > 1.001 * reach * reach) return false;
        }
        if (!touching(nullptr)) return false;
        if (known == POSITIONS) forward_velocities();
        double force[2] = {0, 0};
        return touching(force) && 0 < force[0] && 0 < force[1];
    }
    // the usual grasp_success; cheap conditions come first
    bool grasps(double lift) { return opening() > 0 && object_seen()[2] - lift > obj_init[2] && touches(); }

    // min(max(0, action[-1]), most) of Python: each of the numbers keeps its type
    Number closing(double most) const {
        const Number g = grip.v > 0 ? grip : Number(0);
        const bool less = g.kind == Number::FLOAT32 ? static_cast<float>(most) < static_cast<float>(g.v) : most < g.v;
        return less ? Number(most) : g;
    }
    // _gripper_caging_reward
    Number caging(Vec3 object, double radius, double pad, double reach_radius, double xz, Density density,
                  double effort, Vec3 start) const {
        double sides[2];
        const int pads[] = {left_pad, right_pad};
        for (int k = 0; k < 2; ++k) {
            const double y = d->xpos[3 * pads[k] + 1];
            sides[k] = tolerance(std::fabs(y - object[1]), radius, pad, std::fabs(std::fabs(y - start[1]) - pad));
        }
        const double y = hamacher(sides[0], sides[1]).v;
        const Vec3 center = tcp();
        const double x = tolerance(norm(center[0] - object[0], center[2] - object[2]), 0, xz,
                                   norm(start[0] - init_tcp[0], start[2] - init_tcp[2]) - xz);
        const double cage = hamacher(y, x).v;
        Number result = hamacher(cage, cage > 0.97 ? closing(effort) / effort : Number(0.0));
        if (density == HIGH) result = (result + cage) / 2;
        if (density == MEDIUM) {
            const double reach =
                tolerance(norm(object - center), 0, reach_radius, std::fabs(norm(obj_init - init_tcp) - reach_radius));
            result = (result + reach) / 2;
        }
        return result;
    }
    Number caging(Vec3 object, double radius, double pad, double reach_radius, double xz, Density density = HIGH,
                  double effort = 1) const {
        return caging(object, radius, pad, reach_radius, xz, density, effort, obj_init);
    }
    // The cages of pick-place, push-back, soccer, sweep and sweep-into. Their init_left_pad and init_right_pad are the
    // current places of the pads.
    struct Cage {
        double y, grip, xz;
    };
    Cage cage(Vec3 object, double radius, double more, double xz, bool left_first) const {
        const double left_y = d->xpos[3 * left_pad + 1], right_y = d->xpos[3 * right_pad + 1], pad = 0.05;
        const double left_margin = std::fabs(std::fabs(object[1] - left_y) - pad);
        const double right_margin = std::fabs(std::fabs(object[1] - right_y) - pad);
        const double left = left_y - object[1], right = object[1] - right_y;
        const double right_cage = tolerance(right, radius, pad, right_margin);
        const double left_cage = tolerance(left, radius, pad, left_margin);
        Cage c;
        c.y = left_first ? hamacher(left_cage, right_cage).v : hamacher(right_cage, left_cage).v;
        c.grip = left_first ? 0
                            : hamacher(tolerance(right, radius, radius + more, right_margin),
                                       tolerance(left, radius, radius + more, left_margin))
                                  .v;
        const auto flat = [](Vec3 a) { return a + Vec3{0.0, -a[1], 0.0}; };
        c.xz = tolerance(norm(flat(tcp()) - flat(object)), 0, xz, norm(flat(obj_init) - flat(init_tcp)) - xz);
        return c;
    }
    double squeeze(Vec3 object, double radius, double more, double xz) const {
        const Cage c = cage(object, radius, more, xz, false);
        const double caging = hamacher(c.y, c.xz).v;
        return (caging + (caging > 0.95 ? c.grip : 0.0)) / 2;
    }

private:
    enum { MOST_STARTS = 256 };
    // before MuJoCo 3.3.6, the solver of the next step starts from the result of mj_forward: each one counts
    const bool forward_warms = library().version < 336;
    // `split_step` repeats the inner steps of mj_step: not for a MuJoCo that was not compared
    const bool can_split = !forward_warms && library().version <= 3017000;
    // the part that MuJoCo has computed for the current state; ALL: for pictures, or because the package does
    enum Known : uint8_t { NOTHING, POSITIONS, VELOCITIES, ALL };

    int find(mjtObj kind, const char* name) const {
        const int found = mj_name2id(m, kind, name);
        if (found < 0) throw std::invalid_argument(std::string(t->name) + ": expected a model with a " + name);
        return found;
    }
    // the number of a name as in `Task::names`
    int named(const char* name) const {
        const mjtObj kind = name[0] == 'b'                     ? mjOBJ_BODY
                            : name[0] == 'g'                   ? mjOBJ_GEOM
                            : name[0] == 's' || name[0] == 't' ? mjOBJ_SITE
                                                               : mjOBJ_JOINT;
        const int found = find(kind, name + 2);
        return name[0] == 'j' ? m->jnt_qposadr[found] : name[0] == 'v' ? m->jnt_dofadr[found] : found;
    }
    int body_id(const char* name) const { return find(mjOBJ_BODY, name); }
    int source_id(const Source& s) const {
        if (s.from <= UNIT) return 0;
        return find(s.from == BODY || s.from == BODY_MATRIX   ? mjOBJ_BODY
                    : s.from == GEOM || s.from == GEOM_MATRIX ? mjOBJ_GEOM
                                                              : mjOBJ_SITE,
                    s.name);
    }

    void read_position(const Source& s, int source, double* out) const {
        const double* places = s.from == BODY ? d->xpos : s.from == GEOM ? d->geom_xpos : d->site_xpos;
        std::memcpy(out, places + 3 * source, 3 * sizeof *out);
        if (s.shifted)
            for (int k = 0; k < 3; ++k) out[k] += s.offset[k];
    }
    void read_rotation(const Source& s, int source, double* out) const {
        switch (s.from) {
            case BODY: std::memcpy(out, d->xquat + 4 * source, 4 * sizeof *out); break;
            case BODY_MATRIX: quaternion_of(d->xmat + 9 * source, out); break;
            case GEOM_MATRIX: quaternion_of(d->geom_xmat + 9 * source, out); break;
            case SITE_MATRIX: quaternion_of(d->site_xmat + 9 * source, out); break;
            case UNIT: out[0] = 1; break;
            default: break;
        }
    }
    // the frame, and the views of MuJoCo's memory
    void look_around() {
        std::memset(frame, 0, sizeof frame);
        std::memcpy(frame, d->xpos + 3 * hand, 3 * sizeof(double));
        frame[3] = clip(norm(at(d->xpos + 3 * right_claw) - at(d->xpos + 3 * left_claw)) / 0.1, 0.0, 1.0);
        const Vec3 p = object();
        std::memcpy(frame + 4, p.v, sizeof p.v);
        read_rotation(t->rotation, rotation_id, frame + 7);
        if (t->position2.from != NONE) {
            read_position(t->position2, position2_id, frame + 11);
            read_rotation(t->rotation2, rotation2_id, frame + 14);
        }
        if (t->view == TARGET_IS_SITE_0) target = site(0);
        if (t->view == START_IS_BODY_1) obj_init = body(1);
    }

    bool asks_for_touch() const { return t->touched && !first; }
    bool only_constraints_see_mocap() const {
        for (int k = 0; k < m->ngeom; ++k) {
            const bool is_mocap = m->body_mocapid[m->geom_bodyid[k]] >= 0;
            if (is_mocap && (m->geom_contype[k] || m->geom_conaffinity[k])) return false;
        }
        return !m->npair && !m->ntendon && !m->nflex && !m->nplugin && !m->opt.enableflags;
    }
    // As mj_step, which begins again if there is something wrong. The positions and velocities are known, other than of
    // the mocap body; contacts cost the most of it.
    void split_step(Known before) {
        mj_checkPos(m, d), mj_checkVel(m, d);
        if (d->warning[library().mjWARN_BADQPOS].number || d->warning[library().mjWARN_BADQVEL].number)
            return mj_step(m, d);
        mj_kinematics(m, d), mj_comPos(m, d);
        mj_makeConstraint(m, d), mj_island(m, d), mj_projectConstraint(m, d);
        if (before == POSITIONS)
            mj_fwdVelocity(m, d);
        else
            mj_referenceConstraint(m, d);
        mj_step2(m, d);
    }

    void turn_hand() {
        const double down[] = {1, 0, 1, 0};
        std::memcpy(d->mocap_quat, down, sizeof down);
    }
    // Moves the hand to where an episode begins: 250 steps of MuJoCo, which depend on nothing but where bodies stand.
    void move_hand() {
        std::string bodies;
        if (keeps_starts) {
            bodies.assign(reinterpret_cast<const char*>(m->body_pos),
                          static_cast<size_t>(m->nbody) * 3 * sizeof(double));
            const auto known = starts.find(bodies);
            if (known != starts.end()) {
                warned(m, d,
                       [this, &known] { mj_setState(m, d, known->second.data(), library().mjSTATE_INTEGRATION); });
                run(1);  // for leftovers of a step that are no state
                init_tcp = tcp();
                return;
            }
        }
        for (int k = 0; k < 50; ++k) {
            std::memcpy(d->mocap_pos, n.hand.v, sizeof n.hand.v);
            turn_hand();
            d->ctrl[0] = -1, d->ctrl[1] = 1;
            run(k == 49 ? 4 : 5);
        }
        if (keeps_starts) {
            std::vector<mjtNum> state(static_cast<size_t>(mj_stateSize(m, library().mjSTATE_INTEGRATION)));
            warned(m, d, [this, &state] { mj_getState(m, d, state.data(), library().mjSTATE_INTEGRATION); });
            if (starts.size() == MOST_STARTS) starts.clear();
            starts.emplace(std::move(bodies), std::move(state));
        }
        run(1);
        init_tcp = tcp();
    }

    // The other stages of mj_forward.
    void forward_velocities() {
        forget();
        warned(m, d, [this] {
            mj_fwdVelocity(m, d), mj_fwdActuation(m, d), mj_fwdAcceleration(m, d), mj_fwdConstraint(m, d);
        });
        known = VELOCITIES;
    }

    // Whether both pads have contact; and the forces, if they are wanted.
    bool touching(double* force) const {
        bool pads[2] = {false, false};
        for (int c = 0; c < d->ncon; ++c) {
            const mjContact x = contact_of(d, c);
            for (int s = 0; s < 2; ++s) {
                const int pad = s ? right_geom : left_geom;
                if ((x.geom[0] != pad && x.geom[1] != pad) || (x.geom[0] != touched && x.geom[1] != touched)) continue;
                pads[s] = true;
                // an address of -1 is Python's last
                if (force && d->nefc) force[s] += d->efc_force[x.efc_address < 0 ? d->nefc - 1 : x.efc_address];
            }
        }
        return pads[0] && pads[1];
    }

    int hand = 0, right_claw = 0, left_claw = 0, left_pad = 0, right_pad = 0, right_end = 0, left_end = 0;
    int left_geom = 0, right_geom = 0, touched = -1, goal_site = -1;
    bool splits_steps = false;
    Known known = NOTHING;
    Vec3 start;  // where the mocap body was before the action
    int position_id = 0, rotation_id = 0, position2_id = 0, rotation2_id = 0;
    std::unordered_map<std::string, std::vector<mjtNum>> starts;
};

}  // namespace cypool::metaworld
