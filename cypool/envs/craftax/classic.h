// Craftax-Classic, as craftax 1.6.1 has it. Where a rule looks odd, it is the package's.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <memory>

#include "cypool/envs/common/options.h"
#include "cypool/envs/craftax/noise.h"
#include "cypool/envs/craftax/slots.h"

namespace cypool::craftax {

struct Classic {
    static constexpr int SIZE = 64, CELLS = SIZE * SIZE, VIEW_HEIGHT = 7, VIEW_WIDTH = 9;
    static constexpr int MAX_ITEMS = 9, MAX_NEED = 9, NUM_ACHIEVEMENTS = 22;
    static constexpr bool HAS_SCORE = true;

    // clang-format off
    enum Block : uint8_t {
        INVALID, OUT, GRASS, WATER, STONE, TREE, WOOD, PATH, COAL, IRON, DIAMOND, TABLE, FURNACE, SAND, LAVA, PLANT,
        RIPE_PLANT, NUM_BLOCKS
    };
    // clang-format on
    enum Make : int64_t { WOOD_PICKAXE = 11, STONE_PICKAXE, IRON_PICKAXE, WOOD_SWORD, STONE_SWORD, IRON_SWORD };
    // clang-format off
    enum Item {
        WOOD_ITEM, STONE_ITEM, COAL_ITEM, IRON_ITEM, DIAMOND_ITEM, SAPLING, PICKAXES, SWORDS = PICKAXES + 3,
        NUM_ITEMS = SWORDS + 3
    };
    enum Achievement {
        COLLECT_WOOD, DID_PLACE_TABLE, EAT_COW, COLLECT_SAPLING, COLLECT_DRINK, MAKE_WOOD_PICKAXE, MAKE_WOOD_SWORD,
        DID_PLACE_PLANT, DEFEAT_ZOMBIE, COLLECT_STONE, DID_PLACE_STONE, EAT_PLANT, DEFEAT_SKELETON, MAKE_STONE_PICKAXE,
        MAKE_STONE_SWORD, WAKE_UP, DID_PLACE_FURNACE, COLLECT_COAL, COLLECT_IRON, COLLECT_DIAMOND, MAKE_IRON_PICKAXE,
        MAKE_IRON_SWORD
    };
    // clang-format on
    static constexpr uint64_t SOLID =
        set_of(WATER, STONE, TREE, COAL, IRON, DIAMOND, TABLE, FURNACE, PLANT, RIPE_PLANT);

    struct Setup : Options {
        explicit Setup(const Options& given) : Options(given) {}
        int max_timesteps = at("max_timesteps"), day_length = at("day_length");
        bool always_diamond = at("always_diamond"), auto_reset = at("auto_reset");
        int zombie_health = at("zombie_health"), cow_health = at("cow_health"), skeleton_health = at("skeleton_health");
        int despawn_distance = at("mob_despawn_distance");
        float cow_chance = at("spawn_cow_chance"), zombie_chance = at("spawn_zombie_base_chance");
        float zombie_night_chance = at("spawn_zombie_night_chance"), skeleton_chance = at("spawn_skeleton_chance");
        int max_zombies = at("max_zombies"), max_cows = at("max_cows"), max_skeletons = at("max_skeletons");
        int max_arrows = at("max_arrows"), max_plants = at("max_growing_plants");
    };
    struct Mob {
        Point at;
        int32_t health, cooldown;
        bool is_used;
    };
    struct Arrow {
        Point at, step;
        bool is_used;
    };

    explicit Classic(std::shared_ptr<const Setup> given)
        : setup(std::move(given)),
          zombies(setup->max_zombies),
          cows(setup->max_cows),
          skeletons(setup->max_skeletons),
          arrows(setup->max_arrows),
          plants(setup->max_plants) {}

    void reset(jax::Key key) noexcept;
    void step(jax::Key key, int64_t action) noexcept;
    void observe(float* out) const noexcept;

    bool is_over() const { return timestep >= setup->max_timesteps || block_at(player) == LAVA || health <= 0; }
    int num_achieved() const { return static_cast<int>(std::count(achieved.begin(), achieved.end(), true)); }

