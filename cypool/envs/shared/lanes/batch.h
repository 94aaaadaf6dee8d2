// Steps of many environments: fixed groups for what is smooth, and those with constraints packed for the solver.

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "cypool/envs/shared/lanes/batch_base.h"

// in this order, for each width
#include "cypool/envs/shared/lanes/lanes.h"
#include "cypool/envs/shared/lanes/spatial.h"
#include "cypool/envs/shared/lanes/group.h"
#include "cypool/envs/shared/lanes/fluid.h"
#include "cypool/envs/shared/lanes/smooth.h"
#include "cypool/envs/shared/lanes/equality.h"
#include "cypool/envs/shared/lanes/constraint.h"
#include "cypool/envs/shared/lanes/sensors.h"
#include "cypool/envs/shared/lanes/cone.h"
#include "cypool/envs/shared/lanes/newton.h"
#include "cypool/envs/shared/lanes/gauss_seidel.h"
#include "cypool/envs/shared/lanes/islands.h"
#include "cypool/envs/shared/lanes/noslip.h"

#include "cypool/envs/shared/lanes/target.h"

namespace cypool::lanes::CYPOOL_LANES {

// mj_integratePos
CYPOOL_LANES_INLINE void integrate_position(const Description& m, Real* q, const Real* v, double h) {
    for (int k = 0; k < m.num_joints; ++k) {
        int a = m.joints[k].qpos, b = m.joints[k].dof;
        if (m.joints[k].type != mjJNT_FREE && m.joints[k].type != mjJNT_BALL) {
            q[a] = q[a] + h * v[b];
            continue;
        }
        if (m.joints[k].type == mjJNT_FREE)
            for (int i = 0; i < 3; ++i, ++a, ++b) q[a] = q[a] + h * v[b];
        Real axis[3] = {v[b], v[b + 1], v[b + 2]}, s, c, turn[4];
        const Real angle = h * normalize(axis);
        sincos(angle * 0.5, s, c);
        turn[0] = c;
        for (int i = 0; i < 3; ++i) turn[1 + i] = axis[i] * s;
        normalize_quaternion(q + a);
        multiply_quaternions(q + a, q + a, turn);
    }
}

CYPOOL_LANES_INLINE void copy_many(Real* to, const Real* from, int n) {
    for (int k = 0; k < n; ++k) to[k] = from[k];
}

// mj_Euler, implicit in the damping of joints, and mj_implicit without Coriolis forces, in that of actuators, too
inline __attribute__((noinline)) void integrate_euler(const Description& m, Group& d) {
    Real acc[MAX_DOFS];
    const double h = m.timestep;
    if (m.has_damping || m.is_implicit_fast) {
        Real A[MAX_INERTIA], inverse[MAX_DOFS];
        copy_many(A, d.M, m.num_inertia);
        for (int k = 0; k < m.nv; ++k) {
            const int diagonal = m.dofs[k].row_begin + m.dofs[k].row_size - 1;
            const Real damping = own_or(d, m.own_of_dof(k) + 1, m.dofs[k].damping);
            A[diagonal] = A[diagonal] + (m.is_implicit_fast ? (d.actuator_damping[k] - damping) * -h : h * damping);
        }
        factorize(m, A, inverse);
        // actuators may push what moves
        if (m.is_implicit_fast) find_singular(m, d, A);
        for (int k = 0; k < m.nv; ++k) acc[k] = d.smooth[k] + d.constraint[k];
        solve_factorized(m, acc, A, inverse);
    } else
        copy_many(acc, d.qacc, m.nv);
    for (int k = 0; k < m.nv; ++k) d.qvel[k] = d.qvel[k] + acc[k] * h;
    integrate_activations(m, d);
    integrate_position(m, d.qpos, d.qvel, h);
    copy_many(d.warmstart, d.qacc, m.nv);
}

// mj_RungeKutta, of order four: between its stages lies a forward
inline __attribute__((noinline)) void begin_runge_kutta(const Description& m, Group& d) {
    copy_many(d.first_qpos, d.qpos, m.nq);
    copy_many(d.stage_vel[0], d.qvel, m.nv);
    copy_many(d.stage_acc[0], d.qacc, m.nv);
    copy_many(d.first_act, d.act, m.num_acts);
    copy_many(d.stage_act_dot[0], d.act_dot, m.num_acts);
}
// Since MuJoCo 4, mj_RungeKutta takes the angular velocity of a later stage to where its rotations are added up:
// w + c / 2 + (1 - t / tan(t)) / (4 t^2) u x c, where u is the turn so far, 2 t its angle, and c = u x w.
inline __attribute__((noinline)) void correct_rotation(Group& g, Real* w, const Real* turn, double h) {
    constexpr double TWO_PI = 6.283185307179586, SQUARED_PI = 9.869604401089358, MOST_OF_SERIES = 3.0625;
    constexpr double SERIES[] = {1.230313397310169e-14, 3.161551550077822e-13,  1.3455485951057888e-11,
                                 5.282849430384459e-10, 2.0876900642039142e-08, 8.267194907152073e-07,
                                 3.30687830944332e-05,  0.0013888888888859755,  0.08333333333333338};
    Real u[3];
    for (int k = 0; k < 3; ++k) u[k] = h * turn[k];
    Real squared = dot3(u, u);
    note_unseen(g, g.coverage->turns(), OVER, squared > SQUARED_PI);
    for (int left = bits(squared > SQUARED_PI); left; left &= left - 1) {
        // the same rotation, by less than half a turn
        const int l = __builtin_ctz(static_cast<unsigned>(left));
        const double angle = std::sqrt(lane(squared, l));
        const double scale = (std::floor(angle / TWO_PI + 0.5) * -TWO_PI + angle) / angle;
        for (int k = 0; k < 3; ++k) lane(u[k], l) *= scale;
        lane(squared, l) =
            lane(u[0], l) * lane(u[0], l) + lane(u[1], l) * lane(u[1], l) + lane(u[2], l) * lane(u[2], l);
    }
    note_unseen(g, g.coverage->turns(), FAR, ~(squared < MOST_OF_SERIES));
    Real factor = all(SERIES[0]);
    for (int k = 1; k < 9; ++k) factor = factor * squared + SERIES[k];
    for (int left = bits(~(squared < MOST_OF_SERIES)); left; left &= left - 1) {
        const int l = __builtin_ctz(static_cast<unsigned>(left));
        const double half = 0.5 * std::sqrt(lane(squared, l));
        lane(factor, l) = (1 - half / std::tan(half)) / lane(squared, l);
    }
    Real c[3], d[3];
    cross(c, u, w);
    cross(d, u, c);
    for (int k = 0; k < 3; ++k) w[k] = (c[k] * 0.5 + w[k]) + factor * d[k];
}
inline __attribute__((noinline)) void begin_stage(const Description& m, Group& d, int stage) {
    static constexpr double A[] = {0.5, 0.5, 1.0};
    Real velocity[MAX_DOFS];
    for (int k = 0; k < m.nv; ++k) velocity[k] = d.stage_vel[stage - 1][k] * A[stage - 1];
    copy_many(d.qpos, d.first_qpos, m.nq);
    integrate_position(m, d.qpos, velocity, m.timestep);
    // sums begin with a positive zero
    for (int k = 0; k < m.num_acts; ++k)
        d.act[k] = d.first_act[k] + (all(0) + d.stage_act_dot[stage - 1][k] * A[stage - 1]) * m.timestep;
    for (int k = 0; k < m.nv; ++k)
        d.qvel[k] = d.stage_vel[stage][k] = d.stage_vel[0][k] + (d.stage_acc[stage - 1][k] * A[stage - 1]) * m.timestep;
    for (int j = 0; is_mujoco_4 && j < m.num_joints; ++j) {
        const int type = m.joints[j].type, dof = m.joints[j].dof + (type == mjJNT_FREE ? 3 : 0);
        if (type == mjJNT_FREE || type == mjJNT_BALL)
            correct_rotation(d, d.stage_vel[stage] + dof, velocity + dof, m.timestep);
    }
}
inline __attribute__((noinline)) void end_runge_kutta(const Description& m, Group& d) {
    static constexpr double B[] = {1.0 / 6.0, 1.0 / 3.0, 1.0 / 3.0, 1.0 / 6.0};
    Real velocity[MAX_DOFS];
    for (int k = 0; k < m.nv; ++k) {
        Real v = d.stage_vel[0][k] * B[0], a = d.stage_acc[0][k] * B[0];
        for (int stage = 1; stage < 4; ++stage) {
            v = v + d.stage_vel[stage][k] * B[stage];
            a = a + d.stage_acc[stage][k] * B[stage];
        }
        velocity[k] = v;
        d.qvel[k] = d.stage_vel[0][k] + a * m.timestep;
    }
    copy_many(d.qpos, d.first_qpos, m.nq);
    copy_many(d.act, d.first_act, m.num_acts);
    for (int k = 0; k < m.num_acts; ++k) {
        d.act_dot[k] = all(0);
        for (int stage = 0; stage < 4; ++stage) d.act_dot[k] = d.act_dot[k] + d.stage_act_dot[stage][k] * B[stage];
    }
    integrate_activations(m, d);
    integrate_position(m, d.qpos, velocity, m.timestep);
    copy_many(d.warmstart, d.qacc, m.nv);
}

class BatchInLanes final : public Batch {
public:
    BatchInLanes(const Description& m, const Collider& collider)
        : m_(m),
          collider_(collider),
          problem_(new Problem(m)),
          sections_(m),
          dual_(m.is_gauss_seidel ? new Dual() : nullptr),
          noslip_(m.noslip_iterations > 0 ? new NoSlip(m) : nullptr) {}

