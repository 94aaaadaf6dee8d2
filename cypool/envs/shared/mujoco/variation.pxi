# Domain randomization: a model that changes in each episode.
#
# MuJoCo's functions reach a model's arrays through pointers. So an environment needs only a separate struct of
# pointers, and arrays for the varying values and those that MuJoCo computes from them; all else is shared.
from cypool.envs.shared.mujoco.randomization import ranges_of
from cypool.state import check_state

from cypool.envs.shared.mujoco.fields cimport derived_is_known, fields_of
from cypool.random cimport uniform


cdef class Variation:
    """A model that changes with each episode, as `check_randomize` returned, and other fields that are written.

    Thread safety: any thread, one at a time.
    """

    def __cinit__(self, Model loaded not None, dict randomize, own=()):
        self.loaded = loaded
        self.model = new VariedModel(loaded.mj)
        self.fields = new vector[Field]()

    def __dealloc__(self):
        del self.model
        del self.fields

    def __init__(self, Model loaded, dict randomize, own=()):
        cdef vector[Field] fields = fields_of(loaded.mj)
        cdef VariedRange varied
        cdef size_t k
        for k, varied.begin, varied.end, operation, varied.low, varied.high in ranges_of(loaded, randomize):
            varied.field = self.fields[0].size()
            varied.operation = <Operation><int>operation
            self.fields[0].push_back(fields[k])
            self.ranges.push_back(varied)
            self.model.own(fields[k])
            self.derives |= fields[k].is_source
            self.drawn.resize(self.drawn.size() + varied.end - varied.begin)
        for k in range(fields.size()):
            if (self.derives and fields[k].is_derived) or <bytes>fields[k].name in own:
                self.model.own(fields[k])
        self.model.restore()

    cdef const mjModel* view(self) noexcept nogil:
        return self.model.view()

    cdef mjModel* edit(self) noexcept nogil:
        return self.model.edit()

    cdef bytes contents(self):
        return self.model.contents()

    cdef int set_contents(self, bytes contents) except -1:
        if not self.model.set_contents(contents):
            raise ValueError("state: expected finite numbers in the fields that an environment of "
                             f"{self.loaded.path} writes to")
        return 0

    cdef int draw(self, const Rng* rng, mjData* data) except -1 nogil:
        cdef VariedRange* varied
        cdef size_t p, _k, n = 0
        for p in range(self.ranges.size()):
            varied = &self.ranges[p]
            for _k in range(varied.begin, varied.end):
                self.drawn[n] = uniform(rng, varied.low, varied.high)
                n += 1
        return self.apply(data)

    cdef object checked(self, object values):
        kinds = [(varied.low, varied.high) for varied in self.ranges for _ in range(varied.begin, varied.end)]
        return check_state(values, *kinds)

    cdef int copy_from(self, Variation other, mjData* data) except -1 nogil:
        if not self.ranges.empty():
            self.drawn = other.drawn
            self.apply(data)
        self.model.copy_contents(other.model[0])
        return 0

    cdef int apply(self, mjData* data) except -1 nogil:
        self.model.restore()
        self._set_drawn()
        if self.derives:
            self.model.derive(data)
            if not derived_is_known():
                # the computed values of MuJoCo may vary
                self._set_drawn()
        return 0

    cdef void _set_drawn(self) noexcept nogil:
        cdef VariedRange* varied
        cdef Field* field
        cdef size_t p, k, n = 0
        cdef double value
        for p in range(self.ranges.size()):
            varied = &self.ranges[p]
            field = &self.fields[0][varied.field]
            for k in range(varied.begin, varied.end):
                value = self.drawn[n]
                if varied.operation == SCALE:
                    value *= self.model.get(field[0], k)
                elif varied.operation == ADD:
                    value += self.model.get(field[0], k)
                self.model.set(field[0], k, value)
                n += 1
