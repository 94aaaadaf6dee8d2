// A match: one engine for each of its players, stepped tic by tic. A game of one player is a match, too.
//
// It is played through ViZDoom's DoomGame. Missing functions of the library are added from outside, its sources stay as
// they are: buffers are read where the engine wrote them, several tics are sent for at once, and all players of a
// match are sent for before any of them is waited for, as none of their engines continues without the others.
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <functional>
#include <iostream>
#include <memory>
#include <random>
#include <stdexcept>
#include <streambuf>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wextra"
#pragma GCC diagnostic ignored "-Wignored-qualifiers"
#include "ViZDoom.h"
#include "ViZDoomController.h"
#pragma GCC diagnostic pop

namespace cypool::doom {

// The settings of a game; empty: the library's default, or that of the config.
struct Settings {
    std::string config_path, config;  // a file, then lines that continue it
    std::string engine, iwad, wad;
    std::vector<std::string> arguments;  // of each player
    int num_bots = 0;
    bool alone = false;      // there are no other players: the engine waits for nothing but our tics
    bool pipelined = false;  // all tics of a step at once, for rewards that do not ask when it ended
    double patience = 60;    // seconds that a step or a reset may take
    Circumstances circumstances;
};

// The result of reading a config.
struct Facts {
    std::string remarks;  // lines that the library did not understand
    std::string iwad, wad, map;
    std::vector<int> buttons, variables;
    int width, height, channels, format, mode;
    bool depth, labels, automap, audio, notifications;
    int samples_per_tic, audio_tics;
    bool operator==(const Facts&) const = default;
};

enum : unsigned { kMostTics = 32 };  // on their way at a time: a queue holds 64 messages

// the parts of an observation, in the order of PARTS in names.py
enum Source { kScreen, kDepth, kLabels, kAutomap, kAudio, kNotifications, kVariables };

class Player : public vizdoom::DoomGame {
public:
    Player(const Settings& settings, size_t index) {
        if (!settings.config_path.empty()) loadConfig(settings.config_path);
        if (!settings.config.empty()) setConfig(settings.config);
        if (!settings.engine.empty()) setViZDoomPath(settings.engine);
        if (!settings.iwad.empty()) setDoomGamePath(settings.iwad);
        if (!settings.wad.empty()) setDoomScenarioPath(settings.wad);
        if (index < settings.arguments.size()) addGameArgs(settings.arguments[index]);
    }

    ~Player() { stop(); }

    Facts facts() {
        Facts facts{};
        facts.iwad = getDoomGamePath();
        facts.wad = getDoomScenarioPath();
        facts.map = getDoomMap();
        for (auto button : getAvailableButtons()) facts.buttons.push_back(button);
        for (auto variable : getAvailableGameVariables()) facts.variables.push_back(variable);
        facts.width = getScreenWidth();
        facts.height = getScreenHeight();
        facts.channels = getScreenChannels();
        facts.format = getScreenFormat();
        facts.mode = getMode();
        facts.depth = isDepthBufferEnabled();
        facts.labels = isLabelsBufferEnabled();
        facts.automap = isAutomapBufferEnabled();
        facts.audio = isAudioBufferEnabled();
        facts.notifications = isNotificationsBufferEnabled();
        facts.samples_per_tic = getAudioSamplesPerTic();
        facts.audio_tics = getAudioBufferSize();
        return facts;
    }

    // Starts the engine, and with it the first episode.
    void start() {
        // a start that fails reads it
        static vizdoom::SMGameState none{};
        doomController->gameState = &none;
        const bool sounds = isAudioBufferEnabled();
        latest.reset();
        try {
            init();
            process_ = latest;
            if (sounds && !buffer(kAudio))
                throw std::runtime_error("audio_buffer_enabled: the engine found no OpenAL device");
        } catch (...) {
            process_ = latest;
            stop();
            // one that is about to die may still make files that are to be removed
            for (int k = 0; k < 2000 && process_ && !process_->ended(); ++k) usleep(1000);
            forget();
            throw;
        }
        // both sides have mapped it: nothing stays behind, whichever process is killed
        forget();
    }

