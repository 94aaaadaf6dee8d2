// BabyAI's missions: instructions, the objects they mean, how they are verified; and the levels.
#pragma once

#include "levels.h"

namespace cypool::minigrid {

enum Verb : uint8_t { GO_TO, PICK_UP, OPEN, PUT_NEXT };
enum Place : int8_t { ON_LEFT, ON_RIGHT, IN_FRONT, BEHIND };
enum ClauseKind { ACTION, AND, SEQUENCE };
enum Order : uint8_t { ALONE, BEFORE, AFTER };
enum Status : uint8_t { CONTINUE, SUCCESS, FAILURE };

// ObjDesc
struct Description {
    int8_t type = ANY, color = ANY, place = ANY;
};

struct Instruction {
    Verb verb = GO_TO;
    uint8_t strict = 0;
    uint8_t bit_a = 0, bit_b = 0;  // in Object::matches
    uint16_t carried = NOTHING;    // before the last step in which it was verified
    Description a, b;
};

struct Clause {
    uint8_t size = 1;
    Status done[2] = {CONTINUE, CONTINUE}, status = CONTINUE;
    Instruction parts[2];
};

struct Task {
    Order order = ALONE;
    Clause clauses[2];
};

class BabyAI : public Levels {
protected:
    Task task_;
    int locked_ = ANY, object_ = NOTHING;  // the locked room; the object that PutNext moves
    std::vector<uint8_t> noted_;           // of each cell: which descriptions' objects lay there after the last drop

    template <class F> void each_instruction(F f) {
        for (int c = 0; c < (task_.order == ALONE ? 1 : 2); ++c) {
            for (int k = 0; k < task_.clauses[c].size; ++k) f(task_.clauses[c].parts[k]);
        }
    }

    // find_matching_objs, at the start of an episode
    bool matches(const Description& d, int k) const {
        const Object& object = objects[k];
        if ((d.type != ANY && object.type != d.type) || (d.color != ANY && object.color != d.color) || !on_grid(k)) {
            return false;
        }
        if (d.place == ANY) return true;
        const int x = object.at.x - agent.x, y = object.at.y - agent.y;
        const int along = x * DX[dir] + y * DY[dir], across = y * DX[dir] - x * DY[dir];
        const bool there = d.place == ON_LEFT    ? across < 0
                           : d.place == ON_RIGHT ? across > 0
                           : d.place == IN_FRONT ? along > 0
                                                 : along < 0;
        return there && inside(room_at(agent), object.at);
    }
    template <class F> void each_match(const Description& d, F f) const {
        work_ += static_cast<int64_t>(objects.size());
        for (int k = FIRST; k < static_cast<int>(objects.size()); ++k) {
            if (matches(d, k)) f(k);
        }
    }

    void say(const Description& d) {
        // walls match, too, where no type is asked for, and there are many
        int count = d.type == ANY && (d.color == ANY || d.color == GREY) ? 2 : 0;
        each_match(d, [&count](int) { ++count; });
        mission += count > 1 ? "a " : "the ";
        if (d.color != ANY) mission += name_of_color(d.color) + " ";
        mission += d.type == ANY ? "object" : name_of_type(d.type);
        constexpr const char* places[] = {" on your left", " on your right", " in front of you", " behind you"};
        if (d.place != ANY) mission += places[d.place];
    }
    void say_task() {
        mission.clear();
        for (int c = 0; c < (task_.order == ALONE ? 1 : 2); ++c) {
            if (c) mission += task_.order == BEFORE ? ", then " : " after you ";
            for (int k = 0; k < task_.clauses[c].size; ++k) {
                const Instruction& part = task_.clauses[c].parts[k];
                constexpr const char* verbs[] = {"go to ", "pick up ", "open ", "put "};
                mission += k ? " and " : "";
                mission += verbs[part.verb];
                say(part.a);
                if (part.verb == PUT_NEXT) {
                    mission += " next to ";
                    say(part.b);
                }
            }
        }
    }

