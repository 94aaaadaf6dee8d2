// Positions, indices as JAX takes them, and choices of cells.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <cstdlib>

#include "cypool/envs/common/jax_random.h"
#include "cypool/envs/common/xla_math.h"

namespace cypool::craftax {

struct Point {
    int32_t x, y;
    bool operator==(const Point&) const = default;
    Point operator+(Point other) const { return {x + other.x, y + other.y}; }
    Point operator-(Point other) const { return {x - other.x, y - other.y}; }
};

inline int distance(Point a, Point b) { return std::abs(a.x - b.x) + std::abs(a.y - b.y); }
inline int sign(int number) { return (number > 0) - (number < 0); }

// A negative index counts from the end; then JAX reads at the nearest edge, and does not write at all: -1.
inline int read_index(int i, int size) {
    if (i < 0) i += size;
    return i < 0 ? 0 : i >= size ? size - 1 : i;
}
inline int write_index(int i, int size) {
    if (i < 0) i += size;
    return i < 0 || i >= size ? -1 : i;
}

template <int SIZE> bool is_inside(Point at) {
    return static_cast<unsigned>(at.x) < SIZE && static_cast<unsigned>(at.y) < SIZE;
}
template <int SIZE> int cell_to_read(Point at) { return read_index(at.x, SIZE) * SIZE + read_index(at.y, SIZE); }
template <int SIZE> int cell_to_write(Point at) {
    const int x = write_index(at.x, SIZE), y = write_index(at.y, SIZE);
    return x < 0 || y < 0 ? -1 : x * SIZE + y;
}

// A set of blocks, a bit each.
template <class... Blocks> constexpr uint64_t set_of(Blocks... blocks) {
    return (uint64_t{0} | ... | (uint64_t{1} << blocks));
}
inline bool has(uint64_t set, int block) { return set >> block & 1; }

// A set of cells, from which choice(key, cells, p) draws one.
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
    Point choose(jax::Key key, float share) const {
        constexpr int ROW = jax::CUMSUM_ROW, GROUPS_ACROSS = SIZE / ROW, GROUPS = SIZE * GROUPS_ACROSS;
        float sums_of[ROW + 1], before[GROUPS + 1];
        sums_of[0] = 0;
        for (int i = 0; i < ROW; ++i) sums_of[i + 1] = sums_of[i] + share;
        const auto group = [&](int g) {
            return static_cast<uint32_t>(rows_[g / GROUPS_ACROSS] >> g % GROUPS_ACROSS * ROW) & 0xffffu;
        };
        before[0] = 0;
        for (int g = 0; g < GROUPS; ++g) before[g + 1] = sums_of[std::popcount(group(g))];
        jax::cumsum(before + 1, GROUPS, before + 1);
        const auto sum_at = [&](int cell) {
            const uint32_t up_to = group(cell / ROW) & ((2u << cell % ROW) - 1);
            return sums_of[std::popcount(up_to)] + before[cell / ROW];
        };
        const float drawn = sum_at(SIZE * SIZE - 1) * (1 - jax::uniform(key));
        const int cell = jax::search_sorted(SIZE * SIZE, drawn, sum_at);
        return {cell / SIZE, cell % SIZE};
    }

private:
    std::array<uint64_t, SIZE> rows_{};
};

// The step from one place to another along the longer axis, which is drawn if both are as long.
inline Point step_toward(jax::Key key, Point from, Point to) {
    const Point way = to - from;
    const int across = std::abs(way.x), along = std::abs(way.y), longest = std::max(across, along);
    // where the axes differ, one probability is 0
    const float sum = static_cast<float>(across + along);
    const float shares[] = {static_cast<float>(across == longest) / sum, static_cast<float>(along == longest) / sum};
    return jax::choice(key, shares, 2) == 0 ? Point{sign(way.x), 0} : Point{0, sign(way.y)};
}

}  // namespace cypool::craftax
