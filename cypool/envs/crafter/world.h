// Crafter's world and its rules.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

#include "cypool/envs/shared/rules/state_archive.h"
#include "cypool/envs/crafter/random_state.h"

namespace cypool::crafter {

// clang-format off
// these and the next two as crafter's data.yaml has them, in its order
enum Material : uint8_t {
    NO_MATERIAL, WATER, GRASS, STONE, PATH, SAND, TREE, LAVA, COAL, IRON, DIAMOND, TABLE, FURNACE, NUM_MATERIALS
};
enum Item {
    HEALTH, FOOD, DRINK, ENERGY, SAPLING, WOOD_ITEM, STONE_ITEM, COAL_ITEM, IRON_ITEM, DIAMOND_ITEM, WOOD_PICKAXE,
    STONE_PICKAXE, IRON_PICKAXE, WOOD_SWORD, STONE_SWORD, IRON_SWORD, NUM_ITEMS
};
enum Achievement {
    COLLECT_COAL, COLLECT_DIAMOND, COLLECT_DRINK, COLLECT_IRON, COLLECT_SAPLING, COLLECT_STONE, COLLECT_WOOD,
    DEFEAT_SKELETON, DEFEAT_ZOMBIE, EAT_COW, EAT_PLANT, MAKE_IRON_PICKAXE, MAKE_IRON_SWORD, MAKE_STONE_PICKAXE,
    MAKE_STONE_SWORD, MAKE_WOOD_PICKAXE, MAKE_WOOD_SWORD, DO_PLACE_FURNACE, DO_PLACE_PLANT, DO_PLACE_STONE,
    DO_PLACE_TABLE, WAKE_UP, NUM_ACHIEVEMENTS
};
enum Action {
    NOOP, MOVE_LEFT, MOVE_RIGHT, MOVE_UP, MOVE_DOWN, DO, SLEEP, PLACE_STONE, PLACE_TABLE, PLACE_FURNACE,
    PLACE_PLANT, MAKE_FIRST
};
// clang-format on
// in the order of the semantic map, whose numbers follow those of materials
enum Kind : uint8_t { NOBODY, PLAYER, COW, ZOMBIE, SKELETON, ARROW, PLANT, NUM_KINDS };
enum Direction : uint8_t { LEFT, RIGHT, UP, DOWN };
constexpr int STEP_X[] = {-1, 1, 0, 0}, STEP_Y[] = {0, 0, -1, 1};

constexpr uint32_t set_of(std::initializer_list<Material> materials) {
    uint32_t set = 0;
    for (Material m : materials) set |= 1u << m;
    return set;
}
constexpr bool contains(uint32_t set, Material m) { return set >> m & 1; }
constexpr uint32_t WALKABLE = set_of({GRASS, PATH, SAND});
// by kind: where it may be
constexpr uint32_t HABITATS[NUM_KINDS] = {0,        WALKABLE | set_of({LAVA}),        WALKABLE,       WALKABLE,
                                          WALKABLE, WALKABLE | set_of({WATER, LAVA}), set_of({GRASS})};
constexpr int MAX_HEALTH[NUM_KINDS] = {0, 0, 3, 5, 3, 0, 1};
constexpr int MAX_ITEMS = 9, RIPE = 300, CHUNK = 12;
// a number that grows without end stays below 2**31 for as long as a game may last
constexpr int32_t MAX_COUNT = 1 << 30;
constexpr int32_t MAX_COUNTS[NUM_KINDS] = {0, 0, 0, 5, 4, 0, MAX_COUNT};

struct Options {
    int area[2], view[2], size[2];
    int length;  // 0: no end
};

// The sizes that follow from the options.
struct Shape {
    Shape() = default;
    explicit Shape(const Options& options) : length(options.length) {
        width = options.area[0];
        height = options.area[1];
        const int rows_of_items = (NUM_ITEMS + options.view[0] - 1) / options.view[0];
        columns = options.view[0];
        rows = options.view[1] - rows_of_items;
        reach = 2 * std::max(options.view[0], options.view[1]);
        noisy_pixels =
            int64_t{columns} * (options.size[0] / options.view[0]) * rows * (options.size[1] / options.view[1]);
    }
    int cells() const { return width * height; }
    int chunks_down() const { return (height + CHUNK - 1) / CHUNK; }
    int chunks() const { return (width + CHUNK - 1) / CHUNK * chunks_down(); }

