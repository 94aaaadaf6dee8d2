"""Plays Craftax next to craftax: from states that chance has changed, so that all rules are reached."""
import collections

import numpy as np
from state_edits import with_own

import cypool
from cypool.envs.craftax.reference import Reference, compared, packed

CLASSIC, FULL = "Craftax-Classic-Symbolic-v1", "Craftax-Symbolic-v1"
# parameters with which random actions reach more
OPTIONS = [(id, {}) for id in (CLASSIC, FULL, "Craftax-Classic-Symbolic-AutoReset-v1", "Craftax-Symbolic-AutoReset-v1")]
OPTIONS += [(CLASSIC, options) for options in (
    {"key": (123, 4_000_009_905)}, {"max_timesteps": 40, "day_length": 37},
    {"always_diamond": False, "mob_despawn_distance": 6, "spawn_cow_chance": 0.9, "cow_health": 1},
    {"spawn_zombie_base_chance": 0.7, "zombie_health": 2, "mob_despawn_distance": 40},
    {"spawn_zombie_night_chance": 0.9, "day_length": 60, "spawn_skeleton_chance": 1.0, "skeleton_health": 1},
    {"max_zombies": 8, "max_cows": 1, "max_skeletons": 5, "max_arrows": 2, "max_growing_plants": 1,
     "spawn_zombie_base_chance": 0.5, "spawn_skeleton_chance": 0.8})]
