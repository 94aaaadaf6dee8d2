"""Files that are replaced completely, or not at all."""
from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO


@contextmanager
def replacing(path: str, over: bool = True) -> Iterator[BinaryIO]:
    """Opens a file that gets its name when the block ends and it is on the disk, but not after an exception.

    Args:
        over: Whether to replace an existing file.

    Raises:
        FileExistsError: It exists, and is not to be replaced.
        OSError: It cannot be written.
    """
    unfinished = f"{path}.{os.getpid()}.{threading.get_ident()}.new"
    try:
        with open(unfinished, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        if over or not _linked(unfinished, path):
            os.replace(unfinished, path)
        # the name, too, has to be on the disk
        folder = os.open(os.path.dirname(path) or ".", os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
    finally:
        if os.path.exists(unfinished):
            os.remove(unfinished)


def _linked(source: str, target: str) -> bool:
    """Gives a file a name that no other has; returns whether the file system has links."""
    try:
        # unlike a renaming it fails if the name is there
        os.link(source, target)
    except FileExistsError:
        raise
    except OSError:
        return False
    return True
