"""The benchmark harness: candidates take turns in rounds, and tables show their medians.

A candidate is a function that does some work and returns how many steps that was. To leave out a part of its work, it
may measure itself and return a pair: this number and the time of the steps, by clock if there are several. A candidate
that is unavailable, such as a package that is not installed, is None.
"""
import argparse
import importlib
import json
import math
import os
import resource
import statistics
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path.append(str(ROOT / "tests"))
from cases import CASES, chosen  # noqa: E402, F401
from engine.threads import at_once  # noqa: E402, F401

os.environ.setdefault("SDL_VIDEODRIVER", "dummy")


def memory_of(*processes):
    """Returns the memory of processes in kilobytes; shared pages count in part."""
    return sum(process.memory_full_info().pss for process in processes) / 1024


def time_of_all():
    """Returns the CPU seconds of this process and its descendants."""
    from cypool.tools.benchmark import cpu_seconds

    return cpu_seconds()


def waits():
    """Returns how often this process has waited, in millions, because tables show millionths."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_nvcsw / 1e6


# functions that count; columns are in microseconds
CLOCKS = {"wall": time.perf_counter, "CPU": time.process_time, "waits": waits, "CPU of all": time_of_all,
          "children's CPU": lambda: time_of_all() - time.process_time()}


def cost(candidate, clocks=("CPU",), seconds=0.0):
    """Calls a candidate for a number of seconds; returns the cost of a step by clock."""
    steps, spent, end = 0, dict.fromkeys(clocks, 0.0), time.perf_counter() + seconds
    while True:
        before = [CLOCKS[clock]() for clock in clocks]
        done = candidate()
        taken = [CLOCKS[clock]() - begin for clock, begin in zip(clocks, before, strict=True)]
        if isinstance(done, tuple):
            done, own = done
            taken = [own[clock] if isinstance(own, dict) else own for clock in clocks]
        steps += done
        for clock, part in zip(clocks, taken, strict=True):
            spent[clock] += part
        if time.perf_counter() >= end:
            return {clock: part / steps for clock, part in spent.items()}


class Samples(list):
    """The rounds: the results of `cost` in each, by candidate."""

    def median(self, name, clock="CPU"):
        """Returns the cost of a step of a candidate."""
        return statistics.median(each[name][clock] for each in self)

    def ratios(self, slow, fast, clock="CPU"):
        """Returns, for each round, how many times as long one candidate takes as another."""
        return [each[slow][clock] / each[fast][clock] for each in self]

    def ratio(self, *pair):
        """Returns the median of these ratios."""
        return statistics.median(self.ratios(*pair))


def take_turns(candidates, rounds, seconds=0.0, clocks=("CPU",)):
    """Measures all candidates in each round, in alternating order; the first round is a warm-up."""
    order, samples = [name for name, call in candidates.items() if call is not None], Samples()
    for k in range(rounds + 1):
        found = {name: cost(candidates[name], clocks, seconds if k else 0.0) for name in order}
        order.reverse()
        if k:
            samples.append({name: found[name] for name in candidates if name in found})
    return samples


def digits(value):
    """Formats a number with three digits or two decimals."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.{2 - int(math.log10(max(value, 1)))}f}"


def number(value, per_second=False):
    """Formats microseconds or steps per second."""
    return digits(1 / value if per_second else value * 1e6)


def heading(*columns):
    """Prints the head of a Markdown table."""
    print(f"| {' | '.join(columns)} |\n| --- |{' --: |' * (len(columns) - 1)}")


def row(*cells):
    """Prints a row of a Markdown table."""
    print(f"| {' | '.join(map(str, cells))} |", flush=True)


