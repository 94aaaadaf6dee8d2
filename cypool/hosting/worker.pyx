"""The worker's side: makes environments and runs the tasks in their mailboxes.

The pool writes a task into an environment's mailbox. A `WorkerLoop`, in a worker process or in the pool's own, runs it
and writes the answer. Observations and actions lie in shared memory; infos, errors and calls are pickled payloads. In
the pool's own process, infos and errors are objects.
"""
include "shared_memory.pxi"
import copy
import pickle
import traceback
from collections.abc import Mapping

from cpython.exc cimport PyErr_CheckSignals
from libc.stdint cimport uint32_t
from libc.string cimport memcpy

cimport numpy as cnp

import numpy as np

from cypool.util.arguments import shown
from cypool.spec import EnvSpec, Text
from cypool.hosting import spaces
from cypool.hosting.pettingzoo import AgentsEnv, is_of_pettingzoo
from cypool.hosting.remote_errors import pickle_error
from cypool.util.texts import encode

from cypool.util.park cimport now_ns, park

cnp.import_array()

cdef enum:
    MAX_INFO_DEPTH = 100             # of dicts nested in an info


cdef class WorkerLoop:
    """Creates environments, and runs the tasks that arrive in their mailboxes.

    Args:
        memory: Where the mailboxes are.
        first: The id of the first environment.
        factories: One for each, called without arguments.
        answers: In the pool's own process, a list with a place for each environment of the pool, for infos and errors.
        unwrapped: Likewise, a list for the environments without wrappers.
    """

    def __init__(self, SharedMemory memory, int first, list factories, list answers=None, list unwrapped=None):
        self.memory = memory
        self.control = &memory.worker_controls[memory.worker_of(first)]
        self.first = first
        self.num = len(factories)
        self.answers = answers
        self.unwrapped = [None] * memory.num_envs if unwrapped is None else unwrapped
        self.factories = factories
        self.envs, self.is_open = [], [False] * self.num
        self.is_loaded, self.is_broken = [False] * self.num, [False] * self.num
        self.actions = []
        try:
            self._begin()
        except BaseException:
            # a process ends anyway
            self.close()
            raise

    def _begin(self):
        """Creates the environments, and determines the layout of their rows."""
        cdef SharedMemory memory = self.memory
        cdef cnp.npy_intp[32] dims
        cdef int d, first = self.first
        for k in range(self.num):
            self.envs.append(self._made(k))
            self.is_open[k] = True
        observation, action = spaces.described(self.envs[0].observation_space, self.envs[0].action_space)
        self.layout = AreaLayout(observation, action)
        layout = memory.control.layout.load()
        if layout == 0:
            for k, env in enumerate(self.envs):
                payload = pickle.dumps(spaces.env_description(env), pickle.HIGHEST_PROTOCOL)
                memory.mailboxes[first + k].payload_bytes = memory.write_payload(first + k, payload, BYTES_PER_ENV)
        elif layout != self.layout.checksum:
            raise ValueError("observation_space: expected the same space as before, got "
                             f"{self.envs[0].observation_space}")
        self.parts = [name for name, _ in EnvSpec(observation, action).observations]
        self.text_bytes = [part.shape[0] if isinstance(part, Text) else 0
                           for _, part in EnvSpec(observation, action).observations]
        for k in range(self.num):
            for d, n in enumerate(action.shape):
                dims[d] = n
            array = cnp.PyArray_SimpleNewFromData(
                len(action.shape), dims, action.dtype.num, memory.at(first + k) + self.layout.action_at)
            cnp.set_array_base(array, memory)
            self.actions.append(array)

    def run(self):
        """Runs tasks until the pool is closed."""
        cdef WorkerControl* control = self.control
        cdef uint32_t seen
        cdef int k
        while self.memory.control.closing.load() == 0:
            k = self.next_posted()
            if k >= 0:
                self.run_one(k)
                continue
            with nogil:
                seen = control.doorbell.load()
                # announces the sleep before the last check: a pool that submits in between sees a sleeper
                control.sleeping.store(1)
                if self.next_posted() < 0 and self.memory.control.closing.load() == 0:
                    park(control.doorbell, seen, -1, True)
                control.sleeping.store(0)
            # runs signal handlers that an environment has set
            PyErr_CheckSignals()

    cdef bint run_next(self) except -1:
        """Runs one task, if there is any, for the pool on its own thread; returns whether there was.

        Raises:
            KeyboardInterrupt: The task raised it.
        """
        cdef int k = self.next_posted()
        if k < 0:
            return False
        self.run_one(k)
        answer = self.answers[self.first + k]
        if isinstance(answer, KeyboardInterrupt):
            raise answer
        return True

    def _made(self, int k):
        """Creates an environment, which must not be that of another row."""
        cdef int row = self.first + k, other
        env = self.factories[k]()
        if is_of_pettingzoo(env):
            env = AgentsEnv(env)
        try:
            _check_env(env)
        except Exception as error:
            raise TypeError(f"factories: expected functions that return a gymnasium.Env, got {shown(env)}: "
                            f"{type(error).__name__}: {error}") from error
        # written first, compared afterwards: of two threads that have the same, one sees it
        own = self.unwrapped[row] = _unwrapped(env)
        for other in range(self.memory.num_envs):
            if other != row and self.unwrapped[other] is own:
                raise ValueError("factories: expected a separate environment for each row, got the same "
                                 f"environment for rows {min(row, other)} and {max(row, other)}: {shown(env)}")
        return env

    def _replace_broken(self, int k):
        """Recreates an environment, which keeps its random stream."""
        # first, as the old one may hold a resource that the new one needs: a port, a file
        self._close_env(k)
        env = self._made(k)
        try:
            stream = self.envs[k].unwrapped.np_random
            if isinstance(stream, np.random.Generator):
                env.unwrapped.np_random = stream
        except Exception:
            # it has none, or its stream is broken
            pass
        self.envs[k], self.is_open[k] = env, True
        self.is_loaded[k] = self.is_broken[k] = False

    def _close_env(self, int k):
        """Closes an environment, once; prints its exception."""
        if self.is_open[k]:
            self.is_open[k] = False
            try:
                if hasattr(self.envs[k], "close"):
                    self.envs[k].close()
            except KeyboardInterrupt:
                raise
            except BaseException:
                # SystemExit, too: others have to be closed
                traceback.print_exc()

    def close(self):
        """Closes the environments.

        Raises:
            KeyboardInterrupt: Ctrl-C came, or one of them raised it. The others are closed.
        """
        interrupt = None
        for k in range(len(self.envs)):
            try:
                self._close_env(k)
            except KeyboardInterrupt as error:
                interrupt = error
        self.envs = []
        if interrupt is not None:
            raise interrupt

    cdef int next_posted(self) noexcept nogil:
        """Returns the index of the next environment that has a task, in turn, or -1."""
        cdef int k, _k
        for _k in range(self.num):
            k = self.turn
            self.turn = k + 1 if k + 1 < self.num else 0
            if self.memory.mailboxes[self.first + k].state.load() == POSTED:
                return k
        return -1

    cdef int run_one(self, int k) except -1:
        """Runs one task. It always answers, because the pool waits for that."""
        cdef int env_id = self.first + k
        cdef EnvMailbox* mailbox = &self.memory.mailboxes[env_id]
        self.control.since.store(now_ns())
        mailbox.state.store(RUNNING)
        mailbox.failed = mailbox.was_reset = False
        try:
            self.run_task(k, mailbox)
        except BaseException as error:
            # Ctrl-C may come between any two lines of an environment
            if not isinstance(error, Exception) or (self.is_loaded[k] and mailbox.task != CALL):
                self.is_broken[k] = True
            mailbox.failed = True
            mailbox.payload_bytes = 0
            if self.answers is None:
                mailbox.payload_bytes = self.memory.write_payload(
                    env_id, pickle_error(error, BYTES_PER_ENV), self.layout.payload_bytes)
            else:
                # the exception itself, for debuggers. No Python code runs here, so that a second Ctrl-C waits
                self.answers[env_id] = error
        finally:
            self.control.since.store(now_ns())
            mailbox.state.store(DONE)
            self.memory.answered()
        return 0

    cdef int run_task(self, int k, EnvMailbox* mailbox) except -1:
        cdef int env_id = self.first + k
        if mailbox.task == STEP:
            self._step(k, mailbox)
        elif mailbox.task == RESET:
            # as Gymnasium's own vectors do: nothing where an episode has ended, a seed in any reset of the user's
            arguments = {}
            if mailbox.requested or mailbox.seeded:
                arguments["seed"] = mailbox.seed if mailbox.seeded else None
            if mailbox.payload_bytes > 0:
                arguments["options"] = pickle.loads(self.memory.payload(env_id, mailbox.payload_bytes))
            if self.is_broken[k]:
                self._replace_broken(k)
            observation, info = _items("reset", 2, self.envs[k].reset(**arguments))
            self._write_observation(k, 0, observation)
            self._write_infos(k, mailbox, info, {})
        else:
            name, args, kwargs = pickle.loads(self.memory.payload(env_id, mailbox.payload_bytes))
            self._write(k, mailbox, name, (self._call(k, name, args, kwargs),))
        return 0

    cdef int _step(self, int k, EnvMailbox* mailbox) except -1:
        env, action = self.envs[k], self.actions[k]
        # the environment may keep its action: a copy
        action = action.copy() if cnp.PyArray_NDIM(action) > 0 else action[()]
        observation, reward, terminated, truncated, info = _items("step", 5, env.step(action))
        mailbox.reward = _reward(reward)
        mailbox.terminated, mailbox.truncated = _flag("terminated", terminated), _flag("truncated", truncated)
        if mailbox.resets and (mailbox.terminated or mailbox.truncated or mailbox.last):
            self._write_observation(k, 1, observation)
            # the reset may change it
            info = _copied(_checked(info))
            observation, new_info = _items("reset", 2, env.reset())
            mailbox.was_reset = True
            self._write_observation(k, 0, observation)
            self._write_infos(k, mailbox, new_info, info)
        else:
            self._write_observation(k, 0, observation)
            self._write_infos(k, mailbox, info, {})
        return 0

    def _call(self, int k, str name, tuple args, dict kwargs):
        if name == "save":
            return pickle.dumps(self.envs[k], pickle.HIGHEST_PROTOCOL)
        if name == "load":
            env = pickle.loads(*args)
            if type(env) is not type(self.envs[k]):
                raise TypeError(f"expected type {type(self.envs[k]).__name__}, got type {type(env).__name__}")
            _check_env(env)
            self._close_env(k)
            self.envs[k], self.unwrapped[self.first + k] = env, _unwrapped(env)
            self.is_open[k] = self.is_loaded[k] = True
            self.is_broken[k] = False
            return None
        if name == "ask":
            return args[0](self.envs[k], *args[1:], **kwargs)
        return getattr(self.envs[k], name)(*args, **kwargs)

    cdef int _write_observation(self, int k, int which, object observation) except -1:
        """Writes an observation to shared memory: the current one (0), or the last one of the episode (1)."""
        cdef char* at = self.memory.at(self.first + k) + which * self.layout.second
        cdef cnp.ndarray array
        cdef int p
        for p, key in enumerate(self.parts):
            part = observation if key is None else observation[key]
            if self.text_bytes[p]:
                part = _encoded(part, self.text_bytes[p], key)
            array = np.asarray(part, order="C")
            if (<object>array).shape != self.layout.shapes[p]:
                raise ValueError(f"{_name(key)}: expected shape {self.layout.shapes[p]}, as in the observation space, "
                                 f"got {(<object>array).shape}")
            if <object>array.dtype != self.layout.dtypes[p]:
                array = _converted(array, self.layout.dtypes[p], key)
            memcpy(at + self.layout.offsets[p], cnp.PyArray_DATA(array), self.layout.sizes[p])
        return 0

    cdef int _write_infos(self, int k, EnvMailbox* mailbox, object info, object final_info) except -1:
        """Answers with infos: the current one, and the last one of the episode if the next has begun."""
        mailbox.payload_bytes = 0
        info, final_info = _checked(info), _checked(final_info)
        answer = (info, final_info) if info or final_info else None
        if self.answers is not None:
            # a batch does not change later
            self.answers[self.first + k] = None if answer is None else (_copied(info), _copied(final_info))
        elif answer is not None:
            self._write(k, mailbox, "info", answer)
        return 0

    cdef int _write(self, int k, EnvMailbox* mailbox, str name, object payload) except -1:
        try:
            pickled = pickle.dumps(payload, pickle.HIGHEST_PROTOCOL)
        except Exception as error:
            raise TypeError(f"{name}: expected values that can be pickled: {error}") from error
        try:
            mailbox.payload_bytes = self.memory.write_payload(self.first + k, pickled, self.layout.payload_bytes)
        except ValueError as error:
            raise ValueError(f"{name}: {error}") from error
        return 0


