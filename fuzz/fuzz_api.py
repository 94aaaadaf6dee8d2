"""Calls the whole public API with wrong arguments, in any order, and looks for crashes: a tool, not a test.

    python fuzz/fuzz_api.py --cases 4000                       about twenty minutes on two cores
    python fuzz/fuzz_api.py --case 123                         repeats one case, and prints its calls
    python fuzz/fuzz_api.py --families robotics metaworld      cases of these families only
    python fuzz/fuzz_api.py --only games                       only turn-based games, with all their options

Each case is a forked process with a time limit. It makes a pool of some family, env_type and mode, and does a dozen
things with it: calls in any order, arguments of all kinds, states that were edited, damaged or saved by others. Each
call may succeed, or raise a documented exception whose message names the argument; afterwards, the pool still works.
Anything else is a finding, printed with the command that reproduces it.

The environments come from the registry, each family equally often. Numbers in their states are replaced by edge values
of the ranges that a family declares (`state_fields`), or else of the number's type.
"""
import math
import os
import pickle
import random
import sys
import tempfile
import warnings
import zlib
from contextlib import suppress
from functools import partial
from pathlib import Path
from pkgutil import resolve_name

import gymnasium
import numpy as np
import tests_path  # noqa: F401
from api_objects import Objects
from cases import CASES
from engine.threads import at_once
from fuzzing import fuzz, parser
from game_calls import GameCalls
from state_edits import edged_states, with_own

import cypool
from cypool import checkpoint
from cypool.compat import envpool
from cypool.envs import FAMILIES
from cypool.registration.registry import entry_of, resolve
from cypool.state import State
from cypool.util.arguments import NoOptionsError

os.environ.setdefault("SDL_VIDEODRIVER", "dummy")
LIMIT = 300  # seconds for a case, on a busy machine: dozens of resets may fail, each after a second
ALLOWED = (TypeError, ValueError, RuntimeError, NotImplementedError, cypool.ClosedError, cypool.EnvError,
           cypool.WorkerError, NoOptionsError)
HOSTED = [("gymnasium:CartPole-v1", options) for options in (
    {"num_workers": 0}, {"num_workers": 1, "worker_timeout": 60}, {"num_workers": 2, "workers": "threads"})]


def classes(family):
    """Returns the ids of a family, by class: [ids of a class, ...]; empty if they cannot be made here."""
    found = {}
    if not family.is_installed:
        print(f"without {family.title}: {family.needs} is not installed", file=sys.stderr)
        return []
    for entry in family.entries(CASES[family.name].fuzz_ids):
        found.setdefault(entry.entry_point, []).append(entry.id)
    try:
        for ids in list(found.values())[:1]:
            cypool.make_spec(ids[0])
        for id in CASES[family.name].unlisted_ids():
            found.setdefault(entry_of(id).entry_point, []).append(id)
    except ImportError as error:
        print(f"without {family.title}: {error}", file=sys.stderr)
        return []
    return list(found.values())


IDS = {family.name: found for family in FAMILIES if (found := classes(family))}
GAMES = []  # ids of games with turns, by family
SHARES = {"games": 0.1, "objects": 0.2}  # of all cases
FAMILY_OF = {id: name for name, found in IDS.items() for ids in found for id in ids}
RESET_OPTIONS = ["goal_cell", "reset_cell", "initial_state_dict", "level_seed", "nle_seeds", "clock"]
VARIANTS = [(id, options) for cases in CASES.values() for id, options in cases.fuzz_variants if id in FAMILY_OF]


def drawn_id(r):
    return r.choice(r.choice(IDS[r.choice(sorted(IDS))]))


def drawn_pool(r):
    """Returns an id and options."""
    kind = r.random()
    if kind < 0.1 and HOSTED:
        return r.choice(HOSTED)
    if kind < 0.3 and VARIANTS:
        return r.choice(VARIANTS)
    return drawn_id(r), {}


# ---- wrong arguments

class Hostile(Exception):
    """The exception that the objects below raise."""


def raising(*names):
    """Returns an object whose given methods raise."""
    def fail(*args, **kwargs):
        raise Hostile("on purpose")

    return type("Raising" + "".join(names).replace("_", ""), (), dict.fromkeys(names, fail))()