    // Takes the engine's names out of shared memory.
    void forget() {
        // getInstanceId() throws if the engine does not run
        const std::string& id = doomController->instanceId;
        for (const char* name : {SM_NAME_BASE, MQ_CTR_NAME_BASE, MQ_DOOM_NAME_BASE}) {
            boost::interprocess::shared_memory_object::remove((name + id).c_str());
        }
    }

    // Kills the engine. Does not throw, and waits only for the kernel.
    void stop() noexcept {
        try {
            if (process_) process_->kill();
            if (doomController->isDoomRunning()) {
                // of a dead engine: whether it records is not to be asked any more
                static vizdoom::SMGameState none{};
                doomController->gameState = &none;
                doomController->close();
            }
        } catch (...) {
            // as good as closed: the destructor frees the rest
        }
    }

    void act(const double* values) {
        for (size_t k = 0; k < availableButtons.size(); ++k)
            doomController->setButtonState(availableButtons[k], values[k]);
    }

    // Requests at most this number of tics, not beyond the time limit.
    void send(unsigned tics, bool update) {
        sent_ = 0;
        if (over()) return;
        auto* state = doomController->getGameState();
        first_ = state->MAP_TIC;
        if (doomController->getMapTimeout() > 0) {
            tics = std::min(tics, doomController->getMapTimeout() + doomController->getMapStartTime() - first_);
        }
        if (state->MAP_TICLIMIT > 0) tics = std::min(tics, state->MAP_TICLIMIT - first_);
        vizdoom::Message messages[kMostTics];
        for (unsigned k = 0; k < tics; ++k) messages[k].code = MSG_CODE_TIC;
        if (update && tics > 0) messages[tics - 1].code = MSG_CODE_TIC_AND_UPDATE;
        doomController->MQDoom->mq->send_all(messages, sizeof messages[0], tics, 0);
        sent_ = tics;
    }

    // Waits for them. If the episode ended on the way, nothing says when: MAP_TIC is 0 after the end of a map.
    void collect() {
        for (unsigned k = 0; k < sent_; ++k) answer();
        if (sent_ > 0) doomController->mapLastTic = first_ + sent_;
    }

    void update() {
        doomController->MQDoom->send(MSG_CODE_UPDATE);
        answer();
    }

    // `updateState` without its copies of all that there is to see.
    void update_reward() {
        updateReward();
        lastMapTic = doomController->getMapLastTic();
    }

    // `newEpisode` in parts: all players of a match go through it together.
    void change_map() {
        setSeed(getSeed());
        doomController->setDoomSeed(doomController->getNextDoomSeed());
        if (state().GAME_SETTINGS_CONTROLLER) doomController->sendCommand("changemap " + doomController->getMap());
        doomController->resetButtons();
        use_ = doomController->isButtonAvailable(vizdoom::USE);
        doomController->setButtonAvailable(vizdoom::USE, true);
        doomController->sendCommand("-use");
    }
    void press_use(bool down) { doomController->sendCommand(down ? "+use" : "-use"); }
    bool changing() { return state().MAP_END || state().MAP_TIC > doomController->getMapLastTic(); }
    bool starting() { return state().MAP_TIC < doomController->getMapStartTime(); }
    void map_changed() {
        doomController->sendCommand("-use");
        doomController->setButtonAvailable(vizdoom::USE, use_);
        doomController->sendCommand("viz_override_player 0");
        update();
        doomController->mapLastTic = state().MAP_TIC;
        resetState();
    }
    void tic() { doomController->MQDoom->send(MSG_CODE_TIC); }
    void answer() { doomController->waitForDoomWork(); }

