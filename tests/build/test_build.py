"""The build code in `build_tools/`: how native libraries and modules are compiled, kept and linked."""
import ctypes
import fcntl
import importlib.util
import os
import shutil
import subprocess
import sys
import zipfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
USERS_CACHE = os.environ.get("CYPOOL_CACHE", "")

pytestmark = pytest.mark.skipif(not (ROOT / "build_tools").is_dir(), reason="the build code is not installed")


def declare(build_tools, sdist, **changes):
    return build_tools.library.SourceLibrary(**{
        "family": "tiny", "sdist": sdist, "root": "src", "sources": ("*.cpp",), "exclude": ("broken.cpp",),
        "include_dirs": ("src",), "flags": ("-O1", "-fPIC"), **changes})


@pytest.mark.parametrize("given", ["folder", "tarball"])
def test_library(build_tools, sdist, folder, tarball, tmp_path, monkeypatch, given):
    ours = tmp_path / "ours.cpp"
    ours.write_text('#include "tiny.h"\n#include <made.h>\nint replaced() { return MADE; }\n')
    monkeypatch.setenv("CYPOOL_TINY_SOURCE", str({"folder": folder, "tarball": tarball}[given]))
    library = declare(build_tools, sdist, replace={"replaced.cpp": str(ours)},
                      generate=lambda unpacked, into: (into / "made.h").write_text("#define MADE 3\n"))

    def compile_unit(unit):
        return build_tools.toolchain.compile_unit(unit)[0]

    ready = library.prepare(tmp_path / "work")
    assert sorted(unit.source.name for unit in ready.units) == ["kept.cpp", "ours.cpp"]
    objects = [compile_unit(unit) for unit in ready.units]

    # the same again, elsewhere: nothing is compiled
    made = [path.stat().st_ino for path in objects]
    assert [compile_unit(unit) for unit in library.prepare(tmp_path / "elsewhere").units] == objects
    assert [path.stat().st_ino for path in objects] == made

    # linked into something like a module
    main = tmp_path / "main.cpp"
    main.write_text('#include "tiny.h"\nextern "C" int PyInit_main() { return kept() + replaced(); }\n')
    main_object = compile_unit(build_tools.toolchain.Unit(main, ("-fPIC",), ready.include_dirs))
    build_tools.toolchain.archive(objects, tmp_path / "libtiny.a")
    module = tmp_path / "main.so"
    build_tools.toolchain.link([main_object, tmp_path / "libtiny.a"], module)
    shown = subprocess.check_output(["nm", "-D", "--defined-only", module], text=True, timeout=300)
    assert [line.split()[-1] for line in shown.splitlines()] == ["PyInit_main"]
    assert ctypes.CDLL(str(module)).PyInit_main() == 4


def test_sources_are_compiled_together(build_tools, sdist, folder, tmp_path, monkeypatch):
    monkeypatch.setenv("CYPOOL_TINY_SOURCE", str(folder))
    alone = result_of(build_tools, declare(build_tools, sdist), tmp_path / "alone")
    together = build_tools.library.Together
    library = declare(build_tools, sdist, together=(together("*.cpp", flags=("-O0",)),))
    (unit,) = library.prepare(tmp_path / "together").units
    assert unit.flags == ("-O1", "-fPIC", "-O0")
    assert result_of(build_tools, library, tmp_path / "together") == alone
    # where a file is edited, the unit differs
    with (folder / "src" / "kept.cpp").open("a") as file:
        file.write("int more;\n")
    assert library.prepare(tmp_path / "together").units[0].identity != unit.identity
    with pytest.raises(ValueError, match=r"tiny-lib: expected sources that match 'gone/\*.cpp', found none"):
        declare(build_tools, sdist, together=(together("*.cpp", "gone/*.cpp"),)).prepare(tmp_path / "work")


