"""Meta-World in lanes: pools return and save what they do with mj_step, with bodies in other places in each episode."""
from importlib.util import find_spec

import numpy as np
import pytest
from envs.mujoco.test_mujoco_lanes_modes import check_pool_in_lanes
from markers import exhaustive

import cypool

if find_spec("metaworld") is None:
    pytest.skip("metaworld is not installed", allow_module_level=True)

from cypool.envs.metaworld.tasks import TASKS

QUICK = ("reach-v3", "push-v3", "door-open-v3", "peg-insert-side-v3", "stick-pull-v3", "dial-turn-v3")


@pytest.mark.parametrize("task", [*QUICK, *exhaustive(*TASKS.keys() - {*QUICK})])
def test_pool_in_lanes_returns_what_it_does_by_mj_step(task):
    check_pool_in_lanes(f"Meta-World/{task}", task_select="fresh")


@pytest.mark.parametrize("options", [
    {"randomize": {"geom_friction": ("scale", 0.5, 2)}}, {"reward_function_version": "v1", "action_dtype": "float64"},
    {"recurrent_info_in_obs": True, "terminate_on_success": True},
    *exhaustive({"from_pixels": True, "height": 24, "width": 32})])
def test_pool_in_lanes_with_options_returns_what_it_does_by_mj_step(options):
    check_pool_in_lanes("Meta-World/pick-place-v3", **options)


def test_copies_in_lanes_step_as_by_mj_step():
    given = []
    for physics in ("lanes", "mj_step"):
        with cypool.make("Meta-World/door-close-v3", num_envs=6, seed=1, physics=physics) as env:
            env.reset()
            rng = np.random.default_rng(2)
            actions = rng.uniform(-1, 1, (25, 6, 4)).astype(np.float32)
            for action in actions:
                env.step(action)
            # bodies move to where those of the others are
            env.copy([0, 1], [4, 5])
            given.append([env.step(action)[0].tobytes() for action in actions])
    assert given[0] == given[1]


def test_pool_of_several_tasks_is_stepped_by_mj_step():
    with cypool.make("Meta-World/MT10", num_envs=10) as env:
        assert env.stepped_by == ("mj_step: the environments differ in their model or frame_skip, or "
                                    "only some use randomize")