ANGLES = np.random.default_rng(1).random((4, 33, 33), np.float32)
OPTIONS += [(id, {"fractal_noise_angles": [
    None if k == alone else ANGLES[k][:size // rows + 1, :size // columns + 1]
    for k, (rows, columns) in enumerate([(16, 16), (16, 16), (8, 2), (4, 4)])]})
            for id, size, alone in ((CLASSIC, 64, 1), (FULL, 48, None))]
OPTIONS += [(FULL, options) for options in (
    {"key": (0, 7)}, {"god_mode": True}, {"max_timesteps": 30, "day_length": 41, "always_diamond": True},
    {"mob_despawn_distance": 9, "max_attribute": 7, "god_mode": True, "day_length": 50},
    {"max_melee_mobs": 6, "max_passive_mobs": 1, "max_ranged_mobs": 4, "max_mob_projectiles": 1,
     "max_player_projectiles": 2, "max_growing_plants": 3, "god_mode": True})]
# the page says by how much pixels of Craftax-Classic-Pixels-AutoReset-v1 may differ
PIXELS = [(id, {}) for id in ("Craftax-Classic-Pixels-v1", "Craftax-Pixels-v1", "Craftax-Pixels-AutoReset-v1")]
STEPS = np.array([[0, -1], [0, 1], [-1, 0], [1, 0]], np.int32)
NUM_ACTIONS = {"Craftax-Classic": 17, "Craftax": 43}


class Duel:
    """One environment of ours, and the package's, with the same seed and options, in the same state."""

    def __init__(self, id, seed, **options):
        self.ours = cypool.make(id, num_envs=1, num_threads=0, seed=seed, autoreset_mode="Disabled", **options)
        self.theirs = Reference(self.ours.env_spec, 0, None)
        self.random = np.random.default_rng(seed)
        self.counts = collections.Counter()
        self.reset(seed)

    def reset(self, seed=None):
        (obs, _), (wanted, _) = self.ours.reset(seed=seed), self.theirs.reset(seed=seed)
        assert obs[0].tobytes() == wanted.tobytes()
        self.compare()

    def compare(self):
        assert compared(self.ours.save().rows[0]["own"][0], self.theirs) == "the package's state"

    def enter(self, state):
        """Has both continue from a state of the package's."""
        import jax

        self.theirs.state, mine = state, self.ours.save()
        obs, _ = self.ours.load(with_own(mine, (packed(self.theirs, mine.rows[0]["own"][0], whole=True),)))
        # without automatic reset, it is the observed one, which is that of the time
        light = obs[0][-2 if self.theirs.game == "Craftax-Classic" else -8]
        self.theirs.state = jax.tree.map(jax.numpy.asarray, state.replace(light_level=light))

    def step(self, action):
        """Steps both, and compares all; returns whether the episode is over."""
        before = self.theirs.state
        obs, reward, terminated, _, info = self.ours.step([action])
        wanted, *rest, wanted_info = self.theirs.step(action)
        assert obs[0].tobytes() == wanted.tobytes()
        assert [np.float32(reward[0]), bool(terminated[0])] == [np.float32(rest[0]), rest[1]]
        assert all(info[name][0].tobytes() == value.tobytes() for name, value in wanted_info.items())
        self.compare()
        wounds = bool(self.theirs.state.player_health < before.player_health)
        self.counts.update(steps=1, ends=rest[1], wounds=wounds)
        return rest[1]


def play(duel, change, num_changes, num_steps):
    """Has both play from changed states of the first world, some steps from each."""
    import jax

    base = jax.tree.map(np.asarray, duel.theirs.state)
    for _ in range(num_changes):
        state, favourites = change(base, duel.random)
        duel.enter(state)
        for _ in range(num_steps):
            action = duel.random.choice(favourites) if duel.random.random() < 0.5 else duel.random.integers(
                NUM_ACTIONS[duel.theirs.game])
            if duel.step(int(action)):
                duel.reset()
                break
    return duel.counts


def whole(random, low, high, kind=np.int32):
    return kind(random.integers(low, high))


def needs(random, most):
    """Returns needs, and how far the next change of each is."""
    found = {f"player_{name}": whole(random, 0, most) for name in ("food", "drink", "energy")}
    return found | {f"player_{name}": whole(random, low, high, np.float32) for name, low, high in (
        ("recover", -15, 26), ("hunger", 0, 26), ("thirst", 0, 21), ("fatigue", -10, 31))}


def plants(random, at):
    return {"growing_plants_positions": (at + random.integers(-2, 3, (10, 2))).astype(np.int32),
            "growing_plants_age": random.integers(0, 620, 10).astype(np.int32),
            "growing_plants_mask": random.random(10) < 0.6}


def scattered(random, blocks, at, kinds, part):
    """Returns blocks with others around a place."""
    blocks = np.array(blocks)
    for x in range(max(0, at[0] - 4), min(len(blocks), at[0] + 5)):
        for y in range(max(0, at[1] - 4), min(len(blocks), at[1] + 5)):
            if random.random() < part:
                blocks[x, y] = random.choice(kinds)
    return blocks


def placed(random, at, reach, size, taken, count, chance=0.8):
    """Returns places of creatures near the player, and which of them are free, which `taken` then has."""
    positions = np.clip(at + random.integers(-reach, reach + 1, (count, 2)), 0, size - 1).astype(np.int32)
    used = np.zeros(count, bool)
    for k, (x, y) in enumerate(positions):
        used[k] = not taken[x, y] and (x, y) != tuple(at) and random.random() < chance
        taken[x, y] |= used[k]
    return positions, used


def change_classic(base, random):
    """Returns a state of Classic, and actions of which there is more to see."""
    at, reach = random.integers(0, 64, 2).astype(np.int32), int(random.integers(1, 6))
    blocks = scattered(random, base.map, at, [2, 2, 3, 4, 5, 7, 7, 8, 9, 10, 11, 11, 12, 13, 14, 15, 16], 0.6)
    blocks[tuple(at)] = 2
    taken = np.zeros((64, 64), bool)

    def mobs(own):
        positions, used = placed(random, at, reach, 64, taken, len(own.mask))
        health = random.integers(1, 9, len(used)).astype(np.int32)
        # slots that are not in use come alive with some
        health[~used] = random.integers(-1, 4)
        return own.replace(position=positions, mask=used, health=health,
                           attack_cooldown=random.integers(-2, 4, len(used)).astype(np.int32))

    items = {name: whole(random, 0, 3 if "_" in name else 10) for name in base.inventory.__dataclass_fields__}
    count = len(base.arrows.mask)
    return base.replace(
        map=blocks, zombies=mobs(base.zombies), cows=mobs(base.cows), skeletons=mobs(base.skeletons), mob_map=taken,
        arrows=base.arrows.replace(position=(at + random.integers(-3, 4, (count, 2))).astype(np.int32),
                                   mask=random.random(count) < 0.6),
        arrow_directions=STEPS[random.integers(4, size=count)], player_position=at,
        player_direction=whole(random, 1, 5), player_health=whole(random, 1, 10), **needs(random, 10),
        is_sleeping=np.bool_(random.random() < 0.2), inventory=base.inventory.replace(**items),
        timestep=whole(random, 0, 9999) if random.random() < 0.95 else np.int32(9997),
        achievements=random.random(22) < random.random(), **plants(random, at)), [5]


def change_full(base, random):
    """The same of Craftax, on any of its floors."""
    kind, level = int(random.integers(5)), int(random.integers(9))
    at, reach = random.integers(3, 45, 2).astype(np.int32), int(random.integers(1, 6))
    blocks, things = np.array(base.map), np.array(base.item_map)
    favourites = [5, 5, 5, 11, 12, 13, 14, 15, 16, 20, 21, 22, 23, 25, 38]
    if kind == 1:
        # the boss
        level, at = 8, np.array([24, 25], np.int32)
        blocks[8, 23:26, 24:27], blocks[8, 24, 24] = 7, 32
        favourites = [5, 5, 5, 0, 24, 26, 27]
    elif kind == 2:
        # tables
        x, y = at
        blocks[level, x - 1:x + 2, y - 1:y + 2] = 7
        blocks[level, x - 1, y - 1], blocks[level, x - 1, y + 1] = 11, 12
        blocks[level, x, y - 1:y + 2:2] = blocks[level, x - 1:x + 2:2, y] = random.choice([30, 31])
        favourites = [22, 23, 13, 16, 20, 21, 25, 38, 36, 37, 42, 36, 37]
    elif kind == 3:
        # ladders, books, potions, attributes, chests
        things[level, at[0], at[1]] = random.integers(4)
        blocks[level, at[0], at[1] - 1:at[1] + 2:2] = 23
        favourites = [5, 5, 18, 19, 35, 39, 40, 41, 6, 17, 28, *range(29, 35)]
    else:
        blocks[level] = scattered(random, blocks[level], at, [
            11, 12, 23, 24, 30, 31, 16, 15, 20, 21, 22, 10, 9, 8, 4, 5, 28, 29, 3, 14, 2, 25, 26, 7, 7, 7, 32, 33], 0.5)
        blocks[level, at[0], at[1]] = 7
    taken = np.zeros((9, 48, 48), bool)

    def changed(own, **columns):
        values = {name: np.array(getattr(own, name)) for name in columns}
        for name, value in columns.items():
            values[name][level] = value
        return own.replace(**values)

    def mobs(own, types):
        count = own.mask.shape[1]
        positions, used = placed(random, at, reach, 48, taken[level], count, 0 if kind == 1 else 0.8)
        return changed(own, position=positions, mask=used, health=random.integers(1, 9, count),
                       type_id=random.integers(0, types, count), attack_cooldown=random.integers(-3, 4, count))

    def shots(own, types):
        count = own.mask.shape[1]
        return changed(own, position=at + random.integers(-reach, reach + 1, (count, 2)),
                       mask=random.random(count) < 0.7, type_id=random.choice(types, count))

    own = base.inventory
    counts = [name for name in own.__dataclass_fields__ if name not in ("pickaxe", "sword", "bow", "armour", "potions")]
    most = 100 if random.random() < 0.2 else 9
    items = {name: whole(random, 0, most) for name in counts}
    items |= {"pickaxe": whole(random, 0, 5), "sword": whole(random, 0, 5), "bow": whole(random, 0, 2),
              "armour": random.integers(0, 3, 4).astype(np.int32), "potions": random.integers(0, 3, 6).astype(np.int32)}
    attributes = {f"player_{name}": whole(random, 1, 6) for name in ("dexterity", "strength", "intelligence")}
    magic = random.integers(0, 3, 4) if random.random() < 0.6 else np.full(4, random.integers(3))
    return base.replace(
        map=blocks, item_map=things, melee_mobs=mobs(base.melee_mobs, 8), passive_mobs=mobs(base.passive_mobs, 3),
        ranged_mobs=mobs(base.ranged_mobs, 8), mob_map=taken, mob_projectiles=shots(base.mob_projectiles, range(8)),
        player_projectiles=shots(base.player_projectiles, [4, 2, 3]),
        mob_projectile_directions=STEPS[random.integers(4, size=base.mob_projectile_directions.shape[:2])],
        player_projectile_directions=STEPS[random.integers(4, size=base.player_projectile_directions.shape[:2])],
        player_position=at, player_level=np.int32(level), player_direction=whole(random, 1, 5),
        player_health=whole(random, 1, 10, np.float32), **needs(random, 10), player_mana=whole(random, 0, 25),
        player_recover_mana=whole(random, 0, 31, np.float32), player_xp=whole(random, 0, 3), **attributes,
        inventory=own.replace(**items), is_sleeping=np.bool_(random.random() < 0.15),
        is_resting=np.bool_(random.random() < 0.15), sword_enchantment=whole(random, 0, 3),
        bow_enchantment=whole(random, 0, 3), armour_enchantments=magic.astype(np.int32),
        learned_spells=random.random(2) < 0.5, boss_progress=whole(random, 0, 8),
        boss_timesteps_to_spawn_this_round=whole(random, -3, 4),
        monsters_killed=random.integers(4, 12, 9).astype(np.int32), chests_opened=random.random(9) < 0.3,
        timestep=whole(random, 0, 99990), achievements=random.random(67) < 0.2, **plants(random, at)), favourites


CHANGES = {CLASSIC: change_classic, FULL: change_full}
