# of a single number, what NumPy gives, bit for bit
from libc.math cimport cos as c_cos
from libc.math cimport sin as c_sin

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
cdef double square(double x) noexcept nogil     # numpy.float64(x) ** 2, which is not x * x
cdef float squaref(float x) noexcept nogil      # numpy.float32(x) ** 2
cdef double remainder(double x, double y) noexcept nogil    # x % y with the sign of y
