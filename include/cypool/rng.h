// A stream of random numbers: NumPy's bit generator, drawn from without the GIL and without NumPy's headers.
#pragma once

#include <cstdint>

namespace cypool {

// NumPy's bitgen_t, member by member (numpy/random/bitgen.h; its layout is part of NumPy's C API).
struct Rng {
    void* state;
    uint64_t (*next_uint64)(void* state);
    uint32_t (*next_uint32)(void* state);
    double (*next_double)(void* state);
    uint64_t (*next_raw)(void* state);
};

// One double in [low, high), as Generator.uniform(low, high) draws it.
inline double uniform(const Rng* rng, double low, double high) noexcept {
    return low + (high - low) * rng->next_double(rng->state);
}

}  // namespace cypool
