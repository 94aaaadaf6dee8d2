"""The ids of NetHack: those that NLE registers with Gymnasium."""
from cypool.envs.family import Family
from cypool.registration.registry import register

FAMILY = Family(
    name="nethack",
    title="NetHack",
    description="the dungeon of the NetHack Learning Environment: the game, seven tasks in it, and the challenge",
    licence="NetHack: NetHack General Public License",
    download="cypool.envs.nethack.library",
    reference="nle 1.3.0",
    reference_package="nle",
    fidelity="everything, if episodes have the same clock",
    smoke_ids=("NetHackScore-v0",),
    terminal="cypool.envs.nethack.terminal:play")

_TASKS = {"NetHack": "nethack", "NetHackScore": "score", "NetHackStaircase": "staircase",
          "NetHackStaircasePet": "staircase_pet", "NetHackOracle": "oracle", "NetHackGold": "gold",
          "NetHackEat": "eat", "NetHackScout": "scout", "NetHackChallenge": "challenge"}
for _name, _task in _TASKS.items():
    register(f"{_name}-v0", "cypool.envs.nethack.nethack:NetHack",
             reference="cypool.envs.nethack.reference:make_reference", task=_task)
