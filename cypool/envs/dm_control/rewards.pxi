# dm_control's `rewards.tolerance`: 1 in [low, high], and less and less outside, each with NumPy's bits.
import numpy as np

from libc.math cimport fabs, sqrt

from cypool.envs.shared.numerics.numpy_math cimport exp, square, sum as numpy_sum

cdef double GAUSSIAN_SCALE = np.sqrt(-2 * np.log(0.1))
# no control has more
cdef enum: MAX_CONTROLS = 128


cdef inline double outside(double x, double low, double high, double margin) noexcept nogil:
    """Returns the distance to the nearest bound, in margins."""
    return (low - x if x < low else x - high) / margin


# of a single number; the value at the distance `margin` follows the name, or is 0.1


cdef double within(double x, double low, double high) noexcept nogil:
    return 1.0 if low <= x <= high else 0.0


cdef double gaussian(double x, double low, double high, double margin) noexcept nogil:
    if low <= x <= high:
        return 1.0
    return exp(-0.5 * square(outside(x, low, high, margin) * GAUSSIAN_SCALE))


cdef double linear(double x, double low, double high, double margin, double value_at_margin) noexcept nogil:
    cdef double scaled
    if low <= x <= high:
        return 1.0
    scaled = outside(x, low, high, margin) * (1 - value_at_margin)
    return 1 - scaled if fabs(scaled) < 1 else 0.0


cdef double long_tail(double x, double low, double high, double margin) noexcept nogil:
    if low <= x <= high:
        return 1.0
    return 1 / (square(outside(x, low, high, margin) * sqrt(1 / 0.1 - 1)) + 1)


cdef double reciprocal(double x, double low, double high, double margin) noexcept nogil:
    if low <= x <= high:
        return 1.0
    return 1 / (fabs(outside(x, low, high, margin)) * (1 / 0.1 - 1) + 1)


cdef double gaussian_of_element(double x, double margin) noexcept nogil:
    """For an array element around 0, whose square differs from a number's."""
    cdef double scaled
    if x == 0:
        return 1.0
    scaled = outside(x, 0, 0, margin) * GAUSSIAN_SCALE
    return exp(-0.5 * (scaled * scaled))


cdef double small_control(const double* ctrl, Py_ssize_t n) noexcept nogil:
    """Returns the mean of quadratic terms, which are 0 at 1."""
    cdef double[MAX_CONTROLS] values
    cdef Py_ssize_t k
    for k in range(n):
        values[k] = 1 - ctrl[k] * ctrl[k] if fabs(ctrl[k]) < 1 else 0.0
    return numpy_sum(&values[0], n) / n
