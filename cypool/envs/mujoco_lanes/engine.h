// Lanes of one model, for all its environments, and the comparison with mj_step.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <vector>

#include <dlfcn.h>

#include "cypool/envs/mujoco_lanes/record.h"

// gcc, as clang has no such pragmas; on other machines multiplications and additions may be fused
#if defined(__x86_64__) && !defined(__clang__)
#include "cypool/envs/mujoco_lanes/batch.h"
#endif

namespace cypool::lanes {

#if defined(__x86_64__) && !defined(__clang__)

struct DeleteData {
    void operator()(mjData* d) const { mj_deleteData(d); }
};
using OwnData = std::unique_ptr<mjData, DeleteData>;

// a name that MuJoCo's library exports, and that `Library` does not have
inline void* exported(const char* name) {
    Dl_info info;
    if (!dladdr(reinterpret_cast<void*>(library().mj_step), &info)) throw std::invalid_argument("no library");
    void* const handle = dlopen(info.dli_fname, RTLD_NOLOAD | RTLD_LAZY);
    void* const found = handle ? dlsym(handle, name) : nullptr;
    if (handle) dlclose(handle);
    if (!found) throw std::invalid_argument(std::string("MuJoCo has no ") + name);
    return found;
}

// Throws std::invalid_argument: why there are no lanes for any model.
inline void check_lanes() {
    if (std::find(std::begin(PROVEN), std::end(PROVEN), library().version) == std::end(PROVEN))
        throw std::invalid_argument("this version of MuJoCo was not compared for long");
    if (!__builtin_cpu_supports("avx2")) throw std::invalid_argument("the CPU has no AVX2");
}

class Engine {
public:
    // Throws std::invalid_argument: why mj_step has to step this model.
    explicit Engine(const mjModel* m) : m_(m) {
        check_lanes();
        const OwnData d(make_data(m, false));
        if (forward(m, d.get())) throw std::invalid_argument("it is unstable");
        Describer(m, d.get()).describe(description_);
        for (const char* name : {"mjcb_passive", "mjcb_control", "mjcb_contactfilter", "mjcb_sensor", "mjcb_act_dyn",
                                 "mjcb_act_gain", "mjcb_act_bias"})
            callbacks_.push_back(static_cast<void* const*>(exported(name)));
        colliders_ = static_cast<const Collider::Function*>(exported("mjCOLLISIONFUNC"));
        ray_ = reinterpret_cast<Collider::Ray>(exported("mju_rayGeom"));
    }

    // Whether nothing of others takes part in mj_step, and lanes never were wrong.
    bool is_usable() const {
        for (void* const* callback : callbacks_)
            if (*callback) return false;
        return !is_wrong.load(std::memory_order_relaxed);
    }

    // Reads the model of an environment, in which some numbers are its own; false: mj_step has to step it.
    bool read_own(const mjModel* m, Record& record) {
        static std::atomic<uint64_t> number{0};
        record.whose_own = 0;
        try {
            Describer(m, nullptr).describe_own(description_, m_, record.own);
        } catch (const std::invalid_argument&) {
            return false;
        }
        record.whose_own = ++number;
        return true;
    }

    // How many environments are quicker in lanes. One alone takes as long as four, and with PGS longer than mj_step.
    int fewest() const { return description_.is_gauss_seidel ? 2 : 1; }

    // Steps these environments; not those of records that are not ready afterwards.
    void step(Record* const* records, int count, int frames) {
        std::unique_ptr<Lent> lent = borrow();
        lent->batch.load(records, count);
        lent->batch.step(frames, records[0]->reads(), records[0]->ends_with_step1);
        lent->batch.store(records);
        const std::lock_guard<std::mutex> lock(mutex_);
        free_.push_back(std::move(lent));
    }

    // Compares with mj_step, from random states. Returns what differs first, "" if nothing does.
    std::string compare(int steps, int every, uint64_t seed, double noise, double ctrl, bool ends_with_step1) {
        constexpr int count = 2 * WIDTH - 1;
        std::vector<OwnData> datas;
        std::vector<std::unique_ptr<Record>> owned;
        std::vector<Record*> records;
        for (int e = 0; e < count; ++e) {
            datas.emplace_back(make_data(m_, false));
            owned.emplace_back(new Record(m_, datas.back().get(), ALL_PARTS, ends_with_step1));
            records.push_back(owned.back().get());
        }
        const auto draw = [&seed](double scale) {
            // splitmix64
            uint64_t z = seed += 0x9e3779b97f4a7c15;
            z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
            z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
            return scale * (static_cast<double>((z ^ (z >> 31)) >> 11) * 0x1p-52 - 1);
        };
        for (int step_number = 0; step_number < steps; ++step_number) {
            for (int e = 0; e < count; ++e) {
                mjData* const d = datas[static_cast<size_t>(e)].get();
                if ((step_number + e * every / count) % every == 0) {
                    reset_data(m_, d);
                    for (int k = 0; k < m_->nq; ++k) d->qpos[k] += draw(noise);
                    for (int k = 0; k < m_->nv; ++k) d->qvel[k] += draw(noise);
                    forward(m_, d);
                }
                for (int k = 0; k < m_->nu; ++k) d->ctrl[k] = draw(ctrl);
                records[static_cast<size_t>(e)]->prepare();
            }
            step(records.data(), count, 1);
            for (int e = 0; e < count; ++e) {
                Record& record = *records[static_cast<size_t>(e)];
                if (!record.take(1)) {
                    simulate(m_, datas[static_cast<size_t>(e)].get(), 1, true);
                    continue;
                }
                std::string differing;
                try {
                    differing = record.repeat();
                } catch (const std::runtime_error& warning) {
                    // mj_step has no result that lanes could have
                    differing = warning.what();
                }
                if (!differing.empty())
                    return "step " + std::to_string(step_number) + " of environment " + std::to_string(e) + ": "
                           + differing;
                ++num_compared;
            }
        }
        return "";
    }

    std::atomic<bool> is_wrong{false};
    std::atomic<int64_t> num_compared{0};

private:
    // working memory of a call
    struct Lent {
        OwnData data;
        Batch batch;
        Lent(const mjModel* m, const Description& description, const Collider::Function* colliders, Collider::Ray ray)
            : data(make_data(m, false)),
              batch(description, {colliders, m, data.get(), ray}) {
            // places boxes
            forward(m, data.get());
        }
    };
    std::unique_ptr<Lent> borrow() {
        {
            const std::lock_guard<std::mutex> lock(mutex_);
            if (!free_.empty()) {
                std::unique_ptr<Lent> lent = std::move(free_.back());
                free_.pop_back();
                return lent;
            }
        }
        return std::make_unique<Lent>(m_, description_, colliders_, ray_);
    }

    const mjModel* m_;
    Description description_;
    const Collider::Function* colliders_;
    Collider::Ray ray_;
    std::vector<void* const*> callbacks_;
    std::mutex mutex_;
    std::vector<std::unique_ptr<Lent>> free_;
};

#else

inline void check_lanes() { throw std::invalid_argument("this build has no lanes: they need gcc, and x86-64"); }

class Engine {
public:
    explicit Engine(const mjModel*) { check_lanes(); }
    bool is_usable() const { return false; }
    int fewest() const { return 1; }
    bool read_own(const mjModel*, Record&) { return false; }
    void step(Record* const*, int, int) {}
    std::string compare(int, int, uint64_t, double, double, bool) { return ""; }
    std::atomic<bool> is_wrong{false};
    std::atomic<int64_t> num_compared{0};
};

#endif

}  // namespace cypool::lanes
