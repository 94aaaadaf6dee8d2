"""Pictures of Meta-World's tasks equal those of metaworld, as `render()` and as observations, and change nothing."""
from importlib.metadata import version
from importlib.util import find_spec

import numpy as np
import pytest
from drawing import egl, missing  # noqa: F401
from markers import exhaustive, slow

import cypool

if find_spec("metaworld") is None:
    pytest.skip("metaworld is not installed", allow_module_level=True)

from cypool.envs.metaworld.reference import Players, make

pytestmark = pytest.mark.usefixtures("egl")

SIZE = {"width": 80, "height": 60}


@pytest.mark.parametrize(("task", "camera_name"), [
    ("coffee-pull-v3", "gripperPOV"),
    *slow(("pick-place-v3", None), ("bin-picking-v3", "corner4")),
    *exhaustive(("drawer-open-v3", "topview"), ("hammer-v3", "corner"), ("basketball-v3", "corner2"),
                ("door-lock-v3", "behindGripper"), ("soccer-v3", "corner3"), ("stick-pull-v3", None))])
def test_pictures(task, camera_name):
    if missing("Meta-World/reach-v3"):
        pytest.skip(missing("Meta-World/reach-v3"))
    if camera_name == "corner4" and version("metaworld") == "3.0.0":
        pytest.skip("metaworld 3.0.0 has no camera corner4")
    env = cypool.make(f"Meta-World/{task}", num_envs=1, num_threads=0, seed=4, camera_name=camera_name, **SIZE)
    pixels = cypool.make(f"Meta-World/{task}", num_envs=1, num_threads=0, seed=4, camera_name=camera_name,
                         from_pixels=True, **SIZE)
    reference = make(env.env_spec, 4)
    players = Players([reference], [task], 0)
    reference.reset(), env.reset()
    obs, _ = pixels.reset()
    for _ in range(3):
        ours = env.render()[0]
        assert len(np.unique(ours.reshape(-1, 3), axis=0)) > 20
        assert (ours == reference.render()).all() and (ours == obs[0]).all()
        for _ in range(5):
            actions = players.act(np.zeros((1, 4), np.float32))
            reference.step(actions[0]), env.step(actions)
            obs, *_ = pixels.step(actions)
    assert env.metadata["render_fps"] == reference.metadata["render_fps"]
    reference.close()


def test_a_picture_does_not_change_the_episode():
    if missing("Meta-World/reach-v3"):
        pytest.skip(missing("Meta-World/reach-v3"))
    plain, drawn = (cypool.make("Meta-World/push-v3", num_threads=0, seed=2, **SIZE) for _ in range(2))
    assert (plain.reset()[0] == drawn.reset()[0]).all()
    for action in np.random.default_rng(0).uniform(-1, 1, (5, 1, 4)).astype(np.float32):
        drawn.render()
        assert (plain.step(action)[0] == drawn.step(action)[0]).all()


def test_contacts_that_are_drawn():
    """They lie in memory that MuJoCo shares otherwise: nothing else changes."""
    if missing("Meta-World/reach-v3"):
        pytest.skip(missing("Meta-World/reach-v3"))
    plain = cypool.make("Meta-World/pick-place-v3", num_threads=0, seed=2)
    drawn = cypool.make("Meta-World/pick-place-v3", num_threads=0, seed=2, visual_options={14: True}, **SIZE)
    assert (plain.reset()[0] == drawn.reset()[0]).all()
    for action in np.random.default_rng(0).uniform(-1, 1, (5, 1, 4)).astype(np.float32):
        ours, other = plain.step(action), drawn.step(action)
        assert (ours[0] == other[0]).all() and ours[1] == other[1]
        drawn.render()
    with pytest.raises(NotImplementedError, match="contacts"):
        drawn.save()
