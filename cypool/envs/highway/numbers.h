// Arithmetic with the bits of NumPy and of the BLAS that it was built with.
#pragma once

#include <cmath>
#include <cstdint>
#include <utility>

#include "cypool/envs/common/numpy_math.h"
#include "cypool/rng.h"

namespace cypool::highway {

// How a sum of two products is rounded: x0 * y0 + x1 * y1; with the second one fused into the sum; with the first one.
enum Rounding : int { PLAIN, SECOND_FUSED, FIRST_FUSED };

// What highway.pyx finds out of NumPy and Python when it is imported.
struct NumPy {
    // functions, where the C library gives other bits
    double (*sin)(double) = nullptr;
    double (*cos)(double) = nullptr;
    double (*tan)(double) = nullptr;
    double (*arctan)(double) = nullptr;
    double (*arcsin)(double) = nullptr;
    double (*arctan2)(double, double) = nullptr;
    double (*power)(double, double) = nullptr;
    double (*dot)(const double*, const double*, intptr_t) = nullptr;
    float (*dotf)(const float*, const float*, intptr_t) = nullptr;
    double (*normal)(const Rng*, double, double) = nullptr;  // Generator.normal
    int vector_dot = PLAIN;                                  // of two pairs; np.linalg.norm
    int matrix_vector = PLAIN;                               // 2 x 2 times a pair
    int matrix_matrix = PLAIN;                               // 2 x 2 times 2 x n
    bool compensated_sum = false;                            // Python 3.12 and later: sum() of floats
};
inline NumPy numpy;

constexpr double PI = 3.141592653589793;

// vehicles in the middle of a straight lane have zeros everywhere
inline double sin(double x) { return x == 0 ? x : numpy.sin ? numpy.sin(x) : std::sin(x); }
inline double cos(double x) { return x == 0 ? 1 : numpy.cos ? numpy.cos(x) : std::cos(x); }
inline double tan(double x) { return x == 0 ? x : numpy.tan ? numpy.tan(x) : std::tan(x); }
inline double arctan(double x) { return x == 0 ? x : numpy.arctan ? numpy.arctan(x) : std::atan(x); }
inline double arcsin(double x) { return x == 0 ? x : numpy.arcsin ? numpy.arcsin(x) : std::asin(x); }
inline double arctan2(double y, double x) { return numpy.arctan2 ? numpy.arctan2(y, x) : std::atan2(y, x); }
inline double power(double x, double y) { return numpy.power ? numpy.power(x, y) : std::pow(x, y); }

// sums begin with 0, so none is -0
inline double sum_of_products(int rounding, double x0, double y0, double x1, double y1) {
    if (rounding == PLAIN) return (x0 * y0 + x1 * y1) + 0.0;
    if (rounding == SECOND_FUSED) return std::fma(x1, y1, x0 * y0) + 0.0;
    return std::fma(x0, y0, x1 * y1) + 0.0;
}
inline double dot(double x0, double x1, double y0, double y1) {
    return sum_of_products(numpy.vector_dot, x0, y0, x1, y1);
}
inline double norm(double x, double y) { return std::sqrt(dot(x, y, x, y)); }
// a row of a matrix times a vector, and times a matrix of several columns
inline double row_times_vector(double a, double b, double x, double y) {
    return sum_of_products(numpy.matrix_vector, a, x, b, y);
}
inline double row_times_matrix(double a, double b, double x, double y) {
    return sum_of_products(numpy.matrix_matrix, a, x, b, y);
}

// an angle in [-pi, pi)
inline double wrap(double x) { return remainder(x + PI, 2 * PI) - PI; }
inline double not_zero(double x) { return std::fabs(x) > 1e-2 ? x : x >= 0 ? 1e-2 : -1e-2; }
inline double clip(double x, double low, double high) {
    if (x < low) x = low;
    return x > high ? high : x;
}
// the value at v of the line through (x0, y0) and (x1, y1)
inline double mapped(double v, double x0, double x1, double y0, double y1) {
    return y0 + (v - x0) * (y1 - y0) / (x1 - x0);
}
// of a float32 in [-1, 1]: everything is rounded to float32
inline float mappedf(float v, double y0, double y1) {
    return static_cast<float>(y0) + (v - -1.0f) * static_cast<float>(y1 - y0) / 2.0f;
}
// Python's min(a, b) and max(a, b), which return the first unless the second is really smaller or larger
inline double least(double a, double b) { return b < a ? b : a; }
inline double most(double a, double b) { return b > a ? b : a; }

// Python's sum() of numbers that may be ints, Python's floats or NumPy's. Since 3.12 it compensates Python's floats,
// but not the first one, which is added to an int.
class Sum {
public:
    void add_int(double x) {
        if (is_python_) {
            total_ += x;
        } else {
            add_plain(x);
        }
    }
    void add_float(double x) {
        const bool is_first = std::exchange(only_ints_, false);
        if (!is_python_ || is_first || !numpy.compensated_sum) return add_plain(x);
        const double t = total_ + x;
        rest_ += std::fabs(total_) >= std::fabs(x) ? (total_ - t) + x : (x - t) + total_;
        total_ = t;
    }
    void add_numpy(double x) {
        flush();
        is_python_ = false;
        total_ += x;
    }
    double value() {
        flush();
        return total_;
    }
    bool is_numpy() const { return !is_python_; }

private:
    void add_plain(double x) { total_ += x; }
    void flush() {
        if (rest_ != 0 && std::isfinite(rest_)) total_ += rest_;
        rest_ = 0;
    }
    double total_ = 0, rest_ = 0;
    bool is_python_ = true, only_ints_ = true;
};

}  // namespace cypool::highway
