# NumPy's results for a single number, bit for bit
from libc.math cimport cos as c_cos
from libc.math cimport sin as c_sin

cdef extern from "cypool/envs/shared/numerics/numpy_math.h" namespace "cypool" nogil:
    double square(double x) noexcept            # numpy.float64(x) ** 2, which is not x * x
    float squaref(float x) noexcept             # numpy.float32(x) ** 2
    double remainder(double x, double y) noexcept    # x % y with the sign of y

cdef extern from "cypool/envs/shared/numerics/numpy_sum.h" namespace "cypool" nogil:
    T sum[T](const T* x, size_t n) noexcept                # np.sum(x)
    T sum_of_squares[T](const T* x, size_t n) noexcept     # np.sum(np.square(x))


cdef inline double clip(double x, double low, double high) noexcept nogil:
    # np.clip, of NaN too
    if x < low:
        x = low
    return high if x > high else x


cdef bint is_c                                  # the C library gives the same sine and cosine
cdef double numpy_sin(double x) noexcept nogil
cdef double numpy_cos(double x) noexcept nogil


cdef inline double sin(double x) noexcept nogil:
    return c_sin(x) if is_c else numpy_sin(x)


cdef inline double cos(double x) noexcept nogil:
    return c_cos(x) if is_c else numpy_cos(x)


cdef inline void sincos(double x, double* s, double* c) noexcept nogil:
    if is_c:
        # one call, to sincos, which the compiler makes of the two
        s[0], c[0] = c_sin(x), c_cos(x)
    else:
        s[0], c[0] = numpy_sin(x), numpy_cos(x)


cdef float sinf(float x) noexcept nogil
cdef float cosf(float x) noexcept nogil
cdef double norm(const double* x, Py_ssize_t n) noexcept nogil     # np.linalg.norm of an array of one dimension
cdef double dot(const double* x, const double* y, Py_ssize_t n) noexcept nogil     # x.dot(y), of one dimension
cdef float dotf(const float* x, const float* y, Py_ssize_t n) noexcept nogil
cdef double exp(double x) noexcept nogil
cdef double log(double x) noexcept nogil
cdef double log1p(double x) noexcept nogil
cdef double tanh(double x) noexcept nogil
cdef double arcsinh(double x) noexcept nogil
cdef double arccos(double x) noexcept nogil
cdef double arctan2(double y, double x) noexcept nogil
# of arrays, which must not touch
cdef void tan_of(const double* x, double* out, Py_ssize_t n) noexcept nogil
cdef void arctan_of(const double* x, double* out, Py_ssize_t n) noexcept nogil
cdef void arcsin_of(const double* x, double* out, Py_ssize_t n) noexcept nogil
cdef void power_of(const double* x, const double* y, double* out, Py_ssize_t n) noexcept nogil
cdef void arctan2_of(const double* y, const double* x, double* out, Py_ssize_t n) noexcept nogil
# of three numbers and three times three, row by row: vector.dot(matrix), a.dot(b)
cdef void vector_times_matrix(const double* vector, const double* matrix, double* out) noexcept nogil
cdef void matrix_times_vector(const double* matrix, const double* vector, int n, double* out) noexcept nogil  # (3, n)
cdef void matrix_times_matrix(const double* a, const double* b, double* out) noexcept nogil
