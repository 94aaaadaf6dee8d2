"""`Transition` and `Decision` are written for C++, Cython, ctypes and Numba. All four are the same struct."""
import ctypes
import re
from pathlib import Path

import numpy as np
import pytest

import cypool
from cypool.hooks import TRANSITION_DTYPE, Transition
from cypool.policies import DECISION_DTYPE, Decision

KINDS = {"double": ("f", 8), "uint8_t": ("u", 1), "int32_t": ("i", 4), "int64_t": ("i", 8)}
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


STRUCTS = {"Transition": ("transition.h", "hooks.pxd", Transition, TRANSITION_DTYPE, 11),
           "Decision": ("policy.h", "policies/__init__.pxd", Decision, DECISION_DTYPE, 10)}


def in_cython(name):
    return declared(Path(cypool.__file__).parent / STRUCTS[name][1], f"cdef struct {name}:\n", "\n\n")


def in_ctypes(name):
    def kind_of(kind):
        pointer = kind is ctypes.c_void_p or issubclass(kind, ctypes._Pointer)
        return ADDRESS if pointer else (np.dtype(kind).kind, ctypes.sizeof(kind))

    struct = STRUCTS[name][2]
    fields = [(field, kind_of(kind), getattr(struct, field).offset) for field, kind in struct._fields_]
    return fields, ctypes.sizeof(struct)


def in_numba(name):
    struct = STRUCTS[name][3]
    fields = [(field, (dtype.kind, dtype.itemsize), at)
              for field, (dtype, at) in ((field, struct.fields[field]) for field in struct.names)]
    return fields, struct.itemsize


@pytest.mark.parametrize("other", [in_cython, in_ctypes, in_numba])
@pytest.mark.parametrize("name", STRUCTS)
def test_all_have_the_same_fields(name, other):
    header, *_, count = STRUCTS[name]
    fields, size = declared(Path(cypool.get_include(), "cypool", header), f"struct {name} {{\n", "};")
    assert len(fields) == count
    assert other(name) == (fields, size)
