"""Turns .pyx into C++, one Cython process per module, through the cache."""

import functools
import os
import shutil
import sys
import threading
from pathlib import Path

from . import cache, toolchain

DEBUG = os.environ.get("CYPOOL_DEBUG") == "1"

DIRECTIVES = {
    "boundscheck": DEBUG,
    "wraparound": False,
    "initializedcheck": DEBUG,
    "nonecheck": False,  # in code without the GIL it does not compile
    "cdivision": True,
    "embedsignature": True,
    "linetrace": DEBUG,
}


def generate(module, source, target):
    """Writes a module's C++.

    Args:
        module: dotted name.
        source: the .pyx, relative to the project's root, which is the current folder.
        target: where to put a copy for people to read.

    Returns:
        (path of the .cpp in the cache, what Cython had to say: "" unless there were warnings).
    """
    options = [word for key, value in DIRECTIVES.items() for word in ("-X", f"{key}={value}")]
    with _tree_lock:
        made_from = [Path(file) for file in sorted(_tree().all_dependencies(str(source)))]
    key = cache.digest(_versions(), module, str(source), *options, "texts:", *made_from)

    def make(new):
        done = toolchain.run([sys.executable, "-m", "cython", "--cplus", "-3", "-I", ".", *options,
                              "--module-name", module, source, "-o", new])
        return done.stdout + done.stderr

    kept, said = cache.get("cython", key, ".cpp", make)
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(kept, target)
    return kept, said


_tree_lock = threading.Lock()


@functools.cache
def _tree():
    """Cython's knowledge of who cimports whom; not for two threads at once."""
    from Cython.Build.Dependencies import create_dependency_tree

    return create_dependency_tree(quiet=True)


@functools.cache
def _versions():
    import Cython
    import numpy

    return f"Cython {Cython.__version__}, NumPy {numpy.__version__}"
