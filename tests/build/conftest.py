"""`build_tools`, fresh for each test."""
import importlib
import importlib.util
import os
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

ROOT = Path(__file__).resolve().parents[2]


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
    names = ("cache", "toolchain", "headers", "parts", "report", "sdist", "library", "cythonize", "ale", "box2d",
             "vizdoom", "commands", "wheel_cache", "backend")
    yield SimpleNamespace(**{name: importlib.import_module(f"build_tools.{name}") for name in names})
    for name in [name for name in sys.modules if name.startswith("build_tools.")]:
        del sys.modules[name]
