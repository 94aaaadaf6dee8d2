// The arithmetic of a perceptron, for one instruction set.
//
// mlp.h includes this once for each, in a namespace that has LANES, OUTPUTS, fma and root. All of them give the same
// bits where fma rounds once: each number is computed alone, in the same order. No function of the standard library is
// called: the linker could take its code for other instructions, too.

using F = float __attribute__((vector_size(4 * LANES)));
using I = int32_t __attribute__((vector_size(4 * LANES)));

CYPOOL_INLINE F load(const float* at) {
    F x;
    __builtin_memcpy(&x, at, sizeof(F));
    return x;
}

CYPOOL_INLINE I load_words(const uint32_t* at) {
    I x;
    __builtin_memcpy(&x, at, sizeof(I));
    return x;
}

CYPOOL_INLINE void store(float* at, const F& x) { __builtin_memcpy(at, &x, sizeof(F)); }

CYPOOL_INLINE void store(int32_t* at, const I& x) { __builtin_memcpy(at, &x, sizeof(I)); }

// x in all lanes; to subtract zero changes no bit
CYPOOL_INLINE F all(float x) { return x - F{}; }

// NaN has one representation: which one an operation hands on depends on the order of its operands
CYPOOL_INLINE F one_nan(const F& x) { return x != x ? all(__builtin_nanf("")) : x; }

// exp(x) = power (1 + rest), for x in [-87, 88].
CYPOOL_INLINE void split_exp(const F& x, F& power, F& rest) {
    // 2^n exp(r) with a whole n, which the lowest bits of `shifted` hold
    const F shifted = fma(x, all(1.44269504f), all(12582912.0f));
    const F n = shifted - 12582912.0f;
    const F r = fma(n, all(2.12194440e-4f), fma(n, all(-0.693359375f), x));
    power = (F)(((I)shifted << 23) + 0x3f800000);
    // |r| <= log(2) / 2
    F p = fma(r, all(1.0f / 5040), all(1.0f / 720));
    p = fma(r, p, all(1.0f / 120));
    p = fma(r, p, all(1.0f / 24));
    p = fma(r, p, all(1.0f / 6));
    p = fma(r, p, all(1.0f / 2));
    rest = fma(r * r, p, r);
}

// To 2e-7 of its value; 0 below -87, and no more than exp(88).
CYPOOL_INLINE F exp(const F& given) {
    F x = given > 88.0f ? all(88.0f) : given, power, rest;
    x = x < -87.0f ? all(-87.0f) : x;
    split_exp(x, power, rest);
    return given < -87.0f ? F{} : fma(power, rest, power);
}

// To 2e-7 of its value. With e = exp(2 x) - 1 it is e / (e + 2), which is exact near zero, too.
CYPOOL_INLINE F tanh(const F& given) {
    // beyond 9.1 it is 1 in single precision; NaN stays
    F x = given > 9.1f ? all(9.1f) : given, power, rest;
    x = x < -9.1f ? all(-9.1f) : x;
    split_exp(x + x, power, rest);
    const F e = fma(power, rest, power - 1.0f);
    return e / (e + 2.0f);
}

// For normal numbers above zero, and NaN.
CYPOOL_INLINE F log(const F& x) {
    // x = 2^n (1 + f) with 1 + f from sqrt(1/2) to sqrt(2)
    const I n = ((I)x - 0x3f3504f3) >> 23;
    const F f = (F)((I)x - (n << 23)) - 1.0f, power = __builtin_convertvector(n, F), square = f * f;
    F p = fma(f, all(7.0376836292e-2f), all(-1.1514610310e-1f));
    p = fma(f, p, all(1.1676998740e-1f));
    p = fma(f, p, all(-1.2420140846e-1f));
    p = fma(f, p, all(1.4249322787e-1f));
    p = fma(f, p, all(-1.6668057665e-1f));
    p = fma(f, p, all(2.0000714765e-1f));
    p = fma(f, p, all(-2.4999993993e-1f));
    p = fma(f, p, all(3.3333331174e-1f));
    p = fma(f * square, p, power * -2.12194440e-4f);
    p = fma(square, all(-0.5f), p);
    return x != x ? x : fma(power, all(0.693359375f), f + p);
}

