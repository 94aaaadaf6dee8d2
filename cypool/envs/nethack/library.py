"""NLE's library and NetHack's texts: where they are, whether they are the right ones, and how to get them."""
from __future__ import annotations

import functools
import hashlib
import os
import platform
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from cypool.util import cache
from cypool.util.arguments import shown

VERSION = "1.3.0"
WHEEL = "68b151d2b114f44dd4b8bf044bcb73e6f7e4e9e7e7a93c4a8310792a91967b8f"  # sha256 of the wheel for Python 3.11
# sha256 of the libraries for Python 3.10 to 3.13, which differ in the date of the build: cypool knows their objects
LIBRARIES = frozenset({
    "a7304c7f7127c795f111f2e918ced4d5e2393bb217df16d957951d6e204f61d7",
    "becf6478c75e40cf9488d6127892951f28ef8736b7b71ce22c37af006b280027",
    "bad9b29bad1fa58f764df77bb9640d14e6f905d81262aa37323e4633161b277f",
    "0e8c5394393acf58f7c0a5891b79a729d1e78ef7e53bbea00f7db44793f41d19"})
TEXTS = "3647741836ad48e3348017eb359c4403255a8ba41100700d07c5cadf9500200c"  # sha256 of nhdat, the same in all
LIBRARY_FILE, TEXTS_FILE, TILES_FOLDER = "libnethack.so", Path("nethackdir", "nhdat"), Path("nethackdir", "tiles")
GET = "cypool get nethack"
LICENCES = """NetHack, which is NLE's library with its texts and tiles: the NetHack General Public License, which asks
whoever passes it on to give the source, too: https://github.com/NetHack-LE/nle. cypool contains none of it."""
PIP = ("download", "--no-deps", "--python-version", "311", "--only-binary=:all:", "--platform", "manylinux2014_x86_64",
       f"nle=={VERSION}")


def is_there() -> bool:
    """Whether the library can be found."""
    try:
        find(None)
    except ImportError:
        return False
    return True


def is_whole() -> bool:
    """Whether the library can be found, and is the right one with the right texts."""
    try:
        checked(find(None))
    except ImportError:
        return False
    return True


def find(path: str | None) -> Path:
    """Returns the folder of NLE's package, with its library; looks into no file, and imports nothing.

    Args:
        path: That folder or the one around it; None: `CYPOOL_NETHACK`, cypool's cache, or an installed nle.

    Raises:
        ImportError: It is nowhere.
    """
    given = path if path is not None else os.environ.get("CYPOOL_NETHACK")
    if given:
        found = folder_in(given)
        if found is None:
            name = "CYPOOL_NETHACK" if path is None else "nle_path"
            raise ImportError(f"{name}: expected a folder with nle/{LIBRARY_FILE}, got {shown(given)}")
        return found
    folders = [_in_cache()]
    # of another package of this name it says nothing
    with suppress(ImportError, ValueError):
        package = find_spec("nle")
        folders += [Path(each) for each in (package.submodule_search_locations or ())] if package else []
    for folder in folders:
        if (folder / LIBRARY_FILE).is_file():
            return folder
    raise ImportError(f"nethack: expected the library of nle {VERSION}, got none: {GET}")


def folder_in(path: str) -> Path | None:
    """Returns NLE's folder, which is `path` or in it; None if there is no library."""
    folders = (Path(path), Path(path, "nle"))
    return next((each.absolute() for each in folders if os.path.isfile(each / LIBRARY_FILE)), None)


@functools.cache
def checked(folder: Path) -> tuple[bytes, bytes]:
    """Returns the library and the texts.

    Args:
        folder: What `find` returned.

    Raises:
        ImportError: They are of another version or damaged, or this machine cannot run the library.
    """
    check_machine()
    found = []
    for file, known in ((LIBRARY_FILE, LIBRARIES), (TEXTS_FILE, {TEXTS})):
        try:
            data = (folder / file).read_bytes()
        except OSError as error:
            raise ImportError(f"nethack: cannot read {folder / file}: {error.strerror}: {GET}") from error
        if hashlib.sha256(data).hexdigest() not in known:
            raise ImportError(f"nethack: expected {file} of the wheels of nle {VERSION}, whose memory cypool knows, "
                              f"got another one in {folder}: {GET}")
        found.append(data)
    return found[0], found[1]


def check_machine() -> None:
    """Raises an ImportError if this machine cannot run the library."""
    if (sys.platform, platform.machine()) != ("linux", "x86_64"):
        raise ImportError(f"nethack: expected Linux on x86_64, whose library cypool can load, got {sys.platform} on "
                          f"{platform.machine()}")


def download(report: Callable[[str, int, int], Any]) -> Path:
    """Downloads the wheel with pip, checks it and puts its library, texts and tiles into cypool's cache.

    Args:
        report: Called with what is being done, and how much of how much is done.

    Returns:
        The folder of the package.

    Raises:
        OSError: pip cannot download it, or the files cannot be written.
        ValueError: What it downloaded is another file.
    """
    target = _in_cache()
    target.parent.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".new-", dir=target.parent.parent) as name:
        work = Path(name)
        report("downloads", 0, 1)
        command = [sys.executable, "-m", "pip", *PIP, "--dest", str(work / "wheel")]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL)
        wheels = list((work / "wheel").glob("*.whl"))
        if done.returncode or len(wheels) != 1:
            said = done.stdout.decode(errors="replace").strip().splitlines()[-1:]
            raise OSError(f"pip: expected it to download nle {VERSION}, got status {done.returncode}"
                          f"{': ' * bool(said)}{''.join(said)}; the command was {' '.join(command[1:])}")
        if hashlib.sha256(wheels[0].read_bytes()).hexdigest() != WHEEL:
            raise ValueError(f"pip: expected a wheel with sha256 {WHEEL}, got another one in {wheels[0].name}")
        with zipfile.ZipFile(wheels[0]) as archive:
            wanted = tuple(f"nle/{each}" for each in (LIBRARY_FILE, TEXTS_FILE, TILES_FOLDER))
            names = [each for each in archive.namelist() if each.startswith(wanted) or "LICENSE" in each]
            for k, each in enumerate(names):
                archive.extract(each, work / "package")
                report("unpacks", k + 1, len(names))
        # another process may have done the same meanwhile; what is there may be damaged
        old = work / "old"
        with suppress(FileNotFoundError):
            os.rename(target.parent, old)
        try:
            os.rename(work / "package", target.parent)
        except OSError:
            if not target.is_dir():
                raise
    return target


def _in_cache() -> Path:
    return cache.folder() / f"nle-{VERSION}" / "nle"
