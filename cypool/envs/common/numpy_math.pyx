"""Functions of single numbers that give NumPy's bits, without the GIL.

An environment that follows one written in Python needs the sine that its source calls. `math.sin` is the C library's.
`numpy.sin` is NumPy's own loop: always for float32, for float64 as NumPy was built and the CPU is. Where that gives
what the C library gives, the way through it is left out.
"""
from libc.math cimport sqrt

cimport numpy as cnp

import numpy as np

# through NumPy's header, which the running library was compiled from: its .pxd declares other fields in each version
cdef extern from "numpy/ufuncobject.h":
    ctypedef struct PyUFuncObject:
        int nin
        int nout
        int ntypes
        void** functions
        void** data

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


cdef Function find(object ufunc, str dtype) except *:
    """Returns NumPy's loop of a function of one argument, for a type's character code."""
    cdef Function found
    cdef const PyUFuncObject* fields = <const PyUFuncObject*>ufunc
    cdef Py_ssize_t k
    # a struct of another layout shows here, before it is read out of bounds
    if (type(ufunc) is not np.ufunc or fields.nin != 1 or fields.nout != 1 or ufunc.nargs != 2
            or fields.ntypes != len(ufunc.types)):
        raise ImportError(f"numpy {np.__version__}: expected {ufunc!r} with the fields of numpy/ufuncobject.h")
    if f"{dtype}->{dtype}" not in ufunc.types:
        raise ImportError(f"{ufunc!r}: expected a loop for type '{dtype}->{dtype}', found {ufunc.types}")
    k = ufunc.types.index(f"{dtype}->{dtype}")
    found.loop = <Loop>fields.functions[k]
    found.data = fields.data[k]
    return found


cdef int check() except -1:
    """Calls what was found as environments do, and compares with what NumPy itself gives."""
    cdef double x, product = 0
    cdef double[3] vector = [0.3, -1.7, 29.0]
    for dtype in (np.float64, np.float32):
        for x in vector:
            array = np.array([x], dtype)
            if dtype is np.float64:
                found = [call(&np_sin, x), call(&np_cos, x)]
            else:
                found = [callf(&np_sinf, <float>x), callf(&np_cosf, <float>x)]
            expected = [np.sin(array)[0].item(), np.cos(array)[0].item()]
            if found != expected:
                raise ImportError(f"numpy {np.__version__}: expected {expected} from its loops of sine and cosine for "
                                  f"{dtype.__name__} {x}, got {found}")
    if np_dot != NULL:
        np_dot(vector, sizeof(double), vector, sizeof(double), &product, 3, NULL)
    expected = np.dot(np.array(vector), np.array(vector))
    if product != expected:
        raise ImportError(f"numpy {np.__version__}: expected {expected} from its product of vectors, got {product}")
    return 0


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


cdef Function np_sin = find(np.sin, "d")
cdef Function np_cos = find(np.cos, "d")
cdef Function np_sinf = find(np.sin, "f")
cdef Function np_cosf = find(np.cos, "f")
# of the BLAS that NumPy was built with
cdef DotFunc np_dot = dot_of_doubles()
check()
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
