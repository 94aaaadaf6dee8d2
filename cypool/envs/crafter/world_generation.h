// How Crafter makes a world.
#pragma once

#include "cypool/envs/crafter/noise.h"
#include "cypool/envs/crafter/world.h"

namespace cypool::crafter {

// The numbers of a cell that decide its kind. Approximate ones decide nearly always; else all is computed as crafter
// does it.
class Place {
public:
    // The start of an episode is a meadow: from a distance of more than WINDOW, less than 1.2e-4 is left of it.
    static constexpr int WINDOW = 15;
    static constexpr double ERROR = 4 * NoiseField::ERROR;

    // start, water, mountain: within ERROR
    Place(const Noise& noise, int x, int y, int square_of_distance, double start, double water, double mountain)
        : noise_(noise),
          x_(x),
          y_(y),
          square_(square_of_distance),
          start_(start),
          water_(water),
          mountain_(mountain) {}

    bool is_start_above(double limit) const { return is_above<&Place::exact_start>(start_, limit); }
    bool is_water_above(double limit) const { return is_above<&Place::exact_water>(water_, limit); }
    bool is_mountain_above(double limit) const { return is_above<&Place::exact_mountain>(mountain_, limit); }

private:
    template <auto EXACT> bool is_above(double value, double limit) const {
        return std::fabs(value - limit) > ERROR ? value > limit : (this->*EXACT)() > limit;
    }
    double layers(double z, double second) const {
        return noise_(x_ / 15.0, y_ / 15.0, z) + second * noise_(x_ / 5.0, y_ / 5.0, z);
    }
    double exact_start() const {
        double value = 4 - std::sqrt(static_cast<double>(square_));
        value += 2 * noise_(x_ / 3.0, y_ / 3.0, 8);
        return 1 / (1 + std::exp(-value));
    }
    double exact_water() const { return layers(3, 0.15) + 0.1 - 2 * exact_start(); }
    double exact_mountain() const { return layers(0, 0.3) / 1.3 - (4 * exact_start() + 0.3 * exact_water()); }

    const Noise& noise_;
    int x_, y_, square_;
    double start_, water_, mountain_;
};

// Memory for making worlds, one per thread.
struct Ground {
    enum Field {
        MEADOW,
        WETNESS,
        HEIGHT,
        CAVES,
        TUNNELS_ALONG_X,
        TUNNELS_ALONG_Y,
        COAL_SEAMS,
        IRON_SEAMS,
        LAVA_LAKES,
        BEACHES,
        WOODS,
        NUM_FIELDS
    };
    // of a cell
    enum : uint8_t { START = 1, ROCK = 2, HIGH_ROCK = 4, PEAK = 8, SHORE = 16, WET = 32, TUNNEL = 64 };

