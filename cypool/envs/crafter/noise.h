// OpenSimplex noise in three dimensions: `Noise` with the bits of the Python package, and `NoiseField`, many values at
// once that are close to these.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

#include "cypool/envs/crafter/simd.h"

namespace cypool::crafter {

constexpr double SQUISH = 1.0 / 3, STRETCH = -1.0 / 6;
constexpr int MAX_VERTICES = 8;

// A lattice point: its offset from the corner of the cell. The package subtracts a whole number before the squish or
// behind it, and the bits differ: a distance is ((d - near) - squish) - late.
struct Vertex {
    int at[3];
    double near[3], late[3], squish;
};

constexpr Vertex vertex(int x, int y, int z, int late_axis = -1, int late = 0) {
    Vertex v{{x, y, z}, {double(x), double(y), double(z)}, {0, 0, 0}, (x + y + z) * SQUISH};
    if (late_axis >= 0) {
        v.near[late_axis] -= late;
        v.late[late_axis] = late;
    }
    return v;
}

// The value is a sum over lattice points: four corners of the cell, or six, and two more that depend on where in the
// cell the place is. These are the 27 lists of them, and which comparisons lead to which list.
struct VertexLists {
    struct List {
        Vertex vertices[MAX_VERTICES];
        int count;
    };
    List lists[27];
    // by region, the result of comparisons, a bit each
    uint8_t low[256], high[256], middle[64];

    constexpr VertexLists() : lists{}, low{}, high{}, middle{} {
        fill_low();
        fill_high();
        fill_middle();
        for (unsigned k = 0; k < 256; ++k) compare_corners(k);
        for (unsigned k = 0; k < 64; ++k) compare_faces(k);
    }

private:
    // corners are sets of axes: x 1, y 2, z 4
    static constexpr int one(int corner) { return corner == 1 ? 0 : corner == 2 ? 1 : 2; }  // of 1, 2, 4
    static constexpr int two(int corner) { return corner == 3 ? 0 : corner == 5 ? 1 : 2; }  // of 3, 5, 6
    static constexpr int bit(int corner, int axis) { return corner >> axis & 1; }
    static constexpr int axis_in(int corner) { return bit(corner, 0) ? 0 : bit(corner, 1) ? 1 : 2; }
    static constexpr int axis_out(int corner) { return !bit(corner, 0) ? 0 : !bit(corner, 1) ? 1 : 2; }
    static constexpr Vertex all_but(int axis) {
        return vertex(axis == 0 ? -1 : 1, axis == 1 ? -1 : 1, axis == 2 ? -1 : 1);
    }
    static constexpr Vertex twice(int axis, bool late) {
        return vertex(2 * (axis == 0), 2 * (axis == 1), 2 * (axis == 2), late ? axis : -1, 2);
    }

