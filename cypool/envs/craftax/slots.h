// Creatures, shots and plants: a fixed number of slots, some of which are in use.
#pragma once

#include <algorithm>
#include <array>

#include "cypool/envs/craftax/grid.h"

namespace cypool::craftax {

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
