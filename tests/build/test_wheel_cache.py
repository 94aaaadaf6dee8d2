"""Whole wheels in the build's cache: which sources they are of, and damaged, full and unwritable caches."""
import errno
import json
import os
import shutil
import zipfile
from pathlib import Path
from types import SimpleNamespace

import pytest

NAME = "cypool-0.0.1-cp311-cp311-linux_x86_64.whl"
METADATA = {"cypool-0.0.1.dist-info/METADATA": "Name: cypool\n", "cypool-0.0.1.dist-info/WHEEL": "Tag: any\n"}


@pytest.fixture
def project(build_tools, tmp_path, monkeypatch):
    """A tree of sources whose wheel setuptools makes: here by zipping its .pyx. Counts the builds."""
    root = tmp_path / "project"
    (root / "cypool").mkdir(parents=True)
    (root / "cypool" / "small.pyx").write_text("x = 1\n")
    (root / "pyproject.toml").write_text(
        '[project]\ndependencies = [\n    "numpy>=2.0.0",\n]\n[project.optional-dependencies]\nbuild = ["Cython>=3"]\n')
    monkeypatch.setattr(build_tools.wheel_cache, "ROOT", root)
    monkeypatch.setattr(build_tools.wheel_cache, "FILES", ("cypool", "pyproject.toml"))
    found = SimpleNamespace(root=root, source=root / "cypool" / "small.pyx", builds=0, out=tmp_path / "out")
    found.out.mkdir()

    def make(folder, settings=None, metadata=None):
        found.builds += 1
        with zipfile.ZipFile(Path(folder, NAME), "w") as file:
            file.write(found.source, "cypool/small.pyx")
            for name, text in METADATA.items():
                file.writestr(name, text)
        return NAME

    monkeypatch.setattr(build_tools.backend, "_setuptools", lambda: SimpleNamespace(
        build_wheel=make, prepare_metadata_for_build_wheel=lambda *_: "made by setuptools"))

    def build():
        assert build_tools.backend.build_wheel(found.out) == NAME
        with zipfile.ZipFile(found.out / NAME) as file:
            return file.read("cypool/small.pyx").decode()

    found.build = build
    return found


def kept():
    (path,) = Path(os.environ["CYPOOL_CACHE"], "wheels").rglob("*.whl")
    return path


def test_unchanged_sources_are_built_once_and_need_no_packages(build_tools, project, tmp_path):
    assert "Cython>=3" in build_tools.backend.get_requires_for_build_wheel()
    assert build_tools.backend.prepare_metadata_for_build_wheel(tmp_path) == "made by setuptools"
    assert project.build() == project.build() == "x = 1\n" and project.builds == 1
    assert build_tools.backend.get_requires_for_build_wheel() == []
    assert build_tools.backend.prepare_metadata_for_build_wheel(tmp_path) == "cypool-0.0.1.dist-info"
    assert {f"cypool-0.0.1.dist-info/{path.name}" for path in (tmp_path / "cypool-0.0.1.dist-info").iterdir()} == set(
        METADATA)


@pytest.mark.parametrize("change", ["change_source", "change_flags", "change_families", "change_constraints"])
def test_anything_else_is_another_wheel(project, monkeypatch, change):
    project.build()
    if change == "change_source":
        project.source.write_text("x = 2\n")
    elif change == "change_flags":
        monkeypatch.setenv("CXXFLAGS", "-O0")
    elif change == "change_families":
        monkeypatch.setenv("CYPOOL_WITHOUT", "a_family")
    else:
        (project.root / "lowest.txt").write_text("numpy==2.0.0\n")
        monkeypatch.setenv("PIP_BUILD_CONSTRAINT", str(project.root / "lowest.txt"))
    assert project.build() == project.source.read_text() and project.builds == 2
    project.build()
    assert project.builds == 2


def test_other_tools_make_another_wheel_where_a_build_has_tools(build_tools, project, monkeypatch):
    cache = build_tools.wheel_cache
    monkeypatch.setattr(cache, "_versions", lambda: {"Cython": "3.2.0", "numpy": "2.0.0", "setuptools": "80"})
    project.build()
    monkeypatch.setattr(cache, "_versions", lambda: {"Cython": "", "numpy": "", "setuptools": ""})
    assert cache.find(None).made_with["Cython"] == "3.2.0"
    monkeypatch.setattr(cache, "_versions", lambda: {"Cython": "3.3.1", "numpy": "2.0.0", "setuptools": "80"})
    assert cache.find(None) is None
    project.build()
    assert project.builds == 2 and cache.find(None).made_with["Cython"] == "3.3.1"


def test_folders_of_sources_are_not_kept(project, monkeypatch):
    monkeypatch.setenv("CYPOOL_ALE_SOURCE", str(project.root))
    project.build()
    project.build()
    assert project.builds == 2


def test_damaged_wheel_is_built_again(build_tools, project):
    for damage in (lambda path: path.write_bytes(path.read_bytes()[:-1]), lambda path: path.write_bytes(b""),
                   lambda path: path.unlink(), lambda path: path.with_suffix(".sha256").write_text("nonsense"),
                   lambda path: (path.unlink(), path.mkdir())):
        project.build()
        damage(kept())
        assert build_tools.backend.get_requires_for_build_wheel() != []
        if kept_is_folder := [path for path in Path(os.environ["CYPOOL_CACHE"]).rglob("*.whl") if path.is_dir()]:
            # a folder in the way stays there, and the build continues without a cached wheel
            assert project.build() == "x = 1\n"
            shutil.rmtree(kept_is_folder[0])
        assert project.build() == "x = 1\n"


def test_full_disk_costs_only_the_cache(build_tools, project, monkeypatch, capsys):
    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(build_tools.cache, "put", full)
    assert project.build() == "x = 1\n"
    assert "the wheel is not kept for the next time: " in capsys.readouterr().out


def test_forged_words_beside_a_wheel_are_not_believed(build_tools, project):
    project.build()
    beside = kept().with_suffix(".sha256")
    digest = beside.read_text().split("\n")[0]
    for said in ("", "[]", "{}", json.dumps({"name": NAME})):
        beside.write_text(f"{digest}\n{said}")
        assert build_tools.wheel_cache.find(None) is None
