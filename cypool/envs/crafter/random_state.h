// NumPy's RandomState as far as Crafter draws from it: MT19937 that can leave out outputs without making them.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

#include "cypool/envs/crafter/simd.h"

namespace cypool::crafter {

class RandomState {
public:
    static constexpr int SIZE = 624, SHIFT = 397;

    void seed(uint32_t number) {
        for (int k = 0; k < SIZE; ++k) {
            key[k] = number;
            number = 1812433253u * (number ^ number >> 30) + static_cast<uint32_t>(k) + 1;
        }
        position = SIZE;
    }

    // uniform()
    __attribute__((always_inline)) double real() {
        const uint32_t high = next() >> 5, low = next() >> 6;
        return (high * 67108864.0 + low) / 9007199254740992.0;
    }

    // randint(0, n): masked bits until they are below n; none for n = 1
    uint32_t below(uint32_t n) {
        const uint32_t last = n - 1;
        if (last == 0) return 0;
        const uint32_t mask = ~uint32_t{0} >> std::countl_zero(last);
        for (;;) {
            const uint32_t drawn = next() & mask;
            if (drawn <= last) return drawn;
        }
    }

    // leaves out some outputs
    void skip(int64_t count) {
        while (count > SIZE - position) {
            count -= SIZE - position;
            twist();
        }
        position += static_cast<int>(count);
    }

    // Writes the next outputs and makes none of them: the stream stays where it is. `work`: memory for
    // SIZE + count numbers, and for a vector more.
    void peek(uint32_t* outputs, int64_t count, uint32_t* work) const {
        std::memcpy(work, key, sizeof key);
        run<Outputs>(work, static_cast<int64_t>(position), count, outputs);
    }

    uint32_t key[SIZE];
    int32_t position;

private:
    __attribute__((always_inline)) uint32_t next() {
        if (position == SIZE) twist();
        return tempered(key[position++]);
    }

    __attribute__((noinline)) void twist() {
        run<Twist>(static_cast<uint32_t*>(key));
        key[SIZE - 1] = key[SHIFT - 1] ^ mixed(key[SIZE - 1], key[0]);
        position = 0;
    }

    // of numbers, or of vectors
    template <class T> static CYPOOL_INLINE T mixed(const T& high, const T& low) {
        const T y = (high & 0x80000000u) | (low & 0x7fffffffu);
        return y >> 1 ^ (-(low & 1u) & 0x9908b0dfu);
    }
    template <class T> static CYPOOL_INLINE T tempered(T y) {
        y ^= y >> 11;
        y ^= y << 7 & 0x9d2c5680u;
        y ^= y << 15 & 0xefc60000u;
        return y ^ y >> 18;
    }

    // all but the last number; a vector is shorter than the distance to the numbers it depends on
    struct Twist {
        template <int BYTES> static CYPOOL_INLINE void run(uint32_t* key) {
            using Words = Vector<uint32_t, BYTES>;
            constexpr int LANES = BYTES / sizeof(uint32_t);
            const auto renew = [key](int begin, int end, int distance) __attribute__((always_inline)) {
                int k = begin;
                for (; k + LANES <= end; k += LANES) {
                    store_vector<Words>(key + k,
                                        load_vector<Words>(key + k + distance)
                                            ^ mixed(load_vector<Words>(key + k), load_vector<Words>(key + k + 1)));
                }
                for (; k < end; ++k) key[k] = key[k + distance] ^ mixed(key[k], key[k + 1]);
            };
            renew(0, SIZE - SHIFT, SHIFT);
            renew(SIZE - SHIFT, SIZE - 1, SHIFT - SIZE);
        }
    };

    // the sequence without a ring: each number depends on those SIZE, SIZE - 1 and SIZE - SHIFT places before it
    struct Outputs {
        template <int BYTES>
        static CYPOOL_INLINE void run(uint32_t* numbers, int64_t position, int64_t count, uint32_t* outputs) {
            using Words = Vector<uint32_t, BYTES>;
            constexpr int LANES = BYTES / sizeof(uint32_t);
            for (int64_t k = SIZE; k < position + count; k += LANES) {
                const uint32_t* old = numbers + k - SIZE;
                store_vector<Words>(numbers + k, load_vector<Words>(old + SHIFT)
                                                     ^ mixed(load_vector<Words>(old), load_vector<Words>(old + 1)));
            }
            int64_t k = 0;
            for (; k + LANES <= count; k += LANES) {
                store_vector<Words>(outputs + k, tempered(load_vector<Words>(numbers + position + k)));
            }
            for (; k < count; ++k) outputs[k] = tempered(numbers[position + k]);
        }
    };
};

}  // namespace cypool::crafter
