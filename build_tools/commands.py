"""The setuptools commands, and the list of extension modules."""

import fcntl
import functools
import os
import re
import shutil
import sysconfig
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from setuptools import Extension
from setuptools.command.build_ext import build_ext
from setuptools.command.build_py import build_py
from setuptools.command.egg_info import egg_info
from setuptools.errors import SetupError

from . import cache, cythonize, distributions, report, sdist, toolchain
from .library import DECLARATION, declared_in, left_out
from .parts import parts_of

FLAGS = (
    "-std=c++20",
    *(("-O0", "-g", "-D_GLIBCXX_ASSERTIONS", "-DCYTHON_TRACE_NOGIL=1") if cythonize.DEBUG else ("-g0", "-DNDEBUG")),
    "-fPIC",
    "-fvisibility=hidden",
    "-ffp-contract=off",  # a fused multiply-add rounds once where NumPy and OpenCV round twice
    "-fwrapv",  # as Python itself is compiled
    "-pthread",
    "-DNPY_NO_DEPRECATED_API=NPY_2_0_API_VERSION",
    "-DNPY_TARGET_VERSION=NPY_2_0_API_VERSION",
    "-Wall",
    "-Wextra",
    "-Wno-psabi",  # vectors wider than the CPU's go between functions that are all inlined
    # for Cython's code
    "-Wno-unused-parameter",
    "-Wno-unused-function",
    "-Wno-missing-field-initializers",
    "-Wno-cast-function-type",
    "-Wno-deprecated-declarations",
)

# of modules without hot loops, which take two thirds of the time: gcc then still inlines functions that are called once
LOW_LEVEL = "-O1"
INLINING = ("-finline-small-functions", "-findirect-inlining", "-fpartial-inlining", "-foptimize-sibling-calls",
            "-fstrict-aliasing")

# the C++ of most modules includes it
HEADER = Path(__file__).with_name("common.h")

# bytes; a folder with less is full: the largest file, the compiled HEADER, does not fit
LEAST_ROOM = 80 << 20


def extensions(package):
    """Declares one extension module for each .pyx file below a package.

    Args:
        package: its folder. A `build.py` in a folder declares the native library that its modules need.

    Returns:
        The modules, less those of the families that `CYPOOL_WITHOUT` names (separated by commas), and of those that
        extend one of them.
    """
    families = {path.parent.name for path in Path(package, "envs").glob("*/ids.py")}
    without = left_out()
    if not without <= families:
        raise SystemExit(f"CYPOOL_WITHOUT: expected some of {sorted(families)}, got {sorted(without)}")
    extended = re.compile(rf"^(from|c?import) {package}\.envs\.({'|'.join(without)})[. ]", re.MULTILINE)
    # shared code is one folder deeper, and imports no family
    without |= {source.parent.name for source in Path(package, "envs").glob("*/*.pyx")
                if without and extended.search(source.read_text(encoding="utf-8"))}
    modules = []
    for source in sorted(Path(package).rglob("*.pyx")):
        if Path(package, "tools", "template") in source.parents:  # the template of `cypool new`
            continue
        name = ".".join(source.with_suffix("").parts)
        library = declared_in(source.parent)
        if any(name.startswith(f"{package}.envs.{family}.") for family in without):
            continue
        module = Extension(name, [str(source)], language="c++")
        module.library = library
        module.level = level_of(source)
        modules.append(module)
    return modules


def level_of(source):
    """Returns the level of optimization that a module asks for in its first lines, as Cython has it.

    It is that of `# distutils: extra_compile_args = -O2`, without which it is `LOW_LEVEL`.
    """
    found = re.match(r"(?:#.*\n)*?# distutils: extra_compile_args = (-O\d)\n", source.read_text(encoding="utf-8"))
    return found[1] if found else LOW_LEVEL


class EggInfo(egg_info):
    """Writes the licence of the distribution."""

    def run(self):
        # sources have nothing of the libraries
        if "sdist" not in self.distribution.commands:
            self.distribution.metadata.license_expression = distributions.expression(
                distributions.libraries().values())
        super().run()


