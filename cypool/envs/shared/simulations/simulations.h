// Simulations of one MuJoCo model: rows of arrays. A call takes rows to lanes, or to the mjData of a thread, and back.
#pragma once

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cypool/envs/shared/mujoco/fields.h"
#include "cypool/envs/shared/lanes/poses.h"
#include "cypool/envs/shared/lanes/stepper.h"

namespace cypool {

// Copies a model of MuJoCo's Python package, by its address.
inline mjModel* copy_model(size_t address) {
    const auto copy = reinterpret_cast<RawModel* (*)(RawModel*, const RawModel*)>(lanes::exported("mj_copyModel"));
    RawModel* made = nullptr;
    guarded([&] { made = copy(nullptr, reinterpret_cast<const RawModel*>(address)); });
    if (!made) throw std::bad_alloc();
    return new mjModel(made);
}

// Arrays of mjData that have the same size in each step.
inline std::vector<ArrayField> data_arrays() { return library().data; }
// Whether a state has parts that are no numbers to write to: of plug-ins, of what sleeps, of a past.
inline bool has_hidden_state(const mjModel* m) {
    return m->nplugin > 0 || (m->opt.enableflags & library().mjENBL_SLEEP) || size_of(m, "nhistory") > 0;
}
inline int num_warnings() { return library().mjNWARNING; }

// What arrays of mjData are for a step. MuJoCo looks whether a state is finite, but not whether inputs are.
enum Role { RESULT, STATE, INPUT };
inline Role role_of(std::string_view name) {
    for (const char* each : {"time", "qpos", "qvel", "qacc_warmstart", "ctrl", "userdata"})
        if (name == each) return STATE;
    for (const char* each : {"act", "qfrc_applied", "xfrc_applied", "eq_active", "mocap_pos", "mocap_quat"})
        if (name == each) return INPUT;
    return RESULT;
}
// what mj_kinematics computes
inline constexpr std::string_view KINEMATIC[] = {"xpos",  "xquat",     "xmat",      "xipos",     "ximat",    "xanchor",
                                                 "xaxis", "geom_xpos", "geom_xmat", "site_xpos", "site_xmat"};

class Simulations {
public:
    // FILL: as FORWARD, for the array that was added last
    enum Call { STEP, FORWARD, FILL, RESET, SET_CONST };

    // the call that `run` makes: of the rows where `chosen` is not zero, all if it is null
    Call call = STEP;
    int frames = 1, keyframe = -1;
    const unsigned char* chosen = nullptr;
    lanes::Stepper stepper;

    // `warnings`: of each row, one number for each of mjtWarning.
    Simulations(const mjModel* m, int64_t count, int* warnings)
        : m_(m),
          count_(count),
          warnings_(warnings),
          reset_keyframe_(reinterpret_cast<ResetKeyframe>(lanes::exported("mj_resetDataKeyframe"))),
          until_check_(static_cast<size_t>(count)),
          backoffs_(static_cast<size_t>(count)),
          sensors_(lanes::known_sensors(m)) {
        for (int64_t e = 0; e < count; ++e)
            until_check_[static_cast<size_t>(e)] = static_cast<int>(1 + 131 * e % CHECK_EVERY);
    }

