"""Measures how many frames per second cypool and its peers deliver on this machine.

Rules that keep the figures reliable on a busy machine:

  * Each candidate is a process, started once. Those not being timed are paused, so that their threads use no core.
  * Rounds go A B C, C B A, and so on; each sample follows a warm-up.
  * Candidates are compared within a round; the result is the median of the rounds' ratios, with quartiles.
  * A step counts when the API has returned it; steps spent on autoresets count for all candidates.
  * All do the same work: the same options, and random actions drawn beforehand from a seeded generator. If only some
    actions are legal, cypool draws them between steps, as part of the measured time.
"""
from __future__ import annotations

import argparse
import contextlib
import ctypes
import importlib.metadata
import importlib.util
import itertools
import json
import os
import pkgutil
import platform
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

import gymnasium
import numpy
from gymnasium.vector import AsyncVectorEnv, SyncVectorEnv
from gymnasium.vector.utils import batch_space
from gymnasium.wrappers import AtariPreprocessing, Autoreset, FrameStackObservation

import cypool
from cypool.engine import cpus
from cypool.envs import FAMILIES, family_of
from cypool.registration.registry import entry_of
from cypool.tools.terminal import Cell, Progress, print_table, styled

WARM_UP = 0.1  # seconds before each sample

Args = argparse.Namespace
Started = tuple[Any, Callable[[Any], int]]


def python_loop(args: Args, n: int, rows: int) -> Started:
    if args.loop:
        started: Started = pkgutil.resolve_name(args.loop)(args.env, n, **args.options)
        return started
    envs = [Autoreset(make_single(args)) for _ in range(n)]
    for i, env in enumerate(envs):
        env.reset(seed=i)

    def step(actions: Any) -> int:
        # plain ints for a choice, else arrays
        for env, action in zip(envs, actions.tolist() if actions.ndim == 1 else actions, strict=True):
            env.step(action)
        return n

    return envs[0].action_space, step


