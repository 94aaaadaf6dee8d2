"""PettingZoo's parallel API: its own tests pass, and the episodes are those of the pool."""
import warnings

import numpy as np
import pytest

import cypool

# it imports environments in a way that it calls old
with warnings.catch_warnings(action="ignore"):
    from pettingzoo.test import parallel_api_test, parallel_seed_test

OPTIONS = [{}, {"leave": False}, {"turns": True}, {"parts": True, "kill": 0.5}, {"state": "own"}]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_the_tests_of_pettingzoo(walker, options):
    # with few deaths: it warns of agents that come too late to be seen
    options = {**options, "kill": 0.01}
    parallel_api_test(cypool.parallel_env("walker/Crowd-v0", **options), num_cycles=200)
    parallel_seed_test(lambda: cypool.parallel_env("walker/Crowd-v0", **options), num_cycles=30)


@pytest.mark.families("highway")
def test_options_of_a_reset_are_those_of_the_pool():
    env, pool = (make("intersection-multi-agent-v0") for make in (cypool.parallel_env, cypool.make))
    options = {"config": {"initial_vehicle_count": 0}}
    before, _ = env.reset(seed=1)
    obs, _ = env.reset(seed=1, options=options)
    rows, _ = pool.reset(seed=1, options=options)
    for agent, wanted in pool.by_agent(rows).items():
        assert (obs[agent] == wanted[0]).all() and (obs[agent] != before[agent]).any()
    with pytest.raises(ValueError, match="options: expected config or reset_mask, got"):
        env.reset(options={"other": 1})


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_episodes_are_those_of_a_pool(walker, options):
    env = cypool.parallel_env("walker/Crowd-v0", **options)
    pool = cypool.make("walker/Crowd-v0", autoreset_mode="Disabled", **options)
    rng = np.random.default_rng(0)
    for seed in range(10):
        obs, infos = env.reset(seed=seed)
        rows, info = pool.reset(seed=seed)
        # as many steps as an episode has at most
        for _ in range(30):
            assert set(obs) == set(infos)
            each = pool.by_agent(rows)
            for agent, seen in obs.items():
                wanted = each[agent]
                if isinstance(seen, dict):
                    assert all((seen[key] == wanted[key][0]).all() for key in seen)
                else:
                    assert (seen == wanted[0]).all()
                assert env.observation_space(agent).contains(seen)
            assert (env.state() == pool.state()[0]).all()
            assert env.state().shape == env.state_space.shape
            choices = {"red": rng.integers(3, size=(1, 3)), "blue": rng.uniform(-1, 1, (1, 2, 2)).astype(np.float32)}
            names = pool.by_agent(choices)
            was = set(env.agents)
            obs, rewards, terminated, truncated, infos = env.step({agent: names[agent][0] for agent in env.agents})
            rows, total, *flags, info = pool.step(choices)
            ended = flags[0][0] or flags[1][0]
            assert sum(rewards.values()) == pytest.approx(total[0]) and was <= set(rewards)
            gone = {agent for agent in rewards if terminated[agent] or truncated[agent]}
            assert set(env.agents) == set(rewards) - gone and ended == (not env.agents)
            if ended:
                break
        assert env.step({}) == ({}, {}, {}, {}, {})


def test_spaces_are_the_same_objects(walker):
    env = cypool.parallel_env("walker/Crowd-v0")
    for agent in env.possible_agents:
        assert env.observation_space(agent) is env.observation_space(agent) is env.observation_spaces[agent]
        assert env.action_space(agent) is env.action_spaces[agent]
    assert env.action_space("red_0") is not env.action_space("red_1")


def test_generator_for_wrappers_is_seeded_by_resets_and_changes_no_episode(walker):
    env, other = (cypool.parallel_env("walker/Crowd-v0", seed=3) for _ in range(2))
    # as SuperSuit's frame_skip_v0 does
    first = env.unwrapped.np_random.integers(0, 10**6, 5).tolist()
    assert other.np_random.integers(0, 10**6, 5).tolist() == first
    again = []
    for seed in (5, None, 5):
        (obs, _), (others, _) = env.reset(seed=seed), other.reset(seed=seed)
        assert str(obs) == str(others)
        again.append(env.np_random.integers(0, 10**6, 5).tolist())
    assert again[0] == again[2] != again[1]


def test_bad_input(walker):
    with pytest.raises(ValueError, match="with several agents, got CartPole-v1"):
        cypool.parallel_env("CartPole-v1")
    with pytest.raises(ValueError, match="^num_envs: expected no value .it is always 1 here., got 2"):
        cypool.parallel_env("walker/Crowd-v0", num_envs=2)
    env = cypool.parallel_env("walker/Crowd-v0", leave=False)
    with pytest.raises(RuntimeError, match="^step: expected a reset before the first step"):
        env.step({})
    env.reset(seed=0)
    good = {agent: env.action_space(agent).sample() for agent in env.agents}
    for changed, message in (
            ({"red_1": 9}, r"^actions\['red_1'\]: expected integers in \[0, 3\), got 9$"),
            ({"red_1": "x"}, r"^actions\['red_1'\]: expected integers, got array\(\['x'\]"),
            ({"blue_1": [0, 7]}, r"^actions\['blue_1'\]: expected values in \[-1.0, 1.0\], got 7$"),
            ({"blue_1": np.zeros((9, 9))}, r"^actions: expected shape \(2,\) for blue_1, got \(9, 9\)$"),
            ({"nobody": 3}, "^actions: expected keys from red_0, .*, got 'nobody'$")):
        with pytest.raises((TypeError, ValueError), match=message):
            env.step({**good, **changed})
    for bad in (None, 3, [], {}, {**good, "red_0": 5}, {**good, "red_0": "x"}, {**good, "blue_0": np.zeros(3)},
                {**good, "blue_1": np.full(2, np.nan)}, {agent: good[agent] for agent in env.agents[1:]}):
        with pytest.raises((TypeError, ValueError), match="actions"):
            env.step(bad)
    env.step(good)
    with pytest.raises(ValueError, match=r"^values: expected arrays of shape \(k, 3, ...\), got shape \(1, 2\)$"):
        env.pool.by_agent({"red": np.zeros((1, 2)), "blue": np.zeros((1, 2))})
    env = cypool.parallel_env("walker/Crowd-v0", state=None)
    with pytest.raises(AttributeError):
        assert env.state_space


def test_pettingzoo_is_not_needed_elsewhere(run_python):
    code = "import sys; sys.modules['pettingzoo'] = None\nimport cypool\ncypool.make('CartPole-v1').reset()\n" \
           "try: cypool.parallel_env('CartPole-v1')\nexcept ImportError as error: print(error)"
    assert "cypool[pettingzoo]" in run_python(code, check=True).stdout


def test_an_environment_without_state_has_no_state_space(walker):
    from pettingzoo.utils.conversions import parallel_to_aec

    env = cypool.parallel_env("walker/Crowd-v0", state=None)
    assert not hasattr(env, "state_space")
    turns = parallel_to_aec(env)
    turns.reset(seed=0)
    turns.step(turns.action_space(turns.agent_selection).sample())