    int width, height, length;
    int columns, rows;     // cells of the local view
    int reach;             // objects farther from the player stand still
    int64_t noisy_pixels;  // of a picture at night
};

// Half a cache line: a step looks at all of them.
struct Object {
    int16_t x, y, chunk, health;
    int32_t count;  // a zombie's cooldown, a skeleton's reload, a plant's age
    int32_t previous, next, chunk_previous, chunk_next;
    Kind kind;
    Direction facing;
    bool removed;
};
static_assert(sizeof(Object) == 32);

struct Chunk {
    int32_t first, last;  // of its objects, in the order in which they came
    int16_t materials[NUM_MATERIALS];
    int16_t kinds[NUM_KINDS];
    bool known;  // whether it ever had an object
};

// The hash of the tuple (a, b) of ints in Python, modulo 2**31 - 1; from the hashes of a and b.
inline uint32_t hash_of_pair(int64_t a, int64_t b) {
    constexpr uint64_t PRIME_1 = 11400714785074694791u, PRIME_2 = 14029467366897019727u, PRIME_5 = 2870177450012600261u;
    uint64_t hash = PRIME_5;
    for (const int64_t part : {a, b}) {
        hash += static_cast<uint64_t>(part) * PRIME_2;
        hash = (hash << 31 | hash >> 33) * PRIME_1;
    }
    hash += 2 ^ (PRIME_5 ^ 3527539u);
    if (hash == ~uint64_t{0}) hash = 1546275796u;
    const int64_t rest = static_cast<int64_t>(hash) % 2147483647;
    return static_cast<uint32_t>(rest < 0 ? rest + 2147483647 : rest);
}

class World {
public:
    World() = default;
    explicit World(const Shape& shape)
        : shape(shape),
          materials(shape.cells()),
          semantic(shape.cells()),
          occupant(shape.cells()),
          chunks(shape.chunks()) {
        // more are rare
        objects.reserve(256 + shape.cells() / 16);
        spare.reserve(64);
        chunk_order.reserve(shape.chunks());
        // a meadow, so that it can be played before its first episode
        std::fill(materials.begin(), materials.end(), GRASS);
        random.seed(0);
        begin();
        survey();
    }

    // Before the first episode; the hash of a seed is Python's.
    void start(int64_t hash_of_seed) {
        seed_hash = hash_of_seed;
        episode = 0;
    }
    bool has_begun() const { return episode > 0; }

    void reset() {
        ++episode;
        random.seed(hash_of_pair(seed_hash, episode));
        begin();
        generate();
    }

    void step(int action) {
        if (is_dark()) random.skip(2 * shape.noisy_pixels);
        ++step_count;
        update_daylight();
        const int end = last;
        for (int slot = first, next;; slot = next) {
            next = objects[slot].next;
            if (distance_to_player(objects[slot].x, objects[slot].y) < shape.reach) update(slot, action);
            if (slot == end) break;
        }
        if (step_count % 10 == 0) {
            for (size_t k = 0; k < chunk_order.size(); ++k) balance(chunk_order[k]);
        }
        const int health = inventory[HEALTH];
        reward = (health - health_at_step) / 10.0;
        health_at_step = health;
        uint32_t achieved = 0;
        for (int k = 0; k < NUM_ACHIEVEMENTS; ++k) achieved |= uint32_t{achievements[k] > 0} << k;
        if (achieved & ~unlocked) reward += 1.0;
        unlocked |= achieved;
    }