    // Has calls keep an array of mjData in these rows, or parts of it, (offset, size) in bytes, one behind the other.
    void add(const std::string& name, char* rows, const std::vector<std::pair<int64_t, int64_t>>& parts) {
        Column c;
        c.name = name, c.rows = rows, c.role = role_of(name);
        for (const auto& [offset, size] : parts) {
            c.bytes += size;
            if (!c.parts.empty() && c.parts.back().first + c.parts.back().second == offset)
                c.parts.back().second += size;
            else
                c.parts.emplace_back(offset, size);
        }
        const Library& l = library();
        if (const Place* const inside = place_inside(name))
            c.place = *inside, c.is_inside = true;
        else
            for (const ArrayField& each : l.data)
                if (each.name == name) c.place = {each.offset, each.item_bytes};
        if (c.place.offset < 0) throw std::invalid_argument("no " + name);
        if (c.role == RESULT) {
            Source source = WHOLE_STEP;
            // after RK4 they are of its last stage
            if (m_->opt.integrator != mjINT_RK4
                && std::find(std::begin(KINEMATIC), std::end(KINEMATIC), name) != std::end(KINEMATIC))
                source = KINEMATICS;
            for (int output = 0; output < lanes::SENSED_MOTION; ++output)
                if (name == lanes::OUTPUTS[output].name && output != lanes::CFRC_EXT)
                    source = LANES, reads_ |= 1 << output;
            if (name == "sensordata" && are_of_lanes(c))
                source = LANES, reads_ |= 1 << lanes::SENSED_MOTION | 1 << lanes::SENSED_FORCES;
            source_ = std::max(source_, source);
        }
        columns_.push_back(std::move(c));
        free_.clear();
    }

    // Gives each row a model with an array of its own, in these rows.
    void expand(const Field& field, char* rows) {
        const size_t bytes = field.rows * field.columns * field.item_bytes;
        const size_t offset = expanded_.empty() ? 0 : (expanded_.back().offset + expanded_.back().bytes + 7) / 8 * 8;
        expanded_.push_back({field, rows, bytes, offset});
        own_.resize(static_cast<size_t>(count_));
        for (Own& own : own_) {
            if (!own.model) own.model.reset(new ModelStruct(m_));
            own.numbers.resize(offset + bytes);
            own.is_current = false;
            for (const Expanded& each : expanded_)
                if (!each.field.is_option)
                    at<char*>(own.model->get(), {static_cast<int64_t>(each.field.offset), 8}) =
                        own.numbers.data() + each.offset;
        }
        free_.clear();
    }

    // Whether MuJoCo repeats each last step in lanes, for fields that lanes do not compute.
    bool repeats_last() const { return source_ == WHOLE_STEP; }

    // Makes the call for a range of rows; -1: a Python exception is set.
    int run(int64_t begin, int64_t end) {
        try {
            std::unique_ptr<Worker> worker = borrow();
            const int status = call == STEP ? step(begin, end, *worker) : 0;
            for (int64_t e = begin; call != STEP && e < end; ++e)
                if (is_chosen(e)) try_each(e, [&] { one(e, *worker); });
            const std::lock_guard<std::mutex> lock(mutex_);
            free_.push_back(std::move(worker));
            return status;
        } catch (const std::exception& error) {
            for (int64_t e = begin; e < end; ++e) fail(e, error.what());
            return 0;
        }
    }

    // Errors of the last call, of rows that are as they were before it.
    std::map<int64_t, std::string> take_errors() {
        const std::lock_guard<std::mutex> lock(mutex_);
        return std::exchange(errors_, {});
    }
    int64_t steps_alone() const { return alone_.load(); }

    // Puts a row into other data of the model, and computes all that follows.
    void pose(int64_t e, mjData* d) {
        const std::unique_ptr<Worker> worker = borrow();
        const mjModel* const m = model_of(e, slot(*worker, 0));
        load(e, d);
        counted(m, d, nullptr, [=] { mj_forward(m, d); });
    }

private:
    static constexpr int CHECK_EVERY = 997;  // of MuJoCo's steps in lanes, mj_step repeats one
    enum Source { LANES, KINEMATICS, WHOLE_STEP };
    using ResetKeyframe = void (*)(const RawModel*, RawData*, int);

    struct Column {
        std::string name;
        char* rows = nullptr;
        std::vector<std::pair<int64_t, int64_t>> parts;
        int64_t bytes = 0;  // of a row
        Place place;        // of the pointer, or of the number itself
        bool is_inside = false;
        Role role = RESULT;

