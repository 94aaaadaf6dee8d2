// A level by its name: which function draws it, and which steps it.
#pragma once

#include <cmath>
#include <limits>

#include "cypool/envs/common/state_archive.h"
#include "observations.h"

namespace cypool::minigrid {

class Game : public Observations {
public:
    // false: no such level
    bool configure(const std::string& name, const Options& given, const std::string& text);

    // Raises std::runtime_error where there is no room for what is to be placed.
    void reset() {
        ready_ = false;
        begin();
        try {
            if (level_->generate) {
                reset_mission(level_->generate);
            } else {
                (this->*level_->draw)();
            }
        } catch (const NoPlace&) {
            throw std::runtime_error("the level has no room for what is to be placed");
        }
        find_goal();
        size_visits();
        ready_ = true;
    }

    // what StochasticActionWrapper makes of an action is done; the bonus is for the action that was asked for
    void step(int action, int asked) {
        const bool to_death = options.no_death && action == FORWARD && is_death(front());
        (this->*level_->step)(action);
        // NoDeath
        if (options.no_death && terminated && (to_death || is_death(agent))) {
            terminated = false;
            reward += options.death_cost;
        }
        if (options.bonus) {
            // ActionBonus, PositionBonus
            const size_t at = static_cast<size_t>(agent.y) * width + agent.x;
            int64_t& visits = visits_[options.bonus == OF_ACTIONS ? (at * 4 + dir) * MOST_ACTIONS + asked : at];
            reward += 1 / std::sqrt(static_cast<double>(++visits)) * options.bonus_scale;
        }
    }

    // whether there is a level: not before a reset, nor after one that failed
    bool ready() const { return ready_; }
    // one of the same level that was never reset
    Game fresh() const {
        Game game;
        game.configure(level_->name, options, fixed_mission_);
        return game;
    }

