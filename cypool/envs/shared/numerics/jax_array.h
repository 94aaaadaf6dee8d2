// Arrays as JAX indexes them, and draws of their cells.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <utility>

#include "cypool/envs/shared/numerics/jax_random.h"

namespace cypool::jax {

// A negative index counts from the end; then JAX reads at the nearest edge, and does not write at all: -1.
inline int read_index(int i, int size) {
    if (i < 0) i += size;
    return i < 0 ? 0 : i >= size ? size - 1 : i;
}
inline int write_index(int i, int size) {
    if (i < 0) i += size;
    return i < 0 || i >= size ? -1 : i;
}

// A set of cells of a SIZE x SIZE array, up to 64, from which choice(key, cells, p) draws one.
template <int SIZE> class Cells {
public:
    void add(int x, int y) { rows_[x] |= uint64_t{1} << y; }
    void add_row(int x, uint64_t row) { rows_[x] |= row; }
    int count() const {
        int count = 0;
        for (const uint64_t row : rows_) count += std::popcount(row);
        return count;
    }
    // share: the probability of each, as it is added up
    std::pair<int, int> choose(Key key, float share) const {
        constexpr int ROW = CUMSUM_ROW, GROUPS_ACROSS = SIZE / ROW, GROUPS = SIZE * GROUPS_ACROSS;
        float sums_of[ROW + 1], before[GROUPS + 1];
        sums_of[0] = 0;
        for (int i = 0; i < ROW; ++i) sums_of[i + 1] = sums_of[i] + share;
        const auto group = [&](int g) {
            return static_cast<uint32_t>(rows_[g / GROUPS_ACROSS] >> g % GROUPS_ACROSS * ROW) & 0xffffu;
        };
        before[0] = 0;
        for (int g = 0; g < GROUPS; ++g) before[g + 1] = sums_of[std::popcount(group(g))];
        cumsum(before + 1, GROUPS, before + 1);
        const auto sum_at = [&](int cell) {
            const uint32_t up_to = group(cell / ROW) & ((2u << cell % ROW) - 1);
            return sums_of[std::popcount(up_to)] + before[cell / ROW];
        };
        const float drawn = sum_at(SIZE * SIZE - 1) * (1 - uniform(key));
        const int cell = search_sorted(SIZE * SIZE, drawn, sum_at);
        return {cell / SIZE, cell % SIZE};
    }

private:
    std::array<uint64_t, SIZE> rows_{};
};

}  // namespace cypool::jax
