"""Runs the C++ compiler and the linker: through the cache, with readable errors."""

import functools
import os
import shlex
import shutil
import subprocess
import sysconfig
import threading
from dataclasses import dataclass
from pathlib import Path

from . import cache

EXPORTS = Path(__file__).with_name("exports.map")


class CompileError(Exception):
    """Cython, the compiler or the linker failed; the text holds the command and what it printed."""


@dataclass(frozen=True)
class Prefix:
    """A header that many units begin with, and that gcc compiles once for all of them.

    Attributes:
        header: the file.
        folder: where to put what is compiled, to be found by the next build in this folder.
        flags, include_dirs: as in `Unit`. For a unit with other flags, gcc decides whether what is compiled will do,
            and reads the header if not.
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


def run(command):
    """Runs a command, given as words and paths. Returns the finished process, or raises CompileError."""
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, errors="replace")
    if done.returncode:
        # what a preprocessor has printed so far is of no use
        output = done.stderr or done.stdout
        raise CompileError(f"status {done.returncode} from\n{shlex.join(done.args)}\n{output}")
    return done


def words(variable):
    """An environment variable, split as a shell would."""
    return shlex.split(os.environ.get(variable, ""))


@functools.cache
def compiler():
    """The C++ compiler's command: `$CXX`, else the one that built Python, else what there is."""
    for command in (words("CXX"), shlex.split(sysconfig.get_config_var("CXX") or ""), ["g++"], ["clang++"]):
        if command and shutil.which(command[0]):
            return tuple(command)
    raise CompileError("CXX: expected a C++20 compiler, such as g++ 11 or clang++ 16, found none")


@functools.cache
def compiler_identity():
    return run([*compiler(), "--version"]).stdout + run([*compiler(), "-dumpmachine"]).stdout


def all_flags(unit):
    """The flags of a unit or prefix, and the user's, which come last, so that they win."""
    return [*unit.flags, *words("CPPFLAGS"), *words("CXXFLAGS"), *words("CYPOOL_CFLAGS")]


@functools.cache
def precompiled(prefix):
    """Compiles a prefix, unless that has been done in its folder. Returns the header to include."""
    # other compilers refuse what was compiled with other flags
    if "Free Software Foundation" not in compiler_identity():
        return prefix.header
    command = [*compiler(), *all_flags(prefix), *(f"-I{folder}" for folder in prefix.include_dirs)]
    text = run([*command, "-E", prefix.header]).stdout
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


# two threads at once would both do it
_precompiling = threading.Lock()


def compile_unit(unit):
    """Compiles one unit, unless the cache has it. Returns (path of the object in the cache, warnings)."""
    flags = all_flags(unit)
    if unit.weak:
        # else there would be no symbols to edit, or copies of what is replaced within its file
        flags += ["-fno-lto", "-fsemantic-interposition"]
    command = [*compiler(), *flags, *(f"-I{folder}" for folder in unit.include_dirs)]
    prefix = ["-include", unit.prefix.header] if unit.prefix else []
    if unit.identity:
        text = unit.identity
    else:
        # -P leaves out the names of files, which differ between pip's temporary environments; -g needs them
        names = [] if any(flag.startswith("-g") and flag != "-g0" for flag in flags) else ["-P"]
        text = run([*command, *prefix, *names, "-E", unit.source]).stdout
    cpu = cache.native_cpu(*compiler(), *flags)
    key = cache.digest(compiler_identity(), *compiler(), *flags, "cpu:", cpu, "text:", text)

    def compiled(new):
        if not unit.prefix:
            return run([*command, "-c", unit.source, "-o", new]).stderr
        with _precompiling:
            header = precompiled(unit.prefix)
        return run([*command, "-include", header, "-c", unit.source, "-o", new]).stderr

    path, warnings = cache.get("objects", key, ".o", compiled)
    if unit.weak:
        path, _ = cache.get("objects", cache.digest(key, "weak:", *unit.weak), ".o",
                            lambda new: _weaken(path, new, unit.weak))
    return path, warnings


@functools.cache
def binutil(name):
    """The command for one of GNU's binutils, as words: what the variable says, else GNU's or LLVM's; None: nothing."""
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
    """Links an extension module that shows nothing to the world but its PyInit function."""
    target.parent.mkdir(parents=True, exist_ok=True)
    target.unlink(missing_ok=True)  # a running process may have the old one mapped
    run([*compiler(), "-shared", "-pthread", f"-Wl,--version-script={EXPORTS}", *inputs, *arguments,
         *words("LDFLAGS"), *words("CYPOOL_CFLAGS"), "-o", target])
