// How the games make their floors: of noise, and in Craftax three dungeons of rooms.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "cypool/envs/craftax/game.h"
#include "cypool/envs/craftax/noise.h"

namespace cypool::craftax {

// choice of a cell with the block; p are the shares, which are not normalised everywhere
template <class Floor> Point choose_block(const Floor& floor, Block block, bool is_normalised, jax::Key key) {
    constexpr int CELLS = std::tuple_size_v<decltype(floor.cells)>, SIZE = std::tuple_size_v<decltype(floor.taken)>;
    jax::Cells<SIZE> cells;
    for (int cell = 0; cell < CELLS; ++cell) {
        if (floor.cells[cell].block == block) cells.add(cell / SIZE, cell % SIZE);
    }
    const auto [x, y] = cells.choose(key, is_normalised ? 1 / static_cast<float>(std::max(cells.count(), 1)) : 1);
    return {x, y};
}

template <bool IS_FULL> void Game<IS_FULL>::add_floor(int number) {
    floors[number].assign(1, Floor(*setup));
    for (const SmoothRules& each : SMOOTH_RULES) {
        if (each.level == number && each.light != 1) floors[number].front().lights.assign(CELLS, 0);
    }
}

template <bool IS_FULL> void Game<IS_FULL>::make_floor(int number) {
    add_floor(number);
    Floor& made = floors[number].front();
    for (uint32_t which = 0; which < std::size(SMOOTH_RULES); ++which) {
        jax::Key key = jax::subkey(floors_key, which + 1);
        if (SMOOTH_RULES[which].level == number) make_smooth(made, key, SMOOTH_RULES[which]);
    }
    const jax::Key dungeons = jax::subkey(floors_key, 0);
    for (uint32_t which = 0; which < std::size(DUNGEON_RULES); ++which) {
        if (DUNGEON_RULES[which].level == number) {
            make_dungeon(made, jax::subkey(dungeons, which + 1), DUNGEON_RULES[which]);
        }
    }
}

template <bool IS_FULL> void Game<IS_FULL>::make_smooth(Floor& made, jax::Key& key, const SmoothRules& rules) {
    using Map = Noise<SIZE>;
    static thread_local Map water, mountain, path, tree;
    static thread_local std::array<bool, CELLS> is_lava;
    constexpr int MIDDLE = SIZE / 2;
    constexpr size_t NUM_ORES = IS_FULL ? std::size(SMOOTH_RULES[0].ores) : std::size(CLASSIC_ORES);
    jax::Key ore_keys[NUM_ORES];
    water.template make<16, 16>(jax::take(key), setup->angles[0]);
    jax::take(key);
    mountain.template make<16, 16>(jax::take(key), setup->angles[1]);
    path.template make<8, 2>(jax::take(key), setup->angles[2]);
    jax::take(key);
    if (!IS_FULL) {
        for (jax::Key& each : ore_keys) each = jax::take(key);
    }
    tree.template make<4, 4>(jax::take(key), setup->angles[3]);
    const jax::Key leaf = key;
    if (IS_FULL) {
        jax::Key ore_key = jax::take(key);
        for (jax::Key& each : ore_keys) each = jax::take(ore_key);
    }
    for (int x = 0; x < SIZE; ++x) {
        float starts[SIZE], rises[SIZE], base[SIZE], wets[SIZE], highs[SIZE];
        for (int y = 0; y < SIZE; ++y) {
            const int down = x - MIDDLE, right = y - MIDDLE;
            const float away = IS_FULL ? std::sqrt(static_cast<float>(down * down + right * right))
                                       : static_cast<float>(std::abs(down) + std::abs(right));
            starts[y] = std::min(1.0f, away * 0.2f);
            rises[y] = std::min(rules.mountain_most, away * rules.mountain_inverse);
            base[y] = 0.05f;
        }
        jax::fused_row<SIZE>(water.values + x * SIZE, water.low, water.inverse, starts, wets);
        jax::fused_row<SIZE>(mountain.values + x * SIZE, mountain.low, mountain.inverse, base, highs);
        for (int y = 0; y < SIZE; ++y) {
            const int cell = x * SIZE + y;
            const float wet = wets[y] - 1, high = highs[y] + rises[y] - 1;
            const float wood = tree.scaled(cell);
            const auto is_tunnel = [&](int at) { return path.scaled(at) > 0.8f; };
            Block block = wet > rules.water_above ? rules.sea : rules.ground;
            if (wet > 0.6f && block != rules.sea) block = rules.coast;
            if (high > 0.7f) block = is_tunnel(cell) || is_tunnel(y * SIZE + x) ? rules.tunnel : rules.mountain;
            if (high > 0.85f && wet > 0.4f) block = rules.inner;
            if (block == rules.tree_ground && wood > rules.tree_noise_above
                && jax::uniform(leaf, cell) > rules.tree_above) {
                block = rules.tree;
            }
            for (size_t k = 0; k < NUM_ORES; ++k) {
                const Ore& ore = IS_FULL ? rules.ores[k] : CLASSIC_ORES[k];
                const bool may = IS_FULL || ore.ore != DIAMOND || high > 0.8f;
                if (ore.chance > 0 && block == ore.from && may && jax::uniform(ore_keys[k], cell) < ore.chance) {
                    block = ore.ore;
                }
            }
            is_lava[cell] = high > 0.85f && wood > 0.7f;
            made.cells[cell] = {static_cast<uint8_t>(is_lava[cell] ? rules.lava : block), NOTHING};
        }
    }
    // a floor without stone gets one
    const Block gem = rules.level == 0 && setup->always_diamond ? DIAMOND : STONE;
    made.set_block(choose_block(made, STONE, true, jax::take(key)), gem);
    made.cells[MIDDLE * SIZE + MIDDLE].block = rules.start;
    if (!IS_FULL) return;
    made.down = choose_block(made, rules.ladder, false, jax::take(key));
    if (rules.has_down) made.set_thing(made.down, LADDER_DOWN);
    made.up = choose_block(made, rules.ladder, false, jax::take(key));
    if (rules.has_up) made.set_thing(made.up, LADDER_UP);
    if (made.lights.empty()) return;
    // a torch at the ladder up; beyond the near edge it is at the far one
    const auto corner = [](int at) { return std::min(at < 0 ? at + SIZE : at, SIZE - 9); };
    const int left = corner(made.up.x - 4), top = corner(made.up.y - 4);
    for (int x = 0; x < SIZE; ++x) {
        for (int y = 0; y < SIZE; ++y) {
            const bool is_near = x >= left && x < left + 9 && y >= top && y < top + 9;
            const float glow = rules.lava == LAVA ? lava_light([&](int down, int right) {
                return inside({x + down, y + right}) && is_lava[(x + down) * SIZE + y + right];
            })
                                                  : 0;
            made.set_light(x * SIZE + y, added(is_near ? torch_light(x - left - 4, y - top - 4) : 0, glow));
        }
    }
}

template <bool IS_FULL> void Game<IS_FULL>::make_dungeon(Floor& made, jax::Key key, const DungeonRules& rules) {
    constexpr int NUM_ROOMS = 8, PART = 16, PARTS = SIZE / PART, EDGE = 10, WIDTH = SIZE + 2 * EDGE;
    static thread_local uint8_t blocks[WIDTH][WIDTH], things[WIDTH][WIDTH];
    const jax::Key sizing = jax::subkey(key, 2);
    key = jax::subkey(key, 0);
    std::memset(blocks, INVALID, sizeof blocks);
    std::memset(things, NOTHING, sizeof things);
    for (int x = EDGE; x < EDGE + SIZE; ++x) std::memset(&blocks[x][EDGE], WALL, SIZE);
    float is_free[PARTS * PARTS];
    std::fill(std::begin(is_free), std::end(is_free), 1.0f);
    Point rooms[NUM_ROOMS];
    jax::Key placing = jax::take(key);
    for (int k = 0; k < NUM_ROOMS; ++k) {
        const int part = jax::choice(jax::take(placing), is_free, PARTS * PARTS);
        is_free[part] = 0;
        const jax::Key shifting = jax::take(placing);
        const int x = part % PARTS * PART + EDGE + jax::randint(shifting, 0, PART - 5, 0);
        const int y = part / PARTS * PART + EDGE + jax::randint(shifting, 0, PART - 5, 1);
        const int height = jax::randint(sizing, 5, 10, 2 * k), width = jax::randint(sizing, 5, 10, 2 * k + 1);
        rooms[k] = {x, y};
        for (int row = x; row < x + height; ++row) std::memset(&blocks[row][y], PATH, width);
        for (const int row : {x, x + height - 1}) things[row][y] = things[row][y + width - 1] = TORCH;
        const auto inner = [&](jax::Key of) -> uint8_t& {
            return blocks[x + jax::randint(of, 1, height - 1, 0)][y + jax::randint(of, 1, width - 1, 1)];
        };
        inner(jax::take(placing)) = CHEST;
        if (jax::uniform(jax::subkey(placing, 2)) > 0.5f) inner(jax::subkey(placing, 1)) = rules.fountain;
        placing = jax::subkey(placing, 0);
    }
    jax::Key linking = jax::take(key);
    float is_linked[NUM_ROOMS] = {};
    is_linked[NUM_ROOMS - 1] = 1;
    const auto dig = [](uint8_t& block) {
        if (block == WALL) block = PATH;
    };
    for (int k = 0; k < NUM_ROOMS; ++k) {
        const Point from = rooms[k], to = rooms[jax::choice(jax::take(linking), is_linked, NUM_ROOMS)];
        // first across, then down
        for (int y = std::min(from.y, to.y); y <= std::max(from.y, to.y); ++y) dig(blocks[from.x][y]);
        for (int x = std::min(from.x, to.x); x <= std::max(from.x, to.x); ++x) dig(blocks[x][to.y]);
        is_linked[k] = 1;
        linking = jax::take(linking);
    }
    blocks[rooms[0].x + 2][rooms[0].y + 2] = rules.special;
    const jax::Key choosing = jax::take(key);
    constexpr float OFTEN = 0.9f;
    for (int x = 0; x < SIZE; ++x) {
        for (int y = 0; y < SIZE; ++y) {
            const auto is_open = [&](int row, int col) {
                return inside({row, col}) && blocks[EDGE + row][EDGE + col] != WALL;
            };
            const uint8_t block = blocks[EDGE + x][EDGE + y], thing = things[EDGE + x][EDGE + y];
            uint8_t becomes = block;
            if (!is_open(x, y) && !is_open(x - 1, y) && !is_open(x + 1, y) && !is_open(x, y - 1)
                && !is_open(x, y + 1)) {
                becomes = DARKNESS;
            } else if (block == WALL || (block == PATH && thing == NOTHING)) {
                const float drawn = (OFTEN + 0.1f) * (1 - jax::uniform(choosing, x * SIZE + y));
                if (drawn > OFTEN) becomes = block == WALL ? WALL_MOSS : rules.rare;
            }
            made.cells[x * SIZE + y] = {static_cast<uint8_t>(becomes & 63), static_cast<uint8_t>(thing & 3)};
        }
    }
    made.down = choose_block(made, PATH, true, jax::take(key));
    made.set_thing(made.down, LADDER_DOWN);
    made.up = choose_block(made, PATH, false, jax::take(key));
    made.set_thing(made.up, LADDER_UP);
}

}  // namespace cypool::craftax