        char* row(int64_t e) const { return rows + e * bytes; }
        char* array(mjData* d) const { return is_inside ? &at<char>(d->raw, place) : at<char*>(d->raw, place); }
        void get(int64_t e, const char* from) const {
            char* to = row(e);
            for (const auto& [offset, size] : parts) {
                std::memcpy(to, from + offset, static_cast<size_t>(size));
                to += size;
            }
        }
        void get(int64_t e, mjData* d) const {
            if (bytes) get(e, array(d));
        }
    };
    struct Expanded {
        Field field;
        char* rows;
        size_t bytes, offset;  // of a row, and of its copy in `Own`
        char* row(int64_t e) const { return rows + static_cast<size_t>(e) * bytes; }
    };
    // of a row: a model with a copy of the row's numbers, as others may write to the row in the middle of a call
    struct Own {
        std::unique_ptr<ModelStruct> model;
        std::vector<char> numbers;
        bool is_current = false;  // they are those of the row, and finite
        bool is_read = false;     // by lanes; then `whose` is 0 if they refuse them
        std::vector<double> of_lanes;
        uint64_t whose = 0;
    };
    // a place for an environment in lanes
    struct Slot {
        std::unique_ptr<ModelStruct> raw;
        std::unique_ptr<mjModel> view;
        std::unique_ptr<lanes::Record> record;
        int64_t row = -1;
    };
    // of a thread, for the time of a call
    struct Worker {
        lanes::OwnData data;
        std::vector<Slot> slots;
        std::vector<lanes::Record*> records;
    };

    // Whether lanes have all these sensors.
    bool are_of_lanes(const Column& sensed) const {
        int64_t known = 0;
        for (const auto& [offset, size] : sensed.parts)
            for (const lanes::Sensor& s : sensors_) {
                const int64_t begin = std::max<int64_t>(offset, 8 * s.address);
                known += std::max<int64_t>(std::min<int64_t>(offset + size, 8 * (s.address + s.size)) - begin, 0);
            }
        return known == sensed.bytes;
    }
    static const Place* place_inside(const std::string& name) {
        const Library& l = library();
        return name == "time" ? &l.time : name == "ncon" ? &l.ncon : name == "nefc" ? &l.nefc : nullptr;
    }
    bool is_chosen(int64_t e) const { return !chosen || chosen[e]; }
    void fail(int64_t e, const std::string& why) {
        const std::lock_guard<std::mutex> lock(mutex_);
        errors_[e] = why;
    }
    template <class Function> void try_each(int64_t e, const Function& function) {
        try {
            function();
        } catch (const std::exception& error) {
            fail(e, error.what());
        }
    }

    std::unique_ptr<Worker> borrow() {
        {
            const std::lock_guard<std::mutex> lock(mutex_);
            if (!free_.empty()) {
                std::unique_ptr<Worker> worker = std::move(free_.back());
                free_.pop_back();
                return worker;
            }
        }
        auto worker = std::make_unique<Worker>();
        worker->data.reset(make_data(m_, false));
        return worker;
    }
    Slot& slot(Worker& worker, size_t k) {
        while (worker.slots.size() <= k) {
            worker.slots.emplace_back();
            Slot& made = worker.slots.back();
            if (!own_.empty()) {
                made.raw.reset(new ModelStruct(m_));
                made.view.reset(new mjModel(made.raw->get()));
            }
            made.record.reset(new lanes::Record(made.view ? made.view.get() : m_, worker.data.get(), reads_, false));
        }
        return worker.slots[k];
    }

    // Returns the model of a row. Throws if some of its own numbers are not finite.
    const mjModel* model_of(int64_t e, Slot& slot) {
        if (!slot.view) return m_;
        Own& own = own_[static_cast<size_t>(e)];
        const auto is_same = [&](const Expanded& each) {
            return !std::memcmp(own.numbers.data() + each.offset, each.row(e), each.bytes);
        };
        if (!own.is_current || !std::all_of(expanded_.begin(), expanded_.end(), is_same)) {
            own.is_current = own.is_read = false;
            own.whose = 0;
            for (const Expanded& each : expanded_) {
                char* const numbers = own.numbers.data() + each.offset;
                std::memcpy(numbers, each.row(e), each.bytes);
                if (each.field.is_double)
                    check_finite<double>(each.field.name, numbers, each.bytes);
                else
                    check_finite<float>(each.field.name, numbers, each.bytes);
            }
            own.is_current = true;
        }
        std::memcpy(slot.raw->get(), own.model->get(), static_cast<size_t>(library().model_bytes));
        for (const Expanded& each : expanded_)
            if (each.field.is_option)
                std::memcpy(reinterpret_cast<char*>(slot.raw->get()) + each.field.offset,
                            own.numbers.data() + each.offset, each.bytes);
        slot.view->look();
        return slot.view.get();
    }

