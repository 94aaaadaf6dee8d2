"""The pages of the API reference: which public modules and names they show, and in which order. mkdocstrings fills
them.

A page begins with the names that most readers look for: `make`, and the methods of the pool that it returns.
`tests/docs/test_api.py` compares the lists with the package, so that no name is forgotten.
"""
from __future__ import annotations

import ast
import importlib
import inspect
import json
import re
from pathlib import Path
from typing import Any, NamedTuple

# the names of cypool.__all__, by purpose
NAMES = {
    "Make pools": ["make", "from_factories", "parallel_env", "aec_env", "ThreadPool"],
    "Find and register environments": ["list_all_envs", "make_spec", "register", "register_pattern", "compile",
                                       "get_include"],
    "States and histories": ["State", "load_state", "history", "History", "load_history", "first_difference",
                             "Difference"],
    "Checkpoints": ["save_checkpoint", "load_checkpoint"],
    "Replay buffers": ["ReplayBuffer", "Sample", "Episode"],
    "Tree search": ["TreeSearch", "TreeResult", "Leaves"],
    "Policies inside a rollout": ["MLP", "Choice", "RandomPolicy", "Policy"],
    "Texts and videos": ["text", "record"],
    "Errors": ["EnvError", "WorkerError", "ClosedError", "CompileError"],
}
# their pages: title, description and purposes
TOPICS = {
    "cypool": ("cypool", "Functions of cypool: make pools, find and register environments, record videos",
               ("Make pools", "Find and register environments", "Texts and videos", "Errors")),
    "states": ("States and histories", "Functions that save states, record histories and resume runs",
               ("States and histories", "Checkpoints")),
    "replay": ("cypool.ReplayBuffer", "Classes that store and sample experience", ("Replay buffers",)),
    "search": ("Tree search and policies", "Classes that search trees and choose actions inside a rollout",
               ("Tree search", "Policies inside a rollout")),
}
# the methods and properties of a pool, by purpose
POOL = {
    "Step": ["reset", "step", "close"],
    "Step asynchronously": ["async_reset", "send", "recv"],
    "Make many steps with one call": ["rollout", "rollout_buffers", "search"],
    "Go back, and branch": ["save", "load", "copy"],
    "Goal rewards": ["compute_reward", "compute_terminated", "compute_truncated"],
    "Several agents": ["by_agent", "state"],
    "Games with turns": ["sample_legal"],
    "Draw": ["render"],
    "Change to tensors": ["torch", "xla"],
    "Look up": ["env_spec", "spec", "recipe", "stepped_by", "task", "np_random_seed", "np_random"],
}
ROOT = Path(__file__).resolve().parents[1]
BASE, GYMNASIUM = "cypool.api.base.VectorAPI", "cypool.api.gymnasium.GymnasiumPool"


class Page(NamedTuple):
    """A page of the API reference.

    Attributes:
        title: Its heading.
        description: A sentence for search engines.
        text: Markdown at the top of the page.
        shown: Names of modules, classes and functions, each with options of mkdocstrings, or headings ("## ...").
    """

    title: str
    description: str
    text: str
    shown: list[str | tuple[str, dict[str, Any]]]


def classes_of(module: str) -> list[str]:
    """Returns the public classes that a module defines, in the order of its source."""
    names = vars(importlib.import_module(module)).items()
    return [f"{module}.{name}" for name, each in names
            if isinstance(each, type) and each.__module__ == module and not name.startswith("_")]


def _topic(name: str) -> Page:
    """Returns the page of a topic, which links to the pages of the others."""
    title, description, headings = TOPICS[name]
    shown: list[str | tuple[str, dict[str, Any]]] = []
    for heading in headings:
        shown += [f"## {heading}"] if len(headings) > 1 else []
        shown += [(f"cypool.{each}", {"heading_level": 3 if len(headings) > 1 else 2}) for each in NAMES[heading]]
    others = ", ".join(f"[{other[0]}]({each}.md)" for each, other in TOPICS.items() if each != name)
    return Page(title, description, f"`cypool.make` returns a [pool](pools.md). Other names: {others}.", shown)


def _methods() -> str:
    """Returns a table of a pool's methods, each with a link."""
    rows = [f"| {purpose} | {', '.join(f'[`{name}`](#{GYMNASIUM}.{name})' for name in names)} |"
            for purpose, names in POOL.items()]
    return "\n".join(["| task | methods |", "| --- | --- |", *rows])


def _attributes() -> str:
    """Returns a table of a pool's attributes, from the docstrings of its class and the base class."""
    meanings: dict[str, str] = {}
    for path in (BASE, GYMNASIUM):
        module, _, name = path.rpartition(".")
        text = (inspect.getdoc(getattr(importlib.import_module(module), name)) or "").partition("Attributes:\n")[2]
        meanings |= {name: " ".join(meaning.split()) for name, meaning in re.findall(
            r"^    (\w+): (.*(?:\n {8}.*)*)", text.partition("\n\n")[0], re.MULTILINE)}
    return "\n".join(["| attribute | meaning |", "| --- | --- |",
                      *(f"| `{name}` | {meaning} |" for name, meaning in meanings.items())])


def declarations(module: str) -> str:
    """Returns a module's Cython declarations, without its docstring."""
    return (ROOT / "cypool" / f"{module}.pxd").read_text().split('"""', 2)[2].strip()


