// The Atari 2600's video chip. Takes the place of ALE's emucore/TIA.cxx as a whole; its header is ale/emucore/TIA.hxx.
//
// Why it is faster:
// - A line is bits, not bytes: each object is a row of 160 of them, made again when a register has changed it. Overlaps
//   are ANDs of words, and the colours of 8 pixels (32 with AVX2) come from three groups of bits.
// - ALE brings the picture up to date at every access. Here a write that leaves the picture as it is, and a read
//   can wait, unless objects may collide before it: games write most registers as they are already. A change of the
//   playfield waits, too, where the beam has not met it in this line.
// - A line with nothing new is a copy of the one above.
// - Most writes repeat the value of a register: the 6502 finds that out without a call (`poke_again`).
//
// Traps:
// - The end of a line (`end_line`) is handled when the picture gets there. Only writes to registers that it does not
//   read can wait, and their values must not change anything there.
// - Frames may end early, or be shown before they end. Pixels that the beam has not reached show the frame before
//   last, and here it can be seen how ALE draws: four pixels at once, some beyond the beam (`finish_group`); and the
//   blanks after HMOVE before the beam is there, which is why nothing waits while there are any.
// - A repeated write may have an effect: GRP0 and GRP1 also show the new graphics of the other one, GRP1 those of the
//   ball, and HMCLR writes to others. Such a change, a state and a reset make the written value UNKNOWN.
// - BRK and JSR write several bytes at one time, and of two such writes the first may have a longer delay: then it is
//   drawn to where that ends, before the second changes anything.
// - A frame that is too long is ended by any write. One without an end is shown as it is when the 6502 has executed so
//   many instructions: up to date with the last access (`accessed_`).
#include "ale/emucore/TIA.hxx"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>
#include <utility>

#include "ale/emucore/Console.hxx"
#include "ale/emucore/Control.hxx"
#include "ale/emucore/Deserializer.hxx"
#include "ale/emucore/M6502.hxx"
#include "ale/emucore/Serializer.hxx"
#include "ale/emucore/System.hxx"

#define INLINE __attribute__((always_inline)) inline

#if defined(__GNUC__) && defined(__x86_64__)
#define CYPOOL_TIA_SIMD 1
#include <immintrin.h>
#endif

