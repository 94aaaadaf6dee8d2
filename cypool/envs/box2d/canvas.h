// A picture drawn as pygame-ce draws it, pixel for pixel: gfxdraw's polygons, draw.polygon and transform.smoothscale.
// pygame's own steps are taken where they show: coordinates are cut to integers, slopes are of single precision.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <cwchar>
#include <vector>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace cypool::box2d {

constexpr uint32_t rgb(double r, double g, double b) noexcept {
    return static_cast<uint32_t>(static_cast<int>(r)) << 16 | static_cast<uint32_t>(static_cast<int>(g)) << 8
           | static_cast<uint32_t>(static_cast<int>(b));
}

constexpr int SMALL_SIDE = 96;

// pixels that make one of the small picture: some whole ones, and a part of the next, whose rest counts for the next one
struct Part {
    int whole;
    uint16_t part, rest;
};
struct Plan {
    std::array<Part, SMALL_SIDE> parts{};
    uint16_t reciprocal = 0;
    constexpr explicit Plan(int count) {
        const int space = 0x4000 * count / SMALL_SIDE;
        reciprocal = static_cast<uint16_t>(0x40000000 / space);
        int left = space, whole = 0, found = 0;
        for (int k = 0; k < count && found < SMALL_SIDE; ++k) {
            if (left > 0x4000) {
                ++whole;
                left -= 0x4000;
                continue;
            }
            const int rest = 0x4000 - left;
            parts[found++] = {whole, static_cast<uint16_t>(left), static_cast<uint16_t>(rest)};
            whole = 0;
            left = space - rest;
        }
    }
};

// two pixels, with 16 bits for each colour
using Lanes = uint16_t __attribute__((vector_size(16)));

[[gnu::always_inline]] inline Lanes lanes_of(const uint32_t* p) noexcept {
    uint8_t __attribute__((vector_size(8))) bytes;
    std::memcpy(&bytes, p, sizeof bytes);
    return __builtin_convertvector(bytes, Lanes);
}
// the upper half of the products
[[gnu::always_inline]] inline Lanes scale(Lanes a, uint16_t by) noexcept {
#ifdef __SSE2__
    return reinterpret_cast<Lanes>(
        _mm_mulhi_epu16(reinterpret_cast<__m128i>(a), _mm_set1_epi16(static_cast<short>(by))));
#else
    Lanes out;
    for (int k = 0; k < 8; ++k) out[k] = static_cast<uint16_t>(uint32_t{a[k]} * by >> 16);
    return out;
#endif
}

class Canvas {
public:
    static constexpr int WIDTH = 1000, HEIGHT = 800, SMALL = SMALL_SIDE;

    // Rows below `first` are not drawn; they are as they were. With `flipped` the first row is the lowest one.
    void begin(int first, bool is_flipped) noexcept {
        first_row = first;
        flipped = is_flipped;
    }

    void fill(int from, int to, uint32_t color) noexcept {
        for (int y = std::max(from, first_row); y < to; ++y) set(row(y), WIDTH, color);
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
                    const float t = static_cast<float>((r - a) * (v - u)) / static_cast<float>(b - a);
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
        if (x >= 0 && x < WIDTH && y >= 0 && y < HEIGHT) row(y)[x] = 0x10101u * level;
    }

    // transform.smoothscale to 96 x 96: columns first, two rows at once, then rows; out: red, green and blue of each
    void shrink(uint8_t* out) noexcept {
#ifdef __x86_64__
        static const bool avx2 = __builtin_cpu_supports("avx2");
        if (avx2) return shrink_avx2(out);
#endif
        shrink_by(out);
    }

private:
    [[gnu::always_inline]] inline void shrink_by(uint8_t* out) noexcept {
        static constexpr Plan columns(WIDTH), rows(HEIGHT);
        for (int y = 0; y < HEIGHT; y += 2) {
            const uint32_t *p = &pixels[static_cast<size_t>(y) * WIDTH], *q = p + WIDTH;
            uint32_t *to = &narrow[static_cast<size_t>(y) * SMALL], *next = to + SMALL;
            Lanes rest{};
            for (const Part& part : columns.parts) {
                const Lanes sum = rest + join(sum_of(p, part.whole), sum_of(q, part.whole));
                p += part.whole;
                q += part.whole;
                const uint32_t pair[2] = {*p++, *q++};
                uint32_t done[2];
                finish(lanes_of(pair), sum, rest, part, columns.reciprocal, done);
                *to++ = done[0];
                *next++ = done[1];
            }
        }
        Lanes sums[SMALL / 2] = {};
        const uint32_t* r = narrow.data();
        for (const Part& part : rows.parts) {
            for (int n = part.whole; n > 0; --n, r += SMALL) {
                for (int x = 0; x < SMALL / 2; ++x) sums[x] += lanes_of(r + 2 * x);
            }
            for (int x = 0; x < SMALL / 2; ++x) {
                uint32_t done[2];
                finish(lanes_of(r + 2 * x), sums[x], sums[x], part, rows.reciprocal, done);
                for (const uint32_t pixel : done) {
                    *out++ = static_cast<uint8_t>(pixel >> 16);
                    *out++ = static_cast<uint8_t>(pixel >> 8);
                    *out++ = static_cast<uint8_t>(pixel);
                }
            }
            r += SMALL;
        }
    }

#ifdef __x86_64__
    [[gnu::target("avx2")]] void shrink_avx2(uint8_t* out) noexcept { shrink_by(out); }
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

