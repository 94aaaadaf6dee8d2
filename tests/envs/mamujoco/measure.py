"""MaMuJoCo next to gymnasium-robotics, and next to the robot alone: random actions, resets included."""
import warnings

import numpy as np
from measuring import Table, chosen, loop_steps, pool_steps

import cypool
from cypool.envs.mamujoco.reference import Reference

DEFAULTS = {"num_envs": 64}
ROBOTS = {"HalfCheetah-6x1": "HalfCheetah", "Ant-4x2": "Ant", "Humanoid-9-8": "Humanoid", "Walker2d-2x3": "Walker2d",
          "Swimmer-2x1": "Swimmer", "Hopper-3x1": "Hopper", "ManySegmentSwimmer-10x2": None, "ManySegmentAnt-2x3": None}


def theirs(id):
    env = Reference(cypool.make_spec(id), {}).env
    rng = np.random.default_rng(0)
    spaces = {agent: env.action_space(agent) for agent in env.possible_agents}
    actions = [{agent: rng.uniform(space.low, space.high).astype(np.float32) for agent, space in spaces.items()}
               for _ in range(100)]
    env.reset(seed=0)

    def step(action):
        _, _, terminated, truncated, _ = env.step(action)
        return terminated["agent_0"] or truncated["agent_0"]

    return loop_steps(env.reset, step, actions)


def rows(arguments):
    warnings.simplefilter("ignore")
    for name in chosen(ROBOTS, arguments.patterns):
        pool = {"num_envs": arguments.num_envs, "num_threads": arguments.num_threads}
        robot = ROBOTS[name]
        yield f"`MaMuJoCo/{name}-v1`", {
            "gymnasium-robotics": theirs(f"MaMuJoCo/{name}-v1"), "cypool": pool_steps(f"MaMuJoCo/{name}-v1", **pool),
            "robot": robot and pool_steps(f"{robot}-v5", action_dtype="float64", **pool)}


TABLES = {"steps": Table(rows, ("cypool", "gymnasium-robotics", "robot"),
                         (("gymnasium-robotics", "cypool"), ("robot", "cypool")))}
