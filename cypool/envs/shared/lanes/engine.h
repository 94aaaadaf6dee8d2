// Lanes of one model, for all its environments, and the comparison with mj_step.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <vector>

#include "cypool/envs/shared/lanes/describer.h"
#include "cypool/envs/shared/lanes/record.h"

// gcc, as clang has no such pragmas; on other machines multiplications and additions may be fused
#if defined(__x86_64__) && !defined(__clang__)
#define CYPOOL_LANES_WIDTH 4
#define CYPOOL_LANES four
#include "cypool/envs/shared/lanes/batch.h"
#undef CYPOOL_LANES
#undef CYPOOL_LANES_WIDTH
#define CYPOOL_LANES_WIDTH 8
#define CYPOOL_LANES eight
#include "cypool/envs/shared/lanes/batch.h"
#include "cypool/envs/shared/lanes/poses.h"
#endif

namespace cypool::lanes {

// `Record::take` as MuJoCo would, which adds to the time as it steps.
inline bool take(Record& record, int frames) {
    const DefaultArithmetic arithmetic;
    if (!record.take(frames)) return false;
    record.backoff.note(record.num_by_mujoco == frames);
    return true;
}

#if defined(__x86_64__) && !defined(__clang__)

// Returns how many numbers a vector has. Throws std::invalid_argument: why there are no lanes for any model.
inline int check_lanes() {
    if (std::find(std::begin(PROVEN), std::end(PROVEN), library().version) == std::end(PROVEN))
        throw std::invalid_argument("lanes were not tested with this version of MuJoCo");
    if (!__builtin_cpu_supports("avx2")) throw std::invalid_argument("the CPU has no AVX2");
    is_mujoco_4 = library().version >= 4000000;
    const bool has_eight = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq")
                           && __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw");
    return has_eight ? 8 : 4;
}

class Engine {
public:
    // Throws std::invalid_argument: why mj_step has to step this model.
    explicit Engine(const mjModel* m) : m_(m), most_lanes_(check_lanes()) {
        const OwnData d(make_data(m, false));
        if (forward(m, d.get())) throw std::invalid_argument("it is unstable");
        const DefaultArithmetic arithmetic;
        Describer(m, d.get()).describe(description_);
        // of which fewer have equally many rows
        if (description_.is_gauss_seidel) most_lanes_ = 4;
        compared_ = most_lanes_ == 8 ? std::vector<int>{9, 3} : std::vector<int>{7};
        for (const char* name : {"mjcb_passive", "mjcb_control", "mjcb_contactfilter", "mjcb_sensor", "mjcb_act_dyn",
                                 "mjcb_act_gain", "mjcb_act_bias"})
            callbacks_.push_back(static_cast<void* const*>(exported(name)));
        colliders_ = static_cast<const Collider::Function*>(exported("mjCOLLISIONFUNC"));
        ray_ = reinterpret_cast<Collider::Ray>(exported("mju_rayGeom"));
        for (auto& of_width : coverages_)
            for (auto& of_models : of_width)
                for (std::unique_ptr<Coverage>& each : of_models) each = std::make_unique<Coverage>(description_);
    }

    // Whether nothing of others takes part in mj_step, and lanes never were wrong.
    bool is_usable() const { return !has_callback() && !is_wrong.load(std::memory_order_relaxed); }
    bool has_callback() const {
        return std::any_of(callbacks_.begin(), callbacks_.end(), [](void* const* callback) { return *callback; });
    }

    // Reads the model of an environment, in which some numbers are its own; false: mj_step has to step it.
    bool read_own(const mjModel* m, Record& record) {
        static std::atomic<uint64_t> number{0};
        const DefaultArithmetic arithmetic;
        record.whose_own = 0;
        try {
            Describer(m, nullptr).describe_own(description_, m_, record.own);
        } catch (const std::invalid_argument&) {
            return false;
        }
        record.whose_own = ++number;
        return true;
    }

