// A picture drawn as pygame-ce draws it, pixel for pixel: gfxdraw's polygons, draw.polygon and transform.smoothscale.
// pygame's own steps are taken where they show: coordinates are cut to integers, slopes are of single precision.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "cypool/envs/box2d/engine.h"

namespace cypool::box2d {

constexpr uint32_t rgb(double r, double g, double b) noexcept {
    return static_cast<uint32_t>(static_cast<int>(r)) << 16 | static_cast<uint32_t>(static_cast<int>(g)) << 8
           | static_cast<uint32_t>(static_cast<int>(b));
}

constexpr int SMALL_SIDE = 96;

// How smoothscale divides N pixels among 96, in one direction. Each of the 96, a cell, is made of the rest of a pixel,
// some whole ones and a part of the next one, whose rest counts for the next cell.
struct CellWeights {
    int begin, whole;  // the first whole pixel, and how many there are
    uint16_t part, rest;
};
struct Range {
    int16_t first, last;
    bool operator==(const Range&) const = default;
};
template <int N> struct Plan {
    std::array<CellWeights, SMALL_SIDE> weights{};
    uint16_t reciprocal = 0;
    std::array<Range, SMALL_SIDE> pixels{};  // that a cell depends on
    std::array<Range, N> cells{};            // that depend on a pixel
    constexpr Plan() {
        const int space = 0x4000 * N / SMALL_SIDE;
        reciprocal = static_cast<uint16_t>(0x40000000 / space);
        int left = space, begin = 0, found = 0;
        for (int k = 0; k < N && found < SMALL_SIDE; ++k) {
            if (left > 0x4000) {
                left -= 0x4000;
                continue;
            }
            const int rest = 0x4000 - left;
            weights[found++] = {begin, k - begin, static_cast<uint16_t>(left), static_cast<uint16_t>(rest)};
            begin = k + 1;
            left = space - rest;
        }
        for (Range& range : cells) range = {SMALL_SIDE, -1};
        for (int k = 0; k < SMALL_SIDE; ++k) {
            // the product of a small rest is 0 for each level
            const bool shares = k > 0 && weights[k - 1].rest * 4 * 255 >= 0x10000;
            pixels[k] = {static_cast<int16_t>(weights[k].begin - shares),
                         static_cast<int16_t>(weights[k].begin + weights[k].whole)};
            for (int x = pixels[k].first; x <= pixels[k].last; ++x) {
                cells[x].first = std::min(cells[x].first, static_cast<int16_t>(k));
                cells[x].last = std::max(cells[x].last, static_cast<int16_t>(k));
            }
        }
    }
    // a cell whose pixels all have the same level
    constexpr uint16_t shrink_level(int k, uint16_t level) const {
        const auto product = [](int a, int b) { return static_cast<uint16_t>((a & 0xffff) * (b & 0xffff) >> 16); };
        const int rest = k ? product(level << 2, weights[k - 1].rest) : 0;
        return product(rest + weights[k].whole * level + product(level << 2, weights[k].part), reciprocal);
    }
};
// Whether a cell of one level is the same everywhere: each of both directions rounds it down, 0 excepted.
template <int N> constexpr bool rounds_down(const Plan<N>& plan) {
    for (int level = 0; level < 256; ++level) {
        for (int k = 0; k < SMALL_SIDE; ++k) {
            if (plan.shrink_level(k, static_cast<uint16_t>(level)) != std::max(level - 1, 0)) return false;
        }
    }
    return true;
}

// two pixels, with 16 bits for each colour
using Lanes = uint16_t __attribute__((vector_size(16)));

[[gnu::always_inline]] inline Lanes lanes_of(const uint32_t* p) noexcept {
    uint8_t __attribute__((vector_size(8))) bytes;
    std::memcpy(&bytes, p, sizeof bytes);
    return __builtin_convertvector(bytes, Lanes);
}
// the upper half of the products
[[gnu::always_inline]] inline Lanes scale(Lanes a, Lanes by) noexcept {
#ifdef __SSE2__
    return reinterpret_cast<Lanes>(_mm_mulhi_epu16(reinterpret_cast<__m128i>(a), reinterpret_cast<__m128i>(by)));
#else
    Lanes out;
    for (int k = 0; k < 8; ++k) out[k] = static_cast<uint16_t>(uint32_t{a[k]} * by[k] >> 16);
    return out;
#endif
}
[[gnu::always_inline]] inline Lanes lanes_of(uint16_t first, uint16_t second) noexcept {
    return Lanes{first, first, first, first, second, second, second, second};
}

// A picture that stores only the parts that the small one needs: a cell has one color, until something else is drawn on
// a part of its pixels. Neighbours share pixels, in which they agree.
class Canvas {
public:
    static constexpr int WIDTH = 1000, HEIGHT = 800, SMALL = SMALL_SIDE;

