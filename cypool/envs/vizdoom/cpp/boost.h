// The parts of Boost that ViZDoom's library uses, in standard C++ and POSIX: no Boost is needed to compile it.
//
// Each boost/*.hpp that it includes is made to include this file (build.py). Text and file functions are
// the few that it calls. Processes, threads and queues are made so that an engine may be killed, or stop, at any
// moment:
//
//   thread            the library's launcher, one to an engine; `interrupt`, called before each join, kills the engine
//   process::execute  starts the engine: in a separate process group, dead as soon as we are, in a separate folder
//   wait_for_exit     kills an engine that a call has waited for too long: it may hold a lock of a queue
//   message_queue     the layout of Boost's, which the engine has; `receive` gives up after a time. A dead
//                     process may hold a lock, or be counted as one that waits: see there
#pragma once

#include <algorithm>  // the library uses std::find, and leaves the include to Boost
#include <atomic>
#include <cctype>
#include <cerrno>
#include <chrono>
#include <climits>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <exception>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <new>
#include <random>
#include <sstream>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>
#include <type_traits>
#include <typeinfo>
#include <vector>

#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define BOOST_VERSION 106600  // that of the engine
// the library's sources bring a Boost.Process, which is found before all else: its guard keeps it empty
#define BOOST_PROCESS_HPP

namespace cypool::doom {

// Settings of one thread's calls; set before a call of the library.
struct Circumstances {
    // when the engine counts as hung: also one that answers, but never obeys
    std::chrono::steady_clock::time_point until = std::chrono::steady_clock::time_point::max();
    std::string folder;  // where the engine to be started runs, and leaves its files
    int names = -1;      // a file that takes down the names of shared memory, before there is any
    // set when an engine of the match is gone: the others wait for its messages. Null: there are no others
    std::shared_ptr<std::atomic<bool>> lost;
};
inline thread_local Circumstances circumstances;

// The process of one engine. It is started and waited for by the library's launcher thread.
struct Process {
    std::mutex mutex;
    pid_t pid = 0;
    bool over = false;  // no signal may be sent: the number may be another process's
    Circumstances circumstances;
    // of the call that waits for the engine: one that is stopped while it holds a lock is killed by its launcher, as
    // a thread that waits for the lock cannot give up
    std::atomic<std::chrono::steady_clock::duration> until = std::chrono::steady_clock::duration::max();

    // From now on there is no process, or it is about to end.
    void kill() {
        std::lock_guard lock(mutex);
        if (pid > 0 && !over) ::kill(pid, SIGKILL);
        // an engine that is yet to be started is not
        over = over || pid == 0;
    }
    bool ended() {
        std::lock_guard lock(mutex);
        return over;
    }
};

// The engines of this process, for its end.
class Engines {
public:
    // After a fork the child has none; the parent's are not touched, nor are locks there.
    static Engines& instance() {
        static std::atomic<Engines*> current{nullptr};
        Engines* here = current.load();
        while (!here || here->owner_ != getpid()) {
            Engines* const made = new Engines;
            if (current.compare_exchange_strong(here, made)) return *made;
            delete made;
        }
        return *here;
    }

    void add(const std::shared_ptr<Process>& process) {
        std::lock_guard lock(mutex_);
        if (ending_) throw std::runtime_error("the process is about to end");
        processes_.erase(
            std::remove_if(processes_.begin(), processes_.end(), [](const auto& each) { return each.expired(); }),
            processes_.end());
        processes_.push_back(process);
    }

    // Kills all and waits, for seconds at most, until they are gone. No other one starts from now on.
    void end() noexcept {
        const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(kPatience);
        std::lock_guard lock(mutex_);
        ending_ = true;
        for (const auto& each : processes_) {
            if (const auto process = each.lock()) process->kill();
        }
        for (const auto& each : processes_) {
            const auto process = each.lock();
            while (process && !process->ended() && std::chrono::steady_clock::now() < until) usleep(1000);
        }
    }

private:
    enum { kPatience = 10 };

    const pid_t owner_ = getpid();
    std::mutex mutex_;
    std::vector<std::weak_ptr<Process>> processes_;
    bool ending_ = false;
};

// that of the launcher this thread is; null for any other thread
inline thread_local Process* launched = nullptr;
// that of the last launcher this thread has started
inline thread_local std::shared_ptr<Process> latest;

}  // namespace cypool::doom

