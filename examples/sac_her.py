"""SAC with hindsight experience replay on a robot with goals: unchanged Stable-Baselines3 on a pool.

    pip install "cypool[robotics,stable-baselines3]"
    python examples/sac_her.py
    python examples/sac_her.py --env-id FetchPush-v4 --total-timesteps 1000000
    python examples/sac_her.py --reference       # the package's own environments: the same output

The replay buffer asks the pool for the rewards that would have resulted if the goals reached had been the desired ones.
"""
import argparse

import numpy as np
import torch
from stable_baselines3 import SAC, HerReplayBuffer
from stable_baselines3.common.monitor import Monitor
from stable_baselines3.common.vec_env import DummyVecEnv

from cypool.adapters import sb3
from cypool.envs.robotics import reference


def make(arguments, num_envs, seed):
    """Returns a `VecEnv`."""
    if not arguments.reference:
        return sb3.make(arguments.env_id, num_envs=num_envs, seed=seed)
    env = DummyVecEnv([lambda: Monitor(reference.make(arguments.env_id))] * num_envs)
    env.seed(seed)
    return env


def success_rate(model, env, num_episodes=50):
    """Returns the fraction of episodes that end at the goal."""
    obs, successes = env.reset(), []
    while len(successes) < num_episodes:
        actions, _ = model.predict(obs, deterministic=True)
        obs, _, dones, infos = env.step(actions)
        successes += [float(infos[k]["is_success"]) for k in np.flatnonzero(dones)]
    return np.mean(successes)


def main():
    """Trains, and prints the success rate."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--env-id", default="FetchReach-v4")
    parser.add_argument("--num-envs", type=int, default=4)
    parser.add_argument("--total-timesteps", type=int, default=12000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--reference", action="store_true", help="train with a patched gymnasium-robotics instead")
    arguments = parser.parse_args()
    # networks this small gain nothing from more threads
    torch.set_num_threads(1)
    env = make(arguments, arguments.num_envs, arguments.seed)
    test = make(arguments, 10, arguments.seed + 1000)
    model = SAC(
        "MultiInputPolicy", env, replay_buffer_class=HerReplayBuffer,
        replay_buffer_kwargs={"n_sampled_goal": 4, "goal_selection_strategy": "future"},
        # one pool step takes num_envs environment steps, followed by the same number of optimizer steps
        gradient_steps=-1, learning_starts=1000, learning_rate=1e-3, gamma=0.95, tau=0.05, batch_size=256,
        # from its default, 1, it takes long to adapt to these small rewards
        ent_coef="auto_0.05", policy_kwargs={"net_arch": [64, 64]}, seed=arguments.seed, device=arguments.device)
    for _ in range(4):
        model.learn(arguments.total_timesteps // 4, reset_num_timesteps=False)
        print(f"{model.num_timesteps} steps, success in 50 games: {success_rate(model, test):.2f}", flush=True)


if __name__ == "__main__":
    main()
