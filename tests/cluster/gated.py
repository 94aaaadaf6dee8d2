"""Policies that workers import: one fails at a chosen moment, in one process, which a cluster has to survive."""
import os
import signal
import time
from pathlib import Path

import gymnasium
import numpy as np

from cypool.cluster import Categorical, DiagonalGaussian, MLPPolicy


class Gated(MLPPolicy):
    """Chooses like an `MLPPolicy`, except where its attributes say otherwise.

    Args:
        id, folder: The environment; where it and the tests exchange messages.
        calls: Write down each call: a byte in the file "calls".
        kill: At its call of this number, the first process that comes by dies, until the file "killed" is removed;
            or, with `every`, each.
        held: The process to die waits until there is a file "gate": its answers may still be on their way.
        slow: The first process that comes by waits at each of its calls until there is a file "gate"; or, with `every`,
            each.
        fail: Raise at the call of this number.
        odd: The first process that comes by says something that others do not.
    """

    def __init__(self, id, folder, calls=False, kill=None, every=False, held=False, slow=False, fail=None, odd=False):
        super().__init__(id)
        self.folder, self.calls, self.kill, self.every = Path(folder), calls, kill, every
        self.held, self.slow, self.fail, self.number, self.is_slow = held, slow, fail, 0, None
        self.odd, self.is_odd = odd, None
        # the learner tries it out before it copies it to workers
        self.pid = os.getpid()

    def __call__(self, obs):
        if os.getpid() != self.pid:
            self.number += 1
            if self.calls:
                with open(self.folder / "calls", "ab", buffering=0) as file:
                    file.write(b".")
            if self.number == self.kill and (self.every or self.is_first("killed")):
                if self.held:
                    self.wait()
                os.kill(os.getpid(), signal.SIGKILL)
            if self.slow:
                if self.is_slow is None:
                    self.is_slow = self.every or self.is_first("slow")
                if self.is_slow:
                    self.wait()
            if self.number == self.fail:
                raise OSError("no choice today")
            if self.odd and self.is_odd is None:
                self.is_odd = self.is_first("odd")
        return super().__call__(obs) | ({"odd": obs[:, 0]} if self.is_odd else {})

    def is_first(self, name):
        """Whether no other process has come by; writes down which was the first."""
        try:
            with open(self.folder / name, "x") as file:
                file.write(str(os.getpid()))
        except FileExistsError:
            return False
        return True

    def wait(self):
        end = time.monotonic() + 600
        while not (self.folder / "gate").exists():
            if time.monotonic() > end:
                raise TimeoutError("the gate was not opened within 600 s")
            time.sleep(0.01)


def blackjack():
    return gymnasium.make("Blackjack-v1")


class Uniform:
    """Sees nothing, wants everything."""

    def __init__(self, action):
        is_discrete = hasattr(action, "n")
        self.distribution = Categorical(action.n) if is_discrete else DiagonalGaussian(action.shape)

    def get_weights(self):
        return {"none": np.zeros(1)}

    def set_weights(self, weights):
        pass

    def __call__(self, obs):
        rows = len(obs[0] if isinstance(obs, tuple) else obs)
        return {"params": np.zeros((rows, self.distribution.num_parameters), np.float32)}
