import numpy as np

import cypool
from cypool.testing import check_env


def test_it_keeps_the_contract():
    print(check_env("my_env/MyEnv-v0"))


def test_a_tilted_beam_sheds_the_ball():
    env = cypool.make("my_env/MyEnv-v0", num_envs=4, seed=1)
    obs, info = env.reset()
    assert obs.shape == (4, 3) and (np.abs(obs[:, 0]) <= 0.1).all()
    fallen = np.zeros(4, bool)
    for _ in range(200):
        obs, reward, terminated, truncated, info = env.step([2] * 4)
        fallen |= terminated
        assert (reward[terminated] == 1).all() and (np.abs(obs[terminated, 0]) > 1).all()
    assert fallen.all()
