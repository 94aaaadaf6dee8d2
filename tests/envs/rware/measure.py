"""The robotic warehouse next to rware: random actions, resets included. A step is one of all agents."""
import numpy as np
from measuring import Table, chosen, loop_steps, pool_steps

import cypool
from cypool.envs.rware.reference import make_env

DEFAULTS = {"num_envs": 1024}
IDS = ("rware-tiny-2ag-v2", "rware-tiny-4ag-v2", "rware-small-4ag-v2", "rware-large-8ag-v2", "rware-large-19ag-v2",
       "rware-img-tiny-2ag-v2")


def theirs(id):
    spec = cypool.make_spec(id)
    env = make_env(spec)
    env.reset(seed=0)
    return loop_steps(env.reset, lambda action: env.step(action)[2],
                      np.random.default_rng(0).integers(0, 5, (100, spec.num_agents)).tolist())


def rows(arguments):
    for id in chosen(IDS, arguments.patterns):
        yield f"`{id}`", {"rware": theirs(id), "one": pool_steps(id, 1, arguments.num_threads),
                          "cypool": pool_steps(id, arguments.num_envs, arguments.num_threads)}


TABLES = {"steps": Table(rows, ("cypool", "rware", "one"), (("rware", "cypool"),))}
