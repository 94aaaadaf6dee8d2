// Draws a game as the library does, pixel for pixel, without its painter, which spends most of its time on state.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "cypool/envs/procgen/layout.h"

// the library needs AVX anyway
#pragma GCC push_options
#if defined(__x86_64__)
#pragma GCC target("avx")
#endif

namespace cypool::procgen {

struct RectF {
    double x, y, w, h;

    bool operator==(const RectF&) const = default;
};

// What the library calls QImage, as far as it is read here.
struct Image {
    enum Format : int { OPAQUE = 4, PREMULTIPLIED = 6 };  // 32 bits a pixel
    struct Data {
        int references, width, height, depth;
        char unused[24];
        const uint8_t* bits;
        Format format;
        int unused_too;
        int bytes_per_line;
    };
    char unused[24];
    const Data* data;
};
static_assert(offsetof(Image::Data, bits) == 40 && offsetof(Image::Data, bytes_per_line) == 56);

struct Entity {
    float x, y, vx, vy, rx, ry;
    int type, image_type, image_theme, render_z;
    bool will_erase, collides_with_entities;
    float collision_margin, rotation, vrot;
    bool is_reflected;
    int fire_time, spawn_time, life_time, expire_time;
    bool use_abs_coords;
    float friction;
    bool smart_step, avoids_collisions, auto_erase;
    float alpha;
};
static_assert(offsetof(Entity, rotation) == 48 && offsetof(Entity, alpha) == 88);

// ---- pixels: 0xAARRGGBB, colours multiplied by alpha ---------------------------------------------------------------

// Each of four bytes times a / 255, rounded.
inline uint32_t scaled(uint32_t pixel, uint32_t a) {
    uint32_t even = (pixel & 0xff00ff) * a, odd = ((pixel >> 8) & 0xff00ff) * a;
    even = ((even + ((even >> 8) & 0xff00ff) + 0x800080) >> 8) & 0xff00ff;
    odd = (odd + ((odd >> 8) & 0xff00ff) + 0x800080) & 0xff00ff00;
    return even | odd;
}
inline uint32_t over(uint32_t pixel, uint32_t below) { return pixel + scaled(below, 255 - (pixel >> 24)); }

inline int nearest(double value) { return static_cast<int>(std::floor(value + 0.5)); }

// The pixels from `first` to before `last` show those of an image of `size` pixels: the k-th from `first` on shows
// (start + k * step) >> 16. `exact`: with the fraction of a step that pictures with transparent parts have.
struct Span {
    int first, last;
    int64_t start = 0, step = 0;

    Span() = default;

    Span(double from, double length, int size, bool exact) {
        const auto [low, high] = std::minmax({nearest(from), nearest(from + length)});
        first = std::max(low, 0);
        last = std::min(high, int{SIDE});
        if (first >= last) return;
        // from its left edge, which is the end of a mirrored image
        const double middle = first + 0.5 - std::min(from, from + length);
        if (length < 0) {
            step = whole(65536 / (length / size));
            start = (int64_t{size} << 16) + whole(std::ceil(middle * static_cast<double>(step)));
        } else if (exact) {
            step = whole(65536 / (length / size));
            start = whole(std::ceil(middle * static_cast<double>(step))) - 1;
        } else {
            step = whole(65536.0 * size / length);
            start = whole(std::ceil(middle * size / length * 65536)) - 1;
        }
        // rounding may lead to a pixel before the image or behind it: this one is left out
        while (first < last && !is_within(start, size)) ++first, start += step;
        while (first < last && !is_within(start + (last - 1 - first) * step, size)) --last;
    }