    // In groups of as many as a vector has numbers.
    void load(Record* const* records, int count, const Coverage& coverage, const Coverage& inner) override {
        coverage_ = of_last_ = &coverage, of_others_ = &inner;
        records_ = records;
        num_groups_ = (count + WIDTH - 1) / WIDTH;
        while (static_cast<int>(groups_.size()) < num_groups_) groups_.emplace_back(new Group(m_));
        count_ = count;
        for (int e = 0; e < num_groups_ * WIDTH; ++e) {
            // lanes that are left over do what the last one does
            const Record& r = *records[std::min(e, count - 1)];
            Group& d = *groups_[static_cast<size_t>(e / WIDTH)];
            const int l = e % WIDTH;
            // a step that ended with mj_step1 has done that of this one
            d.has_step1 &= put_again(d.qpos, r.state.qpos, m_.nq, l) & put_again(d.qvel, r.state.qvel, m_.nv, l);
            put(d.warmstart, r.state.warmstart, m_.nv, l);
            put(d.act, r.state.act, m_.num_acts, l);
            put(d.ctrl, r.ctrl, m_.nu, l);
            d.has_step1 &= put_again(d.mocap_pos, r.ctrl + m_.nu, 3 * m_.num_mocap, l)
                           & put_again(d.mocap_quat, r.ctrl + m_.nu + 3 * m_.num_mocap, 4 * m_.num_mocap, l);
            d.has_step1 &= load_own_again(d, r, l);
        }
        for (int g = 0; g < num_groups_; ++g) {
            Group& d = *groups_[static_cast<size_t>(g)];
            d.bad = none();
            d.dropped = d.with_result = 0;
            d.unseen.clear();
            // mj_step takes any, and those of later steps are accelerations, which are checked
            find_bad(d, d.warmstart, m_.nv);
        }
        for (int e = 0; e < count; ++e) records[e]->unseen.clear(), records[e]->num_by_mujoco = 0;
    }

