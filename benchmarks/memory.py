"""Measures what a pool of environments needs: time to make and reset it, memory, file descriptors and mappings.

    python benchmarks/memory.py NetHackScore-v0 --num-envs 1000 --num-steps 50
    python benchmarks/memory.py "procgen-*-v0"
    python benchmarks/memory.py LunarLander-v3 CarRacing-v3 --num-envs 200 --num-steps 0

Each id is measured in a new process that already has two environments. Times are CPU times. Memory is the process's,
including rows of batches, divided by the number of environments; shared pages count in part.
"""
import os
import subprocess
import sys
import time
from pathlib import Path

import psutil
from measuring import chosen, digits, heading, memory_of, parser, row

import cypool


def used():
    """Returns the kilobytes of memory, and the numbers of file descriptors and mappings."""
    mappings = len(Path("/proc/self/maps").read_text().splitlines())
    return memory_of(psutil.Process()), len(os.listdir("/proc/self/fd")), mappings


def measure(id, num_envs, num_steps):
    """Prints the cells of the row for an id."""
    few = cypool.make(id, num_envs=2, num_threads=0, seed=0)
    few.reset()
    before, begin = used(), time.process_time()
    env = cypool.make(id, num_envs=num_envs, num_threads=0, seed=3)
    made = time.process_time()
    env.reset()
    reset, after = time.process_time(), used()
    env.action_space.seed(0)
    for _ in range(num_steps):
        env.step(env.sample_legal())
    last = used()
    print(f"{1e3 * (made - begin):.0f} ms", f"{1e3 * (reset - made):.0f} ms",
          *(digits((each[0] - before[0]) / num_envs) for each in (after, last)),
          last[1] - before[1], digits((last[2] - before[2]) / num_envs), sep="\n")


def main():
    made = parser(__doc__)
    made.add_argument("--num-steps", type=int, default=600)
    arguments = made.parse_args()
    heading("id", "made in", "first reset", "kB of each", f"after {arguments.num_steps} steps", "descriptors",
            "mappings of each")
    for id in chosen(cypool.list_all_envs(), arguments.patterns):
        call = f"measure({id!r}, {arguments.num_envs}, {arguments.num_steps})"
        done = subprocess.run([sys.executable, "-c", f"from memory import measure; {call}"], text=True, check=True,
                              stdout=subprocess.PIPE, cwd=Path(__file__).parent)
        row(f"`{id}`", *done.stdout.splitlines()[-6:])


if __name__ == "__main__":
    main()
