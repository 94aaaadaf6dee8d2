"""Measures which num_envs, batch_size and num_threads are fastest on this machine, for `cypool tune`."""
from __future__ import annotations

import itertools
import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any, NamedTuple

import cypool

WARM_UP = 0.05  # seconds before each sample
FIRST = 0.1     # seconds of the sample that each setting gets
FINALISTS = 6   # settings that are measured again, in turn
ROUNDS = 5
NEARLY = 0.95   # as good as the fastest: the smallest of those is chosen


class Setting(NamedTuple):
    """Arguments of `cypool.make`."""

    num_envs: int
    batch_size: int
    num_threads: int


class Measured(NamedTuple):
    """A setting and its steps per second: the median of its samples."""

    setting: Setting
    steps_per_second: float
    samples: int


def candidates(goal: str, cpus: int, max_envs: int) -> list[Setting]:
    """Returns the settings to try.

    Args:
        goal: "sync", "async", or "learner" for both.
        cpus: The maximum number of threads.
        max_envs: The maximum number of environments.
    """
    powers = [2**k for k in range(max_envs.bit_length())]
    sizes = sorted({*powers, max_envs})
    threads = sorted({1, *(2**k for k in range(1, cpus.bit_length())), cpus})
    found = []
    if goal in ("sync", "learner"):
        # one more thread than environments has nothing to do
        found += [Setting(n, n, t) for n in sizes for t in threads if t <= n]
    if goal in ("async", "learner"):
        found += [Setting(n, n // part, t) for n in sizes for part in (2, 4, 8) if n >= part and n > 1
                  for t in threads if t <= n]
    return found


def tune(id: str, goal: str, *, cpus: int, max_envs: int, learner_seconds: float = 0.0, options: dict[str, Any],
         progress: Callable[[str, int, int], object]) -> list[Measured]:
    """Measures all settings and returns them: first the recommended one, then the others by speed.

    Each is measured once, briefly. The fastest are measured again, interleaved, so that other load on the machine
    affects all of them equally.

    Args:
        id: The environment.
        goal: As in `candidates`.
        cpus, max_envs: As in `candidates`.
        learner_seconds: The caller's time between a batch and its actions.
        options: Options of the environment.
        progress: Called with the name of the work, its progress, and its total.
    """
    settings = candidates(goal, cpus, max_envs)
    samples: dict[Setting, list[float]] = {}
    for i, setting in enumerate(settings):
        progress("trying all", i, len(settings))
        with cypool.make(id, **setting._asdict(), seed=0, **options) as env:
            samples[setting] = [speed(stepping(env, setting, learner_seconds), FIRST, learner_seconds)]
    progress("trying all", len(settings), len(settings))
    finalists = sorted(settings, key=lambda setting: -samples[setting][0])[:FINALISTS]
    with ExitStack() as stack:
        running = []
        for setting in finalists:
            env = stack.enter_context(cypool.make(id, **setting._asdict(), seed=0, **options))
            running.append((setting, stepping(env, setting, learner_seconds)))
            samples[setting] = []
        turns = [each for k in range(ROUNDS) for each in (running[::-1] if k % 2 else running)]
        for i, (setting, step) in enumerate(turns):
            progress("the fastest again, interleaved", i, len(turns))
            samples[setting].append(speed(step, 2 * FIRST, learner_seconds))
        progress("the fastest again, interleaved", len(turns), len(turns))
    measured = [Measured(setting, statistics.median(samples[setting]), len(samples[setting])) for setting in settings]
    return in_order(measured)


def in_order(measured: list[Measured]) -> list[Measured]:
    """Returns the settings by speed, preceded by the smallest of those that are nearly as fast as the fastest."""
    # a setting that was measured only once may owe its place to luck
    max_samples = max(each.samples for each in measured)
    again = [each for each in measured if each.samples == max_samples]
    enough = NEARLY * max(each.steps_per_second for each in again)
    chosen = min((each for each in again if each.steps_per_second >= enough),
                 key=lambda each: (each.setting.num_envs, each.setting.num_threads, -each.steps_per_second))
    others = sorted((each for each in measured if each is not chosen),
                    key=lambda each: (each.samples < max_samples, -each.steps_per_second))
    return [chosen, *others]


def stepping(env: Any, setting: Setting, learner_seconds: float) -> Iterator[int]:
    """Steps endlessly, with random actions drawn beforehand; yields the number of environments stepped by each call.

    If only some actions are legal, they are drawn between steps.
    """
    from gymnasium.vector.utils import batch_space

    actions: Iterator[Any]
    if env.env_spec.illegal is None:
        space = batch_space(env.single_action_space, setting.batch_size)
        space.seed(0)
        actions = itertools.cycle([space.sample() for _ in range(16)])
    else:
        env.action_space.seed(0)
        actions = (env.sample_legal() for _ in itertools.count())
    if setting.batch_size == setting.num_envs:
        env.reset()
        while True:
            env.step(next(actions))
            if learner_seconds:
                time.sleep(learner_seconds)
            yield setting.num_envs
    env.async_reset()
    while True:
        *_, info = env.recv()
        if learner_seconds:
            time.sleep(learner_seconds)
        env.send(next(actions), info["env_id"])
        yield setting.batch_size


def speed(steps: Iterator[int], seconds: float, learner_seconds: float) -> float:
    """Returns steps per second, after a warm-up."""
    # some batches at least, whatever the learner takes
    seconds = max(seconds, 5 * learner_seconds)
    for limit in (WARM_UP, seconds):
        count, begin = 0, time.perf_counter()
        while (passed := time.perf_counter() - begin) < limit or not count:
            count += next(steps)
    return count / passed
