// Craftax with its nine floors, as craftax 1.6.1 has it. Where a rule looks odd, it is the package's.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "cypool/envs/common/options.h"
#include "cypool/envs/common/state_archive.h"
#include "cypool/envs/craftax/slots.h"

namespace cypool::craftax {

// A T on the heap, whose copies are copies of it; or none.
template <class T> class Copied {
public:
    Copied() = default;
    Copied(Copied&&) = default;
    Copied& operator=(Copied&&) = default;
    Copied(const Copied& other) : held_(other.held_ ? std::make_unique<T>(*other.held_) : nullptr) {}
    Copied& operator=(const Copied& other) {
        if (held_ && other.held_) {
            *held_ = *other.held_;
        } else {
            held_ = other.held_ ? std::make_unique<T>(*other.held_) : nullptr;
        }
        return *this;
    }
    explicit operator bool() const { return held_ != nullptr; }
    T& operator*() const { return *held_; }
    T* operator->() const { return held_.get(); }
    void make() { held_ = std::make_unique<T>(); }
    void drop() { held_.reset(); }

private:
    std::unique_ptr<T> held_;
};

struct Full {
    static constexpr int SIZE = 48, CELLS = SIZE * SIZE, NUM_FLOORS = 9, VIEW_HEIGHT = 9, VIEW_WIDTH = 11;
    static constexpr int MAX_ITEMS = 99, NUM_ACHIEVEMENTS = 67, NUM_POTIONS = 6, NUM_ARMOURS = 4, NUM_TYPES = 8;
    static constexpr bool HAS_SCORE = false;
    static constexpr int KILLS_TO_DESCEND = 8, MOST_ATTRIBUTE = 100;

    // clang-format off
    enum Block : uint8_t {
        INVALID, OUT, GRASS, WATER, STONE, TREE, WOOD, PATH, COAL, IRON, DIAMOND, TABLE, FURNACE, SAND, LAVA, PLANT,
        RIPE_PLANT, WALL, DARKNESS, WALL_MOSS, STALAGMITE, SAPPHIRE, RUBY, CHEST, FOUNTAIN, FIRE_GRASS, ICE_GRASS,
        GRAVEL, FIRE_TREE, ICE_SHRUB, FIRE_TABLE, ICE_TABLE, NECROMANCER, GRAVE, GRAVE_2, GRAVE_3,
        NECROMANCER_VULNERABLE, NUM_BLOCKS
    };
    // clang-format on
    enum Thing : uint8_t { NOTHING, TORCH, LADDER_DOWN, LADDER_UP, LADDER_DOWN_BLOCKED, NUM_THINGS };
    // clang-format off
    enum FullAction : int64_t {
        MAKE_WOOD_PICKAXE = 11, MAKE_STONE_PICKAXE, MAKE_IRON_PICKAXE, MAKE_WOOD_SWORD, MAKE_STONE_SWORD,
        MAKE_IRON_SWORD, REST, DESCEND, ASCEND, MAKE_DIAMOND_PICKAXE, MAKE_DIAMOND_SWORD, MAKE_IRON_ARMOUR,
        MAKE_DIAMOND_ARMOUR, SHOOT_ARROW, MAKE_ARROW, CAST_FIREBALL, CAST_ICEBALL, PLACE_TORCH, DRINK_POTION,
        READ_BOOK = DRINK_POTION + NUM_POTIONS, ENCHANT_SWORD, ENCHANT_ARMOUR, MAKE_TORCH, LEVEL_UP_DEXTERITY,
        LEVEL_UP_STRENGTH, LEVEL_UP_INTELLIGENCE, ENCHANT_BOW
    };
    enum Item {
        WOOD_ITEM, STONE_ITEM, COAL_ITEM, IRON_ITEM, DIAMOND_ITEM, SAPPHIRE_ITEM, RUBY_ITEM, SAPLING, TORCHES, ARROWS,
        BOOKS, PICKAXE, SWORD, BOW, NUM_ITEMS
    };
    enum Achievement {
        COLLECT_WOOD, DID_PLACE_TABLE, EAT_COW, COLLECT_SAPLING, COLLECT_DRINK, DID_MAKE_WOOD_PICKAXE,
        DID_MAKE_WOOD_SWORD, DID_PLACE_PLANT, DEFEAT_ZOMBIE, COLLECT_STONE, DID_PLACE_STONE, EAT_PLANT, DEFEAT_SKELETON,
        DID_MAKE_STONE_PICKAXE, DID_MAKE_STONE_SWORD, WAKE_UP, DID_PLACE_FURNACE, COLLECT_COAL, COLLECT_IRON,
        COLLECT_DIAMOND, DID_MAKE_IRON_PICKAXE, DID_MAKE_IRON_SWORD, DID_MAKE_ARROW, DID_MAKE_TORCH, DID_PLACE_TORCH,
        DID_MAKE_DIAMOND_SWORD, DID_MAKE_IRON_ARMOUR, DID_MAKE_DIAMOND_ARMOUR, ENTER_GNOMISH_MINES, ENTER_DUNGEON,
        ENTER_SEWERS, ENTER_VAULT, ENTER_TROLL_MINES, ENTER_FIRE_REALM, ENTER_ICE_REALM, ENTER_GRAVEYARD,
        DEFEAT_GNOME_WARRIOR, DEFEAT_GNOME_ARCHER, DEFEAT_ORC_SOLDIER, DEFEAT_ORC_MAGE, DEFEAT_LIZARD, DEFEAT_KOBOLD,
        DEFEAT_TROLL, DEFEAT_DEEP_THING, DEFEAT_PIGMAN, DEFEAT_FIRE_ELEMENTAL, DEFEAT_FROST_TROLL, DEFEAT_ICE_ELEMENTAL,
        DAMAGE_NECROMANCER, DEFEAT_NECROMANCER, EAT_BAT, EAT_SNAIL, FIND_BOW, FIRE_BOW, COLLECT_SAPPHIRE,
        LEARN_FIREBALL, DID_CAST_FIREBALL, LEARN_ICEBALL, DID_CAST_ICEBALL, COLLECT_RUBY, DID_MAKE_DIAMOND_PICKAXE,
        OPEN_CHEST, DRINK_ANY_POTION, DID_ENCHANT_SWORD, DID_ENCHANT_ARMOUR, DEFEAT_KNIGHT, DEFEAT_ARCHER
    };
    // clang-format on
    // what a creature cannot enter
    enum Ground { ON_LAND = 1, ON_WATER = 2, ON_LAVA = 4 };
    enum Kind { PASSIVE, MELEE, RANGED };
    enum ShotType : uint8_t { ARROW, DAGGER, FIREBALL, ICEBALL, ARROW_2, SLIMEBALL, FIREBALL_2, ICEBALL_2 };
    enum Magic { NO_MAGIC, FIRE, ICE };
    static constexpr uint64_t SOLID =
        set_of(STONE, TREE, COAL, IRON, DIAMOND, TABLE, FURNACE, PLANT, RIPE_PLANT, WALL, WALL_MOSS, STALAGMITE, RUBY,
               SAPPHIRE, CHEST, FOUNTAIN, FIRE_TREE, FIRE_TABLE, ICE_TABLE, GRAVE, GRAVE_2, GRAVE_3, NECROMANCER);
    // physical, of fire, of ice
    using Damage = std::array<float, 3>;

