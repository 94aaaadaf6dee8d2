"""Robots of Gymnasium-Robotics in lanes: pools return and save what they do with mj_step."""
import numpy as np
import pytest
from envs.mujoco.test_mujoco_lanes_modes import check_pool_in_lanes
from markers import exhaustive

import cypool

IDS = ("PointMaze_UMaze-v3", "FetchReach-v4", "FetchPush-v4", "FetchSlide-v4", "FetchPickAndPlace-v4",
       "HandReach-v3", "HandManipulateBlock-v1", "HandManipulateEggRotate-v1", "HandManipulatePen-v1",
       "HandManipulateBlock_ContinuousTouchSensors-v1", "FrankaKitchen-v1",
       *(f"AdroitHand{task}-v1" for task in ("Door", "Hammer", "Pen", "Relocate")))


@pytest.mark.parametrize("env_id", IDS)
def test_pool_in_lanes_returns_what_it_does_by_mj_step(env_id):
    check_pool_in_lanes(env_id)


# MuJoCo normalizes the rotation of a weld in each model that it changes
@pytest.mark.parametrize("env_id", ["FetchPush-v4", *exhaustive("FetchReach-v4", "FetchPickAndPlace-v4")])
def test_pool_whose_bodies_vary_returns_in_lanes_what_it_does_by_mj_step(env_id):
    randomize = {"body_mass": (0.8, 1.2), "body_pos": (0.99, 1.01)}
    check_pool_in_lanes(env_id, randomize=randomize)
    with cypool.make(env_id, num_envs=3, seed=0, randomize=randomize) as env:
        env.reset()
        env.step(np.zeros((3, 4)))
        assert env.stepped_by == "lanes"
