// The ring of environment ids that wait for a thread, first come, first served: one producer, many consumers.
#pragma once

#include <atomic>
#include <bit>
#include <cstdint>
#include <memory>

namespace cypool {

// An id is on the ring once at most, so a ring with a place for each id cannot overflow.
class ReadyQueue {
public:
    explicit ReadyQueue(uint32_t num_ids)
        : mask_(std::bit_ceil(num_ids) - 1),
          ids_(new std::atomic<int32_t>[std::bit_ceil(num_ids)]) {}

    // Producer: puts an id behind the others; consumers see it after publish().
    void push(int32_t id) noexcept { ids_[end_++ & mask_].store(id, std::memory_order_relaxed); }

    // Producer: lets consumers have all that was pushed.
    void publish() noexcept { tail_.store(end_, std::memory_order_seq_cst); }

    // Whether there is nothing to claim.
    bool empty() const noexcept {
        uint64_t head = head_.load(std::memory_order_seq_cst);
        return tail_.load(std::memory_order_seq_cst) <= head;
    }

    // Takes the oldest id; false if there is none. One at a time: an id that stood behind a slow
    // environment in one thread's hands would be late.
    bool claim(int32_t* id) noexcept {
        uint64_t head = head_.load(std::memory_order_acquire);
        while (head < tail_.load(std::memory_order_acquire)) {
            // read before the claim: once claimed, the producer may use the place again. If it was
            // overwritten meanwhile, head has moved and the exchange fails
            *id = ids_[head & mask_].load(std::memory_order_relaxed);
            if (head_.compare_exchange_weak(head, head + 1, std::memory_order_acq_rel, std::memory_order_acquire))
                return true;
        }
        return false;
    }

private:
    const uint64_t mask_;
    const std::unique_ptr<std::atomic<int32_t>[]> ids_;
    alignas(64) uint64_t end_ = 0;               // the producer's own
    alignas(64) std::atomic<uint64_t> tail_{0};  // written by the producer
    alignas(64) std::atomic<uint64_t> head_{0};  // written by consumers
};

static_assert(sizeof(ReadyQueue) == 4 * 64,
              "expected what all read, and each word that is written, on its own cache line");

}  // namespace cypool
