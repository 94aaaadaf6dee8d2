"""The whole state of an emulator: ALE's own, and what that leaves out.

`ALEInterface.cloneState` saves neither the last actions, which sticky actions repeat, nor the picture, of which some
games draw only parts in a frame, nor which of its tables the video chip is at, nor the random stream that fills the
memory at a reset. Of cartridges in slices (Montezuma's Revenge) it does not bring back which of them are in, of
Pitfall II only part of a fraction; and the rules of seven games do not save all they remember. With these, a restored
emulator goes on exactly as the saved one.
"""
from libcpp.string cimport string

from cypool.envs.atari.libale cimport ALEInterface

cdef extern from *:
    """
    #include <cstring>
    #include <iterator>
    #include <stdexcept>
    #include <string>

    #include "ale/emucore/CartDPC.hxx"
    #include "ale/emucore/CartE0.hxx"
    #include "ale/emucore/Console.hxx"
    #include "ale/emucore/Deserializer.hxx"
    #include "ale/emucore/Serializer.hxx"
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

    // ALE keeps these to itself, but the arguments of an explicit instantiation may name private members: the
    // friend that it defines hands them on
    template <class Tag, auto Member> struct Opened {
        friend auto member(Tag) { return Member; }
    };
    #define CYPOOL_OPEN(Tag, ...)     \\
        struct Tag {};                \\
        auto member(Tag);             \\
        template struct Opened<Tag, __VA_ARGS__>;
    CYPOOL_OPEN(ActionA, &StellaEnvironment::m_player_a_action)
    CYPOOL_OPEN(ActionB, &StellaEnvironment::m_player_b_action)
    CYPOOL_OPEN(StrengthA, &StellaEnvironment::m_paddle_a_strength)
    CYPOOL_OPEN(StrengthB, &StellaEnvironment::m_paddle_b_strength)
    CYPOOL_OPEN(Slices, &CartridgeE0::myCurrentSlice)
    CYPOOL_OPEN(FractionalClocks, &CartridgeDPC::myFractionalClocks)
    CYPOOL_OPEN(Atlantis2Lives, &ale::Atlantis2Settings::m_lives)
    CYPOOL_OPEN(ChopperStarted, &ale::ChopperCommandSettings::m_is_started)
    CYPOOL_OPEN(DemonLevelChange, &ale::DemonAttackSettings::m_level_change)
    CYPOOL_OPEN(HangmanTimer, &ale::HangmanSettings::m_timerArray)
    CYPOOL_OPEN(GolfLevel, &ale::MiniatureGolfSettings::m_levelNumber)
    CYPOOL_OPEN(GolfPar, &ale::MiniatureGolfSettings::m_levelPar)
    CYPOOL_OPEN(GolfHits, &ale::MiniatureGolfSettings::m_hits)
    CYPOOL_OPEN(GolfLeft, &ale::MiniatureGolfSettings::m_leftStatus)
    CYPOOL_OPEN(GolfAtStart, &ale::MiniatureGolfSettings::m_hitsAtStartOfLevel)
    CYPOOL_OPEN(CheckersReverse, &ale::VideoCheckersSettings::m_reverse_checkers)
    CYPOOL_OPEN(CubeTimer, &ale::VideoCubeSettings::m_timerArray)
    // What the video chip does not save, but for the pixels.
    #ifdef CYPOOL_FAST_EMULATOR
    inline void save_rest(TIA& tia, Serializer& out) { tia.save_rest(out); }
    inline void load_rest(TIA& tia, Deserializer& in) { tia.load_rest(in); }
    inline bool unfinished(TIA& tia) { return tia.unfinished(); }
    #else
    CYPOOL_OPEN(Partial, &TIA::myPartialFrameFlag)
    CYPOOL_OPEN(Greyed, &TIA::myFrameGreyed)
    CYPOOL_OPEN(FramePointer, &TIA::myFramePointer)
    CYPOOL_OPEN(Ball, &TIA::myCurrentBLMask)
    CYPOOL_OPEN(Missile0, &TIA::myCurrentM0Mask)
    CYPOOL_OPEN(Missile1, &TIA::myCurrentM1Mask)
    CYPOOL_OPEN(Player0, &TIA::myCurrentP0Mask)
    CYPOOL_OPEN(Player1, &TIA::myCurrentP1Mask)
    CYPOOL_OPEN(Playfield, &TIA::myCurrentPFMask)
    CYPOOL_OPEN(BallTable, &TIA::ourBallMaskTable)
    CYPOOL_OPEN(MissileTable, &TIA::ourMissleMaskTable)
    CYPOOL_OPEN(PlayerTable, &TIA::ourPlayerMaskTable)
    CYPOOL_OPEN(PlayfieldTable, &TIA::ourPlayfieldTable)
    CYPOOL_OPEN(DisabledTable, &TIA::ourDisabledMaskTable)

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
            throw std::invalid_argument("state: not one of this game");
        return (in_first ? first : second) + k;
    }

    // Calls visit(pointer, first of its table, size of the table) for each pointer into a table.
    template <class Visit> void each_mask(TIA& tia, Visit visit) {
        auto of = [](auto* table) {
            using Element = std::remove_all_extents_t<std::remove_pointer_t<decltype(table)>>;
            return std::pair(reinterpret_cast<const Element*>(table), sizeof(*table) / sizeof(Element));
        };
        visit(tia.*member(Ball{}), of(member(BallTable{})));
        visit(tia.*member(Missile0{}), of(member(MissileTable{})));
        visit(tia.*member(Missile1{}), of(member(MissileTable{})));
        visit(tia.*member(Player0{}), of(member(PlayerTable{})));
        visit(tia.*member(Player1{}), of(member(PlayerTable{})));
        visit(tia.*member(Playfield{}), of(member(PlayfieldTable{})));
    }

    inline void save_rest(TIA& tia, Serializer& out) {
        const uint8_t* disabled = *member(DisabledTable{});
        out.putBool(tia.*member(Partial{}));
        out.putBool(tia.*member(Greyed{}));
        out.putInt(static_cast<int>(tia.*member(FramePointer{}) - tia.currentFrameBuffer()));
        each_mask(tia, [&](auto* mask, auto table) { out.putInt(place(mask, table.first, table.second, disabled)); });
    }
    inline void load_rest(TIA& tia, Deserializer& in) {
        const uint8_t* disabled = *member(DisabledTable{});
        tia.*member(Partial{}) = in.getBool();
        tia.*member(Greyed{}) = in.getBool();
        const int drawn = in.getInt();
        if (drawn < 0 || drawn > static_cast<int>(tia.height() * tia.width()))
            throw std::invalid_argument("state: not one of this game");
        tia.*member(FramePointer{}) = tia.currentFrameBuffer() + drawn;
        each_mask(tia, [&](auto*& mask, auto table) {
            using Element = std::remove_cvref_t<decltype(*mask)>;
            const Element* second = nullptr;
            if constexpr (std::is_same_v<Element, uint8_t>) second = disabled;
            mask = at_place(in.getInt(), table.first, table.second, second);
        });
    }
    inline bool unfinished(TIA& tia) { return tia.*member(Partial{}); }
    #endif

    inline TIA& video_of(ale::ALEInterface& game) {
        return static_cast<TIA&>(game.theOSystem->console().mediaSource());
    }

    // Whether what runs next is drawn over the current screen, else over the one before.
    inline bool frame_goes_on(ale::ALEInterface& game) { return unfinished(video_of(game)); }

    // Calls visit(member) for what a game's rules do not save, or save as what they do not read.
    template <class Visit> void each_unsaved(ale::RomSettings& rules, Visit visit) {
        if (auto* atlantis = dynamic_cast<ale::Atlantis2Settings*>(&rules)) visit(atlantis->*member(Atlantis2Lives{}));
        if (auto* chopper = dynamic_cast<ale::ChopperCommandSettings*>(&rules)) {
            visit(chopper->*member(ChopperStarted{}));
        }
        if (auto* demon = dynamic_cast<ale::DemonAttackSettings*>(&rules)) visit(demon->*member(DemonLevelChange{}));
        if (auto* hangman = dynamic_cast<ale::HangmanSettings*>(&rules)) visit(hangman->*member(HangmanTimer{}));
        if (auto* golf = dynamic_cast<ale::MiniatureGolfSettings*>(&rules)) {
            visit(golf->*member(GolfLevel{}));
            visit(golf->*member(GolfPar{}));
            visit(golf->*member(GolfHits{}));
            visit(golf->*member(GolfLeft{}));
            visit(golf->*member(GolfAtStart{}));
        }
        if (auto* checkers = dynamic_cast<ale::VideoCheckersSettings*>(&rules)) {
            visit(checkers->*member(CheckersReverse{}));
        }
        if (auto* cube = dynamic_cast<ale::VideoCubeSettings*>(&rules)) visit(cube->*member(CubeTimer{}));
    }

    inline ale::stella::Device* cartridge_of(ale::ALEInterface& game) {
        auto& system = game.theOSystem->console().system();
        return system.getPageAccess(static_cast<uint16_t>(0x1000 >> system.pageShift())).device;
    }

    inline std::string take_snapshot(ale::ALEInterface& game) {
        StellaEnvironment& env = *game.environment;
        TIA& tia = video_of(game);
        const size_t size = game.getScreen().arraySize();
        Serializer out;
        out.putString(game.cloneState(true).serialize());
        game.theOSystem->console().system().rng().saveState(out);
        out.putInt(env.*member(ActionA{}));
        out.putInt(env.*member(ActionB{}));
        float strengths[2] = {env.*member(StrengthA{}), env.*member(StrengthB{})};
        out.putString(std::string(reinterpret_cast<char*>(strengths), sizeof strengths));
        save_rest(tia, out);
        out.putString(std::string(reinterpret_cast<char*>(tia.currentFrameBuffer()), size));
        out.putString(std::string(reinterpret_cast<char*>(tia.previousFrameBuffer()), size));
        auto put = [&](auto& value) { out.putString(std::string(reinterpret_cast<char*>(&value), sizeof value)); };
        each_unsaved(*game.romSettings, put);
        if (auto* cartridge = dynamic_cast<CartridgeDPC*>(cartridge_of(game))) {
            put(cartridge->*member(FractionalClocks{}));
        }
        return out.get_str();
    }

    inline void restore_snapshot(ale::ALEInterface& game, const std::string& snapshot) {
        StellaEnvironment& env = *game.environment;
        TIA& tia = video_of(game);
        const size_t size = game.getScreen().arraySize();
        Deserializer in(snapshot);
        game.restoreState(ale::ALEState(in.getString()));
        game.theOSystem->console().system().rng().loadState(in);
        env.*member(ActionA{}) = static_cast<ale::Action>(in.getInt());
        env.*member(ActionB{}) = static_cast<ale::Action>(in.getInt());
        const std::string strengths = in.getString();
        if (strengths.size() != 2 * sizeof(float)) throw std::invalid_argument("state: not one of this game");
        std::memcpy(&(env.*member(StrengthA{})), strengths.data(), sizeof(float));
        std::memcpy(&(env.*member(StrengthB{})), strengths.data() + sizeof(float), sizeof(float));
        load_rest(tia, in);
        const std::string current = in.getString(), previous = in.getString();
        if (current.size() != size || previous.size() != size)
            throw std::invalid_argument("state: not one of this game");
        auto get = [&](auto& value) {
            const std::string bytes = in.getString();
            if (bytes.size() != sizeof value) throw std::invalid_argument("state: not one of this game");
            std::memcpy(&value, bytes.data(), sizeof value);
        };
        each_unsaved(*game.romSettings, get);
        if (auto* cartridge = dynamic_cast<CartridgeE0*>(cartridge_of(game))) {
            // where a game would switch them
            constexpr uint16_t SWITCHES[3] = {0x1FE0, 0x1FE8, 0x1FF0};
            for (int i = 0; i < 3; ++i) cartridge->peek(SWITCHES[i] + ((cartridge->*member(Slices{}))[i] & 7));
        }
        if (auto* cartridge = dynamic_cast<CartridgeDPC*>(cartridge_of(game))) {
            get(cartridge->*member(FractionalClocks{}));
        }
        std::memcpy(tia.currentFrameBuffer(), current.data(), size);
        std::memcpy(tia.previousFrameBuffer(), previous.data(), size);
    }

    }  // namespace cypool
    """
    bint frame_goes_on "cypool::frame_goes_on"(ALEInterface& game) noexcept nogil
    string take_snapshot "cypool::take_snapshot"(ALEInterface& game) except +
    void restore_snapshot "cypool::restore_snapshot"(ALEInterface& game, const string& snapshot) except +
