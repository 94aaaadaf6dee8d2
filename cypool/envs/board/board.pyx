# distutils: extra_compile_args = -O3
"""Board games: rules in C++, and the classes of their environments."""
from cypool.envs.board import specs
from cypool.envs.board.pictures import draw

cimport numpy as cnp

import numpy as np

from cypool.envs.common.rules_env cimport Options, Rules, RulesEnv, RulesOf

cnp.import_array()


cdef extern from "cypool/envs/common/turn_rules.h" namespace "cypool" nogil:
    cdef cppclass Turns[Game]:
        pass

cdef extern from "cypool/envs/board/match.h" namespace "cypool::board" nogil:
    cdef cppclass Match[GameRules]:
        pass

cdef extern from "cypool/envs/board/lines.h" namespace "cypool::board" nogil:
    cdef cppclass CTicTacToe "cypool::board::TicTacToe":
        pass

    cdef cppclass CConnectFour "cypool::board::ConnectFour":
        pass

cdef extern from "cypool/envs/board/othello.h" namespace "cypool::board" nogil:
    cdef cppclass COthello "cypool::board::Othello":
        pass

cdef extern from "cypool/envs/board/breakthrough.h" namespace "cypool::board" nogil:
    cdef cppclass CBreakthrough "cypool::board::Breakthrough":
        pass

cdef extern from "cypool/envs/board/hex.h" namespace "cypool::board" nogil:
    cdef cppclass CHex "cypool::board::Hex":
        pass

cdef extern from "cypool/envs/board/go.h" namespace "cypool::board" nogil:
    cdef cppclass CGo "cypool::board::Go":
        pass

cdef extern from "cypool/envs/board/merging_tiles.h" namespace "cypool::board" nogil:
    cdef cppclass CMergingTiles "cypool::board::MergingTiles":
        pass

cdef extern from "cypool/envs/board/backgammon.h" namespace "cypool::board" nogil:
    cdef cppclass CBackgammon "cypool::board::Backgammon":
        pass


cdef class BoardGame(RulesEnv):
    """Base of board games, which follow OpenSpiel 2.0.2: the same actions and seed give the same bits."""
    settings = staticmethod(specs.settings_of)
    name = ""

    cdef object render(self):
        group = self.spec.agents.get("player")
        described = self.spec.observation if group is None else group.observation["observation"]
        cdef cnp.ndarray tensor = np.zeros(described.shape, np.float32)
        self.rules.get().picture(cnp.PyArray_DATA(tensor))
        return draw(self.name, tensor)


cdef class TicTacToe(BoardGame):
    """Three in a row on a board of 3 x 3.

    Observation: float32 (3, 3, 3): empty cells, stones of player 1, and of player 0.
    Action: A cell, row by row.
    Reward: 1 for a line of three, -1 for the other player.
    Terminated: There is such a line, or no empty cell.
    """
    describe = staticmethod(specs.tic_tac_toe)
    name = "tic_tac_toe"

    cdef Rules* make(self, const Options& options) except NULL:
        return new RulesOf[Turns[Match[CTicTacToe]]](options)


cdef class ConnectFour(BoardGame):
    """Four in a row, with stones that fall to the lowest empty cell of a column.

    Observation: float32 (3, 6, 7): stones of player 0, of player 1, and empty cells; the lowest row first.
    Action: A column.
    Reward: 1 for a line of four, -1 for the other player.
    Terminated: There is such a line, or the board is full.
    """
    describe = staticmethod(specs.connect_four)
    name = "connect_four"

    cdef Rules* make(self, const Options& options) except NULL:
        return new RulesOf[Turns[Match[CConnectFour]]](options)


cdef class Othello(BoardGame):
    """Stones between two of the other color are turned over; who has more of them in the end wins.

    Observation: float32 (3, 8, 8): empty cells, the player's stones, and those of the other one.
    Action: A cell, row by row; 64: to pass, which is legal if nothing else is.
    Reward: At the end 1 for more stones, -1 for less.
    Terminated: No player can put a stone.
    """
    describe = staticmethod(specs.othello)
    name = "othello"

    cdef Rules* make(self, const Options& options) except NULL:
        return new RulesOf[Turns[Match[COthello]]](options)


