// procgen's own library, without its Python: one instance for each environment, stepped through the virtual functions
// of its game. So the last picture of an episode can be seen, and an episode ends when cypool says so.
#pragma once

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <setjmp.h>

#include <algorithm>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "cypool/envs/shared/rules/options.h"
#include "cypool/envs/procgen/layout.h"
#include "cypool/envs/procgen/mirrored.h"
#include "cypool/envs/procgen/picture.h"

namespace cypool::procgen {

enum : int { STILL = 4, NEXT_LEVEL = 997 };

// ---- what the library prints, and where it would end the process -------------------------------------------------

// The text of a guarded call, and the way back from it.
struct Guard {
    jmp_buf back;
    char text[512];
    size_t used;

    void add(const char* said, size_t length) {
        length = std::min(length, sizeof text - 1 - used);
        std::memcpy(text + used, said, length);
        text[used += length] = 0;
    }
};
inline thread_local Guard* guard = nullptr;

// Stand in for functions of the C library; without a guard it is procgen's Python that called the library.
namespace instead {

[[noreturn]] inline void exit(int status) {
    if (guard != nullptr) longjmp(guard->back, 1);
    std::exit(status);
}
[[noreturn]] inline void abort() {
    if (guard != nullptr) longjmp(guard->back, 1);
    std::abort();
}
inline int vfprintf(FILE* file, const char* format, va_list args) {
    if (guard == nullptr || (file != stdout && file != stderr)) return std::vfprintf(file, format, args);
    char line[400];
    const int length = std::vsnprintf(line, sizeof line, format, args);
    guard->add(line, std::strlen(line));
    return length;
}
inline int vprintf(const char* format, va_list args) { return instead::vfprintf(stdout, format, args); }
inline int fprintf(FILE* file, const char* format, ...) {
    va_list args;
    va_start(args, format);
    const int length = instead::vfprintf(file, format, args);
    va_end(args);
    return length;
}
inline int printf(const char* format, ...) {
    va_list args;
    va_start(args, format);
    const int length = instead::vfprintf(stdout, format, args);
    va_end(args);
    return length;
}
inline int puts(const char* line) { return printf("%s\n", line); }
inline int putchar(int letter) { return printf("%c", letter); }
inline size_t fwrite(const void* data, size_t size, size_t count, FILE* file) {
    if (guard == nullptr || (file != stdout && file != stderr)) return std::fwrite(data, size, count, file);
    guard->add(static_cast<const char*>(data), size * count);
    return count;
}

}  // namespace instead

// ---- libenv's C interface -----------------------------------------------------------------------------------------

enum Dtype : int { UINT8 = 1, INT32 = 2 };

struct Option {
    char name[128];
    int dtype, count;
    void* data;
};

struct Options {
    Option* items;
    int count;
};

struct Buffers {
    void** ob;  // [space * number of environments + environment], as the others
    float* rew;
    uint8_t* first;
    void** info;
    void** ac;
};

class Library {
public:
    void* (*make)(int, Options);
    void (*set_buffers)(void*, Buffers*);
    void (*observe)(void*);
    void (*close)(void*);
    std::string pictures;
    const char* base;  // where it is loaded

    Library(const char* path, const char* pictures) : pictures(pictures) {
        // its own symbols come first, as where procgen's Python loads it; a copy without GLib has some that lead
        // nowhere
        void* const loaded = dlopen(path, RTLD_LAZY | RTLD_LOCAL | RTLD_DEEPBIND);
        if (loaded == nullptr) throw std::runtime_error(dlerror());
        find(loaded, "libenv_make", make);
        find(loaded, "libenv_set_buffers", set_buffers);
        find(loaded, "libenv_observe", observe);
        find(loaded, "libenv_close", close);
        link_map* map;
        dlinfo(loaded, RTLD_DI_LINKMAP, &map);
        base = reinterpret_cast<const char*>(map->l_addr);
        redirect(*map);
    }

    // Calls the library; an error is its output before it would have ended the process. `lost` says that its work is
    // then half done. No object of ours with a destructor may live in the call.
    template <class Call> void guarded(const Call& call, bool& lost) {
        Guard here, *const outer = guard;
        here.text[here.used = 0] = 0;
        const bool was_lost = lost;
        lost = true;
        guard = &here;
        if (setjmp(here.back) != 0) {
            guard = outer;
            throw std::runtime_error(std::string("procgen's library: ") + (here.used ? here.text : "it ends"));
        }
        try {
            call();
        } catch (...) {
            guard = outer;
            throw std::runtime_error("procgen's library: an exception in its C++ code: out of memory?");
        }
        guard = outer;
        lost = was_lost;
    }

