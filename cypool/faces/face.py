"""What all faces have in common: they check what comes in, and lay out what the engine hands out."""
import numpy as np

from cypool.arguments import check_array, check_float, shown
from cypool.errors import EnvError
from cypool.faces.actions import reader_of
from cypool.state import State

MAX_ENVS = 2**20  # of a pool


class Face:
    """One API over the engine's pool. A subclass says in `_laid_out` what its batches look like.

    Synchronous if `batch_size` equals `num_envs`: row i belongs to environment i. Asynchronous if it is
    less: `recv` and `step` return the `batch_size` environments that finish first, `env_id` says which they are.

    Args:
        pool: The engine. The face owns it.
        spec: What the environments are.

    Attributes:
        env_spec: The `cypool.spec.EnvSpec`.
        num_envs: How many environments there are.
        batch_size: Rows of a batch.
        is_async: Whether `batch_size` is less than `num_envs`.
        num_threads: Threads that step environments; a synchronous caller is one of them.
        all_env_ids: int32, (num_envs,): 0, 1, 2, ...
        closed: Whether `close` was called.
        recipe: What to pass to `cypool.make` for the same again; what pickle and deepcopy do.

    Threads: one at a time.
    """

    # what `make` takes, and the engine's word for it
    autoreset_modes = {"NextStep": "next_step"}
    has_statistics = True
    closed = False

    def __init__(self, pool, spec):
        self._pool = pool
        self._read = reader_of(spec, pool.num_envs)
        self.env_spec = spec
        # plain attributes: training scripts assign some of them
        self.num_envs = pool.num_envs
        self.batch_size = pool.batch_size
        self.is_async = pool.is_async
        self.num_threads = pool.num_threads
        self.all_env_ids = np.arange(pool.num_envs, dtype=np.int32)
        # of random streams; who makes the face fills in what it has drawn
        self._seeds = [-1] * pool.num_envs

    def _laid_out(self, batch):
        """Returns the engine's batch (observation, reward, terminated, truncated, info) as the user gets it."""
        raise NotImplementedError

    def _no_rows(self):
        """Returns a batch of the engine without rows."""
        def none(description):
            return np.zeros((0, *description.shape), description.dtype)

        spec, ids = self.env_spec, np.zeros(0, np.int32)
        obs = [none(part) for _, part in spec.observations]
        info = {"env_id": ids, "elapsed_step": ids.copy(), **{key: none(part) for key, part in spec.info.items()}}
        flags = np.zeros(0, np.bool_)
        return spec.joined(obs), np.zeros(0), flags, flags.copy(), info

    def _received(self, call, *args):
        """Returns the batch that `call(*args)` of the engine brings, laid out, also if it comes in an error."""
        try:
            batch = call(*args)
        except EnvError as error:
            error.batch = self._laid_out(error.batch)
            raise
        return self._laid_out(batch)

    def _start(self, ids, seed, mask=None, options=None):
        """Checks all, then seeds, then sends resets."""
        masked = None if mask is None else np.flatnonzero(mask).astype(np.int32)
        max_seed = self.env_spec.max_seed
        if ids is None:
            seeded, seeds = range(self.num_envs), seeds_of(seed, self.num_envs, max_seed)
            if seeds is not None and mask is not None:
                seeded, seeds = masked.tolist(), [seeds[i] for i in masked]
            self._pool.drain()
        else:
            # read twice, here and by the engine
            ids = ids.copy()
            seeded = ids.tolist()
            seeds = seeds_of(seed, len(seeded), max_seed)
            if seeds is not None and not np.iterable(seed):
                seeds = seeds_of([seed + i for i in seeded], len(seeded), max_seed)
        pairs = [] if seeds is None else [(i, s) for i, s in zip(seeded, seeds, strict=True) if s is not None]
        self._pool.send_reset(masked if ids is None else ids, mask is not None, pairs, options)
        for i, s in pairs:
            self._seeds[i] = s

    def reset(self, env_id=None, *, seed=None):
        """Starts new episodes and waits for a batch: `async_reset`, then `recv`."""
        self._start(ids_of(env_id), seed)
        return self._received(self._pool.recv)

    def async_reset(self, env_id=None, *, seed=None):
        """Starts new episodes without waiting; `recv` brings the observations.

        Args:
            env_id: Integers, shape (k,): the environments to reset; all by default, and then whatever is in flight
                is thrown away.
            seed: An int, and environment i gets `seed + i`; or a sequence with one int (or None) for each environment
                (of `env_id`, if given). None leaves the random streams where they are.
        """
        self._start(ids_of(env_id), seed)

    def step(self, actions, env_id=None):
        """Steps environments and waits for a batch: `send`, then `recv`."""
        return self._received(self._pool.step, self._read(actions), ids_of(env_id))

    def send(self, actions, env_id=None):
        """Has environments stepped, without waiting.

        Args:
            actions: Shape (k, *action shape), one row for each id.
            env_id: Integers, shape (k,). By default all environments, in an asynchronous pool those of the
                batch received last.

        Raises:
            TypeError, ValueError: Wrong actions or ids; nothing was sent.
            RuntimeError: An environment is in flight, or was never reset; nothing was sent.
        """
        self._pool.send(self._read(actions), ids_of(env_id))

    def recv(self, timeout=None):
        """Waits for a batch.

        Args:
            timeout: Seconds to wait at most; by default without limit. Ctrl-C interrupts.

        Returns:
            What `step` returns. There are fewer rows than `batch_size` if fewer environments are pending.

        Raises:
            RuntimeError: Nothing is pending.
            TimeoutError: Not enough environments finished in time; call again.
            EnvError: An environment raised.
        """
        return self._received(self._pool.recv, None if timeout is None else check_float("timeout", timeout, 0, 1e9))

    def save(self, env_id=None):
        """Takes down all that the coming steps of environments depend on, random streams included.

        Args:
            env_id: Integers, shape (k,): which environments; all by default.

        Returns:
            A `cypool.State`; `state.save(path)` and `cypool.load_state(path)` are its way to a file and back.

        Raises:
            TypeError, ValueError: Wrong ids.
            RuntimeError: An environment is in flight, or was never reset.
            NotImplementedError: The environment has no `save`.
        """
        return State(*self._pool.save(ids_of(env_id)))

    def load(self, state, env_id=None):
        """Puts environments where `save` found them: the same actions then have the same results, bit for bit.

        Args:
            state: A `State`; of environments with the same id and options, in this pool or another one.
            env_id: Integers, shape (k,): which environment each row goes to; by default the one it came from.

        Returns:
            What `reset(env_id)` returns: what these environments show.

        Raises:
            TypeError, ValueError: Wrong ids or state. What the engine keeps of all rows is checked before anything
                changes; an environment that refuses its own part starts an episode with its next step.
            RuntimeError: An environment is in flight.
            NotImplementedError: The environment has no `load`.
        """
        return self._laid_out(self._load(state, env_id))

    def _load(self, state, env_id):
        """Loads, and returns what is seen then as a batch of the engine's."""
        if not isinstance(state, State):
            raise TypeError(f"state: expected what save() returned, got {shown(state)}")
        # it may have been unpickled, or edited
        rows, saved_ids = getattr(state, "rows", None), getattr(state, "env_id", None)
        if not isinstance(rows, (list, tuple)):
            raise TypeError(f"state: expected a list of rows, got {shown(rows)}")
        if env_id is None and saved_ids is None:
            raise ValueError("state: expected one with env_id, got None")
        ids = ids_of(saved_ids if env_id is None else env_id)
        obs, info = self._pool.load(ids, list(rows))
        # a state says where a random stream is, not how it began
        for i in ids.tolist():
            self._seeds[i] = -1
        none = np.zeros(len(ids), np.bool_)
        return obs, np.zeros(len(ids)), none, none, info

    def render(self, env_id=None):
        """Draws environments.

        Args:
            env_id: Integers, shape (k,): which environments; all by default.

        Returns:
            uint8, (k, height, width, 3).

        Raises:
            TypeError, ValueError: Wrong ids, or the pictures differ in size.
            RuntimeError: An environment is in flight, or was never reset.
            NotImplementedError: The environment cannot be drawn.
        """
        frames = self._pool.render(ids_of(env_id))
        sizes = {frame.shape for frame in frames}
        if len(sizes) > 1:
            raise ValueError(f"env_id: expected environments with pictures of one size, got {sorted(sizes)}")
        return np.stack(frames)

    def xla(self):
        """Returns functions for code that JAX compiles: `handle, recv, send, step = env.xla()`.

        See `cypool.adapters.jax.Functions`.

        Raises:
            ImportError: JAX is not there, or in a version that is not supported.
        """
        from cypool.adapters.jax import Functions

        return Functions(self)

    def close(self):
        """Ends the threads. A second call does nothing."""
        self._pool.close()
        self.closed = True

    def __reduce__(self):
        # threads and emulators do not travel; a copy is made anew and starts where this one started
        return _make_again, (self.recipe,)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def __len__(self):
        return self.num_envs

    def __repr__(self):
        return f"{type(self).__name__}({self.env_spec.id}, num_envs={self.num_envs}, batch_size={self.batch_size})"


