// A match of a game of OpenSpiel.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "cypool/envs/shared/turns/turn_rules.h"
#include "cypool/envs/openspiel/library.h"

namespace cypool::openspiel {

constexpr int TOGETHER = -2;  // in the place of the player who moves: all move at once
constexpr int CHANCE = -3;

class Match final : public TurnGame {
public:
    Match() = default;
    // With parameters other than its defaults, a game may write outside of its tensor: that is an error.
    Match(GamePointer game, bool sees_information_state, bool has_parameters)
        : game_(std::move(game)),
          sees_information_state_(sees_information_state),
          has_parameters_(has_parameters) {
        num_players = library->num_players(game_.get());
        num_actions = static_cast<size_t>(library->num_actions(game_.get()));
        const auto shape = sees_information_state_ ? library->information_state_shape(game_.get())
                                                   : library->observation_shape(game_.get());
        tensor_size = std::accumulate(shape.begin(), shape.end(), size_t{1}, std::multiplies<>());
        current = OVER;
    }
    // what chance draws with instead of the environment's stream, or null; borrowed, and not copied
    const Rng* chance = nullptr;

    Match(const Match& other) { *this = other; }
    // the state is copied; what is known of legal actions is not
    Match& operator=(const Match& other) {
        if (this == &other) return *this;
        StatePointer copy = other.state_ ? library->clone(other.state_.get()) : StatePointer();
        static_cast<TurnGame&>(*this) = other;
        game_ = other.game_;
        sees_information_state_ = other.sees_information_state_;
        has_parameters_ = other.has_parameters_;
        rewards_early_ = other.rewards_early_;
        history_ = other.history_;
        state_ = std::move(copy);
        known_ = 0;
        return *this;
    }
    Match(Match&&) = default;
    Match& operator=(Match&&) = default;

    void reset(const Rng* rng) override {
        guarded([&] {
            start();
            settle(rng);
            if (current == OVER) throw std::runtime_error("OpenSpiel: the game is over before the first move");
            last = 0;
            std::fill_n(reward, num_players, 0.0);
        });
    }
    void play(int64_t action, const Rng* rng) override {
        guarded([&] {
            last = current;
            history_.push_back(action);
            library->apply_action(state_.get(), action);
            settle(rng);
        });
    }
    // Plays an action of each player, at once; those of players who have none to choose are not read.
    void play_together(const int64_t* actions, const Rng* rng) {
        std::vector<Action> all(actions, actions + num_players);
        for (int k = 0; k < num_players; ++k) {
            if (!acts(k)) all[static_cast<size_t>(k)] = 0;
        }
        guarded([&] {
            last = 0;
            history_.insert(history_.end(), all.begin(), all.end());
            library->apply_actions(state_.get(), all);
            settle(rng);
        });
    }
    // Whether a player chooses an action now.
    bool acts(int player) const { return current == TOGETHER ? !legal_of(player).empty() : player == current; }
    bool is_legal_of(int player, int64_t action) const {
        const auto& legal = legal_of(player);
        return std::find(legal.begin(), legal.end(), action) != legal.end();
    }
    // of a player who acts
    void write_legal_of(int player, uint8_t* mask) const {
        for (const Action each : legal_of(player)) mask[each] = 1;
    }
    bool is_legal(int64_t action) const override { return current != OVER && is_legal_of(current, action); }
    void legal(uint8_t* mask) const override {
        std::fill_n(mask, num_actions, uint8_t{0});
        if (current != OVER) write_legal_of(current, mask);
    }
    void play_random(const Rng* rng) override {
        const auto& legal = legal_of(current);
        if (legal.empty()) throw std::runtime_error("OpenSpiel: the player to move has no legal action");
        play(legal[static_cast<size_t>(integers(rng, 0, static_cast<int64_t>(legal.size())))], rng);
    }
    void observe(int player, float* tensor) const override {
        // some games write only what is not 0
        std::fill_n(tensor, tensor_size, 0.f);
        if (!state_) return;
        const auto& write = sees_information_state_ ? library->information_state_tensor : library->observation_tensor;
        if (!has_parameters_) {
            write(state_.get(), player, Span{tensor, tensor_size});
            return;
        }
        thread_local std::vector<float> room;
        const size_t margin = tensor_size + 64;
        room.assign(tensor_size + 2 * margin, 0.f);
        const auto begin = room.begin() + static_cast<ptrdiff_t>(margin);
        const auto end = begin + static_cast<ptrdiff_t>(tensor_size);
        write(state_.get(), player, Span{&*begin, tensor_size});
        const auto is_written = [](float number) { return number != 0; };
        if (std::any_of(room.begin(), begin, is_written) || std::any_of(end, room.end(), is_written)) {
            throw std::runtime_error("OpenSpiel: the game writes outside its tensor of " + text_of(tensor_size)
                                     + " numbers");
        }
        std::copy(begin, end, tensor);
    }

