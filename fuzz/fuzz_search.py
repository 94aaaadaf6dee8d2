"""Calls tree searches and their pools with anything, in any order, and looks for crashes and stale trees.

    python fuzz/fuzz_search.py --cases 10000        about twenty minutes on two cores
    python fuzz/fuzz_search.py --case 123           repeats one case, and prints its calls

Each case is a forked process with a time limit. It makes a pool of some game, and searches, and does dozens of things
with them: calls in any order, wrong arguments, assigned attributes, copies, two threads at once, signals at any moment,
environments that move elsewhere, and closed pools. Each call may succeed or raise a documented exception. A model knows
where each tree belongs: a search from anywhere else returns the results of a new search. Anything else is a finding,
printed with the command that repeats it, although the timing of signals and threads may differ.
"""
import copy
import functools
import pickle
import signal
import sys
import time
import zlib
from contextlib import suppress

import fuzz_api
import numpy as np
from engine import threads
from fuzz_api import Hostile, hostile
from fuzzing import fuzz, parser

import cypool

LIMIT = 90  # seconds for a case, on a busy machine
REACTION = 10  # seconds that a call may take after a signal, likewise
SLOW, ENDLESS = "slow", "endless"
# id, options, and whether steps take long, or random games do not end
GAMES = [
    *[("board/tic_tac_toe-v0", {}, None)] * 4, *[("board/connect_four-v0", {}, None)] * 3, ("board/2048-v0", {}, None),
    ("board/backgammon-v0", {}, None), ("board/breakthrough-v0", {"rows": 4, "columns": 3}, None),
    ("CartPole-v1", {}, None), ("Catch-v0", {}, None), ("Blackjack-v1", {}, None), ("FrozenLake-v1", {}, None),
    ("FrozenLake-v1", {"desc": ("SFF", "FFF"), "max_episode_steps": 2 * 10**9}, ENDLESS), ("Pong-v5", {}, SLOW),
    ("ALE/Pong-v5", {}, SLOW), ("MiniGrid-Empty-5x5-v0", {}, None), ("openspiel/pig-v0", {"horizon": 30}, None),
    ("openspiel/pig-v0", {"horizon": 30, "chance_stream": "random_state"}, None)]
# without chance, but for the first position
CERTAIN = ["board/tic_tac_toe-v0", "board/connect_four-v0", "CartPole-v1"]
NAMES = ["leaves", "env", "simulations", "num_nodes", "run", "closed", "anything"]
OPTIONS = """simulations leaves algorithm discount noise seed c_init c_base unvisited virtual_loss normalize considered
             c_visit c_scale chance max_nodes allow_hidden env""".split()


class Alarm(Exception):
    """The exception that a signal handler raises."""


@functools.cache
def games():
    """Returns the games that can be made here."""
    found = []
    for game in GAMES:
        try:
            cypool.make_spec(game[0], **game[1])
            found.append(game)
        except ImportError:
            print(f"without {game[0]}", file=sys.stderr)
    return found


def evaluate(obs, mask):
    """Returns values that depend on each row alone."""
    parts = list(obs.values() if isinstance(obs, dict) else obs if isinstance(obs, tuple) else [obs])
    return None, np.float32([zlib.crc32(b"".join(part[k].tobytes() for part in parts)) % 999 / 999 - 0.5
                             for k in range(len(parts[0]))])


def network(spec):
    """Returns an MLP."""
    size = int(np.prod(spec.observation.shape))

    def layer(outputs):
        return [np.linspace(-1, 1, outputs * size, dtype=np.float32).reshape(outputs, size) / size], [
            np.zeros(outputs, np.float32)]

    return cypool.MLP(spec, *layer(spec.action.n), output="categorical", value=layer(1))


