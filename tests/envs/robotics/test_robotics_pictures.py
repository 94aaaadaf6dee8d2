"""Pictures of the robots equal those of gymnasium-robotics, as `render()` and as observations, and change nothing."""
from importlib.util import find_spec

import numpy as np
import pytest
from drawing import egl, missing  # noqa: F401
from markers import exhaustive, slow
from receiving import started

import cypool

if find_spec("gymnasium_robotics") is None or find_spec("pettingzoo") is None:
    pytest.skip("gymnasium-robotics is not installed", allow_module_level=True)

from cypool.envs.robotics.reference import make

pytestmark = pytest.mark.usefixtures("egl")


@pytest.mark.parametrize("id", [
    "HandManipulateEgg_BooleanTouchSensors-v1",
    *slow("FetchPickAndPlace-v4", "AntMaze_UMaze-v5"),
    *exhaustive("PointMaze_UMaze-v3", "HandReach-v3", "AdroitHandPen-v1", "FrankaKitchen-v1", "FetchReach-v4",
                "HandManipulateBlockRotateZ-v1", "AdroitHandDoor-v1", "AdroitHandRelocate-v1")])
def test_pictures(id):
    if missing("PointMaze_UMaze-v3"):
        pytest.skip(missing("PointMaze_UMaze-v3"))
    size = {"width": 80, "height": 60}
    for num_steps in (0, 4):
        # the reference's picture changes its episode, so that it is only drawn at the end
        reference = make(id, render_mode="rgb_array", **size)
        env = cypool.make(id, num_envs=1, num_threads=0, seed=4, **size)
        pixels = cypool.make(id, num_envs=1, num_threads=0, seed=4, from_pixels=True, **size)
        reference.reset(seed=4), env.reset()
        obs, _ = pixels.reset()
        for action in np.random.default_rng(0).uniform(-1, 1, (num_steps, *env.single_action_space.shape)):
            action = action.astype(np.float32)
            reference.step(action), env.step([action])
            obs, *_ = pixels.step([action])
        ours = env.render()[0]
        assert len(np.unique(ours.reshape(-1, 3), axis=0)) > 20
        assert (ours == reference.render()).all()
        if num_steps == 0:
            # later on, a camera that looks at the middle has looked there since the reset
            assert ((obs["observation"] if isinstance(obs, dict) else obs)[0] == ours).all()
        reference.close()
        assert env.metadata["render_fps"] == reference.metadata["render_fps"]


@pytest.mark.parametrize("shown", ["always", *slow("off")])
def test_touch_in_pictures(shown):
    if missing("PointMaze_UMaze-v3"):
        pytest.skip(missing("PointMaze_UMaze-v3"))
    id, options = "HandManipulateEgg_BooleanTouchSensors-v1", {"width": 80, "height": 60, "touch_visualisation": shown}
    reference = make(id, render_mode="rgb_array", **options)
    env = cypool.make(id, num_envs=1, num_threads=0, seed=4, **options)
    reference.reset(seed=4), env.reset()
    assert (env.render()[0] == reference.render()).all()
    reference.close()
    other = started(cypool.make(id, num_envs=1, num_threads=0, seed=4, width=80, height=60))
    assert (env.render()[0] != other.render()[0]).any()
    with pytest.raises(ValueError, match="touch_visualisation: expected .*, got 'never'"):
        cypool.make_spec(id, touch_visualisation="never")


def test_a_picture_does_not_change_the_episode():
    if missing("PointMaze_UMaze-v3"):
        pytest.skip(missing("PointMaze_UMaze-v3"))
    for id in ("FetchPickAndPlace-v4", "HandManipulateBlock-v1", "PointMaze_UMaze-v3"):
        rows = []
        for draws in (False, True):
            env = started(cypool.make(id, num_envs=1, num_threads=0, seed=1, width=16, height=16, shadows=False))
            row = []
            for action in np.random.default_rng(0).uniform(-1, 1, (4, *env.single_action_space.shape)):
                row.append(env.step([action.astype(np.float32)])[0]["observation"])
                if draws:
                    env.render()
            rows.append(np.array(row).tobytes())
        assert rows[0] == rows[1]


