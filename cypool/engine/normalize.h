// Normalizes rows of numbers of any type, and finds their means and variances, in double precision.
#pragma once

#include <cstddef>
#include <cstdint>

namespace cypool {

// Calls `run` with a number of the type that NumPy names so; whether there is such a type.
template <typename Run>
bool with_type(char kind, size_t size, Run run) {
    if (kind == 'f' && size == 4) run(float{});
    else if (kind == 'f' && size == 8) run(double{});
    else if ((kind == 'u' || kind == 'b') && size == 1) run(uint8_t{});
    else if (kind == 'u' && size == 2) run(uint16_t{});
    else if (kind == 'u' && size == 4) run(uint32_t{});
    else if (kind == 'u' && size == 8) run(uint64_t{});
    else if (kind == 'i' && size == 1) run(int8_t{});
    else if (kind == 'i' && size == 2) run(int16_t{});
    else if (kind == 'i' && size == 4) run(int32_t{});
    else if (kind == 'i' && size == 8) run(int64_t{});
    else return false;
    return true;
}

// (x - mean) / std of `rows` rows of `count` numbers; whether there is such a type.
inline bool normalize(char kind, size_t size, const void* data, size_t rows, size_t count, const double* mean,
                      const double* std, float* out) {
    return with_type(kind, size, [=](auto zero) {
        const auto* x = static_cast<const decltype(zero)*>(data);
        for (size_t row = 0; row < rows; ++row)
            for (size_t k = 0; k < count; ++k)
                out[row * count + k] =
                    static_cast<float>((static_cast<double>(x[row * count + k]) - mean[k]) / std[k]);
    });
}

// Mean and variance of each of the `count` columns of `rows` rows, at least 1; whether there is such a type.
inline bool moments(char kind, size_t size, const void* data, size_t rows, size_t count, double* mean, double* var) {
    return with_type(kind, size, [=](auto zero) {
        const auto* x = static_cast<const decltype(zero)*>(data);
        const double total = static_cast<double>(rows);
        for (size_t k = 0; k < count; ++k) mean[k] = var[k] = 0;
        for (size_t row = 0; row < rows; ++row)
            for (size_t k = 0; k < count; ++k) mean[k] += static_cast<double>(x[row * count + k]);
        for (size_t k = 0; k < count; ++k) mean[k] /= total;
        for (size_t row = 0; row < rows; ++row)
            for (size_t k = 0; k < count; ++k) {
                const double apart = static_cast<double>(x[row * count + k]) - mean[k];
                var[k] += apart * apart;
            }
        for (size_t k = 0; k < count; ++k) var[k] /= total;
    });
}

}  // namespace cypool