    // validate_instrs
    bool is_valid(const Instruction& part) const {
        bool good = true;
        if (part.verb == PUT_NEXT) {
            each_match(part.a, [&](int k) {
                good = good && !matches(part.b, k);
                each_match(part.b, [&](int n) { good = good && distance(objects[k].at, objects[n].at) != 1; });
            });
        }
        if (!good || !options->level_gen || !options->unblocking) return good;
        for (const Object& door : objects) {
            if (door.type == DOOR && door.state == LOCKED_DOOR) {
                const auto opens = [&door](const Description& d) { return d.type == KEY && d.color == door.color; };
                good = good && !opens(part.a) && !opens(part.b);
            }
        }
        return good;
    }

    // check_objs_reachable: doors are no obstacles, locked or not; objects are reached from next to them
    bool all_reachable() {
        const int words = (width + 63) / 64;
        open_rows_.assign(static_cast<size_t>(words) * height, 0);
        lit_rows_.assign(open_rows_.size(), 0);
        const auto bit = [](int x) { return uint64_t{1} << (x & 63); };
        const auto word = [words](Pos p) { return p.y * words + (p.x >> 6); };
        for (int y = 0; y < height; ++y) {
            for (int x = 0; x < width; ++x) {
                const int k = cell({x, y});
                open_rows_[word({x, y})] |= k == NOTHING || is(k, DOOR) ? bit(x) : 0;
            }
        }
        lit_rows_[word(agent)] = bit(agent.x);
        // down, then up, until nothing is new; the frame of the grid is never open
        work_ += int64_t{2} * width * height;
        for (bool more = true; more;) {
            more = false;
            work_ += int64_t{6} * words * height;
            for (int n = 1; n < 2 * height - 3; ++n) {
                const int y = n < height - 1 ? n : 2 * height - 3 - n;
                for (int w = 0; w < words; ++w) {
                    const int at = y * words + w;
                    const uint64_t open = open_rows_[at];
                    uint64_t row = lit_rows_[at] | lit_rows_[at - words] | lit_rows_[at + words];
                    // from the words to the left and right
                    row |= w ? lit_rows_[at - 1] >> 63 : 0;
                    row |= w + 1 < words ? lit_rows_[at + 1] << 63 : 0;
                    row &= open;
                    for (uint64_t before = 0; row != before;) {
                        before = row;
                        row |= (row << 1 | row >> 1) & open;
                    }
                    more |= row != lit_rows_[at];
                    lit_rows_[at] = row;
                }
            }
        }
        for (int k = FIRST; k < static_cast<int>(objects.size()); ++k) {
            if (on_grid(k)) {
                const auto is_lit = [&](int x, int y) { return lit_rows_[word({x, y})] & bit(x); };
                const Pos p = objects[k].at;
                if (!(is_lit(p.x, p.y) || is_lit(p.x - 1, p.y) || is_lit(p.x + 1, p.y) || is_lit(p.x, p.y - 1)
                      || is_lit(p.x, p.y + 1))) {
                    return false;
                }
            }
        }
        return true;
    }

    // RoomGridLevel.reset
    void reset_mission(bool (BabyAI::*generate)()) {
        for (bool good = false; !good;) {
            start_again();
            try {
                build();
                task_ = {};
                good = (this->*generate)();
                each_instruction([&](const Instruction& part) { good = good && is_valid(part); });
            } catch (const NoPlace&) {
                good = false;
            }
        }
        say_task();
        int walks = 0;
        uint8_t bit = 1;
        const auto follow = [&](const Description& d) {
            each_match(d, [&](int k) { objects[k].matches |= bit; });
            const uint8_t own = bit;
            bit = static_cast<uint8_t>(bit << 1);
            return own;
        };
        each_instruction([&](Instruction& part) {
            part.bit_a = follow(part.a);
            part.bit_b = part.verb == PUT_NEXT ? follow(part.b) : uint8_t{0};
            walks += part.verb == PUT_NEXT ? 2 : 1;
        });
        note_places();
        max_steps =
            options->fixed_steps ? options->fixed_steps : walks * options->room_size * options->room_size * num_rooms();
    }
    void note_places() {
        noted_.assign(cells_.size(), 0);
        for (int k = FIRST; k < static_cast<int>(objects.size()); ++k) {
            if (objects[k].matches && on_grid(k)) noted_[index(objects[k].at)] |= objects[k].matches;
        }
    }

