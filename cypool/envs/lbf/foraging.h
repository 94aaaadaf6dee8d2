// Level-based foraging, as lbforaging 2.0.0 has it: the same stream and actions give the same bits.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <vector>

#include "cypool/access.h"
#include "cypool/envs/shared/rules/rules.h"

namespace cypool::lbf {

enum Action : int64_t { NONE, NORTH, SOUTH, WEST, EAST, LOAD };

struct Setup : Options {
    explicit Setup(const Options& given) : Options(given) {}

    std::array<int, 2> field_size = at("field_size");
    int rows = field_size[0], cols = field_size[1];
    int sight = at("sight"), time_limit = at("time_limit"), highest_food = at("highest_food");
    bool force_coop = at("force_coop"), unit_reward = at("unit_reward"), grid_observation = at("grid_observation");
    bool observe_agent_levels = at("observe_agent_levels"), truncate = at("truncate"), fresh_world = at("fresh_world");
    double penalty = at("penalty");
    // of each player, and of each food; without `max_food_level`, it is the sum of the three lowest players' levels
    std::vector<int> min_player_level = at("min_player_level"), max_player_level = at("max_player_level");
    std::vector<int> min_food_level = at("min_food_level"), max_food_level = at("max_food_level");

    int num_players() const { return static_cast<int>(min_player_level.size()); }
    int num_foods() const { return static_cast<int>(min_food_level.size()); }
    int highest_player() const { return *std::max_element(max_player_level.begin(), max_player_level.end()); }
};

struct Position {
    int16_t row, col;
    bool operator==(const Position&) const = default;
};

inline int distance(Position a, Position b) { return std::abs(a.row - b.row) + std::abs(a.col - b.col); }

struct Entity {
    Position at;
    int32_t level;
};

class World {
public:
    static constexpr int MAX_ENTITIES = 100;  // players, and foods
    // foods are at least so far apart, so that a player is next to one at most
    static constexpr int FOOD_DISTANCE = 3;

    explicit World(const Options& given) : World(std::make_shared<const Setup>(given)) {}
    explicit World(std::shared_ptr<const Setup> given) : options_(std::move(given)) {
        players_.resize(options_->num_players());
        foods_.reserve(options_->num_foods());
        field_.resize((options_->rows + 2) * stride());
        clear_field();
    }

    // Raises std::runtime_error if a player finds no cell in the first episode, or in any where each is one.
    void reset(Step& step) {
        if (options_->fresh_world) ready_ = false;
        num_steps_ = 0;
        clear_field();
        foods_.clear();
        place_players(step.rng);
        place_foods(step.rng);
        ready_ = true;
    }

    void step(const void* action, Step& step) noexcept {
        const auto* actions = action_data<int64_t>(action);
        ++num_steps_;
        move(actions);
        load_foods(actions, step.agents->reward);
        const bool is_late = num_steps_ >= options_->time_limit;
        step.truncated = is_late && options_->truncate && !foods_.empty();
        step.terminated = (is_late || foods_.empty()) && !step.truncated;
    }

    void observe(const Slot& out) const noexcept {
        auto* row = obs_row<float>(&out, 0);
        for (const Entity& player : players_) {
            row = options_->grid_observation ? observe_grid(player, row) : observe_entities(player, row);
        }
    }

    bool ready() const { return ready_; }
    std::unique_ptr<World> fresh() const { return std::make_unique<World>(options_); }
    template <class Archive> void exchange(Archive& archive) {
        const Setup& o = *options_;
        archive("step", num_steps_, 0, o.time_limit);
        archive("spawned_level", spawned_level_, 0, int64_t{o.num_foods()} * o.highest_food);
        archive.each("player", players_, [&](Entity& player) {
            archive("row", player.at.row, 0, o.rows - 1);
            archive("col", player.at.col, 0, o.cols - 1);
            archive("level", player.level, 1, o.highest_player());
        });
        archive.list("food", foods_, 0, o.num_foods(), [&](Entity& food) {
            archive("row", food.at.row, 1, o.rows - 2);
            archive("col", food.at.col, 1, o.cols - 2);
            archive("level", food.level, 1, o.highest_food);
        });
        if constexpr (Archive::LOADS) {
            for (const Entity& food : foods_) *cell(food.at) = FOOD;
            ready_ = true;
        }
    }
    void validate() const {
        int64_t left = 0;
        for (size_t k = 0; k < foods_.size(); ++k) {
            left += foods_[k].level;
            if (k > 0 && !is_before(foods_[k - 1], foods_[k])) {
                refuse_state(name_of_item("food", k), "food items in row order", "one out of order");
            }
            for (size_t j = 0; j < k; ++j) {
                if (distance(foods_[j].at, foods_[k].at) < FOOD_DISTANCE) {
                    refuse_state(name_of_item("food", k), "food items at least 3 steps apart", "two that are closer");
                }
            }
        }
        if (spawned_level_ < left) refuse_state("spawned_level", "at least " + text_of(left), text_of(spawned_level_));
        for (size_t k = 0; k < players_.size(); ++k) {
            if (*cell(players_[k].at) != FREE)
                refuse_state(name_of_item("player", k), "a cell without food", "one with food");
        }
    }

private:
    static constexpr int MAX_ATTEMPTS = 1000;