    bool is_dead() const { return inventory[HEALTH] <= 0; }
    bool is_over() const { return shape.length != 0 && step_count >= shape.length; }
    // The picture of each step at night takes two numbers for each of its pixels from the stream: `step` leaves out
    // those of the last picture, so that it need not be drawn, and can be drawn twice.
    bool is_dark() const { return daylight < 0.5; }
    const Object& player() const { return objects[PLAYER_SLOT]; }
    int at(int x, int y) const { return x * shape.height + y; }
    bool is_inside(int x, int y) const {
        return static_cast<unsigned>(x) < static_cast<unsigned>(shape.width)
               && static_cast<unsigned>(y) < static_cast<unsigned>(shape.height);
    }

    bool ready() const { return true; }
    std::unique_ptr<World> fresh() const { return std::make_unique<World>(shape); }
    template <class Archive> void exchange(Archive& archive);
    void validate() const {}

    Shape shape{};
    int64_t seed_hash = 0, episode = 0;
    int32_t step_count = 0;
    double daylight = 1;
    RandomState random;
    std::vector<uint8_t> materials, semantic;  // by cell, column by column
    std::vector<int32_t> occupant;             // the slot of the object there, or 0
    std::vector<Object> objects;               // by slot
    int32_t inventory[NUM_ITEMS] = {}, achievements[NUM_ACHIEVEMENTS] = {};
    bool is_sleeping = false;
    double reward = 0;

    // For tests that follow crafter's own choices, which depend on addresses in memory: how many creatures it has to
    // choose among in the coming steps, each time that there are several, and in which cells they are, in its order.
    void follow(const int32_t* numbers, size_t count) {
        choices.assign(numbers, numbers + count);
        next_choice = 0;
    }

private:
    static constexpr int PLAYER_SLOT = 1;

    int chunk_at(int x, int y) const { return x / CHUNK * shape.chunks_down() + y / CHUNK; }
    Material material_at(int x, int y) const { return static_cast<Material>(materials[at(x, y)]); }
    int distance_to_player(int x, int y) const { return std::abs(x - player().x) + std::abs(y - player().y); }
    void hurt(int slot, int damage) {
        if (slot == PLAYER_SLOT) {
            inventory[HEALTH] = std::max(0, inventory[HEALTH] - damage);
        } else {
            objects[slot].health = static_cast<int16_t>(std::max(0, objects[slot].health - damage));
        }
    }

    void update_daylight() {
        const double progress = std::fmod(step_count / 300.0, 1.0) + 0.3;
        daylight = 1 - std::pow(std::fabs(std::cos(3.141592653589793 * progress)), 3.0);
    }

    // an episode, with only the player
    void begin() {
        step_count = 0;
        update_daylight();
        clear();
        std::fill_n(inventory, int{NUM_ITEMS}, 0);
        std::fill_n(achievements, int{NUM_ACHIEVEMENTS}, 0);
        for (const Item item : {HEALTH, FOOD, DRINK, ENERGY}) inventory[item] = MAX_ITEMS;
        is_sleeping = false;
        health_at_update = health_at_step = MAX_ITEMS;
        hunger = thirst = fatigue = recovery = 0;
        unlocked = 0;
        reward = 0;
        const int player = add(PLAYER, shape.width / 2, shape.height / 2, 0);
        objects[player].facing = DOWN;
    }

    // the parts that follow from the materials and the places of objects
    void survey() {
        for (int x = 0; x < shape.width; ++x) {
            for (int y = 0; y < shape.height; ++y) ++chunks[chunk_at(x, y)].materials[material_at(x, y)];
        }
        std::memcpy(semantic.data(), materials.data(), materials.size());
        for (int slot = first; slot; slot = objects[slot].next) enter_cell(slot);
    }

    void clear() {
        std::fill(occupant.begin(), occupant.end(), 0);
        std::memset(static_cast<void*>(chunks.data()), 0, chunks.size() * sizeof(Chunk));
        chunk_order.clear();
        spare.clear();
        objects.assign(1, Object{});
        first = last = 0;
    }

