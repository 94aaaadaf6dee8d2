// Shrinks gray images exactly as OpenCV's resize with INTER_AREA does on x86-64, without OpenCV.
//
// Pixels are equal only where float operations are neither fused nor reordered:
// compile with -ffp-contract=off.
#pragma once

#ifdef __FAST_MATH__
#error "area_resize.h rounds as OpenCV does only without -ffast-math"
#endif

#include <algorithm>
#include <bit>
#include <cfloat>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#if defined(__GNUC__) && defined(__x86_64__)
#define CYPOOL_RESIZE_AVX2 1
#include <immintrin.h>
#endif

namespace cypool {

#ifdef CYPOOL_RESIZE_AVX2
[[gnu::target("avx2")]] inline __m256i load_halves(const std::uint8_t* low, const std::uint8_t* high) noexcept {
    return _mm256_loadu2_m128i(reinterpret_cast<const __m128i*>(high), reinterpret_cast<const __m128i*>(low));
}
#endif

// Built once, const afterwards: any number of threads may share one object. Calls allocate nothing.
class AreaShrink {
public:
    // Sizes are at least 1, none is enlarged, and planes have at most 2^23 pixels, so that 255 * pixels is an int.
    // simd = false keeps to the portable code, which gives the same pixels.
    AreaShrink(int height, int width, int out_height, int out_width, bool simd = true)
        : height_(height),
          width_(width),
          out_height_(out_height),
          out_width_(out_width) {
        const double scale_y = scale_of(height, out_height);
        const double scale_x = scale_of(width, out_width);
        if (height == out_height && width == out_width) {
            path_ = Path::copy;
        } else if (is_whole(scale_y) && is_whole(scale_x)) {
            factor_y_ = height / out_height;
            factor_x_ = width / out_width;
            path_ = factor_y_ == 2 && factor_x_ == 2 ? Path::halve : Path::whole;
        } else {
            path_ = Path::fraction;
            rows_ = Axis(height, out_height, scale_y);
            columns_ = windows(Axis(width, out_width, scale_x));
#ifdef CYPOOL_RESIZE_AVX2
            if (simd && __builtin_cpu_supports("avx2")) {
                // four taps of four columns mostly lie within 16 bytes; else each tap has its own
                sharing_ = plan(kSharing, lanes_) ? kSharing : 1;
                if (sharing_ == 1) plan(1, lanes_);
            }
            if (simd && __builtin_cpu_supports("avx512vbmi") && __builtin_cpu_supports("avx512bw")) {
                plan(kMaxWideTaps, wide_);
            }
#else
            static_cast<void>(simd);
#endif
        }
    }

    // plane: height x width bytes, out: out_height x out_width bytes, both without gaps; they must not overlap.
    // Nothing outside of the two is read or written.
    void operator()(const std::uint8_t* plane, std::uint8_t* out) const noexcept {
        switch (path_) {
            case Path::copy:
                std::memcpy(out, plane, static_cast<std::size_t>(height_) * static_cast<std::size_t>(width_));
                return;
            case Path::halve: return halve(plane, out);
            case Path::whole: return whole(plane, out);
            case Path::fraction: break;
        }
        // with the number of taps known, the compiler unrolls; to 84 columns Atari's 160 take 3, Doom's 320 take 5
        switch (columns_.taps) {
            case 1: return fraction<1>(plane, out);
            case 2: return fraction<2>(plane, out);
            case 3: return fraction<3>(plane, out);
            case 4: return fraction<4>(plane, out);
            case 5: return fraction<5>(plane, out);
            case 6: return fraction<6>(plane, out);
            default: return fraction_portable<0>(plane, out);
        }
    }

private:
    // OpenCV computes in three ways; which one depends on both axes together
    enum class Path { copy, halve, whole, fraction };

    // how much one source row or column adds to an output row or column
    struct Tap {
        int source;
        float weight;
    };

    // the taps of one axis; output i owns taps[first[i]] up to taps[first[i + 1]], at least one
    struct Axis {
        std::vector<Tap> taps;
        std::vector<int> first;

        Axis() = default;
        // every step in double, as OpenCV does it; only the weight is rounded to float
        Axis(int size, int out_size, double scale) {
            for (int i = 0; i < out_size; ++i) {
                first.push_back(static_cast<int>(taps.size()));
                const double begin = i * scale;
                const double end = begin + scale;
                const double cell = std::min(scale, size - begin);
                const int last = std::min(static_cast<int>(std::floor(end)), size - 1);
                const int whole = std::min(static_cast<int>(std::ceil(begin)), last);
                // slivers below a thousandth of a pixel are dropped
                if (whole - begin > 1e-3) taps.push_back({whole - 1, static_cast<float>((whole - begin) / cell)});
                for (int source = whole; source < last; ++source) {
                    taps.push_back({source, static_cast<float>(1.0 / cell)});
                }
                if (end - last > 1e-3) {
                    taps.push_back({last, static_cast<float>(std::min(std::min(end - last, 1.0), cell) / cell)});
                }
            }
            first.push_back(static_cast<int>(taps.size()));
        }
    };