class Table(NamedTuple):
    """A table that has a row for each id, or whatever is measured.

    Attributes:
        rows: Takes the arguments; yields row names, each with its candidates by name.
        candidates: All names, in the order of the columns.
        ratios: Pairs of candidates: how many times as long the first one takes. By default, compares all others with
            the first.
        clocks: Names in `CLOCKS`.
    """

    rows: Callable[[argparse.Namespace], Iterable[tuple[str, dict]]]
    candidates: tuple[str, ...]
    ratios: tuple[tuple[str, str], ...] = ()
    clocks: tuple[str, ...] = ("CPU",)

    def show(self, arguments):
        """Measures and prints all rows; the last one has arithmetic means of costs and geometric means of ratios."""
        names, clocks = self.candidates, self.clocks
        compared = self.ratios or tuple((name, names[0]) for name in names[1:])
        unit = "steps/s" if arguments.per_second else "us"
        values = [(name, clock) for clock in clocks for name in names]
        pairs = [(*pair, clock) for clock in clocks for pair in compared]
        heading("", *(f"{name}: {unit}, {clock}" for name, clock in values),
                *(f"{slow} / {fast}, {clock}" for slow, fast, clock in pairs))
        columns = {each: [] for each in (*values, *pairs)}
        for label, candidates in self.rows(arguments):
            samples = take_turns(candidates, arguments.rounds, arguments.seconds, clocks)
            there = {name for name, call in candidates.items() if call is not None}
            found = {each: samples.median(*each) for each in values if each[0] in there}
            ratios = {each: samples.ratios(*each) for each in pairs if there >= set(each[:2])}
            found |= {each: statistics.median(of_rounds) for each, of_rounds in ratios.items()}
            for each, value in found.items():
                columns[each].append(value)
            cells = {each: number(found[each], arguments.per_second) for each in values if each in found}
            for each, of_rounds in ratios.items():
                least, most = map(digits, (min(of_rounds), max(of_rounds)))
                cells[each] = digits(found[each]) + f" ({least} to {most})" * arguments.ranges
            row(label, *(cells.get(each, "-") for each in columns))
        if max(map(len, columns.values())) > 1:
            means = [columns[each] and statistics.mean(columns[each]) for each in values]
            factors = [columns[each] and statistics.geometric_mean(columns[each]) for each in pairs]
            row("mean", *(number(mean, arguments.per_second) if mean else "-" for mean in means),
                *(digits(factor) if factor else "-" for factor in factors))


def show_candidates(samples, base, clocks=("CPU",), more=None):
    """Prints a table with a row for each candidate and its ratio to one of them.

    Args:
        samples: The result of `take_turns`.
        base: The name of the candidate to compare with.
        clocks: As in `take_turns`.
        more: Texts for more columns, by column and name.
    """
    more = more or {}
    heading("", *(f"us, {clock}" for clock in clocks), *(f"times {base}, {clock}" for clock in clocks), *more)
    for name in samples[0]:
        row(name, *(number(samples.median(name, clock)) for clock in clocks),
            *(digits(samples.ratio(name, base, clock)) for clock in clocks), *(texts[name] for texts in more.values()))


# ---- candidates

def random_actions(space, *shape, seed=0):
    """Returns random actions of that shape; unbounded ones are between -1 and 1."""
    rng = np.random.default_rng(seed)
    if hasattr(space, "n"):
        return rng.integers(space.n, size=(*shape, *space.shape)).astype(space.dtype)
    return rng.uniform(np.maximum(space.low, -1), np.minimum(space.high, 1), (*shape, *space.shape)).astype(space.dtype)


def steps_of(env, actions, num_envs=None, limit=None, step=None):
    """Returns a candidate that takes all actions in each call. None for None.

    Args:
        env: A pool, or anything that has `reset` and `step`.
        actions: For each step.
        num_envs: How many environments take a step; by default those of the pool, or one.
        limit: Resets `env` before each such number of steps, without counting the reset. By default it is reset once.
        step: Replaces the `step` of `env`.
    """
    if env is None:
        return None
    step, num_envs = step or env.step, num_envs or getattr(env, "num_envs", 1)
    if limit is None:
        env.reset()

    def run():
        spent = 0.0
        for first in range(0, len(actions), limit or len(actions)):
            if limit is not None:
                env.reset()
            begin = time.process_time()
            for each in actions[first:first + limit] if limit else actions:
                step(each)
            spent += time.process_time() - begin
        steps = len(actions) * num_envs
        return steps if limit is None else (steps, spent)

    return run


