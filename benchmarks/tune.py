"""Compares the choice of `cypool tune` with the best of an exhaustive sweep, on five ids.

    python benchmarks/tune.py

Every setting that `tune` may choose is measured five times, in turns; then its choice and the sweep's best are measured
again, in turns. Prints a line for each id and goal; exits with 1 if a choice is more than 10 % slower than the best.
"""
import argparse
import sys
from functools import partial

from measuring import take_turns

import cypool
from cypool.engine import cpus
from cypool.tools import tuning

IDS = "CartPole-v1", "FrozenLake-v1", "Pong-v5", "HalfCheetah-v5", "Blackjack-v1"


def speeds(id, settings, rounds, seconds, learner_seconds):
    def cost(setting):
        with cypool.make(id, **setting._asdict(), seed=0) as env:
            return 1, 1 / tuning.speed(tuning.stepping(env, setting, learner_seconds), seconds, learner_seconds)

    samples = take_turns({setting: partial(cost, setting) for setting in settings}, rounds)
    return {setting: 1 / samples.median(setting) for setting in settings}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ids", default=",".join(IDS))
    parser.add_argument("--max-envs", type=int, default=64)
    parser.add_argument("--goals", default="sync,async,learner")
    parser.add_argument("--learner-ms", type=float, default=5.0, help="time per batch, for the goal learner")
    args = parser.parse_args()
    worst = 1.0
    for id in args.ids.split(","):
        for goal in args.goals.split(","):
            arguments = {"cpus": cpus.available(), "max_envs": args.max_envs}
            learner = args.learner_ms / 1000 if goal == "learner" else 0.0
            chosen = tuning.tune(id, goal, **arguments, learner_seconds=learner, options={},
                                 progress=lambda *_: None)[0].setting
            swept = speeds(id, tuning.candidates(goal, **arguments), 5, 0.1, learner)
            best = max(swept, key=swept.get)
            last = speeds(id, list(dict.fromkeys([chosen, best])), 9, 0.3, learner)
            worst = min(worst, last[chosen] / last[best])
            print(f"{id} {goal}: {last[chosen] / last[best]:.3f} of the best; chosen {tuple(chosen)}, "
                  f"best {tuple(best)}, {last[best]:,.0f} steps/s", flush=True)
    return worst < 0.9


if __name__ == "__main__":
    sys.exit(main())
