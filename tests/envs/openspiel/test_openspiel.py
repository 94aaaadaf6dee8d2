"""Games of OpenSpiel: equal to its `rl_environment`; states; games that throw; other libraries; options."""
import importlib.util
import itertools
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from envs.openspiel.rl_environment import assert_equal
from family_tests import assert_edits_are_harmless, continues, equals, imports_nothing, refuses
from markers import exhaustive, often_slow
from receiving import started
from state_edits import edited, fields_of, with_own
from waiting import attempts

import cypool
from cypool.envs.openspiel import openspiel
from cypool.state import State
from cypool.testing import check_env

pytestmark = pytest.mark.skipif(importlib.util.find_spec("pyspiel") is None, reason="needs open_spiel")

LOSES = {"illegal": "lose"}
# each another kind: chance, hidden information, one player, more than two, rewards before the end, all at once. mnk
# writes only what is not 0 in its tensor
GAMES = [("tic_tac_toe", {}), ("chess", {}), ("go", {"board_size": 5, "komi": 0.5}), ("backgammon", {}), ("2048", {}),
         ("kuhn_poker", {"players": 3}), ("leduc_poker", {}), ("repeated_leduc_poker", {}), ("hanabi", {"players": 3}),
         ("mnk", {"n": 4, "m": 5, "k": 3}), ("hearts", {}), ("nim", {"pile_sizes": "2;3"}), ("goofspiel", {}),
         ("matrix_pd", {}), ("laser_tag", {"horizon": 30}), ("oshi_zumo", {}), ("pathfinding", {})]


def made(short_name, **options):
    env = started(cypool.make(f"openspiel/{short_name}-v0", **{"num_envs": 1, "num_threads": 0, "seed": 3, **options}))
    env.action_space.seed(0)
    return env


def played(short_name, num_steps, **options):
    env = made(short_name, **options)
    for _ in range(num_steps):
        env.step(env.sample_legal())
    return env


@pytest.mark.parametrize("short_name, parameters", GAMES)
def test_games_equal_rl_environment(short_name, parameters):
    assert_equal(short_name, 60, 1, **parameters)


def test_game_among_the_parameters_equals_that_of_openspiel():
    import pyspiel

    text = "turn_based_simultaneous_game(game=goofspiel(num_cards=4))"
    state = pyspiel.load_game(text).new_initial_state()
    env = made("turn_based_simultaneous_game", game="goofspiel(num_cards=4)", chance_stream="random_state", seed=0)
    random, (obs, info) = np.random.RandomState(0), env.reset(seed=0)
    for _ in attempts():
        if state.is_terminal():
            break
        if state.is_chance_node():
            outcomes, p = zip(*state.chance_outcomes(), strict=True)
            state.apply_action(random.choice(outcomes, p=p))
            continue
        assert obs[0].tobytes() == np.array(state.information_state_tensor(), np.float32).tobytes()
        assert np.flatnonzero(info["action_mask"][0]).tolist() == state.legal_actions()
        action = env.sample_legal()
        state.apply_action(int(action[0]))
        obs, *_, info = env.step(action)
    assert info["rewards"][0].tolist() == state.rewards() and info["current_player"][0] == -1


test_parity = equals(often_slow([
    ("openspiel/tic_tac_toe-v0", {}), ("openspiel/backgammon-v0", {}),
    ("openspiel/kuhn_poker-v0", {"autoreset_mode": "SameStep"}),
    ("openspiel/2048-v0", {"autoreset_mode": "Disabled"}), ("openspiel/go-v0", {"board_size": 5, **LOSES}),
    ("openspiel/leduc_poker-v0", {"tensor": "observation", **LOSES})], 2), num_envs=2, num_steps=100, seeds=[5],
    num_threads=0)


@pytest.mark.parametrize("short_name, options", [("backgammon", {}), ("go", {"board_size": 9}), ("leduc_poker", {}),
                                                 ("goofspiel", {}), ("kuhn_poker", {"view": "single"})])
