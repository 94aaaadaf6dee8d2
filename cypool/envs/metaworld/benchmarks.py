"""The benchmarks of Meta-World: which environments each of their ids stands for.

Each function takes the requested number of environments or None, the seed and the options, and returns the options and
seeds of all environments, as described in `cypool.register`. Other options apply to all environments.
"""
from __future__ import annotations

from typing import Any

from cypool.envs.metaworld.tasks import TASKS, Point, draw_goals
from cypool.util.arguments import check_choice, check_int, check_list, shown

Expanded = tuple[list[dict[str, Any]], list[int]]

MT10 = ("reach-v3", "push-v3", "pick-place-v3", "door-open-v3", "drawer-open-v3", "drawer-close-v3",
        "button-press-topdown-v3", "peg-insert-side-v3", "window-open-v3", "window-close-v3")
MT25 = (*MT10, "coffee-pull-v3", "pick-out-of-hole-v3", "disassemble-v3", "pick-place-wall-v3", "basketball-v3",
        "stick-pull-v3", "button-press-wall-v3", "faucet-open-v3", "door-lock-v3", "lever-pull-v3", "sweep-into-v3",
        "faucet-close-v3", "coffee-button-v3", "button-press-topdown-wall-v3", "dial-turn-v3")
MT50 = tuple(TASKS)
# by name and split
TASK_SETS: dict[str, tuple[str, ...]] = {
    "MT10": MT10,
    "MT25": MT25,
    "MT50": MT50,
    "ML10-train": ("reach-v3", "push-v3", "pick-place-v3", "door-open-v3", "drawer-close-v3", "button-press-topdown-v3",
                   "peg-insert-side-v3", "window-open-v3", "sweep-v3", "basketball-v3"),
    "ML10-test": ("drawer-open-v3", "door-close-v3", "shelf-place-v3", "sweep-into-v3", "lever-pull-v3"),
    "ML25-train": MT25,
    "ML25-test": ("basketball-v3", "door-close-v3", "shelf-place-v3", "sweep-v3", "button-press-v3"),
    "ML45-train": (
        "assembly-v3", "basketball-v3", "button-press-topdown-v3", "button-press-topdown-wall-v3", "button-press-v3",
        "button-press-wall-v3", "coffee-button-v3", "coffee-pull-v3", "coffee-push-v3", "dial-turn-v3",
        "disassemble-v3", "door-close-v3", "door-open-v3", "drawer-close-v3", "drawer-open-v3", "faucet-open-v3",
        "faucet-close-v3", "hammer-v3", "handle-press-side-v3", "handle-press-v3", "handle-pull-side-v3",
        "handle-pull-v3", "lever-pull-v3", "pick-place-wall-v3", "pick-out-of-hole-v3", "push-back-v3",
        "pick-place-v3", "plate-slide-v3", "plate-slide-side-v3", "plate-slide-back-v3", "plate-slide-back-side-v3",
        "peg-insert-side-v3", "peg-unplug-side-v3", "soccer-v3", "stick-push-v3", "stick-pull-v3", "push-wall-v3",
        "push-v3", "reach-wall-v3", "reach-v3", "shelf-place-v3", "sweep-into-v3", "sweep-v3", "window-open-v3",
        "window-close-v3"),
    "ML45-test": ("bin-picking-v3", "box-close-v3", "hand-insert-v3", "door-lock-v3", "door-unlock-v3"),
}


def multi_task(num_envs: int | None, seed: int, *, benchmark: str, num_goals: int = 50, **options: Any) -> Expanded:
    """Expands an id of MT10, MT25 or MT50: a task for each environment, with the goal observed.

    Environments of the same task are adjacent, with consecutive seeds.
    """
    return _multi_task(TASK_SETS[benchmark], num_envs, seed, num_goals, options)


def one_task(num_envs: int | None, seed: int, *, env_name: str = "reach-v3", num_goals: int = 50,
             **options: Any) -> Expanded:
    """Expands the id of MT1: any number of environments of one task."""
    return _multi_task((_task("env_name", env_name),), num_envs, seed, num_goals, options)


def one_goal(num_envs: int | None, seed: int, *, env_name: str = "reach-v3", partially_observable: bool,
             **options: Any) -> Expanded:
    """Expands the ids of a task with one goal, which depends only on the seed and never changes."""
    if isinstance(env_name, str):
        env_name = env_name.removesuffix("-goal-hidden" if partially_observable else "-goal-observable")
    task = _task("env_name", env_name)
    seeds = [seed + i for i in range(check_int("num_envs", 1 if num_envs is None else num_envs, 1, 2**31 - 1))]
    check_int("seed", seed, 0, 2**32 - len(seeds))
    each = [{"task": task, "goals": draw_goals([task], own, 1)[task], "partially_observable": partially_observable,
             **options} for own in seeds]
    return each, seeds


