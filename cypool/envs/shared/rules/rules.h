// Environments whose rules are C++: `RulesEnv` (rules_env.pyx) implements `Env` for them. A family has a class
//
//     class World {
//     public:
//         explicit World(const Options& options);     // options.h
//         void reset(Step& step);
//         void step(const void* action, Step& step);
//         void observe(const Slot& out);
//         // required, too: ready, exchange, validate and fresh, as in state_archive.h
//         // optional: as in `Env`
//         void legal(uint8_t* mask) const;
//         void turn(Turn& out) const;
//         void seed(int env_id);                      // called when the stream begins again
//         void picture(void* out) const;              // writes what a picture is made of
//     };
//
// Where step and observe are noexcept, a thread steps many environments in one call.
//
// World(options) runs once for each spec. `fresh` makes those of the environments from it: they share what never
// changes, such as options or a map, through a shared_ptr to const. `env.copy` and searches assign a World to another,
// or save and load it if it cannot be assigned. So it has no pointers into itself, and keeps none of a `Step`.
#pragma once

#include <cmath>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "cypool/envs/shared/rules/options.h"
#include "cypool/envs/shared/rules/state_archive.h"
#include "cypool/rng.h"
#include "cypool/slot.h"

namespace cypool {

// What a step or a reset draws from, and what it says of itself; see `Env`.
struct Step {
    const Rng* rng = nullptr;
    const Rng* second_rng = nullptr;  // of a stream that few environments have; see `RulesEnv.draw_from`
    Agents* agents = nullptr;         // in an environment with several
    double reward = 0;                // NaN: the sum of those of the agents
    bool terminated = false, truncated = false;
};

class Rules;

// The environments of a pool with the same options, for `step_many`.
struct RulesPool {
    struct Member {
        Rules* rules;
        const int* needs_reset;
    };
    std::vector<Member> members;
    // sizes of the parts of a row, at most `MAX_PARTS` of both kinds, and of an action
    static constexpr size_t MAX_PARTS = 16;
    std::vector<size_t> obs_bytes, info_bytes;
    size_t action_bytes;
};

// The rules of any family, and the state of one environment.
class Rules : public ArchivedState {
public:
    Step last;

    // with the same options; what never changes is shared
    virtual std::unique_ptr<Rules> another() const = 0;
    virtual bool can_step_many() const = 0;
    virtual void step_many(const Rows& rows, const RulesPool& pool) const = 0;
    virtual void reset() = 0;
    virtual void step(const void* action) = 0;
    virtual void observe(const Slot& out) = 0;
    virtual void legal(uint8_t* mask) const = 0;
    // false: of no game
    virtual bool turn(Turn& out) const = 0;
    virtual void seed(int env_id) = 0;
    virtual void picture(void* out) const = 0;

protected:
    Step& next() {
        last.reward = last.agents ? std::nan("") : 0;
        last.terminated = last.truncated = false;
        return last;
    }
};

template <class T> class RulesOf final : public Archived<T, Rules> {
public:
    explicit RulesOf(const Options& options) { this->hold(std::make_unique<T>(options)); }
    explicit RulesOf(T rules) { this->hold(std::make_unique<T>(std::move(rules))); }

    std::unique_ptr<Rules> another() const override {
        return std::make_unique<RulesOf>(std::move(*this->held().fresh()));
    }
    bool can_step_many() const override {
        return noexcept(std::declval<T&>().step(nullptr, std::declval<Step&>()))
               && noexcept(std::declval<T&>().observe(std::declval<const Slot&>()));
    }
    void step_many(const Rows& rows, const RulesPool& pool) const override {
        const size_t num_obs = pool.obs_bytes.size(), num_info = pool.info_bytes.size();
        void* obs[RulesPool::MAX_PARTS];
        void* info[RulesPool::MAX_PARTS];
        for (uint32_t k = 0; k < rows.count; ++k) {
            const int32_t id = rows.ids[k];
            const RulesPool::Member& member = pool.members[id];
            // the engine resets it
            if (*member.needs_reset) continue;
            auto& env = *static_cast<RulesOf*>(member.rules);
            env.get()->step(rows.actions + id * pool.action_bytes, env.next());
            for (size_t i = 0; i < num_obs; ++i) obs[i] = static_cast<char*>(rows.obs[i]) + k * pool.obs_bytes[i];
            for (size_t i = 0; i < num_info; ++i) info[i] = static_cast<char*>(rows.info[i]) + k * pool.info_bytes[i];
            env.get()->observe({obs, info});
            rows.reward[k] = env.last.reward;
            rows.terminated[k] = env.last.terminated;
            rows.truncated[k] = env.last.truncated;
        }
    }
    void reset() override { this->get()->reset(this->next()); }
    void step(const void* action) override { this->get()->step(action, this->next()); }
    void observe(const Slot& out) override { this->get()->observe(out); }
    void legal(uint8_t* mask) const override {
        if constexpr (requires { this->held().legal(mask); }) this->held().legal(mask);
    }
    bool turn(Turn& out) const override {
        if constexpr (requires { this->held().turn(out); }) {
            this->held().turn(out);
            return true;
        }
        return false;
    }
    void seed(int env_id) override {
        if constexpr (requires { this->get()->seed(env_id); }) this->get()->seed(env_id);
    }
    void picture(void* out) const override {
        if constexpr (requires { this->held().picture(out); }) this->held().picture(out);
    }
};

}  // namespace cypool
