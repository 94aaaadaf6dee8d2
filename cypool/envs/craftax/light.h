// How bright a cell of a dark floor can be: torches and lava give few numbers, so that cells keep which one it is.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <set>
#include <vector>

namespace cypool::craftax {

// of a torch at a distance
inline float torch_light(int x, int y) {
    return std::max(0.0f, 1 - std::sqrt(static_cast<float>(x * x + y * y)) * 0.2f);
}
// of the lava at a cell, and next to it
template <class IsLava> float lava_light(IsLava&& is_lava) {
    constexpr float GLOW[] = {1, 0.7f, 0.2f};
    float light = 0;
    for (int x = -1; x <= 1; ++x) {
        for (int y = -1; y <= 1; ++y) {
            if (is_lava(x, y)) light += GLOW[std::abs(x) + std::abs(y)];
        }
    }
    return light;
}
inline float added(float light, float more) { return std::min(1.0f, light + more); }

class Brightness {
public:
    static float of(uint16_t number) { return all()[number]; }
    // or the next brighter one; light: up to 1
    static uint16_t number_of(float light) {
        return static_cast<uint16_t>(std::lower_bound(all().begin(), all().end(), light) - all().begin());
    }

private:
    static const std::vector<float>& all() {
        static const std::vector<float> found = find();
        return found;
    }
    static std::vector<float> find() {
        std::set<float> torches, found;
        for (int k = 0; k < 25; ++k) torches.insert(torch_light(k / 5, k % 5));
        for (unsigned lava = 0; lava < 1 << 9; ++lava) {
            const float light = lava_light([&](int x, int y) { return lava >> (3 * x + y + 4) & 1; });
            for (const float torch : torches) found.insert(added(torch, light));
        }
        // and of each with one more torch
        for (std::vector<float> rest(found.begin(), found.end()); !rest.empty();) {
            const float light = rest.back();
            rest.pop_back();
            for (const float torch : torches) {
                if (const auto [more, is_new] = found.insert(added(torch, light)); is_new) rest.push_back(*more);
            }
        }
        return {found.begin(), found.end()};
    }
};

}  // namespace cypool::craftax