    enum Region { LOW, HIGH, MIDDLE };
    constexpr void fill(int k, Region region, const Vertex& a, const Vertex& b) {
        const Vertex low_corners[] = {vertex(0, 0, 0), vertex(1, 0, 0), vertex(0, 1, 0), vertex(0, 0, 1)};
        const Vertex high_corners[] = {vertex(1, 1, 0), vertex(1, 0, 1), vertex(0, 1, 1), vertex(1, 1, 1)};
        List& list = lists[k];
        for (int i = region == LOW ? 0 : 1; region != HIGH && i < 4; ++i) list.vertices[list.count++] = low_corners[i];
        for (int i = 0; region != LOW && i < (region == HIGH ? 4 : 3); ++i) {
            list.vertices[list.count++] = high_corners[i];
        }
        list.vertices[list.count++] = a;
        list.vertices[list.count++] = b;
    }
    constexpr void fill_low() {
        fill(0, LOW, vertex(1, -1, 0), vertex(1, 0, -1));
        fill(1, LOW, vertex(-1, 1, 0), vertex(0, 1, -1));
        fill(2, LOW, vertex(-1, 0, 1), vertex(0, -1, 1));
        for (int c : {3, 5, 6}) {
            const int x = bit(c, 0), y = bit(c, 1), z = bit(c, 2);
            fill(3 + two(c), LOW, vertex(x, y, z), vertex(2 * x - 1, 2 * y - 1, 2 * z - 1));
        }
    }
    constexpr void fill_high() {
        fill(6, HIGH, vertex(2, 1, 0), vertex(1, 2, 0, 1, 1));
        fill(7, HIGH, vertex(2, 0, 1), vertex(1, 0, 2));
        fill(8, HIGH, vertex(0, 2, 1, 1, 1), vertex(0, 1, 2));
        for (int c : {1, 2, 4}) {
            const int x = bit(c, 0), y = bit(c, 1), z = bit(c, 2);
            fill(9 + one(c), HIGH, vertex(x, y, z), vertex(2 * x, 2 * y, 2 * z));
        }
    }
    constexpr void fill_middle() {
        for (int c : {1, 2, 4}) fill(12 + one(c), MIDDLE, vertex(1, 1, 1), twice(axis_in(c), false));
        for (int c : {3, 5, 6}) {
            fill(15 + two(c), MIDDLE, vertex(0, 0, 0), all_but(axis_out(c)));
            for (int d : {1, 2, 4}) {
                fill(18 + 3 * two(c) + one(d), MIDDLE, all_but(axis_out(c)), twice(axis_in(d), true));
            }
        }
    }
    // the order of the bits: Noise::list_of
    constexpr void compare_corners(unsigned k) {
        const bool second = k & 1, third_second = k & 2, third_first = k & 4, rest_first = k & 8, rest_second = k & 16;
        const bool rest_third = k & 32, second_first = k & 64, second_third = k & 128;
        const bool b_is_third = second && third_second, a_is_third = !second && third_first;
        const bool is_corner = (a_is_third ? rest_third : rest_first) || (b_is_third ? rest_third : rest_second);
        const bool takes_b = b_is_third ? third_first : a_is_third ? second_third : second_first;
        const int a = a_is_third ? 4 : 1, b = b_is_third ? 4 : 2;
        low[k] = static_cast<uint8_t>(is_corner ? one(takes_b ? b : a) : 3 + two(a | b));
        const int c = a_is_third ? 3 : 6, d = b_is_third ? 3 : 5;
        high[k] = static_cast<uint8_t>(is_corner ? 6 + two(takes_b ? d : c) : 9 + one(c & d));
    }
    constexpr void compare_faces(unsigned k) {
        bool a_is_far = k & 1, b_is_far = k & 2;
        const bool is_far = k & 4, a_first = k & 8, a_less = k & 16, b_less = k & 32;
        int a = a_is_far ? 3 : 4, b = b_is_far ? 5 : 2;
        if (a_first && a_less) {
            a = is_far ? 6 : 1;
            a_is_far = is_far;
        } else if (!a_first && b_less) {
            b = is_far ? 6 : 1;
            b_is_far = is_far;
        }
        middle[k] = static_cast<uint8_t>(a_is_far != b_is_far ? 18 + 3 * two(a_is_far ? a : b) + one(a_is_far ? b : a)
                                         : a_is_far           ? 12 + one(a & b)
                                                              : 15 + two(a | b));
    }
};
inline constexpr VertexLists VERTEX_LISTS{};

using Gradient = std::array<double, 3>;
constexpr std::array<Gradient, 24> gradients() {
    std::array<Gradient, 24> found{};
    // a long axis and three signs
    for (int signs = 0; signs < 8; ++signs) {
        for (int axis = 0; axis < 3; ++axis) {
            for (int k = 0; k < 3; ++k) {
                const bool negative = k == 0 ? !(signs & 1) : signs >> k & 1;
                found[signs * 3 + axis][k] = (k == axis ? 11 : 4) * (negative ? -1 : 1);
            }
        }
    }
    return found;
}
inline constexpr std::array<Gradient, 24> GRADIENTS = gradients();
constexpr double NORM = 103;

inline int floor_of(double value) {
    const int whole = static_cast<int>(value);
    return value < whole ? whole - 1 : whole;
}

class Noise {
public:
    void seed(int64_t seed) {
        auto state = static_cast<uint64_t>(seed);
        const auto next = [&] { return state = state * 6364136223846793005u + 1442695040888963407u; };
        for (int k = 0; k < 3; ++k) next();
        uint8_t source[256];
        for (int k = 0; k < 256; ++k) source[k] = static_cast<uint8_t>(k);
        for (int k = 255; k >= 0; --k) {
            // Python's remainder, of a sum that does not overflow there
            __extension__ using Wide = __int128;
            auto chosen = static_cast<int>((Wide{static_cast<int64_t>(next())} + 31) % (k + 1));
            if (chosen < 0) chosen += k + 1;
            permutation_[k] = source[chosen];
            source[chosen] = source[k];
        }
    }

