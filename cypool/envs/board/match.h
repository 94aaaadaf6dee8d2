// A match of a board game. A game is a struct of its rules:
//
//     static constexpr int PLAYERS;
//     explicit Rules(const Options& options);
//     int32_t current;                                  // who moves, or OVER
//     size_t num_actions() const, tensor_size() const;
//     void reset(const Rng* rng);
//     void play(int64_t action, const Rng* rng, double* reward);  // of each player; they are 0 before
//     bool is_legal(int64_t action) const;              // of any action in [0, num_actions), while it is not over
//     void legal(uint8_t* mask) const;                  // likewise
//     void observe(int player, float* tensor) const;
//     template <class Archive> void exchange(Archive& archive);   // as in state_archive.h, without `current`
//     uint64_t outcome() const;                         // if there is chance: of the last move
//     bool validate();                                  // refuses a position, or returns whether `current` can move
#pragma once

#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

#include "cypool/envs/shared/turns/turn_rules.h"
#include "cypool/util/legal.h"

namespace cypool::board {

// Who moves after a player who may have won, which is rewarded.
inline int32_t next_after(int mover, bool has_won, double* reward) {
    if (!has_won) return 1 - mover;
    reward[mover] = 1;
    reward[1 - mover] = -1;
    return OVER;
}

template <class Rules> class Match final : public TurnGame {
public:
    explicit Match(const Options& options) : rules(options) {
        num_players = Rules::PLAYERS;
        num_actions = rules.num_actions();
        tensor_size = rules.tensor_size();
        rules.current = OVER;
    }
    Rules rules;

    void reset(const Rng* rng) override {
        rules.reset(rng);
        current = rules.current;
        last = 0;
        std::fill_n(reward, Rules::PLAYERS, 0.0);
        was_reset_ = true;
    }
    void play(int64_t action, const Rng* rng) override {
        last = current;
        std::fill_n(reward, Rules::PLAYERS, 0.0);
        rules.play(action, rng, reward);
        current = rules.current;
        if constexpr (requires { rules.outcome(); }) outcome = rules.outcome();
    }
    bool is_legal(int64_t action) const override { return current != OVER && rules.is_legal(action); }
    void legal(uint8_t* mask) const override {
        if (current == OVER) {
            std::memset(mask, 0, num_actions);
        } else {
            rules.legal(mask);
        }
    }
    void play_random(const Rng* rng) override {
        thread_local std::vector<uint8_t> mask;
        mask.resize(num_actions);
        legal(mask.data());
        const size_t count = count_legal(mask.data(), num_actions);
        if (count == 0) {
            // of a state that was edited, in a way that no rule looks at
            lose();
            return;
        }
        const auto n = static_cast<size_t>(integers(rng, 0, static_cast<int64_t>(count)));
        play(nth_legal(mask.data(), num_actions, n), rng);
    }
    void observe(int player, float* tensor) const override { rules.observe(player, tensor); }
    std::unique_ptr<TurnGame> clone() const override { return std::make_unique<Match>(*this); }
    void copy_from(const TurnGame& other) override { *this = static_cast<const Match&>(other); }

    // ---- states
    bool ready() const { return was_reset_; }
    std::unique_ptr<Match> fresh() const {
        auto match = std::make_unique<Match>(*this);
        match->was_reset_ = false;
        return match;
    }
    template <class Archive> void exchange(Archive& archive) {
        archive("current_player", current, OVER, num_players - 1);
        archive("last_player", last, 0, num_players - 1);
        archive("seat", seat, 0, num_players - 1);
        archive("num_matches", num_matches, 0, INT32_MAX);
        for (int k = 0; k < num_players; ++k) archive.item("reward", k, reward[k], -1e9, 1e9);
        rules.exchange(archive);
        was_reset_ = true;
    }
    void validate() {
        rules.current = current;
        if (!rules.validate() && current != OVER) {
            refuse_state("current_player", "a player who can move in this position", text_of(current));
        }
    }

private:
    bool was_reset_ = false;
};

}  // namespace cypool::board
