"""The spec of a game, and its options."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from cypool.envs.atari.presets import MAX_EPISODE_STEPS, PRESETS
from cypool.options import Option, boolean, choice, integer, number
from cypool.spec import Array, Discrete, EnvSpec
from cypool.util.arguments import check_bool, check_int, shown

MAX_SEED = 2**31 - 1  # ALE takes a non-negative int
RAM_BYTES = 128
NUM_ACTIONS = 18
_MOST = 2**31 - 1  # where the game defines the allowed values

# by the option that adds them, in the order in which `Atari.observe` writes them
INFOS = {
    "lives": {"lives": Array((), np.int32)},
    "raw_reward": {"reward": Array((), np.float32)},
    "game_over": {"terminated": Array((), np.int32)},
    "ram": {"ram": Array((RAM_BYTES,), np.uint8)},
    "frame_numbers": {name: Array((), np.int32, 0) for name in ("frame_number", "episode_frame_number")},
    "zero_discount_on_life_loss": {"discount": Array((), np.float32, 0, 1)},
}


class Facts(NamedTuple):
    """Facts about a game before it is played.

    Attributes:
        rom, md5: The path of its ROM, and the ROM's checksum.
        minimal, legal: ALE's numbers for the actions that it uses, and for those that it accepts.
        height, width: Size of the screen.
        modes, difficulties: The game's modes and difficulties.
        gray, rgb: Colors of each palette index.
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


