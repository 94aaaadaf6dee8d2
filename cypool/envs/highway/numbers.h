// Arithmetic with the bits of NumPy and of the BLAS that it was built with.
#pragma once

#include <cmath>
#include <cstdint>
#include <utility>

#include "cypool/envs/shared/numerics/numpy_math.h"
#include "cypool/rng.h"

namespace cypool::highway {

// How a sum of two products is rounded: x0 * y0 + x1 * y1; with the second one fused into the sum; with the first one.
enum Rounding : int { PLAIN, SECOND_FUSED, FIRST_FUSED };

// Functions of NumPy and Python that highway.pyx finds when it is imported.
struct NumPy {
    // functions, where the C library gives other bits
    double (*sin)(double) = nullptr;
    double (*cos)(double) = nullptr;
    // of arrays: with AVX-512, eight numbers take the time of one
    void (*tan)(const double*, double*, intptr_t) = nullptr;
    void (*arctan)(const double*, double*, intptr_t) = nullptr;
    void (*arcsin)(const double*, double*, intptr_t) = nullptr;
    void (*arctan2)(const double*, const double*, double*, intptr_t) = nullptr;
    void (*power)(const double*, const double*, double*, intptr_t) = nullptr;
    double (*dot)(const double*, const double*, intptr_t) = nullptr;
    float (*dotf)(const float*, const float*, intptr_t) = nullptr;
    double (*normal)(const Rng*, double, double) = nullptr;  // Generator.normal
    bool power_is_root = true;                               // x to the power of 0.5, in later versions
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
inline void sine_and_cosine(double x, double& s, double& c) {
    if (x == 0) {
        s = x, c = 1;
    } else if (numpy.sin) {
        s = numpy.sin(x), c = numpy.cos(x);
    } else {
        s = std::sin(x), c = std::cos(x);  // one call, which the compiler makes of the two
    }
}
// of arrays, which must not touch: NumPy's function, or the C library's of each number
inline void of_each(void (*of_numpy)(const double*, double*, intptr_t), double (*of_c)(double), const double* x,
                    double* out, size_t n) {
    if (of_numpy) return of_numpy(x, out, n);
    for (size_t k = 0; k < n; ++k) out[k] = x[k] == 0 ? x[k] : of_c(x[k]);
}
inline void tan_of(const double* x, double* out, size_t n) { of_each(numpy.tan, std::tan, x, out, n); }
inline void arctan_of(const double* x, double* out, size_t n) { of_each(numpy.arctan, std::atan, x, out, n); }
inline void arcsin_of(const double* x, double* out, size_t n) { of_each(numpy.arcsin, std::asin, x, out, n); }
inline void arctan2_of(const double* y, const double* x, double* out, size_t n) {
    if (numpy.arctan2) return numpy.arctan2(y, x, out, n);
    for (size_t k = 0; k < n; ++k) out[k] = std::atan2(y[k], x[k]);
}
inline void power_of(const double* x, const double* y, double* out, size_t n) {
    if (numpy.power) return numpy.power(x, y, out, n);
    for (size_t k = 0; k < n; ++k) out[k] = std::pow(x[k], y[k]);
}
// of one number
template <auto FUNCTION, class... Arguments> double of_one(Arguments... x) {
    double out[3];  // with a gap on both sides
    FUNCTION(&x..., out + 1, 1);
    return out[1];
}
inline double arctan(double x) { return x == 0 ? x : of_one<arctan_of>(x); }
inline double arctan2(double y, double x) { return of_one<arctan2_of>(y, x); }
inline double power(double x, double y) { return of_one<power_of>(x, y); }
inline double square_root(double x) { return numpy.power_is_root ? std::sqrt(x) : power(x, 0.5); }

// x * y + z, rounded once
inline double fused(double x, double y, double z) {
#if defined(__x86_64__) && !defined(__FMA__)
    // the CPU has it, as NumPy's products are fused; std::fma would be a call
    asm("vfmadd231sd %2, %1, %0" : "+x"(z) : "x"(x), "x"(y));
    return z;
#else
    return std::fma(x, y, z);
#endif
}
// sums begin with 0, so none is -0
[[gnu::always_inline]] inline double sum_of_products(int rounding, double x0, double y0, double x1, double y1) {
    if (rounding == PLAIN) return (x0 * y0 + x1 * y1) + 0.0;
    if (rounding == SECOND_FUSED) return fused(x1, y1, x0 * y0) + 0.0;
    return fused(x0, y0, x1 * y1) + 0.0;
}
[[gnu::always_inline]] inline double dot(double x0, double x1, double y0, double y1) {
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
    enum Type { INT, FLOAT, NUMPY };

    void add(double x, Type type) {
        if (type == NUMPY) {
            total_ = value() + x;
            is_python_ = false;
            return;
        }
        const bool is_first = type == FLOAT && std::exchange(only_ints_, false);
        const double t = total_ + x;
        if (type == FLOAT && is_python_ && !is_first && numpy.compensated_sum)
            rest_ += std::fabs(total_) >= std::fabs(x) ? (total_ - t) + x : (x - t) + total_;
        total_ = t;
    }
    double value() {
        if (rest_ != 0 && std::isfinite(rest_)) total_ += rest_;
        rest_ = 0;
        return total_;
    }
    bool is_numpy() const { return !is_python_; }

private:
    double total_ = 0, rest_ = 0;
    bool is_python_ = true, only_ints_ = true;
};

}  // namespace cypool::highway
