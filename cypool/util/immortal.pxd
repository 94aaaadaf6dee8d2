"""Objects without a reference count, where threads would change it all the time."""
from cpython.object cimport PyObject


cdef extern from "cypool/util/immortal.h" namespace "cypool":
    bint can_make_immortal() noexcept
    void make_immortal(PyObject* object) noexcept