def test_a_prefix_is_compiled_once(build_tools, tmp_path):
    toolchain = build_tools.toolchain
    header = tmp_path / "common.h"
    header.write_text("#include <vector>\nusing Numbers = std::vector<int>;\n")
    prefix = toolchain.Prefix(header, tmp_path / "work", ("-O1", "-fPIC"), (tmp_path,))
    units = []
    for k in range(4):
        source = tmp_path / f"unit{k}.cpp"
        source.write_text(f'extern "C" int size{k}() {{ return static_cast<int>(Numbers({k}).size()); }}\n')
        units.append(toolchain.Unit(source, ("-O1", "-fPIC"), (tmp_path,), prefix=prefix))
    # gcc has to read the header for this one
    units.append(toolchain.Unit(source, ("-O1", "-fPIC", "-fno-access-control"), (tmp_path,), prefix=prefix))
    with ThreadPoolExecutor(3) as pool:
        objects = [path for path, _ in pool.map(toolchain.compile_unit, units)]
    gcc = "Free Software Foundation" in toolchain.compiler_identity()
    assert len(list((tmp_path / "work").rglob("*.gch"))) == (1 if gcc else 0)

    # an object does not depend on whether the header was compiled, nor where
    elsewhere = toolchain.Prefix(header, tmp_path / "elsewhere", ("-O1", "-fPIC"), (tmp_path,))
    again = toolchain.compile_unit(replace(units[0], prefix=elsewhere))[0]
    assert again == objects[0] and not (tmp_path / "elsewhere").exists()
    # another header is another object
    header.write_text("#include <string>\nusing Numbers = std::string;\n")
    with pytest.raises(toolchain.CompileError, match="Numbers"):
        toolchain.compile_unit(replace(units[1], prefix=elsewhere))


@pytest.fixture
def rewrite(build_tools, folder, tmp_path):
    """Of `kept.cpp` a function that another one calls; of `replaced.cpp` all."""
    (folder / "src" / "tiny.h").write_text("int kept();\nint inner();\nint replaced();\n")
    (folder / "src" / "kept.cpp").write_text(
        '#include "tiny.h"\nint inner() { return 1; }\nint kept() { return 10 * inner(); }\n')
    (tmp_path / "inner.cpp").write_text('#include "tiny.h"\nint inner() { return MINE; }\n')
    (tmp_path / "whole.cpp").write_text('#include "tiny.h"\nint replaced() { return MINE; }\n')
    flags = "-fPIC", "-DMINE=7"
    replacements = (
        build_tools.library.Replacement(str(tmp_path / "inner.cpp"), "kept.cpp", flags, ("_Z5innerv",)),
        build_tools.library.Replacement(str(tmp_path / "whole.cpp"), "replaced.cpp", flags))
    written_for = build_tools.cache.digest("tiny.h", folder / "src" / "tiny.h")
    (folder / "src" / "deep").mkdir()
    shutil.copy(folder / "src" / "tiny.h", folder / "src" / "deep")
    return build_tools.library.Rewrite(replacements, written_for, ("deep",), "CYPOOL_TINY_REFERENCE", "-DREWRITTEN")


def result_of(build_tools, library, work):
    """Builds a module that has the library; returns its result, and the flags for it."""
    ready = library.prepare(work)
    main = work / "main.cpp"
    main.write_text('#include "tiny.h"\nextern "C" int PyInit_main() { return 100 * kept() + replaced(); }\n')
    main_object, *objects = (build_tools.toolchain.compile_unit(unit)[0] for unit in (
        build_tools.toolchain.Unit(main, ("-fPIC",), ready.include_dirs), *ready.objects))
    units = [build_tools.toolchain.compile_unit(unit)[0] for unit in ready.units]
    build_tools.toolchain.archive(units, work / "libtiny.a")
    module = work / "main.so"
    build_tools.toolchain.link([main_object, *objects, work / "libtiny.a"], module)
    return ctypes.CDLL(str(module)).PyInit_main(), ready.flags


@pytest.mark.parametrize("given", ["", "-fno-semantic-interposition"])
def test_functions_of_a_library_are_replaced(build_tools, sdist, folder, rewrite, tmp_path, monkeypatch, capfd, given):
    monkeypatch.setenv("CYPOOL_TINY_SOURCE", str(folder))
    monkeypatch.setenv("CXXFLAGS", given)
    library = declare(build_tools, sdist, flags=("-O2", "-fPIC"), rewrite=rewrite)
    assert result_of(build_tools, library, tmp_path / "ours") == (7007, ("-DREWRITTEN",))
    assert capfd.readouterr().out == ""


