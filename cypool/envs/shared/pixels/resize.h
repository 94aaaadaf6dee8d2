// Shrinks gray images exactly as OpenCV's resize with INTER_AREA or INTER_LINEAR does, without OpenCV.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "cypool/envs/shared/pixels/area_resize.h"

namespace cypool {

// Built once, const afterwards: any number of threads may share one object. Calls allocate nothing.
class Resize {
public:
    // Sizes are as those of AreaShrink: callers check that.
    // simd = false keeps to the portable code, which gives the same pixels.
    Resize(bool by_area, int height, int width, int out_height, int out_width, bool simd = true)
        : width_(width),
          out_height_(out_height),
          out_width_(out_width) {
        AreaShrink area(height, width, out_height, out_width, simd);
        // OpenCV copies pictures that keep their size, and takes the area of pictures that are halved both ways
        const bool same = height == out_height && width == out_width;
        const bool halved = height == 2 * out_height && width == 2 * out_width;
        if (by_area || same || halved) {
            area_ = std::move(area);
            return;
        }
        rows_ = axis(height, out_height);
        columns_ = axis(width, out_width);
#ifdef CYPOOL_RESIZE_AVX2
        if (simd && __builtin_cpu_supports("avx2")) plan_lanes();
#endif
    }

    // plane: height x width bytes, out: out_height x out_width bytes, both without gaps; they must not overlap.
    // Nothing outside of the two is read or written.
    void operator()(const std::uint8_t* plane, std::uint8_t* out) const noexcept {
        if (area_) return (*area_)(plane, out);
#ifdef CYPOOL_RESIZE_AVX2
        if (!lanes_.empty()) return shrink_avx2(plane, out);
#endif
        // strips of columns keep the scratch on the stack for any width
        constexpr int kStrip = 64;
        int upper[kStrip], lower[kStrip];
        for (int left = 0; left < out_width_; left += kStrip) {
            const int count = std::min(kStrip, out_width_ - left);
            for (int y = 0; y < out_height_; ++y) {
                const Tap& row = rows_[y];
                along(plane, row.first, left, count, upper);
                along(plane, row.second, left, count, lower);
                std::uint8_t* target = out + static_cast<std::ptrdiff_t>(y) * out_width_ + left;
                // each product is cut, not rounded, before they are added: so do OpenCV's vector instructions
                for (int x = 0; x < count; ++x) {
                    const int sum = (row.weight_first * upper[x] >> 16) + (row.weight_second * lower[x] >> 16);
                    target[x] = static_cast<std::uint8_t>((sum + 2) >> 2);
                }
            }
        }
    }

private:
    // an output row or column lies between two source ones; the weights add up to 2048
    struct Tap {
        int first, second;
        int weight_first, weight_second;
    };

    static std::vector<Tap> axis(int size, int out_size) {
        std::vector<Tap> taps;
        const double scale = 1.0 / (static_cast<double>(out_size) / size);
        for (int i = 0; i < out_size; ++i) {
            const float centre = static_cast<float>((i + 0.5) * scale - 0.5);
            const int first = std::clamp(static_cast<int>(std::floor(centre)), 0, size - 1);
            const float fraction = first == size - 1 ? 0.0f : centre - static_cast<float>(first);
            taps.push_back({first, std::min(first + 1, size - 1), fixed(1.0f - fraction), fixed(fraction)});
        }
        return taps;
    }

    // 11 bits, a half to even
    static int fixed(float weight) { return static_cast<int>(std::nearbyint(weight * 2048.0f)); }

    // a source row at the output's columns, with 7 bits behind the point
    void along(const std::uint8_t* plane, int row, int left, int count, int* line) const noexcept {
        const std::uint8_t* pixels = plane + static_cast<std::ptrdiff_t>(row) * width_;
        for (int x = 0; x < count; ++x) {
            const Tap& tap = columns_[left + x];
            line[x] = (pixels[tap.first] * tap.weight_first + pixels[tap.second] * tap.weight_second) >> 4;
        }
    }

#ifdef CYPOOL_RESIZE_AVX2
    // eight output columns: two halves of four, each fed from 16 neighbouring source bytes
    struct Lanes {
        int base[2];  // where the 16 bytes of a half begin in the source row
        int out_column;
        std::uint8_t pick[32];    // shuffle: both taps of each column, widened to 16 bits
        std::int16_t weight[16];  // of these
    };

