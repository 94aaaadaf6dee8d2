"""The ids of Crafter: those that crafter registers with Gym, and the same with a namespace."""
from cypool.envs.family import Family
from cypool.registration.registry import register

FAMILY = Family(
    name="crafter",
    title="Crafter",
    description="an open-world survival game with 22 achievements",
    licence="crafter, with its textures: MIT",
    package="crafter",
    extra="crafter",
    reference="crafter 1.8.3",
    fidelity="everything, compared with a crafter whose sets keep insertion order",
    smoke_ids=("CrafterReward-v1",),
    # as in crafter's own window, but for "e", as "r" starts a new episode
    keys={"*": {"a": 1, "d": 2, "w": 3, "s": 4, "left": 1, "right": 2, "up": 3, "down": 4, "space": 5, "tab": 6,
                "e": 7, "t": 8, "f": 9, "p": 10, "1": 11, "2": 12, "3": 13, "4": 14, "5": 15, "6": 16}})

for _prefix in ("", "Crafter/"):
    for _name, _reward in (("CrafterReward", True), ("CrafterNoReward", False)):
        register(f"{_prefix}{_name}-v1", "cypool.envs.crafter.crafter:Crafter",
                 reference="cypool.envs.crafter.reference:make_reference", reward=_reward)
