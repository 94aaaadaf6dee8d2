// How a game begins: all environments that play it share its state after its first reset.
#pragma once

#include <memory>
#include <mutex>
#include <string>

#include "ale/ale_interface.hpp"
#include "ale/games/Roms.hpp"
#include "cypool/envs/atari/ale_helpers.h"
#include "cypool/envs/atari/snapshot.h"

namespace cypool {

// The state of a game after its first reset, as soon as one env has reached it. Thread safety: any thread.
class Start {
public:
    std::shared_ptr<const std::string> snapshot() {
        const std::lock_guard<std::mutex> lock(mutex_);
        return snapshot_;
    }

    // game: just loaded with this seed, and reset
    void offer(ale::ALEInterface& game, int seed) {
        const std::lock_guard<std::mutex> lock(mutex_);
        if (settled_) return;
        settled_ = true;
        // a few games draw numbers to get to the mode they are asked for: then it depends on the seed
        ale::stella::Random unused;
        unused.seed(static_cast<uint32_t>(seed));
        ale::stella::Serializer drawn, undrawn;
        game.environment->getEnvironmentRNG().saveState(drawn);
        unused.saveState(undrawn);
        if (drawn.get_str() == undrawn.get_str()) {
            snapshot_ = std::make_shared<const std::string>(take_snapshot(game));
        }
    }

private:
    std::mutex mutex_;
    bool settled_ = false;
    std::shared_ptr<const std::string> snapshot_;
};

// Loads the ROM and resets the game for the first time. Modes and difficulties of -1 are the defaults.
inline void start_game(ale::ALEInterface& game, const std::string& path, const std::string& md5, int seed, int mode,
                       int difficulty, Start& start) {
    game.setInt("random_seed", seed);
    if (const auto snapshot = start.snapshot()) {
        check_rom(path, md5);
        // as loadROM, but for the reset
        ale::ALEInterface::loadSettings(path, game.theOSystem);
        game.romSettings.reset(ale::buildRomRLWrapper(path, md5));
        game.romSettings->modifyEnvironmentSettings(game.theOSystem->settings());
        game.environment = std::make_unique<StellaEnvironment>(game.theOSystem.get(), game.romSettings.get());
        game.max_num_frames = game.getInt("max_num_frames_per_episode");
        game.theOSystem->console().system().reset();
        game.romSettings->reset();
        restore_snapshot(game, *snapshot);
        game.environment->getEnvironmentRNG().seed(static_cast<uint32_t>(seed));
        return;
    }
    load_rom(game, path, md5);
    if (mode >= 0) game.setMode(static_cast<unsigned>(mode));
    if (difficulty >= 0) game.setDifficulty(static_cast<unsigned>(difficulty));
    game.reset_game();
    start.offer(game, seed);
}

}  // namespace cypool
