"""The layout of MuJoCo's structs, computed from the files of an installed package.

The package's `introspect` lists structs and enumerations, and a header lists the shapes of arrays. The layout follows
from these by the rules of C compilers on 64-bit Linux. MuJoCo itself is not imported.
"""
from __future__ import annotations

import importlib
import re
import sys
import types
from pathlib import Path
from typing import Any, NamedTuple

# scalars by their size, and the letter of those that are used in computations
_SCALARS = {"double": (8, "d"), "mjtNum": (8, "d"), "float": (4, "f"), "int": (4, "i"), "unsigned int": (4, "i"),
            **dict.fromkeys(("char", "unsigned char", "mjtByte", "mjtBool", "bool", "_Bool", "void"), (1, "b")),
            **dict.fromkeys(("size_t", "uintptr_t", "int64_t", "uint64_t", "mjtSize"), (8, "q"))}
# that are used themselves; their members come along
_STRUCTS = ("mjModel", "mjData", "mjContact", "mjWarningStat", "mjvScene", "mjvCamera", "mjvOption", "mjvPerturb",
            "mjrContext")
_LATER_STRUCTS = ("mjLogMessage",)
# rows of X(type, name, rows, columns), or names of other macros
_ROW = re.compile(r"\bX\w*\s*\(\s*\w+\s*,\s*(\w+)\s*,\s*(\w+)\s*,\s*(.+?)\s*\)\s*\\?$|^\s*(MJ\w+_POINTERS_\w+)",
                  re.MULTILINE)


class Field(NamedTuple):
    """A field of a struct.

    Attributes:
        offset: Offset in the outermost struct.
        size: Size of the field.
        item: Size of one of its numbers, or of those it points to; 0 if unknown.
        type: "d", "f", "i", "q" (64 bits), "b" (8 bits): the type of the numbers; "S": anything else.
        is_pointer: Whether the field points to its numbers.
    """

    offset: int
    size: int
    item: int
    type: str
    is_pointer: bool


class Array(NamedTuple):
    """Shape of an array that mjModel or mjData points to: names of mjModel's sizes, and a factor.

    Attributes:
        rows: A size.
        columns: Another size, or "".
        factor: Multiplies the columns.
        is_source: Whether `mj_setConst` reads it.
        is_derived: Whether `mj_setConst` writes to it.
    """

    rows: str
    columns: str
    factor: int
    is_source: bool
    is_derived: bool


class StructLayout(NamedTuple):
    """Everything that cypool needs to know about a version of MuJoCo.

    Attributes:
        sizes: Sizes of structs, in bytes.
        fields: By names such as "mjModel.opt.timestep".
        arrays: By names such as "mjModel.qpos0".
        numbers: Values of enumerations and of macros that are numbers.
        derived_is_known: Whether the header lists the sources and results of `mj_setConst`, as it has since 3.17.
    """

    sizes: dict[str, int]
    fields: dict[str, Field]
    arrays: dict[str, Array]
    numbers: dict[str, int]
    derived_is_known: bool


def read(package: Path) -> StructLayout:
    """Returns the layout of a MuJoCo version from the folder of the package `mujoco`.

    Raises:
        OSError, ImportError, LookupError, AttributeError, TypeError, ValueError: The package lacks needed information.
    """
    introspect = _introspect(package)
    structs = _Structs(introspect.structs.STRUCTS, introspect.enums.ENUMS)
    sizes: dict[str, int] = {}
    fields: dict[str, Field] = {}
    for name in (*_STRUCTS, *(name for name in _LATER_STRUCTS if name in structs.named)):
        sizes[name], _ = structs.lay_out(structs.named[name], name, 0, fields)
    numbers = {}
    for enum in introspect.enums.ENUMS.values():
        numbers.update(enum.values)
    headers = package / "include" / "mujoco"
    for header in ("mjmodel.h", "mjtnum.h", "mjdata.h"):
        text = (headers / header).read_text(encoding="utf-8") if (headers / header).exists() else ""
        numbers.update((name, int(value)) for name, value in re.findall(r"^#define (mjN\w+)\s+(\d+)", text, re.M))
    arrays, derived_is_known = _arrays((headers / "mjxmacro.h").read_text(encoding="utf-8"), numbers)
    return StructLayout(sizes, fields, arrays, numbers, derived_is_known)


def _introspect(package: Path) -> types.SimpleNamespace:
    """Imports two modules of `mujoco.introspect` under another name, without leaving them in `sys.modules`."""
    name = "cypool_mujoco_introspect"
    parent = types.ModuleType(name)
    parent.__path__ = [str(package / "introspect")]
    sys.modules[name] = parent
    try:
        return types.SimpleNamespace(structs=importlib.import_module(f"{name}.structs"),
                                     enums=importlib.import_module(f"{name}.enums"))
    finally:
        for each in [each for each in sys.modules if each.partition(".")[0] == name]:
            del sys.modules[each]


