// The work of each step on the agents of an environment, without calls: for few agents a call of memcpy takes longer
// than the copy.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "cypool/engine/open_batch.h"
#include "cypool/slot.h"

namespace cypool {

// Flags of eight agents are one word; `env.pyx` makes room for whole ones. Bytes behind the last agent's flag are
// always 0.
constexpr size_t FLAGS_OF_WORD = 8;

inline size_t flag_words(size_t count) { return (count + FLAGS_OF_WORD - 1) / FLAGS_OF_WORD; }

inline uint64_t flags_at(const uint8_t* flags, size_t word) {
    uint64_t found;
    std::memcpy(&found, flags + word * FLAGS_OF_WORD, sizeof found);
    return found;
}

inline void set_flags(uint8_t* flags, size_t word, uint64_t value) {
    std::memcpy(flags + word * FLAGS_OF_WORD, &value, sizeof value);
}

// 1 for each flag that is not 0: environments may write any number.
inline uint64_t as_bools(uint64_t flags) {
    constexpr uint64_t LOW = 0x7f7f7f7f7f7f7f7f, ONES = 0x0101010101010101;
    return (((flags & LOW) + LOW) | flags) >> 7 & ONES;
}

// Copies n bytes, of which there are few.
inline void copy_few(uint8_t* to, const uint8_t* from, size_t n) {
    const auto copy = [=]<class T>(T word, size_t at) {
        std::memcpy(&word, from + at, sizeof word);
        std::memcpy(to + at, &word, sizeof word);
    };
    if (n >= 8) {
        for (size_t at = 0; at + 8 < n; at += 8) copy(uint64_t{}, at);
        copy(uint64_t{}, n - 8);
    } else if (n >= 4) {
        copy(uint32_t{}, 0);
        copy(uint32_t{}, n - 4);
    } else {
        for (size_t at = 0; at < n; ++at) copy(uint8_t{}, at);
    }
}

// Begins a step or a reset: no rewards, and no agent's part is over.
inline void clear_step(Agents& agents) {
    for (size_t k = 0; k < agents.count; ++k) agents.reward[k] = 0;
    for (size_t word = 0; word < flag_words(agents.count); ++word) {
        set_flags(agents.terminated, word, 0);
        set_flags(agents.truncated, word, 0);
    }
}

// Before `step`: who is alive acts, or whose turn it is of these.
inline void begin_step(Agents& agents) {
    clear_step(agents);
    for (size_t word = 0; word < flag_words(agents.count); ++word) {
        const uint64_t alive = flags_at(agents.alive, word);
        set_flags(agents.present, word, alive);
        set_flags(agents.acted, word, agents.turn ? alive & as_bools(flags_at(agents.turn, word)) : alive);
    }
}

// The result of a step, computed from those of its agents.
struct StepEnd {
    double reward;               // the environment's, where it says nothing else
    bool terminated, truncated;  // the environment's
};

// After `step` and the look at the step limit: says whose part is over, and whether the episode is.
inline StepEnd end_step(Agents& agents, double reward, bool all_terminated, bool all_truncated, bool statistics) {
    const uint64_t everybody = 0x0101010101010101;
    const uint64_t of_all_terminated = all_terminated ? everybody : 0, of_all_truncated = all_truncated ? everybody : 0;
    uint64_t anybody = 0, truncated = 0;
    for (size_t word = 0; word < flag_words(agents.count); ++word) {
        const uint64_t alive = as_bools(flags_at(agents.alive, word));
        const uint64_t takes_part = as_bools(flags_at(agents.present, word)) | alive;
        uint64_t ends_terminated = as_bools(flags_at(agents.terminated, word)) | (of_all_terminated & alive);
        uint64_t ends_truncated =
            as_bools(flags_at(agents.truncated, word)) | (of_all_truncated & alive & ~ends_terminated);
        // an agent's part is over once only
        ends_terminated &= takes_part;
        ends_truncated &= takes_part;
        const uint64_t remains = alive & ~(ends_terminated | ends_truncated);
        set_flags(agents.terminated, word, ends_terminated);
        set_flags(agents.truncated, word, ends_truncated);
        set_flags(agents.alive, word, remains);
        anybody |= remains;
        truncated |= ends_truncated;
    }
    double total = 0;
    for (size_t k = 0; k < agents.count; ++k) total += agents.reward[k];
    if (statistics) {
        for (size_t k = 0; k < agents.count; ++k) {
            // an agent that waits for its turn may be rewarded for actions of others
            agents.episode_return[k] += agents.reward[k];
            agents.episode_length[k] += agents.acted[k] != 0;
        }
    }
    StepEnd end{reward != reward ? total : reward, all_terminated, all_truncated};
    if (!anybody && !all_terminated && !all_truncated) {
        end.truncated = truncated != 0;
        end.terminated = !end.truncated;
    }
    return end;
}

// Writes the results of a step to a row of all groups.
inline void write_step(const Agents& agents, const OpenBatch& batch, uint32_t row) {
    size_t first = 0;
    for (int g = 0; g < batch.num_groups; ++g) {
        const AgentColumns& group = batch.agents[g];
        const size_t n = group.count, at = row * n;
        for (size_t k = 0; k < n; ++k) group.reward[at + k] = agents.reward[first + k];
        copy_few(group.terminated + at, agents.terminated + first, n);
        copy_few(group.truncated + at, agents.truncated + first, n);
        if (group.acted) {
            copy_few(group.acted + at, agents.acted + first, n);
            copy_few(group.alive + at, agents.alive + first, n);
        }
        first += n;
    }
}

// Ends the step of an environment whose row `step_many` wrote: apart from the loop over rows, in which environments of
// one agent would pay for it.
[[gnu::noinline]] inline void end_step_of_row(Agents& agents, const OpenBatch& batch, uint32_t row, bool statistics) {
    const StepEnd end = end_step(agents, batch.reward[row], batch.terminated[row], batch.truncated[row], statistics);
    batch.reward[row] = end.reward;
    batch.terminated[row] = end.terminated;
    batch.truncated[row] = end.truncated;
    write_step(agents, batch, row);
}

}  // namespace cypool
