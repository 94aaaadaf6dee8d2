"""Games with turns: three views, legal actions, autoreset modes, and what else a pool has."""
import numpy as np
import pytest
from markers import slow
from pool_arguments import MODES
from receiving import started
from waiting import attempts

import cypool
from cypool.spec import Array, Discrete, EnvSpec, Group
from cypool.testing import check_env

ID = "board/connect_four-v0"
GAMES = [ID, "board/othello-v0", "board/2048-v0"]


def made(id=ID, **options):
    env = started(cypool.make(id, **{"num_envs": 3, "num_threads": 0, "seed": 3, **options}))
    env.action_space.seed(0)
    return env


@pytest.mark.parametrize("mode", MODES)
def test_players_view_shows_what_the_mover_view_shows(mode):
    mover, players = (made("board/othello-v0", view=view, autoreset_mode=mode) for view in ("mover", "players"))
    obs, info = mover.reset()
    both, all_info = players.reset()
    rows, ended = np.arange(3), 0
    for _ in range(200):
        current = info["current_player"]
        going = current >= 0
        seats = np.maximum(current, 0)
        assert all_info["current_player"].tolist() == current.tolist()
        assert (both["observation"][rows, seats] == obs)[going].all()
        assert (both["action_mask"][rows, seats] == info["action_mask"]).all()
        assert not both["action_mask"][rows, 1 - seats].any()
        actions = mover.sample_legal()
        # what the other player is said to do is not read
        given = np.full((3, 2), -9)
        given[rows, seats] = actions
        obs, reward, terminated, _, info = mover.step(actions)
        both, total, all_terminated, _, all_info = players.step(given)
        agents = all_info["agents"]["player"]
        assert all_terminated.tolist() == terminated.tolist() and not total.any()
        assert (agents["reward"][rows, seats] == reward).all()
        if mode != "SameStep":
            assert (agents["reward"] == info["rewards"]).all()
        stepped = info["elapsed_step"] > 0
        assert (agents["acted"][rows, seats] & ~agents["acted"][rows, 1 - seats])[stepped | terminated].all()
        ended += terminated.sum()
        if mode == "Disabled" and terminated.any():
            obs, info = mover.reset(options={"reset_mask": terminated})
            both, all_info = players.reset(options={"reset_mask": terminated})
    assert ended > 5


def test_rewards_of_the_last_move_survive_same_step():
    env, players = made(autoreset_mode="SameStep"), made(autoreset_mode="SameStep", view="players")
    for _ in range(60):
        actions = env.sample_legal()
        _, _, terminated, _, info = env.step(actions)
        *_, all_info = players.step(np.stack([actions, actions], 1))
        for row in np.flatnonzero(terminated):
            rewards = info["final_info"]["rewards"][row]
            assert info["rewards"][row].tolist() == [0, 0] and info["current_player"][row] == 0
            assert rewards.tolist() == all_info["agents"]["player"]["reward"][row].tolist()
            assert sorted(rewards.tolist()) in ([-1, 1], [0, 0])


@pytest.mark.parametrize("seat, wanted", [(0, {0}), (1, {1}), ("random", {0, 1}), ("alternate", {0, 1})])
def test_single_view_is_of_the_seat(seat, wanted):
    env, found = made(view="single", seat=seat, num_envs=20), set()
    for _ in range(60):
        *_, terminated, _, info = env.step(env.sample_legal())
        found |= set(info["current_player"][~terminated].tolist())
    assert found == wanted


@pytest.mark.parametrize("view", ["players", "single"])
@pytest.mark.parametrize("game", ["connect_four", "go", "backgammon"])
def test_contract_of_views(view, game):
    options = {"seat": "alternate"} if view == "single" else {}
    check_env(f"board/{game}-v0", view=view, num_steps=40, **options)


def test_contract_with_an_opponent_that_searches():
    check_env(ID, view="single", opponent="tree_search", simulations=5, illegal="lose")


