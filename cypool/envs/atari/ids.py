"""The ids of Atari's games: cypool's own, and those of ale_py and Gymnasium."""
from importlib.util import find_spec
from typing import Any

from cypool.envs.atari import roms
from cypool.registry import register

_ATARI: Any = {"entry_point": "cypool.envs.atari.atari:Atari", "reference": "cypool.envs.atari.reference:make"}
# what ale_py's own environments show
_ALE: Any = {"preset": "gymnasium", "obs_type": "screen", "gray_scale": False, "stack_num": 1, "noop_max": 0}
# a build may leave the extension out: CYPOOL_WITHOUT=atari
for _task in roms.TASKS if find_spec("cypool.envs.atari.atari") else ():
    register(f"{roms.title(_task)}-v5", task=_task, **_ATARI)
    register(f"ALE/{roms.ale_title(_task)}-v5", task=_task, **_ATARI, **_ALE)
    for _version, _sticky in (("v0", 0.25), ("v4", 0.0)):
        register(f"{roms.ale_title(_task)}-{_version}", task=_task, frame_skip=(2, 5),
                 repeat_action_probability=_sticky, **_ATARI, **_ALE)
        register(f"{roms.ale_title(_task)}NoFrameskip-{_version}", task=_task, frame_skip=1,
                 repeat_action_probability=_sticky, **_ATARI, **_ALE)