    // leaves lanes_ empty where the vector code does not fit: small images, or factors of 5 and more
    void plan_lanes() {
        if (width_ < 16 || out_width_ < 8) return;
        std::vector<Lanes> planned;
        for (int x = 0; x < out_width_; x += 8) {
            Lanes lanes{};
            // the last eight may overlap those before: whole stores only, and none past the end
            lanes.out_column = std::min(x, out_width_ - 8);
            for (int lane = 0; lane < 8; ++lane) {
                const Tap& tap = columns_[lanes.out_column + lane];
                int& base = lanes.base[lane / 4];
                // moved left where the 16 bytes would leave the row
                if (lane % 4 == 0) base = std::min(tap.first, width_ - 16);
                if (tap.second - base > 15) return;
                const int offsets[4] = {tap.first - base, 0x80, tap.second - base, 0x80};
                for (int k = 0; k < 4; ++k) lanes.pick[4 * lane + k] = static_cast<std::uint8_t>(offsets[k]);
                lanes.weight[2 * lane] = static_cast<std::int16_t>(tap.weight_first);
                lanes.weight[2 * lane + 1] = static_cast<std::int16_t>(tap.weight_second);
            }
            planned.push_back(lanes);
        }
        lanes_ = std::move(planned);
    }

    // as along(), eight columns; the numbers fit into 16 bits
    __attribute__((target("avx2"), always_inline)) static inline __m128i along_avx2(const std::uint8_t* low,
                                                                                    const std::uint8_t* high,
                                                                                    __m256i pick,
                                                                                    __m256i weight) noexcept {
        const __m256i bytes = load_halves(low, high);
        const __m256i sums = _mm256_srai_epi32(_mm256_madd_epi16(_mm256_shuffle_epi8(bytes, pick), weight), 4);
        return _mm_packs_epi32(_mm256_castsi256_si128(sums), _mm256_extracti128_si256(sums, 1));
    }

    // eight columns at a time from top to bottom
    __attribute__((target("avx2"))) void shrink_avx2(const std::uint8_t* plane, std::uint8_t* out) const noexcept {
        const Tap* rows = rows_.data();
        // copied, as the compiler must assume that writing a pixel could change a member
        const std::ptrdiff_t width = width_;
        const std::ptrdiff_t out_width = out_width_;
        const int out_height = out_height_;
        const __m128i two = _mm_set1_epi16(2);
        for (const Lanes& lanes : lanes_) {
            const __m256i pick = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(lanes.pick));
            const __m256i weight = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(lanes.weight));
            const std::uint8_t* low = plane + lanes.base[0];
            const std::uint8_t* high = plane + lanes.base[1];
            std::uint8_t* target = out + lanes.out_column;
            for (int y = 0; y < out_height; ++y, target += out_width) {
                const std::ptrdiff_t first = rows[y].first * width;
                const std::ptrdiff_t second = rows[y].second * width;
                const __m128i upper = along_avx2(low + first, high + first, pick, weight);
                const __m128i lower = along_avx2(low + second, high + second, pick, weight);
                const __m128i sum =
                    _mm_add_epi16(_mm_mulhi_epi16(upper, _mm_set1_epi16(static_cast<short>(rows[y].weight_first))),
                                  _mm_mulhi_epi16(lower, _mm_set1_epi16(static_cast<short>(rows[y].weight_second))));
                const __m128i words = _mm_srai_epi16(_mm_add_epi16(sum, two), 2);
                _mm_storel_epi64(reinterpret_cast<__m128i*>(target), _mm_packus_epi16(words, words));
            }
        }
    }
#endif

    int width_, out_height_, out_width_;
    std::optional<AreaShrink> area_;
    std::vector<Tap> rows_, columns_;
#ifdef CYPOOL_RESIZE_AVX2
    std::vector<Lanes> lanes_;
#endif
};

}  // namespace cypool
