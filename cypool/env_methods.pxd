"""Calls of an environment's methods, which may return wrong values.

If a method returned -1 without raising an exception, Python would look for one that does not exist and end the process.
So methods are called as if they could not raise, and then the result is checked.
"""
from cpython.exc cimport PyErr_Occurred
from cpython.ref cimport PyObject

from libc.stdint cimport uint8_t

from cypool.env cimport Env, Rows, Slot

cdef extern from *:
    bint unlikely(bint condition) noexcept nogil

ctypedef int (*Reset)(Env env) noexcept nogil
ctypedef int (*Step)(Env env, const void* action) noexcept nogil
ctypedef int (*Observe)(Env env, const Slot* out) noexcept nogil
ctypedef int (*StepMany)(Env env, const Rows* rows) noexcept nogil
ctypedef int (*CopyFrom)(Env env, Env other) noexcept nogil
ctypedef int (*Legal)(Env env, uint8_t* mask) noexcept nogil
ctypedef int (*Take)(Env env, object given) noexcept
ctypedef int (*TakeOptions)(Env env, dict options) noexcept


cdef inline int raise_for(const char* method, const char* expected, int status) except -1 with gil:
    """Raises the method's exception, or else an error with the value that it returned."""
    if PyErr_Occurred() == NULL:
        raise RuntimeError(f"{method.decode()}: expected a return value of {expected.decode()}, got {status}")
    return -1


cdef inline int check_status(const char* method, int status) except -1 nogil:
    """Raises if a method that was called as if it could not raise did not return 0."""
    return raise_for(method, "0", status) if unlikely(status != 0) else 0


cdef inline int reset_env(PyObject* env) except -1 nogil:
    return check_status("reset", (<Reset>(<Env>env).reset)(<Env>env))


cdef inline int step_env(PyObject* env, const void* action) except -1 nogil:
    return check_status("step", (<Step>(<Env>env).step)(<Env>env, action))


cdef inline int observe_env(PyObject* env, const Slot* out) except -1 nogil:
    return check_status("observe", (<Observe>(<Env>env).observe)(<Env>env, out))


cdef inline int step_envs(PyObject* env, const Rows* rows) except -1 nogil:
    return check_status("step_many", (<StepMany>(<Env>env).step_many)(<Env>env, rows))


cdef inline int copy_from_env(PyObject* env, PyObject* other) except -1 nogil:
    return check_status("copy_from", (<CopyFrom>(<Env>env).copy_from)(<Env>env, <Env>other))


cdef inline int legal_env(PyObject* env, uint8_t* mask) except -1 nogil:
    return check_status("legal", (<Legal>(<Env>env).legal)(<Env>env, mask))


cdef inline int seed_env(Env env, object seed) except -1:
    return check_status("seed", (<Take>env.seed)(env, seed))


cdef inline int load_env(Env env, object state) except -1:
    return check_status("load", (<Take>env.load)(env, state))


cdef inline int give_options(Env env, dict options) except -1:
    return check_status("take_reset_options", (<TakeOptions>env.take_reset_options)(env, options))
