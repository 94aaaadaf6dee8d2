// Perlin noise as Craftax makes it, and as XLA rounds it: nothing is fused.
#pragma once

#include <algorithm>
#include <vector>

#include "cypool/envs/shared/numerics/jax_random.h"
#include "cypool/envs/shared/numerics/xla_math.h"

namespace cypool::craftax {

// Of SIZE x SIZE cells; cells of a tile are at multiples of a sixteenth, so that the polynomial is exact.
template <int SIZE> struct Noise {
    float values[SIZE * SIZE];
    float low, inverse;

    // from 0 to 1, but for the last rounding
    float above_low(int cell) const { return values[cell] - low; }
    float scaled(int cell) const { return above_low(cell) * inverse; }

    // of tiles; given: the angles at their corners in turns, or none
    template <int HEIGHT, int WIDTH> void make(jax::Key key, const std::vector<float>& given) {
        constexpr int ROWS = SIZE / HEIGHT, COLUMNS = SIZE / WIDTH, CORNERS = COLUMNS + 1;
        constexpr float TURN = 6.28318530717958647692f, ROOT = 1.41421356237309504880f;
        const jax::Key angles = jax::subkey(jax::subkey(key, 1), 1);
        jax::SineCosine corners[(ROWS + 1) * CORNERS];
        for (int i = 0; i < (ROWS + 1) * CORNERS; ++i) {
            corners[i] = jax::sine_cosine((given.empty() ? jax::uniform(angles, i) : given[i]) * TURN);
        }
        const auto smooth = [](float t) { return t * t * t * (t * (t * 6 - 15) + 10); };
        float rights[WIDTH], weights[WIDTH];
        for (int y = 0; y < WIDTH; ++y) {
            rights[y] = static_cast<float>(y) / WIDTH;
            weights[y] = smooth(rights[y]);
        }
        for (int x = 0; x < SIZE; ++x) {
            const float down = static_cast<float>(x % HEIGHT) / HEIGHT, weight = smooth(down);
            for (int tile = 0; tile < COLUMNS; ++tile) {
                const jax::SineCosine* above = corners + x / HEIGHT * CORNERS + tile;
                const jax::SineCosine* below = above + CORNERS;
                const float a = down * above[0].cosine, b = (down - 1) * below[0].cosine;
                const float c = down * above[1].cosine, d = (down - 1) * below[1].cosine;
                for (int y = 0; y < WIDTH; ++y) {
                    const float right = rights[y], across = weights[y];
                    const float left_side =
                        (a + right * above[0].sine) * (1 - weight) + weight * (b + right * below[0].sine);
                    const float right_side =
                        (c + (right - 1) * above[1].sine) * (1 - weight) + weight * (d + (right - 1) * below[1].sine);
                    values[x * SIZE + tile * WIDTH + y] = ROOT * ((1 - across) * left_side + across * right_side);
                }
            }
        }
        // in strands, so that no comparison waits for the one before it
        constexpr int STRANDS = 16;
        float lows[STRANDS], highs[STRANDS];
        std::copy(values, values + STRANDS, lows);
        std::copy(values, values + STRANDS, highs);
        for (int i = STRANDS; i < SIZE * SIZE; i += STRANDS) {
            for (int k = 0; k < STRANDS; ++k) {
                lows[k] = values[i + k] < lows[k] ? values[i + k] : lows[k];
                highs[k] = values[i + k] > highs[k] ? values[i + k] : highs[k];
            }
        }
        low = *std::min_element(lows, lows + STRANDS);
        const float high = *std::max_element(highs, highs + STRANDS);
        inverse = 1 / (high - low);
    }
};

}  // namespace cypool::craftax
