"""All Atari games compared with the packages that their presets follow, EnvPool (1.2.5) and ale_py's included.

    python fuzz/sweep_family.py atari --out sweep.jsonl
    python fuzz/sweep_family.py atari emulator --out emulator.jsonl

Compares observation, reward, flags and info byte for byte, through resets. `--scale 10` takes ten times the steps.
Patterns are of presets and ids; "emulator" runs emulator.py: the emulator against ale_py's own. It can also
continue the states of one build in another, such as one with CYPOOL_ALE_REFERENCE=1:

    python fuzz/sweep_family.py atari --record states.pickle   # in the first: states, and the steps after
    python fuzz/sweep_family.py atari --replay states.pickle   # in the second: the same comes after them

`--programs`, with CYPOOL_ALE_REFERENCE=1, writes emulator_programs.json: ALE's results for random programs.
"""
from functools import partial
from pathlib import Path

from envs.atari import emulator
from sweeping import Run, chosen, parity

from cypool.envs.atari import roms

DEFAULTS = {}
NUM_ENVS = 2
# steps and options
LIVES = {"episodic_life": True}
FEW = {"img_height": 61, "gray_scale": False, "use_fire_reset": False}
RUNS = {
    "envpool": [
        (250, {}),
        (200, {**LIVES, "repeat_action_probability": 0.25, "reward_clip": True}),
        # games and lives end within a step
        (80, {**LIVES, "frame_skip": 19, "noop_max": 5, "full_action_space": True}),
        (40, {**FEW, "stack_num": 3, "use_inter_area_resize": False, "max_episode_steps": 15}),
    ],
    "ale": [
        (250, {}),
        (200, {**LIVES, "repeat_action_probability": 0.25, "reward_clip": False}),
        (80, {**LIVES, "frame_skip": 19, "noop_max": 5, "full_action_space": True}),
        (40, {**FEW, "stack_num": 3, "noop_max": 0, "max_num_frames_per_episode": 58}),
        (40, {**LIVES, "autoreset_mode": "SameStep", "frame_skip": 7, "max_num_frames_per_episode": 100}),
    ],
    "gymnasium": [
        (250, {}),
        (200, {**LIVES, "repeat_action_probability": 0.0}),
        (80, {**LIVES, "frame_skip": 19, "noop_max": 5, "full_action_space": True}),
        (40, {"img_height": 61, "gray_scale": False, "stack_num": 3, "noop_max": 0, "max_num_frames_per_episode": 58}),
        (40, {**LIVES, "autoreset_mode": "SameStep", "frame_skip": 7, "max_num_frames_per_episode": 100}),
    ],
    "ALE/{}-v5": [(60, {})],
    "{}-v4": [(60, {"max_num_frames_per_episode": 100})],
    "{}NoFrameskip-v4": [(100, {"gray_scale": True, "max_num_frames_per_episode": 70})],
}


def add_arguments(parser):
    parser.add_argument("--games", nargs="+", choices=roms.TASKS, default=roms.TASKS, metavar="GAME")
    parser.add_argument("--scale", type=float, default=1, help="how many times as many steps")
    parser.add_argument("--programs", action="store_true")
    parser.add_argument("--record", type=Path, metavar="FILE", help="write states, and what comes after them")
    parser.add_argument("--replay", type=Path, metavar="FILE", help="continue from the states of another build")


def runs(arguments):
    if arguments.programs:
        emulator.write_programs()
    elif arguments.record:
        emulator.record(arguments.record, arguments.games, arguments.scale)
    elif arguments.replay:
        emulator.replay(arguments.replay)
    else:
        for kind in chosen(RUNS, arguments.patterns):
            for task in arguments.games:
                for num_steps, options in RUNS[kind]:
                    yield run_of(kind, task, int(arguments.scale * num_steps), options)
        if "emulator" in arguments.patterns:
            for task in arguments.games:
                for options in emulator.runs_of(task, arguments.scale):
                    yield Run("emulator", str(options), partial(emulator.compare, **options))


def run_of(kind, task, num_steps, options):
    seed = 1000 * (1 + roms.TASKS.index(task))
    if kind in ("envpool", "ale", "gymnasium"):
        id, options = f"{roms.title(task)}-v5", {"preset": kind, **options}
    else:
        id = kind.format(roms.ale_title(task))
    options = {"num_envs": NUM_ENVS, "num_steps": num_steps, "seeds": [seed], **options}
    return Run(kind, f"{id} {options}", partial(parity, id, **options))
