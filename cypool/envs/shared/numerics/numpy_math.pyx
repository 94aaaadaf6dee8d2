# distutils: extra_compile_args = -O2
"""Functions of single numbers that return exactly NumPy's results, without the GIL.

An environment that follows one written in Python needs the sine that its source calls. `math.sin` is the C library's.
`numpy.sin` is NumPy's own loop: always for float32, and for float64 depending on NumPy's build and the CPU. If its
results equal the C library's, the C library is called directly.
"""
from libc.math cimport fabs, sqrt

cimport numpy as cnp
from cython cimport floating

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
    static PyArray_DotFunc* dot_of(int type) {
        return PyDataType_GetArrFuncs(PyArray_DescrFromType(type))->dotfunc;
    }
    """
    ctypedef void (*DotFunc "PyArray_DotFunc*")(void* x, cnp.npy_intp x_stride, void* y, cnp.npy_intp y_stride,
                                                void* result, cnp.npy_intp n, void* array) noexcept nogil
    DotFunc dot_of(int type)

cnp.import_array()

ctypedef void (*Loop)(char** args, cnp.npy_intp* dimensions, cnp.npy_intp* steps, void* data) noexcept nogil

cdef struct Function:
    Loop loop
    void* data


cdef Function find(object ufunc, str types) except *:
    """Returns NumPy's loop of a function for the given types of arguments and result: "d->d", "dd->d"."""
    cdef Function found
    cdef const PyUFuncObject* fields = <const PyUFuncObject*>ufunc
    cdef Py_ssize_t k
    # a struct of another layout shows here, before it is read out of bounds
    if (type(ufunc) is not np.ufunc or fields.nin != types.index("-") or fields.nout != 1
            or ufunc.nargs != fields.nin + 1 or fields.ntypes != len(ufunc.types)):
        raise ImportError(f"numpy {np.__version__}: expected {ufunc!r} with the fields of numpy/ufuncobject.h")
    if types not in ufunc.types:
        raise ImportError(f"{ufunc!r}: expected a loop for type '{types}', found {ufunc.types}")
    k = ufunc.types.index(types)
    found.loop = <Loop>fields.functions[k]
    found.data = fields.data[k]
    return found


cdef int expect(str what, object found, object expected, str where="") except -1:
    if found != expected:
        raise ImportError(f"numpy {np.__version__}: expected its {what} to return {expected}{where}, got {found}")
    return 0


cdef int check() except -1:
    """Calls the loops as environments do, and compares the results with NumPy's own."""
    cdef double x, product_of_vectors = 0
    cdef double[3] vector = [0.3, -1.7, 29.0]
    cdef double[9] matrix = [0.1, -0.7, 0.3, 0.6, 0.2, 1.9, -0.4, 0.8, 0.5]
    cdef double[9] product
    for dtype in (np.float64, np.float32):
        for x in vector:
            array = np.array([x], dtype)
            if dtype is np.float64:
                found = [call(&np_sin, x), call(&np_cos, x)]
            else:
                found = [call(&np_sinf, <float>x), call(&np_cosf, <float>x)]
            expect("sine and cosine loops", found, [np.sin(array)[0].item(), np.cos(array)[0].item()],
                   f" for {dtype.__name__} {x}")
    row, rows = np.array(vector), np.array(matrix).reshape(3, 3)
    if np_dot != NULL:
        np_dot(vector, sizeof(double), vector, sizeof(double), &product_of_vectors, 3, NULL)
    expect("dot product", product_of_vectors, np.dot(row, row))
    for x in vector:
        for ufunc, found, *arguments in (
                (np.exp, exp(-x), -x), (np.log, log(fabs(x)), fabs(x)), (np.log1p, log1p(fabs(x)), fabs(x)),
                (np.arccos, arccos(x / 30), x / 30), (np.tanh, tanh(x), x), (np.arcsinh, arcsinh(x), x),
                (np.arctan2, arctan2(x, 0.7), x, 0.7)):
            expect(f"{ufunc.__name__} loop", found, ufunc(*arguments).item())
    # of three at once
    tan_of(vector, product, 3)
    arctan_of(vector, &product[3], 3)
    power_of(&matrix[3], vector, &product[6], 3)
    found = list(product)
    arcsin_of(matrix, product, 3)
    arctan2_of(matrix, vector, &product[3], 3)
    found += list(product)[:6]
    expect("ufuncs", found, np.concatenate([np.tan(row), np.arctan(row), np.power(rows[1], row), np.arcsin(rows[0]),
                                            np.arctan2(rows[0], row)]).tolist())
    vector_times_matrix(vector, matrix, product)
    found = list(product)[:3]
    matrix_times_vector(matrix, vector, 3, product)
    found += list(product)[:3]
    matrix_times_matrix(matrix, matrix, product)
    found += list(product)
    return expect("matrix products", found,
                  [*row.dot(rows).tolist(), *(rows @ row).tolist(), *rows.dot(rows).ravel().tolist()])


