"""Runs pools in many Python threads at once, for as long as you like: a tool; a test runs a short session of it.

    python fuzz/soak_threads.py --seconds 600

Threads make, step, share and close pools of native and of Python environments. The latter raise errors, and are stepped
by the caller or by worker threads. Several threads call one pool at once, one collects garbage, and one sends Ctrl-C to
the main thread, which steps pools, too. A pool used by one thread has to return the same as it did before there were
threads. A pool that several threads call may only raise documented errors. A session ends like a program whose daemon
threads are in the middle of calls: with exit status 0, without output, and within `LIMIT`. Prints counts; exits with 1
if anything went wrong.

This finds most on a Python without the GIL: `.ci/free_threaded --python fuzz/soak_threads.py`.
"""
import argparse
import faulthandler
import functools
import gc
import hashlib
import os
import random
import re
import signal
import subprocess
import sys
import threading
import time
import traceback
from collections import Counter

import gymnasium
import numpy as np
import tests_path  # noqa: F401
from engine.threads import at_once

import cypool
from cypool.hosting import forkserver

LIMIT = 240.0  # seconds that a session may take to end
NUM_STEPS = 40
IDS = ("CartPole-v1", "Pong-v5", "FrozenLake-v1", "Pendulum-v1")
HOSTED = "gymnasium:CartPole-v1"
# messages that a pool may have when several threads call it
DOCUMENTED = (
    "one thread at a time", "the pool is closed", "another thread is using the pool", "in flight", "nothing is pending",
    "was never reset", "call reset() first", "pass env_id", "envs finished within", "did not finish within",
    "its threads have ended", "no batch has been received yet")


class Moody(gymnasium.Env):
    """Raises in every seventh step."""

    observation_space = gymnasium.spaces.Box(0, 2**31, (2,), np.int64)
    action_space = gymnasium.spaces.Discrete(2)

    def __init__(self):
        self.at = np.zeros(2, np.int64)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.at[:] = 0
        return self.at.copy(), {}

    def step(self, action):
        self.at += 1
        if self.at[0] % 7 == 0:
            raise ValueError("in a mood")
        return self.at.copy(), float(action), False, False, {}


def actions_of(env, step):
    """Actions that depend only on the step."""
    space = env.single_action_space
    if isinstance(space, gymnasium.spaces.Discrete):
        return (np.arange(env.num_envs) + step) % space.n
    return np.full((env.num_envs, *space.shape), (step % 3 - 1) / 2, np.float32)


def digest_of(id, num_envs, **arguments):
    """Steps a new pool; returns a digest of everything that it returns."""
    total = hashlib.sha256()
    env = cypool.make(id, num_envs=num_envs, seed=5, **arguments)
    total.update(env.reset()[0].tobytes())
    for step in range(NUM_STEPS):
        obs, reward, terminated, truncated, _ = env.step(actions_of(env, step))
        for part in (obs, reward, terminated, truncated):
            total.update(part.tobytes())
    env.copy(0, np.arange(1, num_envs))
    obs = env.step(np.repeat(actions_of(env, 0)[:1], num_envs, 0))[0]
    if (obs != obs[:1]).any():
        raise AssertionError(f"{id}: copies differ")
    if num_envs % 2:
        env.close()
    return total.hexdigest()


