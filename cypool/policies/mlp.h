// A multilayer perceptron in single precision that chooses actions, for many observations at a time.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <new>
#include <vector>

#include "cypool/policies/decisions.h"
#include "cypool/policies/philox.h"

#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

#define CYPOOL_INLINE inline __attribute__((always_inline))

namespace cypool {

enum class Activation : int { TANH, RELU };
enum class Output : int { ARGMAX, IDENTITY, CLIP, TANH, CATEGORICAL, GAUSSIAN, TANH_GAUSSIAN };
enum class Input : int { F4, F8, U1, I4, I8 };
enum class Simd : int { NONE, AVX2, AVX512 };

namespace mlp {

// Standard deviations from exp(-80) to exp(80): calculations with them stay within single precision.
constexpr int LOG_STD_LIMIT = 80;

// Where memory for vectors begins.
struct alignas(64) Line {
    float numbers[16];
};

// Outputs are in tiles, the last one filled up with zeros: of each tile the weights of the first input, then of the
// next.
struct Layer {
    static constexpr int TILE = 16;
    size_t inputs, outputs;
    const float* weights;
    const float* bias;
};

// All that a choice depends on. Kernels read plain pointers: no function of a vector is compiled in them.
struct Plan {
    Activation activation = Activation::TANH;
    Output output = Output::ARGMAX;
    Input input = Input::F4;
    bool is_double = false;  // the action is of float64
    uint64_t seed = 0;
    const Layer* policy = nullptr;
    const Layer* value = nullptr;
    size_t num_policy_layers = 0, num_value_layers = 0;
    size_t num_inputs = 0, num_outputs = 0;
    size_t width = 0;        // the most numbers behind a layer, in whole tiles
    size_t num_actions = 0;  // numbers of a continuous action; 0: the action is discrete
    size_t num_draws = 0;    // random words of an action
    const double* low = nullptr;
    const double* high = nullptr;
    const float* log_std = nullptr;   // null: the network's second half of outputs
    const float* log_half = nullptr;  // the logarithm of half the range of each number
    size_t observation_bytes = 0, action_bytes = 0;
};

// The rows to choose for. Null: not wanted.
struct MlpRows {
    const char* obs;
    const uint8_t* mask;  // of discrete actions: 1 for legal ones
    size_t count;
    uint64_t step, first;  // which random numbers belong to the first row; the others have the next ones
    char* actions;
    float* raw_action;  // raw_action, log_prob and entropy are null together
    float* log_prob;
    float* entropy;
    float* value;

    // Continues behind the first rows.
    void skip(const Plan& plan, size_t rows) noexcept {
        obs += rows * plan.observation_bytes;
        if (mask != nullptr) mask += rows * plan.num_outputs;
        count -= rows;
        first += rows;
        if (actions != nullptr) actions += rows * plan.action_bytes;
        if (log_prob != nullptr) raw_action += rows * plan.num_actions, log_prob += rows, entropy += rows;
        if (value != nullptr) value += rows;
    }
};

#if defined(__x86_64__)
#pragma GCC push_options
#pragma GCC target("avx512f,avx2,fma")
namespace avx512 {
constexpr int LANES = 16, OUTPUTS = 8;
CYPOOL_INLINE __m512 fma(__m512 a, __m512 b, __m512 c) { return _mm512_fmadd_ps(a, b, c); }
// gcc 12 warns of the form without a mask
CYPOOL_INLINE __m512 root(__m512 x) { return _mm512_maskz_sqrt_ps(0xffff, x); }
#include "cypool/policies/mlp_kernel.h"
}  // namespace avx512
#pragma GCC pop_options

#pragma GCC push_options
#pragma GCC target("avx2,fma")
namespace avx2 {
constexpr int LANES = 8, OUTPUTS = 4;
CYPOOL_INLINE __m256 fma(__m256 a, __m256 b, __m256 c) { return _mm256_fmadd_ps(a, b, c); }
CYPOOL_INLINE __m256 root(__m256 x) { return _mm256_sqrt_ps(x); }
#include "cypool/policies/mlp_kernel.h"
}  // namespace avx2
#pragma GCC pop_options
#endif

namespace plain {
constexpr int LANES = 4, OUTPUTS = 4;
using Four = float __attribute__((vector_size(4 * LANES)));
#if defined(__x86_64__)
// without the instruction the product is rounded, too
CYPOOL_INLINE Four fma(const Four& a, const Four& b, const Four& c) { return a * b + c; }
CYPOOL_INLINE Four root(const Four& x) { return _mm_sqrt_ps(x); }
#elif defined(__aarch64__)
CYPOOL_INLINE Four fma(const Four& a, const Four& b, const Four& c) { return vfmaq_f32(c, a, b); }
CYPOOL_INLINE Four root(const Four& x) { return vsqrtq_f32(x); }
#else
CYPOOL_INLINE Four fma(const Four& a, const Four& b, const Four& c) { return a * b + c; }
CYPOOL_INLINE Four root(const Four& x) {
    return Four{std::sqrt(x[0]), std::sqrt(x[1]), std::sqrt(x[2]), std::sqrt(x[3])};
}
#endif
#include "cypool/policies/mlp_kernel.h"
}  // namespace plain

}  // namespace mlp

// Layers, and the actions computed from the last one.
class Mlp : public mlp::Plan {
public:
    std::vector<double> lows, highs;  // bounds of the action
    std::vector<float> log_stds;

