// A game of NetHack and the task in it: the work of NLE's Python around the library, written from its behaviour.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "cypool/envs/shared/rules/options.h"
#include "cypool/envs/nethack/loader.h"
#include "cypool/envs/nethack/screen.h"
#include "cypool/envs/nethack/window.h"

namespace cypool::nethack {

enum Task : int { NETHACK, SCORE, STAIRCASE, STAIRCASE_PET, ORACLE, GOLD, EAT, SCOUT, CHALLENGE };
enum Penalty : int { CONSTANT, EXPONENTIAL, SQUARE, LINEAR, ALWAYS };
enum EndStatus : int { ABORTED = -1, RUNNING, DEATH, TASK_SUCCESSFUL };

// The bytes of each observation, in the order of `Key`.
constexpr size_t KEY_BYTES[NUM_KEYS] = {
    2 * CELLS,       CELLS, CELLS, CELLS,           8 * NUM_BLSTATS, MESSAGE_BYTES, 6 * 4, 9 * 4, 2 * ITEMS,
    ITEMS * LETTERS, ITEMS, ITEMS, CELLS * LETTERS, SCREEN,          SCREEN,        2,     3 * 4};

namespace key {
enum : int { SPACE = ' ', ESCAPE = 27, META = 128 };
}
namespace blstats {
enum : int { X, Y, SCORE = 9, DEPTH = 12, GOLD = 13, TURN = 20, DUNGEON = 23, LEVEL = 24 };
}
namespace internal {
enum : int { ASKS_FOR_LETTER = 1, ASKS_FOR_LINE = 2, WAITS_FOR_SPACE = 3, ON_STAIRS_DOWN = 4, NUTRITION = 7 };
}
namespace state {
enum : int { GAME_OVER = 0, IN_MOVELOOP = 3 };
}
enum : int { PANICKED = 11, ASCENDED = 15 };

// `nle_settings` of NLE 1.3.0: the places in its bytes.
namespace settings {
enum : size_t {
    FOLDER = 0,
    OPTIONS = 0x2000,
    SPAWN_MONSTERS = 0xb000,
    CORE = 0xc008,
    DISP = 0xc010,
    HAS_SEEDS = 0xc019,
    LGEN = 0xc020,
    HAS_LGEN = 0xc028,
    FIXES_MOON_PHASE = 0xc030,
    TIME_SEED = 0xc038,
    HAS_TIME_SEED = 0xc040,
    BYTES = 0xc048,
    OPTIONS_BYTES = 0x8000
};
}

struct Settings : Options {
    explicit Settings(const Options& given) : Options(given) {}

