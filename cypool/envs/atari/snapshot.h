// The whole state of an emulator: ALE's state, and the parts that it leaves out.
//
// `ALEInterface.cloneState` saves neither the last actions, which sticky actions repeat, nor the picture, of which some
// games draw only parts in a frame, nor which of its tables the video chip is at, nor the random stream that fills the
// memory at a reset. Of cartridges in slices (Montezuma's Revenge) it does not bring back which of them are in, of
// Pitfall II only part of a fraction; and the rules of seven games do not save all they remember. With these, a
// restored emulator continues exactly as the saved one.
#pragma once

#include <charconv>
#include <cmath>
#include <cstring>
#include <iterator>
#include <random>
#include <stdexcept>
#include <string>
#include <string_view>

#include "ale/ale_interface.hpp"
#include "ale/emucore/CartDPC.hxx"
#include "ale/emucore/CartE0.hxx"
#include "ale/emucore/Console.hxx"
#include "ale/emucore/Deserializer.hxx"
#include "ale/emucore/Serializer.hxx"
#include "ale/emucore/M6502.hxx"
#include "ale/emucore/System.hxx"
#include "ale/emucore/TIA.hxx"
#include "ale/games/supported/Atlantis2.hpp"
#include "ale/games/supported/ChopperCommand.hpp"
#include "ale/games/supported/DemonAttack.hpp"
#include "ale/games/supported/Hangman.hpp"
#include "ale/games/supported/MiniatureGolf.hpp"
#include "ale/games/supported/VideoCheckers.hpp"
#include "ale/games/supported/VideoCube.hpp"

