// The levels of minigrid.envs: how each is drawn, and the additions of its step to that of the world.
#pragma once

#include "rooms.h"

namespace cypool::minigrid {

class Levels : public Rooms {
protected:
    // a level's memory of the episode: objects, or their types and colours, and cells
    struct Target {
        int object, other, type, color;
        Pos pos, bad;
    };
    Target target_{};

    std::string named(int k) const { return name_of_color(objects[k].color) + " " + name_of_type(objects[k].type); }

    void frame() {
        clear(options->width, options->height);
        rectangle(0, 0, width, height);
    }
    void start() {
        if (options->start.empty()) {
            place_agent();
        } else {
            agent = {options->start[0], options->start[1]};
            dir = options->start_dir;
        }
    }
    void start_in_corner() {
        agent = {1, 1};
        dir = 0;
    }
    void goal_in_corner() { put(A_GOAL, {width - 2, height - 2}); }

    void empty() {
        frame();
        goal_in_corner();
        start();
    }

    void crossing() {
        frame();
        start_in_corner();
        goal_in_corner();
        // rivers: even numbers are vertical ones, odd ones horizontal
        std::vector<int> rivers;
        for (int i = 2; i < height - 2; i += 2) rivers.push_back(2 * i);
        for (int j = 2; j < width - 2; j += 2) rivers.push_back(2 * j + 1);
        shuffle(stream, rivers.data(), static_cast<int>(rivers.size()));
        rivers.resize(std::min<size_t>(rivers.size(), options->num_crossings));
        std::sort(rivers.begin(), rivers.end());
        std::vector<int> limits_v{0}, limits_h{0}, path;
        for (const int river : rivers) (river & 1 ? limits_h : limits_v).push_back(river / 2);
        for (size_t k = 1; k < limits_h.size(); ++k) horizontal(1, limits_h[k], width - 2, options->obstacle);
        for (size_t k = 1; k < limits_v.size(); ++k) vertical(limits_v[k], 1, height - 2, options->obstacle);
        // openings on a random path: 1 goes right, through a vertical river
        path.assign(limits_v.size() - 1, 1);
        path.resize(rivers.size(), 0);
        shuffle(stream, path.data(), static_cast<int>(path.size()));
        limits_v.push_back(height - 1);
        limits_h.push_back(width - 1);
        int i = 0, j = 0;
        for (const int goes_right : path) {
            if (goes_right) {
                const int y = draw(limits_h[j] + 1, limits_h[j + 1]);
                cell(limits_v[++i], y) = NOTHING;
            } else {
                const int x = draw(limits_v[i] + 1, limits_v[i + 1]);
                cell(x, limits_h[++j]) = NOTHING;
            }
        }
    }

    void dist_shift() {
        frame();
        put(A_GOAL, {width - 2, 1});
        horizontal(3, 1, width - 6, A_LAVA);
        horizontal(3, options->strip2_row, width - 6, A_LAVA);
        start();
    }

    void door_key() {
        frame();
        goal_in_corner();
        const int split = draw(2, width - 2);
        vertical(split, 0, height);
        place_agent({0, 0}, {split, height});
        const int y = draw(1, height - 2);
        put(make(DOOR, YELLOW, true), {split, y});
        place(make(KEY, YELLOW), {0, 0}, {split, height});
    }

    // the balls are the only objects
    void dynamic_obstacles() {
        empty();
        for (int k = 0; k < options->n_obstacles; ++k) place(make(BALL, BLUE), {0, 0}, {width, height}, 100);
    }
    void step_dynamic_obstacles(int action) {
        draws_ = 0;
        const int ahead = cell(front());
        for (int k = FIRST; k < static_cast<int>(objects.size()); ++k) {
            const Pos old = objects[k].at;
            try {
                place(k, {old.x - 1, old.y - 1}, {3, 3}, 100);
                cell(old) = NOTHING;
            } catch (const NoPlace&) {
                // it stays where it is
            }
        }
        move(action);
        if (action == FORWARD && ahead != NOTHING && ahead != A_GOAL) {
            reward = -1;
            terminated = true;
        }
    }

