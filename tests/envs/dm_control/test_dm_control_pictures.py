"""Pictures of the DeepMind Control Suite equal dm_control's, pixel for pixel."""
import numpy as np
import pytest

import cypool

pytest.importorskip("dm_control", reason="dm_control is not installed: it needs Python before 3.13")

COMPARE = """
import numpy as np
import cypool
from cypool.envs.dm_control.reference import load
for domain, task, options in {cases!r}:
    env = cypool.make(f"dm_control/{{domain}}-{{task}}-v0", "dm", seed=2, num_threads=0, from_pixels=True, **options)
    reference = load(domain, task, 2, from_pixels=True, **options)
    ours, theirs = env.reset(), reference.reset()
    rng = np.random.default_rng(0)
    for _ in range(3):
        assert list(ours.observation.obs) == list(theirs.observation), (domain, task)
        assert env.observation_spec().obs["pixels"].shape == reference.observation_spec()["pixels"].shape
        for name, part in theirs.observation.items():
            assert ours.observation.obs[name][0].tobytes() == np.asarray(part).tobytes(), (domain, task, name)
        spec = reference.action_spec()
        action = rng.uniform(spec.minimum, spec.maximum)
        ours, theirs = env.step(action[None]), reference.step(action)
print("equal")
"""
QUICK = [("walker", "walk", {"width": 84, "height": 84, "camera_id": 0}),
         ("reacher", "easy", {"width": 64, "height": 48, "pixels_only": False})]
MANY = [(domain, task, {"width": 84, "height": 84, "camera_id": camera}) for domain, task in [
    ("acrobot", "swingup"), ("ball_in_cup", "catch"), ("cartpole", "three_poles"), ("cheetah", "run"),
    ("finger", "turn_hard"), ("fish", "swim"), ("hopper", "hop"), ("humanoid", "run"), ("manipulator", "insert_peg"),
    ("point_mass", "hard"), ("quadruped", "escape"), ("quadruped", "fetch"), ("stacker", "stack_2"),
    ("swimmer", "swimmer6"), ("dog", "fetch")] for camera in (-1, 0)]


# dm_control as with DrQ's wrappers: repeated actions, and the last three images
STACKED = """
import numpy as np
import cypool
from cypool.envs.dm_control.reference import load
size = {"from_pixels": True, "width": 84, "height": 84, "camera_id": 0, "action_repeat": 4, "time_limit": 0.3}
env = cypool.make("dm_control/cartpole-swingup-v0", "dm", seed=2, num_threads=0, frame_stack=3, **size)
reference = load("cartpole", "swingup", 2, **size)
assert env.observation_spec().obs["pixels"].shape == (84, 84, 9)
rng = np.random.default_rng(0)
ours, theirs = env.reset(), reference.reset()
for _ in range(20):
    images = [theirs.observation["pixels"]] * 3 if theirs.first() else [*images[1:], theirs.observation["pixels"]]
    assert ours.step_type[0] == theirs.step_type
    assert theirs.first() or ours.reward[0] == theirs.reward
    assert (ours.observation.obs["pixels"][0] == np.concatenate(images, axis=-1)).all()
    action = rng.uniform(-1, 1, 1)
    ours, theirs = env.step(action[None]), reference.step(action)
print("equal")
"""


def compared(run_python, monkeypatch, library, program):
    # dm_control and cypool in one process use the same library
    monkeypatch.setenv("MUJOCO_GL", library)
    done = run_python(program)
    if "no OpenGL" in done.stderr or ("ImportError" in done.stderr and library == "osmesa"):
        pytest.skip(f"there is no {library}")
    assert done.stdout == "equal\n", done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("library", ["egl", "osmesa"])
def test_equal_dm_control(run_python, monkeypatch, library):
    compared(run_python, monkeypatch, library, COMPARE.format(cases=QUICK))


@pytest.mark.slow
def test_stacks_of_repeated_actions_equal_dm_control(run_python, monkeypatch):
    compared(run_python, monkeypatch, "egl", STACKED)


@pytest.mark.slow
@pytest.mark.exhaustive
def test_of_all_domains(run_python, monkeypatch):
    compared(run_python, monkeypatch, "egl", COMPARE.format(cases=MANY))


def test_frames_are_stacked_in_the_last_dimension():
    size = {"width": 16, "height": 12, "from_pixels": True, "shadows": False, "camera_id": 0}
    env = cypool.make("CartpoleSwingup-v1", num_envs=2, seed=0, frame_stack=3, **size)
    single = cypool.make("CartpoleSwingup-v1", num_envs=2, seed=0, **size)
    assert env.single_observation_space["pixels"].shape == (12, 16, 9)
    stacked, first = env.reset()[0]["pixels"], single.reset()[0]["pixels"]
    assert (stacked == np.concatenate([first] * 3, axis=-1)).all()
    pictures = [first] * 3
    for _ in range(4):
        obs, *_ = env.step(np.ones((2, 1)))
        pictures = [*pictures[1:], single.step(np.ones((2, 1)))[0]["pixels"]]
        assert (obs["pixels"] == np.concatenate(pictures, axis=-1)).all()
    assert (np.array(single.render()) == pictures[-1]).all()