namespace cypool {

using ale::StellaEnvironment;
using ale::stella::CartridgeDPC;
using ale::stella::CartridgeE0;
using ale::stella::Deserializer;
using ale::stella::Serializer;
using ale::stella::TIA;

// The state that the video chip does not save itself, without the pixels.
#ifdef CYPOOL_FAST_EMULATOR
inline void save_rest(TIA& tia, Serializer& out) { tia.save_rest(out); }
inline void load_rest(TIA& tia, Deserializer& in) { tia.load_rest(in); }
inline bool unfinished(TIA& tia) { return tia.unfinished(); }
#else
constexpr int SCREEN_CLOCKS = 160;  // the chip reads so far behind one of its pointers

// The pointer's place in one of two tables, or its second: below 0, and counted from -1.
template <class T> int place(const T* pointer, const T* first, size_t size, const uint8_t* second) {
    if (pointer >= first && pointer < first + size) return static_cast<int>(pointer - first);
    return -1 - static_cast<int>(reinterpret_cast<const uint8_t*>(pointer) - second);
}
template <class T> const T* at_place(int place, const T* first, size_t size, const T* second) {
    const bool in_first = place >= 0;
    const int64_t k = in_first ? int64_t{place} : -1 - int64_t{place};
    if (k + SCREEN_CLOCKS > static_cast<int64_t>(in_first ? size : 640) || (!in_first && !second))
        throw std::invalid_argument("state: not from this game");
    return (in_first ? first : second) + k;
}

// Calls visit(pointer, first of its table, size of the table) for each pointer into a table.
template <class Visit> void each_mask(TIA& tia, Visit visit) {
    auto table_of = [](auto* table) {
        using Element = std::remove_all_extents_t<std::remove_pointer_t<decltype(table)>>;
        return std::pair(reinterpret_cast<const Element*>(table), sizeof(*table) / sizeof(Element));
    };
    visit(tia.myCurrentBLMask, table_of(&TIA::ourBallMaskTable));
    visit(tia.myCurrentM0Mask, table_of(&TIA::ourMissleMaskTable));
    visit(tia.myCurrentM1Mask, table_of(&TIA::ourMissleMaskTable));
    visit(tia.myCurrentP0Mask, table_of(&TIA::ourPlayerMaskTable));
    visit(tia.myCurrentP1Mask, table_of(&TIA::ourPlayerMaskTable));
    visit(tia.myCurrentPFMask, table_of(&TIA::ourPlayfieldTable));
}

inline void save_rest(TIA& tia, Serializer& out) {
    const uint8_t* disabled = TIA::ourDisabledMaskTable;
    out.putBool(tia.myPartialFrameFlag);
    out.putBool(tia.myFrameGreyed);
    out.putInt(static_cast<int>(tia.myFramePointer - tia.currentFrameBuffer()));
    each_mask(tia, [&](auto* mask, auto table) { out.putInt(place(mask, table.first, table.second, disabled)); });
}
inline void load_rest(TIA& tia, Deserializer& in) {
    const uint8_t* disabled = TIA::ourDisabledMaskTable;
    tia.myPartialFrameFlag = in.getBool();
    tia.myFrameGreyed = in.getBool();
    const int drawn = in.getInt();
    if (drawn < 0 || drawn > static_cast<int>(tia.height() * tia.width()))
        throw std::invalid_argument("state: not from this game");
    tia.myFramePointer = tia.currentFrameBuffer() + drawn;
    each_mask(tia, [&](auto*& mask, auto table) {
        using Element = std::remove_cvref_t<decltype(*mask)>;
        const Element* second = nullptr;
        if constexpr (std::is_same_v<Element, uint8_t>) second = disabled;
        mask = at_place(in.getInt(), table.first, table.second, second);
    });
}
inline bool unfinished(TIA& tia) { return tia.myPartialFrameFlag; }
#endif

// numbers that `save_rest` writes, of either chip
constexpr size_t CHIP_NUMBERS = 9;

inline TIA& video_of(ale::ALEInterface& game) { return static_cast<TIA&>(game.theOSystem->console().mediaSource()); }

// Whether the next frame is drawn over the current screen, else over the one before.
inline bool frame_goes_on(ale::ALEInterface& game) { return unfinished(video_of(game)); }

inline ale::stella::Device* cartridge_of(ale::ALEInterface& game) {
    auto& system = game.theOSystem->console().system();
    return system.getPageAccess(static_cast<uint16_t>(0x1000 >> system.pageShift())).device;
}

// Calls visit(member) for the members that a game's rules and cartridge do not save, or save in a form that they do not
// read.
template <class Visit> void each_unsaved(ale::ALEInterface& game, Visit visit) {
    const auto of = [&]<class Owner>(auto Owner::*... members) {
        if (auto* rules = dynamic_cast<Owner*>(game.romSettings.get())) (visit(rules->*members), ...);
    };
    of(&ale::Atlantis2Settings::m_lives);
    of(&ale::ChopperCommandSettings::m_is_started);
    of(&ale::DemonAttackSettings::m_level_change);
    of(&ale::HangmanSettings::m_timerArray);
    using Golf = ale::MiniatureGolfSettings;
    of(&Golf::m_levelNumber, &Golf::m_levelPar, &Golf::m_hits, &Golf::m_leftStatus, &Golf::m_hitsAtStartOfLevel);
    of(&ale::VideoCheckersSettings::m_reverse_checkers);
    of(&ale::VideoCubeSettings::m_timerArray);
    if (auto* cartridge = dynamic_cast<CartridgeDPC*>(cartridge_of(game))) visit(cartridge->myFractionalClocks);
}

inline std::string take_snapshot(ale::ALEInterface& game) {
    StellaEnvironment& env = *game.environment;
    TIA& tia = video_of(game);
    const size_t size = game.getScreen().arraySize();
    Serializer out;
    out.putString(game.cloneState(true).serialize());
    game.theOSystem->console().system().rng().saveState(out);
    out.putInt(env.m_player_a_action);
    out.putInt(env.m_player_b_action);
    float strengths[2] = {env.m_paddle_a_strength, env.m_paddle_b_strength};
    // ALE leaves them undefined until the first action
    for (float& strength : strengths) {
        if (!(strength >= 0 && strength <= 1)) strength = 1;
    }
    out.putString(std::string(reinterpret_cast<char*>(strengths), sizeof strengths));
    save_rest(tia, out);
    out.putString(std::string(reinterpret_cast<char*>(tia.currentFrameBuffer()), size));
    out.putString(std::string(reinterpret_cast<char*>(tia.previousFrameBuffer()), size));
    auto put = [&](auto& value) { out.putString(std::string(reinterpret_cast<char*>(&value), sizeof value)); };
    each_unsaved(game, put);
    return out.get_str();
}

[[noreturn]] inline void refuse_state() { throw std::invalid_argument("state: not from this game, or damaged"); }

// Reads the data of a Serializer, and no further than its end.
class SnapshotReader {
public:
    explicit SnapshotReader(std::string_view data) : data_(data) {}
    std::string_view take(size_t size) {
        if (size > data_.size()) refuse_state();
        const std::string_view taken = data_.substr(0, size);
        data_.remove_prefix(size);
        return taken;
    }
    int32_t number() {
        const std::string_view bytes = take(4);
        uint32_t value = 0;
        for (size_t k = 0; k < 4; ++k) value |= uint32_t{static_cast<uint8_t>(bytes[k])} << (8 * k);
        return static_cast<int32_t>(value);
    }
    std::string_view text() { return take(static_cast<uint32_t>(number())); }
    size_t left() const { return data_.size(); }

private:
    std::string_view data_;
};

inline void check(bool well) {
    if (!well) refuse_state();
}
inline void check_same(SnapshotReader& mine, SnapshotReader& theirs, size_t numbers) {
    check(mine.take(4 * numbers) == theirs.take(4 * numbers));
}

// Whether the text is a random stream's, as a std::mt19937 writes it: its numbers, and at which of them it is. As
// cypool.state.check_stream, it takes none whose numbers are all zero.
inline void check_random(std::string_view text) {
    uint64_t value = 0, any = 0;
    for (size_t k = 0; k <= std::mt19937::state_size; ++k) {
        if (k > 0) {
            check(text.starts_with(' '));
            text.remove_prefix(1);
        }
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
        check(error == std::errc() && value <= std::mt19937::max());
        // of the first number only the highest bit counts
        if (k < std::mt19937::state_size) any |= k == 0 ? value >> 31 : value;
        text.remove_prefix(static_cast<size_t>(end - text.data()));
    }
    check(text.empty() && value <= std::mt19937::state_size && any != 0);
}

// Whether ALE may read this as a cartridge, of which it trusts numbers of elements and of banks.
inline void check_cartridge(ale::stella::Device& device, SnapshotReader mine, SnapshotReader theirs) {
    const std::string name = device.name();
    if (name == "CartridgeE0") return check_same(mine, theirs, 1);
    auto* cartridge = dynamic_cast<ale::stella::Cartridge*>(&device);
    // those of 2 and 4 kB, and FE, have nothing to save
    if (!cartridge || cartridge->bankCount() < 2) return;
    const int32_t bank = theirs.number();
    check(bank >= 0 && bank < cartridge->bankCount());
    mine.number();
    if (name == "CartridgeDPC") {
        for (int fetchers = 0; fetchers < 5; ++fetchers) {
            const int32_t count = SnapshotReader(mine).number();
            check_same(mine, theirs, 1);
            for (int32_t k = 0; k < count; ++k) {
                const int32_t value = theirs.number();
                mine.number();
                // the counters are indices
                check(fetchers != 2 || (value >= 0 && value < 2048));
            }
        }
    } else if (name.ends_with("SC")) {
        check_same(mine, theirs, 1);
    }
}

// Whether ALE may read this as its own state; `own` is ours. Leaves the emulator half in this state.
inline void check_emulator(ale::ALEInterface& game, std::string_view own, std::string_view given) {
    SnapshotReader mine(own), theirs(given);
    for (int paddle = 0; paddle < 2; ++paddle) check(std::abs(int64_t{theirs.number()}) < 100'000'000);
    for (int count = 0; count < 2; ++count) {
        const int32_t frames = theirs.number();
        check(frames >= 0 && frames < 2'100'000'000);
    }
    mine.take(16);
    // mode and difficulty belong to the options
    check_same(mine, theirs, 2);
    const std::string_view all_of_system = theirs.text();
    SnapshotReader my_system(mine.text()), their_system(all_of_system);
    // the limits of the paddles
    check_same(mine, theirs, 2);
    check(mine.left() == 0 && theirs.left() == 0);
    const std::string_view md5 = my_system.text(), system = my_system.text();
    check(their_system.text() == md5 && their_system.text() == system);
    // cycles
    my_system.number();
    their_system.number();
    my_system.text();
    check_random(their_system.text());
    // all is of one size now, but the random stream at the end: digits and spaces, behind their number
    const std::string_view rest = my_system.take(my_system.left());
    const size_t end = rest.find_last_not_of("0123456789 ");
    check(end != rest.npos && end >= 3);
    const std::string_view my_parts = rest.substr(0, end - 3), their_parts = their_system.take(my_parts.size());
    check_random(their_system.text());
    check(their_system.left() == 0);
    // where lengths stand that ALE trusts
    const auto behind = [&](const std::string& name) {
        Serializer text;
        text.putString(name);
        const size_t at = my_parts.find(text.get_str());
        check(at != my_parts.npos);
        return at + text.get_str().size();
    };
    const size_t ram = behind("M6532"), cartridge = behind(cartridge_of(game)->name());
    check(my_parts.substr(ram, 4) == their_parts.substr(ram, 4));
    check_cartridge(*cartridge_of(game), SnapshotReader(my_parts.substr(cartridge)),
                    SnapshotReader(their_parts.substr(cartridge)));
    // ALE does not say when it has stopped half way, but its parts do
    Deserializer in{std::string(all_of_system)};
    check(game.theOSystem->console().system().loadState(std::string(md5), in));
}

// Brings in the slices that a cartridge has loaded.
inline void switch_slices(ale::ALEInterface& game) {
    if (auto* cartridge = dynamic_cast<CartridgeE0*>(cartridge_of(game))) {
        // where a game would switch them
        constexpr uint16_t SWITCHES[3] = {0x1FE0, 0x1FE8, 0x1FF0};
        for (int i = 0; i < 3; ++i) cartridge->peek(SWITCHES[i] + (cartridge->myCurrentSlice[i] & 7));
    }
}

inline void restore_snapshot(ale::ALEInterface& game, const std::string& snapshot) {
    StellaEnvironment& env = *game.environment;
    TIA& tia = video_of(game);
    const size_t size = game.getScreen().arraySize();
    Deserializer in(snapshot);
    game.restoreState(ale::ALEState(in.getString()));
    game.theOSystem->console().system().rng().loadState(in);
    env.m_player_a_action = static_cast<ale::Action>(in.getInt());
    env.m_player_b_action = static_cast<ale::Action>(in.getInt());
    const std::string strengths = in.getString();
    if (strengths.size() != 2 * sizeof(float)) throw std::invalid_argument("state: not from this game");
    std::memcpy(&env.m_paddle_a_strength, strengths.data(), sizeof(float));
    std::memcpy(&env.m_paddle_b_strength, strengths.data() + sizeof(float), sizeof(float));
    load_rest(tia, in);
    const std::string current = in.getString(), previous = in.getString();
    if (current.size() != size || previous.size() != size) throw std::invalid_argument("state: not from this game");
    auto get = [&](auto& value) {
        const std::string bytes = in.getString();
        if (bytes.size() != sizeof value) throw std::invalid_argument("state: not from this game");
        if constexpr (std::is_same_v<decltype(value), bool&>) {
            if (bytes[0] != 0 && bytes[0] != 1) throw std::invalid_argument("state: not from this game");
        }
        std::memcpy(&value, bytes.data(), sizeof value);
    };
    each_unsaved(game, get);
    switch_slices(game);
    std::memcpy(tia.currentFrameBuffer(), current.data(), size);
    std::memcpy(tia.previousFrameBuffer(), previous.data(), size);
}

// the members of ALE's stream, which it hides (Random.cxx)
struct Numbers {
    uint32_t seed;
    std::mt19937 drawn;
};
inline std::mt19937& numbers_of(ale::stella::Random& stream) {
    return reinterpret_cast<Numbers*>(stream.m_pimpl)->drawn;
}

// Whether that is so: else the copy does not write the bytes of the stream.
inline bool knows_streams() {
    ale::stella::Random one, other;
    one.seed(1);
    other.seed(2);
    one.next();
    numbers_of(other) = numbers_of(one);
    Serializer theirs, ours;
    one.saveState(theirs);
    other.saveState(ours);
    return theirs.get_str() == ours.get_str() && one.next() == other.next();
}

// Gives the emulator the state after restore_snapshot with take_snapshot(from), without the texts of random streams;
// `from` is of the same game and options, and only read.
inline void copy_emulator(ale::ALEInterface& to, ale::ALEInterface& from) {
    static const bool knows = knows_streams();
    if (!knows) throw std::logic_error("copy: expected ALE's random streams to be of type std::mt19937");
    StellaEnvironment &env = *to.environment, &other = *from.environment;
    ale::stella::System& system = to.theOSystem->console().system();
    ale::stella::System& source = from.theOSystem->console().system();
    TIA &tia = video_of(to), &shown = video_of(from);
    const size_t size = from.getScreen().arraySize();
    Serializer out;
    bool well = source.myM6502->save(out);
    for (uint32_t k = 0; k < source.myNumberOfDevices; ++k) well &= source.myDevices[k]->save(out);
    from.romSettings->saveState(out);
    save_rest(shown, out);
    Deserializer in(out.get_str());
    well &= system.myM6502->load(in);
    for (uint32_t k = 0; k < system.myNumberOfDevices; ++k) well &= system.myDevices[k]->load(in);
    to.romSettings->loadState(in);
    load_rest(tia, in);
    if (!well) throw std::runtime_error("copy: ALE rejects its own state");
    std::memcpy(tia.currentFrameBuffer(), shown.currentFrameBuffer(), size);
    std::memcpy(tia.previousFrameBuffer(), shown.previousFrameBuffer(), size);
    system.myCycles = source.myCycles;
    system.myDataBusState = source.myDataBusState;
    numbers_of(system.myRandom) = numbers_of(source.myRandom);
    numbers_of(env.m_random) = numbers_of(other.m_random);
    env.m_state = other.m_state;
    env.m_ram = other.m_ram;
    env.m_player_a_action = other.m_player_a_action;
    env.m_player_b_action = other.m_player_b_action;
    env.m_paddle_a_strength = other.m_paddle_a_strength;
    env.m_paddle_b_strength = other.m_paddle_b_strength;
    std::string unsaved;
    each_unsaved(from, [&](auto& value) { unsaved.append(reinterpret_cast<const char*>(&value), sizeof value); });
    const char* at = unsaved.data();
    each_unsaved(to, [&](auto& value) {
        std::memcpy(&value, at, sizeof value);
        at += sizeof value;
    });
    switch_slices(to);
}

// Restores a snapshot from any source. `own` is any state of the same game, mode and difficulty; after an
// exception the emulator is in that state, or as it was.
inline void restore_checked(ale::ALEInterface& game, const std::string& given, const std::string& own) {
    SnapshotReader mine(own), theirs(given);
    const std::string_view own_emulator = mine.text(), emulator = theirs.text();
    mine.text();
    check_random(theirs.text());
    // ALE ends the process on an action that it does not know
    const int32_t a = theirs.number(), b = theirs.number();
    check(a >= 0 && a < ale::PLAYER_B_NOOP && b >= ale::PLAYER_B_NOOP && b < 2 * ale::PLAYER_B_NOOP);
    mine.take(8);
    float strengths[2] = {NAN, NAN};
    check(theirs.number() == sizeof strengths && mine.number() == sizeof strengths);
    std::memcpy(strengths, theirs.take(sizeof strengths).data(), sizeof strengths);
    mine.take(sizeof strengths);
    for (const float strength : strengths) check(strength >= 0 && strength <= 1);
    // the video chip checks its numbers itself; the rest are texts, of one length each
    mine.take(4 * CHIP_NUMBERS);
    theirs.take(4 * CHIP_NUMBERS);
    while (mine.left() > 0) check(mine.text().size() == theirs.text().size());
    check(theirs.left() == 0);
    try {
        check_emulator(game, own_emulator, emulator);
        restore_snapshot(game, given);
    } catch (const std::exception&) {
        restore_snapshot(game, own);
        throw;
    } catch (...) {
        // ALE throws texts
        restore_snapshot(game, own);
        refuse_state();
    }
}

}  // namespace cypool