    void fetch() {
        frame();
        for (int k = 0; k < options->num_objs; ++k) {
            const int kind = draw_of(std::array<int, 2>{KEY, BALL});
            place(make(kind, draw_color()));
        }
        place_agent();
        const int k = FIRST + draw(0, options->num_objs);
        target_.type = objects[k].type;
        target_.color = objects[k].color;
        constexpr const char* syntax[] = {"get a ", "go get a ", "fetch a ", "go fetch a ", "you must fetch a "};
        mission = syntax[draw(0, 5)] + named(k);
    }
    void step_fetch(int action) {
        move(action);
        if (carrying) finish(is_target(carrying));
    }
    bool is_target(int k) const { return objects[k].type == target_.type && objects[k].color == target_.color; }

    // n * n rooms, with an opening in each wall, which `open` fills; the last `margin` cells of a wall have none
    template <class Open> void divide(int n, int margin, Open open) {
        frame();
        const int w = width / n, h = height / n;
        for (int j = 0; j < n; ++j) {
            for (int i = 0; i < n; ++i) {
                const int x = i * w, y = j * h;
                if (i < n - 1) {
                    vertical(x + w, y, h);
                    open(Pos{x + w, draw(y + 1, y + h - margin)});
                }
                if (j < n - 1) {
                    horizontal(x, y + h, w);
                    open(Pos{draw(x + 1, x + w - margin), y + h});
                }
            }
        }
    }

    void four_rooms() {
        divide(2, 0, [this](Pos p) { cell(p) = NOTHING; });
        if (options->start.empty()) {
            place_agent();
        } else {
            agent = {options->start[0], options->start[1]};
            cell(agent) = NOTHING;
            dir = draw(0, 4);
        }
        if (options->goal.empty()) {
            place(A_GOAL);
        } else {
            put(A_GOAL, {options->goal[0], options->goal[1]});
        }
    }

    void go_to_door() {
        clear(options->width, options->height);
        const int w = draw(5, width + 1), h = draw(5, height + 1);
        rectangle(0, 0, w, h);
        std::array<Pos, 4> doors;
        doors[0] = {draw(2, w - 2), 0};
        doors[1] = {draw(2, w - 2), h - 1};
        doors[2] = {0, draw(2, h - 2)};
        doors[3] = {w - 1, draw(2, h - 2)};
        std::vector<int> colors;
        while (colors.size() < doors.size()) {
            const int color = draw_color();
            if (std::find(colors.begin(), colors.end(), color) == colors.end()) colors.push_back(color);
        }
        for (size_t k = 0; k < doors.size(); ++k) put(make(DOOR, colors[k]), doors[k]);
        place_agent({0, 0}, {w, h});
        const int k = FIRST + draw(0, 4);
        target_.pos = objects[k].at;
        mission = "go to the " + named(k);
    }
    void step_go_to(int action) {
        move(action);
        if (action == TOGGLE || action == DONE) finish(action == DONE && distance(agent, target_.pos) == 1);
    }

    static bool is_near(Pos a, Pos b) { return std::abs(a.x - b.x) <= 1 && std::abs(a.y - b.y) <= 1; }

    // objects that differ in type or colour, and may have to lie apart
    void place_different(bool apart) {
        frame();
        const auto others = [this](auto test) { return std::any_of(objects.begin() + FIRST, objects.end(), test); };
        for (int n = 0; n < options->num_objs;) {
            const int kind = draw_of(KINDS), color = draw_color();
            if (others([=](const Object& o) { return o.type == kind && o.color == color; })) continue;
            const auto rejects = [&](Pos p) {
                return apart && others([p](const Object& o) { return o.at.x >= 0 && is_near(p, o.at); });
            };
            place(make(kind, color), {0, 0}, {width, height}, ANY, rejects);
            ++n;
        }
        place_agent();
    }
    void go_to_object() {
        place_different(false);
        const int k = FIRST + draw(0, options->num_objs);
        target_.pos = objects[k].at;
        mission = "go to the " + named(k);
    }
    void put_near() {
        place_different(true);
        const int k = FIRST + draw(0, options->num_objs);
        int other;
        do {
            other = FIRST + draw(0, options->num_objs);
        } while (other == k);
        target_.type = objects[k].type;
        target_.color = objects[k].color;
        target_.pos = objects[other].at;
        mission = "put the " + named(k) + " near the " + named(other);
    }
    void step_put_near(int action) {
        const int carried = carrying;
        move(action);
        if (action == PICKUP && carrying && !is_target(carrying)) finish(false);
        if (action == DROP && carried) finish(cell(front()) == carried && is_near(front(), target_.pos));
    }

