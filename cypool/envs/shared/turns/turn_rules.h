// A `TurnGame` as the rules of an environment, from the view of who moves, of all players, or of one of them; its spec
// and options are those of turn_specs.py. A game in which players may move at once also has `acts`, `is_legal_of`,
// `write_legal_of` and `play_together`; and one that draws chance from another stream has `chance`.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

#include "cypool/access.h"
#include "cypool/envs/shared/rules/rules.h"
#include "cypool/envs/shared/turns/turn_game.h"
#include "cypool/envs/shared/turns/turn_search.h"

namespace cypool {

enum View { MOVER, PLAYERS, SINGLE };

struct TurnOptions {
    explicit TurnOptions(const Options& given)
        : view(given.at("view")),
          loses(given.at("loses")),
          simulations(given.at("simulations")),
          seat(given.at("seat")) {}

    View view;
    bool loses;           // whether an illegal action loses
    int32_t simulations;  // of an opponent who searches; 0: it plays at random
    int seat;             // of the learner in the view of one player; or one of these
    static constexpr int RANDOM_SEAT = -1, NEXT_SEAT = -2;
};

template <class Game> class Turns {
public:
    explicit Turns(const Options& given) : Turns(TurnOptions(given), Game(given)) {}
    Turns(const TurnOptions& options, Game given) : options_(options), game(std::move(given)) {}

    void seed(int env_id) {
        // seats that alternate begin again, each environment with another one
        game.num_matches = env_id % game.num_players;
    }

    void reset(Step& step) {
        draw_chance_from(step);
        if (options_.view != SINGLE) {
            game.reset(step.rng);
            write_turns(step);
            return;
        }
        // a match may be over before the learner moves
        for (int k = 0; k < MAX_MATCHES; ++k) {
            game.reset(step.rng);
            if (options_.seat == TurnOptions::RANDOM_SEAT) {
                game.seat = static_cast<int32_t>(integers(step.rng, 0, game.num_players));
            } else {
                game.seat =
                    options_.seat == TurnOptions::NEXT_SEAT ? game.num_matches % game.num_players : options_.seat;
            }
            game.num_matches = (game.num_matches + 1) % (1 << 30);
            let_opponents_play(step);
            if (game.current != OVER) return;
        }
        throw std::invalid_argument("seat: expected a player who moves before a match is over, got "
                                    + std::to_string(game.seat) + ", who did not move in " + std::to_string(MAX_MATCHES)
                                    + " matches");
    }

    void step(const void* action, Step& step) {
        const auto* actions = action_data<int64_t>(action);
        const int mover = game.current;
        if (mover == OVER) {
            throw std::invalid_argument("step: expected a match that is not over; was the state edited?");
        }
        draw_chance_from(step);
        if (options_.view == PLAYERS) {
            if (is_together()) {
                take_together(actions, step);
            } else {
                take(actions[mover], step);
            }
            std::copy_n(game.reward, game.num_players, step.agents->reward);
            write_turns(step);
        } else {
            take(actions[0], step);
            step.reward = game.reward[mover];
            if (options_.view == SINGLE) let_opponents_play(step);
        }
        step.terminated = game.current == OVER;
    }

    void observe(const Slot& out) const {
        auto* tensor = obs_row<float>(&out, 0);
        if (options_.view == PLAYERS) {
            for (int k = 0; k < game.num_players; ++k) game.observe(k, tensor + k * game.tensor_size);
            legal(obs_row<uint8_t>(&out, 1));
            *info_row<int32_t>(&out, 0) = game.current;
            return;
        }
        const int mover = game.current == OVER ? game.last : game.current;
        game.observe(options_.view == SINGLE ? game.seat : mover, tensor);
        game.legal(info_row<uint8_t>(&out, 0));
        if (game.num_players == 1) return;
        *info_row<int32_t>(&out, 1) = game.current;
        if (options_.view == MOVER) std::copy_n(game.reward, game.num_players, info_row<double>(&out, 2));
    }

    void legal(uint8_t* mask) const {
        if (options_.view != PLAYERS) return game.legal(mask);
        std::memset(mask, 0, game.num_players * game.num_actions);
        if constexpr (CAN_MOVE_TOGETHER) {
            for (int k = 0; k < game.num_players && is_together(); ++k)
                game.write_legal_of(k, mask + k * game.num_actions);
        }
        if (game.current >= 0) game.legal(mask + game.current * game.num_actions);
    }

    void turn(Turn& out) const {
        out.num_players = game.num_players;
        out.player = game.current;
        out.outcome = game.outcome;
        // most games have two: no loop, and no call
        out.reward[0] = game.reward[0];
        out.reward[1] = game.reward[1];
        if (game.num_players > 2) std::copy_n(game.reward, MOST_PLAYERS, out.reward);
    }

    void picture(void* tensor) const { game.observe(0, static_cast<float*>(tensor)); }

    bool ready() const { return game.ready(); }
    std::unique_ptr<Turns> fresh() const { return std::make_unique<Turns>(options_, std::move(*game.fresh())); }
    template <class Archive> void exchange(Archive& archive) { game.exchange(archive); }
    void validate() { game.validate(); }

private:
    static constexpr int MAX_MATCHES = 1000;  // that end before the learner moves, one after another
    static constexpr bool CAN_MOVE_TOGETHER =
        requires(Game& g, const int64_t* actions, const Rng* rng) { g.play_together(actions, rng); };

    TurnOptions options_;
    SearchPlayer opponent_;

public:
    Game game;

private:
    bool is_together() const { return CAN_MOVE_TOGETHER && game.current < OVER; }

    void draw_chance_from(const Step& step) {
        if constexpr (requires { game.chance; }) game.chance = step.second_rng;
    }

    [[noreturn]] static void refuse(int player, int64_t action) {
        throw std::invalid_argument("action: expected a legal action of player " + std::to_string(player) + ", got "
                                    + std::to_string(action));
    }

    // Plays an action of the player who moves.
    void take(int64_t action, const Step& step) {
        if (game.is_legal(action)) {
            game.play(action, step.rng);
        } else if (options_.loses) {
            game.lose();
        } else {
            refuse(game.current, action);
        }
    }

    // Plays an action of each player.
    void take_together(const int64_t* actions, const Step& step) {
        if constexpr (CAN_MOVE_TOGETHER) {
            for (int k = 0; k < game.num_players; ++k) {
                if (!game.acts(k) || game.is_legal_of(k, actions[k])) continue;
                if (!options_.loses) refuse(k, actions[k]);
                // the first of them
                game.current = k;
                game.lose();
                return;
            }
            game.play_together(actions, step.rng);
        }
    }

    // Plays for others until it is the learner's turn.
    void let_opponents_play(Step& step) {
        while (game.current != OVER && game.current != game.seat) {
            const int64_t action =
                options_.simulations > 0 ? opponent_.choose(game, options_.simulations, step.rng) : -1;
            if (action >= 0) {
                game.play(action, step.rng);
            } else {
                game.play_random(step.rng);
            }
            step.reward += game.reward[game.seat];
        }
    }

    void write_turns(const Step& step) const {
        if (options_.view != PLAYERS) return;
        for (int k = 0; k < game.num_players; ++k) {
            if constexpr (CAN_MOVE_TOGETHER) {
                step.agents->turn[k] = game.acts(k);
            } else {
                step.agents->turn[k] = k == game.current;
            }
        }
    }
};

}  // namespace cypool
