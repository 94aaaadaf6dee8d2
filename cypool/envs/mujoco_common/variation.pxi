# Domain randomization: a model that changes in each episode.
#
# MuJoCo's functions reach a model's arrays through pointers. So an environment needs only a struct of pointers of its
# own, and arrays for what varies and for what MuJoCo computes from that; all else is shared.
from collections.abc import Mapping

from libc.float cimport DBL_MAX, FLT_MAX
from libc.math cimport INFINITY

from cypool.util.arguments import check_choice, check_float, shown, suggestion
from cypool.state import check_state

from cypool.envs.mujoco_common cimport libmujoco
from cypool.envs.mujoco_common.fields cimport DERIVED_IS_KNOWN, fields_of
from cypool.random cimport uniform

cdef extern from "cypool/envs/mujoco_common/fields.h":
    pass

OPERATIONS = {"scale": SCALE, "add": ADD, "set": SET}

# the kind of thing a field's rows belong to, by the beginning of its name
OBJECTS = {"body": libmujoco.mjOBJ_BODY, "jnt": libmujoco.mjOBJ_JOINT, "geom": libmujoco.mjOBJ_GEOM,
           "site": libmujoco.mjOBJ_SITE, "tendon": libmujoco.mjOBJ_TENDON, "actuator": libmujoco.mjOBJ_ACTUATOR}


cdef object check_randomize(Model model, object randomize):
    """Returns `randomize` with each value as (operation, low, high), or None for None.

    Raises:
        TypeError: It is no dict of str to tuples.
        ValueError: There is no such field or object, or an operation or range is wrong.
    """
    if randomize is None:
        return None
    if not isinstance(randomize, Mapping):
        raise TypeError(f"randomize: expected a dict or None, got {shown(randomize)}")
    checked = {}
    for name, value in randomize.items():
        if not isinstance(name, str) or not isinstance(value, (tuple, list)) or len(value) not in (2, 3):
            raise TypeError(f"randomize: expected names of fields with (low, high) or (operation, low, high), got "
                            f"{shown(name)}: {shown(value)}")
        operation, low, high = ("scale", *value) if len(value) == 2 else value
        place = f"randomize[{name!r}]"
        low, high = (check_float(place, bound, -1e300, 1e300) for bound in (low, high))
        if low > high:
            raise ValueError(f"{place}: expected low not above high, got {low} and {high}")
        checked[name] = (check_choice(place, operation, tuple(OPERATIONS)), low, high)
    # finds what is not there
    Variation(model, checked)
    return checked


