// The Atari 2600's video chip, in place of ALE's class: this folder is searched before ALE's own, so that ALE's console
// and cartridges are compiled against this header. Public members have the names and results that they expect.
//
// Registers are written and read as the 6502 runs. The picture is only brought up to date before a write that changes
// it, and before collisions are read: see tia.cpp.
#pragma once

#include <algorithm>
#include <climits>
#include <cstdint>
#include <iterator>

#include "ale/emucore/Device.hxx"
#include "ale/emucore/MediaSrc.hxx"
#include "ale/emucore/Sound.hxx"

namespace ale {
namespace stella {

class Console;
class Deserializer;
class Serializer;
class Settings;
class System;

class TIA final : public Device, public MediaSource {
 public:
  // clang-format off
  enum Register {
    VSYNC, VBLANK, WSYNC, RSYNC, NUSIZ0, NUSIZ1, COLUP0, COLUP1, COLUPF, COLUBK, CTRLPF, REFP0, REFP1, PF0, PF1,
    PF2, RESP0, RESP1, RESM0, RESM1, RESBL, AUDC0, AUDC1, AUDF0, AUDF1, AUDV0, AUDV1, GRP0, GRP1, ENAM0, ENAM1,
    ENABL, HMP0, HMP1, HMM0, HMM1, HMBL, VDELP0, VDELP1, VDELBL, RESMP0, RESMP1, HMOVE, HMCLR, CXCLR
  };
  // clang-format on

  TIA(const Console& console, Settings& settings);

  const char* name() const override { return "TIA"; }
  void reset() override;
  void systemCyclesReset() override;
  void install(System& system) override;
  // in ALE's format
  bool save(Serializer& out) override;
  bool load(Deserializer& in) override;
  // the rest of the state without the pixels: with it a restored chip continues exactly as the saved one
  void save_rest(Serializer& out) const;
  void load_rest(Deserializer& in);  // throws std::invalid_argument

  std::uint8_t peek(std::uint16_t address) override;
  void poke(std::uint16_t address, std::uint8_t value) override;
  // the same in a cycle, for addresses below 64, if the frame is not too long for it
  void poke_at(unsigned address, std::uint8_t value, std::uint32_t cycle) {
    written_[address] = static_cast<std::uint16_t>(value | REPEATS.of[address].unknown);
    WRITERS.of[address](*this, static_cast<int>(cycle * 3), value, address);
  }
  bool in_time(std::uint32_t cycle) const {
    return cycle * 3 - static_cast<std::uint32_t>(frame_start_) < static_cast<std::uint32_t>(longest_frame_);
  }
  // As `poke_at`, if all that changes is when the last access was; else returns false, and has done nothing. After
  // WSYNC the caller halts.
  bool poke_again(unsigned address, unsigned value, std::uint32_t cycle) {
    const Repeat& repeat = REPEATS.of[address];
    const std::uint32_t clock = cycle * 3, since = clock - static_cast<std::uint32_t>(frame_start_);
    if ((written_[address] ^ value) & repeat.mask || since >= repeats_until_) return false;
    accessed_ = std::max(accessed_, static_cast<int>(clock + repeat.delay[since & 3]));
    return true;
  }

  std::uint32_t cycles_to_line_end(std::uint32_t cycle) const {
    const std::uint32_t since = (cycle - static_cast<std::uint32_t>(frame_start_ / 3)) % 76;
    return since != 0 ? 76 - since : 0;
  }

  void update() override;  // runs the console for a frame
  std::uint8_t* currentFrameBuffer() const override { return current_; }
  std::uint8_t* previousFrameBuffer() const override { return previous_; }
  std::uint32_t height() const override { return height_; }
  std::uint32_t width() const override { return 160; }
  std::uint32_t scanlines() const override;
  enum class Simd { NONE, AVX2, AVX512 };
  static Simd best_simd();  // the most that this CPU has
  static void use_simd(Simd simd);  // for tests: the pixels are the same
  bool unfinished() const { return unfinished_; }  // then `update` goes on with the frame
  void setSound(Sound& sound) override { sound_ = &sound; }

