"""The ids of Meta-World: its fifty tasks, also under EnvPool's names, and its benchmarks of several tasks."""
from typing import Any

from cypool.envs.family import Family
from cypool.registration.registry import register

FAMILY = Family(
    name="metaworld",
    title="Meta-World",
    description="fifty tasks for a Sawyer arm at a table, and the MT and ML benchmarks",
    licence="MuJoCo: Apache 2.0; metaworld: MIT",
    package="metaworld",
    extra="metaworld",
    reference="metaworld 3.1.1 with the installed MuJoCo",
    fidelity="everything except the last bits of returns that `evaluate` reports, if metaworld runs with this MuJoCo",
    smoke_ids=("Meta-World/reach-v3",),
    peers={"*": ("envpool",)})

_TASKS = (
    "assembly", "basketball", "bin-picking", "box-close", "button-press-topdown", "button-press-topdown-wall",
    "button-press", "button-press-wall", "coffee-button", "coffee-pull", "coffee-push", "dial-turn", "disassemble",
    "door-close", "door-lock", "door-open", "door-unlock", "hand-insert", "drawer-close", "drawer-open", "faucet-open",
    "faucet-close", "hammer", "handle-press-side", "handle-press", "handle-pull-side", "handle-pull", "lever-pull",
    "pick-place-wall", "pick-out-of-hole", "pick-place", "plate-slide", "plate-slide-side", "plate-slide-back",
    "plate-slide-back-side", "peg-insert-side", "peg-unplug-side", "soccer", "stick-push", "stick-pull", "push",
    "push-wall", "push-back", "reach", "reach-wall", "shelf-place", "sweep-into", "sweep", "window-open",
    "window-close")



def _register(id: str, **options: Any) -> None:
    register(id, "cypool.envs.metaworld.metaworld:Sawyer", max_episode_steps=500,
             reference="cypool.envs.metaworld.reference:make_reference", **options)


def _register_all() -> None:
    for name in _TASKS:
        task = f"{name}-v3"
        _register(f"Meta-World/{task}", task=task)
        # EnvPool's id
        camel = "".join(part.capitalize() for part in name.split("-"))
        _register(f"MetaWorld/{camel}-v3", task=task, task_select="fresh", partially_observable=True)
    benchmarks = "cypool.envs.metaworld.benchmarks:"
    _register("Meta-World/MT1", expand=benchmarks + "one_task")
    for name, hidden in (("observable", False), ("hidden", True)):
        _register(f"Meta-World/goal_{name}", expand=benchmarks + "one_goal", partially_observable=hidden)
    for benchmark in ("MT10", "MT25", "MT50"):
        _register(f"Meta-World/{benchmark}", expand=benchmarks + "multi_task", benchmark=benchmark)
    _register("Meta-World/custom-mt-envs", expand=benchmarks + "own_tasks")
    for split in ("train", "test"):
        _register(f"Meta-World/ML1-{split}", expand=benchmarks + "one_meta_task", split=split)
        for name in ("ML10", "ML25", "ML45"):
            _register(f"Meta-World/{name}-{split}", expand=benchmarks + "meta_learning", benchmark=f"{name}-{split}")
    _register("Meta-World/custom-ml-envs", expand=benchmarks + "own_meta_tasks")


_register_all()
