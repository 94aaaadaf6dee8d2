// Sleeping and waking threads on a 32-bit word: a futex, because std::atomic::wait has no timed form.
// Linux only.
#pragma once

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>

namespace cypool {

// Sleeps while `word` holds `expected`, for `timeout_ns` at most (below 0: no limit).
// Returns false if the time ran out or a signal came; true: look at the word again.
// `shared`: the word lies in memory that processes share, and another one wakes.
inline bool park(std::atomic<uint32_t>& word, uint32_t expected, int64_t timeout_ns, bool shared = false) noexcept {
    timespec limit{timeout_ns / 1'000'000'000, timeout_ns % 1'000'000'000};
    long status = syscall(SYS_futex, reinterpret_cast<uint32_t*>(&word), shared ? FUTEX_WAIT : FUTEX_WAIT_PRIVATE,
                          expected, timeout_ns < 0 ? nullptr : &limit, nullptr, 0);
    return status == 0 || errno == EAGAIN;
}

// Wakes up to `count` threads that sleep on `word`.
inline void wake(std::atomic<uint32_t>& word, int count, bool shared = false) noexcept {
    syscall(SYS_futex, reinterpret_cast<uint32_t*>(&word), shared ? FUTEX_WAKE : FUTEX_WAKE_PRIVATE, count, nullptr,
            nullptr, 0);
}

// One turn of a spin loop; about 20 to 40 ns.
inline void relax() noexcept {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("isb" ::: "memory");
#endif
}

// A monotonic clock in nanoseconds.
inline int64_t now_ns() noexcept {
    timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

}  // namespace cypool
