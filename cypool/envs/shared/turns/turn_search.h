// A player of a `TurnGame` that searches: Monte-Carlo trees with random games, by PUCT with equal priors.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <vector>

#include "cypool/envs/shared/turns/turn_game.h"
#include "cypool/rng.h"
#include "cypool/util/legal.h"
#include "cypool/util/search_tree.h"

namespace cypool {

class SearchPlayer {
public:
    SearchPlayer() = default;
    // there is only memory to work in
    SearchPlayer(const SearchPlayer&) {}
    SearchPlayer& operator=(const SearchPlayer&) { return *this; }

    // Returns the action that most simulations took, the smallest of equal ones, or NONE without a legal one. Chance
    // and random games draw from `rng`; the game stays as it is.
    int64_t choose(const TurnGame& game, int32_t simulations, const Rng* rng) {
        if (!walker_) walker_ = game.clone();
        search::Options options;
        options.num_actions = static_cast<int32_t>(game.num_actions);
        options.num_players = game.num_players;
        options.c_init = std::sqrt(2.0);
        mask_.resize(game.num_actions);
        tree_.clear();
        tree_.begin(options, game.current, simulations, nullptr);
        // the first one makes the root
        for (int32_t k = 0; k <= simulations; ++k) simulate(options, game, rng);
        return tree_.best(options);
    }

private:
    static constexpr int LONGEST_GAME = 10'000;

    std::unique_ptr<TurnGame> walker_;
    search::Tree tree_;
    search::Path path_;
    std::vector<uint8_t> mask_;

    void simulate(const search::Options& options, const TurnGame& game, const Rng* rng) {
        double values[MOST_PLAYERS] = {};
        int32_t at = 0;
        walker_->copy_from(game);
        path_.steps.clear();
        path_.rewards.clear();
        path_.leaf = search::NONE;
        path_.waits = false;
        while (at != search::NONE && tree_.is_expanded(at) && walker_->current != OVER) {
            const search::Taken taken = tree_.choose(options, at);
            path_.steps.push_back(taken);
            walker_->play(tree_.action_of(taken), rng);
            path_.rewards.insert(path_.rewards.end(), walker_->reward, walker_->reward + game.num_players);
            if (walker_->current != OVER) at = tree_.follow(options, taken, walker_->outcome, walker_->current);
        }
        if (walker_->current != OVER && at != search::NONE) {
            walker_->legal(mask_.data());
            // of a state that was edited there may be none: the random game ends at once
            if (count_legal(mask_.data(), mask_.size()) > 0) tree_.expand(options, at, mask_.data(), nullptr);
            path_.leaf = at;
        }
        for (int moves = 0; walker_->current != OVER && moves < LONGEST_GAME; ++moves) {
            walker_->play_random(rng);
            for (int player = 0; player < game.num_players; ++player) values[player] += walker_->reward[player];
        }
        tree_.back_up(options, path_, values);
    }
};

}  // namespace cypool
