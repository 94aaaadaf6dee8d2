"""Measures RLlib's sampling: its own runner with Gymnasium's environments, and `PoolEnvRunner`.

    python benchmarks/rllib.py --per-second

Samples with one environment runner in this process, with one torch thread. The network is PPO's default or, in the last
rows, the smaller one of Mnih et al. (2015). "cypool" is `PoolEnvRunner`, and "a pool" is RLlib's own runner with a
pool. With `--table network`, only the network is timed.
"""
import logging
import time

import ale_py
import gymnasium
import torch
from measuring import Table, chosen, parser, show
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


def samples_of(runner, num_timesteps, of_network):
    """Returns a candidate that samples, or that times only the network's share."""
    seconds, forward = 0.0, runner.module.forward_exploration

    def timed(*args, **kwargs):
        nonlocal seconds
        begin = time.process_time()
        result = forward(*args, **kwargs)
        seconds += time.process_time() - begin
        return result

    runner.module.forward_exploration = timed

    def run():
        before = seconds
        steps = sum(map(len, runner.sample(num_timesteps=num_timesteps, explore=True)))
        return (steps, seconds - before) if of_network else steps

    return run


# name, environments, RLlib's environment, cypool's, steps, and the network
ROWS = [("CartPole-v1", 8, "cartpole", {"id": "CartPole-v1"}, 4096, None),
        ("CartPole-v1", 64, "cartpole", {"id": "CartPole-v1"}, 8192, None),
        ("Pong", 8, "pong", ATARI, 512, None), ("Pong", 64, "pong", ATARI, 1024, None),
        ("Pong, small network", 8, "pong", ATARI, 512, NATURE),
        ("Pong, small network", 64, "pong", ATARI, 1024, NATURE)]


def table(of_network):
    def rows(arguments):
        for name, num_envs, env, config, num_timesteps, model in ROWS:
            if not chosen([name], arguments.patterns):
                continue
            ours = {**config, "num_threads": arguments.num_threads}
            runners = {
                "cypool": runner_of(rllib.PoolEnvRunner, "cypool", ours, "vector_entry_point", num_envs, model),
                "Gymnasium": runner_of(SingleAgentEnvRunner, env, {}, "sync", num_envs, model),
                "a pool": runner_of(SingleAgentEnvRunner, "cypool", ours, "vector_entry_point", num_envs, model)}
            yield f"{name}, {num_envs}", {each: samples_of(runner, num_timesteps, of_network)
                                          for each, runner in runners.items()}
            for runner in runners.values():
                runner.stop()

    return Table(rows, ("cypool", "Gymnasium", "a pool"))


if __name__ == "__main__":
    logging.disable(logging.WARNING)
    torch.set_num_threads(1)
    rllib.register()
    register_env("pong", make_pong)
    register_env("cartpole", lambda config: gymnasium.make("CartPole-v1"))
    show({"samples": table(False), "network": table(True)}, parser(__doc__, rounds=3, seconds=0.0))
