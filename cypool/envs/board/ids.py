"""The ids of board games."""
from __future__ import annotations

from cypool.envs.family import Family
from cypool.registration.registry import register

# by id, without the family
CLASSES = {"tic_tac_toe": "TicTacToe", "connect_four": "ConnectFour", "othello": "Othello",
           "breakthrough": "Breakthrough", "hex": "Hex", "go": "Go", "backgammon": "Backgammon",
           "2048": "Game2048"}

FAMILY = Family(
    name="board",
    title="Board games",
    description="turn-based games: Go, backgammon, Othello, Hex, Connect Four and others, plus 2048",
    extra="board",
    reference="OpenSpiel 2.0.2",
    reference_package="pyspiel",
    fidelity="everything except rendering; the views `players` and `single` have no reference",
    loop="cypool.envs.board.reference:loop",
    peers={"*": ("loop",)},
    smoke_ids=("board/connect_four-v0", "board/2048-v0"),
    terminal="cypool.envs.board.terminal:play")

for _id, _class in CLASSES.items():
    register(f"board/{_id}-v0", f"cypool.envs.board.board:{_class}",
             reference="cypool.envs.board.reference:make_reference")