    Status verify(Instruction& part, int action) {
        const int before = part.carried;
        switch (part.verb) {
            case GO_TO: return noted_[index(front())] & part.bit_a ? SUCCESS : CONTINUE;
            case OPEN: {
                if (action != TOGGLE) return CONTINUE;
                const Object& ahead = objects[cell(front())];
                if (ahead.matches & part.bit_a && ahead.state == OPEN_DOOR) return SUCCESS;
                return part.strict && ahead.type == DOOR ? FAILURE : CONTINUE;
            }
            case PICK_UP:
                part.carried = static_cast<uint16_t>(carrying);
                if (action != PICKUP) return CONTINUE;
                if (!before && carrying && objects[carrying].matches & part.bit_a) return SUCCESS;
                return part.strict && carrying ? FAILURE : CONTINUE;
            default: break;
        }
        part.carried = static_cast<uint16_t>(carrying);
        if (part.strict && action == PICKUP && carrying) return FAILURE;
        if (action != DROP || !before || !(objects[before].matches & part.bit_a)) return CONTINUE;
        const int at = index(objects[before].at);
        const bool next_to =
            (noted_[at - 1] | noted_[at + 1] | noted_[at - stride()] | noted_[at + stride()]) & part.bit_b;
        return next_to ? SUCCESS : CONTINUE;
    }
    Status verify(Clause& clause, int action) {
        if (clause.size == 1) return verify(clause.parts[0], action);
        // a part that is done stays so; none fails
        for (int k = 0; k < 2; ++k) {
            if (clause.done[k] != SUCCESS) clause.done[k] = verify(clause.parts[k], action);
        }
        return clause.done[0] == SUCCESS && clause.done[1] == SUCCESS ? SUCCESS : CONTINUE;
    }
    Status verify_task(int action) {
        if (task_.order == ALONE) return verify(task_.clauses[0], action);
        Clause& first = task_.clauses[task_.order == AFTER];
        if (first.status != SUCCESS) {
            first.status = verify(first, action);
            if (first.status != SUCCESS) return first.status;
        }
        // in the step that finishes the first, too
        return verify(task_.clauses[task_.order == BEFORE], action);
    }
    // the first observation shows the object on the floor; for all else the agent has it
    bool will_carry() const { return options->start_carrying && step_count == 0; }
    void step_mission(int action) {
        if (will_carry()) {
            cell(objects[object_].at) = NOTHING;
            carrying = object_;
        }
        move(action);
        if (action == DROP) note_places();
        const Status status = verify_task(action);
        if (status != CONTINUE) finish(status == SUCCESS);
    }

    // instructions

    static Description describe(int type, int color = ANY, int place = ANY) {
        return {static_cast<int8_t>(type), static_cast<int8_t>(color), static_cast<int8_t>(place)};
    }
    Description like(int k) const { return describe(objects[k].type, objects[k].color); }
    Instruction instruct(Verb verb, Description a, Description b = {}) const {
        return {.verb = verb, .strict = options->debug && !options->level_gen, .a = a, .b = b};
    }
    bool set_task(const Instruction& part) {
        task_.clauses[0].parts[0] = part;
        return true;
    }
    bool set_task(Order order, const Instruction& a, const Instruction& b) {
        task_.order = order;
        task_.clauses[0].parts[0] = a;
        task_.clauses[1].parts[0] = b;
        return true;
    }
    bool set_task_of_one(Verb verb, const std::vector<int>& objects_) {
        return set_task(instruct(verb, like(draw_of(objects_))));
    }

    // LevelGen