    // Rows below `first` are not drawn; they are as they were. With `flipped` the first row is the lowest one.
    void begin(int first, bool is_flipped) noexcept {
        first_row = first;
        flipped = is_flipped;
    }

    void fill(int from, int to, uint32_t color) noexcept {
        from = std::max(from, first_row);
        for (int y = from; y < to; ++y) spans[memory_row(y)] = {0, WIDTH - 1};
        fill_spans(from, to - 1, color);
    }

    // gfxdraw.aapolygon, then gfxdraw.filled_polygon, of a quadrilateral
    void draw_quad(const double (&points)[4][2], uint32_t color) noexcept {
        int16_t x[4], y[4];
        for (int k = 0; k < 4; ++k) {
            x[k] = static_cast<int16_t>(static_cast<long>(points[k][0]));
            y[k] = static_cast<int16_t>(static_cast<long>(points[k][1]));
        }
        const auto [left, right] = std::minmax_element(x, x + 4);
        const auto [top, bottom] = std::minmax_element(y, y + 4);
        if (*right < 0 || *left >= WIDTH || *bottom < first_row || *top >= HEIGHT) return;
        for (int k = 0; k < 4; ++k) draw_line(x[k], y[k], x[(k + 1) % 4], y[(k + 1) % 4], color);
        fill_quad(x, y, *top, *bottom, color);
    }

    // draw.polygon of four to eight points
    void draw_polygon(const double (*points)[2], int n, uint32_t color) noexcept {
        int x[8], y[8];
        for (int k = 0; k < n; ++k) {
            x[k] = static_cast<int>(points[k][0]);
            y[k] = static_cast<int>(points[k][1]);
        }
        const int top = *std::min_element(y, y + n), bottom = *std::max_element(y, y + n);
        if (top == bottom) {
            span(*std::min_element(x, x + n), *std::max_element(x, x + n), top, color);
            return;
        }
        for (int r = std::max(top, first_row); r <= std::min(bottom, HEIGHT - 1); ++r) {
            int at[8], m = 0;
            for (int k = 0; k < n; ++k) {
                const int before = k ? k - 1 : n - 1;
                int a = y[before], b = y[k], u = x[before], v = x[k];
                if (a == b) continue;
                if (a > b) {
                    std::swap(a, b);
                    std::swap(u, v);
                }
                if ((r >= a && r < b) || (r == bottom && b == bottom)) {
                    const float t = static_cast<float>(int64_t{r - a} * (v - u)) / static_cast<float>(b - a);
                    at[m] = static_cast<int>(m % 2 == 0 ? std::floor(t) : std::ceil(t)) + u;
                    ++m;
                }
            }
            sort(at, m);
            for (int k = 0; k + 1 < m; k += 2) span(at[k], at[k + 1], r, color);
        }
        for (int k = 0; k < n; ++k) {
            const int before = k ? k - 1 : n - 1;
            if (top < y[k] && y[before] == y[k] && y[k] < bottom) span(x[k], x[before], y[k], color);
        }
    }

    // one gray pixel of a text, in a picture that is not flipped
    void put_gray(int x, int y, uint8_t level) noexcept {
        if (x >= 0 && x < WIDTH && y >= 0 && y < HEIGHT) pixel(x, y) = 0x10101u * level;
    }

