// The C++ of nearly all Cython modules includes this. A build compiles it once, see toolchain.py.
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <compile.h>
#include <frameobject.h>
#include <pythread.h>
#include <structmember.h>
#include <traceback.h>

#include <math.h>
#include <stdalign.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <complex>
#include <ios>
#include <memory>
#include <mutex>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <typeinfo>
#include <utility>
#include <vector>