def episodes_of_mujoco(args: Args, n: int, component: int) -> tuple[Any, Any, int]:
    """Returns an environment, initial states of episodes, and how long episodes last with random actions."""
    import mujoco

    env: Any = gymnasium.make(args.env)
    env.action_space.seed(0)
    env.reset(seed=0)
    episodes = 1
    for _ in range(1000):
        *_, terminated, truncated, _ = env.step(env.action_space.sample())
        if terminated or truncated:
            episodes += 1
            env.reset()
    model, data = env.unwrapped.model, env.unwrapped.data
    starts = numpy.zeros((n, mujoco.mj_stateSize(model, component)))
    for i in range(n):
        env.reset(seed=i)
        mujoco.mj_getState(model, data, starts[i], component)
    return env, starts, min(1000 // episodes, 100)


def mujoco_rollout(args: Args, n: int, rows: int) -> Started:
    """MuJoCo's own threads, with the same steps but without observations and rewards: one Python call per episode."""
    import mujoco
    from mujoco.rollout import Rollout

    env, starts, length = episodes_of_mujoco(args, n, mujoco.mjtState.mjSTATE_FULLPHYSICS)
    model, frames = env.unwrapped.model, env.unwrapped.frame_skip
    controls = numpy.random.default_rng(0).uniform(env.action_space.low, env.action_space.high, (n, length, model.nu))
    controls = numpy.repeat(controls, frames, axis=1)
    states = numpy.zeros((n, length * frames, starts.shape[1]))
    runner = Rollout(nthread=args.threads)
    datas = [mujoco.MjData(model) for _ in range(args.threads)]

    def step(actions: Any) -> int:
        runner.rollout(model, datas, starts, controls, state=states)
        return n * length

    return env.action_space, step


def mujoco_batch(module: str, args: Args, n: int, rows: int) -> Started:
    """MuJoCo's own threads, or mjbatch's, like `mujoco_rollout`, but Python sets the controls of each step."""
    import mujoco

    env, starts, length = episodes_of_mujoco(args, n, mujoco.mjtState.mjSTATE_INTEGRATION)
    batch = importlib.import_module(module).Batch(env.unwrapped.model, n, args.threads)
    frames, steps = env.unwrapped.frame_skip, itertools.count()
    state = batch.bind("state") if module == "mjbatch" else batch.state
    controls = batch.bind("ctrl")

    def step(actions: Any) -> int:
        if next(steps) % length == 0:
            state[:] = starts
        controls[:] = actions
        batch.step(nstep=frames)
        return n

    return env.action_space, step


def ale(args: Args, n: int, rows: int) -> Started:
    from ale_py.vector_env import AtariVectorEnv

    # its step serves both modes. Never reset an asynchronous one again: it would mix up its environments
    return stepping(AtariVectorEnv(
        args.game, n, batch_size=rows, num_threads=args.threads, noop_max=30, use_fire_reset=False,
        episodic_life=False, reward_clipping=False, repeat_action_probability=0.0))


def pool(package: str, args: Args, n: int, rows: int) -> Started:
    """cypool or EnvPool, which share an API."""
    env = importlib.import_module(package).make(
        args.env, "gymnasium", num_envs=n, batch_size=rows, num_threads=args.threads, seed=0, **args.options)
    draws = package == "cypool" and env.env_spec.illegal is not None
    if draws:
        env.action_space.seed(0)
    if rows == n:
        space, step_all = stepping(env)
        return space, (lambda _: step_all(env.sample_legal())) if draws else step_all

    def step(actions: Any) -> int:
        _, reward, _, _, info = env.recv()
        env.send(env.sample_legal() if draws else actions, info["env_id"])
        return len(reward)

    env.async_reset()
    return env.single_action_space, step


def stepping(env: Any) -> Started:
    env.reset(seed=0)
    return env.single_action_space, lambda actions: len(env.step(actions)[1])


def make_single(args: Args) -> Any:
    """Makes one Gymnasium environment that does the same work as cypool's."""
    die_with_parent()  # this may be a process of AsyncVectorEnv
    if args.module:
        importlib.import_module(args.module)
    if not args.game:
        return gymnasium.make(args.env, **args.options)
    env = gymnasium.make(f"ALE/{args.env.replace('3d', '3D')}", frameskip=1, repeat_action_probability=0.0)
    return FrameStackObservation(AtariPreprocessing(env, noop_max=30, frame_skip=4, screen_size=84), 4)


class Candidate(NamedTuple):
    """One row of the table."""

    name: str
    peer: str       # as --peers has it; "" is cypool itself
    # takes the arguments, the number of environments, and how many of them return at a time;
    # returns the action space of one, and step(actions), which says how many it has stepped
    start: Callable[[Args, int, int], Started]
    # whether it has the environment, if the family says that it may
    fits: Callable[[Args], bool] = lambda args: True
    is_async: bool = False                  # those return that finish first
    few: bool = False

    def sizes(self, args: Args) -> tuple[int, int]:
        """Returns the number of environments, and the batch size."""
        n = min(args.num_envs, 4 * args.threads) if self.few else args.num_envs
        return n, args.batch_size if self.is_async else n


CANDIDATES = [
    # few: the speed of the loop does not depend on the number, and for AsyncVectorEnv each is a process
    Candidate("Python for-loop", "loop", python_loop, lambda args: args.in_gymnasium or bool(args.loop), few=True),
    Candidate("Gymnasium SyncVectorEnv", "sync-vector", lambda args, n, rows: stepping(
        SyncVectorEnv([partial(make_single, args)] * n)), lambda args: args.in_gymnasium),
    Candidate("Gymnasium AsyncVectorEnv", "async-vector", lambda args, n, rows: stepping(
        AsyncVectorEnv([partial(make_single, args)] * n, context="fork")), lambda args: args.in_gymnasium, few=True),
    Candidate("Gymnasium's NumPy env", "numpy-vector", lambda args, n, rows: stepping(
        gymnasium.make_vec(args.env, n, vectorization_mode="vector_entry_point")), lambda args: args.has_numpy),
    Candidate("ALE AtariVectorEnv sync", "ale", ale),
    Candidate("ALE AtariVectorEnv async", "ale", ale, is_async=True),
    Candidate("mujoco.rollout", "rollout", mujoco_rollout, lambda args: args.in_gymnasium),
    # since MuJoCo 3.17
    Candidate("mujoco.batch", "batch", partial(mujoco_batch, "mujoco.batch"),
              lambda args: args.in_gymnasium and importlib.util.find_spec("mujoco.batch") is not None),
    Candidate("mjbatch", "mjbatch", partial(mujoco_batch, "mjbatch"),
              lambda args: args.in_gymnasium and importlib.util.find_spec("mjbatch") is not None),
    Candidate("EnvPool sync", "envpool", partial(pool, "envpool")),
    Candidate("EnvPool async", "envpool", partial(pool, "envpool"), is_async=True),
    Candidate("cypool sync", "", partial(pool, "cypool")),
    Candidate("cypool async", "", partial(pool, "cypool"), is_async=True),
]


def serve(name: str, settings: str) -> None:
    """Runs in a candidate's process: takes a sample for each line of input, and answers with a line of JSON."""
    die_with_parent()
    # output of libraries must not get between the answers
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    args = argparse.Namespace(**json.loads(settings))
    candidate = next(c for c in CANDIDATES if c.name == name)
    n, rows = candidate.sizes(args)
    try:
        space, step = candidate.start(args, n, rows)
        space = batch_space(space, rows)
        space.seed(0)
        actions = itertools.cycle([space.sample() for _ in range(64)])
        print(json.dumps(run(step, actions, rows, 0)), file=answers)  # it is ready
    except Exception as error:
        print(json.dumps({"error": f"{type(error).__name__}: {error}"}), file=answers)
        raise
    for _ in sys.stdin:
        run(step, actions, rows, WARM_UP)
        cpu = cpu_seconds()
        sample = run(step, actions, rows, args.seconds)
        print(json.dumps({**sample, "cpu_seconds": cpu_seconds() - cpu}), file=answers)


def run(step: Callable[[Any], int], actions: Iterator[Any], rows: int, seconds: float) -> dict[str, float]:
    """Returns the number of steps done, and the time taken."""
    steps, passed, begin = 0, 0.0, time.perf_counter()
    while not steps or passed < seconds:
        # 256 or so between two looks at the clock
        steps += sum(map(step, itertools.islice(actions, max(1, 256 // rows))))
        passed = time.perf_counter() - begin
    return {"steps": steps, "seconds": passed}


def cpu_seconds() -> float:
    """Returns the CPU time of this process and its descendants, such as workers and Doom engines."""
    pids = [os.getpid()]
    for pid in pids:
        for children in Path(f"/proc/{pid}/task").glob("*/children"):
            pids += map(int, children.read_text().split())
    # a process's CPU clock, as clock_getcpuclockid(3) makes it
    return sum(time.clock_gettime(~pid << 3 | 2) for pid in pids)


def die_with_parent() -> None:
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # 1 is PR_SET_PDEATHSIG


class Runner(subprocess.Popen[str]):
    """A candidate's process, as the benchmark controls it; it runs only while it is timed."""

    def __init__(self, name: str, args: Args):
        self.name = name
        # some Dooms write to the current folder
        self.folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        # the same modules can be imported there
        path = os.pathsep.join(os.path.abspath(folder) for folder in sys.path)
        # a new session: one signal reaches all its processes, and Ctrl-C none
        super().__init__([sys.executable, "-m", "cypool.tools.benchmark", name, json.dumps(vars(args))],
                         text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True,
                         stderr=None if args.verbose else subprocess.DEVNULL,
                         env={**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": path}, cwd=self.folder.name)

    def sample(self) -> dict[str, Any]:
        self.signal_all(signal.SIGCONT)
        with contextlib.suppress(BrokenPipeError):
            print("sample", file=self.stdin, flush=True)
        return self.answer()

    def answer(self) -> dict[str, Any]:
        """Waits for an answer, then pauses the process. The first answer means that it is ready."""
        assert self.stdout is not None
        line = self.stdout.readline()
        answer = json.loads(line) if line else {"error": f"exit status {self.wait()}"}
        if "error" in answer:
            fail(f"{self.name}: {answer['error']} (--verbose shows more; --peers can skip it)")
        self.signal_all(signal.SIGSTOP)
        return answer

    def signal_all(self, number: int) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.pid, number)


def measure(candidates: Sequence[Candidate], args: Args) -> dict[str, list[dict[str, Any]]]:
    """Returns the samples of each candidate, by name."""
    runners: list[Runner] = []
    samples: dict[str, list[dict[str, Any]]] = {c.name: [] for c in candidates}
    try:
        # all at once, for machines with many CPUs
        runners.extend(Runner(c.name, args) for c in candidates)
        with Progress() as bar:
            for runner in bar.over(runners, "starting"):
                runner.answer()
            order = [runner for i in range(args.rounds) for runner in (runners[::-1] if i % 2 else runners)]
            for runner in bar.over(order, f"{args.rounds} rounds"):
                samples[runner.name].append(runner.sample())
    finally:
        for runner in runners:
            runner.signal_all(signal.SIGKILL)
            runner.wait()
            runner.folder.cleanup()
    return samples


def quartiles(values: list[float]) -> list[float]:
    """Returns the lower quartile, the median and the upper quartile."""
    return statistics.quantiles(values, n=4, method="inclusive") if len(values) > 1 else values * 3


def summarize(candidates: Sequence[Candidate], samples: dict[str, list[dict[str, Any]]],
              args: Args) -> list[dict[str, Any]]:
    """Returns a dict for each candidate; its ratios are to the first candidate and to the fastest peer."""
    frames = args.options.get("frame_skip", 1)
    speeds = {name: [frames * x["steps"] / x["seconds"] for x in taken] for name, taken in samples.items()}
    others = [candidates[0].name, *(c.name for c in candidates if c.peer)]
    others = [others[0], max(others, key=lambda name: statistics.median(speeds[name]))]
    return [{
        "candidate": c.name, "peer": c.peer, "num_envs": c.sizes(args)[0], "batch_size": c.sizes(args)[1],
        "frames_per_second": quartiles(speeds[c.name]),
        "ratio_to": {other: quartiles([a / b for a, b in zip(speeds[c.name], speeds[other], strict=True)])
                     for other in others},
        "cpu_us_per_step": 1e6 * statistics.median(x["cpu_seconds"] / x["steps"] for x in taken),
        "cores_used": statistics.median(x["cpu_seconds"] / x["seconds"] for x in taken), "samples": taken,
    } for c, taken in zip(candidates, samples.values(), strict=True)]


def describe() -> dict[str, Any]:
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    cpu = next((line.split(": ")[1] for line in lines if line.startswith("model name")), platform.machine())
    others = {*(family.package for family in FAMILIES if family.package), "envpool"}
    packages = ["numpy", "gymnasium", *sorted(filter(importlib.util.find_spec, others))]
    # a distribution may have another name than its package
    names = importlib.metadata.packages_distributions()
    versions = {name.replace("_", "-"): importlib.metadata.version(name)
                for name in (names[package][0] for package in packages if package in names)}
    return {"machine": {"cpu": cpu, "cpus": os.cpu_count(), "cpus_usable": cpus.available()},
            "versions": {"system": platform.platform(), "python": platform.python_version(),
                         "cypool": cypool.__version__, **versions}}


def show(report: dict[str, Any], args: Args) -> None:
    """Prints the table, and its explanation."""
    results, machine, ratio = report["results"], report["machine"], "{1:.2f} ({0:.2f}..{2:.2f})".format
    first = results[0]["candidate"]
    rows: list[list[Cell]] = []
    for r in results:
        envs = f"{r['batch_size']}/{r['num_envs']}" if r["batch_size"] < r["num_envs"] else str(r["num_envs"])
        cells = (r["candidate"], envs, f"{r['frames_per_second'][1]:,.0f}", ratio(*r["ratio_to"][first]),
                 f"{r['cpu_us_per_step']:.3g}", f"{r['cores_used']:.2f}")
        rows.append([(cell, "bold" * (not r["peer"])) for cell in cells])
    rows += [[(cell, "dim") for cell in (peer, "", "not installed", f"pip install {peer}", "", "")]
             for peer in report["not_installed"]]
    print()
    print_table(rows, heading=("candidate", "envs", "frames/s", f"times\n{first}", "CPU us\na step", "cores\nused"),
                right=range(1, 6))
    best = max((r for r in results if not r["peer"]), key=lambda r: r["frames_per_second"][1])
    for name, quarters in best["ratio_to"].items() if results[0]["peer"] else ():
        print(styled(f"\n{best['candidate']} is {ratio(*quarters)} times as fast as {name}", "bold"))
    print(f"""
Medians of {args.rounds} rounds of {args.seconds:g} s, quartiles in brackets. Ratios are computed within each round;
where brackets overlap, the order is uncertain. {args.batch_size}/{args.num_envs} is asynchronous: the first
{args.batch_size} of {args.num_envs} to finish. Frames per step: {args.options.get("frame_skip", 1)}. If few cores were
used, other programs were running.

{args.env}, {args.threads} threads on {machine["cpu"]}, {machine["cpus_usable"]} of {machine["cpus"]} CPUs
{", ".join(f"{name} {version}" for name, version in report["versions"].items())}""")


def plot(report: dict[str, Any], path: str) -> None:
    from matplotlib.figure import Figure

    results = report["results"]
    lower, median, upper = zip(*(r["frames_per_second"] for r in results), strict=True)
    names = [r["candidate"] for r in results]
    figure = Figure(figsize=(8, 1.2 + 0.4 * len(results)), layout="constrained")
    axes = figure.subplots()
    axes.barh(names, median, color=["silver" if r["peer"] else "tab:blue" for r in results])
    axes.hlines(names, lower, upper, color="black")
    axes.invert_yaxis()
    axes.set(title=f"{report['settings']['env']}, {report['machine']['cpu']}", xlabel="frames/s, quartiles")
    figure.savefig(path)


def check(args: Args) -> None:
    """Raises a Failure if a number is out of range, a file cannot be written or a package is missing."""
    for name, low, high in (("num_envs", 1, 2**16), ("batch_size", 1, args.num_envs), ("threads", 1, 4096),
                              ("seconds", 0.01, 600), ("rounds", 1, 10_000)):
        if not low <= getattr(args, name) <= high:
            fail(f"--{name.replace('_', '-')}: expected {low} to {high}, got {getattr(args, name)}")
    for file in filter(None, (args.json, args.plot)):
        if not Path(file).resolve().parent.is_dir():
            fail(f"{file}: the folder does not exist")
    if args.plot and len(args.envs) > 1:
        fail("--plot: expected a single environment")
    if args.plot and not importlib.util.find_spec("matplotlib"):
        fail("--plot needs matplotlib: pip install matplotlib")


def of_env(args: Args, env: str) -> Args:
    """Returns the arguments for an environment, including what its family's record says about its peers.

    `game` is ALE's name of the game if ALE is a peer, else None.
    """
    args = argparse.Namespace(**{**vars(args), "env": env})
    try:
        options = cypool.make_spec(args.env, **args.given).options
    except (ValueError, ImportError) as error:
        fail(str(error))
    entry_point = entry_of(env).entry_point
    family = family_of(entry_point)
    entry = gymnasium.registry.get(args.env)
    args.offered, args.options, args.module, args.loop = [], args.given, "", ""
    if family is not None:
        args.offered = list(family.of_class(family.peers, entry_point, ()))
        args.options, args.module = {**family.peer_options, **args.given}, family.gymnasium_module
        args.loop = family.loop if family.has_reference else ""
    args.game = options.get("task") if "ale" in args.offered else None
    if family is not None and not family.is_installed:
        fail(f"{env}: {family.needs} is not installed: {family.install}")
    args.in_gymnasium = bool(entry) or bool(args.module and importlib.util.find_spec(args.module.partition(".")[0]))
    args.has_numpy = bool(entry and entry.vector_entry_point)
    return args


def choose(args: Args) -> tuple[list[Candidate], list[str]]:
    """Returns the candidates, and the peers that are not installed."""
    fitting = [c for c in CANDIDATES if c.peer in args.offered and c.fits(args)]
    peers = list(dict.fromkeys(c.peer for c in fitting))
    wanted = {"all": peers, "none": []}.get(args.peers or "all", (args.peers or "").split(","))
    for peer in wanted:
        if peer not in peers:
            fail(f"--peers: {args.env} has no {peer!r}; choose from {', '.join(['all', 'none', *peers])}")
    missing = ["envpool"] if "envpool" in wanted and not importlib.util.find_spec("envpool") else []
    if missing and args.peers:
        fail("--peers: EnvPool is not installed: pip install envpool")
    return [c for c in CANDIDATES if not c.peer or (c in fitting and c.peer in {*wanted} - {*missing})
            if not (c.is_async and args.batch_size == args.num_envs)], missing


def table_of_envs(args: Args, envs: Sequence[str]) -> dict[str, list[dict[str, Any]]]:
    """Measures several environments and prints a line for each, in Markdown.

    Returns:
        The result of `summarize` for each.
    """
    results: dict[str, list[dict[str, Any]]] = {}
    lines: list[list[float]] = []
    for of_this in [of_env(args, env) for env in envs]:
        env, (candidates, _) = of_this.env, choose(of_this)
        rows = results[env] = summarize(candidates, measure(candidates, of_this), of_this)
        # of cypool and of each peer the mode that is faster here
        best = {row["peer"]: row for row in sorted(rows, key=lambda row: row["frames_per_second"][1])}
        ours, peers = best.pop(""), sorted(best)
        if not lines:
            print("|", "cypool, frames/s", *(f"times {peer}" for peer in peers), "", sep=" | ")
            print("| ---", *["--:"] * (1 + len(peers)), "", sep=" | ")
        lines.append([statistics.median(a["steps"] / a["seconds"] * b["seconds"] / b["steps"]
                                        for a, b in zip(ours["samples"], best[peer]["samples"], strict=True))
                      for peer in peers])
        print(f"| {env}", f"{ours['frames_per_second'][1]:,.0f}", *(f"{ratio:.2f}" for ratio in lines[-1]), "",
              sep=" | ", flush=True)
    means = map(statistics.geometric_mean, zip(*lines, strict=True))
    print("| geometric mean", "", *(f"{mean:.2f}" for mean in means), "", sep=" | ")
    return results


def main(args: Args) -> None:
    """Measures and prints; `args` are those of `cypool bench`, with `envs`, a list of ids, and `given`, options."""
    check(args)
    if len(args.envs) > 1:
        results = table_of_envs(args, args.envs)
        if args.json:
            Path(args.json).write_text(json.dumps({**describe(), "settings": vars(args), "results": results}) + "\n")
        return
    args = of_env(args, args.envs[0])
    candidates, missing = choose(args)
    loading = sum(1 + (0.08 * c.sizes(args)[0] if args.game else 0) for c in candidates) / cpus.available()
    duration = loading + len(candidates) * args.rounds * (args.seconds + WARM_UP)
    print(f"Stepping {args.env} with {len(candidates)} candidates in turn to compare their speed; this takes about "
          f"{duration:.0f} seconds.", flush=True)
    samples = measure(candidates, args)
    report = {**describe(), "settings": vars(args), "not_installed": missing,
              "results": summarize(candidates, samples, args)}
    show(report, args)
    if args.json:
        Path(args.json).write_text(json.dumps(report, indent=1) + "\n")
    if args.plot:
        plot(report, args.plot)


class Failure(Exception):
    """Ends the run with a message."""


def fail(message: str) -> NoReturn:
    raise Failure(message)


if __name__ == "__main__":
    serve(*sys.argv[1:])