    template <class Archive> void exchange(Archive& archive) {
        archive.all("blocks", blocks, INVALID, RIPE_PLANT);
        archive.all("is_taken", is_taken, 0, 1);
        archive.in("player", [&] { craftax::exchange(archive, player); });
        archive("facing", facing, NOOP, DOWN);
        archive("health", health, 0, MAX_NEED);
        archive("food", food, 0, MAX_NEED);
        archive("drink", drink, 0, MAX_NEED);
        archive("energy", energy, 0, MAX_NEED);
        archive("is_sleeping", is_sleeping);
        archive("recovery", recovery, -100, 100);
        archive("hunger", hunger, 0, 100);
        archive("thirst", thirst, 0, 100);
        archive("fatigue", fatigue, -100, 100);
        archive.all("items", items, 0, MAX_ITEMS);
        const auto exchange_mobs = [&](const char* name, Slots<Mob>& mobs) {
            archive.each(name, mobs, [&](Mob& mob) {
                craftax::exchange(archive, mob.at);
                archive("health", mob.health, -FAR, FAR);
                archive("cooldown", mob.cooldown, -FAR, FAR);
                archive("is_used", mob.is_used);
            });
        };
        exchange_mobs("zombies", zombies);
        exchange_mobs("cows", cows);
        exchange_mobs("skeletons", skeletons);
        archive.each("arrows", arrows, [&](Arrow& arrow) {
            craftax::exchange(archive, arrow.at);
            archive("step_x", arrow.step.x, -1, 1);
            archive("step_y", arrow.step.y, -1, 1);
            archive("is_used", arrow.is_used);
        });
        craftax::exchange(archive, plants);
        archive.all("achieved", achieved, 0, 1);
        archive("noise_key_a", noise_key.a, 0, ~uint32_t{0});
        archive("noise_key_b", noise_key.b, 0, ~uint32_t{0});
        archive("timestep", timestep, 0, FAR);
        if constexpr (Archive::LOADS) update_light();
    }

    std::shared_ptr<const Setup> setup;
    std::array<Block, CELLS> blocks{};
    std::array<bool, CELLS> is_taken{};  // by creatures
    Point player{};
    int32_t facing = UP, health = 0, food = 0, drink = 0, energy = 0;
    bool is_sleeping = false;
    float recovery = 0, hunger = 0, thirst = 0, fatigue = 0;
    std::array<int32_t, NUM_ITEMS> items{};
    Slots<Mob> zombies, cows, skeletons;
    Slots<Arrow> arrows;
    Plants plants;
    std::array<bool, NUM_ACHIEVEMENTS> achieved{};
    jax::Key noise_key{};  // of the picture of a night: the package's `state_rng`
    int32_t timestep = 0;
    float light = 1, seen_light = 1;  // of the state, and of the observation
    float reward = 0;

    void validate() const {}
    Block block_at(Point at) const { return blocks[cell_to_read<SIZE>(at)]; }

private:
    static bool inside(Point at) { return is_inside<SIZE>(at); }
    void set_block(Point at, Block block) {
        if (const int cell = cell_to_write<SIZE>(at); cell >= 0) blocks[cell] = block;
    }
    void set_taken(Point at, bool taken) {
        if (const int cell = cell_to_write<SIZE>(at); cell >= 0) is_taken[cell] = taken;
    }
    bool is_occupied(Point at) const { return is_taken[cell_to_read<SIZE>(at)] || at == player; }
    bool can_enter(Point at) const {
        const Block block = block_at(at);
        return inside(at) && !has(SOLID, block) && !is_occupied(at) && block != LAVA;
    }
    bool is_near(Block block) const {
        for (int x = player.x - 1; x <= player.x + 1; ++x) {
            for (int y = player.y - 1; y <= player.y + 1; ++y) {
                if (Point{x, y} != player && inside({x, y}) && blocks[x * SIZE + y] == block) return true;
            }
        }
        return false;
    }
    Point target() const { return player + step_of(facing); }
    void update_light() {
        light = light_level(timestep, setup->day_length, !setup->auto_reset);
        seen_light = light_level(timestep, setup->day_length, true);
    }