def test_number_of_threads_makes_no_difference(short_name, options):
    results = []
    for num_threads in (0, 1, 2, 5):
        env = made(short_name, num_envs=8, num_threads=num_threads, **options)
        for _ in range(30):
            obs, reward, *_, info = env.step(env.sample_legal())
        results.append((str(obs), reward.tolist(), info["current_player"].tolist()))
    assert results.count(results[0]) == 4


def test_rules_of_chess_are_those_of_pettingzoo_but_for_claimed_draws():
    """PettingZoo ends a game as soon as a player may claim a draw; OpenSpiel when it is one. Its white is player 1."""
    import pyspiel

    pytest.importorskip("chess")
    module = pytest.importorskip("pettingzoo.classic.chess_v6")
    from pettingzoo.classic.chess.chess_utils import action_to_move

    ours, theirs = cypool.aec_env("openspiel/chess-v0"), module.env()
    rng, ends = np.random.default_rng(0), set()
    for _ in range(3):
        ours.reset()
        theirs.reset()
        state, board = pyspiel.load_game("chess").new_initial_state(), theirs.unwrapped.board
        for _ in attempts():
            agent, their_agent = ours.agent_selection, theirs.agent_selection
            player = theirs.possible_agents.index(their_agent)
            assert ours.possible_agents.index(agent) == 1 - player
            legal, their_legal = (np.flatnonzero(env.observe(env.agent_selection)["action_mask"]).tolist()
                                  for env in (ours, theirs))
            moves = {board.parse_san(state.action_to_string(action)): action for action in legal}
            their_moves = {action_to_move(board, action, player): action for action in their_legal}
            assert moves.keys() == their_moves.keys() and len(moves) == len(legal)
            move = list(moves)[rng.integers(len(moves))]
            ours.step(moves[move])
            state.apply_action(moves[move])
            theirs.step(their_moves[move])
            is_over = theirs.terminations[their_agent]
            is_claimed = is_over and board.outcome() is None
            assert is_claimed or ours.terminations[agent] == is_over
            assert list(ours.rewards.values())[::-1] == list(theirs.rewards.values())
            if is_over:
                break
        ends.add("claim" if is_claimed else board.result())
    assert len(ends) > 1
    theirs.close()


def test_games_of_the_page_can_be_made():
    text = (Path(__file__).parents[3] / "docs" / "reference" / "openspiel.md").read_text()
    text = text.partition("do not need parameters:")[2].partition("Games built from another")[0]
    names = re.findall(r"\w+", re.sub(r"^- .*?:", "", text, flags=re.MULTILINE))
    assert len(names) > 90
    for name in names:
        assert cypool.make(f"openspiel/{name}-v0", num_threads=0).env_spec.illegal == "error"


@pytest.mark.parametrize("short_name, options", [
    ("kuhn_poker", {"view": "players"}), ("leduc_poker", {"view": "single", "seat": "alternate"}), ("oshi_zumo", {}),
    ("laser_tag", {"horizon": 20}), ("backgammon", {"chance_stream": "random_state", "max_player_turns": 9})])
def test_contract(short_name, options):
    check_env(f"openspiel/{short_name}-v0", num_steps=40, **LOSES, **options)


@pytest.mark.parametrize("view, whose", [("mover", ""), ("single", ""), ("players", " for player_1")])
def test_illegal_action_is_an_error_before_anything_is_stepped(view, whose):
    env = made("tic_tac_toe", view=view, seat=0, num_envs=3)
    env.step(np.full((3, 2) if view == "players" else 3, 4))
    before, bad = env.save(), env.sample_legal()
    bad[1] = 4
    with pytest.raises(ValueError, match=rf"actions: expected a legal action{whose} in row 1: .*; got 4"):
        env.step(bad)
    assert env.save().rows == before.rows


