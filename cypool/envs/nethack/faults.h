// The end of a game must not end the process: a fault becomes a jump back to the caller of the game, and so does an
// endless loop. Signal handlers are there only while there are games, and pass on other signals.
#pragma once

#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>

#include "cypool/envs/nethack/memory.h"
#include "cypool/util/forks.h"

namespace cypool::nethack {

// SIGURG is ignored without a handler, so that one that comes late does no harm.
enum : int { TICK = SIGURG, TICK_MS = 100 };
constexpr int SIGNALS[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, TICK};

// Of each thread: where its signal handlers run, and a clock that ticks in its CPU time while it plays.
class Thread {
public:
    // Both are read by a handler.
    inline static thread_local int ticks __attribute__((tls_model("initial-exec"))) = 0;
    inline static thread_local int max_ticks __attribute__((tls_model("initial-exec"))) = 0;
    // 0: it does not tick
    inline static thread_local uint32_t ticks_since __attribute__((tls_model("initial-exec"))) = 0;
    inline static thread_local bool is_chaining __attribute__((tls_model("initial-exec"))) = false;
    inline static thread_local timer_t timer __attribute__((tls_model("initial-exec"))) = nullptr;

    // Begins a step: its game gets this number of ticks at most.
    static void begin_step(int most) {
        static thread_local Thread own;
        // a timer is not inherited by the child of a fork, and its thread has another number
        if (own.forks_ != num_forks()) own.make_timer();
        ticks = 0;
        max_ticks = most;
        keep_ticking();
    }
    // It stops while no game is played, and where a tick came without a handler.
    static void keep_ticking() {
        if (ticks_since != handled_since.load(std::memory_order_relaxed)) start_ticking();
    }
    static void stop_ticking() {
        ticks_since = 0;
        set_timer(0);
    }

    // Changes when ticks are handled again.
    inline static std::atomic<uint32_t> handled_since{0};

private:
    enum : size_t { STACK = 64 << 10 };
    std::unique_ptr<char[]> stack_;
    int forks_ = 0;  // when the timer was made

    static void start_ticking() {
        ticks_since = handled_since.load(std::memory_order_relaxed);
        if (set_timer(TICK_MS)) return;
        ticks_since = 0;
        constexpr const char* WHY = "the system cannot start the timer that stops endless loops";
        // no exception may pass a game's call
        if (running != nullptr) fail(WHY);
        throw std::runtime_error(std::string("NetHack: ") + WHY);
    }
    static bool set_timer(int ms) {
        const timespec interval{0, ms * 1000000L};
        const itimerspec every{interval, interval};
        return timer_settime(timer, 0, &every, nullptr) == 0;
    }

    Thread() {
        stack_t old;
        sigaltstack(nullptr, &old);
        if (old.ss_flags & SS_DISABLE) {
            stack_.reset(new char[STACK]);
            const stack_t own{stack_.get(), 0, STACK};
            sigaltstack(&own, nullptr);
        }
        // cypool's threads block all signals but those of a crash
        sigset_t tick;
        sigemptyset(&tick);
        sigaddset(&tick, TICK);
        pthread_sigmask(SIG_UNBLOCK, &tick, nullptr);
        make_timer();
    }
    void make_timer() {
        ticks_since = 0;
        sigevent event{};
        event.sigev_notify = SIGEV_THREAD_ID;
        event.sigev_signo = TICK;
        event.sigev_value.sival_ptr = &timer;
        event._sigev_un._tid = static_cast<pid_t>(syscall(SYS_gettid));
        if (timer_create(CLOCK_THREAD_CPUTIME_ID, &event, &timer) != 0) {
            timer = nullptr;
            throw std::runtime_error("NetHack: expected the system to provide a timer for this thread, got none");
        }
        forks_ = num_forks();
    }
    ~Thread() {
        timer_delete(timer);
        if (stack_) {
            const stack_t none{nullptr, SS_DISABLE, 0};
            sigaltstack(&none, nullptr);
        }
    }
};

// The signal handlers of the process. Each game holds them.
class Handlers {
public:
    Handlers() {
        std::lock_guard<std::mutex> lock(mutex());
        ++holders();
        put_on_top();
    }
    ~Handlers() {
        std::lock_guard<std::mutex> lock(mutex());
        if (--holders() > 0) return;
        for (int number : SIGNALS) {
            struct sigaction now;
            sigaction(number, nullptr, &now);
            // who came later has ours to pass on to
            if (is_ours(now)) sigaction(number, &previous(number), nullptr);
        }
    }
    Handlers(const Handlers&) = delete;
    Handlers& operator=(const Handlers&) = delete;