class Session:
    """Threads that call pools until they have done enough rounds, or time is up.

    Args:
        seed: Seed of the draws.
        rounds: Rounds of each thread; None: until time is up.
        seconds: Time limit.
    """

    def __init__(self, seed, rounds, seconds):
        self.seed, self.rounds, self.end = seed, rounds, time.monotonic() + seconds
        self.counts, self.failed, self.lock = Counter(), [], threading.Lock()
        self.armed = False
        self.expected = {(id, n): digest_of(id, n, num_threads=0) for id in (*IDS, HOSTED) for n in (2, 5)}
        self.threads = cypool.ThreadPool(2)
        # the pool that several call
        self.common = None

    def run(self):
        """Runs everything; leaves some daemon threads in the middle of their calls."""
        signal.signal(signal.SIGINT, self.interrupt)
        # many threads share the CPUs: `close` is not to warn of those that are only slow
        forkserver.GRACE = LIMIT / 4
        sys.unraisablehook = self.say_unraisable
        actors = [self.step_own, self.step_own, self.step_threads, self.share_threads, self.host, self.call_common,
                  self.call_common, self.call_common, self.replace_common, self.sample, self.collect_garbage,
                  self.send_ctrl_c]
        working = [threading.Thread(target=self.repeat, args=(k, actor), daemon=True)
                   for k, actor in enumerate(actors)]
        for thread in working:
            thread.start()
        self.repeat(len(actors), self.step_interrupted)
        for thread in working:
            thread.join(max(self.end + LIMIT / 2 - time.monotonic(), 1))
            if thread.is_alive():
                self.failed.append(f"{thread} did not end")
        # exits while they are in calls. Not while they make pools: whatever imports a module then can keep a Python
        # without the GIL from ending (docs/reference/systems.md)
        begun = [threading.Event() for _ in range(3)]
        for k in range(3):
            threading.Thread(target=self.call_for_ever, args=(k, begun[k]), daemon=True).start()
        for k in range(3):
            if not begun[k].wait(LIMIT):
                self.failed.append(f"call_for_ever {k} did not begin")
        print(*(f"{name} {count}" for name, count in sorted(self.counts.items())), sep=", ")
        for text in self.failed:
            print(text)
        return not self.failed

    def interrupt(self, *_):
        if self.armed:
            # once: the next one may come in Python's own code that reports this one
            self.armed = False
            raise KeyboardInterrupt

    def say_unraisable(self, unraisable):
        # Ctrl-C may come in a callback of Python's own
        if unraisable.exc_type is not KeyboardInterrupt:
            sys.__unraisablehook__(unraisable)

    def is_over(self, done):
        return bool(self.failed) or (done >= self.rounds if self.rounds else time.monotonic() > self.end)

    def repeat(self, k, actor):
        rng, done = random.Random(self.seed * 100 + k), 0
        while not self.is_over(done):
            try:
                actor(rng)
            except BaseException:
                self.failed.append(f"{actor.__name__}: {traceback.format_exc()}")
                return
            done += 1
            with self.lock:
                self.counts[actor.__name__] += 1

    def check(self, id, num_envs, **arguments):
        if digest_of(id, num_envs, **arguments) != self.expected[id, num_envs]:
            raise AssertionError(f"{id}, {num_envs} envs, {arguments}: another result than before")

    def step_threads(self, rng):
        self.check(HOSTED, rng.choice((2, 5)), workers="threads", num_workers=rng.randrange(4))

    def step_own(self, rng):
        self.check(rng.choice(IDS), rng.choice((2, 5)), num_threads=rng.randrange(4))

    def share_threads(self, rng):
        self.check(rng.choice(IDS), rng.choice((2, 5)), thread_pool=self.threads)
        threads = cypool.ThreadPool(1)
        env = cypool.make("CartPole-v1", num_envs=2, batch_size=1, thread_pool=threads)
        env.async_reset()
        env.recv()
        if rng.random() < 0.5:
            env.close()
            threads.close()

    def step_interrupted(self, rng):
        # Ctrl-C may come wherever the engine looks for it, and between its calls
        try:
            self.armed = True
            if rng.random() < 0.3:
                self.check(HOSTED, 5, workers="threads", num_workers=rng.randrange(4))
            else:
                self.check(rng.choice(IDS), 5, num_threads=rng.randrange(3))
        except KeyboardInterrupt:
            with self.lock:
                self.counts["interrupts"] += 1
        finally:
            self.armed = False

    def send_ctrl_c(self, rng):
        time.sleep(rng.random() / 10)
        os.kill(os.getpid(), signal.SIGINT)

    def host(self, rng):
        env = cypool.from_factories([Moody] * 3, workers="threads", num_workers=rng.randrange(4))
        env.reset()
        for _ in range(20):
            try:
                env.step(np.ones(3, np.int64))
            except cypool.EnvError as error:
                if "in a mood" not in str(error):
                    raise
        # of the others it is garbage in a cycle
        if rng.random() < 0.5:
            env.close()
        else:
            env.itself = env

    def replace_common(self, rng):
        old, num_envs = self.common, rng.choice((1, 4, 64))
        new = cypool.make(rng.choice(IDS[:1] * 3 + IDS[1:]), num_envs=num_envs, num_threads=rng.randrange(3),
                          batch_size=rng.choice((num_envs, (num_envs + 1) // 2)))
        new.async_reset()
        self.common = new
        for _ in range(rng.randrange(50)):
            self.call_common(rng)
        if old is not None:
            self.tolerate(old.close)

    def call_common(self, rng):
        env = self.common
        if env is None:
            return
        ids = np.arange(0, env.num_envs, 2)
        calls = {
            "step": lambda: env.step(actions_of(env, rng.randrange(9))),
            "send": lambda: env.send(actions_of(env, rng.randrange(9))[ids], ids),
            "recv": lambda: env.recv(0),
            "reset": env.reset,
            "save": lambda: env.load(env.save(ids)),
            "copy": lambda: env.copy(0, [env.num_envs - 1]) if env.num_envs > 1 else None,
            "rollout": lambda: env.rollout(np.stack([actions_of(env, step) for step in range(3)])),
            "stepped": lambda: env._pool.stepped(),
        }
        for _ in range(20):
            self.tolerate(calls[rng.choice(list(calls))])
        # those who are refused would take all CPUs
        time.sleep(rng.random() / 20)

    def tolerate(self, call):
        try:
            call()
        except (RuntimeError, TimeoutError) as error:
            if not any(text in str(error) for text in DOCUMENTED):
                raise
        except ValueError as error:
            # an asynchronous pool makes no rollouts, and takes as many actions as its last batch had rows
            if "synchronous" not in str(error) and "rows, got" not in str(error):
                raise

    def sample(self, rng):
        env = cypool.make("CartPole-v1", num_envs=4, num_threads=2)
        buffer = cypool.ReplayBuffer(env, 256, seed=1)
        buffer.reset()
        buffer.step(np.zeros(4, np.int64))
        read = functools.partial(self.repeat_sample, buffer)
        at_once(read, read, lambda: [buffer.step(actions_of(env, step)) for step in range(30)])
        buffer.close()
        env.close()

    def repeat_sample(self, buffer):
        for _ in range(20):
            batch = buffer.sample(8)
            if not np.isfinite(batch.obs).all():
                self.failed.append("a sample with rows that were never written")

    def collect_garbage(self, rng):
        gc.collect()
        time.sleep(rng.random() / 50)

    def call_for_ever(self, k, begun):
        env = cypool.make("CartPole-v1", num_envs=8, num_threads=k, batch_size=8 if k < 2 else 4)
        env.async_reset()

        def call():
            while True:
                env.recv()
                begun.set()
                env.send(np.zeros(env.batch_size, np.int64))

        # at exit the pool is closed between two calls, and a call that comes meanwhile is refused. Nothing is printed:
        # that looks for modules, too
        self.tolerate(call)


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--rounds", type=int, help="rounds per thread in a session")
    parser.add_argument("--session", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.session:
        # also while Python ends: prints where the threads are
        faulthandler.dump_traceback_later(given.seconds + LIMIT, exit=True)
        sys.exit(not Session(given.seed, given.rounds, given.seconds).run())
    end, wrong, seed = time.monotonic() + given.seconds, 0, given.seed
    gil = "with" if getattr(sys, "_is_gil_enabled", lambda: True)() else "without"
    print(f"Python {sys.version.split()[0]}, {gil} the GIL", flush=True)
    while time.monotonic() < end:
        seconds = min(20.0, max(end - time.monotonic(), 1))
        command = [sys.executable, "-X", "faulthandler", __file__, "--session", "--seed", str(seed), "--seconds",
                   str(seconds), *(["--rounds", str(given.rounds)] if given.rounds else [])]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=seconds + 2 * LIMIT)
            # Ctrl-C that comes while a pool is collected as garbage cannot be raised: it is printed
            errors = re.sub(r"^Traceback \(most recent call last\):\n(  .*\n)+KeyboardInterrupt\n", "", done.stderr,
                            flags=re.MULTILINE)
            bad, said = done.returncode != 0 or errors != "", f"status {done.returncode}\n{errors}"
            print(f"session {seed}: {done.stdout}", end="", flush=True)
        except subprocess.TimeoutExpired:
            bad, said = True, f"not done within {seconds + 2 * LIMIT} s"
        if bad:
            wrong += 1
            print(f"session {seed}: WRONG: {said}", flush=True)
        seed += 1
    print(f"{seed - given.seed} sessions, {wrong} wrong")
    return wrong > 0


if __name__ == "__main__":
    sys.exit(main())
