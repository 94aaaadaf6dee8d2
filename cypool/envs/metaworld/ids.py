"""The ids of Meta-World: its fifty tasks."""
from cypool.envs.family import Family, Sanitizer
from cypool.making.registry import register

FAMILY = Family(
    name="metaworld",
    title="Meta-World",
    description="fifty tasks of a Sawyer arm at a table, and the benchmarks MT and ML",
    page="metaworld.md",
    licence="MuJoCo: Apache 2.0; metaworld: MIT",
    # CYPOOL_WITHOUT=mujoco leaves it out
    extension="sawyer",
    package="metaworld",
    extra="metaworld",
    reference="metaworld 3.1.1 with mujoco 3.17.0",
    fidelity="everything, with a metaworld that runs with this MuJoCo",
    smoke_ids=("Meta-World/reach-v3",),
    quick_ids=("Meta-World/reach-v3",),
    fuzz_ids=("Meta-World/reach-v3", "Meta-World/door-lock-v3"),
    draws_quickly=False,
    sanitizer=Sanitizer(target="mujoco", tests=("metaworld/test_metaworld.py",)),
    peers={"*": ("loop", "sync-vector", "rollout")},
    first_make={"Meta-World/reach-v3": "mujoco"},
    pictures=("Meta-World/pick-place-v3", "Meta-World/door-open-v3", "Meta-World/hammer-v3", "Meta-World/soccer-v3",
              "Meta-World/assembly-v3"))

_TASKS = (
    "assembly", "basketball", "bin-picking", "box-close", "button-press-topdown", "button-press-topdown-wall",
    "button-press", "button-press-wall", "coffee-button", "coffee-pull", "coffee-push", "dial-turn", "disassemble",
    "door-close", "door-lock", "door-open", "door-unlock", "hand-insert", "drawer-close", "drawer-open", "faucet-open",
    "faucet-close", "hammer", "handle-press-side", "handle-press", "handle-pull-side", "handle-pull", "lever-pull",
    "pick-place-wall", "pick-out-of-hole", "pick-place", "plate-slide", "plate-slide-side", "plate-slide-back",
    "plate-slide-back-side", "peg-insert-side", "peg-unplug-side", "soccer", "stick-push", "stick-pull", "push",
    "push-wall", "push-back", "reach", "reach-wall", "shelf-place", "sweep-into", "sweep", "window-open",
    "window-close")

if FAMILY.is_built:
    for _task in _TASKS:
        register(f"Meta-World/{_task}-v3", "cypool.envs.metaworld.sawyer:Sawyer", max_episode_steps=500,
                 reference="cypool.envs.metaworld.reference:make_reference", task=f"{_task}-v3")
