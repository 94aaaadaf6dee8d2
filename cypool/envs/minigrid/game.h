// A level by its name: which function draws it, and which steps it.
#pragma once

#include <cmath>
#include <limits>

#include "observations.h"

namespace cypool::minigrid {

class Game : public Observations {
public:
    // false: no such level
    bool configure(const std::string& name, const Options& given, const std::string& text);

    // Raises std::runtime_error where there is no room for what is to be placed.
    void reset() {
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
            const int at = agent.y * width + agent.x;
            int32_t& visits = visits_[options.bonus == OF_ACTIONS ? (at * 4 + dir) * MOST_ACTIONS + asked : at];
            reward += 1 / std::sqrt(static_cast<double>(++visits)) * options.bonus_scale;
        }
    }

    std::vector<int32_t> save() {
        Saver saver;
        exchange(saver);
        return saver.numbers;
    }
    // false: these are not the numbers of a state of this level; then nothing of the state is of use
    bool load(const int32_t* numbers, size_t count) {
        Loader loader{numbers, numbers + count};
        exchange(loader);
        find_goal();
        return loader.good && loader.next == loader.end;
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
        visits_.resize(options.bonus ? width * height * (options.bonus == OF_ACTIONS ? 4 * MOST_ACTIONS : 1) : 0);
    }

    struct Saver {
        static constexpr bool LOADS = false;
        std::vector<int32_t> numbers;
        template <class T> void operator()(T& value, int, int) { numbers.push_back(static_cast<int32_t>(value)); }
    };
    struct Loader {
        static constexpr bool LOADS = true;
        const int32_t *next, *end;
        bool good = true;
        template <class T> void operator()(T& value, int low, int high) {
            good = good && next != end && *next >= low && *next <= high;
            if (good) {
                value = static_cast<T>(*next++);
            }
        }
    };

    // all that step and observe depend on, but for the mission's text
    template <class Archive> void exchange(Archive& archive) {
        constexpr int MOST = std::numeric_limits<int>::max() - 1;
        if (Archive::LOADS) {
            clear(grid_width(), grid_height());
        }
        archive(step_count, 0, MOST);
        archive(max_steps, 1, MOST);
        archive(dir, 0, 3);
        exchange(archive, agent, 0);
        int count = static_cast<int>(objects.size());
        archive(count, FIRST, MOST_OBJECTS);
        objects.resize(count);
        for (int k = FIRST; k < count; ++k) {
            Object& object = objects[k];
            archive(object.type, DOOR, BOX);
            archive(object.color, RED, GREY);
            archive(object.state, 0, object.type == DOOR ? LOCKED_DOOR : 0);
            archive(object.matches, 0, 255);
            archive(object.contains, 0, count - 1);
            exchange(archive, object.at, -1);
            object.clear = object.type != DOOR || object.state == OPEN_DOOR;
        }
        archive(carrying, 0, count - 1);
        for (int y = 0; y < height; ++y) {
            for (int x = 0; x < width; ++x) {
                archive(cell(x, y), 0, count - 1);
            }
        }
        size_visits();
        for (int32_t& visits : visits_) {
            archive(visits, 0, MOST);
        }
        archive(target_.object, 0, count - 1);
        archive(target_.other, 0, count - 1);
        archive(target_.type, 0, AGENT);
        archive(target_.color, RED, GREY);
        exchange(archive, target_.pos, 0);
        exchange(archive, target_.bad, 0);
        if (!level_->generate) {
            return;
        }
        archive(object_, 0, count - 1);
        noted_.resize(cells_.size());
        for (int y = 0; y < height; ++y) {
            for (int x = 0; x < width; ++x) {
                archive(noted_[index({x, y})], 0, 255);
            }
        }
        archive(task_.order, ALONE, AFTER);
        for (Clause& clause : task_.clauses) {
            archive(clause.size, 1, 2);
            archive(clause.status, CONTINUE, FAILURE);
            for (int k = 0; k < 2; ++k) {
                Instruction& part = clause.parts[k];
                archive(clause.done[k], CONTINUE, FAILURE);
                archive(part.verb, GO_TO, PUT_NEXT);
                archive(part.strict, 0, 1);
                archive(part.bit_a, 0, 255);
                archive(part.bit_b, 0, 255);
                archive(part.carried, 0, count - 1);
            }
        }
    }
    template <class Archive> void exchange(Archive& archive, Pos& p, int least) {
        archive(p.x, least, width - 1);
        archive(p.y, least, height - 1);
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
    std::vector<int32_t> visits_;
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
    visits_.clear();
    max_steps = given.fixed_steps;
    mission = text;
    for (const Level& level : LEVELS) {
        if (name == level.name) {
            level_ = &level;
            return true;
        }
    }
    return false;
}

}  // namespace cypool::minigrid