 private:
  enum Object { P0, M0, P1, M1, BL, PF };
  static constexpr std::uint8_t ALL = 0x7F, LAYERS = 0x40;  // of layers that may be stale

  // where in a line a player, a missile or the ball is sent
  struct Pattern {
    std::uint8_t position;
    std::uint8_t copies;  // the lower three bits of NUSIZ
    std::uint8_t size;    // of missiles and ball: log2 of the width, or NOWHERE; of players: 1 if the first copy is not
    bool operator==(const Pattern& other) const {  // ALE is C++17
      return position == other.position && copies == other.copies && size == other.size;
    }
  };

  // all that decides about the pixels of a line
  struct Look {
    std::uint8_t enabled;      // a bit for each object
    std::uint8_t control;      // SCORE and PRIORITY
    bool mirrored;             // the right half of the playfield
    std::uint8_t graphics[2];  // of the players, as they are sent
    std::uint8_t colours[4];   // of the background, the playfield, the players
    std::uint32_t playfield;   // PF2, PF1 and the upper half of PF0
    Pattern patterns[5];
  };

  // a bit for each pixel of a line, the lowest is the leftmost
  struct Row {
    std::uint64_t words[4];  // the last is 0
  };

  static Row spread(std::uint64_t bits, unsigned copies, bool without_first, unsigned position);
  static bool is_player(int object) { return object == P0 || object == P1; }
  static std::uint64_t bits_of(const Look& look, int object);
  static Row row_of(const Look& look, int object);
  static bool reaches(Look look, int object, int from);
  static int place(const Pattern& pattern, int object);
  static Pattern at_place(int place, int object);

  template <class Stream> bool exchange(Stream stream);
  void start_frame();
  void end_frame();
  void grey_out();

  // brings the picture up to date with a colour clock
  void catch_up(int clock) {
    clock = std::max(clock, accessed_);  // an earlier write of the same instruction may have had a longer delay
    if (clock >= display_start_ && drawn_to_ < display_end_ && drawn_to_ < clock) draw(clock);
  }
  // as ALE, which does so at each access; but unless the access `changes` the picture that can wait
  void access(bool changes, int clock) {
    if (changes) {
      catch_up(clock);
    } else {
      accessed_ = std::max(clock, accessed_);
      if (blanking_) note_blank(clock);
    }
  }
  void note_blank(int clock);
  void start_blank() { blank_first_ = blank_last_ = drawn_to_ - line_drawn_ + (line_drawn_ < BLANKED ? 0 : LINE); }
  bool moves_nothing(int cycle);
  bool can_blank_later(int clock, int line) const;
  bool may_collide();
  bool overlaps_avx2();
  void draw(int clock);
  void refresh();
  void refresh_avx2();
  void make_layers();
  bool can_wait(int clock, std::uint64_t cells) const;
  void paint(int from, int to);
  void paint_avx2(int from, int to);
  void paint_avx512(int from, int to);
  void collide(int from, int to);
  void finish_line();
  void finish_group();
  bool end_line();

  // unsigned: in a line also where clocks have wrapped around, after minutes without a frame's end
  int line_clock(int clock) const {
    return static_cast<int>((static_cast<std::uint32_t>(clock) - static_cast<std::uint32_t>(frame_start_)) % 228);
  }
  int after_move(int clock) const { return static_cast<int>(static_cast<std::uint32_t>(clock) - last_move_); }
  Pattern pattern(int object, unsigned copies, unsigned size) const;
  bool latched(int object, unsigned copies, unsigned size) const;
  bool latch(int object, unsigned copies, unsigned size);
  void latch_player(int player, bool without_first);
  void latch_missile(int player);
  void latch_ball();
  void enable(int object, bool on);
  std::uint8_t sent_graphics(int player) const;

