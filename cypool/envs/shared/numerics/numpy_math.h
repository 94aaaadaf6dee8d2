// The results of `x ** 2` and `x % y` in Python and NumPy, bit for bit, and faster than the C library's pow and fmod.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace cypool {

// Through pointers: of pow(x, 2) the compiler makes x * x, which is rounded differently.
inline double (*volatile libc_pow)(double, double) = std::pow;
inline float (*volatile libc_powf)(float, float) = std::pow;

inline double square(double x) noexcept {
    // x * x as the sum of `rounded` and `error`, exactly, from the halves of x (Dekker)
    const double rounded = x * x;
    const double scaled = 134217729.0 * x;
    const double upper = scaled - (scaled - x), lower = x - upper;
    const double error = ((upper * upper - rounded) + 2 * upper * lower) + lower * lower;
    const double binade = std::bit_cast<double>(std::bit_cast<uint64_t>(rounded) & uint64_t{0x7FF} << 52);
    // pow is off by 0.04 units in the last place before it rounds: it rounds otherwise only near the middle between two
    // numbers. Away from there, which is nine times in ten, this is three times as fast
    if (std::fabs(error) < 0.45 * std::numeric_limits<double>::epsilon() * binade) return rounded;
    return libc_pow(x, 2.0);
}

inline float squaref(float x) noexcept {
    const double exact = static_cast<double>(x) * x;
    const float rounded = static_cast<float>(exact);
    const float binade = std::bit_cast<float>(std::bit_cast<uint32_t>(rounded) & uint32_t{0xFF} << 23);
    // as above; of all floats, powf rounds none otherwise that is farther than 0.002 from the middle
    if (std::fabs(exact - rounded) < 0.49 * std::numeric_limits<float>::epsilon() * binade) return rounded;
    return libc_powf(x, 2.0f);
}

// For y > 0; the result has its sign.
inline double remainder(double x, double y) noexcept {
    // a difference of two numbers that are within a factor of two is exact
    if (0 < x && x < y) return x;
    if (-y < x && x < 0) return x + y;
    if (y < x && x < 2 * y) return x - y;
    const double rest = std::fmod(x, y);
    if (rest == 0) return 0;
    return rest < 0 ? rest + y : rest;
}

}  // namespace cypool