    // the columns' taps, all of one length, so that the inner loop does not branch: output x reads the source
    // columns from begin[x] on. Weights of 0 fill up; they add a zero, which changes nothing
    struct Windows {
        int taps = 0;
        std::vector<int> begin;
        std::vector<float> weights;  // taps for each output column
    };

    Windows windows(const Axis& axis) const {
        Windows made;
        for (int x = 0; x < out_width_; ++x) made.taps = std::max(made.taps, axis.first[x + 1] - axis.first[x]);
        made.weights.resize(static_cast<std::size_t>(out_width_) * made.taps);
        for (int x = 0; x < out_width_; ++x) {
            // moved left where the window would leave the row
            const int begin = std::min(axis.taps[axis.first[x]].source, width_ - made.taps);
            made.begin.push_back(begin);
            for (int j = axis.first[x]; j < axis.first[x + 1]; ++j) {
                made.weights[x * made.taps + axis.taps[j].source - begin] = axis.taps[j].weight;
            }
        }
        return made;
    }

    // not simply size / out_size: OpenCV inverts the inverse, so that a factor of 49 is not whole, for one
    static double scale_of(int size, int out_size) { return 1.0 / (static_cast<double>(out_size) / size); }

    static bool is_whole(double scale) { return std::abs(scale - std::nearbyint(scale)) < DBL_EPSILON; }

    // half to even, as OpenCV: adding 1.5 * 2^23 leaves the rounded value in the low bits;
    // std::lrint would be a function call for each pixel
    static std::uint8_t round_to_byte(float value) noexcept {
        const std::uint32_t bits = std::bit_cast<std::uint32_t>(value + 12582912.0f) - 0x4b400000u;
        return static_cast<std::uint8_t>(std::min(bits, 255u));
    }

    const std::uint8_t* row_of(const std::uint8_t* plane, int row) const noexcept {
        return plane + static_cast<std::ptrdiff_t>(row) * width_;
    }

    // 2 x 2 pixels to one; here OpenCV rounds a half up
    void halve(const std::uint8_t* plane, std::uint8_t* out) const noexcept {
        for (int y = 0; y < out_height_; ++y) {
            const std::uint8_t* upper = row_of(plane, 2 * y);
            const std::uint8_t* lower = upper + width_;
            for (int x = 0; x < out_width_; ++x) {
                *out++ = static_cast<std::uint8_t>(
                    (upper[2 * x] + upper[2 * x + 1] + lower[2 * x] + lower[2 * x + 1] + 2) >> 2);
            }
        }
    }

    // whole factors: an exact sum, one multiplication, a half goes to even
    void whole(const std::uint8_t* plane, std::uint8_t* out) const noexcept {
        const float scale = 1.0f / static_cast<float>(factor_y_ * factor_x_);
        for (int y = 0; y < out_height_; ++y) {
            for (int x = 0; x < out_width_; ++x) {
                const std::uint8_t* cell = row_of(plane, y * factor_y_) + x * factor_x_;
                int sum = 0;
                for (int j = 0; j < factor_y_; ++j, cell += width_) {
                    for (int i = 0; i < factor_x_; ++i) sum += cell[i];
                }
                *out++ = round_to_byte(static_cast<float>(sum) * scale);
            }
        }
    }

    template <int kTaps> void fraction(const std::uint8_t* plane, std::uint8_t* out) const noexcept {
#ifdef CYPOOL_RESIZE_AVX2
        if constexpr (kTaps <= kMaxWideTaps) {
            if (!wide_.empty()) return fraction_avx512<kTaps>(plane, out);
        }
        if (!lanes_.empty()) {
            return sharing_ == 1 ? fraction_avx2<kTaps, 1>(plane, out) : fraction_avx2<kTaps, kSharing>(plane, out);
        }
#endif
        fraction_portable<kTaps>(plane, out);
    }