namespace boost {

using std::bind;
namespace placeholders {}
namespace asio {}
namespace chrono {
using std::chrono::high_resolution_clock;
}

namespace random {
using std::mt19937;

// Boost's equals the generator's own output over its whole range; elsewhere the library only draws names.
template <class T> class uniform_int_distribution {
public:
    uniform_int_distribution(T low, T high) : low_(low), high_(high) {}
    T operator()(mt19937& generator) const {
        const uint32_t drawn = generator();
        return high_ - low_ >= UINT_MAX ? static_cast<T>(drawn) : low_ + static_cast<T>(drawn % (high_ - low_ + 1));
    }

private:
    T low_, high_;
};
}  // namespace random

struct bad_lexical_cast : std::bad_cast {
    const char* what() const noexcept override { return "not a number"; }
};

template <class T> T lexical_cast(const std::string& text) {
    std::istringstream stream(text);
    T value;
    stream >> std::noskipws >> value;
    if (stream.fail() || stream.peek() != EOF) throw bad_lexical_cast();
    return value;
}

template <class T, class U, class = std::enable_if_t<std::is_integral_v<U> || std::is_enum_v<U>>>
T lexical_cast(U value) {
    return std::to_string(static_cast<long long>(value));
}

namespace algorithm {

inline void trim_all(std::string& text) {
    std::istringstream stream(text);
    std::string word, trimmed;
    while (stream >> word) trimmed += trimmed.empty() ? word : " " + word;
    text = trimmed;
}

inline void to_lower(std::string& text) {
    for (char& letter : text) letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
}

inline void replace_all(std::string& text, const std::string& old, const std::string& by) {
    for (size_t at = text.find(old); at != std::string::npos; at = text.find(old, at + by.size())) {
        text.replace(at, old.size(), by);
    }
}

inline void erase_all(std::string& text, const std::string& part) { replace_all(text, part, ""); }

inline bool find_first(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

inline bool ends_with(const std::string& text, const std::string& end) {
    return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

inline std::string is_any_of(const char* letters) { return letters; }

inline void split(std::vector<std::string>& parts, const std::string& text, const std::string& separators) {
    parts.assign(1, "");
    for (char letter : text) {
        if (separators.find(letter) == std::string::npos) {
            parts.back() += letter;
        } else {
            parts.emplace_back();
        }
    }
}

inline std::string join(const std::vector<std::string>& parts, const std::string& between) {
    std::string text;
    for (size_t k = 0; k < parts.size(); ++k) text += k ? between + parts[k] : parts[k];
    return text;
}
}  // namespace algorithm

using algorithm::erase_all;
using algorithm::find_first;
using algorithm::is_any_of;
using algorithm::split;

template <class Char> struct char_separator {
    std::string letters;
    explicit char_separator(const Char* letters) : letters(letters) {}
};

template <class Separator> class tokenizer {
public:
    using iterator = std::vector<std::string>::iterator;
    tokenizer(const std::string& text, const Separator& separator) {
        std::vector<std::string> parts;
        split(parts, text, separator.letters);
        for (const auto& part : parts) {
            if (!part.empty()) words_.push_back(part);
        }
    }
    iterator begin() { return words_.begin(); }
    iterator end() { return words_.end(); }

private:
    std::vector<std::string> words_;
};

namespace filesystem {
using std::filesystem::absolute;
using std::filesystem::path;

inline bool is_regular_file(const path& path) {
    std::error_code error;
    return std::filesystem::is_regular_file(path, error);
}

inline bool is_symlink(const path& path) {
    std::error_code error;
    return std::filesystem::is_symlink(path, error);
}
}  // namespace filesystem

// The library starts one kind of thread: the one that launches an engine and waits for its end.
class thread {
public:
    template <class Function> explicit thread(Function function) : process_(std::make_shared<cypool::doom::Process>()) {
        process_->circumstances = cypool::doom::circumstances;
        process_->until = cypool::doom::circumstances.until.time_since_epoch();
        cypool::doom::Engines::instance().add(process_);
        cypool::doom::latest = process_;
        sigset_t all, old;
        sigfillset(&all);
        // signals are for the threads that run Python
        pthread_sigmask(SIG_SETMASK, &all, &old);
        try {
            thread_ = std::thread([function, process = process_]() mutable {
                cypool::doom::launched = process.get();
                try {
                    function();
                } catch (...) {
                    // who waits for this engine gives up when its time is over
                    process->kill();
                }
            });
        } catch (...) {
            pthread_sigmask(SIG_SETMASK, &old, nullptr);
            throw;
        }
        pthread_sigmask(SIG_SETMASK, &old, nullptr);
    }
    bool joinable() const { return thread_.joinable(); }
    // an engine that hangs would never end by itself, and none has anything left to save
    void interrupt() { process_->kill(); }
    void join() { thread_.join(); }

private:
    std::shared_ptr<cypool::doom::Process> process_;
    std::thread thread_;
};

namespace process {

struct child {
    pid_t pid;
    explicit child(pid_t pid) : pid(pid) {}
};

namespace initializers {
using set_args = const std::vector<std::string>&;
struct inherit_env {};
}  // namespace initializers

// Starts a program. Called on the launcher thread, at whose end the kernel kills the engine; it ends after the engine,
// or with all our process.
inline child execute(initializers::set_args arguments, initializers::inherit_env) {
    cypool::doom::Process& process = *cypool::doom::launched;
    std::vector<char*> words;
    for (const auto& word : arguments) words.push_back(const_cast<char*>(word.c_str()));
    words.push_back(nullptr);
    const char* folder = process.circumstances.folder.c_str();
    const pid_t parent = getpid();
    std::lock_guard lock(process.mutex);
    if (process.over) throw std::runtime_error("closed before it was started");
    // not fork: the memory of a training process is large, and its pages are not to be copied
    volatile int error = 0;
    const pid_t pid = vfork();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent) _exit(127);
        // Ctrl-C is for us alone
        setpgid(0, 0);
        const int nowhere = open("/dev/null", O_RDWR);
        if (nowhere < 0 || dup2(nowhere, 0) < 0 || dup2(nowhere, 1) < 0 || dup2(nowhere, 2) < 0 || chdir(folder) < 0) {
            error = errno;
            _exit(127);
        }
        struct sigaction action;
        std::memset(&action, 0, sizeof action);
        action.sa_handler = SIG_DFL;
        for (int number : {SIGINT, SIGPIPE, SIGTERM}) sigaction(number, &action, nullptr);
        sigset_t none;
        sigemptyset(&none);
        sigprocmask(SIG_SETMASK, &none, nullptr);
        execv(words[0], words.data());
        error = errno;
        _exit(127);
    }
    if (pid < 0) throw std::system_error(errno, std::generic_category(), "vfork");
    if (error) {
        waitpid(pid, nullptr, 0);
        throw std::system_error(error, std::generic_category(), words[0]);
    }
    process.pid = pid;
    return child(pid);
}

enum { kLook = 500 };  // milliseconds

inline void terminate(const child& child) { ::kill(child.pid, SIGKILL); }

inline void wait_for_exit(const child& child) {
    cypool::doom::Process& process = *cypool::doom::launched;
    siginfo_t info;
    // an old kernel has none: then locks are not looked after
    pollfd handle{static_cast<int>(syscall(SYS_pidfd_open, child.pid, 0)), POLLIN, 0};
    while (handle.fd >= 0 && poll(&handle, 1, kLook) <= 0) {
        const auto now = std::chrono::steady_clock::now().time_since_epoch();
        if (now - std::chrono::milliseconds(kLook) >= process.until.load()) process.kill();
    }
    if (handle.fd >= 0) close(handle.fd);
    // first without taking its number away: `kill` may be about to use it
    while (waitid(P_PID, static_cast<id_t>(child.pid), &info, WEXITED | WNOWAIT) < 0 && errno == EINTR) {
    }
    if (process.circumstances.lost) *process.circumstances.lost = true;
    std::lock_guard lock(process.mutex);
    process.over = true;
    while (waitpid(child.pid, nullptr, 0) < 0 && errno == EINTR) {
    }
}
}  // namespace process

namespace interprocess {

struct interprocess_exception : std::runtime_error {
    using std::runtime_error::runtime_error;
    explicit interprocess_exception(const char* what) : std::runtime_error(std::string(what) + strerror(errno)) {}
};

enum open_only_t { open_only };
enum open_or_create_t { open_or_create };
enum mode_t { read_only, read_write };
using offset_t = int64_t;

inline std::string path_of(const char* name) { return std::string("/") + name; }

class shared_memory_object {
public:
    shared_memory_object() = default;
    shared_memory_object(open_only_t, const char* name, mode_t) {
        handle_ = shm_open(path_of(name).c_str(), O_RDWR | O_CLOEXEC, 0600);
        if (handle_ < 0) throw interprocess_exception("shm_open: ");
    }
    shared_memory_object& operator=(shared_memory_object&& other) noexcept {
        std::swap(handle_, other.handle_);
        return *this;
    }
    ~shared_memory_object() {
        if (handle_ >= 0) close(handle_);
    }
    int handle() const { return handle_; }
    bool get_size(offset_t& size) const {
        struct stat facts;
        if (fstat(handle_, &facts)) return false;
        size = facts.st_size;
        return true;
    }
    static bool remove(const char* name) { return shm_unlink(path_of(name).c_str()) == 0; }

private:
    int handle_ = -1;
};

class mapped_region {
public:
    mapped_region(const shared_memory_object& memory, mode_t mode, size_t offset, size_t size) {
        const size_t before = offset % static_cast<size_t>(sysconf(_SC_PAGESIZE));
        const int access = mode == read_write ? PROT_READ | PROT_WRITE : PROT_READ;
        size_ = size + before;
        base_ = mmap(nullptr, size_, access, MAP_SHARED, memory.handle(), static_cast<off_t>(offset - before));
        if (base_ == MAP_FAILED) throw interprocess_exception("mmap: ");
        address_ = static_cast<char*>(base_) + before;
    }
    ~mapped_region() { munmap(base_, size_); }
    mapped_region(const mapped_region&) = delete;
    mapped_region& operator=(const mapped_region&) = delete;
    void* get_address() const { return address_; }

private:
    size_t size_;
    void* base_;
    void* address_;
};

// A queue of messages in shared memory, as Boost lays it out, and as the engine reads and writes it: a word that says
// that it is ready, a header, pointers to the messages relative to where each pointer is, the messages.
//
// The engine takes from the queue we send to, and sends to the one we take from; each has one process on either side.
// The leftovers of a killed engine would block us in three places:
//  - the mutex: it is a robust one.
//  - pthread_cond_signal, for one who waited when it was killed: it waits for that one the second time. So there
//    is one signal only for each time the queue was empty, and a dead engine does not empty it.
//  - glibc's lock inside a condition for the moment of a signal: the launcher, when the engine is dead, writes a
//    new condition over it and wakes all threads that sleep on a word of it.
class message_queue {
public:
    message_queue(open_or_create_t, const char* name, size_t count, size_t bytes) {
        const int names = cypool::doom::circumstances.names;
        const std::string line = std::string(name) + "\n";
        if (names >= 0 && write(names, line.data(), line.size()) != static_cast<ssize_t>(line.size())) {
            throw interprocess_exception("write: ");
        }
        const size_t stride = rounded(bytes) + sizeof(Message);
        size_ = kReady + sizeof(Header) + count * (sizeof(int64_t) + stride);
        const int handle = shm_open(path_of(name).c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        if (handle < 0) throw interprocess_exception("shm_open: ");
        void* base = MAP_FAILED;
        // no room left would be a crash later
        if (posix_fallocate(handle, 0, static_cast<off_t>(size_)) == 0) {
            base = mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_SHARED, handle, 0);
        }
        close(handle);
        if (base == MAP_FAILED) {
            remove(name);
            throw interprocess_exception("mmap: ");
        }
        base_ = static_cast<char*>(base);
        header_ = new (base_ + kReady) Header{};
        header_->most = count;
        header_->bytes = bytes;
        pthread_mutexattr_t mutex;
        pthread_mutexattr_init(&mutex);
        pthread_mutexattr_setpshared(&mutex, PTHREAD_PROCESS_SHARED);
        pthread_mutexattr_setrobust(&mutex, PTHREAD_MUTEX_ROBUST);
        pthread_mutex_init(&header_->mutex, &mutex);
        pthread_mutexattr_destroy(&mutex);
        make_condition(&header_->filled);
        make_condition(&header_->emptied);
        char* pointers = base_ + kReady + sizeof(Header);
        char* messages = pointers + count * sizeof(int64_t);
        header_->pointers = pointers - reinterpret_cast<char*>(&header_->pointers);
        for (size_t k = 0; k < count; ++k) {
            const int64_t offset = messages + k * stride - (pointers + k * sizeof(int64_t));
            std::memcpy(pointers + k * sizeof(int64_t), &offset, sizeof offset);
        }
        __atomic_store_n(reinterpret_cast<uint32_t*>(base_), 2, __ATOMIC_SEQ_CST);
    }
    ~message_queue() { munmap(base_, size_); }
    message_queue(const message_queue&) = delete;
    message_queue& operator=(const message_queue&) = delete;