def calling(pool, value):
    """Returns an object that calls the pool when it is examined, and then poses as `value`."""
    def call(*args, **kwargs):
        for name, given in (("step", ([0, 0],)), ("close", ()), ("reset", ()), ("recv", ())):
            with suppress(Exception):
                getattr(pool, name)(*given)
        return value

    return type("Calling", (), dict.fromkeys(("__array__", "__index__", "__float__", "__len__", "__eq__", "__fspath__"),
                                             call))()


class Liar(list):
    """A list that reports a different length each time."""
    def __len__(self):
        return random.randrange(5)


class Changing:
    """An index that returns a different value when it is read again."""
    def __init__(self):
        self.calls = 0

    def __index__(self):
        self.calls += 1
        return 1 if self.calls < 2 else 10**12

    __int__ = __index__

    def __float__(self):
        return float(self.__index__())


def read_only(array):
    array.setflags(write=False)
    return array


def hostile(r, pool=None):
    """Returns a value, and its source text."""
    text = r.choice(VALUES)
    return eval(text, globals(), {"pool": pool}), text


VALUES = """
    10**5000; -10**5000; 2**31; 2**63; 2**64; -2**63; -1; 0; 1; 3; 1.5; -0.0; 1e308; np.nan; np.inf; -np.inf; 1j
    True; None; ''; 'x'; '\\0'; 'a' * 10**5; b'x'; '\\ud800'; object(); []; [[]]; (); {}; {'a': 1}; [0, 0]; [0, 1]
    [1, [2]]; [None]; [0, np.nan]; ['a', 'b']; [2**70, 0]; [-2**70, 1]; [True, False]; {0, 1}; range(2)
    range(10**12); iter([0, 1]); len; int; np.zeros(2); np.zeros(2, int); np.zeros(0); np.zeros((2, 0)); np.array(1)
    np.array([1]); np.zeros((2, 2, 2)); np.array(['a']); np.array([None, 1]); np.zeros(2, complex)
    np.array([0, 1], '>i8'); np.array([0, 1], 'u1'); np.array([0, 9, 1, 9])[::2]; np.array([1, 0])[::-1]
    read_only(np.array([0, 1])); np.full(2, 2**63, 'u8'); np.full((2, 1), np.nan, 'f4'); np.full((2, 3), 1e300)
    np.zeros(2, 'datetime64[s]'); np.float32(2); np.int8(1); np.broadcast_to(0, 10**12)
    np.broadcast_to(np.float32(0), (10**12, 1)); np.zeros(2, [('a', 'i4')]); np.bool_(True)
    np.ma.masked_array([0, 1], [1, 0]); np.zeros((2, 210, 160, 3), 'u1'); np.zeros(300_000, int); memoryview(b'ab')
    raising('__array__'); raising('__index__', '__int__'); raising('__float__'); raising('__len__', '__getitem__')
    raising('__repr__'); raising('__eq__', '__hash__'); raising('__bool__'); raising('__iter__')
    raising('__getattr__'); raising('__fspath__'); raising('__call__'); raising('__str__', '__repr__', '__index__')
    raising('__class_getitem__'); Liar([0, 1]); Liar(); Changing(); [Changing(), Changing()]; [10**5000, 0]
    {'action': [0, 0], 'env_id': [0, 1]}; calling(pool, 1); calling(pool, np.array([0, 1])); [calling(pool, 0)] * 2
    gymnasium.Env; gymnasium.Env(); cypool; type('Str', (str,), {})('x'); type('Int', (int,), {})(1); 'numa'
    'NextStep'; lambda: 1; lambda *a, **k: a; State([], [])
""".replace("\n", ";").split(";")
VALUES = [value.strip() for value in VALUES if value.strip()]


def drawn_parts(r, pool):
    """Returns the additional parts of a checkpoint that a pool supports."""
    parts = {"rng": np.random.Generator(r.choice([np.random.PCG64, np.random.Philox, np.random.MT19937])(1))}
    options = r.choice([{}, {"alpha": 0.5}, {"sequence_length": 2}, {"n_step": 2}, {"n_sampled_goal": 2}])
    spec = pool.env_spec
    for name, make in [
            ("buffer", lambda: cypool.ReplayBuffer(pool, 64, **options)),
            ("policy", lambda: cypool.RandomPolicy(spec)),
            ("policy", lambda: cypool.MLP(spec, [np.ones((spec.action.n, math.prod(spec.observation.shape)))],
                                          [np.zeros(spec.action.n)], output="categorical"))]:
        try:
            if r.random() < 0.7:
                parts[name] = make()
        except (TypeError, ValueError, AttributeError):
            # not for such a pool
            pass
    try:
        if "buffer" in parts and r.random() < 0.8:
            parts["buffer"].reset()
            for _ in range(r.randrange(8)):
                parts["buffer"].step(pool.action_space.sample())
    except Exception:
        # the pool is in another state
        pass
    return parts


