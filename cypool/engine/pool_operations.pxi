# Calls of environments between two of their steps: states, copies, pictures.
from cpython.ref cimport PyObject
from libc.stdint cimport int32_t, uint8_t, uint32_t

cimport numpy as cnp

import numpy as np

from cypool.util.arguments import shown

from cypool.env cimport Agents, Env

cnp.import_array()


cdef int check_same(Env source, Env target) except -1:
    """Raises a ValueError if one cannot become a copy of the other."""
    if type(source) is not type(target) or source.spec.id != target.spec.id or (
            source.spec.saved_options != target.spec.saved_options):
        given = source.spec.saved_options
        if source.spec.id == target.spec.id:
            given, _ = differing(given, target.spec.saved_options)
        raise ValueError(f"source: expected an environment with the id and options of env {target.env_id}, got env "
                         f"{source.env_id}: {source.spec.id} with {shown(given)}")
    return 0


cdef class PoolOperations(PoolBase):
    """The calls of a pool that do not step environments. They run on the caller's thread, except for copies."""

    def save(self, cnp.ndarray env_ids=None):
        """Saves everything that the next steps of environments depend on.

        Args:
            env_ids: As in `send_reset`.

        Returns:
            (ids, states): a list of ints, and for each of them a dict that can be pickled.

        Raises:
            ValueError: An id is out of range or repeated.
            RuntimeError: An environment is in flight or was never reset.
            NotImplementedError: The environment cannot be saved.
        """
        cdef GateGuard guard
        cdef uint32_t count, k
        cdef const int32_t* ids
        self._enter(guard)
        ids = self.ids.check(self.scheduler, env_ids, INSPECT, &count)
        states = [save_state(<Env>self.scheduler.envs[ids[k]]) for k in range(count)]
        return [ids[k] for k in range(count)], states

    def load(self, cnp.ndarray env_ids, list states):
        """Restores environments to states from `save`, of these environments or others with the same options.

        Args:
            env_ids: As in `send_reset`.
            states: One for each.

        Returns:
            Observation and info of these environments.

        Raises:
            ValueError, RuntimeError: As in `save`, except that an environment need not have been reset; or a row is not
                from `save`. The engine's part of all rows is checked before anything changes. An environment that
                rejects its own part of a row starts an episode with its next step.
        """
        cdef GateGuard guard
        cdef uint32_t count, k
        cdef const int32_t* ids
        self._enter(guard)
        ids = self.ids.check(self.scheduler, env_ids, RESET, &count)
        rows = self._checked(ids, count, states)
        self.observers.begin()
        for k in range(count):
            load_state(<Env>self.scheduler.envs[ids[k]], rows[k])
            self.ids.mark_started(ids[k])
        obs, info = self.results.observe(self.scheduler, ids, count)
        self.observers.report_gap()
        return (obs if self.hooks is None else self.hooks.observed(obs)), info

    def check_states(self, cnp.ndarray env_ids, list states):
        """Raises what `load` would raise before it changes anything."""
        cdef GateGuard guard
        cdef uint32_t count
        cdef const int32_t* ids
        self._enter(guard)
        ids = self.ids.check(self.scheduler, env_ids, RESET, &count)
        self._checked(ids, count, states)

    cdef list _checked(self, const int32_t* ids, uint32_t count, list states):
        """Returns states for environments, checked except for the environments' own parts."""
        cdef uint32_t k
        if <Py_ssize_t>count != len(states):
            raise ValueError(f"state: expected {count} rows, one for each env, got {len(states)}")
        return [check_state(<Env>self.scheduler.envs[ids[k]], states[k]) for k in range(count)]

    def copy(self, cnp.ndarray sources, cnp.ndarray targets):
        """Makes environments exact copies of others, including random streams and step counts.

        Args:
            sources: int32, C-contiguous, shape (k,): the environments to copy; or one id, shape (1,), for all.
            targets: As `env_ids` in `send_reset`.

        Raises:
            ValueError: An id is out of range, a target is repeated or also a source, or its spec differs from its
                source's; nothing has changed.
            RuntimeError: An environment is in flight, or a source was never reset; nothing has changed.
            Exception: The error of `copy_from` of the failed environment with the lowest id. It starts an episode with
                its next step, or is unchanged in case of a NotImplementedError. All others have been copied.
        """
        cdef GateGuard guard
        cdef uint32_t count, k
        cdef const int32_t* ids
        cdef const int32_t* from_ids
        cdef Scheduler scheduler
        cdef Env source, target
        self._enter(guard)
        scheduler = self.scheduler
        ids = self.ids.check(scheduler, targets, REPLACE, &count)
        from_ids = self.ids.check_sources(sources, count)
        for k in range(count):
            source, target = <Env>scheduler.envs[from_ids[k]], <Env>scheduler.envs[ids[k]]
            if source.spec is not target.spec or type(source) is not type(target):
                check_same(source, target)
        self.observers.begin()
        if self.is_async or self.backend is not None:
            # others take their environments from a queue
            errors = copy_on_caller(scheduler, ids, from_ids, count)
        else:
            errors = (<SyncDispatch>self.dispatch).copy(ids, from_ids, count)
        for k in range(count):
            if ids[k] not in errors:
                self.ids.mark_started(ids[k])
        self.observers.report_gap()
        if errors:
            raise errors[min(errors)]

    def acting(self, cnp.ndarray env_ids=None):
        """Returns which agents act in the next step: bool, (k, agents), group by group.

        Args:
            env_ids: As in `send`.

        Raises:
            ValueError, RuntimeError: As `send`.
        """
        cdef GateGuard guard
        cdef uint32_t count, k, j, n
        cdef const int32_t* ids
        cdef const Agents* agents
        cdef PyObject* env
        cdef uint8_t* acting
        self._enter(guard)
        ids = self.ids.check(self.scheduler, env_ids, STEP, &count)
        n = self.spec.num_agents
        result = np.zeros((count, n), np.bool_)
        acting = <uint8_t*>cnp.PyArray_DATA(result)
        for k in range(count):
            env = self.scheduler.envs[ids[k]]
            agents = (<Env>env).agents
            if not (<Env>env).needs_reset:
                for j in range(n):
                    acting[k * n + j] = agents.alive[j] and (agents.turn == NULL or agents.turn[j])
        return result

    def sample_legal(self, bit_generator, cnp.ndarray env_ids=None):
        """Draws a legal action uniformly for each environment or agent, in environments with `illegal`.

        Args:
            bit_generator: The NumPy bit generator to draw from.
            env_ids: As in `send`.

        Returns:
            int64, (k,) or (k, agents), for those whose actions `send` takes; 0 where no action is legal.

        Raises:
            ValueError, RuntimeError: As `send`.
        """
        cdef GateGuard guard
        cdef uint32_t count
        cdef const int32_t* ids
        self._enter(guard)
        # in an asynchronous pool those of the last batch; of episodes that are over, too
        ids = self.ids.check(self.scheduler, env_ids, STEP if self.is_async else INSPECT, &count)
        return self.legal_actions.sample(self.scheduler, ids, count, bit_generator)

    def render(self, cnp.ndarray env_ids=None):
        """Renders environments.

        Args:
            env_ids: As in `send_reset`.

        Returns:
            A list of pictures, uint8 (height, width, 3).

        Raises:
            ValueError: An id is out of range or repeated.
            RuntimeError: An environment is in flight or was never reset. Environments of a backend decide themselves
                whether they can be rendered before a reset.
            NotImplementedError: The environment cannot be rendered.
        """
        cdef GateGuard guard
        cdef uint32_t count, k
        cdef const int32_t* ids
        self._enter(guard)
        ids = self.ids.check(self.scheduler, env_ids, INSPECT if self.backend is None else RESET, &count)
        return [(<Env>self.scheduler.envs[ids[k]]).render() for k in range(count)]

    def streams(self):
        """Returns the states of the environments' random streams: a list, None where there is no stream.

        Raises:
            RuntimeError: An environment is in flight.
        """
        cdef GateGuard guard
        cdef Env env
        cdef uint32_t count
        self._enter(guard)
        # whether an environment was reset before does not matter
        self.ids.check(self.scheduler, None, RESET, &count)
        return [None if env._bit_generator is None else env._bit_generator.state for env in self.scheduler.env_objects]

    def ask(self, cnp.ndarray env_ids, function, *args, **kwargs):
        """Calls a function with environments of a backend, where they run.

        Args:
            env_ids: As in `send_reset`.
            function: Is called with an environment, `args` and `kwargs`; all must be picklable.

        Returns:
            Its result, a list.

        Raises:
            ValueError, RuntimeError: As `send`, but it does not matter whether an environment was reset before.
            Exception: The exception of the function.
        """
        cdef GateGuard guard
        cdef uint32_t count, k
        cdef const int32_t* ids
        self._enter(guard)
        ids = self.ids.check(self.scheduler, env_ids, RESET, &count)
        return [self.scheduler.env_objects[ids[k]].ask(function, *args, **kwargs) for k in range(count)]

    def call_user(self, function, argument):
        """Calls a Python hook or policy. Until it returns, the pool accepts no other call.

        Returns:
            Its result.

        Raises:
            RuntimeError: Another thread is in a call.
            Exception: The exception of the function.
        """
        cdef GateGuard guard
        self._enter(guard)
        return function(argument)
