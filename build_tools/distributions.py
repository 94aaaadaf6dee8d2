"""Splits a wheel of the whole package in two: cypool's, and the one that a library's `build.py` names.

    python -m build_tools.distributions WHEEL FOLDER

ALE is under GPL-2, and so is a binary that contains it: cypool's own wheel has none of it. The modules that name ids
stay there. Each of the two has the licences of all that is compiled into it, and a list of its files with theirs.
"""

import base64
import hashlib
import re
import sys
import tarfile
import zipfile
from importlib import metadata
from pathlib import Path

from . import sdist
from .library import declared_in, left_out

STAYS = ("__init__.py", "ids.py", "roms.py")
OWN, NUMPY = "Apache-2.0", "BSD-3-Clause"
# names of ALE's classes, and a text that ALE prints
TRACES = (b"N3ale", b"ale::", b"Arcade Learning Environment")


def libraries():
    """Returns the libraries that are compiled in, by family."""
    found = (declared_in(path.parent) for path in sorted(Path(__file__).parents[1].glob("cypool/envs/*/build.py")))
    return {library.family: library for library in found if library.family not in left_out()}


def split(wheel, folder):
    """Writes both wheels to a folder; returns their paths."""
    (library,) = (library for library in libraries().values() if library.distribution)
    project, other_name = library.distribution, library.distribution.replace("-", "_")
    inside = f"cypool/envs/{library.family}/"
    with zipfile.ZipFile(wheel) as archive:
        files = {name: archive.read(name) for name in archive.namelist() if not name.endswith(("/", "/RECORD"))}
    info = next(name.partition("/")[0] for name in files if ".dist-info/" in name)
    version = info.removesuffix(".dist-info").partition("-")[2]
    theirs = {name for name in files if name.startswith(inside) and name.removeprefix(inside) not in STAYS}
    said = files[f"{info}/METADATA"].decode()
    extra = f"Provides-Extra: {library.family}\n"
    requirement = f'Requires-Dist: {project}=={version}; extra == "{library.family}"\n'
    own = {name: data for name, data in files.items() if name not in theirs}
    own[f"{info}/METADATA"] = said.replace(extra, extra + requirement).encode()
    head = re.findall(r"^(?:Metadata-Version|Version|Project-URL|Keywords|Classifier|Requires-Python): .*\n", said,
                      re.MULTILINE)
    other_info = f"{other_name}-{version}.dist-info"
    other = {name: files[name] for name in theirs}
    other[f"{other_info}/METADATA"] = "".join([
        *head, f"Name: {project}\nSummary: Environments of cypool that contain {library.sdist.project}\n",
        f"License-Expression: {OWN}\nLicense-File: LICENSE\nRequires-Dist: cypool=={version}\n\n",
        f"Part of cypool: `pip install \"cypool[{library.family}]\"`. It contains what is compiled from the source\n",
        f"distribution {library.sdist.filename}, which is on the Python Package Index.\n"]).encode()
    other[f"{other_info}/WHEEL"] = files[f"{info}/WHEEL"]
    other[f"{other_info}/licenses/LICENSE"] = files[f"{info}/licenses/LICENSE"]
    own.pop(f"{info}/top_level.txt", None)
    traces = [name for name, data in own.items() if name.endswith(".so") and any(map(data.__contains__, TRACES))]
    if traces:
        raise SystemExit(f"expected none of ALE in cypool's wheel, found it in {', '.join(traces)}")
    if not any(name.endswith(".so") and all(map(data.__contains__, TRACES[:1])) for name, data in other.items()):
        raise SystemExit(f"expected ALE in the wheel of {project}, found no trace of it: TRACES has to be another")
    name = Path(wheel).name
    return [_write(Path(folder, name), own, info),
            _write(Path(folder, name.replace("cypool-", f"{other_name}-", 1)), other, other_info)]


def _write(path, files, info):
    """Writes a wheel with the licences of the libraries in it."""
    known = libraries()
    inside = {name: [library for family, library in known.items() if Path(name).parent.name == family]
              for name in files if name.endswith(".so")}
    listed = []
    for name in sorted(name for name in files if not name.startswith(info)):
        # NumPy's distributions of random numbers are linked into all modules
        others = [f"{NUMPY} (NumPy)"] * (name in inside)
        others += [f"{library.licence} ({library.sdist.project})" for library in inside.get(name, ())]
        listed.append(f"{name}: {' AND '.join([OWN, *others])}\n")
    found = {library for each in inside.values() for library in each}
    texts = {f"{library.sdist.project}.txt": _text_of(library) for library in found}
    # older versions have no folder for licences
    numpy = next(file for file in metadata.files("numpy")
                 if re.search(r"\.dist-info/(licenses/)?LICENSE\.txt$", str(file)))
    texts["NumPy.txt"] = numpy.read_binary()
    files.update({f"{info}/licenses/{name}": text for name, text in texts.items()})
    files[f"{info}/licenses/FILES.txt"] = "".join(listed).encode()
    licence = f"License-Expression: {expression(found)}\n"
    licence += "".join(f"License-File: {name}\n" for name in sorted(["FILES.txt", *texts]))
    said = files[f"{info}/METADATA"].decode()
    said = re.sub(r"^License-Expression: .*\n", licence, said, flags=re.MULTILINE)
    files[f"{info}/METADATA"] = said.encode()
    record = f"{info}/RECORD"
    lines = []
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            lines.append(f"{name},sha256={digest},{len(data)}\n")
        archive.writestr(record, "".join([*lines, f"{record},,\n"]))
    return path


def expression(of):
    """Returns the licence, in SPDX's words, of modules that contain some libraries."""
    return " AND ".join([OWN, *sorted({NUMPY, *(library.licence for library in of)})])


def _text_of(library):
    """Returns the licence of a library; of a source that has it, the first comment."""
    with tarfile.open(sdist.find(library.sdist)) as archive:
        member = next(each for each in archive if each.name.partition("/")[2] == library.licence_file)
        text = archive.extractfile(member).read()
    return text.partition(b"*/")[0].lstrip(b"/*\n ") if text.startswith(b"/*") else text


if __name__ == "__main__":
    for made in split(*sys.argv[1:]):
        print(made)