def test_single_view_reward_is_that_of_the_seat():
    env = made(view="single", seat=0, num_envs=50)
    rewards = []
    for _ in range(100):
        obs, reward, terminated, _, _ = env.step(env.sample_legal())
        rewards += reward[terminated].tolist()
        # a line of the opponent's is a loss
        assert not reward[~terminated].any()
    assert {-1.0, 1.0} <= set(rewards) and 0.4 < rewards.count(1.0) / len(rewards) < 0.75


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("seat", ["random", "alternate"])
def test_match_that_is_over_before_the_learner_moves_is_followed_by_another(seat, mode):
    # the first move of player 0 wins
    env = made("board/breakthrough-v0", rows=2, columns=2, view="single", seat=seat, num_envs=20, autoreset_mode=mode)
    for _ in range(5):
        _, info = env.reset()
        assert info["action_mask"].any(1).all() and not info["current_player"].any()
        _, reward, terminated, *_ = env.step(env.sample_legal())
        assert terminated.all() and (reward == 1).all()


def test_learner_who_never_moves_is_an_error_of_the_reset():
    env = cypool.make("board/breakthrough-v0", rows=2, columns=2, view="single", seat=1, num_envs=2, seed=0)
    for _ in range(2):
        with pytest.raises(cypool.EnvError, match="seat: expected a player who moves before a match is over, got 1"):
            env.reset()


@pytest.mark.parametrize("view", ["mover", "players", "single"])
def test_row_that_a_limit_truncates_has_the_position(view):
    env, longer = made(view=view, seat=0, max_episode_steps=3), made(view=view, seat=0)
    for _ in range(3):
        actions = env.sample_legal()
        longer.step(actions)
        obs, _, terminated, truncated, info = env.step(actions)
    assert truncated.all() and not terminated.any() and (info["current_player"] >= 0).all()
    mask = obs["action_mask"].any(1) if view == "players" else info["action_mask"]
    assert mask.any(-1).all()
    before = longer.save()
    assert info["current_player"].tolist() == longer.load(before)[1]["current_player"].tolist()


def results(num_steps, **options):
    """Returns the rewards of a learner that plays at random, and all that it saw."""
    env, rewards, seen = made(view="single", opponent="tree_search", **options), [], []
    for _ in range(num_steps):
        obs, reward, terminated, *_ = env.step(env.sample_legal())
        rewards += reward[terminated].tolist()
        seen.append(obs.tobytes())
    env.close()
    return rewards, b"".join(seen)


@pytest.mark.parametrize("id, simulations, least", [
    ("board/tic_tac_toe-v0", 300, 1.0), ("board/connect_four-v0", 50, 0.97),
    *slow(("board/othello-v0", 30, 0.8), ("board/backgammon-v0", 20, 0.65))])
def test_opponent_that_searches_beats_random_play(id, simulations, least):
    rewards, _ = results(30 if "tac" in id or "four" in id else 60, id=id, simulations=simulations, num_envs=20)
    assert len(rewards) > 10
    not_lost = 1 - sum(reward > 0 for reward in rewards) / len(rewards)
    assert not_lost >= least


def test_opponent_that_searches_plays_the_same_with_any_threads():
    seen = {results(12, id="board/backgammon-v0", simulations=20, num_envs=6, num_threads=num_threads, seed=4)[1]
            for num_threads in (0, 1, 2, 7)}
    assert len(seen) == 1


def test_opponent_that_searches_prevents_a_line_of_four():
    env = made(view="single", opponent="tree_search", simulations=400, seat=0, num_envs=20)
    over = np.zeros(20, bool)
    for _ in range(4):
        # all in one column, as long as that is legal
        _, reward, terminated, *_ = env.step(np.where(over, env.sample_legal(), 0))
        over |= terminated
        assert not (reward > 0).any()


@pytest.mark.parametrize("given, message", [
    ({"opponent": "search"}, "opponent: expected one of"), ({"simulations": 0}, "simulations: expected"),
    ({"simulations": 1.5}, "simulations: expected")])
def test_opponent_that_is_wrong_is_refused(given, message):
    with pytest.raises((TypeError, ValueError), match=message):
        made(view="single", **given)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("view, whose", [("mover", ""), ("single", ""), ("players", " for player_1")])
def test_illegal_action_is_an_error_before_anything_is_stepped(mode, view, whose):
    env = made("board/tic_tac_toe-v0", view=view, autoreset_mode=mode, seat=0)
    env.step(np.full((3, 2) if view == "players" else 3, 4))
    before, bad = env.save(), env.sample_legal()
    bad[1] = 4
    with pytest.raises(ValueError, match=rf"actions: expected a legal action{whose} in row 1: .*; got 4"):
        env.step(bad)
    with pytest.raises(ValueError, match="in row 1"):
        env.send(bad)
    assert env.save().rows == before.rows