class _Structs:
    """Lays out structs and enums of `mujoco.introspect`."""

    def __init__(self, structs: Any, enums: Any) -> None:
        self.named = {each.declname.removeprefix("struct "): each for each in structs.values()} | dict(structs)
        self._enums = {each.declname.removeprefix("enum ") for each in enums.values()} | set(enums)

    def lay_out(self, struct: Any, path: str, start: int, fields: dict[str, Field]) -> tuple[int, int]:
        """Adds the fields of a struct or union at `start`; returns its size and alignment."""
        at, size, most = 0, 0, 1
        is_union = type(struct).__name__ == "AnonymousUnionDecl"
        for each in struct.fields:
            kind = getattr(each, "type", each)
            name = getattr(each, "name", "")
            inner: dict[str, Field] = {}
            length, align, item, letter, is_pointer = self._sized(kind, f"{path}.{name}".rstrip("."), inner)
            at = 0 if is_union else (at + align - 1) // align * align
            for key, field in inner.items():
                fields[key] = field._replace(offset=field.offset + start + at)
            if name:
                fields[f"{path}.{name}"] = Field(start + at, length, item, letter, is_pointer)
            at += length
            size, most = max(size, at), max(most, align)
        return (size + most - 1) // most * most, most

    def _sized(self, kind: Any, path: str, inner: dict[str, Field]) -> tuple[int, int, int, str, bool]:
        """Returns size, alignment and the rest of `Field`; adds the fields of a struct to `inner`."""
        name = type(kind).__name__
        if name == "PointerType":
            _, _, item, letter, is_pointer = self._pointed(kind.inner_type)
            return 8, 8, 8 if is_pointer else item, "S" if is_pointer else letter, True
        if name == "ArrayType":
            length, align, item, letter, is_pointer = self._sized(kind.inner_type, path, {})
            for extent in kind.extents:
                length *= extent
            return length, align, item, letter, is_pointer
        if name == "ValueType":
            value = kind.name.removeprefix("struct ")
            if value in _SCALARS:
                size, letter = _SCALARS[value]
                return size, size, size, letter, False
            if value in self._enums:
                return 4, 4, 4, "i", False
            kind = self.named[value]
        size, align = self.lay_out(kind, path, 0, inner)
        return size, align, size, "S", False

    def _pointed(self, kind: Any) -> tuple[int, int, int, str, bool]:
        """Does the same for the target of a pointer, which may be unknown."""
        if type(kind).__name__ == "ValueType" and kind.name not in _SCALARS:
            return 0, 1, 0, "S", False
        return self._sized(kind, "", {})


def _arrays(header: str, numbers: dict[str, int]) -> tuple[dict[str, Array], bool]:
    """Returns the arrays of mjModel and mjData that mjxmacro.h lists, and whether it describes mj_setConst."""
    parts = re.split(r"^#define (MJ\w+)", header, flags=re.MULTILINE)
    bodies = {name: body.partition("\n\n")[0] for name, body in zip(parts[1::2], parts[2::2], strict=True)}
    uses = _uses(bodies["MJSETCONST_ARRAYS"]) if "MJSETCONST_ARRAYS" in bodies else None

    def add(struct: str, macro: str) -> None:
        for name, rows, columns, other in _ROW.findall(bodies[macro]):
            if other:
                add(struct, other)
                continue
            factor, size = 1, ""
            for word in re.findall(r"\w+", columns.replace("MJ_M", "")):
                if word.isdigit() or word in numbers:
                    factor *= int(numbers.get(word, word))
                else:
                    size = word
            if uses is None:
                # it may read any array, and write any that is no data of a shape
                is_source = is_derived = not name.startswith(("mesh_", "skin_", "hfield_", "tex_"))
            else:
                is_source, is_derived = uses.get(name, (False, False))
            arrays[f"{struct}.{name}"] = Array(rows, size, factor, is_source, is_derived)

    arrays: dict[str, Array] = {}
    add("mjModel", "MJMODEL_POINTERS")
    add("mjData", "MJDATA_POINTERS")
    return arrays, uses is not None


def _uses(body: str) -> dict[str, tuple[bool, bool]]:
    """Returns, for each array, whether mj_setConst reads it, and whether mj_setConst writes to it.

    The groups of mj_setConst follow one another; the first one that uses a source reads it.
    """
    found = {}
    for name, groups in re.findall(r"X\(\s*(\w+)\s*,(.*?)\)\s*\\?$", body, re.MULTILINE):
        is_source = is_derived = False
        for group in groups.split(","):
            # mjSC_INOUT is both
            is_source |= "mjSC_IN" in group and not is_derived
            is_derived |= "OUT" in group
        found[name] = is_source, is_derived
    return found
