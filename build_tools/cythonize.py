"""Turns .pyx into C++, in processes that last as long as the build, through the cache."""

import atexit
import functools
import json
import os
import queue
import re
import shutil
import subprocess
import sys
from pathlib import Path

from . import cache, report, toolchain
from .parts import check_names, parts_of

DEBUG = os.environ.get("CYPOOL_DEBUG") == "1"

DIRECTIVES = {
    "boundscheck": DEBUG,
    "wraparound": False,
    "initializedcheck": DEBUG,
    "nonecheck": False,  # in code without the GIL it does not compile
    "cdivision": True,
    "embedsignature": True,
    # a tenth of the C++ code would be for pickling; classes that can be pickled have methods for it
    "auto_pickle": False,
    "linetrace": DEBUG,
    "freethreading_compatible": True,
}

# a statement ends with its line, unless parentheses or a backslash say otherwise
_CIMPORT = re.compile(r"^[^\n#]*\bcimport\b(?:[^\n(]*\([^)]*\)|(?:[^\\\n]|\\\n)*)", re.MULTILINE)
_WORD = re.compile(r"\w+")


def generate(module, source, target):
    """Writes a module's C++.

    Args:
        module: dotted name.
        source: the .pyx, relative to the project's root, which is the current folder.
        target: where to put a copy for people to read.

    Returns:
        (path of the .cpp in the cache, Cython's output: "" unless there were warnings).
    """
    check_names(source)
    key = cache.digest(_versions(), module, str(source), json.dumps(DIRECTIVES), "texts:", *_made_from(source))
    made = False

    def translate(new):
        nonlocal made
        made = True
        return _translate(module, source, new)

    kept, said = cache.get("cython", key, ".cpp", translate)
    report.count(made)
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(kept, target)
    return kept, said


def _made_from(source):
    """The files that a module's C++ depends on: itself, each .pxd that it may cimport, and their cimports.

    Any word of a cimport statement may be a module: Cython's own dependency tree does not see all of them.
    """
    declarations = {}
    for path in Path(source.parts[0]).rglob("*.pxd"):
        declarations.setdefault(path.stem, []).append(path)
    found, todo = set(), [*parts_of(source), source.with_suffix(".pxd"), *declarations.get("__init__", ())]
    while todo:
        path = todo.pop()
        if path not in found and path.exists():
            found.add(path)
            for statement in _CIMPORT.findall(path.read_text(encoding="utf-8")):
                for word in _WORD.findall(statement):
                    todo += declarations.get(word, ())
    return sorted(found)


# workers that have nothing to do
_idle = queue.SimpleQueue()


def _translate(module, source, target):
    """Has a worker write a module's C++. Returns Cython's output, or raises CompileError."""
    try:
        worker = _idle.get_nowait()
    except queue.Empty:
        worker = _start_worker()
    request = json.dumps([os.getcwd(), module, str(source), str(target), DIRECTIVES])
    try:
        print(request, file=worker.stdin, flush=True)
        answer = worker.stdout.readline()
    except BrokenPipeError:
        answer = ""
    if not answer:
        raise toolchain.CompileError(f"Cython ended with status {worker.wait()} at {source}")
    _idle.put(worker)
    failed, said, seconds = json.loads(answer)
    report.spend("cython", seconds)
    if failed:
        raise toolchain.CompileError(f"Cython could not translate {source}\n{said}")
    return said


def _start_worker():
    worker = subprocess.Popen([sys.executable, Path(__file__).with_name("cython_worker.py")],
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    # it ends when there is nothing more to read
    atexit.register(worker.communicate)
    return worker


@functools.cache
def _versions():
    import Cython
    import numpy

    return f"Cython {Cython.__version__}, NumPy {numpy.__version__}"
