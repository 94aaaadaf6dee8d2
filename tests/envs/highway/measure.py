"""highway-env next to the package and EnvPool: random actions, resets included."""
from measuring import Table, chosen, envpool, steps_of

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
    """Returns a candidate: takes random actions in highway-env; a reset counts as a step, as in a pool."""
    env = _make(id, {}, cypool.make_spec(id).max_episode_steps)
    env.action_space.seed(0)
    actions = [env.action_space.sample() for _ in range(10)]
    env.reset(seed=0)
    over = False

    def run():
        nonlocal over
        for action in actions:
            if over:
                env.reset()
                over = False
            else:
                *_, terminated, truncated, _ = env.step(action)
                over = terminated or truncated
        return len(actions)

    return run


def rows(arguments):
    for id in chosen(IDS, arguments.patterns):
        yield f"`{id}`", {"highway-env": theirs(id), **pools(id, arguments.num_envs, arguments.num_threads)}


TABLES = {"ids": Table(rows, ("cypool", "EnvPool", "highway-env"), (("highway-env", "cypool"), ("EnvPool", "cypool")))}
