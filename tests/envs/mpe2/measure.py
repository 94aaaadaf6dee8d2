"""MPE2 next to mpe2: random actions, resets included. A step is one of all agents of an environment."""
import importlib
from functools import partial

import numpy as np
from measuring import Table, chosen, loop_steps, pool_steps

from cypool.envs.mpe2.ids import CLASSES

DEFAULTS = {"num_envs": 256}


def theirs(id, continuous):
    env = importlib.import_module(f"mpe2.{id.replace('-', '_')}").parallel_env(continuous_actions=continuous)
    rng = np.random.default_rng(0)
    spaces = {agent: env.action_space(agent) for agent in env.possible_agents}
    actions = [{agent: rng.random(space.shape, np.float32) if continuous else int(rng.integers(space.n))
                for agent, space in spaces.items()} for _ in range(100)]
    env.reset(seed=0)

    def step(action):
        env.step(action)
        return not env.agents

    return loop_steps(env.reset, step, actions)


def table(continuous):
    def rows(arguments):
        for id in chosen(CLASSES, arguments.patterns):
            ours = partial(pool_steps, f"mpe2/{id}", num_threads=arguments.num_threads, continuous_actions=continuous)
            yield f"`{id}`", {"mpe2": theirs(id, continuous), "one": ours(1),
                              "cypool": ours(arguments.num_envs)}

    return Table(rows, ("cypool", "mpe2", "one"), (("mpe2", "cypool"),))


TABLES = {"discrete": table(False), "continuous": table(True)}
