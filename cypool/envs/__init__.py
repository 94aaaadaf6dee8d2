"""The built-in families; importing this registers their ids and loads none of them."""
import importlib.util
import os

from cypool.envs.atari import ids as _atari_ids  # noqa: F401
from cypool.envs.box2d import ids as _box2d_ids  # noqa: F401
from cypool.envs.classic_control import ids as _classic_control_ids  # noqa: F401
from cypool.envs.minigrid import ids as _minigrid_ids  # noqa: F401
from cypool.envs.toy_text import ids as _toy_text_ids  # noqa: F401
from cypool.envs.vizdoom import ids as _vizdoom_ids  # noqa: F401


def _register_without_package(family: str) -> None:
    """Runs a family's `ids.py` alone: an import would run the package first, which needs MuJoCo."""
    path = os.path.join(os.path.dirname(__file__), family, "ids.py")
    spec = importlib.util.spec_from_file_location(f"cypool.envs.{family}.ids", path)
    assert spec is not None and spec.loader is not None
    spec.loader.exec_module(importlib.util.module_from_spec(spec))


for _family in ("mujoco", "dm_control"):
    _register_without_package(_family)