    struct Setup : Options {
        explicit Setup(const Options& given) : Options(given) {}
        int max_timesteps = at("max_timesteps"), day_length = at("day_length");
        bool always_diamond = at("always_diamond"), auto_reset = at("auto_reset"), god_mode = at("god_mode");
        int despawn_distance = at("mob_despawn_distance"), max_attribute = at("max_attribute");
        int max_melee = at("max_melee_mobs"), max_passive = at("max_passive_mobs"), max_ranged = at("max_ranged_mobs");
        int max_shots = at("max_mob_projectiles"), max_arrows = at("max_player_projectiles");
        int max_plants = at("max_growing_plants");
    };
    struct Cell {
        uint8_t block : 6, thing : 2;
    };
    struct Mob {
        Point at;
        float health;
        int32_t cooldown;
        uint8_t type;
        bool is_used;
    };
    struct Shot {
        Point at, step;
        uint8_t type;
        bool is_used;
    };
    struct Floor {
        std::array<Cell, CELLS> cells{};
        std::array<uint64_t, SIZE> taken{};  // by creatures: a bit for each cell of a row
        std::vector<float> lights;           // empty: all are 1, and stay so
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
        bool is_taken(Point at) const { return taken[read_index(at.x, SIZE)] >> read_index(at.y, SIZE) & 1; }
        void set_taken(Point at, bool is) {
            const int x = write_index(at.x, SIZE), y = write_index(at.y, SIZE);
            if (x < 0 || y < 0) return;
            taken[x] = (taken[x] & ~(uint64_t{1} << y)) | uint64_t{is} << y;
        }
        float light_of(int cell) const { return lights.empty() ? 1 : lights[cell]; }
    };

