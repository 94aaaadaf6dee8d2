// The rules of Craftax.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "cypool/envs/craftax/full.h"
#include "cypool/envs/craftax/full_floors.h"

namespace cypool::craftax {

inline void Full::reset(jax::Key key) {
    jax::Key rest = floors_key = jax::subkey(key, 1);
    for (Copied<Floor>& each : floors) each.drop();
    // after the floors of noise, and after the dungeons
    rest = jax::subkey(jax::subkey(rest, 0), 0);
    jax::permutation(jax::take(rest), potion_effects.data(), NUM_POTIONS);
    noise_key = jax::take(rest);
    make_floor(0);
    floors[0]->killed = 10;
    player = {SIZE / 2, SIZE / 2};
    level = 0;
    facing = UP;
    health = 9;
    food = drink = energy = mana = 9;
    is_sleeping = is_resting = false;
    recovery = hunger = thirst = fatigue = mana_recovery = 0;
    experience = 0;
    dexterity = strength = intelligence = 1;
    items.fill(setup->god_mode ? MAX_ITEMS : 0);
    armours.fill(setup->god_mode ? 2 : 0);
    potions.fill(setup->god_mode ? MAX_ITEMS : 0);
    if (setup->god_mode) items[PICKAXE] = items[SWORD] = 4, items[BOW] = 1;
    armour_magic.fill(NO_MAGIC);
    has_learned.fill(false);
    sword_magic = bow_magic = NO_MAGIC;
    plants.fill({{0, 0}, 0, false});
    boss_progress = 0;
    boss_wait = 7;
    achieved.fill(false);
    timestep = 0;
    update_light();
}

inline void Full::change_floor(int64_t action) {
    const int thing = here().cells[cell_to_read<SIZE>(player)].thing;
    const bool may_descend = setup->god_mode || (thing == LADDER_DOWN && is_ladder_open());
    if (action == DESCEND && may_descend && level < NUM_FLOORS - 1) {
        player = floor_at(++level).up;
    } else if (action == ASCEND && (setup->god_mode || thing == LADDER_UP) && level > 0) {
        player = floor_at(--level).down;
    }
    if (level > 0) {
        bool& has_entered = achieved[FLOOR_RULES[level].achievement];
        experience += !has_entered;
        has_entered = true;
    }
}

inline void Full::make(int64_t action) {
    const bool makes = (action >= MAKE_WOOD_PICKAXE && action <= MAKE_IRON_SWORD)
                       || (action >= MAKE_DIAMOND_PICKAXE && action <= MAKE_DIAMOND_ARMOUR) || action == MAKE_ARROW
                       || action == MAKE_TORCH;
    if (!makes || !is_near(TABLE)) return;
    const auto pay = [&](int wood, int stone, int coal, int iron, int diamond) {
        const int costs[] = {wood, stone, coal, iron, diamond};
        for (int k = 0; k < 5; ++k) {
            if (items[WOOD_ITEM + k] < costs[k]) return false;
        }
        for (int k = 0; k < 5; ++k) items[WOOD_ITEM + k] -= costs[k];
        return true;
    };
    const auto make_tool = [&](Item tool, int better, bool may, auto... costs) {
        if (may && items[tool] < better && pay(costs...)) items[tool] = better;
    };
    const auto make_armour = [&](int better, bool may, Achievement achievement, auto... costs) {
        int32_t* worse = std::find_if(armours.begin(), armours.end(), [&](int32_t each) { return each < better; });
        if (worse == armours.end() || !may || !pay(costs...)) return;
        *worse = better;
        achieved[achievement] = true;
    };
    const auto make_some = [&](Item item, int count, auto... costs) {
        if (items[item] < MAX_ITEMS && pay(costs...)) items[item] += count;
    };
    switch (action) {
        case MAKE_WOOD_PICKAXE: make_tool(PICKAXE, 1, true, 1, 0, 0, 0, 0); break;
        case MAKE_STONE_PICKAXE: make_tool(PICKAXE, 2, true, 1, 1, 0, 0, 0); break;
        case MAKE_IRON_PICKAXE: make_tool(PICKAXE, 3, is_near(FURNACE), 1, 1, 1, 1, 0); break;
        case MAKE_DIAMOND_PICKAXE: make_tool(PICKAXE, 4, true, 1, 0, 0, 0, 3); break;
        case MAKE_WOOD_SWORD: make_tool(SWORD, 1, true, 1, 0, 0, 0, 0); break;
        case MAKE_STONE_SWORD: make_tool(SWORD, 2, true, 1, 1, 0, 0, 0); break;
        case MAKE_IRON_SWORD: make_tool(SWORD, 3, is_near(FURNACE), 1, 1, 1, 1, 0); break;
        case MAKE_DIAMOND_SWORD: make_tool(SWORD, 4, true, 1, 0, 0, 0, 2); break;
        case MAKE_IRON_ARMOUR: make_armour(1, is_near(FURNACE), DID_MAKE_IRON_ARMOUR, 0, 0, 3, 3, 0); break;
        case MAKE_DIAMOND_ARMOUR: make_armour(2, true, DID_MAKE_DIAMOND_ARMOUR, 0, 0, 0, 0, 3); break;
        case MAKE_ARROW: make_some(ARROWS, 2, 1, 1, 0, 0, 0); break;
        default: make_some(TORCHES, 4, 1, 0, 1, 0, 0);
    }
}

inline float damage_after(const Full::Damage& damage, const Full::Damage& defense) {
    float sum = 0;
    for (size_t k = 0; k < damage.size(); ++k) sum = jax::fused(1 - defense[k], damage[k], sum);
    return sum;
}

// Returns whether one was hit. One of each kind may be.
inline bool Full::attack(Point to, const Damage& damage, bool can_eat) {
    Floor& floor = here();
    bool is_hit = false;
    const auto hit = [&](Slots<Mob>& mobs, Kind kind) {
        Mob* mob =
            std::find_if(mobs.begin(), mobs.end(), [&](const Mob& each) { return each.is_used && each.at == to; });
        if (mob == mobs.end()) return false;
        is_hit = true;
        const TypeRules& rules = TYPE_RULES[mob->type];
        const bool is_bare = kind == PASSIVE || (kind == RANGED && mob->type == 5);
        mob->health -= damage_after(damage, is_bare ? Damage{} : rules.defense);
        if (mob->health > 0) return false;
        mob->is_used = false;
        if (kind != PASSIVE || can_eat) achieved[rules.achievements[kind]] = true;
        return true;
    };
    bool is_monster_dead = hit(floor.melee, MELEE);
    const bool is_passive_dead = hit(floor.passive, PASSIVE);
    if (is_passive_dead && can_eat) {
        food = std::min(max_need(), food + 6);
        hunger = 0;
    }
    is_monster_dead |= hit(floor.ranged, RANGED);
    if (is_monster_dead || is_passive_dead) floor.set_taken(to, false);
    floor.killed += is_monster_dead;
    return is_hit;
}

inline void Full::loot(jax::Key key) {
    const auto draw = [&](float chance) { return jax::uniform(jax::take(key)) < chance; };
    const auto count = [&](int low, int high) { return jax::randint(jax::take(key), low, high); };
    constexpr float ORES[] = {0.3f, 0.3f, 0.15f, 0.125f, 0.125f}, TOOLS[] = {0.4f, 0.3f, 0.2f, 0.1f};
    const bool has_torches = draw(0.6f);
    const int torches = count(4, 8);
    const bool has_ore = draw(0.6f);
    const int ore = jax::choice(jax::take(key), ORES, 5);
    const jax::Key amount = jax::take(key);
    const bool has_potions = draw(0.5f);
    const int potion = count(0, NUM_POTIONS), num_potions = count(1, 3);
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

inline void Full::act(jax::Key key) {
    constexpr float BLOWS[] = {1, 2, 3, 5, 8};
    Floor& floor = here();
    const Point to = target();
    const float blow = BLOWS[items[SWORD]], magic = jax::fused(0.05f, static_cast<float>(intelligence - 1), 1);
    const Damage damage{blow * (1 + 0.25f * static_cast<float>(strength - 1)),
                        (sword_magic == FIRE ? blow * 0.5f : 0) * magic,
                        (sword_magic == ICE ? blow * 0.5f : 0) * magic};
    const bool is_hit = attack(to, damage, true);
    const Block block = floor.block_at(to);
    const jax::Key sapling = jax::take(key), chest = jax::take(key);
    if (!is_hit && inside(to)) {
        const auto leave = [&](Block left) { floor.set_block(to, left); };
        const auto mine = [&](Item item, int pickaxe) {
            if (items[PICKAXE] < pickaxe) return;
            ++items[item];
            leave(PATH);
        };
        const auto chop = [&](Block left) {
            ++items[WOOD_ITEM];
            leave(left);
        };
        switch (block) {
            case TREE: chop(GRASS); break;
            case FIRE_TREE: chop(FIRE_GRASS); break;
            case ICE_SHRUB: chop(ICE_GRASS); break;
            case STONE:
            case STALAGMITE: mine(STONE_ITEM, 1); break;
            case FURNACE:
            case TABLE: leave(PATH); break;
            case COAL: mine(COAL_ITEM, 1); break;
            case IRON: mine(IRON_ITEM, 2); break;
            case DIAMOND: mine(DIAMOND_ITEM, 3); break;
            case SAPPHIRE: mine(SAPPHIRE_ITEM, 4); break;
            case RUBY: mine(RUBY_ITEM, 4); break;
            case GRASS: items[SAPLING] += jax::uniform(sapling) < 0.1f; break;
            case WATER:
            case FOUNTAIN:
                drink = std::min(max_need(), drink + 1);
                thirst = 0;
                achieved[COLLECT_DRINK] = true;
                break;
            case RIPE_PLANT:
                leave(PLANT);
                food = std::min(max_need(), food + 4);
                hunger = 0;
                achieved[EAT_PLANT] = true;
                harvest(plants, to);
                break;
            case CHEST:
                leave(PATH);
                loot(chest);
                achieved[OPEN_CHEST] = true;
                break;
            case NECROMANCER: achieved[DAMAGE_NECROMANCER] |= is_boss_vulnerable() && is_at_boss(); break;
            default: break;
        }
    }
    // whether a creature was hit or not, and beyond the edge, too
    if (block == CHEST) floor.has_opened_chest = true;
    if (block == NECROMANCER && is_boss_vulnerable() && is_at_boss()) {
        ++boss_progress;
        boss_wait = 7;
    }
}

inline void Full::place(int64_t action) {
    const Point to = target();
    if (((action < PLACE_STONE || action > PLACE_PLANT) && action != PLACE_TORCH) || !inside(to) || is_occupied(to))
        return;
    const Cell cell = here().cells[to.x * SIZE + to.y];
    const auto put = [&](Item item, int cost, bool may, Achievement achievement, Block becomes) {
        if (!may || items[item] < cost) return false;
        items[item] -= cost;
        achieved[achievement] = true;
        here().set_block(to, becomes);
        return true;
    };
    const bool is_empty = cell.thing == NOTHING, is_free = is_empty && !has(SOLID, cell.block);
    switch (action) {
        case PLACE_STONE: put(STONE_ITEM, 1, is_free || cell.block == WATER, DID_PLACE_STONE, STONE); break;
        case PLACE_TABLE: put(WOOD_ITEM, 2, is_free, DID_PLACE_TABLE, TABLE); break;
        case PLACE_FURNACE: put(STONE_ITEM, 1, is_free, DID_PLACE_FURNACE, FURNACE); break;
        case PLACE_PLANT:
            if (put(SAPLING, 1, is_empty && cell.block == GRASS, DID_PLACE_PLANT, PLANT)) plant(plants, to);
            break;
        default:
            if (is_empty && has(set_of(GRASS, SAND, PATH, FIRE_GRASS, ICE_GRASS), cell.block) && items[TORCHES] > 0) {
                --items[TORCHES];
                achieved[DID_PLACE_TORCH] = true;
                place_torch(to);
            }
    }
}

inline void Full::place_torch(Point to) {
    here().set_thing(to, TORCH);
    if (here().lights.empty()) return;
    for (int x = -4; x <= 4; ++x) {
        for (int y = -4; y <= 4; ++y) {
            const Point at = to + Point{x, y};
            if (!inside(at)) continue;
            float& lit = here().lights[at.x * SIZE + at.y];
            lit = std::min(1.0f, torch_light(x, y) + lit);
        }
    }
}

inline void Full::shoot(ShotType type) { here().arrows.free() = {player, step_of(facing), type, true}; }

inline void Full::use_bow_and_spells(int64_t action) {
    if (here().arrows.is_full()) return;
    if (action == SHOOT_ARROW && items[BOW] > 0 && items[ARROWS] > 0) {
        shoot(ARROW_2);
        --items[ARROWS];
        achieved[FIRE_BOW] = true;
    }
    const bool is_ice = action == CAST_ICEBALL;
    if ((action == CAST_FIREBALL || is_ice) && mana >= 2 && has_learned[is_ice]) {
        shoot(is_ice ? ICEBALL : FIREBALL);
        mana -= 2;
        achieved[is_ice ? DID_CAST_ICEBALL : DID_CAST_FIREBALL] = true;
    }
}

inline void Full::drink_potion(int64_t action) {
    const int64_t potion = action - DRINK_POTION;
    if (potion < 0 || potion >= NUM_POTIONS || potions[potion] <= 0) return;
    --potions[potion];
    achieved[DRINK_ANY_POTION] = true;
    const int effect = potion_effects[potion], change = effect % 2 ? -3 : 8;
    if (effect < 2) {
        health += static_cast<float>(change);
    } else {
        (effect < 4 ? mana : energy) += change;
    }
}

inline void Full::read_book(jax::Key key) {
    if (items[BOOKS] <= 0) return;
    const int unknown = !has_learned[0] + !has_learned[1];
    const float share = unknown ? 1 / static_cast<float>(unknown) : 0;
    const float shares[] = {has_learned[0] ? 0 : share, has_learned[1] ? 0 : share};
    const int spell = jax::choice(jax::subkey(key, 1), shares, 2);
    --items[BOOKS];
    has_learned[spell] = true;
    achieved[spell ? LEARN_ICEBALL : LEARN_FIREBALL] = true;
}

inline void Full::enchant(jax::Key key, int64_t action) {
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
        float shares[NUM_ARMOURS];
        for (int k = 0; k < NUM_ARMOURS; ++k) {
            shares[k] = armour_magic[k] == NO_MAGIC || (!is_any_bare && armour_magic[k] != magic);
        }
        armour_magic[jax::choice(jax::subkey(key, 1), shares, NUM_ARMOURS)] = magic;
        achieved[DID_ENCHANT_ARMOUR] = true;
    } else {
        return;
    }
    --gems;
    mana -= 9;
}

inline void Full::hurt(Damage damage) {
    Damage defense{};
    for (int k = 0; k < NUM_ARMOURS; ++k) {
        defense[0] = jax::fused(static_cast<float>(armours[k]), 0.1f, defense[0]);
        if (armour_magic[k] != NO_MAGIC) defense[armour_magic[k]] += 0.2f;
    }
    for (float& each : damage) each *= is_at_boss() ? 1.5f : 1.0f;
    health -= damage_after(damage, defense);
    is_sleeping = is_resting = false;
}

inline void Full::level_up(int64_t action) {
    int32_t* attribute = action == LEVEL_UP_DEXTERITY      ? &dexterity
                         : action == LEVEL_UP_STRENGTH     ? &strength
                         : action == LEVEL_UP_INTELLIGENCE ? &intelligence
                                                           : nullptr;
    if (!attribute || experience < 1 || *attribute >= setup->max_attribute) return;
    ++*attribute;
    --experience;
}

inline void Full::move_player(int64_t action) {
    if (action < LEFT || action > DOWN) return;
    facing = static_cast<int32_t>(action);
    if (setup->god_mode || can_enter(target(), BY_LAND)) player = target();
}

inline void Full::move(Mob& mob, Point to, bool stays, Kind kind) {
    if (!can_enter(to, TYPE_RULES[mob.type].barred[kind])) to = mob.at;
    if (mob.is_used) here().set_taken(mob.at, false);
    mob.is_used &= stays;
    if (mob.is_used) here().set_taken(to, true);
    // slots that are not in use move as well
    mob.at = to;
}

inline void Full::move_creatures(jax::Key key) {
    Floor& floor = here();
    const auto stays = [&](int away) { return away < setup->despawn_distance || is_at_boss(); };
    jax::take(key);
    for (Mob& mob : floor.melee) {
        const jax::Key walking = jax::take(key), axis = jax::take(key), chasing = jax::take(key);
        const int away = distance(mob.at, player);
        const bool attacks = away == 1 && mob.cooldown <= 0 && mob.is_used;
        Point to = mob.at;
        if (attacks) {
            Damage damage = TYPE_RULES[mob.type].melee_damage;
            for (float& each : damage) each *= is_sleeping ? 3.5f : 1.0f;
            achieved[WAKE_UP] |= is_sleeping;
            hurt(damage);
        } else if ((away < 10 || is_at_boss()) && jax::uniform(chasing) < 0.75f) {
            to = to + step_toward(axis, mob.at, player);
        } else {
            to = to + step_of(LEFT + jax::randint(walking, 0, 4));
        }
        mob.cooldown = attacks ? 5 : mob.cooldown - 1;
        move(mob, to, stays(away), MELEE);
        key = jax::subkey(key, 1);
    }
    jax::take(key);
    for (Mob& mob : floor.passive) {
        // half of the directions are none
        const Point to = mob.at + step_of(LEFT + jax::randint(jax::take(key), 0, 8));
        move(mob, to, distance(mob.at, player) < setup->despawn_distance, PASSIVE);
    }
    jax::take(key);
    for (Mob& mob : floor.ranged) {
        const jax::Key walking = jax::take(key), axis = jax::take(key), choosing = jax::take(key);
        const int away = distance(mob.at, player);
        const Point nearer = step_toward(axis, mob.at, player);
        Point to = mob.at + step_of(LEFT + jax::randint(walking, 0, 4));
        if (jax::uniform(choosing) > 0.85f) {
            if (away <= 3) to = mob.at - nearer;
            if (away >= 6) to = mob.at + nearer;
        }
        const TypeRules& rules = TYPE_RULES[mob.type];
        const bool attacks = ((away >= 4 && away <= 5) || (away <= 3 && !can_enter(to, rules.barred[RANGED])))
                             && mob.cooldown <= 0 && mob.is_used;
        if (attacks) {
            if (!floor.shots.is_full()) floor.shots.free() = {mob.at, nearer, rules.shot, true};
            to = mob.at;
        }
        mob.cooldown = attacks ? 4 : mob.cooldown - 1;
        move(mob, to, stays(away), RANGED);
    }
}

inline void Full::move_shots() {
    for (Shot& shot : here().shots) {
        const Point to = shot.at + shot.step;
        if (shot.is_used) {
            const Block block = here().block_at(to);
            const bool is_hit = shot.at == player || to == player;
            shot.is_used = inside(to) && !has(SOLID, block) && !is_occupied(to) && !is_hit;
            if (block == FURNACE || block == TABLE) here().set_block(to, PATH);
            if (is_hit) hurt(TYPE_RULES[shot.type].shot_damage);
        }
        shot.at = to;
    }
}

inline void Full::move_arrows() {
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

inline void Full::spawn(jax::Key key) {
    constexpr uint64_t LAND = set_of(GRASS, PATH, FIRE_GRASS, ICE_GRASS), GRAVES = set_of(GRAVE, GRAVE_2, GRAVE_3);
    Floor& floor = here();
    const bool is_boss = is_at_boss();
    const auto add = [&](Slots<Mob>& mobs, Kind kind, int type, float chance, uint64_t ground, int above, int below) {
        const jax::Key luck = jax::take(key), choosing = jax::take(key);
        Mob& mob = mobs.free();
        if (!mobs.is_full() && jax::uniform(luck) < chance) {
            Cells<SIZE> cells;
            const int reach = setup->despawn_distance, most = std::min(below, reach * reach);
            for (int x = std::max(0, player.x - reach); x <= std::min(SIZE - 1, player.x + reach); ++x) {
                uint64_t row = 0;
                for (int y = std::max(0, player.y - reach); y <= std::min(SIZE - 1, player.y + reach); ++y) {
                    const int away = (x - player.x) * (x - player.x) + (y - player.y) * (y - player.y);
                    const bool may = has(ground, floor.cells[x * SIZE + y].block) && away > above && away < most;
                    row |= uint64_t{may} << y;
                }
                cells.add_row(x, row & ~floor.taken[x]);
            }
            if (const int count = cells.count()) {
                mob.at = cells.choose(choosing, 1 / static_cast<float>(count));
                mob.health = TYPE_RULES[type].health[kind];
                mob.is_used = true;
            }
        }
        // even if none comes
        mob.type = static_cast<uint8_t>(type);
        if (mob.is_used) floor.set_taken(mob.at, true);
    };
    constexpr int FAR_AWAY = 1 << 30;
    const int above = is_boss ? -1 : 81, below = is_boss ? 37 : FAR_AWAY;
    const FloorRules& rules = FLOOR_RULES[level];
    // of the boss: those of all floors, one after the other
    const FloorRules& from = FLOOR_RULES[is_boss ? std::min(boss_progress, NUM_FLOORS - 1) : level];
    const int more = is_boss ? (boss_wait >= 1 ? 1000 : 0) : 1;
    const float often = static_cast<float>((is_ladder_open() ? 1 : 3) * more), dark = 1 - light;
    add(floor.passive, PASSIVE, rules.types[PASSIVE], is_boss ? 0 : rules.passive_chance, LAND, 9, FAR_AWAY);
    add(floor.melee, MELEE, from.types[MELEE],
        jax::fused(rules.melee_night_chance, dark * dark, rules.melee_chance) * often, is_boss ? GRAVES : LAND, above,
        below);
    const int type = from.types[RANGED];
    add(floor.ranged, RANGED, type, rules.ranged_chance * often,
        is_boss     ? GRAVES
        : type == 5 ? set_of(WATER)
                    : LAND,
        above, below);
}

inline void Full::grow_plants() {
    for (Plant& each : plants) {
        each.age = each.is_used ? each.age + 1 : 0;
        if (each.age >= RIPE_AGE) floors[0]->set_block(each.at, RIPE_PLANT);
    }
}

inline void Full::update_needs(int64_t action) {
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
    mana_recovery = (mana_recovery + (is_sleeping ? 2.0f : 1.0f)) * (1 + 0.25f * static_cast<float>(intelligence - 1));
    if (mana_recovery > 30) mana_recovery = 0, ++mana;
}

inline void Full::take_items() {
    constexpr std::pair<Item, Achievement> FOUND[] = {
        {WOOD_ITEM, COLLECT_WOOD},         {STONE_ITEM, COLLECT_STONE},     {COAL_ITEM, COLLECT_COAL},
        {IRON_ITEM, COLLECT_IRON},         {DIAMOND_ITEM, COLLECT_DIAMOND}, {RUBY_ITEM, COLLECT_RUBY},
        {SAPPHIRE_ITEM, COLLECT_SAPPHIRE}, {SAPLING, COLLECT_SAPLING},      {BOW, FIND_BOW},
        {ARROWS, DID_MAKE_ARROW},          {TORCHES, DID_MAKE_TORCH}};
    for (const auto& [item, achievement] : FOUND) achieved[achievement] |= items[item] > 0;
    constexpr Achievement PICKAXES[] = {DID_MAKE_WOOD_PICKAXE, DID_MAKE_STONE_PICKAXE, DID_MAKE_IRON_PICKAXE,
                                        DID_MAKE_DIAMOND_PICKAXE};
    constexpr Achievement SWORDS[] = {DID_MAKE_WOOD_SWORD, DID_MAKE_STONE_SWORD, DID_MAKE_IRON_SWORD,
                                      DID_MAKE_DIAMOND_SWORD};
    for (int k = 0; k < 4; ++k) {
        achieved[PICKAXES[k]] |= items[PICKAXE] > k;
        achieved[SWORDS[k]] |= items[SWORD] > k;
    }
}

// What an achievement is worth
inline int worth_of(int achievement) {
    using F = Full;
    constexpr auto in = [](int number, auto... members) { return ((number == members) || ...); };
    if (achievement <= F::DID_PLACE_TORCH) return 1;
    if ((achievement >= F::ENTER_FIRE_REALM && achievement <= F::ENTER_GRAVEYARD)
        || (achievement >= F::DEFEAT_PIGMAN && achievement <= F::DEFEAT_NECROMANCER)) {
        return 8;
    }
    return achievement <= F::ENTER_DUNGEON
                   || (achievement >= F::DEFEAT_GNOME_WARRIOR && achievement <= F::DEFEAT_ORC_MAGE)
                   || (achievement >= F::EAT_BAT && achievement <= F::COLLECT_SAPPHIRE)
                   || in(achievement, F::COLLECT_RUBY, F::DID_MAKE_DIAMOND_PICKAXE, F::OPEN_CHEST, F::DRINK_ANY_POTION)
               ? 3
               : 5;
}

inline void Full::step(jax::Key key, int64_t action) {
    const auto achieved_before = achieved;
    const float health_before = health;
    if (is_sleeping || is_resting) action = NOOP;
    change_floor(action);
    make(action);
    const jax::Key acting = jax::take(key);
    if (action == DO) act(acting);
    place(action);
    use_bow_and_spells(action);
    drink_potion(action);
    const jax::Key reading = jax::take(key), enchanting = jax::take(key);
    if (action == READ_BOOK) read_book(reading);
    enchant(enchanting, action);
    if (is_beaten()) achieved[DEFEAT_NECROMANCER] = true;
    boss_wait -= is_at_boss();
    level_up(action);
    move_player(action);
    move_creatures(jax::take(key));
    move_shots();
    move_arrows();
    spawn(jax::take(key));
    grow_plants();
    update_needs(action);
    const auto cap = [](int32_t& number, int most) { number = std::clamp(number, 0, most); };
    for (int32_t& count : items) cap(count, MAX_ITEMS);
    for (int32_t& count : potions) cap(count, MAX_ITEMS);
    health = std::min(std::max(health, setup->god_mode ? 9.0f : 0.0f), max_health());
    for (int32_t* need : {&food, &drink, &energy}) cap(*need, max_need());
    cap(mana, 6 + 3 * intelligence);
    take_items();
    int worth = 0;
    for (int k = 0; k < NUM_ACHIEVEMENTS; ++k) worth += achieved[k] != achieved_before[k] ? worth_of(k) : 0;
    reward = jax::fused(health - health_before, 0.1f, static_cast<float>(worth));
    noise_key = jax::take(key);
    ++timestep;
    update_light();
}

inline void Full::observe(float* out) const {
    constexpr int NUM_KINDS = 5, THINGS = LADDER_DOWN_BLOCKED + 1, MOBS = NUM_BLOCKS + THINGS,
                  CHANNELS = MOBS + NUM_KINDS * NUM_TYPES + 1, EDGE = 13;
    const Floor& floor = here();
    std::memset(out, 0, (VIEW_HEIGHT * VIEW_WIDTH * CHANNELS + 51) * sizeof(float));
    const Point middle{VIEW_HEIGHT / 2, VIEW_WIDTH / 2};
    const auto show = [&](const auto& slots, int kind) {
        for (const auto& each : slots) {
            // those out of view, or not in use, are written as 0, where a negative index counts from the end
            const Point at = each.at - player + middle;
            const int x = write_index(at.x, VIEW_HEIGHT), y = write_index(at.y, VIEW_WIDTH);
            if (x < 0 || y < 0) continue;
            out[(x * VIEW_WIDTH + y) * CHANNELS + MOBS + kind * NUM_TYPES + each.type] =
                each.is_used && Point{x, y} == at;
        }
    };
    show(floor.melee, 0);
    show(floor.passive, 1);
    show(floor.ranged, 2);
    show(floor.shots, 3);
    show(floor.arrows, 4);
    // the view ends where the package's border does
    const int left = std::clamp(player.x - middle.x, -EDGE, SIZE + EDGE - VIEW_HEIGHT);
    const int top = std::clamp(player.y - middle.y, -EDGE, SIZE + EDGE - VIEW_WIDTH);
    for (int x = 0; x < VIEW_HEIGHT; ++x) {
        for (int y = 0; y < VIEW_WIDTH; ++y) {
            float* to = out + (x * VIEW_WIDTH + y) * CHANNELS;
            const int cell = (left + x) * SIZE + top + y;
            if (inside({left + x, top + y}) && floor.light_of(cell) > 0.05f) {
                to[floor.cells[cell].block] = to[NUM_BLOCKS + floor.cells[cell].thing] = to[CHANNELS - 1] = 1;
            } else {
                std::memset(to, 0, CHANNELS * sizeof(float));
            }
        }
    }
    float* to = out + VIEW_HEIGHT * VIEW_WIDTH * CHANNELS;
    const auto add = [&](float number) { *to++ = number; };
    const auto add_root = [&](int count) { add(std::sqrt(static_cast<float>(count)) * 0.1f); };
    for (int k = WOOD_ITEM; k <= ARROWS; ++k) add_root(items[k]);
    add(static_cast<float>(items[BOOKS]) * 0.5f);
    add(static_cast<float>(items[PICKAXE]) * 0.25f);
    add(static_cast<float>(items[SWORD]) * 0.25f);
    for (const int32_t number : {sword_magic, bow_magic, items[BOW]}) add(static_cast<float>(number));
    for (const int32_t count : potions) add_root(count);
    // XLA knows the numbers of a new world and divides; later it multiplies
    const auto add_tenth = [&](float number) { add(timestep == 0 ? number / 10 : number * 0.1f); };
    add_tenth(health);
    for (const int32_t number : {food, drink, energy, mana, experience, dexterity, strength, intelligence}) {
        add_tenth(static_cast<float>(number));
    }
    if (facing != NOOP) to[facing - LEFT] = 1;
    to += 4;
    for (const int32_t armour : armours) add(static_cast<float>(armour) * 0.5f);
    for (const int32_t magic : armour_magic) add(static_cast<float>(magic));
    add(seen_light);
    for (const bool flag : {is_sleeping, is_resting, has_learned[0], has_learned[1]}) add(flag);
    add(static_cast<float>(level) * 0.1f);
    add(is_ladder_open());
    add(is_boss_vulnerable());
}

template <class Archive> void Full::exchange_floor(Archive& archive, int number) {
    bool is_made{floors[number]};
    archive("is_made", is_made);
    if (!is_made) return;
    if constexpr (Archive::LOADS) add_floor(number);
    Floor& floor = *floors[number];
    for (int cell = 0; cell < CELLS; ++cell) {
        uint8_t block = floor.cells[cell].block, thing = floor.cells[cell].thing;
        archive.item("block", cell, block, INVALID, NECROMANCER_VULNERABLE);
        archive.item("thing", cell, thing, NOTHING, LADDER_UP);
        floor.cells[cell] = {static_cast<uint8_t>(block & 63), static_cast<uint8_t>(thing & 3)};
    }
    archive.all("taken", floor.taken, 0, (int64_t{1} << SIZE) - 1);
    archive.all("lights", floor.lights, 0, 1);
    archive.in("down", [&] { craftax::exchange(archive, floor.down); });
    archive.in("up", [&] { craftax::exchange(archive, floor.up); });
    const auto exchange_mobs = [&](const char* name, Slots<Mob>& mobs) {
        archive.each(name, mobs, [&](Mob& mob) {
            craftax::exchange(archive, mob.at);
            archive("health", mob.health, -1e9, 1e9);
            archive("cooldown", mob.cooldown, -FAR, FAR);
            archive("type", mob.type, 0, NUM_TYPES - 1);
            archive("is_used", mob.is_used);
        });
    };
    const auto exchange_shots = [&](const char* name, Slots<Shot>& shots) {
        archive.each(name, shots, [&](Shot& shot) {
            craftax::exchange(archive, shot.at);
            archive("step_x", shot.step.x, -1, 1);
            archive("step_y", shot.step.y, -1, 1);
            archive("type", shot.type, 0, NUM_TYPES - 1);
            archive("is_used", shot.is_used);
        });
    };
    exchange_mobs("melee", floor.melee);
    exchange_mobs("passive", floor.passive);
    exchange_mobs("ranged", floor.ranged);
    exchange_shots("shots", floor.shots);
    exchange_shots("arrows", floor.arrows);
    archive("killed", floor.killed, 0, FAR);
    archive("has_opened_chest", floor.has_opened_chest);
}

template <class Archive> void Full::exchange(Archive& archive) {
    archive("floors_key_a", floors_key.a, 0, ~uint32_t{0});
    archive("floors_key_b", floors_key.b, 0, ~uint32_t{0});
    for (int number = 0; number < NUM_FLOORS; ++number) {
        archive.in("floors", number, [&] { exchange_floor(archive, number); });
    }
    archive.in("player", [&] { craftax::exchange(archive, player); });
    archive("level", level, 0, NUM_FLOORS - 1);
    archive("facing", facing, NOOP, DOWN);
    archive("health", health, 0, 8 + MOST_ATTRIBUTE);
    for (auto [name, need] : {std::pair{"food", &food}, {"drink", &drink}, {"energy", &energy}}) {
        archive(name, *need, 0, 7 + 2 * MOST_ATTRIBUTE);
    }
    archive("mana", mana, 0, 6 + 3 * MOST_ATTRIBUTE);
    archive("is_sleeping", is_sleeping);
    archive("is_resting", is_resting);
    archive("recovery", recovery, -100, 100);
    // with a dexterity above 9, nobody grows hungry or tired
    archive("hunger", hunger, -1e9, 100);
    archive("thirst", thirst, -1e9, 100);
    archive("fatigue", fatigue, -1e9, 100);
    archive("mana_recovery", mana_recovery, 0, 100);
    archive("experience", experience, 0, FAR);
    for (auto [name, attribute] :
         {std::pair{"dexterity", &dexterity}, {"strength", &strength}, {"intelligence", &intelligence}}) {
        archive(name, *attribute, 1, MOST_ATTRIBUTE);
    }
    for (int k = 0; k < NUM_ITEMS; ++k) {
        archive.item("items", k, items[k], 0, k == BOW ? 1 : k == PICKAXE || k == SWORD ? 4 : MAX_ITEMS);
    }
    archive.all("armours", armours, 0, 2);
    archive.all("armour_magic", armour_magic, NO_MAGIC, ICE);
    archive.all("potions", potions, 0, MAX_ITEMS);
    archive.all("potion_effects", potion_effects, 0, NUM_POTIONS - 1);
    archive.all("has_learned", has_learned, 0, 1);
    archive("sword_magic", sword_magic, NO_MAGIC, ICE);
    archive("bow_magic", bow_magic, NO_MAGIC, ICE);
    craftax::exchange(archive, plants);
    archive("boss_progress", boss_progress, 0, NUM_FLOORS - 1);
    archive("boss_wait", boss_wait, -FAR, FAR);
    archive.all("achieved", achieved, 0, 1);
    archive("noise_key_a", noise_key.a, 0, ~uint32_t{0});
    archive("noise_key_b", noise_key.b, 0, ~uint32_t{0});
    archive("timestep", timestep, 0, FAR);
    if constexpr (Archive::LOADS) update_light();
}

}  // namespace cypool::craftax
