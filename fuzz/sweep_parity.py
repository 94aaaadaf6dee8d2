"""Steps environments whose ids match a pattern and their references, on all cores, and compares everything.

    python fuzz/sweep_parity.py "*-v4" "*-v5" --num-steps 10000 --seeds 0 1 2
    python fuzz/sweep_parity.py "Ant-v5" --option action_dtype=float64

Ids without a reference are left out. Exits with 1 if any of the others differs.
"""
import sys

from sweeping import chosen, parity_runs, parser, sweep

import cypool
from cypool.tools.cli.console import options_of

if __name__ == "__main__":
    made = parser(__doc__, num_steps=10_000, seeds=[0, 1, 2])
    made.add_argument("--num-envs", type=int, default=1)
    made.add_argument("--option", action="append", default=[], metavar="NAME=VALUE")
    given = made.parse_args()
    found = parity_runs(chosen(cypool.list_all_envs(), given.patterns), num_envs=given.num_envs,
                        num_steps=given.num_steps, seeds=given.seeds, **options_of(given.option))
    if not found:
        made.error(f"expected patterns of ids that have a reference, got {' '.join(given.patterns)}")
    sys.exit(sweep(found, given.jobs, given.out))