namespace ale {
namespace stella {
namespace {

static_assert(std::endian::native == std::endian::little, "the leftmost pixel is the lowest bit, and the first byte");

constexpr int WIDTH = 160;
constexpr std::uint8_t SCORE = 0x40, PRIORITY = 0x80;
constexpr std::uint8_t NOWHERE = 4;
constexpr int MAX_INSTRUCTIONS = 25000;
constexpr int SHOWN = -1;  // as the end of a group: nothing has been drawn since the frame was shown

// where the copies are that NUSIZ asks for
struct Copies {
    int count;
    int at[3];
};
constexpr Copies COPIES[8] = {{1, {0}},     {2, {0, 16}}, {2, {0, 32}},     {3, {0, 16, 32}},
                              {2, {0, 64}}, {1, {0}},     {3, {0, 32, 64}}, {1, {0}}};

// the same as factors of the bits to copy: of the copies less than 64 pixels away, and of the one that is 64 away
constexpr std::uint64_t near_copies(unsigned copies) {
    std::uint64_t factor = 0;
    for (int k = 0; k < COPIES[copies].count; ++k) {
        if (COPIES[copies].at[k] < 64) factor |= std::uint64_t{1} << COPIES[copies].at[k];
    }
    return factor;
}
constexpr std::uint64_t NEAR[8] = {near_copies(0), near_copies(1), near_copies(2), near_copies(3),
                                   near_copies(4), near_copies(5), near_copies(6), near_copies(7)};
constexpr std::uint64_t FAR[8] = {0, 0, 0, 0, 1, 0, 1, 0};

constexpr std::uint64_t SIZES[NOWHERE + 1] = {0x01, 0x03, 0x0F, 0xFF, 0};  // the pixels of missiles and balls

constexpr int player_scale(unsigned copies) { return copies == 5 ? 2 : copies == 7 ? 4 : 1; }

struct Tables {
    std::uint8_t reversed[256];
    std::uint32_t twice[256], four_times[256];  // each bit so often
    std::uint64_t bytes[256];                   // each bit a byte
};

constexpr Tables make_tables() {
    Tables tables{};
    for (int i = 0; i < 256; ++i) {
        for (int bit = 0; bit < 8; ++bit) {
            if (!(i >> bit & 1)) continue;
            tables.reversed[i] |= static_cast<std::uint8_t>(0x80 >> bit);
            tables.twice[i] |= 0x3u << 2 * bit;
            tables.four_times[i] |= 0xFu << 4 * bit;
            tables.bytes[i] |= std::uint64_t{0xFF} << 8 * bit;
        }
    }
    return tables;
}
constexpr Tables TABLES = make_tables();

// The objects of each latch for collisions, as TIA::Object has them; and the latches of those that are enabled.
constexpr std::uint8_t PAIRS[15][2] = {{1, 2}, {1, 0}, {3, 0}, {3, 2}, {0, 5}, {0, 4}, {2, 5}, {2, 4},
                                       {1, 5}, {1, 4}, {3, 5}, {3, 4}, {4, 5}, {0, 2}, {1, 3}};
struct PairsOf {
    std::uint16_t enabled[64];
};
constexpr PairsOf make_pairs_of() {
    PairsOf pairs_of{};
    for (int enabled = 0; enabled < 64; ++enabled) {
        for (int pair = 0; pair < 15; ++pair) {
            const bool both = enabled >> PAIRS[pair][0] & enabled >> PAIRS[pair][1] & 1;
            pairs_of.enabled[enabled] |= static_cast<std::uint16_t>(both << pair);
        }
    }
    return pairs_of;
}
constexpr PairsOf PAIRS_OF = make_pairs_of();

// How far HMOVE in this cycle of a line moves an object to the right. A motion register holds the number of pixels to
// the left, as four bits with a sign. Late in the blank before a line, there is no time for all of the pulses that
// move objects to the left against a drift of 8 to the right; at the end of a line, some come too early.
constexpr int moved(int cycle, int motion) {
    const int asked = motion < 8 ? -motion : 16 - motion;
    const int pulses = 3 * cycle;
    if (cycle == 75) return asked;
    if (cycle <= 20) return std::max(asked, (pulses - 35 + 64) / 4 - 16);
    return std::min(0, asked - ((pulses - 187 + 256) / 4 - 64));
}

struct Motions {
    std::int8_t pixels[76][16];
};

constexpr Motions make_motions() {
    Motions motions{};
    for (int cycle = 0; cycle < 76; ++cycle) {
        for (int motion = 0; motion < 16; ++motion) {
            motions.pixels[cycle][motion] = static_cast<std::int8_t>(moved(cycle, motion));
        }
    }
    return motions;
}
constexpr Motions MOTIONS = make_motions();

// the words of a row, which the compiler computes with several at a time
typedef std::uint64_t Words __attribute__((vector_size(32), aligned(8), may_alias));

constexpr std::uint64_t times_8(std::uint8_t colour) { return colour * 0x0101010101010101u; }

// The bits of a word in [from, to), which are beyond its ends where the word's are.
std::uint64_t between(int from, int to) {
    const std::uint64_t all = ~std::uint64_t{0};
    return (from > 0 ? all << from : all) & (to < 64 ? ~(all << to) : all);
}

// The playfield's cells of four pixels, as they are sent in a line.
INLINE std::uint64_t cells_of(std::uint32_t playfield, bool mirrored) {
    const auto& reversed = TABLES.reversed;
    const std::uint32_t pf0 = playfield & 15, pf1 = playfield >> 4 & 255, pf2 = playfield >> 12;
    const std::uint32_t left = pf0 | static_cast<std::uint32_t>(reversed[pf1]) << 4 | pf2 << 12;
    const std::uint32_t mirror = reversed[pf2] | pf1 << 8 | static_cast<std::uint32_t>(reversed[pf0]) << 12;
    return left | std::uint64_t{mirrored ? mirror : left} << 20;
}

std::uint8_t byte_of(const std::uint64_t* words, int k) { return static_cast<std::uint8_t>(words[k / 8] >> k % 8 * 8); }

// Writes the pixels of a line in [from, to), no others. layers: bits of a line, of which no two share one; bits
// in none of them have the colours of background, playfield, player 0 and player 1.
void fill(std::uint8_t* line, const std::uint64_t (*layers)[4], const std::uint8_t* colours, int from, int to) {
    const std::uint64_t ground = times_8(colours[0]);
    const std::uint64_t playfield = ground ^ times_8(colours[1]);
    const std::uint64_t player0 = ground ^ times_8(colours[2]), player1 = ground ^ times_8(colours[3]);
    for (int k = from / 8; 8 * k < to; ++k) {
        std::uint64_t pixels = ground ^ (TABLES.bytes[byte_of(layers[0], k)] & playfield)
                               ^ (TABLES.bytes[byte_of(layers[1], k)] & player0)
                               ^ (TABLES.bytes[byte_of(layers[2], k)] & player1);
        const int first = std::max(from - 8 * k, 0), last = std::min(to - 8 * k, 8);
        if (last - first < 8) {
            const std::uint64_t mask = TABLES.bytes[(1 << last) - (1 << first)];
            std::uint64_t old;
            std::memcpy(&old, line + 8 * k, 8);
            pixels = (pixels & mask) | (old & ~mask);
        }
        std::memcpy(line + 8 * k, &pixels, 8);
    }
}

#ifdef CYPOOL_TIA_SIMD
// Puts bits into a line, which wraps around to its left. A shift by less than 0 or by more than 63 leaves nothing.
__attribute__((target("avx2"), always_inline)) inline __m256i placed(std::uint64_t bits, unsigned position) {
    const __m256i words = _mm256_setr_epi64x(0, 64, 128, 2 * WIDTH), at = _mm256_set1_epi64x(position);
    const __m256i all = _mm256_set1_epi64x(static_cast<long long>(bits));
    const __m256i right = _mm256_sllv_epi64(all, _mm256_sub_epi64(at, words));
    const __m256i left = _mm256_srlv_epi64(all, _mm256_sub_epi64(words, at));
    const __m256i past_end = _mm256_add_epi64(words, _mm256_set1_epi64x(WIDTH));
    const __m256i around = _mm256_srlv_epi64(all, _mm256_sub_epi64(past_end, at));
    const __m256i row = _mm256_or_si256(_mm256_or_si256(right, left), around);
    return _mm256_and_si256(row, _mm256_setr_epi64x(-1, -1, 0xFFFFFFFF, 0));
}

// Writes a row as a whole: a CPU waits where a read needs several writes.
__attribute__((target("avx2"), always_inline)) inline void store_row(std::uint64_t* target, const std::uint64_t* row) {
    const auto word = [&](int k) { return static_cast<long long>(row[k]); };
    __m256i words = _mm256_setr_epi64x(word(0), word(1), word(2), 0);
    asm("" : "+x"(words));  // or gcc writes each word by itself
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(target), words);
}

__attribute__((target("avx2"), always_inline)) inline __m256i bytes_of(std::uint32_t bits) {
    const __m256i which = _mm256_set1_epi64x(static_cast<long long>(0x8040201008040201));
    // clang-format off
    const __m256i from = _mm256_setr_epi8(0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1,
                                          2, 2, 2, 2, 2, 2, 2, 2, 3, 3, 3, 3, 3, 3, 3, 3);
    // clang-format on
    const __m256i spread = _mm256_shuffle_epi8(_mm256_set1_epi32(static_cast<int>(bits)), from);
    return _mm256_cmpeq_epi8(_mm256_and_si256(spread, which), which);
}

__attribute__((target("avx2"), always_inline)) inline void fill_avx2(std::uint8_t* line,
                                                                     const std::uint64_t (*layers)[4],
                                                                     const std::uint8_t* colours, int from, int to) {
    const __m256i ground = _mm256_set1_epi8(static_cast<char>(colours[0]));
    const __m256i playfield = _mm256_set1_epi8(static_cast<char>(colours[0] ^ colours[1]));
    const __m256i player0 = _mm256_set1_epi8(static_cast<char>(colours[0] ^ colours[2]));
    const __m256i player1 = _mm256_set1_epi8(static_cast<char>(colours[0] ^ colours[3]));
    for (int k = from / 32; 32 * k < to; ++k) {
        std::uint32_t bits[3];
        for (int layer = 0; layer < 3; ++layer) {
            std::memcpy(&bits[layer], reinterpret_cast<const char*>(layers[layer]) + 4 * k, 4);
        }
        __m256i pixels = _mm256_xor_si256(ground, _mm256_and_si256(bytes_of(bits[0]), playfield));
        if (bits[1] | bits[2]) {
            pixels = _mm256_xor_si256(pixels, _mm256_and_si256(bytes_of(bits[1]), player0));
            pixels = _mm256_xor_si256(pixels, _mm256_and_si256(bytes_of(bits[2]), player1));
        }
        const auto target = reinterpret_cast<__m256i*>(line + 32 * k);
        const int first = std::max(from - 32 * k, 0), last = std::min(to - 32 * k, 32);
        if (last - first < 32) {
            const auto mask = static_cast<std::uint32_t>((std::uint64_t{1} << last) - (std::uint64_t{1} << first));
            pixels = _mm256_blendv_epi8(_mm256_loadu_si256(target), pixels, bytes_of(mask));
        }
        _mm256_storeu_si256(target, pixels);
    }
}

#define TARGET_AVX512 target("avx512f,avx512bw,bmi,bmi2")
__attribute__((TARGET_AVX512, always_inline)) inline void fill_avx512(std::uint8_t* line,
                                                                      const std::uint64_t (*layers)[4],
                                                                      const std::uint8_t* colours, int from, int to) {
    const __m512i ground = _mm512_set1_epi8(static_cast<char>(colours[0]));
    const __m512i playfield = _mm512_set1_epi8(static_cast<char>(colours[1]));
    const __m512i player0 = _mm512_set1_epi8(static_cast<char>(colours[2]));
    const __m512i player1 = _mm512_set1_epi8(static_cast<char>(colours[3]));
#pragma GCC unroll 3
    for (int k = 0; k < 3; ++k) {
        if (from >= 64 * (k + 1) || to <= 64 * k) continue;
        __m512i pixels = _mm512_mask_mov_epi8(ground, layers[0][k], playfield);
        pixels = _mm512_mask_mov_epi8(pixels, layers[1][k], player0);
        pixels = _mm512_mask_mov_epi8(pixels, layers[2][k], player1);
        // of more than 64 bits all are kept
        const std::uint64_t before_end = _bzhi_u64(~std::uint64_t{0}, static_cast<unsigned>(to - 64 * k));
        const std::uint64_t before = _bzhi_u64(~std::uint64_t{0}, static_cast<unsigned>(std::max(from - 64 * k, 0)));
        _mm512_mask_storeu_epi8(line + 64 * k, before_end & ~before, pixels);
    }
}

__attribute__((TARGET_AVX512, always_inline)) inline void store_cells(std::uint64_t* target, std::uint64_t cells) {
    constexpr std::uint64_t LOWEST = 0x1111111111111111;
    const std::uint64_t words[3] = {15 * _pdep_u64(cells, LOWEST), 15 * _pdep_u64(cells >> 16, LOWEST),
                                    15 * _pdep_u64(cells >> 32, LOWEST)};
    store_row(target, words);
}
#endif

struct StateWriter {
    Serializer& out;
    template <class T> void number(T& value) { out.putInt(static_cast<int>(value)); }
    void flag(bool& value) { out.putBool(value); }
};
struct StateReader {
    Deserializer& in;
    template <class T> void number(T& value) { value = static_cast<T>(in.getInt()); }
    void flag(bool& value) { value = in.getBool(); }
};

[[noreturn]] void refuse() { throw std::invalid_argument("state: not from this game"); }

}  // namespace

TIA::Simd TIA::best_simd() {
#ifdef CYPOOL_TIA_SIMD
    if (__builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("bmi2")) return Simd::AVX512;
    if (__builtin_cpu_supports("avx2")) return Simd::AVX2;
#endif
    return Simd::NONE;
}

TIA::Simd TIA::simd_ = TIA::best_simd();

void TIA::use_simd(Simd simd) { simd_ = std::min(simd, best_simd()); }

TIA::TIA(const Console& console, Settings&) : console_(console) { forget_written(); }

void TIA::reset() {
    forget_written();
    sound_->reset();
    look_ = {};
    stale_ = ALL;
    settled_ = false;
    collisions_ = 0;
    vsync_ = vblank_ = ctrlpf_ = 0;
    for (int player : {0, 1}) {
        nusiz_[player] = graphics_[player] = old_graphics_[player] = 0;
        reflected_[player] = player_delayed_[player] = missile_[player] = missile_at_player_[player] = false;
    }
    ball_ = old_ball_ = ball_delayed_ = false;
    std::fill(std::begin(motion_), std::end(motion_), 0);
    std::fill(std::begin(position_), std::end(position_), 0);
    last_move_ = 0;
    blanking_ = stars_ = false;
    stars_phase_ = 0;
    grounded_ = false;
    grounded_until_ = 0;

    const auto& properties = console_.properties();
    blanks_allowed_ = properties.get(Emulation_HmoveBlanks) == "YES";
    pal_ = console_.getFormat().compare(0, 3, "PAL") == 0;
    longest_frame_ = LINE * ((pal_ ? 342 : 290) + 1);
    first_line_ = std::atoi(properties.get(Display_YStart).c_str());
    num_lines_ = std::atoi(properties.get(Display_Height).c_str());
    height_ = std::max(num_lines_, 200);

    std::memset(pixels_, 0, sizeof pixels_);
    pen_ = current_;
    frame_start_ = static_cast<int>(mySystem->cycles() * 3);
    display_start_ = frame_start_ + LINE * first_line_;
    display_end_ = display_start_ + LINE * num_lines_;
    drawn_to_ = frame_start_;
    line_drawn_ = 0;
    group_end_ = 0;
    accessed_ = blank_accessed_ = blank_since_ = NEVER;
    vsync_end_ = INT_MAX;
    last_frame_lines_ = frame_lines_ = 0;
    start_blank();
    bound_repeats();
}

void TIA::systemCyclesReset() {
    const std::uint32_t cycles = mySystem->cycles();
    sound_->adjustCycleCounter(-static_cast<int>(cycles));
    grounded_until_ -= cycles;
    // unsigned: clocks far in the past or future may wrap around
    for (int* clock : {&frame_start_, &display_start_, &display_end_, &drawn_to_, &vsync_end_, &last_move_}) {
        *clock = static_cast<int>(static_cast<std::uint32_t>(*clock) - 3 * cycles);
    }
}

void TIA::install(System& system) {
    mySystem = &system;
    system.resetCycles();
    System::PageAccess access{};
    access.device = this;
    for (unsigned address = 0; address < 0x2000; address += 1u << system.pageShift()) {
        const auto page = static_cast<std::uint16_t>(address >> system.pageShift());
        if ((address & 0x1080) == 0) system.setPageAccess(page, access);
    }
}

// Exchanges the state in ALE's format; false if what is read is not that of a chip.
template <class Stream> bool TIA::exchange(Stream stream) {
    const auto numbers = [&](auto&... values) { (stream.number(values), ...); };
    const auto flags = [&](auto&... values) { (stream.flag(values), ...); };
    int to_end = LINE - line_drawn_;
    numbers(frame_start_, display_start_, display_end_, drawn_to_, to_end, last_frame_lines_, frame_lines_, vsync_end_);
    if (to_end < 0 || to_end > LINE) return false;
    line_drawn_ = LINE - to_end;
    numbers(look_.enabled, vsync_, vblank_, nusiz_[0], nusiz_[1]);
    for (int index : {2, 3, 1, 0}) {
        std::uint32_t four = look_.colours[index] * 0x01010101u;
        numbers(four);
        look_.colours[index] = static_cast<std::uint8_t>(four);
    }
    numbers(ctrlpf_, look_.control);
    flags(reflected_[0], reflected_[1]);
    numbers(look_.playfield, graphics_[0], graphics_[1], old_graphics_[0], old_graphics_[1]);
    look_.playfield &= 0xFFFFF;
    flags(missile_[0], missile_[1], ball_, old_ball_);
    for (int object : {P0, P1, M0, M1, BL}) {
        numbers(motion_[object]);
        motion_[object] &= 15;
    }
    flags(player_delayed_[0], player_delayed_[1], ball_delayed_, missile_at_player_[0], missile_at_player_[1]);
    numbers(collisions_);
    for (int object : {P0, P1, M0, M1, BL}) {
        numbers(position_[object]);
        if (position_[object] < 0 || position_[object] >= WIDTH) return false;
    }
    numbers(look_.graphics[0], look_.graphics[1], last_move_);
    flags(blanking_, stars_);
    numbers(stars_phase_);
    flags(grounded_);
    numbers(grounded_until_);
    return true;
}

bool TIA::save(Serializer& out) {
    try {
        out.putString(name());
        exchange(StateWriter{out});
        sound_->save(out);
        return true;
    } catch (...) {
        return false;  // as the console expects it
    }
}

bool TIA::load(Deserializer& in) {
    try {
        if (in.getString() != name() || !exchange(StateReader{in})) return false;
        sound_->load(in);
    } catch (...) {
        return false;
    }
    forget_written();
    group_end_ = SHOWN;
    latched_ = false;
    stale_ = ALL;
    settled_ = false;
    accessed_ = blank_accessed_ = blank_since_ = NEVER;
    start_blank();
    bound_repeats();
    return true;
}

// Where ALE would point to in its tables: for states that can go from one to the other.
int TIA::place(const Pattern& pattern, int object) {
    if (object == M0 && pattern.size == NOWHERE) return -1;
    const int align = pattern.position % 4;
    int row;
    if (object == BL) {
        row = align * 4 + pattern.size;
    } else if (object == M0 || object == M1) {
        row = (align * 8 + pattern.copies) * 4 + pattern.size;
    } else {
        row = (align * 2 + pattern.size) * 8 + pattern.copies;
    }
    return row * 2 * WIDTH + WIDTH - (pattern.position - align);
}

TIA::Pattern TIA::at_place(int place, int object) {
    const auto byte = [](int value) { return static_cast<std::uint8_t>(value); };
    if (object == M0 && place < 0) return {0, 0, NOWHERE};
    const int row = place / (2 * WIDTH), per_align = object == BL ? 4 : object == M0 || object == M1 ? 32 : 16;
    const int align = row / per_align, offset = place % (2 * WIDTH);
    if (place < 0 || align > 3 || offset > WIDTH) refuse();
    const auto position = byte((WIDTH - offset + align) % WIDTH);
    if (object == BL) return {position, 0, byte(row % 4)};
    if (object == M0 || object == M1) return {position, byte(row / 4 % 8), byte(row % 4)};
    return {position, byte(row % 8), byte(row / 8 % 2)};
}

void TIA::save_rest(Serializer& out) const {
    out.putBool(unfinished_);
    out.putBool(greyed_);
    out.putInt(static_cast<int>(pen_ - current_));
    for (int object : {BL, M0, M1, P0, P1}) out.putInt(place(look_.patterns[object], object));
    out.putInt(look_.mirrored ? WIDTH : 0);
}

void TIA::load_rest(Deserializer& in) {
    unfinished_ = in.getBool();
    greyed_ = in.getBool();
    const int drawn = in.getInt();
    // lines that may still be drawn; at most one of them has been begun
    const std::int64_t lines = (std::max<std::int64_t>(std::int64_t{display_end_} - drawn_to_, 0) + LINE) / LINE;
    // the line that has been begun is written to from its first pixel on
    if (drawn < std::max(line_drawn_ - BLANK, 0)) refuse();
    if (drawn + lines * WIDTH > static_cast<int>(sizeof pixels_[0])) refuse();
    pen_ = current_ + drawn;
    for (int object : {BL, M0, M1, P0, P1}) look_.patterns[object] = at_place(in.getInt(), object);
    const int mirrored = in.getInt();
    if (mirrored != 0 && mirrored != WIDTH) refuse();
    look_.mirrored = mirrored != 0;
    stale_ = ALL;
    settled_ = false;
}

void TIA::update() {
    if (!unfinished_) start_frame();
    unfinished_ = true;
    std::fill(std::begin(charging_), std::end(charging_), UNREAD);
    mySystem->m6502().execute(MAX_INSTRUCTIONS);
    catch_up(accessed_);
    // once: then the frame may be greyed out
    if (drawn_to_ < display_end_ && group_end_ != SHOWN) finish_line();
    frame_lines_ = static_cast<int>(scanlines());
    if (unfinished_) {
        if (!greyed_) grey_out();
        greyed_ = true;
    } else {
        last_frame_lines_ = frame_lines_;
        greyed_ = false;
    }
}

std::uint32_t TIA::scanlines() const {
    return (mySystem->cycles() * 3 - static_cast<std::uint32_t>(frame_start_)) / LINE;
}

void TIA::start_frame() {
    std::swap(current_, previous_);
    pen_ = current_;
    // VSYNC does not end a line
    const int clocks = static_cast<int>((mySystem->cycles() * 3 - static_cast<std::uint32_t>(frame_start_)) % LINE);
    mySystem->resetCycles();
    frame_start_ = -clocks;
    display_start_ = frame_start_ + LINE * first_line_;
    display_end_ = display_start_ + LINE * num_lines_;
    drawn_to_ = display_start_;
    line_drawn_ = 0;
    group_end_ = 0;
    accessed_ = blank_accessed_ = blank_since_ = NEVER;
    start_blank();
    bound_repeats();
    if (pal_) {
        for (std::uint8_t& colour : look_.colours) {
            colour = static_cast<std::uint8_t>((colour & 0xFE) | (last_frame_lines_ & 1));
        }
    }
    greyed_ = false;
}

// Greys the pixels that the beam has not reached of a frame that was not ended.
void TIA::grey_out() {
    const int line = std::clamp(static_cast<int>(scanlines()) - first_line_, 0, num_lines_);
    for (int i = line * WIDTH; i < num_lines_ * WIDTH; ++i) {
        current_[i] = static_cast<std::uint8_t>((current_[i] & 0x0F) >> 1);
    }
}

// Remembers when ALE would have blanked the pixels after HMOVE first: see `finish_line`.
void TIA::note_blank(int clock) {
    if (blank_accessed_ != NEVER || clock < display_start_ || clock <= std::max(drawn_to_, blank_since_)) return;
    if (clock < blank_last_ || clock >= blank_last_ + BLANK) return;
    blank_accessed_ = clock;
    bound_repeats();
}

void TIA::draw(int clock) {
    if (blanking_) note_blank(clock);
    group_end_ = std::max(group_end_, 0);
    clock = std::min(clock, display_end_);
    const int end = line_drawn_ + clock - drawn_to_;
    if (end <= BLANK || (end <= LINE && !blanking_)) {
        // within a line
        const int from = std::max(line_drawn_, BLANK);
        line_drawn_ = end;
        drawn_to_ = clock;
        if (end <= BLANK) return;
        paint(from - BLANK, end - BLANK);
        pen_ += end - from;
        return;
    }
    const std::uint8_t* same = nullptr;  // a line that looks as this one will
    bool same_blanked = false;
    do {
        // a line ends when the beam is beyond it
        const bool ends = clock - drawn_to_ > LINE - line_drawn_;
        const int to = ends ? LINE : line_drawn_ + clock - drawn_to_;
        const int from = std::max(line_drawn_, std::min(to, BLANK));
        const int line = drawn_to_ - line_drawn_;
        const bool blanks = blanking_ && line >= blank_first_ && from < BLANKED;
        drawn_to_ = line + to;
        if (from < to) {
            const bool whole = to - from == WIDTH;
            if (whole && same && blanks == same_blanked) {
                std::memcpy(pen_, same, WIDTH);
            } else {
                paint(from - BLANK, to - BLANK);
                if (whole && blanks)
                    std::memset(pen_, 0, BLANKED - BLANK);
                else if (blanks)
                    std::memset(pen_, 0, static_cast<std::size_t>(std::min(to, BLANKED) - from));
                same = whole ? pen_ : nullptr;
                same_blanked = blanks;
            }
            pen_ += to - from;
        }
        if (blanks && to >= BLANKED) {
            blanking_ = line < blank_last_;
            blank_first_ = line + LINE;
            bound_repeats();
        }
        line_drawn_ = ends ? 0 : to;
        if (!ends) break;
        if (end_line()) same = nullptr;
        if (same && settled_ && !blanking_ && !same_blanked) {
            for (; clock - drawn_to_ > LINE; drawn_to_ += LINE, pen_ += WIDTH) std::memcpy(pen_, same, WIDTH);
        }
        if (clock - drawn_to_ <= BLANK) {
            line_drawn_ = clock - drawn_to_;
            drawn_to_ = clock;
        }
    } while (drawn_to_ < clock);
}

INLINE TIA::Pattern TIA::pattern(int object, unsigned copies, unsigned size) const {
    return {static_cast<std::uint8_t>(position_[object]), static_cast<std::uint8_t>(copies),
            static_cast<std::uint8_t>(size)};
}

INLINE bool TIA::latched(int object, unsigned copies, unsigned size) const {
    return look_.patterns[object] == pattern(object, copies, size);
}

// Returns whether that is new.
INLINE bool TIA::latch(int object, unsigned copies, unsigned size) {
    if (latched(object, copies, size)) [[likely]]
        return false;
    look_.patterns[object] = pattern(object, copies, size);
    settled_ = false;
    stale_ |= static_cast<std::uint8_t>(1 << object);
    return true;
}

INLINE void TIA::latch_player(int player, bool without_first) {
    latch(player ? P1 : P0, nusiz_[player] & 7, without_first);
}

INLINE void TIA::latch_missile(int player) { latch(player ? M1 : M0, nusiz_[player] & 7, nusiz_[player] >> 4 & 3); }

INLINE void TIA::latch_ball() { latch(BL, 0, ctrlpf_ >> 4 & 3); }

// Returns whether the next line looks different.
bool TIA::end_line() {
    if (settled_) return false;
    bool changed = false;
    const bool mirrored = ctrlpf_ & 1;
    if (mirrored != look_.mirrored) {
        look_.mirrored = mirrored;
        stale_ |= 1 << PF;
        changed = true;
    }
    changed |= latch(P0, nusiz_[0] & 7, 0);
    changed |= latch(P1, nusiz_[1] & 7, 0);
    if (stars_) {
        constexpr int LEFT[4] = {18, 33, 0, 17};
        stars_phase_ = (stars_phase_ + 1) & 3;
        position_[M0] = static_cast<std::int16_t>((position_[M0] + WIDTH - LEFT[stars_phase_]) % WIDTH);
        const unsigned size = nusiz_[0] >> 4 & 3;
        changed |= latch(M0, nusiz_[0] & 7, stars_phase_ == 1 ? size | 1 : stars_phase_ == 2 ? NOWHERE : size);
    }
    settled_ = !stars_;
    return changed;
}

// Puts copies of these bits into a line, which wraps around to its left.
TIA::Row TIA::spread(std::uint64_t bits, unsigned copies, bool without_first, unsigned position) {
    const std::uint64_t near = bits * (NEAR[copies] - without_first), far = bits * FAR[copies];
    std::uint64_t words[5]{};
    const unsigned first = position / 64, shift = position % 64;
    words[first] = near << shift;
    words[first + 1] = far << shift;
    if (shift) {
        words[first + 1] |= near >> (64 - shift);
        words[first + 2] = far >> (64 - shift);
    }
    // a line is 160 pixels
    return {{words[0] | words[2] >> 32 | words[3] << 32, words[1] | words[3] >> 32 | words[4] << 32,
             (words[2] & 0xFFFFFFFF) | words[4] >> 32}};
}

TIA::Row TIA::row_of(const Look& look, int object) {
    if (!(look.enabled >> object & 1)) return {};
    if (object == PF) {
        const std::uint64_t cells = cells_of(look.playfield, look.mirrored);
        const auto sixteen = [cells](int first) {
            const auto of = static_cast<std::uint32_t>(cells >> first);
            return TABLES.four_times[of & 255] | std::uint64_t{TABLES.four_times[of >> 8 & 255]} << 32;
        };
        return {{sixteen(0), sixteen(16), sixteen(32)}};
    }
    const Pattern& pattern = look.patterns[object];
    return spread(bits_of(look, object), pattern.copies, is_player(object) && pattern.size, pattern.position);
}

// The pixels of the first copy of a player, a missile or the ball.
INLINE std::uint64_t TIA::bits_of(const Look& look, int object) {
    const Pattern& pattern = look.patterns[object];
    if (!is_player(object)) return SIZES[pattern.size];
    const std::uint8_t graphics = TABLES.reversed[look.graphics[object == P1]];
    // a wide player starts one pixel later
    if (pattern.copies == 5) return std::uint64_t{TABLES.twice[graphics]} << 1;
    if (pattern.copies == 7) return std::uint64_t{TABLES.four_times[graphics]} << 1;
    return graphics;
}

// Makes the rows that a register has changed again, and with them the visible layers.
void TIA::refresh() {
    for (unsigned rows = stale_ & ~LAYERS; rows; rows &= rows - 1) {
        const int object = std::countr_zero(rows);
        rows_[object] = row_of(look_, object);
    }
    make_layers();
    overlapping_ = (overlaps_[0] | overlaps_[1] | overlaps_[2]) != 0;
}

#ifdef CYPOOL_TIA_SIMD
__attribute__((target("avx2"), always_inline)) inline void TIA::refresh_avx2() {
    for (unsigned rows = stale_ & ~LAYERS & ~(1u << PF); rows; rows &= rows - 1) {
        const int object = std::countr_zero(rows);
        const Pattern& pattern = look_.patterns[object];
        const std::uint64_t bits = look_.enabled >> object & 1 ? bits_of(look_, object) : 0;
        const bool without_first = is_player(object) && pattern.size;
        __m256i row = placed(bits * (NEAR[pattern.copies] - without_first), pattern.position);
        if (FAR[pattern.copies]) row = _mm256_or_si256(row, placed(bits, (pattern.position + 64u) % WIDTH));
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(rows_[object].words), row);
    }
    if (stale_ & 1 << PF) store_row(rows_[PF].words, row_of(look_, PF).words);
    make_layers();
    const __m256i overlaps = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(overlaps_));
    overlapping_ = !_mm256_testz_si256(overlaps, overlaps);
}
#endif