    template <class Number> static void check_finite(const std::string& name, const char* numbers, size_t bytes) {
        for (size_t k = 0; k < bytes; k += sizeof(Number)) {
            Number number;
            std::memcpy(&number, numbers + k, sizeof number);
            if (!std::isfinite(number))
                throw std::runtime_error(name + ": expected finite numbers, got " + std::to_string(number));
        }
    }

    // Throws if some inputs are not finite: MuJoCo itself looks at positions, velocities and controls.
    void load(int64_t e, mjData* d) const {
        for (const Column& c : columns_) {
            if (c.role == RESULT || !c.bytes) continue;
            std::memcpy(c.array(d), c.row(e), static_cast<size_t>(c.bytes));
            if (c.role == INPUT && c.place.bytes == sizeof(double))
                check_finite<double>(c.name, c.array(d), static_cast<size_t>(c.bytes));
        }
    }
    void store(int64_t e, mjData* d) const {
        for (const Column& c : columns_) c.get(e, d);
    }
    int* warnings(int64_t e) const { return warnings_ + e * library().mjNWARNING; }
    static void forget_warnings(mjData* d) {
        for (int kind = 0; kind < library().mjNWARNING; ++kind) d->warning[kind].number = 0;
    }
    // Calls MuJoCo, and adds its warnings to those of a row.
    template <class Function> static void counted(const mjModel* m, mjData* d, int* counts, const Function& function) {
        forget_warnings(d);
        const Borrowed borrowed(m, d);
        guarded(function);
        for (int kind = 0; counts && kind < library().mjNWARNING; ++kind) counts[kind] += d->warning[kind].number;
    }

    // a call but for a step
    void one(int64_t e, Worker& worker) {
        mjData* const d = worker.data.get();
        Slot& place = slot(worker, 0);
        const mjModel* const m = model_of(e, place);
        if (call == RESET) {
            counted(m, d, nullptr, [&] { reset_keyframe_(m->raw, d->raw, keyframe); });
            std::fill_n(warnings(e), library().mjNWARNING, 0);
            store(e, d);
        } else if (call == FORWARD || call == FILL) {
            load(e, d);
            // as mj_step looks at a state before anything is computed from it
            counted(m, d, call == FILL ? nullptr : warnings(e),
                    [&] { mj_checkPos(m, d), mj_checkVel(m, d), mj_forward(m, d); });
            if (call == FILL)
                columns_.back().get(e, d);
            else
                store(e, d);
        } else {
            counted(m, d, nullptr, [&] { library().mj_setConst(place.raw->get(), d->raw); });
            // it computes some numbers of the struct, too
            Own& own = own_[static_cast<size_t>(e)];
            std::memcpy(own.model->get(), place.raw->get(), static_cast<size_t>(library().model_bytes));
            for (const Expanded& each : expanded_)
                std::memcpy(each.row(e), own.numbers.data() + each.offset, each.bytes);
            own.is_read = false;
        }
    }

    int step(int64_t begin, int64_t end, Worker& worker) {
        worker.records.clear();
        size_t count = 0;
        const bool usable = stepper.lanes && stepper.is_usable(stepper.lanes);
        for (int64_t e = begin; e < end; ++e) {
            if (!is_chosen(e)) continue;
            if (usable && take_to_lanes(e, slot(worker, count), worker.data.get()))
                worker.records.push_back(worker.slots[count++].record.get());
            else
                try_each(e, [&] { step_alone(e, worker, count); });
        }
        int status = 0;
        if (count && static_cast<int>(count) >= stepper.fewest)
            status = stepper.step(stepper.lanes, worker.records.data(), static_cast<int>(count), frames);
        for (size_t k = 0; k < count; ++k) {
            Slot& s = worker.slots[k];
            if (!s.record->own.empty()) s.record->own.swap(own_[static_cast<size_t>(s.row)].of_lanes);
            if (status < 0) continue;
            try_each(s.row, [&] {
                if (!finish(s, worker.data.get())) step_alone(s.row, worker, k);
            });
        }
        return status;
    }

