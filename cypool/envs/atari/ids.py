"""The ids of Atari's games: cypool's own, and those of ale_py and Gymnasium."""
from typing import Any

from cypool.envs.atari import roms
from cypool.envs.family import Family
from cypool.registration.registry import register

FAMILY = Family(
    name="atari",
    title="Atari",
    description="the 104 single-player games of `ale-py`",
    licence="ALE: GPL-2",
    package="ale_py",
    distribution="cypool-atari",
    extra="atari",
    reference="ale_py 0.12.1, Gymnasium 1.4 or EnvPool 1.2.5, depending on the preset",
    parity_options={"preset": "ale"},  # whose package the extra installs
    fidelity="everything, if a preset is given",
    smoke_ids=("Pong-v5", "ALE/Breakout-v5"),
    data="cypool.envs.atari.roms:examine",
    groups={"atari26": tuple(f"{roms.title(_task)}-v5" for _task in roms.ATARI_26)},
    peers={"*": ("loop", "async-vector", "ale", "envpool")},
    # the work of Gymnasium's AtariPreprocessing and FrameStackObservation, in the words of cypool and EnvPool
    peer_options={"frame_skip": 4, "stack_num": 4, "noop_max": 30, "use_fire_reset": False, "episodic_life": False,
                  "reward_clip": False, "repeat_action_probability": 0.0},
    gymnasium_module="ale_py",
    keyboard="cypool.envs.atari.joystick:keyboard")

_ATARI: Any = {"entry_point": "cypool.envs.atari.atari:Atari", "reference": "cypool.envs.atari.reference:make"}
# the observations of ale_py's environments
_ALE: Any = {"preset": "gymnasium", "obs_type": "screen", "gray_scale": False, "stack_num": 1, "noop_max": 0}
for _task in roms.TASKS:
    register(f"{roms.title(_task)}-v5", task=_task, **_ATARI)
    register(f"ALE/{roms.ale_title(_task)}-v5", task=_task, **_ATARI, **_ALE)
    for _version, _sticky in (("v0", 0.25), ("v4", 0.0)):
        register(f"{roms.ale_title(_task)}-{_version}", task=_task, frame_skip=(2, 5),
                 repeat_action_probability=_sticky, **_ATARI, **_ALE)
        register(f"{roms.ale_title(_task)}NoFrameskip-{_version}", task=_task, frame_skip=1,
                 repeat_action_probability=_sticky, **_ATARI, **_ALE)
