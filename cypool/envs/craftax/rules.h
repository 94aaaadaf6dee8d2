// The rules of both games.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <tuple>

#include "cypool/envs/craftax/floors.h"
#include "cypool/envs/craftax/game.h"

namespace cypool::craftax {

template <bool IS_FULL> void Game<IS_FULL>::reset(jax::Key key) noexcept(!IS_FULL) {
    static_cast<Beginning&>(*this) = {};
    player = {SIZE / 2, SIZE / 2};
    items.fill(0);
    achieved.fill(false);
    std::fill(plants.begin(), plants.end(), Plant{});
    if constexpr (IS_FULL) {
        floors_key = key;
        for (std::vector<Floor>& each : floors) each.clear();
        make_floor(0);
        here().killed = 10;
        // after the floors of noise, and after the dungeons
        key = jax::subkey(jax::subkey(key, 0), 0);
        jax::permutation(jax::take(key), potion_effects.data(), static_cast<int>(potion_effects.size()));
        if (setup->god_mode) {
            items.fill(MAX_ITEMS);
            items[PICKAXE] = items[SWORD] = 4, items[BOW] = 1;
            armours.fill(2);
            potions.fill(MAX_ITEMS);
        }
    } else {
        add_floor(0);
        make_smooth(here(), key, SMOOTH_RULES[0]);
    }
    noise_key = jax::take(key);
    update_light();
}

template <bool IS_FULL> void Game<IS_FULL>::change_floor(int64_t action) {
    const int thing = here().cells[cell_to_read<SIZE>(player)].thing;
    const bool may_descend = setup->god_mode || (thing == LADDER_DOWN && is_ladder_open());
    const int to = action == DESCEND && may_descend && level < NUM_FLOORS - 1                 ? level + 1
                   : action == ASCEND && (setup->god_mode || thing == LADDER_UP) && level > 0 ? level - 1
                                                                                              : level;
    if (to != level) {
        if (floors[to].empty()) make_floor(to);
        player = to > level ? floors[to].front().up : floors[to].front().down;
        level = to;
    }
    if (level > 0) {
        bool& has_entered = achieved[FLOOR_RULES[level].achievement];
        experience += !has_entered;
        has_entered = true;
    }
}

// What is made at a table
struct Recipe {
    Action action;
    Achievement achievement;
    enum { PICKAXES, SWORDS, ARMOURS, ARROW_PACK, TORCH_PACK } makes;
    int level;  // how good it is, or how many
    bool needs_furnace;
    int costs[5];  // wood, stone, coal, iron and diamonds
};
constexpr Recipe RECIPES[] = {
    {MAKE_WOOD_PICKAXE, DID_MAKE_WOOD_PICKAXE, Recipe::PICKAXES, 1, false, {1}},
    {MAKE_STONE_PICKAXE, DID_MAKE_STONE_PICKAXE, Recipe::PICKAXES, 2, false, {1, 1}},
    {MAKE_IRON_PICKAXE, DID_MAKE_IRON_PICKAXE, Recipe::PICKAXES, 3, true, {1, 1, 1, 1}},
    {MAKE_DIAMOND_PICKAXE, DID_MAKE_DIAMOND_PICKAXE, Recipe::PICKAXES, 4, false, {1, 0, 0, 0, 3}},
    {MAKE_WOOD_SWORD, DID_MAKE_WOOD_SWORD, Recipe::SWORDS, 1, false, {1}},
    {MAKE_STONE_SWORD, DID_MAKE_STONE_SWORD, Recipe::SWORDS, 2, false, {1, 1}},
    {MAKE_IRON_SWORD, DID_MAKE_IRON_SWORD, Recipe::SWORDS, 3, true, {1, 1, 1, 1}},
    {MAKE_DIAMOND_SWORD, DID_MAKE_DIAMOND_SWORD, Recipe::SWORDS, 4, false, {1, 0, 0, 0, 2}},
    {MAKE_IRON_ARMOUR, DID_MAKE_IRON_ARMOUR, Recipe::ARMOURS, 1, true, {0, 0, 3, 3}},
    {MAKE_DIAMOND_ARMOUR, DID_MAKE_DIAMOND_ARMOUR, Recipe::ARMOURS, 2, false, {0, 0, 0, 0, 3}},
    {MAKE_ARROW, DID_MAKE_ARROW, Recipe::ARROW_PACK, 2, false, {1, 1}},
    {MAKE_TORCH, DID_MAKE_TORCH, Recipe::TORCH_PACK, 4, false, {1, 0, 1}}};

template <bool IS_FULL> void Game<IS_FULL>::make(int64_t action) {
    const Recipe* recipe =
        std::find_if(std::begin(RECIPES), std::end(RECIPES), [&](const Recipe& each) { return each.action == action; });
    if (recipe == std::end(RECIPES) || !is_near(TABLE) || (recipe->needs_furnace && !is_near(FURNACE))) return;
    const int level = recipe->level;
    int32_t* made = nullptr;
    switch (recipe->makes) {
        case Recipe::PICKAXES: made = &items[PICKAXE + (IS_FULL ? 0 : level - 1)]; break;
        case Recipe::SWORDS: made = &items[SWORD + (IS_FULL ? 0 : level - 1)]; break;
        case Recipe::ARMOURS:
            made = std::find_if(armours.begin(), armours.end(), [&](int32_t each) { return each < level; });
            break;
        default: made = &items[recipe->makes == Recipe::ARROW_PACK ? ARROWS : TORCHES];
    }
    const bool is_pack = !IS_FULL || recipe->makes >= Recipe::ARROW_PACK;
    if (made == armours.end() || (IS_FULL && *made >= (is_pack ? MAX_ITEMS : level))) return;
    for (int k = 0; k < 5; ++k) {
        if (items[WOOD_ITEM + k] < recipe->costs[k]) return;
    }
    for (int k = 0; k < 5; ++k) items[WOOD_ITEM + k] -= recipe->costs[k];
    *made = !is_pack ? level : *made + (IS_FULL ? level : 1);
    achieved[recipe->achievement] = true;
}

inline float damage_after(const Damage& damage, const Damage& defense) {
    float sum = 0;
    for (size_t k = 0; k < damage.size(); ++k) sum = jax::fused(1 - defense[k], damage[k], sum);
    return sum;
}

// Returns whether one was hit. One of each kind may be.
template <bool IS_FULL> bool Game<IS_FULL>::attack(Point to, const Damage& damage, bool can_eat) {
    Floor& floor = here();
    bool is_hit = false;
    // returns whether one is dead
    const auto hit = [&](Slots<Mob>& mobs, Kind kind) {
        Mob* mob =
            std::find_if(mobs.begin(), mobs.end(), [&](const Mob& each) { return each.is_used && each.at == to; });
        const bool is_found = mob != mobs.end();
        if (is_found) {
            const bool is_bare = kind == PASSIVE || (kind == RANGED && mob->type == 5);
            mob->health -= damage_after(damage, is_bare ? Damage{} : TYPE_RULES[mob->type].defense);
            is_hit = true;
        }
        if constexpr (IS_FULL) {
            if (!is_found || mob->health > 0) return false;
            mob->is_used = false;
        } else {
            if (!is_found) mob = mobs.begin();
            const bool was_used = mob->is_used;
            // slots that are not in use come alive, too
            for (Mob& each : mobs) each.is_used = each.health > 0;
            if (!was_used || mob->is_used) return false;
        }
        if (kind != PASSIVE || can_eat) achieved[TYPE_RULES[mob->type].achievements[kind]] = true;
        return true;
    };
    bool is_monster_dead = hit(floor.melee, MELEE);
    const bool is_passive_dead = hit(floor.passive, PASSIVE);
    if (is_passive_dead && can_eat) eat(6);
    is_monster_dead |= hit(floor.ranged, RANGED);
    if (is_monster_dead || is_passive_dead) floor.set_taken(to, false);
    floor.killed += is_monster_dead;
    return is_hit;
}

template <bool IS_FULL> void Game<IS_FULL>::eat(int amount) {
    food = std::min(max_need(), food + amount);
    hunger = 0;
}

template <bool IS_FULL> void Game<IS_FULL>::loot(jax::Key key) {
    const auto draw = [&](float chance) { return jax::uniform(jax::take(key)) < chance; };
    const auto count = [&](int low, int high) { return jax::randint(jax::take(key), low, high); };
    constexpr float ORES[] = {0.3f, 0.3f, 0.15f, 0.125f, 0.125f}, TOOLS[] = {0.4f, 0.3f, 0.2f, 0.1f};
    const bool has_torches = draw(0.6f);
    const int torches = count(4, 8);
    const bool has_ore = draw(0.6f);
    const int ore = jax::choice(jax::take(key), ORES, 5);
    const jax::Key amount = jax::take(key);
    const bool has_potions = draw(0.5f);
    const int potion = count(0, static_cast<int>(potions.size())), num_potions = count(1, 3);
    const bool has_arrows = draw(0.25f);
    const int arrows = count(1, 5);
    const bool has_tool = draw(0.2f);
    const int tool = count(0, 2);
    const jax::Key tool_keys[] = {jax::take(key), jax::take(key)};
    if (has_torches) items[TORCHES] += torches;
    if (has_ore) {
        constexpr Item ITEMS[] = {COAL_ITEM, IRON_ITEM, DIAMOND_ITEM, SAPPHIRE_ITEM, RUBY_ITEM};
        items[ITEMS[ore]] += ore == 0 ? jax::randint(amount, 1, 4) : ore == 1 ? jax::randint(amount, 1, 3) : 1;
    }
    if (has_potions) potions[potion] += num_potions;
    if (has_arrows) items[ARROWS] += arrows;
    if (has_tool) {
        int32_t& best = items[tool == 0 ? PICKAXE : SWORD];
        best = std::max(best, 1 + jax::choice(tool_keys[tool], TOOLS, 4));
    }
    if (here().has_opened_chest) return;
    if (level == 1) items[BOW] = 1;
    if (level == 3 || level == 4) ++items[BOOKS];
}

template <bool IS_FULL> void Game<IS_FULL>::act(jax::Key key) {
    constexpr float BLOWS[] = {1, 2, 3, 5, 8};
    Floor& floor = here();
    const Point to = target();
    const float blow =
        IS_FULL ? BLOWS[items[SWORD]]
                : static_cast<float>(std::max({1, 2 * items[SWORD], 3 * items[SWORD + 1], 5 * items[SWORD + 2]}));
    const float magic = jax::fused(0.05f, static_cast<float>(intelligence - 1), 1);
    const Damage damage{blow * (1 + 0.25f * static_cast<float>(strength - 1)),
                        (sword_magic == FIRE ? blow * 0.5f : 0) * magic,
                        (sword_magic == ICE ? blow * 0.5f : 0) * magic};
    const bool is_hit = attack(to, damage, true);
    const Block block = floor.block_at(to);
    jax::KeysToTake<2> keys(key);  // for a sapling and a chest
    if (!is_hit && inside(to)) {
        const auto leave = [&](Block left) { floor.set_block(to, left); };
        const auto collect = [&](Item item, Achievement achievement, Block left) {
            ++items[item];
            achieved[achievement] = true;
            leave(left);
        };
        const auto mine = [&](Item item, int pickaxe, Achievement achievement) {
            if (IS_FULL ? items[PICKAXE] >= pickaxe : items[PICKAXE + pickaxe - 1] > 0) {
                collect(item, achievement, PATH);
            }
        };
        switch (block) {
            case TREE: collect(WOOD_ITEM, COLLECT_WOOD, GRASS); break;
            case FIRE_TREE: collect(WOOD_ITEM, COLLECT_WOOD, FIRE_GRASS); break;
            case ICE_SHRUB: collect(WOOD_ITEM, COLLECT_WOOD, ICE_GRASS); break;
            case STONE:
            case STALAGMITE: mine(STONE_ITEM, 1, COLLECT_STONE); break;
            case FURNACE:
            case TABLE:
                if (IS_FULL) leave(PATH);
                break;
            case COAL: mine(COAL_ITEM, 1, COLLECT_COAL); break;
            case IRON: mine(IRON_ITEM, 2, COLLECT_IRON); break;
            case DIAMOND: mine(DIAMOND_ITEM, 3, COLLECT_DIAMOND); break;
            case GRASS:
                if (jax::uniform(keys[0]) < 0.1f) collect(SAPLING, COLLECT_SAPLING, GRASS);
                break;
            case WATER:
            case FOUNTAIN:
                drink = std::min(max_need(), drink + 1);
                thirst = 0;
                achieved[COLLECT_DRINK] = true;
                break;
            case RIPE_PLANT: {
                leave(PLANT);
                eat(4);
                achieved[EAT_PLANT] = true;
                // it grows again; the first one, if none is there
                Plant* found =
                    std::find_if(plants.begin(), plants.end(), [&](const Plant& each) { return each.at == to; });
                (found == plants.end() ? plants.begin() : found)->age = 0;
                break;
            }
            default: break;
        }
        if constexpr (IS_FULL) {
            if (block == SAPPHIRE) mine(SAPPHIRE_ITEM, 4, COLLECT_SAPPHIRE);
            if (block == RUBY) mine(RUBY_ITEM, 4, COLLECT_RUBY);
            if (block == CHEST) {
                leave(PATH);
                loot(keys[1]);
                achieved[OPEN_CHEST] = true;
            }
            if (block == NECROMANCER && is_boss_vulnerable() && is_at_boss()) achieved[DAMAGE_NECROMANCER] = true;
        }
    }
    // whether a creature was hit or not, and beyond the edge, too
    if (block == CHEST) floor.has_opened_chest = true;
    if (block == NECROMANCER && is_boss_vulnerable() && is_at_boss()) {
        ++boss_progress;
        boss_wait = 7;
    }
}

template <bool IS_FULL> void Game<IS_FULL>::place(int64_t action) {
    const Point to = target();
    if (((action < PLACE_STONE || action > PLACE_PLANT) && action != PLACE_TORCH) || !inside(to) || is_occupied(to)) {
        return;
    }
    const Cell cell = here().cells[to.x * SIZE + to.y];
    const bool is_empty = cell.thing == NOTHING, is_free = is_empty && !has(SOLID, cell.block);
    const bool is_ground = is_free && (IS_FULL || cell.block != WATER);
    const auto put = [&](Item item, int cost, bool may, Achievement achievement, Block becomes) {
        if (!may || items[item] < cost) return;
        items[item] -= cost;
        achieved[achievement] = true;
        here().set_block(to, becomes);
        if (becomes == PLANT && !plants.is_full()) plants.free() = {to, 0, true};
    };
    switch (action) {
        case PLACE_STONE: put(STONE_ITEM, 1, is_free || cell.block == WATER, DID_PLACE_STONE, STONE); break;
        case PLACE_TABLE: put(WOOD_ITEM, 2, is_ground, DID_PLACE_TABLE, TABLE); break;
        case PLACE_FURNACE: put(STONE_ITEM, 1, is_ground, DID_PLACE_FURNACE, FURNACE); break;
        case PLACE_PLANT: put(SAPLING, 1, is_empty && cell.block == GRASS, DID_PLACE_PLANT, PLANT); break;
        default:
            if (is_empty && has(set_of(GRASS, SAND, PATH, FIRE_GRASS, ICE_GRASS), cell.block) && items[TORCHES] > 0) {
                --items[TORCHES];
                achieved[DID_PLACE_TORCH] = true;
                here().set_thing(to, TORCH);
                if (here().lights.empty()) return;
                for (int x = -4; x <= 4; ++x) {
                    for (int y = -4; y <= 4; ++y) {
                        const Point at = to + Point{x, y};
                        if (!inside(at)) continue;
                        const int cell = at.x * SIZE + at.y;
                        here().set_light(cell, added(here().light_of(cell), torch_light(x, y)));
                    }
                }
            }
    }
}

// Of Craftax: the bow, spells, potions, books and experience.
template <bool IS_FULL> void Game<IS_FULL>::use(int64_t action, jax::Key reading) {
    const auto shoot = [&](ShotType type) { here().arrows.free() = {player, step_of(facing), type, true}; };
    if (action == SHOOT_ARROW && items[BOW] > 0 && items[ARROWS] > 0 && !here().arrows.is_full()) {
        shoot(ARROW_2);
        --items[ARROWS];
        achieved[FIRE_BOW] = true;
    }
    const bool is_ice = action == CAST_ICEBALL;
    if ((action == CAST_FIREBALL || is_ice) && mana >= 2 && has_learned[is_ice] && !here().arrows.is_full()) {
        shoot(is_ice ? ICEBALL : FIREBALL);
        mana -= 2;
        achieved[is_ice ? DID_CAST_ICEBALL : DID_CAST_FIREBALL] = true;
    }
    const int64_t potion = action - DRINK_POTION;
    if (potion >= 0 && potion < std::ssize(potions) && potions[potion] > 0) {
        --potions[potion];
        achieved[DRINK_ANY_POTION] = true;
        const int effect = potion_effects[potion], change = effect % 2 ? -3 : 8;
        if (effect < 2) health += static_cast<float>(change);
        if (effect >= 2) (effect < 4 ? mana : energy) += change;
    }
    if (action == READ_BOOK && items[BOOKS] > 0) {
        const int unknown = !has_learned[0] + !has_learned[1];
        const float share = unknown ? 1 / static_cast<float>(unknown) : 0;
        const float shares[] = {has_learned[0] ? 0 : share, has_learned[1] ? 0 : share};
        const int spell = jax::choice(jax::subkey(reading, 1), shares, 2);
        --items[BOOKS];
        has_learned[spell] = true;
        achieved[spell ? LEARN_ICEBALL : LEARN_FIREBALL] = true;
    }
}

template <bool IS_FULL> void Game<IS_FULL>::enchant(int64_t action, jax::Key key) {
    const Block block = here().block_at(target());
    if (block != FIRE_TABLE && block != ICE_TABLE) return;
    const Magic magic = block == FIRE_TABLE ? FIRE : ICE;
    int32_t& gems = items[magic == FIRE ? RUBY_ITEM : SAPPHIRE_ITEM];
    if (mana < 9 || gems < 1) return;
    if (action == ENCHANT_BOW && items[BOW] > 0) {
        bow_magic = magic;
    } else if (action == ENCHANT_SWORD && items[SWORD] > 0) {
        sword_magic = magic;
        achieved[DID_ENCHANT_SWORD] = true;
    } else if (action == ENCHANT_ARMOUR
               && std::any_of(armours.begin(), armours.end(), [](int each) { return each > 0; })) {
        const bool is_any_bare = std::count(armour_magic.begin(), armour_magic.end(), NO_MAGIC) > 0;
        float shares[4];
        for (int k = 0; k < 4; ++k) {
            shares[k] = armour_magic[k] == NO_MAGIC || (!is_any_bare && armour_magic[k] != magic);
        }
        armour_magic[jax::choice(jax::subkey(key, 1), shares, 4)] = magic;
        achieved[DID_ENCHANT_ARMOUR] = true;
    } else {
        return;
    }
    --gems;
    mana -= 9;
}

template <bool IS_FULL> void Game<IS_FULL>::hurt(Damage damage) {
    Damage defense{};
    for (int k = 0; k < 4; ++k) {
        defense[0] = jax::fused(static_cast<float>(armours[k]), 0.1f, defense[0]);
        if (armour_magic[k] != NO_MAGIC) defense[armour_magic[k]] += 0.2f;
    }
    for (float& each : damage) each *= is_at_boss() ? 1.5f : 1.0f;
    health -= damage_after(damage, defense);
    is_sleeping = is_resting = false;
}

template <bool IS_FULL> void Game<IS_FULL>::move_player(int64_t action) {
    if (action < LEFT || action > DOWN) return;
    facing = static_cast<int32_t>(action);
    const Point to = target();
    // in Classic, lava is entered, even beyond the edge
    if (setup->god_mode || can_enter(to, BY_LAND) || (!IS_FULL && here().block_at(to) == LAVA)) player = to;
}

template <bool IS_FULL> void Game<IS_FULL>::move(Mob& mob, Point to, bool stays, Kind kind) {
    if (!can_enter(to, TYPE_RULES[mob.type].barred[kind])) to = mob.at;
    if (mob.is_used) here().set_taken(mob.at, false);
    mob.is_used &= stays;
    if (mob.is_used) here().set_taken(to, true);
    // slots that are not in use move as well
    mob.at = to;
}

template <bool IS_FULL> void Game<IS_FULL>::move_creatures(jax::Key key) {
    Floor& floor = here();
    const auto stays = [&](int away) { return away < setup->despawn_distance || is_at_boss(); };
    const auto walk = [&](const Mob& mob, jax::Key drawing, int num_directions) {
        return mob.at + step_of(LEFT + jax::randint(drawing, 0, num_directions));
    };
    key = jax::subkey(key, 0);
    for (Mob& mob : floor.melee) {
        jax::KeysToTake<4> keys(key);  // to walk, for the axis, to chase, and of the next one
        const int away = distance(mob.at, player);
        const bool attacks = away == 1 && mob.cooldown <= 0 && mob.is_used;
        Point to = mob.at;
        if (attacks) {
            Damage damage = TYPE_RULES[mob.type].melee_damage;
            for (float& each : damage) each *= is_sleeping ? 3.5f : 1.0f;
            achieved[WAKE_UP] |= is_sleeping;
            hurt(damage);
        } else if ((away < 10 || is_at_boss()) && jax::uniform(keys[2]) < 0.75f) {
            to = to + step_toward(keys[1], mob.at, player);
        } else {
            to = walk(mob, keys[0], 4);
        }
        mob.cooldown = attacks ? 5 : mob.cooldown - 1;
        move(mob, to, stays(away), MELEE);
        key = keys[3];
    }
    key = jax::subkey(key, 0);
    for (Mob& mob : floor.passive) {
        // half of the directions are none
        move(mob, walk(mob, jax::take(key), 8), distance(mob.at, player) < setup->despawn_distance, PASSIVE);
    }
    key = jax::subkey(key, 0);
    for (Mob& mob : floor.ranged) {
        jax::KeysToTake<3> keys(key);  // to walk, for the axis, and to choose
        const int away = distance(mob.at, player), far = IS_FULL ? 6 : 10;
        const auto nearer = [&] { return step_toward(keys[1], mob.at, player); };
        const bool is_moved = (away <= 3 || away >= far) && jax::uniform(keys[2]) > 0.85f;
        Point to = !is_moved ? walk(mob, keys[0], 4) : away <= 3 ? mob.at - nearer() : mob.at + nearer();
        const TypeRules& rules = TYPE_RULES[mob.type];
        const bool attacks = mob.cooldown <= 0 && mob.is_used
                             && ((away >= 4 && away <= 5) || (away <= 3 && !can_enter(to, rules.barred[RANGED])));
        if (attacks) {
            if (!floor.shots.is_full()) floor.shots.free() = {mob.at, nearer(), rules.shot, true};
            to = mob.at;
        }
        mob.cooldown = attacks ? 4 : mob.cooldown - 1;
        move(mob, to, stays(away), RANGED);
        key = keys.rest();
    }
}

template <bool IS_FULL> void Game<IS_FULL>::move_shots() {
    for (Shot& shot : here().shots) {
        const Point to = shot.at + shot.step;
        if (shot.is_used) {
            const Block block = here().block_at(to);
            const bool is_hit = to == player || (IS_FULL && shot.at == player);
            shot.is_used = inside(to) && !has(SOLID, block) && !is_occupied(to) && !is_hit;
            if (block == FURNACE || block == TABLE) here().set_block(to, PATH);
            if (is_hit) hurt(TYPE_RULES[shot.type].shot_damage);
        }
        shot.at = to;
    }
}

template <bool IS_FULL> void Game<IS_FULL>::move_arrows() {
    for (Shot& arrow : here().arrows) {
        const Point to = arrow.at + arrow.step;
        if (arrow.is_used) {
            Damage damage = TYPE_RULES[arrow.type].shot_damage;
            float factor = 1;
            if (arrow.type == ARROW || arrow.type == ARROW_2) {
                if (bow_magic != NO_MAGIC) damage[bow_magic] += damage[0] * 0.5f;
                factor = jax::fused(0.2f, static_cast<float>(dexterity - 1), 1);
            } else if (arrow.type == FIREBALL || arrow.type == ICEBALL) {
                factor = 1 + 0.5f * static_cast<float>(intelligence - 1);
            }
            for (float& each : damage) each *= factor;
            const Block block = here().block_at(to);
            const bool is_first = attack(arrow.at, damage, false);
            const bool is_second = attack(to, is_first ? Damage{} : damage, false);
            arrow.is_used = inside(to) && !has(SOLID, block) && !is_first && !is_second;
        }
        arrow.at = to;
    }
}

template <bool IS_FULL> void Game<IS_FULL>::spawn(jax::Key key) {
    constexpr int FAR_AWAY = 1 << 30;
    Floor& floor = here();
    const bool is_boss = is_at_boss();
    const FloorRules& rules = IS_FULL ? FLOOR_RULES[level] : setup->first;
    // of the boss: those of all floors, one after the other
    const FloorRules& from = is_boss ? FLOOR_RULES[std::min(boss_progress, NUM_FLOORS - 1)] : rules;
    const auto add = [&](Slots<Mob>& mobs, Kind kind, int type, float chance, uint64_t ground, int above, int below) {
        jax::KeysToTake<2> keys(key);  // for luck and the place
        key = keys.rest();
        Mob& mob = mobs.free();
        if (!mobs.is_full() && jax::uniform(keys[0]) < chance) {
            jax::Cells<SIZE> cells;
            const int reach = setup->despawn_distance, most = std::min(below, reach * reach);
            const int first = std::max({0, player.y - SIZE + 1, -player.y});
            const int last = std::min(reach, std::max(player.y, SIZE - 1 - player.y));
            for (int x = std::max(0, player.x - reach); x <= std::min(SIZE - 1, player.x + reach); ++x) {
                const int down = std::abs(x - player.x);
                uint64_t row = 0;
                for (int right = first; right <= last; ++right) {
                    const int away = IS_FULL ? down * down + right * right : (down + right) * (down + right);
                    if (away >= most) break;
                    if (away <= above) continue;
                    for (const int y : {player.y - right, player.y + right}) {
                        if (static_cast<unsigned>(y) >= SIZE) continue;
                        row |= uint64_t{has(ground, floor.cells[x * SIZE + y].block)} << y;
                    }
                }
                cells.add_row(x, row & ~floor.taken[x]);
            }
            if (const int count = cells.count()) {
                std::tie(mob.at.x, mob.at.y) = cells.choose(keys[1], 1 / static_cast<float>(count));
                mob.health = IS_FULL ? TYPE_RULES[type].health[kind] : setup->health[kind];
                mob.is_used = true;
            }
        }
        // even if none comes
        mob.type = static_cast<uint8_t>(type);
        if (mob.is_used) floor.set_taken(mob.at, true);
    };
    const int above = is_boss ? -1 : 81, below = is_boss ? 37 : FAR_AWAY, type = from.types[RANGED];
    const int more = is_boss ? (boss_wait >= 1 ? 1000 : 0) : 1;
    const float often = static_cast<float>((!IS_FULL || is_ladder_open() ? 1 : 3) * more), dark = 1 - light;
    const uint64_t meadow = IS_FULL ? LAND : set_of(GRASS), cave = IS_FULL ? LAND : set_of(PATH);
    add(floor.passive, PASSIVE, rules.types[PASSIVE], is_boss ? 0 : rules.chances[PASSIVE], meadow, 9, FAR_AWAY);
    add(floor.melee, MELEE, from.types[MELEE],
        jax::fused(rules.melee_night_chance, dark * dark, rules.chances[MELEE]) * often, is_boss ? GRAVES : LAND, above,
        below);
    add(floor.ranged, RANGED, type, rules.chances[RANGED] * often,
        is_boss     ? GRAVES
        : type == 5 ? set_of(WATER)
                    : cave,
        above, below);
}

template <bool IS_FULL> void Game<IS_FULL>::update_needs(int64_t action) {
    if (action == SLEEP && energy < max_need()) is_sleeping = true;
    if (energy >= max_need() && is_sleeping) {
        is_sleeping = false;
        achieved[WAKE_UP] = true;
    }
    if (action == REST && health < max_health()) is_resting = true;
    if (health >= max_health() || food <= 0 || drink <= 0) is_resting = false;
    // nobody grows hungry while fighting the boss
    const int cost = !is_at_boss();
    const float slower = 1 - 0.125f * static_cast<float>(dexterity - 1), pace = (is_sleeping ? 0.5f : 1.0f) * slower;
    const auto consume = [&](int32_t& need) { need = std::max(need - cost, 0); };
    if ((hunger += pace) > 25) hunger = 0, consume(food);
    if ((thirst += pace) > 20) thirst = 0, consume(drink);
    fatigue = is_sleeping ? std::min(fatigue - 1, 0.0f) : fatigue + slower;
    if (fatigue > 30) fatigue = 0, consume(energy);
    if (fatigue < -10) fatigue = 0, energy = std::min(energy + 1, max_need());
    const bool is_well = food > 0 && drink > 0 && (energy > 0 || is_sleeping);
    recovery += is_well ? (is_sleeping ? 2.0f : 1.0f) : (is_sleeping ? -0.5f : -1.0f) * static_cast<float>(cost);
    if (recovery > 25) recovery = 0, health = std::min(health + 1, max_health());
    if (recovery < -15) recovery = 0, --health;
    if (!IS_FULL) return;
    mana_recovery = (mana_recovery + (is_sleeping ? 2.0f : 1.0f)) * (1 + 0.25f * static_cast<float>(intelligence - 1));
    if (mana_recovery > 30) mana_recovery = 0, ++mana;
}

template <bool IS_FULL> void Game<IS_FULL>::step(jax::Key key, int64_t action) noexcept(!IS_FULL) {
    const auto achieved_before = achieved;
    const float health_before = health;
    if (is_sleeping || is_resting) action = NOOP;
    if constexpr (IS_FULL) change_floor(action);
    make(action);
    if (action == DO) act(jax::subkey(key, 1));
    key = jax::subkey(key, 0);
    place(action);
    if constexpr (IS_FULL) {
        jax::KeysToTake<2> keys(key);
        use(action, keys[0]);
        enchant(action, keys[1]);
        key = keys.rest();
        if (is_beaten()) achieved[DEFEAT_NECROMANCER] = true;
        boss_wait -= is_at_boss();
        for (int k = 0; int32_t* attribute : {&dexterity, &strength, &intelligence}) {
            const bool is_chosen = action == LEVEL_UP_DEXTERITY + k++;
            if (!is_chosen || experience < 1 || *attribute >= setup->max_attribute) continue;
            ++*attribute;
            --experience;
        }
    }
    move_player(action);
    move_creatures(jax::take(key));
    move_shots();
    if constexpr (IS_FULL) move_arrows();
    spawn(jax::take(key));
    for (Plant& each : plants) {
        each.age = each.is_used ? each.age + 1 : 0;
        if (each.age >= 600) floors[0].front().set_block(each.at, RIPE_PLANT);
    }
    update_needs(action);
    const auto cap = [](int32_t& number, int most) { number = std::clamp(number, 0, most); };
    for (int32_t& count : items) cap(count, MAX_ITEMS);
    health = std::min(std::max(health, setup->god_mode ? 9.0f : 0.0f), max_health());
    for (int32_t* need : {&food, &drink, &energy}) cap(*need, max_need());
    if constexpr (IS_FULL) {
        for (int32_t& count : potions) cap(count, MAX_ITEMS);
        cap(mana, 6 + 3 * intelligence);
        constexpr std::pair<Item, Achievement> FOUND[] = {
            {WOOD_ITEM, COLLECT_WOOD},         {STONE_ITEM, COLLECT_STONE},     {COAL_ITEM, COLLECT_COAL},
            {IRON_ITEM, COLLECT_IRON},         {DIAMOND_ITEM, COLLECT_DIAMOND}, {RUBY_ITEM, COLLECT_RUBY},
            {SAPPHIRE_ITEM, COLLECT_SAPPHIRE}, {SAPLING, COLLECT_SAPLING},      {BOW, FIND_BOW},
            {ARROWS, DID_MAKE_ARROW},          {TORCHES, DID_MAKE_TORCH}};
        for (const auto& [item, achievement] : FOUND) achieved[achievement] |= items[item] > 0;
        for (const Recipe& each : RECIPES) {
            const bool is_pickaxe = each.makes == Recipe::PICKAXES;
            if (each.makes <= Recipe::SWORDS)
                achieved[each.achievement] |= items[is_pickaxe ? PICKAXE : SWORD] >= each.level;
        }
    } else if (here().block_at(player) == LAVA) {
        health = 0;
    }
    int worth = 0;
    for (int k = 0; k < NUM_ACHIEVEMENTS; ++k) worth += achieved[k] != achieved_before[k] ? worth_of(k) : 0;
    reward = jax::fused(health - health_before, 0.1f, static_cast<float>(worth));
    noise_key = jax::subkey(key, 1);
    ++timestep;
    update_light();
}

template <bool IS_FULL> void Game<IS_FULL>::observe(float* out) const noexcept {
    constexpr int THINGS = NUM_BLOCKS, MOBS = THINGS + (IS_FULL ? 5 : 0), NUM_KINDS = IS_FULL ? 5 : 4;
    constexpr int CHANNELS = MOBS + NUM_KINDS * NUM_TYPES + IS_FULL, NUM_OTHERS = IS_FULL ? 51 : 22, EDGE = 13;
    const Floor& floor = here();
    std::memset(out, 0, (VIEW_HEIGHT * VIEW_WIDTH * CHANNELS + NUM_OTHERS) * sizeof(float));
    const Point middle{VIEW_HEIGHT / 2, VIEW_WIDTH / 2};
    const auto show = [&](const auto& slots, int kind) {
        for (const auto& each : slots) {
            // those out of view, or not in use, are written as 0, where a negative index counts from the end
            const Point at = each.at - player + middle;
            const int x = jax::write_index(at.x, VIEW_HEIGHT), y = jax::write_index(at.y, VIEW_WIDTH);
            if (x < 0 || y < 0) continue;
            out[(x * VIEW_WIDTH + y) * CHANNELS + MOBS + kind * NUM_TYPES + each.type] =
                each.is_used && Point{x, y} == at;
        }
    };
    show(floor.melee, 0);
    show(floor.passive, 1);
    show(floor.ranged, 2);
    show(floor.shots, 3);
    if (IS_FULL) show(floor.arrows, 4);
    // the view ends where the package's border does
    const int left = std::clamp(player.x - middle.x, -EDGE, SIZE + EDGE - VIEW_HEIGHT);
    const int top = std::clamp(player.y - middle.y, -EDGE, SIZE + EDGE - VIEW_WIDTH);
    for (int x = 0; x < VIEW_HEIGHT; ++x) {
        for (int y = 0; y < VIEW_WIDTH; ++y) {
            float* to = out + (x * VIEW_WIDTH + y) * CHANNELS;
            const int cell = (left + x) * SIZE + top + y;
            const bool is_inside = inside({left + x, top + y});
            if (!IS_FULL) {
                to[is_inside ? floor.cells[cell].block : uint8_t{OUT}] = 1;
            } else if (is_inside && floor.light_of(cell) > 0.05f) {
                to[floor.cells[cell].block] = to[THINGS + floor.cells[cell].thing] = to[CHANNELS - 1] = 1;
            } else {
                std::memset(to, 0, CHANNELS * sizeof(float));
            }
        }
    }
    float* to = out + VIEW_HEIGHT * VIEW_WIDTH * CHANNELS;
    const auto add = [&](float number) { *to++ = number; };
    const auto add_root = [&](int count) { add(std::sqrt(static_cast<float>(count)) * 0.1f); };
    // XLA knows the numbers of a new world and divides; later it multiplies
    const auto add_tenth = [&](float number) { add(timestep == 0 ? number / 10 : number * 0.1f); };
    const auto add_facing = [&] {
        if (facing != NOOP) to[facing - LEFT] = 1;
        to += 4;
    };
    if constexpr (IS_FULL) {
        for (int k = WOOD_ITEM; k <= ARROWS; ++k) add_root(items[k]);
        add(static_cast<float>(items[BOOKS]) * 0.5f);
        add(static_cast<float>(items[PICKAXE]) * 0.25f);
        add(static_cast<float>(items[SWORD]) * 0.25f);
        for (const int32_t number : {sword_magic, bow_magic, items[BOW]}) add(static_cast<float>(number));
        for (const int32_t count : potions) add_root(count);
        add_tenth(health);
        for (const int32_t number : {food, drink, energy, mana, experience, dexterity, strength, intelligence}) {
            add_tenth(static_cast<float>(number));
        }
        add_facing();
        for (const int32_t armour : armours) add(static_cast<float>(armour) * 0.5f);
        for (const int32_t magic : armour_magic) add(static_cast<float>(magic));
        add(seen_light);
        for (const bool flag : {is_sleeping, is_resting, has_learned[0], has_learned[1]}) add(flag);
        add(static_cast<float>(level) * 0.1f);
        add(is_ladder_open());
        add(is_boss_vulnerable());
    } else {
        // n / 10 of half precision, for which XLA multiplies
        constexpr float TENTHS[] = {0,    0.0999755859375f, 0.199951171875f, 0.2998046875f, 0.39990234375f,
                                    0.5f, 0.599609375f,     0.69970703125f,  0.7998046875f, 0.89990234375f};
        for (const int32_t count : items) add(TENTHS[count]);
        for (const int32_t need : {static_cast<int32_t>(health), food, drink, energy}) add(TENTHS[need]);
        add_facing();
        add(seen_light);
        add(is_sleeping);
    }
}

}  // namespace cypool::craftax
