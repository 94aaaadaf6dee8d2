"""Batches of reinforcement-learning environments, stepped in C++ threads without the GIL.

    import cypool

    env = cypool.make("Pong-v5", num_envs=64, seed=0)
    obs, info = env.reset()
    obs, reward, terminated, truncated, info = env.step(env.action_space.sample())

`make` returns a pool, which has Gymnasium's vector API and more: `help(type(env))` lists its methods. `list_all_envs`
lists the environments; `make_spec` and the command `cypool info ID` describe one. `cypool doctor` checks the
installation.

    Pools         make, from_factories, parallel_env, aec_env, ThreadPool
    Environments  list_all_envs, make_spec, register, register_pattern, compile, get_include
    States        State, load_state, history, History, load_history, first_difference, Difference
    Checkpoints   save_checkpoint, load_checkpoint
    Replay        ReplayBuffer, Sample, Episode
    Tree search   TreeSearch, TreeResult, Leaves
    Policies      MLP, Choice, RandomPolicy, Policy
    Output        text, record
    Errors        EnvError, WorkerError, ClosedError, CompileError
    Modules       cypool.adapters, cypool.cluster, cypool.compat, cypool.testing, cypool.tools.compile
"""
# The way of the data, and where to read about each station:
#
#      actions (NumPy / list)                              observations, rewards, flags, info
#           |                                                           ^
#           v                                                           |
#      api/: checks and converts (base.py; gymnasium.py, gym.py, dm.py) |
#           |                                                           |
#           v                                                           |
#      engine/pool.pxi  send --> dispatch --> scheduler --> batch --> recv
#                                shares or    claims rows   rows
#                                ring of ids  on threads    and blocks
#                                                |    ^
#                                                v    |
#                             env.pxd: Env.reset / Env.step, then Env.observe
#                                                ^
#                             envs/: one family each
#
# `make`, in making/factory.py, has assembly.py put a pool together: registration/registry.py finds the environment,
# spec.py describes it. The modules next to this file are those that other packages import; each folder is a feature, or
# private.
from __future__ import annotations

import os
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

if find_spec("cypool.env") is None:
    raise ImportError(f"{os.path.dirname(__file__)} is cypool's uncompiled source. To import the installed "
                      "cypool, start Python in a different folder: cd .. (or compile in place: pip install -e .)")

from cypool.errors import ClosedError, CompileError, EnvError, WorkerError
from cypool.features.conversions import add_conversion
from cypool.making.factory import aec_env, from_factories, make, parallel_env
from cypool.registration.gymnasium_ids import announce_all
from cypool.registration.registry import add_source, list_all_envs, make_spec, register, register_pattern

if TYPE_CHECKING:
    from cypool import testing as testing
    from cypool import tools as tools
    from cypool.checkpoint import load_checkpoint, save_checkpoint
    from cypool.engine.engine import ThreadPool
    from cypool.policies import Policy
    from cypool.policies.mlp import MLP, Choice
    from cypool.policies.random_policy import RandomPolicy
    from cypool.replay.buffer import ReplayBuffer
    from cypool.replay.history import Difference, History, first_difference, history, load_history
    from cypool.replay.layout import Episode, Sample
    from cypool.search.tree_search import Leaves, TreeResult, TreeSearch
    from cypool.state import State, load_state
    from cypool.tools.compile import compile
    from cypool.tools.video import record
    from cypool.util.texts import text

    __version__: str

__all__ = [
    "MLP", "Choice", "ClosedError", "CompileError", "Difference", "EnvError", "Episode", "History", "Leaves", "Policy",
    "RandomPolicy", "ReplayBuffer", "Sample", "State", "ThreadPool", "TreeResult", "TreeSearch", "WorkerError",
    "aec_env", "compile", "first_difference", "from_factories", "get_include", "history", "list_all_envs",
    "load_checkpoint", "load_history", "load_state", "make", "make_spec", "parallel_env", "record", "register",
    "register_pattern", "save_checkpoint", "text",
]

add_source("cypool.envs")
add_conversion("torch", "cypool.adapters.torch:TorchPool")
add_conversion("xla", "cypool.adapters.jax:Functions")
announce_all()


def get_include() -> str:
    """Returns the folder with cypool's C++ headers, for a plug-in's `include_dirs`."""
    from pathlib import Path

    here = Path(__file__).resolve().parent
    # inside the package when installed, next to it in a checkout
    for folder in (here / "include", here.parent / "include"):
        if (folder / "cypool" / "slot.h").is_file():
            return str(folder)
    raise RuntimeError(f"cypool: found no headers in {here} or next to it")


# a type checker has these names from above, and finds others that are misspelled
if not TYPE_CHECKING:
    # they come with NumPy: only for those who want them
    _MODULES = {
        "ThreadPool": "engine.engine", "MLP": "policies.mlp", "Choice": "policies.mlp", "Policy": "policies",
        "RandomPolicy": "policies.random_policy",
        "ReplayBuffer": "replay.buffer", "Episode": "replay.layout", "Sample": "replay.layout",
        "State": "state", "load_state": "state", "text": "util.texts", "compile": "tools.compile",
        "record": "tools.video",
        **dict.fromkeys(("load_checkpoint", "save_checkpoint"), "checkpoint"),
        **dict.fromkeys(("Leaves", "TreeResult", "TreeSearch"), "search.tree_search"),
        **dict.fromkeys(("Difference", "History", "first_difference", "history", "load_history"), "replay.history"),
    }

    _SUBMODULES = ("testing", "tools")

    def __dir__() -> list[str]:
        # what is public, used before or not
        return [*__all__, "__version__", *_SUBMODULES]

    def __getattr__(name: str) -> Any:
        if name in _MODULES:
            return getattr(import_module(f"cypool.{_MODULES[name]}"), name)
        if name == "__version__":
            version = globals()[name] = import_module("cypool.util.version").version()
            return version
        if name in _SUBMODULES:
            return import_module(f"cypool.{name}")
        raise AttributeError(f"module 'cypool' has no attribute {name!r}")
