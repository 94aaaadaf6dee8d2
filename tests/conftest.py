"""Fixtures for all tests: the plug-in package, built once; and which files are collected."""
import faulthandler
import fcntl
import functools
import gc
import importlib
import importlib.util
import os
import re
import shutil
import signal
import subprocess
import sys
import zipfile
from pathlib import Path
from types import SimpleNamespace

import hypothesis
import pytest
from forking import ForkServer
from markers import with_large_packages
from waiting import LIMIT, run_program

from cypool.envs import FAMILIES
from cypool.tools import compile
from cypool.util import cache

ROOT = Path(__file__).resolve().parents[1]
LEFT_OUT = {family.name for family in FAMILIES if not family.is_built}
# how cypool, Gymnasium and Python say that an id, a module or a package of a family is missing
LACKING = re.compile(r"no environment \\?'|doesn't exist in namespace|Namespace \w+ not found|No module named '|"
                     r"is not installed|pip install \"cypool\[")
pytest.register_assert_rewrite("family_tests", "saving")
# a slow example is no error
hypothesis.settings.register_profile("patient", deadline=None, database=None,
                                     suppress_health_check=[hypothesis.HealthCheck.too_slow])
hypothesis.settings.load_profile("patient")
# NumPy would start threads in each of the many processes that tests start
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
# what tests compile is compiled in half the time
compile.FLAGS = [*compile.FLAGS, "-O0", "-g0"]
# as in .ci/run: else each worker and each of the hundreds of processes compiles the Python of tests and cypool again
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False
# a pytest that a shell started in the background would ignore Ctrl-C, which tests send
signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_xdist_auto_num_workers(config):
    """One worker for each CPU that this process may use; tests start more threads and processes."""
    return min(len(os.sched_getaffinity(0)), 8)


def pytest_ignore_collect(collection_path, config):
    """Leaves out files that need large packages, as they import these, and families that the build has not."""
    if collection_path.parent == ROOT / "tests" / "envs" and collection_path.name in LEFT_OUT:
        return True
    if collection_path.suffix == ".py" and not with_large_packages(config):
        marked = re.search("^pytestmark = .*large_packages", collection_path.read_text(), re.MULTILINE)
        return True if marked else None


def pytest_collection_finish():
    """Takes the tests themselves out of garbage collections: each would look at all of them."""
    gc.collect()
    gc.freeze()


@functools.cache
def present_families():
    """Returns the names of the families that this build has, and whose packages are installed."""
    return {family.name for family in FAMILIES if family.is_built and family.is_installed}


def missing_families(marks):
    """Returns the families that markers name and that are missing here."""
    named = {name for mark in marks if mark.name == "families" for name in mark.args}
    return sorted(named - present_families()) if named else []


def pytest_runtest_setup(item):
    """Skips a test, or a value of a parameter, whose own marker names a family that is missing."""
    if missing := missing_families(item.own_markers):
        pytest.skip(f"without {', '.join(missing)}")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    """Skips a test that failed for lack of a family that the marker of its file names."""
    report = yield
    if report.failed and (missing := missing_families(item.iter_markers("families"))):
        error, said = call.excinfo.value, ""
        while error is not None:
            said += f"{type(error).__name__}: {error}\n"
            error = error.__cause__ or error.__context__
        if LACKING.search(said):
            report.outcome, report.longrepr = "skipped", (*item.location[:2], f"without one of {', '.join(missing)}")
    return report