def test_illegal_action_where_all_move_is_an_error_before_anything_is_stepped():
    env = made("goofspiel", num_envs=2, num_cards=4)
    env.step([[0, 1], [2, 3]])
    before = env.save()
    with pytest.raises(ValueError, match=r"actions: expected a legal action for player_1 in row 1: 0, 1, 2; got 3"):
        env.step([[1, 0], [0, 3]])
    assert env.save().rows == before.rows


def test_illegal_action_where_all_move_loses():
    env = made("goofspiel", num_cards=4, players=3, **LOSES)
    env.step([[0, 1, 2]])
    *_, terminated, _, info = env.step([[1, 1, 2]])
    assert terminated[0] and info["agents"]["player"]["reward"][0].tolist() == [0, -1, 0]
    assert info["current_player"][0] == -1


def test_illegal_action_in_a_rollout_costs_the_row():
    env = made("connect_four", num_envs=2)
    actions = np.zeros((8, 2), np.int64)
    actions[:, 1] = [0, 1, 2, 3, 4, 5, 6, 0]
    with pytest.raises(cypool.EnvError, match="expected a legal action of player 0, got 0") as caught:
        env.rollout(actions)
    assert caught.value.steps == {0: 6} and not caught.value.batch.truncated[:, 1].any()


def test_match_that_is_over_before_the_learner_moves_is_followed_by_another():
    env = made("euchre", view="single", num_envs=64)
    for _ in range(5):
        _, info = env.reset()
        assert info["action_mask"].any(1).all() and (info["current_player"] >= 0).all()
    env = made("nim", pile_sizes="1", view="single", num_envs=20)
    assert env.reset()[1]["action_mask"].any(1).all()
    with pytest.raises(cypool.EnvError, match="seat: expected a player who moves before a match is over, got 1"):
        made("nim", pile_sizes="1", view="single", seat=1)


test_continues = continues([
    ("openspiel/chess-v0", "NextStep", {}), ("openspiel/backgammon-v0", "SameStep", {"view": "players"}),
    ("openspiel/2048-v0", "Disabled", {}), ("openspiel/leduc_poker-v0", "NextStep", {"chance_stream": "random_state"}),
    ("openspiel/kuhn_poker-v0", "SameStep", {"view": "single"}), ("openspiel/laser_tag-v0", "NextStep", {}),
    ("openspiel/goofspiel-v0", "Disabled", {"num_cards": 5})], 20, 40, least=0, **LOSES)


@pytest.mark.parametrize("short_name", ["connect_four", "leduc_poker", "goofspiel"])
def test_edited_states(short_name):
    def make():
        return played(short_name, 4, **LOSES)

    assert_edits_are_harmless(make, 30, 6)


def with_history(env, history):
    """Returns a state of one environment, with these moves."""
    state = env.save()
    last = max(int(path[8:-1]) for path in fields_of(state) if path.startswith("history["))
    assert last + 1 == len(history)
    return edited(state, {f"history[{k}]": move for k, move in enumerate(history)})


def test_state_with_an_illegal_move_is_refused():
    # OpenSpiel would read beyond the board
    env = played("connect_four", 2)
    with pytest.raises(ValueError, match=r"state: history\[1\]: expected a legal action, got 99"):
        env.load(with_history(env, [3, 99]))


def test_state_with_an_impossible_deal_is_refused():
    env = played("kuhn_poker", 1)
    with pytest.raises(ValueError, match=r"state: history\[1\]: expected a legal action, got 2"):
        env.load(with_history(env, [2, 2, 0]))


def test_state_with_a_move_after_the_end_is_refused():
    env = made("tic_tac_toe")
    for move in (0, 1, 2, 3, 4, 5):
        env.step([move])
    with pytest.raises(ValueError, match="state: history: expected 5 moves until its end, got 6"):
        env.load(with_history(env, [0, 3, 1, 4, 2, 5]))


