"""Plays cypool's Crafter next to crafter, and compares all, exactly: for a test and a sweep.

A saved world is taken to pieces here, so that its numbers can be compared, and changed in both games.
"""
import gc
import struct
from collections import Counter, deque

import crafter
import numpy as np
from crafter import constants, objects

import cypool
from cypool.envs.crafter.assets import ACTIONS, ITEMS, MATERIALS
from cypool.envs.crafter.crafter import Crafter
from cypool.envs.crafter.reference import OrderedWorld

ACTION = {name: k for k, name in enumerate(ACTIONS)}
MATERIAL = {name: k for k, name in enumerate(MATERIALS, 1)}
KINDS = (objects.Player, objects.Cow, objects.Zombie, objects.Skeleton, objects.Arrow, objects.Plant)
DIRECTIONS = ((-1, 0), (1, 0), (0, -1), (0, 1))
MOVES = dict(zip(DIRECTIONS, range(1, 5), strict=True))
OBJECT = np.dtype([("kind", "u1"), ("x", "<i2"), ("y", "<i2"), ("health", "<i2"), ("count", "<i4"), ("facing", "u1")])
STYLES = ("random", "walker", "player", "gifts", "immortal", "farmer", "builder", "sleeper")


class SavedWorld:
    """The numbers of a saved world, in the order in which it has them."""

    FIELDS = (("ready", "u1", 1), ("seed_hash", "<i8", 1), ("episode", "<i8", 1), ("step", "<i4", 1),
              ("key", "<u4", 624), ("position", "<i4", 1), ("materials", "u1", None), ("objects", OBJECT, -1),
              ("arrivals", "<i4", -1), ("chunks", "<i4", -1), ("inventory", "<i4", 16), ("achievements", "<i4", 22),
              ("unlocked", "<u4", 1), ("is_sleeping", "u1", 1), ("health_at_update", "<i4", 1),
              ("health_at_step", "<i4", 1), ("needs", "<i4", 4), ("reward", "<f8", 1))

    def __init__(self, state, area):
        self.state, self.area = state, area
        data, at = state.rows[0]["own"][0], 0
        for name, kind, count in self.FIELDS:
            if count == -1:
                count, = struct.unpack_from("<I", data, at)
                at += 4
            elif count is None:
                count = area[0] * area[1]
            part = np.frombuffer(data, kind, count, offset=at).copy()
            at += part.nbytes
            setattr(self, name, part)
        assert at == len(data)

    def pack(self):
        parts = []
        for name, _, count in self.FIELDS:
            part = getattr(self, name)
            parts += [struct.pack("<I", len(part))] if count == -1 else []
            parts.append(part.tobytes())
        row = {**self.state.rows[0], "own": (b"".join(parts),)}
        return cypool.State(self.state.env_id, [row])

    def chunk_of(self, x, y):
        return x // 12 * -(-self.area[1] // 12) + y // 12

    def move_player(self, x, y):
        """Puts the player to another cell, as `World.move` of crafter does."""
        player, old = self.objects[0], self.chunk_of(self.objects["x"][0], self.objects["y"][0])
        player["x"], player["y"] = x, y
        new = self.chunk_of(x, y)
        if new == old:
            return
        self.arrivals = np.append(self.arrivals[self.arrivals != 0], np.int32(0))
        if new not in self.chunks:
            self.chunks = np.append(self.chunks, np.int32(new))


class Recorded(crafter.Env):
    """crafter as it is, which writes down the order of each set of which it may choose."""

    def __init__(self, **options):
        super().__init__(**options)
        self.choices = []

    def _balance_object(self, chunk, objs, cls, *args):
        cells = [int(o.pos[0] * self._area[1] + o.pos[1]) for o in objs if isinstance(o, cls)]
        if len(cells) > 1:
            self.choices += [len(cells), *cells]
        super()._balance_object(chunk, objs, cls, *args)