    int step(int frame, int frames, int reads, bool ends_with_step1) override {
        while (frame < frames) {
            ++frame;
            coverage_ = frame == frames ? of_last_ : of_others_;
            for (int g = 0; g < num_groups_; ++g) {
                Group& d = *groups_[static_cast<size_t>(g)];
                find_bad(d, d.qpos, m_.nq);
                find_bad(d, d.qvel, m_.nv);
                find_bad(d, d.act, m_.num_acts);
                d.coverage = coverage_;
                note_controls(d);
                copy_many(d.last_qpos, d.qpos, m_.nq);
                copy_many(d.last_qvel, d.qvel, m_.nv);
                copy_many(d.last_warmstart, d.warmstart, m_.nv);
                copy_many(d.last_act, d.act, m_.num_acts);
            }
            forward();
            for (int g = 0; g < num_groups_; ++g) {
                Group& d = *groups_[static_cast<size_t>(g)];
                find_bad(d, d.qacc, m_.nv);
                // MuJoCo has no sensors in later stages
                if (frame == frames) {
                    if (!ends_with_step1) sense_velocity(d, reads);
                    sense_acceleration(d, reads);
                }
                if (m_.is_runge_kutta)
                    begin_runge_kutta(m_, d);
                else
                    integrate_euler(m_, d);
            }
            if (m_.is_runge_kutta) take_stages();
            for (int g = 0; g < num_groups_; ++g)
                if (failed(g) || !groups_[static_cast<size_t>(g)]->unseen.empty()) {
                    collect_unseen();
                    return frame;
                }
        }
        for (int g = 0; g < num_groups_; ++g) complete(*groups_[static_cast<size_t>(g)], reads, ends_with_step1);
        return frames + 1;
    }

    const std::vector<int>& find_failed() override {
        failed_.clear();
        for (int g = 0; g < num_groups_; ++g)
            for (int left = failed(g); left; left &= left - 1)
                failed_.push_back(g * WIDTH + __builtin_ctz(static_cast<unsigned>(left)));
        return failed_;
    }

    void get_last(int environment, const State& state) const override {
        const Group& d = *groups_[static_cast<size_t>(environment / WIDTH)];
        const int l = environment % WIDTH;
        get(state.qpos, d.last_qpos, m_.nq, l);
        get(state.qvel, d.last_qvel, m_.nv, l);
        get(state.warmstart, d.last_warmstart, m_.nv, l);
        get(state.act, d.last_act, m_.num_acts, l);
    }

    std::string compare(int environment, const State& state) const override {
        const Group& d = *groups_[static_cast<size_t>(environment / WIDTH)];
        const int l = environment % WIDTH;
        if (!is_same(d.qpos, state.qpos, m_.nq, l)) return "qpos";
        if (!is_same(d.qvel, state.qvel, m_.nv, l)) return "qvel";
        if (!is_same(d.act, state.act, m_.num_acts, l)) return "act";
        return is_same(d.warmstart, state.warmstart, m_.nv, l) ? "" : "qacc_warmstart";
    }

