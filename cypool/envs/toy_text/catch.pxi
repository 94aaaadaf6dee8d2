# Catch.
import numpy as np

from cypool.envs.toy_text import specs
from cypool.state import check_state

from libc.stdint cimport int64_t
from libc.string cimport memset

from cypool.env cimport Env, Slot
from cypool.random cimport integers

cdef enum:
    CATCH_PIXELS = 16                          # a side of one square, drawn


cdef class Catch(Env):
    """Catch a falling ball with a paddle at the bottom: left (0), stay (1) or right (2).

    Follows EnvPool's `Catch-v0` in everything except the random numbers. The ball starts in a random column of the
    first row, the paddle in column `width // 2` of the last row.

    Observation: float32 (height, width): 1 at the ball and the paddle, else 0.
    Reward: 0, except in the last step: 1 if the ball is caught, else -1.
    Terminated: When the ball is in the last row.
    """
    describe = staticmethod(specs.catch)

    cdef int height
    cdef int width
    cdef int row                         # of the ball
    cdef int col
    cdef int paddle

    def __init__(self, spec, env_id):
        self.height = spec.options["height"]
        self.width = spec.options["width"]

    cdef int reset(self) except -1 nogil:
        self.row = 0
        self.col = <int>integers(self.rng, 0, self.width)
        self.paddle = self.width // 2
        return 0

    cdef int step(self, const void* action) except -1 nogil:
        self.paddle = min(max(self.paddle + <int>(<const int64_t*>action)[0] - 1, 0), self.width - 1)
        # a state may say that the game is not over with the ball in the last row
        self.row = min(self.row + 1, self.height - 1)
        if self.row == self.height - 1:
            self.terminated = True
            self.reward = 1.0 if self.col == self.paddle else -1.0
        return 0

    cdef int observe(self, const Slot* out) except -1 nogil:
        cdef float* board = <float*>out.obs[0]
        memset(board, 0, self.height * self.width * sizeof(float))
        board[self.row * self.width + self.col] = 1
        board[(self.height - 1) * self.width + self.paddle] = 1
        return 0

    cdef object save(self):
        return self.row, self.col, self.paddle

    cdef int load(self, object state) except -1:
        self.row, self.col, self.paddle = check_state(state, (0, self.height - 1), (0, self.width - 1),
                                                      (0, self.width - 1))
        return 0

    cdef int copy_from(self, Env other) except -1 nogil:
        self.row, self.col, self.paddle = (<Catch>other).row, (<Catch>other).col, (<Catch>other).paddle
        return 0

    cdef object render(self):
        board = np.zeros((self.height, self.width, 3), np.uint8)
        board[self.row, self.col] = board[self.height - 1, self.paddle] = 255
        return board.repeat(CATCH_PIXELS, 0).repeat(CATCH_PIXELS, 1)
