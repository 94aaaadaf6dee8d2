"""All Atari games compared with the packages that their presets follow: `python tests/sweeps/sweep_atari.py`.

    pip install ".[test]" envpool==1.2.5
    python tests/sweeps/sweep_atari.py --out sweep.jsonl

Compares observation, reward, flags and info byte for byte, through resets, with `cypool.testing.check_parity`; nothing
stops at a difference. Each result is a line of the file; what is there already is not done again, so a sweep that was
stopped continues. `--scale 10` takes ten times the steps. The end, or `--jobs 0` at once, is a table of results.
"""
import json
from collections import defaultdict

from sweeping import sweep

from cypool.envs.atari import roms

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


def run_of(kind, task, num_steps, options):
    """Returns a run as arguments of `check_parity`, and the text that identifies it."""
    seed = 1000 * (1 + roms.TASKS.index(task))
    if kind in ("envpool", "ale", "gymnasium"):
        id, options = f"{roms.title(task)}-v5", {"preset": kind, **options}
    else:
        id = kind.format(roms.ale_title(task))
    run = {"id": id, "num_envs": NUM_ENVS, "num_steps": num_steps, "seeds": [seed], **options}
    return run, json.dumps(run)


def runs_of(arguments, task):
    for kind in arguments.kinds:
        for num_steps, options in RUNS[kind]:
            run, text = run_of(kind, task, int(arguments.scale * num_steps), options)
            yield text, (kind, run)


def compare(kind_and_run):
    from cypool.testing import ParityError, check_parity

    kind, run = kind_and_run
    row = {"kind": kind, "difference": None}
    try:
        report = check_parity(**run)
        row |= {"reference": report.reference, "steps": run["num_steps"] * NUM_ENVS,
                "episodes": report.num_episodes, "terminated": report.num_terminated}
    except ParityError as error:
        row["difference"] = f"step {error.step}, env {error.env_id}: {error.key}"
    except Exception as error:
        row["difference"] = f"{type(error).__name__}: {error}"
    return row


def summary(rows):
    """Returns a table of what was compared, and the differences, in Markdown."""
    kinds = defaultdict(list)
    for row in rows:
        kinds[row["kind"]].append(row)
    lines = ["| | against | games | steps | episodes | of which terminated | runs that differ |",
             "| --- | --- | --: | --: | --: | --: | --: |"]
    differences = []
    for kind, own in kinds.items():
        equal = [row for row in own if row["difference"] is None]
        sums = [sum(row[key] for row in equal) for key in ("steps", "episodes", "terminated")]
        numbers = " | ".join(f"{number:,}" for number in [len({row["task"] for row in own}), *sums])
        references = " and ".join(sorted({row["reference"] for row in equal}))
        lines.append(f"| `{kind}` | {references} | {numbers} | {len(own) - len(equal)} of {len(own)} |")
        differences += [f"- {row['run']}: {row['difference']}" for row in own if row["difference"] is not None]
    return "\n".join([*lines, "", *differences])


def add_arguments(parser):
    parser.add_argument("--kinds", nargs="+", choices=list(RUNS), default=list(RUNS), metavar="KIND",
                        help=f"presets and ids: some of {', '.join(RUNS)}")


if __name__ == "__main__":
    sweep(__file__, __doc__.split("\n")[0], "sweep_atari.jsonl", add_arguments, runs_of, compare, summary)
