"""The base class of every environment; its `.pxd` is the contract."""
import sys

from cpython.pycapsule cimport PyCapsule_GetPointer
from libc.limits cimport INT_MAX

from numpy.random import PCG64

cdef extern from *:
    """
    #include <cstddef>
    #include <numpy/random/bitgen.h>
    static_assert(sizeof(cypool::Rng) == sizeof(bitgen_t)
                  && offsetof(cypool::Rng, next_double) == offsetof(bitgen_t, next_double),
                  "cypool/rng.h: expected the layout of NumPy's bitgen_t");
    """

cdef extern from "numpy/random/distributions.h" nogil:
    ctypedef struct bitgen_t:
        pass
    double random_normal(bitgen_t* bitgen_state, double loc, double scale) noexcept

# a free-threaded Python switches it on for modules like this one, unless it is told not to
if hasattr(sys, "_is_gil_enabled") and not sys._is_gil_enabled():
    raise ImportError("cypool: expected Python's global interpreter lock, but PYTHON_GIL=0 or -X gil=0 keeps it off; "
                      "without these settings Python switches it on when it imports cypool")

ABI = CYPOOL_ABI


cdef double normal(const Rng* rng, double mean, double deviation) noexcept nogil:
    # NumPy's own object code, from the static library that comes with it
    return random_normal(<bitgen_t*>rng, mean, deviation)


cdef class Env:
    """Base of every environment: subclass it in Cython and implement `reset`, `step` and `observe`.

    A subclass also has a static method `describe(**options)` that returns an `EnvSpec`: what it observes
    and takes. Its keyword arguments, with their defaults, are the options of `cypool.make`.

    Args:
        spec: The `EnvSpec` the environment is made from, options included.
        env_id: Position in the pool, starting at 0.

    Threads: any, one at a time.
    """

    def __cinit__(self, spec, int env_id, *_):
        # what more there is goes to the __init__ of a subclass
        self.spec = spec
        self.env_id = env_id
        limit = spec.max_episode_steps
        self.max_episode_steps = INT_MAX if limit is None else limit
        self.over = True

    cdef int reset(self) except -1 nogil:
        raise NotImplementedError("reset")

    cdef int step(self, const void* action) except -1 nogil:
        raise NotImplementedError("step")

    cdef int observe(self, const Slot* out) except -1 nogil:
        raise NotImplementedError("observe")

    cdef int seed(self, object seed) except -1:
        # the stream of Gymnasium's np_random: PCG64 over SeedSequence(seed)
        self._bit_generator = PCG64(seed)
        self.rng = <const Rng*>PyCapsule_GetPointer(self._bit_generator.capsule, "BitGenerator")
        return 0

    cdef object save(self):
        raise NotImplementedError(f"save: {type(self).__name__} has none")

    cdef int load(self, object state) except -1:
        raise NotImplementedError(f"load: {type(self).__name__} has none")

    cdef object render(self):
        raise NotImplementedError(f"render: {type(self).__name__} has none")

    cdef bint gather(self, list envs) except -1:
        return False

    cdef int step_many(self, const Rows* rows) except -1 nogil:
        raise NotImplementedError("step_many")


cdef class Elsewhere:
    """Where the environments of a pool are stepped, if not by its threads; see its `.pxd`."""

    @property
    def count(self):
        """How many environments are stepped at a time, at most."""
        raise NotImplementedError("count")

    def close(self):
        """Lets go of all that it uses. A second call does nothing."""
        raise NotImplementedError("close")

    cdef int begin(self, const int32_t* ids, uint32_t count, const char* actions, bint same_step) except -1:
        raise NotImplementedError("begin")

    cdef int finished(self, int32_t* ids, int wanted, int64_t timeout_ns) except -1:
        raise NotImplementedError("finished")

    cdef object tell(self, object env_ids):
        raise NotImplementedError("tell")

    cdef bint forked(self) noexcept:
        return False