    void put(int environment, const State& state, bool is_last) override {
        Group& d = group(environment);
        const int first = environment % WIDTH;
        // lanes that are left over do what the last one does
        for (int l = first; l <= (environment + 1 == count_ ? WIDTH - 1 : first); ++l) {
            put(d.qpos, state.qpos, m_.nq, l);
            put(d.qvel, state.qvel, m_.nv, l);
            put(d.warmstart, state.warmstart, m_.nv, l);
            put(d.act, state.act, m_.num_acts, l);
            d.bad[l] = 0;
        }
        d.with_result |= is_last << first;
    }

    void drop(int environment) override { group(environment).dropped |= 1 << environment % WIDTH; }

    void store(Record* const* records) override {
        collect_unseen();
        for (int e = 0; e < count_; ++e) {
            Record& r = *records[e];
            Group& d = *groups_[static_cast<size_t>(e / WIDTH)];
            const int l = e % WIDTH;
            r.is_ready = !(bits(d.bad) >> l & 1);
            if (!r.is_ready) continue;
            r.is_mujocos = d.with_result >> l & 1;
            if (r.is_mujocos) continue;
            get_last(e, r.next_last);
            get(r.result.qpos, d.qpos, m_.nq, l);
            get(r.result.qvel, d.qvel, m_.nv, l);
            get(r.result.warmstart, d.warmstart, m_.nv, l);
            get(r.result.act, d.act, m_.num_acts, l);
            for (int output = 0; output < NUM_OUTPUTS; ++output)
                if (r.size(output)) get(r.values(output), output_of(d, output), r.size(output), l);
        }
    }

private:
    static constexpr double LARGEST = 1e10;  // mjMAXVAL

    // The lanes of a group for which MuJoCo has to take the last step, bit by bit.
    int failed(int g) const {
        const Group& d = *groups_[static_cast<size_t>(g)];
        const int used = (1 << std::min(count_ - g * WIDTH, WIDTH)) - 1;
        return bits(d.bad) & used & ~d.dropped;
    }

    void take_stages() {
        for (int stage = 1; stage < 4; ++stage) {
            for (int g = 0; g < num_groups_; ++g) begin_stage(m_, *groups_[static_cast<size_t>(g)], stage);
            forward();
            for (int g = 0; g < num_groups_; ++g) {
                Group& d = *groups_[static_cast<size_t>(g)];
                copy_many(d.stage_acc[stage], d.qacc, m_.nv);
                copy_many(d.stage_act_dot[stage], d.act_dot, m_.num_acts);
            }
        }
        for (int g = 0; g < num_groups_; ++g) end_runge_kutta(m_, *groups_[static_cast<size_t>(g)]);
    }

    // Returns whether the same numbers were there.
    static bool load_own_again(Group& d, const Record& r, int l) {
        if (d.has_own == r.own.empty()) {
            d.has_own = !d.has_own;
            d.whose_own = {};
        }
        if (d.whose_own[static_cast<size_t>(l)] == r.whose_own) return true;
        d.whose_own[static_cast<size_t>(l)] = r.whose_own;
        put(d.own, r.own.data(), static_cast<int>(r.own.size()), l);
        return false;
    }
    static void put(Real* to, const double* from, int n, int l) {
        for (int k = 0; k < n; ++k) lane(to[k], l) = from[k];
    }
    static bool is_same(const Real* numbers, const double* others, int n, int l) {
        for (int k = 0; k < n; ++k) {
            const double number = lane(numbers[k], l);
            if (std::memcmp(&number, others + k, sizeof number)) return false;
        }
        return true;
    }
    // Returns whether the same numbers were there.
    static bool put_again(Real* to, const double* from, int n, int l) {
        bool is_same = true;
        for (int k = 0; k < n; ++k) is_same &= !std::memcmp(&lane(to[k], l), from + k, sizeof *from);
        put(to, from, n, l);
        return is_same;
    }
    static void get(double* to, const Real* from, int n, int l) {
        for (int k = 0; k < n; ++k) to[k] = lane(from[k], l);
    }
    void note_controls(Group& d) const {
        for (int k = 0; k < m_.num_actuators; ++k)
            if (const Actuator& a = m_.actuators[k]; a.is_limited)
                note_clip(d, coverage_->actuator(k), d.ctrl[k], a.low, a.high, CTRL_LOW, CTRL_HIGH);
    }
    // To the records, but of lanes in which it does not count.
    void collect_unseen() {
        for (int g = 0; g < num_groups_; ++g) {
            Group& d = *groups_[static_cast<size_t>(g)];
            const int bad = bits(d.bad);
            for (const auto& [its_lane, active] : d.unseen)
                if (const int e = g * WIDTH + its_lane; e < count_ && !(bad >> its_lane & 1))
                    records_[e]->unseen.push_back(active);
            d.unseen.clear();
        }
    }
    // what MuJoCo would start over from; NaN is no less than anything
    static void find_bad(Group& d, const Real* numbers, int n) {
        for (int k = 0; k < n; ++k) d.bad = d.bad | ~(abs(numbers[k]) < LARGEST);
    }

