"""What `save` tells of an environment: its own state, and what the engine keeps of it."""
from cypool.env cimport Env

cdef dict save_state(Env env)
cdef int check_state(Env env, object state) except -1
cdef int load_state(Env env, dict state) except -1