    const Gradient& gradient(int x, int y, int z) const {
        const int k = permutation_[(permutation_[(permutation_[x & 255] + y) & 255] + z) & 255];
        return GRADIENTS[k % 24];
    }

    double operator()(double x, double y, double z) const {
        const double stretch = (x + y + z) * STRETCH;
        const double xs = x + stretch, ys = y + stretch, zs = z + stretch;
        const int ix = floor_of(xs), iy = floor_of(ys), iz = floor_of(zs);
        const double squish = (ix + iy + iz) * SQUISH;
        const double from[] = {x - (ix + squish), y - (iy + squish), z - (iz + squish)};
        double value = 0;
        const auto& list = VERTEX_LISTS.lists[list_of(xs - ix, ys - iy, zs - iz)];
        for (int k = 0; k < list.count; ++k) {
            const Vertex& v = list.vertices[k];
            double d[3];
            for (int axis = 0; axis < 3; ++axis) d[axis] = from[axis] - v.near[axis] - v.squish - v.late[axis];
            double near = 2 - d[0] * d[0] - d[1] * d[1] - d[2] * d[2];
            if (near <= 0) continue;
            near *= near;
            const Gradient& g = gradient(ix + v.at[0], iy + v.at[1], iz + v.at[2]);
            value += near * near * (g[0] * d[0] + g[1] * d[1] + g[2] * d[2]);
        }
        return value / NORM;
    }

private:
    // u, v, w: where in the cell
    static int list_of(double u, double v, double w) {
        const double sum = u + v + w;
        if (sum <= 1) {
            const double r = 1 - sum;
            return VERTEX_LISTS.low[(u >= v) | (w > v) << 1 | (w > u) << 2 | (r > u) << 3 | (r > v) << 4 | (r > w) << 5
                                    | (v > u) << 6 | (v > w) << 7];
        }
        if (sum >= 2) {
            const double r = 3 - sum;
            return VERTEX_LISTS.high[(u <= v) | (w < v) << 1 | (w < u) << 2 | (r < u) << 3 | (r < v) << 4 | (r < w) << 5
                                     | (v < u) << 6 | (v < w) << 7];
        }
        const double p = u + v, q = u + w, r = v + w;
        const double a = std::fabs(p - 1), b = std::fabs(q - 1), c = std::fabs(r - 1);
        return VERTEX_LISTS.middle[(p > 1) | (q > 1) << 1 | (r > 1) << 2 | (a <= b) << 3 | (a < c) << 4 | (b < c) << 5];
    }

    uint8_t permutation_[256];
};

// Approximate noise on a grid. The part of a lattice point is 0 beyond a distance of sqrt(2), so each adds its part to
// the disc around it: sums without a gather. The package leaves out some points, which would add up to 1.3e-4.
class NoiseField {
public:
    static constexpr double ERROR = 3e-4;  // of a value, at most
    // how many numbers each row has behind it, for values that are computed in vain
    static constexpr int PADDING = 48;

    // Of rows and columns; the ends are behind the last ones.
    struct Region {
        int row, row_end, column, column_end;

        void include(int r, int c) {
            row = std::min(row, r);
            row_end = std::max(row_end, r + 1);
            column = std::min(column, c);
            column_end = std::max(column_end, c + 1);
        }
    };

