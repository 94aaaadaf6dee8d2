// minigrid's RoomGrid: rooms in rows and columns, their doors and objects; and the arguments of constructors.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cypool/envs/shared/rules/options.h"
#include "world.h"

namespace cypool::minigrid {

// The arguments of the levels' constructors and of the wrappers, and the numbers of levels.py. Each level reads some.
// Colours and types may be ANY.
struct Setup : Options {
    explicit Setup(const Options& given) : Options(given) {}
    using List = std::vector<int>;

    // of all levels
    int width = at("width"), height = at("height"), fixed_steps = at("fixed_steps");
    int see_through = at("see_through"), view = at("view"), highlight = at("highlight");
    int mission_length = at("mission_length");
    // of levels without rooms; positions are empty where they are drawn
    List start = at("agent_start_pos", at("agent_pos", List{})), goal = at("goal_pos", List{});
    int start_dir = at("agent_start_dir", 0), num_crossings = at("num_crossings", 0);
    int obstacle = at("obstacle_type", 0), strip2_row = at("strip2_row", 0), n_obstacles = at("n_obstacles", 0);
    int min_rooms = at("minNumRooms", 0), max_rooms = at("maxNumRooms", 0), max_room_size = at("maxRoomSize", 0);
    int random_length = at("random_length", 0);
    // of levels with rooms
    int room_size = at("room_size", 0), num_rows = at("num_rows", 0), num_cols = at("num_cols", 0);
    int obj_type = at("obj_type", 0), key_in_box = at("key_in_box", 0), blocked = at("blocked", 0);
    int num_quarters = at("num_quarters", 0), v1 = at("v1", 0);
    List agent_room = at("agent_room", List{});
    // of BabyAI's
    int num_dists = at("num_dists", 0), num_doors = at("num_doors", 0), objs_per_room = at("objs_per_room", 0);
    int select_by = at("select_by", ANY), first_color = at("first_color", ANY), second_color = at("second_color", ANY);
    int doors_open = at("doors_open", 0), debug = at("debug", at("strict", 0)), distractors = at("distractors", 0);
    int start_carrying = at("start_carrying", 0), level_gen = at("level_gen", 0), locations = at("locations", 0);
    int unblocking = at("unblocking", 0), implicit_unlock = at("implicit_unlock", 0);
    List action_kinds = at("action_kinds", List{}), instr_kinds = at("instr_kinds", List{});
    double locked_room_prob = at("locked_room_prob", 0.0);
    // of both: BabyAI has another name for it
    int num_objs = at("numObjs", at("num_objs", 0));
    // of NoDeath: a bit for each type of cell that does not end an episode, and its cost
    int no_death = at("no_death", 0);
    double death_cost = at("death_cost", 0.0);
    // of ActionBonus, 1, and PositionBonus, 2
    int bonus = at("bonus", 0);
    double bonus_scale = at("bonus_scale", 0.0);
    // of ViewSizeWrapper, which looks when reset is over
    int view_is_late = at("view_is_late", 0);
    // of StochasticActionWrapper: less than 0: none, any
    double action_prob = at("action_prob", -1.0);
    int random_action = at("random_action", -1), num_actions = at("num_actions");
    std::string generator = at("generator"), mission = at("mission");  // of all episodes, or ""
    // of observations: as in specs.py; tiles and numbers of their kinds, as in tiles.py; to the goal, by the way there
    int obs_type = at("obs_type");
    bool image_only = at("image_only");
    int tile_size = at("obs_tile_size");
    std::string tiles = at("tiles"), kinds = at("kinds");
    std::vector<double> directions = at("directions");
    std::vector<size_t> row_bytes = at("row_bytes");
};

struct Room {
    Pos top;
    int doors[4];  // the object; OPENING: no wall; 0: a wall
    Pos door_pos[4];
    bool locked;
};

class Rooms : public World {
public:
    std::shared_ptr<const Setup> options;

protected:
    static constexpr int OPENING = 1, TRIES = 1000;

    Room& room(int i, int j) { return rooms_[j * options->num_cols + i]; }
    bool has_neighbor(int i, int j, int d) const {
        const int x = i + DX[d], y = j + DY[d];
        return x >= 0 && x < options->num_cols && y >= 0 && y < options->num_rows;
    }
    Room& neighbor(int i, int j, int d) { return room(i + DX[d], j + DY[d]); }
    int num_rooms() const { return options->num_rows * options->num_cols; }
    int room_at(Pos p) const {
        const int step = options->room_size - 1;
        return p.y / step * options->num_cols + p.x / step;
    }
    // its walls are inside
    bool inside(int number, Pos p) const {
        const Pos top = rooms_[number].top;
        const int size = options->room_size;
        return p.x >= top.x && p.y >= top.y && p.x < top.x + size && p.y < top.y + size;
    }
    Pos room_extent() const { return {options->room_size, options->room_size}; }

