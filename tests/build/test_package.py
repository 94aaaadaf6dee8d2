"""The package as it is installed: light to import, complete for plug-ins."""
import re
import sysconfig
import tomllib
from pathlib import Path

import pytest

import cypool

pytestmark = pytest.mark.families("atari")
ROOT = Path(__file__).resolve().parents[2]


def test_import_is_quiet_and_loads_nothing_heavy(run_python):
    done = run_python("import cypool, sys; print(*sorted({name.partition('.')[0] for name in sys.modules}))")
    assert done.stderr == ""
    assert not {"numpy", "gymnasium", "ale_py", "cv2", "torch"} & set(done.stdout.split())


@pytest.mark.skipif(not sysconfig.get_config_var("Py_GIL_DISABLED"), reason="this Python always has the GIL")
def test_no_module_switches_the_gil_on(run_python, monkeypatch):
    # with it, it stays off, whatever modules say
    monkeypatch.delenv("PYTHON_GIL", raising=False)
    done = run_python("""
import importlib, pathlib, sys
import cypool
package = pathlib.Path(cypool.__file__).parent
for path in sorted(package.rglob("*.so")):
    name = ".".join(path.relative_to(package.parent).parts).partition(".cpython-")[0]
    try:
        importlib.import_module(name)
    except ImportError as error:
        # without MuJoCo, say
        print(name, error)
    assert not sys._is_gil_enabled(), name
env = cypool.make("CartPole-v1", num_envs=8, num_threads=2)
env.reset()
print(env.step([0] * 8)[0].shape)""")
    assert done.stdout.endswith("(8, 4)\n") and done.stderr == "", done.stdout + done.stderr


@pytest.mark.parametrize(("change", "said"), [
    ("np.dot = lambda a, b: 7.0", "expected its dot product to return 7.0, got 843.98"),
    ("np.sin = np.vectorize(np.sin)", "with the fields of numpy/ufuncobject.h"),
    ("np.cos = np.logical_not", "expected a loop for type 'd->d'"),
])
def test_another_numpy_inside_is_an_import_error(run_python, change, said):
    """cypool checks the internals of NumPy before it uses them."""
    done = run_python(f"import numpy as np; {change}; import cypool.envs.shared.numerics.numpy_math")
    assert "ImportError: " in done.stderr and said in done.stderr, done.stderr


def test_listing_loads_no_family(run_python):
    done = run_python("import cypool, sys; cypool.list_all_envs(); print(*sys.modules)")
    heavy = {"numpy", "ale_py", "cypool.envs.atari.atari", "cypool.envs.classic_control.classic_control",
             "cypool.testing"}
    assert not heavy & set(done.stdout.split())


@pytest.mark.families("atari")
def test_atari_does_not_import_ale_py(run_python):
    done = run_python("import cypool, sys; cypool.make('Pong-v5').reset(); print(*sys.modules)")
    assert done.stderr == "" and "ale_py" not in done.stdout.split()


def test_headers_and_pxd_files_are_there():
    # the headers that plug-ins compile against, and nothing private
    include = Path(cypool.get_include())
    headers = sorted(str(path.relative_to(include)) for path in include.rglob("*") if path.is_file())
    assert headers == [f"cypool/{name}.h" for name in ("access", "mujoco", "policy", "rng", "slot", "transition")]
    package = Path(cypool.__file__).parent
    for name in ("env.pxd", "engine/engine.pxd", "envs/shared/pixels/frame_stack.pxd"):
        assert (package / name).is_file()


@pytest.mark.skipif(not (ROOT / "cypool" / "env.pyx").is_file(), reason="there are no sources in this tree")
def test_no_module_has_typed_memoryviews():
    """Each would bring ten thousand lines of C++ to its module."""
    sources = [path for suffix in ("pyx", "pxd") for path in (ROOT / "cypool").rglob(f"*.{suffix}")]
    found = [str(path) for path in sources
             if re.search(r"^\s*cdef [^=(]*\w\[:|<[\w ]+\[:", path.read_text(), re.MULTILINE)]
    assert sources and not found


def test_public_names_have_docstrings():
    for name in cypool.__all__:
        assert getattr(cypool, name).__doc__


