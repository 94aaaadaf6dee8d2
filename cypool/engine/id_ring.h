// The ring of environment ids that wait for a thread, first come, first served: one producer, many consumers.
#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdint>
#include <memory>

namespace cypool {

// An id is on the ring once at most, so a ring with a place for each id cannot overflow.
class IdRing {
public:
    explicit IdRing(uint32_t num_ids)
        : mask_(std::bit_ceil(num_ids) - 1),
          ids_(new std::atomic<int32_t>[std::bit_ceil(num_ids)]) {}

    // Producer: puts ids behind the others.
    void push(const int32_t* ids, uint32_t count) noexcept {
        for (uint32_t k = 0; k < count; k++) ids_[end_++ & mask_].store(ids[k], std::memory_order_relaxed);
        tail_.store(end_, std::memory_order_seq_cst);
    }

    // Whether there is nothing to claim.
    bool empty() const noexcept {
        uint64_t head = head_.load(std::memory_order_seq_cst);
        return tail_.load(std::memory_order_seq_cst) <= head;
    }

    // Takes the oldest ids and returns their number: at most `max_rows`, and at most 1/`divisor` of the ids that wait,
    // which leaves some for other threads; but at least `min_rows`, if there are as many.
    uint32_t claim(int32_t* ids, uint32_t min_rows, uint32_t max_rows, uint32_t divisor) noexcept {
        uint64_t head = head_.load(std::memory_order_acquire);
        for (;;) {
            uint64_t waiting = tail_.load(std::memory_order_acquire) - head;
            // negative if this tail is older than this head
            if (static_cast<int64_t>(waiting) <= 0) return 0;
            auto count =
                static_cast<uint32_t>(std::min(waiting, std::clamp<uint64_t>(waiting / divisor, min_rows, max_rows)));
            // read before the claim: once claimed, the producer may use the places again. If one was
            // overwritten meanwhile, head has moved and the exchange fails
            for (uint32_t k = 0; k < count; k++) ids[k] = ids_[(head + k) & mask_].load(std::memory_order_relaxed);
            if (head_.compare_exchange_weak(head, head + count, std::memory_order_acq_rel, std::memory_order_acquire))
                return count;
        }
    }

private:
    const uint64_t mask_;
    const std::unique_ptr<std::atomic<int32_t>[]> ids_;
    alignas(64) uint64_t end_ = 0;               // the producer's own
    alignas(64) std::atomic<uint64_t> tail_{0};  // written by the producer
    alignas(64) std::atomic<uint64_t> head_{0};  // written by consumers
};

static_assert(sizeof(IdRing) == 4 * 64, "expected shared data, and each word that is written, on separate cache lines");

}  // namespace cypool
