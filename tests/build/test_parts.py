"""The parts of a module: names that two of them have, and names that hide Python's."""
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def module(tmp_path):
    """Writes a module of two parts; returns its .pyx."""

    def write(first, second):
        (tmp_path / "first.pxi").write_text(first)
        (tmp_path / "second.pxi").write_text(second)
        (tmp_path / "whole.pyx").write_text('"""Both."""\ninclude "first.pxi"\ninclude "second.pxi"\n')
        return tmp_path / "whole.pyx"

    return write


@pytest.mark.parametrize("first, second, name", [
    ("from libc.math cimport cos\n", "from cypool.envs.shared.numerics.numpy_math cimport cos\n", "cos"),
    ("from libc.math cimport (sin,\n    cos)\n", "cdef double cos(double x) noexcept nogil:\n    return 0\n", "cos"),
    ("import math\n", "from cypool import spec as math\n", "math"),
    ("cdef enum:\n    LEFT\n    RIGHT = 3    # of the car\n", "LEFT = 2\n", "LEFT"),
    ("cdef double DT = 0.2\n", "cdef double DT = 0.05\n", "DT"),
    ("def f(x):\n    pass\n", "class f:\n    pass\n", "f"),
    ("cdef class World:\n    pass\n",
     'cdef extern from "a.h" nogil:\n    cdef cppclass World "b::World":\n        int x\n', "World"),
    ('cdef extern from "a.h" nogil:\n    void set_simd "a::set"(bint on) noexcept\n',
     'cdef extern from "b.h" nogil:\n    void set_simd "b::set"(bint on) noexcept\n', "set_simd"),
])
def test_name_with_two_meanings_is_refused(build_tools, module, first, second, name):
    with pytest.raises(build_tools.toolchain.CompileError, match=f"second.pxi: expected another name for {name}, which "
                                                                 "first.pxi has too"):
        build_tools.parts.check_names(module(first, second))


def test_name_that_hides_one_of_python_is_refused(build_tools, module):
    with pytest.raises(build_tools.toolchain.CompileError, match="expected another name for round"):
        build_tools.parts.check_names(module("from libc.math cimport round\n", ""))


def test_same_import_in_two_parts_is_allowed(build_tools, module):
    text = "import numpy as np\n\nfrom libc.math cimport cos\n\ncimport numpy as cnp\n"
    source = module(text, text + "cdef double x = cos(1)\n")
    build_tools.parts.check_names(source)
    assert [part.name for part in build_tools.parts.parts_of(source)] == ["whole.pyx", "first.pxi", "second.pxi"]


def test_taken_names_are_those_that_other_parts_define(build_tools, module):
    source = module("cdef int f(int x):\n    return x\n\n\ndef g():\n    pass\n",
                    '"""Calls g."""\ncdef int h():\n    # not g\n    return f(len("g"))\n')
    assert {part.name: taken for part, taken in build_tools.parts.taken_names(source)} == {
        "whole.pyx": {}, "first.pxi": {}, "second.pxi": {"first.pxi": ["f"]}}


def test_names_of_our_own_modules_are_unique(build_tools):
    modules = [path for path in (ROOT / "cypool").rglob("*.pyx") if len(build_tools.parts.parts_of(path)) > 1]
    assert modules
    for path in modules:
        build_tools.parts.check_names(path)


def test_change_of_a_part_makes_the_module_again_and_errors_name_the_part(build_tools, tmp_path, monkeypatch):
    pytest.importorskip("Cython")
    monkeypatch.chdir(tmp_path)
    house = Path("house")
    house.mkdir()
    (house / "top.pyx").write_text('include "part.pxi"\n')
    (house / "part.pxi").write_text("cdef int number = 3\n")

    def generate():
        build_tools.cythonize.generate("house.top", house / "top.pyx", tmp_path / "top.cpp")
        return (tmp_path / "top.cpp").read_text()

    first = generate()
    (house / "part.pxi").write_text("cdef int number = 4\n")
    assert generate() != first
    (house / "part.pxi").write_text("\n\ncdef int number = unheard_of\n")
    with pytest.raises(build_tools.toolchain.CompileError, match=r"part.pxi:3:\d+: .*unheard_of"):
        generate()
