// Random numbers by counter: Philox4x32-10 (Salmon et al., Parallel random numbers: as easy as 1, 2, 3, 2011).
#pragma once

#include <cstdint>

namespace cypool {

// Writes the four words that belong to a key and a counter. No state: any thread may draw any of them.
inline void philox(uint64_t key, const uint32_t (&counter)[4], uint32_t (&words)[4]) noexcept {
    uint32_t low = static_cast<uint32_t>(key), high = static_cast<uint32_t>(key >> 32);
    uint32_t a = counter[0], b = counter[1], c = counter[2], d = counter[3];
    for (int round = 0; round < 10; round++) {
        const uint64_t p = uint64_t{0xD2511F53} * a, q = uint64_t{0xCD9E8D57} * c;
        a = static_cast<uint32_t>(q >> 32) ^ b ^ low;
        b = static_cast<uint32_t>(q);
        c = static_cast<uint32_t>(p >> 32) ^ d ^ high;
        d = static_cast<uint32_t>(p);
        low += 0x9E3779B9;
        high += 0xBB67AE85;
    }
    words[0] = a, words[1] = b, words[2] = c, words[3] = d;
}

}  // namespace cypool
