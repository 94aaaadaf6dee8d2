"""Compiles environments outside of cypool: `extension` is for a package's setup.py, `compile` for experiments.

Both need Cython, setuptools and a C++ compiler: `pip install "cypool[build]"`.
"""
from __future__ import annotations

import importlib
import os
import re
import shlex
import subprocess
import sys
import sysconfig
import tempfile
import threading
import warnings
from collections.abc import Sequence
from importlib.machinery import ExtensionFileLoader
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path
from typing import TYPE_CHECKING, Any

import cypool
from cypool.errors import CompileError
from cypool.tools.terminal import Progress
from cypool.util import cache
from cypool.util.lock_guard import LockGuard

if TYPE_CHECKING:
    from types import ModuleType

    from setuptools import Extension

# one rounding where NumPy has one, and integers that wrap, as in cypool itself
FLAGS = ["-std=c++20", "-O2", "-ffp-contract=off", "-fwrapv"]
# the last one as steps run without the GIL in any case
DIRECTIVES = {"language_level": "3", "embedsignature": "True", "freethreading_compatible": "True"}

# made while one thread imports this module: before Python 3.12, other threads could meet the half of it
sysconfig.get_config_vars()

# held while a module is imported: until that has been done, it is in sys.modules without its contents
_importing = threading.RLock()
# by names of modules: of threads that compile the same, one does it
_compiling: dict[str, threading.Lock] = {}

# one error in the output of Cython, or of a C++ compiler, and what may come after it
_CONTEXT = r"(?:(?:In file included from |\s+from |[^\n]*: In |[^\n]*:  +required )[^\n]*\n)*"
_ERROR = re.compile(rf"(?m)^Error compiling Cython file:\n-+\n\.\.\.\n|^{_CONTEXT}\S[^\n]*:\d+:\d+: (?:fatal )?error: ")
_WARNING = re.compile(r"(?m)^(?:warning|performance hint): |^\S[^\n]*:\d+:\d+: warning: ")

# run in a new interpreter: setuptools leaves traces in the one it runs in
_COMPILE = """
import sys
from setuptools import Extension, setup
name, source, target, include_dirs, flags = sys.argv[1], sys.argv[2], sys.argv[3], sys.argv[4], sys.argv[5]
module = Extension(name, [source], include_dirs=include_dirs.split("\\n"), extra_compile_args=flags.split("\\n"),
                   language="c++")
setup(name=name, ext_modules=[module],
      script_args=["-q", "build_ext", "--build-lib", target, "--build-temp", target])
"""


def extension(name: str, sources: Sequence[str] | None = None, **arguments: Any) -> Extension:
    """Declares a module of environments, for a package's `setuptools.setup(ext_modules=[...])`.

    Args:
        name: The dotted name of the module, such as "my_env.my_env".
        sources: The .pyx and its C++ files; by default the .pyx of that name, "my_env/my_env.pyx".
        **arguments: Other arguments for `setuptools.Extension`; lists are appended to cypool's own.

    Returns:
        A `setuptools.Extension`.

    Raises:
        ImportError: Cython or setuptools is missing.
    """
    _need()
    from setuptools import Extension

    include = Path(cypool.get_include())
    if sources is None:
        sources = [name.replace(".", "/") + ".pyx"]
    module = Extension(name, sources, **{
        "language": "c++",
        **arguments,
        "include_dirs": [str(include), *arguments.get("include_dirs", ())],
        "extra_compile_args": [*FLAGS, *arguments.get("extra_compile_args", ())],
        # compiled again when the contract has changed
        "depends": [*map(str, _contract()), *arguments.get("depends", ())],
    })
    # for Cython's build_ext, which setuptools takes if there is one
    module.cython_directives = DIRECTIVES
    module.cython_c_in_temp = True
    return module


