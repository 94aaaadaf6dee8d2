# distutils: extra_compile_args = -O2
"""`RulesEnv`: implements `Env` for environments whose rules are a C++ class as in rules.h."""
import math
import re
from weakref import WeakValueDictionary

import numpy as np

from cypool.state import check_stream
from cypool.util.arguments import shown

from cpython.pycapsule cimport PyCapsule_GetPointer
from libcpp.memory cimport make_shared

from cypool.env cimport Env
from cypool.random cimport copy_stream

_prototypes = WeakValueDictionary()


cdef class Prototype:
    """The rules from which all environments of a spec derive theirs; they share data that never changes."""


cdef Prototype prototype_of(RulesEnv env):
    cdef Options options
    cdef Prototype prototype = _prototypes.get((type(env), id(env.spec)))
    if prototype is not None:
        return prototype
    options = options_of(env.settings(env.spec.options))
    prototype = Prototype()
    prototype.spec = env.spec
    prototype.rules.reset(env.make(options))
    # the spec's own options may be for Python alone, as for pictures; only what `settings` adds must be read
    unread = [name.decode() for name in options.unread() if name.decode() not in env.spec.options]
    if unread:
        raise ValueError(f"settings: expected names that the rules read, got {', '.join(unread)}")
    _prototypes[type(env), id(env.spec)] = prototype
    return prototype


def bytes_of(part):
    return math.prod(part.shape) * part.dtype.itemsize


cdef Options options_of(dict values) except *:
    cdef Options options
    cdef OptionValue option
    cdef vector[double] numbers
    for name, value in values.items():
        if value is None:
            option = OptionValue()
        elif isinstance(value, str):
            option = OptionValue(<string>value.encode())
        elif isinstance(value, bytes):
            option = OptionValue(<string>value)
        else:
            numbers = np.ravel(value).tolist()
            option = OptionValue(numbers)
        options.set(name.encode(), option)
    return options


cdef class RulesEnv(ArchivedEnv):
    """Base of environments whose rules are written in C++. Subclasses define `describe` and `make`."""
    def __init__(self, spec, env_id):
        self.prototype = prototype_of(self)
        self.take_rules(self.prototype.rules.get().another().release())

    cdef int take_rules(self, Rules* rules) except -1:
        """Owns these rules from now on."""
        self.rules.reset(rules)
        rules.last.agents = self.agents
        self.archived = rules
        return 0

    def settings(self, options):
        """Returns the options of the spec that the rules read."""
        return dict(options)

    cdef Rules* make(self, const Options& options) except NULL:
        """Returns new rules."""
        raise NotImplementedError("make")

    cdef int draw_from(self, object second_stream) except -1:
        """Gives the rules a second random stream."""
        self.second_stream = second_stream
        self.rules.get().last.second_rng = <const Rng*>PyCapsule_GetPointer(second_stream.capsule, "BitGenerator")
        return 0

    cdef object save(self):
        saved = ArchivedEnv.save(self)
        return saved if self.second_stream is None else (*saved, self.second_stream.state)

    cdef int load(self, object state) except -1:
        if self.second_stream is None:
            return ArchivedEnv.load(self, state)
        if not isinstance(state, (tuple, list)) or len(state) != 2:
            raise ValueError(f"state: expected a tuple of 2 values, got {shown(state)}")
        own, second = state
        second = check_stream("state[1]", second, type(self.second_stream))
        ArchivedEnv.load(self, (own,))
        self.second_stream.state = second
        return 0

    cdef int copy_from(self, Env other) except -1 nogil:
        cdef Rules* rules = self.rules.get()
        cdef Rules* theirs = (<RulesEnv>other).rules.get()
        rules.copy_from(theirs[0])
        if rules.last.second_rng != NULL and not copy_stream(rules.last.second_rng, theirs.last.second_rng):
            with gil:
                self.second_stream.state = (<RulesEnv>other).second_stream.state
        return 0

    cdef object draw(self, dict state):
        """Returns a picture of a state, given by its numbers, with the names they have in `exchange`."""
        raise NotImplementedError(f"render: {type(self).__name__} cannot be rendered")

    cdef int seed(self, object seed) except -1:
        ArchivedEnv.seed(self, seed)
        self.rules.get().last.rng = self.rng
        self.rules.get().seed(self.env_id)
        return 0

    cdef int reset(self) except -1 nogil:
        self.rules.get().reset()
        return 0

    cdef int step(self, const void* action) except -1 nogil:
        cdef Rules* rules = self.rules.get()
        rules.step(action)
        self.reward, self.terminated, self.truncated = rules.last.reward, rules.last.terminated, rules.last.truncated
        return 0

    cdef int observe(self, const Slot* out) except -1 nogil:
        self.rules.get().observe(out[0])
        return 0

    cdef bint prepare_pool(self, list envs) except -1:
        cdef RulesEnv env
        if not self.rules.get().can_step_many() or any(
                type(each) is not type(self) or each.spec.options != self.spec.options for each in envs):
            return False
        cdef shared_ptr[RulesPool] pool = make_shared[RulesPool]()
        pool.get().obs_bytes = [bytes_of(part) for _, part in self.spec.observations]
        pool.get().info_bytes = [bytes_of(part) for part in self.spec.info.values()]
        pool.get().action_bytes = self.spec.action_bytes
        if max(pool.get().obs_bytes.size(), pool.get().info_bytes.size()) > MAX_PARTS:
            return False
        for env in envs:
            pool.get().members.push_back(Member(env.rules.get(), &env.needs_reset))
            env.pool = pool
        return True

    cdef int step_many(self, const Rows* rows) except -1 nogil:
        self.rules.get().step_many(rows[0], self.pool.get()[0])
        return 0

    cdef int legal(self, uint8_t* mask) except -1 nogil:
        self.rules.get().legal(mask)
        return 0

    cdef void turn(self, Turn* out) noexcept nogil:
        if not self.rules.get().turn(out[0]):
            ArchivedEnv.turn(self, out)

    cdef object render(self):
        cdef bytes saved = self.rules.get().save()
        state = nested((field.path.decode(), np.frombuffer(saved, f"<{chr(field.format)}", 1, field.offset)[0].item())
                       for field in self.rules.get().list())
        if not state["ready"]:
            raise RuntimeError("render: expected a reset first")
        return self.draw(state)


def nested(numbers):
    """Returns pairs of paths and numbers, such as ("players[0].x", 1), as dicts and lists."""
    tree = {}
    for path, number in numbers:
        *folders, name = re.findall(r"\w+", path)
        place = tree
        for folder in folders:
            place = place.setdefault(folder, {})
        place[name] = number
    return with_lists(tree)


def with_lists(tree):
    if not isinstance(tree, dict):
        return tree
    values = {key: with_lists(value) for key, value in tree.items()}
    is_list = values.pop("size", None) is not None or "0" in values
    return list(values.values()) if is_list else values
