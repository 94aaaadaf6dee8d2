"""The engine, game data and scenarios from the installed vizdoom, and the folder that engines run in."""
from __future__ import annotations

import atexit
import fcntl
import functools
import itertools
import multiprocessing.util
import os
import shutil
import stat
import struct
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cypool.util.arguments import check_path, shown
from cypool.util.packages import folder_of, version_of

if TYPE_CHECKING:
    from cypool.util.typing import Pathlike

# the version that the library is compiled from; another engine does not understand it
VERSION = "1.3.2"
NEEDED = f"ViZDoom's environments need its engine, vizdoom {VERSION}: pip install \"cypool[vizdoom]\""

# a folder for each process that plays: `names` lists its names in shared memory, and is locked while it lives
PREFIX = "cypool-doom-"
ARCHIVES = (b"PK\3\4", b"7z\xbc\xaf", b"KenS", b"RFF\x1a", b"PACK")  # that the engine reads in addition to WADs
KINDS = ("ViZDoomMQDoom", "ViZDoomMQCtr", "ViZDoomSM")
_own: dict[int, Any] = {}
_recordings = itertools.count()

# called before the folder of this process is removed: they end its engines, which would write to the folder meanwhile
before_leaving: list[Any] = []


@functools.cache
def package() -> Path:
    """Returns the folder of the installed vizdoom, which is found without importing it.

    Raises:
        ImportError: It is not installed, or has the wrong version.
    """
    found = folder_of("vizdoom")
    if found is None:
        raise ImportError(NEEDED)
    installed = version_of("vizdoom")
    if installed != VERSION:
        raise ImportError(f"{NEEDED}; version {installed} is installed")
    folder = Path(found)
    if not (folder / "vizdoom").is_file():
        raise ImportError(f"{NEEDED}; the engine is missing from {folder}: reinstall vizdoom")
    return folder


def find_config(name: str, path: Pathlike) -> Any:
    """Returns the path of a scenario's config.

    Args:
        name: The argument, for messages.
        path: A path, or the name of a scenario from vizdoom or from EnvPool's assets, with or without ".cfg".

    Raises:
        TypeError, ValueError: It is not a path, or the file does not exist.
    """
    path = check_path(name, path)
    scenarios = package() / "scenarios"
    folders = [Path(), scenarios]
    # some are not ViZDoom's own: D1_basic and similar ones
    other = folder_of("envpool_assets")
    if other is not None:
        folders.append(Path(other, "vizdoom", "maps"))
    for folder in folders:
        for candidate in (folder / path, folder / f"{path}.cfg"):
            # of a name that is too long, Path.is_file() is an error
            if os.path.isfile(candidate):
                return str(candidate.absolute())
    raise ValueError(f"{name}: expected a file, or the name of a scenario in {scenarios}, got {shown(path)}")


def find_data(name: str, path: Pathlike) -> Any:
    """Returns the absolute path of a WAD; a bare name is also looked for among vizdoom's own WADs.

    Raises:
        TypeError, ValueError: It is not a path, or the file does not exist.
    """
    path = Path(check_path(name, path))
    for candidate in (path, Path(path.name), package() / path.name):
        for file in (candidate, Path(f"{candidate}.wad")):
            if os.path.isfile(file):
                return str(file.absolute())
    raise ValueError(f"{name}: expected a WAD file, got {str(path)!r}, which does not exist (Doom's own WADs are "
                     "not free: obtain them elsewhere)")


def lumps_of(name: str, path: Pathlike) -> Any:
    """Returns the names of a WAD's contents; None for an archive, which may have folders.

    Raises:
        ValueError: It is neither, or truncated; the engine would silently play without it.
    """
    size = os.path.getsize(path)
    with open(path, "rb") as file:
        kind, count, offset = struct.unpack("<4sii", file.read(12).ljust(12))
        if kind in ARCHIVES:
            return None
        if kind not in (b"IWAD", b"PWAD") or min(count, offset) < 0 or offset + 16 * count > size:
            raise ValueError(f"{name}: expected a WAD file, got {str(path)!r}, which is damaged or not a WAD")
        file.seek(offset)
        directory = file.read(16 * count)
    return {directory[k + 8:k + 16].rstrip(b"\0").upper() for k in range(0, len(directory), 16)}


