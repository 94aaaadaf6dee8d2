// The words that a pool shares with its workers: the processes or threads that step its environments.
#pragma once

#include <atomic>
#include <cstdint>

namespace cypool {

enum WorkerTask : uint32_t { STEP, RESET, CALL };           // the kind of task
enum TaskState : uint32_t { IDLE, POSTED, RUNNING, DONE };  // how far it is
enum Life : uint32_t { STARTING, READY, ENDED };            // of a worker

// Where the pool hears of answers.
struct alignas(64) PoolControl {
    std::atomic<uint32_t> answers;   // how many there were; the pool sleeps on it
    std::atomic<uint32_t> target;    // it wants to be woken at this number
    std::atomic<uint32_t> sleeping;  // whether it does
    std::atomic<uint32_t> deaths;    // of workers
    std::atomic<uint32_t> closing;   // workers are to end
    std::atomic<uint32_t> layout;    // of the memory, as a checksum; 0: not known yet
};

// Where a worker hears of tasks.
struct alignas(64) WorkerControl {
    std::atomic<uint32_t> doorbell;  // it sleeps on it
    std::atomic<uint32_t> sleeping;
    std::atomic<uint32_t> life;
    std::atomic<uint32_t> made;  // it has made its environments
    int32_t status;              // with which it ended, as os.waitpid has it
    uint64_t payload_bytes;      // in the memory of its first environment: why it could not start
    std::atomic<int64_t> since;  // when it last began or finished something: to start, a task; ns
};

// A task of an environment and its answer; one cache line. Whose turn it is to write, `state` says.
struct alignas(64) EnvMailbox {
    std::atomic<uint32_t> state;
    uint32_t task;
    uint64_t seed;
    uint64_t payload_bytes;  // of the pickle: options or a call to the worker, infos or an error from it
    double reward;
    std::atomic<int64_t> since;  // when it was posted, ns; only if tasks have a time limit
    bool requested;              // the user asked for this reset
    bool seeded;
    bool resets;  // a reset follows if the episode ends
    bool last;    // it does, by the pool's limit
    bool terminated;
    bool truncated;
    bool was_reset;  // the reset that follows is done
    bool failed;
};

}  // namespace cypool