    // How many environments are quicker in lanes. One alone takes as long as four, and with PGS or cones longer than
    // mj_step.
    int fewest() const { return description_.is_gauss_seidel || description_.is_elliptic ? 2 : 1; }

    // Steps these environments; not those of records that are not ready afterwards. Returns what mj_step has otherwise
    // where it repeats a step for what was active in it, "" if nothing: then no record is ready.
    std::string step(Record* const* records, int count, int frames) {
        const std::string differing = step_in_lanes(records, count, frames, true);
        for (int e = 0; e < count && !differing.empty(); ++e) records[e]->is_ready = false;
        return differing;
    }

    // Compares with mj_step, from random states. Returns what differs first, "" if nothing does.
    std::string compare(int steps, int every, uint64_t seed, double noise, double ctrl, bool ends_with_step1,
                        int frames) {
        Random random(seed);
        const auto begin = [&](mjData* d) {
            for (int k = 0; k < m_->nq; ++k) d->qpos[k] += random.draw(noise);
            for (int k = 0; k < m_->nv; ++k) d->qvel[k] += random.draw(noise);
            for (int k = 0; k < m_->na; ++k) d->act[k] += random.draw(noise);
        };
        std::string differing;
        for (const int count : compared_)
            if (differing.empty())
                differing = compare_from(begin, count, steps, every, random, ctrl, ends_with_step1, frames);
        return differing;
    }

    // The same, from where geoms touch and joints are at their limits, with controls beyond theirs.
    std::string compare_contacts() {
        Random random(1);
        const std::vector<std::vector<double>> poses = Poses(m_, description_, random).find();
        std::string differing;
        for (const int count : compared_) {
            size_t next = 0;
            const auto begin = [&](mjData* d) {
                const std::vector<double>& pose = poses[next++ % poses.size()];
                std::copy(pose.begin(), pose.end(), d->qpos);
                for (int k = 0; k < m_->nv; ++k) d->qvel[k] += random.draw(0.5);
                for (int k = 0; k < m_->na; ++k) d->act[k] += random.draw(10);
            };
            const int steps = static_cast<int>(poses.size()) / count + 1;
            if (differing.empty()) differing = compare_from(begin, count, steps, 1, random, 10, false, 1);
        }
        return differing;
    }

    std::atomic<bool> is_wrong{false};
    std::atomic<int64_t> num_compared{0};
    std::atomic<int64_t> num_by_mujoco{0};  // of MuJoCo's steps of environments in lanes

private:
    // few environments take as long as many
    bool takes_eight(int count) const { return most_lanes_ == 8 && count > 4; }

    // working memory of a call
    struct Lent {
        const mjModel* model;
        OwnData data;
        std::unique_ptr<Batch> batch;
        OwnData step_data;
        std::unique_ptr<Record> stepper;  // in `step_data`
        Lent(const mjModel* m, const Description& description, const Collider::Function* colliders, Collider::Ray ray,
             bool has_eight)
            : model(m),
              data(make_data(m, false)) {
            const Collider collider = {colliders, m, data.get(), ray};
            if (has_eight)
                batch = std::make_unique<eight::BatchInLanes>(description, collider);
            else
                batch = std::make_unique<four::BatchInLanes>(description, collider);
            // places the geoms of the world
            forward(m, data.get());
        }
        // where MuJoCo steps
        Record& for_mujoco(const Record& record) {
            if (!stepper || stepper->reads() != record.reads() || stepper->ends_with_step1 != record.ends_with_step1) {
                step_data.reset(make_data(model, false));
                stepper = std::make_unique<Record>(model, step_data.get(), record.reads(), record.ends_with_step1);
            }
            return *stepper;
        }
    };