cdef class Variation:
    """A model that changes in each episode.

    Args:
        loaded: The model to vary.
        randomize: As `check_randomize` returns it, but for None.
        own: Names of further fields that an environment writes to.

    Threads: any, one at a time.
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
        cdef Part part
        cdef size_t k
        for key, (operation, low, high) in randomize.items():
            name, _, owner = key.partition(":")
            for k in range(fields.size()):
                if (<bytes>fields[k].name).decode() == name:
                    break
            else:
                known = [(<bytes>fields[k].name).decode() for k in range(fields.size())]
                raise ValueError(f"randomize: expected names of fields of mjModel, got {shown(name)}"
                                 f"{suggestion(name, known)}")
            if not (fields[k].is_double or fields[k].is_float) or name == "opt.timestep":
                raise ValueError("randomize: expected a field of real numbers, but not the time step, got "
                                 f"{shown(name)}")
            first, end = self._rows(name, owner, fields[k].rows)
            part.field = self.fields[0].size()
            part.begin, part.end = first * fields[k].columns, end * fields[k].columns
            part.operation, part.low, part.high = OPERATIONS[operation], low, high
            if part.begin == part.end:
                raise ValueError(f"randomize: {loaded.path} has nothing with a {name!r}")
            self.fields[0].push_back(fields[k])
            self.parts.push_back(part)
            self.model.own(fields[k])
            # MuJoCo would refuse the model in an episode, in words of its own
            if name in ("body_mass", "body_inertia") and self._least(self.parts.size() - 1) < 0:
                raise ValueError(f"randomize[{key!r}]: expected values that are not below 0, got {operation!r}, {low}, "
                                 f"{high}")
            if not self._fits(self.parts.size() - 1):
                dtype = "float32" if fields[k].is_float else "float64"
                raise ValueError(f"randomize[{key!r}]: expected values that {dtype} has, got {operation!r}, {low}, "
                                 f"{high}")
            self.derives |= fields[k].is_source
            self.drawn.resize(self.drawn.size() + part.end - part.begin)
        for k in range(fields.size()):
            if (self.derives and fields[k].is_derived) or <bytes>fields[k].name in own:
                self.model.own(fields[k])
        self.model.restore()

    def _least(self, size_t p):
        """Returns the least value that part p may get, where the model has one above 0: the world has no mass."""
        cdef const Part* part = &self.parts[p]
        cdef double value, least = INFINITY
        cdef size_t k
        for k in range(part.begin, part.end):
            value = self.model.get(self.fields[0][part.field], k)
            if value > 0:
                if part.operation == SCALE:
                    value *= part.low
                else:
                    value = part.low + (value if part.operation == ADD else 0)
                least = min(least, value)
        return least

    def _fits(self, size_t p):
        """Returns whether all values that part p may get are finite numbers of the field's type."""
        cdef const Part* part = &self.parts[p]
        cdef double value, most = FLT_MAX if self.fields[0][part.field].is_float else DBL_MAX
        cdef size_t k
        for k in range(part.begin, part.end):
            value = self.model.get(self.fields[0][part.field], k)
            for end in (part.low, part.high):
                got = {SCALE: value * end, ADD: value + end}.get(part.operation, end)
                if not abs(got) <= most:
                    return False
        return True

    def _rows(self, name, owner, rows):
        """Returns the rows of a field, from and to, that an object has, or all if it is called ""."""
        cdef int found
        if owner == "":
            return 0, rows
        kind = OBJECTS.get(name.partition("_")[0])
        if kind is None:
            raise ValueError(f"randomize: expected a field of {', '.join(OBJECTS)} for a name behind the colon, got "
                             f"{shown(name)}")
        found = self.loaded.named(kind, owner)
        if found < 0:
            raise ValueError(f"randomize: expected the name of a {name.partition('_')[0]} of {self.loaded.path}, got "
                             f"{shown(owner)}")
        return found, found + 1

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
        cdef Part* part
        cdef size_t p, _k, n = 0
        for p in range(self.parts.size()):
            part = &self.parts[p]
            for _k in range(part.begin, part.end):
                self.drawn[n] = uniform(rng, part.low, part.high)
                n += 1
        return self.apply(data)

    cdef object checked(self, object values):
        kinds = [(part.low, part.high) for part in self.parts for _ in range(part.begin, part.end)]
        return check_state(values, *kinds)

    cdef int copy_from(self, Variation other, mjData* data) except -1 nogil:
        if not self.parts.empty():
            self.drawn = other.drawn
            self.apply(data)
        self.model.copy_contents(other.model[0])
        return 0

    cdef int apply(self, mjData* data) except -1 nogil:
        self.model.restore()
        self._set_drawn()
        if self.derives:
            self.model.derive(data)
            if not DERIVED_IS_KNOWN:
                # it may be what MuJoCo computed that varies
                self._set_drawn()
        return 0

    cdef void _set_drawn(self) noexcept nogil:
        cdef Part* part
        cdef Field* field
        cdef size_t p, k, n = 0
        cdef double value
        for p in range(self.parts.size()):
            part = &self.parts[p]
            field = &self.fields[0][part.field]
            for k in range(part.begin, part.end):
                value = self.drawn[n]
                if part.operation == SCALE:
                    value *= self.model.get(field[0], k)
                elif part.operation == ADD:
                    value += self.model.get(field[0], k)
                self.model.set(field[0], k, value)
                n += 1
