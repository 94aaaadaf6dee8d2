"""The wrapper that counts returns in CleanRL's scripts for EnvPool."""
import numpy as np


class RecordEpisodeStatistics:
    """Passes on attributes that it does not know, as wrappers of classic Gym do."""

    def __init__(self, env):
        self.env = env
        self.num_envs = env.num_envs

    def __getattr__(self, name):
        return getattr(self.env, name)

    def reset(self, **kwargs):
        self.returns = np.zeros(self.num_envs, np.float32)
        return self.env.reset(**kwargs)

    def step(self, action):
        obs, rewards, dones, infos = self.env.step(action)
        self.returns += infos["reward"]
        infos["r"] = self.returns.copy()
        self.returns *= 1 - infos["terminated"]
        return obs, rewards, dones, infos