    // the order of the additions is OpenCV's: along a source row in tap order, then row by row.
    // kTaps = 0: the number is known at run time only
    template <int kTaps> void fraction_portable(const std::uint8_t* plane, std::uint8_t* out) const noexcept {
        // strips of columns keep the scratch on the stack for any width;
        // sums run over whole strips, as compilers vectorise only a fixed count at -O2
        constexpr int kStrip = 32;
        float line[kStrip] = {};
        float sum[kStrip];
        std::uint8_t rounded[kStrip];
        const int taps = kTaps == 0 ? columns_.taps : kTaps;
        for (int left = 0; left < out_width_; left += kStrip) {
            const int count = std::min(kStrip, out_width_ - left);
            const int* begin = columns_.begin.data() + left;
            const float* weights = columns_.weights.data() + static_cast<std::ptrdiff_t>(left) * taps;
            int filtered = -1;
            for (int y = 0; y < out_height_; ++y) {
                std::fill_n(sum, kStrip, 0.0f);
                for (int j = rows_.first[y]; j < rows_.first[y + 1]; ++j) {
                    // a source row shared by two output rows is filtered once
                    if (rows_.taps[j].source != filtered) {
                        filtered = rows_.taps[j].source;
                        const std::uint8_t* row = row_of(plane, filtered);
                        for (int x = 0; x < count; ++x) {
                            const std::uint8_t* pixels = row + begin[x];
                            float value = static_cast<float>(pixels[0]) * weights[x * taps];
                            for (int k = 1; k < taps; ++k)
                                value += static_cast<float>(pixels[k]) * weights[x * taps + k];
                            line[x] = value;
                        }
                    }
                    const float weight = rows_.taps[j].weight;
                    for (int x = 0; x < kStrip; ++x) sum[x] += weight * line[x];
                }
                for (int x = 0; x < kStrip; ++x) rounded[x] = round_to_byte(sum[x]);
                std::uint8_t* target = out + static_cast<std::ptrdiff_t>(y) * out_width_ + left;
                std::memcpy(target, rounded, static_cast<std::size_t>(count));
            }
        }
    }

#ifdef CYPOOL_RESIZE_AVX2
    static constexpr int kMaxWideTaps = 3;
    static constexpr int kSharing = 4;

    // output columns in groups, each fed from neighbouring source bytes
    template <int kColumns, int kGroups, int kBytes, int kMaxTaps> struct Lanes {
        static constexpr int columns = kColumns, group = kColumns / kGroups, bytes = kBytes, max_taps = kMaxTaps;
        int base[kMaxTaps][kGroups];  // where the bytes of a group begin in the source row, for each tap
        int out_column;
        std::uint8_t pick[kMaxTaps][4 * kColumns];  // shuffle: tap k of each column, in the lowest of its 32 bits
        float weight[kMaxTaps][kColumns];
    };

    // plans with this number of taps from the same bytes; false, and none, where the vector code does not fit: small
    // images, or large factors
    template <class L> bool plan(int sharing, std::vector<L>& planned) const {
        if (width_ < L::bytes || out_width_ < L::columns || columns_.taps > L::max_taps) return false;
        for (int x = 0; x < out_width_; x += L::columns) {
            L& lanes = planned.emplace_back();
            // the last ones may overlap those before: whole stores only, and none past the end
            lanes.out_column = std::min(x, out_width_ - L::columns);
            std::memset(lanes.pick, 0x80, sizeof lanes.pick);
            for (int lane = 0; lane < L::columns; ++lane) {
                const int column = lanes.out_column + lane;
                for (int k = 0; k < columns_.taps; ++k) {
                    int& base = lanes.base[k][lane / L::group];
                    // moved left where the bytes would leave the row
                    if (lane % L::group == 0) {
                        base = std::min(columns_.begin[column] + k - k % sharing, width_ - L::bytes);
                    }
                    const int offset = columns_.begin[column] + k - base;
                    if (offset >= L::bytes) {
                        planned.clear();
                        return false;
                    }
                    lanes.pick[k][4 * lane] = static_cast<std::uint8_t>(offset);
                    lanes.weight[k][lane] = columns_.weights[column * columns_.taps + k];
                }
            }
        }
        return true;
    }

