"""The spec of Procgen: its options, spaces and infos."""
from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from cypool.envs.procgen.games import GAMES, MAX_LEVEL, MODE_NUMBERS, MODES, NUM_ACTIONS, limit_of
from cypool.envs.procgen.library import WHEEL
from cypool.options import boolean, choice, describes, integer, optional
from cypool.spec import Array, Discrete, EnvSpec
from cypool.state import check_state

_SIDE = 64  # of a picture, as in layout.h
_LAST_MOVE = 8  # the greatest action that moves
_STREAM_WORDS = 624
_INFO = {"level_seed": Array((), np.int32), "prev_level_seed": Array((), np.int32),
         "prev_level_complete": Array((), np.uint8, 0, 1)}


@describes(
    env_name=choice("coinrun", GAMES, "The game."),
    distribution_mode=choice("hard", MODES, 'The mode: "easy", "hard", "extreme", "memory" or "exploration"; each game '
                                            "supports only some modes."),
    num_levels=integer(0, 0, MAX_LEVEL, "Number of levels; 0: all 2**31 - 1."),
    start_level=integer(0, 0, MAX_LEVEL, "The first level."),
    use_sequential_levels=boolean(False, "When a level is completed, continues the episode with another level."),
    center_agent=boolean(True, "Centers the view on the player; some games ignore this."),
    use_backgrounds=boolean(True, "Draws a background image instead of a black background."),
    use_monochrome_assets=boolean(False, "Draws everything as single-colored rectangles."),
    restrict_themes=boolean(False, "Makes all objects of a kind look the same."),
    use_generated_assets=boolean(False, "Generates textures from random shapes."),
    paint_vel_info=boolean(False, "Draws the player's velocity, in games that support this."),
    debug_mode=integer(0, 0, 15, "Bit flags for coinrun: 2 removes pits, 4 removes crates, and 8 removes height "
                                 "differences."),
    channel_first=boolean(False, "Returns images of shape (3, 64, 64)."),
    batch_seeds=boolean(False, "Seeds a pool with seed s like a procgen batch with `rand_seed` s. By default, "
                               "environment i matches a procgen batch of one with `rand_seed` s + i."),
    painter=choice("cypool", ("cypool", "library"), 'The renderer: "cypool", or "library", which is slower and draws '
                                                    "the same pixels."),
    procgen_path=optional(WHEEL.check_folder, "The folder that contains procgen; None: the folder in `CYPOOL_PROCGEN`, "
                                              "the installed package, or the download from `cypool get procgen`."))
def procgen(options: dict[str, Any]) -> EnvSpec:
    game, mode, num_levels = options["env_name"], options["distribution_mode"], options["num_levels"]
    modes = GAMES[game].modes
    if mode not in modes:
        raise ValueError(f"distribution_mode: expected one of {', '.join(map(repr, modes))} for {game}, got {mode!r}")
    if options["start_level"] > MAX_LEVEL - num_levels:
        raise ValueError(f"start_level: expected at most {MAX_LEVEL - num_levels} with num_levels={num_levels}, got "
                         f"{options['start_level']}")
    if mode == "exploration":
        for name in ("num_levels", "start_level"):
            if options[name]:
                raise ValueError(f"{name}: expected 0 with distribution_mode='exploration', which has only one level, "
                                 f"got {options[name]}")
    # the steps of a level count, which may be several of an episode
    limit = None if options["use_sequential_levels"] else limit_of(game, mode)
    shape = (3, _SIDE, _SIDE) if options["channel_first"] else (_SIDE, _SIDE, 3)
    return EnvSpec(observation=Array(shape, np.uint8), action=Discrete(NUM_ACTIONS), info=_INFO, options=options,
                   max_seed=MAX_LEVEL, render_fps=15, max_episode_steps=limit, has_own_chance=True)


def check_saved(state: Any, options: dict[str, Any]) -> tuple[Any, ...]:
    """Returns a saved game: the words and the position of its stream, levels, last move, completion and actions.

    Raises:
        ValueError: It is not one.
    """
    integers = (-2**31, 2**31 - 1)
    values: tuple[Any, ...] = check_state(
        state, bytes, (0, _STREAM_WORDS), integers, integers, (0, _LAST_MOVE), bool, bytes)
    words, actions = values[0], values[-1]
    if len(words) != 4 * _STREAM_WORDS:
        raise ValueError(f"state[0]: expected {4 * _STREAM_WORDS} bytes, got {len(words)}")
    # of the first word only the highest bit counts
    if words[3] < 128 and not any(words[4:]):
        raise ValueError("state[0]: expected a stream that is not all zeros")
    limit = limit_of(options["env_name"], options["distribution_mode"])
    if len(actions) > limit or max(actions, default=0) >= NUM_ACTIONS:
        raise ValueError(f"state[6]: expected at most {limit} actions, each below {NUM_ACTIONS}, got {len(actions)}, "
                         f"the highest being {max(actions)}")
    return values


def settings_of(options: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the settings that engine.h reads."""
    mode = options["distribution_mode"]
    settings = {**options, "distribution_mode": MODE_NUMBERS[mode], "has_own_painter": options["painter"] == "cypool",
                "num_actions": NUM_ACTIONS, "rand_seed": 0, "num_threads": 0, "render_human": True}
    if mode == "exploration":
        settings |= {"num_levels": 1, "start_level": GAMES[options["env_name"]].exploration_level}
    return settings