def test_environments_with_other_rules_for_illegal_actions_are_refused():
    with pytest.raises(ValueError, match="^env_options: expected the same illegal .* env 0 has error and env"):
        cypool.make(ID, num_envs=3, env_options=[{"illegal": "error"}, {}, {"illegal": "lose"}])


def test_illegal_action_of_some_is_named_by_its_row():
    env = made()
    for _ in range(6):
        env.step([0], [2])
    with pytest.raises(ValueError, match="in row 1: 1, 2, 3, 4, 5, 6; got 0"):
        env.send([3, 0], [0, 2])
    env.step([0, 1], [0, 2])


def test_action_after_the_end_is_not_looked_at():
    env = made(num_envs=1)
    for action in (0, 1, 0, 1, 0, 1, 0):
        _, reward, terminated, _, info = env.step([action])
    assert terminated[0] and reward[0] == 1
    *_, info = env.step([5])
    assert info["elapsed_step"][0] == 0 and info["action_mask"].all()


@pytest.mark.parametrize("view", ["mover", "players", "single"])
def test_illegal_action_loses(view):
    env = made(view=view, illegal="lose", seat=0, num_envs=1)
    for _ in attempts():
        action = np.zeros((1, 2) if view == "players" else 1, np.int64)
        _, reward, terminated, _, info = env.step(action)
        if terminated[0]:
            break
    if view == "players":
        assert info["agents"]["player"]["reward"].tolist() == [[-1, 0]]
    elif view == "mover":
        assert reward[0] == -1 and info["rewards"].tolist() == [[-1, 0]]
    assert info["current_player"][0] == -1


def test_sample_legal_draws_each_legal_action():
    env = made(num_envs=2)
    for _ in range(6):
        env.step([3], [1])
    draws = np.array([env.sample_legal() for _ in range(2000)])
    assert set(draws[:, 1]) == {0, 1, 2, 4, 5, 6}
    counts = np.bincount(draws[:, 0], minlength=7)
    assert counts.sum() == 2000 and (abs(counts - 2000 / 7) < 80).all()
    env.action_space.seed(1)
    first = env.sample_legal().tolist()
    env.action_space.seed(1)
    assert env.sample_legal().tolist() == first


def test_sample_legal_where_all_are_legal_is_sample():
    env, other = cypool.make("CartPole-v1", num_envs=4), cypool.make("CartPole-v1", num_envs=4)
    for each in (env, other):
        each.reset(seed=0)
        each.action_space.seed(0)
    assert env.sample_legal().tolist() == other.action_space.sample().tolist()


def test_rollout_with_an_illegal_action_costs_the_row():
    env = made(num_envs=2)
    actions = np.zeros((8, 2), np.int64)
    actions[:, 1] = [0, 1, 2, 3, 4, 5, 6, 0]
    with pytest.raises(cypool.EnvError, match="expected a legal action of player 0, got 0") as caught:
        env.rollout(actions)
    assert caught.value.steps == {0: 6} and caught.value.batch.truncated[6, 0]
    assert not caught.value.batch.truncated[:, 1].any()


@pytest.mark.parametrize("id", GAMES)
def test_number_of_threads_makes_no_difference(id):
    results = []
    for num_threads in (0, 1, 2, 5):
        env = made(id, num_envs=16, num_threads=num_threads)
        results.append([env.step(env.sample_legal())[0].tobytes() for _ in range(50)])
    assert results.count(results[0]) == 4


def test_asynchronous_pool_draws_for_those_it_returned():
    env = cypool.make(ID, num_envs=8, batch_size=3, num_threads=2, seed=0)
    env.async_reset()
    for _ in range(200):
        *_, info = env.recv()
        action = env.sample_legal()
        over = info["current_player"] < 0
        assert info["action_mask"][np.arange(3), action][~over].all()
        env.send(action, info["env_id"])


@pytest.mark.parametrize("view", ["mover", "players", "single"])
def test_history_goes_back_to_a_position(view):
    env = made(view=view, num_envs=2)
    history = cypool.history(env, 4)
    seen = [env.step(env.sample_legal())[4]["current_player"].tolist() for _ in range(12)]
    *_, info = history.seek(7)
    assert info["current_player"].tolist() == seen[6]