def changed(r, value, drawn):
    """Returns plain data with one value replaced."""
    if r.random() < 0.1:
        return drawn()
    if isinstance(value, dict) and value:
        key = r.choice(list(value))
        if r.random() < 0.1:
            return {k: each for k, each in value.items() if k is not key}
        return {**value, key: changed(r, value[key], drawn)}
    if isinstance(value, (tuple, list)) and value:
        k = r.randrange(len(value))
        return type(value)([*value[:k], changed(r, value[k], drawn), *value[k + 1:]])
    if isinstance(value, np.ndarray) and value.size and r.random() < 0.8:
        array = value.copy()
        array.reshape(-1).view(np.uint8)[r.randrange(array.nbytes)] ^= 1 << r.randrange(8)
        if r.random() < 0.3:
            array = r.choice([array[:-1], array.astype(np.float32), array.reshape(-1), array[None]])
        return array
    if type(value) is bytes and value and r.random() < 0.8:
        return resealed(r, value)
    if type(value) in (int, float) and r.random() < 0.8:
        return r.choice([-1, 0, 1, value + 1, 2**31 - 1, 2**62, 2**64, -1e308, math.nan, 10**40])
    return drawn()


def resealed(r, data):
    """Returns the bytes of a state with changed numbers, or with damage."""
    try:
        state = State.from_bytes(data)
        row = r.choice(state.rows)
        key = r.choice(["own", "own", r.choice(list(row))])
        row[key] = changed(r, row[key], lambda: r.choice([None, -1, 2**40, b"", "x", (), math.inf]))
        return state.to_bytes()
    except Exception:
        return damaged(r, data)


# ---- cases

