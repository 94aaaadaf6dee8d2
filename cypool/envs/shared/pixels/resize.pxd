"""Resizing of gray images, pixel for pixel like OpenCV's INTER_AREA or INTER_LINEAR."""
from libc.stdint cimport uint8_t
from libcpp cimport bool as cbool


cdef extern from "cypool/envs/shared/pixels/resize.h" namespace "cypool" nogil:
    # const once built: threads may share one
    cdef cppclass Resize:
        # sizes are at least 1, none is enlarged, and planes have at most 2^23 pixels
        Resize(cbool by_area, int height, int width, int out_height, int out_width) except +
        Resize(cbool by_area, int height, int width, int out_height, int out_width, cbool simd) except +
        # plane: height * width bytes, out: out_height * out_width bytes; they must not overlap
        void run "operator()"(const uint8_t* plane, uint8_t* out) noexcept


# raises unless the value is a C-contiguous uint8 array
cdef int check_bytes(str name, object value) except -1
