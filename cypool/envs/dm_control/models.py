"""The models of the suite as text, from dm_control's files or made by its own functions."""
from __future__ import annotations

import warnings
from pathlib import Path
from types import ModuleType
from typing import Any

from cypool.envs.dm_control import INSTALL
from cypool.envs.shared.pixels.opengl import import_without_opengl
from cypool.util.packages import file_of

# domains whose functions do no more than read these files, in the release that the package requires. Its import takes
# 0.3 s, as one domain imports all of them
_FILES = ("acrobot", "ball_in_cup", "cheetah", "finger", "fish", "hopper", "humanoid", "humanoid_CMU", "pendulum",
          "point_mass", "reacher", "walker")
_COMMON = ("./common/materials.xml", "./common/skybox.xml", "./common/visual.xml")

# arguments of quadruped.make_model; the floor is as long as the way that is to be gone
_QUADRUPED: dict[str, dict[str, Any]] = {
    "walk": {"floor_size": 20 * 0.5}, "run": {"floor_size": 20 * 5},
    "escape": {"floor_size": 40, "terrain": True, "rangefinders": True}, "fetch": {"walls_and_ball": True}}
# metres per second, at least
_DOG = {"stand": 1, "walk": 1, "trot": 3, "run": 9}


# of each model nq, nv, nu, nbody and nsensordata: of all tasks of a domain, or of one
_SIZES = {
    "acrobot": (2, 2, 1, 3, 0), "ball_in_cup": (4, 4, 2, 3, 0), "cartpole": (2, 2, 1, 3, 0),
    "cartpole-two_poles": (3, 3, 1, 4, 0), "cartpole-three_poles": (4, 4, 1, 5, 0), "cheetah": (9, 9, 6, 8, 3),
    "dog": (80, 79, 38, 62, 31), "dog-fetch": (87, 85, 38, 63, 31), "finger": (3, 3, 2, 4, 22),
    "fish": (14, 13, 5, 6, 6), "hopper": (7, 7, 4, 6, 5), "humanoid": (28, 27, 21, 17, 66),
    "humanoid_CMU": (63, 62, 56, 32, 16), "lqr-lqr_2_1": (2, 2, 1, 3, 0), "lqr-lqr_6_2": (6, 6, 2, 7, 0),
    "manipulator": (11, 11, 5, 13, 5), "manipulator-bring_ball": (11, 11, 5, 12, 5),
    "manipulator-insert_peg": (11, 11, 5, 14, 5), "pendulum": (1, 1, 1, 2, 0), "point_mass": (2, 2, 2, 2, 0),
    "quadruped": (23, 22, 12, 18, 36), "quadruped-escape": (23, 22, 12, 18, 56),
    "quadruped-fetch": (30, 28, 12, 19, 36), "reacher": (2, 2, 2, 4, 0), "stacker-stack_2": (14, 14, 5, 13, 5),
    "stacker-stack_4": (20, 20, 5, 15, 5), "swimmer-swimmer6": (8, 8, 5, 7, 48),
    "swimmer-swimmer15": (17, 17, 14, 16, 102), "walker": (9, 9, 6, 8, 3)}


def sizes_of(domain: str, task: str) -> tuple[int, ...]:
    """Returns the sizes of a task's model: nq, nv, nu, nbody and nsensordata."""
    return _SIZES.get(f"{domain}-{task}") or _SIZES[domain]


def domain_module(domain: str) -> ModuleType:
    """Returns dm_control's module of a domain.

    Raises:
        ImportError: It cannot be imported.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            module: ModuleType = import_without_opengl(f"dm_control.suite.{domain}")
            return module
    except Exception as error:
        raise ImportError(f"the DeepMind Control Suite: importing dm_control.suite failed: {error!r}",
                          name="dm_control") from error


def text_of(domain: str, task: str, random: Any = None) -> tuple[bytes, dict[str, bytes]]:
    """Returns the XML of a task's model, and the bytes of each file that it names; lqr's is drawn from a `RandomState`.

    Raises:
        ImportError: dm_control cannot be imported, or lacks a file.
    """
    if domain in _FILES:
        return _read(f"{domain}.xml"), {name: _read(name) for name in _COMMON}
    module: Any = domain_module(domain)
    files = module.common.ASSETS
    if domain == "cartpole":
        text, files = module.get_model_and_assets({"two_poles": 2, "three_poles": 3}.get(task, 1))
    elif domain == "swimmer":
        text, files = module.get_model_and_assets(int(task.removeprefix("swimmer")))
    elif domain == "lqr":
        _, bodies, actuators = task.split("_")
        text, files = module.get_model_and_assets(int(bodies), int(actuators), random)
    elif domain == "manipulator":
        text, files = module.make_model(task.endswith("peg"), task.startswith("insert"))
    elif domain == "stacker":
        text, files = module.make_model(int(task.removeprefix("stack_")))
    elif domain == "quadruped":
        text = module.make_model(**_QUADRUPED[task])
    elif domain == "dog":
        text, files = module.get_model_and_assets(**(
            {"remove_ball": False} if task == "fetch" else {"floor_size": _DOG[task] * 15}))
        # MuJoCo 3.3 looks for them only where the model says that they are
        files = {name if name.startswith("./") else f"dog_assets/{name}": content for name, content in files.items()}
    return _bytes(text), {name: _bytes(content) for name, content in files.items()}


def _read(name: str) -> bytes:
    """Returns a file of the suite, without importing the suite."""
    path = file_of("the DeepMind Control Suite", "dm_control", f"suite/{name}", INSTALL)
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise ImportError(f"the DeepMind Control Suite: cannot read one of dm_control's files: {error}",
                          name="dm_control") from error


def _bytes(content: str | bytes) -> bytes:
    return content.encode() if isinstance(content, str) else content