class Case:
    """One pool, and calls to it.

    Args:
        seed: Determines all calls.
        log: Called with the text of the next call.
    """

    def __init__(self, seed, log):
        self.r, self.log, self.findings, self.pool = random.Random(seed), log, [], None

    def find(self, text, error):
        self.findings.append(f"{text}: {type(error).__name__}: {error!s:.300}")

    def attempt(self, text, call, names=(), also=()):
        """Makes a call. An error has to name one of `names`, if there are any; errors in `also` are fine, too.

        Returns:
            Whether it succeeded, and the result.
        """
        self.log(text)
        try:
            return True, call()
        except also:
            pass
        except Exception as error:
            # subclasses, such as RecursionError and UnicodeError, are not intended errors
            is_allowed = type(error) in ALLOWED or isinstance(error, OSError)
            if not is_allowed or "Unknown exception" in str(error):
                self.find(text, error)
            elif isinstance(error, (TypeError, ValueError)) and names and not any(n in str(error) for n in names):
                self.find(f"{text}: names none of {list(names)}", error)
        return False, None

    def run(self):
        drawn = self.r.random()
        if GAMES and drawn < SHARES["games"]:
            GameCalls(self, GAMES).run()
            return
        if 1 - drawn < SHARES["objects"]:
            Objects(self, hostile, drawn_pool, ALLOWED).run()
            return
        if self.r.random() < 0.3:
            for _ in range(8):
                self.function()
            return
        if self.r.random() < 0.3:
            self.edges()
            return
        self.make()
        if self.pool is not None:
            for _ in range(self.r.randrange(3, 16)):
                self.r.choice([self.call, self.call, self.argument, self.state, self.state, self.checkpoint,
                               self.threads])()
            self.works()

    def make(self):
        r = self.r
        self.id, options = drawn_pool(r)
        self.is_drawn = self.id in FAMILY_OF and CASES[FAMILY_OF[self.id]].draws_quickly
        self.kind = r.choice(["gymnasium", "gymnasium", "gym", "dm"])
        given = {"num_envs": 2, "batch_size": r.choice([2, 2, 1]), "seed": r.randrange(100), **options}
        if not self.id.startswith("gymnasium:"):
            given["num_threads"] = r.choice([0, 1, 2])
            given["debug"] = r.random() < 0.1
            if r.random() < 0.1:
                given["reward_hook"] = lambda batch: batch.reward
        if self.kind == "gymnasium":
            given["autoreset_mode"] = r.choice(["NextStep", "SameStep", "Disabled"])
            given["normalize_reward"] = r.random() < 0.1
        if self.kind != "dm":
            given["episode_statistics"] = r.random() < 0.5
        make = cypool.make
        if r.random() < 0.1 and ":" not in self.id:
            self.kind, make = "envpool", lambda id, kind, **given: envpool.make_gymnasium(id, **given)
            given = {key: given[key] for key in ("num_envs", "batch_size", "num_threads", "seed")}
        text = f"make({self.id!r}, {self.kind!r}, **{given})"
        _, self.pool = self.attempt(text, lambda: make(self.id, self.kind, **given))
        self.good = None
        if self.pool is not None and r.random() < 0.9:
            self.attempt("async_reset()", self.pool.async_reset)
            self.drain()
            if self.id not in FAMILY_OF or CASES[FAMILY_OF[self.id]].saves:
                self.good = self.pool.save()

    def actions(self, count=2):
        space = self.pool.env_spec.action
        if hasattr(space, "n"):
            return [self.r.randrange(space.n) for _ in range(count)]
        if isinstance(space, dict):
            return {key: np.zeros((count, *part.shape), part.dtype) for key, part in space.items()}
        return np.zeros((count, *space.shape), space.dtype)

    def drain(self):
        for _ in range(3):
            try:
                self.pool.recv(timeout=60)
            except (RuntimeError, ValueError):
                return

    def call(self):
        """A call with valid arguments, at any time."""
        r, pool = self.r, self.pool
        one, both = self.actions(1), self.actions()
        name, *given = r.choice([
            ("reset",), ("async_reset",), ("step", both), ("step", both, [0, 1]), ("step", one, [1]), ("send", both),
            ("send", one, [0]), ("recv", 5), ("recv", 5), ("save",), ("save", [0]), ("render",), ("close",)])
        if (name == "render" and not self.is_drawn) or (name == "close" and r.random() < 0.7):
            return
        self.attempt(f"{name}{tuple(given)}", lambda: getattr(pool, name)(*given))

    def argument(self):
        """A call with one wrong argument."""
        r, pool = self.r, self.pool
        value, text = hostile(r, pool)
        option = r.choice(RESET_OPTIONS)
        calls = [
            ("step(.)", lambda: pool.step(value), "action"), ("send(.)", lambda: pool.send(value), "action"),
            ("step(actions, .)", lambda: pool.step(self.actions(), value), "env_id action"),
            ("send(actions, .)", lambda: pool.send(self.actions(), value), "env_id action"),
            ("reset(.)", lambda: pool.reset(value), "env_id"),
            ("async_reset(.)", lambda: pool.async_reset(value), "env_id"),
            ("reset(seed=.)", lambda: pool.reset(seed=value), "seed"),
            ("async_reset(seed=.)", lambda: pool.async_reset(seed=value), "seed"),
            ("recv(.)", lambda: pool.recv(value), "timeout"), ("save(.)", lambda: pool.save(value), "env_id"),
            ("load(.)", lambda: pool.load(value), "state env_id"), ("render(.)", lambda: pool.render(value), "env_id"),
            ("load(state, .)", lambda: pool.load(pool.save(), value), "env_id state")]
        if self.kind == "gymnasium":
            calls += [
                ("reset(options=.)", lambda: pool.reset(options=value), "options reset_mask"),
                ("reset(options=[., None])", lambda: pool.reset(options=[value, None]), "options reset_mask"),
                ("reset(options={option: .})", lambda: pool.reset(options={option: value}), f"options {option}"),
                ("reset(options={'reset_mask': .})", lambda: pool.reset(options={"reset_mask": value}), "reset_mask"),
                ("step(actions, None, .)", lambda: pool.step(self.actions(), None, value), "out"),
                ("step(actions, None, (.) * 4)", lambda: pool.step(self.actions(), None, (value,) * 4), "out"),
                ("rollout_buffers(.)", lambda: pool.rollout_buffers(value), "num_steps rollout_buffers")]
            if hasattr(pool, "load_normalization"):
                calls.append(("load_normalization(.)", lambda: pool.load_normalization(value), "statistics"))
        name, call, names = r.choice(calls)
        if name == "render(.)" and not self.is_drawn:
            return
        # None is a valid value of many arguments; EnvPool's have other names
        named = () if value is None or self.kind == "envpool" else names.split()
        self.attempt(f"{name} with {text}", call, named)
        self.drain()

    def state(self):
        """A state that was edited or damaged, or belongs to others."""
        r, pool = self.r, self.pool
        if self.good is None:
            return
        state = pickle.loads(pickle.dumps(self.good))
        row, (value, text) = state.rows[0], hostile(r, pool)
        own = list(row["own"]) if isinstance(row["own"], tuple) else [row["own"]]
        what = r.choice(["own", "own", "own", "bytes", "bytes", "bytes", "row", "row", "other", "file", "rows", "good"])
        if what == "own":
            k = r.randrange(len(own))
            own[k] = value if r.random() < 0.5 else r.choice([-1, 2**31 - 1, 10**8, 1000, 7, -1e308, 1e308, 10**400])
            row["own"] = tuple(own)
            text = f"own[{k}] = {own[k]!r:.80}" if isinstance(own[k], (int, float)) and abs(own[k]) < 2**64 else text
        elif what == "bytes":
            places = [k for k, part in enumerate(own) if type(part) is bytes and part]
            if not places:
                return
            k = r.choice(places)
            own[k] = damaged(r, own[k])
            row["own"], text = tuple(own), f"bytes of own[{k}]"
        elif what == "row":
            key = r.choice(sorted(row))
            row[key], text = value, f"{key} = {text}"
            if r.random() < 0.2:
                del row[key]
        elif what == "other":
            with cypool.make(r.choice(["Catch-v0", "Pong-v5", "Ant-v5"]), num_envs=2) as other:
                other.reset()
                theirs = other.save().rows[0]
            row.update({key: theirs[key] for key in r.sample(sorted(theirs), r.randrange(1, 10))})
            text = "parts of others"
        elif what == "file":
            if self.id.startswith("gymnasium:"):
                return
            data = bytearray(state.to_bytes())
            if r.random() < 0.8:
                data[r.randrange(len(data))] ^= 1 << r.randrange(8)
            if r.random() < 0.2:
                del data[r.randrange(len(data)):]
            well, state = self.attempt("from_bytes", lambda: State.from_bytes(bytes(data)), ["data"])
            if not well:
                return
        elif what == "rows":
            if r.random() < 0.5:
                state.rows = value
            else:
                state.env_id = value
        well, _ = self.attempt(f"load of a state, {what}: {text}", lambda: pool.load(state), ["state", "env_id"])
        if well:
            for _ in range(4):
                self.attempt("step after load", lambda: pool.step(self.actions()))
                self.drain()
            self.attempt("save after load", pool.save)

    def checkpoint(self):
        """A checkpoint that was edited or damaged, or belongs to others."""
        r, pool = self.r, self.pool
        if self.id.startswith("gymnasium:"):
            return
        with tempfile.TemporaryDirectory() as folder:
            path, parts = os.path.join(folder, "run"), {"env": pool, **drawn_parts(r, pool)}
            values = {"values": (1, [2.5, {"a": np.arange(3)}], b"x", None)}
            well, _ = self.attempt(f"save_checkpoint of {list(parts)}",
                                   lambda: cypool.save_checkpoint(path, **parts, **values), also=OSError)
            if not well:
                return
            what = r.choice(["bytes", "end", "content", "content", "content", "content", "other", "part", "good"])
            names = [*parts, "path", "parts"]
            if what in ("bytes", "end"):
                data = bytearray(Path(path).read_bytes())
                if what == "bytes":
                    data[r.randrange(len(data))] ^= 1 << r.randrange(8)
                else:
                    del data[r.randrange(len(data)):]
                Path(path).write_bytes(data)
                names = ["path"]
            elif what == "content":
                read = checkpoint._read(path)
                name = r.choice(list(read))
                read[name] = changed(r, read[name], lambda: hostile(r, pool)[0])
                what = f"content of {name}"
                try:
                    checkpoint._write(path, read)
                except ALLOWED:
                    # what came is no plain data
                    return
            elif what == "other":
                parts["env"] = cypool.make(r.choice(["Catch-v0", "CartPole-v1", "Pong-v5"]), num_envs=r.choice([1, 2]))
            elif what == "part":
                value, text = hostile(r, pool)
                parts[r.choice([*parts, "another"])], what = value, text
            well, _ = self.attempt(f"load_checkpoint, {what}", lambda: cypool.load_checkpoint(path, **parts), names)
            if what in ("bytes", "end") and well:
                self.findings.append(f"{self.id}: a damaged checkpoint was loaded")
            for _ in range(3):
                self.attempt("step after load_checkpoint", lambda: pool.step(self.actions()))
                self.drain()
            if well and "buffer" in parts and isinstance(parts["buffer"], cypool.ReplayBuffer):
                self.attempt("sample after load_checkpoint", lambda: parts["buffer"].sample(3))
                self.attempt("reset after load_checkpoint", parts["buffer"].reset)
                for _ in range(5):
                    self.attempt("step of a buffer", lambda: parts["buffer"].step(self.actions()))
                self.attempt("sample after steps", lambda: parts["buffer"].sample(3))
            if well and "policy" in parts and isinstance(parts["policy"], cypool.MLP):
                self.attempt("policy after load_checkpoint", lambda: parts["policy"](np.zeros(
                    (2, *pool.env_spec.observation.shape), pool.env_spec.observation.dtype)), also=ValueError)

    def edges(self):
        """States with numbers at or beyond an edge, in one of two environments."""
        r = self.r
        self.id, options = drawn_pool(r)
        while self.id not in FAMILY_OF or not CASES[FAMILY_OF[self.id]].saves:
            # those have no states, or pickles, whose code is the user's
            self.id, options = drawn_pool(r)
        draws = CASES[FAMILY_OF[self.id]].draws_quickly
        self.log(f"edges of {self.id!r}, {options}")
        with cypool.make(self.id, num_envs=2, num_threads=0, seed=r.randrange(100), autoreset_mode="Disabled",
                         **options) as self.pool:
            self.pool.reset()
            for _ in range(r.choice([0, 1, 8])):
                self.attempt("step", lambda: self.pool.step(self.actions()))
            state = self.pool.save([0])
            other = self.pool.save([1]).rows
            for path, edited, is_in_range in self.edge_states(state):
                well, _ = self.attempt(f"load of {path}", lambda state=edited: self.pool.load(state, [0]), ["state"])
                if not well:
                    continue
                if not is_in_range:
                    self.findings.append(f"{self.id}: a state with {path}, which is out of its range, was loaded")
                if draws:
                    self.attempt(f"render after {path}", lambda: self.pool.render([0]))
                for _ in range(3):
                    self.attempt(f"step after {path}", lambda: self.pool.step(self.actions(1), [0]))
                if draws:
                    self.attempt(f"render after steps after {path}", lambda: self.pool.render([0]))
                self.attempt(f"save after {path}", lambda: self.pool.save([0]))
                self.attempt(f"reset after {path}", lambda: self.pool.reset([0]))
                self.attempt(f"step after reset after {path}", lambda: self.pool.step(self.actions(1), [0]))
                if not all(map(same_rows, self.pool.save([1]).rows, other)):
                    self.findings.append(f"{self.id}: another environment changed after {path}")
                self.attempt(f"copy after {path}", lambda: self.pool.copy(1, 0))
            self.pool.load(state, [0])
            self.attempt("copy", lambda: self.pool.copy(0, 1))
            self.attempt("step after copy", lambda: self.pool.step(self.actions()))

    def edge_states(self, state):
        """Yields (path, state, whether it is in range), for declared ranges or, without any, for any number."""
        r, own = self.r, state.rows[0]["own"]
        count = 5
        if hasattr(resolve(self.id, None, dict(state.rows[0]["options"]))[0], "state_fields"):
            yield from edged_states(state, np.random.default_rng(r.randrange(2**32)), count)
        else:
            places = list(numbers_in(own))
            for place in r.sample(places, min(count, len(places))):
                for value in replacements(r, at(own, place)):
                    yield f"own{list(place)} = {value!r:.60}", with_own(state, put(own, place, value)), True
        for value in ((), (b"",) * len(own), None, 0, tuple(own)[::-1], (*own, 0)):
            if value != own:
                yield f"own = {value!r:.60}", with_own(state, value), True

    def threads(self):
        """Two calls at once."""
        at_once(self.call, self.call)

    def works(self):
        """In the end, the pool still works, or is closed."""
        self.log("works")
        try:
            self.pool.async_reset()
            self.drain()
            for _ in range(3):
                self.pool.async_reset([0, 1])
                self.drain()
                self.pool.send(self.actions(), [0, 1])
                self.drain()
        except cypool.ClosedError:
            pass
        except Exception as error:
            # any action may come, legal or not
            if "expected a legal action" not in str(error):
                self.find("the pool no longer works", error)
        self.pool.close()

    def function(self):
        """A function call with one wrong argument."""
        r = self.r
        value, text = hostile(r)
        id = drawn_id(r)
        option = r.choice(sorted(cypool.make_spec(id).options) or ["max_episode_steps"])
        # at the ends of the declared range
        declared = getattr(resolve_name(entry_of(id).entry_point).describe, "declared", {})
        edges = declared[option].edges if option in declared else ()
        new = f"mine/Env{r.randrange(10**9)}-v0"
        cart, wrong = lambda: gymnasium.make("CartPole-v1"), lambda: value
        what, function, given = r.choice([
            *[("make", cypool.make, {"id": "CartPole-v1", "num_envs": 2})] * 3,
            *[("make_spec", cypool.make_spec, {"id": id})] * 3,
            ("register", cypool.register, {"id": new, "entry_point": r.choice(ENTRY_POINTS)}),
            ("ThreadPool", cypool.ThreadPool, {}), ("State.from_bytes", State.from_bytes, {}),
            ("record", cypool.record, {"env": cypool.make("NChain-v0", num_envs=2), "path": "x.gif", "num_steps": 2}),
            ("from_factories", cypool.from_factories, {"factories": [r.choice([cart, wrong])], "num_workers": 0}),
            ("envpool.make", envpool.make_gymnasium, {"task_id": "CartPole-v1", "num_envs": 2}),
            ("load_state", cypool.load_state, {}), ("list_all_envs", cypool.list_all_envs, {})])
        key = r.choice({**ARGUMENTS, "make_spec": [option, option, "id", "max_episode_steps"]}[what])
        if "hook" in key and isinstance(value, int):
            return  # not a valid address
        if what == "make_spec" and key == option and edges and r.random() < 0.5:
            value = r.choice(edges)
            text = repr(value)
        if what != "from_factories" or given["factories"] == [cart]:
            given[key] = [value] if key == "factories" and r.random() < 0.5 else value
        # a function of the user's may raise any exception
        factories = given.get("factories")
        own = callable(value) or (isinstance(factories, list) and any(each is wrong for each in factories[:1]))
        names, also = ([], (Hostile, ImportError)) if own else ([key, "factor"], ())
        well, result = self.attempt(f"{what}({key}={text})", lambda: function(**given), names, also)
        if well and what == "register":
            self.attempt(f"make({given['entry_point']!r:.50})", lambda: cypool.make(given["id"]), also=ImportError)
        if hasattr(type(result), "close"):
            if hasattr(type(result), "reset"):
                self.attempt(f"reset after {what}({key}={text})", result.reset, also=Hostile)
            result.close()