    void send(const void* data, size_t bytes, unsigned priority) { send_all(data, bytes, 1, priority); }

    // Sends messages that lie one behind the other: the engine is woken once, and finds all of them.
    void send_all(const void* data, size_t bytes, size_t count, unsigned priority) {
        lock();
        if (header_->most - header_->count < count) {
            pthread_mutex_unlock(&header_->mutex);
            throw interprocess_exception(std::string("full"));
        }
        const bool wakes = header_->count == 0 && header_->takers > 0;
        for (size_t k = 0; k < count; ++k) {
            // the first is taken last
            if (header_->count > 0) header_->first = (header_->first + header_->most - 1) % header_->most;
            ++header_->count;
            Message* message = slot(header_->first);
            message->priority = priority;
            message->bytes = bytes;
            std::memcpy(message + 1, static_cast<const char*>(data) + k * bytes, bytes);
        }
        pthread_mutex_unlock(&header_->mutex);
        if (cypool::doom::launched) {
            rescue();
        } else if (wakes) {
            pthread_cond_signal(&header_->filled);
        }
    }

    void receive(void* data, size_t, size_t& bytes, unsigned& priority) {
        if (std::chrono::steady_clock::now() >= cypool::doom::circumstances.until) {
            throw interprocess_exception(std::string("the engine takes too long"));
        }
        lock();
        while (header_->count == 0) {
            const cypool::doom::Circumstances& now = cypool::doom::circumstances;
            const bool lost = now.lost && *now.lost;
            if (lost || std::chrono::steady_clock::now() >= now.until) {
                pthread_mutex_unlock(&header_->mutex);
                throw interprocess_exception(
                    std::string(lost ? "another engine in the match has ended" : "the engine does not answer"));
            }
            ++header_->takers;
            // also to look for messages that a dead engine could not signal, and whether another one is dead
            timespec slice;
            clock_gettime(CLOCK_MONOTONIC, &slice);
            slice.tv_nsec += kSlice;
            slice.tv_sec += slice.tv_nsec / 1'000'000'000;
            slice.tv_nsec %= 1'000'000'000;
            owned(pthread_cond_timedwait(&header_->filled, &header_->mutex, &slice));
            --header_->takers;
        }
        const Message* message = slot((header_->first + header_->count - 1) % header_->most);
        bytes = message->bytes;
        priority = message->priority;
        std::memcpy(data, message + 1, header_->bytes);
        --header_->count;
        pthread_mutex_unlock(&header_->mutex);
    }

