"""Steps environments in other processes, which are killed and stopped at random: a tool, not a test.

    python fuzz/soak_processes.py --seconds 600

Pools of Gymnasium environments, and of families with a tests/envs/NAME/soak.py, are stepped, synchronously and
asynchronously. At random, their processes are killed (SIGKILL), or stopped (SIGSTOP) and continued later or never, and
Ctrl-C arrives. Each call has to return within `LIMIT`, with a result or a documented error. Rows of surviving
environments have to match those of a reference in this process. After each pool, no process, thread or file descriptor
may be left, and after each session no shared memory and no folder; some sessions are killed themselves. Prints counts;
exits with 1 if anything went wrong.

The draws are determined by `--seed`, their timing is not.
"""
import argparse
import copy
import functools
import gc
import importlib
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path

import cloudpickle
import gymnasium
import numpy as np
import psutil
from soaking import Problem, Watch, children
from tests_path import TESTS

import cypool

# workers cannot import this module
cloudpickle.register_pickle_by_value(sys.modules[__name__])

WORKER_TIMEOUT = 2.0
DOCUMENTED = (
    "its process ended: killed by SIGKILL", "its process ended: exit status 1", "not finished within worker_timeout",
    "to start and was killed", "the episode was lost when the environment's process ended",
    "it raised KeyboardInterrupt", "lost its episode when its process ended",
    "the process that starts workers ended: killed by SIGKILL")


class Chain(gymnasium.Env):
    """Observes a number determined by the seed and all actions of the episode."""

    observation_space = gymnasium.spaces.Box(0, 2**62, (4,), np.int64)
    action_space = gymnasium.spaces.Discrete(5)

    def __init__(self, number):
        self.number = number

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.start = self.digest = int(self.np_random.integers(2**62))
        self.steps = 0
        return self.shown(), {"start": self.start}

    def shown(self):
        return np.array([self.number, self.start, self.steps, self.digest])

    def step(self, action):
        self.steps += 1
        self.digest = (self.digest * 6364136223846793005 + int(action) + 1) % 2**62
        info = {"digest": self.digest, "bulk": bytes(self.digest % 50_000)} if self.digest % 3 == 0 else {}
        return self.shown(), self.digest / 2**62, self.digest % 61 == 0, self.steps == 200, info


def cartpole():
    return gymnasium.make("CartPole-v1")


class Chaos(threading.Thread):
    """Kills and stops processes at random.

    Args:
        rng: The generator to draw from.
        victims: Returns the ids of processes that may be stopped forever, and of those that have to continue.
        pace: Mean seconds between two attacks.
        interrupts: Whether to send Ctrl-C, too.
        counts: Counts the attacks.
    """

    def __init__(self, rng, victims, pace, interrupts, counts):
        super().__init__()
        self.rng, self.victims, self.pace, self.interrupts, self.counts = rng, victims, pace, interrupts, counts
        self.done = threading.Event()
        self.to_continue = []

    def run(self):
        while not self.done.wait(self.rng.expovariate(1 / self.pace)):
            self.strike()
            now = time.monotonic()
            for when, pid in [each for each in self.to_continue if each[0] <= now]:
                self.to_continue.remove((when, pid))
                self.send(pid, signal.SIGCONT)
        for _, pid in self.to_continue:
            self.send(pid, signal.SIGCONT)

    def strike(self):
        if self.interrupts and self.rng.random() < 0.3:
            # two close together, as from an impatient user
            for _ in range(self.rng.choice((1, 2, 2, 3))):
                signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
                time.sleep(self.rng.random() ** 4 * 0.01)
            return
        anyhow, carefully = self.victims()
        kind = self.rng.random()
        if carefully and kind < 0.06:
            victim = self.rng.choice(carefully)
            if kind < 0.03:
                self.send(victim, signal.SIGKILL)
            elif self.send(victim, signal.SIGSTOP):
                self.to_continue.append((time.monotonic() + self.rng.random() * 3, victim))
        elif anyhow:
            victim = self.rng.choice(anyhow)
            if kind < 0.6:
                self.send(victim, signal.SIGKILL)
            elif self.send(victim, signal.SIGSTOP) and kind < 0.85:
                self.to_continue.append((time.monotonic() + self.rng.random() ** 2 * 4, victim))

    def send(self, pid, number):
        try:
            os.kill(pid, number)
        except ProcessLookupError:
            return False
        self.counts[number.name] += 1
        return True

    def stop(self):
        self.done.set()
        if self.ident is not None:
            self.join()