    Description draw_description(int first, int end) {
        constexpr int kinds[] = {BOX, BALL, KEY, DOOR};
        for (int tries = 0; tries <= 100; ++tries) {
            Description d;
            const int color = draw(0, 7);
            d.color = static_cast<int8_t>(color ? COLORS[color - 1] : ANY);
            d.type = static_cast<int8_t>(kinds[draw(first, end)]);
            if (options->locations && draw_bool()) d.place = static_cast<int8_t>(draw(0, 4));
            bool found = false;
            // one outside the locked room, if unlocking that is not part of a mission
            each_match(d, [&](int k) {
                found |= options->implicit_unlock || locked_ == ANY || !inside(locked_, objects[k].at);
            });
            if (found) return d;
        }
        throw NoPlace{};
    }
    Instruction draw_instruction() {
        const Verb verb = static_cast<Verb>(draw_of(options->action_kinds));
        const Description a = draw_description(verb == OPEN ? 3 : 0, verb == GO_TO || verb == OPEN ? 4 : 3);
        return instruct(verb, a, verb == PUT_NEXT ? draw_description(0, 4) : Description{});
    }
    void draw_clause(Clause& clause, int kind) {
        clause.size = kind == AND ? 2 : 1;
        for (int k = 0; k < clause.size; ++k) clause.parts[k] = draw_instruction();
    }
    bool level_gen() {
        const int rows = options->num_rows, cols = options->num_cols;
        locked_ = ANY;
        if (uniform_draw() < options->locked_room_prob) {
            int door = 0;
            while (!door) {
                const int i = draw(0, cols), j = draw(0, rows), d = draw(0, 4);
                locked_ = j * cols + i;
                if (has_neighbor(i, j, d)) door = add_door(i, j, d, ANY, true);
            }
            int i, j;
            do {
                i = draw(0, cols);
                j = draw(0, rows);
            } while (j * cols + i == locked_);
            add_object(i, j, KEY, objects[door].color);
        }
        connect_all();
        add_distractors(options->num_dists);
        place_outside_locked();
        if (!options->unblocking && !all_reachable()) return false;
        const int kind = draw_of(options->instr_kinds);
        if (kind == SEQUENCE) {
            draw_clause(task_.clauses[0], draw(0, 2));
            draw_clause(task_.clauses[1], draw(0, 2));
            task_.order = draw(0, 2) == 0 ? BEFORE : AFTER;
        } else {
            draw_clause(task_.clauses[0], kind);
        }
        return true;
    }
    double uniform_draw() { return uniform(stream, 0, 1); }
    void place_outside_locked() {
        do {
            place_in();
        } while (room_at(agent) == locked_);
    }

    // the other levels: false rejects the drawn level