// Finds the visible layer of each pixel from the rows.
INLINE void TIA::make_layers() {
    stale_ = 0;
    // ALE forgets the priority of a playfield that is alone
    const bool priority = look_.control & PRIORITY && !(look_.control & SCORE && look_.enabled == 1 << PF);
    const auto row = [&](int object) -> const Words& { return reinterpret_cast<const Words&>(rows_[object].words); };
    Words playfield = row(PF) | row(BL), player0 = row(P0) | row(M0), player1 = row(P1) | row(M1);
    const Words overlaps = (row(PF) & row(BL)) | (row(P0) & row(M0)) | (row(P1) & row(M1))
                           | (playfield & (player0 | player1)) | (player0 & player1);
    if (priority) {
        player0 &= ~playfield;
        player1 &= ~(playfield | player0);
    } else {
        if (look_.control & SCORE) {
            // the halves of the playfield belong to the players
            constexpr Words LEFT = {~std::uint64_t{0}, 0xFFFF, 0, 0};
            playfield = row(BL);
            player0 |= row(PF) & LEFT;
            player1 |= row(PF) & ~LEFT;
        }
        player1 &= ~player0;
        playfield &= ~(player0 | player1);
    }
    std::memcpy(overlaps_, &overlaps, sizeof overlaps);
    std::memcpy(layers_[0], &playfield, sizeof playfield);
    std::memcpy(layers_[1], &player0, sizeof player0);
    std::memcpy(layers_[2], &player1, sizeof player1);
}

