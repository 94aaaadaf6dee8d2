"""Cases of `fuzz_api.py` about objects themselves, which are assigned to, copied, changed and shared by threads.

A case has a pool, its twin with the same arguments and seed, and objects around the pool. Something is done to one of
them, and then the pool is used:

* mutate: a dict, list, set or array that an object hands out is changed. The pool steps on like its twin.
* copy: `copy.copy`, `copy.deepcopy` and pickle. The copy works, or the error says why not; the pool steps on like its
  twin.
* assign: an attribute gets another value. Whatever is raised, nothing crashes.
* share: two threads call the same object at once, and get results or documented errors.
"""
import copy
import pickle
import tempfile
from functools import partial

import numpy as np
from engine.threads import at_once

import cypool
from cypool.compat import envpool

STEPS = 3
LARGE = 10**6  # bytes of random numbers at most


def containers(root, most=400):
    """Returns dicts, lists, sets and arrays reachable from an object through public attributes: (path, container)."""
    found, seen, waiting = [], set(), [("", root)]
    while waiting and len(seen) < most:
        path, value = waiting.pop(0)
        if id(value) in seen:
            continue
        seen.add(id(value))
        if isinstance(value, (dict, list, set, np.ndarray)):
            found.append((path, value))
        if hasattr(type(value), "items") and hasattr(value, "keys"):
            waiting += [(f"{path}[{key!r}]", value[key]) for key in list(value)]
        elif isinstance(value, (list, tuple)):
            waiting += [(f"{path}[{k}]", part) for k, part in enumerate(value[:20])]
        elif type(value).__module__.split(".")[0] in ("cypool", "gymnasium", "dm_env"):
            for name in dir(value):
                if not name.startswith("_"):
                    try:
                        part = getattr(value, name)
                    except Exception:
                        continue
                    if not callable(part):
                        waiting.append((f"{path}.{name}", part))
        # what an array is a view of, which it may be changed through, too
        if isinstance(value, np.ndarray) and isinstance(value.base, np.ndarray):
            waiting.append((f"{path}.base", value.base))
    return found


def change(r, container, value):
    """Changes a container; returns a description of the change."""
    if isinstance(container, np.ndarray):
        how = r.choice(["fill", "fill", "fill", "flags", "shape", "resize", "byteorder"])
        if how == "shape":
            container.shape = (-1,)
        elif how == "resize":
            container.resize(r.choice([0, 1, 3]))
        elif how == "byteorder":
            container.dtype = np.uint8
        else:
            if how == "flags":
                container.flags.writeable = True
            data = np.frombuffer(r.choice([b"\0", b"\xff", b"\x7f", r.randbytes(7)]) * 64, np.uint8)
            flat = container.reshape(-1)[:LARGE]
            flat[...] = np.resize(data, max(flat.nbytes, 1))[:flat.nbytes].view(container.dtype)
        return how
    if isinstance(container, dict):
        own = container and r.random() < 0.7
        key = r.choice(list(container) if own else ["id", "num_envs", "x", 1, None])
        how = r.choice(["set", "set", "pop", "clear"])
        if how == "set":
            container[key] = value
        elif how == "pop":
            container.pop(key, None)
        else:
            container.clear()
        return f"{how} {key!r}"
    how = r.choice(["clear", "add", "set"])
    if how == "clear":
        container.clear()
    elif isinstance(container, set):
        container.add(value)
    elif how == "set" and container:
        container[r.randrange(len(container))] = value
    else:
        container.append(value)
    return how


def leaves(value, path=""):
    """Yields the arrays of a batch, by path."""
    if hasattr(value, "_asdict"):
        value = value._asdict()
    if isinstance(value, dict):
        for key in sorted(value, key=repr):
            yield from leaves(value[key], f"{path}.{key}")
    elif isinstance(value, (tuple, list)):
        for k, part in enumerate(value):
            yield from leaves(part, f"{path}.{k}")
    else:
        yield path, np.asarray(value)


def difference(ours, theirs):
    """Returns the path of the first array in which two batches differ, or None."""
    one, two = list(leaves(ours)), list(leaves(theirs))
    if [path for path, _ in one] != [path for path, _ in two]:
        return "other parts"
    for (path, a), (_, b) in zip(one, two, strict=True):
        if a.dtype != b.dtype or a.shape != b.shape or (a.tobytes() != b.tobytes() and "ns" not in path):
            return path
    return None


