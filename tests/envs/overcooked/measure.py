"""Overcooked next to overcooked_ai's grid world: random actions, resets included. A step is one of all agents."""
import numpy as np
from measuring import Table, chosen, loop_steps, pool_steps

import cypool
from cypool.envs.overcooked.reference import Reference

DEFAULTS = {"num_envs": 1024}
LAYOUTS = ("cramped_room", "asymmetric_advantages", "coordination_ring", "forced_coordination", "counter_circuit")


def theirs(id):
    env = Reference(cypool.make_spec(id))
    return loop_steps(env.reset, lambda action: env.step(action)[3],
                      np.random.default_rng(0).integers(0, 6, (100, env.num_agents)).tolist())


def rows(arguments):
    for layout in chosen(LAYOUTS, arguments.patterns):
        id = f"Overcooked-{layout}-v0"
        yield f"`{id}`", {"overcooked_ai": theirs(id), "one": pool_steps(id, 1, arguments.num_threads),
                          "cypool": pool_steps(id, arguments.num_envs, arguments.num_threads),
                          "uint8": pool_steps(id, arguments.num_envs, arguments.num_threads, obs_dtype="uint8")}


TABLES = {"steps": Table(rows, ("cypool", "uint8", "overcooked_ai", "one"),
                         (("overcooked_ai", "cypool"), ("overcooked_ai", "uint8")))}
