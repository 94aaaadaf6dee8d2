# distutils: extra_compile_args = -O3
"""Board games: rules in C++, and the classes of their environments."""
from cypool.envs.board import specs
from cypool.envs.board.pictures import draw

cimport numpy as cnp

import numpy as np

from libcpp.string cimport string

from cypool.envs.shared.rules.rules_env cimport Options, Rules, RulesEnv

cnp.import_array()


cdef extern from "cypool/envs/board/games.h" namespace "cypool::board" nogil:
    Rules* new_rules(const string& game, const Options& options) except +


cdef class BoardGame(RulesEnv):
    """Base of board games, which follow OpenSpiel 2.0.2: the same actions and seed give bit-identical results."""
    settings = staticmethod(specs.settings_of)
    name = ""

    cdef Rules* make(self, const Options& options) except NULL:
        return new_rules(self.name.encode(), options)

    cdef object render(self):
        group = self.spec.agents.get("player")
        described = self.spec.observation if group is None else group.observation["observation"]
        cdef cnp.ndarray tensor = np.zeros(described.shape, np.float32)
        self.rules.get().picture(cnp.PyArray_DATA(tensor))
        return draw(self.name, tensor)


cdef class TicTacToe(BoardGame):
    """Three in a row on a 3 x 3 board.

    Observation: float32 (3, 3, 3): empty cells, stones of player 1, stones of player 0.
    Action: A cell, numbered row by row.
    Reward: 1 for completing a line of three, -1 for the other player.
    Terminated: After a line of three, or when no cell is empty.
    """
    describe = staticmethod(specs.tic_tac_toe)
    name = "tic_tac_toe"


cdef class ConnectFour(BoardGame):
    """Four in a row. Stones fall to the lowest empty cell of a column.

    Observation: float32 (3, 6, 7): stones of player 0, stones of player 1, and empty cells; the lowest row first.
    Action: A column.
    Reward: 1 for completing a line of four, -1 for the other player.
    Terminated: After a line of four, or when the board is full.
    """
    describe = staticmethod(specs.connect_four)
    name = "connect_four"


cdef class Othello(BoardGame):
    """Stones enclosed between two stones of the other color flip; the player with more stones at the end wins.

    Observation: float32 (3, 8, 8): empty cells, the player's stones, the opponent's stones.
    Action: A cell, numbered row by row; 64: pass, which is legal only if no other action is.
    Reward: At the end, 1 for the player with more stones, -1 for the other.
    Terminated: When no player can place a stone.
    """
    describe = staticmethod(specs.othello)
    name = "othello"


cdef class Breakthrough(BoardGame):
    """Pieces move forward, straight or diagonally, and capture diagonally; the first to reach the other side wins.

    Observation: float32 (3, rows, columns): pieces of player 0, pieces of player 1, and empty cells.
    Action: ((row * columns + column) * 6 + direction) * 2, plus 1 for a capture. Directions of player 0 are 0 to 2:
        left, straight and right, toward higher rows; those of player 1 are 3 to 5.
    Reward: 1 for the winner, -1 for the loser.
    Terminated: When a piece reaches the other side, or a player has no pieces left.
    """
    describe = staticmethod(specs.breakthrough)
    name = "breakthrough"


cdef class Hex(BoardGame):
    """Hex: player 0 connects the first and last rows with stones, player 1 the first and last columns.

    Observation: float32 (9, board_size, board_size): a plane for each kind of cell. Player 1: winning stones, stones
        connected to the first column, to the last column, and others; empty cells; player 0: others, stones connected
        to the last row, to the first row, and winning stones.
    Action: A cell, numbered row by row.
    Reward: 1 for making the connection, -1 for the other player.
    Terminated: When a player has made the connection.
    """
    describe = staticmethod(specs.hexagons)
    name = "hex"


cdef class Go(BoardGame):
    """Go with area scoring (Tromp-Taylor): player 0 is black, player 1 white.

    Observation: float32 (4, board_size, board_size): black stones, white stones, empty points, and a plane of ones if
        white is to move.
    Action: A point, numbered row by row; the last action is a pass.
    Reward: At the end, 1 for the player with more points, -1 for the other; 0 if a position was repeated.
    Terminated: When both players have passed, a position is repeated (positional superko), or 2 * board_size ** 2 moves
        have been made.
    """
    describe = staticmethod(specs.go)
    name = "go"


cdef class Game2048(BoardGame):
    """2048: equal tiles merge when pushed together.

    Observation: float32 (4, 4): the tiles; 0 for an empty cell.
    Action: Up (0), right (1), down (2), left (3).
    Reward: The sum of the merged tiles.
    Terminated: When a tile reaches `max_tile`, no move is possible, or 2 * `max_tile` - 1 moves have been made.
    """
    describe = staticmethod(specs.game_2048)
    name = "2048"


cdef class Backgammon(BoardGame):
    """Backgammon without doubling: player 0 moves toward higher points, player 1 toward lower ones.

    Observation: float32 (200,): for the player, then for the opponent: for each point, three flags for exactly 1, 2 or
        3 checkers, and the number of checkers beyond 3; for the player, checkers on the bar, checkers borne off, and
        whether it is the player's turn, then the same for the opponent; the dice, the lower one first.
    Action: Two moves: the start of the first checker, plus 26 times the start of the second, plus 676 if the first uses
        the lower die. Starts are 0 to 23; 24: the bar; 25: no move. Doubles take two actions.
    Reward: 1 for the winner, -1 for the loser, multiplied by the value of the win (see `scoring_type`).
    Terminated: When a player has borne off all checkers, or more than `max_player_turns` turns have been played.
    """
    describe = staticmethod(specs.backgammon)
    name = "backgammon"
