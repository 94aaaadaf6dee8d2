# shared declarations of this family's modules
from libc.stdint cimport int64_t
from libc.string cimport memcpy


cdef extern from "cypool/envs/box2d/engine.h" namespace "cypool::box2d" nogil:
    cdef struct b2Vec2 "b2Vec2":
        float x, y
    cdef struct Point:
        double x, y
    void initialize() except +


cdef inline void read_action(char dtype, const void* action, int count, double* numbers) noexcept nogil:
    # dtype: NumPy's character for it
    cdef int k
    if dtype == b"f":
        for k in range(count):
            numbers[k] = (<const float*>action)[k]
    elif dtype == b"d":
        memcpy(numbers, action, count * sizeof(double))
    else:
        numbers[0] = <double>(<const int64_t*>action)[0]