def pool_steps(id, num_envs, num_threads, **options):
    """Returns a candidate that takes random actions in a cypool pool."""
    import cypool

    env = cypool.make(id, num_envs=num_envs, num_threads=num_threads, seed=0, **options)
    env.action_space.seed(0)
    return steps_of(env, [env.action_space.sample() for _ in range(100)])


def loop_steps(reset, step, actions):
    """Returns a candidate that takes all actions in one environment per call; a reset counts as a step, as in a pool.

    Args:
        reset: Called once at the start, and after each episode.
        step: Takes an action; returns whether the episode has ended.
        actions: For each step.
    """
    reset()
    ended = False

    def run():
        nonlocal ended
        for action in actions:
            if ended:
                reset()
                ended = False
            else:
                ended = step(action)
        return len(actions)

    return run


def repeated(call, times=1, steps=1):
    """Returns a candidate that makes a call a number of times, each of a number of steps."""
    def run():
        for _ in range(times):
            call()
        return times * steps

    return run


def resets_of(env):
    """Returns a candidate that resets."""
    return repeated(env.reset, steps=getattr(env, "num_envs", 1))


def envpool(id, num_envs, num_threads=1, **options):
    """Returns an EnvPool (1.2.5) pool; None if EnvPool is not installed or has no such id."""
    try:
        import envpool

        if id in envpool.list_all_envs():
            return envpool.make_gymnasium(id, num_envs=num_envs, num_threads=num_threads, seed=0, **options)
    except ImportError as error:
        print(f"without EnvPool: {error}", file=sys.stderr)
    return None


class Served:
    """A candidate in a separate process, which prints a JSON value when it is ready, and then answers like `serve`.

    Args:
        command: The words of its command.
        seconds: How long it makes steps each time.

    Attributes:
        said: The value.
    """

    def __init__(self, *command, seconds=0.0):
        self.process = subprocess.Popen([*map(str, command)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.said, self.seconds = json.loads(self.process.stdout.readline()), seconds

    def __call__(self):
        """Returns 1 step, and the costs of a step."""
        print(self.seconds, file=self.process.stdin, flush=True)
        return 1, json.loads(self.process.stdout.readline())

    def close(self):
        self.process.communicate()


def serve(candidate, said=None, clocks=("CPU",)):
    """Prints `said`, and for each input line, a number of seconds, the costs of a candidate's step by clock."""
    print(json.dumps(said), flush=True)
    for line in sys.stdin:
        print(json.dumps(cost(candidate, clocks, float(line))), flush=True)


# ---- programs

def parser(doc, **defaults):
    """Returns a parser for the benchmarks' common arguments, with a docstring as its help."""
    made = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter,
                                   conflict_handler="resolve")
    made.add_argument("patterns", nargs="*", help="patterns of row names")
    made.add_argument("--rounds", type=int, default=5)
    made.add_argument("--seconds", type=float, default=0.2, help="seconds per candidate and round")
    made.add_argument("--num-envs", type=int, default=64)
    made.add_argument("--num-threads", type=int, default=0)
    made.add_argument("--per-second", action="store_true", help="show steps per second instead of microseconds")
    made.add_argument("--ranges", action="store_true", help="also show the smallest and largest ratios")
    made.set_defaults(**defaults)
    return made


def show(tables, made, words=None):
    """Runs a program: prints the table that `--table` names, by default the first.

    Args:
        tables: The tables by name.
        made: A parser from `parser`.
        words: The command line.
    """
    made.add_argument("--table", choices=list(tables), default=next(iter(tables)))
    arguments = made.parse_args(words)
    # of packages that are measured next to
    warnings.simplefilter("ignore")
    tables[arguments.table].show(arguments)
    print(f"\nload {os.getloadavg()[0]:.1f}, medians of {arguments.rounds} rounds")


def show_family(name, words):
    """Does the same with the tables of a family, in `tests/envs/NAME/measure.py`."""
    module = importlib.import_module(f"envs.{name}.measure")
    made = parser(module.__doc__, **module.DEFAULTS)
    if hasattr(module, "add_arguments"):
        module.add_arguments(made)
    show(module.TABLES, made, words)