@pytest.mark.parametrize("why, message", [
    ("wanted", "CYPOOL_TINY_REFERENCE=1"),
    ("no tool", "there is no objcopy"),
    ("other sources", "expected digest"),
])
def test_library_is_left_as_it_is(build_tools, sdist, folder, rewrite, tmp_path, monkeypatch, capfd, why, message):
    monkeypatch.setenv("CYPOOL_TINY_SOURCE", str(folder))
    if why == "wanted":
        monkeypatch.setenv("CYPOOL_TINY_REFERENCE", "1")
    elif why == "no tool":
        monkeypatch.setattr(build_tools.toolchain, "binutil", lambda name: None)
    else:
        (folder / "src" / "deep" / "tiny.h").write_text("changed")
    library = declare(build_tools, sdist, flags=("-O2", "-fPIC"), rewrite=rewrite)
    assert result_of(build_tools, library, tmp_path / "theirs") == (1002, ())
    assert capfd.readouterr().out.startswith(f"tiny-lib is compiled unmodified: {message}")


def test_rewrite_is_asked_for_wrongly(build_tools, sdist, folder, rewrite, tmp_path, monkeypatch):
    monkeypatch.setenv("CYPOOL_TINY_SOURCE", str(folder))
    monkeypatch.setenv("CYPOOL_TINY_REFERENCE", "yes")
    with pytest.raises(ValueError, match="CYPOOL_TINY_REFERENCE: expected 0 or 1, got 'yes'"):
        declare(build_tools, sdist, rewrite=rewrite).prepare(tmp_path / "work")


def test_weakening_what_is_not_there(build_tools, folder):
    unit = build_tools.toolchain.Unit(folder / "src" / "kept.cpp", ("-fPIC",), (folder / "src",), None, ("_Z4gonev",))
    with pytest.raises(build_tools.toolchain.CompileError, match="expected functions called _Z4gonev, found none"):
        build_tools.toolchain.compile_unit(unit)


def test_library_without_sources(build_tools, sdist, tmp_path):
    with pytest.raises(build_tools.sdist.SourceNotFound, match=r"(?s)CYPOOL_TINY_SOURCE.*CYPOOL_WITHOUT=tiny"):
        declare(build_tools, sdist).prepare(tmp_path / "work")


def test_families_are_left_out(build_tools, tmp_path, monkeypatch):
    for name, text in {"a": "", "b": "from package.envs.a.a cimport A\n", "ab": "import package.env\n"}.items():
        folder = tmp_path / "package" / "envs" / name
        folder.mkdir(parents=True)
        (folder / "ids.py").touch()
        (folder / f"{name}.pyx").write_text(text)
    monkeypatch.chdir(tmp_path)
    for without, built in (("", ["a", "ab", "b"]), ("b", ["a", "ab"]), ("a", ["ab"]), ("ab,a", [])):
        monkeypatch.setenv("CYPOOL_WITHOUT", without)
        assert [module.name.rpartition(".")[2] for module in build_tools.commands.extensions("package")] == built
    monkeypatch.setenv("CYPOOL_WITHOUT", "c")
    with pytest.raises(SystemExit, match=r"CYPOOL_WITHOUT: expected some of \['a', 'ab', 'b'\], got \['c'\]"):
        build_tools.commands.extensions("package")


def test_library_declared_wrongly(build_tools, sdist, folder, tmp_path, monkeypatch):
    monkeypatch.setenv("CYPOOL_TINY_SOURCE", str(folder))
    with pytest.raises(ValueError, match=r"tiny-lib: expected sources that match 'gone.cpp'"):
        declare(build_tools, sdist, exclude=("gone.cpp",)).prepare(tmp_path / "work")


def test_object_follows_what_it_is_made_from(build_tools, sdist, folder, tmp_path, monkeypatch):
    monkeypatch.setenv("CYPOOL_TINY_SOURCE", str(folder))
    source = folder / "src" / "kept.cpp"
    unit = build_tools.toolchain.Unit(source, ("-O1",), (folder / "src",))
    first, _ = build_tools.toolchain.compile_unit(unit)
    (folder / "src" / "tiny.h").write_text("int kept();\ninline int more() { return 1; }\n")
    second, _ = build_tools.toolchain.compile_unit(unit)
    monkeypatch.setenv("CYPOOL_CFLAGS", "-fno-inline")
    third, _ = build_tools.toolchain.compile_unit(unit)
    assert len({first, second, third}) == 3


