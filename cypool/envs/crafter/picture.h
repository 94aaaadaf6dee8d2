// Crafter's picture, from tiles that were drawn once.
#pragma once

#include <cstdint>
#include <cstring>
#include <vector>

#include "cypool/envs/crafter/world.h"

namespace cypool::crafter {

// textures.py has them in this order
enum Texture { NO_TEXTURE, PLAYER_TEXTURE, PLAYER_ASLEEP = PLAYER_TEXTURE + 4, COW_TEXTURE, ZOMBIE_TEXTURE,
               SKELETON_TEXTURE, ARROW_TEXTURE, PLANT_TEXTURE = ARROW_TEXTURE + 4, RIPE_TEXTURE, NUM_TEXTURES };

// Of a size of pictures; borrowed.
struct Pictures {
    const uint8_t* tiles;    // [material][texture][channel][y][x]; beyond the edge of the world is [0][0]
    const uint8_t* items;    // [item][amount][y][x][channel]
    const double* vignette;  // [y][x]
    int width, height;
    int columns, rows, view_rows;  // cells, and those of the view with the items
};

inline void copy_row(uint8_t* to, const uint8_t* from, int size) {
    if (size < 16 || size > 32) {
        std::memcpy(to, from, size);
    } else {
        std::memcpy(to, from, 16);
        std::memcpy(to + size - 16, from + size - 16, 16);
    }
}

CYPOOL_INLINE int gray_of(int red, int green, int blue) {
    return (red * 19595 + green * 38470 + blue * 7471 + 0x8000) >> 16;
}

// Noise of the night: two numbers of the stream for each pixel.
struct Darken {
    template <int> static CYPOOL_INLINE void run(const uint8_t* __restrict from, uint8_t* __restrict to,
                                                 const uint64_t* __restrict numbers, const double* __restrict vignette,
                                                 int n, double amount) {
        for (int k = 0; k < n; ++k) {
            // of numbers below 2**31, which are quick to convert
            const int high = static_cast<int>(static_cast<uint32_t>(numbers[k]) >> 5);
            const int low = static_cast<int>(numbers[k] >> 38);
            const double noise = 32 + 95 * ((high * 67108864.0 + low) / 9007199254740992.0);
            const double mask = amount * vignette[k], keep = 1 - mask, add = mask * noise;
            to[k] = static_cast<uint8_t>(static_cast<int>(keep * from[k] + add));
            to[k + n] = static_cast<uint8_t>(static_cast<int>(keep * from[k + n] + add));
            to[k + 2 * n] = static_cast<uint8_t>(static_cast<int>(keep * from[k + 2 * n] + add));
        }
    }
};

// Pillow's saturation of what is seen at night, a tint, and as much of the picture as there is daylight.
struct Light {
    template <int> static CYPOOL_INLINE void run(const uint8_t* __restrict day, const uint8_t* __restrict night,
                                                 uint8_t* __restrict to, int n, double daylight) {
        const double rest = 1 - daylight;
        for (int k = 0; k < n; ++k) {
            const int gray = gray_of(night[k], night[k + n], night[k + 2 * n]);
            const auto lit = [&](int channel, double tint) {
                const int soft = static_cast<int>(static_cast<float>(gray)
                                                  + 0.4f * static_cast<float>(night[k + channel * n] - gray));
                return static_cast<uint8_t>(
                    static_cast<int>(daylight * day[k + channel * n] + rest * (0.5 * soft + tint)));
            };
            to[k] = lit(0, 0);
            to[k + n] = lit(1, 8);
            to[k + 2 * n] = lit(2, 32);
        }
    }
};

struct FallAsleep {
    template <int> static CYPOOL_INLINE void run(uint8_t* pixels, int n) {
        for (int k = 0; k < n; ++k) {
            const int half = gray_of(pixels[k], pixels[k + n], pixels[k + 2 * n]) >> 1;
            pixels[k] = pixels[k + n] = static_cast<uint8_t>(half);
            pixels[k + 2 * n] = static_cast<uint8_t>(half + 8);
        }
    }
};

struct Interleave {
    template <int> static CYPOOL_INLINE void run(const uint8_t* __restrict planes, uint8_t* __restrict to, int width,
                                                 int height, int64_t pitch) {
        const int n = width * height;
        for (int y = 0; y < height; ++y) {
            for (int x = 0; x < width; ++x) {
                to[y * pitch + 3 * x] = planes[y * width + x];
                to[y * pitch + 3 * x + 1] = planes[y * width + x + n];
                to[y * pitch + 3 * x + 2] = planes[y * width + x + 2 * n];
            }
        }
    }
};

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
    int tile_size() const { return tile_width_ * tile_height_; }
    uint8_t* image_at(int column, int row) const {
        return image_ + int64_t{row} * tile_height_ * pitch_ + 3 * column * tile_width_;
    }
    static int texture_of(const World& world, int slot) {
        if (!slot) return NO_TEXTURE;
        const Object& object = world.objects[slot];
        switch (object.kind) {
            case PLAYER: return world.is_sleeping ? PLAYER_ASLEEP : PLAYER_TEXTURE + object.facing;
            case COW: return COW_TEXTURE;
            case ZOMBIE: return ZOMBIE_TEXTURE;
            case SKELETON: return SKELETON_TEXTURE;
            case ARROW: return ARROW_TEXTURE + object.facing;
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
                    tile = world.materials[cell] * NUM_TEXTURES + texture_of(world, world.occupant[cell]);
                }
                f(column, row, tile);
            }
        }
    }
    void draw_tile(int column, int row, const uint8_t* tile) const {
        uint8_t* to = image_at(column, row);
        for (int y = 0; y < tile_height_; ++y) copy_row(to + y * pitch_, tile + 3 * y * tile_width_, 3 * tile_width_);
    }

    // lights each kind of tile once
    void draw_day() {
        const int size = 3 * tile_size();
        lit_.resize(size_t{NUM_MATERIALS * NUM_TEXTURES} * size);
        work_.resize(size);
        is_lit_.assign(NUM_MATERIALS * NUM_TEXTURES, 0);
        each_tile([&](int column, int row, int tile) {
            uint8_t* lit = &lit_[size_t{1} * tile * size];
            if (!is_lit_[tile]) {
                is_lit_[tile] = 1;
                const uint8_t* plain = pictures_->tiles + size_t{1} * tile * size;
                run<Light>(plain, plain, work_.data(), tile_size(), world_->daylight);
                if (world_->is_sleeping) run<FallAsleep>(work_.data(), tile_size());
                run<Interleave>(static_cast<const uint8_t*>(work_.data()), lit, tile_width_, tile_height_,
                                int64_t{3} * tile_width_);
            }
            draw_tile(column, row, lit);
        });
    }

    void draw_night() {
        const int width = pictures_->columns * tile_width_, height = pictures_->rows * tile_height_, n = width * height;
        plain_.resize(size_t{3} * n);
        dark_.resize(size_t{3} * n);
        work_.resize(size_t{3} * n);
        each_tile([&](int column, int row, int tile) {
            const uint8_t* from = pictures_->tiles + size_t{3} * tile * tile_size();
            for (int channel = 0; channel < 3; ++channel) {
                uint8_t* to = &plain_[size_t{1} * channel * n + row * tile_height_ * width + column * tile_width_];
                for (int y = 0; y < tile_height_; ++y, from += tile_width_) {
                    std::memcpy(to + y * width, from, tile_width_);
                }
            }
        });
        draw_noise(width, height);
        const uint8_t *plain = plain_.data(), *dark = dark_.data();
        run<Darken>(plain, dark_.data(), static_cast<const uint64_t*>(noise_.data()), pictures_->vignette, n,
                    2 * (0.5 - world_->daylight));
        run<Light>(plain, dark, work_.data(), n, world_->daylight);
        if (world_->is_sleeping) run<FallAsleep>(work_.data(), n);
        run<Interleave>(static_cast<const uint8_t*>(work_.data()), image_, width, height, pitch_);
    }
    // crafter draws them column by column
    void draw_noise(int width, int height) {
        const size_t n = size_t{1} * width * height;
        numbers_.resize(2 * n + RandomState::SIZE + 16);
        columns_.resize(n);
        noise_.resize(n);
        world_->random.peek(reinterpret_cast<uint32_t*>(columns_.data()), static_cast<int64_t>(2 * n), numbers_.data());
        for (int x = 0; x < width; ++x) {
            for (int y = 0; y < height; ++y) noise_[size_t{1} * y * width + x] = columns_[size_t{1} * x * height + y];
        }
    }

    void draw_items() const {
        for (int item = 0; item < NUM_ITEMS; ++item) {
            const int amount = world_->inventory[item];
            if (amount < 1) continue;
            draw_tile(item % pictures_->columns, pictures_->rows + item / pictures_->columns,
                      pictures_->items + size_t{3} * (item * (MOST_ITEMS + 1) + amount) * tile_size());
        }
    }

    const World* world_;
    const Pictures* pictures_;
    int tile_width_, tile_height_;
    int64_t pitch_;
    uint8_t* image_;
    std::vector<uint8_t> plain_, dark_, work_, lit_, is_lit_;
    std::vector<uint32_t> numbers_;
    std::vector<uint64_t> columns_, noise_;
};

inline void draw_picture(const World& world, const Pictures& pictures, uint8_t* image) {
    static thread_local Painter painter;
    painter.draw(world, pictures, image);
}

}  // namespace cypool::crafter
