// Kernels for the vector instructions that the CPU has. They give the same bits: no sum is in another order.
#pragma once

#include <cstdint>
#include <cstring>

#define CYPOOL_INLINE inline __attribute__((always_inline))

namespace cypool::crafter {

enum class Simd { PLAIN, AVX2, AVX512 };

inline Simd best_simd() noexcept {
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq")
        && __builtin_cpu_supports("avx512vl")) {
        return Simd::AVX512;
    }
    if (__builtin_cpu_supports("avx2")) return Simd::AVX2;
#endif
    return Simd::PLAIN;
}
inline Simd simd = best_simd();

// Runs a kernel, a struct with a static member function `run<BYTES>` that is CYPOOL_INLINE, for vectors of BYTES.
template <class Kernel, class... Args> void run_plain(Args... args) { Kernel::template run<16>(args...); }
#if defined(__x86_64__)
template <class Kernel, class... Args> __attribute__((target("avx2"))) void run_avx2(Args... args) {
    Kernel::template run<32>(args...);
}
template <class Kernel, class... Args>
__attribute__((target("avx512f,avx512bw,avx512dq,avx512vl"))) void run_avx512(Args... args) {
    Kernel::template run<64>(args...);
}
#endif

template <class T, int BYTES> struct VectorOf {
    typedef T type __attribute__((vector_size(BYTES)));
};
template <class T, int BYTES> using Vector = typename VectorOf<T, BYTES>::type;

// From and to memory that need not be aligned.
template <class V> CYPOOL_INLINE V load_vector(const void* from) {
    V vector;
    std::memcpy(&vector, from, sizeof vector);
    return vector;
}
template <class V> CYPOOL_INLINE void store_vector(void* to, const V& vector) {
    std::memcpy(to, &vector, sizeof vector);
}

template <class Kernel, class... Args> void run(Args... args) {
#if defined(__x86_64__)
    if (simd == Simd::AVX512) return run_avx512<Kernel>(args...);
    if (simd == Simd::AVX2) return run_avx2<Kernel>(args...);
#endif
    run_plain<Kernel>(args...);
}

}  // namespace cypool::crafter