def test_object_follows_the_cpu_where_flags_name_it(build_tools, folder, tmp_path, monkeypatch):
    """A compiler that resolves "native" to another CPU stands for another machine, with the same home folder."""
    cpu = tmp_path / "cpu"
    compiler = tmp_path / "compiler"
    compiler.write_text("#!/bin/bash\n"
                        f'[[ "$*" != *-dM* ]] || cat {cpu}\n'
                        f'exec {" ".join(build_tools.toolchain.compiler())} "${{@//=native/=$(cat {cpu})}}"\n')
    compiler.chmod(0o755)
    native = {"x86_64": ("-march=native", "x86-64-v2", "x86-64-v3"),
              "aarch64": ("-mcpu=native", "cortex-a53", "cortex-a72")}[os.uname().machine]
    monkeypatch.setenv("CXX", str(compiler))
    for name in ("compiler", "compiler_identity"):
        getattr(build_tools.toolchain, name).cache_clear()
    found = {}
    for cpu_name in native[1:]:
        cpu.write_text(cpu_name)
        build_tools.cache.native_cpu.cache_clear()
        for flags in ((), native[:1]):
            unit = build_tools.toolchain.Unit(folder / "src" / "kept.cpp", flags, (), identity="the same")
            found[flags, cpu_name] = build_tools.toolchain.compile_unit(unit)[0]
    assert found[(), native[1]] == found[(), native[2]]
    assert len(set(found.values())) == 3


def test_edited_sources_have_a_key_of_their_own(build_tools, sdist, tarball, tmp_path, monkeypatch):
    """The files that a build unpacks stay in build/, where people look at them and try things."""
    monkeypatch.setenv("CYPOOL_TINY_SOURCE", str(tarball))

    def compiled(work):
        ready = declare(build_tools, sdist).prepare(work)
        return {unit.source.name: build_tools.toolchain.compile_unit(unit)[0] for unit in ready.units}

    pristine = compiled(tmp_path / "one")
    (path,) = (tmp_path / "one").rglob("kept.cpp")
    path.write_text(path.read_text().replace("return 1", "return 5"))
    edited = compiled(tmp_path / "one")
    assert edited["kept.cpp"].read_bytes() != pristine["kept.cpp"].read_bytes()
    assert compiled(tmp_path / "two") == pristine
    # a header counts for all that may include it
    (path,) = (tmp_path / "two").rglob("tiny.h")
    path.write_text("#define MORE 1\n" + path.read_text())
    assert not set(compiled(tmp_path / "two").values()) & set(pristine.values())


