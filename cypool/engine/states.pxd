"""The saved state of an environment: its own state, and the engine's data on it."""
from cpython.ref cimport PyObject

from cypool.env cimport Env

cdef dict save_state(Env env)
cdef dict check_state(Env env, object state)
cdef int load_state(Env env, dict row) except -1

# both of one class and spec, not the same
cdef int copy_env(PyObject* target, PyObject* source) except -1 nogil
# has an environment start over whose copy failed half way
cdef void note_failed_copy(PyObject* env, object error)