// Draws a piece of the current line.
INLINE void TIA::paint(int from, int to) {
    const bool dark = vblank_ & 2;
    if (from > (to & ~3)) {
        // within a group that has been begun before
        group_end_ = group_end_ == from ? to : 0;
    } else if (dark) {
        group_end_ = 0;
    } else {
        if (to % 4 != 0) group_look_ = look_;
        group_end_ = to;
    }
    if (dark) {
        std::memset(pen_, 0, static_cast<std::size_t>(to - from));
        return;
    }
#ifdef CYPOOL_TIA_SIMD
    if (simd_ == Simd::AVX512) return paint_avx512(from, to);
    if (simd_ == Simd::AVX2) return paint_avx2(from, to);
#endif
    if (stale_) refresh();
    if (overlapping_) collide(from, to);
    fill(pen_ - from, layers_, look_.colours, from, to);
}

#ifdef CYPOOL_TIA_SIMD
__attribute__((target("avx2"))) void TIA::paint_avx2(int from, int to) {
    if (stale_) refresh_avx2();
    if (overlapping_) collide(from, to);
    fill_avx2(pen_ - from, layers_, look_.colours, from, to);
}
__attribute__((target("avx2"))) bool TIA::overlaps_avx2() {
    if (stale_) refresh_avx2();
    return overlapping_;
}
__attribute__((TARGET_AVX512)) void TIA::paint_avx512(int from, int to) {
    if (stale_ & 1 << PF) {
        const bool on = look_.enabled & 1 << PF;
        store_cells(rows_[PF].words, on ? cells_of(look_.playfield, look_.mirrored) : 0);
        stale_ = static_cast<std::uint8_t>((stale_ & ~(1 << PF)) | LAYERS);
    }
    if (stale_) refresh_avx2();
    if (overlapping_) collide(from, to);
    fill_avx512(pen_ - from, layers_, look_.colours, from, to);
}
#endif

