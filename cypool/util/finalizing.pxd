"""Whether Python is shutting down: a thread that returns to it then hangs forever, or is ended."""

cdef extern from *:
    """
    #if PY_VERSION_HEX < 0x030D0000
    #define Py_IsFinalizing _Py_IsFinalizing
    #endif
    """
    bint Py_IsFinalizing() noexcept nogil
