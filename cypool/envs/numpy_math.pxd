# of a single number, what NumPy gives, bit for bit
cdef double sin(double x) noexcept nogil
cdef double cos(double x) noexcept nogil
cdef void sincos(double x, double* s, double* c) noexcept nogil
cdef float sinf(float x) noexcept nogil
cdef float cosf(float x) noexcept nogil
cdef double square(double x) noexcept nogil     # numpy.float64(x) ** 2, which is not x * x
cdef float squaref(float x) noexcept nogil      # numpy.float32(x) ** 2
cdef double remainder(double x, double y) noexcept nogil    # x % y with the sign of y