    // ---- cells and objects

    void set_material(int x, int y, Material m) {
        const int cell = at(x, y);
        Chunk& chunk = chunks[chunk_at(x, y)];
        --chunk.materials[materials[cell]];
        ++chunk.materials[m];
        materials[cell] = m;
        if (!occupant[cell]) semantic[cell] = m;
    }
    void enter_cell(int slot) {
        const Object& object = objects[slot];
        const int cell = at(object.x, object.y);
        occupant[cell] = slot;
        semantic[cell] = static_cast<uint8_t>(NUM_MATERIALS - 1 + object.kind);
    }
    void leave_cell(int slot) {
        const int cell = at(objects[slot].x, objects[slot].y);
        occupant[cell] = 0;
        semantic[cell] = materials[cell];
    }
    void enter_chunk(int slot) {
        Object& object = objects[slot];
        object.chunk = static_cast<int16_t>(chunk_at(object.x, object.y));
        Chunk& chunk = chunks[object.chunk];
        if (!chunk.known) {
            chunk.known = true;
            chunk_order.push_back(object.chunk);
        }
        ++chunk.kinds[object.kind];
        object.chunk_previous = chunk.last;
        object.chunk_next = 0;
        (chunk.last ? objects[chunk.last].chunk_next : chunk.first) = slot;
        chunk.last = slot;
    }
    void leave_chunk(int slot) {
        const Object& object = objects[slot];
        Chunk& chunk = chunks[object.chunk];
        --chunk.kinds[object.kind];
        (object.chunk_previous ? objects[object.chunk_previous].chunk_next : chunk.first) = object.chunk_next;
        (object.chunk_next ? objects[object.chunk_next].chunk_previous : chunk.last) = object.chunk_previous;
    }

    int add(Kind kind, int x, int y, int health) {
        int slot = static_cast<int>(objects.size());
        if (spare.empty()) {
            objects.emplace_back();
        } else {
            slot = spare.back();
            spare.pop_back();
        }
        append(slot, Object{static_cast<int16_t>(x), static_cast<int16_t>(y), 0, static_cast<int16_t>(health), 0, 0, 0,
                            0, 0, kind, LEFT, false});
        enter_chunk(slot);
        return slot;
    }
    void append(int slot, const Object& object) {
        objects[slot] = object;
        objects[slot].previous = last;
        objects[slot].next = 0;
        (last ? objects[last].next : first) = slot;
        last = slot;
        enter_cell(slot);
    }
    // from everything but its slot: the dead act once more
    void remove(int slot) {
        Object& object = objects[slot];
        leave_cell(slot);
        leave_chunk(slot);
        (object.previous ? objects[object.previous].next : first) = object.next;
        (object.next ? objects[object.next].previous : last) = object.previous;
        object.removed = true;
    }
    bool is_free(int x, int y, uint32_t habitat) const {
        return is_inside(x, y) && !occupant[at(x, y)] && contains(habitat, material_at(x, y));
    }
    // whether the way is free, even for those who are gone
    bool move(int slot, int dx, int dy) {
        Object& object = objects[slot];
        const int x = object.x + dx, y = object.y + dy;
        if (!is_free(x, y, HABITATS[object.kind])) return false;
        if (object.removed) return true;
        leave_cell(slot);
        object.x = static_cast<int16_t>(x);
        object.y = static_cast<int16_t>(y);
        enter_cell(slot);
        if (chunk_at(x, y) != object.chunk) {
            leave_chunk(slot);
            enter_chunk(slot);
        }
        return true;
    }

    // ---- creatures

    void update(int slot, int action) {
        switch (objects[slot].kind) {
            case PLAYER: update_player(action); break;
            case COW: update_cow(slot); break;
            case ZOMBIE: update_zombie(slot); break;
            case SKELETON: update_skeleton(slot); break;
            case ARROW: update_arrow(slot); break;
            default: update_plant(slot); break;
        }
        if (objects[slot].removed) spare.push_back(slot);
    }