  // the registers to which the value that they have can be written again without effect
  static constexpr std::uint16_t UNKNOWN = 0x100;  // as the value of a register
  struct Repeat {
    std::uint16_t mask;       // of the bits that count
    std::uint16_t unknown;    // UNKNOWN if there is an effect
    std::uint8_t delay[4];    // of the access, in clocks, by those since the start of the frame
  };
  struct Repeats {
    Repeat of[64];
  };
  static constexpr Repeats make_repeats() {
    Repeats repeats{};
    for (Repeat& repeat : repeats.of) repeat = {UNKNOWN, UNKNOWN, {}};
    const auto set = [&](int first, int last, int bits, int delay = 0) {
      const auto mask = static_cast<std::uint16_t>(UNKNOWN | bits);
      const auto clocks = static_cast<std::uint8_t>(delay);
      for (int k = first; k <= last; ++k) repeats.of[k] = {mask, 0, {clocks, clocks, clocks, clocks}};
    };
    set(VBLANK, VBLANK, 0xFF, 1);
    set(COLUP0, COLUBK, 0xFE);
    set(REFP0, REFP1, 8, 1);
    set(GRP0, GRP1, 0xFF, 1);
    set(ENAM0, ENABL, 2);
    set(HMP0, HMBL, 0xF0);
    set(VDELP0, VDELBL, 1);
    set(RESMP0, RESMP1, 2);
    set(HMCLR, HMCLR, 0);
    repeats.of[WSYNC] = {};
    for (int k = AUDC0; k <= AUDV1; ++k) repeats.of[k] = {};  // nobody listens
    // in four cycles 4, 5, 2, 3: three clocks each, so that the remainder of clocks goes down by one
    repeats.of[PF0] = {UNKNOWN | 0xF0, 0, {4, 3, 2, 5}};
    repeats.of[PF1] = repeats.of[PF2] = {UNKNOWN | 0xFF, 0, {4, 3, 2, 5}};
    return repeats;
  }
  static const Repeats REPEATS;
  // An access is noted if it may be the first in a blank.
  void bound_repeats() {
    const bool all_noted = blanking_ && blank_accessed_ == NEVER;
    repeats_until_ = all_noted || frame_start_ % 3 != 0 ? 0 : static_cast<std::uint32_t>(longest_frame_);
  }
  void forget_written() { std::fill(std::begin(written_), std::end(written_), UNKNOWN); }

  using Writer = void (*)(TIA& tia, int clock, std::uint8_t value, unsigned address);
  struct Writers {
    Writer of[64];
  };
  static constexpr Writers make_writers();
  static const Writers WRITERS;

  void write_vsync(int clock, std::uint8_t value);
  void write_vblank(int clock, std::uint8_t value);
  void wait(int clock);
  void write_size(int clock, int player, std::uint8_t value);
  void write_colour(int clock, int index, std::uint8_t value);
  void write_control(int clock, std::uint8_t value);
  void write_playfield(int clock, std::uint32_t left, std::uint64_t mirror, int bits);
  int playfield_delay(int clock) const;
  void write_graphics(int clock, int player, std::uint8_t value);
  void write_reflection(int clock, int player, bool value);
  void write_player_delay(int clock, int player, bool value);
  void write_missile(int clock, int player, bool value);
  void write_missile_at_player(int clock, int player, bool value);
  void write_ball(int clock, bool value);
  void write_ball_delay(int clock, bool value);
  void write_motion(int clock, int object, std::uint8_t value);
  void clear_motion(int clock);
  void clear_collisions(int clock);
  void reset_player(int clock, int player);
  void reset_missile(int clock, int player);
  void reset_ball(int clock);
  void move(int clock);
  void show_players(int clock);
  void change_graphics(int clock, std::uint8_t zero, std::uint8_t one);
  void show(int clock, int object, bool on);
  void change_enabled(int clock, int object, bool on);
  void show_missile(int clock, int player);
  void show_ball(int clock);
  bool paddle(int number);

