// The rows of a synchronous batch, distributed to threads: each has its share and helps with the others.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>

namespace cypool {

// A thread finds the same environments in its share call after call, so their state stays in its cache.
//
// Rows have positions that only grow from batch to batch: a thread that slept through a batch and comes
// with an old position in hand cannot claim anything of a new one.
class WorkShares {
public:
    explicit WorkShares(uint32_t num_shares) : num_(num_shares), shares_(new Share[num_shares]) {}

    // Producer: deals out the positions [first, first + count). All earlier ones have to be finished.
    void publish(uint64_t first, uint64_t count) noexcept {
        for (uint64_t k = 0; k < num_; ++k) {
            // the beginning before the end: in between the share looks empty, or is as it should be
            shares_[k].next.store(first + count * k / num_, std::memory_order_release);
            shares_[k].end.store(first + count * (k + 1) / num_, std::memory_order_release);
        }
        published_.store(first + count, std::memory_order_seq_cst);
    }

    // Changes with each publish().
    uint64_t published() const noexcept { return published_.load(std::memory_order_seq_cst); }

    // Takes a quarter of the rest of the thread's own share, or else of another one, but `min_rows` to `max_rows`
    // positions as far as there are any. Returns how many; `first` is the first of them.
    uint32_t claim(uint32_t own, uint32_t min_rows, uint32_t max_rows, uint64_t* first) noexcept {
        // there may be a thread more than shares
        own = std::min(own, num_ - 1);
        for (uint32_t k = 0; k < num_; ++k) {
            Share& share = shares_[own + k < num_ ? own + k : own + k - num_];
            uint64_t next = share.next.load(std::memory_order_acquire);
            for (;;) {
                uint64_t end = share.end.load(std::memory_order_acquire);
                if (next >= end) break;
                uint64_t count = std::min(end - next, std::clamp<uint64_t>((end - next) / 4, min_rows, max_rows));
                if (share.next.compare_exchange_weak(next, next + count, std::memory_order_acq_rel,
                                                     std::memory_order_acquire)) {
                    *first = next;
                    return static_cast<uint32_t>(count);
                }
            }
        }
        return 0;
    }

private:
    struct alignas(64) Share {
        std::atomic<uint64_t> next{0};
        std::atomic<uint64_t> end{0};
    };

    const uint32_t num_;
    const std::unique_ptr<Share[]> shares_;
    alignas(64) std::atomic<uint64_t> published_{0};
};

static_assert(sizeof(WorkShares) == 2 * 64, "expected the words that the producer writes on their own cache line");

}  // namespace cypool
