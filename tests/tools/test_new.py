"""`cypool new` writes a package that installs, is found, and passes its own tests."""
import os
import sys
import tomllib
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import pytest
from waiting import run_program

from cypool.tools.cli import main
from cypool.tools.cli.new import TEMPLATE, new

PAGE = Path(__file__).parents[2] / "docs" / "tutorials" / "own_environment.md"


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """The package gust_beam, as written, installed into an environment that has all that this one has."""
    folder = tmp_path_factory.mktemp("new")
    # seen from there, the folder must not be taken for the package
    package = new("gust_beam", folder / "gust_beam")
    run_program(sys.executable, "-m", "venv", "--without-pip", folder / "venv", check=True)
    python = folder / "venv" / "bin" / "python"
    (site,) = (folder / "venv" / "lib").glob("python*/site-packages")
    # also the folders that their .pth files name
    here = [path for path in sys.path if os.path.isdir(path) and not path.startswith(sys.base_prefix + os.sep)]
    (site / "all.pth").write_text("".join(f"import site; site.addsitedir({path!r})\n" for path in here))
    env = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    run_program(sys.executable, "-m", "pip", "--python", python, "install", "--quiet", "--no-index",
                "--no-build-isolation", "--no-deps", "-e", package, check=True, env=env, timeout=600)
    return SimpleNamespace(folder=package, run=partial(run_program, python, cwd=folder, env=env))


def test_its_tests_pass(installed):
    done = installed.run("-m", "pytest", "-q", "-W", "error", "-p", "no:cacheprovider", installed.folder, check=True)
    assert "2 passed" in done.stdout


def test_it_is_found_without_an_import(installed):
    done = installed.run("-W", "error", "-c",
                         "import cypool; e = cypool.make('gust_beam/GustBeam-v0', num_envs=3, seed=1); e.reset();"
                         "print(e.step([0, 1, 2])[0].shape, 'gust_beam/GustBeam-v0' in cypool.list_all_envs())")
    assert done.stdout == "(3, 3) True\n" and done.stderr == ""


@pytest.mark.slow
def test_another_abi_is_an_error_of_its_own_only(installed):
    done = installed.run("-c", """if True:
        import cypool, cypool.env
        cypool.env.ABI += 1
        try:
            cypool.make('gust_beam/GustBeam-v0')
        except ImportError as error:
            print(error)
        print(cypool.make('CartPole-v1').reset()[0].shape)""")
    said, shape = done.stdout.splitlines()
    assert said.startswith("built for cypool ABI ") and "rebuild this package" in said and shape == "(1, 4)"


def test_it_says_what_to_do(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["new", "my_env"]) == 0
    said = capsys.readouterr().out
    assert "    pip install --no-build-isolation -e my_env && pytest my_env\n" in said
    # without isolation, the build uses what is installed
    setuptools, cython, _ = tomllib.loads((TEMPLATE / "pyproject.toml").read_text())["build-system"]["requires"]
    assert f'    pip install "{setuptools}" "{cython}" pytest\n' in said
    # as it is in the repository
    for source in TEMPLATE.rglob("*.*"):
        if source.is_file() and source.suffix in (".py", ".pyx", ".toml"):
            assert (tmp_path / "my_env" / source.relative_to(TEMPLATE)).read_text() == source.read_text()
    assert main(["new", "my_env"]) == 2
    assert "folder: expected a new folder, but my_env exists" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["MyEnv", "my-env", "1env", "", "my env", "class", "random", "cypool", "_env", "../x"])
def test_names_that_are_none(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError, match="name: expected"):
        new(name)
    assert not list(tmp_path.iterdir())


def test_the_page_shows_the_package_as_it_is():
    text = PAGE.read_text()
    for name in ("my_env/my_env.pyx", "my_env/__init__.py", "setup.py"):
        assert (TEMPLATE / name).read_text() in text, name