def test_state_with_another_mover_is_refused():
    env = played("connect_four", 2)
    with pytest.raises(ValueError, match="state: current_player: expected 0, got 1"):
        env.load(edited(env.save(), {"current_player": 1}))


def test_state_with_another_stream_of_chance_is_refused():
    env = played("leduc_poker", 2, chance_stream="random_state")
    state = env.save()
    own, key, pos = state.rows[0]["own"]
    for changed, message in (((own, key[4:], pos), "expected the key of an MT19937"),
                             ((own, bytes(len(key)), pos), "expected an MT19937 with a nonzero key"),
                             ((own, key, 625), "expected 0 to 624, got 625"), ((own,), "expected 3 values, got 1")):
        with pytest.raises(ValueError, match=message):
            env.load(with_own(state, changed))
    env.load(State.from_bytes(state.to_bytes()))


def test_loaded_moves_give_the_position():
    env = played("connect_four", 2)
    env.load(with_history(env, [3, 3]))
    other = made("connect_four")
    other.step([3])
    want = other.step([3])
    assert env.step([0])[0].tobytes() == other.step([0])[0].tobytes() and want[0].any()


def test_seed_that_no_random_state_has_is_refused():
    env = made("leduc_poker", chance_stream="random_state")
    with pytest.raises(ValueError, match="seed: expected at most 4294967295, a RandomState's limit, got 4294967296"):
        env.reset(seed=2**32)


@pytest.mark.parametrize("short_name, options, message", [
    ("breakthrough", {"columns": 1}, "cols_ > 1"), ("bridge", {"dealer": 5}, "expected a player, chance or all"),
    ("catch", {"rows": 1}, "the game is over before the first move")])
def test_game_that_throws_in_a_reset_costs_the_row(monkeypatch, short_name, options, message):
    with pytest.raises(ValueError, match=f"can load, got one that cannot be played: .*{message}"):
        made(short_name, **options)
    monkeypatch.setattr("cypool.envs.openspiel.trial.check", lambda *game: None)
    env = cypool.make(f"openspiel/{short_name}-v0", num_envs=2, num_threads=1, seed=0, **options)
    with pytest.raises(cypool.EnvError, match=f"RuntimeError: .*{message}"):
        env.reset()
    with pytest.raises(cypool.EnvError, match=message):
        env.reset()


def test_error_of_openspiel_is_a_sentence_next_to_its_module(run_python):
    done = run_python("""
import cypool, pyspiel
spec = cypool.make_spec("openspiel/chess-v0")
try:
    cypool.make_spec("openspiel/kuhn_poker-v0", players=11)
except ValueError as error:
    print(error)
try:
    pyspiel.load_game("no_game")
except pyspiel.SpielError as error:
    print("SpielError")
""")
    assert "players: expected a game that OpenSpiel can load, got" in done.stdout and "SpielError" in done.stdout