@pytest.fixture
def checkout(build_tools, tmp_path):
    """A project with one small module, that is built as ours is."""
    pytest.importorskip("Cython")
    top = tmp_path / "checkout"
    shutil.copytree(ROOT / "build_tools", top / "build_tools", ignore=shutil.ignore_patterns("__pycache__"))
    (top / "include").mkdir()
    package = top / "cypool"
    (package / "util").mkdir(parents=True)
    shutil.copy(ROOT / "cypool" / "util" / "cache.py", package / "util")
    (package / "__init__.py").touch()
    (package / "small.pyx").write_text("def f():\n    return 1\n")
    (top / "setup.py").write_text("""
import sys
from setuptools import setup
sys.path.insert(0, ".")
from build_tools.commands import BuildExt, BuildPy, extensions
setup(name="small", packages=["cypool"], ext_modules=extensions("cypool"),
      cmdclass={"build_ext": BuildExt, "build_py": BuildPy})
""")

    def start(*arguments, before=()):
        return subprocess.Popen([*before, sys.executable, "setup.py", "-q", *arguments], cwd=top, text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

    return top, start


def test_a_build_waits_for_another(checkout):
    top, start = checkout
    (top / "build").mkdir()
    with (top / "build" / ".lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        process = start("build")
        # ends with the process, if it does not wait
        first = process.stdout.readline()
        made = list(top.rglob("*.so"))
    rest, _ = process.communicate(timeout=300)
    assert first.startswith("another build is at work in this folder: waiting"), first + rest
    assert not made and process.returncode == 0, rest
    assert len(list(top.rglob("*.so"))) == 1


def test_a_build_on_a_full_disk_is_one_sentence(checkout):
    """A limit of the size of files stands for the disk: writing more fails in the same way."""
    top, start = checkout
    said, _ = (process := start("build", before=("sh", "-c", 'ulimit -f 2000 && exec "$@"', "sh"))).communicate(
        timeout=300)
    assert process.returncode == 1
    assert said == (f"error: {top / 'build'} is full: expected 300 MB for a build; free them, or build a copy of these "
                    "sources elsewhere\n")


def test_a_build_with_a_full_cache_takes_a_temporary_folder(checkout, tmp_path, monkeypatch):
    small = tmp_path / "small"
    small.mkdir()
    mount = ("unshare", "-Urm", "sh", "-c", f'mount -t tmpfs -o size=9M,mode=755 small "{small}" && exec "$@"', "sh")
    if not shutil.which("unshare") or subprocess.run([*mount, "true"], capture_output=True, timeout=300).returncode:
        pytest.skip("no file system can be mounted here")
    monkeypatch.setenv("CYPOOL_CACHE", str(small))
    top, start = checkout
    said, _ = (process := start("build", before=mount)).communicate(timeout=300)
    assert process.returncode == 0 and said.startswith(f"{small} has no room for 150 MB: new files are in "), said
    assert len(list(top.rglob("*.so"))) == 1


@pytest.mark.slow
def test_two_builds_in_one_checkout(checkout):
    top, start = checkout
    processes = [start("bdist_wheel", "--dist-dir", f"dist{k}", "--bdist-dir", f"bdist{k}") for k in range(2)]
    for process in processes:
        said, _ = process.communicate(timeout=300)
        assert process.returncode == 0, said
    for k in range(2):
        (wheel,) = (top / f"dist{k}").iterdir()
        assert [name for name in zipfile.ZipFile(wheel).namelist() if name.endswith(".so")]


@pytest.mark.parametrize("standard", ["-std=c++17", "-std=gnu++17", "--std=c++17"])
def test_cxxflags_with_an_older_standard_leave_ours(build_tools, tmp_path, monkeypatch, standard):
    """The flags that conda's compilers export."""
    conda = f"-fvisibility-inlines-hidden {standard} -fmessage-length=0 -ftree-vectorize -fPIC -fno-plt -O2"
    monkeypatch.setenv("CXXFLAGS", conda)
    source = tmp_path / "new.cpp"
    source.write_text("#include <concepts>\nstatic_assert(std::integral<int>);\n")
    unit = build_tools.toolchain.Unit(source, build_tools.commands.FLAGS, ())
    assert "-fno-plt" in build_tools.toolchain.all_flags(unit)
    assert build_tools.toolchain.compile_unit(unit)[0].stat().st_size


def test_a_compiler_that_is_not_there_is_named(checkout, monkeypatch):
    _, start = checkout
    monkeypatch.setenv("CXX", "no-such-compiler -m64")
    said, _ = (process := start("build")).communicate(timeout=300)
    assert process.returncode == 1 and said == (
        "error: CXX: expected the command of a C++20 compiler, such as g++ 12 or clang++ 16, got 'no-such-compiler', "
        "which is no command here\n")
    monkeypatch.delenv("CXX")
    monkeypatch.setenv("CC", "no-such-compiler")
    said, _ = (process := start("build")).communicate(timeout=300)
    assert process.returncode == 0 and said.startswith("CC=no-such-compiler is not used: all sources are C++."), said


def test_compile_error_shows_command_and_reason(build_tools, folder):
    unit = build_tools.toolchain.Unit(folder / "src" / "broken.cpp", (), (), "some identity")
    shown = r"(?s)status 1 from\n.*broken.cpp -o .*error: .*does"
    with pytest.raises(build_tools.toolchain.CompileError, match=shown):
        build_tools.toolchain.compile_unit(unit)


def test_cython_error_shows_place_and_reason(build_tools, tmp_path, monkeypatch):
    pytest.importorskip("Cython")
    monkeypatch.chdir(tmp_path)
    Path("house").mkdir()
    Path("house", "top.pyx").write_text("cdef int number = unheard_of\n")
    with pytest.raises(build_tools.toolchain.CompileError,
                       match=r"(?s)Cython could not translate house/top.pyx\n.*top.pyx:1:.*unheard_of"):
        build_tools.cythonize.generate("house.top", Path("house", "top.pyx"), tmp_path / "top.cpp")
    # the worker continues
    Path("house", "top.pyx").write_text("cdef int number = 3\n")
    build_tools.cythonize.generate("house.top", Path("house", "top.pyx"), tmp_path / "top.cpp")
    assert "number" in (tmp_path / "top.cpp").read_text()


@pytest.mark.parametrize("statement", [
    "from house cimport depth", "from house.depth cimport (\n    depth_of,\n)", "from . cimport depth as d",
    "from house \\\n    cimport depth", "cimport house.depth", "from house.width cimport *"])
def test_cython_runs_again_where_a_declaration_changed(build_tools, tmp_path, monkeypatch, statement):
    monkeypatch.chdir(tmp_path)
    calls = []
    monkeypatch.setattr(build_tools.cythonize, "_versions", str)
    monkeypatch.setattr(build_tools.cythonize, "_translate",
                        lambda module, source, target: calls.append(source) or Path(target).write_text("") or "")
    Path("house").mkdir()
    Path("house", "__init__.pxd").touch()
    Path("house", "top.pyx").write_text(f"# of {tmp_path}\n{statement}\n")
    Path("house", "width.pxd").write_text("from house.depth cimport depth_of\n")
    Path("house", "unused.pxd").touch()
    runs = []
    for path, text in ((None, ""), ("unused.pxd", "cdef int number"), ("depth.pxd", "cdef int depth_of()"),
                       ("depth.pxd", "cdef long depth_of()"), ("top.pxd", "cdef class Top"), ("top.pxd", ""),
                       ("__init__.pxd", "cdef int number")):
        if path:
            Path("house", path).write_text(text)
        build_tools.cythonize.generate("house.top", Path("house", "top.pyx"), tmp_path / "top.cpp")
        runs.append(len(calls))
    assert runs == [1, 1, 2, 3, 4, 5, 6]


def test_cython_worker_that_dies(build_tools, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(build_tools.cythonize.sys, "executable", "/bin/false")
    monkeypatch.setattr(build_tools.cythonize, "_versions", lambda: "")
    Path("house").mkdir()
    Path("house", "top.pyx").touch()
    with pytest.raises(build_tools.toolchain.CompileError, match="Cython ended with status 1 at house/top.pyx"):
        build_tools.cythonize.generate("house.top", Path("house", "top.pyx"), tmp_path / "top.cpp")


def test_libraries_of_families_are_pinned_and_their_files_are_there(build_tools, monkeypatch):
    """On aarch64 gcc fuses multiplications and additions, unless a flag forbids it."""
    monkeypatch.chdir(ROOT)
    assert "-ffp-contract=off" in build_tools.commands.FLAGS
    for declaration in ROOT.glob("cypool/envs/*/build.py"):
        library = build_tools.library.declared_in(declaration.parent)
        replacements = library.rewrite.replacements if library.rewrite else ()
        assert library.family == declaration.parent.name and len(library.sdist.sha256) == 64
        for path in (*library.replace.values(), *library.own_include_dirs, *library.private_include_dirs,
                     *(each.source for each in replacements)):
            assert Path(path).exists()
        for flags in library.flags, *(each.flags for each in replacements):
            assert "-ffp-contract=off" in flags


def test_modules_show_nothing_but_themselves():
    """ale_py, in the same process, exports ALE's symbols: ours must neither take nor replace them."""
    package = importlib.util.find_spec("cypool")
    if package is None or not package.submodule_search_locations:
        pytest.skip("cypool is not installed")
    modules = [path for folder in package.submodule_search_locations for path in Path(folder).rglob("*.so")]
    assert modules
    for path in modules:
        shown = subprocess.check_output(["nm", "-D", "--defined-only", path], text=True, timeout=300)
        assert [line.split()[-1] for line in shown.splitlines()] == [f"PyInit_{path.name.split('.')[0]}"]


def test_cython_has_nothing_to_say(build_tools, tmp_path, monkeypatch):
    """No warning, and no performance hint: those report calls that take the GIL back each time."""
    pytest.importorskip("Cython")
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("CYPOOL_CACHE", USERS_CACHE)  # keeps the output of the last build
    sources = sorted(Path("cypool").rglob("*.pyx"))

    def generate(source):
        module = ".".join(source.with_suffix("").parts)
        return build_tools.cythonize.generate(module, source, tmp_path / source.with_suffix(".cpp"))[1]

    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        said = dict(zip(map(str, sources), pool.map(generate, sources), strict=True))
    assert not any(said.values()), said


def test_cython_sees_changed_pxd(build_tools, tmp_path, monkeypatch):
    """A module is made again when a .pxd that it cimports, in any form, has changed."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "house").mkdir()
    (tmp_path / "house" / "__init__.pxd").touch()
    (tmp_path / "house" / "low.pxd").write_text("ctypedef int number\n")
    source = Path("house", "top.pyx")
    source.write_text("from house cimport low as l\ncdef l.number x = 1\n")

    def generate():
        build_tools.cythonize.generate("house.top", source, tmp_path / "top.cpp")
        return (tmp_path / "top.cpp").read_text()

    assert "typedef int" in generate()
    (tmp_path / "house" / "low.pxd").write_text("ctypedef double number\n")
    assert "typedef double" in generate()
