"""Options that all MuJoCo environments have, and the common part of their specs."""
from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import mujoco
import numpy as np

from cypool.envs.shared.mujoco.randomization import check_randomize, ranges_of
from cypool.options import Option, boolean, choice, describes, integer, unchecked
from cypool.spec import Array
from cypool.util.arguments import check_bool, check_float, check_int, shown

# of mjvCamera: least values of integers; None: a real number
_SETTINGS = {"type": 0, "fixedcamid": -1, "trackbodyid": -1, "orthographic": 0, "distance": None, "azimuth": None,
             "elevation": None}


def check_pair(name: str, value: Any) -> tuple[float, float]:
    """Returns two numbers as a tuple."""
    if not isinstance(value, (tuple, list, np.ndarray)) or len(value) != 2:
        raise TypeError(f"{name}: expected two numbers, got {shown(value)}")
    low, high = (check_float(name, number, -math.inf, math.inf) for number in value)
    return low, high


def _check_visual_options(name: str, value: Any) -> dict[int, bool] | None:
    if value is None:
        return None
    if not isinstance(value, Mapping):
        raise TypeError(f"{name}: expected a dict or None, got {shown(value)}")
    # the keys may be members of MuJoCo's enumeration, and JSON makes texts of numbers
    return {check_int(name, int(key) if hasattr(type(key), "__int__") or str(key).isdecimal() else key, 0,
                      int(mujoco.mjtVisFlag.mjNVISFLAG) - 1): check_bool(f"{name}[{key!r}]", flag)
            for key, flag in value.items()}


CAMERA_CONFIG = unchecked(None, 'The free camera: "lookat", "distance", "azimuth", "elevation" and other attributes of '
                       "MuJoCo's mjvCamera; None: the robot's default. Unspecified attributes are set when the first "
                       "image is rendered, as in Gymnasium.")
SIMULATION = {
    "obs_dtype": choice("float64", ("float64", "float32"), 'Dtype of observations: "float64", or "float32" for rounded '
                                                           "numbers."),
    "action_dtype": choice("float32", ("float32", "float64"), 'Dtype of actions: "float32", or "float64" to match '
                           "Gymnasium with float64 actions."),
    "frame_stack": integer(1, 1, 1024, "Number of stacked observations, the newest last. After a reset, the stack "
                           "repeats the first observation."),
    "randomize": unchecked(None, "Fields of the model to randomize in each episode: names of mjModel fields, such as "
                        '"geom_friction", "body_mass:torso" for a single body, or "opt.gravity"; each with (low, '
                        'high), or (operation, low, high), where the operation is "scale", "add" or "set". Each number '
                        "in a field is scaled by, increased by or replaced with a number drawn uniformly."),
    "randomize_info": boolean(False, "Adds the numbers drawn for the episode to the info, under the key `randomize`."),
    "from_pixels": boolean(False, "Observations are images from `render`, uint8 (height, width, 3)."),
    "width": integer(480, 1, 8192, "Width of rendered images."),
    "height": integer(480, 1, 8192, "Height of rendered images."),
    "camera_id": unchecked(None, "The number of a camera in the model; None or -1: the free camera."),
    "camera_name": unchecked(None, "The name of a camera in the model, instead of `camera_id`."),
    "max_geom": integer(1000, 1, 10_000_000, "Maximum number of geoms in an image; exceeding it raises an error."),
    "visual_options": Option(None, _check_visual_options, "Visualization flags: a dict that maps MuJoCo's mjtVisFlag "
                             "numbers to True or False."),
    "shadows": boolean(True, "Draws shadows; without them, a small image takes a sixth of the time."),
}
PHYSICS = choice("lanes", ("lanes", "mj_step"), '"lanes": steps several environments of a pool at once if possible, '
                 "with results bit-identical to MuJoCo's; \"mj_step\": lets MuJoCo step each environment.")


@describes(**SIMULATION)
def simulation(options: dict[str, Any]) -> dict[str, Any]:
    """Returns the options of all MuJoCo environments, and checks those that need no model."""
    return options


def check_sizes(model: Any, sizes: tuple[int, ...], name: str) -> None:
    """Checks nq, nv, nu, nbody and nsensordata of a package's model, which environments index by number.

    Raises:
        ValueError: A size differs.
    """
    kinds = ("nq", "nv", "nu", "nbody", "nsensordata")
    found = tuple(getattr(model, kind) for kind in kinds)
    if found != sizes:
        differing = [k for k in range(len(kinds)) if found[k] != sizes[k]]
        expected, got = (", ".join(f"{kinds[k]} {each[k]}" for k in differing) for each in (sizes, found))
        raise ValueError(f"{name}: expected the package's model, with {expected}, got one with {got}: reinstall "
                         "the package")


