"""Functions of single numbers that give NumPy's bits, without the GIL.

An environment that follows one written in Python needs the sine that its source calls. `math.sin` is the C library's.
`numpy.sin` is NumPy's own loop: always for float32, for float64 as NumPy was built and the CPU is. Where that gives
what the C library gives, the way through it is left out.
"""
from libc.math cimport sqrt

cimport numpy as cnp

import numpy as np

cdef extern from *:
    """
    static PyArray_DotFunc* dot_of_doubles() {
        return PyDataType_GetArrFuncs(PyArray_DescrFromType(NPY_DOUBLE))->dotfunc;
    }
    """
    ctypedef void (*DotFunc "PyArray_DotFunc*")(void* x, cnp.npy_intp x_stride, void* y, cnp.npy_intp y_stride,
                                                void* result, cnp.npy_intp n, void* array) noexcept nogil
    DotFunc dot_of_doubles()

cnp.import_array()

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


cdef Function np_sin = find(np.sin, cnp.NPY_DOUBLE)
cdef Function np_cos = find(np.cos, cnp.NPY_DOUBLE)
cdef Function np_sinf = find(np.sin, cnp.NPY_FLOAT)
cdef Function np_cosf = find(np.cos, cnp.NPY_FLOAT)
# of the BLAS that NumPy was built with
cdef DotFunc np_dot = dot_of_doubles()
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


cdef double norm(const double* x, Py_ssize_t n) noexcept nogil:
    cdef double squared
    np_dot(<void*>x, sizeof(double), <void*>x, sizeof(double), &squared, n, NULL)
    return sqrt(squared)