    // adds the part of the next pixels, sets their rest, writes two pixels; the products keep 16 bits, as pygame's
    [[gnu::always_inline]] static inline void finish(Lanes next, Lanes sum, Lanes& rest, const Part& part,
                                                     uint16_t reciprocal, uint32_t (&out)[2]) noexcept {
        next <<= 2;
        const Lanes all = scale(sum + scale(next, part.part), reciprocal);
        rest = scale(next, part.rest);
        // none is above 255
        const auto bytes = __builtin_convertvector(all, uint8_t __attribute__((vector_size(8))));
        std::memcpy(out, &bytes, sizeof bytes);
    }

    uint32_t* row(int y) noexcept { return &pixels[static_cast<size_t>(flipped ? HEIGHT - 1 - y : y) * WIDTH]; }
    static void set(uint32_t* p, int n, uint32_t color) noexcept {
        static_assert(sizeof(wchar_t) == sizeof(uint32_t));
        std::wmemset(reinterpret_cast<wchar_t*>(p), static_cast<wchar_t>(color), static_cast<size_t>(n));
    }

    // what SDL_gfx's blend comes to: each colour moves by alpha / 256 of the way, rounded down
    static uint32_t blend(uint32_t from, uint32_t to, uint32_t alpha) noexcept {
        const uint32_t red_blue = ((from & 0xff00ff) * (256 - alpha) + (to & 0xff00ff) * alpha) >> 8 & 0xff00ff;
        const uint32_t green = ((from & 0xff00) * (256 - alpha) + (to & 0xff00) * alpha) >> 8 & 0xff00;
        return red_blue | green;
    }
    void mix(int x, int y, uint32_t color, uint32_t alpha) noexcept {
        if (static_cast<unsigned>(x) >= WIDTH || y < first_row || y >= HEIGHT) return;
        uint32_t& pixel = row(y)[x];
        pixel = blend(pixel, color, alpha);
    }

    void span(int a, int b, int y, uint32_t color) noexcept {
        if (y < first_row || y >= HEIGHT) return;
        if (b < a) std::swap(a, b);
        a = std::max(a, 0);
        b = std::min(b, WIDTH - 1);
        if (a <= b) set(row(y) + a, b - a + 1, color);
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
            for (int k = std::max(y, first_row); k <= end_y; ++k) row(k)[x] = color;
            return;
        }
        if (dy == 0) {
            span(x, end_x, y, color);
            return;
        }
        if (y1 >= first_row) row(y1)[x1] = color;
        const bool steep = dy > dx;
        const uint32_t step = static_cast<uint32_t>(steep ? (dx << 16) / dy : (dy << 16) / dx) << 16;
        uint32_t sum = 0;
        for (int n = (steep ? dy : dx) - 1; n > 0; --n) {
            const uint32_t before = sum;
            sum += step;
            if (sum <= before) {
                if (steep)
                    x += direction;
                else
                    ++y;
            }
            if (steep)
                ++y;
            else
                x += direction;
            const uint32_t weight = sum >> 24;
            mix(x, y, color, (255 * (255 - weight)) >> 8);
            if (steep)
                mix(x + direction, y, color, (255 * weight) >> 8);
            else
                mix(x, y + 1, color, (255 * weight) >> 8);
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
            for (int k = 0; k + 1 < m; k += 2) {
                const int a = at[k] + 1, b = at[k + 1] - 1;
                span(static_cast<int16_t>((a >> 16) + ((a & 32768) >> 15)),
                     static_cast<int16_t>((b >> 16) + ((b & 32768) >> 15)), r, color);
            }
        }
    }

    std::vector<uint32_t> pixels = std::vector<uint32_t>(static_cast<size_t>(WIDTH) * HEIGHT);
    std::vector<uint32_t> narrow = std::vector<uint32_t>(static_cast<size_t>(SMALL) * HEIGHT);
    int first_row = 0;
    bool flipped = false;
};

}  // namespace cypool::box2d
