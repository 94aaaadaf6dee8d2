// Functions of single numbers, with the bits that XLA gets on a CPU with fused multiply-adds and glibc, on any machine.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

namespace cypool::jax {

// fmaf(a, b, c), nearly always without a call
inline float fused(float a, float b, float c) {
    // the product is exact. Rounded twice, the sum is wrong only if the first rounding ends between two floats
    const double sum = static_cast<double>(a) * b + c;
    const uint64_t bits = std::bit_cast<uint64_t>(sum);
    if ((bits & 0x1fffffff) == 0x10000000 || !(std::abs(sum) > 1e-30)) return std::fma(a, b, c);
    return static_cast<float>(sum);
}

// the same of a row: fused(a[i] - less, b, c[i])
template <int COUNT> void fused_row(const float* a, float less, float b, const float* c, float* out) {
    bool is_near_half = false;
    for (int i = 0; i < COUNT; ++i) {
        const double sum = static_cast<double>(a[i] - less) * b + c[i];
        is_near_half |= (std::bit_cast<uint64_t>(sum) & 0x1fffffff) == 0x10000000 || !(std::abs(sum) > 1e-30);
        out[i] = static_cast<float>(sum);
    }
    for (int i = 0; is_near_half && i < COUNT; ++i) out[i] = fused(a[i] - less, b, c[i]);
}

// glibc's sinf and cosf, of angles from 0 to two turns: a polynomial of double precision around the nearest multiple of
// a right angle. Whether the CPU fuses makes no difference there to the result.
struct SineCosine {
    float sine, cosine;
};
inline SineCosine sine_cosine(float angle) {
    constexpr double RIGHT = 0x1.921fb54442d18p0;
    const int turns = angle < 0.785398163f ? 0 : static_cast<int>(angle * 0x1.45f306dc9c883p-1 + 0.5);
    const double x = angle - turns * RIGHT, square = x * x, fourth = square * square;
    const double sine = x + x * square * -0x1.555545995a603p-3
                        + x * square * square * (0x1.1107605230bc4p-7 + square * -0x1.994eb3774cf24p-13);
    const double cosine = 1 + square * -0x1.ffffffd0c621cp-2 + fourth * 0x1.55553e1068f19p-5
                          + fourth * square * (-0x1.6c087e89a359dp-10 + square * 0x1.99343027bf8c3p-16);
    const auto s = static_cast<float>(sine), c = static_cast<float>(cosine);
    switch (turns & 3) {
        case 0: return {s, c};
        case 1: return {c, -s};
        case 2: return {-s, -c};
        default: return {-c, s};
    }
}

}  // namespace cypool::jax
