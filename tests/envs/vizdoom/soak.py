"""Pools of games whose engines are killed and stopped, for `fuzz/soak_processes.py`."""
import contextlib
import os
import time
from pathlib import Path

import numpy as np
from soaking import Problem, children

import cypool
from cypool.envs.vizdoom import assets

ENGINE_TIMEOUT = 15.0
DOCUMENTED = ("engine failed 3 times",)


class Round:
    """A pool of games or matches, of which one is spared; another pool plays that one, too."""

    interrupts = False

    def __init__(self, rng, watch):
        self.rng, self.watch, self.counts = rng, watch, watch.counts
        self.num = rng.randint(2, 3)
        self.match = rng.random() < 0.4
        self.batch_size = self.num if rng.random() < 0.5 else rng.randint(1, self.num - 1)
        self.seed = rng.randrange(2**20)
        self.spared = rng.randrange(self.num)
        self.keep = None

    def __str__(self):
        return f"{'matches' if self.match else 'games'} of Doom, {self.num} envs, batches of {self.batch_size}"

    def victims(self):
        if self.keep is None:
            return [], []
        return [pid for pid, line in children(os.getpid()).items()
                if b"vizdoom" in line.split(b"\0")[0] and pid not in self.keep], []

    def make(self, num, seed, batch_size):
        options = {"config": {"screen_resolution": "RES_160X120"}, "frame_skip": 4, "engine_pid": True,
                   "engine_timeout": ENGINE_TIMEOUT, "max_episode_steps": 40}
        if self.match:
            return cypool.make("VizdoomBasic-MultiBinary-v1", num_envs=num, seed=seed, batch_size=batch_size,
                               scenario_config_file="multi_duel.cfg", num_players=2, num_threads=num, **options)
        return cypool.make("VizdoomBasic-v1", num_envs=num, seed=seed, batch_size=batch_size, num_threads=num,
                           **options)

    def play(self, seconds, start=lambda: None):
        start()
        self.keep = None
        # after each environment's last row: the steps of its episode, and whether the next row begins another one
        self.steps, self.needs_reset = [0] * self.num, [True] * self.num
        with contextlib.ExitStack() as stack:
            # a match is not the same again with the same seed
            self.same = None if self.match else stack.enter_context(self.make(1, self.seed + self.spared, 1))
            env = stack.enter_context(self.make(self.num, self.seed, self.batch_size))
            keep, want = set(), None
            if self.same is not None:
                obs, info = self.watch.call(self.same.reset)
                keep.update(info["engine_pid"].ravel().tolist())
                want = obs, np.zeros(1), np.zeros(1, bool), np.zeros(1, bool)
            self.watch.call(env.async_reset)
            sent = dict.fromkeys(range(self.num))
            while sent:
                self.receive(env, sent, keep, want)
            self.keep = keep
            end = time.monotonic() + seconds
            while time.monotonic() < end:
                idle = [i for i in range(self.num) if i not in sent]
                if idle and (self.batch_size < self.num or len(idle) == self.num):
                    actions = {i: self.action(env) for i in idle}
                    self.watch.call(env.send, np.array(list(actions.values())), np.array(idle))
                    sent.update(actions)
                self.receive(env, sent, None, None)
            # closes with some of them stopped
        self.keep = None

    def action(self, env):
        space = env.single_action_space
        if self.match:
            return np.array([[self.rng.randrange(2) for _ in range(space.shape[1])] for _ in range(space.shape[0])],
                            np.int8)
        return self.rng.randrange(int(space.n))

    def receive(self, env, sent, keep, want):
        """Takes a batch; of first resets `want` is the spared one's row, and `keep` gets its engines."""
        try:
            batch, causes = self.watch.call(env.recv), {}
        except cypool.EnvError as error:
            batch, causes = error.batch, error.causes
            for cause in causes.values():
                if not any(known in str(cause) for known in DOCUMENTED):
                    raise Problem(f"{self}: {cause!r}") from cause
                self.counts[f"errors: {DOCUMENTED[0]}"] += 1
        obs, reward, terminated, truncated, info = batch
        for row, i in enumerate(info["env_id"].tolist()):
            action = sent.pop(i)
            failed, restarted = i in causes, bool(info["engine_restarted"][row])
            if (failed or (restarted and not self.needs_reset[i])) and not truncated[row]:
                raise Problem(f"{self}: env {i} lost its engine, and was not truncated")
            began = self.needs_reset[i]
            if not failed:
                self.steps[i] = 0 if began else self.steps[i] + 1
                if info["elapsed_step"][row] != self.steps[i]:
                    raise Problem(f"{self}: env {i}: expected step {self.steps[i]}, got {info['elapsed_step'][row]}")
            self.needs_reset[i] = bool(terminated[row] or truncated[row])
            self.counts["engines restarted"] += restarted
            if i != self.spared:
                self.counts["rows of games compared"] += 1
                continue
            if restarted and self.match and began:
                # the engines of a match find each other by UDP, which now and then takes them another try
                self.counts["spared matches that started twice"] += 1
            elif failed or restarted:
                raise Problem(f"{self}: env {i} failed, and nobody had touched it: {causes.get(i)!r}")
            if keep is not None:
                keep.update(info["engine_pid"][row].ravel().tolist())
            self.counts["rows of games spared"] += 1
            if self.same is None:
                continue
            if want is None or action is not None:
                want = self.watch.call(self.same.step, np.array([action]))
            for key, part in want[0].items():
                if not np.array_equal(part[0], obs[key][row]):
                    raise Problem(f"{self}: env {i}: {key} differs from that of the undisturbed one")
            for a, b in zip(want[1:4], (reward, terminated, truncated), strict=True):
                if a[0] != b[row]:
                    raise Problem(f"{self}: env {i}: expected {want[1:4]}, got row {row} of {batch[1:4]}")
            self.counts["rows of games compared"] += 1


def names():
    """Returns the names of the shared memory of this process's games."""
    return Path(assets.engine_dir()[0], "names").read_text().split()


def names_in(folder):
    """Returns the names of the shared memory of all games that are played in a folder."""
    return " ".join(path.read_text() for path in Path(folder).glob("cypool-doom-*/names")).split()


def memory_of(names):
    """Returns the shared memory that is left of these names."""
    ids = {name.removeprefix("ViZDoomMQDoom").removeprefix("ViZDoomMQCtr") for name in names}
    return [path.name for path in Path("/dev/shm").iterdir() if any(path.name.endswith(id) for id in ids)]


def sweep():
    """Removes the folders of processes that were killed."""
    assets.sweep()