    void lava_gap() {
        frame();
        start_in_corner();
        goal_in_corner();
        const int x = draw(2, width - 2), y = draw(1, height - 1);
        vertical(x, 1, height - 2, options->obstacle);
        cell(x, y) = NOTHING;
    }

    void locked_room() {
        frame();
        const int left = width / 2 - 2, right = width / 2 + 2, third = height / 3;
        vertical(left, 0, height);
        vertical(right, 0, height);
        std::vector<Pos> tops;
        for (int n = 0; n < 3; ++n) {
            horizontal(0, n * third, left);
            horizontal(right, n * third, width - right);
            tops.push_back({0, n * third});
            tops.push_back({right, n * third});
        }
        const auto inside = [&](Pos top) {
            const int x = draw(top.x + 1, top.x + left);
            return Pos{x, draw(top.y + 1, top.y + third)};
        };
        const int locked = draw(0, 6);
        put(A_GOAL, inside(tops[locked]));
        // a colour for each room, of the rest of them
        const std::vector<int> colors = draw_some(COLORS, 6);
        for (int n = 0; n < 6; ++n) put(make(DOOR, colors[n], n == locked), {n & 1 ? right : left, tops[n].y + 3});
        int with_key;
        do {
            with_key = draw(0, 6);
        } while (with_key == locked);
        put(make(KEY, colors[locked]), inside(tops[with_key]));
        place_agent({left, 0}, {right - left, height});
        const std::string color = name_of_color(colors[locked]);
        mission = "get the " + color + " key from the " + name_of_color(colors[with_key]) + " room, unlock the " + color
                  + " door and go to the goal";
    }

    void memory() {
        frame();
        const int middle = height / 2, up = middle - 2, low = middle + 2;
        const int end = options->random_length ? draw(4, width - 2) : width - 3;
        horizontal(1, up, 4);
        horizontal(1, low, 4);
        // the hallway begins next to the start's room
        horizontal(4, up + 1, std::max(end - 4, 1));
        horizontal(4, low - 1, std::max(end - 4, 1));
        for (int y = 0; y < height; ++y) {
            if (y != middle) cell(end, y) = A_WALL;
            cell(end + 2, y) = A_WALL;
        }
        agent = {draw(1, end + 1), middle};
        dir = 0;
        const int first = draw(0, 2) == 0 ? KEY : BALL;
        put(make(first, GREEN), {1, middle - 1});
        const bool ball_above = draw(0, 2) == 0;
        put(make(ball_above ? BALL : KEY, GREEN), {end + 1, middle - 2});
        put(make(ball_above ? KEY : BALL, GREEN), {end + 1, middle + 2});
        target_.pos = {end + 1, middle - 1};
        target_.bad = {end + 1, middle + 1};
        if ((first == BALL) != ball_above) std::swap(target_.pos, target_.bad);
    }
    void step_memory(int action) {
        move(action == PICKUP ? int{TOGGLE} : action);
        if (agent == target_.pos || agent == target_.bad) finish(agent == target_.pos);
    }

