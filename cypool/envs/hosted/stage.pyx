"""Environments of Python and the memory through which they are told what to do.

The pool posts a task on an environment's desk; a `Stage`, in a worker process or in the pool's own, carries it out and
answers. Observations and actions lie in the area beside; infos, errors and what else is rare go as pickled letters.
"""
import os
import pickle
import traceback
import zlib
from collections.abc import Mapping

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize
from cpython.exc cimport PyErr_CheckSignals
from libc.stdint cimport int32_t, uint32_t, uint64_t
from libc.string cimport memcpy
from posix.mman cimport MAP_FAILED, MAP_SHARED, PROT_READ, PROT_WRITE, mmap, munmap

cimport numpy as cnp

import numpy as np

from cypool.arguments import shown
from cypool.spec import EnvSpec
from cypool.envs.hosted import nursery, spaces

from cypool.engine.park cimport now_ns, park, wake

cnp.import_array()

cdef enum:
    ALIGNMENT = 64
    MOST_DEEP = 100                  # dicts of an info in each other


cdef class Area:
    """The memory that a pool shares with its workers.

    Args:
        num_envs: Environments of the pool.
        num_workers: Worker processes; environments are dealt out to them in blocks.
        fd: Of an area to open; by default a new one is made. It belongs to this object.

    Raises:
        OSError: There is no memory.
    """

    def __cinit__(self, int num_envs, int num_workers, fd=None):
        cdef size_t words = sizeof(Bell) + num_workers * sizeof(Post) + num_envs * sizeof(Desk)
        # whole pages
        cdef size_t head = (words + 4095) // 4096 * 4096
        self.fd = -1
        self.num_envs = num_envs
        self.num_workers = num_workers
        self._nbytes = head + <size_t>num_envs * AREA_BYTES
        if fd is None:
            self.fd = nursery.out_of_the_way(os.memfd_create("cypool"))
            os.ftruncate(self.fd, self._nbytes)
        else:
            self.fd = fd
        cdef void* data = mmap(NULL, self._nbytes, PROT_READ | PROT_WRITE, MAP_SHARED, self.fd, 0)
        if data == MAP_FAILED:
            raise OSError(f"no room for {self._nbytes} bytes of addresses: {num_envs} environments")
        self._data = <char*>data
        self.bell = <Bell*>self._data
        self.posts = <Post*>(self._data + sizeof(Bell))
        self.desks = <Desk*>(self._data + sizeof(Bell) + num_workers * sizeof(Post))
        self._letters = self._data + head

    def __dealloc__(self):
        if self._data != NULL:
            munmap(self._data, self._nbytes)
        if self.fd >= 0:
            os.close(self.fd)

    def envs_of(self, int worker):
        """Returns the ids of a worker's environments, a range."""
        return range(worker * self.num_envs // self.num_workers, (worker + 1) * self.num_envs // self.num_workers)

    def begin(self, int worker):
        """Says that a worker is to start."""
        self.posts[worker].letter_bytes = 0
        self.posts[worker].made.store(0)
        self.posts[worker].since.store(now_ns())
        self.posts[worker].life.store(STARTING)

    def ready(self, int worker):
        """Says that a worker has made its environments."""
        self.posts[worker].made.store(1)
        self.posts[worker].since.store(now_ns())
        self.posts[worker].life.store(READY)
        self.answered()

    def excuse(self, int worker, error):
        """Says why a worker cannot."""
        letter = _confession(error)
        self.posts[worker].letter_bytes = self.write_letter(self.envs_of(worker)[0], letter, AREA_BYTES)

    def ended(self, int worker, int status):
        """Says that a worker process has ended, with a status of `os.waitpid`."""
        self.posts[worker].status = status
        self.posts[worker].life.store(ENDED)
        self.bell.deaths.fetch_add(1)
        self.bell.answers.fetch_add(1)
        wake(self.bell.answers, 1, True)

    def close_all(self):
        """Has workers end once they have done what they are at."""
        cdef int worker
        self.bell.closing.store(1)
        for worker in range(self.num_workers):
            self.ring(worker)

    cdef char* at(self, int env_id) noexcept nogil:
        """The part of an environment."""
        return self._letters + <size_t>env_id * AREA_BYTES

    cdef int worker_of(self, int env_id) noexcept nogil:
        # of the blocks that envs_of has, the last that does not begin behind it
        return (<int64_t>(env_id + 1) * self.num_workers - 1) // self.num_envs

    cdef void ring(self, int worker) noexcept nogil:
        """Tells a worker that there is something on its desks."""
        self.posts[worker].rings.fetch_add(1)
        if self.posts[worker].sleeping.load() != 0:
            wake(self.posts[worker].rings, 1, True)

    cdef void answered(self) noexcept nogil:
        """Tells the pool that a task is done; wakes it if that was the last it waits for."""
        cdef uint32_t answers = self.bell.answers.fetch_add(1) + 1
        if self.bell.sleeping.load() != 0 and <int32_t>(answers - self.bell.target.load()) >= 0:
            wake(self.bell.answers, 1, True)

    cdef bytes letter(self, int env_id, uint64_t nbytes):
        return PyBytes_FromStringAndSize(self.at(env_id), nbytes)

    cdef uint64_t write_letter(self, int env_id, bytes letter, size_t most) except? 0:
        if <size_t>len(letter) > most:
            raise ValueError(f"expected at most {most} bytes when pickled, got {len(letter)}")
        memcpy(self.at(env_id), PyBytes_AS_STRING(letter), len(letter))
        return len(letter)


cdef class Places:
    """Where in an environment's part of the area its action and its observations lie.

    Args:
        observation: Its description, as `EnvSpec` has it.
        action: Likewise.

    Raises:
        ValueError: They are too large.
    """

    def __init__(self, observation, action):
        cdef size_t nbytes, at = 0
        self.dtypes, self.shapes = [], []
        for _, part in EnvSpec(observation, action).observations:
            nbytes = part.dtype.itemsize
            for n in part.shape:
                nbytes *= n
            self.dtypes.append(part.dtype)
            self.shapes.append(part.shape)
            self.sizes.push_back(nbytes)
            self.offsets.push_back(at)
            at += (nbytes + ALIGNMENT - 1) // ALIGNMENT * ALIGNMENT
        self.second = at
        self.action_bytes = action.dtype.itemsize
        for n in action.shape:
            self.action_bytes *= n
        nbytes = 2 * at + (self.action_bytes + ALIGNMENT - 1) // ALIGNMENT * ALIGNMENT
        if nbytes > AREA_BYTES // 2:
            raise ValueError(f"observation_space: expected two observations and an action of at most {AREA_BYTES // 2} "
                             f"bytes, got {nbytes}")
        # behind the letter
        self.letter_bytes = AREA_BYTES - nbytes
        for k in range(<int>self.offsets.size()):
            self.offsets[k] += self.letter_bytes
        self.action_at = self.letter_bytes + 2 * at
        self.checksum = zlib.crc32(repr((self.dtypes, self.shapes, action.dtype, action.shape)).encode()) | 1


cdef class Stage:
    """Environments, made here, and stepped as their desks say.

    Args:
        area: Where the desks are.
        first: The id of the first environment.
        factories: One for each, called without arguments.
        in_pool: Whether this is the pool's own process.
    """

    def __init__(self, Area area, int first, list factories, bint in_pool=False):
        cdef cnp.npy_intp[32] dims
        cdef int d
        self.area = area
        self.post = &area.posts[area.worker_of(first)]
        self.first = first
        self.num = len(factories)
        self.in_pool = in_pool
        self.raised = {}
        self.envs = []
        self.actions = []
        for factory in factories:
            env = factory()
            try:
                env.observation_space, env.action_space, env.reset, env.step
            except Exception as error:
                raise TypeError(f"factories: expected functions that return a gymnasium.Env, got {shown(env)}: "
                                f"{type(error).__name__}: {error}") from error
            self.envs.append(env)
        observation, action = spaces.described(self.envs[0].observation_space, self.envs[0].action_space)
        self.places = Places(observation, action)
        layout = area.bell.layout.load()
        if layout == 0:
            for k, env in enumerate(self.envs):
                letter = pickle.dumps(spaces.introduction(env), pickle.HIGHEST_PROTOCOL)
                area.desks[first + k].letter_bytes = area.write_letter(first + k, letter, AREA_BYTES)
        elif layout != self.places.checksum:
            raise ValueError(f"observation_space: expected the same as before, got {self.envs[0].observation_space}")
        self.parts = [name for name, _ in EnvSpec(observation, action).observations]
        for k in range(len(factories)):
            for d, n in enumerate(action.shape):
                dims[d] = n
            array = cnp.PyArray_SimpleNewFromData(
                len(action.shape), dims, action.dtype.num, area.at(first + k) + self.places.action_at)
            cnp.set_array_base(array, area)
            self.actions.append(array)

    def serve(self):
        """Carries out what is posted until the pool is closed."""
        cdef Post* post = self.post
        cdef uint32_t seen
        cdef int k
        while self.area.bell.closing.load() == 0:
            k = self.next_posted()
            if k >= 0:
                self.perform(k)
                continue
            with nogil:
                seen = post.rings.load()
                # said first, looked afterwards: whoever posts in between sees a sleeper
                post.sleeping.store(1)
                if self.next_posted() < 0 and self.area.bell.closing.load() == 0:
                    park(post.rings, seen, -1, True)
                post.sleeping.store(0)
            # handlers that an environment has set
            PyErr_CheckSignals()

    def perform_next(self):
        """Carries out one task that is posted; returns whether there was any."""
        cdef int k = self.next_posted()
        if k < 0:
            return False
        self.perform(k)
        return True

    def close(self):
        """Closes the environments."""
        for env in self.envs:
            try:
                env.close()
            except Exception:
                traceback.print_exc()
        self.envs = []

    cdef int next_posted(self) noexcept nogil:
        """Which environment is to do something, as its place; the next one behind the last, or -1."""
        cdef int k, _k
        for _k in range(self.num):
            k = self.turn
            self.turn = k + 1 if k + 1 < self.num else 0
            if self.area.desks[self.first + k].state.load() == POSTED:
                return k
        return -1

    cdef int perform(self, int k) except -1:
        """Carries out one task. It is answered whatever happens, as the pool waits for that."""
        cdef int env_id = self.first + k
        cdef Desk* desk = &self.area.desks[env_id]
        interrupt = None
        self.post.since.store(now_ns())
        desk.state.store(AT_WORK)
        desk.failed = desk.began_anew = False
        try:
            self.carry_out(k, desk)
        except BaseException as error:
            desk.failed = True
            desk.letter_bytes = 0
            if not self.in_pool:
                desk.letter_bytes = self.area.write_letter(env_id, _confession(error), self.places.letter_bytes)
            else:
                # the exception itself, for debuggers. No Python code runs here, so that a second Ctrl-C waits
                self.raised[env_id] = error
                if isinstance(error, KeyboardInterrupt):
                    interrupt = error
        finally:
            self.post.since.store(now_ns())
            desk.state.store(ANSWERED)
            self.area.answered()
        if interrupt is not None:
            raise interrupt
        return 0

    cdef int carry_out(self, int k, Desk* desk) except -1:
        cdef int env_id = self.first + k
        if desk.task == STEP:
            self._step(k, desk)
        elif desk.task == RESET:
            options = pickle.loads(self.area.letter(env_id, desk.letter_bytes)) if desk.letter_bytes > 0 else None
            seed = desk.seed if desk.seeded else None
            observation, info = self.envs[k].reset(seed=seed, options=options)
            self._show(k, 0, observation)
            self._tell(k, desk, info, {})
        else:
            name, args, kwargs = pickle.loads(self.area.letter(env_id, desk.letter_bytes))
            self._write(k, desk, name, (self._call(k, name, args, kwargs),))
        return 0

    cdef int _step(self, int k, Desk* desk) except -1:
        env, action = self.envs[k], self.actions[k]
        # what it is given, it may keep
        action = action.copy() if cnp.PyArray_NDIM(action) > 0 else action[()]
        observation, reward, terminated, truncated, info = env.step(action)
        desk.reward, desk.terminated, desk.truncated = reward, bool(terminated), bool(truncated)
        if desk.resets and (desk.terminated or desk.truncated or desk.last):
            self._show(k, 1, observation)
            observation, new_info = env.reset()
            desk.began_anew = True
            self._show(k, 0, observation)
            self._tell(k, desk, new_info, info)
        else:
            self._show(k, 0, observation)
            self._tell(k, desk, info, {})
        return 0

    def _call(self, int k, str name, tuple args, dict kwargs):
        if name == "save":
            return pickle.dumps(self.envs[k], pickle.HIGHEST_PROTOCOL)
        if name == "load":
            env = pickle.loads(*args)
            if type(env) is not type(self.envs[k]):
                raise TypeError(f"expected a {type(self.envs[k]).__name__}, got a {type(env).__name__}")
            self.envs[k] = env
            return None
        if name == "ask":
            return args[0](self.envs[k], *args[1:], **kwargs)
        return getattr(self.envs[k], name)(*args, **kwargs)

    cdef int _show(self, int k, int which, object observation) except -1:
        """Writes an observation to the area: the current one (0), or the last one of the episode (1)."""
        cdef char* at = self.area.at(self.first + k) + which * self.places.second
        cdef cnp.ndarray array
        cdef int p
        for p, key in enumerate(self.parts):
            array = np.asarray(observation if key is None else observation[key], order="C")
            if (<object>array).shape != self.places.shapes[p]:
                raise ValueError(f"{_name(key)}: expected shape {self.places.shapes[p]}, as the observation space has "
                                 f"it, got {(<object>array).shape}")
            if <object>array.dtype != self.places.dtypes[p]:
                array = _converted(array, self.places.dtypes[p], key)
            memcpy(at + self.places.offsets[p], cnp.PyArray_DATA(array), self.places.sizes[p])
        return 0

    cdef int _tell(self, int k, Desk* desk, object info, object final_info) except -1:
        """Writes infos to the area: the current one, and the last one of the episode if another one began."""
        desk.letter_bytes = 0
        info, final_info = _checked(info), _checked(final_info)
        if info or final_info:
            self._write(k, desk, "info", (info, final_info))
        return 0

    cdef int _write(self, int k, Desk* desk, str name, object letter) except -1:
        try:
            pickled = pickle.dumps(letter, pickle.HIGHEST_PROTOCOL)
        except Exception as error:
            raise TypeError(f"{name}: expected what can be pickled: {error}") from error
        try:
            desk.letter_bytes = self.area.write_letter(self.first + k, pickled, self.places.letter_bytes)
        except ValueError as error:
            raise ValueError(f"{name}: {error}") from error
        return 0


def _name(key):
    return "observation" if key is None else f"observation {key!r}"


def _converted(array, dtype, key):
    """Returns an observation in the dtype of its space. Floats may be rounded; nothing else may change."""
    with np.errstate(invalid="ignore"):
        converted = array.astype(dtype, order="C")
    rounds = dtype.kind == "f" and np.can_cast(array.dtype, dtype, "same_kind")
    if not rounds and not np.can_cast(array.dtype, dtype) and not np.array_equal(converted, array):
        raise ValueError(f"{_name(key)}: expected values that {dtype} has, as the observation space, got "
                         f"{array.dtype}: {array!r:.200}")
    return converted


def _checked(info, depth=0):
    """Returns what an environment tells, if a pool can lay that out."""
    if not isinstance(info, dict):
        if not isinstance(info, Mapping):
            raise TypeError(f"info: expected a dict, got {info!r:.200}")
        info = dict(info)
    if depth == MOST_DEEP:
        raise ValueError(f"info: expected dicts in dicts at most {MOST_DEEP} deep")
    for value in info.values():
        if isinstance(value, dict):
            _checked(value, depth + 1)
    return info


def _confession(error):
    """Returns an exception and its traceback as a letter: the exception itself if it comes back from pickle."""
    # half of the least room for a letter
    most = AREA_BYTES // 16
    text = words = ""
    # the exception is a stranger's, and may itself raise anything
    try:
        text = "".join(traceback.format_exception(error))[-most:]
        letter = pickle.dumps((error, text), pickle.HIGHEST_PROTOCOL)
        if len(letter) < AREA_BYTES // 2 and isinstance(pickle.loads(letter)[0], BaseException):
            return letter
    except BaseException:
        pass
    try:
        words = f": {error}"[:most]
    except BaseException:
        pass
    return pickle.dumps((RuntimeError(type(error).__name__ + words), text), pickle.HIGHEST_PROTOCOL)
