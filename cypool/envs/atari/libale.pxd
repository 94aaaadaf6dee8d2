"""The Arcade Learning Environment's C++ interface, as far as it is used; names as in ALE's headers."""
from libc.stdint cimport uint8_t
from libcpp cimport bool as cbool
from libcpp.string cimport string
from libcpp.vector cimport vector


cdef extern from "ale/ale_interface.hpp" namespace "ale" nogil:
    enum Action:
        PLAYER_A_NOOP
        PLAYER_A_FIRE
        PLAYER_A_UP
        PLAYER_A_RIGHT
        PLAYER_A_LEFT
        PLAYER_A_DOWN
        PLAYER_A_UPRIGHT
        PLAYER_A_UPLEFT
        PLAYER_A_DOWNRIGHT
        PLAYER_A_DOWNLEFT
        PLAYER_A_UPFIRE         # and so on, in the same order

    cdef cppclass ALEScreen:
        size_t height() noexcept
        size_t width() noexcept

    cdef cppclass ALERAM:
        const uint8_t* array() noexcept    # 128 bytes

    cdef cppclass ALEState:
        ALEState(const string& serialized) except +
        string serialize() except +

    cdef cppclass ALEInterface:
        ALEInterface() except +
        void setInt(const string& key, int value) except +
        void setFloat(const string& key, float value) except +
        # ends the process on a missing or unsupported ROM: check before
        void loadROM(const string& path) except +
        int act(Action action) except +
        int act(Action action, float paddle_strength) except +
        cbool game_over() except +                       # also by the setting max_num_frames_per_episode
        cbool game_over(cbool with_truncation) except +
        cbool game_truncated() except +
        void reset_game() except +
        vector[unsigned int] getAvailableModes() except +
        vector[unsigned int] getAvailableDifficulties() except +
        # from the next reset on
        void setMode(unsigned int mode) except +
        void setDifficulty(unsigned int difficulty) except +
        int lives() except +
        vector[Action] getLegalActionSet() except +
        vector[Action] getMinimalActionSet() except +
        const ALEScreen& getScreen() noexcept
        const ALERAM& getRAM() noexcept
        int getFrameNumber() noexcept
        int getEpisodeFrameNumber() noexcept
        ALEState cloneState(cbool include_rng) except +
        void restoreState(const ALEState& state) except +

cdef extern from "ale/common/Log.hpp" namespace "ale" nogil:
    enum LogLevel "ale::Logger::mode":
        LogError "ale::Logger::Error"
    void set_log_level "ale::Logger::setMode"(LogLevel level) noexcept

cdef extern from *:
    """
    #include <fstream>
    #include <iterator>
    #include <stdexcept>

    #include "ale/emucore/Console.hxx"
    #include "ale/emucore/MD5.hxx"
    #include "ale/emucore/MediaSrc.hxx"

    namespace cypool {

    // the game whose ROM this is, "" if none; ALE leaks the small object it looks it up in: once per game
    inline std::string rom_name(const std::string& path) {
        return ale::ALEInterface::isSupportedROM(path).value_or("");
    }

    inline std::string rom_md5(const std::string& path) {
        std::ifstream in(path, std::ios::binary);
        const std::vector<uint8_t> rom{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
        if (rom.empty()) throw std::runtime_error("the ROM is gone: " + path);
        return ale::stella::MD5(rom.data(), static_cast<uint32_t>(rom.size()));
    }

    // throws where ALE would end the process, or run without end on what is no program
    inline void check_rom(const std::string& path, const std::string& md5) {
        if (rom_md5(path) != md5) throw std::runtime_error("the ROM is not the one it was: " + path);
    }

    inline void load_rom(ale::ALEInterface& game, const std::string& path, const std::string& md5) {
        check_rom(path, md5);
        game.loadROM(path);
    }

    // palette indices, row by row: what ALE would copy for getScreen, where it were not for screen.cpp
    inline const uint8_t* current_screen(ale::ALEInterface& game) {
        return game.theOSystem->console().mediaSource().currentFrameBuffer();
    }

    // for each palette index: its gray, or its red, green and blue (three tables of 256 bytes)
    inline void gray_table(ale::ALEInterface& game, uint8_t* out) {
        uint8_t index[256];
        for (int i = 0; i < 256; ++i) index[i] = static_cast<uint8_t>(i);
        // ALE looks up the entry behind the index. Behind the last it reads the black with which its next
        // palette begins: the games that show this index (Air Raid) show black
        game.theOSystem->colourPalette().applyPaletteGrayscale(out, index, 255);
        out[255] = 0;
    }
    inline void rgb_tables(ale::ALEInterface& game, uint8_t* out) {
        uint8_t index[256], rgb[3 * 256];
        for (int i = 0; i < 256; ++i) index[i] = static_cast<uint8_t>(i);
        game.theOSystem->colourPalette().applyPaletteRGB(rgb, index, 256);
        for (int i = 0; i < 256; ++i)
            for (int c = 0; c < 3; ++c) out[256 * c + i] = rgb[3 * i + c];
    }

    }  // namespace cypool
    """
    string rom_name "cypool::rom_name"(const string& path) except + nogil
    string rom_md5 "cypool::rom_md5"(const string& path) except + nogil
    void load_rom "cypool::load_rom"(ALEInterface& game, const string& path, const string& md5) except + nogil
    const uint8_t* current_screen "cypool::current_screen"(ALEInterface& game) noexcept nogil
    void gray_table "cypool::gray_table"(ALEInterface& game, uint8_t* out) noexcept nogil
    void rgb_tables "cypool::rgb_tables"(ALEInterface& game, uint8_t* out) noexcept nogil
