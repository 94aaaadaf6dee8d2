// MuJoCo's calls that may fail: where MuJoCo would end the process, an exception comes out (guard.pxd).
#pragma once

#include <cfenv>
#include <csetjmp>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <memory>
#include <mutex>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>
#ifdef __x86_64__
#include <xmmintrin.h>
#endif

#include "cypool/mujoco.h"

namespace cypool {

// MuJoCo's messages during a call
struct LogCapture {
    std::jmp_buf back;
    char error[1024];
    char warning[1024];
};
inline thread_local LogCapture* log_capture = nullptr;

enum { THREAD_LOCALS = 1 << 16 };  // bytes: MuJoCo's take 4 KB

template <size_t SIZE> void copy_text(char (&out)[SIZE], const char* text) {
    const size_t size = strnlen(text, SIZE - 1);
    std::memcpy(out, text, size);
    out[size] = 0;
}

[[noreturn]] inline void on_error(const char* text) {
    copy_text(log_capture->error, text);
    std::longjmp(log_capture->back, 1);
}
inline void on_warning(const char* text) {
    if (!log_capture->warning[0]) copy_text(log_capture->warning, text);
}

// the handler of errors and warnings in a thread: since MuJoCo 3.10 one handler
inline void on_log(const mjLogMessage* message) {
    constexpr int WARNING = 2, ERROR = 3;
    if (message->level == ERROR) on_error(message->subject);
    if (message->level == WARNING) on_warning(message->subject);
}
struct Handlers {
    Library::LogHandler log;
    Library::TextHandler error, warning;
};
inline constexpr Handlers OURS = {on_log, on_error, on_warning};
inline Handlers set_handlers(Handlers handlers) {
    const Library& l = library();
    if (l.set_log_handler) return {l.set_log_handler(handlers.log), nullptr, nullptr};
    const Handlers before = {nullptr, l.get_error_handler(), l.get_warning_handler()};
    l.set_error_handler(handlers.error);
    l.set_warning_handler(handlers.warning);
    return before;
}

// The personality routine of `jumped_into`. MuJoCo's library has a separate C++ runtime: an exception that leaves
// it (std::bad_alloc, mostly) must not reach ours, which would misread it and crash. Its unwinder asks here whether
// there is a handler; when it has destroyed MuJoCo's objects it comes back to go there.
__attribute__((used)) static int exception_left(int, int actions, uint64_t, void*,
                                                void*) asm("cypool_mujoco_exception_left");
static int exception_left(int, int actions, uint64_t, void*, void*) {
    constexpr int SEARCH_PHASE = 1, HANDLER_FRAME = 4, HANDLER_FOUND = 6, CONTINUE_UNWIND = 8;
    if (actions & SEARCH_PHASE) return HANDLER_FOUND;
    if (!(actions & HANDLER_FRAME)) return CONTINUE_UNWIND;
    std::strcpy(log_capture->error, "an exception in its C++ code: out of memory?");
    std::longjmp(log_capture->back, 1);
}

// Calls MuJoCo; false after an error. No object of ours with a destructor may live in the call.
template <class Call> __attribute__((noinline)) bool jumped_into(const Call& call) {
    // a relative address, four bytes
    asm volatile(".cfi_personality 0x1b, cypool_mujoco_exception_left");
    if (setjmp(log_capture->back)) return false;
    call();
    return true;
}

// MuJoCo's working memory of a call, which the next call overwrites: contacts, constraints, its stack. Megabytes are
// reserved for the worst case, about ten kilobytes used: one for all environments of a thread stays in its cache.
struct Arena {
    void* memory = nullptr;
    size_t size = 0;
    RawData* data = nullptr;  // for `reset_raw`
    ~Arena() {
        std::free(memory);
        std::free(data);
    }

