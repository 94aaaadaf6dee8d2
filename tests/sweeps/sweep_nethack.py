"""Compares NetHack with NLE: all ids, characters, options and keys; and debug mode, in which the whole game is reached.

    python tests/sweeps/sweep_nethack.py [--scale 1.0] [--seeds 0 1]
    python tests/sweeps/sweep_nethack.py --states 100000 [--seed 5]
    python tests/sweeps/sweep_nethack.py --options 400 [--seed 5]
    python tests/sweeps/sweep_nethack.py --soak 600 [--seed 5]

Takes nle. Actions are random, but for debug mode: there commands for levels, things and monsters are typed between
them. Where a game fails in cypool, NLE's process would end: such games are counted, and NLE does not play them.

`--states` compares a number of steps that follow saving, loading, copying to other environments and reading from bytes
with those that followed in the first environment. `--options` begins games with wild options of NetHack's own, of which
some end NLE's process, and compares the game after them with that of a new environment.

`--soak` plays for a number of seconds with games that are overwritten, pools that are made and dropped, states that are
kept, moved and played again, and says what became of the memory of the process.
"""
import argparse
import gc
import random
import resource
import time
import warnings

import numpy as np

import cypool
from cypool.envs.nethack.nethack import NetHack
from cypool.envs.nethack.options import KEYS
from cypool.testing import ParityError, check_parity

TASKS = ("", "Score", "Staircase", "StaircasePet", "Oracle", "Gold", "Eat", "Scout", "Challenge")
IDS = [f"NetHack{task}-v0" for task in TASKS]
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
    """Types into one environment: commands, and what a random player presses between them."""

    def __init__(self, seed):
        self.chance, self.left = random.Random(seed), ""

    def key(self):
        if not self.left:
            rest = self.chance.random()
            self.left = words(self.chance) if rest < 0.1 else self.chance.choice("hjklyubnHJKLs.,>\r\x1by\x1b ")
        key, self.left = self.left[0], self.left[1:]
        return ord(key)


def compare_debug(seed, num_steps):
    """Returns steps, ends, the deepest level and whether anything differed."""
    from cypool.envs.nethack.reference import make_reference

    options = {**DEBUG, "observation_keys": ALL_KEYS, "infos": ["end_status", "is_ascended", "depth"]}
    ours = cypool.make("NetHack-v0", num_envs=1, num_threads=1, seed=seed, autoreset_mode="SameStep", **options)
    theirs, _ = make_reference(ours, seed, {})
    typist, deepest, ended = Typist(seed), 0, 0
    one, other = ours.reset()[0], theirs.reset(seed=seed)[0]
    for k in range(num_steps):
        if any(not np.array_equal(one[key], other[key]) for key in ALL_KEYS):
            print(f"debug mode, seed {seed}, step {k}: {[key for key in ALL_KEYS if (one[key] != other[key]).any()]}")
            return k, ended, deepest, True
        action = [typist.key()]
        try:
            one, *mine, info = ours.step(action)
        except cypool.EnvError as error:
            print(f"debug mode, seed {seed}, step {k}: {error}", flush=True)
            return k, ended, deepest, False
        other, *its, _ = theirs.step(action)
        deepest = max(deepest, int(info["depth"][0]))
        if any(a[0] != b[0] for a, b in zip(mine, its, strict=True)):
            print(f"debug mode, seed {seed}, step {k}: {mine}, {its}")
            return k, ended, deepest, True
        ended += int(mine[1][0])
    theirs.close()
    return num_steps, ended, deepest, False


