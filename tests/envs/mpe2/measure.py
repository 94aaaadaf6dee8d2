"""MPE2 next to mpe2: random actions, resets included. A step is one of all agents of an environment."""
import importlib

import numpy as np
from measuring import Table, chosen, steps_of

import cypool
from cypool.envs.mpe2.ids import CLASSES

DEFAULTS = {"num_envs": 256}


def ours(id, num_envs, continuous, num_threads):
    env = cypool.make(f"mpe2/{id}", num_envs=num_envs, num_threads=num_threads, seed=0, continuous_actions=continuous)
    env.action_space.seed(0)
    return steps_of(env, [env.action_space.sample() for _ in range(100)])


def theirs(id, continuous):
    """Returns a candidate: takes random actions in a parallel environment; a reset counts as a step, as in a pool."""
    env = importlib.import_module(f"mpe2.{id.replace('-', '_')}").parallel_env(continuous_actions=continuous)
    rng = np.random.default_rng(0)
    spaces = {agent: env.action_space(agent) for agent in env.possible_agents}
    actions = [{agent: rng.random(space.shape, np.float32) if continuous else int(rng.integers(space.n))
                for agent, space in spaces.items()} for _ in range(100)]
    env.reset(seed=0)

    def run():
        for action in actions:
            if env.agents:
                env.step(action)
            else:
                env.reset()
        return len(actions)

    return run


def table(continuous):
    def rows(arguments):
        for id in chosen(CLASSES, arguments.patterns):
            yield f"`{id}`", {"mpe2": theirs(id, continuous), "one": ours(id, 1, continuous, arguments.num_threads),
                              "cypool": ours(id, arguments.num_envs, continuous, arguments.num_threads)}

    return Table(rows, ("cypool", "mpe2", "one"), (("mpe2", "cypool"),))


TABLES = {"discrete": table(False), "continuous": table(True)}
