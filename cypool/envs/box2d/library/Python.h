// In the place of Python's header: Box2D includes it for its failed assertions, which need the GIL.
#pragma once

#include <stdexcept>

#define PyExc_AssertionError 0

[[noreturn]] inline void PyErr_SetString(int, const char* what) { throw std::logic_error(what); }
