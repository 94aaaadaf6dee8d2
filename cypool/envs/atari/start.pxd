"""How a game begins. Until its first picture ALE emulates a hundred frames and more, the same for every env."""
from libcpp.string cimport string

from cypool.envs.atari.libale cimport ALEInterface

cdef extern from "cypool/envs/atari/start.h":
    cdef cppclass Start "cypool::Start":
        Start() except +
    void start_game "cypool::start_game"(ALEInterface& game, const string& path, const string& md5, int seed,
                                         int mode, int difficulty, Start& start) except + nogil
