"""ViZDoom games: the interface of `cpp/match.h`."""
from libc.stdint cimport uint8_t, uint32_t
from libcpp cimport bool as cpp_bool
from libcpp.string cimport string
from libcpp.vector cimport vector


cdef extern from "match.h" namespace "cypool::doom" nogil:
    cdef cppclass Circumstances:
        string folder
        int names

    cdef cppclass Settings:
        string config_path, config, engine, iwad, wad
        vector[string] arguments
        int num_bots
        cpp_bool alone, pipelined
        double patience
        Circumstances circumstances

    cdef cppclass Facts:
        string remarks, iwad, wad, map
        vector[int] buttons, variables
        int width, height, channels, format, samples_per_tic, audio_tics
        cpp_bool depth, labels, automap, audio, notifications

    Facts probe(const Settings& settings) except +

    # kills all engines of this process, waits for their end, and lets no other one start
    void end_engines() noexcept

    enum Source:
        SCREEN "cypool::doom::kScreen"

    # the visible state between steps; of a match that runs
    cdef cppclass Player:
        cpp_bool over() noexcept
        cpp_bool timed_out() noexcept
        cpp_bool dead() noexcept
        double variable(int which) noexcept
        double last_reward() noexcept
        const uint8_t* buffer(Source source) noexcept
        void write(Source source, uint8_t* out, size_t size) noexcept
        int pid() noexcept

    cdef cppclass Match:
        Match(const Settings& settings) except +
        cpp_bool reset(cpp_bool seeded, uint32_t seed, const string& recording) noexcept
        unsigned num_requests(unsigned tics) noexcept
        void request(const double* values, size_t buttons, unsigned tics) noexcept
        cpp_bool step(const double* values, size_t buttons, unsigned tics) noexcept
        cpp_bool running() noexcept
        cpp_bool over() noexcept
        Player& player(size_t index) noexcept
        const Facts& facts() noexcept
        size_t num_players() noexcept
        const string& failure() noexcept