    // not mju_malloc: outside a guarded call it ends the process when there is no memory
    void grow(size_t least) {
        if (size >= least) return;
        std::free(memory);
        size = 0;
        // aligned as MuJoCo's own memory is
        memory = std::aligned_alloc(64, (least + 63) / 64 * 64);
        if (!memory) throw std::bad_alloc();
        size = least;
    }
    RawData* spare_data() {
        if (!data) data = static_cast<RawData*>(std::calloc(1, static_cast<size_t>(library().data_bytes)));
        if (!data) throw std::bad_alloc();
        return data;
    }
};

// Returns the key of each thread's arena. Not a thread_local: where there is no memory for one, the C library ends
// the process. In functions, so that packages that only see this text need not be linked with MuJoCo.
inline pthread_key_t arena_key() {
    static const pthread_key_t key = [] {
        pthread_key_t made;
        const auto free_arena = [](void* arena) { delete static_cast<Arena*>(arena); };
        if (pthread_key_create(&made, free_arena)) throw std::bad_alloc();
        return made;
    }();
    return key;
}

// MuJoCo measures its stages with a clock that its Python package sets, which takes up to half of a small model's step.
// In our calls it stands still; simulations of others are measured as before. Each module puts its clock before the one
// that was there.
inline double (*others_clock)() = nullptr;
inline mjtNum stopped_clock() { return log_capture ? 0 : others_clock(); }
inline bool stop_clock() {
    // one function for another, as other threads may be about to call it
    auto& clock = *library().mjcb_time;
    if (clock) {
        others_clock = clock;
        clock = stopped_clock;
    }
    return true;
}

// Prepares a thread for its first call.
inline Arena* begin_thread() {
    // the thread_locals of this module and of MuJoCo get their memory when first used: see that there is some
    void* probe = std::malloc(THREAD_LOCALS);
    // gcc 16 leaves out an unused allocation
    asm volatile("" : "+r"(probe) : : "memory");
    if (!probe) throw std::bad_alloc();
    std::free(probe);
    // at once, before another thread takes the memory
    log_capture = nullptr;
    static const bool stopped = stop_clock();
    static_cast<void>(stopped);
    set_handlers(set_handlers({}));
    std::unique_ptr<Arena> arena(new Arena);
    if (pthread_setspecific(arena_key(), arena.get())) throw std::bad_alloc();
    return arena.release();
}

inline Arena& arena_of_thread() {
    void* const arena = pthread_getspecific(arena_key());
    return arena ? *static_cast<Arena*>(arena) : *begin_thread();
}

// For a while, the thread rounds to nearest and keeps subnormal numbers, whatever its owner has set: a step has the
// same bits in all threads.
class DefaultArithmetic {
public:
    DefaultArithmetic(const DefaultArithmetic&) = delete;
    void operator=(const DefaultArithmetic&) = delete;
#ifdef __x86_64__
    DefaultArithmetic() {
        if (is_other()) _mm_setcsr(DEFAULT);
    }
    ~DefaultArithmetic() {
        if (is_other()) _mm_setcsr(before_);
    }

private:
    static constexpr unsigned DEFAULT = 0x1f80, FLAGS = 0x3f;
    bool is_other() const { return (before_ & ~FLAGS) != DEFAULT; }
    const unsigned before_ = _mm_getcsr();
#else
    DefaultArithmetic() { std::feholdexcept(&before_), std::fesetenv(FE_DFL_ENV); }
    ~DefaultArithmetic() { std::fesetenv(&before_); }

private:
    std::fenv_t before_;
#endif
};

// Calls MuJoCo. Returns the first warning, "" if there was none.
template <class Call> std::string guarded(const Call& call) {
    arena_of_thread();
    LogCapture here;
    here.error[0] = here.warning[0] = 0;
    LogCapture* const outer = log_capture;
    log_capture = &here;
    const Handlers before = set_handlers(OURS);
    bool well;
    {
        const DefaultArithmetic arithmetic;
        well = jumped_into(call);
    }
    set_handlers(before);
    log_capture = outer;
    if (!well) throw std::runtime_error(std::string("MuJoCo: ") + here.error);
    return here.warning[0] ? here.warning : std::string();
}

// of those who read models: MuJoCo does not promise that several threads may
inline std::mutex loading;

inline mjModel* load_xml(const std::string& path, std::string& warning) {
    const std::lock_guard<std::mutex> lock(loading);
    RawModel* model = nullptr;
    char error[1024] = "";
    warning = guarded([&] { model = mj_loadXML(path.c_str(), nullptr, error, sizeof error); });
    if (!model) throw std::invalid_argument(error);
    return new mjModel(model);
}

// Reads a model from a text and the files that this names.
inline mjModel* load_xml_text(const std::string& text, const std::vector<std::pair<std::string, std::string>>& files) {
    const std::lock_guard<std::mutex> lock(loading);
    RawModel* model = nullptr;
    char error[1024] = "";
    mjVFS vfs;
    mj_defaultVFS(&vfs);
    const auto add = [&vfs](const std::string& name, const std::string& content) {
        mj_addBufferVFS(&vfs, name.c_str(), content.data(), static_cast<int>(content.size()));
    };
    try {
        guarded([&] {
            add("model.xml", text);
            for (const auto& file : files) add(file.first, file.second);
            model = mj_loadXML("model.xml", &vfs, error, sizeof error);
        });
    } catch (...) {
        mj_deleteVFS(&vfs);
        throw;
    }
    mj_deleteVFS(&vfs);
    if (!model) throw std::invalid_argument(error);
    return new mjModel(model);
}

// Lends the thread's arena to an environment without one, for the time of a call.
class Borrowed {
public:
    Borrowed(const mjModel* m, mjData* d) : d_(d), own_(d->arena), own_size_(d->narena) {
        const size_t size = static_cast<size_t>(m->narena);
        if (static_cast<size_t>(own_size_) == size) return;
        Arena& arena = arena_of_thread();
        arena.grow(size);
        d->arena = arena.memory;
        d->narena = m->narena;
    }
    ~Borrowed() {
        d_->arena = own_;
        d_->narena = own_size_;
    }
    Borrowed(const Borrowed&) = delete;
    void operator=(const Borrowed&) = delete;

private:
    mjData* d_;
    void* own_;
    int64_t own_size_;
};

// A copy of a model's struct, with the same arrays.
class ModelStruct {
public:
    explicit ModelStruct(const mjModel* m) : bytes_(new char[static_cast<size_t>(library().model_bytes)]) { copy(m); }

