"""Several agents in training libraries: rows of agents for SB3, groups for TorchRL."""
import warnings

import numpy as np
import pytest

import cypool
from cypool.adapters import sb3, torchrl

pytestmark = pytest.mark.large_packages

with warnings.catch_warnings(action="ignore"):
    import torch
    from torchrl.envs.utils import check_env_specs


def test_sb3_has_a_row_for_each_agent(walker):
    env = sb3.make("walker/Herd-v0", num_envs=3, seed=0, leave=False)
    pool = cypool.make("walker/Herd-v0", num_envs=3, seed=0, leave=False, autoreset_mode="SameStep",
                       episode_statistics=True)
    assert isinstance(env, sb3.SB3AgentVecEnv) and env.num_envs == 15
    assert env.observation_space.shape == (3,) and env.action_space.n == 4
    assert env.get_attr("num_threads") == [env.pool.num_threads] * 15
    obs, _ = pool.reset()
    assert (env.reset() == obs.reshape(15, 3)).all()
    rng = np.random.default_rng(0)
    ended = 0
    for _ in range(80):
        actions = rng.integers(4, size=15)
        rows, rewards, done, infos = env.step(actions)
        obs, _, terminated, truncated, info = pool.step(actions.reshape(3, 5))
        over = terminated | truncated
        assert (rows == obs.reshape(15, 3)).all() and done.tolist() == np.repeat(over, 5).tolist()
        assert rewards.dtype == np.float32
        assert (rewards == info["agents"]["cow"]["reward"].reshape(-1).astype(np.float32)).all()
        assert [row["agent_id"] for row in infos] == list(range(5)) * 3
        assert [row["env_id"] for row in infos] == np.repeat(np.arange(3), 5).tolist()
        for i in np.flatnonzero(over):
            ended += 1
            for k in range(5):
                row = infos[5 * i + k]
                assert (row["terminal_observation"] == info["final_obs"][i][k]).all()
                assert row["episode"]["r"] == info["episode"]["agents"]["cow"]["r"][i, k]
                assert row["episode"]["l"] == info["episode"]["agents"]["cow"]["l"][i, k]
                assert row["TimeLimit.truncated"] == bool(truncated[i] and not terminated[i])
        assert not any("terminal_observation" in row for row, end in zip(infos, done, strict=True) if not end)
    assert ended > 3
    env.close()


def test_sb3_trains(walker):
    from stable_baselines3 import PPO

    env = sb3.make("walker/Herd-v0", num_envs=2, seed=0, leave=False)
    PPO("MlpPolicy", env, n_steps=16, batch_size=32, n_epochs=1, device="cpu").learn(400)


def test_sb3_refuses_what_has_no_one_policy(walker):
    for options in ({"leave": False}, {}):
        with pytest.raises(ValueError, match="expected one group of agents"):
            sb3.make("walker/Crowd-v0", **options)
    with pytest.raises(ValueError, match="some of which leave"):
        sb3.make("walker/Herd-v0")
    pool = cypool.make("walker/Herd-v0", autoreset_mode="SameStep", leave=False)
    with pytest.raises(ValueError, match="environments with one agent"):
        sb3.SB3VecEnv(pool)
    from cypool.adapters import tianshou

    with pytest.raises(ValueError, match="environments with one agent"):
        tianshou.make("walker/Herd-v0")


@pytest.mark.parametrize("id, options", [("walker/Herd-v0", {"leave": False}), ("walker/Herd-v0", {}),
                                         ("walker/Crowd-v0", {}), ("walker/Crowd-v0", {"parts": True})], ids=str)
def test_torchrl_has_groups(walker, id, options):
    env = torchrl.make(id, num_envs=3, seed=0, **options)
    assert isinstance(env, torchrl.AgentPoolEnv)
    check_env_specs(env)
    env.close()


def test_torchrl_has_the_rows_of_the_pool(walker):
    env = torchrl.make("walker/Crowd-v0", num_envs=3, seed=0, kill=0.3)
    pool = cypool.make("walker/Crowd-v0", num_envs=3, seed=0, kill=0.3, autoreset_mode="SameStep")
    assert env.group_map == {"red": ["red_0", "red_1", "red_2"], "blue": ["blue_0", "blue_1"]}
    torch.manual_seed(0)
    made = env.rollout(60, break_when_any_done=False)
    obs, info = pool.reset()
    for t in range(60):
        step = made[:, t]
        for group in ("red", "blue"):
            assert (step[group, "observation"].numpy() == obs[group]).all()
            assert (step[group, "mask"].numpy() == info["agents"][group]["alive"]).all()
        obs, _, terminated, truncated, info = pool.step(
            {group: step[group, "action"].numpy() for group in ("red", "blue")})
        over = terminated | truncated
        assert (step["next", "done"].numpy()[:, 0] == over).all()
        for group in ("red", "blue"):
            rewards = info["agents"][group]["reward"].astype(np.float32)
            assert (step["next", group, "reward"].numpy()[..., 0] == rewards).all()
            seen = step["next", group, "observation"].numpy()
            assert (seen[~over] == obs[group][~over]).all()
            for i in np.flatnonzero(over):
                assert (seen[i] == info["final_obs"][i][group]).all()
                assert not step["next", group, "mask"][i].any()


@pytest.mark.families("lbf")
def test_torchrl_has_the_steps_of_its_own_foraging():
    pytest.importorskip("lbforaging")
    from torchrl.envs.libs.lbforaging import LBForagingEnv

    # it reports the time limit as truncated, and does not reset itself
    env = torchrl.make("Foraging-5x5-2p-1f-v3", num_envs=2, seed=4, truncate=True)
    check_env_specs(env)
    theirs = [LBForagingEnv("Foraging-5x5-2p-1f-v3", seed=4 + k) for k in range(2)]
    torch.manual_seed(0)
    env.set_seed(4)
    step, own = env.reset(), [each.reset() for each in theirs]
    seen = set()
    for _ in range(400):
        step = env.rand_action(step)
        step, following = env.step_and_maybe_reset(step)
        for k, each in enumerate(theirs):
            assert (step["agent", "observation"][k] == own[k]["agents", "observation"]).all()
            taken, own[k] = each.step_and_maybe_reset(own[k].set(("agents", "action"), step["agent", "action"][k]))
            for name in ("observation", "reward"):
                assert (step["next", "agent", name][k] == taken["next", "agents", name]).all()
            ends = [(name, bool(step["next", name][k])) for name in ("terminated", "truncated", "done")]
            assert ends == [(name, bool(taken["next", name])) for name, _ in ends]
            seen.update(ends)
        step = following
    assert len(seen) == 6
    env.close()
