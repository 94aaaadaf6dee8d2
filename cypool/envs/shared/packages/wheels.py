"""Files of packages that cypool uses without importing: found in an installed package, or downloaded with pip."""
from __future__ import annotations

import hashlib
import os
import platform
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from cypool.util import cache
from cypool.util.arguments import check_path, shown
from cypool.util.packages import folder_of


class Wheel(NamedTuple):
    """A wheel for Linux on x86-64 that contains a library.

    Attributes:
        family: The family that uses it.
        package: The name of the package, and of the folder in it.
        version: Its version.
        python: The version of Python that the wheel is for, although the library needs none.
        sha256: The hash of the wheel.
        library: The library's file name in the folder.
        wanted: Files and subfolders to take from the wheel, in addition to all licenses.
        option: The name of the option that gives the folder.
    """

    family: str
    package: str
    version: str
    python: str
    sha256: str
    library: Path
    wanted: tuple[Path, ...]
    option: str

    @property
    def get(self) -> str:
        """The command that downloads it."""
        return f"cypool get {self.family}"

    @property
    def cached(self) -> Path:
        """The package's folder, relative to cypool's cache."""
        return Path(f"{self.package}-{self.version}", self.package)

    def folder_in(self, path: str) -> Path | None:
        """Returns the package's folder, which is `path` or lies in it; None if there is no library."""
        folders = (Path(path), Path(path, self.package))
        return next((each.absolute() for each in folders if os.path.isfile(each / self.library)), None)

    def check_folder(self, name: str, value: Any) -> str:
        """Checks and returns an option that names the package's folder or its parent.

        Raises:
            TypeError, ValueError: It is not a path, or the library is missing.
        """
        path = check_path(name, value)
        if self.folder_in(path) is None:
            raise ValueError(f"{name}: expected {self.package}'s folder, got {shown(path)}")
        return path

    def find(self, path: str | None) -> Path:
        """Returns the package's folder, without opening files or importing anything.

        Args:
            path: That folder or its parent; None: the environment variable named after the family, cypool's cache, or
                an installed package.

        Raises:
            ImportError: It was not found.
        """
        variable = f"CYPOOL_{self.family.upper()}"
        given = path if path is not None else os.environ.get(variable)
        if given:
            found = self.folder_in(given)
            if found is None:
                raise ImportError(f"{variable if path is None else self.option}: expected a folder with "
                                  f"{self.package}/{self.library}, got {shown(given)}")
            return found
        folders = []
        # no search where no file can have been put; and others may put code into an unsafe folder
        with suppress(OSError, cache.UnsafeCache):
            folders.append(cache.folder(make=False) / self.cached)
        # of another package of this name it says nothing
        with suppress(ImportError, ValueError):
            package = folder_of(self.package)
            folders += [Path(package)] if package else []
        for folder in folders:
            if os.path.isfile(folder / self.library):
                return folder
        raise ImportError(f"{self.family}: the {self.package} {self.version} library is missing: {self.get}")

    def is_there(self) -> bool:
        """Whether the package can be found."""
        try:
            self.find(None)
        except ImportError:
            return False
        return True

    def is_valid(self, checked: Callable[[Path], Any]) -> bool:
        """Whether the package is found and right: `checked` raises an ImportError for a wrong folder."""
        try:
            checked(self.find(None))
        except ImportError:
            return False
        return True

    def check_machine(self) -> None:
        """Raises an ImportError if this machine is not supported."""
        if (sys.platform, platform.machine()) != ("linux", "x86_64"):
            raise ImportError(f"{self.family}: expected Linux on x86_64, the only system the library supports, got "
                              f"{sys.platform} on {platform.machine()}")

    def download(self, report: Callable[[str, int, int], Any]) -> Path:
        """Downloads it with pip, checks it and copies the wanted files to cypool's cache.

        Args:
            report: Called with the current action, its progress and its total.

        Returns:
            The folder of the package.

        Raises:
            OSError: pip cannot download it, or the files cannot be written.
            ValueError: The downloaded file is not the expected one.
            UnsafeCache: Other users could put code into the cache.
        """
        target = cache.folder() / self.cached
        target.parent.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".new-", dir=target.parent.parent) as name:
            work = Path(name)
            report("downloads", 0, 1)
            command = [sys.executable, "-m", "pip", "download", "--no-deps", "--python-version", self.python,
                       "--only-binary=:all:", "--platform", "manylinux2014_x86_64", f"{self.package}=={self.version}",
                       "--dest", str(work / "wheel")]
            done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL)
            wheels = list((work / "wheel").glob("*.whl"))
            if done.returncode or len(wheels) != 1:
                said = done.stdout.decode(errors="replace").strip().splitlines()[-1:]
                raise OSError(f"pip: downloading {self.package} {self.version} failed with exit status "
                              f"{done.returncode}{': ' * bool(said)}{''.join(said)}; the command was "
                              f"{' '.join(command[1:])}")
            if hashlib.sha256(wheels[0].read_bytes()).hexdigest() != self.sha256:
                raise ValueError(f"pip: expected a wheel with sha256 {self.sha256}, got a different one in "
                                 f"{wheels[0].name}")
            with zipfile.ZipFile(wheels[0]) as archive:
                wanted = tuple(f"{self.package}/{each}" for each in self.wanted)
                names = [each for each in archive.namelist() if each.startswith(wanted) or "LICENSE" in each]
                for k, each in enumerate(names):
                    archive.extract(each, work / "package")
                    report("unpacks", k + 1, len(names))
            # another process may have done the same meanwhile; the existing files may be damaged
            old = work / "old"
            with suppress(FileNotFoundError):
                os.rename(target.parent, old)
            try:
                os.rename(work / "package", target.parent)
            except OSError:
                if not target.is_dir():
                    raise
        return target
