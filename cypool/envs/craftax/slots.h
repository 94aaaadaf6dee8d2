// Creatures and arrows of a kind: a fixed number of slots, some of which are in use.
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
    Slots() = default;
    explicit Slots(int size) : size_(size) {}

    Item* begin() { return items_.data(); }
    Item* end() { return items_.data() + size_; }
    const Item* begin() const { return items_.data(); }
    const Item* end() const { return items_.data() + size_; }
    int size() const { return size_; }
    void fill(const Item& item) { std::fill(begin(), end(), item); }
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
    int32_t size_ = 0;
};

struct Plant {
    Point at;
    int32_t age;
    bool is_used;
};
constexpr int RIPE_AGE = 600;

using Plants = Slots<Plant, MAX_PLANTS>;

inline void plant(Plants& plants, Point at) {
    if (!plants.is_full()) plants.free() = {at, 0, true};
}
// eaten ones grow again; the first one, if none is there
inline void harvest(Plants& plants, Point at) {
    Plant* found = std::find_if(plants.begin(), plants.end(), [&](const Plant& each) { return each.at == at; });
    (found == plants.end() ? plants.begin() : found)->age = 0;
}

template <class Archive> void exchange(Archive& archive, Point& at) {
    archive("x", at.x, -FAR, FAR);
    archive("y", at.y, -FAR, FAR);
}
template <class Archive> void exchange(Archive& archive, Plants& plants) {
    archive.each("plants", plants, [&](Plant& each) {
        exchange(archive, each.at);
        archive("age", each.age, 0, FAR);
        archive("is_used", each.is_used);
    });
}

}  // namespace cypool::craftax