// Whether a change of these cells of the playfield need not be drawn now: what the beam has passed of the current line
// since the last piece is without them, also in the last group of four pixels.
bool TIA::can_wait(int clock, std::uint64_t cells) const {
    clock = std::min(std::max(clock, accessed_), display_end_);
    if (clock < display_start_ || clock <= drawn_to_) return true;
    const int from = std::max(line_drawn_ - BLANK, 0), to = line_drawn_ + clock - drawn_to_ - BLANK;
    if (to <= from || to > WIDTH) return to <= WIDTH;
    return !(cells & ((std::uint64_t{1} << (to + 3) / 4) - (std::uint64_t{1} << from / 4)));
}

// Whether there may be collisions in what has not been drawn yet.
bool TIA::may_collide() {
    if (vblank_ & 2) return false;
    if (!settled_) return true;
#ifdef CYPOOL_TIA_SIMD
    if (simd_ != Simd::NONE) return overlaps_avx2();
#endif
    if (stale_) refresh();
    return overlapping_;
}

INLINE void TIA::clear_collisions(int clock) {
    access(may_collide(), clock);
    collisions_ = 0;
}

void TIA::collide(int from, int to) {
    // those that may be found for the first time
    const unsigned open = PAIRS_OF.enabled[look_.enabled & 63] & ~static_cast<unsigned>(collisions_);
    if (!open) return;
    for (int k = from / 64; 64 * k < to; ++k) {
        const std::uint64_t mask = overlaps_[k] & between(from - 64 * k, to - 64 * k);
        if (!mask) continue;
        for (unsigned pairs = open; pairs; pairs &= pairs - 1) {
            const int pair = std::countr_zero(pairs);
            if (rows_[PAIRS[pair][0]].words[k] & rows_[PAIRS[pair][1]].words[k] & mask) {
                collisions_ |= static_cast<std::uint16_t>(1 << pair);
            }
        }
    }
}

