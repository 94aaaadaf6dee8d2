"""Has `cypool.testing.check_env` look at registered ids, all of them or those that patterns name, on all cores.

    python tests/sweeps/sweep_contract.py
    python tests/sweeps/sweep_contract.py "ALE/*" "Vizdoom*-v1"

Ids whose data is not on this machine, such as Doom's own maps, are counted. Ends with 1 if an id breaks the contract.
"""
import fnmatch
import multiprocessing
import os
import sys
import time
from concurrent.futures import ProcessPoolExecutor

import cypool
from cypool.envs import family_of
from cypool.making.registry import entry_of
from cypool.testing import check_env


def check(id):
    """Returns what is wrong with an id: "" for nothing, None if its data is not here."""
    try:
        cypool.make_spec(id)
    except (ValueError, ImportError):
        return None
    entry_point = entry_of(id).entry_point
    family = family_of(entry_point)
    options = family.of_class(family.contract_options, entry_point, {}) if family else {}
    try:
        check_env(id, num_envs=2, num_steps=10, **options)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return ""


def main(patterns):
    ids = [id for id in cypool.list_all_envs() if entry_of(id).expand is None
           and any(fnmatch.fnmatchcase(id, pattern) for pattern in patterns)]
    began = time.monotonic()
    with ProcessPoolExecutor(len(os.sched_getaffinity(0)), multiprocessing.get_context("spawn")) as pool:
        results = dict(zip(ids, pool.map(check, ids), strict=True))
    broken = {id: result for id, result in results.items() if result}
    for id, result in broken.items():
        print(f"{id}: {result}")
    missing = sum(result is None for result in results.values())
    print(f"{len(ids)} ids in {time.monotonic() - began:.0f} s: {len(ids) - missing - len(broken)} keep the contract, "
          f"{len(broken)} do not, {missing} have no data here")
    return bool(broken)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:] or ["*"]))
