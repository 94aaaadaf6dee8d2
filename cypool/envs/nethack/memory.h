// The memory of one game: everything that it can change, in one block, so that a game is saved, put back and moved as a
// whole. A block is [NetHack's library | guard | stack | guard | arena | guard]. The system counts its memory maps: the
// library is one for its read-only memory and one for its writable memory, so a block has seven.
#pragma once

#include <setjmp.h>
#include <sys/mman.h>
#include <time.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <mutex>
#include <new>
#include <stdexcept>
#include <string>
#include <vector>

namespace cypool::nethack {

enum : long { MAPS_OF_BLOCK = 7 };
enum : size_t { PAGE = 4096, STACK_BYTES = 128 << 10, ARENA_BYTES = 16 << 20, GRAIN = 16 };

// The observation of NLE 1.3.0, `nle_obs`. A null array is not asked for.
enum Key : int {
    GLYPHS,
    CHARS,
    COLORS,
    SPECIALS,
    BLSTATS,
    MESSAGE,
    PROGRAM_STATE,
    INTERNAL,
    INV_GLYPHS,
    INV_STRS,
    INV_LETTERS,
    INV_OCLASSES,
    SCREEN_DESCRIPTIONS,
    TTY_CHARS,
    TTY_COLORS,
    TTY_CURSOR,
    MISC,
    NUM_KEYS
};
enum : int { ROWS = 21, COLUMNS = 79, NUM_BLSTATS = 27, MESSAGE_BYTES = 256 };
enum : size_t { CELLS = ROWS * COLUMNS, ITEMS = 55, LETTERS = 80, SCREEN = 24 * 80 };

struct Observation {
    int action, done;
    char in_normal_game;
    int how_done;
    void* arrays[NUM_KEYS];
};
static_assert(sizeof(Observation) == 0x98 && offsetof(Observation, arrays) == 0x10);

struct File;
struct Stream;
struct Terminal;
struct Window;

// The begin of the arena: our part of a game. It is saved and moved with the game.
struct Head {
    enum : int { NUM_CLASSES = 128, NUM_STREAMS = 64, NUM_CELL_WORDS = (CELLS + 63) / 64 };
    char* top;                // the end of the used part of the arena
    void* free[NUM_CLASSES];  // lists of pieces that were given back
    File* files;
    Stream* streams[NUM_STREAMS];  // by descriptor
    Observation observation;
    uint32_t looked_at;                  // by the task, of the large arrays: a bit for each `Key`
    bool draws_screen;                   // whether the terminal is observed
    bool fills_late;                     // whether most of the observation is written when it is used
    Window* window;                      // then where it is written from, see Window; null: it is written
    uint64_t described[NUM_CELL_WORDS];  // see write_descriptions
    void* context;                       // the result of nle_start
    int64_t clock;                       // seconds since 1970, by the clock on the wall; it stands still
    struct tm date;                      // the result of localtime
    int error_number;
    char failure[200];  // why it cannot continue; "": it can
};

// A game's memory as it was: the parts that may differ from the mapped file.
struct Snapshot {
    uintptr_t base = 0;  // where the block was
    std::vector<char> data, stack, arena;
};

// Where the library's parts are, the same in all blocks: see loader.h.
struct LibraryLayout {
    size_t bytes = 0;               // of the whole library
    size_t text = 0, text_end = 0;  // its instructions
    size_t data = 0, data_end = 0;  // its writable memory
};

// Throws the system's message about memory that it cannot map, and the limit.
[[noreturn]] inline void refuse_map() {
    const int error = errno;
    long limit = 0;
    std::ifstream("/proc/sys/vm/max_map_count") >> limit;
    long count = 0;
    std::ifstream maps("/proc/self/maps");
    for (std::string line; std::getline(maps, line);) ++count;
    std::string text = std::string("NetHack: the system cannot map a game: ") + std::strerror(error);
    if (error == ENOMEM && count + MAPS_OF_BLOCK >= limit) {
        text += ". A game has " + std::to_string(MAPS_OF_BLOCK) + " memory maps, and this process has "
                + std::to_string(count) + " of the " + std::to_string(limit)
                + " that the system allows (vm.max_map_count): make fewer environments, or raise the limit as root: "
                  "sysctl -w vm.max_map_count=" + std::to_string(4 * limit);
    }
    throw std::runtime_error(text);
}

class Block {
public:
    // The way back to us, from a game that cannot continue; who called it sets it.
    sigjmp_buf back;