// Whether an object may be seen in a group of four pixels, whatever its graphics are.
bool TIA::reaches(Look look, int object, int from) {
    look.enabled |= static_cast<std::uint8_t>(1 << object);
    look.graphics[0] = look.graphics[1] = 0xFF;
    return row_of(look, object).words[from / 64] >> from % 64 & 15;
}

// Draws ALE's pixels beyond the beam, in a frame that is shown unfinished. After HMOVE it blanks, at the first access,
// as many pixels as there are clocks to the last of those that are to be blanked, though no pixel may have been sent
// yet.
void TIA::finish_line() {
    const int first = blank_accessed_ - (drawn_to_ - line_drawn_), done = std::max(line_drawn_, BLANK);
    int blanked = 0;
    if (first >= 0 && first < BLANK) {
        blanked = BLANK + BLANKED - first;
    } else if (blanking_ && line_drawn_ > BLANK) {
        blanked = BLANKED;
    }
    if (blanked > done) std::memset(pen_, 0, static_cast<std::size_t>(blanked - done));
    if (!blanking_) blank_accessed_ = NEVER;
    finish_group();
    group_end_ = SHOWN;
}

// The same for the last piece of a line: where nothing but the playfield is near, and at most two objects are on, ALE
// draws four pixels at once.
void TIA::finish_group() {
    const int from = group_end_ & ~3, count = 4 - group_end_ % 4;
    if (count == 4 || line_drawn_ != BLANK + group_end_ || (blanking_ && group_end_ < 8)) return;
    const Look& look = group_look_;
    const auto bit = [](int object) { return 1 << object; };
    const bool score = look.control & SCORE;
    switch (look.enabled) {
        case 1 << PF:
        case 1 << P0:
        case 1 << M0:
        case 1 << P1:
        case 1 << M1:
        case 1 << BL:
        case 1 << P0 | 1 << P1:
        case 1 << M0 | 1 << M1:
        case 1 << BL | 1 << M0:
        case 1 << BL | 1 << M1:
        case 1 << BL | 1 << P1: break;
        case 1 << PF | 1 << P0:
        case 1 << PF | 1 << P1:
        case 1 << PF | 1 << BL:
            if (score) return;
            break;
        default: return;
    }
    for (int object = P0; object <= BL; ++object) {
        if (look.enabled & bit(object) && reaches(look, object, from)) return;
    }
    const bool playfield = row_of(look, PF).words[from / 64] >> from % 64 & 1;
    const int index = !playfield ? 0 : score ? (from < WIDTH / 2 ? 2 : 3) : 1;
    std::memset(pen_, look.colours[index], static_cast<std::size_t>(count));
}

void TIA::enable(int object, bool on) {
    const auto bit = static_cast<std::uint8_t>(1 << object);
    look_.enabled = static_cast<std::uint8_t>((look_.enabled & ~bit) | (on ? bit : 0));
    stale_ |= bit;
}

std::uint8_t TIA::sent_graphics(int player) const {
    const std::uint8_t graphics = player_delayed_[player] ? old_graphics_[player] : graphics_[player];
    return reflected_[player] ? TABLES.reversed[graphics] : graphics;
}

void TIA::write_vsync(int clock, std::uint8_t value) {
    catch_up(clock);
    vsync_ = value;
    if (value & 2) {
        vsync_end_ = clock + LINE;
    } else if (clock >= vsync_end_) {
        vsync_end_ = INT_MAX;
        end_frame();
    }
}

void TIA::end_frame() {
    mySystem->m6502().stop();
    unfinished_ = false;
}

void TIA::write_vblank(int clock, std::uint8_t value) {
    access(value != vblank_, clock + 1);
    if ((value ^ vblank_) & 0x80) {
        grounded_ = value & 0x80;
        if (!grounded_) grounded_until_ = static_cast<int>(mySystem->cycles());
    }
    vblank_ = value;
}

// WSYNC.
void TIA::wait(int clock) {
    access(false, clock);
    // the 6502 halts at a read only: of two writes, the second does not
    if (!mySystem->m6502().lastAccessWasRead()) return;
    if (const std::uint32_t left = cycles_to_line_end(mySystem->cycles())) mySystem->incrementCycles(left);
}

void TIA::write_size(int clock, int player, std::uint8_t value) {
    catch_up(clock + 8);
    nusiz_[player] = value;
    latch_player(player, false);
    latch_missile(player);
}

void TIA::write_colour(int clock, int index, std::uint8_t value) {
    const auto colour = static_cast<std::uint8_t>((value & 0xFE) | (pal_ ? last_frame_lines_ & 1 : 0));
    // the objects that may have it
    const int playfield = index == 1 || look_.control & SCORE ? 1 << PF : 0;
    const int others = index == 1 ? 1 << BL : index == 2 ? 1 << P0 | 1 << M0 : 1 << P1 | 1 << M1;
    const bool shown = index == 0 || look_.enabled & (playfield | others);
    const bool changes = colour != look_.colours[index] && shown;
    const bool alone = index == 1 && !(look_.enabled & 1 << BL);
    access(changes && !(alone && can_wait(clock, cells_of(look_.playfield, look_.mirrored))), clock);
    look_.colours[index] = colour;
}