def compile(source: str | os.PathLike[str], name: str | None = None, *, max_episode_steps: int | None = None,
            **options: Any) -> str:
    """Compiles an environment, unless it is in the cache, and registers it; for prototypes and notebooks.

    The compiled module stays in `$CYPOOL_CACHE/compiled` (`~/.cache/cypool/compiled`), under a hash of the text, the
    files next to it that it may include, and the compiler and its settings. If the text changes, it is compiled again
    and replaces the old environment, except in existing pools.

    Args:
        source: The path of a .pyx, or its text, with more than one line.
        name: The class of the environment; not needed if the text has only one.
        max_episode_steps, **options: As in `cypool.register`.

    Returns:
        The id for `cypool.make`: "local/<class>-v0".

    Raises:
        CompileError: The source does not compile. The message shows the first error with its line.
        ValueError: The class does not exist.
        TypeError: An option of the class has the same name as an argument of `cypool.make`, or has no value.
        FileNotFoundError: The file does not exist.
        ImportError: Cython or setuptools is missing, or the compiled module cannot be imported.
    """
    from cypool.registration.registry import is_env, register_again

    module = load(source)
    own = [each for each in vars(module).values() if is_env(each) and each.__module__ == module.__name__]
    names = [cls.__name__ for cls in own]
    if name is None and len(names) == 1:
        name = names[0]
    if name not in names:
        known = ", ".join(names) or "which has none"
        raise ValueError(f"name: expected one of the environments in the source, {known}, got {name!r}")
    id = f"local/{name}-v0"
    register_again(id, f"{module.__name__}:{name}", max_episode_steps, options)
    return id


def load(source: str | os.PathLike[str]) -> ModuleType:
    """Compiles a .pyx, unless it is in the cache, and imports it: any module, such as one with hooks.

    Args, Raises: As in `compile`.

    Returns:
        The module.
    """
    path, text = _read(source)
    stem = path.stem if path else "cell"
    if not re.fullmatch(r"[A-Za-z_]\w*", stem):
        raise ValueError(f"source: expected a file name that is a valid module name, got {path}")
    # Cython keeps the name inside; one for each text lets old and new live side by side
    key = _key(path, text)
    name = f"{stem}_{key[:16]}"
    with LockGuard(_importing):
        if name in sys.modules:
            return sys.modules[name]
    with LockGuard(_compiling.setdefault(name, threading.Lock())):
        target, warning = _cached(path, text, name, key)
    if warning:
        warnings.warn(f"{path.name if path else 'cell.pyx'}: {warning}", stacklevel=3)
    with LockGuard(_importing):
        if name in sys.modules:
            # another thread was faster
            return sys.modules[name]
        loader = ExtensionFileLoader(name, str(target))
        spec = spec_from_file_location(name, target, loader=loader)
        assert spec is not None
        module = module_from_spec(spec)
        sys.modules[name] = module
        try:
            loader.exec_module(module)
        except BaseException:
            del sys.modules[name]
            raise
        return module


def _read(source: str | os.PathLike[str]) -> tuple[Path | None, str]:
    """Returns (path, text); path is None for a text."""
    if isinstance(source, str) and "\n" in source:
        return None, source
    if not isinstance(source, (str, os.PathLike)):
        raise TypeError(f"source: expected a path or the text of a .pyx, got {source!r}")
    path = Path(source).absolute()
    if path.suffix != ".pyx":
        raise ValueError(f"source: expected a path that ends in .pyx, or multi-line source text, got {str(source)!r}")
    return path, path.read_text()


def _contract() -> list[Path]:
    """The files that a plug-in is compiled against."""
    package = Path(cypool.__file__).resolve().parent
    return [*sorted(package.rglob("*.pxd")), *sorted(Path(cypool.get_include(), "cypool").rglob("*.h"))]


def _key(path: Path | None, text: str) -> str:
    """A hash of everything that the compiled module depends on."""
    _need()
    beside = []
    if path:
        beside = [each for each in sorted(path.parent.iterdir())
                  if each.suffix in (".pxd", ".pxi", ".h", ".hpp", ".hh") and each.is_file()]
    env = [os.environ.get(variable, "") for variable in ("CXX", "CC", "CPPFLAGS", "CFLAGS", "CXXFLAGS", "LDFLAGS")]
    # the packages that a text may cimport from, or whose headers it may include
    versions = [f"{project} {_version(project)}" for project in ("cypool", "Cython", "numpy")]
    return cache.digest(sys.version, cypool.__version__, *versions, *FLAGS, *map(str, DIRECTIVES.items()), str(path),
                        *env, "cpu:", _cpu(), "text:", text, "files:", *_contract(), *beside)


