"""Steps of Gymnasium's robots, next to the same steps of MuJoCo in a loop in C++ (bare_loop.cpp, needs g++).

Both take the same actions; in the loop, episodes do not end.
"""
import copy

import gymnasium
from bare_loop import loop_of
from measuring import Table, chosen, random_actions, steps_of

import cypool

DEFAULTS = {"num_threads": 1, "rounds": 5, "seconds": 0.3}
ROBOTS = ("HalfCheetah-v5", "Hopper-v5", "Walker2d-v5", "Ant-v5", "Humanoid-v5", "HumanoidStandup-v5",
          "InvertedPendulum-v5", "InvertedDoublePendulum-v5", "Reacher-v5", "Pusher-v5")


def bare_loop(env_id, num_threads, actions):
    """Returns a candidate: takes the actions from states in which episodes begin."""
    env, datas = gymnasium.make(env_id).unwrapped, []
    for seed in range(actions.shape[1]):
        env.reset(seed=seed)
        datas.append(copy.copy(env.data))
    return loop_of(env.model, datas, actions, env.frame_skip, num_threads)


def bare(arguments):
    for env_id in chosen(ROBOTS, arguments.patterns):
        lanes, mj_step = (cypool.make(env_id, num_envs=arguments.num_envs, num_threads=arguments.num_threads, seed=0,
                                      physics=physics) for physics in ("lanes", "mj_step"))
        actions = random_actions(lanes.single_action_space, 64, arguments.num_envs)
        yield env_id, {"lanes": steps_of(lanes, actions), "mj_step": steps_of(mj_step, actions),
                       "loop": bare_loop(env_id, arguments.num_threads, actions)}


TABLES = {"bare": Table(bare, ("lanes", "mj_step", "loop"), (("loop", "lanes"), ("mj_step", "lanes")), ("wall", "CPU"))}
