"""The sweep harness: long comparisons, each in a separate process, and their counts.

A run is a function that returns a `Counter` of its comparisons, and raises if there is a difference. It is forked, so
it may end its process. Runs of a group share a line of output.
"""
import argparse
import importlib
import json
import multiprocessing
import os
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Callable
from functools import partial
from multiprocessing.connection import wait
from pathlib import Path
from typing import NamedTuple

# before NumPy: a forked process should have no threads
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("SDL_VIDEODRIVER", "dummy")
import tests_path
from cases import CASES, chosen  # noqa: F401

from cypool.envs import FAMILIES


class Run(NamedTuple):
    """Something to compare.

    Attributes:
        group: The name of the output line, such as an id.
        name: Its name within the group. Both identify the run in the results file.
        compare: Compares, and returns its counts.
    """

    group: str
    name: str
    compare: Callable[[], Counter]


def parity(id, **options):
    """Runs `check_parity`; returns a `Counter` of steps, episodes and terminated episodes."""
    from cypool.testing import check_parity

    report = check_parity(id, **options)
    return Counter(steps=report.num_envs * report.num_steps * len(report.seeds), episodes=report.num_episodes,
                   terminated=report.num_terminated)


def parity_runs(ids, **options):
    """Returns a run of `parity` for each id that has a reference."""
    from cypool.envs import family_of
    from cypool.registration.registry import entry_of

    found = []
    for entry in map(entry_of, ids):
        if entry.reference is not None and entry.expand is None:
            family = family_of(entry.entry_point)
            mode = {"autoreset_mode": family.parity_mode} if family else {}
            compare = partial(parity, entry.id, **{"num_threads": 1, **mode, **options})
            found.append(Run(entry.id, str(options), compare))
    return found


def _play(players, seed, id, /, **options):
    with players(seed):
        return parity(id, **options)


def played_runs(cases, players, arguments):
    """Yields a run of `parity` for each case in each autoreset mode; every second case has threads.

    Args:
        cases: Ids with options.
        players: Takes a seed; makes `check_parity` use players instead of random actions.
        arguments: The command-line arguments.
    """
    for number, (id, options) in enumerate(cases):
        for mode in ("NextStep", "SameStep", "Disabled") if chosen([id], arguments.patterns) else ():
            yield Run(id, f"{options} {mode} {arguments.seeds}", partial(
                _play, players, number, id, num_envs=3, num_steps=arguments.num_steps,
                num_threads=2 * (number % 2), seeds=arguments.seeds, autoreset_mode=mode, **options))


def ids_of(family):
    """Returns all ids of a family."""
    return [entry.id for each in FAMILIES if each.name == family for entry in each.entries(("*",))]


def _child(run, connection):
    """Compares in a separate process, and sends the counts, a difference or None, and the bytes printed."""
    # of packages that are compared with
    warnings.simplefilter("ignore")
    seen, difference = Counter(), None
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryFile() as output:
        for number in (1, 2):
            os.dup2(output.fileno(), number)
        # some references write a log to the current folder
        os.chdir(folder)
        try:
            # of NumPy's ints, too
            seen = Counter({name: int(count) for name, count in run.compare().items()})
        except Exception as error:
            difference = f"{type(error).__name__}: {error}"
        os.chdir("/")
        sys.stdout.flush()
        sys.stderr.flush()
        output.seek(0)
        connection.send((seen, difference, output.read()))
    # threads of packages may be left
    os._exit(0)


def _results(runs, jobs):
    """Starts runs, `jobs` at a time; yields them in order, with the messages of their processes."""
    context, runs = multiprocessing.get_context("fork"), iter(runs)
    running, done, waiting = {}, {}, []
    while True:
        while len(running) < jobs and (run := next(runs, None)) is not None:
            ours, theirs = context.Pipe(duplex=False)
            process = context.Process(target=_child, args=(run, theirs))
            process.start()
            theirs.close()
            running[ours] = run, process
            waiting.append(run)
        if not running:
            return
        for connection in wait(list(running)):
            run, process = running.pop(connection)
            try:
                sent = connection.recv()
            except EOFError:
                sent = None
            process.join()
            done[run] = sent or (Counter(), f"its process ended with {process.exitcode}", b"")
        while waiting and waiting[0] in done:
            run = waiting.pop(0)
            yield run, *done.pop(run)