def check_with_model(model: Any, options: dict[str, Any], camera: Mapping[str, Any]) -> None:
    """Checks the options of `SIMULATION` that depend on a model, and `default_camera_config` if it is there.

    The options are changed into those of a spec; `camera` is the robot's `default_camera_config`.

    Raises:
        TypeError, ValueError: An option is invalid.
    """
    options["randomize"] = check_randomize(model, options["randomize"])
    camera_id, name = options["camera_id"], options["camera_name"]
    if camera_id is not None and name is not None:
        raise ValueError(f"camera_id: expected None with camera_name, got {shown(camera_id)} and {name!r}")
    if camera_id is not None:
        options["camera_id"] = check_int("camera_id", camera_id, -1, model.ncam - 1)
    if name is not None:
        if not isinstance(name, str):
            raise TypeError(f"camera_name: expected a str or None, got {shown(name)}")
        kind = int(mujoco.mjtObj.mjOBJ_CAMERA)
        if model.named(kind, name) < 0:
            there = ", ".join(map(repr, model.names(kind, model.ncam))) or "none with a name"
            raise ValueError(f"camera_name: expected a camera in {model.path}, which has {there}; got {shown(name)}")
    if "default_camera_config" in options:
        given = options["default_camera_config"]
        options["default_camera_config"] = _settings(model, camera if given is None else given)


def _settings(model: Any, config: Any) -> dict[str, Any]:
    if not isinstance(config, Mapping):
        raise TypeError(f"default_camera_config: expected a dict or None, got {shown(config)}")
    settings: dict[str, Any] = {}
    for key, value in config.items():
        place = f"default_camera_config[{key!r}]"
        if key == "lookat":
            if not isinstance(value, (tuple, list, np.ndarray)) or len(value) != 3:
                raise TypeError(f"{place}: expected three numbers, got {shown(value)}")
            settings[key] = tuple(check_float(place, number, -1e9, 1e9) for number in value)
        elif key not in _SETTINGS:
            raise ValueError(f"default_camera_config: expected lookat, {', '.join(_SETTINGS)}, got {shown(key)}")
        elif (least := _SETTINGS[key]) is None:
            settings[key] = check_float(place, value, -1e9, 1e9)
        else:
            most = {"type": 3, "orthographic": 1, "trackbodyid": model.nbody - 1, "fixedcamid": model.ncam - 1}
            settings[key] = check_int(place, value, least, most[key])
    return settings


def observation_of(size: int, options: Mapping[str, Any], low: Any = None, high: Any = None) -> Array:
    """Returns the space of observations with these options: `size` numbers, within bounds if given, or pictures."""
    shape: tuple[int, ...] = (size,)
    dtype, stack = options["obs_dtype"], None
    if options["from_pixels"]:
        shape, dtype, low, high = (options["height"], options["width"], 3), np.uint8, None, None
    if options["frame_stack"] > 1:
        shape, stack = (options["frame_stack"], *shape), (0, options["frame_stack"])
    return Array(shape, dtype, low, high, stack)


def info_of(model: Any, kinds: Mapping[str, Any], options: Mapping[str, Any]) -> dict[str, Array]:
    """Returns the infos of a spec: the robot's, `unstable`, and the values drawn by `randomize`.

    The robot's are names, and dtypes, "action" for the action's dtype, or pairs of a dtype and a size.
    """
    info = {}
    for name, kind in kinds.items():
        dtype, shape = (kind[0], (kind[1],)) if isinstance(kind, tuple) else (kind, ())
        info[name] = Array(shape, options["action_dtype"] if dtype == "action" else dtype)
    further = {"unstable": Array((), np.int32, 0), **randomized(model, options)}
    if taken := info.keys() & further.keys():
        raise ValueError(f"info: expected names other than {', '.join(further)}, got {min(taken)!r}")
    return info | further


def randomized(model: Any, options: Mapping[str, Any]) -> dict[str, Array]:
    """Returns the last info of a spec with `randomize_info`, if there is anything to draw."""
    count = sum(varied.end - varied.begin for varied in ranges_of(model, options["randomize"] or {}))
    return {"randomize": Array((count,), np.float64)} if count and options["randomize_info"] else {}