@pytest.fixture(scope="session")
def plugin_path(tmp_path_factory):
    """The folder of the built plug-in package, outside cypool's tree; compiled modules stay in the build's cache."""
    # one folder for all workers of pytest-xdist
    shared = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        shared = shared.parent
    folder = shared / "walker-src"

    def build(archive):
        run_program(sys.executable, "setup.py", "-q", "build_ext", "--inplace", check=True, cwd=folder, timeout=900)
        with zipfile.ZipFile(archive, "w") as file:
            for module in folder.glob("walker/*.so"):
                file.write(module, module.relative_to(folder))
        return ""

    with open(shared / "walker-src.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "built").exists():
            source = Path(__file__).with_name("plugin")
            shutil.copytree(source, folder, dirs_exist_ok=True)
            text = "".join(each.read_text() for each in sorted(source.rglob("*.py*")))
            try:
                kept = cache.folder()
            except (OSError, cache.UnsafeCache):
                kept = shared
            archive, _ = cache.get(kept, "plugin", compile._key(None, text), ".zip", build)
            with zipfile.ZipFile(archive) as file:
                file.extractall(folder)
            (folder / "built").touch()
    return folder


@pytest.fixture(scope="session")
def walker(plugin_path):
    """The plug-in package, imported: registers walker/Walk-v0 and walker/Trouble-v0."""
    sys.path.insert(0, str(plugin_path))
    return importlib.import_module("walker")


@pytest.fixture
def trouble(walker):
    """The module of walker/Trouble-v0, whose gate is open."""
    from walker import trouble

    trouble.set_gate(True)
    yield trouble
    trouble.set_gate(True)


@pytest.fixture(scope="session")
def run_python(plugin_path):
    """Runs code in a fresh interpreter that can import the plug-in; returns the finished process.

    With `check` it must have ended well.
    """

    # by default not where pytest was started, which may be the checkout with its uncompiled ./cypool
    def run(code, cwd=plugin_path, check=False):
        env = dict(os.environ, PYTHONPATH=os.pathsep.join([str(plugin_path), os.environ.get("PYTHONPATH", "")]))
        command = [sys.executable, "-X", "faulthandler", "-c", code]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=env,
                              cwd=cwd) as process:
            try:
                out, errors = process.communicate(timeout=LIMIT)
            except subprocess.TimeoutExpired:
                # says where its threads are; the pipes stay open as long as it has children
                process.send_signal(signal.SIGABRT)
                try:
                    said = "".join(process.communicate(timeout=60))
                except subprocess.TimeoutExpired as late:
                    said = b"".join(filter(None, (late.stdout, late.stderr))).decode()
                process.kill()
                pytest.fail(f"not done within {LIMIT} s\n{said}")
        assert not check or process.returncode == 0, out + errors
        return subprocess.CompletedProcess(command, process.returncode, out, errors)

    return run


@pytest.fixture(scope="session")
def fork_server(plugin_path):
    """Where `run_forked` runs code; a session starts it once."""
    server = ForkServer(os.pathsep.join([str(plugin_path), os.environ.get("PYTHONPATH", "")]))
    yield server
    server.close()


@pytest.fixture
def run_forked(fork_server, plugin_path):
    """As `run_python`, in a process that has imported cypool: for tests that do not test the import itself."""
    return lambda code, cwd=plugin_path, check=False: fork_server.run(code, cwd, check)


@pytest.fixture
def build_tools(monkeypatch, tmp_path):
    """The modules of `build_tools/`, fresh, with an empty cache and no package index.

    Imported by path: the project root on sys.path would hide the installed cypool.
    """
    if not (ROOT / "build_tools").is_dir():
        pytest.skip("the build code is not installed")
    for name in list(os.environ):
        if name.startswith(("PIP_", "CYPOOL_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.setenv(name, "127.0.0.1")
    monkeypatch.setenv("CYPOOL_CACHE", str(tmp_path / "cache"))
    folder = str(ROOT / "build_tools")
    spec = importlib.util.spec_from_file_location(
        "build_tools", f"{folder}/__init__.py", submodule_search_locations=[folder])
    package = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "build_tools", package)
    spec.loader.exec_module(package)
    # those that are imported, not run as a separate process
    names = [path.stem for path in Path(folder).glob("[!_]*.py") if path.stem != "cython_worker"]
    yield SimpleNamespace(**{name: importlib.import_module(f"build_tools.{name}") for name in names})
    for name in [name for name in sys.modules if name.startswith("build_tools.")]:
        del sys.modules[name]


def pytest_unconfigure():
    """Ends a process whose threads do not end; within a test `faulthandler_timeout` does that."""
    faulthandler.dump_traceback_later(LIMIT, exit=True, file=sys.__stderr__)
