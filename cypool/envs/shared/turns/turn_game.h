// A game in which players move in turn, as turn_rules.h plays it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "cypool/rng.h"
#include "cypool/slot.h"

namespace cypool {

constexpr int OVER = -1;  // in the place of the player who moves
constexpr int MOST_PLAYERS = CYPOOL_MOST_PLAYERS;

// A match of a game. Players and actions are numbered from 0.
class TurnGame {
public:
    virtual ~TurnGame() = default;

    // of the game: they never change
    int num_players = 0;
    size_t num_actions = 0, tensor_size = 0;
    // of the position
    int32_t current = OVER;            // who moves
    int32_t last = 0;                  // who moved last
    double reward[MOST_PLAYERS] = {};  // of the last move, by player
    uint64_t outcome = 0;              // of chance after the last move: different numbers for different positions
    // of a learner with an opponent in the environment
    int32_t seat = 0;  // which player the learner is
    int32_t num_matches = 0;

    // The first position, with what chance does before the first move.
    virtual void reset(const Rng* rng) = 0;
    // Plays an action that `is_legal`, with what chance does then.
    virtual void play(int64_t action, const Rng* rng) = 0;
    // of any action from 0 to `num_actions` - 1
    virtual bool is_legal(int64_t action) const = 0;
    // 1 for each legal action, else 0: all are 0 when it is over, and only then
    virtual void legal(uint8_t* mask) const = 0;
    // Plays any legal action, each with the same probability.
    virtual void play_random(const Rng* rng) = 0;
    // Writes what a player sees: `tensor_size` numbers.
    virtual void observe(int player, float* tensor) const = 0;

    // a match of the same game
    virtual std::unique_ptr<TurnGame> clone() const = 0;
    virtual void copy_from(const TurnGame& other) = 0;

    // Ends the match: the player who moves loses, and others get nothing.
    void lose() {
        last = current;
        current = OVER;
        std::fill_n(reward, num_players, 0.0);
        reward[last] = -1;
    }
};

}  // namespace cypool
