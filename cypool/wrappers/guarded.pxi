# Checks for debugging: whether an environment writes all of its row, and nothing else.
from libc.math cimport isfinite, isnan
from libc.stdint cimport uint32_t
from libc.string cimport memset
from libcpp.vector cimport vector

from cpython.ref cimport PyObject

from cypool.errors import RowError

from cypool.env_methods cimport observe_env
from cypool.env cimport Env, Slot

cdef enum:
    LEAST_ZONE = 4096
    BEYOND = 32                      # rows on either side of those that the spec has
    APART = 64                       # bytes from one of them to the next

# the bytes of the memory before an observation: a byte that keeps both was not written
cdef char[2] FILLS = [0x5A, 0x25]


cdef class Guarded(Wrapper):
    """Lets the environment observe into memory with zones around every part, and checks the bytes.

    A part that is written beyond its end, before its start, incompletely, or differently the second time raises a
    RowError that names it; the pool turns that into an `EnvError`. So does a part that the spec lacks.
    """
    cdef Scratch first, second
    # before and behind the rows of either, rows that lie in `beyond`: of `obs_row` and `info_row` with a wrong number
    cdef vector[void*] first_rows, second_rows
    cdef vector[char] beyond

    def __init__(self, spec, int env_id, Env inner):
        super().__init__(spec, env_id, inner)
        # a wrong dtype writes up to eight times as much
        self.first = Scratch(inner.spec, lambda size: LEAST_ZONE + 8 * size)
        self.second = Scratch(inner.spec, lambda size: LEAST_ZONE + 8 * size)
        self.beyond.resize(4 * BEYOND * APART + self.first.memory.size())
        self.surround(self.first, &self.first_rows)
        self.surround(self.second, &self.second_rows)

    cdef int surround(self, Scratch scratch, vector[void*]* rows) except -1:
        """Puts the rows of either kind between rows that the spec does not have."""
        cdef int kind, k, _part, at = 0
        cdef int[2] counts = [scratch.num_obs, <int>scratch.parts.size() - scratch.num_obs]
        rows.reserve(4 * BEYOND + scratch.parts.size())
        for kind in range(2):
            for k in range(2 * BEYOND):
                if k == BEYOND:
                    for _part in range(counts[kind]):
                        rows.push_back(scratch.parts[at])
                        at += 1
                rows.push_back(self.beyond.data() + (2 * BEYOND * kind + k) * APART)
        scratch.slot.obs = rows.data() + BEYOND
        scratch.slot.info = rows.data() + 3 * BEYOND + counts[0]
        return 0

    cdef int step(self, const void* action) except -1 nogil:
        cdef uint32_t k
        Wrapper.step(self, action)
        if self.agents != NULL:
            for k in range(self.agents.count):
                if not isfinite(self.agents.reward[k]):
                    self.complain_of_reward(self.agents.reward[k])
        # with agents NaN says that it is the sum of theirs
        if not isfinite(self.reward) and not (self.agents != NULL and isnan(self.reward)):
            self.complain_of_reward(self.reward)
        return 0

    cdef int observe(self, const Slot* out) except -1 nogil:
        cdef int k
        self.lend()
        self.first.fill(FILLS[0])
        self.observe_within(&self.first.slot, FILLS[0])
        self.second.fill(FILLS[1])
        self.observe_within(&self.second.slot, FILLS[1])
        for k in range(<int>self.first.sizes.size()):
            self.look_around(k)
            self.look_inside(k)
        self.first.copy_obs(&self.first.slot, out)
        self.first.copy_info(&self.first.slot, out)
        return 0

    cdef int observe_within(self, const Slot* out, char fill) except -1 nogil:
        """Observes, and checks that everything is written to rows of the spec."""
        cdef size_t at
        memset(self.beyond.data(), fill, self.beyond.size())
        observe_env(<PyObject*>self.inner, out)
        for at in range(self.beyond.size()):
            if self.beyond[at] != fill:
                self.complain_of_number(<int>(at // APART))
        return 0

    cdef int look_around(self, int k) except -1 nogil:
        """Checks the zones around a part."""
        cdef const char* start = <char*>self.first.parts[k]
        cdef size_t zone = self.first.zones[k], size = self.first.sizes[k], at
        # the farthest byte says the most
        for at in range(zone, 0, -1):
            if start[size + at - 1] != FILLS[0]:
                self.complain(k, "wrote at least", <long>(size + at))
        for at in range(zone, 0, -1):
            if (start - at)[0] != FILLS[0]:
                self.complain(k, "wrote before the start, at", -<long>at)
        return 0

    cdef int look_inside(self, int k) except -1 nogil:
        """Looks for bytes of a part that were not written, or differ the second time."""
        cdef const char* a = <char*>self.first.parts[k]
        cdef const char* b = <char*>self.second.parts[k]
        cdef size_t at
        for at in range(self.first.sizes[k]):
            if a[at] == FILLS[0] and b[at] == FILLS[1]:
                self.complain(k, "did not write byte", <long>at)
            if a[at] != b[at]:
                self.complain(k, "wrote a different byte when called again, at", <long>at)
        return 0

    cdef int complain_of_reward(self, double reward) except -1 with gil:
        raise RowError(f"{type(self.inner).__name__}.step, reward: expected a finite number, got {reward}")

    cdef int complain_of_number(self, int at) except -1 with gil:
        cdef int kind = min(at // (2 * BEYOND), 1), k = at - 2 * BEYOND * kind - BEYOND
        cdef int count = self.first.num_obs if kind == 0 else <int>self.first.parts.size() - self.first.num_obs
        call = f"{'obs_row' if kind == 0 else 'info_row'}(out, {k if k < 0 else count + k})"
        wanted = f"0 to {count - 1}" if count > 0 else "none"
        raise RowError(f"{type(self.inner).__name__}.observe, {call}: expected {wanted}, because describe specifies "
                       f"{count} {'observations' if kind == 0 else 'infos'}")

    cdef int complain(self, int k, const char* what, long at) except -1 with gil:
        described = [(f"observation {name}" if name is not None else "observation", part)
                     for name, part in self.inner.spec.observations]
        described += [(f"info {name}", part) for name, part in self.inner.spec.info.items()]
        name, part = described[k]
        raise RowError(f"{type(self.inner).__name__}.observe, {name}: expected {self.first.sizes[k]} bytes, as "
                       f"describe specifies for {part.dtype}, {part.shape}; observe {what.decode()} {at}")
