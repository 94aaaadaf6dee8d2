// The argument of a hook: of a user's function that the threads call without the GIL.
#pragma once

#include <cstdint>

#include "cypool/slot.h"

namespace cypool {

// Pointers are valid during the call. hooks.pxd and hooks.py declare the struct too: tests/api/test_transition.py
// compares.
struct Transition {
    const void* const* obs;     // obs[k]: the k-th observation array of the environment's own spec
    const void* const* info;    // info[k]: the k-th info array
    const void* const* before;  // obs before the step; null for an observation hook
    const void* action;         // as Env::step gets it; null for an observation hook
    void* const* out;           // out[k]: where an observation hook writes the k-th array; null for a reward hook
    double reward;              // a reward hook may change this, and the two below; 0 for an observation hook
    uint8_t terminated;
    uint8_t truncated;  // by the environment itself: the step limit comes afterwards
    int32_t env_id;
    int32_t elapsed_step;  // steps in the episode
    Agents* agents;        // null in an environment with one agent; a reward hook may change their rewards
};

using Hook = void (*)(Transition*);

}  // namespace cypool
