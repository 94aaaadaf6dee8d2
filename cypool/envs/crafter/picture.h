// Crafter's picture, from tiles that were drawn once.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>
#include <vector>

#include "cypool/envs/crafter/world.h"

namespace cypool::crafter {

// assets.py has them in this order
enum Texture {
    NO_TEXTURE,
    PLAYER_TEXTURE,
    PLAYER_ASLEEP = PLAYER_TEXTURE + 4,
    COW_TEXTURE,
    ZOMBIE_TEXTURE,
    SKELETON_TEXTURE,
    ARROW_TEXTURE,
    PLANT_TEXTURE = ARROW_TEXTURE + 4,
    RIPE_TEXTURE,
    NUM_TEXTURES
};

// Of a size of pictures; borrowed.
struct Pictures {
    // pixels column by column, as crafter has them; beyond the edge of the world is tile [0][0]
    const uint8_t* tiles;    // [material][texture][channel][pixel]
    const double* vignette;  // [pixel]
    const uint8_t* items;    // [item][amount][y][x][channel]
    int width, height;
    int columns, rows, view_rows;  // cells, and those of the view with the items
};

// the most common sizes without a call
inline void copy_bytes(uint8_t* to, const uint8_t* from, int size) {
    const auto copy = [&](auto part) {
        std::memcpy(to, from, part);
        std::memcpy(to + size - part, from + size - part, part);
    };
    if (size < 4 || size > 32) return static_cast<void>(std::memcpy(to, from, size));
    if (size <= 8) return copy(std::integral_constant<int, 4>());
    if (size <= 16) return copy(std::integral_constant<int, 8>());
    copy(std::integral_constant<int, 16>());
}

// Pixels are in three planes, each of which is padded to a multiple of this number.
constexpr int MAX_LANES = 8;
constexpr int padded(int pixels) { return (pixels + MAX_LANES - 1) / MAX_LANES * MAX_LANES; }

// As many pixels at once as there are numbers of double precision in a vector.
template <int BYTES> struct Pixels {
    static constexpr int LANES = BYTES / sizeof(double);
    using Doubles = Vector<double, BYTES>;
    using Floats = Vector<float, BYTES / 2>;
    using Ints = Vector<int32_t, BYTES / 2>;
    struct Colors {
        Ints red, green, blue;
    };

    static CYPOOL_INLINE Ints load(const uint8_t* at) {
        // the compiler's conversion goes byte by byte
        uint32_t words[(LANES + 3) / 4] = {};
        std::memcpy(words, at, LANES);
        Ints ints, shifts;
        for (int k = 0; k < LANES; ++k) {
            ints[k] = static_cast<int32_t>(words[k / 4]);
            shifts[k] = k % 4 * 8;
        }
        return ints >> shifts & 255;
    }
    static CYPOOL_INLINE Colors load_colors(const uint8_t* at, int plane) {
        return {load(at), load(at + plane), load(at + 2 * plane)};
    }
    static CYPOOL_INLINE void store_colors(uint32_t* at, const Colors& colors) {
        store_vector<Ints>(at, colors.red | colors.green << 8 | colors.blue << 16);
    }
    static CYPOOL_INLINE Doubles doubles(const Ints& ints) { return __builtin_convertvector(ints, Doubles); }
    static CYPOOL_INLINE Ints truncated(const Doubles& numbers) { return __builtin_convertvector(numbers, Ints); }
    static CYPOOL_INLINE Ints gray_of(const Colors& colors) {
        return (colors.red * 19595 + colors.green * 38470 + colors.blue * 7471 + 0x8000) >> 16;
    }

    // of 53 bits, from two numbers of 32 each, the first of which is the low half
    static CYPOOL_INLINE Doubles integers_of(const uint64_t* numbers) {
        using Words = Vector<uint64_t, BYTES>;
        const Words words = load_vector<Words>(numbers);
        if constexpr (BYTES == 64) {
            return __builtin_convertvector((words & 0xffffffe0u) << 21 | words >> 38, Doubles);
        } else {
            // without an instruction for this; below 2**31 there is one
            return doubles(__builtin_convertvector((words & 0xffffffffu) >> 5, Ints)) * 67108864.0
                   + doubles(__builtin_convertvector(words >> 38, Ints));
        }
    }
    // colours under `amount` of noise; numbers: two of the stream for each pixel
    static CYPOOL_INLINE Colors darkened(const Colors& colors, const uint64_t* numbers, const double* vignette,
                                         double amount) {
        const Doubles noise = 32 + 95 * (integers_of(numbers) / 9007199254740992.0);
        const Doubles mask = amount * load_vector<Doubles>(vignette), keep = 1 - mask, add = mask * noise;
        return {truncated(keep * doubles(colors.red) + add), truncated(keep * doubles(colors.green) + add),
                truncated(keep * doubles(colors.blue) + add)};
    }
    // Pillow's saturation of the view at night, a tint, and as much of the day's colours as there is light.
    static CYPOOL_INLINE Colors lit(const Colors& day, const Colors& night, double daylight) {
        const Ints gray = gray_of(night);
        const Floats gray_float = __builtin_convertvector(gray, Floats);
        const auto channel = [&](const Ints& of_day, const Ints& of_night, double tint) __attribute__((always_inline)) {
            const Floats soft = gray_float + 0.4f * __builtin_convertvector(of_night - gray, Floats);
            return truncated(daylight * doubles(of_day)
                             + (1 - daylight) * (0.5 * doubles(__builtin_convertvector(soft, Ints)) + tint));
        };
        return {channel(day.red, night.red, 0), channel(day.green, night.green, 8), channel(day.blue, night.blue, 32)};
    }
    static CYPOOL_INLINE Colors asleep(const Colors& colors) {
        const Ints half = gray_of(colors) >> 1;
        return {half, half, half + 8};
    }
};

// numbers: null by day
struct Shade {
    template <int BYTES>
    static CYPOOL_INLINE void run(const uint8_t* from, uint32_t* to, int plane, double daylight, bool is_sleeping,
                                  const uint64_t* numbers, const double* vignette) {
        using P = Pixels<BYTES>;
        for (int k = 0; k < plane; k += P::LANES) {
            const typename P::Colors colors = P::load_colors(from + k, plane);
            typename P::Colors seen = colors;
            if (numbers) seen = P::darkened(colors, numbers + k, vignette + k, 2 * (0.5 - daylight));
            seen = P::lit(colors, seen, daylight);
            P::store_colors(to + k, is_sleeping ? P::asleep(seen) : seen);
        }
    }
};

// From columns of colours to rows of bytes.
inline void write_rows(const uint32_t* colors, uint8_t* to, int width, int height, int64_t pitch) {
    for (int y = 0; y < height; ++y, to += pitch, ++colors) {
        const int last = width - 1;
        // the fourth byte is overwritten by the next pixel
        for (int x = 0; x < last; ++x) std::memcpy(to + 3 * x, colors + int64_t{1} * x * height, 4);
        std::memcpy(to + 3 * last, colors + int64_t{1} * last * height, 3);
    }
}

// Memory for pictures, one per thread.
class Painter {
public:
    void draw(const World& world, const Pictures& pictures, uint8_t* image) {
        world_ = &world;
        pictures_ = &pictures;
        tile_width_ = pictures.width / pictures.columns;
        tile_height_ = pictures.height / pictures.view_rows;
        pitch_ = int64_t{3} * pictures.width;
        const int border_x = (pictures.width - tile_width_ * pictures.columns) / 2;
        const int border_y = (pictures.height - tile_height_ * pictures.view_rows) / 2;
        std::memset(image, 0, pitch_ * pictures.height);
        image_ = image + border_y * pitch_ + 3 * border_x;
        if (world.is_dark()) {
            draw_night();
        } else {
            draw_day();
        }
        draw_items();
    }

private:
    uint8_t* image_at(int column, int row) const {
        return image_ + int64_t{row} * tile_height_ * pitch_ + 3 * column * tile_width_;
    }
    static int texture_of(const World& world, int slot) {
        if (!slot) return NO_TEXTURE;
        const Object& object = world.objects[slot];
        switch (object.kind) {
            case PLAYER: return world.is_sleeping ? PLAYER_ASLEEP : int{PLAYER_TEXTURE} + object.facing;
            case COW: return COW_TEXTURE;
            case ZOMBIE: return ZOMBIE_TEXTURE;
            case SKELETON: return SKELETON_TEXTURE;
            case ARROW: return int{ARROW_TEXTURE} + object.facing;
            default: return object.count > RIPE ? RIPE_TEXTURE : PLANT_TEXTURE;
        }
    }
    // calls f with the column, the row and the tile of each cell of the view
    template <class F> void each_tile(F&& f) const {
        const World& world = *world_;
        const int left = world.player().x - pictures_->columns / 2, top = world.player().y - pictures_->rows / 2;
        for (int column = 0; column < pictures_->columns; ++column) {
            for (int row = 0; row < pictures_->rows; ++row) {
                const int x = left + column, y = top + row;
                int tile = 0;
                if (world.is_inside(x, y)) {
                    const int cell = world.at(x, y);
                    tile = world.materials[cell] * int{NUM_TEXTURES} + texture_of(world, world.occupant[cell]);
                }
                f(column, row, tile);
            }
        }
    }
    void draw_tile(int column, int row, const uint8_t* tile) const {
        uint8_t* to = image_at(column, row);
        for (int y = 0; y < tile_height_; ++y) copy_bytes(to + y * pitch_, tile + 3 * y * tile_width_, 3 * tile_width_);
    }