    // The same, if it was asked for before by this thread, mostly for a neighbour of a cell.
    static Span of(double from, double length, int size, bool exact) {
        struct Known {
            double from, length = 0;
            int size;
            bool exact;
            Span span;
        };
        static thread_local Known known[128];
        uint64_t bits;
        std::memcpy(&bits, &from, sizeof bits);
        Known& found = known[(bits * 0x9e3779b97f4a7c15 >> 57) ^ (size & 127)];
        if (found.from != from || found.length != length || found.size != size || found.exact != exact) {
            found = {from, length, size, exact, Span(from, length, size, exact)};
        }
        return found.span;
    }
    // Leaves out what is not within low to before high.
    void clip(int low, int high) {
        if (first < low) start += (low - first) * step, first = low;
        last = std::min(last, high);
    }

private:
    static bool is_within(int64_t position, int size) { return position >= 0 && position >> 16 < size; }
    // of an image that is far larger than its pixels only one is seen, if any
    static int64_t whole(double value) { return static_cast<int64_t>(std::clamp(value, -1e15, 1e15)); }
};

// ---- a game --------------------------------------------------------------------------------------------------------

class Picture {
public:
    // Of a game in the library, which is loaded at `base`.
    Picture(char* game, const char* base, const std::string& name) : game_(game), base_(base) {
        chaser_ = name == "chaser";
        ninja_ = name == "ninja";
        plunder_ = name == "plunder";
        starpilot_ = name == "starpilot";
        jumper_ = name == "jumper";
        adjusts_ = has_own(at::GET_ADJUSTED_IMAGE_RECT, at::SAME_RECT);
        tiles_ = has_own(at::GET_TILE_ASPECT_RATIO, at::NO_TILES);
        hides_ = has_own(at::SHOULD_DRAW_ENTITY, at::ALWAYS_DRAWN);
    }

    // Draws the game, and writes three bytes a pixel, or three planes.
    void draw(uint8_t* picture, bool planes) {
        alignas(32) static thread_local uint32_t pixels[SIDE * SIDE];
        target_ = pixels;
        ++number_;
        prepare();
        draw_scene();
        draw_entities(0);
        draw_entities(1);
        if (option(at::HAS_VELOCITY) && option(at::PAINT_VEL_INFO)) draw_velocity();
        if (ninja_) draw_charge();
        if (plunder_) draw_bars();
        if (jumper_ && get<int>(at::MODE) != MEMORY_MODE) draw_compass();
        (planes ? write_planes : write_pixels)(pixels, picture);
    }

private:
    enum : int { SOME_SPRITES = 100, EMPTY = 100, INVALID = -1, ORB = 1002, MEMORY_MODE = 10, NUM_TYPES = 128 };
    enum : uint32_t { BLACK = 0xff000000, GREEN = 0xff00ff00, LIGHT_GREEN = 0xff42f587, PINK = 0xfff54290 };
    using Shared = void* [2];  // a std::shared_ptr

    // What the picture of a type of cell is.
    struct Type {
        uint32_t number = 0;  // of the picture that it was asked for
        int kind, theme;

        bool operator==(const Type& other) const { return kind == other.kind && theme == other.theme; }
    };
    // What background and cells depend on, but for the cells.
    struct Scene {
        const uint8_t* background;
        float unit, view, x_off, y_off, visibility, part, tile_ratio;
        int width, height, outside;

        bool operator==(const Scene&) const = default;
    };
    // How an entity looks.
    struct Look {
        RectF place;
        int kind, theme;
        bool is_reflected;
        float rotation, alpha, tile_ratio;

        bool operator==(const Look&) const = default;
    };
    struct Range {
        int low_x, high_x, low_y, high_y;
    };

    char* game_;
    const char* base_;
    bool chaser_, ninja_, plunder_, starpilot_, jumper_, adjusts_, tiles_, hides_;
    uint32_t* target_ = nullptr;
    int left_ = 0, right_ = SIDE, top_ = 0, bottom_ = SIDE;  // nothing is drawn outside
    uint32_t number_ = 0;
    Type types_[NUM_TYPES];
    // the last picture's; while they are the same, background and cells are drawn only where cells change
    Scene scene_ = {};
    bool is_kept_ = false;
    std::vector<uint32_t> background_, layer_;
    std::vector<int> cells_;
    std::vector<std::pair<int, Type>> used_;
    std::vector<Look> behind_, behind_now_;

    template <class Value> Value& get(size_t offset) { return *reinterpret_cast<Value*>(game_ + offset); }
    bool option(size_t offset) { return get<bool>(offset); }
    // Whether a virtual function differs from that of all games.
    bool has_own(int slot, size_t common) { return (*reinterpret_cast<const char***>(game_))[slot] != base_ + common; }
    // Calls a virtual function of the game.
    template <class Result, class... Arguments> Result call(int slot, Arguments... arguments) {
        return (*reinterpret_cast<Result (***)(void*, Arguments...)>(game_))[slot](game_, arguments...);
    }