def _check_task(name: str, value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{name}: expected a str, got {shown(value)}")
    return str(value)


def _check_skip(name: str, value: Any) -> int | tuple[int, int]:
    if not isinstance(value, tuple | list):
        return check_int(name, value, 1, 10_000)
    if len(value) != 2:
        raise ValueError(f"{name}: expected an int, or a range of two ints, got {shown(value)}")
    low = check_int(f"{name}[0]", value[0], 1, 10_000)
    return low, check_int(f"{name}[1]", value[1], low + 1, 10_001)


def _check_full_action_space(name: str, value: Any) -> bool | str:
    if isinstance(value, str) and value == "all":
        return "all"
    return check_bool(name, value)


OPTIONS = {
    "task": Option("pong", _check_task, "The name of the game's ROM."),
    "preset": choice(None, [name for name in PRESETS if name], 'The package to imitate: "envpool", "ale" or '
                                                               "\"gymnasium\"; None: cypool's defaults, mostly "
                                                               "EnvPool's. Other options that are None default to "
                                                               "the preset's values."),
    "stack_num": integer(4, 1, 256, "Number of frames in an observation."),
    "frame_skip": Option(4, _check_skip, "Number of frames per step, or (low, high) for a random number from `low` to "
                                         "`high` - 1 in each step."),
    "noop_max": integer(30, 0, 100_000, "A reset begins with 1 to `noop_max` frames without an action (one fewer if "
                                        "fire is pressed afterward); 0: none."),
    "episodic_life": boolean(False, "Ends the episode when a life is lost; the next episode continues the game, except "
                                    'with the presets "ale" and "gymnasium".'),
    "zero_discount_on_life_loss": boolean(False, "Adds a `discount` to the info and to dm_env time steps: 0 if a "
                                                 "life was lost or the episode is over, else 1."),
    "reward_clip": boolean(None, "Clips rewards to their sign: -1, 0 or 1."),
    "use_fire_reset": boolean(None, "Presses fire at the end of a reset, in games that use it."),
    "img_height": integer(84, -_MOST, _MOST, "Height of an observation, at most that of the screen."),
    "img_width": integer(84, -_MOST, _MOST, "Width of an observation, at most that of the screen."),
    "gray_scale": boolean(True, "Whether images are grayscale instead of color."),
    "channels_last": boolean(None, "Puts color channels last instead of first."),
    "repeat_action_probability": number(None, 0, 1, "Probability that the console repeats the previous action in a "
                                                    "frame."),
    "full_action_space": Option(False, _check_full_action_space, "Allows all legal actions (18 in most games), instead "
                                                                 'of only those the game uses. "all": 18 actions in '
                                                                 "every game; illegal actions do nothing."),
    "continuous": boolean(False, "Makes each action a joystick position: radius, angle and fire."),
    "continuous_action_threshold": number(0.5, 0, 1, "The value that each axis, or `fire`, must exceed to "
                                                     "register."),
    "mode": integer(-1, -_MOST, _MOST, "The game's mode, as numbered by ALE; -1: the default."),
    "difficulty": integer(-1, -_MOST, _MOST, "The game's difficulty, as numbered by ALE; -1: the default."),
    "lives": boolean(True, "Adds `lives` to the info."),
    "raw_reward": boolean(None, "Adds `reward` to the info."),
    "game_over": boolean(None, "Adds `terminated` to the info."),
    "ram": boolean(None, "Adds the console's memory to the info."),
    "frame_numbers": boolean(None, "Adds frame numbers to the info."),
    "obs_type": choice("image", ("image", "screen", "ram"), 'The observation: "image", the resized screen; "screen", '
                                                            'the full screen; or "ram", the memory. Options for '
                                                            'resizing and channel order only affect "image".'),
    "use_inter_area_resize": boolean(True, "Resizes images with OpenCV's INTER_AREA instead of INTER_LINEAR."),
    "max_num_frames_per_episode": integer(None, 1, 2**31 - 1, "Truncates episodes at this frame, even in the middle of "
                                                              'a step; only with the presets "ale" and "gymnasium".'),
}


def atari(options: dict[str, Any], facts: Facts) -> EnvSpec:
    """Returns the spec of a game with these options, some of which the preset sets."""
    preset = PRESETS[options["preset"]]
    limit = options["max_num_frames_per_episode"]
    if limit is not None and not preset.quirks.ends_at_once:
        raise ValueError(f"max_num_frames_per_episode: expected None unless preset is 'ale' or 'gymnasium', "
                         f"got {limit}; to limit the steps, use max_episode_steps")
    options = {name: preset.defaults.get(name) if value is None else value for name, value in options.items()}
    check_int("img_height", options["img_height"], 1, shown_rows(options["preset"], facts))
    check_int("img_width", options["img_width"], 1, facts.width)
    for name, available in (("mode", facts.modes), ("difficulty", facts.difficulties)):
        if options[name] not in (-1, *available):
            raise ValueError(f"{name}: expected one of {', '.join(map(str, available))}, or -1 (the default of "
                             f"{options['task']!r}), got {options[name]}")
    return spec_of(options, facts)


def spec_of(options: dict[str, Any], facts: Facts) -> EnvSpec:
    """Returns the spec of a game with these options."""
    action: Array | Discrete
    if options["continuous"]:
        action = Array((3,), np.float32, [0, -np.pi, 0], [1, np.pi, 1])
    else:
        action = Discrete(len(action_set(options, facts)))
    skip = options["frame_skip"]
    return EnvSpec(
        observation=Array(_observation_shape(options, facts), np.uint8, stack=(0, options["stack_num"])),
        action=action,
        info={name: part for option, parts in INFOS.items() if options[option] for name, part in parts.items()},
        max_seed=None if PRESETS[options["preset"]].quirks.hashes_seeds else MAX_SEED,
        # ale_py says so of any frame skip
        render_fps=30 if options["preset"] == "gymnasium" else max(
            60 // (skip if isinstance(skip, int) else sum(skip) // 2), 1),
        max_episode_steps=MAX_EPISODE_STEPS if options["max_num_frames_per_episode"] is None else None,
        options=options,
        has_own_chance=options["repeat_action_probability"] > 0,
    )


def action_set(options: dict[str, Any], facts: Facts) -> Sequence[int]:
    """Returns ALE's numbers for the actions that a game is played with."""
    if options["full_action_space"] == "all":
        return range(NUM_ACTIONS)
    return facts.legal if options["full_action_space"] or options["continuous"] else facts.minimal


def shown_rows(preset: str | None, facts: Facts) -> int:
    """Returns the number of rows of the screen that images show."""
    return min(facts.height, PRESETS[preset].quirks.rows)


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
