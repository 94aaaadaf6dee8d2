"""The whole state of an emulator: ALE's own, and what that leaves out.

`ALEInterface.cloneState` saves neither the last actions, which sticky actions repeat, nor the picture, of which some
games draw only parts in a frame, nor which of its tables the video chip is at, nor the random stream that fills the
memory at a reset. With these, a restored emulator goes on exactly as the saved one.
"""
from libcpp.string cimport string

from cypool.envs.atari.libale cimport ALEInterface

cdef extern from *:
    """
    #include <cstring>
    #include <iterator>
    #include <stdexcept>
    #include <string>

    #include "ale/emucore/Console.hxx"
    #include "ale/emucore/Deserializer.hxx"
    #include "ale/emucore/Serializer.hxx"
    #include "ale/emucore/System.hxx"
    #include "ale/emucore/TIA.hxx"

    namespace cypool {

    using ale::StellaEnvironment;
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

    inline TIA& video_of(ale::ALEInterface& game) {
        return static_cast<TIA&>(game.theOSystem->console().mediaSource());
    }

    inline std::string take_snapshot(ale::ALEInterface& game) {
        StellaEnvironment& env = *game.environment;
        TIA& tia = video_of(game);
        const uint8_t* disabled = *member(DisabledTable{});
        const size_t size = game.getScreen().arraySize();
        Serializer out;
        out.putString(game.cloneState(true).serialize());
        game.theOSystem->console().system().rng().saveState(out);
        out.putInt(env.*member(ActionA{}));
        out.putInt(env.*member(ActionB{}));
        float strengths[2] = {env.*member(StrengthA{}), env.*member(StrengthB{})};
        out.putString(std::string(reinterpret_cast<char*>(strengths), sizeof strengths));
        out.putBool(tia.*member(Partial{}));
        out.putBool(tia.*member(Greyed{}));
        out.putInt(static_cast<int>(tia.*member(FramePointer{}) - tia.currentFrameBuffer()));
        each_mask(tia, [&](auto* mask, auto table) { out.putInt(place(mask, table.first, table.second, disabled)); });
        out.putString(std::string(reinterpret_cast<char*>(tia.currentFrameBuffer()), size));
        out.putString(std::string(reinterpret_cast<char*>(tia.previousFrameBuffer()), size));
        return out.get_str();
    }

    inline void restore_snapshot(ale::ALEInterface& game, const std::string& snapshot) {
        StellaEnvironment& env = *game.environment;
        TIA& tia = video_of(game);
        const uint8_t* disabled = *member(DisabledTable{});
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
        tia.*member(Partial{}) = in.getBool();
        tia.*member(Greyed{}) = in.getBool();
        const int drawn = in.getInt();
        each_mask(tia, [&](auto*& mask, auto table) {
            using Element = std::remove_cvref_t<decltype(*mask)>;
            const Element* second = nullptr;
            if constexpr (std::is_same_v<Element, uint8_t>) second = disabled;
            mask = at_place(in.getInt(), table.first, table.second, second);
        });
        const std::string current = in.getString(), previous = in.getString();
        if (current.size() != size || previous.size() != size || drawn < 0 || drawn > static_cast<int>(size))
            throw std::invalid_argument("state: not one of this game");
        tia.*member(FramePointer{}) = tia.currentFrameBuffer() + drawn;
        std::memcpy(tia.currentFrameBuffer(), current.data(), size);
        std::memcpy(tia.previousFrameBuffer(), previous.data(), size);
        std::memcpy(game.getScreen().getArray(), current.data(), size);
    }

    }  // namespace cypool
    """
    string take_snapshot "cypool::take_snapshot"(ALEInterface& game) except +
    void restore_snapshot "cypool::restore_snapshot"(ALEInterface& game, const string& snapshot) except +
