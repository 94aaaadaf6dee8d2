// A level: the function that draws it, the one that steps it, and its saved state.
#pragma once

#include <cmath>
#include <limits>

#include "cypool/access.h"
#include "cypool/envs/shared/rules/rules.h"
#include "observations.h"

namespace cypool::minigrid {

class Game : public Observations {
public:
    explicit Game(const Options& given) : Game(std::make_shared<const Setup>(given)) {}
    explicit Game(std::shared_ptr<const Setup> given) {
        options = std::move(given);
        view = options->view;
        see_through = options->see_through;
        view_is_late = options->view_is_late;
        is_wrapped_ = options->no_death || options->bonus;
        max_steps = options->fixed_steps;
        mission = options->mission;
        level_ = find(LEVELS, options->generator);
        babyai_ = find(BABYAI_LEVELS, options->generator);
        if (!level_ && !babyai_) {
            throw std::invalid_argument("generator: expected one of LEVELS in levels.h or babyai.h, got '"
                                        + options->generator + "'");
        }
    }

    // Raises std::runtime_error where there is no room for an object.
    void reset(Step& step) {
        stream = step.rng;
        ready_ = false;
        begin();
        try {
            if (babyai_) {
                reset_mission(babyai_->generate);
            } else {
                (this->*level_->generate)();
            }
        } catch (const NoPlace&) {
            throw std::runtime_error("the level has no room for all objects");
        }
        find_goal();
        size_visits();
        ready_ = true;
    }

    // StochasticActionWrapper may execute another action than the policy chose, which the bonus is for
    void step(const void* action, Step& step) {
        stream = step.rng;
        const auto chosen = static_cast<int>(discrete_action(action));
        int executed = chosen;
        if (options->action_prob >= 0 && uniform(stream, 0, 1) >= options->action_prob) {
            executed = options->random_action >= 0 ? options->random_action : draw(0, options->num_actions);
        }
        if (is_wrapped_) {
            step_wrapped(executed, chosen);
        } else {
            step_level(executed);
        }
        step.reward = reward;
        step.terminated = terminated;
        step.truncated = truncated;
    }

    void observe(const Slot& out) {
        if (ready_) return Observations::observe(out);
        // the last reset failed
        for (size_t k = 0; k < options->row_bytes.size(); ++k) std::memset(out.obs[k], 0, options->row_bytes[k]);
    }

    // whether there is a level: not before a reset, nor after one that failed
    bool ready() const { return ready_; }
    std::unique_ptr<Game> fresh() const { return std::make_unique<Game>(options); }

    // all that step and observe depend on
    template <class Archive> void exchange(Archive& archive) {
        if constexpr (Archive::LOADS) clear(options->width, options->height);
        if (options->mission.empty()) archive.text("mission", mission, options->mission_length);
        archive("max_steps", max_steps, 1, std::numeric_limits<int>::max() - 1);
        archive("step_count", step_count, 0, max_steps);
        archive("dir", dir, 0, 3);
        exchange(archive, "agent", agent, 0);
        // the first ones are always the same
        archive.size("objects", objects, FIRST, MAX_OBJECTS);
        const int last = static_cast<int>(objects.size()) - 1;
        for (int k = FIRST; k <= last; ++k) {
            Object& object = objects[k];
            archive.in("objects", k, [&] {
                archive("type", object.type, DOOR, BOX);
                archive("color", object.color, RED, GREY);
                archive("state", object.state, 0, object.type == DOOR ? LOCKED_DOOR : 0);
                archive("matches", object.matches, 0, 255);
                archive("contains", object.contains, 0, last);
                exchange(archive, "at", object.at, -1);
            });
            if constexpr (Archive::LOADS) object.clear = object.type != DOOR || object.state == OPEN_DOOR;
        }
        archive("carrying", carrying, 0, last);
        each_cell([&](int k, Pos p) { archive.item("cells", k, cell(p), 0, last); });
        if constexpr (Archive::LOADS) size_visits();
        archive.all("visits", visits_, 0, int64_t{1} << 53);
        archive.in("target", [&] {
            archive("object", target_.object, 0, last);
            archive("other", target_.other, 0, last);
            archive("type", target_.type, 0, AGENT);
            archive("color", target_.color, RED, GREY);
            exchange(archive, "pos", target_.pos, 0);
            exchange(archive, "bad", target_.bad, 0);
        });
        if (babyai_) exchange_task(archive, last);
        if constexpr (Archive::LOADS) {
            find_goal();
            ready_ = true;
        }
    }
    // Each object is in one place: in the cell where it says it is, in the agent's hands or in a box. Objects in a box
    // or picked up were in no cell before.
    void validate() const {
        const int count = static_cast<int>(objects.size());
        std::vector<bool> placed(count);
        const auto place = [&](int k, const std::string& where, const char* expected) {
            if (k != NOTHING && (k < FIRST || placed[k])) refuse_state(where, expected, std::to_string(k));
            placed[k] = true;
        };
        for (int k = FIRST; k < count; ++k) {
            const Pos at = objects[k].at;
            if ((at.x < 0) != (at.y < 0)) {
                refuse_state(name_of_item("objects", k) + ".at", "a cell, or -1 for both",
                             std::to_string(at.x) + " and " + std::to_string(at.y));
            }
            placed[k] = on_grid(k);
        }
        each_cell([&](int k, Pos p) {
            const int object = cell(p);
            if (object >= FIRST && !(objects[object].at == p)) {
                refuse_state(name_of_item("cells", k), "an existing object", std::to_string(object));
            }
        });
        place(carrying, "carrying", "an object that is nowhere else");
        if (carrying && !is_portable(carrying)) {
            refuse_state("carrying", "a key, ball or box", std::to_string(carrying));
        }
        for (int k = FIRST; k < count; ++k) {
            if (objects[k].contains && (on_grid(k) || k == carrying)) {
                place(objects[k].contains, name_of_item("objects", k) + ".contains", "an object that is nowhere else");
            }
        }
        if (will_carry() && !(object_ >= FIRST && on_grid(object_))) {
            refuse_state("moved", "an object in a cell", std::to_string(object_));
        }
        if (level_ && level_->step == &Game::step_dynamic_obstacles) {
            for (int k = FIRST; k < count; ++k) {
                if (!on_grid(k)) refuse_state(name_of_item("objects", k) + ".at", "a cell", "none");
            }
        }
    }

private:
    void step_level(int action) {
        if (babyai_) {
            step_mission(action);
        } else {
            (this->*level_->step)(action);
        }
    }

