// An agent's observations of a world without pictures.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

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

// The layout of Craftax-Classic: for each cell its block and its creature, a number for each kind; then the
// player's inventory in tenths, its direction, and the light.
constexpr int NUM_BLOCKS = 17, NUM_SYMBOLS_OF_CELL = NUM_BLOCKS + 4, NUM_SYMBOLS_OF_PLAYER = 22;
struct Symbols {
    float of_cell[NUM_SYMBOLS_OF_CELL];
};
// by material, 0 beyond the edge of the world
constexpr std::array<Symbols, NUM_MATERIALS> SYMBOLS_OF_MATERIALS = [] {
    constexpr int BLOCKS[NUM_MATERIALS] = {1, 3, 2, 4, 7, 13, 5, 14, 8, 9, 10, 11, 12};
    std::array<Symbols, NUM_MATERIALS> symbols{};
    for (int k = 0; k < NUM_MATERIALS; ++k) symbols[k].of_cell[BLOCKS[k]] = 1;
    return symbols;
}();
inline void observe_symbols(const World& world, float* symbols) {
    enum { PLANT_BLOCK = 15, RIPE_PLANT_BLOCK = 16 };
    // zombie, cow, skeleton, arrow
    static constexpr int CREATURES[NUM_KINDS] = {-1, -1, 1, 0, 2, 3, -1};
    static constexpr Item ITEMS[] = {WOOD_ITEM,    STONE_ITEM,    COAL_ITEM,    IRON_ITEM,  DIAMOND_ITEM, SAPLING,
                                     WOOD_PICKAXE, STONE_PICKAXE, IRON_PICKAXE, WOOD_SWORD, STONE_SWORD,  IRON_SWORD,
                                     HEALTH,       FOOD,          DRINK,        ENERGY};
    each_cell_in_view(world, [&](int cell) {
        const int shown = cell < 0 ? 0 : world.semantic[cell];
        if (shown < NUM_MATERIALS) {
            std::memcpy(symbols, &SYMBOLS_OF_MATERIALS[shown], sizeof(Symbols));
        } else {
            std::memcpy(symbols, &SYMBOLS_OF_MATERIALS[world.materials[cell]], sizeof(Symbols));
            const Object& object = world.objects[world.occupant[cell]];
            if (object.kind == PLANT) {
                std::fill_n(symbols, int{NUM_BLOCKS}, 0.0f);
                symbols[object.count > RIPE ? RIPE_PLANT_BLOCK : PLANT_BLOCK] = 1;
            }
            if (CREATURES[object.kind] >= 0) symbols[NUM_BLOCKS + CREATURES[object.kind]] = 1;
        }
        symbols += NUM_SYMBOLS_OF_CELL;
    });
    std::fill_n(symbols, int{NUM_SYMBOLS_OF_PLAYER}, 0.0f);
    for (const Item item : ITEMS) *symbols++ = static_cast<float>(world.inventory[item]) / 10;
    symbols[world.player().facing] = 1;
    symbols[4] = static_cast<float>(world.daylight);
    symbols[5] = world.is_sleeping;
}

}  // namespace cypool::crafter
