"""`PooledEnv`: knows the environments of its pool, for `step_many`."""
from cpython.ref cimport PyObject
from libcpp.memory cimport make_shared


cdef class PooledEnv(ArchivedEnv):
    """Base of archived environments with `step_many`, for pools whose environments have the same options."""

    cdef bint prepare_pool(self, list envs) except -1:
        cdef PooledEnv env
        if any(type(each) is not type(self) or each.spec.options != self.spec.options for each in envs):
            return False
        cdef shared_ptr[EnvList] pool = make_shared[EnvList]()
        for env in envs:
            pool.get().push_back(<PyObject*>env)
            env.pool = pool
        return True
