"""Measures the overhead of a cluster on one machine: rollouts through Ray, compared with the same pools without Ray.

    python benchmarks/cluster_overhead.py

Three candidates take turns, in rounds A B C, C B A, ...; the result is the median ratio over rounds:

  * pools: a process for each worker with the same pool, policy and number of threads; no data leaves it, so this is a
    lower bound.
  * one pool: all environments in this process, with as many threads as all workers together.
  * cluster: `ClusterEnv.rollout`, which delivers arrays of all environments to this process.
"""
import argparse
import multiprocessing
import statistics
import sys

from measuring import repeated, take_turns

from cypool.cluster import ClusterEnv, MLPPolicy, Never
from cypool.cluster.worker import Worker
from cypool.engine import cpus


class Glance(MLPPolicy):
    """Looks at only every twelfth pixel of the newest screen, so that the environments take most of the time."""

    def features(self, obs):
        if obs.ndim == 4:
            obs = obs[:, -1, ::12, ::12]
        return super().features(obs)


def recipe(args, num_envs, seed, num_threads):
    return {"id": args.env, "num_envs": num_envs, "seed": [seed + i for i in range(num_envs)],
            "autoreset_mode": "NextStep", "num_threads": num_threads}


def roll(pipe, args, w, num_threads):
    """Runs as a process of "pools"."""
    worker = Worker()
    incarnation, _ = worker.start(recipe(args, args.envs, w * args.envs, num_threads), Glance(args.env, scale=1 / 255))
    worker.reset(incarnation)
    pipe.send(None)
    for steps in iter(pipe.recv, None):
        worker.rollout(incarnation, steps)
        pipe.send(None)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add = parser.add_argument
    add("--env", default="Pong-v5", help="default: %(default)s")
    add("--workers", type=int, default=min(2, cpus.available()), help="default: %(default)s")
    add("--envs", type=int, default=32, help="environments per worker (default: %(default)s)")
    add("--steps", type=int, default=128, help="steps per rollout (default: %(default)s)")
    add("--rounds", type=int, default=9, help="default: %(default)s")
    args = parser.parse_args()
    if args.rounds < 2:
        parser.error(f"--rounds: expected at least 2, got {args.rounds}")
    threads = max(1, cpus.available() // args.workers)
    policy = Glance(args.env, scale=1 / 255)

    # not forked: Ray has threads by then
    context = multiprocessing.get_context("spawn")
    pipes, processes = [], []
    for w in range(args.workers):
        ours, theirs = context.Pipe()
        processes.append(context.Process(target=roll, args=(theirs, args, w, threads), daemon=True))
        processes[-1].start()
        pipes.append(ours)
    for pipe in pipes:
        pipe.recv()
    single = Worker()
    incarnation, _ = single.start(recipe(args, args.workers * args.envs, 0, args.workers * threads), policy)
    single.reset(incarnation)
    env = ClusterEnv(args.env, args.workers, args.envs, policy=policy, sync=Never(), seed=0, num_threads=threads,
                     cpus_per_worker=threads)
    env.reset()
    filled = None

    def pools():
        for pipe in pipes:
            pipe.send(args.steps)
        for pipe in pipes:
            pipe.recv()

    def cluster():
        nonlocal filled
        filled = env.rollout(args.steps, out=filled)

    steps = args.steps * args.workers * args.envs
    calls = {"pools": pools, "one pool": lambda: single.rollout(incarnation, args.steps), "cluster": cluster}
    candidates = {name: repeated(call, steps=steps) for name, call in calls.items()}
    # for memory that has never been touched
    take_turns(candidates, 3, clocks=("wall",))
    samples = take_turns(candidates, args.rounds, clocks=("wall",))
    env.close()
    for pipe in pipes:
        pipe.send(None)
    for process in processes:
        process.join()

    moved = sum(array.nbytes for array in filled.buffers.values())
    print(f"{args.env}, {args.workers} workers of {args.envs} environments, {threads} threads each, "
          f"{args.steps} steps: {moved / 1e6:.0f} MB a rollout, {moved / steps:,.0f} bytes a step")
    for name in candidates:
        taken = samples.median(name, "wall")
        lower, median, upper = statistics.quantiles(samples.ratios(name, "pools", "wall"), n=4, method="inclusive")
        print(f"{name:9} {taken * steps:7.3f} s a rollout {1 / taken:9,.0f} steps/s   "
              f"times pools: {median:.3f} ({lower:.3f}..{upper:.3f})")


if __name__ == "__main__":
    sys.exit(main())
