"""The CPU time of a step of Doom, separately for the engines' processes and for cypool's, with numbers of threads.

    python benchmarks/family.py vizdoom Basic-v1 --threads 2 8 --option screen_resolution=RES_160X120

"waits" is how often a step has cypool wait for an engine, or anything else.
"""
from measuring import Table, chosen, random_actions, steps_of

import cypool

DEFAULTS = {"num_envs": 8, "seconds": 0.7, "rounds": 7}
IDS = ["Basic-v1", "HealthGathering-v1", "Deathmatch-v1"]


def add_arguments(parser):
    parser.add_argument("--threads", type=int, nargs="*", default=[2])
    parser.add_argument("--option", action="append", default=[], help="name=text, of the environments")


def rows(arguments):
    options = dict(option.split("=", 1) for option in arguments.option)
    for id in chosen(IDS, arguments.patterns):
        for threads in arguments.threads:
            with cypool.make(id, num_envs=arguments.num_envs, num_threads=threads, seed=0, **options) as env:
                actions = random_actions(env.single_action_space, 64, arguments.num_envs)
                yield f"`{id}`, {threads} threads", {"cypool": steps_of(env, actions)}


TABLES = {"steps": Table(rows, ("cypool",), clocks=("wall", "children's CPU", "CPU", "waits"))}
