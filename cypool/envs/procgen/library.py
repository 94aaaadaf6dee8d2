"""procgen's library and pictures: finds, checks and downloads them."""
from __future__ import annotations

import ctypes
import functools
import hashlib
import os
import struct
from pathlib import Path

from cypool.envs.shared.packages.wheels import Wheel
from cypool.util import cache

VERSION = "0.10.7"
LIBRARY_FILE, PICTURES_FOLDER = Path("data", "prebuilt", "libenv.so"), Path("data", "assets")
WHEEL = Wheel(family="procgen", package="procgen", version=VERSION, python="310",
              sha256="4b594d14e42f0f2166e59a9e294477b906eb99c90c3343b570b7124cbc865f53", library=LIBRARY_FILE,
              wanted=(Path("data"),), option="procgen_path")
find, is_there, download, GET = WHEEL.find, WHEEL.is_there, WHEEL.download, WHEEL.get
# cypool reaches into the library's objects, whose layout is that of this build alone
LIBRARY = "f44786431a902e9ae1a32cd44f4aa650f4bdad893240a322e49e6098d6a7a2ea"
PICTURES = "65063ffe5a5953842032f75a2a0c57f0073e5112a2707b9e20c85cd599640ac9"  # of all names and contents
LICENCES = """procgen: MIT, OpenAI. Its library contains Qt: LGPL 3. Its pictures: CC0, by Kenney and others; some are
CC-BY 3.0, CC-BY 4.0 and OGA-BY 3.0: https://github.com/openai/procgen/blob/master/ASSET_LICENSES.md"""
# of GLib, which Qt wants for event loops that Procgen never starts
UNUSED = (b"libglib-2.0.so.0", b"libgthread-2.0.so.0")
_DT_STRTAB, _DT_NEEDED, _DT_IGNORED = 5, 1, 0x60000010


def is_valid() -> bool:
    """Whether the right library and all its pictures can be found."""
    return WHEEL.is_valid(checked)


@functools.cache
def checked(folder: Path) -> tuple[Path, str]:
    """Returns the library to open in a folder from `find`, and the folder of its pictures in the form it expects.

    Raises:
        ImportError: They have a different version, or are damaged or incomplete, or this machine cannot run the
            library.
    """
    check_machine()
    library, pictures = folder / LIBRARY_FILE, folder / PICTURES_FOLDER
    if _sha256_of(library) != LIBRARY:
        raise ImportError(f"procgen: expected the library of procgen {VERSION} for Python 3.10, which cypool supports, "
                          f"got a different one in {library}: {GET}")
    if digest_of(pictures) != PICTURES:
        raise ImportError(f"procgen: expected the images of procgen {VERSION} in {pictures}, but some are missing or "
                          f"different: {GET}")
    return library if _has_glib() else _without_glib(library), f"{pictures}{os.sep}"


def check_machine() -> None:
    """Raises an ImportError if this machine cannot run the library."""
    WHEEL.check_machine()
    if " avx " not in f" {_cpu_flags()} ":
        raise ImportError("procgen: expected a CPU with AVX (required by its library), got one without AVX")


def _sha256_of(path: Path) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def digest_of(folder: Path) -> str:
    """Returns the sha256 of the names and contents of all files in a folder."""
    total = hashlib.sha256()
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        content = path.read_bytes()
        total.update(b"%s %d\n" % (os.fsencode(path.relative_to(folder)), len(content)) + content)
    return total.hexdigest()


def _cpu_flags() -> str:
    text = Path("/proc/cpuinfo").read_text(errors="replace")
    return next((line.partition(":")[2] for line in text.splitlines() if line.startswith("flags")), "")


def _has_glib() -> bool:
    for name in UNUSED:
        try:
            ctypes.CDLL(name.decode())
        except OSError:
            return False
    return True


def _without_glib(library: Path) -> Path:
    """Returns a copy of the library that does not require GLib: two entries get a tag that the linker ignores."""
    def write(path: Path) -> str:
        data = bytearray(library.read_bytes())
        (headers,), (size, count) = struct.unpack_from("<Q", data, 32), struct.unpack_from("<HH", data, 54)
        segments = [struct.unpack_from("<IIQQQQ", data, headers + k * size) for k in range(count)]
        offset, length = next((each[2], each[5]) for each in segments if each[0] == 2)
        entries = [(at, *struct.unpack_from("<qQ", data, at)) for at in range(offset, offset + length, 16)]
        strings = next(value for _, tag, value in entries if tag == _DT_STRTAB)
        strings = next(strings - address + at for kind, _, at, address, _, many in segments
                       if kind == 1 and address <= strings < address + many)
        for at, tag, value in entries:
            if tag == _DT_NEEDED and bytes(data[strings + value:data.index(0, strings + value)]) in UNUSED:
                struct.pack_into("<q", data, at, _DT_IGNORED)
        path.write_bytes(data)
        return ""

    return cache.get(cache.folder(), "procgen", cache.digest(LIBRARY, "without GLib"), ".so", write)[0]