    // what only those who read it need
    void complete(Group& d, int reads, bool ends_with_step1) const {
        find_bad(d, d.qpos, m_.nq), find_bad(d, d.qvel, m_.nv);
        if (reads_output(reads, CFRC_EXT)) contact_forces(m_, d, d.contact_force);
        if (ends_with_step1) {
            step1(d);
            sense_velocity(d, reads);
        }
        d.has_step1 = ends_with_step1 && !any(d.bad);
        if (reads_output(reads, SITE_XPOS)) place_sites(m_, d);
    }
    // the part of mj_step1 that environments read, or that may warn
    void step1(Group& d) const {
        kinematics(m_, d);
        center_of_mass(m_, d);
        composite_inertia(m_, d);
        velocities(m_, d);
        tendons(m_, d);
    }
    void sense_velocity(Group& d, int reads) const {
        if (reads_output(reads, SENSED_MOTION)) sense_motion(m_, d);
    }
    void sense_acceleration(Group& d, int reads) const {
        if (reads_output(reads, SENSED_FORCES)) sense_forces(m_, d, collider_);
    }
    static const Real* output_of(const Group& d, int output) {
        switch (output) {
            case XPOS: return d.xpos[0];
            case XQUAT: return d.xquat[0];
            case XMAT: return d.xmat[0];
            case SENSED_MOTION:
            case SENSED_FORCES: return d.sensed;
            case XIPOS: return d.xipos[0];
            case CINERT: return d.cinert[0];
            case CVEL: return d.cvel[0];
            case CFRC_EXT: return d.contact_force[0];
            case QFRC_ACTUATOR: return d.actuator;
            case QFRC_CONSTRAINT: return d.constraint;
            case SITE_XPOS: return d.site_pos[0];
            case TEN_LENGTH: return d.tendon_length;
            case ACTUATOR_FORCE: return d.actuator_force;
            default: return d.tendon_velocity;
        }
    }

    // mj_forward
    void forward() {
        waiting_.clear();
        contact_sizes_.clear();
        sections_.tidy();
        for (int g = 0; g < num_groups_; ++g) {
            Group& d = *groups_[static_cast<size_t>(g)];
            if (!d.has_step1) step1(d);
            d.has_step1 = false;
            make_constraints(m_, d, collider_);
            passive_forces(m_, d);
            bias_forces(m_, d);
            smooth_acceleration(m_, d);
            copy_many(d.qacc, d.smooth_acc, m_.nv);
            for (int k = 0; k < m_.nv; ++k) d.constraint[k] = all(0);
            find_own_rows(d);
            if (m_.has_islands) {
                wait_by_island(d, g);
                continue;
            }
            const Section* const whole = m_.is_general ? sections_.find(all_dofs()) : nullptr;
            for (int l = 0; l < WIDTH && g * WIDTH + l < count_; ++l)
                wait(d, whole, g * WIDTH + l, 0, d.num_own_rows[l]);
        }
        if (m_.is_general)
            solve_waiting<true>();
        else
            solve_waiting<false>();
        if (noslip_) hold_friction();
    }

    // what follows the solver where friction is not to creep
    __attribute__((noinline)) void hold_friction() {
        std::sort(waiting_.begin(), waiting_.end(),
                  [](const Waiting& a, const Waiting& b) { return a.environment() < b.environment(); });
        for (size_t k = 0; k < waiting_.size();) {
            const int e = waiting_[k].environment(), l = e % WIDTH;
            Group& d = group(e);
            noslip_->begin(d, l);
            for (; k < waiting_.size() && waiting_[k].environment() == e; ++k) {
                const Waiting& w = waiting_[k];
                double trace = 0;
                for (Dofs left = w.section->dofs; left; left &= left - 1) {
                    const Dof& dof = m_.dofs[__builtin_ctzll(left)];
                    trace += lane(d.M[dof.row_begin + dof.row_size - 1], l);
                }
                const uint64_t branches = noslip_->solve(d, l, d.own_rows[l] + w.begin, w.count(), 1 / trace);
                if (!coverage_->has_path(branches)) d.unseen.push_back({l, {PATH, branches}});
            }
            noslip_->end(d, l);
        }
        for (int g = 0; g < num_groups_; ++g) finish_noslip(m_, *groups_[static_cast<size_t>(g)]);
    }

