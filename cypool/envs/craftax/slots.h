// Positions, and creatures, shots and plants: a fixed number of slots, some of which are in use.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>

#include "cypool/envs/shared/numerics/jax_array.h"

namespace cypool::craftax {

struct Point {
    int32_t x, y;
    bool operator==(const Point&) const = default;
    Point operator+(Point other) const { return {x + other.x, y + other.y}; }
    Point operator-(Point other) const { return {x - other.x, y - other.y}; }
};

inline int distance(Point a, Point b) { return std::abs(a.x - b.x) + std::abs(a.y - b.y); }
inline int sign(int number) { return (number > 0) - (number < 0); }

template <int SIZE> bool is_inside(Point at) {
    return static_cast<unsigned>(at.x) < SIZE && static_cast<unsigned>(at.y) < SIZE;
}
template <int SIZE> int cell_to_read(Point at) {
    return jax::read_index(at.x, SIZE) * SIZE + jax::read_index(at.y, SIZE);
}
template <int SIZE> int cell_to_write(Point at) {
    const int x = jax::write_index(at.x, SIZE), y = jax::write_index(at.y, SIZE);
    return x < 0 || y < 0 ? -1 : x * SIZE + y;
}

// A set of blocks, a bit each.
template <class... Blocks> constexpr uint64_t set_of(Blocks... blocks) {
    return (uint64_t{0} | ... | (uint64_t{1} << blocks));
}
inline bool has(uint64_t set, int block) { return set >> block & 1; }

// The step from one place to another along the longer axis, which is drawn if both are as long.
inline Point step_toward(jax::Key key, Point from, Point to) {
    const Point way = to - from;
    const int across = std::abs(way.x), along = std::abs(way.y), longest = std::max(across, along);
    // where the axes differ, one probability is 0
    const float sum = static_cast<float>(across + along);
    const float shares[] = {static_cast<float>(across == longest) / sum, static_cast<float>(along == longest) / sum};
    return jax::choice(key, shares, 2) == 0 ? Point{sign(way.x), 0} : Point{0, sign(way.y)};
}

constexpr int MAX_SLOTS = 8, MAX_PLANTS = 20;
// of saved states: far from overflows
constexpr int64_t FAR = 1 << 28;

template <class Item, int MAX = MAX_SLOTS> class Slots {
public:
    Slots(int size, const Item& item) : size_(size) { std::fill(begin(), end(), item); }

    Item* begin() { return items_.data(); }
    Item* end() { return items_.data() + size_; }
    const Item* begin() const { return items_.data(); }
    const Item* end() const { return items_.data() + size_; }
    int count() const {
        return static_cast<int>(std::count_if(begin(), end(), [](const Item& item) { return item.is_used; }));
    }
    bool is_full() const { return count() == size_; }
    // the first one, if all are in use
    Item& free() {
        Item* found = std::find_if(begin(), end(), [](const Item& item) { return !item.is_used; });
        return found == end() ? items_[0] : *found;
    }

private:
    std::array<Item, MAX> items_{};
    int32_t size_;
};

struct Mob {
    Point at;
    float health;
    int32_t cooldown;
    uint8_t type;
    bool is_used;
};
struct Shot {
    Point at, step;
    uint8_t type;
    bool is_used;
};
struct Plant {
    Point at;
    int32_t age;
    bool is_used;
};

}  // namespace cypool::craftax
