// A policy that draws each legal action with the same probability.
#pragma once

#include <cstddef>

#include "cypool/policies/decisions.h"
#include "cypool/util/legal.h"
#include "cypool/policies/philox.h"

namespace cypool {

// The policy during a rollout, or a call.
struct RandomCall {
    uint64_t seed, first_step;  // of the random numbers
    size_t agents;              // rows of an environment
    size_t num_actions;

    // Masks are null if all actions are legal.
    void choose(const uint8_t* mask, int64_t* actions, int64_t step, size_t env_id, size_t count) const noexcept {
        const uint64_t at = first_step + static_cast<uint64_t>(step);
        const size_t first = env_id * agents, end = first + count * agents;
        uint32_t words[4] = {};
        for (size_t row = first; row < end; row++, actions++) {
            // a counter gives the words of four rows
            if (row == first || row % 4 == 0) {
                philox(seed,
                       {static_cast<uint32_t>(row / 4), 0, static_cast<uint32_t>(at), static_cast<uint32_t>(at >> 32)},
                       words);
            }
            *actions = drawn(mask, words[row % 4]);
            if (mask != nullptr) mask += num_actions;
        }
    }

private:
    int64_t drawn(const uint8_t* mask, uint32_t word) const noexcept {
        const size_t legal = mask == nullptr ? num_actions : count_legal(mask, num_actions);
        const auto n = static_cast<size_t>(uint64_t{word} * legal >> 32);
        return mask == nullptr || legal == 0 ? static_cast<int64_t>(n) : nth_legal(mask, num_actions, n);
    }
};

// The policy of a `RandomCall`, which its parameters are.
inline int random_policy(const Decisions* decisions) noexcept {
    static_cast<const RandomCall*>(decisions->parameters)
        ->choose(decisions->mask, static_cast<int64_t*>(decisions->actions), decisions->step, decisions->env_id,
                 decisions->count);
    return 0;
}

}  // namespace cypool
