// Classic control in single precision, many environments at a time. Not bit for bit the reference, but the same game.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include "cypool/rng.h"
#include "cypool/slot.h"

#if defined(__x86_64__)
#define CYPOOL_AVX2 __attribute__((target("avx2,fma")))
#else
#define CYPOOL_AVX2
#endif
#define CYPOOL_INLINE inline __attribute__((always_inline))

namespace cypool {

inline bool has_avx2() noexcept {
#if defined(__x86_64__)
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#else
    return false;
#endif
}

// Eight numbers, one of each of eight environments. A comparison gives -1 or 0 in each lane.
using F = float __attribute__((vector_size(32)));
using I = int32_t __attribute__((vector_size(32)));

namespace lanes {

constexpr uint32_t N = 8;
constexpr float PI = 3.14159265358979f;

CYPOOL_INLINE F clip(const F& x, float low, float high) {
    const F above = x < low ? F{} + low : x;
    return above > high ? F{} + high : above;
}

// Nearest whole number, for |x| < 2^22.
CYPOOL_INLINE F nearest(const F& x) { return (x + 12582912.0f) - 12582912.0f; }

// The angle in [-pi, pi].
CYPOOL_INLINE F wrap(const F& x) { return x - 2 * PI * nearest(x * (1 / (2 * PI))); }

// Sine and cosine, to 1e-7 for |x| < 8000.
CYPOOL_INLINE void sincos(const F& x, F& s, F& c) {
    const F quarter = nearest(x * (2 / PI));
    // a quarter turn in three parts, the first two with few digits, so that the products are exact
    const F r = ((x - quarter * 1.5703125f) - quarter * 4.837512969970703e-4f) - quarter * 7.54978995489188e-8f;
    const F r2 = r * r;
    const F sine = r + r * r2 * (-1.6666654611e-1f + r2 * (8.3321608736e-3f + r2 * -1.9515295891e-4f));
    const F cosine = 1.0f - 0.5f * r2
                     + r2 * r2 * (4.166664568298827e-2f + r2 * (-1.388731625493765e-3f + r2 * 2.443315711809948e-5f));
    const I turn = __builtin_convertvector(quarter, I), swap = (turn & 1) != 0;
    const F a = swap ? cosine : sine, b = swap ? sine : cosine;
    s = (turn & 2) != 0 ? -a : a;
    c = ((turn + 1) & 2) != 0 ? -b : b;
}

}  // namespace lanes

// A game says how many numbers its state and observation have, the type of its actions, and how it moves, shows and
// begins.
struct FastCartPole {
    static constexpr int STATE = 4, OBS = 4;
    using Action = int64_t;
    bool sutton_barto;

    CYPOOL_INLINE void step(F* s, const F& action, F& reward, I& terminated) const {
        F sine, cosine;
        lanes::sincos(s[2], sine, cosine);
        const F force = action == 1.0f ? F{} + 10.0f : F{} - 10.0f;
        const F push = (force + 0.05f * s[3] * s[3] * sine) * (1 / 1.1f);
        const F turn = (9.8f * sine - cosine * push) / (0.5f * (4.0f / 3.0f - (0.1f / 1.1f) * cosine * cosine));
        const F pull = push - (0.05f / 1.1f) * turn * cosine;
        s[0] += 0.02f * s[1];
        s[1] += 0.02f * pull;
        s[2] += 0.02f * s[3];
        s[3] += 0.02f * turn;
        terminated = (s[0] < -2.4f) | (s[0] > 2.4f) | (s[2] < -0.20943951f) | (s[2] > 0.20943951f);
        reward = sutton_barto ? (terminated ? F{} - 1.0f : F{}) : F{} + 1.0f;
    }
    CYPOOL_INLINE void observe(const F* s, F* obs) const {
        for (int j = 0; j < 4; ++j) obs[j] = s[j];
    }
    void reset(float* s, const Rng* rng) const {
        for (int j = 0; j < 4; ++j) s[j] = static_cast<float>(uniform(rng, -0.05, 0.05));
    }
};

// The common parts of both cars in the valley.
struct FastCar {
    static constexpr int STATE = 2, OBS = 2;
    float goal_velocity;

