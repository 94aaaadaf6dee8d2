// The bounds of actions: of those that users pass, and of those that policies write.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>
#include <vector>

namespace cypool {

enum class Number : int { F4, F8, I1, I2, I4, I8, U1, U2, U4, U8 };

// Numbers of an action that lie behind one another and have one type.
struct ActionPart {
    Number number;
    size_t offset;  // from the start of the action
    size_t count;
    std::vector<char> low, high;  // bounds of each, of the same type
};

// Calls `f` with a number of this type.
template <class F> auto with_number(Number number, F f) noexcept {
    switch (number) {
        case Number::F4: return f(float{});
        case Number::F8: return f(double{});
        case Number::I1: return f(int8_t{});
        case Number::I2: return f(int16_t{});
        case Number::I4: return f(int32_t{});
        case Number::I8: return f(int64_t{});
        case Number::U1: return f(uint8_t{});
        case Number::U2: return f(uint16_t{});
        case Number::U4: return f(uint32_t{});
        default: return f(uint64_t{});
    }
}

// Whether a <= b, whatever their signs and sizes are; false for NaN.
template <class A, class B> bool at_most(A a, B b) noexcept {
    if constexpr (std::is_integral_v<A> && std::is_integral_v<B>) {
        return std::cmp_less_equal(a, b);
    } else {
        return a <= b;
    }
}

// The first number of an action that is NaN or out of bounds, or the count.
inline size_t first_outside(const char* action, const ActionPart& part) noexcept {
    return with_number(part.number, [&](auto kind) {
        using T = decltype(kind);
        for (size_t k = 0; k < part.count; k++) {
            T value, low, high;
            // parts of a dict lie at any address
            std::memcpy(&value, action + part.offset + k * sizeof(T), sizeof(T));
            std::memcpy(&low, part.low.data() + k * sizeof(T), sizeof(T));
            std::memcpy(&high, part.high.data() + k * sizeof(T), sizeof(T));
            if (!(at_most(low, value) && at_most(value, high))) return k;
        }
        return part.count;
    });
}

// Copies rows of an action's numbers to `out`, in the type of the action: one pass instead of NumPy's dozen. From one
// row of `out` to the next it is `stride` bytes.
//
// Integers become integers and floats become floats: false for other pairs, and if a number is NaN or out of bounds.
// Such a number becomes the lower bound: `out` may be read meanwhile, for a caller in another thread.
inline bool copy_checked(const void* given, Number number, size_t rows, const ActionPart& part, char* out,
                         size_t stride) noexcept {
    return with_number(number, [&](auto from) {
        return with_number(part.number, [&](auto to) {
            using From = decltype(from);
            using To = decltype(to);
            if constexpr (std::is_integral_v<From> != std::is_integral_v<To>) {
                return false;
            } else {
                auto data = static_cast<const From*>(given);
                auto low = reinterpret_cast<const To*>(part.low.data());
                auto high = reinterpret_cast<const To*>(part.high.data());
                bool within = true;
                auto copy = [&](From value, To low, To high, char* to) {
                    To cast = static_cast<To>(value);
                    // no branches
                    bool fits = at_most(low, value) & at_most(value, high);
                    // as cast, too, because a cast rounds
                    if constexpr (!std::is_integral_v<To>) fits &= at_most(low, cast) & at_most(cast, high);
                    within &= fits;
                    cast = fits ? cast : low;
                    // parts of a row lie at any address
                    std::memcpy(to, &cast, sizeof cast);
                };
                if (part.count == 1) {
                    const To only_low = *low, only_high = *high;
                    for (size_t row = 0; row < rows; row++) copy(data[row], only_low, only_high, out + row * stride);
                } else {
                    for (size_t row = 0; row < rows; row++, data += part.count, out += stride) {
                        for (size_t k = 0; k < part.count; k++) copy(data[k], low[k], high[k], out + k * sizeof(To));
                    }
                }
                return within;
            }
        });
    });
}

}  // namespace cypool
