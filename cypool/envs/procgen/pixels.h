// Images of the library onto a picture of 64 x 64 pixels, as its painter shows them: of each pixel the one that is
// nearest. Pixels are 0xAARRGGBB, with colours multiplied by alpha.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "cypool/envs/procgen/layout.h"

// the library needs AVX anyway
#pragma GCC push_options
#pragma GCC optimize("O3")
#if defined(__x86_64__)
#pragma GCC target("avx")
#endif

namespace cypool::procgen {

struct RectF {
    double x, y, w, h;

    bool operator==(const RectF&) const = default;
};

// The library's QImage, as far as it is read here.
struct Image {
    enum Format : int { OPAQUE = 4, PLAIN = 5, PREMULTIPLIED = 6 };  // 32 bits a pixel
    struct Data {
        int references, width, height, depth;
        char unused[24];
        const uint8_t* bits;
        Format format;
        int unused_too;
        int bytes_per_line;

        const uint32_t* row(int64_t y) const { return reinterpret_cast<const uint32_t*>(bits + y * bytes_per_line); }
    };
    char unused[24];
    const Data* data;
};
static_assert(offsetof(Image::Data, bits) == 40 && offsetof(Image::Data, bytes_per_line) == 56);

inline int nearest(double value) { return static_cast<int>(std::floor(value + 0.5)); }

// The pixels from `first` to before `last` show those of an image of `size` pixels: the k-th from `first` on shows
// (start + k * step) >> 16.
struct Span {
    // Sprites at full opacity have the fraction of a step, all other images have not.
    enum Rounding : int { FRACTION, WHOLE };

    int first = 0, last = 0;
    int64_t start = 0, step = 0;

    Span() = default;

