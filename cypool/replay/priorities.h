// Priorities as they lie in files: a number and a hash of it in one word, which is written at once.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include "cypool/replay/checksum.h"

namespace cypool {

constexpr float kLeastPriority = 1e-7F, kMostPriority = 1e38F;
// takes the place of the index of a row in the greatest priority
constexpr int64_t kOfAll = -1;

inline uint64_t tagged_bits(uint32_t bits, int64_t index) noexcept {
    const uint64_t words[2] = {bits, static_cast<uint64_t>(index)};
    const uint64_t sum = checksum(reinterpret_cast<const char*>(words), sizeof(words), 0);
    return (sum & ~uint64_t{0xFFFFFFFF}) | bits;
}

// A priority of the row with this index; never 0.
inline uint64_t tagged(double priority, int64_t index) noexcept {
    return tagged_bits(std::bit_cast<uint32_t>(static_cast<float>(priority)), index);
}

inline double number_in(uint64_t word) noexcept { return std::bit_cast<float>(static_cast<uint32_t>(word)); }

// Whether a word is a priority of the row with this index, or 0, as long as the row has none.
inline bool is_tagged(uint64_t word, int64_t index) noexcept {
    if (word == 0) {
        return true;
    }
    const auto number = static_cast<float>(number_in(word));
    return word == tagged_bits(static_cast<uint32_t>(word), index) && number >= kLeastPriority
           && number <= kMostPriority;
}

}  // namespace cypool