class HostedRound:
    """A pool of Python environments, and a reference for each of them in this process."""

    def __init__(self, rng, watch):
        self.rng, self.watch, self.counts = rng, watch, watch.counts
        self.num = rng.randint(1, 6)
        self.num_workers = rng.choice([0, 1, 2, 3, self.num])
        self.batch_size = rng.choice([self.num, self.num, rng.randint(1, self.num)])
        self.mode = rng.choice(["NextStep", "SameStep", "Disabled"])
        chain = rng.random() < 0.7
        self.factories = [(lambda i=i: Chain(i)) if chain else cartpole for i in range(self.num)]
        self.references = [factory() for factory in self.factories]
        self.num_actions = 5 if chain else 2
        # a worker does not find the class by its name
        self.saves = not chain or self.num_workers == 0
        self.interrupts = self.num_workers == 0 or rng.random() < 0.3
        # which of them the reference follows; those that do not are reset with a seed
        self.known = [False] * self.num
        self.needs_reset = [True] * self.num
        # id: seed, or the action
        self.sent = {}
        self.state = None

    def victims(self):
        fork_servers = [pid for pid, line in children(os.getpid()).items() if b"forkserver" in line]
        return [pid for forkserver in fork_servers for pid in children(forkserver)], fork_servers

    def __str__(self):
        return (f"hosted, {self.num} envs, {self.num_workers} workers, batches of {self.batch_size}, {self.mode}, "
                f"{type(self.references[0].unwrapped).__name__}")

    def make(self):
        return cypool.from_factories(
            self.factories, batch_size=self.batch_size, num_workers=self.num_workers, autoreset_mode=self.mode,
            worker_timeout=WORKER_TIMEOUT, start_method=self.rng.choice(["forkserver", "forkserver", "spawn"]))

    def play(self, seconds, start=lambda: None):
        early = self.rng.random() < 0.2
        if early:
            start()
        try:
            env = self.watch.call(self.make)
        except (cypool.WorkerError, KeyboardInterrupt) as error:
            self.expect(error)
            return
        if not early:
            start()
        try:
            self.restart(env)
            end = time.monotonic() + seconds
            while time.monotonic() < end:
                self.turn(env)
        finally:
            if self.rng.random() < 0.7:
                with suppress(KeyboardInterrupt):
                    self.watch.call(env.close)
            # dropped, else
            env = None

    def restart(self, env):
        """Resets all environments with seeds."""
        self.known = [False] * self.num
        self.sent = {}
        while True:
            seeds = [self.rng.randrange(2**31) for _ in range(self.num)]
            try:
                self.watch.call(env.async_reset, seed=seeds)
            except KeyboardInterrupt:
                # maybe before, maybe after they were sent
                continue
            self.sent = dict(enumerate(("reset", seed) for seed in seeds))
            return

    def turn(self, env):
        if self.sent:
            self.receive(env)
        if self.saves and not self.sent and self.rng.random() < 0.05:
            self.save(env)
        idle = [i for i in range(self.num) if i not in self.sent]
        if not idle or (self.batch_size == self.num and len(idle) < self.num):
            return
        lost = [i for i in idle if not self.known[i] or (self.mode == "Disabled" and self.needs_reset[i])]
        try:
            if lost and self.batch_size < self.num:
                self.send_resets(env, lost)
                idle = [i for i in idle if i not in lost]
            elif lost:
                # a synchronous pool takes one send at a time
                self.send_resets(env, lost)
                return
            if idle:
                self.rng.shuffle(idle)
                actions = [self.rng.randrange(self.num_actions) for _ in idle]
                self.watch.call(env.send, np.array(actions), np.array(idle))
                self.sent.update(zip(idle, (("step", action) for action in actions), strict=True))
        except KeyboardInterrupt:
            self.restart(env)

    def send_resets(self, env, ids):
        seeds = [self.rng.randrange(2**31) for _ in ids]
        self.watch.call(env.async_reset, np.array(ids), seed=seeds)
        self.sent.update(zip(ids, (("reset", seed) for seed in seeds), strict=True))

    def receive(self, env):
        timeout = self.rng.choice([None, None, None, 0, 0.01])
        pending = len(self.sent)
        try:
            batch, causes = self.watch.call(env.recv, timeout), {}
        except TimeoutError:
            if timeout is None:
                raise
            self.counts["TimeoutError"] += 1
            return
        except cypool.EnvError as error:
            batch, causes = error.batch, error.causes
            for cause in causes.values():
                self.expect(cause)
        except KeyboardInterrupt:
            if env._pool.num_pending != pending:
                # on the way back from the pool
                self.counts["batches lost to Ctrl-C"] += 1
                self.restart(env)
            return
        obs, reward, terminated, truncated, info = batch
        ids = info["env_id"].tolist()
        if self.batch_size < self.num:
            expected = min(pending, self.batch_size)
            if len(ids) != expected or len(set(ids)) != len(ids):
                raise Problem(f"{self}: expected {expected} rows, got those of {ids}")
        elif set(ids) != set(self.sent):
            raise Problem(f"{self}: expected rows of {sorted(self.sent)}, got {ids}")
        for row, i in enumerate(ids):
            finals = info["final_obs"][row] if self.mode == "SameStep" and (terminated | truncated)[row] else None
            shown = obs[row], float(reward[row]), bool(terminated[row]), bool(truncated[row])
            self.compare(i, self.sent.pop(i), i in causes, shown, finals, int(info["elapsed_step"][row]))

    def compare(self, i, task, failed, shown, finals, elapsed):
        """Compares a row with the reference."""
        reference = self.references[i]
        kind, given = task
        if failed:
            if shown[0].any() or shown[1] or shown[2] or not shown[3]:
                raise Problem(f"{self}: env {i} failed with a row of {shown}")
            self.known[i], self.needs_reset[i] = False, True
            self.counts["rows of failed"] += 1
            return
        began = kind == "reset" or (self.needs_reset[i] and self.mode == "NextStep")
        if began:
            seed = given if kind == "reset" else None
            want = reference.reset(seed=seed)[0], 0.0, False, False
            self.needs_reset[i] = False
            if seed is None and not np.array_equal(want[0], shown[0]):
                # its process was replaced, and its random stream began once more
                self.known[i] = False
                self.counts["new streams"] += 1
                return
            self.known[i] = True
            self.counts["resets compared"] += 1
        else:
            if not self.known[i]:
                raise Problem(f"{self}: env {i} was stepped without a reset")
            want = reference.step(given)[:4]
            if finals is not None:
                if not np.array_equal(finals, want[0]):
                    raise Problem(f"{self}: env {i}, last observation: expected {want[0]}, got {finals}")
                want = reference.reset()[0], *want[1:]
            self.needs_reset[i] = bool(want[2] or want[3]) and self.mode != "SameStep"
            self.counts["steps compared"] += 1
        if not np.array_equal(want[0], shown[0]) or want[1:] != shown[1:]:
            raise Problem(f"{self}: env {i} at {task}: expected {want}, got {shown}")
        if (elapsed == 0) != (began or finals is not None):
            raise Problem(f"{self}: env {i} at {task}: got elapsed_step {elapsed}")

    def save(self, env):
        """Saves all environments, or goes back to the saved states."""
        if self.state is not None and self.rng.random() < 0.5:
            state, references, known, over = self.state
            self.known = [False] * self.num
            try:
                self.watch.call(env.load, state)
            except (cypool.WorkerError, KeyboardInterrupt) as error:
                self.expect(error)
                return
            self.references, self.known, self.needs_reset = copy.deepcopy(references), list(known), list(over)
            self.counts["loads"] += 1
            return
        if not all(self.known):
            return
        try:
            state = self.watch.call(env.save)
        except (cypool.WorkerError, KeyboardInterrupt) as error:
            self.expect(error)
            return
        self.state = state, copy.deepcopy(self.references), list(self.known), list(self.needs_reset)
        self.counts["saves"] += 1

    def expect(self, error):
        """Counts an expected error; raises if it is unexpected."""
        text = str(error)
        if isinstance(error, KeyboardInterrupt):
            return
        for known in DOCUMENTED:
            if isinstance(error, cypool.WorkerError) and known in text:
                self.counts[f"errors: {known}"] += 1
                return
        raise Problem(f"{self}: {error!r}") from error