// Two normal numbers of two words, by Box and Muller.
CYPOOL_INLINE void normals(const I& word, const I& other, F& a, F& b) {
    // 24 bits of each, as signed shifts would bring the sign along
    const F u = __builtin_convertvector((word >> 8 & 0xffffff) + 1, F) * 0x1p-24f;
    const F turns = __builtin_convertvector(other >> 8 & 0xffffff, F) * 0x1p-22f;
    const F radius = root(log(u) * -2.0f);
    // an angle in quarter turns: the nearest whole number of them, and the rest
    const F quarter = (turns + 12582912.0f) - 12582912.0f;
    const F r = (turns - quarter) * 1.57079632679f, square = r * r;
    F s = fma(square, all(-1.9515295891e-4f), all(8.3321608736e-3f));
    s = fma(square, s, all(-1.6666654611e-1f));
    s = fma(r * square, s, r);
    F c = fma(square, all(2.443315711809948e-5f), all(-1.388731625493765e-3f));
    c = fma(square, c, all(4.166664568298827e-2f));
    c = fma(square * square, c, fma(square, all(-0.5f), all(1.0f)));
    const I turn = __builtin_convertvector(quarter, I), swap = (turn & 1) != 0;
    const F cosine = swap ? s : c, sine = swap ? c : s;
    a = radius * (((turn + 1) & 2) != 0 ? -cosine : cosine);
    b = radius * ((turn & 2) != 0 ? -sine : sine);
}

CYPOOL_INLINE void activate(Activation activation, float* y, size_t vectors) {
    if (activation == Activation::TANH) {
        for (size_t k = 0; k < vectors; k++) store(y + k * LANES, tanh(load(y + k * LANES)));
    } else {
        for (size_t k = 0; k < vectors; k++) {
            const F x = load(y + k * LANES);
            // NaN stays
            store(y + k * LANES, x < 0.0f ? F{} : x);
        }
    }
}

// J outputs of a layer for V vectors of rows: sums that stay in registers. x and y are (numbers, V, LANES).
template <int V, int J>
CYPOOL_INLINE void sum(const float* weights, const float* bias, const float* x, float* y, size_t inputs) {
    F sums[J][V];
#pragma GCC unroll 8
    for (int j = 0; j < J; j++) {
#pragma GCC unroll 2
        for (int v = 0; v < V; v++) sums[j][v] = all(bias[j]);
    }
    for (size_t i = 0; i < inputs; i++, weights += Layer::TILE, x += V * LANES) {
#pragma GCC unroll 8
        for (int j = 0; j < J; j++) {
            const F weight = all(weights[j]);
#pragma GCC unroll 2
            for (int v = 0; v < V; v++) sums[j][v] = fma(weight, load(x + v * LANES), sums[j][v]);
        }
    }
#pragma GCC unroll 8
    for (int j = 0; j < J; j++) {
#pragma GCC unroll 2
        for (int v = 0; v < V; v++) store(y + (j * V + v) * LANES, sums[j][v]);
    }
}

// A layer for V vectors of rows.
template <int V> void forward(const Layer& layer, const float* x, float* y) {
    size_t j = 0;
    const auto weights = [&] { return layer.weights + j / Layer::TILE * Layer::TILE * layer.inputs + j % Layer::TILE; };
    for (; j + OUTPUTS <= layer.outputs; j += OUTPUTS)
        sum<V, OUTPUTS>(weights(), layer.bias + j, x, y + j * V * LANES, layer.inputs);
    for (; j + 2 <= layer.outputs; j += 2) sum<V, 2>(weights(), layer.bias + j, x, y + j * V * LANES, layer.inputs);
    if (j < layer.outputs) sum<V, 1>(weights(), layer.bias + j, x, y + j * V * LANES, layer.inputs);
}

// N tiles of outputs of a layer for one row: the lanes are outputs. x and y are numbers one behind the other.
template <int N>
CYPOOL_INLINE void sum_alone(const float* weights, const float* bias, const float* x, float* y, size_t inputs) {
    constexpr int V = Layer::TILE / LANES;
    F sums[N][V];
#pragma GCC unroll 4
    for (int n = 0; n < N; n++) {
#pragma GCC unroll 4
        for (int v = 0; v < V; v++) sums[n][v] = load(bias + n * Layer::TILE + v * LANES);
    }
    for (size_t i = 0; i < inputs; i++) {
        const F given = all(x[i]);
#pragma GCC unroll 4
        for (int n = 0; n < N; n++) {
#pragma GCC unroll 4
            for (int v = 0; v < V; v++)
                sums[n][v] = fma(load(weights + (n * inputs + i) * Layer::TILE + v * LANES), given, sums[n][v]);
        }
    }
#pragma GCC unroll 4
    for (int n = 0; n < N; n++) {
#pragma GCC unroll 4
        for (int v = 0; v < V; v++) store(y + n * Layer::TILE + v * LANES, sums[n][v]);
    }
}