    // transform.smoothscale to 96 x 96: columns first, then rows; out: red, green and blue of each
    void shrink(uint8_t* out) const noexcept {
#ifdef __x86_64__
        if (avx2) return shrink_avx2(out);
#endif
        shrink_by(out);
    }

private:
    static constexpr Plan<WIDTH> COLUMNS{};
    static constexpr Plan<HEIGHT> ROWS{};
    static constexpr uint32_t MIXED = 0xffffffff;
    static constexpr Range NOTHING{WIDTH, -1};

    [[gnu::always_inline]] inline void shrink_by(uint8_t* out) const noexcept {
        static_assert(rounds_down(COLUMNS) && rounds_down(ROWS));
        for (int j = 0; j < SMALL; ++j) {
            for (int k = 0; k < SMALL;) {
                const uint32_t color = colors[j][k];
                if (color == MIXED) {
                    int end = k + 1;
                    while (end < SMALL && colors[j][end] == MIXED) ++end;
                    shrink_cells(j, k, end, out);
                    out += 3 * (end - k);
                    k = end;
                    continue;
                }
                for (const int shift : {16, 8, 0})
                    *out++ = static_cast<uint8_t>(std::max<int>(color >> shift & 255, 2) - 2);
                ++k;
            }
        }
    }
    [[gnu::always_inline]] inline void shrink_cells(int j, int begin, int end, uint8_t* out) const noexcept {
        Lanes sums[SMALL] = {};
        const auto [first, whole, part, rest] = ROWS.weights[j];
        const uint32_t* p = &pixels[static_cast<size_t>(first) * WIDTH];
        // two rows at once; of the rows at the ends only a part counts
        const uint16_t before = j > 0 ? ROWS.weights[j - 1].rest : 0;
        const Lanes weights = lanes_of(before, part);
        shrink_rows(p - (j > 0 ? WIDTH : 0), p + whole * WIDTH, begin, end,
                    [&](int k, Lanes row) { sums[k] = scale(row << 2, weights); });
        for (int n = 0; n + 1 < whole; n += 2, p += 2 * WIDTH) {
            shrink_rows(p, p + WIDTH, begin, end, [&](int k, Lanes row) { sums[k] += row; });
        }
        if (whole % 2) {
            const Lanes one = lanes_of(0xffff, 0);
            shrink_rows(p, p, begin, end, [&](int k, Lanes row) { sums[k] += row & one; });
        }
        for (int k = begin; k < end; ++k) {
            const Lanes both = join(sums[k], sums[k]), done = scale(both, lanes_of(ROWS.reciprocal, 0));
            for (const int channel : {2, 1, 0}) *out++ = static_cast<uint8_t>(done[channel]);
        }
    }
    template <class Take>
    [[gnu::always_inline]] static inline void shrink_rows(const uint32_t* p, const uint32_t* q, int begin, int end,
                                                          Take take) noexcept {
        const int first = COLUMNS.weights[begin].begin;
        p += first;
        q += first;
        Lanes rest{};
        if (begin > 0) rest = weigh(p[-1], q[-1], COLUMNS.weights[begin - 1].rest);
        for (int k = begin; k < end; ++k) {
            const CellWeights& cell = COLUMNS.weights[k];
            const Lanes sum = rest + join(sum_of(p, cell.whole), sum_of(q, cell.whole));
            p += cell.whole;
            q += cell.whole;
            take(k, scale(sum + weigh(*p, *q, cell.part), lanes_of(COLUMNS.reciprocal, COLUMNS.reciprocal)));
            rest = weigh(*p++, *q++, cell.rest);
        }
    }
    [[gnu::always_inline]] static inline Lanes weigh(uint32_t p, uint32_t q, uint16_t weight) noexcept {
        const uint32_t pair[2] = {p, q};
        return scale(lanes_of(pair) << 2, lanes_of(weight, weight));
    }

#ifdef __x86_64__
    [[gnu::target("avx2")]] void shrink_avx2(uint8_t* out) const noexcept { shrink_by(out); }
#endif

