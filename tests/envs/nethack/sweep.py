"""Compares NetHack with NLE: all ids, characters, options and keys; and debug mode, in which the whole game is reached.

    python fuzz/sweep_family.py nethack --seeds 0 1 --scale 0.15
    python fuzz/sweep_family.py nethack states --states 100000 --seeds 5
    python fuzz/sweep_family.py nethack wild --wild 400
    python fuzz/sweep_family.py nethack soak --soak 600

Takes nle. Actions are random, but for debug mode: there commands for levels, things and monsters are typed between
them. Where a game fails in cypool, NLE's process would end: such games are counted, and NLE does not play them.

`--states` compares a number of steps that follow saving, loading, copying to other environments and reading from bytes
with those that followed in the first environment. `--wild` begins games with wild options of NetHack's own, of which
some end NLE's process, and compares the game after them with that of a new environment.

`--soak` plays for a number of seconds with games that are overwritten, pools that are made and dropped, states that are
kept, moved and played again, and says how the memory of the process changed.
"""
import gc
import random
import resource
import time
from collections import Counter
from functools import partial

import numpy as np
from sweeping import Run, chosen, ids_of, parity

import cypool
from cypool.envs.nethack.nethack import NetHack
from cypool.envs.nethack.options import KEYS

DEFAULTS = {"seeds": [0, 1]}
IDS = ids_of("nethack")
ALL_KEYS = tuple(KEYS)
# then cypool does not draw on the terminal
WITHOUT_SCREEN = tuple(key for key in KEYS if not key.startswith(("tty", "screen")))
NAMES = ("catname", "fruit", "packorder", "scores", "statushilites", "boulder", "disclose", "windowtype", "role",
         "race", "symset", "menustyle", "monsters", "objects", "traps", "number_pad", "playmode", "msghistory", "name",
         "bind", "hilite_status", "pickup_types", "statuslines", "sortloot", "paranoid_confirmation", "align",
         "dogname", "time")
CHARACTERS = ("@", "arc", "bar", "cav", "hea", "kni", "mon", "pri", "ran", "rog", "sam", "tou", "val", "wiz")
OPTIONS = [{"penalty_mode": "exp", "penalty_time": 0.1}, {"penalty_mode": "square"}, {"penalty_mode": "linear"},
           {"penalty_mode": "always", "penalty_step": -0.5}, {"fix_moon_phase": True}, {"spawn_monsters": False},
           {"allow_all_modes": True}, {"allow_all_yn_questions": True}, {"abort_steps": 60},
           {"nle_seeds": (5, 6, 7), "clock": 10**9}, {"options": ["time", "showexp", "autoquiver"]}]
DEBUG = {"wizard": True, "allow_all_modes": True, "allow_all_yn_questions": True, "actions": range(128)}
WISHES = ("3 cursed scrolls of genocide", "blessed +3 gray dragon scale mail", "7 blessed potions of hallucination",
          "wand of digging", "blessed magic lamp", "cockatrice corpse", "10 lichen corpses",
          "cursed figurine of a lich", "ring of conflict", "bag of holding", "wand of polymorph",
          "potion of levitation", "statue of an archon")
MONSTERS = ("minotaur", "cockatrice", "shopkeeper", "watchman", "arch-lich", "floating eye", "10 jackals", "nymph",
            "black pudding", "purple worm", "gelatinous cube", "mind flayer", "succubus")
# not #timeout, which prints addresses in memory
COMMANDS = ("\x06", "\x05", "\x14", "#levelchange\r14\r", "#pray\ryy", "#monster\r", "\x18", "\x0f", "i", ":", ";.",
            "C", "\\", "+", "_", "I", "V", "&i", "/m", "D", "#name\ria")


def words(chance):
    """Returns keys: a command of debug mode, or one with a thing."""
    kind = chance.randrange(6)
    if kind == 0:
        return f"\x16{chance.choice([chance.randrange(1, 52), chance.randrange(-5, 60)])}\r"
    if kind == 1:
        return f"\x17{chance.choice(WISHES)}\r"
    if kind == 2:
        return f"\x07{chance.choice(MONSTERS)}\r"
    if kind == 3:
        return f"#polyself\r{chance.choice(['xorn', 'vampire lord', 'newt', 'purple worm', '*'])}\r"
    if kind == 4:
        return (chance.choice("qrzaPRWTwtEQ") + chance.choice("abcdefghijklmnop") + chance.choice("hjklyn.-"))
    return chance.choice(COMMANDS)


class Typist:
    """Types into one environment: commands, and random keys between them."""

    def __init__(self, seed):
        self.chance, self.left = random.Random(seed), ""

    def key(self):
        if not self.left:
            rest = self.chance.random()
            self.left = words(self.chance) if rest < 0.1 else self.chance.choice("hjklyubnHJKLs.,>\r\x1by\x1b ")
        key, self.left = self.left[0], self.left[1:]
        return ord(key)