class BuildExt(build_ext):
    """Compiles all modules and libraries at once, on all cores, and only those that changed."""

    def build_extensions(self):
        _lock()
        if os.environ.get("CC") and not os.environ.get("CXX"):
            print(f"CC={os.environ['CC']} is not used: all sources are C++. CXX names its compiler", flush=True)
        try:
            # once for all threads
            cache.folder_of_new()
            self._build()
        # setuptools prints the text, without a traceback
        except (sdist.SourceNotFound, cache.UnsafeCache) as error:
            raise SetupError(str(error)) from None
        except (toolchain.CompileError, OSError) as error:
            raise SetupError(_full_disk() or str(error)) from None

    def _build(self):
        folder = Path(self.build_temp).absolute()
        # at other levels, a module reads the header itself
        prefixes = {level: toolchain.Prefix(HEADER, folder, _flags(level), _include_dirs())
                    for level in (LOW_LEVEL, "-O2")}
        libraries = {module.library for module in self.extensions} - {None}
        with ThreadPoolExecutor(_jobs(self.parallel)) as pool:
            jobs = []

            def submit(name, function, *arguments):
                """Runs a function in the pool; its cost counts as that of `name`."""
                def measured():
                    with report.measure() as cost:
                        jobs.append((name, cost))
                        return function(*arguments)
                return pool.submit(measured)

            try:
                preparing = {library: submit(f"({library.family})", library.prepare, folder) for library in libraries}
                prepared = {library: job.result() for library, job in preparing.items()}
                # one of our modules takes as long as many files of a library, and the largest comes first
                modules = [(module, submit(module.name, _compile_module, module, prefixes.get(module.level),
                                           prepared.get(module.library)))
                           for module in sorted(self.extensions, key=_size, reverse=True)]
                compiled = {(library, kind): [submit(f"({library.family})", toolchain.compile_unit, unit)
                                              for unit in getattr(ready, kind)]
                            for library, ready in prepared.items() for kind in ("units", "objects")}
                archives = {}
                for library in libraries:
                    if members := compiled[library, "units"]:
                        archives[library] = folder / f"lib{library.family}.a"
                        toolchain.archive([member.result()[0] for member in members], archives[library])
                linking = []
                for module, job in modules:
                    path, remarks = job.result()
                    if remarks:
                        print(remarks, flush=True)
                    inputs, library = [path], module.library
                    if library:
                        inputs += [member.result()[0] for member in compiled[library, "objects"]]
                        inputs += [archives[library]] if library in archives else []
                    target = Path(self.get_ext_fullpath(module.name))
                    linking.append(submit(module.name, toolchain.link, inputs, target, (_numpy_random(),)))
                for job in linking:
                    job.result()
            except BaseException:
                pool.shutdown(cancel_futures=True)
                raise
        targets = {module.name: Path(self.get_ext_fullpath(module.name)) for module, _ in modules}
        report.write(report.table(jobs, {name: path.stat().st_size for name, path in targets.items() if path.exists()}))


class BuildPy(build_py):
    """Puts the public headers into the wheel; an editable install reads them where they are.

    How native libraries are compiled is left out: that needs the sources.
    """

    def find_package_modules(self, package, package_dir):
        found = super().find_package_modules(package, package_dir)
        return [each for each in found if Path(each[2]).name != DECLARATION]

    def run(self):
        _lock()
        # files of an earlier build would end up in the wheel
        shutil.rmtree(Path(self.build_lib, "cypool"), ignore_errors=True)
        super().run()
        if not self.editable_mode:
            shutil.copytree("include", Path(self.build_lib, "cypool", "include"), dirs_exist_ok=True)


@functools.cache
def _lock():
    """Waits until no other build is at work in this checkout, and keeps further ones waiting until this process ends.

    Two at once would take each other's files away: build/ is the same for both, and so are the modules in place.
    """
    path = Path("build", ".lock")
    path.parent.mkdir(exist_ok=True)
    file = path.open("w")
    try:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print(f"another build is at work in this folder: waiting for it to end ({path.absolute()} is locked)",
                  flush=True)
            fcntl.flock(file, fcntl.LOCK_EX)
    except OSError as error:
        print(f"{path.absolute()}: {error}; run one build in this folder at a time", flush=True)
    return file


def _full_disk():
    """Says which folder is full, if one is: each tool has other words for that, and many."""
    for path, remedy in ((Path("build").absolute(), "build a copy of these sources elsewhere"),
                         (cache.folder_of_new(), "set CYPOOL_CACHE to another folder"),
                         (Path(os.environ.get("TMPDIR") or "/tmp"), "set TMPDIR to another folder")):
        if path.is_dir() and not cache.has_room(path, LEAST_ROOM):
            return f"{path} is full: expected {2 * cache.ROOM >> 20} MB for a build; free them, or {remedy}"
    return ""


def _flags(level):
    """The compiler's flags at a level of optimization."""
    if cythonize.DEBUG:
        return FLAGS
    return (*FLAGS, level, *(INLINING if level == LOW_LEVEL and toolchain.is_gcc() else ()))


def _size(module):
    """Stands for the time that a module takes to compile."""
    return sum(part.stat().st_size for part in parts_of(Path(module.sources[0])))


def _compile_module(module, prefix, ready):
    """From .pyx to object. Returns its path, and the output of Cython and the compiler."""
    source = Path(module.sources[0])
    target = Path("build", "cython-debug" if cythonize.DEBUG else "cython", source.with_suffix(".cpp"))
    generated, remarks = cythonize.generate(module.name, source, target)
    flags = (*_flags(module.level), *(ready.flags if ready else ()))
    include_dirs = _include_dirs(*(ready.include_dirs if ready else ()))
    path, warnings = toolchain.compile_unit(toolchain.Unit(generated, flags, include_dirs, prefix=prefix))
    return path, remarks + warnings


def _include_dirs(*of_library):
    import numpy

    paths = sysconfig.get_paths()
    # public headers are in include/, private ones are next to their modules: "cypool/util/park.h"
    return ("include", ".", *of_library, paths["include"], paths["platinclude"], numpy.get_include())


def _numpy_random():
    """NumPy's static library of distributions; a module gets the functions that it calls."""
    import numpy

    return Path(numpy.get_include()).parents[1] / "random" / "lib" / "libnpyrandom.a"


def _jobs(parallel):
    """How many compilers run at once: `build_ext -j`, else `$CYPOOL_JOBS`, else one for each core."""
    given = os.environ.get("CYPOOL_JOBS", "")
    if type(parallel) is int:  # True means: choose
        return parallel
    if not given:
        return len(os.sched_getaffinity(0))
    if not given.isdecimal() or given == "0":
        raise SetupError(f"CYPOOL_JOBS: expected a positive number, got {given!r}")
    return int(given)
