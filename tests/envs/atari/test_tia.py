"""The video chip of the Atari emulator: its portable code against that with vector instructions, and odd states.

Against ALE's: test_emulator.py.
"""
import hashlib
import pickle
import struct
import zlib

import numpy as np
import pytest

import cypool
from cypool.envs.atari import atari


def played(task):
    """Returns a digest of all that is seen in two envs: whole screens, after each frame."""
    env = cypool.make("Pong-v5", num_envs=2, num_threads=0, seed=3, task=task, obs_type="screen", gray_scale=False,
                      stack_num=1, frame_skip=1, ram=True)
    actions = np.random.default_rng(5).integers(env.single_action_space.n, size=(200, 2))
    seen = hashlib.sha256(env.reset()[0].tobytes())
    for action in actions:
        obs, _, _, _, info = env.step(action)
        seen.update(obs.tobytes())
        seen.update(info["ram"].tobytes())
    env.close()
    return seen.hexdigest()


# many objects, missiles and balls, PAL, frames that end early
@pytest.mark.parametrize("task", ["breakout", "space_invaders", "seaquest", "air_raid", "enduro",
                                  "tic_tac_toe_3d", "video_chess"])
def test_pixels_are_the_same_without_vector_instructions(task):
    fast = played(task)
    try:
        for name in atari.SIMD[:-1]:
            atari.use_simd(name)
            assert played(task) == fast
    finally:
        atari.use_simd(atari.SIMD[-1])


def test_switching_takes_a_name():
    with pytest.raises(ValueError, match="name: expected .*'none'.*, got 'no'"):
        atari.use_simd("no")


@pytest.fixture
def tamper():
    """A pool of Pong, its state, and a function that loads the state with other clocks and another place to draw at."""
    env = cypool.make("Pong-v5", num_envs=1, num_threads=0, seed=3, obs_type="screen", stack_num=1, noop_max=0,
                      repeat_action_probability=0.0)
    env.reset()
    env.step([2])
    state = env.save()
    own = state.rows[0]["own"]
    unpacked = zlib.decompress(own[0])
    clocks = unpacked.index(b"TIA") + 3
    # two screens of one size, each behind that; the place stands before six other numbers
    size = np.prod(env.single_observation_space.shape).item()
    mark = struct.pack("<i", size)
    screens = unpacked.index(mark)
    while unpacked[screens + 4 + size:][:4] != mark:
        screens = unpacked.index(mark, screens + 1)

    def load(pen=None, **ints):
        changed = bytearray(unpacked)
        for name, value in ints.items():
            k = ("frame_start", "display_start", "display_end", "drawn_to", "to_end").index(name)
            struct.pack_into("<i", changed, clocks + 4 * k, value)
        if pen is not None:
            struct.pack_into("<i", changed, screens - 28, pen)
        other = pickle.loads(pickle.dumps(state))
        other.rows[0]["own"] = (zlib.compress(changed), *own[1:])
        env.load(other)

    yield env, load
    env.close()


def test_states_that_would_draw_beside_the_picture_are_refused(tamper):
    env, load = tamper
    load()
    load(to_end=100, pen=60)
    bad = [{"pen": -1}, {"pen": 400 * 160 + 1}]
    if atari.EMULATOR == "fast":
        # ALE's chip draws from its place on, ours from the beginning of the line
        bad += [{"to_end": 100, "pen": 59}, {"to_end": 0, "pen": 0}, {"drawn_to": -2**31}]
    for changes in bad:
        with pytest.raises(ValueError, match="state: not from this game"):
            load(**changes)


@pytest.mark.parametrize("start", [228, 10**6, 2**31 - 1, -2**31])
def test_clocks_of_another_time_do_no_harm(tamper, start):
    env, load = tamper
    seen = []
    for clocks in ({}, {"frame_start": start}):
        load(**clocks)
        for _ in range(5):
            env.step([3])
        seen.append([env.reset()[0].tobytes(), *(env.step([k % 6])[0].tobytes() for k in range(20))])
    assert seen[0] == seen[1]
