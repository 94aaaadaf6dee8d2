"""`cypool.compile`: an environment from a file or a text, compiled when it has changed."""
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import cypool
from cypool.__main__ import TEMPLATE
from cypool.build import load

TEXT = (TEMPLATE / "my_env" / "my_env.pyx").read_text()


@pytest.fixture(scope="module", autouse=True)
def cache(tmp_path_factory):
    """A cache of its own, which is empty."""
    folder = tmp_path_factory.mktemp("cache")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CYPOOL_CACHE", str(folder))
        yield folder


def modules(cache):
    return sorted(cache.rglob("*.so"))


def test_a_file(cache, tmp_path, monkeypatch):
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

    # another one under the same name; what there is goes on
    path.write_text(TEXT.replace("self.reward = 1", "self.reward = 2.5"))
    cypool.compile(path)
    assert len(modules(cache)) == 2
    changed = cypool.make("local/MyEnv-v0")
    changed.reset()
    assert changed.step([1])[1] == [2.5] and (env.step([1] * 4)[1] == 1).all()

    # in a process that finds no compiler
    done = subprocess.run([sys.executable, "-c", "import cypool; print(cypool.compile('beam.pyx'))"], text=True,
                          capture_output=True, env={**os.environ, "PATH": ""})
    assert done.stdout == "local/MyEnv-v0\n", done.stderr


def test_what_is_included_counts(cache, tmp_path):
    path, header = tmp_path / "half.pyx", tmp_path / "half.h"
    header.write_text("#define HALF 0.5\n")
    path.write_text('cdef extern from "half.h":\n    double HALF\n\ndef half():\n    return HALF\n')
    assert load(path).half() == 0.5
    header.write_text("#define HALF 0.25\n")
    assert load(path).half() == 0.25


def test_a_text():
    id = cypool.compile(TEXT.replace("class MyEnv", "class Cell"))
    assert id == "local/Cell-v0"
    obs, _ = cypool.make(id, num_envs=2, seed=3).reset()
    start = [np.random.default_rng(3 + i).uniform(-0.1, 0.1) for i in range(2)]
    assert (obs[:, 0] == np.array(start, np.float32)).all()


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


def test_one_of_several_classes():
    with pytest.raises(ValueError, match="name: expected one of the environments of the source, A, B, got None"):
        cypool.compile(BARE)
    assert cypool.compile(BARE, "B") == "local/B-v0"
    with pytest.raises(ValueError, match="name: .* A, B, got 'C'"):
        cypool.compile(BARE, "C")


@pytest.mark.parametrize(("source", "error", "message"), [
    ("not_there.pyx", FileNotFoundError, "not_there.pyx"),
    ("env.py", ValueError, "source: expected a path that ends in .pyx"),
    (3, TypeError, "source: expected a path or the text of a .pyx, got 3"),
    ("my-env.pyx", ValueError, "source: expected a file with a name that a module can have"),
])
def test_wrong_sources(source, error, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my-env.pyx").write_text(TEXT)
    with pytest.raises(error, match=message):
        cypool.compile(source)


def test_without_cython(run_python):
    done = run_python("import sys, cypool; sys.modules['Cython'] = None; cypool.compile('def f():\\n    pass\\n')")
    assert "ImportError: compiling an environment takes Cython: pip install" in done.stderr


def test_a_cache_without_a_place(tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.setenv("CYPOOL_CACHE", str(tmp_path / "file"))
    with pytest.raises(cypool.CompileError, match="CYPOOL_CACHE: expected a folder"):
        cypool.compile(TEXT)