// A layer for one row. As many sums at a time as there are registers.
inline void forward_alone(const Layer& layer, const float* x, float* y) {
    constexpr int N = LANES < 8 ? 1 : 4;
    size_t tile = 0;
    const size_t tiles = (layer.outputs + Layer::TILE - 1) / Layer::TILE;
    for (; tile + N <= tiles; tile += N)
        sum_alone<N>(layer.weights + tile * Layer::TILE * layer.inputs, layer.bias + tile * Layer::TILE, x,
                     y + tile * Layer::TILE, layer.inputs);
    for (; tile < tiles; tile++)
        sum_alone<1>(layer.weights + tile * Layer::TILE * layer.inputs, layer.bias + tile * Layer::TILE, x,
                     y + tile * Layer::TILE, layer.inputs);
}

// Runs a network over V vectors of rows, or over one row (V = 0). Returns where the last layer is: `x` or `y`.
template <int V>
float* run_network(const Layer* layers, size_t count, Activation activation, const float* given, float* x, float* y) {
    for (size_t k = 0; k < count; k++) {
        const Layer& layer = layers[k];
        if constexpr (V == 0) {
            forward_alone(layer, given, y);
            if (k + 1 < count)
                activate(activation, y, (layer.outputs + Layer::TILE - 1) / Layer::TILE * Layer::TILE / LANES);
        } else {
            forward<V>(layer, given, y);
            if (k + 1 < count) activate(activation, y, layer.outputs * V);
        }
        float* next = x;
        given = x = y;
        y = next;
    }
    return x;
}

// The greatest number of each row, as NumPy finds it: the first of equal ones, and NaN is greater than all.
CYPOOL_INLINE I first_greatest(const float* last, size_t count, size_t stride) {
    F best = load(last);
    I chosen{};
    for (size_t j = 1; j < count; j++) {
        const F x = load(last + j * stride);
        const I takes = (best == best) & ((x > best) | (x != x));
        best = takes ? x : best;
        chosen = takes ? I{} + static_cast<int32_t>(j) : chosen;
    }
    return chosen;
}

// A number for each row, with the probabilities of logits; -1 if these are no numbers. `memory` has as much as `last`.
CYPOOL_INLINE I draw_number(const float* last, size_t count, size_t stride, const I& word, float* memory, F& log_prob,
                            F& entropy) {
    F most = load(last);
    for (size_t j = 1; j < count; j++) {
        const F x = load(last + j * stride);
        most = x > most ? x : most;
    }
    F total{}, weighted{};
    for (size_t j = 0; j < count; j++) {
        const F below = load(last + j * stride) - most, e = exp(below);
        store(memory + j * stride, e);
        total += e;
        // leave out impossible actions: minus infinity has no product with zero
        weighted = fma(e == 0.0f ? F{} : e, e == 0.0f ? F{} : below, weighted);
    }
    // less than the total, even if it rounds: an action without probability is not drawn
    const F target = __builtin_convertvector(word >> 8 & 0xffffff, F) * 0x1p-24f * total;
    F sum{}, below = load(last) - most;
    I chosen{};
    for (size_t j = 0; j + 1 < count; j++) {
        sum += load(memory + j * stride);
        const I beyond = sum <= target;
        chosen -= beyond;
        below = beyond ? load(last + (j + 1) * stride) - most : below;
    }
    const F logarithm = log(total);
    log_prob = one_nan(below - logarithm);
    entropy = one_nan(logarithm - weighted / total);
    return total == total ? chosen : I{} - 1;
}

template <class T>
CYPOOL_INLINE void transpose(const T* given, size_t numbers, size_t rows, size_t block_rows, float* x) {
    for (size_t row = 0; row < rows; row++, given += numbers)
        for (size_t i = 0; i < numbers; i++) x[i * block_rows + row] = static_cast<float>(given[i]);
}

CYPOOL_INLINE void read(const Plan& plan, const char* obs, size_t rows, size_t block_rows, float* x) {
    const size_t numbers = plan.num_inputs;
    switch (plan.input) {
        case Input::F4: transpose(reinterpret_cast<const float*>(obs), numbers, rows, block_rows, x); break;
        case Input::F8: transpose(reinterpret_cast<const double*>(obs), numbers, rows, block_rows, x); break;
        case Input::U1: transpose(reinterpret_cast<const uint8_t*>(obs), numbers, rows, block_rows, x); break;
        case Input::I4: transpose(reinterpret_cast<const int32_t*>(obs), numbers, rows, block_rows, x); break;
        case Input::I8: transpose(reinterpret_cast<const int64_t*>(obs), numbers, rows, block_rows, x); break;
    }
    for (size_t i = 0; i < numbers; i++)
        for (size_t row = rows; row < block_rows; row++) x[i * block_rows + row] = 0;
}

