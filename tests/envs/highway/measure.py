"""highway-env next to the package and EnvPool: random actions, resets included."""
from measuring import Table, chosen, envpool, loop_steps, steps_of

import cypool
from cypool.envs.highway.ids import IDS
from cypool.envs.highway.reference import _make

DEFAULTS = {"num_envs": 16}


def pools(id, num_envs, num_threads):
    """Returns cypool and EnvPool; that has other actions where several agents act."""
    env = cypool.make(id, num_envs=num_envs, num_threads=num_threads, seed=0)
    env.action_space.seed(0)
    actions = [env.action_space.sample() for _ in range(100)]
    other = None if env.env_spec.agents else envpool(id, num_envs, num_threads)
    return {"cypool": steps_of(env, actions), "EnvPool": steps_of(other, actions, num_envs)}


def theirs(id):
    """Returns a candidate: takes random actions in highway-env."""
    env = _make(id, {}, cypool.make_spec(id).max_episode_steps)
    env.action_space.seed(0)
    env.reset(seed=0)
    return loop_steps(env.reset, lambda action: any(env.step(action)[2:4]),
                      [env.action_space.sample() for _ in range(10)])


def rows(arguments):
    for id in chosen(IDS, arguments.patterns):
        yield f"`{id}`", {"highway-env": theirs(id), **pools(id, arguments.num_envs, arguments.num_threads)}


TABLES = {"ids": Table(rows, ("cypool", "EnvPool", "highway-env"), (("highway-env", "cypool"), ("EnvPool", "cypool")))}
