// jax.random for numbers of 32 bits, the same bits as JAX's: threefry2x32 with `jax_threefry_partitionable`, as is the
// default since JAX 0.5. Element i of an array does not depend on the shape, so functions return one element.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

namespace cypool::jax {

// Word: uint32_t, or a vector of them, for as many keys at once.
template <class Word> struct KeyOf {
    Word a, b;
    bool operator==(const KeyOf&) const = default;
};
using Key = KeyOf<uint32_t>;

// Four rounds of threefry.
template <int R, int S, int T, int U, class Word> [[gnu::always_inline]] inline void mix(Word& x, Word& y) {
    x += y, y = (y << R | y >> (32 - R)) ^ x;
    x += y, y = (y << S | y >> (32 - S)) ^ x;
    x += y, y = (y << T | y >> (32 - T)) ^ x;
    x += y, y = (y << U | y >> (32 - U)) ^ x;
}
template <class Word> inline KeyOf<Word> threefry(KeyOf<Word> key, Word x, Word y) {
    const Word c = key.a ^ key.b ^ 0x1bd11bdau;
    x += key.a, y += key.b;
    mix<13, 15, 26, 6>(x, y), x += key.b, y += c + 1;
    mix<17, 29, 16, 24>(x, y), x += c, y += key.a + 2;
    mix<13, 15, 26, 6>(x, y), x += key.a, y += key.b + 3;
    mix<17, 29, 16, 24>(x, y), x += key.b, y += c + 4;
    mix<13, 15, 26, 6>(x, y), x += c, y += key.a + 5;
    return {x, y};
}

// PRNGKey(seed), without 64-bit numbers
inline Key prng_key(int64_t seed) { return {0, static_cast<uint32_t>(seed)}; }

// split(key, n)[i], for any n
inline Key subkey(Key key, uint32_t i) { return threefry<uint32_t>(key, 0, i); }

// key, taken = split(key): returns `taken`
inline Key take(Key& key) {
    const Key taken = subkey(key, 1);
    key = subkey(key, 0);
    return taken;
}

// N keys that are taken one after the other, of which some are not needed
template <int N> class KeysToTake {
public:
    explicit KeysToTake(Key key) {
        rests_[0] = key;
        for (int i = 0; i < N; ++i) rests_[i + 1] = subkey(rests_[i], 0);
    }
    Key operator[](int i) const { return subkey(rests_[i], 1); }
    // what is left
    Key rest() const { return rests_[N]; }

private:
    Key rests_[N + 1];
};

// bits(key)
inline uint32_t bits(Key key, uint32_t i = 0) {
    const Key words = subkey(key, i);
    return words.a ^ words.b;
}

// of elements i to i + AT_ONCE - 1
constexpr int AT_ONCE = 8;
[[gnu::always_inline]] inline void many_bits(Key key, uint32_t i, uint32_t* out) {
    using Words [[gnu::vector_size(AT_ONCE * sizeof(uint32_t))]] = uint32_t;
    const KeyOf<Words> words =
        threefry<Words>({key.a + Words{}, key.b + Words{}}, Words{}, i + Words{0, 1, 2, 3, 4, 5, 6, 7});
    for (int k = 0; k < AT_ONCE; ++k) out[k] = words.a[k] ^ words.b[k];
}

// uniform(key)
inline float unit_of(uint32_t bits) { return static_cast<float>(bits >> 9) * 0x1p-23f; }
inline float uniform(Key key, uint32_t i = 0) { return unit_of(bits(key, i)); }

// randint(key, (), low, high)
inline int32_t randint(Key key, int32_t low, int32_t high, uint32_t i = 0) {
    const uint32_t span = high <= low ? 1 : static_cast<uint32_t>(high) - static_cast<uint32_t>(low);
    uint32_t weight = 65536u % span;
    weight = weight * weight % span;
    uint32_t drawn = bits(subkey(key, 1), i) % span;
    // with a power of two, these bits do not count
    if (weight) drawn = (bits(subkey(key, 0), i) % span * weight + drawn) % span;
    return static_cast<int32_t>(static_cast<uint32_t>(low) + drawn);
}

// cumsum(numbers), as XLA computes it on a CPU: prefixes of rows of 16, to which the sums of the rows before are added,
// which are computed in the same way. `sums` may be `numbers`.
constexpr int CUMSUM_ROW = 16, MAX_CUMSUM = CUMSUM_ROW * CUMSUM_ROW * CUMSUM_ROW;
inline void cumsum(const float* numbers, int count, float* sums) {
    if (count <= CUMSUM_ROW) {
        float sum = 0;
        for (int i = 0; i < count; ++i) sums[i] = sum += numbers[i];
        return;
    }
    const int rows = (count + CUMSUM_ROW - 1) / CUMSUM_ROW;
    float totals[MAX_CUMSUM / CUMSUM_ROW] = {};
    for (int row = 0; row < rows; ++row) {
        const int begin = row * CUMSUM_ROW;
        float sum = 0;
        for (int i = begin; i < std::min(begin + CUMSUM_ROW, count); ++i) sums[i] = sum += numbers[i];
        totals[row] = sum;
    }
    cumsum(totals, rows, totals);
    for (int i = CUMSUM_ROW; i < count; ++i) sums[i] += totals[i / CUMSUM_ROW - 1];
}

// searchsorted(sums, number), where sum_at(i) is the i-th of `count` sums; NaNs come last.
template <class SumAt> int search_sorted(int count, float number, SumAt&& sum_at) {
    int low = 0, high = count;
    for (int level = std::bit_width(static_cast<unsigned>(count)); level > 0; --level) {
        const int middle = low + (high - low) / 2;
        const float sum = sum_at(std::min(middle, count - 1));
        (number <= sum || sum != sum ? high : low) = middle;
    }
    return high;
}

// choice(key, count, p=shares); 0 if the sums are NaN
inline int choice(Key key, const float* shares, int count) {
    float sums[MAX_CUMSUM];
    cumsum(shares, count, sums);
    return search_sorted(count, sums[count - 1] * (1 - uniform(key)), [&](int i) { return sums[i]; });
}

// permutation(key, count), for up to 1,625 numbers: more are sorted twice
inline void permutation(Key key, int32_t* order, int count) {
    const Key sorting = subkey(key, 1);
    for (int32_t i = 0; i < count; ++i) order[i] = i;
    std::stable_sort(order, order + count, [&](int32_t i, int32_t j) { return bits(sorting, i) < bits(sorting, j); });
}

}  // namespace cypool::jax