    void make_map(jax::Key& key);
    void make(int64_t action);
    void act(jax::Key key);
    void place(int64_t action);
    void move_player(int64_t action);
    void move_creatures(jax::Key key);
    void move_arrows();
    void move(Mob& mob, Point to, bool stays);
    void spawn(jax::Key key);
    void grow_plants();
    void update_needs(int64_t action);
};

inline void Classic::make_map(jax::Key& key) {
    using Map = Noise<SIZE>;
    static thread_local Map water, mountain, path, tree;
    constexpr int MIDDLE = SIZE / 2;
    water.make<4, 4>(jax::take(key));
    jax::take(key);
    mountain.make<4, 4>(jax::take(key));
    path.make<8, 32>(jax::take(key));
    jax::take(key);
    const jax::Key coal = jax::take(key), iron = jax::take(key), diamond = jax::take(key);
    tree.make<16, 16>(jax::take(key));
    const jax::Key leaf = key;
    for (int x = 0; x < SIZE; ++x) {
        for (int y = 0; y < SIZE; ++y) {
            const int cell = x * SIZE + y;
            const float start = std::min(1.0f, static_cast<float>(distance({x, y}, {MIDDLE, MIDDLE})) * 0.2f);
            const float wet = jax::fused(water.above_low(cell), water.inverse, start) - 1;
            const float high = jax::fused(mountain.above_low(cell), mountain.inverse, 0.05f) + start - 1;
            const auto is_tunnel = [&](int at) { return path.scaled(at) > 0.8f; };
            Block block = wet > 0.7f ? WATER : wet > 0.6f ? SAND : GRASS;
            if (high > 0.7f) block = is_tunnel(cell) || is_tunnel(y * SIZE + x) ? PATH : STONE;
            if (high > 0.85f && wet > 0.4f) block = PATH;
            const auto draws = [&](jax::Key of, float below) { return jax::uniform(of, cell) < below; };
            if (block == STONE && draws(coal, 0.04f)) block = COAL;
            if (block == STONE && draws(iron, 0.03f)) block = IRON;
            if (block == STONE && high > 0.8f && draws(diamond, 0.005f)) block = DIAMOND;
            if (block == GRASS && tree.scaled(cell) > 0.5f && jax::uniform(leaf, cell) > 0.8f) block = TREE;
            if (high > 0.85f && tree.scaled(cell) > 0.7f) block = LAVA;
            blocks[cell] = block;
        }
    }
    player = {MIDDLE, MIDDLE};
    set_block(player, GRASS);
    Cells<SIZE> stones;
    for (int cell = 0; cell < CELLS; ++cell) {
        if (blocks[cell] == STONE) stones.add(cell / SIZE, cell % SIZE);
    }
    const jax::Key choosing = jax::take(key);
    const int count = stones.count();
    const Point chosen = count ? stones.choose(choosing, 1 / static_cast<float>(count)) : Point{0, 0};
    set_block(chosen, setup->always_diamond ? DIAMOND : STONE);
}

inline void Classic::reset(jax::Key key) noexcept {
    make_map(key);
    is_taken.fill(false);
    facing = UP;
    health = food = drink = energy = MAX_NEED;
    is_sleeping = false;
    recovery = hunger = thirst = fatigue = 0;
    items.fill(0);
    achieved.fill(false);
    zombies.fill({{0, 0}, 1, 0, false});
    cows.fill({{0, 0}, setup->cow_health, 0, false});
    skeletons.fill({{0, 0}, 0, 0, false});
    arrows.fill({{0, 0}, {1, 1}, false});
    plants.fill({{0, 0}, 0, false});
    noise_key = jax::take(key);
    timestep = 0;
    update_light();
}

inline void Classic::make(int64_t action) {
    if (action < WOOD_PICKAXE || action > IRON_SWORD || !is_near(TABLE)) return;
    const bool is_sword = action >= WOOD_SWORD;
    const int level = static_cast<int>(action - (is_sword ? WOOD_SWORD : WOOD_PICKAXE));
    const int stone = level == 1 || level == 2, iron = level == 2;
    if ((iron && !is_near(FURNACE)) || items[WOOD_ITEM] < 1 || items[STONE_ITEM] < stone || items[COAL_ITEM] < iron
        || items[IRON_ITEM] < iron) {
        return;
    }
    constexpr Achievement ACHIEVEMENTS[2][3] = {{MAKE_WOOD_PICKAXE, MAKE_STONE_PICKAXE, MAKE_IRON_PICKAXE},
                                                {MAKE_WOOD_SWORD, MAKE_STONE_SWORD, MAKE_IRON_SWORD}};
    items[WOOD_ITEM] -= 1;
    items[STONE_ITEM] -= stone;
    items[COAL_ITEM] -= iron;
    items[IRON_ITEM] -= iron;
    ++items[(is_sword ? SWORDS : PICKAXES) + level];
    achieved[ACHIEVEMENTS[is_sword][level]] = true;
}

inline void Classic::act(jax::Key key) {
    const Point to = target();
    const int damage = std::max({1, 2 * items[SWORDS], 3 * items[SWORDS + 1], 5 * items[SWORDS + 2]});
    bool was_hit = false, was_killed = false;
    // returns whether one is dead
    const auto attack = [&](Slots<Mob>& mobs) {
        Mob* found =
            std::find_if(mobs.begin(), mobs.end(), [&](const Mob& mob) { return mob.is_used && mob.at == to; });
        const bool is_hit = found != mobs.end();
        if (is_hit) {
            found->health -= damage;
        } else {
            found = mobs.begin();
        }
        const bool was_used = found->is_used;
        // also of slots that were not in use
        for (Mob& mob : mobs) mob.is_used = mob.health > 0;
        const bool is_dead = was_used && !found->is_used;
        was_hit |= is_hit;
        was_killed |= is_dead;
        return is_dead;
    };
    if (attack(zombies)) achieved[DEFEAT_ZOMBIE] = true;
    if (attack(cows)) {
        achieved[EAT_COW] = true;
        food = std::min(MAX_NEED, food + 6);
        hunger = 0;
    }
    if (attack(skeletons)) achieved[DEFEAT_SKELETON] = true;
    if (was_killed) set_taken(to, false);
    if (was_hit || !inside(to)) return;
    Block& block = blocks[to.x * SIZE + to.y];
    const auto collect = [&](Item item, Achievement achievement, Block leaves) {
        ++items[item];
        achieved[achievement] = true;
        block = leaves;
    };
    switch (block) {
        case TREE: collect(WOOD_ITEM, COLLECT_WOOD, GRASS); break;
        case STONE:
            if (items[PICKAXES]) collect(STONE_ITEM, COLLECT_STONE, PATH);
            break;
        case COAL:
            if (items[PICKAXES]) collect(COAL_ITEM, COLLECT_COAL, PATH);
            break;
        case IRON:
            if (items[PICKAXES + 1]) collect(IRON_ITEM, COLLECT_IRON, PATH);
            break;
        case DIAMOND:
            if (items[PICKAXES + 2]) collect(DIAMOND_ITEM, COLLECT_DIAMOND, PATH);
            break;
        case GRASS:
            if (jax::uniform(jax::subkey(key, 1)) < 0.1f) collect(SAPLING, COLLECT_SAPLING, GRASS);
            break;
        case WATER:
            drink = std::min(MAX_NEED, drink + 1);
            thirst = 0;
            achieved[COLLECT_DRINK] = true;
            break;
        case RIPE_PLANT:
            block = PLANT;
            food = std::min(MAX_NEED, food + 4);
            hunger = 0;
            achieved[EAT_PLANT] = true;
            harvest(plants, to);
            break;
        default: break;
    }
}

inline void Classic::place(int64_t action) {
    const Point to = target();
    if (action < PLACE_STONE || action > PLACE_PLANT || !inside(to) || is_occupied(to)) return;
    Block& block = blocks[to.x * SIZE + to.y];
    const auto put = [&](Item item, int cost, int least, bool may, Achievement achievement, Block becomes) {
        if (!may || items[item] < least) return false;
        items[item] -= cost;
        achieved[achievement] = true;
        block = becomes;
        return true;
    };
    const bool is_free = !has(SOLID, block);
    switch (action) {
        case PLACE_STONE: put(STONE_ITEM, 1, 1, is_free || block == WATER, DID_PLACE_STONE, STONE); break;
        case PLACE_TABLE: put(WOOD_ITEM, 2, 2, is_free, DID_PLACE_TABLE, TABLE); break;
        case PLACE_FURNACE: put(STONE_ITEM, 1, 1, is_free, DID_PLACE_FURNACE, FURNACE); break;
        default:
            if (put(SAPLING, 1, 1, block == GRASS, DID_PLACE_PLANT, PLANT)) plant(plants, to);
    }
}

inline void Classic::move_player(int64_t action) {
    if (action < LEFT || action > DOWN) return;
    facing = static_cast<int32_t>(action);
    const Point to = target();
    // lava beyond the edge is entered, too
    if (can_enter(to) || block_at(to) == LAVA) player = to;
}

inline void Classic::move(Mob& mob, Point to, bool stays) {
    if (!can_enter(to)) to = mob.at;
    if (mob.is_used) set_taken(mob.at, false);
    mob.is_used &= stays;
    if (mob.is_used) set_taken(to, true);
    // slots that are not in use move as well
    mob.at = to;
}

inline void Classic::move_creatures(jax::Key key) {
    jax::take(key);
    for (Mob& zombie : zombies) {
        const jax::Key walking = jax::take(key), axis = jax::take(key), chasing = jax::take(key);
        const int away = distance(zombie.at, player);
        const bool attacks = away == 1 && zombie.cooldown <= 0 && zombie.is_used;
        Point to = zombie.at;
        if (attacks) {
            health -= is_sleeping ? 7 : 2;
            achieved[WAKE_UP] |= is_sleeping;
            is_sleeping = false;
        } else if (away < 10 && jax::uniform(chasing) < 0.75f) {
            to = to + step_toward(axis, zombie.at, player);
        } else {
            to = to + step_of(LEFT + jax::randint(walking, 0, 4));
        }
        zombie.cooldown = attacks ? 5 : zombie.cooldown - 1;
        move(zombie, to, away < setup->despawn_distance);
        key = jax::subkey(key, 1);
    }
    jax::take(key);
    for (Mob& cow : cows) {
        // half of the directions are none
        const Point to = cow.at + step_of(LEFT + jax::randint(jax::take(key), 0, 8));
        move(cow, to, distance(cow.at, player) < setup->despawn_distance);
    }
    jax::take(key);
    for (Mob& skeleton : skeletons) {
        const jax::Key walking = jax::take(key), axis = jax::take(key), choosing = jax::take(key);
        const int away = distance(skeleton.at, player);
        const Point nearer = step_toward(axis, skeleton.at, player);
        Point to = skeleton.at + step_of(LEFT + jax::randint(walking, 0, 4));
        if (jax::uniform(choosing) > 0.85f) {
            if (away <= 3) to = skeleton.at - nearer;
            if (away >= 10) to = skeleton.at + nearer;
        }
        const bool attacks =
            ((away >= 4 && away <= 5) || (away <= 3 && !can_enter(to))) && skeleton.cooldown <= 0 && skeleton.is_used;
        if (attacks) {
            if (!arrows.is_full()) arrows.free() = {skeleton.at, nearer, true};
            to = skeleton.at;
        }
        skeleton.cooldown = attacks ? 4 : skeleton.cooldown - 1;
        move(skeleton, to, away < setup->despawn_distance);
    }
}

inline void Classic::move_arrows() {
    for (Arrow& arrow : arrows) {
        const Point to = arrow.at + arrow.step;
        if (arrow.is_used) {
            const Block block = block_at(to);
            arrow.is_used = inside(to) && (!has(SOLID, block) || block == WATER) && !is_occupied(to);
            if (block == FURNACE || block == TABLE) set_block(to, PATH);
            if (to == player) {
                health -= 2;
                is_sleeping = false;
            }
        }
        arrow.at = to;
    }
}

inline void Classic::spawn(jax::Key key) {
    const auto add = [&](Slots<Mob>& mobs, float chance, int32_t mob_health, int least_distance, uint64_t ground) {
        const jax::Key luck = jax::take(key), choosing = jax::take(key);
        Mob& mob = mobs.free();
        if (!mobs.is_full() && jax::uniform(luck) < chance) {
            Cells<SIZE> cells;
            const int reach = setup->despawn_distance - 1;
            for (int x = std::max(0, player.x - reach); x <= std::min(SIZE - 1, player.x + reach); ++x) {
                const int left = reach - std::abs(x - player.x);
                for (int y = std::max(0, player.y - left); y <= std::min(SIZE - 1, player.y + left); ++y) {
                    const int cell = x * SIZE + y;
                    if (has(ground, blocks[cell]) && !is_taken[cell] && distance({x, y}, player) > least_distance) {
                        cells.add(x, y);
                    }
                }
            }
            if (const int count = cells.count()) {
                mob.at = cells.choose(choosing, 1 / static_cast<float>(count));
                mob.health = mob_health;
                mob.is_used = true;
            }
        }
        if (mob.is_used) set_taken(mob.at, true);
    };
    add(cows, setup->cow_chance, setup->cow_health, 3, set_of(GRASS));
    const float dark = 1 - light;
    add(zombies, jax::fused(setup->zombie_night_chance, dark * dark, setup->zombie_chance), setup->zombie_health, 9,
        set_of(GRASS, PATH));
    add(skeletons, setup->skeleton_chance, setup->skeleton_health, 9, set_of(PATH));
}

inline void Classic::grow_plants() {
    for (Plant& each : plants) {
        each.age = each.is_used ? each.age + 1 : 0;
        if (each.age >= RIPE_AGE) set_block(each.at, RIPE_PLANT);
    }
}

inline void Classic::update_needs(int64_t action) {
    if (action == SLEEP && energy < MAX_NEED) is_sleeping = true;
    if (energy >= MAX_NEED && is_sleeping) {
        is_sleeping = false;
        achieved[WAKE_UP] = true;
    }
    const float pace = is_sleeping ? 0.5f : 1.0f;
    const auto consume = [](int32_t& need) { need = std::max(need - 1, 0); };
    if ((hunger += pace) > 25) hunger = 0, consume(food);
    if ((thirst += pace) > 20) thirst = 0, consume(drink);
    fatigue = is_sleeping ? std::min(fatigue - 1, 0.0f) : fatigue + 1;
    if (fatigue > 30) fatigue = 0, consume(energy);
    if (fatigue < -10) fatigue = 0, energy = std::min(energy + 1, MAX_NEED);
    const bool is_well = food > 0 && drink > 0 && (energy > 0 || is_sleeping);
    recovery += is_well ? (is_sleeping ? 2.0f : 1.0f) : -pace;
    if (recovery > 25) recovery = 0, health = std::min(health + 1, MAX_NEED);
    if (recovery < -15) recovery = 0, --health;
}

inline void Classic::step(jax::Key key, int64_t action) noexcept {
    const int achieved_before = num_achieved(), health_before = health;
    if (is_sleeping) action = NOOP;
    make(action);
    const jax::Key acting = jax::take(key);
    if (action == DO) act(acting);
    place(action);
    move_player(action);
    move_creatures(jax::take(key));
    move_arrows();
    spawn(jax::take(key));
    grow_plants();
    update_needs(action);
    for (int32_t& count : items) count = std::min(count, MAX_ITEMS);
    if (block_at(player) == LAVA) health = 0;
    health = std::max(health, 0);
    reward = jax::fused(static_cast<float>(health - health_before), 0.1f,
                        static_cast<float>(num_achieved() - achieved_before));
    noise_key = jax::take(key);
    ++timestep;
    update_light();
}

inline void Classic::observe(float* out) const noexcept {
    // n / 10 of half precision, for which XLA multiplies
    constexpr float TENTHS[] = {0,    0.0999755859375f, 0.199951171875f, 0.2998046875f, 0.39990234375f,
                                0.5f, 0.599609375f,     0.69970703125f,  0.7998046875f, 0.89990234375f};
    constexpr int NUM_KINDS = 4, CHANNELS = NUM_BLOCKS + NUM_KINDS;
    const Point corner = player - Point{VIEW_HEIGHT / 2, VIEW_WIDTH / 2};
    std::memset(out, 0, (VIEW_HEIGHT * VIEW_WIDTH * CHANNELS + NUM_ITEMS + 10) * sizeof(float));
    for (int x = 0; x < VIEW_HEIGHT; ++x) {
        for (int y = 0; y < VIEW_WIDTH; ++y) {
            const Point at = corner + Point{x, y};
            out[(x * VIEW_WIDTH + y) * CHANNELS + (inside(at) ? blocks[at.x * SIZE + at.y] : OUT)] = 1;
        }
    }
    // those out of view, or not in use, are written as 0, where a negative index counts from the end
    const auto show = [&](const auto& slots, int channel) {
        for (const auto& each : slots) {
            const Point at = each.at - corner;
            const int x = write_index(at.x, VIEW_HEIGHT), y = write_index(at.y, VIEW_WIDTH);
            if (x < 0 || y < 0) continue;
            out[(x * VIEW_WIDTH + y) * CHANNELS + NUM_BLOCKS + channel] = each.is_used && Point{x, y} == at;
        }
    };
    show(zombies, 0);
    show(cows, 1);
    show(skeletons, 2);
    show(arrows, 3);
    float* to = out + VIEW_HEIGHT * VIEW_WIDTH * CHANNELS;
    for (const int32_t count : items) *to++ = TENTHS[count];
    for (const int32_t need : {health, food, drink, energy}) *to++ = TENTHS[need];
    if (facing != NOOP) to[facing - LEFT] = 1;
    to[4] = seen_light;
    to[5] = is_sleeping;
}

}  // namespace cypool::craftax
