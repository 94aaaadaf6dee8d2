"""The pages of the API reference: which public modules and names they show. mkdocstrings fills them."""
from __future__ import annotations

from pathlib import Path

import cypool

# page: title, and what it shows; a module alone stands for its public names
PAGES = {
    "cypool": ("cypool", [f"cypool.{name}" for name in cypool.__all__]),
    "pools": ("Pools", ["cypool.api.gymnasium", "cypool.api.gym", "cypool.api.dm"]),
    "spec": ("Specs, states, hooks, policies and errors",
             ["cypool.spec", "cypool.state", "cypool.hooks", "cypool.policies", "cypool.errors",
              "cypool.numba"]),
    "env": ("The environment contract", ["cypool.env", "cypool.random"]),
    "testing": ("cypool.testing", ["cypool.testing"]),
    "adapters": ("cypool.adapters", [f"cypool.adapters.{name}" for name in (
        "sb3", "tianshou", "torchrl", "rl_games", "torch", "jax", "single")]),
    "cluster": ("cypool.cluster", ["cypool.cluster"]),
    "compat": ("cypool.compat", ["cypool.compat.envpool", "cypool.compat.envpool_legacy"]),
}


def write(folder: Path) -> None:
    """Writes a page for each of `PAGES`."""
    folder.mkdir(parents=True)
    for name, (title, shown) in PAGES.items():
        blocks = "\n\n".join(f"::: {each}" for each in shown)
        (folder / f"{name}.md").write_text(f"# {title}\n\n{blocks}\n")
