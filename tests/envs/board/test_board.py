"""Board games: OpenSpiel's bits; rules that random play does not meet; pictures; states; options."""
import importlib.util

import numpy as np
import pytest
from family_tests import assert_edits_are_harmless, continues, equals, imports_nothing, refuses
from markers import often_slow
from pool_arguments import MODES
from receiving import started
from state_edits import edited

import cypool

needs_openspiel = pytest.mark.skipif(importlib.util.find_spec("pyspiel") is None, reason="needs open_spiel")

# ids with options, each its own code or size
VARIANTS = [
    ("board/tic_tac_toe-v0", {}), ("board/connect_four-v0", {}), ("board/othello-v0", {}),
    ("board/breakthrough-v0", {}), ("board/hex-v0", {"board_size": 4}), ("board/2048-v0", {"max_tile": 64}),
    ("board/go-v0", {"board_size": 5}), ("board/backgammon-v0", {"scoring_type": "full_scoring"}),
    ("board/backgammon-v0", {"max_player_turns": 9}), ("board/breakthrough-v0", {"rows": 5, "columns": 6}),
    ("board/breakthrough-v0", {"rows": 2, "columns": 2}), ("board/hex-v0", {}), ("board/2048-v0", {}),
    ("board/go-v0", {"board_size": 9}), ("board/go-v0", {}), ("board/go-v0", {"board_size": 2, "komi": 0.0})]
LOSES = {"illegal": "lose"}


def made(id, **options):
    return started(cypool.make(f"board/{id}-v0", **{"num_envs": 1, "num_threads": 0, "seed": 3, **options}))


def played(id, actions, **options):
    """Returns a pool of one match and its last batch."""
    env = made(id, **options)
    for action in actions:
        batch = env.step([action])
    return env, *batch


test_parity = needs_openspiel(equals(
    often_slow([(id, {**options, "autoreset_mode": mode}) for id, options in VARIANTS for mode in MODES], 3),
    num_envs=2, num_steps=150, seeds=[5], num_threads=0))
test_parity_of_illegal_actions = needs_openspiel(equals(
    [(id, {**LOSES, **options}) for id, options in VARIANTS[:4]], num_envs=2, num_steps=60, seeds=[5], num_threads=0))


def test_connect_four_full_board_is_a_draw():
    # columns in pairs of turns: no line of four
    moves = [0, 1, 0, 1, 1, 0, 1, 0, 0, 1, 0, 1, 2, 3, 2, 3, 3, 2, 3, 2, 2, 3, 2, 3, 4, 5, 4, 5, 5, 4, 5, 4, 4, 5, 4, 5]
    env, *_ = played("connect_four", moves)
    for _ in range(6):
        _, reward, terminated, _, info = env.step([6])
    assert terminated[0] and reward[0] == 0 and info["rewards"].tolist() == [[0, 0]]
    assert info["current_player"][0] == -1 and not info["action_mask"].any()


def test_othello_passes_when_there_is_no_move():
    env, seen = made("othello"), 0
    env.action_space.seed(0)
    for _ in range(3000):
        *_, info = env.step(env.sample_legal())
        assert info["action_mask"][0, 64] == (info["action_mask"][0, :64].sum() == 0 and info["current_player"][0] >= 0)
        seen += info["action_mask"][0, 64]
    assert seen > 0


def test_go_ko_is_not_taken_back_at_once():
    # white takes the stone at 7 by 6, where black could take it back
    env, *_, info = played("go", [1, 2, 5, 8, 11, 12, 7, 6], board_size=5)
    assert info["action_mask"][0, 7] == 0
    env.step([25])
    *_, info = env.step([24])
    assert info["action_mask"][0, 7] == 1


def test_go_position_that_comes_back_is_a_draw():
    env, draws = made("go", board_size=2), 0
    env.action_space.seed(0)
    for _ in range(500):
        *_, terminated, _, info = env.step(env.sample_legal())
        # with half a point for white, area cannot be equal
        draws += terminated[0] and not info["rewards"].any()
    assert draws > 0


def test_go_two_passes_count_the_area():
    for komi, wanted in ((0.5, [1, -1]), (25.5, [-1, 1]), (25, [0, 0])):
        *_, terminated, _, info = played("go", [12, 25, 25], board_size=5, komi=komi)
        assert terminated[0] and info["rewards"][0].tolist() == wanted


def test_2048_merges_each_tile_once():
    env = made("2048")
    state = env.save()
    tiles = [1, 1, 1, 1, 2, 1, 1, 0, 0, 0, 1, 1, 3, 0, 0, 3]
    env.load(edited(state, {**{f"tiles[{k}]": tile for k, tile in enumerate(tiles)}, "num_moves": 5}))
    obs, reward, *_ = env.step([3])
    assert reward[0] == 4 + 4 + 4 + 4 + 16
    assert obs[0, 0, :2].tolist() == [4, 4] and obs[0, 1, :2].tolist() == [4, 4] and obs[0, 3, 0] == 16


def test_backgammon_equal_dice_are_two_actions():
    env, seen = made("backgammon"), 0
    env.action_space.seed(0)
    before = env.reset()[1]["current_player"][0]
    for _ in range(300):
        obs, _, _, _, info = env.step(env.sample_legal())
        after = info["current_player"][0]
        # the dice are the last numbers
        seen += after == before and after >= 0 and obs[0, 198] == obs[0, 199]
        assert info["elapsed_step"][0] == 0 or after in (-1, 1 - before) or obs[0, 198] == obs[0, 199]
        before = after
    assert seen > 10