    // of n pixels; those at even places are in the lower half, and need not be
    [[gnu::always_inline]] static inline Lanes sum_of(const uint32_t* p, int n) noexcept {
        using Bytes = uint8_t __attribute__((vector_size(16)));
        using Wide = uint16_t __attribute__((vector_size(32)));
        Wide four{};
        for (; n >= 4; n -= 4, p += 4) {
            Bytes bytes;
            std::memcpy(&bytes, p, sizeof bytes);
            four += __builtin_convertvector(bytes, Wide);
        }
        Lanes halves[2];
        std::memcpy(halves, &four, sizeof halves);
        Lanes sum = halves[0] + halves[1];
        if (n & 2) {
            sum += lanes_of(p);
            p += 2;
        }
        if (n & 1) {
            const uint32_t last[2] = {*p, 0};
            sum += lanes_of(last);
        }
        return sum;
    }
    // the sum of a's halves, then that of b's
    [[gnu::always_inline]] static inline Lanes join(Lanes a, Lanes b) noexcept {
        return __builtin_shufflevector(a, b, 0, 1, 2, 3, 8, 9, 10, 11)
               + __builtin_shufflevector(a, b, 4, 5, 6, 7, 12, 13, 14, 15);
    }

    int memory_row(int y) const noexcept { return flipped ? HEIGHT - 1 - y : y; }
    // from now on the pixels of the cell are stored
    void split(int j, int k) noexcept {
        const uint32_t color = colors[j][k];
        if (color == MIXED) return;
        colors[j][k] = MIXED;
        const auto [left, right] = COLUMNS.pixels[k];
        for (int r = ROWS.pixels[j].first; r <= ROWS.pixels[j].last; ++r) {
            std::fill_n(&pixels[static_cast<size_t>(r) * WIDTH + left], right - left + 1, color);
        }
    }
    [[gnu::noinline]] void split(Range rows, Range columns) noexcept {
        for (int j = rows.first; j <= rows.last; ++j) {
            for (int k = columns.first; k <= columns.last; ++k) split(j, k);
        }
    }
    uint32_t& pixel(int x, int y) noexcept {
        const int r = memory_row(y);
        split(ROWS.cells[r], COLUMNS.cells[x]);
        return pixels[static_cast<size_t>(r) * WIDTH + x];
    }
    // Each of the rows from its span's first to its last pixel; the spans are clipped.
    void fill_spans(int from, int to, uint32_t color) noexcept {
        int first = memory_row(from), last = memory_row(to);
        if (first > last) std::swap(first, last);
        if (first > last) return;
        Range covered[SMALL];
        for (int j = ROWS.cells[first].first; j <= ROWS.cells[last].last; ++j) {
            const auto [top, bottom] = ROWS.pixels[j];
            // of all rows, and of any
            Range all{0, WIDTH - 1}, any = NOTHING;
            for (int r = std::max<int>(top, first); r <= std::min<int>(bottom, last); ++r) {
                all = {std::max(all.first, spans[r].first), std::min(all.last, spans[r].last)};
                any = {std::min(any.first, spans[r].first), std::max(any.last, spans[r].last)};
            }
            Range cells{SMALL, -1};
            if (top >= first && bottom <= last && all.first <= all.last) {
                cells = {COLUMNS.cells[all.first].first, COLUMNS.cells[all.last].last};
                while (cells.first < SMALL && COLUMNS.pixels[cells.first].first < all.first) ++cells.first;
                while (cells.last >= 0 && COLUMNS.pixels[cells.last].last > all.last) --cells.last;
            }
            if (cells.first > cells.last) cells = {SMALL, -1};
            covered[j] = cells;
            if (any.first <= any.last) {
                for (int k = COLUMNS.cells[any.first].first; k <= COLUMNS.cells[any.last].last; ++k) {
                    if (k < cells.first || k > cells.last) split(j, k);
                }
            }
        }
        for (int j = ROWS.cells[first].first; j <= ROWS.cells[last].last; ++j) {
            for (int k = covered[j].first; k <= covered[j].last; ++k) colors[j][k] = color;
        }
        for (int r = first; r <= last; ++r) {
            const auto [left, right] = spans[r];
            const Range &above = covered[ROWS.cells[r].first], &below = covered[ROWS.cells[r].last];
            const int k = std::max(above.first, below.first), end = std::min(above.last, below.last);
            if (k > end) {
                set(left, right, r, color);
            } else {
                set(left, COLUMNS.pixels[k].first, r, color);
                set(COLUMNS.pixels[end].last, right, r, color);
            }
        }
    }
    void set(int first, int last, int r, uint32_t color) noexcept {
        if (first <= last) std::fill_n(&pixels[static_cast<size_t>(r) * WIDTH + first], last - first + 1, color);
    }