    // Returns whether lanes can step a row, whose state is then in the record.
    bool take_to_lanes(int64_t e, Slot& s, mjData* d) {
        lanes::Record& r = *s.record;
        r.is_ready = false;
        s.row = e;
        if (!backoffs_[static_cast<size_t>(e)].is_due()) return false;
        try {
            model_of(e, s);
            load(e, d);
        } catch (const std::exception&) {
            // as it is alone
            return false;
        }
        if (!r.prepare()) return false;
        if (own_.empty()) return true;
        Own& own = own_[static_cast<size_t>(e)];
        if (!own.is_read) {
            own.is_read = true;
            if (stepper.read_own(stepper.lanes, s.view.get(), &r) > 0)
                own.of_lanes.swap(r.own), own.whose = r.whose_own;
            r.own.clear();
        }
        r.whose_own = 0;
        if (!own.whose) return false;
        r.own.swap(own.of_lanes);
        r.whose_own = own.whose;
        return true;
    }

    // Writes the row that lanes have stepped; false: mj_step has to step it.
    bool finish(Slot& s, mjData* d) {
        lanes::Record& r = *s.record;
        load(s.row, d);
        {
            const DefaultArithmetic arithmetic;
            // nor if others wrote to the row meanwhile
            if (!r.take(frames)) return false;
        }
        backoffs_[static_cast<size_t>(s.row)].note(r.num_by_mujoco == frames);
        int& until_check = until_check_[static_cast<size_t>(s.row)];
        until_check -= frames;
        if (source_ == WHOLE_STEP || until_check <= 0) {
            if (until_check <= 0) until_check = CHECK_EVERY;
            forget_warnings(d);
            try {
                const std::string differing = r.repeat_taken();
                if (!differing.empty()) {
                    stepper.report(stepper.lanes, differing.c_str());
                    return false;
                }
            } catch (const std::runtime_error&) {
                // a warning, which is counted there
                return false;
            }
        } else if (source_ == KINEMATICS) {
            const mjModel* const m = s.view ? s.view.get() : m_;
            std::copy_n(r.last_qpos(), m_->nq, d->qpos);
            counted(m, d, nullptr, [&] { mj_kinematics(m, d); });
            std::copy_n(r.result.qpos, m_->nq, d->qpos);
        }
        store(s.row, d);
        return true;
    }

    // `k`: a slot that nobody needs
    void step_alone(int64_t e, Worker& worker, size_t k) {
        mjData* const d = worker.data.get();
        const mjModel* const m = model_of(e, slot(worker, k));
        load(e, d);
        counted(m, d, warnings(e), [&] {
            for (int frame = 0; frame < frames; ++frame) mj_step(m, d);
        });
        store(e, d);
        alone_.fetch_add(1, std::memory_order_relaxed);
    }

    const mjModel* m_;
    int64_t count_;
    int* warnings_;
    ResetKeyframe reset_keyframe_;
    std::vector<int> until_check_;
    std::vector<lanes::Backoff> backoffs_;  // of each row
    std::vector<lanes::Sensor> sensors_;    // those that lanes have
    std::vector<Column> columns_;
    Source source_ = LANES;
    int reads_ = 0;
    std::vector<Expanded> expanded_;
    std::vector<Own> own_;  // of each row; empty: all have the same model
    std::atomic<int64_t> alone_{0};
    std::mutex mutex_;
    std::vector<std::unique_ptr<Worker>> free_;
    std::map<int64_t, std::string> errors_;
};

}  // namespace cypool
