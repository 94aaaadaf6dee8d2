// Thread functions that std::thread lacks. Linux only.
#pragma once

#include <signal.h>

#include <atomic>
#include <cstdint>
#include <exception>
#include <thread>

namespace cypool {

// Whether the calling thread is `other`.
inline bool on_thread(const std::thread* other) noexcept { return other->get_id() == std::this_thread::get_id(); }

// Leaves signals to other threads, so that Ctrl-C interrupts the one that runs Python; but not those that
// report a crash in this one.
inline void block_signals() noexcept {
    sigset_t others;
    sigfillset(&others);
    for (int own : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP}) sigdelset(&others, own);
    pthread_sigmask(SIG_BLOCK, &others, nullptr);
}

// Where a thread is at work; on a separate cache line.
struct alignas(64) ThreadState {
    std::thread::id thread;           // the owner; set by it, before another thread reads it
    std::atomic<uint32_t> serves{0};  // 1 + the index of the scheduler it serves; 0: none. Others wait for a change
    void* scheduler = nullptr;        // borrowed, unless `owns`
    bool owns = false;                // the pool was garbage-collected on this thread, which frees the scheduler
    uint32_t next = 0;                // the index to look at first next time
};

// Binds a state to the calling thread.
inline void bind_thread(ThreadState* state) noexcept {
    state->thread = std::this_thread::get_id();
    // has the C++ library allocate the thread's memory for exceptions: without memory for it later, the process ends
    static_cast<void>(std::uncaught_exceptions());
}

// Whether it is the calling thread's.
inline bool on_thread(const ThreadState* state) noexcept { return state->thread == std::this_thread::get_id(); }

}  // namespace cypool