    CYPOOL_INLINE void drive(F* s, const F& push, float goal, I& terminated) const {
        F sine, cosine;
        lanes::sincos(3 * s[0], sine, cosine);
        const F velocity = lanes::clip(s[1] + push - 0.0025f * cosine, -0.07f, 0.07f);
        s[0] = lanes::clip(s[0] + velocity, -1.2f, 0.6f);
        s[1] = (s[0] == -1.2f) & (velocity < 0.0f) ? F{} : velocity;
        terminated = (s[0] >= goal) & (s[1] >= goal_velocity);
    }
    CYPOOL_INLINE void observe(const F* s, F* obs) const {
        obs[0] = s[0];
        obs[1] = s[1];
    }
    void reset(float* s, const Rng* rng) const {
        s[0] = static_cast<float>(uniform(rng, -0.6, -0.4));
        s[1] = 0;
    }
};

struct FastMountainCar : FastCar {
    using Action = int64_t;

    CYPOOL_INLINE void step(F* s, const F& action, F& reward, I& terminated) const {
        drive(s, (action - 1.0f) * 0.001f, 0.5f, terminated);
        reward = F{} - 1.0f;
    }
};

struct FastMountainCarContinuous : FastCar {
    using Action = float;

    CYPOOL_INLINE void step(F* s, const F& action, F& reward, I& terminated) const {
        drive(s, action * 0.0015f, 0.45f, terminated);
        reward = (terminated ? F{} + 100.0f : F{}) - 0.1f * action * action;
    }
};

struct FastPendulum {
    static constexpr int STATE = 2, OBS = 3;
    using Action = float;
    float g;
    bool limit_first;  // the angle uses the velocity after clipping

    CYPOOL_INLINE void step(F* s, const F& action, F& reward, I& terminated) const {
        F sine, cosine;
        lanes::sincos(s[0], sine, cosine);
        const F angle = lanes::wrap(s[0]);
        reward = -(angle * angle + 0.1f * s[1] * s[1] + 0.001f * action * action);
        const F faster = s[1] + (1.5f * g * sine + 3.0f * action) * 0.05f;
        s[1] = lanes::clip(faster, -8, 8);
        // kept small, as single precision has no digits to waste on whole turns
        s[0] = lanes::wrap(s[0] + (limit_first ? s[1] : faster) * 0.05f);
        terminated = I{};
    }
    CYPOOL_INLINE void observe(const F* s, F* obs) const {
        F sine, cosine;
        lanes::sincos(s[0], sine, cosine);
        obs[0] = cosine;
        obs[1] = sine;
        obs[2] = s[1];
    }
    void reset(float* s, const Rng* rng) const {
        s[0] = static_cast<float>(uniform(rng, -M_PI, M_PI));
        s[1] = static_cast<float>(uniform(rng, -1, 1));
    }
};

struct FastAcrobot {
    static constexpr int STATE = 4, OBS = 6;
    using Action = int64_t;

