"""Environments of Gymnasium for several files. Workers can import this module, so states and infos pickle in them."""
import os
import signal
import subprocess
import threading
import time

import gymnasium
import numpy as np
from gymnasium import spaces

GO, RAISE, EXIT, HANG, RAISE_NEXT_RESET, TELL_NONSENSE, GRANDCHILD = range(7)


class Trouble(gymnasium.Env):
    """Counts its steps; the action chooses a failure."""

    observation_space = spaces.Box(0, 1000, (2,), np.int64)
    action_space = spaces.Discrete(7)
    fail_reset = False

    def __init__(self, number=0):
        self.number = number
        self.count = 0

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        if self.fail_reset:
            self.fail_reset = False
            raise OSError("no reset today")
        self.count = 0
        return np.array([0, self.number]), {}

    def step(self, action):
        self.count += 1
        if action == RAISE:
            self.raise_deep_down()
        elif action == EXIT:
            os._exit(3)
        elif action == HANG:
            threading.Event().wait()
        elif action == GRANDCHILD:
            subprocess.Popen(["sleep", "1000"])
        self.fail_reset = action == RAISE_NEXT_RESET
        observation = np.zeros(3) if action == TELL_NONSENSE else np.array([self.count, self.number])
        return observation, 1.0, self.fail_reset, False, {}

    def raise_deep_down(self):
        raise KeyError("raised in step")


class Bare(gymnasium.Env):
    """A `reset` without options, as in the tests of Stable-Baselines3; counts its steps."""

    observation_space = spaces.Discrete(1000)
    action_space = spaces.Discrete(3)
    steps = 0

    def reset(self, seed=None):
        self.steps = 0
        return 0, {}

    def step(self, action):
        self.steps += 1
        return self.steps, 0.0, action == 1, False, {}

    def render(self):
        return np.full((2, 2, 3), self.steps, np.uint8)


class Gated(gymnasium.Env):
    """Counts its steps; waits with action 2 until there is a file, a minute at most."""

    observation_space = spaces.Discrete(1000)
    action_space = spaces.Discrete(3)

    def __init__(self, path):
        self.path = path

    def reset(self, *, seed=None, options=None):
        self.steps = 0
        return 0, {}

    def step(self, action):
        end = time.monotonic() + 60
        while action == 2 and not os.path.exists(self.path) and time.monotonic() < end:
            os.sched_yield()
        self.steps += 1
        return self.steps, 0.0, False, False, {}


class Pestered:
    """Is interrupted by Ctrl-C the first times that it is unpickled; the result is a str."""

    interrupts = 2

    def __reduce__(self):
        return Pestered.unpickle, ()

    @staticmethod
    def unpickle():
        Pestered.interrupts -= 1
        if Pestered.interrupts >= 0:
            signal.raise_signal(signal.SIGINT)
        return "unpickled"
