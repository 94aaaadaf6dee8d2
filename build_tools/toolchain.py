"""Runs the C++ compiler and the linker: through the cache, with readable errors."""

import collections
import functools
import os
import shlex
import shutil
import subprocess
import sysconfig
import tempfile
import threading
from dataclasses import dataclass
from pathlib import Path

from . import cache, headers, report

EXPORTS = Path(__file__).with_name("exports.map")


class CompileError(Exception):
    """Cython, the compiler or the linker failed; the text holds the command and its output."""


@dataclass(frozen=True)
class Prefix:
    """A header that many units begin with, and that gcc compiles once for all of them.

    Attributes:
        header: the file.
        folder: where to put the compiled header, to be found by the next build in this folder.
        flags, include_dirs: as in `Unit`, and the same as those of the units: one that was compiled with another level
            of optimization brings that level along.
    """

    header: Path
    folder: Path
    flags: tuple
    include_dirs: tuple


@dataclass(frozen=True)
class Unit:
    """One translation unit.

    Attributes:
        source: the file.
        flags: everything but the text that changes the object.
        include_dirs: they matter only through the text that they bring in.
        identity: a hash that covers the source and all it includes; None: the preprocessed text is taken.
        weak: functions, as the linker calls them, that give way to those of the same name in another unit.
        prefix: the compiler reads it before the source.
    """

    source: Path
    flags: tuple
    include_dirs: tuple
    identity: str | None = None
    weak: tuple = ()
    prefix: "Prefix | None" = None


@dataclass(frozen=True)
class Finished:
    """The output of a process."""

    stdout: str
    stderr: str


def run(command, tool="compile"):
    """Runs a command, given as words and paths, and reports its CPU time. Raises CompileError if it fails."""
    command = [str(word) for word in command]
    # files, not pipes: wait4 returns the CPU time of the process, and no thread reads meanwhile
    with tempfile.TemporaryFile() as stdout, tempfile.TemporaryFile() as stderr:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=stdout, stderr=stderr)
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        report.spend(tool, used.ru_utime + used.ru_stime)
        printed = []
        for file in (stdout, stderr):
            file.seek(0)
            printed.append(file.read().decode(errors="replace"))
    if process.returncode:
        # a preprocessor's output so far is of no use
        raise CompileError(f"status {process.returncode} from\n{shlex.join(command)}\n{printed[1] or printed[0]}")
    return Finished(*printed)


def words(variable):
    """An environment variable, split as a shell would."""
    return shlex.split(os.environ.get(variable, ""))


@functools.cache
def compiler():
    """The C++ compiler's command: `$CXX`, else the one that built Python, else g++ or clang++."""
    wanted = "CXX: expected the command of a C++20 compiler, such as g++ 12 or clang++ 16,"
    if given := words("CXX"):
        if shutil.which(given[0]):
            return tuple(given)
        raise CompileError(f"{wanted} got {given[0]!r}, which is no command here")
    for command in (shlex.split(sysconfig.get_config_var("CXX") or ""), ["g++"], ["clang++"]):
        if command and shutil.which(command[0]):
            return tuple(command)
    raise CompileError(f"{wanted} found none")


@functools.cache
def compiler_identity():
    """All that decides the content of the compiler's own headers, which are not digested."""
    said = (run([*compiler(), option]).stdout for option in ("--version", "-dumpmachine"))
    paths = (f"{name}={os.environ.get(name, '')}" for name in ("CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH"))
    return "".join([*said, os.confstr("CS_GNU_LIBC_VERSION") or "", *paths])


def is_gcc():
    """Whether the compiler is GNU's."""
    return "Free Software Foundation" in compiler_identity()


def all_flags(unit):
    """The flags of a unit or prefix, and the user's, which come last, so that they win.

    But for the C++ standard of the usual variables: conda's compilers export -std=c++17 for all packages.
    """
    usual = [word for word in (*words("CPPFLAGS"), *words("CXXFLAGS")) if not word.startswith(("-std=", "--std="))]
    return [*unit.flags, *usual, *words("CYPOOL_CFLAGS")]


def precompiled(prefix):
    """Compiles a prefix, once for all threads, unless its folder has the result. Returns the header to include."""
    with _precompiling[prefix.flags]:
        return _precompiled(prefix)