    // Comes before handlers that others installed meanwhile.
    void renew() {
        std::lock_guard<std::mutex> lock(mutex());
        put_on_top();
    }

private:
    static std::mutex& mutex() {
        static std::mutex one;
        return one;
    }
    static int& holders() {
        static int number = 0;
        return number;
    }
    static struct sigaction& previous(int number) {
        static struct sigaction all[NSIG];
        return all[number];
    }
    static bool is_ours(const struct sigaction& action) {
        return (action.sa_flags & SA_SIGINFO) != 0 && action.sa_sigaction == &handle;
    }

    static void put_on_top() {
        struct sigaction ours{};
        ours.sa_sigaction = &handle;
        // not blocked while it is handled, as the handler does not return
        ours.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER | SA_RESTART;
        for (int number : SIGNALS) {
            struct sigaction now;
            sigaction(number, nullptr, &now);
            if (is_ours(now)) continue;
            previous(number) = now;
            sigaction(number, &ours, nullptr);
            // never 0
            if (number == TICK && ++Thread::handled_since == 0) ++Thread::handled_since;
        }
    }

    static void handle(int number, siginfo_t* info, void* context) {
        if (number == TICK && info->si_code == SI_TIMER && info->si_value.sival_ptr == &Thread::timer) {
            if (running == nullptr) {
                Thread::stop_ticking();
            } else if (++Thread::ticks > Thread::max_ticks && running->is_text(instruction(context))) {
                // not within a function of the C library, which may hold a lock
                fail("it took too long: an endless loop?");
            }
            return;
        }
        if (number != TICK && running != nullptr) {
            fail(number == SIGSEGV  ? "a segmentation fault"
                 : number == SIGBUS ? "a bus error"
                 : number == SIGFPE ? "a division by zero"
                                    : "an illegal instruction");
        }
        pass_on(number, info, context);
    }

    static uintptr_t instruction(void* context) {
        const auto& machine = static_cast<ucontext_t*>(context)->uc_mcontext;
#ifdef __x86_64__
        return static_cast<uintptr_t>(machine.gregs[REG_RIP]);
#else
        return static_cast<uintptr_t>(machine.pc);
#endif
    }

    // As if there were no handler of ours. The previous one may pass on to this one again.
    static void pass_on(int number, siginfo_t* info, void* context) {
        const struct sigaction& other = previous(number);
        if (!Thread::is_chaining && (other.sa_flags & SA_SIGINFO)) {
            Thread::is_chaining = true;
            other.sa_sigaction(number, info, context);
            Thread::is_chaining = false;
        } else if (!Thread::is_chaining && other.sa_handler != SIG_DFL && other.sa_handler != SIG_IGN) {
            Thread::is_chaining = true;
            other.sa_handler(number);
            Thread::is_chaining = false;
        } else if (number != TICK) {
            struct sigaction standard{};
            standard.sa_handler = SIG_DFL;
            sigaction(number, &standard, nullptr);
            // one that was sent does not come again by itself
            if (info->si_code <= 0) raise(number);
        }
    }
};

// Calls a function of the game, or of ours that reads its memory. False: it failed, and `Head::failure` says why. No
// object with a destructor may live in the call.
template <class Call> __attribute__((noinline)) bool guarded(Block& block, const Call& call) {
    Block* const outer = running;
    if (sigsetjmp(block.back, 0) != 0) {
        running = outer;
        return false;
    }
    running = &block;
    call();
    running = outer;
    return true;
}

}  // namespace cypool::nethack