class Objects:
    """A pool, its twin, and objects around them.

    Args:
        case: The `Case` of fuzz_api.py, with its random numbers, log and findings.
        hostile: Returns an unsuitable value, and its text.
        drawn_pool: Returns an id and options.
        allowed: The documented exceptions.
    """

    def __init__(self, case, hostile, drawn_pool, allowed):
        self.case, self.r, self.hostile, self.allowed = case, case.r, hostile, allowed
        self.id, options = drawn_pool(self.r)
        self.kind = self.r.choice(["gymnasium", "gymnasium", "gym", "dm", "envpool", "envpool_dm"])
        if ":" in self.id and self.kind.startswith("envpool"):
            self.kind = "gymnasium"
        given = {"num_envs": 3, "seed": 7, **options}
        if not self.id.startswith("gymnasium:"):
            given["num_threads"] = self.r.choice([0, 1, 2])
        self.given, self.is_shared, self.done = given, False, ""

    def note(self, text):
        self.done = f"{self.done}; {text}".removeprefix("; ")

    def make(self):
        if self.kind.startswith("envpool"):
            return envpool.make(self.id, "dm" if self.kind == "envpool_dm" else "gymnasium", **self.given)
        return cypool.make(self.id, self.kind, **self.given)

    def actions(self, count=3):
        def zeros(part):
            if isinstance(part, dict) or hasattr(part, "keys"):
                return {key: zeros(each) for key, each in part.items()}
            low = np.broadcast_to(np.asarray(getattr(part, "low", 0)), part.shape)
            return np.zeros((count, *part.shape), part.dtype) + np.where(low > 0, low, 0).astype(part.dtype)
        return zeros(self.pool.env_spec.action)

    def run(self):
        case, r = self.case, self.r
        text = f"make({self.id!r}, {self.kind!r}, **{self.given})"
        _, self.pool = case.attempt(text, self.make)
        if self.pool is None:
            return
        self.twin = self.make()
        try:
            first = self.pool.reset()
            self.twin.reset()
        except cypool.EnvError:
            return
        # with dm it does not fit
        self.obs = first[0] if isinstance(first, tuple) else first
        self.objects = {"pool": self.pool, "batch": first, "env_spec": self.pool.env_spec}
        self.around()
        for _ in range(r.randrange(8)):
            r.choice([self.mutate, self.mutate, self.mutate, self.copy])()
            if not self.steps_as_its_twin():
                break
        else:
            r.choice([self.share, self.share, self.assign])()
        self.pool.close()
        self.twin.close()

    def around(self):
        """Makes objects around the pool, as far as the pool supports them."""
        pool, spec = self.pool, self.pool.env_spec
        makers = {
            "state": lambda: pool.save(), "buffers": lambda: pool.rollout_buffers(4),
            "frames": lambda: pool.rollout_buffers(4, frames="once"),
            "history": lambda: cypool.history(pool, every=2), "replay": lambda: cypool.ReplayBuffer(pool, 60),
            "random": lambda: cypool.RandomPolicy(spec), "mlp": self.mlp, "thread_pool": lambda: cypool.ThreadPool(1),
            "observation_spec": lambda: pool.observation_spec(), "action_spec": lambda: pool.action_spec(),
            **{name: partial(getattr, pool, name) for name in (
                "recipe", "observation_space", "action_space", "single_action_space", "spec")}}
        for name in self.r.sample(sorted(makers), 6):
            try:
                self.objects[name] = makers[name]()
            except (*self.allowed, AttributeError):
                # the API has no such attribute, or the environment no states
                pass

    def mlp(self):
        spec = self.pool.env_spec
        size = spec.observation.shape[0] if len(getattr(spec.observation, "shape", ())) == 1 else 3
        num = spec.action.n if hasattr(spec.action, "n") else int(np.prod(getattr(spec.action, "shape", (1,))))
        return cypool.MLP(spec, [np.ones((num, size), np.float32)], [np.zeros(num, np.float32)])

    def steps_as_its_twin(self):
        """Whether the pool still works; it must do the same as its twin, or say what is wrong."""
        case = self.case
        for k in range(STEPS):
            case.log(f"step {k} of pool and twin")
            actions = self.actions()
            try:
                want = self.twin.step(actions)
            except self.allowed as error:
                want = error
            try:
                got = self.pool.step(actions)
            except self.allowed as error:
                if isinstance(want, Exception):
                    continue
                case.log(f"refused: {error}")
                return False
            except Exception as error:
                case.find("step of the pool", error)
                return False
            if isinstance(want, Exception):
                case.findings.append(f"{self.id}: the twin refuses a step, {want!s:.200}, and the pool does not")
                return False
            if part := difference(got, want):
                case.findings.append(f"{self.id} ({self.kind}): the pool differs from its twin in {part}, after "
                                     f"{self.done}")
                return False
            self.objects["batch"] = got
        if self.r.random() < 0.2:
            return self.is_made_again_as_its_twin()
        return True

    def is_made_again_as_its_twin(self):
        """Whether a copy of the pool starts like a copy of its twin, or is refused."""
        with copy.deepcopy(self.twin) as one:
            want = one.reset()
        try:
            with copy.deepcopy(self.pool) as one:
                got = one.reset()
        except self.allowed as error:
            self.case.log(f"refused: {error}")
            return False
        except Exception as error:
            self.case.find(f"deepcopy of the pool after {self.done}", error)
            return False
        if part := difference(got, want):
            self.case.findings.append(f"{self.id} ({self.kind}): a copy of the pool differs from its twin's in {part}, "
                                      f"after {self.done}")
        return not part

    def mutate(self):
        name = self.r.choice(sorted(self.objects))
        found = containers(self.objects[name])
        if not found:
            return
        path, container = self.r.choice(found)
        value, text = self.hostile(self.r, None)
        self.note(f"{name}{path} was changed")
        self.case.log(f"mutate {name}{path} with {text}")
        try:
            how = change(self.r, container, value)
            self.case.log(f"  {how}")
        except Exception as error:
            self.case.log(f"  refused: {error!s:.100}")
            return
        self.use(name, strict=False)

    def copy(self):
        name = self.r.choice(sorted(self.objects))
        how = self.r.choice(["copy", "deepcopy", "pickle"])
        self.note(f"{how} of {name}")
        make = {"copy": copy.copy, "deepcopy": copy.deepcopy,
                "pickle": lambda value: pickle.loads(pickle.dumps(value))}[how]
        well, made = self.case.attempt(f"{how} of {name}", lambda: make(self.objects[name]),
                                       # of a view of 10**12 numbers that was put into it
                                       also=(pickle.PicklingError, MemoryError))
        if not well:
            return
        self.use(name, made)
        if hasattr(made, "close") and self.r.random() < 0.7:
            self.case.attempt(f"close of {how} of {name}", made.close)
            self.use(name, made)
        del made
        if name != "pool":
            self.use(name, strict=False)

    def assign(self):
        name = self.r.choice(sorted(self.objects))
        value = self.objects[name]
        if isinstance(value, (tuple, dict, list)):
            return
        names = [key for key in dir(type(value)) + list(getattr(value, "__dict__", ())) if not key.startswith("_")
                 and not callable(getattr(type(value), key, None))]
        if not names:
            return
        key = self.r.choice(sorted(set(names)))
        given, text = self.plausible(value, key)
        self.case.log(f"assign {name}.{key} = {text}")
        self.note(f"{name}.{key} = {text}")
        try:
            setattr(value, key, given)
        except Exception as error:
            self.case.log(f"  refused: {error!s:.100}")
            return
        # whatever comes of it, but no crash
        for _ in range(3):
            self.use(name, strict=False)
            for call in (lambda: self.pool.step(self.actions()), self.pool.reset, self.pool.save,
                         lambda: pickle.loads(pickle.dumps(self.pool)).close()):
                try:
                    call()
                except Exception as error:
                    self.case.log(f"  then: {error!s:.100}")

    def plausible(self, value, key):
        try:
            old = getattr(value, key)
        except Exception:
            old = None
        if self.r.random() < 0.5 and isinstance(old, (int, float)):
            new = self.r.choice([old * 2, old + 1, old - 1, 0, 10**6, -1])
            return new, repr(new)
        if self.r.random() < 0.5 and isinstance(old, np.ndarray):
            old = np.atleast_1d(old)
            new = self.r.choice([old[:0], old.repeat(2), old.astype(np.int8), old[::-1]])
            return new, f"array of {new.shape} {new.dtype}"
        if self.r.random() < 0.3:
            other = cypool.make(self.r.choice(["CartPole-v1", "Catch-v0"]), num_envs=self.r.choice([1, 3, 5]))
            other.reset()
            new = {"env": other, "state": other.save(), "env_spec": other.env_spec}.get(key, other)
            return new, "that of another pool"
        return self.hostile(self.r, self.pool)

    def share(self):
        """Two threads use the same object at once, or one of them uses the object's pool."""
        name = self.r.choice(sorted(self.objects.keys() - {"batch"}))
        names = name, self.r.choice([name, "pool"])
        self.note(f"threads in {names}")
        self.is_shared = True
        self.case.log(f"two threads in {names}")
        faults = []
        plans = [[self.r.choice(self.calls(each, self.objects[each])) for _ in range(40)] for each in names]

        def work(plan):
            for text, call in plan:
                try:
                    call()
                except (*self.allowed, OSError):
                    pass
                except Exception as error:
                    faults.append((text, error))

        at_once(*(partial(work, plan) for plan in plans))
        for text, error in faults[:3]:
            # an object of the fuzzer's is in it
            if str(error) != "on purpose":
                self.case.find(f"{text} in two threads in {names}", error)
        self.case.log("reset after two threads")
        self.case.attempt("reset after two threads", self.pool.reset)
        self.use(name, strict=False)

    def use(self, name, value=None, strict=True):
        """Calls an object's methods."""
        value = self.objects[name] if value is None else value
        for text, call in self.calls(name, value, is_pool_kept=value is not self.pool):
            if strict:
                self.case.attempt(f"{text} of {name} after {self.done}", call, also=(TimeoutError, StopIteration))
            else:
                self.case.log(f"{text} of {name}")
                try:
                    call()
                except Exception as error:
                    self.case.log(f"  {type(error).__name__}: {error!s:.80}")

    def calls(self, name, value, is_pool_kept=True):
        """Returns calls of an object as (text, call). If the pool is kept, calls of the pool itself change nothing."""
        if name == "pool" and (not is_pool_kept or value is self.pool):
            kept = [("save", value.save), ("rollout_buffers", lambda: value.rollout_buffers(2)),
                    ("repr", lambda: repr(value)), ("env_spec", lambda: value.env_spec.options)]
            if self.is_shared:
                kept += [("step", lambda: value.step(self.actions())), ("reset", value.reset),
                         ("send", lambda: value.send(self.actions())), ("recv", lambda: value.recv(5)),
                         ("rollout", lambda: value.rollout(np.stack([self.actions()] * 4))),
                         ("load", lambda: value.load(value.save())), ("copy", lambda: value.copy(0, [1, 2])),
                         ("async_reset", value.async_reset)]
            return kept
        if name == "pool":
            return [("reset", value.reset), ("step", lambda: value.step(self.actions())), ("save", value.save)]
        if name == "state":
            return [("to_bytes", value.to_bytes), ("needs_reset", lambda: value.needs_reset),
                    ("load into another", lambda: self.load_elsewhere(value))]
        if name == "buffers":
            return [("rollout into it", lambda: self.rollout_elsewhere(value)), ("arrays", lambda: value.arrays)]
        if name == "frames":
            return [("begin", lambda: value.begin(self.obs)), ("add", lambda: value.add(self.obs)),
                    ("stacks", value.stacks), ("nbytes", lambda: value.nbytes), ("len", lambda: len(value))]
        if name == "history":
            return [("len", lambda: len(value)), ("seek", lambda: value.seek(len(value))),
                    ("save", lambda: self.saved(value)), ("env", lambda: value.env)]
        if name == "replay":
            return [("sample", lambda: value.sample(4)), ("len", lambda: len(value)), ("indices", value.indices),
                    ("episodes", lambda: list(value.episodes())), ("gather", lambda: value.gather([0, 1])),
                    ("save", lambda: self.saved(value)), ("has", lambda: value.has([0, 5]))]
        if name in ("mlp", "random"):
            calls = [("rollout with it", lambda: self.rollout_elsewhere(None, value)),
                     ("call", lambda: value(np.zeros((3, 4), np.float32)))]
            if name == "mlp":
                calls += [("choose", lambda: value.choose(np.zeros((3, 4), np.float32))),
                          ("values", lambda: value.values(np.zeros((3, 4), np.float32))),
                          ("update", lambda: value.update([np.ones((2, 4), np.float32)], [np.zeros(2, np.float32)]))]
            return calls
        if name == "thread_pool":
            return [("make on it", lambda: cypool.make("CartPole-v1", num_envs=2, thread_pool=value).close()),
                    ("num_threads", lambda: value.num_threads), ("repr", lambda: repr(value))]
        if name == "env_spec":
            return [("repr", lambda: repr(value)), ("observations", lambda: value.observations),
                    ("make_spec", lambda: cypool.make_spec(self.id, **dict(value.options)))]
        return [("repr", lambda: repr(value))]

    def elsewhere(self):
        """Another pool with the same arguments."""
        pool = self.make()
        pool.reset()
        return pool

    def load_elsewhere(self, state):
        with self.elsewhere() as pool:
            pool.load(state)
            pool.step(self.actions())

    def rollout_elsewhere(self, buffers, policy=None):
        with self.elsewhere() as pool:
            if policy is None:
                pool.rollout(np.stack([self.actions()] * 4), out=buffers)
            else:
                pool.rollout(4, policy=policy)

    def saved(self, value):
        with tempfile.NamedTemporaryFile() as file:
            value.save(file.name)
