"""Files of replay buffers: a header, followed by the arrays of a ring that it describes."""
from __future__ import annotations

import fcntl
import json
import mmap
import operator
import os
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np

from cypool.util.arguments import shown
from cypool.util.replacing import replacing

if TYPE_CHECKING:
    from collections.abc import Mapping
    from io import BufferedRandom

    from numpy.typing import NDArray

MAGIC = b"cypool replay 1\n"
ALIGNMENT = mmap.ALLOCATIONGRANULARITY
_LONGEST_HEADER = 2**20  # of another buffer, to say how it differs
EXPECTED = "path: expected a replay buffer file"

Shapes = dict[str, tuple[tuple[int, ...], Any]]


def header_of(contents: Mapping[str, Any]) -> bytes:
    """Returns the beginning of a file: the same bytes for the same contents, so that a file is compared, not read."""
    text = json.dumps(contents, sort_keys=True).encode()
    header = MAGIC + text
    return header + bytes(-len(header) % ALIGNMENT)


def offsets_of(header: bytes, shapes: Shapes) -> tuple[dict[str, int], int]:
    """Returns the offset of each array in a file, and the length of the file."""
    offsets, end = {}, len(header)
    for name, (shape, dtype) in shapes.items():
        offsets[name] = end
        size = int(np.prod(shape, dtype=object)) * np.dtype(dtype).itemsize
        end += size + -size % ALIGNMENT
    return offsets, end


def arrays_of(data: NDArray[np.uint8], header: bytes, shapes: Shapes) -> dict[str, NDArray[Any]]:
    """Returns the arrays over the bytes of a file."""
    offsets, _ = offsets_of(header, shapes)
    arrays = {}
    for name, (shape, dtype) in shapes.items():
        size = int(np.prod(shape, dtype=object)) * np.dtype(dtype).itemsize
        arrays[name] = data[offsets[name]:offsets[name] + size].view(dtype).reshape(shape)
    return arrays


def mapped(path: str, header: bytes, shapes: Shapes) -> tuple[BufferedRandom, np.memmap[Any, Any]]:
    """Maps a file, which is created if it is missing.

    Returns:
        The file, which is locked while it is open; and its bytes.

    Raises:
        ValueError: The file belongs to a different buffer, is not a buffer's, or is open in another buffer.
        OSError: It cannot be read or written, or the disk is full.
    """
    if not os.path.exists(path):
        # another buffer may be faster; the lock decides whose it is
        with suppress(FileExistsError):
            create(path, header, shapes, {}, over=False)
    # closed by the caller that gets it, or here
    file = open(path, "r+b")
    try:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise ValueError(f"path: expected a file that is not open in another buffer, got {path}") from error
        check(file, header, shapes)
        return file, np.memmap(file, np.uint8, "r+")
    except BaseException:
        file.close()
        raise


def check(file: Any, header: bytes, shapes: Shapes) -> None:
    """Raises a ValueError if a file does not have this header and size."""
    _, size = offsets_of(header, shapes)
    got = file.read(len(header))
    if not got.startswith(MAGIC):
        raise ValueError(f"{EXPECTED}, got a file that begins with {got[:20]!r}")
    if got != header:
        wanted, found = _contents_of(header), _contents_of(got + file.read(_LONGEST_HEADER))
        differing = [name for name in {**wanted, **found} if wanted.get(name, False) != found.get(name, False)]
        if not found or not differing:
            raise ValueError(f"{EXPECTED}, got a damaged one")
        expected, has = (", ".join(f"{name} {shown(contents.get(name, False))}" for name in differing)
                         for contents in (wanted, found))
        raise ValueError(f"{EXPECTED} with {expected}, got one with {has}")
    if os.fstat(file.fileno()).st_size != size:
        raise ValueError(f"{EXPECTED} of {size} bytes, got {os.fstat(file.fileno()).st_size}")


def _contents_of(header: bytes) -> dict[str, Any]:
    """Returns the contents of a file by its header, in terms of the arguments; nothing if it is damaged."""
    text, end, _ = header[len(MAGIC):].partition(b"\0")
    try:
        contents = dict(json.loads(text))
        # each environment has its part; a text times a number would be a text
        capacity = operator.index(contents.pop("rows")) * operator.index(contents["num_envs"])
        return {**contents, "capacity": capacity} if end else {}
    except (ValueError, TypeError, KeyError, RecursionError):
        return {}


def create(path: str, header: bytes, shapes: Shapes, arrays: Mapping[str, NDArray[Any]], over: bool = True) -> None:
    """Writes a file, which gets its name when it is complete; missing arrays are zero.

    Args:
        over: Whether to replace an existing file.

    Raises:
        FileExistsError: It exists, and is not to be replaced.
        OSError: It cannot be written.
    """
    offsets, size = offsets_of(header, shapes)
    with replacing(path, over) as file:
        # without room for it, a write to the mapped memory would end the process
        os.posix_fallocate(file.fileno(), 0, size)
        file.write(header)
        for name, array in arrays.items():
            file.seek(offsets[name])
            array.tofile(file)


def read(file: Any, header: bytes, shapes: Shapes, targets: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """Reads a file that was checked into arrays; returns those that are not among the targets.

    Raises:
        ValueError: It has shrunk.
        OSError: It cannot be read.
    """
    offsets, _ = offsets_of(header, shapes)
    others = {}
    for name, (shape, dtype) in shapes.items():
        if name not in targets:
            others[name] = np.empty(shape, dtype)
        target = targets[name] if name in targets else others[name]
        file.seek(offsets[name])
        if file.readinto(target.data) != target.nbytes:
            raise ValueError(f"{EXPECTED}, got one that has shrunk")
    return others


def close(file: Any, unlocks: bool) -> None:
    """Closes a file, so that another buffer can open it; a forked process does not own the lock."""
    if unlocks and not file.closed:
        # the mapping keeps the file open
        fcntl.flock(file, fcntl.LOCK_UN)
    file.close()
