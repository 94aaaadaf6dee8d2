"""The pages of the API reference show every public name."""
import re
import sys
from pathlib import Path

import pytest

import cypool
from cypool.api.gymnasium import GymnasiumPool

ROOT = Path(__file__).parents[2]


@pytest.fixture
def tool(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "docs_tools"))
    yield lambda name: __import__(name)
    for name in ("api", "build_site", "catalogue"):
        sys.modules.pop(name, None)


def test_the_names_of_cypool_are_shown(tool):
    names = [name for group in tool("api").NAMES.values() for name in group]
    assert names[0] == "make" and sorted(names) == sorted(cypool.__all__)
    on_pages = [heading for _, _, headings in tool("api").TOPICS.values() for heading in headings]
    assert sorted(on_pages) == sorted(tool("api").NAMES)


def test_the_methods_of_a_pool_are_shown(tool):
    names = [name for group in tool("api").POOL.values() for name in group]
    ours = {name for cls in GymnasiumPool.__mro__ if cls.__module__.startswith("cypool.")
            for name, member in vars(cls).items()
            if not name.startswith("_") and (callable(member) or isinstance(member, property))}
    # a hook for Gymnasium, whose `close` calls it
    assert names[:2] == ["reset", "step"] and sorted(names) == sorted(ours - {"close_extras"})


def test_public_modules_are_shown(tool):
    page = (ROOT / "docs" / "reference" / "compatibility.md").read_text()
    public = set(re.findall(r"`cypool\.(\w+)", page.partition("## Public names")[2].partition("All other")[0]))
    others = {*tool("api").TOPICS, "pools", "other_pools"}
    shown = {(each if isinstance(each, str) else each[0]).split(".")[1]
             for name, each_page in tool("api").PAGES.items() if name not in others
             for each in each_page.shown if not each[0].startswith("#")}
    # the contract's page shows the declarations of backend and random
    assert public - {"__all__", "make", "list_all_envs", "backend", "random"} == shown


def test_what_is_shown_has_python_source(tool):
    # the site reads sources and stubs, and fails where there is none
    shown = [each if isinstance(each, str) else each[0] for page in tool("api").PAGES.values() for each in page.shown]
    for name in (each for each in shown if each.startswith("cypool.")):
        parts = name.split(".")
        paths = [ROOT.joinpath(*parts[:end]) for end in range(2, len(parts) + 1)]
        assert any(path.with_suffix(suffix).is_file() for path in paths for suffix in (".py", ".pyi")) \
            or any((path / "__init__.py").is_file() for path in paths) or name.removeprefix("cypool.") in cypool.__all__