    void copy(const mjModel* m) { std::memcpy(bytes_.get(), m->raw, static_cast<size_t>(library().model_bytes)); }
    RawModel* get() const { return reinterpret_cast<RawModel*>(bytes_.get()); }

private:
    std::unique_ptr<char[]> bytes_;
};

// Statistics of the solver, which nobody reads, take 160 of the 162 KB of MuJoCo's struct. Their pages hold no memory:
// cypool gives them back after MuJoCo has made the struct, and what clears them works on a struct of the thread's, to
// which all else is copied.
inline void copy_without_statistics(RawData* to, const RawData* from) {
    const Library& l = library();
    const int64_t end = l.solver.offset + l.solver.bytes;
    std::memcpy(&at<char>(to, {0, 1}), &at<char>(from, {0, 1}), static_cast<size_t>(l.solver.offset));
    std::memcpy(&at<char>(to, {end, 1}), &at<char>(from, {end, 1}), static_cast<size_t>(l.data_bytes - end));
}
inline void free_statistics(RawData* d) {
    const Library& l = library();
    const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
    const auto begin = reinterpret_cast<uintptr_t>(&at<char>(d, {l.solver.offset, 1}));
    const uintptr_t first = (begin + page - 1) / page * page;
    const uintptr_t end = (begin + static_cast<uintptr_t>(l.solver.bytes)) / page * page;
    // they are zero, and are so again
    if (first < end) madvise(reinterpret_cast<void*>(first), end - first, MADV_DONTNEED);
}
// mj_resetData
inline void reset_raw(const mjModel* m, mjData* d, RawData* spare) {
    copy_without_statistics(spare, d->raw);
    library().mj_resetData(m->raw, spare);
    copy_without_statistics(d->raw, spare);
}

// Makes the data of an environment, with or without an arena.
inline mjData* make_data(const mjModel* m, bool with_arena) {
    // plug-ins and sleeping bodies may look back at the last step
    with_arena |= m->nplugin > 0;
    with_arena |= (m->opt.enableflags & library().mjENBL_SLEEP) != 0;
    constexpr size_t least = 64;
    const Library& l = library();
    const ModelStruct without(m);
    // before MuJoCo 3.3.6, making data takes working memory, too
    const bool shrinks = l.version < 336 && !with_arena;
    if (!with_arena && !shrinks) at<int64_t>(without.get(), l.narena) = least;
    RawData* d = nullptr;
    guarded([&] {
        d = mj_makeData(without.get());
        if (!d || !shrinks) return;
        void* const arena = mju_malloc(least);
        mju_free(at<void*>(d, l.arena));
        at<void*>(d, l.arena) = arena;
        at<int64_t>(d, l.data_narena) = least;
    });
    if (!d) throw std::bad_alloc();
    free_statistics(d);
    return new mjData(d);
}

// Calls MuJoCo for an environment. Throws for warnings, but for those of an unstable simulation; returns the number
// of these.
template <class Call> int warned(const mjModel* m, mjData* d, const Call& call) {
    const Borrowed borrowed(m, d);
    const std::string warning = guarded(call);
    int unstable = 0;
    const Library& l = library();
    // the states in which MuJoCo itself starts over
    for (const int kind : {l.mjWARN_BADQPOS, l.mjWARN_BADQVEL, l.mjWARN_BADQACC, l.mjWARN_BADCTRL}) {
        unstable += d->warning[kind].number;
        // the next one is reported again
        d->warning[kind].number = 0;
    }
    if (!warning.empty() && !unstable) throw std::runtime_error("MuJoCo: " + warning);
    return unstable;
}

inline void reset_data(const mjModel* m, mjData* d) {
    RawData* const spare = arena_of_thread().spare_data();
    warned(m, d, [=] { reset_raw(m, d, spare); });
}

inline int forward(const mjModel* m, mjData* d) {
    return warned(m, d, [=] { mj_forward(m, d); });
}

inline int simulate(const mjModel* m, mjData* d, int frames, bool contact_forces) {
    return warned(m, d, [=] {
        for (int k = 0; k < frames; ++k) mj_step(m, d);
        if (contact_forces) mj_rnePostConstraint(m, d);
    });
}

// Disables a part of MuJoCo for a while, in a struct of the model that is the environment's own.
class Disabled {
public:
    Disabled(mjModel* m, int part) : m_(m), before_(m->opt.disableflags) { m->opt.disableflags |= part; }
    ~Disabled() { m_->opt.disableflags = before_; }
    Disabled(const Disabled&) = delete;
    void operator=(const Disabled&) = delete;

private:
    mjModel* m_;
    int before_;
};

// As `simulate`, but computes sensors only in the last step, if they are seen, else in none: nothing that MuJoCo
// simulates depends on them.
inline int simulate_unseen(mjModel* m, mjData* d, int frames, bool seen) {
    const int all = m->opt.disableflags;
    const Disabled disabled(m, library().mjDSBL_SENSOR);
    return warned(m, d, [=] {
        for (int k = 0; k < frames; ++k) {
            if (seen && k == frames - 1) m->opt.disableflags = all;
            mj_step(m, d);
        }
    });
}

// mj_forward with the controls there are, then mj_step with others. Both have positions and velocities in common, and
// without constraints the accelerations of the first leave no trace.
inline int forward_and_step(const mjModel* m, mjData* d, const double* ctrl) {
    return warned(m, d, [=] {
        mj_step1(m, d);
        if (d->nefc) {
            mj_fwdActuation(m, d);
            mj_fwdAcceleration(m, d);
            mj_fwdConstraint(m, d);
        }
        std::memcpy(d->ctrl, ctrl, static_cast<size_t>(m->nu) * sizeof *ctrl);
        mj_step2(m, d);
    });
}

// Calls MuJoCo for an environment with a separate arena; throws if it counts a warning of any kind, as dm_control
// does. In an unstable simulation MuJoCo has then started over.
template <class Call> void valid(mjData* d, const Call& call) {
    const Library& l = library();
    guarded(call);
    std::string names;
    for (int kind = 0; kind < l.mjNWARNING; ++kind) {
        if (d->warning[kind].number) names += (names.empty() ? "" : ", ") + l.warnings[static_cast<size_t>(kind)];
        d->warning[kind].number = 0;
    }
    if (!names.empty()) throw std::runtime_error("the simulation is in an invalid state: " + names);
}

// mj_forward without actuation, as dm_control resets. The model's struct has to be the environment's own.
inline void forward_passive(mjModel* m, mjData* d) {
    const Disabled disabled(m, library().mjDSBL_ACTUATION);
    valid(d, [=] { mj_forward(m, d); });
}

// mj_resetData and a forward, without their warnings.
inline void restart(mjModel* m, mjData* d) {
    RawData* const spare = arena_of_thread().spare_data();
    guarded([=] { reset_raw(m, d, spare); });
    try {
        forward_passive(m, d);
    } catch (const std::runtime_error&) {
    }
}

// How many contacts there are at these positions; nothing else is computed. A full buffer is some, too.
inline int count_contacts(const mjModel* m, mjData* d) {
    guarded([=] {
        mj_kinematics(m, d);
        mj_collision(m, d);
    });
    for (int kind = 0; kind < library().mjNWARNING; ++kind) d->warning[kind].number = 0;
    return d->ncon;
}

// MuJoCo's steps as dm_control takes them: with its "legacy" order, values that follow from positions and velocities
// are of the state after the last of them.
inline void advance(const mjModel* m, mjData* d, int steps, bool legacy) {
    valid(d, [=] {
        int rest = steps;
        if (legacy && m->opt.integrator != mjINT_RK4) {
            mj_step2(m, d);
            --rest;
        }
        for (int k = 0; k < rest; ++k) mj_step(m, d);
        if (legacy) mj_step1(m, d);
    });
}

// Fills the arena for the state that is in the data; leaves the data otherwise as it is.
inline void fill_arena(const mjModel* m, mjData* d) {
    const std::string kept(static_cast<const char*>(d->buffer), static_cast<size_t>(d->nbuffer));
    guarded([=] { mj_step1(m, d); });
    std::memcpy(d->buffer, kept.data(), kept.size());
}

}  // namespace cypool