void TIA::write_control(int clock, std::uint8_t value) {
    const auto control = static_cast<std::uint8_t>((value & 6) << 5);
    const bool mirrored = value & 1, left = line_clock(clock) < BLANK + 79;
    access(value != ctrlpf_ || (left && mirrored != look_.mirrored) || look_.patterns[BL].position != position_[BL],
           clock);
    ctrlpf_ = value;
    settled_ = false;
    if (control != look_.control) {
        look_.control = control;
        stale_ |= LAYERS;
    }
    if (left && mirrored != look_.mirrored) {
        look_.mirrored = mirrored;
        stale_ |= 1 << PF;
    }
    latch_ball();
}

// left, mirror: where the register's cells are in the left half of a line, and in a mirrored right half
INLINE void TIA::write_playfield(int clock, std::uint32_t left, std::uint64_t mirror, int bits) {
    const std::uint32_t playfield = (look_.playfield & ~left) | (static_cast<std::uint32_t>(bits) & left);
    clock += playfield_delay(clock);
    if (playfield == look_.playfield) return access(false, clock);
    // whether there is a playfield is what `finish_group` asks
    const bool goes_on = look_.playfield != 0 && playfield != 0;
    access(!goes_on || !can_wait(clock, left | (look_.mirrored ? mirror : left) << 20), clock);
    look_.playfield = playfield;
    enable(PF, playfield != 0);
}

int TIA::playfield_delay(int clock) const {
    return REPEATS.of[PF0].delay[-((clock - frame_start_) / 3) & 3];  // a line is 19 times four cycles
}

INLINE void TIA::write_graphics(int clock, int player, std::uint8_t value) {
    // each keeps the graphics of the other for when they are delayed, the second those of the ball as well
    if (value != graphics_[player]) written_[player ? GRP0 : GRP1] = UNKNOWN;
    graphics_[player] = value;
    old_graphics_[1 - player] = graphics_[1 - player];
    show_players(clock + 1);
    if (player == 0) return;
    old_ball_ = ball_;
    show_ball(clock + 1);
}

void TIA::write_reflection(int clock, int player, bool value) {
    reflected_[player] = value;
    show_players(clock + 1);
}

void TIA::write_player_delay(int clock, int player, bool value) {
    player_delayed_[player] = value;
    show_players(clock);
}

// To be called after a change of registers: shows the graphics they ask for now.
INLINE void TIA::show_players(int clock) {
    const std::uint8_t zero = sent_graphics(0), one = sent_graphics(1);
    if (zero == look_.graphics[0] && one == look_.graphics[1]) {
        access(false, clock);
    } else {
        change_graphics(clock, zero, one);
    }
}

void TIA::change_graphics(int clock, std::uint8_t zero, std::uint8_t one) {
    catch_up(clock);
    if (zero != look_.graphics[0]) {
        look_.graphics[0] = zero;
        enable(P0, zero != 0);
    }
    if (one != look_.graphics[1]) {
        look_.graphics[1] = one;
        enable(P1, one != 0);
    }
}

// The same for whether a missile or the ball is shown.
INLINE void TIA::show(int clock, int object, bool on) {
    if (on == (look_.enabled >> object & 1)) {
        access(false, clock);
    } else {
        change_enabled(clock, object, on);
    }
}

void TIA::change_enabled(int clock, int object, bool on) {
    catch_up(clock);
    enable(object, on);
}

INLINE void TIA::show_ball(int clock) { show(clock, BL, ball_delayed_ ? old_ball_ : ball_); }

INLINE void TIA::show_missile(int clock, int player) {
    show(clock, player ? M1 : M0, missile_[player] && !missile_at_player_[player]);
}

void TIA::write_missile(int clock, int player, bool value) {
    missile_[player] = value;
    show_missile(clock, player);
}

void TIA::write_ball(int clock, bool value) {
    if (value != ball_) written_[GRP1] = UNKNOWN;
    ball_ = value;
    show_ball(clock);
}

void TIA::write_ball_delay(int clock, bool value) {
    ball_delayed_ = value;
    show_ball(clock);
}

INLINE void TIA::clear_motion(int clock) {
    std::fill(std::begin(motion_), std::end(motion_), 0);
    std::fill(written_ + HMP0, written_ + HMBL + 1, 0);
    access(false, clock);
}

void TIA::write_motion(int clock, int object, std::uint8_t value) {
    access(false, clock);
    const auto motion = static_cast<std::int8_t>(value >> 4);
    // the condition for the stars of Cosmic Ark, made of missile 0
    if (object == M0 && after_move(clock) == 3 * 21 && motion_[M0] == 7 && motion == 6) {
        catch_up(clock);
        stars_ = true;
        settled_ = false;
        stars_phase_ = 0;
    }
    motion_[object] = motion;
    written_[HMCLR] = UNKNOWN;
}

void TIA::reset_player(int clock, int player) {
    std::int16_t& position = position_[player ? P1 : P0];
    catch_up(clock);
    const int at = line_clock(clock);
    const int target = at < BLANK ? 3 : (at - BLANK + 5) % WIDTH;
    const unsigned copies = nusiz_[player] & 7;
    // where the old copies are, they are sent after a delay of four pixels
    bool waiting = false, sending = false;
    for (int k = 0; k < COPIES[copies].count; ++k) {
        const int since = (target - position + WIDTH) % WIDTH - COPIES[copies].at[k];
        waiting |= since >= 0 && since < 4;
        sending |= since >= 4 && since < 4 + 8 * player_scale(copies);
    }
    if (sending) catch_up(clock + 11);
    position = static_cast<std::int16_t>(target);
    latch_player(player, !waiting);
}

void TIA::reset_missile(int clock, int player) {
    catch_up(clock + 8);
    const int at = line_clock(clock), since_move = after_move(clock);
    int target = at < BLANK ? 2 : (at - BLANK + 4) % WIDTH;
    // as two games need it: Dolphin and Pitfall II
    if (player == 0 && since_move == 3 * 20 && at == 69) target = 8;
    if (player == 1 && since_move == 3 * 3 && at == 18) target = 3;
    position_[player ? M1 : M0] = static_cast<std::int16_t>(target);
    latch_missile(player);
}

void TIA::reset_ball(int clock) {
    catch_up(clock);
    const int at = line_clock(clock), since_move = after_move(clock);
    int target = at < BLANK ? 2 : (at - BLANK + 4) % WIDTH;
    // as four games need it: Escape from the Mindmaster, Decathlon, Robot Tank and Hole Hunter
    if (since_move == 3 * 18 && (at == 60 || at == 69)) target = 10;
    if (since_move == 3 * 3 && at == 18) target = 3;
    if (since_move == 3 * 7 && at == 30) target = 6;
    if (since_move == 3 * 6 && at == 27) target = 5;
    position_[BL] = static_cast<std::int16_t>(target);
    latch_ball();
}

void TIA::write_missile_at_player(int clock, int player, bool value) {
    if (missile_at_player_[player] && !value) {
        catch_up(clock);
        const int middle = 4 * player_scale(nusiz_[player] & 7);
        position_[player ? M1 : M0] = static_cast<std::int16_t>((position_[player ? P1 : P0] + middle) % WIDTH);
        latch_missile(player);
    }
    missile_at_player_[player] = value;
    show_missile(clock, player);
}

INLINE bool TIA::moves_nothing(int cycle) {
    for (int object = P0; object <= BL; ++object) {
        if (MOTIONS.pixels[cycle][motion_[object]] != 0) return false;
    }
    if (settled_ && latched_) return true;
    latched_ = latched(M0, nusiz_[0] & 7, nusiz_[0] >> 4 & 3) && latched(M1, nusiz_[1] & 7, nusiz_[1] >> 4 & 3)
               && latched(BL, 0, ctrlpf_ >> 4 & 3);
    return latched_ && !stars_ && latched(P0, nusiz_[0] & 7, 0) && latched(P1, nusiz_[1] & 7, 0);
}