    // lights each kind of tile once
    void draw_day() {
        constexpr int NUM_TILES = int{NUM_MATERIALS} * int{NUM_TEXTURES};
        const int plane = padded(tile_width_ * tile_height_);
        const size_t size = size_t{3} * plane;
        lit_.resize(NUM_TILES * size);
        is_lit_.assign(NUM_TILES, 0);
        each_tile([&](int column, int row, int tile) {
            uint8_t* lit = &lit_[tile * size];
            if (!is_lit_[tile]) {
                is_lit_[tile] = 1;
                shade(pictures_->tiles + tile * size, plane, nullptr);
                write_rows(colors_.data(), lit, tile_width_, tile_height_, int64_t{3} * tile_width_);
            }
            draw_tile(column, row, lit);
        });
    }

    void draw_night() {
        const int width = pictures_->columns * tile_width_, height = pictures_->rows * tile_height_;
        const int plane = padded(width * height), tile_plane = padded(tile_width_ * tile_height_);
        const int64_t numbers = int64_t{2} * width * height;
        plain_.resize(size_t{3} * plane);
        each_tile([&](int column, int row, int tile) {
            for (int channel = 0; channel < 3; ++channel) {
                const uint8_t* from = pictures_->tiles + (size_t{3} * tile + channel) * tile_plane;
                uint8_t* to = &plain_[size_t{1} * channel * plane + column * tile_width_ * height + row * tile_height_];
                for (int x = 0; x < tile_width_; ++x, to += height, from += tile_height_) {
                    copy_bytes(to, from, tile_height_);
                }
            }
        });
        work_.resize(numbers + RandomState::SIZE + 16);
        noise_.resize(plane);
        world_->random.peek(reinterpret_cast<uint32_t*>(noise_.data()), numbers, work_.data());
        shade(plain_.data(), plane, noise_.data());
        write_rows(colors_.data(), image_, width, height, pitch_);
    }
    void shade(const uint8_t* from, int plane, const uint64_t* numbers) {
        colors_.resize(plane);
        run<Shade>(from, colors_.data(), plane, world_->daylight, world_->is_sleeping, numbers, pictures_->vignette);
    }

    void draw_items() const {
        for (int item = 0; item < NUM_ITEMS; ++item) {
            const int amount = world_->inventory[item];
            if (amount < 1) continue;
            draw_tile(item % pictures_->columns, pictures_->rows + item / pictures_->columns,
                      pictures_->items + size_t{3} * (item * (MAX_ITEMS + 1) + amount) * tile_width_ * tile_height_);
        }
    }

    const World* world_;
    const Pictures* pictures_;
    int tile_width_, tile_height_;
    int64_t pitch_;
    uint8_t* image_;
    std::vector<uint8_t> plain_, lit_, is_lit_;
    std::vector<uint32_t> colors_, work_;
    std::vector<uint64_t> noise_;
};

inline void draw_picture(const World& world, const Pictures& pictures, uint8_t* image) {
    static thread_local Painter painter;
    painter.draw(world, pictures, image);
}

}  // namespace cypool::crafter