class Duel:
    """Two games with the same seed.

    Args:
        seed: Of both.
        ordered: Whether crafter's sets keep their order; else cypool follows those that they have.
        num_threads: Of cypool.
        **options: Of both.
    """

    def __init__(self, seed, ordered, num_threads=0, **options):
        self.theirs, self.ordered = Recorded(seed=seed, **options), ordered
        if ordered:
            self.theirs._world.__class__ = OrderedWorld
        self.ours = cypool.make("CrafterReward-v1", num_envs=1, seed=seed, num_threads=num_threads,
                                autoreset_mode="Disabled", **options)
        spec = self.ours.env_spec
        self.env, = (each for each in gc.get_objects() if type(each) is Crafter and each.spec is spec)
        self.area, self.where, self.seen = tuple(self.theirs._area), f"seed {seed}", Counter()

    def reset(self):
        want = self.theirs.reset()
        obs, info = self.ours.reset()
        self._compare(obs, info, want, whole=True)
        self.seen["episodes"] += 1

    def step(self, action):
        """Steps both; returns whether the episode is over."""
        world, player = self.theirs._world, self.theirs._player
        self.theirs.choices.clear()
        want, reward, done, their_info = self.theirs.step(action)
        self.env.follow([] if self.ordered else self.theirs.choices)
        obs, our_reward, terminated, truncated, info = self.ours.step([action])
        assert our_reward[0] == reward, (self.where, "reward", our_reward[0], reward)
        assert (terminated[0], terminated[0] or truncated[0]) == (player.health <= 0, bool(done)), (self.where, "ends")
        for name in ("reward", "discount", "player_pos", "semantic"):
            assert np.array_equal(info[name][0], their_info[name]), (self.where, name)
        self._compare(obs, info, want, whole=done or self.theirs._step % 10 == 0)
        self.seen += Counter(steps=1, at_night=int(world.daylight < 0.5), asleep=int(player.sleeping),
                             choices=int(bool(self.theirs.choices)),
                             arrows=int(any(isinstance(each, objects.Arrow) for each in world.objects)),
                             died=int(terminated[0]), cut=int(truncated[0]))
        if done:
            self.seen += Counter({name: count for name, count in player.achievements.items() if count})
        return bool(done)

    def saved(self):
        return SavedWorld(self.ours.save(), self.area)

    def give(self, **items):
        """Gives the player of both games things."""
        self.theirs._player.inventory.update(items)
        world = self.saved()
        world.inventory[:] = list(self.theirs._player.inventory.values())
        self.ours.load(world.pack())

    def move_player(self, x, y):
        """Puts the player of both games into another cell, if it is free for it."""
        world, player = self.theirs._world, self.theirs._player
        inside = 0 <= x < self.area[0] and 0 <= y < self.area[1]
        if inside and player.is_free((x, y)) and world[x, y][0] != "lava":
            world.move(player, (x, y))
            saved = self.saved()
            saved.move_player(x, y)
            self.ours.load(saved.pack())

    def _compare(self, obs, info, want, whole):
        theirs = self.theirs
        where = self.where, "episode", theirs._episode, "step", theirs._step
        player, world = theirs._player, theirs._world
        assert np.array_equal(obs[0], want), (*where, "picture", np.argwhere((obs[0] != want).any(-1))[:5].tolist())
        assert info["inventory"][0].tolist() == list(player.inventory.values()), (*where, "inventory")
        assert info["achievements"][0].tolist() == list(player.achievements.values()), (*where, "achievements")
        saved = self.saved()
        stream = np.random.RandomState()
        stream.set_state(("MT19937", saved.key, int(saved.position[0])))
        if world.daylight < 0.5:
            view = theirs._local_view
            stream.random_sample(np.prod(view._grid * view._unit))
        (_, key, at, *_), (_, their_key, their_at, *_) = stream.get_state(), world.random.get_state()
        assert at == their_at and np.array_equal(key, their_key), (*where, "random stream")
        if not whole:
            return
        assert np.array_equal(saved.materials.reshape(self.area), world._mat_map), (*where, "materials")
        needs = [2 * player._hunger, 2 * player._thirst, player._fatigue, 2 * player._recover]
        assert saved.needs.tolist() == needs and bool(saved.is_sleeping[0]) == player.sleeping, (*where, "needs")
        assert saved.objects.tolist() == [_row(each) for each in world.objects], (*where, "objects")
        if self.ordered:
            chunks = [saved.chunk_of(chunk[0], chunk[2]) for chunk in world.chunks]
            assert saved.chunks.tolist() == chunks, (*where, "chunks")
            index = {id(each): k for k, each in enumerate(world.objects)}
            arrivals = [index[id(each)] for members in world.chunks.values() for each in members]
            assert saved.arrivals.tolist() == arrivals, (*where, "arrivals")


def _row(each):
    kind = KINDS.index(type(each)) + 1
    health = 0 if kind == 1 else each.health
    count = getattr(each, "cooldown", getattr(each, "reload", getattr(each, "grown", 0)))
    facing = DIRECTIONS.index(tuple(map(int, each.facing))) if hasattr(each, "facing") else 0
    return (kind, *map(int, each.pos), health, count, facing)


def play(duel, style, chance, num_steps):
    """Plays an episode of at most `num_steps` steps; returns how many it had."""
    duel.reset()
    act = {"random": lambda: Any(chance), "walker": lambda: Walker(chance), "builder": lambda: Builder(chance),
           "sleeper": lambda: Any(chance, (*[ACTION["sleep"]] * 6, ACTION["do"], *range(17))),
           "gifts": lambda: Player(duel.theirs, chance, 0.3),
           "farmer": lambda: Farmer(duel.theirs, chance)}.get(style, lambda: Player(duel.theirs, chance))()
    for step in range(1, num_steps + 1):
        help_player(duel, style, step, chance)
        if duel.step(act()):
            return step
    return num_steps