def _version(project: str) -> str:
    try:
        return version(project)
    except PackageNotFoundError:
        return "none"


def _cpu() -> str:
    """The meaning of "native" in the compiler's flags, which come from environment variables and from Python."""
    command = shlex.split(os.environ.get("CXX") or sysconfig.get_config_var("CXX") or "c++")
    for words in (sysconfig.get_config_var("CFLAGS"), *map(os.environ.get, ("CPPFLAGS", "CFLAGS", "CXXFLAGS"))):
        command += shlex.split(words or "")
    try:
        return cache.native_cpu(*command)
    except (OSError, subprocess.CalledProcessError) as error:
        raise CompileError(f"{command[0]}: expected a compiler that reports what flags like -march=native mean: "
                           f"{error}") from None


def _cached(path: Path | None, text: str, name: str, key: str) -> tuple[Path, str]:
    """Returns the path of the compiled module, compiling it if necessary, and Cython's messages."""
    try:
        return cache.get(cache.folder(), "compiled", key, sysconfig.get_config_var("EXT_SUFFIX"),
                         lambda new: _make(path, text, name, new))
    except cache.UnsafeCache as error:
        raise CompileError(str(error)) from None
    except OSError as error:
        raise CompileError(f"CYPOOL_CACHE: expected a folder for compiled modules: {error}") from None


def _make(path: Path | None, text: str, name: str, target: Path) -> str:
    """Writes the compiled module to `target`; returns Cython's messages."""
    source_name = path.name if path else "cell.pyx"
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=".new-") as work, Progress(f"compiling {source_name}"):
        source = path or Path(work, source_name)
        if path is None:
            source.write_text(text)
        generated = Path(work, f"{name}.cpp")
        directives = [word for pair in DIRECTIVES.items() for word in ("-X", "=".join(pair))]
        # the C++ compiler reports errors in lines of the .pyx too
        messages = _run(source, work, ["-m", "cython", "--cplus", "--line-directives", "-I", str(source.parent),
                                   *directives, "--module-name", name, str(source), "-o", str(generated)])
        include_dirs = [cypool.get_include(), str(source.parent)]
        _run(source, work, ["-c", _COMPILE, name, str(generated), work, "\n".join(include_dirs), "\n".join(FLAGS)])
        os.replace(Path(work, name + sysconfig.get_config_var("EXT_SUFFIX")), target)
    return messages


def _run(source: Path, work: str | Path, arguments: Sequence[str]) -> str:
    """Runs Python with these arguments; returns its output, or raises a CompileError with it."""
    # the same modules can be cimported there
    env = dict(os.environ, PYTHONPATH=os.pathsep.join(os.path.abspath(folder) for folder in sys.path))
    done = subprocess.run([sys.executable, *arguments], cwd=work, env=env, capture_output=True, text=True,
                          errors="replace")
    # without the temporary folder
    output = (done.stdout + done.stderr).replace(f"{work}{os.sep}", "").strip()
    if done.returncode:
        error = CompileError(f"{source.name} does not compile:\n\n{_first_error(output)}")
        error.output = output
        raise error
    return output


def _first_error(output: str) -> str:
    """Returns the first error of a compiler's output, and how many follow; all of the output if it has none."""
    errors = list(_ERROR.finditer(output))
    if not errors:
        return output
    begin, end = errors[0].start(), errors[1].start() if len(errors) > 1 else len(output)
    if warning := _WARNING.search(output, errors[0].end(), end):
        end = warning.start()
    # Cython's lines around its quotation
    first = re.sub(r"(?m)^Error compiling Cython file:\n-+\n\.\.\.\n|^-{60}\n", "", output[begin:end]).strip("\n")
    more = len(errors) - 1
    if not more:
        return first
    return f"{first}\n\n{more} more error{'s' * (more > 1)}, perhaps because of this one: see the exception's `output`"


def _need() -> None:
    """Checks that Cython and setuptools are installed. Importing setuptools here might warn about distutils."""
    for module in ("Cython", "setuptools"):
        try:
            found = importlib.import_module(module) if module == "Cython" else find_spec(module)
        except ImportError:
            found = None
        if found is None:
            raise ImportError(f'compiling an environment needs {module}: pip install "cypool[build]", or '
                              '"setuptools>=77" "Cython>=3.2,<4"')