    bool over() { return !doomController->isTicPossible(); }
    bool timed_out() { return doomController->isMapTimeoutReached(); }
    bool dead() { return doomController->isPlayerDead(); }
    double last_reward() const { return lastReward; }
    double variable(int which) { return doomController->getGameVariable(static_cast<vizdoom::GameVariable>(which)); }
    const vizdoom::SMGameState& state() { return *doomController->getGameState(); }
    // The memory that the engine writes to; null if the config does not have it, and for a text and variables.
    const uint8_t* buffer(Source source) {
        switch (source) {
            case kScreen: return doomController->getScreenBuffer();
            case kDepth: return doomController->getDepthBuffer();
            case kLabels: return doomController->getLabelsBuffer();
            case kAutomap: return doomController->getAutomapBuffer();
            case kAudio: return reinterpret_cast<const uint8_t*>(doomController->getAudioBuffer());
            default: return nullptr;
        }
    }
    // Writes a part of an observation, zeros behind it.
    void write(Source source, uint8_t* out, size_t size) {
        if (source == kVariables) {
            for (const auto which : availableGameVariables) {
                const auto value = static_cast<float>(doomController->getGameVariable(which));
                std::memcpy(out, &value, sizeof value);
                out += sizeof value;
            }
            return;
        }
        const bool is_text = source == kNotifications;
        const auto* from = is_text ? reinterpret_cast<const uint8_t*>(state().NOTIFICATIONS_TEXT) : buffer(source);
        const size_t count = is_text ? std::min<size_t>(state().NOTIFICATIONS_TEXT_SIZE, size) : from ? size : 0;
        std::fill_n(std::copy_n(from, count, out), size - count, uint8_t{0});
    }
    void command(const std::string& text) { doomController->sendCommand(text); }
    void look_after(std::chrono::steady_clock::duration until) {
        if (process_) process_->until = until;
    }
    pid_t pid() const { return process_ ? process_->pid : 0; }

private:
    std::shared_ptr<Process> process_;
    unsigned first_ = 0, sent_ = 0;
    bool use_ = false;
};

// Holds a UDP port for the engine that hosts a match: two matches of this machine must not meet.
class Port {
public:
    Port() {
        std::random_device device;
        for (int k = 0; k < 1000; ++k) {
            number_ = static_cast<uint16_t>(kFirst + device() % kCount);
            handle_ = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
            sockaddr_un address{};
            address.sun_family = AF_UNIX;
            // no file, and gone with the socket
            const int length = std::snprintf(address.sun_path + 1, sizeof address.sun_path - 1, "cypool-doom-%u",
                                             static_cast<unsigned>(number_));
            const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + static_cast<size_t>(length));
            if (handle_ >= 0 && bind(handle_, reinterpret_cast<sockaddr*>(&address), size) == 0 && unused()) return;
            if (handle_ >= 0) close(handle_);
        }
        throw std::runtime_error("no free port for a match with several players");
    }
    ~Port() { close(handle_); }
    Port(const Port&) = delete;
    Port& operator=(const Port&) = delete;
    unsigned number() const { return number_; }

private:
    // below those that the system deals out
    enum : unsigned { kFirst = 20000, kCount = 12000 };

    bool unused() const {
        const int handle = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_port = htons(number_);
        const bool free = handle >= 0 && bind(handle, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
        if (handle >= 0) close(handle);
        return free;
    }

    uint16_t number_ = 0;
    int handle_ = -1;
};

class Match {
public:
    explicit Match(const Settings& settings)
        : settings_(settings),
          facts_(Player(settings, 0).facts()),
          owner_(getpid()) {}

    ~Match() {
        leave_to_parent();
        stop();
    }
    Match(const Match&) = delete;
    Match& operator=(const Match&) = delete;

    // Starts an episode: of running engines, else of new ones. False if an engine failed; then none is running.
    bool reset(bool seeded, uint32_t seed, const std::string& recording) noexcept {
        return attempt([&] {
            if (!running()) {
                start(seed);
            } else {
                if (seeded) seed_all(seed);
                if (players_.size() > 1) {
                    change_map();
                } else {
                    players_[0]->newEpisode(recording);
                }
            }
            for (int k = 0; k < settings_.num_bots; ++k) players_[0]->command("addbot");
        });
    }

    // How often to call `request` for a step of this number of tics; 0 if the engine waits for others, too.
    unsigned num_requests(unsigned tics) const { return settings_.alone ? (tics + most_tics() - 1) / most_tics() : 0; }

