"""Turns .pyx into C++: reads a request from each line of its input, writes an answer to a line of its output.

A process for all modules of a build takes a quarter of the time that a process for each takes: Cython starts once, and
keeps NumPy's declarations that it has read.
"""

import gc
import io
import json
import os
import sys
import tempfile
import time
from contextlib import redirect_stderr, redirect_stdout

from Cython.Build import cythonize
from Cython.Compiler.Errors import CompileError
from setuptools import Extension


def translate(root, module, source, target, directives):
    """Writes the C++ of one module, whose source is relative to a root. Returns (whether it failed, output)."""
    os.chdir(root)
    said = io.StringIO()
    with tempfile.TemporaryDirectory(dir=os.path.dirname(target)) as folder:
        with redirect_stdout(said), redirect_stderr(said):
            try:
                (made,) = cythonize(Extension(module, [source], language="c++"), include_path=["."], build_dir=folder,
                                    compiler_directives=directives, language_level=3, force=True, quiet=True)
            except CompileError:
                return True, said.getvalue()
            except OSError as error:
                return True, f"{said.getvalue()}{error}"
        os.replace(made.sources[0], target)
    return False, said.getvalue()


if __name__ == "__main__":
    # imported modules stay: a tenth of the time would go into looking for garbage among them
    gc.freeze()
    answers, sys.stdout = sys.stdout, sys.stderr
    before = 0.0  # the start is part of the first module's time
    for line in sys.stdin:
        failed, said = translate(*json.loads(line))
        now = time.process_time()
        print(json.dumps([failed, said, now - before]), file=answers, flush=True)
        before = now
