// Whether an object is held by one reference alone.
#pragma once

#include <Python.h>

// Python 3.14 counts fewer references than there are, and has a function that says whether an object is held once.
// Without the GIL it says so on the thread that made the object, of one that no other thread has let go of and that has
// had no weak reference: then no other thread can come to a reference
#if PY_VERSION_HEX >= 0x030E0000
#define CYPOOL_IS_UNIQUELY_REFERENCED(object) PyUnstable_Object_IsUniquelyReferenced(object)
#elif defined(Py_GIL_DISABLED)
// the same check with the functions of Python 3.13
#define CYPOOL_IS_UNIQUELY_REFERENCED(object)                                                           \
    (_Py_IsOwnedByCurrentThread(object) && _Py_atomic_load_uint32_relaxed(&(object)->ob_ref_local) == 1 \
     && _Py_atomic_load_ssize_relaxed(&(object)->ob_ref_shared) == 0)
#else
#define CYPOOL_IS_UNIQUELY_REFERENCED(object) (Py_REFCNT(object) == 1)
#endif
