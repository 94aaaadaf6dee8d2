// One environment's part of a step in lanes: what goes in, what comes out, and how MuJoCo repeats its last mj_step.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "cypool/envs/shared/lanes/description.h"

namespace cypool::lanes {

// Arrays of mjData that an environment may read after a step, next to positions and velocities of joints.
enum Output {
    XPOS,
    XQUAT,
    XMAT,
    XIPOS,
    CINERT,
    CVEL,
    CFRC_EXT,
    QFRC_ACTUATOR,
    QFRC_CONSTRAINT,
    SITE_XPOS,
    TEN_LENGTH,
    TEN_VELOCITY,
    ACTUATOR_FORCE,
    SENSED_MOTION,  // sensors of positions and velocities
    SENSED_FORCES,  // those of what the solver finds
    NUM_OUTPUTS
};
struct OutputArray {
    const char* name;
    int64_t mjModel::* rows;
    int columns;
};
inline constexpr OutputArray OUTPUTS[NUM_OUTPUTS] = {
    {"xpos", &mjModel::nbody, 3},
    {"xquat", &mjModel::nbody, 4},
    {"xmat", &mjModel::nbody, 9},
    {"xipos", &mjModel::nbody, 3},
    {"cinert", &mjModel::nbody, 10},
    {"cvel", &mjModel::nbody, 6},
    {"cfrc_ext", &mjModel::nbody, 6},
    {"qfrc_actuator", &mjModel::nv, 1},
    {"qfrc_constraint", &mjModel::nv, 1},
    {"site_xpos", &mjModel::nsite, 3},
    {"ten_length", &mjModel::ntendon, 1},
    {"ten_velocity", &mjModel::ntendon, 1},
    {"actuator_force", &mjModel::nu, 1},
    {"sensordata", &mjModel::nsensordata, 1},
    {"sensordata", &mjModel::nsensordata, 1},
};
inline constexpr int NO_OUTPUTS = 0, ALL_OUTPUTS = (1 << NUM_OUTPUTS) - 1;
constexpr bool reads_output(int reads, int output) { return reads >> output & 1; }

struct DeleteData {
    void operator()(mjData* d) const { mj_deleteData(d); }
};
using OwnData = std::unique_ptr<mjData, DeleteData>;

// something that was active in a step: a number of `Coverage` or `PATH`, and its branches, bit by bit
struct Active {
    int number;
    uint64_t branches;
};

// of a model's sizes, one array after another
struct State {
    double *qpos, *qvel, *warmstart, *act;
};

// Where mj_step has taken all of an environment's steps lately, lanes are only tried now and then.
class Backoff {
public:
    // Whether lanes are to be tried.
    bool is_due() {
        if (pause_ == 0) return true;
        --pause_;
        return false;
    }
    void note(bool is_by_mujoco) {
        num_ = is_by_mujoco ? num_ + 1 : 0;
        if (num_ >= 4) pause_ = 16;
    }

private:
    int num_ = 0, pause_ = 0;
};

class Record {
public:
    State state, result;        // before the step, and after it
    State next_last;            // before the last mj_step of it
    double* ctrl;               // with the places of mocap bodies
    std::vector<double> own;    // the numbers in which its model differs; empty: there are none
    uint64_t whose_own = 0;     // another one for other numbers; 0: there are none
    std::vector<double> drawn;  // those from which they follow
    std::string written;        // numbers of its model that the environment wrote itself
    bool is_ready = false;      // there is a result that nobody has taken
    bool is_mujocos = false;    // mj_step itself took the last step of it
    int num_by_mujoco = 0;      // MuJoCo's steps of it that mj_step took
    const bool ends_with_step1;
    bool is_stale = false;  // mjData has the result, but not what MuJoCo computes on the way there
    Backoff backoff;
    std::vector<Active> unseen;  // what was active that no compared step had

    // `reads`: which outputs the environment reads, bit by bit. `ends_with_step1`: they are of the state after a step.
    Record(const mjModel* m, mjData* d, int reads, bool ends_with_step1)
        : ends_with_step1(ends_with_step1),
          m_(m),
          d_(d),
          reads_(reads),
          warmstart_(const_cast<double*>(array_of<double>(d->raw, library().data, "qacc_warmstart"))),
          body_forces_(array_of<double>(d->raw, library().data, "xfrc_applied")),
          joint_forces_(array_of<double>(d->raw, library().data, "qfrc_applied")),
          equalities_(array_of<unsigned char>(d->raw, library().data, "eq_active")),
          given_equalities_(array_of<unsigned char>(m->raw, library().model, "eq_active0")) {
        for (int output = 0; output < NUM_OUTPUTS; ++output) {
            const double* const array = array_of<double>(d->raw, library().data, OUTPUTS[output].name);
            const int64_t size = reads_output(reads, output) ? m->*OUTPUTS[output].rows * OUTPUTS[output].columns : 0;
            views_[output] = {const_cast<double*>(array), size, num_values_};
            num_values_ += size;
        }
        values_.resize(static_cast<size_t>(num_values_));
        numbers_.resize(static_cast<size_t>(4 * state_size() + 2 * num_inputs()));
        double* next = numbers_.data();
        for (State* each : {&state, &result, &next_last, &last_}) {
            *each = {next, next + m->nq, next + m->nq + m->nv, next + m->nq + 2 * m->nv};
            next += state_size();
        }
        ctrl = next, last_ctrl_ = next + num_inputs();
        for (const Sensor& s : known_sensors(m))
            if (reads_output(reads, output_of(s))) sensors_.push_back(s);
    }