    int task = at("task"), penalty_mode = at("penalty_mode");
    int64_t abort_steps = at("abort_steps"), no_progress_timeout = at("no_progress_timeout");
    bool allow_all_yn_questions = at("allow_all_yn_questions"), allow_all_modes = at("allow_all_modes");
    bool spawn_monsters = at("spawn_monsters"), fix_moon_phase = at("fix_moon_phase");
    double penalty_step = at("penalty_step"), penalty_time = at("penalty_time");
    double max_step_seconds = at("max_step_seconds");
    uint32_t keys = at("keys");          // a bit for each `Key` that is observed
    bool fills_late = at("fills_late");  // see Head
    std::string text = at("text");       // NetHack's own
    std::vector<uint8_t> actions = at("actions");
};

// How an episode begins: with the same, and the same actions, it is the same.
struct Start {
    uint64_t core = 0, disp = 0, lgen = 0;
    bool has_lgen = false;
    int64_t clock = 0;
    int64_t frozen = 0;  // steps in a row in which no time passed, before
    std::string record;  // the list of high scores, of earlier episodes
};

// Seconds since 1970 by the clock on the wall.
inline int64_t wall_clock() {
    const time_t now = std::time(nullptr);
    struct tm date;
    localtime_r(&now, &date);
    return now + date.tm_gmtoff;
}

// The counts of the task.
struct Counts {
    int64_t steps = 0, turn = -1, no_progress = 0, frozen = 0;
    bool has_turn = false;
    std::map<std::pair<int64_t, int64_t>, int64_t> explored;  // seen cells of a level
    int end_status = RUNNING;
    bool over = false;
    int64_t last_turn = 0, last_depth = 0;  // the values before NetHack cleared its status
    std::vector<uint8_t> actions;           // since the episode began
};

// A game as it was. Only memory of this process is put back: it cannot be checked.
struct Saved {
    Start start;
    Counts counts;
    Snapshot memory;
};

// The library's own function that one of ours stands for.
template <class Function> Function own(Function, size_t place) {
    return reinterpret_cast<Function>(running->base + place);
}

// Writes an observation, as the library does at each key; late, only the small arrays and those that the task looks at.
// Once the game is over it is written in time: the last screens stay as they were.
inline void instead::fill(Window* window, Observation* observation) {
    Head& head = running->head();
    const bool is_over = *reinterpret_cast<const int*>(running->base + library->places.program_state) != 0;
    const bool is_late = head.fills_late && !is_over;
    Observation small = *observation;
    for (int which = 0; which < NUM_KEYS; ++which) {
        if (is_large(which)) small.arrays[which] = nullptr;
    }
    own(&fill, library->places.fill)(window, &small);
    observation->in_normal_game = small.in_normal_game;
    for (int which = 0; which < NUM_KEYS; ++which) {
        void* const array = observation->arrays[which];
        if (array == nullptr || !is_large(which)) continue;
        if (!is_late || (head.looked_at >> which & 1)) write(*window, head, which, array);
    }
    head.window = is_late ? window : nullptr;
}
inline void instead::describe(Window* window, int x, int y, int glyph) {
    own(&describe, library->places.describe)(window, x, y, glyph);
    mark_described(running->head(), x, y);
}
// Unobserved glyphs are not drawn.
inline void instead::draw_glyph(int window, int x, int y, int glyph, int background) {
    if (!running->head().draws_screen) return;
    own(&draw_glyph, library->places.draw_glyph)(window, x, y, glyph, background);
}
inline void instead::draw_status(int field, void* value, int change, int percent, int color, unsigned long* masks) {
    if (!running->head().draws_screen) return;
    own(&draw_status, library->places.draw_status)(field, value, change, percent, color, masks);
}
inline void instead::print(Terminal* terminal, const char* text, size_t size) {
    const Observation& observation = running->head().observation;
    const size_t row = terminal->row, column = terminal->column;
    const size_t done = Printer(*terminal, observation).print(text, size);
    if (done < size) own(&print, library->places.print)(terminal, text + done, size - done);
    auto* const cursor = static_cast<uint8_t*>(observation.arrays[TTY_CURSOR]);
    if (cursor == nullptr || (row == terminal->row && column == terminal->column)) return;
    cursor[0] = static_cast<uint8_t>(terminal->row);
    cursor[1] = static_cast<uint8_t>(terminal->column);
}

class Game {
public:
    double reward = 0;
    bool truncated = false;

    explicit Game(const Options& options) : options_(options), block_(library->block()) { prepare_arrays(); }

    // Raises an error where there is no game, or one that cannot continue.
    void check() const {
        if (!begun_) throw std::runtime_error("NetHack: expected a game in progress, got a failed one, or none");
    }
    bool is_over() const { return counts_.over; }
    int end_status() const { return counts_.end_status; }
    bool is_ascended() const { return observation().how_done == ASCENDED; }
    int how_done() const { return observation().how_done; }
    int64_t turn() const { return blstat(blstats::TURN); }
    int64_t last_turn() const { return counts_.last_turn; }
    int64_t last_depth() const { return counts_.last_depth; }
    const Start& start() const { return start_; }
    const std::vector<uint8_t>& actions() const { return counts_.actions; }

    // Writes parts of the observation: `keys` says which.
    void observe(const int* keys, void* const* rows, int count) {
        check();
        call([&] {
            Head& head = block_->head();
            for (int k = 0; k < count; ++k) {
                if (head.window != nullptr && is_large(keys[k])) {
                    write(*head.window, head, keys[k], rows[k]);
                } else {
                    std::memcpy(rows[k], arrays_[keys[k]], KEY_BYTES[keys[k]]);
                }
            }
        });
    }