    // As the library has it: where the picture is in the world.
    void prepare() {
        const int width = get<int>(at::MAIN_WIDTH), height = get<int>(at::MAIN_HEIGHT);
        float &x = get<float>(at::CENTER_X), &y = get<float>(at::CENTER_Y), &visibility = get<float>(at::VISIBILITY);
        x = static_cast<float>(width * .5);
        y = static_cast<float>(height * .5);
        if (option(at::CENTER_AGENT)) {
            call<void, float&, float&>(at::CHOOSE_CENTER, x, y);
        } else {
            visibility = std::max(static_cast<float>(std::max(width, height)), get<float>(at::MIN_VISIBILITY));
        }
        const float raw = 64 / visibility;
        const float unit = get<float>(at::UNIT) = static_cast<float>(raw * (int{SIDE} / 64.0));
        const float view = get<float>(at::VIEW_DIM) = static_cast<float>(64.0 / raw);
        get<float>(at::X_OFF) = unit * (x - view / 2);
        get<float>(at::Y_OFF) = unit * (y - view / 2);
    }
    RectF on_screen(float x, float y, float w, float h, float margin) {
        const float unit = get<float>(at::UNIT), view = get<float>(at::VIEW_DIM);
        return {(x - margin) * unit - get<float>(at::X_OFF), (view - y - margin) * unit + get<float>(at::Y_OFF),
                (w + 2 * margin) * unit, (h + 2 * margin) * unit};
    }
    RectF absolute(float x, float y, float w, float h) {
        const float unit = get<float>(at::UNIT);
        return {x * unit, y * unit, w * unit, h * unit};
    }

    const Image& background() {
        const char* images = *get<char**>(at::BACKGROUNDS);
        return **reinterpret_cast<Image* const*>(images + sizeof(Shared) * get<int>(at::BACKGROUND_INDEX));
    }
    // Draws the background, and the entities on it that are behind the cells.
    void draw_background() {
        fill({0, 0, SIDE, SIDE}, BLACK);
        if (option(at::USE_BACKGROUNDS)) starpilot_ ? draw_stars() : draw_image();
        for (const Look& look : behind_) draw_sprite(look);
    }
    void draw_image() {
        const Image& image = background();
        const int width = get<int>(at::MAIN_WIDTH), height = get<int>(at::MAIN_HEIGHT);
        const RectF world = on_screen(0, height, width, height, 0);
        const float tile_ratio = get<float>(at::BACKGROUND_TILE_RATIO);
        if (tile_ratio < 0) return tile(image, world, tile_ratio, 256);
        const float ratio = static_cast<float>(image.data->width) / static_cast<float>(image.data->height);
        const float world_ratio = static_cast<float>(width * 1.0 / height);
        const float left = -(get<float>(at::BACKGROUND_PART) * (ratio - world_ratio));
        copy(image, {world.x + world.w * left, world.y, world.w * (ratio / world_ratio), world.h}, 256);
    }
    void draw_stars() {
        const float scale = static_cast<float>(SIDE / get<int>(at::MAIN_HEIGHT));
        const float time = static_cast<float>(get<int>(at::CUR_TIME));
        const float x = -time * scale * get<float>(at::STARPILOT_SPEED) * 2 / get<float>(at::CHAR_DIM);
        tile(background(), {x, -SIDE, 9 * 6 * SIDE, 3 * SIDE}, 1, 256);
    }

    Look look_of(const Shared* shared) {
        const Entity& entity = *static_cast<const Entity*>((*shared)[0]);
        if (hides_ && !call<bool, const void*>(at::SHOULD_DRAW_ENTITY, shared)) return {{}, INVALID, 0, false, 0, 0, 0};
        const float view = get<float>(at::VIEW_DIM), rx = entity.rx, ry = entity.ry;
        return {entity.use_abs_coords
                    ? absolute(view * (entity.x - rx), view * (entity.y + ry), 2 * view * rx, 2 * view * ry)
                    : on_screen(entity.x - rx, entity.y + ry, 2 * rx, 2 * ry, 0),
                call<int, int>(at::IMAGE_FOR_TYPE, entity.image_type),
                entity.image_theme,
                entity.is_reflected,
                entity.rotation,
                entity.alpha,
                tiles_ ? call<float, const void*>(at::GET_TILE_ASPECT_RATIO, shared) : 0};
    }
    template <class Action> void for_entities(int z, const Action& action) {
        const auto* const end = get<const Shared*>(at::ENTITIES_END);
        for (const auto* shared = get<const Shared*>(at::ENTITIES); shared != end; ++shared) {
            if (static_cast<const Entity*>((*shared)[0])->render_z == z) action(look_of(shared));
        }
    }
    void draw_entities(int z) {
        for_entities(z, [this](const Look& look) { draw_sprite(look); });
    }