    // RoomGrid._gen_grid
    void build() {
        const int size = options->room_size, step = size - 1, rows = options->num_rows, cols = options->num_cols;
        clear(options->width, options->height);
        rooms_.resize(num_rooms());
        for (int j = 0; j < rows; ++j) {
            for (int i = 0; i < cols; ++i) {
                room(i, j) = {{i * step, j * step}, {}, {}, false};
                rectangle(i * step, j * step, size, size);
            }
        }
        for (int j = 0; j < rows; ++j) {
            for (int i = 0; i < cols; ++i) {
                Room& here = room(i, j);
                const Pos top = here.top;
                if (i < cols - 1) {
                    here.door_pos[0] = {top.x + step, draw(top.y + 1, top.y + step)};
                    neighbor(i, j, 0).door_pos[2] = here.door_pos[0];
                }
                if (j < rows - 1) {
                    here.door_pos[1] = {draw(top.x + 1, top.x + step), top.y + step};
                    neighbor(i, j, 1).door_pos[3] = here.door_pos[1];
                }
            }
        }
        agent = {cols / 2 * step + size / 2, rows / 2 * step + size / 2};
        dir = 0;
    }

    // place_in_room: not next to the agent
    int place_in_room(int i, int j, int k) {
        const Pos from = agent;
        place(k, room(i, j).top, room_extent(), TRIES, [from](Pos p) { return distance(from, p) < 2; });
        objects[k].listed = true;
        return k;
    }

    int add_object(int i, int j, int kind, int color) {
        if (kind == ANY) kind = draw_of(KINDS);
        if (color == ANY) color = draw_color();
        return place_in_room(i, j, make(kind, color));
    }

    // `locked` may be ANY, too
    int add_door(int i, int j, int d, int color, int locked) {
        Room& here = room(i, j);
        if (d == ANY) {
            do {
                d = draw(0, 4);
            } while (!has_neighbor(i, j, d) || here.doors[d]);
        }
        if (color == ANY) color = draw_color();
        if (locked == ANY) locked = draw_bool();
        // the neighbour's is left as it is
        here.locked = locked;
        const int door = make(DOOR, color, locked);
        put(door, here.door_pos[d]);
        here.doors[d] = neighbor(i, j, d).doors[(d + 2) % 4] = door;
        return door;
    }

    void remove_wall(int i, int j, int d) {
        const Pos top = room(i, j).top;
        const int step = options->room_size - 1;
        if (d & 1) {
            horizontal(top.x + 1, top.y + (d == 1 ? step : 0), step - 1, NOTHING);
        } else {
            vertical(top.x + (d == 0 ? step : 0), top.y + 1, step - 1, NOTHING);
        }
        room(i, j).doors[d] = neighbor(i, j, d).doors[(d + 2) % 4] = OPENING;
    }

    // RoomGrid.place_agent: looking at nothing or at a wall
    void place_in(int i = ANY, int j = ANY) {
        if (i == ANY) i = draw(0, options->num_cols);
        if (j == ANY) j = draw(0, options->num_rows);
        do {
            place_agent(room(i, j).top, room_extent(), TRIES);
        } while (cell(front()) != NOTHING && cell(front()) != A_WALL);
    }

    // adds doors until all rooms can be reached from the agent's
    template <class List = std::array<int, 6>> void connect_all(const List& colors = COLORS) {
        reached_.assign(num_rooms(), 0);
        open_.clear();
        const auto reach = [this](int number) {
            if (!reached_[number]) {
                reached_[number] = 1;
                open_.push_back(number);
            }
        };
        reach(room_at(agent));
        size_t done = 0;
        for (int tries = 0; tries <= 5000; ++tries) {
            for (; done < open_.size(); ++done) {
                const int at = open_[done];
                for (int d = 0; d < 4; ++d) {
                    if (rooms_[at].doors[d]) reach(at + DY[d] * options->num_cols + DX[d]);
                }
            }
            if (static_cast<int>(done) == num_rooms()) return;
            const int i = draw(0, options->num_cols), j = draw(0, options->num_rows), d = draw(0, 4);
            if (!has_neighbor(i, j, d) || room(i, j).doors[d] || room(i, j).locked || neighbor(i, j, d).locked) {
                continue;
            }
            add_door(i, j, d, draw_of(colors), false);
            // only one of the two may be among those that were looked at
            const int here = j * options->num_cols + i, there = here + DY[d] * options->num_cols + DX[d];
            if (reached_[here]) {
                reach(there);
            } else if (reached_[there]) {
                reach(here);
            }
        }
        throw NoPlace{};
    }

    // add_distractors: a colour, then a kind, then the room unless it is given
    std::vector<int> add_distractors(int i, int j, int count, bool all_unique) {
        uint32_t known = 0;
        const auto bit = [](int kind, int color) { return uint32_t{1} << ((kind - KEY) * 6 + color); };
        for (size_t k = FIRST; k < objects.size(); ++k) {
            if (objects[k].listed) known |= bit(objects[k].type, objects[k].color);
        }
        std::vector<int> added;
        added.reserve(count);
        while (static_cast<int>(added.size()) < count) {
            const int color = draw_color(), kind = draw_of(KINDS);
            if (all_unique && (known & bit(kind, color))) continue;
            const int x = i == ANY ? draw(0, options->num_cols) : i, y = j == ANY ? draw(0, options->num_rows) : j;
            added.push_back(add_object(x, y, kind, color));
            known |= bit(kind, color);
        }
        return added;
    }
    std::vector<int> add_distractors(int count, bool all_unique = false) {
        return add_distractors(ANY, ANY, count, all_unique);
    }

    std::vector<Room> rooms_;

private:
    // of connect_all
    std::vector<uint8_t> reached_;
    std::vector<int> open_;
};

}  // namespace cypool::minigrid
