"""Robots of Gymnasium-Robotics in lanes: pools return what they do with mj_step, also saved and with failing actions."""
import numpy as np
import pytest
from envs.mujoco.test_mujoco_lanes_modes import flat

import cypool
from cypool.envs.shared.lanes.mujoco_lanes import check_machine

try:
    check_machine()
except ValueError as refusal:
    pytest.skip(f"lanes: {refusal}", allow_module_level=True)

IDS = ("PointMaze_UMaze-v3", "FetchReach-v4", "FetchPush-v4", "FetchSlide-v4", "HandReach-v3")


@pytest.mark.parametrize("env_id", IDS)
def test_pool_in_lanes_returns_what_it_does_by_mj_step(env_id):
    results = []
    for physics in ("lanes", "mj_step"):
        with cypool.make(env_id, num_envs=9, seed=3, max_episode_steps=11, physics=physics) as env:
            assert env.stepped_by.startswith(physics)
            space, rng, given = env.single_action_space, np.random.default_rng(0), [flat(env.reset())]
            for k in range(30):
                actions = rng.uniform(space.low, space.high, (9, *space.shape)).astype(space.dtype)
                given.append(flat(env.step(actions * (k % 3 != 1))))
                if k in (4, 13):
                    given.append(flat(list(env.save().rows)))
            # a saved pool continues as it would have
            state = env.save()
            given += [flat(env.step(actions)), env.load(state), flat(env.step(actions)), flat(list(env.save().rows))]
            assert given[-4] == given[-2]
            results.append(given)
    assert results[0] == results[1]


def test_point_maze_in_lanes_takes_actions_that_are_not_finite_as_by_mj_step():
    results = []
    for physics in ("lanes", "mj_step"):
        with cypool.make("PointMaze_UMaze-v3", num_envs=5, seed=3, physics=physics) as env:
            env.reset()
            actions, given = np.full((5, 2), 0.3, np.float32), []
            for k in range(12):
                actions[k % 5, k % 2] = np.nan if k % 3 else -0.5
                given.append(flat(env.step(actions)))
            results.append(given)
    assert results[0] == results[1]
