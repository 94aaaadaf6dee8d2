"""OpenSpiel's games in a terminal: its texts of positions, and its names of moves."""
import importlib.util
import os
import pty
import re

import numpy as np
import pytest
from at_terminal import assert_listed_moves_are_taken, said_by_play, typed
from waiting import attempts

import cypool
from cypool.envs.openspiel import terminal

pytestmark = pytest.mark.skipif(importlib.util.find_spec("pyspiel") is None, reason="needs open_spiel")


def played(id, *args, **options):
    return typed(terminal.play, f"openspiel/{id}-v0", *args, **options)


def test_play_of_both_sides_names_the_winner():
    said, done, _ = played("tic_tac_toe", ["x(0,0)", "O(1,0", "2", "o(1,2)", "1"], view="mover")
    assert done == 5 and "Your move as Player 1" in said and "Player 1 plays o(1,0).\n" in said
    assert said.endswith("\nxxx\no.o\n...\nPlayer 0 plays x(0,1).\nPlayer 0 wins.\nEnter starts another game, "
                         "Ctrl-C quits: \n")


@pytest.mark.parametrize("id, options", [
    ("breakthrough", {"view": "single"}), ("chess", {"view": "mover"}), ("backgammon", {"view": "single"}),
    ("go", {"view": "mover", "board_size": 5}), ("mancala", {"view": "single"}), ("2048", {}),
    ("leduc_poker", {"view": "single"}), ("universal_poker", {"view": "mover"}), ("spades", {"view": "single"})])
def test_play_of_any_game_takes_the_moves_that_it_lists(id, options):
    assert_listed_moves_are_taken(terminal.play, f"openspiel/{id}-v0", **options)


def test_texts_are_those_of_openspiel():
    import pyspiel

    state = pyspiel.load_game("backgammon").new_initial_state()
    env, said = cypool.make("openspiel/backgammon-v0", num_threads=0, seed=3, chance_stream="random_state"), []
    random, lines = np.random.RandomState(3), []
    ours, theirs = pty.openpty()
    for _ in range(6):
        news = ""
        for _ in attempts():
            if news and not state.is_chance_node():
                break
            mover, actions = state.current_player(), state.legal_actions()
            if state.is_chance_node():
                outcomes, p = zip(*state.chance_outcomes(), strict=True)
                action = random.choice(outcomes, p=p)
            else:
                action = actions[0]
                lines.append(state.action_to_string(action))
            news += f"{'Chance' if mover < 0 else f'Player {mover}'} plays {state.action_to_string(action)}.\n"
            state.apply_action(action)
        said.append(f"\n{str(state).rstrip()}\n{news}")
    os.write(ours, "".join(f"{line}\n" for line in lines).encode())
    shown = []
    terminal.play(env, shown.append, theirs, len(lines))
    os.close(ours)
    os.close(theirs)
    assert [text for text in shown if text.startswith("\n")][:5] == said[:5]


def test_play_of_a_game_that_hides_something_shows_the_part_of_the_player():
    said, _, _ = played("kuhn_poker", ["Pass", "Bet", "Pass"], view="mover")
    seen = re.findall(r"^\d[pb]*$", said, re.MULTILINE)
    assert " plays " not in said and [each[1:] for each in seen[:3]] == ["", "p", "pb"] and seen[0][0] != seen[1][0]
    assert said.count("Player 1 wins.\n") == 1


@pytest.mark.parametrize("move", ["bxc3", "Bxc3"])
def test_play_of_capitals_takes_the_move_as_it_is_written(move):
    # a pawn takes, or a bishop
    said, done, _ = played("chess", ["h3", "b5", "a3", "b4", "h4", "e6", "g3", "Bc5", "g4", "Bd4", "c3", move],
                           view="mover")
    assert done == 12 and f"Player 0 plays {move}.\n" in said


def test_play_of_all_at_once_is_refused():
    with pytest.raises(ValueError, match="id: expected a turn-based game, got openspiel/goofspiel"):
        played("goofspiel", [])


@pytest.mark.parametrize("id, first", [("breakthrough", b"Your move as"), ("2048", b"Your move (")])
def test_play_command_ends_with_its_input(id, first, tmp_path):
    said = said_by_play([f"openspiel/{id}-v0"], b"1\n", first, tmp_path)
    assert " plays " in said and "1 steps, rewards " in said