def compare_debug(seed, num_steps):
    """Returns counts of the comparisons in debug mode; raises AssertionError where something differs."""
    from cypool.envs.nethack.reference import make_reference

    options = {**DEBUG, "observation_keys": ALL_KEYS, "infos": ["end_status", "is_ascended", "depth"]}
    ours = cypool.make("NetHack-v0", num_envs=1, num_threads=1, seed=seed, autoreset_mode="SameStep", **options)
    theirs, _ = make_reference(ours, seed, {})
    typist, seen = Typist(seed), Counter()
    one, other = ours.reset()[0], theirs.reset(seed=seed)[0]
    for k in range(num_steps):
        differ = [key for key in ALL_KEYS if not np.array_equal(one[key], other[key])]
        assert not differ, f"step {k}: {differ}"
        action = [typist.key()]
        try:
            one, *mine, info = ours.step(action)
        except cypool.EnvError:
            # it would end NLE's process
            seen["games that failed"] += 1
            break
        other, *its, _ = theirs.step(action)
        assert all(a[0] == b[0] for a, b in zip(mine, its, strict=True)), f"step {k}: {mine}, {its}"
        level = int(info["depth"][0]) // 10 * 10
        seen.update({"steps": 1, "episodes": int(mine[1][0]), f"of them at levels from {level}": 1})
    theirs.close()
    return seen


def comparisons(scale, seeds):
    """Yields runs of `check_parity`, and of debug mode."""
    def run(group, id, num_steps, mode, **options):
        num_steps = max(20, int(num_steps * scale))
        said = {name: len(value) if name == "observation_keys" else value for name, value in options.items()}
        name = f"{id} {mode} {num_steps} {seeds} {said}"
        return Run(group, name, partial(parity, id, num_envs=3, num_steps=num_steps, autoreset_mode=mode, seeds=seeds,
                                        **options))

    for k, id in enumerate(IDS):
        for mode in ("NextStep", "SameStep", "Disabled"):
            yield run(id, id, 3000, mode, num_threads=(1, 2, 5)[k % 3], max_episode_steps=1200)
        yield run(id, id, 4000, "NextStep", observation_keys=ALL_KEYS, num_threads=2)
        yield run(id, id, 3000, "SameStep", observation_keys=WITHOUT_SCREEN)
    for character in CHARACTERS:
        yield run("characters", "NetHack-v0", 2000, "SameStep", character=character, observation_keys=ALL_KEYS)
    tasks = [id for id in IDS if id not in ("NetHack-v0", "NetHackChallenge-v0")]
    for k, options in enumerate(OPTIONS):
        for id in (tasks[k % 7], tasks[(k + 3) % 7]):
            yield run("options", id, 1500, "NextStep", **options)
    for timeout in (20, 21, 40, 41):
        yield run("options", "NetHackChallenge-v0", 1500, "SameStep", no_progress_timeout=timeout)
    for seed in range(int(40 * scale) + 1):
        yield Run("debug mode", f"seed {seed}", partial(compare_debug, seed, 1500))


def played(env, chance, num_steps):
    """Returns all that is seen of the first environment in some random steps."""
    seen = [env.step(chance.integers(env.single_action_space.n, size=1).repeat(env.num_envs))[:4]
            for _ in range(num_steps)]
    return [{**{key: part[0].tobytes() for key, part in obs.items()}, "rest": [part[0] for part in rest]}
            for obs, *rest in seen]


def ways_to(state, one, two):
    """Returns functions that bring a state to the environment it is from, and then to that of another pool."""
    return (lambda: one.load(state), lambda: two.load(state, [0]),
            lambda: (two.load(state, [1]), two.copy([1], [0])),
            lambda: two.load(cypool.State.from_bytes(state.to_bytes()), [0]))


def states(num_steps, seed):
    """Returns counts of the steps after saved states; raises AssertionError where they differ."""
    chance, seen = np.random.default_rng(seed), Counter()
    while seen["steps"] < num_steps:
        rounds = seen["pairs of pools"]
        id = IDS[rounds % len(IDS)]
        options = {**DEBUG} if rounds % 20 == 0 else {"character": "@"}
        options |= {"observation_keys": ALL_KEYS if rounds % 2 else WITHOUT_SCREEN, "num_threads": rounds % 3,
                    "autoreset_mode": "SameStep"}
        one, two = (cypool.make(id, num_envs=num, seed=int(chance.integers(2**30)), **options) for num in (1, 2))
        one.reset()
        two.reset()
        for _ in range(4):
            try:
                played(one, chance, int(chance.integers(200)))
                played(two, chance, int(chance.integers(50)))
                state, then, length = one.save(), int(chance.integers(2**30)), int(chance.integers(50, 300))
                want = played(one, np.random.default_rng(then), length)
            except cypool.EnvError:
                # of debug mode
                seen["games that failed"] += 1
                continue
            for k, way in enumerate(ways_to(state, one, two)):
                way()
                got = played((one, two)[k > 0], np.random.default_rng(then), length)
                seen["steps"] += length
                if got != want:
                    step = next(t for t in range(length) if got[t] != want[t])
                    what = [name for name in want[step] if got[step][name] != want[step][name]]
                    raise AssertionError(f"{id}, round {rounds}, way {k}: {what} at step {step} of {length}; {options}")
        seen["pairs of pools"] += 1
    return seen


