// The state of both games, as craftax 1.6.1 has them. Where a rule looks odd, it is the package's. Craftax-Classic is
// one floor of Craftax with fewer things and other chances; the attributes of its player stay as they are.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "cypool/envs/shared/rules/options.h"
#include "cypool/envs/shared/rules/state_archive.h"
#include "cypool/envs/shared/numerics/xla_math.h"
#include "cypool/envs/craftax/light.h"
#include "cypool/envs/craftax/tables.h"

namespace cypool::craftax {

// What a world begins with, but for what differs between the games.
struct Beginning {
    Point player{};
    int32_t level = 0, facing = UP;
    float health = 9;
    int32_t food = 9, drink = 9, energy = 9, mana = 9;
    bool is_sleeping = false, is_resting = false;
    float recovery = 0, hunger = 0, thirst = 0, fatigue = 0, mana_recovery = 0;
    int32_t experience = 0, dexterity = 1, strength = 1, intelligence = 1;
    std::array<int32_t, 4> armours{}, armour_magic{};
    std::array<int32_t, 6> potions{}, potion_effects{};
    std::array<bool, 2> has_learned{};  // fireballs and iceballs
    int32_t sword_magic = NO_MAGIC, bow_magic = NO_MAGIC;
    int32_t boss_progress = 0, boss_wait = 7;
    int32_t timestep = 0;
};

template <bool IS_FULL> struct Game : Beginning {
    static constexpr int SIZE = IS_FULL ? 48 : 64, CELLS = SIZE * SIZE, NUM_LEVELS = IS_FULL ? NUM_FLOORS : 1;
    static constexpr int VIEW_HEIGHT = IS_FULL ? 9 : 7, VIEW_WIDTH = IS_FULL ? 11 : 9;
    static constexpr int MAX_ITEMS = IS_FULL ? 99 : 9, NUM_ACHIEVEMENTS = IS_FULL ? 67 : 22;
    static constexpr int NUM_BLOCKS = IS_FULL ? 37 : 17, NUM_THINGS = IS_FULL ? 4 : 1, NUM_TYPES = IS_FULL ? 8 : 1;
    static constexpr int KILLS_TO_DESCEND = 8, MOST_ATTRIBUTE = 100;
    static constexpr bool IS_CLASSIC = !IS_FULL;
    // Classic counts pickaxes and swords by what they are made of; in Craftax the number is that of the best
    // clang-format off
    enum Item {
        WOOD_ITEM, STONE_ITEM, COAL_ITEM, IRON_ITEM, DIAMOND_ITEM, SAPPHIRE_ITEM, RUBY_ITEM, SAPLING = IS_FULL ? 7 : 5,
        TORCHES = 8, ARROWS, BOOKS, PICKAXE = IS_FULL ? 11 : 6, SWORD = IS_FULL ? 12 : 9, BOW = 13,
        NUM_ITEMS = IS_FULL ? 14 : 12
    };
    // clang-format on

    struct Setup : Options {
        explicit Setup(const Options& given) : Options(given) {
            if (IS_FULL) return;
            first.chances[PASSIVE] = at("spawn_cow_chance"), first.chances[MELEE] = at("spawn_zombie_base_chance");
            first.chances[RANGED] = at("spawn_skeleton_chance");
            first.melee_night_chance = at("spawn_zombie_night_chance");
            health = {at("cow_health"), at("zombie_health"), at("skeleton_health")};
            first_health = {health[PASSIVE], 1, 0};
        }
        int max_timesteps = at("max_timesteps"), day_length = at("day_length");
        bool always_diamond = at("always_diamond"), auto_reset = at("auto_reset"), god_mode = at("god_mode", false);
        int despawn_distance = at("mob_despawn_distance"), max_attribute = at("max_attribute", 0);
        int max_melee = at(IS_FULL ? "max_melee_mobs" : "max_zombies");
        int max_passive = at(IS_FULL ? "max_passive_mobs" : "max_cows");
        int max_ranged = at(IS_FULL ? "max_ranged_mobs" : "max_skeletons");
        int max_shots = at(IS_FULL ? "max_mob_projectiles" : "max_arrows");
        int max_arrows = at("max_player_projectiles", 0), max_plants = at("max_growing_plants");
        std::array<std::vector<float>, 4> angles{at("angles_0"), at("angles_1"), at("angles_2"), at("angles_3")};
        // of Classic
        FloorRules first = FLOOR_RULES[0];
        std::array<float, 3> health{}, first_health{1, 1, 1};  // by kind; the second of slots that were never in use
    };
    struct Cell {
        uint8_t block : 6, thing : 2;
    };
    struct Floor {
        explicit Floor(const Setup& setup)
            : melee(setup.max_melee, {{0, 0}, setup.first_health[MELEE], 0, 0, false}),
              passive(setup.max_passive, {{0, 0}, setup.first_health[PASSIVE], 0, 0, false}),
              ranged(setup.max_ranged, {{0, 0}, setup.first_health[RANGED], 0, 0, false}),
              shots(setup.max_shots, {{0, 0}, {1, 1}, 0, false}),
              arrows(setup.max_arrows, {{0, 0}, {1, 1}, 0, false}) {}

        std::array<Cell, CELLS> cells{};
        std::array<uint64_t, SIZE> taken{};  // by creatures: a bit for each cell of a row
        std::vector<uint16_t> lights;        // numbers of `Brightness`; empty: all are 1, and stay so
        Point down{}, up{};                  // its ladders
        Slots<Mob> melee, passive, ranged;
        Slots<Shot> shots, arrows;  // of creatures, and of the player
        int32_t killed = 0;
        bool has_opened_chest = false;

        Block block_at(Point at) const { return static_cast<Block>(cells[cell_to_read<SIZE>(at)].block); }
        void set_block(Point at, Block block) {
            if (const int cell = cell_to_write<SIZE>(at); cell >= 0) cells[cell].block = block;
        }
        void set_thing(Point at, Thing thing) {
            if (const int cell = cell_to_write<SIZE>(at); cell >= 0) cells[cell].thing = thing;
        }
        bool is_taken(Point at) const { return taken[jax::read_index(at.x, SIZE)] >> jax::read_index(at.y, SIZE) & 1; }
        void set_taken(Point at, bool is) {
            const int x = jax::write_index(at.x, SIZE), y = jax::write_index(at.y, SIZE);
            if (x < 0 || y < 0) return;
            taken[x] = (taken[x] & ~(uint64_t{1} << y)) | uint64_t{is} << y;
        }
        float light_of(int cell) const { return lights.empty() ? 1 : Brightness::of(lights[cell]); }
        void set_light(int cell, float light) { lights[cell] = Brightness::number_of(light); }
    };

    explicit Game(std::shared_ptr<const Setup> given)
        : setup(std::move(given)),
          plants(setup->max_plants, {{0, 0}, 0, false}) {
        // of Classic, so that no step or reset needs memory
        if (!IS_FULL) floors[0].assign(1, Floor(*setup));
    }

    void reset(jax::Key key) noexcept(!IS_FULL);
    void step(jax::Key key, int64_t action) noexcept(!IS_FULL);
    void observe(float* out) const noexcept;

    bool is_over() const {
        return timestep >= setup->max_timesteps || health <= 0
               || (IS_FULL ? is_beaten() : here().block_at(player) == LAVA);
    }
    int num_achieved() const { return static_cast<int>(std::count(achieved.begin(), achieved.end(), true)); }
    Floor& here() { return floors[level].front(); }
    const Floor& here() const { return floors[level].front(); }
    bool is_at_boss() const { return IS_FULL && level == NUM_FLOORS - 1; }
    bool is_beaten() const { return boss_progress >= NUM_FLOORS - 1; }
    bool is_ladder_open() const { return here().killed >= KILLS_TO_DESCEND; }
    bool is_boss_vulnerable() const { return !here().melee.count() && !here().ranged.count() && boss_wait <= 0; }

    template <class Archive> void exchange(Archive& archive);
    void validate() const {
        if (floors[0].empty() || floors[level].empty())
            refuse_state("floors", "the first floor and the player's floor", "none");
    }

    std::shared_ptr<const Setup> setup;
    jax::Key floors_key{};                              // of all floors: one is made when the player comes to it
    std::array<std::vector<Floor>, NUM_LEVELS> floors;  // of each one or none
    std::array<int32_t, NUM_ITEMS> items{};
    std::array<bool, NUM_ACHIEVEMENTS> achieved{};
    Slots<Plant, MAX_PLANTS> plants;  // on the first floor
    bool made_by_step = false;        // the package's automatic reset has made the world, within a step
    jax::Key noise_key{};             // of the picture of a night: the package's `state_rng`
    float light = 1, seen_light = 1;  // of the state, and of the observation
    float reward = 0;

private:
    static bool inside(Point at) { return is_inside<SIZE>(at); }
    bool is_occupied(Point at) const { return here().is_taken(at) || at == player; }
    bool can_enter(Point at, int barred) const {
        const Block block = here().block_at(at);
        const int ground = block == WATER ? ON_WATER : block == LAVA ? ON_LAVA : ON_LAND;
        return inside(at) && !is_occupied(at) && !has(SOLID, block) && !(barred & ground);
    }
    bool is_near(Block block) const {
        for (int x = player.x - 1; x <= player.x + 1; ++x) {
            for (int y = player.y - 1; y <= player.y + 1; ++y) {
                if (Point{x, y} != player && inside({x, y}) && here().cells[x * SIZE + y].block == block) return true;
            }
        }
        return false;
    }
    Point target() const { return player + step_of(facing); }
    int max_need() const { return 7 + 2 * dexterity; }
    float max_health() const { return static_cast<float>(8 + strength); }
    // XLA computes the light twice in a step: for the observation, with a fused multiply-add, and for the state, where
    // it depends on the function that is compiled.
    void update_light() {
        const float days = static_cast<float>(timestep) / static_cast<float>(setup->day_length);
        const float c = jax::sine_cosine((days - std::floor(days) + 0.3f) * 3.14159265358979323846f).cosine;
        seen_light = jax::fused(-(c * c), std::abs(c), 1);
        light = setup->auto_reset ? 1 - c * c * std::abs(c) : seen_light;
    }

    template <class Archive> void exchange_floor(Archive& archive, int number);

    // floors.h
    void add_floor(int number);
    void make_floor(int number);
    void make_smooth(Floor& made, jax::Key& key, const SmoothRules& rules);
    void make_dungeon(Floor& made, jax::Key key, const DungeonRules& rules);

    // rules.h
    void change_floor(int64_t action), make(int64_t action), place(int64_t action), move_player(int64_t action);
    void act(jax::Key key), loot(jax::Key key), move_creatures(jax::Key key), spawn(jax::Key key);
    void use(int64_t action, jax::Key reading), enchant(int64_t action, jax::Key key), update_needs(int64_t action);
    bool attack(Point to, const Damage& damage, bool can_eat);
    void eat(int amount), hurt(Damage damage);
    void move(Mob& mob, Point to, bool stays, Kind kind);
    void move_shots(), move_arrows();
};

using Classic = Game<false>;
using Full = Game<true>;

template <class Archive> void exchange_key(Archive& archive, const char* name, jax::Key& key) {
    archive.in(name, [&] {
        archive("a", key.a, 0, ~uint32_t{0});
        archive("b", key.b, 0, ~uint32_t{0});
    });
}
template <bool IS_FULL> template <class Archive> void Game<IS_FULL>::exchange_floor(Archive& archive, int number) {
    if constexpr (IS_FULL) {
        bool is_made = !floors[number].empty();
        archive("is_made", is_made);
        if (!is_made) return;
        if constexpr (Archive::LOADS) add_floor(number);
    }
    Floor& floor = floors[number].front();
    for (int k = 0; k < CELLS; ++k) {
        auto code = static_cast<uint8_t>(floor.cells[k].block + NUM_BLOCKS * floor.cells[k].thing);
        archive.item("cells", k, code, 0, NUM_BLOCKS * NUM_THINGS - 1);
        floor.cells[k] = {static_cast<uint8_t>(code % NUM_BLOCKS & 63), static_cast<uint8_t>(code / NUM_BLOCKS & 3)};
    }
    for (int x = 0; x < SIZE; ++x) {
        auto left = static_cast<uint32_t>(floor.taken[x]), right = static_cast<uint32_t>(floor.taken[x] >> 32);
        archive.item("taken", 2 * x, left, 0, ~uint32_t{0});
        archive.item("taken", 2 * x + 1, right, 0, ~uint32_t{0} >> (64 - SIZE));
        floor.taken[x] = uint64_t{right} << 32 | left;
    }
    for (size_t k = 0; k < floor.lights.size(); ++k) {
        float light = floor.light_of(static_cast<int>(k));
        archive.item("lights", k, light, 0, 1);
        floor.set_light(static_cast<int>(k), light);
    }
    const auto exchange_point = [&](Point& at, const char* x, const char* y, int64_t far) {
        archive(x, at.x, -far, far);
        archive(y, at.y, -far, far);
    };
    const auto exchange_mobs = [&](const char* name, Slots<Mob>& mobs) {
        archive.each(name, mobs, [&](Mob& mob) {
            exchange_point(mob.at, "x", "y", FAR);
            if constexpr (IS_FULL) {
                archive("health", mob.health, -1e9, 1e9);
            } else {
                // floats have all whole numbers up to this one
                auto whole = static_cast<int32_t>(mob.health);
                archive("health", whole, -(1 << 24), 1 << 24);
                mob.health = static_cast<float>(whole);
            }
            archive("cooldown", mob.cooldown, -FAR, FAR);
            archive("type", mob.type, 0, NUM_TYPES - 1);
            archive("is_used", mob.is_used);
        });
    };
    const auto exchange_shots = [&](const char* name, Slots<Shot>& shots) {
        archive.each(name, shots, [&](Shot& shot) {
            exchange_point(shot.at, "x", "y", FAR);
            exchange_point(shot.step, "step_x", "step_y", 1);
            archive("type", shot.type, 0, NUM_TYPES - 1);
            archive("is_used", shot.is_used);
        });
    };
    exchange_mobs("melee", floor.melee);
    exchange_mobs("passive", floor.passive);
    exchange_mobs("ranged", floor.ranged);
    exchange_shots("shots", floor.shots);
    if constexpr (IS_FULL) {
        exchange_shots("arrows", floor.arrows);
        archive.in("down", [&] { exchange_point(floor.down, "x", "y", FAR); });
        archive.in("up", [&] { exchange_point(floor.up, "x", "y", FAR); });
        archive("killed", floor.killed, 0, FAR);
        archive("has_opened_chest", floor.has_opened_chest);
    }
}

template <bool IS_FULL> template <class Archive> void Game<IS_FULL>::exchange(Archive& archive) {
    constexpr int MOST_NEED = IS_FULL ? 7 + 2 * MOST_ATTRIBUTE : 9;
    if constexpr (IS_FULL) exchange_key(archive, "floors_key", floors_key);
    for (int number = 0; number < NUM_LEVELS; ++number) {
        archive.in("floors", number, [&] { exchange_floor(archive, number); });
    }
    archive("player_x", player.x, -FAR, FAR);
    archive("player_y", player.y, -FAR, FAR);
    archive("facing", facing, NOOP, DOWN);
    archive("health", health, 0, IS_FULL ? 8 + MOST_ATTRIBUTE : 9);
    archive("food", food, 0, MOST_NEED);
    archive("drink", drink, 0, MOST_NEED);
    archive("energy", energy, 0, MOST_NEED);
    archive("is_sleeping", is_sleeping);
    archive("recovery", recovery, -100, 100);
    // with a dexterity above 9, nobody grows hungry or tired
    constexpr double LEAST = IS_FULL ? -1e9 : 0;
    archive("hunger", hunger, LEAST, 100);
    archive("thirst", thirst, LEAST, 100);
    archive("fatigue", fatigue, IS_FULL ? LEAST : -100, 100);
    for (int k = 0; k < NUM_ITEMS; ++k) {
        archive.item("items", k, items[k], 0, IS_FULL && k == BOW ? 1 : IS_FULL && k >= PICKAXE ? 4 : MAX_ITEMS);
    }
    archive.each("plants", plants, [&](Plant& each) {
        archive("x", each.at.x, -FAR, FAR);
        archive("y", each.at.y, -FAR, FAR);
        archive("age", each.age, 0, FAR);
        archive("is_used", each.is_used);
    });
    archive.all("achieved", achieved, 0, 1);
    exchange_key(archive, "noise_key", noise_key);
    archive("timestep", timestep, 0, FAR);
    if constexpr (IS_FULL) {
        archive("level", level, 0, NUM_FLOORS - 1);
        archive("mana", mana, 0, 6 + 3 * MOST_ATTRIBUTE);
        archive("is_resting", is_resting);
        archive("mana_recovery", mana_recovery, 0, 100);
        archive("experience", experience, 0, FAR);
        archive("dexterity", dexterity, 1, MOST_ATTRIBUTE);
        archive("strength", strength, 1, MOST_ATTRIBUTE);
        archive("intelligence", intelligence, 1, MOST_ATTRIBUTE);
        archive.all("armours", armours, 0, 2);
        archive.all("armour_magic", armour_magic, NO_MAGIC, ICE);
        archive.all("potions", potions, 0, MAX_ITEMS);
        archive.all("potion_effects", potion_effects, 0, 5);
        archive.all("has_learned", has_learned, 0, 1);
        archive("sword_magic", sword_magic, NO_MAGIC, ICE);
        archive("bow_magic", bow_magic, NO_MAGIC, ICE);
        archive("boss_progress", boss_progress, 0, NUM_FLOORS - 1);
        archive("boss_wait", boss_wait, -FAR, FAR);
    }
    if constexpr (Archive::LOADS) update_light();
}

}  // namespace cypool::craftax