def _make_again(recipe):
    from cypool import from_factories, make

    return from_factories(**recipe) if "factories" in recipe else make(**recipe)


def players_of(spec, env_ids):
    """Returns what `info["players"]` is: `env_id`, of each player's row the environment, one player after the other."""
    return {"env_id": env_ids if spec.num_players == 1 else np.repeat(env_ids, spec.num_players)}


def add_info(infos, info, row, num_rows, own=("env_id", "elapsed_step")):
    """Adds what one environment tells to the infos of a batch, as Gymnasium's vector environments lay them out.

    Args:
        infos: Arrays of `num_rows` rows, `_key` saying in which rows there is a `key`; dicts of such for what is a
            dict. What does not fit beside what others tell makes it an array of objects.
        info: The environment's.
        row: Which row is the environment's.
        num_rows: How many there are.
        own: What the engine tells of all rows, and goes on telling.
    """
    for key, value in info.items():
        if key in own:
            continue
        if isinstance(value, dict) and isinstance(infos.setdefault(key, {}), dict):
            add_info(infos[key], value, row, num_rows, ())
        else:
            if key not in infos:
                infos[key] = _column_for(value, num_rows)
            try:
                if isinstance(value, dict):
                    raise TypeError("others have none")
                infos[key][row] = value
            except (TypeError, ValueError, OverflowError):
                # of another shape or kind than the first; Gymnasium fails here
                objects = np.full(num_rows, None, object)
                for other in np.flatnonzero(infos.get(f"_{key}", ())):
                    objects[other] = infos[key][other]
                objects[row] = value
                infos[key] = objects
        if f"_{key}" not in infos:
            infos[f"_{key}"] = np.zeros(num_rows, np.bool_)
        infos[f"_{key}"][row] = True


