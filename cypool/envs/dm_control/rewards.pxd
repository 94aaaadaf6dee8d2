"""dm_control's `rewards.tolerance`: 1 in [low, high], and less and less outside, each with NumPy's bits."""
# of a single number; what the value is at the distance `margin` follows the name, or is 0.1
cdef double within(double x, double low, double high) noexcept nogil                   # no margin
cdef double gaussian(double x, double low, double high, double margin) noexcept nogil
cdef double linear(double x, double low, double high, double margin, double value_at_margin) noexcept nogil
cdef double long_tail(double x, double low, double high, double margin) noexcept nogil
cdef double reciprocal(double x, double low, double high, double margin) noexcept nogil
# of an element of an array, whose square differs from a number's
cdef double gaussian_of_element(double x, double margin) noexcept nogil                # around 0
cdef double small_control(const double* ctrl, Py_ssize_t n) noexcept nogil             # mean of quadratic ones, 0 at 1
