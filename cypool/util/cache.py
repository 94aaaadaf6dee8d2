"""Files kept for reuse under the hash of their sources: by `cypool.compile`, and by cypool's build.

The folder only grows, and everything in it can be made again, so delete it whenever you like. Its files run as your own
code, so only you may have write access to the folder.

The build loads this module by its path (build_tools/cache.py): it imports the standard library alone.
"""
from __future__ import annotations

import functools
import hashlib
import os
import stat
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any


class UnsafeCache(Exception):
    """Others could put code in the cache folder; the message says how and names a remedy."""


def place() -> Path:
    """Returns where the cache folder is, or would be made.

    `$CYPOOL_CACHE`, else `$XDG_CACHE_HOME/cypool`, else `~/.cache/cypool`.
    """
    base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return Path(os.environ.get("CYPOOL_CACHE") or os.path.join(base, "cypool")).absolute()


def folder(*, make: bool = True) -> Path:
    """Returns the cache folder.

    Args:
        make: Whether to create it.

    Raises:
        UnsafeCache: It belongs to neither you nor root, or everyone can write to it.
        OSError: The path is not a folder and cannot be created; or it does not exist.
    """
    path = place()
    if make:
        _make_folder(path)
    found = path.stat()
    # a group's members have been given their right to write, often by an umask of 002 and a group of one
    if found.st_uid not in (os.geteuid(), 0) or found.st_mode & stat.S_IWOTH:
        raise UnsafeCache(
            "CYPOOL_CACHE: expected a folder that belongs to you or root and is not writable by everyone, because "
            f"code in it runs with your permissions, got {path} owned by user {found.st_uid} with mode "
            f"{stat.S_IMODE(found.st_mode):o} (you are user {os.geteuid()}). Set CYPOOL_CACHE to another folder, or "
            "fix this one with chown or chmod and delete its contents")
    return path


def get(folder: Path, kind: str, key: str, suffix: str, make: Callable[[Path], Any]) -> tuple[Path, Any]:
    """Gets a file from the cache; creates it if it is missing or damaged.

    Args:
        folder: The cache folder.
        kind: Folder in it.
        key: Hash of everything the file is made from.
        suffix: Suffix of the file.
        make: Writes the path it is given; returns a message about it, such as warnings, or "".

    Returns:
        The file's path, and the message of `make` when the file was made (maybe by another process).
    """
    return find(folder, kind, key, suffix) or put(folder, kind, key, suffix, make)


def find(folder: Path, kind: str, key: str, suffix: str) -> tuple[Path, str] | None:
    """Finds an intact file in the cache.

    Args:
        folder, kind, key, suffix: As in `get`.

    Returns:
        The file's path and the message of `make`, or None.
    """
    target, beside = _places(folder, kind, key, suffix)
    # a file that is cut off, or a folder in its place, does not count
    with suppress(OSError):
        made, _, said = beside.read_text(encoding="utf-8", errors="replace").partition("\n")
        if made == digest(target):
            return target, said
    return None


def put(folder: Path, kind: str, key: str, suffix: str, make: Callable[[Path], Any]) -> tuple[Path, Any]:
    """Creates a file of the cache. Arguments and result are those of `get`."""
    target, beside = _places(folder, kind, key, suffix)
    with publish(target) as new:
        said = make(new)
        with publish(beside) as text:
            text.write_text(f"{digest(new)}\n{said}", encoding="utf-8")
    return target, said


def _places(folder: Path, kind: str, key: str, suffix: str) -> tuple[Path, Path]:
    """Returns the paths of a file, and of its digest with the message of `make`."""
    target = folder / kind / key[:2] / (key + suffix)
    return target, target.with_suffix(".sha256")


def digest(*parts: str | bytes | Path) -> str:
    """sha256 of str, bytes, or the contents of a Path; no two different lists of parts look alike."""
    total = hashlib.sha256()
    for part in parts:
        if isinstance(part, str):
            part = part.encode()
        elif isinstance(part, Path):
            part = part.read_bytes()
        total.update(b"%d:" % len(part) + part)
    return total.hexdigest()


@contextmanager
def publish(target: Path) -> Iterator[Path]:
    """Yields a path to write to; if that succeeds, moves the file to `target` in one step.

    Two processes may do so at once: each sees either no file or a complete one.
    """
    _make_folder(target.parent)
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=".new-", suffix=target.suffix)
    os.close(handle)
    try:
        yield Path(name)
        os.chmod(name, 0o644)
        os.replace(name, target)
    except BaseException:
        with suppress(FileNotFoundError):
            os.unlink(name)
        raise


@functools.cache
def native_cpu(*command: str) -> str:
    """Distinguishes CPUs where that matters: by the macros that a compiler sets for "native" in its flags.

    Args:
        *command: The compiler and its flags, as words.

    Returns:
        "" if no flag like -march=native asks for this machine's CPU.

    Raises:
        OSError, subprocess.CalledProcessError: The compiler cannot be asked.
    """
    if not any(word.startswith("-m") and word.endswith("=native") for word in command):
        return ""
    return subprocess.run([*command, "-dM", "-E", "-x", "c++", os.devnull], check=True, capture_output=True,
                          text=True, errors="replace").stdout


def _make_folder(path: Path) -> None:
    """Creates a folder and those above it, not writable by everyone, whatever the umask."""
    if not path.is_dir():
        _make_folder(path.parent)
        path.mkdir(mode=0o775, exist_ok=True)