test_continues = continues(
    [(id, mode, {**options, **more}) for (id, options), mode, more in zip(
        VARIANTS[:8], ["NextStep", "SameStep", "Disabled"] * 3, [LOSES, {**LOSES, "view": "single"}, LOSES, LOSES,
                                                                 {**LOSES, "view": "players"}, LOSES, LOSES, LOSES],
        strict=False)], 20, 40)


@pytest.mark.parametrize("id, options", VARIANTS[:8])
def test_edited_states(id, options):
    def make():
        env = started(cypool.make(id, num_envs=1, num_threads=0, seed=3, **LOSES, **options))
        for _ in range(4):
            env.step(env.sample_legal())
        return env

    assert_edits_are_harmless(make, 40, 6)


@pytest.mark.parametrize("id, changes, message", [
    ("connect_four", {"stones[1]": 1}, r"stones\[1\]: expected cells without a stone of player 0"),
    ("connect_four", {"stones[0]": 4}, "stones: expected no gaps below stones"),
    ("connect_four", {"stones[0]": 64}, "stones: expected stones on the board"),
    ("connect_four", {"current_player": 0}, "current_player: expected a player who can move in this .*, got 0"),
    ("tic_tac_toe", {"stones[0]": 7}, "stones: expected as many stones for each player, or one more .*, got 3 more"),
    ("othello", {f"stones[{k}]": 0 for k in range(16)}, "current_player: expected a player who can move"),
    ("breakthrough", {f"pieces[{k}]": 255 * (k < 8) for k in range(16)}, "current_player: expected a player who"),
    ("hex", {"cells[0]": 5}, r"cells\[0\]: expected 7, got 5"),
    ("go", {"ko": 0}, "ko: expected an empty point, got 0"),
    ("backgammon", {"sides[0].off": 1}, r"sides\[0\]: expected 15 checkers, got 16"),
    ("backgammon", {"dice[0]": 0}, "dice: expected the lower die first, and equal dice for a second action, got 0 and"),
    ("backgammon", {"sides[1].points[12]": 1, "sides[1].points[0]": 1}, "sides"),
    ("go", {"num_moves": 0}, "num_moves: expected at least .*, got 0"),
])
def test_states_that_cannot_be_are_refused(id, changes, message):
    env = made(id)
    # the first legal action
    env.step(env.load(env.save())[1]["action_mask"].argmax(1))
    with pytest.raises(ValueError, match=f"state: {message}"):
        env.load(edited(env.save(), changes))


def test_go_state_with_a_chain_without_liberties_is_refused():
    env, *_ = played("go", [0], board_size=2)
    with pytest.raises(ValueError, match=r"state: colors\[0\]: expected a stone with a liberty, got 0"):
        env.load(edited(env.save(), {f"colors[{k}]": 0 for k in range(4)}))


@pytest.mark.parametrize("id, options", VARIANTS[:8])
@pytest.mark.parametrize("view", ["mover", "players"])
def test_pictures_show_stones(id, options, view):
    view = {} if "2048" in id else {"view": view}
    with started(cypool.make(id, num_envs=1, num_threads=0, seed=0, **options, **view)) as env:
        before = env.render([0])
        env.action_space.seed(0)
        for _ in range(3):
            env.step(env.sample_legal())
        assert before.dtype == np.uint8 and (before != env.render([0])).any()


test_refused_options = refuses([
    ("board/go-v0", {"board_size": 1}, "board_size: expected 2 to 19, got 1"),
    ("board/go-v0", {"komi": float("nan")}, "komi: expected -361 to 361, got nan"),
    ("board/hex-v0", {"board_size": 20}, "board_size: expected 2 to 19, got 20"),
    ("board/breakthrough-v0", {"rows": 9}, "rows: expected 2 to 8, got 9"),
    ("board/2048-v0", {"max_tile": 100}, "max_tile: expected a power of 2, got 100"),
    ("board/2048-v0", {"max_tile": 4}, "max_tile: expected 8 to 32768, got 4"),
    ("board/2048-v0", {"view": "players"}, "view"),
    ("board/othello-v0", {"view": "all"}, "view: expected one of 'mover'"),
    ("board/othello-v0", {"seat": 2}, "seat: expected 0 to 1, got 2"),
    ("board/othello-v0", {"seat": "first"}, "seat: expected one of 'random'"),
    ("board/othello-v0", {"illegal": "pass"}, "illegal: expected one of 'error'"),
    ("board/othello-v0", {"opponent": "mcts"}, "opponent: expected one of 'random'")])
test_openspiel_is_not_imported = imports_nothing(
    [("board/connect_four-v0", {"illegal": "lose"}, True)], ["pyspiel", "open_spiel"])


@needs_openspiel
@pytest.mark.parametrize("id, options", [("board/go-v0", {"board_size": 5}), ("board/2048-v0", {})])
def test_loop_of_openspiel_plays_legal_actions(id, options):
    from cypool.envs.board.reference import loop

    space, step = loop(id, 2, **options)
    assert space == cypool.make(id, num_envs=1, **options).single_action_space
    assert [step(None) for _ in range(200)] == [2] * 200
