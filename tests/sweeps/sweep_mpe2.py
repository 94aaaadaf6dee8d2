"""Compares MPE2 with mpe2, exactly: all ids with 66 sets of options in three autoreset modes.

    python tests/sweeps/sweep_mpe2.py                                # 10 minutes
    python tests/sweeps/sweep_mpe2.py "*tag*" --num-steps 200 --seeds 5 6

Compares observations, rewards and ends of agents and environments, and random streams. Players go for each other, leave
the picture and succeed. Every second set of options plays with threads. Ends with 1 if there is a difference.
"""
import argparse
import sys
import warnings
from fnmatch import fnmatch

from mpe2_play import VARIANTS, players

from cypool.testing import check_parity

MODES = ("NextStep", "SameStep", "Disabled")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pattern", nargs="?", default="*", help="of ids, without mpe2/")
    parser.add_argument("--num-steps", type=int, default=150)
    parser.add_argument("--num-envs", type=int, default=3)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0])
    arguments = parser.parse_args()
    # gymnasium's and pettingzoo's, of float64 actions and the like
    warnings.simplefilter("ignore")
    steps = episodes = terminated = failed = 0
    for id, variants in VARIANTS.items():
        for number, options in enumerate(variants if fnmatch(id, arguments.pattern) else ()):
            for mode in MODES:
                try:
                    with players(number):
                        parity = check_parity(
                            f"mpe2/{id}", num_envs=arguments.num_envs, num_steps=arguments.num_steps,
                            seeds=arguments.seeds, autoreset_mode=mode, num_threads=2 * (number % 2), **options)
                except AssertionError as error:
                    print("differs:", error, flush=True)
                    failed += 1
                    continue
                steps += parity.num_envs * parity.num_steps * len(parity.seeds)
                episodes += parity.num_episodes
                terminated += parity.num_terminated
        print(f"{id}: so far {steps:,} steps, {episodes:,} episodes, {terminated:,} terminated, {failed} runs differ",
              flush=True)
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