    // Sends for a step's first tics, or waits for those and sends for the next ones: the engines of several matches
    // work at once if this is called for one after the other. `step` has to follow, with the same arguments.
    void request(const double* values, size_t buttons, unsigned tics) noexcept {
        attempt([&] {
            if (running() && (begun_ || begin(values, buttons))) proceed(tics);
        });
    }

    // Plays `tics` tics with the same buttons; each player has one value for each button. False as in `reset`.
    bool step(const double* values, size_t buttons, unsigned tics) noexcept {
        return attempt([&] {
            if (!running()) throw std::runtime_error("the engine belongs to another process");
            if (!begun_ && !begin(values, buttons)) return;
            while (proceed(tics)) {
            }
            for (auto& player : players_) player->update_reward();
            begun_ = false;
        });
    }

    bool running() const { return !players_.empty(); }
    bool over() const { return any(&Player::over); }
    const Facts& facts() const { return facts_; }
    Player& player(size_t index) { return *players_[index]; }
    size_t num_players() const { return std::max<size_t>(settings_.arguments.size(), 1); }
    const std::string& failure() const { return failure_; }

    void stop() noexcept {
        requested_ = 0;
        begun_ = false;
        players_.clear();
        port_.reset();
    }

private:
    // After a fork the engines are the parent's, and so are the connections to them.
    void leave_to_parent() noexcept {
        if (owner_ == getpid()) return;
        for (auto& player : players_) static_cast<void>(player.release());
        players_.clear();
        static_cast<void>(port_.release());
        owner_ = getpid();
    }

    // False if the episode is over.
    bool begin(const double* values, size_t buttons) {
        if (over()) return false;
        for (auto& player : players_) {
            player->act(values);
            values += buttons;
        }
        done_ = 0;
        begun_ = true;
        return true;
    }

    // Waits for the tics that were sent for, then sends for the next tics; false if all are done, or the episode is
    // over.
    bool proceed(unsigned tics) {
        if (requested_ > 0) {
            done_ += std::exchange(requested_, 0);
            for (auto& player : players_) player->collect();
            if (over() && done_ < tics) {
                for (auto& player : players_) player->update();
            }
        }
        if (done_ >= tics || over()) return false;
        requested_ = std::min(most_tics(), tics - done_);
        for (auto& player : players_) player->send(requested_, done_ + requested_ == tics);
        return true;
    }

    // sent for at a time
    unsigned most_tics() const { return settings_.pipelined ? static_cast<unsigned>(kMostTics) : 1; }

    template <class Work> bool attempt(Work work) noexcept {
        leave_to_parent();
        try {
            circumstances = settings_.circumstances;
            circumstances.lost = lost_;
            const std::chrono::duration<double> patience(settings_.patience);
            circumstances.until =
                std::chrono::steady_clock::now() + std::chrono::duration_cast<std::chrono::nanoseconds>(patience);
            look_after(circumstances.until.time_since_epoch());
            work();
            look_after(std::chrono::steady_clock::duration::max());
            return true;
        } catch (const std::exception& error) {
            keep(error.what());
        } catch (...) {
            keep("unknown");
        }
        stop();
        return false;
    }

    void look_after(std::chrono::steady_clock::duration until) {
        for (auto& player : players_) player->look_after(until);
    }

    void keep(const char* text) noexcept {
        try {
            failure_ = text;
        } catch (...) {
            failure_.clear();
        }
    }