    // a step to the player, along the longer of the two distances or the shorter one; {0, 0} if there is none
    struct Step {
        int x, y;
    };
    Step toward_player(const Object& object, bool long_axis) const {
        const int dx = player().x - object.x, dy = player().y - object.y;
        const bool along_x = long_axis ? std::abs(dx) > std::abs(dy) : std::abs(dx) <= std::abs(dy);
        return along_x ? Step{(dx > 0) - (dx < 0), 0} : Step{0, (dy > 0) - (dy < 0)};
    }
    bool move_toward_player(int slot, bool long_axis, int sign = 1) {
        const Step step = toward_player(objects[slot], long_axis);
        return move(slot, sign * step.x, sign * step.y);
    }
    void wander(int slot) {
        const uint32_t direction = random.below(4);
        move(slot, STEP_X[direction], STEP_Y[direction]);
    }
    int distance_of(int slot) const { return distance_to_player(objects[slot].x, objects[slot].y); }

    void update_cow(int slot) {
        if (objects[slot].health <= 0) remove(slot);
        if (random.real() < 0.5) wander(slot);
    }

    void update_zombie(int slot) {
        if (objects[slot].health <= 0) remove(slot);
        if (distance_of(slot) <= 8 && random.real() < 0.9) {
            move_toward_player(slot, random.real() < 0.8);
        } else {
            wander(slot);
        }
        if (distance_of(slot) > 1) return;
        int32_t& cooldown = objects[slot].count;
        if (cooldown) {
            --cooldown;
        } else {
            hurt(PLAYER_SLOT, is_sleeping ? 7 : 2);
            cooldown = 5;
        }
    }

    void update_skeleton(int slot) {
        if (objects[slot].health <= 0) remove(slot);
        objects[slot].count = std::max(0, objects[slot].count - 1);
        const int distance = distance_of(slot);
        if (distance <= 3 && move_toward_player(slot, random.real() < 0.6, -1)) return;
        if (distance <= 5 && random.real() < 0.5) {
            shoot(slot);
        } else if (distance <= 8 && random.real() < 0.3) {
            move_toward_player(slot, random.real() < 0.6);
        } else if (random.real() < 0.2) {
            wander(slot);
        }
    }
    void shoot(int slot) {
        if (objects[slot].count > 0) return;
        const Step step = toward_player(objects[slot], true);
        const int x = objects[slot].x + step.x, y = objects[slot].y + step.y;
        if ((!step.x && !step.y) || !is_free(x, y, HABITATS[ARROW])) return;
        const int arrow = add(ARROW, x, y, 0);
        objects[arrow].facing = step.x < 0 ? LEFT : step.x > 0 ? RIGHT : step.y < 0 ? UP : DOWN;
        objects[slot].count = 4;
    }

    void update_arrow(int slot) {
        const int dx = STEP_X[objects[slot].facing], dy = STEP_Y[objects[slot].facing];
        const int x = objects[slot].x + dx, y = objects[slot].y + dy;
        const int other = is_inside(x, y) ? occupant[at(x, y)] : 0;
        if (other) {
            hurt(other, 2);
            remove(slot);
        } else if (!move(slot, dx, dy)) {
            remove(slot);
            if (is_inside(x, y) && (material_at(x, y) == TABLE || material_at(x, y) == FURNACE))
                set_material(x, y, PATH);
        }
    }

    void update_plant(int slot) {
        Object& plant = objects[slot];
        ++plant.count;
        for (int k = 0; k < 4; ++k) {
            const int x = plant.x + STEP_X[k], y = plant.y + STEP_Y[k];
            if (!is_inside(x, y)) continue;
            const Kind kind = objects[occupant[at(x, y)]].kind;
            if (kind == ZOMBIE || kind == SKELETON || kind == COW) {
                hurt(slot, 1);
                break;
            }
        }
        if (plant.health <= 0) remove(slot);
    }

