// Bounded integers from a 32-bit Mersenne Twister, the same on every compiler; and its state as text.
#pragma once

#include <cstdint>
#include <random>
#include <sstream>
#include <stdexcept>
#include <string>

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

// The state of a stream, and a stream of that state.
inline std::string text_of(const std::mt19937& random) {
    std::ostringstream out;
    out << random;
    return out.str();
}
inline void from_text(std::mt19937& random, const std::string& text) {
    std::istringstream in(text);
    if (!(in >> random) || text_of(random) != text)
        throw std::invalid_argument("state: not from this game, or damaged");
}

}  // namespace cypool
