"""The cache of a build: cypool's own, loaded by its path, as the package cannot be imported before it is compiled."""

import atexit
import errno
import functools
import os
import shutil
import tempfile
from contextlib import suppress
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

_path = Path(__file__).resolve().parents[1] / "cypool" / "util" / "cache.py"
_spec = spec_from_file_location("build_tools._cache", _path)
_shared = module_from_spec(_spec)
_spec.loader.exec_module(_shared)

UnsafeCache, digest, native_cpu, publish = _shared.UnsafeCache, _shared.digest, _shared.native_cpu, _shared.publish

# bytes that the files of a build take in the cache
ROOM = 150 << 20


@functools.cache
def folder():
    """The cache folder; where there is none that can be written, a private temporary one that dies with this build.

    Raises:
        UnsafeCache: `CYPOOL_CACHE` names a folder that others could put code into.
    """
    with suppress(OSError):
        try:
            path = _shared.folder()
            with tempfile.TemporaryFile(dir=path):
                return path
        except UnsafeCache as error:
            # a home folder may be another user's, as under sudo or in a container: no reason to build nothing
            if os.environ.get("CYPOOL_CACHE"):
                raise
            print(f"without a cache: {error}", flush=True)
    return _temporary()


@functools.cache
def folder_of_new():
    """Where new files go: the cache folder, or where it has no room, a private temporary one."""
    path = folder()
    if has_room(path, ROOM) or not has_room(None, ROOM):
        return path
    other = _temporary()
    print(f"{path} has no room for {ROOM >> 20} MB: new files are in {other} until this build ends", flush=True)
    return other


def has_room(path, size):
    """Whether a folder (None: that of temporary files) takes a file of this size, in bytes. Only writes show quotas."""
    try:
        with tempfile.TemporaryFile(dir=path) as file:
            os.posix_fallocate(file.fileno(), 0, size)
    except OSError as error:
        # ENOENT: the full one is not usable, says tempfile
        return error.errno not in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.ENOENT)
    return True


def _temporary():
    path = tempfile.mkdtemp(prefix="cypool-build-")
    atexit.register(shutil.rmtree, path, ignore_errors=True)
    return Path(path)


def get(kind, key, suffix, make):
    """A file of the cache folder; see `get` in cypool/util/cache.py."""
    return find(kind, key, suffix) or _shared.get(folder_of_new(), kind, key, suffix, make)


def find(kind, key, suffix):
    """A file of the cache folder, or None; see `find` in cypool/util/cache.py."""
    return _shared.find(folder(), kind, key, suffix)


def put(kind, key, suffix, make):
    """Makes a file of the cache folder; see `put` in cypool/util/cache.py."""
    return _shared.put(folder_of_new(), kind, key, suffix, make)