    // How the next episode begins, but for seeds and clock.
    Start next_start() {
        Start next;
        next.frozen = counts_.frozen;
        next.record = start_.record;
        const char* text = nullptr;
        size_t length = 0;
        // of a game that failed nothing is known
        if (begun_ && guarded(*block_, [&] {
                const File* const record = instead::find("record");
                if (record != nullptr && record->size < MAX_RECORD) text = record->data, length = record->size;
            })) {
            next.record.assign(length > 0 ? text : "", length);
        }
        return next;
    }

    // Begins an episode. False: NetHack does not come to the point where it asks for a command.
    bool begin(const Start& start) {
        enum : int { MOST = 1000 };
        begun_ = false;
        handlers_.renew();
        if (&start != &start_) start_ = start;
        counts_ = Counts{};
        counts_.frozen = start_.frozen;
        library->renew(*block_);
        Head& head = block_->head();
        head.clock = start_.clock;
        prepare_arrays();
        Thread::begin_step(max_ticks());
        call([&] {
            char* const given = static_cast<char*>(instead::malloc(settings::BYTES));
            write_settings(given);
            if (!start_.record.empty()) {
                Stream* const record = instead::open_stream(instead::find("record"));
                instead::put(record, start_.record.data(), start_.record.size());
                instead::close_stream(record);
            }
            using Function = void* (*)(Observation*, void*, const void*);
            head.context = function<Function>(library->places.start)(&head.observation, nullptr, given);
            instead::free(given);
        });
        int presses = 0;
        while (head.observation.done == 0 && values<int32_t>(PROGRAM_STATE)[state::IN_MOVELOOP] == 0) {
            if (++presses > MOST) return false;
            press(key::SPACE);
        }
        if (head.observation.done != 0) return false;
        begun_ = true;
        reward = 0;
        truncated = false;
        counts_.end_status = status();
        keep_place();
        return true;
    }

    void step(int action) {
        // the library would jump to where its game has ended
        if (counts_.over) throw std::runtime_error("NetHack: expected a game in progress, got one that is over");
        Thread::begin_step(max_ticks());
        int64_t old[NUM_BLSTATS];
        std::memcpy(old, values<int64_t>(BLSTATS), sizeof old);
        const int32_t old_nutrition = values<int32_t>(INTERNAL)[internal::NUTRITION];
        counts_.actions.push_back(static_cast<uint8_t>(action));
        press(options_.actions[static_cast<size_t>(action)]);
        truncated = check_abort();
        if (values<int32_t>(PROGRAM_STATE)[state::GAME_OVER] == 1 || !options_.allow_all_modes) answer(true);
        ++counts_.steps;
        counts_.end_status = status();
        keep_place();
        reward = reward_since(old, old_nutrition);
        if (counts_.end_status != RUNNING && !is_done()) {
            answer(false);
            if (!is_done()) {
                press(key::META | 'q');
                if (!is_done()) press('y');
                answer(false);
            }
            counts_.over = true;
        }
        counts_.over = counts_.over || is_done();
    }

    // ---- states

    std::shared_ptr<Saved> save() const { return std::make_shared<Saved>(Saved{start_, counts_, block_->save()}); }
    void load(const Saved& saved) {
        begun_ = false;
        block_->load(saved.memory);
        take(saved.start, saved.counts);
    }
    void copy(const Game& other) {
        begun_ = false;
        block_->copy(*other.block_);
        take(other.start_, other.counts_);
    }
    // Plays an episode again. False: it is over before the last action.
    bool replay(const Start& start, const std::vector<uint8_t>& actions) {
        if (!begin(start)) throw std::runtime_error("NetHack: the game failed to start");
        for (const uint8_t action : actions) {
            if (counts_.over) return false;
            step(action);
        }
        return true;
    }

    // For tests: where a variable of the game is; null: there is no such variable.
    uint64_t* variable(const std::string& name) {
        const size_t place = library->look_up(name);
        return place != 0 ? reinterpret_cast<uint64_t*>(block_->base + place) : nullptr;
    }

private:
    enum : size_t { MAX_RECORD = 1 << 16 };