    // Makes an instance. The first one loads all pictures; where that fails, another call would wait for it for ever.
    void* instance(Options options) {
        std::lock_guard<std::mutex> lock(making_);
        if (dead_) throw std::runtime_error("procgen's library: it failed to load its pictures");
        const bool loading = !loaded_;
        bool lost = false;
        void* made = nullptr;
        dead_ = loading;
        guarded([&] { made = make(1, options); }, lost);
        loaded_ = true;
        dead_ = false;
        return made;
    }

private:
    std::mutex making_;
    bool loaded_ = false, dead_ = false;

    template <class Function> static void find(void* loaded, const char* name, Function& function) {
        function = reinterpret_cast<Function>(dlsym(loaded, name));
        if (function == nullptr) throw std::runtime_error(std::string("procgen's library: it has no ") + name);
    }

    // The linker has put the address of each function that the library calls into a table.
    static void redirect(const link_map& map) {
        const ElfW(Rela)* calls = nullptr;
        const ElfW(Sym)* symbols = nullptr;
        const char* names = nullptr;
        size_t bytes = 0;
        for (const ElfW(Dyn)* entry = map.l_ld; entry->d_tag != DT_NULL; ++entry) {
            if (entry->d_tag == DT_JMPREL) calls = reinterpret_cast<const ElfW(Rela)*>(entry->d_un.d_ptr);
            if (entry->d_tag == DT_PLTRELSZ) bytes = entry->d_un.d_val;
            if (entry->d_tag == DT_SYMTAB) symbols = reinterpret_cast<const ElfW(Sym)*>(entry->d_un.d_ptr);
            if (entry->d_tag == DT_STRTAB) names = reinterpret_cast<const char*>(entry->d_un.d_ptr);
        }
        const std::pair<const char*, void*> ours[] = {{"exit", reinterpret_cast<void*>(&instead::exit)},
                                                      {"abort", reinterpret_cast<void*>(&instead::abort)},
                                                      {"printf", reinterpret_cast<void*>(&instead::printf)},
                                                      {"vprintf", reinterpret_cast<void*>(&instead::vprintf)},
                                                      {"fprintf", reinterpret_cast<void*>(&instead::fprintf)},
                                                      {"vfprintf", reinterpret_cast<void*>(&instead::vfprintf)},
                                                      {"puts", reinterpret_cast<void*>(&instead::puts)},
                                                      {"putchar", reinterpret_cast<void*>(&instead::putchar)},
                                                      {"fwrite", reinterpret_cast<void*>(&instead::fwrite)}};
        for (size_t k = 0; k < bytes / sizeof *calls; ++k) {
            const char* const name = names + symbols[calls[k].r_info >> 32].st_name;
            for (const auto& [replaced, function] : ours) {
                if (std::strcmp(name, replaced) == 0) {
                    *reinterpret_cast<void**>(map.l_addr + calls[k].r_offset) = function;
                }
            }
        }
    }
};

// never unloaded: its pictures are loaded once in a process
inline Library* library = nullptr;

inline void open_library(const char* path, const char* pictures) {
    static std::mutex one_at_a_time;
    const std::lock_guard<std::mutex> lock(one_at_a_time);
    if (library == nullptr) library = new Library(path, pictures);
}

// ---- one game -----------------------------------------------------------------------------------------------------

static_assert(sizeof(std::mt19937) == 5000);

// How to get to a state again: numbers that can be checked, unlike the library's own state.
struct Saved {
    std::mt19937 levels;  // the stream that levels are drawn from
    int level = 0, prev_level = 0;
    int last_move = 0;  // when the level began: all that games take from one level to the next
    bool complete = false;
    std::vector<uint8_t> actions;  // since then
};

// An environment. After an error the library's part is lost, and so is its memory: another one is to be made.
class Game {
public:
    bool terminated = false, truncated = false;

