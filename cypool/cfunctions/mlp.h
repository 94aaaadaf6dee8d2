// A multilayer perceptron in single precision, for one observation at a time.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <vector>

#include "cypool/policy.h"

#define CYPOOL_INLINE inline __attribute__((always_inline))

namespace cypool {

enum class Activation : int { TANH, RELU };
enum class Output : int { ARGMAX, IDENTITY, CLIP, TANH };
enum class Input : int { F4, F8, U1, I4, I8 };
enum class Simd : int { NONE, AVX2, AVX512 };

namespace mlp {

constexpr size_t LANES = 16;

using F = float __attribute__((vector_size(4 * LANES)));
using I = int32_t __attribute__((vector_size(4 * LANES)));

CYPOOL_INLINE F load(const float* at) {
    F x;
    std::memcpy(&x, at, sizeof(F));
    return x;
}

CYPOOL_INLINE void store(float* at, const F& x) { std::memcpy(at, &x, sizeof(F)); }

// To 3e-7 of its value. With e = exp(2 x) - 1 it is e / (e + 2), which is exact near zero, too.
CYPOOL_INLINE F tanh(const F& given) {
    const F zero{};
    // beyond 9.1 it is 1 in single precision; NaN stays
    F x = given > 9.1f ? zero + 9.1f : given;
    x = x < -9.1f ? zero - 9.1f : x;
    x = 2 * x;
    // exp(x) = 2^n exp(r) with a whole n, which the lowest bits of `shifted` hold
    const F shifted = x * 1.44269504f + 12582912.0f;
    const F n = shifted - 12582912.0f;
    const F r = (x - n * 0.693359375f) + n * 2.12194440e-4f;
    I bits;
    std::memcpy(&bits, &shifted, sizeof(I));
    bits = (bits << 23) + 0x3f800000;
    F power;
    std::memcpy(&power, &bits, sizeof(F));
    // exp(r) - 1 for |r| <= log(2) / 2
    const F p =
        r
        + r * r
              * (1.0f / 2 + r * (1.0f / 6 + r * (1.0f / 24 + r * (1.0f / 120 + r * (1.0f / 720 + r * (1.0f / 5040))))));
    const F e = power * p + (power - 1);
    return e / (e + 2);
}

}  // namespace mlp

// Layers, and what is done with the numbers of the last one.
class Mlp {
public:
    Activation activation = Activation::TANH;
    Output output = Output::ARGMAX;
    Input input = Input::F4;
    bool is_double = false;        // the action is of float64
    std::vector<float> low, high;  // bounds of the action
    // of a group of agents, for each of which an action is chosen: how many, and the bytes of what one sees and does
    size_t agents = 1, observation_bytes = 0, action_bytes = 0;

    // Adds a layer: y = weights x + bias, with weights (outputs, inputs).
    void add(const float* weights, const float* bias, size_t inputs, size_t outputs) {
        Layer layer{inputs, outputs, (outputs + mlp::LANES - 1) / mlp::LANES * mlp::LANES, {}, {}};
        layer.weights.assign(inputs * layer.padded, 0);
        layer.bias.assign(layer.padded, 0);
        for (size_t j = 0; j < outputs; j++) {
            layer.bias[j] = bias[j];
            for (size_t i = 0; i < inputs; i++) layer.weights[i * layer.padded + j] = weights[j * inputs + i];
        }
        width_ = std::max({width_, inputs, layer.padded});
        layers_.push_back(std::move(layer));
    }

    // The most that this CPU has.
    static Simd best() noexcept {
#if defined(__x86_64__)
        if (__builtin_cpu_supports("avx512f")) return Simd::AVX512;
        if (__builtin_cpu_supports("avx2")) return Simd::AVX2;
#endif
        return Simd::NONE;
    }

    // For tests: the results are the same.
    void use(Simd simd) noexcept { simd_ = std::min(simd, best()); }

    // Chooses an action. Returns 0, or -1 if there is no memory.
    int apply(const void* observation, void* action) const noexcept {
        // of this thread, and used by all networks in turn
        thread_local std::vector<float> memory;
        try {
            if (memory.size() < 2 * width_) memory.resize(2 * width_);
        } catch (const std::bad_alloc&) {
            return -1;
        }
        float* x = memory.data();
        float* y = x + width_;
        read(observation, x);
        for (size_t k = 0; k < layers_.size(); k++) {
            const bool last = k + 1 == layers_.size();
#if defined(__x86_64__)
            if (simd_ == Simd::AVX512)
                forward_avx512(layers_[k], x, y, last);
            else if (simd_ == Simd::AVX2)
                forward_avx2(layers_[k], x, y, last);
            else
#endif
                forward(layers_[k], x, y, last);
            std::swap(x, y);
        }
        write(x, action);
        return 0;
    }

private:
    struct Layer {
        size_t inputs, outputs, padded;  // to whole vectors, with zeros
        std::vector<float> weights;      // (inputs, padded)
        std::vector<float> bias;
    };