test_refused_options = refuses([
    ("openspiel/chess-v0", {"short_name": -10**5000}, TypeError, "short_name: expected the name of a game, got "),
    ("openspiel/chess-v0", {"short_name": []}, TypeError, r"short_name: expected the name of a game, got \[\]"),
    ("openspiel/ches-v0", {}, ValueError, r"short_name: .* got 'ches' \(did you mean chess"),
    ("openspiel/go-v0", {"board_size": "9"}, TypeError, "board_size: expected an int, got '9'"),
    ("openspiel/go-v0", {"board_size": 2**31}, ValueError, "board_size: expected -2147483648 to 2147483647"),
    ("openspiel/go-v0", {"board_size": 0}, ValueError, "board_size: expected a game with discrete actions"),
    ("openspiel/go-v0", {"komi": "7"}, TypeError, "komi: expected a number, got '7'"),
    ("openspiel/go-v0", {"boardsize": 9}, ValueError, r"boardsize: not an option .*\(did you mean board_size"),
    ("openspiel/chess-v0", {"chess960": 1}, TypeError, "chess960: expected True or False, got 1"),
    ("openspiel/nim-v0", {"pile_sizes": 3}, TypeError, "pile_sizes: expected a str, got 3"),
    ("openspiel/misere-v0", {}, ValueError, "game: expected a value, because misere has no default for it"),
    ("openspiel/misere-v0", {"game": 3}, TypeError, "game: expected a str that names a game"),
    ("openspiel/misere-v0", {"game": "kuhn_poker("}, ValueError, "game: expected a game that OpenSpiel can load"),
    ("openspiel/kuhn_poker-v0", {"players": 11}, ValueError, "players: expected a game that OpenSpiel can load"),
    ("openspiel/crazy_eights-v0", {"players": 12}, ValueError, "players: expected 1 to 10 players, got 12"),
    ("openspiel/goofspiel-v0", {"players": 0}, ValueError, "players: expected 1 to 10 players, got 0"),
    ("openspiel/bridge_uncontested_bidding-v0", {}, ValueError, "id: .* sampled chance"),
    ("openspiel/negotiation-v0", {}, ValueError, "id: .* sampled chance"),
    ("openspiel/mfg_garnet-v0", {}, ValueError, "id: .* a mean field"),
    ("openspiel/chess-v0", {"tensor": "information_state"}, ValueError, "tensor: expected observation .*by chess"),
    ("openspiel/chess-v0", {"chance_stream": "time"}, ValueError, "chance_stream: expected one of 'np_random'"),
    ("openspiel/twixt-v0", {}, ValueError, "id: .*: expected a game that several .* at once, got twixt"),
    ("openspiel/misere-v0", {"game": "twixt(board_size=5)"}, ValueError, "game: expected a game that several"),
    ("openspiel/goofspiel-v0", {"view": "mover"}, ValueError, "view: expected 'players' .* simultaneous"),
    ("openspiel/goofspiel-v0", {"view": np.zeros(2)}, ValueError, "view: expected 'players' .* simultaneous"),
    ("openspiel/2048-v0", {"view": "players"}, ValueError, "view: expected 'mover' .2048 has one"),
    ("openspiel/chess-v0", {"view": "all"}, ValueError, "view: expected one of 'mover'"),
    ("openspiel/chess-v0", {"seat": 2}, ValueError, "seat: expected 0 to 1, got 2"),
    ("openspiel/chess-v0", {"opponent": "mcts"}, ValueError, "opponent: expected one of 'random'")])
test_openspiel_is_not_imported = imports_nothing(
    [("openspiel/chess-v0", {"view": "single", **LOSES}, False)], ["pyspiel", "open_spiel"])


def test_module_shares_no_symbol_with_openspiel():
    # a registry of games that both have would be one
    shown = subprocess.check_output(["nm", "-D", "--defined-only", openspiel.__file__], text=True, timeout=300)
    assert [line.split()[-1] for line in shown.splitlines()] == ["PyInit_openspiel"]


def make_in(run_python, folder):
    """Returns what `make` says in a new process that finds the package in a folder."""
    return run_python(f"""
import sys
sys.path.insert(0, {str(folder)!r})
import cypool
try:
    cypool.make("openspiel/chess-v0")
except ImportError as error:
    print(error)
""").stdout


def write_package(folder, version):
    (folder / f"open_spiel-{version}.dist-info").mkdir()
    (folder / f"open_spiel-{version}.dist-info" / "METADATA").write_text(f"Name: open_spiel\nVersion: {version}\n")


def test_another_version_is_refused(run_python, tmp_path):
    write_package(tmp_path, "1.6.15")
    assert "OpenSpiel's games need open_spiel 2.0.2, found 1.6.15: pip install" in make_in(run_python, tmp_path)