    void step_wrapped(int executed, int chosen) {
        const bool to_death = options->no_death && executed == FORWARD && is_death(front());
        step_level(executed);
        // NoDeath
        if (options->no_death && terminated && (to_death || is_death(agent))) {
            terminated = false;
            reward += options->death_cost;
        }
        if (options->bonus) {
            // ActionBonus, PositionBonus
            const size_t at = static_cast<size_t>(agent.y) * width + agent.x;
            int64_t& visits = visits_[options->bonus == OF_ACTIONS ? (at * 4 + dir) * NUM_ACTIONS + chosen : at];
            reward += 1 / std::sqrt(static_cast<double>(++visits)) * options->bonus_scale;
        }
    }

    bool is_death(Pos p) const {
        const int k = cell(p);
        return k != NOTHING && options->no_death >> objects[k].type & 1;
    }

    void size_visits() {
        const size_t num_cells = static_cast<size_t>(width) * height;
        visits_.resize(options->bonus ? num_cells * (options->bonus == OF_ACTIONS ? 4 * NUM_ACTIONS : 1) : 0);
    }

    template <class F> void each_cell(F&& f) const {
        for (int k = 0; k < width * height; ++k) f(k, Pos{k % width, k / width});
    }
    // of BabyAI's
    template <class Archive> void exchange_task(Archive& archive, int last) {
        archive("moved", object_, 0, last);
        if constexpr (Archive::LOADS) noted_.assign(cells_.size(), 0);
        each_cell([&](int k, Pos p) { archive.item("noted", k, noted_[index(p)], 0, 255); });
        archive.in("task", [&] {
            archive("order", task_.order, ALONE, AFTER);
            archive.each("clauses", task_.clauses, [&](Clause& clause) {
                archive("size", clause.size, 1, 2);
                archive("status", clause.status, CONTINUE, FAILURE);
                archive.all("done", clause.done, CONTINUE, FAILURE);
                archive.each("parts", clause.parts, [&](Instruction& part) {
                    archive("verb", part.verb, GO_TO, PUT_NEXT);
                    archive("strict", part.strict, 0, 1);
                    archive("bit_a", part.bit_a, 0, 255);
                    archive("bit_b", part.bit_b, 0, 255);
                    archive("carried", part.carried, 0, last);
                });
            });
        });
    }
    template <class Archive> void exchange(Archive& archive, const char* name, Pos& p, int low) {
        archive.in(name, [&] {
            archive("x", p.x, low, width - 1);
            archive("y", p.y, low, height - 1);
        });
    }

    template <class Level, size_t N> static const Level* find(const Level (&levels)[N], const std::string& name) {
        const Level* end = levels + N;
        const Level* found = std::find_if(levels, end, [&](const Level& each) { return name == each.name; });
        return found == end ? nullptr : found;
    }

    // of options->bonus; they last longer than an episode
    enum { OF_ACTIONS = 1, NUM_ACTIONS = 7 };
    std::vector<int64_t> visits_;
    // each step reads these: together, and next to the members of MiniGrid
    const Level* level_ = nullptr;  // one of the two
    const BabyAILevel* babyai_ = nullptr;
    bool ready_ = false;
    bool is_wrapped_ = false;  // by NoDeath, or for a bonus
};

}  // namespace cypool::minigrid