def check_map(name: str, value: Any, files: Any) -> None:
    """Raises a ValueError if none of some WADs, {argument: path}, has a map; the engine would search for it forever."""
    lumps = [lumps_of(argument, path) for argument, path in files.items()]
    if None not in lumps and value.upper().encode() not in set().union(*lumps):
        raise ValueError(f"{name}: expected a map in {' or '.join(files.values())}, got {shown(value)}")


def record_into(folder: Any) -> str:
    """Creates a folder for recordings; returns a short name for it, because engine commands must be short.

    Raises:
        ValueError: It cannot be made.
    """
    try:
        os.makedirs(folder, exist_ok=True)
    except OSError as error:
        raise ValueError("lmp_save_dir: expected a folder that exists or can be created, got "
                         f"{shown(folder)}: {error}") from error
    own, _ = engine_dir()
    name = f"lmp{next(_recordings)}"
    os.symlink(os.path.abspath(folder), os.path.join(own, name))
    return name


def default_iwad() -> str:
    """Returns the path of the game data that vizdoom chooses by default: Doom 2 if available, else Freedoom."""
    for name in ("doom2.wad", "freedoom2.wad"):
        for folder in (Path(), package()):
            if (folder / name).is_file():
                return str((folder / name).absolute())
    raise ImportError(f"{NEEDED}; freedoom2.wad is missing from {package()}: reinstall vizdoom")


def engine_dir() -> tuple[str, Any]:
    """Returns the folder in which this process's engines run, and the handle of its list of names.

    The first call removes files left by killed processes.
    """
    pid = os.getpid()
    if pid not in _own:
        sweep()
        folder = tempfile.mkdtemp(prefix=PREFIX)
        try:
            handle = _list_in(folder)
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise
        _own.clear()
        _own[pid] = folder, handle
        if multiprocessing.parent_process() is not None:
            # such a process may end without `atexit`
            multiprocessing.util.Finalize(None, _leave, exitpriority=0)
    result: tuple[str, Any] = _own[pid]
    return result


def _list_in(folder: Any) -> Any:
    """Creates the list of names in a new folder; returns its handle, with a lock while this process lives."""
    # it has another name until it is locked: other processes remove the folder of a list that is not locked
    new = os.path.join(folder, "new")
    handle = os.open(new, os.O_CREAT | os.O_EXCL | os.O_RDWR | os.O_APPEND | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        os.rename(new, os.path.join(folder, "names"))
    except BaseException:
        os.close(handle)
        raise
    return handle


def sweep() -> None:
    """Removes the folders and shared memory of processes of this user that have ended."""
    for folder in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        # another user's, or another process removes it at this moment
        with suppress(OSError), _open_list(folder) as file:
            # refused while its process, or a child forked from it, lives
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            for name in file.read().split():
                id = name.removeprefix("ViZDoomMQDoom").removeprefix("ViZDoomMQCtr")
                if id.isalnum() and id != name:
                    for kind in KINDS:
                        Path("/dev/shm", kind + id).unlink(missing_ok=True)
            shutil.rmtree(folder, ignore_errors=True)


def _open_list(folder: Any) -> Any:
    """Opens the list of names in a folder.

    Anyone may put anything into the folder for temporary files, so links are not followed, and opening a pipe does not
    wait for a writer.

    Raises:
        OSError: The folder or the list is missing, belongs to another user, or has the wrong type.
    """
    if not _is_own(os.lstat(folder), stat.S_ISDIR):
        raise PermissionError(f"expected a folder that this user owns, got {folder}")
    handle = os.open(folder / "names", os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        if not _is_own(os.fstat(handle), stat.S_ISREG):
            raise PermissionError(f"expected a file that this user owns, got {folder / 'names'}")
        return open(handle, encoding="ascii", errors="replace")
    except BaseException:
        os.close(handle)
        raise


def _is_own(facts: os.stat_result, kind: Any) -> bool:
    return facts.st_uid == os.getuid() and kind(facts.st_mode)


@atexit.register
def _leave() -> None:
    # the folder of a process that this one was forked from stays
    if os.getpid() in _own:
        for end in before_leaving:
            end()
        shutil.rmtree(_own[os.getpid()][0], ignore_errors=True)
