"""Measures RLlib's sampling: its own runner of Gymnasium's environments, and `PoolEnvRunner`.

    python tests/sweeps/measure_rllib.py

CPU time of one environment runner in this process, PPO's default network, torch with one thread. The candidates take
turns in rounds. Prints a table in Markdown with medians.
"""
import argparse
import logging
import statistics
import time
import warnings

import ale_py
import gymnasium
import torch
from ray.rllib.algorithms.ppo import PPOConfig
from ray.rllib.env.single_agent_env_runner import SingleAgentEnvRunner
from ray.rllib.env.wrappers.atari_wrappers import wrap_atari_for_new_api_stack
from ray.tune.registry import register_env

from cypool.adapters import rllib

ATARI = {"id": "Pong-v5", "noop_max": 30, "episodic_life": True, "use_fire_reset": True}


def make_pong(config):
    gymnasium.register_envs(ale_py)
    env = gymnasium.make("ale_py:ALE/Pong-v5", frameskip=1, repeat_action_probability=0)
    return wrap_atari_for_new_api_stack(env, dim=84, framestack=4)


def runner_of(cls, env, env_config, mode, num_envs):
    config = (PPOConfig().environment(env, env_config=env_config)
              .env_runners(num_env_runners=0, num_envs_per_env_runner=num_envs, env_runner_cls=cls,
                           gym_env_vectorize_mode=mode)
              .debugging(seed=0, log_level="ERROR"))
    return cls(config=config, worker_index=0)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    logging.disable(logging.WARNING)
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    rllib.register()
    register_env("pong", make_pong)
    register_env("cartpole", lambda config: gymnasium.make("CartPole-v1"))
    print("| environment | envs | RLlib with Gymnasium, samples/s | RLlib's runner, a pool | PoolEnvRunner | ratio |")
    print("| --- | --: | --: | --: | --: | --: |")
    for name, num_envs, env, config, num_timesteps in (
            ("CartPole-v1", 8, "cartpole", {"id": "CartPole-v1"}, 4096),
            ("CartPole-v1", 64, "cartpole", {"id": "CartPole-v1"}, 8192),
            ("Pong", 8, "pong", ATARI, 512), ("Pong", 64, "pong", ATARI, 1024)):
        runners = [runner_of(SingleAgentEnvRunner, env, {}, "sync", num_envs),
                   *(runner_of(cls, "cypool", {**config, "num_threads": 0}, "vector_entry_point", num_envs)
                     for cls in (SingleAgentEnvRunner, rllib.PoolEnvRunner))]
        rates = [[] for _ in runners]
        for turn in range(given.rounds + 1):
            for runner, mine in zip(runners, rates, strict=True):
                begin = time.process_time()
                episodes = runner.sample(num_timesteps=num_timesteps, explore=True)
                if turn > 0:
                    mine.append(sum(map(len, episodes)) / (time.process_time() - begin))
        medians = [statistics.median(each) for each in rates]
        print(f"| {name} | {num_envs} | " + " | ".join(f"{rate:,.0f}" for rate in medians)
              + f" | {medians[2] / medians[0]:.2f} |", flush=True)
        for runner in runners:
            runner.stop()


if __name__ == "__main__":
    main()
