"""A wheel of the whole package becomes two: the files, metadata, licences and checksums of each."""
import base64
import hashlib
import io
import tarfile
import zipfile

import pytest

SO = ".cpython-311-x86_64-linux-gnu.so"
FILES = {
    "cypool/env" + SO: b"ELF", "cypool/envs/small/ids.py": b"", "cypool/envs/small/roms.py": b"",
    "cypool/envs/small/specs.py": b"", "cypool/envs/small/small" + SO: b"ELF N3ale9Something",
    "cypool-1.2.dist-info/METADATA": b"Metadata-Version: 2.4\nName: cypool\nVersion: 1.2\nRequires-Python: >=3.11\n"
                                     b"License-Expression: Apache-2.0 AND GPL-2.0-only\nLicense-File: LICENSE\n"
                                     b"Provides-Extra: small\nRequires-Dist: roms; extra == \"small\"\n\nAbout.\n",
    "cypool-1.2.dist-info/WHEEL": b"Tag: any\n", "cypool-1.2.dist-info/licenses/LICENSE": b"Ours.",
    "cypool-1.2.dist-info/RECORD": b"",
}


@pytest.fixture
def distributions(build_tools, tmp_path, monkeypatch):
    """A function that splits a wheel of some given files, where the package has one library."""
    with tarfile.open(tmp_path / "small-1.tar.gz", "w:gz") as archive:
        member = tarfile.TarInfo("small-1/main.cpp")
        text = b"/*\n Theirs.\n*/\nint x;\n"
        member.size = len(text)
        archive.addfile(member, io.BytesIO(text))
    module = build_tools.distributions
    library = build_tools.library.SourceLibrary(
        family="small", sdist=build_tools.sdist.Sdist(project="small", version="1", sha256="", variable="X",
                                                      version_file=""),
        root=".", sources=(), include_dirs=(), flags=(), licence="GPL-2.0-only", licence_file="main.cpp",
        distribution="cypool-small")
    monkeypatch.setattr(module, "libraries", lambda: {"small": library})
    monkeypatch.setattr(module.sdist, "find", lambda _: tmp_path / "small-1.tar.gz")

    def split(files):
        wheel = tmp_path / "cypool-1.2-cp311-cp311-linux_x86_64.whl"
        with zipfile.ZipFile(wheel, "w") as archive:
            for name, data in files.items():
                archive.writestr(name, data)
        own, other = module.split(wheel, tmp_path / "split")
        assert (own.name, other.name) == (wheel.name, wheel.name.replace("cypool", "cypool_small"))
        return [{name: archive.read(name) for name in archive.namelist()}
                for archive in map(zipfile.ZipFile, (own, other))]

    return split


def test_a_wheel_is_split(distributions):
    own, other = distributions(FILES)
    modules = [{name for name in part if name.startswith("cypool/")} for part in (own, other)]
    assert modules == [{"cypool/env" + SO, "cypool/envs/small/ids.py", "cypool/envs/small/roms.py"},
                       {"cypool/envs/small/specs.py", "cypool/envs/small/small" + SO}]
    said = own["cypool-1.2.dist-info/METADATA"].decode()
    assert "License-Expression: Apache-2.0 AND BSD-3-Clause\n" in said
    assert 'Requires-Dist: cypool-small==1.2; extra == "small"\n' in said and "extra == \"small\"\n\nAbout" in said
    said = other["cypool_small-1.2.dist-info/METADATA"].decode()
    assert "Name: cypool-small\n" in said and "Requires-Dist: cypool==1.2\n" in said
    assert "License-Expression: Apache-2.0 AND BSD-3-Clause AND GPL-2.0-only\n" in said


def test_each_has_its_licences_and_checksums(distributions):
    for part, info in zip(distributions(FILES), ("cypool-1.2.dist-info", "cypool_small-1.2.dist-info"), strict=True):
        texts = {name.rpartition("/")[2] for name in part if name.startswith(f"{info}/licenses/")}
        assert texts == {"LICENSE", "FILES.txt", "NumPy.txt", *(["small.txt"] if "small" in info else [])}
        listed = part[f"{info}/licenses/FILES.txt"].decode().splitlines()
        assert len(listed) == sum(name.startswith("cypool/") for name in part)
        assert any("GPL-2.0-only (small)" in line for line in listed) == ("small" in info)
        record = dict(line.rsplit(",", 2)[:2] for line in part[f"{info}/RECORD"].decode().splitlines())
        assert set(record) == set(part)
        for name, data in part.items():
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode().rstrip("=")
            assert record[name] == (f"sha256={digest}" if not name.endswith("/RECORD") else "")


def test_what_is_under_the_gpl_outside_of_its_folder_is_refused(distributions):
    with pytest.raises(SystemExit, match="expected none of ALE in cypool's wheel, found it in cypool/env"):
        distributions({**FILES, "cypool/env" + SO: b"ELF N3ale9Something"})
    with pytest.raises(SystemExit, match="found no trace of it"):
        distributions({**FILES, "cypool/envs/small/small" + SO: b"ELF"})
