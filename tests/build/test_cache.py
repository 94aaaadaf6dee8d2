"""The cache of `build_tools/`: what it keeps, and who may write there."""
import os
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

pytestmark = pytest.mark.skipif(not (ROOT / "build_tools").is_dir(), reason="the build code is not installed")


def test_cache_without_a_place(build_tools, monkeypatch, tmp_path):
    file = tmp_path / "a file"
    file.touch()
    monkeypatch.setenv("CYPOOL_CACHE", str(file / "below"))
    build_tools.cache.folder.cache_clear()
    folder = build_tools.cache.folder()
    assert folder.is_dir() and not folder.is_relative_to(tmp_path)


def test_publish_leaves_nothing_behind(build_tools, tmp_path):
    target = tmp_path / "a" / "b.o"
    with pytest.raises(ZeroDivisionError), build_tools.cache.publish(target) as new:
        new.write_bytes(b"half")
        raise ZeroDivisionError
    assert not list(target.parent.iterdir())
    with build_tools.cache.publish(target) as new:
        new.write_bytes(b"whole")
        assert not target.exists()
    assert [path.name for path in target.parent.iterdir()] == ["b.o"]


def test_cache_keeps_remarks(build_tools):
    def make(new):
        new.write_text("made")
        return "careful!"

    path, said = build_tools.cache.get("things", "key", ".o", make)
    assert (path.read_text(), said) == ("made", "careful!")
    assert build_tools.cache.get("things", "key", ".o", None) == (path, "careful!")
    assert build_tools.cache.get("things", "other", ".o", lambda new: "")[1] == ""


def test_damaged_files_are_made_again(build_tools):
    said = iter(["one", "two", "three"])

    def make(new):
        new.write_text("whole")
        return next(said)

    path, _ = build_tools.cache.get("things", "key", ".o", make)
    path.write_text("hal")
    assert build_tools.cache.get("things", "key", ".o", make) == (path, "two") and path.read_text() == "whole"
    path.with_suffix(".sha256").write_text("no digest")
    assert build_tools.cache.get("things", "key", ".o", make) == (path, "three")
    assert sorted(file.suffix for file in path.parent.iterdir()) == [".o", ".sha256"]


def test_cache_that_everybody_may_write(build_tools, monkeypatch, tmp_path, capfd):
    (tmp_path / "home" / "cypool").mkdir(parents=True)
    (tmp_path / "home" / "cypool").chmod(0o777)
    monkeypatch.setenv("CYPOOL_CACHE", str(tmp_path / "home" / "cypool"))
    with pytest.raises(build_tools.cache.UnsafeCache, match="expected a folder that belongs to you or root"):
        build_tools.cache.folder()
    # the default folder: done without, as the user has not chosen it
    monkeypatch.delenv("CYPOOL_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
    assert not build_tools.cache.folder().is_relative_to(tmp_path)
    assert capfd.readouterr().out.startswith("without a cache: CYPOOL_CACHE: expected a folder")


def test_cache_is_safe_whatever_the_umask(build_tools, monkeypatch, tmp_path):
    monkeypatch.setenv("CYPOOL_CACHE", str(tmp_path / "new" / "cache"))
    before = os.umask(0)
    try:
        path, _ = build_tools.cache.get("things", "key", ".o", lambda new: new.write_text("x") and "")
    finally:
        os.umask(before)
    for folder in path.parents[:4]:
        assert folder.stat().st_mode & 0o7777 == 0o775
    assert path.parents[3] == tmp_path / "new"


def test_digest_knows_where_parts_end(build_tools, tmp_path):
    (tmp_path / "x").write_text("ab")
    digest = build_tools.cache.digest
    assert digest("ab", "c") != digest("a", "bc") != digest("abc")
    assert digest("ab") == digest(b"ab") == digest(tmp_path / "x")
