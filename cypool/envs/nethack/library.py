"""NLE's library and NetHack's texts: finds, checks and downloads them."""
from __future__ import annotations

import functools
import hashlib
from pathlib import Path

from cypool.envs.shared.packages.wheels import Wheel

VERSION = "1.3.0"
LIBRARY_FILE, TEXTS_FILE, TILES_FOLDER = Path("libnethack.so"), Path("nethackdir", "nhdat"), Path("nethackdir", "tiles")
WHEEL = Wheel(family="nethack", package="nle", version=VERSION, python="311",
              sha256="68b151d2b114f44dd4b8bf044bcb73e6f7e4e9e7e7a93c4a8310792a91967b8f", library=LIBRARY_FILE,
              wanted=(LIBRARY_FILE, TEXTS_FILE, TILES_FOLDER), option="nle_path")
find, is_there, download, check_machine, GET = (
    WHEEL.find, WHEEL.is_there, WHEEL.download, WHEEL.check_machine, WHEEL.get)
# sha256 of the libraries for Python 3.10 to 3.13, which differ in the date of the build: cypool knows their objects
LIBRARIES = frozenset({
    "a7304c7f7127c795f111f2e918ced4d5e2393bb217df16d957951d6e204f61d7",
    "becf6478c75e40cf9488d6127892951f28ef8736b7b71ce22c37af006b280027",
    "bad9b29bad1fa58f764df77bb9640d14e6f905d81262aa37323e4633161b277f",
    "0e8c5394393acf58f7c0a5891b79a729d1e78ef7e53bbea00f7db44793f41d19"})
TEXTS = "3647741836ad48e3348017eb359c4403255a8ba41100700d07c5cadf9500200c"  # sha256 of nhdat, the same in all
TILES = "d40a7301d47ceac3825eba4063646257db4deb8192ea8423c40b6c219a73f648"  # of all tiles, in the order of names
LICENCES = """NetHack (NLE's library with its texts and tiles): the NetHack General Public License, which
requires anyone who redistributes it to provide its source: https://github.com/NetHack-LE/nle. cypool contains none of
it."""


def is_valid() -> bool:
    """Whether the right library and the right texts can be found."""
    return WHEEL.is_valid(checked)


@functools.cache
def checked(folder: Path) -> tuple[bytes, bytes]:
    """Returns the library and the texts in a folder from `find`.

    Raises:
        ImportError: They have a different version or are damaged, or this machine cannot run the library.
    """
    check_machine()
    found = []
    for file, known in ((LIBRARY_FILE, LIBRARIES), (TEXTS_FILE, {TEXTS})):
        try:
            data = (folder / file).read_bytes()
        except OSError as error:
            raise ImportError(f"nethack: cannot read {folder / file}: {error.strerror}: {GET}") from error
        if hashlib.sha256(data).hexdigest() not in known:
            raise ImportError(f"nethack: expected {file} from the wheels of nle {VERSION}, which cypool supports, "
                              f"got a different file in {folder}: {GET}")
        found.append(data)
    return found[0], found[1]