    // Draws the background, what is behind the cells, and these.
    void draw_scene() {
        const Range range = visible();
        behind_now_.clear();
        for_entities(-1, [this](const Look& look) { behind_now_.push_back(look); });
        const Scene scene = {option(at::USE_BACKGROUNDS) ? background().data->bits : nullptr,
                             get<float>(at::UNIT),
                             get<float>(at::VIEW_DIM),
                             get<float>(at::X_OFF),
                             get<float>(at::Y_OFF),
                             get<float>(at::VISIBILITY),
                             get<float>(at::BACKGROUND_PART),
                             get<float>(at::BACKGROUND_TILE_RATIO),
                             get<int>(at::MAIN_WIDTH),
                             get<int>(at::MAIN_HEIGHT),
                             get<int>(at::OUT_OF_BOUNDS_OBJECT)};
        if (!(scene == scene_ && behind_now_ == behind_) || starpilot_) {
            // while the view moves there is nothing to keep
            scene_ = scene;
            std::swap(behind_, behind_now_);
            is_kept_ = false;
            draw_background();
            return draw_cells(range);
        }
        uint32_t* const picture = target_;
        if (!is_kept_) {
            background_.resize(SIDE * SIDE);
            layer_.resize(SIDE * SIDE);
            target_ = background_.data();
            draw_background();
        }
        target_ = layer_.data();
        if (is_kept_ && are_the_same()) {
            if (std::memcmp(cells_.data(), cells(), sizeof(int) * cells_.size()) != 0) draw_changes(range);
        } else {
            std::memcpy(layer_.data(), background_.data(), sizeof(uint32_t) * SIDE * SIDE);
            used_.clear();
            draw_cells(range);
            cells_.assign(cells(), cells() + get<int>(at::GRID_WIDTH) * get<int>(at::GRID_HEIGHT));
            is_kept_ = true;
        }
        target_ = picture;
        std::memcpy(picture, layer_.data(), sizeof(uint32_t) * SIDE * SIDE);
    }
    // Whether the cells that were drawn last would look the same now.
    bool are_the_same() {
        if (cells_.size() != static_cast<size_t>(get<int>(at::GRID_WIDTH)) * get<int>(at::GRID_HEIGHT)) return false;
        return std::all_of(used_.begin(), used_.end(),
                           [this](const auto& used) { return type_of(used.first) == used.second; });
    }
    // Draws again what is where cells have changed.
    void draw_changes(const Range& range) {
        const int width = get<int>(at::GRID_WIDTH), height = get<int>(at::GRID_HEIGHT);
        const int* const now = cells();
        for (int y = 0; y < height; ++y) {
            for (int x = 0; x < width; ++x) {
                if (now[y * width + x] == cells_[y * width + x]) continue;
                // pictures of cells are wider than cells, but not by more
                const Range near = {std::max(x - 1, range.low_x), std::min(x + 1, range.high_x),
                                    std::max(y - 1, range.low_y), std::min(y + 1, range.high_y)};
                const RectF place = place_of(x, y);
                left_ = std::max(nearest(place.x), 0);
                right_ = std::min(nearest(place.x + place.w), int{SIDE});
                top_ = std::max(nearest(place.y), 0);
                bottom_ = std::min(nearest(place.y + place.h), int{SIDE});
                for (int row = top_; row < bottom_ && left_ < right_; ++row) {
                    std::copy(&background_[row * SIDE + left_], &background_[row * SIDE + right_ - 1] + 1,
                              &layer_[row * SIDE + left_]);
                }
                if (left_ < right_ && top_ < bottom_) draw_cells(near);
            }
        }
        left_ = top_ = 0;
        right_ = bottom_ = SIDE;
        std::copy(now, now + cells_.size(), cells_.begin());
    }
    Range visible() {
        if (!option(at::CENTER_AGENT)) return {0, get<int>(at::MAIN_WIDTH) - 1, 0, get<int>(at::MAIN_HEIGHT) - 1};
        const float margin = static_cast<float>(get<float>(at::VISIBILITY) / 2.0 + 1);
        const float x = get<float>(at::CENTER_X), y = get<float>(at::CENTER_Y);
        return {static_cast<int>(x - margin), static_cast<int>(x + margin), static_cast<int>(y - margin),
                static_cast<int>(y + margin)};
    }
    const int* cells() { return get<const int*>(at::GRID); }
    RectF place_of(int x, int y) { return on_screen(static_cast<float>(x), static_cast<float>(y + 1), 1, 1, 0.02f); }
    Type type_of(int type) {
        auto ask = [=, this] {
            return Type{number_, call<int, int>(at::IMAGE_FOR_TYPE, type),
                        call<int, int>(at::THEME_FOR_GRID_OBJ, type)};
        };
        if (type < 0 || type >= NUM_TYPES) return ask();
        // it does not change while a picture is drawn
        if (types_[type].number != number_) types_[type] = ask();
        return types_[type];
    }
    void draw_cells(const Range& range) {
        const int width = get<int>(at::GRID_WIDTH), height = get<int>(at::GRID_HEIGHT);
        const int outside = get<int>(at::OUT_OF_BOUNDS_OBJECT);
        const int* const grid = cells();
        for (int x = range.low_x; x <= range.high_x; ++x) {
            for (int y = range.low_y; y <= range.high_y; ++y) {
                const int type = x >= 0 && x < width && y >= 0 && y < height ? grid[y * width + x] : outside;
                if (type == INVALID || type == EMPTY) continue;
                const Type found = type_of(type);
                if (target_ == layer_.data()) note(type, found);
                draw_sprite({place_of(x, y), found.kind, found.theme, false, 0, 1, 0});
            }
        }
    }
    void note(int type, const Type& found) {
        // neighbours mostly have the same
        if (!used_.empty() && used_.back().first == type) return;
        for (const auto& [known, _] : used_) {
            if (known == type) return;
        }
        used_.emplace_back(type, found);
    }
    void draw_sprite(const Look& look) {
        const auto& [place, kind, theme, is_reflected, rotation, alpha, tile_ratio] = look;
        if (kind < 0) return;
        if (option(at::USE_MONOCHROME_ASSETS) || kind >= SOME_SPRITES) {
            if (chaser_ && kind == ORB) {
                const float size = 0.3f, margin = 1 - size;
                fill({place.x + place.w * margin / 2, place.y + place.h * margin / 2, place.w * size, place.h * size},
                     GREEN);
            } else if (kind != EMPTY) {
                fill(place, color_of(kind, theme));
            }
            return;
        }
        RectF to = place;
        if (adjusts_) {
            using Adjust = void (*)(RectF*, void*, int, const RectF*);
            (*reinterpret_cast<Adjust**>(game_))[at::GET_ADJUSTED_IMAGE_RECT](&to, game_, kind, & place);
        }
        const Image& image = sprite(kind + SOME_SPRITES * theme, is_reflected);
        const int opacity = alpha != 1 ? static_cast<int>(std::clamp(double{alpha}, 0.0, 1.0) * 256) : 256;
        if (rotation == 0) {
            tile(image, to, tile_ratio, opacity);
        } else {
            turn(image, to, rotation, opacity);
        }
    }
    // Makes the image, if it is the first time.
    const Image& sprite(int number, bool is_reflected) {
        const char* const images = get<const char*>(is_reflected ? at::REFLECTIONS : at::ASSETS);
        const Image* image = *reinterpret_cast<Image* const*>(images + sizeof(Shared) * number);
        if (image == nullptr) {
            using Lookup = const Image* (*)(void*, int, bool);
            image = reinterpret_cast<Lookup>(base_ + at::LOOKUP_ASSET)(game_, number, is_reflected);
        }
        return *image;
    }
    uint32_t color_of(int kind, int theme) {
        struct {
            int unused;
            uint16_t alpha, red, green, blue, unused_too;
        } color;
        (*reinterpret_cast<void (***)(void*, void*, int, int)>(game_))[at::COLOR_FOR_TYPE](&color, game_, kind, theme);
        return 0xff000000u | color.red >> 8 << 16 | color.green >> 8 << 8 | color.blue >> 8;
    }

