// Sums in the order of NumPy's np.sum, which rounds otherwise than one after the other.
#pragma once

#include <cstddef>
#include <type_traits>

namespace cypool {

// Adds up at(begin), ..., at(end - 1): up to 128 numbers in eight strands, more in two halves.
template <class T, class At> T numpy_sum(const At& at, size_t begin, size_t end) {
    constexpr size_t STRANDS = 8, BLOCK = 128;
    const size_t n = end - begin;
    if (n > BLOCK) {
        const size_t middle = begin + n / 2 / STRANDS * STRANDS;
        return numpy_sum<T>(at, begin, middle) + numpy_sum<T>(at, middle, end);
    }
    T sum = 0;
    if (n >= STRANDS) {
        T strand[STRANDS];
        for (size_t k = 0; k < STRANDS; ++k) strand[k] = at(begin + k);
        for (begin += STRANDS; begin + STRANDS <= end; begin += STRANDS)
            for (size_t k = 0; k < STRANDS; ++k) strand[k] += at(begin + k);
        sum = ((strand[0] + strand[1]) + (strand[2] + strand[3])) + ((strand[4] + strand[5]) + (strand[6] + strand[7]));
    }
    for (; begin < end; ++begin) sum += at(begin);
    return sum;
}

// T without a const: Cython 3.2 says sum<const double> for a pointer to const doubles
template <class T> using Plain = std::remove_const_t<T>;

// np.sum(x) of n numbers that lie side by side
template <class T> Plain<T> sum(const T* x, size_t n) {
    return numpy_sum<Plain<T>>([x](size_t k) { return x[k]; }, 0, n);
}

// np.sum(np.square(x))
template <class T> Plain<T> sum_of_squares(const T* x, size_t n) {
    return numpy_sum<Plain<T>>([x](size_t k) { return x[k] * x[k]; }, 0, n);
}

}  // namespace cypool
