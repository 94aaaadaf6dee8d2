// Pictures of both games, from tiles of the package's textures. Pixels are floats, as XLA rounds them.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "cypool/envs/common/jax_random.h"
#include "cypool/envs/craftax/game.h"

namespace cypool::craftax {

// Parts of pictures; assets.py has them in the order of the numbers here.
struct Pictures {
    int tile;  // pixels of a side of a cell
    std::string ground, sprites, cells;
    std::vector<float> noise;

    int area() const { return tile * tile; }
    const uint8_t* ground_at(int number) const { return bytes(ground) + 3 * number * area(); }
    const uint8_t* sprite_at(int number) const { return bytes(sprites) + 4 * number * area(); }
    const uint8_t* cell_at(int number) const { return bytes(cells) + 3 * number * area(); }

private:
    static const uint8_t* bytes(const std::string& text) { return reinterpret_cast<const uint8_t*>(text.data()); }
};

// What is seen of a game: `ground` of each cell, with its light, `sprites` and their places, `cells` of the inventory.
template <bool IS_FULL> struct View {
    using Of = Game<IS_FULL>;
    static constexpr int COLUMNS = Of::VIEW_WIDTH, ROWS = Of::VIEW_HEIGHT, INVENTORY_ROWS = IS_FULL ? 4 : 2;
    static constexpr int THINGS = IS_FULL ? LADDER_DOWN_BLOCKED + 1 : 1, NUM_PASSIVE = IS_FULL ? 3 : 1, EDGE = 13;
    static constexpr int ASLEEP = 4, MELEE_ONES = 5, PASSIVE_ONES = MELEE_ONES + Of::NUM_TYPES,
                         RANGED_ONES = PASSIVE_ONES + NUM_PASSIVE, SHOTS = RANGED_ONES + Of::NUM_TYPES;

    static Point corner(const Of& game) { return game.player - Point{ROWS / 2, COLUMNS / 2}; }
    // f(row, column, number, light)
    template <class F> static void each_ground(const Of& game, F&& f) {
        const auto& floor = game.here();
        const int left = std::clamp(corner(game).x, -EDGE, Of::SIZE + EDGE - ROWS);
        const int top = std::clamp(corner(game).y, -EDGE, Of::SIZE + EDGE - COLUMNS);
        for (int x = 0; x < ROWS; ++x) {
            for (int y = 0; y < COLUMNS; ++y) {
                const int cell = (left + x) * Of::SIZE + top + y;
                if (!is_inside<Of::SIZE>({left + x, top + y})) {
                    f(x, y, OUT * THINGS, IS_FULL ? 0.0f : 1.0f);
                    continue;
                }
                int block = floor.cells[cell].block, thing = floor.cells[cell].thing;
                if (block == NECROMANCER && game.is_boss_vulnerable()) block = NECROMANCER_VULNERABLE;
                if (thing == LADDER_DOWN && !game.is_ladder_open()) thing = LADDER_DOWN_BLOCKED;
                f(x, y, block * THINGS + thing, floor.light_of(cell));
            }
        }
    }
    // f(number, place)
    template <class F> static void each_sprite(const Of& game, F&& f) {
        f(game.is_sleeping ? ASLEEP : std::max(game.facing - 1, 0), game.player);
        const auto& floor = game.here();
        const auto show = [&](const auto& slots, auto&& number_of) {
            for (const auto& each : slots) {
                if (each.is_used) f(number_of(each), each.at);
            }
        };
        show(floor.melee, [](const Mob& each) { return MELEE_ONES + each.type; });
        show(floor.passive, [](const Mob& each) { return PASSIVE_ONES + std::min<int>(each.type, NUM_PASSIVE - 1); });
        show(floor.ranged, [](const Mob& each) { return RANGED_ONES + each.type; });
        for (const auto* shots : {&floor.shots, &floor.arrows}) {
            show(*shots, [](const Shot& each) {
                const int turned = (each.step.x > 0 || each.step.y > 0) + 2 * (each.step.y != 0);
                return SHOTS + 4 * each.type + turned;
            });
        }
    }
    // f(column, row, number)
    template <class F> static void each_cell(const Of& game, F&& f) {
        int first = 0;
        const auto show = [&](int column, int row, int count, int number) {
            f(column, row, first + number);
            first += count;
        };
        if constexpr (!IS_FULL) {
            int cell = 0;
            const auto show_next = [&](int number) {
                show(cell % COLUMNS, cell / COLUMNS, 10, number);
                ++cell;
            };
            for (const int need : {static_cast<int>(game.health), game.food, game.drink, game.energy}) show_next(need);
            show_next(game.items[Of::SAPLING]);
            for (int item = 0; item < Of::NUM_ITEMS; ++item) {
                if (item != Of::SAPLING) show_next(game.items[item]);
            }
            return;
        }
        // a third digit is lost
        const auto show_number = [&](int column, int row, int number) {
            show(column, row, 100, number < 100 ? number : 90 + number % 10);
        };
        show_number(0, 0, static_cast<int>(std::max(std::floor(game.health), 1.0f)));
        show_number(1, 0, game.food);
        show_number(2, 0, game.drink);
        show_number(3, 0, game.energy);
        show_number(4, 0, game.mana);
        // clang-format off
        constexpr int PLACES[][3] = {
            {Of::WOOD_ITEM, 0, 2}, {Of::STONE_ITEM, 1, 2}, {Of::COAL_ITEM, 0, 1}, {Of::IRON_ITEM, 1, 1},
            {Of::DIAMOND_ITEM, 2, 1}, {Of::SAPPHIRE_ITEM, 3, 1}, {Of::RUBY_ITEM, 4, 1}, {Of::SAPLING, 5, 1},
            {Of::TORCHES, 2, 2}, {Of::BOOKS, 3, 2}};
        // clang-format on
        for (const auto& [item, column, row] : PLACES) show_number(column, row, game.items[item]);
        for (int k = 0; k < Of::NUM_POTIONS; ++k) show_number(k, 3, game.potions[k]);
        const int arrows = game.items[Of::ARROWS];
        show(6, 2, 300, (arrows > 0 ? 100 * game.bow_magic : 0) + arrows);
        const auto show_digit = [&](int column, int row, int number) { show(column, row, 10, std::min(number, 9)); };
        show_digit(6, 0, game.level);
        show_digit(9, 0, game.experience);
        show_digit(9, 1, game.dexterity);
        show_digit(9, 2, game.strength);
        show_digit(9, 3, game.intelligence);
        show(8, 2, 5, game.items[Of::PICKAXE]);
        show(8, 1, 15, 5 * game.sword_magic + game.items[Of::SWORD]);
        show(6, 1, 2, game.items[Of::BOW]);
        for (int k = 0; k < Of::NUM_ARMOURS; ++k) show(7, k, 9, 3 * game.armour_magic[k] + game.armours[k]);
        show(4, 2, 2, game.has_learned[0]);
        show(5, 2, 2, game.has_learned[1]);
    }
};

// One pixel, as XLA computes it: where it fuses a multiplication with an addition. Inlined to be compiled twice.
#define CYPOOL_PIXEL [[gnu::always_inline]] inline

CYPOOL_PIXEL float luminance(const float* color) {
    return __builtin_fmaf(0.114f, color[2], __builtin_fmaf(0.299f, color[0], 0.587f * color[1]));
}
CYPOOL_PIXEL float noise_of(uint32_t bits) { return __builtin_fmaf(jax::unit_of(bits), 95, 32); }

constexpr float NIGHT_TINT[] = {0, 8, 32}, SLEEP_TINT[] = {0, 0, 8};  // half of what is mixed in

// color: of the day; noise: of this pixel, and how strong it is
CYPOOL_PIXEL void shade(const Classic& game, float light, float noise, float strength, int, float* color) {
    float night[3];
    for (int k = 0; k < 3; ++k) night[k] = __builtin_fmaf(strength, noise, (1 - strength) * color[k]);
    const float gray = 0.6f * luminance(night);
    for (int k = 0; k < 3; ++k) {
        const float tinted = 0.5f * __builtin_fmaf(night[k], 0.4f, gray) + NIGHT_TINT[k];
        color[k] = __builtin_fmaf(light, color[k], (1 - light) * tinted);
    }
    if (!game.is_sleeping) return;
    const float asleep = 0.5f * luminance(color);
    for (int k = 0; k < 3; ++k) color[k] = asleep + SLEEP_TINT[k];
}
CYPOOL_PIXEL void shade(const Full& game, float light, float noise, float strength, int column, float* color) {
    // the loop of a new world's picture has eight pixels at once, and fuses other numbers there
    const int others = game.timestep == 0 && column < 104 ? 2 : 0;
    for (int k = 0; k < 3; ++k) {
        const float night = 0.5f * __builtin_fmaf(strength, noise, (1 - strength) * color[k]) + NIGHT_TINT[k];
        color[k] = (k < others ? __builtin_fmaf(1 - light, night, light * color[k])
                               : __builtin_fmaf(light, color[k], (1 - light) * night))
                   * (game.is_sleeping ? 0.5f : 1.0f);
    }
}

template <bool IS_FULL> CYPOOL_PIXEL void shade_all(const Game<IS_FULL>& game, const Pictures& pictures, float* image) {
    using Seen = View<IS_FULL>;
    constexpr float WHITE = 255;
    const float light = game.level == 0 ? game.light : 1;
    const float intensity = std::max(2 * (0.5f - light), 0.0f);
    const int count = Seen::ROWS * Seen::COLUMNS * pictures.area();
    for (int i = 0; i < count; ++i) {
        const float strength = intensity * pictures.noise[i];
        // without effect by day
        const float noise = intensity > 0 ? noise_of(jax::bits(game.noise_key, i)) : 0;
        shade(game, light, noise, strength, i % (Seen::COLUMNS * pictures.tile), image + 3 * i);
        for (int k = 0; k < 3; ++k) image[3 * i + k] *= 1 / WHITE;
    }
}
#if defined(__x86_64__)
template <bool IS_FULL>
__attribute__((target("fma"))) void shade_all_fused(const Game<IS_FULL>& game, const Pictures& pictures, float* image) {
    shade_all(game, pictures, image);
}
#endif

// float32 (y, x, channel), from 0 to 1
template <bool IS_FULL> void draw_picture(const Game<IS_FULL>& game, const Pictures& pictures, float* image) {
    using Seen = View<IS_FULL>;
    const int tile = pictures.tile, pitch = 3 * Seen::COLUMNS * tile;
    const auto at = [&](int column, int row) { return image + row * tile * pitch + 3 * column * tile; };
    float lights[Seen::ROWS][Seen::COLUMNS];
    Seen::each_ground(game, [&](int row, int column, int number, float light) {
        lights[row][column] = light;
        const uint8_t* from = pictures.ground_at(number);
        float* to = at(column, row);
        for (int y = 0; y < tile; ++y, to += pitch, from += 3 * tile) std::copy(from, from + 3 * tile, to);
    });
    const Point corner = Seen::corner(game);
    Seen::each_sprite(game, [&](int number, Point place) {
        const Point seen = place - corner;
        if (static_cast<unsigned>(seen.x) >= Seen::ROWS || static_cast<unsigned>(seen.y) >= Seen::COLUMNS) return;
        const uint8_t* from = pictures.sprite_at(number);
        float* to = at(seen.y, seen.x);
        for (int y = 0; y < tile; ++y, to += pitch - 3 * tile) {
            // those that are partly transparent are black: shadows
            for (int x = 0; x < tile; ++x, to += 3, from += 4) {
                const float alpha = static_cast<float>(from[3]) / 255;
                for (int k = 0; k < 3; ++k) to[k] = to[k] * (1 - alpha) + static_cast<float>(from[k]) * alpha;
            }
        }
    });
    for (int row = 0; row < Seen::ROWS; ++row) {
        for (int column = 0; column < Seen::COLUMNS; ++column) {
            if (lights[row][column] == 1) continue;
            float* to = at(column, row);
            for (int y = 0; y < tile; ++y, to += pitch) {
                for (int k = 0; k < 3 * tile; ++k) to[k] *= lights[row][column];
            }
        }
    }
#if defined(__x86_64__)
    __builtin_cpu_supports("fma") ? shade_all_fused(game, pictures, image) : shade_all(game, pictures, image);
#else
    shade_all(game, pictures, image);
#endif
    float* inventory = at(0, Seen::ROWS);
    std::fill(inventory, inventory + Seen::INVENTORY_ROWS * tile * pitch, 0.0f);
    Seen::each_cell(game, [&](int column, int row, int number) {
        const uint8_t* from = pictures.cell_at(number);
        float* to = at(column, Seen::ROWS + row);
        for (int y = 0; y < tile; ++y, to += pitch) {
            for (int k = 0; k < 3 * tile; ++k) to[k] = static_cast<float>(*from++) * (1 / 255.0f);
        }
    });
}

}  // namespace cypool::craftax