    std::vector<Layer> layers_;
    size_t width_ = 0;  // the most numbers between two layers
    Simd simd_ = best();

    template <class T> static void convert(const void* from, float* x, size_t count) noexcept {
        for (size_t i = 0; i < count; i++) x[i] = static_cast<float>(static_cast<const T*>(from)[i]);
    }

    void read(const void* observation, float* x) const noexcept {
        const size_t count = layers_[0].inputs;
        switch (input) {
            case Input::F4: std::memcpy(x, observation, count * sizeof(float)); break;
            case Input::F8: convert<double>(observation, x, count); break;
            case Input::U1: convert<uint8_t>(observation, x, count); break;
            case Input::I4: convert<int32_t>(observation, x, count); break;
            case Input::I8: convert<int64_t>(observation, x, count); break;
        }
    }

    // Sums are in a fixed order, without fused multiply-add: the same bits on every machine.
    CYPOOL_INLINE void body(const Layer& layer, const float* x, float* y, bool last) const noexcept {
        using mlp::F, mlp::LANES;
        size_t j = 0;
        // as many sums at a time as a CPU needs to keep its adders busy
        for (; j + 4 * LANES <= layer.padded; j += 4 * LANES) {
            const float* row = layer.weights.data() + j;
            F a{}, b{}, c{}, d{};
            for (size_t i = 0; i < layer.inputs; i++, row += layer.padded) {
                a += x[i] * mlp::load(row);
                b += x[i] * mlp::load(row + LANES);
                c += x[i] * mlp::load(row + 2 * LANES);
                d += x[i] * mlp::load(row + 3 * LANES);
            }
            finish(layer, a, y, j, last);
            finish(layer, b, y, j + LANES, last);
            finish(layer, c, y, j + 2 * LANES, last);
            finish(layer, d, y, j + 3 * LANES, last);
        }
        for (; j < layer.padded; j += LANES) {
            const float* row = layer.weights.data() + j;
            F a{}, b{}, c{}, d{};
            size_t i = 0;
            for (; i + 4 <= layer.inputs; i += 4, row += 4 * layer.padded) {
                a += x[i] * mlp::load(row);
                b += x[i + 1] * mlp::load(row + layer.padded);
                c += x[i + 2] * mlp::load(row + 2 * layer.padded);
                d += x[i + 3] * mlp::load(row + 3 * layer.padded);
            }
            for (; i < layer.inputs; i++, row += layer.padded) a += x[i] * mlp::load(row);
            finish(layer, (a + b) + (c + d), y, j, last);
        }
    }

    CYPOOL_INLINE void finish(const Layer& layer, const mlp::F& sum, float* y, size_t j, bool last) const noexcept {
        mlp::F value = sum + mlp::load(layer.bias.data() + j);
        if (!last) value = activation == Activation::TANH ? mlp::tanh(value) : relu(value);
        mlp::store(y + j, value);
    }

    // NaN stays
    CYPOOL_INLINE static mlp::F relu(const mlp::F& x) { return x < 0 ? mlp::F{} : x; }

    void forward(const Layer& layer, const float* x, float* y, bool last) const noexcept { body(layer, x, y, last); }

#if defined(__x86_64__)
    __attribute__((target("avx512f"))) void forward_avx512(const Layer& layer, const float* x, float* y,
                                                           bool last) const noexcept {
        body(layer, x, y, last);
    }

    __attribute__((target("avx2"))) void forward_avx2(const Layer& layer, const float* x, float* y,
                                                      bool last) const noexcept {
        body(layer, x, y, last);
    }
#endif

    void write(const float* y, void* action) const noexcept {
        const size_t count = layers_.back().outputs;
        if (output == Output::ARGMAX) {
            // as NumPy: the first of equal ones, and NaN is the greatest
            size_t best = 0;
            for (size_t j = 1; j < count && !std::isnan(y[best]); j++)
                if (y[j] > y[best] || std::isnan(y[j])) best = j;
            *static_cast<int64_t*>(action) = static_cast<int64_t>(best);
            return;
        }
        for (size_t j = 0; j < count; j++) {
            float value = y[j];
            if (output == Output::TANH) value = low[j] + (std::tanh(value) + 1) * 0.5f * (high[j] - low[j]);
            // rounding may lead beyond a bound
            if (output != Output::IDENTITY) value = value < low[j] ? low[j] : value > high[j] ? high[j] : value;
            if (is_double)
                static_cast<double*>(action)[j] = value;
            else
                static_cast<float*>(action)[j] = value;
        }
    }
};

// The policy of an `Mlp`, which its parameters are.
inline int mlp_policy(Decision* decision) noexcept {
    const auto mlp = static_cast<const Mlp*>(decision->parameters);
    const auto observation = static_cast<const char*>(decision->obs[0]);
    for (size_t k = 0; k < mlp->agents; k++) {
        const int failed = mlp->apply(observation + k * mlp->observation_bytes,
                                      static_cast<char*>(decision->action) + k * mlp->action_bytes);
        if (failed) return failed;
    }
    return 0;
}

}  // namespace cypool