    std::vector<uint8_t> kinds;
    std::vector<float> fields[NUM_FIELDS];
};

// not inlined: the look-up of a thread's variable is a call, and would be repeated
__attribute__((noinline)) inline Ground& ground_of_thread() {
    static thread_local Ground ground;
    return ground;
}

inline void World::generate() {
    Ground& ground = ground_of_thread();
    using Region = NoiseField::Region;
    const int width = shape.width, height = shape.height, px = player().x, py = player().y;
    // tunnels along y are the only field that has the rows of a picture
    const int pitch = height + NoiseField::PADDING, pitch_of_rows = width + NoiseField::PADDING;
    const Region nowhere{width, 0, height, 0};
    Region rocks = nowhere, peaks = nowhere, shores = nowhere, land = nowhere;
    Noise noise;
    noise.seed(random.below(2147483647));

    const auto clear_field = [&](int field, size_t size) {
        ground.fields[field].assign(size, 0);
        return ground.fields[field].data();
    };
    const auto add = [&](int field, double size, double z, double weight, const Region& region) {
        NoiseField::add(noise, 1 / size, 1 / size, z, false, weight, region, pitch, ground.fields[field].data());
    };
    const auto make_field = [&](int field, double size, double z, const Region& region) {
        clear_field(field, static_cast<size_t>(width) * pitch);
        if (region.row < region.row_end) add(field, size, z, 1, region);
    };
    const Region everywhere{0, width, 0, height};
    const int window = Place::WINDOW;
    const Region near_player{std::max(0, px - window), std::min(width, px + window + 1), std::max(0, py - window),
                             std::min(height, py + window + 1)};
    make_field(Ground::MEADOW, 3, 8, near_player);
    make_field(Ground::WETNESS, 15, 3, everywhere);
    add(Ground::WETNESS, 5, 3, 0.15, everywhere);
    make_field(Ground::HEIGHT, 15, 0, everywhere);
    add(Ground::HEIGHT, 5, 0, 0.3, everywhere);

    ground.kinds.resize(shape.cells());
    for (int x = 0; x < width; ++x) {
        const float* meadow = &ground.fields[Ground::MEADOW][static_cast<size_t>(x) * pitch];
        const float* wetness = &ground.fields[Ground::WETNESS][static_cast<size_t>(x) * pitch];
        const float* heights = &ground.fields[Ground::HEIGHT][static_cast<size_t>(x) * pitch];
        for (int y = 0; y < height; ++y) {
            const int square = (x - px) * (x - px) + (y - py) * (y - py);
            double start = 0;
            if (square <= window * window) {
                start = 1 / (1 + std::exp(std::sqrt(static_cast<double>(square)) - 4 - 2 * meadow[y]));
            }
            const double water = wetness[y] + 0.1 - 2 * start;
            const Place place(noise, x, y, square, start, water, heights[y] / 1.3 - (4 * start + 0.3 * water));
            uint8_t kind = 0;
            if (place.is_start_above(0.5)) {
                kind = Ground::START;
            } else if (place.is_mountain_above(0.15)) {
                kind = Ground::ROCK;
                rocks.include(x, y);
                if (place.is_mountain_above(0.18)) kind |= Ground::HIGH_ROCK;
                if (place.is_mountain_above(0.3)) {
                    kind |= Ground::PEAK;
                    peaks.include(x, y);
                }
            } else {
                if (place.is_water_above(0.3)) kind |= Ground::WET;
                if (place.is_water_above(0.25) && !place.is_water_above(0.35)) {
                    kind |= Ground::SHORE;
                    shores.include(x, y);
                }
                if (!(kind & Ground::WET)) land.include(x, y);
            }
            ground.kinds[at(x, y)] = kind;
        }
    }

    make_field(Ground::CAVES, 7, 6, peaks);
    make_field(Ground::LAVA_LAKES, 5, 6, peaks);
    make_field(Ground::COAL_SEAMS, 8, 1, rocks);
    make_field(Ground::IRON_SEAMS, 6, 2, rocks);
    make_field(Ground::BEACHES, 9, 4, shores);
    make_field(Ground::WOODS, 7, 5, land);
    float* along_x = clear_field(Ground::TUNNELS_ALONG_X, static_cast<size_t>(width) * pitch);
    float* along_y = clear_field(Ground::TUNNELS_ALONG_Y, static_cast<size_t>(height) * pitch_of_rows);
    if (rocks.row < rocks.row_end) {
        const Region turned{rocks.column, rocks.column_end, rocks.row, rocks.row_end};
        NoiseField::add(noise, 2.0 / 3, 1.0 / 15, 7, false, 1, rocks, pitch, along_x);
        NoiseField::add(noise, 2.0 / 3, 1.0 / 15, 7, true, 1, turned, pitch_of_rows, along_y);
    }

    // numbers are drawn in crafter's order
    for (int x = 0; x < width; ++x) {
        for (int y = 0; y < height; ++y) {
            const auto decide = [&](int field, size_t k, double limit, double at_x, double at_y, double z) {
                const float value = ground.fields[field][k];
                if (std::fabs(value - limit) > NoiseField::ERROR) return value > limit;
                return noise(at_x, at_y, z) > limit;
            };
            const auto is_above = [&](int field, double limit, double size, double z) {
                return decide(field, static_cast<size_t>(x) * pitch + y, limit, x / size, y / size, z);
            };
            uint8_t& kind = ground.kinds[at(x, y)];
            Material m = GRASS;
            if (kind & Ground::ROCK) {
                if (kind & Ground::PEAK && is_above(Ground::CAVES, 0.15, 7, 6)) {
                    m = PATH;
                } else if (decide(Ground::TUNNELS_ALONG_X, static_cast<size_t>(x) * pitch + y, 0.4, 2 * x / 3.0,
                                  y / 5.0 / 3, 7)
                           || decide(Ground::TUNNELS_ALONG_Y, static_cast<size_t>(y) * pitch_of_rows + x, 0.4,
                                     x / 5.0 / 3, 2 * y / 3.0, 7)) {
                    m = PATH;
                    kind |= Ground::TUNNEL;
                } else if (is_above(Ground::COAL_SEAMS, 0, 8, 1) && random.real() > 0.85) {
                    m = COAL;
                } else if (is_above(Ground::IRON_SEAMS, 0.4, 6, 2) && random.real() > 0.75) {
                    m = IRON;
                } else if (kind & Ground::HIGH_ROCK && random.real() > 0.994) {
                    m = DIAMOND;
                } else {
                    m = kind & Ground::PEAK && is_above(Ground::LAVA_LAKES, 0.35, 5, 6) ? LAVA : STONE;
                }
            } else if (kind & Ground::SHORE && is_above(Ground::BEACHES, -0.2, 9, 4)) {
                m = SAND;
            } else if (kind & Ground::WET) {
                m = WATER;
            } else if (!(kind & Ground::START)) {
                m = is_above(Ground::WOODS, 0, 7, 5) && random.real() > 0.8 ? TREE : GRASS;
            }
            materials[at(x, y)] = m;
        }
    }
    survey();
    for (int x = 0; x < width; ++x) {
        for (int y = 0; y < height; ++y) {
            const Material m = material_at(x, y);
            if (!contains(WALKABLE, m)) continue;
            const int square = (x - px) * (x - px) + (y - py) * (y - py);
            if (square > 3 * 3 && m == GRASS && random.real() > 0.985) {
                this->add(COW, x, y, MAX_HEALTH[COW]);
            } else if (square > 10 * 10 && random.real() > 0.993) {
                this->add(ZOMBIE, x, y, MAX_HEALTH[ZOMBIE]);
            } else if (m == PATH && ground.kinds[at(x, y)] & Ground::TUNNEL && random.real() > 0.95) {
                this->add(SKELETON, x, y, MAX_HEALTH[SKELETON]);
            }
        }
    }
}

}  // namespace cypool::crafter
