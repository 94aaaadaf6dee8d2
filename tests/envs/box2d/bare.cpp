// The steps that a pool of Box2D's environments takes, and nothing else: measure.py compares with these.
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include "cypool/envs/box2d/bipedal_walker.h"
#include "cypool/envs/box2d/car_picture.h"
#include "cypool/envs/box2d/lunar_lander.h"

using namespace cypool;
using namespace cypool::box2d;

namespace {

uint64_t next_uint64(void* state) { return (*static_cast<std::mt19937_64*>(state))(); }
uint32_t next_uint32(void* state) { return static_cast<uint32_t>(next_uint64(state) >> 32); }
double next_double(void* state) { return static_cast<double>(next_uint64(state) >> 11) / 9007199254740992.0; }

// `continuous` is an option of two of them, so that all read their own.
Options options_of(bool continuous, bool hardcore) {
    Options options;
    const auto set = [&](const char* name, double value) { options.set(name, OptionValue(std::vector{value})); };
    set("continuous", continuous);
    set("hardcore", hardcore);
    for (const char* name : {"enable_wind", "domain_randomize", "fresh_world"}) set(name, 0);
    set("gravity", -10);
    set("wind_power", 15);
    set("turbulence_power", 1.5);
    set("lap_complete_percent", 0.95);
    options.set("action_dtype", OptionValue(std::string("float32")));
    return options;
}

// Each thread has its own environments and waits for no other.
template <class World, bool HARDCORE = false>
void run(int num_envs, const char* actions, int action_bytes, int num_steps, int limit, int num_threads) {
    struct One {
        RulesOf<World> env{options_of(!std::is_same_v<World, LunarLander>, HARDCORE)};
        std::mt19937_64 bits;
        Rng rng{&bits, next_uint64, next_uint32, next_double, next_uint64};
        int steps = 0;
        uint8_t obs[96 * 96 * 3] = {}, info[1] = {};
    };
    static std::vector<std::unique_ptr<One>> envs;
    while (static_cast<int>(envs.size()) < num_envs) {
        One& one = *envs.emplace_back(std::make_unique<One>());
        one.bits.seed(envs.size());
        one.env.last.rng = &one.rng;
        one.env.reset();
    }
    const auto part = [=](int first) {
        for (int t = 0; t < num_steps; ++t) {
            for (int k = first; k < num_envs; k += num_threads) {
                One& one = *envs[k];
                // an ended episode's next step begins another one, as in the pool
                if (one.env.last.terminated || one.steps == limit) {
                    one.env.reset();
                    one.env.last.terminated = false;
                    one.steps = 0;
                } else {
                    one.env.step(actions + (static_cast<long>(t) * num_envs + k) * action_bytes);
                    ++one.steps;
                }
                void *obs = one.obs, *info = one.info;
                one.env.observe({&obs, &info});
            }
        }
    };
    std::vector<std::thread> threads;
    for (int first = 1; first < num_threads; ++first) threads.emplace_back(part, first);
    part(0);
    for (std::thread& each : threads) each.join();
}

}  // namespace

// The actions are (num_steps, num_envs), as the environments take them; these live on from call to call.
extern "C" void run(int kind, int num_envs, const char* actions, int num_steps, int num_threads) {
    static const bool once = (initialize(), true);
    static_cast<void>(once);
    switch (kind) {
        case 0: return run<LunarLander>(num_envs, actions, sizeof(int64_t), num_steps, 1000, num_threads);
        case 1: return run<BipedalWalker>(num_envs, actions, 4 * sizeof(float), num_steps, 1600, num_threads);
        case 2: return run<BipedalWalker, true>(num_envs, actions, 4 * sizeof(float), num_steps, 2000, num_threads);
        default: return run<CarRacing>(num_envs, actions, 3 * sizeof(float), num_steps, 1000, num_threads);
    }
}