def _check_env(env):
    """Raises an exception if an environment lacks an attribute that a pool needs."""
    env.observation_space, env.action_space, env.reset, env.step


def _unwrapped(env):
    return getattr(env, "unwrapped", env)


cdef tuple _items(str method, Py_ssize_t count, object result):
    """Returns the result of a method of an environment, a tuple of `count` values."""
    if type(result) is tuple and len(<tuple>result) == count:
        return result
    try:
        items = tuple(result)
    except TypeError:
        items = ()
    if len(items) != count:
        wanted = "observation, info" if count == 2 else "observation, reward, terminated, truncated, info"
        raise ValueError(f"{method}: expected {count} values ({wanted}), got {len(items) or 'none'}: {shown(result)}")
    return items


cdef double _reward(object value) except? -1:
    try:
        return value
    except Exception as error:
        raise TypeError(f"reward: expected a number, got {shown(value)}") from error


cdef bint _flag(str name, object value) except -1:
    try:
        return bool(value)
    except Exception as error:
        raise TypeError(f"{name}: expected True or False, got {shown(value)}") from error


def _name(key):
    return "observation" if key is None else f"observation {key!r}"


def _encoded(value, length, key):
    """Encodes a text of an observation as bytes."""
    if not isinstance(value, str):
        raise TypeError(f"{_name(key)}: expected a str, as in the observation space, got {shown(value)}")
    try:
        return np.frombuffer(encode(value, length), np.uint8)
    except ValueError as error:
        raise ValueError(f"{_name(key)}: {error}") from error


