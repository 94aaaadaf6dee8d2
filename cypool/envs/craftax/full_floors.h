// How Craftax makes its floors: six of noise, and three dungeons of rooms.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "cypool/envs/craftax/full.h"
#include "cypool/envs/craftax/noise.h"

namespace cypool::craftax {

struct SmoothRules {
    int level;
    Full::Block ground, sea, coast, mountain, tunnel, inner;
    struct Ore {
        Full::Block from, ore;
        float chance;
    } ores[5];
    Full::Block tree_ground, tree, lava, start, ladder;
    bool has_up, has_down;
    float light, water_inverse, water_most, mountain_inverse, mountain_most;
    float water_above, coast_above, tree_above, tree_noise_above;
};
namespace smooth_rules {

using F = Full;
inline constexpr SmoothRules ALL[] = {
    {0,        F::GRASS,
     F::WATER, F::SAND,
     F::STONE, F::PATH,
     F::PATH,  {{F::STONE, F::COAL, 0.03f}, {F::STONE, F::IRON, 0.02f}, {F::STONE, F::DIAMOND, 0.001f}},
     F::GRASS, F::TREE,
     F::LAVA,  F::GRASS,
     F::PATH,  false,
     true,     1,
     1 / 5.0f, 1,
     1 / 5.0f, 1,
     0.7f,     0.6f,
     0.8f,     0.5f},
    {2,
     F::PATH,
     F::WATER,
     F::PATH,
     F::STONE,
     F::STONE,
     F::STONE,
     {{F::STONE, F::COAL, 0.04f},
      {F::STONE, F::IRON, 0.02f},
      {F::STONE, F::DIAMOND, 0.005f},
      {F::STONE, F::SAPPHIRE, 0.0025f},
      {F::STONE, F::RUBY, 0.0025f}},
     F::PATH,
     F::STALAGMITE,
     F::LAVA,
     F::PATH,
     F::PATH,
     true,
     true,
     0,
     1 / 5.0f,
     1,
     1 / 17.0f,
     1.5f,
     0.7f,
     0.6f,
     0.8f,
     0.5f},
    {5,
     F::PATH,
     F::WATER,
     F::PATH,
     F::STONE,
     F::STONE,
     F::STONE,
     {{F::STONE, F::COAL, 0.04f},
      {F::STONE, F::IRON, 0.03f},
      {F::STONE, F::DIAMOND, 0.01f},
      {F::STONE, F::SAPPHIRE, 0.01f},
      {F::STONE, F::RUBY, 0.01f}},
     F::PATH,
     F::STALAGMITE,
     F::LAVA,
     F::PATH,
     F::PATH,
     true,
     true,
     0,
     1 / 5.0f,
     1,
     1 / 17.0f,
     1.5f,
     0.7f,
     0.6f,
     0.8f,
     0.5f},
    {6,
     F::FIRE_GRASS,
     F::LAVA,
     F::SAND,
     F::STONE,
     F::STONE,
     F::STONE,
     {{F::STONE, F::COAL, 0.05f}, {}, {}, {}, {F::STONE, F::RUBY, 0.025f}},
     F::FIRE_GRASS,
     F::FIRE_TREE,
     F::LAVA,
     F::FIRE_GRASS,
     F::FIRE_GRASS,
     true,
     true,
     1,
     1 / 5.0f,
     1,
     1 / 5.0f,
     1,
     0.5f,
     0.6f,
     0.8f,
     0.5f},
    {7,
     F::ICE_GRASS,
     F::WATER,
     F::ICE_GRASS,
     F::STONE,
     F::STONE,
     F::STONE,
     {{}, {}, {F::STONE, F::DIAMOND, 0.005f}, {F::STONE, F::SAPPHIRE, 0.02f}, {}},
     F::ICE_GRASS,
     F::ICE_SHRUB,
     F::WATER,
     F::ICE_GRASS,
     F::ICE_GRASS,
     true,
     true,
     0,
     1 / 5.0f,
     1,
     1 / 17.0f,
     1.5f,
     0.5f,
     0.6f,
     0.4f,
     0.5f},
    {8,         F::PATH,
     F::PATH,   F::PATH,
     F::WALL,   F::WALL,
     F::WALL,   {{F::WALL, F::WALL_MOSS, 0.1f}, {F::GRAVE, F::GRAVE_2, 0.333f}, {F::GRAVE, F::GRAVE_3, 0.5f}},
     F::PATH,   F::GRAVE,
     F::WALL,   F::NECROMANCER,
     F::PATH,   false,
     false,     0,
     1 / 5.0f,  1,
     1 / 10.0f, 10,
     0.7f,      0.6f,
     0.95f,     -1}};

}  // namespace smooth_rules

struct DungeonRules {
    int level;
    Full::Block special, fountain, rare;
};
inline constexpr DungeonRules DUNGEONS[] = {{1, Full::PATH, Full::FOUNTAIN, Full::PATH},
                                            {3, Full::ICE_TABLE, Full::WATER, Full::WATER},
                                            {4, Full::FIRE_TABLE, Full::FOUNTAIN, Full::PATH}};

// of a light at a distance
inline float torch_light(int x, int y) {
    return std::max(0.0f, 1 - std::sqrt(static_cast<float>(x * x + y * y)) * 0.2f);
}

// choice of a cell with the block; p are the shares, which are not normalised everywhere
inline Point choose_block(const Full::Floor& floor, Full::Block block, bool is_normalised, jax::Key key) {
    Cells<Full::SIZE> cells;
    for (int cell = 0; cell < Full::CELLS; ++cell) {
        if (floor.cells[cell].block == block) cells.add(cell / Full::SIZE, cell % Full::SIZE);
    }
    return cells.choose(key, is_normalised ? 1 / static_cast<float>(std::max(cells.count(), 1)) : 1);
}

inline Full::Floor& Full::add_floor(int number) {
    floors[number].make();
    Floor& made = *floors[number];
    made.melee = Slots<Mob>(setup->max_melee);
    made.passive = Slots<Mob>(setup->max_passive);
    made.ranged = Slots<Mob>(setup->max_ranged);
    made.shots = Slots<Shot>(setup->max_shots);
    made.arrows = Slots<Shot>(setup->max_arrows);
    for (Slots<Mob>* mobs : {&made.melee, &made.passive, &made.ranged}) mobs->fill({{0, 0}, 1, 0, 0, false});
    for (Slots<Shot>* shots : {&made.shots, &made.arrows}) shots->fill({{0, 0}, {1, 1}, 0, false});
    for (const SmoothRules& each : smooth_rules::ALL) {
        if (each.level == number && each.light != 1) made.lights.assign(CELLS, each.light);
    }
    return made;
}

inline void Full::make_floor(int number) {
    Floor& made = add_floor(number);
    for (uint32_t which = 0; which < std::size(smooth_rules::ALL); ++which) {
        if (smooth_rules::ALL[which].level == number) make_smooth(made, jax::subkey(floors_key, which + 1), which);
    }
    const jax::Key dungeons = jax::subkey(floors_key, 0);
    for (uint32_t which = 0; which < std::size(DUNGEONS); ++which) {
        if (DUNGEONS[which].level == number) make_dungeon(made, jax::subkey(dungeons, which + 1), which);
    }
}

inline void Full::make_smooth(Floor& made, jax::Key key, int which) {
    using Map = Noise<SIZE>;
    static thread_local Map water, mountain, path, tree;
    static thread_local std::array<bool, CELLS> is_lava;
    constexpr int MIDDLE = SIZE / 2;
    const SmoothRules& rules = smooth_rules::ALL[which];
    water.make<3, 3>(jax::take(key));
    jax::take(key);
    mountain.make<3, 3>(jax::take(key));
    path.make<6, 24>(jax::take(key));
    jax::take(key);
    tree.make<12, 12>(jax::take(key));
    const jax::Key leaf = key;
    jax::Key ore_key = jax::take(key), ore_keys[5];
    for (jax::Key& each : ore_keys) each = jax::take(ore_key);
    for (int x = 0; x < SIZE; ++x) {
        for (int y = 0; y < SIZE; ++y) {
            const int cell = x * SIZE + y, down = x - MIDDLE, right = y - MIDDLE;
            const float away = std::sqrt(static_cast<float>(down * down + right * right));
            const float start = std::min(rules.water_most, away * rules.water_inverse);
            const float wet = jax::fused(water.above_low(cell), water.inverse, start) - 1;
            const float high = jax::fused(mountain.above_low(cell), mountain.inverse, 0.05f)
                               + std::min(rules.mountain_most, away * rules.mountain_inverse) - 1;
            const float wood = tree.scaled(cell);
            const auto is_tunnel = [&](int at) { return path.scaled(at) > 0.8f; };
            Block block = wet > rules.water_above ? rules.sea : rules.ground;
            if (wet > rules.coast_above && block != rules.sea) block = rules.coast;
            if (high > 0.7f) block = is_tunnel(cell) || is_tunnel(y * SIZE + x) ? rules.tunnel : rules.mountain;
            if (high > 0.85f && wet > 0.4f) block = rules.inner;
            if (block == rules.tree_ground && wood > rules.tree_noise_above
                && jax::uniform(leaf, cell) > rules.tree_above) {
                block = rules.tree;
            }
            for (int k = 0; k < 5; ++k) {
                const SmoothRules::Ore& ore = rules.ores[k];
                if (ore.chance > 0 && block == ore.from && jax::uniform(ore_keys[k], cell) < ore.chance)
                    block = ore.ore;
            }
            is_lava[cell] = high > 0.85f && wood > 0.7f;
            made.cells[cell] = {static_cast<uint8_t>(is_lava[cell] ? rules.lava : block), NOTHING};
        }
    }
    // a floor without stone gets one
    const Block gem = rules.level == 0 && setup->always_diamond ? DIAMOND : STONE;
    made.set_block(choose_block(made, STONE, true, jax::take(key)), gem);
    made.cells[MIDDLE * SIZE + MIDDLE].block = rules.start;
    made.down = choose_block(made, rules.ladder, false, jax::take(key));
    if (rules.has_down) made.set_thing(made.down, LADDER_DOWN);
    made.up = choose_block(made, rules.ladder, false, jax::take(key));
    if (rules.has_up) made.set_thing(made.up, LADDER_UP);
    if (made.lights.empty()) return;
    // a torch at the ladder up; beyond the near edge it is at the far one
    const auto corner = [](int at) { return std::min(at < 0 ? at + SIZE : at, SIZE - 9); };
    const int left = corner(made.up.x - 4), top = corner(made.up.y - 4);
    for (int x = 0; x < 9; ++x) {
        for (int y = 0; y < 9; ++y) {
            made.lights[(left + x) * SIZE + top + y] = torch_light(x - 4, y - 4) * (1 - rules.light) + rules.light;
        }
    }
    if (rules.lava != LAVA) return;
    constexpr float GLOW[] = {1, 0.7f, 0.2f};
    for (int x = 0; x < SIZE; ++x) {
        for (int y = 0; y < SIZE; ++y) {
            float glow = 0;
            for (int down = -1; down <= 1; ++down) {
                for (int right = -1; right <= 1; ++right) {
                    if (inside({x + down, y + right}) && is_lava[(x + down) * SIZE + y + right]) {
                        glow += GLOW[std::abs(down) + std::abs(right)];
                    }
                }
            }
            float& lit = made.lights[x * SIZE + y];
            lit = std::clamp(lit + glow, 0.0f, 1.0f);
        }
    }
}

inline void Full::make_dungeon(Floor& made, jax::Key key, int which) {
    constexpr int NUM_ROOMS = 8, PART = 16, PARTS = SIZE / PART, EDGE = 10, WIDTH = SIZE + 2 * EDGE;
    static thread_local uint8_t blocks[WIDTH][WIDTH], things[WIDTH][WIDTH];
    const DungeonRules& rules = DUNGEONS[which];
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
        if (from.y != to.y) {
            for (int y = std::min(from.y, to.y); y <= std::max(from.y, to.y); ++y) dig(blocks[from.x][y]);
        }
        if (from.x != to.x) {
            for (int x = std::min(from.x, to.x); x <= std::max(from.x, to.x); ++x) dig(blocks[x][to.y]);
        }
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