ENTRY_POINTS = ["cypool.env:Env", "cypool.spec:Array", "no.such:Env", "cypool:make", "cypool.env:ABI"]
ARGUMENTS = {
    "make": """id env_type num_envs batch_size num_threads seed max_episode_steps autoreset_mode episode_statistics
               normalize_obs normalize_reward render_mode thread_pool thread_affinity env_options reward_hook
               observation_hook debug""".split(),
    "register": ["id", "entry_point", "max_episode_steps", "reference", "no_option"],
    "ThreadPool": ["num_threads", "thread_affinity"], "State.from_bytes": ["data"], "load_state": ["path"],
    "record": ["env", "path", "actions", "num_steps", "env_id", "fps"], "list_all_envs": ["anything"],
    "from_factories": ["factories", "workers", "num_workers", "start_method", "worker_timeout", "batch_size", "seed"],
    "envpool.make": ["num_envs", "batch_size", "num_threads", "seed", "max_episode_steps"],
}


# ---- states as plain data

def numbers_in(data, place=()):
    """Yields the places of numbers, arrays and bytes in plain data: tuples of indices and keys."""
    if isinstance(data, (tuple, list)):
        for k, value in enumerate(data):
            yield from numbers_in(value, (*place, k))
    elif isinstance(data, dict):
        for key, value in data.items():
            yield from numbers_in(value, (*place, key))
    else:
        yield place


