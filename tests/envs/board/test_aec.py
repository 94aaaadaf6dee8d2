"""PettingZoo's AEC API: its own tests, and what they leave out."""
import warnings

import numpy as np
import pytest

import cypool

pytest.importorskip("pettingzoo")
# of games of its own, which it imports
with warnings.catch_warnings(action="ignore"):
    from pettingzoo.test import api_test, seed_test

GAMES = ["tic_tac_toe", "connect_four", "othello", "backgammon"]


@pytest.mark.parametrize("game", GAMES)
# it would rather have no dict, which PettingZoo's own games have, too
@pytest.mark.filterwarnings("ignore:Observation:UserWarning")
def test_api_of_pettingzoo(game):
    api_test(cypool.aec_env(f"board/{game}-v0"), num_cycles=200)


@pytest.mark.parametrize("game", ["connect_four", "backgammon"])
def test_seeds_of_pettingzoo(game):
    seed_test(lambda: cypool.aec_env(f"board/{game}-v0"), num_cycles=60)


@pytest.mark.parametrize("game", ["connect_four", "backgammon"])
def test_game_is_that_of_the_pool(game):
    env = cypool.aec_env(f"board/{game}-v0")
    pool = cypool.make(f"board/{game}-v0", num_envs=1, seed=5, autoreset_mode="Disabled")
    obs, info = pool.reset()
    env.reset(seed=5)
    random, total = np.random.default_rng(0), np.zeros(2)
    while True:
        seen, reward, terminated, _, own = env.last()
        assert env.agent_selection == f"player_{info['current_player'][0]}" and not terminated
        assert (seen["observation"] == obs[0]).all() and (seen["action_mask"] == info["action_mask"][0]).all()
        assert own["current_player"] == info["current_player"][0] and reward == 0
        action = random.choice(np.flatnonzero(seen["action_mask"]))
        env.step(action)
        obs, _, ended, _, info = pool.step([action])
        if ended[0]:
            break
    total = [env._cumulative_rewards[agent] for agent in env.possible_agents]
    assert total == info["rewards"][0].tolist() and sorted(total) in ([-1, 1], [0, 0])
    for agent in env.agent_iter():
        assert env.last()[2] and agent in env.possible_agents
        env.step(None)
    assert env.agents == []
    with pytest.raises(RuntimeError, match="step: expected a reset first"):
        env.step(0)


def test_illegal_action_is_refused():
    env = cypool.aec_env("board/connect_four-v0")
    env.reset()
    for _ in range(6):
        env.step(3)
    for wrong, message in ((3, "actions: expected a legal action for player_0 in row 0"), (7, "actions: expected"),
                           (None, "action: expected an action for player_0, got None"),
                           ([1], "action: expected an integer")):
        with pytest.raises((TypeError, ValueError), match=message):
            env.step(wrong)
    env.step(2)
    assert env.agent_selection == "player_1"


def test_illegal_action_loses():
    env = cypool.aec_env("board/connect_four-v0", illegal="lose")
    env.reset()
    for _ in range(7):
        env.step(3)
    assert env.terminations == {"player_0": True, "player_1": True}
    assert env.rewards == {"player_0": -1, "player_1": 0}


def test_environments_without_turns_are_refused():
    for id in ("CartPole-v1", "board/2048-v0"):
        with pytest.raises(ValueError, match="id: expected a turn-based game with one group of players"):
            cypool.aec_env(id)
    with pytest.raises(ValueError, match="num_envs: expected no value"):
        cypool.aec_env("board/go-v0", num_envs=2)
