"""An environment of Gymnasium with many infos."""
import gymnasium
import numpy as np


class Chatty(gymnasium.Wrapper):
    """Reports infos that change from step to step, as environments do."""

    gain = 1.0

    def reset(self, **kwargs):
        self.steps = 0
        obs, info = self.env.reset(**kwargs)
        return obs, {**info, "steps": 0, "start": {"obs": obs.copy(), "kind": {"name": "fresh"}},
                     "options": kwargs.get("options")}

    def step(self, action):
        obs, reward, terminated, truncated, info = self.env.step(action)
        self.steps += 1
        info["steps"] = self.steps
        if self.steps % 3 == 0:
            info["third"] = {"steps": self.steps, "float": np.float32(self.steps), "text": "so it is", "none": None}
        if self.steps % 4 == 0:
            info["sizes"] = np.arange(self.steps)
            info["_hidden"] = [self.steps]
        return obs, reward, terminated, truncated, info

    def times(self, factor, plus=0):
        return self.gain * factor + plus

    def divided(self, by):
        return self.gain / by