    // Makes it, with its first level; `stream` seeds the stream of levels.
    Game(const cypool::Options& options, uint32_t stream) : sequential_(options.at("use_sequential_levels")) {
        const std::string game = options.at("env_name");
        constexpr const char* NUMBERS[] = {"num_levels",  "start_level",       "num_actions", "rand_seed",
                                           "num_threads", "distribution_mode", "debug_mode"};
        constexpr const char* FLAGS[] = {"use_sequential_levels", "center_agent",          "use_backgrounds",
                                         "render_human",          "use_monochrome_assets", "restrict_themes",
                                         "use_generated_assets",  "paint_vel_info"};
        int32_t numbers[std::size(NUMBERS)];
        uint8_t flags[std::size(FLAGS)];
        Option items[2 + std::size(numbers) + std::size(flags)];
        int count = 0;
        auto add = [&](const char* name, Dtype dtype, const void* data, size_t length) {
            Option& item = items[count++];
            std::memset(item.name, 0, sizeof item.name);
            std::strcpy(item.name, name);
            item.dtype = dtype;
            item.count = static_cast<int>(length);
            item.data = const_cast<void*>(data);
        };
        add("env_name", UINT8, game.data(), game.size());
        add("resource_root", UINT8, library->pictures.data(), library->pictures.size());
        for (size_t k = 0; k < std::size(NUMBERS); ++k) {
            numbers[k] = options.at(NUMBERS[k]);
            add(NUMBERS[k], INT32, &numbers[k], 1);
        }
        for (size_t k = 0; k < std::size(FLAGS); ++k) {
            flags[k] = options.at(FLAGS[k]);
            add(FLAGS[k], UINT8, &flags[k], 1);
        }
        handle_ = library->instance({items, count});
        game_ = **reinterpret_cast<char***>(static_cast<char*>(handle_) + at::GAMES);
        field<std::mt19937>(at::LEVEL_STREAM).seed(stream);
        void* ob[] = {picture_};
        void* info[] = {&prev_level_, &complete_, &level_, nullptr};
        void* ac[] = {&action_};
        // it draws a picture with its first level, but none for people
        Buffers buffers{ob, &reward_, &first_, info, ac};
        call([&] { library->set_buffers(handle_, &buffers); });
        last_move_ = field<int>(at::LAST_MOVE);
        Mirrored::share(game_);
        if (options.at("has_own_painter")) own_.emplace(game_, library->base, game);
    }
    ~Game() {
        // a call that did not end holds its locks
        if (!lost_) library->close(handle_);
    }
    Game(const Game&) = delete;
    Game& operator=(const Game&) = delete;

    bool is_lost() const { return lost_; }
    float reward() const { return field<float>(at::REWARD); }
    int level() const { return field<int>(at::LEVEL); }
    int prev_level() const { return field<int>(at::PREV_LEVEL); }
    bool complete() const { return field<bool>(at::COMPLETE); }
    int limit() const { return field<int>(at::TIMEOUT); }

    // A step as the library makes it, but for its reset.
    void step(int action) {
        call([&] { play(action); });
    }

    // Begins another level: allowed at any time. It is `wanted`, or the next one of the stream if that is -1.
    void reset(int wanted = -1) {
        call([&] {
            const uint32_t low = field<uint32_t>(at::LEVEL_LOW), high = field<uint32_t>(at::LEVEL_HIGH);
            auto& levels = field<std::mt19937>(at::LEVEL_STREAM);
            // a level that followed one in the same episode ends here, and so it was not completed
            if (sequential_) field<bool>(at::COMPLETE) = false;
            field<int>(at::PREV_LEVEL) = level();
            // the stream stays where it is if it is not asked
            if (wanted < 0) wanted = static_cast<int>(low + static_cast<uint32_t>(levels()) % (high - low));
            begin(wanted);
        });
    }

    // Writes the picture: rows of three bytes a pixel, or three planes.
    void draw(uint8_t* picture, bool planes) {
        if (own_) return call([&] { own_->draw(picture, planes); });
        uint8_t* const rows = planes ? picture_ : picture;
        (*reinterpret_cast<void***>(game_ + at::OBS_BUFFERS))[0] = rows;
        call([&] { invoke(at::OBSERVE); });
        for (int k = 0; planes && k < PICTURE_BYTES; ++k) picture[k % 3 * SIDE * SIDE + k / 3] = rows[k];
    }