    explicit Block(const LibraryLayout& layout) : layout_(layout) {
        bytes_ = layout.bytes + PAGE + STACK_BYTES + PAGE + ARENA_BYTES + PAGE;
        base = reserve(bytes_);
        stack_ = base + layout.bytes + PAGE;
        arena_ = stack_ + STACK_BYTES + PAGE;
        if (mprotect(base + layout.data, layout.data_end - layout.data, PROT_READ | PROT_WRITE) != 0
            || mprotect(stack_, STACK_BYTES, PROT_READ | PROT_WRITE) != 0
            || mprotect(arena_, ARENA_BYTES, PROT_READ | PROT_WRITE) != 0) {
            const int error = errno;
            munmap(base, bytes_);
            errno = error;
            refuse_map();
        }
        head().top = arena_ + (sizeof(Head) + GRAIN - 1) / GRAIN * GRAIN;
    }
    ~Block() { munmap(base, bytes_); }
    Block(const Block&) = delete;
    Block& operator=(const Block&) = delete;

    char* base;  // of the library

    Head& head() { return *reinterpret_cast<Head*>(arena_); }
    const Head& head() const { return *reinterpret_cast<const Head*>(arena_); }
    char* stack_end() { return stack_ + STACK_BYTES; }
    bool is_text(uintptr_t address) const {
        return address - reinterpret_cast<uintptr_t>(base) - layout_.text < layout_.text_end - layout_.text;
    }

    // ---- the heap of the game. Its memory is zero at first, so that a game that reads unwritten memory is repeatable

    void* allocate(size_t size, bool clear = true) {
        const int which = class_of(size);
        void*& list = head().free[which];
        size = size_of(which);
        auto* piece = static_cast<Piece*>(list);
        if (piece != nullptr) {
            list = piece->next;
            piece->next = nullptr;
        } else {
            if (size > static_cast<size_t>(arena_ + ARENA_BYTES - head().top) - sizeof(Piece)) return nullptr;
            piece = reinterpret_cast<Piece*>(head().top);
            head().top += sizeof(Piece) + size;
            piece->which = which;
        }
        if (clear) std::memset(piece + 1, 0, size);
        return piece + 1;
    }
    void release(void* given) {
        if (given == nullptr) return;
        Piece* const piece = static_cast<Piece*>(given) - 1;
        // a game may have overwritten it
        const auto which = static_cast<size_t>(piece->which) % Head::NUM_CLASSES;
        piece->next = static_cast<Piece*>(head().free[which]);
        head().free[which] = piece;
    }
    static size_t size_of(const void* given) { return size_of((static_cast<const Piece*>(given) - 1)->which); }

    // ---- saving

    Snapshot save() const {
        Snapshot saved;
        saved.base = reinterpret_cast<uintptr_t>(base);
        saved.data.assign(base + layout_.data, base + layout_.data_end);
        saved.stack.assign(stack_used(), static_cast<const char*>(stack_) + STACK_BYTES);
        saved.arena.assign(arena_, arena_ + arena_used());
        return saved;
    }
    void load(const Snapshot& saved) {
        take(saved.base, saved.data.data(), saved.stack.data(), saved.stack.size(), saved.arena.data(),
             saved.arena.size());
    }
    void copy(const Block& other) {
        const char* const stack = other.stack_used();
        take(reinterpret_cast<uintptr_t>(other.base), other.base + layout_.data, stack,
             static_cast<size_t>(other.stack_ + STACK_BYTES - stack), other.arena_, other.arena_used());
    }

private:
    struct Piece {  // in front of the memory that `allocate` returns
        int64_t which;
        Piece* next;
    };
    static_assert(sizeof(Piece) == GRAIN);

    LibraryLayout layout_;
    size_t bytes_;
    char *stack_, *arena_;

