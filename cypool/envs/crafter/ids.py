"""The ids of Crafter: those that crafter registers with Gym, and the same with a namespace."""
from cypool.envs.family import Family, Sanitizer
from cypool.making.registry import register

FAMILY = Family(
    name="crafter",
    title="Crafter",
    description="an open world of survival with 22 achievements",
    page="crafter.md",
    licence="crafter, with its textures: MIT",
    package="crafter",
    extra="crafter",
    reference="crafter 1.8.3",
    fidelity="everything, with a crafter whose sets keep their order",
    smoke_ids=("CrafterReward-v1",),
    quick_ids=("CrafterReward-v1",),
    # crafter takes a second to make a world of 64 x 64 cells
    short_episode={"length": 9, "area": (14, 14)},
    fuzz_variants=(("CrafterReward-v1", {"area": (16, 16), "length": 40, "obs_type": "symbolic"}),
                   ("CrafterNoReward-v1", {"area": (9, 30), "view": (5, 7), "size": 45, "semantic": False})),
    sanitizer=Sanitizer(target="crafter", tests=("test_crafter.py",)),
    first_make={"CrafterReward-v1": "PIL"},
    pictures=("CrafterReward-v1",) * 5,
    # as in crafter's own window, but for "e", as "r" starts a new episode
    keys={"*": {"a": 1, "d": 2, "w": 3, "s": 4, "left": 1, "right": 2, "up": 3, "down": 4, "space": 5, "tab": 6,
                "e": 7, "t": 8, "f": 9, "p": 10, "1": 11, "2": 12, "3": 13, "4": 14, "5": 15, "6": 16}})

for _prefix in ("", "Crafter/"):
    for _name, _reward in (("CrafterReward", True), ("CrafterNoReward", False)):
        register(f"{_prefix}{_name}-v1", "cypool.envs.crafter.crafter:Crafter",
                 reference="cypool.envs.crafter.reference:make_reference", reward=_reward)
