"""The ids of Procgen: those that procgen registers with Gym, and EnvPool's."""
from cypool.envs.family import Family
from cypool.envs.procgen.games import GAMES
from cypool.registration.registry import register

FAMILY = Family(
    name="procgen",
    title="Procgen",
    description="sixteen games with random levels, a benchmark for generalization",
    licence="procgen: MIT, with Qt: LGPL 3; its images: CC0, CC-BY and OGA-BY",
    download="cypool.envs.procgen.library",
    reference="procgen 0.10.7",
    parity_mode="SameStep",
    fidelity="everything; for EnvPool 1.2.5, everything except rotated sprites",
    smoke_ids=("procgen-coinrun-v0",),
    peers={"*": ("envpool",)},
    # as in procgen's own window
    keys={"*": {"": 4, "left": 1, "right": 7, "up": 5, "down": 3, "d": 9, "a": 10, "w": 11, "s": 12, "q": 13, "e": 14}})

_PROCGEN = "cypool.envs.procgen.procgen:Procgen"
for _name, _game in GAMES.items():
    register(f"procgen-{_name}-v0", _PROCGEN, reference="cypool.envs.procgen.reference:make_reference", env_name=_name)
    for _mode in _game.modes:
        register(f"{_name.capitalize()}{_mode.capitalize()}-v0", _PROCGEN,
                 reference="cypool.envs.procgen.reference:make_reference", env_name=_name, distribution_mode=_mode,
                 channel_first=True, batch_seeds=True)