def _column_for(value, num_rows):
    """Returns an array for what environments tell, of which this is the first."""
    kind = type(value)
    if kind in (int, float, bool) or issubclass(kind, np.number):
        return np.zeros(num_rows, kind)
    if isinstance(value, np.ndarray):
        return np.zeros((num_rows, *value.shape), value.dtype)
    return np.full(num_rows, None, object)


def seeds_of(seed, num_envs, max_seed):
    """Returns one seed per environment, or None for None.

    Raises:
        TypeError: A seed is no integer.
        ValueError: A seed is negative or above `max_seed`, or there are not as many as environments.
    """
    if seed is None:
        return None
    if isinstance(seed, (int, np.integer)) and not isinstance(seed, bool):
        seeds = [int(seed) + i for i in range(num_envs)]
    elif isinstance(seed, (list, tuple)) or (isinstance(seed, np.ndarray) and seed.ndim > 0):
        if isinstance(seed, np.ndarray) and len(seed) != num_envs:
            raise ValueError(f"seed: expected one for each of {num_envs} envs, got {len(seed)}")
        seeds = [None if s is None else s.item() if isinstance(s, np.generic) else s for s in seed]
        if len(seeds) != num_envs:
            raise ValueError(f"seed: expected one for each of {num_envs} envs, got {len(seeds)}")
    else:
        raise TypeError(f"seed: expected an int or a sequence of ints, got {shown(seed)}")
    for s in seeds:
        if s is None:
            continue
        if not isinstance(s, int) or isinstance(s, bool):
            raise TypeError(f"seed: expected ints, got {shown(s)}")
        if s < 0 or (max_seed is not None and s > max_seed):
            most = "" if max_seed is None else f", at most {max_seed}"
            raise ValueError(f"seed: expected at least 0{most} for every env, got {shown(s)}")
    return seeds


def ids_of(env_id):
    """Returns env ids as int32 of shape (k,), C-contiguous, or None for None; a copy only where that takes one.

    Raises:
        TypeError: They are no integers.
        ValueError: They have another number of dimensions.
    """
    if env_id is None:
        return None
    ids = env_id if type(env_id) is np.ndarray else check_array("env_id", env_id, "integers of shape (k,)")
    if ids.ndim == 1 and ids.dtype == np.int32 and ids.flags.c_contiguous and ids.flags.aligned:
        return ids
    if ids.dtype.kind not in "iu" and ids.size:
        raise TypeError(f"env_id: expected integers, got {ids.dtype}")
    if ids.ndim != 1:
        raise ValueError(f"env_id: expected shape (k,), got {ids.shape}")
    if ids.size > MAX_ENVS:
        raise ValueError(f"env_id: expected each id once, got {ids.size}")
    # beyond int32 nothing is an id; clipping keeps it out of range
    return np.clip(ids.astype(np.int64), -1, np.iinfo(np.int32).max).astype(np.int32)
