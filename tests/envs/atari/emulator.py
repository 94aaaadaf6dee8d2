"""Atari games compared with ale_py's own emulator, bit for bit; sweep.py and a test use it.

Both play the same actions in one process: 20,000 steps of each game, of 4 frames or of one, in up to five of its modes
and difficulties, with and without sticky actions, through game overs. After each step memory, screen (in colour),
reward, lives and game over are compared. Now and then cypool's side goes back to a state saved 40 steps ago, and has
to come the same way again.
"""
import hashlib
import json
import pickle
import struct
import zlib
from collections import Counter
from pathlib import Path
from random import Random

import ale_py
import numpy as np

import cypool
from cypool.envs.atari import atari, roms

NUM_STEPS = 20_000
NUM_RUNS = 5  # of a game
BACK = 40  # steps to the state that is gone back to
OPTIONS = {"preset": "gymnasium", "noop_max": 0, "use_fire_reset": False, "stack_num": 1, "ram": True,
           "obs_type": "screen", "gray_scale": False, "game_over": True, "reward_clip": False,
           "max_num_frames_per_episode": 10**9}


class Reference:
    """A game in ale_py's emulator."""

    def __init__(self, task, seed, frame_skip, repeat_action_probability, mode, difficulty, full_action_space):
        ale_py.ALEInterface.setLoggerMode(ale_py.LoggerMode.Error)
        self.ale = ale_py.ALEInterface()
        self.ale.setInt("random_seed", int(np.random.SeedSequence(seed).generate_state(2)[1].astype(np.int32)))
        self.ale.setFloat("repeat_action_probability", repeat_action_probability)
        self.ale.loadROM(ale_py.roms.get_rom_path(task))
        if mode != -1:
            self.ale.setMode(mode)
        if difficulty != -1:
            self.ale.setDifficulty(difficulty)
        self.actions = self.ale.getLegalActionSet() if full_action_space else self.ale.getMinimalActionSet()
        self.frame_skip = frame_skip

    def reset(self):
        self.ale.reset_game()
        return self.seen(0)

    def step(self, action):
        return self.seen(sum(self.ale.act(self.actions[action]) for _ in range(self.frame_skip)))

    def seen(self, reward):
        over = self.ale.game_over(with_truncation=False)
        return self.ale.getRAM().tobytes(), self.ale.getScreenRGB().tobytes(), reward, self.ale.lives(), over


class Ours:
    """The same in cypool; reset, step and seen are alike."""

    def __init__(self, task, seed, **options):
        self.pool = cypool.make(f"{roms.title(task)}-v5", num_envs=1, num_threads=1, **OPTIONS, **options)
        self.seed = seed

    def reset(self):
        if self.seed is not None:
            obs, info = self.pool.reset(seed=self.seed)
            self.seed = None
        else:
            obs, info = self.pool.reset()
        return self.seen(obs, [0.0], info)

    def step(self, action):
        obs, reward, _, _, info = self.pool.step(np.array([action]))
        return self.seen(obs, reward, info)

    def seen(self, obs, reward, info):
        return info["ram"].tobytes(), obs.tobytes(), reward[0], info["lives"][0], bool(info["terminated"][0])


def compare(task, num_steps, seed, **options):
    """Plays a game on both sides.

    Returns:
        How many steps and frames, and how many games were over.

    Raises:
        AssertionError: Something is not equal.
    """
    ours, theirs = Ours(task, seed, **options), Reference(task, seed, **options)
    random = np.random.default_rng(seed)

    def check(got, wanted, when):
        for name, one, other in zip(("memory", "screen", "reward", "lives", "game over"), got, wanted, strict=True):
            assert one == other, f"{name} at {when}"

    check(ours.reset(), theirs.reset(), "the first reset")
    games, state, since = 0, None, []
    for k in range(num_steps):
        action = int(random.integers(len(theirs.actions)))
        wanted = theirs.step(action)
        check(ours.step(action), wanted, f"step {k}")
        if k % 500 == 100:
            state, since = ours.pool.save(), []
        elif state is not None:
            since.append((action, wanted))
            if wanted[-1] or len(since) == BACK:
                ours.pool.load(state)
                for action, wanted in since:
                    check(ours.step(action), wanted, f"step {k}, the second time")
                state = None
        if wanted[-1]:
            games += 1
            check(ours.reset(), theirs.reset(), f"the reset after step {k}")
            state = None
    return Counter(steps=num_steps, frames=options["frame_skip"] * num_steps, games=games)


