"""Compares Gymnasium-Robotics with gymnasium-robotics: all ids, both dtypes of actions, through resets.

    python tests/sweeps/sweep_robotics.py [PATTERN ...] [--num-steps 110] [--seeds 0 1]

Takes gymnasium-robotics. Prints the number of steps that were compared. Ends with 1 if one differs.
"""
import argparse
import fnmatch
import sys
import warnings

from cypool.making.registry import known_entries
from cypool.testing import ParityError, check_parity

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("patterns", nargs="*", default=["*"])
parser.add_argument("--num-steps", type=int, default=110)
parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1])
arguments = parser.parse_args()
warnings.simplefilter("ignore")

steps = episodes = differences = 0
ids = [entry.id for entry in known_entries() if entry.entry_point.startswith("cypool.envs.robotics.")
       and any(fnmatch.fnmatch(entry.id, pattern) for pattern in arguments.patterns)]
for id in ids:
    for seed in arguments.seeds:
        # resets within each run
        options = {"action_dtype": "float32" if seed % 2 == 0 else "float64",
                   "max_episode_steps": arguments.num_steps // 2 + seed}
        try:
            parity = check_parity(id, num_envs=1, num_steps=arguments.num_steps, seeds=[seed], num_threads=0, **options)
        except ParityError as error:
            differences += 1
            print(error, flush=True)
            continue
        steps += parity.num_steps
        episodes += parity.num_episodes
print(f"{len(ids)} ids, {steps} steps, {episodes} episodes, {differences} differences")
sys.exit(differences > 0)
