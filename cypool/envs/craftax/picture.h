// Pictures of both games, from tiles of the package's textures. Pixels are floats, as XLA rounds them.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "cypool/envs/common/jax_random.h"
#include "cypool/envs/craftax/classic.h"
#include "cypool/envs/craftax/full_rules.h"

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

// which of four directions a shot is drawn in
inline int turned(Point step) { return (step.x > 0 || step.y > 0) + 2 * (step.y != 0); }

// What is seen, by game: `ground` of each cell, with its light, `sprites` and their places, `cells` of the inventory.
struct ClassicView {
    using Game = Classic;
    static constexpr int COLUMNS = Game::VIEW_WIDTH, ROWS = Game::VIEW_HEIGHT, INVENTORY_ROWS = 2;
    enum Sprite { PLAYER, ASLEEP = 4, ZOMBIE, COW, SKELETON, ARROW };

    static Point corner(const Game& game) { return game.player - Point{ROWS / 2, COLUMNS / 2}; }
    template <class F> static void each_ground(const Game& game, F&& f) {
        const Point corner = ClassicView::corner(game);
        for (int x = 0; x < ROWS; ++x) {
            for (int y = 0; y < COLUMNS; ++y) {
                const Point at = corner + Point{x, y};
                f(x, y, is_inside<Game::SIZE>(at) ? game.blocks[at.x * Game::SIZE + at.y] : Game::OUT, 1.0f);
            }
        }
    }
    template <class F> static void each_sprite(const Game& game, F&& f) {
        f(game.is_sleeping ? int{ASLEEP} : PLAYER + std::max(game.facing - 1, 0), game.player);
        for (const auto& each : game.zombies)
            if (each.is_used) f(ZOMBIE, each.at);
        for (const auto& each : game.cows)
            if (each.is_used) f(COW, each.at);
        for (const auto& each : game.skeletons)
            if (each.is_used) f(SKELETON, each.at);
        for (const auto& each : game.arrows)
            if (each.is_used) f(ARROW + turned(each.step), each.at);
    }
    // f(column, row, number)
    template <class F> static void each_cell(const Game& game, F&& f) {
        constexpr Game::Item ORDER[] = {Game::SAPLING,   Game::WOOD_ITEM, Game::STONE_ITEM,
                                        Game::COAL_ITEM, Game::IRON_ITEM, Game::DIAMOND_ITEM};
        int cell = 0;
        const auto show = [&](int number) {
            f(cell % COLUMNS, cell / COLUMNS, 10 * cell + number);
            ++cell;
        };
        for (const int need : {game.health, game.food, game.drink, game.energy}) show(need);
        for (const Game::Item item : ORDER) show(game.items[item]);
        for (int item = Game::PICKAXES; item < Game::NUM_ITEMS; ++item) show(game.items[item]);
    }
};

struct FullView {
    using Game = Full;
    static constexpr int COLUMNS = Game::VIEW_WIDTH, ROWS = Game::VIEW_HEIGHT, INVENTORY_ROWS = 4, EDGE = 13;
    enum Sprite { PLAYER, ASLEEP = 4, MELEE, PASSIVE = MELEE + 8, RANGED = PASSIVE + 3, SHOTS = RANGED + 8 };

    static Point corner(const Game& game) { return game.player - Point{ROWS / 2, COLUMNS / 2}; }
    template <class F> static void each_ground(const Game& game, F&& f) {
        const Point corner = FullView::corner(game);
        const int left = std::clamp(corner.x, -EDGE, Game::SIZE + EDGE - ROWS);
        const int top = std::clamp(corner.y, -EDGE, Game::SIZE + EDGE - COLUMNS);
        const Game::Floor& floor = game.here();
        for (int x = 0; x < ROWS; ++x) {
            for (int y = 0; y < COLUMNS; ++y) {
                const int cell = (left + x) * Game::SIZE + top + y;
                if (!is_inside<Game::SIZE>({left + x, top + y})) {
                    f(x, y, Game::OUT * int{Game::NUM_THINGS}, 0.0f);
                    continue;
                }
                int block = floor.cells[cell].block, thing = floor.cells[cell].thing;
                if (block == Game::NECROMANCER && game.is_boss_vulnerable()) block = Game::NECROMANCER_VULNERABLE;
                if (thing == Game::LADDER_DOWN && !game.is_ladder_open()) thing = Game::LADDER_DOWN_BLOCKED;
                f(x, y, block * int{Game::NUM_THINGS} + thing, floor.light_of(cell));
            }
        }
    }
    template <class F> static void each_sprite(const Game& game, F&& f) {
        f(game.is_sleeping ? int{ASLEEP} : PLAYER + std::max(game.facing - 1, 0), game.player);
        const Game::Floor& floor = game.here();
        for (const auto& each : floor.melee)
            if (each.is_used) f(MELEE + each.type, each.at);
        for (const auto& each : floor.passive)
            if (each.is_used) f(PASSIVE + std::min<int>(each.type, 2), each.at);
        for (const auto& each : floor.ranged)
            if (each.is_used) f(RANGED + each.type, each.at);
        for (const auto* shots : {&floor.shots, &floor.arrows}) {
            for (const auto& each : *shots)
                if (each.is_used) f(SHOTS + 4 * each.type + turned(each.step), each.at);
        }
    }
    template <class F> static void each_cell(const Game& game, F&& f) {
        int first = 0;
        const auto show = [&](int column, int row, int count, int number) {
            f(column, row, first + number);
            first += count;
        };
        // a third digit is lost
        const auto show_number = [&](int column, int row, int number) {
            show(column, row, 100, number < 100 ? number : 90 + number % 10);
        };
        show_number(0, 0, static_cast<int>(std::max(std::floor(game.health), 1.0f)));
        show_number(1, 0, game.food);
        show_number(2, 0, game.drink);
        show_number(3, 0, game.energy);
        show_number(4, 0, game.mana);
        struct Place {
            Game::Item item;
            int column, row;
        };
        constexpr Place PLACES[] = {{Game::WOOD_ITEM, 0, 2}, {Game::STONE_ITEM, 1, 2},   {Game::COAL_ITEM, 0, 1},
                                    {Game::IRON_ITEM, 1, 1}, {Game::DIAMOND_ITEM, 2, 1}, {Game::SAPPHIRE_ITEM, 3, 1},
                                    {Game::RUBY_ITEM, 4, 1}, {Game::SAPLING, 5, 1},      {Game::TORCHES, 2, 2},
                                    {Game::BOOKS, 3, 2}};
        for (const Place& place : PLACES) show_number(place.column, place.row, game.items[place.item]);
        for (int k = 0; k < Game::NUM_POTIONS; ++k) show_number(k, 3, game.potions[k]);
        const int arrows = game.items[Game::ARROWS];
        show(6, 2, 300, (arrows > 0 ? 100 * game.bow_magic : 0) + arrows);
        const auto show_digit = [&](int column, int row, int number) { show(column, row, 10, std::min(number, 9)); };
        show_digit(6, 0, game.level);
        show_digit(9, 0, game.experience);
        show_digit(9, 1, game.dexterity);
        show_digit(9, 2, game.strength);
        show_digit(9, 3, game.intelligence);
        show(8, 2, 5, game.items[Game::PICKAXE]);
        show(8, 1, 15, 5 * game.sword_magic + game.items[Game::SWORD]);
        show(6, 1, 2, game.items[Game::BOW]);
        for (int k = 0; k < Game::NUM_ARMOURS; ++k) show(7, k, 9, 3 * game.armour_magic[k] + game.armours[k]);
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
        color[k] = k < others ? __builtin_fmaf(1 - light, night, light * color[k])
                              : __builtin_fmaf(light, color[k], (1 - light) * night);
        if (game.is_sleeping) color[k] *= 0.5f;
    }
}