    // ---- the player

    void update_player(int action) {
        // the cell ahead before it acts
        const int x = player().x + STEP_X[player().facing], y = player().y + STEP_Y[player().facing];
        if (is_sleeping) {
            if (inventory[ENERGY] < MAX_ITEMS) {
                action = SLEEP;
            } else {
                is_sleeping = false;
                ++achievements[WAKE_UP];
            }
        }
        if (action >= MOVE_LEFT && action <= MOVE_DOWN) {
            const int direction = action - MOVE_LEFT;
            objects[PLAYER_SLOT].facing = static_cast<Direction>(direction);
            move(PLAYER_SLOT, STEP_X[direction], STEP_Y[direction]);
            if (material_at(player().x, player().y) == LAVA) inventory[HEALTH] = 0;
        } else if (action == DO) {
            if (is_inside(x, y) && occupant[at(x, y)]) {
                do_object(occupant[at(x, y)]);
            } else if (is_inside(x, y)) {
                do_material(x, y);
            }
        } else if (action == SLEEP) {
            is_sleeping |= inventory[ENERGY] < MAX_ITEMS;
        } else if (action >= PLACE_STONE && action <= PLACE_PLANT) {
            place(action - PLACE_STONE, x, y);
        } else if (action >= MAKE_FIRST) {
            make(action - MAKE_FIRST);
        }
        update_needs();
        update_health();
        for (int32_t& amount : inventory) amount = std::clamp(amount, 0, MAX_ITEMS);
        if (inventory[HEALTH] < health_at_update) is_sleeping = false;
        health_at_update = inventory[HEALTH];
    }

    // hunger, thirst and recovery are counted in halves
    void update_needs() {
        hunger += is_sleeping ? 1 : 2;
        inventory[FOOD] -= passes(hunger, hunger > 2 * 25);
        thirst += is_sleeping ? 1 : 2;
        inventory[DRINK] -= passes(thirst, thirst > 2 * 20);
        fatigue = is_sleeping ? std::min(fatigue - 1, 0) : fatigue + 1;
        inventory[ENERGY] += passes(fatigue, fatigue < -10);
        inventory[ENERGY] -= passes(fatigue, fatigue > 30);
    }
    // a counter begins again behind its limit
    static bool passes(int32_t& counter, bool is_behind) {
        if (is_behind) counter = 0;
        return is_behind;
    }
    void update_health() {
        const bool is_well = inventory[FOOD] > 0 && inventory[DRINK] > 0 && (inventory[ENERGY] > 0 || is_sleeping);
        recovery += is_well ? (is_sleeping ? 4 : 2) : (is_sleeping ? -1 : -2);
        inventory[HEALTH] += passes(recovery, recovery > 2 * 25);
        if (passes(recovery, recovery < 2 * -15)) hurt(PLAYER_SLOT, 1);
    }

    void do_object(int slot) {
        Object& object = objects[slot];
        if (object.kind == PLANT) {
            if (object.count > RIPE) {
                object.count = 0;
                inventory[FOOD] += 4;
                ++achievements[EAT_PLANT];
            }
            return;
        }
        if (object.kind == ARROW) return;
        hurt(slot, inventory[IRON_SWORD] ? 5 : inventory[STONE_SWORD] ? 3 : inventory[WOOD_SWORD] ? 2 : 1);
        if (object.health > 0) return;
        if (object.kind == COW) {
            inventory[FOOD] += 6;
            hunger = 0;
        }
        ++achievements[object.kind == COW ? EAT_COW : object.kind == ZOMBIE ? DEFEAT_ZOMBIE : DEFEAT_SKELETON];
    }