    bool go_to_red_ball() {
        place_in();
        const int ball = add_object(0, 0, BALL, RED);
        for (const int k : add_distractors(options->num_dists)) {
            if (options->select_by == GREY) objects[k].color = GREY;
        }
        return all_reachable() && set_task(instruct(GO_TO, like(ball)));
    }
    std::vector<int> doors_of_rooms() {
        std::vector<int> doors;
        for (int i = 0; i < options->num_cols; ++i) {
            for (int j = 0; j < options->num_rows; ++j) {
                for (const int door : room(i, j).doors) {
                    if (door) doors.push_back(door);
                }
            }
        }
        return doors;
    }
    // go to, pick up or open one of many things
    bool one_of_many() {
        place_in();
        connect_all();
        const std::vector<int> added = add_distractors(options->num_dists);
        // UnblockPickup: to be reached only after others are moved
        if (all_reachable() == options->unblocking) return false;
        const Verb verb = static_cast<Verb>(options->action_kinds[0]);
        set_task_of_one(verb, verb == OPEN ? doors_of_rooms() : added);
        for (int k = FIRST; options->doors_open && k < static_cast<int>(objects.size()); ++k) {
            if (is(k, DOOR)) open(k);
        }
        return true;
    }
    // the reference compares NumPy's integers with `is`, so that the key may lie in any room
    int lock_a_room() {
        const int i = draw(0, options->num_cols), j = draw(0, options->num_rows), door = add_door(i, j, ANY, ANY, true);
        locked_ = j * options->num_cols + i;
        const int x = draw(0, options->num_cols);
        add_object(x, draw(0, options->num_rows), KEY, objects[door].color);
        return door;
    }
    bool fill_rooms(int count) {
        for (int i = 0; i < options->num_cols; ++i) {
            for (int j = 0; j < options->num_rows; ++j) add_distractors(i, j, count, false);
        }
        place_outside_locked();
        return all_reachable();
    }
    bool go_to_imp_unlock() {
        lock_a_room();
        connect_all();
        if (!fill_rooms(2)) return false;
        const int k = add_distractors(locked_ % options->num_cols, locked_ / options->num_cols, 1, false)[0];
        return set_task(instruct(GO_TO, like(k)));
    }
    bool unlock_a_room() {
        const int door = lock_a_room();
        if (draw_bool()) {
            std::vector<int> colors(COLORS.begin(), COLORS.end());
            std::erase(colors, objects[door].color);
            connect_all(colors);
        } else {
            connect_all();
        }
        return fill_rooms(3) && set_task(instruct(OPEN, like(door)));
    }
    bool go_to_red_blue_ball() {
        place_in();
        for (const int k : add_distractors(options->num_dists)) {
            if (is(k, BALL) && (objects[k].color == BLUE || objects[k].color == RED)) return false;
        }
        const int ball = add_object(0, 0, BALL, draw(0, 2) ? BLUE : RED);
        return all_reachable() && set_task(instruct(GO_TO, like(ball)));
    }
    void add_four_doors(std::vector<int>& added, int locked) {
        for (int k = 0; k < 4; ++k) added.push_back(add_door(1, 1, ANY, ANY, locked));
    }
    bool go_to_a_door() {
        std::vector<int> doors;
        add_four_doors(doors, ANY);
        place_in(1, 1);
        return set_task_of_one(GO_TO, doors);
    }
    bool go_to_object_or_door() {
        place_in(1, 1);
        std::vector<int> added = add_distractors(1, 1, 8, false);
        add_four_doors(added, ANY);
        return all_reachable() && set_task_of_one(GO_TO, added);
    }
    bool open_red_door() {
        add_door(0, 0, 0, RED, false);
        place_in(0, 0);
        return set_task(instruct(OPEN, describe(DOOR, RED)));
    }
    bool open_door() {
        const std::vector<int> colors = draw_some(COLORS, 4);
        for (int d = 0; d < 4; ++d) add_door(1, 1, d, colors[d], false);
        const int by = options->select_by == ANY ? draw(0, 2) : options->select_by;
        const Description door = by == 0 ? describe(DOOR, colors[0]) : describe(DOOR, ANY, draw(0, 4));
        place_in(1, 1);
        return set_task(instruct(OPEN, door));
    }
    bool open_two_doors() {
        const std::vector<int> colors = draw_some(COLORS, 2);
        const int a = add_door(1, 1, 2, options->first_color == ANY ? colors[0] : options->first_color, false);
        const int b = add_door(1, 1, 0, options->second_color == ANY ? colors[1] : options->second_color, false);
        place_in(1, 1);
        Instruction second = instruct(OPEN, like(b));
        second.strict = false;
        return set_task(BEFORE, instruct(OPEN, like(a)), second);
    }
    bool open_doors_in_order() {
        std::vector<int> doors;
        for (const int color : draw_some(COLORS, options->num_doors)) {
            doors.push_back(add_door(1, 1, ANY, color, false));
        }
        place_in(1, 1);
        const std::vector<int> two = draw_some(doors, 2);
        const Instruction a = instruct(OPEN, like(two[0])), b = instruct(OPEN, like(two[1]));
        const int mode = draw(0, 3);
        return mode == 0 ? set_task(a) : set_task(mode == 1 ? BEFORE : AFTER, a, b);
    }
    bool pickup_dist() {
        const std::vector<int> added = add_distractors(5, true);
        place_in(0, 0);
        Description d = like(draw_of(added));
        // type, colour or both
        const int by = draw(0, 3);
        if (by == 0) {
            d.color = ANY;
        } else if (by == 1) {
            d.type = ANY;
        }
        return set_task(instruct(PICK_UP, d));
    }
    bool pickup_above() {
        const int k = add_object(1, 0, ANY, ANY);
        add_door(1, 1, 3, ANY, false);
        place_in(1, 1);
        connect_all();
        return set_task(instruct(PICK_UP, like(k)));
    }
    bool put_next_local() {
        place_in();
        const std::vector<int> added = add_distractors(options->num_objs, true);
        if (!all_reachable()) return false;
        const std::vector<int> two = draw_some(added, 2);
        return set_task(instruct(PUT_NEXT, like(two[0]), like(two[1])));
    }
    std::pair<std::vector<int>, std::vector<int>> fill_two_sides() {
        place_in(0, 0);
        std::vector<int> left = add_distractors(0, 0, options->objs_per_room, true);
        std::vector<int> right = add_distractors(1, 0, options->objs_per_room, true);
        remove_wall(0, 0, 0);
        return {left, right};
    }
    bool put_next() {
        const auto [left, right] = fill_two_sides();
        int a = draw_of(left), b = draw_of(right);
        if (draw_bool()) std::swap(a, b);
        object_ = a;
        return set_task(instruct(PUT_NEXT, like(a), like(b)));
    }
    bool move_two_across() {
        const auto [left, right] = fill_two_sides();
        const std::vector<int> l = draw_some(left, 2), r = draw_some(right, 2);
        return set_task(BEFORE, instruct(PUT_NEXT, like(l[0]), like(r[0])), instruct(PUT_NEXT, like(r[1]), like(l[1])));
    }
    bool unlock_local() {
        const int door = add_door(1, 1, ANY, ANY, true), key = make(KEY, objects[door].color);
        place_in_room(1, 1, options->key_in_box ? make(BOX, draw_color(), false, key) : key);
        if (options->distractors) add_distractors(1, 1, 3, true);
        place_in(1, 1);
        return set_task(instruct(OPEN, describe(DOOR)));
    }
    // and BlockedUnlockPickup, which asks for any box
    bool unlock_pickup_box() {
        const int box = fill_locked_room();
        return set_task(instruct(PICK_UP, options->blocked ? describe(BOX) : like(box)));
    }
    bool unlock_to_unlock() {
        const std::vector<int> colors = draw_some(COLORS, 2);
        add_door(0, 0, 0, colors[0], true);
        add_object(2, 0, KEY, colors[0]);
        add_door(1, 0, 0, colors[1], true);
        add_object(1, 0, KEY, colors[1]);
        add_object(0, 0, BALL, ANY);
        place_in(1, 0);
        return set_task(instruct(PICK_UP, describe(BALL)));
    }
    bool action_object_door() {
        std::vector<int> added = add_distractors(1, 1, 5, true);
        add_four_doors(added, false);
        place_in(1, 1);
        const int k = draw_of(added);
        const Verb verb = draw_bool() ? GO_TO : is(k, DOOR) ? OPEN : PICK_UP;
        return set_task(instruct(verb, like(k)));
    }
    bool find_object() {
        // the reference draws a column from the rows
        const int i = draw(0, options->num_rows), j = draw(0, options->num_cols), k = add_object(i, j, ANY, ANY);
        place_in(1, 1);
        connect_all();
        return set_task(instruct(PICK_UP, describe(objects[k].type)));
    }
    bool pickup_in_corridor() {
        fill_key_corridor();
        return set_task(instruct(PICK_UP, describe(options->obj_type)));
    }
    bool one_room() {
        add_object(0, 0, BALL, ANY);
        place_in();
        return set_task(instruct(PICK_UP, describe(BALL)));
    }

