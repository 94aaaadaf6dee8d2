"""A native library to find, compile and link."""
import hashlib
import tarfile

import pytest


@pytest.fixture
def folder(tmp_path):
    """An unpacked source distribution."""
    top = tmp_path / "tiny_lib-1.2.3"
    (top / "src").mkdir(parents=True)
    (top / "version.txt").write_text("1.2.3\n")
    (top / "src" / "tiny.h").write_text("int kept();\nint replaced();\n")
    (top / "src" / "kept.cpp").write_text('#include "tiny.h"\nint kept() { return 1; }\n')
    (top / "src" / "replaced.cpp").write_text('#include "tiny.h"\nint replaced() { return 2; }\n')
    (top / "src" / "broken.cpp").write_text("does not compile\n")
    return top


@pytest.fixture
def tarball(folder, tmp_path):
    """The same, packed; it lies in a separate folder."""
    path = tmp_path / "given" / "tiny_lib-1.2.3.tar.gz"
    path.parent.mkdir()
    with tarfile.open(path, "w:gz") as tar:
        tar.add(folder, folder.name)
    return path


@pytest.fixture
def sdist(build_tools, tarball):
    sha256 = hashlib.sha256(tarball.read_bytes()).hexdigest()
    return build_tools.sdist.Sdist("tiny-lib", "1.2.3", sha256, "CYPOOL_TINY_SOURCE", "version.txt")
