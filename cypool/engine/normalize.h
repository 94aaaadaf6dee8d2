// Normalizes rows of numbers of any type, and finds their means and variances, in double precision.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace cypool {

template <typename T> constexpr char KIND = std::is_floating_point_v<T> ? 'f' : std::is_signed_v<T> ? 'i' : 'u';

// Calls `run` with a number of that one of the types which NumPy names so; whether there is such a type.
template <typename... Types, typename Run> bool with_one_of(char kind, size_t size, Run run) {
    return ((kind == KIND<Types> && size == sizeof(Types) && (run(Types{}), true)) || ...);
}

template <typename Run> bool with_type(char kind, size_t size, Run run) {
    return with_one_of<float, double, uint8_t, uint16_t, uint32_t, uint64_t, int8_t, int16_t, int32_t, int64_t>(
        kind == 'b' ? 'u' : kind, size, run);
}

// (x - mean) / std of `rows` rows of `count` numbers; whether there is such a type.
inline bool normalize(char kind, size_t size, const void* data, size_t rows, size_t count, const double* mean,
                      const double* std, float* out) {
    return with_type(kind, size, [=](auto zero) {
        const auto* x = static_cast<const decltype(zero)*>(data);
        for (size_t row = 0; row < rows; ++row)
            for (size_t k = 0; k < count; ++k)
                out[row * count + k] = static_cast<float>((static_cast<double>(x[row * count + k]) - mean[k]) / std[k]);
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