    void draw_velocity() {
        const Entity& agent = *get<const Entity*>(at::AGENT);
        const float size = static_cast<float>(int{SIDE} * .2);
        auto shade = [](float part) {
            return 0xff000000u | std::clamp(static_cast<int>(part * 255), 0, 255) * 0x10101u;
        };
        const double across = .5 * agent.vx / get<float>(at::MAX_SPEED) + .5;
        const double up = .5 * agent.vy / get<float>(at::MAX_JUMP) + .5;
        fill({0, 0, size, size}, shade(static_cast<float>(across)));
        fill({size, 0, size, size}, shade(static_cast<float>(up)));
    }
    void draw_charge() {
        const float height = 3 * get<float>(at::NINJA_CHARGE);
        const float top = static_cast<float>(get<float>(at::VISIBILITY) - .5 - height);
        fill(absolute(.25f, top, .5f, height), LIGHT_GREEN);
    }
    void draw_bars() {
        const int width = get<int>(at::MAIN_WIDTH);
        const double part = get<int>(at::PLUNDER_HITS) * 1.0 / get<int>(at::PLUNDER_QUOTA);
        fill(absolute(.25f, .25f, width * get<float>(at::PLUNDER_JUICE), .5f), LIGHT_GREEN);
        fill(absolute(.25f, .75f, static_cast<float>(width * part), .5f), PINK);
    }
    // Has the library draw it onto these pixels: an object of another class, which draws nothing else, for this call.
    void draw_compass() {
        void* table[at::GAME_DRAW + 1] = {};
        table[at::GAME_DRAW] = const_cast<char*>(base_) + at::DRAW_COMPASS;
        void**& own = *reinterpret_cast<void***>(game_);
        void** const kept = own;
        own = table;
        using Render = void (*)(void*, void*, int, int, bool);
        reinterpret_cast<Render>(base_ + at::RENDER_TO_BUF)(game_, target_, SIDE, SIDE, false);
        own = kept;
    }