    std::unique_ptr<TurnGame> clone() const override { return std::make_unique<Match>(*this); }
    void copy_from(const TurnGame& other) override { *this = static_cast<const Match&>(other); }

    // ---- texts for people
    // The position, of which a player sees all, or in a game that hides something his part.
    std::string text_for(int player) const {
        const auto& type = library->type_of(game_.get());
        if (type.information == GameType::PERFECT) return library->text(state_.get());
        const auto& text =
            type.has_information_state_text ? library->information_state_text : library->observation_text;
        return text(state_.get(), player);
    }
    std::string name_of(int player, Action action) const { return library->action_text(state_.get(), player, action); }
    // The moves after the first ones, of which there are `num_known`: who played, chance being -1, and the names.
    std::vector<std::pair<int, std::string>> moves_after(size_t num_known) const {
        const StatePointer state = library->new_state(game_.get());
        std::vector<std::pair<int, std::string>> moves;
        for (size_t k = 0; k < history_.size(); ++k) {
            const int player = library->current_player(state.get());
            if (k >= num_known) moves.emplace_back(player, library->action_text(state.get(), player, history_[k]));
            library->apply_action(state.get(), history_[k]);
        }
        return moves;
    }

    // ---- states: what was played. OpenSpiel's own way to load one plays whatever a text says
    bool ready() const { return state_ != nullptr; }
    std::unique_ptr<Match> fresh() const {
        return std::make_unique<Match>(game_, sees_information_state_, has_parameters_);
    }
    template <class Archive> void exchange(Archive& archive) {
        archive("current_player", current, TOGETHER, num_players - 1);
        archive("last_player", last, 0, num_players - 1);
        archive("seat", seat, 0, num_players - 1);
        archive("num_matches", num_matches, 0, INT32_MAX);
        for (int k = 0; k < num_players; ++k) archive.item("reward", static_cast<size_t>(k), reward[k], -1e18, 1e18);
        archive.size("history", history_, 0, MOST_MOVES);
        archive.all("history", history_, 0, LARGEST_MOVE);
    }
    // Plays the moves again, and looks at each.
    void validate() {
        const int32_t saved = current;
        try {
            replay();
        } catch (const std::invalid_argument&) {
            throw;
        } catch (const std::exception& error) {
            refuse_state("history", "moves that the game accepts", error.what());
        }
        // who plays an illegal action may have lost
        if (saved != current && saved != OVER) refuse_state("current_player", text_of(current), text_of(saved));
        current = saved;
    }

private:
    static constexpr size_t MOST_MOVES = size_t{1} << 24;
    static constexpr int64_t LARGEST_MOVE = int64_t{1} << 53;

    GamePointer game_;
    StatePointer state_;
    std::vector<Action> history_;  // chance's, too
    bool sees_information_state_ = false, has_parameters_ = false;
    bool rewards_early_ = false;  // whether a move may be rewarded before the end
    // by player, where their bit is set
    mutable std::array<std::vector<Action>, MOST_PLAYERS> legal_;
    mutable uint32_t known_ = 0;

    // An exception may leave half a move: the match is given up then.
    template <class F> void guarded(F&& f) {
        try {
            f();
        } catch (...) {
            state_.reset();
            history_.clear();
            current = OVER;
            throw;
        }
    }

    void start() {
        state_ = library->new_state(game_.get());
        history_.clear();
        // at the end only where the class has no function of its own; asking takes some games as long as a move
        rewards_early_ = library->rewards.table(state_.get())[library->rewards.slot] != library->rewards_at_end_only;
    }

