// A level by its name: which function draws it, and which steps it.
#pragma once

#include "babyai.h"

namespace cypool::minigrid {

class Game : public BabyAI {
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
    }

    void step(int action) { (this->*level_->step)(action); }

private:
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