    const Settings options_;
    Handlers handlers_;
    std::unique_ptr<Block> block_;
    Start start_;
    Counts counts_;
    bool begun_ = false;           // and has not failed
    char* arrays_[NUM_KEYS] = {};  // in the block: its first pieces, so they are at the same places in each game

    const Observation& observation() const { return block_->head().observation; }
    bool is_done() const { return observation().done != 0; }
    template <class Value> const Value* values(int which) const {
        return reinterpret_cast<const Value*>(arrays_[which]);
    }
    int64_t blstat(int which) const { return values<int64_t>(BLSTATS)[which]; }
    template <class Function> Function function(size_t place) const {
        return reinterpret_cast<Function>(block_->base + place);
    }
    int max_ticks() const { return static_cast<int>(options_.max_step_seconds * 1e3 / double{TICK_MS}); }

    template <class Call> void call(const Call& call) {
        if (guarded(*block_, call)) return;
        begun_ = false;
        const char* const failure = block_->head().failure;
        throw std::runtime_error("NetHack: the game cannot continue: "
                                 + std::string(failure, strnlen(failure, sizeof(Head::failure))));
    }
    void press(int pressed) {
        Head& head = block_->head();
        head.observation.action = pressed;
        call([&] {
            Thread::keep_ticking();
            using Function = void* (*)(void*, Observation*);
            function<Function>(library->places.step)(head.context, &head.observation);
        });
    }

    void prepare_arrays() {
        Head& head = block_->head();
        Observation& observed = head.observation;
        observed = {};
        head.window = nullptr;
        head.fills_late = options_.fills_late;
        head.draws_screen = (options_.keys >> TTY_CHARS & 7) != 0;
        const bool looks_around = options_.task == STAIRCASE_PET || options_.task == ORACLE || options_.task == SCOUT;
        head.looked_at = looks_around ? 1 << GLYPHS : 0;
        for (int which = 0; which < NUM_KEYS; ++which) {
            if (!(options_.keys >> which & 1)) continue;
            // not cleared, as most are only written at the end of a game
            arrays_[which] = static_cast<char*>(block_->allocate(KEY_BYTES[which], false));
            observed.arrays[which] = arrays_[which];
        }
    }
    void write_settings(char* given) const {
        const auto put = [&](size_t place, auto value) { std::memcpy(given + place, &value, sizeof value); };
        // a name; there is no such folder
        std::strcpy(given + settings::FOLDER, "/nethack");
        std::strncpy(given + settings::OPTIONS, options_.text.c_str(), settings::OPTIONS_BYTES - 1);
        put(settings::SPAWN_MONSTERS, static_cast<int32_t>(options_.spawn_monsters));
        put(settings::CORE, start_.core);
        put(settings::DISP, start_.disp);
        put(settings::HAS_SEEDS, true);
        put(settings::LGEN, start_.lgen);
        put(settings::HAS_LGEN, start_.has_lgen);
        put(settings::FIXES_MOON_PHASE, options_.fix_moon_phase);
        put(settings::TIME_SEED, start_.core + 1);
        put(settings::HAS_TIME_SEED, options_.fix_moon_phase);
    }
    void take(const Start& start, const Counts& counts) {
        start_ = start;
        counts_ = counts;
        handlers_.renew();
        begun_ = true;
    }

    // ---- the task

