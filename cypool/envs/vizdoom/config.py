"""ViZDoom configs: what they result in, and the lines that each interface adds."""
from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from cypool.envs.vizdoom.names import BUTTONS, FIRST_DELTA

# EnvPool draws nothing narrower, but shrinks its pictures to the size of the config
_NARROW = 320
# settings of a config that take the engine's time, but are not observed by EnvPool
_UNSEEN = ("depth_buffer_enabled", "labels_buffer_enabled", "automap_buffer_enabled", "audio_buffer_enabled",
           "notifications_buffer_enabled", "objects_info_enabled", "sectors_info_enabled")
# the channels that are red, green and blue, where they are not the first ones in this order
_COLOURS = {"BGR24": (2, 1, 0), "CBCGCR": (2, 1, 0), "BGRA32": (2, 1, 0), "ARGB32": (1, 2, 3), "ABGR32": (3, 2, 1)}


class Config(NamedTuple):
    """The names, numbers and observed parts that result from a config."""

    buttons: list[str]
    variables: list[str]
    width: int
    height: int
    channels: int
    format: str
    depth: bool
    labels: bool
    automap: bool
    audio: bool
    notifications: bool
    samples_per_tic: int
    audio_tics: int
    iwad: str
    wad: str
    map: str

    @property
    def num_deltas(self) -> int:
        """Number of buttons that take a value."""
        return sum(BUTTONS.index(name) >= FIRST_DELTA for name in self.buttons)

    def picture(self, pixels: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """Returns a screen, which the engine draws in the config's format, as uint8 (height, width, 3)."""
        if self.channels == 1:
            return np.repeat(pixels.reshape(self.height, self.width, 1), 3, axis=2)
        if self.format in ("CRCGCB", "CBCGCR"):
            pixels = pixels.reshape(3, self.height, self.width).transpose(1, 2, 0)
        else:
            pixels = pixels.reshape(self.height, self.width, self.channels)
        return np.ascontiguousarray(pixels[:, :, list(_COLOURS.get(self.format, (0, 1, 2)))])


# returns the result of a config: a file, or "", and lines that follow its own; the compiled module's
ReadConfig: TypeAlias = Callable[[str, str], Config]


def lines_of(config: Mapping[str, Any]) -> str:
    """Returns a dict of config keys and values as lines of a config."""
    lines = []
    for key, value in config.items():
        if isinstance(value, bool):
            value = str(value).lower()
        elif isinstance(value, list | tuple):
            value = f"{{ {' '.join(map(str, value))} }}"
        lines.append(f"{key} = {value}")
    return "\n".join(lines) + "\n" if lines else ""


def wrapper_lines(path: str, options: Mapping[str, Any], read_config: ReadConfig) -> str:
    """Returns the config lines that ViZDoom's wrapper adds to the file."""
    config = options["config"]
    text = lines_of(config)
    facts = read_config(path, text)
    deltas = [name for name in facts.buttons if BUTTONS.index(name) >= FIRST_DELTA]
    others = [name for name in facts.buttons if name not in deltas]
    forced: dict[str, Any] = {"window_visible": False, "mode": "PLAYER", "available_buttons": [*deltas, *others]}
    for key in ("audio_buffer_size", "notifications_buffer_size"):
        if key not in config:
            forced[key] = options["frame_skip"]
    if facts.format not in ("RGB24", "GRAY8"):
        forced["screen_format"] = "RGB24"
    return text + lines_of(forced)


def envpool_lines(options: Mapping[str, Any], read_config: ReadConfig) -> str:
    """Returns the config lines that EnvPool adds to the file."""
    # EnvPool's engine is an older one, which has no flashes
    forced = {"window_visible": False, "mode": "PLAYER", "doom_map": options["map_id"],
              **dict.fromkeys(("render_screen_flashes", *_UNSEEN), False)}
    if options["screen_resolution"] is not None:
        forced["screen_resolution"] = options["screen_resolution"]
    elif read_config(options["cfg_path"], "").width < _NARROW:
        forced["screen_resolution"] = "RES_320X240"
    return lines_of(forced)


def envpool_size(config: Config, options: Mapping[str, Any], read_config: ReadConfig) -> tuple[int, int]:
    """Returns the height and width of the image that observations are made from; the engine may draw a larger one."""
    if options["screen_resolution"] is None:
        asked = read_config(options["cfg_path"], "")
        if asked.width < _NARROW:
            return asked.height, asked.width
    return config.height, config.width
