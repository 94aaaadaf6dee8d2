"""The models of the suite, as texts: made by dm_control's own functions."""
from __future__ import annotations

import importlib
import warnings
from types import ModuleType
from typing import Any

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
            return importlib.import_module(f"dm_control.suite.{domain}")
    except Exception as error:
        # it looks for the OpenGL that MUJOCO_GL names, and that may raise anything
        raise ImportError(f"the DeepMind Control Suite: import dm_control.suite failed: {error!r}",
                          name="dm_control") from error


def text_of(domain: str, task: str, random: Any = None) -> tuple[bytes, dict[str, bytes]]:
    """Returns the XML of a task's model, and the bytes of each file that it names.

    Args:
        domain, task: Of the suite.
        random: For lqr, a `numpy.random.RandomState` from which the model is drawn.
    """
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
    else:
        text, files = module.get_model_and_assets()
    return _bytes(text), {name: _bytes(content) for name, content in files.items()}


def _bytes(content: str | bytes) -> bytes:
    return content.encode() if isinstance(content, str) else content
