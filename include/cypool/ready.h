// The ring of environment ids that wait for a thread: one producer, many consumers, claims in chunks.
#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdint>
#include <memory>

namespace cypool {

// An id is on the ring once at most, so a ring with a place for each id cannot overflow.
class Ready {
  public:
    explicit Ready(uint32_t num_ids)
        : mask_(std::bit_ceil(num_ids) - 1), ids_(new std::atomic<int32_t>[std::bit_ceil(num_ids)]) {}

    // Producer: puts an id behind the others; consumers see it after publish().
    void push(int32_t id) noexcept { ids_[end_++ & mask_].store(id, std::memory_order_relaxed); }

    // Producer: lets consumers have all that was pushed.
    void publish() noexcept { tail_.store(end_, std::memory_order_seq_cst); }

    // Producer: the number of ids ever pushed, which is the position of the next one.
    uint64_t pushed() const noexcept { return end_; }

    // Ids nobody has claimed yet.
    uint64_t left() const noexcept {
        uint64_t head = head_.load(std::memory_order_seq_cst), tail = tail_.load(std::memory_order_seq_cst);
        return tail > head ? tail - head : 0;
    }

    // Takes 1/share of what is left, but `least` to `most` ids as far as there are any, into `out`.
    // Returns how many; `first` is the position of the first one.
    uint32_t claim(uint32_t share, uint32_t least, uint32_t most, int32_t* out, uint64_t* first) noexcept {
        uint64_t head = head_.load(std::memory_order_acquire);
        for (;;) {
            uint64_t tail = tail_.load(std::memory_order_acquire);
            if (head >= tail) return 0;
            uint64_t left = tail - head;
            uint64_t count = std::min(left, std::clamp<uint64_t>(left / share, least, most));
            // read before the claim: once claimed, the producer may use the places again. If they
            // were overwritten meanwhile, head has moved and the exchange fails
            for (uint64_t k = 0; k < count; ++k) out[k] = ids_[(head + k) & mask_].load(std::memory_order_relaxed);
            if (head_.compare_exchange_weak(head, head + count, std::memory_order_acq_rel,
                                            std::memory_order_acquire)) {
                *first = head;
                return static_cast<uint32_t>(count);
            }
        }
    }

  private:
    const uint64_t mask_;
    const std::unique_ptr<std::atomic<int32_t>[]> ids_;
    uint64_t end_ = 0;                            // the producer's own
    alignas(64) std::atomic<uint64_t> tail_{0};   // written by the producer
    alignas(64) std::atomic<uint64_t> head_{0};   // written by consumers
};

}  // namespace cypool