def compare(scale, seeds):
    steps = episodes = differences = 0

    def check(id, num_steps, mode, **options):
        nonlocal steps, episodes, differences
        num_steps = max(20, int(num_steps * scale))
        try:
            parity = check_parity(id, num_envs=3, num_steps=num_steps, autoreset_mode=mode, **options)
        except (ParityError, cypool.EnvError) as error:
            differences += 1
            print(error, flush=True)
            return
        steps += 3 * parity.num_steps * len(parity.seeds)
        episodes += parity.num_episodes

    for k, id in enumerate(IDS):
        for mode in ("NextStep", "SameStep", "Disabled"):
            check(id, 3000, mode, seeds=seeds, num_threads=(1, 2, 5)[k % 3], max_episode_steps=1200)
        check(id, 4000, "NextStep", seeds=seeds, observation_keys=ALL_KEYS, num_threads=2)
        check(id, 3000, "SameStep", seeds=seeds, observation_keys=WITHOUT_SCREEN)
        print(f"{id}: {steps} steps, {episodes} episodes so far, {differences} differences", flush=True)
    for character in CHARACTERS:
        check("NetHack-v0", 2000, "SameStep", seeds=seeds, character=character, observation_keys=ALL_KEYS)
    print(f"characters: {steps} steps, {episodes} episodes so far, {differences} differences", flush=True)
    for k, options in enumerate(OPTIONS):
        for id in (IDS[1 + k % 7], IDS[1 + (k + 3) % 7]):
            check(id, 1500, "NextStep", seeds=seeds, **options)
    for timeout in (20, 21, 40, 41):
        check("NetHackChallenge-v0", 1500, "SameStep", seeds=seeds, no_progress_timeout=timeout)
    print(f"options: {steps} steps, {episodes} episodes so far, {differences} differences", flush=True)
    deepest = 0
    for seed in range(int(40 * scale) + 1):
        played, ended, depth, differs = compare_debug(seed, 1500)
        steps, episodes, deepest = steps + played, episodes + ended, max(deepest, depth)
        differences += differs
    print(f"{steps} steps, {episodes} episodes, {differences} differences; debug mode came to level {deepest}")


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
    chance, compared, rounds, differences = np.random.default_rng(seed), 0, 0, 0
    while compared < num_steps:
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
            except cypool.EnvError as error:
                # of debug mode
                print(f"{id}: {error}")
                continue
            for k, way in enumerate(ways_to(state, one, two)):
                way()
                got = played((one, two)[k > 0], np.random.default_rng(then), length)
                compared += length
                if got != want:
                    differences += 1
                    step = next(t for t in range(length) if got[t] != want[t])
                    what = [name for name in want[step] if got[step][name] != want[step][name]]
                    print(f"{id}, round {rounds}, way {k}: {what} at step {step} of {length}; {options}", flush=True)
        rounds += 1
    print(f"states: {compared} steps in {rounds} pairs of pools, {differences} differences")


def wild(number, seed):
    chance, counts = random.Random(seed), {"played": 0, "failed": 0}
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
    print(f"{number} wild options: {counts}")


def soak(seconds, seed):
    chance, begin = random.Random(seed), time.monotonic()
    counts = dict.fromkeys(("pools", "steps", "failed", "loaded", "copied", "replayed"), 0)
    variables = ("invent", "u", "level", "windowprocs", "youmonst", "ttyDisplay", "migrating_objs", "killer", "objects")
    kept, first = [], None
    said = begin
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
        if time.monotonic() - said > 20:
            gc.collect()
            said = time.monotonic()
            with open("/proc/self/statm") as file:
                used = int(file.read().split()[1]) * resource.getpagesize() / 1e6
            first = first or used
            print(f"{said - begin:.0f} s: {used:.0f} MB, {counts}", flush=True)
    print(f"{counts}; {first:.0f} MB after the first 20 s, {used:.0f} MB at the end")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scale", type=float, default=1.0, help="how many times as many steps")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1])
    parser.add_argument("--states", type=int, default=0, help="steps to compare")
    parser.add_argument("--options", type=int, default=0, help="how many")
    parser.add_argument("--soak", type=float, default=0, help="seconds")
    parser.add_argument("--seed", type=int, default=5, help="of states, options and the soak")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    if arguments.states:
        states(arguments.states, arguments.seed)
    elif arguments.options:
        wild(arguments.options, arguments.seed)
    elif arguments.soak:
        soak(arguments.soak, arguments.seed)
    else:
        compare(arguments.scale, arguments.seeds)


if __name__ == "__main__":
    main()
