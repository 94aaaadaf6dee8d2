"""Whether Python is ending: then a thread that comes back to it is held for ever, or ended."""

cdef extern from *:
    """
    #if PY_VERSION_HEX < 0x030D0000
    #define Py_IsFinalizing _Py_IsFinalizing
    #endif
    """
    bint Py_IsFinalizing() noexcept nogil