    void do_material(int x, int y) {
        const auto mine = [&](Item pickaxe, Item item, Achievement achievement) {
            if (inventory[pickaxe]) collect(x, y, PATH, item, achievement);
        };
        switch (material_at(x, y)) {
            case WATER:
                thirst = 0;
                collect(x, y, WATER, DRINK, COLLECT_DRINK);
                break;
            case GRASS: collect(x, y, GRASS, SAPLING, COLLECT_SAPLING, 0.1); break;
            case TREE: collect(x, y, GRASS, WOOD_ITEM, COLLECT_WOOD); break;
            case STONE: mine(WOOD_PICKAXE, STONE_ITEM, COLLECT_STONE); break;
            case COAL: mine(WOOD_PICKAXE, COAL_ITEM, COLLECT_COAL); break;
            case IRON: mine(STONE_PICKAXE, IRON_ITEM, COLLECT_IRON); break;
            case DIAMOND: mine(IRON_PICKAXE, DIAMOND_ITEM, COLLECT_DIAMOND); break;
            default: break;
        }
    }
    // draws also if it is certain
    void collect(int x, int y, Material leaves, Item item, Achievement achievement, double probability = 1) {
        set_material(x, y, leaves);
        if (random.real() > probability) return;
        ++inventory[item];
        ++achievements[achievement];
    }

    void place(int what, int x, int y) {
        struct Rule {
            Item item;
            int uses;
            uint32_t where;
            Achievement achievement;
        };
        static constexpr Rule RULES[] = {
            {STONE_ITEM, 1, WALKABLE | set_of({WATER, LAVA}), DO_PLACE_STONE},
            {WOOD_ITEM, 2, WALKABLE, DO_PLACE_TABLE},
            {STONE_ITEM, 4, WALKABLE, DO_PLACE_FURNACE},
            {SAPLING, 1, set_of({GRASS}), DO_PLACE_PLANT},
        };
        static constexpr Material BECOMES[] = {STONE, TABLE, FURNACE};
        const Rule& rule = RULES[what];
        if (!is_free(x, y, rule.where) || inventory[rule.item] < rule.uses) return;
        inventory[rule.item] -= rule.uses;
        if (what + PLACE_STONE == PLACE_PLANT) {
            add(PLANT, x, y, 1);
        } else {
            set_material(x, y, BECOMES[what]);
        }
        ++achievements[rule.achievement];
    }

    void make(int what) {
        struct Rule {
            int costs[4];  // wood, stone, coal and iron
            uint32_t near;
            Item item;
            Achievement achievement;
        };
        static constexpr uint32_t BY_TABLE = set_of({TABLE}), BY_FURNACE = set_of({TABLE, FURNACE});
        static constexpr Rule RULES[] = {
            {{1, 0, 0, 0}, BY_TABLE, WOOD_PICKAXE, MAKE_WOOD_PICKAXE},
            {{1, 1, 0, 0}, BY_TABLE, STONE_PICKAXE, MAKE_STONE_PICKAXE},
            {{1, 0, 1, 1}, BY_FURNACE, IRON_PICKAXE, MAKE_IRON_PICKAXE},
            {{1, 0, 0, 0}, BY_TABLE, WOOD_SWORD, MAKE_WOOD_SWORD},
            {{1, 1, 0, 0}, BY_TABLE, STONE_SWORD, MAKE_STONE_SWORD},
            {{1, 0, 1, 1}, BY_FURNACE, IRON_SWORD, MAKE_IRON_SWORD},
        };
        const Rule& rule = RULES[what];
        if ((materials_nearby() & rule.near) != rule.near) return;
        for (int k = 0; k < 4; ++k) {
            if (inventory[WOOD_ITEM + k] < rule.costs[k]) return;
        }
        for (int k = 0; k < 4; ++k) inventory[WOOD_ITEM + k] -= rule.costs[k];
        ++inventory[rule.item];
        ++achievements[rule.achievement];
    }
    // The nine cells around the player as the slices of an array from -1 have them: at the near edges, there are none,
    // or the last ones of an area of one or two cells.
    uint32_t materials_nearby() const {
        const auto begin = [](int center, int size) { return center > 0 ? center - 1 : std::max(0, size - 1); };
        uint32_t found = 0;
        for (int x = begin(player().x, shape.width); x < std::min(player().x + 2, shape.width); ++x) {
            for (int y = begin(player().y, shape.height); y < std::min(player().y + 2, shape.height); ++y) {
                found |= 1u << material_at(x, y);
            }
        }
        return found;
    }

