// The argument of a policy: of a user's function that the threads call without the GIL, before each step of a rollout.
#pragma once

#include <cstdint>

#include "cypool/slot.h"

namespace cypool {

// Pointers are valid during the call. cypool/policies declares the struct too: tests/api/test_transition.py
// compares.
struct Decision {
    const void* const* obs;   // obs[k]: the k-th array of the observation that the last step, or reset, led to
    const void* const* info;  // info[k]: the k-th info array of the environment's spec
    void* action;             // where the policy writes the action, as Env::step gets it; zero before
    void* state;              // this environment's row of Policy.state; null without
    const void* parameters;   // Policy.parameters; null without
    int64_t step;             // of the rollout
    int32_t env_id;
    int32_t elapsed_step;  // steps in the episode before this one
    uint8_t ended;         // the episode is over: this step starts the next one, and ignores the action
    const Agents* agents;  // null in an environment with one agent
};

// Returns 0, or else the environment fails with an error that has this number.
using PolicyFunction = int (*)(Decision*);

}  // namespace cypool
