"""Measures MiniGrid and BabyAI next to minigrid and EnvPool: steps per second of CPU time, on one thread.

    pip install envpool==1.2.5 minigrid==3.2.0
    python tests/sweeps/measure_minigrid.py

Called from Python, with infos and resets, 1024 environments (minigrid: 16 in a SyncVectorEnv). The candidates take
turns in rounds. Prints the rows of a table in Markdown, with the median of the rounds and the load of the machine.
"""
import argparse
import os
import statistics
import time
import warnings

import numpy as np

import cypool
from cypool.envs.minigrid.reference import make_reference

IDS = [("MiniGrid-DoorKey-8x8-v0", {}), ("MiniGrid-MultiRoom-N6-v0", {}), ("BabyAI-GoToLocal-v0", {}),
       ("BabyAI-BossLevel-v0", {}), ("MiniGrid-DoorKey-8x8-v0", {"obs_type": "rgb"}),
       ("MiniGrid-DoorKey-8x8-v0", {"obs_type": "rgb_partial"}), ("BabyAI-BossLevel-v0", {"obs_type": "rgb_partial"})]
NUM_ENVS, NUM_REFERENCES = 1024, 16


def rate(env, actions, seconds):
    """Returns steps of environments per second of CPU time of the process."""
    steps, begin = 0, time.process_time()
    while True:
        for each in actions:
            env.step(each)
        steps += actions.size
        spent = time.process_time() - begin
        if spent > seconds:
            return steps / spent


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=1.0, help="of a round")
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    try:
        import envpool
    except ImportError:
        envpool = None
    print("| id | cypool | EnvPool 1.2.5 | minigrid 3.2.0 | ratios |\n| --- | --: | --: | --: | --: |")
    chance = np.random.default_rng(0)
    for id, options in IDS:
        ours = cypool.make(id, num_envs=NUM_ENVS, num_threads=0, seed=0, **options)
        few = cypool.make(id, num_envs=NUM_REFERENCES, num_threads=0, seed=0, **options)
        theirs = make_reference(few, 0, options)[0]
        candidates = [(ours, NUM_ENVS), (theirs, NUM_REFERENCES)]
        if envpool and not options:
            candidates.append((envpool.make_gymnasium(id, num_envs=NUM_ENVS, num_threads=1, seed=0), NUM_ENVS))
        runs = []
        for env, num in candidates:
            env.reset()
            runs.append((env, chance.integers(0, 7, (4, num))))
        rates = [[rate(*run, arguments.seconds) for run in runs] for _ in range(arguments.rounds)]
        medians = [statistics.median(column) for column in zip(*rates, strict=True)]
        ratios = [statistics.median(row[0] / row[k] for row in rates) for k in range(1, len(runs))]
        name = f"`{id}`" + "".join(f", {value}" for value in options.values())
        other = f"{medians[2]:,.0f}" if len(medians) > 2 else "-"
        text = ", ".join(f"{ratio:,.0f}" for ratio in reversed(ratios))
        print(f"| {name} | {medians[0]:,.0f} | {other} | {medians[1]:,.0f} | {text} |", flush=True)
    print(f"\nload {os.getloadavg()[0]:.1f}, medians of {arguments.rounds} rounds of {arguments.seconds} s")


if __name__ == "__main__":
    main()