// The lines to be blanked are side by side.
bool TIA::can_blank_later(int clock, int line) const {
    return clock > drawn_to_ && clock < display_end_ && (!blanking_ || line == blank_last_ + LINE);
}

// HMOVE.
void TIA::move(int clock) {
    const int in_line = line_clock(clock), cycle = in_line / 3;
    const int line = clock - in_line + (cycle == 75 ? LINE : 0);  // whose first pixels are blanked
    const bool blanks = blanks_allowed_ && (cycle <= 20 || cycle == 75);
    last_move_ = clock;
    if (moves_nothing(cycle) && (!blanks || can_blank_later(clock, line))) {
        access(false, clock);
        if (!blanks) return;
        if (!blanking_) blank_first_ = line;
        blank_last_ = line;
        blanking_ = true;
        blank_accessed_ = NEVER;
        blank_since_ = accessed_;
        return bound_repeats();
    }
    catch_up(clock);
    if (blanks && !blanking_) {
        blanking_ = true;
        blank_accessed_ = NEVER;
        start_blank();
        bound_repeats();
    }
    for (int object = P0; object <= BL; ++object) {
        const int pixels = MOTIONS.pixels[cycle][motion_[object]];
        if (pixels == 0) continue;
        const int target = position_[object] + pixels;
        position_[object] = static_cast<std::int16_t>(target < 0 ? target + WIDTH : target % WIDTH);
    }
    for (int player : {0, 1}) {
        latch_player(player, false);
        latch_missile(player);
    }
    latch_ball();
    stars_ = false;
}

// Whether the capacitor behind a paddle has been charged.
bool TIA::paddle(int number) {
    std::uint32_t& charging = charging_[number];
    if (charging == UNREAD) {
        Controller& controller = console_.controller(number < 2 ? Controller::Left : Controller::Right);
        const int resistance = controller.read(number % 2 ? Controller::Five : Controller::Nine);
        const double seconds = 1.6 * resistance * 0.01E-6;
        charging = resistance == Controller::minimumResistance   ? ALWAYS
                   : resistance == Controller::maximumResistance ? NOT_ONCE
                                                                 : static_cast<std::uint32_t>(seconds * 1.19E6);
    }
    if (charging == ALWAYS) return true;
    if (charging == NOT_ONCE || grounded_) return false;
    return mySystem->cycles() > static_cast<std::uint32_t>(grounded_until_) + charging;
}

std::uint8_t TIA::peek(std::uint16_t address) {
    const int clock = static_cast<int>(mySystem->cycles() * 3);
    const std::uint8_t bus = mySystem->getDataBusState() & 0x3F;
    const int number = address & 15;
    if (number < 8) {
        access(may_collide(), clock);
        // two latches a register, but for CXBLPF
        const int latches = number < 6    ? collisions_ >> 2 * number & 3
                            : number == 6 ? collisions_ >> 12 & 1
                                          : collisions_ >> 13 & 3;
        return static_cast<std::uint8_t>((latches & 1) << 7 | (latches & 2) << 5 | bus);
    }
    access(false, clock);
    bool high = false;
    if (number < 12) {
        high = paddle(number - 8);
    } else if (number < 14) {
        high = console_.controller(number == 12 ? Controller::Left : Controller::Right).read(Controller::Six);
    }
    return static_cast<std::uint8_t>(high << 7 | bus);
}

void TIA::poke(std::uint16_t address, std::uint8_t value) {
    const std::uint32_t cycle = mySystem->cycles();
    // no end of the frame has come in time
    if (static_cast<int>(cycle * 3) - frame_start_ >= longest_frame_) end_frame();
    poke_at(address & 0x3F, value, cycle);
}

// One function for each register.
#define WRITE(...) \
    [](TIA& tia, [[maybe_unused]] int clock, [[maybe_unused]] std::uint8_t value, unsigned) { tia.__VA_ARGS__; }
constexpr TIA::Writers TIA::make_writers() {
    Writers writers{};
    auto& of = writers.of;
    // also RSYNC, which ALE leaves out, and addresses without a register
    for (Writer& writer : of) writer = WRITE(access(false, clock));
    of[VSYNC] = WRITE(write_vsync(clock, value));
    of[VBLANK] = WRITE(write_vblank(clock, value));
    of[WSYNC] = WRITE(wait(clock));
    of[NUSIZ0] = WRITE(write_size(clock, 0, value));
    of[NUSIZ1] = WRITE(write_size(clock, 1, value));
    of[COLUP0] = WRITE(write_colour(clock, 2, value));
    of[COLUP1] = WRITE(write_colour(clock, 3, value));
    of[COLUPF] = WRITE(write_colour(clock, 1, value));
    of[COLUBK] = WRITE(write_colour(clock, 0, value));
    of[CTRLPF] = WRITE(write_control(clock, value));
    of[REFP0] = WRITE(write_reflection(clock, 0, value & 8));
    of[REFP1] = WRITE(write_reflection(clock, 1, value & 8));
    of[PF0] = WRITE(write_playfield(clock, 0x0000F, 0xF0000, value >> 4));
    of[PF1] = WRITE(write_playfield(clock, 0x00FF0, 0x0FF00, value << 4));
    of[PF2] = WRITE(write_playfield(clock, 0xFF000, 0x000FF, value << 12));
    of[RESP0] = WRITE(reset_player(clock, 0));
    of[RESP1] = WRITE(reset_player(clock, 1));
    of[RESM0] = WRITE(reset_missile(clock, 0));
    of[RESM1] = WRITE(reset_missile(clock, 1));
    of[RESBL] = WRITE(reset_ball(clock));
    for (int k = AUDC0; k <= AUDV1; ++k) {
        of[k] = [](TIA& tia, int clock, std::uint8_t value, unsigned address) {
            tia.access(false, clock);
            tia.sound_->set(static_cast<std::uint16_t>(address), value, static_cast<int>(tia.mySystem->cycles()));
        };
    }
    of[GRP0] = WRITE(write_graphics(clock, 0, value));
    of[GRP1] = WRITE(write_graphics(clock, 1, value));
    of[ENAM0] = WRITE(write_missile(clock, 0, value & 2));
    of[ENAM1] = WRITE(write_missile(clock, 1, value & 2));
    of[ENABL] = WRITE(write_ball(clock, value & 2));
    of[HMP0] = WRITE(write_motion(clock, P0, value));
    of[HMP1] = WRITE(write_motion(clock, P1, value));
    of[HMM0] = WRITE(write_motion(clock, M0, value));
    of[HMM1] = WRITE(write_motion(clock, M1, value));
    of[HMBL] = WRITE(write_motion(clock, BL, value));
    of[VDELP0] = WRITE(write_player_delay(clock, 0, value & 1));
    of[VDELP1] = WRITE(write_player_delay(clock, 1, value & 1));
    of[VDELBL] = WRITE(write_ball_delay(clock, value & 1));
    of[RESMP0] = WRITE(write_missile_at_player(clock, 0, value & 2));
    of[RESMP1] = WRITE(write_missile_at_player(clock, 1, value & 2));
    of[HMOVE] = WRITE(move(clock));
    of[HMCLR] = WRITE(clear_motion(clock));
    of[CXCLR] = WRITE(clear_collisions(clock));
    return writers;
}
#undef WRITE
const TIA::Writers TIA::WRITERS = make_writers();

}  // namespace stella
}  // namespace ale
