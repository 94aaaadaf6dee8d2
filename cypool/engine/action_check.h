// Whether an action that a policy wrote is one of its space.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
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

template <class T> size_t first_outside(const char* action, const ActionPart& part) noexcept {
    for (size_t k = 0; k < part.count; k++) {
        T value, low, high;
        // parts of a dict lie at any address
        std::memcpy(&value, action + part.offset + k * sizeof(T), sizeof(T));
        std::memcpy(&low, part.low.data() + k * sizeof(T), sizeof(T));
        std::memcpy(&high, part.high.data() + k * sizeof(T), sizeof(T));
        // false for NaN
        if (!(low <= value && value <= high)) return k;
    }
    return part.count;
}

// The first number that is NaN or out of bounds, or the count.
inline size_t first_outside(const char* action, const ActionPart& part) noexcept {
    switch (part.number) {
        case Number::F4: return first_outside<float>(action, part);
        case Number::F8: return first_outside<double>(action, part);
        case Number::I1: return first_outside<int8_t>(action, part);
        case Number::I2: return first_outside<int16_t>(action, part);
        case Number::I4: return first_outside<int32_t>(action, part);
        case Number::I8: return first_outside<int64_t>(action, part);
        case Number::U1: return first_outside<uint8_t>(action, part);
        case Number::U2: return first_outside<uint16_t>(action, part);
        case Number::U4: return first_outside<uint32_t>(action, part);
        case Number::U8: return first_outside<uint64_t>(action, part);
    }
    return part.count;
}

}  // namespace cypool
