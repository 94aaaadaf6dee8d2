// The argument of cypool's policies: neighbouring environments. A user's policy sees one at a time: cypool/policy.h.
#pragma once

#include <cstdint>

namespace cypool {

// Pointers are valid during the call. The rows of observations, masks and actions lie one behind the other.
struct Decisions {
    const void* obs;      // of the first environment
    const uint8_t* mask;  // 1 for legal actions, of the first environment; null: all are
    void* actions;        // of the first environment
    const void* parameters;
    int64_t step;     // of the rollout
    uint32_t env_id;  // of the first environment: the others have the next ones
    uint32_t count;   // of environments
};

// Returns 0, or -1 if there is no memory.
using ManyPolicy = int (*)(const Decisions*);

}  // namespace cypool
