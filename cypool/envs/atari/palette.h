// Turns two frames of palette bytes into one gray image: table lookup, then the larger of the two.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#if defined(__GNUC__) && defined(__x86_64__)
#define CYPOOL_PALETTE_AVX2 1
#include <immintrin.h>
#endif

namespace cypool {

// Const once built: any number of threads may share one object.
class PaletteMax {
public:
    // table: 256 entries, copied. simd: 0 keeps to the portable code, 1 to AVX2; all give the same bytes.
    explicit PaletteMax(const std::uint8_t* table, int simd = 2) noexcept {
        std::memcpy(table_, table, sizeof table_);
#ifdef CYPOOL_PALETTE_AVX2
        avx512_ = simd > 1 && __builtin_cpu_supports("avx512vbmi") && __builtin_cpu_supports("avx512bw");
        avx2_ = simd > 0 && __builtin_cpu_supports("avx2");
        for (int i = 0; i < 128; ++i) {
            const int before = i < 16 ? 0 : table[2 * (i - 16)];
            step_[i / 16][i % 16] = static_cast<std::uint8_t>(table[2 * i] ^ before);
        }
#else
        static_cast<void>(simd);
#endif
    }

    // out[i] = max(table[a[i]], table[b[i]]) for i < count; out may be a or b itself, but must not
    // overlap them otherwise
    void operator()(const std::uint8_t* a, const std::uint8_t* b, std::size_t count, std::uint8_t* out) const noexcept {
#ifdef CYPOOL_PALETTE_AVX2
        if (avx512_) return pool_avx512(a, b, count, out);
        if (avx2_) return pool_avx2(a, b, count, out);
#endif
        pool(a, b, count, out);
    }

private:
    void pool(const std::uint8_t* a, const std::uint8_t* b, std::size_t count, std::uint8_t* out) const noexcept {
        for (std::size_t i = 0; i < count; ++i) out[i] = std::max(table_[a[i]], table_[b[i]]);
    }

#ifdef CYPOOL_PALETTE_AVX2
    // one row of an Atari frame: whether both frames agree, and whether odd bytes occur, is decided by piece
    static constexpr std::size_t kPiece = 160;

    __attribute__((target("avx2"), always_inline)) static inline __m256i load(const std::uint8_t* at) noexcept {
        return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(at));
    }

    __attribute__((target("avx2"), always_inline)) static inline void store(std::uint8_t* at, __m256i bytes) noexcept {
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(at), bytes);
    }

    // adds the changes of 16 further entries, in those bytes whose index has not turned negative yet
    __attribute__((target("avx2"), always_inline)) static inline void pass(__m256i& gray, __m256i& index,
                                                                           __m256i step) noexcept {
        index = _mm256_sub_epi8(index, _mm256_set1_epi8(16));
        gray = _mm256_xor_si256(gray, _mm256_shuffle_epi8(step, index));
    }

    // 32 even bytes; the index is half the byte. Written out, as -O2 would leave a loop and its loads in place
    __attribute__((target("avx2"), always_inline)) static inline __m256i look_up(__m256i bytes,
                                                                                 const __m256i* step) noexcept {
        __m256i index = _mm256_srli_epi16(bytes, 1);
        __m256i gray = _mm256_shuffle_epi8(step[0], index);
        pass(gray, index, step[1]);
        pass(gray, index, step[2]);
        pass(gray, index, step[3]);
        pass(gray, index, step[4]);
        pass(gray, index, step[5]);
        pass(gray, index, step[6]);
        pass(gray, index, step[7]);
        return gray;
    }

    __attribute__((target("avx2"))) void pool_avx2(const std::uint8_t* a, const std::uint8_t* b, std::size_t count,
                                                   std::uint8_t* out) const noexcept {
        __m256i step[8];
        for (int i = 0; i < 8; ++i) {
            step[i] = _mm256_broadcastsi128_si256(_mm_loadu_si128(reinterpret_cast<const __m128i*>(step_[i])));
        }
        std::size_t done = 0;
        for (; count - done >= kPiece; done += kPiece) {
            const std::uint8_t* a_piece = a + done;
            const std::uint8_t* b_piece = b + done;
            __m256i all = _mm256_setzero_si256();
            __m256i differing = _mm256_setzero_si256();
            for (std::size_t i = 0; i < kPiece; i += 32) {
                const __m256i a_bytes = load(a_piece + i);
                const __m256i b_bytes = load(b_piece + i);
                all = _mm256_or_si256(all, _mm256_or_si256(a_bytes, b_bytes));
                differing = _mm256_or_si256(differing, _mm256_xor_si256(a_bytes, b_bytes));
            }
            if (!_mm256_testz_si256(all, _mm256_set1_epi8(1))) {
                // PAL colour loss and cut frames give odd bytes
                pool(a_piece, b_piece, kPiece, out + done);
                continue;
            }
            // two frames are mostly the same: one lookup does
            if (_mm256_testz_si256(differing, differing)) {
                for (std::size_t i = 0; i < kPiece; i += 32) store(out + done + i, look_up(load(a_piece + i), step));
            } else {
                for (std::size_t i = 0; i < kPiece; i += 32) {
                    store(out + done + i,
                          _mm256_max_epu8(look_up(load(a_piece + i), step), look_up(load(b_piece + i), step)));
                }
            }
        }
        pool(a + done, b + done, count - done, out + done);
    }

    // the table is in four registers, and an instruction looks 64 bytes up in two of them
    __attribute__((target("avx512bw,avx512vbmi"), always_inline)) static inline __m512i look_up(
        __m512i bytes, const __m512i* quarters) noexcept {
        const __m512i low = _mm512_permutex2var_epi8(quarters[0], bytes, quarters[1]);
        const __m512i high = _mm512_permutex2var_epi8(quarters[2], bytes, quarters[3]);
        return _mm512_mask_blend_epi8(_mm512_movepi8_mask(bytes), low, high);
    }

    __attribute__((target("avx512bw,avx512vbmi"))) void pool_avx512(const std::uint8_t* a, const std::uint8_t* b,
                                                                    std::size_t count,
                                                                    std::uint8_t* out) const noexcept {
        __m512i quarters[4];
        for (int i = 0; i < 4; ++i) quarters[i] = _mm512_loadu_si512(table_ + 64 * i);
        for (std::size_t done = 0; done < count; done += 64) {
            const std::size_t left = count - done;
            const __mmask64 some = left < 64 ? (std::uint64_t{1} << left) - 1 : ~std::uint64_t{0};
            const __m512i a_gray = look_up(_mm512_maskz_loadu_epi8(some, a + done), quarters);
            const __m512i b_gray = look_up(_mm512_maskz_loadu_epi8(some, b + done), quarters);
            _mm512_mask_storeu_epi8(out + done, some, _mm512_max_epu8(a_gray, b_gray));
        }
    }

    bool avx512_ = false, avx2_ = false;
    std::uint8_t step_[8][16];  // xor of each 16 even entries with the 16 before
#endif
    std::uint8_t table_[256];
};

}  // namespace cypool