# of n numbers each
cdef void call_of(const Function* function, const floating* x, floating* out, cnp.npy_intp n) noexcept nogil:
    cdef char** args = [<char*>x, <char*>out]
    cdef cnp.npy_intp* steps = [sizeof(floating), sizeof(floating)]
    function.loop(args, &n, steps, function.data)


cdef void call_two_of(const Function* function, const double* x, const double* y, double* out,
                      cnp.npy_intp n) noexcept nogil:
    cdef char** args = [<char*>x, <char*>y, <char*>out]
    cdef cnp.npy_intp* steps = [sizeof(double), sizeof(double), sizeof(double)]
    function.loop(args, &n, steps, function.data)


# numpy 2.0 takes arrays that touch for overlapping, and computes those without SIMD, with other bits: so arguments and
# results have a gap between them
cdef floating call(const Function* function, floating x) noexcept nogil:
    cdef floating[3] memory = [x, 0, 0]
    call_of(function, <const floating*>&memory[0], &memory[2], 1)
    return memory[2]


cdef double call_two(const Function* function, double x, double y) noexcept nogil:
    cdef double[5] memory = [x, 0, y, 0, 0]
    call_two_of(function, &memory[0], &memory[2], &memory[4], 1)
    return memory[4]


cdef void multiply(const double* a, int rows, const double* b, double* out) noexcept nogil:
    """Writes the product of a matrix with three columns and a 3 x 3 matrix."""
    cdef char** args = [<char*>a, <char*>b, <char*>out]
    cdef cnp.npy_intp* sizes = [1, rows, 3, 3]
    cdef cnp.npy_intp row = 3 * sizeof(double), item = sizeof(double)
    # from one product to the next, of which there is none; then rows and columns of each
    cdef cnp.npy_intp* steps = [0, 0, 0, row, item, row, item, row, item]
    np_matmul.loop(args, sizes, steps, np_matmul.data)


cdef Function np_sin = find(np.sin, "d->d")
cdef Function np_cos = find(np.cos, "d->d")
cdef Function np_sinf = find(np.sin, "f->f")
cdef Function np_cosf = find(np.cos, "f->f")
cdef Function np_exp = find(np.exp, "d->d")
cdef Function np_log = find(np.log, "d->d")
cdef Function np_log1p = find(np.log1p, "d->d")
cdef Function np_tanh = find(np.tanh, "d->d")
cdef Function np_arcsinh = find(np.arcsinh, "d->d")
cdef Function np_arccos = find(np.arccos, "d->d")
cdef Function np_tan = find(np.tan, "d->d")
cdef Function np_arctan = find(np.arctan, "d->d")
cdef Function np_arcsin = find(np.arcsin, "d->d")
cdef Function np_power = find(np.power, "dd->d")
cdef Function np_arctan2 = find(np.arctan2, "dd->d")
cdef Function np_matmul = find(np.matmul, "dd->d")
# of the BLAS that NumPy was built with
cdef DotFunc np_dot = dot_of(cnp.NPY_DOUBLE)
cdef DotFunc np_dotf = dot_of(cnp.NPY_FLOAT)
check()


