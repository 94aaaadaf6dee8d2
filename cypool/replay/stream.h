// Copies to memory that is not read soon, past the caches, so that they keep the data of environments.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace cypool {

// Other threads see the bytes after `end_of_streams`.
inline void stream(char* out, const char* source, size_t size) noexcept {
#ifdef __SSE2__
    constexpr size_t kLine = 64, kWord = sizeof(__m128i);
    // up to where lines begin
    size_t done = -reinterpret_cast<uintptr_t>(out) % kLine;
    if (size < 4 * kLine) {
        done = size;
    }
    std::memcpy(out, source, done);
    for (; done + kLine <= size; done += kLine) {
        for (size_t k = 0; k < kLine; k += kWord) {
            const __m128i word = _mm_loadu_si128(reinterpret_cast<const __m128i*>(source + done + k));
            _mm_stream_si128(reinterpret_cast<__m128i*>(out + done + k), word);
        }
    }
    std::memcpy(out + done, source + done, size - done);
#else
    std::memcpy(out, source, size);
#endif
}

inline void end_of_streams() noexcept {
#ifdef __SSE2__
    _mm_sfence();
#endif
}

}  // namespace cypool