    // the result of SDL_gfx's blend: each colour moves by alpha / 256 of the way, rounded down
    static uint32_t blend(uint32_t from, uint32_t to, uint32_t alpha) noexcept {
        const uint32_t red_blue = ((from & 0xff00ff) * (256 - alpha) + (to & 0xff00ff) * alpha) >> 8 & 0xff00ff;
        const uint32_t green = ((from & 0xff00) * (256 - alpha) + (to & 0xff00) * alpha) >> 8 & 0xff00;
        return red_blue | green;
    }
    // mixes pixels; one after another they mostly belong to the same cells
    struct Pen {
        Canvas& canvas;
        uint32_t color;
        Range rows = NOTHING, columns = NOTHING;
        [[gnu::always_inline]] void mix(int x, int y, uint32_t alpha) noexcept {
            if (static_cast<unsigned>(x) >= WIDTH || y < canvas.first_row || y >= HEIGHT) return;
            const int r = canvas.memory_row(y);
            if (ROWS.cells[r] != rows || COLUMNS.cells[x] != columns) {
                rows = ROWS.cells[r];
                columns = COLUMNS.cells[x];
                canvas.split(rows, columns);
            }
            uint32_t& to = canvas.pixels[static_cast<size_t>(r) * WIDTH + x];
            to = blend(to, color, alpha);
        }
    };

    static Range clipped(int a, int b) noexcept {
        const int first = std::max(std::min(a, b), 0), last = std::min(std::max(a, b), WIDTH - 1);
        if (first > last) return NOTHING;
        return {static_cast<int16_t>(first), static_cast<int16_t>(last)};
    }
    void span(int a, int b, int y, uint32_t color) noexcept {
        if (y < first_row || y >= HEIGHT) return;
        const auto [first, last] = clipped(a, b);
        if (first > last) return;
        const int r = memory_row(y);
        split(ROWS.cells[r], {COLUMNS.cells[first].first, COLUMNS.cells[last].last});
        set(first, last, r, color);
    }

    // a few numbers
    static void sort(int* at, int n) noexcept {
        for (int i = 1; i < n; ++i) {
            for (int k = i; k > 0 && at[k - 1] > at[k]; --k) std::swap(at[k - 1], at[k]);
        }
    }

    // Cohen and Sutherland's, with the line's ends in the order in which it is left
    static int outside(int x, int y) noexcept {
        return (x < 0 ? 1 : x > WIDTH - 1 ? 2 : 0) | (y < 0 ? 4 : y > HEIGHT - 1 ? 8 : 0);
    }
    static bool clip_line(int16_t& x1, int16_t& y1, int16_t& x2, int16_t& y2) noexcept {
        while (true) {
            int first = outside(x1, y1), second = outside(x2, y2);
            if (!(first | second)) return true;
            if (first & second) return false;
            if (!first) {
                std::swap(x1, x2);
                std::swap(y1, y2);
                std::swap(first, second);
            }
            const float slope = x2 != x1 ? static_cast<float>(y2 - y1) / static_cast<float>(x2 - x1) : 1.0f;
            if (first & 3) {
                const int edge = first & 1 ? 0 : WIDTH - 1;
                y1 = static_cast<int16_t>(y1 + static_cast<int16_t>(static_cast<float>(edge - x1) * slope));
                x1 = static_cast<int16_t>(edge);
            } else {
                const int edge = first & 8 ? HEIGHT - 1 : 0;
                if (x2 != x1)
                    x1 = static_cast<int16_t>(x1 + static_cast<int16_t>(static_cast<float>(edge - y1) / slope));
                y1 = static_cast<int16_t>(edge);
            }
        }
    }

