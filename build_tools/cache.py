"""The cache of a build: cypool's own, loaded by its path, as the package cannot be imported before it is compiled."""

import atexit
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
    path = tempfile.mkdtemp(prefix="cypool-build-")
    atexit.register(shutil.rmtree, path, ignore_errors=True)
    return Path(path)


def get(kind, key, suffix, make):
    """A file of the cache folder; see `get` in cypool/util/cache.py."""
    return _shared.get(folder(), kind, key, suffix, make)


def find(kind, key, suffix):
    """A file of the cache folder, or None; see `find` in cypool/util/cache.py."""
    return _shared.find(folder(), kind, key, suffix)


def put(kind, key, suffix, make):
    """Makes a file of the cache folder; see `put` in cypool/util/cache.py."""
    return _shared.put(folder(), kind, key, suffix, make)
