// Bounded integers from a 32-bit Mersenne Twister, the same on every compiler.
#pragma once

#include <cstdint>
#include <random>

namespace cypool {

// One integer in [0, bound), as libstdc++ 11 and later draws uniform_int_distribution<>(0, bound - 1):
// Lemire's multiplication. Written out because the standard leaves the algorithm open.
inline uint32_t draw_below(std::mt19937& random, uint32_t bound) noexcept {
    uint64_t product = uint64_t{random()} * bound;
    if (static_cast<uint32_t>(product) < bound) {
        const uint32_t threshold = -bound % bound;
        while (static_cast<uint32_t>(product) < threshold) product = uint64_t{random()} * bound;
    }
    return static_cast<uint32_t>(product >> 32);
}

}  // namespace cypool
