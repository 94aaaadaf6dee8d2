"""`cypool.compile`: an environment from a file or a text, compiled when it has changed."""
import os
import pickle
import pty
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from waiting import LIMIT, run_program

import cypool
import cypool.tools.compile as compile_module
from cypool.tools.cli.new import TEMPLATE
from cypool.tools.compile import load

TEXT = (TEMPLATE / "my_env" / "my_env.pyx").read_text()
CELL = TEXT.replace("MyEnv", "Cell")


@pytest.fixture(scope="module", autouse=True)
def cache(tmp_path_factory, plugin_path):
    """A separate cache, which is empty; the plug-in's is the one of before."""
    folder = tmp_path_factory.mktemp("cache")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CYPOOL_CACHE", str(folder))
        yield folder


def modules(cache):
    return sorted(cache.rglob("*.so"))


def test_file_is_compiled_when_it_has_changed(cache, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = Path("beam.pyx")
    path.write_text(TEXT)
    assert cypool.compile("beam.pyx", max_episode_steps=30, half_length=0.5) == "local/MyEnv-v0"
    env = cypool.make("local/MyEnv-v0", num_envs=4, num_threads=2, seed=2)
    obs, info = env.reset()
    assert obs.shape == (4, 3) and info["gust"].shape == (4,)
    assert env.env_spec.max_episode_steps == 30 and env.env_spec.options == {"half_length": 0.5}
    assert list(tmp_path.iterdir()) == [tmp_path / "beam.pyx"]
    made = modules(cache)
    assert len(made) == 1

    # the same again
    assert cypool.compile(path.absolute()) == "local/MyEnv-v0" and modules(cache) == made
    assert cypool.make("local/MyEnv-v0").env_spec.options == {"half_length": 1.0}

    # another one under the same name; existing pools keep theirs
    path.write_text(TEXT.replace("self.reward = 1", "self.reward = 2.5"))
    cypool.compile(path)
    assert len(modules(cache)) == 2
    changed = cypool.make("local/MyEnv-v0")
    changed.reset()
    assert changed.step([1])[1] == [2.5] and (env.step([1] * 4)[1] == 1).all()

    # in a process that finds no compiler
    done = run_program(sys.executable, "-c", "import cypool, cypool.tools.compile as compile_module; "
                       f"compile_module.FLAGS = {compile_module.FLAGS}; print(cypool.compile('beam.pyx'))",
                       check=True, env={**os.environ, "PATH": ""})
    assert done.stdout == "local/MyEnv-v0\n"


@pytest.mark.slow
def test_what_is_included_counts(cache, tmp_path):
    path, header = tmp_path / "half.pyx", tmp_path / "half.h"
    header.write_text("#define HALF 0.5\n")
    path.write_text('cdef extern from "half.h":\n    double HALF\n\ndef half():\n    return HALF\n')
    assert load(path).half() == 0.5
    header.write_text("#define HALF 0.25\n")
    assert load(path).half() == 0.25


def test_text_is_compiled():
    id = cypool.compile(CELL)
    assert id == "local/Cell-v0"
    obs, _ = cypool.make(id, num_envs=2, seed=3).reset()
    start = [np.random.default_rng(3 + i).uniform(-0.1, 0.1) for i in range(2)]
    assert (obs[:, 0] == np.array(start, np.float32)).all()


def test_progress_shows_in_a_terminal(tmp_path):
    terminal, stderr = pty.openpty()
    try:
        done = subprocess.run([sys.executable, "-c", "import cypool; cypool.compile('wrong =\\n')"], stderr=stderr,
                              stdout=subprocess.PIPE, cwd=tmp_path, timeout=LIMIT)
        os.close(stderr)
        said = os.read(terminal, 100_000).decode()
    finally:
        os.close(terminal)
    assert done.returncode and done.stdout == b"" and "compiling cell.pyx" in said


def test_errors_show_the_authors_lines(tmp_path):
    path = tmp_path / "wrong.pyx"
    path.write_text(TEXT.replace("sin(self.angle)", "sin(self.angle, 2)"))
    line = 1 + TEXT.splitlines().index("        self.velocity += 0.02 * (9.8 * sin(self.angle) + self.gust)")
    with pytest.raises(cypool.CompileError) as caught:
        cypool.compile(path)
    said = str(caught.value)
    assert said.startswith("wrong.pyx does not compile") and "sin(self.angle, 2)" in said
    assert f"{path}:{line}:" in said and "wrong number of arguments" in said
    with pytest.raises(cypool.CompileError, match=rf"cell.pyx:{line}:"):
        cypool.compile(path.read_text())


def test_errors_of_the_cpp_compiler_do_too(tmp_path):
    path = tmp_path / "wrong.pyx"
    path.write_text("cdef extern from *:\n    int not_there(int x)\n\n\ndef f():\n    return not_there(3)\n")
    with pytest.raises(cypool.CompileError, match=r"(?s)wrong.pyx:6:.*error.*not_there"):
        load(path)


def test_the_first_error_is_shown(tmp_path):
    """Those that follow from it do not bury it."""
    path = tmp_path / "wrong.pyx"
    path.write_text("cdef int first() nogil:\n    return missing\n\n\n" + "\n".join(
        f"cdef int f{k}():\n    return first(1, 2)\n\n" for k in range(3)))
    with pytest.raises(cypool.CompileError) as caught:
        load(path)
    said = str(caught.value)
    assert said.startswith("wrong.pyx does not compile:\n\ncdef int first() nogil:\n    return missing\n")
    assert f"{path}:2:11: undeclared name not builtin: missing" in said and "first(1, 2)" not in said
    more = caught.value.output.count("Error compiling Cython file:") - 1
    assert said.endswith(f"\n\n{more} more errors, perhaps because of this one: see the exception's `output`")
    assert caught.value.output.count("first(1, 2)") >= 3
    again = pickle.loads(pickle.dumps(caught.value))
    assert (str(again), again.output) == (said, caught.value.output)


GCC = """/tmp/a.pyx: In function 'int f()':
/tmp/a.pyx:3:5: warning: unused variable 'x'
In file included from /tmp/a.pyx:4:
/tmp/a.h:1:7: error: 'y' was not declared
    1 | int x(y);
      |       ^
/tmp/a.h:1:7: note: suggested alternative: 'x'
/tmp/a.pyx:8:5: warning: unused variable 'z'
/tmp/a.pyx:9:5: error: 'x' was not declared
error: command '/usr/bin/g++' failed with exit code 1"""


def test_the_first_error_of_a_cpp_compiler_has_its_context():
    assert compile_module._first_error(GCC) == "\n".join(GCC.splitlines()[2:7]) + (
        "\n\n1 more error, perhaps because of this one: see the exception's `output`")
    assert compile_module._first_error("Killed") == "Killed"


def test_hints_are_warnings(tmp_path):
    path = tmp_path / "slow.pyx"
    path.write_text("cdef void f(int* x) nogil:\n    x[0] = 1\n\ncdef void g(int* x) nogil:\n    f(x)\n")
    with pytest.warns(UserWarning, match="slow.pyx: performance hint"):
        load(path)


BARE = """
from cypool.spec import Array, Discrete, EnvSpec
from cypool.env cimport Env

cdef class A(Env):
    @staticmethod
    def describe():
        return EnvSpec(Array((1,), "f4"), Discrete(2))

cdef class B(A):
    pass

def nothing():
    pass
"""


@pytest.mark.slow
def test_one_of_several_classes():
    with pytest.raises(ValueError, match="name: expected one of the environments in the source, A, B, got None"):
        cypool.compile(BARE)
    assert cypool.compile(BARE, "B") == "local/B-v0"
    with pytest.raises(ValueError, match="name: .* A, B, got 'C'"):
        cypool.compile(BARE, "C")


@pytest.mark.parametrize(("source", "error", "message"), [
    ("not_there.pyx", FileNotFoundError, "not_there.pyx"),
    ("env.py", ValueError, "source: expected a path that ends in .pyx"),
    (3, TypeError, "source: expected a path or the text of a .pyx, got 3"),
    ("my-env.pyx", ValueError, "source: expected a file name that is a valid module name"),
])
def test_wrong_sources(source, error, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my-env.pyx").write_text(TEXT)
    with pytest.raises(error, match=message):
        cypool.compile(source)


def test_without_cython(run_python):
    done = run_python("import sys, cypool; sys.modules['Cython'] = None; cypool.compile('def f():\\n    pass\\n')")
    assert "ImportError: compiling an environment needs Cython: pip install" in done.stderr


def test_a_cache_without_a_place(tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.setenv("CYPOOL_CACHE", str(tmp_path / "file"))
    with pytest.raises(cypool.CompileError, match="CYPOOL_CACHE: expected a folder"):
        cypool.compile(TEXT)


@pytest.mark.parametrize("whose", ["everybody's", "another user's"])
def test_a_cache_of_strangers(whose, tmp_path, monkeypatch):
    monkeypatch.setenv("CYPOOL_CACHE", str(tmp_path))
    if whose == "everybody's":
        tmp_path.chmod(0o1777)
    elif os.geteuid() == 0:
        os.chown(tmp_path, 54321, -1)
    else:
        monkeypatch.setattr(os, "geteuid", lambda: 54321)
    with pytest.raises(cypool.CompileError, match=r"CYPOOL_CACHE: expected a folder that belongs to you or root and "
                                                  r".*, got .* owned by user \d+ with mode \d+ \(you are user \d+\)"):
        load("def f():\n    return 1\n")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_a_damaged_module_is_compiled_again(cache, run_python):
    code = "from cypool.tools.compile import load; print(load('# damage\\ndef f():\\n    return 7\\n').f())"
    before = set(modules(cache))
    assert run_python(code).stdout == "7\n"
    (path,) = set(modules(cache)) - before
    size = path.stat().st_size
    os.truncate(path, size // 2)
    assert run_python(code, check=True).stdout == "7\n"
    assert path.stat().st_size == size


def test_what_a_module_is_compiled_against(monkeypatch, tmp_path):
    files = {path.name for path in compile_module._contract()}
    assert {"env.pxd", "frame_stack.pxd", "engine.pxd", "slot.h"} <= files
    folder = tmp_path / "cypool"
    package = Path(cypool.__file__).parent
    for path in package.rglob("*.pxd"):
        (folder / path.relative_to(package)).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, folder / path.relative_to(package))
    keys = [compile_module._key(None, TEXT)]
    assert keys[0] == compile_module._key(None, TEXT)
    include = cypool.get_include()
    monkeypatch.setattr(cypool, "get_include", lambda: include)
    monkeypatch.setattr(cypool, "__file__", str(folder / "__init__.py"))
    assert compile_module._key(None, TEXT) == keys[0]
    with (folder / "envs" / "shared" / "pixels" / "frame_stack.pxd").open("a") as file:
        file.write("# changed\n")
    keys.append(compile_module._key(None, TEXT))
    for project in ("cypool", "Cython", "numpy"):
        with monkeypatch.context() as patch:
            patch.setattr(compile_module, "_version", lambda name, changed=project: "9.9" if name == changed else "1.0")
            keys.append(compile_module._key(None, TEXT))
    assert len(set(keys)) == 5
    assert compile_module._version("no-such-project") == "none"


def test_the_cpu_counts_where_flags_name_it(monkeypatch, tmp_path):
    """Of a home folder that several machines share; a compiler that reports another CPU stands for another machine."""
    def key(flags, cpu):
        compiler = tmp_path / "c++"
        compiler.write_text(f"#!/bin/sh\necho '#define __{cpu}__ 1'\n")
        compiler.chmod(0o755)
        monkeypatch.setenv("CXX", str(compiler))
        monkeypatch.setenv("CFLAGS", flags)
        compile_module.cache.native_cpu.cache_clear()
        return compile_module._key(None, TEXT)

    assert key("-O1", "zen") == key("-O1", "skylake")
    for flag in ("-march=native", "-mcpu=native", "-mtune=native"):
        assert key(f"-O1 {flag}", "zen") != key(f"-O1 {flag}", "skylake")
    (tmp_path / "c++").unlink()
    compile_module.cache.native_cpu.cache_clear()
    with pytest.raises(cypool.CompileError, match="expected a compiler that reports what flags like -march=native "):
        compile_module._key(None, TEXT)
    compile_module.cache.native_cpu.cache_clear()


def test_threads_that_compile_the_same_get_one_module(monkeypatch):
    made, make = [], compile_module._make

    def counted(path, text, name, target):
        made.append(name)
        return make(path, text, name, target)

    monkeypatch.setattr(compile_module, "_make", counted)
    text = BARE + "\n# in threads\n"
    with ThreadPoolExecutor(8) as threads:
        ids = set(threads.map(lambda _: cypool.compile(text, "B"), range(8)))
    assert ids == {"local/B-v0"} and len(made) == 1


def test_threads_that_import_the_same_for_the_first_time_get_it_whole(run_forked):
    cypool.compile(CELL)
    assert run_forked(f"""
from concurrent.futures import ThreadPoolExecutor
import cypool, cypool.tools.compile as compile_module
compile_module.FLAGS = {compile_module.FLAGS}
with ThreadPoolExecutor(8) as threads:
    print(set(threads.map(lambda _: cypool.compile({CELL!r}), range(8))))
""", check=True).stdout == "{'local/Cell-v0'}\n"


def test_threads_that_import_it_first_find_pythons_configuration_whole(run_forked):
    assert run_forked("""
import sys, sysconfig, threading
from concurrent.futures import ThreadPoolExecutor
sys.setswitchinterval(1e-6)
together = threading.Barrier(8)
def suffix(_):
    together.wait(60)
    import cypool.tools.compile
    return sysconfig.get_config_var("EXT_SUFFIX")
with ThreadPoolExecutor(8) as threads:
    print(None in threads.map(suffix, range(8)))
""", check=True).stdout == "False\n"