    // Solves what waits, those with as many rows together.
    template <bool IS_GENERAL> void solve_waiting() {
        std::sort(waiting_.begin(), waiting_.end(), [this](const Waiting& a, const Waiting& b) {
            if (IS_GENERAL && a.section != b.section) return a.section < b.section;
            if (IS_GENERAL && m_.is_elliptic && sizes_of(a) != sizes_of(b)) return sizes_of(a) < sizes_of(b);
            return a.order < b.order;
        });
        size_t next = 0;
        while (next < waiting_.size()) {
            const Waiting* const who = waiting_.data() + next;
            const int most = static_cast<int>(std::min<size_t>(WIDTH, waiting_.size() - next));
            int count = 1, scalars = IS_GENERAL ? who->num_scalars : 0;
            for (; count < most; ++count) {
                if (m_.is_gauss_seidel && who[count].count() != who->count()) break;
                if constexpr (!IS_GENERAL) continue;
                if (!go_together(who[count - 1], who[count], scalars)) break;
                scalars = std::max(scalars, who[count].num_scalars);
            }
            solve<IS_GENERAL>(who, count, scalars);
            next += static_cast<size_t>(count);
        }
    }

    static void find_own_rows(Group& d) {
        int counts[WIDTH] = {};
        for (int r = 0; r < d.num_rows; ++r) {
            const int active = bits(d.rows[r].active);
            for (int l = 0; l < WIDTH; ++l) {
                d.own_rows[l][counts[l]] = r;
                counts[l] += active >> l & 1;
            }
        }
        std::copy_n(counts, WIDTH, d.num_own_rows);
    }

    struct Waiting {
        uint64_t order;          // the number of rows, and whose they are
        const Section* section;  // the island; nullptr: the whole model, if it is not general
        int begin;               // among the rows of the environment
        int num_scalars;         // rows before those of contacts with elliptic cones, which stand at the same places
        int contacts;            // of `contact_sizes_`, with elliptic cones
        int count() const { return static_cast<int>(order >> 32); }
        int environment() const { return static_cast<int>(order & 0xffffffff); }
        int num_others() const { return count() - num_scalars; }
    };
    const ContactSizes& sizes_of(const Waiting& w) const { return contact_sizes_[static_cast<size_t>(w.contacts)]; }
    // Whether lanes may have both of these, which follow each other; `scalars`: the most that those before have.
    bool go_together(const Waiting& before, const Waiting& w, int scalars) const {
        if (w.section != before.section) return false;
        return !m_.is_elliptic
               || (sizes_of(w).begins_with(sizes_of(before))
                   && std::max(scalars, w.num_scalars) + w.num_others() <= MAX_ROWS);
    }
    __attribute__((always_inline)) void wait(Group& d, const Section* section, int environment, int begin, int count) {
        if (coverage_->unseen(coverage_->rows(count)))
            d.unseen.push_back({environment % WIDTH, {coverage_->rows(count), 1}});
        if (!count) return;
        waiting_.push_back(
            {static_cast<uint64_t>(count) << 32 | static_cast<uint64_t>(environment), section, begin, count, 0});
        if (m_.is_elliptic) find_cones(d, waiting_.back());
    }
    __attribute__((noinline)) void find_cones(Group& d, Waiting& w) {
        ContactSizes sizes;
        const int l = w.environment() % WIDTH;
        const int* const rows = d.own_rows[l] + w.begin;
        for (int k = w.count() - 1; k >= 0; --k)
            if (d.rows[rows[k]].contact >= 0) w.num_scalars = k;
        for (int k = w.num_scalars; k < w.count(); ++k)
            if (const int contact = d.rows[rows[k]].contact; contact >= 0)
                if (!sizes.add(m_.pairs[static_cast<size_t>(d.contacts[contact].pair)].condim)) {
                    d.bad[l] = -1;
                    waiting_.pop_back();
                    return;
                }
        w.contacts = static_cast<int>(contact_sizes_.size());
        contact_sizes_.push_back(sizes);
    }
    void wait_by_island(Group& d, int g) {
        choose_start(m_, d);
        Dofs trees[MAX_ROWS];
        for (int r = 0; r < d.num_rows; ++r) trees[r] = trees_of(m_, d.rows[r]);
        for (int l = 0; l < WIDTH && g * WIDTH + l < count_; ++l)
            find_islands(trees, d.own_rows[l], d.num_own_rows[l], [&](Dofs dofs, int begin, int count) {
                const uint64_t which = dofs * 0x9e3779b97f4a7c15;
                if (!coverage_->has_path(which)) d.unseen.push_back({l, {PATH, which}});
                wait(d, sections_.find(dofs), g * WIDTH + l, begin, count);
            });
    }

    Dofs all_dofs() const { return (Dofs{1} << m_.nv) - 1; }
    Group& group(int environment) { return *groups_[static_cast<size_t>(environment / WIDTH)]; }

    // where the numbers of an island are among the model's: of all of it, one after another
    template <bool IS_GENERAL> static int place(const int* places, int k) {
        if constexpr (IS_GENERAL) return places[k];
        return k;
    }