    std::shared_ptr<const Setup> options_;
    std::vector<Entity> players_;
    // those that are left, row by row
    std::vector<Entity> foods_;
    enum Cell : uint8_t { FREE, FOOD, BORDER };
    // with a border, which no player enters
    std::vector<Cell> field_;
    int32_t num_steps_ = 0;
    int64_t spawned_level_ = 0;
    bool ready_ = false;

    int stride() const { return options_->cols + 2; }
    int index(Position at) const { return (at.row + 1) * stride() + at.col + 1; }
    Cell* cell(Position at) { return &field_[index(at)]; }
    const Cell* cell(Position at) const { return &field_[index(at)]; }

    void clear_field() {
        std::fill(field_.begin(), field_.end(), BORDER);
        for (int row = 1; row <= options_->rows; ++row) std::fill_n(&field_[row * stride() + 1], options_->cols, FREE);
    }

    static bool is_before(const Entity& a, const Entity& b) {
        return a.at.row != b.at.row ? a.at.row < b.at.row : a.at.col < b.at.col;
    }

    static void permutation(const Rng* rng, int* order, int n) {
        for (int k = 0; k < n; ++k) order[k] = k;
        shuffle(rng, order, n);
    }

    Position draw_position(const Rng* rng, int margin) const {
        const auto row = integers(rng, margin, options_->rows - margin);
        const auto col = integers(rng, margin, options_->cols - margin);
        return {static_cast<int16_t>(row), static_cast<int16_t>(col)};
    }

    // with the first `count` players
    bool is_empty(Position at, int count) const {
        return *cell(at) == FREE && std::none_of(players_.begin(), players_.begin() + count, [&](const Entity& player) {
            return player.at == at;
        });
    }

    void place_players(const Rng* rng) {
        const int n = options_->num_players();
        int order[MAX_ENTITIES];
        permutation(rng, order, n);
        for (int k = 0; k < n; ++k) {
            Entity& player = players_[k];
            int attempts = 0;
            for (; attempts < MAX_ATTEMPTS; ++attempts) {
                const Position at = draw_position(rng, 0);
                // where players are who have no cell yet in this episode: that of the last one
                if (!is_empty(at, ready_ ? n : k)) continue;
                player.at = at;
                player.level = static_cast<int32_t>(
                    integers(rng, options_->min_player_level[order[k]], options_->max_player_level[order[k]] + 1));
                break;
            }
            if (attempts == MAX_ATTEMPTS && !ready_) throw std::runtime_error("a player found no empty cell");
        }
    }

    bool has_food_near(Position at) const {
        const Cell* center = cell(at);
        const int w = stride();
        for (const int d : {-w - 1, -w, -w + 1, -1, 0, 1, w - 1, w, w + 1}) {
            if (center[d] == FOOD) return true;
        }
        // the border is one cell wide
        return (at.row >= 2 && center[-2 * w] == FOOD) || (at.row + 2 < options_->rows && center[2 * w] == FOOD)
               || (at.col >= 2 && center[-2] == FOOD) || (at.col + 2 < options_->cols && center[2] == FOOD);
    }

    int sum_of_lowest_levels() const {
        int levels[MAX_ENTITIES], sum = 0;
        const auto n = static_cast<int>(players_.size()), count = std::min(n, 3);
        for (int k = 0; k < n; ++k) levels[k] = players_[k].level;
        std::partial_sort(levels, levels + count, levels + n);
        for (int k = 0; k < count; ++k) sum += levels[k];
        return sum;
    }

    void place_foods(const Rng* rng) {
        const int n = options_->num_foods();
        const int most = options_->max_food_level.empty() ? sum_of_lowest_levels() : 0;
        int order[MAX_ENTITIES];
        permutation(rng, order, n);
        spawned_level_ = 0;
        for (int attempts = 0; attempts < MAX_ATTEMPTS && static_cast<int>(foods_.size()) < n; ++attempts) {
            const Position at = draw_position(rng, 1);
            if (has_food_near(at) || !is_empty(at, static_cast<int>(players_.size()))) continue;
            const int which = order[foods_.size()];
            const int high = most ? most : options_->max_food_level[which];
            const int low = options_->force_coop ? high : options_->min_food_level[which];
            const auto level = static_cast<int32_t>(integers(rng, low, high + 1));
            *cell(at) = FOOD;
            foods_.push_back({at, level});
            spawned_level_ += level;
        }
        std::sort(foods_.begin(), foods_.end(), is_before);
    }