    // as fraction_avx2(), sixteen columns at a time
    template <int kTaps>
    __attribute__((target("avx512bw,avx512vbmi"))) void fraction_avx512(const std::uint8_t* plane,
                                                                        std::uint8_t* out) const noexcept {
        const Tap* taps = rows_.taps.data();
        const int* first = rows_.first.data();
        const std::ptrdiff_t width = width_;
        const std::ptrdiff_t out_width = out_width_;
        const int out_height = out_height_;
        constexpr __mmask16 all = 0xFFFF;  // gcc 12 warns of what the functions without a mask leave undefined
        for (const auto& lanes : wide_) {
            __m512i pick[kTaps];
            __m512 weight[kTaps];
            for (int k = 0; k < kTaps; ++k) {
                pick[k] = _mm512_loadu_si512(lanes.pick[k]);
                weight[k] = _mm512_loadu_ps(lanes.weight[k]);
            }
            __m512 line = _mm512_setzero_ps();
            int filtered = -1;
            const std::uint8_t* const source = plane + lanes.base[0][0];
            std::uint8_t* target = out + lanes.out_column;
            for (int y = 0; y < out_height; ++y, target += out_width) {
                __m512 sum = _mm512_setzero_ps();
                for (int j = first[y]; j < first[y + 1]; ++j) {
                    if (taps[j].source != filtered) {
                        filtered = taps[j].source;
                        const __m512i bytes = _mm512_loadu_si512(source + filtered * width);
#pragma GCC unroll 8
                        for (int k = 0; k < kTaps; ++k) {
                            const __m512i picked = _mm512_maskz_permutexvar_epi8(0x1111111111111111, pick[k], bytes);
                            const __m512 product = _mm512_mul_ps(_mm512_maskz_cvtepi32_ps(all, picked), weight[k]);
                            line = k == 0 ? product : _mm512_add_ps(line, product);
                        }
                    }
                    sum = _mm512_add_ps(sum, _mm512_mul_ps(_mm512_set1_ps(taps[j].weight), line));
                }
                _mm_storeu_si128(reinterpret_cast<__m128i*>(target),
                                 _mm512_maskz_cvtusepi32_epi8(all, _mm512_maskz_cvtps_epi32(all, sum)));
            }
        }
    }

    // as fraction_portable(), eight columns at a time from top to bottom: sums and weights stay in registers
    template <int kTaps, int kShared>
    __attribute__((target("avx2"))) void fraction_avx2(const std::uint8_t* plane, std::uint8_t* out) const noexcept {
        const Tap* taps = rows_.taps.data();
        const int* first = rows_.first.data();
        // copied, as the compiler must assume that writing a pixel could change a member
        const std::ptrdiff_t width = width_;
        const std::ptrdiff_t out_width = out_width_;
        const int out_height = out_height_;
        for (const auto& lanes : lanes_) {
            __m256i pick[kTaps];
            __m256 weight[kTaps];
            for (int k = 0; k < kTaps; ++k) {
                pick[k] = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(lanes.pick[k]));
                weight[k] = _mm256_loadu_ps(lanes.weight[k]);
            }
            __m256 line = _mm256_setzero_ps();
            int filtered = -1;
            constexpr int kLoads = (kTaps + kShared - 1) / kShared;
            const std::uint8_t* low[kLoads];
            const std::uint8_t* high[kLoads];
            for (int k = 0; k < kLoads; ++k) {
                low[k] = plane + lanes.base[k * kShared][0];
                high[k] = plane + lanes.base[k * kShared][1];
            }
            std::uint8_t* target = out + lanes.out_column;
            for (int y = 0; y < out_height; ++y, target += out_width) {
                __m256 sum = _mm256_setzero_ps();
                for (int j = first[y]; j < first[y + 1]; ++j) {
                    if (taps[j].source != filtered) {
                        filtered = taps[j].source;
                        const std::ptrdiff_t row = filtered * width;
                        __m256i bytes = _mm256_setzero_si256();
#pragma GCC unroll 8
                        for (int k = 0; k < kTaps; ++k) {
                            if (k % kShared == 0) bytes = load_halves(low[k / kShared] + row, high[k / kShared] + row);
                            const __m256 pixels = _mm256_cvtepi32_ps(_mm256_shuffle_epi8(bytes, pick[k]));
                            const __m256 product = _mm256_mul_ps(pixels, weight[k]);
                            line = k == 0 ? product : _mm256_add_ps(line, product);
                        }
                    }
                    sum = _mm256_add_ps(sum, _mm256_mul_ps(_mm256_set1_ps(taps[j].weight), line));
                }
                const __m256i rounded = _mm256_cvtps_epi32(sum);
                const __m128i words =
                    _mm_packus_epi32(_mm256_castsi256_si128(rounded), _mm256_extracti128_si256(rounded, 1));
                _mm_storel_epi64(reinterpret_cast<__m128i*>(target), _mm_packus_epi16(words, words));
            }
        }
    }
#endif

    int height_, width_, out_height_, out_width_;
    int factor_y_ = 1, factor_x_ = 1;
    Path path_;
    Axis rows_;
    Windows columns_;
#ifdef CYPOOL_RESIZE_AVX2
    std::vector<Lanes<8, 2, 16, 6>> lanes_;
    std::vector<Lanes<16, 1, 64, kMaxWideTaps>> wide_;
    int sharing_ = 1;
#endif
};

}  // namespace cypool