    template <bool IS_GENERAL> void solve(const Waiting* who, int count, int scalars) {
        const Section* const section = IS_GENERAL ? who->section : nullptr;
        const Island& island = IS_GENERAL ? section->island : m_;
        const int* const places = IS_GENERAL ? section->places : nullptr;
        const int* const entries = IS_GENERAL ? section->entries : nullptr;
        pack<IS_GENERAL>(who, count, island, scalars);
        Mask running = none();
        for (int l = 0; l < count; ++l) running[l] = -1;
        const auto load_factor = [&] {
            collect<IS_GENERAL>(problem_->LD, &Group::LD, who, count, island.num_inertia, entries);
            collect<IS_GENERAL>(problem_->LD_inverse, &Group::LD_inverse, who, count, island.nv, places);
        };
        if (m_.is_gauss_seidel) {
            load_factor();
            solve_gauss_seidel(m_, *problem_, *dual_, running);
        } else
            Newton<IS_GENERAL>::solve(island, *problem_, running, load_factor);
        for (int l = 0; l < count; ++l) {
            const int e = who[l].environment(), from = e % WIDTH;
            Group& d = group(e);
            if (bits(problem_->bad) >> l & 1) d.bad[from] = -1;
            const uint64_t branches = problem_->branches_of(l);
            if (!coverage_->has_path(branches)) d.unseen.push_back({from, {PATH, branches}});
            move_lane<IS_GENERAL>(d.qacc, from, problem_->qacc, l, island.nv, places);
            move_lane<IS_GENERAL>(d.constraint, from, problem_->constraint, l, island.nv, places);
            for (int r = 0; r < island.num_frictions; ++r) {
                const int number = coverage_->friction(place<IS_GENERAL>(IS_GENERAL ? section->frictions : nullptr, r));
                const int unseen = coverage_->unseen(number);
                if (!unseen) continue;
                const double force = lane(problem_->force[problem_->num_equalities + r], l),
                             most = lane(problem_->friction[r], l);
                const int state = force == most ? PULLS : force == -most ? PUSHES : STICKS;
                if (unseen & state) d.unseen.push_back({from, {number, static_cast<uint64_t>(state)}});
            }
            for (int k = 0; k < packed_[l].count; ++k)
                if (const int r = packed_[l].rows[k]; !IS_GENERAL || r >= 0)
                    lane(d.rows[r].force, from) = lane(problem_->force[k], l);
        }
    }

    template <bool IS_GENERAL>
    static void move_lane(Real* to, int to_lane, const Real* from, int from_lane, int n, const int* places) {
        double* const out = reinterpret_cast<double*>(to) + to_lane;
        const double* const in = reinterpret_cast<const double*>(from) + from_lane;
        for (int k = 0; k < n; ++k) out[place<IS_GENERAL>(places, k) * WIDTH] = in[k * WIDTH];
    }

    // what the lanes of the solver have of an array: numbers of environments in any groups
    template <bool IS_GENERAL>
    void collect(Real* to, Real* Group::* array, const Waiting* who, int count, int n, const int* places) {
        const double* from[WIDTH];
        for (int l = 0; l < WIDTH; ++l) {
            const int e = who[l < count ? l : 0].environment();
            from[l] = reinterpret_cast<const double*>(group(e).*array) + e % WIDTH;
        }
        for (int k = 0; k < n; ++k)
            to[k] = gather([&](int l) { return from[l][place<IS_GENERAL>(places, k) * WIDTH]; });
    }

    // Finds the rows of environments that lanes of the solver have.
    template <bool IS_GENERAL> void place_rows(const Waiting* who, int count, int scalars) {
        for (int l = 0; l < WIDTH; ++l) {
            packed_[l] = {nullptr, 0};
            if (l >= count) continue;
            const Waiting& w = who[l];
            const int* const rows = group(w.environment()).own_rows[w.environment() % WIDTH] + w.begin;
            packed_[l] = {rows, w.count()};
            if (!IS_GENERAL || w.num_scalars == scalars || !w.num_others()) continue;
            int* const moved = moved_rows_[l];
            std::fill(moved + w.num_scalars, moved + scalars, -1);
            std::copy_n(rows, w.num_scalars, moved);
            std::copy_n(rows + w.num_scalars, w.num_others(), moved + scalars);
            packed_[l] = {moved, scalars + w.num_others()};
        }
    }

