"""Meta-World next to metaworld, EnvPool and the same steps of MuJoCo in C++ (bare_loop.cpp, needs g++).

Plays the actions of scripted policies; resets do not count. EnvPool draws other goals, with another MuJoCo. With
`--table resets`: resets, of cypool also with a known start, and episodes of `--num-steps` steps with their reset.
"""
import copy

import mujoco
import numpy as np
from bare_loop import compiled, pointer
from measuring import Table, chosen, envpool, resets_of, steps_of

import cypool
from cypool.envs.metaworld.reference import Players, make
from cypool.envs.metaworld.tasks import TASKS

DEFAULTS = {"num_envs": 8, "rounds": 3, "seconds": 0.0}
ENDLESS = 2**30


def add_arguments(parser):
    parser.add_argument("--num-steps", type=int, default=500)


def bare_loop(reference, actions):
    """Returns a candidate: takes the steps of MuJoCo that the reference takes, from a reset on."""
    simulate, steps = reference._step_mujoco_simulation, []

    def record(control, num_steps):
        steps.append((reference.data.mocap_pos[0].copy(), np.array(control, np.float64)))
        simulate(control, num_steps)

    reference.reset()
    start, reference._step_mujoco_simulation = copy.copy(reference.data), record
    for action in actions:
        reference.step(action)
    reference._step_mujoco_simulation = simulate
    places, controls = (np.array(column) for column in zip(*steps, strict=True))
    begin = Start(start)

    def step(_):
        compiled().run_arm(pointer(reference.model), pointer(begin.data), pointer(places), pointer(controls),
                           len(steps), reference.frame_skip)

    once = steps_of(begin, [None], limit=1, step=step)

    def run():
        return len(steps), once()[1]

    run()
    if begin.data.qpos.tobytes() != reference.data.qpos.tobytes():
        raise AssertionError("expected the bare loop to end where the reference does")
    return run


class Start:
    """The state that a bare loop begins with."""

    def __init__(self, start):
        self.start = start

    def reset(self):
        self.data = copy.copy(self.start)


def prepared(arguments):
    """Yields tasks, pools of one and of many, the reference, and actions: (steps, 4)."""
    # the package's clock would be a part of a step
    mujoco.set_mjcb_time(None)
    for task in chosen(TASKS, arguments.patterns):
        # one goal: after the first reset all find a start that is known
        one, many = (cypool.make(f"Meta-World/{task}", num_envs=n, num_threads=arguments.num_threads, seed=[0] * n,
                                 num_goals=1, max_episode_steps=ENDLESS) for n in (1, arguments.num_envs))
        reference = make(one.env_spec, 0).unwrapped
        reference.max_path_length = ENDLESS
        players = Players([make(one.env_spec, 0)], [task], 0)
        env = players.envs[0]
        env.reset()
        actions = []
        for _ in range(arguments.num_steps):
            actions.append(players.act(np.zeros((1, 4), np.float32))[0])
            env.step(actions[-1])
        reference.set_task(env.get_wrapper_attr("tasks")[0])
        one.reset()
        many.reset()
        yield task, one, many, reference, np.array(actions)


def steps(arguments):
    num_envs, count = arguments.num_envs, arguments.num_steps
    for task, one, many, reference, actions in prepared(arguments):
        name = "".join(part.capitalize() for part in task.removesuffix("-v3").split("-"))
        other, rows = envpool(f"MetaWorld/{name}-v3", num_envs, max_episode_steps=ENDLESS), repeated(actions, num_envs)
        yield task, {"cypool": steps_of(many, rows, limit=count), "one": steps_of(one, actions[:, None], limit=count),
                     "metaworld": steps_of(reference, actions, limit=count), "mj_step": bare_loop(reference, actions),
                     "EnvPool": steps_of(other, rows.astype(np.float64), num_envs, count)}


def resets(arguments):
    for task, one, many, reference, actions in prepared(arguments):
        fresh = cypool.make(f"Meta-World/{task}", num_threads=0, seed=0, task_select="fresh")
        yield task, {"cypool": resets_of(many), "one": resets_of(one), "new goal": resets_of(fresh),
                     "metaworld": resets_of(reference), "episode": episode(many, repeated(actions, many.num_envs)),
                     "metaworld's episode": episode(reference, actions)}


def repeated(actions, num_envs):
    return np.repeat(actions[:, None], num_envs, 1)


def episode(env, actions):
    """Returns a candidate: a reset and all actions."""
    reset, steps = resets_of(env), steps_of(env, actions)

    def run():
        steps()
        return reset()

    return run


TABLES = {"steps": Table(steps, ("cypool", "one", "metaworld", "mj_step", "EnvPool"),
                         (("metaworld", "cypool"), ("mj_step", "cypool"), ("metaworld", "one"), ("mj_step", "one"),
                          ("EnvPool", "cypool"))),
          "resets": Table(resets, ("cypool", "one", "new goal", "metaworld", "episode", "metaworld's episode"),
                          (("metaworld", "cypool"), ("metaworld", "one"), ("metaworld", "new goal"),
                           ("metaworld's episode", "episode")))}
