"""`ArchivedEnv`: saves, loads and copies environments that are C++ objects with the methods of state_archive.h."""
from cypool.state import check_state


cdef class ArchivedEnv(Env):
    """Base of environments whose whole state is an `Archived` object."""

    cdef object save(self):
        return (<bytes>self.archived.save(),)

    cdef int load(self, object state) except -1:
        self.archived.load(check_state(state, bytes)[0])
        return 0

    def state_fields(self, state):
        """Returns (path, type, offset, minimum, maximum) for each number in a saved state; types as in `struct`.

        Loads the state without the engine's part of it, so the environment must not be stepped afterwards.
        """
        self.load(state)
        return [(field.path.decode(), chr(field.format), field.offset, field.low, field.high)
                for field in self.archived.list()]

    cdef int copy_from(self, Env other) except -1 nogil:
        self.archived.copy_from((<ArchivedEnv>other).archived[0])
        return 0
