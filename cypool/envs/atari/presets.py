"""The packages that are followed: which defaults they have, and how they begin, show and end a game."""
from __future__ import annotations

from typing import Any, NamedTuple

# steps of an episode at most, where frames are not counted
MAX_EPISODE_STEPS = 27_000


class PackageQuirks(NamedTuple):
    """The behaviour of a package that no option sets.

    Attributes:
        hashes_seeds: ALE's seed and the number of no-ops are drawn from NumPy's generators.
        fires_first: A reset presses fire before its no-ops, not after them.
        begins_black: The stack of an episode begins with black frames, not with the first one.
        ends_at_once: An episode ends with the very frame in which a life is lost or the limit of frames is reached, and
            the next one begins with a new game. The step shows a faulty image then.
        follows_lives: With `ends_at_once`: a life is lost if the frame before had more, not if the step before had and
            some are left.
        emulator_limits: The emulator counts an episode's frames, with those of its reset; else its steps' are counted.
        repeats_image: A game that ends before the last frame but one of a step shows the image of the last step.
        limit_hides_end: An end in the last step of the time limit is reported as truncation only.
        rows: Maximum number of rows of a screen to show.
    """

    hashes_seeds: bool = False
    fires_first: bool = False
    begins_black: bool = False
    ends_at_once: bool = False
    follows_lives: bool = False
    emulator_limits: bool = False
    repeats_image: bool = False
    limit_hides_end: bool = False
    rows: int = 1000


class Preset(NamedTuple):
    """A package: the defaults of options, and its quirks."""

    defaults: dict[str, Any]
    quirks: PackageQuirks


_OURS = {
    "reward_clip": False, "use_fire_reset": True, "repeat_action_probability": 0.0, "channels_last": False,
    "raw_reward": True, "game_over": True, "ram": False, "frame_numbers": False, "max_num_frames_per_episode": None,
}
# of ale_py and its environments
_ALE = {
    "channels_last": True, "raw_reward": False, "game_over": False, "frame_numbers": True,
    "max_num_frames_per_episode": 108_000,
}
PRESETS = {
    None: Preset(_OURS, PackageQuirks()),
    "envpool": Preset({**_OURS, "ram": True}, PackageQuirks(repeats_image=True, limit_hides_end=True, rows=210)),
    "ale": Preset({**_OURS, **_ALE, "reward_clip": True},
                  PackageQuirks(fires_first=True, begins_black=True, ends_at_once=True)),
    "gymnasium": Preset({**_OURS, **_ALE, "use_fire_reset": False, "repeat_action_probability": 0.25},
                        PackageQuirks(hashes_seeds=True, ends_at_once=True, follows_lives=True, emulator_limits=True)),
}
