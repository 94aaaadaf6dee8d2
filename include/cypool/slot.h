// The plain structs and the ABI number that the engine, our environments and plug-ins share.
#pragma once

// To raise with any change of Env or StepBackend (their methods, the order of these, fields), Slot, Rows, Agents,
// Transition, Turn or Decision. import_cypool() compares it: modules that only have hooks or policies call it, too.
#define CYPOOL_ABI 6

#include <cstdint>

namespace cypool {

// One row of a batch: where an environment writes its observation. The pool owns the memory.
struct Slot {
    void* const* obs;   // obs[k]: this row of the k-th observation array, in the order of the spec
    void* const* info;  // info[k]: this row of the k-th info array, in the order of the spec
};

// The agents of one environment, in the order of the spec: group by group. The engine owns the memory.
struct Agents {
    uint32_t count;
    // set by step; all zero when step or reset begins
    double* reward;
    uint8_t* terminated;  // this agent's part is over; it is not alive any more
    uint8_t* truncated;
    // who is in the game. All 1 when reset begins, which may clear those that come later; step may set those that come.
    // After step the engine clears those that terminated or were truncated
    uint8_t* alive;
    // whose actions the next step takes, where the spec says `turns`, else null. All 1 when reset begins
    uint8_t* turn;
    // kept by the engine
    uint8_t* acted;    // who acts in this step, or did in the last one
    uint8_t* present;  // who was in the game when it began
    // in pools with `episode_statistics`, else 0
    double* episode_return;
    int64_t* episode_length;
};

// Neighbouring rows of a batch, for environments that step many at once. Also of environments whose episode is over:
// the engine resets these afterwards, whatever became of them, unless their row says STEP_ALONE.
struct Rows {
    uint32_t count;
    const int32_t* ids;   // whose they are
    const char* actions;  // of environment 0; those of the others follow it
    void* const* obs;     // obs[k]: the first of the rows in the k-th observation array
    void* const* info;
    double* reward;
    uint8_t* terminated;
    uint8_t* truncated;  // 0 so far
};

enum { CYPOOL_MOST_PLAYERS = 10 };

// Who moves in a game, for tree search. All zero when `turn` begins.
struct Turn {
    int32_t num_players;  // the same in all states; 1: no game, or that of one player
    int32_t player;       // who moves now; not read at an end
    uint64_t outcome;     // of chance in the last step: states that differ by chance alone have different ones
    double reward[CYPOOL_MOST_PLAYERS];  // of the last step, for each player
};

// In the place of `terminated`: the environment was not stepped, and the engine calls its `step` and `observe`, or its
// `reset`, as without step_many.
enum : uint8_t { STEP_ALONE = 2 };

}  // namespace cypool