    // Reserves addresses. Those of all blocks have the same lower half, so a move changes the upper half of an address
    // only: a game often has a short text or a number where an address was, whose upper half is still there.
    static char* reserve(size_t bytes) {
        constexpr uintptr_t STRIDE = uintptr_t{1} << 32;
        constexpr size_t NUM_PLACES = 16384;
        static std::mutex choosing;
        static uintptr_t first = 0;
        static size_t last = 0;
        const std::lock_guard<std::mutex> lock(choosing);
        const auto mapped = [&](uintptr_t at, int flags) {
            void* const found = mmap(reinterpret_cast<void*>(at), bytes, PROT_NONE,
                                     flags | MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
            return found != MAP_FAILED ? reinterpret_cast<uintptr_t>(found) : 0;
        };
        if (first == 0) {
            first = mapped(0, 0);
            if (first == 0) refuse_map();
            return reinterpret_cast<char*>(first);
        }
        for (size_t tried = 0; tried < NUM_PLACES; ++tried) {
            last = (last + 1) % NUM_PLACES;
            const uintptr_t at = first - last * STRIDE, found = mapped(at, MAP_FIXED_NOREPLACE);
            if (found == at) return reinterpret_cast<char*>(at);
            // a kernel that does not know the flag takes another place
            if (found != 0) munmap(reinterpret_cast<void*>(found), bytes);
            if (found == 0 && errno == ENOMEM) break;
        }
        refuse_map();
    }

    // Classes 0 to 63 are multiples of GRAIN up to 1 KiB; behind them there are four up to each power of two.
    static int class_of(size_t size) {
        if (size <= 64 * GRAIN) return size == 0 ? 0 : static_cast<int>((size - 1) / GRAIN);
        const int power = 63 - __builtin_clzll(size - 1);
        return 64 + 4 * (power - 10) + static_cast<int>((size - 1) >> (power - 2) & 3);
    }
    static size_t size_of(int64_t which) {
        if (which < 64) return static_cast<size_t>(which + 1) * GRAIN;
        return static_cast<size_t>(5 + which % 4) << (((which - 64) / 4 + 8) & 63);
    }

    // The lowest word of the stack that was ever written.
    const char* stack_used() const {
        const char* used = stack_;
        while (used < stack_ + STACK_BYTES && *reinterpret_cast<const uint64_t*>(used) == 0) used += sizeof(uint64_t);
        return used;
    }

    // A game may have overwritten this, too.
    size_t arena_used() const {
        const auto used = static_cast<size_t>(head().top - arena_);
        if (used < sizeof(Head) || used > ARENA_BYTES) throw std::runtime_error("NetHack: a game's memory is damaged");
        return used;
    }

    void take(uintptr_t from, const char* data, const char* stack, size_t stack_bytes, const char* arena,
              size_t arena_bytes) {
        const uintptr_t span = static_cast<uintptr_t>(arena_ - base) + arena_bytes;
        move(base + layout_.data, data, layout_.data_end - layout_.data, from, span);
        char* const new_stack = stack_ + STACK_BYTES - stack_bytes;
        char* const old_stack = stack_ + (stack_used() - stack_);
        if (old_stack < new_stack) std::memset(old_stack, 0, static_cast<size_t>(new_stack - old_stack));
        move(new_stack, stack, stack_bytes, from, span);
        move(arena_, arena, arena_bytes, from, span);
    }
    // Copies words; those that point into the block that they are from, or to its end, point into this one then.
    void move(char* to, const char* words, size_t bytes, uintptr_t from, uintptr_t span) {
        const uintptr_t by = reinterpret_cast<uintptr_t>(base) - from;
        if (by == 0) {
            std::memcpy(to, words, bytes);
            return;
        }
        for (size_t k = 0; k < bytes; k += sizeof(uintptr_t)) {
            uintptr_t word;
            std::memcpy(&word, words + k, sizeof word);
            word += word - from <= span ? by : 0;
            std::memcpy(to + k, &word, sizeof word);
        }
    }
};

// Whose code runs in this thread. A signal handler reads it, so it must be there without being allocated.
inline thread_local Block* running __attribute__((tls_model("initial-exec"))) = nullptr;

// <setjmp.h> may check that a jump stays on one stack, which a game does not.
[[noreturn]] void jump(sigjmp_buf, int) __asm__("siglongjmp");

// Ends the call of the game that runs.
[[noreturn]] inline void fail(const char* why) {
    char* const failure = running->head().failure;
    std::snprintf(failure, sizeof running->head().failure, "%s", why);
    jump(running->back, 1);
}

}  // namespace cypool::nethack
