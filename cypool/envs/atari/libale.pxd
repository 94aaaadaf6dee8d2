"""The Arcade Learning Environment's C++ interface, as far as it is used; names as in ALE's headers."""
from libc.stdint cimport uint8_t
from libcpp cimport bool as cbool
from libcpp.string cimport string
from libcpp.vector cimport vector


cdef extern from "ale/ale_interface.hpp" namespace "ale" nogil:
    enum Action:
        PLAYER_A_NOOP
        PLAYER_A_FIRE

    cdef cppclass ALEScreen:
        uint8_t* getArray() noexcept       # palette indices, row by row
        size_t height() noexcept
        size_t width() noexcept

    cdef cppclass ALEInterface:
        ALEInterface() except +
        void setInt(const string& key, int value) except +
        void setFloat(const string& key, float value) except +
        # ends the process on a missing or unsupported ROM: check before
        void loadROM(const string& path) except +
        int act(Action action) except +
        cbool game_over() except +
        void reset_game() except +
        int lives() except +
        vector[Action] getLegalActionSet() except +
        vector[Action] getMinimalActionSet() except +
        const ALEScreen& getScreen() noexcept

cdef extern from "ale/common/Log.hpp" namespace "ale" nogil:
    enum LogLevel "ale::Logger::mode":
        LogError "ale::Logger::Error"
    void set_log_level "ale::Logger::setMode"(LogLevel level) noexcept

cdef extern from *:
    """
    #include <filesystem>
    #include <stdexcept>

    namespace cypool {

    // ALE leaks the settings object it looks up; it is small, and this runs once per game and process
    inline bool is_supported(const std::string& path) { return ale::ALEInterface::isSupportedROM(path).has_value(); }

    // loadROM that throws where ALE would end the process
    inline void load_rom(ale::ALEInterface& game, const std::string& path) {
        if (!std::filesystem::is_regular_file(path)) throw std::runtime_error("the ROM is gone: " + path);
        game.loadROM(path);
    }

    // for each palette index: its gray, or its red, green and blue (three tables of 256 bytes)
    inline void gray_table(ale::ALEInterface& game, uint8_t* out) {
        uint8_t index[256];
        for (int i = 0; i < 256; ++i) index[i] = static_cast<uint8_t>(i);
        game.theOSystem->colourPalette().applyPaletteGrayscale(out, index, 256);
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
    cbool is_supported "cypool::is_supported"(const string& path) except + nogil
    void load_rom "cypool::load_rom"(ALEInterface& game, const string& path) except + nogil
    void gray_table "cypool::gray_table"(ALEInterface& game, uint8_t* out) noexcept nogil
    void rgb_tables "cypool::rgb_tables"(ALEInterface& game, uint8_t* out) noexcept nogil