def runs_of(task, scale):
    """Yields keyword arguments for `compare`."""
    facts = atari.game_facts(task)
    switches = [(mode, difficulty) for mode in facts.modes for difficulty in facts.difficulties]
    chosen = [(-1, -1)] + [switches[len(switches) * k // (NUM_RUNS - 1)] for k in range(NUM_RUNS - 1)]
    for k, (mode, difficulty) in enumerate(chosen):
        yield {"task": task, "num_steps": int(scale * NUM_STEPS / NUM_RUNS),
               "seed": 1000 * (1 + roms.TASKS.index(task)) + k, "frame_skip": 1 if k == 3 else 4,
               "repeat_action_probability": 0.25 * (k % 2), "mode": mode, "difficulty": difficulty,
               "full_action_space": k % 2 == 0}


def digest(seen):
    return hashlib.sha256(repr(seen).encode()).hexdigest()


def play_from(state, run):
    """Returns a digest of each of some steps after a state."""
    ours = Ours(**options_of(run))
    ours.pool.load(state)
    random = np.random.default_rng(run["seed"])
    return [digest(ours.step(int(random.integers(ours.pool.single_action_space.n)))) for _ in range(300)]


def options_of(run):
    return {name: value for name, value in run.items() if name != "num_steps"}


def record(path, games, scale):
    """Writes a state of each run, and the steps after it."""
    lines = {}
    for task in games:
        for run in runs_of(task, scale):
            ours = Ours(**options_of(run))
            random = np.random.default_rng(run["seed"])
            ours.reset()
            for _ in range(int(random.integers(50, 500))):
                ours.step(int(random.integers(ours.pool.single_action_space.n)))
            state = ours.pool.save()
            lines[json.dumps(run)] = state, play_from(state, run)
    path.write_bytes(pickle.dumps((atari.EMULATOR, lines)))


def replay(path):
    """Continues from these states, and says where something else comes after them."""
    emulator, lines = pickle.loads(path.read_bytes())
    different = [text for text, (state, digests) in lines.items() if play_from(state, json.loads(text)) != digests]
    print(f"{len(lines)} states of {emulator!r} continued in {atari.EMULATOR!r}; different:",
          "\n".join(different) or "none")


# opcodes that stop the processor for good
HALTS = {0x02, 0x12, 0x22, 0x32, 0x42, 0x52, 0x62, 0x72, 0x92, 0xB2, 0xD2, 0xF2}
# where the chips are: few random addresses would hit them
CHIPS = [0x0280, 0x0282, 0x0284, 0x0285, 0x0294, 0x0296, 0x1F84, *range(0x40), *range(0x3F40, 0x3F4D)]
POLLS = [0xAD, 0xAC, 0xAE, 0x2C], [0x84, 0x85, 0x86, 0x94], [0x02, 0x82], [0xD0, 0x30, 0x10]


def random_program(random):
    """Returns 128 bytes for the console's memory: instructions of all kinds, documented or not."""
    program = [random.choice([byte for byte in range(256) if byte not in HALTS]) for _ in range(128)]
    kind = random.randrange(4)
    if kind == 1:
        for k in range(1, 126, 9):
            program[k:k + 2] = random.choice(CHIPS).to_bytes(2, "little")
    elif kind == 2:
        # a loop that waits for the timer
        k = random.randrange(120)
        program[k:k + 5] = [*map(random.choice, POLLS), 0xFB]
    elif kind == 3:
        program[random.randrange(128)] = random.choice(sorted(HALTS))
    return program


# ALE's numbers
FALSE, TRUE = 0xBAD1BAD2, 0xFAB1FAB2


def with_program(saved, program, counter, registers=(0,) * 5, flags=(FALSE,) * 7):
    """Returns the saved state of a game with these 128 bytes in the console's memory, where the processor continues."""
    own = saved.rows[0]["own"]
    state = bytearray(zlib.decompress(own[0]))
    # ALE's names of the parts; ints of 4 bytes
    struct.pack_into("<6i7I", state, state.index(b"M6502Low") + 8, *registers, counter, *flags)
    struct.pack_into("<128i", state, state.index(b"M6532") + 9, *program)
    changed = pickle.loads(pickle.dumps(saved))
    changed.rows[0]["own"] = (zlib.compress(state, 1), *own[1:])
    return changed


def run_programs(task, count):
    """Puts random programs into a game's memory and runs them for three frames.

    Returns:
        Of each a digest of memory, screen and the state of processor, timer and memory, 8 hexadecimal digits.
    """
    ours = Ours(task, 1, frame_skip=1, repeat_action_probability=0.0, mode=-1, difficulty=-1, full_action_space=False)
    ours.reset()
    saved = ours.pool.save()
    random = Random(task)
    digests = []
    for _ in range(count):
        registers = [random.randrange(256) for _ in range(5)]
        counter = random.choice([0x80, 0x180, 0x2080, 0xE080, 0xF080]) + random.randrange(128)
        flags = [random.choice([FALSE, TRUE]) for _ in range(7)]
        ours.pool.load(with_program(saved, random_program(random), counter, registers, flags))
        seen = b""
        for _ in range(3):
            seen += b"".join(ours.step(0)[:2])
            after = zlib.decompress(ours.pool.save().rows[0]["own"][0])
            seen += after[after.index(b"System"):after.index(b"TIA")]
        digests.append(f"{zlib.crc32(seen):08x}")
    return digests


PROGRAMS = Path(__file__).with_name("emulator_programs.json")


def write_programs():
    """Writes the results of random programs to PROGRAMS, with which a test compares."""
    if atari.EMULATOR != "reference":
        raise SystemExit("build with CYPOOL_ALE_REFERENCE=1 first: this emulator is the one to be tested")
    digests = {task: run_programs(task, 400) for task in ("pong", "jamesbond", "freeway")}
    PROGRAMS.write_text(json.dumps({task: "".join(of_task) for task, of_task in digests.items()}, indent=0) + "\n")