    struct Box {
        Pos top, size, door;
    };
    // MultiRoom._placeRoom: one more room behind a door in its `wall`, then those behind it; no room is taken back
    bool place_rooms(int left, std::vector<Box>& rooms, int wall, Pos door) {
        const int w = draw(4, options->max_room_size + 1), h = draw(4, options->max_room_size + 1);
        Pos top = door;
        if (!rooms.empty()) {
            (wall & 1 ? top.x : top.y) = wall & 1 ? draw(door.x - w + 2, door.x) : draw(door.y - h + 2, door.y);
            if (wall == 0) top.x = door.x - w + 1;
            if (wall == 1) top.y = door.y - h + 1;
        }
        if (top.x < 0 || top.y < 0 || top.x + w > width || top.y + h >= height) return false;
        work_ += static_cast<int64_t>(rooms.size());
        // the room before may touch it
        for (size_t k = 0; k + 1 < rooms.size(); ++k) {
            const Pos other = rooms[k].top, size = rooms[k].size;
            if (top.x + w >= other.x && other.x + size.x > top.x && top.y + h >= other.y && other.y + size.y > top.y) {
                return false;
            }
        }
        rooms.push_back({top, {w, h}, door});
        if (left == 1) return true;
        for (int tries = 0; tries < 8; ++tries) {
            int exit = draw(0, 3);
            exit += exit >= wall;
            const int along = draw(1, (exit & 1 ? w : h) - 1);
            const Pos p = exit & 1 ? Pos{top.x + along, exit == 1 ? top.y + h - 1 : top.y}
                                   : Pos{exit == 0 ? top.x + w - 1 : top.x, top.y + along};
            if (place_rooms(left - 1, rooms, (exit + 2) % 4, p)) break;
        }
        return true;
    }
    void multi_room() {
        clear(options->width, options->height);
        const int count = draw(options->min_rooms, options->max_rooms + 1);
        std::vector<Box> rooms, best;
        while (static_cast<int>(best.size()) < count) {
            start_again();
            rooms.clear();
            // both are drawn within the width
            const int x = draw(0, width - 2);
            place_rooms(count, rooms, 2, {x, draw(0, width - 2)});
            if (rooms.size() > best.size()) best = rooms;
        }
        int color = ANY;
        for (size_t k = 0; k < best.size(); ++k) {
            rectangle(best[k].top.x, best[k].top.y, best[k].size.x, best[k].size.y);
            if (k > 0) {
                std::vector<int> colors(COLORS.begin(), COLORS.end());
                std::erase(colors, color);
                color = draw_of(colors);
                put(make(DOOR, color), best[k].door);
            }
        }
        place_agent(best.front().top, best.front().size);
        place(A_GOAL, best.back().top, best.back().size);
    }

    void playground() {
        divide(3, 1, [this](Pos p) { put(make(DOOR, draw_color()), p); });
        place_agent();
        for (int k = 0; k < 12; ++k) {
            const int kind = draw_of(KINDS);
            place(make(kind, draw_color()));
        }
    }

    void red_blue_doors() {
        clear(options->width, options->height);
        const int size = height, left = size / 2, right = left + size - 1;
        rectangle(0, 0, width, size);
        rectangle(left, 0, size, size);
        place_agent({left, 0}, {size, size});
        target_.object = make(DOOR, RED);
        put(target_.object, {left, draw(1, size - 1)});
        target_.other = make(DOOR, BLUE);
        put(target_.other, {right, draw(1, size - 1)});
    }
    bool is_open(int door) const { return objects[door].state == OPEN_DOOR; }
    void step_red_blue_doors(int action) {
        const bool red_was_open = is_open(target_.object), blue_was_open = is_open(target_.other);
        move(action);
        if (is_open(target_.other)) {
            finish(red_was_open);
        } else if (is_open(target_.object) && blue_was_open) {
            finish(false);
        }
    }

    // levels of rooms

    void unlock() {
        build();
        target_.object = add_door(0, 0, 0, ANY, true);
        add_object(0, 0, KEY, objects[target_.object].color);
        place_in(0, 0);
    }
    void step_unlock(int action) {
        move(action);
        if (action == TOGGLE && is_open(target_.object)) finish(true);
    }

    // a box behind a locked door, which a ball may block: returns the box
    int fill_locked_room() {
        const int box = add_object(1, 0, BOX, ANY), door = add_door(0, 0, 0, ANY, true);
        if (options->blocked) {
            const Pos p = objects[door].at;
            put(make(BALL, draw_color()), {p.x - 1, p.y});
        }
        add_object(0, 0, KEY, objects[door].color);
        if (options->distractors) add_distractors(4, true);
        place_in(0, 0);
        return box;
    }
    // and blocked_unlock_pickup
    void unlock_pickup() {
        build();
        target_.object = fill_locked_room();
        mission = "pick up the " + named(target_.object);
    }
    void step_pickup(int action) {
        move(action);
        if (action == PICKUP && carrying && carrying == target_.object) finish(true);
    }

