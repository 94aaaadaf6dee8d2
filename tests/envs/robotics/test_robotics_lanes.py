"""Robots of Gymnasium-Robotics in lanes: pools return and save what they do with mj_step."""
import numpy as np
import pytest
from envs.mujoco.test_mujoco_lanes_modes import flat

import cypool
from cypool.envs.shared.lanes.mujoco_lanes import check_machine

try:
    check_machine()
except ValueError as refusal:
    pytest.skip(f"lanes: {refusal}", allow_module_level=True)

IDS = ("PointMaze_UMaze-v3", "FetchReach-v4", "FetchPush-v4", "FetchSlide-v4", "FetchPickAndPlace-v4",
       "HandReach-v3", "HandManipulateBlock-v1", "HandManipulateEggRotate-v1", "HandManipulatePen-v1",
       "HandManipulateBlock_ContinuousTouchSensors-v1")


def saved(env):
    # numbers of the stream are larger than those of arrays, and the time of an episode differs
    return flat([{**row, "rng": repr(row["rng"]), "episode_ns": 0} for row in env.save().rows])


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
                    given.append(saved(env))
            # a saved pool continues as it would have
            state = env.save()
            given += [flat(env.step(actions)), flat(env.load(state)), flat(env.step(actions)), saved(env)]
            assert given[-4] == given[-2]
            results.append(given)
    assert results[0] == results[1]
