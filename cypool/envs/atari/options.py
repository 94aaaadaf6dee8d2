"""The options of a game: their checks, and the spec that they lead to."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from cypool.envs.atari.presets import MAX_EPISODE_STEPS, PRESETS
from cypool.spec import Array, Discrete, EnvSpec
from cypool.util.arguments import check_bool, check_choice, check_float, check_int, shown

MAX_SEED = 2**31 - 1  # ALE takes a non-negative int
RAM_BYTES = 128
NUM_ACTIONS = 18


class Facts(NamedTuple):
    """Facts about a game before it is played.

    Attributes:
        rom, md5: The path of its ROM, and the sum of that.
        minimal, legal: ALE's numbers of the actions that it uses, and of those that it takes.
        height, width: Of the screen.
        modes, difficulties: Those that it has.
        gray, rgb: Of each palette index.
    """

    rom: bytes
    md5: bytes
    minimal: list[int]
    legal: list[int]
    height: int
    width: int
    modes: list[int]
    difficulties: list[int]
    gray: bytes
    rgb: bytes


def checked(given: dict[str, Any], facts: Facts) -> dict[str, Any]:
    """Returns the options of a game, checked, with the preset's defaults where they are None."""
    preset = given["preset"]
    if preset is not None:
        preset = check_choice("preset", preset, [name for name in PRESETS if name])
    given = {name: PRESETS[preset].defaults.get(name) if value is None else value for name, value in given.items()}
    task = given["task"]
    options = {
        "task": task,
        "preset": preset,
        "stack_num": check_int("stack_num", given["stack_num"], 1, 256),
        "frame_skip": _check_skip(given["frame_skip"]),
        "noop_max": check_int("noop_max", given["noop_max"], 0, 100_000),
        "img_height": check_int("img_height", given["img_height"], 1, shown_rows(preset, facts)),
        "img_width": check_int("img_width", given["img_width"], 1, facts.width),
        "full_action_space": _check_full_action_space(given["full_action_space"]),
        "mode": _check_switch("mode", given["mode"], task, facts.modes),
        "difficulty": _check_switch("difficulty", given["difficulty"], task, facts.difficulties),
        "obs_type": check_choice("obs_type", given["obs_type"], ("image", "screen", "ram")),
    }
    for name in ("repeat_action_probability", "continuous_action_threshold"):
        options[name] = check_float(name, given[name], 0, 1)
    for name in ("episodic_life", "zero_discount_on_life_loss", "gray_scale", "continuous", "lives",
                 "use_inter_area_resize", "reward_clip", "use_fire_reset", "channels_last", "raw_reward", "game_over",
                 "ram", "frame_numbers"):
        options[name] = check_bool(name, given[name])
    limit = given["max_num_frames_per_episode"]
    if limit is not None:
        if not PRESETS[preset].ways.ends_at_once:
            raise ValueError(f"max_num_frames_per_episode: expected None, or preset 'ale' or 'gymnasium', "
                             f"got {shown(limit)}; max_episode_steps counts steps")
        limit = check_int("max_num_frames_per_episode", limit, 1, 2**31 - 1)
    options["max_num_frames_per_episode"] = limit
    # in the order of the signature
    return {name: options[name] for name in given}


def spec_of(options: dict[str, Any], facts: Facts) -> EnvSpec:
    """Returns the spec of a game with these options."""
    info = {}
    if options["lives"]:
        info["lives"] = Array((), np.int32)
    if options["raw_reward"]:
        info["reward"] = Array((), np.float32)
    if options["game_over"]:
        info["terminated"] = Array((), np.int32)
    if options["ram"]:
        info["ram"] = Array((RAM_BYTES,), np.uint8)
    if options["frame_numbers"]:
        info |= {name: Array((), np.int32, 0) for name in ("frame_number", "episode_frame_number")}
    if options["zero_discount_on_life_loss"]:
        info["discount"] = Array((), np.float32, 0, 1)
    action: Array | Discrete
    if options["continuous"]:
        action = Array((3,), np.float32, [0, -np.pi, 0], [1, np.pi, 1])
    else:
        action = Discrete(len(action_set(options, facts)))
    skip = options["frame_skip"]
    return EnvSpec(
        observation=Array(_observation_shape(options, facts), np.uint8, stack=(0, options["stack_num"])),
        action=action,
        info=info,
        max_seed=None if PRESETS[options["preset"]].ways.hashes_seeds else MAX_SEED,
        # ale_py says so of any frame skip
        render_fps=30 if options["preset"] == "gymnasium" else max(
            60 // (skip if isinstance(skip, int) else sum(skip) // 2), 1),
        max_episode_steps=MAX_EPISODE_STEPS if options["max_num_frames_per_episode"] is None else None,
        options=options,
    )


def action_set(options: dict[str, Any], facts: Facts) -> Sequence[int]:
    """Returns ALE's numbers of the actions that a game is played with."""
    if options["full_action_space"] == "all":
        return range(NUM_ACTIONS)
    return facts.legal if options["full_action_space"] or options["continuous"] else facts.minimal


def shown_rows(preset: str | None, facts: Facts) -> int:
    """Returns how many rows of the screen images show."""
    return min(facts.height, PRESETS[preset].ways.rows)


def _observation_shape(options: dict[str, Any], facts: Facts) -> tuple[int, ...]:
    stack, gray = options["stack_num"], options["gray_scale"]
    if options["obs_type"] == "image":
        size = options["img_height"], options["img_width"]
        if gray:
            return (stack, *size)
        return (stack, *size, 3) if options["channels_last"] else (3 * stack, *size)
    frame: tuple[int, ...] = (RAM_BYTES,)
    if options["obs_type"] == "screen":
        rows = shown_rows(options["preset"], facts)
        frame = (rows, facts.width) if gray else (rows, facts.width, 3)
    return frame if stack == 1 else (stack, *frame)


def _check_switch(name: str, value: Any, task: str, available: list[int]) -> int:
    number: int = check_int(name, value, -2**31, 2**31 - 1)
    if number != -1 and number not in available:
        raise ValueError(f"{name}: expected one of {', '.join(map(str, available))}, or -1, the default of {task!r}, "
                         f"got {number}")
    return number


def _check_full_action_space(value: Any) -> bool | str:
    if isinstance(value, str) and value == "all":
        return "all"
    return check_bool("full_action_space", value)


def _check_skip(value: Any) -> int | tuple[int, int]:
    if not isinstance(value, tuple | list):
        return check_int("frame_skip", value, 1, 10_000)
    if len(value) != 2:
        raise ValueError(f"frame_skip: expected an int, or two for a range, got {shown(value)}")
    low = check_int("frame_skip[0]", value[0], 1, 10_000)
    return low, check_int("frame_skip[1]", value[1], low + 1, 10_001)
