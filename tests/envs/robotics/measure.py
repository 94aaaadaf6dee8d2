"""Gymnasium-Robotics next to gymnasium-robotics and EnvPool, which has another MuJoCo; resets do not count.

With `--table loop`: robots in lanes next to as many steps of MuJoCo in a loop in C++ (bare_loop.cpp, needs g++), in
which episodes do not end, and the arm's hand goes to random places. With `--table bare`: how much of a step is
MuJoCo's, which is the reference's call of it alone, without the clock that MuJoCo's Python package sets. With `--table
goals`: the reward of 256 goals, 1,000 times.
"""
import copy
import time

import mujoco
import numpy as np
from bare_loop import arms_of, loop_of
from measuring import Table, chosen, envpool, random_actions, steps_of

import cypool
from cypool.envs.robotics.reference import make

DEFAULTS = {"num_envs": 8, "num_threads": 1, "seconds": 0.0}
IDS = ["FetchReach-v4", "FetchPush-v4", "FetchPickAndPlace-v4", "FetchSlide-v4", "HandReach-v3",
       "HandManipulateBlock-v1", "HandManipulatePen-v1", "HandManipulateBlock_ContinuousTouchSensors-v1",
       "PointMaze_UMaze-v3", "AntMaze_UMaze-v5", "AntMaze_Large-v4", "AdroitHandDoor-v1", "AdroitHandHammer-v1",
       "AdroitHandPen-v1", "AdroitHandRelocate-v1", "FrankaKitchen-v1"]
ENDLESS = 2**30


def add_arguments(parser):
    parser.add_argument("--num-steps", type=int, default=200)


def prepared(arguments):
    """Yields ids, pools of one and of many, the reference, the steps of an episode, and random actions."""
    for id in chosen(IDS, arguments.patterns):
        one, many = (cypool.make(id, num_envs=n, num_threads=arguments.num_threads, seed=0, max_episode_steps=ENDLESS)
                     for n in (1, arguments.num_envs))
        limit = cypool.make_spec(id).max_episode_steps
        space, num_steps = one.single_action_space, min(arguments.num_steps, 4 * limit)
        yield id, one, many, make(id).unwrapped, limit, random_actions(space, num_steps, arguments.num_envs)


def steps(arguments):
    num_envs = arguments.num_envs
    for id, one, many, reference, limit, actions in prepared(arguments):
        # it has no ants in mazes
        other = None if id.startswith("AntMaze") else envpool(id, num_envs, max_episode_steps=ENDLESS)
        theirs = actions.astype(other.action_space.dtype) if other else None
        yield f"`{id}`", {"cypool": steps_of(many, actions, limit=limit),
                          "one": steps_of(one, actions[:, :1], limit=limit),
                          "gymnasium-robotics": steps_of(reference, actions[:, 0], limit=limit),
                          "EnvPool": steps_of(other, theirs, num_envs, limit)}


class Timed:
    """A function that adds up the CPU time of its calls."""

    def __init__(self, function):
        self.function, self.seconds = function, 0.0

    def __call__(self, *args, **kwargs):
        start = time.process_time()
        result = self.function(*args, **kwargs)
        self.seconds += time.process_time() - start
        return result


def simulation_of(env, actions, limit):
    """Returns a candidate: takes the actions in the reference, of which only MuJoCo's part counts."""
    robot = inner(env)
    name = "_step_mujoco_simulation" if hasattr(robot, "_step_mujoco_simulation") else "_mujoco_step"
    timed = Timed(getattr(robot, name))
    setattr(robot, name, timed)
    steps = steps_of(env, actions, limit=limit)

    def run():
        begin = timed.seconds
        return steps()[0], timed.seconds - begin

    return run


def bare(arguments):
    for id, one, _, reference, limit, actions in prepared(arguments):
        # half of a small model's step
        mujoco.set_mjcb_time(None)
        yield f"`{id}`", {"cypool": steps_of(one, actions[:, :1], limit=limit),
                          "mj_step": simulation_of(reference, actions[:, 0], limit)}


def inner(env):
    """Returns the environment of a reference that has MuJoCo's data."""
    return next((getattr(env, name) for name in ("point_env", "ant_env", "robot_env") if hasattr(env, name)), env)


def loop(arguments):
    for id in chosen(IDS, arguments.patterns):
        lanes, mj_step = (cypool.make(id, num_envs=arguments.num_envs, num_threads=arguments.num_threads, seed=0,
                                      physics=physics) for physics in ("lanes", "mj_step"))
        if not lanes.stepped_by.startswith("lanes"):
            continue
        actions, env, datas = random_actions(lanes.single_action_space, 64, arguments.num_envs), make(id).unwrapped, []
        for seed in range(arguments.num_envs):
            env.reset(seed=seed)
            datas.append(copy.copy(inner(env).data))
        model, frames = inner(env).model, getattr(inner(env), "n_substeps", 0) or inner(env).frame_skip
        if model.nmocap:
            bare = arms_of(model, datas, actions, frames)
        else:
            middle, half = model.actuator_ctrlrange.mean(1), np.ptp(model.actuator_ctrlrange, 1) / 2
            controls = middle + half * actions if id.startswith("Hand") else actions
            bare = loop_of(model, datas, controls, frames, arguments.num_threads)
        yield f"`{id}`", {"lanes": steps_of(lanes, actions), "mj_step": steps_of(mj_step, actions), "loop": bare}


def rewards_of(env, goals):
    def run():
        for _ in range(1000):
            env.compute_reward(*goals, {})
        return 1000

    return run


def goals(arguments):
    for id, one, _, reference, *_ in prepared(arguments):
        # the kitchen's goals are of another form there, and Adroit has none
        if not id.startswith(("Adroit", "FrankaKitchen")):
            size = one.single_observation_space["desired_goal"].shape[0]
            drawn = np.random.default_rng(0).standard_normal((2, 256, size))
            yield f"`{id}`", {"cypool": rewards_of(one, drawn), "gymnasium-robotics": rewards_of(reference, drawn)}


TABLES = {"steps": Table(steps, ("cypool", "one", "gymnasium-robotics", "EnvPool"),
                         (("gymnasium-robotics", "cypool"), ("gymnasium-robotics", "one"), ("EnvPool", "cypool"))),
          "loop": Table(loop, ("lanes", "mj_step", "loop"), (("loop", "lanes"), ("mj_step", "lanes")), ("wall", "CPU")),
          "bare": Table(bare, ("cypool", "mj_step")), "goals": Table(goals, ("cypool", "gymnasium-robotics"))}