def at(data, place):
    for key in place:
        data = data[key]
    return data


def put(data, place, value):
    """Returns plain data with the value in one place replaced."""
    if not place:
        return value
    key, *rest = place
    changed = dict(data) if isinstance(data, dict) else list(data)
    changed[key] = put(data[key], rest, value)
    return changed if isinstance(data, (dict, list)) else tuple(changed)


def replacements(r, value):
    """Returns edge values for a number, an array or bytes."""
    if isinstance(value, np.ndarray):
        return [np.zeros_like(value), value[:0], np.concatenate([value.ravel(), value.ravel()[:1]])]
    if isinstance(value, bytes):
        return [bytes(len(value)), b"", value + b"\0", with_edge(r, value), with_edge(r, value)]
    return [0, -1, 2**31, 2**63 - 1, math.nan, math.inf, -math.inf]


def with_edge(r, data):
    """Returns bytes with four or eight replaced by an edge value of a number type; if compressed, inside."""
    data, pack = unpacked(data)
    edges = [number.tobytes() for kind in (np.int32, np.int64, np.float32, np.float64) for number in np.array(
        [0, -1, 1e9] + ([np.nan, np.inf] if kind in (np.float32, np.float64) else [np.iinfo(kind).max]), kind)]
    edge = r.choice(edges)
    place = r.randrange(max(len(data) // 4, 1)) * 4
    return pack(data[:place] + edge + data[place + len(edge):])


def unpacked(data):
    """Returns bytes without their compression, and a function that packs others as these were."""
    with suppress(zlib.error):
        return zlib.decompress(data), partial(zlib.compress, level=1)
    return data, bytes


def same_rows(a, b):
    """Whether two saved environments are the same, apart from the time that an episode took."""
    return same({**a, "episode_ns": 0}, {**b, "episode_ns": 0})


def same(a, b):
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)
    if isinstance(a, (tuple, list)):
        return len(a) == len(b) and all(map(same, a, b))
    return np.array_equal(a, b) if isinstance(a, np.ndarray) else a == b or (a != a and b != b)


def damaged(r, data):
    """Returns bytes that differ in places or end early; if compressed, inside."""
    data, pack = unpacked(data) if r.random() < 0.8 else (data, bytes)
    data = bytearray(data)
    # most of it is pictures, the beginning is not
    most = min(len(data), r.choice([200, 8000, 10**9]))
    for _ in range(r.choice([1, 1, 4, 100])):
        data[r.randrange(most)] = r.choice([0, 1, 255, 127, r.randrange(256)])
    if r.random() < 0.1:
        del data[r.randrange(len(data)):]
    return pack(data)


# ---- the program

def run_case(seed, log, case=Case):
    """Runs a case in this process; returns its findings."""
    warnings.simplefilter("ignore")
    random.seed(seed)
    made = case(seed, log)
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            made.run()
        finally:
            os.chdir("/")
    return made.findings


def main():
    made = parser(__doc__)
    made.add_argument("--families", nargs="+", choices=sorted(IDS), help="only make environments from these families")
    made.add_argument("--only", choices=sorted(SHARES),
                      help="only play turn-based games, or only assign, copy, change and share objects")
    given = made.parse_args()
    again = "python fuzz/fuzz_api.py" + (f" --only {given.only}" if given.only else "")
    if given.families:
        again += f" --families {' '.join(given.families)}"
        for name in set(IDS) - set(given.families):
            del IDS[name]
        HOSTED[:] = []
        VARIANTS[:] = [(id, options) for id, options in VARIANTS if FAMILY_OF[id] in IDS]
    # all cases read these; no threads are started
    for found in IDS.values():
        games = [id for ids in found if "illegal" in cypool.make_spec(ids[0]).options for id in ids]
        if games:
            GAMES.append(games)
    if given.only:
        SHARES.update({kind: kind == given.only for kind in SHARES})
    return fuzz(given, again, run_case, LIMIT)


if __name__ == "__main__":
    sys.exit(main())
