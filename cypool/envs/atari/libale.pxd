"""The parts of the Arcade Learning Environment's C++ interface that are used, named as in ALE's headers."""
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

    cdef cppclass ALEInterface:
        ALEInterface() except +
        void setInt(const string& key, int value) except +
        void setFloat(const string& key, float value) except +
        int act(Action action) except +
        int act(Action action, float paddle_strength) except +
        cbool game_over() except +                       # also by the setting max_num_frames_per_episode
        cbool game_over(cbool with_truncation) except +
        cbool game_truncated() except +
        void reset_game() except +
        vector[unsigned int] getAvailableModes() except +
        vector[unsigned int] getAvailableDifficulties() except +
        int lives() except +
        vector[Action] getLegalActionSet() except +
        vector[Action] getMinimalActionSet() except +
        const ALEScreen& getScreen() noexcept
        const ALERAM& getRAM() noexcept
        int getFrameNumber() noexcept
        int getEpisodeFrameNumber() noexcept

cdef extern from "ale/common/Log.hpp" namespace "ale" nogil:
    enum LogLevel "ale::Logger::mode":
        LogError "ale::Logger::Error"
    void set_log_level "ale::Logger::setMode"(LogLevel level) noexcept

cdef extern from "cypool/envs/atari/ale_helpers.h":
    string rom_name "cypool::rom_name"(const string& path) except + nogil
    string rom_md5 "cypool::rom_md5"(const string& path) except + nogil
    void load_rom "cypool::load_rom"(ALEInterface& game, const string& path, const string& md5) except + nogil
    const uint8_t* current_screen "cypool::current_screen"(ALEInterface& game) noexcept nogil
    void color_tables "cypool::color_tables"(ALEInterface& game, uint8_t* gray, uint8_t* rgb) noexcept nogil
