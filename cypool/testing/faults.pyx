"""An environment that fails on purpose, for `check_env`."""
from cypool.env cimport Env
from cypool.wrappers.wrappers cimport Wrapper


cdef class Faulty(Wrapper):
    """Raises in one step, so that a check sees how everything else copes.

    Args:
        spec, env_id, inner: As in `Wrapper`.
        fails_at: The number of this step, counted from the first.
    """
    cdef int fails_at, steps

    def __init__(self, spec, int env_id, Env inner, int fails_at):
        super().__init__(spec, env_id, inner)
        self.fails_at = fails_at

    cdef int step(self, const void* action) except -1 nogil:
        self.steps += 1
        if self.steps == self.fails_at:
            raise ArithmeticError("on purpose")
        return Wrapper.step(self, action)
