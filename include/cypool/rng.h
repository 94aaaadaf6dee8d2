// A stream of random numbers: NumPy's bit generator, drawn from without the GIL and without NumPy's headers.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <utility>

namespace cypool {

// NumPy's bitgen_t, member by member (numpy/random/bitgen.h; its layout is part of NumPy's C API).
struct Rng {
    void* state;
    uint64_t (*next_uint64)(void* state);
    uint32_t (*next_uint32)(void* state);
    double (*next_double)(void* state);
    uint64_t (*next_raw)(void* state);
};

// A random number, and the next one with the next call: splitmix64, for numbers that are no environment's.
inline uint64_t mixed(uint64_t& number) noexcept {
    uint64_t z = number += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}

// One double in [low, high), as Generator.uniform(low, high) draws it.
inline double uniform(const Rng* rng, double low, double high) noexcept {
    return low + (high - low) * rng->next_double(rng->state);
}

// One integer in [low, high), as Generator.integers(low, high) draws it, and Generator.choice the index of an item
// (0 to their number): by Lemire's method, with 32 random bits for a range of up to 2**32 values and none for one.
inline int64_t integers(const Rng* rng, int64_t low, int64_t high) noexcept {
    const uint64_t count = static_cast<uint64_t>(high) - static_cast<uint64_t>(low);
    uint64_t drawn = 0;
    if (count == uint64_t{1} << 32) {
        drawn = rng->next_uint32(rng->state);
    } else if (count < uint64_t{1} << 32) {
        if (count > 1) {
            const uint32_t n = static_cast<uint32_t>(count);
            uint64_t product = uint64_t{rng->next_uint32(rng->state)} * n;
            if (static_cast<uint32_t>(product) < n) {
                // without this, the low parts would favour some values
                const uint32_t excess = -n % n;
                while (static_cast<uint32_t>(product) < excess) {
                    product = uint64_t{rng->next_uint32(rng->state)} * n;
                }
            }
            drawn = product >> 32;
        }
    } else {
        __extension__ using Wide = unsigned __int128;
        Wide product = static_cast<Wide>(rng->next_uint64(rng->state)) * count;
        if (static_cast<uint64_t>(product) < count) {
            const uint64_t excess = -count % count;
            while (static_cast<uint64_t>(product) < excess) {
                product = static_cast<Wide>(rng->next_uint64(rng->state)) * count;
            }
        }
        drawn = static_cast<uint64_t>(product >> 64);
    }
    return static_cast<int64_t>(static_cast<uint64_t>(low) + drawn);
}

// The index that Gymnasium's categorical_sample draws: the first of n whose probability, added to those before it,
// exceeds a double in [0, 1); 0 if none does, for they may add up to less than 1. The sums never fall.
inline int categorical(const Rng* rng, const double* sums, int n) noexcept {
    const double drawn = rng->next_double(rng->state);
    int found = 0;
    if (n <= 8) {
        // no branch that depends on chance
        for (int k = 0; k < n; ++k) {
            found += sums[k] <= drawn;
        }
    } else {
        found = static_cast<int>(std::upper_bound(sums, sums + n, drawn) - sums);
    }
    return found == n ? 0 : found;
}

// One integer in [0, most], as Generator.shuffle draws it: masked 32 random bits until they are not above `most`; none
// for 0.
inline uint32_t interval(const Rng* rng, uint32_t most) noexcept {
    if (most == 0) {
        return 0;
    }
    const uint32_t mask = ~uint32_t{0} >> std::countl_zero(most);
    uint32_t drawn;
    do {
        drawn = rng->next_uint32(rng->state) & mask;
    } while (drawn > most);
    return drawn;
}

// Generator.shuffle of a list of n items.
template <class T> void shuffle(const Rng* rng, T* items, int n) noexcept {
    for (int i = n - 1; i > 0; --i) {
        std::swap(items[i], items[interval(rng, static_cast<uint32_t>(i))]);
    }
}

}  // namespace cypool
