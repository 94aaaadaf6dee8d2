"""The same task three times, in NumPy, with Numba and as a class in Cython: python benchmarks/own_task.py

CPU time of a step of an environment in microseconds, with each number of threads; below them, that of the robot's steps
alone. All take turns in one process. Rows of the three are the same bits. The robot is that of tests/plugin.
"""
import argparse
import statistics
import time
from pathlib import Path

import gymnasium
import numba
import numpy as np

import cypool
from cypool.mujoco import Batch, Task

import mujoco  # isort: skip
from mujoco import rollout  # isort: skip

FOLDER = Path(__file__).parents[1] / "tests/plugin/walker"


class Reach(Task):
    """Reaches up, as walker/Robot-v0."""

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
    """Writes rewards and ends."""
    for row in range(len(height)):
        cost = np.float32(0)
        for control in action[row]:
            cost += control * control
        reward[row] = height[row] - 0.01 * cost
        terminated[row] = height[row] > goal


@numba.njit(cache=True)
def look(qpos, qvel, obs):
    """Writes observations."""
    for row in range(len(qpos)):
        obs[row, :2], obs[row, 2:] = qpos[row], qvel[row]


class CompiledReach(Reach):
    """The same with Numba, without arrays on the way."""

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


class Lanes:
    """The robot's steps alone, by cypool."""

    def __init__(self, num_envs, num_threads):
        self.batch = Batch(Reach.model, num_envs, num_threads=num_threads)

    def step(self, actions):
        self.batch.ctrl[:] = actions
        self.batch.step(Reach.frame_skip)


class Rollout:
    """The same by `mujoco.rollout`."""

    def __init__(self, num_envs, num_threads):
        self.model = mujoco.MjModel.from_xml_path(str(Reach.model))
        self.threads = rollout.Rollout(nthread=num_threads)
        self.data = [mujoco.MjData(self.model) for _ in range(num_threads)]
        size = mujoco.mj_stateSize(self.model, mujoco.mjtState.mjSTATE_FULLPHYSICS)
        self.states = np.zeros((num_envs, Reach.frame_skip, size))

    def step(self, actions):
        control = np.repeat(actions[:, None].astype(np.float64), Reach.frame_skip, 1)
        self.threads.rollout(self.model, self.data, self.states[:, -1].copy(), control, state=self.states)


class Loop:
    """The same by a loop over `mj_step`."""

    def __init__(self, num_envs, _):
        self.model = mujoco.MjModel.from_xml_path(str(Reach.model))
        self.data = [mujoco.MjData(self.model) for _ in range(num_envs)]

    def step(self, actions):
        for data, action in zip(self.data, actions, strict=True):
            data.ctrl[:] = action
            mujoco.mj_step(self.model, data, Reach.frame_skip)


def timed(env, actions):
    """Returns the CPU seconds of a step, and the rows."""
    began = time.process_time()
    rows = env.step(actions)
    return time.process_time() - began, rows


def measure(args, num_threads):
    """Returns the CPU microseconds of an environment's step by what takes it."""
    sources = {"NumPy": Reach, "Numba": CompiledReach,
               "Cython": cypool.compile(FOLDER / "robot.pyx", max_episode_steps=200)}
    pools = {name: cypool.make(source, num_envs=args.num_envs, num_threads=num_threads, seed=0)
             for name, source in sources.items()}
    for env in pools.values():
        env.reset()
    floors = {"cypool.mujoco.Batch": Lanes, "mujoco.rollout": Rollout}
    if num_threads == 1:
        floors["mj_step"] = Loop
    pools |= {name: made(args.num_envs, num_threads) for name, made in floors.items()}
    times = {name: [] for name in pools}
    rng = np.random.default_rng(0)
    for t in range(args.num_steps):
        actions = rng.uniform(-1, 1, (args.num_envs, 2)).astype(np.float32)
        found = {name: timed(env, actions) for name, env in pools.items()}
        for name, (seconds, rows) in found.items():
            times[name].append(1e6 * seconds / args.num_envs)
            for one, two in zip(rows[:4] if rows else (), found["Cython"][1][:4], strict=False):
                if not np.array_equal(one, two):
                    raise SystemExit(f"{name}: step {t} has other rows than the class in Cython")
    return {name: statistics.median(each) for name, each in times.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--num-envs", type=int, default=1024)
    parser.add_argument("--num-steps", type=int, default=400)
    parser.add_argument("--num-threads", type=int, nargs="+", default=[1, 2])
    args = parser.parse_args()
    found = {num_threads: measure(args, num_threads) for num_threads in args.num_threads}
    for name in found[args.num_threads[0]]:
        print(f"{name:20}", *(f"{times.get(name, float('nan')):7.2f} us" for times in found.values()))


if __name__ == "__main__":
    main()
