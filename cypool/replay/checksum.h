// A hash of bytes that finds damage; it can be forged.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace cypool {

inline uint64_t mixed(uint64_t sum, uint64_t word) noexcept {
    return std::rotl(sum + word * 0xC2B2AE3D27D4EB4FU, 31) * 0x9E3779B185EBCA87U;
}

// The hash of some bytes behind others whose hash is `seed`.
inline uint64_t checksum(const char* data, size_t size, uint64_t seed) noexcept {
    // four sums at a time, as none waits for the others
    uint64_t sums[4] = {seed, seed ^ 1, seed ^ 2, seed ^ 3};
    uint64_t words[4];
    uint64_t left = size;
    while (left > 0) {
        const size_t count = left < sizeof(words) ? left : sizeof(words);
        if (count < sizeof(words)) {
            std::memset(words, 0, sizeof(words));
        }
        std::memcpy(words, data, count);
        for (int k = 0; k < 4; ++k) {
            sums[k] = mixed(sums[k], words[k]);
        }
        data += count;
        left -= count;
    }
    uint64_t sum = size;
    for (const uint64_t each : sums) {
        sum = mixed(sum, each);
    }
    return sum ^ (sum >> 32);
}

}  // namespace cypool
