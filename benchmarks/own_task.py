"""The same task three times: in NumPy, with Numba, and as a class in Cython: python benchmarks/own_task.py

CPU time of a step of an environment in microseconds; the versions take turns in one process. Before that, their rows
are compared: they are the same bits. The robot and its class in Cython are those of tests/plugin.
"""
import argparse
import statistics
import time
from pathlib import Path

import gymnasium
import numba
import numpy as np

import cypool
from cypool.mujoco import Task

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


def step(env, actions):
    """Returns the CPU seconds of a step, and the rows."""
    began = time.process_time()
    rows = env.step(actions)
    return time.process_time() - began, rows


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--num-envs", type=int, default=1024)
    parser.add_argument("--num-steps", type=int, default=400)
    args = parser.parse_args()
    sources = {"NumPy": Reach, "Numba": CompiledReach,
               "Cython": cypool.compile(FOLDER / "robot.pyx", max_episode_steps=200)}
    options = {"num_envs": args.num_envs, "num_threads": 1, "seed": 0}
    pools = {name: cypool.make(source, **options) for name, source in sources.items()}
    times = {name: [] for name in pools}
    for env in pools.values():
        env.reset()
    rng = np.random.default_rng(0)
    for t in range(args.num_steps):
        actions = rng.uniform(-1, 1, (args.num_envs, 2)).astype(np.float32)
        found = {name: step(env, actions) for name, env in pools.items()}
        for name, (seconds, rows) in found.items():
            times[name].append(seconds)
            for one, two in zip(rows[:4], found["Cython"][1][:4], strict=True):
                if not np.array_equal(one, two):
                    raise SystemExit(f"{name}: step {t} has other rows than the class in Cython")
    print("stepped by", {env.stepped_by for env in pools.values()})
    for name, seconds in times.items():
        print(f"{name:8}{1e6 * statistics.median(seconds) / args.num_envs:6.2f} us")


if __name__ == "__main__":
    main()