    static bool remove(const char* name) { return shm_unlink(path_of(name).c_str()) == 0; }

private:
    static constexpr size_t kReady = 16;
    static constexpr long kSlice = 50'000'000;

    struct Message {
        uint64_t bytes;
        uint32_t priority;
        uint32_t unused;
    };
    struct Header {
        int64_t pointers;
        uint64_t most, bytes, count;
        pthread_mutex_t mutex;
        pthread_cond_t filled, emptied;
        uint64_t first, givers, takers;
    };
    // Boost's has the C library's types as they are: 192 bytes on x86-64, 200 on aarch64
    static_assert(sizeof(Header) == 7 * sizeof(uint64_t) + sizeof(pthread_mutex_t) + 2 * sizeof(pthread_cond_t),
                  "expected Boost's layout, which has no padding");

    static size_t rounded(size_t bytes) { return (bytes + 7) / 8 * 8; }

    static void make_condition(pthread_cond_t* condition) {
        pthread_condattr_t shared;
        pthread_condattr_init(&shared);
        pthread_condattr_setpshared(&shared, PTHREAD_PROCESS_SHARED);
        pthread_condattr_setclock(&shared, CLOCK_MONOTONIC);
        pthread_cond_init(condition, &shared);
        pthread_condattr_destroy(&shared);
    }

    void owned(int result) {
        if (result == EOWNERDEAD) pthread_mutex_consistent(&header_->mutex);
    }

    void lock() { owned(pthread_mutex_lock(&header_->mutex)); }

    Message* slot(uint64_t index) const {
        char* pointer = reinterpret_cast<char*>(&header_->pointers) + header_->pointers + index * sizeof(int64_t);
        int64_t offset;
        std::memcpy(&offset, pointer, sizeof offset);
        return reinterpret_cast<Message*>(pointer + offset);
    }

    void rescue() {
        make_condition(&header_->filled);
        uint32_t* words = reinterpret_cast<uint32_t*>(&header_->filled);
        for (size_t k = 0; k < sizeof(pthread_cond_t) / sizeof(uint32_t); ++k) {
            syscall(SYS_futex, words + k, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
        }
    }

    size_t size_;
    char* base_;
    Header* header_;
};
}  // namespace interprocess
}  // namespace boost
