"""Runs `cypool.testing.check_env` on all registered ids, or on those that match patterns, using all cores.

    python fuzz/sweep_contract.py
    python fuzz/sweep_contract.py "ALE/*" "Vizdoom*-v1"

Ids whose data is missing on this machine, such as Doom's own maps, are counted. Exits with 1 if an id breaks the
contract.
"""
import functools
import sys
from collections import Counter

from sweeping import CASES, Run, chosen, parser, sweep

import cypool
from cypool.envs import family_of
from cypool.registration.registry import entry_of
from cypool.testing import check_env


def check(id, num_steps):
    """Returns whether an id's data is here; raises if it breaks the contract."""
    try:
        cypool.make_spec(id)
    except (ValueError, ImportError):
        return Counter({"without data": 1})
    entry_point = entry_of(id).entry_point
    family = family_of(entry_point)
    options = family.of_class(CASES[family.name].contract_options, entry_point, {}) if family else {}
    check_env(id, num_envs=2, num_steps=num_steps, **options)
    return Counter({"keep the contract": 1})


if __name__ == "__main__":
    given = parser(__doc__, num_steps=10).parse_args()
    ids = [id for id in chosen(cypool.list_all_envs(), given.patterns) if entry_of(id).expand is None]
    sys.exit(sweep([Run(id, "", functools.partial(check, id, given.num_steps)) for id in ids], given.jobs, given.out))