    Span(double from, double length, int size, Rounding rounding) {
        if (length == 0) return;
        const auto [low, high] = std::minmax({nearest(from), nearest(from + length)});
        first = std::max(low, 0);
        last = std::min(high, int{SIDE});
        if (first >= last) return;
        // from its left edge, which is the end of a mirrored image
        const double middle = first + 0.5 - std::min(from, from + length);
        if (length < 0) {
            step = whole(65536 / (length / size));
            start = (int64_t{size} << 16) + whole(std::ceil(middle * static_cast<double>(step)));
        } else if (rounding == FRACTION) {
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

    int size() const { return last - first; }
    // The same within low to before high.
    Span within(int low, int high) const {
        Span found = *this;
        if (first < low) found.start += (low - first) * step, found.first = low;
        found.last = std::min(last, high);
        return found;
    }
    // The same of an image that is mirrored.
    Span mirrored(int size) const {
        Span found = *this;
        found.start = (int64_t{size} << 16) - 1 - start;
        found.step = -step;
        return found;
    }

private:
    static bool is_within(int64_t position, int size) { return position >= 0 && position >> 16 < size; }
    // of an image that is far larger than its pixels only one is seen, if any
    static int64_t whole(double value) { return static_cast<int64_t>(std::clamp(value, -1e15, 1e15)); }
};

// Each of four bytes times a / 255, rounded.
inline uint32_t scaled(uint32_t pixel, uint32_t a) {
    uint32_t even = (pixel & 0xff00ff) * a, odd = ((pixel >> 8) & 0xff00ff) * a;
    even = ((even + ((even >> 8) & 0xff00ff) + 0x800080) >> 8) & 0xff00ff;
    odd = (odd + ((odd >> 8) & 0xff00ff) + 0x800080) & 0xff00ff00;
    return even | odd;
}
inline uint32_t over(uint32_t pixel, uint32_t below) { return pixel + scaled(below, 255 - (pixel >> 24)); }

// An opaque image that is as wide as the picture wherever it is shown: 64 of its columns are ever seen, and these are
// next to each other here. It is made once in a process, so the image must live as long.
class Columns {
public:
    static const Image::Data& of(const Image::Data& image) {
        static std::mutex one_at_a_time;
        static auto& known = *new std::map<const uint8_t*, Columns>;
        const std::lock_guard<std::mutex> lock(one_at_a_time);
        return known.try_emplace(image.bits, image).first->second.data_;
    }

    explicit Columns(const Image::Data& image) : pixels_(size_t{SIDE} * image.height), data_(image) {
        const Span across(0, SIDE, image.width, Span::WHOLE);
        for (int y = 0; y < image.height; ++y) {
            for (int x = 0; x < SIDE; ++x) {
                pixels_[y * SIDE + x] = image.row(y)[(across.start + x * across.step) >> 16];
            }
        }
        data_.bits = reinterpret_cast<const uint8_t*>(pixels_.data());
        data_.width = SIDE;
        data_.bytes_per_line = SIDE * sizeof(uint32_t);
    }

private:
    std::vector<uint32_t> pixels_;
    Image::Data data_;
};

// ---- what is drawn on ----------------------------------------------------------------------------------------------

struct Canvas {
    enum : int { OPAQUE = 256 };  // the greatest opacity

    uint32_t* pixels = nullptr;
    int left = 0, right = SIDE, top = 0, bottom = SIDE;  // nothing is drawn outside

    // Inlined: a compiler then uses vectors where the whole picture is filled, a tenth of the instructions of a step.
    [[gnu::always_inline]] void fill(const RectF& place, uint32_t color) const {
        const auto [low_x, high_x] = std::minmax({nearest(place.x), nearest(place.x + place.w)});
        const auto [low_y, high_y] = std::minmax({nearest(place.y), nearest(place.y + place.h)});
        const int first = std::max(low_x, left), last = std::min(high_x, right);
        for (int y = std::max(low_y, top); y < std::min(high_y, bottom); ++y) {
            for (int x = first; x < last; ++x) pixels[y * SIDE + x] = color;
        }
    }

    static Span::Rounding rounding_of(const Image::Data& image, int opacity) {
        return image.format != Image::OPAQUE && opacity == OPAQUE ? Span::FRACTION : Span::WHOLE;
    }
    // Shows an image in a rectangle.
    void copy(const Image::Data& image, const RectF& to, int opacity, bool is_mirrored) const {
        if (image.format == Image::PLAIN) return copy_plain(image, to, opacity, is_mirrored);
        const Span::Rounding rounding = rounding_of(image, opacity);
        const Span across(to.x, to.w, image.width, rounding), down(to.y, to.h, image.height, rounding);
        copy(image, is_mirrored ? across.mirrored(image.width) : across, down, opacity);
    }
    // The same where these spans are.
    void copy(const Image::Data& image, Span across, Span down, int opacity) const {
        across = across.within(left, right);
        down = down.within(top, bottom);
        if (across.first >= across.last) return;
        const uint32_t alpha = static_cast<uint32_t>(opacity * 255 >> 8);
        if (across.size() <= NARROW && has_avx2) return copy_narrow(image, across, down, alpha);
        int64_t from_y = down.start;
        for (int y = down.first; y < down.last; ++y, from_y += down.step) {
            if (y + AHEAD < down.last) fetch_ahead(image.row((from_y + AHEAD * down.step) >> 16), across);
            const uint32_t* const from = image.row(from_y >> 16);
            uint32_t* const row = pixels + y * SIDE;
            int64_t from_x = across.start;
            if (image.format == Image::OPAQUE && across.step == 1 << 16) {
                std::memcpy(row + across.first, from + (from_x >> 16), sizeof *row * across.size());
            } else if (image.format == Image::OPAQUE) {
                for (int x = across.first; x < across.last; ++x, from_x += across.step) row[x] = from[from_x >> 16];
            } else {
                for (int x = across.first; x < across.last; ++x, from_x += across.step) {
                    const uint32_t pixel = from[from_x >> 16];
                    row[x] = over(alpha == 255 ? pixel : scaled(pixel, alpha), row[x]);
                }
            }
        }
    }
    // Shows an image in a rectangle that is turned around its middle.
    void turn(const Image::Data& image, const RectF& to, double sine, double cosine, int opacity,
              bool is_mirrored) const {
        struct Corner {
            double x, y, u, v;  // in the picture, and in the image
        };
        const double middle_x = to.x + to.w / 2, middle_y = to.y + to.h / 2;
        auto corner = [&](double x, double y, int u, int v) {
            return Corner{cosine * x - sine * y + middle_x, sine * x + cosine * y + middle_y, double(u), double(v)};
        };
        const double low_x = -to.w / 2, low_y = -to.h / 2, high_x = low_x + to.w, high_y = low_y + to.h;
        Corner at[] = {corner(low_x, low_y, 0, 0), corner(high_x, low_y, image.width, 0),
                       corner(high_x, high_y, image.width, image.height), corner(low_x, high_y, 0, image.height)};
        // from the highest one on, the left one first
        std::rotate(at, std::min_element(at, at + 4, [](auto& one, auto& other) { return one.y < other.y; }), at + 4);
        if ((at[1].x - at[0].x) * (at[3].y - at[0].y) - (at[3].x - at[0].x) * (at[1].y - at[0].y) > 0) {
            std::swap(at[1], at[3]);
        }
        const Corner one = {at[1].x - at[0].x, at[1].y - at[0].y, at[1].u - at[0].u, at[1].v - at[0].v};
        const Corner two = {at[2].x - at[0].x, at[2].y - at[0].y, at[2].u - at[0].u, at[2].v - at[0].v};
        const double area = one.x * two.y - one.y * two.x;
        if (area == 0) return;
        const double part = 1.0 / area;
        // the place in the image of a pixel, in 16.16 numbers
        const double u_x = (one.u * two.y - one.y * two.u) * part, u_y = (one.x * two.u - one.u * two.x) * part;
        const double v_x = (one.v * two.y - one.y * two.v) * part, v_y = (one.x * two.v - one.v * two.x) * part;
        const double u = at[0].u - u_x * at[0].x - u_y * at[0].y, v = at[0].v - v_x * at[0].x - v_y * at[0].y;
        const uint32_t first_u = fixed_before(0.5 * u_x + 0.5 * u_y + u),
                       first_v = fixed_before(0.5 * v_x + 0.5 * v_y + v);
        // between two heights of corners the left and the right edge are straight
        auto draw = [&](const Corner& left_top, const Corner& left_bottom, const Corner& right_top,
                        const Corner& right_bottom, double from, double until) {
            const int first = std::max(nearest(from), top), last = std::min(nearest(until), bottom);
            if (first >= last) return;
            const double left_slope = (left_bottom.x - left_top.x) / (left_bottom.y - left_top.y);
            const double right_slope = (right_bottom.x - right_top.x) / (right_bottom.y - right_top.y);
            uint32_t left_edge = fixed(left_top.x + (0.5 + first - left_top.y) * left_slope + 0.5);
            uint32_t right_edge = fixed(right_top.x + (0.5 + first - right_top.y) * right_slope + 0.5);
            for (int y = first; y < last; ++y) {
                const int x = std::max(pixel_of(left_edge), left), end = std::min(pixel_of(right_edge), right);
                const Position at = {x * fixed(u_x) + y * fixed(u_y) + first_u,
                                     x * fixed(v_x) + y * fixed(v_y) + first_v, fixed(u_x), fixed(v_x)};
                draw_row(image, y, x, end, at, opacity, is_mirrored);
                left_edge += fixed(left_slope);
                right_edge += fixed(right_slope);
            }
        };
        const bool is_left_first = at[1].y < at[3].y;
        const double upper = is_left_first ? at[1].y : at[3].y, lower = is_left_first ? at[3].y : at[1].y;
        draw(at[0], at[1], at[0], at[3], at[0].y, upper);
        is_left_first ? draw(at[1], at[2], at[0], at[3], upper, lower) : draw(at[0], at[1], at[3], at[2], upper, lower);
        draw(at[1], at[2], at[3], at[2], lower, at[2].y);
    }

private:
    // A position in an image, and the step from a pixel to the next one: 16.16 numbers, which may wrap around.
    struct Position {
        uint32_t u, v, u_step, v_step;
    };

    // The nearest 16.16 number towards 0; beyond their range the result of a CPU.
    static uint32_t fixed(double value) { return whole(value * 65536); }
    static uint32_t fixed_before(double value) { return whole(std::ceil(value * 65536)) - 1; }
    static uint32_t whole(double value) {
        return value > -0x1p31 && value < 0x1p31 ? static_cast<uint32_t>(static_cast<int>(value)) : 0x80000000u;
    }
    static int pixel_of(uint32_t fixed) { return static_cast<int>(fixed) >> 16; }
    // Shows pixels of an image in a row; its edges continue beyond it.
    void draw_row(const Image::Data& image, int y, int first, int last, Position at, int opacity,
                  bool is_mirrored) const {
        const uint32_t alpha = static_cast<uint32_t>(opacity * 255 >> 8);
        for (int x = first; x < last; ++x, at.u += at.u_step, at.v += at.v_step) {
            const int u = std::clamp(pixel_of(at.u), 0, image.width - 1);
            const int v = std::clamp(pixel_of(at.v), 0, image.height - 1);
            uint32_t pixel = image.row(v)[is_mirrored ? image.width - 1 - u : u];
            if (image.format == Image::PLAIN) pixel = scaled(pixel | 0xff000000u, pixel >> 24);
            if (x < left || x >= right) continue;
            uint32_t& below = pixels[y * SIDE + x];
            below = over(alpha == 255 ? pixel : scaled(pixel, alpha), below);
        }
    }
    // An image whose colours are not multiplied by alpha goes another way through the library, with its own rounding.
    void copy_plain(const Image::Data& image, const RectF& to, int opacity, bool is_mirrored) const {
        const double scale_x = to.w / image.width, scale_y = to.h / image.height, moved = 1.0 / 65536;
        const double part_x = 1 / scale_x, part_y = 1 / scale_y;
        const double u = -(moved * scale_x + to.x) * part_x, v = -(moved * scale_y + to.y) * part_y;
        const auto [low_x, high_x] = std::minmax({nearest(to.x), nearest(to.x + to.w)});
        const auto [low_y, high_y] = std::minmax({nearest(to.y), nearest(to.y + to.h)});
        const int first = std::max(low_x, 0), last = std::min(high_x, int{SIDE});
        for (int y = std::max(low_y, top); y < std::min(high_y, bottom); ++y) {
            const Position at = {fixed(part_x * (first + 0.5) + u), fixed(part_y * (y + 0.5) + v), fixed(part_x), 0u};
            draw_row(image, y, first, last, at, opacity, is_mirrored);
        }
    }

    enum : int { NARROW = 24, AHEAD = 4 };

#if defined(__x86_64__)
    static inline const bool has_avx2 = __builtin_cpu_supports("avx2");
#else
    static constexpr bool has_avx2 = false;
#endif

    // With many games no background stays in the cache: its rows are asked for in time. Inlined, because a compiler may
    // take a function that only asks for one that does nothing.
    [[gnu::always_inline]] static void fetch_ahead(const uint32_t* row, const Span& across) {
        const int64_t one = across.start >> 16, other = (across.start + (across.size() - 1) * across.step) >> 16;
        const uint32_t* const end = row + std::max(one, other);
        for (const uint32_t* each = row + std::min(one, other); each <= end; each += 16) __builtin_prefetch(each);
    }

#if defined(__x86_64__)
    // Each of 32 bytes times a / 255, as `scaled`; `a` is in all of the 16-bit numbers of a pixel.
    __attribute__((target("avx2"))) static __m256i scaled_eight(__m256i pixels, __m256i a) {
        const __m256i low = _mm256_set1_epi16(255), half = _mm256_set1_epi16(128);
        __m256i even = _mm256_mullo_epi16(_mm256_and_si256(pixels, low), a);
        __m256i odd = _mm256_mullo_epi16(_mm256_srli_epi16(pixels, 8), a);
        even = _mm256_add_epi16(_mm256_add_epi16(even, _mm256_srli_epi16(even, 8)), half);
        odd = _mm256_add_epi16(_mm256_add_epi16(odd, _mm256_srli_epi16(odd, 8)), half);
        return _mm256_or_si256(_mm256_srli_epi16(even, 8), _mm256_andnot_si256(low, odd));
    }
    // Eight columns at a time, without a branch for a pixel or the length of a row.
    __attribute__((target("avx2"))) void copy_narrow(const Image::Data& image, const Span& across, const Span& down,
                                                     uint32_t alpha) const {
        const __m256i lanes = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7), all = _mm256_set1_epi16(255);
        const __m256i part = _mm256_set1_epi16(static_cast<short>(alpha));
        // where there is more than one column, positions and steps are within the image
        const __m256i step = _mm256_set1_epi32(static_cast<int>(across.step));
        for (int k = 0; k < across.size(); k += 8) {
            const int64_t start = across.start + k * across.step;
            const __m256i columns = _mm256_srai_epi32(
                _mm256_add_epi32(_mm256_set1_epi32(static_cast<int>(start)), _mm256_mullo_epi32(lanes, step)), 16);
            const __m256i wanted = _mm256_cmpgt_epi32(_mm256_set1_epi32(across.size() - k), lanes);
            int64_t from_y = down.start;
            int* to = reinterpret_cast<int*>(pixels + down.first * SIDE + across.first + k);
            for (int y = down.first; y < down.last; ++y, from_y += down.step, to += SIDE) {
                const int* const from = reinterpret_cast<const int*>(image.row(from_y >> 16));
                __m256i found = _mm256_mask_i32gather_epi32(_mm256_setzero_si256(), from, columns, wanted, 4);
                if (image.format != Image::OPAQUE) {
                    if (alpha != 255) found = scaled_eight(found, part);
                    // 255 - alpha in both halves of each pixel
                    __m256i rest = _mm256_srli_epi32(found, 24);
                    rest = _mm256_sub_epi16(all, _mm256_or_si256(rest, _mm256_slli_epi32(rest, 16)));
                    found = _mm256_add_epi32(found, scaled_eight(_mm256_maskload_epi32(to, wanted), rest));
                }
                _mm256_maskstore_epi32(to, wanted, found);
            }
        }
    }
#else
    void copy_narrow(const Image::Data&, const Span&, const Span&, uint32_t) const {}
#endif
};

}  // namespace cypool::procgen

#pragma GCC pop_options