def test_the_working_directory_stays_clean(run_forked, tmp_path):
    done = run_forked("import cypool; e = cypool.make('Breakout-v5', num_envs=2); e.reset(); e.step([0, 0])",
                      cwd=tmp_path)
    assert done.returncode == 0 and not list(tmp_path.iterdir())


def test_the_uncompiled_source_says_so(run_python, tmp_path):
    (tmp_path / "cypool").mkdir()
    source = Path(cypool.__file__).read_text()
    (tmp_path / "cypool" / "__init__.py").write_text(source)
    done = run_python("import cypool", cwd=tmp_path)
    assert "is cypool's uncompiled source. To import the installed cypool, start Python in" in done.stderr


@pytest.mark.skipif(not (ROOT / "README.md").is_file(), reason="there is no README in this tree")
def test_the_first_lines_of_the_readme_run_where_it_leaves_the_reader(run_python):
    text = (ROOT / "README.md").read_text()
    commands, snippet = re.search(r"```\n(.*?)```.*?```python\n(.*?)```", text, re.DOTALL).groups()
    *_, install, leave = commands.splitlines()
    assert install.startswith("pip install ") and leave.startswith("cd ")
    assert not run_python(snippet, cwd=ROOT / leave.removeprefix("cd ")).stderr


def test_dir_has_what_is_public_before_it_is_used(run_python):
    done = run_python("import cypool; print(set(dir(cypool)) ^ set(cypool.__all__))")
    assert eval(done.stdout) == {"__version__", "testing", "tools"}
    assert run_python("import cypool; print(dir(cypool.tools))").stdout == "['compile']\n"


def test_help_is_for_users(run_python):
    done = run_python("import pydoc, cypool; print(pydoc.plain(pydoc.render_doc(cypool)))")
    assert "class TreeSearch" in done.stdout and "make(id: " in done.stdout
    description = done.stdout.partition("PACKAGE CONTENTS")[0]
    assert "scheduler" not in description and not done.stderr
    listed = re.findall(r"\w+", description.partition("\n        Pools ")[2].partition("\n        Modules ")[0])
    assert set(cypool.__all__) <= set(listed)


def test_lower_bounds_are_those_that_ci_installs():
    """Every requirement has a lower bound, and .ci/lowest.txt has the same."""
    from packaging.requirements import Requirement
    from packaging.version import Version

    lowest = ROOT / ".ci" / "lowest.txt"
    if not lowest.is_file():
        pytest.skip("the tests of an sdist are without .ci")
    pins = dict(line.lower().split("==") for line in lowest.read_text().splitlines() if not line.startswith("#"))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    groups = {"dependencies": project["project"]["dependencies"],
              **project["project"]["optional-dependencies"]}
    found = {}
    for group, lines in groups.items():
        for wanted in map(Requirement, lines):
            # any pip says where packages come from; and an extra may name others, or only extras of a dependency
            if wanted.name not in ("pip", "cypool") and not (wanted.extras and not wanted.specifier):
                bounds = [each.version for each in wanted.specifier if each.operator in (">=", "==")]
                assert len(bounds) == 1, f"{group}: expected one lower bound, got {wanted}"
                found.setdefault(wanted.name.lower(), set()).update(bounds)
    # a pin may be left of a family that was deleted
    assert found == {name: {pins.get(name)} for name in found}
    # the error of an adapter for an older library; one that no extra can name says how it is installed
    for path in (ROOT / "cypool" / "adapters").glob("*.py"):
        for name, least in re.findall(r'^.*require\("[\w.]+", "([\w-]+)", "([\d.]+)"(?!.*install=)', path.read_text(),
                                      re.MULTILINE):
            assert Version(least) == Version(pins[name]), path


def test_hooks_and_ci_use_the_same_linters():
    hooks, run = ROOT / ".pre-commit-config.yaml", ROOT / ".ci" / "run"
    if not hooks.is_file():
        pytest.skip("the tests of an sdist are without hooks")
    pins = set(re.findall(r"\b(ruff|cython-lint|clang-format)==([\d.]+)", hooks.read_text()))
    assert len(pins) == 3
    assert pins <= set(re.findall(r"([\w-]+)==([\d.]+)", run.read_text()))
