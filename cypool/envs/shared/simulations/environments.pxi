# Environments whose steps Python computes for all at once: a backend calls an object, and they read its arrays.
import numpy as np

from cypool.util.arguments import NoOptionsError, shown

cimport numpy as cnp
from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t
from libc.string cimport memcpy
from libcpp.vector cimport vector

from cypool.backend cimport StepBackend
from cypool.env cimport Env, Slot
from cypool.random cimport integers as draw_integer, normal as draw_normal, uniform as draw_uniform

cdef class RowsBackend(StepBackend)


cdef class RowEnv(Env):
    """An environment that is a row of a `RowsBackend`'s arrays."""
    cdef RowsBackend backend
    cdef bint shows_final                # the next observation is that of the episode's end
    cdef readonly object np_random_seed

    cdef int raise_failure(self) except -1 with gil:
        raise self.backend.errors[self.env_id]

    cdef int reset(self) except -1 nogil:
        self.shows_final = False
        if self.backend.failed[self.env_id]:
            self.raise_failure()
        return 0

    cdef int step(self, const void* action) except -1 nogil:
        if self.backend.failed[self.env_id]:
            self.raise_failure()
        self.reward = self.backend.rewards[self.env_id]
        self.terminated, self.truncated = self.backend.ends[0][self.env_id], self.backend.ends[1][self.env_id]
        self.shows_final = self.backend.begun_rows[self.env_id]
        return 0

    cdef int observe(self, const Slot* out) except -1 nogil:
        cdef size_t k, size
        cdef size_t num_obs = self.backend.num_obs
        cdef const vector[char*]* columns = &self.backend.columns[self.shows_final]
        for k in range(columns.size()):
            size = self.backend.sizes[k]
            memcpy(out.obs[k] if k < num_obs else out.info[k - num_obs], columns[0][k] + self.env_id * size, size)
        return 0

    cdef int seed(self, object seed) except -1:
        self.np_random_seed = seed
        return Env.seed(self, seed)

    cdef object save(self):
        return self.backend.save_row(self.env_id)

    cdef int load(self, object state) except -1:
        self.backend.load_row(self.env_id, state)
        self.shows_final = False
        return 0

    cdef object render(self):
        return self.backend.render_row(self.env_id)

    @property
    def task(self):
        """The object that computes the rows of all environments."""
        return self.backend.task

    @property
    def np_random(self):
        """A copy of the environment's random stream."""
        made = np.random.Generator(np.random.PCG64(0))
        made.bit_generator.state = self._bit_generator.state
        return made

    def ask(self, function, *args, **kwargs):
        """Calls a function with the task, which all environments share, and returns its result."""
        is_own = args in (("np_random",), ("np_random_seed",))
        return function(self if is_own else self.backend.task, *args, **kwargs)

    @property
    def stepped_by(self):
        """How the environments are stepped: see `stepped_by` of pools."""
        return self.backend.stepped_by


