"""Turns .pyx into C++, one Cython process per module, through the cache."""

import functools
import os
import shutil
import sys
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
    # any .pxd may be cimported, in ways that Cython's own dependency tree does not see
    made_from = [source, *sorted(Path(source.parts[0]).rglob("*.pxd"))]
    key = cache.digest(_versions(), module, str(source), *options, "texts:", *made_from)

    def make(new):
        done = toolchain.run([sys.executable, "-m", "cython", "--cplus", "-3", "-I", ".", *options,
                              "--module-name", module, source, "-o", new])
        return done.stdout + done.stderr

    kept, said = cache.get("cython", key, ".cpp", make)
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(kept, target)
    return kept, said


@functools.cache
def _versions():
    import Cython
    import numpy

    return f"Cython {Cython.__version__}, NumPy {numpy.__version__}"