    Record(const Record&) = delete;
    Record& operator=(const Record&) = delete;

    int reads() const { return reads_; }
    // Where lanes write an output.
    double* values(int output) { return values_.data() + views_[output].first; }
    int size(int output) const { return static_cast<int>(views_[output].size); }

    // Takes the state and the controls of mjData; false: mj_step has to step it.
    bool prepare() {
        is_ready = false;
        for (int64_t k = 0; k < m_->nu; ++k)
            if (!(std::fabs(d_->ctrl[k]) < 1e10)) return false;
        for (int64_t k = 0; k < 3 * m_->nmocap; ++k)
            if (!std::isfinite(d_->mocap_pos[k])) return false;
        for (int64_t k = 0; k < 4 * m_->nmocap; ++k)
            if (!std::isfinite(d_->mocap_quat[k])) return false;
        for (int64_t k = 0; k < 6 * m_->nbody; ++k)
            if (body_forces_[k] != 0) return false;
        for (int64_t k = 0; k < m_->nv; ++k)
            if (joint_forces_[k] != 0) return false;
        for (int64_t k = 0; k < m_->neq; ++k)
            if (equalities_[k] != given_equalities_[k]) return false;
        get(state);
        get_inputs(ctrl);
        return true;
    }

    // Makes the result that of mjData, if it follows from what is there; else mj_step has to step it.
    bool take(int frames) {
        if (!is_ready) return false;
        is_ready = false;
        if (!is_now(state) || !has_inputs(ctrl)) return false;
        put(result);
        std::swap(last_, next_last);
        for (int k = 0; k < frames; ++k) {
            last_time_ = d_->time;
            d_->time += m_->opt.timestep;
        }
        copy(last_ctrl_, ctrl, num_inputs());
        for (int output = 0; output < SENSED_MOTION; ++output) copy(views_[output].array, values(output), size(output));
        for (const Sensor& s : sensors_) {
            const int output = output_of(s);
            copy(views_[output].array + s.address, values(output) + s.address, s.size);
        }
        is_stale = true;
        return true;
    }

    // Repeats the last mj_step with MuJoCo: all of mjData is as if it had stepped. Returns what lanes had otherwise.
    // Changes nothing if it throws: MuJoCo fails, or a callback was set after the step and takes part in it.
    std::string repeat(bool has_callback) {
        if (!is_stale) return "";
        const std::string before(static_cast<const char*>(d_->buffer), static_cast<size_t>(d_->nbuffer));
        const double time = d_->time;
        // taken over from another environment, the result is only in mjData
        get(result);
        for (const View& view : views_) copy(values_.data() + view.first, view.array, view.size);
        std::string differing;
        try {
            differing = repeat_taken();
            if (has_callback && !differing.empty())
                throw std::runtime_error("a MuJoCo callback affects a step that was taken without it: reset first");
        } catch (...) {
            std::memcpy(d_->buffer, before.data(), before.size());
            d_->time = time;
            throw;
        }
        is_stale = false;
        return differing;
    }

    // As `repeat`, right after `take`. If it throws, mjData has anything.
    std::string repeat_taken() {
        // the next ones may be there already
        std::vector<double> inputs(static_cast<size_t>(num_inputs()));
        get_inputs(inputs.data());
        put(last_);
        put_inputs(last_ctrl_);
        d_->time = last_time_;
        std::string differing = step_and_compare(1, *this);
        put_inputs(inputs.data());
        return differing;
    }

    // Before the last mj_step of the step whose result was taken.
    const double* last_qpos() const { return last_.qpos; }

    // Repeats the whole step with MuJoCo, elsewhere than in mjData. Returns what lanes had otherwise.
    std::string check(int frames) const {
        const OwnData d(make_data(m_, false));
        Record mujocos(m_, d.get(), reads_, ends_with_step1);
        mujocos.put(state);
        mujocos.put_inputs(ctrl);
        try {
            return mujocos.step_and_compare(frames, *this);
        } catch (const std::runtime_error& warning) {
            // mj_step has no result that lanes could have
            return warning.what();
        }
    }

    // Has MuJoCo take one step for another record, from its `next_last`, in the mjData of this one. `is_last`: it is
    // the last one of the result. false, or a std::runtime_error: MuJoCo cannot do it.
    bool step_for(Record& other, bool is_last) {
        m_ = other.m_;
        put(other.next_last);
        put_inputs(other.ctrl);
        if (is_last ? !step(1) : simulate(m_, d_, 1, false) != 0) return false;
        get(other.result);
        if (is_last)
            for (const View& view : views_) copy(other.values_.data() + view.first, view.array, view.size);
        return true;
    }

