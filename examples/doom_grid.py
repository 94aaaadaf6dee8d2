"""Sixteen games of Doom, played at random and filmed, four by four.

    pip install "cypool[vizdoom,video]"
    python examples/doom_grid.py VizdoomDeathmatch-v1 doom.mp4
"""
import sys

import numpy as np

import cypool

FRAME_SKIP = 4


def main(id="VizdoomDeathmatch-v1", path="doom.mp4", num_steps=120):
    rng = np.random.default_rng(0)

    def act(_):
        actions = env.action_space.sample()
        if isinstance(actions, dict):
            # a turn by degrees, not by any number there is; the first of the three looks up and down
            actions["continuous"] = rng.normal(0, [0, 5, 5], actions["continuous"].shape).astype(np.float32)
        return actions

    with cypool.make(id, num_envs=16, seed=0, frame_skip=FRAME_SKIP,
                     config={"screen_resolution": "RES_160X120", "screen_format": "RGB24"}) as env:
        env.action_space.seed(0)
        rewards = cypool.record(env, path, actions=act, num_steps=num_steps, fps=35 / FRAME_SKIP)
    print(f"{path}: {num_steps} steps of {env.num_envs} games, rewards of {rewards.sum(axis=0).round(1).tolist()}")


if __name__ == "__main__":
    main(*sys.argv[1:3])
