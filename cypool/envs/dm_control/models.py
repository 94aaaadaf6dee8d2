"""The models of the suite, as texts: dm_control's files, or made by its own functions."""
from __future__ import annotations

import importlib.util
import warnings
from pathlib import Path
from types import ModuleType
from typing import Any

from cypool.envs.common.opengl import import_without_opengl

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
        raise ImportError(f"the DeepMind Control Suite: import dm_control.suite failed: {error!r}",
                          name="dm_control") from error


def text_of(domain: str, task: str, random: Any = None) -> tuple[bytes, dict[str, bytes]]:
    """Returns the XML of a task's model, and the bytes of each file that it names.

    Args:
        domain, task: Of the suite.
        random: For lqr, a `numpy.random.RandomState` from which the model is drawn.

    Raises:
        ImportError: dm_control cannot be imported, or misses a file.
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
    """Returns a file of the suite, without importing it."""
    spec = importlib.util.find_spec("dm_control")
    folders = list(spec.submodule_search_locations or ()) if spec else []
    try:
        if not folders:
            raise FileNotFoundError(name)
        return Path(folders[0], "suite", name).read_bytes()
    except OSError as error:
        raise ImportError(f"the DeepMind Control Suite: a file of dm_control cannot be read: {error}",
                          name="dm_control") from error


def _bytes(content: str | bytes) -> bytes:
    return content.encode() if isinstance(content, str) else content