    void start(uint32_t seed) {
        const size_t count = num_players();
        Settings settings = settings_;
        if (count > 1) {
            port_ = std::make_unique<Port>();
            for (auto& words : settings.arguments) words += " -port " + std::to_string(port_->number());
        }
        for (size_t k = 0; k < count; ++k) {
            players_.push_back(std::make_unique<Player>(settings, k));
            // each one reads the file again
            if (players_[k]->facts() != facts_)
                throw std::runtime_error("the config has changed since its spec was made");
        }
        seed_all(seed);
        if (count == 1) {
            players_[0]->start();
            return;
        }
        circumstances.lost = lost_ = std::make_shared<std::atomic<bool>>(false);
        // each waits for the others
        std::vector<std::exception_ptr> failures(count);
        std::vector<std::thread> threads;
        std::exception_ptr no_thread;
        try {
            threads.reserve(count);
            for (size_t k = 0; k < count; ++k) {
                threads.emplace_back([&, k, given = circumstances] {
                    try {
                        circumstances = given;
                        players_[k]->start();
                    } catch (...) {
                        *lost_ = true;
                        failures[k] = std::current_exception();
                    }
                });
            }
        } catch (...) {
            *lost_ = true;
            no_thread = std::current_exception();
        }
        for (auto& thread : threads) thread.join();
        if (no_thread) std::rethrow_exception(no_thread);
        for (size_t k = 0; k < count; ++k) {
            if (!failures[k]) continue;
            try {
                std::rethrow_exception(failures[k]);
            } catch (const std::exception& error) {
                throw std::runtime_error("player " + std::to_string(k) + ": " + error.what());
            }
        }
        // guests have the numbers in the order in which they reached the host
        std::sort(players_.begin(), players_.end(), [](const auto& one, const auto& other) {
            return one->state().PLAYER_NUMBER < other->state().PLAYER_NUMBER;
        });
    }

    void seed_all(uint32_t seed) {
        for (auto& player : players_) player->setSeed(seed);
    }

    void tic_all() {
        for (auto& player : players_) player->tic();
        for (auto& player : players_) player->answer();
    }

    void change_map() {
        for (auto& player : players_) player->change_map();
        for (int k = 0; k == 0 || any(&Player::changing); ++k) {
            if (k > kMostRestartTics) throw std::runtime_error("the map does not change");
            for (auto& player : players_) player->press_use(k % 2 == 0);
            tic_all();
        }
        while (any(&Player::starting)) tic_all();
        for (auto& player : players_) player->map_changed();
    }

    template <class Test> bool any(Test test) const {
        return std::any_of(players_.begin(), players_.end(), [&](auto& player) { return std::invoke(test, *player); });
    }

    enum { kMostRestartTics = 2000 };
    Settings settings_;
    Facts facts_;  // the sizes of buffers and rows
    pid_t owner_;
    std::vector<std::unique_ptr<Player>> players_;
    bool begun_ = false;      // a step: buttons are pressed
    unsigned done_ = 0;       // tics of it
    unsigned requested_ = 0;  // those that were sent for, and not waited for yet
    std::unique_ptr<Port> port_;
    std::shared_ptr<std::atomic<bool>> lost_;  // see Circumstances; of the engines that run
    std::string failure_;
};

inline void end_engines() noexcept {
    try {
        Engines::instance().end();
    } catch (...) {
        // there is no memory: none was started either
    }
}

// A buffer of std::cerr that keeps the output of one thread, and passes on that of others.
class Listener : public std::streambuf {
public:
    // never freed: another thread may still write to it. To be called by one thread at a time.
    static std::string hear(const std::function<void()>& run) {
        static auto* const listener = new Listener;
        std::string heard;
        listener->others_ = std::cerr.rdbuf(listener);
        said = &heard;
        try {
            run();
        } catch (...) {
            listener->leave();
            throw;
        }
        listener->leave();
        return heard;
    }

protected:
    int_type overflow(int_type c) override {
        if (traits_type::eq_int_type(c, traits_type::eof())) return traits_type::not_eof(c);
        const char letter = traits_type::to_char_type(c);
        return xsputn(&letter, 1) == 1 ? c : traits_type::eof();
    }
    std::streamsize xsputn(const char* text, std::streamsize size) override {
        if (!said) return others_.load()->sputn(text, size);
        said->append(text, static_cast<size_t>(size));
        return size;
    }
    int sync() override { return said ? 0 : others_.load()->pubsync(); }

private:
    void leave() {
        said = nullptr;
        std::cerr.rdbuf(others_);
    }

    static inline thread_local std::string* said = nullptr;
    std::atomic<std::streambuf*> others_;
};

// Reads a config without starting anything.
inline Facts probe(const Settings& settings) {
    Facts facts;
    std::string remarks = Listener::hear([&] { facts = Player(settings, 0).facts(); });
    facts.remarks = std::move(remarks);
    return facts;
}

}  // namespace cypool::doom
