// Pictures of both games, from tiles of the package's textures. Pixels are floats, as XLA rounds them.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "cypool/envs/shared/numerics/jax_random.h"
#include "cypool/envs/craftax/game.h"

namespace cypool::craftax {

// Parts of pictures; assets.py has them in the order of the numbers here.
struct Pictures {
    int tile;  // pixels of a side of a cell
    std::string ground, sprites, cells;
    std::vector<float> noise;

    const uint8_t* ground_at(int number) const { return part(ground, 3 * number); }
    const uint8_t* sprite_at(int number) const { return part(sprites, 4 * number); }
    const uint8_t* cell_at(int number) const { return part(cells, 3 * number); }

private:
    const uint8_t* part(const std::string& bytes, int planes) const {
        return reinterpret_cast<const uint8_t*>(bytes.data()) + planes * tile * tile;
    }
};

// One pixel, as XLA computes it: where it fuses a multiplication with an addition. Inlined to be compiled twice.
#define CYPOOL_PIXEL [[gnu::always_inline]] inline

CYPOOL_PIXEL float luminance(const float* color) {
    return __builtin_fmaf(0.114f, color[2], __builtin_fmaf(0.299f, color[0], 0.587f * color[1]));
}
CYPOOL_PIXEL float noise_of(uint32_t bits) { return __builtin_fmaf(jax::unit_of(bits), 95, 32); }
// of day and night; which of both is rounded before they are added differs
CYPOOL_PIXEL float mixed(float light, float day, float night, bool rounds_day) {
    return rounds_day ? __builtin_fmaf(1 - light, night, light * day) : __builtin_fmaf(light, day, (1 - light) * night);
}

constexpr float NIGHT_TINT[] = {0, 8, 32}, SLEEP_TINT[] = {0, 0, 8};  // half of what is mixed in

// color: of the day; noise: of this pixel, and how strong it is; OTHERS: channels in which XLA fuses other numbers
template <bool IS_FULL, int OTHERS> CYPOOL_PIXEL void shade(float light, float noise, float strength, float* color) {
    float night[3];
    for (int k = 0; k < 3; ++k) night[k] = __builtin_fmaf(strength, noise, (1 - strength) * color[k]);
    const float gray = 0.6f * luminance(night);
    for (int k = 0; k < 3; ++k) {
        const float tinted = IS_FULL ? night[k] : __builtin_fmaf(night[k], 0.4f, gray);
        color[k] = mixed(light, color[k], 0.5f * tinted + NIGHT_TINT[k], k < OTHERS);
    }
}
template <bool IS_FULL> CYPOOL_PIXEL void shade_asleep(float* color) {
    const float gray = 0.5f * luminance(color);
    for (int k = 0; k < 3; ++k) color[k] = IS_FULL ? color[k] * 0.5f : gray + SLEEP_TINT[k];
}

// Draws a game into float32 (y, x, channel), from 0 to 1.
template <bool IS_FULL> class Painter {
    using Of = Game<IS_FULL>;
    static constexpr int WIDEST = 256;  // pixels of a row, at most
    static constexpr int COLUMNS = Of::VIEW_WIDTH, ROWS = Of::VIEW_HEIGHT, INVENTORY_ROWS = IS_FULL ? 4 : 2;
    static constexpr int THINGS = IS_FULL ? LADDER_DOWN_BLOCKED + 1 : 1, NUM_PASSIVE = IS_FULL ? 3 : 1, EDGE = 13;
    static constexpr int ASLEEP = 4, MELEE_ONES = 5, PASSIVE_ONES = MELEE_ONES + Of::NUM_TYPES,
                         RANGED_ONES = PASSIVE_ONES + NUM_PASSIVE, SHOTS = RANGED_ONES + Of::NUM_TYPES;

public:
    Painter(const Of& game, const Pictures& pictures, float* image) : game_(game), pictures_(pictures), image_(image) {}

    void draw() {
        draw_ground();
        draw_sprites();
        for (int cell = 0; cell < ROWS * COLUMNS; ++cell) darken(cell % COLUMNS, cell / COLUMNS, lights_[cell]);
#if defined(__x86_64__)
        __builtin_cpu_supports("fma") && __builtin_cpu_supports("avx2") ? shade_all_fused() : shade_all();
#else
        shade_all();
#endif
        std::fill(at(0, ROWS), at(0, ROWS + INVENTORY_ROWS), 0.0f);
        draw_inventory();
    }

private:
    float* at(int column, int row) const { return image_ + row * tile_ * pitch_ + 3 * column * tile_; }
    Point corner() const { return game_.player - Point{ROWS / 2, COLUMNS / 2}; }

    void draw_ground() {
        const auto& floor = game_.here();
        const int left = std::clamp(corner().x, -EDGE, Of::SIZE + EDGE - ROWS);
        const int top = std::clamp(corner().y, -EDGE, Of::SIZE + EDGE - COLUMNS);
        for (int x = 0; x < ROWS; ++x) {
            for (int y = 0; y < COLUMNS; ++y) {
                const int cell = (left + x) * Of::SIZE + top + y;
                const bool is_inside = craftax::is_inside<Of::SIZE>({left + x, top + y});
                int block = is_inside ? floor.cells[cell].block : uint8_t{OUT},
                    thing = is_inside ? floor.cells[cell].thing : 0;
                if (block == NECROMANCER && game_.is_boss_vulnerable()) block = NECROMANCER_VULNERABLE;
                if (thing == LADDER_DOWN && !game_.is_ladder_open()) thing = LADDER_DOWN_BLOCKED;
                lights_[x * COLUMNS + y] = is_inside ? floor.light_of(cell) : IS_FULL ? 0.0f : 1.0f;
                const uint8_t* from = pictures_.ground_at(block * THINGS + thing);
                float* to = at(y, x);
                for (int k = 0; k < tile_; ++k, to += pitch_, from += 3 * tile_) std::copy(from, from + 3 * tile_, to);
            }
        }
    }
    void draw_sprites() {
        draw_sprite(game_.is_sleeping ? ASLEEP : std::max(game_.facing - 1, 0), game_.player);
        const auto& floor = game_.here();
        const auto draw = [&](const auto& slots, auto&& number_of) {
            for (const auto& each : slots) {
                if (each.is_used) draw_sprite(number_of(each), each.at);
            }
        };
        draw(floor.melee, [](const Mob& each) { return MELEE_ONES + each.type; });
        draw(floor.passive, [](const Mob& each) { return PASSIVE_ONES + std::min<int>(each.type, NUM_PASSIVE - 1); });
        draw(floor.ranged, [](const Mob& each) { return RANGED_ONES + each.type; });
        for (const auto* shots : {&floor.shots, &floor.arrows}) {
            draw(*shots, [](const Shot& each) {
                const int turned = (each.step.x > 0 || each.step.y > 0) + 2 * (each.step.y != 0);
                return SHOTS + 4 * each.type + turned;
            });
        }
    }
    void draw_sprite(int number, Point place) {
        const Point seen = place - corner();
        if (static_cast<unsigned>(seen.x) >= ROWS || static_cast<unsigned>(seen.y) >= COLUMNS) return;
        const uint8_t* from = pictures_.sprite_at(number);
        float* to = at(seen.y, seen.x);
        for (int y = 0; y < tile_; ++y, to += pitch_ - 3 * tile_) {
            // those that are partly transparent are black: shadows
            for (int x = 0; x < tile_; ++x, to += 3, from += 4) {
                const float alpha = static_cast<float>(from[3]) / 255;
                for (int k = 0; k < 3; ++k) to[k] = to[k] * (1 - alpha) + static_cast<float>(from[k]) * alpha;
            }
        }
    }
    void darken(int column, int row, float light) {
        float* to = at(column, row);
        for (int y = 0; light != 1 && y < tile_; ++y, to += pitch_) {
            for (int k = 0; k < 3 * tile_; ++k) to[k] *= light;
        }
    }
    CYPOOL_PIXEL void shade_all() {
        const float light = game_.level == 0 ? game_.seen_light : 1, intensity = std::max(2 * (0.5f - light), 0.0f);
        const int width = COLUMNS * tile_;
        // Classic: in a step that makes the next world, too; an episode's end is only seen without automatic reset.
        // Full: the loop of a reset's picture has eight pixels at once
        const bool is_new = game_.timestep == 0, makes_next = game_.setup->auto_reset && !is_new && !game_.is_over();
        const int others = IS_FULL ? (is_new && !game_.made_by_step ? width / 8 * 8 : 0) : makes_next ? width : 0;
        // by day without effect
        float noise[WIDEST] = {}, strength[WIDEST] = {};
        for (int first = 0; first < ROWS * tile_ * width; first += width) {
            float* row = image_ + 3 * first;
            if (intensity > 0) draw_noise(first, width, intensity, noise, strength);
            for (int i = 0; i < others; ++i) shade<IS_FULL, IS_FULL ? 2 : 1>(light, noise[i], strength[i], row + 3 * i);
            for (int i = others; i < width; ++i) shade<IS_FULL, 0>(light, noise[i], strength[i], row + 3 * i);
            for (int i = 0; game_.is_sleeping && i < width; ++i) shade_asleep<IS_FULL>(row + 3 * i);
            for (int k = 0; k < 3 * width; ++k) row[k] *= 1 / 255.0f;
        }
    }
    CYPOOL_PIXEL void draw_noise(int first, int width, float intensity, float* noise, float* strength) {
        for (int i = 0; i < width; i += jax::AT_ONCE) {
            uint32_t bits[jax::AT_ONCE];
            jax::many_bits(game_.noise_key, first + i, bits);
            for (int k = 0; k < jax::AT_ONCE; ++k) noise[i + k] = noise_of(bits[k]);
        }
        for (int i = 0; i < width; ++i) strength[i] = intensity * pictures_.noise[first + i];
    }
#if defined(__x86_64__)
    __attribute__((target("avx2,fma"), flatten)) void shade_all_fused() { shade_all(); }
#endif

    // Draws the cell of a number that is one of `count`; cells of one after the other are in this order.
    void show(int column, int row, int count, int number) {
        const uint8_t* from = pictures_.cell_at(first_ + number);
        first_ += count;
        float* to = at(column, ROWS + row);
        for (int y = 0; y < tile_; ++y, to += pitch_) {
            for (int k = 0; k < 3 * tile_; ++k) to[k] = static_cast<float>(*from++) * (1 / 255.0f);
        }
    }
    void draw_inventory() {
        const auto& items = game_.items;
        if constexpr (!IS_FULL) {
            int cell = 0;
            const auto show_next = [&](int number) {
                show(cell % COLUMNS, cell / COLUMNS, 10, number);
                ++cell;
            };
            for (const int need : {static_cast<int>(game_.health), game_.food, game_.drink, game_.energy}) {
                show_next(need);
            }
            show_next(items[Of::SAPLING]);
            for (int item = 0; item < Of::NUM_ITEMS; ++item) {
                if (item != Of::SAPLING) show_next(items[item]);
            }
        } else {
            // a third digit is lost
            const auto show_number = [&](int column, int row, int number) {
                show(column, row, 100, number < 100 ? number : 90 + number % 10);
            };
            show_number(0, 0, static_cast<int>(std::max(std::floor(game_.health), 1.0f)));
            int column = 1;
            for (const int need : {game_.food, game_.drink, game_.energy, game_.mana}) show_number(column++, 0, need);
            // clang-format off
            constexpr int PLACES[][3] = {
                {Of::WOOD_ITEM, 0, 2}, {Of::STONE_ITEM, 1, 2}, {Of::COAL_ITEM, 0, 1}, {Of::IRON_ITEM, 1, 1},
                {Of::DIAMOND_ITEM, 2, 1}, {Of::SAPPHIRE_ITEM, 3, 1}, {Of::RUBY_ITEM, 4, 1}, {Of::SAPLING, 5, 1},
                {Of::TORCHES, 2, 2}, {Of::BOOKS, 3, 2}};
            // clang-format on
            for (const auto& [item, x, y] : PLACES) show_number(x, y, items[item]);
            for (int k = 0; k < std::ssize(game_.potions); ++k) show_number(k, 3, game_.potions[k]);
            const int arrows = items[Of::ARROWS];
            show(6, 2, 300, (arrows > 0 ? 100 * game_.bow_magic : 0) + arrows);
            show(6, 0, 10, game_.level);
            int row = 0;
            for (const int number : {game_.experience, game_.dexterity, game_.strength, game_.intelligence}) {
                show(9, row++, 10, std::min(number, 9));
            }
            show(8, 2, 5, items[Of::PICKAXE]);
            show(8, 1, 15, 5 * game_.sword_magic + items[Of::SWORD]);
            show(6, 1, 2, items[Of::BOW]);
            for (int k = 0; k < std::ssize(game_.armours); ++k) {
                show(7, k, 9, 3 * game_.armour_magic[k] + game_.armours[k]);
            }
            show(4, 2, 2, game_.has_learned[0]);
            show(5, 2, 2, game_.has_learned[1]);
        }
    }

    const Of& game_;
    const Pictures& pictures_;
    float* image_;
    const int tile_ = pictures_.tile, pitch_ = 3 * COLUMNS * tile_;
    float lights_[ROWS * COLUMNS];
    int first_ = 0;  // of the next numbers in the inventory
};

}  // namespace cypool::craftax