def help_player(duel, style, step, chance):
    """Gives the player of some styles items that it would hardly find."""
    have = duel.theirs._player.inventory
    if style == "gifts" and step % 25 == 0:
        if chance.random() < 0.5:
            gifts = {name: int(chance.integers(0, 10)) if chance.random() < 0.7 else 0 for name in ITEMS[1:]}
            duel.give(**gifts, health=9 if chance.random() < 0.6 else have["health"])
            return
        others = [each for each in duel.theirs._world.objects if not isinstance(each, objects.Player)]
        wanted = KINDS[chance.integers(1, len(KINDS))]
        others = [each for each in others if isinstance(each, wanted)] or others
        x, y = (int(chance.integers(size)) for size in duel.area)
        if others and chance.random() < 0.8:
            x, y = map(int, others[chance.integers(len(others))].pos + chance.integers(-3, 4, 2))
        if chance.random() < 0.1:
            x = int(chance.choice([0, duel.area[0] - 1]))
        ores = np.argwhere(duel.theirs._world._mat_map >= MATERIAL["iron"])
        if len(ores) and chance.random() < 0.3:
            x, y = map(int, ores[chance.integers(len(ores))] + DIRECTIONS[chance.integers(4)])
        duel.move_player(x, y)
        return
    least = {"immortal": {"wood": 5, "stone": 5, "coal": 2, "energy": 3},
             "farmer": {"sapling": 3, "food": 5, "drink": 5, "energy": 5},
             "builder": {"wood": 6, "stone": 6, "coal": 2, "iron": 2, "sapling": 2},
             "sleeper": {"energy": 0}}.get(style)
    if least and (have["health"] < 5 or style == "farmer" or step % 200 == 100 or (style == "builder" and step == 1)):
        duel.give(health=max(5, have["health"]), **{name: max(have[name], amount) for name, amount in least.items()})
    if style == "sleeper" and step == 1:
        duel.give(energy=2)


class Any:
    """Random actions, or those of a table."""

    def __init__(self, chance, table=(*range(17),)):
        self.chance, self.table = chance, table

    def __call__(self):
        return int(self.table[self.chance.integers(len(self.table))])


class Walker:
    """Goes far, and hits all things in its way."""

    def __init__(self, chance):
        self.chance, self.move, self.left = chance, 1, 0

    def __call__(self):
        if self.left == 0:
            self.move, self.left = int(self.chance.integers(1, 5)), int(self.chance.integers(1, 20))
        self.left -= 1
        drawn = self.chance.random()
        return self.move if drawn < 0.6 else ACTION["do"] if drawn < 0.93 else int(self.chance.integers(len(ACTIONS)))


class Builder:
    """Places and makes whatever it can."""

    def __init__(self, chance):
        self.chance = chance

    def __call__(self):
        drawn = self.chance.random()
        low, high = (1, 5) if drawn < 0.4 else (5, 6) if drawn < 0.5 else (7, 11) if drawn < 0.7 else (11, 17)
        return int(self.chance.integers(low, high))


def step_toward(world, start, wanted, passable):
    """Returns the first step to the nearest cell that is wanted, and whether it is the next one; else None, False."""
    area, seen, queue = world.area, {start}, deque([(start, None)])
    while queue and len(seen) < 3000:
        (x, y), first = queue.popleft()
        for move in MOVES:
            cell = x + move[0], y + move[1]
            if cell in seen or not (0 <= cell[0] < area[0] and 0 <= cell[1] < area[1]):
                continue
            seen.add(cell)
            index = world._obj_map[cell]
            if wanted(int(world._mat_map[cell]), world._objects[index] if index else None):
                return first or move, first is None
            if world._mat_map[cell] in passable and not index:
                queue.append((cell, first or move))
    return None, False


def of_material(*names):
    wanted = {MATERIAL[name] for name in names}
    return lambda material, thing: thing is None and material in wanted


def of_class(classes, test=lambda thing: True):
    return lambda _, thing: isinstance(thing, classes) and test(thing)


def is_ripe(plant):
    return plant.ripe