    // all that draw a level
    struct BabyAILevel {
        const char* name;
        bool (BabyAI::*generate)();
    };
    static const BabyAILevel BABYAI_LEVELS[];

private:
    std::vector<uint64_t> open_rows_, lit_rows_;
};

#define CYPOOL_LEVEL(name) {#name, &BabyAI::name}
inline const BabyAI::BabyAILevel BabyAI::BABYAI_LEVELS[] = {
    CYPOOL_LEVEL(action_object_door),
    CYPOOL_LEVEL(find_object),
    CYPOOL_LEVEL(go_to_a_door),
    CYPOOL_LEVEL(go_to_imp_unlock),
    CYPOOL_LEVEL(go_to_object_or_door),
    CYPOOL_LEVEL(go_to_red_ball),
    CYPOOL_LEVEL(go_to_red_blue_ball),
    CYPOOL_LEVEL(pickup_in_corridor),
    CYPOOL_LEVEL(level_gen),
    CYPOOL_LEVEL(move_two_across),
    CYPOOL_LEVEL(one_of_many),
    CYPOOL_LEVEL(one_room),
    CYPOOL_LEVEL(open_door),
    CYPOOL_LEVEL(open_doors_in_order),
    CYPOOL_LEVEL(open_red_door),
    CYPOOL_LEVEL(open_two_doors),
    CYPOOL_LEVEL(pickup_above),
    CYPOOL_LEVEL(pickup_dist),
    CYPOOL_LEVEL(put_next),
    CYPOOL_LEVEL(put_next_local),
    CYPOOL_LEVEL(unlock_a_room),
    CYPOOL_LEVEL(unlock_local),
    CYPOOL_LEVEL(unlock_pickup_box),
    CYPOOL_LEVEL(unlock_to_unlock),
};
#undef CYPOOL_LEVEL

}  // namespace cypool::minigrid
