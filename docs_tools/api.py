"""The pages of the API reference: which public modules and names they show, in which order. mkdocstrings fills them.

A page begins with the names that most readers look for: `make`, and the methods of the pool that it returns.
`tests/docs/test_api.py` compares the lists with the package, so that no name is forgotten.
"""
from __future__ import annotations

import importlib
import json
from pathlib import Path
from typing import Any, NamedTuple

# the names of cypool.__all__, by purpose
NAMES = {
    "Make pools": ["make", "from_factories", "make_gymnasium", "make_gym", "make_dm", "parallel_env", "aec_env",
                   "ThreadPool"],
    "Find and register environments": ["list_all_envs", "make_spec", "register", "register_pattern", "compile",
                                       "get_include"],
    "States and histories": ["State", "load_state", "history", "History", "load_history", "first_difference",
                             "Difference"],
    "Replay buffers": ["ReplayBuffer", "Sample", "Episode"],
    "Tree search": ["TreeSearch", "TreeResult", "Leaves"],
    "Policies inside a rollout": ["MLP", "Choice", "RandomPolicy", "Policy"],
    "Texts and videos": ["text", "record"],
    "Errors": ["EnvError", "WorkerError", "ClosedError", "CompileError"],
}
# the methods and properties of a pool, by purpose
POOL = {
    "Step": ["reset", "step", "close"],
    "Step asynchronously": ["async_reset", "send", "recv"],
    "Make many steps with one call": ["rollout", "rollout_buffers", "search"],
    "Go back, and branch": ["save", "load", "copy"],
    "Rewards of goals": ["compute_reward", "compute_terminated", "compute_truncated"],
    "Several agents": ["by_agent", "state"],
    "Games with turns": ["sample_legal"],
    "Draw": ["render"],
    "Change to tensors": ["torch", "xla"],
    "Look up": ["env_spec", "spec", "np_random_seed", "np_random"],
}
BASE, GYMNASIUM = "cypool.api.base.VectorAPI", "cypool.api.gymnasium.GymnasiumPool"


class Page(NamedTuple):
    """A page of the API reference.

    Attributes:
        title: Its heading.
        text: Markdown that comes first.
        shown: Names of modules, classes and functions, each with options of mkdocstrings, or headings ("## ...").
    """

    title: str
    text: str
    shown: list[str | tuple[str, dict[str, Any]]]


def classes_of(module: str) -> list[str]:
    """Returns the public classes that a module defines, in the order of its source."""
    names = vars(importlib.import_module(module)).items()
    return [f"{module}.{name}" for name, each in names
            if isinstance(each, type) and each.__module__ == module and not name.startswith("_")]


def _names() -> list[str | tuple[str, dict[str, Any]]]:
    shown: list[str | tuple[str, dict[str, Any]]] = []
    for heading, names in NAMES.items():
        shown += [f"## {heading}", *((f"cypool.{name}", {"heading_level": 3}) for name in names)]
    return shown


def _methods() -> str:
    """Returns a table of a pool's methods, each with a link."""
    rows = [f"| {purpose} | {', '.join(f'[`{name}`](#{GYMNASIUM}.{name})' for name in names)} |"
            for purpose, names in POOL.items()]
    return "\n".join(["| task | methods |", "| --- | --- |", *rows])


def _pages() -> dict[str, Page]:
    members = [name for names in POOL.values() for name in names]
    return {
        "cypool": Page("cypool", "[`make`](#cypool.make) returns a [pool](pools.md). All other names are for special "
                       "tasks.", _names()),
        "pools": Page("Pools", "`cypool.make` returns a `GymnasiumPool`, except with `env_type=\"gym\"` or `\"dm\"` "
                      f"([other pools](other_pools.md)).\n\n{_methods()}",
                      [(GYMNASIUM, {"members": members, "inherited_members": members,
                                    "group_by_category": False}),
                       # their methods are for the engine
                       *((name, {"members": False}) for name in classes_of("cypool.api.rollouts")),
                       "cypool.api.frames.FrameBuffers"]),
        "other_pools": Page("Other pools, and the common base",
                            "All pools have the methods of `VectorAPI`. `normalize_obs=True` and "
                            "`normalize_reward=True` make a `NormalizedPool`, `env_type=\"gym\"` a `GymPool` and "
                            "`env_type=\"dm\"` a `DmPool`.",
                            [BASE, "cypool.api.normalize.NormalizedPool", "cypool.api.gym.GymPool",
                             "cypool.api.dm.DmPool"]),
        "spec": Page("Specs, states, hooks, policies and errors", "",
                     ["cypool.spec", "cypool.state.State", "cypool.state.load_state", "cypool.state.check_state",
                      "cypool.hooks.Batch", "cypool.hooks.Transition", "cypool.policies.Policy",
                      "cypool.policies.Decision", "cypool.numba", "cypool.errors"]),
        "env": Page("The environment contract", "[How to write an environment](../tutorials/own_environment.md), and "
                    "[all that it may implement](../reference/environment_contract.md).",
                    ["cypool.env"]),
        "testing": Page("cypool.testing", "", ["cypool.testing"]),
        "tools": Page("cypool.tools.compile", "", ["cypool.tools.compile"]),
        "adapters": Page("cypool.adapters", "[How to use cypool in training libraries]"
                         "(../how_to/training_libraries.md) has an example for each.",
                         [f"cypool.adapters.{name}" for name in (
                             "sb3", "sb3_replay", "tianshou", "tianshou_replay", "torchrl", "torchrl_replay",
                             "rl_games", "rllib", "pufferlib", "minari", "torch", "jax", "single")]),
        "cluster": Page("cypool.cluster", "[How to use several machines](../how_to/cluster.md).", ["cypool.cluster"]),
        "compat": Page("cypool.compat", "[How to migrate from EnvPool](../how_to/envpool.md).",
                       ["cypool.compat.envpool", "cypool.compat.envpool_legacy"]),
    }


# in the order of the navigation
PAGES = _pages()


def write(folder: Path) -> None:
    """Writes a page for each of `PAGES`."""
    folder.mkdir(parents=True)
    for name, page in PAGES.items():
        parts = [f"# {page.title}", page.text]
        for each in page.shown:
            path, options = (each, {}) if isinstance(each, str) else each
            parts.append(path if path.startswith("#") else f"::: {path}")
            if options:
                # JSON is YAML, too
                parts[-1] += f"\n    options: {json.dumps(options)}"
        (folder / f"{name}.md").write_text("\n\n".join(parts) + "\n")