@pytest.mark.parametrize("library, message", [
    (None, ".*pyspiel.so is missing"), ("text", "pyspiel.so differs: .*file too short"),
    ("module", "pyspiel.so differs: no symbol _ZN10open_spiel")])
def test_another_library_is_refused(run_python, tmp_path, library, message):
    write_package(tmp_path, "2.0.2")
    if library == "text":
        (tmp_path / "pyspiel.so").write_text("no library")
    elif library == "module":
        from cypool.envs.openspiel import openspiel

        shutil.copy(openspiel.__file__, tmp_path / "pyspiel.so")
    assert re.search(message, make_in(run_python, tmp_path))


def test_trees_have_outcomes_of_chance_and_refuse_hidden_information():
    env = started(cypool.make("openspiel/pig-v0", num_envs=3, num_threads=1, horizon=50))
    result = cypool.TreeSearch(env, simulations=100).run("rollout")
    assert (result.visits.sum(axis=1) == 100).all()
    hidden = started(cypool.make("openspiel/kuhn_poker-v0", num_envs=2, num_threads=0))
    with pytest.raises(ValueError, match="^env: expected a game without hidden information .*got openspiel/kuhn"):
        cypool.TreeSearch(hidden)
    assert (cypool.TreeSearch(hidden, allow_hidden=True, simulations=20).run("rollout").visits.sum(axis=1) == 20).all()


def test_chance_of_a_random_state_is_not_drawn_again():
    env = started(cypool.make("openspiel/pig-v0", num_envs=3, num_threads=0, horizon=50, chance_stream="random_state"))
    with pytest.raises(ValueError, match="^chance: expected 'foresee' for openspiel/pig-v0 .it draws"):
        cypool.TreeSearch(env)
    search = cypool.TreeSearch(env, simulations=40, chance="foresee")
    for _ in range(5):
        action = search.run("rollout").action
        env.step(action)
        search.advance(action)
    # without chance there is nothing to draw
    for id in ("tic_tac_toe", "pig"):
        stream = "random_state" if id == "tic_tac_toe" else "np_random"
        assert not cypool.make_spec(f"openspiel/{id}-v0", chance_stream=stream).has_own_chance


@pytest.mark.parametrize("id, message", [("kuhn_poker", "opponent: expected 'random' .a search sees"),
                                         ("oshi_zumo", "view: expected 'players'")])
def test_opponent_that_searches_is_refused(id, message):
    with pytest.raises(ValueError, match=message):
        cypool.make(f"openspiel/{id}-v0", view="single", opponent="tree_search")


@pytest.mark.parametrize("id, options, message", [
    ("universal_poker", {"numPlayers": 3}, "numPlayers: .* can load, got one that ends the process .SIGSEGV"),
    ("hanabi", {"players": 6}, "players: .* can load, got one that ends the process .SIGABRT"),
    ("misere", {"game": "hanabi(players=100)"}, "game: .* can load, got one that ends the process"),
    ("spades", {"num_tricks": 0}, "num_tricks: .* can load, got one that (cannot be played|ends the process)"),
    ("blotto", {"coins": 1000, "fields": 6}, "coins, fields: .* can load, got one that takes longer than 1 s"),
    ("blotto", {"fields": -3}, "fields: .* can load, got one that needs more than 2 GiB of memory"),
    *exhaustive(
        ("blotto", {"fields": 100}, "fields: .* can load, got one that (ends the process|needs more than 2 GiB)")),
    ("universal_poker", {"stack": "x"}, "stack: .* can load, got stoi"),
    ("oshi_zumo", {"size": -3}, "size: .* can load, got one that cannot be played: .* writes outside its tensor of"),
    ("sheriff", {"max_bribe": 2**31 - 1}, "max_bribe: expected a game with discrete actions .*, got -2147483"),
    ("hex", {"board_size": -1}, "board_size: expected a game with discrete actions and observation tensors, got .*-1"),
    ("go", {"board_size": 10**9}, "board_size: expected a game with discrete actions .*, got .*1000000000")])
