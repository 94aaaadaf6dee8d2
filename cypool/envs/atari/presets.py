"""The packages that presets follow: their defaults, and how they begin, show and end a game."""
from __future__ import annotations

from typing import Any, NamedTuple

# steps of an episode at most, where frames are not counted
MAX_EPISODE_STEPS = 27_000


class PackageQuirks(NamedTuple):
    """The behavior of a package that no option controls.

    Attributes:
        hashes_seeds: NumPy's generators draw ALE's seed and the number of no-ops.
        fires_first: A reset presses fire before its no-ops, not after them.
        begins_black: The stack of an episode begins with black frames instead of copies of the first frame.
        ends_at_once: An episode ends at the exact frame in which a life is lost or the frame limit is reached, and the
            next one begins with a new game. The step then shows a faulty image.
        follows_lives: With `ends_at_once`: a life counts as lost if the previous frame had more lives; otherwise, if
            the previous step had more and some are left.
        emulator_limits: The emulator counts an episode's frames, including those of its reset; otherwise only frames of
            steps count.
        repeats_image: If a game ends before the second-to-last frame of a step, the previous step's image is repeated.
        limit_hides_end: An episode that ends in the last step of the time limit is only reported as truncated.
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
    """A package: its defaults for options, and its quirks."""

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