    // all that step and observe depend on
    template <class Archive> void exchange(Archive& archive) {
        if constexpr (Archive::LOADS) clear(grid_width(), grid_height());
        if (fixed_mission_.empty()) archive.text("mission", mission, options.mission_length);
        archive("max_steps", max_steps, 1, std::numeric_limits<int>::max() - 1);
        archive("step_count", step_count, 0, max_steps);
        archive("dir", dir, 0, 3);
        exchange(archive, "agent", agent, 0);
        // the first ones are always the same
        archive.size("objects", objects, FIRST, MOST_OBJECTS);
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
        if (level_->generate) exchange_task(archive, last);
        if constexpr (Archive::LOADS) {
            find_goal();
            ready_ = true;
        }
    }
    // Each object is in one place: in the cell where it says it is, in the agent's hands or in a box. What was in a box
    // or picked up was nowhere before.
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
                refuse_state(name_of_item("objects", k) + ".at", "a cell, or -1 twice",
                             std::to_string(at.x) + " and " + std::to_string(at.y));
            }
            placed[k] = on_grid(k);
        }
        each_cell([&](int k, Pos p) {
            const int object = cell(p);
            if (object >= FIRST && !(objects[object].at == p)) {
                refuse_state(name_of_item("cells", k), "an object that is there", std::to_string(object));
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
        if (level_->step == &Game::step_dynamic_obstacles) {
            for (int k = FIRST; k < count; ++k) {
                if (!on_grid(k)) refuse_state(name_of_item("objects", k) + ".at", "a cell", "none");
            }
        }
    }

    // of a grid of this level
    int grid_width() const {
        return options.room_size ? (options.room_size - 1) * options.num_cols + 1 : options.width;
    }
    int grid_height() const {
        return options.room_size ? (options.room_size - 1) * options.num_rows + 1 : options.height;
    }

private:
    bool is_death(Pos p) const {
        const int k = cell(p);
        return k != NOTHING && options.no_death >> objects[k].type & 1;
    }

    void size_visits() {
        const size_t num_cells = static_cast<size_t>(width) * height;
        visits_.resize(options.bonus ? num_cells * (options.bonus == OF_ACTIONS ? 4 * MOST_ACTIONS : 1) : 0);
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
    template <class Archive> void exchange(Archive& archive, const char* name, Pos& p, int least) {
        archive.in(name, [&] {
            archive("x", p.x, least, width - 1);
            archive("y", p.y, least, height - 1);
        });
    }

    struct Level {
        const char* name;
        void (Game::*draw)();
        bool (BabyAI::*generate)();  // of BabyAI's, instead
        void (Game::*step)(int);
    };
    static constexpr Level level(const char* name, void (Game::*draw)(), void (Game::*step)(int) = &Game::move) {
        return {name, draw, nullptr, step};
    }
    static constexpr Level babyai(const char* name, bool (BabyAI::*generate)()) {
        return {name, nullptr, generate, &Game::step_mission};
    }
    static const Level LEVELS[];
    const Level* level_ = nullptr;
    // of options.bonus; they last longer than an episode
    enum { OF_ACTIONS = 1, MOST_ACTIONS = 7 };
    std::vector<int64_t> visits_;
    std::string fixed_mission_;  // of all episodes, or none
    bool ready_ = false;
};

inline const Game::Level Game::LEVELS[] = {
    level("empty", &Game::empty),
    level("crossing", &Game::crossing),
    level("dist_shift", &Game::dist_shift),
    level("door_key", &Game::door_key),
    level("dynamic_obstacles", &Game::dynamic_obstacles, &Game::step_dynamic_obstacles),
    level("fetch", &Game::fetch, &Game::step_fetch),
    level("four_rooms", &Game::four_rooms),
    level("go_to_door", &Game::go_to_door, &Game::step_go_to),
    level("go_to_object", &Game::go_to_object, &Game::step_go_to),
    level("key_corridor", &Game::key_corridor, &Game::step_pickup),
    level("lava_gap", &Game::lava_gap),
    level("locked_room", &Game::locked_room),
    level("memory", &Game::memory, &Game::step_memory),
    level("multi_room", &Game::multi_room),
    level("obstructed_maze", &Game::obstructed_maze, &Game::step_pickup),
    level("playground", &Game::playground),
    level("put_near", &Game::put_near, &Game::step_put_near),
    level("red_blue_doors", &Game::red_blue_doors, &Game::step_red_blue_doors),
    level("unlock", &Game::unlock, &Game::step_unlock),
    level("unlock_pickup", &Game::unlock_pickup, &Game::step_pickup),
    babyai("babyai_action_object_door", &Game::action_object_door),
    babyai("babyai_find_object", &Game::find_object),
    babyai("babyai_go_to", &Game::go_to),
    babyai("babyai_go_to_door", &Game::go_to_a_door),
    babyai("babyai_go_to_imp_unlock", &Game::go_to_imp_unlock),
    babyai("babyai_go_to_local", &Game::go_to_local),
    babyai("babyai_go_to_obj", &Game::go_to_object_of_one_room),
    babyai("babyai_go_to_obj_door", &Game::go_to_object_or_door),
    babyai("babyai_go_to_red_ball", &Game::go_to_red_ball),
    babyai("babyai_go_to_red_blue_ball", &Game::go_to_red_blue_ball),
    babyai("babyai_key_corridor", &Game::pickup_in_corridor),
    babyai("babyai_key_in_box", &Game::key_in_box),
    babyai("babyai_level_gen", &Game::level_gen),
    babyai("babyai_move_two_across", &Game::move_two_across),
    babyai("babyai_one_room", &Game::one_room),
    babyai("babyai_open", &Game::open_any),
    babyai("babyai_open_door", &Game::open_door),
    babyai("babyai_open_doors_order", &Game::open_doors_in_order),
    babyai("babyai_open_red_door", &Game::open_red_door),
    babyai("babyai_open_two_doors", &Game::open_two_doors),
    babyai("babyai_pickup", &Game::pick_up_any),
    babyai("babyai_pickup_above", &Game::pickup_above),
    babyai("babyai_pickup_dist", &Game::pickup_dist),
    babyai("babyai_put_next", &Game::put_next),
    babyai("babyai_put_next_local", &Game::put_next_local),
    babyai("babyai_unblock_pickup", &Game::unblock_pickup),
    babyai("babyai_unlock", &Game::unlock_a_room),
    babyai("babyai_unlock_local", &Game::unlock_local),
    babyai("babyai_unlock_pickup", &Game::unlock_pickup_box),
    babyai("babyai_unlock_to_unlock", &Game::unlock_to_unlock),
};

inline bool Game::configure(const std::string& name, const Options& given, const std::string& text) {
    options = given;
    view = given.view;
    see_through = given.see_through;
    max_steps = given.fixed_steps;
    mission = fixed_mission_ = text;
    for (const Level& level : LEVELS) {
        if (name == level.name) {
            level_ = &level;
            return true;
        }
    }
    return false;
}

}  // namespace cypool::minigrid