FAMILIES = {name: importlib.import_module(f"envs.{name}.soak")
            for name in sorted(path.parent.name for path in TESTS.glob("envs/*/soak.py"))}
ROUNDS = {"hosted": HostedRound, **{name: family.Round for name, family in FAMILIES.items()}}


def held():
    """The threads and open files of this process, and the processes that it has started."""
    gc.collect()
    return (sorted(os.listdir("/proc/self/task")), len(os.listdir("/proc/self/fd")),
            [(p.pid, p.name()) for p in psutil.Process().children(recursive=True)])


def session(seed, seconds, kinds):
    """Runs rounds, one after another, in a separate process."""
    rng = random.Random(seed)
    watch = Watch()
    # objects that are kept for the next time exist now
    for kind in kinds:
        ROUNDS[kind](rng, watch).play(0.2)
    before = held()
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        kind = rng.choices(kinds, [3 if kind == "hosted" else 2 for kind in kinds])[0]
        each = ROUNDS[kind](rng, watch)
        chaos = Chaos(random.Random(rng.random()), each.victims, rng.choice([0.05, 0.2, 0.5, 2, 6]), each.interrupts,
                      watch.counts)
        watch.counts[f"rounds of {kind}"] += 1
        began = time.monotonic()
        try:
            each.play(rng.uniform(1, 12), chaos.start)
        finally:
            chaos.stop()
        each_text = f"{each}, {time.monotonic() - began:.0f} s"
        del each, chaos
        # a process or a thread that has ended is listed for a moment longer
        patience = time.monotonic() + 60
        while held() != before and time.monotonic() < patience:
            time.sleep(0.05)
        if held() != before:
            raise Problem(f"left behind by {each_text}: {held()}, before {before}")
        print("COUNTS", json.dumps({**watch.counts, "longest call, s": watch.longest}), flush=True)
        print(time.strftime("%X"), each_text, file=sys.stderr, flush=True)
    for kind in set(kinds) & set(FAMILIES):
        print("NAMES", *FAMILIES[kind].names(), flush=True)


