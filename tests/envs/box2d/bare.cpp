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

struct Lander {
    LunarLander world{false, -10, false, 15, 1.5};
    void reset(const Rng* rng) { world.reset(rng); }
    void step(const Rng* rng, const double* action) { world.step(rng, action); }
    void observe(uint8_t* out) { std::memcpy(out, world.obs, sizeof world.obs); }
};
template <bool HARDCORE> struct Walker {
    BipedalWalker world{HARDCORE, false};
    void reset(const Rng* rng) { world.reset(rng); }
    void step(const Rng*, const double* action) {
        const float numbers[4] = {static_cast<float>(action[0]), static_cast<float>(action[1]),
                                  static_cast<float>(action[2]), static_cast<float>(action[3])};
        world.step(numbers);
    }
    void observe(uint8_t* out) { std::memcpy(out, world.obs, sizeof world.obs); }
};
struct Car {
    CarRacing world{true, false, false, 0.95};
    void reset(const Rng* rng) { world.reset(rng); }
    void step(const Rng*, const double* action) { world.step(action); }
    void observe(uint8_t* out) { draw_observation(world, out); }
};

// Each thread has its own environments and waits for no other.
template <class Env>
void run(int num_envs, const double* actions, int action_size, int num_steps, int limit, int num_threads) {
    struct One {
        Env env;
        std::mt19937_64 bits;
        Rng rng{&bits, next_uint64, next_uint32, next_double, next_uint64};
        int steps = 0;
        std::vector<uint8_t> obs = std::vector<uint8_t>(96 * 96 * 3);
    };
    static std::vector<std::unique_ptr<One>> envs;
    while (static_cast<int>(envs.size()) < num_envs) {
        envs.push_back(std::make_unique<One>());
        envs.back()->bits.seed(envs.size());
        envs.back()->env.reset(&envs.back()->rng);
    }
    const auto part = [=](int first) {
        for (int t = 0; t < num_steps; ++t) {
            for (int k = first; k < num_envs; k += num_threads) {
                One& one = *envs[k];
                // an ended episode's next step begins another one, as in the pool
                if (one.env.world.terminated || one.steps == limit) {
                    one.env.reset(&one.rng);
                    one.env.world.terminated = false;
                    one.steps = 0;
                } else {
                    one.env.step(&one.rng, actions + (static_cast<long>(t) * num_envs + k) * action_size);
                    ++one.steps;
                }
                one.env.observe(one.obs.data());
            }
        }
    };
    std::vector<std::thread> threads;
    for (int first = 1; first < num_threads; ++first) threads.emplace_back(part, first);
    part(0);
    for (std::thread& each : threads) each.join();
}

}  // namespace

// The actions are (num_steps, num_envs, action_size); environments live on from call to call.
extern "C" void run(int kind, int num_envs, const double* actions, int num_steps, int num_threads) {
    static const bool once = (initialize(), true);
    static_cast<void>(once);
    switch (kind) {
        case 0: return run<Lander>(num_envs, actions, 1, num_steps, 1000, num_threads);
        case 1: return run<Walker<false>>(num_envs, actions, 4, num_steps, 1600, num_threads);
        case 2: return run<Walker<true>>(num_envs, actions, 4, num_steps, 2000, num_threads);
        default: return run<Car>(num_envs, actions, 3, num_steps, 1000, num_threads);
    }
}
