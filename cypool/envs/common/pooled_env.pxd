from cpython.ref cimport PyObject
from libcpp.memory cimport shared_ptr
from libcpp.vector cimport vector

from cypool.envs.common.archived_env cimport ArchivedEnv

ctypedef vector[PyObject*] EnvList      # borrowed


cdef class PooledEnv(ArchivedEnv):
    # the environments of its pool, which keeps them
    cdef shared_ptr[EnvList] pool
