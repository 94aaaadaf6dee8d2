// Draws a game as the library does, pixel for pixel, without its painter, which spends most of its time on state.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "cypool/envs/procgen/layout.h"
#include "cypool/envs/procgen/mirrored.h"
#include "cypool/envs/procgen/pixels.h"

// the library needs AVX anyway
#pragma GCC push_options
#pragma GCC optimize("O3")
#if defined(__x86_64__)
#pragma GCC target("avx")
#endif

namespace cypool::procgen {

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
        canvas_.pixels = pixels;
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
    static constexpr RectF UNIT = {0, 0, 1, 1};

    // The kind of the picture of a type of cell.
    struct Type {
        uint32_t number = 0;  // of the picture that it was asked for
        int kind, theme;
        const Image::Data* image = nullptr;  // that all its cells show, if it is one

        bool operator==(const Type& other) const { return kind == other.kind && theme == other.theme; }
    };
    // The inputs of the pictures of background and cells, without the cells.
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
    // A column or a row of cells: mostly all images in it have the same size.
    struct Line {
        double from, length;
        Span span = {};
        int size = 0;
        Span::Rounding rounding = Span::FRACTION;

        const Span& of(int wanted, Span::Rounding wanted_rounding) {
            if (size != wanted || rounding != wanted_rounding) {
                span = Span(from, length, size = wanted, rounding = wanted_rounding);
            }
            return span;
        }
    };

