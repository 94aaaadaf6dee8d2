// Vectors of four or eight numbers, one for each environment: a lane. Where lanes differ, a mask chooses.
//
// Each lane does the operations of mj_step, in its order, and rounds each of them: the bits are MuJoCo's. So a sum must
// not be reordered, and no multiplication and addition may be fused.

#include <cmath>
#include <cstdint>
#include <cstring>
#include <utility>

#include <immintrin.h>

#include "cypool/envs/shared/lanes/target.h"

namespace cypool::lanes::CYPOOL_LANES {

inline constexpr int WIDTH = CYPOOL_LANES_WIDTH;
using Real = double __attribute__((vector_size(8 * WIDTH)));
using Mask = long __attribute__((vector_size(8 * WIDTH)));

#if CYPOOL_LANES_WIDTH == 8
CYPOOL_LANES_INLINE int bits(const Mask& m) { return _mm512_movepi64_mask(reinterpret_cast<__m512i>(m)); }
CYPOOL_LANES_INLINE Real sqrt(const Real& a) {
    return reinterpret_cast<Real>(_mm512_maskz_sqrt_pd(0xff, reinterpret_cast<__m512d>(a)));
}
#else
CYPOOL_LANES_INLINE int bits(const Mask& m) { return _mm256_movemask_pd(reinterpret_cast<__m256d>(m)); }
CYPOOL_LANES_INLINE Real sqrt(const Real& a) {
    return reinterpret_cast<Real>(_mm256_sqrt_pd(reinterpret_cast<__m256d>(a)));
}
#endif
// the numbers that a function has for each lane
template <class NumberOf> CYPOOL_LANES_INLINE Real gather(const NumberOf& number_of) {
    return [&]<int... L>(std::integer_sequence<int, L...>) {
        return Real{number_of(L)...};
    }(std::make_integer_sequence<int, WIDTH>());
}
CYPOOL_LANES_INLINE Real all(double x) {
    return gather([x](int) { return x; });
}
CYPOOL_LANES_INLINE Mask none() { return Mask{}; }
CYPOOL_LANES_INLINE bool any(const Mask& m) { return bits(m) != 0; }
CYPOOL_LANES_INLINE Real choose(const Mask& m, const Real& a, const Real& b) { return m ? a : b; }
CYPOOL_LANES_INLINE Real where(const Mask& m, const Real& a) {
    return reinterpret_cast<Real>(reinterpret_cast<Mask>(a) & m);
}
CYPOOL_LANES_INLINE Real abs(const Real& a) {
    return reinterpret_cast<Real>(reinterpret_cast<Mask>(a) & 0x7fffffffffffffffL);
}
CYPOOL_LANES_INLINE Real max(const Real& a, const Real& b) { return a > b ? a : b; }
CYPOOL_LANES_INLINE Real clip(const Real& a, const Real& low, const Real& high) {
    const Real above = a < low ? low : a;
    return above > high ? high : above;
}
CYPOOL_LANES_INLINE double* lanes_of(Real& v) { return reinterpret_cast<double*>(&v); }
CYPOOL_LANES_INLINE double& lane(Real& v, int k) { return reinterpret_cast<double*>(&v)[k]; }
CYPOOL_LANES_INLINE double lane(const Real& v, int k) { return reinterpret_cast<const double*>(&v)[k]; }
// the functions of the C library that MuJoCo itself calls
CYPOOL_LANES_INLINE void sincos(const Real& a, Real& s, Real& c) {
    for (int k = 0; k < WIDTH; ++k) {
        double sine, cosine;
        ::sincos(lane(a, k), &sine, &cosine);
        lane(s, k) = sine;
        lane(c, k) = cosine;
    }
}

}  // namespace cypool::lanes::CYPOOL_LANES

#pragma GCC pop_options
