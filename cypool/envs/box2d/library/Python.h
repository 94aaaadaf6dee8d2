// In the place of Python's header: Box2D includes it for what it does when an assertion fails, which needs the GIL.
#pragma once

#include <stdexcept>

#define PyExc_AssertionError 0

[[noreturn]] inline void PyErr_SetString(int, const char* what) { throw std::logic_error(what); }