  static Simd simd_;
  const Console& console_;
  Sound* sound_ = nullptr;

  // as many lines as ALE has, and some for a reset within a frame: after that those above the display are drawn, too
  std::uint8_t pixels_[2][400 * 160]{};
  std::uint8_t* current_ = pixels_[0];
  std::uint8_t* previous_ = pixels_[1];
  std::uint8_t* pen_ = pixels_[0];  // the pixel to be drawn next
  int height_ = 0;
  int first_line_ = 0, num_lines_ = 0;  // of those that are drawn
  bool pal_ = false;
  bool blanks_allowed_ = false;
  bool unfinished_ = false;  // the frame
  bool greyed_ = false;

  static constexpr int NEVER = INT_MIN / 2;
  static constexpr int LINE = 228;    // clocks
  static constexpr int BLANK = 68;    // clocks of it before the first pixel
  static constexpr int BLANKED = 76;  // and before the first one after HMOVE

  // in colour clocks: three are a cycle of the 6502, 228 a line
  int frame_start_ = 0;
  int longest_frame_ = 0;      // any write after so long ends it
  int display_start_ = 0;
  int display_end_ = 0;
  int drawn_to_ = 0;
  int line_drawn_ = 0;         // of the line
  std::uint32_t repeats_until_ = 0;  // when repeated writes can no longer wait, in clocks of the frame
  int accessed_ = NEVER;       // the last access that could wait, with its delay
  int blank_first_ = 0, blank_last_ = 0;  // starts of the lines whose first pixels are to be blanked: `blanking_`
  int blank_accessed_ = NEVER;  // the first access in the blank before a line whose first pixels will be blanked,
  int blank_since_ = NEVER;     // after the accesses up to here
  int vsync_end_ = INT_MAX;
  int last_move_ = 0;
  int frame_lines_ = 0;
  int last_frame_lines_ = 0;

  Look look_{};
  Row rows_[6]{};
  std::uint64_t layers_[3][4]{};    // the pixels of playfield, player 0 and player 1, after all that hides them
  std::uint64_t overlaps_[4]{};     // pixels with more than one object
  bool overlapping_ = false;        // there are some
  bool settled_ = false;            // the end of a line changes nothing
  bool latched_ = false;            // missiles and ball are sent as the registers say, unless there are stars
  std::uint8_t stale_ = ALL;        // a bit for each row that is not that of look_, and one for the layers
  Look group_look_{};           // of the last piece of a line that ended within a group of four pixels,
  int group_end_ = 0;           // and where

  std::uint16_t written_[64];  // to each register; UNKNOWN: writing that again has an effect
  std::uint16_t collisions_ = 0;
  std::uint8_t vsync_ = 0, vblank_ = 0, ctrlpf_ = 0;
  std::uint8_t nusiz_[2]{};
  std::uint8_t graphics_[2]{}, old_graphics_[2]{};
  bool reflected_[2]{}, player_delayed_[2]{};
  bool missile_[2]{}, missile_at_player_[2]{};
  bool ball_ = false, old_ball_ = false, ball_delayed_ = false;
  std::int8_t motion_[5]{};
  std::int16_t position_[5]{};
  bool blanking_ = false;         // the first pixels of a line or several, because of HMOVE
  bool stars_ = false;            // missile 0 moves by itself: the stars of Cosmic Ark
  std::uint32_t stars_phase_ = 0;
  bool grounded_ = false;         // the paddles' capacitors
  int grounded_until_ = 0;        // in cycles
  static constexpr std::uint32_t UNREAD = ~0u, ALWAYS = ~0u - 1, NOT_ONCE = ~0u - 2;
  std::uint32_t charging_[4] = {UNREAD, UNREAD, UNREAD, UNREAD};  // the cycles that each takes in this frame
};

inline constexpr TIA::Repeats TIA::REPEATS = TIA::make_repeats();

}  // namespace stella
}  // namespace ale
