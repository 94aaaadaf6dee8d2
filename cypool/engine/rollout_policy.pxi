# Rollouts: what is observed before the first step; and a policy in C: calls it, and checks its actions.
cimport cython
from cpython.exc cimport PyErr_Occurred
from cpython.ref cimport PyObject
from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t, uintptr_t
from libc.string cimport memcpy, memset
from libcpp.vector cimport vector

cimport numpy as cnp

import math
from collections.abc import Mapping

import numpy as np


from cypool.env cimport Env
from cypool.policies cimport Decision, PolicyFunction
from cypool.policies.decisions cimport Decisions, ManyPolicy

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
    """Calls a policy, and checks its actions.

    Args:
        policy: A checked `cypool.policies.Policy`.
        spec: The environments' spec.
        num_threads: Number of threads that step them, including the caller.
        normal: As in `Pool.rollout`.
    """
    cdef object policy_object        # keeps the policy's code and memory alive
    cdef PolicyFunction call
    cdef ManyPolicy many             # for neighbouring environments; NULL: for one at a time
    cdef const void* parameters
    cdef char* state                 # of environment 0; NULL: none
    cdef size_t state_bytes          # of one environment
    cdef size_t action_bytes
    cdef int mask_column             # of the columns of a row; -1: there is none
    cdef vector[ActionPart] parts
    cdef list described              # (name, spec) of each
    cdef vector[char] memory         # where the policy writes, for each thread: a zone, the action, a zone
    cdef char* actions               # that of thread 0
    cdef size_t stride               # to that of the next thread
    cdef NormalRows normal           # of observations, or None

    def __init__(self, policy, spec, int num_threads, tuple normal):
        cdef size_t offset = 0
        self.policy_object = policy
        self.many = <ManyPolicy><uintptr_t>policy._many_address
        if self.many == NULL:
            self.call = <PolicyFunction><uintptr_t>policy._address
        self.parameters = <const void*><uintptr_t>policy._parameters_address
        if policy._state is not None:
            self.state = cnp.PyArray_BYTES(policy._state)
            self.state_bytes = policy._state.nbytes // len(policy._state)
        self.action_bytes = spec.action_bytes
        self.mask_column = -1 if spec.mask_column is None else spec.mask_column
        self.described = list(spec.action.items()) if isinstance(spec.action, Mapping) else [(None, spec.action)]
        for _, each in self.described:
            self.parts.push_back(part_of(each, offset))
            offset += each.dtype.itemsize * math.prod(each.shape)
        # each thread writes to separate cache lines
        self.stride = (ZONE + self.action_bytes + ZONE + 127) // 64 * 64
        self.memory.assign((num_threads + 1) * self.stride, FILL)
        self.actions = <char*>((<uintptr_t>self.memory.data() + 63) // 64 * 64) + ZONE
        if normal is not None:
            self.normal = NormalRows(spec, normal[1], normal[2], normal[3])

    cdef int choose(self, Decision* decision, char* action, int thread) except -1 nogil:
        """Lets the policy choose an action.

        Args:
            decision: Everything but `action`, `state` and `parameters` is filled in.
            action: Where to write it once it is checked.
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
                raise ValueError(f"policy: expected the policy to write only the {self.action_bytes} bytes of an "
                                 "action, but it wrote outside them")
        if code != 0:
            with gil:
                self.fail(code)
        self.check(written)
        memcpy(action, written, self.action_bytes)
        return 0

    cdef int choose_many(self, Decisions* decisions) except -1 nogil:
        """Lets one of cypool's own policies choose, and write the actions to their place without a check.

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
        raise RuntimeError(f"policy: expected a return value of 0, got {code}")

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


cdef inline bint is_over(Scheduler scheduler, Claim* claim, uint32_t at) noexcept nogil:
    """Whether an environment of a claim stays where its episode has ended."""
    cdef PyObject* env = scheduler.envs[claim.ids[at]]
    return (<Env>env).needs_reset and scheduler.autoreset == DISABLED and claim.rollout.step > 0


cdef uint32_t find_row_before(Scheduler scheduler, Claim* claim, uint32_t at, RowPointers* shown) noexcept nogil:
    """Finds the observation of an environment of a claim before the current step; returns its row."""
    cdef uint32_t num_envs = <uint32_t>scheduler.envs.size(), step = claim.rollout.step, kept = 0, row
    cdef OpenBatch* batch = scheduler.open[0]
    if step > 0:
        kept = (step - 1) // scheduler.observe_every + 1
    row = kept * num_envs + (claim.first_row - step * num_envs) + at
    set_row_pointers(shown, batch, batch.columns, row)
    return row


cdef int choose_action(Scheduler scheduler, Claim* claim, uint32_t at) except -1 nogil:
    """Lets the policy choose the action of an environment of a claim, from its last observation."""
    cdef int32_t env_id = claim.ids[at]
    cdef PyObject* env = scheduler.envs[env_id]
    cdef RowPointers shown
    cdef Decision decision
    if is_over(scheduler, claim, at):
        return 0
    find_row_before(scheduler, claim, at, &shown)
    if scheduler.policy.normal is not None:
        shown.columns[0] = scheduler.policy.normal.rows_before(
            shown.columns[0], claim.rollout.step, <uint32_t>env_id, 1)
    decision.obs, decision.info = <const void**>shown.slot.obs, <const void**>shown.slot.info
    decision.step, decision.env_id = claim.rollout.step, env_id
    decision.elapsed_step, decision.ended = (<Env>env).elapsed_step, (<Env>env).needs_reset
    decision.agents = (<Env>env).agents
    scheduler.policy.choose(&decision, <char*>claim.actions + env_id * scheduler.action_bytes, claim.thread)
    return 0


cdef int choose_actions(Scheduler scheduler, Claim* claim, uint32_t at, uint32_t end) except -1 nogil:
    """Lets one of cypool's own policies choose for neighbouring environments of a claim, from `at` to `end`."""
    cdef RowPointers shown
    cdef Decisions decisions
    cdef int mask = scheduler.policy.mask_column
    decisions.env_id, decisions.count = <uint32_t>claim.ids[at], end - at
    find_row_before(scheduler, claim, at, &shown)
    decisions.obs = shown.columns[0]
    if scheduler.policy.normal is not None:
        decisions.obs = scheduler.policy.normal.rows_before(
            decisions.obs, claim.rollout.step, decisions.env_id, decisions.count)
    decisions.mask = NULL
    if mask >= 0:
        decisions.mask = <const uint8_t*>shown.columns[mask]
    decisions.actions = <char*>claim.actions + decisions.env_id * scheduler.action_bytes
    decisions.step = claim.rollout.step
    scheduler.policy.choose_many(&decisions)
    return 0


cdef int choose_for_claim(Scheduler scheduler, Claim* claim) except -1 nogil:
    """Lets one of cypool's own policies choose the actions of a claim."""
    cdef uint32_t at = claim.at, end
    cdef bint accepted = True
    while at < claim.count:
        end = at + 1
        if not is_over(scheduler, claim, at):
            while end < claim.count and not is_over(scheduler, claim, end):
                end += 1
            choose_actions(scheduler, claim, at, end)
        at = end
    for at in range(claim.at, claim.count):
        accepted &= scheduler.policy.accepts(claim.actions + claim.ids[at] * scheduler.action_bytes)
    claim.rollout.chosen, claim.rollout.accepted = True, accepted
    return 0


cdef int observe_before(Scheduler scheduler, Claim* claim) except -1 nogil:
    """Writes the next observation before the first step of a rollout."""
    cdef uint32_t at = claim.rollout.num_observed
    cdef OpenBatch* batch = scheduler.open[0]
    observe_to_row(scheduler, scheduler.envs[claim.ids[at]], batch, batch.columns, claim.first_row + at)
    claim.rollout.num_observed += 1
    return 0


cdef bint recover_from_failed_observation(Scheduler scheduler, Claim* claim) noexcept:
    """Lets the rollout continue after an exception in `observe_before`.

    Returns:
        Whether it does; False: the exception is from a step, or the observation is needed, so the row fails.
    """
    cdef uint32_t at = claim.rollout.num_observed
    if at >= claim.count or claim.rollout.one_by_one and at != claim.at:
        # not of `observe_before`
        return False
    if (<Env>scheduler.envs[claim.ids[at]]).needs_reset:
        # it has failed before, and begins an episode: what it shows matters to nobody
        zero_columns(scheduler.open[0], claim.first_row + at)
    elif not claim.rollout.one_by_one:
        # it raises again when it is its turn
        claim.rollout.one_by_one, claim.rollout.num_observed = True, 0
        return True
    claim.rollout.num_observed += 1
    return (<Env>scheduler.envs[claim.ids[at]]).needs_reset


cdef int advance_one_by_one(Scheduler scheduler, Claim* claim) except -1 nogil:
    """Takes the first step of a rollout in which one of the claim's environments fails to observe before it."""
    while claim.at < claim.count:
        if claim.rollout.num_observed == claim.at:
            observe_before(scheduler, claim)
        if scheduler.policy is not None and scheduler.policy.many != NULL:
            choose_actions(scheduler, claim, claim.at, claim.at + 1)
            scheduler.policy.check(claim.actions + claim.ids[claim.at] * scheduler.action_bytes)
        elif scheduler.policy is not None:
            choose_action(scheduler, claim, claim.at)
        advance_alone(scheduler, claim)
    return 0


cdef int advance_by_policy(Scheduler scheduler, Claim* claim) except -1 nogil:
    """Lets the policy choose an action for each environment of a claim, then takes the prepared steps."""
    cdef uint32_t count = claim.count
    while claim.at < count:
        while claim.rollout.num_chosen < count and not claim.rollout.failed:
            claim.rollout.choosing = True
            choose_action(scheduler, claim, claim.rollout.num_chosen)
            claim.rollout.choosing = False
            claim.rollout.num_chosen += 1
        claim.count = claim.rollout.num_chosen
        try:
            if claim.at < claim.count:
                advance_ahead(scheduler, claim)
        finally:
            claim.count = count
        if claim.rollout.failed:
            write_failed_row(scheduler, claim)
            claim.at += 1
            claim.rollout.num_chosen += 1
            claim.rollout.failed = claim.stepped = False
    return 0


cdef int advance_rollout(Scheduler scheduler, Claim* claim) except -1 nogil:
    """Takes a step of a rollout, with actions that may come from a policy."""
    if claim.rollout.step == 0:
        if claim.rollout.one_by_one:
            return advance_one_by_one(scheduler, claim)
        while claim.rollout.num_observed < claim.count:
            observe_before(scheduler, claim)
    if scheduler.policy is not None:
        if scheduler.policy.many == NULL and scheduler.step_task == STEP_AHEAD:
            return advance_by_policy(scheduler, claim)
        if scheduler.policy.many == NULL:
            while claim.at < claim.count:
                choose_action(scheduler, claim, claim.at)
                advance_alone(scheduler, claim)
            return 0
        if not claim.rollout.chosen:
            choose_for_claim(scheduler, claim)
        if not claim.rollout.accepted:
            while claim.at < claim.count:
                scheduler.policy.check(claim.actions + claim.ids[claim.at] * scheduler.action_bytes)
                advance_alone(scheduler, claim)
            return 0
    if scheduler.step_task == STEP_AHEAD:
        return advance_ahead(scheduler, claim)
    # a kernel for many environments has no regard for those whose episode is over
    if scheduler.step_task == STEP_TOGETHER and scheduler.autoreset != DISABLED:
        return advance_together(scheduler, claim)
    return advance(scheduler, claim)
