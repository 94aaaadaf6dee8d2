"""Board games in a terminal: boards, names of moves, and what is said to wrong ones."""
import pytest
from at_terminal import assert_listed_moves_are_taken, said_by_play, typed

import cypool
from cypool.envs.board import terminal
from cypool.tools.cli import main

GAMES = ["tic_tac_toe", "connect_four", "othello", "breakthrough", "hex", "go", "backgammon", "2048"]


def played(lines, id, *args, **options):
    return typed(terminal.play, f"board/{id}-v0", lines, *args, **options)


def test_play_of_both_sides_names_the_winner():
    said, done, _ = played(["a1", "B1", "a2", "b2", "a3"], "tic_tac_toe", view="mover")
    assert done == 5 and "Your move as O" in said and "O plays b1." in said
    assert said.endswith("   a b c\n 1 X O .\n 2 X O .\n 3 X . .\nX wins.\nEnter starts another game, Ctrl-C quits: "
                         "\n")


def test_play_of_an_illegal_move_says_so_and_asks_again():
    said, done, _ = played(["z9", "", "8", "4", "?"], "connect_four", view="single", seat=0)
    assert done == 1 and said.count("expected one of the 7 legal moves, got") == 3 and "got 'z9'" in said
    assert " X " in said and "1 2 3 4 5 6 7" in said and ": 1  2  3  4  5  6  7\n" in said


def test_play_after_the_end_begins_another_match():
    said, done, _ = played(["pass", "pass", "", "c3"], "go", view="mover", board_size=5)
    assert done == 3 and "O wins." in said and "O plays" not in said.partition("O wins.")[2]
    said, done, _ = played(["pass", "pass", "", "c3"], "go", steps=2, view="mover", board_size=5)
    assert done == 2 and said.endswith("O wins.\n\n")


@pytest.mark.parametrize("seat", [0, 1])
@pytest.mark.parametrize("game", ["connect_four", "othello", "breakthrough", "hex", "go", "tic_tac_toe"])
def test_news_are_the_moves_of_the_other_player(game, seat):
    """Both sides play by themselves in one view; the same position in the other view has the move by its name."""
    known = 0
    options = {"board_size": 5} if game in ("hex", "go") else {}
    with cypool.make(f"board/{game}-v0", num_threads=0, seed=5, **options) as env:
        env.action_space.seed(seat)
        obs, info = env.reset()
        before = last = None
        for _ in range(60):
            player = int(info["current_player"][0])
            shown = terminal._show_cells(game, obs[0], info["action_mask"][0], player, before)
            if last is not None and player >= 0:
                known += f"plays {last}." in shown.news
                assert shown.news in ("", f"{'XO'[1 - player]} plays {last}.\n")
            before, action = (obs[0].copy(), player), env.sample_legal()
            last = {number: name for name, number in shown.moves.items()}.get(int(action[0]))
            obs, _, terminated, _, info = env.step(action)
            if terminated[0]:
                before = last = None
                obs, info = env.reset()
    assert known > 40


@pytest.mark.parametrize("game", GAMES)
def test_play_of_any_game_takes_the_moves_that_it_lists(game):
    options = {} if game == "2048" else {"view": "single"}
    assert_listed_moves_are_taken(terminal.play, f"board/{game}-v0", **options)


@pytest.mark.parametrize("stop", ["control-C", "end of input"])
def test_play_command_against_an_opponent_ends_quietly(stop, tmp_path):
    words = ["board/connect_four-v0", "-o", "seat=0"]
    said = said_by_play(words, b"4\n", b"Your move as X", tmp_path, stop == "control-C")
    assert "O plays " in said and said.strip().endswith("1 steps, rewards 0")


def test_play_of_all_players_at_once_is_refused():
    with pytest.raises(ValueError, match="view: expected 'single' or 'mover' for the terminal"):
        played([], "hex", view="players")


def test_play_command_without_a_terminal_is_refused(capsys):
    assert main(["play", "board/go-v0"]) == 2
    assert "no terminal to read keys from" in capsys.readouterr().err


def test_play_without_a_display_shows_random_matches_as_text(capsys, monkeypatch):
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "SDL_VIDEODRIVER"):
        monkeypatch.delenv(name, raising=False)
    words = ["play", "board/connect_four-v0", "--random", "--steps", "12", "--fps", "1000", "--seed", "1"]
    assert main(words) == 0
    said = capsys.readouterr().out
    boards = [part for part in said.split("\n\n") if "1 2 3 4 5 6 7" in part]
    assert len(boards) >= 12 and "X plays " in said and "O plays " in said and said.endswith("12 steps, rewards 0\n")


def test_info_promises_a_comparison_only_of_the_view_that_the_reference_has(capsys):
    for view, said in (("mover", "`cypool check board/go-v0` compares cypool with it byte for byte"),
                       ("single", "OpenSpiel 2.0.2, except for this view, which `cypool check` cannot compare")):
        assert main(["info", "board/go-v0", "-o", f"view={view}"]) == 0
        assert said in " ".join(capsys.readouterr().out.split())
    assert main(["check", "board/go-v0", "-o", "view=single", "--num-steps", "10"]) == 2