def _converted(array, dtype, key):
    """Returns an observation in the dtype of its space. Floats may be rounded; nothing else may change."""
    with np.errstate(invalid="ignore"):
        converted = array.astype(dtype, order="C")
    rounds = dtype.kind == "f" and np.can_cast(array.dtype, dtype, "same_kind")
    if not rounds and not np.can_cast(array.dtype, dtype) and not np.array_equal(converted, array):
        raise ValueError(f"{_name(key)}: expected values that fit the observation space's {dtype}, got {array.dtype}: "
                         f"{shown(array)}")
    return converted


cdef object _copied(info):
    """Returns a copy of an info; values that cannot be copied, such as a lock, stay as they are."""
    copied = dict(info)
    for name, value in info.items():
        if type(value) not in (int, float, bool, str):
            try:
                copied[name] = copy.deepcopy(value)
            except Exception:
                pass
    return copied


cdef object _checked(info, int depth=0):
    """Returns an info as a dict, or raises if a pool cannot batch it."""
    if not isinstance(info, dict):
        if not isinstance(info, Mapping):
            raise TypeError(f"info: expected a dict, got {shown(info)}")
        info = dict(info)
    if depth == MAX_INFO_DEPTH:
        raise ValueError(f"info: expected dicts nested at most {MAX_INFO_DEPTH} levels deep")
    for value in info.values():
        if isinstance(value, dict):
            _checked(value, depth + 1)
    return info