def test_parameters_that_openspiel_does_not_survive_are_refused(monkeypatch, id, options, message):
    monkeypatch.setattr("cypool.envs.openspiel.trial._SECONDS", 1 if "coins" in options else 30)
    with pytest.raises(ValueError, match=f"^{message}"):
        cypool.make(f"openspiel/{id}-v0", **options)


def test_ctrl_c_ends_a_trial(run_forked):
    assert run_forked("""
import signal, cypool
from cypool.envs.openspiel import trial
def interrupt(*_):
    raise KeyboardInterrupt
signal.signal(signal.SIGALRM, interrupt)
cypool.make("openspiel/hex-v0", board_size=4)
signal.setitimer(signal.ITIMER_REAL, 1)
try:
    cypool.make("openspiel/blotto-v0", coins=1000, fields=6)
except KeyboardInterrupt:
    print(trial._server)
cypool.make("openspiel/hex-v0", board_size=5)
""", check=True).stdout == "None\n"


def test_process_that_tries_games_ends_and_is_replaced(run_forked):
    assert run_forked("""
import os, signal, cypool
from cypool.envs.openspiel import trial
pids = []
for size in (4, 5, 6):
    cypool.make("openspiel/hex-v0", board_size=size)
    pids.append(trial._server.pid)
    if size == 5:
        os.kill(pids[-1], signal.SIGKILL)
assert pids[0] == pids[1] != pids[2]
if os.fork() == 0:
    assert trial._server is None
    cypool.make("openspiel/hex-v0", board_size=8)
    trial._end()
    os._exit(7)
print(os.waitstatus_to_exitcode(os.wait()[1]))
""", check=True).stdout == "7\n"


@pytest.mark.parametrize("illegal", ["error", "lose"])
def test_players_who_move_at_once_are_asked_one_after_another(illegal):
    import pyspiel

    env = cypool.aec_env("openspiel/matrix_pd-v0", illegal=illegal)
    for actions in itertools.product(range(2), repeat=2):
        env.reset(seed=0)
        state = pyspiel.load_game("matrix_pd").new_initial_state()
        state.apply_actions(actions)
        for agent, action in zip(env.possible_agents, actions, strict=True):
            assert env.agent_selection == agent and not any(env.terminations.values())
            env.step(action)
        assert list(env.rewards.values()) == state.returns() and all(env.terminations.values())


# of spaces that are dicts
@pytest.mark.filterwarnings("ignore:Observation:UserWarning")
def test_players_who_move_at_once_are_asked_again_if_one_is_wrong():
    env = cypool.aec_env("openspiel/goofspiel-v0", num_cards=3, points_order="descending")
    with pytest.raises(RuntimeError, match="observe: expected a reset before"):
        env.last()
    env.reset(seed=0)
    for action in (0, 1, 1):
        env.step(action)
    with pytest.raises(ValueError, match="expected a legal action for player_1 in row 0: 0, 2; got 1"):
        env.step(1)
    assert env.agent_selection == "player_0" and env.observe("player_0")["action_mask"].tolist() == [0, 1, 1]
    for action in (1, 0):
        env.step(action)
    # the last cards play themselves
    assert all(env.terminations.values())
    pytest.importorskip("pettingzoo.test").api_test(cypool.aec_env("openspiel/goofspiel-v0", num_cards=5), 20)


def test_opponent_that_searches_wins():
    env, rewards = cypool.make("openspiel/tic_tac_toe-v0", num_envs=20, view="single", opponent="tree_search"), []
    env.reset(seed=0)
    env.action_space.seed(0)
    for _ in range(20):
        _, reward, terminated, *_ = env.step(env.sample_legal())
        rewards += reward[terminated].tolist()
    assert len(rewards) > 20 and rewards.count(-1.0) > 0.7 * len(rewards)
