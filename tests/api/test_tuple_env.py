"""One environment of several agents with Gymnasium's Tuple spaces: its episodes are those of the pool."""
import numpy as np
import pytest

import cypool
from cypool.adapters.single import TupleEnv


@pytest.mark.parametrize("parts", [False, True])
def test_episodes_are_those_of_a_pool(walker, parts):
    options = {"leave": False, "parts": parts}
    env = TupleEnv("walker/Crowd-v0", seed=3, **options)
    pool = cypool.make("walker/Crowd-v0", seed=3, autoreset_mode="Disabled", **options)
    (obs, infos), (rows, info) = env.reset(), pool.reset()
    ended = 0
    for step in range(60):
        env.action_space.seed(step)
        for seen, wanted in zip(obs, pool.by_agent(rows).values(), strict=True):
            pairs = [(seen[key], wanted[key]) for key in seen] if isinstance(seen, dict) else [(seen, wanted)]
            assert all((one == batch[0]).all() for one, batch in pairs)
        assert obs in env.observation_space and infos.keys() == pool.env_spec.info.keys()
        actions = env.action_space.sample()
        red, blue = actions[:3], actions[3:]
        groups = {"red": np.stack(red)[None], "blue": np.stack(blue)[None]} if not isinstance(blue[0], dict) else {
            "red": np.stack(red)[None], "blue": {key: np.stack([part[key] for part in blue])[None] for key in blue[0]}}
        obs, rewards, *ends, infos = env.step(actions)
        rows, total, *flags, info = pool.step(groups)
        assert rewards == [reward for each in info["agents"].values() for reward in each["reward"][0]]
        assert ends == [flag[0] for flag in flags]
        if any(ends):
            ended += 1
            (obs, infos), (rows, info) = env.reset(), pool.reset()
    assert ended


def test_environments_without_a_fixed_number_of_agents_are_refused(walker):
    for id in ("CartPole-v1", "walker/Crowd-v0"):
        with pytest.raises(ValueError, match=f"id: expected .* all act in every step, got '{id}'"):
            TupleEnv(id)


@pytest.mark.parametrize("actions, error, message", [
    ([0, 1], ValueError, r"actions: expected one action for each of red_0, .*, got \[0, 1\]"),
    (3, ValueError, "actions: expected one action for each of red_0, .*, got 3"),
    ([0, 0, [1, 2], [0, 0], [0, 0]], ValueError, r"actions: expected shape \(\) for red_2, got \(2,\)"),
    ([0, 0, 7, [0, 0], [0, 0]], ValueError, r"actions: expected integers in \[0, 3\), got 7")])
def test_bad_actions_are_refused(walker, actions, error, message):
    env = TupleEnv("walker/Crowd-v0", leave=False)
    env.reset()
    with pytest.raises(error, match=message):
        env.step(actions)