def _contract() -> str:
    """Returns the modules that only Cython sees, as code."""
    return "\n\n".join(f"## Declarations of cypool.{module}\n\n```cython\n{declarations(module)}\n```"
                       for module in ("env", "random", "backend"))


def _pages() -> dict[str, Page]:
    members = [name for names in POOL.values() for name in names]
    return {
        "cypool": _topic("cypool"),
        "pools": Page(
            "Pools", "Methods and attributes of the pool that cypool.make returns",
            "`cypool.make` returns a `GymnasiumPool`, except with `env_type=\"gym\"` or `\"dm\"` "
            f"([other pools](other_pools.md)).\n\n{_methods()}\n\n{_attributes()}",
            [(GYMNASIUM, {"members": members, "inherited_members": members, "group_by_category": False}),
             # their methods are for the engine
             *((name, {"members": False}) for name in classes_of("cypool.features.rollouts")),
             "cypool.features.frames.FrameBuffers"]),
        **{name: _topic(name) for name in list(TOPICS)[1:]},
        "other_pools": Page(
            "Other pools, and the common base",
            "Pools for gym and dm_env, normalized pools, and the methods that all pools have",
            "All pools have the methods of `VectorAPI`. `normalize_obs=True` and `normalize_reward=True` make a "
            "`NormalizedPool`, `env_type=\"gym\"` a `GymPool` and `env_type=\"dm\"` a `DmPool`.",
            [BASE, "cypool.api.normalized.NormalizedPool", "cypool.features.normalize.Normalizing",
             "cypool.api.gym.GymPool", "cypool.api.dm.DmPool"]),
        "spec": Page(
            "Specs, states, hooks, policies and errors", "Classes of specs, states, hooks, policies and errors", "",
            ["cypool.spec", "cypool.state.State", "cypool.state.load_state", "cypool.state.check_state",
             "cypool.state.check_stream", "cypool.hooks.Batch", "cypool.hooks.Transition", "cypool.policies.Policy",
             "cypool.policies.Decision", "cypool.numba", "cypool.errors"]),
        "env": Page(
            "cypool.env", "Methods and fields of an environment in Cython",
            "[How to write an environment](../tutorials/own_environment.md), and "
            "[all that it may implement](../reference/environment_contract.md).", ["cypool.env", _contract()]),
        "own_robot": Page("cypool.mujoco", "Classes for robots of your own, with NumPy over all environments",
                       "[How to train your own robot](../tutorials/own_robot.md).", ["cypool.mujoco"]),
        "testing": Page("cypool.testing", "Functions that test an environment and compare it with its reference", "",
                        ["cypool.testing"]),
        "tools": Page("cypool.tools.compile", "Functions that compile environments, policies and hooks", "",
                      ["cypool.tools.compile"]),
        "adapters": Page(
            "cypool.adapters", "Adapters to training libraries",
            "[Use a training library](../how_to/training_libraries.md) has an example for each.",
            [f"cypool.adapters.{name}" for name in (
                "sb3", "sb3_replay", "tianshou", "tianshou_replay", "torchrl", "torchrl_replay", "rl_games", "rllib",
                "pufferlib", "minari", "torch", "jax", "single")]),
        "cluster": Page("cypool.cluster", "Classes for environments on several machines",
                        "[How to use several machines](../how_to/cluster.md).", ["cypool.cluster"]),
        "compat": Page("cypool.compat", "Modules for scripts that were written for EnvPool",
                       "[How to migrate from EnvPool](../how_to/envpool.md).",
                       ["cypool.compat.envpool", "cypool.compat.envpool_legacy"]),
    }


# in the order of the navigation
PAGES = _pages()
# classes of which only some members are shown, or none
WITHOUT_MEMBERS = {each[0] for page in PAGES.values() for each in page.shown
                   if not isinstance(each, str) and "members" in each[1]}


def public_names() -> list[str]:
    """Returns the classes and functions that the pages show, by module."""
    names = [f"cypool.{name}" for group in NAMES.values() for name in group]
    for page in PAGES.values():
        for each in page.shown:
            path = each if isinstance(each, str) else each[0]
            if path.startswith("#") or path == "cypool.env":
                continue
            source = ROOT / f"{path.replace('.', '/')}.py"
            if source.is_file():
                # training libraries that it imports may not be installed
                names += [f"{path}.{node.name}" for node in ast.parse(source.read_text()).body
                          if isinstance(node, ast.ClassDef | ast.FunctionDef) and not node.name.startswith("_")]
            elif source.with_suffix("").is_dir():
                names += [f"{path}.{name}" for name in importlib.import_module(path).__all__]
            else:
                names.append(path)
    return names


def write(folder: Path) -> None:
    """Writes a page for each of `PAGES`."""
    folder.mkdir(parents=True)
    for name, page in PAGES.items():
        parts = [f"---\ndescription: {json.dumps(page.description)}\n---", f"# {page.title}", page.text]
        for each in page.shown:
            path, options = (each, {}) if isinstance(each, str) else each
            parts.append(path if path.startswith("#") else f"::: {path}")
            if options:
                # JSON is YAML, too
                parts[-1] += f"\n    options: {json.dumps(options)}"
        (folder / f"{name}.md").write_text("\n\n".join(parts) + "\n")
