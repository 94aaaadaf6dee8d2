"""MiniGrid and BabyAI next to EnvPool and minigrid, on one thread, with infos and resets (minigrid: 16 in a vector)."""
from measuring import Table, chosen, envpool, random_actions, steps_of

import cypool
from cypool.envs.minigrid.reference import make_reference

DEFAULTS = {"num_envs": 1024}
IDS = ["MiniGrid-DoorKey-8x8-v0", "MiniGrid-MultiRoom-N6-v0", "BabyAI-GoToLocal-v0", "BabyAI-BossLevel-v0"]
PIXELS = [("MiniGrid-DoorKey-8x8-v0", "rgb"), ("MiniGrid-DoorKey-8x8-v0", "rgb_partial"),
          ("BabyAI-BossLevel-v0", "rgb_partial")]


def rows(arguments):
    for id, obs_type in [*((id, None) for id in IDS), *PIXELS]:
        if not chosen([id], arguments.patterns):
            continue
        options = {"obs_type": obs_type} if obs_type else {}
        many, few = (cypool.make(id, num_envs=num, num_threads=arguments.num_threads, seed=0, **options)
                     for num in (arguments.num_envs, 16))
        # EnvPool has no observations of pixels
        other = None if obs_type else envpool(id, arguments.num_envs)
        actions = random_actions(many.single_action_space, 4, arguments.num_envs)
        yield f"`{id}`" + f", {obs_type}" * bool(obs_type), {
            "cypool": steps_of(many, actions), "EnvPool": steps_of(other, actions, arguments.num_envs),
            "minigrid": steps_of(make_reference(few, 0, options)[0], actions[:, :16])}


TABLES = {"steps": Table(rows, ("cypool", "EnvPool", "minigrid"))}
