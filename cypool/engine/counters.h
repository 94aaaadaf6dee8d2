// Words that some threads write while others read neighbouring data: each has its own cache line.
//
// A line that one thread writes is taken from the caches of all others. These words were fields of the Python objects
// `Scheduler` and `Threads`, which have no alignment and hold fields that every thread reads for each environment.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace cypool {

constexpr size_t CACHE_LINE = 64;

// Of a scheduler.
struct SchedulerCounters {
    alignas(CACHE_LINE) std::atomic<uint64_t> rows{0};     // rows claimed so far, where they come as they finish
    alignas(CACHE_LINE) std::atomic<uint32_t> cost_ns{0};  // of one step, running mean; 0: unknown
};

// Of threads that have nothing to do. A thread that writes one of the words reads the other: they share a line.
struct Sleepers {
    alignas(CACHE_LINE) std::atomic<uint32_t> signal{0};  // idle threads sleep on it
    std::atomic<uint32_t> count{0};                       // how many do
};

static_assert(alignof(SchedulerCounters) == CACHE_LINE && sizeof(SchedulerCounters) == 2 * CACHE_LINE
                  && offsetof(SchedulerCounters, rows) == 0 && offsetof(SchedulerCounters, cost_ns) == CACHE_LINE,
              "expected each word on its own cache line");
static_assert(alignof(Sleepers) == CACHE_LINE && sizeof(Sleepers) == CACHE_LINE,
              "expected both words on one cache line, with nothing else");

}  // namespace cypool
