"""Measures RLlib's sampling: its own runner of Gymnasium's environments, and `PoolEnvRunner`.

    python tests/sweeps/measure_rllib.py

CPU time of one environment runner in this process, torch with one thread. The network is PPO's default one, or for the
last rows that of Mnih et al. (2015), which is smaller. The candidates take turns in rounds. Prints a table in Markdown
with medians, and which part of the time the network takes.
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
from ray.rllib.core.rl_module.default_model_config import DefaultModelConfig
from ray.rllib.env.single_agent_env_runner import SingleAgentEnvRunner
from ray.rllib.env.wrappers.atari_wrappers import wrap_atari_for_new_api_stack
from ray.tune.registry import register_env

from cypool.adapters import rllib

NATURE = {"conv_filters": [[32, 8, 4], [64, 4, 2], [64, 3, 1]], "head_fcnet_hiddens": [512],
          "head_fcnet_activation": "relu"}
ATARI = {"id": "Pong-v5", "noop_max": 30, "episodic_life": True, "use_fire_reset": True}


def make_pong(config):
    gymnasium.register_envs(ale_py)
    env = gymnasium.make("ale_py:ALE/Pong-v5", frameskip=1, repeat_action_probability=0)
    return wrap_atari_for_new_api_stack(env, dim=84, framestack=4)


def runner_of(cls, env, env_config, mode, num_envs, model=None):
    config = (PPOConfig().environment(env, env_config=env_config)
              .env_runners(num_env_runners=0, num_envs_per_env_runner=num_envs, env_runner_cls=cls,
                           gym_env_vectorize_mode=mode)
              .debugging(seed=0, log_level="ERROR"))
    if model is not None:
        config.rl_module(model_config=DefaultModelConfig(**model))
    return cls(config=config, worker_index=0)


class Clock:
    """The CPU time that the network of a runner takes."""

    def __init__(self, runner):
        self.seconds, self._forward = 0.0, runner.module.forward_exploration
        runner.module.forward_exploration = self

    def __call__(self, *args, **kwargs):
        begin = time.process_time()
        result = self._forward(*args, **kwargs)
        self.seconds += time.process_time() - begin
        return result


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
    print("| environment | envs | RLlib with Gymnasium, samples/s | RLlib's runner, a pool | PoolEnvRunner | ratio "
          "| network, of Gymnasium's time | of PoolEnvRunner's |")
    print("| --- | --: | --: | --: | --: | --: | --: | --: |")
    for name, num_envs, env, config, num_timesteps, model in (
            ("CartPole-v1", 8, "cartpole", {"id": "CartPole-v1"}, 4096, None),
            ("CartPole-v1", 64, "cartpole", {"id": "CartPole-v1"}, 8192, None),
            ("Pong", 8, "pong", ATARI, 512, None), ("Pong", 64, "pong", ATARI, 1024, None),
            ("Pong, small network", 8, "pong", ATARI, 512, NATURE),
            ("Pong, small network", 64, "pong", ATARI, 1024, NATURE)):
        runners = [runner_of(SingleAgentEnvRunner, env, {}, "sync", num_envs, model),
                   *(runner_of(cls, "cypool", {**config, "num_threads": 0}, "vector_entry_point", num_envs, model)
                     for cls in (SingleAgentEnvRunner, rllib.PoolEnvRunner))]
        clocks = [Clock(runner) for runner in runners]
        rates, shares = [[] for _ in runners], [[] for _ in runners]
        for turn in range(given.rounds + 1):
            for runner, clock, mine, share in zip(runners, clocks, rates, shares, strict=True):
                clock.seconds, begin = 0.0, time.process_time()
                episodes = runner.sample(num_timesteps=num_timesteps, explore=True)
                seconds = time.process_time() - begin
                if turn > 0:
                    mine.append(sum(map(len, episodes)) / seconds)
                    share.append(clock.seconds / seconds)
        medians = [statistics.median(each) for each in rates]
        print(f"| {name} | {num_envs} | " + " | ".join(f"{rate:,.0f}" for rate in medians)
              + f" | {medians[2] / medians[0]:.2f} | "
              + " | ".join(f"{statistics.median(each):.0%}" for each in (shares[0], shares[2])) + " |", flush=True)
        for runner in runners:
            runner.stop()


if __name__ == "__main__":
    main()
