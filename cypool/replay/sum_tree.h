// Numbers with their sums in a binary tree: draws an index with a probability in proportion to its number.
#pragma once

#include <bit>
#include <cstddef>
#include <vector>

namespace cypool {

class SumTree {
public:
    explicit SumTree(size_t count) : leaves_(std::bit_ceil(count)), sums_(2 * leaves_) {}

    double total() const noexcept { return sums_[1]; }
    double get(size_t k) const noexcept { return sums_[leaves_ + k]; }

    void set(size_t k, double value) noexcept {
        k += leaves_;
        sums_[k] = value;
        // added up again rather than changed by a difference: no error grows
        for (k /= 2; k > 0; k /= 2) {
            sums_[k] = sums_[2 * k] + sums_[2 * k + 1];
        }
    }

    // The index where the sum of the numbers up to and with its own first exceeds `part` of the total; never one whose
    // number is 0, unless all are.
    size_t find(double part) const noexcept {
        size_t k = 1;
        while (k < leaves_) {
            k *= 2;
            // rounding may leave `part` at the end of the rest
            if (part >= sums_[k] && sums_[k + 1] > 0) {
                part -= sums_[k];
                ++k;
            }
        }
        return k - leaves_;
    }

private:
    size_t leaves_;
    std::vector<double> sums_;
};

}  // namespace cypool