class Case(fuzz_api.Case):
    """One pool, a search of it, and calls to both."""

    def run(self):
        r, self.alarmed_at = self.r, None
        signal.signal(signal.SIGALRM, self.alarm)
        self.id, self.options, self.kind = r.choice(games())
        self.given = {"num_envs": r.randrange(1, 5), "num_threads": r.randrange(4), "seed": r.randrange(99),
                      "autoreset_mode": r.choice(["NextStep", "SameStep", "Disabled", "Disabled"])}
        self.pool = cypool.make(self.id, **self.given, **self.options)
        self.good, self.saved, self.search, self.where = None, [], None, None
        if r.random() < 0.95:
            self.pool.reset()
        self.make_search()
        for _ in range(r.randrange(5, 40)):
            # a signal may come between the end of the pool and the moment when it says so, and where a call has ended
            with suppress(cypool.ClosedError, Alarm):
                r.choice([self.search_all, self.search_all, self.step, self.step, self.step_and_advance,
                          self.step_and_advance, self.step_and_advance, self.elsewhere, self.by_parts,
                          self.wrong_argument, self.wrong_advance, self.attributes, self.recipes, self.copies,
                          self.threads, self.signals, self.signals, self.make_search, self.look, self.close])()
        self.log("close")
        self.search.close()
        self.pool.close()

    # ---- the model

    def positions(self):
        """Returns where the environments are."""
        return [(row["own"], row["elapsed_step"], row["needs_reset"], str(row["rng"])) for row in self.pool.save().rows]

    def forget(self):
        """Notes that nothing is known about the trees."""
        self.where = None

    def is_open(self):
        return not self.pool.closed and not self.is_closed and self.pool._pool.num_unstarted == 0

    def make_search(self):
        r = self.r
        self.options_of_search = {
            "simulations": r.choice([1, 3, 20, 60]) if self.kind is None else r.choice([1, 3]),
            "leaves": r.choice([1, 1, 2, 5, 32]), "algorithm": r.choice(["puct", "gumbel"]),
            "chance": r.choice(["resample", "foresee"]) if self.id in CERTAIN else "foresee",
            "max_nodes": r.choice([10**7, 10**7, 1, 12]), "discount": r.choice([1.0, 0.9])}
        well, search = self.attempt(f"TreeSearch(**{self.options_of_search})", self.new_search, also=cypool.ClosedError)
        if well:
            self.search, self.is_closed, self.where = search, False, [None] * self.pool.num_envs
        elif self.search is None:
            raise AssertionError("the first search could not be made")

    def new_search(self, **more):
        return cypool.TreeSearch(self.pool, **{**self.options_of_search, **more})

    def evaluator(self):
        found = [evaluate, evaluate, "constant"]
        if self.id in CERTAIN:
            found.append(network(self.pool.env_spec))
        if self.kind != ENDLESS:
            found.append("rollout")
        return self.r.choice(found)

    def search_all(self):
        """Searches, and compares searches that start over with a new search."""
        evaluator = self.evaluator()
        if not self.is_open():
            self.attempt("run", lambda: self.search.run(evaluator))
            return
        known, positions = self.where, self.positions()
        self.search.simulations = self.options_of_search["simulations"]
        well, result = self.attempt(f"run({evaluator})", lambda: self.search.run(evaluator, num_games=2))
        if not well:
            self.findings.append(f"{self.id}: a valid search failed")
            return
        self.where = [None] * self.pool.num_envs
        if known is None or evaluator == "rollout":
            return
        with self.new_search() as fresh:
            wanted = fresh.run(evaluator)
        for k in range(self.pool.num_envs):
            if known[k] != positions[k] and any(a[k].tobytes() != b[k].tobytes()
                                                for a, b in zip(result, wanted, strict=True)):
                self.findings.append(f"{self.id}: a stale tree: {result.visits[k]}, a new one has {wanted.visits[k]}")

    # ---- the pool

    def actions(self, count=None):
        if self.pool.env_spec.illegal is None or not self.is_open():
            return np.array([self.r.randrange(self.pool.env_spec.action.n) for _ in range(self.pool.num_envs)])
        return self.pool.sample_legal()

    def over(self):
        return self.is_open() and self.pool.save().needs_reset.any() and self.given["autoreset_mode"] == "Disabled"

    def step(self):
        if self.over():
            self.pool.reset()
        actions = self.actions()
        self.attempt(f"step({actions.tolist()})", lambda: self.pool.step(actions), ["action", "actions"])
        return actions

    def step_and_advance(self):
        if not self.is_open():
            self.step()
            return
        if self.over():
            self.pool.reset()
        before, known = self.positions(), self.where
        if self.r.random() < 0.8 and self.pool.env_spec.action.n < 100:
            # the tree has it, and the model knows where it belongs
            self.search_all()
            known = before
        actions = self.step()
        if self.r.random() < 0.3:
            return
        well, _ = self.attempt(f"advance({actions.tolist()})", lambda: self.search.advance(actions), ["actions"])
        self.where = None
        if well:
            self.where = self.positions()
        elif known == before:
            self.findings.append(f"{self.id}: advance refused the step that was made")

    def elsewhere(self):
        """Moves the environments elsewhere."""
        r = self.r
        if not self.is_open():
            return
        kind = r.choice(["reset", "save", "load", "load", "step", "copy"])
        if kind == "save" or not self.saved:
            self.saved.append(self.pool.save())
        elif kind == "load":
            self.attempt("load", lambda: self.pool.load(r.choice(self.saved)))
        elif kind == "copy" and self.pool.num_envs > 1:
            self.attempt("copy", lambda: self.pool.copy(0, 1))
        elif kind == "reset":
            self.attempt("reset", self.pool.reset)
        else:
            self.step()

    def wrong_advance(self):
        """Actions that were not taken, or steps that the search does not know about."""
        if not self.is_open():
            return
        self.search_all()
        made = [self.step() for _ in range(self.r.randrange(3))]
        count = self.r.randrange(1, 3)
        actions = made[0] if made and self.r.random() < 0.5 else self.actions()
        for _ in range(count):
            self.attempt(f"advance({actions.tolist()}), maybe wrong", lambda: self.search.advance(actions), ["actions"])
        self.forget()
        # elsewhere several actions may lead to the same position
        if self.id.startswith("board/"):
            self.where = [now if len(made) == count == 1 and ours == theirs else None for now, ours, theirs in zip(
                self.positions(), actions, made[0] if made else actions, strict=True)]
        self.search_all()

    # ---- anything else

    def by_parts(self):
        r = self.r
        for _ in range(r.randrange(1, 8)):
            kind = r.choice(["begin", "recv", "send", "result", "round", "round"])
            if kind in ("begin", "recv", "result"):
                self.attempt(kind, getattr(self.search, kind))
            elif kind == "send":
                self.attempt("send", lambda: self.search.send(None, np.zeros(r.randrange(5))))
            else:
                well, leaves = self.attempt("recv", self.search.recv)
                if well and leaves is not None:
                    logits = r.choice([None, np.full((len(leaves.player), self.pool.env_spec.action.n), r.choice(
                        [0, 1e30, -np.inf, np.nan, np.inf]))])
                    values = evaluate(leaves.obs, None)[1]
                    self.attempt("send", functools.partial(self.search.send, logits, values))
        self.forget()

    def wrong_argument(self):
        r = self.r
        value, text = hostile(r, self.pool)
        option = r.choice(OPTIONS)
        calls = [(f"TreeSearch({option}=.)", lambda: self.new_search(**{option: value}) if option != "env" else
                  cypool.TreeSearch(value), option),
                 ("advance(.)", lambda: self.search.advance(value), "actions"),
                 ("advance(actions, .)", lambda: self.search.advance(self.actions(), value), "env_id actions"),
                 ("run(num_games=.)", lambda: self.search.run(evaluate, num_games=value), "num_games"),
                 ("run(-> .)", lambda: self.search.run(lambda obs, mask: value), "evaluate values logits"),
                 ("run(-> None, .)", lambda: self.search.run(lambda obs, mask: (None, value)), "values"),
                 ("run(-> ., values)", lambda: self.search.run(lambda obs, mask: (value, evaluate(obs, mask)[1])),
                  "logits"),
                 ("send(., .)", lambda: self.search.send(value, value), "send values logits"),
                 ("sample(.)", lambda: self.search.result().sample(value), "temperature"),
                 ("sample(rng=.)", lambda: self.search.result().sample(rng=value), "rng")]
        if not isinstance(value, int):
            # those are addresses
            calls.append(("run(.)", lambda: self.search.run(value), "evaluate"))
        name, call, names = r.choice(calls)
        # a function, or an object, of the user's may raise anything
        self.attempt(f"{name} with {text}", call, () if self.is_down() or callable(value) else names.split(),
                     (Hostile, *(() if not callable(value) else (Exception,))))
        self.forget()

    def is_down(self):
        """Returns whether errors may have reasons other than arguments."""
        return not self.is_open() or self.pool._pool.num_pending > 0

    def attributes(self):
        value, text = hostile(self.r, self.pool)
        name = self.r.choice(NAMES)
        if self.r.random() < 0.5:
            value = self.r.choice([1, 2, 64])
            text = str(value)
        self.attempt(f"search.{name} = {text}", lambda: setattr(self.search, name, value), (), AttributeError)
        if name == "run":
            self.search.__dict__.pop("run", None)
        evaluator = self.evaluator()
        self.attempt(f"run({evaluator}) after search.{name} = {text}", lambda: self.search.run(evaluator))
        self.settle()

    def recipes(self):
        """Changing a copy of the recipe changes nothing else."""
        other, before = self.r.choice(games()), copy.deepcopy(dict(self.pool.recipe))
        key, value = self.r.choice([("id", other[0]), ("num_envs", 7), ("seed", [1, 2]), *other[1].items()])
        self.attempt(f"recipe[{key!r}] = {value!r}", lambda: self.pool.recipe.update({key: value}))
        self.attempt("recipe['seed'].clear()", self.pool.recipe["seed"].clear)
        if dict(self.pool.recipe) == before:
            return
        self.findings.append(f"{self.id}: a recipe has changed: {key!r} is {self.pool.recipe[key]!r}")
        self.pool.recipe["seed"] = before["seed"]
        self.attempt("a search after the recipe was changed", lambda: self.new_search().run("constant"))
        self.pool.recipe.clear()
        self.pool.recipe.update(before)

    def copies(self):
        duplicate = self.r.choice([copy.copy, copy.deepcopy, pickle.dumps])
        well, twin = self.attempt(f"{duplicate.__name__}(search)", lambda: duplicate(self.search))
        if well:
            self.at_once(lambda: self.search.run("constant"), lambda: twin.run("constant"))
        self.forget()

    def one_call(self):
        """Returns a call and its text."""
        r, actions = self.r, self.actions()
        evaluator = self.evaluator()
        calls = [
            *[(f"run({evaluator})", lambda: self.search.run(evaluator))] * 4, ("begin", self.search.begin),
            *[("advance", lambda: self.search.advance(actions))] * 3, ("recv", self.search.recv),
            ("send", lambda: self.search.send(None, np.zeros(self.pool.num_envs))), ("result", self.search.result),
            ("num_nodes", lambda: self.search.num_nodes), ("sample", lambda: self.search.result().sample()),
            ("step", lambda: self.pool.step(actions)), ("reset", self.pool.reset), ("save", self.pool.save)]
        if r.random() < 0.05:
            calls += [("close", self.search.close), ("close of the pool", self.pool.close)] * 2
        return r.choice(calls)

    def at_once(self, *calls):
        end = time.monotonic() + 0.03

        def repeat(call):
            while True:
                self.attempt("a call at once with another", call)
                if time.monotonic() > end:
                    return

        threads.at_once(*(functools.partial(repeat, call) for call in calls))

    def threads(self):
        (name, call), (other, other_call) = self.one_call(), self.one_call()
        self.log(f"{name} and {other} at once")
        self.at_once(call, other_call)
        self.settle()

    def settle(self):
        """After calls that may have ended in any way."""
        self.forget()
        self.search.simulations = self.options_of_search["simulations"]
        if self.search._trees == []:
            self.is_closed = True
        if self.is_open() and self.pool._pool.num_pending:
            self.attempt("recv", self.pool.recv)

    def alarm(self, *_):
        if self.is_armed:
            self.alarmed_at = self.alarmed_at or time.monotonic()
            raise Alarm("on purpose")

    is_armed = False

    def signals(self):
        """A signal arrives at any moment of a call, and its handler raises."""
        r = self.r
        name, call = self.one_call()
        longest = r.choice([1e-3, 1e-2, 0.1])
        if not self.is_down() and r.random() < 0.3:
            name, call, longest = r.choice([
                ("run(rollout, 10**6)", lambda: self.search.run("rollout", num_games=10**6), 0.1),
                ("run(rollout)", lambda: self.search.run("rollout"), 0.1),
                ("run(constant, 10**9)", self.run_long, 0.1)])
        delay = r.uniform(1e-5, longest)
        if longest == 0.1:
            delay += 0.02
        self.alarmed_at = None
        self.log(f"{name}, with a signal after {delay:.6f} s")
        try:
            self.is_armed = True
            # again where a finalizer has taken the first one
            signal.setitimer(signal.ITIMER_REAL, delay, 1)
            call()
        except Alarm:
            pass
        except Exception as error:
            if self.alarmed_at is not None and isinstance(error.__cause__ or error.__context__, Alarm):
                self.find(f"{name} mistakes a signal for another error", error)
            elif type(error) not in fuzz_api.ALLOWED:
                self.find(f"{name}, with a signal", error)
        finally:
            self.is_armed = False
            signal.setitimer(signal.ITIMER_REAL, 0)
        if self.alarmed_at is not None and time.monotonic() - self.alarmed_at > REACTION:
            self.findings.append(f"{self.id}: {name} ends {time.monotonic() - self.alarmed_at:.1f} s after a signal")
        self.settle()

    def run_long(self):
        self.search.simulations = 10**9
        self.search.run("constant")

    def look(self):
        self.attempt("repr", lambda: repr(self.search))
        self.attempt("num_nodes", lambda: self.search.num_nodes)

    def close(self):
        if self.r.random() < 0.1:
            self.attempt("close of the pool", self.pool.close)
        elif self.r.random() < 0.2:
            self.attempt("close", self.search.close)
            self.is_closed = True


def run_case(seed, log):
    # threads meet within a call, too
    sys.setswitchinterval(1e-6)
    return fuzz_api.run_case(seed, log, Case)


if __name__ == "__main__":
    given = parser(__doc__).parse_args()
    games()
    sys.exit(fuzz(given, "python fuzz/fuzz_search.py", run_case, LIMIT))