    template <bool IS_GENERAL> void pack(const Waiting* who, int count, const Island& island, int scalars) {
        Problem& p = *problem_;
        const Section* const section = IS_GENERAL ? who->section : nullptr;
        const int* const places = IS_GENERAL ? section->places : nullptr;
        const int* const entries = IS_GENERAL ? section->entries : nullptr;
        const int n = island.nv;
        if (m_.is_gauss_seidel)
            for (int i = 0; i < n; ++i) {
                // its diagonal
                const int at = m_.dofs[i].row_begin + m_.dofs[i].row_size - 1;
                collect<true>(p.M + at, &Group::M, who, count, 1, &at);
            }
        else
            collect<IS_GENERAL>(p.M, &Group::M, who, count, island.num_inertia, entries);
        collect<IS_GENERAL>(p.smooth, &Group::smooth, who, count, n, places);
        collect<IS_GENERAL>(p.smooth_acc, &Group::smooth_acc, who, count, n, places);
        collect<IS_GENERAL>(p.warmstart, &Group::warmstart, who, count, n, places);
        p.num_rows = IS_GENERAL ? scalars + who[count - 1].num_others() : who[count - 1].count();
        place_rows<IS_GENERAL>(who, count, scalars);
        p.bad = none();
        if constexpr (IS_GENERAL)
            for (int k = p.num_cones = p.num_equalities = 0; k < who->count(); ++k)
                p.num_equalities += group(who->environment()).own_rows[who->environment() % WIDTH][who->begin + k]
                                    < m_.num_equality_rows;
        std::fill(p.branches, p.branches + WIDTH, uint64_t{0});
        const Group* groups[WIDTH];
        int owns[WIDTH];
        for (int l = 0; l < WIDTH; ++l) {
            const int e = who[l < count ? l : 0].environment();
            groups[l] = &group(e), owns[l] = e % WIDTH;
        }
        p.has_start = m_.has_islands;
        for (int l = 0; l < WIDTH && p.has_start; ++l) p.is_cold[l] = groups[l]->is_cold[owns[l]];
        // all lanes have those of friction; their J is that of the problem
        for (int r = 0; r < island.num_frictions; ++r) {
            const int number = place<IS_GENERAL>(IS_GENERAL ? section->frictions : nullptr, r);
            const int row = p.num_equalities + r;
            if (groups[0]->has_own) {
                const int own[] = {m_.own_of_friction(number), m_.own_of_friction(number) + 1};
                collect<true>(p.R + row, &Group::own, who, count, 1, own);
                collect<true>(p.friction + r, &Group::own, who, count, 1, own + 1);
            } else
                p.R[row] = all(m_.frictions[number].R), p.friction[r] = all(m_.frictions[number].force);
            p.D[row] = 1 / p.R[row];
            p.aref[row] =
                gather([&](int l) { return lane(groups[l]->rows[m_.num_equality_rows + number].aref, owns[l]); });
            if (IS_GENERAL) p.set_friction(island, r);
        }
        for (int k = 0; k < p.num_rows; ++k) {
            if (k == p.num_equalities) k += island.num_frictions;
            if (k == p.num_rows) break;
            const Row* rows[WIDTH];
            const double* from[WIDTH];
            p.dofs[k] = 0;
            for (int l = 0; l < WIDTH; ++l) {
                const int r = k < packed_[l].count ? packed_[l].rows[k] : -1;
                if (r < 0) {
                    rows[l] = &p.no_row, from[l] = reinterpret_cast<const double*>(p.nothing);
                    continue;
                }
                const Group& d = *groups[l];
                rows[l] = d.rows + r;
                from[l] = reinterpret_cast<const double*>(rows[l]->dof < 0 ? d.J + r * m_.nv : p.nothing) + owns[l];
                p.dofs[k] |= rows[l]->dofs;
            }
            if constexpr (IS_GENERAL) p.dofs[k] = section->own_dofs(p.dofs[k]);
            const auto packed = [&](Real Row::* number) {
                return gather([&](int l) { return lane(rows[l]->*number, owns[l]); });
            };
            if (IS_GENERAL && m_.is_elliptic) p.add_cone(m_, k, rows, groups, owns);
            p.D[k] = packed(&Row::D), p.aref[k] = packed(&Row::aref), p.R[k] = packed(&Row::R);
            Real* const J = p.J + k * n;
            for (int i = 0; i < n; ++i)
                J[i] = gather([&](int l) { return from[l][place<IS_GENERAL>(places, i) * WIDTH]; });
            for (int l = 0; l < WIDTH; ++l)
                if (const int dof = rows[l]->dof; dof >= 0)
                    lane(J[IS_GENERAL ? section->number[dof] : dof], l) = rows[l]->is_negative ? -1 : 1;
        }
    }

    const Description& m_;
    Collider collider_;
    const Coverage *coverage_ = nullptr, *of_last_ = nullptr, *of_others_ = nullptr;
    Record* const* records_ = nullptr;
    std::unique_ptr<Problem> problem_;
    Sections sections_;
    std::unique_ptr<Dual> dual_;
    std::unique_ptr<NoSlip> noslip_;
    std::vector<std::unique_ptr<Group>> groups_;
    std::vector<Waiting> waiting_;
    std::vector<ContactSizes> contact_sizes_;
    std::vector<int> failed_;
    // the rows that each lane of the solver has; -1: none
    struct {
        const int* rows;
        int count;
    } packed_[WIDTH];
    int moved_rows_[WIDTH][MAX_ROWS];  // where those of contacts do not follow the others
    int count_ = 0, num_groups_ = 0;
};

}  // namespace cypool::lanes::CYPOOL_LANES

#pragma GCC pop_options
