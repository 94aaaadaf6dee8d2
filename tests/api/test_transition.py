"""`Transition` is written for C++, Cython, ctypes and Numba. All four are the same struct."""
import ctypes
import re
from pathlib import Path

import numpy as np
import pytest

import cypool
from cypool.hooks import TRANSITION_DTYPE, Transition

KINDS = {"double": ("f", 8), "uint8_t": ("u", 1), "int32_t": ("i", 4)}
ADDRESS = ("u", 8)


def declared(path, start, end):
    """The fields of a struct as C lays them out: (name, kind and size, offset) of each; and its size."""
    text = re.sub(r"(//|#).*", "", path.read_text().partition(start)[2].partition(end)[0] + "\n")
    fields, at = [], 0
    for kind, name in re.findall(r"([\w* ]+?)\s*\b(\w+);?\s*\n", text):
        kind = ADDRESS if "*" in kind else KINDS[kind.strip()]
        at = -(-at // kind[1]) * kind[1]
        fields.append((name, kind, at))
        at += kind[1]
    return fields, -(-at // 8) * 8


def in_cpp():
    return declared(Path(cypool.get_include(), "cypool", "transition.h"), "struct Transition {\n", "};")


def in_cython():
    return declared(Path(cypool.__file__).with_name("hooks.pxd"), "cdef struct Transition:\n", "\n\n")


def in_ctypes():
    def kind_of(kind):
        pointer = kind is ctypes.c_void_p or issubclass(kind, ctypes._Pointer)
        return ADDRESS if pointer else (np.dtype(kind).kind, ctypes.sizeof(kind))

    fields = [(name, kind_of(kind), getattr(Transition, name).offset) for name, kind in Transition._fields_]
    return fields, ctypes.sizeof(Transition)


def in_numba():
    fields = [(name, (dtype.kind, dtype.itemsize), at)
              for name, (dtype, at) in ((name, TRANSITION_DTYPE.fields[name]) for name in TRANSITION_DTYPE.names)]
    return fields, TRANSITION_DTYPE.itemsize


@pytest.mark.parametrize("other", [in_cython, in_ctypes, in_numba])
def test_all_have_the_same_fields(other):
    fields, size = in_cpp()
    assert len(fields) == 10
    assert other() == (fields, size)
