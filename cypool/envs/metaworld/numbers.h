// Meta-World's arithmetic: numbers as Python and NumPy have them, reward_utils, and SciPy's quaternion.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>

#include "cypool/envs/shared/numerics/numpy_math.h"

namespace cypool::metaworld {

// NumPy's functions, which are not the C library's; the module that includes this sets them
struct NumPy {
    double (*dot)(const double*, const double*, intptr_t);
    double (*log)(double);
    double (*exp)(double);
    double (*sin)(double);
    double (*cos)(double);
    double gaussian_scale;  // np.sqrt(-2 * np.log(0.1))
};
inline NumPy numpy_functions;

struct Vec3 {
    Vec3() : v{} {}
    Vec3(double x, double y, double z) : v{x, y, z} {}
    double v[3];
    double& operator[](int k) { return v[k]; }
    double operator[](int k) const { return v[k]; }
};
inline Vec3 at(const double* p) { return {p[0], p[1], p[2]}; }
inline Vec3 operator+(Vec3 a, Vec3 b) { return {a[0] + b[0], a[1] + b[1], a[2] + b[2]}; }
inline Vec3 operator-(Vec3 a, Vec3 b) { return {a[0] - b[0], a[1] - b[1], a[2] - b[2]}; }
inline Vec3 operator*(Vec3 a, Vec3 b) { return {a[0] * b[0], a[1] * b[1], a[2] * b[2]}; }

// np.linalg.norm; of one number it is not the absolute value where the square underflows
inline double norm(Vec3 a) { return std::sqrt(numpy_functions.dot(a.v, a.v, 3)); }
inline double norm(double x, double y) {
    const double a[] = {x, y};
    return std::sqrt(numpy_functions.dot(a, a, 2));
}
inline double norm(double x) { return std::sqrt(x * x); }
// np.clip; NaN stays
inline double clip(double x, double low, double high) { return std::clamp(x, low, high); }

// A number that knows its type. Python's float is weak: with a float32 it makes a float32, but a float64 with a float32
// makes a float64. So an action of float32 makes a reward float32 as soon as its last number enters it.
struct Number {
    enum Kind : uint8_t { WEAK, FLOAT32, FLOAT64 };
    Number(double value, Kind kind = WEAK) : v(value), kind(kind) {}
    double v;
    Kind kind;
};
template <class Operation> Number both(Number a, Number b, Operation operation) {
    if (a.kind == Number::FLOAT64 || b.kind == Number::FLOAT64) return {operation(a.v, b.v), Number::FLOAT64};
    if (a.kind == Number::FLOAT32 || b.kind == Number::FLOAT32)
        return {operation(static_cast<float>(a.v), static_cast<float>(b.v)), Number::FLOAT32};
    return {operation(a.v, b.v), Number::WEAK};
}
inline Number operator+(Number a, Number b) { return both(a, b, std::plus<>()); }
inline Number operator-(Number a, Number b) { return both(a, b, std::minus<>()); }
inline Number operator*(Number a, Number b) { return both(a, b, std::multiplies<>()); }
inline Number operator/(Number a, Number b) { return both(a, b, std::divides<>()); }

// where the package raises an error in a step
[[noreturn]] inline void complain(const char* what) {
    throw std::invalid_argument(std::string("the package has no reward for this state: ") + what);
}

enum Sigmoid { LONG_TAIL, GAUSSIAN };
// reward_utils.tolerance
inline double tolerance(double x, double low, double high, double margin, Sigmoid sigmoid = LONG_TAIL) {
    if (margin < 0) complain("a margin below 0");
    if (low <= x && x <= high) return 1.0;
    if (margin == 0) return 0.0;
    const double d = (x < low ? low - x : x - high) / margin;
    if (sigmoid == GAUSSIAN) return numpy_functions.exp(-0.5 * square(d * numpy_functions.gaussian_scale));
    return 1 / (square(d * 3.0) + 1);
}
// reward_utils.hamacher_product
inline Number hamacher(Number a, Number b) {
    if (!(0 <= a.v && a.v <= 1 && 0 <= b.v && b.v <= 1)) complain("a part of the reward is outside 0 to 1");
    const Number denominator = a + b - a * b;
    return denominator.v > 0 ? a * b / denominator : Number(0);
}
// reward_utils.rect_prism_tolerance
inline Number prism(Vec3 place, Vec3 zero, Vec3 one) {
    for (int k = 0; k < 3; ++k) {
        const double x = place[k], a = zero[k], b = one[k];
        if (!(b >= a ? a <= x && x <= b : b <= x && x <= a)) return 1.0;
    }
    const Vec3 diff = one - zero;
    return {(place[0] - zero[0]) / diff[0] * ((place[1] - zero[1]) / diff[1]) * ((place[2] - zero[2]) / diff[2]),
            Number::FLOAT64};
}

// scipy.spatial.transform.Rotation.from_matrix(m).as_quat() of a matrix that is orthogonal: x, y, z, w
inline void quaternion_of(const double* m, double* q) {
    const double trace = m[0] + m[4] + m[8], decision[] = {m[0], m[4], m[8], trace};
    int c = 0;
    for (int k = 1; k < 4; ++k)
        if (decision[k] > decision[c]) c = k;
    if (c < 3) {
        const int i = c, j = (i + 1) % 3, k = (j + 1) % 3;
        q[i] = 1 - trace + 2 * m[4 * i];
        q[j] = m[3 * j + i] + m[3 * i + j];
        q[k] = m[3 * k + i] + m[3 * i + k];
        q[3] = m[3 * k + j] - m[3 * j + k];
    } else {
        q[0] = m[7] - m[5], q[1] = m[2] - m[6], q[2] = m[3] - m[1], q[3] = 1 + trace;
    }
    const double length = std::sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
    for (int k = 0; k < 4; ++k) q[k] /= length;
}

}  // namespace cypool::metaworld