    // `checks_last`: whether a last step is repeated, too, for what was active in it.
    std::string step_in_lanes(Record* const* records, int count, int frames, bool checks_last) {
        std::unique_ptr<Lent> lent = borrow(takes_eight(count));
        Batch& batch = *lent->batch;
        Coverage &coverage = coverage_of(*records[0], count), &inner = coverage_of(*records[0], count, true);
        batch.load(records, count, coverage, inner);
        for (int frame = 0;;) {
            try {
                // given back before another thread may borrow these data
                const Borrowed arena(m_, lent->data.get());
                const std::string warning = guarded(
                    [&] { frame = batch.step(frame, frames, records[0]->reads(), records[0]->ends_with_step1); });
                // MuJoCo's own colliders warn or fail, and that of an environment alone does, too
                if (!warning.empty()) return "";
            } catch (const std::runtime_error&) {
                return "";
            }
            if (frame > frames) break;
            for (const int e : batch.find_failed()) step_by_mujoco(*lent, *records[e], e, frame == frames);
            for (int e = 0; e < count && frame < frames; ++e) {
                const auto step_and_compare = [&](Record& mujocos) {
                    batch.get_last(e, records[e]->next_last);
                    if (!mujocos.step_for(*records[e], false)) return std::string("an unstable simulation");
                    return batch.compare(e, records[e]->result);
                };
                if (std::string differing = check(*lent, *records[e], inner, step_and_compare); !differing.empty())
                    return differing;
            }
        }
        batch.store(records);
        for (int e = 0; e < count && checks_last; ++e) {
            if (!records[e]->is_ready) continue;
            // what lanes continue with is seen in a whole step only
            const bool continued = records[e]->num_by_mujoco > records[e]->is_mujocos;
            if (continued && coverage.unseen(coverage.continued())) {
                if (std::string differing = records[e]->check(frames); !differing.empty()) return differing;
                coverage.add({coverage.continued(), 1});
                ++num_compared;
            }
            const auto step_and_compare = [&](Record& mujocos) { return mujocos.check_last(*records[e]); };
            if (std::string differing = check(*lent, *records[e], coverage, step_and_compare); !differing.empty())
                return differing;
        }
        const std::lock_guard<std::mutex> lock(mutex_);
        free_[takes_eight(count)].push_back(std::move(lent));
        return "";
    }

    // Has MuJoCo repeat a step in which something was active that no compared step had. Returns what lanes had
    // otherwise, "" if nothing.
    template <class Call>
    std::string check(Lent& lent, Record& record, Coverage& coverage, const Call& step_and_compare) {
        const auto is_covered = [&coverage](const Active& active) { return coverage.has(active); };
        if (std::all_of(record.unseen.begin(), record.unseen.end(), is_covered)) {
            record.unseen.clear();
            return "";
        }
        std::string differing;
        try {
            differing = step_and_compare(lent.for_mujoco(record));
        } catch (const std::runtime_error& warning) {
            // mj_step has no result that lanes could have
            differing = warning.what();
            lent.stepper.reset();
        }
        if (differing.empty()) cover(coverage, record);
        return differing;
    }

    // Takes the last step of one environment; lanes continue with the next.
    void step_by_mujoco(Lent& lent, Record& record, int environment, bool is_last) {
        lent.batch->get_last(environment, record.next_last);
        bool is_done = false;
        try {
            is_done = lent.for_mujoco(record).step_for(record, is_last);
        } catch (const std::runtime_error&) {
            // a warning, which the environment raises when it is stepped alone
        }
        if (is_done) {
            ++num_by_mujoco, ++record.num_by_mujoco;
            lent.batch->put(environment, record.result, is_last);
        } else {
            lent.batch->drop(environment);
            lent.stepper.reset();
        }
    }

    // `count`: how many environments are stepped together
    Coverage& coverage_of(const Record& record, int count, bool is_inner = false) {
        return *coverages_[takes_eight(count)][!record.own.empty()][is_inner];
    }
    void cover(Coverage& coverage, Record& record) {
        for (const Active& active : record.unseen) coverage.add(active);
        record.unseen.clear();
        ++num_compared;
    }