// Random words (draws, block rows): those of a row depend on the seed, the step and the row's number.
CYPOOL_INLINE void draw_words(const Plan& plan, const MlpRows& given, size_t rows, size_t block_rows, uint32_t* words) {
    const size_t end = given.first + rows;
    for (uint32_t draw = 0; draw < plan.num_draws; draw++, words += block_rows) {
        // a counter gives the words of four rows
        for (size_t quad = given.first / 4; quad * 4 < end; quad++) {
            uint32_t four[4];
            philox(plan.seed,
                   {static_cast<uint32_t>(quad), draw, static_cast<uint32_t>(given.step),
                    static_cast<uint32_t>(given.step >> 32)},
                   four);
            for (size_t k = 0; k < 4; k++)
                if (quad * 4 + k >= given.first && quad * 4 + k < end) words[quad * 4 + k - given.first] = four[k];
        }
    }
}

// Makes the logits of illegal actions minus infinity, in rows where any action is legal.
CYPOOL_INLINE void mask_logits(const Plan& plan, const uint8_t* mask, size_t rows, size_t block_rows, float* last) {
    for (size_t row = 0; row < rows; row++, mask += plan.num_outputs) {
        uint8_t any = 0;
        for (size_t j = 0; j < plan.num_outputs; j++) any |= mask[j];
        for (size_t j = 0; any != 0 && j < plan.num_outputs; j++) {
            if (mask[j] == 0) last[j * block_rows + row] = -__builtin_inff();
        }
    }
}

// Discrete actions of V vectors of rows.
template <int V>
CYPOOL_INLINE void write_numbers(const Plan& plan, const MlpRows& given, size_t rows, const float* last, float* memory,
                                 const uint32_t* words) {
    constexpr size_t B = V * LANES;
    int32_t chosen[B];
    float log_prob[B], entropy[B];
    for (size_t v = 0; v < V; v++) {
        if (plan.output == Output::ARGMAX) {
            store(chosen + v * LANES, first_greatest(last + v * LANES, plan.num_outputs, B));
            continue;
        }
        F one, other;
        const I number = draw_number(last + v * LANES, plan.num_outputs, B, load_words(words + v * LANES),
                                     memory + v * LANES, one, other);
        store(chosen + v * LANES, number);
        store(log_prob + v * LANES, one);
        store(entropy + v * LANES, other);
    }
    for (size_t row = 0; row < rows; row++) reinterpret_cast<int64_t*>(given.actions)[row] = chosen[row];
    if (given.log_prob != nullptr) {
        __builtin_memcpy(given.log_prob, log_prob, rows * sizeof(float));
        __builtin_memcpy(given.entropy, entropy, rows * sizeof(float));
    }
}

template <class T>
CYPOOL_INLINE void write_values(const Plan& plan, T* actions, size_t rows, size_t block_rows, const float* values) {
    const size_t count = plan.num_actions;
    for (size_t row = 0; row < rows; row++, actions += count) {
        for (size_t j = 0; j < count; j++) {
            T value = values[j * block_rows + row];
            if (plan.output != Output::IDENTITY) {
                const T low = static_cast<T>(plan.low[j]), high = static_cast<T>(plan.high[j]);
                value = value < low ? low : value > high ? high : value;
            }
            actions[j] = value;
        }
    }
}

