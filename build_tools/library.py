"""Native libraries that are compiled into an extension module.

A library is one declaration: an object with a `family` and a method `prepare`. It lies with the modules that need it,
as `LIBRARY` in the `build.py` of their folder.
"""

import functools
import importlib.util
import os
import tarfile
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from . import cache, sdist, toolchain
from .toolchain import Unit

# the file in a folder of modules that says which library they need
DECLARATION = "build.py"


@functools.cache
def declared_in(folder):
    """Returns the library that the modules in a folder need, or None."""
    path = Path(folder, DECLARATION)
    if not path.is_file():
        return None
    spec = importlib.util.spec_from_file_location(f"{__name__}.of_{path.parent.name}", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.LIBRARY


def left_out():
    """The families of environments that `CYPOOL_WITHOUT` names."""
    return set(os.environ.get("CYPOOL_WITHOUT", "").replace(",", " ").split())


@dataclass(frozen=True)
class Prepared:
    """The compiler and linker settings of a library.

    Attributes:
        include_dirs: for modules that include its headers.
        units: to be compiled and linked with the module, as one archive.
        objects: the same, as single objects: the linker does not search an archive for a symbol that is weak elsewhere.
        flags: for modules that include its headers.
    """

    include_dirs: tuple
    units: tuple = ()
    objects: tuple = ()
    flags: tuple = ()


@dataclass(frozen=True)
class Replacement:
    """A file of ours in the place of one of theirs, or of some functions in it.

    Attributes:
        source: our file. Those with the same one have the same flags.
        instead_of: theirs, relative to the library's root.
        flags: for our file.
        functions: the replaced functions, as the linker calls them; all of their file if there are none. Theirs
            becomes weak. An inline function is that already, and need not be named.
    """

    source: str
    instead_of: str
    flags: tuple
    functions: tuple = ()


@dataclass(frozen=True)
class Rewrite:
    """Replacements for a library: all of them or none are used.

    Attributes:
        replacements: one for each file of theirs.
        written_for: digest of the folders of theirs that have to be unchanged.
        folders: those folders, relative to the library's root.
        variable: environment variable; 1 leaves the library as it is.
        flag: for modules that include the library's headers, if they are compiled in.
        include_dirs: folders of ours with headers in the place of theirs, of the same names.
    """

    replacements: tuple[Replacement, ...]
    written_for: str
    folders: tuple
    variable: str
    flag: str
    include_dirs: tuple = ()

    def missing(self, root):
        """Says why they cannot be used with the sources in a folder; "": they can."""
        given = os.environ.get(self.variable, "")
        if given not in ("", "0", "1"):
            raise ValueError(f"{self.variable}: expected 0 or 1, got {given!r}")
        if given == "1":
            return f"{self.variable}=1"
        for tool in ("objcopy", "nm"):
            if not toolchain.binutil(tool):
                return f"there is no {tool}; GNU binutils have it"
        found = cache.digest(*_files([root / folder for folder in self.folders]))
        if found != self.written_for:
            return f"expected digest {self.written_for} of {', '.join(self.folders)} in {root}, got {found}"
        return ""


class Together:
    """Sources that are compiled as one unit.

    They have to bear that: the same name twice in unnamed namespaces would be an error of the compiler's.
    """

    def __init__(self, *patterns, flags=()):
        """Declares them.

        Args:
            patterns: globs, relative to the library's root.
            flags: for the compiler, behind those of the library.
        """
        self.patterns = patterns
        self.flags = flags


@dataclass(frozen=True, eq=False)
class SourceLibrary:
    """A library compiled from the sources in a pinned sdist.

    Attributes:
        family: the folder of `cypool/envs` that needs it, and the name for `CYPOOL_WITHOUT`.
        sdist: where the sources come from.
        licence: its licence, in SPDX's words.
        licence_file: the file inside the sdist that says so, or a source that does so in its first comment.
        distribution: the wheel that its modules are passed on in; "": cypool's own.
        root: folder inside the sdist; `sources`, `exclude` and `replace` are relative to it.
        further_files: files inside the sdist that are needed, outside of `root` and `include_dirs`.
        sources: globs of files to compile.
        exclude: globs of files not to compile.
        together: each of these groups is compiled as one unit, which takes a fraction of the time.
        replace: file of theirs -> file of ours that is compiled in its place.
        include_dirs: folders inside the sdist.
        own_include_dirs: folders of the project that are searched before all others.
        private_include_dirs: the same, but only for the library itself, not for code that includes its headers.
        flags: for the compiler.
        flags_for_users: for code that includes its headers.
        generate: called with (unpacked sdist, folder to fill with generated headers and sources).
        generated_sources: files to compile in the folder that `generate` fills.
        rewrite: further replacements of ours, where that is possible and wanted.
    """

    family: str
    sdist: sdist.Sdist
    root: str
    sources: tuple
    include_dirs: tuple
    flags: tuple
    exclude: tuple = ()
    together: tuple = ()
    replace: dict = field(default_factory=dict)
    own_include_dirs: tuple = ()
    private_include_dirs: tuple = ()
    flags_for_users: tuple = ()
    generated_sources: tuple = ()
    generate: Callable = lambda unpacked, folder: None
    rewrite: Rewrite | None = None
    further_files: tuple = ()
    licence: str = ""
    licence_file: str = ""
    distribution: str = ""

    def prepare(self, folder):
        """Finds the sources and unpacks them below `folder`.

        Raises:
            SourceNotFound: there are none.
            ValueError: a file that the declaration leaves out or replaces is not there.
        """
        try:
            found = sdist.find(self.sdist)
        except sdist.SourceNotFound as error:
            hint = f"Or do without its environments: CYPOOL_WITHOUT={self.family}"
            raise sdist.SourceNotFound(f"{error}\n{hint}") from None
        wanted = (self.root, *self.include_dirs, self.sdist.version_file, *self.further_files)
        unpacked = found if found.is_dir() else _unpack(found, folder / cache.digest(self.sdist.sha256, *wanted)[:16],
                                                        wanted)
        generated = folder / f"{self.family}-include"
        generated.mkdir(parents=True, exist_ok=True)
        self.generate(unpacked, generated)
        root = unpacked / self.root
        replacements, flags, own = (), self.flags_for_users, self.own_include_dirs
        if self.rewrite:
            missing = self.rewrite.missing(root)
            if missing:
                print(f"{self.sdist.project} is compiled unmodified: {missing}", flush=True)
            else:
                replacements = self.rewrite.replacements
                flags, own = (*flags, self.rewrite.flag), (*self.rewrite.include_dirs, *own)
        own = tuple(Path(path).absolute() for path in own)
        include_dirs = (*own, generated, *(unpacked / path for path in self.include_dirs))
        private_dirs = (*(Path(path).absolute() for path in self.private_include_dirs), *include_dirs)

        # covers all files that a unit of theirs can include, as they are now: they may have been edited since
        common = cache.digest(*_files([root, *private_dirs]))
        weak = {each.instead_of: each.functions for each in replacements}
        units, joined = [], [(group, []) for group in self.together]
        for source in self._sources(root):
            name = source.relative_to(root)
            functions = weak.pop(str(name), None)
            group = next((sources for together, sources in joined
                          if functions is None and any(map(name.match, together.patterns))), None)
            if group is not None:
                group.append(source)
            elif functions != ():
                units.append(Unit(source, self.flags, private_dirs, cache.digest(common, str(name)), functions or ()))
        for number, (together, sources) in enumerate(joined):
            for pattern in together.patterns:
                if not any(source.relative_to(root).match(pattern) for source in sources):
                    raise ValueError(f"{self.sdist.project}: expected sources that match {pattern!r}, found none")
            # not in a folder of headers, which are digested
            unit = folder / f"{self.family}-together" / f"together{number}.cpp"
            unit.parent.mkdir(exist_ok=True)
            unit.write_text("".join(f'#include "{source}"\n' for source in sources))
            names = (str(source.relative_to(root)) for source in sources)
            units.append(Unit(unit, (*self.flags, *together.flags), private_dirs,
                              cache.digest(common, "together:", *names)))
        if weak:
            raise ValueError(f"{self.sdist.project}: expected sources {', '.join(weak)}, found none")
        units += [Unit(generated / name, self.flags, private_dirs, cache.digest(common, name))
                  for name in self.generated_sources]
        units += [Unit(Path(path).absolute(), self.flags, include_dirs) for path in self.replace.values()]
        flags_of = {each.source: each.flags for each in replacements}
        objects = tuple(Unit(Path(source).absolute(), of, include_dirs) for source, of in flags_of.items())
        return Prepared(include_dirs, tuple(units), objects, flags)

    def _sources(self, root):
        found = {path for pattern in self.sources for path in root.glob(pattern)}
        for pattern in (*self.exclude, *self.replace):
            left_out = set(root.glob(pattern))
            if not left_out & found:
                raise ValueError(f"{self.sdist.project}: expected sources that match {pattern!r}, found none")
            found -= left_out
        return sorted(found)


def _unpack(archive, target, wanted):
    """Unpacks some files and folders of a tar.gz with one folder at its top; returns that folder, moved to `target`."""
    def is_wanted(member):
        name = member.name.partition("/")[2]
        return any(path == "." or name == path or name.startswith(f"{path}/") for path in wanted)

    if not target.is_dir():
        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=target.parent) as work, tarfile.open(archive) as tar:
            tar.extraction_filter = getattr(tarfile, "data_filter", None)  # Python before 3.11.4 has none
            tar.extractall(work, filter(is_wanted, tar))
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