    // ---- births and deaths

    struct Balance {
        Kind kind;
        Material ground;
        int born_at, gone_at;  // least distances from the player
        double birth, death;   // probabilities
    };
    void balance(int chunk) {
        static constexpr Balance ZOMBIES{ZOMBIE, GRASS, 6, 0, 0.3, 0.4}, SKELETONS{SKELETON, PATH, 7, 7, 0.1, 0.1},
            COWS{COW, GRASS, 5, 5, 0.01, 0.1};
        const int grass = chunks[chunk].materials[GRASS], path = chunks[chunk].materials[PATH];
        const int zombies = static_cast<int>(3.5 - 3 * daylight);
        balance(chunk, ZOMBIES, grass < 50 ? 0 : zombies, zombies);
        balance(chunk, SKELETONS, path < 6 ? 0 : 1, 2);
        balance(chunk, COWS, grass < 30 ? 0 : 1, static_cast<int>(1.5 + daylight));
    }
    void balance(int chunk, const Balance& rule, int min_count, int max_count) {
        const int count = chunks[chunk].kinds[rule.kind];
        const size_t choice = next_choice + 1;
        if (count > 1 && choice < choices.size()) next_choice += 1 + count;
        if (count < min_count && random.real() < rule.birth) {
            const int cell = nth_cell(chunk, rule.ground, random.below(chunks[chunk].materials[rule.ground]));
            const int x = cell / shape.height, y = cell % shape.height;
            if (!occupant[cell] && distance_to_player(x, y) >= rule.born_at) {
                add(rule.kind, x, y, MAX_HEALTH[rule.kind]);
            }
        } else if (count > max_count && random.real() < rule.death) {
            const uint32_t chosen = random.below(count);
            int slot = nth_object(chunk, rule.kind, chosen);
            if (count > 1 && choice + chosen < choices.size()) {
                const int other = occupant[choices[choice + chosen]];
                if (objects[other].kind == rule.kind) slot = other;
            }
            if (distance_of(slot) < rule.gone_at) return;
            remove(slot);
            spare.push_back(slot);
        }
    }
    int nth_cell(int chunk, Material ground, uint32_t n) const {
        const int left = chunk / shape.chunks_down() * CHUNK, top = chunk % shape.chunks_down() * CHUNK;
        for (int x = left;; ++x) {
            for (int y = top; y < std::min(top + CHUNK, shape.height); ++y) {
                if (material_at(x, y) == ground && n-- == 0) return at(x, y);
            }
        }
    }
    int nth_object(int chunk, Kind kind, uint32_t n) const {
        int slot = chunks[chunk].first;
        while (objects[slot].kind != kind || n-- != 0) slot = objects[slot].chunk_next;
        return slot;
    }

    void generate();  // world_generation.h
    struct Listed;
    void list_objects(Listed& listed) const;
    void take_objects(const Listed& listed);

    std::vector<int32_t> spare;  // slots that are free
    std::vector<Chunk> chunks;
    std::vector<int32_t> chunk_order;  // in which they first had an object
    int32_t first = 0, last = 0;       // of all objects, in the order in which they came
    int32_t health_at_update = 0, health_at_step = 0;
    int32_t hunger = 0, thirst = 0, fatigue = 0, recovery = 0;
    uint32_t unlocked = 0;  // achievements, a bit each
    std::vector<int32_t> choices;
    size_t next_choice = 0;
};

}  // namespace cypool::crafter