    // ---- what all of these draw with

    void fill(const RectF& place, uint32_t color) {
        const auto [left, right] = std::minmax({nearest(place.x), nearest(place.x + place.w)});
        const auto [top, bottom] = std::minmax({nearest(place.y), nearest(place.y + place.h)});
        const int first = std::max(left, left_), last = std::min(right, right_);
        for (int y = std::max(top, top_); y < std::min(bottom, bottom_); ++y) {
            for (int x = first; x < last; ++x) target_[y * SIDE + x] = color;
        }
    }
    void tile(const Image& image, const RectF& to, float ratio, int opacity) {
        if (ratio == 0) {
            copy(image, to, opacity);
        } else if (ratio < 0) {
            const int count = std::max(1, static_cast<int>(to.h / (to.w * -ratio)));
            const float height = static_cast<float>(to.h / count), width = static_cast<float>(to.w);
            for (int k = 0; k < count; ++k) copy(image, {to.x, to.y + height * k, width, height}, opacity);
        } else {
            const int count = std::max(1, static_cast<int>(to.w / (to.h * ratio)));
            const float width = static_cast<float>(to.w / count), height = static_cast<float>(to.h);
            for (int k = 0; k < count; ++k) copy(image, {to.x + width * k, to.y, width, height}, opacity);
        }
    }
    // Shows an image in a rectangle: of each pixel the one that is nearest.
    void copy(const Image& image, const RectF& to, int opacity) {
        if (to.w == 0 || to.h == 0) return;
        const Image::Data& data = *image.data;
        const bool exact = data.format != Image::OPAQUE && opacity == 256;
        Span across = Span::of(to.x, to.w, data.width, exact), down = Span::of(to.y, to.h, data.height, exact);
        across.clip(left_, right_);
        down.clip(top_, bottom_);
        if (across.first >= across.last) return;
        const int alpha = opacity * 255 >> 8;
        int64_t from_y = down.start;
        for (int y = down.first; y < down.last; ++y, from_y += down.step) {
            const auto* const from =
                reinterpret_cast<const uint32_t*>(data.bits + (from_y >> 16) * data.bytes_per_line);
            uint32_t* const row = target_ + y * SIDE;
            int64_t from_x = across.start;
            if (data.format == Image::OPAQUE) {
                for (int x = across.first; x < across.last; ++x, from_x += across.step) row[x] = from[from_x >> 16];
            } else if (exact) {
                for (int x = across.first; x < across.last; ++x, from_x += across.step) {
                    const uint32_t pixel = from[from_x >> 16];
                    if (pixel >= 0xff000000u) {
                        row[x] = pixel;
                    } else if (pixel != 0) {
                        row[x] = over(pixel, row[x]);
                    }
                }
            } else {
                for (int x = across.first; x < across.last; ++x, from_x += across.step) {
                    row[x] = over(scaled(from[from_x >> 16], alpha), row[x]);
                }
            }
        }
    }
    // The same, turned around the middle. A half turn is a rectangle of negative size.
    void turn(const Image& image, const RectF& to, float rotation, int opacity) {
        const float pi = 3.14159265358979323846264338327950288f;
        const double degrees = rotation * 180 / pi;
        double sine = 0, cosine = 0;
        if (degrees == 90 || degrees == -270) {
            sine = 1;
        } else if (degrees == 270 || degrees == -90) {
            sine = -1;
        } else if (degrees == 180) {
            cosine = -1;
        } else {
            const double radians = 0.017453292519943295769 * degrees;
            sine = std::sin(radians);
            cosine = std::cos(radians);
        }
        const double x = to.x + to.w / 2, y = to.y + to.h / 2;
        if (std::fabs(sine) <= 1e-12) {
            const double left = cosine * (-to.w / 2) + x, top = cosine * (-to.h / 2) + y;
            const double right = cosine * (-to.w / 2 + to.w) + x, bottom = cosine * (-to.h / 2 + to.h) + y;
            return copy(image, {left, top, right - left, bottom - top}, opacity);
        }
        // the library's own loop
        const struct {
            double matrix[9];
            uint32_t type, unused;
            void* unused_too;
        } transform = {{cosine, sine, -sine, cosine, x, y, 0, 0, 1}, 1 | 4 << 5, 0, nullptr};
        const Image::Data& data = *image.data;
        const RectF place = {-to.w / 2, -to.h / 2, to.w, to.h};
        const RectF all = {0, 0, static_cast<double>(data.width), static_cast<double>(data.height)};
        const int clip[] = {0, 0, SIDE - 1, SIDE - 1};
        using Transform =
            void (*)(void*, int, const void*, int, const RectF&, const RectF&, const int*, const void*, int);
        reinterpret_cast<Transform>(base_ + at::TRANSFORM)(target_, SIDE * 4, data.bits, data.bytes_per_line, place,
                                                           all, clip, &transform, opacity);
    }

