"""One SAC agent for the ten tasks of Meta-World's MT10: Stable-Baselines3 on a pool with an environment for each task.

    pip install "cypool[stable-baselines3,metaworld]" && python examples/multi_task_sac.py

Each output line is an evaluation on goals drawn with a different seed: total steps, seconds, and how often each task
was solved. A table of the tasks follows at the end.
"""
import argparse
import time

import numpy as np
import torch
from stable_baselines3 import SAC

import cypool
from cypool.adapters import sb3
from cypool.envs.metaworld.evaluation import evaluate


class Agent:
    """Acts without noise, with the interface that `evaluate` expects."""

    def __init__(self, model):
        self.model = model

    def eval_action(self, observations):
        return self.model.predict(observations, deterministic=True)[0]

    def reset(self, env_mask):
        """Does nothing, because the agent has no memory."""


def main():
    """Trains, and prints how often each task is solved."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--env-id", default="Meta-World/MT10")
    parser.add_argument("--total-timesteps", type=int, default=500_000)
    parser.add_argument("--evaluations", type=int, default=5)
    parser.add_argument("--episodes", type=int, default=10, help="episodes per task in an evaluation")
    parser.add_argument("--max-episode-steps", type=int, default=200)
    parser.add_argument("--batch-size", type=int, default=512)
    parser.add_argument("--num-threads", type=int, default=1)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--device", default="cpu")
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.num_threads)
    # the agent observes which task it is in
    options = {"use_one_hot": True, "max_episode_steps": arguments.max_episode_steps,
               "num_threads": arguments.num_threads}
    env = sb3.make(arguments.env_id, seed=arguments.seed, **options)
    test = cypool.make(arguments.env_id, seed=arguments.seed + 1000, autoreset_mode="SameStep", **options)
    test.reset()
    model = SAC("MlpPolicy", env, learning_rate=1e-3, batch_size=arguments.batch_size, learning_starts=5_000,
                policy_kwargs={"net_arch": [256, 256]}, seed=arguments.seed, device=arguments.device)
    began = time.perf_counter()
    for _ in range(arguments.evaluations):
        model.learn(arguments.total_timesteps // arguments.evaluations, reset_num_timesteps=False)
        seconds = time.perf_counter() - began
        found = evaluate(Agent(model), test, arguments.episodes)
        rates = " ".join(f"{rate:.2f}" for rate in found.success_rate.values())
        print(f"{model.num_timesteps} steps, {seconds:.0f} s: {found.mean_success_rate:.2f} ({rates})", flush=True)
    for task, rate in found.success_rate.items():
        print(f"{task:24} {rate:5.2f} {np.mean(found.returns[task]):8.1f}")


if __name__ == "__main__":
    main()
