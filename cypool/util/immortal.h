// Objects without a reference count, where threads would change it all the time.
#pragma once

#include <Python.h>

#include <cstdint>

namespace cypool {

// Makes an object immortal that lives until the process ends anyway: CPUs wait for each other where threads change the
// same reference count. With the GIL, or if another thread has made it, it stays as it is.
inline void make_immortal([[maybe_unused]] PyObject* object) noexcept {
#ifdef Py_GIL_DISABLED
    // Python makes an object immortal that has this number of references
    if (_Py_IsOwnedByCurrentThread(object)) Py_SET_REFCNT(object, static_cast<Py_ssize_t>(UINT32_MAX) + 1);
#endif
}

}  // namespace cypool