// Continuous actions of V vectors of rows. `memory` has twice as much as the action.
template <int V>
CYPOOL_INLINE void write_vectors(const Plan& plan, const MlpRows& given, size_t rows, const float* last, float* memory,
                                 const uint32_t* words) {
    constexpr size_t B = V * LANES;
    const size_t count = plan.num_actions;
    const bool draws = plan.output == Output::GAUSSIAN || plan.output == Output::TANH_GAUSSIAN;
    const bool squashes = plan.output == Output::TANH || plan.output == Output::TANH_GAUSSIAN;
    float* raw = memory + count * B;
    float log_prob[B], entropy[B];
    for (size_t v = 0; v < V; v++) {
        F density{}, width{}, sine{};
        for (size_t j = 0; j < count; j++) {
            const size_t at = j * B + v * LANES;
            F x = load(last + at);
            if (draws) {
                F log_std = plan.log_std != nullptr ? all(plan.log_std[j]) : load(last + count * B + at);
                const F far = log_std < 0.0f ? -log_std : log_std;
                log_std = far <= static_cast<float>(LOG_STD_LIMIT) ? log_std : all(__builtin_nanf(""));
                const F mean = x, deviation = exp(log_std);
                F normal = sine;
                if (j % 2 == 0) normals(load_words(words + at), load_words(words + at + B), normal, sine);
                x = fma(deviation, normal, mean);
                // computed from the rounded x, as a learner does that has only x
                const F z = (x - mean) / deviation;
                // an infinite mean has no density, so nothing is drawn
                x = z == z ? x : z;
                density += fma(z * z, all(-0.5f), all(-0.918938533f) - log_std);
                width += log_std + 1.418938533f;
                store(raw + at, one_nan(x));
            }
            if (squashes) {
                const float half = static_cast<float>(0.5 * (plan.high[j] - plan.low[j]));
                if (draws) {
                    // log(1 - tanh(x)^2), without a difference of nearly equal numbers
                    const F size = x < 0.0f ? -x : x;
                    density -= 2.0f * ((0.693147181f - size) - log(1.0f + exp(size * -2.0f))) + plan.log_half[j];
                }
                x = fma(tanh(x) + 1.0f, all(half), all(static_cast<float>(plan.low[j])));
            }
            store(memory + at, one_nan(x));
        }
        store(log_prob + v * LANES, one_nan(density));
        // the entropy of a squashed Gaussian has no formula: an estimate
        store(entropy + v * LANES, one_nan(squashes ? -density : width));
    }
    if (plan.is_double)
        write_values(plan, reinterpret_cast<double*>(given.actions), rows, B, memory);
    else
        write_values(plan, reinterpret_cast<float*>(given.actions), rows, B, memory);
    if (given.log_prob != nullptr) {
        __builtin_memcpy(given.log_prob, log_prob, rows * sizeof(float));
        __builtin_memcpy(given.entropy, entropy, rows * sizeof(float));
        for (size_t row = 0; row < rows; row++)
            for (size_t j = 0; j < count; j++) given.raw_action[row * count + j] = raw[j * B + row];
    }
}

// Chooses for the first `rows` rows, not more than V vectors, or for one (V = 0).
template <int V> void choose_some(const Plan& plan, const MlpRows& given, size_t rows, float* memory) {
    constexpr int VECTORS = V == 0 ? 1 : V;
    constexpr size_t B = VECTORS * LANES, ROWS = V == 0 ? 1 : B;
    float* x = memory;
    float* first = x + plan.num_inputs * B;
    float* second = first + plan.width * B;
    float* spread = second + plan.width * B;
    float* rest = spread + plan.num_outputs * B;
    const auto words = reinterpret_cast<uint32_t*>(rest + plan.num_outputs * B + plan.num_actions * 2 * B);
    read(plan, given.obs, rows, ROWS, x);
    if (given.value != nullptr) {
        const float* value = run_network<V>(plan.value, plan.num_value_layers, plan.activation, x, first, second);
        for (size_t row = 0; row < rows; row++)
            given.value[row] = value[row] != value[row] ? __builtin_nanf("") : value[row];
    }
    if (given.actions == nullptr) return;
    float* last = run_network<V>(plan.policy, plan.num_policy_layers, plan.activation, x, first, second);
    if constexpr (V == 0) {
        // one row; the others are not used
        for (size_t j = 0; j < plan.num_outputs; j++) spread[j * B] = last[j];
        last = spread;
    }
    if (given.mask != nullptr) mask_logits(plan, given.mask, rows, B, last);
    draw_words(plan, given, rows, B, words);
    if (plan.num_actions == 0)
        write_numbers<VECTORS>(plan, given, rows, last, rest, words);
    else
        write_vectors<VECTORS>(plan, given, rows, last, rest, words);
}

// Chooses for all rows.
inline void choose(const Plan& plan, MlpRows given, float* memory) {
    while (given.count > 0) {
        size_t rows = given.count < 2 * LANES ? given.count : 2 * LANES;
        if (rows > LANES) {
            choose_some<2>(plan, given, rows, memory);
        } else if (2 * rows > LANES) {
            choose_some<1>(plan, given, rows, memory);
        } else {
            rows = 1;
            choose_some<0>(plan, given, rows, memory);
        }
        given.skip(plan, rows);
    }
}
