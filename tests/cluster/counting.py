"""A module that a worker has to import: it registers an id, and has an environment of Gymnasium that raises."""
import gymnasium
import numpy as np
from gymnasium import spaces

import cypool

cypool.register("counting/Pole-v0", "cypool.envs.classic_control.classic_control:CartPole", max_episode_steps=3)


class Counting(gymnasium.Env):
    """Observes how many steps it has done, in a dict; action 1 raises."""

    observation_space = spaces.Dict({"count": spaces.Box(0, 100, (2,)), "half": spaces.Box(0, 50, ())})
    action_space = spaces.Discrete(2)

    def _seen(self):
        return {"count": np.full(2, self.count, np.float32), "half": np.float32(self.count / 2)}

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.count = 0
        return self._seen(), {"note": {"name": "began"}}

    def step(self, action):
        if action == 1:
            raise ValueError("raised in step")
        self.count += 1
        return self._seen(), 1.0, False, False, {"bytes": np.arange(3, dtype=np.uint8)}
