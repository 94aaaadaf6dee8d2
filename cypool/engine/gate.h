// Lets one caller at a time into a pool.
#pragma once

#include <Python.h>

#include <atomic>

namespace cypool {

enum GateState { GATE_OPEN, GATE_BUSY, GATE_CLOSED };

class Gate {
public:
    // Lets the caller in if the gate is open; then `open` or `close` follows. Returns how it was found.
    GateState enter() noexcept {
        GateState found = GATE_OPEN;
#ifdef Py_GIL_DISABLED
        state_.compare_exchange_strong(found, GATE_BUSY, std::memory_order_acquire);
#else
        // callers hold the GIL: no locked instruction
        found = state_.load(std::memory_order_relaxed);
        if (found == GATE_OPEN) state_.store(GATE_BUSY, std::memory_order_relaxed);
#endif
        return found;
    }
    void open() noexcept { state_.store(GATE_OPEN, std::memory_order_release); }
    void close() noexcept { state_.store(GATE_CLOSED, std::memory_order_release); }
    bool is_closed() const noexcept { return state_.load(std::memory_order_acquire) == GATE_CLOSED; }

private:
    std::atomic<GateState> state_{GATE_CLOSED};
};

// A call that went through a gate: the gate opens again where the call's function ends, in whatever way.
class GateGuard {
public:
    GateGuard() noexcept = default;
    GateGuard(const GateGuard&) = delete;
    GateGuard& operator=(const GateGuard&) = delete;
    ~GateGuard() {
        if (gate_ != nullptr) gate_->open();
    }
    void hold(Gate& gate) noexcept { gate_ = &gate; }

private:
    Gate* gate_ = nullptr;
};

}  // namespace cypool