    // NetHack clears its status where a game ends.
    void keep_place() {
        if (blstat(blstats::DEPTH) == 0) return;
        counts_.last_turn = turn();
        counts_.last_depth = blstat(blstats::DEPTH);
    }
    bool check_abort() {
        if (options_.task != CHALLENGE) return counts_.steps >= options_.abort_steps;
        if (counts_.has_turn && counts_.turn == turn()) {
            ++counts_.no_progress;
        } else {
            counts_.has_turn = true;
            counts_.turn = turn();
            counts_.no_progress = 0;
        }
        return counts_.steps >= options_.abort_steps || counts_.no_progress >= options_.no_progress_timeout;
    }
    int status() {
        // this also counts
        const bool aborted = check_abort();
        return is_done() ? DEATH : aborted ? ABORTED : success() ? TASK_SUCCESSFUL : RUNNING;
    }
    bool success() const {
        const bool on_stairs = values<int32_t>(INTERNAL)[internal::ON_STAIRS_DOWN] != 0;
        switch (options_.task) {
            case STAIRCASE: return on_stairs;
            case STAIRCASE_PET: return on_stairs && is_next_to(glyph::PET, glyph::BEHIND_PETS);
            case ORACLE: return is_next_to(glyph::ORACLE, glyph::ORACLE + 1);
            default: return false;
        }
    }
    bool is_next_to(int low, int high) const {
        const int64_t x = blstat(blstats::X), y = blstat(blstats::Y);
        // in NLE a slice that begins at -1 is empty
        if (x < 1 || y < 1) return false;
        for (int64_t row = y - 1; row < std::min<int64_t>(y + 2, ROWS); ++row) {
            for (int64_t column = x - 1; column < std::min<int64_t>(x + 2, COLUMNS); ++column) {
                const int seen = values<int16_t>(GLYPHS)[row * COLUMNS + column];
                if (seen >= low && seen < high) return true;
            }
        }
        return false;
    }

    // Answers questions that a player of the task shall not answer: with space, and with escape.
    void answer(bool leaves_some) {
        while (!is_done()) {
            const auto* const asks = values<int32_t>(INTERNAL);
            if (asks[internal::WAITS_FOR_SPACE] != 0) {
                press(key::SPACE);
            } else if (asks[internal::ASKS_FOR_LINE] != 0) {
                press(key::ESCAPE);
            } else {
                if (asks[internal::ASKS_FOR_LETTER] != 0 && !(leaves_some && is_left())) press(key::ESCAPE);
                return;
            }
        }
    }
    bool is_left() const {
        if (options_.allow_all_yn_questions) return true;
        for (const char* word : {"eat", "attack", "direction?", "pray"}) {
            if (memmem(arrays_[MESSAGE], MESSAGE_BYTES, word, std::strlen(word)) != nullptr) return true;
        }
        return false;
    }

    double reward_since(const int64_t* old, int32_t old_nutrition) {
        const bool continues = observation().in_normal_game != 0;
        const auto gained = [&](int which) { return static_cast<double>(blstat(which) - old[which]); };
        const auto with_penalty = [&](double gain) { return gain + penalty(old[blstats::TURN], turn()); };
        switch (options_.task) {
            case NETHACK: return continues ? gained(blstats::SCORE) : 0;
            case SCORE:
            case CHALLENGE: return with_penalty(continues ? gained(blstats::SCORE) : 0);
            case GOLD: return continues ? with_penalty(gained(blstats::GOLD)) : 0;
            case EAT:
                return continues
                           ? with_penalty(std::max(0, values<int32_t>(INTERNAL)[internal::NUTRITION] - old_nutrition))
                           : 0;
            case SCOUT: return continues ? with_penalty(static_cast<double>(explore())) : 0;
            default: return with_penalty(counts_.end_status == TASK_SUCCESSFUL);
        }
    }
    double penalty(int64_t old_turn, int64_t new_turn) {
        counts_.frozen = old_turn == new_turn ? counts_.frozen + 1 : 0;
        const auto frozen = static_cast<double>(counts_.frozen);
        double factor = 0;
        switch (options_.penalty_mode) {
            case CONSTANT: factor = counts_.frozen > 0; break;
            case EXPONENTIAL:
                // NLE ends with an error where this does not fit any more
                factor = std::ldexp(1.0, static_cast<int>(std::min<int64_t>(counts_.frozen, 1023)));
                break;
            case SQUARE: factor = frozen * frozen; break;
            case LINEAR: factor = frozen; break;
            default: factor = 1;
        }
        double sum = 0;
        if (factor != 0) sum += factor * options_.penalty_step;
        return sum + static_cast<double>(new_turn - old_turn) * options_.penalty_time;
    }
    int64_t explore() {
        int64_t seen = 0;
        for (size_t k = 0; k < CELLS; ++k) seen += values<int16_t>(GLYPHS)[k] != glyph::STONE;
        int64_t& before = counts_.explored[{blstat(blstats::DUNGEON), blstat(blstats::LEVEL)}];
        return seen - std::exchange(before, seen);
    }
};

}  // namespace cypool::nethack
