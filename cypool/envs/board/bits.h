// Boards as bits: one for each cell.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace cypool::board {

constexpr uint64_t bit(int64_t cell) { return uint64_t{1} << cell; }

// Calls f with the number of each bit that is set, the lowest first.
template <class F> inline void each_bit(uint64_t bits, F&& f) {
    for (; bits; bits &= bits - 1) f(std::countr_zero(bits));
}

// The bits of each byte as numbers that are 0 or 1, the lowest first.
template <class T> struct BitTable {
    T of[256][8];
    constexpr BitTable() : of{} {
        for (int byte = 0; byte < 256; ++byte) {
            for (int k = 0; k < 8; ++k) of[byte][k] = static_cast<T>(byte >> k & 1);
        }
    }
};
template <class T> inline constexpr BitTable<T> BIT_TABLE;

// Writes the lowest bits as numbers that are 0 or 1.
template <class T> inline void write_bits(uint64_t bits, size_t count, T* out) {
    for (; count >= 8; count -= 8, bits >>= 8, out += 8) std::memcpy(out, BIT_TABLE<T>.of[bits & 255], 8 * sizeof(T));
    for (size_t k = 0; k < count; ++k) out[k] = BIT_TABLE<T>.of[bits & 255][k];
}

// Saves or loads all bits of words as bytes.
template <class Archive, size_t N> void exchange_bytes(Archive& archive, const char* name, uint64_t (&words)[N]) {
    for (size_t k = 0; k < N * 8; ++k) {
        const size_t shift = k % 8 * 8;
        auto byte = static_cast<uint8_t>(words[k / 8] >> shift);
        archive.item(name, k, byte, 0, 255);
        words[k / 8] = (words[k / 8] & ~(uint64_t{255} << shift)) | uint64_t{byte} << shift;
    }
}

}  // namespace cypool::board