_precompiling = collections.defaultdict(threading.Lock)


@functools.cache
def _precompiled(prefix):
    # other compilers refuse a header that was compiled with other flags
    if not is_gcc():
        return prefix.header
    command = [*compiler(), *all_flags(prefix), *(f"-I{folder}" for folder in prefix.include_dirs)]
    text = headers.digest_of(prefix.header, (), prefix.include_dirs)
    folder = prefix.folder / cache.digest(compiler_identity(), *map(str, command), "text:", text)[:16]
    header = folder / prefix.header.name
    # gcc looks for this next to the header
    ready = folder / f"{header.name}.gch"
    if not ready.exists():
        with cache.publish(header) as new:
            shutil.copyfile(prefix.header, new)
        with cache.publish(ready) as new:
            run([*command, "-x", "c++-header", header, "-o", new])
    return header


def compile_unit(unit):
    """Compiles one unit, unless the cache has it. Returns (path of the object in the cache, warnings)."""
    flags = all_flags(unit)
    if unit.weak:
        # else there would be no symbols to edit, or copies of replaced functions within their file
        flags += ["-fno-lto", "-fsemantic-interposition"]
    command = [*compiler(), *flags, *(f"-I{folder}" for folder in unit.include_dirs)]
    text = unit.identity or headers.digest_of(unit.source, (unit.prefix.header,) if unit.prefix else (),
                                              unit.include_dirs)
    if any(flag.startswith("-g") and flag != "-g0" for flag in flags):
        # an object for a debugger names its files
        text += str([unit.source, *unit.include_dirs])
    cpu = cache.native_cpu(*compiler(), *flags)
    key = cache.digest(compiler_identity(), *compiler(), *flags, "cpu:", cpu, "text:", text)
    made = False

    def compiled(new):
        nonlocal made
        made = True
        prefix = ("-include", precompiled(unit.prefix)) if unit.prefix else ()
        return run([*command, *prefix, "-c", unit.source, "-o", new]).stderr

    path, warnings = cache.get("objects", key, ".o", compiled)
    report.count(made)
    if unit.weak:
        path, _ = cache.get("objects", cache.digest(key, "weak:", *unit.weak), ".o",
                            lambda new: _weaken(path, new, unit.weak))
    return path, warnings


@functools.cache
def binutil(name):
    """The command for one of GNU's binutils, as words: the variable's, else GNU's or LLVM's; None: there is none."""
    for command in (words(name.upper()), [name], [f"llvm-{name}"]):
        if command and shutil.which(command[0]):
            return tuple(command)
    return None


def _weaken(original, target, functions):
    """Copies an object; raises CompileError unless it then has each function as a weak one."""
    run([*binutil("objcopy"), *(f"--weaken-symbol={name}" for name in functions), original, target])
    table = run([*binutil("nm"), target]).stdout
    missing = [name for name in functions if f" W {name}\n" not in table]
    if missing:
        raise CompileError(f"{original}: expected functions called {', '.join(missing)}, found none")
    return ""


def archive(objects, target):
    """Packs objects into a static library."""
    target.parent.mkdir(parents=True, exist_ok=True)
    target.unlink(missing_ok=True)  # ar would keep the members that are in there
    run([*(words("AR") or ["ar"]), "rcs", target, *objects])


def link(inputs, target, arguments=()):
    """Links an extension module, unless the cache has it. It shows nothing to the world but its PyInit function."""
    command = [*compiler(), "-shared", "-pthread", f"-Wl,--version-script={EXPORTS}", *inputs, *arguments,
               *words("LDFLAGS"), *words("CYPOOL_CFLAGS")]
    # of a file its contents count, not where it is
    key = cache.digest(compiler_identity(), EXPORTS, *(
        _named(word) if isinstance(word, Path) else word.replace(str(EXPORTS), "") for word in command))
    kept, _ = cache.get("modules", key, ".so", lambda new: run([*command, "-o", new], "link").stderr)
    target.parent.mkdir(parents=True, exist_ok=True)
    target.unlink(missing_ok=True)  # a running process may have the old one mapped
    shutil.copyfile(kept, target)
    target.chmod(0o755)


@functools.cache
def _named(path):
    """Returns a name that stands for a file's contents: an object of the cache is called so."""
    return path.stem if path.suffix == ".o" else cache.digest(path)
