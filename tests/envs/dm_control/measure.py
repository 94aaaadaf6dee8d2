"""The tasks of the DeepMind Control Suite next to EnvPool and to dm_control's own loop, which has one environment.

`--table bare` is next to the same steps of MuJoCo in a loop in C++ (bare_loop.cpp, needs g++): the same actions go to
the same states, and episodes do not end.
"""
import copy

from bare_loop import loop_of
from measuring import Table, chosen, envpool, random_actions, steps_of

import cypool
from cypool.envs.dm_control.reference import load
from cypool.envs.dm_control.tasks import DOMAINS, envpool_id

DEFAULTS = {"num_threads": 2, "rounds": 3, "seconds": 0.3}


def prepared(arguments, num_steps, **options):
    """Yields domains, tasks, pools of many environments and of one, and random actions."""
    tasks = {f"{domain}-{task}": (domain, task) for domain in DOMAINS for task in DOMAINS[domain].tasks}
    for name in chosen(tasks, arguments.patterns):
        many, one = (cypool.make(f"dm_control/{name}-v0", num_envs=num_envs, num_threads=num_threads, seed=0, **options)
                     for num_envs, num_threads in ((arguments.num_envs, arguments.num_threads), (1, 0)))
        # lqr has no limits
        yield *tasks[name], many, one, random_actions(many.single_action_space, num_steps, arguments.num_envs)


def bare_loop(domain, task, num_threads, actions):
    """Returns a candidate: takes the actions from states in which episodes begin."""
    env, datas = load(domain, task, 0), []
    for _ in range(actions.shape[1]):
        env.reset()
        datas.append(copy.copy(env.physics.data.ptr))
    return loop_of(env.physics.model.ptr, datas, actions, env._n_sub_steps, num_threads)


def steps(arguments):
    for domain, task, many, one, actions in prepared(arguments, 16):
        other = envpool(envpool_id(domain, task), arguments.num_envs, arguments.num_threads)
        yield f"{domain}-{task}", {
            "cypool": steps_of(many, actions), "EnvPool": steps_of(other, actions, arguments.num_envs),
            "one": steps_of(one, actions[:, :1]),
            # which begins again by itself
            "dm_control": steps_of(load(domain, task, 0), actions[:, 0])}


def bare(arguments):
    for domain, task, many, one, actions in prepared(arguments, 64, time_limit=float("inf")):
        first = actions[:, :1].copy()
        yield f"{domain}-{task}", {
            "cypool": steps_of(many, actions), "loop": bare_loop(domain, task, arguments.num_threads, actions),
            "one": steps_of(one, first), "loop of one": bare_loop(domain, task, 1, first)}


TABLES = {"steps": Table(steps, ("cypool", "EnvPool", "one", "dm_control"),
                         (("EnvPool", "cypool"), ("dm_control", "one")), ("wall", "CPU")),
          "bare": Table(bare, ("cypool", "loop", "one", "loop of one"), (("loop", "cypool"), ("loop of one", "one")),
                        ("wall", "CPU"))}
