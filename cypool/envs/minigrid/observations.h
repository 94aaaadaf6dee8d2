// Observations of minigrid's wrappers: the whole grid, symbols, bits, pixels, one flat array, the way to the goal.
#pragma once

#include "babyai.h"

namespace cypool::minigrid {

class Observations : public BabyAI {
public:
    using BabyAI::observe;
    void observe(const Slot& out) {
        enum { PARTIAL, FULL, ONEHOT, SYMBOLIC, RGB, RGB_PARTIAL, FLAT };
        int k = 0;
        const bool has_parts = !options->image_only && options->obs_type != FLAT;
        if (has_parts) {
            *obs_row<int64_t>(&out, k++) = dir;
            if (!options->directions.empty()) {
                const int row = height - 1 + goal_.y - agent.y, column = width - 1 + goal_.x - agent.x;
                *obs_row<double>(&out, k++) = options->directions[row * (2 * width - 1) + column];
            }
        }
        auto* image = obs_row<uint8_t>(&out, k++);
        switch (options->obs_type) {
            case PARTIAL: observe_view(image); break;
            case FULL: observe_all(image); break;
            case ONEHOT: observe_bits(image); break;
            case SYMBOLIC: observe_symbols(reinterpret_cast<int64_t*>(image)); break;
            case RGB: observe_all_pixels(image); break;
            case RGB_PARTIAL: observe_view_pixels(image); break;
            default: observe_flat(image, options->mission_length);
        }
        if (!has_parts) return;
        std::memcpy(out.obs[k], mission.data(), mission.size());
        std::memset(static_cast<char*>(out.obs[k]) + mission.size(), 0, options->mission_length - mission.size());
    }
    // of a view: its bytes, as the environment or ViewSizeWrapper has them
    void observe_view(uint8_t* image) {
        if (view_is_late) {
            with_carried([&] { observe(image); });
        } else {
            observe(image);
        }
    }
    // Grid.encode of all: image[x][y]
    void encode(uint8_t* image) const {
        for (int x = 0; x < width; ++x) {
            for (int y = 0; y < height; ++y) std::memcpy(image + 3 * (x * height + y), &objects[cell({x, y})], 3);
        }
        if (will_carry()) {
            const Pos p = objects[object_].at;
            std::memcpy(image + 3 * (p.x * height + p.y), &objects[NOTHING], 3);
        }
    }
    // FullyObsWrapper
    void observe_all(uint8_t* image) const {
        encode(image);
        const uint8_t seen[3] = {AGENT, RED, static_cast<uint8_t>(dir)};
        std::memcpy(image + 3 * (agent.x * height + agent.y), seen, 3);
    }
    // SymbolicObsWrapper: column, row and type, or -1 for nothing
    void observe_symbols(int64_t* symbols) const {
        for (int x = 0; x < width; ++x) {
            for (int y = 0; y < height; ++y, symbols += 3) {
                const int k = cell({x, y});
                const bool is_gone = will_carry() && k == object_;
                symbols[0] = x;
                symbols[1] = y;
                symbols[2] = agent == Pos{x, y} ? AGENT : k == NOTHING || is_gone ? -1 : objects[k].type;
            }
        }
    }
    // OneHotPartialObsWrapper: 11 types, 6 colours, 3 states
    void observe_bits(uint8_t* bits) {
        uint8_t image[3 * MAX_VIEW * MAX_VIEW];
        observe_view(image);
        std::memset(bits, 0, static_cast<size_t>(view) * view * 20);
        for (int k = 0; k < view * view; ++k, bits += 20) {
            bits[image[3 * k]] = bits[11 + image[3 * k + 1]] = bits[17 + image[3 * k + 2]] = 1;
        }
    }
    // FlatObsWrapper: the view's bytes, and a bit for each character of the mission: a to z, space, comma
    void observe_flat(uint8_t* bytes, int length) {
        observe_view(bytes);
        uint8_t* bits = bytes + 3 * view * view;
        std::memset(bits, 0, static_cast<size_t>(length) * 28);
        for (size_t k = 0; k < mission.size(); ++k) {
            const char letter = mission[k];
            const int bit = letter == ' ' ? 26 : letter == ',' ? 27 : letter - 'a';
            // a mission that was loaded may be any text
            if (bit >= 0 && bit < 28) bits[k * 28 + bit] = 1;
        }
    }
    // RGBImgPartialObsWrapper
    void observe_view_pixels(uint8_t* pixels) {
        uint32_t cells[MAX_VIEW * MAX_VIEW];
        with_carried([&] { write_view(cells); });
        const int at = view / 2 * view + view - 1;
        draw_tiles(pixels, view, view, [&](int i, int j) {
            const int k = i * view + j;
            return tile(cells[k], k == at ? 4 : 0, cells[k] != 0);
        });
    }
    // RGBImgObsWrapper
    void observe_all_pixels(uint8_t* pixels) {
        with_carried([&] {
            seen_.assign(static_cast<size_t>(width) * height, 0);
            if (options->highlight) mark_seen();
            draw_tiles(pixels, width, height, [&](int x, int y) {
                uint32_t word;
                std::memcpy(&word, &objects[cell(x, y)], 4);
                return tile(word, agent == Pos{x, y} ? dir + 1 : 0, seen_[y * width + x]);
            });
        });
    }
    const Object& carried() const { return objects[will_carry() ? object_ : carrying]; }

protected:
    // the first one, row by row
    void find_goal() {
        for (int k = 0; k < width * height; ++k) {
            goal_ = {k % width, k / width};
            if (cell(goal_) == A_GOAL) return;
        }
    }

private:
    // calls a function that writes an observation, when PutNext's agent has its object
    template <class Write> void with_carried(Write write) {
        if (!will_carry()) {
            write();
            return;
        }
        const Pos p = objects[object_].at;
        const int held = carrying;
        cell(p) = NOTHING;
        carrying = object_;
        write();
        cell(p) = static_cast<uint16_t>(object_);
        carrying = held;
    }
    void mark_seen() {
        uint32_t cells[MAX_VIEW * MAX_VIEW];
        write_view(cells);
        for (int i = 0; i < view; ++i) {
            for (int j = 0; j < view; ++j) {
                const int ahead = view - 1 - j, right = i - view / 2;
                const Pos p{agent.x + DX[dir] * ahead - DY[dir] * right, agent.y + DY[dir] * ahead + DX[dir] * right};
                if (cells[i * view + j] && p.x >= 0 && p.x < width && p.y >= 0 && p.y < height) {
                    seen_[p.y * width + p.x] = 1;
                }
            }
        }
    }
    // tiles: (kind, 5, 2, size, size, 3), without or with the agent, not seen or seen; kinds: (type, colour, state)
    const char* tile(uint32_t word, int agent, bool seen) const {
        const auto kind =
            static_cast<uint8_t>(options->kinds[((word & 255) * 6 + (word >> 8 & 255)) * 3 + (word >> 16 & 255)]);
        const size_t size = options->tile_size;
        return options->tiles.data() + static_cast<size_t>((kind * 5 + agent) * 2 + seen) * size * size * 3;
    }
    template <class TileOf> void draw_tiles(uint8_t* pixels, int columns, int rows, TileOf tile_of) const {
        // minigrid's own size is a constant, so that a row of a tile is copied without a call
        if (options->tile_size == 8) {
            copy_tiles<8>(pixels, 8, columns, rows, tile_of);
        } else {
            copy_tiles<0>(pixels, options->tile_size, columns, rows, tile_of);
        }
    }
    template <int SIZE, class TileOf>
    static void copy_tiles(uint8_t* pixels, int given, int columns, int rows, TileOf tile_of) {
        const size_t size = SIZE ? SIZE : given, line = columns * size * 3;
        for (int j = 0; j < rows; ++j) {
            for (int i = 0; i < columns; ++i) {
                const char* from = tile_of(i, j);
                uint8_t* to = pixels + j * size * line + i * size * 3;
                for (size_t row = 0; row < size; ++row) std::memcpy(to + row * line, from + row * size * 3, size * 3);
            }
        }
    }

    Pos goal_{0, 0};
    std::vector<uint8_t> seen_;  // cells that the agent sees
};

}  // namespace cypool::minigrid