    // ---- the picture as it is observed

    static void write_pixels(const uint32_t* pixels, uint8_t* picture) {
        int k = 0;
#if defined(__x86_64__)
        // four pixels at a time; each time four bytes too many are written, and then overwritten
        const __m128i order = _mm_setr_epi8(2, 1, 0, 6, 5, 4, 10, 9, 8, 14, 13, 12, -1, -1, -1, -1);
        for (; k < SIDE * SIDE - 4; k += 4) {
            const __m128i four = _mm_loadu_si128(reinterpret_cast<const __m128i*>(pixels + k));
            _mm_storeu_si128(reinterpret_cast<__m128i*>(picture + 3 * k), _mm_shuffle_epi8(four, order));
        }
#endif
        for (; k < SIDE * SIDE; ++k) {
            for (int channel = 0; channel < 3; ++channel) {
                picture[3 * k + channel] = static_cast<uint8_t>(pixels[k] >> (16 - 8 * channel));
            }
        }
    }
    static void write_planes(const uint32_t* pixels, uint8_t* picture) {
        for (int channel = 0; channel < 3; ++channel) {
            int k = 0;
#if defined(__x86_64__)
            const int shift = 16 - 8 * channel;
            const __m128i low = _mm_set1_epi32(255);
            for (; k < SIDE * SIDE; k += 16) {
                __m128i part[4];
                for (int j = 0; j < 4; ++j) {
                    part[j] = _mm_loadu_si128(reinterpret_cast<const __m128i*>(pixels + k + 4 * j));
                    part[j] = _mm_and_si128(_mm_srli_epi32(part[j], shift), low);
                }
                const __m128i bytes =
                    _mm_packus_epi16(_mm_packus_epi32(part[0], part[1]), _mm_packus_epi32(part[2], part[3]));
                _mm_storeu_si128(reinterpret_cast<__m128i*>(picture + channel * SIDE * SIDE + k), bytes);
            }
#endif
            for (; k < SIDE * SIDE; ++k) {
                picture[channel * SIDE * SIDE + k] = static_cast<uint8_t>(pixels[k] >> (16 - 8 * channel));
            }
        }
    }
};

}  // namespace cypool::procgen

#pragma GCC pop_options