template <class View>
CYPOOL_PIXEL void shade_all(const typename View::Game& game, const Pictures& pictures, float light, float* image) {
    constexpr float WHITE = 255;
    const float intensity = std::max(2 * (0.5f - light), 0.0f);
    const int width = View::COLUMNS * pictures.tile, count = View::ROWS * pictures.tile * width;
    for (int i = 0; i < count; ++i) {
        const float strength = intensity * pictures.noise[i];
        // without effect by day
        const float noise = intensity > 0 ? noise_of(jax::bits(game.noise_key, i)) : 0;
        shade(game, light, noise, strength, i % width, image + 3 * i);
        for (int k = 0; k < 3; ++k) image[3 * i + k] *= 1 / WHITE;
    }
}
#if defined(__x86_64__)
template <class View>
__attribute__((target("fma"))) void shade_all_fused(const typename View::Game& game, const Pictures& pictures,
                                                    float light, float* image) {
    shade_all<View>(game, pictures, light, image);
}
#endif

inline float light_of(const Classic& game) { return game.light; }
inline float light_of(const Full& game) { return game.level == 0 ? game.light : 1; }

// float32 (y, x, channel), from 0 to 1
template <class View> void draw(const typename View::Game& game, const Pictures& pictures, float* image) {
    const int tile = pictures.tile, pitch = 3 * View::COLUMNS * tile;
    const auto at = [&](int column, int row) { return image + row * tile * pitch + 3 * column * tile; };
    float lights[View::ROWS][View::COLUMNS];
    View::each_ground(game, [&](int row, int column, int number, float light) {
        lights[row][column] = light;
        const uint8_t* from = pictures.ground_at(number);
        float* to = at(column, row);
        for (int y = 0; y < tile; ++y, to += pitch, from += 3 * tile) std::copy(from, from + 3 * tile, to);
    });
    const Point corner = View::corner(game);
    View::each_sprite(game, [&](int number, Point place) {
        const Point seen = place - corner;
        if (static_cast<unsigned>(seen.x) >= View::ROWS || static_cast<unsigned>(seen.y) >= View::COLUMNS) return;
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
    for (int row = 0; row < View::ROWS; ++row) {
        for (int column = 0; column < View::COLUMNS; ++column) {
            if (lights[row][column] == 1) continue;
            float* to = at(column, row);
            for (int y = 0; y < tile; ++y, to += pitch) {
                for (int k = 0; k < 3 * tile; ++k) to[k] *= lights[row][column];
            }
        }
    }
#if defined(__x86_64__)
    if (__builtin_cpu_supports("fma")) {
        shade_all_fused<View>(game, pictures, light_of(game), image);
    } else {
        shade_all<View>(game, pictures, light_of(game), image);
    }
#else
    shade_all<View>(game, pictures, light_of(game), image);
#endif
    float* inventory = at(0, View::ROWS);
    std::fill(inventory, inventory + View::INVENTORY_ROWS * tile * pitch, 0.0f);
    View::each_cell(game, [&](int column, int row, int number) {
        const uint8_t* from = pictures.cell_at(number);
        float* to = at(column, View::ROWS + row);
        for (int y = 0; y < tile; ++y, to += pitch) {
            for (int k = 0; k < 3 * tile; ++k) to[k] = static_cast<float>(*from++) * (1 / 255.0f);
        }
    });
}

inline void draw_picture(const Classic& game, const Pictures& pictures, float* image) {
    draw<ClassicView>(game, pictures, image);
}
inline void draw_picture(const Full& game, const Pictures& pictures, float* image) {
    draw<FullView>(game, pictures, image);
}

}  // namespace cypool::craftax