    // a hallway between rooms: returns the object in the locked one
    int fill_key_corridor() {
        const int rows = options->num_rows;
        for (int j = 1; j < rows; ++j) remove_wall(1, j, 3);
        const int row = draw(0, rows), door = add_door(2, row, 2, ANY, true);
        const int object = add_object(2, row, options->obj_type, ANY);
        add_object(0, draw(0, rows), KEY, objects[door].color);
        place_in(1, rows / 2);
        connect_all();
        return object;
    }
    void key_corridor() {
        build();
        target_.object = fill_key_corridor();
        mission = "pick up the " + named(target_.object);
    }

    void add_maze_key(int i, int j, int color) {
        const int key = make(KEY, color);
        place_in_room(i, j, options->key_in_box ? make(BOX, GREY, false, key) : key);
    }
    void add_maze_door(int i, int j, int d, int color, bool locked, bool with_key) {
        const Pos p = objects[add_door(i, j, d, color, locked)].at;
        if (locked && options->blocked) put(make(BALL, GREEN), {p.x - DX[d], p.y - DY[d]});
        if (locked && with_key) add_maze_key(i, j, color);
    }
    void obstructed_maze() {
        build();
        const std::vector<int> colors = draw_some(COLORS, 6);
        if (options->num_cols == 2) {
            add_maze_door(0, 0, 0, colors[0], true, true);
            target_.object = add_object(1, 0, BALL, BLUE);
            place_in(0, 0);
        } else {
            constexpr Pos sides[] = {{2, 1}, {1, 2}, {0, 1}, {1, 0}}, corners[] = {{2, 0}, {2, 2}, {0, 2}, {0, 0}};
            for (int i = 0; i < options->num_quarters; ++i) {
                const Pos side = sides[i];
                add_maze_door(1, 1, i, colors[i], false, false);
                for (const int k : {-1, 1}) {
                    add_maze_door(side.x, side.y, (i + k + 4) % 4, colors[(i + k + 6) % 6], true, !options->v1);
                }
                // v1 places keys when all balls lie before the doors
                for (const int k : {-1, 1}) {
                    if (options->v1) add_maze_key(side.x, side.y, colors[(i + k + 6) % 6]);
                }
            }
            const Pos corner = corners[draw(0, options->num_quarters)];
            target_.object = add_object(corner.x, corner.y, BALL, BLUE);
            place_in(options->agent_room[0], options->agent_room[1]);
        }
        mission = "pick up the blue ball";
    }

    // all functions that draw a level, and the one that steps it
    struct Level {
        const char* name;
        void (Levels::*generate)();
        void (Levels::*step)(int);
    };
    static const Level LEVELS[];
};

#define CYPOOL_LEVEL(name, step) {#name, &Levels::name, &Levels::step}
inline const Levels::Level Levels::LEVELS[] = {
    CYPOOL_LEVEL(empty, move),
    CYPOOL_LEVEL(crossing, move),
    CYPOOL_LEVEL(dist_shift, move),
    CYPOOL_LEVEL(door_key, move),
    CYPOOL_LEVEL(dynamic_obstacles, step_dynamic_obstacles),
    CYPOOL_LEVEL(fetch, step_fetch),
    CYPOOL_LEVEL(four_rooms, move),
    CYPOOL_LEVEL(go_to_door, step_go_to),
    CYPOOL_LEVEL(go_to_object, step_go_to),
    CYPOOL_LEVEL(key_corridor, step_pickup),
    CYPOOL_LEVEL(lava_gap, move),
    CYPOOL_LEVEL(locked_room, move),
    CYPOOL_LEVEL(memory, step_memory),
    CYPOOL_LEVEL(multi_room, move),
    CYPOOL_LEVEL(obstructed_maze, step_pickup),
    CYPOOL_LEVEL(playground, move),
    CYPOOL_LEVEL(put_near, step_put_near),
    CYPOOL_LEVEL(red_blue_doors, step_red_blue_doors),
    CYPOOL_LEVEL(unlock, step_unlock),
    CYPOOL_LEVEL(unlock_pickup, step_pickup),
};
#undef CYPOOL_LEVEL

}  // namespace cypool::minigrid