    // a smooth line, without its last pixel
    void draw_line(int16_t x1, int16_t y1, int16_t x2, int16_t y2, uint32_t color) noexcept {
        if (!clip_line(x1, y1, x2, y2)) return;
        int x = x1, y = y1, end_x = x2, end_y = y2;
        if (y > end_y) {
            std::swap(x, end_x);
            std::swap(y, end_y);
        }
        const int dy = end_y - y, direction = end_x >= x ? 1 : -1, dx = std::abs(end_x - x);
        if (dx == 0) {
            for (int k = std::max(y, first_row); k <= end_y; ++k) pixel(x, k) = color;
            return;
        }
        if (dy == 0) {
            span(x, end_x, y, color);
            return;
        }
        if (y1 >= first_row) pixel(x1, y1) = color;
        const bool steep = dy > dx;
        // to the next pixel along the line, and to the one next to it
        const int along_x = steep ? 0 : direction, along_y = steep, beside_x = direction - along_x, beside_y = !steep;
        const uint32_t step = static_cast<uint32_t>(steep ? (dx << 16) / dy : (dy << 16) / dx) << 16;
        Pen near{*this, color}, far{*this, color};
        uint32_t sum = 0;
        for (int n = (steep ? dy : dx) - 1; n > 0; --n) {
            const uint32_t before = sum;
            sum += step;
            if (sum <= before) {
                x += beside_x;
                y += beside_y;
            }
            x += along_x;
            y += along_y;
            const uint32_t weight = sum >> 24;
            near.mix(x, y, (255 * (255 - weight)) >> 8);
            far.mix(x + beside_x, y + beside_y, (255 * weight) >> 8);
        }
    }

    // an edge of a quadrilateral, from its upper to its lower end; where it crosses a row, in 1/65536 pixels, without a
    // division for each row
    struct Edge {
        int top, bottom, x, width, height, quotient, remainder;
        int crossing() const noexcept { return quotient * width + 65536 * x; }
        void start(int y) noexcept {
            quotient = 65536 * (y - top) / height;
            remainder = 65536 * (y - top) % height;
        }
        void advance() noexcept {
            quotient += 65536 / height;
            remainder += 65536 % height;
            if (remainder >= height) {
                remainder -= height;
                ++quotient;
            }
        }
    };
    void fill_quad(const int16_t* x, const int16_t* y, int top, int bottom, uint32_t color) noexcept {
        const int first = std::max(top, first_row), last = std::min(bottom, HEIGHT - 1);
        Edge edges[4];
        int n = 0;
        for (int k = 0; k < 4; ++k) {
            const int before = (k + 3) % 4;
            if (y[before] == y[k]) continue;
            const int upper = y[before] < y[k] ? before : k, lower = before + k - upper;
            Edge edge{y[upper], y[lower], x[upper], x[lower] - x[upper], y[lower] - y[upper], 0, 0};
            if (edge.bottom < first || edge.top > last) continue;
            if (edge.top < first) edge.start(first);
            edges[n++] = edge;
        }
        for (int r = first; r <= last; ++r) {
            int at[4], m = 0;
            for (int k = 0; k < n; ++k) {
                Edge& edge = edges[k];
                if (r < edge.top || r > edge.bottom) continue;
                if (r < edge.bottom || r == bottom) at[m++] = edge.crossing();
                edge.advance();
            }
            sort(at, m);
            Range& range = spans[memory_row(r)];
            range = NOTHING;
            for (int k = 0; k + 1 < m; k += 2) {
                const int a = at[k] + 1, b = at[k + 1] - 1;
                const auto left = static_cast<int16_t>((a >> 16) + ((a & 32768) >> 15));
                const auto right = static_cast<int16_t>((b >> 16) + ((b & 32768) >> 15));
                if (m > 3) {
                    span(left, right, r, color);
                } else {
                    range = clipped(left, right);
                }
            }
        }
        fill_spans(first, last, color);
    }

    std::vector<uint32_t> pixels = std::vector<uint32_t>(static_cast<size_t>(WIDTH) * HEIGHT);
    uint32_t colors[SMALL][SMALL] = {};
    Range spans[HEIGHT] = {};
    int first_row = 0;
    bool flipped = false;
};

}  // namespace cypool::box2d