    // Has MuJoCo repeat the last step of another record's result in the mjData of this one. Returns what lanes had
    // otherwise.
    std::string check_last(const Record& other) {
        m_ = other.m_;
        put(other.next_last);
        put_inputs(other.ctrl);
        return step_and_compare(1, other);
    }

    // Takes over from an environment of which mjData was copied.
    void copy_from(const Record& other) {
        is_ready = false;
        is_stale = other.is_stale;
        copy(last_.qpos, other.last_.qpos, state_size());
        last_time_ = other.last_time_;
        copy(last_ctrl_, other.last_ctrl_, num_inputs());
    }

private:
    struct View {
        double* array;
        int64_t size, first;
    };

    // Has MuJoCo step mjData. false: it is unstable.
    bool step(int frames) {
        if (simulate(m_, d_, frames, reads_output(reads_, CFRC_EXT))) return false;
        if (ends_with_step1) warned(m_, d_, [this] { mj_step1(m_, d_); });
        return true;
    }

    // The same. Returns in what the result of a record differs.
    std::string step_and_compare(int frames, const Record& other) {
        if (!step(frames)) return "an unstable simulation";
        std::string differing;
        const auto compare = [&differing](const char* name, bool is_same) {
            if (!is_same) differing += differing.empty() ? name : std::string(", ") + name;
        };
        compare("qpos", same(other.result.qpos, d_->qpos, m_->nq));
        compare("qvel", same(other.result.qvel, d_->qvel, m_->nv));
        compare("qacc_warmstart", same(other.result.warmstart, warmstart_, m_->nv));
        compare("act", same(other.result.act, d_->act, m_->na));
        const double* const values = other.values_.data();
        for (int output = 0; output < SENSED_MOTION; ++output) {
            const View& view = views_[output];
            compare(OUTPUTS[output].name, same(values + view.first, view.array, view.size));
        }
        bool senses_the_same = true;
        for (const Sensor& s : sensors_) {
            const View& sensed = views_[output_of(s)];
            senses_the_same &= same(values + sensed.first + s.address, sensed.array + s.address, s.size);
        }
        compare("sensors", senses_the_same);
        return differing;
    }

    // controls, and positions and rotations of mocap bodies
    int64_t num_inputs() const { return m_->nu + 7 * m_->nmocap; }
    void get_inputs(double* inputs) const {
        copy(inputs, d_->ctrl, m_->nu);
        copy(inputs + m_->nu, d_->mocap_pos, 3 * m_->nmocap);
        copy(inputs + m_->nu + 3 * m_->nmocap, d_->mocap_quat, 4 * m_->nmocap);
    }
    void put_inputs(const double* inputs) {
        copy(d_->ctrl, inputs, m_->nu);
        copy(d_->mocap_pos, inputs + m_->nu, 3 * m_->nmocap);
        copy(d_->mocap_quat, inputs + m_->nu + 3 * m_->nmocap, 4 * m_->nmocap);
    }
    bool has_inputs(const double* inputs) const {
        return same(inputs, d_->ctrl, m_->nu) && same(inputs + m_->nu, d_->mocap_pos, 3 * m_->nmocap)
               && same(inputs + m_->nu + 3 * m_->nmocap, d_->mocap_quat, 4 * m_->nmocap);
    }
    int64_t state_size() const { return m_->nq + 2 * m_->nv + m_->na; }
    static Output output_of(const Sensor& s) { return is_of_forces(s.type) ? SENSED_FORCES : SENSED_MOTION; }
    static void copy(double* to, const double* from, int64_t n) { std::copy_n(from, n, to); }
    static bool same(const double* a, const double* b, int64_t n) {
        // arrays without numbers may have no address
        return n == 0 || !std::memcmp(a, b, static_cast<size_t>(n) * sizeof *a);
    }
    void get(State& s) const {
        copy(s.qpos, d_->qpos, m_->nq);
        copy(s.qvel, d_->qvel, m_->nv);
        copy(s.warmstart, warmstart_, m_->nv);
        copy(s.act, d_->act, m_->na);
    }
    void put(const State& s) {
        copy(d_->qpos, s.qpos, m_->nq);
        copy(d_->qvel, s.qvel, m_->nv);
        copy(warmstart_, s.warmstart, m_->nv);
        copy(d_->act, s.act, m_->na);
    }
    bool is_now(const State& s) const {
        return same(s.qpos, d_->qpos, m_->nq) && same(s.qvel, d_->qvel, m_->nv) && same(s.warmstart, warmstart_, m_->nv)
               && same(s.act, d_->act, m_->na);
    }

    const mjModel* m_;
    mjData* d_;
    int reads_;
    double* warmstart_;
    const double *body_forces_, *joint_forces_;
    const unsigned char *equalities_, *given_equalities_;  // which are active
    // before the last mj_step of the step whose result mjData has
    State last_;
    double last_time_ = 0, *last_ctrl_;
    std::vector<double> numbers_;  // of all states and controls
    View views_[NUM_OUTPUTS] = {};
    std::vector<Sensor> sensors_;  // those that it reads
    int64_t num_values_ = 0;
    std::vector<double> values_;
};

}  // namespace cypool::lanes