    // Food and the border stop players, cells where others are do not: who alone wants to be in a cell goes there.
    void move(const int64_t* actions) {
        Position targets[MAX_ENTITIES];
        const auto n = static_cast<int>(players_.size());
        for (int k = 0; k < n; ++k) {
            const Position at = players_[k].at;
            const Cell* from = cell(at);
            // no branches, which random actions would mislead
            const bool up = (actions[k] == NORTH) & (from[-stride()] == FREE);
            const bool down = (actions[k] == SOUTH) & (from[stride()] == FREE);
            const bool left = (actions[k] == WEST) & (from[-1] == FREE);
            const bool right = (actions[k] == EAST) & (from[1] == FREE);
            const int row = down - up, col = right - left;
            targets[k] = {static_cast<int16_t>(at.row + row), static_cast<int16_t>(at.col + col)};
        }
        for (int k = 0; k < n; ++k) {
            if (std::count(targets, targets + n, targets[k]) == 1) players_[k].at = targets[k];
        }
    }

    void load_foods(const int64_t* actions, double* rewards) {
        const auto n = static_cast<int>(players_.size());
        int loading[MAX_ENTITIES], num_loading = 0;
        for (int k = 0; k < n; ++k) {
            rewards[k] = 0;
            if (actions[k] == LOAD) loading[num_loading++] = k;
        }
        if (num_loading == 0) return;
        const auto is_loaded = [&](const Entity& food) {
            const auto is_next_to = [&](int k) { return distance(players_[k].at, food.at) == 1; };
            int64_t level = 0;
            for (int i = 0; i < num_loading; ++i) level += is_next_to(loading[i]) ? players_[loading[i]].level : 0;
            for (int i = 0; i < num_loading; ++i) {
                const int k = loading[i];
                if (!is_next_to(k)) continue;
                if (level < food.level) {
                    rewards[k] = 0 - options_->penalty;
                    continue;
                }
                rewards[k] = static_cast<double>(int64_t{players_[k].level} * food.level);
                if (options_->unit_reward) rewards[k] /= static_cast<double>(level * spawned_level_);
            }
            if (level < food.level) return false;
            *cell(food.at) = FREE;
            return true;
        };
        std::erase_if(foods_, is_loaded);
    }

    // Positions are relative to the window, which ends at the upper and left edge of the field.
    float* observe_entities(const Entity& me, float* out) const {
        const int sight = options_->sight;
        const int top = std::max(0, me.at.row - sight), left = std::max(0, me.at.col - sight);
        const auto write = [&](const Entity& seen, bool has_level) {
            *out++ = static_cast<float>(seen.at.row - top);
            *out++ = static_cast<float>(seen.at.col - left);
            if (has_level) *out++ = static_cast<float>(seen.level);
        };
        const auto write_unseen = [&](const float* end, bool has_level) {
            while (out != end) {
                *out++ = -1;
                *out++ = -1;
                if (has_level) *out++ = 0;
            }
        };
        const float* end = out + 3 * options_->num_foods();
        for (const Entity& food : foods_) {
            const int row = food.at.row, col = food.at.col;
            if (row < top || col < left || row > me.at.row + sight || col > me.at.col + sight) continue;
            write(food, true);
        }
        write_unseen(end, true);
        const bool has_level = options_->observe_agent_levels;
        end = out + (has_level ? 3 : 2) * players_.size();
        write(me, has_level);
        for (const Entity& other : players_) {
            const int row = other.at.row - top, col = other.at.col - left;
            // players are seen twice the sight away from an edge, unlike food
            if (&other == &me || row < 0 || col < 0 || row > 2 * sight || col > 2 * sight) continue;
            write(other, has_level);
        }
        write_unseen(end, has_level);
        return out;
    }

    // Layers: levels of players, levels of food, cells that are free.
    float* observe_grid(const Entity& me, float* out) const {
        const int sight = options_->sight, side = 2 * sight + 1, size = side * side;
        const int top = me.at.row - sight, left = me.at.col - sight;
        std::fill_n(out, 3 * size, 0.0f);
        const int first = std::max(0, -left), last = std::min(side, options_->cols - left);
        for (int row = std::max(0, -top); row < std::min(side, options_->rows - top); ++row) {
            std::fill_n(out + 2 * size + row * side + first, last - first, 1.0f);
        }
        const auto write = [&](Position at, int layer, float value) {
            const int row = at.row - top, col = at.col - left;
            if (row < 0 || col < 0 || row >= side || col >= side) return;
            out[layer * size + row * side + col] = value;
            out[2 * size + row * side + col] = 0;
        };
        for (const Entity& player : players_) {
            write(player.at, 0, options_->observe_agent_levels ? static_cast<float>(player.level) : 1.0f);
        }
        for (const Entity& food : foods_) write(food.at, 1, static_cast<float>(food.level));
        return out + 3 * size;
    }
};

}  // namespace cypool::lbf
