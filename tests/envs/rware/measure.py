"""The robotic warehouse next to rware: random actions, resets included. A step is one of all agents."""
import numpy as np
from measuring import Table, chosen, steps_of

import cypool
from cypool.envs.rware.reference import make_env

DEFAULTS = {"num_envs": 1024}
IDS = ("rware-tiny-2ag-v2", "rware-tiny-4ag-v2", "rware-small-4ag-v2", "rware-large-8ag-v2", "rware-large-19ag-v2",
       "rware-img-tiny-2ag-v2")


def ours(id, num_envs, num_threads):
    env = cypool.make(id, num_envs=num_envs, num_threads=num_threads, seed=0)
    env.action_space.seed(0)
    return steps_of(env, [env.action_space.sample() for _ in range(100)])


def theirs(id):
    """Returns a candidate: takes random actions in rware's environment; a reset counts as a step, as in a pool."""
    spec = cypool.make_spec(id)
    env = make_env(spec)
    actions = np.random.default_rng(0).integers(0, 5, (100, spec.num_agents)).tolist()
    env.reset(seed=0)
    ended = False

    def run():
        nonlocal ended
        for action in actions:
            if ended:
                env.reset()
                ended = False
            else:
                ended = env.step(action)[2]
        return len(actions)

    return run


def rows(arguments):
    for id in chosen(IDS, arguments.patterns):
        yield f"`{id}`", {"rware": theirs(id), "one": ours(id, 1, arguments.num_threads),
                          "cypool": ours(id, arguments.num_envs, arguments.num_threads)}


TABLES = {"steps": Table(rows, ("cypool", "rware", "one"), (("rware", "cypool"),))}