class Player:
    """Drinks, eats, sleeps, fights, and works through the achievements; looks into crafter's game.

    Args:
        env: crafter's environment.
        chance: A NumPy Generator.
        noise: How often it acts at random.
    """

    def __init__(self, env, chance, noise=0.03):
        self.env, self.chance, self.noise = env, chance, noise

    def __call__(self):
        if self.chance.random() < self.noise:
            return int(self.chance.integers(len(ACTIONS)))
        world, player = self.env._world, self.env._player
        here, facing = tuple(map(int, player.pos)), tuple(player.facing)
        material, ahead = world[here[0] + facing[0], here[1] + facing[1]]
        passable = {MATERIAL[name] for name in ("grass", "sand", "path")}
        if player.inventory["wood_pickaxe"]:
            passable |= {MATERIAL["stone"], MATERIAL["coal"]}
        for goal in self.goals(player.inventory, player.achievements, world, player):
            act = ACTION["do"]
            if isinstance(goal, str):
                where = constants.place[goal.removeprefix("place_")]["where"] if goal.startswith("place_") else None
                if where is None or (material in where and ahead is None):
                    return ACTION[goal]
                goal, act = of_material(*where), None
            move, is_next = step_toward(world, here, goal, passable)
            if move is None:
                continue
            if is_next and move == facing:
                if act is None:
                    continue
                return act
            cell = here[0] + move[0], here[1] + move[1]
            digs = move == facing and world._mat_map[cell] in (MATERIAL["stone"], MATERIAL["coal"])
            return ACTION["do"] if digs else MOVES[move]
        return int(self.chance.integers(1, 6))

    def goals(self, have, done, world, player):
        """Yields goals, the most urgent first: an action, or a test of cells to do something with."""
        foes = (objects.Zombie, objects.Skeleton)
        if have["health"] > 2 and any(isinstance(each, foes) and player.distance(each) <= 2 for each in world.objects):
            yield of_class(foes)
        if have["drink"] < 4:
            yield of_material("water")
        if have["food"] < 5:
            yield of_class(objects.Plant, is_ripe)
            yield of_class(objects.Cow)
        if have["energy"] < 3 or (world.daylight < 0.3 and have["energy"] < 7):
            yield "sleep"
        yield of_class(objects.Plant, is_ripe)
        if not done["place_plant"] and have["sapling"]:
            yield "place_plant"
        if not done["collect_sapling"]:
            yield of_material("grass")
        if not done["collect_drink"]:
            yield of_material("water")
        if not done["eat_cow"]:
            yield of_class(objects.Cow)
        near = world.nearby(player.pos, 1)[0]
        yield from self.tools_of_wood(have, done, near)
        yield from self.tools_of_stone(have, done, near)
        yield from self.tools_of_iron(have, near)
        for name, foe in (("defeat_skeleton", objects.Skeleton), ("defeat_zombie", objects.Zombie)):
            if not done[name] and have["health"] > 4:
                yield of_class(foe)
        if have["iron_pickaxe"]:
            yield of_material("diamond")
        if have["energy"] < 9:
            yield "sleep"
        yield of_class((*foes, objects.Cow))

    def tools_of_wood(self, have, done, near):
        if have["wood_pickaxe"] and have["wood_sword"]:
            return
        if have["wood"] < 4 and not done["place_table"]:
            yield of_material("tree")
        if "table" not in near:
            if done["place_table"] and have["wood"] >= 1:
                yield of_material("table")
            if have["wood"] < 3:
                yield of_material("tree")
            yield "place_table"
        if have["wood"] >= 1:
            yield "make_wood_sword" if have["wood_pickaxe"] else "make_wood_pickaxe"
        yield of_material("tree")

    def tools_of_stone(self, have, done, near):
        if have["stone_pickaxe"] and have["stone_sword"] and done["place_stone"]:
            return
        if have["wood"] < 3:
            yield of_material("tree")
        if have["stone"] < 3:
            yield of_material("stone")
        if not done["place_stone"]:
            yield "place_stone"
        if "table" not in near:
            yield of_material("table")
            yield "place_table"
        yield "make_stone_sword" if have["stone_pickaxe"] else "make_stone_pickaxe"

    def tools_of_iron(self, have, near):
        if have["iron_pickaxe"] and have["iron_sword"]:
            return
        for item, amount, source in (("wood", 5, "tree"), ("stone", 6, "stone"), ("coal", 2, "coal"),
                                     ("iron", 2, "iron")):
            if have[item] < amount and not (item != "iron" and "furnace" in near and have[item] >= 1):
                yield of_material(source)
        if "table" not in near:
            yield "place_table" if have["wood"] >= 4 else of_material("table")
        if "furnace" not in near and have["stone"] >= 4:
            yield "place_furnace"
        yield "make_iron_sword" if have["iron_pickaxe"] else "make_iron_pickaxe"


class Farmer(Player):
    """Plants saplings, waits, and eats."""

    def goals(self, have, done, world, player):
        yield of_class(objects.Zombie, lambda zombie: player.distance(zombie) <= 2)
        yield of_class(objects.Plant, is_ripe)
        if self.env._step >= 80:
            yield "noop"
        elif have["sapling"] and self.chance.random() < 0.5:
            yield "place_plant"