def text_of(counts):
    """Describes all nonzero counts in a phrase."""
    return ", ".join(f"{count:,} {name}" for name, count in counts.items() if count)


def sweep(runs, jobs=1, out=None, is_quiet=False):
    """Executes runs, and prints a line for each group and difference, and a summary; returns the exit status.

    Args:
        runs: Yields the runs.
        jobs: How many to run at a time; 0: only prints the results in the file.
        out: A file of results, one per line. Runs recorded as equal are not repeated.
        is_quiet: Whether printing something counts as a difference.
    """
    began, seen_of, names_of, runs = time.monotonic(), {}, {}, list(runs)
    rows = map(json.loads, out.read_text().splitlines()) if out and out.exists() else ()
    kept = {(row["group"], row["name"]): row for row in rows if row["difference"] is None or not jobs}
    for run in runs:
        names_of.setdefault(run.group, []).append(run.name)
    missing = [run for group in names_of for run in runs if run.group == group and (group, run.name) not in kept]
    for run, seen, difference, printed in _results(missing if jobs else (), jobs):
        if is_quiet and printed and difference is None:
            difference = f"it printed {printed[:300]!r}"
        row = {"group": run.group, "name": run.name, "seen": seen, "difference": difference}
        kept[run.group, run.name] = row
        if out:
            with out.open("a") as file:
                file.write(json.dumps(row) + "\n")
        if difference is not None:
            print(f"differs: {run.group}, {run.name}: {difference}", flush=True)
        if run.name == names_of[run.group][-1]:
            print(f"{run.group}: {_summary(run.group, names_of, kept, seen_of)}", flush=True)
    total, failed = Counter(), 0
    for group in names_of:
        text = _summary(group, names_of, kept, seen_of)
        if out:
            print(f"{group}: {text}")
        total.update(seen_of[group])
        failed += seen_of[group]["differ"]
    if not runs:
        return 0
    groups = {name: sum(bool(seen[name]) for seen in seen_of.values()) for name in total}
    print(", ".join(f"{count:,} {name}" + f" (in {groups[name]} of {len(seen_of)})" * (1 < groups[name] < len(seen_of))
                    for name, count in total.items() if count and name != "differ"),
          f"in {time.monotonic() - began:.0f} s; {failed} runs differ")
    return failed > 0


def _summary(group, names_of, kept, seen_of):
    """Adds up the counts of a group's runs; returns them as text."""
    rows = [kept[group, name] for name in names_of[group] if (group, name) in kept]
    seen_of[group] = seen = Counter(runs=len(rows), differ=sum(row["difference"] is not None for row in rows))
    seen["not done"] = len(names_of[group]) - len(rows)
    for row in rows:
        seen.update(row["seen"])
    return text_of(seen)


def parser(doc, **defaults):
    """Returns a parser for the sweeps' common arguments, with a docstring as its help."""
    made = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    made.add_argument("patterns", nargs="*", help="patterns of group names")
    made.add_argument("--num-steps", type=int)
    made.add_argument("--seeds", type=int, nargs="+")
    made.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)), help="number of parallel processes")
    made.add_argument("--out", type=Path, help="results file to continue; --jobs 0: only show the results")
    made.set_defaults(**{"num_steps": 1000, "seeds": [0], **defaults})
    return made


def sweep_family(name, words):
    """Sweeps a family as `tests/envs/NAME/sweep.py` declares, or else compares its ids; returns the exit status."""
    if not (tests_path.TESTS / "envs" / name / "sweep.py").exists():
        arguments = parser(f"Compares the ids of {name} with their references.").parse_args(words)
        found = parity_runs(chosen(ids_of(name), arguments.patterns), num_envs=1, num_steps=arguments.num_steps,
                            seeds=arguments.seeds)
        if not found:
            sys.exit(f"expected ids of {name} that have a reference, got {' '.join(arguments.patterns) or 'none'}")
        return sweep(found, arguments.jobs, arguments.out)
    module = importlib.import_module(f"envs.{name}.sweep")
    made = parser(module.__doc__, **module.DEFAULTS)
    if hasattr(module, "add_arguments"):
        module.add_arguments(made)
    arguments = made.parse_args(words)
    return sweep(module.runs(arguments), arguments.jobs, arguments.out, getattr(module, "IS_QUIET", False))
