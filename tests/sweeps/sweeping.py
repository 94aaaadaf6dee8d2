"""The common part of the sweeps over all Atari games: a process for each game, and results that outlive them."""
import argparse
import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from cypool.envs.atari import roms


def results(path):
    """Returns the rows of a file, the last of each run."""
    if not path.exists():
        return []
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    return list({row["run"]: row for row in rows}.values())


def sweep(script, description, out, add_arguments, runs_of, run, summary, instead=None):
    """Does what the command line says: runs what is not in the file yet, game by game, and prints a summary.

    Args:
        script: The caller's `__file__`.
        description: For `--help`.
        out: The default for `--out`.
        add_arguments: Called with the parser.
        runs_of: Called with (arguments, game); returns its runs, each with what identifies it, a str.
        run: Called with one of them; returns its row without "run" and "task". "difference": None if there is none.
        summary: Called with all rows; returns a text.
        instead: Called with the arguments; if it returns True, that was all.
    """
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--out", type=Path, default=Path(out), help="the file of results")
    parser.add_argument("--jobs", type=int, default=2, help="games at a time; 0: only say what the file has")
    parser.add_argument("--games", nargs="+", choices=roms.TASKS, default=roms.TASKS, metavar="GAME")
    parser.add_argument("--scale", type=float, default=1, help="how many times as many steps")
    parser.add_argument("--alone", choices=roms.TASKS, help=argparse.SUPPRESS)
    add_arguments(parser)
    arguments = parser.parse_args()
    if instead and instead(arguments):
        return
    if arguments.alone:
        done = {row["run"] for row in results(arguments.out) if row["difference"] is None}
        for text, what in runs_of(arguments, arguments.alone):
            if text not in done:
                print(json.dumps({"task": arguments.alone, "run": text, **run(what)}), flush=True)
        return

    # a process of its own for each game: it may die
    def child(task):
        command = [sys.executable, script, *sys.argv[1:], "--alone", task]
        done = subprocess.run(command, capture_output=True, text=True)
        return done.stdout, f": ended with {done.returncode}: {done.stderr[-500:]}" if done.returncode else ""

    if arguments.jobs:
        with ThreadPoolExecutor(arguments.jobs) as pool:
            children = pool.map(child, arguments.games)
            for k, (task, (lines, died)) in enumerate(zip(arguments.games, children, strict=True)):
                with arguments.out.open("a") as file:
                    file.write(lines)
                print(f"{k + 1} of {len(arguments.games)}: {task}{died}", file=sys.stderr, flush=True)
    rows = results(arguments.out)
    print(summary(rows))
    wanted = {text for task in arguments.games for text, _ in runs_of(arguments, task)}
    print(f"not done: {len(wanted - {row['run'] for row in rows})} of {len(wanted)} runs")