    // Writes the picture for people, of 512 x 512 pixels.
    void render(uint8_t* picture) {
        (*reinterpret_cast<void***>(game_ + at::OBS_BUFFERS))[0] = picture_;
        (*reinterpret_cast<void***>(game_ + at::INFO_BUFFERS))[3] = picture;
        call([&] { library->observe(handle_); });
    }

    Saved save() const {
        return {field<std::mt19937>(at::LEVEL_STREAM), level(), prev_level(), last_move_, complete(), actions_};
    }

    // Plays the same level with the same actions, without pictures. False: they lead on after the end of the level.
    bool load(const Saved& saved) {
        call([&] {
            field<int>(at::LAST_MOVE) = saved.last_move;
            begin(saved.level);
            for (uint8_t action : saved.actions) {
                if (terminated || truncated) break;
                play(action);
                if (actions_.empty()) break;
            }
        });
        field<std::mt19937>(at::LEVEL_STREAM) = saved.levels;
        field<int>(at::PREV_LEVEL) = saved.prev_level;
        field<bool>(at::COMPLETE) = saved.complete;
        return actions_.size() == saved.actions.size();
    }

private:
    void* handle_;
    char* game_;
    bool sequential_, lost_ = false;
    int last_move_;
    std::vector<uint8_t> actions_;
    std::optional<Picture> own_;
    // written by the library, and not read
    uint8_t picture_[PICTURE_BYTES], first_, complete_;
    int32_t prev_level_, level_, action_ = STILL;
    float reward_;

    template <class Value> Value& field(size_t offset) { return *reinterpret_cast<Value*>(game_ + offset); }
    template <class Value> const Value& field(size_t offset) const {
        return *reinterpret_cast<const Value*>(game_ + offset);
    }
    template <class Call> void call(const Call& call) {
        if (lost_) throw std::runtime_error("procgen's library: expected a reset after its error");
        library->guarded(call, lost_);
    }
    void invoke(int slot) { (*reinterpret_cast<void (***)(void*)>(game_))[slot](game_); }

    void play(int action) {
        actions_.push_back(static_cast<uint8_t>(action));
        field<int>(at::CUR_TIME) += 1;
        field<int>(at::ACTION) = action;
        field<float>(at::REWARD) = 0;
        field<bool>(at::DONE) = field<bool>(at::COMPLETE) = false;
        invoke(at::GAME_STEP);
        terminated = field<bool>(at::DONE);
        truncated = field<int>(at::CUR_TIME) >= field<int>(at::TIMEOUT);
        field<float>(at::TOTAL_REWARD) += reward();
        field<int>(at::PREV_LEVEL) = level();
        if ((terminated || truncated) && sequential_ && complete()) {
            // the next level of the same episode
            begin(static_cast<int>(static_cast<uint32_t>(level()) + NEXT_LEVEL));
        }
    }
    void begin(int level) {
        terminated = truncated = false;
        actions_.clear();
        last_move_ = field<int>(at::LAST_MOVE);
        field<int>(at::LEVEL) = level;
        field<std::mt19937>(at::STREAM).seed(static_cast<uint32_t>(level));
        field<bool>(at::STREAM_SEEDED) = true;
        invoke(at::GAME_RESET);
        Mirrored::share(game_);
        field<int>(at::CUR_TIME) = 0;
        field<float>(at::TOTAL_REWARD) = 0;
        field<int>(at::EPISODES) = 0;
        field<int>(at::ACTION) = STILL;
    }
};

// The seed of the stream that levels are drawn from: that of environment `number` of a batch.
inline uint32_t stream_of(uint32_t seed, int number) {
    std::mt19937 seeds(seed);
    seeds.discard(number);
    return static_cast<uint32_t>(seeds());
}

// The words of a stream, and where it is in them.
inline void read_stream(const std::mt19937& stream, uint32_t* words, uint64_t* position) {
    uint64_t memory[625];
    std::memcpy(memory, &stream, sizeof memory);
    for (int k = 0; k < 624; ++k) words[k] = static_cast<uint32_t>(memory[k]);
    *position = memory[624];
}
inline void write_stream(std::mt19937& stream, const uint32_t* words, uint64_t position) {
    uint64_t memory[625];
    for (int k = 0; k < 624; ++k) memory[k] = words[k];
    memory[624] = position;
    std::memcpy(static_cast<void*>(&stream), memory, sizeof memory);
}

}  // namespace cypool::procgen
