"""rl_games: cypool.adapters.rl_games."""
import numpy as np
import pytest
from rl_games.torch_runner import Runner

import cypool
from cypool.adapters import rl_games

pytestmark = [pytest.mark.large_packages, pytest.mark.families("atari")]


def config(**env):
    return {"params": {
        "seed": 0,
        "algo": {"name": "a2c_discrete"},
        "model": {"name": "discrete_a2c"},
        "network": {"name": "actor_critic", "separate": True, "space": {"discrete": None},
                    "mlp": {"units": [64, 64], "activation": "tanh", "initializer": {"name": "default"}}},
        "config": {"env_name": "cypool", "env_config": env, "name": "test", "reward_shaper": {"scale_value": 0.1},
                   "normalize_advantage": True, "gamma": 0.98, "tau": 0.8, "learning_rate": 3e-3, "score_to_win": 150,
                   "grad_norm": 1.0, "entropy_coef": 0.0, "truncate_grads": True, "e_clip": 0.2, "clip_value": False,
                   "num_actors": 16, "horizon_length": 32, "minibatch_size": 256, "mini_epochs": 6, "critic_coef": 1,
                   "lr_schedule": None, "normalize_input": False, "normalize_value": False, "value_bootstrap": True,
                   "device": "cpu", "max_epochs": 60, "ppo": True, "games_to_track": 20, "save_best_after": 1,
                   "print_stats": False}}}


def test_steps():
    env = rl_games.make("CartPole-v1", num_envs=4, seed=0, max_episode_steps=20)
    twin = cypool.make("CartPole-v1", num_envs=4, seed=0, max_episode_steps=20, autoreset_mode="SameStep")
    assert (env.reset() == twin.reset()[0]).all()
    lengths, score = np.zeros(4), np.zeros(4)
    for t in range(60):
        obs, reward, done, infos = env.step(np.full(4, t % 2))
        want = twin.step([t % 2] * 4)
        assert (obs == want[0]).all() and reward.dtype == np.float32 and (done == want[2] | want[3]).all()
        assert (infos["time_outs"] == (want[3] & ~want[2])).all()
        lengths += 1
        score[done], lengths[done] = lengths[done], 0
        assert (infos["scores"] == score).all()
    assert score.all()
    env = rl_games.make("Breakout-v5", num_envs=2)
    env.reset()
    assert set(env.step(np.zeros(2, int))[3]) == {"reward", "terminated", "time_outs", "scores"}


def test_ppo_learns_cartpole(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rl_games.register()

    def reward(seed):
        run = Runner()
        run.load(config(id="CartPole-v1", seed=seed))
        run.reset()
        return run.algo_factory.create(run.algo_name, base_name="run", params=run.params).train()[0]

    # at random it gets 22; the result of one seed depends on the CPU's rounding
    assert any(reward(seed) > 150 for seed in range(5))
