"""cypool: batches of reinforcement-learning environments, stepped in C++ threads without the GIL.

The way of the data, and where to read about each station:

     actions (NumPy / list)                                    observations, rewards, flags, info
          |                                                                 ^
          v                                                                 |
     faces/: checks and converts (face.py; gymnasium.py, gym.py, dm.py) --- |
          |                                                                 |
          v                                                                 |
     engine/pool.pyx  send --> engine/ready  --> engine/crew    --> engine/batch --> recv
                               ring of ids       by engine/threads  rows and blocks
                                                    |    ^
                                                    v    |
                                 env.pxd: Env.reset / Env.step, then Env.observe
                                                    ^
                                 envs/: one family each

`make`, in making.py, joins them: registry.py finds the environment, spec.py describes it.
"""
import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

if find_spec("cypool.env") is None:
    raise ImportError(f"{Path(__file__).parent} is cypool's source, not compiled: leave this folder to import the "
                      'installed cypool, or compile in place with: pip install -e .')
if hasattr(sys, "_is_gil_enabled") and not sys._is_gil_enabled():
    # a free-threaded Python: either this switches the lock on, or no compiled module is imported
    import_module("cypool.env")

from cypool.errors import ClosedError, CompileError, EnvError, WorkerError
from cypool.gymnasium_ids import announce_all
from cypool.making import from_factories, make, make_dm, make_gym, make_gymnasium
from cypool.registry import list_all_envs, make_spec, register

__version__ = "0.1.0"
__all__ = [
    "ClosedError", "CompileError", "EnvError", "State", "ThreadPool", "WorkerError", "compile", "from_factories",
    "get_include", "list_all_envs", "load_state", "make", "make_dm", "make_gym", "make_gymnasium", "make_spec",
    "record", "register",
]

announce_all()


def get_include():
    """Returns the folder with cypool's C++ headers, for a plug-in's `include_dirs`."""
    here = Path(__file__).resolve().parent
    # inside the package when installed, beside it in a checkout
    for folder in (here / "include", here.parent / "include"):
        if (folder / "cypool" / "slot.h").is_file():
            return str(folder)
    raise RuntimeError(f"cypool: the headers are neither in {here} nor beside it")


def __getattr__(name):
    # they come with NumPy: only for those who want them
    if name == "ThreadPool":
        from cypool.engine.threads import ThreadPool
        return ThreadPool
    if name in ("State", "load_state"):
        return getattr(import_module("cypool.state"), name)
    if name == "compile":
        return import_module("cypool.build").compile
    if name == "record":
        return import_module("cypool.recording").record
    if name in ("build", "testing"):
        return import_module(f"cypool.{name}")
    raise AttributeError(f"module 'cypool' has no attribute {name!r}")
