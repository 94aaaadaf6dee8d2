"""Native libraries that are compiled into an extension module.

A library is one declaration, such as `ale.ALE`. Another kind (say, a shared library that comes with a wheel)
is another class with a `family` and the same `prepare`.
"""

import tarfile
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from . import cache, sdist
from .toolchain import Unit


@dataclass(frozen=True)
class Prepared:
    """What it takes to use a library.

    Attributes:
        include_dirs: for whoever includes its headers.
        units: to be compiled and linked with the module, as one archive.
        link_arguments: further words for the linker.
    """

    include_dirs: tuple
    units: tuple = ()
    link_arguments: tuple = ()


@dataclass(frozen=True, eq=False)
class SourceLibrary:
    """A library compiled from the sources in a pinned sdist.

    Attributes:
        family: the folder of `cypool/envs` that needs it, and the name for `CYPOOL_WITHOUT`.
        sdist: where the sources come from.
        root: folder inside the sdist; `sources`, `exclude` and `replace` are relative to it.
        sources: globs of what to compile.
        exclude: globs of what not to.
        replace: file of theirs -> file of ours that is compiled in its place.
        include_dirs: folders inside the sdist.
        own_include_dirs: folders of the project that are searched before all others.
        flags: for the compiler.
        generate: called with (unpacked sdist, folder to fill with generated headers).
    """

    family: str
    sdist: sdist.Sdist
    root: str
    sources: tuple
    include_dirs: tuple
    flags: tuple
    exclude: tuple = ()
    replace: dict = field(default_factory=dict)
    own_include_dirs: tuple = ()
    generate: Callable = lambda unpacked, folder: None

    def prepare(self, folder):
        """Finds the sources and unpacks them below `folder`.

        Raises:
            SourceNotFound: there are none.
            ValueError: what the declaration leaves out or replaces is not there.
        """
        try:
            found = sdist.find(self.sdist)
        except sdist.SourceNotFound as error:
            hint = f"Or do without its environments: CYPOOL_WITHOUT={self.family}"
            raise sdist.SourceNotFound(f"{error}\n{hint}") from None
        unpacked = found if found.is_dir() else _unpack(found, folder / self.sdist.sha256[:16])
        generated = folder / f"{self.family}-include"
        generated.mkdir(parents=True, exist_ok=True)
        self.generate(unpacked, generated)
        own = tuple(Path(path).absolute() for path in self.own_include_dirs)
        include_dirs = (*own, generated, *(unpacked / path for path in self.include_dirs))

        root = unpacked / self.root

        # covers whatever a unit of theirs can include; the pinned hash spares us reading the sdist's files
        folders = [root, *include_dirs] if found.is_dir() else [*own, generated]
        common = cache.digest(self.sdist.sha256 if found.is_file() else "", *_files(folders))
        units = []
        for source in self._sources(root):
            name = str(source.relative_to(root))
            units.append(Unit(source, self.flags, include_dirs, cache.digest(common, name)))
        for path in self.replace.values():
            units.append(Unit(Path(path).absolute(), self.flags, include_dirs))
        return Prepared(include_dirs, tuple(units))

    def _sources(self, root):
        found = {path for pattern in self.sources for path in root.glob(pattern)}
        for pattern in (*self.exclude, *self.replace):
            left_out = set(root.glob(pattern))
            if not left_out & found:
                raise ValueError(f"{self.sdist.project}: expected sources that match {pattern!r}, found none")
            found -= left_out
        return sorted(found)


def _unpack(archive, target):
    """Unpacks a tar.gz with one folder at its top; returns that folder, moved to `target`."""
    if not target.is_dir():
        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=target.parent) as work, tarfile.open(archive) as tar:
            tar.extraction_filter = getattr(tarfile, "data_filter", None)  # Python before 3.10.12 has none
            tar.extractall(work)
            (top,) = Path(work).iterdir()
            top.rename(target)
    return target


def _files(folders):
    """Names and contents of all files below some folders, for a digest."""
    for folder in folders:
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                yield str(path.relative_to(folder))
                yield path
