"""The saved state of an environment: its own state, and the engine's data on it."""
from cypool.env cimport Env

cdef dict save_state(Env env)
cdef dict check_state(Env env, object state)
cdef int load_state(Env env, dict row) except -1
