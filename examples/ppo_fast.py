"""PPO in one file that collects while it learns, on a CPU: pip install torch, then python examples/ppo_fast.py

    python examples/ppo_fast.py --env-id CartPole-v1 --seeds 0 1 2
    python examples/ppo_fast.py --env-id LunarLander-v3 --seeds 0 1 2
    python examples/ppo_fast.py --env-id MiniGrid-DoorKey-8x8-v0 --seeds 0 1 2

The engine collects: `cypool.MLP` draws the actions of a whole rollout, and returns log-probabilities and values. Torch
learns from the rollout before, on the other core: rollouts are by the policy of one update ago, as their
log-probabilities say. It stops where the mean return of the last episodes reaches the goal. Writes a CSV file with a row
for each rollout.
"""
import argparse
import csv
import math
import time
from collections import deque
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import torch
from torch import nn

import cypool

# what is solved, and settings that solve it fast
SETTINGS = {
    "CartPole-v1": {"goal": 475, "num_envs": 16, "num_steps": 32, "gamma": 0.98, "learning_rate": 2e-3,
                    "update_epochs": 6, "minibatch_size": 256, "total_timesteps": 150_000},
    "LunarLander-v3": {"goal": 200, "num_envs": 16, "num_steps": 256, "gamma": 0.995, "learning_rate": 1e-3,
                       "update_epochs": 4, "minibatch_size": 128, "normalize": True, "total_timesteps": 600_000},
    "MiniGrid-DoorKey-8x8-v0": {"goal": 0.9, "num_envs": 64, "num_steps": 128, "learning_rate": 1e-3,
                                "update_epochs": 4, "minibatch_size": 1024, "total_timesteps": 1_500_000},
}
