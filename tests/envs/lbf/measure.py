"""Level-based foraging next to lbforaging: random actions, resets included. A step is one of all players."""
import numpy as np
from measuring import Table, chosen, loop_steps, pool_steps

import cypool
from cypool.envs.lbf.reference import make_env

DEFAULTS = {"num_envs": 1024}
IDS = ("Foraging-8x8-2p-3f-v3", "Foraging-2s-8x8-2p-2f-coop-v3", "Foraging-10x10-3p-3f-v3", "Foraging-15x15-4p-5f-v3",
       "Foraging-19x19-9p-4f-v3", "Foraging-grid-2s-8x8-3p-3f-coop-v3")


def theirs(id):
    spec = cypool.make_spec(id)
    env = make_env(spec)
    env.reset(seed=0)
    return loop_steps(env.reset, lambda action: env.step(action)[2],
                      np.random.default_rng(0).integers(0, 6, (100, spec.num_agents)).tolist())


def rows(arguments):
    for id in chosen(IDS, arguments.patterns):
        yield f"`{id}`", {"lbforaging": theirs(id), "one": pool_steps(id, 1, arguments.num_threads),
                          "cypool": pool_steps(id, arguments.num_envs, arguments.num_threads)}


TABLES = {"steps": Table(rows, ("cypool", "lbforaging", "one"), (("lbforaging", "cypool"),))}