cdef bint agrees(double x) noexcept nogil:
    return call(&np_sin, x) == c_sin(x) and call(&np_cos, x) == c_cos(x)


# another sine differs in the last bit at hundreds of these
is_c = True
cdef int _k
for _k in range(10_000):
    # of all sizes, down to where a sine is its argument, and where it takes many bits of pi
    is_c &= agrees(0.003 * _k) and agrees(-1e-8 * 1.005 ** _k if _k < 8_000 else 1e5 * _k)


cdef double numpy_sin(double x) noexcept nogil:
    return call(&np_sin, x)


cdef double numpy_cos(double x) noexcept nogil:
    return call(&np_cos, x)


cdef float sinf(float x) noexcept nogil:
    return call(&np_sinf, x)


cdef float cosf(float x) noexcept nogil:
    return call(&np_cosf, x)


cdef double dot(const double* x, const double* y, Py_ssize_t n) noexcept nogil:
    cdef double product
    np_dot(<void*>x, sizeof(double), <void*>y, sizeof(double), &product, n, NULL)
    return product


cdef float dotf(const float* x, const float* y, Py_ssize_t n) noexcept nogil:
    cdef float product
    np_dotf(<void*>x, sizeof(float), <void*>y, sizeof(float), &product, n, NULL)
    return product


cdef double norm(const double* x, Py_ssize_t n) noexcept nogil:
    return sqrt(dot(x, x, n))


cdef double exp(double x) noexcept nogil:
    return call(&np_exp, x)


cdef double log(double x) noexcept nogil:
    return call(&np_log, x)


cdef double log1p(double x) noexcept nogil:
    return call(&np_log1p, x)


cdef double tanh(double x) noexcept nogil:
    return call(&np_tanh, x)


cdef double arcsinh(double x) noexcept nogil:
    return call(&np_arcsinh, x)


cdef double arccos(double x) noexcept nogil:
    return call(&np_arccos, x)


cdef double arctan2(double y, double x) noexcept nogil:
    return call_two(&np_arctan2, y, x)


cdef void tan_of(const double* x, double* out, Py_ssize_t n) noexcept nogil:
    call_of(&np_tan, x, out, n)


cdef void arctan_of(const double* x, double* out, Py_ssize_t n) noexcept nogil:
    call_of(&np_arctan, x, out, n)


cdef void arcsin_of(const double* x, double* out, Py_ssize_t n) noexcept nogil:
    call_of(&np_arcsin, x, out, n)


cdef void power_of(const double* x, const double* y, double* out, Py_ssize_t n) noexcept nogil:
    call_two_of(&np_power, x, y, out, n)


cdef void arctan2_of(const double* y, const double* x, double* out, Py_ssize_t n) noexcept nogil:
    call_two_of(&np_arctan2, y, x, out, n)


cdef void vector_times_matrix(const double* vector, const double* matrix, double* out) noexcept nogil:
    multiply(vector, 1, matrix, out)


cdef void matrix_times_vector(const double* matrix, const double* vector, int n, double* out) noexcept nogil:
    cdef char** args = [<char*>matrix, <char*>vector, <char*>out]
    cdef cnp.npy_intp* sizes = [1, 3, n, 1]
    cdef cnp.npy_intp row = n * sizeof(double), item = sizeof(double)
    cdef cnp.npy_intp* steps = [0, 0, 0, row, item, item, item, item, item]
    np_matmul.loop(args, sizes, steps, np_matmul.data)


cdef void matrix_times_matrix(const double* a, const double* b, double* out) noexcept nogil:
    multiply(a, 3, b, out)