def own_tasks(num_envs: int | None, seed: int, *, envs_list: Any = MT10[:3], **options: Any) -> Expanded:
    """Expands the id of custom multi-task benchmarks: environments of the given tasks, each with separate goals."""
    tasks = _tasks("envs_list", envs_list)
    copies = _copies(num_envs, tasks)
    each = [{"task": task, "task_index": k, "num_tasks": len(tasks), **options}
            for k, task in enumerate(tasks) for _ in range(copies)]
    return each, [seed + i for i in range(len(each))]


def meta_learning(num_envs: int | None, seed: int, *, benchmark: str, **options: Any) -> Expanded:
    """Expands an id of ML10, ML25 or ML45, with its split."""
    return _meta_learning(TASK_SETS[benchmark], num_envs, seed, seed, benchmark.endswith("-test"), **options)


def one_meta_task(num_envs: int | None, seed: int, *, split: str, env_name: str = "reach-v3",
                  **options: Any) -> Expanded:
    """Expands an id of ML1: one task, whose test split has different goals."""
    is_test = split == "test"
    return _meta_learning((_task("env_name", env_name),), num_envs, seed, seed + is_test, is_test, **options)


def own_meta_tasks(num_envs: int | None, seed: int, *, train_envs: Any = MT10[:3], test_envs: Any = MT10[3:5],
                   split: str = "train", **options: Any) -> Expanded:
    """Expands the id of custom meta-learning benchmarks."""
    tasks = {"train": _tasks("train_envs", train_envs), "test": _tasks("test_envs", test_envs)}
    if set(tasks["train"]) & set(tasks["test"]):
        raise ValueError(f"test_envs: expected tasks that are not in train_envs, got {shown(test_envs)}")
    check_choice("split", split, tasks)
    return _meta_learning(tasks[split], num_envs, seed, seed, split == "test", **options)


def _multi_task(tasks: tuple[str, ...], num_envs: int | None, seed: int, num_goals: int,
                options: dict[str, Any]) -> Expanded:
    copies = _copies(num_envs, tasks)
    goals = _goals(tasks, seed, num_goals)
    each = [{"task": task, "goals": goals[task], "task_index": k, "num_tasks": len(tasks), **options}
            for k, task in enumerate(tasks) for _ in range(copies)]
    # in the package all have the same seed, and there is one of each
    return each, [seed + copy for _ in tasks for copy in range(copies)]


def _meta_learning(tasks: tuple[str, ...], num_envs: int | None, seed: int, goal_seed: int, is_test: bool,
                   total_tasks_per_cls: int | None = None, num_goals: int = 50, **options: Any) -> Expanded:
    """Divides each task's goals among its environments, which all have the same seed."""
    copies = _copies(num_envs, tasks)
    goals = _goals(tasks, goal_seed, num_goals)
    if total_tasks_per_cls is not None:
        num_goals = check_int("total_tasks_per_cls", total_tasks_per_cls, 1, num_goals)
    if num_goals % copies:
        raise ValueError("num_envs: expected the number of environments per task to divide the number of goals, "
                         f"{num_goals}, got {copies}")
    common = {"partially_observable": True, "task_select": "pseudorandom", "terminate_on_success": is_test, **options}
    each = [{"task": task, "goals": goals[task][:num_goals][copy::copies], **common}
            for task in tasks for copy in range(copies)]
    return each, [seed] * len(each)


def _copies(num_envs: int | None, tasks: tuple[str, ...]) -> int:
    """Returns the number of environments of each task."""
    copies, rest = divmod(len(tasks) if num_envs is None else num_envs, len(tasks))
    if rest or not copies:
        raise ValueError(f"num_envs: expected a multiple of {len(tasks)}, the number of tasks, got {num_envs}")
    return copies


def _goals(tasks: tuple[str, ...], seed: int, num_goals: int) -> dict[str, tuple[Point, ...]]:
    check_int("seed", seed, 0, 2**32 - 1)
    return draw_goals(list(tasks), seed, check_int("num_goals", num_goals, 1, 10_000))


def _task(name: str, task: Any) -> str:
    return check_choice(name, task, tuple(TASKS))


def _tasks(name: str, tasks: Any) -> tuple[str, ...]:
    chosen = tuple(_task(name, task) for task in check_list(name, tasks, "a sequence of task names"))
    if not chosen or len(set(chosen)) < len(chosen):
        raise ValueError(f"{name}: expected one or more unique tasks, got {shown(tasks)}")
    return chosen