    explicit Full(std::shared_ptr<const Setup> given) : setup(std::move(given)), plants(setup->max_plants) {}

    void reset(jax::Key key);
    void step(jax::Key key, int64_t action);
    void observe(float* out) const;

    bool is_over() const { return timestep >= setup->max_timesteps || health <= 0 || is_beaten(); }
    int num_achieved() const { return static_cast<int>(std::count(achieved.begin(), achieved.end(), true)); }
    Floor& here() const { return *floors[level]; }
    bool is_at_boss() const { return level == NUM_FLOORS - 1; }
    bool is_beaten() const { return boss_progress >= NUM_FLOORS - 1; }
    bool is_ladder_open() const { return here().killed >= KILLS_TO_DESCEND; }
    bool is_boss_vulnerable() const { return !here().melee.count() && !here().ranged.count() && boss_wait <= 0; }
    // of any floor, made if need be
    Floor& floor_at(int number) {
        if (!floors[number]) make_floor(number);
        return *floors[number];
    }

    template <class Archive> void exchange(Archive& archive);
    void validate() const {
        if (!floors[0] || !floors[level]) refuse_state("floors", "the first one, and the player's", "none");
    }

    std::shared_ptr<const Setup> setup;
    jax::Key floors_key{};  // of all floors: one is made when the player comes to it
    std::array<Copied<Floor>, NUM_FLOORS> floors;
    Point player{};
    int32_t level = 0, facing = UP;
    float health = 0;
    int32_t food = 0, drink = 0, energy = 0, mana = 0;
    bool is_sleeping = false, is_resting = false;
    float recovery = 0, hunger = 0, thirst = 0, fatigue = 0, mana_recovery = 0;
    int32_t experience = 0, dexterity = 1, strength = 1, intelligence = 1;
    std::array<int32_t, NUM_ITEMS> items{};
    std::array<int32_t, NUM_ARMOURS> armours{}, armour_magic{};
    std::array<int32_t, NUM_POTIONS> potions{}, potion_effects{};
    std::array<bool, 2> has_learned{};  // fireballs and iceballs
    int32_t sword_magic = NO_MAGIC, bow_magic = NO_MAGIC;
    Plants plants;  // on the first floor
    int32_t boss_progress = 0, boss_wait = 0;
    std::array<bool, NUM_ACHIEVEMENTS> achieved{};
    jax::Key noise_key{};  // of the picture of a night: the package's `state_rng`
    int32_t timestep = 0;
    float light = 1, seen_light = 1;  // of the state, and of the observation
    float reward = 0;

private:
    static bool inside(Point at) { return is_inside<SIZE>(at); }
    bool is_occupied(Point at) const { return here().is_taken(at) || at == player; }
    bool can_enter(Point at, int barred) const {
        const Block block = here().block_at(at);
        return inside(at) && !is_occupied(at) && !has(SOLID, block)
               && !(barred
                    & (block == WATER  ? ON_WATER
                       : block == LAVA ? ON_LAVA
                                       : ON_LAND));
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
    void update_light() {
        light = light_level(timestep, setup->day_length, !setup->auto_reset);
        seen_light = light_level(timestep, setup->day_length, true);
    }

    template <class Archive> void exchange_floor(Archive& archive, int number);

    // full_floors.h
    Floor& add_floor(int number);
    void make_floor(int number);
    void make_smooth(Floor& made, jax::Key key, int which);
    void make_dungeon(Floor& made, jax::Key key, int which);

    void change_floor(int64_t action);
    void make(int64_t action);
    void act(jax::Key key);
    bool attack(Point to, const Damage& damage, bool can_eat);
    void loot(jax::Key key);
    void place(int64_t action);
    void place_torch(Point to);
    void shoot(ShotType type);
    void use_bow_and_spells(int64_t action);
    void drink_potion(int64_t action);
    void read_book(jax::Key key);
    void enchant(jax::Key key, int64_t action);
    void hurt(Damage damage);
    void level_up(int64_t action);
    void move_player(int64_t action);
    void move(Mob& mob, Point to, bool stays, Kind kind);
    void move_creatures(jax::Key key);
    void move_shots();
    void move_arrows();
    void spawn(jax::Key key);
    void grow_plants();
    void update_needs(int64_t action);
    void take_items();
};

// ---- tables, by floor and by type of creature

struct FloorRules {
    int types[3];  // of creatures by kind
    float passive_chance, melee_chance, ranged_chance, melee_night_chance;
    Full::Achievement achievement;
};
inline constexpr FloorRules FLOOR_RULES[Full::NUM_FLOORS] = {
    {{0, 0, 0}, 0.1f, 0.02f, 0.05f, 0.1f, Full::COLLECT_WOOD},
    {{2, 2, 2}, 0.1f, 0.06f, 0.05f, 0, Full::ENTER_DUNGEON},
    {{1, 1, 1}, 0.1f, 0.06f, 0.05f, 0, Full::ENTER_GNOMISH_MINES},
    {{2, 3, 3}, 0.1f, 0.06f, 0.05f, 0, Full::ENTER_SEWERS},
    {{2, 4, 4}, 0.1f, 0.06f, 0.05f, 0, Full::ENTER_VAULT},
    {{1, 5, 5}, 0.1f, 0.06f, 0.05f, 0, Full::ENTER_TROLL_MINES},
    {{1, 6, 6}, 0.1f, 0.06f, 0.05f, 0, Full::ENTER_FIRE_REALM},
    {{1, 7, 7}, 0, 0.06f, 0.05f, 0, Full::ENTER_ICE_REALM},
    {{0, 0, 0}, 0.1f, 0.06f, 0.05f, 0, Full::ENTER_GRAVEYARD},
};

struct TypeRules {
    // by kind
    int barred[3];
    float health[3];
    Full::Damage defense;
    Full::Achievement achievements[3];
    // of its blows, and of a shot of this type
    Full::Damage melee_damage, shot_damage;
    Full::ShotType shot;
};
inline constexpr int BY_LAND = Full::ON_WATER | Full::ON_LAVA, BY_AIR = 0, BY_WATER = Full::ON_LAND | Full::ON_LAVA,
                     BY_LAND_AND_WATER = Full::ON_LAVA;
inline constexpr TypeRules TYPE_RULES[Full::NUM_TYPES] = {
    {{BY_LAND, BY_LAND, BY_LAND},
     {3, 5, 3},
     {0, 0, 0},
     {Full::EAT_COW, Full::DEFEAT_ZOMBIE, Full::DEFEAT_SKELETON},
     {2, 0, 0},
     {2, 0, 0},
     Full::ARROW},
    {{BY_AIR, BY_LAND, BY_LAND},
     {4, 7, 5},
     {0, 0, 0},
     {Full::EAT_BAT, Full::DEFEAT_GNOME_WARRIOR, Full::DEFEAT_GNOME_ARCHER},
     {4, 0, 0},
     {4, 0, 0},
     Full::ARROW},
    {{BY_LAND, BY_LAND, BY_LAND},
     {6, 9, 6},
     {0, 0, 0},
     {Full::EAT_SNAIL, Full::DEFEAT_ORC_SOLDIER, Full::DEFEAT_ORC_MAGE},
     {3, 0, 0},
     {0, 3, 0},
     Full::FIREBALL},
    {{BY_LAND, BY_LAND_AND_WATER, BY_LAND},
     {8, 11, 8},
     {0, 0, 0},
     {Full::COLLECT_WOOD, Full::DEFEAT_LIZARD, Full::DEFEAT_KOBOLD},
     {5, 0, 0},
     {0, 0, 3},
     Full::DAGGER},
    {{BY_LAND, BY_LAND, BY_LAND},
     {0, 12, 12},
     {0.5f, 0, 0},
     {Full::COLLECT_WOOD, Full::DEFEAT_KNIGHT, Full::DEFEAT_ARCHER},
     {6, 0, 0},
     {5, 0, 0},
     Full::ARROW_2},
    {{BY_LAND, BY_LAND, BY_WATER},
     {0, 20, 4},
     {0.2f, 0, 0},
     {Full::COLLECT_WOOD, Full::DEFEAT_TROLL, Full::DEFEAT_DEEP_THING},
     {6, 1, 1},
     {4, 3, 3},
     Full::SLIMEBALL},
    {{BY_LAND, BY_LAND, BY_AIR},
     {0, 20, 14},
     {0.9f, 1, 0},
     {Full::COLLECT_WOOD, Full::DEFEAT_PIGMAN, Full::DEFEAT_FIRE_ELEMENTAL},
     {3, 5, 0},
     {3, 5, 0},
     Full::FIREBALL_2},
    {{BY_LAND, BY_LAND, BY_AIR},
     {0, 24, 16},
     {0.9f, 0, 1},
     {Full::COLLECT_WOOD, Full::DEFEAT_FROST_TROLL, Full::DEFEAT_ICE_ELEMENTAL},
     {4, 0, 5},
     {4, 0, 5},
     Full::ICEBALL_2},
};

}  // namespace cypool::craftax
