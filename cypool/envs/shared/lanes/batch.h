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
#include "cypool/envs/shared/lanes/actuation.h"
#include "cypool/envs/shared/lanes/free_body.h"
#include "cypool/envs/shared/lanes/integrate.h"
#include "cypool/envs/shared/lanes/equality.h"
#include "cypool/envs/shared/lanes/constraint.h"
#include "cypool/envs/shared/lanes/collision.h"
#include "cypool/envs/shared/lanes/contact_forces.h"
#include "cypool/envs/shared/lanes/sensors.h"
#include "cypool/envs/shared/lanes/cone.h"
#include "cypool/envs/shared/lanes/line_search.h"
#include "cypool/envs/shared/lanes/problem.h"
#include "cypool/envs/shared/lanes/newton.h"
#include "cypool/envs/shared/lanes/gauss_seidel.h"
#include "cypool/envs/shared/lanes/islands.h"
#include "cypool/envs/shared/lanes/noslip.h"

#include "cypool/envs/shared/lanes/target.h"

namespace cypool::lanes::CYPOOL_LANES {

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

    template <bool IS_GENERAL> void solve_waiting();
    static void find_own_rows(Group& d);
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
    bool go_together(const Waiting& before, const Waiting& w, int scalars) const;
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
    void wait_by_island(Group& d, int g);
    Dofs all_dofs() const { return (Dofs{1} << m_.nv) - 1; }
    Group& group(int environment) { return *groups_[static_cast<size_t>(environment / WIDTH)]; }

    template <bool IS_GENERAL> static int place(const int* places, int k);
    template <bool IS_GENERAL> void solve(const Waiting* who, int count, int scalars);
    template <bool IS_GENERAL>
    static void move_lane(Real* to, int to_lane, const Real* from, int from_lane, int n, const int* places);
    template <bool IS_GENERAL> void collect(Real* to, Real* Group::* array, int n, const int* places) const;
    template <bool IS_GENERAL> void place_rows(const Waiting* who, int count, int scalars);
    template <bool IS_GENERAL> void pack(const Waiting* who, int count, const Island& island, int scalars);
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
    // the environments that the lanes of the solver have: their groups, and their lanes of those
    const Group* groups_of_[WIDTH];
    int lanes_of_[WIDTH];
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

#include "cypool/envs/shared/lanes/packing.h"
