// Masks of legal actions: a byte for each, 0 if it is not legal.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace cypool {

// 1 in the lowest bit of each of eight bytes that is not 0; of fewer where the mask ends.
inline uint64_t legal_word(const uint8_t* mask, size_t first, size_t num_actions) noexcept {
    constexpr uint64_t LOW = 0x7f7f7f7f7f7f7f7f, ONES = 0x0101010101010101;
    uint64_t word = 0;
    if (first + 8 <= num_actions) {
        std::memcpy(&word, mask + first, 8);
    } else {
        // parts of 4, 2 and 1 bytes
        const size_t count = num_actions - first;
        const uint8_t* at = mask + first;
        const auto take = [&]<class Part>(Part part, size_t offset) {
            std::memcpy(&part, at + offset, sizeof part);
            word |= uint64_t{part} << 8 * offset;
        };
        if (count & 4) take(uint32_t{}, 0);
        if (count & 2) take(uint16_t{}, count & 4);
        if (count & 1) take(uint8_t{}, count & 6);
    }
    return (((word & LOW) + LOW) | word) >> 7 & ONES;
}

// How many of 64 are legal.
inline size_t count_legal_block(const uint8_t* mask) noexcept {
    // compilers have vectors of this size for all machines
    using Bytes = uint8_t __attribute__((vector_size(16)));
    Bytes parts[4];
    std::memcpy(parts, mask, sizeof parts);
    // a comparison is 0 or -1
    const auto counts = -((parts[0] != 0) + (parts[1] != 0) + (parts[2] != 0) + (parts[3] != 0));
    uint64_t words[2];
    std::memcpy(words, &counts, sizeof words);
    return (words[0] + words[1]) * 0x0101010101010101 >> 56;
}

inline size_t count_legal(const uint8_t* mask, size_t num_actions) noexcept {
    size_t count = 0, first = 0;
    for (; first + 64 <= num_actions; first += 64) count += count_legal_block(mask + first);
    for (; first < num_actions; first += 8) {
        // of bytes that are 0 or 1 the highest one of this product is the sum
        count += legal_word(mask, first, num_actions) * 0x0101010101010101 >> 56;
    }
    return count;
}

// The legal action that `n` others come before; there are more than `n`.
inline int64_t nth_legal(const uint8_t* mask, size_t num_actions, size_t n) noexcept {
    size_t first = 0;
    for (; first + 64 <= num_actions; first += 64) {
        const size_t count = count_legal_block(mask + first);
        if (n < count) break;
        n -= count;
    }
    for (;; first += 8) {
        uint64_t word = legal_word(mask, first, num_actions);
        const size_t count = word * 0x0101010101010101 >> 56;
        if (n < count) {
            for (; n > 0; --n) word &= word - 1;
            return static_cast<int64_t>(first) + std::countr_zero(word) / 8;
        }
        n -= count;
    }
}

}  // namespace cypool
