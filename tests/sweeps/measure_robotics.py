"""Measures Gymnasium-Robotics next to gymnasium-robotics: CPU time of a step, and how much of it is MuJoCo's.

    python tests/sweeps/measure_robotics.py [ID ...] [--num-steps 200] [--rounds 5] [--envpool] [--goals]

Rounds alternate, and the median counts. Resets do not count. "mj_step" is the reference's call of MuJoCo alone, without
the clock that MuJoCo's Python package sets. With --goals, the rewards of 256 goals are measured instead, the median of
1,000 calls in each round. Takes gymnasium-robotics, and with --envpool EnvPool 1.2.5, which has another MuJoCo.
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
       "HandManipulateBlock-v1", "HandManipulatePen-v1", "HandManipulateBlock_ContinuousTouchSensors-v1",
       "PointMaze_UMaze-v3", "AntMaze_UMaze-v5", "AntMaze_Large-v4", "AdroitHandDoor-v1", "AdroitHandHammer-v1",
       "AdroitHandPen-v1", "AdroitHandRelocate-v1", "FrankaKitchen-v1"]
parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("ids", nargs="*", default=IDS)
parser.add_argument("--num-steps", type=int, default=200)
parser.add_argument("--rounds", type=int, default=5)
parser.add_argument("--envpool", action="store_true")
parser.add_argument("--goals", action="store_true")
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
    """Returns pools of one environment and of eight, the steps of an episode, and actions."""
    pools = [cypool.make(id, num_envs=n, num_threads=0, seed=0, max_episode_steps=2**30) for n in (1, 8)]
    limit = cypool.make_spec(id).max_episode_steps
    space = pools[0].single_action_space
    num_steps = min(arguments.num_steps, limit * 4)
    return *pools, limit, np.random.default_rng(0).uniform(-1, 1, (num_steps, 8, *space.shape)).astype(space.dtype)


def measure_goals(id):
    """Prints how long the reward of 256 goals takes."""
    pool, reference = cypool.make(id, num_threads=0), make(id).unwrapped
    size = pool.single_observation_space["desired_goal"].shape[0]
    goals = np.random.default_rng(0).standard_normal((2, 256, size))
    medians = []
    for _ in range(arguments.rounds):
        medians.append([])
        for function in (reference.compute_reward, pool.compute_reward):
            times = []
            for _ in range(1000):
                start = time.perf_counter()
                function(*goals, {})
                times.append(time.perf_counter() - start)
            medians[-1].append(statistics.median(times) * 1e6)
    theirs, ours = (statistics.median(column) for column in zip(*medians, strict=True))
    print(f"{id:46s} {theirs:9.1f} {ours:14.1f} | {theirs / ours:5.2f}", flush=True)


def measure_steps(id):
    """Prints the CPU time of a step: of the reference, of cypool, and of EnvPool if it has the id."""
    (reference, _), (one, eight, limit, actions) = reference_of(id), make_all(id)
    loops = [lambda: loop(reference.reset, reference.step, actions[:, 0], limit),
             lambda: loop(one.reset, one.step, actions[:, :1], limit),
             lambda: loop(eight.reset, eight.step, actions, limit) / 8]
    if arguments.envpool and not id.startswith("AntMaze"):
        import envpool

        other = envpool.make_gymnasium(id, num_envs=8, num_threads=1, seed=0, max_episode_steps=2**30)
        theirs = actions.astype(other.action_space.dtype)
        loops.append(lambda: loop(other.reset, other.step, theirs, limit) / 8)
    rounds = [[each() for each in loops] for _ in range(arguments.rounds)]
    theirs, ours, many, *others = (statistics.median(column) for column in zip(*rounds, strict=True))
    more = "".join(f" | EnvPool {time:.1f}, {time / many:.2f}" for time in others)
    ratios = f"{theirs / ours:5.2f} {theirs / many:5.2f}"
    print(f"{id:46s} {theirs:9.1f} {ours:14.1f} {many:7.1f} | {ratios}{more}", flush=True)


def measure_bare(id):
    """Prints how much of a step is MuJoCo's."""
    (reference, simulated), (one, _, limit, actions) = reference_of(id), make_all(id)
    times = []
    for _ in range(arguments.rounds):
        simulated.seconds = 0.0
        loop(reference.reset, reference.step, actions[:, 0], limit)
        times.append((simulated.seconds / len(actions) * 1e6, loop(one.reset, one.step, actions[:, :1], limit)))
    bare, ours = (statistics.median(column) for column in zip(*times, strict=True))
    print(f"{id:46s} {bare:9.1f} {ours:14.1f} | {ours / bare:5.3f}", flush=True)


def main():
    if arguments.goals:
        print(f"{'256 goals':46s} reference         cypool | reference / cypool")
        for id in arguments.ids:
            # the kitchen's goals are of another form there, and Adroit has none
            if not id.startswith(("Adroit", "FrankaKitchen")):
                measure_goals(id)
        return
    print(f"{'':46s} reference  cypool: 1 env  8 envs | reference / cypool: 1 env, 8 envs | EnvPool / cypool: 8 envs")
    for id in arguments.ids:
        measure_steps(id)
    # from here on nobody has the clock that the package sets, which would be half of a small model's step
    mujoco.set_mjcb_time(None)
    print(f"\n{'':46s}   mj_step  cypool: 1 env | cypool / mj_step")
    for id in arguments.ids:
        measure_bare(id)


if __name__ == "__main__":
    main()
