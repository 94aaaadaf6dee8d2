"""Digests a source with all that it includes: for the key of an object, without a run of the preprocessor."""

import functools
import re
from pathlib import Path

from . import cache

# every file that may be read counts, although an #ifdef may leave it out
_INCLUDE = re.compile(rb"^[ \t]*#[ \t]*include[ \t]*[<\"]([^>\"]+)[>\"]", re.MULTILINE)


def digest_of(source, prefixed, include_dirs):
    """Returns the digest of a source, of the headers that are read before it, and of all that these include.

    Files outside of the folders are the compiler's and the C library's: their versions stand for them, see
    `toolchain.compiler_identity`. The names of folders do not count: those of pip's build environments are temporary.
    """
    found, todo = set(), [source, *prefixed]
    while todo:
        path = todo.pop()
        for name in _read(path)[1]:
            header = next(filter(None, (_at(folder, name) for folder in (path.parent, *include_dirs))), None)
            if header and (key := (name, _read(header)[0])) not in found:
                found.add(key)
                todo.append(header)
    return cache.digest(*(_read(path)[0] for path in (source, *prefixed)),
                        *(part for key in sorted(found) for part in key))


@functools.cache
def _at(folder, name):
    path = Path(folder, name)
    return path if path.is_file() else None


def _read(path):
    """Returns the digest of a file, and the names that it includes."""
    found = path.stat()
    return _read_version(path, found.st_mtime_ns, found.st_size)


@functools.cache
def _read_version(path, *_):
    text = path.read_bytes()
    return cache.digest(text), tuple(name.decode(errors="replace") for name in _INCLUDE.findall(text))