    // Compares a number of steps; `begin` moves an environment that was reset.
    template <class Begin>
    std::string compare_from(const Begin& begin, int count, int steps, int every, Random& random, double ctrl,
                             bool ends_with_step1, int frames) {
        std::vector<OwnData> datas;
        std::vector<std::unique_ptr<Record>> owned;
        std::vector<Record*> records;
        for (int e = 0; e < count; ++e) {
            datas.emplace_back(make_data(m_, false));
            owned.emplace_back(new Record(m_, datas.back().get(), ALL_OUTPUTS, ends_with_step1));
            records.push_back(owned.back().get());
        }
        for (int step_number = 0; step_number < steps; ++step_number) {
            for (int e = 0; e < count; ++e) {
                mjData* const d = datas[static_cast<size_t>(e)].get();
                if ((step_number + e * every / count) % every == 0) {
                    reset_data(m_, d);
                    begin(d);
                    forward(m_, d);
                }
                for (int k = 0; k < m_->nu; ++k) d->ctrl[k] = random.draw(ctrl);
                for (int k = 0; k < 3 * m_->nmocap; ++k) d->mocap_pos[k] += random.draw(0.01);
                for (int k = 0; k < 4 * m_->nmocap; ++k) d->mocap_quat[k] += random.draw(0.02);
                records[static_cast<size_t>(e)]->prepare();
            }
            const std::string in_between = step_in_lanes(records.data(), count, frames, false);
            if (!in_between.empty()) return "step " + std::to_string(step_number) + ": " + in_between;
            for (int e = 0; e < count; ++e) {
                Record& record = *records[static_cast<size_t>(e)];
                std::string differing;
                if (frames > 1 && record.is_ready) differing = record.check(frames);
                if (!record.take(frames)) {
                    simulate(m_, datas[static_cast<size_t>(e)].get(), frames, true);
                    continue;
                }
                try {
                    if (frames == 1) differing = record.repeat(false);
                } catch (const std::runtime_error& warning) {
                    // mj_step has no result that lanes could have
                    differing = warning.what();
                }
                if (!differing.empty())
                    return "step " + std::to_string(step_number) + " of environment " + std::to_string(e) + ": "
                           + differing;
                if (!record.is_mujocos) cover(coverage_of(record, count), record);
            }
        }
        return "";
    }

    std::unique_ptr<Lent> borrow(bool has_eight) {
        {
            const std::lock_guard<std::mutex> lock(mutex_);
            if (std::vector<std::unique_ptr<Lent>>& free = free_[has_eight]; !free.empty()) {
                std::unique_ptr<Lent> lent = std::move(free.back());
                free.pop_back();
                return lent;
            }
        }
        return std::make_unique<Lent>(m_, description_, colliders_, ray_, has_eight);
    }

    const mjModel* m_;
    int most_lanes_;
    std::vector<int> compared_;  // how many environments
    Description description_;
    const Collider::Function* colliders_;
    Collider::Ray ray_;
    // of four and eight lanes; with the model's numbers, and those of environments; of last steps, and of others
    std::unique_ptr<Coverage> coverages_[2][2][2];
    std::vector<void* const*> callbacks_;
    std::mutex mutex_;
    std::vector<std::unique_ptr<Lent>> free_[2];
};

#else

inline int check_lanes() { throw std::invalid_argument("this build has no lanes: they need gcc and x86-64"); }

class Engine {
public:
    explicit Engine(const mjModel*) { check_lanes(); }
    bool is_usable() const { return false; }
    bool has_callback() const { return false; }
    int fewest() const { return 1; }
    bool read_own(const mjModel*, Record&) { return false; }
    std::string step(Record* const*, int, int) { return ""; }
    std::string compare(int, int, uint64_t, double, double, bool, int) { return ""; }
    std::string compare_contacts() { return ""; }
    std::atomic<bool> is_wrong{false};
    std::atomic<int64_t> num_compared{0}, num_by_mujoco{0};
};

#endif

}  // namespace cypool::lanes
