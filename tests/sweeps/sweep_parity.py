"""Steps environments and their references, those whose ids match a pattern, on all cores, and compares everything.

    python tests/sweeps/sweep_parity.py "*-v4" "*-v5" --num-steps 10000 --seeds 0 1 2
    python tests/sweeps/sweep_parity.py "Ant-v5" --option action_dtype=float64

Ids without a reference are left out. Ends with 1 if one of the others differs.
"""
import argparse
import ast
import fnmatch
import functools
import multiprocessing
import os
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor

import cypool
from cypool.envs import family_of
from cypool.testing import check_parity
from cypool.testing.parity import entry_of


def check(id, **arguments):
    """Returns what differs: "" for nothing."""
    # some references write a log to the current folder
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            family = family_of(entry_of(id).entry_point)
            mode = family.parity_mode if family else "NextStep"
            check_parity(id, num_threads=1, autoreset_mode=mode, **arguments)
        except Exception as error:
            return f"{type(error).__name__}: {error}"
        finally:
            os.chdir("/")
    return ""


def option(text):
    """Splits `name=value`; a value that is no Python literal is a str."""
    name, _, value = text.partition("=")
    try:
        return name, ast.literal_eval(value)
    except (ValueError, SyntaxError):
        return name, value


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("patterns", nargs="+", metavar="PATTERN")
    parser.add_argument("--num-steps", type=int, default=10_000)
    parser.add_argument("--num-envs", type=int, default=1)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--option", type=option, action="append", default=[], metavar="NAME=VALUE")
    given = parser.parse_args()
    ids = [id for id in cypool.list_all_envs() if entry_of(id).reference is not None and entry_of(id).expand is None
           and any(fnmatch.fnmatchcase(id, pattern) for pattern in given.patterns)]
    if not ids:
        parser.error(f"expected patterns of ids that have a reference, got {' '.join(given.patterns)}")
    run = functools.partial(check, num_steps=given.num_steps, num_envs=given.num_envs, seeds=given.seeds,
                            **dict(given.option))
    began, broken = time.monotonic(), 0
    with ProcessPoolExecutor(len(os.sched_getaffinity(0)), multiprocessing.get_context("spawn")) as pool:
        for id, result in zip(ids, pool.map(run, ids), strict=True):
            print(f"{id}: {result or 'equal'}", flush=True)
            broken += bool(result)
    print(f"{len(ids)} ids, {given.num_steps} steps of {given.num_envs} for each of {len(given.seeds)} seeds, in "
          f"{time.monotonic() - began:.0f} s: {len(ids) - broken} equal, {broken} not")
    return bool(broken)


if __name__ == "__main__":
    sys.exit(main())