    int mover() const {
        // a player moves only while it is not over; asking whether it is takes some games long
        const int player = library->current_player(state_.get());
        if (player >= 0 && player < num_players) return player;
        if (library->is_terminal(state_.get())) return OVER;
        if (player == TOGETHER) return TOGETHER;
        if (!library->is_chance(state_.get())) {
            throw std::runtime_error("OpenSpiel: expected a player, chance or all players to be next to move, got "
                                     + text_of(player));
        }
        return CHANCE;
    }

    // Lets chance move, and finds out who is next.
    void settle(const Rng* rng) {
        int next;
        outcome = 0;
        while ((next = mover()) == CHANCE) {
            const Action drawn_now = drawn(library->chance_outcomes(state_.get()), chance != nullptr ? chance : rng);
            history_.push_back(drawn_now);
            library->apply_action(state_.get(), drawn_now);
            // different for different outcomes, and so for sequences of few
            outcome = outcome * 0x100000001b3 + static_cast<uint64_t>(drawn_now) + 1;
        }
        current = next;
        known_ = 0;
        std::fill_n(reward, num_players, 0.0);
        if (current == OVER || rewards_early_) {
            const auto rewards = library->rewards(state_.get());
            std::copy_n(rewards.begin(), std::min(rewards.size(), static_cast<size_t>(num_players)), reward);
        }
    }

    // as NumPy's `choice` with probabilities
    static Action drawn(const Outcomes& outcomes, const Rng* rng) {
        if (outcomes.empty()) throw std::runtime_error("OpenSpiel: a chance event has no outcome");
        double total = 0, sum = 0;
        for (const auto& each : outcomes) total += each.second;
        const double place = rng->next_double(rng->state);
        for (const auto& each : outcomes) {
            sum += each.second;
            if (place < sum / total) return each.first;
        }
        return outcomes.back().first;
    }

    const std::vector<Action>& legal_of(int player) const {
        auto& legal = legal_[static_cast<size_t>(player)];
        if (!(known_ >> player & 1)) {
            legal = current == TOGETHER ? library->legal_actions_of(state_.get(), player)
                                        : library->legal_actions(state_.get());
            for (const Action each : legal) {
                if (each < 0 || static_cast<size_t>(each) >= num_actions) {
                    throw std::runtime_error("OpenSpiel: expected a legal action below " + std::to_string(num_actions)
                                             + ", got " + text_of(each));
                }
            }
            known_ |= uint32_t{1} << player;
        }
        return legal;
    }

    void replay() {
        std::vector<Action> given;
        given.swap(history_);
        start();
        size_t k = 0;
        const auto take = [&](const std::vector<Action>& legal) {
            if (k == given.size()) refuse_state("history", "moves of all players", "fewer");
            if (std::find(legal.begin(), legal.end(), given[k]) == legal.end()) {
                refuse_state(name_of_item("history", k), "a legal action", text_of(given[k]));
            }
            history_.push_back(given[k]);
            return given[k++];
        };
        int next;
        while ((next = mover()) == CHANCE || k < given.size()) {
            if (next == OVER) refuse_state("history", text_of(k) + " moves until its end", text_of(given.size()));
            current = next;
            known_ = 0;
            if (next == TOGETHER) {
                std::vector<Action> all;
                for (int player = 0; player < num_players; ++player) {
                    all.push_back(take(acts(player) ? legal_of(player) : std::vector<Action>{0}));
                }
                library->apply_actions(state_.get(), all);
            } else if (next == CHANCE) {
                std::vector<Action> possible;
                for (const auto& each : library->chance_outcomes(state_.get())) {
                    if (each.second > 0) possible.push_back(each.first);
                }
                library->apply_action(state_.get(), take(possible));
            } else {
                library->apply_action(state_.get(), take(legal_of(next)));
            }
        }
        current = next;
        known_ = 0;
    }
};

inline Rules* new_rules(const Options& options, GamePointer game, bool sees_information_state, bool has_parameters) {
    return new RulesOf(Turns(TurnOptions(options), Match(std::move(game), sees_information_state, has_parameters)));
}

}  // namespace cypool::openspiel