    // Adds weight * noise(row * per_row, column * per_column, z), or if `turned` that of (column * per_column,
    // row * per_row, z), to the numbers of a region at least; `pitch` numbers are a row. Rows are at least 1/15 apart,
    // and so are columns.
    static void add(const Noise& noise, double per_row, double per_column, double z, bool turned, double weight,
                    const Region& region, int pitch, float* to) {
        const double top = region.row * per_row - RADIUS, bottom = (region.row_end - 1) * per_row + RADIUS;
        const double left = region.column * per_column - RADIUS;
        const double right = (region.column_end - 1) * per_column + RADIUS;
        const double below = z - RADIUS, above = z + RADIUS;
        const double rows = 1 / per_row, columns = 1 / per_column;
        Disc disc{};
        disc.per_row = static_cast<float>(per_row);
        disc.per_column = static_cast<float>(per_column);
        disc.pitch = pitch;
        // a lattice point (i, j, k) lies at (i + shift, j + shift, k + shift), where shift is a third of their sum
        const int most_sum = floor_of((bottom + right + above) / 2);
        for (int sum = floor_of((top + left + below) / 2); sum <= most_sum; ++sum) {
            const double shift = sum * SQUISH;
            const int k_most = floor_of(above - shift);
            for (int k = floor_of(below - shift) + 1; k <= k_most; ++k) {
                const double dz = z - (k + shift), near = 2 - dz * dz;
                if (near <= 0) continue;
                const double radius = std::sqrt(near);
                const double j_and_i = sum - k + shift;  // j + shift + i
                const int i_least = floor_of(std::max(top - shift, j_and_i - right)) + 1;
                const int i_most = floor_of(std::min(bottom - shift, j_and_i - left));
                disc.near = static_cast<float>(near);
                for (int i = i_least; i <= i_most; ++i) {
                    const double x = i + shift, y = j_and_i - i;
                    const int row = std::max(region.row, floor_of((x - radius) * rows));
                    const int column = std::max(region.column, floor_of((y - radius) * columns));
                    disc.rows = std::min(region.row_end, floor_of((x + radius) * rows) + 1) - row;
                    disc.columns = std::min(region.column_end, floor_of((y + radius) * columns) + 1) - column;
                    if (disc.rows <= 0 || disc.columns <= 0) continue;
                    const int j = sum - k - i;
                    const Gradient& g = turned ? noise.gradient(j, i, k) : noise.gradient(i, j, k);
                    const double scale = weight / NORM;
                    disc.row = static_cast<float>(row * per_row - x);
                    disc.column = static_cast<float>(column * per_column - y);
                    disc.along_row = static_cast<float>(g[turned ? 1 : 0] * scale);
                    disc.along_column = static_cast<float>(g[turned ? 0 : 1] * scale);
                    disc.along_z = static_cast<float>(g[2] * scale * dz);
                    run<AddDisc>(&disc, to + static_cast<int64_t>(row) * pitch + column);
                }
            }
        }
    }

private:
    static constexpr double RADIUS = 1.4142136;
    static constexpr int MAX_COLUMNS = 48;

    struct Disc {
        float row, column;  // of the first number, from the lattice point
        float per_row, per_column;
        int rows, columns, pitch;
        float near, along_row, along_column, along_z;
    };

    static constexpr std::array<float, MAX_COLUMNS> COUNT = [] {
        std::array<float, MAX_COLUMNS> numbers{};
        for (int k = 0; k < MAX_COLUMNS; ++k) numbers[k] = static_cast<float>(k);
        return numbers;
    }();

    struct AddDisc {
        template <int BYTES> static CYPOOL_INLINE void run(const Disc* given, float* to) {
            using Floats = Vector<float, BYTES>;
            constexpr int LANES = BYTES / sizeof(float), MAX_VECTORS = MAX_COLUMNS / LANES;
            const Disc disc = *given;
            const int vectors = (disc.columns + LANES - 1) / LANES;
            Floats square[MAX_VECTORS], along[MAX_VECTORS];
            for (int k = 0; k < vectors; ++k) {
                const Floats dy = disc.column + load_vector<Floats>(&COUNT[k * LANES]) * disc.per_column;
                square[k] = dy * dy;
                along[k] = disc.along_column * dy;
            }
            for (int row = 0; row < disc.rows; ++row) {
                const float dx = disc.row + static_cast<float>(row) * disc.per_row;
                const float rest = disc.near - dx * dx, base = disc.along_row * dx + disc.along_z;
                float* at = to + static_cast<int64_t>(row) * disc.pitch;
                for (int k = 0; k < vectors; ++k, at += LANES) {
                    Floats near = rest - square[k];
                    near = near > 0 ? near : Floats{};
                    near *= near;
                    store_vector<Floats>(at, load_vector<Floats>(at) + near * near * (base + along[k]));
                }
            }
        }
    };
};

}  // namespace cypool::crafter
