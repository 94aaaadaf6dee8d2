// A batch while it is being filled: where its rows lie and how many are finished.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace cypool {

constexpr int MAX_COLUMNS = 64;  // observation and info arrays of one environment

// The kind of a row.
enum RowKind : uint8_t {
    ROW_STEP = 0,  // a step
    ROW_RESET,     // a reset: the row begins an episode
    ROW_NO_STEP,   // neither: the environment was only observed again, stays at its end, or has failed
};

struct Column {
    char* data;  // row 0; the block owns the memory
    size_t row_bytes;
};

// Of a group of agents; each row has `count` of a kind.
struct AgentColumns {
    uint32_t count = 0;
    int num_obs = 0;  // observation columns that are the group's, behind those of the groups before
    double* reward = nullptr;
    uint8_t* terminated = nullptr;
    uint8_t* truncated = nullptr;
    uint8_t* acted = nullptr;          // null if all always act and stay
    uint8_t* alive = nullptr;          // likewise
    double* episode_return = nullptr;  // where statistics are kept
    int64_t* episode_length = nullptr;
};

// Only the pool's caller writes the pointers, before the rows are up for claims. A row belongs to the thread that
// claimed it until it is counted in `finished`.
struct OpenBatch {
    Column* columns = nullptr;  // observations, then infos
    Column* finals = nullptr;   // the same of the episodes that end here, where the next one begins in the same step
    int num_columns = 0;
    int num_obs = 0;
    double* reward = nullptr;
    uint8_t* terminated = nullptr;
    uint8_t* truncated = nullptr;
    uint8_t* kind = nullptr;  // RowKind; ROW_STEP until another one is written
    int32_t* env_id = nullptr;
    int32_t* elapsed_step = nullptr;
    int32_t* final_step = nullptr;  // elapsed_step of the episode that ends here
    // of the episode that ends here, 0 if none does; where statistics are kept
    double* episode_return = nullptr;
    int64_t* episode_length = nullptr;
    double* episode_time = nullptr;
    const AgentColumns* agents = nullptr;  // of each group
    int num_groups = 0;
    alignas(64) std::atomic<uint32_t> finished{0};  // rows written, counted by the threads that wrote them
    std::atomic<uint32_t> wanted{0};                // the caller sleeps until this many are finished; 0: it does not
};

}  // namespace cypool