def test_illegal_takes_a_discrete_action():
    with pytest.raises(ValueError, match="illegal: expected None unless the action space is Discrete, got 'error'"):
        EnvSpec(observation=Array((1,), np.float32), action=Array((1,), np.float32), illegal="error")
    with pytest.raises(ValueError, match="illegal: expected 'error', 'lose' or None, got 'win'"):
        EnvSpec(observation=Array((1,), np.float32), action=Discrete(2), illegal="win")


def test_mask_column_is_where_observe_writes_it():
    mask, tensor = Array((2,), np.int8, 0, 1), Array((3,), np.float32)
    group = Group(2, {"observation": tensor, "action_mask": mask}, Discrete(2))
    assert EnvSpec(agents={"a": group}, illegal="lose").mask_column == 1
    assert EnvSpec(observation=tensor, action=Discrete(2), info={"x": mask, "action_mask": mask},
                   illegal="lose").mask_column == 2
    assert EnvSpec(observation=tensor, action=Discrete(2), info={"action_mask": mask}).mask_column is None


@pytest.mark.parametrize("game, theirs", [("connect_four", "connect_four_v3"), ("tic_tac_toe", "tictactoe_v3")])
def test_rules_are_those_of_pettingzoo(game, theirs):
    """Random legal moves: who moves, masks, rewards and ends."""
    module = pytest.importorskip(f"pettingzoo.classic.{theirs}")
    ours, theirs = cypool.aec_env(f"board/{game}-v0"), module.env()
    rng, ends = np.random.default_rng(0), set()
    for seed in range(80):
        ours.reset(seed=seed)
        theirs.reset(seed=seed)
        for _ in attempts():
            agent, their_agent = ours.agent_selection, theirs.agent_selection
            assert ours.possible_agents.index(agent) == theirs.possible_agents.index(their_agent)
            mask = ours.observe(agent)["action_mask"]
            assert mask.tolist() == theirs.observe(their_agent)["action_mask"].tolist()
            action = int(rng.choice(np.flatnonzero(mask)))
            ours.step(action)
            theirs.step(action)
            rewards = list(ours.rewards.values())
            assert rewards == list(theirs.rewards.values())
            assert list(ours.terminations.values()) == list(theirs.terminations.values())
            assert not any(theirs.truncations.values())
            if ours.terminations[agent]:
                break
        ends.add(rewards[0])
    assert {-1, 1} <= ends and (game == "connect_four" or 0 in ends)
    theirs.close()


def test_rules_of_go_are_those_of_pettingzoo_but_for_two_ends():
    """A game ends when a position comes back, in a draw, and after twice as many moves as there are points."""
    module = pytest.importorskip("pettingzoo.classic.go_v5")
    options = {"board_size": 5, "komi": 0.5}
    ours, theirs = cypool.aec_env("board/go-v0", **options), module.env(**options)
    rng, ends = np.random.default_rng(0), set()
    for _ in range(80):
        ours.reset()
        theirs.reset()
        seen = []
        for _ in attempts():
            agent, their_agent = ours.agent_selection, theirs.agent_selection
            assert ours.possible_agents.index(agent) == theirs.possible_agents.index(their_agent)
            mask = ours.observe(agent)["action_mask"]
            assert mask.tolist() == theirs.observe(their_agent)["action_mask"].tolist()
            *points, passes = np.flatnonzero(mask).tolist()
            action = int(rng.choice(points)) if points and rng.random() < 0.9 else passes
            ours.step(action)
            theirs.step(action)
            board, is_over = theirs.unwrapped._go, ours.terminations[agent]
            stones = board.board.tobytes()
            end = ("passes" if theirs.terminations[their_agent] else "moves" if len(seen) == 49 else
                   "comes back" if action != passes and stones in seen else "")
            assert is_over == bool(end)
            won = 0 if end in ("", "comes back") else board.result()
            assert list(ours.rewards.values()) == [won, -won]
            assert end == "moves" or list(theirs.rewards.values()) == [won, -won]
            if is_over:
                break
            seen.append(stones)
        ends.add((end, won))
    assert ends == {("passes", 1), ("passes", -1), ("moves", 1), ("moves", -1), ("comes back", 0)}
    theirs.close()
