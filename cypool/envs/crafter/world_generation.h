// How Crafter makes a world.
#pragma once

#include "cypool/envs/crafter/noise.h"
#include "cypool/envs/crafter/world.h"

namespace cypool::crafter {

// The numbers of a cell that decide what it is. Approximate noise decides nearly always; else all is computed as
// crafter does it.
class Place {
public:
    Place(const Noise& noise, int x, int y, int square_of_distance, float wet, float high)
        : noise_(noise), x_(x), y_(y), square_(square_of_distance), wet_(wet), high_(high) {
        // No noise is above 0.99: the start is at most e**-22, e**-8, e**-4, e**-2, rounded up.
        const int d = square_of_distance;
        most_start_ = d > 800 ? 3e-10 : d > 202 ? 3.4e-4 : d > 103 ? 0.019 : d > 66 ? 0.14 : 1;
    }

    // beyond a distance of 6.1, it never is
    bool is_start() { return square_ <= 38 && start() > 0.5; }
    bool is_water_above(double limit) {
        if (wet_ + ERROR <= limit) return false;
        if (wet_ - 2 * most_start_ - ERROR > limit) return true;
        return water() > limit;
    }
    // -4 start - 0.3 water is -0.3 wet - 3.4 start
    bool is_mountain_above(double limit) {
        const double high = high_ - 0.3 * wet_;
        if (high + ERROR <= limit) return false;
        if (high - 3.4 * most_start_ - ERROR > limit) return true;
        return mountain() > limit;
    }

private:
    static constexpr double ERROR = 1.5 * NoiseField::ERROR;

    double layers(double z, double second) const {
        return noise_(x_ / 15.0, y_ / 15.0, z) + second * noise_(x_ / 5.0, y_ / 5.0, z);
    }
    double start() {
        if (start_ < 0) {
            double value = 4 - std::sqrt(static_cast<double>(square_));
            value += 2 * noise_(x_ / 3.0, y_ / 3.0, 8);
            start_ = 1 / (1 + std::exp(-value));
        }
        return start_;
    }
    double water() { return layers(3, 0.15) + 0.1 - 2 * start(); }
    double mountain() { return layers(0, 0.3) / 1.3 - (4 * start() + 0.3 * water()); }

    const Noise& noise_;
    int x_, y_, square_;
    double wet_, high_;  // water and the height of mountains, approximately, if there were no start
    double most_start_, start_ = -1;
};

// Memory for making worlds, one per thread.
struct Ground {
    enum Field { WETNESS, HEIGHT, CAVES, TUNNELS_ALONG_X, TUNNELS_ALONG_Y, COAL_SEAMS, IRON_SEAMS, LAVA_LAKES, BEACHES,
                 WOODS, NUM_FIELDS };
    // of a cell
    enum : uint8_t { START = 1, ROCK = 2, HIGH_ROCK = 4, PEAK = 8, SHORE = 16, WET = 32, TUNNEL = 64 };

    std::vector<uint8_t> kinds;
    std::vector<float> fields[NUM_FIELDS];
};

inline void World::generate() {
    static thread_local Ground ground;
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
    make_field(Ground::WETNESS, 15, 3, everywhere);
    add(Ground::WETNESS, 5, 3, 0.15, everywhere);
    make_field(Ground::HEIGHT, 15, 0, everywhere);
    add(Ground::HEIGHT, 5, 0, 0.3, everywhere);

    ground.kinds.resize(shape.cells());
    for (int x = 0; x < width; ++x) {
        const float* wetness = &ground.fields[Ground::WETNESS][static_cast<size_t>(x) * pitch];
        const float* heights = &ground.fields[Ground::HEIGHT][static_cast<size_t>(x) * pitch];
        for (int y = 0; y < height; ++y) {
            Place place(noise, x, y, (x - px) * (x - px) + (y - py) * (y - py), wetness[y] + 0.1, heights[y] / 1.3);
            uint8_t kind = 0;
            if (place.is_start()) {
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

    // what is drawn is drawn in crafter's order
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
            ++chunks[chunk_at(x, y)].materials[m];
        }
    }
    std::memcpy(semantic.data(), materials.data(), materials.size());
    enter_cell(PLAYER_SLOT);
    for (int x = 0; x < width; ++x) {
        for (int y = 0; y < height; ++y) {
            const Material m = material_at(x, y);
            if (!contains(WALKABLE, m)) continue;
            const int square = (x - px) * (x - px) + (y - py) * (y - py);
            if (square > 3 * 3 && m == GRASS && random.real() > 0.985) {
                this->add(COW, x, y, MOST_HEALTH[COW]);
            } else if (square > 10 * 10 && random.real() > 0.993) {
                this->add(ZOMBIE, x, y, MOST_HEALTH[ZOMBIE]);
            } else if (m == PATH && ground.kinds[at(x, y)] & Ground::TUNNEL && random.real() > 0.95) {
                this->add(SKELETON, x, y, MOST_HEALTH[SKELETON]);
            }
        }
    }
}

}  // namespace cypool::crafter
