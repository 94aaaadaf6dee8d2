"""Functions of single numbers that give NumPy's bits, without the GIL.

An environment that follows one written in Python needs the sine that its source calls. `math.sin` is the C library's.
`numpy.sin` is NumPy's own loop: always for float32, for float64 as NumPy was built and the CPU is. Where that gives
what the C library gives, the way through it is left out.
"""
from libc.math cimport copysign, fabs, fmod
from libc.stdint cimport uint32_t, uint64_t
from libc.string cimport memcpy

cimport numpy as cnp

import numpy as np

cdef extern from *:
    """
    #include <cmath>
    // through pointers: of pow(x, 2) the compiler makes x * x, which is rounded differently
    static double (*volatile c_pow)(double, double) = pow;
    static float (*volatile c_powf)(float, float) = powf;
    """
    double c_pow(double x, double y) noexcept nogil
    float c_powf(float x, float y) noexcept nogil

ctypedef void (*Loop)(char** args, cnp.npy_intp* dimensions, cnp.npy_intp* steps, void* data) noexcept nogil

cdef struct Function:
    Loop loop
    void* data


cdef Function find(cnp.ufunc ufunc, char dtype) except *:
    """Returns NumPy's loop of a function of one argument, for a type number."""
    cdef Function found
    cdef int k
    for k in range(ufunc.ntypes):
        if ufunc.types[2 * k] == dtype and ufunc.types[2 * k + 1] == dtype:
            found.loop = <Loop><void*>ufunc.functions[k]
            found.data = ufunc.data[k]
            return found
    raise ImportError(f"numpy.{ufunc.__name__}: expected a loop for type {dtype}, found none")


cdef double call(const Function* function, double x) noexcept nogil:
    cdef double result
    cdef char** args = [<char*>&x, <char*>&result]
    cdef cnp.npy_intp one = 1
    cdef cnp.npy_intp* steps = [sizeof(double), sizeof(double)]
    function.loop(args, &one, steps, function.data)
    return result


cdef float callf(const Function* function, float x) noexcept nogil:
    cdef float result
    cdef char** args = [<char*>&x, <char*>&result]
    cdef cnp.npy_intp one = 1
    cdef cnp.npy_intp* steps = [sizeof(float), sizeof(float)]
    function.loop(args, &one, steps, function.data)
    return result


cdef double EPSILON = np.finfo(np.float64).eps
cdef double EPSILON_F = np.finfo(np.float32).eps
cdef Function np_sin = find(np.sin, cnp.NPY_DOUBLE)
cdef Function np_cos = find(np.cos, cnp.NPY_DOUBLE)
cdef Function np_sinf = find(np.sin, cnp.NPY_FLOAT)
cdef Function np_cosf = find(np.cos, cnp.NPY_FLOAT)
# another sine differs in the last bit at hundreds of these
is_c = True
cdef int _k
for _k in range(10_000):
    is_c &= call(&np_sin, 0.003 * _k) == c_sin(0.003 * _k) and call(&np_cos, 0.003 * _k) == c_cos(0.003 * _k)


cdef double numpy_sin(double x) noexcept nogil:
    return call(&np_sin, x)


cdef double numpy_cos(double x) noexcept nogil:
    return call(&np_cos, x)


cdef float sinf(float x) noexcept nogil:
    return callf(&np_sinf, x)


cdef float cosf(float x) noexcept nogil:
    return callf(&np_cosf, x)


cdef double square(double x) noexcept nogil:
    # x * x as the sum of `rounded` and `error`, exactly, from the halves of x (Dekker)
    cdef double rounded = x * x
    cdef double scaled = 134217729.0 * x
    cdef double upper = scaled - (scaled - x)
    cdef double lower = x - upper
    cdef double error = ((upper * upper - rounded) + 2 * upper * lower) + lower * lower
    cdef uint64_t bits
    cdef double binade
    memcpy(&bits, &rounded, sizeof(double))
    bits &= <uint64_t>0x7FF << 52
    memcpy(&binade, &bits, sizeof(double))
    # pow is off by 0.04 units in the last place before it rounds: it rounds otherwise only near the middle between two
    # numbers. Away from there, which is nine times in ten, this is three times as fast
    if fabs(error) < 0.45 * EPSILON * binade:
        return rounded
    return c_pow(x, 2.0)


cdef float squaref(float x) noexcept nogil:
    cdef double exact = <double>x * x
    cdef float rounded = <float>exact
    cdef uint32_t bits
    cdef float binade
    memcpy(&bits, &rounded, sizeof(float))
    bits &= <uint32_t>0xFF << 23
    memcpy(&binade, &bits, sizeof(float))
    # as above; of all floats, powf rounds none otherwise that is farther than 0.002 from the middle
    if fabs(exact - rounded) < 0.49 * EPSILON_F * binade:
        return rounded
    return c_powf(x, 2.0)


cdef double remainder(double x, double y) noexcept nogil:
    cdef double rest = fmod(x, y)
    if rest == 0:
        return copysign(0.0, y)
    return rest + y if (rest < 0) != (y < 0) else rest
