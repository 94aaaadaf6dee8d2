// Whether an object is held by one reference alone.
#pragma once

#include <Python.h>

// Python 3.14 counts fewer references than there are, and has a function that says what is held once
#if PY_VERSION_HEX >= 0x030E0000
#define CYPOOL_HELD_ONCE(object) PyUnstable_Object_IsUniquelyReferenced(object)
#else
#define CYPOOL_HELD_ONCE(object) (Py_REFCNT(object) == 1)
#endif
