// What an agent sees of a world, but for pictures.
#pragma once

#include <algorithm>
#include <cstdint>

#include "cypool/envs/crafter/world.h"

namespace cypool::crafter {

// calls f with each cell of the local view, row by row; -1 beyond the edge of the world
template <class F> void each_cell_in_view(const World& world, F&& f) {
    const int left = world.player().x - world.shape.columns / 2, top = world.player().y - world.shape.rows / 2;
    for (int y = top; y < top + world.shape.rows; ++y) {
        for (int x = left; x < left + world.shape.columns; ++x) f(world.is_inside(x, y) ? world.at(x, y) : -1);
    }
}

inline void observe_view(const World& world, uint8_t* view) {
    each_cell_in_view(world, [&](int cell) { *view++ = cell < 0 ? 0 : world.semantic[cell]; });
}

// The layout of Craftax-Classic: of each cell which block and which creature it has, a number for each kind; then what
// the player has, in tenths, where it looks, and the light.
constexpr int NUM_BLOCKS = 17, NUM_SYMBOLS_OF_CELL = NUM_BLOCKS + 4, NUM_SYMBOLS_OF_PLAYER = 22;
inline void observe_symbols(const World& world, float* symbols) {
    enum { OUT_OF_BOUNDS = 1, PLANT_BLOCK = 15, RIPE_PLANT_BLOCK = 16 };
    static constexpr int BLOCKS[NUM_MATERIALS] = {0, 3, 2, 4, 7, 13, 5, 14, 8, 9, 10, 11, 12};
    // zombie, cow, skeleton, arrow
    static constexpr int CREATURES[NUM_KINDS] = {-1, -1, 1, 0, 2, 3, -1};
    static constexpr Item ITEMS[] = {WOOD_ITEM,    STONE_ITEM,    COAL_ITEM,    IRON_ITEM,  DIAMOND_ITEM, SAPLING,
                                     WOOD_PICKAXE, STONE_PICKAXE, IRON_PICKAXE, WOOD_SWORD, STONE_SWORD,  IRON_SWORD,
                                     HEALTH,       FOOD,          DRINK,        ENERGY};
    std::fill_n(symbols, NUM_SYMBOLS_OF_CELL * world.shape.columns * world.shape.rows + NUM_SYMBOLS_OF_PLAYER, 0.0f);
    each_cell_in_view(world, [&](int cell) {
        int block = OUT_OF_BOUNDS;
        if (cell >= 0) {
            const Object& object = world.objects[world.occupant[cell]];
            block = BLOCKS[world.materials[cell]];
            if (object.kind == PLANT) block = object.count > RIPE ? RIPE_PLANT_BLOCK : PLANT_BLOCK;
            if (CREATURES[object.kind] >= 0) symbols[NUM_BLOCKS + CREATURES[object.kind]] = 1;
        }
        symbols[block] = 1;
        symbols += NUM_SYMBOLS_OF_CELL;
    });
    for (const Item item : ITEMS) *symbols++ = static_cast<float>(world.inventory[item]) / 10;
    symbols[world.player().facing] = 1;
    symbols[4] = static_cast<float>(world.daylight);
    symbols[5] = world.is_sleeping;
}

}  // namespace cypool::crafter
