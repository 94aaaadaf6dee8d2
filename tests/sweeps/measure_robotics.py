"""Measures Gymnasium-Robotics next to gymnasium-robotics: CPU time of a step, and how much of it is MuJoCo's.

    python tests/sweeps/measure_robotics.py [ID ...] [--num-steps 200] [--rounds 5]

Rounds alternate, and the median counts. Resets do not count. "mj_step" is the reference's call of MuJoCo alone, without
the clock that MuJoCo's Python package sets. Takes gymnasium-robotics.
"""
import argparse
import statistics
import time
import warnings

import mujoco
import numpy as np

import cypool
from cypool.envs.robotics.reference import make

IDS = ["FetchReach-v4", "FetchPush-v4", "FetchPickAndPlace-v4", "FetchSlide-v4", "HandReach-v3",
       "HandManipulateBlock-v1", "HandManipulateBlock_ContinuousTouchSensors-v1", "PointMaze_UMaze-v3",
       "AntMaze_UMaze-v5", "AntMaze_Large-v4", "AdroitHandDoor-v1", "AdroitHandHammer-v1", "AdroitHandPen-v1",
       "AdroitHandRelocate-v1", "FrankaKitchen-v1"]
parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("ids", nargs="*", default=IDS)
parser.add_argument("--num-steps", type=int, default=200)
parser.add_argument("--rounds", type=int, default=5)
arguments = parser.parse_args()
warnings.simplefilter("ignore")


class Timed:
    """A function that adds up the CPU time of its calls."""

    def __init__(self, function):
        self.function, self.seconds = function, 0.0

    def __call__(self, *args, **kwargs):
        start = time.process_time()
        result = self.function(*args, **kwargs)
        self.seconds += time.process_time() - start
        return result


def reference_of(id):
    """Returns the environment and a `Timed` for its simulation."""
    env = make(id).unwrapped
    inner = next((getattr(env, name) for name in ("point_env", "ant_env", "robot_env") if hasattr(env, name)), env)
    name = "_step_mujoco_simulation" if hasattr(inner, "_step_mujoco_simulation") else "_mujoco_step"
    timed = Timed(getattr(inner, name))
    setattr(inner, name, timed)
    return env, timed


def loop(reset, step, actions, limit):
    """Returns microseconds of CPU time of a step."""
    total = 0.0
    for first in range(0, len(actions), limit):
        reset()
        start = time.process_time()
        for action in actions[first:first + limit]:
            step(action)
        total += time.process_time() - start
    return total / len(actions) * 1e6




def make_all(id):
    """Returns the reference, pools of one environment and of eight, the steps of an episode, and actions."""
    pools = [cypool.make(id, num_envs=n, num_threads=0, seed=0, max_episode_steps=2**30) for n in (1, 8)]
    limit = cypool.make_spec(id).max_episode_steps
    space = pools[0].single_action_space
    num_steps = min(arguments.num_steps, limit * 4)
    return *pools, limit, np.random.default_rng(0).uniform(-1, 1, (num_steps, 8, *space.shape)).astype(space.dtype)


print(f"{'':46s} reference  cypool: 1 env  8 envs | reference / cypool: 1 env, 8 envs")
for id in arguments.ids:
    (reference, _), (one, eight, limit, actions) = reference_of(id), make_all(id)
    times = []
    for _ in range(arguments.rounds):
        times.append((loop(reference.reset, reference.step, actions[:, 0], limit),
                      loop(one.reset, one.step, actions[:, :1], limit),
                      loop(eight.reset, eight.step, actions, limit) / 8))
    theirs, ours, many = (statistics.median(column) for column in zip(*times, strict=True))
    print(f"{id:46s} {theirs:9.1f} {ours:14.1f} {many:7.1f} | {theirs / ours:5.2f} {theirs / many:5.2f}", flush=True)

# from here on nobody has the clock that the package sets, which would be half of a small model's step
mujoco.set_mjcb_time(None)
print(f"\n{'':46s}   mj_step  cypool: 1 env | cypool / mj_step")
for id in arguments.ids:
    (reference, simulated), (one, _, limit, actions) = reference_of(id), make_all(id)
    times = []
    for _ in range(arguments.rounds):
        simulated.seconds = 0.0
        loop(reference.reset, reference.step, actions[:, 0], limit)
        times.append((simulated.seconds / len(actions) * 1e6, loop(one.reset, one.step, actions[:, :1], limit)))
    bare, ours = (statistics.median(column) for column in zip(*times, strict=True))
    print(f"{id:46s} {bare:9.1f} {ours:14.1f} | {ours / bare:5.3f}", flush=True)
