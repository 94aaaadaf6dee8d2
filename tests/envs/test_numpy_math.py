"""numpy_math.pyx's functions of single numbers give the results of NumPy and Python: a million arguments, slow: ten."""
import math
import sys
from pathlib import Path

import numpy as np
import pytest
from markers import exhaustive
from waiting import run_program

SOURCE = """
cimport numpy as cnp
from numpy cimport PyArray_DATA, PyArray_SIZE, ndarray
from libc.math cimport cos as c_cos
from cypool.envs.shared.numerics.numpy_math cimport (cos, cosf, norm, remainder, sin, sincos, sinf, square, squaref,
                                            sum as sum_of, sum_of_squares)

# a typed memoryview takes three times as long to compile; arrays are contiguous
def sums(ndarray doubles, ndarray floats):
    cdef const double* x = <const double*>PyArray_DATA(doubles)
    cdef const float* y = <const float*>PyArray_DATA(floats)
    cdef size_t n = PyArray_SIZE(doubles)
    return sum_of(x, n), sum_of_squares(x, n), sum_of(y, n), sum_of_squares(y, n), norm(x, n)

def of_double(str name, ndarray arguments, ndarray results):
    cdef const double* x = <const double*>PyArray_DATA(arguments)
    cdef double* out = <double*>PyArray_DATA(results)
    cdef Py_ssize_t k
    cdef double s, c
    for k in range(PyArray_SIZE(arguments)):
        if name == "sin":
            out[k] = sin(x[k])
        elif name == "cos":
            out[k] = cos(x[k])
        elif name == "sincos":
            sincos(x[k], &s, &c)
            out[k] = s if k % 2 else c
        elif name == "math.cos":
            out[k] = c_cos(x[k])
        elif name == "square":
            out[k] = square(x[k])
        else:
            out[k] = remainder(x[k], 6.283185307179586)

def of_float(str name, ndarray arguments, ndarray results):
    cdef const float* x = <const float*>PyArray_DATA(arguments)
    cdef float* out = <float*>PyArray_DATA(results)
    cdef Py_ssize_t k
    for k in range(PyArray_SIZE(arguments)):
        out[k] = sinf(x[k]) if name == "sin" else cosf(x[k]) if name == "cos" else squaref(x[k])
"""

# private headers are not installed
ROOT = Path(__file__).resolve().parents[2]

SETUP = f"""
from Cython.Build import cythonize
from setuptools import Extension, setup
import cypool
import numpy
setup(ext_modules=cythonize([Extension("probe", ["probe.pyx"], language="c++",
      include_dirs=[numpy.get_include(), cypool.get_include(), {str(ROOT)!r}],
      define_macros=[("NPY_NO_DEPRECATED_API", "NPY_2_0_API_VERSION")],
      extra_compile_args=["-std=c++20", "-w", "-O1", "-g0"])],
      language_level=3))
"""


def compiled(source, folder):
    """Returns a module `probe`, compiled from a source of Cython that may include headers of families."""
    (folder / "probe.pyx").write_text(source)
    (folder / "setup.py").write_text(SETUP)
    run_program(sys.executable, "setup.py", "-q", "build_ext", "--inplace", check=True, cwd=folder, timeout=900)
    sys.path.insert(0, str(folder))
    try:
        import probe
    finally:
        sys.path.remove(str(folder))
        del sys.modules["probe"]
    return probe


@pytest.fixture(scope="module")
def probe(tmp_path_factory):
    return compiled(SOURCE, tmp_path_factory.mktemp("probe"))


def arguments(scale, count):
    random = np.random.default_rng(count + int(scale))
    return np.concatenate([random.uniform(-scale, scale, count), random.normal(0, 1e-3, 1000),
                           [0.0, -0.0, math.pi, -math.pi, 5e-324, 1e-200]])


@pytest.mark.parametrize("count", [50_000, *exhaustive(2_000_000)])
@pytest.mark.parametrize("scale", [1, 8, 40, 1e3, 1e8])
def test_sine_and_cosine_of_doubles(probe, scale, count):
    x = arguments(scale, count)
    out = np.empty_like(x)
    for name, loop in (("sin", np.sin), ("cos", np.cos)):
        probe.of_double(name, x, out)
        assert out.tobytes() == loop(x).tobytes()
        few = x[-100_000:]
        # one at a time, as environments call them
        assert out[-100_000:].tobytes() == np.array([loop(value) for value in few]).tobytes()
    probe.of_double("sincos", x, out)
    assert out[1::2].tobytes() == np.sin(x)[1::2].tobytes() and out[::2].tobytes() == np.cos(x)[::2].tobytes()
    probe.of_double("math.cos", x, out)
    assert out[-500_000:].tolist() == [math.cos(value) for value in x[-500_000:].tolist()]


@pytest.mark.parametrize("scale", [0.1, 4, 1e4])
def test_functions_of_single_precision(probe, scale):
    x = arguments(scale, 300_000).astype(np.float32)
    out = np.empty_like(x)
    for name, function in (("sin", np.sin), ("cos", np.cos), ("square", lambda value: value ** 2)):
        probe.of_float(name, x, out)
        assert out.tobytes() == np.array([function(value) for value in x]).tobytes()


@pytest.mark.parametrize("count", [200_000, *exhaustive(1_000_000)])
@pytest.mark.parametrize("scale", [1, 8, 100, 1e150])
def test_squares_and_remainders(probe, scale, count):
    x = arguments(scale, count)
    out = np.empty_like(x)
    probe.of_double("square", x, out)
    # NumPy's result for a scalar; checked here on some, as it takes its time
    assert out.tolist() == [math.pow(value, 2.0) for value in x.tolist()]
    assert out[-50_000:].tolist() == [value ** 2 for value in x[-50_000:]]
    probe.of_double("remainder", x, out)
    some = x[-200_000:]
    assert out[-200_000:].tobytes() == np.array([value % (2 * np.pi) for value in some]).tobytes()


def test_a_square_is_not_a_product():
    # or squares would not need a separate function
    x = np.random.default_rng(0).uniform(-13, 13, 200_000)
    assert (np.array([value ** 2 for value in x]) != x * x).any()


def test_sums_and_norms(probe):
    rng = np.random.default_rng(3)
    for n in [*range(1, 40), 84, 127, 128, 129, 136, 137, 255, 256, 257, 1000, 4097]:
        for _ in range(20):
            x = rng.standard_normal(n) * 10.0 ** rng.integers(-3, 4, n)
            y = x.astype(np.float32)
            assert probe.sums(x, y) == (np.sum(x), np.sum(np.square(x)), np.sum(y), np.sum(np.square(y)),
                                        np.linalg.norm(x))