    // Adds a layer to the policy or to the value: y = weights x + bias, with weights (outputs, inputs).
    void add(bool to_value, const float* weights, const float* bias, size_t inputs, size_t outputs) {
        using mlp::Layer, mlp::Line;
        const size_t tiles = (outputs + Layer::TILE - 1) / Layer::TILE;
        // the bias is behind the weights
        std::vector<Line> memory(tiles * (inputs + 1));
        float* at = memory.data()->numbers;
        for (size_t j = 0; j < outputs; j++) {
            for (size_t i = 0; i < inputs; i++)
                at[(j / Layer::TILE * inputs + i) * Layer::TILE + j % Layer::TILE] = weights[j * inputs + i];
            at[tiles * inputs * Layer::TILE + j] = bias[j];
        }
        width = std::max(width, tiles * Layer::TILE);
        (to_value ? value_layers_ : policy_layers_).push_back({inputs, outputs, at, at + tiles * inputs * Layer::TILE});
        memory_.push_back(std::move(memory));
    }

    // Once all layers are added, and everything else is set.
    void complete() {
        policy = policy_layers_.data();
        num_policy_layers = policy_layers_.size();
        value = value_layers_.data();
        num_value_layers = value_layers_.size();
        num_inputs = policy[0].inputs;
        num_outputs = policy[num_policy_layers - 1].outputs;
        num_actions = lows.size();
        if (output == Output::CATEGORICAL) num_draws = 1;
        // two numbers are drawn together
        if (output == Output::GAUSSIAN || output == Output::TANH_GAUSSIAN) num_draws = (num_actions + 1) / 2 * 2;
        for (size_t j = 0; j < num_actions; j++)
            log_halves_.push_back(static_cast<float>(std::log(0.5 * (highs[j] - lows[j]))));
        low = lows.data();
        high = highs.data();
        log_half = log_halves_.data();
        log_std = log_stds.empty() ? nullptr : log_stds.data();
        use(best());
    }

    // The most that this CPU has.
    static Simd best() noexcept {
#if defined(__x86_64__)
        if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
            return __builtin_cpu_supports("avx512f") ? Simd::AVX512 : Simd::AVX2;
#endif
        return Simd::NONE;
    }

    // For tests.
    void use(Simd simd) noexcept { simd_ = std::min(simd, best()); }

    // Chooses actions. Returns 0, or -1 if there is no memory.
    int choose(const mlp::MlpRows& rows) const noexcept {
        // of this thread, and used by all networks in turn
        thread_local std::vector<mlp::Line> memory;
        const size_t numbers = num_inputs + 2 * width + 2 * num_outputs + 2 * num_actions + num_draws;
        try {
            // two vectors of rows, of the widest ones
            if (memory.size() < 2 * numbers) memory.resize(2 * numbers);
        } catch (const std::bad_alloc&) {
            return -1;
        }
        float* at = memory.data()->numbers;
#if defined(__x86_64__)
        if (simd_ == Simd::AVX512) {
            mlp::avx512::choose(*this, rows, at);
            return 0;
        }
        if (simd_ == Simd::AVX2) {
            mlp::avx2::choose(*this, rows, at);
            return 0;
        }
#endif
        mlp::plain::choose(*this, rows, at);
        return 0;
    }

private:
    std::vector<std::vector<mlp::Line>> memory_;
    std::vector<mlp::Layer> policy_layers_, value_layers_;
    std::vector<float> log_halves_;
    Simd simd_ = Simd::NONE;
};

// A perceptron during a rollout, or a call: its outputs next to the actions.
struct MlpCall {
    const Mlp* network = nullptr;
    uint64_t first_step = 0;  // of the random numbers
    size_t agents = 1;        // rows of an environment
    size_t rows = 0;          // of a step
    float* raw_action = nullptr;
    float* log_prob = nullptr;
    float* entropy = nullptr;
    float* value = nullptr;

    int choose(const void* obs, const uint8_t* mask, void* actions, int64_t step, size_t env_id,
               size_t count) const noexcept {
        const size_t first = env_id * agents, at = static_cast<size_t>(step) * rows + first;
        return network->choose({static_cast<const char*>(obs), mask, count * agents,
                                first_step + static_cast<uint64_t>(step), first, static_cast<char*>(actions),
                                raw_action == nullptr ? nullptr : raw_action + at * network->num_actions,
                                log_prob == nullptr ? nullptr : log_prob + at,
                                entropy == nullptr ? nullptr : entropy + at, value == nullptr ? nullptr : value + at});
    }
};

// The policy of an `MlpCall`, which its parameters are.
inline int mlp_policy(const Decisions* decisions) noexcept {
    return static_cast<const MlpCall*>(decisions->parameters)
        ->choose(decisions->obs, decisions->mask, decisions->actions, decisions->step, decisions->env_id,
                 decisions->count);
}

}  // namespace cypool
