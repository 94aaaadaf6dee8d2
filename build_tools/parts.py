"""The parts of a module: the .pxi files that its .pyx includes. They share one namespace, where names must not clash.

A module costs a second or two of the compiler before its first line; files that a person reads are better small.

    python -m build_tools.parts cypool/engine/engine.pyx

prints which names each part takes from which other part.
"""

import builtins
import re
import sys
from pathlib import Path

from .toolchain import CompileError

_INCLUDE = re.compile(r"^include \"([^\"]+)\"$", re.MULTILINE)
_FROM = re.compile(r"^from[ \t]+([\w.]+)[ \t]+c?import[ \t]+(\([^)]*\)|(?:[^\\\n]|\\\n)*)", re.MULTILINE)
_IMPORT = re.compile(r"^c?import[ \t]+([^\n#]+)", re.MULTILINE)
# not a declaration, which has no colon
_CLASS = re.compile(r"^(?:cdef )?class (\w+)[^\n]*:", re.MULTILINE)
_FUNCTION = re.compile(r"^(?:def|(?:cdef|cpdef)\b(?! (?:class|extern|enum))[^\n(=]*?) (\w+)\(", re.MULTILINE)
_VARIABLE = re.compile(r"^(?:cdef [\w*\[\]. ]*?)?(\w+(?:, \w+)*)\s*=[^=]", re.MULTILINE)
_ENUM = re.compile(r"^(?:cdef|cpdef) enum[^:\n]*:([^\n]*)\n((?:[ \t]+[^\n]*\n)*)", re.MULTILINE)
_EXTERN = re.compile(r"^cdef extern from[^\n]*\n((?:(?:[ \t]+[^\n]*)?\n)+)", re.MULTILINE)
_FOREIGN = re.compile(r"^ {4}(?:cdef )?(?:cppclass|struct|enum class|enum|ctypedef\b.*?) (\w+)"
                      r"|^ {4}(?! )(?!cdef |#|@)[^\n(]*?[ *&](\w+)(?: \"[^\"]*\")?\(", re.MULTILINE)
# docstrings, other texts and comments
_NO_CODE = re.compile(r'"""[\s\S]*?"""|"(?:[^"\\\n]|\\.)*"|#[^\n]*')


def parts_of(source):
    """Returns the files that a module is made of: its .pyx, and its includes."""
    return [source, *(source.parent / name for name in _INCLUDE.findall(source.read_text(encoding="utf-8")))]


def check_names(source):
    """Raises CompileError if a name means two things in the parts of a module.

    Cython itself takes the last import of a name without a word: a `cos` of another library would change results.
    """
    parts = parts_of(source)
    if len(parts) == 1:
        return
    known = {}
    for part in parts:
        for name, meaning in _names(part.read_text(encoding="utf-8"), part):
            if hasattr(builtins, name):
                raise CompileError(f"{part}: expected another name for {name}: the other parts of {source.name} would "
                                   "lose Python's")
            other, other_part = known.setdefault(name, (meaning, part))
            if other != meaning:
                raise CompileError(f"{part}: expected another name for {name}, which {other_part.name} has too: they "
                                   f"are parts of {source.name}, {meaning} and {other}")


def taken_names(source):
    """Yields pairs of a part and what it takes from the others: a dict of their names, by part."""
    texts = {part: part.read_text(encoding="utf-8") for part in parts_of(source)}
    defined = {name: part for part, text in texts.items() for name, meaning in _names(text, part)
               if meaning == _defined_in(part)}
    for part, text in texts.items():
        taken = {}
        for name in sorted(set(re.findall(r"\w+", _NO_CODE.sub("", text)))):
            if defined.get(name, part) != part:
                taken.setdefault(defined[name].name, []).append(name)
        yield part, taken


def _defined_in(part):
    return f"what {part.name} defines"


def _names(text, part):
    """Yields the names at the top of a part, each with its meaning."""
    for module, imported in _FROM.findall(text):
        for each in re.sub(r"[()\\\n]|#[^\n]*", " ", imported).split(","):
            if words := each.split():
                yield words[-1], f"{words[0]} of {module}"
    for imported in _IMPORT.findall(text):
        for each in imported.split(","):
            words = each.split()
            yield (words[-1], words[0]) if "as" in words else (words[0].partition(".")[0],) * 2
    here = _defined_in(part)
    for body in (*_CLASS.findall(text), *_FUNCTION.findall(text)):
        yield body, here
    for names in _VARIABLE.findall(text):
        for name in names.split(", "):
            yield name, here
    for first, body in _ENUM.findall(text):
        for name in re.findall(r"^\s*(\w+)", f"{first}\n{body}", re.MULTILINE):
            yield name, here
    for body in _EXTERN.findall(text):
        for name, function in _FOREIGN.findall(body):
            yield name or function, here


if __name__ == "__main__":
    for file, others in taken_names(Path(sys.argv[1])):
        print(file.name, *(f"    {other}: {', '.join(names)}" for other, names in others.items()), sep="\n")
