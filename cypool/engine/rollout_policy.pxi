# A policy in C during a rollout: calls it, and checks what it writes.
cimport cython
from cpython.exc cimport PyErr_Occurred
from libc.stdint cimport uint64_t, uintptr_t
from libc.string cimport memcpy, memset
from libcpp.memory cimport make_unique

cimport numpy as cnp

import math
from collections.abc import Mapping

import numpy as np


cnp.import_array()

cdef enum:
    WORDS = 8
    ZONE = 64                        # bytes around the action that a policy must not write: WORDS words
    FILL = 0x5A


cdef bint is_filled(const char* zone) noexcept nogil:
    cdef uint64_t[WORDS] words
    cdef uint64_t other = 0
    cdef int k
    memcpy(words, zone, ZONE)
    for k in range(WORDS):
        other |= words[k] ^ <uint64_t>0x5A5A5A5A5A5A5A5A
    return other == 0


@cython.final
cdef class RolloutPolicy:
    """Calls a policy, and checks what it writes.

    Args:
        policy: A `cypool.policies.Policy`, which was checked.
        spec: Of the environments.
        num_threads: That step them, the caller included.
        block: Memory for one row of each environment.
    """

    def __init__(self, policy, spec, int num_threads, Block block):
        cdef size_t offset = 0
        self.owner = policy
        self.many = <ManyPolicy><uintptr_t>policy._many_address
        if self.many == NULL:
            self.call = <Policy><uintptr_t>policy._address
        self.parameters = <const void*><uintptr_t>policy._parameters_address
        if policy._state is not None:
            self.state = cnp.PyArray_BYTES(policy._state)
            self.state_bytes = policy._state.nbytes // len(policy._state)
        self.action_bytes = spec.action_bytes
        self.described = list(spec.action.items()) if isinstance(spec.action, Mapping) else [(None, spec.action)]
        for _, each in self.described:
            self.parts.push_back(part_of(each, offset))
            offset += each.dtype.itemsize * math.prod(each.shape)
        # what one thread writes is on cache lines of its own
        self.stride = (ZONE + self.action_bytes + ZONE + 127) // 64 * 64
        self.memory.assign((num_threads + 1) * self.stride, FILL)
        self.actions = <char*>((<uintptr_t>self.memory.data() + 63) // 64 * 64) + ZONE
        self.block = block
        self.first = make_unique[OpenBatch]()
        block.open_on(self.first.get())

    cdef int choose(self, Decision* decision, char* action, int thread) except -1 nogil:
        """Has the policy choose an action.

        Args:
            decision: Everything but `action`, `state` and `parameters` is filled in.
            action: Where it goes once it is checked.
        """
        cdef char* written = self.actions + thread * self.stride
        cdef int code
        memset(written, 0, self.action_bytes)
        decision.action, decision.parameters = written, self.parameters
        decision.state = NULL if self.state == NULL else self.state + decision.env_id * self.state_bytes
        code = self.call(decision)
        if not is_filled(written - ZONE) or not is_filled(written + self.action_bytes):
            memset(written - ZONE, FILL, ZONE)
            memset(written + self.action_bytes, FILL, ZONE)
            with gil:
                raise ValueError(f"policy: expected to write the {self.action_bytes} bytes of an action, but it wrote "
                                 "others, too")
        if code != 0:
            with gil:
                self.fail(code)
        self.check(written)
        memcpy(action, written, self.action_bytes)
        return 0

    cdef int choose_many(self, Decisions* decisions) except -1 nogil:
        """Has a policy of cypool's own choose, and write the actions where they go: they are not checked.

        Args:
            decisions: Everything but `parameters` is filled in.
        """
        decisions.parameters = self.parameters
        if self.many(decisions) != 0:
            with gil:
                raise MemoryError("policy")
        return 0

    cdef bint accepts(self, const char* action) noexcept nogil:
        """Whether an action is within its bounds."""
        cdef size_t k
        for k in range(self.parts.size()):
            if first_outside(action, self.parts[k]) < self.parts[k].count:
                return False
        return True

    cdef int check(self, const char* action) except -1 nogil:
        cdef size_t k, number
        for k in range(self.parts.size()):
            number = first_outside(action, self.parts[k])
            if number < self.parts[k].count:
                with gil:
                    self.complain(k, number, action)
        return 0

    cdef int fail(self, int code) except -1:
        if PyErr_Occurred() != NULL:
            # a function that is declared except -1 has raised
            return -1
        raise RuntimeError(f"policy: expected to return 0, got {code}")

    cdef int complain(self, size_t k, size_t number, const char* action) except -1:
        cdef size_t size, start
        cdef const char* low
        cdef const char* high
        name, described = self.described[k]
        dtype = np.dtype(np.uint8) if described.dtype.kind == "b" else described.dtype

        def value(data):
            return np.frombuffer(data, dtype)[number]

        which = "" if name is None else f" as {name}"
        low, high = self.parts[k].low.data(), self.parts[k].high.data()
        size, start = self.parts[k].low.size(), self.parts[k].offset
        raise ValueError(f"policy: expected actions in [{value(low[:size])}, {value(high[:size])}]{which}, got "
                         f"{value(action[start:start + size])}")