    CYPOOL_INLINE void slope(const F* s, const F& torque, F* out) const {
        F sin1, cos1, sin2, cos2, sin12, cos12;
        lanes::sincos(s[0], sin1, cos1);
        lanes::sincos(s[1], sin2, cos2);
        lanes::sincos(s[0] + s[1], sin12, cos12);
        // masses and lengths are 1, inertia too, centres of mass at 0.5; cos(x - pi/2) is sin(x)
        const F d1 = 3.5f + cos2, d2 = 1.25f + 0.5f * cos2;
        const F phi2 = 4.9f * sin12;
        const F phi1 = -0.5f * s[3] * s[3] * sin2 - s[3] * s[2] * sin2 + 14.7f * sin1 + phi2;
        const F acc2 = (torque + d2 / d1 * phi1 - 0.5f * s[2] * s[2] * sin2 - phi2) / (1.25f - d2 * d2 / d1);
        out[0] = s[2];
        out[1] = s[3];
        out[2] = -(d2 * acc2 + phi1) / d1;
        out[3] = acc2;
    }
    CYPOOL_INLINE void step(F* s, const F& action, F& reward, I& terminated) const {
        const F torque = action - 1.0f;
        F k1[4], k2[4], k3[4], k4[4], at[4];
        slope(s, torque, k1);
        for (int j = 0; j < 4; ++j) at[j] = s[j] + 0.1f * k1[j];
        slope(at, torque, k2);
        for (int j = 0; j < 4; ++j) at[j] = s[j] + 0.1f * k2[j];
        slope(at, torque, k3);
        for (int j = 0; j < 4; ++j) at[j] = s[j] + 0.2f * k3[j];
        slope(at, torque, k4);
        for (int j = 0; j < 4; ++j) s[j] += (0.2f / 6) * (k1[j] + 2 * k2[j] + 2 * k3[j] + k4[j]);
        s[0] = lanes::wrap(s[0]);
        s[1] = lanes::wrap(s[1]);
        s[2] = lanes::clip(s[2], -4 * lanes::PI, 4 * lanes::PI);
        s[3] = lanes::clip(s[3], -9 * lanes::PI, 9 * lanes::PI);
        F sine, cosine, cosine12;
        lanes::sincos(s[0], sine, cosine);
        lanes::sincos(s[0] + s[1], sine, cosine12);
        terminated = -cosine - cosine12 > 1.0f;
        reward = terminated ? F{} : F{} - 1.0f;
    }
    CYPOOL_INLINE void observe(const F* s, F* obs) const {
        lanes::sincos(s[0], obs[1], obs[0]);
        lanes::sincos(s[1], obs[3], obs[2]);
        obs[4] = s[2];
        obs[5] = s[3];
    }
    void reset(float* s, const Rng* rng) const {
        for (int j = 0; j < 4; ++j) s[j] = static_cast<float>(uniform(rng, -0.1, 0.1));
    }
};

// The states of many environments of one game, side by side. An environment's index is its id, or 0 in a batch of one.
class Batch {
public:
    virtual ~Batch() = default;
    virtual void reset(uint32_t index, const Rng* rng) noexcept = 0;
    virtual void step(uint32_t index, const void* action, double* reward, uint8_t* terminated) noexcept = 0;
    virtual void observe(uint32_t index, void* obs) const noexcept = 0;
    virtual void step_rows(const Rows& rows) noexcept = 0;  // step and observe
    virtual void get(uint32_t index, float* state) const noexcept = 0;
    virtual void set(uint32_t index, const float* state) noexcept = 0;
};

template <class Game> class GameBatch final : public Batch {
public:
    GameBatch(const Game& game, uint32_t size) : game_(game) {
        for (auto& part : state_) part.resize(size);
    }

    void reset(uint32_t index, const Rng* rng) noexcept override {
        float s[Game::STATE];
        game_.reset(s, rng);
        set(index, s);
    }
    void step(uint32_t index, const void* action, double* reward, uint8_t* terminated) noexcept override {
        (this->*step_)(index, 1, static_cast<const Action*>(action), reward, terminated);
    }
    void observe(uint32_t index, void* obs) const noexcept override {
        (this->*observe_)(index, 1, static_cast<float*>(obs));
    }
    void step_rows(const Rows& rows) noexcept override {
        const auto* actions = reinterpret_cast<const Action*>(rows.actions);
        auto* obs = static_cast<float*>(rows.obs[0]);
        for (uint32_t k = 0, count; k < rows.count; k += count) {
            // neighbours go together; as a rule that is all of them
            const int32_t first = rows.ids[k];
            for (count = 1; k + count < rows.count && rows.ids[k + count] == first + static_cast<int32_t>(count);)
                ++count;
            (this->*step_)(first, count, actions + first, rows.reward + k, rows.terminated + k);
            (this->*observe_)(first, count, obs + Game::OBS * k);
        }
    }
    void get(uint32_t index, float* state) const noexcept override {
        for (int j = 0; j < Game::STATE; ++j) state[j] = state_[j][index];
    }
    void set(uint32_t index, const float* state) noexcept override {
        for (int j = 0; j < Game::STATE; ++j) state_[j][index] = state[j];
    }

private:
    using Action = typename Game::Action;

    CYPOOL_INLINE void load(F* s, uint32_t first, uint32_t n) const noexcept {
        for (int j = 0; j < Game::STATE; ++j) {
            s[j] = F{};
            std::memcpy(&s[j], &state_[j][first], n * sizeof(float));
        }
    }
    CYPOOL_INLINE void step_some(uint32_t first, uint32_t n, const Action* actions, double* reward,
                                 uint8_t* terminated) noexcept {
        F s[Game::STATE], action{}, gain;
        I ended;
        load(s, first, n);
        for (uint32_t k = 0; k < n; ++k) action[k] = static_cast<float>(actions[k]);
        game_.step(s, action, gain, ended);
        for (int j = 0; j < Game::STATE; ++j) std::memcpy(&state_[j][first], &s[j], n * sizeof(float));
        for (uint32_t k = 0; k < n; ++k) {
            reward[k] = gain[k];
            terminated[k] = ended[k] & 1;
        }
    }
    CYPOOL_INLINE void observe_some(uint32_t first, uint32_t n, float* obs) const noexcept {
        F s[Game::STATE], shown[Game::OBS];
        load(s, first, n);
        game_.observe(s, shown);
        for (uint32_t k = 0; k < n; ++k)
            for (int j = 0; j < Game::OBS; ++j) obs[Game::OBS * k + j] = shown[j][k];
    }
    // eight at a time, a number that the compiler knows; then the rest
    CYPOOL_INLINE void step_all(uint32_t first, uint32_t count, const Action* actions, double* reward,
                                uint8_t* terminated) noexcept {
        uint32_t k = 0;
        for (; k + lanes::N <= count; k += lanes::N)
            step_some(first + k, lanes::N, actions + k, reward + k, terminated + k);
        if (k < count) step_some(first + k, count - k, actions + k, reward + k, terminated + k);
    }
    CYPOOL_INLINE void observe_all(uint32_t first, uint32_t count, float* obs) const noexcept {
        uint32_t k = 0;
        for (; k + lanes::N <= count; k += lanes::N) observe_some(first + k, lanes::N, obs + Game::OBS * k);
        if (k < count) observe_some(first + k, count - k, obs + Game::OBS * k);
    }
    void step_plain(uint32_t first, uint32_t count, const Action* actions, double* reward,
                    uint8_t* terminated) noexcept {
        step_all(first, count, actions, reward, terminated);
    }
    void observe_plain(uint32_t first, uint32_t count, float* obs) const noexcept { observe_all(first, count, obs); }
    CYPOOL_AVX2 void step_avx2(uint32_t first, uint32_t count, const Action* actions, double* reward,
                               uint8_t* terminated) noexcept {
        step_all(first, count, actions, reward, terminated);
    }
    CYPOOL_AVX2 void observe_avx2(uint32_t first, uint32_t count, float* obs) const noexcept {
        observe_all(first, count, obs);
    }

    // chosen by the features of the CPU
    decltype(&GameBatch::step_plain) step_ = has_avx2() ? &GameBatch::step_avx2 : &GameBatch::step_plain;
    decltype(&GameBatch::observe_plain) observe_ = has_avx2() ? &GameBatch::observe_avx2 : &GameBatch::observe_plain;
    const Game game_;
    std::vector<float> state_[Game::STATE];
};

template <class Game> std::shared_ptr<Batch> make_batch(const Game& game, uint32_t size) {
    return std::make_shared<GameBatch<Game>>(game, size);
}

}  // namespace cypool
