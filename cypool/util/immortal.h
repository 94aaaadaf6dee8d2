// Objects without a reference count, where threads would change it all the time.
#pragma once

#include <Python.h>

#include <cstdint>

namespace cypool {

#ifdef Py_GIL_DISABLED
// Python 3.13 and 3.14 make an object immortal that gets this number of references. They do not promise it
inline constexpr Py_ssize_t MANY_REFERENCES = static_cast<Py_ssize_t>(UINT32_MAX) + 1;
#endif

// Whether this Python does as those do, as an object shows that nobody needs. With the GIL nothing is made immortal.
inline bool can_make_immortal() noexcept {
#if defined(Py_GIL_DISABLED) && PY_VERSION_HEX >= 0x030F0000
    return false;
#elif defined(Py_GIL_DISABLED)
    PyObject* object = PyFloat_FromDouble(0.5);
    if (object == nullptr) {
        PyErr_Clear();
        return false;
    }
    Py_SET_REFCNT(object, MANY_REFERENCES);
    const Py_ssize_t count = Py_REFCNT(object);
    Py_INCREF(object);
    return Py_REFCNT(object) == count;
#else
    return true;
#endif
}

// Makes an object immortal that lives until the process ends anyway: CPUs wait for each other where threads change the
// same reference count. With the GIL, or if another thread has made it, it stays as it is.
inline void make_immortal([[maybe_unused]] PyObject* object) noexcept {
#if defined(Py_GIL_DISABLED) && PY_VERSION_HEX < 0x030F0000
    if (_Py_IsOwnedByCurrentThread(object)) Py_SET_REFCNT(object, MANY_REFERENCES);
#endif
}

}  // namespace cypool