cdef class Breakthrough(BoardGame):
    """Pieces move ahead, straight or diagonally, and capture diagonally; who reaches the other side wins.

    Observation: float32 (3, rows, columns): pieces of player 0, of player 1, and empty cells.
    Action: ((row * columns + column) * 6 + direction) * 2, and 1 more for a capture. Directions of player 0 are 0 to
        2: to the left, ahead and to the right, with growing rows; those of player 1 are 3 to 5.
    Reward: 1 for the player who wins, -1 for the other one.
    Terminated: A piece has reached the other side, or a player has no piece.
    """
    describe = staticmethod(specs.breakthrough)
    name = "breakthrough"

    cdef Rules* make(self, const Options& options) except NULL:
        return new RulesOf[Turns[Match[CBreakthrough]]](options)


cdef class Hex(BoardGame):
    """Stones on hexagons: player 0 connects the first row with the last one, player 1 the first column with the last.

    Observation: float32 (9, board_size, board_size): a plane for each kind of cell. Of player 1: stones that win, those
        that are connected with the first column, with the last one, and others; empty cells; of player 0: others,
        those that are connected with the last row, with the first one, and stones that win.
    Action: A cell, row by row.
    Reward: 1 for a connection, -1 for the other player.
    Terminated: There is a connection.
    """
    describe = staticmethod(specs.hexagons)
    name = "hex"

    cdef Rules* make(self, const Options& options) except NULL:
        return new RulesOf[Turns[Match[CHex]]](options)


cdef class Go(BoardGame):
    """Go with area scoring (Tromp-Taylor): player 0 is black, player 1 white.

    Observation: float32 (4, board_size, board_size): black stones, white stones, empty points, and ones if white is
        next.
    Action: A point, row by row; the last action is to pass.
    Reward: At the end 1 for the player with more points, -1 for the other one; 0 if a position has come back.
    Terminated: Both have passed, a position has come back (positional superko), or there were 2 * board_size ** 2
        moves.
    """
    describe = staticmethod(specs.go)
    name = "go"

    cdef Rules* make(self, const Options& options) except NULL:
        return new RulesOf[Turns[Match[CGo]]](options)


cdef class Game2048(BoardGame):
    """2048: equal tiles that are pushed together merge.

    Observation: float32 (4, 4): the tiles; 0: an empty cell.
    Action: Up (0), right (1), down (2), left (3).
    Reward: The sum of the tiles that have come of merges.
    Terminated: There is a tile `max_tile`, or no move; or there were 2 * `max_tile` - 1 moves.
    """
    describe = staticmethod(specs.game_2048)
    name = "2048"

    cdef Rules* make(self, const Options& options) except NULL:
        return new RulesOf[Turns[Match[CMergingTiles]]](options)


cdef class Backgammon(BoardGame):
    """Backgammon, without doubling: player 0 moves towards growing points, player 1 the other way.

    Observation: float32 (200,): of the player, then of the other one, for each point whether there are 1, 2 or 3
        checkers, and how many more; of the player checkers on the bar, those off the board, and whether it is the
        player's turn, then the same of the other one; the dice, the lower one first.
    Action: Two moves: the place that the first checker leaves, plus 26 times that of the second one, plus 676 if the
        first one takes the lower die. Places are 0 to 23; 24: the bar; 25: no move. Equal dice are two actions.
    Reward: 1 for the player who wins, -1 for the other one; more with `scoring_type`.
    Terminated: A player has all checkers off the board; or there were more than `max_player_turns` turns.
    """
    describe = staticmethod(specs.backgammon)
    name = "backgammon"

    cdef Rules* make(self, const Options& options) except NULL:
        return new RulesOf[Turns[Match[CBackgammon]]](options)
