// The draws of numpy.random.RandomState, from nothing but its MT19937.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <utility>

#include "cypool/rng.h"

namespace cypool {

struct RandomState {
    const Rng* rng = nullptr;  // borrowed
    bool has_spare = false;    // of two normal numbers that are made together, one is kept
    double spare = 0;

    double rand() { return rng->next_double(rng->state); }

    double uniform(double low, double high) { return low + (high - low) * rand(); }

    // randn: the polar method
    double normal() {
        if (has_spare) {
            has_spare = false;
            return std::exchange(spare, 0.0);
        }
        double x, y, square;
        do {
            x = 2.0 * rand() - 1.0;
            y = 2.0 * rand() - 1.0;
            square = x * x + y * y;
        } while (square >= 1.0 || square == 0.0);
        const double factor = std::sqrt(-2.0 * std::log(square) / square);
        spare = factor * x;
        has_spare = true;
        return factor * y;
    }

    // randint(n): random bits until they are below n; none for n = 1
    uint32_t integer(uint32_t n) {
        const uint32_t last = n - 1;
        if (last == 0) return 0;
        const uint32_t mask = ~uint32_t{0} >> std::countl_zero(last);
        for (;;) {
            const uint32_t drawn = rng->next_uint32(rng->state) & mask;
            if (drawn <= last) return drawn;
        }
    }

    // choice of one of n items whose probabilities add up to these sums, the last of which is 1
    int choice(const double* sums) {
        const double drawn = rand();
        int found = 0;
        while (sums[found] <= drawn) ++found;
        return found;
    }
};

}  // namespace cypool