    char* game_;
    const char* base_;
    bool chaser_, ninja_, plunder_, starpilot_, jumper_, adjusts_, tiles_, hides_;
    Canvas canvas_;
    uint32_t number_ = 0;
    Type types_[NUM_TYPES];
    // the last picture's; while they are the same, background and cells are drawn only where cells change
    Scene scene_ = {};
    bool is_kept_ = false;
    std::vector<uint32_t> background_, layer_;
    std::vector<int> cells_;
    std::vector<std::pair<int, Type>> used_;
    std::vector<Look> behind_, behind_now_;
    std::vector<Line> rows_;
    // while the library's painter draws: the other table of virtual functions, and the drawn part
    void** table_ = nullptr;
    const Look* turned_ = nullptr;
    static inline thread_local Picture* drawing_ = nullptr;
    // the last image that was narrowed
    const uint8_t* wide_ = nullptr;
    const Image::Data* narrow_ = nullptr;

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
        canvas_.fill({0, 0, SIDE, SIDE}, BLACK);
        if (option(at::USE_BACKGROUNDS)) starpilot_ ? draw_stars() : draw_image();
        for (const Look& look : behind_) draw_sprite(look);
    }
    void draw_image() {
        const Image& image = background();
        const int width = get<int>(at::MAIN_WIDTH), height = get<int>(at::MAIN_HEIGHT);
        const RectF world = on_screen(0, height, width, height, 0);
        const float tile_ratio = get<float>(at::BACKGROUND_TILE_RATIO);
        if (tile_ratio < 0) return tile(narrowed(*image.data, world), world, tile_ratio, Canvas::OPAQUE, false);
        const float ratio = static_cast<float>(image.data->width) / static_cast<float>(image.data->height);
        const float world_ratio = static_cast<float>(width * 1.0 / height);
        const float left = -(get<float>(at::BACKGROUND_PART) * (ratio - world_ratio));
        canvas_.copy(*image.data, {world.x + world.w * left, world.y, world.w * (ratio / world_ratio), world.h},
                     Canvas::OPAQUE, false);
    }
    // An image with the columns that are seen of it, if they are always the same.
    const Image::Data& narrowed(const Image::Data& image, const RectF& world) {
        const bool is_shared = !option(at::USE_GENERATED_ASSETS);
        if (!is_shared || image.format != Image::OPAQUE || world.x != 0 || world.w != int{SIDE}) return image;
        if (image.bits != wide_) wide_ = image.bits, narrow_ = &Columns::of(image);
        return *narrow_;
    }
    void draw_stars() {
        const float scale = static_cast<float>(SIDE / get<int>(at::MAIN_HEIGHT));
        const float time = static_cast<float>(get<int>(at::CUR_TIME));
        const float x = -time * scale * get<float>(at::STARPILOT_SPEED) * 2 / get<float>(at::CHAR_DIM);
        tile(*background().data, {x, -SIDE, 9 * 6 * SIDE, 3 * SIDE}, 1, Canvas::OPAQUE, false);
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

    // Draws the background, the things behind the cells, and these.
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
        uint32_t* const picture = canvas_.pixels;
        if (!is_kept_) {
            background_.resize(SIDE * SIDE);
            layer_.resize(SIDE * SIDE);
            canvas_.pixels = background_.data();
            draw_background();
        }
        canvas_.pixels = layer_.data();
        if (is_kept_ && are_the_same()) {
            if (std::memcmp(cells_.data(), cells(), sizeof(int) * cells_.size()) != 0) draw_changes(range);
        } else {
            std::memcpy(layer_.data(), background_.data(), sizeof(uint32_t) * SIDE * SIDE);
            used_.clear();
            draw_cells(range);
            cells_.assign(cells(), cells() + get<int>(at::GRID_WIDTH) * get<int>(at::GRID_HEIGHT));
            is_kept_ = true;
        }
        canvas_.pixels = picture;
        std::memcpy(picture, layer_.data(), sizeof(uint32_t) * SIDE * SIDE);
    }
    // Whether the cells that were drawn last would look the same now.
    bool are_the_same() {
        if (cells_.size() != static_cast<size_t>(get<int>(at::GRID_WIDTH)) * get<int>(at::GRID_HEIGHT)) return false;
        return std::all_of(used_.begin(), used_.end(),
                           [this](const auto& used) { return type_of(used.first) == used.second; });
    }
    // Draws again the places where cells have changed.
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
                auto& [_, left, right, top, bottom] = canvas_;
                left = std::max(nearest(place.x), 0);
                right = std::min(nearest(place.x + place.w), int{SIDE});
                top = std::max(nearest(place.y), 0);
                bottom = std::min(nearest(place.y + place.h), int{SIDE});
                for (int row = top; row < bottom && left < right; ++row) {
                    std::copy(&background_[row * SIDE + left], &background_[row * SIDE + right - 1] + 1,
                              &layer_[row * SIDE + left]);
                }
                if (left < right && top < bottom) draw_cells(near);
            }
        }
        canvas_ = {canvas_.pixels};
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
            Type found = {number_, call<int, int>(at::IMAGE_FOR_TYPE, type),
                          call<int, int>(at::THEME_FOR_GRID_OBJ, type)};
            if (is_image(found.kind) && adjusted(UNIT, found.kind) == UNIT) {
                const Image::Data& image = *sprite(found.kind + SOME_SPRITES * found.theme).data;
                if (image.format != Image::PLAIN) found.image = &image;
            }
            return found;
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
        const bool is_layer = canvas_.pixels == layer_.data();
        rows_.clear();
        for (int y = range.low_y; y <= range.high_y; ++y) {
            const RectF place = place_of(0, y);
            rows_.push_back({place.y, place.h});
        }
        for (int x = range.low_x; x <= range.high_x; ++x) {
            const RectF place = place_of(x, 0);
            Line column = {place.x, place.w};
            for (int y = range.low_y; y <= range.high_y; ++y) {
                const int type = x >= 0 && x < width && y >= 0 && y < height ? grid[y * width + x] : outside;
                if (type == INVALID || type == EMPTY) continue;
                const Type found = type_of(type);
                if (is_layer) note(type, found);
                if (found.image == nullptr) {
                    draw_sprite({place_of(x, y), found.kind, found.theme, false, 0, 1, 0});
                } else {
                    const Image::Data& image = *found.image;
                    const Span::Rounding rounding = Canvas::rounding_of(image, Canvas::OPAQUE);
                    canvas_.copy(image, column.of(image.width, rounding),
                                 rows_[y - range.low_y].of(image.height, rounding), Canvas::OPAQUE);
                }
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
    // Whether a kind of thing is drawn as an image, and not as a rectangle of one colour.
    bool is_image(int kind) { return kind >= 0 && kind < SOME_SPRITES && !option(at::USE_MONOCHROME_ASSETS); }
    void draw_sprite(const Look& look) {
        const auto& [place, kind, theme, is_reflected, rotation, alpha, tile_ratio] = look;
        if (kind < 0) return;
        if (!is_image(kind)) {
            if (chaser_ && kind == ORB) {
                const float size = 0.3f, margin = 1 - size;
                canvas_.fill(
                    {place.x + place.w * margin / 2, place.y + place.h * margin / 2, place.w * size, place.h * size},
                    GREEN);
            } else if (kind != EMPTY) {
                canvas_.fill(place, color_of(kind, theme));
            }
            return;
        }
        const RectF to = adjusted(place, kind);
        const Image::Data& image = *sprite(kind + SOME_SPRITES * theme).data;
        const int opacity =
            alpha != 1 ? static_cast<int>(std::clamp(double{alpha}, 0.0, 1.0) * int{Canvas::OPAQUE}) : Canvas::OPAQUE;
        if (rotation == 0) {
            tile(image, to, tile_ratio, opacity, is_reflected);
        } else if (image.format == Image::PLAIN) {
            draw_turned_shape(look);
        } else {
            turn(image, to, rotation, opacity, is_reflected);
        }
    }
    // Where a kind of thing is drawn that is in a place: moved and scaled by parts of its size.
    RectF adjusted(const RectF& place, int kind) {
        RectF found = place;
        if (adjusts_) {
            using Adjust = void (*)(RectF*, void*, int, const RectF*);
            (*reinterpret_cast<Adjust**>(game_))[at::GET_ADJUSTED_IMAGE_RECT](&found, game_, kind, & place);
        }
        return found;
    }
    // Makes the image, if it is the first time.
    const Image& sprite(int number) {
        const Image* image = *reinterpret_cast<Image* const*>(get<const char*>(at::ASSETS) + sizeof(Shared) * number);
        if (image == nullptr) {
            using Lookup = const Image* (*)(void*, int, bool);
            image = reinterpret_cast<Lookup>(base_ + at::LOOKUP_ASSET)(game_, number, false);
            Mirrored::share(game_);
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
        canvas_.fill({0, 0, size, size}, shade(static_cast<float>(across)));
        canvas_.fill({size, 0, size, size}, shade(static_cast<float>(up)));
    }
    void draw_charge() {
        const float height = 3 * get<float>(at::NINJA_CHARGE);
        const float top = static_cast<float>(get<float>(at::VISIBILITY) - .5 - height);
        canvas_.fill(absolute(.25f, top, .5f, height), LIGHT_GREEN);
    }
    void draw_bars() {
        const int width = get<int>(at::MAIN_WIDTH);
        const double part = get<int>(at::PLUNDER_HITS) * 1.0 / get<int>(at::PLUNDER_QUOTA);
        canvas_.fill(absolute(.25f, .25f, width * get<float>(at::PLUNDER_JUICE), .5f), LIGHT_GREEN);
        canvas_.fill(absolute(.25f, .75f, static_cast<float>(width * part), .5f), PINK);
    }
    void draw_compass() { draw_by_library(const_cast<char*>(base_) + at::DRAW_COMPASS); }
    // A random shape that is turned: the library's painter finds its edges in another way than those of sprites.
    void draw_turned_shape(const Look& look) {
        turned_ = &look;
        drawing_ = this;
        draw_by_library(reinterpret_cast<void*>(+[](void* game, void* painter, const void*) {
            const auto& [place, kind, theme, is_reflected, rotation, alpha, tile_ratio] = *drawing_->turned_;
            using Draw = void (*)(void*, void*, const RectF*, float, bool, int, int, float, float);
            const auto draw = reinterpret_cast<Draw>(const_cast<char*>(drawing_->base_) + at::DRAW_IMAGE);
            // it asks the game
            std::swap(*static_cast<void***>(game), drawing_->table_);
            draw(game, painter, &place, rotation, is_reflected, kind, theme, alpha, tile_ratio);
            std::swap(*static_cast<void***>(game), drawing_->table_);
        }));
    }
    // Has the library's painter draw onto these pixels: for this call the object is of another class, which draws only
    // with `function`.
    void draw_by_library(void* function) {
        void* table[at::GAME_DRAW + 1] = {};
        table[at::GAME_DRAW] = function;
        table_ = table;
        std::swap(*reinterpret_cast<void***>(game_), table_);
        using Render = void (*)(void*, void*, int, int, bool);
        reinterpret_cast<Render>(const_cast<char*>(base_) + at::RENDER_TO_BUF)(game_, canvas_.pixels, SIDE, SIDE,
                                                                               false);
        std::swap(*reinterpret_cast<void***>(game_), table_);
    }

    // ---- tools of all of these

    void tile(const Image::Data& image, const RectF& to, float ratio, int opacity, bool is_mirrored) const {
        if (ratio == 0) return canvas_.copy(image, to, opacity, is_mirrored);
        const bool is_column = ratio < 0;
        const int count = std::max(1, static_cast<int>(is_column ? to.h / (to.w * -ratio) : to.w / (to.h * ratio)));
        const float width = static_cast<float>(is_column ? to.w : to.w / count);
        const float height = static_cast<float>(is_column ? to.h / count : to.h);
        for (int k = 0; k < count; ++k) {
            const double x = is_column ? to.x : to.x + width * k, y = is_column ? to.y + height * k : to.y;
            canvas_.copy(image, {x, y, width, height}, opacity, is_mirrored);
        }
    }
    // Turned around the middle. A half turn is a rectangle of negative size.
    void turn(const Image::Data& image, const RectF& to, float rotation, int opacity, bool is_mirrored) const {
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
        if (std::fabs(sine) > 1e-12) return canvas_.turn(image, to, sine, cosine, opacity, is_mirrored);
        const double x = to.x + to.w / 2, y = to.y + to.h / 2;
        const double left = cosine * (-to.w / 2) + x, top = cosine * (-to.h / 2) + y;
        const double right = cosine * (-to.w / 2 + to.w) + x, bottom = cosine * (-to.h / 2 + to.h) + y;
        canvas_.copy(image, {left, top, right - left, bottom - top}, opacity, is_mirrored);
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
