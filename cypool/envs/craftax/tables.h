// The names of both games' numbers, and the tables of their rules. Craftax-Classic has the first ones of each.
#pragma once

#include <array>
#include <cstdint>
#include <iterator>

#include "cypool/envs/craftax/slots.h"

namespace cypool::craftax {

// clang-format off
enum Block : uint8_t {
    INVALID, OUT, GRASS, WATER, STONE, TREE, WOOD, PATH, COAL, IRON, DIAMOND, TABLE, FURNACE, SAND, LAVA, PLANT,
    RIPE_PLANT, WALL, DARKNESS, WALL_MOSS, STALAGMITE, SAPPHIRE, RUBY, CHEST, FOUNTAIN, FIRE_GRASS, ICE_GRASS, GRAVEL,
    FIRE_TREE, ICE_SHRUB, FIRE_TABLE, ICE_TABLE, NECROMANCER, GRAVE, GRAVE_2, GRAVE_3, NECROMANCER_VULNERABLE
};
enum Thing : uint8_t { NOTHING, TORCH, LADDER_DOWN, LADDER_UP, LADDER_DOWN_BLOCKED };
enum Action : int64_t {
    NOOP, LEFT, RIGHT, UP, DOWN, DO, SLEEP, PLACE_STONE, PLACE_TABLE, PLACE_FURNACE, PLACE_PLANT, MAKE_WOOD_PICKAXE,
    MAKE_STONE_PICKAXE, MAKE_IRON_PICKAXE, MAKE_WOOD_SWORD, MAKE_STONE_SWORD, MAKE_IRON_SWORD, REST, DESCEND, ASCEND,
    MAKE_DIAMOND_PICKAXE, MAKE_DIAMOND_SWORD, MAKE_IRON_ARMOUR, MAKE_DIAMOND_ARMOUR, SHOOT_ARROW, MAKE_ARROW,
    CAST_FIREBALL, CAST_ICEBALL, PLACE_TORCH, DRINK_POTION, READ_BOOK = DRINK_POTION + 6, ENCHANT_SWORD, ENCHANT_ARMOUR,
    MAKE_TORCH, LEVEL_UP_DEXTERITY, LEVEL_UP_STRENGTH, LEVEL_UP_INTELLIGENCE, ENCHANT_BOW
};
enum Achievement : uint8_t {
    COLLECT_WOOD, DID_PLACE_TABLE, EAT_COW, COLLECT_SAPLING, COLLECT_DRINK, DID_MAKE_WOOD_PICKAXE, DID_MAKE_WOOD_SWORD,
    DID_PLACE_PLANT, DEFEAT_ZOMBIE, COLLECT_STONE, DID_PLACE_STONE, EAT_PLANT, DEFEAT_SKELETON, DID_MAKE_STONE_PICKAXE,
    DID_MAKE_STONE_SWORD, WAKE_UP, DID_PLACE_FURNACE, COLLECT_COAL, COLLECT_IRON, COLLECT_DIAMOND,
    DID_MAKE_IRON_PICKAXE, DID_MAKE_IRON_SWORD, DID_MAKE_ARROW, DID_MAKE_TORCH, DID_PLACE_TORCH, DID_MAKE_DIAMOND_SWORD,
    DID_MAKE_IRON_ARMOUR, DID_MAKE_DIAMOND_ARMOUR, ENTER_GNOMISH_MINES, ENTER_DUNGEON, ENTER_SEWERS, ENTER_VAULT,
    ENTER_TROLL_MINES, ENTER_FIRE_REALM, ENTER_ICE_REALM, ENTER_GRAVEYARD, DEFEAT_GNOME_WARRIOR, DEFEAT_GNOME_ARCHER,
    DEFEAT_ORC_SOLDIER, DEFEAT_ORC_MAGE, DEFEAT_LIZARD, DEFEAT_KOBOLD, DEFEAT_TROLL, DEFEAT_DEEP_THING, DEFEAT_PIGMAN,
    DEFEAT_FIRE_ELEMENTAL, DEFEAT_FROST_TROLL, DEFEAT_ICE_ELEMENTAL, DAMAGE_NECROMANCER, DEFEAT_NECROMANCER, EAT_BAT,
    EAT_SNAIL, FIND_BOW, FIRE_BOW, COLLECT_SAPPHIRE, LEARN_FIREBALL, DID_CAST_FIREBALL, LEARN_ICEBALL,
    DID_CAST_ICEBALL, COLLECT_RUBY, DID_MAKE_DIAMOND_PICKAXE, OPEN_CHEST, DRINK_ANY_POTION, DID_ENCHANT_SWORD,
    DID_ENCHANT_ARMOUR, DEFEAT_KNIGHT, DEFEAT_ARCHER
};
enum ShotType : uint8_t { ARROW, DAGGER, FIREBALL, ICEBALL, ARROW_2, SLIMEBALL, FIREBALL_2, ICEBALL_2 };
// clang-format on
enum Kind { PASSIVE, MELEE, RANGED };
enum Magic { NO_MAGIC, FIRE, ICE };

// the step of a move, or none
inline Point step_of(int64_t action) {
    constexpr Point STEPS[] = {{0, 0}, {0, -1}, {0, 1}, {-1, 0}, {1, 0}};
    return action >= LEFT && action <= DOWN ? STEPS[action] : STEPS[0];
}

constexpr uint64_t SOLID =
    set_of(STONE, TREE, COAL, IRON, DIAMOND, TABLE, FURNACE, PLANT, RIPE_PLANT, WALL, WALL_MOSS, STALAGMITE, RUBY,
           SAPPHIRE, CHEST, FOUNTAIN, FIRE_TREE, FIRE_TABLE, ICE_TABLE, GRAVE, GRAVE_2, GRAVE_3, NECROMANCER);
constexpr uint64_t LAND = set_of(GRASS, PATH, FIRE_GRASS, ICE_GRASS), GRAVES = set_of(GRAVE, GRAVE_2, GRAVE_3);

// physical, of fire, of ice
using Damage = std::array<float, 3>;

// What an achievement is worth
constexpr int worth_of(int achievement) {
    const auto is = [=](auto... numbers) { return ((achievement == numbers) || ...); };
    const auto in = [=](int first, int last) { return achievement >= first && achievement <= last; };
    if (achievement <= DID_PLACE_TORCH) return 1;
    if (in(ENTER_FIRE_REALM, ENTER_GRAVEYARD) || in(DEFEAT_PIGMAN, DEFEAT_NECROMANCER)) return 8;
    return achievement <= ENTER_DUNGEON || in(DEFEAT_GNOME_WARRIOR, DEFEAT_ORC_MAGE) || in(EAT_BAT, COLLECT_SAPPHIRE)
                   || is(COLLECT_RUBY, DID_MAKE_DIAMOND_PICKAXE, OPEN_CHEST, DRINK_ANY_POTION)
               ? 3
               : 5;
}

// ---- by floor

struct FloorRules {
    int types[3];  // of creatures, by kind, as are the chances
    float chances[3], melee_night_chance;
    Achievement achievement;
};
constexpr FloorRules FLOOR_RULES[] = {
    {{0, 0, 0}, {0.1f, 0.02f, 0.05f}, 0.1f, COLLECT_WOOD},     {{2, 2, 2}, {0.1f, 0.06f, 0.05f}, 0, ENTER_DUNGEON},
    {{1, 1, 1}, {0.1f, 0.06f, 0.05f}, 0, ENTER_GNOMISH_MINES}, {{2, 3, 3}, {0.1f, 0.06f, 0.05f}, 0, ENTER_SEWERS},
    {{2, 4, 4}, {0.1f, 0.06f, 0.05f}, 0, ENTER_VAULT},         {{1, 5, 5}, {0.1f, 0.06f, 0.05f}, 0, ENTER_TROLL_MINES},
    {{1, 6, 6}, {0.1f, 0.06f, 0.05f}, 0, ENTER_FIRE_REALM},    {{1, 7, 7}, {0, 0.06f, 0.05f}, 0, ENTER_ICE_REALM},
    {{0, 0, 0}, {0.1f, 0.06f, 0.05f}, 0, ENTER_GRAVEYARD}};
constexpr int NUM_FLOORS = std::size(FLOOR_RULES);

// Of floors that are made of noise.
struct Ore {
    Block from, ore;
    float chance;
};
struct SmoothRules {
    int level;
    Block ground, sea, coast, mountain, tunnel, inner, tree_ground, tree, lava, start, ladder;
    bool has_up, has_down;
    float light, mountain_inverse, mountain_most, water_above, tree_above, tree_noise_above;
    Ore ores[5];
};
// clang-format off
constexpr SmoothRules SMOOTH_RULES[] = {
    {0, GRASS, WATER, SAND, STONE, PATH, PATH, GRASS, TREE, LAVA, GRASS, PATH, false, true,
     1, 1 / 5.0f, 1, 0.7f, 0.8f, 0.5f,
     {{STONE, COAL, 0.03f}, {STONE, IRON, 0.02f}, {STONE, DIAMOND, 0.001f}}},
    {2, PATH, WATER, PATH, STONE, STONE, STONE, PATH, STALAGMITE, LAVA, PATH, PATH, true, true,
     0, 1 / 17.0f, 1.5f, 0.7f, 0.8f, 0.5f,
     {{STONE, COAL, 0.04f}, {STONE, IRON, 0.02f}, {STONE, DIAMOND, 0.005f}, {STONE, SAPPHIRE, 0.0025f},
      {STONE, RUBY, 0.0025f}}},
    {5, PATH, WATER, PATH, STONE, STONE, STONE, PATH, STALAGMITE, LAVA, PATH, PATH, true, true,
     0, 1 / 17.0f, 1.5f, 0.7f, 0.8f, 0.5f,
     {{STONE, COAL, 0.04f}, {STONE, IRON, 0.03f}, {STONE, DIAMOND, 0.01f}, {STONE, SAPPHIRE, 0.01f},
      {STONE, RUBY, 0.01f}}},
    {6, FIRE_GRASS, LAVA, SAND, STONE, STONE, STONE, FIRE_GRASS, FIRE_TREE, LAVA, FIRE_GRASS, FIRE_GRASS, true, true,
     1, 1 / 5.0f, 1, 0.5f, 0.8f, 0.5f,
     {{STONE, COAL, 0.05f}, {}, {}, {}, {STONE, RUBY, 0.025f}}},
    {7, ICE_GRASS, WATER, ICE_GRASS, STONE, STONE, STONE, ICE_GRASS, ICE_SHRUB, WATER, ICE_GRASS, ICE_GRASS, true, true,
     0, 1 / 17.0f, 1.5f, 0.5f, 0.4f, 0.5f,
     {{}, {}, {STONE, DIAMOND, 0.005f}, {STONE, SAPPHIRE, 0.02f}}},
    {8, PATH, PATH, PATH, WALL, WALL, WALL, PATH, GRAVE, WALL, NECROMANCER, PATH, false, false,
     0, 1 / 10.0f, 10, 0.7f, 0.95f, -1,
     {{WALL, WALL_MOSS, 0.1f}, {GRAVE, GRAVE_2, 0.333f}, {GRAVE, GRAVE_3, 0.5f}}}};
constexpr Ore CLASSIC_ORES[] = {{STONE, COAL, 0.04f}, {STONE, IRON, 0.03f}, {STONE, DIAMOND, 0.005f}};
// clang-format on

struct DungeonRules {
    int level;
    Block special, fountain, rare;
};
constexpr DungeonRules DUNGEON_RULES[] = {
    {1, PATH, FOUNTAIN, PATH}, {3, ICE_TABLE, WATER, WATER}, {4, FIRE_TABLE, FOUNTAIN, PATH}};

// ---- by type of creature

// what a creature cannot enter
enum Ground { ON_LAND = 1, ON_WATER = 2, ON_LAVA = 4 };
constexpr int BY_LAND = ON_WATER | ON_LAVA, BY_AIR = 0, BY_WATER = ON_LAND | ON_LAVA, AMPHIBIAN = ON_LAVA;

struct TypeRules {
    // by kind
    int barred[3];
    float health[3];
    Achievement achievements[3];
    Damage defense, melee_damage, shot_damage;  // of its blows, and of a shot of this type
    ShotType shot;
};
// clang-format off
constexpr TypeRules TYPE_RULES[] = {
    {{BY_LAND, BY_LAND, BY_LAND}, {3, 5, 3}, {EAT_COW, DEFEAT_ZOMBIE, DEFEAT_SKELETON},
     {0, 0, 0}, {2, 0, 0}, {2, 0, 0}, ARROW},
    {{BY_AIR, BY_LAND, BY_LAND}, {4, 7, 5}, {EAT_BAT, DEFEAT_GNOME_WARRIOR, DEFEAT_GNOME_ARCHER},
     {0, 0, 0}, {4, 0, 0}, {4, 0, 0}, ARROW},
    {{BY_LAND, BY_LAND, BY_LAND}, {6, 9, 6}, {EAT_SNAIL, DEFEAT_ORC_SOLDIER, DEFEAT_ORC_MAGE},
     {0, 0, 0}, {3, 0, 0}, {0, 3, 0}, FIREBALL},
    {{BY_LAND, AMPHIBIAN, BY_LAND}, {8, 11, 8}, {COLLECT_WOOD, DEFEAT_LIZARD, DEFEAT_KOBOLD},
     {0, 0, 0}, {5, 0, 0}, {0, 0, 3}, DAGGER},
    {{BY_LAND, BY_LAND, BY_LAND}, {0, 12, 12}, {COLLECT_WOOD, DEFEAT_KNIGHT, DEFEAT_ARCHER},
     {0.5f, 0, 0}, {6, 0, 0}, {5, 0, 0}, ARROW_2},
    {{BY_LAND, BY_LAND, BY_WATER}, {0, 20, 4}, {COLLECT_WOOD, DEFEAT_TROLL, DEFEAT_DEEP_THING},
     {0.2f, 0, 0}, {6, 1, 1}, {4, 3, 3}, SLIMEBALL},
    {{BY_LAND, BY_LAND, BY_AIR}, {0, 20, 14}, {COLLECT_WOOD, DEFEAT_PIGMAN, DEFEAT_FIRE_ELEMENTAL},
     {0.9f, 1, 0}, {3, 5, 0}, {3, 5, 0}, FIREBALL_2},
    {{BY_LAND, BY_LAND, BY_AIR}, {0, 24, 16}, {COLLECT_WOOD, DEFEAT_FROST_TROLL, DEFEAT_ICE_ELEMENTAL},
     {0.9f, 0, 1}, {4, 0, 5}, {4, 0, 5}, ICEBALL_2}};
// clang-format on

}  // namespace cypool::craftax