def wild(number, seed):
    """Returns how many games were played, and how many were refused or failed."""
    chance, counts = random.Random(seed), Counter()
    for k in range(number):
        junk = "".join(chance.choice("aA0:!^$%\\&+-*;[]' /@") for _ in range(chance.choice([0, 1, 3, 30, 180])))
        text = (chance.choice(NAMES) + chance.choice([":", "=", "", ":!"]) + junk)[:200]
        many = [text] * (19 if k % 10 == 0 else 1)
        env = cypool.make(IDS[k % len(IDS)], num_envs=1, num_threads=0, seed=k, options=many, max_step_seconds=2)
        try:
            env.reset()
            played(env, np.random.default_rng(k), 50)
            counts["played"] += 1
        except cypool.EnvError as error:
            assert "NetHack: the game" in str(error), error
            counts["failed"] += 1
    ends = []
    for _ in range(2):
        env = cypool.make("NetHack-v0", num_envs=1, num_threads=0, seed=1)
        env.reset()
        ends.append(played(env, np.random.default_rng(0), 500))
    assert ends[0] == ends[1]
    return counts


def soak(seconds, seed):
    """Returns counts of calls in these seconds, and the memory of the process early and late, in megabytes."""
    chance, begin, counts = random.Random(seed), time.monotonic(), Counter()
    variables = ("invent", "u", "level", "windowprocs", "youmonst", "ttyDisplay", "migrating_objs", "killer", "objects")
    kept, measured = [], 0.0
    while time.monotonic() - begin < seconds:
        id = chance.choice(IDS)
        debug = id == "NetHack-v0" and chance.random() < 0.5
        env = cypool.make(id, num_envs=chance.randrange(2, 6), num_threads=chance.choice([0, 1, 2]),
                          seed=chance.randrange(10**6), max_step_seconds=0.3, abort_steps=chance.choice([30, 5000]),
                          **({**DEBUG} if debug else {}))
        counts["pools"] += 1
        env.reset()
        mine = [each for each in gc.get_objects() if type(each) is NetHack and each.spec is env.env_spec]
        for _ in range(chance.randrange(20, 200)):
            try:
                what = chance.random()
                if what < 0.02:
                    chance.choice(mine).overwrite(chance.choice(variables), chance.getrandbits(chance.choice([1, 64])))
                elif what < 0.04:
                    kept = [*kept[-20:], (id, env.env_spec.options, env.save())]
                elif what < 0.06:
                    env.copy(0, range(1, env.num_envs))
                    counts["copied"] += env.num_envs - 1
                elif what < 0.08 and kept:
                    of, options, state = chance.choice(kept)
                    if (of, options) == (id, env.env_spec.options):
                        env.load(state[0], [chance.randrange(env.num_envs)])
                        counts["loaded"] += 1
                elif what < 0.085:
                    env.load(cypool.State.from_bytes(env.save().to_bytes()))
                    counts["replayed"] += env.num_envs
                env.step([chance.randrange(env.single_action_space.n) for _ in range(env.num_envs)])
                counts["steps"] += env.num_envs
            except (cypool.EnvError, RuntimeError, ValueError) as error:
                if "NetHack" not in str(error):
                    raise
                counts["failed"] += 1
        del env, mine
        if time.monotonic() - measured > 20:
            gc.collect()
            measured = time.monotonic()
            with open("/proc/self/statm") as file:
                used = int(file.read().split()[1]) * resource.getpagesize() // 10**6
            counts.setdefault("MB at first", used)
            counts["MB at the end"] = used
    return counts


def add_arguments(parser):
    parser.add_argument("--scale", type=float, default=1.0, help="how many times as many steps")
    parser.add_argument("--states", type=int, default=2000, help="steps to compare")
    parser.add_argument("--wild", type=int, default=40, help="games")
    parser.add_argument("--soak", type=float, default=10, help="seconds")


def runs(arguments):
    found = list(comparisons(arguments.scale, arguments.seeds))
    for seed in arguments.seeds:
        found += [Run("states", f"{arguments.states}, seed {seed}", partial(states, arguments.states, seed)),
                  Run("wild", f"{arguments.wild}, seed {seed}", partial(wild, arguments.wild, seed)),
                  Run("soak", f"{arguments.soak} s, seed {seed}", partial(soak, arguments.soak, seed))]
    groups = chosen({run.group for run in found}, arguments.patterns)
    return [run for run in found if run.group in groups]