cdef class RowsBackend(StepBackend):
    """Steps environments that are rows of arrays. A Python subclass computes all rows at once.

    Its `advance(same_step)` steps the rows of `stepped`, resets those of `resets`, and writes to the other arrays. It
    has `save_row`, `load_row` and `render_row`, which take a row's index, `stepped_by`, `close` and a `task`.

    Args:
        spec: The spec of the environments.
        num_envs: Number of environments.
        num_threads: Number of threads that step.

    Attributes:
        actions: One for each environment; valid where the environment is stepped.
        stepped, resets, last: Bools: which environments are stepped, which are reset, and which of those stepped reach
            the limit of their episode.
        reward, terminated, truncated: The results of a step.
        begun: Where a reset followed the step; the observation of the step is then in `final`.
        current, final: For each part of the observation, then for each info, an array with a row for each environment.
        errors: By environment, the exception that it raises instead of returning a row.
    """
    cdef readonly object actions, stepped, resets, last, reward, terminated, truncated, begun, errors
    cdef readonly list current, final, envs
    cdef int num_threads
    cdef size_t num_obs, action_bytes
    cdef vector[size_t] sizes
    cdef vector[char*] columns[2]        # of `current` and `final`, borrowed
    cdef const double* rewards
    cdef const uint8_t* ends[2]
    cdef const uint8_t* begun_rows
    cdef vector[uint8_t] failed
    cdef vector[int32_t] sent

    def __init__(self, spec, int num_envs, int num_threads):
        cdef cnp.ndarray array
        cdef RowEnv env
        self.num_threads = num_threads
        self.actions = np.zeros((num_envs, *spec.action.shape), spec.action.dtype)
        self.action_bytes = spec.action_bytes
        self.stepped, self.resets, self.last, self.terminated, self.truncated, self.begun = np.zeros(
            (6, num_envs), np.bool_)
        self.reward = np.zeros(num_envs)
        self.errors = {}
        parts = [part for _, part in spec.observations] + list(spec.info.values())
        self.num_obs = len(spec.observations)
        self.current, self.final = [[np.zeros((num_envs, *part.shape), part.dtype) for part in parts]
                                    for _ in range(2)]
        for k, arrays in enumerate((self.current, self.final)):
            for array in arrays:
                self.columns[<int>k].push_back(cnp.PyArray_BYTES(array))
        for array in self.current:
            self.sizes.push_back(cnp.PyArray_NBYTES(array) // num_envs)
        self.rewards = <const double*>cnp.PyArray_DATA(self.reward)
        self.ends[0] = <const uint8_t*>cnp.PyArray_DATA(self.terminated)
        self.ends[1] = <const uint8_t*>cnp.PyArray_DATA(self.truncated)
        self.begun_rows = <const uint8_t*>cnp.PyArray_DATA(self.begun)
        self.failed.resize(num_envs)
        self.envs = [RowEnv(spec, i) for i in range(num_envs)]
        for env in self.envs:
            env.backend = self

    @property
    def count(self):
        """How many threads step."""
        return self.num_threads

    def seed(self, seed):
        """Seeds the environments before a pool has them."""
        cdef RowEnv env
        for env in self.envs:
            env.seed(seed + env.env_id)

    def pack_options(self, options):
        """Refuses options."""
        if not options:
            return None
        raise NoOptionsError(f"options: expected only reset_mask (tasks have no other options), got {shown(options)}")

    cdef int submit(self, const int32_t* ids, uint32_t count, const char* actions, bint same_step) except -1:
        cdef RowEnv env
        cdef uint32_t k, num_stepped = 0, num_resets = 0
        cdef int32_t i
        cdef uint8_t* stepped = <uint8_t*>cnp.PyArray_DATA(self.stepped)
        cdef uint8_t* resets = <uint8_t*>cnp.PyArray_DATA(self.resets)
        cdef uint8_t* last = <uint8_t*>cnp.PyArray_DATA(self.last)
        cdef char* own = <char*>cnp.PyArray_DATA(self.actions)
        self.stepped[:] = self.resets[:] = self.last[:] = False
        for k in range(count):
            i = ids[k]
            env = self.envs[i]
            if env.observe_only:
                continue
            resets[i] = env.needs_reset
            stepped[i] = not env.needs_reset
            num_resets += resets[i]
            if stepped[i]:
                num_stepped += 1
                last[i] = env.elapsed_step + 1 >= env.max_episode_steps
                memcpy(own + i * self.action_bytes, actions + i * self.action_bytes, self.action_bytes)
        if num_stepped > 0 and count < <uint32_t>len(self.envs):
            running = sum(not (<RowEnv>each).needs_reset for each in self.envs)
            if num_stepped < running:
                raise ValueError(f"env_id: expected all {running} environments that are in an episode (a "
                                 f"task steps them together), got {num_stepped} of them")
        for i in self.errors:
            self.failed[i] = 0
        self.errors.clear()
        self.begun[:] = False
        if num_stepped + num_resets > 0:
            self.advance(same_step)
        for i in self.errors:
            self.failed[i] = 1
        self.sent.assign(ids, ids + count)
        return 0

    cdef int wait(self, int32_t* ids, int wanted, int64_t timeout_ns) except -1:
        cdef int k, count = min(wanted, <int>self.sent.size())
        for k in range(count):
            ids[k] = self.sent[k]
        self.sent.erase(self.sent.begin(), self.sent.begin() + count)
        return count

    cdef object extra_infos(self, object env_ids):
        return []


cdef class Generators:
    """The random streams of some environments: each call returns an array with a row from each stream.

    A row does not depend on the other environments. The numbers match those of a `numpy.random.Generator`; `rng[k]`
    returns the one for row k.

    Args:
        envs: The environments.
        ids: int64: the environments that the streams belong to.
    """
    cdef list envs
    cdef object ids

    def __init__(self, list envs not None, ids):
        self.envs, self.ids = envs, ids

    def __len__(self):
        return len(self.ids)

    def __getitem__(self, int k):
        return np.random.Generator((<Env>self.envs[self.ids[k]])._bit_generator)

    def random(self, size=()):
        """Returns numbers in [0, 1), shape (rows, *size)."""
        return self._drawn(size, np.float64, 0, 1)

    def uniform(self, low=0.0, high=1.0, size=()):
        """Returns numbers in [low, high), shape (rows, *size); the bounds are broadcast."""
        return low + np.subtract(high, low) * self.random(size)

    def normal(self, loc=0.0, scale=1.0, size=()):
        """Returns normally distributed numbers, shape (rows, *size); mean and deviation are broadcast."""
        return loc + np.multiply(scale, self._drawn(size, None, 0, 1))

    def integers(self, int64_t low, high=None, size=()):
        """Returns integers in [low, high), or in [0, low), shape (rows, *size)."""
        first, end = (0, low) if high is None else (low, high)
        if first >= end:
            raise ValueError(f"high: expected more than {first}, got {end}")
        return self._drawn(size, np.int64, first, end)

    cdef object _drawn(self, size, kind, int64_t low, int64_t high):
        """Draws reals, integers, or normal numbers if `kind` is None."""
        cdef Env env
        cdef int64_t i, k
        cdef bint is_integer = kind is np.int64, is_normal = kind is None
        cdef cnp.ndarray drawn = np.empty((len(self.ids), *((size,) if isinstance(size, int) else size)), kind)
        cdef double* reals = <double*>cnp.PyArray_DATA(drawn)
        cdef int64_t* whole = <int64_t*>reals
        cdef int64_t each = cnp.PyArray_SIZE(drawn) // max(len(self.ids), 1)
        for i in self.ids:
            env = self.envs[i]
            for k in range(each):
                if is_integer:
                    whole[k] = draw_integer(env.rng, low, high)
                else:
                    reals[k] = draw_normal(env.rng, 0, 1) if is_normal else draw_uniform(env.rng, 0, 1)
            reals += each
            whole += each
        return drawn