def of_session(leader):
    """Which processes of a session exist."""
    found = []
    for pid in psutil.pids():
        with suppress(OSError):
            if os.getsid(pid) == leader:
                found.append(pid)
    return found


def kill(child):
    """Kills a session's first process, and those that it has stopped, which cannot end by themselves."""
    child.kill()
    child.wait()
    for pid in of_session(child.pid):
        with suppress(OSError):
            os.kill(pid, signal.SIGCONT)


def await_none(what, find):
    """Waits until nothing is left; returns whether that happened."""
    end = time.monotonic() + 60
    while find():
        if time.monotonic() > end:
            print(f"PROBLEM {what} left behind: {find()}", flush=True)
            return False
        time.sleep(0.1)
    return True


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--only", choices=list(ROUNDS))
    parser.add_argument("--session", type=float, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    seed = random.randrange(2**30) if arguments.seed is None else arguments.seed
    kinds = [arguments.only] if arguments.only else list(ROUNDS)
    if arguments.session is not None:
        session(seed, arguments.session, kinds)
        return
    print(f"seed {seed}")
    rng = random.Random(seed)
    totals, problems, longest = Counter(), 0, 0.0
    end = time.monotonic() + arguments.seconds
    with tempfile.TemporaryDirectory(prefix="soak-") as folder:
        while time.monotonic() < end and not problems:
            seconds = max(min(rng.uniform(20, 90), end - time.monotonic()), 5)
            kills = rng.random() < 0.3
            command = [sys.executable, __file__, "--session", str(seconds), "--seed", str(rng.randrange(2**30))]
            if arguments.only:
                command += ["--only", arguments.only]
            counts, names = {}, []
            with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True, cwd=folder,
                                  env={**os.environ, "TMPDIR": folder}) as child:
                killer = threading.Timer(seconds * rng.random(), kill, [child]) if kills else None
                if killer:
                    killer.start()
                for line in child.stdout:
                    word, _, rest = line.partition(" ")
                    if word == "COUNTS":
                        counts = json.loads(rest)
                    elif word == "NAMES":
                        names = rest.split()
                    else:
                        print(line, end="", flush=True)
                status = child.wait()
            if killer:
                killer.cancel()
                killer.join()
            killed = status == -signal.SIGKILL
            totals["sessions killed" if killed else "sessions"] += 1
            if status != 0 and not killed:
                print(f"PROBLEM {' '.join(command)} ended with {status}")
                problems += 1
            problems += not await_none("processes", lambda leader=child.pid: of_session(leader))
            # the first session that plays removes the rests of those that were killed before
            for kind, family in FAMILIES.items():
                if not killed and counts.get(f"rounds of {kind}"):
                    names += family.names_in(folder)
                    problems += not await_none("folders", lambda: list(Path(folder).iterdir()))
                    left = functools.partial(family.memory_of, names)
                    problems += not await_none("shared memory", left)
            longest = max(longest, counts.pop("longest call, s", 0.0))
            totals.update(counts)
        if not problems:
            # the last word
            os.environ["TMPDIR"] = tempfile.tempdir = folder
            for family in FAMILIES.values():
                family.sweep()
            problems += not await_none("folders", lambda: list(Path(folder).iterdir()))
    for name in sorted(totals):
        print(f"{totals[name]:10} {name}")
    print(f"{longest:10.1f} s was the longest call")
    print("nothing left, no stall, no wrong row" if not problems else f"{problems} PROBLEMS")
    sys.exit(bool(problems))


if __name__ == "__main__":
    main()
