"""Files kept under the hash of what they were made from, for the next build (from any checkout).

The folder only ever grows and everything in it can be made again: delete it whenever you like.
"""

import atexit
import functools
import hashlib
import os
import shutil
import tempfile
from contextlib import contextmanager, suppress
from pathlib import Path


@functools.cache
def folder():
    """The cache folder: `$CYPOOL_CACHE`, else `$XDG_CACHE_HOME/cypool`, else `~/.cache/cypool`.

    Where that cannot be written, a private temporary folder that dies with this build.
    """
    base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    path = Path(os.environ.get("CYPOOL_CACHE") or os.path.join(base, "cypool")).absolute()
    with suppress(OSError):
        path.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=path):
            return path
    path = tempfile.mkdtemp(prefix="cypool-build-")
    atexit.register(shutil.rmtree, path, ignore_errors=True)
    return Path(path)


def get(kind, key, suffix, make):
    """Gets a file from the cache, made now if it is not there yet.

    Args:
        kind: folder in the cache.
        key: hash of everything the file is made from.
        suffix: of the file.
        make: writes the path it is given; returns what there is to say about it, such as warnings, or "".

    Returns:
        The file's path, and what `make` said when the file was made (maybe in another build).
    """
    target = folder() / kind / key[:2] / (key + suffix)
    remarks = target.with_suffix(".txt")
    if not target.exists():
        with publish(target) as new:
            said = make(new)
            if said:
                with publish(remarks) as text:
                    text.write_text(said)
    return target, remarks.read_text() if remarks.exists() else ""


def digest(*parts):
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
def publish(target):
    """Yields a path to write; when that went well, moves it to `target` in one step.

    Two builds may run at once: each sees either no file or a complete one.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
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
